-- Jobs: a maintained table of duplicates -----------------------------------------------------------------------------
-- A job is the one row of a table of type neardup_job, <name>_job. Beside it, all of them its owner's:
--   <name>             the result, a row for each row of the source
--   <name>_signatures  what each row was when it was last signed
--   <name>_changes     what has become of clusters
-- Nothing here runs with other rights than the caller's.

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
  system bigint);         -- of the server that the places and versions of rows are of; NULL: not listed yet, or by 0.1.0
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
CREATE FUNCTION neardup_search_threshold(signature minhash, threshold float8) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_search_threshold(minhash, float8) IS
  'least similarity of signatures by which 999 of 1000 pairs of documents of Jaccard similarity >= threshold are found';

CREATE FUNCTION neardup_raise(state text, message text, detail text, hint text) RETURNS void LANGUAGE plpgsql AS $$
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

-- schema and name, quoted where they must be, of what belongs to a job: suffix '', '_signatures', '_changes', '_job'.
CREATE FUNCTION neardup_job_part(job regclass, suffix text) RETURNS text LANGUAGE sql STABLE STRICT AS $$
  SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(pg_catalog.left(c.relname, -4) || suffix)
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = job::oid
  $$;
COMMENT ON FUNCTION neardup_job_part(regclass, text) IS 'private: qualified name of one of a job''s tables';

-- PostgreSQL names the index: a name made of the job's might have more than 63 bytes.
CREATE FUNCTION neardup_job_indexes(job regclass) RETURNS text[] LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
  SELECT COALESCE(array_agg(quote_ident(n.nspname) || '.' || quote_ident(c.relname)), '{}')
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE i.indrelid = to_regclass(@extschema@.neardup_job_part(job, '_signatures'))
    AND c.relam = (SELECT m.oid FROM pg_am m WHERE m.amname = 'lsh')
  $$;
COMMENT ON FUNCTION neardup_job_indexes(regclass) IS 'private: qualified names of the lsh indexes of a job''s signatures';

CREATE FUNCTION neardup_drop(kind text, VARIADIC names text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  t text;
BEGIN
  FOREACH t IN ARRAY names LOOP
    IF to_regclass(t) IS NOT NULL THEN EXECUTE pg_catalog.format('DROP %s %s', kind, t); END IF;
  END LOOP;
END $$;
COMMENT ON FUNCTION neardup_drop(text, text[]) IS 'private: drops those that there are';

CREATE FUNCTION neardup_job_table(name text) RETURNS regclass LANGUAGE plpgsql STABLE AS $$
DECLARE
  at text[] := pg_catalog.parse_ident(name);
  t regclass;
BEGIN
  at[pg_catalog.array_length(at, 1)] := at[pg_catalog.array_length(at, 1)] || '_job';
  t := to_regclass((SELECT string_agg(quote_ident(x), '.' ORDER BY n) FROM pg_catalog.unnest(at) WITH ORDINALITY u(x, n)));
  IF t IS NULL OR (SELECT c.reloftype FROM pg_class c WHERE c.oid = t::oid AND c.relkind = 'r') IS DISTINCT FROM '@extschema@.neardup_job'::regtype::oid THEN
    RAISE EXCEPTION 'there is no table of duplicates "%"', name USING ERRCODE = 'undefined_table',
      HINT = 'SELECT job FROM @extschema@.duplicates_status lists them; create_duplicates() makes one.';
  END IF;
  RETURN t;
END $$;
COMMENT ON FUNCTION neardup_job_table(text) IS 'private: the table of a job';

-- The same, under the lock of neardup_lock_job(). Another session may drop or rename the job before that is ours, and a name comes out of
-- a cache, which a lock of the table brings up to date: without it drop_duplicates() dropped what had another name by then.
CREATE FUNCTION neardup_locked_job(name text) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
  job regclass;
BEGIN
  LOOP
    job := @extschema@.neardup_job_table(name);
    BEGIN
      PERFORM @extschema@.neardup_lock_job(job);
      EXECUTE pg_catalog.format('LOCK TABLE %s IN ROW SHARE MODE', job);
      EXIT WHEN @extschema@.neardup_job_table(name)::oid = job::oid;
    EXCEPTION WHEN undefined_table OR syntax_error THEN  -- the name of one that was dropped may be a number by then
      CONTINUE;
    END;
  END LOOP;
  RETURN job;
END $$;
COMMENT ON FUNCTION neardup_locked_job(text) IS 'private: the table of a job, with refreshes and other changes kept away until the transaction ends';

CREATE FUNCTION neardup_job_row(job regclass) RETURNS neardup_job LANGUAGE plpgsql STABLE AS $$
DECLARE
  j @extschema@.neardup_job;
BEGIN
  EXECUTE pg_catalog.format('SELECT * FROM %s', job) INTO j;
  RETURN j;
END $$;
COMMENT ON FUNCTION neardup_job_row(regclass) IS 'private: the row of a job';

-- The source ---------------------------------------------------------------------------------------------------------

-- Type of a column that a job names; of a domain that below it.
CREATE FUNCTION neardup_job_column(source regclass, col name, what text) RETURNS regtype LANGUAGE plpgsql STABLE AS $$
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
  WHILE (SELECT y.typtype = 'd' FROM pg_type y WHERE y.oid = t::oid) LOOP
    SELECT y.typbasetype INTO t FROM pg_type y WHERE y.oid = t::oid;
  END LOOP;
  RETURN t;
END $$;
COMMENT ON FUNCTION neardup_job_column(regclass, name, text) IS 'private: type of a column that a job names';

-- minhash, simhash or ctph
CREATE FUNCTION neardup_job_kind(j neardup_job) RETURNS text LANGUAGE plpgsql STABLE AS $$
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
CREATE FUNCTION neardup_job_key(j neardup_job) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE j.keep
    WHEN 'longest' THEN pg_catalog.format('pg_catalog.octet_length(%I)', j.body)
    WHEN 'best' THEN pg_catalog.format('@extschema@.neardup_text_score(%s)',
                            @extschema@.neardup_document_sql(@extschema@.neardup_profile_named(j.profile), j.body_type, pg_catalog.quote_ident(j.body)))
    ELSE COALESCE('(' || j.order_by || E'\n)', pg_catalog.quote_ident(j.at), pg_catalog.quote_ident(j.id)) END
  $$;
COMMENT ON FUNCTION neardup_job_key(neardup_job) IS 'private: what the rows of a cluster are kept by';

-- Whether place and version of a row tell that it has changed: of tables that lie here, whole. Rows of a foreign partition
-- have no version, and their place is one on another server, where a later row may lie.
CREATE FUNCTION neardup_job_stored(source regclass) RETURNS boolean LANGUAGE sql STABLE AS $$
  WITH RECURSIVE part AS (SELECT source::oid AS oid UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN part ON i.inhparent = part.oid)
  SELECT bool_and(c.relkind IN ('r', 'p', 'm')) FROM part JOIN pg_catalog.pg_class c ON c.oid = part.oid
  $$;
COMMENT ON FUNCTION neardup_job_stored(regclass) IS 'private: whether place and version of its rows tell what has changed; NULL where there is no such relation';

-- Rows that a job looks at: id, origin, place and version, which tell that a row has changed where the source is a table,
-- key (what it is kept by), within_1 .., at, body (the document, or the signature itself). A row that this very transaction
-- wrote has no version: it may write it again, and VACUUM FULL then put it where it was. The age of a very old one is negative, too, but far.
CREATE FUNCTION neardup_job_rows(j neardup_job) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  stored boolean := @extschema@.neardup_job_stored(j.source);
  within text := '';
  body_type regtype;
BEGIN
  IF stored IS NULL THEN
    RAISE EXCEPTION 'the source of the job has been dropped' USING ERRCODE = 'undefined_table',
      HINT = 'drop_duplicates() drops the job.';
  END IF;
  PERFORM @extschema@.neardup_job_column(j.source, j.id, 'id');
  IF j.body IS NOT NULL THEN
    body_type := @extschema@.neardup_job_column(j.source, j.body, 'body');
    IF body_type::oid NOT IN ('text'::regtype::oid, 'varchar'::regtype::oid, 'bytea'::regtype::oid) THEN
      RAISE EXCEPTION 'body column "%" is %, not text or bytea', j.body, body_type USING ERRCODE = 'datatype_mismatch';
    END IF;
  END IF;
  FOR i IN 1 .. COALESCE(pg_catalog.array_length(j.within, 1), 0) LOOP
    PERFORM @extschema@.neardup_job_column(j.source, j.within[i], 'within');
    within := within || pg_catalog.format(', %I AS within_%s', j.within[i], i);
  END LOOP;
  IF j.at IS NOT NULL THEN PERFORM @extschema@.neardup_job_column(j.source, j.at, 'at'); END IF;
  RETURN pg_catalog.format('SELECT %I AS id, %s, %s AS key%s%s, %I AS body FROM %s WHERE true%s%s',
    j.id, CASE WHEN stored THEN 'tableoid AS origin, ctid AS place, CASE WHEN pg_catalog.age(xmin) NOT BETWEEN -1000000000 AND 0 THEN xmin END AS version'
               ELSE 'NULL::oid AS origin, NULL::tid AS place, NULL::xid AS version' END,
    @extschema@.neardup_job_key(j), within, CASE WHEN j.at IS NOT NULL THEN pg_catalog.format(', %I AS at', j.at) END, COALESCE(j.body, j.signature), j.source,
    COALESCE(' AND (' || j.filter || E'\n)', ''), COALESCE(' AND (' || j.deleted || E'\n) IS NOT TRUE', ''));
END $$;
COMMENT ON FUNCTION neardup_job_rows(neardup_job) IS 'private: the query of the rows that a job looks at';

CREATE FUNCTION neardup_job_hash(j neardup_job, kind text, value text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN j.body IS NOT NULL THEN pg_catalog.format('@extschema@.neardup_content_hash(%s)', value)
         ELSE pg_catalog.format('@extschema@.neardup_content_hash(@extschema@.%s_send(%s))', kind, value) END
  $$;
COMMENT ON FUNCTION neardup_job_hash(neardup_job, text, text) IS 'private: what tells one content from another';

-- True where a.x differs from b.x for one of a job's columns beside the content.
CREATE FUNCTION neardup_job_differs(j neardup_job, a text, b text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT '(' || string_agg(pg_catalog.format('%s.%s IS DISTINCT FROM %s.%s', a, c, b, c), ' OR ') || ')'
  FROM (SELECT 'key' AS c UNION ALL SELECT 'within_' || i::text FROM generate_series(1, pg_catalog.array_length(j.within, 1)) i
        UNION ALL SELECT 'at' WHERE j.at IS NOT NULL) x
  $$;
COMMENT ON FUNCTION neardup_job_differs(neardup_job, text, text) IS 'private: condition that two versions of a row differ';

-- Making, changing, dropping -----------------------------------------------------------------------------------------

CREATE FUNCTION neardup_check_order(t regtype, what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_opclass o JOIN pg_am m ON m.oid = o.opcmethod AND m.amname = 'btree'
                 WHERE o.opcdefault AND (o.opcintype = t::oid OR t::oid IN (SELECT c.castsource FROM pg_cast c
                       WHERE c.casttarget = o.opcintype AND c.castmethod = 'b' AND c.castcontext = 'i')
                   OR (o.opcintype, (SELECT typtype FROM pg_type WHERE oid = t::oid)) IN
                      (('anyenum'::regtype::oid, 'e'), ('anyrange'::regtype::oid, 'r'), ('anymultirange'::regtype::oid, 'm'), ('record'::regtype::oid, 'c'))
                   OR (o.opcintype = 'anyarray'::regtype::oid AND (SELECT typcategory FROM pg_type WHERE oid = t::oid) = 'A'))) THEN
    RAISE EXCEPTION '% is %, which has no order', what, t USING ERRCODE = 'datatype_mismatch';
  END IF;
END $$;
COMMENT ON FUNCTION neardup_check_order(regtype, text) IS 'private: raises an error for a type whose values cannot be compared';

CREATE FUNCTION neardup_check_job(j neardup_job) RETURNS void LANGUAGE plpgsql AS $$
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

CREATE FUNCTION neardup_check_condition(source regclass, condition text, what text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  t regtype := @extschema@.neardup_expression_type(source, condition);
BEGIN
  IF t::oid <> 'boolean'::regtype::oid THEN
    RAISE EXCEPTION '% must be a condition: "%" is %', what, condition, t USING ERRCODE = 'datatype_mismatch';
  END IF;
END $$;
COMMENT ON FUNCTION neardup_check_condition(regclass, text, text) IS 'private: raises an error for what is no condition over one table';

CREATE FUNCTION create_duplicates(name text, source regclass, id name, body name = NULL, signature name = NULL,
    threshold float8 = 0.8, profile text = 'default', linkage text = 'anchor', verify text = NULL,
    verify_threshold float8 = NULL, keep text = 'oldest', order_by text = NULL, within name[] = '{}', at name = NULL,
    at_most_apart interval = NULL, filter text = NULL, deleted text = NULL) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
  j @extschema@.neardup_job;
  named text[] := pg_catalog.parse_ident(name);
  base text := named[pg_catalog.array_length(named, 1)];
  schema text := COALESCE(CASE WHEN pg_catalog.array_length(named, 1) = 2 THEN named[1] END, current_schema());
  job regclass;
BEGIN
  IF pg_catalog.array_length(named, 1) > 2 THEN
    RAISE EXCEPTION 'the name of a table of duplicates is a name or schema.name: %', name USING ERRCODE = 'invalid_name';
  END IF;
  IF octet_length(base) > 52 THEN
    RAISE EXCEPTION 'the name of a table of duplicates has at most 52 bytes: % has %', base, octet_length(base)
      USING ERRCODE = 'name_too_long', DETAIL = pg_catalog.format('%s_signatures must be a name, too.', base);
  END IF;
  IF source IS NULL OR id IS NULL THEN
    RAISE EXCEPTION 'source and id must not be NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF schema IS NULL THEN
    RAISE EXCEPTION 'no schema has been selected to create in' USING ERRCODE = 'invalid_schema_name';
  END IF;
  j.source := source; j.id := id; j.body := body; j.signature := signature; j.threshold := threshold;
  j.profile := CASE WHEN body IS NOT NULL THEN profile END; j.linkage := linkage;
  j.verify := verify; j.verify_threshold := verify_threshold; j.keep := keep; j.order_by := order_by;
  j.within := COALESCE(within, '{}'); j.at := at; j.at_most_apart := at_most_apart; j.filter := filter; j.deleted := deleted;
  j.resync := false; j.recluster := true; j.refresh := 0; j.clustered := 0; j.next_cluster := 1;
  j.paused := false; j.phase := 'new';
  IF body IS NOT NULL THEN
    j.profile_version := (@extschema@.neardup_profile_named(profile)).version;
    j.profile := @extschema@.neardup_profile_path(profile);
    j.body_type := @extschema@.neardup_job_column(source, body, 'body');
  END IF;
  PERFORM @extschema@.neardup_check_job(j);
  IF j.within OPERATOR(pg_catalog.&&) ARRAY['id', 'cluster', 'representative', 'similarity', 'survivor', 'found_at']::name[] THEN
    RAISE EXCEPTION 'within columns are columns of the result: none can be called id, cluster, representative, similarity, survivor or found_at'
      USING ERRCODE = 'duplicate_column';
  END IF;
  BEGIN
    EXECUTE pg_catalog.format('CREATE TABLE %I.%I OF @extschema@.neardup_job', schema, base || '_job');
  EXCEPTION WHEN duplicate_table OR duplicate_object OR unique_violation THEN
    IF NOT @extschema@.neardup_made_meanwhile(pg_catalog.format('%I.%I', schema, base || '_job')) THEN RAISE; END IF;
    RAISE EXCEPTION 'relation % exists already', pg_catalog.format('%I.%I', schema, base || '_job') USING ERRCODE = 'duplicate_table',
      HINT = 'drop_duplicates() drops a table of duplicates with its job; or choose another name.';
  END;
  -- a publication of all tables lets none be updated that has no key
  EXECUTE pg_catalog.format('ALTER TABLE %I.%I REPLICA IDENTITY FULL', schema, base || '_job');
  job := pg_catalog.format('%I.%I', schema, base || '_job')::regclass;
  EXECUTE pg_catalog.format('INSERT INTO %s SELECT ($1).*', job) USING j;
  EXECUTE pg_catalog.format('CREATE TABLE %s AS SELECT id, NULL::bigint AS cluster, id AS representative, NULL::float8 AS similarity,
                  NULL::boolean AS survivor, NULL::timestamptz AS found_at%s FROM (%s) l WITH NO DATA', @extschema@.neardup_job_part(job, ''),
                 (SELECT string_agg(pg_catalog.format(', within_%s AS %I', i, j.within[i]), '' ORDER BY i) FROM generate_series(1, pg_catalog.array_length(j.within, 1)) i),
                 @extschema@.neardup_job_rows(j));
  EXECUTE pg_catalog.format('ALTER TABLE %s ADD PRIMARY KEY (id), ALTER cluster SET NOT NULL, ALTER representative SET NOT NULL,
                  ALTER survivor SET NOT NULL, ALTER found_at SET NOT NULL', @extschema@.neardup_job_part(job, ''));
  EXECUTE pg_catalog.format('CREATE INDEX ON %s (cluster)', @extschema@.neardup_job_part(job, ''));
  EXECUTE pg_catalog.format('COMMENT ON TABLE %s IS %L', @extschema@.neardup_job_part(job, ''),
                 pg_catalog.format('near duplicates among the rows of %s, kept by refresh_duplicates(%L)', source, name));
  EXECUTE pg_catalog.format('CREATE TABLE %s (refresh bigint NOT NULL, at timestamptz NOT NULL DEFAULT now(), change text NOT NULL,
                  cluster bigint NOT NULL, other bigint)', @extschema@.neardup_job_part(job, '_changes'));
  PERFORM @extschema@.neardup_make_signatures(job, j);
  RETURN @extschema@.neardup_job_part(job, '')::regclass;
END $$;
COMMENT ON FUNCTION create_duplicates(text, regclass, name, name, name, float8, text, text, text, float8, text, text, name[], name, interval, text, text) IS
  'makes a table of duplicates among the rows of a table or view, empty until refresh_duplicates() fills it';

CREATE FUNCTION neardup_make_signatures(job regclass, j neardup_job) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
BEGIN
  EXECUTE pg_catalog.format('CREATE TABLE %s AS SELECT id, NULL::@extschema@.%I AS signature, NULL::uuid AS content, origin, place, version, key%s%s, 0::bigint AS generation, false AS gone
                  FROM (%s) l WITH NO DATA',
    signatures, @extschema@.neardup_job_kind(j),
    (SELECT string_agg(pg_catalog.format(', within_%s', i), '' ORDER BY i) FROM generate_series(1, pg_catalog.array_length(j.within, 1)) i),
    CASE WHEN j.at IS NOT NULL THEN ', at' END, @extschema@.neardup_job_rows(j));
  EXECUTE pg_catalog.format('ALTER TABLE %s ADD PRIMARY KEY (id)', signatures);
  EXECUTE pg_catalog.format('CREATE INDEX ON %s (generation)', signatures);
END $$;
COMMENT ON FUNCTION neardup_make_signatures(regclass, neardup_job) IS 'private: the table of what a job knows of each row';

-- The table itself stays, and what has been granted on it.
CREATE FUNCTION neardup_clear_signatures(job regclass, j neardup_job) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  kind text := @extschema@.neardup_job_kind(j);
BEGIN
  PERFORM @extschema@.neardup_drop('INDEX', VARIADIC @extschema@.neardup_job_indexes(job));
  EXECUTE pg_catalog.format('TRUNCATE %s', signatures);
  EXECUTE pg_catalog.format('ALTER TABLE %s ALTER signature TYPE @extschema@.%I USING NULL', signatures, kind);
END $$;
COMMENT ON FUNCTION neardup_clear_signatures(regclass, neardup_job) IS 'private: forgets all signatures of a job; the next are of the kind that it says';

CREATE FUNCTION alter_duplicates(name text, threshold float8 = NULL, profile text = NULL, linkage text = NULL, verify text = NULL,
    verify_threshold float8 = NULL, keep text = NULL, order_by text = NULL, at_most_apart interval = NULL, filter text = NULL,
    deleted text = NULL, id name = NULL, body name = NULL, signature name = NULL, at name = NULL) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  job regclass := @extschema@.neardup_locked_job(name);
  old @extschema@.neardup_job;
  j @extschema@.neardup_job;
  kind text;
BEGIN
  EXECUTE pg_catalog.format('SELECT FROM %s FOR UPDATE', job);  -- the row is made anew: nobody may change it meanwhile
  old := @extschema@.neardup_job_row(job);
  SELECT y.typname INTO kind FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
    WHERE a.attrelid = @extschema@.neardup_job_part(job, '_signatures')::regclass::oid AND a.attname = 'signature';
  j := old;
  j.threshold := COALESCE(threshold, j.threshold); j.profile := COALESCE(profile, j.profile); j.linkage := COALESCE(linkage, j.linkage);
  j.verify := NULLIF(COALESCE(verify, j.verify), '');
  j.verify_threshold := CASE WHEN j.verify IS NOT NULL THEN COALESCE(verify_threshold, j.verify_threshold) ELSE verify_threshold END;
  j.keep := COALESCE(keep, j.keep);
  j.order_by := NULLIF(COALESCE(order_by, CASE WHEN j.keep = 'oldest' THEN j.order_by END), '');
  j.at_most_apart := COALESCE(at_most_apart, j.at_most_apart); j.filter := NULLIF(COALESCE(filter, j.filter), '');
  j.deleted := NULLIF(COALESCE(deleted, j.deleted), ''); j.id := COALESCE(id, j.id); j.at := COALESCE(at, j.at);
  j.body := COALESCE(body, j.body); j.signature := COALESCE(signature, j.signature);
  IF (j.at IS NULL) <> (old.at IS NULL) THEN
    RAISE EXCEPTION 'at can be given another column, but not be added: drop the job and create it anew' USING ERRCODE = 'feature_not_supported';
  END IF;
  IF j.body IS NOT NULL THEN
    j.profile_version := (@extschema@.neardup_profile_named(j.profile)).version;
    IF profile IS NOT NULL THEN j.profile := @extschema@.neardup_profile_path(profile); END IF;
    j.body_type := @extschema@.neardup_job_column(j.source, j.body, 'body');
  END IF;
  PERFORM @extschema@.neardup_check_job(j);
  j.recluster := true;
  j.resync := j.resync OR (j.id, j.body, j.signature, j.at, j.keep, j.order_by, j.profile, j.profile_version)
                          IS DISTINCT FROM (old.id, old.body, old.signature, old.at, old.keep, old.order_by, old.profile, old.profile_version);
  EXECUTE pg_catalog.format('DELETE FROM %s', job);
  EXECUTE pg_catalog.format('INSERT INTO %s SELECT ($1).*', job) USING j;
  -- signatures of two kinds cannot be compared; the refresh sees to the types of keys
  IF (j.profile, j.profile_version, j.body_type::oid, @extschema@.neardup_job_kind(j))
     IS DISTINCT FROM (old.profile, old.profile_version, old.body_type::oid, kind) THEN
    PERFORM @extschema@.neardup_clear_signatures(job, j);
  ELSE
    PERFORM @extschema@.neardup_drop('INDEX', VARIADIC @extschema@.neardup_job_indexes(job));
  END IF;
END $$;
COMMENT ON FUNCTION alter_duplicates(text, float8, text, text, text, float8, text, text, interval, text, text, name, name, name, name) IS
  'changes what is given; '''' takes verify, order_by, filter or deleted away. The next refresh clusters all rows';

CREATE FUNCTION drop_duplicates(name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  job regclass := @extschema@.neardup_locked_job(name);
BEGIN
  -- of a job whose table was dropped by itself the rest
  PERFORM @extschema@.neardup_drop('TABLE', @extschema@.neardup_job_part(job, ''), @extschema@.neardup_job_part(job, '_signatures'),
                                   @extschema@.neardup_job_part(job, '_changes'), @extschema@.neardup_job_part(job, '_job'));
END $$;
COMMENT ON FUNCTION drop_duplicates(text) IS 'drops a table of duplicates with its job, signatures and history';

CREATE FUNCTION pause_duplicates(name text, paused boolean = true) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  n bigint := 0;
BEGIN
  -- again where alter_duplicates() has just put another row in its place
  FOR i IN 1 .. 3 LOOP
    EXECUTE pg_catalog.format('UPDATE %s SET paused = $1', @extschema@.neardup_job_table(name)) USING paused;
    GET DIAGNOSTICS n = ROW_COUNT;
    EXIT WHEN n > 0;
  END LOOP;
  IF n = 0 THEN RAISE EXCEPTION 'job % has no row', name USING ERRCODE = 'data_exception'; END IF;
END $$;
COMMENT ON FUNCTION pause_duplicates(text, boolean) IS
  'a paused job is not refreshed, and a refresh that runs stops after its batch; paused => false goes on';

CREATE FUNCTION rename_duplicates(old text, new text) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
  job regclass := @extschema@.neardup_locked_job(old);
  base text := (pg_catalog.parse_ident(new))[1];
  part text;
BEGIN
  IF pg_catalog.array_length(pg_catalog.parse_ident(new), 1) > 1 THEN
    RAISE EXCEPTION 'the new name has no schema: %', new USING ERRCODE = 'invalid_name', HINT = 'ALTER TABLE .. SET SCHEMA moves a table.';
  END IF;
  IF octet_length(base) > 52 THEN
    RAISE EXCEPTION 'the name of a table of duplicates has at most 52 bytes: % has %', base, octet_length(base) USING ERRCODE = 'name_too_long';
  END IF;
  FOREACH part IN ARRAY ARRAY['', '_signatures', '_changes', '_job'] LOOP
    EXECUTE pg_catalog.format('ALTER TABLE %s RENAME TO %I', @extschema@.neardup_job_part(job, part), base || part);
  END LOOP;
  RETURN @extschema@.neardup_job_part(job, '')::regclass;
END $$;
COMMENT ON FUNCTION rename_duplicates(text, text) IS 'renames a table of duplicates and all that belongs to it';
