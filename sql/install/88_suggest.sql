-- Choosing parameters: neardup_suggest, neardup_s_curve ----------------------------------------------------------------

-- The S-curve, to be looked at.
CREATE FUNCTION neardup_s_curve(threshold float8, num_perm int = 128, bands int = NULL, rows int = NULL) RETURNS SETOF text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100 ROWS 30;
COMMENT ON FUNCTION neardup_s_curve(float8, int, int, int) IS
  'Plot as text: the probability that pairs of each similarity are found at a threshold, or by this number of bands and rows. Example: SELECT neardup_s_curve(0.8)';

-- JIT is off: it would compile each of the short statements by which look-ups are timed.
CREATE FUNCTION neardup_suggest(query text, labels text = NULL, edit_similarity float8 = 0.8)
  RETURNS TABLE (unit text, k int, threshold float8, num_perm int, bits int, index_options text, expected_recall float8,
                 expected_precision float8, precision_low float8, precision_high float8, bytes_per_row float8, signing_us float8,
                 query_us float8, pairs bigint, families bigint, is_default boolean, note text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 19 SET jit = off;
COMMENT ON FUNCTION neardup_suggest(text, text, float8) IS
  'Unit, k, num_perm and threshold for the documents of a query, best first, measured on a sample of them. Example: SELECT * FROM neardup_suggest(''SELECT id, body FROM docs'')';

CREATE FUNCTION neardup_suggest_examples(query text, labels text = NULL, edit_similarity float8 = 0.8)
  RETURNS TABLE (unit text, k int, threshold float8, is_default boolean, id_a text, id_b text, similarity float8,
                 is_duplicate boolean, difference text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 70;
COMMENT ON FUNCTION neardup_suggest_examples(text, text, float8) IS
  'Pairs on both sides of each threshold that neardup_suggest() proposes, for you to judge. Example: SELECT * FROM neardup_suggest_examples(''SELECT id, body FROM docs'')';
