-- Weighted sets ------------------------------------------------------------------------------------------------------

CREATE FUNCTION weighted_minhash(features text[], weights float8[], num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'minhash_from_weighted_set' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION weighted_minhash(text[], float8[], int, int, bigint) IS
  'MinHash signature of a weighted set. jaccard() of two estimates sum(min) / sum(max) of their weights. Example: SELECT weighted_minhash(ARRAY[''cat'', ''dog''], ARRAY[1, 2.5])';
CREATE FUNCTION weighted_jaccard_exact(a_features text[], a_weights float8[], b_features text[], b_weights float8[])
  RETURNS float8 AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION weighted_jaccard_exact(text[], float8[], text[], float8[]) IS
  'sum(min) / sum(max) of two weighted sets, 0 to 1; 0 if either is empty. Example: SELECT weighted_jaccard_exact(ARRAY[''cat'', ''dog''], ARRAY[1, 2.5], ARRAY[''cat'', ''cow''], ARRAY[2, 1])';
CREATE FUNCTION weighted_cosine_exact(a_features text[], a_weights float8[], b_features text[], b_weights float8[])
  RETURNS float8 AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION weighted_cosine_exact(text[], float8[], text[], float8[]) IS
  'Cosine of two weighted sets as vectors, 0 to 1; NULL if either is empty. Example: SELECT weighted_cosine_exact(ARRAY[''cat'', ''dog''], ARRAY[1, 2.5], ARRAY[''cat'', ''cow''], ARRAY[2, 1])';
CREATE FUNCTION cosine_exact(a float8[], b float8[])
  RETURNS float8 AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cosine_exact(float8[], float8[]) IS
  'Cosine of the angle between two vectors, -1 to 1; NULL for a vector of zeros. Example: SELECT cosine_exact(ARRAY[1, 2, 3], ARRAY[2, 4, 5.5])';
