-- From 0.2.0 to 0.3.0: what users name is opened once, by its OID, under a lock; a job owns its tables; functions have pg_catalog as their search_path.
\echo Use "ALTER EXTENSION neardup UPDATE TO '0.3.0'" to load this file. \quit

-- What users do not call is in a schema of its own.
CREATE SCHEMA neardup_internal;
COMMENT ON SCHEMA neardup_internal IS 'extension neardup: what its types, operators, indexes and jobs are made of';
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
ALTER TYPE neardup_profile ADD ATTRIBUTE normalization text CASCADE;
DROP FUNCTION neardup_word_model_names(text);
DROP FUNCTION neardup_make_signatures(regclass, neardup_job);
-- What is in C++ now.
DROP FUNCTION neardup_made_meanwhile(text);
DROP FUNCTION neardup_expression_type(regclass, text);
DROP FUNCTION neardup_raise(text, text, text, text);
DROP FUNCTION neardup_job_indexes(regclass);
DROP FUNCTION neardup_drop(text, text[]);
DROP FUNCTION neardup_locked_job(text);
DROP FUNCTION neardup_job_column(regclass, name, text);
DROP FUNCTION neardup_job_kind(neardup_job);
DROP FUNCTION neardup_job_key(neardup_job);
DROP FUNCTION neardup_job_stored(regclass);
DROP FUNCTION neardup_job_rows(neardup_job);
DROP FUNCTION neardup_job_hash(neardup_job, text, text);
DROP FUNCTION neardup_job_differs(neardup_job, text, text);
DROP FUNCTION neardup_check_order(regtype, text);
DROP FUNCTION neardup_check_job(neardup_job);
DROP FUNCTION neardup_check_condition(regclass, text, text);
DROP FUNCTION neardup_clear_signatures(regclass, neardup_job);
DROP FUNCTION neardup_check_profile(neardup_profile);
DROP FUNCTION neardup_document_sql(neardup_profile, regtype, text);
DROP FUNCTION neardup_profile_path(text);
DROP FUNCTION neardup_words_given(text);
DROP FUNCTION neardup_is_word_table(regclass, regtype);
DROP FUNCTION neardup_lock_word_model(text, text);
DROP FUNCTION neardup_same_word_model(neardup_word_model, neardup_word_model);
DROP FUNCTION neardup_dictionary_name(regdictionary);
DROP PROCEDURE neardup_make_word_model(text, text, int, int, int, boolean, int, text[], regdictionary, text, float8, boolean, interval);
DROP FUNCTION neardup_job_temp(regclass, text);
DROP FUNCTION neardup_refresh_columns(regclass, neardup_job);
DROP FUNCTION neardup_refresh_types(regclass, neardup_job);
DROP FUNCTION neardup_refresh_list(regclass, neardup_job);
DROP FUNCTION neardup_refresh_sign(regclass, neardup_job, bigint, bigint);
DROP FUNCTION neardup_refresh_threshold(regclass, neardup_job);
DROP FUNCTION neardup_refresh_near(text, float8, text, text);
DROP FUNCTION neardup_refresh_index(regclass, neardup_job);
DROP FUNCTION neardup_refresh_touched(regclass, neardup_job);
DROP FUNCTION neardup_refresh_cluster(regclass, neardup_job);
DROP FUNCTION neardup_refresh_step(regclass, int);
DROP PROCEDURE neardup_refresh(regclass, int, interval, boolean);
DROP FUNCTION neardup_match_tail(int, float8);
DROP FUNCTION neardup_matches_needed(int, float8);
DROP FUNCTION neardup_reading_cursor(text, text, text[]);
DROP FUNCTION neardup_suggest_query_us(text[], text, int, int, float8);
DROP FUNCTION neardup_suggest_sample(text);
DROP FUNCTION neardup_suggest_labels(text);
DROP FUNCTION neardup_suggest_of(text[], text[], bigint, int, int, boolean, text, text[], text[], boolean[], float8);

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
DROP FUNCTION create_profile(text, text, text, text, int, int, int, bigint, text, text, text, int);
DROP FUNCTION alter_profile(text, text, text, int, int, int, bigint, text, text, text, int);
DROP PROCEDURE refresh_duplicates(text, int, interval, boolean);
DROP FUNCTION neardup_suggest(text, text, float8);

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
  'id of the earliest kept row, in the window''s order, that this row is near; its own when it is kept';
CREATE FUNCTION cluster_connected(value minhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(minhash, float8, anyelement) IS
  'id of the first row, in the window''s order, of this row''s connected component';
CREATE FUNCTION cluster_anchor(value simhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(simhash, float8, anyelement) IS
  'id of the earliest kept row, in the window''s order, that this row is near; its own when it is kept';
CREATE FUNCTION cluster_connected(value simhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(simhash, float8, anyelement) IS
  'id of the first row, in the window''s order, of this row''s connected component';
CREATE FUNCTION cluster_anchor(value ctph, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(ctph, float8, anyelement) IS
  'id of the earliest kept row, in the window''s order, that this row is near; its own when it is kept';
CREATE FUNCTION cluster_connected(value ctph, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(ctph, float8, anyelement) IS
  'id of the first row, in the window''s order, of this row''s connected component';
CREATE FUNCTION jaccard(a text, b text) RETURNS float8
  AS 'MODULE_PATHNAME', 'jaccard_of_texts' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION jaccard(text, text) IS
  'an error that says how to compare texts, or the similarity of two text forms of signatures';
CREATE FUNCTION set_minhash(elements text, num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'set_minhash_of_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION set_minhash(text, int, int, bigint) IS 'an error that says how to write an array';

CREATE FUNCTION lsh_why_not(query text, OUT condition text, OUT relation regclass, OUT index regclass, OUT served boolean,
    OUT reason text) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 5;
COMMENT ON FUNCTION lsh_why_not(text) IS
  'for each condition of a query, and each lsh index of its table, whether its plan uses the index, and why not';

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
  'encoding of a document, by PostgreSQL''s name, and how likely that is the right one, 0 to 1';
CREATE FUNCTION neardup_signed_text(document bytea, encoding text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_signed_text(bytea, text) IS
  'as neardup_decode(), and a character that the database''s encoding lacks is spelled, such as u4e2d, as a word of its own';
CREATE FUNCTION neardup_characters(body text) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_characters(text) IS 'number of characters of a text; in a SQL_ASCII database those of its UTF-8';
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
COMMENT ON FUNCTION neardup_rules_named(text) IS 'the rows of a table of type neardup_rule, by position, as neardup_clean takes them';
CREATE OR REPLACE FUNCTION neardup_profile_named(name text) RETURNS neardup_profile
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
CREATE OR REPLACE FUNCTION neardup_sign_sql(p neardup_profile, body_type regtype, body text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
CREATE FUNCTION create_profile(name text, base text = 'default', signature text = NULL, unit text = NULL, k int = NULL,
    num_perm int = NULL, bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL,
    min_length int = NULL, normalization text = NULL) RETURNS regclass
  AS 'MODULE_PATHNAME', 'neardup_create_profile' LANGUAGE C;
COMMENT ON FUNCTION create_profile(text, text, text, text, int, int, int, bigint, text, text, text, int, text) IS
  'makes a profile, a table of that name, version 1; what is not given is as in the profile base';
CREATE FUNCTION alter_profile(name text, signature text = NULL, unit text = NULL, k int = NULL, num_perm int = NULL,
    bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL, min_length int = NULL,
    normalization text = NULL) RETURNS int
  AS 'MODULE_PATHNAME', 'neardup_alter_profile' LANGUAGE C;
COMMENT ON FUNCTION alter_profile(text, text, text, int, int, int, bigint, text, text, text, int, text) IS
  'adds a version to a profile and gives its number; jobs sign all rows anew at their next refresh';
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
  'brings a table of duplicates up to date; commits after each batch, continues where an interrupted one stopped; rebuild => true reads and clusters all rows';
CREATE FUNCTION check_duplicates(name text) RETURNS TABLE (id text, what text, "is" text, should text)
  AS 'MODULE_PATHNAME', 'neardup_check_duplicates' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION check_duplicates(text) IS
  'returns the differences between a table of duplicates and the signatures of its rows: no row, unless somebody changed it by hand';
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
  'the jobs that you may read: phase (signing: rows done of total; clustering: per cent), rate a second, time left, last error; rows, clusters and duplicates of the result, when the last refresh ended, how long it took, how many rows had changed; what to do next';
CREATE OR REPLACE FUNCTION neardup_s_curve(threshold float8, num_perm int = 128, bands int = NULL, rows int = NULL) RETURNS SETOF text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100 ROWS 30;
CREATE FUNCTION neardup_suggest(query text, labels text = NULL, edit_similarity float8 = 0.8)
  RETURNS TABLE (unit text, k int, threshold float8, num_perm int, bits int, index_options text, expected_recall float8,
                 expected_precision float8, precision_low float8, precision_high float8, bytes_per_row float8, signing_us float8,
                 query_us float8, pairs bigint, families bigint, is_default boolean, note text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 19 SET jit = off;
COMMENT ON FUNCTION neardup_suggest(text, text, float8) IS
  'unit, k, num_perm and threshold for the documents of a query, best first, measured on a sample of them: SELECT * FROM neardup_suggest(''SELECT id, body FROM docs'')';
CREATE FUNCTION neardup_suggest_examples(query text, labels text = NULL, edit_similarity float8 = 0.8)
  RETURNS TABLE (unit text, k int, threshold float8, is_default boolean, id_a text, id_b text, similarity float8,
                 is_duplicate boolean, difference text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 70;
COMMENT ON FUNCTION neardup_suggest_examples(text, text, float8) IS
  'the pairs on both sides of each threshold that neardup_suggest proposes, for you to judge: SELECT * FROM neardup_suggest_examples(''SELECT id, body FROM docs'')';

-- Who might use what was made anew may use it now.
DO $do$
DECLARE
  f record;
  g record;
BEGIN
  FOR f IN SELECT v.what, pg_catalog.current_setting(v.kept) AS acl
           FROM (VALUES ('neardup_update.create_profile', 'FUNCTION @extschema@.create_profile(text, text, text, text, int, int, int, bigint, text, text, text, int, text)'),
                        ('neardup_update.alter_profile', 'FUNCTION @extschema@.alter_profile(text, text, text, int, int, int, bigint, text, text, text, int, text)'),
                        ('neardup_update.refresh_duplicates', 'PROCEDURE @extschema@.refresh_duplicates(text, int, interval, boolean, boolean)'),
                        ('neardup_update.neardup_suggest', 'FUNCTION @extschema@.neardup_suggest(text, text, pg_catalog.float8)'),
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
