#!/usr/bin/env python3
"""Refreshes whose outcome is left to no chance: of three rows in a chain, with every order of their keys and of their
sizes, one arrives, changes or goes last; rows that come back while a refresh has not ended. The result is that of a
new job."""
import itertools

from harness import *
from jobs import from_scratch, table

KEYS = list(itertools.product((None, 1, 2), repeat=3))
SIZES = list(itertools.permutations((5, 6, 8)))
FAR = 850  # rows that resemble none, so that few have changed
# The arguments of a job; True if it compares sizes.
FORMS = {
    "oldest": "signature => 'hashes', measure => 'jaccard', order_by => 'key'",
    "newest": "signature => 'hashes', measure => 'jaccard', order_by => 'key', keep => 'newest'",
    "containment": "signature => 'hashes', measure => 'containment', order_by => 'key'",
    "connected": "signature => 'hashes', measure => 'jaccard', order_by => 'key', linkage => 'connected'",
    "teams": "signature => 'hashes', measure => 'jaccard', order_by => 'key', within => '{team}'",
}
MIDDLE = "id % 10 = (id / 10 + 1) % 3 + 1 AND id < 100000"  # of chain_rows(1)
INSERT = "INSERT INTO docs VALUES (%s, %s, 1, %s, %s)"


def chains():
    """(keys, three ranges) of each island: neighbours in a chain share four numbers."""
    start = 0
    for keys, sizes in [(keys, (6, 6, 6)) for keys in KEYS] + [((None, None, None), sizes) for sizes in SIZES]:
        ranges, at = [], start
        for size in sizes:
            ranges.append(range(at, at + size))
            at += size - 4
        start += 100
        yield keys, ranges


def fill(conn):
    conn.execute("CREATE TABLE docs (id int PRIMARY KEY, key int, team int, body text, hashes int[])")
    conn.execute("INSERT INTO docs SELECT 100000 + i, i, 1, 'far' || i, ARRAY[-i, -2 * i - 5000] "
                 "FROM generate_series(1, %d) i" % FAR)


def chain_rows(last):
    """(id, key, elements) of the rows at the place `last` of their chains. Ids have another order than places."""
    for n, (keys, ranges) in enumerate(chains()):
        yield (10 * n + (last + n) % 3 + 1, keys[last], list(ranges[last]))


def write(conn, rows):
    with conn.cursor() as cur:
        cur.executemany(INSERT, [(i, key, " ".join("w%d" % e for e in of), of) for i, key, of in rows])


def refresh(conn, form, options, compared, what):
    conn.execute("CALL refresh_duplicates('job')")
    got, want = table(conn, "job"), from_scratch(conn, options)
    differ = [row for row in got if row not in want], [row for row in want if row not in got]
    compared.append(("%s, %s" % (form, what), *differ))


def part(conn):
    return one(conn, "SELECT clustered_rows BETWEEN 1 AND (SELECT count(*) - 1 FROM job) FROM job_job")


def arrivals(conn, form, options):
    compared, parts = [], []
    for last in range(3):
        fill(conn)
        for place in range(3):
            if place != last:
                write(conn, chain_rows(place))
        conn.execute("SELECT create_duplicates('job', 'docs', 'id', %s, threshold => 0.5)" % options)
        conn.execute("CALL refresh_duplicates('job')")
        write(conn, chain_rows(last))
        options_of_new = options + ", threshold => 0.5"
        refresh(conn, form, options_of_new, compared, "place %d arrives" % last)
        parts.append(part(conn))
        if last == 1:
            conn.execute("UPDATE docs SET key = CASE WHEN key = 1 THEN NULL ELSE 1 END WHERE " + MIDDLE)
            refresh(conn, form, options_of_new, compared, "and has another key")
            conn.execute("DELETE FROM docs WHERE " + MIDDLE)
            refresh(conn, form, options_of_new, compared, "and goes")
        conn.execute("SELECT drop_duplicates('job'); DROP TABLE docs")
    equal_all("%s: as a new job" % form, compared)
    equal("%s: some of the rows are clustered" % form, parts, [True] * 3)


def returns(conn):
    """A filter leaves rows out; the refresh that finds them gone does not end, and then they are back as they were."""
    for form in ("oldest", "connected"):
        options = FORMS[form]
        fill(conn)
        for place in range(3):
            write(conn, chain_rows(place))
        conn.execute("UPDATE docs SET team = 2 WHERE id % 10 = 1")
        given = options + ", threshold => 0.5"
        conn.execute("SELECT create_duplicates('job', 'docs', 'id', %s)" % given)
        conn.execute("CALL refresh_duplicates('job')")
        conn.execute("SELECT alter_duplicates('job', filter => 'team = 1')")
        with connect(conn.info.dbname) as other:  # the refresh ends where it would write its result
            other.execute("BEGIN; LOCK TABLE job IN SHARE MODE")
            conn.execute("SET lock_timeout = '1ms'")
            error = sql_error(conn, "CALL refresh_duplicates('job')")
            conn.execute("RESET lock_timeout")
        check("%s: the refresh did not end" % form, error is not None and error.sqlstate == "55P03", error)
        conn.execute("SELECT alter_duplicates('job', filter => 'true')")
        compared = []
        refresh(conn, form, given, compared, "rows come back")
        equal_all("%s: rows that come back within an interrupted refresh" % form, compared)
        conn.execute("SELECT drop_duplicates('job'); DROP TABLE docs")


def main():
    with database() as name, connect(name) as conn:
        sections(*[(arrivals, conn, form, options) for form, options in FORMS.items()], (returns, conn))


finish(main)
