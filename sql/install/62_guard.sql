-- Triggers against near copies ---------------------------------------------------------------------------------------
-- VOLATILE, so that they see the rows that the same statement has inserted before.

CREATE FUNCTION neardup_guard() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_guard() IS
  'BEFORE INSERT OR UPDATE trigger that refuses near copies, or skips them: (signature, threshold [, ''refuse'' or ''skip'']). Example: CREATE TRIGGER no_copies BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard(''sig'', ''0.9'')';

CREATE FUNCTION neardup_flag() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_flag() IS
  'BEFORE INSERT OR UPDATE trigger that marks near copies: (signature, threshold, column to fill [, column to fill it from]). Example: CREATE TRIGGER flag_copies BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION neardup_flag(''sig'', ''0.9'', ''copy_of'')';
