-- Constructors, measures, unions, aggregates.
SELECT jaccard(to_minhash('a b c d'), to_minhash('a b c d')), jaccard(to_minhash('a b c d'), to_minhash('w x y z'));
SELECT to_minhash('x y z', 2) = minhash_like('x y z', to_minhash('other', 2)), to_minhash('x y z', 4, 'char', 64, 16, 5) = minhash_like('x y z', to_minhash('o', 4, 'char', 64, 16, 5));
-- An empty signature is similar to nothing, not even to itself.
SELECT jaccard(to_minhash(''), to_minhash('')), to_minhash('') <%> to_minhash(''), to_minhash('') % to_minhash(''),
       containment(to_minhash(''), to_minhash('a')), set_size(to_minhash(''));
-- Set and document share components, not headers.
SELECT minhash_components(to_minhash('a b c d e')) = minhash_components(set_minhash(ARRAY(SELECT shingle_hashes('a b c d e'))));
-- Named and positional arguments, other string types
SELECT to_minhash(doc => 'a b c', k => 2, unit => 'char') = to_minhash('a b c'::varchar, 2, 'char');
-- Estimates on sets of known overlap: 100 elements each, 50 shared; J = 1/3.
WITH s AS (SELECT b, set_minhash(ARRAY(SELECT generate_series(1, 100)), 4096, b) x, set_minhash(ARRAY(SELECT generate_series(51, 150)), 4096, b) y
           FROM unnest(ARRAY[8, 16, 32]) b)
SELECT b, round(jaccard(x, y)::numeric, 2) FROM s ORDER BY b;
WITH s AS (SELECT b, set_minhash(ARRAY(SELECT generate_series(1, 100)), 4096, b) x, set_minhash(ARRAY(SELECT generate_series(1, 400)), 4096, b) y
           FROM unnest(ARRAY[16, 32]) b)
SELECT b, containment(x, y), round(containment(y, x)::numeric, 1) AS quarter, round(set_size(x)::numeric, -1) AS size FROM s ORDER BY b;
-- Union
WITH s AS (SELECT b, set_minhash('{1,2,3}'::bigint[], 64, b) x, set_minhash('{3,4}'::bigint[], 64, b) y, set_minhash('{}'::bigint[], 64, b) e
           FROM unnest(ARRAY[16, 32]) b)
SELECT minhash_union(x, y) = set_minhash('{1,2,3,4}'::bigint[], 64, b), minhash_union(x, e) = x, minhash_union(e, e) = e FROM s ORDER BY b;
SELECT minhash_union_agg(set_minhash(ARRAY[i, i + 1]::bigint[])) = set_minhash(ARRAY(SELECT generate_series(1, 11))) FROM generate_series(1, 10) i;
SELECT minhash_union_agg(NULL::minhash);
-- No union of 8 bits, of one row as of two
SELECT minhash_union_agg(s) FROM (VALUES (to_minhash('a', bits => 8))) v(s);
SELECT minhash_union_agg(s) FROM (VALUES (to_minhash('a', bits => 8)), (to_minhash('b', bits => 8))) v(s);
SELECT minhash_union_agg(s) FROM (VALUES (to_minhash('', bits => 8)), (NULL)) v(s);
SELECT minhash_union_agg(s) = to_minhash('a', bits => 16) AS same FROM (VALUES (to_minhash('a', bits => 16)), (NULL)) v(s);
-- Aggregate
SELECT minhash_agg(i) = set_minhash(ARRAY(SELECT generate_series(1, 1000))) FROM generate_series(1, 1000) i;
SELECT minhash_agg(i::text, 64) = set_minhash(ARRAY(SELECT i::text FROM generate_series(1, 50) i), 64),
       minhash_agg(i::text, 64, 16) = set_minhash(ARRAY(SELECT i::text FROM generate_series(1, 50) i), 64, 16),
       minhash_agg(i::text, 64, 8, 5) = set_minhash(ARRAY(SELECT i::text FROM generate_series(1, 50) i), 64, 8, 5)
  FROM generate_series(1, 50) i;
SELECT minhash_agg(x) FROM (VALUES (NULL::text)) v(x);
SELECT minhash_agg(x) FROM (SELECT 1 WHERE false) v(x);
SELECT minhash_agg(x ORDER BY x) = set_minhash('{a,b}'::text[]) FROM (VALUES ('b'), (NULL), ('a'), ('a')) v(x);
SELECT g, minhash_agg(i) OVER (PARTITION BY g ORDER BY i) = set_minhash(ARRAY(SELECT j FROM generate_series(1, 6) j WHERE j % 2 = g AND j <= i))
  FROM (SELECT i, i % 2 AS g FROM generate_series(1, 6) i) v ORDER BY g, i;
-- Exact Jaccard
SELECT jaccard_exact('{a,b,c}'::text[], '{b,c,d}'::text[]), jaccard_exact(ARRAY[1, 2, 2], ARRAY[2, 3]), jaccard_exact('{}'::text[], '{}'::text[]);
-- The operator % and its setting
SHOW neardup.jaccard_threshold;
SELECT x % y FROM (SELECT set_minhash(ARRAY(SELECT generate_series(1, 100))) x, set_minhash(ARRAY(SELECT generate_series(1, 120))) y) s;
-- An empty signature has similarity 0, also to itself.
SET neardup.jaccard_threshold = 0;
SELECT to_minhash('') % to_minhash(''), to_minhash('') % to_minhash('a b c d'), to_minhash('e f g h') % to_minhash('a b c d');
SET neardup.jaccard_threshold = 0.95;
SELECT x % y FROM (SELECT set_minhash(ARRAY(SELECT generate_series(1, 100))) x, set_minhash(ARRAY(SELECT generate_series(1, 120))) y) s;
RESET neardup.jaccard_threshold;
SELECT x <%> y = 1 - jaccard(x, y) FROM (SELECT to_minhash('a b c d e f') x, to_minhash('a b c d e g') y) s;
-- Every form of the code gives the same bits.
CREATE TABLE forms AS SELECT 'auto' AS form, to_minhash(repeat('Some Words, ünd 漢字 ' || i, 40)) s FROM generate_series(1, 20) i;
SET neardup.kernels = scalar;
INSERT INTO forms SELECT 'scalar', to_minhash(repeat('Some Words, ünd 漢字 ' || i, 40)) FROM generate_series(1, 20) i;
RESET neardup.kernels;
SELECT count(*), count(DISTINCT s) FROM forms;
DROP TABLE forms;
-- Explaining
SELECT jaccard, a_in_b, b_in_a, shared, only_a, only_b, hamming, edit_rate, note FROM compare_texts('a b c d e f g h', 'a b c d e f g x');
SELECT note FROM compare_texts('a b c d', 'A B, c d');
SELECT note FROM compare_texts('a b c d', 'a b c d');
SELECT note FROM compare_texts('', 'a b c d');
SELECT note FROM compare_texts('', '...');
SELECT note FROM compare_texts('a b c d', 'e f g h', 2, 'char');
SELECT hamming, edit_rate FROM compare_texts('a b c d', 'a b c d');
SELECT hamming, edit_rate FROM compare_texts('', 'a b c d');
SELECT hamming, edit_rate FROM compare_texts('...', '');
SELECT hamming, edit_rate FROM compare_texts('', '');
SELECT c.hamming = hamming(to_simhash(a, k, unit), to_simhash(b, k, unit)) AS same_hamming, c.edit_rate = edit_rate(a, b) AS same_rate
  FROM (VALUES ('щука и рак, щука и рак', 'Щука и рак и лебедь', 2, 'char'), ('to be or not to be', 'to be or to be or to be', 1, 'word')) v(a, b, k, unit),
       compare_texts(a, b, k, unit) c;
-- No edit rate where distance * shorter length is above 5 * 10^10: 1,000,000 * 50,000 is not.
SELECT edit_rate FROM compare_texts(repeat('a', 1050000), repeat('a', 50000));
SELECT edit_rate, note FROM compare_texts(repeat('a', 50000), repeat('a', 1050001));
SELECT edit_rate, note FROM compare_texts(repeat('ж', 1050000), repeat('ж', 50000));
SELECT comparable, matches, needed, jaccard, round(standard_error::numeric, 4) AS standard_error, verdict FROM explain_pair(to_minhash('a b c d'), to_minhash('a b c d'));
SELECT verdict FROM explain_pair(to_minhash('a b c'), to_minhash('x y z'), 0.5);
SELECT verdict FROM explain_pair(to_minhash('a b c'), to_minhash(''));
SELECT * FROM explain_pair(to_minhash('a b c'), to_minhash('a b c', 2));
-- A constant or parameter is signed once, and anew when it changes.
CREATE FUNCTION signed_in_a_loop() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE ok boolean := true; v text; s minhash; BEGIN
  FOR i IN 1 .. 5 LOOP v := 'text number ' || i; s := to_minhash(v); ok := ok AND s = (SELECT to_minhash(x) FROM (SELECT v || '' AS x OFFSET 0) q); END LOOP;
  RETURN ok; END $$;
SELECT signed_in_a_loop();
DROP FUNCTION signed_in_a_loop;
-- Errors
SELECT to_minhash('a', 0);
SELECT to_minhash('a', 65);
SELECT to_minhash('a', 3, 'page');
SELECT to_minhash('a', 3, 'byte');
SELECT to_minhash('a', num_perm => 15);
SELECT to_minhash('a', num_perm => 4097);
SELECT to_minhash('a', bits => 24);
SELECT set_minhash('{a,NULL}'::text[]);
SELECT set_minhash(ARRAY[1, NULL]::bigint[]);
-- PostgreSQL 19 says the rest of it in other lines.
\set VERBOSITY terse
SELECT set_minhash('{a,b}');
\set VERBOSITY default
SELECT jaccard(to_minhash('a'), to_minhash('a', 5, 'char'));
SELECT to_minhash('a') % to_minhash('a', seed => 1);
SELECT to_minhash('a') <%> to_minhash('a', bits => 16);
SELECT minhash_union(to_minhash('a'), to_minhash('a', num_perm => 64));
SELECT minhash_union(to_minhash('a', bits => 8), to_minhash('b', bits => 8));
SELECT set_size(to_minhash('a', bits => 8));
SELECT containment(to_minhash('a', bits => 8), to_minhash('a', bits => 8));
SELECT set_size(minhash_import(ARRAY(SELECT generate_series(1, 16))));
SELECT minhash_like('a', set_minhash('{a}'::text[]));
-- A newer library's words are others: they can be compared, not made.
SELECT minhash_like('a b', replace(to_minhash('a b')::text, ':t1:', ':t2:')::minhash);
SELECT * FROM all_pairs($$SELECT id, replace(to_minhash('a b')::text, ':t1:', ':t2:')::minhash FROM generate_series(1, 2) id$$, 0.8);
SELECT * FROM all_pairs($$SELECT id, replace(to_minhash('a b')::text, ':t1:', ':t2:')::minhash, 'a b' AS doc FROM generate_series(1, 2) id$$, 0.8, verify => 'jaccard');
SELECT minhash_agg(1, 5);
SELECT minhash_agg('a'::text, NULL);
SELECT jaccard_exact('{a,NULL}'::text[], '{a}'::text[]);
SELECT compare_texts('a', 'b', 0);
SELECT explain_pair(to_minhash('a'), to_minhash('a'), 80);
SET neardup.jaccard_threshold = 2;
SET neardup.kernels = fast;
SELECT minhash_agg(x, n) FROM (VALUES ('a', 16), ('b', 32)) v(x, n);
SELECT minhash_agg(x, 16, 32, s) FROM (VALUES ('a', 1), ('b', 2)) v(x, s);
SELECT shingles('a', 3, 'x' || repeat('é', 40));
SELECT minhash_agg(x, 16, b) FROM (VALUES ('a', 32), ('b', 16)) v(x, b);
-- Errors of the core have states of their own.
\set VERBOSITY sqlstate
SELECT to_minhash('a', k => 0);
SELECT neardup_internal.minhash_in('mh1:', 0, -1);
\set VERBOSITY default

-- States of an aggregate that are combined: of partitions, one of which has nothing of a group
CREATE TABLE halves (half int, g int, x bigint) PARTITION BY LIST (half);
CREATE TABLE half_1 PARTITION OF halves FOR VALUES IN (1);
CREATE TABLE half_2 PARTITION OF halves FOR VALUES IN (2);
INSERT INTO halves SELECT 1 + n % 2, n / 2 % 5, CASE WHEN n / 2 % 5 = 1 AND n % 2 = 1 OR n / 2 % 5 = 2 AND n % 2 = 0 OR n / 2 % 5 = 3 THEN NULL ELSE n END
  FROM generate_series(1, 400) n;
SET enable_partitionwise_aggregate = on;
SET enable_sort = off;
SELECT g, m = one AS same, m IS NULL AS nothing FROM (SELECT g, minhash_agg(x) AS m FROM halves GROUP BY g) p
  JOIN (SELECT g, set_minhash(array_agg(x)) AS one FROM halves WHERE x IS NOT NULL GROUP BY g) o USING (g) ORDER BY g;
RESET enable_sort;
RESET enable_partitionwise_aggregate;
DROP TABLE halves;
-- PostgreSQL 19 may aggregate in part below a join, whose rows then stand for many
SELECT current_setting('server_version_num')::int >= 190000 AS has_eager \gset
\if :has_eager
SET min_eager_agg_group_size = 0;
\endif
CREATE TEMP TABLE said AS SELECT i % 20 AS k, 'w' || i * 7 % 97 AS w, i FROM generate_series(1, 2000) i;
CREATE TEMP TABLE asked AS SELECT j % 20 AS k FROM generate_series(1, 100) j;
ANALYZE said;
ANALYZE asked;
SELECT count(*), bool_and(j.words::text = a.words::text) AS minhash_agg, bool_and(j.unions::text = a.unions::text) AS minhash_union_agg,
  bool_and(j.bits::text = a.bits::text) AS simhash_agg
FROM (SELECT k, minhash_agg(w) words, minhash_union_agg(to_minhash(w)) unions, simhash_agg(w, i) bits FROM said JOIN asked USING (k) GROUP BY k) j
JOIN (SELECT k, minhash_agg(w) words, minhash_union_agg(to_minhash(w)) unions, simhash_agg(w, i) bits FROM said GROUP BY k) a USING (k);

-- First mistakes
SELECT jaccard('one text'::text, 'another');
SELECT jaccard('one text', 'another');
SELECT jaccard(to_minhash('a b c', num_perm => 16)::text, to_minhash('a b c', num_perm => 16)::text);
SELECT jaccard('mh1:', 'mh1:');
SELECT jaccard('mh1:x', 'mh1:x');
SELECT set_minhash('{a,b}');
SELECT set_minhash('{1,2}', 64) IS NULL;
