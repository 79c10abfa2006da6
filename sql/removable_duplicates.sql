-- removable_duplicates(): which rows of a job's source may be deleted. Other sessions, roles and row security: test/t/234_safe_delete.py.
\set SHOW_CONTEXT never
CREATE TABLE pages (id int PRIMARY KEY, body text, tenant int DEFAULT 0, at date DEFAULT '2026-01-01', hidden boolean DEFAULT false, seen int DEFAULT 0);
INSERT INTO pages SELECT 10 * f + n, (SELECT string_agg('f' || f || 'w' || w, ' ' ORDER BY w) FROM generate_series(1, 30) w)
FROM generate_series(1, 8) f, generate_series(1, 3) n;
INSERT INTO pages VALUES (91, NULL), (92, NULL), (93, 'like nothing else');
SELECT create_duplicates('copies', 'pages', 'id', 'body', deleted => 'hidden', within => '{tenant}');
SELECT * FROM removable_duplicates('copies');
CALL refresh_duplicates('copies');
SELECT * FROM removable_duplicates('copies');
SELECT count(*), count(DISTINCT id) FROM removable_duplicates('copies', 5);
SELECT pg_typeof(id), pg_typeof(representative), count(*) FROM removable_duplicates('copies', id => NULL::int) GROUP BY 1, 2;

-- The row that is kept has gone, has another text, counts as deleted, is of another tenant.
DELETE FROM pages WHERE id = 11;
UPDATE pages SET body = body || ' more' WHERE id = 21;
UPDATE pages SET hidden = true WHERE id = 31;
UPDATE pages SET tenant = 1 WHERE id = 41;
-- The same of a row that would go.
DELETE FROM pages WHERE id = 52;
UPDATE pages SET body = body || ' more' WHERE id = 62;
UPDATE pages SET hidden = true WHERE id = 72;
UPDATE pages SET tenant = 1 WHERE id = 82;
-- Columns that no copy depends on, and a row that is as it was again.
UPDATE pages SET seen = seen + 1, at = '2026-02-02' WHERE id > 50;
UPDATE pages SET body = body || '.' WHERE id = 51;
UPDATE pages SET body = rtrim(body, '.') WHERE id = 51;
DELETE FROM pages WHERE id = 73;
INSERT INTO pages SELECT 73, body FROM pages WHERE id = 71;
SELECT * FROM removable_duplicates('copies');
-- Changes of this very transaction count, too.
BEGIN;
DELETE FROM pages WHERE id = 51;
SELECT * FROM removable_duplicates('copies');
ROLLBACK;
-- The refresh decides anew.
CALL refresh_duplicates('copies');
SELECT * FROM removable_duplicates('copies');
-- All at once; none is left, and of each text one is.
DELETE FROM pages USING removable_duplicates('copies') r WHERE pages.id = r.id;
SELECT * FROM removable_duplicates('copies');
CALL refresh_duplicates('copies');
SELECT duplicates FROM duplicates_status;
SELECT id, left(body, 8) AS body, right(body, 4) AS its_end FROM pages ORDER BY id;
SELECT drop_duplicates('copies');

-- A row whose signature is newer than the clusters, as an interrupted refresh leaves it, is neither kept nor does it go.
CREATE TABLE notes (id int PRIMARY KEY, body text, at date DEFAULT '2026-01-01');
INSERT INTO notes SELECT 10 * f + n, (SELECT string_agg('f' || f || 'w' || w, ' ' ORDER BY w) FROM generate_series(1, 30) w)
FROM generate_series(1, 3) f, generate_series(1, 2) n;
SELECT create_duplicates('copies', 'notes', 'id', 'body', order_by => 'at');
CALL refresh_duplicates('copies');
UPDATE copies_signatures SET generation = 2 WHERE id IN (11, 22);
SELECT * FROM removable_duplicates('copies');
-- A result that was changed by hand: only who is marked as the survivor is one.
UPDATE copies SET survivor = false WHERE id = 31;
SELECT * FROM removable_duplicates('copies');
SELECT drop_duplicates('copies');
-- With another key of a row that is kept, another might be kept.
SELECT create_duplicates('copies', 'notes', 'id', 'body', order_by => 'at');
CALL refresh_duplicates('copies');
UPDATE notes SET at = '2027-01-01' WHERE id = 11;
SELECT * FROM removable_duplicates('copies');
-- Clusters of other settings, of another profile, of another type are out of date.
ALTER TABLE notes ALTER at TYPE timestamp;
SELECT * FROM removable_duplicates('copies');
CALL refresh_duplicates('copies');
SELECT * FROM removable_duplicates('copies');
SELECT alter_duplicates('copies', threshold => 0.9);
SELECT * FROM removable_duplicates('copies');
SELECT create_profile('mine', base => 'default');
SELECT alter_duplicates('copies', profile => 'mine');
CALL refresh_duplicates('copies');
SELECT count(*) FROM removable_duplicates('copies');
SELECT alter_profile('mine', k => 2);
SELECT * FROM removable_duplicates('copies');
SELECT drop_duplicates('copies');
-- A job that verifies read the document when it clustered: a row that was written again waits for the next refresh.
SELECT create_duplicates('copies', 'notes', 'id', 'body', verify => 'jaccard', linkage => 'connected');
CALL refresh_duplicates('copies');
SELECT * FROM removable_duplicates('copies');
UPDATE notes SET at = at WHERE id = 11 OR id = 22;
SELECT * FROM removable_duplicates('copies');
CALL refresh_duplicates('copies');
SELECT * FROM removable_duplicates('copies');
SELECT drop_duplicates('copies');

-- Other ids, and a column of them whose name this function uses; partitions; a column of signatures
CREATE DOMAIN code AS text CHECK (VALUE <> '');
CREATE TABLE parts (l code, sig minhash) PARTITION BY LIST (l);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a', 'b');
CREATE TABLE parts_c PARTITION OF parts FOR VALUES IN ('c', 'd');
INSERT INTO parts SELECT l, to_minhash('the same words in each of the rows') FROM unnest('{a,b,c,d}'::text[]) l;
SELECT create_duplicates('copies', 'parts', 'l', signature => 'sig');
CALL refresh_duplicates('copies');
SELECT * FROM removable_duplicates('copies', id => NULL::text);
DELETE FROM parts USING removable_duplicates('copies', id => NULL::text, max_rows => 2) r WHERE l = r.id;
SELECT count(*) FROM parts;
SELECT * FROM removable_duplicates('copies');
SELECT * FROM removable_duplicates('copies', id => NULL::code);
SELECT * FROM removable_duplicates('copies', id => 'x'::text);
SELECT drop_duplicates('copies');

-- Sources whose rows cannot be locked
CREATE VIEW seen AS SELECT * FROM notes;
CREATE MATERIALIZED VIEW stored AS SELECT * FROM notes;
SELECT create_duplicates('of_view', 'seen', 'id', 'body'), create_duplicates('of_stored', 'stored', 'id', 'body');
CALL refresh_duplicates('of_view');
CALL refresh_duplicates('of_stored');
SELECT * FROM removable_duplicates('of_view');
SELECT * FROM removable_duplicates('of_stored');
SELECT create_duplicates('copies', 'notes', 'id', 'body');
CALL refresh_duplicates('copies');
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE elsewhere (id int NOT NULL, body text, at timestamp) SERVER nowhere;
ALTER FOREIGN TABLE elsewhere INHERIT notes;
SELECT * FROM removable_duplicates('copies');
DROP FOREIGN TABLE elsewhere;
CREATE TABLE rows_of_arrays (id int[] PRIMARY KEY, body text);
SELECT create_duplicates('of_arrays', 'rows_of_arrays', 'id', 'body');
CALL refresh_duplicates('of_arrays');
SELECT * FROM removable_duplicates('of_arrays', id => NULL::int[]);

-- Arguments
SELECT * FROM removable_duplicates(NULL);
SELECT * FROM removable_duplicates('no such job');
SELECT * FROM removable_duplicates('copies', 0);
SELECT * FROM removable_duplicates('copies', id => NULL::int, max_rows => -1);
SELECT count(*) FROM removable_duplicates('copies', max_rows => NULL);
SELECT count(*) FROM removable_duplicates('copies', 2::bigint);
BEGIN READ ONLY;
SELECT * FROM removable_duplicates('copies');
ROLLBACK;
DROP TABLE notes CASCADE;
SELECT * FROM removable_duplicates('copies');
