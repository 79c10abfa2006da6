-- The type minhash ---------------------------------------------------------------------------------------------------

CREATE TYPE minhash;

CREATE FUNCTION neardup_internal.minhash_in(cstring, oid, int) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_out(minhash) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_recv(internal, oid, int) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_send(minhash) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_typmod_in(cstring[]) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_typmod_out(int) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE minhash (
  INPUT = neardup_internal.minhash_in, OUTPUT = neardup_internal.minhash_out,
  RECEIVE = neardup_internal.minhash_recv, SEND = neardup_internal.minhash_send,
  TYPMOD_IN = neardup_internal.minhash_typmod_in, TYPMOD_OUT = neardup_internal.minhash_typmod_out,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external
);
COMMENT ON TYPE minhash IS
  'MinHash signature of a set (Fast Similarity Sketching). A column of type minhash(num_perm [, bits]) accepts only signatures of that size. Example: SELECT to_minhash(''a text of some words'')';

CREATE FUNCTION neardup_internal.minhash_check_typmod(minhash, int, boolean) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.minhash_check_typmod(minhash, int, boolean) IS
  'private: enforces the type modifier';
CREATE CAST (minhash AS minhash) WITH FUNCTION neardup_internal.minhash_check_typmod(minhash, int, boolean) AS IMPLICIT;

-- Constructors

CREATE FUNCTION to_minhash(doc text, k int = 3, unit text = 'word', num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'minhash_from_document' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_minhash(text, int, text, int, int, bigint) IS
  'MinHash signature of the k-shingles of a document. unit is ''word'', ''char'', ''line'', ''paragraph'' or ''code''. Example: SELECT to_minhash(''a text of some words'', k => 3, unit => ''word'')';
CREATE FUNCTION to_minhash(doc bytea, k int = 8, num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'minhash_from_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_minhash(bytea, int, int, int, bigint) IS
  'MinHash signature of the runs of k bytes of a document. Example: SELECT to_minhash(decode(''0123456789abcdef0123'', ''hex''), k => 8)';
CREATE FUNCTION minhash_like(doc text, model minhash)
  RETURNS minhash AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION minhash_like(text, minhash) IS
  'MinHash signature of a document with the parameters of another signature, which was made from a text. Example: SELECT minhash_like(''a text of some words'', to_minhash(''another text'', k => 2))';
CREATE FUNCTION set_minhash(elements text[], num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'minhash_from_text_set' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION set_minhash(text[], int, int, bigint) IS
  'MinHash signature of a set of texts; order and repetitions do not matter. Example: SELECT set_minhash(ARRAY[''cat'', ''dog'', ''mouse''])';
CREATE FUNCTION set_minhash(elements bigint[], num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'minhash_from_bigint_set' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION set_minhash(bigint[], int, int, bigint) IS
  'MinHash signature of a set of numbers; order and repetitions do not matter. Example: SELECT set_minhash(ARRAY[1, 2, 3]::bigint[])';
CREATE FUNCTION set_minhash(elements text, num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'set_minhash_of_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION set_minhash(text, int, int, bigint) IS
  'Raises an error that shows how to write an array. Example: SELECT set_minhash(''{cat,dog,mouse}''::text[])';
CREATE FUNCTION minhash_import(components bigint[], bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash_import(bigint[], int, bigint) IS
  'MinHash signature from 16 to 4096 components that another program computed; comparable only with other imported signatures of the same size, bits and seed. Example: SELECT minhash_import(array(SELECT generate_series(1, 128)), bits => 32)';

-- Parts

CREATE FUNCTION minhash_parameters(signature minhash, OUT format int, OUT source text, OUT unit text, OUT k int,
    OUT num_perm int, OUT bits int, OUT seed bigint, OUT tokenizer int)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_parameters(minhash) IS
  'Parameters of a signature: source, unit, k, num_perm, bits, seed and others. Example: SELECT * FROM minhash_parameters(to_minhash(''a text of some words''))';
CREATE FUNCTION minhash_components(signature minhash) RETURNS bigint[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_components(minhash) IS
  'Components of a signature as numbers; for an empty set, all of them have the greatest value. Example: SELECT minhash_components(to_minhash(''a text of some words''))';
CREATE FUNCTION set_size(signature minhash) RETURNS float8
  AS 'MODULE_PATHNAME', 'minhash_set_size' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION set_size(minhash) IS
  'Estimated number of distinct elements of the signed set; for a weighted set, the sum of its weights. Not for 8 bits, nor for imported signatures. Example: SELECT set_size(to_minhash(''a text of some words''))';

-- Unions and aggregates

CREATE FUNCTION minhash_union(a minhash, b minhash) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_union(minhash, minhash) IS
  'Signature of the union of two sets, for signatures of 16 or 32 bits. Example: SELECT minhash_union(to_minhash(''some text''), to_minhash(''some other text''))';
CREATE FUNCTION neardup_internal.minhash_union_final(minhash) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_internal.minhash_union_final(minhash) IS
  'private: refuses a union of one signature of 8 bits, as of several';
CREATE AGGREGATE minhash_union_agg(signature minhash) (
  SFUNC = minhash_union, STYPE = minhash, FINALFUNC = neardup_internal.minhash_union_final,
  COMBINEFUNC = minhash_union, PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_union_agg(minhash) IS
  'Signature of the union of all sets, for signatures of 16 or 32 bits. Example: SELECT minhash_union_agg(sig) FROM (VALUES (to_minhash(''some text'')), (to_minhash(''some other text''))) v (sig)';

CREATE FUNCTION neardup_internal.minhash_agg_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_agg_serialize(internal) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_agg_deserialize(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION neardup_internal.minhash_agg_final(internal) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

DO $do$
DECLARE
  e record;
  p record;
BEGIN
  FOR e IN VALUES ('text', 'element', 'word', '(''cat''), (''dog'')'), ('bigint', 'number', 'n', '(10), (20)') LOOP
    FOR p IN VALUES
      ('', '', '', ''),
      (', num_perm int', ', int', ', with num_perm', ', 64'),
      (', num_perm int, bits int', ', int, int', ', with num_perm and bits', ', 64, 16'),
      (', num_perm int, bits int, seed bigint', ', int, int, bigint', ', with num_perm, bits and seed', ', 64, 16, 1')
    LOOP
      EXECUTE pg_catalog.format($sql$
        CREATE FUNCTION neardup_internal.minhash_agg_%1$s(internal, %1$s%3$s) RETURNS internal
          AS 'MODULE_PATHNAME', 'minhash_agg_%1$s' LANGUAGE C IMMUTABLE PARALLEL SAFE;
        CREATE AGGREGATE minhash_agg(element %1$s%2$s) (
          SFUNC = neardup_internal.minhash_agg_%1$s, STYPE = internal, SSPACE = 1200,
          FINALFUNC = neardup_internal.minhash_agg_final, COMBINEFUNC = neardup_internal.minhash_agg_combine,
          SERIALFUNC = neardup_internal.minhash_agg_serialize,
          DESERIALFUNC = neardup_internal.minhash_agg_deserialize, PARALLEL = SAFE)
        $sql$, e.column1, p.column1, p.column2);
      EXECUTE pg_catalog.format('COMMENT ON AGGREGATE minhash_agg(%s%s) IS %L', e.column1, p.column2, pg_catalog.format(
        'MinHash signature of the set of all %1$ss%4$s; NULL if there is no %1$s. '
        'Example: SELECT minhash_agg(%2$s%5$s) FROM (VALUES %3$s) v (%2$s)',
        e.column2, e.column3, e.column4, p.column3, p.column4));
    END LOOP;
  END LOOP;
END $do$;

