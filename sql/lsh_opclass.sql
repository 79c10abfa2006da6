-- Operator classes: ours are valid; errors name what others lack.
SELECT opcname, amvalidate(c.oid) FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
WHERE amname = 'lsh' AND EXISTS (SELECT FROM pg_amproc WHERE amprocfamily = opcfamily AND amprocnum = 1) ORDER BY 1;
-- Those of columns before the last: as many as the access method hash has defaults.
SELECT count(*) FILTER (WHERE opcname !~ '_set_ops') = (SELECT count(*) FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
                   WHERE amname = 'hash' AND opcdefault AND opcnamespace = 'pg_catalog'::regnamespace) AS all_types,
  bool_and(amvalidate(c.oid)) AS valid FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
WHERE amname = 'lsh' AND EXISTS (SELECT FROM pg_amproc WHERE amprocfamily = opcfamily AND amprocnum = 15);
-- The procedures and a search operator must be there.
CREATE OPERATOR CLASS bare_ops FOR TYPE minhash USING lsh AS
  FUNCTION 1 neardup_internal.lsh_minhash_keys(internal);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'bare_ops';
DROP OPERATOR FAMILY bare_ops USING lsh;
-- Procedures must have the right signatures.
CREATE OPERATOR CLASS wrong_ops FOR TYPE minhash USING lsh AS
  OPERATOR 1 %> (minhash, lsh_query),
  OPERATOR 4 <%> (minhash, minhash) FOR ORDER BY pg_catalog.float_ops,
  FUNCTION 1 length(text),
  FUNCTION 2 neardup_internal.lsh_minhash_probes(internal),
  FUNCTION 3 neardup_internal.lsh_minhash_bind(internal),
  FUNCTION 4 neardup_internal.lsh_minhash_describe(internal),
  FUNCTION 7 minhash_union(minhash, minhash),
  FUNCTION 8 containment(minhash, minhash),
  FUNCTION 9 neardup_internal.minhash_similar(minhash, minhash),
  FUNCTION 10 neardup_internal.lsh_query_bound(minhash, float8);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'wrong_ops';
DROP OPERATOR FAMILY wrong_ops USING lsh;
CREATE OPERATOR CLASS high_ops FOR TYPE minhash USING lsh AS FUNCTION 34 neardup_internal.lsh_minhash_keys(internal);
CREATE OPERATOR CLASS stored_ops FOR TYPE minhash USING lsh AS
  OPERATOR 1 %> (minhash, lsh_query),
  FUNCTION 1 neardup_internal.lsh_minhash_keys(internal),
  FUNCTION 2 neardup_internal.lsh_minhash_probes(internal),
  FUNCTION 3 neardup_internal.lsh_minhash_bind(internal),
  FUNCTION 4 neardup_internal.lsh_minhash_describe(internal),
  STORAGE lsh_query;
-- One without what the planner needs serves its own operators only.
CREATE OPERATOR CLASS plain_ops FOR TYPE minhash USING lsh AS
  OPERATOR 1 %> (minhash, lsh_query),
  FUNCTION 1 neardup_internal.lsh_minhash_keys(internal),
  FUNCTION 2 neardup_internal.lsh_minhash_probes(internal),
  FUNCTION 3 neardup_internal.lsh_minhash_bind(internal),
  FUNCTION 4 neardup_internal.lsh_minhash_describe(internal);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'plain_ops';
CREATE TABLE plain (id int, sig minhash);
INSERT INTO plain SELECT i, to_minhash('row of words number ' || i % 100) FROM generate_series(1, 1000) i;
CREATE INDEX plain_sig ON plain USING lsh (sig plain_ops);
SET enable_seqscan = off;
SELECT count(*) FROM plain WHERE sig %> (SELECT with_threshold(sig, 0.9) FROM plain p WHERE p.id = 5);
SELECT count(*) FROM plain WHERE jaccard(sig, (SELECT sig FROM plain p WHERE p.id = 5)) >= 0.9;
DROP TABLE plain;
DROP OPERATOR FAMILY plain_ops USING lsh;

-- An empty index checks its options by what the column's type modifier says of the signatures to come.
CREATE TABLE sized (a minhash(4096), b minhash(4096,16), c minhash(4096,8), d minhash(2048,32), e minhash);
CREATE INDEX ON sized USING lsh (a) WITH (threshold = 0.5);
CREATE INDEX ON sized USING lsh (b) WITH (threshold = 0.5);
CREATE INDEX ON sized USING lsh ((b::minhash(4096,16))) WITH (threshold = 0.5);
-- these can be; of e nothing is known
CREATE INDEX ON sized USING lsh (a);
CREATE INDEX ON sized USING lsh (b) WITH (threshold = 0.5, recall = 0.99);
CREATE INDEX ON sized USING lsh (c) WITH (threshold = 0.7);
CREATE INDEX ON sized USING lsh (d) WITH (threshold = 0.5);
CREATE INDEX ON sized USING lsh (e) WITH (threshold = 0.5);
INSERT INTO sized (e) VALUES (to_minhash('a', num_perm => 4096));
-- a modifier that comes later, too
ALTER TABLE sized ALTER e TYPE minhash(4096);
DROP TABLE sized;
