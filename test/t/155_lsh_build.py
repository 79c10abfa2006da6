#!/usr/bin/python3
"""Builds of an lsh index: every method writes the same bytes, holds every row, respects its memory limit and stops on
request."""
import threading
import time

from harness import *
from servers import dead_gone

CHECK = "SELECT lsh_check(%s::regclass, true)"
# Rows of many kinds: ordinary, alike, empty, NULL.
MANY = """SELECT i AS id,
    CASE WHEN i %% 50 = 0 THEN NULL WHEN i %% 50 = 1 THEN set_minhash('{}'::bigint[])
         WHEN i %% 5 = 2 THEN set_minhash(ARRAY[7, 8, 9]::bigint[])
         ELSE set_minhash(ARRAY[i / 3, i / 2, i, i + 1]::bigint[]) END AS sig
  FROM generate_series(1, %d) i"""
TABLES = {
    "no row": "SELECT 1 AS id, NULL::minhash AS sig WHERE false",
    "NULL alone": "SELECT i AS id, NULL::minhash AS sig FROM generate_series(1, 3000) i",
    "one row": "SELECT 1 AS id, set_minhash('{1,2,3}'::bigint[]) AS sig",
    "empty signatures": "SELECT i AS id, set_minhash('{}'::bigint[]) AS sig FROM generate_series(1, 5000) i",
    "10,000 alike": "SELECT i AS id, set_minhash('{1,2,3}'::bigint[]) AS sig FROM generate_series(1, 10000) i",
    "many": MANY % 30000,
    "wide": "SELECT i AS id, set_minhash(ARRAY[i, i + 1]::bigint[], 4096) AS sig FROM generate_series(1, 600) i",
}


def parallel(conn, workers):
    """Builds that follow use so many workers, however small the table."""
    conn.execute("SET max_parallel_maintenance_workers = %d" % workers)
    conn.execute("SET min_parallel_table_scan_size = 0")
    conn.execute("ALTER TABLE t SET (parallel_workers = %d)" % workers)


def pages(conn, index):
    """The index's bytes, but for each page's WAL position and checksum."""
    conn.execute("CHECKPOINT")
    data = one(conn, "SELECT pg_read_binary_file(pg_relation_filepath(%s::regclass))", (index,))
    return b"".join(data[at + 10 : at + 8192] for at in range(0, len(data), 8192))


def sound(conn, index):
    """The faults by lsh_check and the counts; "" when all is well."""
    e = sql_error(conn, CHECK, (index,))
    if e:
        return str(e)
    rows, pending = conn.execute("SELECT rows, pending_rows FROM lsh_info(%s::regclass)", (index,)).fetchone()
    want = one(conn, "SELECT count(sig) FROM t")
    return "" if (rows or 0, pending or 0) == (want, 0) else "%s rows, %s pending, of %s" % (rows, pending, want)


def all_ways():
    ways = [(memory, workers) for memory in ("64MB", "1MB") for workers in (0, 1, 3)]
    with database() as name, connect(name) as conn:
        for kind, query in TABLES.items():
            conn.execute("CREATE TABLE t AS " + query)
            results = []
            for memory, workers in ways:
                conn.execute("SET maintenance_work_mem = '%s'" % memory)
                parallel(conn, workers)
                conn.execute("CREATE INDEX i ON t USING lsh (sig)")
                results.append((memory, workers, sound(conn, "i"), pages(conn, "i")))
                conn.execute("DROP INDEX i")
            bad = [r[:3] for r in results if r[2]]
            check("%s: complete, in %d ways to build" % (kind, len(ways)), not bad, bad)
            other = [r[:2] for r in results if r[3] != results[0][3]]
            check("%s: always the same bytes (%d pages)" % (kind, len(results[0][3]) // 8182), not other, other)
            conn.execute("DROP TABLE t")
        equal("no temporary file is left", temp_files(conn), 0)


def statements():
    """CONCURRENTLY, REINDEX, unlogged and temporary tables, partial and expression indexes, TRUNCATE, wrapped scans."""
    with database() as name, connect(name) as conn:
        conn.execute("CREATE TABLE t AS " + MANY % 20000)
        for workers in (0, 2):
            parallel(conn, workers)
            conn.execute("CREATE INDEX i ON t USING lsh (sig)")
            first = pages(conn, "i")
            for statement in ("REINDEX INDEX i", "REINDEX INDEX CONCURRENTLY i", "REINDEX TABLE t"):
                conn.execute(statement)
                # CONCURRENTLY ends with a vacuum, which the meta page remembers.
                same = pages(conn, "i")[8182:] == first[8182:]
                check("%s, %d workers" % (statement, workers), sound(conn, "i") == "" and same,
                      sound(conn, "i") or "other bytes")
            conn.execute("DROP INDEX i")
            conn.execute("CREATE INDEX CONCURRENTLY i ON t USING lsh (sig)")
            equal("CREATE INDEX CONCURRENTLY, %d workers" % workers, sound(conn, "i"), "")
            conn.execute("DROP INDEX i")
        conn.execute("CREATE INDEX p ON t USING lsh (sig) WHERE id % 3 = 0")
        equal("a partial index", one(conn, "SELECT rows FROM lsh_info('p')"),
              one(conn, "SELECT count(sig) FROM t WHERE id % 3 = 0"))
        check("a partial index is sound", sql_error(conn, CHECK, ("p",)) is None)
        conn.execute("CREATE INDEX x ON t USING lsh (set_minhash(ARRAY[id, id + 1]::bigint[]))")
        equal("an index on an expression", one(conn, "SELECT rows FROM lsh_info('x')"), 20000)
        check("an index on an expression is sound", sql_error(conn, CHECK, ("x",)) is None)
        conn.execute("TRUNCATE t")
        equal("TRUNCATE leaves an empty index",
              sound(conn, "p") or one(conn, "SELECT coalesce(rows, 0) FROM lsh_info('p')"), 0)
        conn.execute("DROP TABLE t")
        for kind in ("UNLOGGED", "TEMPORARY"):
            conn.execute("CREATE %s TABLE t AS " % kind + MANY % 5000)
            conn.execute("CREATE INDEX i ON t USING lsh (sig)")
            equal("%s table" % kind.lower(), sound(conn, "i"), "")
            conn.execute("DROP TABLE t")
        # Rows whose chain begins behind another row's: TIDs do not ascend within the page.
        conn.execute("CREATE TABLE t (id int, sig minhash, n int) WITH (fillfactor = 40)")
        conn.execute(
            "INSERT INTO t SELECT i, set_minhash(ARRAY[i, i / 2]::bigint[]), 0 FROM generate_series(1, 3000) i")
        conn.execute("DELETE FROM t WHERE id % 3 = 0")
        conn.execute("VACUUM t")
        for _ in range(4):
            conn.execute("UPDATE t SET n = n + 1 WHERE random() < 0.5")
            conn.execute(
                "INSERT INTO t SELECT i, set_minhash(ARRAY[i, i / 2]::bigint[]), 0 FROM generate_series(1, 300) i")
            conn.execute("VACUUM t")
        dead_gone(conn, "t")
        for workers in (0, 2):
            parallel(conn, workers)
            conn.execute("CREATE INDEX i ON t USING lsh (sig)")
            equal("chains of updates, %d workers" % workers, sound(conn, "i"), "")
            conn.execute("DROP INDEX i")


def other_parameters():
    """Dead rows that were made by other parameters than the live ones."""
    with database() as name, connect(name) as conn, connect(name) as old:
        make = "set_minhash(ARRAY[id, id + 1]::bigint[], %d)"
        for workers in (0, 2):
            parts = "; %d workers" % workers
            conn.execute("CREATE TABLE t AS SELECT id, %s AS sig FROM generate_series(1, 3000) id" % (make % 64))
            parallel(conn, workers)
            conn.execute("UPDATE t SET sig = %s WHERE id > 2990" % (make % 32))
            fails("live rows of two kinds" + parts, conn, "CREATE INDEX i ON t USING lsh (sig)", state="42804")
            fails("live rows of two kinds, concurrently" + parts, conn,
                  "CREATE INDEX CONCURRENTLY c ON t USING lsh (sig)", state="42804")
            conn.execute("DROP INDEX c")
            conn.execute("UPDATE t SET sig = %s" % (make % 64))
            dead_gone(conn, "t")

            # This transaction made new rows: its old ones are dead to itself alone.
            with conn.transaction():
                conn.execute("UPDATE t SET sig = %s" % (make % 32))
                conn.execute("CREATE INDEX i ON t USING lsh (sig)")
            check("new signatures and their index in one transaction" + parts, sound(conn, "i") == "", sound(conn, "i"))
            check("an old snapshot may not use it" + parts,
                  one(conn, "SELECT indcheckxmin FROM pg_index WHERE indexrelid = 'i'::regclass"))
            conn.execute("DROP INDEX i")
            conn.execute("VACUUM t")

            # Rows that an old snapshot still sees, made by the same parameters: they are in the index.
            old.autocommit = False
            old.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            one(old, "SELECT count(*) FROM t")
            conn.execute("CREATE INDEX i ON t USING lsh (sig)")
            conn.execute("DELETE FROM t")
            conn.execute("REINDEX INDEX i")
            old.execute("SET LOCAL enable_seqscan = off")
            equal("an old snapshot finds its rows after DELETE and REINDEX" + parts,
                  [
                      one(old, "SELECT count(*) FROM t "
                               "WHERE sig %%> with_threshold(set_minhash(ARRAY[%d, %d]::bigint[], 32), 0.9)"
                               % (i, i + 1)) for i in (1, 1500, 3000)], [1, 1, 1])
            old.rollback()
            conn.execute("DROP TABLE t")


def refusals():
    with database() as name, connect(name) as conn:
        conn.execute("CREATE TABLE t (sig minhash)")
        fails("% cannot exclude", conn, "ALTER TABLE t ADD EXCLUDE USING lsh (sig WITH %)", state="0A000",
              text="operator % cannot be used in an exclusion constraint: it reads neardup.jaccard_threshold",
              hint="Use EXCLUDE USING lsh (with_threshold(column, 0.9) WITH &&).")
        fails("a constraint needs all rows", conn, state="0A000", text="an exclusion constraint needs an index",
              query="ALTER TABLE t ADD EXCLUDE USING lsh (with_threshold(sig, 0.9) WITH &&) WITH (recall = 0.9)")
        conn.execute("ALTER TABLE t ADD CONSTRAINT c EXCLUDE USING lsh (with_threshold(sig, 0.9) WITH &&)")
        conn.execute("INSERT INTO t SELECT set_minhash(ARRAY[i]::bigint[]) FROM generate_series(1, 2000) i")
        conn.execute("REINDEX INDEX c")
        fails("the constraint works after REINDEX", conn, "INSERT INTO t VALUES (set_minhash(ARRAY[77]::bigint[]))",
              state="23P01")
        phases = [one(conn, "SELECT pg_indexam_progress_phasename(oid, %s) FROM pg_am WHERE amname = 'lsh'", (i,))
                  for i in range(1, 7)]
        equal("phases", phases, ["initializing", "scanning table", "sorting", "merging", "writing index", None])


def cancel():
    with database() as name, connect(name) as conn:
        conn.execute("CREATE TABLE t AS " + MANY % (400000 if FULL else 100000))
        worst, finished, bad = 0, 0, []
        tries = [(memory, workers, wait) for memory in ("1GB", "1MB") for workers in (0, 2)
                 for wait in (0.02, 0.1, 0.2, 0.3) + (0.5, 0.8, 1.2) * FULL]
        for memory, workers, wait in tries:
            conn.execute("SET maintenance_work_mem = '%s'" % memory)
            parallel(conn, workers)
            timer = threading.Timer(wait, conn.cancel)
            timer.start()
            start = time.monotonic()
            e = sql_error(conn, "CREATE INDEX i ON t USING lsh (sig)")
            took = time.monotonic() - start
            timer.join()
            time.sleep(0.01)
            sql_error(conn, "SELECT 1")  # takes a cancel that came too late
            conn.execute("DROP INDEX IF EXISTS i")
            if e is None:
                finished += 1
            else:
                worst = max(worst, took - wait)
                if e.sqlstate != "57014":
                    bad.append(str(e))
        left = temp_files(conn)
        # The time is a guard against hanging only: on a quiet machine it is some milliseconds.
        check("cancelled builds stop, worst delay %.0f ms, %d of %d "
                  "finished first" % (worst * 1000, finished, len(tries)),
              not bad and worst < 15 and finished < len(tries) and left == 0,
              "%s; %d temporary files left" % (bad, left))
        conn.execute("CREATE INDEX i ON t USING lsh (sig)")
        equal("and the next build is sound", sound(conn, "i"), "")


def main():
    sections((all_ways,), (statements,), (other_parameters,), (refusals,), (cancel,))


finish(main)
