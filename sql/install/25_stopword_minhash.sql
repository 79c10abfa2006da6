-- Signatures of shingles that begin with a stop word -----------------------------------------------------------------------

CREATE FUNCTION stopword_minhash(doc text, stopwords text[], following int = 2, num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'stopword_minhash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION stopword_minhash(text, text[], int, int, int, bigint) IS
  'signature of the set of a document''s stopword_shingles: that of set_minhash over them';
CREATE FUNCTION stopword_minhash(doc text, dictionary regdictionary, following int = 2, num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'stopword_minhash_dictionary' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 3000;
COMMENT ON FUNCTION stopword_minhash(text, regdictionary, int, int, int, bigint) IS
  'the same with the stop words of a text search dictionary';
