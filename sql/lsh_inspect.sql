-- lsh_info, lsh_check, lsh_hot_buckets, lsh_pages, explain_pair(index, ..): looking into lsh indexes.
-- Document i has 60 elements; three neighbours share nine tenths of them.
CREATE FUNCTION doc(i bigint) RETURNS minhash IMMUTABLE LANGUAGE sql AS
  $$ SELECT set_minhash(array(SELECT i / 3 * 1000 + e + CASE WHEN e < 4 THEN 100 * (i % 3) ELSE 0 END FROM generate_series(0::bigint, 59) e)) $$;
CREATE TABLE docs (id bigint, sig minhash) WITH (autovacuum_enabled = off);
CREATE INDEX docs_sig ON docs USING lsh (sig);
-- Empty
SELECT * FROM lsh_info('docs_sig', true) \gx
SELECT lsh_check('docs_sig'), lsh_check('docs_sig', true);
SELECT * FROM lsh_hot_buckets('docs_sig', 1);
SELECT * FROM lsh_pages('docs_sig');
SELECT * FROM explain_pair('docs_sig', doc(1), doc(2)) \gx
-- Pending rows only
INSERT INTO docs SELECT i, doc(i) FROM generate_series(1, 100) i;
INSERT INTO docs VALUES (-1, NULL), (-2, set_minhash(ARRAY[]::bigint[])), (-3, NULL);
SELECT * FROM lsh_info('docs_sig', count_pages => true) \gx
SELECT lsh_check('docs_sig'), lsh_check('docs_sig', true);
SELECT block, kind, owner, ordinal, entries, first_key, first_tid, free, live FROM lsh_pages('docs_sig') ORDER BY block;
SELECT count(*), sum(entries) FROM lsh_hot_buckets('docs_sig', 1, 1000000);
-- Runs, merges, pages that they left; a row that many share
INSERT INTO docs SELECT i, doc(i) FROM generate_series(101, 3000) i;
INSERT INTO docs SELECT -i, doc(0) FROM generate_series(100, 250) i;
SELECT lsh_check('docs_sig'), lsh_check('docs_sig', true);
SELECT guarantee, parameters, bands, threshold, recall, recall_at, rows, version FROM lsh_info('docs_sig');
SELECT count(*), min(entries), max(entries) FROM lsh_hot_buckets('docs_sig');
SELECT count(*), min(entries), max(entries) FROM lsh_hot_buckets('docs_sig', at_least => 100, most => 7);
SELECT count(*) FROM lsh_hot_buckets('docs_sig', 1000);
SELECT sum(entries) = 33 * 3151 AS all_entries FROM lsh_hot_buckets('docs_sig', 1, 1000000);
DELETE FROM docs WHERE id % 3 = 0;
SELECT lsh_check('docs_sig', true);
VACUUM docs;
SELECT lsh_check('docs_sig', true);
SELECT rows >= (SELECT count(*) FROM docs WHERE sig IS NOT NULL) AS all_rows, entries = 34 * rows - 33 AS all_entries, pending_rows, pending_pages,
       free_pages > 0 AS some_free, orphan_pages FROM lsh_info('docs_sig', true);
-- lsh_pages adds up to lsh_info.
SELECT sum(entries) FILTER (WHERE kind = 'leaf' AND live) = (SELECT entries FROM lsh_info('docs_sig')) AS entries,
       count(*) FILTER (WHERE kind = 'leaf' AND live) = (SELECT leaf_pages FROM lsh_info('docs_sig')) AS leaves,
       count(*) FILTER (WHERE free) = (SELECT free_pages FROM lsh_info('docs_sig', true)) AS free,
       count(*) = (SELECT pages FROM lsh_info('docs_sig')) AS pages, bool_and(kind IN ('meta', 'inner', 'leaf', 'pending', 'pending, closed', 'new')) AS kinds
  FROM lsh_pages('docs_sig');
-- Little memory
SET maintenance_work_mem = '1MB';
SELECT lsh_check('docs_sig', true);
RESET maintenance_work_mem;

-- Why a pair is found
SELECT * FROM explain_pair('docs_sig', doc(1), doc(2), 0.75) \gx
SELECT (i.comparable, i.matches, i.needed, i.jaccard, i.standard_error) = (p.comparable, p.matches, p.needed, p.jaccard, p.standard_error) AS same,
       starts_with(i.verdict, p.verdict) AS and_more FROM explain_pair('docs_sig', doc(1), doc(2), 0.8) i, explain_pair(doc(1), doc(2), 0.8) p;
-- below what the index was made for; not similar; no words in common
SELECT bands_agreeing, index_serves, verdict FROM explain_pair('docs_sig', doc(1), doc(2), 0.5);
SELECT bands_agreeing, index_serves, verdict FROM explain_pair('docs_sig', doc(1), doc(2), 0.99);
SELECT bands_agreeing, index_serves, verdict FROM explain_pair('docs_sig', doc(1), doc(9), threshold => 0.8);
-- an empty one; made differently from each other; from the index
SELECT bands_agreeing, index_serves, verdict FROM explain_pair('docs_sig', doc(1), set_minhash(ARRAY[]::bigint[]));
SELECT * FROM explain_pair('docs_sig', doc(1), to_minhash('a b c d')) \gx
SELECT * FROM explain_pair('docs_sig', to_minhash('a b c d'), to_minhash('a b c d e')) \gx
SELECT explain_pair('docs_sig', doc(1), doc(2), 80);
SELECT explain_pair('docs_sig', NULL, doc(2)) IS NULL AS null_for_null;

-- Other indexes: partial, of an expression, with recall below 1, for an exclusion constraint
CREATE TABLE texts (id int, tenant int, body text);
INSERT INTO texts SELECT i, i % 2, CASE WHEN i % 5 > 0 THEN 'one two three four five six seven ' || i / 3 || ' and eight nine ten ' || i END FROM generate_series(1, 300) i;
CREATE INDEX texts_part ON texts USING lsh (to_minhash(body, 2)) WHERE tenant = 1;
CREATE INDEX texts_recall ON texts USING lsh (to_minhash(body, 2)) WITH (threshold = 0.5, recall = 0.9);
SELECT rows, lsh_check(i, true) FROM unnest(ARRAY['texts_part', 'texts_recall']::regclass[]) i, lsh_info(i);
SELECT guarantee, parameters, threshold, recall, recall_at FROM lsh_info('texts_recall');
SELECT index_serves, verdict FROM texts a, texts b, explain_pair('texts_part', to_minhash(a.body, 2), to_minhash(b.body, 2), 0.8) WHERE a.id = 31 AND b.id = 31;
UPDATE texts SET tenant = 1, body = body || ' eleven' WHERE id % 7 = 0;
DELETE FROM texts WHERE id % 11 = 0;
VACUUM texts;
SELECT lsh_check('texts_part', true), lsh_check('texts_recall', true);
CREATE TABLE kept (id int, sig minhash, EXCLUDE USING lsh (with_threshold(sig, 0.9) WITH &&));
INSERT INTO kept SELECT i, doc(i) FROM generate_series(1, 60) i ON CONFLICT DO NOTHING;
SELECT lsh_check('kept_with_threshold_excl', true);
SELECT matches, bands_agreeing > 0 AS agreeing, index_serves, verdict FROM explain_pair('kept_with_threshold_excl', doc(3), doc(4), 0.9);

-- A row that the index lost, and one that it should not have
BEGIN;
UPDATE pg_index SET indisready = false WHERE indexrelid = 'docs_sig'::regclass;
INSERT INTO docs VALUES (5000, doc(5000));
UPDATE pg_index SET indisready = true WHERE indexrelid = 'docs_sig'::regclass;
SELECT lsh_check('docs_sig');
\set VERBOSITY terse
SELECT lsh_check('docs_sig', heapallindexed => true);
ROLLBACK;
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'docs_sig'::regclass;
SELECT lsh_check('docs_sig');
SELECT index_serves, verdict FROM explain_pair('docs_sig', doc(1), doc(2), 0.75);
UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'docs_sig'::regclass;
\set VERBOSITY default

-- No lsh index
CREATE INDEX docs_id ON docs (id);
SELECT lsh_check('docs');
SELECT lsh_info('docs_id');
SELECT lsh_pages('docs_id');
SELECT lsh_hot_buckets('docs_id');
SELECT lsh_check('docs_id', NULL) IS NULL AS null_for_null;
CREATE TABLE parts (id int, sig minhash) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE INDEX parts_sig ON parts USING lsh (sig);
SELECT lsh_check('parts_sig');
SELECT lsh_check('parts_1_sig_idx', true);
SELECT lsh_hot_buckets('docs_sig', 0);
SELECT lsh_hot_buckets('docs_sig', 1, 0);
-- Unlogged and temporary ones
CREATE UNLOGGED TABLE quick (sig minhash);
CREATE INDEX quick_sig ON quick USING lsh (sig);
CREATE TEMP TABLE mine (sig minhash);
CREATE INDEX mine_sig ON mine USING lsh (sig);
INSERT INTO quick SELECT doc(i) FROM generate_series(1, 500) i;
INSERT INTO mine TABLE quick;
SELECT rows, lsh_check(i, true) FROM unnest(ARRAY['quick_sig', 'mine_sig']::regclass[]) i, lsh_info(i);

-- Who may ask: who may read the table; who may see all of its rows, where single rows show
CREATE ROLE regress_lsh_reader;
SET ROLE regress_lsh_reader;
SELECT lsh_info('docs_sig');
SELECT lsh_check('docs_sig');
SELECT explain_pair('docs_sig', doc(1), doc(2));
RESET ROLE;
GRANT SELECT ON docs TO regress_lsh_reader;
SET ROLE regress_lsh_reader;
SELECT rows > 0 AS rows, lsh_check('docs_sig', true) FROM lsh_info('docs_sig');
SELECT count(*) > 0 AS pages FROM lsh_pages('docs_sig');
RESET ROLE;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
SET ROLE regress_lsh_reader;
SELECT rows > 0 AS rows FROM lsh_info('docs_sig');
SELECT lsh_pages('docs_sig');
SELECT lsh_hot_buckets('docs_sig');
RESET ROLE;
DROP TABLE docs, texts, kept, parts, quick, mine;
DROP FUNCTION doc;
DROP ROLE regress_lsh_reader;
