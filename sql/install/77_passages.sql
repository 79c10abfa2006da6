-- Repeated passages of a collection ----------------------------------------------------------------------------------
-- VOLATILE and PARALLEL UNSAFE: they run the caller's query. The type of the ids is not named by the first argument, as
-- all_pairs does: where ids are text, query does not say it.

CREATE FUNCTION repeated_passages(query text, min_units int = 50, unit text = 'word', keep text = 'first', at_least int = 2)
  RETURNS TABLE (id bigint, start int, length int, occurrences bigint, first_id bigint, first_start int)
  AS 'MODULE_PATHNAME', 'neardup_repeated_passages' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION repeated_passages(text, int, text, text, int) IS
  'Ranges of the documents of a query (id, document) whose every window of min_units units occurs at least at_least times; positions and length in characters. Example: SELECT * FROM repeated_passages(''SELECT id, body FROM docs ORDER BY id'', min_units => 5)';
CREATE FUNCTION repeated_passages(query text, id anyelement, min_units int = 50, unit text = 'word', keep text = 'first', at_least int = 2)
  RETURNS TABLE (id anyelement, start int, length int, occurrences bigint, first_id anyelement, first_start int)
  AS 'MODULE_PATHNAME', 'neardup_repeated_passages_of_ids' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION repeated_passages(text, anyelement, int, text, text, int) IS
  'The ranges that repeated_passages() returns, for ids of the type of id. Example: SELECT * FROM repeated_passages(''SELECT id::text, body FROM docs ORDER BY id'', id => NULL::text, min_units => 5)';

CREATE FUNCTION passage_counts(query text, min_units int = 50, unit text = 'word', at_least int = 2, most int = 1000)
  RETURNS TABLE (passage text, documents bigint, occurrences bigint)
  AS 'MODULE_PATHNAME', 'neardup_passage_counts' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION passage_counts(text, int, text, int, int) IS
  'The most frequent passages of the documents of a query (id, document), each with the number of documents that hold it and of its occurrences. Example: SELECT * FROM passage_counts(''SELECT id, body FROM docs'', min_units => 5)';

CREATE FUNCTION cut_passages(body text, ranges int4multirange) RETURNS text
  AS 'MODULE_PATHNAME', 'neardup_cut_passages' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cut_passages(text, int4multirange) IS
  'A text without ranges of its characters, counted from 1. Example: SELECT cut_passages(''one two three'', ''{[5,9)}'')';

-- Passages as jobs keep them. Numbers of windows are 64-bit hashes by the key.
CREATE FUNCTION neardup_internal.neardup_frequent_windows(query text, min_units int, unit text, documents int, key bigint)
  RETURNS TABLE (number int, windows bigint[])
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION neardup_internal.neardup_frequent_windows(text, int, text, int, bigint) IS
  'private: the windows of min_units units that stand in so many documents of a query, as numbers in ascending order';
CREATE FUNCTION neardup_internal.neardup_without_windows(document text, passages regclass, min_units int, unit text, key bigint, team bigint) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION neardup_internal.neardup_without_windows(text, regclass, int, text, bigint, bigint) IS
  'private: a document without the windows that a table of neardup_frequent_windows() holds';
