package main

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/manager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

const mib = 1 << 20

var names = []string{
	"plain.txt", "with space.txt", "plus+sign.txt", "percent%20literal", "100%", "a=b&c=d", "question?mark#hash",
	"semi;colon,comma", "colon:in:key", "quotes'\"<>&amp;", "tilde~star*bang!", "ünïcödé/日本語/ключ", "emoji 😀",
	"halfwidth ～", "deep/er/and/deeper/still.txt",
}

func put(bucket *string, key string, body []byte) *s3.PutObjectOutput {
	return must(client.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: &key, Body: bytes.NewReader(body)}))
}

func read(bucket *string, key string) []byte {
	reply := must(client.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: &key}))
	defer reply.Body.Close()
	return must(io.ReadAll(reply.Body))
}

// failsWith checks the S3 error code of a call.
func failsWith(code string, err error) {
	var api smithy.APIError
	check(errors.As(err, &api) && api.ErrorCode() == code, "expected %s, got %v", code, err)
}

func copySource(bucket *string, key string) *string {
	return aws.String(*bucket + "/" + strings.ReplaceAll(url.PathEscape(key), "+", "%2B"))
}

func writeAndRead() {
	bucket := createBucket("go-basic")
	body := data(100_000, 1)
	sum := md5.Sum(body)
	check(*put(bucket, "a/o", body).ETag == `"`+hex.EncodeToString(sum[:])+`"`, "the ETag is not the MD5")
	check(bytes.Equal(read(bucket, "a/o"), body), "other bytes came back")
	_ = must(client.CopyObject(ctx, &s3.CopyObjectInput{Bucket: bucket, Key: aws.String("copy"), CopySource: copySource(bucket, "a/o")}))
	check(bytes.Equal(read(bucket, "copy"), body), "the copy has other bytes")
	head := must(client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: bucket, Key: aws.String("copy")}))
	check(*head.ContentLength == 100_000, "length %d", *head.ContentLength)
	must(client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: aws.String("copy")}))
	_, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: aws.String("copy")})
	failsWith("NoSuchKey", err)
	buckets := must(client.ListBuckets(ctx, &s3.ListBucketsInput{})).Buckets
	check(slices.ContainsFunc(buckets, func(b types.Bucket) bool { return *b.Name == "go-basic" }), "the bucket is not listed")
}

func oddKeys() {
	bucket := createBucket("go-odd")
	for index, name := range names {
		put(bucket, name, data(500, byte(index)))
	}
	var listed []string
	for _, entry := range must(client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: bucket})).Contents {
		if !strings.HasSuffix(*entry.Key, "/") {
			listed = append(listed, *entry.Key)
		}
	}
	check(slices.Equal(listed, slices.Sorted(slices.Values(names))), "listed %q", listed)
	for index, name := range names {
		check(bytes.Equal(read(bucket, name), data(500, byte(index))), "other bytes in %q", name)
		target := "copy/" + name
		must(client.CopyObject(ctx, &s3.CopyObjectInput{Bucket: bucket, Key: &target, CopySource: copySource(bucket, name)}))
		check(bytes.Equal(read(bucket, target), data(500, byte(index))), "other bytes in %q", target)
	}
}

// stream writes from a reader that cannot seek, which the SDK does over TLS only.
func stream() {
	bucket := createBucket("go-stream")
	body := data(3*mib+17, 5)
	input := s3.PutObjectInput{Bucket: bucket, Key: aws.String("o"), ContentLength: aws.Int64(int64(len(body)))}
	input.Body = io.MultiReader(bytes.NewReader(body))
	input.ChecksumAlgorithm = types.ChecksumAlgorithmCrc64nvme
	reply := must(client.PutObject(ctx, &input))
	check(reply.ChecksumCRC64NVME != nil, "no checksum in the answer")
	check(bytes.Equal(read(bucket, "o"), body), "other bytes came back")
}

func multipart() {
	bucket := createBucket("go-multi")
	body := data(12*mib, 2)
	uploader := manager.NewUploader(client, func(u *manager.Uploader) { u.PartSize = 5 * mib })
	// A reader that cannot seek, as from a pipe.
	must(uploader.Upload(ctx, &s3.PutObjectInput{Bucket: bucket, Key: aws.String("big"), Body: io.MultiReader(bytes.NewReader(body))}))
	target := manager.NewWriteAtBuffer(nil)
	downloader := manager.NewDownloader(client, func(d *manager.Downloader) { d.PartSize = 5 * mib })
	must(downloader.Download(ctx, target, &s3.GetObjectInput{Bucket: bucket, Key: aws.String("big")}))
	check(bytes.Equal(target.Bytes(), body), "other bytes came back")
	head := must(client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: bucket, Key: aws.String("big"), PartNumber: aws.Int32(3)}))
	check(*head.PartsCount == 3 && *head.ContentLength == 2*mib, "part 3: %d of %d bytes", *head.PartsCount, *head.ContentLength)
}

func listing() {
	bucket := createBucket("go-list")
	var keys []string
	for number := range 1100 {
		keys = append(keys, fmt.Sprintf("dir/%04d", number))
		put(bucket, keys[number], nil)
	}
	var listed []string
	pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: bucket, Prefix: aws.String("dir/0"), MaxKeys: aws.Int32(300)})
	count := 0
	for ; pages.HasMorePages(); count++ {
		for _, entry := range must(pages.NextPage(ctx)).Contents {
			listed = append(listed, *entry.Key)
		}
	}
	check(count == 4 && slices.Equal(listed, keys[:1000]), "%d keys in %d pages", len(listed), count)
	level := must(client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: bucket, Delimiter: aws.String("/")}))
	check(len(level.CommonPrefixes) == 1 && *level.CommonPrefixes[0].Prefix == "dir/" && len(level.Contents) == 0, "by level: %v", level)
}

func bulkDelete() {
	bucket := createBucket("go-bulk")
	var objects []types.ObjectIdentifier
	for number := range 100 {
		key := fmt.Sprintf("%03d/o", number)
		put(bucket, key, []byte("x"))
		objects = append(objects, types.ObjectIdentifier{Key: &key})
	}
	reply := must(client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: bucket, Delete: &types.Delete{Objects: objects}}))
	check(len(reply.Deleted) == 100 && len(reply.Errors) == 0, "%d deleted, %d errors", len(reply.Deleted), len(reply.Errors))
	for index, deleted := range reply.Deleted {
		check(*deleted.Key == *objects[index].Key, "answers in another order")
	}
	_, err := client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: bucket, Key: objects[0].Key})
	failsWith("NotFound", err)
}

func presigned() {
	bucket := createBucket("go-signed")
	place := s3.PutObjectInput{Bucket: bucket, Key: aws.String("a b+c")}
	signer := s3.NewPresignClient(client)
	put := must(signer.PresignPutObject(ctx, &place))
	request := must(http.NewRequest(put.Method, put.URL, strings.NewReader("through a link")))
	reply := must(http.DefaultClient.Do(request))
	check(reply.StatusCode == 200, "PUT answered %d", reply.StatusCode)
	reply = must(http.Get(must(signer.PresignGetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: place.Key})).URL))
	check(string(must(io.ReadAll(reply.Body))) == "through a link", "other bytes came back")
	check(string(read(bucket, *place.Key)) == "through a link", "the name was read differently")
}
