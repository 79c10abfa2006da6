#!/usr/bin/env python3
"""The ten nearest rows of a query, exactly, by an lsh index, beside a sequential scan and sort and, where the server has
pgvector, beside its HNSW index over bit strings, in one run.

    nearest_bench.py ROWS MAKE_SIGNATURES MAKE_BIT_CODES

Called by nearest_bench.sh. Two kinds of queries: those that have ten rows within the index's guarantee, and those that
have none, where the index reads the whole table as a scan does. A figure is the server's processor time of one statement that
searches for many values in turn, by their number, the median of five; distances are compared with those of the scan.
"""
import subprocess
import sys

try:
    from session import Session
except ImportError:
    print("python3-psycopg is not installed")
    sys.exit(0)

TABLE = "neardup_nearest_bench"
QUERIES = 100
SCANS = 5
NEAREST = 10
MOST_HNSW = 200000  # rows: it takes 80 s to build for 100,000


def fill(session, column, copy_options, command):
    session.conn.execute("DROP TABLE IF EXISTS {t}, {t}_queries; CREATE TABLE {t} (id bigint, {c}); CREATE TABLE {t}_queries (n int, kind text, {c})".format(t=TABLE, c=column))
    with subprocess.Popen(command, stdout=subprocess.PIPE) as made, \
         session.conn.cursor().copy("COPY %s FROM STDIN %s" % (TABLE, copy_options)) as copy:
        while block := made.stdout.read(1 << 20):
            copy.write(block)
    if made.returncode != 0:
        sys.exit("%s: status %d" % (command[0], made.returncode))
    session.conn.execute("VACUUM ANALYZE " + TABLE)


def search(session, column, operator, kind, n):
    """(seconds of processor time a query, sums of the distances) of the first n queries of the kind, in one statement."""
    of = "(SELECT n, %s AS v FROM %s_queries WHERE kind = '%s' AND n <= %d OFFSET 0) q" % (column, TABLE, kind, n)
    nothing, _ = session.measured("SELECT count(v) FROM " + of)
    took, row = session.measured("""SELECT array_agg((SELECT sum(d) FROM
        (SELECT {c} {o} v AS d FROM {t} ORDER BY {c} {o} v LIMIT {k}) x) ORDER BY n) FROM {of}""".format(
            c=column, o=operator, t=TABLE, k=NEAREST, of=of))
    return (took - nothing) / len(row[0]), row[0]


def compare(session, column, operator, label):
    """A line for each kind of queries."""
    for kind in "ten near", "none near":
        session.conn.execute("SET enable_seqscan = on; SET enable_indexscan = off")
        scan, wanted = search(session, column, operator, kind, SCANS)
        session.conn.execute("SET enable_seqscan = off; SET enable_indexscan = on")
        index, found = search(session, column, operator, kind, QUERIES if kind == "ten near" else SCANS)
        if found[:SCANS] != wanted:
            sys.exit("%s, %s: distances %s, by a scan %s" % (label, kind, found[:SCANS], wanted))
        print("%-28s %-10s %10.3f ms %10.1f ms %9.2f x" % (label, kind, index * 1e3, scan * 1e3, scan / index), flush=True)


def queries(session, column, kind, source, condition):
    session.conn.execute("INSERT INTO {t}_queries (n, kind, {c}) SELECT row_number() OVER (), '{k}', v FROM (SELECT v FROM {s} WHERE {w} LIMIT {n}) q"
                         .format(t=TABLE, c=column, k=kind, s=source, w=condition, n=QUERIES))


def minhashes(session, rows, make):
    fill(session, "sig minhash", "(FORMAT binary)", [make, "--rows", str(rows)])
    session.conn.execute("CREATE INDEX ON %s USING lsh (sig)" % TABLE)
    # The queries are of another corpus: some boilerplate is common, no version.
    session.conn.execute("CREATE TEMP TABLE others (id bigint, sig minhash)")
    made = subprocess.run([make, "--rows", str(10 * QUERIES), "--seed", "2"], stdout=subprocess.PIPE, check=True).stdout
    with session.conn.cursor().copy("COPY others FROM STDIN (FORMAT binary)") as copy:
        copy.write(made)
    queries(session, "sig", "ten near", "(SELECT sig AS v FROM %s WHERE id %% 64 = 0 OFFSET 0) q" % TABLE,
            "(SELECT count(*) FROM (SELECT FROM %s x WHERE jaccard(x.sig, v) >= 0.85 LIMIT %d) near) = %d" % (TABLE, NEAREST, NEAREST))
    queries(session, "sig", "none near", "(SELECT sig AS v FROM others OFFSET 0) q",
            "NOT EXISTS (SELECT FROM %s x WHERE jaccard(x.sig, v) >= 0.75)" % TABLE)
    compare(session, "sig", "<%>", "minhash, <%>")


def bits(session, rows, make):
    fill(session, "code bit(256)", "", [make, str(rows), "256", "0"])
    session.conn.execute("CREATE INDEX neardup_nearest_bench_lsh ON %s USING lsh (code bit_ops (max_distance = 31))" % TABLE)
    queries(session, "code", "ten near", "(SELECT code AS v FROM %s WHERE id %% 7 = 0 OFFSET 0) q" % TABLE, "true")
    # Ten relatives of each, at distances of 3 to 30.
    session.conn.execute("INSERT INTO {t} SELECT -n, code # (repeat('1', 3 * i) || repeat('0', 256 - 3 * i))::bit(256) "
                         "FROM {t}_queries, generate_series(1, {k}) i".format(t=TABLE, k=NEAREST))
    session.conn.execute("VACUUM ANALYZE " + TABLE)
    # A code that differs from a random one in all bits is near no other.
    queries(session, "code", "none near", "(SELECT ~code AS v FROM %s OFFSET 0) q" % TABLE,
            "NOT EXISTS (SELECT FROM %s x WHERE bit_hamming(x.code, v) <= 31)" % TABLE)
    compare(session, "code", "<->", "bit(256), <->")
    if rows > MOST_HNSW:
        return
    if session.one("SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'")[0] == 0:
        print("pgvector is not installed: no HNSW")
        return
    _, exact = search(session, "code", "<->", "ten near", QUERIES)
    session.conn.execute("CREATE EXTENSION IF NOT EXISTS vector; DROP INDEX neardup_nearest_bench_lsh")
    before = session.cpu()
    session.conn.execute("CREATE INDEX ON %s USING hnsw (code bit_hamming_ops)" % TABLE)
    built = session.cpu() - before
    took, found = search(session, "code", "<~>", "ten near", QUERIES)
    print("%-28s %-10s %10.3f ms   built in %.0f s; the ten nearest of %d queries of %d"
          % ("bit(256), HNSW of pgvector", "ten near", took * 1e3, built, sum(a == b for a, b in zip(found, exact)), len(exact)))


def main():
    rows, signatures, codes = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    session = Session("maintenance_work_mem = '1GB'", "enable_memoize = off", "enable_material = off", "enable_sort = off")
    session.conn.execute("CREATE EXTENSION IF NOT EXISTS neardup")
    print(session.one("SELECT version()")[0])
    print("%d rows, the %d nearest; processor time of a query\n%-39s %13s %13s" % (rows, NEAREST, "", "lsh", "scan and sort"))
    minhashes(session, rows, signatures)
    bits(session, rows, codes)
    session.conn.execute("DROP TABLE {t}, {t}_queries".format(t=TABLE))


main()
