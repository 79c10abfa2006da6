#!/usr/bin/env python3
"""Measures of sets other than Jaccard similarity through an lsh index: generated conditions have the rows of a
sequential scan."""
import random

from answers import *

SEED = int(os.environ.get("NEARDUP_SEED", "31"))
ROWS = 1500
CONDITIONS = 4000 if FULL else 900
LARGE = (1600, 1601, 5000, 20000)  # elements
# {s}: the indexed column, {q}: the query's set, {c}: a share, {n}: a number.
FORMS = ("containment_exact({s}, {q}) >= {c}", "containment_exact({q}, {s}) >= {c}",
         "{c} <= containment_exact({q}, {s})", "containment_exact({s}, {q}) > {c}", "containment_exact({q}, {s}) = 1",
         "containment_exact_at_least({s}, {q}, {c})", "containment_exact_at_least({q}, {s}, {c})",
         "overlap_exact({s}, {q}) >= {n}", "overlap_exact({q}, {s}) > {n}", "{n} < overlap_exact({s}, {q})",
         "overlap_exact_at_least({q}, {s}, {n})",
         "containment_exact({q}, {s}) >= {c} AND overlap_exact({s}, {q}) >= {n}",
         "containment_exact({q}, {s}) >= {c} OR containment_exact({s}, {q}) >= {c}",
         "jaccard_exact({s}, {q}) >= {c} AND containment_exact({s}, {q}) >= {c}",
         "containment_exact({q}, {s}) >= {c}::numeric", "overlap_exact({s}, {q})::float8 >= {n}.5",
         "dice_exact({s}, {q}) >= {c}", "{c} < dice_exact({q}, {s})", "dice_exact_at_least({q}, {s}, {c})",
         "set_cosine_exact({q}, {s}) >= {c}", "set_cosine_exact({s}, {q}) > {c}",
         "set_cosine_exact_at_least({s}, {q}, {c})", "set_cosine_exact({s}, {q}) >= {c} AND dice_exact({s}, {q}) < 1")
SHARES = (0.01, 0.1, 0.28, 0.5, 0.75, 0.8, 0.9, 1)
ODD_SHARES = ("0", "-1", "1.5", "'NaN'", "'Infinity'", "NULL::float8")
ODD_NUMBERS = ("0", "-3", "2147483647", "NULL::int")


def sets(rng):
    """Documents that share passages: what a page quotes, in part and in full; sets without elements, of one, with
    repeats, of large ones."""
    words = [rng.randrange(-2 ** 31, 2 ** 31) for _ in range(4000)]
    out = []
    for i in range(ROWS):
        size = rng.choice((0, 1, 2, 5, 25, 84, 150, 400))
        if out and rng.random() < 0.4:  # a part of another one, and something more
            other = out[rng.randrange(len(out))]
            row = rng.sample(other, min(len(other), size)) + rng.sample(words, rng.choice((0, 0, 1, 10)))
        else:
            row = rng.sample(words, size)
        out.append(row + row[:2])
    for n in LARGE:
        out.append(words[:50] + [rng.randrange(-2 ** 31, 2 ** 31) for _ in range(n - 50)])
    return out


def fill(conn, rng):
    rows = sets(rng)
    conn.execute("CREATE TABLE sets (id int, tenant int, small int[], large bigint[])")
    copy_rows(conn, "sets", ((i, i % 3, row, [x * 5_000_000_011 % 2 ** 63 - 2 ** 62 for x in row]) if i % 41 != 7
                             else (i, i % 3, None, None) for i, row in enumerate(rows)),
              ["int4", "int4", "int4[]", "int8[]"])
    conn.execute(
        "CREATE INDEX sets_small ON sets USING lsh (small); CREATE INDEX sets_large ON sets USING lsh (large); "
        "CREATE INDEX sets_tenant ON sets USING lsh (tenant, large)")
    # later rows wait in pending pages; dead ones stay in the index
    conn.execute("INSERT INTO sets SELECT id + 10000, tenant, small, large FROM sets WHERE id % 7 = 0; "
                 "DELETE FROM sets WHERE id % 13 = 4; ANALYZE sets")


def condition(rng, column):
    form = rng.choice(FORMS)
    source = rng.randrange(ROWS + len(LARGE))
    query = "(SELECT %s FROM queries WHERE id = %d)" % (column, source)
    share = rng.choice(ODD_SHARES) if rng.random() < 0.08 else repr(rng.choice(SHARES))
    number = rng.choice(ODD_NUMBERS) if rng.random() < 0.08 and ".5" not in form else str(
        rng.choice((1, 2, 5, 20, 84, 1601)))
    where = form.format(s=column, q=query, c=share, n=number)
    return where + (" AND tenant = %d" % rng.randrange(3) if rng.random() < 0.2 else "")


def generated(conn):
    """Queries are constants as often as values that come at run time."""
    rng = random.Random(SEED)
    conn.execute("CREATE TABLE queries AS SELECT id, small[1:least(cardinality(small), id % 90 + 1)] AS small, "
                 "large[1:least(cardinality(large), id % 90 + 1)] AS large FROM sets WHERE id % 3 > 0 AND id < 10000 "
                 "UNION ALL SELECT id, small, large FROM sets WHERE id % 3 = 0 AND id < 10000; "
                 "CREATE INDEX ON queries (id); ANALYZE queries")
    texts = {c: dict(conn.execute("SELECT id, %s::text FROM queries WHERE %s IS NOT NULL" % (c, c)).fetchall())
             for c in ("small", "large")}
    print("# NEARDUP_SEED=%d" % SEED)
    conditions = Conditions(conn, "sets_")
    for _ in range(CONDITIONS):
        column = rng.choice(("small", "large"))
        where = condition(rng, column)
        if rng.random() < 0.5:
            where = re.sub(r"\(SELECT \w+ FROM queries WHERE id = (\d+)\)",
                           lambda m: "'%s'::%s" % (texts[column].get(int(m[1]), "{}"),
                                                   {"small": "int[]", "large": "bigint[]"}[column]), where)
        conditions.ask("SELECT id FROM sets WHERE " + where)
    conditions.report("generated conditions", 0.05)


def plans(conn):
    conn.execute("RESET ALL; SET enable_seqscan = off; CREATE TABLE near AS SELECT id, small FROM sets; "
                 "CREATE INDEX near_small ON near USING lsh (small); ANALYZE near")
    for what, where, cond in (("a row in the query", "containment_exact(small, '{1,2,3}') >= 0.5",
                               "set_in_query>=0.5 {1,2,3}"),
                              ("the query in a row", "containment_exact('{1,2,3}', small) >= 0.5",
                               "query_in_set>=0.5 {1,2,3}"),
                              ("overlap", "overlap_exact(small, '{1,2,3}') > 1", "set_overlap>=2 {1,2,3}"),
                              ("Dice", "dice_exact(small, '{1,2,3}') > 0.5", "set_dice>=0.5 {1,2,3}"),
                              ("cosine", "0.5 <= set_cosine_exact('{1,2,3}', small)", "set_cosine>=0.5 {1,2,3}"),
                              ("a named predicate", "containment_exact_at_least('{1,2,3}', small, 0.5)",
                               "query_in_set>=0.5 {1,2,3}")):
        plan = "\n".join(r[0] for r in conn.execute("EXPLAIN (COSTS OFF) SELECT id FROM near WHERE " + where))
        check("index condition: " + what, "(small %%> '%s'::lsh_query)" % cond in plan, plan)
    equal("sets without elements are contained in nothing and contain nothing",
          conn.execute("SELECT containment_exact('{}'::int[], '{1}'), containment_exact('{1}', '{}'::int[]), "
                       "containment_exact('{}'::int[], '{}'), overlap_exact('{}'::int[], '{}'), "
                       "dice_exact('{}'::int[], '{}'), set_cosine_exact('{1}'::bigint[], '{}')").fetchone(), (0,) * 6)
    equal("the Dice coefficient and the cosine are those of counts", one(
        conn, "SELECT count(*) FROM near a, near b, LATERAL (SELECT overlap_exact(a.small, b.small)::float8 AS common, "
              "overlap_exact(a.small, a.small)::float8 AS x, overlap_exact(b.small, b.small)::float8 AS y) n "
              "WHERE a.id % 20 = 1 AND b.id % 20 < 3 AND common > 0 AND (dice_exact(a.small, b.small) <> "
              "2 * common / (x + y) OR set_cosine_exact(a.small, b.small) <> common / sqrt(x * y))"), 0)
    conn.execute("CREATE FUNCTION in_query(int[]) RETURNS SETOF int LANGUAGE sql AS 'SELECT id FROM near "
                 "WHERE containment_exact(small, $1) >= 0.9'")
    equal("through a function", one(conn, "SELECT count(*) FROM in_query((SELECT small FROM near WHERE id = 100))"),
          one(conn, "SELECT count(*) FROM near WHERE containment_exact(small, (SELECT small FROM near "
                    "WHERE id = 100)) + 0 >= 0.9"))
    joined = ("SELECT count(*) FROM near a JOIN near b ON containment_exact(%s) >= 0.9 WHERE a.id < 200 "
              "AND cardinality(a.small) > 4")
    for sides in ("a.small, b.small", "b.small, a.small"):
        conn.execute("SET neardup.derive_conditions = off")
        want = one(conn, joined % sides)
        conn.execute("RESET neardup.derive_conditions")
        equal("as a join: containment_exact(%s)" % sides, one(conn, joined % sides), want)
        check("the join searches the index: containment_exact(%s)" % sides,
              "Index Cond: (small %> " in str(conn.execute("EXPLAIN " + joined % sides).fetchall()).replace(
                  "b.small", "small"),
              conn.execute("EXPLAIN " + joined % sides).fetchall())


def large_rows(conn, name):
    """Rows with more keys than a pending page takes, inserted by several sessions at once, among small ones, VACUUM and
    queries."""
    conn.execute("RESET ALL; CREATE TABLE books (id int, a int[]); CREATE INDEX books_a ON books USING lsh (a)")
    errors, ids = [], [range(s * 1000, s * 1000 + (200 if FULL else 50)) for s in range(3)]

    def insert(numbers):
        try:
            with connect(name) as own:
                for n in numbers:
                    own.execute("INSERT INTO books SELECT %d, array(SELECT %d * 100 + e * 7919 "
                                "FROM generate_series(1, %d) e)" % (n, n, (5, 1600, 1601, 2500, 8000)[n % 5]))
        except psycopg.Error as e:
            errors.append(str(e))
    threads = [Thread(target=insert, args=(numbers,)) for numbers in ids]
    for thread in threads:
        thread.start()
    conn.execute("SET enable_seqscan = off")
    seen = 0
    while any(thread.is_alive() for thread in threads):
        before = [r[0] for r in conn.execute("SELECT id FROM books")]
        for id_ in before[-3:]:
            found = [r[0] for r in conn.execute(
                "SELECT id FROM books WHERE containment_exact(array(SELECT %d * 100 + e * 7919 "
                "FROM generate_series(1, 5) e), a) = 1" % id_)]
            if id_ not in found:
                errors.append("row %d is not found: %s" % (id_, found))
            seen += 1
        conn.execute("DELETE FROM books WHERE id % 20 = 3")
        conn.execute("VACUUM books")
    equal("large rows from several sessions", errors, [])
    check("rows were looked for meanwhile", seen > 0)
    conn.execute("SELECT lsh_check('books_a', true)")
    equal("all rows are there", one(conn, "SELECT count(*) FROM books WHERE id % 20 <> 3"),
          sum(n % 20 != 3 for numbers in ids for n in numbers))
    conn.execute("INSERT INTO books SELECT n, array(SELECT -n * 1000 - e FROM generate_series(1, n) e) "
                 "FROM unnest(ARRAY[60000, 260000]) n")
    # more elements than are indexed of a row, or looked up of a query
    for size, part in ((60000, 100), (60000, 60000), (260000, 100), (260000, 70000)):
        query = "array(SELECT -%d * 1000 - e FROM generate_series(1, %d) e)" % (size, part)
        equal("%d elements of %d, in a row" % (part, size),
              conn.execute("SELECT id FROM books WHERE containment_exact(%s, a) = 1" % query).fetchall(), [(size,)])
        equal(
            "%d elements of %d, of which a row is part" % (part, size),
            conn.execute("SELECT id FROM books WHERE containment_exact(a, %s) >= %s" % (query, part / size)).fetchall(),
            [(size,)])
    conn.execute("SELECT lsh_check('books_a', true)")
    runs = one(conn, "SELECT runs FROM lsh_info('books_a')")
    check("their runs are merged", runs < 30, runs)


def shared_elements(conn):
    """Elements that many rows have, as boilerplate is, among rows of all sizes: the size of a row decides which of them
    are in a query."""
    conn.execute("RESET ALL; CREATE TABLE pages (id int, a int[]); CREATE INDEX pages_a ON pages USING lsh (a)")
    conn.execute("INSERT INTO pages SELECT i, array(SELECT CASE WHEN e %% 4 = 0 THEN hashint4(i * 1000 + e) %% 40 "
                 "ELSE i * 1000 + e END FROM generate_series(1, %s) e) FROM generate_series(1, 6000) i"
                 % "CASE WHEN i % 50 = 0 THEN i / 50 % 7 ELSE 20 + i % 60 END")
    conn.execute("VACUUM pages")
    conn.execute("INSERT INTO pages SELECT id + 10000, a[1:30] FROM pages WHERE id % 97 = 0")
    rows = []
    for at in (1, 400, 3000):
        query = "array(SELECT DISTINCT unnest(a) FROM pages WHERE id BETWEEN %d AND %d)" % (at, at + 12)
        for share in (0.05, 0.3, 0.8, 1):
            where = "SELECT id FROM pages WHERE containment_exact(a, %s) >= %s" % (query, share)
            for memory in ("64kB", "64MB"):
                rows.append((where + ", " + memory, answer(conn, "%s; work_mem = '%s'" % (BY_INDEX, memory), where),
                             answer(conn, BY_SCAN, where)))
    equal_all("rows in a query that shares elements with all rows", rows)
    conn.execute("RESET ALL; SET enable_seqscan = off; SET enable_indexscan = off")
    query = one(conn, "SELECT array(SELECT DISTINCT unnest(a) FROM pages WHERE id BETWEEN 400 AND 412)::text")
    plan = "\n".join(
        r[0] for r in conn.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT id FROM pages "
                                   "WHERE containment_exact(a, '%s') >= 0.8" % query))
    candidates = re.search(r"Bitmap Index Scan on pages_a \(actual rows=(\d+)", plan)
    check("few of the rows that share elements are candidates", candidates and 13 <= int(candidates[1]) < 300, plan)
    conn.execute("SELECT lsh_check('pages_a', true)")


def bad_input(conn):
    conn.execute("RESET ALL")
    for call, text in (("containment_exact(ARRAY[1, NULL], ARRAY[1])", "NULL"),
                       ("containment_exact(ARRAY[1], ARRAY[NULL]::int[])", "NULL"),
                       ("overlap_exact(ARRAY[1, NULL], ARRAY[1])", "NULL"),
                       ("containment_exact_at_least(ARRAY[1], ARRAY[1], 0)",
                        "threshold must be above 0 and at most 1: 0"),
                       ("containment_exact_at_least(ARRAY[1], ARRAY[1], 1.01)",
                        "threshold must be above 0 and at most 1: 1.01"),
                       ("containment_exact_at_least(ARRAY[1], ARRAY[1], 'NaN')", "threshold must be above 0"),
                       ("dice_exact(ARRAY[1, NULL], ARRAY[1])", "NULL"),
                       ("set_cosine_exact(ARRAY[1], ARRAY[NULL]::int[])", "NULL"),
                       ("dice_exact_at_least(ARRAY[1], ARRAY[1], 1.5)", "threshold must be above 0 and at most 1: 1.5"),
                       ("set_cosine_exact_at_least(ARRAY[1], ARRAY[1], 0)",
                        "threshold must be above 0 and at most 1: 0"),
                       ("overlap_exact_at_least(ARRAY[1], ARRAY[1], 0.5)", "overlap must be at least 1: 0.5"),
                       ("overlap_exact_at_least(ARRAY[1], ARRAY[1], 'NaN')", "overlap must be at least 1"),
                       ("winnow_hashes('a b', 0)", "k must be"), ("winnow_hashes('a b', 5, 0)", "window must be"),
                       ("winnow_hashes('a b', 5, 4, 'page')", "unknown unit")):
        fails(call, conn, "SELECT " + call, text=text)
    equal("winnow_hashes() are the distinct fingerprints, ascending",
          one(conn, "SELECT bool_and(winnow_hashes(t, k, w, u) = ARRAY(SELECT DISTINCT fingerprint "
                    "FROM winnow_fingerprints(t, k, w, u) ORDER BY 1)) "
                    "FROM (VALUES ('the cat sat on the mat and the cat sat on the hat'), (''), ('a'), ('ÄÖ ü ÄÖ ü')) "
                    "d(t), generate_series(1, 4) k, generate_series(1, 5) w, unnest(ARRAY['word', 'char']) u"), True)
    equal("of bytes",
          one(conn, "SELECT winnow_hashes('\\x00010203000102030001'::bytea, 2, 3) = ARRAY(SELECT DISTINCT fingerprint "
                    "FROM winnow_fingerprints('\\x00010203000102030001'::bytea, 2, 3) ORDER BY 1)"), True)


def main():
    with database() as name, connect(name) as conn:
        fill(conn, random.Random(SEED))
        sections((generated, conn), (plans, conn), (shared_elements, conn), (large_rows, conn, name), (bad_input, conn))


finish(main)
