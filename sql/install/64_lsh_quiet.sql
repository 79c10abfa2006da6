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
