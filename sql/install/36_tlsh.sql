-- TLSH digests -------------------------------------------------------------------------------------------------------

CREATE FUNCTION tlsh_distance(a text, b text, length boolean = true) RETURNS int
  AS 'MODULE_PATHNAME', 'neardup_tlsh_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION tlsh_distance(text, text, boolean) IS
  'Distance of two TLSH digests as TLSH computes it, 0 to 2473, smaller is nearer; length => false leaves the lengths of the documents out. Example: SELECT tlsh_distance(repeat(''0'', 70), ''T1'' || repeat(''0'', 69) || ''1'')';
CREATE FUNCTION tlsh_code(digest text) RETURNS bit
  AS 'MODULE_PATHNAME', 'neardup_tlsh_code' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION tlsh_code(text) IS
  'The buckets of a TLSH digest as 256 bits; two codes differ in at most as many bits as their digests are apart by tlsh_distance(). Example: SELECT length(tlsh_code(repeat(''0'', 70)))';
