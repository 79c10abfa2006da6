-- Order, equality and hash of minhash, simhash and ctph ------------------------------------------------------------------

-- Order and equality are LEAKPROOF: they take any values, and may use an index under row security. Minhashes and digests are
-- compared as bytes, by the same functions in C.
DO $do$
DECLARE
  t record;
  o record;
BEGIN
  FOR t IN SELECT * FROM (VALUES
    ('minhash', 'minhash', 'Equal parameters and components', 'in an arbitrary but fixed order'),
    ('simhash', 'simhash', 'Equal in all 64 bits', 'as unsigned numbers'),
    ('ctph', 'minhash', 'Equal digests', 'in an arbitrary but fixed order')) v(name, symbols, equal, ordered)
  LOOP
    FOR o IN SELECT * FROM (VALUES
      ('=', 'eq', '=', '<>', 'RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES', t.equal),
      ('<>', 'ne', '<>', '=', 'RESTRICT = neqsel, JOIN = neqjoinsel', 'Not equal'),
      ('<', 'lt', '>', '>=', 'RESTRICT = scalarltsel, JOIN = scalarltjoinsel', 'Less than, %s'),
      ('<=', 'le', '>=', '>', 'RESTRICT = scalarlesel, JOIN = scalarlejoinsel', 'Less than or equal, %s'),
      ('>', 'gt', '<', '<=', 'RESTRICT = scalargtsel, JOIN = scalargtjoinsel', 'Greater than, %s'),
      ('>=', 'ge', '<=', '<', 'RESTRICT = scalargesel, JOIN = scalargejoinsel', 'Greater than or equal, %s'))
      v(name, function, commutator, negator, planning, meaning)
    LOOP
      EXECUTE pg_catalog.format('CREATE FUNCTION neardup_internal.%1$s_%2$s(%1$s, %1$s) RETURNS boolean '
        'AS ''MODULE_PATHNAME'', ''%3$s_%2$s'' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE',
        t.name, o.function, t.symbols);
      EXECUTE pg_catalog.format('CREATE OPERATOR %s (LEFTARG = %s, RIGHTARG = %2$s, FUNCTION = neardup_internal.%2$s_%s, '
        'COMMUTATOR = %s, NEGATOR = %s, %s)', o.name, t.name, o.function, o.commutator, o.negator, o.planning);
      EXECUTE pg_catalog.format('COMMENT ON OPERATOR %s (%s, %2$s) IS %L', o.name, t.name,
        pg_catalog.format(o.meaning, t.ordered));
    END LOOP;
    EXECUTE pg_catalog.format('CREATE FUNCTION neardup_internal.%1$s_cmp(%1$s, %1$s) RETURNS int '
      'AS ''MODULE_PATHNAME'', ''%2$s_cmp'' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE', t.name, t.symbols);
    EXECUTE pg_catalog.format('CREATE FUNCTION neardup_internal.%1$s_hash(%1$s) RETURNS int '
      'AS ''MODULE_PATHNAME'', ''%2$s_hash'' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE', t.name, t.symbols);
    EXECUTE pg_catalog.format('CREATE FUNCTION neardup_internal.%1$s_hash_extended(%1$s, bigint) RETURNS bigint '
      'AS ''MODULE_PATHNAME'', ''%2$s_hash_extended'' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE', t.name, t.symbols);
    EXECUTE pg_catalog.format('CREATE OPERATOR CLASS %1$s_btree_ops DEFAULT FOR TYPE %1$s USING btree AS '
      'OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, '
      'FUNCTION 1 neardup_internal.%1$s_cmp(%1$s, %1$s)', t.name);
    EXECUTE pg_catalog.format('CREATE OPERATOR CLASS %1$s_hash_ops DEFAULT FOR TYPE %1$s USING hash AS '
      'OPERATOR 1 =, FUNCTION 1 neardup_internal.%1$s_hash(%1$s), '
      'FUNCTION 2 neardup_internal.%1$s_hash_extended(%1$s, bigint)', t.name);
  END LOOP;
END $do$;
