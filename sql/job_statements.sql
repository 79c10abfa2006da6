-- Every statement of a refresh, for an ordinary job and one with difficult names, printed as it runs. Names of temporary tables end in
-- OIDs, which are left out.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
CREATE FUNCTION statements(job text) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT E'\n-- ' || name || regexp_replace(regexp_replace(statement, '^([^\n ])', E'\n    \\1'), '_\d+_\d+\M', '', 'g')
  FROM neardup_internal.neardup_refresh_statements(job)
$$;

CREATE TABLE notes (id bigint PRIMARY KEY, body text, published timestamptz);
SELECT create_duplicates('note_copies', 'notes', 'id', 'body', order_by => 'published');
CALL refresh_duplicates('note_copies');
SELECT statements('note_copies');

CREATE SCHEMA "Odd ""schema""";
CREATE DOMAIN "Odd ""schema"""."Key" AS varchar(20);
CREATE TABLE "Odd ""schema"""."select.from" ("ID, or 'so'" "Odd ""schema"""."Key", "Body""" bytea, "user" text, "Where" int, "AT" date, gone boolean)
  PARTITION BY LIST ("Where");
CREATE TABLE "Odd ""schema""".part PARTITION OF "Odd ""schema"""."select.from" DEFAULT;
SELECT create_duplicates('"Odd ""schema"""."group.by"', '"Odd ""schema"""."select.from"', 'ID, or ''so''', 'Body"',
  linkage => 'connected', verify => 'jaccard', keep => 'best', within => '{user,Where}', at => 'AT', at_most_apart => '2 days',
  profile => 'web', filter => '"user" <> ''it''''s'' -- not "his"', deleted => 'gone');
INSERT INTO "Odd ""schema"""."select.from" VALUES ('one', convert_to(repeat('Some words that make a document. ', 9), 'UTF8'), 'me', 1, '2026-01-01', false);
CALL refresh_duplicates('"Odd ""schema"""."group.by"');
SELECT statements('"Odd ""schema"""."group.by"');

-- signatures of the user's, in a view
CREATE TABLE prints (id int, sig simhash);
CREATE VIEW seen AS SELECT id, sig FROM prints;
SELECT create_duplicates('seen_copies', 'seen', 'id', signature => 'sig', threshold => 0.9);
CALL refresh_duplicates('seen_copies');
SELECT statements('seen_copies');

-- documents by containment, and sets of the user's
SELECT create_duplicates('quoted', 'notes', 'id', 'body', order_by => 'published', measure => 'containment', threshold => 0.9);
CALL refresh_duplicates('quoted');
SELECT statements('quoted');
CREATE TABLE hashed (id int, hashes int[]);
SELECT create_duplicates('hashed_copies', 'hashed', 'id', signature => 'hashes', measure => 'jaccard', linkage => 'connected');
CALL refresh_duplicates('hashed_copies');
SELECT statements('hashed_copies');
SELECT drop_duplicates('quoted'), drop_duplicates('hashed_copies');
SELECT drop_duplicates('note_copies'), drop_duplicates('"Odd ""schema"""."group.by"'), drop_duplicates('seen_copies');
DROP TABLE "Odd ""schema"""."select.from";
DROP VIEW seen;
