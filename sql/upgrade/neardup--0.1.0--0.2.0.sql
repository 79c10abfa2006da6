-- From 0.1.0 to 0.2.0: a word model may take a discount off its counts; jobs see changes in foreign partitions.
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
    RAISE WARNING 'word_similarities() of 0.1.0 is kept as neardup_word_similarities_0_1_0(), since views or functions depend on it'
      USING HINT = 'A dump with them cannot be restored where 0.2.0 was installed anew. Make them again with word_similarities(), then: '
        'ALTER EXTENSION neardup DROP FUNCTION @extschema@.neardup_word_similarities_0_1_0; '
        'DROP FUNCTION @extschema@.neardup_word_similarities_0_1_0;';
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
           @extschema@.neardup_dictionary_name(dictionary), context, NULL, NULL, NULL, NULL, NULL, NULL, discount);
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

-- Jobs over tables with foreign partitions compare documents.
CREATE FUNCTION neardup_job_stored(source regclass) RETURNS boolean LANGUAGE sql STABLE AS $$
  WITH RECURSIVE part AS (SELECT source::oid AS oid UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN part ON i.inhparent = part.oid)
  SELECT bool_and(c.relkind IN ('r', 'p', 'm')) FROM part JOIN pg_catalog.pg_class c ON c.oid = part.oid
  $$;
COMMENT ON FUNCTION neardup_job_stored(regclass) IS 'private: whether place and version of its rows tell what has changed; NULL where there is no such relation';
CREATE OR REPLACE FUNCTION neardup_job_rows(j neardup_job) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  stored boolean := @extschema@.neardup_job_stored(j.source);
  within text := '';
  body_type regtype;
BEGIN
  IF stored IS NULL THEN
    RAISE EXCEPTION 'the source of the job has been dropped' USING ERRCODE = 'undefined_table',
      HINT = 'drop_duplicates() drops the job.';
  END IF;
  PERFORM @extschema@.neardup_job_column(j.source, j.id, 'id');
  IF j.body IS NOT NULL THEN
    body_type := @extschema@.neardup_job_column(j.source, j.body, 'body');
    IF body_type NOT IN ('text'::regtype, 'varchar'::regtype, 'bytea'::regtype) THEN
      RAISE EXCEPTION 'body column "%" is %, not text or bytea', j.body, body_type USING ERRCODE = 'datatype_mismatch';
    END IF;
  END IF;
  FOR i IN 1 .. COALESCE(pg_catalog.array_length(j.within, 1), 0) LOOP
    PERFORM @extschema@.neardup_job_column(j.source, j.within[i], 'within');
    within := within || pg_catalog.format(', %I AS within_%s', j.within[i], i);
  END LOOP;
  IF j.at IS NOT NULL THEN PERFORM @extschema@.neardup_job_column(j.source, j.at, 'at'); END IF;
  RETURN pg_catalog.format('SELECT %I AS id, %s, %s AS key%s%s, %I AS body FROM %s WHERE true%s%s',
    j.id, CASE WHEN stored THEN 'tableoid AS origin, ctid AS place, xmin AS version'
               ELSE 'NULL::oid AS origin, NULL::tid AS place, NULL::xid AS version' END,
    @extschema@.neardup_job_key(j), within, CASE WHEN j.at IS NOT NULL THEN pg_catalog.format(', %I AS at', j.at) END, COALESCE(j.body, j.signature), j.source,
    COALESCE(' AND (' || j.filter || ')', ''), COALESCE(' AND (' || j.deleted || ') IS NOT TRUE', ''));
END $$;
CREATE OR REPLACE FUNCTION neardup_refresh_list(job regclass, j neardup_job) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  todo text := @extschema@.neardup_job_temp(job, 'todo');
  rows text := @extschema@.neardup_job_rows(j);
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  changed text;
  n bigint;
BEGIN
  IF j.resync THEN
    changed := 'true';
  ELSIF @extschema@.neardup_job_stored(j.source) THEN
    changed := 'g.origin IS DISTINCT FROM l.origin OR g.place IS DISTINCT FROM l.place OR g.version IS DISTINCT FROM l.version';
  ELSE
    changed := pg_catalog.format('g.content IS DISTINCT FROM %s OR %s', @extschema@.neardup_job_hash(j, @extschema@.neardup_job_kind(j), 'l.body'),
                      @extschema@.neardup_job_differs(j, 'g', 'l'));
  END IF;
  PERFORM @extschema@.neardup_drop('TABLE', todo);
  EXECUTE pg_catalog.format(
    'CREATE TEMP TABLE %s AS SELECT row_number() OVER () AS n, t.* FROM (
       SELECT l.id, false AS gone FROM (%s) l LEFT JOIN %s g ON g.id = l.id WHERE g.id IS NULL OR g.gone OR %s
       UNION ALL
       SELECT g.id, true FROM %s g WHERE NOT g.gone AND NOT EXISTS (SELECT FROM (%s) l WHERE l.id = g.id)) t',
    split_part(todo, '.', 2), rows, signatures, changed, signatures, rows);
  GET DIAGNOSTICS n = ROW_COUNT;
  EXECUTE pg_catalog.format('CREATE INDEX ON %s (n)', todo);
  EXECUTE pg_catalog.format('ANALYZE %s', todo);
  RETURN n;
END $$;

-- Jobs say so where ids are not unique.
CREATE OR REPLACE FUNCTION neardup_refresh_sign(job regclass, j neardup_job, after bigint, upto bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  todo text := @extschema@.neardup_job_temp(job, 'todo');
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  kind text := @extschema@.neardup_job_kind(j);
  more text[] := ARRAY['key'] || COALESCE((SELECT array_agg('within_' || i ORDER BY i) FROM generate_series(1, pg_catalog.array_length(j.within, 1)) i), '{}')
                 || CASE WHEN j.at IS NOT NULL THEN ARRAY['at'] ELSE '{}' END;
  sign text := CASE WHEN j.body IS NULL THEN 'b.body'
                    ELSE @extschema@.neardup_sign_sql(@extschema@.neardup_profile_named(j.profile), j.body_type, 'b.body') END;
BEGIN
  EXECUTE pg_catalog.format(
    'INSERT INTO %1$s AS g (id, signature, old_signature, content, origin, place, version, generation, gone, %2$s)
     SELECT b.id, CASE WHEN b.same THEN b.signature ELSE %3$s END,
            CASE WHEN b.clustered AND b.changed THEN b.signature ELSE b.old_signature END,
            b.content, b.origin, b.place, b.version, CASE WHEN b.changed THEN $3 ELSE b.generation END, false, %4$s
     FROM (SELECT l.*, o.signature, o.old_signature, COALESCE(o.generation, 0) AS generation,
                  o.id IS NOT NULL AND o.generation <= $4 AS clustered,
                  o.id IS NOT NULL AND o.content IS NOT DISTINCT FROM l.content AS same,
                  o.id IS NULL OR o.gone OR o.content IS DISTINCT FROM l.content OR %5$s AS changed
           FROM (SELECT l.*, %6$s AS content FROM %7$s t JOIN (%8$s) l ON l.id = t.id
                 WHERE t.n > $1 AND t.n <= $2 AND NOT t.gone OFFSET 0) l
           LEFT JOIN %1$s o ON o.id = l.id OFFSET 0) b
     ON CONFLICT (id) DO UPDATE SET signature = EXCLUDED.signature, old_signature = EXCLUDED.old_signature,
       content = EXCLUDED.content, origin = EXCLUDED.origin, place = EXCLUDED.place, version = EXCLUDED.version,
       generation = EXCLUDED.generation, gone = false, %9$s',
    signatures, array_to_string(more, ', '), sign, (SELECT string_agg('b.' || c, ', ' ORDER BY i) FROM unnest(more) WITH ORDINALITY u(c, i)),
    @extschema@.neardup_job_differs(j, 'o', 'l'), @extschema@.neardup_job_hash(j, kind, 'l.body'), todo, @extschema@.neardup_job_rows(j),
    (SELECT string_agg(pg_catalog.format('%s = EXCLUDED.%s', c, c), ', ') FROM unnest(more) c))
    USING after, upto, j.refresh, j.clustered;
  EXECUTE pg_catalog.format(
    'UPDATE %s g SET gone = true, old_signature = CASE WHEN g.generation <= $4 THEN g.signature ELSE g.old_signature END, generation = $3
     FROM %s t WHERE t.n > $1 AND t.n <= $2 AND t.gone AND g.id = t.id AND NOT g.gone', signatures, todo)
    USING after, upto, j.refresh, j.clustered;
EXCEPTION WHEN cardinality_violation THEN
  RAISE EXCEPTION 'the column "%" of % is not unique', j.id, j.source USING ERRCODE = 'cardinality_violation';
END $$;

-- Its pattern is read alike whatever standard_conforming_strings is.
CREATE OR REPLACE FUNCTION neardup_reading_cursor(query text, what text, columns text[]) RETURNS refcursor LANGUAGE plpgsql STABLE AS $$
DECLARE
  c refcursor;
  body text := regexp_replace(query, E';[\\s;]*(--[^\\n]*\\s*)*$', '');
BEGIN
  IF query IS NULL THEN
    RAISE EXCEPTION '% must not be NULL', what USING ERRCODE = 'null_value_not_allowed';
  END IF;
  -- once as it stands, so that a second statement in it is seen for what it is
  BEGIN
    OPEN c NO SCROLL FOR EXECUTE query;
    CLOSE c;
  EXCEPTION WHEN invalid_cursor_definition OR feature_not_supported THEN
    RAISE EXCEPTION '% must be one SELECT, VALUES or TABLE statement that only reads', what
      USING ERRCODE = 'feature_not_supported', DETAIL = 'PostgreSQL says: ' || SQLERRM || '.';
  END;
  c := NULL;
  BEGIN
    OPEN c NO SCROLL FOR EXECUTE pg_catalog.format('SELECT %s FROM (%s' || chr(10) || ') "neardup query"(%s)',
      (SELECT string_agg(pg_catalog.format('left("neardup %s"::text, 100001) AS v%s, pg_typeof("neardup %s")::oid AS t%s', n, n, n, n), ', ' ORDER BY n)
       FROM generate_subscripts(columns, 1) n),
      body, (SELECT string_agg(pg_catalog.format('"neardup %s"', n), ', ' ORDER BY n) FROM generate_subscripts(columns, 1) n));
  EXCEPTION WHEN invalid_column_reference THEN
    RAISE EXCEPTION '% must return % columns: %', what, CASE pg_catalog.cardinality(columns) WHEN 2 THEN 'two' ELSE 'three' END,
      array_to_string(columns, ', ') USING ERRCODE = 'datatype_mismatch', DETAIL = 'PostgreSQL says: ' || SQLERRM || '.';
  END;
  RETURN c;
END $$;

-- Equality and order of signatures and digests use an index under row security, as those of simhashes do.
ALTER FUNCTION minhash_eq(minhash, minhash) LEAKPROOF;
ALTER FUNCTION minhash_ne(minhash, minhash) LEAKPROOF;
ALTER FUNCTION minhash_lt(minhash, minhash) LEAKPROOF;
ALTER FUNCTION minhash_le(minhash, minhash) LEAKPROOF;
ALTER FUNCTION minhash_gt(minhash, minhash) LEAKPROOF;
ALTER FUNCTION minhash_ge(minhash, minhash) LEAKPROOF;
ALTER FUNCTION minhash_cmp(minhash, minhash) LEAKPROOF;
ALTER FUNCTION ctph_eq(ctph, ctph) LEAKPROOF;
ALTER FUNCTION ctph_ne(ctph, ctph) LEAKPROOF;
ALTER FUNCTION ctph_lt(ctph, ctph) LEAKPROOF;
ALTER FUNCTION ctph_le(ctph, ctph) LEAKPROOF;
ALTER FUNCTION ctph_gt(ctph, ctph) LEAKPROOF;
ALTER FUNCTION ctph_ge(ctph, ctph) LEAKPROOF;
ALTER FUNCTION ctph_cmp(ctph, ctph) LEAKPROOF;
