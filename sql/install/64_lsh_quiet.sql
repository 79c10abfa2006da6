-- Conditions that never raise an error ----------------------------------------------------------------------------------
-- An index looks at rows before row security does. The measures raise an error for signatures made differently, which
-- would tell of hidden rows; so under row security and in security barrier views the planner asks an index by the twins
-- below. Each is true wherever its public operator raises an error, and answers as that one does elsewhere; the query's own
-- condition is evaluated afterwards, on the rows that row security lets through. An operator's twin has its strategy + 100.

DO $do$
DECLARE
  t record;
BEGIN
  FOR t IN VALUES
    ('minhash', 'minhash', 2, 'minhash_ops', 'signatures made differently'),
    ('simhash', 'simhash', 1, 'simhash_ops', 'a query of another type'),
    ('ctph', 'ctph', 5, 'ctph_ops', 'digests of different kinds'),
    ('bigint[]', 'int_set', 100, 'int8_set_ops', 'an array with a NULL'),
    ('int[]', 'int_set', 100, 'int4_set_ops', 'an array with a NULL')
  LOOP
    EXECUTE pg_catalog.format($sql$
      CREATE FUNCTION neardup_internal.lsh_quiet_within(%1$s, lsh_query) RETURNS boolean
        AS 'MODULE_PATHNAME', '%2$s_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST %3$s;
      COMMENT ON FUNCTION neardup_internal.lsh_quiet_within(%1$s, lsh_query) IS 'private: %%>, true for %5$s';
      CREATE OPERATOR neardup_internal.%%>? (LEFTARG = %1$s, RIGHTARG = lsh_query,
        FUNCTION = neardup_internal.lsh_quiet_within,
        RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
      COMMENT ON OPERATOR neardup_internal.%%>? (%1$s, lsh_query) IS 'private: %%> for an index under row security';
      ALTER OPERATOR FAMILY %4$s USING lsh ADD OPERATOR 101 neardup_internal.%%>? (%1$s, lsh_query);
    $sql$, t.column1, t.column2, t.column3, t.column4, t.column5);
  END LOOP;
END $do$;

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

CREATE FUNCTION neardup_internal.lsh_quiet_distance(ctph, ctph) RETURNS float8
  AS 'MODULE_PATHNAME', 'ctph_quiet_distance' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 5;
COMMENT ON FUNCTION neardup_internal.lsh_quiet_distance(ctph, ctph) IS 'private: <->, 1 for digests of different kinds';
CREATE OPERATOR neardup_internal.<->? (LEFTARG = ctph, RIGHTARG = ctph,
  FUNCTION = neardup_internal.lsh_quiet_distance, COMMUTATOR = OPERATOR(neardup_internal.<->?));
COMMENT ON OPERATOR neardup_internal.<->? (ctph, ctph) IS 'private: <-> for an index under row security';

ALTER OPERATOR FAMILY minhash_ops USING lsh ADD
  OPERATOR 102 neardup_internal.%? (minhash, minhash),
  OPERATOR 104 neardup_internal.<%>? (minhash, minhash) FOR ORDER BY pg_catalog.float_ops;
ALTER OPERATOR FAMILY lsh_query_ops USING lsh ADD
  OPERATOR 103 neardup_internal.&&? (lsh_query, lsh_query);
ALTER OPERATOR FAMILY ctph_ops USING lsh ADD
  OPERATOR 104 neardup_internal.<->? (ctph, ctph) FOR ORDER BY pg_catalog.float_ops;
ALTER OPERATOR FAMILY minutiae_ops USING lsh ADD
  OPERATOR 101 neardup_internal.%>? (int[], lsh_query);
