-- Signatures of shingles that begin with a stop word -----------------------------------------------------------------------

CREATE FUNCTION stopword_minhash(doc text, stopwords text[], following int = 2, num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'stopword_minhash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION stopword_minhash(text, text[], int, int, int, bigint) IS
  'MinHash signature of the set of stopword_shingles() of a document, as set_minhash() makes it. Example: SELECT stopword_minhash(''the cat sat on the mat by the door'', ARRAY[''the'', ''on''])';
CREATE FUNCTION stopword_minhash(doc text, dictionary regdictionary, following int = 2, num_perm int = 128, bits int = 32, seed bigint = 0)
  RETURNS minhash AS 'MODULE_PATHNAME', 'stopword_minhash_dictionary' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 3000;
COMMENT ON FUNCTION stopword_minhash(text, regdictionary, int, int, int, bigint) IS
  'MinHash signature of the set of stopword_shingles() of a document. The stop words are those of a text search dictionary. Example: SELECT stopword_minhash(''the cat sat on the mat by the door'', ''english_stem''::regdictionary)';
