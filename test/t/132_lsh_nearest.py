#!/usr/bin/env python3
"""Nearest rows without a threshold: ORDER BY sig <%> query LIMIT k through an lsh index has the distances of a sort,
whatever else the query asks."""
import random

from harness import *

SEED = int(os.environ.get("NEARDUP_SEED", "47"))
ROWS = 3000
QUERIES = 2000 if FULL else 250
ORDERS = {"sig": "<%>", "hash": "<~>", "digest": "<->"}
BY_INDEX = "SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off"
BY_SORT = "SET enable_seqscan = on; SET enable_sort = on; SET enable_indexscan = off; SET enable_bitmapscan = off"
FILTERS = ("", "", "", "id % 3 = 1", "id % 100 = 7", "tenant = 2", "tenant = 2 AND id < 2000", "tenant IN (1, 3)",
           "id < 0", "sig IS NOT NULL", "{c} IS NULL", "note = 'odd'")
TAILS = ("LIMIT 1", "LIMIT 7", "LIMIT 7", "LIMIT 60", "LIMIT 20 OFFSET 15", "LIMIT 0", "LIMIT 5000", "", "OFFSET 3")


def words(rng, n):
    return ["w%d" % rng.randrange(100000) for _ in range(n)]


def texts(rng):
    """Families of near copies of all degrees, exact copies, and texts that resemble nothing."""
    out = []
    while len(out) < ROWS:
        base = words(rng, rng.choice((3, 40, 40, 120)))
        for _ in range(rng.choice((1, 1, 2, 9))):
            copy = list(base)
            for _ in range(rng.choice((0, 0, 1, 3, 10, 25))):
                copy[rng.randrange(len(copy))] = "x%d" % rng.randrange(100000)
            out.append(" ".join(copy))
    return out[:ROWS]


def fill(conn, rng):
    conn.execute("CREATE TABLE docs (id int, tenant int, note text, body text, sig minhash, hash simhash, digest ctph) "
                 "WITH (fillfactor = 60)")
    copy_rows(conn, "docs (id, tenant, note, body)", (
        (i, i % 4 if i % 50 else None, "odd" if i % 2 else "even", text) for i, text in enumerate(texts(rng))))
    conn.execute(
        "UPDATE docs SET sig = to_minhash(body), hash = to_simhash(body), digest = to_ctph(body) WHERE id % 31 > 0")
    conn.execute("INSERT INTO docs (id, tenant, sig) SELECT -1, 2, to_minhash('')")
    for column in ORDERS:
        conn.execute("CREATE INDEX docs_%s ON docs USING lsh (%s)" % (column, column))
    conn.execute("CREATE INDEX docs_tenant_sig ON docs USING lsh (tenant, sig); "
                 "CREATE INDEX docs_odd ON docs USING lsh (hash) WHERE note = 'odd'")
    # rows that wait in pending pages, dead ones, chains of versions of which the index has the first
    conn.execute("INSERT INTO docs SELECT id + 10000, tenant, note, body, sig, hash, digest FROM docs WHERE id % 9 = 0")
    conn.execute("DELETE FROM docs WHERE id % 17 = 3")
    conn.execute("UPDATE docs SET body = body || ' ' WHERE id % 5 = 1; UPDATE docs SET body = trim(body) "
                 "WHERE id % 10 = 1; ANALYZE docs")


def value(conn, rng, column):
    """The value of a row, of a text that is far from all, or nothing."""
    chance = rng.random()
    if chance < 0.06:
        return "NULL::%s" % {"sig": "minhash", "hash": "simhash", "digest": "ctph"}[column]
    if chance < 0.3:
        return "%s('%s')" % ({"sig": "to_minhash", "hash": "to_simhash", "digest": "to_ctph"}[column],
                             " ".join(words(rng, 40)))
    return "(SELECT %s FROM docs WHERE id = %d)" % (column, rng.randrange(ROWS))


def sorted_like(got, want, whole):
    """The same distances in the same order, and of each distance the same rows, but of the last one where the query
    ends in the midst of it."""
    if [d for d, _ in got] != [d for d, _ in want] or len({i for _, i in got}) != len(got):
        return False
    ends = want[-1][0] if want else None
    start = want[0][0] if want else None
    inner = lambda rows: sorted((str(d), i) for d, i in rows if whole or d not in (ends, start))
    return inner(got) == inner(want)


def generated(conn):
    rng = random.Random(SEED)
    rows, by_index = [], 0
    for n in range(QUERIES):
        column = rng.choice(("sig", "sig", "hash", "digest"))
        where = rng.choice(FILTERS).format(c=column)
        tail = rng.choice(TAILS)
        operand = value(conn, rng, column)
        if rng.random() < 0.3 and operand.startswith("(SELECT"):
            text = one(conn, "SELECT %s::text" % operand)
            operand = "NULL::%s" % column if text is None else "'%s'" % text
            operand = operand.replace("NULL::sig", "NULL::minhash").replace("NULL::hash", "NULL::simhash").replace(
                "NULL::digest", "NULL::ctph")
        query = "SELECT {c} {o} {v} AS d, id FROM docs {w} ORDER BY {c} {o} {v} {t}".format(
            c=column, o=ORDERS[column], v=operand, w="WHERE " + where if where else "", t=tail)
        conn.execute("SET work_mem = '%s'; %s" % (rng.choice(("64kB", "4MB")), BY_INDEX))
        got = conn.execute(query).fetchall()
        by_index += "Order By: (" in str(conn.execute("EXPLAIN " + query).fetchall())
        conn.execute(BY_SORT)
        want = conn.execute(query).fetchall()
        good = sorted_like(got, want, whole=not tail)
        rows.append((query[:200] + ".." + query[-60:], "same" if good else (len(got), got[:5]),
                     "same" if good else (len(want), want[:5])))
    conn.execute("RESET ALL")
    print("# NEARDUP_SEED=%d: %d queries, %d of them by an index" % (SEED, QUERIES, by_index))
    equal_all("rows come in the order of a sort", rows)
    check("most of them come by an index", by_index > 0.6 * QUERIES, by_index)


def other_forms(conn):
    """Statements other than a plain SELECT with a constant."""
    of = "(SELECT sig FROM docs WHERE id = 40)"
    forms = {
        "LATERAL":
            "SELECT q.id, n.d FROM (SELECT id, sig FROM docs WHERE id BETWEEN 30 AND 60) q, LATERAL "
            "(SELECT o.sig <%> q.sig AS d FROM docs o ORDER BY o.sig <%> q.sig LIMIT 5) n ORDER BY 1, 2",
        "a join above":
            "SELECT d.sig <%%> %s FROM docs d JOIN (SELECT id FROM docs WHERE note = 'odd') o USING (id) ORDER BY 1 "
            "LIMIT 12" % of,
        "two orders":
            "SELECT sig <%%> %s, hash <~> (SELECT hash FROM docs WHERE id = 41), id FROM docs WHERE sig IS NOT NULL "
            "AND hash IS NOT NULL ORDER BY 1, 2, 3 LIMIT 300" % of,
        "two distances of one index":
            "SELECT sig <%%> %s, sig <%%> (SELECT sig FROM docs WHERE id = 41) FROM docs WHERE sig IS NOT NULL "
            "ORDER BY 1, 2 LIMIT 300" % of,
        "a condition, too": "SELECT sig <%%> %s FROM docs WHERE jaccard(sig, %s) >= 0.5 ORDER BY 1" % (of, of),
        "a condition on another value":
            "SELECT sig <%%> %s FROM docs WHERE jaccard(sig, (SELECT sig FROM docs WHERE id = 41)) >= 0.3 "
            "ORDER BY 1 LIMIT 4" % of,
        "DISTINCT of a subquery":
            "SELECT DISTINCT d FROM (SELECT sig <%%> %s AS d FROM docs ORDER BY 1 LIMIT 40) x ORDER BY 1" % of,
        "UNION":
            "(SELECT sig <%%> %s AS d FROM docs ORDER BY 1 LIMIT 4) UNION ALL (SELECT hash <~> (SELECT hash FROM docs "
            "WHERE id = 41) FROM docs ORDER BY 1 LIMIT 4) ORDER BY 1" % of,
    }
    for what, query in forms.items():
        conn.execute(BY_INDEX.replace("SET enable_sort = off; ", ""))
        got = conn.execute(query).fetchall()
        conn.execute(BY_SORT)
        equal("the same rows: " + what, got, conn.execute(query).fetchall())
    conn.execute(BY_INDEX + "; SET plan_cache_mode = force_generic_plan")
    conn.execute("PREPARE nearest (minhash, bigint) AS SELECT sig <%> $1 FROM docs ORDER BY sig <%> $1 LIMIT $2")
    text = one(conn, "SELECT %s::text" % of)
    got = [conn.execute("EXECUTE nearest ('%s', %d)" % (text, n)).fetchall() for n in (3, 50)]
    conn.execute("RESET plan_cache_mode; " + BY_SORT)
    equal("the same rows: a generic plan", got,
          [conn.execute("SELECT sig <%%> %s FROM docs ORDER BY 1 LIMIT %d" % (of, n)).fetchall() for n in (3, 50)])
    for tenant in ("NULL", "2"):
        conn.execute("RESET ALL; SET plan_cache_mode = force_generic_plan; " + BY_INDEX)
        conn.execute("PREPARE of_tenant_%s (int) AS SELECT id FROM docs WHERE tenant = $1 "
                     "ORDER BY sig <%%> to_minhash('w1 w2 w3') LIMIT 5000" % tenant)
        plan = "\n".join(r[0] for r in conn.execute("EXPLAIN EXECUTE of_tenant_%s (%s)" % (tenant, tenant)))
        check("of tenant %s: by the index of both columns" % tenant,
              "docs_tenant_sig" in plan and "Index Cond: (tenant = $1)" in plan, plan)
        equal("of tenant %s" % tenant, sorted(conn.execute("EXECUTE of_tenant_%s (%s)" % (tenant, tenant)).fetchall()),
              sorted(conn.execute("SELECT id FROM docs WHERE tenant + 0 = %s" % tenant).fetchall()))
    conn.execute("RESET ALL; SET enable_sort = off; SET enable_seqscan = off")
    plan = "\n".join(r[0] for r in conn.execute(
        "EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE note = 'odd' ORDER BY hash <~> '00000000000000ff'"))
    check("a partial index serves queries of its rows", "docs_odd" in plan or "docs_hash" in plan, plan)
    plan = "\n".join(
        r[0] for r in conn.execute("EXPLAIN (COSTS OFF) SELECT id FROM docs ORDER BY sig <%> to_minhash('a b c') DESC"))
    check("the farthest come by a sort", "Sort" in plan, plan)
    conn.execute("RESET ALL")


def differences(conn):
    """Two rows for each number of components that differ from the query's: each of them in a band of its own as far as
    that is possible, so that many bands miss, or side by side, so that few do."""
    for size in (16, 64, 128, 256):
        conn.execute("CREATE TABLE different (id int, sig minhash)")
        for differs in ("c % 4 = 0 AND c < 4 * n", "c < n"):
            conn.execute("""INSERT INTO different SELECT n, minhash_import(array(SELECT CASE WHEN {d} THEN 1000 * n + c
                            ELSE c END
                            FROM generate_series(0, {s} - 1) c)) FROM generate_series(0, {s} / 4) n""".format(
                d=differs, s=size))
        conn.execute("CREATE INDEX ON different USING lsh (sig)")
        conn.execute(BY_INDEX)
        query = "SELECT id FROM different ORDER BY sig <%> (SELECT sig FROM different WHERE id = 0 LIMIT 1)"
        check("%d components: by the index" % size, "Order By: (" in str(conn.execute("EXPLAIN " + query).fetchall()))
        equal("%d components: the rows with fewest differences first" % size, [r[0] for r in conn.execute(query)],
              [n for n in range(size // 4 + 1) for _ in "ab"])
        conn.execute("RESET ALL; DROP TABLE different")


def cursors(conn):
    """A cursor sees what there was when it was opened, whatever others do between its fetches."""
    with connect(conn.info.dbname, autocommit=False) as own:
        own.execute(BY_INDEX + "; SET work_mem = '64kB'")
        query = "SELECT hash <~> '123456789abcdef0' AS d, id FROM docs ORDER BY hash <~> '123456789abcdef0'"
        own.execute(BY_SORT)
        own.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        want = own.execute(query).fetchall()
        own.execute(BY_INDEX)
        own.execute("DECLARE near CURSOR FOR " + query)
        got = own.execute("FETCH 30 FROM near").fetchall()
        conn.execute("INSERT INTO docs (id, hash) VALUES (20000, '123456789abcdef0'); "
                     "DELETE FROM docs WHERE id % 4 = 2; UPDATE docs SET hash = to_simhash('another') WHERE id % 4 = 1")
        conn.execute("VACUUM docs")
        got += own.execute("FETCH 500 FROM near").fetchall()
        conn.execute(
            "INSERT INTO docs (id, hash) SELECT 30000 + i, to_simhash(i::text) FROM generate_series(1, 3000) i")
        got += own.execute("FETCH ALL FROM near").fetchall()
        check("a cursor goes on with the rows of its snapshot", sorted_like(got, want, True), (len(got), len(want)))
        own.rollback()
    conn.execute(BY_INDEX)
    got = conn.execute(query).fetchall()
    conn.execute(BY_SORT)
    check("afterwards others see the new ones", sorted_like(got, conn.execute(query).fetchall(), True))
    conn.execute("RESET ALL")


def beyond_memory(conn):
    """More rows than a pass can keep, many of the same distance."""
    conn.execute(
        "RESET ALL; CREATE TABLE hashes AS SELECT i AS id, lpad(to_hex(hashint4(i % 9000)::bigint & 4294967295), 16, "
        "'f')::simhash AS hash FROM generate_series(1, 14000) i; CREATE INDEX hashes_hash ON hashes USING lsh (hash); "
        "ANALYZE hashes")
    query = "SELECT hash <~> 'ffffffff00000000' AS d, id FROM hashes ORDER BY hash <~> 'ffffffff00000000'"
    conn.execute("SET work_mem = '64kB'; " + BY_INDEX)
    plan, got = str(conn.execute("EXPLAIN " + query).fetchall()), conn.execute(query).fetchall()
    conn.execute("RESET ALL; " + BY_SORT)
    check("more rows than memory holds", "Order By" in plan and sorted_like(got, conn.execute(query).fetchall(), True),
          len(got))


def plans(conn):
    """The index is used while it is expected to find as many rows as are asked for."""
    conn.execute("RESET ALL; CREATE TABLE many AS SELECT i AS id, to_minhash((SELECT string_agg(md5((CASE WHEN e <= 40 "
                 "THEN i / 20 ELSE i END * 100 + e)::text), ' ') FROM generate_series(1, 44) e)) AS sig "
                 "FROM generate_series(1, 20000) i")
    conn.execute("CREATE INDEX many_sig ON many USING lsh (sig)")
    conn.execute("VACUUM ANALYZE many")
    near, far = one(conn, "SELECT sig::text FROM many WHERE id = 5005"), one(
        conn, "SELECT to_minhash('nothing of this is anywhere in the table, nor near to it')::text")
    costs = {}
    for what, query in (("near", near), ("far", far)):
        for settings in ("RESET enable_indexscan", "SET enable_indexscan = off"):
            conn.execute(settings)
            plan = one(conn, "EXPLAIN (FORMAT JSON) SELECT id FROM many ORDER BY sig <%%> '%s' LIMIT 10" % query)
            costs[what, settings.split()[0]] = plan[0]["Plan"]["Total Cost"]
    conn.execute("RESET enable_indexscan")
    check("10 nearest of 20 near ones cost a look-up", costs["near", "RESET"] < 0.2 * costs["near", "SET"], costs)
    check("10 nearest of none cost no more than a sort",
          0.7 * costs["far", "SET"] < costs["far", "RESET"] <= costs["far", "SET"], costs)
    plan = "\n".join(r[0] for r in conn.execute("EXPLAIN SELECT id FROM many ORDER BY sig <%%> '%s'" % near))
    check("all rows: by a sort", "Sort" in plan, plan)
    plan = "\n".join(r[0] for r in conn.execute("EXPLAIN SELECT id FROM many"))
    check("without an order nothing changes", "Seq Scan" in plan, plan)


OTHERS = {"number": ("0", "1", "NULL::int", "(SELECT 0)"), "label": ("''", "'a'", "NULL::text", "(SELECT '')"),
          "code": ("''", "'\\x00'", "NULL::bytea", "(SELECT ''::bytea)")}


def other_columns(conn):
    """NULL, 0 and nothing in the columns before the last one are three things, whichever of them the query asks for: in
    the index and in the table."""
    conn.execute("RESET ALL; CREATE TABLE wide (id int, number int, label text, code bytea, sig minhash)")
    conn.execute("""INSERT INTO wide SELECT row_number() OVER (), n, l, c, CASE WHEN i > 0
                    THEN to_minhash('a b c d e f g h ' || i) END
                    FROM unnest(ARRAY[NULL, 0, 1]) n, unnest(ARRAY[NULL, '', 'a']) l, unnest(ARRAY[NULL, '',
                      '\\x00']::bytea[]) c, generate_series(0, 4) i""")
    for columns in ("number", "label", "code", "number, label, code", "code, number"):
        conn.execute("CREATE INDEX ON wide USING lsh (%s, sig)" % columns)
    conn.execute("ANALYZE wide")
    rng, rows, by_index = random.Random(SEED), [], 0
    for limit in ("LIMIT 3", "LIMIT 30", ""):
        for n in range(1, 8):  # which of the columns have a condition
            asked = [column for i, column in enumerate(OTHERS) if n >> i & 1]
            for values in ([OTHERS[c][0] for c in asked], [OTHERS[c][3] for c in asked],
                           *([rng.choice(OTHERS[c]) for c in asked] for _ in range(4))):
                where = " AND ".join("%s = %s" % pair for pair in zip(asked, values))
                query = "SELECT sig <%%> to_minhash('a b c d e f g h 2') AS d, id FROM wide WHERE %s ORDER BY 1 %s" % (
                    where, limit)
                conn.execute(BY_INDEX)
                got = conn.execute(query).fetchall()
                by_index += "Order By: (" in str(conn.execute("EXPLAIN " + query).fetchall())
                conn.execute("RESET ALL; " + BY_SORT)
                want = conn.execute(query).fetchall()
                rows.append((query, "same" if sorted_like(got, want, not limit) else got,
                             "same" if sorted_like(got, want, not limit) else want))
    conn.execute("RESET ALL")
    equal_all("NULL, 0 and nothing in the other columns", rows)
    check("most of them by an index with those columns", by_index > 0.5 * len(rows), (by_index, len(rows)))


# Internal functions that are called for immutable ones can stand in an index: one that counts rows, and one that has
# this statement cancelled.
TICKS = """
CREATE SEQUENCE ticks;
CREATE FUNCTION tick(regclass) RETURNS bigint LANGUAGE internal IMMUTABLE STRICT AS 'nextval_oid';
CREATE FUNCTION cancel(int) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'pg_cancel_backend';
CREATE FUNCTION setting(text) RETURNS text LANGUAGE internal IMMUTABLE STRICT AS 'show_config_by_name';
SET neardup_test.pid = '';
CREATE TABLE ticking AS SELECT i AS id, 'neardup_test.pid' AS name, 'ticks'::regclass AS counter, set_minhash(ARRAY[1,
  2]) AS sig FROM generate_series(1, 500) i;
CREATE INDEX ticking_sig ON ticking USING lsh ((CASE WHEN setting(name) <> '' AND tick(counter) > 0
  THEN cancel(setting(name)::int)::int ELSE 0 END), sig);
"""


def interrupts(conn):
    """A cancel that comes with a row is seen before the next one, however little time a row takes."""
    conn.execute(TICKS + BY_INDEX)
    query = ("SELECT id FROM ticking WHERE CASE WHEN setting(name) <> '' AND tick(counter) > 0 "
             "THEN cancel(setting(name)::int)::int ELSE 0 END = 0 ORDER BY sig <%> set_minhash(ARRAY[{0}]) LIMIT 3")
    for what, value in (("rows that the index finds", "1, 2"), ("rows of the table", "7, 9")):
        equal("%s come by the index" % what,
              (len(conn.execute(query.format(value)).fetchall()),
               "Order By: (" in str(conn.execute("EXPLAIN " + query.format(value)).fetchall())), (3, True))
        conn.execute("SELECT setval('ticks', 1, false); SET neardup_test.pid = %d" % conn.info.backend_pid)
        e = sql_error(conn, query.format(value))
        conn.execute("SET neardup_test.pid = ''")
        equal("%s: a cancel ends them" % what, (e and e.sqlstate, one(conn, "SELECT last_value FROM ticks")),
              ("57014", 1))
    conn.execute("RESET ALL")


def row_security(conn):
    """Under a policy the order is that of a sort, and a row that may not be seen is not."""
    role = "neardup_nearest_%d" % os.getpid()
    conn.execute("RESET ALL; CREATE ROLE %s; GRANT SELECT ON docs TO %s; ALTER TABLE docs ENABLE ROW LEVEL SECURITY; "
                 "CREATE POLICY even ON docs TO %s USING (note = 'even')" % (role, role, role))
    try:
        rows = []
        for column, order in ORDERS.items():
            for limit in (1, 10, 3000):
                query = ("SELECT {c} {o} (SELECT {c} FROM docs WHERE id = 122) AS d, id FROM docs "
                         "ORDER BY {c} {o} (SELECT {c} FROM docs WHERE id = 122) LIMIT {n}".format(
                    c=column, o=order, n=limit))
                conn.execute("SET ROLE %s; %s" % (role, BY_INDEX))
                got, plan = conn.execute(query).fetchall(), str(conn.execute("EXPLAIN " + query).fetchall())
                conn.execute(BY_SORT)
                want = conn.execute(query).fetchall()
                rows.append(
                    (query, (sorted_like(got, want, False), all(i % 2 == 0 for _, i in got), "Order By" in plan),
                     (True, True, True)))
        equal_all("under row security", rows)
    finally:
        conn.execute("RESET ALL; RESET ROLE; DROP POLICY even ON docs; ALTER TABLE docs DISABLE ROW LEVEL SECURITY; "
                     "REVOKE ALL ON docs FROM %s; DROP ROLE %s" % (role, role))


def bad_input(conn):
    conn.execute("RESET ALL; " + BY_INDEX)
    errors = []
    for settings in (BY_INDEX, BY_SORT):
        conn.execute("RESET ALL; " + settings)
        e = sql_error(conn, "SELECT id FROM docs ORDER BY sig <%> to_minhash('a b c', k => 2) LIMIT 3")
        errors.append((e.sqlstate, e.diag.message_primary))
    check(
        "a signature made otherwise: the error of a sort", errors[0] == errors[1] and errors[0][0] is not None, errors)
    conn.execute("RESET ALL; " + BY_INDEX)
    conn.execute("CREATE TABLE none (sig minhash); CREATE INDEX ON none USING lsh (sig)")
    equal("no row at all", conn.execute("SELECT * FROM none ORDER BY sig <%> to_minhash('a') LIMIT 3").fetchall(), [])
    conn.execute("INSERT INTO none VALUES (NULL), (NULL)")
    equal("rows without a value",
          conn.execute("SELECT * FROM none ORDER BY sig <%> to_minhash('a') LIMIT 3").fetchall(), [(None,), (None,)])


def main():
    with database() as name:
        with connect(name) as conn:
            fill(conn, random.Random(SEED))
        in_copies(name, generated, other_forms, differences, beyond_memory, other_columns, interrupts, plans, bad_input,
                  row_security, cursors)


finish(main)
