-- I-Match: one hash of the words that tell documents apart -----------------------------------------------------------------

CREATE FUNCTION neardup_internal.neardup_term_counts(query text, OUT term text, OUT documents bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_internal.neardup_term_counts(text) IS
  'private: documents of a query that hold each word, in parts that add up; term NULL: how many documents there are';

CREATE FUNCTION create_lexicon(name text, query text) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_create_lexicon' LANGUAGE C;
COMMENT ON FUNCTION create_lexicon(text, text) IS
  'Creates a table of the words in the documents of a query, with the document frequency and the idf of each; returns the number of words. Example: SELECT create_lexicon(''docs_lexicon'', ''SELECT body FROM docs'')';

CREATE FUNCTION i_match(doc text, lexicon regclass, low float8 = 0.2, high float8 = 0.9) RETURNS uuid
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 500;
COMMENT ON FUNCTION i_match(text, regclass, float8, float8) IS
  'Fingerprint of the words of a document whose normalized idf in a lexicon is from low to high; NULL if there is no such word. Example: SELECT i_match(body, ''docs_lexicon'') FROM docs';

CREATE FUNCTION i_match_bag(doc text, lexicon regclass, variants int = 8, low float8 = 0.2, high float8 = 0.9, share float8 = 0.67)
  RETURNS uuid[] AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 800;
COMMENT ON FUNCTION i_match_bag(text, regclass, int, float8, float8, float8) IS
  'Returns i_match() and the fingerprints for several parts of the lexicon, each with that share of its words. Near duplicates have overlapping arrays (&&). Example: SELECT i_match_bag(body, ''docs_lexicon'', variants => 8) FROM docs';
