-- The type ctph ------------------------------------------------------------------------------------------------------

CREATE TYPE ctph;

CREATE FUNCTION neardup_internal.ctph_in(cstring) RETURNS ctph
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.ctph_out(ctph) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.ctph_recv(internal) RETURNS ctph
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.ctph_send(ctph) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE ctph (
  INPUT = neardup_internal.ctph_in, OUTPUT = neardup_internal.ctph_out, RECEIVE = neardup_internal.ctph_recv,
  SEND = neardup_internal.ctph_send,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = extended
);
COMMENT ON TYPE ctph IS
  'Context-triggered piecewise hash (fuzzy digest) of a document, as ssdeep computes it, or a longer one. Example: SELECT to_ctph(''a text of some words'')';

-- Constructors

CREATE FUNCTION to_ctph(doc text) RETURNS ctph
  AS 'MODULE_PATHNAME', 'ctph_from_document' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_ctph(text) IS
  'Fuzzy digest of the UTF-8 bytes of a text, as ssdeep computes it. Example: SELECT to_ctph(''a text of some words'')';
CREATE FUNCTION to_ctph(doc bytea) RETURNS ctph
  AS 'MODULE_PATHNAME', 'ctph_from_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_ctph(bytea) IS
  'Fuzzy digest of bytes, as ssdeep computes it. Example: SELECT to_ctph(decode(''0123456789abcdef0123'', ''hex''))';
CREATE FUNCTION ctph_long(doc text, length int) RETURNS ctph
  AS 'MODULE_PATHNAME', 'ctph_from_document' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION ctph_long(text, int) IS
  'Longer fuzzy digest of the UTF-8 bytes of a text, with at most length characters in each part, 65 to 1024. Example: SELECT ctph_long(''a text of some words'', length => 256)';
CREATE FUNCTION ctph_long(doc bytea, length int) RETURNS ctph
  AS 'MODULE_PATHNAME', 'ctph_from_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION ctph_long(bytea, int) IS
  'Longer fuzzy digest of bytes, with at most length characters in each part, 65 to 1024. Example: SELECT ctph_long(decode(''0123456789abcdef0123'', ''hex''), length => 256)';

-- Measures

CREATE FUNCTION ctph_score(a ctph, b ctph) RETURNS int
  AS 'MODULE_PATHNAME', 'ctph_score_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5
  SUPPORT neardup_internal.lsh_score_bounds;
COMMENT ON FUNCTION ctph_score(ctph, ctph) IS
  'Score of two fuzzy digests, as ssdeep computes it, 0 to 100. Example: SELECT ctph_score(to_ctph(''a text of some words''), to_ctph(''a text of other words''))';
CREATE FUNCTION ctph_edit_rate(a ctph, b ctph) RETURNS float8
  AS 'MODULE_PATHNAME', 'ctph_edit_rate_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5
  SUPPORT neardup_internal.lsh_share_bounds;
COMMENT ON FUNCTION ctph_edit_rate(ctph, ctph) IS
  'Levenshtein distance of two fuzzy digests divided by the sum of their lengths, 0 to 1; 1 if they have no common block size. Example: SELECT ctph_edit_rate(to_ctph(''a text of some words''), to_ctph(''a text of other words''))';
CREATE OPERATOR <-> (LEFTARG = ctph, RIGHTARG = ctph, FUNCTION = ctph_edit_rate, COMMUTATOR = <->);
COMMENT ON OPERATOR <-> (ctph, ctph) IS
  'Edit rate of two fuzzy digests, ctph_edit_rate(a, b), 0 to 1. Example: SELECT to_ctph(''a text of some words'') <-> to_ctph(''a text of other words'')';
