-- lsh_why_not: why an index serves a condition of a query, or not.
\pset format unaligned
\pset footer off
CREATE TABLE why_docs (id int PRIMARY KEY, body text, sig minhash, hash simhash, q lsh_query);
INSERT INTO why_docs SELECT i, 'note ' || i / 2, to_minhash(md5((i / 2)::text) || ' ' || md5((-i / 2)::text) || ' and ' || md5((i / 2 + 5000)::text) || ' words'), to_simhash('note ' || i / 2), with_threshold(to_minhash('note ' || i), 0.9) FROM generate_series(1, 4000) i;
CREATE INDEX why_docs_sig ON why_docs USING lsh (sig);
CREATE INDEX why_docs_hash ON why_docs USING lsh (hash);
VACUUM ANALYZE why_docs;
CREATE TABLE why_others AS SELECT * FROM why_docs WHERE id < 50;
ANALYZE why_others;
CREATE FUNCTION why_not(query text) RETURNS TABLE (condition text, index text, served boolean, reason text) LANGUAGE sql AS
  'SELECT condition, index::text, served, reason FROM lsh_why_not(query)';
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE jaccard(sig, $1) >= 0.8$$);
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE jaccard(sig, to_minhash('other words')) > 0.9 AND hamming(hash, to_simhash('note 7')) <= 3$$);
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE sig % $1 OR 0.1 > ($2::minhash <%> sig) OR jaccard_at_least(sig, $1, 0.9)$$);
-- Each reason
SELECT * FROM why_not($$SELECT * FROM why_others WHERE jaccard(sig, $1) >= 0.8$$);
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE jaccard(sig, $1) >= 0.3$$);
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE jaccard(sig, to_minhash('other words', 2)) >= 0.8 AND id > 7$$) WHERE index = 'why_docs_sig';
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE NOT jaccard(sig, $1) >= 0.8$$) WHERE index = 'why_docs_sig';
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE jaccard(sig, to_minhash(body)) >= 0.8$$) WHERE index = 'why_docs_sig';
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE jaccard(sig, $1) >= random()$$) WHERE index = 'why_docs_sig';
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE jaccard_at_least(sig, $1, 80)$$) WHERE index = 'why_docs_sig';
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE jaccard(to_minhash(body), $1) >= 0.8$$);
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE id < 100 AND jaccard(sig, $1) >= 0.8$$) WHERE index = 'why_docs_sig';
CREATE INDEX why_docs_part ON why_docs USING lsh (sig) WHERE id > 2000;
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE jaccard(sig, $1) >= 0.8$$);
DROP INDEX why_docs_part;
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'why_docs_hash'::regclass;
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE hamming(hash, $1) <= 3$$);
UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'why_docs_hash'::regclass;
-- Joins, subqueries, views, partitions
SELECT * FROM why_not($$SELECT * FROM why_others o JOIN why_docs n ON jaccard(n.sig, o.sig) >= 0.8$$) ORDER BY index COLLATE "C";
CREATE VIEW why_shown AS SELECT id, sig AS signature FROM why_docs WHERE id > 0;
SELECT condition, relation, index, served FROM lsh_why_not($$DELETE FROM why_others WHERE id IN (SELECT id FROM why_shown WHERE jaccard(signature, $1) >= 0.8)$$) WHERE index = 'why_docs_sig'::regclass;
CREATE TABLE why_parted (id int, sig minhash) PARTITION BY RANGE (id);
CREATE TABLE why_parted_1 PARTITION OF why_parted FOR VALUES FROM (0) TO (100);
CREATE TABLE why_parted_2 PARTITION OF why_parted FOR VALUES FROM (100) TO (200);
CREATE INDEX ON why_parted_1 USING lsh (sig);
SELECT relation, index, reason FROM lsh_why_not($$SELECT * FROM why_parted WHERE jaccard(sig, $1) >= 0.8$$);
CREATE INDEX why_parted_all ON ONLY why_parted USING lsh (sig);
SELECT relation, index, reason FROM lsh_why_not($$SELECT * FROM ONLY why_parted WHERE jaccard(sig, to_minhash('words')) >= 0.8$$);
DROP INDEX why_parted_all;
-- The plan node that answers a condition: joins, views that are security barriers, names of joins, rules
CREATE VIEW why_guarded WITH (security_barrier) AS SELECT id, sig, hash FROM why_docs WHERE id > 0;
SELECT condition, relation, index, served, reason FROM lsh_why_not($$SELECT * FROM why_guarded WHERE jaccard(sig, to_minhash('a secret')) >= 0.8 AND hamming(hash, to_simhash('a secret')) <= 3$$) WHERE served;
SELECT condition, relation, index, served, reason FROM lsh_why_not($$SELECT * FROM why_guarded WHERE sig % to_minhash('a secret') OR hash <~> $1 < 2$$);
CREATE TABLE why_many AS SELECT id, sig FROM why_docs;
ANALYZE why_many;
SELECT condition, relation, index, served, reason FROM lsh_why_not($$SELECT * FROM why_many a JOIN why_many b ON jaccard(a.sig, b.sig) >= 0.8 WHERE a.id < b.id$$);
SELECT condition, relation, index, served, reason FROM lsh_why_not($$SELECT * FROM why_many a JOIN why_docs b ON jaccard(a.sig, b.sig) >= 0.8 JOIN why_others o ON o.id = b.id WHERE jaccard(b.sig, $1) > 0.9$$);
SELECT condition, relation, index, served, reason FROM lsh_why_not($$SELECT * FROM (why_docs JOIN why_others USING (id)) AS j (id, b1, s1, h1, q1, b2, s2, h2, q2) WHERE jaccard(s1, $1) >= 0.8 AND jaccard(s2, $1) >= 0.8$$) WHERE index IS DISTINCT FROM 'why_docs_hash'::regclass;
SELECT condition, index, served FROM lsh_why_not($$SELECT (SELECT count(*) FROM why_docs d WHERE jaccard(sig, $1) >= 0.8), (SELECT count(*) FROM why_docs d WHERE jaccard(sig, $1) >= 0.8 AND id = 7)$$) WHERE index = 'why_docs_sig'::regclass;
SELECT condition, relation, index, served, reason FROM lsh_why_not($$WITH w AS MATERIALIZED (SELECT * FROM why_docs WHERE jaccard(sig, $1) >= 0.8) SELECT * FROM w WHERE hamming(hash, $2) <= 3$$);
SELECT condition, served FROM lsh_why_not($$SELECT id FROM why_docs d WHERE jaccard(sig, (SELECT o.sig FROM why_others o WHERE o.id = 7)) >= 0.8$$) WHERE index = 'why_docs_sig'::regclass;
CREATE TABLE why_log (id int, sig minhash);
CREATE RULE copies AS ON INSERT TO why_others DO ALSO (INSERT INTO why_log SELECT d.id, d.sig FROM why_docs d WHERE jaccard(d.sig, NEW.sig) >= 0.8; NOTIFY why_not);
SELECT condition, relation, index, served, reason FROM lsh_why_not($$INSERT INTO why_others (sig) VALUES ($1)$$) WHERE index = 'why_docs_sig'::regclass;
CREATE TABLE why_outer (id int, sig minhash);
INSERT INTO why_outer SELECT id, sig FROM why_docs WHERE id <= 20;
ANALYZE why_outer;
SET enable_seqscan = off;
SET enable_nestloop = off;
SELECT relation, index, served, reason FROM lsh_why_not($$SELECT * FROM why_outer o JOIN (SELECT m.sig FROM why_many m JOIN why_docs d ON m.id = d.id WHERE jaccard(d.sig, $1) >= 0.8) x ON jaccard(o.sig, x.sig) >= 0.8$$) WHERE index IS DISTINCT FROM 'why_docs_hash'::regclass;
SELECT condition, relation, index, served FROM lsh_why_not($$SELECT * FROM why_outer o JOIN why_many m ON jaccard(o.sig, m.sig) >= 0.8 JOIN why_docs d ON d.id = m.id AND (jaccard(d.sig, m.sig) >= 0.9 OR d.hash = $1)$$) WHERE index IS DISTINCT FROM 'why_docs_hash'::regclass;
RESET enable_seqscan;
RESET enable_nestloop;
-- No condition, no query
SELECT * FROM why_not('SELECT jaccard(sig, sig) FROM why_docs');
SELECT * FROM why_not('DROP TABLE why_docs');
SELECT * FROM why_not('SELECT 1; SELECT 2');
SELECT * FROM why_not('SELECT * FROM nowhere');
SELECT * FROM why_not('');
SELECT * FROM why_not(NULL);
-- The caller's privileges decide, as in EXPLAIN.
CREATE ROLE neardup_why_not;
SET ROLE neardup_why_not;
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE jaccard(sig, $1) >= 0.8$$);
RESET ROLE;
-- Nothing tells of hidden rows that the index holds,
GRANT SELECT ON why_docs TO neardup_why_not;
ALTER TABLE why_docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY first_ones ON why_docs TO neardup_why_not USING (id < 10);
SET ROLE neardup_why_not;
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE jaccard(sig, to_minhash('other words', 2)) >= 0.8$$) WHERE index = 'why_docs_sig';
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE jaccard(sig, to_minhash('other words')) >= 0.3$$) WHERE index = 'why_docs_sig';
RESET ROLE;
-- or of the query of a function that the planner calls with the rights of another.
CREATE FUNCTION why_definer() RETURNS bigint LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER AS $$
BEGIN
  RETURN (SELECT count(*) FROM why_others WHERE jaccard(sig, to_minhash('a secret')) >= 0.8);
END $$;
SET ROLE neardup_why_not;
SELECT * FROM why_not($$SELECT * FROM why_docs WHERE jaccard(sig, $1) >= 0.8 AND why_definer() = 0$$) WHERE index IS DISTINCT FROM 'why_docs_hash';
RESET ROLE;
DROP FUNCTION why_definer;
DROP OWNED BY neardup_why_not;
DROP ROLE neardup_why_not;
DROP VIEW why_shown, why_guarded;
DROP FUNCTION why_not;
DROP TABLE why_docs, why_others, why_parted, why_many, why_log, why_outer;
