-- Shingles -----------------------------------------------------------------------------------------------------------

CREATE FUNCTION shingles(doc text, k int = 3, unit text = 'word') RETURNS SETOF text
  AS 'MODULE_PATHNAME', 'neardup_shingles' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION shingles(text, int, text) IS
  'k-shingles of a document as text, in order and with repetitions. unit is ''word'' (case-folded), ''char'', ''line'', ''paragraph'' or ''code''. Example: SELECT shingles(''one two three four'', k => 2)';

CREATE FUNCTION shingle_hashes(doc text, k int = 3, unit text = 'word') RETURNS SETOF bigint
  AS 'MODULE_PATHNAME', 'neardup_shingle_hashes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION shingle_hashes(text, int, text) IS
  '64-bit hashes of the k-shingles of a document, in order and with repetitions. Example: SELECT shingle_hashes(''one two three four'', k => 2)';

CREATE FUNCTION shingle_hashes(doc bytea, k int = 8) RETURNS SETOF bigint
  AS 'MODULE_PATHNAME', 'neardup_shingle_hashes_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION shingle_hashes(bytea, int) IS
  '64-bit hashes of the runs of k bytes of a document, in order and with repetitions. Example: SELECT shingle_hashes(decode(''0123456789abcdef0123'', ''hex''), k => 8)';

