-- Rows at the border: as far from the query as the condition allows, with every differing component in a band of its own. They have
-- exactly the hits that a scan requires, so a scan that requires one more, or counts one less, loses them.
-- 33 bands of 128 components: component j * 128 / 33 begins band j. d components of row n differ from those of row (n, 0).
-- first: in the first d bands, whose lists are then the shortest, so that the row is found in the last list that may bring new rows.
CREATE FUNCTION near(n int, d int, first boolean = false) RETURNS minhash IMMUTABLE LANGUAGE sql AS
  $$ SELECT minhash_import(array_agg(CASE WHEN (CASE WHEN first THEN j ELSE (j * 7 + n * 5) % 33 END) < d THEN 1000 + n ELSE i END ORDER BY i))
     FROM generate_series(0::bigint, 127) i LEFT JOIN generate_series(0, 32) j ON j * 128 / 33 = i $$;
CREATE TABLE near_rows (d int, n int, sig minhash, filler text) WITH (autovacuum_enabled = off);
ALTER TABLE near_rows ALTER COLUMN filler SET STORAGE plain;
-- For each d, the rows that a scan of the index finds at the threshold that d allows, of d and of all; and at one component more.
CREATE FUNCTION found() RETURNS TABLE (d int, at_border bigint, nearer bigint, further bigint) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
  FOR d IN SELECT DISTINCT r.d FROM near_rows r WHERE r.d IS NOT NULL ORDER BY 1 LOOP
    EXECUTE format('SELECT count(*) FILTER (WHERE d = %1$s), count(*) FILTER (WHERE d < %1$s), count(*) FILTER (WHERE d > %1$s) FROM near_rows
                    WHERE sig %%> with_threshold(%2$L::minhash, %3$s)', d, near(0, 0), (128 - d) / 128.0) INTO at_border, nearer, further;
    RETURN NEXT;
  END LOOP;
END $$;
-- Pending rows, counted one by one
CREATE INDEX near_rows_sig ON near_rows USING lsh (sig) WITH (threshold = 0.75);
INSERT INTO near_rows SELECT d, n, near(n, d) FROM unnest(ARRAY[1, 8, 12, 20, 29, 32]) d, generate_series(1, 3) n;
SELECT guarantee, bands, pending_rows FROM lsh_info('near_rows_sig');
SELECT * FROM found();
-- More pages of them, which a session that has searched before must see
INSERT INTO near_rows SELECT d, n, near(n, d) FROM unnest(ARRAY[1, 8, 12, 20, 29, 32]) d, generate_series(4, 33) n;
SELECT pending_rows, pending_pages > 2 AS several_pages FROM lsh_info('near_rows_sig');
SELECT * FROM found();
-- The first row has decided how signatures are made.
INSERT INTO near_rows VALUES (0, 0, set_minhash('{1,2,3}'::bigint[]));
INSERT INTO near_rows VALUES (0, 0, minhash_import(ARRAY(SELECT generate_series(0::bigint, 63))));
DELETE FROM near_rows WHERE n > 3;
VACUUM near_rows;
-- A run, few entries: counted in the table
REINDEX INDEX near_rows_sig;
SELECT rows, pending_rows FROM lsh_info('near_rows_sig');
SELECT * FROM found();
-- Many entries side by side: gathered, a byte for each row
TRUNCATE near_rows;
INSERT INTO near_rows SELECT d, n, near(n, d) FROM generate_series(1, 90) n, unnest(ARRAY[1, 8, 12, 20, 29, 32]) d;
INSERT INTO near_rows SELECT d, n, near(n, d, true) FROM generate_series(101, 130) n, unnest(ARRAY[1, 8, 12, 20, 29, 32]) d;
REINDEX INDEX near_rows_sig;
SELECT * FROM found();
-- Many more rows: gathered, bytes that rows share
TRUNCATE near_rows;
INSERT INTO near_rows SELECT d, n, near(n, d) FROM generate_series(1, 20) n, unnest(ARRAY[8, 12]) d;
INSERT INTO near_rows SELECT NULL, n, NULL, repeat('x', 7000) FROM generate_series(1, 5000) n;
INSERT INTO near_rows SELECT d, n, near(n, d) FROM generate_series(21, 36) n, unnest(ARRAY[8, 12]) d;
INSERT INTO near_rows SELECT 12, n, near(n, 12, true) FROM generate_series(101, 110) n;
REINDEX INDEX near_rows_sig;
SELECT * FROM found();
-- The same, with memory for a part of the blocks at a time
SET work_mem = '64kB';
SELECT * FROM found();
RESET work_mem;
-- A bitmap, and order by distance: as many
SET enable_seqscan = off;
SET enable_indexscan = off;
SELECT count(*) FROM near_rows WHERE sig %> with_threshold(near(0, 0), 116 / 128.0);
RESET enable_indexscan;
SELECT d, count(*) FROM (SELECT d FROM near_rows WHERE sig %> with_threshold(near(0, 0), 116 / 128.0) ORDER BY sig <%> near(0, 0) LIMIT 60) r GROUP BY d ORDER BY d;
DROP TABLE near_rows;
-- A value that is NULL is similar to nothing, though an index of two columns has the row.
CREATE TABLE two (a int, sig minhash) WITH (autovacuum_enabled = off);
INSERT INTO two SELECT n % 2, CASE WHEN n % 3 > 0 THEN near(n, n) END FROM generate_series(1, 30) n;
CREATE INDEX ON two USING lsh (a, sig);
SELECT count(*) FROM two WHERE a = 1 AND sig %> (SELECT with_threshold(near(0, 0), 0.5));
SELECT count(*) FROM two WHERE a = 1 AND sig %> (SELECT with_threshold(near(0, 0), 0.9));
SELECT count(*) FROM two WHERE a = 1 AND sig %> (SELECT NULL::lsh_query);
SELECT count(*) FROM two WHERE sig %> (SELECT with_threshold(near(0, 0), 0.5));
DROP TABLE two;
DROP FUNCTION near, found;

-- Simhashes: exactly d bits differ, spread over the blocks as evenly as can be.
CREATE TABLE bits (d int, h simhash) WITH (autovacuum_enabled = off);
CREATE INDEX bits_h ON bits USING lsh (h);
INSERT INTO bits SELECT d, neardup_internal.simhash_from_bigint(bit_or(1::bigint << ((n + k * 64 / d) % 64)))
  FROM generate_series(1, 12) d, generate_series(0, 63) n, generate_series(0, d - 1) k GROUP BY d, n;
SELECT guarantee, bands FROM lsh_info('bits_h');
CREATE FUNCTION found() RETURNS TABLE (d int, at_border bigint, nearer bigint, further bigint) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
  FOR bits IN 1 .. 12 LOOP
    d := bits;
    EXECUTE format('SELECT count(*) FILTER (WHERE d = %1$s), count(*) FILTER (WHERE d < %1$s), count(*) FILTER (WHERE d > %1$s) FROM bits
                    WHERE hamming_at_most(h, neardup_internal.simhash_from_bigint(0), %1$s)', d) INTO at_border, nearer, further;
    RETURN NEXT;
  END LOOP;
END $$;
SELECT * FROM found();
REINDEX INDEX bits_h;
SELECT * FROM found();
DROP TABLE bits;
DROP FUNCTION found;
