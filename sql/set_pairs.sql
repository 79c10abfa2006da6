-- all_pairs, pairs_between and all_clusters over sets of integers
CREATE TABLE sets (id int PRIMARY KEY, shop int, seen date, small int[], large bigint[]);
INSERT INTO sets (id, small) VALUES (1, '{1,2,3,4,5}'), (2, '{5,4,3,2,1,1}'), (3, '{1,2,3,4,5,6,7,8,9,10}'), (4, '{2,3}'), (5, '{-7}'), (6, '{11,12,13,14}'),
  (7, '{11,12,13,15}'), (8, '{}'), (9, '{}'), (10, NULL), (11, '{-7}');
UPDATE sets SET large = (SELECT array_agg(e * 1000000000000) FROM unnest(small) e), shop = id % 2, seen = date '2024-01-01' + id;
UPDATE sets SET large = '{}' WHERE id IN (8, 9);
SELECT * FROM all_pairs('SELECT id, small FROM sets', 0.5);
SELECT * FROM all_pairs('SELECT id, large FROM sets ORDER BY id DESC', 0.6, measure => 'jaccard');
-- The set of id_a is contained in that of id_b; where both are contained in each other the pair appears both ways.
SELECT * FROM all_pairs('SELECT id, small FROM sets', 0.9, measure => 'containment');
SELECT * FROM all_pairs('SELECT id, large FROM sets', 0.9, 'star', measure => 'containment');
SELECT * FROM all_pairs('SELECT id, large FROM sets', 0.9, 'none', measure => 'containment');
SELECT * FROM all_pairs('SELECT id, small FROM sets', 3, measure => 'overlap');
SELECT count(*) FROM all_pairs('SELECT id, small FROM sets', 1.5, measure => 'overlap');
SELECT count(*) FROM all_pairs('SELECT id, small FROM sets', 'Infinity', measure => 'overlap');
SELECT * FROM all_pairs(NULL::text, 'SELECT ''row '' || id, small FROM sets', 0.75, measure => 'containment');
-- Between two queries, of int[] and bigint[] as well: the set of query_a in that of query_b
SELECT * FROM pairs_between('SELECT id, small FROM sets WHERE id < 5', 'SELECT id, small::bigint[] FROM sets', 1, measure => 'containment');
SELECT * FROM pairs_between('SELECT id, small FROM sets', 'SELECT id, small FROM sets WHERE id IN (4, 8)', 1, measure => 'containment');
SELECT * FROM pairs_between('SELECT id, small FROM sets WHERE id = 6', 'SELECT id, small FROM sets', 0.6);
SELECT count(*) FROM pairs_between('SELECT 1, ''{}''::int[]', 'SELECT id, small FROM sets', 0.1, measure => 'containment');
-- Groups, and rows near in time
SELECT * FROM all_pairs('SELECT id, small, shop AS within FROM sets', 0.9, measure => 'containment');
SELECT * FROM all_pairs('SELECT id, small, seen AS at FROM sets', 0.9, at_most_apart => '1 day', measure => 'containment');
SELECT * FROM pairs_between('SELECT id, small, shop AS within FROM sets', 'SELECT id, small, shop AS within FROM sets', 4, measure => 'overlap') WHERE id_a <> id_b;
-- Clusters by jaccard_exact
SELECT * FROM all_clusters('SELECT id, small FROM sets ORDER BY id', 0.5);
SELECT id, representative, similarity FROM all_clusters('SELECT id, large, shop AS within FROM sets ORDER BY id', 0.5, 'connected') WHERE NOT survivor;
SELECT * FROM cluster_bridges('SELECT id, small FROM sets', 0.5);
-- With containment a row joins the first one kept that has its share of it; only an earlier row, whatever their sizes
SELECT * FROM all_clusters('SELECT id, small FROM sets ORDER BY cardinality(small) DESC NULLS LAST, id', 0.75, measure => 'containment');
SELECT id, representative, similarity FROM all_clusters('SELECT id, small FROM sets ORDER BY id', 0.75, measure => 'containment') WHERE NOT survivor;
SELECT id, representative, similarity FROM all_clusters('SELECT id, large, shop AS within FROM sets ORDER BY id DESC', 1, measure => 'containment') WHERE NOT survivor;
SELECT id, representative, similarity FROM all_clusters('SELECT id, small, seen AS at FROM sets ORDER BY id', 0.75, at_most_apart => '1 day', measure => 'containment') WHERE NOT survivor;
-- Chains of rows one of which contains the other
SELECT id, representative, similarity FROM all_clusters('SELECT id, small FROM sets ORDER BY id', 1, 'connected', measure => 'containment') WHERE NOT survivor;
SELECT * FROM cluster_bridges('SELECT id, small FROM sets', 1, measure => 'containment');
SELECT * FROM cluster_bridges(NULL::text, 'SELECT ''row '' || id, small, seen AS at FROM sets', 1, at_most_apart => '1 day', measure => 'containment');
-- With overlap the similarity of a representative to itself is its number of elements.
SELECT id, representative, similarity FROM all_clusters(NULL::text, 'SELECT ''row '' || id, small FROM sets ORDER BY id', 3, measure => 'overlap');
-- The Dice coefficient and the cosine
SELECT * FROM all_pairs('SELECT id, small FROM sets', 0.6, measure => 'dice');
SELECT * FROM pairs_between('SELECT id, small FROM sets WHERE id < 4', 'SELECT id, small::bigint[] FROM sets WHERE id < 4', 0.1, measure => 'cosine');
SELECT count(*), count(DISTINCT cluster) FROM all_clusters('SELECT id, small FROM sets ORDER BY id', 0.7, 'connected', measure => 'cosine');
-- A domain over a set is one
CREATE DOMAIN items AS int[];
SELECT count(*) FROM all_pairs('SELECT id, small::items FROM sets', 0.5);
-- Errors
SELECT * FROM all_pairs('SELECT id, small FROM sets', 0.5, measure => 'euclid');
SELECT * FROM all_pairs('SELECT id, to_simhash(small::text) FROM sets', 0.5, measure => 'containment');
SELECT * FROM pairs_between('SELECT id, to_minhash(small::text) FROM sets', 'SELECT id, small FROM sets', 0.5);
SELECT * FROM pairs_between('SELECT id, small FROM sets', 'SELECT id, to_minhash(small::text) FROM sets', 0.5);
SELECT * FROM all_pairs('SELECT id, small, ''x''::text AS doc FROM sets', 0.5, verify => 'jaccard');
SELECT * FROM all_pairs('SELECT id, small FROM sets', 0.5, measure => 'overlap');
SELECT * FROM all_pairs('SELECT id, small FROM sets', 'NaN', measure => 'overlap');
SELECT * FROM all_pairs('SELECT id, small FROM sets', 80, measure => 'containment');
SELECT * FROM all_pairs('SELECT id, array_append(small, NULL) FROM sets', 0.5);
SELECT * FROM all_pairs('SELECT id, small::text[] FROM sets', 0.5);
SELECT * FROM all_clusters('SELECT id, small FROM sets', 0.5, measure => 'euclid');
SELECT * FROM all_clusters('SELECT id, to_minhash(small::text) FROM sets', 0.5, measure => 'containment');
SELECT * FROM all_clusters('SELECT id, small FROM sets', 0.5, measure => 'overlap');
SELECT * FROM all_clusters('SELECT id, small FROM sets', 80, measure => 'containment');
SELECT * FROM all_clusters('SELECT id, array_append(small, NULL) FROM sets', 0.5, measure => 'containment');
SELECT * FROM all_clusters('SELECT id, small, ''x''::text AS doc FROM sets', 0.5, verify => 'jaccard', measure => 'containment');
SELECT * FROM cluster_bridges('SELECT id, small FROM sets', 0.5, measure => 'euclid');
SELECT * FROM cluster_bridges('SELECT id, to_simhash(small::text) FROM sets', 0.5, measure => 'containment');
