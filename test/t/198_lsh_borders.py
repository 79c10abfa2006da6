#!/usr/bin/python3
"""Sizes around the limits of lsh indexes, n - 1, n and n + 1: of sets, and of rows that wait in pending pages."""
from harness import *

LARGEST_SET = 250000


def sets(conn):
    """A set of more elements is a candidate of every query; one of as many is not."""
    conn.execute("CREATE TABLE sets (n int, elements int[]); ALTER TABLE sets ALTER elements SET STORAGE EXTERNAL; "
                 "INSERT INTO sets SELECT n, array(SELECT generate_series(1, %d + n)) FROM generate_series(-1, 1) n; "
                 "INSERT INTO sets VALUES (2, ARRAY[-1, -2]); CREATE INDEX ON sets USING lsh (elements)" % LARGEST_SET)
    conn.execute("SET enable_seqscan = off; SET enable_indexscan = off")
    query = "SELECT n FROM sets WHERE overlap_exact(elements, ARRAY[-1, -2]) >= 2"
    plan = str(conn.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) " + query).fetchall())
    found = re.search(r"Rows Removed by (?:Filter|Index Recheck): (\d+)", plan)
    equal("a set of %d elements alone is a candidate of a query of other elements" % (LARGEST_SET + 1),
          found and found.group(1) or plan, "1")
    for n in (-1, 0, 1):
        query = "SELECT n FROM sets WHERE jaccard_exact(elements, (SELECT elements FROM sets WHERE n = %d)) >= 1" % n
        equal("a set of %d elements finds itself" % (LARGEST_SET + n), conn.execute(query).fetchall(), [(n,)])


def pending(conn):
    """pending_limit counts entries: a flush follows the row that goes beyond it."""
    for n in (63, 64, 65):
        conn.execute("DROP TABLE IF EXISTS waiting; CREATE TABLE waiting (e int[]) WITH (autovacuum_enabled = off); "
                     "CREATE INDEX waiting_e ON waiting USING lsh (e) WITH (pending_limit = 64)")
        for i in range(n):
            conn.execute("INSERT INTO waiting VALUES (ARRAY[%d])" % i)
        conn.execute("SET enable_seqscan = off; SET enable_indexscan = off")
        query = "SELECT FROM waiting WHERE jaccard_exact(e, ARRAY[%d]) >= 1"
        found = [len(conn.execute(query % i).fetchall()) for i in range(n + 1)]
        equal("%d rows, each of them found" % n, found, [1] * n + [0])


def main():
    with database() as name, connect(name) as conn:
        sections((sets, conn), (pending, conn))


finish(main)
