-- Word similarity: facts computed by hand, sentences, documents of words, a model's life, error texts.
\set SHOW_CONTEXT never
-- PL/pgSQL at its strictest
SET plpgsql.extra_errors = 'all';

-- The definition by hand. At distance 1 there are three pairs: (a, x), (b, x), (c, y). I(a, +1, x) = ln(1 * 3 / (1 * 2)) =
-- ln 1.5, 415 units; I(c, +1, y) = ln 3, 1125 units. a and b have all in common, x and y nothing.
CREATE TABLE d (id int, body text);
INSERT INTO d VALUES (1, 'Hot tea. Cold tea. Old dogs.'), (2, NULL), (3, '');
SELECT * FROM word_similarities('SELECT body FROM d');
SELECT * FROM word_similarities('SELECT body FROM d', context => 'document', "window" => 1, by_position => false);
SELECT * FROM word_similarities('SELECT unnest(ARRAY[''a x'', ''B x'', ''C y''])');
SELECT count(*) FROM word_similarities('SELECT ''a x''');
CALL create_word_model('m', 'SELECT unnest(ARRAY[''a x'', ''B x'', ''C y''])');
SELECT id, word, frequency, weight, features, similar_ids, similarities FROM m ORDER BY id;
SELECT query, vocabulary, k, "window", by_position, features, stopwords, dictionary, context, discount, given, words, compared, started <= counted AND counted <= finished AS in_order FROM m_model;
SELECT word_similarity('m', 'a', 'B'), word_similarity('m', 'x', 'x'), word_similarity('m', 'x', 'y'), word_similarity('m', 'a', 'nobody');
SELECT * FROM similar_words('m', 'A');
SELECT * FROM similar_words('m', 'nobody');
SELECT * FROM similar_words('m', 'two words');
SELECT * FROM expand_query('m', 'Nobody: b, A!');
SELECT * FROM expand_query('m', 'b', 0);
SELECT drop_word_model('m');

-- Where sentences end. left is like other only where right is its company.
CREATE FUNCTION ends(before text, gap text, behind text) RETURNS boolean LANGUAGE sql AS $$
  SELECT NOT EXISTS (SELECT FROM word_similarities(format('SELECT unnest(ARRAY[%L, %L, ''p q''])', before || gap || behind, 'other ' || behind)) WHERE word = 'other')
$$;
SELECT to_json(gap) AS gap, ends('left', gap, 'right') AS lower_case, ends('left', gap, 'Right') AS capital, ends('l', gap, 'Right') AS initial
FROM unnest(ARRAY[' ', '. ', '.', '.) ', '.» ', '! ', '!', '…', '。', '... ', ', ', E'\n', E'\n\n', E'\n \t\r\n', E'\n-\n', '. - ', '．' || chr(12288)]) WITH ORDINALITY g(gap, n)
ORDER BY n;

-- Words that hold a digit or '_', or have more than 1,024 bytes, keep their place and are none.
SELECT length(word), left(word, 8) AS word, left(similar_word, 8) AS similar_word, similarity, rank
FROM word_similarities($$SELECT unnest(ARRAY['the cat 1', 'the dog ٣', 'a_b cow 2x', repeat('u', 1025) || ' fox', 'p ' || repeat('v', 1024), 'p ' || repeat('w', 1024)])$$);
SELECT word, similar_word FROM word_similarities($$SELECT unnest(ARRAY['hot 1 tea', 'hot _ milk', 'hot dog', 'pp 1 qq'])$$, "window" => 2) ORDER BY 1, 2;

-- Documents of words are taken as they are; NULL and '' are places.
SELECT * FROM word_similarities($$SELECT unnest(ARRAY['{"Hot tea",9}', '{"hot tea",9}', '{p,q}'])::text[]$$, "window" => 1);
SELECT * FROM word_similarities($$SELECT ARRAY['Tea', NULL, 'x_1'] UNION ALL SELECT ARRAY['tea', '', 'x_1'] UNION ALL SELECT NULL UNION ALL SELECT '{p,NULL,q}'$$, "window" => 2);
SELECT * FROM word_similarities($$SELECT ARRAY['Tea', NULL, 'x_1'] UNION ALL SELECT ARRAY['tea', '', 'x_1'] UNION ALL SELECT '{p,NULL,q}'$$, "window" => 1);
SELECT * FROM word_similarities($$SELECT 1, ARRAY['Tea', 'x']::varchar[], 'other' UNION ALL SELECT 2, ARRAY['tea', 'x'], 'text' UNION ALL SELECT 3, '{p,q}', 'on'$$,
  stopwords => '{TEA}');

-- Stop words keep their places, too; lists are folded.
SELECT word, similar_word FROM word_similarities($$SELECT unnest(ARRAY['hot the tea', 'hot The milk', 'hot dog', 'pp the qq'])$$, "window" => 2, stopwords => '{THE}') ORDER BY 1, 2;
SELECT word, similar_word FROM word_similarities($$SELECT unnest(ARRAY['hot the tea', 'hot of milk', 'hot dog', 'pp the qq'])$$, "window" => 2, dictionary => 'english_stem', stopwords => '{dog}')
ORDER BY 1, 2;

-- Vocabulary and features: of equally frequent words the first by bytes; sums are over all words, features or not.
CALL create_word_model('m', $$SELECT unnest(ARRAY['b x', 'a x', 'c y', 'Z y', 'z'])$$, vocabulary => 5);
SELECT id, word, frequency, weight, features FROM m ORDER BY id;
SELECT drop_word_model('m');
CALL create_word_model('m', $$SELECT unnest(ARRAY['b x', 'a x', 'c y'])$$, features => 1, by_position => false, "window" => 2);
SELECT id, word, frequency, weight, features FROM m ORDER BY id;
SELECT drop_word_model('m');

-- A model of words as they are given; one in one transaction; one that is not finished.
CALL create_word_model('m', $$SELECT ARRAY['Tea', 'x'] UNION ALL SELECT ARRAY['tea', 'x'] UNION ALL SELECT ARRAY['on', 'y']$$);
SELECT word_similarity('m', 'Tea', 'tea'), word_similarity('m', 'TEA', 'tea');
SELECT similar_word FROM similar_words('m', 'tea', 1);
SELECT drop_word_model('m');
BEGIN;
CALL create_word_model('m', 'SELECT body FROM d', commit => false);
ROLLBACK;
SELECT to_regclass('m'), to_regclass('m_model');
CALL create_word_model('m', 'SELECT body FROM d WHERE 1 / (id - 1) > 0');
SELECT words, compared, finished FROM m_model;
SELECT similar_words('m', 'tea', 1);
SELECT word_similarity('m', 'tea', 'tea');
SELECT expand_query('m', 'tea');
CALL create_word_model('m', 'SELECT body FROM d');
SELECT drop_word_model('m');

-- Errors
SELECT word_similarities(NULL);
SELECT word_similarities('SELECT body FROM d', vocabulary => 0);
SELECT word_similarities('SELECT body FROM d', vocabulary => 1000001);
SELECT word_similarities('SELECT body FROM d', k => 0);
SELECT word_similarities('SELECT body FROM d', k => 1001);
SELECT word_similarities('SELECT body FROM d', "window" => 0);
SELECT word_similarities('SELECT body FROM d', "window" => 17);
SELECT word_similarities('SELECT body FROM d', features => 0);
SELECT word_similarities('SELECT body FROM d', vocabulary => 10, features => 11);
SELECT word_similarities('SELECT body FROM d', stopwords => ARRAY['a', NULL]);
SELECT word_similarities('SELECT body FROM d', stopwords => '{in front}');
SELECT word_similarities('SELECT body FROM d', dictionary => 'none_such');
SELECT word_similarities('SELECT body FROM d', dictionary => 1::regdictionary);
SELECT word_similarities('SELECT body FROM d', context => 'page');
SELECT word_similarities('SELECT body FROM d', by_position => NULL);
SELECT word_similarities('SELECT id FROM d');
SELECT word_similarities('d');
SELECT word_similarities('DELETE FROM d RETURNING body');
CALL create_word_model(NULL, 'SELECT body FROM d');
CALL create_word_model('a.b.c', 'SELECT body FROM d');
CALL create_word_model(repeat('x', 58), 'SELECT body FROM d');
CALL create_word_model('m', NULL);
CALL create_word_model('m', 'SELECT id FROM d');
CALL create_word_model('m', 'SELECT body FROM d', k => 0);
CALL create_word_model('m', 'SELECT body FROM d', commit_every => '-1 second');
CALL create_word_model('d', 'SELECT body FROM d');
SELECT to_regclass('m'), to_regclass('m_model');
CALL create_word_model('m', 'SELECT body FROM d', k => 5);
CALL create_word_model('m', 'SELECT body FROM d', k => 5);
SELECT similar_words('m', 'a', 0);
SELECT count(*) <= 5 AS no_more FROM similar_words('m', 'a', 6);
SELECT similar_words('m', 'a', 1001);
SELECT expand_query('m', 'a', 1001);
SELECT expand_query('m', 'a', -1);
SELECT similar_words('d', 'a');
SELECT word_similarity('m_model', 'a', 'x');
SELECT drop_word_model('d');
SELECT drop_word_model('none_such');
UPDATE m SET features = '\x02';
SELECT word_similarity('m', 'hot', 'cold');
SELECT drop_word_model('m');
-- Settings of a session that make PL/pgSQL strict.
SET plpgsql.extra_errors = 'all';
CALL create_word_model('m', 'SELECT body FROM d', k => 5);
SELECT count(*) FROM similar_words('m', 'hot', 3);
SELECT drop_word_model('m');
RESET plpgsql.extra_errors;
-- Direct calls, and tables that look like models.
SELECT neardup_internal.neardup_similar_words(1::oid::regclass, 1, 1, 1, 0, 0);
SELECT neardup_internal.neardup_similar_words('d', 1, 1, 1, 0, 0);
CREATE TABLE whole OF neardup_word;
SELECT neardup_internal.neardup_similar_words('whole', 1000001, 1, 1, 0, 0);
DROP TABLE whole;
CREATE TABLE e (id int, weight bigint, word bigint, features bytea);
INSERT INTO e VALUES (0, 0, 4096, '');
SELECT neardup_internal.neardup_similar_words('e', 1, 1, 1, 0, 0);
CREATE TABLE v OF neardup_word;
CREATE VIEW v_model AS SELECT (NULL::neardup_word_model).*;
SELECT similar_words('v', 'a');
CALL create_word_model('v', 'SELECT body FROM d');
DROP VIEW v_model;
DROP TABLE e, v;
-- An interrupted model is completed from the similar words that it has.
BEGIN;
CALL create_word_model('m', 'SELECT body FROM d', k => 5, commit => false);
UPDATE m_model SET finished = NULL, compared = words - 1;
SAVEPOINT whole;
UPDATE m SET similarities = array_fill('NaN'::float8, ARRAY[cardinality(similarities)]);
CALL create_word_model('m', 'SELECT body FROM d', k => 5, commit => false);
ROLLBACK TO whole;
UPDATE m SET similar_ids = array_fill(id, ARRAY[cardinality(similar_ids)]);
CALL create_word_model('m', 'SELECT body FROM d', k => 5, commit => false);
ROLLBACK;
DROP FUNCTION ends(text, text, text);
DROP TABLE d;
