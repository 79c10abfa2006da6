-- Word similarity from a corpus ----------------------------------------------------------------------------------------------
-- A word model is two tables of its owner: <name>, of type neardup_word, a row for each word; <name>_model, of type
-- neardup_word_model, the one row that says how it is made and how far it is.

CREATE FUNCTION word_similarities(query text, vocabulary int = 100000, k int = 50, "window" int = 3, by_position boolean = true,
    features int = NULL, stopwords text[] = NULL, dictionary regdictionary = NULL, context text = 'sentence', discount float8 = 0)
  RETURNS TABLE (word text, similar_word text, similarity float8, rank int)
  AS 'MODULE_PATHNAME', 'word_similarities' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000000;
COMMENT ON FUNCTION word_similarities(text, int, int, int, boolean, int, text[], regdictionary, text, float8) IS
  'The k most similar words of each of the most frequent words in the documents of a query, by the words near which they occur. Example: SELECT * FROM word_similarities(''SELECT body FROM docs'', vocabulary => 100, k => 3)';

CREATE TYPE neardup_word AS (id int, word text COLLATE "C", frequency bigint, weight bigint, features bytea,
  similar_ids int[], similarities float8[]);
COMMENT ON TYPE neardup_word IS
  'Word of a word model: a row of the table that create_word_model() creates. Example: SELECT word, frequency FROM docs_words ORDER BY id';

CREATE TYPE neardup_word_model AS (query text, vocabulary int, k int, "window" int, by_position boolean, features int,
  stopwords text[], dictionary text, context text,
  given boolean,          -- documents are text[]: words are as they were given
  words int,              -- that there are; NULL: not counted yet
  compared int,           -- words before this id have been compared with all before them
  started timestamptz, counted timestamptz, finished timestamptz,
  discount float8);       -- NULL: made by 0.1.0, without one
COMMENT ON TYPE neardup_word_model IS
  'Arguments and progress of a word model: the row of a table that create_word_model() creates. Example: SELECT * FROM docs_words_model';

CREATE FUNCTION neardup_internal.neardup_count_words(query text, vocabulary int, k int, "window" int,
    by_position boolean, features int, stopwords text[], dictionary regdictionary, context text, discount float8,
    OUT id int, OUT word text, OUT frequency bigint, OUT weight bigint, OUT features_of bytea)
  RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_internal.neardup_count_words(text, int, int, int, boolean, int, text[], regdictionary, text, float8) IS
  'private: the words of a word model with their features';
CREATE FUNCTION neardup_internal.neardup_similar_words(model regclass, words int, features int, k int, compared int,
    seconds float8, OUT id int, OUT similar_ids int[], OUT similarities float8[])
  RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_similar_words(regclass, int, int, int, int, float8) IS
  'private: compares further words of a word model for some seconds; all words so far with the most similar of them';
CREATE FUNCTION neardup_internal.neardup_row_similarity(a bytea, b bytea) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_internal.neardup_row_similarity(bytea, bytea) IS
  'private: similarity of two words by their stored features';
CREATE FUNCTION neardup_internal.neardup_folded_word(word text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_internal.neardup_folded_word(text) IS
  'private: the word as documents give it; NULL for what is not one word';

-- Making -------------------------------------------------------------------------------------------------------------

CREATE PROCEDURE create_word_model(name text, query text, vocabulary int = 100000, k int = 50, "window" int = 3,
    by_position boolean = true, features int = NULL, stopwords text[] = NULL, dictionary regdictionary = NULL,
    context text = 'sentence', discount float8 = 0, commit boolean = true, commit_every interval = '30 seconds')
  AS 'MODULE_PATHNAME', 'neardup_create_word_model' LANGUAGE C;
COMMENT ON PROCEDURE create_word_model(text, text, int, int, int, boolean, int, text[], regdictionary, text, float8, boolean, interval) IS
  'Creates a word model of the documents of a query. Commits after each stage and about every commit_every; after an interruption the same CALL continues where it stopped. Example: CALL create_word_model(''docs_words'', ''SELECT body FROM docs'')';

CREATE FUNCTION drop_word_model(name text) RETURNS void
  AS 'MODULE_PATHNAME', 'neardup_drop_word_model' LANGUAGE C;
COMMENT ON FUNCTION drop_word_model(text) IS 'Drops the tables of a word model, finished or not. Example: SELECT drop_word_model(''docs_words'')';

-- Using --------------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_internal.neardup_word_model_of(model regclass) RETURNS neardup_word_model
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_word_model_of(regclass) IS
  'private: settings of a word model that is finished';
CREATE FUNCTION neardup_internal.neardup_word_of(model regclass, word text, OUT features bytea,
    OUT similar_ids int[], OUT similarities float8[])
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_word_of(regclass, text) IS 'private: what a word model holds of a word';
CREATE FUNCTION neardup_internal.neardup_words_at(model regclass, ids int[]) RETURNS text[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_words_at(regclass, int[]) IS 'private: words of a word model by their ids';

CREATE FUNCTION word_similarity(model regclass, w1 text, w2 text) RETURNS float8 LANGUAGE plpgsql STABLE STRICT
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  given boolean := (neardup_internal.neardup_word_model_of(model)).given;
BEGIN
  RETURN neardup_internal.neardup_row_similarity(
    (neardup_internal.neardup_word_of(model,
       CASE WHEN given THEN w1 ELSE neardup_internal.neardup_folded_word(w1) END)).features,
    (neardup_internal.neardup_word_of(model,
       CASE WHEN given THEN w2 ELSE neardup_internal.neardup_folded_word(w2) END)).features);
END $$;
COMMENT ON FUNCTION word_similarity(regclass, text, text) IS
  'Similarity of two words of a word model, 0 to 1; NULL if the model lacks one of them, or if neither has a feature. Example: SELECT word_similarity(''docs_words'', ''river'', ''water'')';

CREATE FUNCTION neardup_internal.neardup_similar_to(model regclass, word text, k int, OUT similar_word text,
    OUT similarity float8, OUT rank int) RETURNS SETOF record
  LANGUAGE sql STABLE ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
  SELECT s.word, s.similarity, s.rank::int FROM neardup_internal.neardup_word_of(model, word) w,
    unnest(neardup_internal.neardup_words_at(model, w.similar_ids[1:k]), w.similarities[1:k])
      WITH ORDINALITY s(word, similarity, rank) ORDER BY s.rank
  $$;
COMMENT ON FUNCTION neardup_internal.neardup_similar_to(regclass, text, int) IS
  'private: the k most similar words of a word as it is stored';

CREATE FUNCTION similar_words(model regclass, word text, k int = 10) RETURNS TABLE (similar_word text, similarity float8, rank int)
LANGUAGE plpgsql STABLE STRICT ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  given boolean := (neardup_internal.neardup_word_model_of(model)).given;
BEGIN
  IF k NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'k must be 1 to 1000: %', k USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY SELECT s.similar_word, s.similarity, s.rank
    FROM neardup_internal.neardup_similar_to(model,
      CASE WHEN given THEN word ELSE neardup_internal.neardup_folded_word(word) END, k) s;
END $$;
COMMENT ON FUNCTION similar_words(regclass, text, int) IS
  'The k most similar words of a word; fewer if the word model keeps fewer. Example: SELECT * FROM similar_words(''docs_words'', ''river'', k => 5)';

CREATE FUNCTION expand_query(model regclass, query text, k int = 3)
  RETURNS TABLE (place int, word text, similar_word text, similarity float8) LANGUAGE plpgsql STABLE STRICT ROWS 20
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM neardup_internal.neardup_word_model_of(model);
  IF k NOT BETWEEN 0 AND 1000 THEN
    RAISE EXCEPTION 'k must be 0 to 1000: %', k USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY SELECT q.place::int, q.word, x.similar_word, x.similarity FROM @extschema@.shingles(query, 1) WITH ORDINALITY q(word, place)
    CROSS JOIN LATERAL (SELECT q.word AS similar_word, 1::float8 AS similarity, 0 AS rank UNION ALL
      SELECT s.similar_word, s.similarity, s.rank FROM neardup_internal.neardup_similar_to(model, q.word, k) s) x
    ORDER BY q.place, x.rank;
END $$;
COMMENT ON FUNCTION expand_query(regclass, text, int) IS
  'The words of a text in order, each followed by its k most similar words. Example: SELECT * FROM expand_query(''docs_words'', ''river water'', k => 3)';
