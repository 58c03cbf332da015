module s3proxy/bench/load

go 1.24
