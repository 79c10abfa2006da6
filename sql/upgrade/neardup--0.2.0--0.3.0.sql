-- From 0.2.0 to 0.3.0.
\echo Use "ALTER EXTENSION neardup UPDATE TO '0.3.0'" to load this file. \quit

-- Functions that raise errors are not leakproof: their errors told of rows that row security hides.
ALTER FUNCTION @extschema@.jaccard(@extschema@.minhash, @extschema@.minhash) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.minhash_jaccard_distance(@extschema@.minhash, @extschema@.minhash) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.minhash_similar(@extschema@.minhash, @extschema@.minhash) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.ctph_score(@extschema@.ctph, @extschema@.ctph) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.ctph_edit_rate(@extschema@.ctph, @extschema@.ctph) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.with_threshold(@extschema@.minhash, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.lsh_hamming_query_strict(@extschema@.simhash, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.lsh_score_query_strict(@extschema@.ctph, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.lsh_rate_query_strict(@extschema@.ctph, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.jaccard_at_least(@extschema@.minhash, @extschema@.minhash, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.hamming_at_most(@extschema@.simhash, @extschema@.simhash, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.ctph_score_at_least(@extschema@.ctph, @extschema@.ctph, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.ctph_edit_rate_at_most(@extschema@.ctph, @extschema@.ctph, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.minhash_at_least(@extschema@.minhash, @extschema@.lsh_query) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.simhash_within(@extschema@.simhash, @extschema@.lsh_query) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.ctph_within(@extschema@.ctph, @extschema@.lsh_query) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.lsh_query_conflicts(@extschema@.lsh_query, @extschema@.lsh_query) NOT LEAKPROOF;

-- Conditions that never raise an error, for an index under row security.
CREATE FUNCTION @extschema@.lsh_quiet_within(@extschema@.minhash, @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'minhash_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION @extschema@.lsh_quiet_within(@extschema@.minhash, @extschema@.lsh_query) IS 'private: %>, true for signatures made differently';
CREATE OPERATOR @extschema@.%>? (LEFTARG = @extschema@.minhash, RIGHTARG = @extschema@.lsh_query, FUNCTION = @extschema@.lsh_quiet_within,
  RESTRICT = @extschema@.lsh_sel, JOIN = @extschema@.lsh_joinsel);
COMMENT ON OPERATOR @extschema@.%>? (@extschema@.minhash, @extschema@.lsh_query) IS 'private: %> for an index under row security';
CREATE FUNCTION @extschema@.lsh_quiet_similar(@extschema@.minhash, @extschema@.minhash) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'minhash_quiet_similar' LANGUAGE C STABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION @extschema@.lsh_quiet_similar(@extschema@.minhash, @extschema@.minhash) IS 'private: %, true for signatures made differently';
CREATE OPERATOR @extschema@.%? (LEFTARG = @extschema@.minhash, RIGHTARG = @extschema@.minhash, FUNCTION = @extschema@.lsh_quiet_similar, COMMUTATOR = OPERATOR(@extschema@.%?),
  RESTRICT = @extschema@.lsh_sel, JOIN = @extschema@.lsh_joinsel);
COMMENT ON OPERATOR @extschema@.%? (@extschema@.minhash, @extschema@.minhash) IS 'private: % for an index under row security';
CREATE FUNCTION @extschema@.lsh_quiet_distance(@extschema@.minhash, @extschema@.minhash) RETURNS pg_catalog.float8
  AS 'MODULE_PATHNAME', 'minhash_quiet_distance' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION @extschema@.lsh_quiet_distance(@extschema@.minhash, @extschema@.minhash) IS 'private: <%>, 1 for signatures made differently';
CREATE OPERATOR @extschema@.<%>? (LEFTARG = @extschema@.minhash, RIGHTARG = @extschema@.minhash, FUNCTION = @extschema@.lsh_quiet_distance, COMMUTATOR = OPERATOR(@extschema@.<%>?));
COMMENT ON OPERATOR @extschema@.<%>? (@extschema@.minhash, @extschema@.minhash) IS 'private: <%> for an index under row security';
CREATE FUNCTION @extschema@.lsh_quiet_conflicts(@extschema@.lsh_query, @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION @extschema@.lsh_quiet_conflicts(@extschema@.lsh_query, @extschema@.lsh_query) IS 'private: &&, true for signatures made differently';
CREATE OPERATOR @extschema@.&&? (LEFTARG = @extschema@.lsh_query, RIGHTARG = @extschema@.lsh_query, FUNCTION = @extschema@.lsh_quiet_conflicts, COMMUTATOR = OPERATOR(@extschema@.&&?),
  RESTRICT = @extschema@.lsh_sel, JOIN = @extschema@.lsh_joinsel);
COMMENT ON OPERATOR @extschema@.&&? (@extschema@.lsh_query, @extschema@.lsh_query) IS 'private: && for an index under row security';
CREATE FUNCTION @extschema@.lsh_quiet_within(@extschema@.simhash, @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'simhash_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.lsh_quiet_within(@extschema@.simhash, @extschema@.lsh_query) IS 'private: %>, true for a query of another type';
CREATE OPERATOR @extschema@.%>? (LEFTARG = @extschema@.simhash, RIGHTARG = @extschema@.lsh_query, FUNCTION = @extschema@.lsh_quiet_within,
  RESTRICT = @extschema@.lsh_sel, JOIN = @extschema@.lsh_joinsel);
COMMENT ON OPERATOR @extschema@.%>? (@extschema@.simhash, @extschema@.lsh_query) IS 'private: %> for an index under row security';
CREATE FUNCTION @extschema@.lsh_quiet_within(@extschema@.ctph, @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'ctph_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 5;
COMMENT ON FUNCTION @extschema@.lsh_quiet_within(@extschema@.ctph, @extschema@.lsh_query) IS 'private: %>, true for digests of different kinds';
CREATE OPERATOR @extschema@.%>? (LEFTARG = @extschema@.ctph, RIGHTARG = @extschema@.lsh_query, FUNCTION = @extschema@.lsh_quiet_within,
  RESTRICT = @extschema@.lsh_sel, JOIN = @extschema@.lsh_joinsel);
COMMENT ON OPERATOR @extschema@.%>? (@extschema@.ctph, @extschema@.lsh_query) IS 'private: %> for an index under row security';
CREATE FUNCTION @extschema@.lsh_quiet_distance(@extschema@.ctph, @extschema@.ctph) RETURNS pg_catalog.float8
  AS 'MODULE_PATHNAME', 'ctph_quiet_distance' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 5;
COMMENT ON FUNCTION @extschema@.lsh_quiet_distance(@extschema@.ctph, @extschema@.ctph) IS 'private: <->, 1 for digests of different kinds';
CREATE OPERATOR @extschema@.<->? (LEFTARG = @extschema@.ctph, RIGHTARG = @extschema@.ctph, FUNCTION = @extschema@.lsh_quiet_distance, COMMUTATOR = OPERATOR(@extschema@.<->?));
COMMENT ON OPERATOR @extschema@.<->? (@extschema@.ctph, @extschema@.ctph) IS 'private: <-> for an index under row security';
CREATE FUNCTION @extschema@.lsh_quiet_within(pg_catalog.int8[], @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'int_set_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 100;
COMMENT ON FUNCTION @extschema@.lsh_quiet_within(pg_catalog.int8[], @extschema@.lsh_query) IS 'private: %>, true for an array with a NULL';
CREATE OPERATOR @extschema@.%>? (LEFTARG = pg_catalog.int8[], RIGHTARG = @extschema@.lsh_query, FUNCTION = @extschema@.lsh_quiet_within,
  RESTRICT = @extschema@.lsh_sel, JOIN = @extschema@.lsh_joinsel);
COMMENT ON OPERATOR @extschema@.%>? (pg_catalog.int8[], @extschema@.lsh_query) IS 'private: %> for an index under row security';
CREATE FUNCTION @extschema@.lsh_quiet_within(pg_catalog.int4[], @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'int_set_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 100;
COMMENT ON FUNCTION @extschema@.lsh_quiet_within(pg_catalog.int4[], @extschema@.lsh_query) IS 'private: %>, true for an array with a NULL';
CREATE OPERATOR @extschema@.%>? (LEFTARG = pg_catalog.int4[], RIGHTARG = @extschema@.lsh_query, FUNCTION = @extschema@.lsh_quiet_within,
  RESTRICT = @extschema@.lsh_sel, JOIN = @extschema@.lsh_joinsel);
COMMENT ON OPERATOR @extschema@.%>? (pg_catalog.int4[], @extschema@.lsh_query) IS 'private: %> for an index under row security';
ALTER OPERATOR FAMILY @extschema@.minhash_ops USING lsh ADD
  OPERATOR 101 @extschema@.%>? (@extschema@.minhash, @extschema@.lsh_query),
  OPERATOR 102 @extschema@.%? (@extschema@.minhash, @extschema@.minhash),
  OPERATOR 104 @extschema@.<%>? (@extschema@.minhash, @extschema@.minhash) FOR ORDER BY pg_catalog.float_ops;
ALTER OPERATOR FAMILY @extschema@.lsh_query_ops USING lsh ADD
  OPERATOR 103 @extschema@.&&? (@extschema@.lsh_query, @extschema@.lsh_query);
ALTER OPERATOR FAMILY @extschema@.simhash_ops USING lsh ADD
  OPERATOR 101 @extschema@.%>? (@extschema@.simhash, @extschema@.lsh_query);
ALTER OPERATOR FAMILY @extschema@.ctph_ops USING lsh ADD
  OPERATOR 101 @extschema@.%>? (@extschema@.ctph, @extschema@.lsh_query),
  OPERATOR 104 @extschema@.<->? (@extschema@.ctph, @extschema@.ctph) FOR ORDER BY pg_catalog.float_ops;
ALTER OPERATOR FAMILY @extschema@.int8_set_ops USING lsh ADD
  OPERATOR 101 @extschema@.%>? (pg_catalog.int8[], @extschema@.lsh_query);
ALTER OPERATOR FAMILY @extschema@.int4_set_ops USING lsh ADD
  OPERATOR 101 @extschema@.%>? (pg_catalog.int4[], @extschema@.lsh_query);
ALTER OPERATOR FAMILY @extschema@.minutiae_ops USING lsh ADD
  OPERATOR 101 @extschema@.%>? (pg_catalog.int4[], @extschema@.lsh_query);
