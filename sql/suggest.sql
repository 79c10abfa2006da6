-- neardup_s_curve, neardup_suggest: lines, columns, errors. The proposals: test/t/220_suggest.py.
\set SHOW_CONTEXT never
SELECT neardup_s_curve(0.8, 256);
SELECT neardup_s_curve(0.9, 128, 9, 13);
SELECT neardup_s_curve(80);
SELECT neardup_s_curve(0.8, 5000);
SELECT neardup_s_curve(0.8, bands => 16);
SELECT neardup_s_curve(0.8, 128, 32, 8);
SELECT neardup_s_curve(NULL);
-- Families of three of which two words in fifty differ
CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs SELECT f * 3 + v, (SELECT string_agg(CASE WHEN w IN (10 * v, 10 * v + 1) THEN 'changed' ELSE md5((f * 100 + w)::text) END, ' ' ORDER BY w) FROM generate_series(0, 49) w)
  FROM generate_series(1, 20) f, generate_series(0, 2) v;
INSERT INTO docs VALUES (1, NULL), (2, ''), (300, (SELECT body FROM docs WHERE id = 3));
SELECT count(*), bool_and(unit IN ('word', 'char') AND bits = 16 AND index_options = 'threshold = ' || threshold),
  bool_and(bytes_per_row > 0 AND signing_us > 0), bool_and(pairs = 60) FROM neardup_suggest('TABLE docs');
SELECT expected_recall, expected_precision, note FROM neardup_suggest('SELECT id, body FROM docs;') LIMIT 2;
-- With standard_conforming_strings = off, backslashes are escapes; PostgreSQL 19 no longer supports it.
SELECT current_setting('server_version_num')::int < 190000 AS has_escapes \gset
\if :has_escapes
SET standard_conforming_strings = off;
\endif
SELECT count(*) > 0 AS reads FROM neardup_suggest('SELECT id, body FROM docs; -- all of them');
RESET standard_conforming_strings;
SELECT count(*) > 0 AS reads FROM neardup_suggest('SELECT id, body || '' ; -- not a comment'' FROM docs ;; -- a comment');
SELECT note FROM neardup_suggest('TABLE docs', 'VALUES (3, 4, true), (3, 6, false), (3, 5000, true)') LIMIT 1;
SELECT note ~ 'long documents of which only 100000 characters were looked at: 1' AS told
  FROM neardup_suggest('SELECT id, CASE id WHEN 300 THEN repeat(body || '' '', 100) ELSE body END FROM docs') LIMIT 1;
-- The default is always there, and an interval of the precision
SELECT unit, k, threshold, num_perm, precision_low < precision_high AS between FROM neardup_suggest('TABLE docs') WHERE is_default;
-- Pairs to judge: a report with other numbers is no duplicate, a story with a signature is one
CREATE TABLE reports AS
  SELECT id, format('Balances at the bank rose to %s billion on day %s, after %s billion on the day before. Notes %s%s%s', id * 7, id, id * 7 - 3, chr(97 + id), chr(105 + id), chr(113 + id)) AS body
  FROM generate_series(1, 6) id
  UNION ALL
  SELECT 10 * version + id, format('Remark %s of the bank on its own account, which is repeated word for word by another paper.%s', chr(96 + id), CASE version WHEN 2 THEN ' Reuter' END)
  FROM generate_series(1, 2) id, generate_series(1, 2) version;
SELECT unit, k, threshold, is_default, id_a, id_b, similarity, is_duplicate, difference FROM neardup_suggest_examples('TABLE reports') WHERE is_default;
SELECT note FROM neardup_suggest('TABLE reports', $$SELECT id_a, id_b, is_duplicate FROM neardup_suggest_examples('TABLE reports') WHERE is_default$$) LIMIT 1;
SELECT count(*) FROM neardup_suggest_examples('SELECT id FROM docs');
SELECT count(*) FROM neardup_suggest_examples('TABLE docs', edit_similarity => 2);
SELECT count(*) FROM neardup_suggest_examples(NULL);
DROP TABLE reports;
SELECT count(*) FROM neardup_suggest('SELECT id FROM docs');
SELECT count(*) FROM neardup_suggest('SELECT id, id FROM docs');
SELECT count(*) FROM neardup_suggest('SELECT id, body FROM docs WHERE false');
SELECT count(*) FROM neardup_suggest('SELECT id / 2, body FROM docs WHERE id < 10');
SELECT count(*) FROM neardup_suggest('SELECT id, body FROM docs WHERE id % 3 = 0 AND id < 300');
SELECT count(*) FROM neardup_suggest('DELETE FROM docs RETURNING id, body');
SELECT count(*) FROM neardup_suggest('TABLE docs', 'SELECT 3, 4');
SELECT count(*) FROM neardup_suggest('TABLE docs', 'SELECT 3, 4, ''yes''::text');
SELECT count(*) FROM neardup_suggest('TABLE docs', 'SELECT 3, 4000, true');
SELECT count(*) FROM neardup_suggest('TABLE docs', edit_similarity => 0.3);
DROP TABLE docs;
