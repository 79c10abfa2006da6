-- Weighted sets: signatures, exact measures; the exact cosine of vectors
SET extra_float_digits = 0;
SELECT weighted_minhash('{red,green}', '{1,2.5}', 16), weighted_minhash('{red,green}', '{1,2.5}', 16, 8, -3);
SELECT p.source, p.unit, p.k, p.num_perm, p.bits, p.seed, p.tokenizer
  FROM minhash_parameters(weighted_minhash('{a}', '{1}', 64, 16, 7)) p;
-- Order, repeats and weights of 0 do not matter
SELECT weighted_minhash('{a,b,c}', '{1,2,0}') = weighted_minhash('{b,a}', '{2,1}') AS any_order,
       weighted_minhash('{a,b,a}', '{1,2,0.5}') = weighted_minhash('{a,b}', '{1.5,2}') AS added_up,
       weighted_minhash('{a}', '{1}') = weighted_minhash('{a}', '{2}') AS weights_count,
       weighted_minhash('{a}', '{1}', 128, 32, 1) = weighted_minhash('{a}', '{1}', 128, 32, 1) AS same_seed;
-- Empty sets
SELECT weighted_minhash('{}', '{}', 16), weighted_minhash('{a}', '{0}', 16, 16), weighted_minhash('{a}', '{1e-19}', 16, 8),
       weighted_minhash(NULL, '{1}'), weighted_minhash('{a}', NULL);
SELECT jaccard(weighted_minhash('{}', '{}'), weighted_minhash('{}', '{}')), set_size(weighted_minhash('{}', '{}'));
-- Forms: text, binary, every width; greatest and least weights
SELECT bool_and(s = s::text::minhash) AS text_form, bool_and(neardup_internal.minhash_send(s) = neardup_internal.minhash_send(s::text::minhash)) AS wire_form
  FROM (SELECT weighted_minhash(ARRAY['a', 'b' || i], ARRAY[i, 2::float8 ^ (i - 60)], 16, b, i) s
          FROM generate_series(0, 100) i, unnest('{8,16,32}'::int[]) b) x;
SELECT count(DISTINCT weighted_minhash(ARRAY['a'], ARRAY[2::float8 ^ e])) FROM generate_series(-60, 40) e;
-- Estimates: similarity, share, total weight; unions are of the greatest weights
CREATE TABLE w AS
  SELECT array_agg('f' || i ORDER BY i) f, array_agg((i % 7 + 1) / 3.0::float8 ORDER BY i) a,
         array_agg(CASE WHEN i % 3 = 0 THEN 0 ELSE (i % 5 + 1) / 2.0 END::float8 ORDER BY i) b
    FROM generate_series(1, 500) i;
SELECT round(weighted_jaccard_exact(f, a, f, b)::numeric, 4) AS exact,
       abs(jaccard(weighted_minhash(f, a, 4096), weighted_minhash(f, b, 4096)) - weighted_jaccard_exact(f, a, f, b)) < 0.03 AS at_32,
       abs(jaccard(weighted_minhash(f, a, 4096, 16), weighted_minhash(f, b, 4096, 16)) - weighted_jaccard_exact(f, a, f, b)) < 0.03 AS at_16,
       abs(jaccard(weighted_minhash(f, a, 4096, 8), weighted_minhash(f, b, 4096, 8)) - weighted_jaccard_exact(f, a, f, b)) < 0.03 AS at_8,
       abs(set_size(weighted_minhash(f, a, 4096)) / (SELECT sum(x) FROM unnest(a) x) - 1) < 0.06 AS total,
       abs(set_size(weighted_minhash(f, a, 4096, 16)) / (SELECT sum(x) FROM unnest(a) x) - 1) < 0.06 AS total_16,
       abs(containment(weighted_minhash(f, a, 4096), weighted_minhash(f, b, 4096))
           - (SELECT sum(least(x, y)) / sum(x) FROM unnest(a, b) u(x, y))) < 0.04 AS share,
       minhash_union(weighted_minhash(f, a), weighted_minhash(f, b))
         = weighted_minhash(f, (SELECT array_agg(greatest(x, y) ORDER BY i) FROM unnest(a, b) WITH ORDINALITY u(x, y, i))) AS greatest_weights
  FROM w;
-- The index, all pairs, clusters
CREATE TABLE docs AS
  SELECT i AS id, weighted_minhash(ARRAY['g' || i / 3, 'h' || i / 3, 'i' || i % 3], ARRAY[6, 5, 0.25]) AS sig FROM generate_series(0, 299) i;
CREATE INDEX docs_sig ON docs USING lsh (sig);
SET enable_seqscan = off;
SELECT id FROM docs WHERE sig % weighted_minhash('{g7,h7,i0}', '{6,5,0.25}') ORDER BY id;
RESET enable_seqscan;
SELECT count(*) FROM all_pairs('SELECT id, sig FROM docs', 0.8);
SELECT count(DISTINCT cluster) FROM all_clusters('SELECT id, sig FROM docs', 0.8);
-- Exact measures
SELECT weighted_jaccard_exact('{a,b}', '{3,1}', '{b,c,a}', '{1,1,2}'), weighted_jaccard_exact('{a,a}', '{1,1}', '{a}', '{2}'),
       weighted_jaccard_exact('{}', '{}', '{}', '{}'), weighted_jaccard_exact('{a}', '{0}', '{a}', '{1}');
SELECT weighted_cosine_exact('{a,b}', '{3,4}', '{b}', '{2}'), weighted_cosine_exact('{a}', '{1}', '{b}', '{1}'),
       weighted_cosine_exact('{a}', '{1e12}', '{a}', '{1e-12}'), weighted_cosine_exact('{}', '{}', '{a}', '{1}');
SELECT cosine_exact('{3,4}', '{3,4}'), cosine_exact('{1,0}', '{0,1}'), cosine_exact('{1,2}', '{-1,-2}'),
       cosine_exact('{0,0}', '{1,2}'), cosine_exact('{3,4}', '{4,3}'), cosine_exact('{1e308,0}', '{4e-324,0}');
SELECT cosine_exact('{3,4}'::real[], '{4,3}'::real[]), cosine_exact('{{3},{4}}', '{4,3}');
-- A feature above all others together decides a simhash alone
SELECT hamming(weighted_simhash('{x,a}', '{1,0.99}'), weighted_simhash('{x,b}', '{1,0.99}')),
       weighted_cosine_exact('{x,a}', '{1,0.99}', '{x,b}', '{1,0.99}') < 0.51 AS at_60_degrees;
-- Errors
SELECT weighted_minhash('{a,b}', '{1}');
SELECT weighted_minhash('{a,NULL}', '{1,2}');
SELECT weighted_minhash('{a,b}', '{1,NULL}');
SELECT weighted_minhash('{a,b}', '{1,NaN}');
SELECT weighted_minhash('{a,b}', '{1,Infinity}');
SELECT weighted_minhash('{a,b}', '{-0.5,1}');
SELECT weighted_minhash('{a,b}', '{1,1e13}');
SELECT weighted_minhash('{a}', '{1}', 15);
SELECT weighted_minhash('{a}', '{1}', 128, 12);
SELECT jaccard(weighted_minhash('{a}', '{1}'), set_minhash('{a}'::text[]));
SELECT minhash_union(weighted_minhash('{a}', '{1}', 16, 8), weighted_minhash('{a}', '{1}', 16, 8));
SELECT set_size(weighted_minhash('{a}', '{1}', 16, 8));
SELECT minhash_like('a', weighted_minhash('{a}', '{1}'));
SELECT * FROM all_pairs('SELECT id, sig, id::text AS doc FROM docs', 0.8, verify => 'jaccard');
SELECT 'mh1:weight:16x8:s0:t0:empty'::minhash;
SELECT 'mh1:weighted:16x8:s0:t1:empty'::minhash;
SELECT ('mh1:weighted:16x16:s0:t0:' || repeat('_', 42) || '8')::minhash;
SELECT weighted_jaccard_exact('{a}', '{1,2}', '{a}', '{1}');
SELECT weighted_jaccard_exact('{a}', '{1}', '{a,NULL}', '{1,2}');
SELECT weighted_jaccard_exact('{a}', '{NULL}', '{a}', '{1}');
SELECT weighted_cosine_exact('{a}', '{1}', '{a,b}', '{1,-1}');
SELECT cosine_exact('{1,2}', '{1}');
SELECT cosine_exact('{}', '{}');
SELECT cosine_exact('{1,2}', '{1,NULL}');
SELECT cosine_exact('{1,NaN}', '{1,2}');
SELECT cosine_exact('{1,1}', '{1,-Infinity}');
