-- Exact and partial copies -------------------------------------------------------------------------------------------

CREATE FUNCTION karp_rabin(doc text) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_karp_rabin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION karp_rabin(text) IS 'Karp-Rabin fingerprint of the UTF-8 bytes, modulo 2^61 - 1; equal for equal documents';
CREATE FUNCTION karp_rabin(doc bytea) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_karp_rabin_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION karp_rabin(bytea) IS 'Karp-Rabin fingerprint of the bytes, modulo 2^61 - 1; equal for equal documents';
CREATE FUNCTION karp_rabin_concat(a bigint, b bigint, length_b bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_karp_rabin_concat' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION karp_rabin_concat(bigint, bigint, bigint) IS
  'karp_rabin of a document and another one behind it, from those of both and the length of the second in bytes';

CREATE FUNCTION rolling_fingerprints(doc text, "window" int = 50, OUT "position" int, OUT fingerprint bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_rolling_fingerprints' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
COMMENT ON FUNCTION rolling_fingerprints(text, int) IS
  'karp_rabin of every run of so many characters, with the number of its first character';
CREATE FUNCTION rolling_fingerprints(doc bytea, "window" int = 50, OUT "position" int, OUT fingerprint bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_rolling_fingerprints_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
COMMENT ON FUNCTION rolling_fingerprints(bytea, int) IS
  'karp_rabin of every run of so many bytes, with the number of its first byte';

CREATE FUNCTION winnow_fingerprints(doc text, k int = 5, "window" int = 4, unit text = 'word',
    OUT "position" int, OUT fingerprint bigint) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_winnow_fingerprints' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 500;
COMMENT ON FUNCTION winnow_fingerprints(text, int, int, text) IS
  'hashes of some k-shingles, at least one of any run of k + window - 1 units, with the number of the first character';
CREATE FUNCTION winnow_fingerprints(doc bytea, k int = 8, "window" int = 16, OUT "position" int, OUT fingerprint bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_winnow_fingerprints_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 500;
COMMENT ON FUNCTION winnow_fingerprints(bytea, int, int) IS
  'hashes of some runs of k bytes, at least one of any run of k + window - 1 bytes, with the number of the first byte';

CREATE FUNCTION shared_passages(a text, b text, min_units int = 8, unit text = 'word', OUT start_a int, OUT start_b int,
    OUT length int, OUT "text" text) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_shared_passages' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000 ROWS 10;
COMMENT ON FUNCTION shared_passages(text, text, int, text) IS
  'passages of a of at least so many units that stand in b, longest first taken, in order of a; places and length in characters';
CREATE FUNCTION copied_share(a text, b text, min_units int = 8, unit text = 'word') RETURNS float8
  AS 'MODULE_PATHNAME', 'neardup_copied_share' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION copied_share(text, text, int, text) IS
  'share of a''s units that are in a run of at least so many units which stands in b, 0 to 1';

