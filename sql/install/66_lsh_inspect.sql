-- Looking into lsh indexes -------------------------------------------------------------------------------------------
-- VOLATILE: what they read changes under any snapshot. PARALLEL RESTRICTED: indexes of temporary tables.

CREATE FUNCTION lsh_info(index regclass, count_pages boolean = false, OUT guarantee text, OUT parameters text,
    OUT bands int, OUT threshold float8, OUT recall float8, OUT recall_at float8[], OUT rows bigint, OUT entries bigint,
    OUT runs int, OUT units int, OUT pending_rows int, OUT pending_pages int, OUT pages bigint, OUT leaf_pages bigint,
    OUT bytes_per_row float8, OUT version int, OUT free_pages bigint, OUT orphan_pages bigint)
  AS 'MODULE_PATHNAME', 'neardup_lsh_info' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 100;
COMMENT ON FUNCTION lsh_info(regclass, boolean) IS
  'what an lsh index serves and holds; count_pages reads the whole index for free_pages and orphan_pages';

CREATE FUNCTION lsh_check(index regclass, heapallindexed boolean = false) RETURNS void
  AS 'MODULE_PATHNAME', 'neardup_lsh_check' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 1000000;
COMMENT ON FUNCTION lsh_check(regclass, boolean) IS
  'an error unless an lsh index is sound; heapallindexed also compares it with every visible row of its table';

CREATE FUNCTION lsh_hot_buckets(index regclass, at_least bigint = 100, most int = 100)
  RETURNS TABLE (key bigint, entries bigint)
  AS 'MODULE_PATHNAME', 'neardup_lsh_hot_buckets' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 1000000 ROWS 100;
COMMENT ON FUNCTION lsh_hot_buckets(regclass, bigint, int) IS
  'the longest lists of an lsh index, longest first: keys as stored that many rows share';

CREATE FUNCTION lsh_pages(index regclass)
  RETURNS TABLE (block bigint, kind text, owner bigint, ordinal bigint, entries int, first_key bigint, first_tid tid,
                 key_bits int, block_bits int, off_bits int, free boolean, live boolean)
  AS 'MODULE_PATHNAME', 'neardup_lsh_pages' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 1000000 ROWS 10000;
COMMENT ON FUNCTION lsh_pages(regclass) IS 'the head of every page of an lsh index';

CREATE FUNCTION explain_pair(index regclass, a minhash, b minhash, threshold float8 = 0.8, OUT comparable boolean,
    OUT matches int, OUT needed int, OUT jaccard float8, OUT standard_error float8, OUT verdict text,
    OUT bands_agreeing int, OUT bands int, OUT index_serves boolean)
  AS 'MODULE_PATHNAME', 'neardup_explain_indexed_pair' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION explain_pair(regclass, minhash, minhash, float8) IS
  'why an lsh index finds b when asked for a at a threshold, or not';
CREATE FUNCTION explain_pair(index regclass, a simhash, b simhash, distance float8 = 3, OUT hamming int, OUT cosine float8,
    OUT verdict text, OUT index_serves boolean)
  AS 'MODULE_PATHNAME', 'neardup_explain_indexed_simhashes' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION explain_pair(regclass, simhash, simhash, float8) IS
  'why an lsh index finds b when asked for a at a distance, or not';
CREATE FUNCTION explain_pair(index regclass, a ctph, b ctph, score float8 = 70, rate float8 = 0.1, OUT comparable boolean,
    OUT block_size bigint, OUT ctph_score int, OUT ctph_edit_rate float8, OUT verdict text, OUT index_serves_score boolean,
    OUT index_serves_rate boolean)
  AS 'MODULE_PATHNAME', 'neardup_explain_indexed_digests' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION explain_pair(regclass, ctph, ctph, float8, float8) IS
  'why an lsh index finds b when asked for a at a score or an edit rate, or not';

CREATE FUNCTION lsh_why_not(query text, OUT condition text, OUT relation regclass, OUT index regclass, OUT served boolean,
    OUT reason text) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 5;
COMMENT ON FUNCTION lsh_why_not(text) IS
  'for each condition of a query, and each lsh index of its table, whether its plan uses the index, and why not';
