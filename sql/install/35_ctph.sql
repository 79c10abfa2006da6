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
COMMENT ON TYPE ctph IS 'context-triggered piecewise hash (fuzzy digest) of a document, as ssdeep makes it, or longer';

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
COMMENT ON OPERATOR = (ctph, ctph) IS 'the same digest';
COMMENT ON OPERATOR <> (ctph, ctph) IS 'not equal';
COMMENT ON OPERATOR < (ctph, ctph) IS 'before in an arbitrary, fixed order';
COMMENT ON OPERATOR <= (ctph, ctph) IS 'before in an arbitrary, fixed order, or equal';
COMMENT ON OPERATOR > (ctph, ctph) IS 'after in an arbitrary, fixed order';
COMMENT ON OPERATOR >= (ctph, ctph) IS 'after in an arbitrary, fixed order, or equal';

CREATE OPERATOR CLASS ctph_btree_ops DEFAULT FOR TYPE ctph USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
  FUNCTION 1 neardup_internal.ctph_cmp(ctph, ctph);
CREATE OPERATOR CLASS ctph_hash_ops DEFAULT FOR TYPE ctph USING hash AS
  OPERATOR 1 =, FUNCTION 1 neardup_internal.ctph_hash(ctph),
  FUNCTION 2 neardup_internal.ctph_hash_extended(ctph, bigint);

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
  AS 'MODULE_PATHNAME', 'ctph_score_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5
  SUPPORT neardup_internal.lsh_score_bounds;
COMMENT ON FUNCTION ctph_score(ctph, ctph) IS 'ssdeep''s score of two digests, 0 to 100';
CREATE FUNCTION ctph_edit_rate(a ctph, b ctph) RETURNS float8
  AS 'MODULE_PATHNAME', 'ctph_edit_rate_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION ctph_edit_rate(ctph, ctph) IS
  'Levenshtein distance of two digests over the sum of their lengths, 0 to 1; 1 where no block size is common';
CREATE OPERATOR <-> (LEFTARG = ctph, RIGHTARG = ctph, FUNCTION = ctph_edit_rate, COMMUTATOR = <->);
COMMENT ON OPERATOR <-> (ctph, ctph) IS 'edit rate of two digests';
