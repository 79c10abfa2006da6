-- Text intake --------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_detect_encoding(document bytea, OUT encoding text, OUT confidence float8)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_detect_encoding(bytea) IS
  'Encoding of a document, by the name that PostgreSQL gives it, and the probability that this is correct, 0 to 1. Example: SELECT * FROM neardup_detect_encoding(decode(''cff0e8e2e5f22c20ece8f0'', ''hex''))';

CREATE FUNCTION neardup_to_utf8(document bytea) RETURNS text
  AS 'MODULE_PATHNAME', 'neardup_to_utf8_detected' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_to_utf8(bytea) IS
  'Converts a document to text; detects its encoding. A broken character raises an error. Example: SELECT neardup_to_utf8(decode(''d09fd180d0b8d0b2d0b5d182'', ''hex''))';
CREATE FUNCTION neardup_to_utf8(document bytea, encoding text, invalid text = 'error') RETURNS text
  AS 'MODULE_PATHNAME', 'neardup_to_utf8' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_to_utf8(bytea, text, text) IS
  'Converts a document in the named encoding to text. Broken characters raise an error, or are dropped with invalid => ''drop''. Example: SELECT neardup_to_utf8(decode(''cff0e8e2e5f2'', ''hex''), ''WIN1251'')';

CREATE FUNCTION neardup_decode(document bytea, encoding text = NULL, OUT body text, OUT encoding text,
    OUT confidence float8, OUT dropped bigint)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_decode(bytea, text) IS
  'Converts a document to text and drops its broken characters. Returns the text, the encoding (detected unless it is given), the confidence, and the number of dropped characters. Example: SELECT * FROM neardup_decode(decode(''cff0e8e2e5f2'', ''hex''), ''WIN1251'')';

CREATE FUNCTION neardup_signed_text(document bytea, encoding text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_signed_text(bytea, text) IS
  'Converts a document to text as neardup_decode() does, but spells a character that the encoding of the database lacks as a word, such as u4e2d. Example: SELECT neardup_signed_text(decode(''cff0e8e2e5f2'', ''hex''), ''WIN1251'')';

CREATE FUNCTION neardup_to_simplified(body text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_to_simplified(text) IS
  'Converts Chinese text to simplified characters with OpenCC (t2s). Example: SELECT neardup_to_simplified(convert_from(decode(''e6bca2e5ad97'', ''hex''), ''UTF8''))';
CREATE FUNCTION neardup_to_traditional(body text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_to_traditional(text) IS
  'Converts Chinese text to traditional characters with OpenCC (s2t). Example: SELECT neardup_to_traditional(convert_from(decode(''e6b189e5ad97'', ''hex''), ''UTF8''))';

CREATE TYPE neardup_rule AS (name text, kind text, pattern text, replacement text, position int);
COMMENT ON TYPE neardup_rule IS
  'Rule of neardup_clean(): kind is line, block, text, head or tail; pattern is a regular expression of RE2; rules apply in order of position. Example: SELECT ROW(''page number'', ''line'', ''^[0-9]+$'', '''', 1)::neardup_rule';
CREATE FUNCTION neardup_default_rules() RETURNS SETOF neardup_rule
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 20;
COMMENT ON FUNCTION neardup_default_rules() IS 'Built-in rules of neardup_clean(). Example: SELECT * FROM neardup_default_rules()';
CREATE FUNCTION neardup_clean(body text, rules neardup_rule[] = NULL, OUT body text, OUT kept float8, OUT fired text[])
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_clean(text, neardup_rule[]) IS
  'Removes from a text what the rules find (the built-in rules by default). Returns the text, the share of characters kept, and the names of the rules that changed it. Example: SELECT * FROM neardup_clean(''A text of some words.'')';

CREATE FUNCTION neardup_text_quality(body text, OUT kept float8, OUT length bigint, OUT letters float8,
    OUT repetition float8, OUT score float8)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION neardup_text_quality(text) IS
  'Measures of a text: share of characters that the built-in rules keep, length, share of letters, share of repetition, and a score from 0 to 1. Example: SELECT * FROM neardup_text_quality(''A text of some words.'')';
CREATE FUNCTION neardup_text_score(body text) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION neardup_text_score(text) IS
  'Score of neardup_text_quality() for a text, 0 to 1. Example: SELECT neardup_text_score(''A text of some words.'')';

CREATE FUNCTION neardup_title(filename text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_title(text) IS 'Title made from a file name. Example: SELECT neardup_title(''annual_report-2024.pdf'')';

CREATE FUNCTION neardup_characters(body text) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_characters(text) IS
  'Number of characters of a text; in a SQL_ASCII database, of its UTF-8 characters. Example: SELECT neardup_characters(''a text of some words'')';
CREATE FUNCTION neardup_internal.neardup_first_characters(body text, most int) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.neardup_first_characters(text, int) IS
  'private: the first characters of a text; in a SQL_ASCII database those of its UTF-8';
