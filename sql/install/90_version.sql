-- Version ------------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_version(OUT sql text, OUT library text, OUT format int, OUT tokenizer int, OUT unicode text,
    OUT kernels text)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_version() IS
  'versions of the SQL objects, the library, the signature format and the tokenizer, and the code form in use';
