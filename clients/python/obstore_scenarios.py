"""What object_store (Rust, through obstore) does with the gateway."""

import urllib.request
from datetime import timedelta

import obstore as obs
from obstore.exceptions import AlreadyExistsError, NotModifiedError, PreconditionError
from obstore.store import S3Store
from scenarios import ENDPOINT, MIB, ODD_KEYS, data, serve

import boto3


def _store(bucket):
    boto3.client("s3", endpoint_url=ENDPOINT).create_bucket(Bucket=bucket)
    return S3Store(
        bucket,
        endpoint=ENDPOINT,
        access_key_id="alice",
        secret_access_key="unused",
        region="us-east-1",
        virtual_hosted_style_request=False,
        client_options={"allow_http": True},
    )


def _read(store, key):
    return bytes(obs.get(store, key).bytes())


def _names(store, **arguments):
    return [entry["path"] for batch in obs.list(store, **arguments) for entry in batch]


def write_and_read():
    store = _store("obs-basic")
    for index, key in enumerate(ODD_KEYS):
        obs.put(store, key, data(1000, index))
    for index, key in enumerate(ODD_KEYS):
        assert _read(store, key) == data(1000, index), key
        assert obs.head(store, key)["size"] == 1000
    listed = [name for name in _names(store) if not name.endswith("/") and name not in ("deep", "deep/er", "ünïcödé")]
    assert set(ODD_KEYS) <= set(_names(store)), listed
    obs.put(store, "with attributes", b"x", attributes={"Content-Type": "a/b", "Cache-Control": "no-store", "own": "1"})
    got = obs.get(store, "with attributes").attributes
    assert (got["Content-Type"], got["Cache-Control"], got["own"]) == ("a/b", "no-store", "1"), got
    obs.copy(store, "plain.txt", "copy")
    obs.rename(store, "copy", "renamed")
    assert _read(store, "renamed") == data(1000, 0)
    obs.delete(store, [*ODD_KEYS, "renamed", "with attributes"])
    assert not set(ODD_KEYS) & set(_names(store))


def ranges():
    store = _store("obs-range")
    body = data(500_000)
    obs.put(store, "o", body)
    assert bytes(obs.get_range(store, "o", start=10, end=20)) == body[10:20]
    parts = obs.get_ranges(store, "o", starts=[0, 100_000, 499_990], ends=[10, 200_000, 500_000])
    assert [bytes(part) for part in parts] == [body[:10], body[100_000:200_000], body[499_990:]]
    assert bytes(obs.get(store, "o", options={"range": {"suffix": 1000}}).bytes()) == body[-1000:]
    assert bytes(obs.get(store, "o", options={"range": {"offset": 400_000}}).bytes()) == body[400_000:]


def multipart():
    store = _store("obs-multi")
    body = data(16 * MIB)
    obs.put(store, "big", body, use_multipart=True, chunk_size=5 * MIB, max_concurrency=3)
    assert _read(store, "big") == body
    with obs.open_writer(store, "streamed", buffer_size=5 * MIB) as writer:
        for at in range(0, len(body), 2 * MIB):
            writer.write(body[at : at + 2 * MIB])
    assert _read(store, "streamed") == body


def listing():
    store = _store("obs-list")
    keys = sorted(f"_delta_log/{number:020}.json" for number in range(1150))
    for key in keys:
        obs.put(store, key, b"{}")
    assert [name for name in _names(store) if name.endswith(".json")] == keys
    # Delta tables look for new commits after the last one they know: strictly greater.
    assert _names(store, prefix="_delta_log", offset=keys[1147]) == keys[1148:]
    level = obs.list_with_delimiter(store)
    assert level["common_prefixes"] == ["_delta_log"] and level["objects"] == []
    obs.delete(store, keys)
    assert [name for name in _names(store) if name.endswith(".json")] == []


def conditions():
    store = _store("obs-if")
    first = obs.put(store, "o", b"one", mode="create")["e_tag"]
    for mode, error in [("create", AlreadyExistsError), ({"e_tag": '"0123"'}, PreconditionError)]:
        try:
            obs.put(store, "o", b"two", mode=mode)
        except error:
            continue
        raise AssertionError(f"mode {mode} wrote")
    second = obs.put(store, "o", b"two", mode={"e_tag": first})["e_tag"]
    try:
        obs.get(store, "o", options={"if_none_match": second})
    except NotModifiedError:
        pass
    else:
        raise AssertionError("not modified, yet read")
    assert _read(store, "o") == b"two"


def signed():
    store = _store("obs-sign")
    obs.put(store, "o p", b"signed")
    with urllib.request.urlopen(obs.sign(store, "GET", "o p", timedelta(minutes=5))) as reply:
        assert reply.read() == b"signed"


if __name__ == "__main__":
    serve(globals())
