-- The type simhash: forms, order, casts, constructors, the aggregate, measures, errors.
SELECT to_simhash('the quick brown fox jumps over the lazy dog'),
       to_simhash('the quick brown fox jumps over the lazy dog', 5, 'char'), to_simhash('one');
SELECT to_simhash(''), to_simhash('...'), to_simhash(NULL), to_simhash('a', NULL), weighted_simhash('{}', '{}'),
       weighted_simhash('{a}', '{0}'), vector_simhash('{0,0}');
-- Forms
SELECT '0123456789ABCDEF'::simhash, simhash 'ffffffffffffffff', encode(neardup_internal.simhash_send('0123456789abcdef'), 'hex');
SELECT bool_and(s = s::text::simhash AND s = s::bigint::simhash AND s = s::bit(64)::simhash)
  FROM (SELECT to_simhash('text ' || i) s FROM generate_series(1, 1000) i) x;
SELECT '8000000000000001'::simhash::bigint, (-1)::bigint::simhash, '0123456789abcdef'::simhash::bit(64),
       ('0123456789abcdef'::simhash::bit(64))::bigint = x'0123456789abcdef'::bigint AS as_bit_says;
CREATE TABLE h (id int, s simhash);
INSERT INTO h SELECT i, to_simhash('row ' || i % 4) FROM generate_series(1, 8) i;
INSERT INTO h VALUES (9, NULL), (10, '8000000000000000'), (11, '7fffffffffffffff');
COPY (SELECT id, s FROM h WHERE id > 9 ORDER BY id) TO STDOUT;
-- Order is that of numbers without sign.
SELECT id FROM h WHERE id > 9 ORDER BY s;
SELECT min(s::text), count(DISTINCT s) FROM h;
CREATE INDEX ON h (s);
CREATE INDEX ON h USING hash (s);
SET enable_seqscan = off;
SELECT id FROM h WHERE s = to_simhash('row 2') ORDER BY id;
SELECT id FROM h WHERE s >= '8000000000000000' AND s <= '8000000000000000';
SELECT count(*) FROM h a JOIN h b USING (s);
RESET enable_seqscan;
-- Features: an aggregate gives what the array gives, in any order.
CREATE TABLE f (doc int, feature text, weight float8);
INSERT INTO f SELECT i % 3, 'f' || i % 50, (i * 37 % 101) / 8.0 FROM generate_series(1, 600) i;
SELECT doc, simhash_agg(feature, weight) = weighted_simhash(array_agg(feature), array_agg(weight)) AS same,
       simhash_agg(feature, weight ORDER BY weight) = simhash_agg(feature, weight ORDER BY feature DESC) AS any_order,
       simhash_agg(feature) = weighted_simhash(array_agg(feature), array_agg(1::float8)) AS unweighted
  FROM f GROUP BY doc ORDER BY doc;
SELECT simhash_agg(feature, weight) FROM f WHERE false;
SELECT simhash_agg(x, w) = weighted_simhash('{a}', '{2}') AS nulls_are_passed_over
  FROM (VALUES ('a', 2), (NULL, 1), ('b', NULL), ('c', 0)) v(x, w);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT simhash_agg(feature, weight) FROM f;
CREATE TEMP TABLE parallel AS SELECT simhash_agg(feature, weight) s FROM f;
SET max_parallel_workers_per_gather = 0;
SELECT simhash_agg(feature, weight) = (SELECT s FROM parallel) AS same FROM f;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
-- Vectors: a sign and a scale
SELECT vector_simhash('{1,-2,0.5}'), hamming(vector_simhash('{1,-2,0.5}'), vector_simhash('{10,-20,5}')) AS scaled,
       hamming(vector_simhash('{1,-2,0.5}'), vector_simhash('{-1,2,-0.5}')) AS opposite,
       vector_simhash(ARRAY[1, -2]) = vector_simhash('{1,-2}'::numeric[]::real[]) AS numbers;
-- Measures
SELECT hamming('0000000000000000', 'ffffffffffffffff'), hamming('00000000000000ff', '0000000000000000'),
       cosine('0000000000000000', '00000000ffffffff'), cosine('0000000000000000', '000000000000ffff'),
       '00000000000000ff'::simhash <~> '0000000000000000';
SELECT hamming_at_most('00000000000000ff', '0000000000000000', 8), hamming_at_most('00000000000000ff', '0000000000000000', 7.99),
       hamming_at_most('00000000000000ff', '0000000000000000', 64), hamming_at_most(NULL, '0000000000000000', 3);
SELECT id FROM h ORDER BY s <~> to_simhash('row 1'), id LIMIT 3;
-- Explaining. One type must be written, since other types have an explain_pair, too.
SELECT * FROM explain_pair(simhash '00000000000000ff', '0000000000000000');
SELECT * FROM explain_pair('00000000000000ff', simhash '00000000000000f8');
SELECT e.*, hamming_at_most(a, b, d) FROM (VALUES ('00000000000000ff'::simhash, '0000000000000000'::simhash, 8), ('00000000000000ff', '0000000000000000', 7.99),
  ('ffffffffffffffff', '0000000000000000', 64), ('0123456789abcdef', '0123456789abcdef', 0), ('8000000000000000', '0000000000000000', 0)) v(a, b, d), explain_pair(a, b, distance => d) e;
SELECT explain_pair(a, b) IS NULL AS null_for_null FROM (VALUES (NULL::simhash, '0000000000000000'::simhash)) v(a, b);
-- Errors
SELECT simhash 'some text';
SELECT simhash '0123456789abcdefg';
SELECT simhash '';
SELECT B'0101'::simhash;
SELECT to_simhash('a', 0);
SELECT to_simhash('a', 3, 'byte');
SELECT weighted_simhash('{a,b}', '{1}');
SELECT weighted_simhash('{a,NULL}', '{1,2}');
SELECT weighted_simhash('{a,b}', '{1,NULL}');
SELECT weighted_simhash('{a,b}', '{1,NaN}');
SELECT weighted_simhash('{a,b}', '{1,-Infinity}');
SELECT weighted_simhash('{a,b}', '{-0.5,1}');
SELECT weighted_simhash('{a,b}', '{1,1e13}');
SELECT simhash_agg('a', w) FROM (VALUES (1), ('NaN'::float8)) v(w);
SELECT vector_simhash('{}');
SELECT vector_simhash('{1,NaN}');
SELECT vector_simhash('{1,NULL}');
SELECT hamming_at_most('00000000000000ff', '0000000000000000', 65);
SELECT hamming_at_most('00000000000000ff', '0000000000000000', -1);
SELECT hamming_at_most('00000000000000ff', '0000000000000000', 'NaN');
SELECT explain_pair(simhash '00000000000000ff', '0000000000000000', 65);
SELECT explain_pair(simhash '00000000000000ff', '0000000000000000', -0.5);
SELECT explain_pair(simhash '00000000000000ff', '0000000000000000', 'NaN');
-- PostgreSQL 19 says the rest of it in other lines.
\set VERBOSITY terse
SELECT explain_pair('00000000000000ff', '0000000000000000');
\set VERBOSITY default
DROP TABLE h, f;
