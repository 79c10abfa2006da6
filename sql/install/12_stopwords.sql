-- Lists of stop words, and shingles that begin with a stop word; their signature: 25_stopword_minhash.sql ------------------

CREATE FUNCTION neardup_stopwords(language text) RETURNS text[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_stopwords(text) IS
  'Stop words of english, ukrainian, russian, german, french or spanish, case-folded and in order. ISO 639 codes such as en are accepted. Example: SELECT neardup_stopwords(''english'')';

CREATE FUNCTION stopword_shingles(doc text, stopwords text[], following int = 2) RETURNS SETOF text
  AS 'MODULE_PATHNAME', 'stopword_shingles' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500 ROWS 200;
COMMENT ON FUNCTION stopword_shingles(text, text[], int) IS
  'Each stop word of a document with the words that follow it (2 by default), in order and with repetitions. Example: SELECT stopword_shingles(''the cat sat on the mat by the door'', ARRAY[''the'', ''on''])';
CREATE FUNCTION stopword_shingles(doc text, dictionary regdictionary, following int = 2) RETURNS SETOF text
  AS 'MODULE_PATHNAME', 'stopword_shingles_dictionary' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 2000 ROWS 200;
COMMENT ON FUNCTION stopword_shingles(text, regdictionary, int) IS
  'Each stop word of a document with the words that follow it (2 by default). The stop words are those of a text search dictionary. Example: SELECT stopword_shingles(''the cat sat on the mat by the door'', ''english_stem''::regdictionary)';
