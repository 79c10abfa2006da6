-- Text intake: what needs no optional library. Its other parts: test/t/200_intake.py.
-- Encodings by name
SELECT neardup_to_utf8('\xc4e3bac3cac0bde7', 'gb2312'), neardup_to_utf8('\xa741a66ea540acc9', 'Big5'),
       neardup_to_utf8('\x82b182f182c982bf82cd', 'shift_jis'), neardup_to_utf8('\xcff0e8e2e5f2', 'windows-1251'),
       neardup_to_utf8('\x636166e9', 'iso-8859-1'), neardup_to_utf8('\xf0d2c9d7c5d4', 'koi8-r');
SELECT neardup_to_utf8('\x2d4e8765', 'utf-16le'), neardup_to_utf8('\x4e2d6587', 'UTF_16BE'),
       neardup_to_utf8('\xfeff4e2d', 'utf16'), neardup_to_utf8('\xfffe2d4e', 'utf16'), neardup_to_utf8('\x61006200', 'utf16'),
       neardup_to_utf8('\x0000004100000042', 'utf-32'), neardup_to_utf8('\xefbbbf41', 'utf8'), neardup_to_utf8('', 'gbk');
SELECT neardup_to_utf8(NULL, 'utf8'), neardup_to_utf8(NULL);
-- Detection of Unicode
SELECT d, e.encoding, round(e.confidence::numeric, 2) AS confidence FROM (VALUES ('\x'::bytea), ('plain'), ('\xe4b8ade69687e4b8ade69687'), ('\xefbbbf41'), ('\xfffe4100'), ('\x41004200430044002e00'),
    ('\x00410042004300440020'), ('\x4100000042000000'), ('\x1b2442467c4b5c1b2842'), ('a ~{<:Ky2;Sc~} b')) v(d), neardup_detect_encoding(d) e;
SELECT neardup_to_utf8('\xfffe2d4e8765'), neardup_to_utf8('\xefbbbfe4b8ad'), neardup_to_utf8('caf\303\251');
-- A control byte does not make Chinese of ASCII and UTF-8.
SELECT to_json(neardup_to_utf8(d)), e.encoding, round(e.confidence::numeric, 2) AS confidence
  FROM (VALUES ('build done'::bytea || '\x070a'), ('dir c:' || '\x0d0a1a'::bytea), ('1' || '\x01'::bytea || 'foo bar' || '\x01'::bytea || '2021-03-04'), ('caf\303\251 noir' || '\x08'::bytea)) v(d),
       neardup_detect_encoding(d) e;
-- The byte order of UTF-16 and UTF-32 without a mark, by name and detected
SELECT neardup_to_utf8('\x0000a9b20000a9a4', 'UTF-32'), neardup_to_utf8('\x179817931794179f179f', 'UTF-16'), neardup_to_utf8('\x9817931794179f179f17', 'UTF-16'),
       neardup_to_utf8('\x13a313cf13f2', 'UTF-16'), neardup_to_utf8('\x0f160f7c0f510f0b0f610f72', 'UTF-16');
SELECT neardup_to_utf8('\x480065006c006c006f0020003dd800de2c00200068006f0077002000610072006500200079006f0075003f00') = 'Hello 😀, how are you?' AS same;
-- Encodings that are read as another one where nothing is weighed: KOI8U as KOI8R, Big5-HKSCS as WIN1251, broken UTF-8 as BIG5
SELECT encoding FROM (VALUES (1, convert_to('привіт, їжак і ґанок', 'KOI8U')), (2, '\xa7da925d9defbc73aa46b8dcab59a66e9defa1419df6adbbb4e49defa448b3a3c3d1c1bfa143'),
    (3, convert_to('人人生而自由，', 'UTF8') || '\xe59ca8e5b08a' || convert_to('嚴和權利', 'UTF8') || '\xe4b88a20'::bytea || convert_to('一律平等。', 'UTF8') || '\xe4bb')) v(i, d),
    neardup_detect_encoding(d) ORDER BY i;
SELECT encoding, confidence < 0.95 AS doubtful, dropped FROM neardup_decode('\xa7da925d9defbc73aa46b8dcab59a66e9defa1419df6adbbb4e49defa448b3a3c3d1c1bfa143');
-- Broken characters
SELECT neardup_to_utf8('\x61e4b862', 'utf8');
SELECT neardup_to_utf8('\x61e4b862', 'utf8', 'drop'), neardup_to_utf8('\xc4e3bac3ff20', 'gbk', 'drop'), neardup_to_utf8('\x610000d86200', 'utf16le', 'drop');
SELECT neardup_to_utf8('\x610062', 'latin1');
SELECT neardup_to_utf8('\x610062', 'latin1', 'drop');
SELECT neardup_to_utf8('\xc4e3ba', 'gb18030');
SELECT neardup_to_utf8('\x6181', 'win1252');
SELECT neardup_to_utf8('\x00d8', 'utf-16le');
SELECT * FROM neardup_decode('\xefbbbf61e4b862ff63');
SELECT * FROM neardup_decode('\xc4e3bac3ff', 'gb2312');
SELECT * FROM neardup_decode('\x1b2442467c4b5c1b2842');
SELECT * FROM neardup_decode(NULL);
-- Names that are refused
SELECT neardup_to_utf8('a', 'HZ');
SELECT neardup_to_utf8('a', 'iso-2022-jp');
SELECT neardup_to_utf8('a', 'tcvn');
SELECT neardup_decode('a', 'viqr');
SELECT neardup_decode('a', 'VPS');
SELECT neardup_to_utf8('a', 'sql_ascii');
SELECT neardup_to_utf8('a', 'no such thing');
SELECT neardup_to_utf8('\x1b2442467c4b5c1b2842');
SELECT neardup_to_utf8('a', 'utf8', 'ignore');
-- Named encodings may stand in generated columns and indexes.
CREATE TABLE intake_raw (raw bytea, body text GENERATED ALWAYS AS (neardup_to_utf8(raw, 'GB18030', 'drop')) STORED);
INSERT INTO intake_raw VALUES ('\xc4e3bac3');
SELECT body FROM intake_raw;
DROP TABLE intake_raw;
-- Titles
SELECT neardup_title(f) FROM unnest(ARRAY['/srv/a/My_Book-(v2).txt.gz', '[site]红楼梦(完结)_副本.txt', 'War%20and%20Peace.html', '(1).txt', '']) f;
-- The built-in rules are rows of a type of which tables can be made.
SELECT count(*) > 10 AS many, bool_and(kind IN ('line', 'block', 'text', 'head', 'tail')) AS kinds, count(DISTINCT name) = count(*) AS names
  FROM neardup_default_rules();
SELECT name, kind, replacement, position FROM neardup_default_rules() WHERE name = 'blank-lines';
CREATE TABLE intake_rules OF neardup_rule;
INSERT INTO intake_rules VALUES ('mine', 'line', 'x', NULL, 5);
SELECT count(*) - (SELECT count(*) FROM neardup_default_rules()) AS more
  FROM unnest(ARRAY(SELECT r FROM neardup_default_rules() r) || ARRAY(SELECT r::neardup_rule FROM intake_rules r));
DROP TABLE intake_rules;
-- Measures of a text; kept and score need RE2.
SELECT length, letters, round(repetition::numeric, 3) AS repetition
  FROM unnest(ARRAY['', 'Some words.', E'one\ntwo\none\n', '床前明月光，疑是地上霜。']) t, neardup_text_quality(t);
SELECT neardup_clean(NULL), neardup_text_quality(NULL), neardup_to_simplified(NULL), neardup_to_traditional(NULL), neardup_title(NULL);
