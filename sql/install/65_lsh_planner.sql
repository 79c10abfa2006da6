-- Statistics of near duplicates --------------------------------------------------------------------------------------

CREATE FUNCTION minhash_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_typanalyze(internal) IS 'private: ANALYZE of minhash columns';
ALTER TYPE minhash SET (ANALYZE = minhash_typanalyze);

