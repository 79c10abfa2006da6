-- Near duplicates in a table that Citus spreads over several servers. On the coordinator, in a database that all nodes have and
-- where CREATE EXTENSION citus has been run everywhere:
--   psql -d app -f docs/citus.sql
-- docs/citus.md explains each step. It makes the tables articles, article_keys, article_pairs and article_copies.
\set ON_ERROR_STOP on

-- 1. The extension: Citus creates it on the workers, too; its files must be installed on each of them.
CREATE EXTENSION IF NOT EXISTS neardup;

-- 2. A distributed table; each shard has its own lsh index.
CREATE TABLE articles (
  id bigint PRIMARY KEY,
  published date NOT NULL,
  body text,
  sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED
);
SELECT create_distributed_table('articles', 'id');
CREATE INDEX articles_sig ON articles USING lsh (sig);

-- Some texts to try it with: families of four that differ in a few words.
INSERT INTO articles (id, published, body)
SELECT i, date '2026-01-01' + i % 300, string_agg('w' || abs(hashint8((CASE WHEN j = i % 7 + 20 THEN i ELSE i / 4 END) * 1000::bigint + j)) % 4001, ' ' ORDER BY j)
FROM generate_series(1, 4000) i, generate_series(1, 60) j GROUP BY i;

-- 3. A search through the coordinator: every shard answers by its index. The signature is a parameter.
SELECT sig AS wanted FROM articles WHERE id = 42 \gset
SELECT id, jaccard(sig, :'wanted') AS similarity
FROM articles
WHERE jaccard(sig, :'wanted') > 0.8
ORDER BY similarity DESC, id;

-- 4. All pairs by a repartition join: a table of band keys, distributed by key, is its own join partner shard by shard.
CREATE TABLE article_keys (key bigint, id bigint, sig minhash);
SELECT create_distributed_table('article_keys', 'key');
INSERT INTO article_keys SELECT band_keys(sig, 0.8), id, sig FROM articles;
CREATE TABLE article_pairs (id_a bigint, id_b bigint, similarity float8, PRIMARY KEY (id_a, id_b));
SELECT create_distributed_table('article_pairs', 'id_a', colocate_with => 'articles');
INSERT INTO article_pairs
SELECT x.id, y.id, max(jaccard(x.sig, y.sig))
FROM article_keys x JOIN article_keys y ON x.key = y.key AND x.id < y.id
WHERE jaccard(x.sig, y.sig) >= 0.8
GROUP BY x.id, y.id;
SELECT count(*) AS pairs FROM article_pairs;

-- 5. The table of duplicates, beside the articles: who stands for whom.
CREATE TABLE article_copies (id bigint PRIMARY KEY, cluster bigint, representative bigint, similarity float8, survivor boolean);
SELECT create_distributed_table('article_copies', 'id', colocate_with => 'articles');
INSERT INTO article_copies
SELECT id, cluster, representative, similarity, survivor
FROM all_clusters('SELECT id, sig FROM articles ORDER BY published, id', 0.8);
SELECT count(*) AS articles, count(*) FILTER (WHERE NOT survivor) AS copies FROM article_copies;
SELECT count(*) AS kept FROM articles a JOIN article_copies c USING (id) WHERE c.survivor;

-- 6. Refuse near copies within a tenant: the constraint has the distribution column in front.
CREATE TABLE submissions (
  tenant_id int,
  id bigint,
  body text,
  EXCLUDE USING lsh (tenant_id WITH =, with_threshold(to_minhash(body), 0.9) WITH &&)
);
SELECT create_distributed_table('submissions', 'tenant_id');
INSERT INTO submissions SELECT id % 3, id, body FROM articles WHERE id <= 100;
INSERT INTO submissions VALUES (1, 1000, 'a short text that nobody has sent in before, as far as we know') ON CONFLICT DO NOTHING;

-- 7. Indexes of the shards, looked into on the workers.
SELECT bool_and(success) AS sound, count(*) AS shards
FROM run_command_on_shards('articles', $$SELECT lsh_check(replace('%s', 'articles', 'articles_sig')::regclass, true)$$);
