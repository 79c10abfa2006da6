-- Jobs: a maintained table of duplicates -----------------------------------------------------------------------------
-- A job is the one row of a table of type neardup_job, <name>_job. Beside it, all of them its owner's:
--   <name>             the result, a row for each row of the source
--   <name>_signatures  what each row was when it was last signed
--   <name>_changes     what has become of clusters
--   <name>_passages    the windows that are cut out of documents, where the profile cuts; made by a refresh
--   <name>_queue       ids of rows that have changed, where triggers on the source and the result report it
-- They belong to the job by pg_depend, not by their names. Nothing here runs with other rights than the caller's. src/pg/jobs has the functions.

CREATE TYPE neardup_job AS (
  source regclass, id name, body name, signature name, threshold float8, profile text, linkage text,
  verify text, verify_threshold float8, keep text, order_by text, within name[], at name, at_most_apart interval,
  filter text, deleted text,
  profile_version int,    -- that the signatures were made with
  body_type regtype,      -- the same
  resync boolean,         -- what is known of each row must be compared with it again
  recluster boolean,      -- the next refresh clusters all rows
  search_threshold float8,-- least similarity of signatures, and that of the index
  refresh bigint,         -- number of the latest refresh
  clustered bigint,       -- number of the refresh that clustered last: rows signed later have not been clustered
  clustered_rows bigint,  -- how many rows it looked at
  next_cluster bigint,
  paused boolean, phase text, done bigint, total bigint, started timestamptz, phase_started timestamptz,
  finished timestamptz,   -- when the refresh ended; where pid is not NULL, when it came further last
  pid int, last_error text,
  columns text[],         -- numbers and names of the source's columns when it was last listed; NULL: by 0.1.0
  system bigint,          -- of the server that the places and versions of rows are of; NULL: not listed yet, or by 0.1.0
  result regclass, signatures regclass, changes regclass,  -- the tables that belong to the job; NULL: made by 0.2.0, found by their names
  qualified boolean,      -- filter, deleted and order_by mean the same under any search_path; not true: made by 0.2.0
  rows bigint, clusters bigint, duplicates bigint,  -- of the result when it was written last: clusters of two rows and more
  result_hash bigint,     -- of the result then: it has another where somebody has changed it by hand
  refreshed timestamptz, took interval, changed bigint,  -- the last refresh that came to its end: when, how long, rows listed
  measure text,           -- of sets: 'jaccard', 'containment', 'dice' or 'cosine'; NULL: of the kind of signature, or by 0.2.0
  passages regclass,      -- belongs to the job like result; NULL: no refresh had to make it
  passages_key bigint,    -- of the numbers in it; NULL: it has to be filled
  passages_rows bigint,   -- how many rows were counted for it
  queue regclass,         -- belongs to the job like result; NULL: a refresh compares all rows
  follow_trigger name,    -- the trigger of the source that fills it
  follow_columns name[],  -- a row is queued when one of these changes, and when its id does; NULL: at each UPDATE
  scan boolean,           -- not all changes since the last refresh are in the queue: the next one compares all rows
  leaves text[]);         -- "oid file trigger" of the tables that held the rows when all were compared last
COMMENT ON TYPE neardup_job IS
  'Job that maintains a table of duplicates: the row of a table that create_duplicates() creates. Example: SELECT * FROM doc_copies_job';

CREATE FUNCTION neardup_content_hash(doc text) RETURNS uuid
  AS 'MODULE_PATHNAME', 'content_hash_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_content_hash(text) IS
  'XXH3 hash of 128 bits of the UTF-8 bytes of a text; equal texts have equal hashes. It does not exclude deliberate collisions. Example: SELECT neardup_content_hash(''a text of some words'')';
CREATE FUNCTION neardup_content_hash(doc bytea) RETURNS uuid
  AS 'MODULE_PATHNAME', 'content_hash_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_content_hash(bytea) IS
  'XXH3 hash of 128 bits of bytes. It does not exclude deliberate collisions. Example: SELECT neardup_content_hash(decode(''0123456789abcdef'', ''hex''))';
CREATE FUNCTION neardup_search_threshold(signature minhash, threshold float8) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_search_threshold(minhash, float8) IS
  'Least similarity of signatures at which 999 of 1000 pairs of documents with Jaccard similarity >= threshold are found. Example: SELECT neardup_search_threshold(to_minhash(''a text of some words''), 0.8)';
CREATE FUNCTION neardup_internal.neardup_distinct_elements(elements bigint[]) RETURNS bigint[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_internal.neardup_distinct_elements(bigint[]) IS
  'private: the elements of a set, ascending and each once, as a job stores them';
CREATE FUNCTION neardup_internal.neardup_lock_job(job regclass) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_lock_job(regclass) IS
  'private: keeps refreshes away until the transaction ends; an error while one runs';

CREATE FUNCTION neardup_internal.neardup_job_table(name text) RETURNS regclass
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
COMMENT ON FUNCTION neardup_internal.neardup_job_table(text) IS 'private: the table of a job';
CREATE FUNCTION neardup_internal.neardup_job_row(job regclass) RETURNS neardup_job
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_job_row(regclass) IS 'private: the row of a job';
-- suffix '', '_signatures', '_changes', '_passages', '_queue', '_job'
CREATE FUNCTION neardup_internal.neardup_job_part(job regclass, suffix text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_job_part(regclass, text) IS
  'private: qualified name of one of a job''s tables';
CREATE FUNCTION neardup_internal.neardup_job_rows(job regclass) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_job_rows(regclass) IS 'private: the query of the rows that a job looks at';
CREATE FUNCTION neardup_internal.neardup_row_version(xmin xid) RETURNS xid
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.neardup_row_version(xid) IS
  'private: the transaction that wrote a row; NULL for this transaction, which may yet write it again';
CREATE FUNCTION neardup_internal.neardup_version_hash(origin oid, place tid, version xid, seed bigint) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.neardup_version_hash(oid, tid, xid, bigint) IS
  'private: hash of the place of a row and of the transaction that wrote it';
CREATE FUNCTION neardup_internal.neardup_held_name(relation regclass) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_held_name(regclass) IS
  'private: qualified name of a relation; a statement of this transaction that finds another one by it ends in an error';

-- Everybody may attach it to a table: it refuses what create_duplicates() has not made. A restore makes these triggers, too.
CREATE FUNCTION neardup_internal.neardup_follow() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_internal.neardup_follow() IS
  'private: trigger that queues the ids of rows that change, for a job of follow => ''trigger''';

-- Names and expressions mean here what they mean to the caller.
CREATE FUNCTION create_duplicates(name text, source regclass, id name, body name = NULL, signature name = NULL,
    threshold float8 = 0.8, profile text = 'default', linkage text = 'anchor', verify text = NULL,
    verify_threshold float8 = NULL, keep text = 'oldest', order_by text = NULL, within name[] = '{}', at name = NULL,
    at_most_apart interval = NULL, filter text = NULL, deleted text = NULL, measure text = NULL, follow text = 'scan') RETURNS regclass
  AS 'MODULE_PATHNAME', 'neardup_create_duplicates' LANGUAGE C;
COMMENT ON FUNCTION create_duplicates(text, regclass, name, name, name, float8, text, text, text, float8, text, text, name[], name, interval, text, text, text, text) IS
  'Creates a table of the duplicates among the rows of a table or view; it is empty until refresh_duplicates() fills it. Example: SELECT create_duplicates(''doc_copies'', ''docs'', id => ''id'', body => ''body'', threshold => 0.8)';
CREATE FUNCTION alter_duplicates(name text, threshold float8 = NULL, profile text = NULL, linkage text = NULL, verify text = NULL,
    verify_threshold float8 = NULL, keep text = NULL, order_by text = NULL, at_most_apart interval = NULL, filter text = NULL,
    deleted text = NULL, id name = NULL, body name = NULL, signature name = NULL, at name = NULL, measure text = NULL,
    follow text = NULL) RETURNS void
  AS 'MODULE_PATHNAME', 'neardup_alter_duplicates' LANGUAGE C;
COMMENT ON FUNCTION alter_duplicates(text, float8, text, text, text, float8, text, text, interval, text, text, name, name, name, name, text, text) IS
  'Changes the arguments of a job that are given; '''' removes verify, order_by, filter, deleted or measure. The next refresh clusters all rows. Example: SELECT alter_duplicates(''doc_copies'', threshold => 0.9)';
CREATE FUNCTION drop_duplicates(name text) RETURNS void
  AS 'MODULE_PATHNAME', 'neardup_drop_duplicates' LANGUAGE C;
COMMENT ON FUNCTION drop_duplicates(text) IS
  'Drops a table of duplicates with its job, signatures and history. Example: SELECT drop_duplicates(''doc_copies'')';
CREATE FUNCTION pause_duplicates(name text, paused boolean = true) RETURNS void
  AS 'MODULE_PATHNAME', 'neardup_pause_duplicates' LANGUAGE C;
COMMENT ON FUNCTION pause_duplicates(text, boolean) IS
  'Pauses a job, or resumes it with paused => false. A paused job is not refreshed; a running refresh stops after its batch. Example: SELECT pause_duplicates(''doc_copies'')';
CREATE FUNCTION rename_duplicates(old text, new text) RETURNS regclass
  AS 'MODULE_PATHNAME', 'neardup_rename_duplicates' LANGUAGE C;
COMMENT ON FUNCTION rename_duplicates(text, text) IS
  'Renames a table of duplicates and the other tables of its job. Example: SELECT rename_duplicates(''doc_copies'', ''doc_duplicates'')';
