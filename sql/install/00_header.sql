-- neardup: near-duplicate documents inside PostgreSQL.
\echo Use "CREATE EXTENSION neardup" to load this file. \quit

-- Statements that functions put together by format() name it.
DO $$
BEGIN
  IF pg_catalog.strpos('@extschema@', '%') OPERATOR(pg_catalog.>) 0 THEN
    RAISE EXCEPTION 'neardup cannot be in a schema with a %% in its name: %', '@extschema@' USING ERRCODE = 'invalid_schema_name';
  END IF;
END $$;

-- What users do not call: support functions of types, operators, aggregates, indexes and jobs.
CREATE SCHEMA neardup_internal;
COMMENT ON SCHEMA neardup_internal IS 'Objects that the extension neardup uses itself: the parts of its types, operators, indexes and jobs';
GRANT USAGE ON SCHEMA neardup_internal TO PUBLIC;

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
CREATE FUNCTION neardup_internal.lsh_overlap_bounds(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_overlap_bounds(internal) IS 'private: planner support of overlap_exact()';
