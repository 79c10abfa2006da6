-- Text intake --------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_detect_encoding(document bytea, OUT encoding text, OUT confidence float8)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_detect_encoding(bytea) IS
  'encoding of a document, by PostgreSQL''s name, and how likely that is the right one, 0 to 1';

CREATE FUNCTION neardup_to_utf8(document bytea) RETURNS text
  AS 'MODULE_PATHNAME', 'neardup_to_utf8_detected' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_to_utf8(bytea) IS
  'document as text, its encoding detected; an error where a character is broken';
CREATE FUNCTION neardup_to_utf8(document bytea, encoding text, invalid text = 'error') RETURNS text
  AS 'MODULE_PATHNAME', 'neardup_to_utf8' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_to_utf8(bytea, text, text) IS
  'document in the named encoding as text; broken characters are an error, or dropped';

CREATE FUNCTION neardup_decode(document bytea, encoding text = NULL, OUT body text, OUT encoding text,
    OUT confidence float8, OUT dropped bigint)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_decode(bytea, text) IS
  'document as text without its broken characters, how many were dropped, and the encoding, detected unless named';

CREATE FUNCTION neardup_signed_text(document bytea, encoding text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_signed_text(bytea, text) IS
  'as neardup_decode(), and a character that the database''s encoding lacks is spelled, such as u4e2d, as a word of its own';

CREATE FUNCTION neardup_to_simplified(body text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_to_simplified(text) IS 'Chinese text in simplified characters, by OpenCC (t2s)';
CREATE FUNCTION neardup_to_traditional(body text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_to_traditional(text) IS 'Chinese text in traditional characters, by OpenCC (s2t)';

CREATE TYPE neardup_rule AS (name text, kind text, pattern text, replacement text, position int);
COMMENT ON TYPE neardup_rule IS
  'a rule of neardup_clean: kind line, block, text, head or tail; pattern as RE2 reads it; applied by position';
CREATE FUNCTION neardup_default_rules() RETURNS SETOF neardup_rule
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 20;
COMMENT ON FUNCTION neardup_default_rules() IS 'the built-in rules of neardup_clean';
CREATE FUNCTION neardup_clean(body text, rules neardup_rule[] = NULL, OUT body text, OUT kept float8, OUT fired text[])
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_clean(text, neardup_rule[]) IS
  'text without what the rules find; the share of characters kept; the rules that changed something';

CREATE FUNCTION neardup_text_quality(body text, OUT kept float8, OUT length bigint, OUT letters float8,
    OUT repetition float8, OUT score float8)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION neardup_text_quality(text) IS
  'share kept by the built-in rules, characters, share of letters, share repeated, and a score of them, 0 to 1';
CREATE FUNCTION neardup_text_score(body text) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION neardup_text_score(text) IS 'the score of neardup_text_quality alone';

CREATE FUNCTION neardup_title(filename text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_title(text) IS 'title that people read, from the name of a file';

CREATE FUNCTION neardup_characters(body text) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_characters(text) IS 'number of characters of a text; in a SQL_ASCII database those of its UTF-8';
CREATE FUNCTION neardup_internal.neardup_first_characters(body text, most int) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.neardup_first_characters(text, int) IS
  'private: the first characters of a text; in a SQL_ASCII database those of its UTF-8';
