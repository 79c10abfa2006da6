-- all_pairs, pairs_between, all_clusters, cluster_anchor, cluster_connected.
CREATE TABLE words AS SELECT i, 'w' || i AS w FROM generate_series(1, 400) i;
-- Document d holds words d*20 .. d*20+59 but for variants, which drop a word or two of the document before.
CREATE TABLE docs (id int PRIMARY KEY, body text, sig minhash);
INSERT INTO docs SELECT d, (SELECT string_agg(w, ' ' ORDER BY i) FROM words WHERE i BETWEEN (d / 4) * 60 + 1 AND (d / 4) * 60 + 60 AND i % 60 >= d % 4)
  FROM generate_series(0, 19) d;
INSERT INTO docs VALUES (100, ''), (101, NULL), (102, '...'), (103, (SELECT body FROM docs WHERE id = 0));
UPDATE docs SET sig = to_minhash(body);
SELECT * FROM all_pairs('SELECT id, sig FROM docs', 0.9) LIMIT 8;
CREATE VIEW brute AS SELECT a.id AS id_a, b.id AS id_b, jaccard(a.sig, b.sig) AS similarity FROM docs a JOIN docs b ON a.id < b.id;
SELECT t, (SELECT count(*) FROM all_pairs('SELECT id, sig FROM docs', t)) AS pairs,
       (SELECT count(*) FROM (SELECT * FROM all_pairs('SELECT id, sig FROM docs ORDER BY id DESC', t) EXCEPT ALL SELECT * FROM brute WHERE similarity >= t) x) AS extra,
       (SELECT count(*) FROM (SELECT * FROM brute WHERE similarity >= t EXCEPT ALL SELECT * FROM all_pairs('SELECT id, sig FROM docs', t)) x) AS missing
  FROM unnest(ARRAY[0.01, 0.5, 0.8, 0.9, 1.0]) t;
-- In order, whatever the order of the query
SELECT bool_and(id_a < id_b), bool_and((id_a, id_b) > (la, lb)) FROM
  (SELECT *, lag(id_a) OVER () AS la, lag(id_b) OVER () AS lb FROM all_pairs('SELECT id, sig FROM docs ORDER BY md5(id::text)', 0.5)) x;
-- Ids of other types
SELECT * FROM all_pairs(NULL::text, 'SELECT ''doc '' || id, sig FROM docs', 0.99) LIMIT 3;
SELECT pg_typeof(id_a), count(*) FROM all_pairs(NULL::uuid, 'SELECT md5(id::text)::uuid, sig FROM docs', 0.9) GROUP BY 1;
SELECT pg_typeof(id_a), count(*) FROM all_pairs(NULL::date, 'SELECT date ''2000-01-01'' + id, sig FROM docs', 0.9) GROUP BY 1;
SELECT count(*) FROM all_pairs('SELECT id::smallint, sig FROM docs', 0.9);
SELECT count(*) FROM all_pairs(NULL::int, 'SELECT id, sig FROM docs', 0.9);
-- Two sets: ids may be the same in both
SELECT count(*) AS pairs, (SELECT count(*) FROM docs a, docs b WHERE a.id < 10 AND b.id >= 5 AND jaccard(a.sig, b.sig) >= 0.8) AS brute
  FROM pairs_between('SELECT id, sig FROM docs WHERE id < 10', 'SELECT id, sig FROM docs WHERE id >= 5', 0.8);
SELECT * FROM pairs_between(NULL::text, 'SELECT id::text, sig FROM docs WHERE id = 0', 'SELECT id::text, sig FROM docs WHERE id IN (1, 103)', 0.8);
SELECT count(*) FROM pairs_between('SELECT id, sig FROM docs WHERE false', 'SELECT id, sig FROM docs', 0.8);
SELECT count(*) FROM pairs_between('SELECT id, sig FROM docs', 'SELECT id, sig FROM docs WHERE false', 0.8);
-- Little memory: the same pairs
SET maintenance_work_mem = '1MB';
SELECT count(*), sum(hashint8(id_a) # hashint8(id_b)) <> 0 FROM all_pairs('SELECT id, sig FROM docs', 0.5);
RESET maintenance_work_mem;
-- Nothing to compare
SELECT count(*) FROM all_pairs('SELECT id, sig FROM docs WHERE false', 0.8);
SELECT count(*) FROM all_pairs('SELECT id, NULL::minhash FROM docs', 0.8);
SELECT count(*) FROM all_pairs('VALUES (1, to_minhash(''''))', 0.8);
CREATE TABLE small AS SELECT id, sig FROM docs WHERE id < 4;
SELECT count(*) FROM all_pairs('TABLE small;', 0.8);
-- Clusters
SELECT id, cluster_anchor(sig, 0.8) OVER (ORDER BY id) AS anchor, cluster_connected(sig, 0.8) OVER (ORDER BY id) AS connected FROM docs ORDER BY id;
SELECT id, cluster_anchor(sig, 0.8) OVER (PARTITION BY id % 2 ORDER BY id DESC) AS c FROM docs WHERE id < 8 ORDER BY id % 2, id DESC;
SELECT * FROM all_clusters('SELECT id, sig FROM docs ORDER BY id', 0.8);
SELECT * FROM all_clusters(NULL::text, 'SELECT id::text, sig FROM docs WHERE id < 6 ORDER BY id DESC', 0.8, 'connected');
SELECT count(*) FROM all_clusters('SELECT id, sig FROM docs WHERE false', 0.8);
SELECT id, cluster_anchor(NULL::minhash, 0.8) OVER () FROM docs WHERE id < 2;
-- The whole deletion in one statement
CREATE TABLE kept AS TABLE docs;
WITH c AS (SELECT id, row_number() OVER w AS n, cluster_anchor(sig, 0.8) OVER w AS c FROM kept WINDOW w AS (ORDER BY id))
DELETE FROM kept USING c WHERE kept.id = c.id AND c.c <> c.n;
SELECT array_agg(id ORDER BY id) FROM kept;
-- A view follows a rename and protects its table.
CREATE VIEW clustered AS SELECT id, cluster_anchor(sig, 0.8) OVER (ORDER BY id) AS c FROM docs;
ALTER TABLE docs RENAME TO documents;
SELECT count(DISTINCT c) FROM clustered;
DROP TABLE documents;
-- Errors
SELECT * FROM all_pairs('documents', 0.8);
SELECT * FROM all_pairs('', 0.8);
SELECT * FROM all_pairs('SELECT id, sig FROM documents; SELECT 1', 0.8);
SELECT * FROM all_pairs('DELETE FROM documents RETURNING id, sig', 0.8);
SELECT * FROM all_pairs('WITH d AS (DELETE FROM documents RETURNING id, sig) SELECT * FROM d', 0.8);
SELECT * FROM all_pairs('SELECT id, sig FROM documents FOR UPDATE', 0.8);
SELECT * FROM all_pairs('EXPLAIN SELECT 1', 0.8);
SELECT * FROM all_pairs('SELECT id, sig FRM documents', 0.8);
SELECT * FROM all_pairs('SELECT id, sig FROM documents WHERE id = $1', 0.8);
SELECT * FROM all_pairs('SELECT id FROM documents', 0.8);
SELECT * FROM all_pairs('SELECT id, sig, body FROM documents', 0.8);
SELECT * FROM all_pairs('SELECT id, body FROM documents', 0.8);
SELECT * FROM all_pairs('SELECT id::text, sig FROM documents', 0.8);
SELECT * FROM all_pairs(NULL::uuid, 'SELECT id, sig FROM documents', 0.8);
SELECT * FROM all_pairs(NULL::point, 'SELECT point(1, 1), sig FROM documents', 0.8);
CREATE DOMAIN positive AS int CHECK (value > 0);
SELECT * FROM all_pairs(NULL::positive, 'SELECT -id, sig FROM documents', 0.8);
SELECT pg_typeof(id_a), count(*) FROM all_pairs(NULL::positive, 'SELECT (id + 1)::positive, sig FROM documents', 0.8) GROUP BY 1;
DROP DOMAIN positive;
SELECT * FROM all_pairs('SELECT NULL::int, sig FROM documents', 0.8);
SELECT * FROM all_pairs('SELECT id / 50, sig FROM documents ORDER BY id', 0.8);
SELECT * FROM all_pairs('SELECT id % 2, sig FROM documents', 0.8);
SELECT * FROM all_clusters('SELECT id % 2, sig FROM documents', 0.8);
SELECT * FROM all_pairs('SELECT id, CASE WHEN id = 3 THEN to_minhash(body, 2) ELSE sig END FROM documents', 0.8);
SELECT * FROM pairs_between('SELECT id, sig FROM documents', 'SELECT id, to_minhash(body, 2) FROM documents', 0.8);
SELECT * FROM all_pairs('SELECT id, sig FROM documents', 80);
SELECT * FROM all_pairs('SELECT id, sig FROM documents', 0);
SELECT * FROM all_pairs('SELECT id, sig FROM documents', 'NaN');
SELECT * FROM all_pairs('SELECT id, sig FROM documents', NULL);
SELECT * FROM all_pairs(NULL, 0.8);
SELECT * FROM all_clusters('SELECT id, sig FROM documents', 0.8, 'single');
SELECT cluster_anchor(sig, 1.5) OVER () FROM documents;
SELECT cluster_anchor(sig, NULL) OVER () FROM documents;
SELECT cluster_anchor(sig, 0.5 + id * 0.001) OVER (ORDER BY id) FROM documents;
SELECT cluster_anchor(CASE WHEN id = 3 THEN to_minhash(body, 2) ELSE sig END, 0.8) OVER (ORDER BY id) FROM documents;
SELECT cluster_anchor(sig, 0.8) FROM documents;
-- Other signatures: similarity is 1 - hamming / 64, and 1 - ctph_edit_rate
CREATE TABLE signed (id int PRIMARY KEY, s simhash, c ctph, long ctph);
INSERT INTO signed SELECT i, (2^(i % 3) + 1000 * (i / 3))::bigint::simhash,
    to_ctph(repeat('near ' || i / 3, 100) || (SELECT string_agg(md5((i / 3 * 200 + k)::text), ' ') FROM generate_series(1, 200) k) || i % 3),
    ctph_long((SELECT string_agg(md5((i / 3 * 200 + k)::text), ' ') FROM generate_series(1, 200) k) || i % 3, 100)
  FROM generate_series(0, 8) i;
INSERT INTO signed SELECT 20 + id, s, c, long FROM signed WHERE id < 2;
INSERT INTO signed VALUES (30, NULL, NULL, NULL), (31, NULL, to_ctph(''), ctph_long('', 100)), (32, NULL, to_ctph(''), ctph_long('', 100));
SELECT * FROM all_pairs('SELECT id, s FROM signed', 0.95);
SELECT id_a, id_b, round(similarity::numeric, 3) FROM all_pairs('SELECT id, c FROM signed', 0.8);
SELECT (SELECT count(*) FROM all_pairs('SELECT id, long FROM signed', 0.8)) AS found, count(*) AS brute
  FROM signed a JOIN signed b ON a.id < b.id AND 1 - ctph_edit_rate(a.long, b.long) >= 0.8;
SELECT * FROM pairs_between('SELECT id, s FROM signed WHERE id < 3', 'SELECT id, s FROM signed WHERE id > 19', 0.95);
SELECT id, cluster_anchor(s, 0.95) OVER w AS s, cluster_connected(c, 0.8) OVER w AS c, cluster_anchor(long, 0.8) OVER w AS long
  FROM signed WINDOW w AS (ORDER BY id) ORDER BY id;
SELECT * FROM all_clusters('SELECT id, s FROM signed WHERE id < 30 ORDER BY id DESC', 0.95);
SELECT id, cluster_size, survivor FROM all_clusters('SELECT id, c FROM signed ORDER BY id', 0.8, 'connected');
-- Equal signatures
SELECT * FROM all_pairs('SELECT id, s FROM signed', 1);
SELECT * FROM all_pairs('SELECT id, s FROM signed', 0.95, 'star');
SELECT * FROM all_pairs('SELECT id, s FROM signed', 0.95, identical => 'none');
SELECT * FROM pairs_between('SELECT id, s FROM signed WHERE id < 3', 'SELECT id, s FROM signed WHERE id > 19', 0.95, 'none');
SELECT * FROM all_pairs(NULL::text, 'SELECT id::text, c FROM signed', 1, 'star');
-- Threads and memory change nothing
SET neardup.threads = 3;
SET maintenance_work_mem = '1MB';
SELECT count(*) FROM all_pairs('SELECT id, s FROM signed', 0.95);
SELECT count(*) FROM all_pairs('SELECT id, c FROM signed', 0.8);
RESET neardup.threads;
RESET maintenance_work_mem;
-- A call within a call's query leaves the outer one's progress alone.
CREATE FUNCTION inner_pairs(id int) RETURNS minhash LANGUAGE plpgsql AS $$
DECLARE seen text; BEGIN
  PERFORM FROM all_pairs('VALUES (1, to_minhash(''a'')), (2, to_minhash(''a''))', 0.8);
  PERFORM FROM all_clusters('SELECT id, to_minhash(''a'') AS sig, ''a'' AS doc FROM generate_series(1, 2) id', 0.8, verify => 'jaccard');
  PERFORM pg_stat_clear_snapshot();
  SELECT string_agg(format('%s, %s, %s rows', function, phase, rows_read), '; ') INTO seen FROM neardup_progress() WHERE pid = pg_backend_pid();
  RAISE NOTICE 'row %: %', id, seen;
  RETURN to_minhash('x'); END $$;
SELECT count(*) FROM pairs_between('SELECT id, inner_pairs(id) FROM generate_series(1, 2) id', 'SELECT 3, to_minhash(''x'')', 0.8);
SELECT count(*) FROM all_clusters('SELECT id, inner_pairs(id), now() AS at FROM generate_series(1, 2) id', 0.8, at_most_apart => '0');
SELECT count(*) FROM neardup_progress() WHERE pid = pg_backend_pid();
DROP FUNCTION inner_pairs;
-- Errors
SELECT * FROM all_pairs('SELECT id, s FROM signed', 0.95, 'some');
SELECT * FROM all_pairs('SELECT id, s FROM signed', 0.95, NULL);
SELECT * FROM all_pairs('SELECT id, s FROM signed', 3);
SELECT * FROM all_pairs('SELECT id, CASE WHEN id < 2 THEN c ELSE long END FROM signed', 0.8);
SELECT cluster_anchor(CASE WHEN id < 2 THEN c ELSE long END, 0.8) OVER (ORDER BY id) FROM signed;
SELECT * FROM pairs_between('SELECT id, s FROM signed', 'SELECT id, c FROM signed', 0.8);
SELECT * FROM pairs_between('SELECT id, c FROM signed', 'SELECT id, long FROM signed', 0.8);
SET neardup.threads = 1000;
-- The form with ids gives the id of the row that represents: of any type, NULL where the signature is.
SELECT id, cluster_anchor(sig, 0.8, id) OVER w AS anchor, cluster_connected(sig, 0.8, 'n' || id) OVER w AS connected, (cluster_anchor(sig, 0.8, ROW(id, body)) OVER w) IS NULL AS unsigned
  FROM documents WINDOW w AS (ORDER BY id DESC) ORDER BY id;
SELECT count(*) AS differences FROM (SELECT cluster_anchor(sig, 0.8) OVER w AS number, cluster_anchor(sig, 0.8, id) OVER w AS of_id, array_agg(id) OVER (PARTITION BY id % 2 ORDER BY id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS ids
  FROM documents WINDOW w AS (PARTITION BY id % 2 ORDER BY id DESC)) x WHERE of_id IS DISTINCT FROM ids[number];
SELECT id, cluster_anchor(sig, 0.8, NULLIF(id, 0)) OVER (ORDER BY id) FROM documents WHERE id < 4 ORDER BY id;
-- A window without an order brings a warning, once.
SELECT count(DISTINCT c) FROM (SELECT cluster_anchor(sig, 0.8) OVER (PARTITION BY id % 3) AS c FROM documents) x;

DROP VIEW clustered, brute;
DROP TABLE documents, words, small, kept, signed;
