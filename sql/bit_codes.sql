-- Bit codes: Hamming distance of bit strings, the operator class bit_ops, pairs and clusters.
-- pgvector's operators on bit, by its names, in the same schema: both live together.
CREATE FUNCTION hamming_distance(bit, bit) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT
  RETURN length(replace(($1 # $2)::text, '0', ''));
CREATE OPERATOR <~> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = hamming_distance, COMMUTATOR = <~>);
CREATE FUNCTION jaccard_distance(bit, bit) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT
  RETURN 1 - length(replace(($1 & $2)::text, '0', '')) / greatest(length(replace(($1 | $2)::text, '0', '')), 1)::float8;
CREATE OPERATOR <%> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = jaccard_distance, COMMUTATOR = <%>);

-- the measure
SELECT bit_hamming(repeat('0', 64)::bit(64), repeat('1', 64)::bit(64)), bit_hamming(repeat('01', 35)::bit(70), repeat('0', 70)::bit(70));
SELECT repeat('0', 256)::bit(256) <-> repeat('0001', 64)::bit(256) AS ours, repeat('0', 256)::bit(256) <~> repeat('0001', 64)::bit(256) AS pgvector,
  pg_typeof(repeat('0', 256)::bit(256) <-> repeat('0', 256)::bit(256));
SELECT bit_hamming(repeat('0', 4096)::bit(4096), repeat('1', 4096)::bit(4096)), bit_hamming(repeat('0', 64)::varbit, repeat('1', 64)::varbit);
SELECT bit_hamming(NULL, repeat('1', 64)::bit(64)), repeat('1', 64)::bit(64) <-> NULL, bit_hamming_at_most(repeat('1', 64)::bit(64), repeat('1', 64)::bit(64), NULL);
SELECT d, bit_hamming_at_most(repeat('0', 64)::bit(64), repeat('0011', 16)::bit(64), d) FROM unnest(ARRAY[0, 31, 31.9, 32, 4096]) AS d;
SELECT count(*) FILTER (WHERE bit_hamming(a, b) <> a <~> b) AS wrong FROM (
  SELECT string_agg((hashint4(i * 4099 + j) & 1)::text, '' ORDER BY j)::bit(333) AS a,
    string_agg((hashint4(i * 4099 - j) & 1)::text, '' ORDER BY j)::bit(333) AS b
  FROM generate_series(1, 20) AS i, generate_series(1, 333) AS j GROUP BY i) AS p;

-- errors name what is wrong
SELECT bit_hamming(repeat('0', 256)::bit(256), repeat('0', 64)::bit(64));
SELECT repeat('0', 64)::bit(64) <-> repeat('0', 65)::bit(65);
SELECT bit_hamming(B'0101', B'0111');
SELECT bit_hamming(repeat('0', 4097)::bit(4097), repeat('0', 4097)::bit(4097));
SELECT bit_hamming_at_most(repeat('0', 64)::bit(64), repeat('0', 64)::bit(64), -1);
SELECT bit_hamming_at_most(repeat('0', 64)::bit(64), repeat('0', 64)::bit(64), 'NaN');
SELECT bit_hamming_at_most(repeat('0', 64)::bit(64), repeat('0', 64)::bit(64), 4097);
SELECT repeat('0', 64)::bit(64) %> 'hamming<=3 0123456789abcdef';
SELECT repeat('0', 64)::bit(64) %> ('bit_hamming<=3 ' || repeat('1', 65))::lsh_query;
SELECT repeat('0', 64)::bit(64) %> ('bit_hamming<=64 ' || repeat('1', 64))::lsh_query, repeat('0', 64)::bit(64) %> ('bit_hamming<=63 ' || repeat('1', 64))::lsh_query;
SELECT 'bit_hamming<=3 0101'::lsh_query;
SELECT 'bit_hamming<=3 [8]'::lsh_query;
SELECT ('bit_hamming<=31 ' || repeat('01', 32))::lsh_query;

-- an index
CREATE FUNCTION code(seed int, bits int = 256) RETURNS bit LANGUAGE sql IMMUTABLE
  RETURN (SELECT string_agg((hashint8extended(j, seed) & 1)::text, '' ORDER BY j)::varbit FROM generate_series(1, bits) AS j);
-- n bits of the code flipped, at places that the seed determines
CREATE FUNCTION flipped(value bit, n int, seed int) RETURNS bit LANGUAGE sql IMMUTABLE
  RETURN (SELECT string_agg(CASE WHEN place <= n THEN 1 - get_bit(value, j) ELSE get_bit(value, j) END::text, '' ORDER BY j)::varbit
    FROM (SELECT j, row_number() OVER (ORDER BY hashint8extended(j, seed)) AS place FROM generate_series(0, length(value) - 1) AS j) AS p);
CREATE TABLE hashes (id int PRIMARY KEY, pdq bit(256));
INSERT INTO hashes SELECT i, CASE WHEN i % 97 = 0 THEN NULL WHEN i % 5 = 0 THEN flipped(code(i / 50), i % 45, i) ELSE code(-i) END FROM generate_series(1, 2000) AS i;
CREATE INDEX hashes_pdq ON hashes USING lsh (pdq bit_ops (max_distance = 31));
SELECT opcdefault FROM pg_opclass WHERE opcname = 'bit_ops' AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'lsh');
ANALYZE hashes;
SELECT parameters, guarantee FROM lsh_info('hashes_pdq');
SET enable_seqscan = off;
-- PostgreSQL 17 and 19 name the value of a subquery in other ways, and 19 also shows what an empty result replaces.
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
  DECLARE line text; BEGIN FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    CONTINUE WHEN line LIKE '%Replaces: %';
    line := regexp_replace(replace(line, ' (returns $0)', ''), '\(InitPlan (expr_)?1\)\.col1', '$0');
    RETURN NEXT replace(line, 'InitPlan expr_1', 'InitPlan 1'); END LOOP; END $$;
SELECT plan_of('SELECT id FROM hashes WHERE bit_hamming(pdq, (SELECT pdq FROM hashes WHERE id = 50)) <= 31');
PREPARE near(bit) AS SELECT id FROM hashes WHERE bit_hamming(pdq, $1) <= 31;
PREPARE named(bit) AS SELECT id FROM hashes WHERE bit_hamming_at_most(pdq, $1, 31);
PREPARE ordered(bit) AS SELECT id, pdq <-> $1 AS distance FROM hashes WHERE bit_hamming(pdq, $1) < 32 ORDER BY pdq <-> $1, id LIMIT 5;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE near(code(7));
EXPLAIN (COSTS OFF) EXECUTE named(code(7));
SET enable_bitmapscan = off;
SELECT trim(line) AS searched FROM plan_of('EXECUTE ordered(code(7))') line WHERE line ~ 'Index (Scan|Cond)';  -- from 16 on in its order, too
RESET enable_bitmapscan;
EXPLAIN (COSTS OFF) SELECT id FROM hashes WHERE 31 >= bit_hamming(code(7), pdq);
EXECUTE near(code(7));
EXECUTE named(code(7));
EXECUTE ordered(code(7));
RESET plan_cache_mode;
SELECT plan_of('EXECUTE near(NULL)');
DROP FUNCTION plan_of;
-- the same rows as without, at every distance and for every row
CREATE TABLE found (with_index boolean, d int, id int, other int);
INSERT INTO found SELECT true, d, q.id, h.id FROM (SELECT * FROM hashes WHERE id % 50 = 0 AND pdq IS NOT NULL) AS q, generate_series(-1, 31, 4) AS d,
  LATERAL (SELECT id FROM hashes WHERE bit_hamming(pdq, q.pdq) <= d OFFSET 0) AS h;
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
INSERT INTO found SELECT false, d, q.id, h.id FROM (SELECT * FROM hashes WHERE id % 50 = 0 AND pdq IS NOT NULL) AS q, generate_series(-1, 31, 4) AS d,
  LATERAL (SELECT id FROM hashes WHERE bit_hamming(pdq, q.pdq) <= d OFFSET 0) AS h;
RESET enable_indexscan;
RESET enable_bitmapscan;
SELECT count(*) FILTER (WHERE with_index) AS by_index, count(*) FILTER (WHERE NOT with_index) AS by_scan FROM found;
SELECT d, id, other FROM found GROUP BY d, id, other HAVING count(*) <> 2;
-- A bound above max_distance needs a scan of all rows.
EXPLAIN (COSTS OFF) SELECT id FROM hashes WHERE bit_hamming(pdq, code(7)) <= 32;
SELECT condition, index, served, reason FROM lsh_why_not($$SELECT id FROM hashes WHERE bit_hamming(pdq, code(7)) <= 32$$);
-- a query of another length is an error, with the index and without
SELECT count(*) FROM hashes WHERE bit_hamming(pdq, code(7, 128)) <= 3;
SET enable_seqscan = off;
SELECT count(*) FROM hashes WHERE bit_hamming(pdq, code(7, 128)) <= 3;
EXECUTE near(code(7, 128));
EXECUTE near(B'0101');
RESET enable_seqscan;
-- a bound that no row reaches
SELECT count(*) FROM hashes WHERE bit_hamming(pdq, code(7)) <= 5000;
SELECT count(*) FROM hashes WHERE bit_hamming(pdq, code(7)) < 0;
SELECT lsh_check('hashes_pdq', true);

-- rows come and go
UPDATE hashes SET pdq = flipped(pdq, 3, id) WHERE id % 10 = 0;
DELETE FROM hashes WHERE id % 7 = 0;
VACUUM hashes;
SELECT lsh_check('hashes_pdq', true);
SELECT count(*) FROM hashes a JOIN hashes b ON bit_hamming(a.pdq, b.pdq) <= 31 AND a.id < b.id;
SET enable_indexscan = off; SET enable_bitmapscan = off;
SELECT count(*) FROM hashes a JOIN hashes b ON bit_hamming(a.pdq, b.pdq) <= 31 AND a.id < b.id;
RESET enable_indexscan; RESET enable_bitmapscan;

-- options and lengths
CREATE TABLE lengths (id serial, code varbit);
CREATE INDEX lengths_code ON lengths USING lsh (code bit_ops);
INSERT INTO lengths (code) VALUES (code(1, 64));
INSERT INTO lengths (code) VALUES (code(1, 65));
INSERT INTO lengths (code) VALUES (NULL), (code(2, 64));
SELECT parameters, guarantee FROM lsh_info('lengths_code');
SELECT id FROM lengths WHERE bit_hamming(code, flipped(code(2, 64), 8, 1)) <= 8;
TRUNCATE lengths;
INSERT INTO lengths (code) VALUES (B'0101');
INSERT INTO lengths (code) VALUES (code(1, 4096));
SELECT parameters, guarantee FROM lsh_info('lengths_code');
CREATE INDEX ON hashes USING lsh (pdq bit_ops (max_distance = 65));
CREATE INDEX ON hashes USING lsh (pdq bit_ops (max_distance = 5000));
CREATE INDEX ON hashes USING lsh (pdq bit_ops (max_distance = -2));
CREATE INDEX ON hashes USING lsh (pdq) WITH (threshold = 0.8);
CREATE TABLE short_codes (code bit(32), long_code bit(5000));
CREATE INDEX ON short_codes USING lsh (code);
CREATE INDEX ON short_codes USING lsh (long_code);
DROP TABLE short_codes;
CREATE INDEX hashes_tight ON hashes USING lsh (pdq bit_ops (max_distance = 0));
SELECT guarantee FROM lsh_info('hashes_tight');
DROP INDEX hashes_tight;

-- row security: the index is asked by quiet twins
CREATE ROLE bit_codes_reader;
GRANT SELECT ON hashes TO bit_codes_reader;
ALTER TABLE hashes ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON hashes USING (id % 2 = 0);
SET ROLE bit_codes_reader;
SET enable_seqscan = off;
PREPARE seen(bit) AS SELECT count(*), min(id % 2) FROM hashes WHERE bit_hamming(pdq, $1) <= 31;
EXPLAIN (COSTS OFF) EXECUTE seen(code(7));
EXECUTE seen(code(7));
SET enable_indexscan = off;
DISCARD PLANS;
EXPLAIN (COSTS OFF) EXECUTE seen(code(7));
EXECUTE seen(code(7));
RESET enable_indexscan;
RESET ROLE;
RESET enable_seqscan;
ALTER TABLE hashes DISABLE ROW LEVEL SECURITY;

-- pairs and clusters
SELECT count(*) FILTER (WHERE similarity <> 1 - bit_hamming(x.pdq, y.pdq) / 256.0::float8) AS wrong, count(*)
FROM all_pairs(NULL::int, 'SELECT id, pdq FROM hashes', 1 - 31 / 256.0) AS p JOIN hashes x ON x.id = p.id_a JOIN hashes y ON y.id = p.id_b;
SELECT count(*) FROM pairs_between(NULL::int, 'SELECT id, pdq FROM hashes WHERE id % 2 = 0', 'SELECT id, pdq FROM hashes WHERE id % 2 = 1', 1 - 31 / 256.0);
SELECT count(*) FROM hashes x JOIN hashes y ON bit_hamming(x.pdq, y.pdq) <= 31 WHERE x.id % 2 = 0 AND y.id % 2 = 1;
SELECT count(*), count(DISTINCT cluster) FROM all_clusters(NULL::int, 'SELECT id, pdq FROM hashes ORDER BY id', 1 - 31 / 256.0);
SELECT * FROM all_pairs(NULL::int, 'SELECT 1, code(1, 64) UNION ALL SELECT 2, code(1, 65)', 0.9);
SELECT * FROM all_pairs(NULL::int, $$SELECT 1, B'01' UNION ALL SELECT 2, B'01'$$, 0.9);
SELECT * FROM all_pairs(NULL::int, 'SELECT 1, code(1, 64)', 31);
SELECT create_duplicates('hash_copies', 'hashes', 'id', signature => 'pdq');
DROP TABLE hashes, lengths, found;
DROP ROLE bit_codes_reader;
