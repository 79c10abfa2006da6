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
