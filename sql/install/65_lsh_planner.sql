-- Statistics of near duplicates --------------------------------------------------------------------------------------

CREATE FUNCTION minhash_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_typanalyze(internal) IS 'private: ANALYZE of minhash columns';
ALTER TYPE minhash SET (ANALYZE = minhash_typanalyze);
CREATE FUNCTION simhash_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_typanalyze(internal) IS 'private: ANALYZE of simhash columns';
ALTER TYPE simhash SET (ANALYZE = simhash_typanalyze);
CREATE FUNCTION ctph_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ctph_typanalyze(internal) IS 'private: ANALYZE of ctph columns';
ALTER TYPE ctph SET (ANALYZE = ctph_typanalyze);
