-- Edit distances of documents ----------------------------------------------------------------------------------------

CREATE FUNCTION edit_distance(a text, b text, max_distance int = 2147483647) RETURNS int
  AS 'MODULE_PATHNAME', 'edit_distance_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION edit_distance(text, text, int) IS
  'Levenshtein distance in characters: least number to insert, delete or replace; NULL above max_distance';
CREATE FUNCTION edit_rate(a text, b text, max_rate float8 = 1.0) RETURNS float8
  AS 'MODULE_PATHNAME', 'edit_rate_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION edit_rate(text, text, float8) IS
  'edit_distance over the sum of both lengths, 0 to 1; NULL above max_rate';
CREATE FUNCTION edit_distance(a bytea, b bytea, max_distance int = 2147483647) RETURNS int
  AS 'MODULE_PATHNAME', 'edit_distance_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION edit_distance(bytea, bytea, int) IS
  'Levenshtein distance in bytes: least number to insert, delete or replace; NULL above max_distance';
CREATE FUNCTION edit_rate(a bytea, b bytea, max_rate float8 = 1.0) RETURNS float8
  AS 'MODULE_PATHNAME', 'edit_rate_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION edit_rate(bytea, bytea, float8) IS
  'edit_distance over the sum of both lengths, 0 to 1; NULL above max_rate';
