-- A scan of very many rows: within work_mem, in parts that lose and repeat nothing.
-- 16 components in 5 bands. All rows differ from the query in three components of one band, so they have as many hits as a row
-- with one such component: candidates of a condition that allows one, each to be refused by looking at it.
CREATE TABLE many_rows (id int, sig minhash) WITH (autovacuum_enabled = off);
CREATE FUNCTION sig(VARIADIC changed bigint[]) RETURNS minhash IMMUTABLE LANGUAGE sql AS
  $$ SELECT minhash_import(changed || array(SELECT generate_series(cardinality(changed)::bigint, 15))) $$;
-- The index has units of about ten thousand rows; a session that writes as many rows merges a few of them.
CREATE INDEX many_rows_sig ON many_rows USING lsh (sig) WITH (threshold = 0.75, pending_limit = 64);
INSERT INTO many_rows SELECT n, sig(100, 101, 102) FROM generate_series(1, 300000) n;
SELECT guarantee, bands, units > 4 AS several_units FROM lsh_info('many_rows_sig');
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;
-- Beside what the executor and the session have, a scan keeps a few times work_mem and the entries of a leaf while its rows come,
-- not a multiple of the rows. The first row shows it.
CREATE FUNCTION kept() RETURNS bigint LANGUAGE sql VOLATILE AS $$ SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts $$;
CREATE FUNCTION kept_by(bound float8) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE before bigint; within bigint; r record; n int := 0;
BEGIN
  before := kept();
  FOR r IN EXECUTE format('SELECT id FROM many_rows WHERE sig %%> with_threshold(sig(100, 101, 102), %s)', bound) LOOP
    n := n + 1;
    IF n IN (1, 11) THEN within := kept(); END IF;
    EXIT WHEN n = 11;
  END LOOP;
  RETURN within - before;
END $$;
SELECT kept_by(1.0) IS NOT NULL AS first_call_loads_what_stays;
SET work_mem = '64kB';
SELECT kept_by(1.0) < 500000 AS all_groups, kept_by(0.75) < 500000 AS one_hit;
-- A scan in parts returns all rows, each once.
SELECT count(*), count(DISTINCT id), sum(id) FROM many_rows WHERE sig %> with_threshold(sig(100, 101, 102), 1);
SELECT count(*), count(DISTINCT id), sum(id) FROM many_rows WHERE sig %> with_threshold(sig(100, 101, 102), 0.75);
RESET work_mem;
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SELECT count(*), sum(id) FROM many_rows WHERE sig %> with_threshold(sig(0), 15 / 16.0);
SET enable_indexscan = on;
SET enable_bitmapscan = off;
-- A condition that the index guarantees nothing for, which the planner does not know: the rows of the rosters in parts, with pending ones among them
TRUNCATE many_rows;
INSERT INTO many_rows SELECT n, sig(100, 101, 102) FROM generate_series(1, 30000) n;
REINDEX INDEX many_rows_sig;
INSERT INTO many_rows SELECT n, sig(100, 101, 103) FROM generate_series(30001, 30050) n;
SELECT pending_rows FROM lsh_info('many_rows_sig');
SELECT count(*), count(DISTINCT id), sum(id) FROM many_rows WHERE sig %> (SELECT with_threshold(sig(100, 101, 102), 0.5));
-- VACUUM finds every dead row of a roster of many leaves.
DELETE FROM many_rows WHERE id % 3 = 0;
VACUUM many_rows;
SELECT rows, entries, pending_rows, lsh_check('many_rows_sig', true) FROM lsh_info('many_rows_sig');
SELECT count(*), sum(id) FROM many_rows WHERE sig %> with_threshold(sig(100, 101, 102), 0.9);
-- New rows in the places of dead ones are pending, and lie between those of the rosters.
INSERT INTO many_rows SELECT n, sig(100, 101, 103) FROM generate_series(40001, 40050) n;
SELECT pending_rows, (SELECT min(ctid) FROM many_rows WHERE id > 40000) < (SELECT max(ctid) FROM many_rows WHERE id < 10000) AS before_others
FROM lsh_info('many_rows_sig');
SELECT count(*), count(DISTINCT id), sum(id) FROM many_rows WHERE sig %> (SELECT with_threshold(sig(100, 101, 102), 0.5));
DROP TABLE many_rows;
DROP FUNCTION kept, kept_by, sig;
