-- From 0.1.0 to 0.2.0: a word model may take a discount off its counts; jobs see changes in foreign partitions.
\echo Use "ALTER EXTENSION neardup UPDATE TO '0.2.0'" to load this file. \quit

-- The types below get columns, and so do tables of them; temporary ones of other sessions cannot get any.
DO $do$
DECLARE
  t record;
BEGIN
  SELECT c.oid::pg_catalog.regclass AS name, c.reloftype::pg_catalog.regtype AS type, pg_catalog.pg_get_userbyid(c.relowner) AS owner INTO t
    FROM pg_catalog.pg_class c
    WHERE c.reloftype OPERATOR(pg_catalog.=) ANY (ARRAY['@extschema@.neardup_job', '@extschema@.neardup_word_model']::pg_catalog.regtype[]::pg_catalog.oid[])
      AND c.relpersistence OPERATOR(pg_catalog.=) 't' AND c.relnamespace OPERATOR(pg_catalog.<>) pg_catalog.pg_my_temp_schema()
    LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the update changes the type %, and table % of this type is a temporary one of another session', t.type, t.name
      USING ERRCODE = 'object_in_use', HINT = pg_catalog.format('End the session: SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE '
        'datname = current_database() AND usename = %L. Without the right TEMPORARY on the database, no role makes such tables.', t.owner);
  END IF;
END $do$;

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

-- What gets one argument more, or is no more. Whoever may call a function may have made a view
-- with it, a temporary one that nobody else sees, and must not stop the update by that: what something depends on stays, under another name, and
-- says that it is no more.
DO $do$
DECLARE
  f record;
  kept pg_catalog.text;
  why pg_catalog.text;
BEGIN
  FOR f IN SELECT p.proname AS name, pg_catalog.pg_get_function_identity_arguments(p.oid) AS arguments,
                  CASE WHEN p.prokind OPERATOR(pg_catalog.=) 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END AS kind,
                  pg_catalog.concat('(', pg_catalog.pg_get_function_arguments(p.oid), ')', ' RETURNS ' OPERATOR(pg_catalog.||) pg_catalog.pg_get_function_result(p.oid)) AS declared,
                  CASE WHEN p.provolatile OPERATOR(pg_catalog.=) 'i' THEN ' IMMUTABLE' WHEN p.provolatile OPERATOR(pg_catalog.=) 's' THEN ' STABLE' ELSE '' END AS volatility
           FROM pg_catalog.unnest(ARRAY[
    'neardup_count_words(text, int, int, int, boolean, int, text[], regdictionary, text)', 'neardup_key_type(neardup_job)']) v(signature)
           JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) pg_catalog.concat('@extschema@.', v.signature)::pg_catalog.regprocedure::pg_catalog.oid
  LOOP
    BEGIN
      EXECUTE pg_catalog.format('DROP %s @extschema@.%I(%s)', f.kind, f.name, f.arguments);
    EXCEPTION
      WHEN dependent_objects_still_exist THEN
        GET STACKED DIAGNOSTICS why = PG_EXCEPTION_DETAIL;
        kept := pg_catalog.concat(CASE WHEN NOT pg_catalog.starts_with(f.name, 'neardup_') THEN 'neardup_' END, f.name, '_0_1_0');
        EXECUTE pg_catalog.format('ALTER %s @extschema@.%I(%s) RENAME TO %I', f.kind, f.name, f.arguments, kept);
        EXECUTE pg_catalog.format('CREATE OR REPLACE %s @extschema@.%I%s LANGUAGE plpgsql%s AS %L', f.kind, kept, f.declared, f.volatility,
          pg_catalog.format('BEGIN RAISE EXCEPTION %L USING ERRCODE = ''feature_not_supported'', HINT = ''Make again what calls it, with the functions of today.''; END', pg_catalog.concat(f.name, '() of neardup 0.1.0 is no more')));
        EXECUTE pg_catalog.format('COMMENT ON %s @extschema@.%I(%s) IS %L', f.kind, kept, f.arguments, pg_catalog.format('private: the name of %s() of 0.1.0, for what was made with it', f.name));
        RAISE WARNING '%() of 0.1.0 is no more, and its name is kept as %(), since other objects depend on it', f.name, kept
          USING DETAIL = why, HINT = pg_catalog.format('When these are dropped, or the session whose temporary objects they are has ended: '
            'ALTER EXTENSION neardup DROP %1$s @extschema@.%2$I(%3$s); DROP %1$s @extschema@.%2$I(%3$s);', f.kind, kept, f.arguments);
    END;
  END LOOP;
END $do$;
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

CREATE OR REPLACE FUNCTION neardup_is_word_table(relation regclass, type regtype) RETURNS boolean LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
                 WHERE c.oid = relation AND c.reloftype = type AND c.relkind = 'r' AND (NOT row_security_active(c.oid) OR r.rolname = current_user))
  $$;

-- A name that another session takes at the same time.
CREATE FUNCTION neardup_made_meanwhile(relation text) RETURNS boolean LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT count(pg_relation_size(c.oid)) > 0 FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
  WHERE s.nspname = (parse_ident(relation))[1] AND c.relname = (parse_ident(relation))[2]
  $$;
COMMENT ON FUNCTION neardup_made_meanwhile(text) IS 'private: whether there is a relation of this name by now';
CREATE OR REPLACE FUNCTION create_lexicon(name text, query text) RETURNS bigint LANGUAGE plpgsql AS $$
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

-- Jobs, as mended since: each function that differs.
ALTER TYPE neardup_job ADD ATTRIBUTE columns text[] CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE system bigint CASCADE;
CREATE OR REPLACE FUNCTION neardup_profile_named(name text) RETURNS neardup_profile LANGUAGE plpgsql STABLE AS $$
DECLARE
  p @extschema@.neardup_profile;
  t regclass;
BEGIN
  SELECT (d.profile).* INTO p FROM @extschema@.neardup_default_profiles() d WHERE d.name = $1;
  IF FOUND THEN RETURN p; END IF;
  BEGIN
    t := pg_catalog.to_regclass($1);
  EXCEPTION WHEN syntax_error OR invalid_name OR undefined_table THEN t := NULL;
  END;
  IF t IS NULL OR (SELECT c.reloftype FROM pg_catalog.pg_class c WHERE c.oid = t::oid AND c.relkind = 'r') IS DISTINCT FROM '@extschema@.neardup_profile'::regtype::oid THEN
    RAISE EXCEPTION 'there is no profile "%"', $1 USING ERRCODE = 'undefined_object',
      HINT = 'Built in are ' || (SELECT string_agg(d.name, ', ') FROM @extschema@.neardup_default_profiles() d)
             || '; make your own with create_profile().';
  END IF;
  -- A policy is run by whoever reads the table.
  IF (SELECT pg_catalog.row_security_active(c.oid) AND r.rolname <> current_user FROM pg_catalog.pg_class c JOIN pg_catalog.pg_roles r ON r.oid = c.relowner WHERE c.oid = t::oid) THEN
    RAISE EXCEPTION 'profile "%" of another role has row security', $1 USING ERRCODE = 'insufficient_privilege';
  END IF;
  EXECUTE pg_catalog.format('SELECT * FROM %s ORDER BY version DESC LIMIT 1', t) INTO p;
  IF p.version IS NULL THEN
    RAISE EXCEPTION 'profile "%" has no version', $1 USING ERRCODE = 'undefined_object';
  END IF;
  RETURN p;
END $$;
CREATE FUNCTION neardup_profile_path(name text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT COALESCE((SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
                   FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                   WHERE name NOT IN (SELECT d.name FROM @extschema@.neardup_default_profiles() d)
                     AND c.oid = pg_catalog.to_regclass(name)::oid AND c.relpersistence <> 't'), name)
  $$;
COMMENT ON FUNCTION neardup_profile_path(text) IS 'private: a profile''s name with its schema, whatever the search_path';
CREATE OR REPLACE FUNCTION pause_duplicates(name text, paused boolean = true) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  n bigint := 0;
BEGIN
  -- again where alter_duplicates() has just put another row in its place
  FOR i IN 1 .. 3 LOOP
    EXECUTE pg_catalog.format('UPDATE %s SET paused = $1', @extschema@.neardup_job_table(name)) USING paused;
    GET DIAGNOSTICS n = ROW_COUNT;
    EXIT WHEN n > 0;
  END LOOP;
  IF n = 0 THEN RAISE EXCEPTION 'job % has no row', name USING ERRCODE = 'data_exception'; END IF;
END $$;
CREATE OR REPLACE FUNCTION neardup_check_profile(p neardup_profile) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF p.signature IS NULL OR p.signature NOT IN ('minhash', 'simhash', 'ctph') THEN
    RAISE EXCEPTION 'signature must be ''minhash'', ''simhash'' or ''ctph'': %', COALESCE(quote_literal(p.signature), 'NULL')
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF p.encoding IS NULL OR p.script IS NULL OR p.rules IS NULL OR p.min_length IS NULL THEN
    RAISE EXCEPTION 'encoding, script, rules and min_length of a profile must not be NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF p.script NOT IN ('keep', 'simplified', 'traditional') THEN
    RAISE EXCEPTION 'script must be ''keep'', ''simplified'' or ''traditional'': %', quote_literal(p.script)
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF p.min_length < 0 THEN
    RAISE EXCEPTION 'min_length must be at least 0: %', p.min_length USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF p.encoding = 'bytes' AND (p.script <> 'keep' OR p.rules <> 'none') THEN
    RAISE EXCEPTION 'documents of encoding ''bytes'' have no script and no rules' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF p.signature <> 'ctph' AND (p.unit IS NULL OR p.k IS NULL) THEN
    RAISE EXCEPTION 'unit and k of a profile of % signatures must not be NULL', p.signature USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF p.signature = 'minhash' AND (p.num_perm IS NULL OR p.bits IS NULL OR p.seed IS NULL) THEN
    RAISE EXCEPTION 'num_perm, bits and seed of a profile of minhash signatures must not be NULL' USING ERRCODE = 'null_value_not_allowed',
      HINT = 'Give them, or another base.';
  END IF;
  IF p.encoding NOT IN ('detect', 'bytes') THEN PERFORM @extschema@.neardup_decode('', p.encoding); END IF;
  -- the functions check unit, k and the rest; the rules are compiled
  EXECUTE 'SELECT ' || @extschema@.neardup_sign_sql(p, 'text', '''one two three four''::text');
END $$;
CREATE OR REPLACE FUNCTION neardup_document_sql(p neardup_profile, body_type regtype, body text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  e text := body;
BEGIN
  IF body_type::oid = 'bytea'::regtype::oid AND p.encoding <> 'bytes' THEN
    e := pg_catalog.format('(@extschema@.neardup_decode(%s%s)).body', e,
                CASE WHEN p.encoding = 'detect' THEN '' ELSE ', ' || quote_literal(p.encoding) END);
  END IF;
  IF p.script <> 'keep' THEN e := pg_catalog.format('@extschema@.%I(%s)', 'neardup_to_' || p.script, e); END IF;
  IF p.rules = 'default' THEN
    e := pg_catalog.format('(@extschema@.neardup_clean(%s)).body', e);
  ELSIF p.rules <> 'none' THEN
    IF EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = p.rules::regclass::oid
               AND (c.relkind <> 'r' OR c.relrowsecurity OR c.reloftype <> '@extschema@.neardup_rule'::regtype::oid)
               AND c.relowner <> (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user)) THEN
      RAISE EXCEPTION 'the rules "%" of another role are no plain table of type neardup_rule', p.rules USING ERRCODE = 'wrong_object_type';
    END IF;
    e := pg_catalog.format('(@extschema@.neardup_clean(%s, (SELECT pg_catalog.array_agg(r.*::@extschema@.neardup_rule ORDER BY r.position) FROM %s r))).body',
                e, p.rules::regclass);
  END IF;
  RETURN e;
END $$;
CREATE OR REPLACE FUNCTION neardup_sign_sql(p neardup_profile, body_type regtype, body text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  bytes boolean := body_type::oid = 'bytea'::regtype::oid AND p.encoding = 'bytes';
  document text := @extschema@.neardup_document_sql(p, body_type, body);
  d text := CASE WHEN p.min_length > 0 THEN 'd.body' ELSE document END;
  e text;
BEGIN
  e := CASE
    WHEN p.signature = 'ctph' THEN pg_catalog.format('@extschema@.to_ctph(%s)', d)
    WHEN p.signature = 'simhash' AND bytes THEN pg_catalog.format('@extschema@.to_simhash(%s, %s)', d, p.k)
    WHEN p.signature = 'simhash' THEN pg_catalog.format('@extschema@.to_simhash(%s, %s, %L)', d, p.k, p.unit)
    WHEN bytes THEN pg_catalog.format('@extschema@.to_minhash(%s, %s, num_perm => %s, bits => %s, seed => %s)', d, p.k, p.num_perm, p.bits, p.seed)
    ELSE pg_catalog.format('@extschema@.to_minhash(%s, %s, %L, %s, %s, %s)', d, p.k, p.unit, p.num_perm, p.bits, p.seed)
    END;
  IF p.min_length > 0 THEN
    e := pg_catalog.format('(SELECT CASE WHEN pg_catalog.length(d.body) >= %s THEN %s END FROM (SELECT %s OFFSET 0) d(body))', p.min_length, e, document);
  END IF;
  RETURN e;
END $$;
CREATE OR REPLACE FUNCTION create_profile(name text, base text = 'default', signature text = NULL, unit text = NULL, k int = NULL,
    num_perm int = NULL, bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL,
    min_length int = NULL) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
  p @extschema@.neardup_profile := @extschema@.neardup_profile_named(base);
  at text[] := pg_catalog.parse_ident(name);
  t regclass;
BEGIN
  IF name IS NULL THEN RAISE EXCEPTION 'name must not be NULL' USING ERRCODE = 'null_value_not_allowed'; END IF;
  IF pg_catalog.array_length(at, 1) > 2 THEN
    RAISE EXCEPTION 'a profile''s name is a name or schema.name: %', name USING ERRCODE = 'invalid_name';
  END IF;
  IF EXISTS (SELECT FROM @extschema@.neardup_default_profiles() d WHERE d.name = $1) THEN
    RAISE EXCEPTION 'profile "%" is built in', name USING ERRCODE = 'duplicate_object';
  END IF;
  p := ROW(1, COALESCE(signature, p.signature), COALESCE(unit, p.unit), COALESCE(k, p.k), COALESCE(num_perm, p.num_perm),
           COALESCE(bits, p.bits), COALESCE(seed, p.seed), COALESCE(encoding, p.encoding), COALESCE(script, p.script),
           COALESCE(rules, p.rules), COALESCE(min_length, p.min_length), now());
  PERFORM @extschema@.neardup_check_profile(p);
  EXECUTE pg_catalog.format('CREATE TABLE %s OF @extschema@.neardup_profile (PRIMARY KEY (version))',
                 (SELECT string_agg(quote_ident(x), '.' ORDER BY n) FROM pg_catalog.unnest(at) WITH ORDINALITY u(x, n)));
  t := name::regclass;
  EXECUTE pg_catalog.format('INSERT INTO %s SELECT ($1).*', t) USING p;
  RETURN t;
END $$;
CREATE OR REPLACE FUNCTION neardup_job_part(job regclass, suffix text) RETURNS text LANGUAGE sql STABLE STRICT AS $$
  SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(pg_catalog.left(c.relname, -4) || suffix)
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = job::oid
  $$;
CREATE FUNCTION neardup_job_indexes(job regclass) RETURNS text[] LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
  SELECT COALESCE(array_agg(quote_ident(n.nspname) || '.' || quote_ident(c.relname)), '{}')
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE i.indrelid = to_regclass(@extschema@.neardup_job_part(job, '_signatures'))
    AND c.relam = (SELECT m.oid FROM pg_am m WHERE m.amname = 'lsh')
  $$;
COMMENT ON FUNCTION neardup_job_indexes(regclass) IS 'private: qualified names of the lsh indexes of a job''s signatures';
CREATE OR REPLACE FUNCTION neardup_job_table(name text) RETURNS regclass LANGUAGE plpgsql STABLE AS $$
DECLARE
  at text[] := pg_catalog.parse_ident(name);
  t regclass;
BEGIN
  at[pg_catalog.array_length(at, 1)] := at[pg_catalog.array_length(at, 1)] || '_job';
  t := to_regclass((SELECT string_agg(quote_ident(x), '.' ORDER BY n) FROM pg_catalog.unnest(at) WITH ORDINALITY u(x, n)));
  IF t IS NULL OR (SELECT c.reloftype FROM pg_class c WHERE c.oid = t::oid AND c.relkind = 'r') IS DISTINCT FROM '@extschema@.neardup_job'::regtype::oid THEN
    RAISE EXCEPTION 'there is no table of duplicates "%"', name USING ERRCODE = 'undefined_table',
      HINT = 'SELECT job FROM @extschema@.duplicates_status lists them; create_duplicates() makes one.';
  END IF;
  RETURN t;
END $$;
CREATE FUNCTION neardup_locked_job(name text) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
  job regclass;
BEGIN
  LOOP
    job := @extschema@.neardup_job_table(name);
    BEGIN
      PERFORM @extschema@.neardup_lock_job(job);
      EXECUTE pg_catalog.format('LOCK TABLE %s IN ROW SHARE MODE', job);
      EXIT WHEN @extschema@.neardup_job_table(name)::oid = job::oid;
    EXCEPTION WHEN undefined_table OR syntax_error THEN  -- the name of one that was dropped may be a number by then
      CONTINUE;
    END;
  END LOOP;
  RETURN job;
END $$;
COMMENT ON FUNCTION neardup_locked_job(text) IS 'private: the table of a job, with refreshes and other changes kept away until the transaction ends';
CREATE OR REPLACE FUNCTION neardup_job_column(source regclass, col name, what text) RETURNS regtype LANGUAGE plpgsql STABLE AS $$
DECLARE
  t regtype;
BEGIN
  SELECT a.atttypid INTO t FROM pg_attribute a WHERE a.attrelid = source::oid AND a.attname = col AND a.attnum > 0 AND NOT a.attisdropped;
  IF NOT FOUND THEN
    IF NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = source::oid) THEN
      RAISE EXCEPTION 'the source of the job has been dropped' USING ERRCODE = 'undefined_table',
        HINT = 'drop_duplicates() drops the job.';
    END IF;
    RAISE EXCEPTION 'column "%" of % does not exist: %', col, source, what USING ERRCODE = 'undefined_column',
      DETAIL = pg_catalog.format('%s has the columns %s.', source, (SELECT string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY a.attnum)
               FROM pg_attribute a WHERE a.attrelid = source::oid AND a.attnum > 0 AND NOT a.attisdropped)),
      HINT = CASE WHEN what = 'within' THEN 'If it was renamed, rename it back, or make the job anew: a job keeps its within columns.'
                  ELSE pg_catalog.format('If it was renamed: SELECT alter_duplicates(.., %s => ''new_name'').', what) END;
  END IF;
  WHILE (SELECT y.typtype = 'd' FROM pg_type y WHERE y.oid = t::oid) LOOP
    SELECT y.typbasetype INTO t FROM pg_type y WHERE y.oid = t::oid;
  END LOOP;
  RETURN t;
END $$;
CREATE OR REPLACE FUNCTION neardup_job_kind(j neardup_job) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  t regtype;
BEGIN
  IF j.body IS NOT NULL THEN RETURN (@extschema@.neardup_profile_named(j.profile)).signature; END IF;
  t := @extschema@.neardup_job_column(j.source, j.signature, 'signature');
  IF t::oid IN ('@extschema@.minhash'::regtype::oid, '@extschema@.simhash'::regtype::oid, '@extschema@.ctph'::regtype::oid) THEN
    RETURN (SELECT y.typname FROM pg_type y WHERE y.oid = t::oid);
  END IF;
  RAISE EXCEPTION 'column "%" is %, not a signature', j.signature, t USING ERRCODE = 'datatype_mismatch',
    HINT = 'A column of documents is given as body => .., one of minhash, simhash or ctph as signature => ...';
END $$;
CREATE OR REPLACE FUNCTION neardup_job_key(j neardup_job) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE j.keep
    WHEN 'longest' THEN pg_catalog.format('pg_catalog.octet_length(%I)', j.body)
    WHEN 'best' THEN pg_catalog.format('@extschema@.neardup_text_score(%s)',
                            @extschema@.neardup_document_sql(@extschema@.neardup_profile_named(j.profile), j.body_type, pg_catalog.quote_ident(j.body)))
    ELSE COALESCE('(' || j.order_by || E'\n)', pg_catalog.quote_ident(j.at), pg_catalog.quote_ident(j.id)) END
  $$;
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
    IF body_type::oid NOT IN ('text'::regtype::oid, 'varchar'::regtype::oid, 'bytea'::regtype::oid) THEN
      RAISE EXCEPTION 'body column "%" is %, not text or bytea', j.body, body_type USING ERRCODE = 'datatype_mismatch';
    END IF;
  END IF;
  FOR i IN 1 .. COALESCE(pg_catalog.array_length(j.within, 1), 0) LOOP
    PERFORM @extschema@.neardup_job_column(j.source, j.within[i], 'within');
    within := within || pg_catalog.format(', %I AS within_%s', j.within[i], i);
  END LOOP;
  IF j.at IS NOT NULL THEN PERFORM @extschema@.neardup_job_column(j.source, j.at, 'at'); END IF;
  RETURN pg_catalog.format('SELECT %I AS id, %s, %s AS key%s%s, %I AS body FROM %s WHERE true%s%s',
    j.id, CASE WHEN stored THEN 'tableoid AS origin, ctid AS place, CASE WHEN pg_catalog.age(xmin) NOT BETWEEN -1000000000 AND 0 THEN xmin END AS version'
               ELSE 'NULL::oid AS origin, NULL::tid AS place, NULL::xid AS version' END,
    @extschema@.neardup_job_key(j), within, CASE WHEN j.at IS NOT NULL THEN pg_catalog.format(', %I AS at', j.at) END, COALESCE(j.body, j.signature), j.source,
    COALESCE(' AND (' || j.filter || E'\n)', ''), COALESCE(' AND (' || j.deleted || E'\n) IS NOT TRUE', ''));
END $$;
CREATE OR REPLACE FUNCTION neardup_job_differs(j neardup_job, a text, b text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT '(' || string_agg(pg_catalog.format('%s.%s IS DISTINCT FROM %s.%s', a, c, b, c), ' OR ') || ')'
  FROM (SELECT 'key' AS c UNION ALL SELECT 'within_' || i::text FROM generate_series(1, pg_catalog.array_length(j.within, 1)) i
        UNION ALL SELECT 'at' WHERE j.at IS NOT NULL) x
  $$;
CREATE FUNCTION neardup_check_order(t regtype, what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_opclass o JOIN pg_am m ON m.oid = o.opcmethod AND m.amname = 'btree'
                 WHERE o.opcdefault AND (o.opcintype = t::oid OR t::oid IN (SELECT c.castsource FROM pg_cast c
                       WHERE c.casttarget = o.opcintype AND c.castmethod = 'b' AND c.castcontext = 'i')
                   OR (o.opcintype, (SELECT typtype FROM pg_type WHERE oid = t::oid)) IN
                      (('anyenum'::regtype::oid, 'e'), ('anyrange'::regtype::oid, 'r'), ('anymultirange'::regtype::oid, 'm'), ('record'::regtype::oid, 'c'))
                   OR (o.opcintype = 'anyarray'::regtype::oid AND (SELECT typcategory FROM pg_type WHERE oid = t::oid) = 'A'))) THEN
    RAISE EXCEPTION '% is %, which has no order', what, t USING ERRCODE = 'datatype_mismatch';
  END IF;
END $$;
COMMENT ON FUNCTION neardup_check_order(regtype, text) IS 'private: raises an error for a type whose values cannot be compared';
CREATE OR REPLACE FUNCTION neardup_check_job(j neardup_job) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  kind text;
BEGIN
  IF pg_catalog.num_nonnulls(j.body, j.signature) <> 1 THEN
    RAISE EXCEPTION 'exactly one of body and signature must be given' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF (SELECT c.relkind FROM pg_class c WHERE c.oid = j.source::oid) NOT IN ('r', 'p', 'v', 'm', 'f') THEN
    RAISE EXCEPTION '% is no table or view', j.source USING ERRCODE = 'wrong_object_type';
  END IF;
  IF j.threshold IS NULL OR NOT (j.threshold > 0::float8 AND j.threshold <= 1::float8) THEN
    PERFORM @extschema@.neardup_raise('22023', pg_catalog.format('threshold must be above 0 and at most 1: %s', COALESCE(j.threshold::text, 'NULL')), '',
      CASE WHEN j.threshold > 1::float8 AND j.threshold <= 100::float8 THEN pg_catalog.format('For %s %%, write %s.', j.threshold, j.threshold / 100::float8) ELSE '' END);
  END IF;
  IF j.linkage IS NULL OR j.linkage NOT IN ('anchor', 'connected') THEN
    RAISE EXCEPTION 'linkage must be ''anchor'' or ''connected'': %', COALESCE(quote_literal(j.linkage), 'NULL')
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.keep IS NULL OR j.keep NOT IN ('oldest', 'longest', 'best') THEN
    RAISE EXCEPTION 'keep must be ''oldest'', ''longest'' or ''best'': %', COALESCE(quote_literal(j.keep), 'NULL')
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.keep <> 'oldest' AND j.order_by IS NOT NULL THEN
    RAISE EXCEPTION 'order_by is for keep => ''oldest'', not ''%''', j.keep USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.keep <> 'oldest' AND j.body IS NULL THEN
    RAISE EXCEPTION 'keep => ''%'' needs body: signatures do not tell it', j.keep USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.keep = 'best' AND j.body_type::oid = 'bytea'::regtype::oid AND (@extschema@.neardup_profile_named(j.profile)).encoding = 'bytes' THEN
    RAISE EXCEPTION 'keep => ''best'' is for text: profile "%" takes documents as bytes', j.profile USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.verify IS NOT NULL AND j.verify NOT IN ('jaccard', 'edit_rate') THEN
    RAISE EXCEPTION 'verify must be ''jaccard'' or ''edit_rate'': %', quote_literal(j.verify) USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.verify IS NOT NULL AND j.body IS NULL THEN
    RAISE EXCEPTION 'verify needs body: documents are compared' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.verify IS NULL AND j.verify_threshold IS NOT NULL THEN
    RAISE EXCEPTION 'verify_threshold is given without verify' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF NOT (j.verify_threshold > 0::float8 AND j.verify_threshold <= 1::float8) THEN
    RAISE EXCEPTION 'verify_threshold must be above 0 and at most 1: %', j.verify_threshold USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF (j.at IS NULL) <> (j.at_most_apart IS NULL) THEN
    RAISE EXCEPTION 'at and at_most_apart must be given together' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF j.at_most_apart < interval '0' THEN
    RAISE EXCEPTION 'at_most_apart must not be negative: %', j.at_most_apart USING ERRCODE = 'invalid_parameter_value';
  END IF;
  kind := @extschema@.neardup_job_kind(j);
  IF j.verify IS NOT NULL AND j.verify_threshold IS NULL AND (kind, j.verify) NOT IN (('minhash', 'jaccard'), ('ctph', 'edit_rate')) THEN
    RAISE EXCEPTION 'verify => ''%'' over % signatures needs verify_threshold', j.verify, kind USING ERRCODE = 'invalid_parameter_value',
      DETAIL = 'Nothing is known about how far one follows the other: threshold is for the signatures, verify_threshold for the documents.';
  END IF;
  PERFORM @extschema@.neardup_check_order(@extschema@.neardup_job_column(j.source, j.id, 'id'), pg_catalog.format('id column "%s"', j.id));
  FOR i IN 1 .. COALESCE(pg_catalog.array_length(j.within, 1), 0) LOOP
    PERFORM @extschema@.neardup_check_order(@extschema@.neardup_job_column(j.source, j.within[i], 'within'), pg_catalog.format('within column "%s"', j.within[i]));
  END LOOP;
  IF j.order_by IS NOT NULL THEN
    PERFORM @extschema@.neardup_check_order(@extschema@.neardup_expression_type(j.source, j.order_by), pg_catalog.format('order_by => %L', j.order_by));
  END IF;
  IF j.filter IS NOT NULL THEN PERFORM @extschema@.neardup_check_condition(j.source, j.filter, 'filter'); END IF;
  IF j.deleted IS NOT NULL THEN PERFORM @extschema@.neardup_check_condition(j.source, j.deleted, 'deleted'); END IF;
  IF j.at IS NOT NULL AND @extschema@.neardup_job_column(j.source, j.at, 'at')::oid NOT IN
     ('timestamptz'::regtype::oid, 'timestamp'::regtype::oid, 'date'::regtype::oid) THEN
    RAISE EXCEPTION 'column "%" is no timestamp or date: at', j.at USING ERRCODE = 'datatype_mismatch';
  END IF;
  PERFORM @extschema@.neardup_job_rows(j);
END $$;
CREATE OR REPLACE FUNCTION create_duplicates(name text, source regclass, id name, body name = NULL, signature name = NULL,
    threshold float8 = 0.8, profile text = 'default', linkage text = 'anchor', verify text = NULL,
    verify_threshold float8 = NULL, keep text = 'oldest', order_by text = NULL, within name[] = '{}', at name = NULL,
    at_most_apart interval = NULL, filter text = NULL, deleted text = NULL) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
  j @extschema@.neardup_job;
  named text[] := pg_catalog.parse_ident(name);
  base text := named[pg_catalog.array_length(named, 1)];
  schema text := COALESCE(CASE WHEN pg_catalog.array_length(named, 1) = 2 THEN named[1] END, current_schema());
  job regclass;
BEGIN
  IF pg_catalog.array_length(named, 1) > 2 THEN
    RAISE EXCEPTION 'the name of a table of duplicates is a name or schema.name: %', name USING ERRCODE = 'invalid_name';
  END IF;
  IF octet_length(base) > 52 THEN
    RAISE EXCEPTION 'the name of a table of duplicates has at most 52 bytes: % has %', base, octet_length(base)
      USING ERRCODE = 'name_too_long', DETAIL = pg_catalog.format('%s_signatures must be a name, too.', base);
  END IF;
  IF source IS NULL OR id IS NULL THEN
    RAISE EXCEPTION 'source and id must not be NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF schema IS NULL THEN
    RAISE EXCEPTION 'no schema has been selected to create in' USING ERRCODE = 'invalid_schema_name';
  END IF;
  j.source := source; j.id := id; j.body := body; j.signature := signature; j.threshold := threshold;
  j.profile := CASE WHEN body IS NOT NULL THEN profile END; j.linkage := linkage;
  j.verify := verify; j.verify_threshold := verify_threshold; j.keep := keep; j.order_by := order_by;
  j.within := COALESCE(within, '{}'); j.at := at; j.at_most_apart := at_most_apart; j.filter := filter; j.deleted := deleted;
  j.resync := false; j.recluster := true; j.refresh := 0; j.clustered := 0; j.next_cluster := 1;
  j.paused := false; j.phase := 'new';
  IF body IS NOT NULL THEN
    j.profile_version := (@extschema@.neardup_profile_named(profile)).version;
    j.profile := @extschema@.neardup_profile_path(profile);
    j.body_type := @extschema@.neardup_job_column(source, body, 'body');
  END IF;
  PERFORM @extschema@.neardup_check_job(j);
  IF j.within OPERATOR(pg_catalog.&&) ARRAY['id', 'cluster', 'representative', 'similarity', 'survivor', 'found_at']::name[] THEN
    RAISE EXCEPTION 'within columns are columns of the result: none can be called id, cluster, representative, similarity, survivor or found_at'
      USING ERRCODE = 'duplicate_column';
  END IF;
  BEGIN
    EXECUTE pg_catalog.format('CREATE TABLE %I.%I OF @extschema@.neardup_job', schema, base || '_job');
  EXCEPTION WHEN duplicate_table OR duplicate_object OR unique_violation THEN
    IF NOT @extschema@.neardup_made_meanwhile(pg_catalog.format('%I.%I', schema, base || '_job')) THEN RAISE; END IF;
    RAISE EXCEPTION 'relation % exists already', pg_catalog.format('%I.%I', schema, base || '_job') USING ERRCODE = 'duplicate_table',
      HINT = 'drop_duplicates() drops a table of duplicates with its job; or choose another name.';
  END;
  -- a publication of all tables lets none be updated that has no key
  EXECUTE pg_catalog.format('ALTER TABLE %I.%I REPLICA IDENTITY FULL', schema, base || '_job');
  job := pg_catalog.format('%I.%I', schema, base || '_job')::regclass;
  EXECUTE pg_catalog.format('INSERT INTO %s SELECT ($1).*', job) USING j;
  EXECUTE pg_catalog.format('CREATE TABLE %s AS SELECT id, NULL::bigint AS cluster, id AS representative, NULL::float8 AS similarity,
                  NULL::boolean AS survivor, NULL::timestamptz AS found_at%s FROM (%s) l WITH NO DATA', @extschema@.neardup_job_part(job, ''),
                 (SELECT string_agg(pg_catalog.format(', within_%s AS %I', i, j.within[i]), '' ORDER BY i) FROM generate_series(1, pg_catalog.array_length(j.within, 1)) i),
                 @extschema@.neardup_job_rows(j));
  EXECUTE pg_catalog.format('ALTER TABLE %s ADD PRIMARY KEY (id), ALTER cluster SET NOT NULL, ALTER representative SET NOT NULL,
                  ALTER survivor SET NOT NULL, ALTER found_at SET NOT NULL', @extschema@.neardup_job_part(job, ''));
  EXECUTE pg_catalog.format('CREATE INDEX ON %s (cluster)', @extschema@.neardup_job_part(job, ''));
  EXECUTE pg_catalog.format('COMMENT ON TABLE %s IS %L', @extschema@.neardup_job_part(job, ''),
                 pg_catalog.format('near duplicates among the rows of %s, kept by refresh_duplicates(%L)', source, name));
  EXECUTE pg_catalog.format('CREATE TABLE %s (refresh bigint NOT NULL, at timestamptz NOT NULL DEFAULT now(), change text NOT NULL,
                  cluster bigint NOT NULL, other bigint)', @extschema@.neardup_job_part(job, '_changes'));
  PERFORM @extschema@.neardup_make_signatures(job, j);
  RETURN @extschema@.neardup_job_part(job, '')::regclass;
END $$;
CREATE FUNCTION neardup_clear_signatures(job regclass, j neardup_job) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  kind text := @extschema@.neardup_job_kind(j);
BEGIN
  PERFORM @extschema@.neardup_drop('INDEX', VARIADIC @extschema@.neardup_job_indexes(job));
  EXECUTE pg_catalog.format('TRUNCATE %s', signatures);
  EXECUTE pg_catalog.format('ALTER TABLE %s ALTER signature TYPE @extschema@.%I USING NULL', signatures, kind);
END $$;
COMMENT ON FUNCTION neardup_clear_signatures(regclass, neardup_job) IS 'private: forgets all signatures of a job; the next are of the kind that it says';
CREATE OR REPLACE FUNCTION alter_duplicates(name text, threshold float8 = NULL, profile text = NULL, linkage text = NULL, verify text = NULL,
    verify_threshold float8 = NULL, keep text = NULL, order_by text = NULL, at_most_apart interval = NULL, filter text = NULL,
    deleted text = NULL, id name = NULL, body name = NULL, signature name = NULL, at name = NULL) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  job regclass := @extschema@.neardup_locked_job(name);
  old @extschema@.neardup_job;
  j @extschema@.neardup_job;
  kind text;
BEGIN
  EXECUTE pg_catalog.format('SELECT FROM %s FOR UPDATE', job);  -- the row is made anew: nobody may change it meanwhile
  old := @extschema@.neardup_job_row(job);
  SELECT y.typname INTO kind FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
    WHERE a.attrelid = @extschema@.neardup_job_part(job, '_signatures')::regclass::oid AND a.attname = 'signature';
  j := old;
  j.threshold := COALESCE(threshold, j.threshold); j.profile := COALESCE(profile, j.profile); j.linkage := COALESCE(linkage, j.linkage);
  j.verify := NULLIF(COALESCE(verify, j.verify), '');
  j.verify_threshold := CASE WHEN j.verify IS NOT NULL THEN COALESCE(verify_threshold, j.verify_threshold) ELSE verify_threshold END;
  j.keep := COALESCE(keep, j.keep);
  j.order_by := NULLIF(COALESCE(order_by, CASE WHEN j.keep = 'oldest' THEN j.order_by END), '');
  j.at_most_apart := COALESCE(at_most_apart, j.at_most_apart); j.filter := NULLIF(COALESCE(filter, j.filter), '');
  j.deleted := NULLIF(COALESCE(deleted, j.deleted), ''); j.id := COALESCE(id, j.id); j.at := COALESCE(at, j.at);
  j.body := COALESCE(body, j.body); j.signature := COALESCE(signature, j.signature);
  IF (j.at IS NULL) <> (old.at IS NULL) THEN
    RAISE EXCEPTION 'at can be given another column, but not be added: drop the job and create it anew' USING ERRCODE = 'feature_not_supported';
  END IF;
  IF j.body IS NOT NULL THEN
    j.profile_version := (@extschema@.neardup_profile_named(j.profile)).version;
    IF profile IS NOT NULL THEN j.profile := @extschema@.neardup_profile_path(profile); END IF;
    j.body_type := @extschema@.neardup_job_column(j.source, j.body, 'body');
  END IF;
  PERFORM @extschema@.neardup_check_job(j);
  j.recluster := true;
  j.resync := j.resync OR (j.id, j.body, j.signature, j.at, j.keep, j.order_by, j.profile, j.profile_version)
                          IS DISTINCT FROM (old.id, old.body, old.signature, old.at, old.keep, old.order_by, old.profile, old.profile_version);
  EXECUTE pg_catalog.format('DELETE FROM %s', job);
  EXECUTE pg_catalog.format('INSERT INTO %s SELECT ($1).*', job) USING j;
  -- signatures of two kinds cannot be compared; the refresh sees to the types of keys
  IF (j.profile, j.profile_version, j.body_type::oid, @extschema@.neardup_job_kind(j))
     IS DISTINCT FROM (old.profile, old.profile_version, old.body_type::oid, kind) THEN
    PERFORM @extschema@.neardup_clear_signatures(job, j);
  ELSE
    PERFORM @extschema@.neardup_drop('INDEX', VARIADIC @extschema@.neardup_job_indexes(job));
  END IF;
END $$;
CREATE OR REPLACE FUNCTION drop_duplicates(name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  job regclass := @extschema@.neardup_locked_job(name);
BEGIN
  -- of a job whose table was dropped by itself the rest
  PERFORM @extschema@.neardup_drop('TABLE', @extschema@.neardup_job_part(job, ''), @extschema@.neardup_job_part(job, '_signatures'),
                                   @extschema@.neardup_job_part(job, '_changes'), @extschema@.neardup_job_part(job, '_job'));
END $$;
CREATE OR REPLACE FUNCTION rename_duplicates(old text, new text) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
  job regclass := @extschema@.neardup_locked_job(old);
  base text := (pg_catalog.parse_ident(new))[1];
  part text;
BEGIN
  IF pg_catalog.array_length(pg_catalog.parse_ident(new), 1) > 1 THEN
    RAISE EXCEPTION 'the new name has no schema: %', new USING ERRCODE = 'invalid_name', HINT = 'ALTER TABLE .. SET SCHEMA moves a table.';
  END IF;
  IF octet_length(base) > 52 THEN
    RAISE EXCEPTION 'the name of a table of duplicates has at most 52 bytes: % has %', base, octet_length(base) USING ERRCODE = 'name_too_long';
  END IF;
  FOREACH part IN ARRAY ARRAY['', '_signatures', '_changes', '_job'] LOOP
    EXECUTE pg_catalog.format('ALTER TABLE %s RENAME TO %I', @extschema@.neardup_job_part(job, part), base || part);
  END LOOP;
  RETURN @extschema@.neardup_job_part(job, '')::regclass;
END $$;
CREATE OR REPLACE FUNCTION neardup_job_temp(job regclass, what text) RETURNS text LANGUAGE sql STABLE STRICT AS $$
  SELECT pg_catalog.format('pg_temp.neardup_%s_%s_%s', what, job::oid, (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user))
  $$;
CREATE FUNCTION neardup_refresh_columns(job regclass, j neardup_job) RETURNS boolean LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  columns text[] := ARRAY(SELECT format('%s %s', a.attnum, a.attname) FROM pg_attribute a
                          WHERE a.attrelid = j.source AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum);
  server bigint := (SELECT c.system_identifier FROM pg_control_system() c);
  changed boolean := NOT COALESCE(j.columns <@ columns, true) OR j.system IS DISTINCT FROM server;
BEGIN
  IF changed OR j.columns IS DISTINCT FROM columns THEN
    EXECUTE format('UPDATE %s SET columns = $1, system = $2, resync = resync OR $3', job) USING columns, server, changed;
  END IF;
  RETURN changed;
END $$;
COMMENT ON FUNCTION neardup_refresh_columns(regclass, neardup_job) IS 'private: whether a column of the source has gone, or its name, or the server is another one, since the last listing';
CREATE FUNCTION neardup_refresh_types(job regclass, j neardup_job) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  shape text := @extschema@.neardup_job_temp(job, 'shape');
  result text := @extschema@.neardup_job_part(job, '');
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  changed boolean := false;
  r record;
  columns text[];
  what text;
  follow text;
  copied text;
BEGIN
  PERFORM @extschema@.neardup_drop('TABLE', shape);
  EXECUTE pg_catalog.format('CREATE TEMP TABLE %s AS SELECT * FROM (%s) l WITH NO DATA', split_part(shape, '.', 2), @extschema@.neardup_job_rows(j));
  FOR r IN SELECT a.attname::text AS name, pg_catalog.format_type(a.atttypid, a.atttypmod) AS old, pg_catalog.format_type(b.atttypid, b.atttypmod) AS new,
             COALESCE((SELECT pg_catalog.format(' COLLATE %I.%I', n.nspname, l.collname) FROM pg_collation l JOIN pg_namespace n ON n.oid = l.collnamespace
                       WHERE l.oid = b.attcollation), '') AS collation
           FROM pg_attribute a JOIN pg_attribute b ON b.attname = a.attname
           WHERE a.attrelid = signatures::regclass::oid AND b.attrelid = shape::regclass::oid AND a.attnum > 0 AND b.attnum > 0
             AND NOT a.attisdropped AND (a.atttypid, a.atttypmod, a.attcollation) <> (b.atttypid, b.atttypmod, b.attcollation) LOOP
    columns := CASE WHEN r.name = 'id' THEN '{id,representative}'
                    WHEN r.name LIKE 'within_%' THEN ARRAY[j.within[pg_catalog.substr(r.name, 8)::int]::text] END;
    what := CASE r.name WHEN 'id' THEN j.id::text WHEN 'at' THEN j.at::text WHEN 'key' THEN 'order_by' ELSE columns[1] END;
    BEGIN
      follow := pg_catalog.format('ALTER TABLE %s ALTER %I TYPE %s%s USING ', signatures, r.name, r.new, r.collation);
      copied := pg_catalog.format('%I::text::%s', r.name, r.new);
      IF r.name <> 'key' THEN
        EXECUTE follow || copied;
      ELSE
        BEGIN
          EXECUTE follow || 'NULL';  -- keys are read again
        EXCEPTION WHEN not_null_violation OR check_violation THEN  -- of a domain
          BEGIN
            EXECUTE follow || copied;
          EXCEPTION WHEN OTHERS THEN  -- these are as they were at the last refresh, and those of the source fit
            PERFORM @extschema@.neardup_clear_signatures(job, j);
            EXECUTE follow || 'NULL';
          END;
        END;
      END IF;
      IF columns IS NOT NULL THEN
        EXECUTE pg_catalog.format('ALTER TABLE %s %s', result,
          (SELECT string_agg(pg_catalog.format('ALTER %I TYPE %s%s USING %I::text::%s', c, r.new, r.collation, c, r.new), ', ') FROM pg_catalog.unnest(columns) c));
      END IF;
    EXCEPTION WHEN OTHERS THEN
      RAISE EXCEPTION '"%" of % was % and is %, and the tables of the job cannot follow: %', what, j.source, r.old, r.new, SQLERRM
        USING ERRCODE = SQLSTATE, HINT = 'drop_duplicates() and create_duplicates() make the job anew.';
    END;
    changed := true;
  END LOOP;
  PERFORM @extschema@.neardup_drop('TABLE', shape);
  RETURN changed;
END $$;
COMMENT ON FUNCTION neardup_refresh_types(regclass, neardup_job) IS 'private: gives the tables of a job the types that the source''s columns have now';
CREATE OR REPLACE FUNCTION neardup_refresh_list(job regclass, j neardup_job) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  todo text := @extschema@.neardup_job_temp(job, 'todo');
  rows text := @extschema@.neardup_job_rows(j);
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  stored boolean := @extschema@.neardup_job_stored(j.source);
  changed text;
  n bigint;
  nameless boolean;
BEGIN
  -- Each row is to remember by itself that it has not been compared, so that what a time limit ends is gone on with.
  IF j.resync THEN
    IF stored THEN EXECUTE pg_catalog.format('UPDATE %s SET version = NULL WHERE version IS NOT NULL', signatures); END IF;
    EXECUTE pg_catalog.format('UPDATE %s SET resync = false', job);
  END IF;
  IF stored THEN
    changed := 'g.version IS NULL OR g.origin IS DISTINCT FROM l.origin OR g.place IS DISTINCT FROM l.place OR g.version IS DISTINCT FROM l.version';
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
  EXECUTE pg_catalog.format('SELECT EXISTS (SELECT FROM %s WHERE id IS NULL)', todo) INTO nameless;
  IF nameless THEN
    RAISE EXCEPTION 'the column "%" of % is NULL in a row', j.id, j.source USING ERRCODE = 'null_value_not_allowed',
      HINT = pg_catalog.format('filter => %L leaves such rows out.', pg_catalog.format('%I IS NOT NULL', j.id));
  END IF;
  EXECUTE pg_catalog.format('CREATE INDEX ON %s (n)', todo);
  EXECUTE pg_catalog.format('ANALYZE %s', todo);
  RETURN n;
END $$;
CREATE OR REPLACE FUNCTION neardup_make_signatures(job regclass, j neardup_job) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
BEGIN
  EXECUTE pg_catalog.format('CREATE TABLE %s AS SELECT id, NULL::@extschema@.%I AS signature, NULL::uuid AS content, origin, place, version, key%s%s, 0::bigint AS generation, false AS gone
                  FROM (%s) l WITH NO DATA',
    signatures, @extschema@.neardup_job_kind(j),
    (SELECT string_agg(pg_catalog.format(', within_%s', i), '' ORDER BY i) FROM generate_series(1, pg_catalog.array_length(j.within, 1)) i),
    CASE WHEN j.at IS NOT NULL THEN ', at' END, @extschema@.neardup_job_rows(j));
  EXECUTE pg_catalog.format('ALTER TABLE %s ADD PRIMARY KEY (id)', signatures);
  EXECUTE pg_catalog.format('CREATE INDEX ON %s (generation)', signatures);
END $$;

CREATE OR REPLACE FUNCTION neardup_refresh_sign(job regclass, j neardup_job, after bigint, upto bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  todo text := @extschema@.neardup_job_temp(job, 'todo');
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  kind text := @extschema@.neardup_job_kind(j);
  more text[] := ARRAY(SELECT 'key' UNION ALL SELECT 'within_' || i::text FROM generate_series(1, pg_catalog.array_length(j.within, 1)) i
                       UNION ALL SELECT 'at' WHERE j.at IS NOT NULL);
  sign text := CASE WHEN j.body IS NULL THEN 'b.body'
                    ELSE @extschema@.neardup_sign_sql(@extschema@.neardup_profile_named(j.profile), j.body_type, 'b.body') END;
BEGIN
  EXECUTE pg_catalog.format(
    'INSERT INTO %1$s AS g (id, signature, content, origin, place, version, generation, gone, %2$s)
     SELECT b.id, CASE WHEN b.same THEN b.signature ELSE %3$s END,
            b.content, b.origin, b.place, b.version, CASE WHEN b.changed THEN $3 ELSE b.generation END, false, %4$s
     FROM (SELECT l.*, o.signature, COALESCE(o.generation, 0) AS generation,
                  o.id IS NOT NULL AND NOT o.gone AND o.content IS NOT DISTINCT FROM l.content AS same,
                  o.id IS NULL OR o.gone OR o.content IS DISTINCT FROM l.content OR %5$s
                  OR ($4 AND (o.origin IS DISTINCT FROM l.origin OR o.place IS DISTINCT FROM l.place OR o.version IS DISTINCT FROM l.version)) AS changed
           FROM (SELECT l.*, %6$s AS content FROM %7$s t JOIN (%8$s) l ON l.id = t.id
                 WHERE t.n > $1 AND t.n <= $2 AND NOT t.gone OFFSET 0) l
           LEFT JOIN %1$s o ON o.id = l.id OFFSET 0) b
     ON CONFLICT (id) DO UPDATE SET signature = EXCLUDED.signature,
       content = EXCLUDED.content, origin = EXCLUDED.origin, place = EXCLUDED.place, version = EXCLUDED.version,
       generation = EXCLUDED.generation, gone = false, %9$s',
    signatures, pg_catalog.array_to_string(more, ', '), sign, (SELECT string_agg('b.' || c, ', ' ORDER BY i) FROM pg_catalog.unnest(more) WITH ORDINALITY u(c, i)),
    @extschema@.neardup_job_differs(j, 'o', 'l'), @extschema@.neardup_job_hash(j, kind, 'l.body'), todo, @extschema@.neardup_job_rows(j),
    (SELECT string_agg(pg_catalog.format('%s = EXCLUDED.%s', c, c), ', ') FROM pg_catalog.unnest(more) c))
    USING after, upto, j.refresh, j.verify IS NOT NULL;
  EXECUTE pg_catalog.format(
    'UPDATE %s g SET gone = true, generation = $3
     FROM %s t WHERE t.n > $1 AND t.n <= $2 AND t.gone AND g.id = t.id AND NOT g.gone', signatures, todo)
    USING after, upto, j.refresh;
EXCEPTION WHEN cardinality_violation THEN
  RAISE EXCEPTION 'the column "%" of % is not unique', j.id, j.source USING ERRCODE = 'cardinality_violation';
END $$;
CREATE OR REPLACE FUNCTION neardup_refresh_threshold(job regclass, j neardup_job) RETURNS float8 LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t float8;
BEGIN
  IF j.verify IS NULL OR j.verify_threshold IS NOT NULL THEN RETURN j.threshold; END IF;
  IF j.verify = 'edit_rate' THEN RETURN greatest(1 - 3 * (1 - j.threshold), 0.01); END IF;
  EXECUTE pg_catalog.format('SELECT @extschema@.neardup_search_threshold(signature, $1) FROM %s WHERE signature IS NOT NULL LIMIT 1',
                 @extschema@.neardup_job_part(job, '_signatures')) INTO t USING j.threshold;
  RETURN t;
END $$;
CREATE OR REPLACE FUNCTION neardup_refresh_near(kind text, threshold float8, a text, b text) RETURNS text LANGUAGE sql IMMUTABLE
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
  SELECT CASE
    WHEN kind = 'minhash' AND threshold >= 0.5 THEN pg_catalog.format('@extschema@.jaccard(%s, %s) >= %L::float8', a, b, threshold)
    WHEN kind = 'simhash' AND threshold >= 1 - 10 / 64.0::float8 THEN
      pg_catalog.format('@extschema@.hamming(%s, %s) <= %s', a, b, (SELECT max(d) FROM generate_series(0, 10) d WHERE 1 - d / 64.0::float8 >= threshold))
    WHEN kind = 'ctph' AND threshold >= 0.85 THEN
      pg_catalog.format('@extschema@.ctph_edit_rate(%s, %s) <= %L::float8', a, b, least(1 - threshold + 1e-9, 0.15)) END
  $$;
CREATE OR REPLACE FUNCTION neardup_refresh_index(job regclass, j neardup_job) RETURNS void LANGUAGE plpgsql SET extra_float_digits = 1 AS $$
DECLARE
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  kind text := @extschema@.neardup_job_kind(j);
  lower float8;
BEGIN
  IF pg_catalog.cardinality(@extschema@.neardup_job_indexes(job)) = 0 AND
     @extschema@.neardup_refresh_near(kind, j.search_threshold, 'a', 'b') IS NOT NULL THEN
    -- they may be of other parameters than those that have come
    EXECUTE pg_catalog.format('UPDATE %s SET signature = NULL WHERE gone AND signature IS NOT NULL', signatures);
    -- An index of a lower threshold than what is searched for tells candidates apart by how many bands they share: at a million rows of pages
    -- full of boilerplate a tenth of them is left. Long signatures may have too many bands for it, or for any index: then all rows are
    -- clustered each time.
    FOREACH lower IN ARRAY CASE WHEN kind = 'minhash' THEN ARRAY[0.05, 0] ELSE ARRAY[0] END::float8[] LOOP
      BEGIN
        EXECUTE pg_catalog.format('CREATE INDEX ON %s USING lsh (signature%s)%s', signatures,
          CASE WHEN kind = 'ctph' THEN pg_catalog.format(' @extschema@.ctph_ops (max_rate = %s)',
            least(pg_catalog.ceil(((1::float8 - j.search_threshold) * 100000::float8)::numeric(12, 3)) / 100000::numeric, 0.15::numeric)::numeric(6, 5)) ELSE '' END,
          CASE WHEN kind = 'minhash' THEN pg_catalog.format(' WITH (threshold = %s)', j.search_threshold - lower) ELSE '' END);
        EXIT;
      EXCEPTION WHEN program_limit_exceeded THEN NULL;
      END;
    END LOOP;
    EXECUTE pg_catalog.format('ANALYZE %s', signatures);
  END IF;
END $$;
CREATE OR REPLACE FUNCTION neardup_refresh_touched(job regclass, j neardup_job) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  result text := @extschema@.neardup_job_part(job, '');
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  touched text := @extschema@.neardup_job_temp(job, 'touched');
  edges text := @extschema@.neardup_job_temp(job, 'edges');
  kind text := @extschema@.neardup_job_kind(j);
  near text := @extschema@.neardup_refresh_near(kind, j.search_threshold, 'g.signature', 'f.signature');
  exact boolean := kind IN ('minhash', 'simhash') AND j.verify IS NULL AND j.at IS NULL AND pg_catalog.cardinality(j.within) = 0;
  rows bigint;
  n bigint;
  found bigint;
  sampled bigint;
  most bigint;
BEGIN
  IF j.recluster OR j.clustered = 0 OR near IS NULL OR pg_catalog.cardinality(@extschema@.neardup_job_indexes(job)) = 0 THEN RETURN false; END IF;
  EXECUTE pg_catalog.format('SELECT count(*) FROM %s', signatures) INTO rows;
  EXECUTE pg_catalog.format('SELECT count(*) FROM %s WHERE generation > $1', signatures) INTO n USING j.clustered;
  -- A search costs as much as to cluster ten rows, and in more than a million rows more: an index that the memory does not hold.
  most := least(rows / 10 + 10, 100000 + rows / 100);
  IF n > least(rows / 20 + 10, most) THEN RETURN false; END IF;
  PERFORM @extschema@.neardup_drop('TABLE', touched, edges);
  EXECUTE pg_catalog.format('CREATE TEMP TABLE %s AS SELECT id, false AS searched FROM %s WHERE generation > $1 AND NOT gone', split_part(touched, '.', 2), signatures)
    USING j.clustered;
  EXECUTE pg_catalog.format('ALTER TABLE %s ADD PRIMARY KEY (id)', touched);
  EXECUTE pg_catalog.format('CREATE TEMP TABLE %s AS SELECT id AS x, id AS y, false AS later, false AS settled FROM %s WITH NO DATA', split_part(edges, '.', 2), signatures);
  IF j.linkage = 'anchor' THEN
    EXECUTE pg_catalog.format('INSERT INTO %s SELECT m.id, false FROM %s s JOIN %s r ON r.id = s.id JOIN %s m ON m.cluster = r.cluster
        WHERE s.generation > $1 AND r.survivor ON CONFLICT DO NOTHING', touched, signatures, result, result) USING j.clustered;
  END IF;
  FOR round IN 1 .. 50 LOOP
    EXECUTE pg_catalog.format('SELECT count(*), count(*) FILTER (WHERE NOT searched) FROM %s', touched) INTO n, found;
    IF n > most THEN RETURN false; END IF;
    EXIT WHEN found = 0;
    EXECUTE pg_catalog.format('ANALYZE %s', touched);
    -- A large family of near rows: each would find all others.
    EXECUTE pg_catalog.format('SELECT count(*) FROM (SELECT s.signature FROM %s t JOIN %s s ON s.id = t.id
           WHERE NOT t.searched AND NOT s.gone AND s.signature IS NOT NULL LIMIT 20) f
         CROSS JOIN LATERAL (SELECT FROM %s g WHERE NOT g.gone AND %s) g', touched, signatures, signatures, near) INTO sampled;
    IF sampled * found / least(found, 20) > 10 * rows + 100000 THEN RETURN false; END IF;
    -- Records compare as ORDER BY does. settled: a representative that has not changed.
    EXECUTE pg_catalog.format(
      'INSERT INTO %s SELECT f.id, g.id, %s, r.survivor AND g.generation <= $1 FROM (SELECT s.id, s.key, s.signature FROM %s t JOIN %s s ON s.id = t.id
           WHERE NOT t.searched AND NOT s.gone AND s.signature IS NOT NULL) f
         CROSS JOIN LATERAL (SELECT g.id, g.key, g.generation FROM %s g WHERE NOT g.gone AND %s) g LEFT JOIN %s r ON r.id = g.id
         WHERE ROW(g.id)::record OPERATOR(pg_catalog.<>) ROW(f.id)::record', edges,
      pg_catalog.format('CASE WHEN (g.key IS NULL) OPERATOR(pg_catalog.<>) (f.key IS NULL) THEN g.key IS NULL
        WHEN ROW(g.key)::record OPERATOR(pg_catalog.=) ROW(f.key)::record THEN ROW(g.id)::record OPERATOR(pg_catalog.>) ROW(f.id)::record
        ELSE ROW(g.key)::record OPERATOR(pg_catalog.%s) ROW(f.key)::record END', CASE WHEN j.keep = 'oldest' THEN '>' ELSE '<' END),
      touched, signatures, signatures, near, result) USING j.clustered;
    EXECUTE pg_catalog.format('UPDATE %s SET searched = true WHERE NOT searched', touched);
    EXIT WHEN j.linkage = 'connected';
    EXECUTE pg_catalog.format('ANALYZE %s', edges);
    EXECUTE pg_catalog.format(
      'INSERT INTO %s SELECT DISTINCT a.id, false FROM (
         SELECT e.y AS id FROM %s e WHERE e.later%s
         UNION ALL
         SELECT m.id FROM %s t JOIN %s r ON r.id = t.id JOIN %s m ON m.cluster = r.cluster WHERE r.survivor) a ON CONFLICT DO NOTHING',
      touched, edges, CASE WHEN exact THEN pg_catalog.format(' AND NOT EXISTS (SELECT FROM %s s
           WHERE s.x = e.x AND s.settled AND NOT s.later AND NOT EXISTS (SELECT FROM %s t WHERE t.id = s.y))', edges, touched) END,
      touched, result, result);
  END LOOP;
  IF found > 0 AND j.linkage = 'anchor' THEN RETURN false; END IF;
  IF j.linkage = 'connected' THEN
    EXECUTE pg_catalog.format('INSERT INTO %s SELECT DISTINCT y, true FROM %s ON CONFLICT DO NOTHING', touched, edges);
    EXECUTE pg_catalog.format('INSERT INTO %s SELECT m.id, true FROM %s m WHERE m.cluster IN (SELECT r.cluster FROM %s r WHERE r.id IN (SELECT t.id FROM %s t)
        UNION ALL SELECT r.cluster FROM %s r JOIN %s s ON s.id = r.id WHERE s.generation > $1) ON CONFLICT DO NOTHING',
      touched, result, result, touched, result, signatures) USING j.clustered;
    EXECUTE pg_catalog.format('SELECT count(*) FROM %s', touched) INTO n;
    RETURN n <= rows / 2;
  END IF;
  EXECUTE pg_catalog.format('INSERT INTO %s SELECT DISTINCT y, true FROM %s WHERE settled ON CONFLICT DO NOTHING', touched, edges);
  EXECUTE pg_catalog.format('INSERT INTO %s SELECT DISTINCT r.representative, true FROM %s r JOIN %s s ON s.id = r.id WHERE s.generation > $1 ON CONFLICT DO NOTHING',
    touched, result, signatures) USING j.clustered;
  RETURN true;
END $$;
CREATE OR REPLACE FUNCTION neardup_refresh_cluster(job regclass, j neardup_job) RETURNS void LANGUAGE plpgsql SET extra_float_digits = 1 AS $$
DECLARE
  result text := @extschema@.neardup_job_part(job, '');
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  changes text := @extschema@.neardup_job_part(job, '_changes');
  touched text := @extschema@.neardup_job_temp(job, 'touched');
  edges text := @extschema@.neardup_job_temp(job, 'edges');
  fresh text := @extschema@.neardup_job_temp(job, 'fresh');
  ids text := @extschema@.neardup_job_temp(job, 'ids');
  heirs text := @extschema@.neardup_job_temp(job, 'heirs');
  part boolean := @extschema@.neardup_refresh_touched(job, j);
  within text := (SELECT string_agg('g.within_' || i::text, ', ' ORDER BY i) FROM generate_series(1, pg_catalog.array_length(j.within, 1)) i);
  id_type text;
  query text;
  looked_at bigint;
  n bigint;
BEGIN
  -- a domain may not take the NULL that names the type
  SELECT CASE WHEN t IN ('smallint'::regtype::oid, 'int'::regtype::oid, 'bigint'::regtype::oid) THEN 'bigint' ELSE pg_catalog.format_type(t, NULL) END
    INTO id_type FROM (SELECT @extschema@.neardup_job_column(j.source, j.id, 'id')::oid AS t) x;
  query := pg_catalog.format('SELECT g.id, g.signature%s%s%s FROM %s g%s WHERE NOT g.gone%s ORDER BY g.key %s NULLS LAST, g.id',
    CASE WHEN within IS NOT NULL THEN pg_catalog.format(', ROW(%s) AS within', within) END, CASE WHEN j.at IS NOT NULL THEN ', g.at AS at' END,
    CASE WHEN j.verify IS NOT NULL THEN
      pg_catalog.format(', %s AS doc', @extschema@.neardup_document_sql(@extschema@.neardup_profile_named(j.profile), j.body_type, 'l.body')) END,
    signatures, CASE WHEN j.verify IS NOT NULL THEN pg_catalog.format(' JOIN (%s) l ON l.id = g.id', @extschema@.neardup_job_rows(j)) END,
    CASE WHEN part THEN pg_catalog.format(' AND g.id IN (SELECT t.id FROM %s t)', touched) END,
    CASE WHEN j.keep = 'oldest' THEN 'ASC' ELSE 'DESC' END);
  PERFORM @extschema@.neardup_drop('TABLE', fresh, ids, heirs);
  EXECUTE pg_catalog.format('CREATE TEMP TABLE %s AS SELECT c.id, COALESCE(c.cluster, c.n) AS c, COALESCE(c.representative, c.id) AS representative,
                    c.similarity, c.survivor, c.n
                  FROM @extschema@.all_clusters(NULL::%s, %L, %L::float8, %L, %L, %L::float8, %L::interval)
                       WITH ORDINALITY c(id, cluster, representative, similarity, cluster_size, survivor, n)',
    split_part(fresh, '.', 2), id_type, query, j.threshold, j.linkage, j.verify, j.verify_threshold, j.at_most_apart);
  GET DIAGNOSTICS looked_at = ROW_COUNT;
  EXECUTE pg_catalog.format('ANALYZE %s', fresh);
  -- Where an old cluster lives on: with its representative, or with the first of its rows that are left.
  EXECUTE pg_catalog.format('CREATE TEMP TABLE %s AS SELECT DISTINCT ON (r.cluster) r.cluster AS old, f.c FROM %s f JOIN %s r ON r.id = f.id
                  ORDER BY r.cluster, r.id = r.representative DESC, f.n', split_part(heirs, '.', 2), fresh, result);
  EXECUTE pg_catalog.format('CREATE TEMP TABLE %s AS SELECT c, COALESCE(old, $1 - 1 + row_number() OVER (PARTITION BY old IS NULL ORDER BY c)) AS id, old IS NULL AS new
                  FROM (SELECT f.c, min(h.old) AS old FROM (SELECT DISTINCT c FROM %s) f LEFT JOIN %s h ON h.c = f.c GROUP BY f.c) x',
                 split_part(ids, '.', 2), fresh, heirs) USING j.next_cluster;
  EXECUTE pg_catalog.format('ANALYZE %s', ids);
  EXECUTE pg_catalog.format('ANALYZE %s', heirs);
  EXECUTE pg_catalog.format(
    'INSERT INTO %s (refresh, change, cluster, other)
     SELECT $1, ''merged'', i.id, h.old FROM %s h JOIN %s i ON i.c = h.c WHERE i.id <> h.old
     UNION ALL
     SELECT DISTINCT $1, ''split'', i.id, r.cluster FROM %s f JOIN %s i ON i.c = f.c AND i.new JOIN %s r ON r.id = f.id
     UNION ALL
     SELECT DISTINCT $1, ''gone'', r.cluster, NULL::bigint FROM %s r WHERE %s AND NOT EXISTS (SELECT FROM %s h WHERE h.old = r.cluster)',
    changes, heirs, ids, fresh, ids, result, result,
    CASE WHEN part THEN pg_catalog.format('r.id IN (SELECT g.id FROM %s g WHERE g.gone)', signatures) ELSE 'true' END, heirs) USING j.refresh;
  EXECUTE pg_catalog.format('DELETE FROM %s r WHERE %s', result,
    CASE WHEN part THEN pg_catalog.format('r.id IN (SELECT g.id FROM %s g WHERE g.gone)', signatures)
         ELSE pg_catalog.format('NOT EXISTS (SELECT FROM %s f WHERE f.id = r.id)', fresh) END);
  EXECUTE pg_catalog.format(
    'INSERT INTO %1$s AS r (id, cluster, representative, similarity, survivor, found_at%2$s)
     SELECT f.id, i.id, f.representative, f.similarity, f.survivor, now()%3$s
     FROM %4$s f JOIN %5$s i ON i.c = f.c%6$s LEFT JOIN %1$s o ON o.id = f.id
     WHERE o.id IS NULL OR (o.cluster, o.survivor) <> (i.id, f.survivor) OR o.representative <> f.representative
           OR o.similarity IS DISTINCT FROM f.similarity%7$s
     ON CONFLICT (id) DO UPDATE SET cluster = EXCLUDED.cluster, representative = EXCLUDED.representative, similarity = EXCLUDED.similarity,
       survivor = EXCLUDED.survivor, found_at = CASE WHEN r.cluster = EXCLUDED.cluster THEN r.found_at ELSE EXCLUDED.found_at END%8$s',
    result, (SELECT string_agg(', ' || pg_catalog.quote_ident(w), '' ORDER BY i) FROM pg_catalog.unnest(j.within) WITH ORDINALITY u(w, i)), ', ' || within, fresh, ids,
    CASE WHEN within IS NOT NULL THEN pg_catalog.format(' JOIN %s g ON g.id = f.id', signatures) END,
    (SELECT string_agg(pg_catalog.format(' OR o.%I IS DISTINCT FROM g.within_%s', w, i), '' ORDER BY i) FROM pg_catalog.unnest(j.within) WITH ORDINALITY u(w, i)),
    (SELECT string_agg(pg_catalog.format(', %I = EXCLUDED.%I', w, w), '' ORDER BY i) FROM pg_catalog.unnest(j.within) WITH ORDINALITY u(w, i)));
  -- Rows of a cluster that were not looked at go with its representative.
  IF part THEN
    EXECUTE pg_catalog.format('UPDATE %s r SET cluster = i.id, found_at = now() FROM %s h JOIN %s i ON i.c = h.c
        WHERE r.cluster = h.old AND i.id <> h.old AND NOT EXISTS (SELECT FROM %s f WHERE f.id = r.id)', result, heirs, ids, fresh);
  END IF;
  EXECUTE pg_catalog.format('DELETE FROM %s WHERE gone', signatures);
  EXECUTE pg_catalog.format('SELECT count(*) FROM %s WHERE new', ids) INTO n;
  EXECUTE pg_catalog.format('UPDATE %s SET clustered = refresh, clustered_rows = $2, recluster = false, next_cluster = next_cluster + $1', job)
    USING n, looked_at;
  PERFORM @extschema@.neardup_drop('TABLE', fresh, ids, heirs, touched, edges);
END $$;
CREATE OR REPLACE FUNCTION neardup_refresh_step(job regclass, batch int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  j @extschema@.neardup_job := @extschema@.neardup_job_row(job);
  p @extschema@.neardup_profile;
  t regtype;
  n bigint;
BEGIN
  IF j.phase = 'listing' THEN
    PERFORM @extschema@.neardup_job_rows(j);
    IF j.body IS NOT NULL THEN
      p := @extschema@.neardup_profile_named(j.profile);
      t := @extschema@.neardup_job_column(j.source, j.body, 'body');
      IF p.version IS DISTINCT FROM j.profile_version OR t::oid <> j.body_type::oid THEN
        j.profile_version := p.version; j.body_type := t; j.recluster := true;
        EXECUTE pg_catalog.format('UPDATE %s SET profile_version = $1, body_type = $2, recluster = true', job) USING p.version, t;
        PERFORM @extschema@.neardup_clear_signatures(job, j);
      END IF;
    END IF;
    j.resync := @extschema@.neardup_refresh_columns(job, j) OR j.resync;
    IF @extschema@.neardup_refresh_types(job, j) THEN
      j.resync := true;
      EXECUTE pg_catalog.format('UPDATE %s SET resync = true, recluster = true', job);
    END IF;
    n := @extschema@.neardup_refresh_list(job, j);
    EXECUTE pg_catalog.format('UPDATE %s SET total = $1, done = 0', job) USING n;
    RETURN CASE WHEN n > 0 THEN 'signing' ELSE 'indexing' END;
  ELSIF j.phase = 'signing' THEN
    BEGIN
      PERFORM @extschema@.neardup_refresh_sign(job, j, j.done, j.done + batch);
    EXCEPTION WHEN datatype_mismatch THEN
      -- the column has signatures of other parameters now, which only another index takes
      IF j.signature IS NULL OR pg_catalog.cardinality(@extschema@.neardup_job_indexes(job)) = 0 THEN RAISE; END IF;
      PERFORM @extschema@.neardup_drop('INDEX', VARIADIC @extschema@.neardup_job_indexes(job));
      EXECUTE pg_catalog.format('UPDATE %s SET recluster = true', job);
      PERFORM @extschema@.neardup_refresh_sign(job, j, j.done, j.done + batch);
    END;
    EXECUTE pg_catalog.format('UPDATE %s SET done = LEAST(done + $1, total)', job) USING batch;
    RETURN CASE WHEN j.done + batch < j.total THEN 'signing' ELSE 'indexing' END;
  ELSIF j.phase = 'indexing' THEN
    j.search_threshold := @extschema@.neardup_refresh_threshold(job, j);
    EXECUTE pg_catalog.format('UPDATE %s SET search_threshold = $1', job) USING j.search_threshold;
    PERFORM @extschema@.neardup_refresh_index(job, j);
    PERFORM @extschema@.neardup_drop('TABLE', @extschema@.neardup_job_temp(job, 'todo'));
    EXECUTE pg_catalog.format('SELECT count(*) FROM %s WHERE generation > $1', @extschema@.neardup_job_part(job, '_signatures')) INTO n USING j.clustered;
    IF n = 0 AND NOT j.recluster THEN
      EXECUTE pg_catalog.format('UPDATE %s SET clustered_rows = 0', job);
      RETURN 'idle';
    END IF;
    RETURN 'clustering';
  END IF;
  PERFORM @extschema@.neardup_refresh_cluster(job, j);
  RETURN 'idle';
END $$;
CREATE OR REPLACE PROCEDURE neardup_refresh(job regclass, batch int, time_limit interval, commit boolean) LANGUAGE plpgsql AS $$
DECLARE
  name text := left(@extschema@.neardup_job_part(job, ''), 200);
  start timestamptz := clock_timestamp();
  j @extschema@.neardup_job := @extschema@.neardup_job_row(job);
  step text := 'listing';
  next text;
  signed boolean := false;
  failed boolean := false;
  state text; message text; detail text; hint text;
BEGIN
  IF j.source IS NULL THEN
    RAISE EXCEPTION 'job % has no row', job USING ERRCODE = 'data_exception';
  END IF;
  IF j.paused THEN
    RAISE NOTICE '% is paused', name USING HINT = pg_catalog.format('SELECT pause_duplicates(%L, false);', name);
    RETURN;
  END IF;
  EXECUTE pg_catalog.format('UPDATE %s SET refresh = refresh + 1, phase = ''listing'', done = 0, total = NULL, started = clock_timestamp(),
                  phase_started = clock_timestamp(), finished = NULL, pid = pg_backend_pid(), last_error = NULL', job);
  IF commit THEN COMMIT; END IF;
  LOOP
    BEGIN
      next := @extschema@.neardup_refresh_step(job, batch);
    EXCEPTION WHEN OTHERS THEN
      IF NOT commit THEN RAISE; END IF;
      GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
      failed := true;
    END;
    IF failed THEN
      EXECUTE pg_catalog.format('UPDATE %s SET phase = ''failed'', finished = clock_timestamp(), pid = NULL, last_error = $1', job) USING message;
      COMMIT;
      PERFORM @extschema@.neardup_raise(state, message, detail, hint);
    END IF;
    EXECUTE pg_catalog.format('UPDATE %s SET phase_started = CASE WHEN phase = $1 THEN phase_started ELSE clock_timestamp() END, phase = $1', job) USING next;
    IF next = 'idle' THEN
      EXECUTE pg_catalog.format('UPDATE %s SET finished = clock_timestamp(), pid = NULL', job);
    END IF;
    IF commit THEN COMMIT; END IF;
    EXIT WHEN next = 'idle';
    j := @extschema@.neardup_job_row(job);
    -- not before a batch: what only lists, and is stopped, would never come further
    signed := signed OR step = 'signing';
    step := next;
    IF j.paused OR (signed AND clock_timestamp() - start >= time_limit) THEN
      EXECUTE pg_catalog.format('UPDATE %s SET finished = clock_timestamp(), pid = NULL, phase = ''waiting''', job);
      IF commit THEN COMMIT; END IF;
      RAISE NOTICE '%: % of % rows signed, then %; the next refresh goes on', name, j.done, COALESCE(j.total, 0),
        CASE WHEN j.paused THEN 'paused' ELSE 'the time limit was reached' END;
      EXIT;
    END IF;
  END LOOP;
END $$;
CREATE OR REPLACE FUNCTION neardup_jobs() RETURNS TABLE (job regclass, source regclass, phase text, done bigint, total bigint, rate float8,
    time_left interval, started timestamptz, finished timestamptz, pid int, last_error text) LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t regclass;
  j @extschema@.neardup_job;
  running boolean;
BEGIN
  FOR t IN SELECT c.oid FROM pg_class c WHERE c.reloftype = '@extschema@.neardup_job'::regtype::oid AND c.relkind = 'r'
           -- a policy of another role would run with the rights of who looks
           AND (NOT c.relrowsecurity OR c.relowner = (SELECT r.oid FROM pg_roles r WHERE r.rolname = current_user))
           AND has_table_privilege(c.oid, 'SELECT') AND has_schema_privilege(c.relnamespace, 'USAGE')
           -- temporary tables of other sessions cannot be read
           AND (c.relpersistence <> 't' OR c.relnamespace = pg_my_temp_schema()) ORDER BY c.oid::regclass::text LOOP
    BEGIN
      j := @extschema@.neardup_job_row(t);
      job := to_regclass(@extschema@.neardup_job_part(t, ''));
    -- dropped meanwhile, when its name may be a number, or no longer for who looks
    EXCEPTION WHEN undefined_table OR syntax_error OR insufficient_privilege OR invalid_schema_name THEN CONTINUE;
    END;
    CONTINUE WHEN j.phase IS NULL;
    -- the lock of refresh_duplicates()
    SELECT true INTO running FROM pg_locks l WHERE l.locktype = 'advisory' AND l.classid = t::oid AND l.objid = 0 AND l.objsubid = 3
      AND l.granted AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database());
    running := COALESCE(running, false);
    source := j.source;
    started := j.started; finished := j.finished; last_error := j.last_error; pid := CASE WHEN running THEN j.pid END;
    done := j.done; total := j.total;
    phase := CASE WHEN NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = j.source::oid) THEN 'orphan'
                  WHEN j.paused AND NOT running THEN 'paused'
                  WHEN j.phase IN ('listing', 'signing', 'indexing', 'clustering') AND NOT running THEN 'interrupted'
                  ELSE j.phase END;
    rate := NULL; time_left := NULL;
    IF running AND phase = 'clustering' THEN
      SELECT COALESCE(round(g.searched * 100), 0), 100 INTO done, total FROM @extschema@.neardup_progress() g WHERE g.pid = j.pid;
    END IF;
    IF running AND phase IN ('signing', 'clustering') AND done > 0 THEN
      rate := done / greatest(extract(epoch FROM clock_timestamp() - j.phase_started), 0.001);
      time_left := make_interval(secs => (total - done) / rate);
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
CREATE OR REPLACE FUNCTION neardup_s_curve(threshold float8, num_perm int = 128, bands int = NULL, rows int = NULL) RETURNS SETOF text
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 30 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  need int;
  first int;
  p float8;
  at float8;
BEGIN
  IF threshold IS NULL OR num_perm IS NULL THEN
    RAISE EXCEPTION '% must not be NULL', CASE WHEN threshold IS NULL THEN 'threshold' ELSE 'num_perm' END
      USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF NOT (threshold > 0 AND threshold <= 1) THEN
    RAISE EXCEPTION 'threshold must be above 0 and at most 1: %', threshold USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF num_perm NOT BETWEEN 16 AND 4096 THEN
    RAISE EXCEPTION 'num_perm must be between 16 and 4096: %', num_perm USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF (bands IS NULL) <> (rows IS NULL) THEN
    RAISE EXCEPTION 'bands and rows must be given together' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF bands::bigint * rows > num_perm THEN
    RAISE EXCEPTION '% bands of % rows need % components, and num_perm is %', bands, rows, bands::bigint * rows, num_perm
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  need := @extschema@.neardup_matches_needed(num_perm, threshold);
  -- whole steps of 0.02 from 0.5, or from 0.2 below the threshold where that is less
  first := greatest(0, least(25, round((threshold - 0.2) * 50)::int));
  RETURN NEXT CASE WHEN bands IS NULL
    THEN pg_catalog.format('probability that jaccard >= %s (%s of %s components)', threshold, need, num_perm)
    ELSE pg_catalog.format('probability that one of %s bands of %s components agrees; -> is the threshold, %s', bands, rows, threshold) END;
  RETURN NEXT '       0          0.25         0.5        0.75           1';
  FOR i IN first .. 50 LOOP
    at := i / 50.0::float8;
    p := CASE WHEN bands IS NULL THEN (@extschema@.neardup_match_tail(num_perm, at))[need + 1]
              ELSE @extschema@.lsh_probability(at, bands, rows) END;
    RETURN NEXT pg_catalog.format('%s %s|%s| %s', to_char(at, 'FM0.00') || repeat(' ', 4),
      -- the step that holds the threshold
      CASE WHEN i = round(threshold * 50)::int THEN '->' ELSE '  ' END,
      rpad(repeat('#', round(p * 48)::int), 48, CASE WHEN i = round(threshold * 50)::int THEN '-' ELSE ' ' END),
      to_char(floor(p * 10000 + 1e-6) / 10000, 'FM0.0000'));
  END LOOP;
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
      (SELECT string_agg(pg_catalog.format('left("neardup %s"::text, 100001) AS v%s, pg_catalog.pg_typeof("neardup %s")::oid AS t%s', n, n, n, n), ', ' ORDER BY n)
       FROM pg_catalog.generate_subscripts(columns, 1) n),
      body, (SELECT string_agg(pg_catalog.format('"neardup %s"', n), ', ' ORDER BY n) FROM pg_catalog.generate_subscripts(columns, 1) n));
  EXCEPTION WHEN invalid_column_reference THEN
    RAISE EXCEPTION '% must return % columns: %', what, CASE pg_catalog.cardinality(columns) WHEN 2 THEN 'two' ELSE 'three' END,
      pg_catalog.array_to_string(columns, ', ') USING ERRCODE = 'datatype_mismatch', DETAIL = 'PostgreSQL says: ' || SQLERRM || '.';
  END;
  RETURN c;
END $$;
CREATE FUNCTION neardup_suggest_sample(query text, OUT ids text[], OUT docs text[], OUT total bigint, OUT empty_rows int, OUT cut int, OUT more boolean)
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
DECLARE
  most_documents CONSTANT int := 2000;
  most_bytes CONSTANT int := 20000000;
  most_length CONSTANT int := 100000;   -- characters of a document that are looked at
  c refcursor;
  r record;
BEGIN
  ids := '{}'; docs := '{}'; total := 0; empty_rows := 0; cut := 0; more := false;
  c := @extschema@.neardup_reading_cursor(query, 'query', ARRAY['id', 'document']);
  LOOP
    FETCH c INTO r;
    EXIT WHEN NOT FOUND;
    IF pg_catalog.cardinality(docs) = most_documents OR total > most_bytes OR empty_rows > most_documents THEN
      more := true;
      EXIT;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_type t WHERE t.oid = r.t2::oid
                   AND COALESCE(NULLIF(t.typbasetype, 0::oid), t.oid) IN ('text'::regtype::oid, 'varchar'::regtype::oid, 'bpchar'::regtype::oid)) THEN
      RAISE EXCEPTION 'the second column of query must be a document of type text: it is %', r.t2::regtype
        USING ERRCODE = 'datatype_mismatch';
    END IF;
    IF r.v1 IS NULL THEN
      RAISE EXCEPTION 'query returns a row whose id is NULL' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF COALESCE(r.v2, '') = '' THEN
      empty_rows := empty_rows + 1;
    ELSE
      cut := cut + (length(r.v2) > most_length)::int;
      ids := pg_catalog.array_append(ids, r.v1);
      docs := pg_catalog.array_append(docs, left(r.v2, most_length));
      total := total + octet_length(docs[pg_catalog.cardinality(docs)]);
    END IF;
  END LOOP;
  CLOSE c;
  IF pg_catalog.cardinality(docs) = 0 THEN
    RAISE EXCEPTION 'query returns no document' USING ERRCODE = 'no_data_found',
      DETAIL = CASE WHEN empty_rows > 0 THEN pg_catalog.format('Rows whose document is NULL or empty: %s.', empty_rows) ELSE 'It returns no row.' END;
  END IF;
  SELECT u.id INTO r FROM pg_catalog.unnest(ids) u(id) GROUP BY u.id HAVING count(*) > 1 ORDER BY u.id LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'query returns the id % more than once', r.id USING ERRCODE = 'unique_violation';
  END IF;
END $$;
COMMENT ON FUNCTION neardup_suggest_sample(text) IS 'private: the documents that neardup_suggest looks at';
CREATE FUNCTION neardup_suggest_labels(labels text, OUT la text[], OUT lb text[], OUT ld boolean[]) LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
DECLARE
  most_labels CONSTANT int := 100000;
  c refcursor;
  r record;
BEGIN
  la := '{}'; lb := '{}'; ld := '{}';
  c := @extschema@.neardup_reading_cursor(labels, 'labels', ARRAY['id_a', 'id_b', 'is_duplicate']);
  LOOP
    FETCH c INTO r;
    EXIT WHEN NOT FOUND;
    IF r.t3::oid <> 'boolean'::regtype::oid THEN
      RAISE EXCEPTION 'the third column of labels must be boolean: it is %', r.t3::regtype USING ERRCODE = 'datatype_mismatch';
    END IF;
    IF r.v1 IS NULL OR r.v2 IS NULL OR r.v3 IS NULL THEN
      RAISE EXCEPTION 'labels returns a row with NULL' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF r.v1 = r.v2 THEN
      RAISE EXCEPTION 'labels pairs the id % with itself', r.v1 USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF pg_catalog.cardinality(la) = most_labels THEN
      RAISE EXCEPTION 'labels returns more than % rows', most_labels USING ERRCODE = 'program_limit_exceeded';
    END IF;
    la := pg_catalog.array_append(la, r.v1);
    lb := pg_catalog.array_append(lb, r.v2);
    ld := pg_catalog.array_append(ld, r.v3::boolean);
  END LOOP;
  CLOSE c;
END $$;
COMMENT ON FUNCTION neardup_suggest_labels(text) IS 'private: the pairs that people have judged';
CREATE FUNCTION neardup_suggest_of(ids text[], docs text[], total bigint, empty_rows int, cut int, more boolean, labels text, la text[], lb text[],
    ld boolean[], edit_similarity float8)
  RETURNS TABLE (unit text, k int, threshold float8, num_perm int, bits int, index_options text, expected_recall float8,
                 expected_precision float8, bytes_per_row float8, signing_us float8, query_us float8, pairs bigint, note text)
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 18 SET jit = off SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  most_length CONSTANT int := 100000;   -- as in neardup_suggest_sample()
  r record;
  -- told in the note
  copies int := 0;
  strange bigint := 0;                  -- labels of ids that are not in the sample
  remarks text[] := '{}';
  judged boolean := false;              -- only labelled pairs count
  -- forms of shingles, the one to be preferred first
  units text[];
  ks int[];
  unspaced float8;
  queries text[] := '{}';
  floors float8[];                      -- least similarity of signatures that makes a near pair
  -- pairs
  most_pairs int;
  pair_a int[];
  pair_b int[];
  pair_weight float8[];
  pair_true boolean[];
  near_pairs bigint;
  true_pairs bigint;
  true_weight float8;
  -- pairs by exact similarity in steps of 1/200: form, step, weight of true ones, of others
  hist_form int[] := '{}';
  hist_step int[] := '{}';
  hist_true float8[] := '{}';
  hist_false float8[] := '{}';
  timed text[];                         -- documents on which time is measured
  began timestamptz;
  us float8;
  best record;
  proposals jsonb := '[]';
  times float8[] := '{}';
  n int;
  dummy bigint;
  unmeasured text;                      -- why look-ups could not be timed
BEGIN
  IF labels IS NOT NULL THEN
    SELECT least(l.a, l.b) AS a, greatest(l.a, l.b) AS b INTO r FROM unnest(la, lb, ld) l(a, b, d)
      GROUP BY 1, 2 HAVING bool_or(l.d) AND NOT bool_and(l.d) LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'labels says both true and false of % and %', r.a, r.b USING ERRCODE = 'invalid_parameter_value';
    END IF;
    WITH d AS (SELECT u.id, u.n::int FROM unnest(ids) WITH ORDINALITY u(id, n)),
    p AS (SELECT DISTINCT least(x.n, y.n) AS a, greatest(x.n, y.n) AS b, l.d
          FROM unnest(la, lb, ld) l(a, b, d) JOIN d x ON x.id = l.a JOIN d y ON y.id = l.b)
    SELECT array_agg(p.a ORDER BY p.a, p.b), array_agg(p.b ORDER BY p.a, p.b), array_agg(p.d ORDER BY p.a, p.b),
           count(*) FILTER (WHERE p.d), bool_or(NOT p.d),
           (SELECT count(*) FROM unnest(la, lb) l(a, b) WHERE l.a <> ALL (ids) OR l.b <> ALL (ids))
      INTO pair_a, pair_b, pair_true, true_pairs, judged, strange FROM p;
    IF true_pairs = 0 THEN
      RAISE EXCEPTION 'labels names no duplicates of which both are in the sample' USING ERRCODE = 'no_data_found',
        DETAIL = pg_catalog.format('The sample has %s documents; labels of ids that are not in it: %s of %s.', pg_catalog.cardinality(docs), strange, pg_catalog.cardinality(la)),
        HINT = 'Let query return the labelled documents first.';
    END IF;
  ELSE
    -- Equal documents are found by every form and would only hide what the others tell.
    n := pg_catalog.cardinality(docs);
    SELECT array_agg(x.doc ORDER BY x.n) INTO docs
      FROM (SELECT min(u.n) AS n, u.doc FROM unnest(docs) WITH ORDINALITY u(doc, n) GROUP BY u.doc) x;
    copies := n - pg_catalog.cardinality(docs);
  END IF;

  -- Scripts without spaces: words of one letter that takes three bytes or more in UTF-8, a mark may follow
  SELECT COALESCE(sum(length(w)) FILTER (WHERE length(w) <= 2 AND octet_length(convert_to(left(w, 1), 'UTF8')) >= 3)::float8
                  / NULLIF(sum(length(w)), 0), 0)
    INTO unspaced FROM unnest(docs[1:200]) d, @extschema@.shingles(left(d, 1000), 1) w;
  IF unspaced > 0.5 THEN
    units := '{char,char,char,char}';
    ks := '{3,2,5,8}';
    floors := '{0.2,0.2,0.2,0.2}';
  ELSE
    -- in any two long texts many three letters are the same
    units := '{word,word,word,char,char,char}';
    ks := '{3,2,5,5,8,3}';
    floors := '{0.2,0.2,0.2,0.2,0.2,0.3}';
  END IF;

  -- Near pairs. Exact comparisons are what takes time: fewer of long documents.
  most_pairs := greatest(300, least(5000, 15000000 / (1 + total / pg_catalog.cardinality(docs))));
  IF NOT COALESCE(judged, false) THEN
    FOR f IN 1 .. pg_catalog.cardinality(units) LOOP
      queries[f] := pg_catalog.format('SELECT n, s FROM unnest(%L::@extschema@.minhash[]) WITH ORDINALITY u(s, n)',
        (SELECT array_agg(@extschema@.to_minhash(u.doc, ks[f], units[f], 128, 32) ORDER BY u.n)
         FROM unnest(docs) WITH ORDINALITY u(doc, n))::text);
    END LOOP;
    -- Where there are too many, a pair is kept with a chance that grows with its similarity, and weighs as many as it
    -- stands for. The chance is a hash: another call keeps the same ones. (Of text: PostgreSQL's hash of a bigint folds
    -- its halves together, and neighbours in the sample would be kept or lost together.)
    WITH near AS (
      SELECT p.id_a::int AS a, p.id_b::int AS b, (sum(p.similarity) / pg_catalog.cardinality(units)) ^ 3 AS q
      FROM unnest(queries, floors) f(query, floor), LATERAL @extschema@.all_pairs(f.query, f.floor) p GROUP BY 1, 2),
    counted AS (SELECT near.*, count(*) OVER () AS total, sum(near.q) OVER () AS q_total FROM near),
    weighed AS (SELECT counted.*, CASE WHEN total <= most_pairs THEN 1 ELSE greatest(1, q_total / (most_pairs * q)) END AS w FROM counted),
    kept AS (
      SELECT weighed.a, weighed.b, weighed.w, total FROM weighed
      WHERE w = 1 OR (hashtextextended(a || ' ' || b, 0) & 2147483647) / 2147483648.0 < 1 / w)
    SELECT array_agg(x.a ORDER BY x.a, x.b), array_agg(x.b ORDER BY x.a, x.b), array_agg(x.w ORDER BY x.a, x.b),
           CASE WHEN labels IS NOT NULL THEN array_agg(x.d ORDER BY x.a, x.b) END, max(x.total)
      INTO pair_a, pair_b, pair_weight, pair_true, near_pairs
      FROM (SELECT COALESCE(kept.a, l.a) AS a, COALESCE(kept.b, l.b) AS b, CASE WHEN l.d THEN 1 ELSE kept.w END AS w,
                   l.d IS NOT NULL AS d, kept.total
            FROM kept FULL JOIN unnest(pair_a, pair_b, pair_true) l(a, b, d) ON l.a = kept.a AND l.b = kept.b) x;
    queries := NULL;
    IF pair_a IS NULL THEN
      RAISE EXCEPTION 'no two documents of the sample are similar' USING ERRCODE = 'no_data_found',
        DETAIL = pg_catalog.format('The sample has %s documents.', pg_catalog.cardinality(docs)),
        HINT = 'Take a sample that has duplicates in it: rows of one source or of one time, or rows together with those that all_pairs finds near them.';
    END IF;
  ELSE
    pair_weight := array_fill(1::float8, ARRAY[pg_catalog.cardinality(pair_a)]);
    near_pairs := pg_catalog.cardinality(pair_a);
  END IF;

  IF labels IS NULL THEN
    WITH d AS MATERIALIZED (SELECT u.n::int, u.doc FROM unnest(docs) WITH ORDINALITY u(doc, n))
    SELECT array_agg(@extschema@.edit_rate(x.doc, y.doc, (1 - edit_similarity) / 2 + 1e-9) IS NOT NULL ORDER BY p.n) INTO pair_true
      FROM unnest(pair_a, pair_b) WITH ORDINALITY p(a, b, n) JOIN d x ON x.n = p.a JOIN d y ON y.n = p.b;
  END IF;
  SELECT count(*), sum(p.w) INTO true_pairs, true_weight FROM unnest(pair_true, pair_weight) p(t, w) WHERE p.t;
  IF true_pairs = 0 THEN
    RAISE EXCEPTION 'no two documents of the sample are near duplicates' USING ERRCODE = 'no_data_found',
      DETAIL = pg_catalog.format('Of %s documents %s pairs are near, and none of these has 1 - 2 * edit_rate >= %s.', pg_catalog.cardinality(docs), near_pairs, edit_similarity),
      HINT = 'Take a sample that has duplicates in it, give labels, or a lower edit_similarity.';
  END IF;

  -- Exact similarity of the pairs, and the time that signing takes
  SELECT array_agg(u.doc) INTO timed
    FROM (SELECT u.doc, u.n, sum(octet_length(u.doc)) OVER (ORDER BY u.n) AS bytes FROM unnest(docs) WITH ORDINALITY u(doc, n)) u
    WHERE u.n <= 500 AND (u.n = 1 OR u.bytes <= 2000000);
  FOR f IN 1 .. pg_catalog.cardinality(units) LOOP
    WITH d AS MATERIALIZED (
      SELECT u.n::int, ARRAY(SELECT DISTINCT h FROM @extschema@.shingle_hashes(u.doc, ks[f], units[f]) h ORDER BY h) AS hashes
      FROM unnest(docs) WITH ORDINALITY u(doc, n)
      WHERE u.n IN (SELECT unnest(pair_a) UNION SELECT unnest(pair_b))),
    s AS (
      SELECT round(200 * @extschema@.jaccard_exact(x.hashes, y.hashes))::int AS step, p.w, p.t
      FROM unnest(pair_a, pair_b, pair_weight, pair_true) p(a, b, w, t) JOIN d x ON x.n = p.a JOIN d y ON y.n = p.b),
    h AS (SELECT s.step, COALESCE(sum(s.w) FILTER (WHERE s.t), 0) AS yes, COALESCE(sum(s.w) FILTER (WHERE NOT s.t), 0) AS no FROM s GROUP BY 1)
    SELECT hist_form || array_agg(f), hist_step || array_agg(h.step), hist_true || array_agg(h.yes), hist_false || array_agg(h.no)
      INTO hist_form, hist_step, hist_true, hist_false FROM h;
    FOREACH n IN ARRAY ARRAY[64, 128, 256] LOOP
      us := NULL;
      FOR i IN 1 .. 2 LOOP
        began := clock_timestamp();
        SELECT count(@extschema@.to_minhash(d, ks[f], units[f], n, 16)) INTO dummy FROM unnest(timed) d;
        us := least(us, 1000000 * extract(epoch FROM clock_timestamp() - began) / pg_catalog.cardinality(timed));
      END LOOP;
      times := times || us;
    END LOOP;
  END LOOP;

  -- For each form and size the threshold of the greatest F1
  FOR best IN
    WITH tail AS MATERIALIZED (
      SELECT l.size, s.step, @extschema@.neardup_match_tail(l.size, s.step / 200.0) AS p
      FROM unnest(ARRAY[64, 128, 256]) l(size), generate_series(0, 200) s(step)),
    asked AS MATERIALIZED (
      SELECT l.size, t.percent, @extschema@.neardup_matches_needed(l.size, t.percent / 100.0) AS need
      FROM unnest(ARRAY[64, 128, 256]) l(size), generate_series(30, 99) t(percent)),
    rated AS (
      SELECT h.form, a.size, a.percent, a.need, sum(h.yes * t.p[a.need + 1]) AS tp, sum(h.no * t.p[a.need + 1]) AS fp
      FROM unnest(hist_form, hist_step, hist_true, hist_false) h(form, step, yes, no)
      JOIN tail t ON t.step = h.step JOIN asked a ON a.size = t.size GROUP BY 1, 2, 3, 4),
    scored AS (
      SELECT rated.*, 2 * tp / (true_weight + tp + fp) AS f1, max(2 * tp / (true_weight + tp + fp)) OVER (PARTITION BY form, size) AS most
      FROM rated),
    -- runs of thresholds that are as good but for 0.005
    good AS (
      SELECT scored.*, percent - row_number() OVER (PARTITION BY form, size ORDER BY percent) AS run FROM scored
      WHERE f1 >= most - 0.005 AND most > 0),
    runs AS (
      SELECT DISTINCT ON (form, size) form, size, (min(percent) + max(percent) + 1) / 2 AS percent
      FROM good GROUP BY form, size, run ORDER BY form, size, max(f1) DESC, run)
    SELECT s.form, s.size, s.percent / 100.0::float8 AS threshold, s.need, s.tp / true_weight AS recall, s.tp / (s.tp + s.fp) AS precision,
           s.f1, 16 + 2 * s.size + round(5.9 * (s.size + 1 - s.need)) AS bytes
    FROM scored s JOIN runs USING (form, size, percent)
    ORDER BY round(s.f1::numeric, 2) DESC, bytes, s.form
  LOOP
    proposals := proposals || to_jsonb(best);
  END LOOP;

  IF labels IS NULL THEN
    remarks := remarks || pg_catalog.format('%s documents, %s near pairs, %s of them duplicates (1 - 2 * edit_rate >= %s)',
                                 pg_catalog.cardinality(docs), near_pairs, true_pairs, edit_similarity);
  ELSIF judged THEN
    remarks := remarks || pg_catalog.format('%s documents, %s labelled pairs, %s of them duplicates', pg_catalog.cardinality(docs), near_pairs, true_pairs);
  ELSE
    remarks := remarks || pg_catalog.format('%s documents, %s pairs labelled as duplicates and none as others: all other near pairs (%s) are taken for others',
                                 pg_catalog.cardinality(docs), true_pairs, near_pairs);
  END IF;
  IF more THEN remarks := remarks || 'the query returns more rows than were read'::text; END IF;
  IF true_pairs < 30 THEN remarks := remarks || 'few duplicates: the figures are rough'::text; END IF;
  IF strange > 0 THEN remarks := remarks || pg_catalog.format('labels of ids that are not in the sample: %s', strange); END IF;
  IF near_pairs > pg_catalog.cardinality(pair_a) THEN remarks := remarks || pg_catalog.format('%s of the near pairs stand for all', pg_catalog.cardinality(pair_a)); END IF;
  IF copies > 0 THEN remarks := remarks || pg_catalog.format('copies of equal documents left out: %s', copies); END IF;
  IF empty_rows > 0 THEN remarks := remarks || pg_catalog.format('NULL or empty documents left out: %s', empty_rows); END IF;
  IF cut > 0 THEN remarks := remarks || pg_catalog.format('long documents of which only %s characters were looked at: %s', most_length, cut); END IF;
  IF unspaced > 0.5 THEN remarks := remarks || pg_catalog.format('%s %% of the letters are of scripts without spaces', round(100 * unspaced)); END IF;

  FOR best IN SELECT p.value, p.ordinality FROM jsonb_array_elements(proposals) WITH ORDINALITY p ORDER BY p.ordinality LOOP
    n := (best.value->>'form')::int;
    unit := units[n];
    k := ks[n];
    num_perm := (best.value->>'size')::int;
    bits := 16;
    threshold := (best.value->>'threshold')::float8;
    index_options := pg_catalog.format('threshold = %s', threshold);
    expected_recall := round((best.value->>'recall')::numeric, 3);
    expected_precision := round((best.value->>'precision')::numeric, 3);
    bytes_per_row := (best.value->>'bytes')::float8;
    signing_us := round(times[3 * (n - 1) + CASE num_perm WHEN 64 THEN 1 WHEN 128 THEN 2 ELSE 3 END]::numeric, 1);
    IF unmeasured IS NULL THEN
      SELECT round(q.us::numeric, 1), q.why INTO query_us, unmeasured
        FROM @extschema@.neardup_suggest_query_us(timed, units[n], ks[n], num_perm, threshold) q;
      IF unmeasured IS NOT NULL THEN remarks := remarks || ('query_us is not measured: ' || unmeasured); END IF;
    END IF;
    pairs := true_pairs;
    note := CASE WHEN best.ordinality = 1 THEN array_to_string(remarks, '; ') ELSE '' END;
    RETURN NEXT;
  END LOOP;
END $$;
COMMENT ON FUNCTION neardup_suggest_of(text[], text[], bigint, int, int, boolean, text, text[], text[], boolean[], float8) IS
  'private: what neardup_suggest says of a sample and labels';
CREATE OR REPLACE FUNCTION neardup_suggest(query text, labels text = NULL, edit_similarity float8 = 0.8)
  RETURNS TABLE (unit text, k int, threshold float8, num_perm int, bits int, index_options text, expected_recall float8,
                 expected_precision float8, bytes_per_row float8, signing_us float8, query_us float8, pairs bigint, note text)
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 18 SET jit = off AS $$
DECLARE
  s record;
  la text[];
  lb text[];
  ld boolean[];
BEGIN
  IF edit_similarity IS NULL THEN
    RAISE EXCEPTION 'edit_similarity must not be NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF NOT (edit_similarity >= 0.5::float8 AND edit_similarity <= 1::float8) THEN
    RAISE EXCEPTION 'edit_similarity must be from 0.5 to 1: %', edit_similarity USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT * INTO s FROM @extschema@.neardup_suggest_sample(query);
  IF labels IS NOT NULL THEN SELECT l.la, l.lb, l.ld INTO la, lb, ld FROM @extschema@.neardup_suggest_labels(labels) l; END IF;
  RETURN QUERY SELECT f.* FROM @extschema@.neardup_suggest_of(s.ids, s.docs, s.total, s.empty_rows, s.cut, s.more, labels, la, lb, ld, edit_similarity) f;
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
