-- Refreshing a table of duplicates -----------------------------------------------------------------------------------
-- In C++: src/pg/jobs/refresh/refresh.cpp has the order of its stages, refresh_statements.cpp each statement.

CREATE PROCEDURE refresh_duplicates(name text, batch int = 10000, time_limit interval = NULL, commit boolean = true, rebuild boolean = false,
    scan boolean = false)
  AS 'MODULE_PATHNAME', 'neardup_refresh_duplicates' LANGUAGE C;
COMMENT ON PROCEDURE refresh_duplicates(text, int, interval, boolean, boolean, boolean) IS
  'Brings a table of duplicates up to date; commits after each batch and continues where an interrupted call stopped. With rebuild => true it reads, signs and clusters all rows; with scan => true it compares all rows, also those that no trigger has queued. Example: CALL refresh_duplicates(''doc_copies'')';

CREATE FUNCTION check_duplicates(name text) RETURNS TABLE (id text, what text, "is" text, should text)
  AS 'MODULE_PATHNAME', 'neardup_check_duplicates' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION check_duplicates(text) IS
  'Differences between a table of duplicates and the signatures of its rows; no row unless the table was changed by hand. With follow => ''trigger'' also rows that changed while the triggers were off. Example: SELECT * FROM check_duplicates(''doc_copies'')';

CREATE FUNCTION removable_duplicates(name text, max_rows int = NULL)
  RETURNS TABLE (id bigint, representative bigint, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_removable_duplicates' LANGUAGE C VOLATILE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION removable_duplicates(text, int) IS
  'Rows of the source of a job that may be deleted in this transaction: their representative is kept. Rows that have changed since the refresh are left out; both rows are locked. Example: SELECT * FROM removable_duplicates(''doc_copies'', 1000)';
CREATE FUNCTION removable_duplicates(name text, id anyelement, max_rows int = NULL)
  RETURNS TABLE (id anyelement, representative anyelement, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_removable_duplicates_of_ids' LANGUAGE C VOLATILE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION removable_duplicates(text, anyelement, int) IS
  'The rows that removable_duplicates() returns, for ids of the type of id. Example: SELECT * FROM removable_duplicates(''doc_copies'', id => NULL::bigint)';

CREATE FUNCTION neardup_internal.neardup_refresh_statements(job text) RETURNS TABLE (name text, statement text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_refresh_statements(text) IS
  'private: the statements by which a refresh of this job reads and writes rows';

-- Watching -----------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_internal.job_status()
  RETURNS TABLE (job text, source regclass, phase text, done bigint, total bigint, rate float8, time_left interval, started timestamptz, finished timestamptz, pid int, last_error text,
    rows bigint, clusters bigint, duplicates bigint, refreshed timestamptz, took interval, changed bigint, next_step text, last_progress timestamptz)
  AS 'MODULE_PATHNAME', 'neardup_jobs' LANGUAGE C STABLE ROWS 10;
COMMENT ON FUNCTION neardup_internal.job_status() IS 'private: the rows of duplicates_status';

CREATE VIEW duplicates_status AS SELECT * FROM neardup_internal.job_status();
COMMENT ON VIEW duplicates_status IS
  'Jobs that you may read: phase (signing: rows done of total; clustering: percent), rows per second, time left, last error; rows, clusters and duplicates of the result; end, duration and changed rows of the last refresh; the next step; the last progress. Example: SELECT job, phase, next_step FROM duplicates_status';
GRANT SELECT ON duplicates_status TO PUBLIC;
