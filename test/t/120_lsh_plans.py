#!/usr/bin/python3
"""The index never changes an answer: generated queries, each by every kind of plan on tables with lsh indexes, against
the same tables without them. For a marked part EXPLAIN must show the index.

The schema `indexed` has the indexes, the schema `plain` has none. Both have the same tables, views, policies and rows.
A query names no schema, so that search_path chooses it."""
import itertools
import threading

from answers import expand
from plans import *

ROWS = 640
JOIN_ROWS = 160

SCHEMA = """
CREATE TABLE doc (id int PRIMARY KEY, grp int, cat int, bound float8, sig minhash, old minhash);
INSERT INTO doc SELECT i, i / 8, i %% 5, CASE WHEN i %% 11 > 0 THEN 0.7 + (i %% 4) * 0.1 END, near(i, 0), near(i / 2 *
  2, 1)
    FROM generate_series(1, %(rows)d) i;
CREATE TABLE small (id int PRIMARY KEY, grp int, bound float8, sig minhash);
INSERT INTO small SELECT id, grp, bound, sig FROM doc WHERE id <= %(join)d;
CREATE TABLE other (id int PRIMARY KEY, grp int, bound float8, sig minhash);
INSERT INTO other SELECT 1000 + id, grp, bound, sig FROM doc WHERE id BETWEEN %(join)d / 2 AND %(join)d;
CREATE TABLE article (id int PRIMARY KEY, body text, lang text);
INSERT INTO article SELECT i, CASE WHEN i %% 37 > 0 THEN (SELECT string_agg('w' || (i / 5) || '_' || e ||
    CASE WHEN e %% 30 < i %% 5 THEN 'x' ELSE '' END, ' ') FROM generate_series(1, 60) e) END,
    CASE i %% 3 WHEN 0 THEN 'en' WHEN 1 THEN 'uk' END FROM generate_series(1, 300) i;

-- Families of 200 equal rows, each row almost alone on its page.
CREATE TABLE wide (id int, k int, sig minhash, filler text);
ALTER TABLE wide ALTER filler SET STORAGE PLAIN;
INSERT INTO wide SELECT i, i %% 50, set_minhash(ARRAY[i %% 20, -1 - i %% 20]::bigint[], 32), repeat('x', 3000)
  FROM generate_series(1, 4000) i;

CREATE TABLE part (id int, k int, sig minhash) PARTITION BY RANGE (id);
CREATE TABLE part_a PARTITION OF part FOR VALUES FROM (MINVALUE) TO (200);
CREATE TABLE part_b PARTITION OF part FOR VALUES FROM (200) TO (400) PARTITION BY LIST (k);
CREATE TABLE part_b0 PARTITION OF part_b FOR VALUES IN (0);
CREATE TABLE part_b1 PARTITION OF part_b DEFAULT;
CREATE TABLE part_c (sig minhash, id int, k int);
ALTER TABLE part ATTACH PARTITION part_c FOR VALUES FROM (400) TO (MAXVALUE);
INSERT INTO part SELECT id, id %% 2, sig FROM doc;
CREATE TABLE parent (id int, sig minhash);
CREATE TABLE child (more text) INHERITS (parent);
CREATE TABLE bare () INHERITS (parent);
INSERT INTO parent SELECT id, sig FROM doc WHERE id %% 3 = 0;
INSERT INTO child SELECT id, sig, 'more' FROM doc WHERE id %% 3 = 1;
INSERT INTO bare SELECT id, sig FROM doc WHERE id %% 3 = 2 AND id < 200;
CREATE TABLE empty (id int PRIMARY KEY, sig minhash);

CREATE VIEW docs AS SELECT id, grp, sig FROM doc WHERE cat <> 4;
CREATE VIEW either AS SELECT id, sig, 'doc' AS which FROM doc UNION ALL SELECT id, sig, 'other' FROM other
    UNION ALL SELECT id, sig, 'part' FROM part;
CREATE VIEW guarded WITH (security_barrier) AS SELECT id, grp, sig FROM doc WHERE grp %% 2 = 0;
CREATE VIEW pairs AS SELECT a.id AS a, b.id AS b FROM doc a JOIN doc b ON a.id < b.id AND jaccard(a.sig, b.sig) >= 0.9;
CREATE MATERIALIZED VIEW kept AS SELECT id, sig FROM doc WHERE cat < 3;
CREATE TABLE secret (id int PRIMARY KEY, owner text, sig minhash);
INSERT INTO secret SELECT id, CASE WHEN id %% 2 = 0 THEN 'plans_reader' ELSE 'nobody' END, sig FROM doc;
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secret USING (owner = current_user);
GRANT ALL ON ALL TABLES IN SCHEMA %(schema)s TO plans_reader;
GRANT USAGE ON SCHEMA %(schema)s TO plans_reader;

CREATE FUNCTION doc_sig(wanted int) RETURNS minhash LANGUAGE plpgsql STABLE AS
    $$ BEGIN RETURN (SELECT sig FROM doc WHERE id = wanted); END $$;
CREATE FUNCTION near_ids(q minhash, t float8) RETURNS SETOF int LANGUAGE sql STABLE AS
    $$ SELECT id FROM doc WHERE jaccard(sig, q) >= t $$;
CREATE FUNCTION count_near(t float8) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
    DECLARE r record; n bigint := 0; m bigint;
    BEGIN
        FOR r IN SELECT sig FROM doc WHERE id %% 40 = 1 LOOP
            SELECT count(*) INTO m FROM doc WHERE jaccard(sig, r.sig) > t;
            n := n * 3 + m;
        END LOOP;
        RETURN n;
    END $$;
ALTER FUNCTION doc_sig SET search_path FROM CURRENT;
"""

INDEXES = """
CREATE INDEX doc_lsh ON doc USING lsh (sig);
CREATE INDEX doc_grp ON doc (grp);
CREATE INDEX doc_part_lsh ON doc USING lsh (old) WHERE cat = 2;
CREATE INDEX small_lsh ON small USING lsh (sig) WITH (threshold = 0.7);
CREATE INDEX small_old ON small (grp);
CREATE INDEX other_lsh ON other USING lsh (sig);
CREATE INDEX article_lsh ON article USING lsh (to_minhash(body));
CREATE INDEX article_en_lsh ON article USING lsh (to_minhash(body, 2)) WHERE lang = 'en';
CREATE INDEX article_uk_lsh ON article USING lsh (to_minhash(body, k => 5, unit => 'char')) WHERE lang = 'uk';
CREATE INDEX part_lsh ON part USING lsh (sig);
CREATE INDEX parent_lsh ON parent USING lsh (sig);
CREATE INDEX child_lsh ON child USING lsh (sig);
CREATE INDEX empty_lsh ON empty USING lsh (sig);
CREATE INDEX kept_lsh ON kept USING lsh (sig);
CREATE INDEX secret_lsh ON secret USING lsh (sig);
CREATE INDEX wide_lsh ON wide USING lsh (sig);
CREATE INDEX wide_k ON wide (k);
CREATE INDEX doc_query_lsh ON doc USING lsh (with_threshold(sig, 0.85));
"""

# Groups of 8: copies, near copies down to 0.5; NULLs and empty ones among them. `salt` makes another column.
NEAR = """
CREATE FUNCTION near(i int, salt int) RETURNS minhash LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN (i + salt) % 41 = 0 THEN NULL WHEN (i + salt) % 43 = 0 THEN set_minhash('{}'::bigint[])
        ELSE set_minhash(ARRAY(SELECT (i / 8) * 1000::bigint + e +
            CASE WHEN (e * 37) % 100 < (ARRAY[0, 0, 3, 6, 10, 15, 22, 30])[1 + i % 8] + salt THEN 100 * (1 + i % 8)
              ELSE 0 END
            FROM generate_series(1, 100) e)) END $$;
"""


def setup(name):
    with connect(name) as conn:
        conn.execute(NEAR)
        conn.execute("DO $$ BEGIN CREATE ROLE plans_reader; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
        for schema in ("plain", "indexed"):
            conn.execute("CREATE SCHEMA %s; SET search_path = %s, public" % (schema, schema))
            conn.execute(SCHEMA % {"rows": ROWS, "join": JOIN_ROWS, "schema": schema})
        conn.execute(INDEXES)
        # Rows that came after the index was built, dead ones, and a change of place.
        for schema in ("plain", "indexed"):
            conn.execute("SET search_path = %s, public" % schema)
            conn.execute(
                "INSERT INTO doc SELECT i, i / 8, i %% 5, 0.8, near(i, 0), near(i, 1) FROM generate_series(%d, %d) i"
                % (ROWS + 1, ROWS + 60))
            conn.execute("UPDATE doc SET cat = 2 WHERE id % 17 = 0; DELETE FROM doc WHERE id % 53 = 0")
            conn.execute("UPDATE doc SET sig = near(id + 1, 0) WHERE id % 29 = 0")
        conn.execute("ANALYZE")


SIGNATURES = {
    "literal": None,
    "row": "(SELECT sig FROM doc WHERE id = 83)",
    "missing row": "(SELECT sig FROM doc WHERE id = -1)",
    "function": "doc_sig(83)",
    "setting": "current_setting('plans.sig')::minhash",
}
BOUNDS = ["0.8", "0.9", "1", "0.75", "0.8046875", "0.95::real", "0.7421875", "0.5", "0.3", "0", "-1", "1.5",
          "'NaN'::float8", "'Infinity'::float8", "'-Infinity'::float8", "NULL::float8", "(SELECT 0.8)",
          "random() * 0 + 0.8", "(SELECT bound FROM doc WHERE id = -1)"]
# Bounds that jaccard_at_least() and with_threshold() refuse; a comparison takes them.
REFUSED = ("0", "-1", "1.5", "'NaN'::float8", "'Infinity'::float8", "'-Infinity'::float8")
# M: jaccard(sig, Q); N: with another query. A star: EXPLAIN must show the index at 0.8.
FORMS = [
    "* M > B", "* M >= B", "* B < M", "* B <= M", "* NOT (M <= B)", "* NOT (M < B)", "* M BETWEEN B AND 0.97",
    "* jaccard(Q, sig) >= B", "* sig <%> Q < 1 - (B)", "* sig <%> Q <= 1 - (B)", "* 1 - (B) > Q <%> sig",
    "* jaccard_at_least(sig, Q, B)", "* jaccard_at_least(Q, sig, B)", "* sig %> with_threshold(Q, B)",
    "* M > B AND grp < 40", "* M > B AND id % 2 = 0", "* M > B AND N > B", "* M > B AND N > 0.2",
    "* M > B OR id = 5", "* M > B OR N > B", "* (M > B AND cat = 2) OR (N >= B AND cat = 1)",
    "* (M > B OR id < 9) AND (N > B OR grp = 10)", "* (M > B) AND sig IS NOT NULL",
    "M > B OR cat = 3", "M > B OR id % 50 = 1", "M < B", "M <= B", "M = B", "M <> B", "sig <%> Q > 1 - (B)",
    "(M > B) IS NOT TRUE", "(M > B) IS TRUE", "NOT (M > B)", "(M > B) IS UNKNOWN", "coalesce(M, 0) > B", "M + 0 > B",
    "CASE WHEN cat = 1 THEN M > B ELSE id % 9 = 0 END", "M > B AND M < 0.99", "M > bound", "M > bound AND M > B",
    "jaccard(sig, sig) >= B", "jaccard(sig, old) >= B", "NOT jaccard_at_least(sig, Q, B)",
    "* jaccard(old, Q) >= B AND cat = 2", "jaccard(old, Q) >= B", "(M > B) = (N > B)", "M > least(B, 0.9)",
    "* M > B AND old IS NOT NULL AND jaccard(old, sig) > 0.5", "id IN (SELECT id FROM doc WHERE M > B)",
]


def single(p, literal, far):
    forms = [(f.lstrip("* "), f.startswith("*")) for f in FORMS]
    kinds = list(SIGNATURES)
    before = ["SET plans.sig = '%s'" % literal]
    for n, ((form, shows), bound) in enumerate(itertools.product(forms, BOUNDS)):
        for kind in kinds if FULL else [kinds[n % len(kinds)]]:
            q = SIGNATURES[kind] or "'%s'::minhash" % literal
            where = expand(form, M="jaccard(sig, %s)" % q, N="jaccard(sig, '%s'::minhash)" % far, Q=q, B=bound)
            uses = None
            if shows and bound in ("0.8", "0.9", "1", "(SELECT 0.8)"):
                uses = "doc_part_lsh" if form.startswith("jaccard(old, Q)") else "doc_lsh"
            named = "_at_least" in form or "with_threshold" in form
            p.compare("SELECT id FROM doc WHERE " + where, uses, before,
                      errors=("22023",) if named and bound in REFUSED else ())
    p.report("one table")


def ordered(p, literal):
    q = "'%s'::minhash" % literal
    row = "(SELECT sig FROM doc WHERE id = 83)"
    for query, bound, limit in itertools.product((q, row, "doc_sig(83)"), ("0.8", "0.9", "0.75", "0.2", "0", "1.5"),
                                                 ("", "LIMIT 1", "LIMIT 5", "LIMIT 3 OFFSET 2")):
        shows = ORDERED if bound in ("0.8", "0.9") and query == q else None
        # Ties come in any order: the distances are what is ordered.
        p.compare("SELECT sig <%%> %s FROM doc WHERE jaccard(sig, %s) >= %s ORDER BY sig <%%> %s %s" % (
            query, query, bound, query, limit), shows, ordered=True)
        p.compare("SELECT id FROM doc WHERE jaccard(sig, %s) > %s ORDER BY sig <%%> %s, id %s"
                  % (query, bound, query, limit), ordered=True)
    p.compare("SELECT sig <%%> %s FROM doc WHERE jaccard(sig, %s) > 0.8 ORDER BY sig <%%> near(90, 0), id LIMIT 4"
              % (q, q), ordered=True)
    p.compare("SELECT sig <%%> near(90, 0) FROM doc WHERE jaccard(sig, %s) > 0.8 ORDER BY sig <%%> near(90, 0)" % q,
              ordered=True)
    p.compare(
        "SELECT sig <%%> %s FROM doc WHERE jaccard(sig, %s) > 0.8 ORDER BY sig <%%> %s DESC" % (q, q, q), ordered=True)
    p.compare("SELECT sig <%%> NULL::minhash FROM doc WHERE jaccard(sig, %s) > 0.8 ORDER BY 1" % q, ordered=True)
    p.compare(
        "SELECT sig <%%> %s FROM doc WHERE sig %%> with_threshold(%s, 0.8) ORDER BY 1" % (q, q), ORDERED, ordered=True)
    p.compare("SELECT sig <%%> %s FROM doc WHERE sig <%%> %s < 0.2 ORDER BY 1 LIMIT 4" % (q, q), ORDERED, ordered=True)
    p.compare("SELECT sig <%%> %s FROM doc ORDER BY 1 LIMIT 9" % q, ordered=True)
    for bound in ("0.8", "0.4"):
        p.compare("SELECT count(*) FROM (SELECT id FROM doc WHERE jaccard(sig, %s) > %s LIMIT 3) x" % (q, bound))
        p.compare("SELECT count(*) FROM (SELECT id FROM doc WHERE jaccard(sig, %s) > %s OFFSET 2) x" % (q, bound))
        p.compare("SELECT max(id), min(grp), count(DISTINCT cat) FROM doc WHERE jaccard(sig, %s) > %s" % (q, bound))
        p.compare("SELECT grp, count(*) FROM doc WHERE jaccard(sig, %s) > %s GROUP BY grp" % (q, bound))
        p.compare("SELECT DISTINCT ON (cat) cat, id FROM doc WHERE jaccard(sig, %s) > %s ORDER BY cat, id" % (q, bound))
        p.compare("SELECT id, rank() OVER (ORDER BY id) FROM doc WHERE jaccard(sig, %s) > %s" % (q, bound))
        p.compare("SELECT id FROM doc WHERE jaccard(sig, %s) > %s FOR UPDATE" % (q, bound))
    p.report("order and limit")


def settings_of_similar(p, literal, far):
    q = "'%s'::minhash" % literal
    for threshold in ("0.8", "0.75", "0.95", "1", "0.5", "0.2", "0"):
        before = ["SET neardup.jaccard_threshold = " + threshold]
        uses = "doc_lsh" if float(threshold) >= 0.75 else None
        p.compare("SELECT id FROM doc WHERE sig % " + q, uses, before)
        p.compare("SELECT id FROM doc WHERE " + q + " % sig", uses, before)
        p.compare("SELECT id FROM doc WHERE sig % (SELECT sig FROM doc WHERE id = 83)", uses, before)
        p.compare("SELECT id FROM doc WHERE sig % '" + far + "' AND jaccard(sig, " + q + ") > 0.8", "doc_lsh", before)
        p.compare("SELECT id FROM doc WHERE NOT sig % " + q, None, before)
        p.compare("SELECT id FROM doc WHERE sig % set_minhash('{}'::bigint[])", None, before)
        p.compare("SELECT id FROM doc WHERE sig % NULL::minhash", None, before)
        p.compare("SELECT a.id, b.id FROM small a JOIN small b ON a.id < b.id AND a.sig % b.sig",
                  "small_lsh" if float(threshold) >= 0.75 else None, before)
        p.compare("SELECT sig <%> " + q + " FROM doc WHERE sig % " + q + " ORDER BY sig <%> " + q + " LIMIT 4", uses,
                  before, ordered=True)
        p.compare("SELECT id FROM doc WHERE sig % " + q + " OR id = 7", uses, before)
        p.compare("EXECUTE s('" + literal + "')", uses, before + [
            "SET plan_cache_mode = force_generic_plan", "PREPARE s(minhash) AS SELECT id FROM doc WHERE sig % $1"],
            ["DEALLOCATE s"])
    for bound in ("0.8", "0.9", "0.5"):
        p.compare("SELECT id FROM doc WHERE with_threshold(sig, 0.85) && with_threshold(%s, %s)" % (q, bound),
                  "doc_query_lsh" if bound == "0.9" else None)
    p.report("% and &&")


def joins(p):
    for bound in ("0.8", "0.9", "a.bound", "b.bound", "0.5", "1.01", "'NaN'", "NULL"):
        uses = "other_lsh" if bound in ("0.8", "0.9", "a.bound") else None
        on = "jaccard(a.sig, b.sig) >= %s" % bound
        both = on + " AND a.grp = b.grp"
        for kind in ("JOIN", "LEFT JOIN", "RIGHT JOIN"):
            p.compare(
                "SELECT a.id, b.id FROM small a %s other b ON %s" % (kind, on), None if kind == "RIGHT JOIN" else uses)
            p.compare("SELECT a.id, b.id FROM small a %s other b ON %s AND b.id %% 2 = 0" % (kind, on))
            p.compare("SELECT a.id, b.id FROM small a %s other b ON %s WHERE a.id < 90" % (kind, on))
            p.compare("SELECT a.id, b.id FROM small a %s other b ON %s" % (kind, both))
            p.compare("SELECT a.id, b.id FROM small a %s other b USING (grp) WHERE %s" % (kind, on))
        p.compare("SELECT a.id, b.id FROM small a FULL JOIN other b ON %s" % both)
        p.compare("SELECT a.id, b.id FROM small a JOIN small b ON a.id < b.id AND %s" % on)
        p.compare("SELECT a.id, b.id FROM small a, small b WHERE a.id <> b.id AND %s AND a.id < 50" % on)
        p.compare("SELECT a.id FROM small a WHERE EXISTS (SELECT FROM other b WHERE %s)" % on, uses)
        p.compare("SELECT a.id FROM small a WHERE NOT EXISTS (SELECT FROM other b WHERE %s)" % on, uses)
        p.compare("SELECT a.id FROM small a WHERE EXISTS (SELECT FROM other b WHERE %s) AND a.grp > 3" % both)
        p.compare("SELECT a.id FROM small a WHERE EXISTS (SELECT FROM other b WHERE %s) OR a.id = 3" % on)
        p.compare("SELECT a.id FROM small a WHERE a.grp IN (SELECT b.grp FROM other b WHERE %s)" % on)
        p.compare("SELECT a.id FROM small a WHERE a.id NOT IN (SELECT b.id - 1000 FROM other b WHERE %s)" % on)
        p.compare("SELECT a.id FROM small a LEFT JOIN other b ON %s WHERE b.id IS NULL" % on, uses)
        p.compare("SELECT a.id, (SELECT count(*) FROM other b WHERE %s) FROM small a" % on, uses)
        p.compare("SELECT a.id, b.id FROM small a, LATERAL (SELECT * FROM other b WHERE %s) b" % on, uses)
        p.compare(
            "SELECT a.id, b.id FROM small a LEFT JOIN LATERAL (SELECT * FROM other b WHERE %s OFFSET 0) b ON true" % on,
            uses)
        p.compare("SELECT a.id, b.d FROM small a, LATERAL (SELECT a.sig <%%> b.sig AS d FROM other b WHERE %s "
                  "ORDER BY a.sig <%%> b.sig LIMIT 2) b" % on, uses)
        p.compare("SELECT a.id, c.n FROM small a, LATERAL (SELECT count(*) AS n FROM (SELECT FROM other b WHERE %s "
                  "LIMIT 3) x) c" % on, uses)
    three = "jaccard(a.sig, b.sig) >= 0.8", "jaccard(b.sig, c.sig) >= 0.85"
    for first, second in itertools.product(("JOIN", "LEFT JOIN", "RIGHT JOIN"), repeat=2):
        p.compare("SELECT a.id, b.id, c.id FROM small a %s other b ON %s %s small c ON %s" % (
            first, three[0], second, three[1]))
        p.compare("SELECT a.id, b.id, c.id FROM small a %s other b ON %s %s small c ON a.id = c.id AND %s" % (
            first, three[0], second, three[1]))
        p.compare("SELECT a.id, b.id, c.id FROM small a %s (other b %s small c ON %s) ON %s" % (
            first, second, three[1], three[0]))
        p.compare("SELECT a.id, b.id, c.id FROM small a %s other b ON a.grp = b.grp %s small c ON "
                  "jaccard(a.sig, c.sig) >= 0.8 AND jaccard(b.sig, c.sig) >= 0.75" % (first, second))
    p.compare("SELECT a.id, b.id, c.id FROM small a JOIN other b ON %s JOIN small c ON %s "
              "AND jaccard(a.sig, c.sig) > 0.9" % three)
    p.compare("SELECT a.id, b.id FROM small a JOIN other b ON jaccard(a.sig, b.sig) >= 0.8 OR a.id = b.id - 1000")
    p.compare(
        "SELECT a.id, b.id FROM small a JOIN other b ON jaccard(a.sig, b.sig) >= 0.8 OR (b.id = 1100 AND a.grp = 3)")
    p.compare(
        "SELECT a.id, b.id FROM small a JOIN other b ON jaccard(a.sig, b.sig) >= 0.8 AND jaccard(b.sig, a.sig) < 0.95")
    p.compare("SELECT a.id, b.id FROM small a JOIN other b ON a.sig <%> b.sig < 0.2", "other_lsh")
    p.compare("SELECT a.id, b.id FROM small a JOIN other b ON jaccard_at_least(a.sig, b.sig, 0.8)", "other_lsh")
    p.compare("SELECT a.id, b.id FROM small a JOIN other b ON b.sig %> with_threshold(a.sig, 0.8)", "other_lsh")
    p.compare("SELECT a.id, b.id FROM small a JOIN other b ON jaccard_at_least(a.sig, b.sig, a.bound) "
              "WHERE a.bound IS NOT NULL", "other_lsh")
    p.compare("SELECT a.id, b.id FROM small a JOIN other b ON a.bound < jaccard(a.sig, b.sig)", "other_lsh")
    p.compare(
        "SELECT a.id, b.id FROM small a JOIN other b ON jaccard(minhash_union(a.sig, a.sig), b.sig) > 0.8", "other_lsh")
    p.compare(
        "SELECT a.id, b.id FROM small a JOIN small b ON a.id < b.id AND jaccard(a.sig, b.sig) >= 0.8", "small_lsh")
    p.compare("SELECT v.n, b.id FROM (VALUES (1, near(3, 0)), (2, NULL), (3, near(83, 0))) v(n, s) "
              "JOIN doc b ON jaccard(b.sig, v.s) > 0.8", "doc_lsh")
    p.compare("SELECT s.i, b.id FROM generate_series(1, 20) s(i) JOIN doc b ON jaccard(b.sig, near(s.i * 9, 0)) > 0.8",
              "doc_lsh")
    p.compare("SELECT a.id, b.id FROM small a JOIN other b ON jaccard(b.sig, (SELECT s.sig FROM doc s "
              "WHERE s.id = a.id + 1)) > 0.8", "other_lsh")
    p.compare("SELECT a.id, b.id FROM doc d LEFT JOIN (SELECT id, coalesce(sig, near(9, 0)) AS s FROM small) a "
              "ON a.id = d.id - 5 JOIN other b ON jaccard(b.sig, a.s) >= 0.8", "other_lsh")
    p.compare("SELECT a.id, b.id FROM doc d LEFT JOIN (SELECT id, coalesce(sig, near(9, 0)) AS s FROM small) a "
              "ON a.id = d.id - 5 LEFT JOIN other b ON jaccard(b.sig, a.s) >= 0.8 WHERE d.id < 120", "other_lsh")
    p.compare("SELECT a.id, b.id FROM small a LEFT JOIN (small c JOIN other b ON jaccard(b.sig, c.sig) >= 0.9) "
              "ON a.id = c.id AND jaccard(a.sig, b.sig) > 0.8")
    p.compare("SELECT b.id FROM doc b WHERE jaccard(b.sig, (SELECT sig FROM small WHERE id = b.id % 3 + 1)) > 0.5")
    p.compare("SELECT x.id FROM (SELECT id, sig FROM small UNION SELECT id, sig FROM other) x JOIN doc d "
              "ON jaccard(d.sig, x.sig) = 1")
    p.report("joins")


def shapes(p):
    """With other indexes, and in parallel workers: plans that the small tables have no use for."""
    q = "set_minhash(ARRAY[1, -2]::bigint[], 32)"
    on = "jaccard(sig, %s) > 0.9" % q
    both = ["BitmapAnd", "wide_k", "wide_lsh"]
    p.compare("SELECT id FROM wide WHERE %s AND k IN (1, 11)" % on, both)
    p.compare("SELECT id FROM wide WHERE sig %% %s AND k IN (1, 11)" % q, both)
    p.compare("SELECT id FROM wide WHERE %s AND (k = 11 OR k = 21)" % on, both)
    p.compare("SELECT id FROM wide WHERE %s AND k IN (1, 11) OR k = 3 AND id < 99" % on, "wide_lsh")
    p.compare("SELECT id FROM wide WHERE (%s OR k = 2) AND k BETWEEN 1 AND 2" % on)
    for kind in ("JOIN", "LEFT JOIN"):
        p.compare("SELECT a.id, b.id FROM wide a %s doc b ON jaccard(b.sig, near(a.k, 0)) > 0.8 WHERE a.id < %d"
                      % (kind, 300 if FULL else 30),
                  ["Gather", "Nested Loop", "Parallel Seq Scan on wide", "Index Scan using doc_lsh"],
                  settings=["parallel"])
    p.report("other indexes, parallel nested loops")


def tables(p, literal):
    q = "'%s'::minhash" % literal
    for bound in ("0.8", "0.9", "0.5", "0"):
        yes = bound in ("0.8", "0.9")
        hit = lambda index: index if yes else None
        for source in (q, "(SELECT sig FROM doc WHERE id = 83)", "doc_sig(250)"):
            on = "jaccard(sig, %s) >= %s" % (source, bound)
            p.compare("SELECT id, tableoid::regclass::text ~ 'part_c' FROM part WHERE " + on, hit("part_a_sig_idx"))
            p.compare("SELECT id FROM part WHERE id < 100 AND " + on, hit("part_a_sig_idx"))
            p.compare("SELECT id FROM part WHERE id BETWEEN 250 AND 450 AND k = 0 AND " + on, hit("part_b0_sig_idx"))
            p.compare("SELECT sig <%%> %s FROM part WHERE %s ORDER BY 1 LIMIT 5" % (source, on), ordered=True)
            p.compare("SELECT id FROM parent WHERE " + on, hit("child_lsh"))
            p.compare("SELECT id FROM ONLY parent WHERE " + on, hit("parent_lsh"))
            p.compare("SELECT id FROM docs WHERE " + on, hit("doc_lsh"))
            p.compare("SELECT id, which FROM either WHERE " + on, hit("other_lsh"))
            p.compare("SELECT id, which FROM either WHERE which <> 'part' AND " + on)
            p.compare("SELECT id FROM guarded WHERE " + on, hit("doc_lsh"))
            p.compare("SELECT id FROM kept WHERE " + on, hit("kept_lsh"))
            p.compare("SELECT id FROM empty WHERE " + on)
            p.compare("SELECT id FROM doc TABLESAMPLE BERNOULLI (100) WHERE " + on)
            p.compare("WITH c AS (SELECT * FROM doc) SELECT id FROM c WHERE " + on, hit("doc_lsh"))
            p.compare(
                "WITH c AS MATERIALIZED (SELECT id, sig FROM doc WHERE %s) SELECT id FROM c WHERE id %% 2 = 0" % on,
                hit("doc_lsh"))
            p.compare("WITH q AS MATERIALIZED (SELECT %s AS s) SELECT id FROM doc, q WHERE jaccard(sig, q.s) >= %s"
                      % (source, bound), hit("doc_lsh"))
            p.compare("SELECT id FROM (SELECT * FROM doc OFFSET 0) x WHERE " + on)
            p.compare("SELECT id FROM (SELECT DISTINCT id, sig FROM doc) x WHERE " + on, hit("doc_lsh"))
            p.compare("SELECT id FROM doc WHERE %s INTERSECT SELECT id FROM part WHERE %s" % (on, on))
            p.compare("SELECT id FROM doc WHERE %s EXCEPT SELECT id FROM parent WHERE %s" % (on, on))
        p.compare("SELECT near_ids(%s, %s)" % (q, bound))
        p.compare("SELECT * FROM near_ids(%s, %s)" % (q, bound), hit("doc_lsh"))
        p.compare("SELECT a.id, b.id FROM part a JOIN part b ON a.id = b.id AND a.k = b.k "
                  "AND jaccard(a.sig, b.sig) >= %s WHERE a.id < 50" % bound)
        p.compare("SELECT a.id, b.id FROM small a JOIN part b ON jaccard(a.sig, b.sig) >= %s WHERE a.id < 40" % bound,
                  hit("part_a_sig_idx"))
        p.compare("SELECT a.id, b.id, b.which FROM small a, LATERAL (SELECT * FROM either e "
                  "WHERE jaccard(e.sig, a.sig) > %s ORDER BY e.id, e.which LIMIT 3) b WHERE a.id < 40" % bound)
        p.compare("SELECT a.id, b.id FROM small a, LATERAL (SELECT * FROM either e "
                  "WHERE jaccard(e.sig, a.sig) > %s OFFSET 0) b WHERE a.id < 40" % bound, hit("doc_lsh"))
        p.compare("SELECT s.id, e.id FROM other s LEFT JOIN parent e ON jaccard(s.sig, e.sig) >= %s" % bound)
        p.compare("SELECT s.id FROM small s WHERE NOT EXISTS (SELECT FROM part e WHERE e.id <> s.id "
                  "AND jaccard(s.sig, e.sig) >= %s)" % bound, hit("part_c_sig_idx"))
        p.compare("SELECT count_near(%s)" % bound)
    p.compare("SELECT * FROM pairs WHERE a < 100", "doc_lsh")
    p.compare("SELECT a.a, b.b FROM pairs a JOIN pairs b ON a.b = b.a WHERE a.a < 60", "doc_lsh")
    body = "(SELECT body FROM article WHERE id = 42)"
    for bound in ("0.8", "0.75", "0.4", "0"):
        hit = lambda index: index if float(bound) >= 0.75 else None
        p.compare("SELECT id FROM article WHERE jaccard(to_minhash(body), to_minhash(%s)) >= %s" % (body, bound),
                  hit("article_lsh"))
        p.compare(
            "SELECT id FROM article WHERE jaccard(to_minhash(body, 3), to_minhash('w8_1 w8_2 w8_3')) >= %s" % bound)
        p.compare("SELECT id FROM article WHERE lang = 'en' AND jaccard(to_minhash(body, 2), to_minhash(%s, 2)) > %s"
                  % (body, bound), hit("article_en_lsh"))
        p.compare("SELECT id FROM article WHERE jaccard(to_minhash(body, 2), to_minhash(%s, 2)) > %s" % (body, bound))
        p.compare("SELECT id FROM article WHERE lang = 'uk' AND jaccard(to_minhash(body, unit => 'char', k => 5), "
                  "to_minhash(%s, 5, 'char')) > %s" % (body, bound), hit("article_uk_lsh"))
        p.compare("SELECT id FROM article WHERE (lang = 'uk' AND jaccard(to_minhash(body, 5, 'char'), to_minhash(%s, "
                      "5, 'char')) > %s) OR (lang = 'en' AND jaccard(to_minhash(body, 2), to_minhash(%s, 2)) > %s)" % (
                      body, bound, body, bound), hit("article_uk_lsh"))
        p.compare("SELECT a.id, b.id FROM article a JOIN article b ON a.id < b.id AND jaccard(to_minhash(a.body), "
                  "to_minhash(b.body)) > %s" % bound if float(bound) > 0 else "SELECT 1", hit("article_lsh"))
        p.compare("SELECT x.id FROM article x WHERE EXISTS (SELECT FROM article y WHERE y.id < x.id AND y.lang = 'en' "
                      "AND jaccard(to_minhash(x.body, 2), to_minhash(y.body, 2)) >= %s) AND x.id > 200" % bound,
                  hit("article_en_lsh"))
    # Unlike signatures: an error where a row is met, and none of the planner's own.
    p.compare("SELECT id FROM doc WHERE jaccard(sig, to_minhash('a b c')) > 0.8", errors=("42804",))
    p.compare("SELECT id FROM doc WHERE jaccard(sig, to_minhash('a b c')) > 0.8 AND id < 0", settings=["default"])
    p.compare("SELECT id FROM empty WHERE jaccard(sig, to_minhash('a b c')) > 0.8")
    p.compare(
        "SELECT id FROM article WHERE lang = 'en' AND jaccard(to_minhash(body, 2), to_minhash('x', 5, 'char')) > 0.8",
        errors=("42804",))
    p.report("tables, views, expressions")


def security(p, literal):
    q = "'%s'::minhash" % literal
    role = ["SET ROLE plans_reader"]
    for bound in ("0.8", "0.9", "0.3"):
        uses = "secret_lsh" if bound != "0.3" else None
        on = "jaccard(sig, %s) >= %s" % (q, bound)
        p.compare("SELECT id FROM secret WHERE " + on, uses, role)
        p.compare("SELECT id FROM secret WHERE " + on, uses)
        p.compare("SELECT id FROM secret WHERE sig % " + q, "secret_lsh", role)
        p.compare("SELECT id FROM secret WHERE jaccard_at_least(sig, %s, %s)" % (q, bound), uses, role)
        p.compare("SELECT sig <%%> %s FROM secret WHERE %s ORDER BY sig <%%> %s LIMIT 3" % (q, on, q), uses, role,
                  ordered=True)
        p.compare("SELECT a.id, b.id FROM small a JOIN secret b ON jaccard(a.sig, b.sig) >= %s WHERE a.id < 50" % bound,
                  uses, role)
        p.compare("SELECT id FROM secret WHERE %s OR id = 6" % on, uses, role)
        p.compare(
            "UPDATE secret SET owner = 'plans_reader' WHERE %s RETURNING id" % on, uses, role + ["BEGIN"], ["ROLLBACK"])
        p.compare("DELETE FROM secret WHERE %s RETURNING id" % on, uses, role + ["BEGIN"], ["ROLLBACK"])
        p.compare("SELECT id FROM guarded WHERE " + on, "doc_lsh" if uses else None, role)
        p.compare(
            "SELECT a.id, b.id FROM guarded a JOIN guarded b ON a.id < b.id AND jaccard(a.sig, b.sig) > %s" % bound,
            None, role)
    p.report("row security")


def changes(p, literal):
    q = "'%s'::minhash" % literal
    inside = (["BEGIN"], ["ROLLBACK"])
    for bound in ("0.8", "0.9", "0.4"):
        hit = lambda index: index if bound != "0.4" else None
        on = "jaccard(sig, %s) >= %s" % (q, bound)
        p.compare("UPDATE doc SET cat = -1 WHERE %s RETURNING id, cat" % on, hit("doc_lsh"), *inside)
        p.compare("UPDATE doc SET sig = near(id + 4, 0) WHERE %s RETURNING id" % on, hit("doc_lsh"), *inside)
        p.compare("DELETE FROM doc WHERE %s RETURNING id" % on, hit("doc_lsh"), *inside)
        p.compare("UPDATE part SET k = k WHERE %s RETURNING id" % on, hit("part_a_sig_idx"), *inside)
        p.compare("UPDATE part SET id = id + 200 WHERE %s RETURNING id" % on, hit("part_a_sig_idx"), *inside)
        p.compare("DELETE FROM parent WHERE %s RETURNING id" % on, hit("child_lsh"), *inside)
        p.compare("DELETE FROM other b USING small a WHERE jaccard(a.sig, b.sig) >= %s AND a.id < 99 RETURNING b.id"
                  % bound, hit("other_lsh"), *inside)
        p.compare("UPDATE other b SET grp = -1 FROM small a WHERE jaccard(a.sig, b.sig) >= %s RETURNING b.id" % bound,
                  None, *inside)
        p.compare("WITH gone AS (DELETE FROM doc WHERE %s RETURNING id) SELECT count(*), sum(id) FROM gone" % on,
                  hit("doc_lsh"), *inside)
        p.compare("INSERT INTO other (id, sig) SELECT 5000 + id, sig FROM doc WHERE %s RETURNING id" % on,
                  hit("doc_lsh"), *inside)
        # The transaction sees its own changes.
        p.compare("SELECT id FROM doc WHERE " + on, hit("doc_lsh"),
                  ["BEGIN", "UPDATE doc SET sig = near(83, 0) WHERE id BETWEEN 300 AND 330",
                   "DELETE FROM doc WHERE id IN (81, 84)",
                   "INSERT INTO doc (id, sig) SELECT 9000 + i, near(82, 0) FROM generate_series(1, 9) i"],
                  ["ROLLBACK"])
        p.compare(
            "SELECT id FROM doc WHERE " + on, None,
            ["BEGIN", "SAVEPOINT s", "UPDATE doc SET sig = near(83, 0) WHERE id < 30", "ROLLBACK TO s"], ["ROLLBACK"])
        p.compare("SELECT id FROM empty WHERE " + on, None, ["BEGIN", "INSERT INTO empty SELECT id, sig FROM doc"],
                  ["ROLLBACK"])
        p.compare("SELECT id FROM empty WHERE " + on, None,
                  ["BEGIN", "INSERT INTO empty SELECT id, sig FROM doc", "TRUNCATE empty"], ["ROLLBACK"])
        if server_version() >= 150000:
            p.compare("MERGE INTO other b USING small a ON jaccard(a.sig, b.sig) >= %s AND a.id + 1000 = b.id "
                      "WHEN MATCHED THEN UPDATE SET grp = -5" % bound, None, ["BEGIN"], ["ROLLBACK"])
    for fetch in ("FETCH 3 FROM c", "FETCH ALL FROM c", "FETCH BACKWARD 2 FROM c", "FETCH LAST FROM c",
                  "FETCH ABSOLUTE 3 FROM c"):
        for bound in ("0.8", "0.4"):
            p.compare(
                fetch, None,
                ["BEGIN",
                 "DECLARE c SCROLL CURSOR FOR SELECT sig <%%> %s FROM doc WHERE jaccard(sig, %s) > %s ORDER BY 1" %
                     (q, q, bound),
                 "MOVE 2 FROM c"], ["ROLLBACK"], ordered=True)
    p.compare("FETCH ALL FROM c", None,
              ["BEGIN", "DECLARE c CURSOR WITH HOLD FOR SELECT id FROM doc WHERE jaccard(sig, %s) > 0.8" % q, "COMMIT"],
              ["CLOSE c"])
    p.compare("UPDATE doc SET cat = -9 WHERE CURRENT OF c RETURNING cat", None,
              [
                  "BEGIN", "DECLARE c CURSOR FOR SELECT id FROM doc WHERE jaccard(sig, %s) > 0.8 FOR UPDATE" % q,
                  "FETCH 1 FROM c"], ["ROLLBACK"])
    p.report("changes and cursors")


def prepared(p, literal, far):
    statements = {
        "q minhash, t float8": "SELECT id FROM doc WHERE jaccard(sig, $1) > $2",
        "q minhash, t float8 ": "SELECT id FROM doc WHERE $2 <= jaccard($1, sig)",
        "q minhash, t float8  ": "SELECT id FROM doc WHERE jaccard_at_least(sig, $1, $2)",
        "q minhash, t float8   ": "SELECT id FROM doc WHERE sig <%> $1 <= 1 - $2",
        "q minhash, t numeric": "SELECT id FROM doc WHERE jaccard(sig, $1) >= $2",
        "q minhash, t real": "SELECT id FROM doc WHERE jaccard(sig, $1) > $2",
        "q minhash, t float8    ": "SELECT id FROM part WHERE jaccard(sig, $1) > $2 AND id < 300",
        "q minhash, t float8     ":
            "SELECT id FROM doc WHERE jaccard(sig, $1) > $2 OR id = 5 OR jaccard(sig, near(20, 0)) > $2",
        "q minhash, t float8      ":
            "SELECT a.id, b.id FROM small a JOIN other b ON jaccard(a.sig, b.sig) > $2 AND a.sig <> $1",
        "q minhash, t float8       ":
            "SELECT sig <%> $1 FROM doc WHERE jaccard(sig, $1) >= $2 ORDER BY sig <%> $1 LIMIT 4",
        "q minhash, t float8        ": "UPDATE doc SET cat = 0 WHERE jaccard(sig, $1) > $2 RETURNING id",
        "q minhash, t float8         ": "SELECT id FROM secret WHERE jaccard(sig, $1) > $2",
        "q minhash, t float8          ":
            "SELECT id FROM doc WHERE jaccard(sig, (SELECT minhash_union($1, $1))) > $2 AND sig % $1",
    }
    signatures = ["'%s'" % literal, "'%s'" % far, "NULL", "set_minhash('{}'::bigint[])", "to_minhash('other kind')"]
    bounds = ["0.8", "0.95", "0.75", "0.5", "0", "-1", "1", "1.5", "'NaN'", "NULL"]
    for types, statement in statements.items():
        decl = ", ".join(a.split()[1] for a in types.split(","))
        for n, (mode, s, b) in enumerate(
                itertools.product(("force_generic_plan", "force_custom_plan", "auto"), signatures, bounds)):
            if not FULL and (mode != "force_generic_plan" and n % 7 or s in signatures[2:] and n % 3):
                continue
            # No row passes a NULL bound, which an index scan knows without comparing: no error of a comparison then.
            if s == signatures[-1] and b == "NULL":
                continue
            before = ["SET plan_cache_mode = " + mode, "PREPARE s(%s) AS %s" % (decl, statement), "BEGIN"]
            if mode == "auto":
                before += ["SAVEPOINT s"] + ["EXECUTE s('%s', 0.9)" % literal] * 6 + ["ROLLBACK TO s"]
            uses = ("_lsh" if mode == "force_generic_plan" and s == signatures[0] and b == "0.8"
                    and "part" not in statement else None)
            errors = ("42804",) if s == signatures[-1] else ()
            if "_at_least" in statement and b in ("0", "-1", "1.5", "'NaN'"):
                errors += ("22023",)
            p.compare("EXECUTE s(%s, %s)" % (s, b), uses, before, ["ROLLBACK", "DEALLOCATE s"],
                      ordered="ORDER BY" in statement, errors=errors)
    p.report("prepared statements")


def concurrent(p, literal):
    """A row that another transaction changes while the scan waits for it is judged by its new version."""
    q = "'%s'::minhash" % literal
    for settings in (SETTINGS["no bitmaps"], SETTINGS["no index scans"]):
        for statement in ("SELECT id FROM doc WHERE jaccard(sig, %s) > 0.9 FOR UPDATE" % q,
                          "UPDATE doc SET cat = 9 WHERE jaccard(sig, %s) > 0.9 RETURNING id" % q,
                          "DELETE FROM doc d USING other o WHERE o.id = 1083 AND jaccard(d.sig, o.sig) > 0.9 "
                              "RETURNING d.id"):
            with connect(p.conn.info.dbname) as one_side, connect(p.conn.info.dbname) as other:
                for c in (one_side, other):
                    c.execute("SET search_path = indexed, public")
                for s in settings.split(";"):
                    other.execute("SET " + s)
                before = sorted(other.execute("SELECT id FROM doc WHERE jaccard(sig, %s) > 0.9" % q).fetchall())
                one_side.execute(
                    "BEGIN; UPDATE doc SET sig = near(300, 0) WHERE id = 81; UPDATE doc SET cat = 8 WHERE id = 83")
                other.execute("BEGIN")
                timer = threading.Timer(0.2, lambda: one_side.execute("COMMIT"))
                timer.start()
                got = sorted(other.execute(statement).fetchall())
                timer.join()
                other.execute("ROLLBACK")
                one_side.execute("UPDATE doc SET sig = near(81, 0) WHERE id = 81")
                p.count += 1
                if (81,) not in before or got != [r for r in before if r != (81,)]:
                    p.bad.append("%s: %r, before %r" % (statement[:60], got, before))
    p.report("rows changed meanwhile")


def counted(name):
    """Each search of an index counts once in PostgreSQL's statistics, by which people drop indexes that nobody uses."""
    near = "jaccard(sig, near(83, 0)) >= 0.8"
    kinds = {
        "an index scan":
            ("SET enable_bitmapscan = off", "SELECT id FROM doc WHERE %s" % near, "Index Scan using doc_lsh", 1),
        "a bitmap":
            ("SET enable_indexscan = off", "SELECT id FROM doc WHERE %s" % near, "Bitmap Index Scan on doc_lsh", 1),
        "two bitmaps": ("SET enable_indexscan = off",
                        "SELECT id FROM doc WHERE %s OR jaccard(sig, near(3, 0)) >= 0.8" % near, "BitmapOr", 2),
        "rows in order": ("SET enable_sort = off", "SELECT id FROM doc ORDER BY sig <%> near(83, 0)", "Order By", 1),
        "a bound of NULL": ("SET enable_bitmapscan = off",
                            "SELECT id FROM doc WHERE jaccard(sig, near(83, 0)) >= (SELECT NULL::float8)",
                            "Index Scan using doc_lsh", 1),
        "once for each of 7 rows":
            ("SET enable_bitmapscan = off", "SELECT g, d.id FROM generate_series(1, 7) g, LATERAL (SELECT id FROM doc "
                                                "WHERE jaccard(sig, near(g, 0)) >= 0.8 OFFSET 0) d",
             "Index Scan using doc_lsh", 7),
    }
    own = "SELECT pg_stat_get_xact_numscans('doc_lsh'::regclass)"
    scans = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelid = 'doc_lsh'::regclass"
    with connect(name) as conn:
        conn.execute("SET search_path = indexed, public")
        wait_for_indexes(conn)
        rows, before, total = [], one(conn, scans), 0
        for what, (setting, query, shown, want) in kinds.items():
            conn.execute("RESET ALL; SET search_path = indexed, public; SET enable_seqscan = off; "
                         "SET neardup.enable_join = off; " + setting)
            with conn.transaction():  # within which numbers only grow
                known = one(conn, own)
                conn.execute(query).fetchall()
                got = one(conn, own) - known
            rows.append((what, (got, shown in str(conn.execute("EXPLAIN " + query).fetchall())), (want, True)))
            total += want
        equal_all("searches are counted", rows)
        end = time.monotonic() + 60  # a hang guard: the numbers come a little later
        while one(conn, scans) < before + total and time.monotonic() < end:
            time.sleep(0.1)
            if server_version() >= 150000:
                conn.execute("SELECT pg_stat_force_next_flush()")
        equal("pg_stat_user_indexes", one(conn, scans) - before, total)


def default_plans(p, literal):
    """Without any setting the index is chosen where it is cheaper, and only there."""
    with connect(p.conn.info.dbname) as conn:
        conn.execute("SET search_path = indexed, public")
        conn.execute("CREATE TABLE big AS SELECT i AS id, near(i, 0) AS sig FROM generate_series(1, 6000) i")
        conn.execute("CREATE INDEX big_lsh ON big USING lsh (sig); ANALYZE big")

        def plan(query, *settings):
            for s in settings:
                conn.execute("SET " + s)
            return "\n".join(r[0] for r in conn.execute("EXPLAIN " + query))

        q = "'%s'::minhash" % literal
        for query, uses in (
                ("SELECT id FROM big WHERE jaccard(sig, %s) > 0.8" % q, True),
                ("SELECT id FROM big WHERE jaccard(sig, (SELECT sig FROM big WHERE id = 83)) > 0.8", True),
                ("SELECT id FROM big WHERE jaccard(sig, %s) > 0.5" % q, False),
                ("SELECT id FROM big WHERE jaccard(sig, %s) > 0.8 OR id %% 2 = 0" % q, False),
                ("SELECT id FROM big WHERE sig %% %s" % q, True),
                ("SELECT x.id FROM big x JOIN big y ON x.id < y.id AND jaccard(x.sig, y.sig) >= 0.3", False)):
            got = plan(query)
            check("default plan %s the index: %.70s" % ("uses" if uses else "leaves", query.replace(literal, "..")),
                  ("big_lsh" in got) == uses, got)
        check("default plan of a join with a few rows uses the index",
              "big_lsh" in plan("SELECT x.id FROM big x JOIN big y ON jaccard(x.sig, y.sig) >= 0.8 WHERE x.id < 20"))
        conn.execute("SET neardup.derive_conditions = off")
        got = plan("SELECT id FROM big WHERE jaccard(sig, %s) > 0.8" % q)
        check("derive_conditions = off: no index", "big_lsh" not in got, got)
        got = plan("SELECT id FROM big WHERE jaccard_at_least(sig, %s, 0.8)" % q)
        check("derive_conditions = off: jaccard_at_least has the index", "big_lsh" in got, got)
        conn.execute("RESET neardup.derive_conditions; SET search_path = pg_catalog")
        got = plan("SELECT id FROM indexed.big WHERE public.jaccard(sig, '%s'::public.minhash) > 0.8" % literal)
        check("search_path without the extension: index", "big_lsh" in got, got)
    # The first query of a session: nothing has loaded the library before.
    with connect(p.conn.info.dbname) as conn:
        got = "\n".join(r[0] for r in conn.execute(
            "EXPLAIN SELECT x.id FROM indexed.big x, indexed.big y WHERE y.id = 83 AND jaccard(x.sig, y.sig) > 0.8"))
        check("first query of a session: index", "big_lsh" in got, got)
        estimate = [r[0] for r in conn.execute(
            "EXPLAIN SELECT x.id FROM indexed.big x JOIN indexed.big y ON jaccard(x.sig, y.sig) > 0.8")][0]
        rows = int(estimate.split("rows=")[1].split()[0])
        actual = one(conn, "SELECT count(*) FROM indexed.big x JOIN indexed.big y ON jaccard(x.sig, y.sig) > 0.8")
        check("join estimate near the truth", actual / 5 < rows < actual * 5, "%d, really %d" % (rows, actual))


def main():
    with database() as name:
        setup(name)
        p = Plans(name)
        with connect(name) as conn:
            conn.execute("SET search_path = plain, public")
            literal = one(conn, "SELECT sig::text FROM doc WHERE id = 83")
            far = one(conn, "SELECT sig::text FROM doc WHERE id = 85")
        sections((single, p, literal, far), (ordered, p, literal), (settings_of_similar, p, literal, far), (joins, p),
                 (shapes, p),
                 (tables, p, literal), (security, p, literal), (changes, p, literal), (prepared, p, literal, far),
                 (counted, name), (concurrent, p, literal),
                 (default_plans, p, literal))
        with connect(name) as conn:
            conn.execute("SET search_path = indexed, public")
            indexes = conn.execute("SELECT c.oid::regclass FROM pg_class c JOIN pg_am a ON a.oid = relam "
                                   "WHERE amname = 'lsh' AND relkind = 'i'").fetchall()
            equal_all("indexes are sound",
                      [(index, sql_error(conn, "SELECT lsh_check('%s', true)" % index), None) for index, in indexes])
    with psycopg.connect(autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS plans_reader")


if __name__ == "__main__":
    finish(main)
