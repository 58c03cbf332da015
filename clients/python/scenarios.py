"""Runs the scenarios of a script by name: those on the command line, or, without any, each line of stdin.

A scenario is a function without arguments whose name does not start with an underscore; it returns nothing or
something JSON can hold, and fails by raising. For each line one line of JSON goes to stdout (see setup/scenarios.ts).
"""

import json
import os
import random
import sys
import traceback

ENDPOINT = os.environ["S3_ENDPOINT"]
MIB = 1 << 20

# Names that clients escape in different ways, and whose order differs between UTF-8 and UTF-16.
ODD_KEYS = [
    "plain.txt",
    "with space.txt",
    " leading and trailing ",
    "plus+sign.txt",
    "percent%20literal",
    "100%",
    "a=b&c=d",
    "question?mark#hash",
    "semi;colon,comma",
    "colon:in:key",
    "quotes'\"<>&amp;",
    "brackets[1]{2}(3)",
    "back\\slash",
    "tilde~star*bang!at@dollar$",
    "ünïcödé/日本語/ключ",
    "emoji 😀",
    "halfwidth ～",
    "deep/er/and/deeper/still.txt",
]


def data(size, seed=1):
    """Bytes that look random but are the same for the same seed."""
    return random.Random(seed).randbytes(size)


def expect_error(code, call, *args, **kwargs):
    """Checks that a botocore call fails with the S3 error code and returns the HTTP status."""
    from botocore.exceptions import ClientError

    try:
        call(*args, **kwargs)
    except ClientError as error:
        got = error.response["Error"]["Code"]
        assert got == code, f"expected {code}, got {got}: {error}"
        return error.response["ResponseMetadata"]["HTTPStatusCode"]
    raise AssertionError(f"expected {code}, but the call went well")


def serve(scenarios):
    """Runs the scenarios among the names of a script (its globals())."""
    for name in sys.argv[1:]:
        print(name, scenarios[name]())
    if sys.argv[1:]:
        return
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is not an answer
    for line in sys.stdin:
        try:
            answer = {"ok": True, "result": scenarios[line.strip()]()}
        except BaseException as error:
            traceback.print_exc()
            sys.stderr.flush()
            answer = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
