"""A boto3 client of the gateway for each user, and what the scenarios of boto3 do all the time."""

import boto3
from botocore.config import Config
from scenarios import ENDPOINT


def client(user="alice", **config):
    return boto3.client(
        "s3",
        endpoint_url=ENDPOINT,
        aws_access_key_id=user,
        aws_secret_access_key="unused",
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}, **config),
    )


s3 = client()


def read(bucket, key, **arguments):
    return s3.get_object(Bucket=bucket, Key=key, **arguments)["Body"].read()
