-- Shingles that begin with a stop word, their signature, lists of stop words.
SELECT * FROM stopword_shingles('I recommend that you buy Ariel for your laundry', neardup_stopwords('english'));
SELECT count(*) FROM stopword_shingles('Buy Ariel', neardup_stopwords('english'));
SELECT stopword_minhash('Buy Ariel', neardup_stopwords('english')) = set_minhash('{}'::text[]) AS is_empty;
SELECT * FROM stopword_shingles('I recommend that you buy Ariel for your laundry', ARRAY['FOR', 'That'], 1);
-- A stop word with too few words behind it begins none.
SELECT * FROM stopword_shingles('for the', ARRAY['for', 'the'], 1);
SELECT count(*) FROM stopword_shingles('for the', ARRAY['for', 'the']);
SELECT count(*) FROM stopword_shingles('', ARRAY['a']);
SELECT count(*) FROM stopword_shingles(NULL, ARRAY['a']);
SELECT * FROM stopword_shingles('Прийшов на дах, на дах', neardup_stopwords('uk'), 1);
SELECT * FROM stopword_shingles('die Straße und DIE STRASSE', ARRAY['Die'], 1);
-- Stop words of a text search dictionary
SELECT * FROM stopword_shingles('I recommend that you buy Ariel for your laundry', 'english_stem'::regdictionary);
SELECT count(*) FROM stopword_shingles('I recommend that you buy Ariel for your laundry', 'simple'::regdictionary);
SELECT * FROM stopword_shingles('Кот лежит на крыше дома', 'russian_stem'::regdictionary);
SELECT stopword_minhash('I recommend that you buy Ariel', 'english_stem'::regdictionary)
     = set_minhash(ARRAY(SELECT stopword_shingles('I recommend that you buy Ariel', 'english_stem'::regdictionary))) AS same;
-- The signature is that of the set, whatever the parameters.
SELECT bool_and(stopword_minhash(doc, neardup_stopwords('en'), f, p, b, s)
              = set_minhash(ARRAY(SELECT stopword_shingles(doc, neardup_stopwords('en'), f)), p, b, s)) AS same, count(*)
FROM (VALUES ('I recommend that you buy Ariel for your laundry'), ('Buy Ariel'), ('The cat sat on the mat. The cat sat on the mat, and so on.')) d(doc),
     generate_series(1, 16) f, (VALUES (16), (128)) n(p), (VALUES (8), (16), (32)) w(b), (VALUES (0::bigint), (-5)) r(s);
-- Arguments that change from row to row
SELECT string_agg(stopword_shingles, ', ' ORDER BY stopword_shingles)
FROM (VALUES (ARRAY['a']), (ARRAY['b']), (ARRAY['a', 'b'])) v(words), stopword_shingles('a b c d', v.words, 1);
SELECT stopword_minhash('a b c d', words, 1) = set_minhash(ARRAY(SELECT stopword_shingles('a b c d', words, 1))) AS same
FROM (VALUES (ARRAY['a']), (ARRAY['b']), (ARRAY['b']), (ARRAY['a', 'b'])) v(words);
-- Lists
SELECT language, cardinality(neardup_stopwords(language)), (neardup_stopwords(language))[1:4]
FROM unnest(ARRAY['english', 'ukrainian', 'russian', 'german', 'french', 'spanish']) language;
SELECT neardup_stopwords('English') = neardup_stopwords('en') AND neardup_stopwords('UK') = neardup_stopwords('ukr')
   AND neardup_stopwords('ger') = neardup_stopwords('de') AS same;
-- Every word is one that documents can hold.
SELECT language, w FROM unnest(ARRAY['en', 'uk', 'ru', 'de', 'fr', 'es']) language, unnest(neardup_stopwords(language)) w
WHERE ARRAY(SELECT shingles(w, 1)) <> ARRAY[w];
-- Errors
SELECT neardup_stopwords('klingon');
SELECT neardup_stopwords('');
SELECT stopword_shingles('a b c', '{}'::text[]);
SELECT stopword_shingles('a b c', ARRAY['a', NULL]);
SELECT stopword_shingles('a b c', ARRAY['a', 'in front of']);
SELECT stopword_shingles('a b c', ARRAY['']);
SELECT stopword_shingles('a b c', ARRAY['don''t']);
SELECT stopword_shingles('a b c', ARRAY['a'], 0);
SELECT stopword_shingles('a b c', ARRAY['a'], 17);
SELECT stopword_shingles('a b c', 'no_such'::regdictionary);
SELECT stopword_shingles('a b c', 1::oid::regdictionary);
SELECT stopword_shingles('a b c', 'english_stem'::regdictionary, 0);
SELECT stopword_minhash('a b c', '{}'::text[]);
SELECT stopword_minhash('a b c', ARRAY[NULL]::text[]);
SELECT stopword_minhash('a b c', ARRAY['a'], 17);
SELECT stopword_minhash('a b c', ARRAY['a'], 2, 15);
SELECT stopword_minhash('a b c', ARRAY['a'], 2, 128, 12);
SELECT stopword_minhash('a b c', 'english_stem'::regdictionary, 17);
-- A set that could not be read is not kept.
DO $$
DECLARE
  words text[];
  message text;
BEGIN
  FOREACH words SLICE 1 IN ARRAY ARRAY[ARRAY['a'], ARRAY['x y'], ARRAY['a'], ARRAY['x y']] LOOP
    BEGIN
      RAISE NOTICE '%', set_size(stopword_minhash('a b c a d e', words));
    EXCEPTION WHEN invalid_parameter_value THEN
      GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
      RAISE NOTICE '%', message;
    END;
  END LOOP;
END $$;
