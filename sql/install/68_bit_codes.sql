-- Bit codes: Hamming distance of bit strings, and an index for it -------------------------------------------------------
-- pgvector has the operators <~> and <%> on bit; ours is another one, so that both can lie in one schema.

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

-- Conditions for an index under row security, which never raise an error.
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
