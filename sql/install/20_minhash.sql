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

-- Constructors

CREATE FUNCTION to_minhash(doc text, k int = 3, unit text = 'word', num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'minhash_from_document' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_minhash(text, int, text, int, int, bigint) IS
  'MinHash signature of the k-shingles of a document. unit is ''word'', ''char'', ''line'', ''paragraph'' or ''code''. Example: SELECT to_minhash(''a text of some words'', k => 3, unit => ''word'')';
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

