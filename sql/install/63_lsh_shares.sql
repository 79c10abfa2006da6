-- The Dice coefficient and the cosine of sets of integers, an index for them -------------------------------------------

CREATE FUNCTION neardup_internal.lsh_dice_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_dice_support(internal) IS
  'private: planner support of dice_exact_at_least()';
CREATE FUNCTION neardup_internal.lsh_cosine_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_cosine_support(internal) IS
  'private: planner support of set_cosine_exact_at_least()';

DO $do$
DECLARE
  t record;
BEGIN
  FOR t IN VALUES ('bigint', '::bigint[]', 'int8_set_ops'), ('int', '', 'int4_set_ops') LOOP
    EXECUTE pg_catalog.format($sql$
      CREATE FUNCTION neardup_internal.lsh_dice_query(%1$s[], float8) RETURNS lsh_query
        AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
      COMMENT ON FUNCTION neardup_internal.lsh_dice_query(%1$s[], float8) IS
        'private: dice_exact(.., set) >= bound, for any bound';
      CREATE FUNCTION neardup_internal.lsh_dice_query_strict(%1$s[], float8) RETURNS lsh_query
        AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
      COMMENT ON FUNCTION neardup_internal.lsh_dice_query_strict(%1$s[], float8) IS
        'private: the same for bounds of the named predicate';
      CREATE FUNCTION neardup_internal.lsh_cosine_query(%1$s[], float8) RETURNS lsh_query
        AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
      COMMENT ON FUNCTION neardup_internal.lsh_cosine_query(%1$s[], float8) IS
        'private: set_cosine_exact(.., set) >= bound, for any bound';
      CREATE FUNCTION neardup_internal.lsh_cosine_query_strict(%1$s[], float8) RETURNS lsh_query
        AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
      COMMENT ON FUNCTION neardup_internal.lsh_cosine_query_strict(%1$s[], float8) IS
        'private: the same for bounds of the named predicate';
      CREATE FUNCTION dice_exact(a %1$s[], b %1$s[]) RETURNS float8
        AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
        SUPPORT neardup_internal.lsh_share_bounds;
      COMMENT ON FUNCTION dice_exact(%1$s[], %1$s[]) IS
        'Dice coefficient of two sets of %1$s, 2 |a and b| / (|a| + |b|), 0 to 1; 0 if either is empty. Example: SELECT dice_exact(ARRAY[1, 2]%2$s, ARRAY[2, 3]%2$s)';
      CREATE FUNCTION dice_exact_at_least(a %1$s[], b %1$s[], threshold float8) RETURNS boolean
        AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
        SUPPORT neardup_internal.lsh_dice_support;
      COMMENT ON FUNCTION dice_exact_at_least(%1$s[], %1$s[], float8) IS
        'Whether dice_exact(a, b) >= threshold, above 0 and at most 1; an lsh index serves it. Example: SELECT dice_exact_at_least(ARRAY[1, 2]%2$s, ARRAY[2, 3]%2$s, 0.3)';
      CREATE FUNCTION set_cosine_exact(a %1$s[], b %1$s[]) RETURNS float8
        AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
        SUPPORT neardup_internal.lsh_share_bounds;
      COMMENT ON FUNCTION set_cosine_exact(%1$s[], %1$s[]) IS
        'Cosine of two sets of %1$s, |a and b| / sqrt(|a| |b|), 0 to 1; 0 if either is empty. Of vectors: cosine_exact(). Example: SELECT set_cosine_exact(ARRAY[1, 2]%2$s, ARRAY[2, 3]%2$s)';
      CREATE FUNCTION set_cosine_exact_at_least(a %1$s[], b %1$s[], threshold float8) RETURNS boolean
        AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
        SUPPORT neardup_internal.lsh_cosine_support;
      COMMENT ON FUNCTION set_cosine_exact_at_least(%1$s[], %1$s[], float8) IS
        'Whether set_cosine_exact(a, b) >= threshold, above 0 and at most 1; an lsh index serves it. Example: SELECT set_cosine_exact_at_least(ARRAY[1, 2]%2$s, ARRAY[2, 3]%2$s, 0.3)';
      ALTER OPERATOR FAMILY %3$s USING lsh ADD
        FUNCTION 26 (%1$s[]) dice_exact(%1$s[], %1$s[]),
        FUNCTION 27 (%1$s[]) neardup_internal.lsh_dice_query(%1$s[], float8),
        FUNCTION 28 (%1$s[]) dice_exact_at_least(%1$s[], %1$s[], float8),
        FUNCTION 29 (%1$s[]) neardup_internal.lsh_dice_query_strict(%1$s[], float8),
        FUNCTION 30 (%1$s[]) set_cosine_exact(%1$s[], %1$s[]),
        FUNCTION 31 (%1$s[]) neardup_internal.lsh_cosine_query(%1$s[], float8),
        FUNCTION 32 (%1$s[]) set_cosine_exact_at_least(%1$s[], %1$s[], float8),
        FUNCTION 33 (%1$s[]) neardup_internal.lsh_cosine_query_strict(%1$s[], float8);
    $sql$, t.column1, t.column2, t.column3);
  END LOOP;
END $do$;
