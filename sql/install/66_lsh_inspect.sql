-- Looking into lsh indexes -------------------------------------------------------------------------------------------
-- VOLATILE: what they read changes under any snapshot. PARALLEL RESTRICTED: indexes of temporary tables.

CREATE FUNCTION lsh_info(index regclass, count_pages boolean = false, OUT guarantee text, OUT parameters text,
    OUT bands int, OUT threshold float8, OUT recall float8, OUT recall_at float8[], OUT rows bigint, OUT entries bigint,
    OUT runs int, OUT units int, OUT pending_rows int, OUT pending_pages int, OUT pages bigint, OUT leaf_pages bigint,
    OUT bytes_per_row float8, OUT version int, OUT free_pages bigint, OUT orphan_pages bigint)
  AS 'MODULE_PATHNAME', 'neardup_lsh_info' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 100;
COMMENT ON FUNCTION lsh_info(regclass, boolean) IS
  'Properties and sizes of an lsh index. With count_pages it reads the whole index to count free_pages and orphan_pages. Example: SELECT guarantee, rows, pages FROM lsh_info(''docs_sig'')';

CREATE FUNCTION lsh_check(index regclass, heapallindexed boolean = false) RETURNS void
  AS 'MODULE_PATHNAME', 'neardup_lsh_check' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 1000000;
COMMENT ON FUNCTION lsh_check(regclass, boolean) IS
  'Raises an error if an lsh index is damaged. With heapallindexed it also compares the index with every visible row of its table. Example: SELECT lsh_check(''docs_sig'', heapallindexed => true)';

CREATE FUNCTION lsh_hot_buckets(index regclass, at_least bigint = 100, most int = 100)
  RETURNS TABLE (key bigint, entries bigint)
  AS 'MODULE_PATHNAME', 'neardup_lsh_hot_buckets' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 1000000 ROWS 100;
COMMENT ON FUNCTION lsh_hot_buckets(regclass, bigint, int) IS
  'The longest lists of an lsh index, longest first: keys, as stored, that at_least rows or more share. Example: SELECT * FROM lsh_hot_buckets(''docs_sig'', at_least => 2)';

CREATE FUNCTION lsh_pages(index regclass)
  RETURNS TABLE (block bigint, kind text, owner bigint, ordinal bigint, entries int, first_key bigint, first_tid tid,
                 key_bits int, block_bits int, off_bits int, free boolean, live boolean)
  AS 'MODULE_PATHNAME', 'neardup_lsh_pages' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 1000000 ROWS 10000;
COMMENT ON FUNCTION lsh_pages(regclass) IS 'Header of every page of an lsh index. Example: SELECT block, kind, entries FROM lsh_pages(''docs_sig'')';

CREATE FUNCTION explain_pair(index regclass, a minhash, b minhash, threshold float8 = 0.8, OUT comparable boolean,
    OUT matches int, OUT needed int, OUT jaccard float8, OUT standard_error float8, OUT verdict text,
    OUT bands_agreeing int, OUT bands int, OUT index_serves boolean)
  AS 'MODULE_PATHNAME', 'neardup_explain_indexed_pair' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION explain_pair(regclass, minhash, minhash, float8) IS
  'Explains why an lsh index finds or does not find b for the query a at a threshold (0.8 by default). Example: SELECT * FROM explain_pair(''docs_sig'', to_minhash(''some text''), to_minhash(''some other text''), 0.8)';
CREATE FUNCTION explain_pair(index regclass, a simhash, b simhash, distance float8 = 3, OUT hamming int, OUT cosine float8,
    OUT verdict text, OUT index_serves boolean)
  AS 'MODULE_PATHNAME', 'neardup_explain_indexed_simhashes' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION explain_pair(regclass, simhash, simhash, float8) IS
  'Explains why an lsh index finds or does not find b for the query a at a Hamming distance (3 by default). Example: SELECT * FROM explain_pair(''docs_hash'', to_simhash(''some text''), to_simhash(''some other text''), 3)';
CREATE FUNCTION explain_pair(index regclass, a ctph, b ctph, score float8 = 70, rate float8 = 0.1, OUT comparable boolean,
    OUT block_size bigint, OUT ctph_score int, OUT ctph_edit_rate float8, OUT verdict text, OUT index_serves_score boolean,
    OUT index_serves_rate boolean)
  AS 'MODULE_PATHNAME', 'neardup_explain_indexed_digests' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION explain_pair(regclass, ctph, ctph, float8, float8) IS
  'Explains why an lsh index finds or does not find b for the query a at a score (70 by default) or an edit rate (0.1 by default). Example: SELECT * FROM explain_pair(''docs_digest'', to_ctph(''some text''), to_ctph(''some other text''), 70, 0.1)';

CREATE FUNCTION lsh_why_not(query text, OUT condition text, OUT relation regclass, OUT index regclass, OUT served boolean,
    OUT reason text) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 5;
COMMENT ON FUNCTION lsh_why_not(text) IS
  'For each condition of a query and each lsh index of its table: whether the plan uses the index, and if not, why. Example: SELECT * FROM lsh_why_not(''SELECT id FROM docs WHERE jaccard(sig, to_minhash(''''some text'''')) >= 0.8'')';
