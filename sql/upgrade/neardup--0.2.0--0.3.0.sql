-- From 0.2.0 to 0.3.0: what users name is opened once, by its OID, under a lock; a job owns its tables; functions have pg_catalog as their search_path.
\echo Use "ALTER EXTENSION neardup UPDATE TO '0.3.0'" to load this file. \quit

-- The types below get columns, and so do tables of them; temporary ones of other sessions cannot get any.
DO $do$
DECLARE
  t record;
BEGIN
  SELECT c.oid::pg_catalog.regclass AS name, c.reloftype::pg_catalog.regtype AS type, pg_catalog.pg_get_userbyid(c.relowner) AS owner INTO t
    FROM pg_catalog.pg_class c
    WHERE c.reloftype OPERATOR(pg_catalog.=) ANY (ARRAY['@extschema@.neardup_job', '@extschema@.neardup_profile']::pg_catalog.regtype[]::pg_catalog.oid[])
      AND c.relpersistence OPERATOR(pg_catalog.=) 't' AND c.relnamespace OPERATOR(pg_catalog.<>) pg_catalog.pg_my_temp_schema()
    LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the update changes the type %, and table % of this type is a temporary one of another session', t.type, t.name
      USING ERRCODE = 'object_in_use', HINT = pg_catalog.format('End the session: SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE '
        'datname = current_database() AND usename = %L. Without the right TEMPORARY on the database, no role makes such tables.', t.owner);
  END IF;
END $do$;

-- What users do not call is in a schema of its own.
CREATE SCHEMA neardup_internal;
COMMENT ON SCHEMA neardup_internal IS 'Objects that the extension neardup uses itself: the parts of its types, operators, indexes and jobs';
GRANT USAGE ON SCHEMA neardup_internal TO PUBLIC;
ALTER FUNCTION minhash_in(cstring, oid, int) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_out(minhash) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_recv(internal, oid, int) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_send(minhash) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_typmod_in(cstring[]) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_typmod_out(int) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_check_typmod(minhash, int, boolean) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_eq(minhash, minhash) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_ne(minhash, minhash) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_lt(minhash, minhash) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_le(minhash, minhash) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_gt(minhash, minhash) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_ge(minhash, minhash) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_cmp(minhash, minhash) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_hash(minhash) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_hash_extended(minhash, bigint) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_agg_combine(internal, internal) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_agg_serialize(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_agg_deserialize(bytea, internal) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_agg_final(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_agg_text(internal, text) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_agg_text(internal, text, int) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_agg_text(internal, text, int, int) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_agg_text(internal, text, int, int, bigint) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_agg_bigint(internal, bigint) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_agg_bigint(internal, bigint, int) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_agg_bigint(internal, bigint, int, int) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_agg_bigint(internal, bigint, int, int, bigint) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_in(cstring) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_out(simhash) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_recv(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_send(simhash) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_eq(simhash, simhash) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_ne(simhash, simhash) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_lt(simhash, simhash) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_le(simhash, simhash) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_gt(simhash, simhash) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_ge(simhash, simhash) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_cmp(simhash, simhash) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_hash(simhash) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_hash_extended(simhash, bigint) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_to_bigint(simhash) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_from_bigint(bigint) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_to_bit(simhash) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_from_bit(bit) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_agg_combine(internal, internal) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_agg_serialize(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_agg_deserialize(bytea, internal) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_agg_final(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_agg_add(internal, text, float8) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_agg_add(internal, text) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_hamming_float(simhash, simhash) SET SCHEMA neardup_internal;
ALTER FUNCTION ctph_in(cstring) SET SCHEMA neardup_internal;
ALTER FUNCTION ctph_out(ctph) SET SCHEMA neardup_internal;
ALTER FUNCTION ctph_recv(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION ctph_send(ctph) SET SCHEMA neardup_internal;
ALTER FUNCTION ctph_eq(ctph, ctph) SET SCHEMA neardup_internal;
ALTER FUNCTION ctph_ne(ctph, ctph) SET SCHEMA neardup_internal;
ALTER FUNCTION ctph_lt(ctph, ctph) SET SCHEMA neardup_internal;
ALTER FUNCTION ctph_le(ctph, ctph) SET SCHEMA neardup_internal;
ALTER FUNCTION ctph_gt(ctph, ctph) SET SCHEMA neardup_internal;
ALTER FUNCTION ctph_ge(ctph, ctph) SET SCHEMA neardup_internal;
ALTER FUNCTION ctph_cmp(ctph, ctph) SET SCHEMA neardup_internal;
ALTER FUNCTION ctph_hash(ctph) SET SCHEMA neardup_internal;
ALTER FUNCTION ctph_hash_extended(ctph, bigint) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_jaccard_distance(minhash, minhash) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_sel(internal, oid, internal, int) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_joinsel(internal, oid, internal, smallint, internal) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_similar(minhash, minhash) SET SCHEMA neardup_internal;
ALTER FUNCTION neardup_term_counts(text) SET SCHEMA neardup_internal;
ALTER FUNCTION neardup_count_words(text, int, int, int, boolean, int, text[], regdictionary, text, float8) SET SCHEMA neardup_internal;
ALTER FUNCTION neardup_similar_words(regclass, int, int, int, int, float8) SET SCHEMA neardup_internal;
ALTER FUNCTION neardup_row_similarity(bytea, bytea) SET SCHEMA neardup_internal;
ALTER FUNCTION neardup_folded_word(text) SET SCHEMA neardup_internal;
ALTER FUNCTION neardup_word_model_of(regclass) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_query_in(cstring) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_query_out(lsh_query) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_query_recv(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_query_send(lsh_query) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_query_bound(minhash, float8) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_hamming_query(simhash, float8) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_hamming_query_strict(simhash, float8) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_score_query(ctph, float8) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_score_query_strict(ctph, float8) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_rate_query(ctph, float8) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_rate_query_strict(ctph, float8) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_query_eq(lsh_query, lsh_query) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_query_ne(lsh_query, lsh_query) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_query_hash(lsh_query) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_query_hash_extended(lsh_query, bigint) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_jaccard_support(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_hamming_support(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_score_support(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_rate_support(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_at_least(minhash, lsh_query) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_within(simhash, lsh_query) SET SCHEMA neardup_internal;
ALTER FUNCTION ctph_within(ctph, lsh_query) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_query_conflicts(lsh_query, lsh_query) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_handler(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_minhash_keys(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_query_keys(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_minhash_probes(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_minhash_bind(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_query_bind(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_minhash_describe(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_minhash_order(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_simhash_keys(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_simhash_probes(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_simhash_bind(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_simhash_describe(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_simhash_order(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_simhash_options(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_ctph_keys(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_ctph_probes(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_ctph_bind(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_ctph_describe(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_ctph_order(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_ctph_options(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_set_query(bigint[], float8) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_set_query(int[], float8) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_set_query_strict(bigint[], float8) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_set_query_strict(int[], float8) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_set_support(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION int_set_within(bigint[], lsh_query) SET SCHEMA neardup_internal;
ALTER FUNCTION int_set_within(int[], lsh_query) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_set_keys(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_set_probes(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_set_bind(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_set_describe(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_minutiae_keys(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_minutiae_probes(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_minutiae_bind(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_minutiae_describe(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION lsh_minutiae_options(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION minhash_typanalyze(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION simhash_typanalyze(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION ctph_typanalyze(internal) SET SCHEMA neardup_internal;
ALTER FUNCTION neardup_lock_job(regclass) SET SCHEMA neardup_internal;
ALTER FUNCTION neardup_job_table(text) SET SCHEMA neardup_internal;
ALTER FUNCTION neardup_job_row(regclass) SET SCHEMA neardup_internal;
ALTER FUNCTION neardup_job_part(regclass, text) SET SCHEMA neardup_internal;
ALTER FUNCTION neardup_jobs() SET SCHEMA neardup_internal;

ALTER TYPE neardup_job ADD ATTRIBUTE result regclass CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE signatures regclass CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE changes regclass CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE qualified boolean CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE rows bigint CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE clusters bigint CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE duplicates bigint CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE result_hash bigint CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE refreshed timestamptz CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE took interval CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE changed bigint CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE measure text CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE passages regclass CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE passages_key bigint CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE passages_rows bigint CASCADE;
ALTER TYPE neardup_profile ADD ATTRIBUTE normalization text CASCADE;
ALTER TYPE neardup_profile ADD ATTRIBUTE cut_at_least int CASCADE;
ALTER TYPE neardup_profile ADD ATTRIBUTE cut_min_units int CASCADE;
ALTER TYPE neardup_profile ADD ATTRIBUTE cut_unit text CASCADE;

-- The view has other columns now. What a user has made over it keeps the old one.
DO $do$
BEGIN
  PERFORM pg_catalog.set_config('neardup_update.duplicates_status', COALESCE(c.relacl::pg_catalog.text, ''), true)
    FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) '@extschema@.duplicates_status'::pg_catalog.regclass::pg_catalog.oid;
END $do$;
DO $do$
BEGIN
  DROP VIEW @extschema@.duplicates_status;
  DROP FUNCTION neardup_internal.neardup_jobs();
EXCEPTION
  WHEN dependent_objects_still_exist THEN
    ALTER VIEW @extschema@.duplicates_status RENAME TO neardup_duplicates_status_0_2_0;
    COMMENT ON VIEW @extschema@.neardup_duplicates_status_0_2_0 IS 'private: duplicates_status of 0.2.0, for what was made over it';
    ALTER FUNCTION neardup_internal.neardup_jobs() RENAME TO neardup_jobs_0_2_0;
    CREATE OR REPLACE FUNCTION neardup_internal.neardup_jobs_0_2_0() RETURNS TABLE (job pg_catalog.regclass, source pg_catalog.regclass, phase pg_catalog.text,
        done pg_catalog.int8, total pg_catalog.int8, rate pg_catalog.float8, time_left pg_catalog.interval, started pg_catalog.timestamptz,
        finished pg_catalog.timestamptz, pid pg_catalog.int4, last_error pg_catalog.text)
      AS 'MODULE_PATHNAME', 'neardup_jobs' LANGUAGE C STABLE ROWS 10;
    COMMENT ON FUNCTION neardup_internal.neardup_jobs_0_2_0() IS 'private: the rows of neardup_duplicates_status_0_2_0';
    RAISE WARNING 'duplicates_status of 0.2.0 is kept as neardup_duplicates_status_0_2_0, since views or functions depend on it'
      USING HINT = 'A dump with them cannot be restored where 0.3.0 was installed anew. Make them again with duplicates_status, then: '
        'ALTER EXTENSION neardup DROP VIEW @extschema@.neardup_duplicates_status_0_2_0; DROP VIEW @extschema@.neardup_duplicates_status_0_2_0; '
        'ALTER EXTENSION neardup DROP FUNCTION neardup_internal.neardup_jobs_0_2_0(); DROP FUNCTION neardup_internal.neardup_jobs_0_2_0();';
END $do$;

-- These get one argument, or some columns, more. Who may call them is kept, for the end of this script.
DO $do$
BEGIN
  PERFORM pg_catalog.set_config(pg_catalog.concat('neardup_update.', p.proname), COALESCE(p.proacl::pg_catalog.text, ''), true)
  FROM pg_catalog.pg_proc p WHERE p.pronamespace OPERATOR(pg_catalog.=) '@extschema@'::pg_catalog.regnamespace::pg_catalog.oid
    AND p.prosrc OPERATOR(pg_catalog.<>) '' AND (p.proname OPERATOR(pg_catalog.=) 'create_profile' AND p.pronargs OPERATOR(pg_catalog.=) 12
         OR p.proname OPERATOR(pg_catalog.=) 'alter_profile' AND p.pronargs OPERATOR(pg_catalog.=) 11
         OR p.proname OPERATOR(pg_catalog.=) 'refresh_duplicates' AND p.pronargs OPERATOR(pg_catalog.=) 4
         OR p.proname OPERATOR(pg_catalog.=) 'neardup_suggest' AND p.pronargs OPERATOR(pg_catalog.=) 3)
    AND EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid
                AND d.objid OPERATOR(pg_catalog.=) p.oid AND d.deptype OPERATOR(pg_catalog.=) 'e');
END $do$;
-- What is in C++ now, and what gets one argument, or some columns, more. Whoever may call a function may have made a view
-- with it, a temporary one that nobody else sees, and must not stop the update by that: what something depends on stays, under another name, and
-- says that it is no more.
DO $do$
DECLARE
  f record;
  kept pg_catalog.text;
  why pg_catalog.text;
BEGIN
  FOR f IN SELECT p.proname AS name, pg_catalog.pg_get_function_identity_arguments(p.oid) AS arguments,
                  CASE WHEN p.prokind OPERATOR(pg_catalog.=) 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END AS kind,
                  pg_catalog.concat('(', pg_catalog.pg_get_function_arguments(p.oid), ')', ' RETURNS ' OPERATOR(pg_catalog.||) pg_catalog.pg_get_function_result(p.oid)) AS declared,
                  CASE WHEN p.provolatile OPERATOR(pg_catalog.=) 'i' THEN ' IMMUTABLE' WHEN p.provolatile OPERATOR(pg_catalog.=) 's' THEN ' STABLE' ELSE '' END AS volatility
           FROM pg_catalog.unnest(ARRAY[
    'neardup_word_model_names(text)', 'neardup_make_signatures(regclass, neardup_job)', 'neardup_made_meanwhile(text)',
    'neardup_expression_type(regclass, text)', 'neardup_raise(text, text, text, text)', 'neardup_job_indexes(regclass)',
    'neardup_drop(text, text[])', 'neardup_locked_job(text)', 'neardup_job_column(regclass, name, text)', 'neardup_job_kind(neardup_job)',
    'neardup_job_key(neardup_job)', 'neardup_job_stored(regclass)', 'neardup_job_rows(neardup_job)', 'neardup_job_hash(neardup_job, text, text)',
    'neardup_job_differs(neardup_job, text, text)', 'neardup_check_order(regtype, text)', 'neardup_check_job(neardup_job)',
    'neardup_check_condition(regclass, text, text)', 'neardup_clear_signatures(regclass, neardup_job)', 'neardup_check_profile(neardup_profile)',
    'neardup_document_sql(neardup_profile, regtype, text)', 'neardup_profile_path(text)', 'neardup_words_given(text)',
    'neardup_is_word_table(regclass, regtype)', 'neardup_lock_word_model(text, text)',
    'neardup_same_word_model(neardup_word_model, neardup_word_model)', 'neardup_dictionary_name(regdictionary)',
    'neardup_make_word_model(text, text, int, int, int, boolean, int, text[], regdictionary, text, float8, boolean, interval)',
    'neardup_job_temp(regclass, text)', 'neardup_refresh_columns(regclass, neardup_job)', 'neardup_refresh_types(regclass, neardup_job)',
    'neardup_refresh_list(regclass, neardup_job)', 'neardup_refresh_sign(regclass, neardup_job, bigint, bigint)',
    'neardup_refresh_threshold(regclass, neardup_job)', 'neardup_refresh_near(text, float8, text, text)',
    'neardup_refresh_index(regclass, neardup_job)', 'neardup_refresh_touched(regclass, neardup_job)',
    'neardup_refresh_cluster(regclass, neardup_job)', 'neardup_refresh_step(regclass, int)', 'neardup_refresh(regclass, int, interval, boolean)',
    'neardup_match_tail(int, float8)', 'neardup_matches_needed(int, float8)', 'neardup_reading_cursor(text, text, text[])',
    'neardup_suggest_query_us(text[], text, int, int, float8)', 'neardup_suggest_sample(text)', 'neardup_suggest_labels(text)',
    'neardup_suggest_of(text[], text[], bigint, int, int, boolean, text, text[], text[], boolean[], float8)',
    'create_profile(text, text, text, text, int, int, int, bigint, text, text, text, int)',
    'alter_profile(text, text, text, int, int, int, bigint, text, text, text, int)', 'refresh_duplicates(text, int, interval, boolean)',
    'neardup_suggest(text, text, float8)']) v(signature)
           JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) pg_catalog.concat('@extschema@.', v.signature)::pg_catalog.regprocedure::pg_catalog.oid
  LOOP
    BEGIN
      EXECUTE pg_catalog.format('DROP %s @extschema@.%I(%s)', f.kind, f.name, f.arguments);
    EXCEPTION
      WHEN dependent_objects_still_exist THEN
        GET STACKED DIAGNOSTICS why = PG_EXCEPTION_DETAIL;
        kept := pg_catalog.concat(CASE WHEN NOT pg_catalog.starts_with(f.name, 'neardup_') THEN 'neardup_' END, f.name, '_0_2_0');
        EXECUTE pg_catalog.format('ALTER %s @extschema@.%I(%s) RENAME TO %I', f.kind, f.name, f.arguments, kept);
        EXECUTE pg_catalog.format('ALTER %s @extschema@.%I(%s) SET SCHEMA neardup_internal', f.kind, kept, f.arguments);
        EXECUTE pg_catalog.format('CREATE OR REPLACE %s neardup_internal.%I%s LANGUAGE plpgsql%s AS %L', f.kind, kept, f.declared, f.volatility,
          pg_catalog.format('BEGIN RAISE EXCEPTION %L USING ERRCODE = ''feature_not_supported'', HINT = ''Make again what calls it, with the functions of today.''; END', pg_catalog.concat(f.name, '() of neardup 0.2.0 is no more')));
        EXECUTE pg_catalog.format('COMMENT ON %s neardup_internal.%I(%s) IS %L', f.kind, kept, f.arguments, pg_catalog.format('private: the name of %s() of 0.2.0, for what was made with it', f.name));
        RAISE WARNING '%() of 0.2.0 is no more, and its name is kept as %(), since other objects depend on it', f.name, kept
          USING DETAIL = why, HINT = pg_catalog.format('When these are dropped, or the session whose temporary objects they are has ended: '
            'ALTER EXTENSION neardup DROP %1$s neardup_internal.%2$I(%3$s); DROP %1$s neardup_internal.%2$I(%3$s);', f.kind, kept, f.arguments);
    END;
  END LOOP;
END $do$;

-- minhash_union_agg() of one signature of 8 bits

CREATE FUNCTION neardup_internal.minhash_union_final(minhash) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.minhash_union_final(minhash) IS 'private: refuses a union of one signature of 8 bits, as of several';
CREATE OR REPLACE AGGREGATE minhash_union_agg(signature minhash) (
  SFUNC = minhash_union, STYPE = minhash, FINALFUNC = neardup_internal.minhash_union_final, COMBINEFUNC = minhash_union, PARALLEL = SAFE);

-- Functions that raise errors are not leakproof: their errors told of rows that row security hides.
ALTER FUNCTION @extschema@.jaccard(@extschema@.minhash, @extschema@.minhash) NOT LEAKPROOF;
ALTER FUNCTION neardup_internal.minhash_jaccard_distance(@extschema@.minhash, @extschema@.minhash) NOT LEAKPROOF;
ALTER FUNCTION neardup_internal.minhash_similar(@extschema@.minhash, @extschema@.minhash) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.ctph_score(@extschema@.ctph, @extschema@.ctph) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.ctph_edit_rate(@extschema@.ctph, @extschema@.ctph) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.with_threshold(@extschema@.minhash, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION neardup_internal.lsh_hamming_query_strict(@extschema@.simhash, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION neardup_internal.lsh_score_query_strict(@extschema@.ctph, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION neardup_internal.lsh_rate_query_strict(@extschema@.ctph, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.jaccard_at_least(@extschema@.minhash, @extschema@.minhash, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.hamming_at_most(@extschema@.simhash, @extschema@.simhash, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.ctph_score_at_least(@extschema@.ctph, @extschema@.ctph, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.ctph_edit_rate_at_most(@extschema@.ctph, @extschema@.ctph, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION neardup_internal.minhash_at_least(@extschema@.minhash, @extschema@.lsh_query) NOT LEAKPROOF;
ALTER FUNCTION neardup_internal.simhash_within(@extschema@.simhash, @extschema@.lsh_query) NOT LEAKPROOF;
ALTER FUNCTION neardup_internal.ctph_within(@extschema@.ctph, @extschema@.lsh_query) NOT LEAKPROOF;
ALTER FUNCTION neardup_internal.lsh_query_conflicts(@extschema@.lsh_query, @extschema@.lsh_query) NOT LEAKPROOF;

-- Warnings of a comparison that no value can make true: jaccard(a, b) >= 80.
CREATE FUNCTION neardup_internal.lsh_share_bounds(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_share_bounds(internal) IS
  'private: planner support of measures from 0 to 1';
CREATE FUNCTION neardup_internal.lsh_bits_bounds(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bits_bounds(internal) IS 'private: planner support of hamming()';
CREATE FUNCTION neardup_internal.lsh_score_bounds(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_score_bounds(internal) IS 'private: planner support of ctph_score()';
ALTER FUNCTION @extschema@.jaccard(@extschema@.minhash, @extschema@.minhash) SUPPORT neardup_internal.lsh_share_bounds;
ALTER FUNCTION @extschema@.containment(@extschema@.minhash, @extschema@.minhash) SUPPORT neardup_internal.lsh_share_bounds;
ALTER FUNCTION @extschema@.jaccard_exact(pg_catalog.text[], pg_catalog.text[]) SUPPORT neardup_internal.lsh_share_bounds;
ALTER FUNCTION @extschema@.jaccard_exact(pg_catalog.int8[], pg_catalog.int8[]) SUPPORT neardup_internal.lsh_share_bounds;
ALTER FUNCTION @extschema@.jaccard_exact(pg_catalog.int4[], pg_catalog.int4[]) SUPPORT neardup_internal.lsh_share_bounds;
ALTER FUNCTION @extschema@.hamming(@extschema@.simhash, @extschema@.simhash) SUPPORT neardup_internal.lsh_bits_bounds;
ALTER FUNCTION @extschema@.ctph_score(@extschema@.ctph, @extschema@.ctph) SUPPORT neardup_internal.lsh_score_bounds;
ALTER FUNCTION @extschema@.ctph_edit_rate(@extschema@.ctph, @extschema@.ctph) SUPPORT neardup_internal.lsh_share_bounds;

-- The ids of representatives, and what is said of likely mistakes.
CREATE FUNCTION cluster_anchor(value minhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(minhash, float8, anyelement) IS
  'id of the earliest kept row, in the order of the window, that this row is similar to; its own id if it is kept. Example: SELECT id, cluster_anchor(to_minhash(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_connected(value minhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(minhash, float8, anyelement) IS
  'id of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_minhash(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_anchor(value simhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(simhash, float8, anyelement) IS
  'id of the earliest kept row, in the order of the window, that this row is similar to; its own id if it is kept. Example: SELECT id, cluster_anchor(to_simhash(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_connected(value simhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(simhash, float8, anyelement) IS
  'id of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_simhash(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_anchor(value ctph, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(ctph, float8, anyelement) IS
  'id of the earliest kept row, in the order of the window, that this row is similar to; its own id if it is kept. Example: SELECT id, cluster_anchor(to_ctph(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_connected(value ctph, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(ctph, float8, anyelement) IS
  'id of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_ctph(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION jaccard(a text, b text) RETURNS float8
  AS 'MODULE_PATHNAME', 'jaccard_of_texts' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION jaccard(text, text) IS
  'Raises an error that shows how to compare texts; for the text forms of two signatures, returns their similarity. Example: SELECT jaccard(to_minhash(''a text of some words''), to_minhash(''a text of some other words''))';
CREATE FUNCTION set_minhash(elements text, num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'set_minhash_of_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION set_minhash(text, int, int, bigint) IS
  'Raises an error that shows how to write an array. Example: SELECT set_minhash(''{cat,dog,mouse}''::text[])';

CREATE FUNCTION lsh_why_not(query text, OUT condition text, OUT relation regclass, OUT index regclass, OUT served boolean,
    OUT reason text) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 5;
COMMENT ON FUNCTION lsh_why_not(text) IS
  'For each condition of a query and each lsh index of its table: whether the plan uses the index, and if not, why. Example: SELECT * FROM lsh_why_not(''SELECT id FROM docs WHERE jaccard(sig, to_minhash(''''some text'''')) >= 0.8'')';

-- Conditions that never raise an error, for an index under row security.
CREATE FUNCTION neardup_internal.lsh_quiet_within(@extschema@.minhash, @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'minhash_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_within(@extschema@.minhash, @extschema@.lsh_query) IS 'private: %>, true for signatures made differently';
CREATE OPERATOR neardup_internal.%>? (LEFTARG = @extschema@.minhash, RIGHTARG = @extschema@.lsh_query, FUNCTION = neardup_internal.lsh_quiet_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR neardup_internal.%>? (@extschema@.minhash, @extschema@.lsh_query) IS 'private: %> for an index under row security';
CREATE FUNCTION neardup_internal.lsh_quiet_similar(@extschema@.minhash, @extschema@.minhash) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'minhash_quiet_similar' LANGUAGE C STABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_similar(@extschema@.minhash, @extschema@.minhash) IS 'private: %, true for signatures made differently';
CREATE OPERATOR neardup_internal.%? (LEFTARG = @extschema@.minhash, RIGHTARG = @extschema@.minhash, FUNCTION = neardup_internal.lsh_quiet_similar, COMMUTATOR = OPERATOR(neardup_internal.%?),
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR neardup_internal.%? (@extschema@.minhash, @extschema@.minhash) IS 'private: % for an index under row security';
CREATE FUNCTION neardup_internal.lsh_quiet_distance(@extschema@.minhash, @extschema@.minhash) RETURNS pg_catalog.float8
  AS 'MODULE_PATHNAME', 'minhash_quiet_distance' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_distance(@extschema@.minhash, @extschema@.minhash) IS 'private: <%>, 1 for signatures made differently';
CREATE OPERATOR neardup_internal.<%>? (LEFTARG = @extschema@.minhash, RIGHTARG = @extschema@.minhash, FUNCTION = neardup_internal.lsh_quiet_distance, COMMUTATOR = OPERATOR(neardup_internal.<%>?));
COMMENT ON OPERATOR neardup_internal.<%>? (@extschema@.minhash, @extschema@.minhash) IS 'private: <%> for an index under row security';
CREATE FUNCTION neardup_internal.lsh_quiet_conflicts(@extschema@.lsh_query, @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_conflicts(@extschema@.lsh_query, @extschema@.lsh_query) IS 'private: &&, true for signatures made differently';
CREATE OPERATOR neardup_internal.&&? (LEFTARG = @extschema@.lsh_query, RIGHTARG = @extschema@.lsh_query, FUNCTION = neardup_internal.lsh_quiet_conflicts, COMMUTATOR = OPERATOR(neardup_internal.&&?),
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR neardup_internal.&&? (@extschema@.lsh_query, @extschema@.lsh_query) IS 'private: && for an index under row security';
CREATE FUNCTION neardup_internal.lsh_quiet_within(@extschema@.simhash, @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'simhash_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_within(@extschema@.simhash, @extschema@.lsh_query) IS 'private: %>, true for a query of another type';
CREATE OPERATOR neardup_internal.%>? (LEFTARG = @extschema@.simhash, RIGHTARG = @extschema@.lsh_query, FUNCTION = neardup_internal.lsh_quiet_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR neardup_internal.%>? (@extschema@.simhash, @extschema@.lsh_query) IS 'private: %> for an index under row security';
CREATE FUNCTION neardup_internal.lsh_quiet_within(@extschema@.ctph, @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'ctph_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 5;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_within(@extschema@.ctph, @extschema@.lsh_query) IS 'private: %>, true for digests of different kinds';
CREATE OPERATOR neardup_internal.%>? (LEFTARG = @extschema@.ctph, RIGHTARG = @extschema@.lsh_query, FUNCTION = neardup_internal.lsh_quiet_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR neardup_internal.%>? (@extschema@.ctph, @extschema@.lsh_query) IS 'private: %> for an index under row security';
CREATE FUNCTION neardup_internal.lsh_quiet_distance(@extschema@.ctph, @extschema@.ctph) RETURNS pg_catalog.float8
  AS 'MODULE_PATHNAME', 'ctph_quiet_distance' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 5;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_distance(@extschema@.ctph, @extschema@.ctph) IS 'private: <->, 1 for digests of different kinds';
CREATE OPERATOR neardup_internal.<->? (LEFTARG = @extschema@.ctph, RIGHTARG = @extschema@.ctph, FUNCTION = neardup_internal.lsh_quiet_distance, COMMUTATOR = OPERATOR(neardup_internal.<->?));
COMMENT ON OPERATOR neardup_internal.<->? (@extschema@.ctph, @extschema@.ctph) IS 'private: <-> for an index under row security';
CREATE FUNCTION neardup_internal.lsh_quiet_within(pg_catalog.int8[], @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'int_set_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_within(pg_catalog.int8[], @extschema@.lsh_query) IS 'private: %>, true for an array with a NULL';
CREATE OPERATOR neardup_internal.%>? (LEFTARG = pg_catalog.int8[], RIGHTARG = @extschema@.lsh_query, FUNCTION = neardup_internal.lsh_quiet_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR neardup_internal.%>? (pg_catalog.int8[], @extschema@.lsh_query) IS 'private: %> for an index under row security';
CREATE FUNCTION neardup_internal.lsh_quiet_within(pg_catalog.int4[], @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'int_set_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_within(pg_catalog.int4[], @extschema@.lsh_query) IS 'private: %>, true for an array with a NULL';
CREATE OPERATOR neardup_internal.%>? (LEFTARG = pg_catalog.int4[], RIGHTARG = @extschema@.lsh_query, FUNCTION = neardup_internal.lsh_quiet_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR neardup_internal.%>? (pg_catalog.int4[], @extschema@.lsh_query) IS 'private: %> for an index under row security';
ALTER OPERATOR FAMILY @extschema@.minhash_ops USING lsh ADD
  OPERATOR 101 neardup_internal.%>? (@extschema@.minhash, @extschema@.lsh_query),
  OPERATOR 102 neardup_internal.%? (@extschema@.minhash, @extschema@.minhash),
  OPERATOR 104 neardup_internal.<%>? (@extschema@.minhash, @extschema@.minhash) FOR ORDER BY pg_catalog.float_ops;
ALTER OPERATOR FAMILY @extschema@.lsh_query_ops USING lsh ADD
  OPERATOR 103 neardup_internal.&&? (@extschema@.lsh_query, @extschema@.lsh_query);
ALTER OPERATOR FAMILY @extschema@.simhash_ops USING lsh ADD
  OPERATOR 101 neardup_internal.%>? (@extschema@.simhash, @extschema@.lsh_query);
ALTER OPERATOR FAMILY @extschema@.ctph_ops USING lsh ADD
  OPERATOR 101 neardup_internal.%>? (@extschema@.ctph, @extschema@.lsh_query),
  OPERATOR 104 neardup_internal.<->? (@extschema@.ctph, @extschema@.ctph) FOR ORDER BY pg_catalog.float_ops;
ALTER OPERATOR FAMILY @extschema@.int8_set_ops USING lsh ADD
  OPERATOR 101 neardup_internal.%>? (pg_catalog.int8[], @extschema@.lsh_query);
ALTER OPERATOR FAMILY @extschema@.int4_set_ops USING lsh ADD
  OPERATOR 101 neardup_internal.%>? (pg_catalog.int4[], @extschema@.lsh_query);
ALTER OPERATOR FAMILY @extschema@.minutiae_ops USING lsh ADD
  OPERATOR 101 neardup_internal.%>? (pg_catalog.int4[], @extschema@.lsh_query);

-- Functions that changed, as they are in sql/install.

COMMENT ON FUNCTION neardup_detect_encoding(bytea) IS
  'Encoding of a document, by the name that PostgreSQL gives it, and the probability that this is correct, 0 to 1. Example: SELECT * FROM neardup_detect_encoding(decode(''cff0e8e2e5f22c20ece8f0'', ''hex''))';
CREATE FUNCTION neardup_signed_text(document bytea, encoding text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_signed_text(bytea, text) IS
  'Converts a document to text as neardup_decode() does, but spells a character that the encoding of the database lacks as a word, such as u4e2d. Example: SELECT neardup_signed_text(decode(''cff0e8e2e5f2'', ''hex''), ''WIN1251'')';
CREATE FUNCTION neardup_characters(body text) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_characters(text) IS
  'Number of characters of a text; in a SQL_ASCII database, of its UTF-8 characters. Example: SELECT neardup_characters(''a text of some words'')';
CREATE FUNCTION neardup_internal.neardup_first_characters(body text, most int) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.neardup_first_characters(text, int) IS
  'private: the first characters of a text; in a SQL_ASCII database those of its UTF-8';
CREATE OR REPLACE FUNCTION create_lexicon(name text, query text) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_create_lexicon' LANGUAGE C;
CREATE OR REPLACE FUNCTION drop_word_model(name text) RETURNS void
  AS 'MODULE_PATHNAME', 'neardup_drop_word_model' LANGUAGE C;
CREATE OR REPLACE FUNCTION neardup_internal.neardup_word_model_of(model regclass) RETURNS neardup_word_model
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_word_model_of(regclass) IS
  'private: settings of a word model that is finished';
CREATE FUNCTION neardup_internal.neardup_word_of(model regclass, word text, OUT features bytea,
    OUT similar_ids int[], OUT similarities float8[])
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_word_of(regclass, text) IS 'private: what a word model holds of a word';
CREATE FUNCTION neardup_internal.neardup_words_at(model regclass, ids int[]) RETURNS text[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_words_at(regclass, int[]) IS 'private: words of a word model by their ids';
CREATE OR REPLACE FUNCTION word_similarity(model regclass, w1 text, w2 text) RETURNS float8 LANGUAGE plpgsql STABLE STRICT
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  given boolean := (neardup_internal.neardup_word_model_of(model)).given;
BEGIN
  RETURN neardup_internal.neardup_row_similarity(
    (neardup_internal.neardup_word_of(model,
       CASE WHEN given THEN w1 ELSE neardup_internal.neardup_folded_word(w1) END)).features,
    (neardup_internal.neardup_word_of(model,
       CASE WHEN given THEN w2 ELSE neardup_internal.neardup_folded_word(w2) END)).features);
END $$;
CREATE FUNCTION neardup_internal.neardup_similar_to(model regclass, word text, k int, OUT similar_word text,
    OUT similarity float8, OUT rank int) RETURNS SETOF record
  LANGUAGE sql STABLE ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
  SELECT s.word, s.similarity, s.rank::int FROM neardup_internal.neardup_word_of(model, word) w,
    unnest(neardup_internal.neardup_words_at(model, w.similar_ids[1:k]), w.similarities[1:k])
      WITH ORDINALITY s(word, similarity, rank) ORDER BY s.rank
  $$;
COMMENT ON FUNCTION neardup_internal.neardup_similar_to(regclass, text, int) IS
  'private: the k most similar words of a word as it is stored';
CREATE OR REPLACE FUNCTION similar_words(model regclass, word text, k int = 10) RETURNS TABLE (similar_word text, similarity float8, rank int)
LANGUAGE plpgsql STABLE STRICT ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  given boolean := (neardup_internal.neardup_word_model_of(model)).given;
BEGIN
  IF k NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'k must be 1 to 1000: %', k USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY SELECT s.similar_word, s.similarity, s.rank
    FROM neardup_internal.neardup_similar_to(model,
      CASE WHEN given THEN word ELSE neardup_internal.neardup_folded_word(word) END, k) s;
END $$;
CREATE OR REPLACE FUNCTION expand_query(model regclass, query text, k int = 3)
  RETURNS TABLE (place int, word text, similar_word text, similarity float8) LANGUAGE plpgsql STABLE STRICT ROWS 20
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM neardup_internal.neardup_word_model_of(model);
  IF k NOT BETWEEN 0 AND 1000 THEN
    RAISE EXCEPTION 'k must be 0 to 1000: %', k USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY SELECT q.place::int, q.word, x.similar_word, x.similarity FROM @extschema@.shingles(query, 1) WITH ORDINALITY q(word, place)
    CROSS JOIN LATERAL (SELECT q.word AS similar_word, 1::float8 AS similarity, 0 AS rank UNION ALL
      SELECT s.similar_word, s.similarity, s.rank FROM neardup_internal.neardup_similar_to(model, q.word, k) s) x
    ORDER BY q.place, x.rank;
END $$;
CREATE OR REPLACE FUNCTION neardup_default_profiles(OUT name text, OUT profile neardup_profile) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 6;
CREATE FUNCTION neardup_rules_named(name text) RETURNS neardup_rule[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_rules_named(text) IS
  'Rows of a table of type neardup_rule, ordered by position, as an array for neardup_clean(). Example: SELECT neardup_rules_named(''docs_rules'')';
CREATE OR REPLACE FUNCTION neardup_profile_named(name text) RETURNS neardup_profile
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
CREATE OR REPLACE FUNCTION neardup_sign_sql(p neardup_profile, body_type regtype, body text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
CREATE FUNCTION create_profile(name text, base text = 'default', signature text = NULL, unit text = NULL, k int = NULL,
    num_perm int = NULL, bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL,
    min_length int = NULL, normalization text = NULL, cut_at_least int = NULL, cut_min_units int = NULL, cut_unit text = NULL) RETURNS regclass
  AS 'MODULE_PATHNAME', 'neardup_create_profile' LANGUAGE C;
COMMENT ON FUNCTION create_profile(text, text, text, text, int, int, int, bigint, text, text, text, int, text, int, int, text) IS
  'Creates a profile, a table of that name with version 1. Arguments that are not given are as in the profile base. Example: SELECT create_profile(''docs_profile'', base => ''default'', k => 4)';
CREATE FUNCTION alter_profile(name text, signature text = NULL, unit text = NULL, k int = NULL, num_perm int = NULL,
    bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL, min_length int = NULL,
    normalization text = NULL, cut_at_least int = NULL, cut_min_units int = NULL, cut_unit text = NULL) RETURNS int
  AS 'MODULE_PATHNAME', 'neardup_alter_profile' LANGUAGE C;
COMMENT ON FUNCTION alter_profile(text, text, text, int, int, int, bigint, text, text, text, int, text, int, int, text) IS
  'Adds a version to a profile and returns its number. Jobs with this profile sign all rows again at their next refresh. Example: SELECT alter_profile(''docs_profile'', k => 5)';
CREATE OR REPLACE FUNCTION neardup_internal.neardup_job_table(name text) RETURNS regclass
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
CREATE OR REPLACE FUNCTION neardup_internal.neardup_job_row(job regclass) RETURNS neardup_job
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
CREATE OR REPLACE FUNCTION neardup_internal.neardup_job_part(job regclass, suffix text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
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
CREATE FUNCTION neardup_internal.neardup_distinct_elements(elements bigint[]) RETURNS bigint[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_internal.neardup_distinct_elements(bigint[]) IS
  'private: the elements of a set, ascending and each once, as a job stores them';
CREATE FUNCTION neardup_internal.neardup_held_name(relation regclass) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_held_name(regclass) IS
  'private: qualified name of a relation; a statement of this transaction that finds another one by it ends in an error';
CREATE OR REPLACE FUNCTION create_duplicates(name text, source regclass, id name, body name = NULL, signature name = NULL,
    threshold float8 = 0.8, profile text = 'default', linkage text = 'anchor', verify text = NULL,
    verify_threshold float8 = NULL, keep text = 'oldest', order_by text = NULL, within name[] = '{}', at name = NULL,
    at_most_apart interval = NULL, filter text = NULL, deleted text = NULL) RETURNS regclass
  AS 'MODULE_PATHNAME', 'neardup_create_duplicates' LANGUAGE C;
CREATE OR REPLACE FUNCTION alter_duplicates(name text, threshold float8 = NULL, profile text = NULL, linkage text = NULL, verify text = NULL,
    verify_threshold float8 = NULL, keep text = NULL, order_by text = NULL, at_most_apart interval = NULL, filter text = NULL,
    deleted text = NULL, id name = NULL, body name = NULL, signature name = NULL, at name = NULL) RETURNS void
  AS 'MODULE_PATHNAME', 'neardup_alter_duplicates' LANGUAGE C;
CREATE OR REPLACE FUNCTION drop_duplicates(name text) RETURNS void
  AS 'MODULE_PATHNAME', 'neardup_drop_duplicates' LANGUAGE C;
CREATE OR REPLACE FUNCTION pause_duplicates(name text, paused boolean = true) RETURNS void
  AS 'MODULE_PATHNAME', 'neardup_pause_duplicates' LANGUAGE C;
CREATE OR REPLACE FUNCTION rename_duplicates(old text, new text) RETURNS regclass
  AS 'MODULE_PATHNAME', 'neardup_rename_duplicates' LANGUAGE C;
CREATE PROCEDURE refresh_duplicates(name text, batch int = 10000, time_limit interval = NULL, commit boolean = true, rebuild boolean = false)
  AS 'MODULE_PATHNAME', 'neardup_refresh_duplicates' LANGUAGE C;
COMMENT ON PROCEDURE refresh_duplicates(text, int, interval, boolean, boolean) IS
  'Brings a table of duplicates up to date; commits after each batch and continues where an interrupted call stopped. With rebuild => true it reads, signs and clusters all rows. Example: CALL refresh_duplicates(''doc_copies'')';
CREATE FUNCTION check_duplicates(name text) RETURNS TABLE (id text, what text, "is" text, should text)
  AS 'MODULE_PATHNAME', 'neardup_check_duplicates' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION check_duplicates(text) IS
  'Differences between a table of duplicates and the signatures of its rows; no row unless the table was changed by hand. Example: SELECT * FROM check_duplicates(''doc_copies'')';
CREATE FUNCTION neardup_internal.neardup_refresh_statements(job text) RETURNS TABLE (name text, statement text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_refresh_statements(text) IS
  'private: the statements by which a refresh of this job reads and writes rows';
CREATE OR REPLACE FUNCTION neardup_internal.neardup_jobs()
  RETURNS TABLE (job text, source regclass, phase text, done bigint, total bigint, rate float8, time_left interval, started timestamptz, finished timestamptz, pid int, last_error text,
    rows bigint, clusters bigint, duplicates bigint, refreshed timestamptz, took interval, changed bigint, next_step text)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE ROWS 10;
COMMENT ON FUNCTION neardup_internal.neardup_jobs() IS 'private: the rows of duplicates_status';
CREATE VIEW duplicates_status AS SELECT * FROM neardup_internal.neardup_jobs();
COMMENT ON VIEW duplicates_status IS
  'Jobs that you may read: phase (signing: rows done of total; clustering: percent), rows per second, time left, last error; rows, clusters and duplicates of the result; end, duration and changed rows of the last refresh; the next step. Example: SELECT job, phase, next_step FROM duplicates_status';
CREATE OR REPLACE FUNCTION neardup_s_curve(threshold float8, num_perm int = 128, bands int = NULL, rows int = NULL) RETURNS SETOF text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100 ROWS 30;
CREATE FUNCTION neardup_suggest(query text, labels text = NULL, edit_similarity float8 = 0.8)
  RETURNS TABLE (unit text, k int, threshold float8, num_perm int, bits int, index_options text, expected_recall float8,
                 expected_precision float8, precision_low float8, precision_high float8, bytes_per_row float8, signing_us float8,
                 query_us float8, pairs bigint, families bigint, is_default boolean, note text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 19 SET jit = off;
COMMENT ON FUNCTION neardup_suggest(text, text, float8) IS
  'Unit, k, num_perm and threshold for the documents of a query, best first, measured on a sample of them. Example: SELECT * FROM neardup_suggest(''SELECT id, body FROM docs'')';
CREATE FUNCTION neardup_suggest_examples(query text, labels text = NULL, edit_similarity float8 = 0.8)
  RETURNS TABLE (unit text, k int, threshold float8, is_default boolean, id_a text, id_b text, similarity float8,
                 is_duplicate boolean, difference text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 70;
COMMENT ON FUNCTION neardup_suggest_examples(text, text, float8) IS
  'Pairs on both sides of each threshold that neardup_suggest() proposes, for you to judge. Example: SELECT * FROM neardup_suggest_examples(''SELECT id, body FROM docs'')';

CREATE FUNCTION neardup_internal.lsh_overlap_bounds(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_overlap_bounds(internal) IS 'private: planner support of overlap_exact()';
-- Containment and overlap. Of containment_exact(a, b) an index serves a column on either side: two makers of queries.

CREATE FUNCTION containment_exact(a bigint[], b bigint[]) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION containment_exact(bigint[], bigint[]) IS
  'Share of the elements of the set a that are in the set b, 0 to 1; 0 if a is empty. Example: SELECT containment_exact(ARRAY[1, 2]::bigint[], ARRAY[2, 3]::bigint[])';
CREATE FUNCTION overlap_exact(a bigint[], b bigint[]) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_overlap_bounds;
COMMENT ON FUNCTION overlap_exact(bigint[], bigint[]) IS
  'Number of elements that two sets of bigint share. Example: SELECT overlap_exact(ARRAY[1, 2]::bigint[], ARRAY[2, 3]::bigint[])';
CREATE FUNCTION containment_exact(a int[], b int[]) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION containment_exact(int[], int[]) IS
  'Share of the elements of the set a that are in the set b, 0 to 1; 0 if a is empty. Example: SELECT containment_exact(ARRAY[1, 2], ARRAY[2, 3])';
CREATE FUNCTION overlap_exact(a int[], b int[]) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_overlap_bounds;
COMMENT ON FUNCTION overlap_exact(int[], int[]) IS
  'Number of elements that two sets of int share. Example: SELECT overlap_exact(ARRAY[1, 2], ARRAY[2, 3])';
CREATE FUNCTION neardup_internal.lsh_set_in_query(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_set_in_query(bigint[], float8) IS
  'private: containment_exact(set, ..) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_set_in_query(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_set_in_query(int[], float8) IS
  'private: containment_exact(set, ..) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_set_in_query_strict(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_set_in_query_strict(bigint[], float8) IS
  'private: the same for bounds of the named predicate';
CREATE FUNCTION neardup_internal.lsh_set_in_query_strict(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_set_in_query_strict(int[], float8) IS
  'private: the same for bounds of the named predicate';
CREATE FUNCTION neardup_internal.lsh_query_in_set(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_query_in_set(bigint[], float8) IS
  'private: containment_exact(.., set) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_query_in_set(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_query_in_set(int[], float8) IS
  'private: containment_exact(.., set) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_query_in_set_strict(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_query_in_set_strict(bigint[], float8) IS
  'private: the same for bounds of the named predicate';
CREATE FUNCTION neardup_internal.lsh_query_in_set_strict(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_query_in_set_strict(int[], float8) IS
  'private: the same for bounds of the named predicate';
CREATE FUNCTION neardup_internal.lsh_overlap_query(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_overlap_query(bigint[], float8) IS
  'private: overlap_exact(.., set) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_overlap_query(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_overlap_query(int[], float8) IS
  'private: overlap_exact(.., set) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_overlap_query_strict(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_overlap_query_strict(bigint[], float8) IS
  'private: the same for bounds of the named predicate';
CREATE FUNCTION neardup_internal.lsh_overlap_query_strict(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_overlap_query_strict(int[], float8) IS
  'private: the same for bounds of the named predicate';
CREATE FUNCTION neardup_internal.lsh_containment_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_containment_support(internal) IS
  'private: planner support of containment_exact_at_least()';
CREATE FUNCTION neardup_internal.lsh_overlap_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_overlap_support(internal) IS
  'private: planner support of overlap_exact_at_least()';
CREATE FUNCTION containment_exact_at_least(a bigint[], b bigint[], threshold float8) RETURNS boolean
  AS 'MODULE_PATHNAME', 'containment_at_least' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_containment_support;
COMMENT ON FUNCTION containment_exact_at_least(bigint[], bigint[], float8) IS
  'Whether containment_exact(a, b) >= threshold, above 0 and at most 1; an lsh index on a or on b serves it. Example: SELECT containment_exact_at_least(ARRAY[1, 2]::bigint[], ARRAY[2, 3]::bigint[], 0.5)';
CREATE FUNCTION overlap_exact_at_least(a bigint[], b bigint[], overlap float8) RETURNS boolean
  AS 'MODULE_PATHNAME', 'overlap_at_least' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_overlap_support;
COMMENT ON FUNCTION overlap_exact_at_least(bigint[], bigint[], float8) IS
  'Whether overlap_exact(a, b) >= overlap, from 1 on; an lsh index serves it. Example: SELECT overlap_exact_at_least(ARRAY[1, 2]::bigint[], ARRAY[2, 3]::bigint[], 1)';
CREATE FUNCTION containment_exact_at_least(a int[], b int[], threshold float8) RETURNS boolean
  AS 'MODULE_PATHNAME', 'containment_at_least' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_containment_support;
COMMENT ON FUNCTION containment_exact_at_least(int[], int[], float8) IS
  'Whether containment_exact(a, b) >= threshold, above 0 and at most 1; an lsh index on a or on b serves it. Example: SELECT containment_exact_at_least(ARRAY[1, 2], ARRAY[2, 3], 0.5)';
CREATE FUNCTION overlap_exact_at_least(a int[], b int[], overlap float8) RETURNS boolean
  AS 'MODULE_PATHNAME', 'overlap_at_least' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_overlap_support;
COMMENT ON FUNCTION overlap_exact_at_least(int[], int[], float8) IS
  'Whether overlap_exact(a, b) >= overlap, from 1 on; an lsh index serves it. Example: SELECT overlap_exact_at_least(ARRAY[1, 2], ARRAY[2, 3], 1)';

-- Added to the families, since the operator classes of 0.2.0 stay.
ALTER OPERATOR FAMILY int8_set_ops USING lsh ADD
  FUNCTION 16 (bigint[]) containment_exact(bigint[], bigint[]),
  FUNCTION 17 (bigint[]) neardup_internal.lsh_set_in_query(bigint[], float8),
  FUNCTION 18 (bigint[]) containment_exact_at_least(bigint[], bigint[], float8),
  FUNCTION 19 (bigint[]) neardup_internal.lsh_set_in_query_strict(bigint[], float8),
  FUNCTION 20 (bigint[]) neardup_internal.lsh_query_in_set(bigint[], float8),
  FUNCTION 21 (bigint[]) neardup_internal.lsh_query_in_set_strict(bigint[], float8),
  FUNCTION 22 (bigint[]) overlap_exact(bigint[], bigint[]),
  FUNCTION 23 (bigint[]) neardup_internal.lsh_overlap_query(bigint[], float8),
  FUNCTION 24 (bigint[]) overlap_exact_at_least(bigint[], bigint[], float8),
  FUNCTION 25 (bigint[]) neardup_internal.lsh_overlap_query_strict(bigint[], float8);
ALTER OPERATOR FAMILY int4_set_ops USING lsh ADD
  FUNCTION 16 (int[]) containment_exact(int[], int[]),
  FUNCTION 17 (int[]) neardup_internal.lsh_set_in_query(int[], float8),
  FUNCTION 18 (int[]) containment_exact_at_least(int[], int[], float8),
  FUNCTION 19 (int[]) neardup_internal.lsh_set_in_query_strict(int[], float8),
  FUNCTION 20 (int[]) neardup_internal.lsh_query_in_set(int[], float8),
  FUNCTION 21 (int[]) neardup_internal.lsh_query_in_set_strict(int[], float8),
  FUNCTION 22 (int[]) overlap_exact(int[], int[]),
  FUNCTION 23 (int[]) neardup_internal.lsh_overlap_query(int[], float8),
  FUNCTION 24 (int[]) overlap_exact_at_least(int[], int[], float8),
  FUNCTION 25 (int[]) neardup_internal.lsh_overlap_query_strict(int[], float8);

-- TLSH digests.
CREATE FUNCTION tlsh_distance(a text, b text, length boolean = true) RETURNS int
  AS 'MODULE_PATHNAME', 'neardup_tlsh_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION tlsh_distance(text, text, boolean) IS
  'Distance of two TLSH digests as TLSH computes it, 0 to 2473, smaller is nearer; length => false leaves the lengths of the documents out. Example: SELECT tlsh_distance(repeat(''0'', 70), ''T1'' || repeat(''0'', 69) || ''1'')';
CREATE FUNCTION tlsh_code(digest text) RETURNS bit
  AS 'MODULE_PATHNAME', 'neardup_tlsh_code' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION tlsh_code(text) IS
  'The buckets of a TLSH digest as 256 bits; two codes differ in at most as many bits as their digests are apart by tlsh_distance(). Example: SELECT length(tlsh_code(repeat(''0'', 70)))';

-- These functions get one argument more, measure or ignore. Views and functions of users may depend on them: then they stay, as they are,
-- under another name. Who may call them is kept, for the end of this script.
DO $do$
DECLARE
  f record;
BEGIN
  FOR f IN SELECT v.name, v.arguments, p.proacl, p.pronargs
           FROM (VALUES ('all_pairs', 'text, pg_catalog.float8, text, text, pg_catalog.float8, interval'),
                        ('all_pairs', 'anyelement, text, pg_catalog.float8, text, text, pg_catalog.float8, interval'),
                        ('pairs_between', 'text, text, pg_catalog.float8, text, text, pg_catalog.float8, interval'),
                        ('pairs_between', 'anyelement, text, text, pg_catalog.float8, text, text, pg_catalog.float8, interval'),
                        ('all_clusters', 'text, pg_catalog.float8, text, text, pg_catalog.float8, interval'),
                        ('all_clusters', 'anyelement, text, pg_catalog.float8, text, text, pg_catalog.float8, interval'),
                        ('cluster_bridges', 'text, pg_catalog.float8, text, pg_catalog.float8, interval'),
                        ('cluster_bridges', 'anyelement, text, pg_catalog.float8, text, pg_catalog.float8, interval'),
                        ('create_duplicates', 'text, regclass, name, name, name, pg_catalog.float8, text, text, text, pg_catalog.float8, text, text, name[], name, interval, text, text'),
                        ('alter_duplicates', 'text, pg_catalog.float8, text, text, text, pg_catalog.float8, text, text, interval, text, text, name, name, name, name'),
                        ('winnow_fingerprints', 'text, int, int, text'),
                        ('winnow_fingerprints', 'bytea, int, int'),
                        ('shared_passages', 'text, text, int, text'),
                        ('copied_share', 'text, text, int, text')) v(name, arguments)
           JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=)
                pg_catalog.format('@extschema@.%I(%s)', v.name, v.arguments)::pg_catalog.regprocedure::pg_catalog.oid
  LOOP
    PERFORM pg_catalog.set_config(pg_catalog.format('neardup_update.%s_%s', f.name, f.pronargs), COALESCE(f.proacl::pg_catalog.text, ''), true);
    BEGIN
      EXECUTE pg_catalog.format('DROP FUNCTION @extschema@.%I(%s)', f.name, f.arguments);
    EXCEPTION
      WHEN dependent_objects_still_exist THEN
        EXECUTE pg_catalog.format('ALTER FUNCTION @extschema@.%I(%s) RENAME TO neardup_%s_0_2_0', f.name, f.arguments, f.name);
        EXECUTE pg_catalog.format('COMMENT ON FUNCTION @extschema@.neardup_%s_0_2_0(%s) IS %L', f.name, f.arguments,
          pg_catalog.format('private: %s() of 0.2.0, for what was made with it', f.name));
        RAISE WARNING '%() of 0.2.0 is kept as neardup_%_0_2_0(), since views or functions depend on it', f.name, f.name
          USING HINT = pg_catalog.format('A dump with them cannot be restored where 0.3.0 was installed anew. Make them again with %1$s(), then: '
            'ALTER EXTENSION neardup DROP FUNCTION @extschema@.neardup_%1$s_0_2_0(%2$s); DROP FUNCTION @extschema@.neardup_%1$s_0_2_0(%2$s);',
            f.name, f.arguments);
    END;
  END LOOP;
END $do$;
CREATE FUNCTION winnow_fingerprints(doc text, k int = 5, "window" int = 4, unit text = 'word', ignore bigint[] = '{}',
    OUT "position" int, OUT fingerprint bigint) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_winnow_fingerprints' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 500;
COMMENT ON FUNCTION winnow_fingerprints(text, int, int, text, bigint[]) IS
  'Selected hashes of k-shingles, at least one in every run of k + window - 1 units, with the position of the first character, counted from 1; without those in ignore. Example: SELECT * FROM winnow_fingerprints(''a text of some words'', k => 2, "window" => 2)';
CREATE FUNCTION winnow_fingerprints(doc bytea, k int = 8, "window" int = 16, ignore bigint[] = '{}', OUT "position" int, OUT fingerprint bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_winnow_fingerprints_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 500;
COMMENT ON FUNCTION winnow_fingerprints(bytea, int, int, bigint[]) IS
  'Selected hashes of runs of k bytes, at least one in every run of k + window - 1 bytes, with the position of the first byte, counted from 1; without those in ignore. Example: SELECT * FROM winnow_fingerprints(decode(''0123456789abcdef'', ''hex''), k => 2, "window" => 3)';

CREATE FUNCTION winnow_hashes(doc text, k int = 5, "window" int = 4, unit text = 'word', ignore bigint[] = '{}') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'neardup_winnow_hashes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION winnow_hashes(text, int, int, text, bigint[]) IS
  'The distinct hashes of winnow_fingerprints() as a set, ascending, for containment_exact() and lsh indexes. Example: SELECT winnow_hashes(''a text of some words'', k => 2, "window" => 2)';
CREATE FUNCTION winnow_hashes(doc bytea, k int = 8, "window" int = 16, ignore bigint[] = '{}') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'neardup_winnow_hashes_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION winnow_hashes(bytea, int, int, bigint[]) IS
  'The distinct hashes of winnow_fingerprints() of bytes as a set, ascending. Example: SELECT winnow_hashes(decode(''0123456789abcdef'', ''hex''), k => 2, "window" => 3)';

CREATE FUNCTION shared_passages(a text, b text, min_units int = 8, unit text = 'word', ignore text[] = '{}', OUT start_a int, OUT start_b int,
    OUT length int, OUT "text" text) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_shared_passages' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000 ROWS 10;
COMMENT ON FUNCTION shared_passages(text, text, int, text, text[]) IS
  'Passages of a of at least min_units units that also occur in b, in the order of a, without what stands in the texts to ignore; positions and length in characters. Example: SELECT * FROM shared_passages(''some words of a text'', ''a copy has some words of it'', min_units => 3)';
CREATE FUNCTION copied_share(a text, b text, min_units int = 8, unit text = 'word', ignore text[] = '{}') RETURNS float8
  AS 'MODULE_PATHNAME', 'neardup_copied_share' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION copied_share(text, text, int, text, text[]) IS
  'Share of the units of a in runs of at least min_units units that also occur in b, 0 to 1; units that stand in the texts to ignore are left out. Example: SELECT copied_share(''some words of a text'', ''a copy has some words of it'', min_units => 3)';

CREATE FUNCTION all_pairs(query text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a bigint, id_b bigint, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_all_pairs_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_pairs(text, float8, text, text, float8, interval, text) IS
  'All pairs of rows (id, signature or set) of a query with similarity >= threshold, in order, with id_a < id_b or, of measure ''containment'', the set of id_a in that of id_b. Example: SELECT * FROM all_pairs(''SELECT id, sig FROM docs'', 0.8)';
CREATE FUNCTION all_pairs(id anyelement, query text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a anyelement, id_b anyelement, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_all_pairs_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_pairs(anyelement, text, float8, text, text, float8, interval, text) IS
  'The pairs that all_pairs() returns, for ids of the type of the first argument. Example: SELECT * FROM all_pairs(NULL::text, ''SELECT id::text, sig FROM docs'', 0.8)';

CREATE FUNCTION pairs_between(query_a text, query_b text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a bigint, id_b bigint, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_pairs_between_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION pairs_between(text, text, float8, text, text, float8, interval, text) IS
  'All pairs of a row (id, signature or set) of query_a and a row of query_b with similarity >= threshold, in order; of measure ''containment'', the set of id_a in that of id_b. Example: SELECT * FROM pairs_between(''SELECT id, sig FROM docs WHERE id <= 4'', ''SELECT id, sig FROM docs WHERE id > 4'', 0.8)';
CREATE FUNCTION pairs_between(id anyelement, query_a text, query_b text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a anyelement, id_b anyelement, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_pairs_between_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION pairs_between(anyelement, text, text, float8, text, text, float8, interval, text) IS
  'The pairs that pairs_between() returns, for ids of the type of the first argument. Example: SELECT * FROM pairs_between(NULL::text, ''SELECT id::text, sig FROM docs'', ''SELECT ''''new'''', to_minhash(''''some text'''')'', 0.8)';

-- Repeated passages of a collection ----------------------------------------------------------------------------------
-- VOLATILE and PARALLEL UNSAFE: they run the caller's query. The type of the ids is not named by the first argument, as
-- all_pairs does: where ids are text, query does not say it.

CREATE FUNCTION repeated_passages(query text, min_units int = 50, unit text = 'word', keep text = 'first', at_least int = 2)
  RETURNS TABLE (id bigint, start int, length int, occurrences bigint, first_id bigint, first_start int)
  AS 'MODULE_PATHNAME', 'neardup_repeated_passages' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION repeated_passages(text, int, text, text, int) IS
  'Ranges of the documents of a query (id, document) whose every window of min_units units occurs at least at_least times; positions and length in characters. Example: SELECT * FROM repeated_passages(''SELECT id, body FROM docs ORDER BY id'', min_units => 5)';
CREATE FUNCTION repeated_passages(query text, id anyelement, min_units int = 50, unit text = 'word', keep text = 'first', at_least int = 2)
  RETURNS TABLE (id anyelement, start int, length int, occurrences bigint, first_id anyelement, first_start int)
  AS 'MODULE_PATHNAME', 'neardup_repeated_passages_of_ids' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION repeated_passages(text, anyelement, int, text, text, int) IS
  'The ranges that repeated_passages() returns, for ids of the type of id. Example: SELECT * FROM repeated_passages(''SELECT id::text, body FROM docs ORDER BY id'', id => NULL::text, min_units => 5)';

CREATE FUNCTION passage_counts(query text, min_units int = 50, unit text = 'word', at_least int = 2, most int = 1000)
  RETURNS TABLE (passage text, documents bigint, occurrences bigint)
  AS 'MODULE_PATHNAME', 'neardup_passage_counts' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION passage_counts(text, int, text, int, int) IS
  'The most frequent passages of the documents of a query (id, document), each with the number of documents that hold it and of its occurrences. Example: SELECT * FROM passage_counts(''SELECT id, body FROM docs'', min_units => 5)';

CREATE FUNCTION cut_passages(body text, ranges int4multirange) RETURNS text
  AS 'MODULE_PATHNAME', 'neardup_cut_passages' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cut_passages(text, int4multirange) IS
  'A text without ranges of its characters, counted from 1. Example: SELECT cut_passages(''one two three'', ''{[5,9)}'')';

-- What jobs keep of passages. Numbers of windows are 64-bit hashes by the key.
CREATE FUNCTION neardup_internal.neardup_frequent_windows(query text, min_units int, unit text, documents int, key bigint)
  RETURNS TABLE (number int, windows bigint[])
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION neardup_internal.neardup_frequent_windows(text, int, text, int, bigint) IS
  'private: the windows of min_units units that stand in so many documents of a query, as numbers in ascending order';
CREATE FUNCTION neardup_internal.neardup_without_windows(document text, passages regclass, min_units int, unit text, key bigint, team bigint) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION neardup_internal.neardup_without_windows(text, regclass, int, text, bigint, bigint) IS
  'private: a document without the windows that a table of neardup_frequent_windows() holds';

-- Bit codes: Hamming distance of bit strings, and an index for it -------------------------------------------------------
-- pgvector has the operators <~> and <%> on bit; ours is another one, so that both can lie in one schema.

CREATE FUNCTION neardup_internal.lsh_code_bounds(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_code_bounds(internal) IS 'private: planner support of bit_hamming()';
CREATE FUNCTION bit_hamming(a bit, b bit) RETURNS int
  AS 'MODULE_PATHNAME', 'neardup_bit_hamming' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  SUPPORT neardup_internal.lsh_code_bounds;
COMMENT ON FUNCTION bit_hamming(bit, bit) IS
  'Number of differing bits of two bit strings of one length, 64 to 4096 bits. Example: SELECT bit_hamming(repeat(''01'', 32)::bit(64), repeat(''0111'', 16)::bit(64))';

CREATE FUNCTION neardup_internal.lsh_bit_query(bit, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bit_query(bit, float8) IS
  'private: bit_hamming(.., value) <= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_bit_query_strict(bit, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bit_query_strict(bit, float8) IS
  'private: the same for bounds of bit_hamming_at_most()';
CREATE FUNCTION neardup_internal.lsh_bit_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bit_support(internal) IS
  'private: planner support of bit_hamming_at_most()';
CREATE FUNCTION bit_hamming_at_most(a bit, b bit, distance float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT neardup_internal.lsh_bit_support;
COMMENT ON FUNCTION bit_hamming_at_most(bit, bit, float8) IS
  'Whether bit_hamming(a, b) <= distance, 0 to 4096; an lsh index serves it up to its max_distance. Example: SELECT bit_hamming_at_most(repeat(''01'', 32)::bit(64), repeat(''0111'', 16)::bit(64), 16)';

CREATE FUNCTION neardup_internal.bit_distance(a bit, b bit) RETURNS float8
  AS 'MODULE_PATHNAME', 'neardup_bit_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.bit_distance(bit, bit) IS 'implementation of <->: bit_hamming(a, b)';
CREATE OPERATOR <-> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = neardup_internal.bit_distance, COMMUTATOR = <->);
COMMENT ON OPERATOR <-> (bit, bit) IS
  'Hamming distance of two bit strings of one length, as float8. Example: SELECT repeat(''01'', 32)::bit(64) <-> repeat(''0111'', 16)::bit(64)';
CREATE FUNCTION neardup_internal.bit_within(bit, lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.bit_within(bit, lsh_query) IS 'implementation of %>';
CREATE OPERATOR %> (LEFTARG = bit, RIGHTARG = lsh_query, FUNCTION = neardup_internal.bit_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR %> (bit, lsh_query) IS
  'Whether the Hamming distance to the bit string of the query is at most its bound. Example: SELECT repeat(''01'', 32)::bit(64) %> (''bit_hamming<=16 '' || repeat(''0111'', 16))::lsh_query';

-- What an index is asked under row security: never an error.
CREATE FUNCTION neardup_internal.lsh_quiet_within(bit, lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME', 'bit_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_within(bit, lsh_query) IS
  'private: %>, true for bit strings of other lengths';
CREATE OPERATOR neardup_internal.%>? (LEFTARG = bit, RIGHTARG = lsh_query,
  FUNCTION = neardup_internal.lsh_quiet_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR neardup_internal.%>? (bit, lsh_query) IS 'private: %> for an index under row security';
CREATE FUNCTION neardup_internal.lsh_quiet_distance(bit, bit) RETURNS float8
  AS 'MODULE_PATHNAME', 'bit_quiet_distance' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_distance(bit, bit) IS
  'private: <->, 4096 for bit strings of different lengths';
CREATE OPERATOR neardup_internal.<->? (LEFTARG = bit, RIGHTARG = bit,
  FUNCTION = neardup_internal.lsh_quiet_distance, COMMUTATOR = OPERATOR(neardup_internal.<->?));
COMMENT ON OPERATOR neardup_internal.<->? (bit, bit) IS 'private: <-> for an index under row security';

-- The hash family "bits"

CREATE FUNCTION neardup_internal.lsh_bits_keys(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bits_keys(internal) IS 'private: index keys of a bit string';
CREATE FUNCTION neardup_internal.lsh_bits_probes(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bits_probes(internal) IS 'private: what an index looks up for a query';
CREATE FUNCTION neardup_internal.lsh_bits_bind(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bits_bind(internal) IS
  'private: index parameters from a first bit string, and their check';
CREATE FUNCTION neardup_internal.lsh_bits_describe(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bits_describe(internal) IS 'private: what an index promises, in words';
CREATE FUNCTION neardup_internal.lsh_bits_order(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bits_order(internal) IS 'private: least distance of a row by its hits';
CREATE FUNCTION neardup_internal.lsh_bits_options(internal) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bits_options(internal) IS 'private: options of bit_ops';

CREATE OPERATOR CLASS bit_ops DEFAULT FOR TYPE bit USING lsh AS
  OPERATOR 1 %> (bit, lsh_query),
  OPERATOR 4 <-> (bit, bit) FOR ORDER BY pg_catalog.float_ops,
  FUNCTION 1 neardup_internal.lsh_bits_keys(internal),
  FUNCTION 2 neardup_internal.lsh_bits_probes(internal),
  FUNCTION 3 neardup_internal.lsh_bits_bind(internal),
  FUNCTION 4 neardup_internal.lsh_bits_describe(internal),
  FUNCTION 5 neardup_internal.lsh_bits_order(internal),
  FUNCTION 6 (bit) neardup_internal.lsh_bits_options(internal),
  FUNCTION 11 bit_hamming(bit, bit),
  FUNCTION 12 neardup_internal.lsh_bit_query(bit, float8),
  FUNCTION 13 bit_hamming_at_most(bit, bit, float8),
  FUNCTION 14 neardup_internal.lsh_bit_query_strict(bit, float8);
ALTER OPERATOR FAMILY bit_ops USING lsh ADD
  OPERATOR 101 neardup_internal.%>? (bit, lsh_query),
  OPERATOR 104 neardup_internal.<->? (bit, bit) FOR ORDER BY pg_catalog.float_ops;
COMMENT ON OPERATOR CLASS bit_ops USING lsh IS 'Hamming distance of bit strings; option max_distance';

CREATE FUNCTION all_clusters(query text, threshold float8, linkage text = 'anchor', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id bigint, cluster bigint, representative bigint, similarity float8, cluster_size bigint,
                 survivor boolean)
  AS 'MODULE_PATHNAME', 'neardup_all_clusters_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_clusters(text, float8, text, text, float8, interval, text) IS
  'The rows (id, signature or set) of a query in its order, each with its cluster of similar rows. linkage is ''anchor'' or ''connected''. Example: SELECT * FROM all_clusters(''SELECT id, sig FROM docs ORDER BY id'', 0.8)';
CREATE FUNCTION all_clusters(id anyelement, query text, threshold float8, linkage text = 'anchor', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id anyelement, cluster bigint, representative anyelement, similarity float8, cluster_size bigint,
                 survivor boolean)
  AS 'MODULE_PATHNAME', 'neardup_all_clusters_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_clusters(anyelement, text, float8, text, text, float8, interval, text) IS
  'The rows that all_clusters() returns, for ids of the type of the first argument. Example: SELECT * FROM all_clusters(NULL::text, ''SELECT id::text, sig FROM docs ORDER BY id'', 0.8)';

CREATE FUNCTION cluster_bridges(query text, threshold float8, verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a bigint, id_b bigint, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_cluster_bridges_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION cluster_bridges(text, float8, text, float8, interval, text) IS
  'The pairs without which a connected cluster falls into two. Example: SELECT * FROM cluster_bridges(''SELECT id, sig FROM docs'', 0.8)';
CREATE FUNCTION cluster_bridges(id anyelement, query text, threshold float8, verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a anyelement, id_b anyelement, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_cluster_bridges_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION cluster_bridges(anyelement, text, float8, text, float8, interval, text) IS
  'The pairs that cluster_bridges() returns, for ids of the type of the first argument. Example: SELECT * FROM cluster_bridges(NULL::text, ''SELECT id::text, sig FROM docs'', 0.8)';

-- Names and expressions mean here what they mean to the caller.
CREATE FUNCTION create_duplicates(name text, source regclass, id name, body name = NULL, signature name = NULL,
    threshold float8 = 0.8, profile text = 'default', linkage text = 'anchor', verify text = NULL,
    verify_threshold float8 = NULL, keep text = 'oldest', order_by text = NULL, within name[] = '{}', at name = NULL,
    at_most_apart interval = NULL, filter text = NULL, deleted text = NULL, measure text = NULL) RETURNS regclass
  AS 'MODULE_PATHNAME', 'neardup_create_duplicates' LANGUAGE C;
COMMENT ON FUNCTION create_duplicates(text, regclass, name, name, name, float8, text, text, text, float8, text, text, name[], name, interval, text, text, text) IS
  'Creates a table of the duplicates among the rows of a table or view; it is empty until refresh_duplicates() fills it. Example: SELECT create_duplicates(''doc_copies'', ''docs'', id => ''id'', body => ''body'', threshold => 0.8)';
CREATE FUNCTION alter_duplicates(name text, threshold float8 = NULL, profile text = NULL, linkage text = NULL, verify text = NULL,
    verify_threshold float8 = NULL, keep text = NULL, order_by text = NULL, at_most_apart interval = NULL, filter text = NULL,
    deleted text = NULL, id name = NULL, body name = NULL, signature name = NULL, at name = NULL, measure text = NULL) RETURNS void
  AS 'MODULE_PATHNAME', 'neardup_alter_duplicates' LANGUAGE C;
COMMENT ON FUNCTION alter_duplicates(text, float8, text, text, text, float8, text, text, interval, text, text, name, name, name, name, text) IS
  'Changes the arguments of a job that are given; '''' removes verify, order_by, filter, deleted or measure. The next refresh clusters all rows. Example: SELECT alter_duplicates(''doc_copies'', threshold => 0.9)';

-- Who might use what was made anew may use it now.
DO $do$
DECLARE
  f record;
  g record;
BEGIN
  FOR f IN SELECT v.what, pg_catalog.current_setting(v.kept) AS acl
           FROM (VALUES ('neardup_update.create_profile', 'FUNCTION @extschema@.create_profile(text, text, text, text, int, int, int, bigint, text, text, text, int, text, int, int, text)'),
                        ('neardup_update.alter_profile', 'FUNCTION @extschema@.alter_profile(text, text, text, int, int, int, bigint, text, text, text, int, text, int, int, text)'),
                        ('neardup_update.refresh_duplicates', 'PROCEDURE @extschema@.refresh_duplicates(text, int, interval, boolean, boolean)'),
                        ('neardup_update.neardup_suggest', 'FUNCTION @extschema@.neardup_suggest(text, text, pg_catalog.float8)'),
                        ('neardup_update.all_pairs_6', 'FUNCTION @extschema@.all_pairs(text, pg_catalog.float8, text, text, pg_catalog.float8, interval, text)'),
                        ('neardup_update.all_pairs_7', 'FUNCTION @extschema@.all_pairs(anyelement, text, pg_catalog.float8, text, text, pg_catalog.float8, interval, text)'),
                        ('neardup_update.pairs_between_7', 'FUNCTION @extschema@.pairs_between(text, text, pg_catalog.float8, text, text, pg_catalog.float8, interval, text)'),
                        ('neardup_update.pairs_between_8', 'FUNCTION @extschema@.pairs_between(anyelement, text, text, pg_catalog.float8, text, text, pg_catalog.float8, interval, text)'),
                        ('neardup_update.all_clusters_6', 'FUNCTION @extschema@.all_clusters(text, pg_catalog.float8, text, text, pg_catalog.float8, interval, text)'),
                        ('neardup_update.all_clusters_7', 'FUNCTION @extschema@.all_clusters(anyelement, text, pg_catalog.float8, text, text, pg_catalog.float8, interval, text)'),
                        ('neardup_update.cluster_bridges_5', 'FUNCTION @extschema@.cluster_bridges(text, pg_catalog.float8, text, pg_catalog.float8, interval, text)'),
                        ('neardup_update.cluster_bridges_6', 'FUNCTION @extschema@.cluster_bridges(anyelement, text, pg_catalog.float8, text, pg_catalog.float8, interval, text)'),
                        ('neardup_update.create_duplicates_17', 'FUNCTION @extschema@.create_duplicates(text, regclass, name, name, name, pg_catalog.float8, text, text, text, pg_catalog.float8, text, text, name[], name, interval, text, text, text)'),
                        ('neardup_update.alter_duplicates_15', 'FUNCTION @extschema@.alter_duplicates(text, pg_catalog.float8, text, text, text, pg_catalog.float8, text, text, interval, text, text, name, name, name, name, text)'),
                        ('neardup_update.winnow_fingerprints_4', 'FUNCTION @extschema@.winnow_fingerprints(text, int, int, text, bigint[])'),
                        ('neardup_update.winnow_fingerprints_3', 'FUNCTION @extschema@.winnow_fingerprints(bytea, int, int, bigint[])'),
                        ('neardup_update.shared_passages_4', 'FUNCTION @extschema@.shared_passages(text, text, int, text, text[])'),
                        ('neardup_update.copied_share_4', 'FUNCTION @extschema@.copied_share(text, text, int, text, text[])'),
                        ('neardup_update.duplicates_status', 'TABLE @extschema@.duplicates_status')) v(kept, what)
  LOOP
    CONTINUE WHEN f.acl OPERATOR(pg_catalog.=) '';
    EXECUTE pg_catalog.format('REVOKE ALL ON %s FROM PUBLIC', f.what);
    FOR g IN SELECT a.privilege_type, a.grantee, a.is_grantable FROM pg_catalog.aclexplode(f.acl::pg_catalog.aclitem[]) a
    LOOP
      EXECUTE pg_catalog.format('GRANT %s ON %s TO %s%s', g.privilege_type, f.what,
        CASE WHEN g.grantee OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(g.grantee)) END,
        CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END);
    END LOOP;
  END LOOP;
END $do$;

-- What \df+ says: in plain English, with an example
COMMENT ON FUNCTION shingles(text, int, text) IS
  'k-shingles of a document as text, in order and with repetitions. unit is ''word'' (case-folded) or ''char''. Example: SELECT shingles(''one two three four'', k => 2)';
COMMENT ON FUNCTION shingle_hashes(text, int, text) IS
  '64-bit hashes of the k-shingles of a document, in order and with repetitions. Example: SELECT shingle_hashes(''one two three four'', k => 2)';
COMMENT ON FUNCTION shingle_hashes(bytea, int) IS
  '64-bit hashes of the runs of k bytes of a document, in order and with repetitions. Example: SELECT shingle_hashes(decode(''0123456789abcdef0123'', ''hex''), k => 8)';
COMMENT ON FUNCTION neardup_stopwords(text) IS
  'Stop words of english, ukrainian, russian, german, french or spanish, case-folded and in order. ISO 639 codes such as en are accepted. Example: SELECT neardup_stopwords(''english'')';
COMMENT ON FUNCTION stopword_shingles(text, text[], int) IS
  'Each stop word of a document with the words that follow it (2 by default), in order and with repetitions. Example: SELECT stopword_shingles(''the cat sat on the mat by the door'', ARRAY[''the'', ''on''])';
COMMENT ON FUNCTION stopword_shingles(text, regdictionary, int) IS
  'Each stop word of a document with the words that follow it (2 by default). The stop words are those of a text search dictionary. Example: SELECT stopword_shingles(''the cat sat on the mat by the door'', ''english_stem''::regdictionary)';
COMMENT ON FUNCTION neardup_to_utf8(bytea) IS
  'Converts a document to text; detects its encoding. A broken character raises an error. Example: SELECT neardup_to_utf8(decode(''d09fd180d0b8d0b2d0b5d182'', ''hex''))';
COMMENT ON FUNCTION neardup_to_utf8(bytea, text, text) IS
  'Converts a document in the named encoding to text. Broken characters raise an error, or are dropped with invalid => ''drop''. Example: SELECT neardup_to_utf8(decode(''cff0e8e2e5f2'', ''hex''), ''WIN1251'')';
COMMENT ON FUNCTION neardup_decode(bytea, text) IS
  'Converts a document to text and drops its broken characters. Returns the text, the encoding (detected unless it is given), the confidence, and the number of dropped characters. Example: SELECT * FROM neardup_decode(decode(''cff0e8e2e5f2'', ''hex''), ''WIN1251'')';
COMMENT ON FUNCTION neardup_to_simplified(text) IS
  'Converts Chinese text to simplified characters with OpenCC (t2s). Example: SELECT neardup_to_simplified(convert_from(decode(''e6bca2e5ad97'', ''hex''), ''UTF8''))';
COMMENT ON FUNCTION neardup_to_traditional(text) IS
  'Converts Chinese text to traditional characters with OpenCC (s2t). Example: SELECT neardup_to_traditional(convert_from(decode(''e6b189e5ad97'', ''hex''), ''UTF8''))';
COMMENT ON TYPE neardup_rule IS
  'Rule of neardup_clean(): kind is line, block, text, head or tail; pattern is a regular expression of RE2; rules apply in order of position. Example: SELECT ROW(''page number'', ''line'', ''^[0-9]+$'', '''', 1)::neardup_rule';
COMMENT ON FUNCTION neardup_default_rules() IS 'Built-in rules of neardup_clean(). Example: SELECT * FROM neardup_default_rules()';
COMMENT ON FUNCTION neardup_clean(text, neardup_rule[]) IS
  'Removes from a text what the rules find (the built-in rules by default). Returns the text, the share of characters kept, and the names of the rules that changed it. Example: SELECT * FROM neardup_clean(''A text of some words.'')';
COMMENT ON FUNCTION neardup_text_quality(text) IS
  'Measures of a text: share of characters that the built-in rules keep, length, share of letters, share of repetition, and a score from 0 to 1. Example: SELECT * FROM neardup_text_quality(''A text of some words.'')';
COMMENT ON FUNCTION neardup_text_score(text) IS
  'Score of neardup_text_quality() for a text, 0 to 1. Example: SELECT neardup_text_score(''A text of some words.'')';
COMMENT ON FUNCTION neardup_title(text) IS 'Title made from a file name. Example: SELECT neardup_title(''annual_report-2024.pdf'')';
COMMENT ON TYPE minhash IS
  'MinHash signature of a set (Fast Similarity Sketching). A column of type minhash(num_perm [, bits]) accepts only signatures of that size. Example: SELECT to_minhash(''a text of some words'')';
COMMENT ON OPERATOR = (minhash, minhash) IS 'Equal parameters and components';
COMMENT ON OPERATOR <> (minhash, minhash) IS 'Not equal';
COMMENT ON OPERATOR < (minhash, minhash) IS 'Less than, in an arbitrary but fixed order';
COMMENT ON OPERATOR <= (minhash, minhash) IS 'Less than or equal, in an arbitrary but fixed order';
COMMENT ON OPERATOR > (minhash, minhash) IS 'Greater than, in an arbitrary but fixed order';
COMMENT ON OPERATOR >= (minhash, minhash) IS 'Greater than or equal, in an arbitrary but fixed order';
COMMENT ON FUNCTION to_minhash(text, int, text, int, int, bigint) IS
  'MinHash signature of the k-shingles of a document. unit is ''word'' or ''char''. Example: SELECT to_minhash(''a text of some words'', k => 3, unit => ''word'')';
COMMENT ON FUNCTION to_minhash(bytea, int, int, int, bigint) IS
  'MinHash signature of the runs of k bytes of a document. Example: SELECT to_minhash(decode(''0123456789abcdef0123'', ''hex''), k => 8)';
COMMENT ON FUNCTION minhash_like(text, minhash) IS
  'MinHash signature of a document with the parameters of another signature, which was made from a text. Example: SELECT minhash_like(''a text of some words'', to_minhash(''another text'', k => 2))';
COMMENT ON FUNCTION set_minhash(text[], int, int, bigint) IS
  'MinHash signature of a set of texts; order and repetitions do not matter. Example: SELECT set_minhash(ARRAY[''cat'', ''dog'', ''mouse''])';
COMMENT ON FUNCTION set_minhash(bigint[], int, int, bigint) IS
  'MinHash signature of a set of numbers; order and repetitions do not matter. Example: SELECT set_minhash(ARRAY[1, 2, 3]::bigint[])';
COMMENT ON FUNCTION minhash_import(bigint[], int, bigint) IS
  'MinHash signature from 16 to 4096 components that another program computed; comparable only with other imported signatures of the same size, bits and seed. Example: SELECT minhash_import(array(SELECT generate_series(1, 128)), bits => 32)';
COMMENT ON FUNCTION minhash_parameters(minhash) IS
  'Parameters of a signature: source, unit, k, num_perm, bits, seed and others. Example: SELECT * FROM minhash_parameters(to_minhash(''a text of some words''))';
COMMENT ON FUNCTION minhash_components(minhash) IS
  'Components of a signature as numbers; for an empty set, all of them have the greatest value. Example: SELECT minhash_components(to_minhash(''a text of some words''))';
COMMENT ON FUNCTION set_size(minhash) IS
  'Estimated number of distinct elements of the signed set; for a weighted set, the sum of its weights. Not for 8 bits, nor for imported signatures. Example: SELECT set_size(to_minhash(''a text of some words''))';
COMMENT ON FUNCTION minhash_union(minhash, minhash) IS
  'Signature of the union of two sets, for signatures of 16 or 32 bits. Example: SELECT minhash_union(to_minhash(''some text''), to_minhash(''some other text''))';
COMMENT ON AGGREGATE minhash_union_agg(minhash) IS
  'Signature of the union of all sets, for signatures of 16 or 32 bits. Example: SELECT minhash_union_agg(sig) FROM (VALUES (to_minhash(''some text'')), (to_minhash(''some other text''))) v (sig)';
COMMENT ON AGGREGATE minhash_agg(text) IS
  'MinHash signature of the set of all elements; NULL if there is no element. Example: SELECT minhash_agg(word) FROM (VALUES (''cat''), (''dog'')) v (word)';
COMMENT ON AGGREGATE minhash_agg(text, int) IS
  'MinHash signature of the set of all elements, with num_perm; NULL if there is no element. Example: SELECT minhash_agg(word, 64) FROM (VALUES (''cat''), (''dog'')) v (word)';
COMMENT ON AGGREGATE minhash_agg(text, int, int) IS
  'MinHash signature of the set of all elements, with num_perm and bits; NULL if there is no element. Example: SELECT minhash_agg(word, 64, 16) FROM (VALUES (''cat''), (''dog'')) v (word)';
COMMENT ON AGGREGATE minhash_agg(text, int, int, bigint) IS
  'MinHash signature of the set of all elements, with num_perm, bits and seed; NULL if there is no element. Example: SELECT minhash_agg(word, 64, 16, 1) FROM (VALUES (''cat''), (''dog'')) v (word)';
COMMENT ON AGGREGATE minhash_agg(bigint) IS
  'MinHash signature of the set of all numbers; NULL if there is no number. Example: SELECT minhash_agg(n) FROM (VALUES (10), (20)) v (n)';
COMMENT ON AGGREGATE minhash_agg(bigint, int) IS
  'MinHash signature of the set of all numbers, with num_perm; NULL if there is no number. Example: SELECT minhash_agg(n, 64) FROM (VALUES (10), (20)) v (n)';
COMMENT ON AGGREGATE minhash_agg(bigint, int, int) IS
  'MinHash signature of the set of all numbers, with num_perm and bits; NULL if there is no number. Example: SELECT minhash_agg(n, 64, 16) FROM (VALUES (10), (20)) v (n)';
COMMENT ON AGGREGATE minhash_agg(bigint, int, int, bigint) IS
  'MinHash signature of the set of all numbers, with num_perm, bits and seed; NULL if there is no number. Example: SELECT minhash_agg(n, 64, 16, 1) FROM (VALUES (10), (20)) v (n)';
COMMENT ON FUNCTION stopword_minhash(text, text[], int, int, int, bigint) IS
  'MinHash signature of the set of stopword_shingles() of a document, as set_minhash() makes it. Example: SELECT stopword_minhash(''the cat sat on the mat by the door'', ARRAY[''the'', ''on''])';
COMMENT ON FUNCTION stopword_minhash(text, regdictionary, int, int, int, bigint) IS
  'MinHash signature of the set of stopword_shingles() of a document. The stop words are those of a text search dictionary. Example: SELECT stopword_minhash(''the cat sat on the mat by the door'', ''english_stem''::regdictionary)';
COMMENT ON FUNCTION weighted_minhash(text[], float8[], int, int, bigint) IS
  'MinHash signature of a weighted set. jaccard() of two estimates sum(min) / sum(max) of their weights. Example: SELECT weighted_minhash(ARRAY[''cat'', ''dog''], ARRAY[1, 2.5])';
COMMENT ON FUNCTION weighted_jaccard_exact(text[], float8[], text[], float8[]) IS
  'sum(min) / sum(max) of two weighted sets, 0 to 1; 0 if either is empty. Example: SELECT weighted_jaccard_exact(ARRAY[''cat'', ''dog''], ARRAY[1, 2.5], ARRAY[''cat'', ''cow''], ARRAY[2, 1])';
COMMENT ON FUNCTION weighted_cosine_exact(text[], float8[], text[], float8[]) IS
  'Cosine of two weighted sets as vectors, 0 to 1; NULL if either is empty. Example: SELECT weighted_cosine_exact(ARRAY[''cat'', ''dog''], ARRAY[1, 2.5], ARRAY[''cat'', ''cow''], ARRAY[2, 1])';
COMMENT ON FUNCTION cosine_exact(float8[], float8[]) IS
  'Cosine of the angle between two vectors, -1 to 1; NULL for a vector of zeros. Example: SELECT cosine_exact(ARRAY[1, 2, 3], ARRAY[2, 4, 5.5])';
COMMENT ON TYPE simhash IS
  'SimHash of weighted features: 64 bits. The Hamming distance of two values estimates the angle between their features. Example: SELECT to_simhash(''a text of some words''), ''0123456789abcdef''::simhash';
COMMENT ON OPERATOR = (simhash, simhash) IS 'Equal in all 64 bits';
COMMENT ON OPERATOR <> (simhash, simhash) IS 'Not equal';
COMMENT ON OPERATOR < (simhash, simhash) IS 'Less than, as unsigned numbers';
COMMENT ON OPERATOR <= (simhash, simhash) IS 'Less than or equal, as unsigned numbers';
COMMENT ON OPERATOR > (simhash, simhash) IS 'Greater than, as unsigned numbers';
COMMENT ON OPERATOR >= (simhash, simhash) IS 'Greater than or equal, as unsigned numbers';
COMMENT ON FUNCTION to_simhash(text, int, text) IS
  'SimHash of the k-shingles of a document, weighted by the number of their occurrences; NULL if there is no shingle. Example: SELECT to_simhash(''a text of some words'', k => 3, unit => ''word'')';
COMMENT ON FUNCTION weighted_simhash(text[], float8[]) IS
  'SimHash of weighted features; NULL if no weight is above 0. Example: SELECT weighted_simhash(ARRAY[''cat'', ''dog''], ARRAY[1, 2.5])';
COMMENT ON FUNCTION vector_simhash(real[]) IS
  'SimHash of a vector: the sides of 64 fixed hyperplanes on which it lies; NULL for a vector of zeros. Example: SELECT vector_simhash(ARRAY[0.5, -1.2, 3]::real[])';
COMMENT ON AGGREGATE simhash_agg(text, float8) IS
  'SimHash of weighted features, one in each row; NULL if no weight is above 0. Example: SELECT simhash_agg(word, weight) FROM (VALUES (''cat'', 1), (''dog'', 2.5)) v (word, weight)';
COMMENT ON AGGREGATE simhash_agg(text) IS
  'SimHash of features of weight 1, one in each row; NULL if there is no feature. Example: SELECT simhash_agg(word) FROM (VALUES (''cat''), (''dog'')) v (word)';
COMMENT ON FUNCTION hamming(simhash, simhash) IS
  'Number of differing bits, 0 to 64. Example: SELECT hamming(to_simhash(''a text of some words''), to_simhash(''a text of other words''))';
COMMENT ON FUNCTION cosine(simhash, simhash) IS
  'Estimated cosine, cos(pi * hamming / 64), -1 to 1. Example: SELECT cosine(to_simhash(''a text of some words''), to_simhash(''a text of other words''))';
COMMENT ON OPERATOR <~> (simhash, simhash) IS
  'Hamming distance as float8, 0 to 64. Example: SELECT to_simhash(''a text of some words'') <~> to_simhash(''a text of other words'')';
COMMENT ON TYPE ctph IS
  'Context-triggered piecewise hash (fuzzy digest) of a document, as ssdeep computes it, or a longer one. Example: SELECT to_ctph(''a text of some words'')';
COMMENT ON OPERATOR = (ctph, ctph) IS 'Equal digests';
COMMENT ON OPERATOR <> (ctph, ctph) IS 'Not equal';
COMMENT ON OPERATOR < (ctph, ctph) IS 'Less than, in an arbitrary but fixed order';
COMMENT ON OPERATOR <= (ctph, ctph) IS 'Less than or equal, in an arbitrary but fixed order';
COMMENT ON OPERATOR > (ctph, ctph) IS 'Greater than, in an arbitrary but fixed order';
COMMENT ON OPERATOR >= (ctph, ctph) IS 'Greater than or equal, in an arbitrary but fixed order';
COMMENT ON FUNCTION to_ctph(text) IS
  'Fuzzy digest of the UTF-8 bytes of a text, as ssdeep computes it. Example: SELECT to_ctph(''a text of some words'')';
COMMENT ON FUNCTION to_ctph(bytea) IS
  'Fuzzy digest of bytes, as ssdeep computes it. Example: SELECT to_ctph(decode(''0123456789abcdef0123'', ''hex''))';
COMMENT ON FUNCTION ctph_long(text, int) IS
  'Longer fuzzy digest of the UTF-8 bytes of a text, with at most length characters in each part, 65 to 1024. Example: SELECT ctph_long(''a text of some words'', length => 256)';
COMMENT ON FUNCTION ctph_long(bytea, int) IS
  'Longer fuzzy digest of bytes, with at most length characters in each part, 65 to 1024. Example: SELECT ctph_long(decode(''0123456789abcdef0123'', ''hex''), length => 256)';
COMMENT ON FUNCTION ctph_score(ctph, ctph) IS
  'Score of two fuzzy digests, as ssdeep computes it, 0 to 100. Example: SELECT ctph_score(to_ctph(''a text of some words''), to_ctph(''a text of other words''))';
COMMENT ON FUNCTION ctph_edit_rate(ctph, ctph) IS
  'Levenshtein distance of two fuzzy digests divided by the sum of their lengths, 0 to 1; 1 if they have no common block size. Example: SELECT ctph_edit_rate(to_ctph(''a text of some words''), to_ctph(''a text of other words''))';
COMMENT ON OPERATOR <-> (ctph, ctph) IS
  'Edit rate of two fuzzy digests, ctph_edit_rate(a, b), 0 to 1. Example: SELECT to_ctph(''a text of some words'') <-> to_ctph(''a text of other words'')';
COMMENT ON FUNCTION jaccard(minhash, minhash) IS
  'Estimated Jaccard similarity of two sets, 0 to 1; 0 if either is empty. Example: SELECT jaccard(to_minhash(''a text of some words''), to_minhash(''a text of some other words''))';
COMMENT ON FUNCTION containment(minhash, minhash) IS
  'Estimated share of the elements of a that are in b, 0 to 1; 0 if either is empty. Not for signatures of 8 bits. Example: SELECT containment(to_minhash(''a text of some words''), to_minhash(''this is a text of some words''))';
COMMENT ON FUNCTION jaccard_exact(text[], text[]) IS
  'Exact Jaccard similarity of two sets of texts, compared by their bytes, 0 to 1; 0 if either is empty. Example: SELECT jaccard_exact(ARRAY[''cat'', ''dog''], ARRAY[''cat'', ''cow''])';
COMMENT ON FUNCTION jaccard_exact(bigint[], bigint[]) IS
  'Exact Jaccard similarity of two sets of bigint, 0 to 1; 0 if either is empty. Example: SELECT jaccard_exact(ARRAY[1, 2]::bigint[], ARRAY[2, 3]::bigint[])';
COMMENT ON OPERATOR <%> (minhash, minhash) IS
  'Jaccard distance, 1 - jaccard(a, b), 0 to 1. Example: SELECT to_minhash(''a text of some words'') <%> to_minhash(''a text of some other words'')';
COMMENT ON OPERATOR % (minhash, minhash) IS
  'Whether jaccard(a, b) >= neardup.jaccard_threshold. Example: SELECT to_minhash(''a text of some words'') % to_minhash(''a text of some other words'')';
COMMENT ON FUNCTION compare_texts(text, text, int, text) IS
  'Compares two texts: exact and estimated Jaccard similarity, shared shingles, Hamming distance, edit rate. Example: SELECT * FROM compare_texts(''a text of some words'', ''a text of some other words'', k => 2)';
COMMENT ON FUNCTION explain_pair(minhash, minhash, float8) IS
  'Explains why a pair is or is not similar at a threshold (0.8 by default). Example: SELECT * FROM explain_pair(to_minhash(''a text of some words''), to_minhash(''a text of some other words''), 0.8)';
COMMENT ON FUNCTION explain_pair(simhash, simhash, float8) IS
  'Explains why a pair is or is not similar at a Hamming distance (3 by default). Example: SELECT * FROM explain_pair(to_simhash(''a text of some words''), to_simhash(''a text of other words''), 3)';
COMMENT ON FUNCTION explain_pair(ctph, ctph, float8, float8) IS
  'Explains why a pair is or is not similar at a score (70 by default) or at an edit rate (0.1 by default). Example: SELECT * FROM explain_pair(to_ctph(''a text of some words''), to_ctph(''a text of other words''), 70, 0.1)';
COMMENT ON FUNCTION edit_distance(text, text, int) IS
  'Levenshtein distance in characters: the least number of characters to insert, delete or replace; NULL if it is above max_distance. Example: SELECT edit_distance(''kitten'', ''sitting'')';
COMMENT ON FUNCTION edit_rate(text, text, float8) IS
  'Levenshtein distance in characters divided by the sum of both lengths, 0 to 1; NULL if it is above max_rate. Example: SELECT edit_rate(''kitten'', ''sitting'')';
COMMENT ON FUNCTION edit_distance(bytea, bytea, int) IS
  'Levenshtein distance in bytes: the least number of bytes to insert, delete or replace; NULL if it is above max_distance. Example: SELECT edit_distance(decode(''010203'', ''hex''), decode(''0103'', ''hex''))';
COMMENT ON FUNCTION edit_rate(bytea, bytea, float8) IS
  'Levenshtein distance in bytes divided by the sum of both lengths, 0 to 1; NULL if it is above max_rate. Example: SELECT edit_rate(decode(''010203'', ''hex''), decode(''0103'', ''hex''))';
COMMENT ON FUNCTION karp_rabin(text) IS
  'Karp-Rabin fingerprint of the UTF-8 bytes of a text, modulo 2^61 - 1; equal documents have equal fingerprints. Example: SELECT karp_rabin(''a text of some words'')';
COMMENT ON FUNCTION karp_rabin(bytea) IS
  'Karp-Rabin fingerprint of bytes, modulo 2^61 - 1; equal documents have equal fingerprints. Example: SELECT karp_rabin(decode(''0123456789abcdef'', ''hex''))';
COMMENT ON FUNCTION karp_rabin_concat(bigint, bigint, bigint) IS
  'Fingerprint of a document followed by a second one, from the fingerprints of both and the length of the second in bytes. Example: SELECT karp_rabin_concat(karp_rabin(''some ''), karp_rabin(''text''), 4) = karp_rabin(''some text'')';
COMMENT ON FUNCTION rolling_fingerprints(text, int) IS
  'Karp-Rabin fingerprint of every run of window characters, with the position of its first character, counted from 1. Example: SELECT * FROM rolling_fingerprints(''a text of some words'', 10)';
COMMENT ON FUNCTION rolling_fingerprints(bytea, int) IS
  'Karp-Rabin fingerprint of every run of window bytes, with the position of its first byte, counted from 1. Example: SELECT * FROM rolling_fingerprints(decode(''0123456789abcdef'', ''hex''), 4)';
COMMENT ON FUNCTION create_lexicon(text, text) IS
  'Creates a table of the words in the documents of a query, with the document frequency and the idf of each; returns the number of words. Example: SELECT create_lexicon(''docs_lexicon'', ''SELECT body FROM docs'')';
COMMENT ON FUNCTION i_match(text, regclass, float8, float8) IS
  'Fingerprint of the words of a document whose normalized idf in a lexicon is from low to high; NULL if there is no such word. Example: SELECT i_match(body, ''docs_lexicon'') FROM docs';
COMMENT ON FUNCTION i_match_bag(text, regclass, int, float8, float8, float8) IS
  'Returns i_match() and the fingerprints for several parts of the lexicon, each with that share of its words. Near duplicates have overlapping arrays (&&). Example: SELECT i_match_bag(body, ''docs_lexicon'', variants => 8) FROM docs';
COMMENT ON FUNCTION word_similarities(text, int, int, int, boolean, int, text[], regdictionary, text, float8) IS
  'The k most similar words of each of the most frequent words in the documents of a query, by the words near which they occur. Example: SELECT * FROM word_similarities(''SELECT body FROM docs'', vocabulary => 100, k => 3)';
COMMENT ON TYPE neardup_word IS
  'Word of a word model: a row of the table that create_word_model() creates. Example: SELECT word, frequency FROM docs_words ORDER BY id';
COMMENT ON TYPE neardup_word_model IS
  'Arguments and progress of a word model: the row of a table that create_word_model() creates. Example: SELECT * FROM docs_words_model';
COMMENT ON PROCEDURE create_word_model(text, text, int, int, int, boolean, int, text[], regdictionary, text, float8, boolean, interval) IS
  'Creates a word model of the documents of a query. Commits after each stage and about every commit_every; after an interruption the same CALL continues where it stopped. Example: CALL create_word_model(''docs_words'', ''SELECT body FROM docs'')';
COMMENT ON FUNCTION drop_word_model(text) IS 'Drops the tables of a word model, finished or not. Example: SELECT drop_word_model(''docs_words'')';
COMMENT ON FUNCTION word_similarity(regclass, text, text) IS
  'Similarity of two words of a word model, 0 to 1; NULL if the model lacks one of them, or if neither has a feature. Example: SELECT word_similarity(''docs_words'', ''river'', ''water'')';
COMMENT ON FUNCTION similar_words(regclass, text, int) IS
  'The k most similar words of a word; fewer if the word model keeps fewer. Example: SELECT * FROM similar_words(''docs_words'', ''river'', k => 5)';
COMMENT ON FUNCTION expand_query(regclass, text, int) IS
  'The words of a text in order, each followed by its k most similar words. Example: SELECT * FROM expand_query(''docs_words'', ''river water'', k => 3)';
COMMENT ON TYPE lsh_query IS
  'Query for an lsh index: a signature, digest or set, and a bound on the similarity to it. Example: SELECT with_threshold(to_minhash(''a text of some words''), 0.8)';
COMMENT ON FUNCTION with_threshold(minhash, float8) IS
  'Signature with the least similarity to it, above 0 and at most 1: for %> and for EXCLUDE USING lsh (with_threshold(sig, 0.9) WITH &&). Example: SELECT id FROM docs WHERE sig %> with_threshold(to_minhash(''a text of some words''), 0.8)';
COMMENT ON OPERATOR = (lsh_query, lsh_query) IS 'Equal values and bounds';
COMMENT ON OPERATOR <> (lsh_query, lsh_query) IS 'Not equal';
COMMENT ON FUNCTION jaccard_at_least(minhash, minhash, float8) IS
  'Whether jaccard(sig, query) >= threshold; an lsh index serves it. Example: SELECT id FROM docs WHERE jaccard_at_least(sig, to_minhash(''a text of some words''), 0.8)';
COMMENT ON FUNCTION hamming_at_most(simhash, simhash, float8) IS
  'Whether hamming(a, b) <= distance, 0 to 64; an lsh index serves it. Example: SELECT hamming_at_most(to_simhash(''a text of some words''), to_simhash(''a text of other words''), 3)';
COMMENT ON FUNCTION ctph_score_at_least(ctph, ctph, float8) IS
  'Whether ctph_score(a, b) >= score, 0 to 100; an lsh index serves it for a score above 0. Example: SELECT ctph_score_at_least(to_ctph(''a text of some words''), to_ctph(''a text of other words''), 70)';
COMMENT ON FUNCTION ctph_edit_rate_at_most(ctph, ctph, float8) IS
  'Whether ctph_edit_rate(a, b) <= rate, 0 to 1; an lsh index serves rates up to its max_rate. Example: SELECT ctph_edit_rate_at_most(to_ctph(''a text of some words''), to_ctph(''a text of other words''), 0.1)';
COMMENT ON OPERATOR %> (minhash, lsh_query) IS
  'Whether the Jaccard similarity to the signature of the query is at least its bound. Example: SELECT to_minhash(''a text of some words'') %> with_threshold(to_minhash(''a text of some other words''), 0.5)';
COMMENT ON OPERATOR %> (simhash, lsh_query) IS
  'Whether the Hamming distance to the value of the query is at most its bound. Example: SELECT ''0123456789abcdef''::simhash %> ''hamming<=3 0123456789abcdee''::lsh_query';
COMMENT ON OPERATOR %> (ctph, lsh_query) IS
  'Whether the score with the digest of the query is at least its bound, or the edit rate at most its bound. Example: SELECT ''3:abcdefgh:abcd''::ctph %> ''ctph_score>=70 3:abcdefgh:abcd''::lsh_query';
COMMENT ON OPERATOR && (lsh_query, lsh_query) IS
  'Whether the Jaccard similarity of both signatures is at least the greater of both thresholds. Example: SELECT with_threshold(to_minhash(''some text''), 0.9) && with_threshold(to_minhash(''some other text''), 0.8)';
COMMENT ON ACCESS METHOD lsh IS
  'Index for near duplicates, by bands of signatures; a query returns the same rows as a sequential scan. Example: CREATE INDEX docs_sig ON docs USING lsh (sig)';
COMMENT ON OPERATOR CLASS lsh_query_ops USING lsh IS 'Exclusion constraints on with_threshold()';
COMMENT ON OPERATOR CLASS ctph_ops USING lsh IS 'Score and edit rate of ctph digests; option max_rate';
COMMENT ON FUNCTION band_keys(minhash, float8) IS
  'Keys for joins: any two comparable signatures with jaccard >= threshold share at least one key; test jaccard() then, because a shared key makes only a candidate. Example: SELECT id, band_keys(sig, 0.8) FROM docs';
COMMENT ON FUNCTION lsh_probability(float8, int, int) IS
  'Probability that at least one of the bands agrees, 1 - (1 - similarity ^ rows) ^ bands. Example: SELECT lsh_probability(0.8, bands => 20, rows => 5)';
COMMENT ON FUNCTION neardup_guard() IS
  'BEFORE INSERT OR UPDATE trigger that refuses near copies, or skips them: (signature, threshold [, ''refuse'' or ''skip'']). Example: CREATE TRIGGER no_copies BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard(''sig'', ''0.9'')';
COMMENT ON FUNCTION neardup_flag() IS
  'BEFORE INSERT OR UPDATE trigger that marks near copies: (signature, threshold, column to fill [, column to fill it from]). Example: CREATE TRIGGER flag_copies BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION neardup_flag(''sig'', ''0.9'', ''copy_of'')';
COMMENT ON FUNCTION jaccard_exact(int[], int[]) IS
  'Exact Jaccard similarity of two sets of int, 0 to 1; 0 if either is empty. Example: SELECT jaccard_exact(ARRAY[1, 2], ARRAY[2, 3])';
COMMENT ON FUNCTION jaccard_exact(smallint[], smallint[]) IS
  'Exact Jaccard similarity of two sets of smallint, 0 to 1; 0 if either is empty. Example: SELECT jaccard_exact(ARRAY[1, 2]::smallint[], ARRAY[2, 3]::smallint[])';
COMMENT ON FUNCTION jaccard_exact_at_least(bigint[], bigint[], float8) IS
  'Whether jaccard_exact(a, b) >= threshold, above 0 and at most 1; an lsh index serves it. Example: SELECT jaccard_exact_at_least(ARRAY[1, 2]::bigint[], ARRAY[2, 3]::bigint[], 0.3)';
COMMENT ON FUNCTION jaccard_exact_at_least(int[], int[], float8) IS
  'Whether jaccard_exact(a, b) >= threshold, above 0 and at most 1; an lsh index serves it. Example: SELECT jaccard_exact_at_least(ARRAY[1, 2], ARRAY[2, 3], 0.3)';
COMMENT ON OPERATOR %> (bigint[], lsh_query) IS
  'Whether a set is as near to that of the query as its bound demands: by Jaccard similarity, containment or overlap. Example: SELECT ARRAY[1, 2]::bigint[] %> ''set_jaccard>=0.3 {2,3}''::lsh_query';
COMMENT ON OPERATOR %> (int[], lsh_query) IS
  'Whether a set is as near to that of the query as its bound demands: by Jaccard similarity, containment or overlap. Example: SELECT ARRAY[1, 2] %> ''set_jaccard>=0.3 {2,3}''::lsh_query';
COMMENT ON OPERATOR CLASS int8_set_ops USING lsh IS 'Exact Jaccard similarity of sets of bigint';
COMMENT ON OPERATOR CLASS int4_set_ops USING lsh IS 'Exact Jaccard similarity of sets of int';
COMMENT ON FUNCTION minutiae_cells(point[], int, float8) IS
  'Cells of a grid over the unit square that contain a point; a point nearer than margin (in widths of a cell) to a border is in the cells on both sides. Example: SELECT minutiae_cells(ARRAY[point(0.1, 0.2), point(0.7, 0.3)])';
COMMENT ON FUNCTION minutiae_buckets(int[], int, int, int) IS
  'Buckets that contain a set of cells: the numbers of the functions all of whose cells are in the set. Example: SELECT minutiae_buckets(array(SELECT generate_series(0, 1000)), functions => 1024)';
COMMENT ON OPERATOR CLASS minutiae_ops USING lsh IS 'Jaccard similarity of sets of cells that share a bucket; options functions, cells, grid';
COMMENT ON FUNCTION lsh_info(regclass, boolean) IS
  'Properties and sizes of an lsh index. With count_pages it reads the whole index to count free_pages and orphan_pages. Example: SELECT guarantee, rows, pages FROM lsh_info(''docs_sig'')';
COMMENT ON FUNCTION lsh_check(regclass, boolean) IS
  'Raises an error if an lsh index is damaged. With heapallindexed it also compares the index with every visible row of its table. Example: SELECT lsh_check(''docs_sig'', heapallindexed => true)';
COMMENT ON FUNCTION lsh_hot_buckets(regclass, bigint, int) IS
  'The longest lists of an lsh index, longest first: keys, as stored, that at_least rows or more share. Example: SELECT * FROM lsh_hot_buckets(''docs_sig'', at_least => 2)';
COMMENT ON FUNCTION lsh_pages(regclass) IS 'Header of every page of an lsh index. Example: SELECT block, kind, entries FROM lsh_pages(''docs_sig'')';
COMMENT ON FUNCTION explain_pair(regclass, minhash, minhash, float8) IS
  'Explains why an lsh index finds or does not find b for the query a at a threshold (0.8 by default). Example: SELECT * FROM explain_pair(''docs_sig'', to_minhash(''some text''), to_minhash(''some other text''), 0.8)';
COMMENT ON FUNCTION explain_pair(regclass, simhash, simhash, float8) IS
  'Explains why an lsh index finds or does not find b for the query a at a Hamming distance (3 by default). Example: SELECT * FROM explain_pair(''docs_hash'', to_simhash(''some text''), to_simhash(''some other text''), 3)';
COMMENT ON FUNCTION explain_pair(regclass, ctph, ctph, float8, float8) IS
  'Explains why an lsh index finds or does not find b for the query a at a score (70 by default) or an edit rate (0.1 by default). Example: SELECT * FROM explain_pair(''docs_digest'', to_ctph(''some text''), to_ctph(''some other text''), 70, 0.1)';
COMMENT ON FUNCTION neardup_progress() IS
  'Progress of each call of all_pairs() and related functions that runs now, for roles whose statistics you may see. Example: SELECT * FROM neardup_progress()';
COMMENT ON FUNCTION cluster_anchor(minhash, float8) IS
  'Number of the earliest kept row, in the order of the window, that this row is similar to; its own number if it is kept. Example: SELECT id, cluster_anchor(to_minhash(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
COMMENT ON FUNCTION cluster_connected(minhash, float8) IS
  'Number of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_minhash(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
COMMENT ON FUNCTION cluster_anchor(simhash, float8) IS
  'Number of the earliest kept row, in the order of the window, that this row is similar to; its own number if it is kept. Example: SELECT id, cluster_anchor(to_simhash(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
COMMENT ON FUNCTION cluster_connected(simhash, float8) IS
  'Number of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_simhash(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
COMMENT ON FUNCTION cluster_anchor(ctph, float8) IS
  'Number of the earliest kept row, in the order of the window, that this row is similar to; its own number if it is kept. Example: SELECT id, cluster_anchor(to_ctph(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
COMMENT ON FUNCTION cluster_connected(ctph, float8) IS
  'Number of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_ctph(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
COMMENT ON FUNCTION blocked_pairs(text, text, int) IS
  'Pairs of rows (id, key, ...) of one query or of two that agree in at least one key, and the numbers of these keys. Example: SELECT * FROM blocked_pairs(''SELECT id, lower(left(body, 8)), at FROM docs'')';
COMMENT ON FUNCTION blocked_pairs(text, anyelement, int) IS
  'The pairs that blocked_pairs() returns for one query, for ids of the type of id. Example: SELECT * FROM blocked_pairs(''SELECT id::text, lower(left(body, 8)), at FROM docs'', id => NULL::text)';
COMMENT ON FUNCTION blocked_pairs(text, text, anyelement, int) IS
  'The pairs that blocked_pairs() returns for two queries, for ids of the type of id. Example: SELECT * FROM blocked_pairs(''SELECT id::text, at FROM docs'', ''SELECT id::text, at FROM docs'', id => NULL::text)';
COMMENT ON FUNCTION oversized_blocks(text, text, int) IS
  'Values of keys for which blocked_pairs() returns no pairs, because more than max_block rows share them, largest first. Example: SELECT * FROM oversized_blocks(''SELECT id, lower(left(body, 8)) FROM docs'', max_block => 2)';
COMMENT ON FUNCTION neardup_text_score(text, text) IS
  'Similarity of two fields of records by words in any order, edit distance and initials, 0 to 100; NULL if either has no letter or digit. Example: SELECT neardup_text_score(''Smith, John'', ''John Smyth'')';
COMMENT ON FUNCTION neardup_score_precision(float8, float8, float8) IS
  'Share of true pairs in a class of pairs, 0 to 1. The arguments are mean distances: in the class, of true pairs, of random pairs. Example: SELECT neardup_score_precision(observed => 0.3, gold => 0.1, random => 0.9)';
COMMENT ON FUNCTION neardup_devices() IS
  'GPUs of this machine, and whether each can be used. If there is none, one row with a NULL device and the reason. Example: SELECT * FROM neardup_devices()';
COMMENT ON TYPE neardup_profile IS
  'Parameters with which documents are signed: a row of a table that create_profile() creates. Example: SELECT neardup_profile_named(''default'')';
COMMENT ON FUNCTION neardup_default_profiles() IS 'Built-in profiles. Example: SELECT * FROM neardup_default_profiles()';
COMMENT ON FUNCTION neardup_profile_named(text) IS
  'Built-in profile of this name, or the newest version of your own profile. Example: SELECT * FROM neardup_profile_named(''default'')';
COMMENT ON FUNCTION neardup_sign_sql(neardup_profile, regtype, text) IS
  'SQL expression that signs documents as a profile says. Example: SELECT neardup_sign_sql(neardup_profile_named(''default''), ''text'', ''body'')';
COMMENT ON TYPE neardup_job IS
  'Job that maintains a table of duplicates: the row of a table that create_duplicates() creates. Example: SELECT * FROM doc_copies_job';
COMMENT ON FUNCTION neardup_content_hash(text) IS
  'XXH3 hash of 128 bits of the UTF-8 bytes of a text; equal texts have equal hashes. It does not exclude deliberate collisions. Example: SELECT neardup_content_hash(''a text of some words'')';
COMMENT ON FUNCTION neardup_content_hash(bytea) IS
  'XXH3 hash of 128 bits of bytes. It does not exclude deliberate collisions. Example: SELECT neardup_content_hash(decode(''0123456789abcdef'', ''hex''))';
COMMENT ON FUNCTION neardup_search_threshold(minhash, float8) IS
  'Least similarity of signatures at which 999 of 1000 pairs of documents with Jaccard similarity >= threshold are found. Example: SELECT neardup_search_threshold(to_minhash(''a text of some words''), 0.8)';
COMMENT ON FUNCTION drop_duplicates(text) IS
  'Drops a table of duplicates with its job, signatures and history. Example: SELECT drop_duplicates(''doc_copies'')';
COMMENT ON FUNCTION pause_duplicates(text, boolean) IS
  'Pauses a job, or resumes it with paused => false. A paused job is not refreshed; a running refresh stops after its batch. Example: SELECT pause_duplicates(''doc_copies'')';
COMMENT ON FUNCTION rename_duplicates(text, text) IS
  'Renames a table of duplicates and the other tables of its job. Example: SELECT rename_duplicates(''doc_copies'', ''doc_duplicates'')';
COMMENT ON FUNCTION neardup_s_curve(float8, int, int, int) IS
  'Plot as text: the probability that pairs of each similarity are found at a threshold, or by this number of bands and rows. Example: SELECT neardup_s_curve(0.8)';
COMMENT ON FUNCTION neardup_version() IS
  'Versions of the SQL objects, of the library and of the stored formats, and the kernels in use. Example: SELECT * FROM neardup_version()';
