"""What Delta tables (delta-rs) and polars do with the gateway."""

from concurrent.futures import ThreadPoolExecutor

import boto3
import polars as pl
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError
from scenarios import ENDPOINT, serve

options = {
    "AWS_ENDPOINT_URL": ENDPOINT,
    "AWS_ACCESS_KEY_ID": "alice",
    "AWS_SECRET_ACCESS_KEY": "unused",
    "AWS_REGION": "us-east-1",
    "AWS_ALLOW_HTTP": "true",
}
s3 = boto3.client("s3", endpoint_url=ENDPOINT)


def _rows(start, count):
    return pa.table({"n": range(start, start + count), "part": [f"p {n % 3}" for n in range(start, start + count)]})


def _table(uri):
    return DeltaTable(uri, storage_options=options)


def _numbers(uri):
    return sorted(_table(uri).to_pyarrow_table().column("n").to_pylist())


def delta_write_append_overwrite():
    s3.create_bucket(Bucket="delta-basic")
    uri = "s3://delta-basic/tables/one"
    write_deltalake(uri, _rows(0, 1000), partition_by=["part"], storage_options=options)
    write_deltalake(uri, _rows(1000, 500), mode="append", storage_options=options)
    assert _numbers(uri) == list(range(1500))
    table = _table(uri)
    assert table.version() == 1 and len(table.history()) == 2
    table.delete("n >= 1400")
    table.update(predicate="n = 0", updates={"n": "-1"})
    assert _numbers(uri) == [-1, *range(1, 1400)]
    table.optimize.compact()
    table.create_checkpoint()
    table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    assert _numbers(uri) == [-1, *range(1, 1400)]
    write_deltalake(uri, _rows(0, 10), mode="overwrite", storage_options=options)
    assert _numbers(uri) == list(range(10))
    assert sorted(pl.read_delta(uri, storage_options=options)["n"].to_list()) == list(range(10))


def delta_two_writers_at_once():
    s3.create_bucket(Bucket="delta-race")
    uri = "s3://delta-race/table"
    write_deltalake(uri, _rows(0, 1), storage_options=options)

    def writer(number):
        for commit in range(8):
            start = 1 + number * 80 + commit * 10
            write_deltalake(uri, _rows(start, 10), mode="append", storage_options=options)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(writer, range(2)))
    assert _numbers(uri) == list(range(161))
    assert _table(uri).version() == 16
    log = [entry["Key"] for entry in s3.list_objects_v2(Bucket="delta-race", Prefix="table/_delta_log/0")["Contents"]]
    assert [name for name in log if name.endswith(".json")] == [f"table/_delta_log/{n:020}.json" for n in range(17)]


def delta_lost_commit_is_noticed():
    s3.create_bucket(Bucket="delta-lost")
    uri = "s3://delta-lost/table"
    write_deltalake(uri, _rows(0, 10), storage_options=options)
    late = _table(uri)
    _table(uri).delete("n < 5")
    try:
        late.delete("n < 5")
    except (CommitFailedError, DeltaError):
        pass
    assert _numbers(uri) == [5, 6, 7, 8, 9]


def polars_parquet():
    s3.create_bucket(Bucket="polars")
    frame = pl.DataFrame({"n": range(50_000), "text": [f"zeile {n}" for n in range(50_000)]})
    frame.write_parquet("s3://polars/a/one.parquet", storage_options=options)
    frame.with_columns(pl.col("n") + 50_000).write_parquet("s3://polars/a/two.parquet", storage_options=options)
    frame.lazy().sink_parquet("s3://polars/sunk.parquet", storage_options=options)
    assert pl.read_parquet("s3://polars/sunk.parquet", storage_options=options).equals(frame)
    scanned = pl.scan_parquet("s3://polars/a/*.parquet", storage_options=options)
    assert scanned.filter(pl.col("n") >= 99_998).collect()["n"].to_list() == [99_998, 99_999]
    assert scanned.select(pl.len()).collect().item() == 100_000
    frame.write_csv("s3://polars/rows.csv", storage_options=options)
    assert pl.scan_csv("s3://polars/rows.csv", storage_options=options).collect().equals(frame)


if __name__ == "__main__":
    serve(globals())
