-- Plans, estimates and the setting of queries by an lsh index. test/t/120_lsh_plans.py compares answers.
CREATE TABLE paper (id int PRIMARY KEY, year int, cat text, body text, sig minhash);
INSERT INTO paper SELECT i, 2000 + i % 20, 'c' || i % 3, (SELECT string_agg('w' || (i / 4) || '_' || e, ' ') FROM generate_series(1 + i % 4, 40 + i % 4) e),
    set_minhash(ARRAY(SELECT (i / 4) * 1000::bigint + e + CASE WHEN e % 25 < i % 4 THEN 500 ELSE 0 END FROM generate_series(1, 100) e))
  FROM generate_series(1, 800) i;
CREATE INDEX paper_sig ON paper USING lsh (sig);
CREATE INDEX paper_year ON paper (year);
CREATE TABLE query (qid int, bound float8, qsig minhash);
INSERT INTO query SELECT id, 0.9, sig FROM paper WHERE id % 80 = 1;
ANALYZE paper;
ANALYZE query;
SET enable_seqscan = off;
SET neardup.enable_join = off;
SET plan_cache_mode = force_generic_plan;
SET max_parallel_workers_per_gather = 0;

-- One table
PREPARE one(minhash, float8) AS SELECT id FROM paper WHERE jaccard(sig, $1) > $2;
EXPLAIN (COSTS OFF) EXECUTE one(NULL, NULL);
PREPARE constant(minhash) AS SELECT id FROM paper WHERE jaccard(sig, $1) >= 0.8;
EXPLAIN (COSTS OFF) EXECUTE constant(NULL);
PREPARE commuted(minhash, real) AS SELECT id FROM paper WHERE $2 <= jaccard($1, sig);
EXPLAIN (COSTS OFF) EXECUTE commuted(NULL, NULL);
PREPARE negated(minhash) AS SELECT id FROM paper WHERE NOT (jaccard(sig, $1) <= 0.8);
EXPLAIN (COSTS OFF) EXECUTE negated(NULL);
PREPARE range(minhash) AS SELECT id FROM paper WHERE jaccard(sig, $1) BETWEEN 0.8 AND 0.95;
EXPLAIN (COSTS OFF) EXECUTE range(NULL);
PREPARE distance(minhash) AS SELECT id FROM paper WHERE sig <%> $1 < 0.2;
EXPLAIN (COSTS OFF) EXECUTE distance(NULL);
PREPARE at_least(minhash, float8) AS SELECT id FROM paper WHERE jaccard_at_least(sig, $1, $2);
EXPLAIN (COSTS OFF) EXECUTE at_least(NULL, NULL);
PREPARE sim(minhash) AS SELECT id FROM paper WHERE sig % $1;
EXPLAIN (COSTS OFF) EXECUTE sim(NULL);
PREPARE operator(minhash) AS SELECT id FROM paper WHERE sig %> with_threshold($1, 0.9);
EXPLAIN (COSTS OFF) EXECUTE operator(NULL);
-- Rows of a bitmap are checked by the query's own conditions.
SET enable_indexscan = off;
DISCARD PLANS;
EXPLAIN (COSTS OFF) EXECUTE one(NULL, NULL);
EXPLAIN (COSTS OFF) EXECUTE range(NULL);
EXPLAIN (COSTS OFF) EXECUTE operator(NULL);
RESET enable_indexscan;
DISCARD PLANS;
-- A query without a condition never uses the index, not even with other scans disabled.
CREATE TABLE alone AS SELECT sig FROM paper;
CREATE INDEX ON alone USING lsh (sig);
VACUUM ANALYZE alone;
SELECT count(*) FROM alone;
DROP TABLE alone;
-- Nearest neighbours
PREPARE ordered(minhash) AS SELECT id FROM paper WHERE jaccard(sig, $1) > 0.8 ORDER BY sig <%> $1 LIMIT 3;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) EXECUTE ordered(NULL);
RESET enable_bitmapscan;
-- Without a bound on it, order alone does not use the index
PREPARE nearest(minhash) AS SELECT id FROM paper ORDER BY sig <%> $1 LIMIT 3;
CREATE FUNCTION query_plan(query text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE line text; plan text := '';
  BEGIN FOR line IN EXECUTE 'EXPLAIN ' || query LOOP plan := plan || line || E'\n'; END LOOP; RETURN plan; END $$;
SELECT query_plan('EXECUTE nearest(NULL)') ~ 'paper_sig' AS uses_index;
-- Several conditions, with other indexes
PREPARE two(minhash, minhash) AS SELECT id FROM paper WHERE jaccard(sig, $1) > 0.8 AND jaccard(sig, $2) > 0.75;
EXPLAIN (COSTS OFF) EXECUTE two(NULL, NULL);
PREPARE either(minhash) AS SELECT id FROM paper WHERE jaccard(sig, $1) > 0.8 OR id = 5;
EXPLAIN (COSTS OFF) EXECUTE either(NULL);
PREPARE arms(minhash) AS SELECT id FROM paper WHERE (jaccard(sig, $1) > 0.8 AND cat = 'c1') OR (year = 2001 AND cat = 'c2');
EXPLAIN (COSTS OFF) EXECUTE arms(NULL);
-- Conditions that no index serves: too low, of the same row, volatile, unequal, an arm without an index
SELECT form, query_plan('SELECT id FROM paper WHERE ' || replace(form, 'Q', '(SELECT qsig FROM query LIMIT 1)')) ~ 'paper_sig' AS uses_index
  FROM (VALUES ('jaccard(sig, Q) > 0.8'), ('jaccard(sig, Q) > 0.5'), ('jaccard(sig, Q) > 0.75'), ('jaccard(sig, Q) >= 0.75'),
    ('sig <%> Q <= 0.25'), ('sig <%> Q <= 0.26'), ('jaccard(sig, Q) < 0.9'), ('sig <%> Q > 0.1'), ('jaccard(sig, Q) = 1'),
    ('jaccard(sig, sig) > 0.8'), ('jaccard(sig, Q) > 0.8 + id'), ('jaccard(sig, Q) > random()'), ('jaccard(sig, Q) > 0.8 OR body = ''x'''),
    ('NOT jaccard(sig, Q) > 0.8'), ('jaccard_at_least(sig, Q, 0.8)'), ('jaccard_at_least(sig, Q, 0.4)'), ('jaccard_at_least(sig, Q, 80)'),
    ('jaccard(sig, Q) > 1.5'), ('jaccard(sig, Q) > ''NaN'''), ('sig % Q')) x(form);
RESET enable_seqscan;
SET neardup.jaccard_threshold = 0.5;
SELECT query_plan('SELECT id FROM paper WHERE sig % (SELECT qsig FROM query LIMIT 1)') ~ 'paper_sig' AS uses_index;
RESET neardup.jaccard_threshold;

-- Joins
SET enable_material = off;
EXPLAIN (COSTS OFF) SELECT qid, id FROM query JOIN paper ON jaccard(sig, qsig) > 0.8;
EXPLAIN (COSTS OFF) SELECT qid, id FROM query LEFT JOIN paper ON jaccard(qsig, sig) >= bound;
EXPLAIN (COSTS OFF) SELECT qid FROM query WHERE EXISTS (SELECT FROM paper WHERE id <> qid AND jaccard(sig, qsig) > 0.8);
EXPLAIN (COSTS OFF) SELECT qid FROM query WHERE NOT EXISTS (SELECT FROM paper WHERE id <> qid AND jaccard(sig, qsig) > 0.8);
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT qid, id FROM query, LATERAL (SELECT id FROM paper WHERE jaccard(sig, qsig) > 0.8 ORDER BY sig <%> qsig LIMIT 2) x;
RESET enable_bitmapscan;
SELECT query_plan('SELECT x.id, y.id FROM paper x JOIN paper y ON x.id < y.id AND jaccard(x.sig, y.sig) >= 0.8') ~ 'paper_sig' AS uses_index;
SELECT count(*), (SELECT count(*) FROM all_pairs('SELECT id, sig FROM paper', 0.8)) AS by_all_pairs
  FROM paper x JOIN paper y ON x.id < y.id AND jaccard(x.sig, y.sig) >= 0.8;
RESET enable_material;

-- Partitions, UNION ALL, expressions, partial indexes
CREATE TABLE part (id int, sig minhash) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (400);
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM (400) TO (1000);
INSERT INTO part SELECT id, sig FROM paper;
CREATE INDEX ON part USING lsh (sig);
ANALYZE part;
SET enable_seqscan = off;
PREPARE parts(minhash) AS SELECT id FROM part WHERE jaccard(sig, $1) > 0.8;
EXPLAIN (COSTS OFF) EXECUTE parts(NULL);
RESET enable_seqscan;
EXPLAIN (COSTS OFF) SELECT qid, id FROM query JOIN part ON jaccard(sig, qsig) > 0.8 AND id < 500;
SET enable_seqscan = off;
CREATE VIEW everything AS SELECT id, sig FROM paper UNION ALL SELECT id + 10000, sig FROM part_1;
PREPARE view(minhash) AS SELECT id FROM everything WHERE jaccard(sig, $1) > 0.8;
EXPLAIN (COSTS OFF) EXECUTE view(NULL);
CREATE INDEX paper_body ON paper USING lsh (to_minhash(body));
PREPARE expression(text) AS SELECT id FROM paper WHERE jaccard(to_minhash(body), to_minhash($1)) >= 0.8;
EXPLAIN (COSTS OFF) EXECUTE expression(NULL);
CREATE INDEX paper_c2 ON paper USING lsh (to_minhash(body, 2)) WHERE cat = 'c2';
PREPARE partial(text) AS SELECT id FROM paper WHERE cat = 'c2' AND jaccard(to_minhash(body, 2), to_minhash($1, 2)) >= 0.8;
EXPLAIN (COSTS OFF) EXECUTE partial(NULL);
PREPARE other_part(text) AS SELECT id FROM paper WHERE cat = 'c1' AND jaccard(to_minhash(body, 2), to_minhash($1, 2)) >= 0.8;
SELECT query_plan('EXECUTE other_part(NULL)') ~ 'paper_c2' AS uses_index;

-- Changes, row security
RESET enable_seqscan;
EXPLAIN (COSTS OFF) UPDATE paper SET year = 0 FROM query WHERE jaccard(sig, qsig) > 0.8;
SET enable_seqscan = off;
PREPARE gone(minhash) AS DELETE FROM paper WHERE jaccard(sig, $1) > 0.8;
EXPLAIN (COSTS OFF) EXECUTE gone(NULL);
CREATE ROLE regress_neardup_reader;
GRANT SELECT ON paper TO regress_neardup_reader;
ALTER TABLE paper ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON paper USING (upper(cat) <> 'C0');
SET ROLE regress_neardup_reader;
EXPLAIN (COSTS OFF) EXECUTE constant(NULL);
SET enable_indexscan = off;
DISCARD PLANS;
EXPLAIN (COSTS OFF) EXECUTE constant(NULL);
RESET enable_indexscan;
RESET ROLE;
ALTER TABLE paper DISABLE ROW LEVEL SECURITY;
REVOKE ALL ON paper FROM regress_neardup_reader;
DROP ROLE regress_neardup_reader;

-- Estimates: about 3 rows a query, 4 rows a group
CREATE FUNCTION estimate(query text) RETURNS float8 LANGUAGE plpgsql AS $$
  DECLARE plan json; BEGIN EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan; RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows'; END $$;
SELECT estimate('EXECUTE one(NULL, NULL)') BETWEEN 1 AND 10 AS unknown,
    estimate('SELECT FROM paper x JOIN paper y ON jaccard(x.sig, y.sig) >= 0.8') BETWEEN 1000 AND 5000 AS joined,
    estimate('SELECT FROM paper x JOIN paper y ON x.sig % y.sig') BETWEEN 1000 AND 5000 AS operator,
    estimate('SELECT FROM part x JOIN part y ON jaccard(x.sig, y.sig) >= 0.8') BETWEEN 1000 AND 5000 AS parted,
    estimate('SELECT FROM paper x WHERE jaccard(sig, (SELECT qsig FROM query LIMIT 1)) BETWEEN 0.8 AND 0.9') BETWEEN 1 AND 10 AS range,
    estimate('SELECT FROM paper x WHERE EXISTS (SELECT FROM paper y WHERE jaccard(x.sig, y.sig) >= 0.8)') BETWEEN 600 AND 800 AS semi,
    estimate('SELECT FROM paper x WHERE NOT EXISTS (SELECT FROM paper y WHERE jaccard(x.sig, y.sig) >= 0.8)') < 200 AS anti,
    estimate('SELECT FROM paper WHERE jaccard(sig, set_minhash(''{1,2,3}''::bigint[])) >= 0.8') = 1 AS counted,
    estimate('SELECT FROM paper WHERE jaccard(sig, set_minhash(''{1,2,3}''::bigint[])) >= 0') = 800 AS everything;
SELECT stanullfrac, stadistinct <> 0 AS has_distinct, array_length(stanumbers, 1) AS numbers
  FROM pg_statistic, LATERAL (VALUES (stakind1, stanumbers1), (stakind2, stanumbers2), (stakind3, stanumbers3)) x(kind, stanumbers)
  WHERE starelid = 'paper'::regclass AND staattnum = 5 AND kind = 19551;

-- A table with many copies of one row. A query from outside, or a row of a table, is as likely one document as another; all rows of a
-- table are as popular as they are. A prepared statement comes to a plan that it keeps.
CREATE TABLE copied WITH (autovacuum_enabled = off) AS SELECT i AS id, set_minhash(ARRAY(SELECT greatest(i, 1000) * 1000::bigint + e FROM generate_series(1, 60) e)) AS sig
  FROM generate_series(1, 2500) i;
CREATE INDEX copied_sig ON copied USING lsh (sig);
ANALYZE copied;
PREPARE of_copied(minhash) AS SELECT id FROM copied WHERE jaccard(sig, $1) > 0.8;
CREATE FUNCTION estimates() RETURNS TABLE (outside float8, known_copy float8, of_row float8, joined float8) LANGUAGE sql AS $$
  SELECT estimate('EXECUTE of_copied(NULL)'),
    estimate(format('SELECT FROM copied WHERE jaccard(sig, %L) > 0.8', (SELECT sig FROM copied WHERE id = 5))),
    estimate('SELECT FROM copied WHERE jaccard(sig, (SELECT sig FROM copied LIMIT 1)) > 0.8'),
    estimate('SELECT FROM copied x JOIN copied y ON jaccard(x.sig, y.sig) > 0.8') $$;
SELECT outside < 2 AS outside, known_copy BETWEEN 800 AND 1200 AS known_copy, of_row < 2 AS of_row,
  joined BETWEEN 800000 AND 1200000 AS joined FROM estimates();
-- Statistics of version 0.1.0
UPDATE pg_statistic SET stanumbers1 = CASE stakind1 WHEN 19551 THEN stanumbers1[1:23] ELSE stanumbers1 END,
  stanumbers2 = CASE stakind2 WHEN 19551 THEN stanumbers2[1:23] ELSE stanumbers2 END,
  stanumbers3 = CASE stakind3 WHEN 19551 THEN stanumbers3[1:23] ELSE stanumbers3 END WHERE starelid = 'copied'::regclass AND staattnum = 2;
DISCARD PLANS;
SELECT outside BETWEEN 300 AND 500 AS outside, joined BETWEEN 800000 AND 1200000 AS joined FROM estimates();
ANALYZE copied;
DEALLOCATE of_copied;
PREPARE of_copied(minhash) AS SELECT id FROM copied WHERE jaccard(sig, $1) > 0.8;
RESET plan_cache_mode;
DO $$ BEGIN FOR i IN 1501 .. 1520 LOOP
  EXECUTE format('EXECUTE of_copied(%L)', set_minhash(ARRAY(SELECT i * 1000::bigint + e FROM generate_series(1, 60) e)));
END LOOP; END $$;
SELECT generic_plans > 10 AS kept FROM pg_prepared_statements WHERE name = 'of_copied';
SET plan_cache_mode = force_generic_plan;
DEALLOCATE of_copied;
DROP FUNCTION estimates();
DROP TABLE copied;

-- Queries that are stored, and a value that asks for them
CREATE TABLE watch AS SELECT id, with_threshold(sig, 0.9) AS of_minhash, neardup_internal.lsh_hamming_query(to_simhash(id::text), 3) AS of_simhash,
  neardup_internal.lsh_rate_query(to_ctph(repeat('many words ' || id, 30)), 0.1) AS of_ctph FROM paper WHERE sig IS NOT NULL;
SELECT count(*) > 0 AS minhash FROM watch WHERE (SELECT sig FROM paper WHERE sig IS NOT NULL LIMIT 1) %> of_minhash;
SELECT count(*) AS simhash FROM watch WHERE to_simhash('7') %> of_simhash AND id = 7;
SELECT count(*) AS ctph FROM watch WHERE to_ctph(repeat('many words ' || 7, 30)) %> of_ctph AND id = 7;
PREPARE watching (simhash) AS SELECT count(*) FROM watch a JOIN watch b USING (id) WHERE $1 %> a.of_simhash AND $1 %> CASE WHEN a.id = b.id THEN b.of_simhash END AND id = 7;
EXECUTE watching (to_simhash('7'));
EXECUTE watching (NULL);
DEALLOCATE watching;
DROP TABLE watch;
-- OR with another comparison of two tables, below EXISTS over a join
SELECT query_plan('SELECT FROM paper a WHERE EXISTS (SELECT FROM paper b JOIN part c ON b.id = c.id
    WHERE jaccard(a.sig, b.sig) >= 0.8 OR a.id = c.id)') ~ 'Join|Nested Loop' AS planned,
  query_plan('SELECT FROM paper a WHERE NOT EXISTS (SELECT FROM paper b JOIN part c ON b.id = c.id
    WHERE jaccard(a.sig, b.sig) >= 0.8 OR a.id = c.id)') ~ 'Join|Nested Loop' AS planned_too;
-- A condition of no table, and one of the outer table alone, at an outer join
SELECT count(*) FROM (SELECT FROM paper LIMIT 3) a LEFT JOIN query b ON jaccard((SELECT qsig FROM query LIMIT 1), (SELECT qsig FROM query LIMIT 1)) >= 0.9;
SELECT count(*) > 0 AS any FROM paper a LEFT JOIN query b ON jaccard(a.sig, a.sig) >= 0.9;
-- The setting
SET neardup.derive_conditions = off;
SELECT query_plan('SELECT id FROM paper WHERE jaccard(sig, (SELECT qsig FROM query LIMIT 1)) > 0.8') ~ 'paper_sig' AS derived,
  query_plan('SELECT id FROM paper WHERE jaccard_at_least(sig, (SELECT qsig FROM query LIMIT 1), 0.8)') ~ 'paper_sig' AS by_function,
  query_plan('SELECT id FROM paper WHERE sig % (SELECT qsig FROM query LIMIT 1)') ~ 'paper_sig' AS by_operator;
RESET neardup.derive_conditions;
-- No preloading; by numbers in the operator class, not by names
SHOW shared_preload_libraries;
SET search_path = pg_catalog;
SELECT public.query_plan('SELECT id FROM public.paper WHERE public.jaccard(sig, (SELECT qsig FROM public.query LIMIT 1)) > 0.8') ~ 'paper_sig' AS uses_index;
RESET search_path;
