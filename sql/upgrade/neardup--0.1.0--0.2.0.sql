-- From 0.1.0 to 0.2.0: a word model may take a discount off its counts.
\echo Use "ALTER EXTENSION neardup UPDATE TO '0.2.0'" to load this file. \quit

-- Views and functions of users may depend on it: then it stays, as it is, under another name.
DO $$
BEGIN
  DROP FUNCTION @extschema@.word_similarities(text, int, int, int, boolean, int, text[], regdictionary, text);
EXCEPTION
  WHEN dependent_objects_still_exist THEN
    ALTER FUNCTION @extschema@.word_similarities(text, int, int, int, boolean, int, text[], regdictionary, text)
      RENAME TO neardup_word_similarities_0_1_0;
    COMMENT ON FUNCTION @extschema@.neardup_word_similarities_0_1_0(text, int, int, int, boolean, int, text[], regdictionary, text) IS
      'private: word_similarities() of 0.1.0, for what was made with it';
END $$;
CREATE FUNCTION word_similarities(query text, vocabulary int = 100000, k int = 50, "window" int = 3, by_position boolean = true,
    features int = NULL, stopwords text[] = NULL, dictionary regdictionary = NULL, context text = 'sentence', discount float8 = 0)
  RETURNS TABLE (word text, similar_word text, similarity float8, rank int)
  AS 'MODULE_PATHNAME', 'word_similarities' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000000;
COMMENT ON FUNCTION word_similarities(text, int, int, int, boolean, int, text[], regdictionary, text, float8) IS
  'the k most similar words of each of the most frequent words of a query''s documents, by the words that they stand near to';

ALTER TYPE neardup_word_model ADD ATTRIBUTE discount float8 CASCADE;

DROP FUNCTION neardup_count_words(text, int, int, int, boolean, int, text[], regdictionary, text);
CREATE FUNCTION neardup_count_words(query text, vocabulary int, k int, "window" int, by_position boolean, features int, stopwords text[],
    dictionary regdictionary, context text, discount float8, OUT id int, OUT word text, OUT frequency bigint, OUT weight bigint, OUT features_of bytea)
  RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_count_words(text, int, int, int, boolean, int, text[], regdictionary, text, float8) IS
  'private: the words of a word model with their features';

CREATE OR REPLACE FUNCTION neardup_same_word_model(m neardup_word_model, n neardup_word_model) RETURNS boolean LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT (m.query, m.vocabulary, m.k, m."window", m.by_position, m.features, m.stopwords, m.dictionary, m.context, COALESCE(m.discount, 0)) IS NOT DISTINCT FROM
         (n.query, n.vocabulary, n.k, n."window", n.by_position, n.features, n.stopwords, n.dictionary, n.context, COALESCE(n.discount, 0))
  $$;

DROP PROCEDURE create_word_model(text, text, int, int, int, boolean, int, text[], regdictionary, text, boolean, interval);
DROP PROCEDURE neardup_make_word_model(text, text, int, int, int, boolean, int, text[], regdictionary, text, boolean, interval);
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
  n := ROW(query, vocabulary, k, "window", by_position, features, stopwords,
           @extschema@.neardup_dictionary_name(dictionary), context);
  n.discount := discount;
  IF to_regclass(t.settings) IS NULL OR to_regclass(t.words) IS NULL THEN
    IF COALESCE(to_regclass(t.words), to_regclass(t.settings)) IS NOT NULL THEN
      RAISE EXCEPTION 'relation "%" already exists', COALESCE(to_regclass(t.words), to_regclass(t.settings)) USING ERRCODE = 'duplicate_table';
    END IF;
    n.given := @extschema@.neardup_words_given(query);
    -- Refuses bad arguments before anything is made.
    PERFORM FROM @extschema@.neardup_count_words(CASE WHEN n.given THEN 'SELECT NULL::text[] LIMIT 0' ELSE 'SELECT NULL::text LIMIT 0' END,
                                                 vocabulary, k, "window", by_position, features, stopwords, dictionary, context, discount);
    n.compared := 0;
    n.started := clock_timestamp();
    EXECUTE pg_catalog.format('CREATE TABLE %s OF @extschema@.neardup_word (id PRIMARY KEY, word NOT NULL UNIQUE, frequency NOT NULL, '
                              'weight NOT NULL, features NOT NULL)', t.words);
    EXECUTE pg_catalog.format('ALTER TABLE %s ALTER COLUMN features SET STORAGE EXTERNAL', t.words);
    EXECUTE pg_catalog.format('CREATE TABLE %s OF @extschema@.neardup_word_model', t.settings);
    EXECUTE pg_catalog.format('INSERT INTO %s SELECT ($1).*', t.settings) USING n;
    IF commit THEN COMMIT; END IF;
  END IF;

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
