-- Edit distances of documents ----------------------------------------------------------------------------------------

CREATE FUNCTION edit_distance(a text, b text, max_distance int = 2147483647) RETURNS int
  AS 'MODULE_PATHNAME', 'edit_distance_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION edit_distance(text, text, int) IS
  'Levenshtein distance in characters: the least number of characters to insert, delete or replace; NULL if it is above max_distance. Example: SELECT edit_distance(''kitten'', ''sitting'')';
CREATE FUNCTION edit_rate(a text, b text, max_rate float8 = 1.0) RETURNS float8
  AS 'MODULE_PATHNAME', 'edit_rate_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION edit_rate(text, text, float8) IS
  'Levenshtein distance in characters divided by the sum of both lengths, 0 to 1; NULL if it is above max_rate. Example: SELECT edit_rate(''kitten'', ''sitting'')';
CREATE FUNCTION edit_distance(a bytea, b bytea, max_distance int = 2147483647) RETURNS int
  AS 'MODULE_PATHNAME', 'edit_distance_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION edit_distance(bytea, bytea, int) IS
  'Levenshtein distance in bytes: the least number of bytes to insert, delete or replace; NULL if it is above max_distance. Example: SELECT edit_distance(decode(''010203'', ''hex''), decode(''0103'', ''hex''))';
CREATE FUNCTION edit_rate(a bytea, b bytea, max_rate float8 = 1.0) RETURNS float8
  AS 'MODULE_PATHNAME', 'edit_rate_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION edit_rate(bytea, bytea, float8) IS
  'Levenshtein distance in bytes divided by the sum of both lengths, 0 to 1; NULL if it is above max_rate. Example: SELECT edit_rate(decode(''010203'', ''hex''), decode(''0103'', ''hex''))';
