-- Pairs and clusters -------------------------------------------------------------------------------------------------
-- VOLATILE and PARALLEL UNSAFE: they run the caller's query.

CREATE FUNCTION all_pairs(query text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL)
  RETURNS TABLE (id_a bigint, id_b bigint, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_all_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_pairs(text, float8, text, text, float8, interval) IS
  'all pairs of the query''s rows (id, signature) with similarity >= threshold; id_a < id_b, in order';
CREATE FUNCTION all_pairs(id anyelement, query text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL)
  RETURNS TABLE (id_a anyelement, id_b anyelement, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_all_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_pairs(anyelement, text, float8, text, text, float8, interval) IS
  'all_pairs for ids of another type, named by the first argument: NULL::uuid';

CREATE FUNCTION pairs_between(query_a text, query_b text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL)
  RETURNS TABLE (id_a bigint, id_b bigint, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_pairs_between' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION pairs_between(text, text, float8, text, text, float8, interval) IS
  'all pairs (row of query_a, row of query_b) with similarity >= threshold, in order';
CREATE FUNCTION pairs_between(id anyelement, query_a text, query_b text, threshold float8, identical text = 'all', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL)
  RETURNS TABLE (id_a anyelement, id_b anyelement, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_pairs_between' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION pairs_between(anyelement, text, text, float8, text, text, float8, interval) IS
  'pairs_between for ids of another type, named by the first argument';

CREATE FUNCTION all_clusters(query text, threshold float8, linkage text = 'anchor', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL)
  RETURNS TABLE (id bigint, cluster bigint, representative bigint, similarity float8, cluster_size bigint,
                 survivor boolean)
  AS 'MODULE_PATHNAME', 'neardup_all_clusters' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_clusters(text, float8, text, text, float8, interval) IS
  'clusters of the query''s rows in the query''s order; linkage ''anchor'' or ''connected''';
CREATE FUNCTION all_clusters(id anyelement, query text, threshold float8, linkage text = 'anchor', verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL)
  RETURNS TABLE (id anyelement, cluster bigint, representative anyelement, similarity float8, cluster_size bigint,
                 survivor boolean)
  AS 'MODULE_PATHNAME', 'neardup_all_clusters' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION all_clusters(anyelement, text, float8, text, text, float8, interval) IS
  'all_clusters for ids of another type, named by the first argument';

CREATE FUNCTION cluster_bridges(query text, threshold float8, verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL)
  RETURNS TABLE (id_a bigint, id_b bigint, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_cluster_bridges' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION cluster_bridges(text, float8, text, float8, interval) IS
  'the pairs that alone hold a connected cluster together: without one of them its cluster falls in two';
CREATE FUNCTION cluster_bridges(id anyelement, query text, threshold float8, verify text = NULL, verify_threshold float8 = NULL,
    at_most_apart interval = NULL)
  RETURNS TABLE (id_a anyelement, id_b anyelement, similarity float8)
  AS 'MODULE_PATHNAME', 'neardup_cluster_bridges' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION cluster_bridges(anyelement, text, float8, text, float8, interval) IS
  'cluster_bridges for ids of another type, named by the first argument';

CREATE FUNCTION neardup_progress()
  RETURNS TABLE (pid int, datname name, function text, phase text, rows_read bigint, searched float8, pairs bigint)
  AS 'MODULE_PATHNAME', 'neardup_progress' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 2;
COMMENT ON FUNCTION neardup_progress() IS
  'how far the calls of all_pairs and its kin have come that run now: those of roles that you may watch';

-- Which row represents each row of the window: its number, or its id.
CREATE FUNCTION cluster_anchor(value minhash, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(minhash, float8) IS
  'number, in the window''s order, of the earliest kept row that this row is near; its own when it is kept';
CREATE FUNCTION cluster_anchor(value minhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(minhash, float8, anyelement) IS
  'id of the earliest kept row, in the window''s order, that this row is near; its own when it is kept';
CREATE FUNCTION cluster_connected(value minhash, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(minhash, float8) IS
  'number, in the window''s order, of the first row of this row''s connected component';
CREATE FUNCTION cluster_connected(value minhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(minhash, float8, anyelement) IS
  'id of the first row, in the window''s order, of this row''s connected component';
CREATE FUNCTION cluster_anchor(value simhash, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(simhash, float8) IS
  'number, in the window''s order, of the earliest kept row that this row is near; its own when it is kept';
CREATE FUNCTION cluster_anchor(value simhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(simhash, float8, anyelement) IS
  'id of the earliest kept row, in the window''s order, that this row is near; its own when it is kept';
CREATE FUNCTION cluster_connected(value simhash, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(simhash, float8) IS
  'number, in the window''s order, of the first row of this row''s connected component';
CREATE FUNCTION cluster_connected(value simhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(simhash, float8, anyelement) IS
  'id of the first row, in the window''s order, of this row''s connected component';
CREATE FUNCTION cluster_anchor(value ctph, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(ctph, float8) IS
  'number, in the window''s order, of the earliest kept row that this row is near; its own when it is kept';
CREATE FUNCTION cluster_anchor(value ctph, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(ctph, float8, anyelement) IS
  'id of the earliest kept row, in the window''s order, that this row is near; its own when it is kept';
CREATE FUNCTION cluster_connected(value ctph, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(ctph, float8) IS
  'number, in the window''s order, of the first row of this row''s connected component';
CREATE FUNCTION cluster_connected(value ctph, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(ctph, float8, anyelement) IS
  'id of the first row, in the window''s order, of this row''s connected component';

