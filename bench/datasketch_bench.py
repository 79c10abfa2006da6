#!/usr/bin/env python3
"""The same documents signed by neardup's core and by datasketch (word 3, 128 permutations), one thread, side by side.

    datasketch_bench.py [CORE_BENCH]      default: build-bench/core_bench beside this folder

datasketch is not a dependency of the project: `pip install datasketch`. Without it the script says so and succeeds.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

try:
    from datasketch import MinHash
    import datasketch
except ImportError:
    print("datasketch is not installed")
    sys.exit(0)

RUNS = 7
SAMPLE = 100  # documents for datasketch: all would take minutes
WORD = re.compile(r"\w+")


def shingles(text):
    words = WORD.findall(text.lower())
    return [" ".join(words[i:i + 3]).encode() for i in range(max(len(words) - 2, min(len(words), 1)))]


def one_by_one(text):
    m = MinHash(num_perm=128)
    for s in set(shingles(text)):
        m.update(s)
    return m


def in_batch(text):
    m = MinHash(num_perm=128)
    m.update_batch(set(shingles(text)))
    return m


def rate(sign, documents):
    size = sum(len(d.encode()) for d in documents)
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        for d in documents:
            sign(d)
        times.append(time.perf_counter() - start)
    return size / 1e6 / statistics.median(times)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    core = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", "build-bench", "core_bench")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "documents")
        subprocess.run([core, "--export", path], check=True)
        with open(path) as file:
            documents = file.read().splitlines()
        rates = subprocess.run([core, "--rates", path], check=True, capture_output=True, text=True).stdout
        ours = float(rates.split()[0])
    size = sum(map(len, documents)) / len(documents)
    print(f"word 3, 128 permutations, one thread, documents of {size:.0f} bytes, medians of {RUNS}; MB/s")
    print(f"{'neardup core':34} {ours:8.1f}")
    version = datasketch.__version__
    for name, sign in (("update_batch", in_batch), ("update", one_by_one)):
        theirs = rate(sign, documents[:SAMPLE])
        print(f"{'datasketch ' + str(version) + ', ' + name:34} {theirs:8.1f}   neardup is {ours / theirs:.0f} times as fast")


main()
