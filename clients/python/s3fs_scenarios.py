"""What s3fs (fsspec) does with the gateway."""

import os
import tempfile

import s3fs
from scenarios import ENDPOINT, MIB, ODD_KEYS, data, serve

fs = s3fs.S3FileSystem(
    key="alice",
    secret="unused",
    endpoint_url=ENDPOINT,
    config_kwargs={"s3": {"addressing_style": "path"}},
    use_listings_cache=False,
)


def write_and_read():
    fs.mkdir("fsspec-basic")
    for index, key in enumerate(ODD_KEYS):
        fs.pipe_file(f"fsspec-basic/{key}", data(1000, index))
    for index, key in enumerate(ODD_KEYS):
        assert fs.cat_file(f"fsspec-basic/{key}") == data(1000, index), key
    found = set(fs.find("fsspec-basic"))
    assert {f"fsspec-basic/{key}" for key in ODD_KEYS} <= found, found
    assert fs.cat_file("fsspec-basic/plain.txt", start=10, end=20) == data(1000, 0)[10:20]
    assert fs.cat_file("fsspec-basic/plain.txt", start=-7) == data(1000, 0)[-7:]
    ranges = fs.cat_ranges(["fsspec-basic/plain.txt"] * 2, [0, 500], [5, 510])
    assert ranges == [data(1000, 0)[:5], data(1000, 0)[500:510]]
    info = fs.info("fsspec-basic/plain.txt")
    assert info["size"] == 1000 and len(info["ETag"]) == 34, info
    assert fs.isdir("fsspec-basic/deep") and not fs.isfile("fsspec-basic/deep")
    assert fs.isfile("fsspec-basic/plain.txt") and not fs.exists("fsspec-basic/none")
    fs.copy("fsspec-basic/plain.txt", "fsspec-basic/copy")
    fs.mv("fsspec-basic/copy", "fsspec-basic/moved")
    assert fs.cat_file("fsspec-basic/moved") == data(1000, 0) and not fs.exists("fsspec-basic/copy")
    fs.rm("fsspec-basic", recursive=True)
    assert not fs.exists("fsspec-basic")


def multipart():
    fs.mkdir("fsspec-multi")
    body = data(16 * MIB)
    with fs.open("fsspec-multi/big", "wb", block_size=5 * MIB) as file:
        for at in range(0, len(body), 3 * MIB):
            file.write(body[at : at + 3 * MIB])
    with fs.open("fsspec-multi/big", "rb", block_size=2 * MIB) as file:
        file.seek(7_000_000)
        assert file.read(100) == body[7_000_000:7_000_100]
        file.seek(0)
        assert file.read() == body
    with fs.open("fsspec-multi/big", "ab") as file:
        file.write(b"appended")
    assert fs.cat_file("fsspec-multi/big") == body + b"appended"


def trees():
    fs.mkdir("fsspec-tree")
    with tempfile.TemporaryDirectory() as here:
        files = {f"d{number % 7}/sub/{number:04}.txt": data(10, number) for number in range(1100)}
        for name, body in files.items():
            os.makedirs(os.path.join(here, "up", os.path.dirname(name)), exist_ok=True)
            with open(os.path.join(here, "up", name), "wb") as file:
                file.write(body)
        fs.put(os.path.join(here, "up"), "fsspec-tree/tree", recursive=True, batch_size=32)
        # s3fs takes the folder entries of the listing (spec §1.2) for empty files, as it does with folders on S3.
        found = fs.find("fsspec-tree/tree")
        assert [name for name in found if not name.endswith("/")] == sorted(f"fsspec-tree/tree/{name}" for name in files)
        assert fs.du("fsspec-tree/tree") == 11_000
        assert len(fs.glob("fsspec-tree/tree/d3/**/*.txt")) == 157
        names = [name for name in fs.ls("fsspec-tree/tree", detail=False) if not name.endswith("/")]
        assert sorted(names) == [f"fsspec-tree/tree/d{n}" for n in range(7)], names
        fs.get("fsspec-tree/tree/d3", os.path.join(here, "down", "d3"), recursive=True, batch_size=32)
        for name in (name for name in files if name.startswith("d3/")):
            with open(os.path.join(here, "down", name), "rb") as file:
                assert file.read() == files[name], name
    fs.rm("fsspec-tree/tree", recursive=True)
    assert fs.find("fsspec-tree") == []


if __name__ == "__main__":
    serve(globals())
