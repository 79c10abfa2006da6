-- I-Match: one hash of the words that tell documents apart -----------------------------------------------------------------

CREATE FUNCTION neardup_term_counts(query text, OUT term text, OUT documents bigint) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_term_counts(text) IS
  'private: documents of a query that hold each word, in parts that add up; term NULL: how many documents there are';

-- Of schema.name, after an error that it exists already, which may have come of a type. CREATE TABLE waits for another session that takes the
-- name, and ends in an error of a catalog; to_regclass() then still gives what the cache holds, until a relation is locked: here by asking for its size.
CREATE FUNCTION neardup_made_meanwhile(relation text) RETURNS boolean LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT count(pg_relation_size(c.oid)) > 0 FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
  WHERE s.nspname = (parse_ident(relation))[1] AND c.relname = (parse_ident(relation))[2]
  $$;
COMMENT ON FUNCTION neardup_made_meanwhile(text) IS 'private: whether there is a relation of this name by now';

CREATE FUNCTION create_lexicon(name text, query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  named text[];
  schema text;
  lexicon text;
  documents bigint;
  terms bigint;
BEGIN
  IF name IS NULL OR query IS NULL THEN
    RAISE EXCEPTION 'name and query must not be NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  named := pg_catalog.parse_ident(name);
  IF pg_catalog.array_length(named, 1) > 2 THEN
    RAISE EXCEPTION 'the name of a lexicon is a name or schema.name: %', name USING ERRCODE = 'invalid_name';
  END IF;
  schema := COALESCE(CASE WHEN pg_catalog.array_length(named, 1) = 2 THEN named[1] END, current_schema());
  IF schema IS NULL THEN
    RAISE EXCEPTION 'no schema has been selected to create in' USING ERRCODE = 'invalid_schema_name';
  END IF;
  lexicon := pg_catalog.format('%I.%I', schema, named[pg_catalog.array_length(named, 1)]);
  IF octet_length(named[pg_catalog.array_length(named, 1)]) > 63 THEN
    RAISE EXCEPTION 'the name of a lexicon has at most 63 bytes: % has %', name, octet_length(named[pg_catalog.array_length(named, 1)])
      USING ERRCODE = 'name_too_long';
  END IF;
  LOOP
    IF to_regclass(lexicon) IS NOT NULL THEN
      RAISE EXCEPTION 'relation % exists already', lexicon USING ERRCODE = 'duplicate_table', HINT = 'Drop it, or choose another name.';
    END IF;
    BEGIN
      EXECUTE pg_catalog.format('CREATE TABLE %s (term text COLLATE "C" NOT NULL, document_frequency bigint NOT NULL, idf float8 NOT NULL)', lexicon);
      EXIT;
    EXCEPTION WHEN duplicate_table OR duplicate_object OR unique_violation THEN
      IF NOT @extschema@.neardup_made_meanwhile(lexicon) THEN RAISE; END IF;
    END;
  END LOOP;
  EXECUTE pg_catalog.format('WITH part AS MATERIALIZED (SELECT * FROM @extschema@.neardup_term_counts($1)),
                    all_of_them AS (SELECT p.documents::float8 AS n FROM part p WHERE p.term IS NULL),
                    counted AS (SELECT p.term, sum(p.documents)::bigint AS documents FROM part p WHERE p.term IS NOT NULL GROUP BY p.term)
                  INSERT INTO %s SELECT c.term, c.documents, ln(a.n OPERATOR(pg_catalog./) c.documents::float8) FROM counted c, all_of_them a', lexicon) USING query;
  GET DIAGNOSTICS terms = ROW_COUNT;
  IF terms = 0 THEN
    RAISE EXCEPTION 'query returned no document that holds a word' USING ERRCODE = 'no_data_found';
  END IF;
  EXECUTE pg_catalog.format('ALTER TABLE %s ADD PRIMARY KEY (term)', lexicon);
  EXECUTE pg_catalog.format('SELECT round(document_frequency::float8 OPERATOR(pg_catalog.*) exp(idf)) FROM %s LIMIT 1', lexicon) INTO documents;
  EXECUTE pg_catalog.format('COMMENT ON TABLE %s IS %L', lexicon, pg_catalog.format('lexicon of %s documents', documents));
  RETURN terms;
END $$;
COMMENT ON FUNCTION create_lexicon(text, text) IS
  'makes a table of the words of a query''s documents: how many documents hold each, and its idf; returns how many words';

CREATE FUNCTION i_match(doc text, lexicon regclass, low float8 = 0.2, high float8 = 0.9) RETURNS uuid
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 500;
COMMENT ON FUNCTION i_match(text, regclass, float8, float8) IS
  'fingerprint of the words of a document whose normalised idf is from low to high; NULL where there is none';

CREATE FUNCTION i_match_bag(doc text, lexicon regclass, variants int = 8, low float8 = 0.2, high float8 = 0.9, share float8 = 0.67)
  RETURNS uuid[] AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 800;
COMMENT ON FUNCTION i_match_bag(text, regclass, int, float8, float8, float8) IS
  'i_match, and fingerprints under variants of the lexicon that keep that share of it: documents whose arrays overlap are near';
