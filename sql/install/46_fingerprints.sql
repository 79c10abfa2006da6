-- Exact and partial copies -------------------------------------------------------------------------------------------

CREATE FUNCTION karp_rabin(doc text) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_karp_rabin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION karp_rabin(text) IS
  'Karp-Rabin fingerprint of the UTF-8 bytes of a text, modulo 2^61 - 1; equal documents have equal fingerprints. Example: SELECT karp_rabin(''a text of some words'')';
CREATE FUNCTION karp_rabin(doc bytea) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_karp_rabin_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION karp_rabin(bytea) IS
  'Karp-Rabin fingerprint of bytes, modulo 2^61 - 1; equal documents have equal fingerprints. Example: SELECT karp_rabin(decode(''0123456789abcdef'', ''hex''))';
CREATE FUNCTION karp_rabin_concat(a bigint, b bigint, length_b bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_karp_rabin_concat' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION karp_rabin_concat(bigint, bigint, bigint) IS
  'Fingerprint of a document followed by a second one, from the fingerprints of both and the length of the second in bytes. Example: SELECT karp_rabin_concat(karp_rabin(''some ''), karp_rabin(''text''), 4) = karp_rabin(''some text'')';

CREATE FUNCTION rolling_fingerprints(doc text, "window" int = 50, OUT "position" int, OUT fingerprint bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_rolling_fingerprints' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
COMMENT ON FUNCTION rolling_fingerprints(text, int) IS
  'Karp-Rabin fingerprint of every run of window characters, with the position of its first character, counted from 1. Example: SELECT * FROM rolling_fingerprints(''a text of some words'', 10)';
CREATE FUNCTION rolling_fingerprints(doc bytea, "window" int = 50, OUT "position" int, OUT fingerprint bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_rolling_fingerprints_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
COMMENT ON FUNCTION rolling_fingerprints(bytea, int) IS
  'Karp-Rabin fingerprint of every run of window bytes, with the position of its first byte, counted from 1. Example: SELECT * FROM rolling_fingerprints(decode(''0123456789abcdef'', ''hex''), 4)';

CREATE FUNCTION winnow_fingerprints(doc text, k int = 5, "window" int = 4, unit text = 'word', ignore bigint[] = '{}',
    OUT "position" int, OUT fingerprint bigint) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_winnow_fingerprints' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 500;
COMMENT ON FUNCTION winnow_fingerprints(text, int, int, text, bigint[]) IS
  'Selected hashes of k-shingles, at least one in every run of k + window - 1 units, with the position of the first character, counted from 1; without those in ignore. Example: SELECT * FROM winnow_fingerprints(''a text of some words'', k => 2, "window" => 2)';
CREATE FUNCTION winnow_fingerprints(doc bytea, k int = 8, "window" int = 16, ignore bigint[] = '{}', OUT "position" int, OUT fingerprint bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_winnow_fingerprints_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 500;
COMMENT ON FUNCTION winnow_fingerprints(bytea, int, int, bigint[]) IS
  'Selected hashes of runs of k bytes, at least one in every run of k + window - 1 bytes, with the position of the first byte, counted from 1; without those in ignore. Example: SELECT * FROM winnow_fingerprints(decode(''0123456789abcdef'', ''hex''), k => 2, "window" => 3)';

CREATE FUNCTION winnow_hashes(doc text, k int = 5, "window" int = 4, unit text = 'word', ignore bigint[] = '{}') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'neardup_winnow_hashes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION winnow_hashes(text, int, int, text, bigint[]) IS
  'The distinct hashes of winnow_fingerprints() as a set, ascending, for containment_exact() and lsh indexes. Example: SELECT winnow_hashes(''a text of some words'', k => 2, "window" => 2)';
CREATE FUNCTION winnow_hashes(doc bytea, k int = 8, "window" int = 16, ignore bigint[] = '{}') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'neardup_winnow_hashes_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION winnow_hashes(bytea, int, int, bigint[]) IS
  'The distinct hashes of winnow_fingerprints() of bytes as a set, ascending. Example: SELECT winnow_hashes(decode(''0123456789abcdef'', ''hex''), k => 2, "window" => 3)';

CREATE FUNCTION shared_passages(a text, b text, min_units int = 8, unit text = 'word', ignore text[] = '{}', OUT start_a int, OUT start_b int,
    OUT length int, OUT "text" text) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'neardup_shared_passages' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000 ROWS 10;
COMMENT ON FUNCTION shared_passages(text, text, int, text, text[]) IS
  'Passages of a of at least min_units units that also occur in b, in the order of a, without what stands in the texts to ignore; positions and length in characters. Example: SELECT * FROM shared_passages(''some words of a text'', ''a copy has some words of it'', min_units => 3)';
CREATE FUNCTION copied_share(a text, b text, min_units int = 8, unit text = 'word', ignore text[] = '{}') RETURNS float8
  AS 'MODULE_PATHNAME', 'neardup_copied_share' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION copied_share(text, text, int, text, text[]) IS
  'Share of the units of a in runs of at least min_units units that also occur in b, 0 to 1; units that stand in the texts to ignore are left out. Example: SELECT copied_share(''some words of a text'', ''a copy has some words of it'', min_units => 3)';

