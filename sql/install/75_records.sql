-- Records: candidate pairs by keys, scores of fields ------------------------------------------------------------------
-- blocked_pairs and oversized_blocks are VOLATILE and PARALLEL UNSAFE: they run the caller's query. The type of the ids
-- is not named by the first argument, as all_pairs does: where ids are text, query does not say it.

CREATE FUNCTION blocked_pairs(query text, query_b text = NULL, max_block int = 1000)
  RETURNS TABLE (id_a bigint, id_b bigint, keys int[])
  AS 'MODULE_PATHNAME', 'neardup_blocked_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION blocked_pairs(text, text, int) IS
  'Pairs of rows (id, key, ...) of one query or of two that agree in at least one key, and the numbers of these keys. Example: SELECT * FROM blocked_pairs(''SELECT id, lower(left(body, 8)), at FROM docs'')';
CREATE FUNCTION blocked_pairs(query text, id anyelement, max_block int = 1000)
  RETURNS TABLE (id_a anyelement, id_b anyelement, keys int[])
  AS 'MODULE_PATHNAME', 'neardup_blocked_pairs_within' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION blocked_pairs(text, anyelement, int) IS
  'The pairs that blocked_pairs() returns for one query, for ids of the type of id. Example: SELECT * FROM blocked_pairs(''SELECT id::text, lower(left(body, 8)), at FROM docs'', id => NULL::text)';
CREATE FUNCTION blocked_pairs(query text, query_b text, id anyelement, max_block int = 1000)
  RETURNS TABLE (id_a anyelement, id_b anyelement, keys int[])
  AS 'MODULE_PATHNAME', 'neardup_blocked_pairs_between' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION blocked_pairs(text, text, anyelement, int) IS
  'The pairs that blocked_pairs() returns for two queries, for ids of the type of id. Example: SELECT * FROM blocked_pairs(''SELECT id::text, at FROM docs'', ''SELECT id::text, at FROM docs'', id => NULL::text)';

CREATE FUNCTION oversized_blocks(query text, query_b text = NULL, max_block int = 1000)
  RETURNS TABLE (key int, value text, rows_a bigint, rows_b bigint)
  AS 'MODULE_PATHNAME', 'neardup_oversized_blocks' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100;
COMMENT ON FUNCTION oversized_blocks(text, text, int) IS
  'Values of keys for which blocked_pairs() returns no pairs, because more than max_block rows share them, largest first. Example: SELECT * FROM oversized_blocks(''SELECT id, lower(left(body, 8)) FROM docs'', max_block => 2)';

CREATE FUNCTION neardup_text_score(a text, b text) RETURNS int
  AS 'MODULE_PATHNAME', 'text_score_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION neardup_text_score(text, text) IS
  'Similarity of two fields of records by words in any order, edit distance and initials, 0 to 100; NULL if either has no letter or digit. Example: SELECT neardup_text_score(''Smith, John'', ''John Smyth'')';

CREATE FUNCTION neardup_score_precision(observed float8, gold float8, random float8) RETURNS float8
  AS 'MODULE_PATHNAME', 'score_precision_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_score_precision(float8, float8, float8) IS
  'Share of true pairs in a class of pairs, 0 to 1. The arguments are mean distances: in the class, of true pairs, of random pairs. Example: SELECT neardup_score_precision(observed => 0.3, gold => 0.1, random => 0.9)';

