-- Pairs and clusters -------------------------------------------------------------------------------------------------
-- VOLATILE and PARALLEL UNSAFE: they run the caller's query.

CREATE FUNCTION all_pairs(query text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a bigint, id_b bigint, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_all_pairs_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_pairs(text, float8, text, text, float8, interval, text) IS
  'All pairs of rows (id, signature or set) of a query with similarity >= threshold, in order, with id_a < id_b or, of measure ''containment'', the set of id_a in that of id_b. Example: SELECT * FROM all_pairs(''SELECT id, sig FROM docs'', 0.8)';
CREATE FUNCTION all_pairs(id anyelement, query text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a anyelement, id_b anyelement, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_all_pairs_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_pairs(anyelement, text, float8, text, text, float8, interval, text) IS
  'The pairs that all_pairs() returns, for ids of the type of the first argument. Example: SELECT * FROM all_pairs(NULL::text, ''SELECT id::text, sig FROM docs'', 0.8)';

CREATE FUNCTION pairs_between(query_a text, query_b text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a bigint, id_b bigint, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_pairs_between_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION pairs_between(text, text, float8, text, text, float8, interval, text) IS
  'All pairs of a row (id, signature or set) of query_a and a row of query_b with similarity >= threshold, in order; of measure ''containment'', the set of id_a in that of id_b. Example: SELECT * FROM pairs_between(''SELECT id, sig FROM docs WHERE id <= 4'', ''SELECT id, sig FROM docs WHERE id > 4'', 0.8)';
CREATE FUNCTION pairs_between(id anyelement, query_a text, query_b text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a anyelement, id_b anyelement, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_pairs_between_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION pairs_between(anyelement, text, text, float8, text, text, float8, interval, text) IS
  'The pairs that pairs_between() returns, for ids of the type of the first argument. Example: SELECT * FROM pairs_between(NULL::text, ''SELECT id::text, sig FROM docs'', ''SELECT ''''new'''', to_minhash(''''some text'''')'', 0.8)';

CREATE FUNCTION all_clusters(query text, threshold float8, linkage text = 'anchor', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id bigint, cluster bigint, representative bigint, similarity float8, cluster_size bigint,
                 survivor boolean)
  AS 'MODULE_PATHNAME', 'neardup_all_clusters_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_clusters(text, float8, text, text, float8, interval, text) IS
  'The rows (id, signature or set) of a query in its order, each with its cluster of similar rows. linkage is ''anchor'' or ''connected''. Example: SELECT * FROM all_clusters(''SELECT id, sig FROM docs ORDER BY id'', 0.8)';
CREATE FUNCTION all_clusters(id anyelement, query text, threshold float8, linkage text = 'anchor', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id anyelement, cluster bigint, representative anyelement, similarity float8, cluster_size bigint,
                 survivor boolean)
  AS 'MODULE_PATHNAME', 'neardup_all_clusters_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_clusters(anyelement, text, float8, text, text, float8, interval, text) IS
  'The rows that all_clusters() returns, for ids of the type of the first argument. Example: SELECT * FROM all_clusters(NULL::text, ''SELECT id::text, sig FROM docs ORDER BY id'', 0.8)';

CREATE FUNCTION cluster_bridges(query text, threshold float8, verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a bigint, id_b bigint, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_cluster_bridges_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION cluster_bridges(text, float8, text, float8, interval, text) IS
  'The pairs without which a connected cluster falls into two. Example: SELECT * FROM cluster_bridges(''SELECT id, sig FROM docs'', 0.8)';
CREATE FUNCTION cluster_bridges(id anyelement, query text, threshold float8, verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL, measure text = NULL)
  RETURNS TABLE (id_a anyelement, id_b anyelement, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_cluster_bridges_by_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION cluster_bridges(anyelement, text, float8, text, float8, interval, text) IS
  'The pairs that cluster_bridges() returns, for ids of the type of the first argument. Example: SELECT * FROM cluster_bridges(NULL::text, ''SELECT id::text, sig FROM docs'', 0.8)';

CREATE FUNCTION neardup_progress()
  RETURNS TABLE (pid int, datname name, function text, phase text, rows_read bigint, searched float8, pairs bigint)
  AS 'MODULE_PATHNAME', 'neardup_progress' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 2;
COMMENT ON FUNCTION neardup_progress() IS
  'Progress of each call of all_pairs() and related functions that runs now, for roles whose statistics you may see. Example: SELECT * FROM neardup_progress()';

-- The number, or the id, of the row that represents each row of the window.
DO $do$
DECLARE
  type pg_catalog.text;
  f record;
  p record;
BEGIN
  FOREACH type IN ARRAY ARRAY['minhash', 'simhash', 'ctph'] LOOP
    FOR f IN VALUES
      ('anchor', 'of the earliest kept row, in the order of the window, that this row is similar to; its own %s if it is kept'),
      ('connected', 'of the first row, in the order of the window, of the connected component of this row')
    LOOP
      FOR p IN VALUES ('', '', 'bigint', 'Number', 'number', ''), (', id anyelement', ', anyelement', 'anyelement', 'id', 'id', ', id') LOOP
        EXECUTE pg_catalog.format('CREATE FUNCTION cluster_%s(value %s, threshold float8%s) RETURNS %s '
          'AS ''MODULE_PATHNAME'', ''neardup_cluster_%1$s'' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000',
          f.column1, type, p.column1, p.column3);
        EXECUTE pg_catalog.format('COMMENT ON FUNCTION cluster_%s(%s, float8%s) IS %L', f.column1, type, p.column2, pg_catalog.format(
          '%s ' OPERATOR(pg_catalog.||) f.column2 OPERATOR(pg_catalog.||) '. Example: SELECT id, cluster_%3$s(to_%4$s(body), 0.8%5$s) '
          'OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)',
          p.column4, p.column5, f.column1, type, p.column6));
      END LOOP;
    END LOOP;
  END LOOP;
END $do$;

