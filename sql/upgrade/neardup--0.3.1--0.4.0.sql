-- From 0.3.1 to 0.4.0.
\echo Use "ALTER EXTENSION neardup UPDATE TO '0.4.0'" to load this file. \quit

-- The Dice coefficient and the cosine of sets.
CREATE FUNCTION dice_exact(a bigint[], b bigint[]) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION dice_exact(bigint[], bigint[]) IS
  'Dice coefficient of two sets of bigint, 2 |a and b| / (|a| + |b|), 0 to 1; 0 if either is empty. Example: SELECT dice_exact(ARRAY[1, 2]::bigint[], ARRAY[2, 3]::bigint[])';
CREATE FUNCTION dice_exact(a int[], b int[]) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION dice_exact(int[], int[]) IS
  'Dice coefficient of two sets of int, 2 |a and b| / (|a| + |b|), 0 to 1; 0 if either is empty. Example: SELECT dice_exact(ARRAY[1, 2], ARRAY[2, 3])';
CREATE FUNCTION neardup_internal.lsh_dice_query(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_dice_query(bigint[], float8) IS
  'private: dice_exact(.., set) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_dice_query(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_dice_query(int[], float8) IS
  'private: dice_exact(.., set) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_dice_query_strict(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_dice_query_strict(bigint[], float8) IS
  'private: the same for bounds of the named predicate';
CREATE FUNCTION neardup_internal.lsh_dice_query_strict(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_dice_query_strict(int[], float8) IS
  'private: the same for bounds of the named predicate';
CREATE FUNCTION neardup_internal.lsh_dice_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_dice_support(internal) IS
  'private: planner support of dice_exact_at_least()';
CREATE FUNCTION dice_exact_at_least(a bigint[], b bigint[], threshold float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_dice_support;
COMMENT ON FUNCTION dice_exact_at_least(bigint[], bigint[], float8) IS
  'Whether dice_exact(a, b) >= threshold, above 0 and at most 1; an lsh index serves it. Example: SELECT dice_exact_at_least(ARRAY[1, 2]::bigint[], ARRAY[2, 3]::bigint[], 0.3)';
CREATE FUNCTION dice_exact_at_least(a int[], b int[], threshold float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_dice_support;
COMMENT ON FUNCTION dice_exact_at_least(int[], int[], float8) IS
  'Whether dice_exact(a, b) >= threshold, above 0 and at most 1; an lsh index serves it. Example: SELECT dice_exact_at_least(ARRAY[1, 2], ARRAY[2, 3], 0.3)';
CREATE FUNCTION set_cosine_exact(a bigint[], b bigint[]) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION set_cosine_exact(bigint[], bigint[]) IS
  'Cosine of two sets of bigint, |a and b| / sqrt(|a| |b|), 0 to 1; 0 if either is empty. Of vectors: cosine_exact(). Example: SELECT set_cosine_exact(ARRAY[1, 2]::bigint[], ARRAY[2, 3]::bigint[])';
CREATE FUNCTION set_cosine_exact(a int[], b int[]) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION set_cosine_exact(int[], int[]) IS
  'Cosine of two sets of int, |a and b| / sqrt(|a| |b|), 0 to 1; 0 if either is empty. Of vectors: cosine_exact(). Example: SELECT set_cosine_exact(ARRAY[1, 2], ARRAY[2, 3])';
CREATE FUNCTION neardup_internal.lsh_cosine_query(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_cosine_query(bigint[], float8) IS
  'private: set_cosine_exact(.., set) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_cosine_query(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_cosine_query(int[], float8) IS
  'private: set_cosine_exact(.., set) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_cosine_query_strict(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_cosine_query_strict(bigint[], float8) IS
  'private: the same for bounds of the named predicate';
CREATE FUNCTION neardup_internal.lsh_cosine_query_strict(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_cosine_query_strict(int[], float8) IS
  'private: the same for bounds of the named predicate';
CREATE FUNCTION neardup_internal.lsh_cosine_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_cosine_support(internal) IS
  'private: planner support of set_cosine_exact_at_least()';
CREATE FUNCTION set_cosine_exact_at_least(a bigint[], b bigint[], threshold float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_cosine_support;
COMMENT ON FUNCTION set_cosine_exact_at_least(bigint[], bigint[], float8) IS
  'Whether set_cosine_exact(a, b) >= threshold, above 0 and at most 1; an lsh index serves it. Example: SELECT set_cosine_exact_at_least(ARRAY[1, 2]::bigint[], ARRAY[2, 3]::bigint[], 0.3)';
CREATE FUNCTION set_cosine_exact_at_least(a int[], b int[], threshold float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_cosine_support;
COMMENT ON FUNCTION set_cosine_exact_at_least(int[], int[], float8) IS
  'Whether set_cosine_exact(a, b) >= threshold, above 0 and at most 1; an lsh index serves it. Example: SELECT set_cosine_exact_at_least(ARRAY[1, 2], ARRAY[2, 3], 0.3)';
ALTER OPERATOR FAMILY int8_set_ops USING lsh ADD
  FUNCTION 26 (bigint[]) dice_exact(bigint[], bigint[]),
  FUNCTION 27 (bigint[]) neardup_internal.lsh_dice_query(bigint[], float8),
  FUNCTION 28 (bigint[]) dice_exact_at_least(bigint[], bigint[], float8),
  FUNCTION 29 (bigint[]) neardup_internal.lsh_dice_query_strict(bigint[], float8),
  FUNCTION 30 (bigint[]) set_cosine_exact(bigint[], bigint[]),
  FUNCTION 31 (bigint[]) neardup_internal.lsh_cosine_query(bigint[], float8),
  FUNCTION 32 (bigint[]) set_cosine_exact_at_least(bigint[], bigint[], float8),
  FUNCTION 33 (bigint[]) neardup_internal.lsh_cosine_query_strict(bigint[], float8);
ALTER OPERATOR FAMILY int4_set_ops USING lsh ADD
  FUNCTION 26 (int[]) dice_exact(int[], int[]),
  FUNCTION 27 (int[]) neardup_internal.lsh_dice_query(int[], float8),
  FUNCTION 28 (int[]) dice_exact_at_least(int[], int[], float8),
  FUNCTION 29 (int[]) neardup_internal.lsh_dice_query_strict(int[], float8),
  FUNCTION 30 (int[]) set_cosine_exact(int[], int[]),
  FUNCTION 31 (int[]) neardup_internal.lsh_cosine_query(int[], float8),
  FUNCTION 32 (int[]) set_cosine_exact_at_least(int[], int[], float8),
  FUNCTION 33 (int[]) neardup_internal.lsh_cosine_query_strict(int[], float8);

COMMENT ON OPERATOR %> (bigint[], lsh_query) IS
  'Whether a set is as near to that of the query as its bound demands: by Jaccard similarity, containment, overlap, Dice coefficient or cosine. Example: SELECT ARRAY[1, 2]::bigint[] %> ''set_jaccard>=0.3 {2,3}''::lsh_query';
COMMENT ON OPERATOR %> (int[], lsh_query) IS
  'Whether a set is as near to that of the query as its bound demands: by Jaccard similarity, containment, overlap, Dice coefficient or cosine. Example: SELECT ARRAY[1, 2] %> ''set_jaccard>=0.3 {2,3}''::lsh_query';

-- Units and measures that came after these comments.
COMMENT ON FUNCTION shingles(text, int, text) IS
  'k-shingles of a document as text, in order and with repetitions. unit is ''word'' (case-folded), ''char'', ''line'', ''paragraph'' or ''code''. Example: SELECT shingles(''one two three four'', k => 2)';
COMMENT ON FUNCTION to_minhash(text, int, text, int, int, bigint) IS
  'MinHash signature of the k-shingles of a document. unit is ''word'', ''char'', ''line'', ''paragraph'' or ''code''. Example: SELECT to_minhash(''a text of some words'', k => 3, unit => ''word'')';
COMMENT ON TYPE lsh_query IS
  'Query for an lsh index: a signature, digest, set of integers or bit string, and a bound on the similarity to it. Example: SELECT with_threshold(to_minhash(''a text of some words''), 0.8)';
COMMENT ON ACCESS METHOD lsh IS
  'Index for near duplicates: signatures, digests, bit strings and sets of integers; a query returns the same rows as a sequential scan. Example: CREATE INDEX docs_sig ON docs USING lsh (sig)';
COMMENT ON OPERATOR CLASS int8_set_ops USING lsh IS 'Jaccard similarity, containment, overlap, Dice coefficient and cosine of sets of bigint';
COMMENT ON OPERATOR CLASS int4_set_ops USING lsh IS 'Jaccard similarity, containment, overlap, Dice coefficient and cosine of sets of int';
