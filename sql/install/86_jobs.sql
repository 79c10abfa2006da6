-- Jobs: a maintained table of duplicates -----------------------------------------------------------------------------
-- A job is the one row of a table of type neardup_job, <name>_job. Beside it, all of them its owner's:
--   <name>             the result, a row for each row of the source
--   <name>_signatures  what each row was when it was last signed
--   <name>_changes     what has become of clusters
-- They belong to the job by pg_depend, not by their names. Nothing here runs with other rights than the caller's. Names that a user gives are
-- looked up once, in his search_path, by functions that do no more; all others have pg_catalog as theirs.

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
  finished timestamptz, pid int, last_error text,
  columns text[],         -- numbers and names of the source's columns when it was last listed; NULL: by 0.1.0
  system bigint,          -- of the server that the places and versions of rows are of; NULL: not listed yet, or by 0.1.0
  result regclass, signatures regclass, changes regclass,  -- the tables that belong to the job; NULL: made by 0.2.0, found by their names
  qualified boolean);     -- filter, deleted and order_by mean the same under any search_path; not true: made by 0.2.0
COMMENT ON TYPE neardup_job IS 'a job that keeps a table of duplicates: the row of a table that create_duplicates() makes';

CREATE FUNCTION neardup_content_hash(doc text) RETURNS uuid
  AS 'MODULE_PATHNAME', 'content_hash_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_content_hash(text) IS 'XXH3, 128 bits, of the text in UTF-8: equal texts have equal hashes; not against attackers';
CREATE FUNCTION neardup_content_hash(doc bytea) RETURNS uuid
  AS 'MODULE_PATHNAME', 'content_hash_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_content_hash(bytea) IS 'XXH3, 128 bits, of the bytes';

CREATE FUNCTION neardup_expression_type(source regclass, expression text) RETURNS regtype
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_expression_type(regclass, text) IS
  'private: type of an expression over one table; an error for subqueries, aggregates and volatile functions';
CREATE FUNCTION neardup_expression(source regclass, expression text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_expression(regclass, text) IS 'private: an expression over one table, all names in it qualified';
CREATE FUNCTION neardup_base_type(type oid) RETURNS oid
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_base_type(oid) IS 'private: of a domain the type below it, else the type itself';
CREATE FUNCTION neardup_equality(type regtype) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_equality(regtype) IS 'private: the operator by which values of a type are equal, qualified';
CREATE FUNCTION neardup_search_threshold(signature minhash, threshold float8) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_search_threshold(minhash, float8) IS
  'least similarity of signatures by which 999 of 1000 pairs of documents of Jaccard similarity >= threshold are found';

CREATE FUNCTION neardup_raise(state text, message text, detail text, hint text) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF detail <> '' AND hint <> '' THEN
    RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message, DETAIL = detail, HINT = hint;
  ELSIF detail <> '' THEN
    RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message, DETAIL = detail;
  ELSIF hint <> '' THEN
    RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message, HINT = hint;
  END IF;
  RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message;
END $$;
COMMENT ON FUNCTION neardup_raise(text, text, text, text) IS 'private: an error, without the fields that are empty';

CREATE FUNCTION neardup_lock_job(job regclass) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_lock_job(regclass) IS 'private: keeps refreshes away until the transaction ends; an error while one runs';

-- Names --------------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_job_table(name text) RETURNS regclass
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
COMMENT ON FUNCTION neardup_job_table(text) IS 'private: the table of a job';
CREATE FUNCTION neardup_locked_job(name text) RETURNS regclass
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_locked_job(text) IS 'private: the table of a job, with refreshes and other changes kept away until the transaction ends';
CREATE FUNCTION neardup_job_row(job regclass) RETURNS neardup_job
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_job_row(regclass) IS 'private: the row of a job';
CREATE FUNCTION neardup_job_name(job regclass) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_job_name(regclass) IS 'private: the name of a job, with its schema';
-- suffix '', '_signatures', '_changes', '_job'
CREATE FUNCTION neardup_job_part(job regclass, suffix text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_job_part(regclass, text) IS 'private: qualified name of one of a job''s tables';
CREATE FUNCTION neardup_held_name(relation regclass) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_held_name(regclass) IS
  'private: qualified name of a relation; a statement of this transaction that finds another one by it ends in an error';
CREATE FUNCTION neardup_made_here(name text) RETURNS regclass
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_made_here(text) IS 'private: the relation of this name, which this transaction has made; held as by neardup_held_name()';
CREATE FUNCTION neardup_demand_owner(job regclass) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_demand_owner(regclass) IS 'private: an error for the job of another role';
CREATE FUNCTION neardup_job_tables(job regclass, OUT result regclass, OUT signatures regclass, OUT changes regclass)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_job_tables(regclass) IS 'private: the tables that belong to a job; recorded, of a job of the caller''s, where they were not';

-- PostgreSQL names the index: a name made of the job's might have more than 63 bytes.
CREATE FUNCTION neardup_job_indexes(job regclass) RETURNS text[] LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
  SELECT COALESCE(array_agg(quote_ident(n.nspname) || '.' || quote_ident(c.relname)), '{}')
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE i.indrelid = to_regclass(@extschema@.neardup_job_part(job, '_signatures'::text))
    AND c.relam = (SELECT m.oid FROM pg_am m WHERE m.amname = 'lsh')
  $$;
COMMENT ON FUNCTION neardup_job_indexes(regclass) IS 'private: qualified names of the lsh indexes of a job''s signatures';

CREATE FUNCTION neardup_drop(kind text, VARIADIC names text[]) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t text;
BEGIN
  IF kind IS NULL OR kind NOT IN ('TABLE', 'INDEX') THEN
    RAISE EXCEPTION 'kind must be ''TABLE'' or ''INDEX'': %', quote_nullable(kind) USING ERRCODE = 'invalid_parameter_value';
  END IF;
  FOREACH t IN ARRAY names LOOP
    IF to_regclass(t) IS NOT NULL THEN EXECUTE format('DROP %s %s', kind, to_regclass(t)); END IF;
  END LOOP;
END $$;
COMMENT ON FUNCTION neardup_drop(text, text[]) IS 'private: drops those that there are';

-- One statement, so that they may depend on each other. A name may be that of another table by then: all or nothing.
CREATE FUNCTION neardup_drop_tables(tables oid[]) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('DROP TABLE %s', (SELECT string_agg(c.oid::regclass::text, ', ') FROM pg_class c WHERE c.oid = ANY (tables)));
  IF EXISTS (SELECT FROM pg_class c WHERE c.oid = ANY (tables)) THEN
    RAISE EXCEPTION 'the schema of the tables was renamed concurrently' USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
END $$;
COMMENT ON FUNCTION neardup_drop_tables(oid[]) IS 'private: drops these tables, whatever their names';

-- The source ---------------------------------------------------------------------------------------------------------

-- Type of a column that a job names; of a domain that below it.
CREATE FUNCTION neardup_job_column(source regclass, col name, what text) RETURNS regtype LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t regtype;
BEGIN
  SELECT a.atttypid INTO t FROM pg_attribute a WHERE a.attrelid = source::oid AND a.attname = col AND a.attnum > 0 AND NOT a.attisdropped;
  IF NOT FOUND THEN
    IF NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = source::oid) THEN
      RAISE EXCEPTION 'the source of the job has been dropped' USING ERRCODE = 'undefined_table',
        HINT = 'drop_duplicates() drops the job.';
    END IF;
    RAISE EXCEPTION 'column "%" of % does not exist: %', col, source, what USING ERRCODE = 'undefined_column',
      DETAIL = pg_catalog.format('%s has the columns %s.', source, (SELECT string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY a.attnum)
               FROM pg_attribute a WHERE a.attrelid = source::oid AND a.attnum > 0 AND NOT a.attisdropped)),
      HINT = CASE WHEN what = 'within' THEN 'If it was renamed, rename it back, or make the job anew: a job keeps its within columns.'
                  ELSE pg_catalog.format('If it was renamed: SELECT alter_duplicates(.., %s => ''new_name'').', what) END;
  END IF;
  RETURN @extschema@.neardup_base_type(t::oid);
END $$;
COMMENT ON FUNCTION neardup_job_column(regclass, name, text) IS 'private: type of a column that a job names';

-- A column whose values go into tables of the job, of a domain as the type below it: those tables are not to evaluate what the domain's owner
-- has put into it.
CREATE FUNCTION neardup_job_value(source regclass, col name, what text) RETURNS text LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t oid := @extschema@.neardup_job_column(source, col, what)::oid;
BEGIN
  IF EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = source::oid AND a.attname = col AND a.atttypid = t) THEN RETURN quote_ident(col); END IF;
  RETURN format('%I::%s', col, format_type(t, -1));  -- -1: of any length
END $$;
COMMENT ON FUNCTION neardup_job_value(regclass, name, text) IS 'private: the SQL of a column that a job names';

-- Whether the type, and all that it is made of, is the caller's own or a superuser's: others may have made casts and checks that a conversion runs.
CREATE FUNCTION neardup_trusted_type(type oid) RETURNS boolean LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
  WITH RECURSIVE parts AS (
    SELECT type AS oid
    UNION
    SELECT x.oid FROM parts p JOIN pg_type y ON y.oid = p.oid,
      LATERAL (SELECT y.typbasetype WHERE y.typtype = 'd' UNION ALL SELECT y.typelem WHERE y.typelem <> 0::oid
               UNION ALL SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = y.typrelid AND a.attnum > 0 AND NOT a.attisdropped
               UNION ALL SELECT g.rngsubtype FROM pg_range g WHERE y.oid IN (g.rngtypid, g.rngmultitypid)) x(oid))
  SELECT bool_and(r.rolsuper OR r.rolname = current_user) FROM parts p JOIN pg_type y ON y.oid = p.oid JOIN pg_roles r ON r.oid = y.typowner
  $$;
COMMENT ON FUNCTION neardup_trusted_type(oid) IS 'private: whether a type and its parts belong to the caller or a superuser';

-- ANALYZE measures ranges by a function of their type.
CREATE FUNCTION neardup_check_range(type oid, what text) RETURNS void LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t oid := @extschema@.neardup_base_type(type);
BEGIN
  IF EXISTS (SELECT FROM pg_type y WHERE y.oid = t AND y.typtype IN ('r', 'm')) AND NOT @extschema@.neardup_trusted_type(type) THEN
    RAISE EXCEPTION '% is a range of another role''s type %', what, format_type(type, NULL) USING ERRCODE = 'insufficient_privilege',
      DETAIL = 'What its owner has put into the type would run with your rights.';
  END IF;
END $$;
COMMENT ON FUNCTION neardup_check_range(oid, text) IS 'private: raises an error for a range type of another role';

-- minhash, simhash or ctph
CREATE FUNCTION neardup_job_kind(j neardup_job) RETURNS text LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t regtype;
BEGIN
  IF j.body IS NOT NULL THEN RETURN (@extschema@.neardup_profile_named(j.profile)).signature; END IF;
  t := @extschema@.neardup_job_column(j.source, j.signature, 'signature');
  IF t::oid IN ('@extschema@.minhash'::regtype::oid, '@extschema@.simhash'::regtype::oid, '@extschema@.ctph'::regtype::oid) THEN
    RETURN (SELECT y.typname FROM pg_type y WHERE y.oid = t::oid);
  END IF;
  RAISE EXCEPTION 'column "%" is %, not a signature', j.signature, t USING ERRCODE = 'datatype_mismatch',
    HINT = 'A column of documents is given as body => .., one of minhash, simhash or ctph as signature => ...';
END $$;
COMMENT ON FUNCTION neardup_job_kind(neardup_job) IS 'private: type of a job''s signatures';

-- The expression that says which row of a cluster is kept. Here and below, a line ends what may end in a comment.
CREATE FUNCTION neardup_job_key(j neardup_job) RETURNS text LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE j.keep
    WHEN 'longest' THEN pg_catalog.format('pg_catalog.octet_length(%I)', j.body)
    WHEN 'best' THEN pg_catalog.format('@extschema@.neardup_text_score(%s)',
                            @extschema@.neardup_document_sql(@extschema@.neardup_profile_named(j.profile), j.body_type, pg_catalog.quote_ident(j.body)))
    ELSE COALESCE('(' || j.order_by || E'\n)', CASE WHEN j.at IS NOT NULL THEN @extschema@.neardup_job_value(j.source, j.at, 'at') END, @extschema@.neardup_job_value(j.source, j.id, 'id')) END
  $$;
COMMENT ON FUNCTION neardup_job_key(neardup_job) IS 'private: what the rows of a cluster are kept by';

-- Whether place and version of a row tell that it has changed: of tables that lie here, whole. Rows of a foreign partition
-- have no version, and their place is one on another server, where a later row may lie.
CREATE FUNCTION neardup_job_stored(source regclass) RETURNS boolean LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
  WITH RECURSIVE part AS (SELECT source::oid AS oid UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN part ON i.inhparent = part.oid)
  SELECT bool_and(c.relkind IN ('r', 'p', 'm')) FROM part JOIN pg_catalog.pg_class c ON c.oid = part.oid
  $$;
COMMENT ON FUNCTION neardup_job_stored(regclass) IS 'private: whether place and version of its rows tell what has changed; NULL where there is no such relation';

-- Rows that a job looks at: id, origin, place and version, which tell that a row has changed where the source is a table,
-- key (what it is kept by), within_1 .., at, body (the document, or the signature itself). A row that this very transaction
-- wrote has no version: it may write it again, and VACUUM FULL then put it where it was. The age of a very old one is negative, too, but far.
CREATE FUNCTION neardup_job_rows(j neardup_job) RETURNS text LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  stored boolean := @extschema@.neardup_job_stored(j.source);
  within text := '';
  document text;
  body_type regtype;
BEGIN
  IF stored IS NULL THEN
    RAISE EXCEPTION 'the source of the job has been dropped' USING ERRCODE = 'undefined_table',
      HINT = 'drop_duplicates() drops the job.';
  END IF;
  IF j.body IS NOT NULL THEN
    body_type := @extschema@.neardup_job_column(j.source, j.body, 'body');
    IF body_type::oid NOT IN ('text'::regtype::oid, 'varchar'::regtype::oid, 'bytea'::regtype::oid) THEN
      RAISE EXCEPTION 'body column "%" is %, not text or bytea', j.body, body_type USING ERRCODE = 'datatype_mismatch';
    END IF;
  END IF;
  FOR i IN 1 .. COALESCE(pg_catalog.array_length(j.within, 1), 0) LOOP
    within := within || pg_catalog.format(', %s AS within_%s', @extschema@.neardup_job_value(j.source, j.within[i], 'within'), i);
  END LOOP;
  -- of the very type that our functions take: no other function fits better
  document := format('%I::%s', COALESCE(j.body, j.signature), CASE WHEN j.body IS NULL THEN format('@extschema@.%I', @extschema@.neardup_job_kind(j))
                     WHEN body_type::oid = 'bytea'::regtype::oid THEN 'pg_catalog.bytea' ELSE 'pg_catalog.text' END);
  RETURN pg_catalog.format('SELECT %s AS id, %s, %s AS key%s%s, %s AS body FROM %s WHERE true%s%s',
    @extschema@.neardup_job_value(j.source, j.id, 'id'), CASE WHEN stored THEN 'tableoid AS origin, ctid AS place, CASE WHEN pg_catalog.age(xmin) NOT BETWEEN -1000000000 AND 0 THEN xmin END AS version'
               ELSE 'NULL::oid AS origin, NULL::tid AS place, NULL::xid AS version' END,
    @extschema@.neardup_job_key(j), within, CASE WHEN j.at IS NOT NULL THEN pg_catalog.format(', %s AS at', @extschema@.neardup_job_value(j.source, j.at, 'at')) END, document, @extschema@.neardup_held_name(j.source),
    COALESCE(' AND (' || j.filter || E'\n)', ''), COALESCE(' AND (' || j.deleted || E'\n) IS NOT TRUE', ''));
END $$;
COMMENT ON FUNCTION neardup_job_rows(neardup_job) IS 'private: the query of the rows that a job looks at';

CREATE FUNCTION neardup_job_hash(j neardup_job, kind text, value text) RETURNS text LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN j.body IS NOT NULL THEN pg_catalog.format('@extschema@.neardup_content_hash(%s)', value)
         ELSE pg_catalog.format('@extschema@.neardup_content_hash(@extschema@.%s_send(%s))', kind, value) END
  $$;
COMMENT ON FUNCTION neardup_job_hash(neardup_job, text, text) IS 'private: what tells one content from another';

-- True where one of a job's columns beside the content differs, in its bytes: values that are equal may be written otherwise.
CREATE FUNCTION neardup_job_differs(j neardup_job, a text, b text) RETURNS text LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT format('ROW(%s)::record OPERATOR(pg_catalog.*<>) ROW(%s)::record', string_agg(format('%s.%s', a, c), ', '), string_agg(format('%s.%s', b, c), ', '))
  FROM (SELECT 'key' AS c UNION ALL SELECT 'within_' || i::text FROM generate_series(1, array_length(j.within, 1)) i
        UNION ALL SELECT 'at' WHERE j.at IS NOT NULL) x
  $$;
COMMENT ON FUNCTION neardup_job_differs(neardup_job, text, text) IS 'private: condition that two versions of a row differ';

-- Making, changing, dropping -----------------------------------------------------------------------------------------

CREATE FUNCTION neardup_check_order(t regtype, what text) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_opclass o JOIN pg_am m ON m.oid = o.opcmethod AND m.amname = 'btree'
                 WHERE o.opcdefault AND (o.opcintype = t::oid OR t::oid IN (SELECT c.castsource FROM pg_cast c
                       WHERE c.casttarget = o.opcintype AND c.castmethod = 'b' AND c.castcontext = 'i')
                   OR (o.opcintype, (SELECT typtype FROM pg_type WHERE oid = t::oid)) IN
                      (('anyenum'::regtype::oid, 'e'), ('anyrange'::regtype::oid, 'r'), ('anymultirange'::regtype::oid, 'm'), ('record'::regtype::oid, 'c'))
                   OR (o.opcintype = 'anyarray'::regtype::oid AND (SELECT typcategory FROM pg_type WHERE oid = t::oid) = 'A'))) THEN
    RAISE EXCEPTION '% is %, which has no order', what, t USING ERRCODE = 'datatype_mismatch';
  END IF;
  PERFORM @extschema@.neardup_check_range(t::oid, what);
END $$;
COMMENT ON FUNCTION neardup_check_order(regtype, text) IS 'private: raises an error for a type whose values cannot be compared';

CREATE FUNCTION neardup_check_job(j neardup_job) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  kind text;
BEGIN
  IF pg_catalog.num_nonnulls(j.body, j.signature) <> 1 THEN
    RAISE EXCEPTION 'exactly one of body and signature must be given' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF (SELECT c.relkind FROM pg_class c WHERE c.oid = j.source::oid) NOT IN ('r', 'p', 'v', 'm', 'f') THEN
    RAISE EXCEPTION '% is no table or view', j.source USING ERRCODE = 'wrong_object_type';
  END IF;
  IF j.threshold IS NULL OR NOT (j.threshold > 0::float8 AND j.threshold <= 1::float8) THEN
    PERFORM @extschema@.neardup_raise('22023', pg_catalog.format('threshold must be above 0 and at most 1: %s', COALESCE(j.threshold::text, 'NULL')), '',
      CASE WHEN j.threshold > 1::float8 AND j.threshold <= 100::float8 THEN pg_catalog.format('For %s %%, write %s.', j.threshold, j.threshold / 100::float8) ELSE '' END);
  END IF;
  IF j.linkage IS NULL OR j.linkage NOT IN ('anchor', 'connected') THEN
    RAISE EXCEPTION 'linkage must be ''anchor'' or ''connected'': %', COALESCE(quote_literal(j.linkage), 'NULL')
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.keep IS NULL OR j.keep NOT IN ('oldest', 'longest', 'best') THEN
    RAISE EXCEPTION 'keep must be ''oldest'', ''longest'' or ''best'': %', COALESCE(quote_literal(j.keep), 'NULL')
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.keep <> 'oldest' AND j.order_by IS NOT NULL THEN
    RAISE EXCEPTION 'order_by is for keep => ''oldest'', not ''%''', j.keep USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.keep <> 'oldest' AND j.body IS NULL THEN
    RAISE EXCEPTION 'keep => ''%'' needs body: signatures do not tell it', j.keep USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.keep = 'best' AND j.body_type::oid = 'bytea'::regtype::oid AND (@extschema@.neardup_profile_named(j.profile)).encoding = 'bytes' THEN
    RAISE EXCEPTION 'keep => ''best'' is for text: profile "%" takes documents as bytes', j.profile USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.verify IS NOT NULL AND j.verify NOT IN ('jaccard', 'edit_rate') THEN
    RAISE EXCEPTION 'verify must be ''jaccard'' or ''edit_rate'': %', quote_literal(j.verify) USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.verify IS NOT NULL AND j.body IS NULL THEN
    RAISE EXCEPTION 'verify needs body: documents are compared' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.verify IS NULL AND j.verify_threshold IS NOT NULL THEN
    RAISE EXCEPTION 'verify_threshold is given without verify' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF NOT (j.verify_threshold > 0::float8 AND j.verify_threshold <= 1::float8) THEN
    RAISE EXCEPTION 'verify_threshold must be above 0 and at most 1: %', j.verify_threshold USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF (j.at IS NULL) <> (j.at_most_apart IS NULL) THEN
    RAISE EXCEPTION 'at and at_most_apart must be given together' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.at_most_apart < interval '0' THEN
    RAISE EXCEPTION 'at_most_apart must not be negative: %', j.at_most_apart USING ERRCODE = 'invalid_parameter_value';
  END IF;
  kind := @extschema@.neardup_job_kind(j);
  IF j.verify IS NOT NULL AND j.verify_threshold IS NULL AND (kind, j.verify) NOT IN (('minhash', 'jaccard'), ('ctph', 'edit_rate')) THEN
    RAISE EXCEPTION 'verify => ''%'' over % signatures needs verify_threshold', j.verify, kind USING ERRCODE = 'invalid_parameter_value',
      DETAIL = 'Nothing is known about how far one follows the other: threshold is for the signatures, verify_threshold for the documents.';
  END IF;
  PERFORM @extschema@.neardup_check_order(@extschema@.neardup_job_column(j.source, j.id, 'id'), pg_catalog.format('id column "%s"', j.id));
  FOR i IN 1 .. COALESCE(pg_catalog.array_length(j.within, 1), 0) LOOP
    PERFORM @extschema@.neardup_check_order(@extschema@.neardup_job_column(j.source, j.within[i], 'within'), pg_catalog.format('within column "%s"', j.within[i]));
  END LOOP;
  IF j.order_by IS NOT NULL THEN
    PERFORM @extschema@.neardup_check_order(@extschema@.neardup_expression_type(j.source, j.order_by), pg_catalog.format('order_by => %L', j.order_by));
  END IF;
  IF j.filter IS NOT NULL THEN PERFORM @extschema@.neardup_check_condition(j.source, j.filter, 'filter'); END IF;
  IF j.deleted IS NOT NULL THEN PERFORM @extschema@.neardup_check_condition(j.source, j.deleted, 'deleted'); END IF;
  IF j.at IS NOT NULL AND @extschema@.neardup_job_column(j.source, j.at, 'at')::oid NOT IN
     ('timestamptz'::regtype::oid, 'timestamp'::regtype::oid, 'date'::regtype::oid) THEN
    RAISE EXCEPTION 'column "%" is no timestamp or date: at', j.at USING ERRCODE = 'datatype_mismatch';
  END IF;
  PERFORM @extschema@.neardup_job_rows(j);
END $$;
COMMENT ON FUNCTION neardup_check_job(neardup_job) IS 'private: raises an error for a job that cannot be';

CREATE FUNCTION neardup_check_condition(source regclass, condition text, what text) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t regtype := @extschema@.neardup_expression_type(source, condition);
BEGIN
  IF t::oid <> 'boolean'::regtype::oid THEN
    RAISE EXCEPTION '% must be a condition: "%" is %', what, condition, t USING ERRCODE = 'datatype_mismatch';
  END IF;
END $$;
COMMENT ON FUNCTION neardup_check_condition(regclass, text, text) IS 'private: raises an error for what is no condition over one table';

-- What a job is to be, before it is made: j as create_duplicates() has put it together.
CREATE FUNCTION neardup_new_job(j neardup_job) RETURNS neardup_job LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF j.source IS NULL OR j.id IS NULL THEN
    RAISE EXCEPTION 'source and id must not be NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  j.within := COALESCE(j.within, '{}');
  j.resync := false; j.recluster := true; j.refresh := 0; j.clustered := 0; j.next_cluster := 1;
  j.paused := false; j.phase := 'new';
  IF j.body IS NOT NULL THEN
    j.profile_version := (@extschema@.neardup_profile_named(j.profile)).version;
    j.body_type := @extschema@.neardup_job_column(j.source, j.body, 'body'::text);
  ELSE
    j.profile := NULL;
  END IF;
  PERFORM @extschema@.neardup_check_job(j);
  IF j.within && ARRAY['id', 'cluster', 'representative', 'similarity', 'survivor', 'found_at']::name[] THEN
    RAISE EXCEPTION 'within columns are columns of the result: none can be called id, cluster, representative, similarity, survivor or found_at'
      USING ERRCODE = 'duplicate_column';
  END IF;
  RETURN j;
END $$;
COMMENT ON FUNCTION neardup_new_job(neardup_job) IS 'private: a job that can be made; an error for what cannot';

-- The tables of a job: named[1] is their schema, named[2] the name of the result.
CREATE FUNCTION neardup_make_job(named text[], given_name text, j neardup_job) RETURNS regclass LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  path text := format('%I.%I', named[1], named[2] || '_job');
  result text := format('%I.%I', named[1], named[2]);
  changes text := format('%I.%I', named[1], named[2] || '_changes');
  job regclass;
BEGIN
  BEGIN
    EXECUTE format('CREATE TABLE %s OF @extschema@.neardup_job', path);
  EXCEPTION WHEN duplicate_table OR duplicate_object OR unique_violation THEN
    IF NOT @extschema@.neardup_made_meanwhile(path) THEN RAISE; END IF;
    RAISE EXCEPTION 'relation % exists already', path USING ERRCODE = 'duplicate_table',
      HINT = 'drop_duplicates() drops a table of duplicates with its job; or choose another name.';
  END;
  job := @extschema@.neardup_made_here(path);
  -- a publication of all tables lets none be updated that has no key
  EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', path);
  EXECUTE format('CREATE TABLE %s AS SELECT id, NULL::bigint AS cluster, id AS representative, NULL::float8 AS similarity,
                  NULL::boolean AS survivor, NULL::timestamptz AS found_at%s FROM (%s) l WITH NO DATA', result,
                 (SELECT string_agg(format(', within_%s AS %I', i, j.within[i]), '' ORDER BY i) FROM generate_series(1, array_length(j.within, 1)) i),
                 @extschema@.neardup_job_rows(j));
  j.result := @extschema@.neardup_made_here(result);
  EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (id), ALTER cluster SET NOT NULL, ALTER representative SET NOT NULL,
                  ALTER survivor SET NOT NULL, ALTER found_at SET NOT NULL', result);
  EXECUTE format('CREATE INDEX ON %s (cluster)', result);
  EXECUTE format('COMMENT ON TABLE %s IS %L', result,
                 format('near duplicates among the rows of %s, kept by refresh_duplicates(%L)', j.source, given_name));
  EXECUTE format('CREATE TABLE %s (refresh bigint NOT NULL, at timestamptz NOT NULL DEFAULT now(), change text NOT NULL,
                  cluster bigint NOT NULL, other bigint)', changes);
  j.changes := @extschema@.neardup_made_here(changes);
  j.signatures := @extschema@.neardup_create_signatures(format('%I.%I', named[1], named[2] || '_signatures'), j);
  EXECUTE format('INSERT INTO %s SELECT ($1).*', path) USING j;
  PERFORM @extschema@.neardup_job_tables(job);
  RETURN j.result;
END $$;
COMMENT ON FUNCTION neardup_make_job(text[], text, neardup_job) IS 'private: makes the tables of a job';

-- Names and expressions mean here what they mean to the caller; what follows has pg_catalog as its search_path.
CREATE FUNCTION create_duplicates(name text, source regclass, id name, body name = NULL, signature name = NULL,
    threshold float8 = 0.8, profile text = 'default', linkage text = 'anchor', verify text = NULL,
    verify_threshold float8 = NULL, keep text = 'oldest', order_by text = NULL, within name[] = '{}', at name = NULL,
    at_most_apart interval = NULL, filter text = NULL, deleted text = NULL) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
  j @extschema@.neardup_job;
  named pg_catalog.text[] := @extschema@.neardup_new_name(name, 'a table of duplicates'::pg_catalog.text, 52);
BEGIN
  j.source := source; j.id := id; j.body := body; j.signature := signature; j.threshold := threshold;
  j.profile := @extschema@.neardup_profile_path(profile); j.linkage := linkage;
  j.verify := verify; j.verify_threshold := verify_threshold; j.keep := keep;
  j.within := within; j.at := at; j.at_most_apart := at_most_apart;
  j.order_by := @extschema@.neardup_expression(source, order_by);
  j.filter := @extschema@.neardup_expression(source, filter);
  j.deleted := @extschema@.neardup_expression(source, deleted);
  j.qualified := true;
  RETURN @extschema@.neardup_make_job(named, name, @extschema@.neardup_new_job(j));
END $$;
COMMENT ON FUNCTION create_duplicates(text, regclass, name, name, name, float8, text, text, text, float8, text, text, name[], name, interval, text, text) IS
  'makes a table of duplicates among the rows of a table or view, empty until refresh_duplicates() fills it';

CREATE FUNCTION neardup_create_signatures(path text, j neardup_job) RETURNS regclass LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  signatures regclass;
BEGIN
  EXECUTE format('CREATE TABLE %s AS SELECT id, NULL::@extschema@.%I AS signature, NULL::uuid AS content, origin, place, version, key%s%s, 0::bigint AS generation, false AS gone
                  FROM (%s) l WITH NO DATA',
    path, @extschema@.neardup_job_kind(j),
    (SELECT string_agg(format(', within_%s', i), '' ORDER BY i) FROM generate_series(1, array_length(j.within, 1)) i),
    CASE WHEN j.at IS NOT NULL THEN ', at' END, @extschema@.neardup_job_rows(j));
  signatures := @extschema@.neardup_made_here(path);
  EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (id)', path);
  EXECUTE format('CREATE INDEX ON %s (generation)', path);
  RETURN signatures;
END $$;
COMMENT ON FUNCTION neardup_create_signatures(text, neardup_job) IS 'private: the table of what a job knows of each row';

-- The table itself stays, and what has been granted on it.
CREATE FUNCTION neardup_clear_signatures(job regclass, j neardup_job) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  kind text := @extschema@.neardup_job_kind(j);
BEGIN
  PERFORM @extschema@.neardup_drop('INDEX', VARIADIC @extschema@.neardup_job_indexes(job));
  EXECUTE pg_catalog.format('TRUNCATE %s', signatures);
  EXECUTE pg_catalog.format('ALTER TABLE %s ALTER signature TYPE @extschema@.%I USING NULL', signatures, kind);
END $$;
COMMENT ON FUNCTION neardup_clear_signatures(regclass, neardup_job) IS 'private: forgets all signatures of a job; the next are of the kind that it says';

-- Expressions of a job that 0.2.0 made, or whose source has other columns now, in the caller's search_path.
CREATE FUNCTION neardup_qualified(j neardup_job) RETURNS neardup_job LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF j.qualified THEN RETURN j; END IF;
  j.order_by := @extschema@.neardup_expression(j.source, j.order_by);
  j.filter := @extschema@.neardup_expression(j.source, j.filter);
  j.deleted := @extschema@.neardup_expression(j.source, j.deleted);
  j.qualified := true;
  RETURN j;
END $$;
COMMENT ON FUNCTION neardup_qualified(neardup_job) IS 'private: a job whose expressions mean the same under any search_path';

-- '' takes an expression away.
CREATE FUNCTION neardup_new_expression(source regclass, expression text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE WHEN pg_catalog.texteq(expression, '') THEN expression ELSE @extschema@.neardup_expression(source, expression) END;
END $$;
COMMENT ON FUNCTION neardup_new_expression(regclass, text) IS 'private: an expression that alter_duplicates() was given';

-- j: what was given, NULL what was not; profile with its schema.
CREATE FUNCTION neardup_alter_job(job regclass, old neardup_job, given neardup_job) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  j @extschema@.neardup_job := old;
  kind text;
BEGIN
  SELECT y.typname INTO kind FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
    WHERE a.attrelid = @extschema@.neardup_job_part(job, '_signatures'::text)::regclass::oid AND a.attname = 'signature';
  j.threshold := COALESCE(given.threshold, j.threshold); j.profile := COALESCE(given.profile, j.profile); j.linkage := COALESCE(given.linkage, j.linkage);
  j.verify := NULLIF(COALESCE(given.verify, j.verify), '');
  j.verify_threshold := CASE WHEN j.verify IS NOT NULL THEN COALESCE(given.verify_threshold, j.verify_threshold) ELSE given.verify_threshold END;
  j.keep := COALESCE(given.keep, j.keep);
  j.order_by := NULLIF(COALESCE(given.order_by, CASE WHEN j.keep = 'oldest' THEN j.order_by END), '');
  j.at_most_apart := COALESCE(given.at_most_apart, j.at_most_apart); j.filter := NULLIF(COALESCE(given.filter, j.filter), '');
  j.deleted := NULLIF(COALESCE(given.deleted, j.deleted), ''); j.id := COALESCE(given.id, j.id); j.at := COALESCE(given.at, j.at);
  j.body := COALESCE(given.body, j.body); j.signature := COALESCE(given.signature, j.signature);
  IF (j.at IS NULL) <> (old.at IS NULL) THEN
    RAISE EXCEPTION 'at can be given another column, but not be added: drop the job and create it anew' USING ERRCODE = 'feature_not_supported';
  END IF;
  IF j.body IS NOT NULL THEN
    j.profile_version := (@extschema@.neardup_profile_named(j.profile)).version;
    j.body_type := @extschema@.neardup_job_column(j.source, j.body, 'body'::text);
  END IF;
  PERFORM @extschema@.neardup_check_job(j);
  j.recluster := true;
  j.resync := j.resync OR (j.id, j.body, j.signature, j.at, j.keep, j.order_by, j.profile, j.profile_version)
                          IS DISTINCT FROM (old.id, old.body, old.signature, old.at, old.keep, old.order_by, old.profile, old.profile_version);
  EXECUTE format('DELETE FROM %s', @extschema@.neardup_job_part(job, '_job'::text));
  EXECUTE format('INSERT INTO %s SELECT ($1).*', @extschema@.neardup_job_part(job, '_job'::text)) USING j;
  -- signatures of two kinds cannot be compared; the refresh sees to the types of keys
  IF (j.profile, j.profile_version, j.body_type::oid, @extschema@.neardup_job_kind(j))
     IS DISTINCT FROM (old.profile, old.profile_version, old.body_type::oid, kind) THEN
    PERFORM @extschema@.neardup_clear_signatures(job, j);
  ELSE
    PERFORM @extschema@.neardup_drop('INDEX'::text, VARIADIC @extschema@.neardup_job_indexes(job));
  END IF;
END $$;
COMMENT ON FUNCTION neardup_alter_job(regclass, neardup_job, neardup_job) IS 'private: alter_duplicates()';

-- The row is made anew: nobody may change it meanwhile.
CREATE FUNCTION neardup_locked_row(job regclass) RETURNS neardup_job LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM @extschema@.neardup_demand_owner(job);
  PERFORM @extschema@.neardup_job_tables(job);
  EXECUTE format('SELECT FROM %s FOR UPDATE', @extschema@.neardup_job_part(job, '_job'::text));
  RETURN @extschema@.neardup_job_row(job);
END $$;
COMMENT ON FUNCTION neardup_locked_row(regclass) IS 'private: the row of a job, locked';

CREATE FUNCTION alter_duplicates(name text, threshold float8 = NULL, profile text = NULL, linkage text = NULL, verify text = NULL,
    verify_threshold float8 = NULL, keep text = NULL, order_by text = NULL, at_most_apart interval = NULL, filter text = NULL,
    deleted text = NULL, id name = NULL, body name = NULL, signature name = NULL, at name = NULL) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  job pg_catalog.regclass := @extschema@.neardup_locked_job(name);
  old @extschema@.neardup_job := @extschema@.neardup_locked_row(job);
  given @extschema@.neardup_job;
BEGIN
  given.threshold := threshold; given.profile := @extschema@.neardup_profile_path(profile); given.linkage := linkage; given.verify := verify;
  given.verify_threshold := verify_threshold; given.keep := keep; given.at_most_apart := at_most_apart;
  given.order_by := @extschema@.neardup_new_expression(old.source, order_by);
  given.filter := @extschema@.neardup_new_expression(old.source, filter);
  given.deleted := @extschema@.neardup_new_expression(old.source, deleted);
  given.id := id; given.body := body; given.signature := signature; given.at := at;
  PERFORM @extschema@.neardup_alter_job(job, @extschema@.neardup_qualified(old), given);
END $$;
COMMENT ON FUNCTION alter_duplicates(text, float8, text, text, text, float8, text, text, interval, text, text, name, name, name, name) IS
  'changes what is given; '''' takes verify, order_by, filter or deleted away. The next refresh clusters all rows';

CREATE FUNCTION neardup_drop_job(job regclass) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t record;
BEGIN
  SELECT * INTO t FROM @extschema@.neardup_job_tables(job);
  PERFORM @extschema@.neardup_drop_tables(array_remove(ARRAY[t.result, t.signatures, t.changes, job]::oid[], NULL));
END $$;
COMMENT ON FUNCTION neardup_drop_job(regclass) IS 'private: drops a job and the tables that belong to it';

CREATE FUNCTION drop_duplicates(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM @extschema@.neardup_drop_job(@extschema@.neardup_locked_job(name));
END $$;
COMMENT ON FUNCTION drop_duplicates(text) IS 'drops a table of duplicates with its job, signatures and history';

CREATE FUNCTION neardup_pause_job(job regclass, paused boolean) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  n bigint := 0;
BEGIN
  PERFORM @extschema@.neardup_demand_owner(job);
  -- again where alter_duplicates() has just put another row in its place
  FOR i IN 1 .. 3 LOOP
    EXECUTE format('UPDATE %s SET paused = $1', @extschema@.neardup_job_part(job, '_job'::text)) USING paused;
    GET DIAGNOSTICS n = ROW_COUNT;
    EXIT WHEN n > 0;
  END LOOP;
  IF n = 0 THEN RAISE EXCEPTION 'job % has no row', job USING ERRCODE = 'data_exception'; END IF;
END $$;
COMMENT ON FUNCTION neardup_pause_job(regclass, boolean) IS 'private: pause_duplicates()';

CREATE FUNCTION pause_duplicates(name text, paused boolean = true) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM @extschema@.neardup_pause_job(@extschema@.neardup_job_table(name), paused);
END $$;
COMMENT ON FUNCTION pause_duplicates(text, boolean) IS
  'a paused job is not refreshed, and a refresh that runs stops after its batch; paused => false goes on';

CREATE FUNCTION neardup_rename_job(job regclass, named text[]) RETURNS regclass LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  r record;
BEGIN
  FOR r IN SELECT x.relation, named[1] || x.suffix AS name FROM @extschema@.neardup_job_tables(job) t,
             LATERAL (VALUES (t.result, ''), (t.signatures, '_signatures'), (t.changes, '_changes'), (job, '_job')) x(relation, suffix)
           WHERE x.relation IS NOT NULL LOOP
    EXECUTE format('ALTER TABLE %s RENAME TO %I', r.relation, r.name);
    IF NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = r.relation AND c.relname = r.name) THEN
      RAISE EXCEPTION 'the schema of the tables was renamed concurrently' USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
  END LOOP;
  RETURN (@extschema@.neardup_job_tables(job)).result;
END $$;
COMMENT ON FUNCTION neardup_rename_job(regclass, text[]) IS 'private: renames the tables of a job';

-- The new name of a job, without a schema.
CREATE FUNCTION neardup_plain_name(name text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  named text[] := parse_ident(name);
BEGIN
  IF array_length(named, 1) > 1 THEN
    RAISE EXCEPTION 'the new name has no schema: %', name USING ERRCODE = 'invalid_name', HINT = 'ALTER TABLE .. SET SCHEMA moves a table.';
  END IF;
  IF octet_length(named[1]) > 52 THEN
    RAISE EXCEPTION 'the name of a table of duplicates has at most 52 bytes: % has %', named[1], octet_length(named[1]) USING ERRCODE = 'name_too_long';
  END IF;
  IF named IS NULL THEN RAISE EXCEPTION 'name must not be NULL' USING ERRCODE = 'null_value_not_allowed'; END IF;
  RETURN named;
END $$;
COMMENT ON FUNCTION neardup_plain_name(text) IS 'private: the new name of a job';

CREATE FUNCTION rename_duplicates(old text, new text) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
  named pg_catalog.text[] := @extschema@.neardup_plain_name(new);
BEGIN
  RETURN @extschema@.neardup_rename_job(@extschema@.neardup_locked_job(old), named);
END $$;
COMMENT ON FUNCTION rename_duplicates(text, text) IS 'renames a table of duplicates and all that belongs to it';
