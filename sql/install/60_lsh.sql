-- Queries for an index -----------------------------------------------------------------------------------------------

CREATE TYPE lsh_query;

CREATE FUNCTION neardup_internal.lsh_query_in(cstring) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.lsh_query_out(lsh_query) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.lsh_query_recv(internal) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.lsh_query_send(lsh_query) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE lsh_query (
  INPUT = neardup_internal.lsh_query_in, OUTPUT = neardup_internal.lsh_query_out,
  RECEIVE = neardup_internal.lsh_query_recv, SEND = neardup_internal.lsh_query_send,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external
);
COMMENT ON TYPE lsh_query IS
  'Query for an lsh index: a signature, digest, set of integers or bit string, and a bound on the similarity to it. Example: SELECT with_threshold(to_minhash(''a text of some words''), 0.8)';

CREATE FUNCTION with_threshold(sig minhash, threshold float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME', 'lsh_with_threshold' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION with_threshold(minhash, float8) IS
  'Signature with the least similarity to it, above 0 and at most 1: for %> and for EXCLUDE USING lsh (with_threshold(sig, 0.9) WITH &&). Example: SELECT id FROM docs WHERE sig %> with_threshold(to_minhash(''a text of some words''), 0.8)';
-- Takes any bound, NaN too, as the comparison does that it stands for: what the planner derives must not fail where the
-- query does not. So it is LEAKPROOF, and others of its kind are.
CREATE FUNCTION neardup_internal.lsh_query_bound(minhash, float8) RETURNS lsh_query
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION neardup_internal.lsh_query_bound(minhash, float8) IS
  'private: the planner''s form of with_threshold(), for any bound';

DO $do$
DECLARE
  f record;
BEGIN
  FOR f IN VALUES
    ('lsh_hamming_query', 'simhash', 'LEAKPROOF', 'hamming(.., value) <= bound, for any bound'),
    ('lsh_hamming_query_strict', 'simhash', '', 'the same for bounds of hamming_at_most()'),
    ('lsh_score_query', 'ctph', 'LEAKPROOF', 'ctph_score(.., digest) >= bound, for any bound'),
    ('lsh_score_query_strict', 'ctph', '', 'the same for bounds of ctph_score_at_least()'),
    ('lsh_rate_query', 'ctph', 'LEAKPROOF', 'ctph_edit_rate(.., digest) <= bound, for any bound'),
    ('lsh_rate_query_strict', 'ctph', '', 'the same for bounds of ctph_edit_rate_at_most()')
  LOOP
    EXECUTE pg_catalog.format('CREATE FUNCTION neardup_internal.%I(%s, float8) RETURNS lsh_query '
      'AS ''MODULE_PATHNAME'' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE %s', f.column1, f.column2, f.column3);
    EXECUTE pg_catalog.format('COMMENT ON FUNCTION neardup_internal.%I(%s, float8) IS %L', f.column1, f.column2,
      pg_catalog.concat('private: ', f.column4));
  END LOOP;
END $do$;

CREATE FUNCTION neardup_internal.lsh_query_eq(lsh_query, lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.lsh_query_ne(lsh_query, lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME', 'minhash_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.lsh_query_hash(lsh_query) RETURNS int
  AS 'MODULE_PATHNAME', 'minhash_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.lsh_query_hash_extended(lsh_query, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'minhash_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE OPERATOR = (LEFTARG = lsh_query, RIGHTARG = lsh_query, FUNCTION = neardup_internal.lsh_query_eq,
  COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES);
CREATE OPERATOR <> (LEFTARG = lsh_query, RIGHTARG = lsh_query, FUNCTION = neardup_internal.lsh_query_ne,
  COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel);
COMMENT ON OPERATOR = (lsh_query, lsh_query) IS 'Equal values and bounds';
COMMENT ON OPERATOR <> (lsh_query, lsh_query) IS 'Not equal';
CREATE OPERATOR CLASS lsh_query_hash_ops DEFAULT FOR TYPE lsh_query USING hash AS
  OPERATOR 1 =, FUNCTION 1 neardup_internal.lsh_query_hash(lsh_query),
  FUNCTION 2 neardup_internal.lsh_query_hash_extended(lsh_query, bigint);

-- Conditions that an index serves. Not LEAKPROOF: as jaccard(); and they refuse bounds, which may be a column's.

CREATE FUNCTION jaccard_at_least(sig minhash, query minhash, threshold float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2 SUPPORT neardup_internal.lsh_jaccard_support;
COMMENT ON FUNCTION jaccard_at_least(minhash, minhash, float8) IS
  'Whether jaccard(sig, query) >= threshold; an lsh index serves it. Example: SELECT id FROM docs WHERE jaccard_at_least(sig, to_minhash(''a text of some words''), 0.8)';

CREATE FUNCTION hamming_at_most(a simhash, b simhash, distance float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT neardup_internal.lsh_hamming_support;
COMMENT ON FUNCTION hamming_at_most(simhash, simhash, float8) IS
  'Whether hamming(a, b) <= distance, 0 to 64; an lsh index serves it. Example: SELECT hamming_at_most(to_simhash(''a text of some words''), to_simhash(''a text of other words''), 3)';

CREATE FUNCTION ctph_score_at_least(a ctph, b ctph, score float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5 SUPPORT neardup_internal.lsh_score_support;
COMMENT ON FUNCTION ctph_score_at_least(ctph, ctph, float8) IS
  'Whether ctph_score(a, b) >= score, 0 to 100; an lsh index serves it for a score above 0. Example: SELECT ctph_score_at_least(to_ctph(''a text of some words''), to_ctph(''a text of other words''), 70)';
CREATE FUNCTION ctph_edit_rate_at_most(a ctph, b ctph, rate float8) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5 SUPPORT neardup_internal.lsh_rate_support;
COMMENT ON FUNCTION ctph_edit_rate_at_most(ctph, ctph, float8) IS
  'Whether ctph_edit_rate(a, b) <= rate, 0 to 1; an lsh index serves rates up to its max_rate. Example: SELECT ctph_edit_rate_at_most(to_ctph(''a text of some words''), to_ctph(''a text of other words''), 0.1)';

CREATE FUNCTION neardup_internal.minhash_at_least(sig minhash, query lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION neardup_internal.minhash_at_least(minhash, lsh_query) IS 'implementation of %>';
CREATE OPERATOR %> (LEFTARG = minhash, RIGHTARG = lsh_query, FUNCTION = neardup_internal.minhash_at_least,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR %> (minhash, lsh_query) IS
  'Whether the Jaccard similarity to the signature of the query is at least its bound. Example: SELECT to_minhash(''a text of some words'') %> with_threshold(to_minhash(''a text of some other words''), 0.5)';

CREATE FUNCTION neardup_internal.simhash_within(value simhash, query lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.simhash_within(simhash, lsh_query) IS 'implementation of %>';
CREATE OPERATOR %> (LEFTARG = simhash, RIGHTARG = lsh_query, FUNCTION = neardup_internal.simhash_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR %> (simhash, lsh_query) IS
  'Whether the Hamming distance to the value of the query is at most its bound. Example: SELECT ''0123456789abcdef''::simhash %> ''hamming<=3 0123456789abcdee''::lsh_query';

CREATE FUNCTION neardup_internal.ctph_within(digest ctph, query lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION neardup_internal.ctph_within(ctph, lsh_query) IS 'implementation of %>';
CREATE OPERATOR %> (LEFTARG = ctph, RIGHTARG = lsh_query, FUNCTION = neardup_internal.ctph_within,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR %> (ctph, lsh_query) IS
  'Whether the score with the digest of the query is at least its bound, or the edit rate at most its bound. Example: SELECT ''3:abcdefgh:abcd''::ctph %> ''ctph_score>=70 3:abcdefgh:abcd''::lsh_query';

CREATE FUNCTION neardup_internal.lsh_query_conflicts(a lsh_query, b lsh_query) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION neardup_internal.lsh_query_conflicts(lsh_query, lsh_query) IS 'implementation of &&';
CREATE OPERATOR && (LEFTARG = lsh_query, RIGHTARG = lsh_query, FUNCTION = neardup_internal.lsh_query_conflicts,
  COMMUTATOR = &&,
  RESTRICT = neardup_internal.lsh_sel, JOIN = neardup_internal.lsh_joinsel);
COMMENT ON OPERATOR && (lsh_query, lsh_query) IS
  'Whether the Jaccard similarity of both signatures is at least the greater of both thresholds. Example: SELECT with_threshold(to_minhash(''some text''), 0.9) && with_threshold(to_minhash(''some other text''), 0.8)';

-- The access method --------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_internal.lsh_handler(internal) RETURNS index_am_handler
  AS 'MODULE_PATHNAME', 'lshhandler' LANGUAGE C;
COMMENT ON FUNCTION neardup_internal.lsh_handler(internal) IS 'private: the access method lsh';
CREATE ACCESS METHOD lsh TYPE INDEX HANDLER neardup_internal.lsh_handler;
COMMENT ON ACCESS METHOD lsh IS
  'Index for near duplicates: signatures, digests, bit strings and sets of integers; a query returns the same rows as a sequential scan. Example: CREATE INDEX docs_sig ON docs USING lsh (sig)';

-- The hash family "minhash": src/pg/lsh/family.h

-- STABLE: for % it reads neardup.jaccard_threshold.
CREATE FUNCTION neardup_internal.lsh_minhash_probes(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_minhash_probes(internal) IS 'private: what an index looks up for a query';

-- The planner finds 7 to 14 here, not by their names.
CREATE OPERATOR CLASS minhash_ops DEFAULT FOR TYPE minhash USING lsh AS
  OPERATOR 1 %> (minhash, lsh_query),
  OPERATOR 2 % (minhash, minhash),
  OPERATOR 4 <%> (minhash, minhash) FOR ORDER BY pg_catalog.float_ops,
  FUNCTION 1 neardup_internal.lsh_minhash_keys(internal),
  FUNCTION 2 neardup_internal.lsh_minhash_probes(internal),
  FUNCTION 3 neardup_internal.lsh_minhash_bind(internal),
  FUNCTION 4 neardup_internal.lsh_minhash_describe(internal),
  FUNCTION 5 neardup_internal.lsh_minhash_order(internal),
  FUNCTION 7 jaccard(minhash, minhash),
  FUNCTION 8 neardup_internal.lsh_query_bound(minhash, float8),
  FUNCTION 9 jaccard_at_least(minhash, minhash, float8),
  FUNCTION 10 with_threshold(minhash, float8);
COMMENT ON OPERATOR CLASS minhash_ops USING lsh IS 'Jaccard similarity of minhash signatures';

CREATE OPERATOR CLASS lsh_query_ops DEFAULT FOR TYPE lsh_query USING lsh AS
  OPERATOR 3 && (lsh_query, lsh_query),
  FUNCTION 1 neardup_internal.lsh_query_keys(internal),
  FUNCTION 2 neardup_internal.lsh_minhash_probes(internal),
  FUNCTION 3 neardup_internal.lsh_query_bind(internal),
  FUNCTION 4 neardup_internal.lsh_minhash_describe(internal);
COMMENT ON OPERATOR CLASS lsh_query_ops USING lsh IS 'Exclusion constraints on with_threshold()';

-- The hash family "simhash"

CREATE FUNCTION neardup_internal.lsh_simhash_options(internal) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_simhash_options(internal) IS 'private: options of simhash_ops';

CREATE OPERATOR CLASS simhash_ops DEFAULT FOR TYPE simhash USING lsh AS
  OPERATOR 1 %> (simhash, lsh_query),
  OPERATOR 4 <~> (simhash, simhash) FOR ORDER BY pg_catalog.float_ops,
  FUNCTION 1 neardup_internal.lsh_simhash_keys(internal),
  FUNCTION 2 neardup_internal.lsh_simhash_probes(internal),
  FUNCTION 3 neardup_internal.lsh_simhash_bind(internal),
  FUNCTION 4 neardup_internal.lsh_simhash_describe(internal),
  FUNCTION 5 neardup_internal.lsh_simhash_order(internal),
  FUNCTION 6 (simhash) neardup_internal.lsh_simhash_options(internal),
  FUNCTION 11 hamming(simhash, simhash),
  FUNCTION 12 neardup_internal.lsh_hamming_query(simhash, float8),
  FUNCTION 13 hamming_at_most(simhash, simhash, float8),
  FUNCTION 14 neardup_internal.lsh_hamming_query_strict(simhash, float8);
COMMENT ON OPERATOR CLASS simhash_ops USING lsh IS 'Hamming distance of simhash values; option blocks';

-- The hash family "ctph"

CREATE FUNCTION neardup_internal.lsh_ctph_options(internal) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.lsh_ctph_options(internal) IS 'private: options of ctph_ops';

CREATE OPERATOR CLASS ctph_ops DEFAULT FOR TYPE ctph USING lsh AS
  OPERATOR 1 %> (ctph, lsh_query),
  OPERATOR 4 <-> (ctph, ctph) FOR ORDER BY pg_catalog.float_ops,
  FUNCTION 1 neardup_internal.lsh_ctph_keys(internal),
  FUNCTION 2 neardup_internal.lsh_ctph_probes(internal),
  FUNCTION 3 neardup_internal.lsh_ctph_bind(internal),
  FUNCTION 4 neardup_internal.lsh_ctph_describe(internal),
  FUNCTION 5 neardup_internal.lsh_ctph_order(internal),
  FUNCTION 6 (ctph) neardup_internal.lsh_ctph_options(internal),
  FUNCTION 7 ctph_score(ctph, ctph),
  FUNCTION 8 neardup_internal.lsh_score_query(ctph, float8),
  FUNCTION 9 ctph_score_at_least(ctph, ctph, float8),
  FUNCTION 10 neardup_internal.lsh_score_query_strict(ctph, float8),
  FUNCTION 11 ctph_edit_rate(ctph, ctph),
  FUNCTION 12 neardup_internal.lsh_rate_query(ctph, float8),
  FUNCTION 13 ctph_edit_rate_at_most(ctph, ctph, float8),
  FUNCTION 14 neardup_internal.lsh_rate_query_strict(ctph, float8);
COMMENT ON OPERATOR CLASS ctph_ops USING lsh IS 'Score and edit rate of ctph digests; option max_rate';

-- Bands for joins of one's own

CREATE FUNCTION band_keys(sig minhash, threshold float8) RETURNS SETOF bigint
  AS 'MODULE_PATHNAME', 'minhash_band_keys' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10 ROWS 30;
COMMENT ON FUNCTION band_keys(minhash, float8) IS
  'Keys for joins: any two comparable signatures with jaccard >= threshold share at least one key; test jaccard() then, because a shared key makes only a candidate. Example: SELECT id, band_keys(sig, 0.8) FROM docs';
CREATE FUNCTION lsh_probability(similarity float8, bands int, rows int) RETURNS float8
  AS 'MODULE_PATHNAME', 'neardup_lsh_probability' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_probability(float8, int, int) IS
  'Probability that at least one of the bands agrees, 1 - (1 - similarity ^ rows) ^ bands. Example: SELECT lsh_probability(0.8, bands => 20, rows => 5)';

