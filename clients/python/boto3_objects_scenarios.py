"""What boto3 does with objects: write, list, copy, move in parts."""

import hashlib
import io
from concurrent.futures import ThreadPoolExecutor

from boto3.s3.transfer import TransferConfig
from boto3_client import read, s3
from scenarios import MIB, ODD_KEYS, data, expect_error, serve


def write_and_read():
    s3.create_bucket(Bucket="boto-basic")
    body = data(100_000)
    put = s3.put_object(Bucket="boto-basic", Key="a/b.bin", Body=body, ContentType="image/png")
    assert put["ETag"] == f'"{hashlib.md5(body).hexdigest()}"', put["ETag"]
    got = s3.get_object(Bucket="boto-basic", Key="a/b.bin")
    assert got["Body"].read() == body
    assert (got["ContentType"], got["ContentLength"], got["ETag"]) == ("image/png", len(body), put["ETag"])
    head = s3.head_object(Bucket="boto-basic", Key="a/b.bin")
    assert (head["ContentLength"], head["ETag"]) == (len(body), put["ETag"])
    s3.put_object(Bucket="boto-basic", Key="empty", Body=b"")
    assert read("boto-basic", "empty") == b""

    s3.copy_object(Bucket="boto-basic", Key="copied", CopySource={"Bucket": "boto-basic", "Key": "a/b.bin"})
    copied = s3.get_object(Bucket="boto-basic", Key="copied")
    assert copied["Body"].read() == body and copied["ContentType"] == "image/png"
    assert "boto-basic" in [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]

    assert expect_error("BucketNotEmpty", s3.delete_bucket, Bucket="boto-basic") == 409
    for key in ["a/b.bin", "empty", "copied", "a/"]:
        s3.delete_object(Bucket="boto-basic", Key=key)
    assert expect_error("NoSuchKey", s3.get_object, Bucket="boto-basic", Key="copied") == 404
    assert expect_error("404", s3.head_object, Bucket="boto-basic", Key="copied") == 404
    s3.delete_bucket(Bucket="boto-basic")
    assert expect_error("404", s3.head_bucket, Bucket="boto-basic") == 404
    assert expect_error("NoSuchBucket", s3.list_objects_v2, Bucket="boto-basic") == 404


def metadata_and_headers():
    s3.create_bucket(Bucket="boto-headers")
    fields = {
        "CacheControl": "max-age=60",
        "ContentDisposition": 'attachment; filename="x.txt"',
        "ContentEncoding": "gzip",
        "ContentLanguage": "de",
        "ContentType": "text/plain; charset=utf-8",
        "Metadata": {"mtime": "1700000000.123456789", "empty": "", "words": "two words"},
    }
    s3.put_object(Bucket="boto-headers", Key="o", Body=b"x", Expires="Wed, 21 Oct 2037 07:28:00 GMT", **fields)
    for reply in (s3.head_object(Bucket="boto-headers", Key="o"), s3.get_object(Bucket="boto-headers", Key="o")):
        for name, value in fields.items():
            assert reply[name] == value, (name, reply[name])
        assert reply["ExpiresString"] == "Wed, 21 Oct 2037 07:28:00 GMT"
    override = s3.get_object(Bucket="boto-headers", Key="o", ResponseContentType="a/b", ResponseCacheControl="no-store")
    assert (override["ContentType"], override["CacheControl"]) == ("a/b", "no-store")

    source = {"Bucket": "boto-headers", "Key": "o"}
    expect_error("InvalidRequest", s3.copy_object, Bucket="boto-headers", Key="o", CopySource=source)
    s3.copy_object(
        Bucket="boto-headers", Key="o", CopySource=source, MetadataDirective="REPLACE", ContentType="c/d", Metadata={"n": "1"}
    )
    head = s3.head_object(Bucket="boto-headers", Key="o")
    assert (head["ContentType"], head["Metadata"]) == ("c/d", {"n": "1"}), head
    assert read("boto-headers", "o") == b"x"
    assert expect_error(
        "MetadataTooLarge", s3.put_object, Bucket="boto-headers", Key="o", Body=b"y", Metadata={"big": "v" * 2100}
    ) == 400
    assert read("boto-headers", "o") == b"x"


def odd_keys():
    s3.create_bucket(Bucket="boto-odd")
    for index, key in enumerate(ODD_KEYS):
        s3.put_object(Bucket="boto-odd", Key=key, Body=data(100, index))
    listed = [entry["Key"] for entry in s3.list_objects_v2(Bucket="boto-odd")["Contents"]]
    files = [key for key in listed if not key.endswith("/")]
    assert files == sorted(ODD_KEYS, key=lambda key: key.encode()), files
    assert listed == sorted(listed, key=lambda key: key.encode()), "not in byte order"
    for index, key in enumerate(ODD_KEYS):
        assert read("boto-odd", key) == data(100, index), key
        s3.copy_object(Bucket="boto-odd", Key=f"copy/{key}", CopySource={"Bucket": "boto-odd", "Key": key})
        assert read("boto-odd", f"copy/{key}") == data(100, index), key
        prefixed = s3.list_objects_v2(Bucket="boto-odd", Prefix=key)["Contents"]
        assert prefixed[0]["Key"] == key, (key, prefixed)
    gone = s3.delete_objects(Bucket="boto-odd", Delete={"Objects": [{"Key": key} for key in ODD_KEYS]})
    assert [entry["Key"] for entry in gone["Deleted"]] == ODD_KEYS and "Errors" not in gone
    left = [entry["Key"] for entry in s3.list_objects_v2(Bucket="boto-odd")["Contents"]]
    assert {key for key in left if not key.endswith("/")} == {f"copy/{key}" for key in ODD_KEYS}


def multipart():
    s3.create_bucket(Bucket="boto-multi")
    body = data(11 * MIB)
    parts = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB, max_concurrency=4)
    s3.upload_fileobj(io.BytesIO(body), "boto-multi", "big", Config=parts, ExtraArgs={"Metadata": {"kept": "yes"}})
    digests = b"".join(hashlib.md5(body[at : at + 5 * MIB]).digest() for at in range(0, len(body), 5 * MIB))
    head = s3.head_object(Bucket="boto-multi", Key="big")
    assert head["ETag"] == f'"{hashlib.md5(digests).hexdigest()}-3"', head["ETag"]
    assert head["ContentLength"] == len(body) and head["Metadata"] == {"kept": "yes"}
    target = io.BytesIO()
    s3.download_fileobj("boto-multi", "big", target, Config=parts)
    assert target.getvalue() == body
    second = s3.get_object(Bucket="boto-multi", Key="big", PartNumber=2)
    assert second["PartsCount"] == 3 and second["Body"].read() == body[5 * MIB : 10 * MIB]
    s3.copy({"Bucket": "boto-multi", "Key": "big"}, "boto-multi", "copy of big", Config=parts)
    assert read("boto-multi", "copy of big") == body


def multipart_by_hand():
    s3.create_bucket(Bucket="boto-parts")
    place = {"Bucket": "boto-parts", "Key": "dir/o"}
    s3.put_object(Bucket="boto-parts", Key="source", Body=data(6 * MIB, 7))
    upload = s3.create_multipart_upload(**place, ContentType="a/b")["UploadId"]
    uploads = s3.list_multipart_uploads(Bucket="boto-parts")["Uploads"]
    assert [(u["Key"], u["UploadId"]) for u in uploads] == [("dir/o", upload)]
    first = s3.upload_part(**place, UploadId=upload, PartNumber=3, Body=data(5 * MIB, 1))["ETag"]
    first = s3.upload_part(**place, UploadId=upload, PartNumber=3, Body=data(5 * MIB, 2))["ETag"]
    copied = s3.upload_part_copy(
        **place,
        UploadId=upload,
        PartNumber=5,
        CopySource={"Bucket": "boto-parts", "Key": "source"},
        CopySourceRange=f"bytes=1000-{5 * MIB + 1999}",
    )["CopyPartResult"]["ETag"]
    last = s3.upload_part(**place, UploadId=upload, PartNumber=10_000, Body=b"end")["ETag"]
    pages = s3.get_paginator("list_parts").paginate(**place, UploadId=upload, PaginationConfig={"PageSize": 1})
    parts = [(part["PartNumber"], part["ETag"], part["Size"]) for page in pages for part in page.get("Parts", [])]
    assert parts == [(3, first, 5 * MIB), (5, copied, 5 * MIB + 1000), (10_000, last, 3)], parts
    done = {"Parts": [{"PartNumber": number, "ETag": etag} for number, etag, _ in parts]}
    wrong = {"Parts": [{"PartNumber": 3, "ETag": '"' + "0" * 32 + '"'}]}
    expect_error("InvalidPart", s3.complete_multipart_upload, **place, UploadId=upload, MultipartUpload=wrong)
    s3.complete_multipart_upload(**place, UploadId=upload, MultipartUpload=done)
    assert read(**{"bucket": "boto-parts", "key": "dir/o"}) == data(5 * MIB, 2) + data(6 * MIB, 7)[1000 : 5 * MIB + 2000] + b"end"
    assert "Uploads" not in s3.list_multipart_uploads(Bucket="boto-parts")

    small = s3.create_multipart_upload(**place)["UploadId"]
    etags = [s3.upload_part(**place, UploadId=small, PartNumber=n, Body=b"tiny")["ETag"] for n in (1, 2)]
    done = {"Parts": [{"PartNumber": n + 1, "ETag": etag} for n, etag in enumerate(etags)]}
    assert expect_error("EntityTooSmall", s3.complete_multipart_upload, **place, UploadId=small, MultipartUpload=done) == 400
    s3.abort_multipart_upload(**place, UploadId=small)
    expect_error("NoSuchUpload", s3.list_parts, **place, UploadId=small)
    assert len(read("boto-parts", "dir/o")) == 10 * MIB + 1003


def listing():
    s3.create_bucket(Bucket="boto-list")
    keys = sorted(f"{directory}/{number:04}" for directory in ("a", "a-b", "a/c", "z") for number in range(300))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: s3.put_object(Bucket="boto-list", Key=key, Body=key.encode()), keys))

    def listed(operation, **arguments):
        pages = list(s3.get_paginator(operation).paginate(Bucket="boto-list", **arguments))
        return pages, [entry for page in pages for entry in page.get("Contents", [])]

    for operation in ("list_objects", "list_objects_v2"):
        pages, entries = listed(operation)
        assert len(pages) == 2 and pages[0]["IsTruncated"], operation
        names = [entry["Key"] for entry in entries]
        assert [name for name in names if not name.endswith("/")] == keys, operation
        assert names == sorted(names), operation
        _, small = listed(operation, PaginationConfig={"PageSize": 77})
        assert [entry["Key"] for entry in small] == names, operation
        assert {entry["Key"]: entry["Size"] for entry in entries if not entry["Key"].endswith("/")} == {
            key: len(key) for key in keys
        }
        pages, entries = listed(operation, Delimiter="/", Prefix="a")
        assert [p["Prefix"] for page in pages for p in page["CommonPrefixes"]] == ["a-b/", "a/"] and not entries
        _, entries = listed(operation, Prefix="a/c/01")
        assert [entry["Key"] for entry in entries] == [f"a/c/{number:04}" for number in range(100, 200)]
    after = s3.list_objects_v2(Bucket="boto-list", StartAfter="z/0297")["Contents"]
    assert [entry["Key"] for entry in after] == ["z/0298", "z/0299"]
    etags = {entry["Key"]: entry["ETag"] for entry in after}
    assert etags["z/0299"] == s3.head_object(Bucket="boto-list", Key="z/0299")["ETag"]

    for at in range(0, len(keys), 1000):
        batch = {"Objects": [{"Key": key} for key in keys[at : at + 1000]], "Quiet": True}
        assert not s3.delete_objects(Bucket="boto-list", Delete=batch).get("Errors")
    _, entries = listed("list_objects_v2")
    assert all(entry["Key"].endswith("/") for entry in entries)


if __name__ == "__main__":
    serve(globals())
