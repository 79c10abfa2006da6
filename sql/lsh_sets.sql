-- Sets of integers in an lsh index
SET search_path = public;
SELECT jaccard_exact('{1,2,3}'::int[], '{2,3,4}'::int[]), jaccard_exact('{3,3,1}'::int[], '{1,3}'::bigint[]), jaccard_exact('{}'::int[], '{1}');
SELECT jaccard_exact('{1,NULL}'::int[], '{1}');
SELECT jaccard_exact('{1,2,-3}'::smallint[], '{2,-3}');
SELECT jaccard_exact_at_least('{1,2}'::int[], '{2}'::int[], 0.5), jaccard_exact_at_least('{1,2}'::bigint[], '{2}'::bigint[], 0.51);
SELECT jaccard_exact_at_least('{1,2}'::int[], '{2}'::int[], 0);
SELECT jaccard_exact_at_least('{1,2}'::int[], '{2}'::int[], 'NaN');
SELECT 'set_jaccard>=0.5 {9,-1,9}'::lsh_query, '{1,2}'::int[] %> 'set_jaccard>=0.5 {2}', '{1,2}'::bigint[] %> 'set_jaccard>=0.6 {2}';
SELECT 'set_jaccard>=0.5 {1,}'::lsh_query;
SELECT '{1,2}'::int[] %> 'hamming<=3 00000000000000ff'::lsh_query;
CREATE TABLE basket (id int PRIMARY KEY, shop int, items int[], refs bigint[]);
INSERT INTO basket SELECT i, i % 3, array_agg((i * 7 + e * e * 13) % 211 ORDER BY e DESC), array_agg(10000000000 + (i / 4) * e) FROM generate_series(1, 600) i, generate_series(1, 5 + i % 9) e GROUP BY i;
INSERT INTO basket VALUES (601, 1, '{}', NULL), (602, 1, NULL, '{}'), (603, 2, '{5,5,5}', '{1}');
INSERT INTO basket SELECT 700 + i, 0, array_agg(e), array_agg(e) FROM generate_series(0, 3) i, generate_series(1, 1600 + i * 300) e GROUP BY i;
CREATE INDEX basket_items ON basket USING lsh (items);
CREATE INDEX basket_refs ON basket USING lsh (shop, refs);
ANALYZE basket;
SELECT guarantee, parameters, bands, threshold, recall, rows, entries FROM lsh_info('basket_items');
SELECT guarantee FROM lsh_info('basket_refs');
SELECT lsh_check('basket_items', true), lsh_check('basket_refs', true);
EXPLAIN (COSTS OFF) SELECT id FROM basket WHERE jaccard_exact(items, '{1,2,3}') > 0.7;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
-- PostgreSQL 18 tells of a scan that a setting is against it.
CREATE OR REPLACE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
  DECLARE line text; BEGIN FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line !~ 'Disabled: true' THEN RETURN NEXT line; END IF; END LOOP; END $$;
SET neardup.enable_join = off;
SELECT plan_of('SELECT a.id, b.id FROM basket a JOIN basket b ON b.id <> a.id AND jaccard_exact(a.items, b.items) >= 0.7');
RESET neardup.enable_join;
EXPLAIN (COSTS OFF) SELECT id FROM basket WHERE shop = 1 AND jaccard_exact_at_least(refs, '{10000000000}', 0.5);
SELECT id FROM basket WHERE jaccard_exact(items, (SELECT items FROM basket WHERE id = 17)) >= 0.5 ORDER BY id;
SELECT id FROM basket WHERE jaccard_exact_at_least(items, '{5}', 1);
-- Large sets, by a query of many elements and of more than are looked up
SELECT id FROM basket WHERE jaccard_exact(items, ARRAY(SELECT generate_series(1, 1700))) >= 0.7 ORDER BY id;
SELECT id FROM basket WHERE jaccard_exact(items, ARRAY(SELECT generate_series(1, 1500))) >= 0.7 ORDER BY id;
SELECT id FROM basket WHERE jaccard_exact(items, ARRAY(SELECT generate_series(1, 20000))) >= 0.1 ORDER BY id;
SELECT id FROM basket WHERE jaccard_exact(items, '{1,NULL}') >= 0.7;
SELECT count(*) FROM basket WHERE jaccard_exact(items, '{}') >= 0;
SELECT count(*) FROM basket WHERE jaccard_exact(items, '{1}') > 'NaN';
-- Containment of a row in the query, of the query in a row, and overlap
SELECT containment_exact('{1,2,3,3}'::int[], '{2,3,4}'), containment_exact('{}'::bigint[], '{1}'), overlap_exact('{1,2,3,3}'::int[], '{2,3,4}'), overlap_exact('{}'::bigint[], '{}');
SELECT containment_exact('{1,NULL}'::int[], '{1}');
SELECT overlap_exact('{1}'::int[], '{NULL}');
SELECT containment_exact_at_least('{1,2}'::int[], '{2}'::int[], 1.5);
SELECT overlap_exact_at_least('{1,2}'::int[], '{2}'::int[], 0.5);
SELECT 'set_in_query>=0.5 {9,-1,9}'::lsh_query, '{1,2}'::int[] %> 'set_in_query>=0.5 {2}', '{1,2}'::bigint[] %> 'query_in_set>=1 {2}', '{1,2}'::int[] %> 'set_overlap>=2 {2}';
SELECT plan_of('SELECT id FROM basket WHERE containment_exact(items, ''{1,2,3}'') >= 0.5');
SELECT plan_of('SELECT id FROM basket WHERE 0.5 < containment_exact(''{1,2,3}'', items)');
SELECT plan_of('SELECT id FROM basket WHERE overlap_exact(''{1,2,3}'', items) > 1');
SELECT plan_of('SELECT id FROM basket WHERE shop = 1 AND containment_exact_at_least(''{10000000000}'', refs, 1)');
SELECT id FROM basket WHERE containment_exact(items, (SELECT items FROM basket WHERE id = 17)) >= 0.6 ORDER BY id;
SELECT id FROM basket WHERE containment_exact((SELECT items FROM basket WHERE id = 17), items) >= 0.6 ORDER BY id;
SELECT id FROM basket WHERE overlap_exact(items, (SELECT items FROM basket WHERE id = 17)) >= 5 ORDER BY id;
SELECT id FROM basket WHERE containment_exact('{1500,1590,3000}', items) > 0.5 ORDER BY id;
SELECT count(*) FROM basket WHERE containment_exact(items, ARRAY(SELECT generate_series(1, 20000))) >= 0.99;
SELECT count(*) FROM basket WHERE containment_exact('{}', items) >= 0;
SELECT count(*) FROM basket WHERE overlap_exact(items, '{1}') > 1;
-- The Dice coefficient and the cosine
SELECT dice_exact('{1,2,3,3}'::int[], '{2,3,4,5}'), dice_exact('{}'::bigint[], '{}'), set_cosine_exact('{1,2}'::int[], '{2,3,4,5,6,7,8,9}'), set_cosine_exact('{1,2}'::bigint[], '{2,1}');
SELECT '{1,2}'::int[] %> 'set_dice>=0.6 {2}', '{1,2}'::bigint[] %> 'set_cosine>=0.8 {2}', 'set_cosine>=0.25 {3,-1,3}'::lsh_query;
SELECT plan_of('SELECT id FROM basket WHERE dice_exact(items, ''{1,2,3}'') >= 0.5');
SELECT plan_of('SELECT id FROM basket WHERE shop = 1 AND set_cosine_exact_at_least(''{10000000000}'', refs, 1)');
SELECT id FROM basket WHERE dice_exact(items, (SELECT items FROM basket WHERE id = 17)) >= 0.6 ORDER BY id;
SELECT id FROM basket WHERE set_cosine_exact((SELECT items FROM basket WHERE id = 17), items) >= 0.6 ORDER BY id;
SELECT dice_exact_at_least('{1,2}'::int[], '{2}'::int[], 0), set_cosine_exact_at_least('{1,2}'::int[], '{2}'::int[], 0.7);
SELECT dice_exact('{1,NULL}'::int[], '{1}');
INSERT INTO basket VALUES (900, 1, '{1,NULL}', NULL);
CREATE INDEX ON basket USING lsh (items) WITH (threshold = 0.5);
-- Equality of a set is not what the index is for, but may be asked; as a first column it is
CREATE INDEX basket_both ON basket USING lsh (items, refs);
EXPLAIN (COSTS OFF) SELECT id FROM basket WHERE items = '{5,5,5}' AND jaccard_exact(refs, '{1}') = 1;
SELECT id FROM basket WHERE items = '{5,5,5}' AND jaccard_exact(refs, '{1}') = 1;
DROP INDEX basket_both;
SELECT id FROM basket WHERE items = '{5,5,5}';
-- Minutiae
SELECT minutiae_cells(ARRAY[point(0.51, 0.125), point(0.49, 0.26)], 4), minutiae_cells('{}', 4), minutiae_cells(ARRAY[point(1, 0)], 8, 0);
SELECT minutiae_cells(ARRAY[point(1.5, 0)]);
SELECT minutiae_cells(ARRAY[point('NaN', 0)]);
SELECT minutiae_cells(ARRAY[point(0, 0), NULL]);
SELECT minutiae_cells('{}', 0);
SELECT minutiae_cells('{}', 64, 0.6);
SELECT minutiae_buckets('{62,911,2248,84,1835,3532,7}'), minutiae_buckets('{}');
SELECT minutiae_buckets('{1}', 5);
SELECT minutiae_buckets('{1}', 100, 9);
SELECT minutiae_buckets('{1,NULL}');
CREATE TABLE print (id int PRIMARY KEY, cells int[]);
INSERT INTO print SELECT i, array_agg(c) FROM generate_series(1, 300) i, generate_series(0, 1023) c WHERE (hashint8(i * 10000 + c) & 1023) < 205 GROUP BY i;
CREATE INDEX print_cells ON print USING lsh (cells minutiae_ops (functions = 512, cells = 3, grid = 32));
SELECT guarantee, parameters, round(recall::numeric, 4) AS recall, rows FROM lsh_info('print_cells');
SELECT lsh_check('print_cells', true);
SELECT count(*) > 0 FROM print WHERE jaccard_exact(cells, (SELECT cells FROM print WHERE id = 9)) >= 0.4;
SELECT id FROM print WHERE jaccard_exact(cells, (SELECT cells[1:180] FROM print WHERE id = 9)) >= 0.4;
-- The index returns the rows that share a bucket.
SELECT count(*) = (SELECT count(*) FROM print WHERE minutiae_buckets(cells, 512, 3, 32) && (SELECT minutiae_buckets(cells, 512, 3, 32) FROM print WHERE id = 9)) AS same
  FROM print WHERE jaccard_exact(cells, (SELECT cells FROM print WHERE id = 9)) >= 0.001;
INSERT INTO print VALUES (1000, '{5000}');
INSERT INTO print VALUES (1000, '{-1}');
CREATE INDEX ON print USING lsh (cells minutiae_ops (functions = 5));
CREATE INDEX ON print USING lsh (cells minutiae_ops (grid = 16));
-- PostgreSQL 19 says the rest of it in other lines.
\set VERBOSITY terse
ALTER TABLE print ADD EXCLUDE USING lsh (cells WITH %>);
\set VERBOSITY default
DROP TABLE basket, print;
