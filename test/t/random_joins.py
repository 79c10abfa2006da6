"""Random similarity joins, and changes of tables by them, over a table with every kind of value, partitions, children
and views of it, and a foreign partition."""
import random

from harness import *

ROWS = 180
SEED = int(os.environ.get("NEARDUP_SEED", "71"))
SCHEMA = """
CREATE TABLE docs (id int, tenant int, at date, body text, sig minhash, hash simhash, digest ctph, small int[],
  large bigint[], code bit(192));
CREATE TABLE parts (LIKE docs) PARTITION BY HASH (id);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE family (LIKE docs); CREATE TABLE child (more int DEFAULT 1) INHERITS (family);
  CREATE TABLE grandchild () INHERITS (child);
CREATE VIEW seen AS SELECT * FROM docs WHERE tenant < 3;
CREATE VIEW guarded WITH (security_barrier) AS SELECT * FROM docs WHERE tenant <> 1;
"""
# A table with a foreign partition whose columns have another order; made where there is postgres_fdw.
FOREIGN = """
CREATE EXTENSION postgres_fdw; CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', port '%s',
  dbname '%s', extensions 'neardup'); CREATE USER MAPPING FOR CURRENT_USER SERVER here;
CREATE TABLE mixed (LIKE docs) PARTITION BY HASH (id);
  CREATE TABLE mixed_0 PARTITION OF mixed FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE far (LIKE docs);
CREATE FOREIGN TABLE mixed_1 (code bit(192), large bigint[], body text, id int, tenant int, at date, sig minhash,
  hash simhash, digest ctph, small int[]) SERVER here OPTIONS (table_name 'far');
ALTER TABLE mixed ATTACH PARTITION mixed_1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
"""
TABLES = ("docs", "parts", "seen", "guarded", "(SELECT * FROM docs WHERE id % 3 > 0)",
          "(SELECT * FROM parts LIMIT 150)", "(SELECT DISTINCT ON (id) * FROM docs ORDER BY id)")
# A condition of each measure, {0} and {1}: the two sides.
CONDITIONS = ("jaccard({0}.sig, {1}.sig) >= 0.8", "jaccard({0}.sig, {1}.sig) > 0.3", "{0}.sig % {1}.sig",
              "0.7 <= jaccard({1}.sig, {0}.sig)", "jaccard_at_least({0}.sig, {1}.sig, 0.9)",
              "jaccard({0}.sig, {1}.sig) = 1", "({0}.sig <%> {1}.sig) < 0.4",
              "jaccard({0}.sig, {1}.sig)::numeric >= 0.75", "jaccard(to_minhash({0}.body), {1}.sig) >= 0.6",
              "hamming({0}.hash, {1}.hash) <= 3", "hamming({0}.hash, {1}.hash) < 9", "({0}.hash <~> {1}.hash) <= 20",
              "hamming_at_most({0}.hash, {1}.hash, 6)", "ctph_edit_rate({0}.digest, {1}.digest) <= 0.1",
              "ctph_edit_rate({0}.digest, {1}.digest) < 0.3", "({0}.digest <-> {1}.digest) <= 0.2",
              "jaccard({0}.sig, {1}.sig) >= 0", "jaccard({0}.sig, {1}.sig) >= NULL::float8",
              "jaccard({0}.sig, {1}.sig) >= 'NaN'", "jaccard({0}.sig, {1}.sig) > 1",
              "hamming({0}.hash, {1}.hash) <= 64", "hamming({0}.hash, {1}.hash) <= -1",
              "jaccard({0}.sig, {1}.sig) >= (SELECT 0.5 + min(id) / 10.0 FROM docs)",
              "jaccard({0}.sig, {1}.sig) >= current_setting('neardup.jaccard_threshold')::float8",
              "ctph_edit_rate({0}.digest, {1}.digest) <= 'NaN'", "hamming({0}.hash, {1}.hash) <= 'NaN'::float8",
              "jaccard_at_least({0}.sig, {1}.sig, 1.5)", "jaccard_at_least({0}.sig, {1}.sig, 0)",
              "hamming_at_most({0}.hash, {1}.hash, -1)", "ctph_edit_rate_at_most({0}.digest, {1}.digest, -0.1)",
              "ctph_edit_rate_at_most({0}.digest, {1}.digest, 2)")
CONDITIONS += ("jaccard_exact({0}.small, {1}.small) >= 0.6", "jaccard_exact({0}.large, {1}.large) > 0.4",
               "containment_exact({0}.small, {1}.small) >= 0.7", "containment_exact({1}.large, {0}.large) >= 0.9",
               "0.5 < containment_exact({0}.large, {1}.small)", "containment_exact({0}.small, {1}.small) = 1",
               "overlap_exact({0}.small, {1}.small) >= 20", "4 < overlap_exact({0}.large, {1}.large)",
               "dice_exact({0}.small, {1}.small) >= 0.7", "0.6 < set_cosine_exact({1}.large, {0}.large)",
               "dice_exact_at_least({0}.large, {1}.large, 0.8)", "set_cosine_exact_at_least({0}.small, {1}.small, 1)",
               "dice_exact({0}.small, {1}.small) >= 0", "set_cosine_exact({0}.small, {1}.small) >= 'NaN'",
               "set_cosine_exact_at_least({0}.small, {1}.small, 1.5)",
               "jaccard_exact_at_least({0}.small, {1}.small, 0.5)",
               "containment_exact_at_least({1}.small, {0}.small, 0.8)",
               "overlap_exact_at_least({0}.large, {1}.large, 6)", "containment_exact({0}.small, {1}.small) >= 0",
               "containment_exact({0}.small, {1}.small) > 1", "overlap_exact({0}.small, {1}.small) >= 0",
               "containment_exact({0}.small, {1}.small) >= 'NaN'",
               "containment_exact_at_least({0}.small, {1}.small, 1.5)",
               "overlap_exact_at_least({0}.small, {1}.small, 0)", "overlap_exact({0}.small, {1}.small) >= 2147483647",
               "containment_exact({0}.small, {1}.small) >= current_setting('neardup.jaccard_threshold')::float8")
CONDITIONS += ("bit_hamming({0}.code, {1}.code) <= 30", "bit_hamming({0}.code, {1}.code) < 12",
               "({0}.code <-> {1}.code) <= 70", "bit_hamming_at_most({0}.code, {1}.code, 20)",
               "20.5 >= bit_hamming({1}.code, {0}.code)", "bit_hamming({0}.code, {1}.code) = 0",
               "bit_hamming({0}.code, {1}.code) <= 192", "bit_hamming({0}.code, {1}.code) <= 191",
               "bit_hamming({0}.code, {1}.code) <= 5000", "bit_hamming({0}.code, {1}.code) <= -1",
               "bit_hamming({0}.code, {1}.code) <= 'NaN'::float8", "bit_hamming({0}.code, {1}.code) <= NULL",
               "bit_hamming_at_most({0}.code, {1}.code, -1)", "bit_hamming_at_most({0}.code, {1}.code, 193)",
               "bit_hamming(substring({0}.code FOR 64 + {0}.id % 2), substring({1}.code FOR 64)) <= 6",
               "bit_hamming(substring({0}.code FOR 40), substring({1}.code FOR 40)) <= 4")
FURTHER = ("", "", "", " AND {0}.id < {1}.id", " AND {0}.tenant = {1}.tenant", " AND {0}.at <> {1}.at",
           " AND length({0}.body) + {1}.id > 200", " AND {0}.id % 2 = 0", " AND {1}.id % 5 < 3",
           " AND ({0}.tenant = 1 OR {1}.tenant = 2)", " AND {0}.body <> {1}.body AND {0}.id <> {1}.id",
           " AND {0}.id >= {1}.id", " AND {0}.tenant = {1}.tenant AND {0}.id <> {1}.id",
           " AND {0}.tenant::bigint = {1}.tenant AND {0}.at = {1}.at", " AND left({0}.body, 2) = left({1}.body, 2)",
           " AND {0}.tenant = {1}.id % 4", " AND {0}.tenant::real = {1}.tenant::float8")
AFTER = ("", "", " WHERE {0}.id > 20", " WHERE {1}.id IS NULL", " WHERE {1}.id > 30 OR {1}.id IS NULL",
         " WHERE {0}.tenant IS DISTINCT FROM {1}.tenant", " WHERE coalesce({1}.tenant, {0}.tenant) = 2")
RETURNING = ("", " RETURNING a.id", " RETURNING a.*, a.tableoid::regclass", " RETURNING a",
             " RETURNING a, a.ctid IS NULL, a.body")


def fill(conn):
    """Families of near texts; NULLs, documents without words, equal rows."""
    rng = random.Random(SEED)
    rows = []
    for i in range(ROWS):
        if i % 4 == 0 or not rows:
            words = ["w%d" % rng.randrange(3000) for _ in range(rng.choice((6, 40, 80)))]
        else:
            words = [w if rng.random() > 0.04 else "w%d" % rng.randrange(3000) for w in words]
        body = None if i % 29 == 7 else "..." if i % 31 == 9 else " ".join(words)
        rows.append((i, None if i % 41 == 3 else rng.randrange(4), "2026-01-%02d" % rng.randrange(1, 29), body))
    conn.execute(SCHEMA)
    copy_rows(conn, "docs (id, tenant, at, body)", rows)
    conn.execute("INSERT INTO docs (id, tenant, at, body) SELECT id, tenant, at, body FROM docs WHERE id % 37 = 5")
    conn.execute("UPDATE docs SET sig = to_minhash(body), hash = to_simhash(body), digest = to_ctph(body), code = "
                 "(to_simhash(body)::bit(64) || to_simhash(body, 2)::bit(64) || to_simhash(body, "
                 "4)::bit(64))::bit(192), small = CASE WHEN body = '...' THEN '{}' "
                 "ELSE (SELECT array_agg(hashtext(w)) FROM unnest(string_to_array(body, ' ')) w) END; "
                 "UPDATE docs SET large = (SELECT array_agg(CASE WHEN id % 3 = 0 THEN e * 3::bigint ELSE e END) "
                 "FROM unnest(small) e WHERE id % 5 > 0 OR e % 4 = 0); INSERT INTO parts SELECT * FROM docs; "
                 "ANALYZE docs; ANALYZE parts; "
                 "INSERT INTO family SELECT * FROM docs WHERE id % 3 = 0; INSERT INTO child SELECT * FROM docs "
                 "WHERE id % 3 = 1; INSERT INTO grandchild SELECT * FROM docs WHERE id % 3 = 2; ANALYZE family; "
                 "ANALYZE child; ANALYZE grandchild")


def statement(rng):
    x, y = rng.choice(TABLES), rng.choice(TABLES)
    if rng.random() < 0.4:
        y = x
    a, b = ("a", "b") if rng.random() < 0.7 else ("b", "a")
    on = (rng.choice(CONDITIONS) + rng.choice(FURTHER)).format(a, b)
    kind = rng.choice(
        ("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "EXISTS", "NOT EXISTS", "IN", "three", "lateral", "cte", "count"))
    if kind in ("EXISTS", "NOT EXISTS"):
        return "SELECT a.id, a.body FROM %s a WHERE %s (SELECT FROM %s b WHERE %s)" % (x, kind, y, on)
    if kind == "IN":
        return "SELECT a.id FROM %s a WHERE a.tenant IN (SELECT b.tenant FROM %s b WHERE %s)" % (x, y, on)
    if kind == "three":
        return "SELECT a.id, b.id, c.id FROM %s a JOIN %s b ON %s LEFT JOIN docs c ON %s" % (
            x, y, on, (rng.choice(CONDITIONS[:16]) + " AND {0}.id < {1}.id").format("b", "c"))
    if kind == "lateral":
        return (
            "SELECT a.id, b.id FROM %s a, LATERAL (SELECT * FROM %s d WHERE d.id <> a.id + 1) b WHERE %s" % (x, y, on))
    if kind == "cte":
        return "WITH a AS MATERIALIZED (SELECT * FROM %s x) SELECT a.id, b FROM a JOIN %s b ON %s" % (x, y, on)
    if kind == "count":
        return "SELECT a.tenant, count(*), min(b.id), sum(length(b.body)) FROM %s a JOIN %s b ON %s GROUP BY 1" % (
            x, y, on)
    return "SELECT a.id, a.at, b.id, b.body, a IS NULL AS none FROM %s a %s %s b ON %s%s" % (
        x, kind, y, on, rng.choice(AFTER).format("a", "b"))


def change(rng, targets):
    """(target, a statement that changes it by a join, or by two). What it does to a row does not depend on which of
    several partners the row meets."""
    target, other = rng.choice(targets), rng.choice(TABLES + targets)
    on = (rng.choice(CONDITIONS) + rng.choice(FURTHER)).format("a", "b")
    kind = rng.choice(
        ("DELETE", "EXISTS", "UPDATE", "move", "three", "IN") + ("MERGE", "MERGE") * (server_version() >= 150000))
    if kind == "DELETE":
        return target, "DELETE FROM %s a USING %s b WHERE %s%s" % (target, other, on, rng.choice(RETURNING))
    if kind == "EXISTS":
        return target, "DELETE FROM %s a WHERE %s (SELECT FROM %s b WHERE %s)%s" % (
            target, rng.choice(("EXISTS", "NOT EXISTS")), other, on, rng.choice(RETURNING))
    if kind == "UPDATE":
        return (target, "UPDATE %s a SET tenant = a.tenant + 10, body = left(a::text, 40) || a.ctid FROM %s b "
                            "WHERE %s%s" % (target, other, on, rng.choice(RETURNING)))
    if kind == "move":
        return target, "UPDATE %s a SET id = a.id + %d FROM %s b WHERE %s%s" % (
            target, 0 if target == "mixed" else 1000, other, on, rng.choice(RETURNING))
    if kind == "three":
        return (
            target,
            "UPDATE %s a SET (tenant, body) = (SELECT 7, 'x' || a.id) FROM %s b LEFT JOIN docs c ON %s WHERE %s%s" % (
                target, other, rng.choice(CONDITIONS[:16]).format("b", "c") + " AND b.id < c.id", on,
                rng.choice(RETURNING)))
    if kind == "IN":
        return (target,
                "DELETE FROM %s a USING few f WHERE f.id = a.tenant AND a.id IN (SELECT b.id FROM %s b JOIN docs c "
                    "ON %s)%s" % (target, other, rng.choice(CONDITIONS[:16]).format("b", "c"), rng.choice(RETURNING)))
    distinct = rng.choice(("sig::text", "tenant", "id", "body"))
    return target, "MERGE INTO %s a USING (SELECT DISTINCT ON (%s) * FROM %s x ORDER BY %s, id, body) b ON %s %s" % (
        target, distinct, other, distinct, on, rng.choice(
            ("WHEN MATCHED THEN DELETE",
             "WHEN MATCHED AND a.id % 2 = 0 THEN UPDATE SET tenant = a.tenant + 1 WHEN MATCHED THEN DELETE",
             "WHEN MATCHED THEN DO NOTHING WHEN NOT MATCHED THEN INSERT (id, body) VALUES (b.id + 5000, b.body)")))
