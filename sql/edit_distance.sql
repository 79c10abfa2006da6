-- Edit distances of documents: exact, over code points or bytes, with a bound.
SELECT edit_distance('kitten', 'sitting'), edit_distance('', 'abc'), edit_distance('', ''), edit_distance('abc', 'abc');
SELECT edit_distance('naïve café', 'naive cafe'), edit_distance('漢字', '漢'), edit_distance('a', NULL);
SELECT edit_distance('\x00ff10'::bytea, '\x0010'::bytea), edit_distance('naïve'::bytea, 'naive'::bytea),
       edit_distance(''::bytea, '\x00'::bytea);
-- NULL above the bound, the distance up to it
SELECT d, edit_distance('kitten', 'sitting', d) FROM generate_series(0, 4) d;
SELECT edit_distance('kitten', 'sitting', max_distance => 3), edit_distance('same', 'same', 0), edit_distance('same', 'sane', 0);
-- Rates
SELECT edit_rate('kitten', 'sitting') = 3 / 13::float8, edit_rate('', ''), edit_rate('abc', ''), edit_rate('a', 'b');
SELECT edit_rate('kitten', 'sitting', 3 / 13::float8) = 3 / 13::float8, edit_rate('kitten', 'sitting', 0.23),
       edit_rate('ab'::bytea, 'b'::bytea), edit_rate('ab'::bytea, 'b'::bytea, 0.3);
-- Long ones: edits of a text, by construction at most so far from it
WITH doc AS (SELECT string_agg(md5(i::text), ' ') AS a FROM generate_series(1, 300) i)
SELECT edit_distance(a, replace(a, '7', '')) = length(a) - length(replace(a, '7', '')) AS deleted,
       edit_distance(a, overlay(a placing 'XYZ' from 5000 for 3)) AS replaced,
       edit_distance(a, substr(a, 2) || 'é') AS shifted,
       edit_distance(a, reverse(a), 100) IS NULL AS far,
       edit_distance(a, reverse(a)) = edit_distance(reverse(a), a) AS symmetric
  FROM doc;
-- Errors
SELECT edit_distance('a', 'b', -1);
SELECT edit_rate('a', 'b', -0.1);
SELECT edit_rate('a', 'b', 1.5);
SELECT edit_rate('a', 'b', 'NaN');
