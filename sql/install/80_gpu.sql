-- The GPU: what is there

CREATE FUNCTION neardup_devices()
RETURNS TABLE (device int, name text, memory_bytes bigint, compute_capability text, driver text,
               usable boolean, reason text)
AS 'MODULE_PATHNAME', 'neardup_devices'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 100000 ROWS 1;
COMMENT ON FUNCTION neardup_devices() IS
  'GPUs of this machine, and whether each can be used. If there is none, one row with a NULL device and the reason. Example: SELECT * FROM neardup_devices()';
