package main

import (
	"bytes"
	"errors"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

func tagging() {
	bucket := createBucket("go-tags")
	key := aws.String("o")
	must(client.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: key, Tagging: aws.String("a=b%20c&d=")}))
	tags := must(client.GetObjectTagging(ctx, &s3.GetObjectTaggingInput{Bucket: bucket, Key: key})).TagSet
	check(len(tags) == 2 && *tags[0].Key == "a" && *tags[0].Value == "b c" && *tags[1].Value == "", "tags %v", tags)
	set := types.Tagging{TagSet: []types.Tag{{Key: aws.String("x"), Value: aws.String("y z/+@")}}}
	must(client.PutObjectTagging(ctx, &s3.PutObjectTaggingInput{Bucket: bucket, Key: key, Tagging: &set}))
	must(client.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: bucket, Tagging: &set}))
	tags = must(client.GetObjectTagging(ctx, &s3.GetObjectTaggingInput{Bucket: bucket, Key: key})).TagSet
	check(len(tags) == 1 && *tags[0].Value == "y z/+@", "tags %v", tags)
	tags = must(client.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: bucket})).TagSet
	check(len(tags) == 1 && *tags[0].Value == "y z/+@", "tags of the bucket %v", tags)
	must(client.DeleteObjectTagging(ctx, &s3.DeleteObjectTaggingInput{Bucket: bucket, Key: key}))
	tags = must(client.GetObjectTagging(ctx, &s3.GetObjectTaggingInput{Bucket: bucket, Key: key})).TagSet
	check(len(tags) == 0, "tags %v", tags)
}

func conditions() {
	bucket := createBucket("go-if")
	write := func(text, ifMatch, ifNoneMatch string) (*s3.PutObjectOutput, error) {
		input := s3.PutObjectInput{Bucket: bucket, Key: aws.String("o"), Body: bytes.NewReader([]byte(text))}
		if ifMatch != "" {
			input.IfMatch = &ifMatch
		}
		if ifNoneMatch != "" {
			input.IfNoneMatch = &ifNoneMatch
		}
		return client.PutObject(ctx, &input)
	}
	first := must(write("one", "", "*"))
	_, err := write("two", "", "*")
	failsWith("PreconditionFailed", err)
	_, err = write("two", `"0123"`, "")
	failsWith("PreconditionFailed", err)
	check(string(read(bucket, "o")) == "one", "a refused write wrote")
	must(write("two", *first.ETag, ""))
	check(string(read(bucket, "o")) == "two", "a matching write did not write")
	_, err = client.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: aws.String("o"), IfMatch: first.ETag})
	failsWith("PreconditionFailed", err)
}

func ranges() {
	bucket := createBucket("go-range")
	body := data(200_000, 3)
	put(bucket, "o", body)
	for spec, want := range map[string][]byte{"bytes=5-9": body[5:10], "bytes=-9": body[199_991:], "bytes=199000-": body[199_000:]} {
		reply := must(client.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: aws.String("o"), Range: &spec}))
		check(bytes.Equal(must(io.ReadAll(reply.Body)), want), "other bytes for %s", spec)
	}
	_, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: aws.String("o"), Range: aws.String("bytes=200000-")})
	failsWith("InvalidRange", err)
}

func checksums() {
	bucket := createBucket("go-sums")
	body := data(70_000, 4)
	for _, algorithm := range (types.ChecksumAlgorithm)("").Values() {
		switch algorithm {
		case types.ChecksumAlgorithmCrc32, types.ChecksumAlgorithmCrc32c, types.ChecksumAlgorithmCrc64nvme,
			types.ChecksumAlgorithmSha1, types.ChecksumAlgorithmSha256:
		default:
			continue // digests that S3 added later
		}
		key := string(algorithm)
		must(client.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: &key, Body: bytes.NewReader(body), ChecksumAlgorithm: algorithm}))
		// The SDK checks the bytes against the digest in the answer.
		reply := must(client.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: &key, ChecksumMode: types.ChecksumModeEnabled}))
		check(bytes.Equal(must(io.ReadAll(reply.Body)), body), "other bytes for %s", key)
		given := map[types.ChecksumAlgorithm]*string{
			types.ChecksumAlgorithmCrc32: reply.ChecksumCRC32, types.ChecksumAlgorithmCrc32c: reply.ChecksumCRC32C,
			types.ChecksumAlgorithmCrc64nvme: reply.ChecksumCRC64NVME, types.ChecksumAlgorithmSha1: reply.ChecksumSHA1,
			types.ChecksumAlgorithmSha256: reply.ChecksumSHA256,
		}
		check(given[algorithm] != nil, "no %s in the answer", key)
	}
	wrong := aws.String("AAAAAA==")
	_, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: aws.String("CRC32"), Body: bytes.NewReader(data(9, 9)), ChecksumCRC32: wrong})
	failsWith("BadDigest", err)
	check(bytes.Equal(read(bucket, "CRC32"), body), "a refused write wrote")
}

func errorsAreTyped() {
	none := aws.String("go-none")
	_, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: none, Key: none})
	failsWith("NoSuchBucket", err)
	bucket := createBucket("go-errors")
	_, err = client.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: none})
	var missing *types.NoSuchKey
	check(errors.As(err, &missing), "expected NoSuchKey, got %v", err)
	put(bucket, "o", nil)
	_, err = client.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: bucket})
	failsWith("BucketNotEmpty", err)
	_, err = client.UploadPart(ctx, &s3.UploadPartInput{Bucket: bucket, Key: none, UploadId: none, PartNumber: aws.Int32(1), Body: bytes.NewReader(nil)})
	failsWith("NoSuchUpload", err)
}
