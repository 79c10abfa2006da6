-- Triggers against near copies ---------------------------------------------------------------------------------------
-- VOLATILE, so that they see the rows that the same statement has inserted before.

CREATE FUNCTION neardup_guard() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_guard() IS
  'BEFORE INSERT OR UPDATE trigger that refuses near copies: (signature, threshold [, ''refuse'' or ''skip''])';

CREATE FUNCTION neardup_flag() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_flag() IS
  'BEFORE INSERT OR UPDATE trigger that marks near copies: (signature, threshold, column to fill [, column to fill it from])';
