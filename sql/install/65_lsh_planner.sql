-- Statistics of near duplicates --------------------------------------------------------------------------------------

CREATE FUNCTION neardup_internal.minhash_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.minhash_typanalyze(internal) IS 'private: ANALYZE of minhash columns';
ALTER TYPE minhash SET (ANALYZE = neardup_internal.minhash_typanalyze);
CREATE FUNCTION neardup_internal.simhash_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.simhash_typanalyze(internal) IS 'private: ANALYZE of simhash columns';
ALTER TYPE simhash SET (ANALYZE = neardup_internal.simhash_typanalyze);
CREATE FUNCTION neardup_internal.ctph_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.ctph_typanalyze(internal) IS 'private: ANALYZE of ctph columns';
ALTER TYPE ctph SET (ANALYZE = neardup_internal.ctph_typanalyze);
