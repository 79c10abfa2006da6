-- Rows at the border: as far from the query as the condition allows, every differing component in a band of its own. They have
-- exactly the hits that a scan asks for, so a scan that asks for one more, or counts one less, loses them.
-- 33 bands of 128 components: component j * 128 / 33 begins band j. d components of row n differ from those of row (n, 0).
CREATE FUNCTION near(n int, d int) RETURNS minhash IMMUTABLE LANGUAGE sql AS
  $$ SELECT minhash_import(array_agg(CASE WHEN (j * 7 + n * 5) % 33 < d THEN 1000 + n ELSE i END ORDER BY i))
     FROM generate_series(0::bigint, 127) i LEFT JOIN generate_series(0, 32) j ON j * 128 / 33 = i $$;
CREATE TABLE near_rows (d int, n int, sig minhash, filler text) WITH (autovacuum_enabled = off);
ALTER TABLE near_rows ALTER COLUMN filler SET STORAGE plain;
-- By d: how many rows a scan of the index finds at the threshold that d allows, of d and of all; and at one component more.
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
-- A run, few entries: counted in the table
REINDEX INDEX near_rows_sig;
SELECT pending_rows FROM lsh_info('near_rows_sig');
SELECT * FROM found();
-- Many entries side by side: gathered, a byte for each row
TRUNCATE near_rows;
INSERT INTO near_rows SELECT d, n, near(n, d) FROM generate_series(1, 90) n, unnest(ARRAY[1, 8, 12, 20, 29, 32]) d;
REINDEX INDEX near_rows_sig;
SELECT * FROM found();
-- As many among many more rows: gathered, bytes that rows share
TRUNCATE near_rows;
INSERT INTO near_rows SELECT d, n, near(n, d) FROM generate_series(1, 45) n, unnest(ARRAY[8, 12, 20, 29]) d;
INSERT INTO near_rows SELECT NULL, n, NULL, repeat('x', 7000) FROM generate_series(1, 4000) n;
INSERT INTO near_rows SELECT d, n, near(n, d) FROM generate_series(46, 90) n, unnest(ARRAY[8, 12, 20, 29]) d;
REINDEX INDEX near_rows_sig;
SELECT * FROM found();
-- The same, with memory for a part of the blocks at a time
SET work_mem = '64kB';
SELECT * FROM found();
RESET work_mem;
-- A bitmap, and order by distance: as many
SET enable_seqscan = off;
SET enable_indexscan = off;
SELECT count(*) FROM near_rows WHERE sig %> with_threshold(near(0, 0), 108 / 128.0);
RESET enable_indexscan;
SELECT d, count(*) FROM (SELECT d FROM near_rows WHERE sig %> with_threshold(near(0, 0), 108 / 128.0) ORDER BY sig <%> near(0, 0) LIMIT 200) r GROUP BY d ORDER BY d;
DROP TABLE near_rows;
DROP FUNCTION near, found;

-- Simhashes: exactly d bits differ, spread over the blocks as evenly as can be.
CREATE TABLE bits (d int, h simhash) WITH (autovacuum_enabled = off);
CREATE INDEX bits_h ON bits USING lsh (h);
INSERT INTO bits SELECT d, simhash_from_bigint(bit_or(1::bigint << ((n + k * 64 / d) % 64)))
  FROM generate_series(1, 12) d, generate_series(0, 63) n, generate_series(0, d - 1) k GROUP BY d, n;
SELECT guarantee, bands FROM lsh_info('bits_h');
CREATE FUNCTION found() RETURNS TABLE (d int, at_border bigint, nearer bigint, further bigint) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
  FOR bits IN 1 .. 12 LOOP
    d := bits;
    EXECUTE format('SELECT count(*) FILTER (WHERE d = %1$s), count(*) FILTER (WHERE d < %1$s), count(*) FILTER (WHERE d > %1$s) FROM bits
                    WHERE hamming_at_most(h, simhash_from_bigint(0), %1$s)', d) INTO at_border, nearer, further;
    RETURN NEXT;
  END LOOP;
END $$;
SELECT * FROM found();
REINDEX INDEX bits_h;
SELECT * FROM found();
DROP TABLE bits;
DROP FUNCTION found;
