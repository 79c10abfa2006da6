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

CREATE FUNCTION neardup_make_lexicon(named text[], query text) RETURNS text LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  lexicon text := format('%I.%I', named[1], named[2]);
BEGIN
  IF query IS NULL THEN
    RAISE EXCEPTION 'name and query must not be NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  LOOP
    IF to_regclass(lexicon) IS NOT NULL THEN
      RAISE EXCEPTION 'relation % exists already', lexicon USING ERRCODE = 'duplicate_table', HINT = 'Drop it, or choose another name.';
    END IF;
    BEGIN
      EXECUTE format('CREATE TABLE %s (term text COLLATE "C" NOT NULL, document_frequency bigint NOT NULL, idf float8 NOT NULL)', lexicon);
      EXIT;
    EXCEPTION WHEN duplicate_table OR duplicate_object OR unique_violation THEN
      IF NOT @extschema@.neardup_made_meanwhile(lexicon) THEN RAISE; END IF;
    END;
  END LOOP;
  PERFORM @extschema@.neardup_made_here(lexicon);
  RETURN lexicon;
END $$;
COMMENT ON FUNCTION neardup_make_lexicon(text[], text) IS 'private: the table of a lexicon, empty';

CREATE FUNCTION neardup_finish_lexicon(lexicon text, terms bigint) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  documents bigint;
BEGIN
  IF terms = 0 THEN
    RAISE EXCEPTION 'query returned no document that holds a word' USING ERRCODE = 'no_data_found';
  END IF;
  EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (term)', lexicon);
  EXECUTE format('SELECT round(document_frequency::float8 * exp(idf)) FROM %s LIMIT 1', lexicon) INTO documents;
  EXECUTE format('COMMENT ON TABLE %s IS %L', lexicon, format('lexicon of %s documents', documents));
END $$;
COMMENT ON FUNCTION neardup_finish_lexicon(text, bigint) IS 'private: key and comment of a lexicon that has its terms';

-- Without a search_path of its own: the query runs with that of the caller. All else is qualified.
CREATE FUNCTION create_lexicon(name text, query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  lexicon pg_catalog.text := @extschema@.neardup_make_lexicon(@extschema@.neardup_new_name(name, 'a lexicon'::pg_catalog.text, 63), query);
  terms pg_catalog.int8;
BEGIN
  EXECUTE pg_catalog.format('WITH part AS MATERIALIZED (SELECT * FROM @extschema@.neardup_term_counts($1)),
      all_of_them AS (SELECT p.documents::pg_catalog.float8 AS n FROM part p WHERE p.term IS NULL),
      counted AS (SELECT p.term, pg_catalog.sum(p.documents)::pg_catalog.int8 AS documents FROM part p WHERE p.term IS NOT NULL GROUP BY p.term)
    INSERT INTO %s SELECT c.term, c.documents, pg_catalog.ln(a.n OPERATOR(pg_catalog./) c.documents::pg_catalog.float8)
    FROM counted c, all_of_them a', lexicon) USING query;
  GET DIAGNOSTICS terms = ROW_COUNT;
  PERFORM @extschema@.neardup_finish_lexicon(lexicon, terms);
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
