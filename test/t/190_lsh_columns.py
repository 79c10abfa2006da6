#!/usr/bin/python3
"""lsh indexes of several columns: rows and queries must agree in the columns before the last. Every kind of condition
and plan against the same tables without indexes; all types, NULLs, changes, parallel builds, constraints."""
import random

from answers import expand
from plans import *
from servers import vacuumed

rng = random.Random(190)
ROWS = 12000 if FULL else 3000
EMPTY = 40 if FULL else 4  # statements of the kind that reads all rows

TYPES = {
    # Columns before the last: an expression of i that gives few values, and a value that it does not give.
    "smallint": ("(i % 7)::smallint", "9::smallint"), "int": ("i % 7", "9"),
    "bigint": ("(i % 7) * 5000000000", "9::bigint"),
    "oid": ("(i % 7)::oid", "9::oid"), "real": ("(i % 7) / 2.0::real", "9.5::real"),
    "float8": ("CASE WHEN i % 7 = 0 THEN '-0' ELSE (i % 7) / 2.0::float8 END", "'NaN'::float8"),
    "numeric": ("round((i % 7) / 4.0, i % 3 + 2)", "0.33"), "text": ("'tenant ' || i % 7", "''"),
    "varchar(20)": ("'t' || i % 7", "'x'::varchar"), "char(9)": ("'t' || i % 7", "'x'::char(9)"),
    "name": ("('t' || i % 7)::name", "'x'::name"),
    "uuid": ("md5((i % 7)::text)::uuid", "md5('x')::uuid"), "boolean": ("i % 2 = 0", "NULL::boolean"),
    "date": ("date '2026-01-01' + i % 7", "date '2020-01-01'"),
    "timestamptz": ("timestamptz '2026-01-01' + i % 7 * interval '1 hour'", "timestamptz 'infinity'"),
    "interval": ("CASE WHEN i % 2 = 0 THEN i % 7 * interval '1 month' ELSE i % 7 * interval '30 days' END",
                 "interval '9 years'"),
    "bytea": ("decode(md5((i % 7)::text), 'hex')", "''::bytea"), "inet": ("('10.0.0.' || i % 7)::inet", "'::1'::inet"),
    "jsonb": ("jsonb_build_object('t', i % 7)", "'{}'::jsonb"), "int[]": ("ARRAY[i % 7, NULL]", "'{}'::int[]"),
    "int4range": ("int4range(i % 7, 9)", "'empty'::int4range"),
    "mood": ("(ARRAY['sad', 'ok'])[1 + i % 2]::mood", "'happy'::mood"),
    "folded": ("(ARRAY['Ann', 'ann', 'Bob', 'BOB'])[1 + i % 4] COLLATE folded", "'x' COLLATE folded"),
    "small": ("(i % 7)::small", "9::small"), "pair": ("ROW(i % 7, 'x')::pair", "ROW(9, NULL)::pair"),
}
COLUMN = {"folded": "text COLLATE folded"}


def setup(name):
    with connect(name) as conn:
        conn.execute("""
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy'); CREATE DOMAIN small AS int CHECK (VALUE < 100);
  CREATE TYPE pair AS (a int, b text);
-- Families of near signatures; copies of one text in several tenants.
CREATE TABLE pool AS SELECT i AS id, i % 7 AS tenant, CASE WHEN i % 11 = 0 THEN NULL ELSE 'r' || i % 3 END AS region,
  CASE WHEN i % 13 = 1 THEN NULL WHEN i % 97 = 3 THEN set_minhash('{}'::bigint[])
       ELSE set_minhash((SELECT array_agg(CASE WHEN mod(i * 31 + e * 17, 100) < (i / 300) % 12 THEN -i * 100 - e
         ELSE (i % 150) * 1000 + e END) FROM generate_series(1, 60) e)) END AS sig,
  CASE WHEN i % 17 = 1 THEN NULL ELSE ((i % 40)::bigint << (i % 50))::simhash END AS hash,
  to_ctph(repeat(md5((i % 60)::text) || md5((i % 60 + 1)::text), 40) || i % 5) AS digest
FROM generate_series(1, %d) i""".replace("%d", str(ROWS)).replace("%%", "%"))
        for schema in ("plain", "indexed"):
            conn.execute("""
CREATE SCHEMA {s}; SET search_path = {s}, public;
CREATE TABLE doc AS SELECT * FROM pool; ALTER TABLE doc ADD PRIMARY KEY (id);
UPDATE doc SET tenant = NULL WHERE id % 19 = 5;
CREATE TABLE other AS SELECT id, tenant::bigint AS tenant, sig, hash FROM doc WHERE id % 5 = 0;
CREATE TABLE part (LIKE doc) PARTITION BY LIST (tenant);
CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1, 2, NULL); CREATE TABLE part_2 PARTITION OF part DEFAULT;
INSERT INTO part SELECT * FROM doc WHERE id % 3 = 0;
CREATE VIEW seen AS SELECT * FROM doc WHERE region <> 'r1';""".format(s=schema))
        conn.execute("""
CREATE INDEX doc_sig ON doc USING lsh (tenant, sig);
CREATE INDEX doc_region ON doc USING lsh (tenant, lower(region), sig) WITH (pending_limit = 1);
CREATE INDEX doc_hash ON doc USING lsh (tenant, hash);
CREATE INDEX doc_blocks ON doc USING lsh (region, hash simhash_ops (blocks = 6)) WHERE tenant <> 3;
CREATE INDEX doc_digest ON doc USING lsh (tenant, digest ctph_ops (max_rate = 0.1));
CREATE INDEX part_sig ON part USING lsh (tenant, sig);
CREATE INDEX other_sig ON other USING lsh (tenant, sig);""")
        for schema in ("plain", "indexed"):
            change(conn, schema, 100000)
        conn.execute("ANALYZE")


def change(conn, schema, first):
    """Pending rows, dead ones, other tenants, values that come and go."""
    conn.execute("""
SET search_path = {s}, public;
INSERT INTO doc SELECT {f} + id, tenant, region, sig, hash, digest FROM doc WHERE id % 31 = 0 AND id < 100000;
DELETE FROM doc WHERE id % 37 = 5;
UPDATE doc SET tenant = (tenant + 1) % 7 WHERE id % 41 = 6;
UPDATE doc SET sig = NULL WHERE id % 43 = 7; UPDATE doc x SET sig = y.sig FROM pool y WHERE x.id % 47 = 8
  AND y.id = x.id - 1;
UPDATE doc SET region = upper(region) WHERE id % 5 = 0;""".format(s=schema, f=first))


# * : EXPLAIN must show the index
CONDITIONS = [
    ("* tenant = 3 AND jaccard(sig, Q) >= 0.8", "doc_sig"), ("* tenant = 3 AND jaccard(sig, Q) > 0.9", "doc_sig"),
    ("* 3 = tenant AND Q %% sig", "doc_sig"), ("* tenant = 3::bigint AND jaccard_at_least(sig, Q, 0.75)", "doc_sig"),
    ("* tenant = 3::smallint AND sig %> with_threshold(Q, 0.8)", "doc_sig"),
    ("* tenant IN (1, 3, 5) AND jaccard(sig, Q) >= 0.8", "doc_sig"),
    ("* tenant = ANY ('{2,NULL}') AND jaccard(sig, Q) >= 0.8", "doc_sig"),
    ("* tenant = 3 AND tenant = id % 7 AND jaccard(sig, Q) >= 0.8", "doc_sig"),
    ("* (tenant = 3 OR tenant = 4) AND jaccard(sig, Q) >= 0.8", "doc_sig"),
    ("* tenant = 3 AND jaccard(sig, Q) >= 0.8 AND jaccard(sig, R) >= 0.1", "doc_sig"),
    ("* tenant = (SELECT 3) AND jaccard(sig, Q) >= 0.8", "doc_sig"),
    ("* tenant = 3 AND lower(region) = 'r1' AND jaccard(sig, Q) >= 0.8", "doc_"),
    ("tenant = 3.0 AND jaccard(sig, Q) >= 0.8", None), ("tenant = 3 AND jaccard(sig, Q) >= 0.2", None),
    ("jaccard(sig, Q) >= 0.8", None), ("tenant = 3", None), ("tenant IS NULL AND jaccard(sig, Q) >= 0.8", None),
    ("tenant = NULL AND jaccard(sig, Q) >= 0.8", None), ("tenant > 3 AND jaccard(sig, Q) >= 0.8", None),
    ("tenant = 3 AND sig IS NULL", None), ("tenant = 3 AND jaccard(sig, Q) < 0.8", None),
    ("tenant = 99 AND jaccard(sig, Q) >= 0.8", None), ("tenant = 3 AND jaccard(sig, NULL) >= 0.8", None),
    ("lower(region) = 'r1' AND jaccard(sig, Q) >= 0.8", None), ("* tenant = 3 AND hamming(hash, H) <= 3", "doc_hash"),
    ("* tenant = 3 AND hamming(hash, H) = 0", "doc_hash"), ("* tenant = 3 AND hamming(hash, H) <= 12", "doc_hash"),
    ("* region = 'r1' AND tenant <> 3 AND hamming(hash, H) <= 5", "doc_blocks"),
    ("region = 'r1' AND hamming(hash, H) <= 5", None), ("hamming(hash, H) <= 3 AND tenant IS NOT NULL", None),
    ("* tenant = 3 AND ctph_score(digest, C) >= 60", "doc_digest"),
    ("* tenant = 3 AND ctph_edit_rate(digest, C) <= 0.05", "doc_digest"),
    ("* tenant = 3 AND (jaccard(sig, Q) >= 0.8 OR hamming(hash, H) <= 2)", "doc_sig"),
]
QUERIES = [
    ("SELECT d.id FROM doc d WHERE {c}", True),
    ("SELECT count(*), min(id) FROM doc WHERE {c}", True),
    ("UPDATE doc SET region = 'new' WHERE {c} RETURNING id", False),
    ("SELECT id FROM seen WHERE {c}", False),
]
JOINS = [
    ("SELECT a.id, b.id FROM doc a JOIN doc b ON a.tenant = b.tenant AND a.id < b.id AND jaccard(a.sig, b.sig) >= 0.85 "
         "WHERE a.id % 9 = 0",
     "doc_sig"),
    ("SELECT o.id, d.id FROM other o JOIN doc d USING (tenant) WHERE jaccard(d.sig, o.sig) >= 0.9 AND o.id < 2000",
     "_sig"),
    ("SELECT o.id, x.id FROM other o, LATERAL (SELECT id FROM doc d WHERE d.tenant = o.tenant "
         "AND jaccard(d.sig, o.sig) >= 0.8 ORDER BY d.sig <%> o.sig, id LIMIT 2) x WHERE o.id < 1500",
     "doc_sig"),
    ("SELECT o.id FROM other o WHERE o.id < 2000 AND EXISTS (SELECT FROM doc d WHERE d.tenant = o.tenant "
         "AND d.id <> o.id AND jaccard(d.sig, o.sig) >= 0.9)",
     None),
    ("SELECT o.id FROM other o WHERE o.id < 2000 AND NOT EXISTS (SELECT FROM doc d WHERE d.tenant = o.tenant "
         "AND d.id <> o.id AND hamming(d.hash, o.hash) <= 1)",
     None),
    ("SELECT o.id, d.id FROM other o LEFT JOIN doc d ON d.tenant = o.tenant AND jaccard(d.sig, o.sig) >= 0.95 "
         "WHERE o.id < 900",
     None),
    ("SELECT id FROM part WHERE tenant = 1 AND jaccard(sig, Q) >= 0.8", "part_1_tenant_sig_idx"),
    ("SELECT id FROM part WHERE tenant = 4 AND jaccard(sig, Q) >= 0.8", "part_2_tenant_sig_idx"),
    ("SELECT a.id, b.id FROM part a JOIN part b ON a.tenant = b.tenant AND a.id < b.id "
         "AND jaccard(a.sig, b.sig) >= 0.85 WHERE a.id < 900",
     None),
]


def texts(name):
    with connect(name) as conn:
        row = conn.execute("SELECT a.sig::text, b.sig::text, a.hash::text, a.digest::text "
                           "FROM plain.doc a, plain.doc b WHERE a.id = 164 AND b.id = 314").fetchone()
    return dict(zip("QRHC", row))


def conditions(name):
    values = texts(name)
    types = {"Q": "minhash", "R": "minhash", "H": "simhash", "C": "ctph"}
    literals = {word: "'%s'::%s" % (values[word], types[word]) for word in types}
    p = Plans(name)
    turn = 0
    for condition, index in CONDITIONS:
        shown = condition.startswith("*")
        chosen = QUERIES if FULL else [QUERIES[0], QUERIES[turn % len(QUERIES)]]
        turn += 1
        for i, (query, shows) in enumerate(chosen):
            text = expand(query.format(c=condition.lstrip("* ")).replace("%%", "%"), **literals)
            changes = text.startswith("UPDATE")
            p.compare(text, index if shown and shows and i == 0 else None, before=["BEGIN"] if changes else (),
                      after=["ROLLBACK"] if changes else ())
    p.report("one table")
    for query, index in JOINS:
        p.compare(expand(query.replace("%%", "%"), **literals), index,
                  settings=list(SETTINGS) if FULL else [FORCED, "only nested loops", "as written"])
    p.report("joins and partitions")
    nearest = "SELECT sig <%> Q FROM doc WHERE tenant = {t} AND jaccard(sig, Q) >= {b} ORDER BY sig <%> Q LIMIT 5"
    for tenant in ("3", "0", "(SELECT 4)", "99"):  # 0 is what a NULL looks like
        p.compare(expand(nearest.format(t=tenant, b=0.5), **literals), None, ordered=True)
        p.compare(expand(nearest.format(t=tenant, b=0.8), **literals), ORDERED, before=["SET enable_sort = off"],
                  ordered=True)
    for plan in ("force_generic_plan", "force_custom_plan"):
        p.compare("EXECUTE found (3, '%s', 0.8)" % values["Q"], "doc_sig", before=[
            "SET plan_cache_mode = " + plan, "DEALLOCATE ALL",
            "PREPARE found (int, minhash, float8) AS SELECT id FROM doc WHERE tenant = $1 AND jaccard(sig, $2) >= $3"])
    p.report("in order, prepared")


def types(name):
    wrong, unused, n = [], [], 0
    with connect(name) as conn:
        conn.execute("SET search_path = public")
        e = sql_error(
            conn, "CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
        if e is not None:
            del TYPES["folded"]
            skip("columns under collations that take different characters for equal: %s" % e.diag.message_primary)
        for type_, (expression, missing) in TYPES.items():
            column = COLUMN.get(type_, type_)
            conn.execute("DROP TABLE IF EXISTS typed; CREATE TABLE typed (id int, t %s, sig minhash)" % column)
            conn.execute("INSERT INTO typed SELECT id, CASE WHEN id %% 23 <> 0 THEN %s END, sig "
                         "FROM (SELECT id AS i, * FROM pool WHERE id <= 1500) x" % expression)
            conn.execute("INSERT INTO typed SELECT 9999, %s, sig FROM pool WHERE id = 164" % missing)
            want = conn.execute("SELECT a.id, b.id FROM typed a JOIN typed b ON a.t = b.t AND jaccard(a.sig, b.sig) >= "
                                "0.8 ORDER BY 1, 2").fetchall()
            conn.execute("CREATE INDEX typed_sig ON typed USING lsh (t, sig); ANALYZE typed; SET enable_seqscan = off; "
                         "SET enable_hashjoin = off; SET enable_mergejoin = off; SET neardup.enable_join = off")
            query = ("SELECT a.id, b.id FROM typed a JOIN typed b ON a.t = b.t AND jaccard(a.sig, b.sig) >= 0.8 "
                     "ORDER BY 1, 2")
            plan = [r[0] for r in conn.execute("EXPLAIN (COSTS OFF) " + query)]
            got = conn.execute(query).fetchall()
            conn.execute("SELECT lsh_check('typed_sig', true); RESET ALL; SET search_path = public")
            n += len(want) > 100
            if got != want:
                wrong.append("%s: %d rows, not %d" % (type_, len(got), len(want)))
            if not any("typed_sig" in line for line in plan):
                unused.append("%s: %s" % (type_, plan))
        check("columns of %d types: joined as without an index" % len(TYPES), not wrong and n > len(TYPES) - 3,
              (wrong, n))
        check("columns of %d types: by the index" % len(TYPES), not unused, unused[:2])


def built(name):
    """The same index by insertion, by one process, by several, in little memory, concurrently, in pieces of WAL."""
    with connect(name) as conn:
        conn.execute("SET search_path = public")
        query = ("SELECT count(*), sum(a.id * b.id) FROM made a JOIN made b ON a.tenant = b.tenant AND a.id < b.id "
                 "AND jaccard(a.sig, b.sig) >= 0.8 WHERE a.id % 4 = 0")
        conn.execute("CREATE TABLE made AS SELECT id, nullif(tenant, 5) AS tenant, CASE WHEN id > 700 "
                     "THEN sig END AS sig FROM pool ORDER BY id")
        conn.execute("ALTER TABLE made SET (parallel_workers = 2)")
        conn.execute("ANALYZE made")
        want = one(
            conn, "SELECT (%s)::text" % query.replace("count(*), sum(a.id * b.id)", "ROW(count(*), sum(a.id * b.id))"))
        ways = {
            "one process":
                "SET max_parallel_maintenance_workers = 0; CREATE INDEX made_sig ON made USING lsh (tenant, sig)",
            "three":
                "SET max_parallel_maintenance_workers = 2; SET min_parallel_table_scan_size = 0; "
                "CREATE INDEX made_sig ON made USING lsh (tenant, sig)",
            "little memory":
                "SET maintenance_work_mem = '1MB'; SET max_parallel_maintenance_workers = 0; "
                "CREATE INDEX made_sig ON made USING lsh (tenant, sig)",
            "values of none":
                "CREATE TABLE none AS SELECT * FROM made; UPDATE made SET sig = NULL; "
                "CREATE INDEX made_sig ON made USING lsh (tenant, sig); "
                "UPDATE made m SET sig = n.sig FROM none n WHERE n.id = m.id; DROP TABLE none",
            "rows one by one":
                "CREATE TABLE none AS SELECT * FROM made ORDER BY id; TRUNCATE made; "
                "CREATE INDEX made_sig ON made USING lsh (tenant, sig); "
                "INSERT INTO made SELECT * FROM none ORDER BY id; DROP TABLE none",
            "dead rows of others":
                "UPDATE made SET sig = to_minhash('other') WHERE id < 50; UPDATE made SET sig = NULL WHERE id < 50; "
                "CREATE INDEX made_sig ON made USING lsh (tenant, sig)",
        }
        for way, statements in ways.items():
            for statement in statements.split("; "):
                conn.execute(statement)
            conn.execute("RESET ALL; SET search_path = public; SET enable_seqscan = off; SET enable_hashjoin = off; "
                         "SET enable_mergejoin = off; SET enable_bitmapscan = off; SET neardup.enable_join = off")
            equal("built by %s: dead rows left" % way, vacuumed(conn, "made", indexed="*"), None)
            conn.execute("SELECT lsh_check('made_sig', true)")
            got = one(
                conn,
                "SELECT (%s)::text" % query.replace("count(*), sum(a.id * b.id)", "ROW(count(*), sum(a.id * b.id))"))
            equal("built by %s" % way, got, want)
            conn.execute("DROP INDEX made_sig; RESET ALL; SET search_path = public; ANALYZE made")
        conn.execute("CREATE INDEX CONCURRENTLY made_sig ON made USING lsh (tenant, sig)")
        conn.execute("DELETE FROM made WHERE id % 3 = 0")
        equal("dead rows after VACUUM", vacuumed(conn, "made", indexed="*"), None)
        conn.execute("SELECT lsh_check('made_sig', true)")


def constraints(name):
    with connect(name) as conn, connect(name, autocommit=False) as first:
        conn.execute("SET search_path = public")
        conn.execute("CREATE TABLE article (id serial, tenant uuid, sig minhash, EXCLUDE USING lsh (tenant "
                     "WITH =, with_threshold(sig, 0.9) WITH &&))")
        put = "INSERT INTO article (tenant, sig) VALUES (md5(%s)::uuid, to_minhash(%s))"
        text = " ".join("word%d" % i for i in range(200))
        conn.execute(put, ("a", text))
        fails("a copy of one tenant is refused", conn, put, ("a", text + " end"), state="23P01")
        conn.execute(put, ("b", text + " end"))
        conn.execute(put, (None, text))
        conn.execute(put, (None, text))
        fails("an UPDATE that moves it there is refused", conn,
              "UPDATE article SET tenant = md5('a')::uuid WHERE id = (SELECT max(id) FROM article)", state="23P01")
        equal("ON CONFLICT DO NOTHING", conn.execute(put + " ON CONFLICT DO NOTHING", ("a", text)).rowcount, 0)
        # Two inserters of one tenant: the second waits for the first; of another tenant it does not.
        first.execute(put, ("c", text))
        conn.execute("SET lock_timeout = '200ms'")
        fails("who comes second waits", conn, put, ("c", text + " end"), state="55P03")
        conn.execute("SET lock_timeout = '10s'")
        conn.execute(put, ("d", text))
        first.commit()
        fails("and is refused", conn, put, ("c", text + " end"), state="23P01")
        equal("what is there", one(conn, "SELECT count(*) FROM article"), 6)
        conn.execute("SELECT lsh_check('article_tenant_with_threshold_excl', true)")


def sizes(name):
    """A tenant's query reads a tenant's entries: candidates, by EXPLAIN ANALYZE, of a text that all tenants have."""
    with connect(name) as conn:
        conn.execute("SET search_path = public")
        conn.execute("CREATE TABLE shared AS SELECT i AS id, i % 500 AS tenant, "
                     "to_minhash('every tenant sends the same notice about its terms of use and of privacy') AS "
                     "sig FROM generate_series(1, " + str(ROWS) + ") i")
        conn.execute("CREATE INDEX shared_sig ON shared USING lsh (tenant, sig); ANALYZE shared; "
                     "SET enable_seqscan = off; SET enable_bitmapscan = off; SET neardup.enable_join = off")
        plan = one(conn, "EXPLAIN (ANALYZE, FORMAT JSON) SELECT id FROM shared WHERE tenant = 77 "
                         "AND jaccard(sig, (SELECT sig FROM shared LIMIT 1)) >= 0.8")
        node = plan[0]["Plan"]
        check("a tenant's query meets a tenant's rows",
              node["Index Name"] == "shared_sig" and node["Actual Rows"] == ROWS // 500 and
              node.get("Rows Removed by Index Recheck", 0) == 0 and node.get("Rows Removed by Filter", 0) == 0, node)


def main():
    with database(options="ENCODING 'UTF8' LOCALE 'C'") as name:
        setup(name)
        sections((conditions, name), (types, name), (built, name), (constraints, name), (sizes, name))


if __name__ == "__main__":
    finish(main)
