#!/usr/bin/env python3
"""all_pairs(), pairs_between() and all_clusters() over sets: what a join in SQL has, whatever the memory, the threads
and the order."""
import random

from clusters import anchors, components
from harness import *

SEED = int(os.environ.get("NEARDUP_SEED", "36"))
ROWS = 400
CALLS = 400 if FULL else 60
EXACT = {"jaccard": "jaccard_exact(a.{c}, b.{c})", "containment": "containment_exact(a.{c}, b.{c})",
         "overlap": "overlap_exact(a.{c}, b.{c})::float8", "dice": "dice_exact(a.{c}, b.{c})",
         "cosine": "set_cosine_exact(a.{c}, b.{c})"}
SHARES = (0.05, 0.28, 0.5, 0.8, 1)
THRESHOLDS = {measure: (1, 2, 5.5, 40, 1601) if measure == "overlap" else SHARES for measure in EXACT}
# Conditions of the query, and what they mean for a pair
EXTRAS = (("", "true", ""), (", tenant AS within", "a.tenant = b.tenant", ""),
          (", seen AS at", "abs(a.seen - b.seen) <= 3", ", at_most_apart => '3 days'"),
          (", tenant AS within, seen AS at", "a.tenant = b.tenant AND abs(a.seen - b.seen) <= 3",
           ", at_most_apart => '3 days'"))


def fill(conn, rng):
    """Sets that are parts of others, equal ones, frequent elements, large ones, repeats, negative numbers, empty sets
    and NULL."""
    words = [rng.randrange(-2 ** 31, 2 ** 31) for _ in range(3000)]
    frequent = words[:20]
    rows = []
    for i in range(ROWS):
        size = rng.choice((0, 1, 2, 5, 25, 80))
        row = rng.sample(words, size) + (rng.sample(frequent, 10) if i % 4 == 0 else [])
        if rows and rng.random() < 0.5:
            other = rng.choice(rows)
            row = rng.sample(other, min(len(other), rng.choice((2, 20, 100)))) + rng.sample(
                words, rng.choice((0, 0, 1, 10)))
        rows.append(row + row[:2])
    rows += [words[:n] for n in (1600, 1601, 2500)] + [
        [rng.randrange(-2 ** 31, 2 ** 31) for _ in range(8_000)] + words[:2000]]
    conn.execute("CREATE TABLE sets (id int, tenant int, seen date, small int[], large bigint[])")
    with conn.cursor() as cur, cur.copy("COPY sets (id, tenant, small) FROM STDIN") as copy:
        copy.set_types(["int4", "int4", "int4[]"])
        for i, row in enumerate(rows):
            copy.write_row((i, i % 3 if i % 50 else None, row if i % 41 != 7 else None))
    conn.execute("UPDATE sets SET seen = date '2024-01-01' + id % 37, large = "
                 "(SELECT array_agg(e::bigint * 2000000011) FROM unnest(small) e)")
    for measure, exact in EXACT.items():  # all that any call may return
        conn.execute("CREATE TABLE %s AS SELECT a.id AS id_a, b.id AS id_b, x AS similarity "
                     "FROM sets a, sets b, LATERAL (SELECT %s) m(x) WHERE x > 0" % (measure, exact.format(c="small")))
    conn.execute("ANALYZE")


def call(rng):
    """A call, and the query of the pairs that it must return."""
    measure, column = rng.choice(list(EXACT)), rng.choice(("small", "large"))
    columns, condition, options = rng.choice(EXTRAS)
    threshold = rng.choice(THRESHOLDS[measure])
    select = "SELECT id, %s%s FROM sets WHERE %s" + rng.choice(("", " ORDER BY md5(id::text)", " ORDER BY id DESC"))
    where = rng.choice(("true", "id % 2 = 0", "id < 400", "id > 100"))
    if rng.random() < 0.6:
        made = "all_pairs($$%s$$, %r, measure => '%s'%s)" % (
            select % (column, columns, where), threshold, measure, options)
        sides = "%s AND %s AND a.id %s b.id" % (
            re_side(where, "a"), re_side(where, "b"), "<>" if measure == "containment" else "<")
    else:
        other = rng.choice(("true", "id % 5 = 0", "id >= 300"))
        made = "pairs_between($$%s$$, $$%s$$, %r, measure => '%s'%s)" % (
            select % (column, columns, where),
            select % (rng.choice(("small", "small::bigint[]")) if column == "small" else column, columns, other),
            threshold, measure, options)
        sides = "%s AND %s" % (re_side(where, "a"), re_side(other, "b"))
    expected = ("SELECT p.* FROM %s p JOIN sets a ON a.id = id_a JOIN sets b ON b.id = id_b WHERE similarity >= %r "
                "AND %s AND %s" % (measure, threshold, condition, sides))
    return made, expected


def re_side(where, side):
    return where.replace("id ", side + ".id ")


def compared(conn):
    rng = random.Random(SEED)
    fill(conn, rng)
    wrong, found = [], 0
    for _ in range(CALLS):
        made, expected = call(rng)
        conn.execute("SET maintenance_work_mem = '%s'; SET neardup.threads = %d" % (
            rng.choice(("1MB", "4MB", "64MB")), rng.choice((1, 3))))
        rows = conn.execute("SELECT * FROM " + made).fetchall()
        found += len(rows)
        if rows != sorted(rows) or sorted(conn.execute(expected).fetchall()) != rows:
            wrong.append(made)
    equal("pairs of sets are those of a join in SQL (%d calls, %d pairs, NEARDUP_SEED=%d)" % (CALLS, found, SEED),
          wrong, [])
    check("there were pairs", found > 1000)


# The share that decides whether row b joins the earlier row a, or whether a chain links the two.
NEAR = {("containment", "anchor"): "ba.similarity",
        ("containment", "connected"): "greatest(ab.similarity, ba.similarity)"}


def clusters_compared(conn):
    """all_clusters() and cluster_bridges(): those of the pairs in SQL, a row joining an earlier one by its share in
    it."""
    rng = random.Random(SEED + 1)
    wrong, joined, later_larger = [], 0, 0
    size = dict(conn.execute("SELECT id, overlap_exact(small, small) FROM sets").fetchall())
    for _ in range(CALLS // 2):
        measure, linkage = rng.choice(list(EXACT)), rng.choice(("anchor", "connected"))
        columns, condition, options = rng.choice(EXTRAS)
        threshold = rng.choice(THRESHOLDS[measure])
        order = rng.choice(("id", "id DESC", "md5(id::text)", "cardinality(small) DESC NULLS LAST, id"))
        query = "SELECT id, small%s FROM sets WHERE %s ORDER BY %s" % (
            columns, rng.choice(("true", "id % 2 = 0")), order)
        conn.execute("SET maintenance_work_mem = '%s'; SET neardup.threads = %d" % (
            rng.choice(("1MB", "64MB")), rng.choice((1, 3))))
        made = "all_clusters($$%s$$, %r, '%s', measure => '%s'%s)" % (query, threshold, linkage, measure, options)
        rows = conn.execute("SELECT * FROM %s" % made).fetchall()
        ids = [row[0] for row in rows]
        if ids != [row[0] for row in conn.execute(query).fetchall()]:
            wrong.append("order: " + made)
        share = NEAR.get((measure, linkage), "ab.similarity")
        pairs = conn.execute("""SELECT a.id, b.id, x::float8 FROM unnest(%%s::int[]) WITH ORDINALITY p(id, n)
            JOIN unnest(%%s::int[]) WITH ORDINALITY q(id, n) ON p.n < q.n
            JOIN sets a ON a.id = p.id JOIN sets b ON b.id = q.id
            LEFT JOIN %s ab ON ab.id_a = a.id AND ab.id_b = b.id LEFT JOIN %s ba ON ba.id_a = b.id AND ba.id_b = a.id,
            LATERAL (SELECT %s) m(x) WHERE x >= %%s AND %s""" % (measure, measure, share, condition),
                             (ids, ids, threshold)).fetchall()
        values = {(a, b): x for a, b, x in pairs}
        expected = (anchors if linkage == "anchor" else components)(ids, list(values))
        signed = {row[0] for row in conn.execute("SELECT id FROM sets WHERE small IS NOT NULL").fetchall()}
        itself = {i: size[i] if measure == "overlap" else 1 for i in ids}
        number = {i: n for n, i in enumerate(ids, 1)}
        members = list(expected.values())
        for id, cluster, representative, similarity, cluster_size, survivor in rows:
            if id not in signed:
                right = (cluster, representative, similarity, cluster_size, survivor) == (None, None, None, None, True)
            else:
                r = expected[id]
                # in a chain two rows may be near only by others
                known = itself[id] if r == id else values.get((r, id))
                right = (cluster, representative, cluster_size, survivor) == (
                    number[r], r, members.count(r), r == id) and (known is None or similarity == known)
                joined += r != id
                later_larger += r != id and size[id] > size[r]
            if not right:
                wrong.append("%s: row %s" % (made, id))
                break
        bridges = conn.execute("SELECT * FROM cluster_bridges($$%s$$, %r, measure => '%s'%s)" % (
            query, threshold, measure, options)).fetchall()
        if linkage == "connected" and len(values) < 1000:
            whole = len(set(members))
            cut = sorted((min(p), max(p), values[p]) for p in values if len(
                set(components(ids, [q for q in values if q != p]).values())) > whole)
            if sorted(bridges) != cut:
                wrong.append("bridges: " + made)
    equal("clusters of sets are those of their pairs in SQL (%d rows joined others, NEARDUP_SEED=%d)" % (joined, SEED),
          wrong, [])
    check(
        "rows joined others, larger ones smaller ones, too", joined > 500 and later_larger > 50, (joined, later_larger))


def near_in_time(conn):
    """So many rows that they are searched in cells of time: a pair may lie in two, and be found by its second row."""
    conn.execute(
        "CREATE TABLE days AS SELECT i AS id, date '2024-01-01' + i / 10 AS seen, CASE WHEN i % 3 = 0 "
        "THEN ARRAY[i / 40, -i / 50] ELSE ARRAY[i / 40, -i / 50, i % 2] END AS a FROM generate_series(1, 3000) i")
    want = conn.execute("SELECT a.id, b.id FROM days a JOIN days b ON a.id <> b.id AND abs(a.seen - b.seen) <= 2 "
                        "AND a.a <@ b.a ORDER BY 1, 2").fetchall()
    for order in ("id", "id DESC"):
        got = conn.execute("SELECT id_a, id_b FROM all_pairs($$SELECT id, a, seen AS at FROM days "
                           "ORDER BY %s$$, 1, measure => 'containment', at_most_apart => '2 days')" % order).fetchall()
        check("pairs near in time, %s (%d)" % (order, len(want)), got == want and len(want) > 10000,
              (len(got), len(want)))


def spilled(conn):
    """Sets beyond maintenance_work_mem go to temporary files, which the server counts."""
    conn.execute("SET log_temp_files = 0; SET client_min_messages = log; SET maintenance_work_mem = '1MB'")
    notes = []
    conn.add_notice_handler(lambda d: notes.append(d.message_primary))
    query = "SELECT * FROM all_pairs('SELECT id * 10 + g, large || g::bigint FROM sets, generate_series(0, 5) g', 0.5)"
    few = conn.execute(query).fetchall()
    conn.execute("RESET maintenance_work_mem; RESET client_min_messages")
    check(
        "sets beyond maintenance_work_mem lie in temporary files", any("temporary file" in n for n in notes), notes[:3])
    equal("with the pairs that they have in memory", few, conn.execute(query).fetchall())


def cancelled(conn):
    """A search of large sets stops when asked."""
    query = ("SELECT count(*) FROM all_pairs('SELECT i, ARRAY(SELECT (hashint8extended(e, i % 7) % 200000)::int "
             "FROM generate_series(1, 20000) e) FROM generate_series(1, 60) i', 0.01)")
    stops_when_asked("a search for pairs of sets", conn, query)


def main():
    with database() as name, connect(name) as conn:
        compared(conn)
        clusters_compared(conn)
        near_in_time(conn)
        spilled(conn)
        cancelled(conn)


finish(main)
