-- Records: blocked_pairs, oversized_blocks, neardup_text_score, neardup_score_precision.
CREATE TABLE people (id int, name text, phone text, born date);
INSERT INTO people VALUES (1, 'smith', '111', '1970-01-01'), (2, 'smith', '222', NULL), (3, 'jones', '111', '1970-01-01'),
  (4, '', '', NULL), (5, '', NULL, '1980-01-01'), (6, NULL, '222', '1980-01-01'), (7, 'smith', '111', '1990-01-01');
-- Pairs with all keys in which they agree, in order; empty keys agree with nothing
SELECT * FROM blocked_pairs('SELECT * FROM people');
SELECT * FROM blocked_pairs('SELECT id, name FROM people ORDER BY id DESC');
-- Two queries: (row of the first, row of the second)
SELECT * FROM blocked_pairs('SELECT id, name, phone FROM people WHERE id < 3', 'SELECT id, name, phone FROM people WHERE id > 1');
-- A block of more than max_block rows makes no pairs, and that is told
SELECT * FROM blocked_pairs('SELECT * FROM people', max_block => 2);
SELECT * FROM oversized_blocks('SELECT * FROM people', max_block => 2);
SELECT * FROM oversized_blocks('SELECT * FROM people', max_block => 1);
SELECT * FROM blocked_pairs('SELECT id, name, phone FROM people', 'SELECT id, name, phone FROM people WHERE id = 7', 2);
SELECT * FROM oversized_blocks('SELECT id, name, phone FROM people', 'SELECT id, name, phone FROM people WHERE id = 7', 2);
-- A value of the first query alone makes no pairs, so no block.
SELECT * FROM oversized_blocks('SELECT id, name FROM people', 'VALUES (1, ''brown'')', 1);
-- The NOTICE names five, longest values cut
SELECT count(*) FROM blocked_pairs('SELECT i, i / 3, repeat(''é'', 100) FROM generate_series(0, 29) i', max_block => 2);
-- At most 100,000 are listed; a query that does not repeat itself leaves values without a name
SELECT count(*), min(rows_a), max(rows_a) FROM oversized_blocks('SELECT i, i / 2 FROM generate_series(0, 200009) i', max_block => 1);
CREATE SEQUENCE twice;
SELECT * FROM oversized_blocks('SELECT i, (nextval(''twice'') - 1) / 3 FROM generate_series(1, 6) i', max_block => 2);
SELECT count(*) FROM blocked_pairs('SELECT i, (nextval(''twice'') - 1) / 3 FROM generate_series(1, 6) i', max_block => 2);
DROP SEQUENCE twice;
-- Ids of other types
SELECT * FROM blocked_pairs('SELECT ''p'' || id, name FROM people', id => NULL::text);
SELECT pg_typeof(id_a), count(*) FROM blocked_pairs('SELECT md5(id::text)::uuid, name FROM people', id => NULL::uuid) GROUP BY 1;
SELECT * FROM blocked_pairs('SELECT id::varchar, name FROM people WHERE id < 3', 'SELECT ''q'' || id, name FROM people WHERE id > 3', id => NULL::text);
SELECT count(*) FROM blocked_pairs('SELECT id, name FROM people', id => NULL::int);
SELECT * FROM oversized_blocks('SELECT ''p'' || id, name FROM people', max_block => 2);
-- Keys of many types: equality is that of the type
SELECT * FROM blocked_pairs($$ VALUES (1, 1.0, 'a'::char(4), 0.0::float8, '{1,2}'::int[], 'x'::name, '\x01'::bytea, true),
                                      (2, 1.00, 'a', '-0', '{1,2}', 'x', '\x01', true),
                                      (3, 1.1, '', 'NaN', '{2,1}', 'y', '', NULL),
                                      (4, 2, ' ', 'NaN', NULL, 'z', '', NULL) $$);
SELECT * FROM blocked_pairs('SELECT 1, 5::smallint, ''a''::varchar', 'SELECT 1, 5::bigint, ''a''::text');
SELECT * FROM blocked_pairs('SELECT 1, ''A''::text COLLATE "C" UNION ALL SELECT 2, ''a''');
-- 64 keys
SELECT cardinality(keys), keys[1], keys[64] FROM blocked_pairs((SELECT 'SELECT i, ' || string_agg('i / 2', ', ') || ' FROM generate_series(2, 3) i' FROM generate_series(1, 64)));
-- Nothing to pair
SELECT * FROM blocked_pairs('SELECT * FROM people WHERE false');
SELECT * FROM blocked_pairs('SELECT * FROM people', 'SELECT * FROM people WHERE false');
SELECT * FROM blocked_pairs('SELECT id, NULL::text FROM people');
SELECT * FROM oversized_blocks('SELECT * FROM people WHERE false');
-- The columns' names do not matter, nor do TABLE and VALUES
SELECT count(*) FROM blocked_pairs('SELECT id AS x, name AS x, name AS x FROM people');
SELECT count(*) FROM blocked_pairs('TABLE people');
SELECT * FROM blocked_pairs('VALUES (1, ''a''), (2, ''a'')');
-- Errors
SELECT * FROM blocked_pairs(NULL);
SELECT * FROM blocked_pairs('SELECT 1, 2', max_block => NULL);
SELECT * FROM blocked_pairs('SELECT 1, 2', max_block => 0);
SELECT * FROM blocked_pairs('SELECT 1, 2', max_block => -1);
SELECT * FROM oversized_blocks('SELECT 1, 2', max_block => 1000001);
SELECT * FROM blocked_pairs('people');
SELECT * FROM blocked_pairs('');
SELECT * FROM blocked_pairs('SELECT 1, 2; SELECT 3, 4');
SELECT * FROM blocked_pairs('DELETE FROM people RETURNING id, name');
SELECT * FROM blocked_pairs('SELECT id, name FROM people FOR UPDATE');
SELECT * FROM blocked_pairs('SELECT id FROM people');
SELECT * FROM oversized_blocks('SELECT FROM people');
SELECT * FROM blocked_pairs('SELECT id, name FROM nowhere');
SELECT * FROM blocked_pairs('SELECT id, ''{}''::json FROM people');
SELECT * FROM oversized_blocks('SELECT id, name, ''[]''::json FROM people');
SELECT * FROM blocked_pairs('SELECT name, id FROM people');
SELECT * FROM blocked_pairs('SELECT id, name FROM people', id => NULL::text);
SELECT * FROM blocked_pairs('SELECT id, name FROM people', 'SELECT name, name FROM people');
SELECT * FROM blocked_pairs('SELECT point(1, 2), 1', id => NULL::point);
SELECT * FROM blocked_pairs('SELECT id, name FROM people', 'SELECT id, name, phone FROM people');
SELECT * FROM blocked_pairs('SELECT id, born FROM people', 'SELECT id, phone FROM people');
SELECT * FROM blocked_pairs('SELECT id, 1 FROM people', 'SELECT id, 1.0 FROM people');
SELECT * FROM blocked_pairs('SELECT NULL::int, 1');
SELECT * FROM oversized_blocks('SELECT NULL::int, 1');
SELECT * FROM blocked_pairs('SELECT id % 3, name FROM people');
SELECT * FROM blocked_pairs('SELECT id, name FROM people', 'SELECT 1, name FROM people');
SELECT * FROM blocked_pairs((SELECT 'SELECT 1, ' || string_agg('1', ', ') FROM generate_series(1, 65)));
SELECT * FROM blocked_pairs('SELECT id, 1 / (id - 3) FROM people');
DROP TABLE people;

-- Scores
SELECT a, b, neardup_text_score(a, b), neardup_text_score(b, a) FROM (VALUES
  ('John Smith', 'SMITH, John'), ('Mc Donald', 'McDonald'), ('John Smith', 'Jon Smith'), ('John Smith', 'J. Smith'),
  ('J S', 'John Smith'), ('John Smith', 'Smith'), ('5 High St', '57 High St'), ('5', '57'), ('john', 'j'), ('abc', 'xyz'),
  ('ÄRGER', 'ärger'), ('naïve', 'naive'), ('Иван Петров', 'петров, иван'), ('王小明', '王晓明'), ('a b c', 'a b'), ('x', 'x'),
  ('--', 'x'), ('', ''), (NULL, 'x')) v(a, b);
SELECT neardup_text_score(repeat('word ', 1000), repeat('word ', 999)), neardup_text_score(repeat('x', 20000), repeat('x', 10000)),
       neardup_text_score(string_agg('w' || i, ' '), string_agg('w' || i, ' ' ORDER BY -i)) FROM generate_series(1, 500) i;
SELECT x, neardup_score_precision(x, 10, 45) FROM (VALUES (10), (20), (27.5), (45), (5), (60)) v(x);
SELECT neardup_score_precision(0.3, 0.9, 0.1), neardup_score_precision(NULL, 1, 2);
SELECT neardup_score_precision(1, 2, 2);
SELECT neardup_score_precision('NaN', 2, 3);
SELECT neardup_score_precision(1, 'Infinity', 3);
