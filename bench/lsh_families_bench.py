#!/usr/bin/env python3
"""Searches by lsh indexes of simhashes and ctph digests beside sequential scans, in one run.

    lsh_families_bench.py ROWS

Called by lsh_families_bench.sh. A figure is the server's CPU time of one statement that searches for many values in
turn, by the number of values, the median of five; CPU of the backend, read in /proc. Answers are compared with a
sequential scan's.
"""
import sys

try:
    from session import RUNS, Session
except ImportError:
    print("python3-psycopg is not installed")
    sys.exit(0)

PREFIX = "neardup_families_bench_"
QUERIES = 1000
SCANS = 5


def search(session, table, column, condition, of, label):
    """One line: the index beside a sequential scan."""
    query = """SELECT count(*), coalesce(sum(hashint8(q.id::bigint * 31 + x.id)), 0)
               FROM (SELECT id, {c} AS v FROM {t} ORDER BY hashint4(id), id LIMIT {n}) q,
                    LATERAL (SELECT id FROM {t} WHERE {cond} OFFSET 0) x"""
    fill = dict(c=column, t=table, cond=condition)
    plan = " ".join(r[0] for r in session.conn.execute("EXPLAIN " + query.format(n=QUERIES, **fill)))
    if "Index Cond: (%s %%>" % column not in plan:
        sys.exit("the index is not used for %s: %s" % (condition, plan))
    base, _ = session.measured("SELECT count(v) FROM (SELECT id, {c} AS v FROM {t} ORDER BY hashint4(id), id LIMIT {n}) q"
                               .format(n=QUERIES, **fill))
    by_index, found = session.measured(query.format(n=QUERIES, **fill))
    few = session.one(query.format(n=SCANS, **fill))
    session.conn.execute("SET enable_indexscan = off; SET enable_bitmapscan = off; SET neardup.derive_conditions = off")
    scan_base = session.cpu()
    session.one("SELECT count(v) FROM (SELECT id, {c} AS v FROM {t} ORDER BY hashint4(id), id LIMIT {n}) q".format(n=SCANS, **fill))
    scan_base = session.cpu() - scan_base
    before = session.cpu()
    scanned = session.one(query.format(n=SCANS, **fill))
    by_scan = session.cpu() - before
    session.conn.execute("RESET enable_indexscan; RESET enable_bitmapscan; RESET neardup.derive_conditions")
    if scanned != few:
        sys.exit("%s: the index finds %s, a scan %s" % (condition, few, scanned))
    a, b = (by_index - base) / QUERIES, (by_scan - scan_base) / SCANS
    print("%-26s %9.3f ms %9.1f ms %8.0f x %8.1f" % (label, a * 1e3, b * 1e3, b / max(a, 1e-9), found[0] / QUERIES), flush=True)


def header(text):
    print("\n%s\n%-26s %12s %12s %10s %8s" % (text, "condition", "index", "scan", "ratio", "found"))


def simhashes(session, rows):
    table = PREFIX + "simhash"
    session.conn.execute("DROP TABLE IF EXISTS " + table)
    # A tenth are relatives of others, at distances of 0 to 12.
    session.conn.execute("CREATE TABLE %s (id int PRIMARY KEY, h simhash)" % table)
    session.conn.execute("INSERT INTO %s SELECT i, hashint8extended(i, 1)::simhash FROM generate_series(1, %d) i"
                         % (table, rows * 9 // 10))
    session.conn.execute("""INSERT INTO {t} SELECT {n} + id, (SELECT h::bigint # bit_or(1::bigint <<
                         (abs(hashint8extended(e, id)) % 63)::int) FROM generate_series(1, id % 13) e)::simhash FROM {t} WHERE id <= {m}
                         AND id % 13 > 0""".format(t=table, n=rows, m=rows // 10))
    for blocks in 4, 3, 2:
        before = session.cpu()
        session.conn.execute("CREATE INDEX %s_i ON %s USING lsh (h simhash_ops (blocks = %d))" % (table, table, blocks))
        built = session.cpu() - before
        session.conn.execute("VACUUM ANALYZE " + table)
        n, size, most = session.one("SELECT rows, bytes_per_row, substring(guarantee FROM '[0-9]+')::int FROM lsh_info('%s_i')" % table)
        header("%d simhashes, %d blocks: %.0f bytes a row, built in %.1f s" % (n, blocks, size, built))
        for distance in 0, 3, 5, 7, 11:
            if distance <= most:
                search(session, table, "h", "hamming(h, q.v) <= %d" % distance, table, "hamming <= %d" % distance)
        session.conn.execute("DROP INDEX %s_i" % table)
    session.conn.execute("DROP TABLE " + table)


def digests(session, rows):
    table = PREFIX + "ctph"
    session.conn.execute("DROP TABLE IF EXISTS " + table)
    # Documents of some 4 to 16 KB in families of five, whose members have a few lines of their own.
    session.conn.execute("""CREATE TABLE {t} AS SELECT i AS id, to_ctph((SELECT string_agg(CASE
        WHEN abs(hashint8extended(l, i)) % 40 < i % 5 THEN md5((i * 1000 + l)::text) ELSE md5((i / 5 * 1000 + l)::text) END, E'\\n')
        FROM generate_series(1, 120 + i / 5 % 7 * 60) l)) AS c FROM generate_series(1, {n}) i""".format(t=table, n=rows))
    session.conn.execute("ALTER TABLE %s ADD PRIMARY KEY (id)" % table)
    for rate in 0.05, 0.15:
        before = session.cpu()
        session.conn.execute("CREATE INDEX %s_i ON %s USING lsh (c ctph_ops (max_rate = %g))" % (table, table, rate))
        built = session.cpu() - before
        session.conn.execute("VACUUM ANALYZE " + table)
        n, size = session.one("SELECT rows, bytes_per_row FROM lsh_info('%s_i')" % table)
        header("%d ctph digests, max_rate %g: %.0f bytes a row, built in %.1f s" % (n, rate, size, built))
        for score in 1, 70, 90:
            search(session, table, "c", "ctph_score(c, q.v) >= %d" % score, table, "ctph_score >= %d" % score)
        for bound in 0.05, 0.1, 0.15:
            if bound <= rate:
                search(session, table, "c", "ctph_edit_rate(c, q.v) <= %g" % bound, table, "ctph_edit_rate <= %g" % bound)
        session.conn.execute("DROP INDEX %s_i" % table)
    session.conn.execute("DROP TABLE " + table)


def main():
    rows = int(sys.argv[1])
    session = Session("enable_seqscan = off", "enable_memoize = off", "enable_material = off")
    session.conn.execute("CREATE EXTENSION IF NOT EXISTS neardup")
    print(session.one("SELECT version()")[0])
    print("CPU time of the backend for one search, %d searches a statement, median of %d" % (QUERIES, RUNS))
    simhashes(session, rows)
    digests(session, max(rows // 10, 1000))


main()
