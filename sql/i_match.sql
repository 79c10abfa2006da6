-- I-Match: lexicons, fingerprints, fingerprints under variants of a lexicon.
\set SHOW_CONTEXT never
CREATE TABLE notes (id int PRIMARY KEY, at date, body text);
INSERT INTO notes VALUES
  (1, '2026-01-01', 'The council approved the new bridge over the river'),
  (2, '2026-01-02', 'the bridge: new! The river, the council: approved over'),
  (3, '2026-01-03', 'The council rejected the budget of the library'),
  (4, '2026-01-04', 'The library opened the doors of the hall'),
  (5, '2026-01-05', 'The the the'),
  (6, '2026-01-06', NULL),
  (7, '2026-01-07', '');
SELECT create_lexicon('words', 'SELECT * FROM notes');
SELECT term, document_frequency, round(idf::numeric, 6) AS idf FROM words ORDER BY term;
SELECT bool_and(idf = ln(6.0::float8 / document_frequency)) AS exact FROM words;
SELECT obj_description('words'::regclass), pg_get_userbyid(relowner) = current_user AS mine FROM pg_class WHERE oid = 'words'::regclass;
-- Order, repeats and signs do not matter; words of all documents or of one are left out.
SELECT id, i_match(body, 'words') = i_match((SELECT body FROM notes WHERE id = 1), 'words') AS like_1, i_match(body, 'words') IS NULL AS none
FROM notes ORDER BY id;
SELECT i_match('council', 'words', 0, 1) = i_match('Council council unknown', 'words', 0, 1) AS same,
       i_match('council', 'words', 0, 1) = i_match('council library', 'words', 0, 1) AS another;
-- Bounds are included: ln(6/2)/ln(6) of a word in two documents, 1 of a word in one.
SELECT i_match('hall', 'words', 1, 1) IS NULL AS hall, i_match('bridge', 'words', 1, 1) IS NULL AS bridge,
       i_match('hall', 'words', 0, 0.99) IS NULL AS hall_below, i_match('bridge', 'words', 0, 0.99) IS NULL AS bridge_below;
-- Frozen: another value would be another fingerprint.
SELECT i_match(body, 'words') FROM notes WHERE id = 1;
SELECT i_match_bag(body, 'words', 2) FROM notes WHERE id = 1;
SELECT cardinality(i_match_bag(body, 'words', 64)) AS n, (i_match_bag(body, 'words'))[1] = i_match(body, 'words') AS first FROM notes WHERE id = 1;
SELECT i_match_bag('nothing like it', 'words', 8, 0.5) IS NULL AS none;
SELECT count(*) FROM notes a JOIN notes b ON a.id < b.id AND i_match_bag(a.body, 'words', 8, 0, 1) && i_match_bag(b.body, 'words', 8, 0, 1);
-- All of the lexicon is kept: variants differ by their number only.
SELECT count(DISTINCT f) FROM unnest(i_match_bag('council library', 'words', 5, 0, 1, 1)) f;
-- Names
CREATE SCHEMA "Odd Schema";
SELECT create_lexicon('"Odd Schema"."Odd ""name"""', 'SELECT id, body FROM notes ORDER BY id');
SELECT i_match('council hall', '"Odd Schema"."Odd ""name"""', 0, 1) = i_match('council hall', 'words', 0, 1) AS same;
SELECT create_lexicon('pg_temp.mine', $$VALUES (1, 'a b'::text, 'x'), (2, 'B b c', 'y')$$);
SELECT term, document_frequency FROM mine ORDER BY term;
SELECT create_lexicon('other', $$WITH d AS (SELECT 'Ärger ΣΊΣΥΦΟΣ'::varchar AS t) SELECT t FROM d -- a comment$$);
SELECT term FROM other ORDER BY term;
-- One statement sees one lexicon, the next one what has changed, also within one function.
CREATE FUNCTION changing() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  r uuid[];
BEGIN
  FOR i IN 1 .. 4 LOOP
    r[i] := i_match('a c', 'mine', 0, 1);
    IF i = 1 THEN DELETE FROM mine WHERE term = 'c'; END IF;
    IF i = 3 THEN
      BEGIN
        INSERT INTO mine VALUES ('c', 1, ln(2));
        RAISE NOTICE 'inside as before: %', i_match('a c', 'mine', 0, 1) = r[1];
        RAISE EXCEPTION 'undone';
      EXCEPTION WHEN raise_exception THEN NULL;
      END;
    END IF;
  END LOOP;
  RAISE NOTICE 'changed: %, same: %, undone: %', r[1] <> r[2], r[2] = r[3], r[3] = r[4];
END $$;
SELECT changing();
-- Privileges and row-level security are the caller's.
CREATE ROLE regress_reader;
SET ROLE regress_reader;
SELECT i_match('council', 'words', 0, 1);
RESET ROLE;
GRANT SELECT ON words TO regress_reader;
ALTER TABLE words ENABLE ROW LEVEL SECURITY;
SET ROLE regress_reader;
SELECT i_match('council', 'words', 0, 1);
RESET ROLE;
CREATE POLICY visible ON words TO regress_reader USING (term <> 'council');
SET ROLE regress_reader;
SELECT i_match('council', 'words', 0, 1) IS NULL AS hidden, i_match('library', 'words', 0, 1) IS NULL AS seen;
SELECT create_lexicon('"Odd Schema".no', 'SELECT ''a''::text');
RESET ROLE;
ALTER TABLE words DISABLE ROW LEVEL SECURITY;
REVOKE ALL ON words FROM regress_reader;
DROP POLICY visible ON words;
DROP ROLE regress_reader;
-- Errors
SELECT create_lexicon('words', 'SELECT body FROM notes');
SELECT create_lexicon('a.b.c', 'SELECT body FROM notes');
SELECT create_lexicon('', 'SELECT body FROM notes');
SELECT create_lexicon(NULL, 'SELECT body FROM notes');
SELECT create_lexicon('no_schema.x', 'SELECT body FROM notes');
SELECT create_lexicon(repeat('x', 64), 'SELECT body FROM notes');
SELECT create_lexicon('x', 'SELECT id, at FROM notes');
SELECT create_lexicon('x', '');
SELECT create_lexicon('x', 'SELECT 1; SELECT 2');
SELECT create_lexicon('x', 'DELETE FROM notes RETURNING body');
SELECT create_lexicon('x', 'SELECT body FROM notes FOR UPDATE');
SELECT create_lexicon('x', 'SELECT body FROM notes WHERE body = ''''');
SELECT create_lexicon('x', 'SELECT nothing');
SELECT to_regclass('x') IS NULL AS nothing_is_left;
SELECT i_match('a', 'words', 0.5, 0.4);
SELECT i_match('a', 'words', -0.1);
SELECT i_match('a', 'words', 0.2, 1.1);
SELECT i_match('a', 'words', 'NaN');
SELECT i_match('a', 'words', 0.99, 0.999);
SELECT i_match('a', 'nowhere');
SELECT i_match('a', 0);
SELECT i_match('a', 'notes');
SELECT i_match_bag('a', 'words', 0);
SELECT i_match_bag('a', 'words', 65);
SELECT i_match_bag('a', 'words', 8, 0.9, 0.2);
SELECT i_match_bag('a', 'words', 8, share => 0);
SELECT i_match_bag('a', 'words', 8, share => 'NaN');
CREATE TABLE bad (term text, document_frequency int, idf float8);
SELECT i_match('a', 'bad');
ALTER TABLE bad ALTER document_frequency TYPE bigint;
SELECT i_match('a', 'bad');
INSERT INTO bad VALUES ('a', 2, 1);
SELECT i_match('a', 'bad') IS NULL AS none;
INSERT INTO bad VALUES ('a', 3, 1);
SELECT i_match('a', 'bad');
UPDATE bad SET term = 'New York' WHERE document_frequency = 3;
SELECT i_match('a', 'bad');
UPDATE bad SET term = 'Apple' WHERE document_frequency = 3;
SELECT i_match('a', 'bad');
UPDATE bad SET term = 'apple', document_frequency = 0 WHERE document_frequency = 3;
SELECT i_match('a', 'bad');
UPDATE bad SET document_frequency = 3, idf = 'NaN' WHERE document_frequency = 0;
SELECT i_match('a', 'bad');
UPDATE bad SET idf = NULL WHERE term = 'apple';
SELECT i_match('a', 'bad');
-- More terms than work_mem holds
INSERT INTO bad SELECT 'w' || i, 2, 5 FROM generate_series(1, 20000) i;
DELETE FROM bad WHERE idf IS NULL;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT i_match('a', 'bad');
RESET work_mem;
SELECT i_match('w7', 'bad') = i_match('W7 w7', 'bad') AS same;
DROP TABLE notes, words, other, bad, mine, "Odd Schema"."Odd ""name""";
DROP SCHEMA "Odd Schema";
DROP FUNCTION changing();
