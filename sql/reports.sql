-- Functions that bin/neardup and the Python package call: a report, an export, a page of passages, the progress of a refresh.
\set SHOW_CONTEXT never
SET search_path = pg_catalog, pg_temp;
CREATE SCHEMA reported;
CREATE TABLE reported.docs (id int PRIMARY KEY, path text, body text, secret text);
INSERT INTO reported.docs SELECT i, '/srv/' || i, (SELECT string_agg(chr(97 + (i / 3 * 31 + j * j) % 23) || (i / 3 * 7 + j) % 9, ' ') FROM generate_series(1, 30) j)
  || CASE WHEN i % 3 = 1 THEN ' more' WHEN i % 3 = 2 THEN ' of other words' ELSE '' END, 'x' FROM generate_series(3, 11) i;
CREATE FUNCTION reported.is_wanted(id int) RETURNS bool LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN id = id; END $$;
SELECT public.create_duplicates('reported.copies', 'reported.docs', 'id', 'body', threshold => 0.7, filter => 'secret = ''x'' AND reported.is_wanted(id)') IS NOT NULL AS made;
\set job '''reported.copies_job''::regclass'
SELECT * FROM neardup_internal.job_counts(:job);
SELECT * FROM neardup_internal.run_summary(:job);
CALL public.refresh_duplicates('reported.copies');
-- a refresh
SELECT * FROM neardup_internal.job_counts(:job);
SELECT phase, done, total, elapsed >= 0 AS elapsed, step, pairs FROM neardup_internal.run_progress(:job);
SELECT * FROM neardup_internal.run_summary(:job);
DELETE FROM reported.docs WHERE id > 8;
CALL public.refresh_duplicates('reported.copies');
SELECT * FROM neardup_internal.run_changes(:job);
-- a report
SELECT database = current_database() AS database, shown_finished IS NOT NULL AS finished, iso_finished <= iso_time AS iso, complete, threshold, cleaned,
  no_documents, no_ids FROM neardup_internal.report_about(:job);
SELECT * FROM neardup_internal.report_settings(:job);
SELECT * FROM neardup_internal.report_similarities(:job);
SELECT * FROM neardup_internal.report_sizes(:job);
BEGIN;
SELECT neardup_internal.report_pairs(:job, 2, true);
FETCH ALL FROM neardup_rows;
CLOSE neardup_rows;
SELECT neardup_internal.report_pairs(:job, 1, false);
FETCH ALL FROM neardup_rows;
CLOSE neardup_rows;
SELECT neardup_internal.report_clusters(:job, 1, true);
FETCH ALL FROM neardup_rows;
CLOSE neardup_rows;
SELECT neardup_internal.report_rows(:job, 1);
FETCH ALL FROM neardup_rows;
CLOSE neardup_rows;
SELECT neardup_internal.report_rows(:job, NULL);
FETCH ALL FROM neardup_rows;
CLOSE neardup_rows;
-- an export
SELECT neardup_internal.export_rows(:job, 'path', false);
FETCH 2 FROM neardup_rows;
CLOSE neardup_rows;
SELECT neardup_internal.export_rows(:job, 'secret', true);
FETCH 2 FROM neardup_rows;
ROLLBACK;
SELECT neardup_internal.export_rows(:job, 'nothing', false);
SELECT neardup_internal.export_rows(:job, 'id', false);
-- passages
SELECT * FROM neardup_internal.job_passages(:job, 20, 'word', 2, 2, 3);
SELECT * FROM neardup_internal.passages_page('SELECT * FROM (SELECT 1, ''a b c'', 1 UNION ALL SELECT 2, ''a b c'', 1) q(id, body, within)', true, 2, 'word', 2, 1, 1);
SELECT database = current_database() AS database, iso_time = neardup_internal.iso_time(now()) AS iso, version = sql AS version
  FROM neardup_internal.page_about(), public.neardup_version();

-- An operator or a function that fits better, in a schema that search_path finds first, is not called.
CREATE SCHEMA trap;
CREATE FUNCTION trap.spring(int, int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung'; END $$;
CREATE OPERATOR trap.= (LEFTARG = int, RIGHTARG = int, FUNCTION = trap.spring);
CREATE FUNCTION trap.spring_text(int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung'; END $$;
CREATE FUNCTION trap.count(int) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung'; END $$;
CREATE DOMAIN trap.text AS pg_catalog.text CHECK (trap.spring(1, 1));
CREATE DOMAIN trap.float8 AS pg_catalog.float8 CHECK (trap.spring(1, 1));
CREATE TABLE trap.docs (id int, path text);
SET search_path = trap, pg_catalog, reported;
BEGIN;
SELECT neardup_internal.report_pairs('reported.copies_job', 1, true);
FETCH ALL FROM neardup_rows;
CLOSE neardup_rows;
SELECT neardup_internal.export_rows('reported.copies_job', 'path', false);
FETCH 1 FROM neardup_rows;
COMMIT;
SELECT * FROM neardup_internal.job_counts('reported.copies_job');
SELECT kind, x, y FROM neardup_internal.job_passages('reported.copies_job', 20, 'word', 2, 0, 0);
SELECT no_documents, no_ids FROM neardup_internal.report_about('reported.copies_job');
SET search_path = pg_catalog, pg_temp;
\set VERBOSITY terse
DROP SCHEMA trap CASCADE;
\set VERBOSITY default

-- Ids of a domain are compared as the type below it, by its own operator; those of another type since as text.
CREATE DOMAIN reported."Odd % name" AS int;
CREATE FUNCTION reported.spring(reported."Odd % name", int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung'; END $$;
CREATE OPERATOR reported.= (LEFTARG = reported."Odd % name", RIGHTARG = int, FUNCTION = reported.spring);
CREATE TABLE reported."It's 100% odd" ("The id" reported."Odd % name" PRIMARY KEY, path varchar, "Body %s" bytea);
INSERT INTO reported."It's 100% odd" SELECT id, path, convert_to(body, 'UTF8') FROM reported.docs;
SELECT public.create_duplicates('reported."Odd $1 % job"', 'reported."It''s 100% odd"', 'The id', 'Body %s') IS NOT NULL AS made;
CALL public.refresh_duplicates('reported."Odd $1 % job"');
\set odd '''reported."Odd $1 % job_job"''::regclass'
SELECT source, same, problem FROM neardup_internal.job_ids(:odd);
SELECT document, shown, cleaned, problem FROM neardup_internal.job_documents(:odd);
BEGIN;
SELECT neardup_internal.report_clusters(:odd, 1, true);
FETCH 2 FROM neardup_rows;
COMMIT;
ALTER TABLE reported."It's 100% odd" ALTER "The id" TYPE text;
SELECT same, problem FROM neardup_internal.job_ids(:odd);
BEGIN;
SELECT neardup_internal.report_rows(:odd, 1);
FETCH 1 FROM neardup_rows;
COMMIT;
CREATE TYPE reported.other AS (n int);
ALTER TABLE reported."It's 100% odd" ALTER "The id" TYPE reported.other USING ROW("The id"::int);
SELECT same, problem, cure FROM neardup_internal.job_ids(:odd);
SELECT neardup_internal.export_rows(:odd, 'path', false);
ALTER TABLE reported."It's 100% odd" RENAME "The id" TO key;
SELECT same, problem, cure FROM neardup_internal.job_ids(:odd);
SELECT no_documents, no_ids FROM neardup_internal.report_about(:odd);
DROP TABLE reported."It's 100% odd";
SELECT same, problem, cure FROM neardup_internal.job_ids(:odd);
SELECT neardup_internal.export_rows(:odd, 'path', false);
SELECT no_documents, no_ids FROM neardup_internal.report_about(:odd);
-- a job over a view, with signatures, without texts
CREATE VIEW reported.seen AS SELECT id, path, public.to_minhash(body) AS sig FROM reported.docs;
SELECT public.create_duplicates('reported.signed', 'reported.seen', 'id', signature => 'sig') IS NOT NULL AS made;
CALL public.refresh_duplicates('reported.signed');
SELECT no_documents, no_ids FROM neardup_internal.report_about('reported.signed_job');
SELECT * FROM neardup_internal.job_passages('reported.signed_job', 20, 'word', 2, 2, 3);
BEGIN;
SELECT neardup_internal.report_clusters('reported.signed_job', 1, false);
FETCH 2 FROM neardup_rows;
COMMIT;

-- Who may not read a table or a column gets PostgreSQL's error; row security hides rows.
CREATE ROLE regress_reader;
GRANT USAGE ON SCHEMA reported TO regress_reader;
SET ROLE regress_reader;
SELECT * FROM neardup_internal.job_counts(:job);
SELECT neardup_internal.report_rows(:job, NULL);
RESET ROLE;
GRANT SELECT ON reported.copies_job TO regress_reader;
SET ROLE regress_reader;
SELECT * FROM neardup_internal.job_counts(:job);
SELECT neardup_internal.report_rows(:job, NULL);
SELECT no_documents, no_ids FROM neardup_internal.report_about(:job);
RESET ROLE;
GRANT SELECT ON reported.copies TO regress_reader;
GRANT SELECT (id, body, path) ON reported.docs TO regress_reader;
SET ROLE regress_reader;
SELECT * FROM neardup_internal.job_counts(:job);
SELECT neardup_internal.report_pairs(:job, 1, true);
SELECT neardup_internal.export_rows(:job, 'path', false);
SELECT * FROM neardup_internal.job_passages(:job, 20, 'word', 2, 2, 3);
RESET ROLE;
-- a path that may not be read is left out of a report, not of an export
REVOKE SELECT (path) ON reported.docs FROM regress_reader;
GRANT SELECT (secret) ON reported.docs TO regress_reader;
SET ROLE regress_reader;
BEGIN;
SELECT neardup_internal.report_rows(:job, 1);
FETCH 1 FROM neardup_rows;
ROLLBACK;
SELECT neardup_internal.export_rows(:job, 'path', false);
RESET ROLE;
GRANT SELECT ON reported.docs TO regress_reader;
-- the name of another role's job, in a schema that the caller may not use, is not looked up
CREATE SCHEMA regress_closed;
SELECT public.create_duplicates('reported.moved', 'reported.docs', 'id', 'body') IS NOT NULL AS made;
ALTER TABLE reported.moved SET SCHEMA regress_closed;
GRANT SELECT ON reported.moved_job TO regress_reader;
SET ROLE regress_reader;
SELECT phase FROM neardup_internal.run_progress(:job);
RESET ROLE;
ALTER TABLE reported.docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON reported.docs USING (id < 5);
SET ROLE regress_reader;
BEGIN;
SELECT neardup_internal.report_pairs(:job, 3, true);
FETCH ALL FROM neardup_rows;
CLOSE neardup_rows;
SELECT neardup_internal.export_rows(:job, 'path', false);
FETCH ALL FROM neardup_rows;
ROLLBACK;
RESET ROLE;
SET client_min_messages = warning;
DROP SCHEMA reported, regress_closed CASCADE;
DROP ROLE regress_reader;
