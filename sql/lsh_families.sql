-- Indexes of simhash and ctph: what they promise, refuse and explain, and which conditions reach them. Answers are compared
-- by test/t/127_lsh_families.py.
CREATE TABLE hashes (id int PRIMARY KEY, h simhash);
CREATE INDEX hashes_h ON hashes USING lsh (h);
CREATE TABLE digests (id int PRIMARY KEY, c ctph);
CREATE INDEX digests_c ON digests USING lsh (c);
-- Empty
SELECT guarantee, parameters, bands, threshold, recall FROM lsh_info('hashes_h');
SELECT verdict, index_serves FROM explain_pair('hashes_h', simhash '0123456789abcdef', simhash '0123456789abcdee');
SELECT count(*) FROM hashes WHERE hamming(h, '0123456789abcdef') <= 3;
-- The n-th bit and some of the following ones flipped; every seventh NULL.
INSERT INTO hashes SELECT i, CASE WHEN i % 7 > 0 THEN neardup_internal.simhash_from_bigint(i / 20 * 1234567890123457 # ((1::bigint << (i % 20)) - 1)) END
  FROM generate_series(1, 2000) i;
INSERT INTO digests SELECT i, to_ctph((SELECT string_agg(md5((CASE WHEN l % 20 < i % 4 THEN i * 1000 + l ELSE i / 4 * 1000 + l END)::text), '')
  FROM generate_series(1, 40 + i % 3 * 30) l)) FROM generate_series(1, 400) i;
INSERT INTO digests VALUES (1001, '3::'), (1002, '3:abc:'), (1003, NULL);
VACUUM ANALYZE hashes, digests;
SELECT guarantee, parameters, bands, threshold, recall, recall_at, rows, entries FROM lsh_info('hashes_h');
SELECT guarantee, parameters, bands, threshold, recall, recall_at, rows FROM lsh_info('digests_c');
SELECT lsh_check('hashes_h', true), lsh_check('digests_c', true);

-- Options
CREATE INDEX hashes_3 ON hashes USING lsh (h simhash_ops (blocks = 3));
CREATE INDEX digests_5 ON digests USING lsh (c ctph_ops (max_rate = 0.05));
CREATE INDEX digests_0 ON digests USING lsh (c ctph_ops (max_rate = 0));
SELECT i, guarantee, parameters, bands FROM unnest('{hashes_3,digests_5,digests_0}'::regclass[]) i, lsh_info(i);
DROP INDEX hashes_3, digests_5, digests_0;
CREATE TABLE nothing (h simhash, c ctph);
CREATE INDEX ON nothing USING lsh (h simhash_ops (blocks = 1));
CREATE INDEX ON nothing USING lsh (h simhash_ops (blocks = 8));
CREATE INDEX ON nothing USING lsh (h simhash_ops (bands = 3));
CREATE INDEX ON nothing USING lsh (c ctph_ops (max_rate = 0.2));
CREATE INDEX ON nothing USING lsh (c ctph_ops (max_rate = -1));
CREATE INDEX ON nothing USING lsh (h) WITH (threshold = 0.8);
CREATE INDEX ON nothing USING lsh (c) WITH (recall = 0.9);
CREATE INDEX ON nothing USING lsh (h) WITH (pending_limit = 4);

-- Conditions. Q: a value of the query's own
SET enable_seqscan = off;
CREATE FUNCTION uses(what text, condition text, index text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text; plan text := '';
BEGIN
  FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT id FROM %s WHERE %s', what, condition) LOOP plan := plan || line; END LOOP;
  RETURN plan ~ index;
END $$;
SELECT form, uses('hashes', replace(form, 'Q', '''0123456789abcdef'''), 'hashes_h') AS constant,
       uses('hashes', replace(form, 'Q', '(SELECT h FROM hashes LIMIT 1)'), 'lsh_hamming_query') AS unknown
  FROM (VALUES ('hamming(h, Q) <= 3'), ('hamming(h, Q) < 4'), ('3 >= hamming(Q, h)'), ('hamming(h, Q) = 0'), ('hamming(h, Q) <= 15'),
    ('hamming(h, Q) < 16'), ('hamming(h, Q) <= 16'), ('hamming(h, Q) <= 3.5'), ('hamming(h, Q) < 3.5::real'), ('hamming(h, Q) <= 3::bigint'),
    ('hamming(h, Q) <= 3::smallint'), ('hamming(h, Q) <= 3::float8'), ('hamming(h, Q)::bigint <= 3'), ('hamming(h, Q) BETWEEN 1 AND 3'),
    ('hamming_at_most(h, Q, 3)'), ('h <~> Q < 4'), ('h <~> Q <= 3.5::real'), ('hamming(h, Q) <= -1'), ('hamming(h, Q) <= 1e400::numeric'), ('hamming(h, Q) <= 1e-400'),
    ('hamming(h, Q) >= 3'), ('hamming(h, Q) <> 3'), ('hamming(h, Q) <= id'), ('hamming(h, h) <= 3'), ('cosine(h, Q) > 0.9')) x(form);
SELECT form, uses('digests', replace(form, 'Q', '''96:abcdefghijklmnopqrstuvwxyzABCD:abcdefghijklmnop'''), 'digests_c') AS uses_index
  FROM (VALUES ('ctph_score(c, Q) >= 1'), ('ctph_score(c, Q) > 0'), ('ctph_score(c, Q) >= 0'), ('ctph_score(c, Q) = 100'), ('70 <= ctph_score(Q, c)'),
    ('ctph_score(c, Q) > 69.5'), ('ctph_score(c, Q) > 100'), ('ctph_score_at_least(c, Q, 70)'), ('ctph_score(c, Q) < 50'),
    ('ctph_edit_rate(c, Q) < 0.1'), ('ctph_edit_rate(c, Q) <= 0.15'), ('ctph_edit_rate(c, Q) < 0.16'), ('ctph_edit_rate(c, Q) < 0.1::real'),
    ('0.1 > ctph_edit_rate(Q, c)'), ('ctph_edit_rate(c, Q) = 0'), ('c <-> Q < 0.1'), ('ctph_edit_rate_at_most(c, Q, 0.1)'), ('ctph_edit_rate(c, Q) > 0.1')) x(form);
PREPARE nearest(simhash, int) AS SELECT id FROM hashes WHERE hamming(h, $1) <= $2 ORDER BY h <~> $1 LIMIT 3;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE nearest(NULL, NULL);
EXPLAIN (COSTS OFF) SELECT id FROM hashes WHERE hamming(h, '0123456789abcdef') < 4 OR hamming(h, '0123456789abcdef') < 3.5;
EXPLAIN (COSTS OFF) SELECT id FROM digests WHERE ctph_edit_rate(c, '3:abc:') < 0.1 ORDER BY c <-> '3:abc:';
RESET enable_seqscan;
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM digests a JOIN digests b ON ctph_score(a.c, b.c) >= 80;
SELECT id, h <~> q AS distance FROM hashes, (SELECT h AS q FROM hashes WHERE id = 1003) s WHERE hamming(h, q) <= 2 ORDER BY h <~> q, id;
SELECT count(*), min(s), max(s) FROM (SELECT ctph_score(a.c, b.c) s FROM digests a JOIN digests b ON a.id < b.id AND ctph_score(a.c, b.c) >= 60) x;
SELECT id FROM digests WHERE ctph_score(c, '3::') >= 1;
SELECT id FROM digests WHERE ctph_edit_rate(c, '3:abc:') < 0.1;
RESET plan_cache_mode;

-- A bound that is no bound; the index raises what a sequential scan raises
SELECT id FROM hashes WHERE hamming_at_most(h, '0123456789abcdef', 65);
PREPARE bad(float8) AS SELECT count(*) FROM hashes WHERE hamming_at_most(h, '0123456789abcdef', $1);
SET plan_cache_mode = force_generic_plan;
EXECUTE bad(3);
EXECUTE bad(-1);
EXECUTE bad('NaN');
SELECT id FROM digests WHERE ctph_score_at_least(c, '3:abc:', 101);
SELECT id FROM digests WHERE ctph_edit_rate_at_most(c, '3:abc:', 1.5);
RESET plan_cache_mode;

-- Queries as values
SELECT neardup_internal.lsh_hamming_query('0123456789abcdef', 3), neardup_internal.lsh_score_query('3:abc:de', 70), neardup_internal.lsh_rate_query('3:abc:de', 0.1);
SELECT simhash '0123456789abcdee' %> lsh_query 'hamming<=1 0123456789abcdef', ctph '3:abc:de' %> lsh_query 'ctph_edit_rate<=0 3:abc:de';
SELECT simhash '0123456789abcdee' %> lsh_query 'ctph_score>=1 3:abc:de';
SELECT ctph '3:abc:de' %> lsh_query 'hamming<=1 0123456789abcdef';
SELECT to_minhash('a') %> lsh_query 'hamming<=1 0123456789abcdef';
SELECT lsh_query 'hamming<=1 0123456789abcdef' && with_threshold(to_minhash('a'), 0.5);

-- Digests of two kinds
INSERT INTO digests VALUES (1004, ctph_long('some text', 100));
SELECT count(*) FROM digests WHERE ctph_score(c, ctph_long('some text', 100)) >= 1;

-- Why a pair is found
SELECT verdict, index_serves FROM explain_pair('hashes_h', simhash '0123456789abcdef', simhash '0123456789abcdee', 3);
SELECT verdict, index_serves FROM explain_pair('hashes_h', simhash '0123456789abcdef', simhash '0000000000000000', 3);
SELECT verdict, index_serves FROM explain_pair('hashes_h', simhash '0123456789abcdef', simhash '0123456789abcdee', 20);
SELECT * FROM explain_pair('digests_c', ctph '96:abcdefghijklmnopqrstu:abcdefghij', ctph '96:abcdefghijklmnopqrstv:abcdefghij') \gx
SELECT verdict, index_serves_score, index_serves_rate FROM explain_pair('digests_c', ctph '96:abcdefghijklmnopqrstu:abcdefghij', ctph '3:abc:d', 50, 0.2);
SELECT verdict FROM explain_pair('digests_c', ctph_long('some text', 100), ctph_long('some text', 100));
SELECT verdict FROM explain_pair('digests_c', to_ctph('some text'), ctph_long('some text', 100));
SELECT explain_pair('digests_c', simhash '0123456789abcdef', simhash '0123456789abcdef');
SELECT explain_pair('hashes_h', to_minhash('a'), to_minhash('a'));
SELECT explain_pair('hashes_h', ctph '3::', ctph '3::');
DROP TABLE hashes, digests, nothing;
DROP FUNCTION uses;
