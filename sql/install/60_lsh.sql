-- Queries for an index -----------------------------------------------------------------------------------------------

CREATE TYPE lsh_query;

CREATE FUNCTION lsh_query_in(cstring) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lsh_query_out(lsh_query) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lsh_query_recv(internal) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lsh_query_send(lsh_query) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE lsh_query (
  INPUT = lsh_query_in, OUTPUT = lsh_query_out, RECEIVE = lsh_query_recv, SEND = lsh_query_send,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external
);
COMMENT ON TYPE lsh_query IS 'a signature and the least similarity to it; made by with_threshold()';

CREATE FUNCTION with_threshold(sig minhash, threshold float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME', 'lsh_with_threshold' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION with_threshold(minhash, float8) IS
  'a signature and the least similarity to it, for %> and for EXCLUDE USING lsh (with_threshold(sig, 0.9) WITH &&)';
-- Takes any bound, NaN too, as the comparison does that it stands for: what the planner derives must not fail where the
-- query does not.
CREATE FUNCTION lsh_query_bound(minhash, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION lsh_query_bound(minhash, float8) IS
  'private: the planner''s form of with_threshold(), for any bound';

CREATE FUNCTION lsh_query_eq(lsh_query, lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lsh_query_ne(lsh_query, lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lsh_query_hash(lsh_query) RETURNS int
  AS 'MODULE_PATHNAME', 'minhash_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lsh_query_hash_extended(lsh_query, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'minhash_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE OPERATOR = (LEFTARG = lsh_query, RIGHTARG = lsh_query, FUNCTION = lsh_query_eq, COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES);
CREATE OPERATOR <> (LEFTARG = lsh_query, RIGHTARG = lsh_query, FUNCTION = lsh_query_ne, COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel);
COMMENT ON OPERATOR = (lsh_query, lsh_query) IS 'the same signature and the same threshold';
COMMENT ON OPERATOR <> (lsh_query, lsh_query) IS 'not equal';
CREATE OPERATOR CLASS lsh_query_hash_ops DEFAULT FOR TYPE lsh_query USING hash AS
  OPERATOR 1 =, FUNCTION 1 lsh_query_hash(lsh_query), FUNCTION 2 lsh_query_hash_extended(lsh_query, bigint);

-- Conditions that an index serves. LEAKPROOF: as jaccard().

CREATE FUNCTION lsh_jaccard_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_jaccard_support(internal) IS 'private: planner support of jaccard_at_least()';
CREATE FUNCTION jaccard_at_least(sig minhash, query minhash, threshold float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2 SUPPORT lsh_jaccard_support;
COMMENT ON FUNCTION jaccard_at_least(minhash, minhash, float8) IS 'jaccard(sig, query) >= threshold';

CREATE FUNCTION minhash_at_least(sig minhash, query lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION minhash_at_least(minhash, lsh_query) IS 'implementation of %>';
CREATE OPERATOR %> (LEFTARG = minhash, RIGHTARG = lsh_query, FUNCTION = minhash_at_least,
  RESTRICT = lsh_jaccard_sel, JOIN = lsh_jaccard_joinsel);
COMMENT ON OPERATOR %> (minhash, lsh_query) IS
  'Jaccard similarity of both signatures is at least the query''s threshold';

CREATE FUNCTION lsh_query_conflicts(a lsh_query, b lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION lsh_query_conflicts(lsh_query, lsh_query) IS 'implementation of &&';
CREATE OPERATOR && (LEFTARG = lsh_query, RIGHTARG = lsh_query, FUNCTION = lsh_query_conflicts, COMMUTATOR = &&,
  RESTRICT = lsh_jaccard_sel, JOIN = lsh_jaccard_joinsel);
COMMENT ON OPERATOR && (lsh_query, lsh_query) IS
  'Jaccard similarity of both signatures is at least the greater of both thresholds';

-- The access method --------------------------------------------------------------------------------------------------

CREATE FUNCTION lsh_handler(internal) RETURNS index_am_handler
  AS 'MODULE_PATHNAME', 'lshhandler' LANGUAGE C;
COMMENT ON FUNCTION lsh_handler(internal) IS 'private: the access method lsh';
CREATE ACCESS METHOD lsh TYPE INDEX HANDLER lsh_handler;
COMMENT ON ACCESS METHOD lsh IS 'near duplicates by bands of signatures; the answers of a sequential scan';

-- The hash family "minhash": src/pg/lsh/family.h

CREATE FUNCTION lsh_minhash_keys(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_minhash_keys(internal) IS 'private: index keys of a signature';
CREATE FUNCTION lsh_query_keys(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_query_keys(internal) IS 'private: index keys of an lsh_query';
-- STABLE: for % it reads neardup.jaccard_threshold.
CREATE FUNCTION lsh_minhash_probes(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_minhash_probes(internal) IS 'private: what an index looks up for a query';
CREATE FUNCTION lsh_minhash_bind(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_minhash_bind(internal) IS 'private: index parameters from a first signature, and their check';
CREATE FUNCTION lsh_query_bind(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_query_bind(internal) IS 'private: index parameters from a first lsh_query, and their check';
CREATE FUNCTION lsh_minhash_describe(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_minhash_describe(internal) IS 'private: what an index promises, in words';
CREATE FUNCTION lsh_minhash_order(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_minhash_order(internal) IS 'private: least distance of a row by its hits';

-- The planner finds 7 to 10 here, not by their names.
CREATE OPERATOR CLASS minhash_ops DEFAULT FOR TYPE minhash USING lsh AS
  OPERATOR 1 %> (minhash, lsh_query),
  OPERATOR 2 % (minhash, minhash),
  OPERATOR 4 <%> (minhash, minhash) FOR ORDER BY pg_catalog.float_ops,
  FUNCTION 1 lsh_minhash_keys(internal),
  FUNCTION 2 lsh_minhash_probes(internal),
  FUNCTION 3 lsh_minhash_bind(internal),
  FUNCTION 4 lsh_minhash_describe(internal),
  FUNCTION 5 lsh_minhash_order(internal),
  FUNCTION 7 jaccard(minhash, minhash),
  FUNCTION 8 lsh_query_bound(minhash, float8),
  FUNCTION 9 jaccard_at_least(minhash, minhash, float8),
  FUNCTION 10 with_threshold(minhash, float8);
COMMENT ON OPERATOR CLASS minhash_ops USING lsh IS 'Jaccard similarity of minhash signatures';

CREATE OPERATOR CLASS lsh_query_ops DEFAULT FOR TYPE lsh_query USING lsh AS
  OPERATOR 3 && (lsh_query, lsh_query),
  FUNCTION 1 lsh_query_keys(internal),
  FUNCTION 2 lsh_minhash_probes(internal),
  FUNCTION 3 lsh_query_bind(internal),
  FUNCTION 4 lsh_minhash_describe(internal);
COMMENT ON OPERATOR CLASS lsh_query_ops USING lsh IS 'for exclusion constraints on with_threshold()';

-- Bands for joins of one's own

CREATE FUNCTION band_keys(sig minhash, threshold float8) RETURNS SETOF bigint
  AS 'MODULE_PATHNAME', 'minhash_band_keys' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10 ROWS 30;
COMMENT ON FUNCTION band_keys(minhash, float8) IS
  'keys of which two signatures with jaccard >= threshold share at least one';
CREATE FUNCTION lsh_probability(similarity float8, bands int, rows int) RETURNS float8
  AS 'MODULE_PATHNAME', 'neardup_lsh_probability' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_probability(float8, int, int) IS
  '1 - (1 - similarity ^ rows) ^ bands: the chance that one of the bands agrees';

