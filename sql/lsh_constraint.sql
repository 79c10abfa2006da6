-- Constraints and triggers against near copies, in one session. Between sessions: test/isolation.
\set VERBOSITY terse
-- Signatures of one hundred are near copies of each other: 0.92 and more from 0 to 3.
CREATE FUNCTION sig(id int) RETURNS minhash LANGUAGE sql IMMUTABLE AS
  $$ SELECT set_minhash(ARRAY(SELECT id / 100 * 1000::bigint + id % 100 + g FROM generate_series(1, 99) g)) $$;
SELECT id, jaccard(sig(0), sig(id)), jaccard(sig(0), sig(id)) >= 0.9 AS near FROM unnest('{0,1,3,20,100}'::int[]) id;

-- EXCLUDE
CREATE TABLE docs (id int PRIMARY KEY, note text, sig minhash, EXCLUDE USING lsh (with_threshold(sig, 0.9) WITH &&));
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'docs'::regclass AND contype = 'x';
INSERT INTO docs VALUES (1, '', sig(0)), (2, '', sig(100)), (3, '', sig(20));
INSERT INTO docs VALUES (4, '', sig(1));
INSERT INTO docs VALUES (4, '', sig(400)), (5, '', sig(401));
SELECT guarantee, threshold, rows FROM lsh_info('docs_with_threshold_excl');
-- Nothing is similar to an empty signature, or to none.
INSERT INTO docs SELECT i, '', CASE WHEN i > 11 THEN set_minhash('{}'::bigint[]) END FROM generate_series(10, 13) i;
-- ON CONFLICT
INSERT INTO docs VALUES (6, '', sig(1)) ON CONFLICT DO NOTHING RETURNING id;
INSERT INTO docs VALUES (6, '', sig(600)) ON CONFLICT DO NOTHING RETURNING id;
INSERT INTO docs VALUES (7, '', sig(700)), (8, '', sig(701)), (9, '', sig(900)) ON CONFLICT DO NOTHING RETURNING id;
INSERT INTO docs VALUES (8, '', sig(1)) ON CONFLICT ON CONSTRAINT docs_with_threshold_excl DO NOTHING RETURNING id;
INSERT INTO docs VALUES (8, '', sig(1)) ON CONFLICT ON CONSTRAINT docs_with_threshold_excl DO UPDATE SET note = 'x';
INSERT INTO docs VALUES (7, '', sig(702)) ON CONFLICT (id) DO UPDATE SET note = 'same', sig = excluded.sig RETURNING id, note;
INSERT INTO docs VALUES (7, '', sig(1)) ON CONFLICT (id) DO UPDATE SET note = 'other', sig = excluded.sig RETURNING id, note;
INSERT INTO docs VALUES (8, '', sig(1)) ON CONFLICT (id) DO NOTHING;
-- UPDATE: to itself, to a near copy of itself, of another
UPDATE docs SET sig = sig WHERE id = 1;
UPDATE docs SET note = 'note' WHERE id = 1;
UPDATE docs SET id = id + 100 WHERE id = 1;
UPDATE docs SET sig = sig(2) WHERE id = 101;
UPDATE docs SET sig = sig(102) WHERE id = 101;
UPDATE docs SET sig = sig(300) WHERE id = 101;
INSERT INTO docs VALUES (1, '', sig(0));
UPDATE docs SET sig = CASE id WHEN 1 THEN sig(100) ELSE sig(0) END WHERE id IN (1, 2);
-- A row that was deleted or rolled back is no original.
BEGIN;
DELETE FROM docs WHERE id = 1;
INSERT INTO docs VALUES (20, '', sig(3));
SAVEPOINT s;
INSERT INTO docs VALUES (21, '', sig(1));
ROLLBACK TO s;
INSERT INTO docs VALUES (21, '', sig(2100));
SAVEPOINT t;
INSERT INTO docs VALUES (22, '', sig(2200));
ROLLBACK TO t;
INSERT INTO docs VALUES (22, '', sig(2201));
COMMIT;
SELECT array_agg(id ORDER BY id) FROM docs;
-- No setting weakens it; other parameters do not fit.
SET neardup.jaccard_threshold = 1;
INSERT INTO docs VALUES (30, '', sig(1));
RESET neardup.jaccard_threshold;
INSERT INTO docs VALUES (30, '', set_minhash('{1,2,3}'::bigint[], 64));
INSERT INTO docs VALUES (30, '', to_minhash('a b c d'));
-- Rows with thresholds of their own: the greater one of two counts.
CREATE TABLE own (id int, bound float8, sig minhash, EXCLUDE USING lsh (with_threshold(sig, bound) WITH &&));
INSERT INTO own VALUES (1, 0.95, sig(0)), (2, 0.7, sig(20));
INSERT INTO own VALUES (3, 0.7, sig(2));
INSERT INTO own VALUES (3, 1, sig(2));
INSERT INTO own VALUES (4, 0.5, sig(22));
INSERT INTO own VALUES (5, 80, sig(500));
DROP TABLE own;
-- Deferred
CREATE TABLE later (id int, sig minhash, CONSTRAINT copies EXCLUDE USING lsh (with_threshold(sig, 0.9) WITH &&) DEFERRABLE);
BEGIN;
SET CONSTRAINTS copies DEFERRED;
INSERT INTO later VALUES (1, sig(0)), (2, sig(1)), (3, sig(300));
DELETE FROM later WHERE id = 1;
COMMIT;
BEGIN;
SET CONSTRAINTS ALL DEFERRED;
INSERT INTO later VALUES (4, sig(301));
COMMIT;
BEGIN;
SET CONSTRAINTS ALL DEFERRED;
UPDATE later SET sig = CASE id WHEN 2 THEN sig(300) ELSE sig(0) END;
INSERT INTO later VALUES (4, sig(301));
SET CONSTRAINTS ALL IMMEDIATE;
ROLLBACK;
INSERT INTO later VALUES (4, sig(301)) ON CONFLICT DO NOTHING;
INSERT INTO later VALUES (4, sig(301));
SELECT array_agg(id ORDER BY id) FROM later;
DROP TABLE later;
-- Documents, without a column of signatures; COPY; a part of the table
CREATE TABLE texts (id int, lang text, body text,
  CONSTRAINT no_copies EXCLUDE USING lsh (with_threshold(to_minhash(body, 1), 0.6) WITH &&) WHERE (lang = 'en'));
COPY texts FROM stdin (DELIMITER '|');
1|en|one two three four five six
2|de|one two three four five six
3|en|
4|en|\N
5|en|
6|en|seven eight nine
\.
COPY texts FROM stdin (DELIMITER '|');
7|en|ten eleven twelve
8|en|Six, five, four, three, two, one!
\.
COPY texts FROM stdin (DELIMITER '|');
7|en|ten eleven twelve
8|en|twelve ten eleven
\.
INSERT INTO texts VALUES (8, 'de', 'nine eight seven'), (9, 'en', 'nine eight seven ten') ON CONFLICT DO NOTHING RETURNING id;
UPDATE texts SET lang = 'en' WHERE id = 2;
SELECT array_agg(id ORDER BY id) FROM texts;
-- Added to a table that has copies
ALTER TABLE texts DROP CONSTRAINT no_copies;
ALTER TABLE texts ADD CONSTRAINT no_copies EXCLUDE USING lsh (with_threshold(to_minhash(body, 1), 0.6) WITH &&);
DELETE FROM texts WHERE lang = 'de';
ALTER TABLE texts ADD CONSTRAINT no_copies EXCLUDE USING lsh (with_threshold(to_minhash(body, 1), 0.6) WITH &&);
INSERT INTO texts VALUES (9, 'de', 'nine eight seven');
DROP TABLE texts;
-- Rebuilt, emptied, vacuumed
REINDEX INDEX docs_with_threshold_excl;
INSERT INTO docs VALUES (31, '', sig(1));
VACUUM docs;
INSERT INTO docs VALUES (31, '', sig(1));
VACUUM FULL docs;
INSERT INTO docs VALUES (31, '', sig(1));
SELECT lsh_check('docs_with_threshold_excl', true);
CREATE TABLE emptied AS TABLE docs;
TRUNCATE docs;
INSERT INTO docs VALUES (31, '', to_minhash('a b c d')), (32, '', to_minhash('e f g h'));
INSERT INTO docs VALUES (33, '', to_minhash('a b, c d'));
-- Many at once: flushes and merges while they are checked
TRUNCATE docs;
INSERT INTO docs SELECT i, '', set_minhash(ARRAY[i, -i]::bigint[], 16) FROM generate_series(1, 3000) i;
INSERT INTO docs SELECT 10000 + i, '', set_minhash(ARRAY[i, -i]::bigint[], 16) FROM generate_series(1, 6000) i ON CONFLICT DO NOTHING;
SELECT count(*), count(*) FILTER (WHERE id <= 3000) AS first, count(DISTINCT sig) FROM docs;
UPDATE docs SET note = 'changed', sig = set_minhash(ARRAY[id, -id]::bigint[], 16) WHERE id % 100 = 1;
SELECT lsh_check('docs_with_threshold_excl', true);
DROP TABLE docs;
CREATE TEMP TABLE passing (sig minhash, EXCLUDE USING lsh (with_threshold(sig, 0.9) WITH &&)) ON COMMIT DELETE ROWS;
BEGIN;
INSERT INTO passing VALUES (sig(0)), (sig(1));
ROLLBACK;
BEGIN;
INSERT INTO passing VALUES (sig(0)), (sig(100));
COMMIT;
INSERT INTO passing VALUES (sig(1));
DROP TABLE passing;
-- Constraints that are refused
ALTER TABLE emptied ADD EXCLUDE USING lsh (sig WITH %);
ALTER TABLE emptied ADD EXCLUDE USING lsh (with_threshold(sig, 0.9) WITH &&) WITH (recall = 0.9);
ALTER TABLE emptied ADD EXCLUDE USING lsh (id WITH =, sig WITH %);
ALTER TABLE emptied ADD EXCLUDE USING lsh (with_threshold(sig, 9) WITH &&);
ALTER TABLE emptied ADD EXCLUDE USING gist (with_threshold(sig, 0.9) WITH &&);
DROP TABLE emptied;
-- The constraint cannot be weakened before the first row either.
CREATE TABLE empty (id int, sig minhash, CONSTRAINT whole EXCLUDE USING lsh (id WITH =, with_threshold(sig, 0.9) WITH &&));
ALTER INDEX whole SET (recall = 0.1);
INSERT INTO empty VALUES (1, NULL);
INSERT INTO empty VALUES (1, sig(0));
TRUNCATE empty;
VACUUM FULL empty;
ALTER INDEX whole RESET (recall);
INSERT INTO empty VALUES (1, sig(0));
INSERT INTO empty VALUES (1, sig(1));
DROP TABLE empty;

-- neardup_guard()
CREATE TABLE guarded (id int PRIMARY KEY, note text, sig minhash);
CREATE INDEX ON guarded USING lsh (sig);
CREATE TRIGGER no_copies BEFORE INSERT OR UPDATE ON guarded FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.9');
INSERT INTO guarded VALUES (1, '', sig(0)), (2, '', sig(100)), (3, '', sig(20)), (4, '', NULL), (5, '', NULL);
\set VERBOSITY default
INSERT INTO guarded VALUES (6, '', sig(1));
\set VERBOSITY terse
-- the rows of the same statement count
INSERT INTO guarded VALUES (6, '', sig(600)), (7, '', sig(601));
INSERT INTO guarded SELECT i, '', set_minhash('{}'::bigint[]) FROM generate_series(6, 8) i;
-- the same row, by its primary key
INSERT INTO guarded VALUES (1, '', sig(1)) ON CONFLICT (id) DO UPDATE SET note = 'same', sig = excluded.sig RETURNING id, note;
INSERT INTO guarded VALUES (1, '', sig(101)) ON CONFLICT (id) DO UPDATE SET note = 'other', sig = excluded.sig RETURNING id, note;
INSERT INTO guarded VALUES (1, '', sig(0)) ON CONFLICT DO NOTHING;
INSERT INTO guarded VALUES (9, '', sig(0)) ON CONFLICT DO NOTHING;
UPDATE guarded SET note = 'note', id = id + 10 WHERE id IN (1, 4);
UPDATE guarded SET sig = sig(2) WHERE id = 11;
UPDATE guarded SET sig = sig(102) WHERE id = 11;
BEGIN;
DELETE FROM guarded WHERE id = 2;
UPDATE guarded SET sig = sig(102) WHERE id = 11;
SAVEPOINT s;
INSERT INTO guarded VALUES (2, '', sig(300));
ROLLBACK TO s;
INSERT INTO guarded VALUES (2, '', sig(301));
COMMIT;
SELECT id, jaccard(sig, sig(100)) > 0.9 AS near, jaccard(sig, sig(300)) > 0.9 AS other FROM guarded WHERE id IN (2, 11) ORDER BY id;
COPY guarded FROM stdin (DELIMITER '|');
20||mh1:bigint:128x32:s0:t0:empty
21||mh1:bigint:128x32:s0:t0:empty
\.
-- A copy that was there before the trigger may stay.
ALTER TABLE guarded DISABLE TRIGGER no_copies;
INSERT INTO guarded VALUES (30, '', sig(301));
ALTER TABLE guarded ENABLE TRIGGER no_copies;
UPDATE guarded SET note = 'stays' WHERE id IN (2, 30) RETURNING id;
UPDATE guarded SET sig = sig(302) WHERE id = 30;
-- A column gets another name, an index goes, the key goes: the query is prepared again.
ALTER TABLE guarded RENAME TO "Guarded ""Docs""";
ALTER TABLE "Guarded ""Docs""" RENAME note TO "Note";
DROP INDEX guarded_sig_idx;
INSERT INTO "Guarded ""Docs""" VALUES (31, '', sig(303));
ALTER TABLE "Guarded ""Docs""" DROP CONSTRAINT guarded_pkey;
\set VERBOSITY default
INSERT INTO "Guarded ""Docs""" VALUES (31, '', sig(303));
\set VERBOSITY terse
CREATE OR REPLACE TRIGGER no_copies BEFORE INSERT ON "Guarded ""Docs""" FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '1', 'refuse');
INSERT INTO "Guarded ""Docs""" VALUES (31, '', sig(303));
DROP TABLE "Guarded ""Docs""";

-- An expression, generated columns, 'skip'
CREATE TABLE texts (id int PRIMARY KEY, body text, clean text GENERATED ALWAYS AS (lower(body)) STORED,
  sig minhash GENERATED ALWAYS AS (to_minhash(lower(body), 1)) STORED);
CREATE INDEX ON texts USING lsh (to_minhash(body, 1));
CREATE INDEX ON texts USING lsh (sig);
CREATE TRIGGER a BEFORE INSERT OR UPDATE ON texts FOR EACH ROW EXECUTE FUNCTION neardup_guard('to_minhash(body, 1)', '0.6', 'skip');
INSERT INTO texts VALUES (1, 'one two three four'), (2, 'three, four, one and two'), (3, 'six seven') RETURNING id;
UPDATE texts SET body = 'One Two Three Four Five' RETURNING id, body;
DROP TRIGGER a ON texts;
CREATE TRIGGER a BEFORE INSERT OR UPDATE ON texts FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.6', 'skip');
INSERT INTO texts VALUES (1, 'nine'), (2, 'TWO three, Four, one'), (4, 'eight nine') ON CONFLICT DO NOTHING RETURNING id;
UPDATE texts SET body = 'One Two Three Four' RETURNING id, body;
DROP TRIGGER a ON texts;
CREATE TRIGGER a BEFORE INSERT OR UPDATE ON texts FOR EACH ROW EXECUTE FUNCTION neardup_guard('to_minhash(clean, 1)', '0.6');
INSERT INTO texts VALUES (5, 'TWO three, Four, one');
UPDATE texts SET body = 'FOUR three two one' WHERE id = 3;
UPDATE texts SET body = 'ten' WHERE id = 3;
-- The search_path of who inserts is not asked.
SET search_path = pg_catalog;
INSERT INTO public.texts VALUES (5, 'TWO three, Four, one');
INSERT INTO public.texts VALUES (5, 'eleven twelve');
RESET search_path;
-- It may have others of PostgreSQL's own names.
CREATE SCHEMA trap;
CREATE FUNCTION trap.lower(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE 'trap'; RETURN $1; END $$;
CREATE OR REPLACE TRIGGER a BEFORE INSERT ON texts FOR EACH ROW EXECUTE FUNCTION neardup_guard('to_minhash(lower(body), 1)', '0.6');
SET search_path = trap, pg_catalog, public;
INSERT INTO texts VALUES (6, 'ELEVEN Twelve');
RESET search_path;
DROP SCHEMA trap CASCADE;
DROP TABLE texts;

-- Partitions: copies are found in all of them.
CREATE TABLE parted (part int, id int, sig minhash, PRIMARY KEY (part, id)) PARTITION BY LIST (part);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted_2 (sig minhash, more text, id int NOT NULL, part int NOT NULL) PARTITION BY RANGE (id);
ALTER TABLE parted_2 DROP more;
CREATE TABLE parted_2a (id int NOT NULL, part int NOT NULL, sig minhash);
ALTER TABLE parted_2 ATTACH PARTITION parted_2a FOR VALUES FROM (0) TO (100);
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES IN (2);
CREATE INDEX ON parted USING lsh (sig);
CREATE TRIGGER no_copies BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.9');
INSERT INTO parted VALUES (1, 1, sig(0)), (2, 2, sig(200));
\set VERBOSITY default
INSERT INTO parted VALUES (2, 3, sig(1));
\set VERBOSITY terse
INSERT INTO parted_2a VALUES (3, 2, sig(1));
INSERT INTO parted_1 VALUES (1, 3, sig(201));
-- A row that moves is no copy of itself.
UPDATE parted SET part = 3 - part RETURNING tableoid::regclass, id;
UPDATE parted SET part = 3 - part, sig = sig(id * 100 + 1) RETURNING tableoid::regclass, id;
UPDATE parted SET part = 1, sig = sig(102) WHERE id = 2;
-- A trigger of one partition guards that one.
DROP TRIGGER no_copies ON parted;
CREATE TRIGGER no_copies BEFORE INSERT OR UPDATE ON parted_1 FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.9');
INSERT INTO parted VALUES (1, 4, sig(201)), (2, 5, sig(202));
INSERT INTO parted VALUES (1, 6, sig(202));
DROP TABLE parted;

-- neardup_flag()
CREATE TABLE marked (id int PRIMARY KEY, "Copy Of" bigint REFERENCES marked, sig minhash);
CREATE INDEX ON marked USING lsh (sig);
CREATE TRIGGER mark BEFORE INSERT OR UPDATE ON marked FOR EACH ROW EXECUTE FUNCTION neardup_flag('sig', '0.9', 'Copy Of', 'id');
INSERT INTO marked VALUES (1, NULL, sig(0)), (2, NULL, sig(1)), (3, 1, sig(300)), (4, 3, NULL), (5, 3, set_minhash('{}'::bigint[]))
  RETURNING id, "Copy Of";
-- the most similar; among equals the least key
INSERT INTO marked VALUES (10, NULL, sig(0)), (11, NULL, sig(2)), (9, NULL, sig(2)) RETURNING id, "Copy Of";
-- An UPDATE looks again if the signature is another, and never at the row's own copies.
UPDATE marked SET "Copy Of" = NULL WHERE id = 2 RETURNING id, "Copy Of";
UPDATE marked SET sig = sig(3) WHERE id = 10 RETURNING id, "Copy Of";
UPDATE marked SET sig = sig(700) WHERE id IN (2, 9, 10, 11) RETURNING id, "Copy Of";
INSERT INTO marked VALUES (12, NULL, sig(1));
UPDATE marked SET sig = sig(2) WHERE id = 1 RETURNING id, "Copy Of";
SELECT id, "Copy Of" FROM marked WHERE "Copy Of" IS NOT NULL ORDER BY id;
DROP TRIGGER mark ON marked;
CREATE TRIGGER mark BEFORE INSERT OR UPDATE ON marked FOR EACH ROW EXECUTE FUNCTION neardup_flag('sig', '0.9', 'Copy Of');
INSERT INTO marked VALUES (13, NULL, sig(1)) RETURNING id, "Copy Of";
DROP TABLE marked;
-- assigned as by INSERT: of any length, and not beyond the column's
CREATE TABLE marked (id char(8) PRIMARY KEY, copy_of char(8), short varchar(4), sig minhash);
CREATE TRIGGER mark BEFORE INSERT OR UPDATE ON marked FOR EACH ROW EXECUTE FUNCTION neardup_flag('sig', '0.9', 'copy_of');
INSERT INTO marked VALUES ('abcdef', NULL, NULL, sig(0)), ('ab', NULL, NULL, sig(1)) RETURNING id, copy_of;
UPDATE marked SET sig = sig(2) WHERE id = 'abcdef' RETURNING id, copy_of;
CREATE TRIGGER mark_short BEFORE INSERT ON marked FOR EACH ROW EXECUTE FUNCTION neardup_flag('sig', '0.9', 'short');
INSERT INTO marked VALUES ('x', NULL, NULL, sig(2));
UPDATE marked SET sig = sig(500) WHERE id = 'abcdef';
INSERT INTO marked VALUES ('x', NULL, NULL, sig(2)) RETURNING id, copy_of, short;
DROP TABLE marked;

-- An original that moves to another partition is no copy of its copy.
CREATE TABLE marked (id int, part int, copy_of int, sig minhash, PRIMARY KEY (id, part)) PARTITION BY LIST (part);
CREATE TABLE marked_1 PARTITION OF marked FOR VALUES IN (1);
CREATE TABLE marked_2 PARTITION OF marked FOR VALUES IN (2);
CREATE TRIGGER mark BEFORE INSERT OR UPDATE ON marked FOR EACH ROW EXECUTE FUNCTION neardup_flag('sig', '0.9', 'copy_of', 'id');
INSERT INTO marked VALUES (1, 1, NULL, sig(0)), (2, 2, NULL, sig(1));
UPDATE marked SET part = 2 WHERE id = 1;
SELECT id, part, copy_of FROM marked ORDER BY id;
DROP TABLE marked;

-- One that has a near copy from before the trigger stays where it is: it was left out behind it, that is lost.
CREATE TABLE kept (id int, part int, sig minhash, PRIMARY KEY (id, part)) PARTITION BY LIST (part);
CREATE TABLE kept_1 PARTITION OF kept FOR VALUES IN (1);
CREATE TABLE kept_2 PARTITION OF kept FOR VALUES IN (2, 3);
INSERT INTO kept VALUES (1, 1, sig(0)), (2, 2, sig(1)), (3, 1, sig(500));
CREATE TRIGGER mark BEFORE INSERT OR UPDATE ON kept FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.9', 'skip');
UPDATE kept SET part = 2 WHERE id IN (1, 3) RETURNING id;
UPDATE kept SET part = 3 WHERE id = 2 RETURNING id;
SELECT id, part FROM kept ORDER BY id;
DROP TABLE kept;

-- Rights: the search is the caller's.
CREATE ROLE guard_user;
CREATE TABLE shared (id int PRIMARY KEY, owner text, sig minhash);
CREATE INDEX ON shared USING lsh (sig);
CREATE TRIGGER no_copies BEFORE INSERT OR UPDATE ON shared FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.9');
INSERT INTO shared VALUES (1, 'guard_user', sig(0)), (2, 'nobody', sig(100));
GRANT INSERT ON shared TO guard_user;
SET ROLE guard_user;
INSERT INTO shared VALUES (3, 'guard_user', sig(1));
RESET ROLE;
GRANT SELECT (sig) ON shared TO guard_user;
SET ROLE guard_user;
-- the other row's key is not for this role
\set VERBOSITY default
INSERT INTO shared VALUES (3, 'guard_user', sig(1));
RESET ROLE;
GRANT SELECT ON shared TO guard_user;
SET ROLE guard_user;
INSERT INTO shared VALUES (3, 'guard_user', sig(1));
\set VERBOSITY terse
INSERT INTO shared VALUES (3, 'guard_user', sig(300));
RESET ROLE;
-- rows that are not to be seen are not found
ALTER TABLE shared ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON shared USING (owner = current_user);
SET ROLE guard_user;
INSERT INTO shared VALUES (4, 'guard_user', sig(1));
INSERT INTO shared VALUES (4, 'guard_user', sig(101));
RESET ROLE;
INSERT INTO shared VALUES (5, 'nobody', sig(102));
DROP TABLE shared;
DROP ROLE guard_user;

-- Wrong arguments
CREATE TABLE wrong (id int, other int, name text, twice int GENERATED ALWAYS AS (id * 2) STORED, sig minhash);
CREATE FUNCTION try(arguments text) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    function text := CASE WHEN arguments LIKE '%\_of%' OR arguments LIKE '%twice%' THEN 'neardup_flag' ELSE 'neardup_guard' END;
    message text;
    detail text;
    hint text;
  BEGIN
    EXECUTE format('CREATE OR REPLACE TRIGGER t BEFORE INSERT ON wrong FOR EACH ROW EXECUTE FUNCTION %s(%s)', function, arguments);
    INSERT INTO wrong VALUES (1, 1, '', DEFAULT, sig(0));
    RAISE INFO '%: good', arguments;
  EXCEPTION WHEN others THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RAISE INFO '%: % % | % | %', arguments, SQLSTATE, message, detail, hint;
  END $$;
SELECT try(a) FROM unnest(ARRAY['', $$'sig'$$, $$'sig', '0.9', 'refuse', 'id'$$, $$'sig', '90'$$, $$'sig', '0'$$, $$'sig', 'high'$$, $$'sig', ''$$,
  $$'sig', 'nan'$$, $$'sig', '0.9', 'ignore'$$, $$'nosuch', '0.9'$$, $$'id', '0.9'$$, $$'', '0.9'$$, $$'sig, sig', '0.9'$$, $$'*', '0.9'$$, $$'sig FROM wrong', '0.9'$$,
  $$'(SELECT sig)', '0.9'$$, $$'minhash_union_agg(sig)', '0.9'$$, $$'to_minhash(name || clock_timestamp())', '0.9'$$, $$'to_minhash(name', '0.9'$$,
  $$'sig', '0.9', 'copy_of'$$, $$'sig', '0.9', 'twice', 'id'$$]) a;
ALTER TABLE wrong ADD copy_of int;
SELECT try(a) FROM unnest(ARRAY[$$'sig', '0.9', 'copy_of'$$, $$'sig', '0.9', 'copy_of', 'nosuch'$$, $$'sig', '0.9', 'copy_of', 'name'$$,
  $$'sig', '0.9', 'copy_of', 'id', 'more'$$, $$'sig', '0.9', 'copy_of', 'other'$$]) a;
CREATE OR REPLACE TRIGGER t AFTER INSERT ON wrong FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.9');
INSERT INTO wrong VALUES (2);
CREATE OR REPLACE TRIGGER t BEFORE INSERT ON wrong FOR EACH STATEMENT EXECUTE FUNCTION neardup_flag('sig', '0.9', 'copy_of', 'id');
INSERT INTO wrong VALUES (2);
DROP TRIGGER t ON wrong;
CREATE TRIGGER t BEFORE DELETE ON wrong FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.9');
DELETE FROM wrong;
SELECT neardup_guard();
DROP TABLE wrong;
DROP FUNCTION try, sig;

-- A column of queries: the scan could look at the rows itself, but what a dirty snapshot sees may change until the row is fetched.
CREATE TABLE wanted (id int, q lsh_query, EXCLUDE USING lsh (q WITH &&));
\set VERBOSITY terse
INSERT INTO wanted SELECT id, with_threshold(set_minhash(ARRAY(SELECT id / 2 * 1000::bigint + id % 2 + g FROM generate_series(1, 99) g)), 0.9) FROM unnest('{1,2,4}'::int[]) id;
\set VERBOSITY sqlstate
INSERT INTO wanted SELECT 3, with_threshold(set_minhash(ARRAY(SELECT 1000::bigint + 1 + g FROM generate_series(1, 99) g)), 0.9);
INSERT INTO wanted SELECT 3, with_threshold(set_minhash(ARRAY(SELECT 1000::bigint + 1 + g FROM generate_series(1, 99) g)), 0.9) ON CONFLICT DO NOTHING;
\set VERBOSITY default
DELETE FROM wanted WHERE id = 2;
INSERT INTO wanted SELECT 3, with_threshold(set_minhash(ARRAY(SELECT 1000::bigint + 1 + g FROM generate_series(1, 99) g)), 0.9);
SELECT id FROM wanted ORDER BY id;
DROP TABLE wanted;
-- Arguments of the trigger that it must not take
CREATE TABLE refused (body text, sig minhash);
CREATE INDEX ON refused USING lsh (sig);
CREATE TRIGGER a BEFORE INSERT ON refused FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.6x');
INSERT INTO refused VALUES ('a', to_minhash('a'));
DROP TRIGGER a ON refused;
CREATE TRIGGER a BEFORE INSERT ON refused FOR EACH ROW EXECUTE FUNCTION neardup_guard('to_minhash(body || now()::text)', '0.6');
INSERT INTO refused VALUES ('a', to_minhash('a'));
DROP TABLE refused;
