-- Lists of stop words, and shingles that begin with a stop word; their signature: 25_stopword_minhash.sql ------------------

CREATE FUNCTION neardup_stopwords(language text) RETURNS text[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION neardup_stopwords(text) IS
  'stop words of english, ukrainian, russian, german, french or spanish, folded and in order; ISO 639 codes are taken too';

CREATE FUNCTION stopword_shingles(doc text, stopwords text[], following int = 2) RETURNS SETOF text
  AS 'MODULE_PATHNAME', 'stopword_shingles' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500 ROWS 200;
COMMENT ON FUNCTION stopword_shingles(text, text[], int) IS
  'each stop word of a document with the words that follow it, in order and with repeats';
CREATE FUNCTION stopword_shingles(doc text, dictionary regdictionary, following int = 2) RETURNS SETOF text
  AS 'MODULE_PATHNAME', 'stopword_shingles_dictionary' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 2000 ROWS 200;
COMMENT ON FUNCTION stopword_shingles(text, regdictionary, int) IS 'the same with the stop words of a text search dictionary';
