-- Measures -----------------------------------------------------------------------------------------------------------

-- These are not LEAKPROOF: their errors tell how a signature was made (unit, k, size, seed). 64_lsh_quiet.sql has the
-- conditions by which an index serves them under row security.
CREATE FUNCTION jaccard(a minhash, b minhash) RETURNS float8
  AS 'MODULE_PATHNAME', 'minhash_jaccard' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION jaccard(minhash, minhash) IS
  'Estimated Jaccard similarity of two sets, 0 to 1; 0 if either is empty. Example: SELECT jaccard(to_minhash(''a text of some words''), to_minhash(''a text of some other words''))';
CREATE FUNCTION jaccard(a text, b text) RETURNS float8
  AS 'MODULE_PATHNAME', 'jaccard_of_texts' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION jaccard(text, text) IS
  'Raises an error that shows how to compare texts; for the text forms of two signatures, returns their similarity. Example: SELECT jaccard(to_minhash(''a text of some words''), to_minhash(''a text of some other words''))';
CREATE FUNCTION containment(a minhash, b minhash) RETURNS float8
  AS 'MODULE_PATHNAME', 'minhash_containment' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION containment(minhash, minhash) IS
  'Estimated share of the elements of a that are in b, 0 to 1; 0 if either is empty. Not for signatures of 8 bits. Example: SELECT containment(to_minhash(''a text of some words''), to_minhash(''this is a text of some words''))';
CREATE FUNCTION jaccard_exact(a text[], b text[]) RETURNS float8
  AS 'MODULE_PATHNAME', 'jaccard_exact_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION jaccard_exact(text[], text[]) IS
  'Exact Jaccard similarity of two sets of texts, compared by their bytes, 0 to 1; 0 if either is empty. Example: SELECT jaccard_exact(ARRAY[''cat'', ''dog''], ARRAY[''cat'', ''cow''])';
CREATE FUNCTION jaccard_exact(a bigint[], b bigint[]) RETURNS float8
  AS 'MODULE_PATHNAME', 'jaccard_exact_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION jaccard_exact(bigint[], bigint[]) IS
  'Exact Jaccard similarity of two sets of bigint, 0 to 1; 0 if either is empty. Example: SELECT jaccard_exact(ARRAY[1, 2]::bigint[], ARRAY[2, 3]::bigint[])';

CREATE FUNCTION neardup_internal.minhash_jaccard_distance(a minhash, b minhash) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION neardup_internal.minhash_jaccard_distance(minhash, minhash) IS
  'implementation of <%>: 1 - jaccard(a, b)';
CREATE OPERATOR <%> (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = neardup_internal.minhash_jaccard_distance,
  COMMUTATOR = <%>);
COMMENT ON OPERATOR <%> (minhash, minhash) IS
  'Jaccard distance, 1 - jaccard(a, b), 0 to 1. Example: SELECT to_minhash(''a text of some words'') <%> to_minhash(''a text of some other words'')';

-- Selectivity of similarity conditions
CREATE FUNCTION neardup_internal.lsh_sel(internal, oid, internal, int) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_sel(internal, oid, internal, int) IS 'private: selectivity of %, %> and &&';
CREATE FUNCTION neardup_internal.lsh_joinsel(internal, oid, internal, smallint, internal) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_joinsel(internal, oid, internal, smallint, internal) IS
  'private: selectivity of %, %> and && in joins';

-- STABLE: reads neardup.jaccard_threshold.
CREATE FUNCTION neardup_internal.minhash_similar(a minhash, b minhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION neardup_internal.minhash_similar(minhash, minhash) IS 'implementation of %';
CREATE OPERATOR % (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = neardup_internal.minhash_similar, COMMUTATOR = %,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR % (minhash, minhash) IS
  'Whether jaccard(a, b) >= neardup.jaccard_threshold. Example: SELECT to_minhash(''a text of some words'') % to_minhash(''a text of some other words'')';

-- Explaining

CREATE FUNCTION compare_texts(a text, b text, k int = 3, unit text = 'word', OUT jaccard float8, OUT estimate float8,
    OUT a_in_b float8, OUT b_in_a float8, OUT shared bigint, OUT only_a bigint, OUT only_b bigint, OUT hamming int,
    OUT edit_rate float8, OUT note text)
  AS 'MODULE_PATHNAME', 'neardup_compare_texts' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3000;
COMMENT ON FUNCTION compare_texts(text, text, int, text) IS
  'Compares two texts: exact and estimated Jaccard similarity, shared shingles, Hamming distance, edit rate. Example: SELECT * FROM compare_texts(''a text of some words'', ''a text of some other words'', k => 2)';
CREATE FUNCTION explain_pair(a minhash, b minhash, threshold float8 = 0.8, OUT comparable boolean, OUT matches int,
    OUT needed int, OUT jaccard float8, OUT standard_error float8, OUT verdict text)
  AS 'MODULE_PATHNAME', 'minhash_explain_pair' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION explain_pair(minhash, minhash, float8) IS
  'Explains why a pair is or is not similar at a threshold (0.8 by default). Example: SELECT * FROM explain_pair(to_minhash(''a text of some words''), to_minhash(''a text of some other words''), 0.8)';

CREATE FUNCTION explain_pair(a simhash, b simhash, distance float8 = 3, OUT hamming int, OUT cosine float8,
    OUT verdict text)
  AS 'MODULE_PATHNAME', 'simhash_explain_pair' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION explain_pair(simhash, simhash, float8) IS
  'Explains why a pair is or is not similar at a Hamming distance (3 by default). Example: SELECT * FROM explain_pair(to_simhash(''a text of some words''), to_simhash(''a text of other words''), 3)';
CREATE FUNCTION explain_pair(a ctph, b ctph, score float8 = 70, rate float8 = 0.1, OUT comparable boolean,
    OUT block_size bigint, OUT ctph_score int, OUT ctph_edit_rate float8, OUT verdict text)
  AS 'MODULE_PATHNAME', 'ctph_explain_pair' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION explain_pair(ctph, ctph, float8, float8) IS
  'Explains why a pair is or is not similar at a score (70 by default) or at an edit rate (0.1 by default). Example: SELECT * FROM explain_pair(to_ctph(''a text of some words''), to_ctph(''a text of other words''), 70, 0.1)';
