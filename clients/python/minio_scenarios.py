"""What minio-py does with the alias at /, since it refuses an endpoint with a path."""

import io
import os
from datetime import timedelta
from urllib.parse import urlsplit
from urllib.request import urlopen

from minio import Minio
from minio.commonconfig import ComposeSource, CopySource, Tags
from minio.deleteobjects import DeleteObject
from minio.error import S3Error
from scenarios import MIB, ODD_KEYS, data, serve

host = urlsplit(os.environ["S3_ROOT_ENDPOINT"]).netloc
client = Minio(host, access_key="alice", secret_key="unused", secure=False)


def _read(bucket, key, **arguments):
    reply = client.get_object(bucket, key, **arguments)
    try:
        return reply.read()
    finally:
        reply.close()
        reply.release_conn()


def endpoint_with_a_path_is_refused():
    try:
        Minio(f"{host}/api/v1/s3", access_key="alice", secret_key="unused", secure=False)
    except ValueError:
        return
    raise AssertionError("minio-py takes an endpoint with a path now: the alias is no longer needed for it")


def write_list_copy_delete():
    client.make_bucket("minio-basic")
    assert client.bucket_exists("minio-basic") and not client.bucket_exists("minio-none")
    for index, key in enumerate(ODD_KEYS):
        client.put_object("minio-basic", key, io.BytesIO(data(1000, index)), 1000, metadata={"x-amz-meta-n": str(index)})
    names = [entry.object_name for entry in client.list_objects("minio-basic", recursive=True)]
    assert {name for name in names if not name.endswith("/")} == set(ODD_KEYS), names
    for index, key in enumerate(ODD_KEYS):
        assert _read("minio-basic", key) == data(1000, index), key
        assert client.stat_object("minio-basic", key).size == 1000
        client.copy_object("minio-basic", f"copy/{key}", CopySource("minio-basic", key))
        assert _read("minio-basic", f"copy/{key}") == data(1000, index), key
    assert _read("minio-basic", "plain.txt", offset=10, length=20) == data(1000, 0)[10:30]
    assert client.stat_object("minio-basic", "plain.txt").metadata["x-amz-meta-n"] == "0"
    everything = [entry.object_name for entry in client.list_objects("minio-basic", recursive=True)]
    assert list(client.remove_objects("minio-basic", [DeleteObject(name) for name in everything])) == []
    assert list(client.list_objects("minio-basic", recursive=True)) == []
    client.remove_bucket("minio-basic")
    assert not client.bucket_exists("minio-basic")


def multipart_and_compose():
    client.make_bucket("minio-multi")
    body = data(11 * MIB)
    client.put_object("minio-multi", "big", io.BytesIO(body), -1, part_size=5 * MIB)
    assert _read("minio-multi", "big") == body
    sources = [ComposeSource("minio-multi", "big"), ComposeSource("minio-multi", "big", offset=0, length=5 * MIB)]
    client.compose_object("minio-multi", "composed", sources)
    assert _read("minio-multi", "composed") == body + body[: 5 * MIB]


def tags_and_presigned():
    client.make_bucket("minio-tags")
    client.put_object("minio-tags", "o", io.BytesIO(b"text"), 4)
    tags = Tags.new_object_tags()
    tags["a"] = "b c"
    client.set_object_tags("minio-tags", "o", tags)
    assert dict(client.get_object_tags("minio-tags", "o")) == {"a": "b c"}
    client.delete_object_tags("minio-tags", "o")
    assert not client.get_object_tags("minio-tags", "o")
    with urlopen(client.presigned_get_object("minio-tags", "o", expires=timedelta(minutes=5))) as reply:
        assert reply.read() == b"text"


def errors():
    client.make_bucket("minio-errors")
    for code, call in [
        ("NoSuchKey", lambda: client.get_object("minio-errors", "none")),
        ("NoSuchKey", lambda: client.stat_object("minio-errors", "none")),
        ("NoSuchBucket", lambda: client.get_object("minio-none", "none")),
    ]:
        try:
            call()
        except S3Error as error:
            assert error.code == code, error
        else:
            raise AssertionError(f"expected {code}")


if __name__ == "__main__":
    serve(globals())
