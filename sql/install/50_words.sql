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
CREATE FUNCTION neardup_word_tables(named text[], OUT words text, OUT settings text) LANGUAGE sql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT format('%I.%I', named[1], named[2]), format('%I.%I', named[1], named[2] || '_model')
  $$;
COMMENT ON FUNCTION neardup_word_tables(text[]) IS 'private: names of a word model''s tables';

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
  word_table regclass := to_regclass(words);
  settings_table regclass := to_regclass(settings);
BEGIN
  PERFORM @extschema@.neardup_held_name(word_table), @extschema@.neardup_held_name(settings_table);
  -- what follows names them as the caller does: the schema may have another name since they were looked up
  IF to_regclass(words) IS DISTINCT FROM word_table OR to_regclass(settings) IS DISTINCT FROM settings_table THEN
    RAISE EXCEPTION 'name % now refers to a different relation', words USING ERRCODE = 'object_not_in_prerequisite_state',
      DETAIL = 'The schema was renamed concurrently.';
  END IF;
  IF NOT COALESCE(@extschema@.neardup_is_word_table(word_table, '@extschema@.neardup_word'::regtype), false)
     OR NOT COALESCE(@extschema@.neardup_is_word_table(settings_table, '@extschema@.neardup_word_model'::regtype), false) THEN
    RAISE EXCEPTION '% is no word model', words USING ERRCODE = 'wrong_object_type', HINT = 'create_word_model() makes one.';
  END IF;
  IF EXISTS (SELECT FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
             WHERE c.oid IN (word_table, settings_table) AND r.rolname <> current_user) THEN
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

-- Whether the model is still to be made; an error where one of its names is taken.
CREATE FUNCTION neardup_word_model_missing(words text, settings text) RETURNS boolean LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  taken regclass := COALESCE(to_regclass(words), to_regclass(settings));
BEGIN
  IF to_regclass(words) IS NOT NULL AND to_regclass(settings) IS NOT NULL THEN RETURN false; END IF;
  IF taken IS NOT NULL THEN
    RAISE EXCEPTION 'relation "%" already exists', taken USING ERRCODE = 'duplicate_table';
  END IF;
  RETURN true;
END $$;
COMMENT ON FUNCTION neardup_word_model_missing(text, text) IS 'private: whether the tables of a word model are to be made';

CREATE FUNCTION neardup_make_word_tables(words text, settings text, n neardup_word_model) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  n.compared := 0;
  n.started := clock_timestamp();
  EXECUTE format('CREATE TABLE %s OF @extschema@.neardup_word (id PRIMARY KEY, word NOT NULL UNIQUE, frequency NOT NULL, '
                 'weight NOT NULL, features NOT NULL)', words);
  PERFORM @extschema@.neardup_made_here(words);
  EXECUTE format('ALTER TABLE %s ALTER COLUMN features SET STORAGE EXTERNAL', words);
  EXECUTE format('CREATE TABLE %s OF @extschema@.neardup_word_model', settings);
  PERFORM @extschema@.neardup_made_here(settings);
  -- a publication of all tables lets none be updated that has no key
  EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', settings);
  EXECUTE format('INSERT INTO %s SELECT ($1).*', settings) USING n;
EXCEPTION WHEN duplicate_table OR duplicate_object OR unique_violation THEN
  IF NOT (@extschema@.neardup_made_meanwhile(words) OR @extschema@.neardup_made_meanwhile(settings)) THEN RAISE; END IF;
END $$;
COMMENT ON FUNCTION neardup_make_word_tables(text, text, neardup_word_model) IS 'private: the tables of a word model, without words';

CREATE FUNCTION neardup_commit_seconds(query text, commit_every interval) RETURNS float8 LANGUAGE plpgsql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  seconds float8 := extract(epoch FROM commit_every);
BEGIN
  IF query IS NULL THEN RAISE EXCEPTION 'query must not be NULL' USING ERRCODE = 'null_value_not_allowed'; END IF;
  IF seconds IS NULL OR seconds < 0 THEN
    RAISE EXCEPTION 'commit_every must not be negative: %', COALESCE(commit_every::text, 'NULL') USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN seconds;
END $$;
COMMENT ON FUNCTION neardup_commit_seconds(text, interval) IS 'private: seconds between commits of create_word_model()';

-- The model as it is locked, if it is the one that is asked for, and not finished.
CREATE FUNCTION neardup_begun_word_model(name text, words text, settings text, n neardup_word_model) RETURNS neardup_word_model LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  m @extschema@.neardup_word_model := @extschema@.neardup_lock_word_model(words, settings);
BEGIN
  IF m.finished IS NOT NULL THEN
    RAISE EXCEPTION 'word model "%" already exists', name USING ERRCODE = 'duplicate_table',
      HINT = 'drop_word_model() removes it.';
  END IF;
  IF NOT @extschema@.neardup_same_word_model(m, n) THEN
    RAISE EXCEPTION 'word model "%" was begun with other arguments', name USING ERRCODE = 'duplicate_table',
      DETAIL = format('They stand in %s.', settings),
      HINT = 'The same arguments go on with it; drop_word_model() removes it.';
  END IF;
  RETURN m;
END $$;
COMMENT ON FUNCTION neardup_begun_word_model(text, text, text, neardup_word_model) IS 'private: a word model that is to be made, or gone on with';

-- After a commit: the model is locked again, if it is as it was then.
CREATE FUNCTION neardup_same_as_before(name text, words text, settings text, before neardup_word_model) RETURNS neardup_word_model LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  m @extschema@.neardup_word_model := @extschema@.neardup_lock_word_model(words, settings);
BEGIN
  IF m.started IS DISTINCT FROM before.started OR m.words IS DISTINCT FROM before.words OR m.compared IS DISTINCT FROM before.compared
     OR m.finished IS NOT NULL THEN
    RAISE EXCEPTION 'word model "%" was made anew meanwhile', name USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  RETURN m;
END $$;
COMMENT ON FUNCTION neardup_same_as_before(text, text, text, neardup_word_model) IS 'private: a word model after a commit';

-- Goes on for about so many seconds; the model as it is then.
CREATE FUNCTION neardup_compare_words(words text, settings text, m neardup_word_model, seconds float8) RETURNS neardup_word_model LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  columns int := greatest(1, least(COALESCE(m.features, m.words), m.words)) * CASE WHEN m.by_position THEN 2 * m."window" ELSE 1 END;
BEGIN
  EXECUTE format(
    'WITH s AS MATERIALIZED (SELECT * FROM @extschema@.neardup_similar_words($1, $2, $3, $4, $5, $6)), '
    'u AS (UPDATE %s w SET similar_ids = s.similar_ids, similarities = s.similarities FROM s WHERE w.id = s.id '
    '      AND (w.similar_ids = s.similar_ids AND w.similarities = s.similarities) IS NOT TRUE) '
    'SELECT max(id) + 1 FROM s', words)
    INTO m.compared USING words::regclass, m.words, columns, m.k, m.compared, seconds;
  EXECUTE format('UPDATE %s SET compared = $1', settings) USING m.compared;
  RETURN m;
END $$;
COMMENT ON FUNCTION neardup_compare_words(text, text, neardup_word_model, float8) IS 'private: compares further words of a word model';

CREATE FUNCTION neardup_is_compared(m neardup_word_model) RETURNS boolean LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT m.compared >= m.words
  $$;
COMMENT ON FUNCTION neardup_is_compared(neardup_word_model) IS 'private: whether all words of a word model are compared';

CREATE FUNCTION neardup_finish_word_model(words text, settings text) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('UPDATE %s SET finished = clock_timestamp()', settings);
  EXECUTE format('ANALYZE %s', words);
END $$;
COMMENT ON FUNCTION neardup_finish_word_model(text, text) IS 'private: marks a word model as finished';

-- Without a search_path of its own: the query runs with that of the caller, and a procedure that sets one may not commit. All else is qualified.
CREATE PROCEDURE neardup_make_word_model(name text, query text, vocabulary int, k int, "window" int, by_position boolean, features int,
    stopwords text[], dictionary regdictionary, context text, discount float8, commit boolean, commit_every interval) LANGUAGE plpgsql AS $$
DECLARE
  t record;
  m @extschema@.neardup_word_model;
  n @extschema@.neardup_word_model;
  seconds pg_catalog.float8 := @extschema@.neardup_commit_seconds(query, commit_every);
BEGIN
  SELECT * INTO t FROM @extschema@.neardup_word_tables(@extschema@.neardup_new_name(name, 'a word model'::pg_catalog.text, 57));
  n.query := query; n.vocabulary := vocabulary; n.k := k; n."window" := "window"; n.by_position := by_position; n.features := features;
  n.stopwords := stopwords; n.dictionary := @extschema@.neardup_dictionary_name(dictionary); n.context := context; n.discount := discount;
  WHILE @extschema@.neardup_word_model_missing(t.words, t.settings) LOOP
    n.given := @extschema@.neardup_words_given(query);
    -- Refuses bad arguments before anything is made.
    PERFORM FROM @extschema@.neardup_count_words(CASE WHEN n.given THEN 'SELECT NULL::pg_catalog.text[] LIMIT 0'::pg_catalog.text ELSE 'SELECT NULL::pg_catalog.text LIMIT 0'::pg_catalog.text END,
                                                 vocabulary, k, "window", by_position, features, stopwords, dictionary, context, discount);
    PERFORM @extschema@.neardup_make_word_tables(t.words, t.settings, n);
    IF commit THEN COMMIT; END IF;
  END LOOP;
  m := @extschema@.neardup_begun_word_model(name, t.words, t.settings, n);
  IF m.words IS NULL THEN
    EXECUTE pg_catalog.format('INSERT INTO %s (id, word, frequency, weight, features) '
      'SELECT c.id, c.word, c.frequency, c.weight, c.features_of FROM @extschema@.neardup_count_words($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) c', t.words)
      USING query, vocabulary, k, "window", by_position, features, stopwords, dictionary, context, discount;
    GET DIAGNOSTICS m.words = ROW_COUNT;
    EXECUTE pg_catalog.format('UPDATE %s SET words = $1, counted = pg_catalog.clock_timestamp()', t.settings) USING m.words;
    IF commit THEN
      COMMIT;
      m := @extschema@.neardup_same_as_before(name, t.words, t.settings, m);
    END IF;
  END IF;
  WHILE NOT @extschema@.neardup_is_compared(m) LOOP
    m := @extschema@.neardup_compare_words(t.words, t.settings, m, seconds);
    IF commit THEN
      COMMIT;
      m := @extschema@.neardup_same_as_before(name, t.words, t.settings, m);
    END IF;
  END LOOP;
  PERFORM @extschema@.neardup_finish_word_model(t.words, t.settings);
END $$;
COMMENT ON PROCEDURE neardup_make_word_model(text, text, int, int, int, boolean, int, text[], regdictionary, text, float8, boolean, interval) IS
  'private: create_word_model()';
CREATE PROCEDURE create_word_model(name text, query text, vocabulary int = 100000, k int = 50, "window" int = 3,
    by_position boolean = true, features int = NULL, stopwords text[] = NULL, dictionary regdictionary = NULL,
    context text = 'sentence', discount float8 = 0, commit boolean = true, commit_every interval = '30 seconds')
  AS 'MODULE_PATHNAME', 'neardup_create_word_model' LANGUAGE C;
COMMENT ON PROCEDURE create_word_model(text, text, int, int, int, boolean, int, text[], regdictionary, text, float8, boolean, interval) IS
  'makes a word model of a query''s documents; commits after each stage, and goes on where an interrupted call stopped';

CREATE FUNCTION neardup_drop_word_model(named text[]) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t record;
  tables oid[];
BEGIN
  SELECT * INTO t FROM @extschema@.neardup_word_tables(named);
  tables := ARRAY(SELECT x.relation FROM (VALUES (to_regclass(t.words)::oid, '@extschema@.neardup_word'::regtype::oid),
                                                 (to_regclass(t.settings)::oid, '@extschema@.neardup_word_model'::regtype::oid)) x(relation, type)
                  JOIN pg_class c ON c.oid = x.relation AND c.reloftype = x.type AND c.relkind = 'r');
  IF tables = '{}' THEN
    RAISE EXCEPTION 'there is no word model "%"', named[2] USING ERRCODE = 'undefined_table';
  END IF;
  PERFORM @extschema@.neardup_drop_tables(tables);
END $$;
COMMENT ON FUNCTION neardup_drop_word_model(text[]) IS 'private: drops the tables of a word model';
CREATE FUNCTION drop_word_model(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM @extschema@.neardup_drop_word_model(@extschema@.neardup_new_name(name, 'a word model'::pg_catalog.text, 57));
END $$;
COMMENT ON FUNCTION drop_word_model(text) IS 'drops the tables of a word model';

-- Using --------------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_word_model_of(model regclass) RETURNS neardup_word_model
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_word_model_of(regclass) IS 'private: settings of a word model that is finished';
CREATE FUNCTION neardup_word_of(model regclass, word text, OUT features bytea, OUT similar_ids int[], OUT similarities float8[])
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_word_of(regclass, text) IS 'private: what a word model holds of a word';
CREATE FUNCTION neardup_words_at(model regclass, ids int[]) RETURNS text[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_words_at(regclass, int[]) IS 'private: words of a word model by their ids';

CREATE FUNCTION word_similarity(model regclass, w1 text, w2 text) RETURNS float8 LANGUAGE plpgsql STABLE STRICT
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  given boolean := (@extschema@.neardup_word_model_of(model)).given;
BEGIN
  RETURN @extschema@.neardup_row_similarity(
    (@extschema@.neardup_word_of(model, CASE WHEN given THEN w1 ELSE @extschema@.neardup_folded_word(w1) END)).features,
    (@extschema@.neardup_word_of(model, CASE WHEN given THEN w2 ELSE @extschema@.neardup_folded_word(w2) END)).features);
END $$;
COMMENT ON FUNCTION word_similarity(regclass, text, text) IS
  'similarity of two words of a word model, 0 to 1; NULL where one is not in it, or neither has features';

CREATE FUNCTION neardup_similar_to(model regclass, word text, k int, OUT similar_word text, OUT similarity float8, OUT rank int) RETURNS SETOF record
  LANGUAGE sql STABLE ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
  SELECT s.word, s.similarity, s.rank::int FROM @extschema@.neardup_word_of(model, word) w,
    unnest(@extschema@.neardup_words_at(model, w.similar_ids[1:k]), w.similarities[1:k]) WITH ORDINALITY s(word, similarity, rank) ORDER BY s.rank
  $$;
COMMENT ON FUNCTION neardup_similar_to(regclass, text, int) IS 'private: the k most similar words of a word as it is stored';

CREATE FUNCTION similar_words(model regclass, word text, k int = 10) RETURNS TABLE (similar_word text, similarity float8, rank int)
LANGUAGE plpgsql STABLE STRICT ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  given boolean := (@extschema@.neardup_word_model_of(model)).given;
BEGIN
  IF k NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'k must be 1 to 1000: %', k USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY SELECT s.similar_word, s.similarity, s.rank
    FROM @extschema@.neardup_similar_to(model, CASE WHEN given THEN word ELSE @extschema@.neardup_folded_word(word) END, k) s;
END $$;
COMMENT ON FUNCTION similar_words(regclass, text, int) IS 'the k most similar words of a word, or as many as the word model has';

CREATE FUNCTION expand_query(model regclass, query text, k int = 3)
  RETURNS TABLE (place int, word text, similar_word text, similarity float8) LANGUAGE plpgsql STABLE STRICT ROWS 20
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM @extschema@.neardup_word_model_of(model);
  IF k NOT BETWEEN 0 AND 1000 THEN
    RAISE EXCEPTION 'k must be 0 to 1000: %', k USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY SELECT q.place::int, q.word, x.similar_word, x.similarity FROM @extschema@.shingles(query, 1) WITH ORDINALITY q(word, place)
    CROSS JOIN LATERAL (SELECT q.word AS similar_word, 1::float8 AS similarity, 0 AS rank UNION ALL
      SELECT s.similar_word, s.similarity, s.rank FROM @extschema@.neardup_similar_to(model, q.word, k) s) x ORDER BY q.place, x.rank;
END $$;
COMMENT ON FUNCTION expand_query(regclass, text, int) IS
  'the words of a text in order, each followed by its k most similar words';
