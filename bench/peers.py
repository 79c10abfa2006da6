#!/usr/bin/env python3
"""Rates from texts to MinHash signatures: neardup's core, neardup-core in Python, and the libraries of others, over the same documents in one run.

    peers.py [CORE_BENCH]      default: build-bench/core_bench beside this folder

Three words in a row, 128 components. All begin with a list of str and end with signatures; where a library takes shingles, the function below cuts them,
which is what its users write. Rates by the clock and by processor time, which is the same on a busy machine; shares of the core are by processor time, but by the
clock for several threads. None of them is a dependency of the
project: `./run bench --report` fetches them from PyPI; one that is not installed is left out, and named.
"""
import importlib.metadata
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 7
SAMPLE = 100  # documents for the slow ones: all would take minutes
PERM = 128
SEED = 1
WORD = re.compile(r"\w+")


def shingles(text):
    words = WORD.findall(text.lower())
    return {" ".join(words[i:i + 3]) for i in range(max(len(words) - 2, min(len(words), 1)))}


def neardup_ways():
    import neardup_core
    # Name, function of all documents, whether it is one of the slow ones
    yield "list of bytes", lambda texts: neardup_core.minhash(texts), False
    yield "NumPy array", lambda texts: neardup_core.minhash(texts, result="numpy"), False
    yield "list of bytes, 2 threads", lambda texts: neardup_core.minhash(texts, threads=2), False
    yield "list of bytes, texts one by one", lambda texts: [neardup_core.minhash(text) for text in texts], False


def rensa_ways():
    from rensa import CMinHash, RMinHash

    def updated(kind, text):
        m = kind(num_perm=PERM, seed=SEED)
        m.update(list(shingles(text)))
        return m.digest()

    yield "R-MinHash, update", lambda texts: [updated(RMinHash, text) for text in texts], True
    yield "C-MinHash, update", lambda texts: [updated(CMinHash, text) for text in texts], True
    yield "R-MinHash, digest_matrix_from_token_sets", lambda texts: RMinHash.digest_matrix_from_token_sets([list(shingles(text)) for text in texts], PERM, SEED), True


def fastsketchlsh_ways():
    from FastSketchLSH import FastSimilaritySketch
    sketch = FastSimilaritySketch(PERM)
    yield "batch", lambda texts: sketch.batch([list(shingles(text)) for text in texts], False, 1), True


def gaoya_ways():
    from gaoya.minhash import MinHashStringIndex

    def filled(texts):
        index = MinHashStringIndex(32, 0.5, None, None, PERM, "word", True, (3, 3))
        for i, text in enumerate(texts):
            index.insert_document(i, text)
        return index

    yield "insert_document (into its index)", filled, True


def datasketch_ways():
    from datasketch import MinHash

    def in_batch(text):
        m = MinHash(num_perm=PERM)
        m.update_batch([s.encode() for s in shingles(text)])
        return m

    def one_by_one(text):
        m = MinHash(num_perm=PERM)
        for s in shingles(text):
            m.update(s.encode())
        return m

    yield "update_batch", lambda texts: [in_batch(text) for text in texts], True
    yield "update", lambda texts: [one_by_one(text) for text in texts], True


LIBRARIES = (("neardup-core", neardup_ways), ("rensa", rensa_ways), ("FastSketchLSH", fastsketchlsh_ways), ("gaoya", gaoya_ways), ("datasketch", datasketch_ways))


def rates(sign, documents):
    """MB/s by the clock and by processor time: medians."""
    size = sum(len(d.encode()) for d in documents) / 1e6
    wall, processor = [], []
    for _ in range(RUNS):
        start, used = time.perf_counter(), time.process_time()
        sign(documents)
        wall.append(time.perf_counter() - start)
        processor.append(time.process_time() - used)
    return size / statistics.median(wall), size / statistics.median(processor)


def core_rates(core, path):
    """The rates of the core alone, as rates()."""
    run = [core, "--rates", path]
    return [float(subprocess.run(run + more, check=True, capture_output=True, text=True).stdout.split()[0]) for more in ([], ["processor"])]


def row(name, measured, core):
    wall, processor = measured
    share = wall / core[0] if "threads" in name else processor / core[1]
    print(f"{name:60} {wall:8.1f} {processor:8.1f} {share:8.3f}", flush=True)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    core = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", "build-bench", "core_bench")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "documents")
        subprocess.run([core, "--export", path], check=True)
        compare(core, path)


def compare(core, path):
    with open(path, encoding="utf-8") as file:
        documents = file.read().splitlines()
    size = sum(map(len, documents)) / len(documents)
    print(f"word 3, {PERM} components, {len(documents)} documents of {size:.0f} characters ({SAMPLE} for the slow ones), medians of {RUNS}; MB/s")
    print(f"{'':60} {'clock':>8} {'CPU':>8} {'of core':>8}")
    missing = []
    for library, functions in LIBRARIES:
        beside = core_rates(core, path)
        row("neardup core, C++", beside, beside)
        try:
            version = importlib.metadata.version(library)
            for name, sign, slow in functions():
                row(f"{library} {version}, {name}", rates(sign, documents[:SAMPLE] if slow else documents), beside)
        except ImportError:
            missing.append(library)
    if missing:
        print("not installed: " + ", ".join(missing))


main()
