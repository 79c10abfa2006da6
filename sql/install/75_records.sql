-- Records: candidate pairs by keys, scores of fields ------------------------------------------------------------------
-- blocked_pairs and oversized_blocks are VOLATILE and PARALLEL UNSAFE: they run the caller's query. The type of the ids
-- is not named by the first argument, as all_pairs does: where ids are text, it could not be told from query.

CREATE FUNCTION blocked_pairs(query text, query_b text = NULL, max_block int = 1000)
  RETURNS TABLE (id_a bigint, id_b bigint, keys int[])
  AS 'MODULE_PATHNAME', 'neardup_blocked_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION blocked_pairs(text, text, int) IS
  'pairs of rows (id, key, ...) of one query, or of two, that agree in a key; keys: which ones';
CREATE FUNCTION blocked_pairs(query text, id anyelement, max_block int = 1000)
  RETURNS TABLE (id_a anyelement, id_b anyelement, keys int[])
  AS 'MODULE_PATHNAME', 'neardup_blocked_pairs_within' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION blocked_pairs(text, anyelement, int) IS
  'blocked_pairs of one query for ids of another type: id => NULL::uuid';
CREATE FUNCTION blocked_pairs(query text, query_b text, id anyelement, max_block int = 1000)
  RETURNS TABLE (id_a anyelement, id_b anyelement, keys int[])
  AS 'MODULE_PATHNAME', 'neardup_blocked_pairs_between' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION blocked_pairs(text, text, anyelement, int) IS
  'blocked_pairs of two queries for ids of another type: id => NULL::uuid';

CREATE FUNCTION oversized_blocks(query text, query_b text = NULL, max_block int = 1000)
  RETURNS TABLE (key int, value text, rows_a bigint, rows_b bigint)
  AS 'MODULE_PATHNAME', 'neardup_oversized_blocks' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100;
COMMENT ON FUNCTION oversized_blocks(text, text, int) IS
  'values of keys that blocked_pairs leaves out since more than max_block rows share them, largest first';

CREATE FUNCTION neardup_text_score(a text, b text) RETURNS int
  AS 'MODULE_PATHNAME', 'text_score_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION neardup_text_score(text, text) IS
  'how alike two fields of records are, 0 to 100, by tokens and edit distance; NULL where one has no letter or digit';

CREATE FUNCTION neardup_score_precision(observed float8, gold float8, random float8) RETURNS float8
  AS 'MODULE_PATHNAME', 'score_precision_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_score_precision(float8, float8, float8) IS
  'share of true pairs where pairs are observed apart on average, true ones gold and random ones random: 0 to 1';

