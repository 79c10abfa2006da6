#!/usr/bin/python3
"""Ten figures of two libraries, side by side: what a change of the code must not slow down.

    guard.py --old FILE [--rounds N] [--limit RATIO]

FILE is a neardup.so of before, which the server can read; the new one is that of the server of PGHOST, PGUSER and so
on, which runs on this machine and takes this role as a superuser. Two databases are made there and dropped again,
neardup_guard_old and neardup_guard_new; the functions of the first are those of FILE. The two take turns. Prints the
least processor time of each, in milliseconds, with their ratio; the exit status is 1 where one is above the limit."""
import argparse
import sys

import psycopg

from session import Session

SETUP = """
CREATE EXTENSION neardup;
CREATE TABLE texts AS SELECT i AS id, string_agg(md5((w * (i % 500 + 1))::text), ' ') AS body
  FROM generate_series(1, 2000) i, generate_series(1, 60) w GROUP BY i;
CREATE TABLE sets AS SELECT i AS id, array(SELECT (power(random(), 3) * 50000)::int
  FROM generate_series(1, 12 + i % 20)) AS s FROM generate_series(1, 30000) i;
CREATE TABLE signatures AS SELECT i AS id, set_minhash(array(
  SELECT ((i / 3) * 100 + c + CASE WHEN c < i % 7 THEN i * 1000 ELSE 0 END)::bigint
  FROM generate_series(1, 60) c)) AS sig FROM generate_series(1, 40000) i;
CREATE TABLE more AS SELECT * FROM signatures LIMIT 4000;
CREATE INDEX ON sets USING lsh (s);
CREATE INDEX ON signatures USING lsh (sig);
ANALYZE;
"""

FIGURES = (
    ("to_minhash", "SELECT count(to_minhash(body)) FROM texts"),
    ("to_simhash", "SELECT count(to_simhash(body)) FROM texts"),
    ("to_ctph", "SELECT count(to_ctph(body)) FROM texts"),
    ("jaccard, every row",
     "SELECT count(*) FROM signatures WHERE jaccard(sig, (SELECT sig FROM more LIMIT 1)) + 0 > 0.5"),
    ("search, minhash", "SELECT count(*) FROM more q, "
                        "LATERAL (SELECT FROM signatures s WHERE jaccard(s.sig, q.sig) >= 0.8 OFFSET 0) x"),
    ("search, sets", "SELECT count(*) FROM (SELECT s FROM sets LIMIT 300) q, "
                     "LATERAL (SELECT FROM sets s WHERE containment_exact(s.s, q.s) >= 0.8 OFFSET 0) x"),
    ("all_pairs, minhash", "SELECT count(*) FROM all_pairs('SELECT id, sig FROM signatures', 0.8)"),
    ("all_pairs, sets", "SELECT count(*) FROM all_pairs('SELECT id, s FROM sets', 0.7)"),
    ("all_clusters, minhash", "SELECT count(*) FROM all_clusters('SELECT id, sig FROM signatures', 0.8)"),
    ("insert", "WITH put AS (INSERT INTO signatures SELECT id + 1000000, sig FROM more RETURNING 1) "
               "SELECT count(*) FROM put"),
)


def make_database(name, library):
    with psycopg.connect("", autocommit=True) as conn:
        conn.execute("DROP DATABASE IF EXISTS " + name)
        conn.execute("CREATE DATABASE " + name)
    session = Session(database=name)
    session.conn.execute("SELECT setseed(0.5)")
    for statement in filter(str.strip, SETUP.split(";\n")):
        session.conn.execute(statement)
    if library:
        changed = session.conn.execute("UPDATE pg_catalog.pg_proc SET probin = %s WHERE probin = '$libdir/neardup'",
                                       [library])
        assert changed.rowcount > 0, "no function of %s is one of the library" % name
    session.conn.close()
    session = Session("enable_seqscan = off", database=name)
    print("%s: library %s" % (name, session.one("SELECT library FROM neardup_version()")[0]))
    return session


def once(session, query):
    """Milliseconds of processor time; the row. What was inserted goes again."""
    session.conn.execute("BEGIN")
    before = session.cpu()
    row = session.one(query)
    spent = session.cpu() - before
    session.conn.execute("ROLLBACK")
    return spent * 1000, row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", required=True, metavar="FILE")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--limit", type=float, default=1.05, metavar="RATIO")
    options = parser.parse_args()
    sessions = [make_database("neardup_guard_old", options.old), make_database("neardup_guard_new", None)]
    above = 0
    print("%-24s %10s %10s %7s" % ("", "old, ms", "new, ms", "ratio"))
    for name, query in FIGURES:
        times, rows = ([], []), set()
        for turn in range(2 * options.rounds):
            which = (turn + turn // 2) % 2  # old, new, new, old
            spent, row = once(sessions[which], query)
            times[which].append(spent)
            rows.add(row)
        assert len(rows) == 1, "%s: the libraries differ: %s" % (name, rows)
        old, new = (min(t) for t in times)
        slower = new > options.limit * old
        above += slower
        print("%-24s %10.2f %10.2f %7.3f%s" % (name, old, new, new / old, "  ABOVE" if slower else ""))
    for session in sessions:
        session.conn.close()
    with psycopg.connect("", autocommit=True) as conn:
        for name in ("old", "new"):
            conn.execute("DROP DATABASE neardup_guard_" + name)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
