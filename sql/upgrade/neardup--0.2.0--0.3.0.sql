-- From 0.2.0 to 0.3.0: what users name is opened once, by its OID, under a lock; a job owns its tables; functions have pg_catalog as their search_path.
\echo Use "ALTER EXTENSION neardup UPDATE TO '0.3.0'" to load this file. \quit

ALTER TYPE neardup_job ADD ATTRIBUTE result regclass CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE signatures regclass CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE changes regclass CASCADE;
ALTER TYPE neardup_job ADD ATTRIBUTE qualified boolean CASCADE;
ALTER TYPE neardup_profile ADD ATTRIBUTE normalization text CASCADE;
DROP FUNCTION neardup_word_model_names(text);
DROP FUNCTION neardup_make_signatures(regclass, neardup_job);

-- These get one argument more. Who may call them is kept, for the end of this script.
DO $do$
BEGIN
  PERFORM pg_catalog.set_config(pg_catalog.concat('neardup_update.', p.proname), COALESCE(p.proacl::pg_catalog.text, ''), true)
  FROM pg_catalog.pg_proc p WHERE p.pronamespace OPERATOR(pg_catalog.=) '@extschema@'::pg_catalog.regnamespace::pg_catalog.oid
    AND p.prosrc OPERATOR(pg_catalog.<>) '' AND (p.proname OPERATOR(pg_catalog.=) 'create_profile' AND p.pronargs OPERATOR(pg_catalog.=) 12
         OR p.proname OPERATOR(pg_catalog.=) 'alter_profile' AND p.pronargs OPERATOR(pg_catalog.=) 11)
    AND EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid
                AND d.objid OPERATOR(pg_catalog.=) p.oid AND d.deptype OPERATOR(pg_catalog.=) 'e');
END $do$;
DROP FUNCTION create_profile(text, text, text, text, int, int, int, bigint, text, text, text, int);
DROP FUNCTION alter_profile(text, text, text, int, int, int, bigint, text, text, text, int);

-- minhash_union_agg() of one signature of 8 bits

CREATE FUNCTION minhash_union_final(minhash) RETURNS minhash
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_union_final(minhash) IS 'private: refuses a union of one signature of 8 bits, as of several';
CREATE OR REPLACE AGGREGATE minhash_union_agg(signature minhash) (
  SFUNC = minhash_union, STYPE = minhash, FINALFUNC = minhash_union_final, COMBINEFUNC = minhash_union, PARALLEL = SAFE);

-- Functions that raise errors are not leakproof: their errors told of rows that row security hides.
ALTER FUNCTION @extschema@.jaccard(@extschema@.minhash, @extschema@.minhash) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.minhash_jaccard_distance(@extschema@.minhash, @extschema@.minhash) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.minhash_similar(@extschema@.minhash, @extschema@.minhash) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.ctph_score(@extschema@.ctph, @extschema@.ctph) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.ctph_edit_rate(@extschema@.ctph, @extschema@.ctph) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.with_threshold(@extschema@.minhash, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.lsh_hamming_query_strict(@extschema@.simhash, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.lsh_score_query_strict(@extschema@.ctph, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.lsh_rate_query_strict(@extschema@.ctph, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.jaccard_at_least(@extschema@.minhash, @extschema@.minhash, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.hamming_at_most(@extschema@.simhash, @extschema@.simhash, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.ctph_score_at_least(@extschema@.ctph, @extschema@.ctph, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.ctph_edit_rate_at_most(@extschema@.ctph, @extschema@.ctph, pg_catalog.float8) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.minhash_at_least(@extschema@.minhash, @extschema@.lsh_query) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.simhash_within(@extschema@.simhash, @extschema@.lsh_query) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.ctph_within(@extschema@.ctph, @extschema@.lsh_query) NOT LEAKPROOF;
ALTER FUNCTION @extschema@.lsh_query_conflicts(@extschema@.lsh_query, @extschema@.lsh_query) NOT LEAKPROOF;

-- Conditions that never raise an error, for an index under row security.
CREATE FUNCTION @extschema@.lsh_quiet_within(@extschema@.minhash, @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'minhash_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION @extschema@.lsh_quiet_within(@extschema@.minhash, @extschema@.lsh_query) IS 'private: %>, true for signatures made differently';
CREATE OPERATOR @extschema@.%>? (LEFTARG = @extschema@.minhash, RIGHTARG = @extschema@.lsh_query, FUNCTION = @extschema@.lsh_quiet_within,
  RESTRICT = @extschema@.lsh_sel, JOIN = @extschema@.lsh_joinsel);
COMMENT ON OPERATOR @extschema@.%>? (@extschema@.minhash, @extschema@.lsh_query) IS 'private: %> for an index under row security';
CREATE FUNCTION @extschema@.lsh_quiet_similar(@extschema@.minhash, @extschema@.minhash) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'minhash_quiet_similar' LANGUAGE C STABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION @extschema@.lsh_quiet_similar(@extschema@.minhash, @extschema@.minhash) IS 'private: %, true for signatures made differently';
CREATE OPERATOR @extschema@.%? (LEFTARG = @extschema@.minhash, RIGHTARG = @extschema@.minhash, FUNCTION = @extschema@.lsh_quiet_similar, COMMUTATOR = OPERATOR(@extschema@.%?),
  RESTRICT = @extschema@.lsh_sel, JOIN = @extschema@.lsh_joinsel);
COMMENT ON OPERATOR @extschema@.%? (@extschema@.minhash, @extschema@.minhash) IS 'private: % for an index under row security';
CREATE FUNCTION @extschema@.lsh_quiet_distance(@extschema@.minhash, @extschema@.minhash) RETURNS pg_catalog.float8
  AS 'MODULE_PATHNAME', 'minhash_quiet_distance' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION @extschema@.lsh_quiet_distance(@extschema@.minhash, @extschema@.minhash) IS 'private: <%>, 1 for signatures made differently';
CREATE OPERATOR @extschema@.<%>? (LEFTARG = @extschema@.minhash, RIGHTARG = @extschema@.minhash, FUNCTION = @extschema@.lsh_quiet_distance, COMMUTATOR = OPERATOR(@extschema@.<%>?));
COMMENT ON OPERATOR @extschema@.<%>? (@extschema@.minhash, @extschema@.minhash) IS 'private: <%> for an index under row security';
CREATE FUNCTION @extschema@.lsh_quiet_conflicts(@extschema@.lsh_query, @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2;
COMMENT ON FUNCTION @extschema@.lsh_quiet_conflicts(@extschema@.lsh_query, @extschema@.lsh_query) IS 'private: &&, true for signatures made differently';
CREATE OPERATOR @extschema@.&&? (LEFTARG = @extschema@.lsh_query, RIGHTARG = @extschema@.lsh_query, FUNCTION = @extschema@.lsh_quiet_conflicts, COMMUTATOR = OPERATOR(@extschema@.&&?),
  RESTRICT = @extschema@.lsh_sel, JOIN = @extschema@.lsh_joinsel);
COMMENT ON OPERATOR @extschema@.&&? (@extschema@.lsh_query, @extschema@.lsh_query) IS 'private: && for an index under row security';
CREATE FUNCTION @extschema@.lsh_quiet_within(@extschema@.simhash, @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'simhash_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.lsh_quiet_within(@extschema@.simhash, @extschema@.lsh_query) IS 'private: %>, true for a query of another type';
CREATE OPERATOR @extschema@.%>? (LEFTARG = @extschema@.simhash, RIGHTARG = @extschema@.lsh_query, FUNCTION = @extschema@.lsh_quiet_within,
  RESTRICT = @extschema@.lsh_sel, JOIN = @extschema@.lsh_joinsel);
COMMENT ON OPERATOR @extschema@.%>? (@extschema@.simhash, @extschema@.lsh_query) IS 'private: %> for an index under row security';
CREATE FUNCTION @extschema@.lsh_quiet_within(@extschema@.ctph, @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'ctph_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 5;
COMMENT ON FUNCTION @extschema@.lsh_quiet_within(@extschema@.ctph, @extschema@.lsh_query) IS 'private: %>, true for digests of different kinds';
CREATE OPERATOR @extschema@.%>? (LEFTARG = @extschema@.ctph, RIGHTARG = @extschema@.lsh_query, FUNCTION = @extschema@.lsh_quiet_within,
  RESTRICT = @extschema@.lsh_sel, JOIN = @extschema@.lsh_joinsel);
COMMENT ON OPERATOR @extschema@.%>? (@extschema@.ctph, @extschema@.lsh_query) IS 'private: %> for an index under row security';
CREATE FUNCTION @extschema@.lsh_quiet_distance(@extschema@.ctph, @extschema@.ctph) RETURNS pg_catalog.float8
  AS 'MODULE_PATHNAME', 'ctph_quiet_distance' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 5;
COMMENT ON FUNCTION @extschema@.lsh_quiet_distance(@extschema@.ctph, @extschema@.ctph) IS 'private: <->, 1 for digests of different kinds';
CREATE OPERATOR @extschema@.<->? (LEFTARG = @extschema@.ctph, RIGHTARG = @extschema@.ctph, FUNCTION = @extschema@.lsh_quiet_distance, COMMUTATOR = OPERATOR(@extschema@.<->?));
COMMENT ON OPERATOR @extschema@.<->? (@extschema@.ctph, @extschema@.ctph) IS 'private: <-> for an index under row security';
CREATE FUNCTION @extschema@.lsh_quiet_within(pg_catalog.int8[], @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'int_set_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 100;
COMMENT ON FUNCTION @extschema@.lsh_quiet_within(pg_catalog.int8[], @extschema@.lsh_query) IS 'private: %>, true for an array with a NULL';
CREATE OPERATOR @extschema@.%>? (LEFTARG = pg_catalog.int8[], RIGHTARG = @extschema@.lsh_query, FUNCTION = @extschema@.lsh_quiet_within,
  RESTRICT = @extschema@.lsh_sel, JOIN = @extschema@.lsh_joinsel);
COMMENT ON OPERATOR @extschema@.%>? (pg_catalog.int8[], @extschema@.lsh_query) IS 'private: %> for an index under row security';
CREATE FUNCTION @extschema@.lsh_quiet_within(pg_catalog.int4[], @extschema@.lsh_query) RETURNS pg_catalog.bool
  AS 'MODULE_PATHNAME', 'int_set_quiet_within' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 100;
COMMENT ON FUNCTION @extschema@.lsh_quiet_within(pg_catalog.int4[], @extschema@.lsh_query) IS 'private: %>, true for an array with a NULL';
CREATE OPERATOR @extschema@.%>? (LEFTARG = pg_catalog.int4[], RIGHTARG = @extschema@.lsh_query, FUNCTION = @extschema@.lsh_quiet_within,
  RESTRICT = @extschema@.lsh_sel, JOIN = @extschema@.lsh_joinsel);
COMMENT ON OPERATOR @extschema@.%>? (pg_catalog.int4[], @extschema@.lsh_query) IS 'private: %> for an index under row security';
ALTER OPERATOR FAMILY @extschema@.minhash_ops USING lsh ADD
  OPERATOR 101 @extschema@.%>? (@extschema@.minhash, @extschema@.lsh_query),
  OPERATOR 102 @extschema@.%? (@extschema@.minhash, @extschema@.minhash),
  OPERATOR 104 @extschema@.<%>? (@extschema@.minhash, @extschema@.minhash) FOR ORDER BY pg_catalog.float_ops;
ALTER OPERATOR FAMILY @extschema@.lsh_query_ops USING lsh ADD
  OPERATOR 103 @extschema@.&&? (@extschema@.lsh_query, @extschema@.lsh_query);
ALTER OPERATOR FAMILY @extschema@.simhash_ops USING lsh ADD
  OPERATOR 101 @extschema@.%>? (@extschema@.simhash, @extschema@.lsh_query);
ALTER OPERATOR FAMILY @extschema@.ctph_ops USING lsh ADD
  OPERATOR 101 @extschema@.%>? (@extschema@.ctph, @extschema@.lsh_query),
  OPERATOR 104 @extschema@.<->? (@extschema@.ctph, @extschema@.ctph) FOR ORDER BY pg_catalog.float_ops;
ALTER OPERATOR FAMILY @extschema@.int8_set_ops USING lsh ADD
  OPERATOR 101 @extschema@.%>? (pg_catalog.int8[], @extschema@.lsh_query);
ALTER OPERATOR FAMILY @extschema@.int4_set_ops USING lsh ADD
  OPERATOR 101 @extschema@.%>? (pg_catalog.int4[], @extschema@.lsh_query);
ALTER OPERATOR FAMILY @extschema@.minutiae_ops USING lsh ADD
  OPERATOR 101 @extschema@.%>? (pg_catalog.int4[], @extschema@.lsh_query);

-- Functions that changed, as they are in sql/install.

COMMENT ON FUNCTION neardup_detect_encoding(bytea) IS
  'encoding of a document, by PostgreSQL''s name, and how likely that is the right one, 0 to 1';
CREATE FUNCTION neardup_signed_text(document bytea, encoding text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_signed_text(bytea, text) IS
  'private: neardup_decode() for signing: a character that the database''s encoding lacks is spelled, such as u4e2d, as a word of its own';
CREATE FUNCTION neardup_characters(body text) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_characters(text) IS 'private: characters of a text; in a SQL_ASCII database those of its UTF-8';
CREATE FUNCTION neardup_first_characters(body text, most int) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_first_characters(text, int) IS 'private: the first characters of a text; in a SQL_ASCII database those of its UTF-8';
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
CREATE OR REPLACE FUNCTION create_lexicon(name text, query text) RETURNS bigint LANGUAGE plpgsql AS $$
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
CREATE FUNCTION neardup_word_tables(named text[], OUT words text, OUT settings text) LANGUAGE sql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT format('%I.%I', named[1], named[2]), format('%I.%I', named[1], named[2] || '_model')
  $$;
COMMENT ON FUNCTION neardup_word_tables(text[]) IS 'private: names of a word model''s tables';
CREATE OR REPLACE FUNCTION neardup_lock_word_model(words text, settings text) RETURNS neardup_word_model LANGUAGE plpgsql
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
CREATE OR REPLACE PROCEDURE neardup_make_word_model(name text, query text, vocabulary int, k int, "window" int, by_position boolean, features int,
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
CREATE OR REPLACE FUNCTION drop_word_model(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM @extschema@.neardup_drop_word_model(@extschema@.neardup_new_name(name, 'a word model'::pg_catalog.text, 57));
END $$;
CREATE OR REPLACE FUNCTION neardup_word_model_of(model regclass) RETURNS neardup_word_model
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_word_model_of(regclass) IS 'private: settings of a word model that is finished';
CREATE FUNCTION neardup_word_of(model regclass, word text, OUT features bytea, OUT similar_ids int[], OUT similarities float8[])
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_word_of(regclass, text) IS 'private: what a word model holds of a word';
CREATE FUNCTION neardup_words_at(model regclass, ids int[]) RETURNS text[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_words_at(regclass, int[]) IS 'private: words of a word model by their ids';
CREATE OR REPLACE FUNCTION word_similarity(model regclass, w1 text, w2 text) RETURNS float8 LANGUAGE plpgsql STABLE STRICT
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  given boolean := (@extschema@.neardup_word_model_of(model)).given;
BEGIN
  RETURN @extschema@.neardup_row_similarity(
    (@extschema@.neardup_word_of(model, CASE WHEN given THEN w1 ELSE @extschema@.neardup_folded_word(w1) END)).features,
    (@extschema@.neardup_word_of(model, CASE WHEN given THEN w2 ELSE @extschema@.neardup_folded_word(w2) END)).features);
END $$;
CREATE FUNCTION neardup_similar_to(model regclass, word text, k int, OUT similar_word text, OUT similarity float8, OUT rank int) RETURNS SETOF record
  LANGUAGE sql STABLE ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
  SELECT s.word, s.similarity, s.rank::int FROM @extschema@.neardup_word_of(model, word) w,
    unnest(@extschema@.neardup_words_at(model, w.similar_ids[1:k]), w.similarities[1:k]) WITH ORDINALITY s(word, similarity, rank) ORDER BY s.rank
  $$;
COMMENT ON FUNCTION neardup_similar_to(regclass, text, int) IS 'private: the k most similar words of a word as it is stored';
CREATE OR REPLACE FUNCTION similar_words(model regclass, word text, k int = 10) RETURNS TABLE (similar_word text, similarity float8, rank int)
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
CREATE OR REPLACE FUNCTION expand_query(model regclass, query text, k int = 3)
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
CREATE OR REPLACE FUNCTION neardup_default_profiles(OUT name text, OUT profile neardup_profile) RETURNS SETOF record
  LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 6 AS $$
  SELECT name, ROW(version, signature, unit, k, num_perm, bits, seed, encoding, script, rules, min_length, NULL, 'none')::@extschema@.neardup_profile
  FROM (VALUES
    ('default', 1, 'minhash', 'word', 3, 128, 32, 0::bigint, 'detect', 'keep', 'none', 0),
    ('web', 2, 'minhash', 'word', 3, 128, 32, 0, 'detect', 'keep', 'default', 50),
    ('code', 2, 'minhash', 'char', 8, 128, 32, 0, 'detect', 'keep', 'none', 0),
    ('chinese', 2, 'minhash', 'char', 3, 128, 32, 0, 'detect', 'simplified', 'none', 0),
    ('simhash', 1, 'simhash', 'word', 3, NULL, NULL, NULL, 'detect', 'keep', 'none', 0),
    ('ctph', 1, 'ctph', NULL, NULL, NULL, NULL, NULL, 'bytes', 'keep', 'none', 0))
    v(name, version, signature, unit, k, num_perm, bits, seed, encoding, script, rules, min_length)
  $$;
CREATE FUNCTION neardup_table_path(name text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_table_path(text) IS
  'private: the name of a relation with its schema, whatever the search_path; NULL where there is none';
CREATE FUNCTION neardup_rules_path(rules text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_rules_path(text) IS 'private: the same for the rules of a profile; none and default are no tables';
CREATE FUNCTION neardup_new_name(name text, what text, most_bytes int) RETURNS text[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
COMMENT ON FUNCTION neardup_new_name(text, text, int) IS 'private: schema and name of a table that is to be made';
CREATE FUNCTION neardup_profile_row(name text) RETURNS neardup_profile
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_profile_row(text) IS
  'private: the newest version of a profile that is a table; NULL where the name stands for none';
CREATE FUNCTION neardup_rules_named(name text) RETURNS neardup_rule[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_rules_named(text) IS 'the rows of a table of type neardup_rule, by position, as neardup_clean takes them';
CREATE FUNCTION neardup_default_profile(name text) RETURNS neardup_profile LANGUAGE sql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT d.profile FROM @extschema@.neardup_default_profiles() d WHERE d.name = $1
  $$;
COMMENT ON FUNCTION neardup_default_profile(text) IS 'private: the built-in profile of this name, or NULL';
CREATE OR REPLACE FUNCTION neardup_profile_named(name text) RETURNS neardup_profile LANGUAGE plpgsql STABLE AS $$
DECLARE
  p @extschema@.neardup_profile := @extschema@.neardup_default_profile(name);
BEGIN
  IF p IS NULL THEN p := @extschema@.neardup_profile_row(name); END IF;
  IF p IS NULL THEN PERFORM @extschema@.neardup_no_profile(name); END IF;
  RETURN p;
END $$;
CREATE FUNCTION neardup_no_profile(name text) RETURNS void LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'there is no profile "%"', name USING ERRCODE = 'undefined_object',
    HINT = 'Built in are ' || (SELECT string_agg(d.name, ', ') FROM @extschema@.neardup_default_profiles() d)
           || '; make your own with create_profile().';
END $$;
COMMENT ON FUNCTION neardup_no_profile(text) IS 'private: the error for a name that stands for no profile';
CREATE OR REPLACE FUNCTION neardup_profile_path(name text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF NOT (@extschema@.neardup_default_profile(name) IS NULL) THEN RETURN name; END IF;
  RETURN COALESCE(@extschema@.neardup_table_path(name), name);
END $$;
CREATE OR REPLACE FUNCTION neardup_check_profile(p neardup_profile) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
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
  IF COALESCE(p.normalization, 'none') NOT IN ('none', 'NFC', 'NFKC') THEN
    RAISE EXCEPTION 'normalization must be ''none'', ''NFC'' or ''NFKC'': %', quote_literal(p.normalization) USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF p.normalization <> 'none' AND getdatabaseencoding() <> 'UTF8' THEN
    RAISE EXCEPTION 'normalization => % needs a database in UTF8: this one is in %', quote_literal(p.normalization), getdatabaseencoding()
      USING ERRCODE = 'feature_not_supported';
  END IF;
  IF p.encoding = 'bytes' AND (p.script <> 'keep' OR p.rules <> 'none' OR p.normalization <> 'none') THEN
    RAISE EXCEPTION 'documents of encoding ''bytes'' have no script, no rules and no normal form' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF p.signature <> 'ctph' AND (p.unit IS NULL OR p.k IS NULL) THEN
    RAISE EXCEPTION 'unit and k of a profile of % signatures must not be NULL', p.signature USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF p.signature = 'minhash' AND (p.num_perm IS NULL OR p.bits IS NULL OR p.seed IS NULL) THEN
    RAISE EXCEPTION 'num_perm, bits and seed of a profile of minhash signatures must not be NULL' USING ERRCODE = 'null_value_not_allowed',
      HINT = 'Give them, or another base.';
  END IF;
  IF p.encoding NOT IN ('detect', 'bytes') THEN PERFORM @extschema@.neardup_decode(''::bytea, p.encoding); END IF;
  -- the functions check unit, k and the rest; the rules are compiled
  EXECUTE 'SELECT ' || @extschema@.neardup_sign_sql(p, 'text'::regtype, '''one two three four''::pg_catalog.text');
END $$;
CREATE OR REPLACE FUNCTION neardup_document_sql(p neardup_profile, body_type regtype, body text) RETURNS text LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  e text := body;
BEGIN
  IF body_type::oid <> 'bytea'::regtype::oid THEN
    e := format('(%s)::pg_catalog.text', e);
  ELSIF p.encoding <> 'bytes' THEN
    e := format('@extschema@.neardup_signed_text(%s, %s)', e, CASE WHEN p.encoding = 'detect' THEN 'NULL::pg_catalog.text' ELSE quote_literal(p.encoding) || '::pg_catalog.text' END);
  END IF;
  -- a file that came by way of another system has other line ends; words do not see them
  IF p.unit = 'char' AND p.encoding <> 'bytes' THEN
    e := format(E'pg_catalog.replace(pg_catalog.replace(%s, E''\\r\\n'', E''\\n''), E''\\r'', E''\\n'')', e);
  END IF;
  IF p.normalization IN ('NFC', 'NFKC') AND p.encoding <> 'bytes' THEN e := format('pg_catalog.normalize(%s, %L)', e, p.normalization); END IF;
  IF p.script <> 'keep' THEN
    IF p.script NOT IN ('simplified', 'traditional') THEN
      RAISE EXCEPTION 'script must be ''keep'', ''simplified'' or ''traditional'': %', quote_literal(p.script) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    e := pg_catalog.format('@extschema@.%I(%s)', 'neardup_to_' || p.script, e);
  END IF;
  IF p.rules = 'default' THEN
    e := pg_catalog.format('(@extschema@.neardup_clean(%s)).body', e);
  ELSIF p.rules <> 'none' THEN
    e := pg_catalog.format('(@extschema@.neardup_clean(%s, (SELECT @extschema@.neardup_rules_named(%L::pg_catalog.text)))).body', e, p.rules);
  END IF;
  RETURN e;
END $$;
CREATE OR REPLACE FUNCTION neardup_sign_sql(p neardup_profile, body_type regtype, body text) RETURNS text LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  bytes boolean := body_type::oid = 'bytea'::regtype::oid AND p.encoding = 'bytes';
  document text := @extschema@.neardup_document_sql(p, body_type, body);
  d text := CASE WHEN p.min_length > 0 THEN 'd.body' ELSE document END;
  e text;
BEGIN
  e := CASE
    WHEN p.signature = 'ctph' THEN pg_catalog.format('@extschema@.to_ctph(%s)', d)
    WHEN p.signature = 'simhash' AND bytes THEN pg_catalog.format('@extschema@.to_simhash(%s, %s)', d, p.k)
    WHEN p.signature = 'simhash' THEN pg_catalog.format('@extschema@.to_simhash(%s, %s, %L::pg_catalog.text)', d, p.k, p.unit)
    WHEN bytes THEN pg_catalog.format('@extschema@.to_minhash(%s, %s, num_perm => %s, bits => %s, seed => ''%s''::pg_catalog.int8)', d, p.k, p.num_perm, p.bits, p.seed)
    ELSE pg_catalog.format('@extschema@.to_minhash(%s, %s, %L::pg_catalog.text, %s, %s, ''%s''::pg_catalog.int8)', d, p.k, p.unit, p.num_perm, p.bits, p.seed)
    END;
  IF p.min_length > 0 THEN
    e := pg_catalog.format('(SELECT CASE WHEN @extschema@.neardup_characters(d.body) OPERATOR(pg_catalog.>=) %s THEN %s END FROM (SELECT %s OFFSET 0) d(body))', p.min_length, e, document);
  END IF;
  RETURN e;
END $$;
CREATE FUNCTION neardup_make_profile(named text[], p neardup_profile) RETURNS regclass LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  path text := format('%I.%I', named[1], named[2]);
  profile regclass;
BEGIN
  PERFORM @extschema@.neardup_check_profile(p);
  EXECUTE format('CREATE TABLE %s OF @extschema@.neardup_profile (PRIMARY KEY (version))', path);
  profile := @extschema@.neardup_made_here(path);
  EXECUTE format('INSERT INTO %s SELECT ($1).*', path) USING p;
  RETURN profile;
END $$;
COMMENT ON FUNCTION neardup_make_profile(text[], neardup_profile) IS 'private: the table of a profile, with its first version';
CREATE FUNCTION neardup_add_version(path text, p neardup_profile) RETURNS int LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  relation regclass := path::regclass;
  profile text := @extschema@.neardup_held_name(relation);
BEGIN
  -- triggers of another role would run with the rights of who calls
  IF NOT EXISTS (SELECT FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE c.oid = relation AND r.rolname = current_user) THEN
    RAISE EXCEPTION 'profile % belongs to another role', path USING ERRCODE = 'insufficient_privilege', HINT = 'Only its owner alters it.';
  END IF;
  PERFORM @extschema@.neardup_check_profile(p);
  EXECUTE format('INSERT INTO %s SELECT ($1).*', profile) USING p;
  RETURN p.version;
END $$;
COMMENT ON FUNCTION neardup_add_version(text, neardup_profile) IS 'private: adds a version to a profile';
CREATE FUNCTION neardup_changed_profile(p neardup_profile, version int, signature text, unit text, k int, num_perm int, bits int, seed bigint, encoding text,
    script text, rules text, min_length int, normalization text) RETURNS neardup_profile LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT ROW(version, COALESCE(signature, p.signature), COALESCE(unit, p.unit), COALESCE(k, p.k), COALESCE(num_perm, p.num_perm),
             COALESCE(bits, p.bits), COALESCE(seed, p.seed), COALESCE(encoding, p.encoding), COALESCE(script, p.script),
             COALESCE(rules, p.rules), COALESCE(min_length, p.min_length), now(), COALESCE(normalization, p.normalization, 'none'))::@extschema@.neardup_profile
  $$;
COMMENT ON FUNCTION neardup_changed_profile(neardup_profile, int, text, text, int, int, int, bigint, text, text, text, int, text) IS
  'private: a version of a profile that differs in what is given';
CREATE FUNCTION create_profile(name text, base text = 'default', signature text = NULL, unit text = NULL, k int = NULL,
    num_perm int = NULL, bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL,
    min_length int = NULL, normalization text = NULL) RETURNS regclass LANGUAGE plpgsql AS $$
BEGIN
  IF NOT (@extschema@.neardup_default_profile(name) IS NULL) THEN
    RAISE EXCEPTION 'profile "%" is built in', name USING ERRCODE = 'duplicate_object';
  END IF;
  RETURN @extschema@.neardup_make_profile(@extschema@.neardup_new_name(name, 'a profile'::pg_catalog.text, 63),
    @extschema@.neardup_changed_profile(@extschema@.neardup_profile_named(base), 1, signature, unit, k, num_perm, bits, seed, encoding, script,
                                        @extschema@.neardup_rules_path(rules), min_length, normalization));
END $$;
COMMENT ON FUNCTION create_profile(text, text, text, text, int, int, int, bigint, text, text, text, int, text) IS
  'makes a profile, a table of that name, version 1; what is not given is as in the profile base';
CREATE FUNCTION neardup_own_profile(name text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF NOT (@extschema@.neardup_default_profile(name) IS NULL) THEN
    RAISE EXCEPTION 'profile "%" is built in', name USING ERRCODE = 'wrong_object_type',
      HINT = pg_catalog.format('Make your own: create_profile(''my_%s'', base => %L, ..).'::pg_catalog.text, name, name);
  END IF;
  RETURN @extschema@.neardup_profile_path(name);
END $$;
COMMENT ON FUNCTION neardup_own_profile(text) IS 'private: the path of a profile that is a table';
CREATE FUNCTION alter_profile(name text, signature text = NULL, unit text = NULL, k int = NULL, num_perm int = NULL,
    bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL, min_length int = NULL,
    normalization text = NULL) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  path pg_catalog.text := @extschema@.neardup_own_profile(name);
  p @extschema@.neardup_profile := @extschema@.neardup_profile_named(path);
BEGIN
  RETURN @extschema@.neardup_add_version(path,
    @extschema@.neardup_changed_profile(p, p.version OPERATOR(pg_catalog.+) 1, signature, unit, k, num_perm, bits, seed, encoding, script,
                                        @extschema@.neardup_rules_path(rules), min_length, normalization));
END $$;
COMMENT ON FUNCTION alter_profile(text, text, text, int, int, int, bigint, text, text, text, int, text) IS
  'adds a version to a profile and gives its number; jobs sign all rows anew at their next refresh';
CREATE FUNCTION neardup_expression(source regclass, expression text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_expression(regclass, text) IS 'private: an expression over one table, all names in it qualified';
CREATE FUNCTION neardup_base_type(type oid) RETURNS oid
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_base_type(oid) IS 'private: of a domain the type below it, else the type itself';
CREATE FUNCTION neardup_equality(type regtype) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_equality(regtype) IS 'private: the operator by which values of a type are equal, qualified';
CREATE OR REPLACE FUNCTION neardup_raise(state text, message text, detail text, hint text) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF detail <> '' AND hint <> '' THEN
    RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message, DETAIL = detail, HINT = hint;
  ELSIF detail <> '' THEN
    RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message, DETAIL = detail;
  ELSIF hint <> '' THEN
    RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message, HINT = hint;
  END IF;
  RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message;
END $$;
CREATE OR REPLACE FUNCTION neardup_job_table(name text) RETURNS regclass
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
CREATE OR REPLACE FUNCTION neardup_locked_job(name text) RETURNS regclass
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
CREATE OR REPLACE FUNCTION neardup_job_row(job regclass) RETURNS neardup_job
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
CREATE FUNCTION neardup_job_name(job regclass) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_job_name(regclass) IS 'private: the name of a job, with its schema';
CREATE OR REPLACE FUNCTION neardup_job_part(job regclass, suffix text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
CREATE FUNCTION neardup_held_name(relation regclass) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_held_name(regclass) IS
  'private: qualified name of a relation; a statement of this transaction that finds another one by it ends in an error';
CREATE FUNCTION neardup_made_here(name text) RETURNS regclass
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_made_here(text) IS 'private: the relation of this name, which this transaction has made; held as by neardup_held_name()';
CREATE FUNCTION neardup_demand_owner(job regclass) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_demand_owner(regclass) IS 'private: an error for the job of another role';
CREATE FUNCTION neardup_job_tables(job regclass, OUT result regclass, OUT signatures regclass, OUT changes regclass)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_job_tables(regclass) IS 'private: the tables that belong to a job; recorded, of a job of the caller''s, where they were not';
CREATE OR REPLACE FUNCTION neardup_job_indexes(job regclass) RETURNS text[] LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
  SELECT COALESCE(array_agg(quote_ident(n.nspname) || '.' || quote_ident(c.relname)), '{}')
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE i.indrelid = to_regclass(@extschema@.neardup_job_part(job, '_signatures'::text))
    AND c.relam = (SELECT m.oid FROM pg_am m WHERE m.amname = 'lsh')
  $$;
CREATE OR REPLACE FUNCTION neardup_drop(kind text, VARIADIC names text[]) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t text;
BEGIN
  IF kind IS NULL OR kind NOT IN ('TABLE', 'INDEX') THEN
    RAISE EXCEPTION 'kind must be ''TABLE'' or ''INDEX'': %', quote_nullable(kind) USING ERRCODE = 'invalid_parameter_value';
  END IF;
  FOREACH t IN ARRAY names LOOP
    IF to_regclass(t) IS NOT NULL THEN EXECUTE format('DROP %s %s', kind, to_regclass(t)); END IF;
  END LOOP;
END $$;
CREATE FUNCTION neardup_drop_tables(tables oid[]) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('DROP TABLE %s', (SELECT string_agg(c.oid::regclass::text, ', ') FROM pg_class c WHERE c.oid = ANY (tables)));
  IF EXISTS (SELECT FROM pg_class c WHERE c.oid = ANY (tables)) THEN
    RAISE EXCEPTION 'the schema of the tables was renamed concurrently' USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
END $$;
COMMENT ON FUNCTION neardup_drop_tables(oid[]) IS 'private: drops these tables, whatever their names';
CREATE OR REPLACE FUNCTION neardup_job_column(source regclass, col name, what text) RETURNS regtype LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
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
  RETURN @extschema@.neardup_base_type(t::oid);
END $$;
CREATE FUNCTION neardup_job_value(source regclass, col name, what text) RETURNS text LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t oid := @extschema@.neardup_job_column(source, col, what)::oid;
BEGIN
  IF EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = source::oid AND a.attname = col AND a.atttypid = t) THEN RETURN quote_ident(col); END IF;
  RETURN format('%I::%s', col, format_type(t, -1));  -- -1: of any length
END $$;
COMMENT ON FUNCTION neardup_job_value(regclass, name, text) IS 'private: the SQL of a column that a job names';
CREATE FUNCTION neardup_trusted_type(type oid) RETURNS boolean LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
  WITH RECURSIVE parts AS (
    SELECT type AS oid
    UNION
    SELECT x.oid FROM parts p JOIN pg_type y ON y.oid = p.oid,
      LATERAL (SELECT y.typbasetype WHERE y.typtype = 'd' UNION ALL SELECT y.typelem WHERE y.typelem <> 0::oid
               UNION ALL SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = y.typrelid AND a.attnum > 0 AND NOT a.attisdropped
               UNION ALL SELECT g.rngsubtype FROM pg_range g WHERE y.oid IN (g.rngtypid, g.rngmultitypid)) x(oid))
  SELECT bool_and(r.rolsuper OR r.rolname = current_user) FROM parts p JOIN pg_type y ON y.oid = p.oid JOIN pg_roles r ON r.oid = y.typowner
  $$;
COMMENT ON FUNCTION neardup_trusted_type(oid) IS 'private: whether a type and its parts belong to the caller or a superuser';
CREATE FUNCTION neardup_check_range(type oid, what text) RETURNS void LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t oid := @extschema@.neardup_base_type(type);
BEGIN
  IF EXISTS (SELECT FROM pg_type y WHERE y.oid = t AND y.typtype IN ('r', 'm')) AND NOT @extschema@.neardup_trusted_type(type) THEN
    RAISE EXCEPTION '% is a range of another role''s type %', what, format_type(type, NULL) USING ERRCODE = 'insufficient_privilege',
      DETAIL = 'What its owner has put into the type would run with your rights.';
  END IF;
END $$;
COMMENT ON FUNCTION neardup_check_range(oid, text) IS 'private: raises an error for a range type of another role';
CREATE OR REPLACE FUNCTION neardup_job_kind(j neardup_job) RETURNS text LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
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
CREATE OR REPLACE FUNCTION neardup_job_key(j neardup_job) RETURNS text LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE j.keep
    WHEN 'longest' THEN pg_catalog.format('pg_catalog.octet_length(%I)', j.body)
    WHEN 'best' THEN pg_catalog.format('@extschema@.neardup_text_score(%s)',
                            @extschema@.neardup_document_sql(@extschema@.neardup_profile_named(j.profile), j.body_type, pg_catalog.quote_ident(j.body)))
    ELSE COALESCE('(' || j.order_by || E'\n)', CASE WHEN j.at IS NOT NULL THEN @extschema@.neardup_job_value(j.source, j.at, 'at') END, @extschema@.neardup_job_value(j.source, j.id, 'id')) END
  $$;
CREATE OR REPLACE FUNCTION neardup_job_stored(source regclass) RETURNS boolean LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
  WITH RECURSIVE part AS (SELECT source::oid AS oid UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN part ON i.inhparent = part.oid)
  SELECT bool_and(c.relkind IN ('r', 'p', 'm')) FROM part JOIN pg_catalog.pg_class c ON c.oid = part.oid
  $$;
CREATE OR REPLACE FUNCTION neardup_job_rows(j neardup_job) RETURNS text LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  stored boolean := @extschema@.neardup_job_stored(j.source);
  within text := '';
  document text;
  body_type regtype;
BEGIN
  IF stored IS NULL THEN
    RAISE EXCEPTION 'the source of the job has been dropped' USING ERRCODE = 'undefined_table',
      HINT = 'drop_duplicates() drops the job.';
  END IF;
  IF j.body IS NOT NULL THEN
    body_type := @extschema@.neardup_job_column(j.source, j.body, 'body');
    IF body_type::oid NOT IN ('text'::regtype::oid, 'varchar'::regtype::oid, 'bytea'::regtype::oid) THEN
      RAISE EXCEPTION 'body column "%" is %, not text or bytea', j.body, body_type USING ERRCODE = 'datatype_mismatch';
    END IF;
  END IF;
  FOR i IN 1 .. COALESCE(pg_catalog.array_length(j.within, 1), 0) LOOP
    within := within || pg_catalog.format(', %s AS within_%s', @extschema@.neardup_job_value(j.source, j.within[i], 'within'), i);
  END LOOP;
  -- of the very type that our functions take: no other function fits better
  document := format('%I::%s', COALESCE(j.body, j.signature), CASE WHEN j.body IS NULL THEN format('@extschema@.%I', @extschema@.neardup_job_kind(j))
                     WHEN body_type::oid = 'bytea'::regtype::oid THEN 'pg_catalog.bytea' ELSE 'pg_catalog.text' END);
  RETURN pg_catalog.format('SELECT %s AS id, %s, %s AS key%s%s, %s AS body FROM %s WHERE true%s%s',
    @extschema@.neardup_job_value(j.source, j.id, 'id'), CASE WHEN stored THEN 'tableoid AS origin, ctid AS place, CASE WHEN pg_catalog.age(xmin) NOT BETWEEN -1000000000 AND 0 THEN xmin END AS version'
               ELSE 'NULL::oid AS origin, NULL::tid AS place, NULL::xid AS version' END,
    @extschema@.neardup_job_key(j), within, CASE WHEN j.at IS NOT NULL THEN pg_catalog.format(', %s AS at', @extschema@.neardup_job_value(j.source, j.at, 'at')) END, document, @extschema@.neardup_held_name(j.source),
    COALESCE(' AND (' || j.filter || E'\n)', ''), COALESCE(' AND (' || j.deleted || E'\n) IS NOT TRUE', ''));
END $$;
CREATE OR REPLACE FUNCTION neardup_job_hash(j neardup_job, kind text, value text) RETURNS text LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN j.body IS NOT NULL THEN pg_catalog.format('@extschema@.neardup_content_hash(%s)', value)
         ELSE pg_catalog.format('@extschema@.neardup_content_hash(@extschema@.%s_send(%s))', kind, value) END
  $$;
CREATE OR REPLACE FUNCTION neardup_job_differs(j neardup_job, a text, b text) RETURNS text LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT format('ROW(%s)::record OPERATOR(pg_catalog.*<>) ROW(%s)::record', string_agg(format('%s.%s', a, c), ', '), string_agg(format('%s.%s', b, c), ', '))
  FROM (SELECT 'key' AS c UNION ALL SELECT 'within_' || i::text FROM generate_series(1, array_length(j.within, 1)) i
        UNION ALL SELECT 'at' WHERE j.at IS NOT NULL) x
  $$;
CREATE OR REPLACE FUNCTION neardup_check_order(t regtype, what text) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_opclass o JOIN pg_am m ON m.oid = o.opcmethod AND m.amname = 'btree'
                 WHERE o.opcdefault AND (o.opcintype = t::oid OR t::oid IN (SELECT c.castsource FROM pg_cast c
                       WHERE c.casttarget = o.opcintype AND c.castmethod = 'b' AND c.castcontext = 'i')
                   OR (o.opcintype, (SELECT typtype FROM pg_type WHERE oid = t::oid)) IN
                      (('anyenum'::regtype::oid, 'e'), ('anyrange'::regtype::oid, 'r'), ('anymultirange'::regtype::oid, 'm'), ('record'::regtype::oid, 'c'))
                   OR (o.opcintype = 'anyarray'::regtype::oid AND (SELECT typcategory FROM pg_type WHERE oid = t::oid) = 'A'))) THEN
    RAISE EXCEPTION '% is %, which has no order', what, t USING ERRCODE = 'datatype_mismatch';
  END IF;
  PERFORM @extschema@.neardup_check_range(t::oid, what);
END $$;
CREATE OR REPLACE FUNCTION neardup_check_job(j neardup_job) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
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
CREATE OR REPLACE FUNCTION neardup_check_condition(source regclass, condition text, what text) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t regtype := @extschema@.neardup_expression_type(source, condition);
BEGIN
  IF t::oid <> 'boolean'::regtype::oid THEN
    RAISE EXCEPTION '% must be a condition: "%" is %', what, condition, t USING ERRCODE = 'datatype_mismatch';
  END IF;
END $$;
CREATE FUNCTION neardup_new_job(j neardup_job) RETURNS neardup_job LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF j.source IS NULL OR j.id IS NULL THEN
    RAISE EXCEPTION 'source and id must not be NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  j.within := COALESCE(j.within, '{}');
  j.resync := false; j.recluster := true; j.refresh := 0; j.clustered := 0; j.next_cluster := 1;
  j.paused := false; j.phase := 'new';
  IF j.body IS NOT NULL THEN
    j.profile_version := (@extschema@.neardup_profile_named(j.profile)).version;
    j.body_type := @extschema@.neardup_job_column(j.source, j.body, 'body'::text);
  ELSE
    j.profile := NULL;
  END IF;
  PERFORM @extschema@.neardup_check_job(j);
  IF j.within && ARRAY['id', 'cluster', 'representative', 'similarity', 'survivor', 'found_at']::name[] THEN
    RAISE EXCEPTION 'within columns are columns of the result: none can be called id, cluster, representative, similarity, survivor or found_at'
      USING ERRCODE = 'duplicate_column';
  END IF;
  RETURN j;
END $$;
COMMENT ON FUNCTION neardup_new_job(neardup_job) IS 'private: a job that can be made; an error for what cannot';
CREATE FUNCTION neardup_make_job(named text[], given_name text, j neardup_job) RETURNS regclass LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  path text := format('%I.%I', named[1], named[2] || '_job');
  result text := format('%I.%I', named[1], named[2]);
  changes text := format('%I.%I', named[1], named[2] || '_changes');
  job regclass;
BEGIN
  BEGIN
    EXECUTE format('CREATE TABLE %s OF @extschema@.neardup_job', path);
  EXCEPTION WHEN duplicate_table OR duplicate_object OR unique_violation THEN
    IF NOT @extschema@.neardup_made_meanwhile(path) THEN RAISE; END IF;
    RAISE EXCEPTION 'relation % exists already', path USING ERRCODE = 'duplicate_table',
      HINT = 'drop_duplicates() drops a table of duplicates with its job; or choose another name.';
  END;
  job := @extschema@.neardup_made_here(path);
  -- a publication of all tables lets none be updated that has no key
  EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', path);
  EXECUTE format('CREATE TABLE %s AS SELECT id, NULL::bigint AS cluster, id AS representative, NULL::float8 AS similarity,
                  NULL::boolean AS survivor, NULL::timestamptz AS found_at%s FROM (%s) l WITH NO DATA', result,
                 (SELECT string_agg(format(', within_%s AS %I', i, j.within[i]), '' ORDER BY i) FROM generate_series(1, array_length(j.within, 1)) i),
                 @extschema@.neardup_job_rows(j));
  j.result := @extschema@.neardup_made_here(result);
  EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (id), ALTER cluster SET NOT NULL, ALTER representative SET NOT NULL,
                  ALTER survivor SET NOT NULL, ALTER found_at SET NOT NULL', result);
  EXECUTE format('CREATE INDEX ON %s (cluster)', result);
  EXECUTE format('COMMENT ON TABLE %s IS %L', result,
                 format('near duplicates among the rows of %s, kept by refresh_duplicates(%L)', j.source, given_name));
  EXECUTE format('CREATE TABLE %s (refresh bigint NOT NULL, at timestamptz NOT NULL DEFAULT now(), change text NOT NULL,
                  cluster bigint NOT NULL, other bigint)', changes);
  j.changes := @extschema@.neardup_made_here(changes);
  j.signatures := @extschema@.neardup_create_signatures(format('%I.%I', named[1], named[2] || '_signatures'), j);
  EXECUTE format('INSERT INTO %s SELECT ($1).*', path) USING j;
  PERFORM @extschema@.neardup_job_tables(job);
  RETURN j.result;
END $$;
COMMENT ON FUNCTION neardup_make_job(text[], text, neardup_job) IS 'private: makes the tables of a job';
CREATE OR REPLACE FUNCTION create_duplicates(name text, source regclass, id name, body name = NULL, signature name = NULL,
    threshold float8 = 0.8, profile text = 'default', linkage text = 'anchor', verify text = NULL,
    verify_threshold float8 = NULL, keep text = 'oldest', order_by text = NULL, within name[] = '{}', at name = NULL,
    at_most_apart interval = NULL, filter text = NULL, deleted text = NULL) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
  j @extschema@.neardup_job;
  named pg_catalog.text[] := @extschema@.neardup_new_name(name, 'a table of duplicates'::pg_catalog.text, 52);
BEGIN
  j.source := source; j.id := id; j.body := body; j.signature := signature; j.threshold := threshold;
  j.profile := @extschema@.neardup_profile_path(profile); j.linkage := linkage;
  j.verify := verify; j.verify_threshold := verify_threshold; j.keep := keep;
  j.within := within; j.at := at; j.at_most_apart := at_most_apart;
  j.order_by := @extschema@.neardup_expression(source, order_by);
  j.filter := @extschema@.neardup_expression(source, filter);
  j.deleted := @extschema@.neardup_expression(source, deleted);
  j.qualified := true;
  RETURN @extschema@.neardup_make_job(named, name, @extschema@.neardup_new_job(j));
END $$;
CREATE FUNCTION neardup_create_signatures(path text, j neardup_job) RETURNS regclass LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  signatures regclass;
BEGIN
  EXECUTE format('CREATE TABLE %s AS SELECT id, NULL::@extschema@.%I AS signature, NULL::uuid AS content, origin, place, version, key%s%s, 0::bigint AS generation, false AS gone
                  FROM (%s) l WITH NO DATA',
    path, @extschema@.neardup_job_kind(j),
    (SELECT string_agg(format(', within_%s', i), '' ORDER BY i) FROM generate_series(1, array_length(j.within, 1)) i),
    CASE WHEN j.at IS NOT NULL THEN ', at' END, @extschema@.neardup_job_rows(j));
  signatures := @extschema@.neardup_made_here(path);
  EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (id)', path);
  EXECUTE format('CREATE INDEX ON %s (generation)', path);
  RETURN signatures;
END $$;
COMMENT ON FUNCTION neardup_create_signatures(text, neardup_job) IS 'private: the table of what a job knows of each row';
CREATE OR REPLACE FUNCTION neardup_clear_signatures(job regclass, j neardup_job) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  signatures text := @extschema@.neardup_job_part(job, '_signatures');
  kind text := @extschema@.neardup_job_kind(j);
BEGIN
  PERFORM @extschema@.neardup_drop('INDEX', VARIADIC @extschema@.neardup_job_indexes(job));
  EXECUTE pg_catalog.format('TRUNCATE %s', signatures);
  EXECUTE pg_catalog.format('ALTER TABLE %s ALTER signature TYPE @extschema@.%I USING NULL', signatures, kind);
END $$;
CREATE FUNCTION neardup_qualified(j neardup_job) RETURNS neardup_job LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF j.qualified THEN RETURN j; END IF;
  j.order_by := @extschema@.neardup_expression(j.source, j.order_by);
  j.filter := @extschema@.neardup_expression(j.source, j.filter);
  j.deleted := @extschema@.neardup_expression(j.source, j.deleted);
  j.qualified := true;
  RETURN j;
END $$;
COMMENT ON FUNCTION neardup_qualified(neardup_job) IS 'private: a job whose expressions mean the same under any search_path';
CREATE FUNCTION neardup_new_expression(source regclass, expression text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE WHEN pg_catalog.texteq(expression, '') THEN expression ELSE @extschema@.neardup_expression(source, expression) END;
END $$;
COMMENT ON FUNCTION neardup_new_expression(regclass, text) IS 'private: an expression that alter_duplicates() was given';
CREATE FUNCTION neardup_alter_job(job regclass, old neardup_job, given neardup_job) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  j @extschema@.neardup_job := old;
  kind text;
BEGIN
  SELECT y.typname INTO kind FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
    WHERE a.attrelid = @extschema@.neardup_job_part(job, '_signatures'::text)::regclass::oid AND a.attname = 'signature';
  j.threshold := COALESCE(given.threshold, j.threshold); j.profile := COALESCE(given.profile, j.profile); j.linkage := COALESCE(given.linkage, j.linkage);
  j.verify := NULLIF(COALESCE(given.verify, j.verify), '');
  j.verify_threshold := CASE WHEN j.verify IS NOT NULL THEN COALESCE(given.verify_threshold, j.verify_threshold) ELSE given.verify_threshold END;
  j.keep := COALESCE(given.keep, j.keep);
  j.order_by := NULLIF(COALESCE(given.order_by, CASE WHEN j.keep = 'oldest' THEN j.order_by END), '');
  j.at_most_apart := COALESCE(given.at_most_apart, j.at_most_apart); j.filter := NULLIF(COALESCE(given.filter, j.filter), '');
  j.deleted := NULLIF(COALESCE(given.deleted, j.deleted), ''); j.id := COALESCE(given.id, j.id); j.at := COALESCE(given.at, j.at);
  j.body := COALESCE(given.body, j.body); j.signature := COALESCE(given.signature, j.signature);
  IF (j.at IS NULL) <> (old.at IS NULL) THEN
    RAISE EXCEPTION 'at can be given another column, but not be added: drop the job and create it anew' USING ERRCODE = 'feature_not_supported';
  END IF;
  IF j.body IS NOT NULL THEN
    j.profile_version := (@extschema@.neardup_profile_named(j.profile)).version;
    j.body_type := @extschema@.neardup_job_column(j.source, j.body, 'body'::text);
  END IF;
  PERFORM @extschema@.neardup_check_job(j);
  j.recluster := true;
  j.resync := j.resync OR (j.id, j.body, j.signature, j.at, j.keep, j.order_by, j.profile, j.profile_version)
                          IS DISTINCT FROM (old.id, old.body, old.signature, old.at, old.keep, old.order_by, old.profile, old.profile_version);
  EXECUTE format('DELETE FROM %s', @extschema@.neardup_job_part(job, '_job'::text));
  EXECUTE format('INSERT INTO %s SELECT ($1).*', @extschema@.neardup_job_part(job, '_job'::text)) USING j;
  -- signatures of two kinds cannot be compared; the refresh sees to the types of keys
  IF (j.profile, j.profile_version, j.body_type::oid, @extschema@.neardup_job_kind(j))
     IS DISTINCT FROM (old.profile, old.profile_version, old.body_type::oid, kind) THEN
    PERFORM @extschema@.neardup_clear_signatures(job, j);
  ELSE
    PERFORM @extschema@.neardup_drop('INDEX'::text, VARIADIC @extschema@.neardup_job_indexes(job));
  END IF;
END $$;
COMMENT ON FUNCTION neardup_alter_job(regclass, neardup_job, neardup_job) IS 'private: alter_duplicates()';
CREATE FUNCTION neardup_locked_row(job regclass) RETURNS neardup_job LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM @extschema@.neardup_demand_owner(job);
  PERFORM @extschema@.neardup_job_tables(job);
  EXECUTE format('SELECT FROM %s FOR UPDATE', @extschema@.neardup_job_part(job, '_job'::text));
  RETURN @extschema@.neardup_job_row(job);
END $$;
COMMENT ON FUNCTION neardup_locked_row(regclass) IS 'private: the row of a job, locked';
CREATE OR REPLACE FUNCTION alter_duplicates(name text, threshold float8 = NULL, profile text = NULL, linkage text = NULL, verify text = NULL,
    verify_threshold float8 = NULL, keep text = NULL, order_by text = NULL, at_most_apart interval = NULL, filter text = NULL,
    deleted text = NULL, id name = NULL, body name = NULL, signature name = NULL, at name = NULL) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  job pg_catalog.regclass := @extschema@.neardup_locked_job(name);
  old @extschema@.neardup_job := @extschema@.neardup_locked_row(job);
  given @extschema@.neardup_job;
BEGIN
  given.threshold := threshold; given.profile := @extschema@.neardup_profile_path(profile); given.linkage := linkage; given.verify := verify;
  given.verify_threshold := verify_threshold; given.keep := keep; given.at_most_apart := at_most_apart;
  given.order_by := @extschema@.neardup_new_expression(old.source, order_by);
  given.filter := @extschema@.neardup_new_expression(old.source, filter);
  given.deleted := @extschema@.neardup_new_expression(old.source, deleted);
  given.id := id; given.body := body; given.signature := signature; given.at := at;
  PERFORM @extschema@.neardup_alter_job(job, @extschema@.neardup_qualified(old), given);
END $$;
CREATE FUNCTION neardup_drop_job(job regclass) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t record;
BEGIN
  SELECT * INTO t FROM @extschema@.neardup_job_tables(job);
  PERFORM @extschema@.neardup_drop_tables(array_remove(ARRAY[t.result, t.signatures, t.changes, job]::oid[], NULL));
END $$;
COMMENT ON FUNCTION neardup_drop_job(regclass) IS 'private: drops a job and the tables that belong to it';
CREATE OR REPLACE FUNCTION drop_duplicates(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM @extschema@.neardup_drop_job(@extschema@.neardup_locked_job(name));
END $$;
CREATE FUNCTION neardup_pause_job(job regclass, paused boolean) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  n bigint := 0;
BEGIN
  PERFORM @extschema@.neardup_demand_owner(job);
  -- again where alter_duplicates() has just put another row in its place
  FOR i IN 1 .. 3 LOOP
    EXECUTE format('UPDATE %s SET paused = $1', @extschema@.neardup_job_part(job, '_job'::text)) USING paused;
    GET DIAGNOSTICS n = ROW_COUNT;
    EXIT WHEN n > 0;
  END LOOP;
  IF n = 0 THEN RAISE EXCEPTION 'job % has no row', job USING ERRCODE = 'data_exception'; END IF;
END $$;
COMMENT ON FUNCTION neardup_pause_job(regclass, boolean) IS 'private: pause_duplicates()';
CREATE OR REPLACE FUNCTION pause_duplicates(name text, paused boolean = true) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM @extschema@.neardup_pause_job(@extschema@.neardup_job_table(name), paused);
END $$;
CREATE FUNCTION neardup_rename_job(job regclass, named text[]) RETURNS regclass LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  r record;
BEGIN
  FOR r IN SELECT x.relation, named[1] || x.suffix AS name FROM @extschema@.neardup_job_tables(job) t,
             LATERAL (VALUES (t.result, ''), (t.signatures, '_signatures'), (t.changes, '_changes'), (job, '_job')) x(relation, suffix)
           WHERE x.relation IS NOT NULL LOOP
    EXECUTE format('ALTER TABLE %s RENAME TO %I', r.relation, r.name);
    IF NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = r.relation AND c.relname = r.name) THEN
      RAISE EXCEPTION 'the schema of the tables was renamed concurrently' USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
  END LOOP;
  RETURN (@extschema@.neardup_job_tables(job)).result;
END $$;
COMMENT ON FUNCTION neardup_rename_job(regclass, text[]) IS 'private: renames the tables of a job';
CREATE FUNCTION neardup_plain_name(name text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  named text[] := parse_ident(name);
BEGIN
  IF array_length(named, 1) > 1 THEN
    RAISE EXCEPTION 'the new name has no schema: %', name USING ERRCODE = 'invalid_name', HINT = 'ALTER TABLE .. SET SCHEMA moves a table.';
  END IF;
  IF octet_length(named[1]) > 52 THEN
    RAISE EXCEPTION 'the name of a table of duplicates has at most 52 bytes: % has %', named[1], octet_length(named[1]) USING ERRCODE = 'name_too_long';
  END IF;
  IF named IS NULL THEN RAISE EXCEPTION 'name must not be NULL' USING ERRCODE = 'null_value_not_allowed'; END IF;
  RETURN named;
END $$;
COMMENT ON FUNCTION neardup_plain_name(text) IS 'private: the new name of a job';
CREATE OR REPLACE FUNCTION rename_duplicates(old text, new text) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
  named pg_catalog.text[] := @extschema@.neardup_plain_name(new);
BEGIN
  RETURN @extschema@.neardup_rename_job(@extschema@.neardup_locked_job(old), named);
END $$;
CREATE OR REPLACE FUNCTION neardup_job_temp(job regclass, what text) RETURNS text LANGUAGE sql STABLE STRICT
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT format('pg_temp.neardup_%s_%s_%s', what, job::oid, (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user))
  $$;
CREATE OR REPLACE FUNCTION neardup_refresh_types(job regclass, j neardup_job) RETURNS boolean LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  shape text := @extschema@.neardup_job_temp(job, 'shape'::text);
  result text := @extschema@.neardup_job_part(job, ''::text);
  signatures text := @extschema@.neardup_job_part(job, '_signatures'::text);
  changed boolean := false;
  r record;
  columns text[];
  what text;
  follow text;
  copied text;
BEGIN
  PERFORM @extschema@.neardup_drop('TABLE'::text, shape);
  EXECUTE format('CREATE TEMP TABLE %s AS SELECT * FROM (%s) l WITH NO DATA', split_part(shape, '.', 2), @extschema@.neardup_job_rows(j));
  PERFORM @extschema@.neardup_check_range(b.atttypid, format('column "%s"', CASE b.attname WHEN 'id' THEN j.id::text WHEN 'key' THEN 'order_by' ELSE b.attname::text END))
    FROM pg_attribute b WHERE b.attrelid = shape::regclass::oid AND b.attnum > 0;
  FOR r IN SELECT a.attname::text AS name, pg_catalog.format_type(a.atttypid, a.atttypmod) AS old, pg_catalog.format_type(b.atttypid, b.atttypmod) AS new,
             COALESCE((SELECT format(' COLLATE %I.%I', n.nspname, l.collname) FROM pg_collation l JOIN pg_namespace n ON n.oid = l.collnamespace
                       WHERE l.oid = b.attcollation), '') AS collation, a.atttypid AS old_type, b.atttypid AS new_type
           FROM pg_attribute a JOIN pg_attribute b ON b.attname = a.attname
           WHERE a.attrelid = signatures::regclass::oid AND b.attrelid = shape::regclass::oid AND a.attnum > 0 AND b.attnum > 0
             AND NOT a.attisdropped AND (a.atttypid, a.atttypmod, a.attcollation) <> (b.atttypid, b.atttypmod, b.attcollation) LOOP
    columns := CASE WHEN r.name = 'id' THEN '{id,representative}'
                    WHEN r.name LIKE 'within_%' THEN ARRAY[j.within[substr(r.name, 8)::int]::text] END;
    what := CASE r.name WHEN 'id' THEN j.id::text WHEN 'at' THEN j.at::text WHEN 'key' THEN 'order_by' ELSE columns[1] END;
    BEGIN
      follow := format('ALTER TABLE %s ALTER %I TYPE %s%s USING ', signatures, r.name, r.new, r.collation);
      copied := '%I::pg_catalog.text::' || replace(r.new, '%', '%%');
      IF EXISTS (SELECT FROM pg_type y WHERE y.oid = r.old_type AND y.typtype = 'd' AND y.typbasetype = r.new_type) THEN
        copied := '%I::' || replace(r.new, '%', '%%');  -- a domain as the type below it
      ELSIF NOT @extschema@.neardup_trusted_type(r.old_type) OR NOT @extschema@.neardup_trusted_type(r.new_type) THEN
        RAISE EXCEPTION 'casts and checks of another role''s type would run with your rights' USING ERRCODE = 'insufficient_privilege';
      END IF;
      IF r.name <> 'key' THEN
        EXECUTE follow || format(copied, r.name);
      ELSE
        BEGIN
          EXECUTE follow || 'NULL';  -- keys are read again
        EXCEPTION WHEN not_null_violation OR check_violation THEN  -- of a domain
          BEGIN
            EXECUTE follow || format(copied, r.name);
          EXCEPTION WHEN OTHERS THEN  -- these are as they were at the last refresh, and those of the source fit
            PERFORM @extschema@.neardup_clear_signatures(job, j);
            EXECUTE follow || 'NULL';
          END;
        END;
      END IF;
      IF columns IS NOT NULL THEN
        EXECUTE format('ALTER TABLE %s %s', result,
          (SELECT string_agg(format('ALTER %I TYPE %s%s USING %s', c, r.new, r.collation, format(copied, c)), ', ') FROM unnest(columns) c));
      END IF;
    EXCEPTION WHEN OTHERS THEN
      RAISE EXCEPTION '"%" of % was % and is %, and the tables of the job cannot follow: %', what, j.source, r.old, r.new, SQLERRM
        USING ERRCODE = SQLSTATE, HINT = 'drop_duplicates() and create_duplicates() make the job anew.';
    END;
    changed := true;
  END LOOP;
  PERFORM @extschema@.neardup_drop('TABLE'::text, shape);
  RETURN changed;
END $$;
CREATE OR REPLACE FUNCTION neardup_refresh_list(job regclass, j neardup_job) RETURNS bigint LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  todo text := @extschema@.neardup_job_temp(job, 'todo'::text);
  rows text := @extschema@.neardup_job_rows(j);
  signatures text := @extschema@.neardup_job_part(job, '_signatures'::text);
  stored boolean := @extschema@.neardup_job_stored(j.source);
  eq text := @extschema@.neardup_equality(@extschema@.neardup_job_column(j.source, j.id, 'id'::text));  -- of ids
  changed text;
  n bigint;
  nameless boolean;
BEGIN
  -- Each row is to remember by itself that it has not been compared, so that what a time limit ends is gone on with.
  IF j.resync THEN
    IF stored THEN EXECUTE format('UPDATE %s SET version = NULL WHERE version IS NOT NULL', signatures); END IF;
    EXECUTE format('UPDATE %s SET resync = false', job);
  END IF;
  IF stored THEN
    changed := 'g.version IS NULL OR g.origin IS DISTINCT FROM l.origin OR g.place IS DISTINCT FROM l.place OR g.version IS DISTINCT FROM l.version';
  ELSE
    changed := format('ROW(g.content)::pg_catalog.record OPERATOR(pg_catalog.*<>) ROW(%s)::pg_catalog.record OR %s', @extschema@.neardup_job_hash(j, @extschema@.neardup_job_kind(j), 'l.body'),
                      @extschema@.neardup_job_differs(j, 'g', 'l'));
  END IF;
  PERFORM @extschema@.neardup_drop('TABLE'::text, todo);
  EXECUTE format(
    'CREATE TEMP TABLE %1$s AS SELECT row_number() OVER () AS n, t.* FROM (
       SELECT l.id, false AS gone FROM (%2$s) l LEFT JOIN %3$s g ON g.id %5$s l.id WHERE g.id IS NULL OR g.gone OR %4$s
       UNION ALL
       SELECT g.id, true FROM %3$s g WHERE NOT g.gone AND NOT EXISTS (SELECT FROM (%2$s) l WHERE l.id %5$s g.id)) t',
    split_part(todo, '.', 2), rows, signatures, changed, eq);
  GET DIAGNOSTICS n = ROW_COUNT;
  EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE id IS NULL)', todo) INTO nameless;
  IF nameless THEN
    RAISE EXCEPTION 'the column "%" of % is NULL in a row', j.id, j.source USING ERRCODE = 'null_value_not_allowed',
      HINT = format('filter => %L leaves such rows out.', format('%I IS NOT NULL', j.id));
  END IF;
  EXECUTE format('CREATE INDEX ON %s (n)', todo);
  EXECUTE format('ANALYZE %s', todo);
  RETURN n;
END $$;
CREATE OR REPLACE FUNCTION neardup_refresh_sign(job regclass, j neardup_job, after bigint, upto bigint) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  todo text := @extschema@.neardup_job_temp(job, 'todo'::text);
  signatures text := @extschema@.neardup_job_part(job, '_signatures'::text);
  kind text := @extschema@.neardup_job_kind(j);
  eq text := @extschema@.neardup_equality(@extschema@.neardup_job_column(j.source, j.id, 'id'::text));  -- of ids
  more text[] := ARRAY(SELECT 'key' UNION ALL SELECT 'within_' || i::text FROM generate_series(1, array_length(j.within, 1)) i
                       UNION ALL SELECT 'at' WHERE j.at IS NOT NULL);
  sign text := CASE WHEN j.body IS NULL THEN 'b.body'
                    ELSE @extschema@.neardup_sign_sql(@extschema@.neardup_profile_named(j.profile), j.body_type, 'b.body') END;
BEGIN
  EXECUTE format(
    'INSERT INTO %1$s AS g (id, signature, content, origin, place, version, generation, gone, %2$s)
     SELECT b.id, CASE WHEN b.same THEN b.signature ELSE %3$s END,
            b.content, b.origin, b.place, b.version, CASE WHEN b.changed THEN $3 ELSE b.generation END, false, %4$s
     FROM (SELECT l.*, o.signature, COALESCE(o.generation, 0) AS generation,
                  o.id IS NOT NULL AND NOT o.gone AND o.content IS NOT DISTINCT FROM l.content AS same,
                  o.id IS NULL OR o.gone OR o.content IS DISTINCT FROM l.content OR %5$s
                  OR ($4 AND (o.origin IS DISTINCT FROM l.origin OR o.place IS DISTINCT FROM l.place OR o.version IS DISTINCT FROM l.version)) AS changed
           FROM (SELECT l.*, %6$s AS content FROM %7$s t JOIN (%8$s) l ON l.id %10$s t.id
                 WHERE t.n > $1 AND t.n <= $2 AND NOT t.gone OFFSET 0) l
           LEFT JOIN %1$s o ON o.id %10$s l.id OFFSET 0) b
     ON CONFLICT (id) DO UPDATE SET signature = EXCLUDED.signature,
       content = EXCLUDED.content, origin = EXCLUDED.origin, place = EXCLUDED.place, version = EXCLUDED.version,
       generation = EXCLUDED.generation, gone = false, %9$s',
    signatures, array_to_string(more, ', '), sign, (SELECT string_agg('b.' || c, ', ' ORDER BY i) FROM unnest(more) WITH ORDINALITY u(c, i)),
    @extschema@.neardup_job_differs(j, 'o', 'l'), @extschema@.neardup_job_hash(j, kind, 'l.body'), todo, @extschema@.neardup_job_rows(j),
    (SELECT string_agg(format('%s = EXCLUDED.%s', c, c), ', ') FROM unnest(more) c), eq)
    USING after, upto, j.refresh, j.verify IS NOT NULL;
  EXECUTE format(
    'UPDATE %s g SET gone = true, generation = $3
     FROM %s t WHERE t.n > $1 AND t.n <= $2 AND t.gone AND g.id %s t.id AND NOT g.gone', signatures, todo, eq)
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
  EXECUTE format('SELECT @extschema@.neardup_search_threshold(signature, $1) FROM %s WHERE signature IS NOT NULL LIMIT 1',
                 @extschema@.neardup_job_part(job, '_signatures'::text)) INTO t USING j.threshold;
  RETURN t;
END $$;
CREATE OR REPLACE FUNCTION neardup_refresh_near(kind text, threshold float8, a text, b text) RETURNS text LANGUAGE sql IMMUTABLE
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
  SELECT CASE
    WHEN kind = 'minhash' AND threshold >= 0.5 THEN format('@extschema@.jaccard(%s, %s) OPERATOR(pg_catalog.>=) %L::pg_catalog.float8', a, b, threshold)
    WHEN kind = 'simhash' AND threshold >= 1 - 10 / 64.0::float8 THEN
      format('@extschema@.hamming(%s, %s) OPERATOR(pg_catalog.<=) %s', a, b, (SELECT max(d) FROM generate_series(0, 10) d WHERE 1 - d / 64.0::float8 >= threshold))
    WHEN kind = 'ctph' AND threshold >= 0.85 THEN
      format('@extschema@.ctph_edit_rate(%s, %s) OPERATOR(pg_catalog.<=) %L::pg_catalog.float8', a, b, least(1 - threshold + 1e-9, 0.15)) END
  $$;
CREATE OR REPLACE FUNCTION neardup_refresh_index(job regclass, j neardup_job) RETURNS void LANGUAGE plpgsql SET extra_float_digits = 1
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  signatures text := @extschema@.neardup_job_part(job, '_signatures'::text);
  kind text := @extschema@.neardup_job_kind(j);
  lower float8;
BEGIN
  IF cardinality(@extschema@.neardup_job_indexes(job)) = 0 AND
     @extschema@.neardup_refresh_near(kind, j.search_threshold, 'a', 'b') IS NOT NULL THEN
    -- they may be of other parameters than those that have come
    EXECUTE format('UPDATE %s SET signature = NULL WHERE gone AND signature IS NOT NULL', signatures);
    -- An index of a lower threshold than what is searched for tells candidates apart by how many bands they share: at a million rows of pages
    -- full of boilerplate a tenth of them is left. Long signatures may have too many bands for it, or for any index: then all rows are
    -- clustered each time.
    FOREACH lower IN ARRAY CASE WHEN kind = 'minhash' THEN ARRAY[0.05, 0] ELSE ARRAY[0] END::float8[] LOOP
      BEGIN
        EXECUTE format('CREATE INDEX ON %s USING lsh (signature%s)%s', signatures,
          CASE WHEN kind = 'ctph' THEN format(' @extschema@.ctph_ops (max_rate = %s)',
            least(ceil(((1::float8 - j.search_threshold) * 100000::float8)::numeric(12, 3)) / 100000::numeric, 0.15::numeric)::numeric(6, 5)) ELSE '' END,
          CASE WHEN kind = 'minhash' THEN format(' WITH (threshold = %s)', j.search_threshold - lower) ELSE '' END);
        EXIT;
      EXCEPTION WHEN program_limit_exceeded THEN NULL;
      END;
    END LOOP;
    EXECUTE format('ANALYZE %s', signatures);
  END IF;
END $$;
CREATE OR REPLACE FUNCTION neardup_refresh_touched(job regclass, j neardup_job) RETURNS boolean LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  result text := @extschema@.neardup_job_part(job, ''::text);
  signatures text := @extschema@.neardup_job_part(job, '_signatures'::text);
  touched text := @extschema@.neardup_job_temp(job, 'touched'::text);
  edges text := @extschema@.neardup_job_temp(job, 'edges'::text);
  kind text := @extschema@.neardup_job_kind(j);
  eq text := @extschema@.neardup_equality(@extschema@.neardup_job_column(j.source, j.id, 'id'::text));  -- of ids
  near text := @extschema@.neardup_refresh_near(kind, j.search_threshold, 'g.signature', 'f.signature');
  exact boolean := kind IN ('minhash', 'simhash') AND j.verify IS NULL AND j.at IS NULL AND cardinality(j.within) = 0;
  rows bigint;
  n bigint;
  found bigint;
  sampled bigint;
  most bigint;
BEGIN
  IF j.recluster OR j.clustered = 0 OR near IS NULL OR cardinality(@extschema@.neardup_job_indexes(job)) = 0 THEN RETURN false; END IF;
  EXECUTE format('SELECT count(*) FROM %s', signatures) INTO rows;
  EXECUTE format('SELECT count(*) FROM %s WHERE generation > $1', signatures) INTO n USING j.clustered;
  -- A search costs as much as to cluster ten rows, and in more than a million rows more: an index that the memory does not hold.
  most := least(rows / 10 + 10, 100000 + rows / 100);
  IF n > least(rows / 20 + 10, most) THEN RETURN false; END IF;
  PERFORM @extschema@.neardup_drop('TABLE'::text, touched, edges);
  EXECUTE format('CREATE TEMP TABLE %s AS SELECT id, false AS searched FROM %s WHERE generation > $1 AND NOT gone', split_part(touched, '.', 2), signatures)
    USING j.clustered;
  EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (id)', touched);
  EXECUTE format('CREATE TEMP TABLE %s AS SELECT id AS x, id AS y, false AS later, false AS settled FROM %s WITH NO DATA', split_part(edges, '.', 2), signatures);
  IF j.linkage = 'anchor' THEN
    EXECUTE format('INSERT INTO %s SELECT m.id, false FROM %s s JOIN %s r ON r.id %s s.id JOIN %s m ON m.cluster = r.cluster
        WHERE s.generation > $1 AND r.survivor ON CONFLICT DO NOTHING', touched, signatures, result, eq, result) USING j.clustered;
  END IF;
  FOR round IN 1 .. 50 LOOP
    EXECUTE format('SELECT count(*), count(*) FILTER (WHERE NOT searched) FROM %s', touched) INTO n, found;
    IF n > most THEN RETURN false; END IF;
    EXIT WHEN found = 0;
    EXECUTE format('ANALYZE %s', touched);
    -- A large family of near rows: each would find all others.
    EXECUTE format('SELECT count(*) FROM (SELECT s.signature FROM %s t JOIN %s s ON s.id %s t.id
           WHERE NOT t.searched AND NOT s.gone AND s.signature IS NOT NULL LIMIT 20) f
         CROSS JOIN LATERAL (SELECT FROM %s g WHERE NOT g.gone AND %s) g', touched, signatures, eq, signatures, near) INTO sampled;
    IF sampled * found / least(found, 20) > 10 * rows + 100000 THEN RETURN false; END IF;
    -- Records compare as ORDER BY does. settled: a representative that has not changed.
    EXECUTE format(
      'INSERT INTO %s SELECT f.id, g.id, %s, r.survivor AND g.generation <= $1 FROM (SELECT s.id, s.key, s.signature FROM %s t JOIN %s s ON s.id %s t.id
           WHERE NOT t.searched AND NOT s.gone AND s.signature IS NOT NULL) f
         CROSS JOIN LATERAL (SELECT g.id, g.key, g.generation FROM %s g WHERE NOT g.gone AND %s) g LEFT JOIN %s r ON r.id %s g.id
         WHERE ROW(g.id)::record OPERATOR(pg_catalog.<>) ROW(f.id)::record', edges,
      format('CASE WHEN (g.key IS NULL) OPERATOR(pg_catalog.<>) (f.key IS NULL) THEN g.key IS NULL
        WHEN ROW(g.key)::record OPERATOR(pg_catalog.=) ROW(f.key)::record THEN ROW(g.id)::record OPERATOR(pg_catalog.>) ROW(f.id)::record
        ELSE ROW(g.key)::record OPERATOR(pg_catalog.%s) ROW(f.key)::record END', CASE WHEN j.keep = 'oldest' THEN '>' ELSE '<' END),
      touched, signatures, eq, signatures, near, result, eq) USING j.clustered;
    EXECUTE format('UPDATE %s SET searched = true WHERE NOT searched', touched);
    EXIT WHEN j.linkage = 'connected';
    EXECUTE format('ANALYZE %s', edges);
    EXECUTE format(
      'INSERT INTO %s SELECT DISTINCT a.id, false FROM (
         SELECT e.y AS id FROM %s e WHERE e.later%s
         UNION ALL
         SELECT m.id FROM %s t JOIN %s r ON r.id %s t.id JOIN %s m ON m.cluster = r.cluster WHERE r.survivor) a ON CONFLICT DO NOTHING',
      touched, edges, CASE WHEN exact THEN format(' AND NOT EXISTS (SELECT FROM %s s
           WHERE s.x %s e.x AND s.settled AND NOT s.later AND NOT EXISTS (SELECT FROM %s t WHERE t.id %s s.y))', edges, eq, touched, eq) END,
      touched, result, eq, result);
  END LOOP;
  IF found > 0 AND j.linkage = 'anchor' THEN RETURN false; END IF;
  IF j.linkage = 'connected' THEN
    EXECUTE format('INSERT INTO %s SELECT DISTINCT y, true FROM %s ON CONFLICT DO NOTHING', touched, edges);
    EXECUTE format('INSERT INTO %s SELECT m.id, true FROM %s m WHERE m.cluster IN (SELECT r.cluster FROM %s r WHERE EXISTS (SELECT FROM %s t WHERE t.id %s r.id)
        UNION ALL SELECT r.cluster FROM %s r JOIN %s s ON s.id %s r.id WHERE s.generation > $1) ON CONFLICT DO NOTHING',
      touched, result, result, touched, eq, result, signatures, eq) USING j.clustered;
    EXECUTE format('SELECT count(*) FROM %s', touched) INTO n;
    RETURN n <= rows / 2;
  END IF;
  EXECUTE format('INSERT INTO %s SELECT DISTINCT y, true FROM %s WHERE settled ON CONFLICT DO NOTHING', touched, edges);
  EXECUTE format('INSERT INTO %s SELECT DISTINCT r.representative, true FROM %s r JOIN %s s ON s.id %s r.id WHERE s.generation > $1 ON CONFLICT DO NOTHING',
    touched, result, signatures, eq) USING j.clustered;
  RETURN true;
END $$;
CREATE OR REPLACE FUNCTION neardup_refresh_cluster(job regclass, j neardup_job) RETURNS void LANGUAGE plpgsql SET extra_float_digits = 1
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  result text := @extschema@.neardup_job_part(job, ''::text);
  signatures text := @extschema@.neardup_job_part(job, '_signatures'::text);
  changes text := @extschema@.neardup_job_part(job, '_changes'::text);
  touched text := @extschema@.neardup_job_temp(job, 'touched'::text);
  edges text := @extschema@.neardup_job_temp(job, 'edges'::text);
  fresh text := @extschema@.neardup_job_temp(job, 'fresh'::text);
  ids text := @extschema@.neardup_job_temp(job, 'ids'::text);
  heirs text := @extschema@.neardup_job_temp(job, 'heirs'::text);
  part boolean := @extschema@.neardup_refresh_touched(job, j);
  within text := (SELECT string_agg('g.within_' || i::text, ', ' ORDER BY i) FROM generate_series(1, array_length(j.within, 1)) i);
  eq text := @extschema@.neardup_equality(@extschema@.neardup_job_column(j.source, j.id, 'id'::text));  -- of ids
  id_type text;
  query text;
  looked_at bigint;
  n bigint;
BEGIN
  -- a domain may not take the NULL that names the type
  SELECT CASE WHEN t IN ('smallint'::regtype::oid, 'int'::regtype::oid, 'bigint'::regtype::oid) THEN 'bigint' ELSE pg_catalog.format_type(t, NULL) END
    INTO id_type FROM (SELECT @extschema@.neardup_job_column(j.source, j.id, 'id'::text)::oid AS t) x;
  query := format('SELECT g.id, g.signature%s%s%s FROM %s g%s WHERE NOT g.gone%s ORDER BY g.key %s NULLS LAST, g.id',
    CASE WHEN within IS NOT NULL THEN format(', ROW(%s) AS within', within) END, CASE WHEN j.at IS NOT NULL THEN ', g.at AS at' END,
    CASE WHEN j.verify IS NOT NULL THEN
      format(', %s AS doc', @extschema@.neardup_document_sql(@extschema@.neardup_profile_named(j.profile), j.body_type, 'l.body')) END,
    signatures, CASE WHEN j.verify IS NOT NULL THEN format(' JOIN (%s) l ON l.id %s g.id', @extschema@.neardup_job_rows(j), eq) END,
    CASE WHEN part THEN format(' AND EXISTS (SELECT FROM %s t WHERE t.id %s g.id)', touched, eq) END,
    CASE WHEN j.keep = 'oldest' THEN 'ASC' ELSE 'DESC' END);
  PERFORM @extschema@.neardup_drop('TABLE'::text, fresh, ids, heirs);
  EXECUTE format('CREATE TEMP TABLE %s AS SELECT c.id, COALESCE(c.cluster, c.n) AS c, COALESCE(c.representative, c.id) AS representative,
                    c.similarity, c.survivor, c.n
                  FROM @extschema@.all_clusters(NULL::%s, %L, %L::float8, %L, %L, %L::float8, %L::interval)
                       WITH ORDINALITY c(id, cluster, representative, similarity, cluster_size, survivor, n)',
    split_part(fresh, '.', 2), id_type, query, j.threshold, j.linkage, j.verify, j.verify_threshold, j.at_most_apart);
  GET DIAGNOSTICS looked_at = ROW_COUNT;
  EXECUTE format('ANALYZE %s', fresh);
  -- Where an old cluster lives on: with its representative, or with the first of its rows that are left.
  EXECUTE format('CREATE TEMP TABLE %s AS SELECT DISTINCT ON (r.cluster) r.cluster AS old, f.c FROM %s f JOIN %s r ON r.id %s f.id
                  ORDER BY r.cluster, r.id %s r.representative DESC, f.n', split_part(heirs, '.', 2), fresh, result, eq, eq);
  EXECUTE format('CREATE TEMP TABLE %s AS SELECT c, COALESCE(old, $1 - 1 + row_number() OVER (PARTITION BY old IS NULL ORDER BY c)) AS id, old IS NULL AS new
                  FROM (SELECT f.c, min(h.old) AS old FROM (SELECT DISTINCT c FROM %s) f LEFT JOIN %s h ON h.c = f.c GROUP BY f.c) x',
                 split_part(ids, '.', 2), fresh, heirs) USING j.next_cluster;
  EXECUTE format('ANALYZE %s', ids);
  EXECUTE format('ANALYZE %s', heirs);
  EXECUTE format(
    'INSERT INTO %s (refresh, change, cluster, other)
     SELECT $1, ''merged'', i.id, h.old FROM %s h JOIN %s i ON i.c = h.c WHERE i.id <> h.old
     UNION ALL
     SELECT DISTINCT $1, ''split'', i.id, r.cluster FROM %s f JOIN %s i ON i.c = f.c AND i.new JOIN %s r ON r.id %s f.id
     UNION ALL
     SELECT DISTINCT $1, ''gone'', r.cluster, NULL::bigint FROM %s r WHERE %s AND NOT EXISTS (SELECT FROM %s h WHERE h.old = r.cluster)',
    changes, heirs, ids, fresh, ids, result, eq, result,
    CASE WHEN part THEN format('EXISTS (SELECT FROM %s g WHERE g.gone AND g.id %s r.id)', signatures, eq) ELSE 'true' END, heirs) USING j.refresh;
  EXECUTE format('DELETE FROM %s r WHERE %s', result,
    CASE WHEN part THEN format('EXISTS (SELECT FROM %s g WHERE g.gone AND g.id %s r.id)', signatures, eq)
         ELSE format('NOT EXISTS (SELECT FROM %s f WHERE f.id %s r.id)', fresh, eq) END);
  EXECUTE format(
    'INSERT INTO %1$s AS r (id, cluster, representative, similarity, survivor, found_at%2$s)
     SELECT f.id, i.id, f.representative, f.similarity, f.survivor, now()%3$s
     FROM %4$s f JOIN %5$s i ON i.c = f.c%6$s LEFT JOIN %1$s o ON o.id %9$s f.id
     WHERE o.id IS NULL OR (o.cluster, o.survivor) <> (i.id, f.survivor) OR NOT (o.representative %9$s f.representative)
           OR o.similarity IS DISTINCT FROM f.similarity%7$s
     ON CONFLICT (id) DO UPDATE SET cluster = EXCLUDED.cluster, representative = EXCLUDED.representative, similarity = EXCLUDED.similarity,
       survivor = EXCLUDED.survivor, found_at = CASE WHEN r.cluster = EXCLUDED.cluster THEN r.found_at ELSE EXCLUDED.found_at END%8$s',
    result, (SELECT string_agg(', ' || pg_catalog.quote_ident(w), '' ORDER BY i) FROM unnest(j.within) WITH ORDINALITY u(w, i)), ', ' || within, fresh, ids,
    CASE WHEN within IS NOT NULL THEN format(' JOIN %s g ON g.id %s f.id', signatures, eq) END,
    (SELECT string_agg(format(' OR ROW(o.%I)::record OPERATOR(pg_catalog.*<>) ROW(g.within_%s)::record', w, i), '' ORDER BY i) FROM unnest(j.within) WITH ORDINALITY u(w, i)),
    (SELECT string_agg(format(', %I = EXCLUDED.%I', w, w), '' ORDER BY i) FROM unnest(j.within) WITH ORDINALITY u(w, i)), eq);
  -- Rows of a cluster that were not looked at go with its representative.
  IF part THEN
    EXECUTE format('UPDATE %s r SET cluster = i.id, found_at = now() FROM %s h JOIN %s i ON i.c = h.c
        WHERE r.cluster = h.old AND i.id <> h.old AND NOT EXISTS (SELECT FROM %s f WHERE f.id %s r.id)', result, heirs, ids, fresh, eq);
  END IF;
  EXECUTE format('DELETE FROM %s WHERE gone', signatures);
  EXECUTE format('SELECT count(*) FROM %s WHERE new', ids) INTO n;
  EXECUTE format('UPDATE %s SET clustered = refresh, clustered_rows = $2, recluster = false, next_cluster = next_cluster + $1', job)
    USING n, looked_at;
  PERFORM @extschema@.neardup_drop('TABLE'::text, fresh, ids, heirs, touched, edges);
END $$;
CREATE OR REPLACE FUNCTION neardup_refresh_step(job regclass, batch int) RETURNS text LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
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
      t := @extschema@.neardup_job_column(j.source, j.body, 'body'::text);
      IF p.version IS DISTINCT FROM j.profile_version OR t::oid <> j.body_type::oid THEN
        j.profile_version := p.version; j.body_type := t; j.recluster := true;
        EXECUTE format('UPDATE %s SET profile_version = $1, body_type = $2, recluster = true', job) USING p.version, t;
        PERFORM @extschema@.neardup_clear_signatures(job, j);
      END IF;
    END IF;
    j.resync := @extschema@.neardup_refresh_columns(job, j) OR j.resync;
    IF @extschema@.neardup_refresh_types(job, j) THEN
      j.resync := true;
      EXECUTE format('UPDATE %s SET resync = true, recluster = true', job);
    END IF;
    n := @extschema@.neardup_refresh_list(job, j);
    EXECUTE format('UPDATE %s SET total = $1, done = 0', job) USING n;
    RETURN CASE WHEN n > 0 THEN 'signing' ELSE 'indexing' END;
  ELSIF j.phase = 'signing' THEN
    BEGIN
      PERFORM @extschema@.neardup_refresh_sign(job, j, j.done, j.done + batch);
    EXCEPTION WHEN datatype_mismatch THEN
      -- the column has signatures of other parameters now, which only another index takes
      IF j.signature IS NULL OR cardinality(@extschema@.neardup_job_indexes(job)) = 0 THEN RAISE; END IF;
      PERFORM @extschema@.neardup_drop('INDEX'::text, VARIADIC @extschema@.neardup_job_indexes(job));
      EXECUTE format('UPDATE %s SET recluster = true', job);
      PERFORM @extschema@.neardup_refresh_sign(job, j, j.done, j.done + batch);
    END;
    EXECUTE format('UPDATE %s SET done = LEAST(done + $1, total)', job) USING batch;
    RETURN CASE WHEN j.done + batch < j.total THEN 'signing' ELSE 'indexing' END;
  ELSIF j.phase = 'indexing' THEN
    j.search_threshold := @extschema@.neardup_refresh_threshold(job, j);
    EXECUTE format('UPDATE %s SET search_threshold = $1', job) USING j.search_threshold;
    PERFORM @extschema@.neardup_refresh_index(job, j);
    PERFORM @extschema@.neardup_drop('TABLE'::text, @extschema@.neardup_job_temp(job, 'todo'::text));
    EXECUTE format('SELECT count(*) FROM %s WHERE generation > $1', @extschema@.neardup_job_part(job, '_signatures'::text)) INTO n USING j.clustered;
    IF n = 0 AND NOT j.recluster THEN
      EXECUTE format('UPDATE %s SET clustered_rows = 0', job);
      RETURN 'idle';
    END IF;
    RETURN 'clustering';
  END IF;
  PERFORM @extschema@.neardup_refresh_cluster(job, j);
  RETURN 'idle';
END $$;
CREATE FUNCTION neardup_signed_otherwise(j neardup_job) RETURNS boolean LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  p @extschema@.neardup_profile;
BEGIN
  IF j.body IS NULL THEN RETURN false; END IF;
  p := @extschema@.neardup_profile_named(j.profile);
  RETURN COALESCE(p.unit = 'char', false) OR p.rules <> 'none' OR (j.body_type::oid = 'bytea'::regtype::oid AND p.encoding <> 'bytes');
END $$;
COMMENT ON FUNCTION neardup_signed_otherwise(neardup_job) IS 'private: whether a job of 0.2.0 is to sign its documents anew';
CREATE FUNCTION neardup_refresh_begin(job regclass, j neardup_job) RETURNS boolean LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t record;
  qualified boolean := (@extschema@.neardup_job_row(job)).qualified;  -- as it is stored
BEGIN
  PERFORM @extschema@.neardup_demand_owner(job);
  IF j.source IS NULL THEN
    RAISE EXCEPTION 'job % has no row', job USING ERRCODE = 'data_exception';
  END IF;
  IF j.paused THEN
    RAISE NOTICE '% is paused', @extschema@.neardup_job_name(job)
      USING HINT = format('SELECT pause_duplicates(%L, false);', @extschema@.neardup_job_name(job));
    RETURN false;
  END IF;
  SELECT * INTO t FROM @extschema@.neardup_job_tables(job);
  PERFORM @extschema@.neardup_job_part(job, v.suffix) FROM (VALUES (''), ('_signatures'), ('_changes')) v(suffix);
  EXECUTE format('UPDATE %s SET refresh = refresh + 1, phase = ''listing'', done = 0, total = NULL, started = clock_timestamp(),
                  phase_started = clock_timestamp(), finished = NULL, pid = pg_backend_pid(), last_error = NULL,
                  filter = $1, deleted = $2, order_by = $3, qualified = true, profile_version = CASE WHEN $7 THEN NULL ELSE profile_version END,
                  result = COALESCE(result, $4), signatures = COALESCE(signatures, $5), changes = COALESCE(changes, $6)', job)
    USING j.filter, j.deleted, j.order_by, t.result, t.signatures, t.changes, qualified IS NOT TRUE AND @extschema@.neardup_signed_otherwise(j);
  RETURN true;
END $$;
COMMENT ON FUNCTION neardup_refresh_begin(regclass, neardup_job) IS 'private: marks the begin of a refresh';
CREATE FUNCTION neardup_refresh_next(job regclass, step text, next text, start timestamptz, time_limit interval, INOUT signed boolean, OUT goes_on boolean)
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  j @extschema@.neardup_job;
  held text := @extschema@.neardup_held_name(job);
BEGIN
  EXECUTE format('UPDATE %s SET phase_started = CASE WHEN phase = $1 THEN phase_started ELSE clock_timestamp() END, phase = $1', held) USING next;
  -- not before a batch: what only lists, and is stopped, would never come further
  signed := signed OR step = 'signing';
  goes_on := next <> 'idle';
  IF NOT goes_on THEN
    EXECUTE format('UPDATE %s SET finished = clock_timestamp(), pid = NULL', held);
    RETURN;
  END IF;
  j := @extschema@.neardup_job_row(job);
  goes_on := COALESCE(NOT (j.paused OR (signed AND clock_timestamp() - start >= time_limit)), true);
  IF goes_on THEN RETURN; END IF;
  EXECUTE format('UPDATE %s SET finished = clock_timestamp(), pid = NULL, phase = %L', held, 'waiting');
  RAISE NOTICE '%: % of % rows signed, then %; the next refresh goes on', left(@extschema@.neardup_job_name(job), 200), j.done, COALESCE(j.total, 0),
    CASE WHEN j.paused THEN 'paused' ELSE 'the time limit was reached' END;
END $$;
COMMENT ON FUNCTION neardup_refresh_next(regclass, text, text, timestamptz, interval, boolean) IS 'private: what follows a step of a refresh';
CREATE FUNCTION neardup_refresh_failed(job regclass, message text) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM pg_class c WHERE c.oid = job) THEN
    EXECUTE format('UPDATE %s SET phase = %L, finished = clock_timestamp(), pid = NULL, last_error = $1', @extschema@.neardup_held_name(job), 'failed') USING message;
  END IF;
END $$;
COMMENT ON FUNCTION neardup_refresh_failed(regclass, text) IS 'private: what an error leaves in the row of a job';
CREATE OR REPLACE PROCEDURE neardup_refresh(job regclass, batch int, time_limit interval, commit boolean) LANGUAGE plpgsql AS $$
DECLARE
  start pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  step pg_catalog.text := 'listing';
  next pg_catalog.text;
  after record;
  signed boolean := false;
  failed boolean := false;
  state pg_catalog.text; message pg_catalog.text; detail pg_catalog.text; hint pg_catalog.text;
BEGIN
  IF NOT @extschema@.neardup_refresh_begin(job, @extschema@.neardup_qualified(@extschema@.neardup_job_row(job))) THEN RETURN; END IF;
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
      PERFORM @extschema@.neardup_refresh_failed(job, message);
      COMMIT;
      PERFORM @extschema@.neardup_raise(state, message, detail, hint);
    END IF;
    SELECT * INTO after FROM @extschema@.neardup_refresh_next(job, step, next, start, time_limit, signed);
    IF commit THEN COMMIT; END IF;
    EXIT WHEN NOT after.goes_on;
    signed := after.signed;
    step := next;
  END LOOP;
END $$;
CREATE OR REPLACE FUNCTION neardup_jobs() RETURNS TABLE (job regclass, source regclass, phase text, done bigint, total bigint, rate float8,
    time_left interval, started timestamptz, finished timestamptz, pid int, last_error text)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE ROWS 10;
CREATE OR REPLACE FUNCTION neardup_match_tail(num_perm int, similarity float8) RETURNS float8[]
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  tail float8[] := array_fill(0::float8, ARRAY[num_perm + 1]);
  term float8;
  total float8 := 0;
BEGIN
  IF similarity <= 0 THEN tail[1] := 1; RETURN tail; END IF;
  IF similarity >= 1 THEN RETURN array_fill(1::float8, ARRAY[num_perm + 1]); END IF;
  -- from m = num_perm downwards, so that small tails are sums of small terms
  term := num_perm * ln(similarity);
  FOR m IN REVERSE num_perm .. 0 LOOP
    IF term > -700 THEN total := total + exp(term); END IF;
    tail[m + 1] := least(total, 1);
    IF m > 0 THEN term := term + ln(m * (1 - similarity) / ((num_perm - m + 1) * similarity)); END IF;
  END LOOP;
  RETURN tail;
END $$;
CREATE OR REPLACE FUNCTION neardup_matches_needed(num_perm int, threshold float8) RETURNS int
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN (m - 1)::float8 / num_perm >= threshold THEN m - 1 WHEN m::float8 / num_perm >= threshold THEN m ELSE m + 1 END
  FROM (SELECT ceil(num_perm * threshold)::int) c(m)
  $$;
CREATE FUNCTION neardup_reading_sql(query text, what text, columns text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  body text := regexp_replace(query, E';[\\s;]*(--[^\\n]*\\s*)*$', '');
BEGIN
  IF query IS NULL THEN
    RAISE EXCEPTION '% must not be NULL', what USING ERRCODE = 'null_value_not_allowed';
  END IF;
  RETURN format('SELECT %s FROM (%s' || chr(10) || ') "neardup query"(%s)',
    (SELECT string_agg(format('@extschema@.neardup_first_characters(CASE WHEN pg_catalog.pg_typeof("neardup %1$s")::pg_catalog.oid OPERATOR(pg_catalog.<) 16384::pg_catalog.oid THEN "neardup %1$s"::pg_catalog.text
                                 WHEN "neardup %1$s" IS NOT NULL THEN pg_catalog.format(''%%s'', "neardup %1$s") END, 100001) AS v%1$s, pg_catalog.pg_typeof("neardup %1$s")::pg_catalog.oid AS t%1$s', n), ', ' ORDER BY n)
     FROM generate_subscripts(columns, 1) n),
    body, (SELECT string_agg(format('"neardup %s"', n), ', ' ORDER BY n) FROM generate_subscripts(columns, 1) n));
END $$;
COMMENT ON FUNCTION neardup_reading_sql(text, text, text[]) IS 'private: the statement that reads the columns of a query';
CREATE FUNCTION neardup_no_columns(what text, columns text[], said text) RETURNS void LANGUAGE plpgsql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION '% must return % columns: %', what, CASE cardinality(columns) WHEN 2 THEN 'two' ELSE 'three' END,
    array_to_string(columns, ', ') USING ERRCODE = 'datatype_mismatch', DETAIL = 'PostgreSQL says: ' || said || '.';
END $$;
COMMENT ON FUNCTION neardup_no_columns(text, text[], text) IS 'private: the error for a query that returns other columns';
CREATE OR REPLACE FUNCTION neardup_reading_cursor(query text, what text, columns text[]) RETURNS refcursor LANGUAGE plpgsql STABLE AS $$
DECLARE
  c pg_catalog.refcursor;
  statement pg_catalog.text := @extschema@.neardup_reading_sql(query, what, columns);
BEGIN
  -- once as it stands, so that a second statement in it is seen for what it is
  BEGIN
    OPEN c NO SCROLL FOR EXECUTE query;
    CLOSE c;
  EXCEPTION WHEN invalid_cursor_definition OR feature_not_supported THEN
    RAISE EXCEPTION '% must be one SELECT, VALUES or TABLE statement that only reads', what
      USING ERRCODE = 'feature_not_supported', DETAIL = pg_catalog.concat('PostgreSQL says: ', SQLERRM, '.');
  END;
  c := NULL;
  BEGIN
    OPEN c NO SCROLL FOR EXECUTE statement;
  EXCEPTION WHEN invalid_column_reference THEN
    PERFORM @extschema@.neardup_no_columns(what, columns, SQLERRM);
  END;
  RETURN c;
END $$;
CREATE OR REPLACE FUNCTION neardup_suggest_query_us(docs text[], unit text, k int, num_perm int, threshold float8, OUT us float8, OUT why text)
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  began timestamptz;
BEGIN
  PERFORM set_config('enable_seqscan', 'off', true);
  EXECUTE pg_catalog.format('CREATE TEMP TABLE neardup_suggest_sample AS SELECT @extschema@.to_minhash(d, %s, %L, %s, 16) AS sig FROM unnest($1) d', k, unit, num_perm)
    USING docs;
  EXECUTE pg_catalog.format('CREATE INDEX ON pg_temp.neardup_suggest_sample USING lsh (sig @extschema@.minhash_ops) WITH (threshold = %s)', threshold);
  FOR i IN 1 .. 2 LOOP
    began := clock_timestamp();
    EXECUTE 'SELECT sum((SELECT count(*) FROM pg_temp.neardup_suggest_sample b WHERE @extschema@.jaccard_at_least(b.sig, a.sig, $1)))
             FROM pg_temp.neardup_suggest_sample a' USING threshold;
    us := least(us, 1000000 * extract(epoch FROM clock_timestamp() - began) / pg_catalog.cardinality(docs));
  END LOOP;
  RAISE EXCEPTION 'rolled back' USING ERRCODE = 'NDRBK';
EXCEPTION
  WHEN SQLSTATE 'NDRBK' THEN NULL;
  WHEN OTHERS THEN us := NULL; why := SQLERRM;
END $$;
CREATE FUNCTION neardup_sample_full(documents int, bytes bigint, empty_rows int) RETURNS boolean LANGUAGE sql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT documents >= 2000 OR bytes > 20000000 OR empty_rows > 2000
  $$;
COMMENT ON FUNCTION neardup_sample_full(int, bigint, int) IS 'private: whether a sample takes no more documents';
CREATE FUNCTION neardup_sample_document(id text, given text, type oid, OUT doc text, OUT cut int, OUT bytes bigint) LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  most_length CONSTANT int := 100000;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_type t WHERE t.oid = type
                 AND COALESCE(NULLIF(t.typbasetype, 0::oid), t.oid) IN ('text'::regtype::oid, 'varchar'::regtype::oid, 'bpchar'::regtype::oid)) THEN
    RAISE EXCEPTION 'the second column of query must be a document of type text: it is %', type::regtype
      USING ERRCODE = 'datatype_mismatch';
  END IF;
  IF id IS NULL THEN
    RAISE EXCEPTION 'query returns a row whose id is NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  doc := NULLIF(@extschema@.neardup_first_characters(given, most_length), '');
  cut := (octet_length(doc) < octet_length(given))::int;
  bytes := octet_length(doc);
END $$;
COMMENT ON FUNCTION neardup_sample_document(text, text, oid) IS 'private: a row of the query of neardup_suggest, checked';
CREATE FUNCTION neardup_check_sample(ids text[], empty_rows int) RETURNS void LANGUAGE plpgsql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  twice text;
BEGIN
  IF cardinality(ids) = 0 THEN
    RAISE EXCEPTION 'query returns no document' USING ERRCODE = 'no_data_found',
      DETAIL = CASE WHEN empty_rows > 0 THEN format('Rows whose document is NULL or empty: %s.', empty_rows) ELSE 'It returns no row.' END;
  END IF;
  SELECT u.id INTO twice FROM unnest(ids) u(id) GROUP BY u.id HAVING count(*) > 1 ORDER BY u.id LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'query returns the id % more than once', twice USING ERRCODE = 'unique_violation';
  END IF;
END $$;
COMMENT ON FUNCTION neardup_check_sample(text[], int) IS 'private: raises an error for a sample that cannot be used';
CREATE OR REPLACE FUNCTION neardup_suggest_sample(query text, OUT ids text[], OUT docs text[], OUT total bigint, OUT empty_rows int, OUT cut int, OUT more boolean)
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
DECLARE
  c pg_catalog.refcursor;
  r record;
  d record;
BEGIN
  ids := '{}'; docs := '{}'; total := 0; empty_rows := 0; cut := 0; more := false;
  c := @extschema@.neardup_reading_cursor(query, 'query'::pg_catalog.text, ARRAY['id', 'document']::pg_catalog.text[]);
  LOOP
    FETCH c INTO r;
    EXIT WHEN NOT FOUND;
    more := @extschema@.neardup_sample_full(pg_catalog.cardinality(docs), total, empty_rows);
    EXIT WHEN more;
    SELECT * INTO d FROM @extschema@.neardup_sample_document(r.v1, r.v2, r.t2);
    IF d.doc IS NULL THEN
      empty_rows := empty_rows OPERATOR(pg_catalog.+) 1;
    ELSE
      cut := cut OPERATOR(pg_catalog.+) d.cut;
      ids := pg_catalog.array_append(ids, r.v1);
      docs := pg_catalog.array_append(docs, d.doc);
      total := total OPERATOR(pg_catalog.+) d.bytes;
    END IF;
  END LOOP;
  CLOSE c;
  PERFORM @extschema@.neardup_check_sample(ids, empty_rows);
END $$;
CREATE FUNCTION neardup_check_label(n int, a text, b text, duplicate text, type oid) RETURNS void LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  most_labels CONSTANT int := 100000;
BEGIN
  IF type <> 'boolean'::regtype::oid THEN
    RAISE EXCEPTION 'the third column of labels must be boolean: it is %', type::regtype USING ERRCODE = 'datatype_mismatch';
  END IF;
  IF a IS NULL OR b IS NULL OR duplicate IS NULL THEN
    RAISE EXCEPTION 'labels returns a row with NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF a = b THEN
    RAISE EXCEPTION 'labels pairs the id % with itself', a USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF n = most_labels THEN
    RAISE EXCEPTION 'labels returns more than % rows', most_labels USING ERRCODE = 'program_limit_exceeded';
  END IF;
END $$;
COMMENT ON FUNCTION neardup_check_label(int, text, text, text, oid) IS 'private: raises an error for a row of labels that cannot be used';
CREATE OR REPLACE FUNCTION neardup_suggest_labels(labels text, OUT la text[], OUT lb text[], OUT ld boolean[]) LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
DECLARE
  c pg_catalog.refcursor;
  r record;
BEGIN
  la := '{}'; lb := '{}'; ld := '{}';
  c := @extschema@.neardup_reading_cursor(labels, 'labels'::pg_catalog.text, ARRAY['id_a', 'id_b', 'is_duplicate']::pg_catalog.text[]);
  LOOP
    FETCH c INTO r;
    EXIT WHEN NOT FOUND;
    PERFORM @extschema@.neardup_check_label(pg_catalog.cardinality(la), r.v1, r.v2, r.v3, r.t3);
    la := pg_catalog.array_append(la, r.v1);
    lb := pg_catalog.array_append(lb, r.v2);
    ld := pg_catalog.array_append(ld, r.v3::boolean);
  END LOOP;
  CLOSE c;
END $$;
CREATE OR REPLACE FUNCTION neardup_suggest_of(ids text[], docs text[], total bigint, empty_rows int, cut int, more boolean, labels text, la text[], lb text[],
    ld boolean[], edit_similarity float8)
  RETURNS TABLE (unit text, k int, threshold float8, num_perm int, bits int, index_options text, expected_recall float8,
                 expected_precision float8, bytes_per_row float8, signing_us float8, query_us float8, pairs bigint, note text)
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 18 SET jit = off SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  most_length CONSTANT int := 100000;   -- as in neardup_sample_document()
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
  SELECT COALESCE(sum(n) FILTER (WHERE n <= 2 AND octet_length(convert_to(@extschema@.neardup_first_characters(w, 1), 'UTF8')) >= 3)::float8
                  / NULLIF(sum(n), 0), 0)
    INTO unspaced FROM unnest(docs[1:200]) d, @extschema@.shingles(@extschema@.neardup_first_characters(d, 1000), 1) w,
      LATERAL @extschema@.neardup_characters(w) n;
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
      queries[f] := pg_catalog.format('SELECT n, s FROM pg_catalog.unnest(%L::@extschema@.minhash[]) WITH ORDINALITY u(s, n)',
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
      SELECT l.size, s.step, @extschema@.neardup_match_tail(l.size, (s.step / 200.0)::float8) AS p
      FROM unnest(ARRAY[64, 128, 256]) l(size), generate_series(0, 200) s(step)),
    asked AS MATERIALIZED (
      SELECT l.size, t.percent, @extschema@.neardup_matches_needed(l.size, (t.percent / 100.0)::float8) AS need
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
    index_options := concat('threshold = ', threshold);
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
CREATE FUNCTION neardup_check_edit_similarity(edit_similarity float8) RETURNS void LANGUAGE plpgsql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF edit_similarity IS NULL THEN
    RAISE EXCEPTION 'edit_similarity must not be NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF NOT (edit_similarity >= 0.5 AND edit_similarity <= 1) THEN
    RAISE EXCEPTION 'edit_similarity must be from 0.5 to 1: %', edit_similarity USING ERRCODE = 'invalid_parameter_value';
  END IF;
END $$;
COMMENT ON FUNCTION neardup_check_edit_similarity(float8) IS 'private: raises an error for an edit_similarity out of range';
CREATE OR REPLACE FUNCTION neardup_suggest(query text, labels text = NULL, edit_similarity float8 = 0.8)
  RETURNS TABLE (unit text, k int, threshold float8, num_perm int, bits int, index_options text, expected_recall float8,
                 expected_precision float8, bytes_per_row float8, signing_us float8, query_us float8, pairs bigint, note text)
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 18 SET jit = off AS $$
DECLARE
  s record;
  l record;
BEGIN
  PERFORM @extschema@.neardup_check_edit_similarity(edit_similarity);
  SELECT * INTO s FROM @extschema@.neardup_suggest_sample(query);
  SELECT NULL::pg_catalog.text[] AS la, NULL::pg_catalog.text[] AS lb, NULL::boolean[] AS ld INTO l;
  IF labels IS NOT NULL THEN SELECT * INTO l FROM @extschema@.neardup_suggest_labels(labels); END IF;
  RETURN QUERY SELECT f.* FROM @extschema@.neardup_suggest_of(s.ids, s.docs, s.total, s.empty_rows, s.cut, s.more, labels, l.la, l.lb, l.ld, edit_similarity) f;
END $$;

-- Who might call the functions that got another argument may call them now.
DO $do$
DECLARE
  f record;
  g record;
BEGIN
  FOR f IN SELECT v.signature, pg_catalog.current_setting(v.kept) AS acl
           FROM (VALUES ('neardup_update.create_profile', '@extschema@.create_profile(text, text, text, text, int, int, int, bigint, text, text, text, int, text)'),
                        ('neardup_update.alter_profile', '@extschema@.alter_profile(text, text, text, int, int, int, bigint, text, text, text, int, text)')) v(kept, signature)
  LOOP
    CONTINUE WHEN f.acl OPERATOR(pg_catalog.=) '';
    EXECUTE pg_catalog.format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f.signature);
    FOR g IN SELECT a.grantee, a.is_grantable FROM pg_catalog.aclexplode(f.acl::pg_catalog.aclitem[]) a
    LOOP
      EXECUTE pg_catalog.format('GRANT EXECUTE ON FUNCTION %s TO %s%s', f.signature,
        CASE WHEN g.grantee OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(g.grantee)) END,
        CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END);
    END LOOP;
  END LOOP;
END $do$;
