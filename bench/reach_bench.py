#!/usr/bin/python3
"""reach_bench.py MAKE_SIGNATURES ROWS NAME=LIBRARY ...: searches and inserts by each library, by turns. The first is
what the others are compared with. reach_bench.sh calls this."""
import statistics
import subprocess
import sys

import psycopg
from psycopg import pq

from session import Session

QUERIES = 1000
INSERTS = 1000
ROUNDS = 8
TABLE = "neardup_bench_reach"
FIGURES = ("search p50", "search p95", "search mean", "insert, batch", "insert, one row")


def filled(make, rows):
    """The table and its index; signatures to ask for."""
    def copy(table, *options):
        command = [make, "--rows", str(rows), "--bits", "8", *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as signatures:
            subprocess.run(["psql", "-X", "-q", "-c", "COPY %s FROM STDIN (FORMAT binary)" % table],
                           stdin=signatures.stdout, check=True)

    with psycopg.connect("", autocommit=True) as conn:
        conn.execute("CREATE EXTENSION IF NOT EXISTS neardup")
        for table in (TABLE, TABLE + "_queries", TABLE + "_inserts"):
            conn.execute("DROP TABLE IF EXISTS " + table)
            conn.execute("CREATE TABLE %s (id bigint, sig minhash)" % table)
        copy(TABLE)
        copy(TABLE + "_queries", "--queries", str(QUERIES))
        for table in (TABLE, TABLE + "_inserts"):
            conn.execute("CREATE INDEX ON %s USING lsh (sig)" % table)
        conn.execute("VACUUM ANALYZE " + TABLE)
        conn.execute("CHECKPOINT")
        return [sig.encode() for sig, in conn.execute("SELECT sig::text FROM %s_queries" % TABLE)]


def use(library):
    """Functions of the extension are those of this file, for sessions that begin from now on."""
    with psycopg.connect("", autocommit=True) as conn:
        conn.execute("UPDATE pg_catalog.pg_proc SET probin = %s WHERE probin ~ '(neardup|[.]so)$'", [library])


def times(session, statement, values):
    """Milliseconds of processor time of each."""
    spent = []
    for value in values:
        before = session.cpu()
        result = session.conn.pgconn.exec_prepared(statement, [value])
        spent.append((session.cpu() - before) * 1000)
        assert result.status in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK), result.error_message
    return spent


def figures(library, queries):
    use(library)
    session = Session("enable_seqscan = off", "plan_cache_mode = force_generic_plan", "neardup.jaccard_threshold = 0.8")
    raw = session.conn.pgconn
    raw.prepare(b"search", b"SELECT id FROM %s WHERE sig %% $1::minhash" % TABLE.encode())
    raw.prepare(b"insert", b"INSERT INTO %s_inserts VALUES (0, $1::minhash)" % TABLE.encode())
    times(session, b"search", queries)  # what the session remembers
    search = sorted(times(session, b"search", queries))
    session.conn.execute("TRUNCATE %s_inserts" % TABLE)
    before = session.cpu()
    session.conn.execute("INSERT INTO %s_inserts SELECT id, sig FROM %s LIMIT %d" % (TABLE, TABLE, INSERTS))
    batch = (session.cpu() - before) * 1000 / INSERTS
    one = statistics.median(times(session, b"insert", queries[:INSERTS]))
    session.conn.close()
    return (statistics.median(search), search[len(search) * 95 // 100], statistics.mean(search), batch, one)


def main(make, rows, *libraries):
    queries = filled(make, int(rows))
    libraries = dict(library.split("=", 1) for library in libraries)
    found = {name: [] for name in libraries}
    names = list(libraries)
    try:
        for turn in range(ROUNDS):
            for name in names[turn % len(names):] + names[:turn % len(names)]:
                found[name].append(figures(libraries[name], queries))
    finally:
        use("$libdir/neardup")
        with psycopg.connect("", autocommit=True) as conn:
            conn.execute("DROP TABLE {0}, {0}_queries, {0}_inserts".format(TABLE))
    print("%s rows, processor time in ms, the least of %d rounds; the ratio to %s" % (
        "{:,}".format(int(rows)), ROUNDS, names[0]))
    print("%-10s" % "" + "".join("%20s" % figure for figure in FIGURES))
    least = {name: [min(column) for column in zip(*found[name])] for name in names}
    for name in names:
        print("%-10s" % name + "".join("%13.4f %6.2f" % (value, value / base)
                                       for value, base in zip(least[name], least[names[0]])))


if __name__ == "__main__":
    main(*sys.argv[1:])
