-- neardup: near-duplicate documents inside PostgreSQL.
\echo Use "CREATE EXTENSION neardup" to load this file. \quit

-- Shingles -----------------------------------------------------------------------------------------------------------

CREATE FUNCTION shingles(doc text, k int = 3, unit text = 'word') RETURNS SETOF text
  AS 'MODULE_PATHNAME', 'neardup_shingles' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION shingles(text, int, text) IS
  'k-shingles of a document as text, in order and with repeats; unit ''word'' (folded) or ''char''';

CREATE FUNCTION shingle_hashes(doc text, k int = 3, unit text = 'word') RETURNS SETOF bigint
  AS 'MODULE_PATHNAME', 'neardup_shingle_hashes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION shingle_hashes(text, int, text) IS '64-bit hashes of the k-shingles of a document';

CREATE FUNCTION shingle_hashes(doc bytea, k int = 8) RETURNS SETOF bigint
  AS 'MODULE_PATHNAME', 'neardup_shingle_hashes_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION shingle_hashes(bytea, int) IS '64-bit hashes of the runs of k bytes';

-- Lists of stop words, and shingles that begin with a stop word; their signature: 25_stopword_minhash.sql ------------------

CREATE FUNCTION neardup_stopwords(language text) RETURNS text[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_stopwords(text) IS
  'stop words of english, ukrainian, russian, german, french or spanish, folded and in order; ISO 639 codes are taken too';

CREATE FUNCTION stopword_shingles(doc text, stopwords text[], following int = 2) RETURNS SETOF text
  AS 'MODULE_PATHNAME', 'stopword_shingles' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500 ROWS 200;
COMMENT ON FUNCTION stopword_shingles(text, text[], int) IS
  'each stop word of a document with the words that follow it, in order and with repeats';
CREATE FUNCTION stopword_shingles(doc text, dictionary regdictionary, following int = 2) RETURNS SETOF text
  AS 'MODULE_PATHNAME', 'stopword_shingles_dictionary' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 2000 ROWS 200;
COMMENT ON FUNCTION stopword_shingles(text, regdictionary, int) IS 'the same with the stop words of a text search dictionary';
-- Text intake --------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_detect_encoding(document bytea, OUT encoding text, OUT confidence float8)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_detect_encoding(bytea) IS
  'encoding of a document, by PostgreSQL''s name, and how readable it makes it, 0 to 1';

CREATE FUNCTION neardup_to_utf8(document bytea) RETURNS text
  AS 'MODULE_PATHNAME', 'neardup_to_utf8_detected' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_to_utf8(bytea) IS
  'document as text, its encoding detected; an error where a character is broken';
CREATE FUNCTION neardup_to_utf8(document bytea, encoding text, invalid text = 'error') RETURNS text
  AS 'MODULE_PATHNAME', 'neardup_to_utf8' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_to_utf8(bytea, text, text) IS
  'document in the named encoding as text; broken characters are an error, or dropped';

CREATE FUNCTION neardup_decode(document bytea, encoding text = NULL, OUT body text, OUT encoding text,
    OUT confidence float8, OUT dropped bigint)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_decode(bytea, text) IS
  'document as text without its broken characters, how many were dropped, and the encoding, detected unless named';

CREATE FUNCTION neardup_to_simplified(body text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_to_simplified(text) IS 'Chinese text in simplified characters, by OpenCC (t2s)';
CREATE FUNCTION neardup_to_traditional(body text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_to_traditional(text) IS 'Chinese text in traditional characters, by OpenCC (s2t)';

CREATE TYPE neardup_rule AS (name text, kind text, pattern text, replacement text, position int);
COMMENT ON TYPE neardup_rule IS
  'a rule of neardup_clean: kind line, block, text, head or tail; pattern as RE2 reads it; applied by position';
CREATE FUNCTION neardup_default_rules() RETURNS SETOF neardup_rule
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 20;
COMMENT ON FUNCTION neardup_default_rules() IS 'the built-in rules of neardup_clean';
CREATE FUNCTION neardup_clean(body text, rules neardup_rule[] = NULL, OUT body text, OUT kept float8, OUT fired text[])
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_clean(text, neardup_rule[]) IS
  'text without what the rules find; the share of characters kept; the rules that changed something';

CREATE FUNCTION neardup_text_quality(body text, OUT kept float8, OUT length bigint, OUT letters float8,
    OUT repetition float8, OUT score float8)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION neardup_text_quality(text) IS
  'share kept by the built-in rules, characters, share of letters, share repeated, and a score of them, 0 to 1';
CREATE FUNCTION neardup_text_score(body text) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION neardup_text_score(text) IS 'the score of neardup_text_quality alone';

CREATE FUNCTION neardup_title(filename text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_title(text) IS 'title that people read, from the name of a file';

-- The type minhash ---------------------------------------------------------------------------------------------------

CREATE TYPE minhash;

CREATE FUNCTION minhash_in(cstring, oid, int) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_out(minhash) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_recv(internal, oid, int) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_send(minhash) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_typmod_in(cstring[]) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_typmod_out(int) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE minhash (
  INPUT = minhash_in, OUTPUT = minhash_out, RECEIVE = minhash_recv, SEND = minhash_send,
  TYPMOD_IN = minhash_typmod_in, TYPMOD_OUT = minhash_typmod_out,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external
);
COMMENT ON TYPE minhash IS 'MinHash signature of a set (Fast Similarity Sketching); minhash(num_perm [, bits]) checks';

CREATE FUNCTION minhash_check_typmod(minhash, int, boolean) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_check_typmod(minhash, int, boolean) IS 'private: enforces the type modifier';
CREATE CAST (minhash AS minhash) WITH FUNCTION minhash_check_typmod(minhash, int, boolean) AS IMPLICIT;

-- Order, equality, hash

CREATE FUNCTION minhash_eq(minhash, minhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_ne(minhash, minhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_lt(minhash, minhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_le(minhash, minhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_gt(minhash, minhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_ge(minhash, minhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_cmp(minhash, minhash) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_hash(minhash) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_hash_extended(minhash, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR = (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_eq, COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_ne, COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_lt, COMMUTATOR = >, NEGATOR = >=,
  RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_le, COMMUTATOR = >=, NEGATOR = >,
  RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_gt, COMMUTATOR = <, NEGATOR = <=,
  RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_ge, COMMUTATOR = <=, NEGATOR = <,
  RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR = (minhash, minhash) IS 'made alike and equal in every component';
COMMENT ON OPERATOR <> (minhash, minhash) IS 'not equal';
COMMENT ON OPERATOR < (minhash, minhash) IS 'before in an arbitrary, fixed order';
COMMENT ON OPERATOR <= (minhash, minhash) IS 'before in an arbitrary, fixed order, or equal';
COMMENT ON OPERATOR > (minhash, minhash) IS 'after in an arbitrary, fixed order';
COMMENT ON OPERATOR >= (minhash, minhash) IS 'after in an arbitrary, fixed order, or equal';

CREATE OPERATOR CLASS minhash_btree_ops DEFAULT FOR TYPE minhash USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 minhash_cmp(minhash, minhash);
CREATE OPERATOR CLASS minhash_hash_ops DEFAULT FOR TYPE minhash USING hash AS
  OPERATOR 1 =, FUNCTION 1 minhash_hash(minhash), FUNCTION 2 minhash_hash_extended(minhash, bigint);

-- Constructors

CREATE FUNCTION to_minhash(doc text, k int = 3, unit text = 'word', num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'minhash_from_document' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_minhash(text, int, text, int, int, bigint) IS
  'signature of a document''s k-shingles of words or characters';
CREATE FUNCTION to_minhash(doc bytea, k int = 8, num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'minhash_from_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_minhash(bytea, int, int, int, bigint) IS 'signature of the runs of k bytes';
CREATE FUNCTION minhash_like(doc text, model minhash)
  RETURNS minhash AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION minhash_like(text, minhash) IS 'signature of a document made as the model was';
CREATE FUNCTION set_minhash(elements text[], num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'minhash_from_text_set' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION set_minhash(text[], int, int, bigint) IS 'signature of a set of texts';
CREATE FUNCTION set_minhash(elements bigint[], num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'minhash_from_bigint_set' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION set_minhash(bigint[], int, int, bigint) IS 'signature of a set of numbers';
CREATE FUNCTION minhash_import(components bigint[], bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash_import(bigint[], int, bigint) IS
  'signature from components computed elsewhere; comparable with other imported ones only';

-- Parts

CREATE FUNCTION minhash_parameters(signature minhash, OUT format int, OUT source text, OUT unit text, OUT k int,
    OUT num_perm int, OUT bits int, OUT seed bigint, OUT tokenizer int)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_parameters(minhash) IS 'how a signature was made';
CREATE FUNCTION minhash_components(signature minhash) RETURNS bigint[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_components(minhash) IS 'the stored components; all ones for an empty set';
CREATE FUNCTION set_size(signature minhash) RETURNS float8
  AS 'MODULE_PATHNAME', 'minhash_set_size' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION set_size(minhash) IS 'estimated number of distinct elements, or sum of weights';

-- Unions and aggregates

CREATE FUNCTION minhash_union(a minhash, b minhash) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_union(minhash, minhash) IS 'signature of the union of two sets (16 or 32 bits)';
CREATE AGGREGATE minhash_union_agg(signature minhash) (
  SFUNC = minhash_union, STYPE = minhash, COMBINEFUNC = minhash_union, PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_union_agg(minhash) IS 'signature of the union of all sets (16 or 32 bits)';

CREATE FUNCTION minhash_agg_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION minhash_agg_serialize(internal) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_agg_deserialize(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_agg_final(internal) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION minhash_agg_text(internal, text) RETURNS internal
  AS 'MODULE_PATHNAME', 'minhash_agg_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE minhash_agg(element text) (
  SFUNC = minhash_agg_text, STYPE = internal, SSPACE = 1200, FINALFUNC = minhash_agg_final, COMBINEFUNC = minhash_agg_combine,
  SERIALFUNC = minhash_agg_serialize, DESERIALFUNC = minhash_agg_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(text) IS 'signature of the set of all elements; NULL when there is none';
CREATE FUNCTION minhash_agg_text(internal, text, int) RETURNS internal
  AS 'MODULE_PATHNAME', 'minhash_agg_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE minhash_agg(element text, num_perm int) (
  SFUNC = minhash_agg_text, STYPE = internal, SSPACE = 1200, FINALFUNC = minhash_agg_final, COMBINEFUNC = minhash_agg_combine,
  SERIALFUNC = minhash_agg_serialize, DESERIALFUNC = minhash_agg_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(text, int) IS 'signature of the set of all elements; NULL when there is none';
CREATE FUNCTION minhash_agg_text(internal, text, int, int) RETURNS internal
  AS 'MODULE_PATHNAME', 'minhash_agg_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE minhash_agg(element text, num_perm int, bits int) (
  SFUNC = minhash_agg_text, STYPE = internal, SSPACE = 1200, FINALFUNC = minhash_agg_final, COMBINEFUNC = minhash_agg_combine,
  SERIALFUNC = minhash_agg_serialize, DESERIALFUNC = minhash_agg_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(text, int, int) IS 'signature of the set of all elements; NULL when there is none';
CREATE FUNCTION minhash_agg_text(internal, text, int, int, bigint) RETURNS internal
  AS 'MODULE_PATHNAME', 'minhash_agg_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE minhash_agg(element text, num_perm int, bits int, seed bigint) (
  SFUNC = minhash_agg_text, STYPE = internal, SSPACE = 1200, FINALFUNC = minhash_agg_final, COMBINEFUNC = minhash_agg_combine,
  SERIALFUNC = minhash_agg_serialize, DESERIALFUNC = minhash_agg_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(text, int, int, bigint) IS 'signature of the set of all elements; NULL when there is none';
CREATE FUNCTION minhash_agg_bigint(internal, bigint) RETURNS internal
  AS 'MODULE_PATHNAME', 'minhash_agg_bigint' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE minhash_agg(element bigint) (
  SFUNC = minhash_agg_bigint, STYPE = internal, SSPACE = 1200, FINALFUNC = minhash_agg_final, COMBINEFUNC = minhash_agg_combine,
  SERIALFUNC = minhash_agg_serialize, DESERIALFUNC = minhash_agg_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(bigint) IS 'signature of the set of all elements; NULL when there is none';
CREATE FUNCTION minhash_agg_bigint(internal, bigint, int) RETURNS internal
  AS 'MODULE_PATHNAME', 'minhash_agg_bigint' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE minhash_agg(element bigint, num_perm int) (
  SFUNC = minhash_agg_bigint, STYPE = internal, SSPACE = 1200, FINALFUNC = minhash_agg_final, COMBINEFUNC = minhash_agg_combine,
  SERIALFUNC = minhash_agg_serialize, DESERIALFUNC = minhash_agg_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(bigint, int) IS 'signature of the set of all elements; NULL when there is none';
CREATE FUNCTION minhash_agg_bigint(internal, bigint, int, int) RETURNS internal
  AS 'MODULE_PATHNAME', 'minhash_agg_bigint' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE minhash_agg(element bigint, num_perm int, bits int) (
  SFUNC = minhash_agg_bigint, STYPE = internal, SSPACE = 1200, FINALFUNC = minhash_agg_final, COMBINEFUNC = minhash_agg_combine,
  SERIALFUNC = minhash_agg_serialize, DESERIALFUNC = minhash_agg_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(bigint, int, int) IS 'signature of the set of all elements; NULL when there is none';
CREATE FUNCTION minhash_agg_bigint(internal, bigint, int, int, bigint) RETURNS internal
  AS 'MODULE_PATHNAME', 'minhash_agg_bigint' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE minhash_agg(element bigint, num_perm int, bits int, seed bigint) (
  SFUNC = minhash_agg_bigint, STYPE = internal, SSPACE = 1200, FINALFUNC = minhash_agg_final, COMBINEFUNC = minhash_agg_combine,
  SERIALFUNC = minhash_agg_serialize, DESERIALFUNC = minhash_agg_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(bigint, int, int, bigint) IS 'signature of the set of all elements; NULL when there is none';

-- Signatures of shingles that begin with a stop word -----------------------------------------------------------------------

CREATE FUNCTION stopword_minhash(doc text, stopwords text[], following int = 2, num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'stopword_minhash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION stopword_minhash(text, text[], int, int, int, bigint) IS
  'signature of the set of a document''s stopword_shingles: that of set_minhash over them';
CREATE FUNCTION stopword_minhash(doc text, dictionary regdictionary, following int = 2, num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'stopword_minhash_dictionary' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 3000;
COMMENT ON FUNCTION stopword_minhash(text, regdictionary, int, int, int, bigint) IS
  'the same with the stop words of a text search dictionary';
-- Weighted sets ------------------------------------------------------------------------------------------------------

CREATE FUNCTION weighted_minhash(features text[], weights float8[], num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'minhash_from_weighted_set' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION weighted_minhash(text[], float8[], int, int, bigint) IS
  'signature of a weighted set: jaccard() of two estimates sum(min) / sum(max) of their weights';
CREATE FUNCTION weighted_jaccard_exact(a_features text[], a_weights float8[], b_features text[], b_weights float8[])
  RETURNS float8 AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION weighted_jaccard_exact(text[], float8[], text[], float8[]) IS
  'sum(min) / sum(max) of two weighted sets; 0 where one is empty';
CREATE FUNCTION weighted_cosine_exact(a_features text[], a_weights float8[], b_features text[], b_weights float8[])
  RETURNS float8 AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION weighted_cosine_exact(text[], float8[], text[], float8[]) IS
  'cosine of two weighted sets as vectors; NULL where one is empty';
CREATE FUNCTION cosine_exact(a float8[], b float8[])
  RETURNS float8 AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cosine_exact(float8[], float8[]) IS 'cosine of the angle between two vectors; NULL for a vector of zeros';
-- The type simhash ---------------------------------------------------------------------------------------------------

CREATE TYPE simhash;

CREATE FUNCTION simhash_in(cstring) RETURNS simhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_out(simhash) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_recv(internal) RETURNS simhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_send(simhash) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE simhash (
  INPUT = simhash_in, OUTPUT = simhash_out, RECEIVE = simhash_recv, SEND = simhash_send,
  INTERNALLENGTH = 8, PASSEDBYVALUE, ALIGNMENT = double, STORAGE = plain
);
COMMENT ON TYPE simhash IS
  'SimHash of weighted features: 64 bits, near in Hamming distance where the features are near in angle';

-- Order, equality, hash

CREATE FUNCTION simhash_eq(simhash, simhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash_ne(simhash, simhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash_lt(simhash, simhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash_le(simhash, simhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash_gt(simhash, simhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash_ge(simhash, simhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash_cmp(simhash, simhash) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash_hash(simhash) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_hash_extended(simhash, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR = (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_eq, COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_ne, COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_lt, COMMUTATOR = >, NEGATOR = >=,
  RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_le, COMMUTATOR = >=, NEGATOR = >,
  RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_gt, COMMUTATOR = <, NEGATOR = <=,
  RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_ge, COMMUTATOR = <=, NEGATOR = <,
  RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR = (simhash, simhash) IS 'equal in all 64 bits';
COMMENT ON OPERATOR <> (simhash, simhash) IS 'not equal';
COMMENT ON OPERATOR < (simhash, simhash) IS 'less as a number without sign';
COMMENT ON OPERATOR <= (simhash, simhash) IS 'less as a number without sign, or equal';
COMMENT ON OPERATOR > (simhash, simhash) IS 'greater as a number without sign';
COMMENT ON OPERATOR >= (simhash, simhash) IS 'greater as a number without sign, or equal';

CREATE OPERATOR CLASS simhash_btree_ops DEFAULT FOR TYPE simhash USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 simhash_cmp(simhash, simhash);
CREATE OPERATOR CLASS simhash_hash_ops DEFAULT FOR TYPE simhash USING hash AS
  OPERATOR 1 =, FUNCTION 1 simhash_hash(simhash), FUNCTION 2 simhash_hash_extended(simhash, bigint);

-- Casts: explicit only

CREATE FUNCTION simhash_to_bigint(simhash) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_from_bigint(bigint) RETURNS simhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_to_bit(simhash) RETURNS bit
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_from_bit(bit) RETURNS simhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_to_bigint(simhash) IS 'the same 64 bits as a signed number';
COMMENT ON FUNCTION simhash_from_bigint(bigint) IS 'the same 64 bits';
COMMENT ON FUNCTION simhash_to_bit(simhash) IS 'the same 64 bits, most significant first';
COMMENT ON FUNCTION simhash_from_bit(bit) IS 'the same 64 bits; an error for another length';
CREATE CAST (simhash AS bigint) WITH FUNCTION simhash_to_bigint(simhash);
CREATE CAST (bigint AS simhash) WITH FUNCTION simhash_from_bigint(bigint);
CREATE CAST (simhash AS bit) WITH FUNCTION simhash_to_bit(simhash);
CREATE CAST (bit AS simhash) WITH FUNCTION simhash_from_bit(bit);

-- Constructors

CREATE FUNCTION to_simhash(doc text, k int = 3, unit text = 'word') RETURNS simhash
  AS 'MODULE_PATHNAME', 'simhash_from_document' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_simhash(text, int, text) IS
  'SimHash of a document''s k-shingles, weighted by how often each occurs; NULL when there is none';
CREATE FUNCTION weighted_simhash(features text[], weights float8[]) RETURNS simhash
  AS 'MODULE_PATHNAME', 'simhash_from_features' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION weighted_simhash(text[], float8[]) IS
  'SimHash of weighted features; NULL when none has a weight above 0';
CREATE FUNCTION vector_simhash(vector real[]) RETURNS simhash
  AS 'MODULE_PATHNAME', 'simhash_from_vector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION vector_simhash(real[]) IS
  'on which sides of 64 fixed hyperplanes a vector lies: the cosine sketch; NULL for a vector of zeros';

CREATE FUNCTION simhash_agg_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simhash_agg_serialize(internal) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_agg_deserialize(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_agg_final(internal) RETURNS simhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_add(internal, text, float8) RETURNS internal
  AS 'MODULE_PATHNAME', 'simhash_agg_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE simhash_agg(feature text, weight float8) (
  SFUNC = simhash_agg_add, STYPE = internal, SSPACE = 1100, FINALFUNC = simhash_agg_final,
  COMBINEFUNC = simhash_agg_combine, SERIALFUNC = simhash_agg_serialize, DESERIALFUNC = simhash_agg_deserialize,
  PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_agg(text, float8) IS
  'SimHash of weighted features, one a row; NULL when none has a weight above 0';

CREATE FUNCTION simhash_agg_add(internal, text) RETURNS internal
  AS 'MODULE_PATHNAME', 'simhash_agg_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE simhash_agg(feature text) (
  SFUNC = simhash_agg_add, STYPE = internal, SSPACE = 1100, FINALFUNC = simhash_agg_final,
  COMBINEFUNC = simhash_agg_combine, SERIALFUNC = simhash_agg_serialize, DESERIALFUNC = simhash_agg_deserialize,
  PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_agg(text) IS
  'SimHash of equally weighted features, one a row; NULL when none has a weight above 0';

-- Measures. LEAKPROOF: they take any values.

CREATE FUNCTION hamming(a simhash, b simhash) RETURNS int
  AS 'MODULE_PATHNAME', 'simhash_hamming' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming(simhash, simhash) IS 'number of differing bits, 0 to 64';
CREATE FUNCTION cosine(a simhash, b simhash) RETURNS float8
  AS 'MODULE_PATHNAME', 'simhash_cosine_estimate' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION cosine(simhash, simhash) IS 'estimated cosine, cos(pi * hamming / 64), -1 to 1';
CREATE FUNCTION simhash_hamming_float(a simhash, b simhash) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_hamming_float(simhash, simhash) IS 'implementation of <~>: hamming(a, b)';
CREATE OPERATOR <~> (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_hamming_float, COMMUTATOR = <~>);
COMMENT ON OPERATOR <~> (simhash, simhash) IS 'Hamming distance';
-- The type ctph ------------------------------------------------------------------------------------------------------

CREATE TYPE ctph;

CREATE FUNCTION ctph_in(cstring) RETURNS ctph
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ctph_out(ctph) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ctph_recv(internal) RETURNS ctph
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ctph_send(ctph) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE ctph (
  INPUT = ctph_in, OUTPUT = ctph_out, RECEIVE = ctph_recv, SEND = ctph_send,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = extended
);
COMMENT ON TYPE ctph IS 'context-triggered piecewise hash (fuzzy digest) of a document, as ssdeep makes it, or longer';

-- Order, equality, hash

CREATE FUNCTION ctph_eq(ctph, ctph) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ctph_ne(ctph, ctph) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ctph_lt(ctph, ctph) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ctph_le(ctph, ctph) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ctph_gt(ctph, ctph) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ctph_ge(ctph, ctph) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ctph_cmp(ctph, ctph) RETURNS int
  AS 'MODULE_PATHNAME', 'minhash_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ctph_hash(ctph) RETURNS int
  AS 'MODULE_PATHNAME', 'minhash_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ctph_hash_extended(ctph, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'minhash_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR = (LEFTARG = ctph, RIGHTARG = ctph, FUNCTION = ctph_eq, COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (LEFTARG = ctph, RIGHTARG = ctph, FUNCTION = ctph_ne, COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (LEFTARG = ctph, RIGHTARG = ctph, FUNCTION = ctph_lt, COMMUTATOR = >, NEGATOR = >=,
  RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (LEFTARG = ctph, RIGHTARG = ctph, FUNCTION = ctph_le, COMMUTATOR = >=, NEGATOR = >,
  RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (LEFTARG = ctph, RIGHTARG = ctph, FUNCTION = ctph_gt, COMMUTATOR = <, NEGATOR = <=,
  RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (LEFTARG = ctph, RIGHTARG = ctph, FUNCTION = ctph_ge, COMMUTATOR = <=, NEGATOR = <,
  RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR = (ctph, ctph) IS 'the same digest';
COMMENT ON OPERATOR <> (ctph, ctph) IS 'not equal';
COMMENT ON OPERATOR < (ctph, ctph) IS 'before in an arbitrary, fixed order';
COMMENT ON OPERATOR <= (ctph, ctph) IS 'before in an arbitrary, fixed order, or equal';
COMMENT ON OPERATOR > (ctph, ctph) IS 'after in an arbitrary, fixed order';
COMMENT ON OPERATOR >= (ctph, ctph) IS 'after in an arbitrary, fixed order, or equal';

CREATE OPERATOR CLASS ctph_btree_ops DEFAULT FOR TYPE ctph USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 ctph_cmp(ctph, ctph);
CREATE OPERATOR CLASS ctph_hash_ops DEFAULT FOR TYPE ctph USING hash AS
  OPERATOR 1 =, FUNCTION 1 ctph_hash(ctph), FUNCTION 2 ctph_hash_extended(ctph, bigint);

-- Constructors

CREATE FUNCTION to_ctph(doc text) RETURNS ctph
  AS 'MODULE_PATHNAME', 'ctph_from_document' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_ctph(text) IS 'ssdeep''s digest of a text in UTF-8';
CREATE FUNCTION to_ctph(doc bytea) RETURNS ctph
  AS 'MODULE_PATHNAME', 'ctph_from_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_ctph(bytea) IS 'ssdeep''s digest of bytes';
CREATE FUNCTION ctph_long(doc text, length int) RETURNS ctph
  AS 'MODULE_PATHNAME', 'ctph_from_document' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION ctph_long(text, int) IS 'a longer digest of a text in UTF-8, of at most length characters a part';
CREATE FUNCTION ctph_long(doc bytea, length int) RETURNS ctph
  AS 'MODULE_PATHNAME', 'ctph_from_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION ctph_long(bytea, int) IS 'a longer digest of bytes, of at most length characters a part';

-- Measures

CREATE FUNCTION ctph_score(a ctph, b ctph) RETURNS int
  AS 'MODULE_PATHNAME', 'ctph_score_of' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 5;
COMMENT ON FUNCTION ctph_score(ctph, ctph) IS 'ssdeep''s score of two digests, 0 to 100';
CREATE FUNCTION ctph_edit_rate(a ctph, b ctph) RETURNS float8
  AS 'MODULE_PATHNAME', 'ctph_edit_rate_of' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 5;
COMMENT ON FUNCTION ctph_edit_rate(ctph, ctph) IS
  'Levenshtein distance of two digests over the sum of their lengths, 0 to 1; 1 where no block size is common';
CREATE OPERATOR <-> (LEFTARG = ctph, RIGHTARG = ctph, FUNCTION = ctph_edit_rate, COMMUTATOR = <->);
COMMENT ON OPERATOR <-> (ctph, ctph) IS 'edit rate of two digests';
-- Measures -----------------------------------------------------------------------------------------------------------

-- LEAKPROOF, so that they may use an index under row security and in security barrier views: their errors tell how a
-- signature was made (unit, k, size, seed), never what it was made of.
CREATE FUNCTION jaccard(a minhash, b minhash) RETURNS float8
  AS 'MODULE_PATHNAME', 'minhash_jaccard' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION jaccard(minhash, minhash) IS
  'estimated Jaccard similarity, 0 to 1; an empty signature is similar to nothing';
CREATE FUNCTION containment(a minhash, b minhash) RETURNS float8
  AS 'MODULE_PATHNAME', 'minhash_containment' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION containment(minhash, minhash) IS 'estimated share of a''s elements that are in b';
CREATE FUNCTION jaccard_exact(a text[], b text[]) RETURNS float8
  AS 'MODULE_PATHNAME', 'jaccard_exact_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION jaccard_exact(text[], text[]) IS 'Jaccard similarity of two sets, compared by their bytes';
CREATE FUNCTION jaccard_exact(a bigint[], b bigint[]) RETURNS float8
  AS 'MODULE_PATHNAME', 'jaccard_exact_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION jaccard_exact(bigint[], bigint[]) IS 'Jaccard similarity of two sets';

CREATE FUNCTION minhash_jaccard_distance(a minhash, b minhash) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION minhash_jaccard_distance(minhash, minhash) IS 'implementation of <%>: 1 - jaccard(a, b)';
CREATE OPERATOR <%> (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_jaccard_distance, COMMUTATOR = <%>);
COMMENT ON OPERATOR <%> (minhash, minhash) IS 'Jaccard distance, 1 - jaccard(a, b)';

-- How many rows and pairs a similarity condition keeps
CREATE FUNCTION lsh_sel(internal, oid, internal, int) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_sel(internal, oid, internal, int) IS 'private: selectivity of %, %> and &&';
CREATE FUNCTION lsh_joinsel(internal, oid, internal, smallint, internal) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_joinsel(internal, oid, internal, smallint, internal) IS
  'private: selectivity of %, %> and && in joins';

-- STABLE: reads neardup.jaccard_threshold.
CREATE FUNCTION minhash_similar(a minhash, b minhash) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION minhash_similar(minhash, minhash) IS 'implementation of %';
CREATE OPERATOR % (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_similar, COMMUTATOR = %,
  RESTRICT = lsh_sel, JOIN = lsh_joinsel);
COMMENT ON OPERATOR % (minhash, minhash) IS 'jaccard(a, b) >= neardup.jaccard_threshold';

-- Explaining

CREATE FUNCTION compare_texts(a text, b text, k int = 3, unit text = 'word', OUT jaccard float8, OUT estimate float8,
    OUT a_in_b float8, OUT b_in_a float8, OUT shared bigint, OUT only_a bigint, OUT only_b bigint, OUT hamming int,
    OUT edit_rate float8, OUT note text)
  AS 'MODULE_PATHNAME', 'neardup_compare_texts' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3000;
COMMENT ON FUNCTION compare_texts(text, text, int, text) IS
  'two texts: exact Jaccard of their shingles, its estimate, what is shared, Hamming distance, edit rate';
CREATE FUNCTION explain_pair(a minhash, b minhash, threshold float8 = 0.8, OUT comparable boolean, OUT matches int,
    OUT needed int, OUT jaccard float8, OUT standard_error float8, OUT verdict text)
  AS 'MODULE_PATHNAME', 'minhash_explain_pair' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION explain_pair(minhash, minhash, float8) IS 'why a pair is, or is not, found at a threshold';

CREATE FUNCTION explain_pair(a simhash, b simhash, distance float8 = 3, OUT hamming int, OUT cosine float8,
    OUT verdict text)
  AS 'MODULE_PATHNAME', 'simhash_explain_pair' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION explain_pair(simhash, simhash, float8) IS 'why a pair is, or is not, found at a Hamming distance';
CREATE FUNCTION explain_pair(a ctph, b ctph, score float8 = 70, rate float8 = 0.1, OUT comparable boolean,
    OUT block_size bigint, OUT ctph_score int, OUT ctph_edit_rate float8, OUT verdict text)
  AS 'MODULE_PATHNAME', 'ctph_explain_pair' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION explain_pair(ctph, ctph, float8, float8) IS
  'why a pair is, or is not, found at a score or at an edit rate';
-- Edit distances of documents ----------------------------------------------------------------------------------------

CREATE FUNCTION edit_distance(a text, b text, max_distance int = 2147483647) RETURNS int
  AS 'MODULE_PATHNAME', 'edit_distance_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION edit_distance(text, text, int) IS
  'Levenshtein distance in characters: least number to insert, delete or replace; NULL above max_distance';
CREATE FUNCTION edit_rate(a text, b text, max_rate float8 = 1.0) RETURNS float8
  AS 'MODULE_PATHNAME', 'edit_rate_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION edit_rate(text, text, float8) IS
  'edit_distance over the sum of both lengths, 0 to 1; NULL above max_rate';
CREATE FUNCTION edit_distance(a bytea, b bytea, max_distance int = 2147483647) RETURNS int
  AS 'MODULE_PATHNAME', 'edit_distance_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION edit_distance(bytea, bytea, int) IS
  'Levenshtein distance in bytes: least number to insert, delete or replace; NULL above max_distance';
CREATE FUNCTION edit_rate(a bytea, b bytea, max_rate float8 = 1.0) RETURNS float8
  AS 'MODULE_PATHNAME', 'edit_rate_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION edit_rate(bytea, bytea, float8) IS
  'edit_distance over the sum of both lengths, 0 to 1; NULL above max_rate';
-- Exact and partial copies -------------------------------------------------------------------------------------------

CREATE FUNCTION karp_rabin(doc text) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_karp_rabin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION karp_rabin(text) IS 'Karp-Rabin fingerprint of the UTF-8 bytes, modulo 2^61 - 1; equal for equal documents';
CREATE FUNCTION karp_rabin(doc bytea) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_karp_rabin_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION karp_rabin(bytea) IS 'Karp-Rabin fingerprint of the bytes, modulo 2^61 - 1; equal for equal documents';
CREATE FUNCTION karp_rabin_concat(a bigint, b bigint, length_b bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_karp_rabin_concat' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION karp_rabin_concat(bigint, bigint, bigint) IS
  'karp_rabin of a document and another one behind it, from those of both and the length of the second in bytes';

CREATE FUNCTION rolling_fingerprints(doc text, "window" int = 50, OUT "position" int, OUT fingerprint bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_rolling_fingerprints' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
COMMENT ON FUNCTION rolling_fingerprints(text, int) IS
  'karp_rabin of every run of so many characters, with the number of its first character';
CREATE FUNCTION rolling_fingerprints(doc bytea, "window" int = 50, OUT "position" int, OUT fingerprint bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_rolling_fingerprints_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
COMMENT ON FUNCTION rolling_fingerprints(bytea, int) IS
  'karp_rabin of every run of so many bytes, with the number of its first byte';

CREATE FUNCTION winnow_fingerprints(doc text, k int = 5, "window" int = 4, unit text = 'word',
    OUT "position" int, OUT fingerprint bigint) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_winnow_fingerprints' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 500;
COMMENT ON FUNCTION winnow_fingerprints(text, int, int, text) IS
  'hashes of some k-shingles, at least one of any run of k + window - 1 units, with the number of the first character';
CREATE FUNCTION winnow_fingerprints(doc bytea, k int = 8, "window" int = 16, OUT "position" int, OUT fingerprint bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_winnow_fingerprints_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 500;
COMMENT ON FUNCTION winnow_fingerprints(bytea, int, int) IS
  'hashes of some runs of k bytes, at least one of any run of k + window - 1 bytes, with the number of the first byte';

CREATE FUNCTION shared_passages(a text, b text, min_units int = 8, unit text = 'word', OUT start_a int, OUT start_b int,
    OUT length int, OUT "text" text) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_shared_passages' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000 ROWS 10;
COMMENT ON FUNCTION shared_passages(text, text, int, text) IS
  'passages of a of at least so many units that stand in b, longest first taken, in order of a; places and length in characters';
CREATE FUNCTION copied_share(a text, b text, min_units int = 8, unit text = 'word') RETURNS float8
  AS 'MODULE_PATHNAME', 'neardup_copied_share' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION copied_share(text, text, int, text) IS
  'share of a''s units that are in a run of at least so many units which stands in b, 0 to 1';

-- I-Match: one hash of the words that tell documents apart -----------------------------------------------------------------

CREATE FUNCTION neardup_term_counts(query text, OUT term text, OUT documents bigint) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_term_counts(text) IS
  'private: documents of a query that hold each word, in parts that add up; term NULL: how many documents there are';

CREATE FUNCTION create_lexicon(name text, query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  named text[];
  schema text;
  lexicon text;
  documents bigint;
  terms bigint;
BEGIN
  IF name IS NULL OR query IS NULL THEN
    RAISE EXCEPTION 'name and query must not be NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  named := pg_catalog.parse_ident(name);
  IF pg_catalog.array_length(named, 1) > 2 THEN
    RAISE EXCEPTION 'the name of a lexicon is a name or schema.name: %', name USING ERRCODE = 'invalid_name';
  END IF;
  schema := COALESCE(CASE WHEN pg_catalog.array_length(named, 1) = 2 THEN named[1] END, current_schema());
  IF schema IS NULL THEN
    RAISE EXCEPTION 'no schema has been selected to create in' USING ERRCODE = 'invalid_schema_name';
  END IF;
  lexicon := pg_catalog.format('%I.%I', schema, named[pg_catalog.array_length(named, 1)]);
  IF to_regclass(lexicon) IS NOT NULL THEN
    RAISE EXCEPTION 'relation % exists already', lexicon USING ERRCODE = 'duplicate_table', HINT = 'Drop it, or choose another name.';
  END IF;
  IF octet_length(named[pg_catalog.array_length(named, 1)]) > 63 THEN
    RAISE EXCEPTION 'the name of a lexicon has at most 63 bytes: % has %', name, octet_length(named[pg_catalog.array_length(named, 1)])
      USING ERRCODE = 'name_too_long';
  END IF;
  EXECUTE pg_catalog.format('CREATE TABLE %s (term text COLLATE "C" NOT NULL, document_frequency bigint NOT NULL, idf float8 NOT NULL)', lexicon);
  EXECUTE pg_catalog.format('WITH part AS MATERIALIZED (SELECT * FROM @extschema@.neardup_term_counts($1)),
                    all_of_them AS (SELECT p.documents::float8 AS n FROM part p WHERE p.term IS NULL),
                    counted AS (SELECT p.term, sum(p.documents)::bigint AS documents FROM part p WHERE p.term IS NOT NULL GROUP BY p.term)
                  INSERT INTO %s SELECT c.term, c.documents, ln(a.n OPERATOR(pg_catalog./) c.documents::float8) FROM counted c, all_of_them a', lexicon) USING query;
  GET DIAGNOSTICS terms = ROW_COUNT;
  IF terms = 0 THEN
    RAISE EXCEPTION 'query returned no document that holds a word' USING ERRCODE = 'no_data_found';
  END IF;
  EXECUTE pg_catalog.format('ALTER TABLE %s ADD PRIMARY KEY (term)', lexicon);
  EXECUTE pg_catalog.format('SELECT round(document_frequency::float8 OPERATOR(pg_catalog.*) exp(idf)) FROM %s LIMIT 1', lexicon) INTO documents;
  EXECUTE pg_catalog.format('COMMENT ON TABLE %s IS %L', lexicon, pg_catalog.format('lexicon of %s documents', documents));
  RETURN terms;
END $$;
COMMENT ON FUNCTION create_lexicon(text, text) IS
  'makes a table of the words of a query''s documents: how many documents hold each, and its idf; returns how many words';

CREATE FUNCTION i_match(doc text, lexicon regclass, low float8 = 0.2, high float8 = 0.9) RETURNS uuid
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 500;
COMMENT ON FUNCTION i_match(text, regclass, float8, float8) IS
  'fingerprint of the words of a document whose normalised idf is from low to high; NULL where there is none';

CREATE FUNCTION i_match_bag(doc text, lexicon regclass, variants int = 8, low float8 = 0.2, high float8 = 0.9, share float8 = 0.67)
  RETURNS uuid[] AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 800;
COMMENT ON FUNCTION i_match_bag(text, regclass, int, float8, float8, float8) IS
  'i_match, and fingerprints under variants of the lexicon that keep that share of it: documents whose arrays overlap are near';
-- Word similarity from a corpus ----------------------------------------------------------------------------------------------
-- A word model is two tables of its owner: <name>, of type neardup_word, a row for each word; <name>_model, of type
-- neardup_word_model, the one row that says how it is made and how far it is.

CREATE FUNCTION word_similarities(query text, vocabulary int = 100000, k int = 50, "window" int = 3, by_position boolean = true,
    features int = NULL, stopwords text[] = NULL, dictionary regdictionary = NULL, context text = 'sentence')
  RETURNS TABLE (word text, similar_word text, similarity float8, rank int)
  AS 'MODULE_PATHNAME', 'word_similarities' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000000;
COMMENT ON FUNCTION word_similarities(text, int, int, int, boolean, int, text[], regdictionary, text) IS
  'the k most similar words of each of the most frequent words of a query''s documents, by the words that they stand near to';

CREATE TYPE neardup_word AS (id int, word text COLLATE "C", frequency bigint, weight bigint, features bytea,
  similar_ids int[], similarities float8[]);
COMMENT ON TYPE neardup_word IS 'a word of a word model: the row of a table that create_word_model() makes';

CREATE TYPE neardup_word_model AS (query text, vocabulary int, k int, "window" int, by_position boolean, features int,
  stopwords text[], dictionary text, context text,
  given boolean,          -- documents are text[]: words are as they were given
  words int,              -- that there are; NULL: not counted yet
  compared int,           -- words before this id have been compared with all before them
  started timestamptz, counted timestamptz, finished timestamptz);
COMMENT ON TYPE neardup_word_model IS 'how a word model is made: the row of a table that create_word_model() makes';

CREATE FUNCTION neardup_count_words(query text, vocabulary int, k int, "window" int, by_position boolean, features int, stopwords text[],
    dictionary regdictionary, context text, OUT id int, OUT word text, OUT frequency bigint, OUT weight bigint, OUT features_of bytea)
  RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_count_words(text, int, int, int, boolean, int, text[], regdictionary, text) IS
  'private: the words of a word model with their features';
CREATE FUNCTION neardup_words_given(query text) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_words_given(text) IS 'private: whether the documents of a query are text[]';
CREATE FUNCTION neardup_similar_words(model regclass, words int, features int, k int, compared int, seconds float8, OUT id int,
    OUT similar_ids int[], OUT similarities float8[])
  RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_similar_words(regclass, int, int, int, int, float8) IS
  'private: compares further words of a word model for some seconds; all words so far with the most similar of them';
CREATE FUNCTION neardup_row_similarity(a bytea, b bytea) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_row_similarity(bytea, bytea) IS 'private: similarity of two words by their stored features';
CREATE FUNCTION neardup_folded_word(word text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_folded_word(text) IS 'private: the word as documents give it; NULL for what is not one word';

-- Making -------------------------------------------------------------------------------------------------------------

-- schema and name of a model's two tables, quoted.
CREATE FUNCTION neardup_word_model_names(name text, OUT words text, OUT settings text) LANGUAGE plpgsql STABLE AS $$
DECLARE
  named text[];
  schema text;
BEGIN
  IF name IS NULL THEN RAISE EXCEPTION 'name must not be NULL' USING ERRCODE = 'null_value_not_allowed'; END IF;
  named := pg_catalog.parse_ident(name);
  IF pg_catalog.array_length(named, 1) > 2 THEN
    RAISE EXCEPTION 'the name of a word model is a name or schema.name: %', name USING ERRCODE = 'invalid_name';
  END IF;
  IF octet_length(named[pg_catalog.array_length(named, 1)]) > 57 THEN
    RAISE EXCEPTION 'the name of a word model must be at most 57 bytes: %', name USING ERRCODE = 'name_too_long';
  END IF;
  schema := COALESCE(CASE WHEN pg_catalog.array_length(named, 1) = 2 THEN named[1] END, current_schema());
  IF schema IS NULL THEN
    RAISE EXCEPTION 'no schema has been selected to create a word model in' USING ERRCODE = 'undefined_schema',
      HINT = 'Give its name as schema.name.';
  END IF;
  words := pg_catalog.format('%I.%I', schema, named[pg_catalog.array_length(named, 1)]);
  settings := pg_catalog.format('%I.%I', schema, pg_catalog.concat(named[pg_catalog.array_length(named, 1)], '_model'));
END $$;
COMMENT ON FUNCTION neardup_word_model_names(text) IS 'private: names of a word model''s tables';

-- What follows may be called about tables of others, and must not run what they, or others, have put in the way: names are
-- looked up in pg_catalog alone, and tables are tables of the right type.
CREATE FUNCTION neardup_is_word_table(relation regclass, type regtype) RETURNS boolean LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM pg_class c WHERE c.oid = relation AND c.reloftype = type AND c.relkind = 'r')
  $$;
COMMENT ON FUNCTION neardup_is_word_table(regclass, regtype) IS 'private: whether a relation is a table of a type of word models';

-- The row of settings, locked until the transaction ends.
CREATE FUNCTION neardup_lock_word_model(words text, settings text) RETURNS neardup_word_model LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  m @extschema@.neardup_word_model;
BEGIN
  IF NOT COALESCE(@extschema@.neardup_is_word_table(to_regclass(words), '@extschema@.neardup_word'), false)
     OR NOT COALESCE(@extschema@.neardup_is_word_table(to_regclass(settings), '@extschema@.neardup_word_model'), false) THEN
    RAISE EXCEPTION '% is no word model', words USING ERRCODE = 'wrong_object_type', HINT = 'create_word_model() makes one.';
  END IF;
  IF EXISTS (SELECT FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
             WHERE c.oid IN (to_regclass(words), to_regclass(settings)) AND r.rolname <> current_user) THEN
    RAISE EXCEPTION 'word model % belongs to another role', words USING ERRCODE = 'insufficient_privilege',
      HINT = 'Only its owner goes on with it.';
  END IF;
  BEGIN
    EXECUTE pg_catalog.format('SELECT * FROM %s FOR UPDATE NOWAIT', settings) INTO STRICT m;
  EXCEPTION
    WHEN lock_not_available THEN
      RAISE EXCEPTION 'another session is making the word model of %', settings USING ERRCODE = 'lock_not_available';
    WHEN no_data_found OR too_many_rows THEN
      RAISE EXCEPTION '% does not have one row, as the settings of a word model have', settings USING ERRCODE = 'data_corrupted',
        HINT = 'drop_word_model() removes it.';
  END;
  RETURN m;
END $$;
COMMENT ON FUNCTION neardup_lock_word_model(text, text) IS 'private: settings of a word model, for the session that makes it';

-- Whether two models are to be made alike.
CREATE FUNCTION neardup_same_word_model(m neardup_word_model, n neardup_word_model) RETURNS boolean LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT (m.query, m.vocabulary, m.k, m."window", m.by_position, m.features, m.stopwords, m.dictionary, m.context) IS NOT DISTINCT FROM
         (n.query, n.vocabulary, n.k, n."window", n.by_position, n.features, n.stopwords, n.dictionary, n.context)
  $$;
COMMENT ON FUNCTION neardup_same_word_model(neardup_word_model, neardup_word_model) IS 'private: whether two word models are made alike';

CREATE FUNCTION neardup_dictionary_name(dictionary regdictionary) RETURNS text LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT format('%I.%I', s.nspname, d.dictname) FROM pg_ts_dict d JOIN pg_namespace s ON s.oid = d.dictnamespace WHERE d.oid = dictionary
  $$;
COMMENT ON FUNCTION neardup_dictionary_name(regdictionary) IS 'private: name of a dictionary with its schema';

CREATE PROCEDURE neardup_make_word_model(name text, query text, vocabulary int, k int, "window" int, by_position boolean, features int,
    stopwords text[], dictionary regdictionary, context text, commit boolean, commit_every interval) LANGUAGE plpgsql AS $$
DECLARE
  t record;
  m @extschema@.neardup_word_model;
  n @extschema@.neardup_word_model;
  seconds float8 := extract(epoch FROM commit_every);
  columns int;
  done int;
  begun timestamptz;
BEGIN
  SELECT * INTO t FROM @extschema@.neardup_word_model_names(name);
  IF query IS NULL THEN RAISE EXCEPTION 'query must not be NULL' USING ERRCODE = 'null_value_not_allowed'; END IF;
  IF seconds IS NULL OR seconds < 0::float8 THEN
    RAISE EXCEPTION 'commit_every must not be negative: %', COALESCE(commit_every::text, 'NULL') USING ERRCODE = 'invalid_parameter_value';
  END IF;
  n := ROW(query, vocabulary, k, "window", by_position, features, stopwords,
           @extschema@.neardup_dictionary_name(dictionary), context);
  IF to_regclass(t.settings) IS NULL OR to_regclass(t.words) IS NULL THEN
    IF COALESCE(to_regclass(t.words), to_regclass(t.settings)) IS NOT NULL THEN
      RAISE EXCEPTION 'relation "%" already exists', COALESCE(to_regclass(t.words), to_regclass(t.settings)) USING ERRCODE = 'duplicate_table';
    END IF;
    n.given := @extschema@.neardup_words_given(query);
    -- Refuses bad arguments before anything is made.
    PERFORM FROM @extschema@.neardup_count_words(CASE WHEN n.given THEN 'SELECT NULL::text[] LIMIT 0' ELSE 'SELECT NULL::text LIMIT 0' END,
                                                 vocabulary, k, "window", by_position, features, stopwords, dictionary, context);
    n.compared := 0;
    n.started := clock_timestamp();
    EXECUTE pg_catalog.format('CREATE TABLE %s OF @extschema@.neardup_word (id PRIMARY KEY, word NOT NULL UNIQUE, frequency NOT NULL, '
                              'weight NOT NULL, features NOT NULL)', t.words);
    EXECUTE pg_catalog.format('ALTER TABLE %s ALTER COLUMN features SET STORAGE EXTERNAL', t.words);
    EXECUTE pg_catalog.format('CREATE TABLE %s OF @extschema@.neardup_word_model', t.settings);
    EXECUTE pg_catalog.format('INSERT INTO %s SELECT ($1).*', t.settings) USING n;
    IF commit THEN COMMIT; END IF;
  END IF;

  m := @extschema@.neardup_lock_word_model(t.words, t.settings);
  begun := m.started;
  IF m.finished IS NOT NULL THEN
    RAISE EXCEPTION 'word model "%" already exists', name USING ERRCODE = 'duplicate_table',
      HINT = 'drop_word_model() removes it.';
  END IF;
  IF NOT @extschema@.neardup_same_word_model(m, n) THEN
    RAISE EXCEPTION 'word model "%" was begun with other arguments', name USING ERRCODE = 'duplicate_table',
      DETAIL = pg_catalog.format('They stand in %s.', t.settings),
      HINT = 'The same arguments go on with it; drop_word_model() removes it.';
  END IF;

  IF m.words IS NULL THEN
    EXECUTE pg_catalog.format('INSERT INTO %s (id, word, frequency, weight, features) '
      'SELECT c.id, c.word, c.frequency, c.weight, c.features_of FROM @extschema@.neardup_count_words($1, $2, $3, $4, $5, $6, $7, $8, $9) c', t.words)
      USING query, vocabulary, k, "window", by_position, features, stopwords, dictionary, context;
    GET DIAGNOSTICS done = ROW_COUNT;
    m.words := done;
    EXECUTE pg_catalog.format('UPDATE %s SET words = $1, counted = clock_timestamp()', t.settings) USING done;
    IF commit THEN
      COMMIT;
      m := @extschema@.neardup_lock_word_model(t.words, t.settings);
      IF m.started IS DISTINCT FROM begun OR m.words IS DISTINCT FROM done OR m.finished IS NOT NULL THEN
        RAISE EXCEPTION 'word model "%" was made anew meanwhile', name USING ERRCODE = 'object_not_in_prerequisite_state';
      END IF;
    END IF;
  END IF;

  columns := greatest(1, least(COALESCE(features, m.words), m.words)) * CASE WHEN by_position THEN 2 * "window" ELSE 1 END;
  WHILE m.compared < m.words LOOP
    EXECUTE pg_catalog.format(
      'WITH s AS MATERIALIZED (SELECT * FROM @extschema@.neardup_similar_words($1, $2, $3, $4, $5, $6)), '
      'u AS (UPDATE %s w SET similar_ids = s.similar_ids, similarities = s.similarities FROM s WHERE w.id = s.id '
      '      AND (w.similar_ids OPERATOR(pg_catalog.=) s.similar_ids AND w.similarities OPERATOR(pg_catalog.=) s.similarities) IS NOT TRUE) '
      'SELECT max(id) + 1 FROM s', t.words)
      INTO done USING t.words::regclass, m.words, columns, m.k, m.compared, seconds;
    EXECUTE pg_catalog.format('UPDATE %s SET compared = $1', t.settings) USING done;
    m.compared := done;
    IF commit THEN
      COMMIT;
      m := @extschema@.neardup_lock_word_model(t.words, t.settings);
      IF m.started IS DISTINCT FROM begun OR m.compared IS DISTINCT FROM done OR m.finished IS NOT NULL THEN
        RAISE EXCEPTION 'word model "%" was made anew meanwhile', name USING ERRCODE = 'object_not_in_prerequisite_state';
      END IF;
    END IF;
  END LOOP;
  EXECUTE pg_catalog.format('UPDATE %s SET finished = clock_timestamp()', t.settings);
  EXECUTE pg_catalog.format('ANALYZE %s', t.words);
END $$;
COMMENT ON PROCEDURE neardup_make_word_model(text, text, int, int, int, boolean, int, text[], regdictionary, text, boolean, interval) IS
  'private: create_word_model()';
CREATE PROCEDURE create_word_model(name text, query text, vocabulary int = 100000, k int = 50, "window" int = 3,
    by_position boolean = true, features int = NULL, stopwords text[] = NULL, dictionary regdictionary = NULL,
    context text = 'sentence', commit boolean = true, commit_every interval = '30 seconds')
  AS 'MODULE_PATHNAME', 'neardup_create_word_model' LANGUAGE C;
COMMENT ON PROCEDURE create_word_model(text, text, int, int, int, boolean, int, text[], regdictionary, text, boolean, interval) IS
  'makes a word model of a query''s documents; commits after each stage, and goes on where an interrupted call stopped';

CREATE FUNCTION drop_word_model(name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  t record;
BEGIN
  SELECT * INTO t FROM @extschema@.neardup_word_model_names(name);
  IF NOT @extschema@.neardup_is_word_table(to_regclass(t.words), '@extschema@.neardup_word') THEN t.words := NULL; END IF;
  IF NOT @extschema@.neardup_is_word_table(to_regclass(t.settings), '@extschema@.neardup_word_model') THEN t.settings := NULL; END IF;
  IF t.words IS NULL AND t.settings IS NULL THEN
    RAISE EXCEPTION 'there is no word model "%"', name USING ERRCODE = 'undefined_table';
  END IF;
  PERFORM @extschema@.neardup_drop('TABLE', VARIADIC ARRAY[t.words, t.settings]);
END $$;
COMMENT ON FUNCTION drop_word_model(text) IS 'drops the tables of a word model';

-- Using --------------------------------------------------------------------------------------------------------------

-- The settings of a model that is finished.
CREATE FUNCTION neardup_word_model_of(model regclass) RETURNS neardup_word_model LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  settings text;
  m @extschema@.neardup_word_model;
BEGIN
  SELECT format('%I.%I', n.nspname, c.relname::text || '_model') INTO settings
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = model;
  IF NOT @extschema@.neardup_is_word_table(model, '@extschema@.neardup_word')
     OR NOT COALESCE(@extschema@.neardup_is_word_table(to_regclass(settings), '@extschema@.neardup_word_model'), false) THEN
    RAISE EXCEPTION '% is no word model', model USING ERRCODE = 'wrong_object_type', HINT = 'create_word_model() makes one.';
  END IF;
  EXECUTE format('SELECT * FROM %s', settings) INTO m;
  IF m.words IS NULL OR m.compared < m.words THEN
    RAISE EXCEPTION 'word model % is not finished', model USING ERRCODE = 'object_not_in_prerequisite_state',
      HINT = 'The same CALL create_word_model(...) goes on with it.';
  END IF;
  RETURN m;
END $$;
COMMENT ON FUNCTION neardup_word_model_of(regclass) IS 'private: settings of a word model';

CREATE FUNCTION word_similarity(model regclass, w1 text, w2 text) RETURNS float8 LANGUAGE plpgsql STABLE STRICT
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  given boolean;
  s float8;
BEGIN
  given := (@extschema@.neardup_word_model_of(model)).given;
  EXECUTE pg_catalog.format('SELECT @extschema@.neardup_row_similarity(a.features, b.features) FROM %s a, %s b WHERE a.word = $1 AND b.word = $2',
                            model, model)
    INTO s USING CASE WHEN given THEN w1 ELSE @extschema@.neardup_folded_word(w1) END,
                 CASE WHEN given THEN w2 ELSE @extschema@.neardup_folded_word(w2) END;
  RETURN s;
END $$;
COMMENT ON FUNCTION word_similarity(regclass, text, text) IS
  'similarity of two words of a word model, 0 to 1; NULL where one is not in it, or neither has features';

CREATE FUNCTION similar_words(model regclass, word text, k int = 10) RETURNS TABLE (similar_word text, similarity float8, rank int)
LANGUAGE plpgsql STABLE STRICT ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  m @extschema@.neardup_word_model;
BEGIN
  m := @extschema@.neardup_word_model_of(model);
  IF k NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'k must be 1 to 1000: %', k USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY EXECUTE pg_catalog.format(
    'SELECT o.word::text, s.similarity, s.rank::int FROM %s w, unnest(w.similar_ids, w.similarities) WITH ORDINALITY s(id, similarity, rank), %s o '
    'WHERE w.word = $1 AND s.rank <= $2 AND o.id = s.id ORDER BY s.rank', model, model)
    USING CASE WHEN m.given THEN word ELSE @extschema@.neardup_folded_word(word) END, k;
END $$;
COMMENT ON FUNCTION similar_words(regclass, text, int) IS 'the k most similar words of a word, or as many as the word model has';

CREATE FUNCTION expand_query(model regclass, query text, k int = 3)
  RETURNS TABLE (place int, word text, similar_word text, similarity float8) LANGUAGE plpgsql STABLE STRICT ROWS 20
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  m @extschema@.neardup_word_model;
BEGIN
  m := @extschema@.neardup_word_model_of(model);
  IF k NOT BETWEEN 0 AND 1000 THEN
    RAISE EXCEPTION 'k must be 0 to 1000: %', k USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY EXECUTE pg_catalog.format(
    'SELECT q.place::int, q.word, x.similar_word, x.similarity FROM @extschema@.shingles($1, 1) WITH ORDINALITY q(word, place) '
    'CROSS JOIN LATERAL (SELECT q.word AS similar_word, 1::float8 AS similarity, 0::bigint AS rank UNION ALL '
    '  SELECT o.word::text, s.similarity, s.rank FROM %s w, unnest(w.similar_ids, w.similarities) WITH ORDINALITY s(id, similarity, rank), %s o '
    '  WHERE w.word = q.word AND s.rank <= $2 AND o.id = s.id) x ORDER BY q.place, x.rank', model, model)
    USING query, k;
END $$;
COMMENT ON FUNCTION expand_query(regclass, text, int) IS
  'the words of a text in order, each followed by its k most similar words';
-- Queries for an index -----------------------------------------------------------------------------------------------

CREATE TYPE lsh_query;

CREATE FUNCTION lsh_query_in(cstring) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lsh_query_out(lsh_query) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lsh_query_recv(internal) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lsh_query_send(lsh_query) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE lsh_query (
  INPUT = lsh_query_in, OUTPUT = lsh_query_out, RECEIVE = lsh_query_recv, SEND = lsh_query_send,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external
);
COMMENT ON TYPE lsh_query IS
  'a signature or digest, and how near to it another one has to be; made by with_threshold() and by the planner';

CREATE FUNCTION with_threshold(sig minhash, threshold float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME', 'lsh_with_threshold' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION with_threshold(minhash, float8) IS
  'a signature and the least similarity to it, for %> and for EXCLUDE USING lsh (with_threshold(sig, 0.9) WITH &&)';
-- Takes any bound, NaN too, as the comparison does that it stands for: what the planner derives must not fail where the
-- query does not.
CREATE FUNCTION lsh_query_bound(minhash, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION lsh_query_bound(minhash, float8) IS
  'private: the planner''s form of with_threshold(), for any bound';

CREATE FUNCTION lsh_hamming_query(simhash, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION lsh_hamming_query(simhash, float8) IS 'private: hamming(.., value) <= bound, for any bound';
CREATE FUNCTION lsh_hamming_query_strict(simhash, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION lsh_hamming_query_strict(simhash, float8) IS 'private: the same for bounds of hamming_at_most()';
CREATE FUNCTION lsh_score_query(ctph, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION lsh_score_query(ctph, float8) IS 'private: ctph_score(.., digest) >= bound, for any bound';
CREATE FUNCTION lsh_score_query_strict(ctph, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION lsh_score_query_strict(ctph, float8) IS 'private: the same for bounds of ctph_score_at_least()';
CREATE FUNCTION lsh_rate_query(ctph, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION lsh_rate_query(ctph, float8) IS 'private: ctph_edit_rate(.., digest) <= bound, for any bound';
CREATE FUNCTION lsh_rate_query_strict(ctph, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION lsh_rate_query_strict(ctph, float8) IS 'private: the same for bounds of ctph_edit_rate_at_most()';

CREATE FUNCTION lsh_query_eq(lsh_query, lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lsh_query_ne(lsh_query, lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lsh_query_hash(lsh_query) RETURNS int
  AS 'MODULE_PATHNAME', 'minhash_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lsh_query_hash_extended(lsh_query, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'minhash_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE OPERATOR = (LEFTARG = lsh_query, RIGHTARG = lsh_query, FUNCTION = lsh_query_eq, COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES);
CREATE OPERATOR <> (LEFTARG = lsh_query, RIGHTARG = lsh_query, FUNCTION = lsh_query_ne, COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel);
COMMENT ON OPERATOR = (lsh_query, lsh_query) IS 'the same signature and the same threshold';
COMMENT ON OPERATOR <> (lsh_query, lsh_query) IS 'not equal';
CREATE OPERATOR CLASS lsh_query_hash_ops DEFAULT FOR TYPE lsh_query USING hash AS
  OPERATOR 1 =, FUNCTION 1 lsh_query_hash(lsh_query), FUNCTION 2 lsh_query_hash_extended(lsh_query, bigint);

-- Conditions that an index serves. LEAKPROOF: as jaccard().

CREATE FUNCTION lsh_jaccard_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_jaccard_support(internal) IS 'private: planner support of jaccard_at_least()';
CREATE FUNCTION jaccard_at_least(sig minhash, query minhash, threshold float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2 SUPPORT lsh_jaccard_support;
COMMENT ON FUNCTION jaccard_at_least(minhash, minhash, float8) IS 'jaccard(sig, query) >= threshold';

CREATE FUNCTION lsh_hamming_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_hamming_support(internal) IS 'private: planner support of hamming_at_most()';
CREATE FUNCTION hamming_at_most(a simhash, b simhash, distance float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT lsh_hamming_support;
COMMENT ON FUNCTION hamming_at_most(simhash, simhash, float8) IS 'hamming(a, b) <= distance';

CREATE FUNCTION lsh_score_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_score_support(internal) IS 'private: planner support of ctph_score_at_least()';
CREATE FUNCTION ctph_score_at_least(a ctph, b ctph, score float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 5 SUPPORT lsh_score_support;
COMMENT ON FUNCTION ctph_score_at_least(ctph, ctph, float8) IS 'ctph_score(a, b) >= score';
CREATE FUNCTION lsh_rate_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_rate_support(internal) IS 'private: planner support of ctph_edit_rate_at_most()';
CREATE FUNCTION ctph_edit_rate_at_most(a ctph, b ctph, rate float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 5 SUPPORT lsh_rate_support;
COMMENT ON FUNCTION ctph_edit_rate_at_most(ctph, ctph, float8) IS 'ctph_edit_rate(a, b) <= rate';

CREATE FUNCTION minhash_at_least(sig minhash, query lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION minhash_at_least(minhash, lsh_query) IS 'implementation of %>';
CREATE OPERATOR %> (LEFTARG = minhash, RIGHTARG = lsh_query, FUNCTION = minhash_at_least,
  RESTRICT = lsh_sel, JOIN = lsh_joinsel);
COMMENT ON OPERATOR %> (minhash, lsh_query) IS
  'Jaccard similarity of both signatures is at least the query''s threshold';

CREATE FUNCTION simhash_within(value simhash, query lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_within(simhash, lsh_query) IS 'implementation of %>';
CREATE OPERATOR %> (LEFTARG = simhash, RIGHTARG = lsh_query, FUNCTION = simhash_within,
  RESTRICT = lsh_sel, JOIN = lsh_joinsel);
COMMENT ON OPERATOR %> (simhash, lsh_query) IS 'Hamming distance to the query''s value is at most the query''s bound';

CREATE FUNCTION ctph_within(digest ctph, query lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 5;
COMMENT ON FUNCTION ctph_within(ctph, lsh_query) IS 'implementation of %>';
CREATE OPERATOR %> (LEFTARG = ctph, RIGHTARG = lsh_query, FUNCTION = ctph_within,
  RESTRICT = lsh_sel, JOIN = lsh_joinsel);
COMMENT ON OPERATOR %> (ctph, lsh_query) IS
  'score with the query''s digest is at least, or edit rate at most, the query''s bound';

CREATE FUNCTION lsh_query_conflicts(a lsh_query, b lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION lsh_query_conflicts(lsh_query, lsh_query) IS 'implementation of &&';
CREATE OPERATOR && (LEFTARG = lsh_query, RIGHTARG = lsh_query, FUNCTION = lsh_query_conflicts, COMMUTATOR = &&,
  RESTRICT = lsh_sel, JOIN = lsh_joinsel);
COMMENT ON OPERATOR && (lsh_query, lsh_query) IS
  'Jaccard similarity of both signatures is at least the greater of both thresholds';

-- The access method --------------------------------------------------------------------------------------------------

CREATE FUNCTION lsh_handler(internal) RETURNS index_am_handler
  AS 'MODULE_PATHNAME', 'lshhandler' LANGUAGE C;
COMMENT ON FUNCTION lsh_handler(internal) IS 'private: the access method lsh';
CREATE ACCESS METHOD lsh TYPE INDEX HANDLER lsh_handler;
COMMENT ON ACCESS METHOD lsh IS 'near duplicates by bands of signatures; the answers of a sequential scan';

-- The hash family "minhash": src/pg/lsh/family.h

CREATE FUNCTION lsh_minhash_keys(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_minhash_keys(internal) IS 'private: index keys of a signature';
CREATE FUNCTION lsh_query_keys(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_query_keys(internal) IS 'private: index keys of an lsh_query';
-- STABLE: for % it reads neardup.jaccard_threshold.
CREATE FUNCTION lsh_minhash_probes(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_minhash_probes(internal) IS 'private: what an index looks up for a query';
CREATE FUNCTION lsh_minhash_bind(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_minhash_bind(internal) IS 'private: index parameters from a first signature, and their check';
CREATE FUNCTION lsh_query_bind(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_query_bind(internal) IS 'private: index parameters from a first lsh_query, and their check';
CREATE FUNCTION lsh_minhash_describe(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_minhash_describe(internal) IS 'private: what an index promises, in words';
CREATE FUNCTION lsh_minhash_order(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_minhash_order(internal) IS 'private: least distance of a row by its hits';

-- The planner finds 7 to 14 here, not by their names.
CREATE OPERATOR CLASS minhash_ops DEFAULT FOR TYPE minhash USING lsh AS
  OPERATOR 1 %> (minhash, lsh_query),
  OPERATOR 2 % (minhash, minhash),
  OPERATOR 4 <%> (minhash, minhash) FOR ORDER BY pg_catalog.float_ops,
  FUNCTION 1 lsh_minhash_keys(internal),
  FUNCTION 2 lsh_minhash_probes(internal),
  FUNCTION 3 lsh_minhash_bind(internal),
  FUNCTION 4 lsh_minhash_describe(internal),
  FUNCTION 5 lsh_minhash_order(internal),
  FUNCTION 7 jaccard(minhash, minhash),
  FUNCTION 8 lsh_query_bound(minhash, float8),
  FUNCTION 9 jaccard_at_least(minhash, minhash, float8),
  FUNCTION 10 with_threshold(minhash, float8);
COMMENT ON OPERATOR CLASS minhash_ops USING lsh IS 'Jaccard similarity of minhash signatures';

CREATE OPERATOR CLASS lsh_query_ops DEFAULT FOR TYPE lsh_query USING lsh AS
  OPERATOR 3 && (lsh_query, lsh_query),
  FUNCTION 1 lsh_query_keys(internal),
  FUNCTION 2 lsh_minhash_probes(internal),
  FUNCTION 3 lsh_query_bind(internal),
  FUNCTION 4 lsh_minhash_describe(internal);
COMMENT ON OPERATOR CLASS lsh_query_ops USING lsh IS 'for exclusion constraints on with_threshold()';

-- The hash family "simhash"

CREATE FUNCTION lsh_simhash_keys(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_simhash_keys(internal) IS 'private: index keys of a simhash';
CREATE FUNCTION lsh_simhash_probes(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_simhash_probes(internal) IS 'private: what an index looks up for a query';
CREATE FUNCTION lsh_simhash_bind(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_simhash_bind(internal) IS 'private: index parameters from a first simhash, and their check';
CREATE FUNCTION lsh_simhash_describe(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_simhash_describe(internal) IS 'private: what an index promises, in words';
CREATE FUNCTION lsh_simhash_order(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_simhash_order(internal) IS 'private: least distance of a row by its hits';
CREATE FUNCTION lsh_simhash_options(internal) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_simhash_options(internal) IS 'private: options of simhash_ops';

CREATE OPERATOR CLASS simhash_ops DEFAULT FOR TYPE simhash USING lsh AS
  OPERATOR 1 %> (simhash, lsh_query),
  OPERATOR 4 <~> (simhash, simhash) FOR ORDER BY pg_catalog.float_ops,
  FUNCTION 1 lsh_simhash_keys(internal),
  FUNCTION 2 lsh_simhash_probes(internal),
  FUNCTION 3 lsh_simhash_bind(internal),
  FUNCTION 4 lsh_simhash_describe(internal),
  FUNCTION 5 lsh_simhash_order(internal),
  FUNCTION 6 (simhash) lsh_simhash_options(internal),
  FUNCTION 11 hamming(simhash, simhash),
  FUNCTION 12 lsh_hamming_query(simhash, float8),
  FUNCTION 13 hamming_at_most(simhash, simhash, float8),
  FUNCTION 14 lsh_hamming_query_strict(simhash, float8);
COMMENT ON OPERATOR CLASS simhash_ops USING lsh IS 'Hamming distance of simhash values; option blocks';

-- The hash family "ctph"

CREATE FUNCTION lsh_ctph_keys(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_ctph_keys(internal) IS 'private: index keys of a digest';
CREATE FUNCTION lsh_ctph_probes(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_ctph_probes(internal) IS 'private: what an index looks up for a query';
CREATE FUNCTION lsh_ctph_bind(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_ctph_bind(internal) IS 'private: index parameters from a first digest, and their check';
CREATE FUNCTION lsh_ctph_describe(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_ctph_describe(internal) IS 'private: what an index promises, in words';
CREATE FUNCTION lsh_ctph_order(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_ctph_order(internal) IS 'private: least distance of a row by its hits';
CREATE FUNCTION lsh_ctph_options(internal) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_ctph_options(internal) IS 'private: options of ctph_ops';

CREATE OPERATOR CLASS ctph_ops DEFAULT FOR TYPE ctph USING lsh AS
  OPERATOR 1 %> (ctph, lsh_query),
  OPERATOR 4 <-> (ctph, ctph) FOR ORDER BY pg_catalog.float_ops,
  FUNCTION 1 lsh_ctph_keys(internal),
  FUNCTION 2 lsh_ctph_probes(internal),
  FUNCTION 3 lsh_ctph_bind(internal),
  FUNCTION 4 lsh_ctph_describe(internal),
  FUNCTION 5 lsh_ctph_order(internal),
  FUNCTION 6 (ctph) lsh_ctph_options(internal),
  FUNCTION 7 ctph_score(ctph, ctph),
  FUNCTION 8 lsh_score_query(ctph, float8),
  FUNCTION 9 ctph_score_at_least(ctph, ctph, float8),
  FUNCTION 10 lsh_score_query_strict(ctph, float8),
  FUNCTION 11 ctph_edit_rate(ctph, ctph),
  FUNCTION 12 lsh_rate_query(ctph, float8),
  FUNCTION 13 ctph_edit_rate_at_most(ctph, ctph, float8),
  FUNCTION 14 lsh_rate_query_strict(ctph, float8);
COMMENT ON OPERATOR CLASS ctph_ops USING lsh IS 'score and edit rate of ctph digests; option max_rate';

-- Bands for joins of one's own

CREATE FUNCTION band_keys(sig minhash, threshold float8) RETURNS SETOF bigint
  AS 'MODULE_PATHNAME', 'minhash_band_keys' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10 ROWS 30;
COMMENT ON FUNCTION band_keys(minhash, float8) IS
  'keys of which two signatures with jaccard >= threshold share at least one';
CREATE FUNCTION lsh_probability(similarity float8, bands int, rows int) RETURNS float8
  AS 'MODULE_PATHNAME', 'neardup_lsh_probability' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_probability(float8, int, int) IS
  '1 - (1 - similarity ^ rows) ^ bands: the chance that one of the bands agrees';

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
  'BEFORE INSERT OR UPDATE trigger that refuses near copies: (signature, threshold [, ''refuse'' or ''skip''])';

CREATE FUNCTION neardup_flag() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_flag() IS
  'BEFORE INSERT OR UPDATE trigger that marks near copies: (signature, threshold, column to fill [, column to fill it from])';
-- Sets of integers in an index ------------------------------------------------------------------------------------------

CREATE FUNCTION jaccard_exact(a int[], b int[]) RETURNS float8
  AS 'MODULE_PATHNAME', 'jaccard_exact_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION jaccard_exact(int[], int[]) IS 'Jaccard similarity of two sets';

-- Without it smallint[] would fit both of the others.
CREATE FUNCTION jaccard_exact(a smallint[], b smallint[]) RETURNS float8
  AS 'MODULE_PATHNAME', 'jaccard_exact_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION jaccard_exact(smallint[], smallint[]) IS 'Jaccard similarity of two sets';

CREATE FUNCTION lsh_set_query(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION lsh_set_query(bigint[], float8) IS 'private: jaccard_exact(.., set) >= bound, for any bound';
CREATE FUNCTION lsh_set_query(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION lsh_set_query(int[], float8) IS 'private: jaccard_exact(.., set) >= bound, for any bound';
CREATE FUNCTION lsh_set_query_strict(bigint[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION lsh_set_query_strict(bigint[], float8) IS 'private: the same for bounds of jaccard_exact_at_least()';
CREATE FUNCTION lsh_set_query_strict(int[], float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION lsh_set_query_strict(int[], float8) IS 'private: the same for bounds of jaccard_exact_at_least()';

CREATE FUNCTION lsh_set_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_set_support(internal) IS 'private: planner support of jaccard_exact_at_least()';
CREATE FUNCTION jaccard_exact_at_least(a bigint[], b bigint[], threshold float8) RETURNS boolean
  AS 'MODULE_PATHNAME', 'int_set_at_least' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 SUPPORT lsh_set_support;
COMMENT ON FUNCTION jaccard_exact_at_least(bigint[], bigint[], float8) IS 'jaccard_exact(a, b) >= threshold';
CREATE FUNCTION jaccard_exact_at_least(a int[], b int[], threshold float8) RETURNS boolean
  AS 'MODULE_PATHNAME', 'int_set_at_least' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 SUPPORT lsh_set_support;
COMMENT ON FUNCTION jaccard_exact_at_least(int[], int[], float8) IS 'jaccard_exact(a, b) >= threshold';

CREATE FUNCTION int_set_within(bigint[], lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION int_set_within(bigint[], lsh_query) IS 'implementation of %>';
CREATE FUNCTION int_set_within(int[], lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION int_set_within(int[], lsh_query) IS 'implementation of %>';
CREATE OPERATOR %> (LEFTARG = bigint[], RIGHTARG = lsh_query, FUNCTION = int_set_within, RESTRICT = lsh_sel, JOIN = lsh_joinsel);
COMMENT ON OPERATOR %> (bigint[], lsh_query) IS 'Jaccard similarity to the query''s set is at least the query''s bound';
CREATE OPERATOR %> (LEFTARG = int[], RIGHTARG = lsh_query, FUNCTION = int_set_within, RESTRICT = lsh_sel, JOIN = lsh_joinsel);
COMMENT ON OPERATOR %> (int[], lsh_query) IS 'Jaccard similarity to the query''s set is at least the query''s bound';

-- The hash family "set". Equality as well: as a column before the last an array is one value.

CREATE FUNCTION lsh_set_keys(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_set_keys(internal) IS 'private: index keys of a set';
CREATE FUNCTION lsh_set_probes(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_set_probes(internal) IS 'private: what an index looks up for a query';
CREATE FUNCTION lsh_set_bind(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_set_bind(internal) IS 'private: index parameters from a first set, and their check';
CREATE FUNCTION lsh_set_describe(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_set_describe(internal) IS 'private: what an index promises, in words';

CREATE OPERATOR CLASS int8_set_ops DEFAULT FOR TYPE bigint[] USING lsh AS
  OPERATOR 1 %> (bigint[], lsh_query),
  FUNCTION 1 lsh_set_keys(internal),
  FUNCTION 2 lsh_set_probes(internal),
  FUNCTION 3 lsh_set_bind(internal),
  FUNCTION 4 lsh_set_describe(internal),
  FUNCTION 7 jaccard_exact(bigint[], bigint[]),
  FUNCTION 8 lsh_set_query(bigint[], float8),
  FUNCTION 9 jaccard_exact_at_least(bigint[], bigint[], float8),
  FUNCTION 10 lsh_set_query_strict(bigint[], float8),
  OPERATOR 5 = (anyarray, anyarray),
  FUNCTION 15 (bigint[]) hash_array_extended(anyarray, bigint);
COMMENT ON OPERATOR CLASS int8_set_ops USING lsh IS 'Jaccard similarity of sets of bigint, exactly';
CREATE OPERATOR CLASS int4_set_ops DEFAULT FOR TYPE int[] USING lsh AS
  OPERATOR 1 %> (int[], lsh_query),
  FUNCTION 1 lsh_set_keys(internal),
  FUNCTION 2 lsh_set_probes(internal),
  FUNCTION 3 lsh_set_bind(internal),
  FUNCTION 4 lsh_set_describe(internal),
  FUNCTION 7 jaccard_exact(int[], int[]),
  FUNCTION 8 lsh_set_query(int[], float8),
  FUNCTION 9 jaccard_exact_at_least(int[], int[], float8),
  FUNCTION 10 lsh_set_query_strict(int[], float8),
  OPERATOR 5 = (anyarray, anyarray),
  FUNCTION 15 (int[]) hash_array_extended(anyarray, bigint);
COMMENT ON OPERATOR CLASS int4_set_ops USING lsh IS 'Jaccard similarity of sets of int, exactly';

-- The hash family "minutiae"

CREATE FUNCTION minutiae_cells(points point[], grid int = 64, margin float8 = 0.1) RETURNS int[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION minutiae_cells(point[], int, float8) IS
  'cells of a grid over the unit square that have a point, those on both sides of a border nearer than margin (in cells)';
CREATE FUNCTION minutiae_buckets(cells int[], functions int = 1024, function_cells int = 3, grid int = 64) RETURNS int[]
  AS 'MODULE_PATHNAME', 'neardup_minutiae_buckets' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION minutiae_buckets(int[], int, int, int) IS 'numbers of the functions all of whose cells are in the set';

CREATE FUNCTION lsh_minutiae_keys(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_minutiae_keys(internal) IS 'private: index keys of a set of cells';
CREATE FUNCTION lsh_minutiae_probes(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_minutiae_probes(internal) IS 'private: what an index looks up for a query';
CREATE FUNCTION lsh_minutiae_bind(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_minutiae_bind(internal) IS 'private: index parameters from a first set of cells, and their check';
CREATE FUNCTION lsh_minutiae_describe(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_minutiae_describe(internal) IS 'private: what an index promises, in words';
CREATE FUNCTION lsh_minutiae_options(internal) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_minutiae_options(internal) IS 'private: options of minutiae_ops';

CREATE OPERATOR CLASS minutiae_ops FOR TYPE int[] USING lsh AS
  OPERATOR 1 %> (int[], lsh_query),
  FUNCTION 1 lsh_minutiae_keys(internal),
  FUNCTION 2 lsh_minutiae_probes(internal),
  FUNCTION 3 lsh_minutiae_bind(internal),
  FUNCTION 4 lsh_minutiae_describe(internal),
  FUNCTION 6 (int[]) lsh_minutiae_options(internal),
  FUNCTION 7 jaccard_exact(int[], int[]),
  FUNCTION 8 lsh_set_query(int[], float8),
  FUNCTION 9 jaccard_exact_at_least(int[], int[], float8),
  FUNCTION 10 lsh_set_query_strict(int[], float8);
COMMENT ON OPERATOR CLASS minutiae_ops USING lsh IS
  'Jaccard similarity of sets of cells, of those that share a bucket; options functions, cells, grid';
-- Statistics of near duplicates --------------------------------------------------------------------------------------

CREATE FUNCTION minhash_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_typanalyze(internal) IS 'private: ANALYZE of minhash columns';
ALTER TYPE minhash SET (ANALYZE = minhash_typanalyze);
CREATE FUNCTION simhash_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_typanalyze(internal) IS 'private: ANALYZE of simhash columns';
ALTER TYPE simhash SET (ANALYZE = simhash_typanalyze);
CREATE FUNCTION ctph_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ctph_typanalyze(internal) IS 'private: ANALYZE of ctph columns';
ALTER TYPE ctph SET (ANALYZE = ctph_typanalyze);
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
-- Pairs and clusters -------------------------------------------------------------------------------------------------
-- VOLATILE and PARALLEL UNSAFE: they run the caller's query.

CREATE FUNCTION all_pairs(query text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL)
  RETURNS TABLE (id_a bigint, id_b bigint, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_all_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_pairs(text, float8, text, text, float8, interval) IS
  'all pairs of the query''s rows (id, signature) with similarity >= threshold; id_a < id_b, in order';
CREATE FUNCTION all_pairs(id anyelement, query text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL)
  RETURNS TABLE (id_a anyelement, id_b anyelement, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_all_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_pairs(anyelement, text, float8, text, text, float8, interval) IS
  'all_pairs for ids of another type, named by the first argument: NULL::uuid';

CREATE FUNCTION pairs_between(query_a text, query_b text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL)
  RETURNS TABLE (id_a bigint, id_b bigint, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_pairs_between' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION pairs_between(text, text, float8, text, text, float8, interval) IS
  'all pairs (row of query_a, row of query_b) with similarity >= threshold, in order';
CREATE FUNCTION pairs_between(id anyelement, query_a text, query_b text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL)
  RETURNS TABLE (id_a anyelement, id_b anyelement, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_pairs_between' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION pairs_between(anyelement, text, text, float8, text, text, float8, interval) IS
  'pairs_between for ids of another type, named by the first argument';

CREATE FUNCTION all_clusters(query text, threshold float8, linkage text = 'anchor', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL)
  RETURNS TABLE (id bigint, cluster bigint, representative bigint, similarity float8, cluster_size bigint,
                 survivor boolean)
  AS 'MODULE_PATHNAME', 'neardup_all_clusters' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_clusters(text, float8, text, text, float8, interval) IS
  'clusters of the query''s rows in the query''s order; linkage ''anchor'' or ''connected''';
CREATE FUNCTION all_clusters(id anyelement, query text, threshold float8, linkage text = 'anchor', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL)
  RETURNS TABLE (id anyelement, cluster bigint, representative anyelement, similarity float8, cluster_size bigint,
                 survivor boolean)
  AS 'MODULE_PATHNAME', 'neardup_all_clusters' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_clusters(anyelement, text, float8, text, text, float8, interval) IS
  'all_clusters for ids of another type, named by the first argument';

CREATE FUNCTION cluster_bridges(query text, threshold float8, verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL)
  RETURNS TABLE (id_a bigint, id_b bigint, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_cluster_bridges' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION cluster_bridges(text, float8, text, float8, interval) IS
  'the pairs that alone hold a connected cluster together: without one of them its cluster falls in two';
CREATE FUNCTION cluster_bridges(id anyelement, query text, threshold float8, verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL)
  RETURNS TABLE (id_a anyelement, id_b anyelement, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_cluster_bridges' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION cluster_bridges(anyelement, text, float8, text, float8, interval) IS
  'cluster_bridges for ids of another type, named by the first argument';

CREATE FUNCTION neardup_progress()
  RETURNS TABLE (pid int, datname name, function text, phase text, rows_read bigint, searched float8, pairs bigint)
  AS 'MODULE_PATHNAME', 'neardup_progress' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 2;
COMMENT ON FUNCTION neardup_progress() IS
  'how far the calls of all_pairs and its kin have come that run now: those of roles that you may watch';

CREATE FUNCTION cluster_anchor(value minhash, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(minhash, float8) IS
  'number, in the window''s order, of the earliest kept row that this row is near; its own when it is kept';
CREATE FUNCTION cluster_connected(value minhash, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(minhash, float8) IS
  'number, in the window''s order, of the first row of this row''s connected component';
CREATE FUNCTION cluster_anchor(value simhash, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(simhash, float8) IS
  'number, in the window''s order, of the earliest kept row that this row is near; its own when it is kept';
CREATE FUNCTION cluster_connected(value simhash, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(simhash, float8) IS
  'number, in the window''s order, of the first row of this row''s connected component';
CREATE FUNCTION cluster_anchor(value ctph, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(ctph, float8) IS
  'number, in the window''s order, of the earliest kept row that this row is near; its own when it is kept';
CREATE FUNCTION cluster_connected(value ctph, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(ctph, float8) IS
  'number, in the window''s order, of the first row of this row''s connected component';

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

-- The GPU: what is there

CREATE FUNCTION neardup_devices()
RETURNS TABLE (device int, name text, memory_bytes bigint, compute_capability text, driver text,
               usable boolean, reason text)
AS 'MODULE_PATHNAME', 'neardup_devices'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 100000 ROWS 1;
COMMENT ON FUNCTION neardup_devices() IS
  'the GPUs of this machine and whether each can be used; one row with a NULL device and the reason when there is none';
-- Profiles -----------------------------------------------------------------------------------------------------------
-- How a document becomes a signature. A user's profile is a table of this type in the user's schema, a row a version;
-- the built-in ones are constants.

CREATE TYPE neardup_profile AS (
  version int, signature text, unit text, k int, num_perm int, bits int, seed bigint,
  encoding text, script text, rules text, min_length int, made_at timestamptz);
COMMENT ON TYPE neardup_profile IS 'how documents are signed: rows of a table that create_profile() makes';

CREATE FUNCTION neardup_default_profiles(OUT name text, OUT profile neardup_profile) RETURNS SETOF record
  LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 6 AS $$
  SELECT name, ROW(1, signature, unit, k, num_perm, bits, seed, encoding, script, rules, min_length, NULL)::@extschema@.neardup_profile
  FROM (VALUES
    ('default', 'minhash', 'word', 3, 128, 32, 0::bigint, 'detect', 'keep', 'none', 0),
    ('web', 'minhash', 'word', 3, 128, 32, 0, 'detect', 'keep', 'default', 50),
    ('code', 'minhash', 'char', 8, 128, 32, 0, 'detect', 'keep', 'none', 0),
    ('chinese', 'minhash', 'char', 3, 128, 32, 0, 'detect', 'simplified', 'none', 0),
    ('simhash', 'simhash', 'word', 3, NULL, NULL, NULL, 'detect', 'keep', 'none', 0),
    ('ctph', 'ctph', NULL, NULL, NULL, NULL, NULL, 'bytes', 'keep', 'none', 0))
    v(name, signature, unit, k, num_perm, bits, seed, encoding, script, rules, min_length)
  $$;
COMMENT ON FUNCTION neardup_default_profiles() IS 'the built-in profiles';

-- The profile of this name: built in, or the newest version of a table.
CREATE FUNCTION neardup_profile_named(name text) RETURNS neardup_profile LANGUAGE plpgsql STABLE AS $$
DECLARE
  p @extschema@.neardup_profile;
  t regclass;
BEGIN
  SELECT (d.profile).* INTO p FROM @extschema@.neardup_default_profiles() d WHERE d.name = $1;
  IF FOUND THEN RETURN p; END IF;
  BEGIN
    t := pg_catalog.to_regclass($1);
  EXCEPTION WHEN syntax_error OR invalid_name OR undefined_table THEN t := NULL;
  END;
  IF t IS NULL OR (SELECT c.reloftype FROM pg_catalog.pg_class c WHERE c.oid = t::oid AND c.relkind = 'r') IS DISTINCT FROM '@extschema@.neardup_profile'::regtype::oid THEN
    RAISE EXCEPTION 'there is no profile "%"', $1 USING ERRCODE = 'undefined_object',
      HINT = 'Built in are ' || (SELECT string_agg(d.name, ', ') FROM @extschema@.neardup_default_profiles() d)
             || '; make your own with create_profile().';
  END IF;
  EXECUTE pg_catalog.format('SELECT * FROM %s ORDER BY version DESC LIMIT 1', t) INTO p;
  IF p.version IS NULL THEN
    RAISE EXCEPTION 'profile "%" has no version', $1 USING ERRCODE = 'undefined_object';
  END IF;
  RETURN p;
END $$;
COMMENT ON FUNCTION neardup_profile_named(text) IS 'the built-in profile of this name, or the newest version of the profile table of this name';

-- What is wrong with a profile is said when it is made.
CREATE FUNCTION neardup_check_profile(p neardup_profile) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF p.signature IS NULL OR p.signature NOT IN ('minhash', 'simhash', 'ctph') THEN
    RAISE EXCEPTION 'signature must be ''minhash'', ''simhash'' or ''ctph'': %', COALESCE(quote_literal(p.signature), 'NULL')
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF p.encoding IS NULL OR p.script IS NULL OR p.rules IS NULL OR p.min_length IS NULL THEN
    RAISE EXCEPTION 'encoding, script, rules and min_length of a profile must not be NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF p.script NOT IN ('keep', 'simplified', 'traditional') THEN
    RAISE EXCEPTION 'script must be ''keep'', ''simplified'' or ''traditional'': %', quote_literal(p.script)
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF p.min_length < 0 THEN
    RAISE EXCEPTION 'min_length must be at least 0: %', p.min_length USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF p.encoding = 'bytes' AND (p.script <> 'keep' OR p.rules <> 'none') THEN
    RAISE EXCEPTION 'documents of encoding ''bytes'' have no script and no rules' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  -- the functions check unit, k and the rest; the rules are compiled
  EXECUTE 'SELECT ' || @extschema@.neardup_sign_sql(p, 'text', '''one two three four''::text');
END $$;
COMMENT ON FUNCTION neardup_check_profile(neardup_profile) IS 'private: raises an error for a profile that cannot be used';

-- The document that a profile signs, as an expression over the expression `body`.
CREATE FUNCTION neardup_document_sql(p neardup_profile, body_type regtype, body text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  e text := body;
BEGIN
  IF body_type::oid = 'bytea'::regtype::oid AND p.encoding <> 'bytes' THEN
    e := pg_catalog.format('(@extschema@.neardup_decode(%s%s)).body', e,
                CASE WHEN p.encoding = 'detect' THEN '' ELSE ', ' || quote_literal(p.encoding) END);
  END IF;
  IF p.script <> 'keep' THEN e := pg_catalog.format('@extschema@.neardup_to_%s(%s)', p.script, e); END IF;
  IF p.rules = 'default' THEN
    e := pg_catalog.format('(@extschema@.neardup_clean(%s)).body', e);
  ELSIF p.rules <> 'none' THEN
    e := pg_catalog.format('(@extschema@.neardup_clean(%s, (SELECT array_agg(r.*::@extschema@.neardup_rule ORDER BY r.position) FROM %s r))).body',
                e, p.rules::regclass);
  END IF;
  RETURN e;
END $$;
COMMENT ON FUNCTION neardup_document_sql(neardup_profile, regtype, text) IS
  'private: the SQL expression of the document that a profile signs';

-- The signature, as an expression over the expression `body`; NULL for a document below min_length.
CREATE FUNCTION neardup_sign_sql(p neardup_profile, body_type regtype, body text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  bytes boolean := body_type::oid = 'bytea'::regtype::oid AND p.encoding = 'bytes';
  document text := @extschema@.neardup_document_sql(p, body_type, body);
  d text := CASE WHEN p.min_length > 0 THEN 'd.body' ELSE document END;
  e text;
BEGIN
  e := CASE
    WHEN p.signature = 'ctph' THEN pg_catalog.format('@extschema@.to_ctph(%s)', d)
    WHEN p.signature = 'simhash' AND bytes THEN pg_catalog.format('@extschema@.to_simhash(%s, %s)', d, p.k)
    WHEN p.signature = 'simhash' THEN pg_catalog.format('@extschema@.to_simhash(%s, %s, %L)', d, p.k, p.unit)
    WHEN bytes THEN pg_catalog.format('@extschema@.to_minhash(%s, %s, num_perm => %s, bits => %s, seed => %s)', d, p.k, p.num_perm, p.bits, p.seed)
    ELSE pg_catalog.format('@extschema@.to_minhash(%s, %s, %L, %s, %s, %s)', d, p.k, p.unit, p.num_perm, p.bits, p.seed)
    END;
  IF p.min_length > 0 THEN
    e := pg_catalog.format('(SELECT CASE WHEN length(d.body) >= %s THEN %s END FROM (SELECT %s OFFSET 0) d(body))', p.min_length, e, document);
  END IF;
  RETURN e;
END $$;
COMMENT ON FUNCTION neardup_sign_sql(neardup_profile, regtype, text) IS 'the SQL expression that signs documents as a profile says';

CREATE FUNCTION create_profile(name text, base text = 'default', signature text = NULL, unit text = NULL, k int = NULL,
    num_perm int = NULL, bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL,
    min_length int = NULL) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
  p @extschema@.neardup_profile := @extschema@.neardup_profile_named(base);
  at text[] := pg_catalog.parse_ident(name);
  t regclass;
BEGIN
  IF pg_catalog.array_length(at, 1) > 2 THEN
    RAISE EXCEPTION 'a profile''s name is a name or schema.name: %', name USING ERRCODE = 'invalid_name';
  END IF;
  IF EXISTS (SELECT FROM @extschema@.neardup_default_profiles() d WHERE d.name = $1) THEN
    RAISE EXCEPTION 'profile "%" is built in', name USING ERRCODE = 'duplicate_object';
  END IF;
  p := ROW(1, COALESCE(signature, p.signature), COALESCE(unit, p.unit), COALESCE(k, p.k), COALESCE(num_perm, p.num_perm),
           COALESCE(bits, p.bits), COALESCE(seed, p.seed), COALESCE(encoding, p.encoding), COALESCE(script, p.script),
           COALESCE(rules, p.rules), COALESCE(min_length, p.min_length), now());
  PERFORM @extschema@.neardup_check_profile(p);
  EXECUTE pg_catalog.format('CREATE TABLE %s OF @extschema@.neardup_profile (PRIMARY KEY (version))',
                 (SELECT string_agg(quote_ident(x), '.' ORDER BY n) FROM unnest(at) WITH ORDINALITY u(x, n)));
  t := name::regclass;
  EXECUTE pg_catalog.format('INSERT INTO %s SELECT ($1).*', t) USING p;
  RETURN t;
END $$;
COMMENT ON FUNCTION create_profile(text, text, text, text, int, int, int, bigint, text, text, text, int) IS
  'makes a profile, a table of that name, version 1; what is not given is as in the profile base';

CREATE FUNCTION alter_profile(name text, signature text = NULL, unit text = NULL, k int = NULL, num_perm int = NULL,
    bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL, min_length int = NULL)
  RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  p @extschema@.neardup_profile;
BEGIN
  IF EXISTS (SELECT FROM @extschema@.neardup_default_profiles() d WHERE d.name = $1) THEN
    RAISE EXCEPTION 'profile "%" is built in', name USING ERRCODE = 'wrong_object_type',
      HINT = pg_catalog.format('Make your own: create_profile(''my_%s'', base => %L, ..).', name, name);
  END IF;
  p := @extschema@.neardup_profile_named(name);
  p := ROW(p.version + 1, COALESCE(signature, p.signature), COALESCE(unit, p.unit), COALESCE(k, p.k),
           COALESCE(num_perm, p.num_perm), COALESCE(bits, p.bits), COALESCE(seed, p.seed), COALESCE(encoding, p.encoding),
           COALESCE(script, p.script), COALESCE(rules, p.rules), COALESCE(min_length, p.min_length), now());
  PERFORM @extschema@.neardup_check_profile(p);
  EXECUTE pg_catalog.format('INSERT INTO %s SELECT ($1).*', name::regclass) USING p;
  RETURN p.version;
END $$;
COMMENT ON FUNCTION alter_profile(text, text, text, int, int, int, bigint, text, text, text, int) IS
  'adds a version to a profile and gives its number; jobs sign all rows anew at their next refresh';
-- Jobs: a maintained table of duplicates -----------------------------------------------------------------------------
-- A job is the one row of a table of type neardup_job, <name>_job. Beside it, all of them its owner's:
--   <name>             the result, a row for each row of the source
--   <name>_signatures  what each row was when it was last signed
--   <name>_changes     what has become of clusters
-- Nothing here runs with other rights than the caller's.

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
  finished timestamptz, pid int, last_error text);
COMMENT ON TYPE neardup_job IS 'a job that keeps a table of duplicates: the row of a table that create_duplicates() makes';

CREATE FUNCTION neardup_content_hash(doc text) RETURNS uuid
  AS 'MODULE_PATHNAME', 'content_hash_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_content_hash(text) IS 'XXH3, 128 bits, of the text in UTF-8: equal texts have equal hashes; not against attackers';
CREATE FUNCTION neardup_content_hash(doc bytea) RETURNS uuid
  AS 'MODULE_PATHNAME', 'content_hash_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_content_hash(bytea) IS 'XXH3, 128 bits, of the bytes';

CREATE FUNCTION neardup_expression_type(source regclass, expression text) RETURNS regtype
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_expression_type(regclass, text) IS
  'private: type of an expression over one table; an error for subqueries, aggregates and volatile functions';
CREATE FUNCTION neardup_search_threshold(signature minhash, threshold float8) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_search_threshold(minhash, float8) IS
  'least similarity of signatures by which 999 of 1000 pairs of documents of Jaccard similarity >= threshold are found';

CREATE FUNCTION neardup_raise(state text, message text, detail text, hint text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF detail <> '' AND hint <> '' THEN
    RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message, DETAIL = detail, HINT = hint;
  ELSIF detail <> '' THEN
    RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message, DETAIL = detail;
  ELSIF hint <> '' THEN
    RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message, HINT = hint;
  END IF;
  RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message;
END $$;
COMMENT ON FUNCTION neardup_raise(text, text, text, text) IS 'private: an error, without the fields that are empty';

CREATE FUNCTION neardup_lock_job(job regclass) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_lock_job(regclass) IS 'private: keeps refreshes away until the transaction ends; an error while one runs';

-- Names --------------------------------------------------------------------------------------------------------------

-- schema and name, quoted where they must be, of what belongs to a job: suffix '', '_signatures', '_changes', '_job'.
CREATE FUNCTION neardup_job_part(job regclass, suffix text) RETURNS text LANGUAGE sql STABLE STRICT AS $$
  SELECT quote_ident(n.nspname) || '.' || quote_ident(left(c.relname, -4) || suffix)
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = job::oid
  $$;
COMMENT ON FUNCTION neardup_job_part(regclass, text) IS 'private: qualified name of one of a job''s tables';

CREATE FUNCTION neardup_drop(kind text, VARIADIC names text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  t text;
BEGIN
  FOREACH t IN ARRAY names LOOP
    IF to_regclass(t) IS NOT NULL THEN EXECUTE pg_catalog.format('DROP %s %s', kind, t); END IF;
  END LOOP;
END $$;
COMMENT ON FUNCTION neardup_drop(text, text[]) IS 'private: drops those that there are';

CREATE FUNCTION neardup_job_table(name text) RETURNS regclass LANGUAGE plpgsql STABLE AS $$
DECLARE
  at text[] := pg_catalog.parse_ident(name);
  t regclass;
BEGIN
  at[pg_catalog.array_length(at, 1)] := at[pg_catalog.array_length(at, 1)] || '_job';
  t := to_regclass((SELECT string_agg(quote_ident(x), '.' ORDER BY n) FROM unnest(at) WITH ORDINALITY u(x, n)));
  IF t IS NULL OR (SELECT c.reloftype FROM pg_class c WHERE c.oid = t::oid AND c.relkind = 'r') IS DISTINCT FROM '@extschema@.neardup_job'::regtype::oid THEN
    RAISE EXCEPTION 'there is no table of duplicates "%"', name USING ERRCODE = 'undefined_table',
      HINT = 'SELECT job FROM @extschema@.duplicates_status lists them; create_duplicates() makes one.';
  END IF;
  RETURN t;
END $$;
COMMENT ON FUNCTION neardup_job_table(text) IS 'private: the table of a job';

CREATE FUNCTION neardup_job_row(job regclass) RETURNS neardup_job LANGUAGE plpgsql STABLE AS $$
DECLARE
  j @extschema@.neardup_job;
BEGIN
  EXECUTE pg_catalog.format('SELECT * FROM %s', job) INTO j;
  RETURN j;
END $$;
COMMENT ON FUNCTION neardup_job_row(regclass) IS 'private: the row of a job';

-- The source ---------------------------------------------------------------------------------------------------------

-- Type of a column that a job names.
CREATE FUNCTION neardup_job_column(source regclass, col name, what text) RETURNS regtype LANGUAGE plpgsql STABLE AS $$
DECLARE
  t regtype;
BEGIN
  SELECT a.atttypid INTO t FROM pg_attribute a WHERE a.attrelid = source AND a.attname = col AND a.attnum > 0 AND NOT a.attisdropped;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'column "%" of % does not exist: %', col, source, what USING ERRCODE = 'undefined_column',
      DETAIL = pg_catalog.format('%s has the columns %s.', source, (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
               FROM pg_attribute a WHERE a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped)),
      HINT = pg_catalog.format('If it was renamed: SELECT alter_duplicates(.., %s => ''new_name'').', what);
  END IF;
  SELECT COALESCE(NULLIF(y.typbasetype, 0), y.oid) INTO t FROM pg_type y WHERE y.oid = t::oid;
  RETURN t;
END $$;
COMMENT ON FUNCTION neardup_job_column(regclass, name, text) IS 'private: type of a column that a job names';

-- minhash, simhash or ctph
CREATE FUNCTION neardup_job_kind(j neardup_job) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  t regtype;
BEGIN
  IF j.body IS NOT NULL THEN RETURN (@extschema@.neardup_profile_named(j.profile)).signature; END IF;
  t := @extschema@.neardup_job_column(j.source, j.signature, 'signature');
  IF t IN ('@extschema@.minhash'::regtype, '@extschema@.simhash'::regtype, '@extschema@.ctph'::regtype) THEN
    RETURN (SELECT y.typname FROM pg_type y WHERE y.oid = t::oid);
  END IF;
  RAISE EXCEPTION 'column "%" is %, not a signature', j.signature, t USING ERRCODE = 'datatype_mismatch',
    HINT = 'A column of documents is given as body => .., one of minhash, simhash or ctph as signature => ...';
END $$;
COMMENT ON FUNCTION neardup_job_kind(neardup_job) IS 'private: type of a job''s signatures';

-- The expression that says which row of a cluster is kept.
CREATE FUNCTION neardup_job_key(j neardup_job) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE j.keep
    WHEN 'longest' THEN pg_catalog.format('octet_length(%I)', j.body)
    WHEN 'best' THEN pg_catalog.format('@extschema@.neardup_text_score(%s)',
                            @extschema@.neardup_document_sql(@extschema@.neardup_profile_named(j.profile), j.body_type, quote_ident(j.body)))
    ELSE COALESCE('(' || j.order_by || ')', quote_ident(j.at), quote_ident(j.id)) END
  $$;
COMMENT ON FUNCTION neardup_job_key(neardup_job) IS 'private: what the rows of a cluster are kept by';

CREATE FUNCTION neardup_key_type(j neardup_job) RETURNS regtype LANGUAGE sql STABLE AS $$
  SELECT CASE j.keep WHEN 'longest' THEN 'int'::regtype WHEN 'best' THEN 'float8'::regtype
         ELSE @extschema@.neardup_expression_type(j.source, @extschema@.neardup_job_key(j)) END
  $$;
COMMENT ON FUNCTION neardup_key_type(neardup_job) IS 'private: its type';

-- Rows that a job looks at: id, origin, place and version, which tell that a row has changed where the source is a table,
-- key (what it is kept by), within_1 .., at, body (the document, or the signature itself).
CREATE FUNCTION neardup_job_rows(j neardup_job) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  stored boolean;
  within text := '';
  body_type regtype;
BEGIN
  SELECT c.relkind IN ('r', 'p', 'm') INTO stored FROM pg_class c WHERE c.oid = j.source::oid;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the source of the job has been dropped' USING ERRCODE = 'undefined_table',
      HINT = 'drop_duplicates() drops the job.';
  END IF;
  PERFORM @extschema@.neardup_job_column(j.source, j.id, 'id');
  IF j.body IS NOT NULL THEN
    body_type := @extschema@.neardup_job_column(j.source, j.body, 'body');
    IF body_type NOT IN ('text'::regtype, 'varchar'::regtype, 'bytea'::regtype) THEN
      RAISE EXCEPTION 'body column "%" is %, not text or bytea', j.body, body_type USING ERRCODE = 'datatype_mismatch';
    END IF;
  END IF;
  FOR i IN 1 .. COALESCE(pg_catalog.array_length(j.within, 1), 0) LOOP
    PERFORM @extschema@.neardup_job_column(j.source, j.within[i], 'within');
    within := within || pg_catalog.format(', %I AS within_%s', j.within[i], i);
  END LOOP;
  IF j.at IS NOT NULL THEN PERFORM @extschema@.neardup_job_column(j.source, j.at, 'at'); END IF;
  RETURN pg_catalog.format('SELECT %I AS id, %s, %s AS key%s%s, %I AS body FROM %s WHERE true%s%s',
    j.id, CASE WHEN stored THEN 'tableoid AS origin, ctid AS place, xmin AS version'
               ELSE 'NULL::oid AS origin, NULL::tid AS place, NULL::xid AS version' END,
    @extschema@.neardup_job_key(j), within, CASE WHEN j.at IS NOT NULL THEN pg_catalog.format(', %I AS at', j.at) END, COALESCE(j.body, j.signature), j.source,
    COALESCE(' AND (' || j.filter || ')', ''), COALESCE(' AND (' || j.deleted || ') IS NOT TRUE', ''));
END $$;
COMMENT ON FUNCTION neardup_job_rows(neardup_job) IS 'private: the query of the rows that a job looks at';

CREATE FUNCTION neardup_job_hash(j neardup_job, kind text, value text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN j.body IS NOT NULL THEN pg_catalog.format('@extschema@.neardup_content_hash(%s)', value)
         ELSE pg_catalog.format('@extschema@.neardup_content_hash(@extschema@.%s_send(%s))', kind, value) END
  $$;
COMMENT ON FUNCTION neardup_job_hash(neardup_job, text, text) IS 'private: what tells one content from another';

-- True where a.x differs from b.x for one of a job's columns beside the content.
CREATE FUNCTION neardup_job_differs(j neardup_job, a text, b text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT '(' || string_agg(pg_catalog.format('%s.%s IS DISTINCT FROM %s.%s', a, c, b, c), ' OR ') || ')'
  FROM (SELECT 'key' AS c UNION ALL SELECT 'within_' || i FROM generate_series(1, pg_catalog.array_length(j.within, 1)) i
        UNION ALL SELECT 'at' WHERE j.at IS NOT NULL) x
  $$;
COMMENT ON FUNCTION neardup_job_differs(neardup_job, text, text) IS 'private: condition that two versions of a row differ';

-- Making, changing, dropping -----------------------------------------------------------------------------------------

CREATE FUNCTION neardup_check_job(j neardup_job) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  t regtype;
  kind text;
BEGIN
  IF num_nonnulls(j.body, j.signature) <> 1 THEN
    RAISE EXCEPTION 'exactly one of body and signature must be given' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF (SELECT c.relkind FROM pg_class c WHERE c.oid = j.source::oid) NOT IN ('r', 'p', 'v', 'm', 'f') THEN
    RAISE EXCEPTION '% is no table or view', j.source USING ERRCODE = 'wrong_object_type';
  END IF;
  IF j.threshold IS NULL OR NOT (j.threshold > 0 AND j.threshold <= 1) THEN
    PERFORM @extschema@.neardup_raise('22023', pg_catalog.format('threshold must be above 0 and at most 1: %s', COALESCE(j.threshold::text, 'NULL')), '',
      CASE WHEN j.threshold > 1 AND j.threshold <= 100 THEN pg_catalog.format('For %s %%, write %s.', j.threshold, j.threshold / 100) ELSE '' END);
  END IF;
  IF j.linkage IS NULL OR j.linkage NOT IN ('anchor', 'connected') THEN
    RAISE EXCEPTION 'linkage must be ''anchor'' or ''connected'': %', COALESCE(quote_literal(j.linkage), 'NULL')
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.keep IS NULL OR j.keep NOT IN ('oldest', 'longest', 'best') THEN
    RAISE EXCEPTION 'keep must be ''oldest'', ''longest'' or ''best'': %', COALESCE(quote_literal(j.keep), 'NULL')
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.keep <> 'oldest' AND j.order_by IS NOT NULL THEN
    RAISE EXCEPTION 'order_by is for keep => ''oldest'', not ''%''', j.keep USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.keep <> 'oldest' AND j.body IS NULL THEN
    RAISE EXCEPTION 'keep => ''%'' needs body: signatures do not tell it', j.keep USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.verify IS NOT NULL AND j.verify NOT IN ('jaccard', 'edit_rate') THEN
    RAISE EXCEPTION 'verify must be ''jaccard'' or ''edit_rate'': %', quote_literal(j.verify) USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.verify IS NOT NULL AND j.body IS NULL THEN
    RAISE EXCEPTION 'verify needs body: documents are compared' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.verify IS NULL AND j.verify_threshold IS NOT NULL THEN
    RAISE EXCEPTION 'verify_threshold is given without verify' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF (j.at IS NULL) <> (j.at_most_apart IS NULL) THEN
    RAISE EXCEPTION 'at and at_most_apart must be given together' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  kind := @extschema@.neardup_job_kind(j);
  IF j.verify IS NOT NULL AND j.verify_threshold IS NULL AND (kind, j.verify) NOT IN (('minhash', 'jaccard'), ('ctph', 'edit_rate')) THEN
    RAISE EXCEPTION 'verify => ''%'' over % signatures needs verify_threshold', j.verify, kind USING ERRCODE = 'invalid_parameter_value',
      DETAIL = 'Nothing is known about how far one follows the other: threshold is for the signatures, verify_threshold for the documents.';
  END IF;
  t := @extschema@.neardup_job_column(j.source, j.id, 'id');
  IF NOT EXISTS (SELECT FROM pg_opclass o JOIN pg_am m ON m.oid = o.opcmethod AND m.amname = 'btree'
                 WHERE o.opcdefault AND (o.opcintype = t OR t IN (SELECT c.castsource FROM pg_cast c
                       WHERE c.casttarget = o.opcintype AND c.castmethod = 'b' AND c.castcontext = 'i')
                   OR (o.opcintype = 'anyenum'::regtype::oid AND (SELECT typtype FROM pg_type WHERE oid = t::oid) = 'e')
                   OR (o.opcintype = 'anyarray'::regtype::oid AND (SELECT typcategory FROM pg_type WHERE oid = t::oid) = 'A'))) THEN
    RAISE EXCEPTION 'id column "%" is %, which has no order', j.id, t USING ERRCODE = 'datatype_mismatch';
  END IF;
  IF j.order_by IS NOT NULL THEN PERFORM @extschema@.neardup_expression_type(j.source, j.order_by); END IF;
  IF j.filter IS NOT NULL THEN PERFORM @extschema@.neardup_check_condition(j.source, j.filter, 'filter'); END IF;
  IF j.deleted IS NOT NULL THEN PERFORM @extschema@.neardup_check_condition(j.source, j.deleted, 'deleted'); END IF;
  IF j.at IS NOT NULL AND @extschema@.neardup_job_column(j.source, j.at, 'at') NOT IN ('timestamptz', 'timestamp', 'date') THEN
    RAISE EXCEPTION 'column "%" is no timestamp or date: at', j.at USING ERRCODE = 'datatype_mismatch';
  END IF;
  PERFORM @extschema@.neardup_job_rows(j);
END $$;
COMMENT ON FUNCTION neardup_check_job(neardup_job) IS 'private: raises an error for a job that cannot be';

CREATE FUNCTION neardup_check_condition(source regclass, condition text, what text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  t regtype := @extschema@.neardup_expression_type(source, condition);
BEGIN
  IF t::oid <> 'boolean'::regtype::oid THEN
    RAISE EXCEPTION '% must be a condition: "%" is %', what, condition, t USING ERRCODE = 'datatype_mismatch';
  END IF;
END $$;
COMMENT ON FUNCTION neardup_check_condition(regclass, text, text) IS 'private: raises an error for what is no condition over one table';

CREATE FUNCTION create_duplicates(name text, source regclass, id name, body name = NULL, signature name = NULL,
    threshold float8 = 0.8, profile text = 'default', linkage text = 'anchor', verify text = NULL,
    verify_threshold float8 = NULL, keep text = 'oldest', order_by text = NULL, within name[] = '{}', at name = NULL,
    at_most_apart interval = NULL, filter text = NULL, deleted text = NULL) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
  j @extschema@.neardup_job;
  named text[] := pg_catalog.parse_ident(name);
  base text := named[pg_catalog.array_length(named, 1)];
  schema text := COALESCE(CASE WHEN pg_catalog.array_length(named, 1) = 2 THEN named[1] END, current_schema());
  job regclass;
BEGIN
  IF pg_catalog.array_length(named, 1) > 2 THEN
    RAISE EXCEPTION 'the name of a table of duplicates is a name or schema.name: %', name USING ERRCODE = 'invalid_name';
  END IF;
  IF octet_length(base) > 52 THEN
    RAISE EXCEPTION 'the name of a table of duplicates has at most 52 bytes: % has %', base, octet_length(base)
      USING ERRCODE = 'name_too_long', DETAIL = pg_catalog.format('%s_signatures must be a name, too.', base);
  END IF;
  IF schema IS NULL THEN
    RAISE EXCEPTION 'no schema has been selected to create in' USING ERRCODE = 'invalid_schema_name';
  END IF;
  j.source := source; j.id := id; j.body := body; j.signature := signature; j.threshold := threshold;
  j.profile := CASE WHEN body IS NOT NULL THEN profile END; j.linkage := linkage;
  j.verify := verify; j.verify_threshold := verify_threshold; j.keep := keep; j.order_by := order_by;
  j.within := COALESCE(within, '{}'); j.at := at; j.at_most_apart := at_most_apart; j.filter := filter; j.deleted := deleted;
  j.resync := false; j.recluster := true; j.refresh := 0; j.clustered := 0; j.next_cluster := 1;
  j.paused := false; j.phase := 'new';
  IF body IS NOT NULL THEN
    j.profile_version := (@extschema@.neardup_profile_named(profile)).version;
    j.body_type := @extschema@.neardup_job_column(source, body, 'body');
  END IF;
  PERFORM @extschema@.neardup_check_job(j);
  IF j.within && ARRAY['id', 'cluster', 'representative', 'similarity', 'survivor', 'found_at']::name[] THEN
    RAISE EXCEPTION 'within columns are columns of the result: none can be called id, cluster, representative, similarity, survivor or found_at'
      USING ERRCODE = 'duplicate_column';
  END IF;
  EXECUTE pg_catalog.format('CREATE TABLE %I.%I OF @extschema@.neardup_job', schema, base || '_job');
  job := pg_catalog.format('%I.%I', schema, base || '_job')::regclass;
  EXECUTE pg_catalog.format('INSERT INTO %s SELECT ($1).*', job) USING j;
  EXECUTE pg_catalog.format('CREATE TABLE %s AS SELECT id, NULL::bigint AS cluster, id AS representative, NULL::float8 AS similarity,
                  NULL::boolean AS survivor, NULL::timestamptz AS found_at%s FROM (%s) l WITH NO DATA', @extschema@.neardup_job_part(job, ''),
                 (SELECT string_agg(pg_catalog.format(', within_%s AS %I', i, j.within[i]), '' ORDER BY i) FROM generate_series(1, pg_catalog.array_length(j.within, 1)) i),
                 @extschema@.neardup_job_rows(j));
  EXECUTE pg_catalog.format('ALTER TABLE %s ADD PRIMARY KEY (id), ALTER cluster SET NOT NULL, ALTER representative SET NOT NULL,
                  ALTER survivor SET NOT NULL, ALTER found_at SET NOT NULL', @extschema@.neardup_job_part(job, ''));
  EXECUTE pg_catalog.format('CREATE INDEX ON %s (cluster)', @extschema@.neardup_job_part(job, ''));
  EXECUTE pg_catalog.format('COMMENT ON TABLE %s IS %L', @extschema@.neardup_job_part(job, ''),
                 pg_catalog.format('near duplicates among the rows of %s, kept by refresh_duplicates(%L)', source, name));
  EXECUTE pg_catalog.format('CREATE TABLE %s (refresh bigint NOT NULL, at timestamptz NOT NULL DEFAULT now(), change text NOT NULL,
                  cluster bigint NOT NULL, other bigint)', @extschema@.neardup_job_part(job, '_changes'));
  PERFORM @extschema@.neardup_make_signatures(job, j);
  RETURN @extschema@.neardup_job_part(job, '')::regclass;
END $$;
COMMENT ON FUNCTION create_duplicates(text, regclass, name, name, name, float8, text, text, text, float8, text, text, name[], name, interval, text, text) IS
  'makes a table of duplicates among the rows of a table or view, empty until refresh_duplicates() fills it';

CREATE FUNCTION neardup_make_signatures(job regclass, j neardup_job) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
BEGIN
  EXECUTE pg_catalog.format('CREATE TABLE %s AS SELECT id, NULL::@extschema@.%I AS signature, NULL::@extschema@.%I AS old_signature,
                    NULL::uuid AS content, origin, place, version, key%s%s, 0::bigint AS generation, false AS gone
                  FROM (%s) l WITH NO DATA',
    signatures, @extschema@.neardup_job_kind(j), @extschema@.neardup_job_kind(j),
    (SELECT string_agg(pg_catalog.format(', within_%s', i), '' ORDER BY i) FROM generate_series(1, pg_catalog.array_length(j.within, 1)) i),
    CASE WHEN j.at IS NOT NULL THEN ', at' END, @extschema@.neardup_job_rows(j));
  EXECUTE pg_catalog.format('ALTER TABLE %s ADD PRIMARY KEY (id)', signatures);
  EXECUTE pg_catalog.format('CREATE INDEX ON %s (generation)', signatures);
END $$;
COMMENT ON FUNCTION neardup_make_signatures(regclass, neardup_job) IS 'private: the table of what a job knows of each row';

CREATE FUNCTION alter_duplicates(name text, threshold float8 = NULL, profile text = NULL, linkage text = NULL, verify text = NULL,
    verify_threshold float8 = NULL, keep text = NULL, order_by text = NULL, at_most_apart interval = NULL, filter text = NULL,
    deleted text = NULL, id name = NULL, body name = NULL, signature name = NULL, at name = NULL) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  job regclass := @extschema@.neardup_job_table(name);
  old @extschema@.neardup_job;
  j @extschema@.neardup_job;
  kind text;
  key_type regtype;
BEGIN
  PERFORM @extschema@.neardup_lock_job(job);
  old := @extschema@.neardup_job_row(job);
  SELECT max(a.atttypid) FILTER (WHERE a.attname = 'key'),
         (SELECT y.typname FROM pg_type y WHERE y.oid = max(a.atttypid) FILTER (WHERE a.attname = 'signature'))
    INTO key_type, kind FROM pg_attribute a
    WHERE a.attrelid = @extschema@.neardup_job_part(job, '_signatures')::regclass AND a.attnum > 0;
  j := old;
  j.threshold := COALESCE(threshold, j.threshold); j.profile := COALESCE(profile, j.profile); j.linkage := COALESCE(linkage, j.linkage);
  j.verify := NULLIF(COALESCE(verify, j.verify), '');
  j.verify_threshold := CASE WHEN j.verify IS NOT NULL THEN COALESCE(verify_threshold, j.verify_threshold) ELSE verify_threshold END;
  j.keep := COALESCE(keep, j.keep);
  j.order_by := NULLIF(COALESCE(order_by, CASE WHEN j.keep = 'oldest' THEN j.order_by END), '');
  j.at_most_apart := COALESCE(at_most_apart, j.at_most_apart); j.filter := NULLIF(COALESCE(filter, j.filter), '');
  j.deleted := NULLIF(COALESCE(deleted, j.deleted), ''); j.id := COALESCE(id, j.id); j.at := COALESCE(at, j.at);
  j.body := COALESCE(body, j.body); j.signature := COALESCE(signature, j.signature);
  IF (j.at IS NULL) <> (old.at IS NULL) THEN
    RAISE EXCEPTION 'at can be given another column, but not be added: drop the job and create it anew' USING ERRCODE = 'feature_not_supported';
  END IF;
  IF j.body IS NOT NULL THEN
    j.profile_version := (@extschema@.neardup_profile_named(j.profile)).version;
    j.body_type := @extschema@.neardup_job_column(j.source, j.body, 'body');
  END IF;
  PERFORM @extschema@.neardup_check_job(j);
  j.recluster := true;
  j.resync := true;
  EXECUTE pg_catalog.format('DELETE FROM %s', job);
  EXECUTE pg_catalog.format('INSERT INTO %s SELECT ($1).*', job) USING j;
  -- signatures of two kinds cannot be compared, nor keys of two types
  IF (j.profile, j.profile_version, j.body_type, @extschema@.neardup_job_kind(j), @extschema@.neardup_key_type(j))
     IS DISTINCT FROM (old.profile, old.profile_version, old.body_type, kind, key_type) THEN
    EXECUTE pg_catalog.format('DROP TABLE %s', @extschema@.neardup_job_part(job, '_signatures'));
    PERFORM @extschema@.neardup_make_signatures(job, j);
  ELSE
    PERFORM @extschema@.neardup_drop('INDEX', @extschema@.neardup_job_part(job, '_signatures_lsh'));
  END IF;
END $$;
COMMENT ON FUNCTION alter_duplicates(text, float8, text, text, text, float8, text, text, interval, text, text, name, name, name, name) IS
  'changes what is given; '''' takes verify, order_by, filter or deleted away. The next refresh clusters all rows';

CREATE FUNCTION drop_duplicates(name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  job regclass := @extschema@.neardup_job_table(name);
BEGIN
  PERFORM @extschema@.neardup_lock_job(job);
  EXECUTE pg_catalog.format('DROP TABLE %s, %s, %s, %s', @extschema@.neardup_job_part(job, ''), @extschema@.neardup_job_part(job, '_signatures'),
                 @extschema@.neardup_job_part(job, '_changes'), job);
END $$;
COMMENT ON FUNCTION drop_duplicates(text) IS 'drops a table of duplicates with its job, signatures and history';

CREATE FUNCTION pause_duplicates(name text, paused boolean = true) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE pg_catalog.format('UPDATE %s SET paused = $1', @extschema@.neardup_job_table(name)) USING paused;
END $$;
COMMENT ON FUNCTION pause_duplicates(text, boolean) IS
  'a paused job is not refreshed, and a refresh that runs stops after its batch; paused => false goes on';

CREATE FUNCTION rename_duplicates(old text, new text) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
  job regclass := @extschema@.neardup_job_table(old);
  base text := (pg_catalog.parse_ident(new))[1];
  part text;
BEGIN
  IF pg_catalog.array_length(pg_catalog.parse_ident(new), 1) > 1 THEN
    RAISE EXCEPTION 'the new name has no schema: %', new USING ERRCODE = 'invalid_name', HINT = 'ALTER TABLE .. SET SCHEMA moves a table.';
  END IF;
  IF octet_length(base) > 52 THEN
    RAISE EXCEPTION 'the name of a table of duplicates has at most 52 bytes: % has %', base, octet_length(base) USING ERRCODE = 'name_too_long';
  END IF;
  PERFORM @extschema@.neardup_lock_job(job);
  IF to_regclass(@extschema@.neardup_job_part(job, '_signatures_lsh')) IS NOT NULL THEN
    EXECUTE pg_catalog.format('ALTER INDEX %s RENAME TO %I', @extschema@.neardup_job_part(job, '_signatures_lsh'), base || '_signatures_lsh');
  END IF;
  FOREACH part IN ARRAY ARRAY['', '_signatures', '_changes', '_job'] LOOP
    EXECUTE pg_catalog.format('ALTER TABLE %s RENAME TO %I', @extschema@.neardup_job_part(job, part), base || part);
  END LOOP;
  RETURN @extschema@.neardup_job_part(job, '')::regclass;
END $$;
COMMENT ON FUNCTION rename_duplicates(text, text) IS 'renames a table of duplicates and all that belongs to it';
-- Refreshing a table of duplicates -----------------------------------------------------------------------------------
-- listing: which rows are new, changed or gone; signing: batch by batch; indexing: where there is no index yet;
-- clustering: those clusters that changed rows can touch, or all of them. Each step is one transaction, and whatever was
-- committed stays: a refresh that ends early is gone on with by the next.

CREATE FUNCTION neardup_job_temp(job regclass, what text) RETURNS text LANGUAGE sql STABLE STRICT AS $$
  SELECT pg_catalog.format('pg_temp.neardup_%s_%s', what, job::oid)
  $$;
COMMENT ON FUNCTION neardup_job_temp(regclass, text) IS 'private: a temporary table of a refresh';

CREATE FUNCTION neardup_refresh_list(job regclass, j neardup_job) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  todo text := @extschema@.neardup_job_temp(job, 'todo');
  rows text := @extschema@.neardup_job_rows(j);
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  changed text;
  n bigint;
BEGIN
  IF j.resync THEN
    changed := 'true';
  ELSIF (SELECT c.relkind IN ('r', 'p', 'm') FROM pg_class c WHERE c.oid = j.source::oid) THEN
    changed := 'g.origin IS DISTINCT FROM l.origin OR g.place IS DISTINCT FROM l.place OR g.version IS DISTINCT FROM l.version';
  ELSE
    changed := pg_catalog.format('g.content IS DISTINCT FROM %s OR %s', @extschema@.neardup_job_hash(j, @extschema@.neardup_job_kind(j), 'l.body'),
                      @extschema@.neardup_job_differs(j, 'g', 'l'));
  END IF;
  PERFORM @extschema@.neardup_drop('TABLE', todo);
  EXECUTE pg_catalog.format(
    'CREATE TEMP TABLE %s AS SELECT row_number() OVER () AS n, t.* FROM (
       SELECT l.id, false AS gone FROM (%s) l LEFT JOIN %s g ON g.id = l.id WHERE g.id IS NULL OR g.gone OR %s
       UNION ALL
       SELECT g.id, true FROM %s g WHERE NOT g.gone AND NOT EXISTS (SELECT FROM (%s) l WHERE l.id = g.id)) t',
    split_part(todo, '.', 2), rows, signatures, changed, signatures, rows);
  GET DIAGNOSTICS n = ROW_COUNT;
  EXECUTE pg_catalog.format('CREATE INDEX ON %s (n)', todo);
  EXECUTE pg_catalog.format('ANALYZE %s', todo);
  RETURN n;
END $$;
COMMENT ON FUNCTION neardup_refresh_list(regclass, neardup_job) IS 'private: lists the rows to be signed, and how many they are';

CREATE FUNCTION neardup_refresh_sign(job regclass, j neardup_job, after bigint, upto bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  todo text := @extschema@.neardup_job_temp(job, 'todo');
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  kind text := @extschema@.neardup_job_kind(j);
  more text[] := ARRAY['key'] || COALESCE((SELECT array_agg('within_' || i ORDER BY i) FROM generate_series(1, pg_catalog.array_length(j.within, 1)) i), '{}')
                 || CASE WHEN j.at IS NOT NULL THEN ARRAY['at'] ELSE '{}' END;
  sign text := CASE WHEN j.body IS NULL THEN 'b.body'
                    ELSE @extschema@.neardup_sign_sql(@extschema@.neardup_profile_named(j.profile), j.body_type, 'b.body') END;
BEGIN
  EXECUTE pg_catalog.format(
    'INSERT INTO %1$s AS g (id, signature, old_signature, content, origin, place, version, generation, gone, %2$s)
     SELECT b.id, CASE WHEN b.same THEN b.signature ELSE %3$s END,
            CASE WHEN b.clustered AND b.changed THEN b.signature ELSE b.old_signature END,
            b.content, b.origin, b.place, b.version, CASE WHEN b.changed THEN $3 ELSE b.generation END, false, %4$s
     FROM (SELECT l.*, o.signature, o.old_signature, COALESCE(o.generation, 0) AS generation,
                  o.id IS NOT NULL AND o.generation <= $4 AS clustered,
                  o.id IS NOT NULL AND o.content IS NOT DISTINCT FROM l.content AS same,
                  o.id IS NULL OR o.gone OR o.content IS DISTINCT FROM l.content OR %5$s AS changed
           FROM (SELECT l.*, %6$s AS content FROM %7$s t JOIN (%8$s) l ON l.id = t.id
                 WHERE t.n > $1 AND t.n <= $2 AND NOT t.gone OFFSET 0) l
           LEFT JOIN %1$s o ON o.id = l.id OFFSET 0) b
     ON CONFLICT (id) DO UPDATE SET signature = EXCLUDED.signature, old_signature = EXCLUDED.old_signature,
       content = EXCLUDED.content, origin = EXCLUDED.origin, place = EXCLUDED.place, version = EXCLUDED.version,
       generation = EXCLUDED.generation, gone = false, %9$s',
    signatures, array_to_string(more, ', '), sign, (SELECT string_agg('b.' || c, ', ' ORDER BY i) FROM unnest(more) WITH ORDINALITY u(c, i)),
    @extschema@.neardup_job_differs(j, 'o', 'l'), @extschema@.neardup_job_hash(j, kind, 'l.body'), todo, @extschema@.neardup_job_rows(j),
    (SELECT string_agg(pg_catalog.format('%s = EXCLUDED.%s', c, c), ', ') FROM unnest(more) c))
    USING after, upto, j.refresh, j.clustered;
  EXECUTE pg_catalog.format(
    'UPDATE %s g SET gone = true, old_signature = CASE WHEN g.generation <= $4 THEN g.signature ELSE g.old_signature END, generation = $3
     FROM %s t WHERE t.n > $1 AND t.n <= $2 AND t.gone AND g.id = t.id AND NOT g.gone', signatures, todo)
    USING after, upto, j.refresh, j.clustered;
END $$;
COMMENT ON FUNCTION neardup_refresh_sign(regclass, neardup_job, bigint, bigint) IS 'private: signs the rows of one batch, and marks those that have gone';

-- Least similarity of signatures for rows that may be similar.
CREATE FUNCTION neardup_refresh_threshold(job regclass, j neardup_job) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  t float8;
BEGIN
  IF j.verify IS NULL OR j.verify_threshold IS NOT NULL THEN RETURN j.threshold; END IF;
  IF j.verify = 'edit_rate' THEN RETURN greatest(1 - 3 * (1 - j.threshold), 0.01); END IF;
  EXECUTE pg_catalog.format('SELECT @extschema@.neardup_search_threshold(signature, $1) FROM %s WHERE signature IS NOT NULL LIMIT 1',
                 @extschema@.neardup_job_part(job, '_signatures')) INTO t USING j.threshold;
  RETURN t;
END $$;
COMMENT ON FUNCTION neardup_refresh_threshold(regclass, neardup_job) IS 'private: least similarity of signatures of similar rows';

-- The condition that two signatures are near, which an index serves; NULL where none would.
CREATE FUNCTION neardup_refresh_near(kind text, threshold float8, a text, b text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN kind = 'minhash' AND threshold >= 0.5 THEN pg_catalog.format('@extschema@.jaccard(%s, %s) >= %L::float8', a, b, threshold)
    WHEN kind = 'simhash' AND threshold >= 1 - 10 / 64.0::float8 THEN
      pg_catalog.format('@extschema@.hamming(%s, %s) <= %s', a, b, (SELECT max(d) FROM generate_series(0, 10) d WHERE 1 - d / 64.0::float8 >= threshold))
    WHEN kind = 'ctph' AND threshold >= 0.85 THEN
      pg_catalog.format('@extschema@.ctph_edit_rate(%s, %s) <= %L::float8', a, b, least(1 - threshold + 1e-9, 0.15)) END
  $$;
COMMENT ON FUNCTION neardup_refresh_near(text, float8, text, text) IS 'private: the condition that two signatures are near';

CREATE FUNCTION neardup_refresh_index(job regclass, j neardup_job) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  kind text := @extschema@.neardup_job_kind(j);
BEGIN
  IF to_regclass(@extschema@.neardup_job_part(job, '_signatures_lsh')) IS NULL AND
     @extschema@.neardup_refresh_near(kind, j.search_threshold, 'a', 'b') IS NOT NULL THEN
    EXECUTE pg_catalog.format('CREATE INDEX %I ON %s USING lsh (signature%s)%s',
      (pg_catalog.parse_ident(@extschema@.neardup_job_part(job, '_signatures_lsh')))[2], signatures,
      CASE WHEN kind = 'ctph' THEN pg_catalog.format(' @extschema@.ctph_ops (max_rate = %s)', least(1 - j.search_threshold + 1e-9, 0.15)::numeric(6, 5)) ELSE '' END,
      CASE WHEN kind = 'minhash' THEN pg_catalog.format(' WITH (threshold = %s)', j.search_threshold) ELSE '' END);
    EXECUTE pg_catalog.format('ANALYZE %s', signatures);
  END IF;
END $$;
COMMENT ON FUNCTION neardup_refresh_index(regclass, neardup_job) IS 'private: makes the index of a job''s signatures where there is none';

-- The rows whose cluster may have changed: all that chains of near rows lead to from rows that are new or changed, and
-- from what was near to what they were before. False, and no list, where they are so many that clustering all is quicker.
-- Chains do not heed within, at and verify: they may lead too far, which costs time, nothing else.
CREATE FUNCTION neardup_refresh_touched(job regclass, j neardup_job) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  touched text := @extschema@.neardup_job_temp(job, 'touched');
  near text := @extschema@.neardup_refresh_near(@extschema@.neardup_job_kind(j), j.search_threshold, 'g.signature', 'f.signature');
  rows bigint;
  n bigint;
  found bigint;
  level int := 0;
BEGIN
  IF j.recluster OR j.clustered = 0 OR near IS NULL THEN RETURN false; END IF;
  EXECUTE pg_catalog.format('SELECT count(*) FROM %s', signatures) INTO rows;
  EXECUTE pg_catalog.format('SELECT count(*) FROM %s WHERE generation > $1', signatures) INTO n USING j.clustered;
  IF n > rows / 20 + 10 THEN RETURN false; END IF;
  PERFORM @extschema@.neardup_drop('TABLE', touched);
  EXECUTE pg_catalog.format('CREATE TEMP TABLE %s AS SELECT id, 0 AS level FROM %s WHERE generation > $1 AND NOT gone', split_part(touched, '.', 2), signatures)
    USING j.clustered;
  EXECUTE pg_catalog.format('ALTER TABLE %s ADD PRIMARY KEY (id)', touched);
  EXECUTE pg_catalog.format(
    'INSERT INTO %s SELECT DISTINCT g.id, 0 FROM (SELECT DISTINCT old_signature AS signature FROM %s WHERE generation > $1 AND old_signature IS NOT NULL) f
       CROSS JOIN LATERAL (SELECT g.id FROM %s g WHERE NOT g.gone AND %s) g ON CONFLICT DO NOTHING', touched, signatures, signatures, near)
    USING j.clustered;
  LOOP
    EXECUTE pg_catalog.format('SELECT count(*), count(*) FILTER (WHERE level = $1) FROM %s', touched) INTO n, found USING level;
    IF n > rows / 10 + 10 THEN RETURN false; END IF;
    EXIT WHEN found = 0;
    EXECUTE pg_catalog.format('ANALYZE %s', touched);
    EXECUTE pg_catalog.format(
      'INSERT INTO %s SELECT DISTINCT g.id, $1 + 1 FROM (SELECT DISTINCT s.signature FROM %s t JOIN %s s ON s.id = t.id
         WHERE t.level = $1 AND s.signature IS NOT NULL) f
         CROSS JOIN LATERAL (SELECT g.id FROM %s g WHERE NOT g.gone AND %s) g ON CONFLICT DO NOTHING',
      touched, touched, signatures, signatures, near) USING level;
    level := level + 1;
  END LOOP;
  RETURN true;
END $$;
COMMENT ON FUNCTION neardup_refresh_touched(regclass, neardup_job) IS 'private: lists the rows whose cluster may have changed';

CREATE FUNCTION neardup_refresh_cluster(job regclass, j neardup_job) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  result text := @extschema@.neardup_job_part(job, '');
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  changes text := @extschema@.neardup_job_part(job, '_changes');
  touched text := @extschema@.neardup_job_temp(job, 'touched');
  fresh text := @extschema@.neardup_job_temp(job, 'fresh');
  ids text := @extschema@.neardup_job_temp(job, 'ids');
  heirs text := @extschema@.neardup_job_temp(job, 'heirs');
  part boolean := @extschema@.neardup_refresh_touched(job, j);
  within text := (SELECT string_agg('g.within_' || i, ', ' ORDER BY i) FROM generate_series(1, pg_catalog.array_length(j.within, 1)) i);
  id_type text;
  query text;
  looked_at bigint;
  n bigint;
BEGIN
  SELECT CASE WHEN a.atttypid IN ('smallint'::regtype, 'int'::regtype, 'bigint'::regtype) THEN 'bigint' ELSE format_type(a.atttypid, NULL) END
    INTO id_type FROM pg_attribute a WHERE a.attrelid = signatures::regclass AND a.attname = 'id';
  query := pg_catalog.format('SELECT g.id, g.signature%s%s%s FROM %s g%s WHERE NOT g.gone%s ORDER BY g.key %s NULLS LAST, g.id',
    CASE WHEN within IS NOT NULL THEN pg_catalog.format(', ROW(%s) AS within', within) END, CASE WHEN j.at IS NOT NULL THEN ', g.at AS at' END,
    CASE WHEN j.verify IS NOT NULL THEN
      pg_catalog.format(', %s AS doc', @extschema@.neardup_document_sql(@extschema@.neardup_profile_named(j.profile), j.body_type, 'l.' || quote_ident(j.body))) END,
    signatures, CASE WHEN j.verify IS NOT NULL THEN pg_catalog.format(' JOIN %s l ON l.%I = g.id', j.source, j.id) END,
    CASE WHEN part THEN pg_catalog.format(' AND g.id IN (SELECT t.id FROM %s t)', touched) END,
    CASE WHEN j.keep = 'oldest' THEN 'ASC' ELSE 'DESC' END);
  PERFORM @extschema@.neardup_drop('TABLE', fresh, ids, heirs);
  EXECUTE pg_catalog.format('CREATE TEMP TABLE %s AS SELECT c.id, COALESCE(c.cluster, c.n) AS c, COALESCE(c.representative, c.id) AS representative,
                    c.similarity, c.survivor, c.n
                  FROM @extschema@.all_clusters(NULL::%s, %L, %L::float8, %L, %L, %L::float8, %L::interval)
                       WITH ORDINALITY c(id, cluster, representative, similarity, cluster_size, survivor, n)',
    split_part(fresh, '.', 2), id_type, query, j.threshold, j.linkage, j.verify, j.verify_threshold, j.at_most_apart);
  GET DIAGNOSTICS looked_at = ROW_COUNT;
  EXECUTE pg_catalog.format('ANALYZE %s', fresh);
  -- Where an old cluster lives on: with its representative, or with the first of its rows that are left.
  EXECUTE pg_catalog.format('CREATE TEMP TABLE %s AS SELECT DISTINCT ON (r.cluster) r.cluster AS old, f.c FROM %s f JOIN %s r ON r.id = f.id
                  ORDER BY r.cluster, r.id = r.representative DESC, f.n', split_part(heirs, '.', 2), fresh, result);
  EXECUTE pg_catalog.format('CREATE TEMP TABLE %s AS SELECT c, COALESCE(old, $1 - 1 + row_number() OVER (PARTITION BY old IS NULL ORDER BY c)) AS id, old IS NULL AS new
                  FROM (SELECT f.c, min(h.old) AS old FROM (SELECT DISTINCT c FROM %s) f LEFT JOIN %s h ON h.c = f.c GROUP BY f.c) x',
                 split_part(ids, '.', 2), fresh, heirs) USING j.next_cluster;
  EXECUTE pg_catalog.format('ANALYZE %s', ids);
  EXECUTE pg_catalog.format('ANALYZE %s', heirs);
  EXECUTE pg_catalog.format(
    'INSERT INTO %s (refresh, change, cluster, other)
     SELECT $1, ''merged'', i.id, h.old FROM %s h JOIN %s i ON i.c = h.c WHERE i.id <> h.old
     UNION ALL
     SELECT DISTINCT $1, ''split'', i.id, r.cluster FROM %s f JOIN %s i ON i.c = f.c AND i.new JOIN %s r ON r.id = f.id
     UNION ALL
     SELECT DISTINCT $1, ''gone'', r.cluster, NULL::bigint FROM %s r WHERE %s AND NOT EXISTS (SELECT FROM %s h WHERE h.old = r.cluster)',
    changes, heirs, ids, fresh, ids, result, result,
    CASE WHEN part THEN pg_catalog.format('r.id IN (SELECT g.id FROM %s g WHERE g.gone)', signatures) ELSE 'true' END, heirs) USING j.refresh;
  EXECUTE pg_catalog.format('DELETE FROM %s r WHERE %s', result,
    CASE WHEN part THEN pg_catalog.format('r.id IN (SELECT g.id FROM %s g WHERE g.gone)', signatures)
         ELSE pg_catalog.format('NOT EXISTS (SELECT FROM %s f WHERE f.id = r.id)', fresh) END);
  EXECUTE pg_catalog.format(
    'INSERT INTO %1$s AS r (id, cluster, representative, similarity, survivor, found_at%2$s)
     SELECT f.id, i.id, f.representative, f.similarity, f.survivor, now()%3$s
     FROM %4$s f JOIN %5$s i ON i.c = f.c%6$s LEFT JOIN %1$s o ON o.id = f.id
     WHERE o.id IS NULL OR (o.cluster, o.survivor) <> (i.id, f.survivor) OR o.representative <> f.representative
           OR o.similarity IS DISTINCT FROM f.similarity%7$s
     ON CONFLICT (id) DO UPDATE SET cluster = EXCLUDED.cluster, representative = EXCLUDED.representative, similarity = EXCLUDED.similarity,
       survivor = EXCLUDED.survivor, found_at = CASE WHEN r.cluster = EXCLUDED.cluster THEN r.found_at ELSE EXCLUDED.found_at END%8$s',
    result, (SELECT string_agg(', ' || quote_ident(w), '' ORDER BY i) FROM unnest(j.within) WITH ORDINALITY u(w, i)), ', ' || within, fresh, ids,
    CASE WHEN within IS NOT NULL THEN pg_catalog.format(' JOIN %s g ON g.id = f.id', signatures) END,
    (SELECT string_agg(pg_catalog.format(' OR o.%I IS DISTINCT FROM g.within_%s', w, i), '' ORDER BY i) FROM unnest(j.within) WITH ORDINALITY u(w, i)),
    (SELECT string_agg(pg_catalog.format(', %I = EXCLUDED.%I', w, w), '' ORDER BY i) FROM unnest(j.within) WITH ORDINALITY u(w, i)));
  EXECUTE pg_catalog.format('DELETE FROM %s WHERE gone', signatures);
  EXECUTE pg_catalog.format('SELECT count(*) FROM %s WHERE new', ids) INTO n;
  EXECUTE pg_catalog.format('UPDATE %s SET clustered = refresh, clustered_rows = $2, recluster = false, next_cluster = next_cluster + $1', job)
    USING n, looked_at;
  PERFORM @extschema@.neardup_drop('TABLE', fresh, ids, heirs, touched);
END $$;
COMMENT ON FUNCTION neardup_refresh_cluster(regclass, neardup_job) IS 'private: clusters what has changed and writes the result';

-- One step, by the phase that the job is in; gives the next phase.
CREATE FUNCTION neardup_refresh_step(job regclass, batch int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  j @extschema@.neardup_job := @extschema@.neardup_job_row(job);
  p @extschema@.neardup_profile;
  t regtype;
  n bigint;
BEGIN
  IF j.phase = 'listing' THEN
    PERFORM @extschema@.neardup_job_rows(j);
    IF j.body IS NOT NULL THEN
      p := @extschema@.neardup_profile_named(j.profile);
      t := @extschema@.neardup_job_column(j.source, j.body, 'body');
      IF p.version IS DISTINCT FROM j.profile_version OR t <> j.body_type THEN
        j.profile_version := p.version; j.body_type := t; j.recluster := true;
        EXECUTE pg_catalog.format('UPDATE %s SET profile_version = $1, body_type = $2, recluster = true', job) USING p.version, t;
        EXECUTE pg_catalog.format('DROP TABLE %s', @extschema@.neardup_job_part(job, '_signatures'));
        PERFORM @extschema@.neardup_make_signatures(job, j);
      END IF;
    END IF;
    n := @extschema@.neardup_refresh_list(job, j);
    EXECUTE pg_catalog.format('UPDATE %s SET total = $1, done = 0', job) USING n;
    RETURN CASE WHEN n > 0 THEN 'signing' ELSE 'indexing' END;
  ELSIF j.phase = 'signing' THEN
    PERFORM @extschema@.neardup_refresh_sign(job, j, j.done, j.done + batch);
    EXECUTE pg_catalog.format('UPDATE %s SET done = LEAST(done + $1, total)', job) USING batch;
    RETURN CASE WHEN j.done + batch < j.total THEN 'signing' ELSE 'indexing' END;
  ELSIF j.phase = 'indexing' THEN
    j.search_threshold := @extschema@.neardup_refresh_threshold(job, j);
    EXECUTE pg_catalog.format('UPDATE %s SET search_threshold = $1, resync = false', job) USING j.search_threshold;
    PERFORM @extschema@.neardup_refresh_index(job, j);
    PERFORM @extschema@.neardup_drop('TABLE', @extschema@.neardup_job_temp(job, 'todo'));
    EXECUTE pg_catalog.format('SELECT count(*) FROM %s WHERE generation > $1', @extschema@.neardup_job_part(job, '_signatures')) INTO n USING j.clustered;
    IF n = 0 AND NOT j.recluster THEN
      EXECUTE pg_catalog.format('UPDATE %s SET clustered_rows = 0', job);
      RETURN 'idle';
    END IF;
    RETURN 'clustering';
  END IF;
  PERFORM @extschema@.neardup_refresh_cluster(job, j);
  RETURN 'idle';
END $$;
COMMENT ON FUNCTION neardup_refresh_step(regclass, int) IS 'private: one step of a refresh';

CREATE PROCEDURE neardup_refresh(job regclass, batch int, time_limit interval, commit boolean) LANGUAGE plpgsql AS $$
DECLARE
  name text := left(@extschema@.neardup_job_part(job, ''), 200);
  start timestamptz := clock_timestamp();
  j @extschema@.neardup_job := @extschema@.neardup_job_row(job);
  next text;
  failed boolean := false;
  state text; message text; detail text; hint text;
BEGIN
  IF j.source IS NULL THEN
    RAISE EXCEPTION 'job % has no row', job USING ERRCODE = 'data_exception';
  END IF;
  IF j.paused THEN
    RAISE NOTICE '% is paused', name USING HINT = pg_catalog.format('SELECT pause_duplicates(%L, false);', name);
    RETURN;
  END IF;
  EXECUTE pg_catalog.format('UPDATE %s SET refresh = refresh + 1, phase = ''listing'', done = 0, total = NULL, started = clock_timestamp(),
                  phase_started = clock_timestamp(), finished = NULL, pid = pg_backend_pid(), last_error = NULL', job);
  IF commit THEN COMMIT; END IF;
  LOOP
    BEGIN
      next := @extschema@.neardup_refresh_step(job, batch);
    EXCEPTION WHEN OTHERS THEN
      IF NOT commit THEN RAISE; END IF;
      GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
      failed := true;
    END;
    IF failed THEN
      EXECUTE pg_catalog.format('UPDATE %s SET phase = ''failed'', finished = clock_timestamp(), pid = NULL, last_error = $1', job) USING message;
      COMMIT;
      PERFORM @extschema@.neardup_raise(state, message, detail, hint);
    END IF;
    EXECUTE pg_catalog.format('UPDATE %s SET phase_started = CASE WHEN phase = $1 THEN phase_started ELSE clock_timestamp() END, phase = $1', job) USING next;
    IF next = 'idle' THEN
      EXECUTE pg_catalog.format('UPDATE %s SET finished = clock_timestamp(), pid = NULL', job);
    END IF;
    IF commit THEN COMMIT; END IF;
    EXIT WHEN next = 'idle';
    j := @extschema@.neardup_job_row(job);
    IF j.paused OR clock_timestamp() - start >= time_limit THEN
      EXECUTE pg_catalog.format('UPDATE %s SET finished = clock_timestamp(), pid = NULL, phase = ''waiting''', job);
      IF commit THEN COMMIT; END IF;
      RAISE NOTICE '%: % of % rows signed, then %; the next refresh goes on', name, j.done, COALESCE(j.total, 0),
        CASE WHEN j.paused THEN 'paused' ELSE 'the time limit was reached' END;
      EXIT;
    END IF;
  END LOOP;
END $$;
COMMENT ON PROCEDURE neardup_refresh(regclass, int, interval, boolean) IS 'private: a refresh, under the lock of refresh_duplicates()';

CREATE PROCEDURE refresh_duplicates(name text, batch int = 10000, time_limit interval = NULL, commit boolean = true)
  AS 'MODULE_PATHNAME', 'neardup_refresh_duplicates' LANGUAGE C;
COMMENT ON PROCEDURE refresh_duplicates(text, int, interval, boolean) IS
  'brings a table of duplicates up to date; commits after each batch, goes on where an interrupted one stopped';

-- Watching -----------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_jobs() RETURNS TABLE (job regclass, source regclass, phase text, done bigint, total bigint, rate float8,
    time_left interval, started timestamptz, finished timestamptz, pid int, last_error text) LANGUAGE plpgsql STABLE AS $$
DECLARE
  t regclass;
  j @extschema@.neardup_job;
  running boolean;
BEGIN
  FOR t IN SELECT c.oid FROM pg_class c WHERE c.reloftype = '@extschema@.neardup_job'::regtype::oid AND c.relkind = 'r'
           -- a policy of another role would run with the rights of who looks
           AND (NOT c.relrowsecurity OR c.relowner = (SELECT r.oid FROM pg_roles r WHERE r.rolname = current_user))
           AND has_table_privilege(c.oid, 'SELECT') ORDER BY c.oid::regclass::text LOOP
    BEGIN
      j := @extschema@.neardup_job_row(t);
    EXCEPTION WHEN undefined_table THEN CONTINUE;  -- dropped meanwhile
    END;
    CONTINUE WHEN j.phase IS NULL;
    -- the lock of refresh_duplicates()
    SELECT true INTO running FROM pg_locks l WHERE l.locktype = 'advisory' AND l.classid = t::oid AND l.objid = 0 AND l.objsubid = 3
      AND l.granted AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database());
    running := COALESCE(running, false);
    job := to_regclass(@extschema@.neardup_job_part(t, '')); source := j.source;
    started := j.started; finished := j.finished; last_error := j.last_error; pid := CASE WHEN running THEN j.pid END;
    done := j.done; total := j.total;
    phase := CASE WHEN NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = j.source::oid) THEN 'orphan'
                  WHEN j.paused AND NOT running THEN 'paused'
                  WHEN j.phase IN ('listing', 'signing', 'indexing', 'clustering') AND NOT running THEN 'interrupted'
                  ELSE j.phase END;
    rate := NULL; time_left := NULL;
    IF running AND phase = 'clustering' THEN
      SELECT COALESCE(round(g.searched * 100), 0), 100 INTO done, total FROM @extschema@.neardup_progress() g WHERE g.pid = j.pid;
    END IF;
    IF running AND phase IN ('signing', 'clustering') AND done > 0 THEN
      rate := done / greatest(extract(epoch FROM clock_timestamp() - j.phase_started), 0.001);
      time_left := make_interval(secs => (total - done) / rate);
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
COMMENT ON FUNCTION neardup_jobs() IS 'private: the rows of duplicates_status';

CREATE VIEW duplicates_status AS SELECT * FROM @extschema@.neardup_jobs();
COMMENT ON VIEW duplicates_status IS
  'the jobs that you may read: phase (signing: rows done of total; clustering: per cent), rate a second, time left, last error';
GRANT SELECT ON duplicates_status TO PUBLIC;
-- Choosing parameters: neardup_suggest, neardup_s_curve ----------------------------------------------------------------

-- P(matches >= m) for m = 0 .. num_perm, in elements 1 .. num_perm + 1, of a signature whose components agree each with
-- probability similarity. By logarithms from m = 0: no factor leaves the range of float8 at 4096 components.
CREATE FUNCTION neardup_match_tail(num_perm int, similarity float8) RETURNS float8[]
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  tail float8[] := array_fill(0::float8, ARRAY[num_perm + 1]);
  term float8;
  total float8 := 0;
BEGIN
  IF similarity <= 0 THEN tail[1] := 1; RETURN tail; END IF;
  IF similarity >= 1 THEN RETURN array_fill(1::float8, ARRAY[num_perm + 1]); END IF;
  -- from m = num_perm downwards, so that small tails are sums of small terms
  term := num_perm * ln(similarity);
  FOR m IN REVERSE num_perm .. 0 LOOP
    IF term > -700 THEN total := total + exp(term); END IF;
    tail[m + 1] := least(total, 1);
    IF m > 0 THEN term := term + ln(m * (1 - similarity) / ((num_perm - m + 1) * similarity)); END IF;
  END LOOP;
  RETURN tail;
END $$;
COMMENT ON FUNCTION neardup_match_tail(int, float8) IS
  'private: probabilities that at least 0, 1 .. num_perm components agree, each with this probability';

-- Least number of equal components at which jaccard() is at least the threshold (32 and 16 bits).
CREATE FUNCTION neardup_matches_needed(num_perm int, threshold float8) RETURNS int
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN (m - 1)::float8 / num_perm >= threshold THEN m - 1 WHEN m::float8 / num_perm >= threshold THEN m ELSE m + 1 END
  FROM (SELECT ceil(num_perm * threshold)::int) c(m)
  $$;
COMMENT ON FUNCTION neardup_matches_needed(int, float8) IS
  'private: least number of equal components at which jaccard is at least the threshold';

-- The S-curve, to be looked at.
CREATE FUNCTION neardup_s_curve(threshold float8, num_perm int = 128, bands int = NULL, rows int = NULL) RETURNS SETOF text
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 30 AS $$
DECLARE
  need int;
  first int;
  p float8;
  at float8;
BEGIN
  IF threshold IS NULL OR num_perm IS NULL THEN
    RAISE EXCEPTION '% must not be NULL', CASE WHEN threshold IS NULL THEN 'threshold' ELSE 'num_perm' END
      USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF NOT (threshold > 0 AND threshold <= 1) THEN
    RAISE EXCEPTION 'threshold must be above 0 and at most 1: %', threshold USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF num_perm NOT BETWEEN 16 AND 4096 THEN
    RAISE EXCEPTION 'num_perm must be between 16 and 4096: %', num_perm USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF (bands IS NULL) <> (rows IS NULL) THEN
    RAISE EXCEPTION 'bands and rows must be given together' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF bands::bigint * rows > num_perm THEN
    RAISE EXCEPTION '% bands of % rows need % components, and num_perm is %', bands, rows, bands::bigint * rows, num_perm
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  need := @extschema@.neardup_matches_needed(num_perm, threshold);
  -- whole steps of 0.02 from 0.5, or from 0.2 below the threshold where that is less
  first := greatest(0, least(25, round((threshold - 0.2) * 50)::int));
  RETURN NEXT CASE WHEN bands IS NULL
    THEN pg_catalog.format('probability that jaccard >= %s (%s of %s components)', threshold, need, num_perm)
    ELSE pg_catalog.format('probability that one of %s bands of %s components agrees; -> is the threshold, %s', bands, rows, threshold) END;
  RETURN NEXT '       0          0.25         0.5        0.75           1';
  FOR i IN first .. 50 LOOP
    at := i / 50.0::float8;
    p := CASE WHEN bands IS NULL THEN (@extschema@.neardup_match_tail(num_perm, at))[need + 1]
              ELSE @extschema@.lsh_probability(at, bands, rows) END;
    RETURN NEXT pg_catalog.format('%s %s|%s| %s', to_char(at, 'FM0.00') || repeat(' ', 4),
      -- the step that holds the threshold
      CASE WHEN i = round(threshold * 50)::int THEN '->' ELSE '  ' END,
      rpad(repeat('#', round(p * 48)::int), 48, CASE WHEN i = round(threshold * 50)::int THEN '-' ELSE ' ' END),
      to_char(floor(p * 10000 + 1e-6) / 10000, 'FM0.0000'));
  END LOOP;
END $$;
COMMENT ON FUNCTION neardup_s_curve(float8, int, int, int) IS
  'lines to look at: with which probability pairs of each similarity are found at a threshold, or by so many bands';

-- STABLE although the query may be anything: of a function that is STABLE, PostgreSQL opens cursors only over what reads.
CREATE FUNCTION neardup_reading_cursor(query text, what text, columns text[]) RETURNS refcursor LANGUAGE plpgsql STABLE AS $$
DECLARE
  c refcursor;
  body text := regexp_replace(query, ';[\s;]*(--[^\n]*\s*)*$', '');
BEGIN
  IF query IS NULL THEN
    RAISE EXCEPTION '% must not be NULL', what USING ERRCODE = 'null_value_not_allowed';
  END IF;
  -- once as it stands, so that a second statement in it is seen for what it is
  BEGIN
    OPEN c NO SCROLL FOR EXECUTE query;
    CLOSE c;
  EXCEPTION WHEN invalid_cursor_definition OR feature_not_supported THEN
    RAISE EXCEPTION '% must be one SELECT, VALUES or TABLE statement that only reads', what
      USING ERRCODE = 'feature_not_supported', DETAIL = 'PostgreSQL says: ' || SQLERRM || '.';
  END;
  c := NULL;
  BEGIN
    OPEN c NO SCROLL FOR EXECUTE pg_catalog.format('SELECT %s FROM (%s' || chr(10) || ') "neardup query"(%s)',
      (SELECT string_agg(pg_catalog.format('left("neardup %s"::text, 100001) AS v%s, pg_typeof("neardup %s")::oid AS t%s', n, n, n, n), ', ' ORDER BY n)
       FROM generate_subscripts(columns, 1) n),
      body, (SELECT string_agg(pg_catalog.format('"neardup %s"', n), ', ' ORDER BY n) FROM generate_subscripts(columns, 1) n));
  EXCEPTION WHEN invalid_column_reference THEN
    RAISE EXCEPTION '% must return % columns: %', what, CASE pg_catalog.cardinality(columns) WHEN 2 THEN 'two' ELSE 'three' END,
      array_to_string(columns, ', ') USING ERRCODE = 'datatype_mismatch', DETAIL = 'PostgreSQL says: ' || SQLERRM || '.';
  END;
  RETURN c;
END $$;
COMMENT ON FUNCTION neardup_reading_cursor(text, text, text[]) IS
  'private: opens a cursor over a query that only reads: v1, t1, .. are each column''s text, cut, and the oid of its type';

-- Microseconds of a look-up in an index of these documents; NULL and why where none can be made. The table and its index
-- are made in a subtransaction that is always rolled back.
CREATE FUNCTION neardup_suggest_query_us(docs text[], unit text, k int, num_perm int, threshold float8, OUT us float8, OUT why text)
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
DECLARE
  began timestamptz;
BEGIN
  PERFORM set_config('enable_seqscan', 'off', true);
  EXECUTE pg_catalog.format('CREATE TEMP TABLE neardup_suggest_sample AS SELECT @extschema@.to_minhash(d, %s, %L, %s, 16) AS sig FROM unnest($1) d', k, unit, num_perm)
    USING docs;
  EXECUTE pg_catalog.format('CREATE INDEX ON pg_temp.neardup_suggest_sample USING lsh (sig @extschema@.minhash_ops) WITH (threshold = %s)', threshold);
  FOR i IN 1 .. 2 LOOP
    began := clock_timestamp();
    EXECUTE 'SELECT sum((SELECT count(*) FROM pg_temp.neardup_suggest_sample b WHERE @extschema@.jaccard_at_least(b.sig, a.sig, $1)))
             FROM pg_temp.neardup_suggest_sample a' USING threshold;
    us := least(us, 1000000 * extract(epoch FROM clock_timestamp() - began) / pg_catalog.cardinality(docs));
  END LOOP;
  RAISE EXCEPTION 'rolled back' USING ERRCODE = 'NDRBK';
EXCEPTION
  WHEN SQLSTATE 'NDRBK' THEN NULL;
  WHEN OTHERS THEN us := NULL; why := SQLERRM;
END $$;
COMMENT ON FUNCTION neardup_suggest_query_us(text[], text, int, int, float8) IS
  'private: measured time of a look-up in a temporary index, which is rolled back';

CREATE FUNCTION neardup_suggest(query text, labels text = NULL, edit_similarity float8 = 0.8)
  RETURNS TABLE (unit text, k int, threshold float8, num_perm int, bits int, index_options text, expected_recall float8,
                 expected_precision float8, bytes_per_row float8, signing_us float8, query_us float8, pairs bigint, note text)
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 18 SET jit = off AS $$
#variable_conflict use_column
DECLARE
  most_documents CONSTANT int := 2000;
  most_bytes CONSTANT int := 20000000;
  most_length CONSTANT int := 100000;   -- characters of a document that are looked at
  most_labels CONSTANT int := 100000;
  c refcursor;
  r record;
  ids text[] := '{}';
  docs text[] := '{}';
  total bigint := 0;
  -- told in the note
  empty_rows int := 0;
  cut int := 0;
  copies int := 0;
  strange bigint := 0;                  -- labels of ids that are not in the sample
  more boolean := false;
  remarks text[] := '{}';
  -- labels
  la text[] := '{}';
  lb text[] := '{}';
  ld boolean[] := '{}';
  judged boolean := false;              -- only labelled pairs count
  -- forms of shingles, the one to be preferred first
  units text[];
  ks int[];
  unspaced float8;
  queries text[] := '{}';
  floors float8[];                      -- least similarity of signatures that makes a near pair
  -- pairs
  most_pairs int;
  pair_a int[];
  pair_b int[];
  pair_weight float8[];
  pair_true boolean[];
  near_pairs bigint;
  true_pairs bigint;
  true_weight float8;
  -- pairs by exact similarity in steps of 1/200: form, step, weight of true ones, of others
  hist_form int[] := '{}';
  hist_step int[] := '{}';
  hist_true float8[] := '{}';
  hist_false float8[] := '{}';
  timed text[];                         -- documents on which time is measured
  began timestamptz;
  us float8;
  best record;
  proposals jsonb := '[]';
  times float8[] := '{}';
  n int;
  dummy bigint;
  unmeasured text;                      -- why look-ups could not be timed
BEGIN
  IF edit_similarity IS NULL THEN
    RAISE EXCEPTION 'edit_similarity must not be NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF NOT (edit_similarity >= 0.5 AND edit_similarity <= 1) THEN
    RAISE EXCEPTION 'edit_similarity must be from 0.5 to 1: %', edit_similarity USING ERRCODE = 'invalid_parameter_value';
  END IF;

  -- The sample
  c := @extschema@.neardup_reading_cursor(query, 'query', ARRAY['id', 'document']);
  LOOP
    FETCH c INTO r;
    EXIT WHEN NOT FOUND;
    IF pg_catalog.cardinality(docs) = most_documents OR total > most_bytes OR empty_rows > most_documents THEN
      more := true;
      EXIT;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_type t WHERE t.oid = r.t2::oid
                   AND COALESCE(NULLIF(t.typbasetype, 0), t.oid) IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype)) THEN
      RAISE EXCEPTION 'the second column of query must be a document of type text: it is %', r.t2::regtype
        USING ERRCODE = 'datatype_mismatch';
    END IF;
    IF r.v1 IS NULL THEN
      RAISE EXCEPTION 'query returns a row whose id is NULL' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF COALESCE(r.v2, '') = '' THEN
      empty_rows := empty_rows + 1;
    ELSE
      cut := cut + (length(r.v2) > most_length)::int;
      ids := pg_catalog.array_append(ids, r.v1);
      docs := pg_catalog.array_append(docs, left(r.v2, most_length));
      total := total + octet_length(docs[pg_catalog.cardinality(docs)]);
    END IF;
  END LOOP;
  CLOSE c;
  IF pg_catalog.cardinality(docs) = 0 THEN
    RAISE EXCEPTION 'query returns no document' USING ERRCODE = 'no_data_found',
      DETAIL = CASE WHEN empty_rows > 0 THEN pg_catalog.format('Rows whose document is NULL or empty: %s.', empty_rows) ELSE 'It returns no row.' END;
  END IF;
  SELECT u.id INTO r FROM unnest(ids) u(id) GROUP BY u.id HAVING count(*) > 1 ORDER BY u.id LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'query returns the id % more than once', r.id USING ERRCODE = 'unique_violation';
  END IF;

  -- The labels
  IF labels IS NOT NULL THEN
    c := @extschema@.neardup_reading_cursor(labels, 'labels', ARRAY['id_a', 'id_b', 'is_duplicate']);
    LOOP
      FETCH c INTO r;
      EXIT WHEN NOT FOUND;
      IF r.t3::oid <> 'boolean'::regtype::oid THEN
        RAISE EXCEPTION 'the third column of labels must be boolean: it is %', r.t3::regtype USING ERRCODE = 'datatype_mismatch';
      END IF;
      IF r.v1 IS NULL OR r.v2 IS NULL OR r.v3 IS NULL THEN
        RAISE EXCEPTION 'labels returns a row with NULL' USING ERRCODE = 'null_value_not_allowed';
      END IF;
      IF r.v1 = r.v2 THEN
        RAISE EXCEPTION 'labels pairs the id % with itself', r.v1 USING ERRCODE = 'invalid_parameter_value';
      END IF;
      IF pg_catalog.cardinality(la) = most_labels THEN
        RAISE EXCEPTION 'labels returns more than % rows', most_labels USING ERRCODE = 'program_limit_exceeded';
      END IF;
      la := pg_catalog.array_append(la, r.v1);
      lb := pg_catalog.array_append(lb, r.v2);
      ld := pg_catalog.array_append(ld, r.v3::boolean);
    END LOOP;
    CLOSE c;
    SELECT least(l.a, l.b) AS a, greatest(l.a, l.b) AS b INTO r FROM unnest(la, lb, ld) l(a, b, d)
      GROUP BY 1, 2 HAVING bool_or(l.d) AND NOT bool_and(l.d) LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'labels says both true and false of % and %', r.a, r.b USING ERRCODE = 'invalid_parameter_value';
    END IF;
    WITH d AS (SELECT u.id, u.n::int FROM unnest(ids) WITH ORDINALITY u(id, n)),
    p AS (SELECT DISTINCT least(x.n, y.n) AS a, greatest(x.n, y.n) AS b, l.d
          FROM unnest(la, lb, ld) l(a, b, d) JOIN d x ON x.id = l.a JOIN d y ON y.id = l.b)
    SELECT array_agg(p.a ORDER BY p.a, p.b), array_agg(p.b ORDER BY p.a, p.b), array_agg(p.d ORDER BY p.a, p.b),
           count(*) FILTER (WHERE p.d), bool_or(NOT p.d),
           (SELECT count(*) FROM unnest(la, lb) l(a, b) WHERE l.a <> ALL (ids) OR l.b <> ALL (ids))
      INTO pair_a, pair_b, pair_true, true_pairs, judged, strange FROM p;
    IF true_pairs = 0 THEN
      RAISE EXCEPTION 'labels names no duplicates of which both are in the sample' USING ERRCODE = 'no_data_found',
        DETAIL = pg_catalog.format('The sample has %s documents; labels of ids that are not in it: %s of %s.', pg_catalog.cardinality(docs), strange, pg_catalog.cardinality(la)),
        HINT = 'Let query return the labelled documents first.';
    END IF;
  ELSE
    -- Equal documents are found by every form and would only hide what the others tell.
    n := pg_catalog.cardinality(docs);
    SELECT array_agg(x.doc ORDER BY x.n) INTO docs
      FROM (SELECT min(u.n) AS n, u.doc FROM unnest(docs) WITH ORDINALITY u(doc, n) GROUP BY u.doc) x;
    copies := n - pg_catalog.cardinality(docs);
  END IF;

  -- Scripts without spaces: words of one letter that takes three bytes or more in UTF-8, a mark may follow
  SELECT COALESCE(sum(length(w)) FILTER (WHERE length(w) <= 2 AND octet_length(convert_to(left(w, 1), 'UTF8')) >= 3)::float8
                  / NULLIF(sum(length(w)), 0), 0)
    INTO unspaced FROM unnest(docs[1:200]) d, @extschema@.shingles(left(d, 1000), 1) w;
  IF unspaced > 0.5 THEN
    units := '{char,char,char,char}';
    ks := '{3,2,5,8}';
    floors := '{0.2,0.2,0.2,0.2}';
  ELSE
    -- in any two long texts many three letters are the same
    units := '{word,word,word,char,char,char}';
    ks := '{3,2,5,5,8,3}';
    floors := '{0.2,0.2,0.2,0.2,0.2,0.3}';
  END IF;

  -- Near pairs. Exact comparisons are what takes time: fewer of long documents.
  most_pairs := greatest(300, least(5000, 15000000 / (1 + total / pg_catalog.cardinality(docs))));
  IF NOT COALESCE(judged, false) THEN
    FOR f IN 1 .. pg_catalog.cardinality(units) LOOP
      queries[f] := pg_catalog.format('SELECT n, s FROM unnest(%L::@extschema@.minhash[]) WITH ORDINALITY u(s, n)',
        (SELECT array_agg(@extschema@.to_minhash(u.doc, ks[f], units[f], 128, 32) ORDER BY u.n)
         FROM unnest(docs) WITH ORDINALITY u(doc, n))::text);
    END LOOP;
    -- Where there are too many, a pair is kept with a chance that grows with its similarity, and weighs as many as it
    -- stands for. The chance is a hash: another call keeps the same ones. (Of text: PostgreSQL's hash of a bigint folds
    -- its halves together, and neighbours in the sample would be kept or lost together.)
    WITH near AS (
      SELECT p.id_a::int AS a, p.id_b::int AS b, (sum(p.similarity) / pg_catalog.cardinality(units)) ^ 3 AS q
      FROM unnest(queries, floors) f(query, floor), LATERAL @extschema@.all_pairs(f.query, f.floor) p GROUP BY 1, 2),
    counted AS (SELECT near.*, count(*) OVER () AS total, sum(near.q) OVER () AS q_total FROM near),
    weighed AS (SELECT counted.*, CASE WHEN total <= most_pairs THEN 1 ELSE greatest(1, q_total / (most_pairs * q)) END AS w FROM counted),
    kept AS (
      SELECT weighed.a, weighed.b, weighed.w, total FROM weighed
      WHERE w = 1 OR (hashtextextended(a || ' ' || b, 0) & 2147483647) / 2147483648.0 < 1 / w)
    SELECT array_agg(x.a ORDER BY x.a, x.b), array_agg(x.b ORDER BY x.a, x.b), array_agg(x.w ORDER BY x.a, x.b),
           CASE WHEN labels IS NOT NULL THEN array_agg(x.d ORDER BY x.a, x.b) END, max(x.total)
      INTO pair_a, pair_b, pair_weight, pair_true, near_pairs
      FROM (SELECT COALESCE(kept.a, l.a) AS a, COALESCE(kept.b, l.b) AS b, CASE WHEN l.d THEN 1 ELSE kept.w END AS w,
                   l.d IS NOT NULL AS d, kept.total
            FROM kept FULL JOIN unnest(pair_a, pair_b, pair_true) l(a, b, d) ON l.a = kept.a AND l.b = kept.b) x;
    queries := NULL;
    IF pair_a IS NULL THEN
      RAISE EXCEPTION 'no two documents of the sample are similar' USING ERRCODE = 'no_data_found',
        DETAIL = pg_catalog.format('The sample has %s documents.', pg_catalog.cardinality(docs)),
        HINT = 'Take a sample that has duplicates in it: rows of one source or of one time, or rows together with those that all_pairs finds near them.';
    END IF;
  ELSE
    pair_weight := array_fill(1::float8, ARRAY[pg_catalog.cardinality(pair_a)]);
    near_pairs := pg_catalog.cardinality(pair_a);
  END IF;

  IF labels IS NULL THEN
    WITH d AS MATERIALIZED (SELECT u.n::int, u.doc FROM unnest(docs) WITH ORDINALITY u(doc, n))
    SELECT array_agg(@extschema@.edit_rate(x.doc, y.doc, (1 - edit_similarity) / 2 + 1e-9) IS NOT NULL ORDER BY p.n) INTO pair_true
      FROM unnest(pair_a, pair_b) WITH ORDINALITY p(a, b, n) JOIN d x ON x.n = p.a JOIN d y ON y.n = p.b;
  END IF;
  SELECT count(*), sum(p.w) INTO true_pairs, true_weight FROM unnest(pair_true, pair_weight) p(t, w) WHERE p.t;
  IF true_pairs = 0 THEN
    RAISE EXCEPTION 'no two documents of the sample are near duplicates' USING ERRCODE = 'no_data_found',
      DETAIL = pg_catalog.format('Of %s documents %s pairs are near, and none of these has 1 - 2 * edit_rate >= %s.', pg_catalog.cardinality(docs), near_pairs, edit_similarity),
      HINT = 'Take a sample that has duplicates in it, give labels, or a lower edit_similarity.';
  END IF;

  -- Exact similarity of the pairs, and the time that signing takes
  SELECT array_agg(u.doc) INTO timed
    FROM (SELECT u.doc, u.n, sum(octet_length(u.doc)) OVER (ORDER BY u.n) AS bytes FROM unnest(docs) WITH ORDINALITY u(doc, n)) u
    WHERE u.n <= 500 AND (u.n = 1 OR u.bytes <= 2000000);
  FOR f IN 1 .. pg_catalog.cardinality(units) LOOP
    WITH d AS MATERIALIZED (
      SELECT u.n::int, ARRAY(SELECT DISTINCT h FROM @extschema@.shingle_hashes(u.doc, ks[f], units[f]) h ORDER BY h) AS hashes
      FROM unnest(docs) WITH ORDINALITY u(doc, n)
      WHERE u.n IN (SELECT unnest(pair_a) UNION SELECT unnest(pair_b))),
    s AS (
      SELECT round(200 * @extschema@.jaccard_exact(x.hashes, y.hashes))::int AS step, p.w, p.t
      FROM unnest(pair_a, pair_b, pair_weight, pair_true) p(a, b, w, t) JOIN d x ON x.n = p.a JOIN d y ON y.n = p.b),
    h AS (SELECT s.step, COALESCE(sum(s.w) FILTER (WHERE s.t), 0) AS yes, COALESCE(sum(s.w) FILTER (WHERE NOT s.t), 0) AS no FROM s GROUP BY 1)
    SELECT hist_form || array_agg(f), hist_step || array_agg(h.step), hist_true || array_agg(h.yes), hist_false || array_agg(h.no)
      INTO hist_form, hist_step, hist_true, hist_false FROM h;
    FOREACH n IN ARRAY ARRAY[64, 128, 256] LOOP
      us := NULL;
      FOR i IN 1 .. 2 LOOP
        began := clock_timestamp();
        SELECT count(@extschema@.to_minhash(d, ks[f], units[f], n, 16)) INTO dummy FROM unnest(timed) d;
        us := least(us, 1000000 * extract(epoch FROM clock_timestamp() - began) / pg_catalog.cardinality(timed));
      END LOOP;
      times := times || us;
    END LOOP;
  END LOOP;

  -- For each form and size the threshold of the greatest F1
  FOR best IN
    WITH tail AS MATERIALIZED (
      SELECT l.size, s.step, @extschema@.neardup_match_tail(l.size, s.step / 200.0) AS p
      FROM unnest(ARRAY[64, 128, 256]) l(size), generate_series(0, 200) s(step)),
    asked AS MATERIALIZED (
      SELECT l.size, t.percent, @extschema@.neardup_matches_needed(l.size, t.percent / 100.0) AS need
      FROM unnest(ARRAY[64, 128, 256]) l(size), generate_series(30, 99) t(percent)),
    rated AS (
      SELECT h.form, a.size, a.percent, a.need, sum(h.yes * t.p[a.need + 1]) AS tp, sum(h.no * t.p[a.need + 1]) AS fp
      FROM unnest(hist_form, hist_step, hist_true, hist_false) h(form, step, yes, no)
      JOIN tail t ON t.step = h.step JOIN asked a ON a.size = t.size GROUP BY 1, 2, 3, 4),
    scored AS (
      SELECT rated.*, 2 * tp / (true_weight + tp + fp) AS f1, max(2 * tp / (true_weight + tp + fp)) OVER (PARTITION BY form, size) AS most
      FROM rated),
    -- runs of thresholds that are as good but for 0.005
    good AS (
      SELECT scored.*, percent - row_number() OVER (PARTITION BY form, size ORDER BY percent) AS run FROM scored
      WHERE f1 >= most - 0.005 AND most > 0),
    runs AS (
      SELECT DISTINCT ON (form, size) form, size, (min(percent) + max(percent) + 1) / 2 AS percent
      FROM good GROUP BY form, size, run ORDER BY form, size, max(f1) DESC, run)
    SELECT s.form, s.size, s.percent / 100.0::float8 AS threshold, s.need, s.tp / true_weight AS recall, s.tp / (s.tp + s.fp) AS precision,
           s.f1, 16 + 2 * s.size + round(5.9 * (s.size + 1 - s.need)) AS bytes
    FROM scored s JOIN runs USING (form, size, percent)
    ORDER BY round(s.f1::numeric, 2) DESC, bytes, s.form
  LOOP
    proposals := proposals || to_jsonb(best);
  END LOOP;

  IF labels IS NULL THEN
    remarks := remarks || pg_catalog.format('%s documents, %s near pairs, %s of them duplicates (1 - 2 * edit_rate >= %s)',
                                 pg_catalog.cardinality(docs), near_pairs, true_pairs, edit_similarity);
  ELSIF judged THEN
    remarks := remarks || pg_catalog.format('%s documents, %s labelled pairs, %s of them duplicates', pg_catalog.cardinality(docs), near_pairs, true_pairs);
  ELSE
    remarks := remarks || pg_catalog.format('%s documents, %s pairs labelled as duplicates and none as others: all other near pairs (%s) are taken for others',
                                 pg_catalog.cardinality(docs), true_pairs, near_pairs);
  END IF;
  IF more THEN remarks := remarks || 'the query returns more rows than were read'::text; END IF;
  IF true_pairs < 30 THEN remarks := remarks || 'few duplicates: the figures are rough'::text; END IF;
  IF strange > 0 THEN remarks := remarks || pg_catalog.format('labels of ids that are not in the sample: %s', strange); END IF;
  IF near_pairs > pg_catalog.cardinality(pair_a) THEN remarks := remarks || pg_catalog.format('%s of the near pairs stand for all', pg_catalog.cardinality(pair_a)); END IF;
  IF copies > 0 THEN remarks := remarks || pg_catalog.format('copies of equal documents left out: %s', copies); END IF;
  IF empty_rows > 0 THEN remarks := remarks || pg_catalog.format('NULL or empty documents left out: %s', empty_rows); END IF;
  IF cut > 0 THEN remarks := remarks || pg_catalog.format('long documents of which only %s characters were looked at: %s', most_length, cut); END IF;
  IF unspaced > 0.5 THEN remarks := remarks || pg_catalog.format('%s %% of the letters are of scripts without spaces', round(100 * unspaced)); END IF;

  FOR best IN SELECT p.value, p.ordinality FROM jsonb_array_elements(proposals) WITH ORDINALITY p ORDER BY p.ordinality LOOP
    n := (best.value->>'form')::int;
    unit := units[n];
    k := ks[n];
    num_perm := (best.value->>'size')::int;
    bits := 16;
    threshold := (best.value->>'threshold')::float8;
    index_options := pg_catalog.format('threshold = %s', threshold);
    expected_recall := round((best.value->>'recall')::numeric, 3);
    expected_precision := round((best.value->>'precision')::numeric, 3);
    bytes_per_row := (best.value->>'bytes')::float8;
    signing_us := round(times[3 * (n - 1) + CASE num_perm WHEN 64 THEN 1 WHEN 128 THEN 2 ELSE 3 END]::numeric, 1);
    IF unmeasured IS NULL THEN
      SELECT round(q.us::numeric, 1), q.why INTO query_us, unmeasured
        FROM @extschema@.neardup_suggest_query_us(timed, units[n], ks[n], num_perm, threshold) q;
      IF unmeasured IS NOT NULL THEN remarks := remarks || ('query_us is not measured: ' || unmeasured); END IF;
    END IF;
    pairs := true_pairs;
    note := CASE WHEN best.ordinality = 1 THEN array_to_string(remarks, '; ') ELSE '' END;
    RETURN NEXT;
  END LOOP;
END $$;
COMMENT ON FUNCTION neardup_suggest(text, text, float8) IS
  'unit, k, num_perm and threshold for the documents of a query, best first, measured on a sample of them';
-- Version ------------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_version(OUT sql text, OUT library text, OUT format int, OUT tokenizer int, OUT unicode text,
    OUT kernels text)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_version() IS
  'versions of the SQL objects, the library, the signature format and the tokenizer, and the code form in use';
