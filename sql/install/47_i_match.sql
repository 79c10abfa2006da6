-- I-Match: one hash of the words that tell documents apart -----------------------------------------------------------------

CREATE FUNCTION neardup_term_counts(query text, OUT term text, OUT documents bigint) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_term_counts(text) IS
  'private: documents of a query that hold each word, in parts that add up; term NULL: how many documents there are';

-- Of schema.name, after an error that it exists already, which may have come of a type. CREATE TABLE waits for another session that takes the
-- name, and ends in an error of a catalog; to_regclass() then still gives what the cache holds, until a relation is locked: here by asking for its size.
CREATE FUNCTION neardup_made_meanwhile(relation text) RETURNS boolean LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT count(pg_relation_size(c.oid)) > 0 FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
  WHERE s.nspname = (parse_ident(relation))[1] AND c.relname = (parse_ident(relation))[2]
  $$;
COMMENT ON FUNCTION neardup_made_meanwhile(text) IS 'private: whether there is a relation of this name by now';

CREATE FUNCTION create_lexicon(name text, query text) RETURNS bigint
  AS 'MODULE_PATHNAME', 'neardup_create_lexicon' LANGUAGE C;
COMMENT ON FUNCTION create_lexicon(text, text) IS
  'makes a table of the words of a query''s documents: how many documents hold each, and its idf; returns how many words';

CREATE FUNCTION i_match(doc text, lexicon regclass, low float8 = 0.2, high float8 = 0.9) RETURNS uuid
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 500;
COMMENT ON FUNCTION i_match(text, regclass, float8, float8) IS
  'fingerprint of the words of a document whose normalised idf is from low to high; NULL where there is none';

CREATE FUNCTION i_match_bag(doc text, lexicon regclass, variants int = 8, low float8 = 0.2, high float8 = 0.9, share float8 = 0.67)
  RETURNS uuid[] AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 800;
COMMENT ON FUNCTION i_match_bag(text, regclass, int, float8, float8, float8) IS
  'i_match, and fingerprints under variants of the lexicon that keep that share of it: documents whose arrays overlap are near';
