#!/usr/bin/env python3
"""mypy --strict of a small program that uses neardup_core, its mistakes found, and the stub beside the module."""
import os
import subprocess
import sys
import tempfile

from common import check, equal, finish

PROGRAM = """
from typing import assert_type
import numpy as np
import numpy.typing as npt
import neardup_core as nd

Row = npt.NDArray[np.uint32] | npt.NDArray[np.uint16] | npt.NDArray[np.uint8]
assert_type(nd.minhash("a text"), bytes)
assert_type(nd.minhash(b"bytes", k=8, unit="byte"), bytes)
assert_type(nd.minhash(None), None)
assert_type(nd.minhash(["a", None], k=5, unit="char", num_perm=64, bits=16, seed=7, threads=2), list[bytes | None])
assert_type(nd.minhash(("a", "b"), result="text"), list[str | None])
assert_type(nd.minhash([b"a"], result="numpy"), Row)
assert_type(nd.minhash(np.array(["a"], dtype=object)), list[bytes | None])
assert_type(nd.simhash("a"), bytes | None)
assert_type(nd.simhash(["a"], result="numpy"), npt.NDArray[np.uint64])
assert_type(nd.ctph([b"a", "b"], length=256, result="text"), list[str | None])
assert_type(nd.shingles("a"), list[str])
assert_type(nd.shingle_hashes(["a"]), list[list[int] | None])
assert_type(nd.shingle_hashes("a", result="numpy"), npt.NDArray[np.int64])
assert_type(nd.winnow_hashes("a", window=4), list[int])
assert_type(nd.jaccard(nd.minhash("a"), nd.minhash("b")), float)
assert_type(nd.jaccard(nd.minhash("a"), nd.minhash(["b", None])), list[float | None])
assert_type(nd.hamming("0" * 16, "1" * 16), int)
assert_type(nd.ctph_score(nd.ctph("a"), nd.ctph(["b"])), list[int | None])


class Table:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return object()


def sign(column: Table) -> list[bytes | None]:
    return nd.minhash(column)
"""

MISTAKES = """
import neardup_core as nd
nd.minhash(5)
nd.minhash([1.5])
nd.minhash("a", result="array")
nd.minhash("a", 3)
nd.simhash(b"a")
nd.jaccard(1, 2)
"""


def mypy(folder, text):
    path = os.path.join(folder, "program.py")
    with open(path, "w") as f:
        f.write(text)
    cache = os.environ.get("NEARDUP_MYPY_CACHE", os.path.join(folder, "cache"))
    r = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, path], capture_output=True, text=True)
    return r.returncode, r.stdout + r.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        status, said = mypy(folder, PROGRAM)
        check("mypy --strict of a program", status == 0, said)
        _, said = mypy(folder, MISTAKES)
        wrong = [int(line.split(":")[1]) for line in said.splitlines() if ": error:" in line]
        equal("its mistakes, by line", wrong, [i for i, line in enumerate(MISTAKES.split("\n"), 1) if line.startswith("nd.")])
    r = subprocess.run([sys.executable, "-m", "mypy.stubtest", "neardup_core", "--ignore-missing-stub"], capture_output=True, text=True)
    check("the stub is the module's", r.returncode == 0, r.stdout + r.stderr)


finish(main)
