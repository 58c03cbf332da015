"""What boto3 relies on beside the bytes: tags, conditions, ranges, checksums, one writer at a time."""

import base64
import hashlib
import random
import zlib
from concurrent.futures import ThreadPoolExecutor

from boto3_client import client, read, s3
from scenarios import data, expect_error, serve


def tagging():
    s3.create_bucket(Bucket="boto-tags")
    tags = [{"Key": "project", "Value": "a b/c=d"}, {"Key": "ключ", "Value": ""}]
    s3.put_bucket_tagging(Bucket="boto-tags", Tagging={"TagSet": tags})
    assert _sorted(s3.get_bucket_tagging(Bucket="boto-tags")["TagSet"]) == _sorted(tags)
    s3.delete_bucket_tagging(Bucket="boto-tags")
    s3.put_object(Bucket="boto-tags", Key="o", Body=b"x", Tagging="one=1&two=a%20b")
    assert s3.get_object_tagging(Bucket="boto-tags", Key="o")["TagSet"] == [
        {"Key": "one", "Value": "1"},
        {"Key": "two", "Value": "a b"},
    ]
    assert s3.get_object(Bucket="boto-tags", Key="o")["TagCount"] == 2
    s3.put_object_tagging(Bucket="boto-tags", Key="o", Tagging={"TagSet": tags})
    s3.copy_object(Bucket="boto-tags", Key="copy", CopySource="boto-tags/o")
    assert _sorted(s3.get_object_tagging(Bucket="boto-tags", Key="copy")["TagSet"]) == _sorted(tags)
    many = [{"Key": str(number), "Value": ""} for number in range(11)]
    status = expect_error("InvalidTag", s3.put_object_tagging, Bucket="boto-tags", Key="o", Tagging={"TagSet": many})
    assert status == 400
    assert len(s3.get_object_tagging(Bucket="boto-tags", Key="o")["TagSet"]) == 2
    s3.delete_object_tagging(Bucket="boto-tags", Key="o")
    assert s3.get_object_tagging(Bucket="boto-tags", Key="o")["TagSet"] == []


def _sorted(tags):
    return sorted(tags, key=lambda tag: tag["Key"])


def conditions():
    s3.create_bucket(Bucket="boto-if")
    place = {"Bucket": "boto-if", "Key": "o"}
    etag = s3.put_object(**place, Body=b"one", IfNoneMatch="*")["ETag"]
    assert expect_error("PreconditionFailed", s3.put_object, **place, Body=b"two", IfNoneMatch="*") == 412
    assert expect_error("PreconditionFailed", s3.put_object, **place, Body=b"two", IfMatch='"0123"') == 412
    assert read("boto-if", "o") == b"one"
    second = s3.put_object(**place, Body=b"two", IfMatch=etag)["ETag"]
    assert expect_error("304", s3.get_object, **place, IfNoneMatch=second) == 304
    assert expect_error("PreconditionFailed", s3.get_object, **place, IfMatch=etag) == 412
    assert s3.get_object(**place, IfMatch=second)["Body"].read() == b"two"
    modified = s3.head_object(**place)["LastModified"]
    assert expect_error("304", s3.head_object, **place, IfModifiedSince=modified) == 304
    source = {"CopySource": "boto-if/o", "Bucket": "boto-if", "Key": "copy"}
    assert expect_error("PreconditionFailed", s3.copy_object, **source, CopySourceIfMatch=etag) == 412
    s3.copy_object(**source, CopySourceIfMatch=second)
    upload = s3.create_multipart_upload(**place)["UploadId"]
    part = s3.upload_part(**place, UploadId=upload, PartNumber=1, Body=b"three")["ETag"]
    done = {"UploadId": upload, "MultipartUpload": {"Parts": [{"PartNumber": 1, "ETag": part}]}}
    assert expect_error("PreconditionFailed", s3.complete_multipart_upload, **place, **done, IfNoneMatch="*") == 412
    assert read("boto-if", "o") == b"two"


def racing_writers():
    """Whatever writer wins on whatever process of the gateway: bytes, headers and metadata belong together."""
    s3.create_bucket(Bucket="boto-race")

    def work(seed):
        mine, chance = client(), random.Random(seed)
        for _ in range(60):
            place = {"Bucket": "boto-race", "Key": f"d{chance.randrange(2)}/{chance.randrange(2)}"}
            kind = chance.random()
            if kind < 0.4:
                body = chance.randbytes(chance.choice([0, 100, 70_000, 300_000]))
                digest = hashlib.md5(body).hexdigest()
                mine.put_object(**place, Body=body, ContentType=f"a/{digest}", Metadata={"md5": digest})
            elif kind < 0.5:
                mine.delete_objects(Bucket="boto-race", Delete={"Objects": [{"Key": place["Key"]}, {"Key": "d0/"}]})
            else:
                try:
                    got = mine.get_object(**place)
                except s3.exceptions.NoSuchKey:
                    continue
                digest = hashlib.md5(got["Body"].read()).hexdigest()
                told = (got["ContentType"], got["Metadata"], got["ETag"])
                assert told == (f"a/{digest}", {"md5": digest}, f'"{digest}"'), (digest, told)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


def ranges():
    s3.create_bucket(Bucket="boto-range")
    body = data(300_000)
    s3.put_object(Bucket="boto-range", Key="o", Body=body)
    for spec, start, end in [
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        ("bytes=250000-", 250_000, 300_000),
        ("bytes=-7", 299_993, 300_000),
        ("bytes=299990-999999", 299_990, 300_000),
        ("bytes=-999999", 0, 300_000),
    ]:
        reply = s3.get_object(Bucket="boto-range", Key="o", Range=spec)
        assert reply["Body"].read() == body[start:end], spec
        assert reply["ResponseMetadata"]["HTTPStatusCode"] == 206, spec
        assert reply["ContentRange"] == f"bytes {start}-{end - 1}/300000", spec
    assert expect_error("InvalidRange", s3.get_object, Bucket="boto-range", Key="o", Range="bytes=300000-") == 416


def checksums():
    s3.create_bucket(Bucket="boto-sums")
    body = data(70_000)
    known = {
        "CRC32": base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode(),
        "SHA1": base64.b64encode(hashlib.sha1(body).digest()).decode(),
        "SHA256": base64.b64encode(hashlib.sha256(body).digest()).decode(),
    }
    for name, value in known.items():
        reply = s3.put_object(Bucket="boto-sums", Key=name, Body=body, ChecksumAlgorithm=name)
        assert reply[f"Checksum{name}"] == value, name
        head = s3.head_object(Bucket="boto-sums", Key=name, ChecksumMode="ENABLED")
        assert head[f"Checksum{name}"] == value, name
        assert read("boto-sums", name) == body
    # The catalogue's check values of the digests of "123456789".
    for name, value in {"CRC32C": 0xE3069283.to_bytes(4, "big"), "CRC64NVME": 0xAE8B14860A799888.to_bytes(8, "big")}.items():
        given = {f"Checksum{name}": base64.b64encode(value).decode()}
        s3.put_object(Bucket="boto-sums", Key=name, Body=b"123456789", **given)
        head = s3.head_object(Bucket="boto-sums", Key=name, ChecksumMode="ENABLED")
        assert head[f"Checksum{name}"] == given[f"Checksum{name}"], name
        assert expect_error("BadDigest", s3.put_object, Bucket="boto-sums", Key=name, Body=b"12345678x", **given) == 400
        assert read("boto-sums", name) == b"123456789"
    wrong = base64.b64encode(hashlib.md5(b"other").digest()).decode()
    assert expect_error("BadDigest", s3.put_object, Bucket="boto-sums", Key="SHA1", Body=b"x", ContentMD5=wrong) == 400
    assert read("boto-sums", "SHA1") == body


if __name__ == "__main__":
    serve(globals())
