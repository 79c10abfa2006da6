-- lsh_query, its operators, jaccard_at_least, bands: the requests to an index, without an index.
-- Forms
SELECT with_threshold(to_minhash('a b c', num_perm => 16), 0.8);
SELECT with_threshold(to_minhash('', num_perm => 16), 1), with_threshold(NULL, 0.5), with_threshold(to_minhash('a'), NULL);
SELECT lsh_query 'jaccard>=0.50 mh1:char5:128x32:s0:t0:empty';
SELECT count(*), bool_and(q = q::text::lsh_query) FROM (SELECT DISTINCT neardup_internal.lsh_query_bound(to_minhash(doc, num_perm => 16, bits => b), bound)
  FROM unnest('{0.8,0.1,1,0,-1,1e-300,Infinity,-Infinity,NaN}'::float8[]) bound, unnest(ARRAY[8, 16, 32]) b, unnest('{a b c,""}'::text[]) doc) s(q);
SELECT bound, split_part(neardup_internal.lsh_query_bound(to_minhash(''), bound)::text, ' ', 1) FROM unnest('{0.1,1e-300,Infinity,-Infinity,NaN}'::float8[]) bound;
SELECT encode(substr(neardup_internal.lsh_query_send(with_threshold(to_minhash('a b c', num_perm => 16), 0.75)), 1, 28), 'hex');
SELECT neardup_internal.lsh_query_bound(s, 0) = neardup_internal.lsh_query_bound(s, '-0'), neardup_internal.lsh_query_bound(s, 'NaN') = neardup_internal.lsh_query_bound(s, 'NaN'),
       neardup_internal.lsh_query_bound(s, 0.5) = with_threshold(s, 0.5), with_threshold(s, 0.5) <> with_threshold(s, 0.6)
  FROM (SELECT to_minhash('a b c') s) v;
CREATE TABLE queries (q lsh_query);
INSERT INTO queries SELECT with_threshold(to_minhash('text ' || i), 0.8) FROM generate_series(1, 20) i, generate_series(1, 2);
INSERT INTO queries SELECT with_threshold(to_minhash(''), 0.8) FROM generate_series(1, 2);
CREATE INDEX ON queries USING hash (q);
SELECT count(*), count(*) FILTER (WHERE n = 2) AS twice FROM (SELECT q, count(*) n FROM queries GROUP BY q) s;
SELECT count(*) FROM queries a JOIN queries b ON a.q = b.q;
DROP TABLE queries;

-- Conditions: 100 signatures from equal to unlike, against every threshold.
CREATE TABLE pairs AS
  SELECT d, b, set_minhash(ARRAY(SELECT generate_series(1, 100)), 100, b) x,
         set_minhash(ARRAY(SELECT generate_series(1 + d, 100 + d)), 100, b) y
    FROM generate_series(0, 100) d, unnest(ARRAY[8, 16, 32]) b;
SELECT b, count(*), count(*) FILTER (WHERE j > 0.5) AS above, bool_and(jaccard_at_least(x, y, t) = (j >= t)) AS at_least,
       bool_and(jaccard_at_least(y, x, t) = (j >= t)) AS commuted, bool_and((x %> with_threshold(y, t)) = (j >= t)) AS query,
       bool_and((x %> neardup_internal.lsh_query_bound(y, j)) AND NOT (x %> neardup_internal.lsh_query_bound(y, j + 1e-9))) AS bound,
       bool_and((with_threshold(x, t) && with_threshold(y, t - 0.005)) = (j >= t)) AS both,
       bool_and((with_threshold(x, t - 0.005) && with_threshold(y, t)) = (j >= t)) AS both_commuted
  FROM pairs, LATERAL (SELECT jaccard(x, y) j) s, generate_series(0.01, 1, 0.01) g, LATERAL (SELECT g::float8 t) v
  GROUP BY b ORDER BY b;
DROP TABLE pairs;
-- Any bound, as in SQL: jaccard is a number, NaN is above all numbers, and an empty signature has similarity 0.
SELECT bound, j, count(*), bool_and((x %> neardup_internal.lsh_query_bound(y, bound)) = (j >= bound)) AS as_sql, bool_or(x %> neardup_internal.lsh_query_bound(y, bound)) AS result,
       bool_or(neardup_internal.lsh_query_bound(x, bound) && neardup_internal.lsh_query_bound(y, -1)) AS both
  FROM unnest('{-Infinity,-1,0,1,1.5,Infinity,NaN}'::float8[]) WITH ORDINALITY u(bound, n),
       (VALUES (to_minhash('a b'), to_minhash('a b')), (to_minhash('a b'), to_minhash('c d')), (to_minhash('a b'), to_minhash('')),
               (to_minhash(''), to_minhash('a b')), (to_minhash(''), to_minhash(''))) v(x, y), LATERAL (SELECT jaccard(x, y) j) s
  GROUP BY n, bound, j ORDER BY n, j;
SELECT jaccard_at_least(NULL, s, 0.5), jaccard_at_least(s, NULL, 0.5), jaccard_at_least(s, s, NULL), s %> NULL, NULL::minhash %> with_threshold(s, 0.5),
       jaccard_at_least(s, s, 1), jaccard_at_least('mh1:word3:128x32:s0:t1:empty', s, 1e-300)
  FROM (SELECT to_minhash('a b c') s) v;
-- Numeric, integer and real thresholds
SELECT jaccard_at_least(s, s, 0.5), jaccard_at_least(s, s, 1), jaccard_at_least(s, s, 0.5::real), jaccard_at_least(s, s, 1::bigint),
       s %> with_threshold(s, 1)
  FROM (SELECT to_minhash('a b c') s) v;
PREPARE untyped AS SELECT jaccard_at_least($1, $2, $3);
EXECUTE untyped(to_minhash('a'), to_minhash('a'), 1);
DEALLOCATE untyped;

-- Bands
SELECT count(*), count(DISTINCT k) FROM band_keys(to_minhash('a b c d e'), 0.75) k;
SELECT t, count(*) FROM unnest('{0.5,0.8,0.9,0.95,1}'::float8[]) t, band_keys(to_minhash('a b c d e'), t) GROUP BY t ORDER BY t;
SELECT count(*) FROM band_keys(to_minhash(''), 0.75);
SELECT count(*) FROM band_keys(NULL, 0.75);
SELECT k FROM band_keys(minhash_import(ARRAY(SELECT i * 3 FROM generate_series(1, 16) i)), 0.9) WITH ORDINALITY b(k, n) ORDER BY n;
-- Two signatures at least that similar share a key, whatever the threshold.
CREATE TABLE signatures AS
  SELECT i, set_minhash(ARRAY(SELECT generate_series(1 + i * i % 97, 60 + i * i % 97))) s FROM generate_series(1, 120) i;
SELECT t, count(*) FILTER (WHERE alike) AS pairs, count(*) FILTER (WHERE alike AND NOT shared) AS missed,
       count(*) FILTER (WHERE shared AND NOT alike) > 0 AS others
  FROM unnest('{0.3,0.5,0.7,0.75,0.9,1}'::float8[]) t,
       LATERAL (SELECT i, s, ARRAY(SELECT band_keys(s, t)) keys FROM signatures OFFSET 0) a,
       LATERAL (SELECT i AS j, s AS s2, ARRAY(SELECT band_keys(s, t)) AS keys2 FROM signatures OFFSET 0) b,
       LATERAL (SELECT jaccard(s, s2) >= t AS alike, keys && keys2 AS shared) r
  WHERE i < j GROUP BY t ORDER BY t;
DROP TABLE signatures;
SELECT lsh_probability(0, 20, 5), lsh_probability(1, 20, 5), round(lsh_probability(0.8, 20, 5)::numeric, 6) AS likely,
       round(lsh_probability(0.3, 20, 5)::numeric, 6) AS unlikely, lsh_probability(1e-5, 10, 4) BETWEEN 0.999e-19 AND 1.001e-19 AS tiny;

-- Operators and classes are declared as the planner expects.
SELECT proname, proleakproof, provolatile, proparallel FROM pg_proc
  WHERE proname IN ('jaccard', 'jaccard_at_least', 'minhash_at_least', 'minhash_jaccard_distance', 'minhash_similar', 'lsh_query_conflicts',
                    'lsh_query_bound', 'with_threshold', 'band_keys', 'lsh_probability') ORDER BY proname;
SELECT o.oid::regoperator, amopstrategy, amoppurpose, oprcom = o.oid AS own_commutator, oprrest, oprjoin
  FROM pg_amop JOIN pg_operator o ON o.oid = amopopr JOIN pg_am a ON a.oid = amopmethod WHERE amname = 'lsh' AND amopstrategy <> 5 ORDER BY amopstrategy, o.oid::regoperator::text COLLATE "C";
SELECT opfname, amprocnum, amproc::regprocedure FROM pg_amproc JOIN pg_opfamily f ON f.oid = amprocfamily JOIN pg_am a ON a.oid = opfmethod
  WHERE amname = 'lsh' AND amprocnum <> 15 ORDER BY opfname, amprocnum;

-- Errors
SELECT with_threshold(to_minhash('a'), 80);
SELECT with_threshold(to_minhash('a'), 0);
SELECT with_threshold(to_minhash('a'), 'NaN');
-- A caller's own constant is named, a column's value is not.
SELECT jaccard_at_least(to_minhash('a'), to_minhash('a'), 80);
SELECT jaccard_at_least(s, s, t) FROM (SELECT to_minhash('a') s, 80::float8 t OFFSET 0) v;
SELECT jaccard_at_least(s, s, 'NaN') FROM (SELECT to_minhash('a') s OFFSET 0) v;
SELECT jaccard_at_least(to_minhash('a'), to_minhash('a', 5, 'char'), 0.5);
SELECT to_minhash('a') %> with_threshold(to_minhash('a', seed => 1), 0.5);
SELECT with_threshold(to_minhash('a'), 0.5) && with_threshold(to_minhash('a', bits => 16), 0.5);
SELECT band_keys(to_minhash('a'), 2);
SELECT count(*) FROM band_keys(to_minhash('a', num_perm => 4096), 0.5);
SELECT lsh_probability(1.5, 1, 1);
SELECT lsh_probability('NaN', 1, 1);
SELECT lsh_probability(0.5, 0, 1);
SELECT lsh_probability(0.5, 1, -1);
SELECT lsh_query '';
SELECT lsh_query 'mh1:word3:128x32:s0:t1:empty';
SELECT lsh_query 'hamming<=3 mh1:word3:128x32:s0:t1:empty';
SELECT lsh_query 'jaccard>=high mh1:word3:128x32:s0:t1:empty';
SELECT lsh_query 'jaccard>=0.8 some text';
