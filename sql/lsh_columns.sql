-- lsh (tenant, sig): similar rows must agree in the columns before the last.
SET search_path = public;
CREATE FUNCTION words(first int) RETURNS text LANGUAGE sql IMMUTABLE AS
  $$ SELECT string_agg('word' || i, ' ' ORDER BY i) FROM generate_series(first, first + 99) i $$;
CREATE TABLE letter (id int PRIMARY KEY, tenant int, lang text, sig minhash);
INSERT INTO letter SELECT i, i % 4, CASE i % 3 WHEN 0 THEN 'en' WHEN 1 THEN 'de' END,
  CASE WHEN i % 10 <> 7 THEN to_minhash(words(i % 5)) END FROM generate_series(1, 60) i;
CREATE INDEX letter_sig ON letter USING lsh (tenant, sig);
CREATE INDEX letter_lang ON letter USING lsh (tenant, lower(lang), sig) WITH (threshold = 0.9);
SELECT guarantee, rows FROM lsh_info('letter_sig');
SELECT guarantee, rows FROM lsh_info('letter_lang');
SELECT lsh_check('letter_sig', true), lsh_check('letter_lang', true);
SET enable_seqscan = off;
SET neardup.enable_join = off;
SET enable_bitmapscan = off;
PREPARE near (int, minhash) AS SELECT id FROM letter WHERE tenant = $1 AND jaccard(sig, $2) >= 0.9 ORDER BY id;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE near (1, NULL);
EXECUTE near (1, to_minhash(words(0)));
EXECUTE near (NULL, to_minhash(words(0)));
-- A type of the same family, a subquery (its plan reads differently from PostgreSQL 17 on), a list
SELECT id FROM letter WHERE tenant = 1::bigint AND sig %> with_threshold((SELECT sig FROM letter WHERE id = 5), 0.9) ORDER BY id;
-- PostgreSQL 18 tells of a scan that a setting is against it.
CREATE OR REPLACE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
  DECLARE line text; BEGIN FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line !~ 'Disabled: true' THEN RETURN NEXT line; END IF; END LOOP; END $$;
SELECT plan_of('SELECT a.id, b.id FROM letter a JOIN letter b ON b.tenant = a.tenant AND jaccard(b.sig, a.sig) >= 0.9');
SELECT a.id, b.id FROM letter a JOIN letter b ON b.tenant = a.tenant AND b.id > a.id AND jaccard(b.sig, a.sig) >= 0.9
  WHERE a.tenant = 2 AND a.id < 20 ORDER BY 1, 2;
-- Booleans, which PostgreSQL makes conditions of themselves
ALTER TABLE letter ADD flag boolean GENERATED ALWAYS AS (id % 4 < 2) STORED;
CREATE INDEX letter_flag ON letter USING lsh (flag, sig);
PREPARE flagged (minhash) AS SELECT count(*), sum(id) FROM letter WHERE flag = true AND jaccard(sig, $1) >= 0.9;
EXPLAIN (COSTS OFF) EXECUTE flagged (NULL);
EXECUTE flagged (to_minhash(words(0)));
PREPARE unflagged (minhash) AS SELECT count(*), sum(id) FROM letter WHERE NOT flag AND sig % $1;
EXPLAIN (COSTS OFF) EXECUTE unflagged (NULL);
EXECUTE unflagged (to_minhash(words(0)));
-- Rows without a value, and conditions on the first columns alone
SELECT count(*) FROM letter WHERE tenant = 3;
SELECT count(*) FROM letter WHERE tenant = 3 AND sig IS NULL;
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET plan_cache_mode;
-- explain_pair()
SELECT verdict FROM explain_pair('letter_sig', (SELECT sig FROM letter WHERE id = 5), (SELECT sig FROM letter WHERE id = 10), 0.9);
-- Indexes that are refused
CREATE INDEX ON letter USING lsh (tenant);
CREATE INDEX ON letter USING lsh (sig, tenant);
CREATE INDEX ON letter USING lsh (sig, sig);
CREATE INDEX ON letter USING lsh (tenant, lang);
CREATE INDEX ON letter USING lsh (tenant) INCLUDE (sig);
CREATE UNIQUE INDEX ON letter USING lsh (tenant, sig);
-- The class is named with its schema from PostgreSQL 17 on.
\set VERBOSITY sqlstate
CREATE INDEX ON letter USING lsh (tenant int4_ops (blocks = 3), sig);
\set VERBOSITY default
CREATE TABLE shape (p point, sig minhash);
CREATE INDEX ON shape USING lsh (p, sig);
DROP TABLE shape;
-- A type of one's own
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE TABLE paint (c colour, cs colour[], sig minhash, EXCLUDE USING lsh (c WITH =, cs WITH =, with_threshold(sig, 0.9) WITH &&));
INSERT INTO paint VALUES ('red', '{red}', to_minhash(words(0))), ('green', '{red}', to_minhash(words(0))), ('red', '{red,green}', to_minhash(words(0)));
\set VERBOSITY sqlstate
INSERT INTO paint VALUES ('green', '{red}', to_minhash(words(1)));
\set VERBOSITY default
-- The planner counts with constants, of which it knows the type that the operator takes.
CREATE INDEX paint_sig ON paint USING lsh (c, cs, sig);
SELECT format('%L', to_minhash(words(0))) AS sig \gset text_
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT c, cs FROM paint WHERE c = 'red' AND cs = '{red}' AND sig %> with_threshold(:text_sig, 0.9);
SELECT c, cs FROM paint WHERE c = 'red'::colour AND cs = '{red,green}'::colour[] AND jaccard(sig, :text_sig) >= 0.9;
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE paint, letter;
DROP TYPE colour;
DROP FUNCTION words;
