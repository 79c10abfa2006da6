-- neardup: near-duplicate documents inside PostgreSQL.
\echo Use "CREATE EXTENSION neardup" to load this file. \quit

-- Statements that functions put together by format() name it.
DO $$
BEGIN
  IF pg_catalog.strpos('@extschema@', '%') OPERATOR(pg_catalog.>) 0 THEN
    RAISE EXCEPTION 'neardup cannot be in a schema with a %% in its name: %', '@extschema@' USING ERRCODE = 'invalid_schema_name';
  END IF;
END $$;

-- What users do not call: support functions of types, operators, aggregates, indexes and jobs.
CREATE SCHEMA neardup_internal;
COMMENT ON SCHEMA neardup_internal IS 'Objects that the extension neardup uses itself: the parts of its types, operators, indexes and jobs';
GRANT USAGE ON SCHEMA neardup_internal TO PUBLIC;

-- Warnings of a comparison that no value can make true: jaccard(a, b) >= 80.
CREATE FUNCTION neardup_internal.lsh_share_bounds(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_share_bounds(internal) IS
  'private: planner support of measures from 0 to 1';
CREATE FUNCTION neardup_internal.lsh_bits_bounds(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bits_bounds(internal) IS 'private: planner support of hamming()';
CREATE FUNCTION neardup_internal.lsh_score_bounds(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_score_bounds(internal) IS 'private: planner support of ctph_score()';
CREATE FUNCTION neardup_internal.lsh_overlap_bounds(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_overlap_bounds(internal) IS 'private: planner support of overlap_exact()';
-- Shingles -----------------------------------------------------------------------------------------------------------

CREATE FUNCTION shingles(doc text, k int = 3, unit text = 'word') RETURNS SETOF text
  AS 'MODULE_PATHNAME', 'neardup_shingles' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION shingles(text, int, text) IS
  'k-shingles of a document as text, in order and with repetitions. unit is ''word'' (case-folded) or ''char''. Example: SELECT shingles(''one two three four'', k => 2)';

CREATE FUNCTION shingle_hashes(doc text, k int = 3, unit text = 'word') RETURNS SETOF bigint
  AS 'MODULE_PATHNAME', 'neardup_shingle_hashes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION shingle_hashes(text, int, text) IS
  '64-bit hashes of the k-shingles of a document, in order and with repetitions. Example: SELECT shingle_hashes(''one two three four'', k => 2)';

CREATE FUNCTION shingle_hashes(doc bytea, k int = 8) RETURNS SETOF bigint
  AS 'MODULE_PATHNAME', 'neardup_shingle_hashes_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION shingle_hashes(bytea, int) IS
  '64-bit hashes of the runs of k bytes of a document, in order and with repetitions. Example: SELECT shingle_hashes(decode(''0123456789abcdef0123'', ''hex''), k => 8)';

-- Lists of stop words, and shingles that begin with a stop word; their signature: 25_stopword_minhash.sql ------------------

CREATE FUNCTION neardup_stopwords(language text) RETURNS text[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_stopwords(text) IS
  'Stop words of english, ukrainian, russian, german, french or spanish, case-folded and in order. ISO 639 codes such as en are accepted. Example: SELECT neardup_stopwords(''english'')';

CREATE FUNCTION stopword_shingles(doc text, stopwords text[], following int = 2) RETURNS SETOF text
  AS 'MODULE_PATHNAME', 'stopword_shingles' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500 ROWS 200;
COMMENT ON FUNCTION stopword_shingles(text, text[], int) IS
  'Each stop word of a document with the words that follow it (2 by default), in order and with repetitions. Example: SELECT stopword_shingles(''the cat sat on the mat by the door'', ARRAY[''the'', ''on''])';
CREATE FUNCTION stopword_shingles(doc text, dictionary regdictionary, following int = 2) RETURNS SETOF text
  AS 'MODULE_PATHNAME', 'stopword_shingles_dictionary' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 2000 ROWS 200;
COMMENT ON FUNCTION stopword_shingles(text, regdictionary, int) IS
  'Each stop word of a document with the words that follow it (2 by default). The stop words are those of a text search dictionary. Example: SELECT stopword_shingles(''the cat sat on the mat by the door'', ''english_stem''::regdictionary)';
-- Text intake --------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_detect_encoding(document bytea, OUT encoding text, OUT confidence float8)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_detect_encoding(bytea) IS
  'Encoding of a document, by the name that PostgreSQL gives it, and the probability that this is correct, 0 to 1. Example: SELECT * FROM neardup_detect_encoding(decode(''cff0e8e2e5f22c20ece8f0'', ''hex''))';

CREATE FUNCTION neardup_to_utf8(document bytea) RETURNS text
  AS 'MODULE_PATHNAME', 'neardup_to_utf8_detected' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_to_utf8(bytea) IS
  'Converts a document to text; detects its encoding. A broken character raises an error. Example: SELECT neardup_to_utf8(decode(''d09fd180d0b8d0b2d0b5d182'', ''hex''))';
CREATE FUNCTION neardup_to_utf8(document bytea, encoding text, invalid text = 'error') RETURNS text
  AS 'MODULE_PATHNAME', 'neardup_to_utf8' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_to_utf8(bytea, text, text) IS
  'Converts a document in the named encoding to text. Broken characters raise an error, or are dropped with invalid => ''drop''. Example: SELECT neardup_to_utf8(decode(''cff0e8e2e5f2'', ''hex''), ''WIN1251'')';

CREATE FUNCTION neardup_decode(document bytea, encoding text = NULL, OUT body text, OUT encoding text,
    OUT confidence float8, OUT dropped bigint)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_decode(bytea, text) IS
  'Converts a document to text and drops its broken characters. Returns the text, the encoding (detected unless it is given), the confidence, and the number of dropped characters. Example: SELECT * FROM neardup_decode(decode(''cff0e8e2e5f2'', ''hex''), ''WIN1251'')';

CREATE FUNCTION neardup_signed_text(document bytea, encoding text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_signed_text(bytea, text) IS
  'Converts a document to text as neardup_decode() does, but spells a character that the encoding of the database lacks as a word, such as u4e2d. Example: SELECT neardup_signed_text(decode(''cff0e8e2e5f2'', ''hex''), ''WIN1251'')';

CREATE FUNCTION neardup_to_simplified(body text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_to_simplified(text) IS
  'Converts Chinese text to simplified characters with OpenCC (t2s). Example: SELECT neardup_to_simplified(convert_from(decode(''e6bca2e5ad97'', ''hex''), ''UTF8''))';
CREATE FUNCTION neardup_to_traditional(body text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_to_traditional(text) IS
  'Converts Chinese text to traditional characters with OpenCC (s2t). Example: SELECT neardup_to_traditional(convert_from(decode(''e6b189e5ad97'', ''hex''), ''UTF8''))';

CREATE TYPE neardup_rule AS (name text, kind text, pattern text, replacement text, position int);
COMMENT ON TYPE neardup_rule IS
  'Rule of neardup_clean(): kind is line, block, text, head or tail; pattern is a regular expression of RE2; rules apply in order of position. Example: SELECT ROW(''page number'', ''line'', ''^[0-9]+$'', '''', 1)::neardup_rule';
CREATE FUNCTION neardup_default_rules() RETURNS SETOF neardup_rule
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 20;
COMMENT ON FUNCTION neardup_default_rules() IS 'Built-in rules of neardup_clean(). Example: SELECT * FROM neardup_default_rules()';
CREATE FUNCTION neardup_clean(body text, rules neardup_rule[] = NULL, OUT body text, OUT kept float8, OUT fired text[])
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_clean(text, neardup_rule[]) IS
  'Removes from a text what the rules find (the built-in rules by default). Returns the text, the share of characters kept, and the names of the rules that changed it. Example: SELECT * FROM neardup_clean(''A text of some words.'')';

CREATE FUNCTION neardup_text_quality(body text, OUT kept float8, OUT length bigint, OUT letters float8,
    OUT repetition float8, OUT score float8)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION neardup_text_quality(text) IS
  'Measures of a text: share of characters that the built-in rules keep, length, share of letters, share of repetition, and a score from 0 to 1. Example: SELECT * FROM neardup_text_quality(''A text of some words.'')';
CREATE FUNCTION neardup_text_score(body text) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION neardup_text_score(text) IS
  'Score of neardup_text_quality() for a text, 0 to 1. Example: SELECT neardup_text_score(''A text of some words.'')';

CREATE FUNCTION neardup_title(filename text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_title(text) IS 'Title made from a file name. Example: SELECT neardup_title(''annual_report-2024.pdf'')';

CREATE FUNCTION neardup_characters(body text) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_characters(text) IS
  'Number of characters of a text; in a SQL_ASCII database, of its UTF-8 characters. Example: SELECT neardup_characters(''a text of some words'')';
CREATE FUNCTION neardup_internal.neardup_first_characters(body text, most int) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.neardup_first_characters(text, int) IS
  'private: the first characters of a text; in a SQL_ASCII database those of its UTF-8';
-- The type minhash ---------------------------------------------------------------------------------------------------

CREATE TYPE minhash;

CREATE FUNCTION neardup_internal.minhash_in(cstring, oid, int) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_out(minhash) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_recv(internal, oid, int) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_send(minhash) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_typmod_in(cstring[]) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_typmod_out(int) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE minhash (
  INPUT = neardup_internal.minhash_in, OUTPUT = neardup_internal.minhash_out,
  RECEIVE = neardup_internal.minhash_recv, SEND = neardup_internal.minhash_send,
  TYPMOD_IN = neardup_internal.minhash_typmod_in, TYPMOD_OUT = neardup_internal.minhash_typmod_out,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external
);
COMMENT ON TYPE minhash IS
  'MinHash signature of a set (Fast Similarity Sketching). A column of type minhash(num_perm [, bits]) accepts only signatures of that size. Example: SELECT to_minhash(''a text of some words'')';

CREATE FUNCTION neardup_internal.minhash_check_typmod(minhash, int, boolean) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.minhash_check_typmod(minhash, int, boolean) IS
  'private: enforces the type modifier';
CREATE CAST (minhash AS minhash) WITH FUNCTION neardup_internal.minhash_check_typmod(minhash, int, boolean) AS IMPLICIT;

-- Order, equality, hash. LEAKPROOF: they take any values, and may use an index under row security.

CREATE FUNCTION neardup_internal.minhash_eq(minhash, minhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_ne(minhash, minhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_lt(minhash, minhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_le(minhash, minhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_gt(minhash, minhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_ge(minhash, minhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_cmp(minhash, minhash) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_hash(minhash) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_hash_extended(minhash, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR = (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = neardup_internal.minhash_eq,
  COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = neardup_internal.minhash_ne,
  COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = neardup_internal.minhash_lt,
  COMMUTATOR = >, NEGATOR = >=,
  RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = neardup_internal.minhash_le,
  COMMUTATOR = >=, NEGATOR = >,
  RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = neardup_internal.minhash_gt,
  COMMUTATOR = <, NEGATOR = <=,
  RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = neardup_internal.minhash_ge,
  COMMUTATOR = <=, NEGATOR = <,
  RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR = (minhash, minhash) IS 'Equal parameters and components';
COMMENT ON OPERATOR <> (minhash, minhash) IS 'Not equal';
COMMENT ON OPERATOR < (minhash, minhash) IS 'Less than, in an arbitrary but fixed order';
COMMENT ON OPERATOR <= (minhash, minhash) IS 'Less than or equal, in an arbitrary but fixed order';
COMMENT ON OPERATOR > (minhash, minhash) IS 'Greater than, in an arbitrary but fixed order';
COMMENT ON OPERATOR >= (minhash, minhash) IS 'Greater than or equal, in an arbitrary but fixed order';

CREATE OPERATOR CLASS minhash_btree_ops DEFAULT FOR TYPE minhash USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
  FUNCTION 1 neardup_internal.minhash_cmp(minhash, minhash);
CREATE OPERATOR CLASS minhash_hash_ops DEFAULT FOR TYPE minhash USING hash AS
  OPERATOR 1 =, FUNCTION 1 neardup_internal.minhash_hash(minhash),
  FUNCTION 2 neardup_internal.minhash_hash_extended(minhash, bigint);

-- Constructors

CREATE FUNCTION to_minhash(doc text, k int = 3, unit text = 'word', num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'minhash_from_document' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_minhash(text, int, text, int, int, bigint) IS
  'MinHash signature of the k-shingles of a document. unit is ''word'' or ''char''. Example: SELECT to_minhash(''a text of some words'', k => 3, unit => ''word'')';
CREATE FUNCTION to_minhash(doc bytea, k int = 8, num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'minhash_from_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_minhash(bytea, int, int, int, bigint) IS
  'MinHash signature of the runs of k bytes of a document. Example: SELECT to_minhash(decode(''0123456789abcdef0123'', ''hex''), k => 8)';
CREATE FUNCTION minhash_like(doc text, model minhash)
  RETURNS minhash AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION minhash_like(text, minhash) IS
  'MinHash signature of a document with the parameters of another signature, which was made from a text. Example: SELECT minhash_like(''a text of some words'', to_minhash(''another text'', k => 2))';
CREATE FUNCTION set_minhash(elements text[], num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'minhash_from_text_set' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION set_minhash(text[], int, int, bigint) IS
  'MinHash signature of a set of texts; order and repetitions do not matter. Example: SELECT set_minhash(ARRAY[''cat'', ''dog'', ''mouse''])';
CREATE FUNCTION set_minhash(elements bigint[], num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'minhash_from_bigint_set' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION set_minhash(bigint[], int, int, bigint) IS
  'MinHash signature of a set of numbers; order and repetitions do not matter. Example: SELECT set_minhash(ARRAY[1, 2, 3]::bigint[])';
CREATE FUNCTION set_minhash(elements text, num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'set_minhash_of_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION set_minhash(text, int, int, bigint) IS
  'Raises an error that shows how to write an array. Example: SELECT set_minhash(''{cat,dog,mouse}''::text[])';
CREATE FUNCTION minhash_import(components bigint[], bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash_import(bigint[], int, bigint) IS
  'MinHash signature from 16 to 4096 components that another program computed; comparable only with other imported signatures of the same size, bits and seed. Example: SELECT minhash_import(array(SELECT generate_series(1, 128)), bits => 32)';

-- Parts

CREATE FUNCTION minhash_parameters(signature minhash, OUT format int, OUT source text, OUT unit text, OUT k int,
    OUT num_perm int, OUT bits int, OUT seed bigint, OUT tokenizer int)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_parameters(minhash) IS
  'Parameters of a signature: source, unit, k, num_perm, bits, seed and others. Example: SELECT * FROM minhash_parameters(to_minhash(''a text of some words''))';
CREATE FUNCTION minhash_components(signature minhash) RETURNS bigint[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_components(minhash) IS
  'Components of a signature as numbers; for an empty set, all of them have the greatest value. Example: SELECT minhash_components(to_minhash(''a text of some words''))';
CREATE FUNCTION set_size(signature minhash) RETURNS float8
  AS 'MODULE_PATHNAME', 'minhash_set_size' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION set_size(minhash) IS
  'Estimated number of distinct elements of the signed set; for a weighted set, the sum of its weights. Not for 8 bits, nor for imported signatures. Example: SELECT set_size(to_minhash(''a text of some words''))';

-- Unions and aggregates

CREATE FUNCTION minhash_union(a minhash, b minhash) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_union(minhash, minhash) IS
  'Signature of the union of two sets, for signatures of 16 or 32 bits. Example: SELECT minhash_union(to_minhash(''some text''), to_minhash(''some other text''))';
CREATE FUNCTION neardup_internal.minhash_union_final(minhash) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.minhash_union_final(minhash) IS
  'private: refuses a union of one signature of 8 bits, as of several';
CREATE AGGREGATE minhash_union_agg(signature minhash) (
  SFUNC = minhash_union, STYPE = minhash, FINALFUNC = neardup_internal.minhash_union_final,
  COMBINEFUNC = minhash_union, PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_union_agg(minhash) IS
  'Signature of the union of all sets, for signatures of 16 or 32 bits. Example: SELECT minhash_union_agg(sig) FROM (VALUES (to_minhash(''some text'')), (to_minhash(''some other text''))) v (sig)';

CREATE FUNCTION neardup_internal.minhash_agg_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_agg_serialize(internal) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_agg_deserialize(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_agg_final(internal) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION neardup_internal.minhash_agg_text(internal, text) RETURNS internal
  AS 'MODULE_PATHNAME', 'minhash_agg_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE minhash_agg(element text) (
  SFUNC = neardup_internal.minhash_agg_text, STYPE = internal, SSPACE = 1200,
  FINALFUNC = neardup_internal.minhash_agg_final, COMBINEFUNC = neardup_internal.minhash_agg_combine,
  SERIALFUNC = neardup_internal.minhash_agg_serialize, DESERIALFUNC = neardup_internal.minhash_agg_deserialize,
  PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(text) IS
  'MinHash signature of the set of all elements; NULL if there is no element. Example: SELECT minhash_agg(word) FROM (VALUES (''cat''), (''dog'')) v (word)';
CREATE FUNCTION neardup_internal.minhash_agg_text(internal, text, int) RETURNS internal
  AS 'MODULE_PATHNAME', 'minhash_agg_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE minhash_agg(element text, num_perm int) (
  SFUNC = neardup_internal.minhash_agg_text, STYPE = internal, SSPACE = 1200,
  FINALFUNC = neardup_internal.minhash_agg_final, COMBINEFUNC = neardup_internal.minhash_agg_combine,
  SERIALFUNC = neardup_internal.minhash_agg_serialize, DESERIALFUNC = neardup_internal.minhash_agg_deserialize,
  PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(text, int) IS
  'MinHash signature of the set of all elements, with num_perm; NULL if there is no element. Example: SELECT minhash_agg(word, 64) FROM (VALUES (''cat''), (''dog'')) v (word)';
CREATE FUNCTION neardup_internal.minhash_agg_text(internal, text, int, int) RETURNS internal
  AS 'MODULE_PATHNAME', 'minhash_agg_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE minhash_agg(element text, num_perm int, bits int) (
  SFUNC = neardup_internal.minhash_agg_text, STYPE = internal, SSPACE = 1200,
  FINALFUNC = neardup_internal.minhash_agg_final, COMBINEFUNC = neardup_internal.minhash_agg_combine,
  SERIALFUNC = neardup_internal.minhash_agg_serialize, DESERIALFUNC = neardup_internal.minhash_agg_deserialize,
  PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(text, int, int) IS
  'MinHash signature of the set of all elements, with num_perm and bits; NULL if there is no element. Example: SELECT minhash_agg(word, 64, 16) FROM (VALUES (''cat''), (''dog'')) v (word)';
CREATE FUNCTION neardup_internal.minhash_agg_text(internal, text, int, int, bigint) RETURNS internal
  AS 'MODULE_PATHNAME', 'minhash_agg_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE minhash_agg(element text, num_perm int, bits int, seed bigint) (
  SFUNC = neardup_internal.minhash_agg_text, STYPE = internal, SSPACE = 1200,
  FINALFUNC = neardup_internal.minhash_agg_final, COMBINEFUNC = neardup_internal.minhash_agg_combine,
  SERIALFUNC = neardup_internal.minhash_agg_serialize, DESERIALFUNC = neardup_internal.minhash_agg_deserialize,
  PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(text, int, int, bigint) IS
  'MinHash signature of the set of all elements, with num_perm, bits and seed; NULL if there is no element. Example: SELECT minhash_agg(word, 64, 16, 1) FROM (VALUES (''cat''), (''dog'')) v (word)';
CREATE FUNCTION neardup_internal.minhash_agg_bigint(internal, bigint) RETURNS internal
  AS 'MODULE_PATHNAME', 'minhash_agg_bigint' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE minhash_agg(element bigint) (
  SFUNC = neardup_internal.minhash_agg_bigint, STYPE = internal, SSPACE = 1200,
  FINALFUNC = neardup_internal.minhash_agg_final, COMBINEFUNC = neardup_internal.minhash_agg_combine,
  SERIALFUNC = neardup_internal.minhash_agg_serialize, DESERIALFUNC = neardup_internal.minhash_agg_deserialize,
  PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(bigint) IS
  'MinHash signature of the set of all numbers; NULL if there is no number. Example: SELECT minhash_agg(n) FROM (VALUES (10), (20)) v (n)';
CREATE FUNCTION neardup_internal.minhash_agg_bigint(internal, bigint, int) RETURNS internal
  AS 'MODULE_PATHNAME', 'minhash_agg_bigint' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE minhash_agg(element bigint, num_perm int) (
  SFUNC = neardup_internal.minhash_agg_bigint, STYPE = internal, SSPACE = 1200,
  FINALFUNC = neardup_internal.minhash_agg_final, COMBINEFUNC = neardup_internal.minhash_agg_combine,
  SERIALFUNC = neardup_internal.minhash_agg_serialize, DESERIALFUNC = neardup_internal.minhash_agg_deserialize,
  PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(bigint, int) IS
  'MinHash signature of the set of all numbers, with num_perm; NULL if there is no number. Example: SELECT minhash_agg(n, 64) FROM (VALUES (10), (20)) v (n)';
CREATE FUNCTION neardup_internal.minhash_agg_bigint(internal, bigint, int, int) RETURNS internal
  AS 'MODULE_PATHNAME', 'minhash_agg_bigint' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE minhash_agg(element bigint, num_perm int, bits int) (
  SFUNC = neardup_internal.minhash_agg_bigint, STYPE = internal, SSPACE = 1200,
  FINALFUNC = neardup_internal.minhash_agg_final, COMBINEFUNC = neardup_internal.minhash_agg_combine,
  SERIALFUNC = neardup_internal.minhash_agg_serialize, DESERIALFUNC = neardup_internal.minhash_agg_deserialize,
  PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(bigint, int, int) IS
  'MinHash signature of the set of all numbers, with num_perm and bits; NULL if there is no number. Example: SELECT minhash_agg(n, 64, 16) FROM (VALUES (10), (20)) v (n)';
CREATE FUNCTION neardup_internal.minhash_agg_bigint(internal, bigint, int, int, bigint) RETURNS internal
  AS 'MODULE_PATHNAME', 'minhash_agg_bigint' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE minhash_agg(element bigint, num_perm int, bits int, seed bigint) (
  SFUNC = neardup_internal.minhash_agg_bigint, STYPE = internal, SSPACE = 1200,
  FINALFUNC = neardup_internal.minhash_agg_final, COMBINEFUNC = neardup_internal.minhash_agg_combine,
  SERIALFUNC = neardup_internal.minhash_agg_serialize, DESERIALFUNC = neardup_internal.minhash_agg_deserialize,
  PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(bigint, int, int, bigint) IS
  'MinHash signature of the set of all numbers, with num_perm, bits and seed; NULL if there is no number. Example: SELECT minhash_agg(n, 64, 16, 1) FROM (VALUES (10), (20)) v (n)';

-- Signatures of shingles that begin with a stop word -----------------------------------------------------------------------

CREATE FUNCTION stopword_minhash(doc text, stopwords text[], following int = 2, num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'stopword_minhash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION stopword_minhash(text, text[], int, int, int, bigint) IS
  'MinHash signature of the set of stopword_shingles() of a document, as set_minhash() makes it. Example: SELECT stopword_minhash(''the cat sat on the mat by the door'', ARRAY[''the'', ''on''])';
CREATE FUNCTION stopword_minhash(doc text, dictionary regdictionary, following int = 2, num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'stopword_minhash_dictionary' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 3000;
COMMENT ON FUNCTION stopword_minhash(text, regdictionary, int, int, int, bigint) IS
  'MinHash signature of the set of stopword_shingles() of a document. The stop words are those of a text search dictionary. Example: SELECT stopword_minhash(''the cat sat on the mat by the door'', ''english_stem''::regdictionary)';
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
-- The type simhash ---------------------------------------------------------------------------------------------------

CREATE TYPE simhash;

CREATE FUNCTION neardup_internal.simhash_in(cstring) RETURNS simhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_out(simhash) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_recv(internal) RETURNS simhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_send(simhash) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE simhash (
  INPUT = neardup_internal.simhash_in, OUTPUT = neardup_internal.simhash_out,
  RECEIVE = neardup_internal.simhash_recv, SEND = neardup_internal.simhash_send,
  INTERNALLENGTH = 8, PASSEDBYVALUE, ALIGNMENT = double, STORAGE = plain
);
COMMENT ON TYPE simhash IS
  'SimHash of weighted features: 64 bits. The Hamming distance of two values estimates the angle between their features. Example: SELECT to_simhash(''a text of some words''), ''0123456789abcdef''::simhash';

-- Order, equality, hash

CREATE FUNCTION neardup_internal.simhash_eq(simhash, simhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_ne(simhash, simhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_lt(simhash, simhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_le(simhash, simhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_gt(simhash, simhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_ge(simhash, simhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_cmp(simhash, simhash) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_hash(simhash) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_hash_extended(simhash, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR = (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = neardup_internal.simhash_eq,
  COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = neardup_internal.simhash_ne,
  COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = neardup_internal.simhash_lt,
  COMMUTATOR = >, NEGATOR = >=,
  RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = neardup_internal.simhash_le,
  COMMUTATOR = >=, NEGATOR = >,
  RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = neardup_internal.simhash_gt,
  COMMUTATOR = <, NEGATOR = <=,
  RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = neardup_internal.simhash_ge,
  COMMUTATOR = <=, NEGATOR = <,
  RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR = (simhash, simhash) IS 'Equal in all 64 bits';
COMMENT ON OPERATOR <> (simhash, simhash) IS 'Not equal';
COMMENT ON OPERATOR < (simhash, simhash) IS 'Less than, as unsigned numbers';
COMMENT ON OPERATOR <= (simhash, simhash) IS 'Less than or equal, as unsigned numbers';
COMMENT ON OPERATOR > (simhash, simhash) IS 'Greater than, as unsigned numbers';
COMMENT ON OPERATOR >= (simhash, simhash) IS 'Greater than or equal, as unsigned numbers';

CREATE OPERATOR CLASS simhash_btree_ops DEFAULT FOR TYPE simhash USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
  FUNCTION 1 neardup_internal.simhash_cmp(simhash, simhash);
CREATE OPERATOR CLASS simhash_hash_ops DEFAULT FOR TYPE simhash USING hash AS
  OPERATOR 1 =, FUNCTION 1 neardup_internal.simhash_hash(simhash),
  FUNCTION 2 neardup_internal.simhash_hash_extended(simhash, bigint);

-- Casts: explicit only

CREATE FUNCTION neardup_internal.simhash_to_bigint(simhash) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_from_bigint(bigint) RETURNS simhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_to_bit(simhash) RETURNS bit
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_from_bit(bit) RETURNS simhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.simhash_to_bigint(simhash) IS 'the same 64 bits as a signed number';
COMMENT ON FUNCTION neardup_internal.simhash_from_bigint(bigint) IS 'the same 64 bits';
COMMENT ON FUNCTION neardup_internal.simhash_to_bit(simhash) IS 'the same 64 bits, most significant first';
COMMENT ON FUNCTION neardup_internal.simhash_from_bit(bit) IS 'the same 64 bits; an error for another length';
CREATE CAST (simhash AS bigint) WITH FUNCTION neardup_internal.simhash_to_bigint(simhash);
CREATE CAST (bigint AS simhash) WITH FUNCTION neardup_internal.simhash_from_bigint(bigint);
CREATE CAST (simhash AS bit) WITH FUNCTION neardup_internal.simhash_to_bit(simhash);
CREATE CAST (bit AS simhash) WITH FUNCTION neardup_internal.simhash_from_bit(bit);

-- Constructors

CREATE FUNCTION to_simhash(doc text, k int = 3, unit text = 'word') RETURNS simhash
  AS 'MODULE_PATHNAME', 'simhash_from_document' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_simhash(text, int, text) IS
  'SimHash of the k-shingles of a document, weighted by the number of their occurrences; NULL if there is no shingle. Example: SELECT to_simhash(''a text of some words'', k => 3, unit => ''word'')';
CREATE FUNCTION weighted_simhash(features text[], weights float8[]) RETURNS simhash
  AS 'MODULE_PATHNAME', 'simhash_from_features' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION weighted_simhash(text[], float8[]) IS
  'SimHash of weighted features; NULL if no weight is above 0. Example: SELECT weighted_simhash(ARRAY[''cat'', ''dog''], ARRAY[1, 2.5])';
CREATE FUNCTION vector_simhash(vector real[]) RETURNS simhash
  AS 'MODULE_PATHNAME', 'simhash_from_vector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION vector_simhash(real[]) IS
  'SimHash of a vector: the sides of 64 fixed hyperplanes on which it lies; NULL for a vector of zeros. Example: SELECT vector_simhash(ARRAY[0.5, -1.2, 3]::real[])';

CREATE FUNCTION neardup_internal.simhash_agg_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_agg_serialize(internal) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_agg_deserialize(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.simhash_agg_final(internal) RETURNS simhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION neardup_internal.simhash_agg_add(internal, text, float8) RETURNS internal
  AS 'MODULE_PATHNAME', 'simhash_agg_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE simhash_agg(feature text, weight float8) (
  SFUNC = neardup_internal.simhash_agg_add, STYPE = internal, SSPACE = 1100,
  FINALFUNC = neardup_internal.simhash_agg_final,
  COMBINEFUNC = neardup_internal.simhash_agg_combine, SERIALFUNC = neardup_internal.simhash_agg_serialize,
  DESERIALFUNC = neardup_internal.simhash_agg_deserialize,
  PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_agg(text, float8) IS
  'SimHash of weighted features, one in each row; NULL if no weight is above 0. Example: SELECT simhash_agg(word, weight) FROM (VALUES (''cat'', 1), (''dog'', 2.5)) v (word, weight)';

CREATE FUNCTION neardup_internal.simhash_agg_add(internal, text) RETURNS internal
  AS 'MODULE_PATHNAME', 'simhash_agg_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE simhash_agg(feature text) (
  SFUNC = neardup_internal.simhash_agg_add, STYPE = internal, SSPACE = 1100,
  FINALFUNC = neardup_internal.simhash_agg_final,
  COMBINEFUNC = neardup_internal.simhash_agg_combine, SERIALFUNC = neardup_internal.simhash_agg_serialize,
  DESERIALFUNC = neardup_internal.simhash_agg_deserialize,
  PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_agg(text) IS
  'SimHash of features of weight 1, one in each row; NULL if there is no feature. Example: SELECT simhash_agg(word) FROM (VALUES (''cat''), (''dog'')) v (word)';

-- Measures. LEAKPROOF: they take any values.

CREATE FUNCTION hamming(a simhash, b simhash) RETURNS int
  AS 'MODULE_PATHNAME', 'simhash_hamming' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
  SUPPORT neardup_internal.lsh_bits_bounds;
COMMENT ON FUNCTION hamming(simhash, simhash) IS
  'Number of differing bits, 0 to 64. Example: SELECT hamming(to_simhash(''a text of some words''), to_simhash(''a text of other words''))';
CREATE FUNCTION cosine(a simhash, b simhash) RETURNS float8
  AS 'MODULE_PATHNAME', 'simhash_cosine_estimate' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION cosine(simhash, simhash) IS
  'Estimated cosine, cos(pi * hamming / 64), -1 to 1. Example: SELECT cosine(to_simhash(''a text of some words''), to_simhash(''a text of other words''))';
CREATE FUNCTION neardup_internal.simhash_hamming_float(a simhash, b simhash) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.simhash_hamming_float(simhash, simhash) IS 'implementation of <~>: hamming(a, b)';
CREATE OPERATOR <~> (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = neardup_internal.simhash_hamming_float,
  COMMUTATOR = <~>);
COMMENT ON OPERATOR <~> (simhash, simhash) IS
  'Hamming distance as float8, 0 to 64. Example: SELECT to_simhash(''a text of some words'') <~> to_simhash(''a text of other words'')';
-- The type ctph ------------------------------------------------------------------------------------------------------

CREATE TYPE ctph;

CREATE FUNCTION neardup_internal.ctph_in(cstring) RETURNS ctph
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.ctph_out(ctph) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.ctph_recv(internal) RETURNS ctph
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.ctph_send(ctph) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE ctph (
  INPUT = neardup_internal.ctph_in, OUTPUT = neardup_internal.ctph_out, RECEIVE = neardup_internal.ctph_recv,
  SEND = neardup_internal.ctph_send,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = extended
);
COMMENT ON TYPE ctph IS
  'Context-triggered piecewise hash (fuzzy digest) of a document, as ssdeep computes it, or a longer one. Example: SELECT to_ctph(''a text of some words'')';

-- Order, equality, hash. LEAKPROOF: they take any values, and may use an index under row security.

CREATE FUNCTION neardup_internal.ctph_eq(ctph, ctph) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.ctph_ne(ctph, ctph) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.ctph_lt(ctph, ctph) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.ctph_le(ctph, ctph) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.ctph_gt(ctph, ctph) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.ctph_ge(ctph, ctph) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.ctph_cmp(ctph, ctph) RETURNS int
  AS 'MODULE_PATHNAME', 'minhash_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION neardup_internal.ctph_hash(ctph) RETURNS int
  AS 'MODULE_PATHNAME', 'minhash_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.ctph_hash_extended(ctph, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'minhash_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR = (LEFTARG = ctph, RIGHTARG = ctph, FUNCTION = neardup_internal.ctph_eq, COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (LEFTARG = ctph, RIGHTARG = ctph, FUNCTION = neardup_internal.ctph_ne, COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (LEFTARG = ctph, RIGHTARG = ctph, FUNCTION = neardup_internal.ctph_lt, COMMUTATOR = >, NEGATOR = >=,
  RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (LEFTARG = ctph, RIGHTARG = ctph, FUNCTION = neardup_internal.ctph_le, COMMUTATOR = >=, NEGATOR = >,
  RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (LEFTARG = ctph, RIGHTARG = ctph, FUNCTION = neardup_internal.ctph_gt, COMMUTATOR = <, NEGATOR = <=,
  RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (LEFTARG = ctph, RIGHTARG = ctph, FUNCTION = neardup_internal.ctph_ge, COMMUTATOR = <=, NEGATOR = <,
  RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR = (ctph, ctph) IS 'Equal digests';
COMMENT ON OPERATOR <> (ctph, ctph) IS 'Not equal';
COMMENT ON OPERATOR < (ctph, ctph) IS 'Less than, in an arbitrary but fixed order';
COMMENT ON OPERATOR <= (ctph, ctph) IS 'Less than or equal, in an arbitrary but fixed order';
COMMENT ON OPERATOR > (ctph, ctph) IS 'Greater than, in an arbitrary but fixed order';
COMMENT ON OPERATOR >= (ctph, ctph) IS 'Greater than or equal, in an arbitrary but fixed order';

CREATE OPERATOR CLASS ctph_btree_ops DEFAULT FOR TYPE ctph USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
  FUNCTION 1 neardup_internal.ctph_cmp(ctph, ctph);
CREATE OPERATOR CLASS ctph_hash_ops DEFAULT FOR TYPE ctph USING hash AS
  OPERATOR 1 =, FUNCTION 1 neardup_internal.ctph_hash(ctph),
  FUNCTION 2 neardup_internal.ctph_hash_extended(ctph, bigint);

-- Constructors

CREATE FUNCTION to_ctph(doc text) RETURNS ctph
  AS 'MODULE_PATHNAME', 'ctph_from_document' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_ctph(text) IS
  'Fuzzy digest of the UTF-8 bytes of a text, as ssdeep computes it. Example: SELECT to_ctph(''a text of some words'')';
CREATE FUNCTION to_ctph(doc bytea) RETURNS ctph
  AS 'MODULE_PATHNAME', 'ctph_from_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_ctph(bytea) IS
  'Fuzzy digest of bytes, as ssdeep computes it. Example: SELECT to_ctph(decode(''0123456789abcdef0123'', ''hex''))';
CREATE FUNCTION ctph_long(doc text, length int) RETURNS ctph
  AS 'MODULE_PATHNAME', 'ctph_from_document' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION ctph_long(text, int) IS
  'Longer fuzzy digest of the UTF-8 bytes of a text, with at most length characters in each part, 65 to 1024. Example: SELECT ctph_long(''a text of some words'', length => 256)';
CREATE FUNCTION ctph_long(doc bytea, length int) RETURNS ctph
  AS 'MODULE_PATHNAME', 'ctph_from_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION ctph_long(bytea, int) IS
  'Longer fuzzy digest of bytes, with at most length characters in each part, 65 to 1024. Example: SELECT ctph_long(decode(''0123456789abcdef0123'', ''hex''), length => 256)';

-- Measures

CREATE FUNCTION ctph_score(a ctph, b ctph) RETURNS int
  AS 'MODULE_PATHNAME', 'ctph_score_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5
  SUPPORT neardup_internal.lsh_score_bounds;
COMMENT ON FUNCTION ctph_score(ctph, ctph) IS
  'Score of two fuzzy digests, as ssdeep computes it, 0 to 100. Example: SELECT ctph_score(to_ctph(''a text of some words''), to_ctph(''a text of other words''))';
CREATE FUNCTION ctph_edit_rate(a ctph, b ctph) RETURNS float8
  AS 'MODULE_PATHNAME', 'ctph_edit_rate_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION ctph_edit_rate(ctph, ctph) IS
  'Levenshtein distance of two fuzzy digests divided by the sum of their lengths, 0 to 1; 1 if they have no common block size. Example: SELECT ctph_edit_rate(to_ctph(''a text of some words''), to_ctph(''a text of other words''))';
CREATE OPERATOR <-> (LEFTARG = ctph, RIGHTARG = ctph, FUNCTION = ctph_edit_rate, COMMUTATOR = <->);
COMMENT ON OPERATOR <-> (ctph, ctph) IS
  'Edit rate of two fuzzy digests, ctph_edit_rate(a, b), 0 to 1. Example: SELECT to_ctph(''a text of some words'') <-> to_ctph(''a text of other words'')';
-- TLSH digests -------------------------------------------------------------------------------------------------------

CREATE FUNCTION tlsh_distance(a text, b text, length boolean = true) RETURNS int
  AS 'MODULE_PATHNAME', 'neardup_tlsh_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION tlsh_distance(text, text, boolean) IS
  'Distance of two TLSH digests as TLSH computes it, 0 to 2473, smaller is nearer; length => false leaves the lengths of the documents out. Example: SELECT tlsh_distance(repeat(''0'', 70), ''T1'' || repeat(''0'', 69) || ''1'')';
CREATE FUNCTION tlsh_code(digest text) RETURNS bit
  AS 'MODULE_PATHNAME', 'neardup_tlsh_code' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION tlsh_code(text) IS
  'The buckets of a TLSH digest as 256 bits; two codes differ in at most as many bits as their digests are apart by tlsh_distance(). Example: SELECT length(tlsh_code(repeat(''0'', 70)))';
-- Measures -----------------------------------------------------------------------------------------------------------

-- Not LEAKPROOF: their errors tell how a signature was made (unit, k, size, seed). How they use an index under row security:
-- 64_lsh_quiet.sql.
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

-- How many rows and pairs a similarity condition keeps
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
-- Edit distances of documents ----------------------------------------------------------------------------------------

CREATE FUNCTION edit_distance(a text, b text, max_distance int = 2147483647) RETURNS int
  AS 'MODULE_PATHNAME', 'edit_distance_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION edit_distance(text, text, int) IS
  'Levenshtein distance in characters: the least number of characters to insert, delete or replace; NULL if it is above max_distance. Example: SELECT edit_distance(''kitten'', ''sitting'')';
CREATE FUNCTION edit_rate(a text, b text, max_rate float8 = 1.0) RETURNS float8
  AS 'MODULE_PATHNAME', 'edit_rate_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION edit_rate(text, text, float8) IS
  'Levenshtein distance in characters divided by the sum of both lengths, 0 to 1; NULL if it is above max_rate. Example: SELECT edit_rate(''kitten'', ''sitting'')';
CREATE FUNCTION edit_distance(a bytea, b bytea, max_distance int = 2147483647) RETURNS int
  AS 'MODULE_PATHNAME', 'edit_distance_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION edit_distance(bytea, bytea, int) IS
  'Levenshtein distance in bytes: the least number of bytes to insert, delete or replace; NULL if it is above max_distance. Example: SELECT edit_distance(decode(''010203'', ''hex''), decode(''0103'', ''hex''))';
CREATE FUNCTION edit_rate(a bytea, b bytea, max_rate float8 = 1.0) RETURNS float8
  AS 'MODULE_PATHNAME', 'edit_rate_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION edit_rate(bytea, bytea, float8) IS
  'Levenshtein distance in bytes divided by the sum of both lengths, 0 to 1; NULL if it is above max_rate. Example: SELECT edit_rate(decode(''010203'', ''hex''), decode(''0103'', ''hex''))';
-- Exact and partial copies -------------------------------------------------------------------------------------------

CREATE FUNCTION karp_rabin(doc text) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_karp_rabin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION karp_rabin(text) IS
  'Karp-Rabin fingerprint of the UTF-8 bytes of a text, modulo 2^61 - 1; equal documents have equal fingerprints. Example: SELECT karp_rabin(''a text of some words'')';
CREATE FUNCTION karp_rabin(doc bytea) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_karp_rabin_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION karp_rabin(bytea) IS
  'Karp-Rabin fingerprint of bytes, modulo 2^61 - 1; equal documents have equal fingerprints. Example: SELECT karp_rabin(decode(''0123456789abcdef'', ''hex''))';
CREATE FUNCTION karp_rabin_concat(a bigint, b bigint, length_b bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_karp_rabin_concat' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION karp_rabin_concat(bigint, bigint, bigint) IS
  'Fingerprint of a document followed by a second one, from the fingerprints of both and the length of the second in bytes. Example: SELECT karp_rabin_concat(karp_rabin(''some ''), karp_rabin(''text''), 4) = karp_rabin(''some text'')';

CREATE FUNCTION rolling_fingerprints(doc text, "window" int = 50, OUT "position" int, OUT fingerprint bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_rolling_fingerprints' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
COMMENT ON FUNCTION rolling_fingerprints(text, int) IS
  'Karp-Rabin fingerprint of every run of window characters, with the position of its first character, counted from 1. Example: SELECT * FROM rolling_fingerprints(''a text of some words'', 10)';
CREATE FUNCTION rolling_fingerprints(doc bytea, "window" int = 50, OUT "position" int, OUT fingerprint bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_rolling_fingerprints_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
COMMENT ON FUNCTION rolling_fingerprints(bytea, int) IS
  'Karp-Rabin fingerprint of every run of window bytes, with the position of its first byte, counted from 1. Example: SELECT * FROM rolling_fingerprints(decode(''0123456789abcdef'', ''hex''), 4)';

CREATE FUNCTION winnow_fingerprints(doc text, k int = 5, "window" int = 4, unit text = 'word', ignore bigint[] = '{}',
    OUT "position" int, OUT fingerprint bigint) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_winnow_fingerprints' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 500;
COMMENT ON FUNCTION winnow_fingerprints(text, int, int, text, bigint[]) IS
  'Selected hashes of k-shingles, at least one in every run of k + window - 1 units, with the position of the first character, counted from 1; without those in ignore. Example: SELECT * FROM winnow_fingerprints(''a text of some words'', k => 2, "window" => 2)';
CREATE FUNCTION winnow_fingerprints(doc bytea, k int = 8, "window" int = 16, ignore bigint[] = '{}', OUT "position" int, OUT fingerprint bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_winnow_fingerprints_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 500;
COMMENT ON FUNCTION winnow_fingerprints(bytea, int, int, bigint[]) IS
  'Selected hashes of runs of k bytes, at least one in every run of k + window - 1 bytes, with the position of the first byte, counted from 1; without those in ignore. Example: SELECT * FROM winnow_fingerprints(decode(''0123456789abcdef'', ''hex''), k => 2, "window" => 3)';

CREATE FUNCTION winnow_hashes(doc text, k int = 5, "window" int = 4, unit text = 'word', ignore bigint[] = '{}') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'neardup_winnow_hashes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION winnow_hashes(text, int, int, text, bigint[]) IS
  'The distinct hashes of winnow_fingerprints() as a set, ascending, for containment_exact() and lsh indexes. Example: SELECT winnow_hashes(''a text of some words'', k => 2, "window" => 2)';
CREATE FUNCTION winnow_hashes(doc bytea, k int = 8, "window" int = 16, ignore bigint[] = '{}') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'neardup_winnow_hashes_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION winnow_hashes(bytea, int, int, bigint[]) IS
  'The distinct hashes of winnow_fingerprints() of bytes as a set, ascending. Example: SELECT winnow_hashes(decode(''0123456789abcdef'', ''hex''), k => 2, "window" => 3)';

CREATE FUNCTION shared_passages(a text, b text, min_units int = 8, unit text = 'word', ignore text[] = '{}', OUT start_a int, OUT start_b int,
    OUT length int, OUT "text" text) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_shared_passages' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000 ROWS 10;
COMMENT ON FUNCTION shared_passages(text, text, int, text, text[]) IS
  'Passages of a of at least min_units units that also occur in b, in the order of a, without what stands in the texts to ignore; positions and length in characters. Example: SELECT * FROM shared_passages(''some words of a text'', ''a copy has some words of it'', min_units => 3)';
CREATE FUNCTION copied_share(a text, b text, min_units int = 8, unit text = 'word', ignore text[] = '{}') RETURNS float8
  AS 'MODULE_PATHNAME', 'neardup_copied_share' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION copied_share(text, text, int, text, text[]) IS
  'Share of the units of a in runs of at least min_units units that also occur in b, 0 to 1; units that stand in the texts to ignore are left out. Example: SELECT copied_share(''some words of a text'', ''a copy has some words of it'', min_units => 3)';

-- I-Match: one hash of the words that tell documents apart -----------------------------------------------------------------

CREATE FUNCTION neardup_internal.neardup_term_counts(query text, OUT term text, OUT documents bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_term_counts(text) IS
  'private: documents of a query that hold each word, in parts that add up; term NULL: how many documents there are';

CREATE FUNCTION create_lexicon(name text, query text) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_create_lexicon' LANGUAGE C;
COMMENT ON FUNCTION create_lexicon(text, text) IS
  'Creates a table of the words in the documents of a query, with the document frequency and the idf of each; returns the number of words. Example: SELECT create_lexicon(''docs_lexicon'', ''SELECT body FROM docs'')';

CREATE FUNCTION i_match(doc text, lexicon regclass, low float8 = 0.2, high float8 = 0.9) RETURNS uuid
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 500;
COMMENT ON FUNCTION i_match(text, regclass, float8, float8) IS
  'Fingerprint of the words of a document whose normalized idf in a lexicon is from low to high; NULL if there is no such word. Example: SELECT i_match(body, ''docs_lexicon'') FROM docs';

CREATE FUNCTION i_match_bag(doc text, lexicon regclass, variants int = 8, low float8 = 0.2, high float8 = 0.9, share float8 = 0.67)
  RETURNS uuid[] AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 800;
COMMENT ON FUNCTION i_match_bag(text, regclass, int, float8, float8, float8) IS
  'Returns i_match() and the fingerprints for several parts of the lexicon, each with that share of its words. Near duplicates have overlapping arrays (&&). Example: SELECT i_match_bag(body, ''docs_lexicon'', variants => 8) FROM docs';
-- Word similarity from a corpus ----------------------------------------------------------------------------------------------
-- A word model is two tables of its owner: <name>, of type neardup_word, a row for each word; <name>_model, of type
-- neardup_word_model, the one row that says how it is made and how far it is.

CREATE FUNCTION word_similarities(query text, vocabulary int = 100000, k int = 50, "window" int = 3, by_position boolean = true,
    features int = NULL, stopwords text[] = NULL, dictionary regdictionary = NULL, context text = 'sentence', discount float8 = 0)
  RETURNS TABLE (word text, similar_word text, similarity float8, rank int)
  AS 'MODULE_PATHNAME', 'word_similarities' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000000;
COMMENT ON FUNCTION word_similarities(text, int, int, int, boolean, int, text[], regdictionary, text, float8) IS
  'The k most similar words of each of the most frequent words in the documents of a query, by the words near which they occur. Example: SELECT * FROM word_similarities(''SELECT body FROM docs'', vocabulary => 100, k => 3)';

CREATE TYPE neardup_word AS (id int, word text COLLATE "C", frequency bigint, weight bigint, features bytea,
  similar_ids int[], similarities float8[]);
COMMENT ON TYPE neardup_word IS
  'Word of a word model: a row of the table that create_word_model() creates. Example: SELECT word, frequency FROM docs_words ORDER BY id';

CREATE TYPE neardup_word_model AS (query text, vocabulary int, k int, "window" int, by_position boolean, features int,
  stopwords text[], dictionary text, context text,
  given boolean,          -- documents are text[]: words are as they were given
  words int,              -- that there are; NULL: not counted yet
  compared int,           -- words before this id have been compared with all before them
  started timestamptz, counted timestamptz, finished timestamptz,
  discount float8);       -- NULL: made by 0.1.0, without one
COMMENT ON TYPE neardup_word_model IS
  'Arguments and progress of a word model: the row of a table that create_word_model() creates. Example: SELECT * FROM docs_words_model';

CREATE FUNCTION neardup_internal.neardup_count_words(query text, vocabulary int, k int, "window" int,
    by_position boolean, features int, stopwords text[], dictionary regdictionary, context text, discount float8,
    OUT id int, OUT word text, OUT frequency bigint, OUT weight bigint, OUT features_of bytea)
  RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_internal.neardup_count_words(text, int, int, int, boolean, int, text[], regdictionary, text, float8) IS
  'private: the words of a word model with their features';
CREATE FUNCTION neardup_internal.neardup_similar_words(model regclass, words int, features int, k int, compared int,
    seconds float8, OUT id int, OUT similar_ids int[], OUT similarities float8[])
  RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_similar_words(regclass, int, int, int, int, float8) IS
  'private: compares further words of a word model for some seconds; all words so far with the most similar of them';
CREATE FUNCTION neardup_internal.neardup_row_similarity(a bytea, b bytea) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_internal.neardup_row_similarity(bytea, bytea) IS
  'private: similarity of two words by their stored features';
CREATE FUNCTION neardup_internal.neardup_folded_word(word text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.neardup_folded_word(text) IS
  'private: the word as documents give it; NULL for what is not one word';

-- Making -------------------------------------------------------------------------------------------------------------

CREATE PROCEDURE create_word_model(name text, query text, vocabulary int = 100000, k int = 50, "window" int = 3,
    by_position boolean = true, features int = NULL, stopwords text[] = NULL, dictionary regdictionary = NULL,
    context text = 'sentence', discount float8 = 0, commit boolean = true, commit_every interval = '30 seconds')
  AS 'MODULE_PATHNAME', 'neardup_create_word_model' LANGUAGE C;
COMMENT ON PROCEDURE create_word_model(text, text, int, int, int, boolean, int, text[], regdictionary, text, float8, boolean, interval) IS
  'Creates a word model of the documents of a query. Commits after each stage and about every commit_every; after an interruption the same CALL continues where it stopped. Example: CALL create_word_model(''docs_words'', ''SELECT body FROM docs'')';

CREATE FUNCTION drop_word_model(name text) RETURNS void
  AS 'MODULE_PATHNAME', 'neardup_drop_word_model' LANGUAGE C;
COMMENT ON FUNCTION drop_word_model(text) IS 'Drops the tables of a word model, finished or not. Example: SELECT drop_word_model(''docs_words'')';

-- Using --------------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_internal.neardup_word_model_of(model regclass) RETURNS neardup_word_model
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_word_model_of(regclass) IS
  'private: settings of a word model that is finished';
CREATE FUNCTION neardup_internal.neardup_word_of(model regclass, word text, OUT features bytea,
    OUT similar_ids int[], OUT similarities float8[])
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_word_of(regclass, text) IS 'private: what a word model holds of a word';
CREATE FUNCTION neardup_internal.neardup_words_at(model regclass, ids int[]) RETURNS text[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_words_at(regclass, int[]) IS 'private: words of a word model by their ids';

CREATE FUNCTION word_similarity(model regclass, w1 text, w2 text) RETURNS float8 LANGUAGE plpgsql STABLE STRICT
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  given boolean := (neardup_internal.neardup_word_model_of(model)).given;
BEGIN
  RETURN neardup_internal.neardup_row_similarity(
    (neardup_internal.neardup_word_of(model,
       CASE WHEN given THEN w1 ELSE neardup_internal.neardup_folded_word(w1) END)).features,
    (neardup_internal.neardup_word_of(model,
       CASE WHEN given THEN w2 ELSE neardup_internal.neardup_folded_word(w2) END)).features);
END $$;
COMMENT ON FUNCTION word_similarity(regclass, text, text) IS
  'Similarity of two words of a word model, 0 to 1; NULL if the model lacks one of them, or if neither has a feature. Example: SELECT word_similarity(''docs_words'', ''river'', ''water'')';

CREATE FUNCTION neardup_internal.neardup_similar_to(model regclass, word text, k int, OUT similar_word text,
    OUT similarity float8, OUT rank int) RETURNS SETOF record
  LANGUAGE sql STABLE ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
  SELECT s.word, s.similarity, s.rank::int FROM neardup_internal.neardup_word_of(model, word) w,
    unnest(neardup_internal.neardup_words_at(model, w.similar_ids[1:k]), w.similarities[1:k])
      WITH ORDINALITY s(word, similarity, rank) ORDER BY s.rank
  $$;
COMMENT ON FUNCTION neardup_internal.neardup_similar_to(regclass, text, int) IS
  'private: the k most similar words of a word as it is stored';

CREATE FUNCTION similar_words(model regclass, word text, k int = 10) RETURNS TABLE (similar_word text, similarity float8, rank int)
LANGUAGE plpgsql STABLE STRICT ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  given boolean := (neardup_internal.neardup_word_model_of(model)).given;
BEGIN
  IF k NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'k must be 1 to 1000: %', k USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY SELECT s.similar_word, s.similarity, s.rank
    FROM neardup_internal.neardup_similar_to(model,
      CASE WHEN given THEN word ELSE neardup_internal.neardup_folded_word(word) END, k) s;
END $$;
COMMENT ON FUNCTION similar_words(regclass, text, int) IS
  'The k most similar words of a word; fewer if the word model keeps fewer. Example: SELECT * FROM similar_words(''docs_words'', ''river'', k => 5)';

CREATE FUNCTION expand_query(model regclass, query text, k int = 3)
  RETURNS TABLE (place int, word text, similar_word text, similarity float8) LANGUAGE plpgsql STABLE STRICT ROWS 20
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM neardup_internal.neardup_word_model_of(model);
  IF k NOT BETWEEN 0 AND 1000 THEN
    RAISE EXCEPTION 'k must be 0 to 1000: %', k USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY SELECT q.place::int, q.word, x.similar_word, x.similarity FROM @extschema@.shingles(query, 1) WITH ORDINALITY q(word, place)
    CROSS JOIN LATERAL (SELECT q.word AS similar_word, 1::float8 AS similarity, 0 AS rank UNION ALL
      SELECT s.similar_word, s.similarity, s.rank FROM neardup_internal.neardup_similar_to(model, q.word, k) s) x
    ORDER BY q.place, x.rank;
END $$;
COMMENT ON FUNCTION expand_query(regclass, text, int) IS
  'The words of a text in order, each followed by its k most similar words. Example: SELECT * FROM expand_query(''docs_words'', ''river water'', k => 3)';
-- Queries for an index -----------------------------------------------------------------------------------------------

CREATE TYPE lsh_query;

CREATE FUNCTION neardup_internal.lsh_query_in(cstring) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.lsh_query_out(lsh_query) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.lsh_query_recv(internal) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.lsh_query_send(lsh_query) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE lsh_query (
  INPUT = neardup_internal.lsh_query_in, OUTPUT = neardup_internal.lsh_query_out,
  RECEIVE = neardup_internal.lsh_query_recv, SEND = neardup_internal.lsh_query_send,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external
);
COMMENT ON TYPE lsh_query IS
  'Query for an lsh index: a signature, digest or set, and a bound on the similarity to it. Example: SELECT with_threshold(to_minhash(''a text of some words''), 0.8)';

CREATE FUNCTION with_threshold(sig minhash, threshold float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME', 'lsh_with_threshold' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION with_threshold(minhash, float8) IS
  'Signature with the least similarity to it, above 0 and at most 1: for %> and for EXCLUDE USING lsh (with_threshold(sig, 0.9) WITH &&). Example: SELECT id FROM docs WHERE sig %> with_threshold(to_minhash(''a text of some words''), 0.8)';
-- Takes any bound, NaN too, as the comparison does that it stands for: what the planner derives must not fail where the
-- query does not. So it is LEAKPROOF, and others of its kind are.
CREATE FUNCTION neardup_internal.lsh_query_bound(minhash, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION neardup_internal.lsh_query_bound(minhash, float8) IS
  'private: the planner''s form of with_threshold(), for any bound';

CREATE FUNCTION neardup_internal.lsh_hamming_query(simhash, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_hamming_query(simhash, float8) IS
  'private: hamming(.., value) <= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_hamming_query_strict(simhash, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_hamming_query_strict(simhash, float8) IS
  'private: the same for bounds of hamming_at_most()';
CREATE FUNCTION neardup_internal.lsh_score_query(ctph, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_score_query(ctph, float8) IS
  'private: ctph_score(.., digest) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_score_query_strict(ctph, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_score_query_strict(ctph, float8) IS
  'private: the same for bounds of ctph_score_at_least()';
CREATE FUNCTION neardup_internal.lsh_rate_query(ctph, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_rate_query(ctph, float8) IS
  'private: ctph_edit_rate(.., digest) <= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_rate_query_strict(ctph, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_rate_query_strict(ctph, float8) IS
  'private: the same for bounds of ctph_edit_rate_at_most()';

CREATE FUNCTION neardup_internal.lsh_query_eq(lsh_query, lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.lsh_query_ne(lsh_query, lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.lsh_query_hash(lsh_query) RETURNS int
  AS 'MODULE_PATHNAME', 'minhash_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.lsh_query_hash_extended(lsh_query, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'minhash_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE OPERATOR = (LEFTARG = lsh_query, RIGHTARG = lsh_query, FUNCTION = neardup_internal.lsh_query_eq,
  COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES);
CREATE OPERATOR <> (LEFTARG = lsh_query, RIGHTARG = lsh_query, FUNCTION = neardup_internal.lsh_query_ne,
  COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel);
COMMENT ON OPERATOR = (lsh_query, lsh_query) IS 'Equal values and bounds';
COMMENT ON OPERATOR <> (lsh_query, lsh_query) IS 'Not equal';
CREATE OPERATOR CLASS lsh_query_hash_ops DEFAULT FOR TYPE lsh_query USING hash AS
  OPERATOR 1 =, FUNCTION 1 neardup_internal.lsh_query_hash(lsh_query),
  FUNCTION 2 neardup_internal.lsh_query_hash_extended(lsh_query, bigint);

-- Conditions that an index serves. Not LEAKPROOF: as jaccard(); and they refuse bounds, which may be a column's.

CREATE FUNCTION neardup_internal.lsh_jaccard_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_jaccard_support(internal) IS 'private: planner support of jaccard_at_least()';
CREATE FUNCTION jaccard_at_least(sig minhash, query minhash, threshold float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2 SUPPORT neardup_internal.lsh_jaccard_support;
COMMENT ON FUNCTION jaccard_at_least(minhash, minhash, float8) IS
  'Whether jaccard(sig, query) >= threshold; an lsh index serves it. Example: SELECT id FROM docs WHERE jaccard_at_least(sig, to_minhash(''a text of some words''), 0.8)';

CREATE FUNCTION neardup_internal.lsh_hamming_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_hamming_support(internal) IS 'private: planner support of hamming_at_most()';
CREATE FUNCTION hamming_at_most(a simhash, b simhash, distance float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT neardup_internal.lsh_hamming_support;
COMMENT ON FUNCTION hamming_at_most(simhash, simhash, float8) IS
  'Whether hamming(a, b) <= distance, 0 to 64; an lsh index serves it. Example: SELECT hamming_at_most(to_simhash(''a text of some words''), to_simhash(''a text of other words''), 3)';

CREATE FUNCTION neardup_internal.lsh_score_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_score_support(internal) IS 'private: planner support of ctph_score_at_least()';
CREATE FUNCTION ctph_score_at_least(a ctph, b ctph, score float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5 SUPPORT neardup_internal.lsh_score_support;
COMMENT ON FUNCTION ctph_score_at_least(ctph, ctph, float8) IS
  'Whether ctph_score(a, b) >= score, 0 to 100; an lsh index serves it for a score above 0. Example: SELECT ctph_score_at_least(to_ctph(''a text of some words''), to_ctph(''a text of other words''), 70)';
CREATE FUNCTION neardup_internal.lsh_rate_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_rate_support(internal) IS
  'private: planner support of ctph_edit_rate_at_most()';
CREATE FUNCTION ctph_edit_rate_at_most(a ctph, b ctph, rate float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5 SUPPORT neardup_internal.lsh_rate_support;
COMMENT ON FUNCTION ctph_edit_rate_at_most(ctph, ctph, float8) IS
  'Whether ctph_edit_rate(a, b) <= rate, 0 to 1; an lsh index serves rates up to its max_rate. Example: SELECT ctph_edit_rate_at_most(to_ctph(''a text of some words''), to_ctph(''a text of other words''), 0.1)';

CREATE FUNCTION neardup_internal.minhash_at_least(sig minhash, query lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION neardup_internal.minhash_at_least(minhash, lsh_query) IS 'implementation of %>';
CREATE OPERATOR %> (LEFTARG = minhash, RIGHTARG = lsh_query, FUNCTION = neardup_internal.minhash_at_least,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR %> (minhash, lsh_query) IS
  'Whether the Jaccard similarity to the signature of the query is at least its bound. Example: SELECT to_minhash(''a text of some words'') %> with_threshold(to_minhash(''a text of some other words''), 0.5)';

CREATE FUNCTION neardup_internal.simhash_within(value simhash, query lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.simhash_within(simhash, lsh_query) IS 'implementation of %>';
CREATE OPERATOR %> (LEFTARG = simhash, RIGHTARG = lsh_query, FUNCTION = neardup_internal.simhash_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR %> (simhash, lsh_query) IS
  'Whether the Hamming distance to the value of the query is at most its bound. Example: SELECT ''0123456789abcdef''::simhash %> ''hamming<=3 0123456789abcdee''::lsh_query';

CREATE FUNCTION neardup_internal.ctph_within(digest ctph, query lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION neardup_internal.ctph_within(ctph, lsh_query) IS 'implementation of %>';
CREATE OPERATOR %> (LEFTARG = ctph, RIGHTARG = lsh_query, FUNCTION = neardup_internal.ctph_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR %> (ctph, lsh_query) IS
  'Whether the score with the digest of the query is at least its bound, or the edit rate at most its bound. Example: SELECT ''3:abcdefgh:abcd''::ctph %> ''ctph_score>=70 3:abcdefgh:abcd''::lsh_query';

CREATE FUNCTION neardup_internal.lsh_query_conflicts(a lsh_query, b lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION neardup_internal.lsh_query_conflicts(lsh_query, lsh_query) IS 'implementation of &&';
CREATE OPERATOR && (LEFTARG = lsh_query, RIGHTARG = lsh_query, FUNCTION = neardup_internal.lsh_query_conflicts,
  COMMUTATOR = &&,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR && (lsh_query, lsh_query) IS
  'Whether the Jaccard similarity of both signatures is at least the greater of both thresholds. Example: SELECT with_threshold(to_minhash(''some text''), 0.9) && with_threshold(to_minhash(''some other text''), 0.8)';

-- The access method --------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_internal.lsh_handler(internal) RETURNS index_am_handler
  AS 'MODULE_PATHNAME', 'lshhandler' LANGUAGE C;
COMMENT ON FUNCTION neardup_internal.lsh_handler(internal) IS 'private: the access method lsh';
CREATE ACCESS METHOD lsh TYPE INDEX HANDLER neardup_internal.lsh_handler;
COMMENT ON ACCESS METHOD lsh IS
  'Index for near duplicates, by bands of signatures; a query returns the same rows as a sequential scan. Example: CREATE INDEX docs_sig ON docs USING lsh (sig)';

-- The hash family "minhash": src/pg/lsh/family.h

CREATE FUNCTION neardup_internal.lsh_minhash_keys(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_minhash_keys(internal) IS 'private: index keys of a signature';
CREATE FUNCTION neardup_internal.lsh_query_keys(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_query_keys(internal) IS 'private: index keys of an lsh_query';
-- STABLE: for % it reads neardup.jaccard_threshold.
CREATE FUNCTION neardup_internal.lsh_minhash_probes(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_minhash_probes(internal) IS 'private: what an index looks up for a query';
CREATE FUNCTION neardup_internal.lsh_minhash_bind(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_minhash_bind(internal) IS
  'private: index parameters from a first signature, and their check';
CREATE FUNCTION neardup_internal.lsh_query_bind(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_query_bind(internal) IS
  'private: index parameters from a first lsh_query, and their check';
CREATE FUNCTION neardup_internal.lsh_minhash_describe(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_minhash_describe(internal) IS 'private: what an index promises, in words';
CREATE FUNCTION neardup_internal.lsh_minhash_order(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_minhash_order(internal) IS 'private: least distance of a row by its hits';

-- The planner finds 7 to 14 here, not by their names.
CREATE OPERATOR CLASS minhash_ops DEFAULT FOR TYPE minhash USING lsh AS
  OPERATOR 1 %> (minhash, lsh_query),
  OPERATOR 2 % (minhash, minhash),
  OPERATOR 4 <%> (minhash, minhash) FOR ORDER BY pg_catalog.float_ops,
  FUNCTION 1 neardup_internal.lsh_minhash_keys(internal),
  FUNCTION 2 neardup_internal.lsh_minhash_probes(internal),
  FUNCTION 3 neardup_internal.lsh_minhash_bind(internal),
  FUNCTION 4 neardup_internal.lsh_minhash_describe(internal),
  FUNCTION 5 neardup_internal.lsh_minhash_order(internal),
  FUNCTION 7 jaccard(minhash, minhash),
  FUNCTION 8 neardup_internal.lsh_query_bound(minhash, float8),
  FUNCTION 9 jaccard_at_least(minhash, minhash, float8),
  FUNCTION 10 with_threshold(minhash, float8);
COMMENT ON OPERATOR CLASS minhash_ops USING lsh IS 'Jaccard similarity of minhash signatures';

CREATE OPERATOR CLASS lsh_query_ops DEFAULT FOR TYPE lsh_query USING lsh AS
  OPERATOR 3 && (lsh_query, lsh_query),
  FUNCTION 1 neardup_internal.lsh_query_keys(internal),
  FUNCTION 2 neardup_internal.lsh_minhash_probes(internal),
  FUNCTION 3 neardup_internal.lsh_query_bind(internal),
  FUNCTION 4 neardup_internal.lsh_minhash_describe(internal);
COMMENT ON OPERATOR CLASS lsh_query_ops USING lsh IS 'Exclusion constraints on with_threshold()';

-- The hash family "simhash"

CREATE FUNCTION neardup_internal.lsh_simhash_keys(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_simhash_keys(internal) IS 'private: index keys of a simhash';
CREATE FUNCTION neardup_internal.lsh_simhash_probes(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_simhash_probes(internal) IS 'private: what an index looks up for a query';
CREATE FUNCTION neardup_internal.lsh_simhash_bind(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_simhash_bind(internal) IS
  'private: index parameters from a first simhash, and their check';
CREATE FUNCTION neardup_internal.lsh_simhash_describe(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_simhash_describe(internal) IS 'private: what an index promises, in words';
CREATE FUNCTION neardup_internal.lsh_simhash_order(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_simhash_order(internal) IS 'private: least distance of a row by its hits';
CREATE FUNCTION neardup_internal.lsh_simhash_options(internal) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_simhash_options(internal) IS 'private: options of simhash_ops';

CREATE OPERATOR CLASS simhash_ops DEFAULT FOR TYPE simhash USING lsh AS
  OPERATOR 1 %> (simhash, lsh_query),
  OPERATOR 4 <~> (simhash, simhash) FOR ORDER BY pg_catalog.float_ops,
  FUNCTION 1 neardup_internal.lsh_simhash_keys(internal),
  FUNCTION 2 neardup_internal.lsh_simhash_probes(internal),
  FUNCTION 3 neardup_internal.lsh_simhash_bind(internal),
  FUNCTION 4 neardup_internal.lsh_simhash_describe(internal),
  FUNCTION 5 neardup_internal.lsh_simhash_order(internal),
  FUNCTION 6 (simhash) neardup_internal.lsh_simhash_options(internal),
  FUNCTION 11 hamming(simhash, simhash),
  FUNCTION 12 neardup_internal.lsh_hamming_query(simhash, float8),
  FUNCTION 13 hamming_at_most(simhash, simhash, float8),
  FUNCTION 14 neardup_internal.lsh_hamming_query_strict(simhash, float8);
COMMENT ON OPERATOR CLASS simhash_ops USING lsh IS 'Hamming distance of simhash values; option blocks';

-- The hash family "ctph"

CREATE FUNCTION neardup_internal.lsh_ctph_keys(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_ctph_keys(internal) IS 'private: index keys of a digest';
CREATE FUNCTION neardup_internal.lsh_ctph_probes(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_ctph_probes(internal) IS 'private: what an index looks up for a query';
CREATE FUNCTION neardup_internal.lsh_ctph_bind(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_ctph_bind(internal) IS
  'private: index parameters from a first digest, and their check';
CREATE FUNCTION neardup_internal.lsh_ctph_describe(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_ctph_describe(internal) IS 'private: what an index promises, in words';
CREATE FUNCTION neardup_internal.lsh_ctph_order(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_ctph_order(internal) IS 'private: least distance of a row by its hits';
CREATE FUNCTION neardup_internal.lsh_ctph_options(internal) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_ctph_options(internal) IS 'private: options of ctph_ops';

CREATE OPERATOR CLASS ctph_ops DEFAULT FOR TYPE ctph USING lsh AS
  OPERATOR 1 %> (ctph, lsh_query),
  OPERATOR 4 <-> (ctph, ctph) FOR ORDER BY pg_catalog.float_ops,
  FUNCTION 1 neardup_internal.lsh_ctph_keys(internal),
  FUNCTION 2 neardup_internal.lsh_ctph_probes(internal),
  FUNCTION 3 neardup_internal.lsh_ctph_bind(internal),
  FUNCTION 4 neardup_internal.lsh_ctph_describe(internal),
  FUNCTION 5 neardup_internal.lsh_ctph_order(internal),
  FUNCTION 6 (ctph) neardup_internal.lsh_ctph_options(internal),
  FUNCTION 7 ctph_score(ctph, ctph),
  FUNCTION 8 neardup_internal.lsh_score_query(ctph, float8),
  FUNCTION 9 ctph_score_at_least(ctph, ctph, float8),
  FUNCTION 10 neardup_internal.lsh_score_query_strict(ctph, float8),
  FUNCTION 11 ctph_edit_rate(ctph, ctph),
  FUNCTION 12 neardup_internal.lsh_rate_query(ctph, float8),
  FUNCTION 13 ctph_edit_rate_at_most(ctph, ctph, float8),
  FUNCTION 14 neardup_internal.lsh_rate_query_strict(ctph, float8);
COMMENT ON OPERATOR CLASS ctph_ops USING lsh IS 'Score and edit rate of ctph digests; option max_rate';

-- Bands for joins of one's own

CREATE FUNCTION band_keys(sig minhash, threshold float8) RETURNS SETOF bigint
  AS 'MODULE_PATHNAME', 'minhash_band_keys' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10 ROWS 30;
COMMENT ON FUNCTION band_keys(minhash, float8) IS
  'Keys for joins: any two comparable signatures with jaccard >= threshold share at least one key; test jaccard() then, because a shared key makes only a candidate. Example: SELECT id, band_keys(sig, 0.8) FROM docs';
CREATE FUNCTION lsh_probability(similarity float8, bands int, rows int) RETURNS float8
  AS 'MODULE_PATHNAME', 'neardup_lsh_probability' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_probability(float8, int, int) IS
  'Probability that at least one of the bands agrees, 1 - (1 - similarity ^ rows) ^ bands. Example: SELECT lsh_probability(0.8, bands => 20, rows => 5)';

-- Columns before the last of an lsh index: equality of any type that can be hashed -------------------------------------

-- One operator class of lsh for each default one of the access method hash, and its operators between types of one
-- family; operator 5 and function 15 are equality and its hash: src/pg/lsh/family.h.
DO $$
DECLARE
  family record;
  class record;
  member record;
BEGIN
  FOR family IN
    SELECT f.oid, f.opfname FROM pg_catalog.pg_opfamily f JOIN pg_catalog.pg_am a ON a.oid OPERATOR(pg_catalog.=) f.opfmethod
    WHERE a.amname OPERATOR(pg_catalog.=) 'hash' AND f.opfnamespace OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid
      AND EXISTS (SELECT FROM pg_catalog.pg_opclass c WHERE c.opcfamily OPERATOR(pg_catalog.=) f.oid AND c.opcdefault)
    ORDER BY f.opfname USING OPERATOR(pg_catalog.<)
  LOOP
    EXECUTE pg_catalog.format('CREATE OPERATOR FAMILY @extschema@.%I USING lsh', family.opfname);
    FOR class IN
      SELECT c.opcname, c.opcintype, o.amopopr, p.amproc
      FROM pg_catalog.pg_opclass c
      JOIN pg_catalog.pg_amop o ON o.amopfamily OPERATOR(pg_catalog.=) c.opcfamily
        AND o.amoplefttype OPERATOR(pg_catalog.=) c.opcintype AND o.amoprighttype OPERATOR(pg_catalog.=) c.opcintype
        AND o.amopstrategy OPERATOR(pg_catalog.=) 1
      JOIN pg_catalog.pg_amproc p ON p.amprocfamily OPERATOR(pg_catalog.=) c.opcfamily
        AND p.amproclefttype OPERATOR(pg_catalog.=) c.opcintype AND p.amprocrighttype OPERATOR(pg_catalog.=) c.opcintype
        AND p.amprocnum OPERATOR(pg_catalog.=) 2
      WHERE c.opcfamily OPERATOR(pg_catalog.=) family.oid AND c.opcdefault
        AND c.opcnamespace OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid
      ORDER BY c.opcname USING OPERATOR(pg_catalog.<)
    LOOP
      EXECUTE pg_catalog.format(
        'CREATE OPERATOR CLASS @extschema@.%I DEFAULT FOR TYPE %s USING lsh FAMILY @extschema@.%I AS OPERATOR 5 %s, FUNCTION 15 %s',
        class.opcname, class.opcintype::pg_catalog.regtype, family.opfname,
        class.amopopr::pg_catalog.regoperator, class.amproc::pg_catalog.regprocedure);
    END LOOP;
    FOR member IN
      SELECT o.amopopr FROM pg_catalog.pg_amop o
      WHERE o.amopfamily OPERATOR(pg_catalog.=) family.oid AND o.amopstrategy OPERATOR(pg_catalog.=) 1
        AND o.amoplefttype OPERATOR(pg_catalog.<>) o.amoprighttype ORDER BY o.amopopr USING OPERATOR(pg_catalog.<)
    LOOP
      EXECUTE pg_catalog.format('ALTER OPERATOR FAMILY @extschema@.%I USING lsh ADD OPERATOR 5 %s',
        family.opfname, member.amopopr::pg_catalog.regoperator);
    END LOOP;
  END LOOP;
END
$$;
-- Triggers against near copies ---------------------------------------------------------------------------------------
-- VOLATILE, so that they see the rows that the same statement has inserted before.

CREATE FUNCTION neardup_guard() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_guard() IS
  'BEFORE INSERT OR UPDATE trigger that refuses near copies, or skips them: (signature, threshold [, ''refuse'' or ''skip'']). Example: CREATE TRIGGER no_copies BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard(''sig'', ''0.9'')';

CREATE FUNCTION neardup_flag() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_flag() IS
  'BEFORE INSERT OR UPDATE trigger that marks near copies: (signature, threshold, column to fill [, column to fill it from]). Example: CREATE TRIGGER flag_copies BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION neardup_flag(''sig'', ''0.9'', ''copy_of'')';
-- Sets of integers in an index ------------------------------------------------------------------------------------------

CREATE FUNCTION jaccard_exact(a int[], b int[]) RETURNS float8
  AS 'MODULE_PATHNAME', 'jaccard_exact_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION jaccard_exact(int[], int[]) IS
  'Exact Jaccard similarity of two sets of int, 0 to 1; 0 if either is empty. Example: SELECT jaccard_exact(ARRAY[1, 2], ARRAY[2, 3])';

-- Without it smallint[] would fit both of the others.
CREATE FUNCTION jaccard_exact(a smallint[], b smallint[]) RETURNS float8
  AS 'MODULE_PATHNAME', 'jaccard_exact_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION jaccard_exact(smallint[], smallint[]) IS
  'Exact Jaccard similarity of two sets of smallint, 0 to 1; 0 if either is empty. Example: SELECT jaccard_exact(ARRAY[1, 2]::smallint[], ARRAY[2, 3]::smallint[])';

CREATE FUNCTION neardup_internal.lsh_set_query(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_set_query(bigint[], float8) IS
  'private: jaccard_exact(.., set) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_set_query(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_set_query(int[], float8) IS
  'private: jaccard_exact(.., set) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_set_query_strict(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_set_query_strict(bigint[], float8) IS
  'private: the same for bounds of jaccard_exact_at_least()';
CREATE FUNCTION neardup_internal.lsh_set_query_strict(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_set_query_strict(int[], float8) IS
  'private: the same for bounds of jaccard_exact_at_least()';

CREATE FUNCTION neardup_internal.lsh_set_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_set_support(internal) IS
  'private: planner support of jaccard_exact_at_least()';
CREATE FUNCTION jaccard_exact_at_least(a bigint[], b bigint[], threshold float8) RETURNS boolean
  AS 'MODULE_PATHNAME', 'int_set_at_least' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_set_support;
COMMENT ON FUNCTION jaccard_exact_at_least(bigint[], bigint[], float8) IS
  'Whether jaccard_exact(a, b) >= threshold, above 0 and at most 1; an lsh index serves it. Example: SELECT jaccard_exact_at_least(ARRAY[1, 2]::bigint[], ARRAY[2, 3]::bigint[], 0.3)';
CREATE FUNCTION jaccard_exact_at_least(a int[], b int[], threshold float8) RETURNS boolean
  AS 'MODULE_PATHNAME', 'int_set_at_least' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_set_support;
COMMENT ON FUNCTION jaccard_exact_at_least(int[], int[], float8) IS
  'Whether jaccard_exact(a, b) >= threshold, above 0 and at most 1; an lsh index serves it. Example: SELECT jaccard_exact_at_least(ARRAY[1, 2], ARRAY[2, 3], 0.3)';

CREATE FUNCTION neardup_internal.int_set_within(bigint[], lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_internal.int_set_within(bigint[], lsh_query) IS 'implementation of %>';
CREATE FUNCTION neardup_internal.int_set_within(int[], lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_internal.int_set_within(int[], lsh_query) IS 'implementation of %>';
CREATE OPERATOR %> (LEFTARG = bigint[], RIGHTARG = lsh_query, FUNCTION = neardup_internal.int_set_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR %> (bigint[], lsh_query) IS
  'Whether a set is as near to that of the query as its bound demands: by Jaccard similarity, containment or overlap. Example: SELECT ARRAY[1, 2]::bigint[] %> ''set_jaccard>=0.3 {2,3}''::lsh_query';
CREATE OPERATOR %> (LEFTARG = int[], RIGHTARG = lsh_query, FUNCTION = neardup_internal.int_set_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR %> (int[], lsh_query) IS
  'Whether a set is as near to that of the query as its bound demands: by Jaccard similarity, containment or overlap. Example: SELECT ARRAY[1, 2] %> ''set_jaccard>=0.3 {2,3}''::lsh_query';

-- The hash family "set". Equality as well: as a column before the last an array is one value.

CREATE FUNCTION neardup_internal.lsh_set_keys(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_set_keys(internal) IS 'private: index keys of a set';
CREATE FUNCTION neardup_internal.lsh_set_probes(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_set_probes(internal) IS 'private: what an index looks up for a query';
CREATE FUNCTION neardup_internal.lsh_set_bind(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_set_bind(internal) IS
  'private: index parameters from a first set, and their check';
CREATE FUNCTION neardup_internal.lsh_set_describe(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_set_describe(internal) IS 'private: what an index promises, in words';

CREATE OPERATOR CLASS int8_set_ops DEFAULT FOR TYPE bigint[] USING lsh AS
  OPERATOR 1 %> (bigint[], lsh_query),
  FUNCTION 1 neardup_internal.lsh_set_keys(internal),
  FUNCTION 2 neardup_internal.lsh_set_probes(internal),
  FUNCTION 3 neardup_internal.lsh_set_bind(internal),
  FUNCTION 4 neardup_internal.lsh_set_describe(internal),
  FUNCTION 7 jaccard_exact(bigint[], bigint[]),
  FUNCTION 8 neardup_internal.lsh_set_query(bigint[], float8),
  FUNCTION 9 jaccard_exact_at_least(bigint[], bigint[], float8),
  FUNCTION 10 neardup_internal.lsh_set_query_strict(bigint[], float8),
  OPERATOR 5 = (anyarray, anyarray),
  FUNCTION 15 (bigint[]) hash_array_extended(anyarray, bigint);
COMMENT ON OPERATOR CLASS int8_set_ops USING lsh IS 'Exact Jaccard similarity of sets of bigint';
CREATE OPERATOR CLASS int4_set_ops DEFAULT FOR TYPE int[] USING lsh AS
  OPERATOR 1 %> (int[], lsh_query),
  FUNCTION 1 neardup_internal.lsh_set_keys(internal),
  FUNCTION 2 neardup_internal.lsh_set_probes(internal),
  FUNCTION 3 neardup_internal.lsh_set_bind(internal),
  FUNCTION 4 neardup_internal.lsh_set_describe(internal),
  FUNCTION 7 jaccard_exact(int[], int[]),
  FUNCTION 8 neardup_internal.lsh_set_query(int[], float8),
  FUNCTION 9 jaccard_exact_at_least(int[], int[], float8),
  FUNCTION 10 neardup_internal.lsh_set_query_strict(int[], float8),
  OPERATOR 5 = (anyarray, anyarray),
  FUNCTION 15 (int[]) hash_array_extended(anyarray, bigint);
COMMENT ON OPERATOR CLASS int4_set_ops USING lsh IS 'Exact Jaccard similarity of sets of int';

-- Containment and overlap. Of containment_exact(a, b) an index serves a column on either side: two makers of queries.

CREATE FUNCTION containment_exact(a bigint[], b bigint[]) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION containment_exact(bigint[], bigint[]) IS
  'Share of the elements of the set a that are in the set b, 0 to 1; 0 if a is empty. Example: SELECT containment_exact(ARRAY[1, 2]::bigint[], ARRAY[2, 3]::bigint[])';
CREATE FUNCTION overlap_exact(a bigint[], b bigint[]) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_overlap_bounds;
COMMENT ON FUNCTION overlap_exact(bigint[], bigint[]) IS
  'Number of elements that two sets of bigint share. Example: SELECT overlap_exact(ARRAY[1, 2]::bigint[], ARRAY[2, 3]::bigint[])';
CREATE FUNCTION containment_exact(a int[], b int[]) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION containment_exact(int[], int[]) IS
  'Share of the elements of the set a that are in the set b, 0 to 1; 0 if a is empty. Example: SELECT containment_exact(ARRAY[1, 2], ARRAY[2, 3])';
CREATE FUNCTION overlap_exact(a int[], b int[]) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_overlap_bounds;
COMMENT ON FUNCTION overlap_exact(int[], int[]) IS
  'Number of elements that two sets of int share. Example: SELECT overlap_exact(ARRAY[1, 2], ARRAY[2, 3])';
CREATE FUNCTION neardup_internal.lsh_set_in_query(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_set_in_query(bigint[], float8) IS
  'private: containment_exact(set, ..) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_set_in_query(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_set_in_query(int[], float8) IS
  'private: containment_exact(set, ..) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_set_in_query_strict(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_set_in_query_strict(bigint[], float8) IS
  'private: the same for bounds of the named predicate';
CREATE FUNCTION neardup_internal.lsh_set_in_query_strict(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_set_in_query_strict(int[], float8) IS
  'private: the same for bounds of the named predicate';
CREATE FUNCTION neardup_internal.lsh_query_in_set(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_query_in_set(bigint[], float8) IS
  'private: containment_exact(.., set) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_query_in_set(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_query_in_set(int[], float8) IS
  'private: containment_exact(.., set) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_query_in_set_strict(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_query_in_set_strict(bigint[], float8) IS
  'private: the same for bounds of the named predicate';
CREATE FUNCTION neardup_internal.lsh_query_in_set_strict(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_query_in_set_strict(int[], float8) IS
  'private: the same for bounds of the named predicate';
CREATE FUNCTION neardup_internal.lsh_overlap_query(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_overlap_query(bigint[], float8) IS
  'private: overlap_exact(.., set) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_overlap_query(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_overlap_query(int[], float8) IS
  'private: overlap_exact(.., set) >= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_overlap_query_strict(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_overlap_query_strict(bigint[], float8) IS
  'private: the same for bounds of the named predicate';
CREATE FUNCTION neardup_internal.lsh_overlap_query_strict(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.lsh_overlap_query_strict(int[], float8) IS
  'private: the same for bounds of the named predicate';
CREATE FUNCTION neardup_internal.lsh_containment_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_containment_support(internal) IS
  'private: planner support of containment_exact_at_least()';
CREATE FUNCTION neardup_internal.lsh_overlap_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_overlap_support(internal) IS
  'private: planner support of overlap_exact_at_least()';
CREATE FUNCTION containment_exact_at_least(a bigint[], b bigint[], threshold float8) RETURNS boolean
  AS 'MODULE_PATHNAME', 'containment_at_least' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_containment_support;
COMMENT ON FUNCTION containment_exact_at_least(bigint[], bigint[], float8) IS
  'Whether containment_exact(a, b) >= threshold, above 0 and at most 1; an lsh index on a or on b serves it. Example: SELECT containment_exact_at_least(ARRAY[1, 2]::bigint[], ARRAY[2, 3]::bigint[], 0.5)';
CREATE FUNCTION overlap_exact_at_least(a bigint[], b bigint[], overlap float8) RETURNS boolean
  AS 'MODULE_PATHNAME', 'overlap_at_least' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_overlap_support;
COMMENT ON FUNCTION overlap_exact_at_least(bigint[], bigint[], float8) IS
  'Whether overlap_exact(a, b) >= overlap, from 1 on; an lsh index serves it. Example: SELECT overlap_exact_at_least(ARRAY[1, 2]::bigint[], ARRAY[2, 3]::bigint[], 1)';
CREATE FUNCTION containment_exact_at_least(a int[], b int[], threshold float8) RETURNS boolean
  AS 'MODULE_PATHNAME', 'containment_at_least' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_containment_support;
COMMENT ON FUNCTION containment_exact_at_least(int[], int[], float8) IS
  'Whether containment_exact(a, b) >= threshold, above 0 and at most 1; an lsh index on a or on b serves it. Example: SELECT containment_exact_at_least(ARRAY[1, 2], ARRAY[2, 3], 0.5)';
CREATE FUNCTION overlap_exact_at_least(a int[], b int[], overlap float8) RETURNS boolean
  AS 'MODULE_PATHNAME', 'overlap_at_least' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_overlap_support;
COMMENT ON FUNCTION overlap_exact_at_least(int[], int[], float8) IS
  'Whether overlap_exact(a, b) >= overlap, from 1 on; an lsh index serves it. Example: SELECT overlap_exact_at_least(ARRAY[1, 2], ARRAY[2, 3], 1)';

-- Added to the families, since the operator classes of 0.2.0 stay.
ALTER OPERATOR FAMILY int8_set_ops USING lsh ADD
  FUNCTION 16 (bigint[]) containment_exact(bigint[], bigint[]),
  FUNCTION 17 (bigint[]) neardup_internal.lsh_set_in_query(bigint[], float8),
  FUNCTION 18 (bigint[]) containment_exact_at_least(bigint[], bigint[], float8),
  FUNCTION 19 (bigint[]) neardup_internal.lsh_set_in_query_strict(bigint[], float8),
  FUNCTION 20 (bigint[]) neardup_internal.lsh_query_in_set(bigint[], float8),
  FUNCTION 21 (bigint[]) neardup_internal.lsh_query_in_set_strict(bigint[], float8),
  FUNCTION 22 (bigint[]) overlap_exact(bigint[], bigint[]),
  FUNCTION 23 (bigint[]) neardup_internal.lsh_overlap_query(bigint[], float8),
  FUNCTION 24 (bigint[]) overlap_exact_at_least(bigint[], bigint[], float8),
  FUNCTION 25 (bigint[]) neardup_internal.lsh_overlap_query_strict(bigint[], float8);
ALTER OPERATOR FAMILY int4_set_ops USING lsh ADD
  FUNCTION 16 (int[]) containment_exact(int[], int[]),
  FUNCTION 17 (int[]) neardup_internal.lsh_set_in_query(int[], float8),
  FUNCTION 18 (int[]) containment_exact_at_least(int[], int[], float8),
  FUNCTION 19 (int[]) neardup_internal.lsh_set_in_query_strict(int[], float8),
  FUNCTION 20 (int[]) neardup_internal.lsh_query_in_set(int[], float8),
  FUNCTION 21 (int[]) neardup_internal.lsh_query_in_set_strict(int[], float8),
  FUNCTION 22 (int[]) overlap_exact(int[], int[]),
  FUNCTION 23 (int[]) neardup_internal.lsh_overlap_query(int[], float8),
  FUNCTION 24 (int[]) overlap_exact_at_least(int[], int[], float8),
  FUNCTION 25 (int[]) neardup_internal.lsh_overlap_query_strict(int[], float8);

-- The hash family "minutiae"

CREATE FUNCTION minutiae_cells(points point[], grid int = 64, margin float8 = 0.1) RETURNS int[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION minutiae_cells(point[], int, float8) IS
  'Cells of a grid over the unit square that contain a point; a point nearer than margin (in widths of a cell) to a border is in the cells on both sides. Example: SELECT minutiae_cells(ARRAY[point(0.1, 0.2), point(0.7, 0.3)])';
CREATE FUNCTION minutiae_buckets(cells int[], functions int = 1024, function_cells int = 3, grid int = 64) RETURNS int[]
  AS 'MODULE_PATHNAME', 'neardup_minutiae_buckets' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION minutiae_buckets(int[], int, int, int) IS
  'Buckets that contain a set of cells: the numbers of the functions all of whose cells are in the set. Example: SELECT minutiae_buckets(array(SELECT generate_series(0, 1000)), functions => 1024)';

CREATE FUNCTION neardup_internal.lsh_minutiae_keys(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_minutiae_keys(internal) IS 'private: index keys of a set of cells';
CREATE FUNCTION neardup_internal.lsh_minutiae_probes(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_minutiae_probes(internal) IS 'private: what an index looks up for a query';
CREATE FUNCTION neardup_internal.lsh_minutiae_bind(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_minutiae_bind(internal) IS
  'private: index parameters from a first set of cells, and their check';
CREATE FUNCTION neardup_internal.lsh_minutiae_describe(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_minutiae_describe(internal) IS 'private: what an index promises, in words';
CREATE FUNCTION neardup_internal.lsh_minutiae_options(internal) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_minutiae_options(internal) IS 'private: options of minutiae_ops';

CREATE OPERATOR CLASS minutiae_ops FOR TYPE int[] USING lsh AS
  OPERATOR 1 %> (int[], lsh_query),
  FUNCTION 1 neardup_internal.lsh_minutiae_keys(internal),
  FUNCTION 2 neardup_internal.lsh_minutiae_probes(internal),
  FUNCTION 3 neardup_internal.lsh_minutiae_bind(internal),
  FUNCTION 4 neardup_internal.lsh_minutiae_describe(internal),
  FUNCTION 6 (int[]) neardup_internal.lsh_minutiae_options(internal),
  FUNCTION 7 jaccard_exact(int[], int[]),
  FUNCTION 8 neardup_internal.lsh_set_query(int[], float8),
  FUNCTION 9 jaccard_exact_at_least(int[], int[], float8),
  FUNCTION 10 neardup_internal.lsh_set_query_strict(int[], float8);
COMMENT ON OPERATOR CLASS minutiae_ops USING lsh IS 'Jaccard similarity of sets of cells that share a bucket; options functions, cells, grid';
-- Conditions that never raise an error ----------------------------------------------------------------------------------
-- An index looks at rows before row security does. The measures raise an error for signatures made differently, which
-- would tell of hidden rows; so under row security and in security barrier views the planner asks an index by the twins
-- below. Each is true wherever its public operator raises an error, and answers as that one does elsewhere; the query's own
-- condition is evaluated afterwards, on the rows that row security lets through. An operator's twin has its strategy + 100.

CREATE FUNCTION neardup_internal.lsh_quiet_within(minhash, lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_within(minhash, lsh_query) IS
  'private: %>, true for signatures made differently';
CREATE OPERATOR neardup_internal.%>? (LEFTARG = minhash, RIGHTARG = lsh_query,
  FUNCTION = neardup_internal.lsh_quiet_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR neardup_internal.%>? (minhash, lsh_query) IS 'private: %> for an index under row security';

-- STABLE: reads neardup.jaccard_threshold.
CREATE FUNCTION neardup_internal.lsh_quiet_similar(minhash, minhash) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_quiet_similar' LANGUAGE C STABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_similar(minhash, minhash) IS
  'private: %, true for signatures made differently';
CREATE OPERATOR neardup_internal.%? (LEFTARG = minhash, RIGHTARG = minhash,
  FUNCTION = neardup_internal.lsh_quiet_similar, COMMUTATOR = OPERATOR(neardup_internal.%?),
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR neardup_internal.%? (minhash, minhash) IS 'private: % for an index under row security';

CREATE FUNCTION neardup_internal.lsh_quiet_distance(minhash, minhash) RETURNS float8
  AS 'MODULE_PATHNAME', 'minhash_quiet_distance' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_distance(minhash, minhash) IS
  'private: <%>, 1 for signatures made differently';
CREATE OPERATOR neardup_internal.<%>? (LEFTARG = minhash, RIGHTARG = minhash,
  FUNCTION = neardup_internal.lsh_quiet_distance, COMMUTATOR = OPERATOR(neardup_internal.<%>?));
COMMENT ON OPERATOR neardup_internal.<%>? (minhash, minhash) IS 'private: <%> for an index under row security';

CREATE FUNCTION neardup_internal.lsh_quiet_conflicts(lsh_query, lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_conflicts(lsh_query, lsh_query) IS
  'private: &&, true for signatures made differently';
CREATE OPERATOR neardup_internal.&&? (LEFTARG = lsh_query, RIGHTARG = lsh_query,
  FUNCTION = neardup_internal.lsh_quiet_conflicts, COMMUTATOR = OPERATOR(neardup_internal.&&?),
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR neardup_internal.&&? (lsh_query, lsh_query) IS 'private: && for an index under row security';

CREATE FUNCTION neardup_internal.lsh_quiet_within(simhash, lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME', 'simhash_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_within(simhash, lsh_query) IS
  'private: %>, true for a query of another type';
CREATE OPERATOR neardup_internal.%>? (LEFTARG = simhash, RIGHTARG = lsh_query,
  FUNCTION = neardup_internal.lsh_quiet_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR neardup_internal.%>? (simhash, lsh_query) IS 'private: %> for an index under row security';

CREATE FUNCTION neardup_internal.lsh_quiet_within(ctph, lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME', 'ctph_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 5;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_within(ctph, lsh_query) IS
  'private: %>, true for digests of different kinds';
CREATE OPERATOR neardup_internal.%>? (LEFTARG = ctph, RIGHTARG = lsh_query,
  FUNCTION = neardup_internal.lsh_quiet_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR neardup_internal.%>? (ctph, lsh_query) IS 'private: %> for an index under row security';

CREATE FUNCTION neardup_internal.lsh_quiet_distance(ctph, ctph) RETURNS float8
  AS 'MODULE_PATHNAME', 'ctph_quiet_distance' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 5;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_distance(ctph, ctph) IS 'private: <->, 1 for digests of different kinds';
CREATE OPERATOR neardup_internal.<->? (LEFTARG = ctph, RIGHTARG = ctph,
  FUNCTION = neardup_internal.lsh_quiet_distance, COMMUTATOR = OPERATOR(neardup_internal.<->?));
COMMENT ON OPERATOR neardup_internal.<->? (ctph, ctph) IS 'private: <-> for an index under row security';

CREATE FUNCTION neardup_internal.lsh_quiet_within(bigint[], lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME', 'int_set_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_within(bigint[], lsh_query) IS
  'private: %>, true for an array with a NULL';
CREATE OPERATOR neardup_internal.%>? (LEFTARG = bigint[], RIGHTARG = lsh_query,
  FUNCTION = neardup_internal.lsh_quiet_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR neardup_internal.%>? (bigint[], lsh_query) IS 'private: %> for an index under row security';
CREATE FUNCTION neardup_internal.lsh_quiet_within(int[], lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME', 'int_set_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_within(int[], lsh_query) IS 'private: %>, true for an array with a NULL';
CREATE OPERATOR neardup_internal.%>? (LEFTARG = int[], RIGHTARG = lsh_query,
  FUNCTION = neardup_internal.lsh_quiet_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR neardup_internal.%>? (int[], lsh_query) IS 'private: %> for an index under row security';

ALTER OPERATOR FAMILY minhash_ops USING lsh ADD
  OPERATOR 101 neardup_internal.%>? (minhash, lsh_query),
  OPERATOR 102 neardup_internal.%? (minhash, minhash),
  OPERATOR 104 neardup_internal.<%>? (minhash, minhash) FOR ORDER BY pg_catalog.float_ops;
ALTER OPERATOR FAMILY lsh_query_ops USING lsh ADD
  OPERATOR 103 neardup_internal.&&? (lsh_query, lsh_query);
ALTER OPERATOR FAMILY simhash_ops USING lsh ADD
  OPERATOR 101 neardup_internal.%>? (simhash, lsh_query);
ALTER OPERATOR FAMILY ctph_ops USING lsh ADD
  OPERATOR 101 neardup_internal.%>? (ctph, lsh_query),
  OPERATOR 104 neardup_internal.<->? (ctph, ctph) FOR ORDER BY pg_catalog.float_ops;
ALTER OPERATOR FAMILY int8_set_ops USING lsh ADD
  OPERATOR 101 neardup_internal.%>? (bigint[], lsh_query);
ALTER OPERATOR FAMILY int4_set_ops USING lsh ADD
  OPERATOR 101 neardup_internal.%>? (int[], lsh_query);
ALTER OPERATOR FAMILY minutiae_ops USING lsh ADD
  OPERATOR 101 neardup_internal.%>? (int[], lsh_query);
-- Statistics of near duplicates --------------------------------------------------------------------------------------

CREATE FUNCTION neardup_internal.minhash_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.minhash_typanalyze(internal) IS 'private: ANALYZE of minhash columns';
ALTER TYPE minhash SET (ANALYZE = neardup_internal.minhash_typanalyze);
CREATE FUNCTION neardup_internal.simhash_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.simhash_typanalyze(internal) IS 'private: ANALYZE of simhash columns';
ALTER TYPE simhash SET (ANALYZE = neardup_internal.simhash_typanalyze);
CREATE FUNCTION neardup_internal.ctph_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.ctph_typanalyze(internal) IS 'private: ANALYZE of ctph columns';
ALTER TYPE ctph SET (ANALYZE = neardup_internal.ctph_typanalyze);
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
-- Bit codes: Hamming distance of bit strings, and an index for it -------------------------------------------------------
-- pgvector has the operators <~> and <%> on bit; ours is another one, so that both can lie in one schema.

CREATE FUNCTION neardup_internal.lsh_code_bounds(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_code_bounds(internal) IS 'private: planner support of bit_hamming()';
CREATE FUNCTION bit_hamming(a bit, b bit) RETURNS int
  AS 'MODULE_PATHNAME', 'neardup_bit_hamming' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  SUPPORT neardup_internal.lsh_code_bounds;
COMMENT ON FUNCTION bit_hamming(bit, bit) IS
  'Number of differing bits of two bit strings of one length, 64 to 4096 bits. Example: SELECT bit_hamming(repeat(''01'', 32)::bit(64), repeat(''0111'', 16)::bit(64))';

CREATE FUNCTION neardup_internal.lsh_bit_query(bit, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bit_query(bit, float8) IS
  'private: bit_hamming(.., value) <= bound, for any bound';
CREATE FUNCTION neardup_internal.lsh_bit_query_strict(bit, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bit_query_strict(bit, float8) IS
  'private: the same for bounds of bit_hamming_at_most()';
CREATE FUNCTION neardup_internal.lsh_bit_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bit_support(internal) IS
  'private: planner support of bit_hamming_at_most()';
CREATE FUNCTION bit_hamming_at_most(a bit, b bit, distance float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT neardup_internal.lsh_bit_support;
COMMENT ON FUNCTION bit_hamming_at_most(bit, bit, float8) IS
  'Whether bit_hamming(a, b) <= distance, 0 to 4096; an lsh index serves it up to its max_distance. Example: SELECT bit_hamming_at_most(repeat(''01'', 32)::bit(64), repeat(''0111'', 16)::bit(64), 16)';

CREATE FUNCTION neardup_internal.bit_distance(a bit, b bit) RETURNS float8
  AS 'MODULE_PATHNAME', 'neardup_bit_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.bit_distance(bit, bit) IS 'implementation of <->: bit_hamming(a, b)';
CREATE OPERATOR <-> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = neardup_internal.bit_distance, COMMUTATOR = <->);
COMMENT ON OPERATOR <-> (bit, bit) IS
  'Hamming distance of two bit strings of one length, as float8. Example: SELECT repeat(''01'', 32)::bit(64) <-> repeat(''0111'', 16)::bit(64)';
CREATE FUNCTION neardup_internal.bit_within(bit, lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.bit_within(bit, lsh_query) IS 'implementation of %>';
CREATE OPERATOR %> (LEFTARG = bit, RIGHTARG = lsh_query, FUNCTION = neardup_internal.bit_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR %> (bit, lsh_query) IS
  'Whether the Hamming distance to the bit string of the query is at most its bound. Example: SELECT repeat(''01'', 32)::bit(64) %> (''bit_hamming<=16 '' || repeat(''0111'', 16))::lsh_query';

-- What an index is asked under row security: never an error.
CREATE FUNCTION neardup_internal.lsh_quiet_within(bit, lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME', 'bit_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_within(bit, lsh_query) IS
  'private: %>, true for bit strings of other lengths';
CREATE OPERATOR neardup_internal.%>? (LEFTARG = bit, RIGHTARG = lsh_query,
  FUNCTION = neardup_internal.lsh_quiet_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR neardup_internal.%>? (bit, lsh_query) IS 'private: %> for an index under row security';
CREATE FUNCTION neardup_internal.lsh_quiet_distance(bit, bit) RETURNS float8
  AS 'MODULE_PATHNAME', 'bit_quiet_distance' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_distance(bit, bit) IS
  'private: <->, 4096 for bit strings of different lengths';
CREATE OPERATOR neardup_internal.<->? (LEFTARG = bit, RIGHTARG = bit,
  FUNCTION = neardup_internal.lsh_quiet_distance, COMMUTATOR = OPERATOR(neardup_internal.<->?));
COMMENT ON OPERATOR neardup_internal.<->? (bit, bit) IS 'private: <-> for an index under row security';

-- The hash family "bits"

CREATE FUNCTION neardup_internal.lsh_bits_keys(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bits_keys(internal) IS 'private: index keys of a bit string';
CREATE FUNCTION neardup_internal.lsh_bits_probes(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bits_probes(internal) IS 'private: what an index looks up for a query';
CREATE FUNCTION neardup_internal.lsh_bits_bind(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bits_bind(internal) IS
  'private: index parameters from a first bit string, and their check';
CREATE FUNCTION neardup_internal.lsh_bits_describe(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bits_describe(internal) IS 'private: what an index promises, in words';
CREATE FUNCTION neardup_internal.lsh_bits_order(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bits_order(internal) IS 'private: least distance of a row by its hits';
CREATE FUNCTION neardup_internal.lsh_bits_options(internal) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_bits_options(internal) IS 'private: options of bit_ops';

CREATE OPERATOR CLASS bit_ops DEFAULT FOR TYPE bit USING lsh AS
  OPERATOR 1 %> (bit, lsh_query),
  OPERATOR 4 <-> (bit, bit) FOR ORDER BY pg_catalog.float_ops,
  FUNCTION 1 neardup_internal.lsh_bits_keys(internal),
  FUNCTION 2 neardup_internal.lsh_bits_probes(internal),
  FUNCTION 3 neardup_internal.lsh_bits_bind(internal),
  FUNCTION 4 neardup_internal.lsh_bits_describe(internal),
  FUNCTION 5 neardup_internal.lsh_bits_order(internal),
  FUNCTION 6 (bit) neardup_internal.lsh_bits_options(internal),
  FUNCTION 11 bit_hamming(bit, bit),
  FUNCTION 12 neardup_internal.lsh_bit_query(bit, float8),
  FUNCTION 13 bit_hamming_at_most(bit, bit, float8),
  FUNCTION 14 neardup_internal.lsh_bit_query_strict(bit, float8);
ALTER OPERATOR FAMILY bit_ops USING lsh ADD
  OPERATOR 101 neardup_internal.%>? (bit, lsh_query),
  OPERATOR 104 neardup_internal.<->? (bit, bit) FOR ORDER BY pg_catalog.float_ops;
COMMENT ON OPERATOR CLASS bit_ops USING lsh IS 'Hamming distance of bit strings; option max_distance';
-- Pairs and clusters -------------------------------------------------------------------------------------------------
-- VOLATILE and PARALLEL UNSAFE: they run the caller's query.

CREATE FUNCTION all_pairs(query text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a bigint, id_b bigint, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_all_pairs_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_pairs(text, float8, text, text, float8, interval, text) IS
  'All pairs of rows (id, signature or set) of a query with similarity >= threshold, in order, with id_a < id_b or, of measure ''containment'', the set of id_a in that of id_b. Example: SELECT * FROM all_pairs(''SELECT id, sig FROM docs'', 0.8)';
CREATE FUNCTION all_pairs(id anyelement, query text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a anyelement, id_b anyelement, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_all_pairs_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_pairs(anyelement, text, float8, text, text, float8, interval, text) IS
  'The pairs that all_pairs() returns, for ids of the type of the first argument. Example: SELECT * FROM all_pairs(NULL::text, ''SELECT id::text, sig FROM docs'', 0.8)';

CREATE FUNCTION pairs_between(query_a text, query_b text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a bigint, id_b bigint, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_pairs_between_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION pairs_between(text, text, float8, text, text, float8, interval, text) IS
  'All pairs of a row (id, signature or set) of query_a and a row of query_b with similarity >= threshold, in order; of measure ''containment'', the set of id_a in that of id_b. Example: SELECT * FROM pairs_between(''SELECT id, sig FROM docs WHERE id <= 4'', ''SELECT id, sig FROM docs WHERE id > 4'', 0.8)';
CREATE FUNCTION pairs_between(id anyelement, query_a text, query_b text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a anyelement, id_b anyelement, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_pairs_between_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION pairs_between(anyelement, text, text, float8, text, text, float8, interval, text) IS
  'The pairs that pairs_between() returns, for ids of the type of the first argument. Example: SELECT * FROM pairs_between(NULL::text, ''SELECT id::text, sig FROM docs'', ''SELECT ''''new'''', to_minhash(''''some text'''')'', 0.8)';

CREATE FUNCTION all_clusters(query text, threshold float8, linkage text = 'anchor', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id bigint, cluster bigint, representative bigint, similarity float8, cluster_size bigint,
                 survivor boolean)
  AS 'MODULE_PATHNAME', 'neardup_all_clusters_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_clusters(text, float8, text, text, float8, interval, text) IS
  'The rows (id, signature or set) of a query in its order, each with its cluster of similar rows. linkage is ''anchor'' or ''connected''. Example: SELECT * FROM all_clusters(''SELECT id, sig FROM docs ORDER BY id'', 0.8)';
CREATE FUNCTION all_clusters(id anyelement, query text, threshold float8, linkage text = 'anchor', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id anyelement, cluster bigint, representative anyelement, similarity float8, cluster_size bigint,
                 survivor boolean)
  AS 'MODULE_PATHNAME', 'neardup_all_clusters_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_clusters(anyelement, text, float8, text, text, float8, interval, text) IS
  'The rows that all_clusters() returns, for ids of the type of the first argument. Example: SELECT * FROM all_clusters(NULL::text, ''SELECT id::text, sig FROM docs ORDER BY id'', 0.8)';

CREATE FUNCTION cluster_bridges(query text, threshold float8, verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a bigint, id_b bigint, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_cluster_bridges_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION cluster_bridges(text, float8, text, float8, interval, text) IS
  'The pairs without which a connected cluster falls into two. Example: SELECT * FROM cluster_bridges(''SELECT id, sig FROM docs'', 0.8)';
CREATE FUNCTION cluster_bridges(id anyelement, query text, threshold float8, verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a anyelement, id_b anyelement, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_cluster_bridges_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION cluster_bridges(anyelement, text, float8, text, float8, interval, text) IS
  'The pairs that cluster_bridges() returns, for ids of the type of the first argument. Example: SELECT * FROM cluster_bridges(NULL::text, ''SELECT id::text, sig FROM docs'', 0.8)';

CREATE FUNCTION neardup_progress()
  RETURNS TABLE (pid int, datname name, function text, phase text, rows_read bigint, searched float8, pairs bigint)
  AS 'MODULE_PATHNAME', 'neardup_progress' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 2;
COMMENT ON FUNCTION neardup_progress() IS
  'Progress of each call of all_pairs() and related functions that runs now, for roles whose statistics you may see. Example: SELECT * FROM neardup_progress()';

-- Which row represents each row of the window: its number, or its id.
CREATE FUNCTION cluster_anchor(value minhash, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(minhash, float8) IS
  'Number of the earliest kept row, in the order of the window, that this row is similar to; its own number if it is kept. Example: SELECT id, cluster_anchor(to_minhash(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_anchor(value minhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(minhash, float8, anyelement) IS
  'id of the earliest kept row, in the order of the window, that this row is similar to; its own id if it is kept. Example: SELECT id, cluster_anchor(to_minhash(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_connected(value minhash, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(minhash, float8) IS
  'Number of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_minhash(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_connected(value minhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(minhash, float8, anyelement) IS
  'id of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_minhash(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_anchor(value simhash, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(simhash, float8) IS
  'Number of the earliest kept row, in the order of the window, that this row is similar to; its own number if it is kept. Example: SELECT id, cluster_anchor(to_simhash(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_anchor(value simhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(simhash, float8, anyelement) IS
  'id of the earliest kept row, in the order of the window, that this row is similar to; its own id if it is kept. Example: SELECT id, cluster_anchor(to_simhash(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_connected(value simhash, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(simhash, float8) IS
  'Number of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_simhash(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_connected(value simhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(simhash, float8, anyelement) IS
  'id of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_simhash(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_anchor(value ctph, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(ctph, float8) IS
  'Number of the earliest kept row, in the order of the window, that this row is similar to; its own number if it is kept. Example: SELECT id, cluster_anchor(to_ctph(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_anchor(value ctph, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(ctph, float8, anyelement) IS
  'id of the earliest kept row, in the order of the window, that this row is similar to; its own id if it is kept. Example: SELECT id, cluster_anchor(to_ctph(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_connected(value ctph, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(ctph, float8) IS
  'Number of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_ctph(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_connected(value ctph, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(ctph, float8, anyelement) IS
  'id of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_ctph(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';

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

-- What jobs keep of passages. Numbers of windows are 64-bit hashes by the key.
CREATE FUNCTION neardup_internal.neardup_frequent_windows(query text, min_units int, unit text, documents int, key bigint)
  RETURNS TABLE (number int, windows bigint[])
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION neardup_internal.neardup_frequent_windows(text, int, text, int, bigint) IS
  'private: the windows of min_units units that stand in so many documents of a query, as numbers in ascending order';
CREATE FUNCTION neardup_internal.neardup_without_windows(document text, passages regclass, min_units int, unit text, key bigint, team bigint) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION neardup_internal.neardup_without_windows(text, regclass, int, text, bigint, bigint) IS
  'private: a document without the windows that a table of neardup_frequent_windows() holds';
-- The GPU: what is there

CREATE FUNCTION neardup_devices()
RETURNS TABLE (device int, name text, memory_bytes bigint, compute_capability text, driver text,
               usable boolean, reason text)
AS 'MODULE_PATHNAME', 'neardup_devices'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 100000 ROWS 1;
COMMENT ON FUNCTION neardup_devices() IS
  'GPUs of this machine, and whether each can be used. If there is none, one row with a NULL device and the reason. Example: SELECT * FROM neardup_devices()';
-- Profiles -----------------------------------------------------------------------------------------------------------
-- How a document becomes a signature. A user's profile is a table of this type in the user's schema, a row a version;
-- the built-in ones are constants. Version 2 reads CR LF as LF (units of characters), or has other rules.

CREATE TYPE neardup_profile AS (
  version int, signature text, unit text, k int, num_perm int, bits int, seed bigint,
  encoding text, script text, rules text, min_length int, made_at timestamptz,
  normalization text,         -- NULL: none, made by 0.2.0
  cut_at_least int, cut_min_units int, cut_unit text);  -- NULL: nothing is cut
COMMENT ON TYPE neardup_profile IS
  'Parameters with which documents are signed: a row of a table that create_profile() creates. Example: SELECT neardup_profile_named(''default'')';

CREATE FUNCTION neardup_default_profiles(OUT name text, OUT profile neardup_profile) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 6;
COMMENT ON FUNCTION neardup_default_profiles() IS 'Built-in profiles. Example: SELECT * FROM neardup_default_profiles()';

CREATE FUNCTION neardup_rules_named(name text) RETURNS neardup_rule[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_rules_named(text) IS
  'Rows of a table of type neardup_rule, ordered by position, as an array for neardup_clean(). Example: SELECT neardup_rules_named(''docs_rules'')';

CREATE FUNCTION neardup_profile_named(name text) RETURNS neardup_profile
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
COMMENT ON FUNCTION neardup_profile_named(text) IS
  'Built-in profile of this name, or the newest version of your own profile. Example: SELECT * FROM neardup_profile_named(''default'')';
CREATE FUNCTION neardup_sign_sql(p neardup_profile, body_type regtype, body text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
COMMENT ON FUNCTION neardup_sign_sql(neardup_profile, regtype, text) IS
  'SQL expression that signs documents as a profile says. Example: SELECT neardup_sign_sql(neardup_profile_named(''default''), ''text'', ''body'')';

-- What is not given is as in the profile base.
CREATE FUNCTION create_profile(name text, base text = 'default', signature text = NULL, unit text = NULL, k int = NULL,
    num_perm int = NULL, bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL,
    min_length int = NULL, normalization text = NULL, cut_at_least int = NULL, cut_min_units int = NULL, cut_unit text = NULL) RETURNS regclass
  AS 'MODULE_PATHNAME', 'neardup_create_profile' LANGUAGE C;
COMMENT ON FUNCTION create_profile(text, text, text, text, int, int, int, bigint, text, text, text, int, text, int, int, text) IS
  'Creates a profile, a table of that name with version 1. Arguments that are not given are as in the profile base. Example: SELECT create_profile(''docs_profile'', base => ''default'', k => 4)';
-- What is not given stays.
CREATE FUNCTION alter_profile(name text, signature text = NULL, unit text = NULL, k int = NULL, num_perm int = NULL,
    bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL, min_length int = NULL,
    normalization text = NULL, cut_at_least int = NULL, cut_min_units int = NULL, cut_unit text = NULL) RETURNS int
  AS 'MODULE_PATHNAME', 'neardup_alter_profile' LANGUAGE C;
COMMENT ON FUNCTION alter_profile(text, text, text, int, int, int, bigint, text, text, text, int, text, int, int, text) IS
  'Adds a version to a profile and returns its number. Jobs with this profile sign all rows again at their next refresh. Example: SELECT alter_profile(''docs_profile'', k => 5)';
-- Jobs: a maintained table of duplicates -----------------------------------------------------------------------------
-- A job is the one row of a table of type neardup_job, <name>_job. Beside it, all of them its owner's:
--   <name>             the result, a row for each row of the source
--   <name>_signatures  what each row was when it was last signed
--   <name>_changes     what has become of clusters
--   <name>_passages    the windows that are cut out of documents, where the profile cuts; made by a refresh
-- They belong to the job by pg_depend, not by their names. Nothing here runs with other rights than the caller's. src/pg/jobs has the functions.

CREATE TYPE neardup_job AS (
  source regclass, id name, body name, signature name, threshold float8, profile text, linkage text,
  verify text, verify_threshold float8, keep text, order_by text, within name[], at name, at_most_apart interval,
  filter text, deleted text,
  profile_version int,    -- that the signatures were made with
  body_type regtype,      -- the same
  resync boolean,         -- what is known of each row must be compared with it again
  recluster boolean,      -- the next refresh clusters all rows
  search_threshold float8,-- least similarity of signatures, and that of the index
  refresh bigint,         -- number of the latest refresh
  clustered bigint,       -- number of the refresh that clustered last: rows signed later have not been clustered
  clustered_rows bigint,  -- how many rows it looked at
  next_cluster bigint,
  paused boolean, phase text, done bigint, total bigint, started timestamptz, phase_started timestamptz,
  finished timestamptz, pid int, last_error text,
  columns text[],         -- numbers and names of the source's columns when it was last listed; NULL: by 0.1.0
  system bigint,          -- of the server that the places and versions of rows are of; NULL: not listed yet, or by 0.1.0
  result regclass, signatures regclass, changes regclass,  -- the tables that belong to the job; NULL: made by 0.2.0, found by their names
  qualified boolean,      -- filter, deleted and order_by mean the same under any search_path; not true: made by 0.2.0
  rows bigint, clusters bigint, duplicates bigint,  -- of the result when it was written last: clusters of two rows and more
  result_hash bigint,     -- of the result then: it has another where somebody has changed it by hand
  refreshed timestamptz, took interval, changed bigint,  -- the last refresh that came to its end: when, how long, rows listed
  measure text,           -- of sets: 'jaccard' or 'containment'; NULL: of the kind of signature, or by 0.2.0
  passages regclass,      -- belongs to the job like result; NULL: no refresh had to make it
  passages_key bigint,    -- of the numbers in it; NULL: it has to be filled
  passages_rows bigint);  -- how many rows were counted for it
COMMENT ON TYPE neardup_job IS
  'Job that maintains a table of duplicates: the row of a table that create_duplicates() creates. Example: SELECT * FROM doc_copies_job';

CREATE FUNCTION neardup_content_hash(doc text) RETURNS uuid
  AS 'MODULE_PATHNAME', 'content_hash_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_content_hash(text) IS
  'XXH3 hash of 128 bits of the UTF-8 bytes of a text; equal texts have equal hashes. It does not exclude deliberate collisions. Example: SELECT neardup_content_hash(''a text of some words'')';
CREATE FUNCTION neardup_content_hash(doc bytea) RETURNS uuid
  AS 'MODULE_PATHNAME', 'content_hash_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_content_hash(bytea) IS
  'XXH3 hash of 128 bits of bytes. It does not exclude deliberate collisions. Example: SELECT neardup_content_hash(decode(''0123456789abcdef'', ''hex''))';
CREATE FUNCTION neardup_search_threshold(signature minhash, threshold float8) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_search_threshold(minhash, float8) IS
  'Least similarity of signatures at which 999 of 1000 pairs of documents with Jaccard similarity >= threshold are found. Example: SELECT neardup_search_threshold(to_minhash(''a text of some words''), 0.8)';
CREATE FUNCTION neardup_internal.neardup_distinct_elements(elements bigint[]) RETURNS bigint[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_internal.neardup_distinct_elements(bigint[]) IS
  'private: the elements of a set, ascending and each once, as a job stores them';
CREATE FUNCTION neardup_internal.neardup_lock_job(job regclass) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_lock_job(regclass) IS
  'private: keeps refreshes away until the transaction ends; an error while one runs';

CREATE FUNCTION neardup_internal.neardup_job_table(name text) RETURNS regclass
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
COMMENT ON FUNCTION neardup_internal.neardup_job_table(text) IS 'private: the table of a job';
CREATE FUNCTION neardup_internal.neardup_job_row(job regclass) RETURNS neardup_job
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_job_row(regclass) IS 'private: the row of a job';
-- suffix '', '_signatures', '_changes', '_passages', '_job'
CREATE FUNCTION neardup_internal.neardup_job_part(job regclass, suffix text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_job_part(regclass, text) IS
  'private: qualified name of one of a job''s tables';
CREATE FUNCTION neardup_internal.neardup_job_rows(job regclass) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_job_rows(regclass) IS 'private: the query of the rows that a job looks at';
CREATE FUNCTION neardup_internal.neardup_row_version(xmin xid) RETURNS xid
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.neardup_row_version(xid) IS
  'private: the transaction that wrote a row; NULL for this transaction, which may yet write it again';
CREATE FUNCTION neardup_internal.neardup_version_hash(origin oid, place tid, version xid, seed bigint) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.neardup_version_hash(oid, tid, xid, bigint) IS
  'private: hash of the place of a row and of the transaction that wrote it';
CREATE FUNCTION neardup_internal.neardup_held_name(relation regclass) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_held_name(regclass) IS
  'private: qualified name of a relation; a statement of this transaction that finds another one by it ends in an error';

-- Names and expressions mean here what they mean to the caller.
CREATE FUNCTION create_duplicates(name text, source regclass, id name, body name = NULL, signature name = NULL,
    threshold float8 = 0.8, profile text = 'default', linkage text = 'anchor', verify text = NULL,
    verify_threshold float8 = NULL, keep text = 'oldest', order_by text = NULL, within name[] = '{}', at name = NULL,
    at_most_apart interval = NULL, filter text = NULL, deleted text = NULL, measure text = NULL) RETURNS regclass
  AS 'MODULE_PATHNAME', 'neardup_create_duplicates' LANGUAGE C;
COMMENT ON FUNCTION create_duplicates(text, regclass, name, name, name, float8, text, text, text, float8, text, text, name[], name, interval, text, text, text) IS
  'Creates a table of the duplicates among the rows of a table or view; it is empty until refresh_duplicates() fills it. Example: SELECT create_duplicates(''doc_copies'', ''docs'', id => ''id'', body => ''body'', threshold => 0.8)';
CREATE FUNCTION alter_duplicates(name text, threshold float8 = NULL, profile text = NULL, linkage text = NULL, verify text = NULL,
    verify_threshold float8 = NULL, keep text = NULL, order_by text = NULL, at_most_apart interval = NULL, filter text = NULL,
    deleted text = NULL, id name = NULL, body name = NULL, signature name = NULL, at name = NULL, measure text = NULL) RETURNS void
  AS 'MODULE_PATHNAME', 'neardup_alter_duplicates' LANGUAGE C;
COMMENT ON FUNCTION alter_duplicates(text, float8, text, text, text, float8, text, text, interval, text, text, name, name, name, name, text) IS
  'Changes the arguments of a job that are given; '''' removes verify, order_by, filter, deleted or measure. The next refresh clusters all rows. Example: SELECT alter_duplicates(''doc_copies'', threshold => 0.9)';
CREATE FUNCTION drop_duplicates(name text) RETURNS void
  AS 'MODULE_PATHNAME', 'neardup_drop_duplicates' LANGUAGE C;
COMMENT ON FUNCTION drop_duplicates(text) IS
  'Drops a table of duplicates with its job, signatures and history. Example: SELECT drop_duplicates(''doc_copies'')';
CREATE FUNCTION pause_duplicates(name text, paused boolean = true) RETURNS void
  AS 'MODULE_PATHNAME', 'neardup_pause_duplicates' LANGUAGE C;
COMMENT ON FUNCTION pause_duplicates(text, boolean) IS
  'Pauses a job, or resumes it with paused => false. A paused job is not refreshed; a running refresh stops after its batch. Example: SELECT pause_duplicates(''doc_copies'')';
CREATE FUNCTION rename_duplicates(old text, new text) RETURNS regclass
  AS 'MODULE_PATHNAME', 'neardup_rename_duplicates' LANGUAGE C;
COMMENT ON FUNCTION rename_duplicates(text, text) IS
  'Renames a table of duplicates and the other tables of its job. Example: SELECT rename_duplicates(''doc_copies'', ''doc_duplicates'')';
-- Refreshing a table of duplicates -----------------------------------------------------------------------------------
-- In C++: src/pg/jobs/refresh.cpp has the order of its stages, refresh_statements.cpp each statement.

CREATE PROCEDURE refresh_duplicates(name text, batch int = 10000, time_limit interval = NULL, commit boolean = true, rebuild boolean = false)
  AS 'MODULE_PATHNAME', 'neardup_refresh_duplicates' LANGUAGE C;
COMMENT ON PROCEDURE refresh_duplicates(text, int, interval, boolean, boolean) IS
  'Brings a table of duplicates up to date; commits after each batch and continues where an interrupted call stopped. With rebuild => true it reads, signs and clusters all rows. Example: CALL refresh_duplicates(''doc_copies'')';

CREATE FUNCTION check_duplicates(name text) RETURNS TABLE (id text, what text, "is" text, should text)
  AS 'MODULE_PATHNAME', 'neardup_check_duplicates' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION check_duplicates(text) IS
  'Differences between a table of duplicates and the signatures of its rows; no row unless the table was changed by hand. Example: SELECT * FROM check_duplicates(''doc_copies'')';

CREATE FUNCTION neardup_internal.neardup_refresh_statements(job text) RETURNS TABLE (name text, statement text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_refresh_statements(text) IS
  'private: the statements by which a refresh of this job reads and writes rows';

-- Watching -----------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_internal.neardup_jobs()
  RETURNS TABLE (job text, source regclass, phase text, done bigint, total bigint, rate float8, time_left interval, started timestamptz, finished timestamptz, pid int, last_error text,
    rows bigint, clusters bigint, duplicates bigint, refreshed timestamptz, took interval, changed bigint, next_step text)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE ROWS 10;
COMMENT ON FUNCTION neardup_internal.neardup_jobs() IS 'private: the rows of duplicates_status';

CREATE VIEW duplicates_status AS SELECT * FROM neardup_internal.neardup_jobs();
COMMENT ON VIEW duplicates_status IS
  'Jobs that you may read: phase (signing: rows done of total; clustering: percent), rows per second, time left, last error; rows, clusters and duplicates of the result; end, duration and changed rows of the last refresh; the next step. Example: SELECT job, phase, next_step FROM duplicates_status';
GRANT SELECT ON duplicates_status TO PUBLIC;
-- Choosing parameters: neardup_suggest, neardup_s_curve ----------------------------------------------------------------

-- The S-curve, to be looked at.
CREATE FUNCTION neardup_s_curve(threshold float8, num_perm int = 128, bands int = NULL, rows int = NULL) RETURNS SETOF text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100 ROWS 30;
COMMENT ON FUNCTION neardup_s_curve(float8, int, int, int) IS
  'Plot as text: the probability that pairs of each similarity are found at a threshold, or by this number of bands and rows. Example: SELECT neardup_s_curve(0.8)';

-- Without JIT: it would compile each of the short statements by which look-ups are timed.
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
-- Version ------------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_version(OUT sql text, OUT library text, OUT format int, OUT tokenizer int, OUT unicode text,
    OUT kernels text)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_version() IS
  'Versions of the SQL objects, of the library and of the stored formats, and the kernels in use. Example: SELECT * FROM neardup_version()';
