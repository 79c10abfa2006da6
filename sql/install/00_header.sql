-- neardup: near-duplicate documents inside PostgreSQL.
\echo Use "CREATE EXTENSION neardup" to load this file. \quit

-- Statements that functions put together by format() name it.
DO $$
BEGIN
  IF pg_catalog.strpos('@extschema@', '%') OPERATOR(pg_catalog.>) 0 THEN
    RAISE EXCEPTION 'neardup cannot be in a schema with a %% in its name: %', '@extschema@' USING ERRCODE = 'invalid_schema_name';
  END IF;
END $$;

-- The schema of what users do not call: support functions of types, operators, aggregates, indexes and jobs.
CREATE SCHEMA neardup_internal;
COMMENT ON SCHEMA neardup_internal IS 'Objects that the extension neardup uses itself: the parts of its types, operators, indexes and jobs';
GRANT USAGE ON SCHEMA neardup_internal TO PUBLIC;

-- Support functions of the planner and of operator classes. Those named .._bounds warn of a comparison that no value can make
-- true: jaccard(a, b) >= 80.
DO $do$
DECLARE
  f record;
BEGIN
  FOR f IN VALUES
    ('lsh_share_bounds', 'planner support of measures from 0 to 1'),
    ('lsh_bits_bounds', 'planner support of hamming()'),
    ('lsh_score_bounds', 'planner support of ctph_score()'),
    ('lsh_overlap_bounds', 'planner support of overlap_exact()'),
    ('lsh_jaccard_support', 'planner support of jaccard_at_least()'),
    ('lsh_hamming_support', 'planner support of hamming_at_most()'),
    ('lsh_score_support', 'planner support of ctph_score_at_least()'),
    ('lsh_rate_support', 'planner support of ctph_edit_rate_at_most()'),
    ('lsh_minhash_keys', 'index keys of a signature'),
    ('lsh_query_keys', 'index keys of an lsh_query'),
    ('lsh_minhash_bind', 'index parameters from a first signature, and their check'),
    ('lsh_query_bind', 'index parameters from a first lsh_query, and their check'),
    ('lsh_minhash_describe', 'what an index promises, in words'),
    ('lsh_minhash_order', 'least distance of a row by its hits'),
    ('lsh_simhash_keys', 'index keys of a simhash'),
    ('lsh_simhash_probes', 'what an index looks up for a query'),
    ('lsh_simhash_bind', 'index parameters from a first simhash, and their check'),
    ('lsh_simhash_describe', 'what an index promises, in words'),
    ('lsh_simhash_order', 'least distance of a row by its hits'),
    ('lsh_ctph_keys', 'index keys of a digest'),
    ('lsh_ctph_probes', 'what an index looks up for a query'),
    ('lsh_ctph_bind', 'index parameters from a first digest, and their check'),
    ('lsh_ctph_describe', 'what an index promises, in words'),
    ('lsh_ctph_order', 'least distance of a row by its hits'),
    ('lsh_set_support', 'planner support of jaccard_exact_at_least()'),
    ('lsh_set_keys', 'index keys of a set'),
    ('lsh_set_probes', 'what an index looks up for a query'),
    ('lsh_set_bind', 'index parameters from a first set, and their check'),
    ('lsh_set_describe', 'what an index promises, in words'),
    ('lsh_containment_support', 'planner support of containment_exact_at_least()'),
    ('lsh_overlap_support', 'planner support of overlap_exact_at_least()'),
    ('lsh_minutiae_keys', 'index keys of a set of cells'),
    ('lsh_minutiae_probes', 'what an index looks up for a query'),
    ('lsh_minutiae_bind', 'index parameters from a first set of cells, and their check'),
    ('lsh_minutiae_describe', 'what an index promises, in words'),
    ('lsh_code_bounds', 'planner support of bit_hamming()'),
    ('lsh_bit_support', 'planner support of bit_hamming_at_most()'),
    ('lsh_bits_keys', 'index keys of a bit string'),
    ('lsh_bits_probes', 'what an index looks up for a query'),
    ('lsh_bits_bind', 'index parameters from a first bit string, and their check'),
    ('lsh_bits_describe', 'what an index promises, in words'),
    ('lsh_bits_order', 'least distance of a row by its hits')
  LOOP
    EXECUTE pg_catalog.format('CREATE FUNCTION neardup_internal.%I(internal) RETURNS internal '
      'AS ''MODULE_PATHNAME'' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE', f.column1);
    EXECUTE pg_catalog.format('COMMENT ON FUNCTION neardup_internal.%I(internal) IS %L', f.column1,
      pg_catalog.concat('private: ', f.column2));
  END LOOP;
END $do$;
