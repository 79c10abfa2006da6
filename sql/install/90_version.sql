-- Version ------------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_version(OUT sql text, OUT library text, OUT format int, OUT tokenizer int, OUT unicode text,
    OUT kernels text)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_version() IS
  'Versions of the SQL objects, of the library and of the stored formats, and the kernels in use. Example: SELECT * FROM neardup_version()';
