-- Tables of duplicates, step by step on a few rows: which cluster, which representative, what survives, which number stays. More, with
-- many rows and by comparison: test/t/210_jobs.py.
-- Text f of 40 words, the last n of them others; two texts of one f with n <= 2 are near copies.
\set SHOW_CONTEXT never
CREATE FUNCTION body(f int, n int) RETURNS text IMMUTABLE LANGUAGE sql AS
  $$ SELECT string_agg(CASE WHEN w > 40 - n THEN 'n' || n ELSE 'f' || f END || 'w' || w, ' ' ORDER BY w) FROM generate_series(1, 40) w $$;
-- chain(n) and chain(n + 3) are near copies, chain(n) and chain(n + 6) are not.
CREATE FUNCTION chain(n int) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT string_agg('c' || w, ' ' ORDER BY w) FROM generate_series(n, n + 40) w $$;
-- 200 others are similar to nothing: a job looks at a part of the rows only where it is a small one.
CREATE TABLE pages (id int PRIMARY KEY, body text, published date, tenant int, hidden boolean DEFAULT false);
INSERT INTO pages SELECT 100 * f + n, body(f, n), date '2026-01-01' + 10 * f + n, n % 2 FROM generate_series(1, 6) f, generate_series(0, 2) n;
INSERT INTO pages SELECT 5000 + f, body(f, 0), '2026-04-01', 2 FROM generate_series(101, 300) f;
INSERT INTO pages VALUES (700, chain(3), '2026-03-10', 0), (701, chain(6), '2026-03-11', 1);
SELECT create_duplicates('copies', 'pages', 'id', 'body', order_by => 'published');
CALL refresh_duplicates('copies');
SELECT id, cluster, representative, round(similarity::numeric, 3) AS similarity, survivor FROM copies WHERE id < 5000 ORDER BY id;
SELECT refresh, change, cluster, other FROM copies_changes ORDER BY 1, 2, 3, 4;
-- Nothing has changed, nothing is clustered
CALL refresh_duplicates('copies');
SELECT phase, done, total FROM duplicates_status;
SELECT clustered, refresh, clustered_rows FROM copies_job;
-- The number of a cluster stays with its representative, wherever the others go: row 102 becomes another text, and the first of all.
UPDATE pages SET body = body(9, 0), published = '2025-01-01' WHERE id = 102;
-- The representative goes: the number stays with the first row that is left.
DELETE FROM pages WHERE id = 200;
UPDATE pages SET body = body(8, 0) WHERE id = 202;
-- Another draws the representative to it, and not its copy.
INSERT INTO pages VALUES (702, chain(0), '2025-03-01', 0);
-- All rows go; a row comes between; a key changes, and with it the representative.
DELETE FROM pages WHERE id / 100 = 3;
INSERT INTO pages VALUES (403, body(4, 1), '2026-02-09', 1);
UPDATE pages SET published = '2025-06-01' WHERE id = 502;
CALL refresh_duplicates('copies', batch => 2);
SELECT id, cluster, representative, round(similarity::numeric, 3) AS similarity, survivor FROM copies WHERE id < 5000 ORDER BY id;
SELECT refresh, change, cluster, other FROM copies_changes ORDER BY 1, 2, 3, 4;
SELECT clustered_rows < (SELECT count(*) FROM pages) AS part_of_them FROM copies_job;
-- A job that clusters all rows returns the same, except for the numbers of the clusters.
SELECT create_duplicates('anew', 'pages', 'id', 'body', order_by => 'published');
CALL refresh_duplicates('anew');
SELECT id, c.representative, c.survivor, a.representative, a.survivor FROM copies c FULL JOIN anew a USING (id)
WHERE (c.representative, c.similarity, c.survivor) IS DISTINCT FROM (a.representative, a.similarity, a.survivor);
SELECT drop_duplicates('anew');
-- Two clusters become one, the older number stays; all rows are clustered this time.
UPDATE pages SET body = body(1, 2), published = '2024-01-01' WHERE id IN (600, 601, 602);
UPDATE copies_job SET recluster = true;
CALL refresh_duplicates('copies');
SELECT id, cluster, representative, survivor FROM copies WHERE id / 100 IN (1, 6) ORDER BY id;
SELECT refresh, change, cluster, other FROM copies_changes WHERE refresh = 4 ORDER BY 1, 2, 3, 4;
SELECT drop_duplicates('copies');
SELECT to_regclass('copies'), to_regclass('copies_job'), to_regclass('copies_signatures'), to_regclass('copies_changes');

-- Rows are chosen by filter and deleted, the survivor by keep.
SELECT create_duplicates('longest', 'pages', 'id', 'body', keep => 'longest', filter => 'tenant = 1', deleted => 'hidden');
UPDATE pages SET body = body || ' and more' WHERE id IN (403, 501);
CALL refresh_duplicates('longest');
SELECT id, representative, survivor FROM longest ORDER BY id;
UPDATE pages SET hidden = true WHERE id = 403;
UPDATE pages SET tenant = 1 WHERE id = 502;
UPDATE pages SET hidden = NULL WHERE id = 201;
CALL refresh_duplicates('longest');
SELECT id, representative, survivor FROM longest ORDER BY id;
SELECT drop_duplicates('longest');
INSERT INTO pages VALUES (800, body(50, 0), '2026-05-01', 0), (801, body(50, 0), '2026-05-01', 1), (802, body(50, 0), '2026-05-01', 1);
SELECT create_duplicates('within', 'pages', 'id', 'body', order_by => 'published', within => '{tenant}', at => 'published', at_most_apart => '1 day', linkage => 'connected', verify => 'jaccard');
CALL refresh_duplicates('within');
SELECT id, tenant, representative, survivor FROM "within" WHERE id < 5000 ORDER BY id;
-- Stopped, and another threshold
SELECT pause_duplicates('within');
CALL refresh_duplicates('within');
SELECT pause_duplicates('within', false);
SELECT alter_duplicates('within', threshold => 0.95, at_most_apart => '5 years');
CALL refresh_duplicates('within');
SELECT id, tenant, representative, survivor FROM "within" WHERE id < 5000 ORDER BY id;
SELECT rename_duplicates('within', 'apart');
SELECT to_regclass('"within"'), count(*) FROM apart;
SELECT drop_duplicates('apart');
-- Verified by the documents; a chain that anchors do not join and links do
INSERT INTO pages SELECT 1000 + n, chain(100 + n), '2026-03-01' FROM generate_series(0, 12, 3) n;
SELECT create_duplicates('anchored', 'pages', 'id', 'body', threshold => 0.5, verify => 'jaccard', verify_threshold => 0.6, filter => 'id BETWEEN 1000 AND 1012');
SELECT create_duplicates('linked', 'pages', 'id', 'body', threshold => 0.5, linkage => 'connected', verify => 'jaccard', verify_threshold => 0.6, filter => 'id BETWEEN 1000 AND 1012');
CALL refresh_duplicates('anchored');
CALL refresh_duplicates('linked');
SELECT id, a.representative, round(a.similarity::numeric, 3) AS similarity, l.representative, round(l.similarity::numeric, 3) AS similarity
FROM anchored a FULL JOIN linked l USING (id) ORDER BY id;
-- Errors
SELECT create_duplicates('wrong', 'pages', 'id', 'body', threshold => 80);
SELECT create_duplicates('wrong', 'pages', 'id');
SELECT create_duplicates('wrong', 'pages', 'id', 'body', keep => 'latest');
SELECT create_duplicates('wrong', 'pages', 'id', 'body', filter => 'random() < 0.5');
SELECT create_duplicates('wrong', 'pages', 'id', 'body', at => 'published');
SELECT create_duplicates('anchored', 'pages', 'id', 'body');
SELECT create_duplicates('wrong', 'pages', 'id', 'tenant');
SELECT create_duplicates('wrong', 'pages', 'key', 'body');
SELECT create_duplicates('wrong', 'pages', 'id', 'bdy');
SELECT create_duplicates('wrong', 'pages', 'id', 'body', within => '{tenant,"of whom"}');
SELECT create_duplicates('wrong', 'pages', 'id', 'body', order_by => '(published, id)');
SELECT create_duplicates(NULL, 'pages', 'id', 'body');
SELECT create_duplicates('wrong', NULL, 'id', 'body', filter => 'id > 0');
SELECT create_duplicates('wrong', 'pages', 'id', 'body', within => '{NULL}');
SELECT alter_duplicates('linked', body => 'bdy');
SELECT alter_duplicates('linked', threshold => 'NaN');
SELECT rename_duplicates('linked', 'other.linked');
SELECT rename_duplicates('linked', NULL);
\set SHOW_CONTEXT always
SELECT create_duplicates('wrong', 'pages', 'id', 'body', threshold => 7);
SELECT alter_duplicates('linked', threshold => 7);
SELECT create_duplicates('wrong', 'pages', 'id', 'body', filter => 'id >');
\set SHOW_CONTEXT never
CALL refresh_duplicates('none');
CREATE TABLE other_job (a int);
CALL refresh_duplicates('other');
SELECT drop_duplicates('other');
DROP TABLE other_job;
CALL refresh_duplicates('linked', batch => 0);
-- Whom types and tables belong to
CREATE ROLE regress_neardup_owner;
CREATE TYPE theirs AS (a int, b text);
CREATE TYPE spans AS RANGE (subtype = theirs);
ALTER TYPE theirs OWNER TO regress_neardup_owner;
CREATE TABLE travels (id spans, span int4range, body text);
SELECT create_duplicates('wrong', 'travels', 'id', 'body');
SELECT create_duplicates('right', 'travels', 'span', 'body');
SELECT drop_duplicates('right');
DROP TABLE travels;
DROP TYPE spans;
DROP TYPE theirs;
SET client_min_messages = error;
ALTER TABLE linked_changes OWNER TO regress_neardup_owner;
CALL refresh_duplicates('linked');
ALTER TABLE linked_changes OWNER TO CURRENT_USER;
RESET client_min_messages;
DROP ROLE regress_neardup_owner;
-- The source goes. A refresh that fails gives its lock back.
DROP TABLE pages;
CALL refresh_duplicates('linked');
SELECT locktype, mode FROM pg_locks WHERE pid = pg_backend_pid() AND mode = 'ExclusiveLock' AND locktype <> 'virtualxid';
SELECT drop_duplicates('linked'), drop_duplicates('anchored');

-- The newest is kept; a result that was changed by hand is mended; all is made anew
CREATE TABLE posts (id numeric PRIMARY KEY, body text, posted date);
INSERT INTO posts SELECT 10 * f + n, body(f, n), date '2026-01-01' + n FROM generate_series(1, 30) f, generate_series(0, 2) n WHERE f < 4 OR n = 0;
SELECT create_duplicates('post_copies', 'posts', 'id', 'body', keep => 'newest', order_by => 'posted');
CALL refresh_duplicates('post_copies');
SELECT id, representative, survivor FROM post_copies WHERE id < 40 ORDER BY id;
SELECT job, phase, rows, clusters, duplicates, changed, next_step FROM duplicates_status WHERE job = 'post_copies';
SELECT * FROM check_duplicates('post_copies');
DELETE FROM post_copies WHERE id = 10;
UPDATE post_copies SET survivor = true WHERE id = 20;
UPDATE post_copies SET cluster = 99, representative = 30, similarity = 0.5 WHERE id = 31;
INSERT INTO post_copies SELECT 77, cluster, representative, similarity, survivor, found_at FROM post_copies WHERE id = 30;
SELECT * FROM check_duplicates('post_copies') ORDER BY id, what;
CALL refresh_duplicates('post_copies');
SELECT * FROM check_duplicates('post_copies');
SELECT id, representative, survivor FROM post_copies WHERE id < 40 OR id = 77 ORDER BY id;
-- Each change alone is seen, and mended
DO $$
DECLARE
  change text;
BEGIN
  FOREACH change IN ARRAY ARRAY['DELETE FROM post_copies WHERE id = 11', 'UPDATE post_copies SET survivor = true WHERE id = 11',
      'UPDATE post_copies SET cluster = 99 WHERE id = 11', 'UPDATE post_copies SET representative = 22 WHERE id = 11',
      'UPDATE post_copies SET similarity = 0.5 WHERE id = 11'] LOOP
    EXECUTE change;
    IF NOT EXISTS (SELECT FROM check_duplicates('post_copies')) THEN RAISE NOTICE 'not seen: %', change; END IF;
    CALL refresh_duplicates('post_copies', commit => false);
    IF EXISTS (SELECT FROM check_duplicates('post_copies')) THEN RAISE NOTICE 'not mended: %', change; END IF;
  END LOOP;
END $$;
SELECT refreshed IS NOT NULL AND took >= '0 s' AS timed FROM duplicates_status WHERE job = 'post_copies';
-- The spelling of ids follows the source, in rows that stand for others, too
UPDATE posts SET id = id::numeric(10, 1) WHERE id IN (12, 20);
CALL refresh_duplicates('post_copies');
SELECT id, representative FROM post_copies WHERE id / 10 BETWEEN 1 AND 2.2 ORDER BY id;
SELECT * FROM check_duplicates('post_copies');
-- rebuild: all rows are signed and clustered again
UPDATE post_copies_signatures SET signature = NULL;
CALL refresh_duplicates('post_copies', rebuild => true);
SELECT total, clustered_rows FROM post_copies_job;
SELECT count(*), count(signature) FROM post_copies_signatures;
SELECT * FROM check_duplicates('post_copies');
CALL refresh_duplicates('post_copies', rebuild => NULL);
SELECT * FROM check_duplicates('nothing');
SELECT drop_duplicates('post_copies');
-- Nonsense in one's own profile
SELECT create_profile('nonsense');
SELECT create_duplicates('nonsense_copies', 'posts', 'id', 'body', profile => 'nonsense');
UPDATE nonsense SET signature = NULL, unit = NULL, k = NULL, encoding = NULL, rules = NULL, script = NULL, min_length = NULL, num_perm = NULL;
CALL refresh_duplicates('nonsense_copies');
UPDATE nonsense_copies_job SET qualified = false;
CALL refresh_duplicates('nonsense_copies');
UPDATE nonsense SET signature = 'sig''nature';
CALL refresh_duplicates('nonsense_copies');
SELECT create_duplicates('wrong', 'posts', 'id', 'body', profile => 'nonsense');
SELECT drop_duplicates('nonsense_copies');
DROP TABLE nonsense, posts;
CREATE TABLE marks (id int PRIMARY KEY, sig simhash);
SELECT create_duplicates('mark_copies', 'marks', 'id', signature => 'sig');
UPDATE mark_copies_job SET keep = 'longest';
CALL refresh_duplicates('mark_copies');
UPDATE mark_copies_job SET keep = 'best';
CALL refresh_duplicates('mark_copies');
UPDATE mark_copies_job SET keep = 'oldest', verify = 'jaccard', verify_threshold = 0.5;
CALL refresh_duplicates('mark_copies');
SELECT drop_duplicates('mark_copies');
DROP TABLE marks;

-- Triggers queue what changes, and a refresh looks at nothing else.
CREATE TABLE notes (id int PRIMARY KEY, body text, seen int DEFAULT 0);
INSERT INTO notes (id, body) SELECT f, body(f, 0) FROM generate_series(1, 300) f;
SELECT create_duplicates('note_copies', 'notes', 'id', 'body', follow => 'trigger');
CALL refresh_duplicates('note_copies');
UPDATE notes SET seen = 1;
SELECT count(*) FROM note_copies_queue;
INSERT INTO notes VALUES (1001, body(1, 1));
UPDATE notes SET body = body(2, 2), seen = 2 WHERE id = 3;
DELETE FROM notes WHERE id = 4;
SELECT id FROM note_copies_queue ORDER BY entry;
CALL refresh_duplicates('note_copies');
SELECT id, representative, survivor FROM note_copies WHERE id IN (1, 2, 3, 4, 1001) ORDER BY id;
SELECT rows, clusters, duplicates, changed FROM duplicates_status;
-- The result was changed by hand; the source was emptied.
DELETE FROM note_copies WHERE id = 1001;
SELECT id FROM note_copies_queue;
CALL refresh_duplicates('note_copies');
SELECT id, representative, survivor FROM note_copies WHERE id = 1001;
TRUNCATE notes;
CALL refresh_duplicates('note_copies', scan => true);
SELECT rows, clusters, duplicates FROM duplicates_status;
SELECT alter_duplicates('note_copies', follow => 'scan');
SELECT to_regclass('note_copies_queue'), count(*) FROM pg_trigger WHERE tgrelid = 'notes'::regclass;
SELECT drop_duplicates('note_copies');
DROP TABLE notes;
DROP FUNCTION body, chain;
