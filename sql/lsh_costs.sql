-- Costs of searches over rows of which a few texts are popular: the index and the plan that are chosen, and the rows that are expected.
CREATE TABLE post (id int PRIMARY KEY, tenant int, status text, sig minhash, digest ctph, items int[], code bit(64)) WITH (autovacuum_enabled = off);
-- Two fifths of the rows are one notice. Of the others every two are copies, 10,000 rows apart.
INSERT INTO post SELECT i, i % 50, CASE WHEN i % 10 = 3 THEN 'new' ELSE 'done' END, set_minhash(ARRAY(SELECT g * 1000::bigint + e FROM generate_series(1, 60) e)),
    to_ctph((SELECT string_agg(md5(g || '/' || e), ' ') FROM generate_series(1, 8) e)),
    ARRAY(SELECT g * 100 + e FROM generate_series(1, 10) e) || ARRAY(SELECT 10000000 + hashint4(i * 10 + e) % 40 FROM generate_series(1, 10) e),
    (('x' || substr(md5(g::text), 1, 16))::bit(64))
  FROM (SELECT i, CASE WHEN i % 5 IN (0, 4) THEN 0 ELSE i % 10000 END AS g FROM generate_series(1, 20000) i) x;
CREATE INDEX post_status ON post (status);
CREATE INDEX post_sig ON post USING lsh (sig);
CREATE INDEX post_tenant_sig ON post USING lsh (tenant, sig);
CREATE INDEX post_digest ON post USING lsh (digest);
CREATE INDEX post_items ON post USING lsh (items);
CREATE INDEX post_code ON post USING lsh (code bit_ops (max_distance = 15));
CREATE TABLE asked AS SELECT id, sig FROM post WHERE id IN (1, 2, 3, 6, 7);
VACUUM ANALYZE post;
ANALYZE asked;
SET max_parallel_workers_per_gather = 0;
-- The lines of a plan that say which node reads what
CREATE FUNCTION nodes(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
  DECLARE line text; BEGIN FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ '(Scan|Join|Loop|Aggregate|Sort|Append)' AND line !~ 'Key:' THEN RETURN NEXT line; END IF; END LOOP; END $$;
CREATE FUNCTION expected(query text) RETURNS float8 LANGUAGE plpgsql AS $$
  DECLARE plan json; BEGIN EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan; RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows'; END $$;
-- True if the expected number of rows is right within a factor of two.
CREATE FUNCTION is_expected(query text) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE n bigint;
  BEGIN EXECUTE 'SELECT count(*) FROM (' || query || ') x' INTO n; RETURN expected(query) BETWEEN n / 2.0 AND n * 2.0 + 1; END $$;
SELECT format('%L::minhash', sig) AS sig, format('%L::ctph', digest) AS digest, format('%L::bit(64)', code) AS code FROM post WHERE id = 5 \gset notice_
SELECT format('%L::minhash', sig) AS sig, format('%L::int[]', items) AS items, format('%L::bit(64)', code) AS code FROM post WHERE id = 1 \gset text_

-- The lists of popular texts are longer than what is counted; few rows have several of the items that many rows have.
SELECT is_expected('SELECT FROM post WHERE jaccard(sig, ' || :'notice_sig' || ') >= 0.8') AS notice,
  is_expected('SELECT FROM post WHERE ctph_edit_rate(digest, ' || :'notice_digest' || ') <= 0.1') AS digest,
  is_expected('SELECT FROM post WHERE bit_hamming(code, ' || :'notice_code' || ') <= 5') AS code,
  is_expected('SELECT FROM post WHERE overlap_exact(items, ' || :'text_items' || ') >= 4') AS popular_items,
  is_expected('SELECT FROM post WHERE jaccard(sig, ' || :'text_sig' || ') >= 0.8') AS text;
-- One condition: by a plain scan, which checks its rows itself
SELECT nodes('SELECT id FROM post WHERE jaccard(sig, ' || :'text_sig' || ') >= 0.8');
SET enable_seqscan = off;
SELECT nodes('SELECT id FROM post WHERE bit_hamming(code, ' || :'notice_code' || ') <= 5');
RESET enable_seqscan;
-- The notice is in two fifths of the rows: no bitmap of it for a few rows
SELECT nodes('SELECT id FROM post WHERE id BETWEEN 101 AND 140 AND jaccard(sig, ' || :'notice_sig' || ') >= 0.8');
-- A tenant who sends the notice alone, and one who sends it never
CREATE FUNCTION price(query text) RETURNS float8 LANGUAGE plpgsql AS $$
  DECLARE plan json; BEGIN EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan; RETURN plan -> 0 -> 'Plan' ->> 'Total Cost'; END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'post_sig'::regclass;
SELECT price('SELECT id FROM post WHERE tenant = 5 AND jaccard(sig, ' || :'notice_sig' || ') >= 0.8') >
  3 * price('SELECT id FROM post WHERE tenant = 1 AND jaccard(sig, ' || :'notice_sig' || ') >= 0.8') AS by_tenant;
UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'post_sig'::regclass;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- Nearest: an index on further columns is of no use without their values.
SELECT nodes('SELECT id FROM post ORDER BY sig <%> (SELECT sig FROM post WHERE id = 1) LIMIT 1');
SELECT nodes('SELECT a.id, x.id FROM asked a, LATERAL (SELECT p.id FROM post p ORDER BY p.sig <%> a.sig LIMIT 1) x');
CREATE INDEX post_status_tenant ON post USING lsh (status, tenant, sig);
SELECT nodes('SELECT id FROM post WHERE status = ''new'' ORDER BY sig <%> (SELECT sig FROM asked WHERE id = 1) LIMIT 1');
SELECT nodes('SELECT id FROM post WHERE status = ''new'' AND tenant = 3 ORDER BY sig <%> (SELECT sig FROM asked WHERE id = 1) LIMIT 1');
DROP INDEX post_status_tenant;
-- A row that shares a key with the query by chance is not near: 2,000 rows are sorted, rather than the table read by the index.
SELECT nodes('SELECT id FROM post WHERE status = ''new'' ORDER BY code <-> ' || :'text_code' || ' LIMIT 10');
SELECT nodes('SELECT id FROM post ORDER BY code <-> ' || :'notice_code' || ' LIMIT 5');

-- Few rows are not expected to be popular ones, all rows are as popular as they are.
SELECT nodes('SELECT id FROM post WHERE id IN (SELECT p.id FROM asked a JOIN post p ON jaccard(p.sig, a.sig) >= 0.8)');
SELECT nodes('SELECT a.id, b.id FROM post a JOIN post b ON jaccard(b.sig, a.sig) >= 0.8 WHERE a.id BETWEEN 11 AND 20');
SELECT expected('SELECT FROM asked a JOIN post p ON jaccard(p.sig, a.sig) >= 0.8') < 50 AS few,
  expected('SELECT FROM post a JOIN post b ON jaccard(a.sig, b.sig) >= 0.8') BETWEEN 32000000 AND 128000000 AS every;
RESET max_parallel_workers_per_gather;
DROP TABLE post, asked;
DROP FUNCTION nodes, is_expected, expected, price;
