-- Repeated passages of a collection: ranges, counts, cutting.
CREATE TABLE letters (id int PRIMARY KEY, body text, team text);
INSERT INTO letters VALUES
  (1, 'Dear Ann, the parcel has arrived. Kind regards, your team at Parcel Post, Main Street 1', 'a'),
  (2, 'Dear Bob, nothing has come. KIND REGARDS - your team at parcel post, main street 1!', 'b'),
  (3, 'Kind regards, your team at Parcel Post, Main Street 1', 'a'),
  (4, NULL, 'a'),
  (5, '', NULL);

-- Every document but the first has a range; start and length are in characters.
SELECT p.*, substr(l.body, p.start, p.length) AS passage
  FROM repeated_passages('SELECT id, body FROM letters ORDER BY id', min_units => 5) p JOIN letters l USING (id) ORDER BY id, start;
SELECT * FROM repeated_passages('SELECT id, body FROM letters ORDER BY id', min_units => 5, keep => 'none') ORDER BY id, start;
-- The first occurrence is that of the query's order.
SELECT * FROM repeated_passages('SELECT id, body FROM letters ORDER BY id DESC', min_units => 5) ORDER BY id, start;
SELECT * FROM repeated_passages('SELECT id, body FROM letters ORDER BY id', 5, 'word', 'first', 4);
SELECT * FROM repeated_passages('SELECT id, body FROM letters ORDER BY id', min_units => 20, unit => 'char') ORDER BY id, start;
-- Passages repeat within rows of one value; a row without one takes no part.
SELECT * FROM repeated_passages('SELECT id, body, team AS within FROM letters ORDER BY id', min_units => 5);
SELECT * FROM repeated_passages('SELECT id, body, NULLIF(team, ''a'') AS within FROM letters ORDER BY id', min_units => 5, keep => 'none');
-- Ids of other types
SELECT id, first_id, pg_typeof(id) FROM repeated_passages('SELECT ''n'' || id, body FROM letters ORDER BY id', id => NULL::text, min_units => 5);
SELECT id, first_id FROM repeated_passages('SELECT id::numeric, body::varchar FROM letters ORDER BY id', id => NULL::numeric, min_units => 5);

-- Repeats within one document. A unit of the first occurrence is never returned.
SELECT * FROM repeated_passages($$SELECT 1, repeat('a', 100)$$, unit => 'char');
SELECT * FROM repeated_passages($$SELECT 1, repeat('a', 100)$$, unit => 'char', keep => 'none');
SELECT id, start, length, occurrences FROM repeated_passages($$SELECT 1, repeat('word ', 100000)$$, min_units => 10);
-- Ranges may overlap, where no window spans both.
SELECT * FROM repeated_passages($$VALUES (1, 'a b c'), (2, 'c d e'), (3, 'a b c d e')$$, 3, keep => 'none') ORDER BY id, start;
-- Code
SELECT * FROM repeated_passages($$VALUES (1, 'x = f(1); // one'), (2, 'int i; y=g("a") ;')$$, 5, 'code') ORDER BY id, start;
SELECT * FROM passage_counts($$VALUES (1, 'x = f(1); // one'), (2, 'int i; y=g("a") ;')$$, 5, 'code');

-- Lines and paragraphs
SELECT * FROM repeated_passages(E'VALUES (1, E''one\ntwo\n'' || ''three''), (2, E'' two\r\nthree\r\n''), (3, E''three'')', 1, 'line', 'none') ORDER BY id, start;
SELECT * FROM repeated_passages($$VALUES (1, E'one\ntwo\n\nthree'), (2, E'zero\n\none\n two\n')$$, 1, 'paragraph') ORDER BY id, start;
-- Characters, not bytes
SELECT p.*, substr(t, start, length) FROM (VALUES (1, 'ä ö ü 中文'), (2, '😀 Ä Ö Ü 中文')) d(i, t),
  LATERAL (SELECT * FROM repeated_passages('VALUES (1, ''ä ö ü 中文''), (2, ''😀 Ä Ö Ü 中文'')', 4)) p WHERE i = id;
SELECT * FROM repeated_passages('SELECT 1, ''a b c'' WHERE false', 3);
SELECT * FROM repeated_passages('SELECT 1, ''a b c''', 3);

-- The most frequent passages, by documents
SELECT * FROM passage_counts('SELECT id, body FROM letters ORDER BY id', min_units => 5);
SELECT * FROM passage_counts($$VALUES ('x', 'a b c d e f'), ('x', 'a b c d e f'), ('y', 'c d e f'), ('z', 'c d e')$$, min_units => 3);
SELECT * FROM passage_counts($$VALUES ('x', 'a b c d e f'), ('x', 'a b c d e f'), ('y', 'c d e f'), ('z', 'c d e')$$, min_units => 3, most => 1);
SELECT count(*) FROM passage_counts($$VALUES (1, 'a b c d e f'), (2, 'a b c d e f'), (3, 'c d e f'), (4, 'c d e')$$, min_units => 3, most => NULL);

-- Cutting
SELECT l.id, cut_passages(l.body, r.ranges) FROM letters l JOIN (SELECT id, range_agg(int4range(start, start + length)) AS ranges
  FROM repeated_passages('SELECT id, body FROM letters ORDER BY id', min_units => 5, keep => 'none') GROUP BY id) r USING (id) ORDER BY id;
SELECT cut_passages('one two three', '{[1,4),[8,9)}'), cut_passages('äöü', '{[2,3)}'), cut_passages('abc', '{}'), cut_passages('abc', '{[1,4)}') = '' AS all_of_it,
  cut_passages('', '{}') = '' AS nothing, cut_passages(NULL, '{}') IS NULL AS unknown;

-- Errors
SELECT * FROM repeated_passages('SELECT id, body FROM letters', min_units => 1);
SELECT * FROM repeated_passages('SELECT id, body FROM letters', min_units => 0, unit => 'line');
SELECT * FROM repeated_passages('SELECT id, body FROM letters', min_units => 100001);
SELECT * FROM repeated_passages('SELECT id, body FROM letters', at_least => 1);
SELECT * FROM repeated_passages('SELECT id, body FROM letters', unit => 'byte');
SELECT * FROM repeated_passages('SELECT id, body FROM letters', keep => 'last');
SELECT * FROM repeated_passages('SELECT id, body FROM letters', keep => NULL);
SELECT * FROM repeated_passages(NULL);
SELECT * FROM repeated_passages('letters');
SELECT * FROM repeated_passages('SELECT id FROM letters');
SELECT * FROM repeated_passages('SELECT id, team::bytea FROM letters');
SELECT * FROM repeated_passages('SELECT id, body, 1 AS doc FROM letters');
SELECT * FROM repeated_passages('SELECT id, body, 1 AS within, 2 AS within FROM letters');
SELECT * FROM repeated_passages('SELECT id, body, json ''1'' AS within FROM letters');
SELECT * FROM repeated_passages('SELECT id::text, body FROM letters');
SELECT * FROM repeated_passages('SELECT id, body FROM letters', 5::bigint);
SELECT * FROM repeated_passages('SELECT id % 2, body FROM letters');
SELECT * FROM repeated_passages('SELECT NULL::int, body FROM letters');
SELECT * FROM repeated_passages('DELETE FROM letters RETURNING id, body');
SELECT * FROM passage_counts('SELECT id, body FROM letters', most => 0);
SELECT cut_passages('abc', '{[2,5)}');
SELECT cut_passages('abc', '{[0,2)}');
SELECT cut_passages('abc', '{[2,)}');
DROP TABLE letters;
