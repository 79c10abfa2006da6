-- Refreshing a table of duplicates -----------------------------------------------------------------------------------
-- In C++: src/pg/jobs/refresh.cpp has the order of its stages, refresh_statements.cpp each statement.

CREATE PROCEDURE refresh_duplicates(name text, batch int = 10000, time_limit interval = NULL, commit boolean = true, rebuild boolean = false)
  AS 'MODULE_PATHNAME', 'neardup_refresh_duplicates' LANGUAGE C;
COMMENT ON PROCEDURE refresh_duplicates(text, int, interval, boolean, boolean) IS
  'brings a table of duplicates up to date; commits after each batch, continues where an interrupted one stopped; rebuild => true reads and clusters all rows';

CREATE FUNCTION check_duplicates(name text) RETURNS TABLE (id text, what text, "is" text, should text)
  AS 'MODULE_PATHNAME', 'neardup_check_duplicates' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION check_duplicates(text) IS
  'returns the differences between a table of duplicates and the signatures of its rows: no row, unless somebody changed it by hand';

CREATE FUNCTION neardup_internal.neardup_refresh_statements(job text) RETURNS TABLE (name text, statement text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_refresh_statements(text) IS
  'private: the statements by which a refresh of this job reads and writes rows';

-- Watching -----------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_internal.neardup_jobs()
  RETURNS TABLE (job text, source regclass, phase text, done bigint, total bigint, rate float8, time_left interval, started timestamptz, finished timestamptz, pid int, last_error text,
    rows bigint, clusters bigint, duplicates bigint, refreshed timestamptz, took interval, changed bigint, next_step text)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE ROWS 10;
COMMENT ON FUNCTION neardup_internal.neardup_jobs() IS 'private: the rows of duplicates_status';

CREATE VIEW duplicates_status AS SELECT * FROM neardup_internal.neardup_jobs();
COMMENT ON VIEW duplicates_status IS
  'the jobs that you may read: phase (signing: rows done of total; clustering: per cent), rate a second, time left, last error; rows, clusters and duplicates of the result, when the last refresh ended, how long it took, how many rows had changed; what to do next';
GRANT SELECT ON duplicates_status TO PUBLIC;
