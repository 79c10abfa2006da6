#!/usr/bin/env python3
"""LSHEnsemble of datasketch on the sets and excerpts of containment_bench.sh, which calls this: seconds to index, milliseconds a query, candidates a
query, and the share of the rows that contain at least 0.8 of the excerpt among them.

    lsh_ensemble.py ROWS    the first ROWS rows of neardup_contain_docs, and the queries that were taken from these

Needs `pip install datasketch psycopg`; without them it says so and succeeds.
"""
import statistics
import sys
import time

try:
    import numpy
    import psycopg
    from datasketch import MinHash, MinHashLSHEnsemble
except ImportError as e:
    print("LSHEnsemble: %s is not installed" % e.name)
    sys.exit(0)

THRESHOLD = 0.8
NUM_PERM = 128
PARTS = 16


def signature(elements):
    m = MinHash(num_perm=NUM_PERM, hashfunc=lambda e: e)
    m.update_batch(elements)
    return m


def mixed(elements):
    """datasketch takes hashes of 32 bits."""
    return (numpy.array(elements, dtype=numpy.int64) & 0xFFFFFFFF).tolist()


def main():
    rows = int(sys.argv[1])
    with psycopg.connect() as conn:
        docs = conn.execute("SELECT id, set FROM neardup_contain_docs WHERE id <= %s", (rows,)).fetchall()
        queries = conn.execute("SELECT excerpt, array(SELECT id FROM neardup_contain_docs d WHERE containment_exact(excerpt, d.set) >= %s AND id <= %s)"
                               " FROM neardup_contain_queries WHERE id <= %s ORDER BY n", (THRESHOLD, rows, rows)).fetchall()
    began = time.perf_counter()
    ensemble = MinHashLSHEnsemble(threshold=THRESHOLD, num_perm=NUM_PERM, num_part=PARTS)
    ensemble.index((i, signature(mixed(s)), len(s)) for i, s in docs)
    built = time.perf_counter() - began
    taken, found, wanted, candidates = [], 0, 0, 0
    for excerpt, truth in queries:
        began = time.perf_counter()
        got = set(ensemble.query(signature(mixed(excerpt)), len(excerpt)))
        taken.append((time.perf_counter() - began) * 1000)
        candidates += len(got)
        wanted += len(truth)
        found += len(got & set(truth))
    print("LSHEnsemble of datasketch, %d sets: built in %.1f s; query in row %.3f ms, %.1f candidates, recall %.3f of %d rows"
          % (len(docs), built, statistics.median(taken), candidates / len(queries), found / wanted, wanted))


main()
