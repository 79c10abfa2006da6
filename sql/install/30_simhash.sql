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
  'SimHash of weighted features: 64 bits, near in Hamming distance where the features are near in angle';

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
COMMENT ON OPERATOR = (simhash, simhash) IS 'equal in all 64 bits';
COMMENT ON OPERATOR <> (simhash, simhash) IS 'not equal';
COMMENT ON OPERATOR < (simhash, simhash) IS 'less as a number without sign';
COMMENT ON OPERATOR <= (simhash, simhash) IS 'less as a number without sign, or equal';
COMMENT ON OPERATOR > (simhash, simhash) IS 'greater as a number without sign';
COMMENT ON OPERATOR >= (simhash, simhash) IS 'greater as a number without sign, or equal';

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
  'SimHash of a document''s k-shingles, weighted by how often each occurs; NULL when there is none';
CREATE FUNCTION weighted_simhash(features text[], weights float8[]) RETURNS simhash
  AS 'MODULE_PATHNAME', 'simhash_from_features' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION weighted_simhash(text[], float8[]) IS
  'SimHash of weighted features; NULL when none has a weight above 0';
CREATE FUNCTION vector_simhash(vector real[]) RETURNS simhash
  AS 'MODULE_PATHNAME', 'simhash_from_vector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION vector_simhash(real[]) IS
  'on which sides of 64 fixed hyperplanes a vector lies: the cosine sketch; NULL for a vector of zeros';

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
  'SimHash of weighted features, one a row; NULL when none has a weight above 0';

CREATE FUNCTION neardup_internal.simhash_agg_add(internal, text) RETURNS internal
  AS 'MODULE_PATHNAME', 'simhash_agg_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE simhash_agg(feature text) (
  SFUNC = neardup_internal.simhash_agg_add, STYPE = internal, SSPACE = 1100,
  FINALFUNC = neardup_internal.simhash_agg_final,
  COMBINEFUNC = neardup_internal.simhash_agg_combine, SERIALFUNC = neardup_internal.simhash_agg_serialize,
  DESERIALFUNC = neardup_internal.simhash_agg_deserialize,
  PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_agg(text) IS
  'SimHash of equally weighted features, one a row; NULL when none has a weight above 0';

-- Measures. LEAKPROOF: they take any values.

CREATE FUNCTION hamming(a simhash, b simhash) RETURNS int
  AS 'MODULE_PATHNAME', 'simhash_hamming' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
  SUPPORT neardup_internal.lsh_bits_bounds;
COMMENT ON FUNCTION hamming(simhash, simhash) IS 'number of differing bits, 0 to 64';
CREATE FUNCTION cosine(a simhash, b simhash) RETURNS float8
  AS 'MODULE_PATHNAME', 'simhash_cosine_estimate' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION cosine(simhash, simhash) IS 'estimated cosine, cos(pi * hamming / 64), -1 to 1';
CREATE FUNCTION neardup_internal.simhash_hamming_float(a simhash, b simhash) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.simhash_hamming_float(simhash, simhash) IS 'implementation of <~>: hamming(a, b)';
CREATE OPERATOR <~> (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = neardup_internal.simhash_hamming_float,
  COMMUTATOR = <~>);
COMMENT ON OPERATOR <~> (simhash, simhash) IS 'Hamming distance';
