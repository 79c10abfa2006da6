-- Bounds of every kind, at the border: the request to an index is derived from the query's condition, and must keep exactly its
-- rows. Plans are looked at in lsh_planner.sql.
CREATE FUNCTION sig(d int, size int = 16) RETURNS minhash IMMUTABLE LANGUAGE sql AS
  $$ SELECT minhash_import(array_agg(CASE WHEN i < d THEN 1000 + d ELSE i END ORDER BY i)) FROM generate_series(0::bigint, size - 1) i $$;
-- Row d differs from row 0 in d of 16 components, and in d bits.
CREATE TABLE rows_at (d int, sig minhash, h simhash, word text) WITH (autovacuum_enabled = off);
INSERT INTO rows_at SELECT d, sig(d), neardup_internal.simhash_from_bigint((1::bigint << d) - 1), 'w' || d FROM generate_series(0, 8) d, generate_series(1, 20);
CREATE INDEX rows_at_sig ON rows_at USING lsh (sig) WITH (threshold = 0.7);
CREATE INDEX rows_at_h ON rows_at USING lsh (h);
ANALYZE rows_at;
SET max_parallel_workers_per_gather = 0;
-- The ds of the rows that a condition keeps, and which searches find them; what these find if that is something else
CREATE FUNCTION kept(condition text, relation text = 'rows_at') RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; searches text := ''; wrong text := ''; found int[]; expected int[];
        query text := format('SELECT array_agg(DISTINCT d ORDER BY d) FROM %s WHERE %s', relation, condition);
BEGIN
  SET LOCAL enable_seqscan = on;
  SET LOCAL enable_indexscan = off;
  SET LOCAL enable_bitmapscan = off;
  EXECUTE query INTO expected;
  -- A search for one row after the other may leave the comparison out, one by a bitmap never does.
  FOR way IN 1 .. 2 LOOP
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', CASE way WHEN 1 THEN 'on' ELSE 'off' END, true),
            set_config('enable_bitmapscan', CASE way WHEN 2 THEN 'on' ELSE 'off' END, true);
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
      IF line ~ 'Index Scan (on|using) rows_at' THEN searches := searches || CASE way WHEN 1 THEN ' index' ELSE ' bitmap' END; EXIT; END IF;
    END LOOP;
    EXECUTE query INTO found;
    IF found IS DISTINCT FROM expected THEN wrong := wrong || format(', and %s', found); END IF;
  END LOOP;
  RETURN COALESCE(expected::text, 'none') || COALESCE(' by' || NULLIF(searches, ''), '') || wrong;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLERRM;
END $$;
SELECT condition, kept(replace(condition, 'Q', 'sig(0)')) FROM (VALUES
  ('jaccard(sig, Q) >= 0.8125'), ('jaccard(sig, Q) > 0.8125'), ('0.8125 < jaccard(sig, Q)'), ('0.8125 <= jaccard(Q, sig)'),
  ('jaccard(sig, Q) = 0.875'), ('jaccard(sig, Q) >= 0.8125::real'), ('jaccard(sig, Q) >= 1'), ('jaccard(sig, Q) > 1'),
  ('jaccard(sig, Q)::numeric >= 0.8125'), ('jaccard(sig, Q) > ''NaN'''), ('jaccard(sig, Q) > NULL'), ('jaccard(sig, Q) BETWEEN 0.8125 AND 0.9'),
  ('sig <%> Q <= 0.1875'), ('sig <%> Q < 0.1875'), ('0.1875 > sig <%> Q'), ('sig <%> Q = 0.125'), ('sig <%> Q <= 0.3'), ('sig <%> Q <= 0.1874999999999'), ('jaccard(sig, Q) >= 0.8125000000000000000001::numeric'), ('sig <%> Q < ''NaN'''),
  ('NOT jaccard(sig, Q) < 0.8125'), ('jaccard(sig, Q) >= 0.8125 OR d = 8'), ('jaccard_at_least(sig, Q, 0.8125)'), ('jaccard_at_least(sig, Q, 80)'),
  ('jaccard_at_least(sig, Q, NULL)'), ('sig %> with_threshold(Q, 0.8125)'),
  ('sig %> (SELECT with_threshold(Q, 0.8125))'), ('sig %> (SELECT NULL::lsh_query)'), ('sig % (SELECT NULL::minhash)'), ('sig %> (SELECT with_threshold(Q, 0.3))')) x(condition);
SELECT condition, kept(replace(condition, 'Q', 'neardup_internal.simhash_from_bigint(0)')) FROM (VALUES
  ('hamming(h, Q) <= 3'), ('hamming(h, Q) < 3'), ('3 > hamming(Q, h)'), ('hamming(h, Q) < 2.5'), ('hamming(h, Q) <= 2.5'), ('hamming(h, Q) = 2'),
  ('hamming(h, Q) < 3::numeric'), ('hamming(h, Q) <= 3.00000000000000000001'), ('hamming(h, Q) <= 2.99999999999999999999999'), ('hamming(h, Q) < 3.00000000000000000001'),
  ('hamming(h, Q) < NULL::numeric'), ('hamming(h, Q) <= 1e30'), ('hamming(h, Q) < -1e30'), ('hamming(h, Q) < 3::bigint'), ('hamming(h, Q) < 3::real'),
  ('hamming(h, Q) <= 3::smallint'), ('hamming_at_most(h, Q, 3)'), ('hamming_at_most(h, Q, -1)')) x(condition);

-- Estimates: of joins by the setting, of a table by those of its partitions
CREATE FUNCTION expected_rows(query text) RETURNS float8 LANGUAGE plpgsql AS $$
  DECLARE plan json; BEGIN EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan; RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows'; END $$;
SET neardup.jaccard_threshold = 1;
SELECT expected_rows('SELECT FROM rows_at x JOIN rows_at y ON x.sig % y.sig') BETWEEN 1800 AND 7200 AS equal_ones;  -- 3600
SET neardup.jaccard_threshold = 0.5;
SELECT expected_rows('SELECT FROM rows_at x JOIN rows_at y ON x.sig % y.sig') > 16000 AS near_ones;  -- 32400
RESET neardup.jaccard_threshold;
CREATE TABLE parts (d int, sig minhash) PARTITION BY RANGE (d);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (3);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (3) TO (6);
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM (6) TO (9);
INSERT INTO parts SELECT d, sig FROM rows_at;
CREATE INDEX ON parts USING lsh (sig) WITH (threshold = 0.7);
ANALYZE parts;
SELECT expected_rows('SELECT FROM parts, generate_series(1, 10) WHERE jaccard(sig, sig(0)) >= 0.9') BETWEEN 300 AND 1600 AS of_parts;  -- 400, and some candidates
DROP TABLE parts;

-- Where row security hides rows no estimate tells of them, and no expression is evaluated before it that could.
CREATE ROLE regress_neardup_hidden;
GRANT SELECT ON rows_at TO regress_neardup_hidden;
ALTER TABLE rows_at ENABLE ROW LEVEL SECURITY;
CREATE POLICY others ON rows_at USING (upper(word) <> 'W0');
CREATE INDEX rows_at_word ON rows_at USING lsh (to_minhash(word));
CREATE FUNCTION expected_cost(query text) RETURNS float8 LANGUAGE plpgsql AS $$
  DECLARE plan json; BEGIN EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan; RETURN plan -> 0 -> 'Plan' ->> 'Total Cost'; END $$;
CREATE FUNCTION told() RETURNS TABLE (other_estimates boolean, other_costs boolean, expression boolean, value boolean) LANGUAGE plpgsql
SET enable_seqscan = off AS $$
DECLARE line text; many float8; plans text[] := '{"",""}';
BEGIN
  many := expected_rows('SELECT FROM rows_at WHERE sig %> with_threshold(sig(0), 0.9)');
  other_estimates := many <> expected_rows('SELECT FROM rows_at WHERE sig %> with_threshold(sig(16), 0.9)');
  many := expected_cost('SELECT FROM rows_at WHERE sig %> with_threshold(sig(0), 0.9)');
  other_costs := many <> expected_cost('SELECT FROM rows_at WHERE sig %> with_threshold(sig(16), 0.9)');
  FOR line IN EXPLAIN SELECT FROM rows_at WHERE jaccard(to_minhash(word), to_minhash('w3')) >= 0.9 LOOP plans[1] := plans[1] || line; END LOOP;
  FOR line IN EXPLAIN SELECT FROM rows_at WHERE jaccard(sig, sig(0)) >= 0.9 LOOP plans[2] := plans[2] || line; END LOOP;
  expression := plans[1] ~ 'rows_at_word';
  value := plans[2] ~ 'rows_at_sig';
  RETURN NEXT;
END $$;
SELECT * FROM told();
SET ROLE regress_neardup_hidden;
SELECT * FROM told();
RESET ROLE;
ALTER TABLE rows_at DISABLE ROW LEVEL SECURITY;
DROP FUNCTION told;
DROP INDEX rows_at_word;
REVOKE ALL ON rows_at FROM regress_neardup_hidden;
DROP ROLE regress_neardup_hidden;
DROP FUNCTION expected_rows, expected_cost;

-- Through a view that is a security barrier the condition is handed on by a twin that raises no error and lets nothing out.
CREATE VIEW shown WITH (security_barrier) AS SELECT * FROM rows_at WHERE upper(word) <> 'W1';
SELECT condition, kept(replace(condition, 'Q', 'sig(0)'), 'shown') FROM (VALUES
  ('jaccard(sig, Q) >= 0.8125'), ('jaccard(sig, Q) > 0.8125'), ('sig <%> Q <= 0.1875'), ('jaccard(sig, Q) >= 0.8125 OR d = 8'),
  ('(jaccard(sig, Q) >= 0.8125 AND d > 1) OR jaccard(sig, Q) > 0.9'), ('NOT jaccard(sig, Q) >= 0.8125'), ('sig %> with_threshold(Q, 0.8125)'),
  ('jaccard_at_least(sig, Q, 80)')) x(condition);
SELECT kept('TRUE', '(SELECT s.d FROM (SELECT sig(0) AS q OFFSET 0) x JOIN shown s ON jaccard(s.sig, sig(0)) >= 0.8125) y') AS joined,
       kept('TRUE', '(SELECT s.d FROM (SELECT sig(0) AS q OFFSET 0) x LEFT JOIN shown s ON jaccard(s.sig, sig(0)) >= 0.8125) y') AS left_joined;
-- It keeps what is made otherwise, and then the query says so.
DROP INDEX rows_at_sig;
INSERT INTO rows_at VALUES (9, sig(0, 32), NULL, 'other');
SELECT kept('sig %> with_threshold(sig(0), 0.8125)', 'shown'), kept('jaccard(sig, sig(0)) >= 0.8125', 'shown');
-- Bounds that no value reaches: a warning, once a statement and measure. The rows stay what they are.
CREATE TABLE unreachable AS SELECT 1 AS id, sig(1) AS sig, neardup_internal.simhash_from_bigint(0) AS hash, to_ctph('some text') AS digest, ARRAY[1, 2] AS items;
SELECT count(*) FROM unreachable WHERE jaccard(sig, sig) >= 80;
SELECT count(*) FROM unreachable WHERE 80.5 < jaccard(sig, sig) OR jaccard(sig, sig) > 1 OR jaccard(sig, sig) >= 1;
SELECT count(*) FROM unreachable a JOIN unreachable b ON jaccard(a.sig, b.sig) > 1;
SELECT count(*) FROM unreachable WHERE hamming(hash, hash) < 0 OR hamming(hash, hash) > 64 OR ctph_score(digest, digest) >= 101;
SELECT count(*) FROM (SELECT * FROM unreachable WHERE ctph_edit_rate(digest, digest) < 0) x WHERE id > 0 AND jaccard_exact(items, items) = 2;
SELECT count(*) FROM unreachable WHERE jaccard(sig, sig) >= 'NaN' OR jaccard(sig, sig) <= -0.1;
-- None where a value reaches it, or the bound is no literal.
SELECT count(*) FROM unreachable WHERE jaccard(sig, sig) >= 1 AND hamming(hash, hash) <= 64 AND ctph_score(digest, digest) <= 100 AND jaccard(sig, sig) < 80 AND jaccard(sig, sig) >= id AND ctph_edit_rate(digest, digest) >= 0;
SELECT count(*) FROM unreachable WHERE jaccard(sig, sig) > 0.99 AND jaccard(sig, sig) = 1 AND hamming(hash, hash) <= 0 AND hamming(hash, hash) = 0 AND hamming(hash, hash) < 64 AND ctph_score(digest, digest) > 99 AND ctph_edit_rate(digest, digest) < 0.01;
SELECT count(*) FROM unreachable WHERE jaccard(sig, sig) = 0 OR jaccard(sig, sig) <= 0 OR hamming(hash, hash) = 64 OR hamming(hash, hash) > 63 OR ctph_score(digest, digest) = 101 - 1;
DROP TABLE unreachable;

DROP VIEW shown;
DROP TABLE rows_at;
DROP FUNCTION kept, sig;
