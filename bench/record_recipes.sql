-- Recipes of docs/records.md for public data sets with known matches (files of pyJedAI and febrl): how records of each are found.
-- test/t/330_records.py runs them on the data and requires the F1 of the page, choosing_bench.py measures them. A recipe begins with its name.

-- The files' columns.
CREATE TABLE rest1 (id int PRIMARY KEY, name text, phone_number text, street text);
CREATE TABLE rest2 (LIKE rest1 INCLUDING ALL);
CREATE TABLE dblp (id int PRIMARY KEY, title text, authors text, venue text, year text);
CREATE TABLE acm (LIKE dblp INCLUDING ALL);
CREATE TABLE cora (id int PRIMARY KEY, address text, author text, editor text, institution text, month text, note text,
                   pages text, publisher text, title text, venue text, volume text, year text);
CREATE TABLE abt (id int PRIMARY KEY, name text, description text, price text);
CREATE TABLE buy (LIKE abt INCLUDING ALL);
CREATE TABLE febrl3 (rec_id text PRIMARY KEY, given_name text, surname text, street_number text, address_1 text,
                     address_2 text, suburb text, postcode text, state text, date_of_birth text, soc_sec_id text);
CREATE TABLE febrl4a (LIKE febrl3 INCLUDING ALL);
CREATE TABLE febrl4b (LIKE febrl3 INCLUDING ALL);

-- restaurants
-- Names have additions ("the palm", "palm the (los angeles)"), therefore the telephone has the same weight: 130 of 200 points require one of both
-- completely and a part of the other. A restaurant has one counterpart: a pair must be the best of both its rows.
CREATE TABLE restaurant_links AS
SELECT id_a, id_b FROM (
  SELECT id_a, id_b, row_number() OVER (PARTITION BY id_a ORDER BY score DESC, id_b) AS of_a,
         row_number() OVER (PARTITION BY id_b ORDER BY score DESC, id_a) AS of_b
    FROM (SELECT id_a, id_b, neardup_text_score(a.name, b.name)
                   + neardup_text_score(regexp_replace(a.phone_number, '\D', '', 'g'), regexp_replace(b.phone_number, '\D', '', 'g')) AS score
            FROM blocked_pairs($$ SELECT id, regexp_replace(phone_number, '\D', '', 'g'), left(phone_number, 3) || left(name, 6) FROM rest1 $$,
                               $$ SELECT id, regexp_replace(phone_number, '\D', '', 'g'), left(phone_number, 3) || left(name, 6) FROM rest2 $$) p
            JOIN rest1 a ON a.id = id_a JOIN rest2 b ON b.id = id_b) s
   WHERE score >= 130) r
 WHERE of_a = 1 AND of_b = 1;

-- papers
-- Titles agree except for case and a note at the end. Titles such as "Book Review Column" are frequent: the year must be the same, too.
CREATE TABLE paper_links AS
SELECT id_a, id_b
  FROM blocked_pairs($$ SELECT id, left(t, 16), right(t, 16) FROM dblp, regexp_replace(lower(title), '[^a-z0-9]', '', 'g') t $$,
                     $$ SELECT id, left(t, 16), right(t, 16) FROM acm, regexp_replace(lower(title), '[^a-z0-9]', '', 'g') t $$) p
  JOIN dblp a ON a.id = id_a JOIN acm b ON b.id = id_b
 WHERE a.year = b.year AND neardup_text_score(a.title, b.title) >= 80 AND neardup_text_score(a.authors, b.authors) >= 50;

-- people, two files
-- Five scores; a missing field counts 50, and a mean of 60 is more for than against.
CREATE FUNCTION people_score(a febrl3, b febrl3) RETURNS float8 LANGUAGE sql STABLE RETURN (
  coalesce(neardup_text_score(concat_ws(' ', a.given_name, a.surname), concat_ws(' ', b.given_name, b.surname)), 50)
  + coalesce(neardup_text_score(concat_ws(' ', a.street_number, a.address_1, a.address_2),
                                concat_ws(' ', b.street_number, b.address_1, b.address_2)), 50)
  + coalesce(neardup_text_score(concat_ws(' ', a.suburb, a.postcode, a.state), concat_ws(' ', b.suburb, b.postcode, b.state)), 50)
  + coalesce(neardup_text_score(a.date_of_birth, b.date_of_birth), 50)
  + coalesce(neardup_text_score(a.soc_sec_id, b.soc_sec_id), 50)) / 5.0;
CREATE TABLE people_links AS
SELECT id_a, id_b
  FROM blocked_pairs($$ SELECT rec_id, given_name || surname, surname || postcode, date_of_birth, soc_sec_id,
                               address_1 || street_number, address_2 || suburb FROM febrl4a $$,
                     $$ SELECT rec_id, given_name || surname, surname || postcode, date_of_birth, soc_sec_id,
                               address_1 || street_number, address_2 || suburb FROM febrl4b $$, id => NULL::text) p
  JOIN febrl4a a ON a.rec_id = id_a JOIN febrl4b b ON b.rec_id = id_b
 WHERE people_score(ROW(a.*)::febrl3, ROW(b.*)::febrl3) >= 60;

-- people, one file
CREATE TABLE people_pairs AS
SELECT id_a, id_b
  FROM blocked_pairs($$ SELECT rec_id, given_name || surname, surname || postcode, date_of_birth, soc_sec_id,
                               address_1 || street_number, address_2 || suburb FROM febrl3 $$, id => NULL::text) p
  JOIN febrl3 a ON a.rec_id = id_a JOIN febrl3 b ON b.rec_id = id_b
 WHERE people_score(a, b) >= 60;

-- citations
-- Papers that appeared in several places count as different: besides title and author, the year, the venue or the pages must agree. The pairs are
-- then closed transitively.
CREATE TABLE citations AS
SELECT id, author, title, venue, pages, regexp_replace(title, '[^a-z]', '', 'g') AS letters,
       (regexp_match(concat_ws(' ', year, venue, note, title, author), '(?:19|20)\d\d'))[1] AS year FROM cora;
ANALYZE citations;
CREATE TABLE citation_pairs AS
SELECT id_a, id_b
  FROM blocked_pairs($$ SELECT id, left(letters, 10), substr(letters, 11, 10), right(letters, 10),
                               left(regexp_replace(author, '[^a-z]', '', 'g'), 10) FROM citations $$) p
  JOIN citations a ON a.id = id_a JOIN citations b ON b.id = id_b
 WHERE neardup_text_score(a.title, b.title) >= 60 AND neardup_text_score(a.author, b.author) >= 50
   AND (a.year = b.year OR neardup_text_score(a.venue, b.venue) >= 60 OR neardup_text_score(a.pages, b.pages) >= 60);
CREATE TABLE citation_clusters AS SELECT id, id AS cluster FROM citations;
DO $$ DECLARE changed int; BEGIN
  LOOP
    UPDATE citation_clusters c SET cluster = least_one FROM (
      SELECT id, min(cluster) AS least_one FROM (
        SELECT id_a AS id, cluster FROM citation_pairs JOIN citation_clusters ON id = id_b
        UNION ALL SELECT id_b, cluster FROM citation_pairs JOIN citation_clusters ON id = id_a) n GROUP BY id) m
     WHERE m.id = c.id AND least_one < cluster;
    GET DIAGNOSTICS changed = ROW_COUNT;
    EXIT WHEN changed = 0;
  END LOOP;
END $$;
CREATE TABLE citation_links AS
SELECT a.id AS id_a, b.id AS id_b FROM citation_clusters a JOIN citation_clusters b ON a.cluster = b.cluster AND a.id < b.id;

-- products
-- Words are the keys, each with its own id; a word in more than 100 rows of a shop makes no candidates. Rare words have a higher weight (cosine of
-- tf-idf vectors), and a product has one counterpart.
CREATE TABLE product_words AS
SELECT row_number() OVER () AS n, shop, id, word FROM (
  SELECT DISTINCT shop, id, word
    FROM (SELECT 'abt' AS shop, id, name FROM abt UNION ALL SELECT 'buy', id, name FROM buy) p,
         regexp_split_to_table(regexp_replace(lower(name), '(?<=\w)[-/.](?=\w)', '', 'g'), '\W+') word WHERE word <> '') w;
ANALYZE product_words;
CREATE TABLE word_weights AS
SELECT word, ln((SELECT count(DISTINCT (shop, id)) FROM product_words)::float8 / count(*)) AS weight FROM product_words GROUP BY word;
CREATE TABLE product_links AS
WITH norms AS (SELECT shop, id, sqrt(sum(weight ^ 2)) AS norm FROM product_words JOIN word_weights USING (word) GROUP BY 1, 2),
     pairs AS (SELECT a.id AS id_a, b.id AS id_b, sum(weight ^ 2) AS shared
                 FROM blocked_pairs($$ SELECT n, word FROM product_words WHERE shop = 'abt' $$,
                                    $$ SELECT n, word FROM product_words WHERE shop = 'buy' $$, max_block => 100) p
                 JOIN product_words a ON a.n = p.id_a JOIN product_words b ON b.n = p.id_b
                 JOIN word_weights w ON w.word = a.word GROUP BY 1, 2),
     scored AS (SELECT id_a, id_b, shared / (x.norm * y.norm) AS cosine FROM pairs
                  JOIN norms x ON x.shop = 'abt' AND x.id = id_a JOIN norms y ON y.shop = 'buy' AND y.id = id_b)
SELECT id_a, id_b FROM (SELECT id_a, id_b, row_number() OVER (PARTITION BY id_a ORDER BY cosine DESC, id_b) AS of_a,
                               row_number() OVER (PARTITION BY id_b ORDER BY cosine DESC, id_a) AS of_b FROM scored) r
 WHERE of_a = 1 AND of_b = 1;
