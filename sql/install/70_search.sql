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
CREATE FUNCTION cluster_anchor(value minhash, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(minhash, float8) IS
  'Number of the earliest kept row, in the order of the window, that this row is similar to; its own number if it is kept. Example: SELECT id, cluster_anchor(to_minhash(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_anchor(value minhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(minhash, float8, anyelement) IS
  'id of the earliest kept row, in the order of the window, that this row is similar to; its own id if it is kept. Example: SELECT id, cluster_anchor(to_minhash(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_connected(value minhash, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(minhash, float8) IS
  'Number of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_minhash(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_connected(value minhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(minhash, float8, anyelement) IS
  'id of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_minhash(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_anchor(value simhash, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(simhash, float8) IS
  'Number of the earliest kept row, in the order of the window, that this row is similar to; its own number if it is kept. Example: SELECT id, cluster_anchor(to_simhash(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_anchor(value simhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(simhash, float8, anyelement) IS
  'id of the earliest kept row, in the order of the window, that this row is similar to; its own id if it is kept. Example: SELECT id, cluster_anchor(to_simhash(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_connected(value simhash, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(simhash, float8) IS
  'Number of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_simhash(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_connected(value simhash, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(simhash, float8, anyelement) IS
  'id of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_simhash(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_anchor(value ctph, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(ctph, float8) IS
  'Number of the earliest kept row, in the order of the window, that this row is similar to; its own number if it is kept. Example: SELECT id, cluster_anchor(to_ctph(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_anchor(value ctph, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_anchor' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_anchor(ctph, float8, anyelement) IS
  'id of the earliest kept row, in the order of the window, that this row is similar to; its own id if it is kept. Example: SELECT id, cluster_anchor(to_ctph(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_connected(value ctph, threshold float8) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(ctph, float8) IS
  'Number of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_ctph(body), 0.8) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';
CREATE FUNCTION cluster_connected(value ctph, threshold float8, id anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'neardup_cluster_connected' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cluster_connected(ctph, float8, anyelement) IS
  'id of the first row, in the order of the window, of the connected component of this row. Example: SELECT id, cluster_connected(to_ctph(body), 0.8, id) OVER (ORDER BY id) FROM (VALUES (1, ''some text''), (2, ''some text''), (3, ''other words'')) v (id, body)';

