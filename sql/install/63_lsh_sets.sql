-- Sets of integers in an index ------------------------------------------------------------------------------------------

CREATE FUNCTION jaccard_exact(a int[], b int[]) RETURNS float8
  AS 'MODULE_PATHNAME', 'jaccard_exact_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION jaccard_exact(int[], int[]) IS
  'Exact Jaccard similarity of two sets of int, 0 to 1; 0 if either is empty. Example: SELECT jaccard_exact(ARRAY[1, 2], ARRAY[2, 3])';

-- Without it smallint[] would fit both of the others.
CREATE FUNCTION jaccard_exact(a smallint[], b smallint[]) RETURNS float8
  AS 'MODULE_PATHNAME', 'jaccard_exact_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION jaccard_exact(smallint[], smallint[]) IS
  'Exact Jaccard similarity of two sets of smallint, 0 to 1; 0 if either is empty. Example: SELECT jaccard_exact(ARRAY[1, 2]::smallint[], ARRAY[2, 3]::smallint[])';

-- Functions, operators and the operator class of sets of bigint, and the same of sets of int.
DO $do$
DECLARE
  t record;
  f record;
BEGIN
  FOR t IN VALUES ('bigint', '::bigint[]', 'int8_set_ops'), ('int', '', 'int4_set_ops') LOOP
    -- Makers of queries by a set: of any bound; and strict, of the bounds that a predicate takes.
    FOR f IN VALUES
      ('lsh_set_query', 'jaccard_exact(.., set) >= bound, for any bound'),
      ('lsh_set_query_strict', 'the same for bounds of jaccard_exact_at_least()'),
      ('lsh_set_in_query', 'containment_exact(set, ..) >= bound, for any bound'),
      ('lsh_set_in_query_strict', 'the same for bounds of the named predicate'),
      ('lsh_query_in_set', 'containment_exact(.., set) >= bound, for any bound'),
      ('lsh_query_in_set_strict', 'the same for bounds of the named predicate'),
      ('lsh_overlap_query', 'overlap_exact(.., set) >= bound, for any bound'),
      ('lsh_overlap_query_strict', 'the same for bounds of the named predicate')
    LOOP
      EXECUTE pg_catalog.format('CREATE FUNCTION neardup_internal.%I(%s[], float8) RETURNS lsh_query '
        'AS ''MODULE_PATHNAME'' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10', f.column1, t.column1);
      EXECUTE pg_catalog.format('COMMENT ON FUNCTION neardup_internal.%I(%s[], float8) IS %L', f.column1, t.column1,
        pg_catalog.concat('private: ', f.column2));
    END LOOP;
    EXECUTE pg_catalog.format($sql$
      CREATE FUNCTION jaccard_exact_at_least(a %1$s[], b %1$s[], threshold float8) RETURNS boolean
        AS 'MODULE_PATHNAME', 'int_set_at_least' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
        SUPPORT neardup_internal.lsh_set_support;
      COMMENT ON FUNCTION jaccard_exact_at_least(%1$s[], %1$s[], float8) IS
        'Whether jaccard_exact(a, b) >= threshold, above 0 and at most 1; an lsh index serves it. Example: SELECT jaccard_exact_at_least(ARRAY[1, 2]%2$s, ARRAY[2, 3]%2$s, 0.3)';

      CREATE FUNCTION neardup_internal.int_set_within(%1$s[], lsh_query) RETURNS boolean
        AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
      COMMENT ON FUNCTION neardup_internal.int_set_within(%1$s[], lsh_query) IS 'implementation of %%>';
      CREATE OPERATOR %%> (LEFTARG = %1$s[], RIGHTARG = lsh_query, FUNCTION = neardup_internal.int_set_within,
        RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
      COMMENT ON OPERATOR %%> (%1$s[], lsh_query) IS
        'Whether a set is as near to that of the query as its bound demands: by Jaccard similarity, containment, overlap, Dice coefficient or cosine. Example: SELECT ARRAY[1, 2]%2$s %%> ''set_jaccard>=0.3 {2,3}''::lsh_query';

      -- The hash family "set". Equality as well: as a column before the last an array is one value.

      CREATE OPERATOR CLASS %3$s DEFAULT FOR TYPE %1$s[] USING lsh AS
        OPERATOR 1 %%> (%1$s[], lsh_query),
        FUNCTION 1 neardup_internal.lsh_set_keys(internal),
        FUNCTION 2 neardup_internal.lsh_set_probes(internal),
        FUNCTION 3 neardup_internal.lsh_set_bind(internal),
        FUNCTION 4 neardup_internal.lsh_set_describe(internal),
        FUNCTION 7 jaccard_exact(%1$s[], %1$s[]),
        FUNCTION 8 neardup_internal.lsh_set_query(%1$s[], float8),
        FUNCTION 9 jaccard_exact_at_least(%1$s[], %1$s[], float8),
        FUNCTION 10 neardup_internal.lsh_set_query_strict(%1$s[], float8),
        OPERATOR 5 = (anyarray, anyarray),
        FUNCTION 15 (%1$s[]) hash_array_extended(anyarray, int8);
      COMMENT ON OPERATOR CLASS %3$s USING lsh IS 'Jaccard similarity, containment, overlap, Dice coefficient and cosine of sets of %1$s';

      -- Containment and overlap. Of containment_exact(a, b) an index serves a column on either side: two makers of queries.

      CREATE FUNCTION containment_exact(a %1$s[], b %1$s[]) RETURNS float8
        AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
        SUPPORT neardup_internal.lsh_share_bounds;
      COMMENT ON FUNCTION containment_exact(%1$s[], %1$s[]) IS
        'Share of the elements of the set a that are in the set b, 0 to 1; 0 if a is empty. Example: SELECT containment_exact(ARRAY[1, 2]%2$s, ARRAY[2, 3]%2$s)';
      CREATE FUNCTION overlap_exact(a %1$s[], b %1$s[]) RETURNS int
        AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
        SUPPORT neardup_internal.lsh_overlap_bounds;
      COMMENT ON FUNCTION overlap_exact(%1$s[], %1$s[]) IS
        'Number of elements that two sets of %1$s share. Example: SELECT overlap_exact(ARRAY[1, 2]%2$s, ARRAY[2, 3]%2$s)';
      CREATE FUNCTION containment_exact_at_least(a %1$s[], b %1$s[], threshold float8) RETURNS boolean
        AS 'MODULE_PATHNAME', 'containment_at_least' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
        SUPPORT neardup_internal.lsh_containment_support;
      COMMENT ON FUNCTION containment_exact_at_least(%1$s[], %1$s[], float8) IS
        'Whether containment_exact(a, b) >= threshold, above 0 and at most 1; an lsh index on a or on b serves it. Example: SELECT containment_exact_at_least(ARRAY[1, 2]%2$s, ARRAY[2, 3]%2$s, 0.5)';
      CREATE FUNCTION overlap_exact_at_least(a %1$s[], b %1$s[], overlap float8) RETURNS boolean
        AS 'MODULE_PATHNAME', 'overlap_at_least' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
        SUPPORT neardup_internal.lsh_overlap_support;
      COMMENT ON FUNCTION overlap_exact_at_least(%1$s[], %1$s[], float8) IS
        'Whether overlap_exact(a, b) >= overlap, from 1 on; an lsh index serves it. Example: SELECT overlap_exact_at_least(ARRAY[1, 2]%2$s, ARRAY[2, 3]%2$s, 1)';

      -- Added to the families, since the operator classes of 0.2.0 stay.
      ALTER OPERATOR FAMILY %3$s USING lsh ADD
        FUNCTION 16 (%1$s[]) containment_exact(%1$s[], %1$s[]),
        FUNCTION 17 (%1$s[]) neardup_internal.lsh_set_in_query(%1$s[], float8),
        FUNCTION 18 (%1$s[]) containment_exact_at_least(%1$s[], %1$s[], float8),
        FUNCTION 19 (%1$s[]) neardup_internal.lsh_set_in_query_strict(%1$s[], float8),
        FUNCTION 20 (%1$s[]) neardup_internal.lsh_query_in_set(%1$s[], float8),
        FUNCTION 21 (%1$s[]) neardup_internal.lsh_query_in_set_strict(%1$s[], float8),
        FUNCTION 22 (%1$s[]) overlap_exact(%1$s[], %1$s[]),
        FUNCTION 23 (%1$s[]) neardup_internal.lsh_overlap_query(%1$s[], float8),
        FUNCTION 24 (%1$s[]) overlap_exact_at_least(%1$s[], %1$s[], float8),
        FUNCTION 25 (%1$s[]) neardup_internal.lsh_overlap_query_strict(%1$s[], float8);
    $sql$, t.column1, t.column2, t.column3);
  END LOOP;
END $do$;

-- The hash family "minutiae"

CREATE FUNCTION minutiae_cells(points point[], grid int = 64, margin float8 = 0.1) RETURNS int[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION minutiae_cells(point[], int, float8) IS
  'Cells of a grid over the unit square that contain a point; a point nearer than margin (in widths of a cell) to a border is in the cells on both sides. Example: SELECT minutiae_cells(ARRAY[point(0.1, 0.2), point(0.7, 0.3)])';
CREATE FUNCTION minutiae_buckets(cells int[], functions int = 1024, function_cells int = 3, grid int = 64) RETURNS int[]
  AS 'MODULE_PATHNAME', 'neardup_minutiae_buckets' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION minutiae_buckets(int[], int, int, int) IS
  'Buckets that contain a set of cells: the numbers of the functions all of whose cells are in the set. Example: SELECT minutiae_buckets(array(SELECT generate_series(0, 1000)), functions => 1024)';

CREATE FUNCTION neardup_internal.lsh_minutiae_options(internal) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_minutiae_options(internal) IS 'private: options of minutiae_ops';

CREATE OPERATOR CLASS minutiae_ops FOR TYPE int[] USING lsh AS
  OPERATOR 1 %> (int[], lsh_query),
  FUNCTION 1 neardup_internal.lsh_minutiae_keys(internal),
  FUNCTION 2 neardup_internal.lsh_minutiae_probes(internal),
  FUNCTION 3 neardup_internal.lsh_minutiae_bind(internal),
  FUNCTION 4 neardup_internal.lsh_minutiae_describe(internal),
  FUNCTION 6 (int[]) neardup_internal.lsh_minutiae_options(internal),
  FUNCTION 7 jaccard_exact(int[], int[]),
  FUNCTION 8 neardup_internal.lsh_set_query(int[], float8),
  FUNCTION 9 jaccard_exact_at_least(int[], int[], float8),
  FUNCTION 10 neardup_internal.lsh_set_query_strict(int[], float8);
COMMENT ON OPERATOR CLASS minutiae_ops USING lsh IS 'Jaccard similarity of sets of cells that share a bucket; options functions, cells, grid';
