#!/usr/bin/env python3
"""Similarity joins: generated joins, and changes of tables, partitions and foreign tables by joins, have the rows of a
nested loop when the node (forced, and as the costs say) runs them; EXPLAIN shows each of them in every form."""
import random
import re
import threading
import time

from answers import *
import random_joins
from random_joins import SEED

JOINS = 2400 if FULL else 420
FORMS = ("VERBOSE", "VERBOSE, FORMAT JSON", "VERBOSE, FORMAT XML", "VERBOSE, FORMAT YAML", "COSTS OFF")
CHANGES = 900 if FULL else 150
LIMITS = ("", "work_mem = '64kB'; hash_mem_multiplier = 1", "neardup.threads = 1", "jit = off",
          "enable_partitionwise_join = on")
MODES = {"forced": "enable_nestloop = off; enable_hashjoin = off; enable_mergejoin = off", "as the costs say": ""}


def generated(conn):
    rng = random.Random(SEED)
    rows, joined, selves, grouped, limits = [], 0, 0, 0, LIMITS + (
        ("debug_parallel_query" if server_version() >= 160000 else "force_parallel_mode") + " = on",)
    for i in range(JOINS):
        query = random_joins.statement(rng)
        want = answer(conn, "neardup.enable_join = off", query)
        mode = "forced" if i % 3 else "as the costs say"
        settings = "; ".join(s for s in (MODES[mode], rng.choice(limits)) if s)
        got = answer(conn, settings, query)
        rows.append(("%s: %s" % (settings, query), got, want))
        plan = str(conn.execute("EXPLAIN (%s) %s" % (rng.choice(FORMS), query)).fetchall())
        joined += "Similarity Join" in plan
        selves += "Self Join" in plan
        grouped += "Group Cond" in plan
    print("# NEARDUP_SEED=%d: %d joins, of which the node ran %d, %d of a table with itself, %d by groups"
          % (SEED, JOINS, joined, selves, grouped))
    equal_all("generated joins have the rows of a nested loop", rows)
    check("most of them were run by the node", joined > 0.6 * JOINS and selves > 0.05 * JOINS and grouped > 0.1 * JOINS,
          (joined, selves, grouped))


def outcome(conn, settings, target, query):
    """The rows that a statement returns and those that it leaves behind, or its SQLSTATE. It is undone."""
    under(conn, settings)
    try:
        with conn.transaction(force_rollback=True):
            cur = conn.execute(query)
            rows = sorted(map(repr, cur.fetchall())) if cur.description else []
            return rows, cur.rowcount, sorted(map(repr, conn.execute("SELECT tableoid, a.* FROM %s a" % target)))
    except psycopg.Error as e:
        return e.sqlstate


def changes(conn):
    rng, name = random.Random(SEED), conn.info.dbname
    targets = ("docs", "parts", "family", "parts", "family")
    conn.execute("CREATE TABLE few AS SELECT i AS id FROM generate_series(1, 2) i; ANALYZE few")
    if one(conn, "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'"):
        conn.execute(random_joins.FOREIGN % (os.environ.get("PGHOST", ""), os.environ.get("PGPORT", "5432"), name))
        conn.execute("INSERT INTO mixed SELECT * FROM docs; ANALYZE mixed")
        targets += ("mixed", "mixed")
    else:
        skip("no postgres_fdw here: no foreign partitions")
    rows, joined, errors = [], dict.fromkeys(targets, 0), 0
    for i in range(CHANGES):
        target, query = random_joins.change(rng, targets)
        want = outcome(conn, "neardup.enable_join = off", target, query)
        settings = "; ".join(s for s in (MODES["forced" if i % 3 else "as the costs say"], rng.choice(LIMITS)) if s)
        rows.append(("%s: %s" % (settings, query), outcome(conn, settings, target, query), want))
        errors += isinstance(want, str)
        try:
            joined[target] += any(
                "Similarity Join" in str(conn.execute("EXPLAIN (%s) %s" % (form, query)).fetchall()) for form in FORMS)
        except psycopg.Error as e:
            rows.append(("EXPLAIN of " + query, "%s %s" % (e.sqlstate, e),
                         None if not isinstance(want, str) else "%s %s" % (e.sqlstate, e)))
    print("# NEARDUP_SEED=%d: %d changes, with an error %d, by the node %s" % (SEED, CHANGES, errors, joined))
    equal_all("changes by generated joins are those of a nested loop, and EXPLAIN shows them", rows)
    check(
        "most of them were made by the node",
        all(n > 0.3 * CHANGES * targets.count(t) / len(targets) for t, n in joined.items()) and errors < 0.4 * CHANGES,
        (joined, errors))


def rows_with_themselves(conn):
    """A table joined with itself, each way of comparing a column of both sides: whether a row is a partner of
    itself."""
    rows, selves = [], 0
    for operator in ("<", "<=", "=", ">=", ">", "<>"):
        query = "SELECT a.id, b.id FROM docs a JOIN docs b ON jaccard(a.sig, b.sig) >= 0.8 AND a.id %s b.id" % operator
        want = answer(conn, "neardup.enable_join = off", query)
        rows.append((query, answer(conn, MODES["forced"], query), want))
        selves += "Self Join" in str(conn.execute("EXPLAIN " + query).fetchall())
    equal_all("rows and themselves", rows)
    check("some are read once", selves >= 2, selves)


def statements(conn):
    """DML, cursors, prepared statements, rescans: as with a nested loop."""
    on = "jaccard(a.sig, b.sig) >= 0.8 AND a.id > b.id"
    results = {}
    for mode in ("off", "on"):
        conn.execute("RESET ALL; SET neardup.enable_join = %s" % mode)
        if mode == "on":
            conn.execute("SET enable_nestloop = off")
        out = []
        for dml in ("DELETE FROM docs a USING docs b WHERE %s RETURNING a.id" % on,
                    "UPDATE docs a SET tenant = b.tenant + 10 FROM docs b WHERE %s AND NOT EXISTS (SELECT FROM docs c "
                        "WHERE c.id < b.id AND jaccard(a.sig, c.sig) >= 0.8) AND a.ctid <> b.ctid RETURNING a.id" % on,
                    "DELETE FROM docs a WHERE EXISTS (SELECT FROM docs b WHERE %s) RETURNING a.id" % on) + (
                ("MERGE INTO docs a USING (SELECT DISTINCT ON (sig::text) * FROM docs ORDER BY sig::text, id) b ON %s "
                 "WHEN MATCHED AND a.id %% 2 = 0 THEN DELETE" % "jaccard(a.sig, b.sig) = 1 AND a.id > b.id",)
                if server_version() >= 150000 else ()):
            with conn.transaction(force_rollback=True):
                cur = conn.execute(dml)
                out.append(sorted(cur.fetchall()) if cur.description else cur.rowcount)
        conn.execute("PREPARE near(float8) AS SELECT a.id, b.id FROM docs a JOIN docs b "
                     "ON jaccard(a.sig, b.sig) >= $1; SET plan_cache_mode = force_generic_plan")
        out += [sorted(conn.execute("EXECUTE near(%s)" % bound).fetchall())
                for bound in ("0.9", "0.5", "NULL", "'NaN'", "2", "-1", "0.95")]
        conn.execute("DEALLOCATE near")
        out.append(
            sorted(conn.execute("SELECT d.id, (SELECT count(*) FROM docs a JOIN docs b ON jaccard(a.sig, b.sig) >= 0.5 "
                                "+ d.id / 500.0 WHERE a.id <> b.id) FROM docs d WHERE d.id % 60 = 3").fetchall()))
        out.append(sorted(conn.execute(
            "SELECT d.id, x.n FROM docs d, LATERAL (SELECT count(*) AS n FROM docs a JOIN docs b "
            "ON jaccard(a.sig, b.sig) >= 0.8 WHERE a.tenant = d.tenant) x WHERE d.id % 50 = 1").fetchall()))
        results[mode] = out
    equal_all(
        "statements and rescans", [(n, got, want) for n, (got, want) in enumerate(zip(results["on"], results["off"]))])
    with conn.transaction():
        conn.execute("DECLARE c CURSOR FOR SELECT a.id, b.id FROM docs a JOIN docs b ON jaccard(a.sig, b.sig) >= 0.5")
        equal("a cursor that stops after ten rows", len(conn.execute("FETCH 10 FROM c").fetchall()), 10)


def rescans(conn):
    """A rescan for which nothing has changed repeats the result, and reads nothing again; one for other parameters
    finds anew."""
    conn.execute("RESET ALL; SET neardup.enable_join = off")
    join = "SELECT a.id AS x, b.id AS y FROM %s a JOIN docs b ON jaccard(a.sig, b.sig) >= 0.8%s OFFSET 0"
    again = "SELECT g, x, y FROM generate_series(1, 5) g LEFT JOIN (%s) j ON j.x %% 7 >= g"
    changed = "SELECT g, x, y FROM generate_series(1, %d) g, LATERAL (%s) j"
    queries = [again % (join % (table, further)) for table in ("docs", "parts")
               for further in ("", " AND a.tenant = b.tenant")]
    queries.append(changed % (8, join % ("docs", " AND a.tenant = g % 4")))
    want = [sorted(map(repr, conn.execute(query))) for query in queries]
    for memory in ("64kB", "4MB"):
        conn.execute("RESET ALL; SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off; "
                     "SET work_mem = '%s'" % memory)
        conn.execute("SET cpu_operator_cost = 100")  # so that the join is made by the node
        equal_all("rescans in %s" % memory,
                  [(query, sorted(map(repr, conn.execute(query))), rows) for query, rows in zip(queries, want)])
        for query in queries[:-1]:
            plan = "\n".join(
                r[0] for r in conn.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) " + query))
            check("a rescan reads nothing again: %s" % query[-60:],
                  re.search(r"Similarity Join\) \(actual rows=\S+ loops=5\)", plan) and re.search(
                      r"Scan on docs \w+ \(actual rows=\S+ loops=1\)", plan), plan)
    bytes_at = ("SELECT (SELECT sum(total_bytes) + 0 * g FROM pg_backend_memory_contexts), count(*) "
                "FROM generate_series(1, 1000) g, LATERAL (%s) j GROUP BY g ORDER BY g"
                % (join % ("docs", " AND a.tenant = g % 4 AND a.id < 40")))
    held = [int(row[0]) for row in conn.execute(bytes_at)]
    check("1,000 rescans hold no more memory than ten", max(held[10:]) < max(held[:10]) + 200_000,
          (max(held[:10]), max(held[10:])))


def without_signatures(conn):
    """A side that has rows, but no signature, or no rows at all."""
    conn.execute(
        "RESET ALL; CREATE TABLE blank (id int, sig minhash); "
        "CREATE TABLE near_words AS SELECT i AS id, to_minhash('some words that are near one another ' || i % 5) AS "
        "sig FROM generate_series(1, 50) i; ANALYZE blank; ANALYZE near_words; SET enable_nestloop = off")
    for what, fill_it in (("no rows", "SELECT 1"),
                          ("NULL", "INSERT INTO blank SELECT i, NULL FROM generate_series(1, 5) i"),
                          ("of no words", "UPDATE blank SET sig = to_minhash('...')")):
        conn.execute(fill_it)
        rows = []
        for join in ("near_words a JOIN blank b", "blank a JOIN near_words b", "near_words a LEFT JOIN blank b",
                     "blank a LEFT JOIN near_words b"):
            rows.append((join, one(conn, "SELECT count(*) FROM %s ON jaccard(a.sig, b.sig) >= 0.8" % join),
                         0 if "LEFT" not in join else 50 if join.startswith("near") else 0 if what == "no rows" else 5))
        for x, y in (("near_words", "blank"), ("blank", "near_words")):
            rows.append((x, one(conn, "SELECT count(*) FROM %s a WHERE EXISTS (SELECT FROM %s b "
                                "WHERE jaccard(a.sig, b.sig) >= 0.8)" % (x, y)), 0))
            rows.append((x, one(conn, "SELECT count(*) FROM %s a WHERE NOT EXISTS (SELECT FROM %s b "
                                      "WHERE jaccard(a.sig, b.sig) >= 0.8)" % (x, y)),
                         one(conn, "SELECT count(*) FROM " + x)))
        equal_all("one side has no signature: %s" % what, rows)


def groups(conn):
    """Equality conditions are groups: signatures need to be alike within a group only."""
    conn.execute("RESET ALL; CREATE TABLE kinds AS SELECT d.id, k AS kind, 'x' || k AS name, to_minhash(d.body, k, "
                 "num_perm => 32 * k) AS sig FROM docs d, generate_series(2, 5) k; ANALYZE kinds")
    queries = ["SELECT a.id, b.id, a.kind FROM kinds a %s JOIN kinds b ON a.kind = b.kind "
               "AND jaccard(a.sig, b.sig) >= 0.8%s" % (kind, further) for kind in ("", "LEFT") for further in (
        "", " AND a.id < b.id", " AND a.name = b.name", " AND a.kind + 0 = b.kind + 0")]
    queries += ["SELECT a.id, a.kind FROM kinds a WHERE %s (SELECT FROM kinds b WHERE a.name = b.name AND a.id <> b.id "
                "AND jaccard(a.sig, b.sig) >= 0.8)" % kind for kind in ("EXISTS", "NOT EXISTS")]
    semi = queries[-2:]
    conn.execute("SET neardup.enable_join = off")
    want = [sorted(map(repr, conn.execute(query))) for query in queries]
    conn.execute("RESET ALL; SET enable_nestloop = off; SET enable_hashjoin = off; SET enable_mergejoin = off")
    for memory in ("64kB", "4MB"):
        conn.execute("SET work_mem = '%s'" % memory)
        equal_all("groups with parameters of their own, %s" % memory,
                  [(query, sorted(map(repr, conn.execute(query))), rows) for query, rows in zip(queries, want)])
    # values that are computed, and live no longer than the row; two keys of one hash, with signatures of their own
    queries = ["SELECT a.id, b.id FROM docs a JOIN docs b ON a.id + 0 = b.id "
                   "AND jaccard(to_minhash(a.body, 2, 'word', 64 + 64 * (a.id % 2)), to_minhash(b.body, 2, 'word', "
                   "64 + 64 * (b.id % 2))) >= 0.9",
               "SELECT a.k, b.id FROM (SELECT CASE WHEN id % 2 = 0 THEN 2775 ELSE 131913 END AS k, kind, id, sig "
                   "FROM kinds WHERE kind = 2 + id % 2) a JOIN (SELECT CASE WHEN id % 2 = 0 THEN 2775 "
                   "ELSE 131913 END AS k, id, sig FROM kinds WHERE kind = 2 + id % 2) b "
                   "ON a.k = b.k AND jaccard(a.sig, b.sig) >= 0.8"]
    equal("two keys of one hash", one(conn, "SELECT hashint4(2775) = hashint4(131913)"), True)
    conn.execute("SET neardup.enable_join = off; RESET enable_hashjoin")
    want = [sorted(map(repr, conn.execute(query))) for query in queries]
    conn.execute("RESET neardup.enable_join; SET enable_hashjoin = off")
    equal_all("groups of values that are computed, of keys with one hash",
              [(query, sorted(map(repr, conn.execute(query))), rows) for query, rows in zip(queries, want)])
    conn.execute("PREPARE grouped(float8) AS SELECT count(*) FROM kinds a JOIN kinds b ON a.kind = b.kind "
                 "AND jaccard(a.sig, b.sig) >= $1; PREPARE mixed(float8) AS SELECT count(*) FROM kinds a JOIN kinds b "
                 "ON a.kind / 4 = b.kind / 4 AND jaccard(a.sig, b.sig) >= $1; SET plan_cache_mode = force_generic_plan")
    bounds = ("0.8", "0", "-1", "2", "NULL", "'NaN'")
    got = [(one(conn, "EXECUTE grouped(%s)" % b), sql_error(conn, "EXECUTE mixed(%s)" % b) is not None) for b in bounds]
    conn.execute("DEALLOCATE ALL; RESET plan_cache_mode; SET neardup.enable_join = off; RESET enable_hashjoin")
    equal(
        "bounds at run time", got,
        [(one(conn, "SELECT count(*) FROM kinds a JOIN kinds b ON a.kind = b.kind AND jaccard(a.sig, b.sig) >= %s" % b),
          True) for b in bounds])
    conn.execute("RESET neardup.enable_join; SET enable_hashjoin = off")
    plan = [r[0] for r in conn.execute(
        "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT a.id, b.id FROM kinds a JOIN kinds b "
        "ON a.kind = b.kind AND jaccard(a.sig, b.sig) >= 0.8 AND a.id < b.id")]
    equal("EXPLAIN of groups", [line.strip() for line in plan if "Cond:" in line or "Filter:" in line],
          ["Similarity Cond: (jaccard(a.sig, b.sig) >= '0.8'::double precision)", "Group Cond: (a.kind = b.kind)",
           "Join Filter: (a.id < b.id)"])
    conn.execute("RESET ALL")
    for query in semi:
        check("by cost the node runs, where a hash join would check each pair of a group: %s" % query[30:50],
              "Similarity Join" in str(conn.execute("EXPLAIN " + query).fetchall()))
    conn.execute("SET enable_nestloop = off; SET enable_hashjoin = off; SET enable_mergejoin = off")
    fails("signatures made differently in one group", conn,
          "SELECT FROM kinds a JOIN kinds b ON a.kind / 4 = b.kind / 4 AND jaccard(a.sig, b.sig) >= 0.8",
          text="made differently")
    equal("signatures made differently in one group, but never compared",
          one(conn, "SELECT count(*) > 0 FROM kinds a JOIN kinds b ON a.kind / 4 = b.kind / 4 AND a.kind = b.kind "
                    "AND jaccard(a.sig, b.sig) >= 0.8"), True)


def order_and_plans(conn):
    conn.execute("RESET ALL; SET enable_nestloop = off")
    def plan(query, form=""):
        return "\n".join(str(r[0]) for r in conn.execute("EXPLAIN (COSTS OFF%s) %s" % (form, query)))
    base = "SELECT a.id, b.id FROM docs a %s JOIN docs b ON jaccard(a.sig, b.sig) >= 0.8 AND a.id < b.id"
    equal("EXPLAIN", plan(base % ""), """Custom Scan (Similarity Join)
  Join Type: Inner
  Similarity Cond: (jaccard(a.sig, b.sig) >= '0.8'::double precision)
  Join Filter: (a.id < b.id)
  Self Join: true
  ->  Seq Scan on docs a""")
    equal("EXPLAIN of two tables", plan((base % "").replace("docs b", "seen b")), """Custom Scan (Similarity Join)
  Join Type: Inner
  Similarity Cond: (jaccard(a.sig, docs.sig) >= '0.8'::double precision)
  Join Filter: (a.id < docs.id)
  ->  Seq Scan on docs a
  ->  Seq Scan on docs
        Filter: (tenant < 3)""")
    for what, query in (("other conditions",
                         "SELECT a.id FROM docs a JOIN docs b ON jaccard(a.sig, b.sig) >= 0.8 WHERE a.tenant = 1"),
                        ("another value",
                         "SELECT a.id FROM docs a JOIN docs b ON jaccard(a.sig, to_minhash(b.body)) >= 0.8"),
                        ("another table", "SELECT a.id FROM docs a JOIN parts_0 b ON jaccard(a.sig, b.sig) >= 0.8"),
                        ("partitions", "SELECT a.id FROM parts a JOIN parts b ON jaccard(a.sig, b.sig) >= 0.8"),
                        ("locked rows",
                         "SELECT a.id FROM docs a JOIN docs b ON jaccard(a.sig, b.sig) >= 0.8 FOR UPDATE OF a"),
                        ("DELETE",
                         "DELETE FROM docs a USING docs b WHERE jaccard(a.sig, b.sig) >= 0.8 AND a.id > b.id"),
                        ("a volatile condition", "SELECT a.id FROM docs a JOIN docs b ON jaccard(a.sig, b.sig) >= 0.8 "
                                                     "WHERE random() * a.id >= 0 AND random() * b.id >= 0")):
        check("no self-join: " + what, "Similarity Join" in plan(query) and "Self Join" not in plan(query), plan(query))
    for form in ("JSON", "YAML", "XML"):
        check("EXPLAIN %s" % form, "Similarity Cond" in plan(base % "LEFT", ", FORMAT " + form).replace(
            "-", " ").replace("Similarity Cond", "Similarity Cond"))
    analyzed = plan(base % "", ", ANALYZE, TIMING OFF, SUMMARY OFF")
    check("EXPLAIN ANALYZE has counts",
          all(x in analyzed for x in ("Outer Rows: ", "Inner Rows: ", "Pairs Compared: ", "Pairs Found: ",
                                      "Engine Memory: ")), analyzed)
    for what, query in (("FULL", base % "FULL"),
                        ("a bound of a row",
                         "SELECT FROM docs a JOIN docs b ON jaccard(a.sig, b.sig) >= a.tenant / 10.0"),
                        ("a volatile bound", "SELECT FROM docs a JOIN docs b ON jaccard(a.sig, b.sig) >= random()"),
                        ("one side only", "SELECT FROM docs a JOIN docs b ON jaccard(a.sig, a.sig) >= 0.8"),
                        ("OR", "SELECT FROM docs a JOIN docs b ON jaccard(a.sig, b.sig) >= 0.8 OR a.id = b.id"),
                        ("far values", "SELECT FROM docs a JOIN docs b ON jaccard(a.sig, b.sig) <= 0.8"),
                        ("a volatile value", "SELECT FROM docs a JOIN docs b ON jaccard(CASE WHEN random() < 2 "
                                                 "THEN a.sig END, b.sig) >= 0.8")):
        check(
            "no node: " + what, sql_error(conn, "EXPLAIN " + query) is not None or "Similarity Join" not in plan(query))
    conn.execute("RESET ALL; SET neardup.enable_join = off")
    check("no node: neardup.enable_join = off", "Similarity Join" not in plan(base % ""))
    conn.execute("RESET ALL")


def sets_with_null(conn):
    """A set with a NULL element raises its error for a pair that is compared, and only for such a pair."""
    conn.execute("RESET ALL; CREATE TABLE broken AS SELECT i AS id, CASE WHEN i = 7 THEN '{1,NULL}' "
                 "ELSE ARRAY[i / 2, 5, 6, 7] END::int[] AS s FROM generate_series(1, 20) i; ANALYZE broken")
    queries = ["SELECT a.id, b.id FROM broken a JOIN broken b ON containment_exact(a.s, b.s) >= 0.9%s AND a.id <> 7 "
               "AND b.id <> 7" % further for further in ("", " AND a.id % 3 = b.id % 3")]
    conn.execute("SET neardup.enable_join = off")
    want = [sorted(conn.execute(query).fetchall()) for query in queries]
    conn.execute("RESET ALL; SET enable_nestloop = off; SET enable_hashjoin = off; SET enable_mergejoin = off")
    equal("sets with NULL, never compared",
          [sorted(conn.execute(query.replace("broken a", "(SELECT * FROM broken OFFSET 0) a")).fetchall())
           for query in queries], want)
    fails("sets with NULL, compared", conn,
          "SELECT a.id, b.id FROM broken a JOIN broken b ON containment_exact(a.s, b.s) >= 0.9",
          text="element 2 of the set is NULL")
    equal("sets with NULL beside none",
          one(conn, "SELECT count(*) FROM broken a JOIN (SELECT * FROM broken WHERE id < 0) b "
                    "ON containment_exact(a.s, b.s) >= 0.9"), 0)


def bit_strings_that_are_no_codes(conn):
    """Bit strings of fewer than 64 bits, and of other lengths, raise their errors for pairs that are compared, and only
    for such pairs. A bound that all codes are within."""
    conn.execute(
        "RESET ALL; CREATE TABLE odd AS SELECT i AS id, CASE WHEN i = 7 THEN B'0101' WHEN i = 9 "
        "THEN repeat('1', 80)::bit(80) ELSE (i / 2)::bit(70) END AS code FROM generate_series(1, 20) i; ANALYZE odd")
    joined = "SELECT a.id, b.id FROM %s JOIN odd b ON bit_hamming(a.code, b.code) <= %d%s"
    queries = [joined % ("(SELECT * FROM odd OFFSET 0) a", bound,
                         " AND a.id NOT IN (7, 9) AND b.id NOT IN (7, 9)" + further) for bound in (
        1, 70, 500) for further in ("", " AND a.id % 3 = b.id % 3")]
    conn.execute("SET neardup.enable_join = off")
    want = [sorted(conn.execute(query).fetchall()) for query in queries]
    conn.execute("RESET ALL; SET enable_nestloop = off; SET enable_hashjoin = off; SET enable_mergejoin = off")
    equal("odd bit strings, never compared", [sorted(conn.execute(query).fetchall()) for query in queries], want)
    check(
        "by the node", all("Similarity Join" in str(conn.execute("EXPLAIN " + query).fetchall()) for query in queries))
    fails("bit strings of different lengths, compared", conn, joined % ("odd a", 1, ""),
          text="cannot compare bit strings of different lengths", state="22026")
    fails("bit strings that are too short, compared", conn, joined % ("odd a", 1, " AND a.id = 7 AND b.id = 7"),
          text="a bit string must have 64 to 4096 bits to be compared: this one has 4", state="22023")
    fails("the same in groups", conn, joined % ("odd a", 1, " AND a.id % 3 = b.id % 3"),
          text="cannot compare bit strings of different lengths", state="22026")
    conn.execute("DROP TABLE odd; CREATE TABLE codes AS SELECT i AS id, i::bit(64) AS code "
                 "FROM generate_series(1, 20) i; ANALYZE codes")
    for bound, by_engine in ((63, True), (64, False), (100, False)):
        plan = str(conn.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT FROM codes a JOIN codes b "
                                "ON bit_hamming(a.code, b.code) <= %d" % bound).fetchall())
        equal("codes of 64 bits within %d: the engine compares pairs" % bound,
              ("Similarity Join" in plan, "Pairs Compared: 0'" not in plan), (True, by_engine))
    conn.execute("DROP TABLE codes")


def plans_of_sets(conn):
    """A row of a large set costs more than one of a small set: few rows search the index, many are joined, whatever the
    sets' sizes."""
    conn.execute("""RESET ALL; SET max_parallel_workers_per_gather = 0;
        CREATE TABLE large_sets AS SELECT i AS id, ARRAY(SELECT (i * 7919::bigint + j * j) % 1000003
          FROM generate_series(1, 200) j) AS s FROM generate_series(1, 5000) i;
        CREATE TABLE few_sets AS SELECT * FROM large_sets WHERE id % 250 = 1; CREATE INDEX ON large_sets USING lsh (s);
          ANALYZE large_sets; ANALYZE few_sets""")
    for measure in ("jaccard_exact(a.s, b.s)", "containment_exact(a.s, b.s)", "containment_exact(b.s, a.s)"):
        for few, wanted in (("few_sets", "Index Scan"), ("large_sets", "Similarity Join")):
            plan = str(
                conn.execute("EXPLAIN SELECT * FROM %s a JOIN large_sets b ON %s >= 0.8" % (few, measure)).fetchall())
            check("%s with large_sets by %s: %s" % (few, measure, wanted), wanted in plan, plan)
    conn.execute("DROP TABLE large_sets, few_sets")


def first_query(conn):
    """A session that has not loaded the library yet: the node is considered by its first query."""
    for query in ("SELECT FROM docs a JOIN docs b ON jaccard(a.sig, b.sig) >= 0.8",
                  "SELECT FROM docs a JOIN docs b ON a.sig % b.sig",
                  "SELECT FROM docs a JOIN docs b ON hamming(a.hash, b.hash) <= 3",
                  "SELECT FROM docs a JOIN docs b ON ctph_edit_rate(a.digest, b.digest) <= 0.1",
                  "SELECT FROM docs a JOIN docs b ON jaccard_exact(a.small, b.small) >= 0.5",
                  "SELECT FROM docs a JOIN docs b ON containment_exact(a.large, b.large) >= 0.5",
                  "SELECT FROM docs a JOIN docs b ON overlap_exact(a.small, b.small) >= 20",
                  "SELECT FROM docs a JOIN docs b ON bit_hamming(a.code, b.code) <= 20",
                  "SELECT FROM docs a LEFT JOIN docs b ON bit_hamming_at_most(a.code, b.code, 20)",
                  "SELECT FROM docs a WHERE EXISTS (SELECT FROM seen b WHERE jaccard_at_least(a.sig, b.sig, 0.8))"):
        with connect(conn.info.dbname) as fresh:
            check("the first query of a session: %s" % query,
                  "Similarity Join" in str(fresh.execute("EXPLAIN " + query).fetchall()))


def security(conn):
    """Row security: a leaky condition sees no hidden row; signatures that differ raise no error about one."""
    conn.execute("RESET ALL; CREATE ROLE join_reader; GRANT SELECT ON docs, guarded TO join_reader")
    try:
        conn.execute(
            "ALTER TABLE docs ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON docs TO join_reader USING (tenant = 2)")
        conn.execute("CREATE FUNCTION leak(int, int) RETURNS boolean LANGUAGE plpgsql COST 0.001 AS $$BEGIN INSERT "
                     "INTO leaked VALUES ($1), ($2); RETURN true; END$$; CREATE TABLE leaked (id int); "
                     "GRANT INSERT, SELECT, DELETE ON leaked TO join_reader")
        conn.execute("INSERT INTO docs (id, tenant, sig) VALUES (1000, 3, to_minhash('made with other parameters', 5))")
        conn.execute("SET ROLE join_reader; SET enable_nestloop = off")
        check("row security: the node runs", "Similarity Join" in str(
            conn.execute("EXPLAIN SELECT FROM docs a JOIN docs b ON jaccard(a.sig, b.sig) >= 0.8").fetchall()))
        found = conn.execute(
            "SELECT a.id, b.id FROM docs a JOIN docs b ON jaccard(a.sig, b.sig) >= 0.8 AND leak(a.id, b.id)").fetchall()
        equal("row security: a leaky condition sees visible rows only",
              one(conn, "SELECT count(*) FROM leaked l WHERE NOT EXISTS (SELECT FROM docs d WHERE d.id = l.id)"), 0)
        check("row security: rows are found", len(found) > 0)
        conn.execute("RESET ROLE; DELETE FROM leaked")
        fails("signatures made differently: the error names both", conn,
              "SELECT FROM docs a JOIN docs b ON jaccard(a.sig, b.sig) >= 0.8", text="made differently")
        equal("signatures made differently, but never compared",
              one(conn, "SELECT count(*) > 0 FROM docs a JOIN docs b ON jaccard(a.sig, b.sig) >= 0.8 AND a.id < 1000 "
                        "AND b.id < 1000"), True)
    finally:
        conn.execute("RESET ROLE; RESET ALL; DELETE FROM docs WHERE id = 1000; DROP POLICY IF EXISTS p ON docs; "
                     "ALTER TABLE docs DISABLE ROW LEVEL SECURITY; DROP OWNED BY join_reader; DROP ROLE join_reader")


def cancelled(conn):
    """Cancels at random moments leave nothing behind; the backend goes on."""
    conn.execute("RESET ALL; CREATE TABLE many AS SELECT i AS id, set_minhash(ARRAY(SELECT (i / 3) * 1000::bigint + e "
                 "FROM generate_series(1, 40) e), 128) AS sig FROM generate_series(1, 20000) i; ANALYZE many; "
                 "SET enable_nestloop = off; SET work_mem = '1MB'")
    pid, rng, ended = one(conn, "SELECT pg_backend_pid()"), random.Random(SEED), 0
    query = "SELECT count(*) FROM many a JOIN many b ON jaccard(a.sig, b.sig) >= 0.9"
    begin = time.monotonic()
    total = one(conn, query)
    whole = time.monotonic() - begin
    with connect(conn.info.dbname) as other:
        for _ in range(40 if FULL else 12):
            timer = threading.Timer(
                rng.uniform(0, whole), lambda: other.execute("SELECT pg_cancel_backend(%s)", (pid,)))
            timer.start()
            try:
                conn.execute(query)
            except psycopg.errors.QueryCanceled:
                ended += 1
            try:
                timer.join()
                conn.execute("SELECT 1")
            except psycopg.errors.QueryCanceled:
                pass
        equal("after cancels the rows are the same", one(conn, query), total)
        equal("no temporary file is left", one(other, "SELECT count(*) FROM pg_ls_tmpdir()"), 0)
    check("some were cancelled", ended > 0, ended)
    conn.execute("RESET ALL; SET enable_nestloop = off")
    held = one(conn, "SELECT sum(total_bytes) FROM pg_backend_memory_contexts")
    for _ in range(30):
        conn.execute(query)
    check("no memory is left behind",
          one(conn, "SELECT sum(total_bytes) FROM pg_backend_memory_contexts") < held + 2_000_000)


@contextlib.contextmanager
def two_transactions(name):
    with connect(name, autocommit=False) as first, connect(name, autocommit=False) as second:
        yield first, second


def concurrent(conn):
    """Rows that another transaction changes meanwhile are evaluated again, as with a nested loop."""
    conn.execute(
        "RESET ALL; CREATE TABLE pairs AS SELECT i AS id, 0 AS n, set_minhash(ARRAY(SELECT (i / 2) * 1000::bigint + e "
        "FROM generate_series(1, 40) e)) AS sig FROM generate_series(1, 100) i; ANALYZE pairs; "
        "CREATE TABLE pair_parts (LIKE pairs) PARTITION BY HASH (id); "
        "CREATE TABLE pair_parts_0 PARTITION OF pair_parts FOR VALUES WITH (MODULUS 2, REMAINDER 0); "
        "CREATE TABLE pair_parts_1 PARTITION OF pair_parts FOR VALUES WITH (MODULUS 2, REMAINDER 1); "
        "INSERT INTO pair_parts TABLE pairs; ANALYZE pair_parts")
    on = "jaccard(x.sig, y.sig) >= 0.8 AND x.id <> y.id"
    statements = ("UPDATE pairs x SET n = x.n + 1 FROM pairs y WHERE %s AND x.n < 50 RETURNING x.id, x.n" % on,
                  "DELETE FROM pairs x USING pairs y WHERE %s AND x.n < 50 RETURNING x.id, x.n" % on,
                  "SELECT x.id, x.n, y.id FROM pairs x JOIN pairs y ON %s WHERE x.n < 50 FOR UPDATE OF x" % on)
    rows = []
    for statement, table in [(s, t) for t in ("pairs", "pair_parts") for s in statements]:
        statement = statement.replace("pairs", table)
        for change in (100, 2):  # after it the condition is false, or still true
            found = {}
            for mode in ("on", "off"):
                with two_transactions(conn.info.dbname) as (first, second):
                    second.execute(
                        "SET neardup.enable_join = %s" % mode + ("; SET enable_nestloop = off" if mode == "on" else ""))
                    pid = one(second, "SELECT pg_backend_pid()")
                    first.execute("UPDATE " + table + " SET n = n + %s WHERE id IN (10, 11, 50)", (change,))
                    thread = Thread(
                        target=lambda: found.__setitem__(mode, sorted(second.execute(statement).fetchall())))
                    thread.start()
                    end = time.monotonic() + 20
                    while not one(
                            conn, "SELECT cardinality(pg_blocking_pids(%s)) > 0", (pid,)) and time.monotonic() < end:
                        time.sleep(0.01)
                    first.commit()
                    thread.join()
                    second.rollback()
                    conn.execute("UPDATE %s SET n = 0 WHERE n > 0" % table)
            rows.append(("%s %s, %d" % (statement[:6], table, change), found["on"], found["off"]))
    equal_all("rows that change meanwhile", rows)


def keys_of_two_types(conn):
    """Each equality of two types that PostgreSQL can hash, whichever side the condition names first."""
    pairs = conn.execute(
        "SELECT DISTINCT amoplefttype::regtype::text, amoprighttype::regtype::text FROM pg_amop JOIN pg_am a "
        "ON a.oid = amopmethod WHERE amname = 'hash' AND amoplefttype <> amoprighttype ORDER BY 1, 2").fetchall()
    check("real and double precision are among them",
          {("real", "double precision"), ("double precision", "real")} <= set(pairs), pairs)
    columns = {t: t.replace(" ", "_") + "_key" for pair in pairs for t in pair}
    conn.execute("RESET ALL; CREATE TABLE keyed AS SELECT i AS id, set_minhash(ARRAY[1, 2]) AS sig, %s "
                 "FROM generate_series(-20, 20) i; ANALYZE keyed"
                 % ", ".join("(i / 2)::text::%s AS %s" % pair for pair in columns.items()))
    rows = []
    for left, right in pairs:
        for x, y in ("ab", "ba"):
            for kind in ("JOIN", "LEFT JOIN"):
                query = ("SELECT a.id, b.id FROM keyed a %s keyed b ON jaccard(a.sig, b.sig) >= 0.8 AND %s.%s = %s.%s"
                         % (kind, x, columns[left], y, columns[right]))
                want = answer(conn, "neardup.enable_join = off", query)
                got = answer(conn, MODES["forced"], query)
                rows.append(
                    (query, (got, "Group Cond" in str(conn.execute("EXPLAIN " + query).fetchall())), (want, True)))
    equal_all("groups by keys of two types", rows)


def main():
    with database() as name:
        with connect(name) as conn:
            random_joins.fill(conn)
        in_copies(name, sets_with_null, bit_strings_that_are_no_codes, plans_of_sets, order_and_plans, first_query,
                  rows_with_themselves, generated, changes, statements, rescans, without_signatures, groups,
                  keys_of_two_types, security, concurrent, cancelled)


finish(main)
