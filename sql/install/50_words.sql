-- Word similarity from a corpus ----------------------------------------------------------------------------------------------
-- A word model is two tables of its owner: <name>, of type neardup_word, a row for each word; <name>_model, of type
-- neardup_word_model, the one row that says how it is made and how far it is.

CREATE FUNCTION word_similarities(query text, vocabulary int = 100000, k int = 50, "window" int = 3, by_position boolean = true,
    features int = NULL, stopwords text[] = NULL, dictionary regdictionary = NULL, context text = 'sentence', discount float8 = 0)
  RETURNS TABLE (word text, similar_word text, similarity float8, rank int)
  AS 'MODULE_PATHNAME', 'word_similarities' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000000;
COMMENT ON FUNCTION word_similarities(text, int, int, int, boolean, int, text[], regdictionary, text, float8) IS
  'the k most similar words of each of the most frequent words of a query''s documents, by the words that they stand near to';

CREATE TYPE neardup_word AS (id int, word text COLLATE "C", frequency bigint, weight bigint, features bytea,
  similar_ids int[], similarities float8[]);
COMMENT ON TYPE neardup_word IS 'a word of a word model: the row of a table that create_word_model() makes';

CREATE TYPE neardup_word_model AS (query text, vocabulary int, k int, "window" int, by_position boolean, features int,
  stopwords text[], dictionary text, context text,
  given boolean,          -- documents are text[]: words are as they were given
  words int,              -- that there are; NULL: not counted yet
  compared int,           -- words before this id have been compared with all before them
  started timestamptz, counted timestamptz, finished timestamptz,
  discount float8);       -- NULL: made by 0.1.0, without one
COMMENT ON TYPE neardup_word_model IS 'how a word model is made: the row of a table that create_word_model() makes';

CREATE FUNCTION neardup_count_words(query text, vocabulary int, k int, "window" int, by_position boolean, features int, stopwords text[],
    dictionary regdictionary, context text, discount float8, OUT id int, OUT word text, OUT frequency bigint, OUT weight bigint, OUT features_of bytea)
  RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_count_words(text, int, int, int, boolean, int, text[], regdictionary, text, float8) IS
  'private: the words of a word model with their features';
CREATE FUNCTION neardup_words_given(query text) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_words_given(text) IS 'private: whether the documents of a query are text[]';
CREATE FUNCTION neardup_similar_words(model regclass, words int, features int, k int, compared int, seconds float8, OUT id int,
    OUT similar_ids int[], OUT similarities float8[])
  RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_similar_words(regclass, int, int, int, int, float8) IS
  'private: compares further words of a word model for some seconds; all words so far with the most similar of them';
CREATE FUNCTION neardup_row_similarity(a bytea, b bytea) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_row_similarity(bytea, bytea) IS 'private: similarity of two words by their stored features';
CREATE FUNCTION neardup_folded_word(word text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_folded_word(text) IS 'private: the word as documents give it; NULL for what is not one word';

-- Making -------------------------------------------------------------------------------------------------------------

-- schema and name of a model's two tables, quoted.
CREATE FUNCTION neardup_word_model_names(name text, OUT words text, OUT settings text) LANGUAGE plpgsql STABLE AS $$
DECLARE
  named text[];
  schema text;
BEGIN
  IF name IS NULL THEN RAISE EXCEPTION 'name must not be NULL' USING ERRCODE = 'null_value_not_allowed'; END IF;
  named := pg_catalog.parse_ident(name);
  IF pg_catalog.array_length(named, 1) > 2 THEN
    RAISE EXCEPTION 'the name of a word model is a name or schema.name: %', name USING ERRCODE = 'invalid_name';
  END IF;
  IF octet_length(named[pg_catalog.array_length(named, 1)]) > 57 THEN
    RAISE EXCEPTION 'the name of a word model must be at most 57 bytes: %', name USING ERRCODE = 'name_too_long';
  END IF;
  schema := COALESCE(CASE WHEN pg_catalog.array_length(named, 1) = 2 THEN named[1] END, current_schema());
  IF schema IS NULL THEN
    RAISE EXCEPTION 'no schema has been selected to create a word model in' USING ERRCODE = 'undefined_schema',
      HINT = 'Give its name as schema.name.';
  END IF;
  words := pg_catalog.format('%I.%I', schema, named[pg_catalog.array_length(named, 1)]);
  settings := pg_catalog.format('%I.%I', schema, pg_catalog.concat(named[pg_catalog.array_length(named, 1)], '_model'));
END $$;
COMMENT ON FUNCTION neardup_word_model_names(text) IS 'private: names of a word model''s tables';

-- What follows may be called about tables of others, and must not run what they, or others, have put in the way: names are
-- looked up in pg_catalog alone, and tables are tables of the right type.
-- A policy would be run by whoever reads the table.
CREATE FUNCTION neardup_is_word_table(relation regclass, type regtype) RETURNS boolean LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
                 WHERE c.oid = relation AND c.reloftype = type AND c.relkind = 'r' AND (NOT row_security_active(c.oid) OR r.rolname = current_user))
  $$;
COMMENT ON FUNCTION neardup_is_word_table(regclass, regtype) IS 'private: whether a relation is a table of a type of word models';

-- The row of settings, locked until the transaction ends.
CREATE FUNCTION neardup_lock_word_model(words text, settings text) RETURNS neardup_word_model LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  m @extschema@.neardup_word_model;
BEGIN
  IF NOT COALESCE(@extschema@.neardup_is_word_table(to_regclass(words), '@extschema@.neardup_word'), false)
     OR NOT COALESCE(@extschema@.neardup_is_word_table(to_regclass(settings), '@extschema@.neardup_word_model'), false) THEN
    RAISE EXCEPTION '% is no word model', words USING ERRCODE = 'wrong_object_type', HINT = 'create_word_model() makes one.';
  END IF;
  IF EXISTS (SELECT FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
             WHERE c.oid IN (to_regclass(words), to_regclass(settings)) AND r.rolname <> current_user) THEN
    RAISE EXCEPTION 'word model % belongs to another role', words USING ERRCODE = 'insufficient_privilege',
      HINT = 'Only its owner goes on with it.';
  END IF;
  BEGIN
    EXECUTE pg_catalog.format('SELECT * FROM %s FOR UPDATE NOWAIT', settings) INTO STRICT m;
  EXCEPTION
    WHEN lock_not_available THEN
      RAISE EXCEPTION 'another session is making the word model of %', settings USING ERRCODE = 'lock_not_available';
    WHEN no_data_found OR too_many_rows THEN
      RAISE EXCEPTION '% does not have one row, as the settings of a word model have', settings USING ERRCODE = 'data_corrupted',
        HINT = 'drop_word_model() removes it.';
  END;
  RETURN m;
END $$;
COMMENT ON FUNCTION neardup_lock_word_model(text, text) IS 'private: settings of a word model, for the session that makes it';

-- Whether two models are to be made alike.
CREATE FUNCTION neardup_same_word_model(m neardup_word_model, n neardup_word_model) RETURNS boolean LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT (m.query, m.vocabulary, m.k, m."window", m.by_position, m.features, m.stopwords, m.dictionary, m.context, COALESCE(m.discount, 0)) IS NOT DISTINCT FROM
         (n.query, n.vocabulary, n.k, n."window", n.by_position, n.features, n.stopwords, n.dictionary, n.context, COALESCE(n.discount, 0))
  $$;
COMMENT ON FUNCTION neardup_same_word_model(neardup_word_model, neardup_word_model) IS 'private: whether two word models are made alike';

CREATE FUNCTION neardup_dictionary_name(dictionary regdictionary) RETURNS text LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT format('%I.%I', s.nspname, d.dictname) FROM pg_ts_dict d JOIN pg_namespace s ON s.oid = d.dictnamespace WHERE d.oid = dictionary
  $$;
COMMENT ON FUNCTION neardup_dictionary_name(regdictionary) IS 'private: name of a dictionary with its schema';

CREATE PROCEDURE neardup_make_word_model(name text, query text, vocabulary int, k int, "window" int, by_position boolean, features int,
    stopwords text[], dictionary regdictionary, context text, discount float8, commit boolean, commit_every interval) LANGUAGE plpgsql AS $$
DECLARE
  t record;
  m @extschema@.neardup_word_model;
  n @extschema@.neardup_word_model;
  seconds float8 := extract(epoch FROM commit_every);
  columns int;
  done int;
  begun timestamptz;
BEGIN
  SELECT * INTO t FROM @extschema@.neardup_word_model_names(name);
  IF query IS NULL THEN RAISE EXCEPTION 'query must not be NULL' USING ERRCODE = 'null_value_not_allowed'; END IF;
  IF seconds IS NULL OR seconds < 0::float8 THEN
    RAISE EXCEPTION 'commit_every must not be negative: %', COALESCE(commit_every::text, 'NULL') USING ERRCODE = 'invalid_parameter_value';
  END IF;
  n.query := query; n.vocabulary := vocabulary; n.k := k; n."window" := "window"; n.by_position := by_position; n.features := features;
  n.stopwords := stopwords; n.dictionary := @extschema@.neardup_dictionary_name(dictionary); n.context := context; n.discount := discount;
  WHILE to_regclass(t.settings) IS NULL OR to_regclass(t.words) IS NULL LOOP
    IF COALESCE(to_regclass(t.words), to_regclass(t.settings)) IS NOT NULL THEN
      RAISE EXCEPTION 'relation "%" already exists', COALESCE(to_regclass(t.words), to_regclass(t.settings)) USING ERRCODE = 'duplicate_table';
    END IF;
    n.given := @extschema@.neardup_words_given(query);
    -- Refuses bad arguments before anything is made.
    PERFORM FROM @extschema@.neardup_count_words(CASE WHEN n.given THEN 'SELECT NULL::text[] LIMIT 0' ELSE 'SELECT NULL::text LIMIT 0' END,
                                                 vocabulary, k, "window", by_position, features, stopwords, dictionary, context, discount);
    n.compared := 0;
    n.started := clock_timestamp();
    BEGIN
      EXECUTE pg_catalog.format('CREATE TABLE %s OF @extschema@.neardup_word (id PRIMARY KEY, word NOT NULL UNIQUE, frequency NOT NULL, '
                                'weight NOT NULL, features NOT NULL)', t.words);
      EXECUTE pg_catalog.format('ALTER TABLE %s ALTER COLUMN features SET STORAGE EXTERNAL', t.words);
      EXECUTE pg_catalog.format('CREATE TABLE %s OF @extschema@.neardup_word_model', t.settings);
      -- a publication of all tables lets none be updated that has no key
      EXECUTE pg_catalog.format('ALTER TABLE %s REPLICA IDENTITY FULL', t.settings);
      EXECUTE pg_catalog.format('INSERT INTO %s SELECT ($1).*', t.settings) USING n;
    EXCEPTION WHEN duplicate_table OR duplicate_object OR unique_violation THEN
      IF NOT (@extschema@.neardup_made_meanwhile(t.words) OR @extschema@.neardup_made_meanwhile(t.settings)) THEN RAISE; END IF;
    END;
    IF commit THEN COMMIT; END IF;
  END LOOP;

  m := @extschema@.neardup_lock_word_model(t.words, t.settings);
  begun := m.started;
  IF m.finished IS NOT NULL THEN
    RAISE EXCEPTION 'word model "%" already exists', name USING ERRCODE = 'duplicate_table',
      HINT = 'drop_word_model() removes it.';
  END IF;
  IF NOT @extschema@.neardup_same_word_model(m, n) THEN
    RAISE EXCEPTION 'word model "%" was begun with other arguments', name USING ERRCODE = 'duplicate_table',
      DETAIL = pg_catalog.format('They stand in %s.', t.settings),
      HINT = 'The same arguments go on with it; drop_word_model() removes it.';
  END IF;

  IF m.words IS NULL THEN
    EXECUTE pg_catalog.format('INSERT INTO %s (id, word, frequency, weight, features) '
      'SELECT c.id, c.word, c.frequency, c.weight, c.features_of FROM @extschema@.neardup_count_words($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) c', t.words)
      USING query, vocabulary, k, "window", by_position, features, stopwords, dictionary, context, discount;
    GET DIAGNOSTICS done = ROW_COUNT;
    m.words := done;
    EXECUTE pg_catalog.format('UPDATE %s SET words = $1, counted = clock_timestamp()', t.settings) USING done;
    IF commit THEN
      COMMIT;
      m := @extschema@.neardup_lock_word_model(t.words, t.settings);
      IF m.started IS DISTINCT FROM begun OR m.words IS DISTINCT FROM done OR m.finished IS NOT NULL THEN
        RAISE EXCEPTION 'word model "%" was made anew meanwhile', name USING ERRCODE = 'object_not_in_prerequisite_state';
      END IF;
    END IF;
  END IF;

  columns := greatest(1, least(COALESCE(features, m.words), m.words)) * CASE WHEN by_position THEN 2 * "window" ELSE 1 END;
  WHILE m.compared < m.words LOOP
    EXECUTE pg_catalog.format(
      'WITH s AS MATERIALIZED (SELECT * FROM @extschema@.neardup_similar_words($1, $2, $3, $4, $5, $6)), '
      'u AS (UPDATE %s w SET similar_ids = s.similar_ids, similarities = s.similarities FROM s WHERE w.id = s.id '
      '      AND (w.similar_ids OPERATOR(pg_catalog.=) s.similar_ids AND w.similarities OPERATOR(pg_catalog.=) s.similarities) IS NOT TRUE) '
      'SELECT max(id) + 1 FROM s', t.words)
      INTO done USING t.words::regclass, m.words, columns, m.k, m.compared, seconds;
    EXECUTE pg_catalog.format('UPDATE %s SET compared = $1', t.settings) USING done;
    m.compared := done;
    IF commit THEN
      COMMIT;
      m := @extschema@.neardup_lock_word_model(t.words, t.settings);
      IF m.started IS DISTINCT FROM begun OR m.compared IS DISTINCT FROM done OR m.finished IS NOT NULL THEN
        RAISE EXCEPTION 'word model "%" was made anew meanwhile', name USING ERRCODE = 'object_not_in_prerequisite_state';
      END IF;
    END IF;
  END LOOP;
  EXECUTE pg_catalog.format('UPDATE %s SET finished = clock_timestamp()', t.settings);
  EXECUTE pg_catalog.format('ANALYZE %s', t.words);
END $$;
COMMENT ON PROCEDURE neardup_make_word_model(text, text, int, int, int, boolean, int, text[], regdictionary, text, float8, boolean, interval) IS
  'private: create_word_model()';
CREATE PROCEDURE create_word_model(name text, query text, vocabulary int = 100000, k int = 50, "window" int = 3,
    by_position boolean = true, features int = NULL, stopwords text[] = NULL, dictionary regdictionary = NULL,
    context text = 'sentence', discount float8 = 0, commit boolean = true, commit_every interval = '30 seconds')
  AS 'MODULE_PATHNAME', 'neardup_create_word_model' LANGUAGE C;
COMMENT ON PROCEDURE create_word_model(text, text, int, int, int, boolean, int, text[], regdictionary, text, float8, boolean, interval) IS
  'makes a word model of a query''s documents; commits after each stage, and goes on where an interrupted call stopped';

CREATE FUNCTION drop_word_model(name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  t record;
BEGIN
  SELECT * INTO t FROM @extschema@.neardup_word_model_names(name);
  IF NOT @extschema@.neardup_is_word_table(to_regclass(t.words), '@extschema@.neardup_word') THEN t.words := NULL; END IF;
  IF NOT @extschema@.neardup_is_word_table(to_regclass(t.settings), '@extschema@.neardup_word_model') THEN t.settings := NULL; END IF;
  IF t.words IS NULL AND t.settings IS NULL THEN
    RAISE EXCEPTION 'there is no word model "%"', name USING ERRCODE = 'undefined_table';
  END IF;
  PERFORM @extschema@.neardup_drop('TABLE', VARIADIC ARRAY[t.words, t.settings]);
END $$;
COMMENT ON FUNCTION drop_word_model(text) IS 'drops the tables of a word model';

-- Using --------------------------------------------------------------------------------------------------------------

-- The settings of a model that is finished.
CREATE FUNCTION neardup_word_model_of(model regclass) RETURNS neardup_word_model LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  settings text;
  m @extschema@.neardup_word_model;
BEGIN
  SELECT format('%I.%I', n.nspname, c.relname::text || '_model') INTO settings
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = model;
  IF NOT @extschema@.neardup_is_word_table(model, '@extschema@.neardup_word')
     OR NOT COALESCE(@extschema@.neardup_is_word_table(to_regclass(settings), '@extschema@.neardup_word_model'), false) THEN
    RAISE EXCEPTION '% is no word model', model USING ERRCODE = 'wrong_object_type', HINT = 'create_word_model() makes one.';
  END IF;
  EXECUTE format('SELECT * FROM %s', settings) INTO m;
  IF m.words IS NULL OR m.compared < m.words THEN
    RAISE EXCEPTION 'word model % is not finished', model USING ERRCODE = 'object_not_in_prerequisite_state',
      HINT = 'The same CALL create_word_model(...) goes on with it.';
  END IF;
  RETURN m;
END $$;
COMMENT ON FUNCTION neardup_word_model_of(regclass) IS 'private: settings of a word model';

CREATE FUNCTION word_similarity(model regclass, w1 text, w2 text) RETURNS float8 LANGUAGE plpgsql STABLE STRICT
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  given boolean;
  s float8;
BEGIN
  given := (@extschema@.neardup_word_model_of(model)).given;
  EXECUTE pg_catalog.format('SELECT @extschema@.neardup_row_similarity(a.features, b.features) FROM %s a, %s b WHERE a.word = $1 AND b.word = $2',
                            model, model)
    INTO s USING CASE WHEN given THEN w1 ELSE @extschema@.neardup_folded_word(w1) END,
                 CASE WHEN given THEN w2 ELSE @extschema@.neardup_folded_word(w2) END;
  RETURN s;
END $$;
COMMENT ON FUNCTION word_similarity(regclass, text, text) IS
  'similarity of two words of a word model, 0 to 1; NULL where one is not in it, or neither has features';

CREATE FUNCTION similar_words(model regclass, word text, k int = 10) RETURNS TABLE (similar_word text, similarity float8, rank int)
LANGUAGE plpgsql STABLE STRICT ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  m @extschema@.neardup_word_model;
BEGIN
  m := @extschema@.neardup_word_model_of(model);
  IF k NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'k must be 1 to 1000: %', k USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY EXECUTE pg_catalog.format(
    'SELECT o.word::text, s.similarity, s.rank::int FROM %s w, unnest(w.similar_ids, w.similarities) WITH ORDINALITY s(id, similarity, rank), %s o '
    'WHERE w.word = $1 AND s.rank <= $2 AND o.id = s.id ORDER BY s.rank', model, model)
    USING CASE WHEN m.given THEN word ELSE @extschema@.neardup_folded_word(word) END, k;
END $$;
COMMENT ON FUNCTION similar_words(regclass, text, int) IS 'the k most similar words of a word, or as many as the word model has';

CREATE FUNCTION expand_query(model regclass, query text, k int = 3)
  RETURNS TABLE (place int, word text, similar_word text, similarity float8) LANGUAGE plpgsql STABLE STRICT ROWS 20
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  m @extschema@.neardup_word_model;
BEGIN
  m := @extschema@.neardup_word_model_of(model);
  IF k NOT BETWEEN 0 AND 1000 THEN
    RAISE EXCEPTION 'k must be 0 to 1000: %', k USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY EXECUTE pg_catalog.format(
    'SELECT q.place::int, q.word, x.similar_word, x.similarity FROM @extschema@.shingles($1, 1) WITH ORDINALITY q(word, place) '
    'CROSS JOIN LATERAL (SELECT q.word AS similar_word, 1::float8 AS similarity, 0::bigint AS rank UNION ALL '
    '  SELECT o.word::text, s.similarity, s.rank FROM %s w, unnest(w.similar_ids, w.similarities) WITH ORDINALITY s(id, similarity, rank), %s o '
    '  WHERE w.word = q.word AND s.rank <= $2 AND o.id = s.id) x ORDER BY q.place, x.rank', model, model)
    USING query, k;
END $$;
COMMENT ON FUNCTION expand_query(regclass, text, int) IS
  'the words of a text in order, each followed by its k most similar words';
