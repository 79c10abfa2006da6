#!/usr/bin/env python3
"""Columns before the last one of an lsh index, each with rows that have NULL, 0 or nothing, and another value: with
conditions on every choice of them, thresholds, orders and both, by index scans and bitmaps, the rows are those of a
sequential scan."""
import itertools
import random

from harness import *

SEED = int(os.environ.get("NEARDUP_SEED", "191"))
# Column, type, and the values of rows and of conditions.
OTHERS = {
    "number": ("int", ("NULL", "0", "1")),
    "label": ("text", ("NULL", "''", "'a'")),
    "code": ("bytea", ("NULL", "''", "'\\x00'")),
}
INDEXES = ("number", "label", "code", "number, label", "code, label", "number, label, code")
NEAR = ("jaccard(sig, {q}) >= 0.6", "sig %> with_threshold({q}, 0.8)", None)
ORDERS = ("ORDER BY sig <%> {q}", "ORDER BY sig <%> NULL::minhash", "ORDER BY sig <%> {q}, sig <%> {p}", "")
PLAIN = "enable_indexscan = off; SET enable_bitmapscan = off; SET enable_seqscan = on"
PLANS = ("enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; SET enable_indexscan = on",
         "enable_seqscan = off; SET enable_indexscan = off; SET enable_sort = on; SET enable_bitmapscan = on")


def fill(conn):
    conn.execute("CREATE TABLE wide (id int, i int, number int, label text, code bytea, sig minhash)")
    conn.execute("""INSERT INTO wide SELECT row_number() OVER (), i, n, l, c,
          CASE WHEN i > 0 THEN minhash_import(array(SELECT CASE WHEN e < 4 * i THEN i * 100 + e ELSE e END
                                                    FROM generate_series(0, 31) e)) END
        FROM unnest(ARRAY[NULL, 0, 1]) n, unnest(ARRAY[NULL, '', 'a']) l, unnest(ARRAY[NULL, '', '\\x00']::bytea[]) c,
          generate_series(0, 4) i""")


def conditions(rng):
    """Conditions for each choice of columns: on none of them, on all of them as 0 or nothing, and on some by chance."""
    for n in range(len(OTHERS) + 1):
        for columns in itertools.combinations(OTHERS, n):
            for values in [[1] * n, [2] * n, [rng.randrange(3) for _ in columns], [rng.randrange(3) for _ in columns]]:
                yield " AND ".join("%s = %s::%s" % (c, OTHERS[c][1][v], OTHERS[c][0]) for c, v in zip(columns, values))


def queries(rng):
    value = "(SELECT sig FROM wide WHERE i = %d AND number = 0 AND label = 'a' AND code = '')"
    for where in conditions(rng):
        for near, order in itertools.product(NEAR, ORDERS):
            text = " AND ".join(filter(None, (where, near)))
            if text and (near or order):
                query = "SELECT id, sig <%%> {q} FROM wide WHERE %s %s" % (text, order)
                yield query.replace("{q}", value % 1).replace("{p}", value % 3), order


def answer(conn, settings, query, order):
    """Ordered by a distance: the distances as they come."""
    conn.execute("RESET ALL; SET " + settings)
    rows = conn.execute(query).fetchall()
    by_distance = order and "NULL" not in order
    return [d for _, d in rows] if by_distance else None, sorted(i for i, _ in rows)


def other_columns(conn, rng):
    rows, used = [], 0
    near = one(conn, "SELECT count(*) FROM wide a, wide b WHERE a.i = 1 AND jaccard(a.sig, b.sig) >= 0.8")
    check("there are near rows", near > 700, near)
    for query, order in queries(rng):
        want = answer(conn, PLAIN, query, order)
        for settings in PLANS:
            rows.append((query, answer(conn, settings, query, order), want))
            used += "wide_" in str(conn.execute("EXPLAIN " + query).fetchall())
    equal_all("the rows of a sequential scan, NEARDUP_SEED=%d" % SEED, rows)
    check("most of them come by an index", used > 0.6 * len(rows), (used, len(rows)))


def main():
    with database() as where, connect(where) as conn:
        fill(conn)
        for columns in INDEXES:
            name = columns.replace(", ", "_")
            conn.execute("RESET ALL; CREATE INDEX wide_%s ON wide USING lsh (%s, sig)" % (name, columns))
            conn.execute("ANALYZE wide")
            if "," in columns:
                conn.execute("DROP INDEX IF EXISTS wide_number, wide_label, wide_code")
                other_columns(conn, random.Random(SEED))
                conn.execute("DROP INDEX wide_%s" % name)
            elif columns == "code":
                other_columns(conn, random.Random(SEED))


finish(main)
