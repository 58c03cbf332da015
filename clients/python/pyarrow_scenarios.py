"""What PyArrow's own S3 file system and its datasets do with the gateway."""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow.fs import FileSelector, FileType, S3FileSystem
from scenarios import ENDPOINT, MIB, ODD_KEYS, data, serve

fs = S3FileSystem(
    endpoint_override=ENDPOINT,
    access_key="alice",
    secret_key="unused",
    region="us-east-1",
    allow_bucket_creation=True,
    allow_bucket_deletion=True,
)


def _write(path, body):
    with fs.open_output_stream(path) as out:
        out.write(body)


def _read(path):
    with fs.open_input_stream(path) as file:
        return file.read()


def write_and_read():
    fs.create_dir("arrow-basic")
    _write("arrow-basic/empty", b"")
    assert _read("arrow-basic/empty") == b""
    for index, key in enumerate(ODD_KEYS):
        _write(f"arrow-basic/odd/{key}", data(1000, index))
    for index, key in enumerate(ODD_KEYS):
        assert _read(f"arrow-basic/odd/{key}") == data(1000, index), key
    found = fs.get_file_info(FileSelector("arrow-basic/odd", recursive=True))
    files = {info.path: info.size for info in found if info.type == FileType.File}
    assert files == {f"arrow-basic/odd/{key}": 1000 for key in ODD_KEYS}, files
    kinds = [info.type for info in fs.get_file_info(["arrow-basic/odd", "arrow-basic/odd/plain.txt", "arrow-basic/none"])]
    assert kinds == [FileType.Directory, FileType.File, FileType.NotFound], kinds
    fs.copy_file("arrow-basic/odd/plain.txt", "arrow-basic/copy")
    fs.move("arrow-basic/copy", "arrow-basic/moved")
    assert _read("arrow-basic/moved") == data(1000, 0)
    fs.delete_file("arrow-basic/moved")
    assert fs.get_file_info("arrow-basic/moved").type == FileType.NotFound


def multipart_and_random_reads():
    fs.create_dir("arrow-multi")
    body = data(23 * MIB)
    with fs.open_output_stream("arrow-multi/big", metadata={"Content-Type": "a/b"}) as out:
        for at in range(0, len(body), 3 * MIB):
            out.write(body[at : at + 3 * MIB])
    with fs.open_input_file("arrow-multi/big") as file:
        assert file.size() == len(body) and file.metadata()["Content-Type"] == b"a/b"
        for at, length in [(0, 1), (5 * MIB - 3, 10), (23 * MIB - 5, 5), (12_345_678, 1_000_000)]:
            assert file.read_at(length, at) == body[at : at + length], at
    assert _read("arrow-multi/big") == body


def directories():
    fs.create_dir("arrow-dirs")
    fs.create_dir("arrow-dirs/a/b/c", recursive=True)
    assert [info.path for info in fs.get_file_info(FileSelector("arrow-dirs", recursive=True))] == [
        "arrow-dirs/a",
        "arrow-dirs/a/b",
        "arrow-dirs/a/b/c",
    ]
    for number in range(20):
        _write(f"arrow-dirs/a/b/{number}", b"x")
    fs.delete_dir_contents("arrow-dirs/a/b")
    assert fs.get_file_info(FileSelector("arrow-dirs/a/b")) == []
    assert fs.get_file_info("arrow-dirs/a/b").type == FileType.Directory
    fs.delete_dir("arrow-dirs/a")
    assert fs.get_file_info("arrow-dirs/a").type == FileType.NotFound
    fs.delete_dir("arrow-dirs")
    assert fs.get_file_info("arrow-dirs").type == FileType.NotFound


def datasets():
    fs.create_dir("arrow-data")
    rows = 20_000
    table = pa.table(
        {
            "day": [f"2026-01-{1 + n % 7:02}" for n in range(rows)],
            "city": [["Łódź", "New York", "São Paulo"][n % 3] for n in range(rows)],
            "n": range(rows),
        }
    )
    ds.write_dataset(
        table,
        "arrow-data/table",
        filesystem=fs,
        format="parquet",
        partitioning=["day", "city"],
        partitioning_flavor="hive",
    )
    back = ds.dataset("arrow-data/table", filesystem=fs, format="parquet", partitioning="hive")
    assert len(back.files) == 21
    read = back.to_table().sort_by("n").select(["day", "city", "n"])
    assert read.column("n").to_pylist() == list(range(rows))
    assert read.cast(table.schema).equals(table)
    some = back.to_table(filter=(pc.field("day") == "2026-01-03") & (pc.field("city") == "Łódź"))
    assert sorted(some.column("n").to_pylist()) == [n for n in range(rows) if n % 7 == 2 and n % 3 == 0]
    ds.write_dataset(
        table.slice(0, 100),
        "arrow-data/table",
        filesystem=fs,
        format="parquet",
        partitioning=["day", "city"],
        partitioning_flavor="hive",
        existing_data_behavior="delete_matching",
    )
    again = pq.read_table("arrow-data/table", filesystem=fs)
    assert sorted(again.column("n").to_pylist()) == list(range(100))
    fs.delete_dir("arrow-data/table")
    assert fs.get_file_info("arrow-data/table").type == FileType.NotFound


if __name__ == "__main__":
    serve(globals())
