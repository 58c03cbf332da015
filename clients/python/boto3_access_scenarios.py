"""Who boto3 acts as, and how it finds its way."""

import urllib.request

import boto3
from boto3_client import client, read, s3
from botocore import UNSIGNED
from botocore.config import Config
from scenarios import ENDPOINT, data, expect_error, serve


def presigned():
    s3.create_bucket(Bucket="boto-signed")
    body = data(50_000)
    for version in ("s3v4", "s3"):
        signer = client(signature_version=version)
        key = f"a b+{version}.bin"
        place = {"Bucket": "boto-signed", "Key": key}
        put = signer.generate_presigned_url("put_object", Params=place, ExpiresIn=300)
        request = urllib.request.Request(put, data=body, method="PUT")
        request.add_header("Content-Type", "")
        with urllib.request.urlopen(request) as reply:
            assert reply.status == 200
        with urllib.request.urlopen(signer.generate_presigned_url("get_object", Params=place)) as reply:
            assert reply.read() == body, version
        assert read("boto-signed", key) == body


def two_users():
    """Needs file-system work under the acting user's identity (root, or SETUID and SETGID)."""
    bob = client("bob")
    s3.create_bucket(Bucket="boto-alice")
    s3.put_object(Bucket="boto-alice", Key="private", Body=b"hers")
    assert [bucket["Name"] for bucket in bob.list_buckets().get("Buckets", [])] == []
    bob.create_bucket(Bucket="boto-bob")
    assert [bucket["Name"] for bucket in bob.list_buckets()["Buckets"]] == ["boto-bob"]
    assert "boto-bob" not in [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]
    for call, arguments in [
        (bob.get_object, {"Key": "private"}),
        (bob.put_object, {"Key": "private", "Body": b"his"}),
        (bob.put_object, {"Key": "new", "Body": b"his"}),
        (bob.delete_object, {"Key": "private"}),
        (bob.put_object_tagging, {"Key": "private", "Tagging": {"TagSet": []}}),
        (bob.list_objects_v2, {}),
        (bob.delete_bucket, {}),
    ]:
        assert expect_error("AccessDenied", call, Bucket="boto-alice", **arguments) == 403, call
    source = {"CopySource": "boto-alice/private", "Bucket": "boto-bob", "Key": "stolen"}
    assert expect_error("AccessDenied", bob.copy_object, **source) == 403
    denied = bob.delete_objects(Bucket="boto-alice", Delete={"Objects": [{"Key": "private"}]})
    assert [(error["Key"], error["Code"]) for error in denied["Errors"]] == [("private", "AccessDenied")]
    assert read("boto-alice", "private") == b"hers"


def nobody_named():
    anonymous = boto3.client("s3", endpoint_url=ENDPOINT, config=Config(signature_version=UNSIGNED))
    anonymous.create_bucket(Bucket="boto-process")
    anonymous.put_object(Bucket="boto-process", Key="o", Body=b"x")
    assert anonymous.get_object(Bucket="boto-process", Key="o")["Body"].read() == b"x"
    assert anonymous.list_buckets().get("Buckets", []) == []


def old_authorization():
    old = client(signature_version="s3")
    old.create_bucket(Bucket="boto-old")
    old.put_object(Bucket="boto-old", Key="o", Body=b"x")
    assert read("boto-old", "o") == b"x"
    assert "boto-old" in [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]


def nested_bucket():
    s3.create_bucket(Bucket="boto-outer")
    s3.put_object(Bucket="boto-outer", Key="mid/inner/o", Body=b"x")
    # botocore's check of bucket names does not know ':', which the specification does.
    s3.meta.events.unregister("before-parameter-build.s3", _bucket_name_check())
    assert read("boto-outer:mid:inner", "o") == b"x"
    s3.put_object(Bucket="boto-outer:mid:inner", Key="p", Body=b"y")
    assert read("boto-outer", "mid/inner/p") == b"y"
    assert [entry["Key"] for entry in s3.list_objects_v2(Bucket="boto-outer:mid")["Contents"]] == [
        "inner/",
        "inner/o",
        "inner/p",
    ]
    assert "boto-outer:mid" not in [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]


def _bucket_name_check():
    from botocore.handlers import validate_bucket_name

    return validate_bucket_name


def questions_before_the_work():
    s3.create_bucket(Bucket="boto-asks")
    assert s3.get_bucket_location(Bucket="boto-asks").get("LocationConstraint") is None
    assert "Status" not in s3.get_bucket_versioning(Bucket="boto-asks")
    for call in (s3.get_bucket_policy, s3.get_bucket_lifecycle_configuration, s3.get_bucket_cors):
        assert expect_error("NotImplemented", call, Bucket="boto-asks") == 501


if __name__ == "__main__":
    serve(globals())
