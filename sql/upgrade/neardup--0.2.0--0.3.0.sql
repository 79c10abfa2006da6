-- From 0.2.0 to 0.3.0.
\echo Use "ALTER EXTENSION neardup UPDATE TO '0.3.0'" to load this file. \quit

-- minhash_union_agg() of one signature of 8 bits

CREATE FUNCTION minhash_union_final(minhash) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_union_final(minhash) IS 'private: refuses a union of one signature of 8 bits, as of several';
CREATE OR REPLACE AGGREGATE minhash_union_agg(signature minhash) (
  SFUNC = minhash_union, STYPE = minhash, FINALFUNC = minhash_union_final, COMBINEFUNC = minhash_union, PARALLEL = SAFE);
