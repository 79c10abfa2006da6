-- Exact and partial copies: Karp-Rabin fingerprints, winnowing, shared passages, copied shares. The numbers are frozen.
SELECT karp_rabin('') AS none, karp_rabin('a') AS a, karp_rabin('ab') AS ab,
       karp_rabin('The quick brown fox jumps over the lazy dog') AS fox;
SELECT karp_rabin('\x'::bytea) AS none, karp_rabin('\x00'::bytea) AS nul, karp_rabin('\x0000'::bytea) AS nuls,
       karp_rabin('\xff00ff'::bytea) AS bytes, karp_rabin('naïve 漢字') = karp_rabin(convert_to('naïve 漢字', 'UTF8')) AS utf8;
SELECT karp_rabin(repeat('0123456789', 1000)) AS long, karp_rabin(NULL::text), karp_rabin(NULL::bytea);
-- The law of concatenation
SELECT count(*), bool_and(karp_rabin(a || b) = karp_rabin_concat(karp_rabin(a), karp_rabin(b), octet_length(b)))
  FROM (SELECT repeat(md5(i::text), i % 7) AS a, left(repeat('é' || i, 40), i) AS b FROM generate_series(0, 99) i) x;
SELECT karp_rabin_concat(0, 0, 0), karp_rabin_concat(karp_rabin('ab'), 0, 0) = karp_rabin('ab') AS nothing_behind,
       karp_rabin_concat(2305843009213693950, 2305843009213693950, 9223372036854775807), karp_rabin_concat(1, NULL, 1);
-- The law of sliding: every window is the fingerprint of its substring
SELECT * FROM rolling_fingerprints('héllo', 3);
SELECT count(*), min(position), max(position), bool_and(fingerprint = karp_rabin(substr(d, position, w)))
  FROM (SELECT string_agg(chr(97 + i * i % 7) || chr(8364 + i % 3), '' ORDER BY i) AS d FROM generate_series(1, 200) i) x,
       (VALUES (1), (2), (50), (399), (400), (401)) y(w), rolling_fingerprints(d, w) GROUP BY w ORDER BY w;
SELECT count(*), bool_and(fingerprint = karp_rabin(substr(d, position, 50)))
  FROM (SELECT decode(repeat(md5('bytes'), 10), 'hex') AS d) x, rolling_fingerprints(d);
SELECT (SELECT count(*) FROM rolling_fingerprints('short')) AS short, (SELECT count(*) FROM rolling_fingerprints('', 1)) AS empty,
       (SELECT count(*) FROM rolling_fingerprints(NULL::text, 1)) AS unknown;
SELECT count(*) FROM rolling_fingerprints('any', "window" => 2147483647);
-- Winnowing: some of the shingle hashes, where they stand
SELECT *, substr(doc, position, 15) FROM (VALUES ('The quick brown fox jumps over the lazy dog')) d(doc), winnow_fingerprints(doc, 2, 3);
SELECT * FROM winnow_fingerprints('naïve 漢字 and so on', 3, 4, 'char');
SELECT * FROM winnow_fingerprints('\x00010203040506070809'::bytea, 2, 4);
SELECT (SELECT array_agg(fingerprint) FROM winnow_fingerprints(doc, 5, 1)) = (SELECT array_agg(h) FROM shingle_hashes(doc, 5) h) AS all_of_them
  FROM (SELECT 'One two, three! four five six seven two three four' AS doc) d;
SELECT count(*), count(DISTINCT fingerprint), count(*) FILTER (WHERE fingerprint NOT IN (SELECT shingle_hashes(doc, 5)))
  FROM (SELECT string_agg('word' || i * i % 997, ' ' ORDER BY i) AS doc FROM generate_series(1, 2000) i) d, winnow_fingerprints(doc, 5, 9);
-- A short document has one, a document without words none
SELECT (SELECT count(*) FROM winnow_fingerprints('  two words')), (SELECT position FROM winnow_fingerprints('  two words')),
       (SELECT count(*) FROM winnow_fingerprints(' .. ')), (SELECT count(*) FROM winnow_fingerprints('')), (SELECT count(*) FROM winnow_fingerprints(NULL));
-- Two documents with the same run have its hash.
SELECT count(*) > 0 AS found FROM winnow_fingerprints('completely other words stand here, and the eight words that both of them share') a
  JOIN winnow_fingerprints('and the eight words that both of them wrote down long ago in another place') b USING (fingerprint);
-- Passages
SELECT * FROM shared_passages('A said: one two THREE four, and so on', 'zero. two, three, four! And so', 3);
SELECT p.*, substr(a, start_a, length) = text AS as_it_stands, substr(b, start_b, 12)
  FROM (VALUES ('x y z, x y z and Größe 漢字 end', 'GRÖßE 漢字 END - X Y Z.')) d(a, b), shared_passages(a, b, 3) p;
-- Longest first, then what is left of the others; each unit once
SELECT * FROM shared_passages('a b c d e f g h', 'c d e f - a b c d - e f g h', 2);
SELECT * FROM shared_passages('abcdefgh', 'cdef_abcd_efgh', 2, 'char');
SELECT * FROM shared_passages('one two three', 'one two three', 4);
SELECT (SELECT count(*) FROM shared_passages('', 'a', 1)), (SELECT count(*) FROM shared_passages('a', '', 1)),
       (SELECT count(*) FROM shared_passages('a', NULL)), (SELECT count(*) FROM shared_passages('a', 'a', NULL));
SELECT start_a, start_b, length FROM shared_passages(repeat('a ', 20000), repeat('a ', 20000));
SELECT copied_share('x y z - x y z q q', 'x y z', 3) AS twice, copied_share('', 'x y', 1) AS nothing, copied_share('x y', '', 1) AS of_nothing,
       copied_share('x y', 'y x', 1) AS all, copied_share('x y', 'x y') AS too_short, copied_share('x', NULL) AS unknown;
SELECT copied_share('one two three four five six', 'five six seven. one two three', 2) AS words,
       copied_share('Grüße', 'grüße', 4, 'char') AS characters;
SELECT copied_share('a', 'a', min_units => 1), copied_share('a', 'a', min_units => 2147483647);
-- Errors
SELECT karp_rabin_concat(-1, 0, 0);
SELECT karp_rabin_concat(0, 2305843009213693951, 0);
SELECT karp_rabin_concat(0, 0, -1);
SELECT * FROM rolling_fingerprints('abc', 0);
SELECT * FROM rolling_fingerprints('abc'::bytea, -1);
SELECT * FROM winnow_fingerprints('abc', 0);
SELECT * FROM winnow_fingerprints('abc', 65);
SELECT * FROM winnow_fingerprints('abc', 5, 0);
SELECT * FROM winnow_fingerprints('abc', 5, 10001);
SELECT * FROM winnow_fingerprints('abc', 5, 4, 'byte');
SELECT * FROM winnow_fingerprints('abc'::bytea, 0);
SELECT * FROM winnow_fingerprints('abc'::bytea, 8, 0);
SELECT * FROM shared_passages('abc', 'abc', 0);
SELECT * FROM shared_passages('abc', 'abc', 1, 'page');
SELECT copied_share('abc', 'abc', -8);
SELECT copied_share('abc', 'abc', 8, 'byte');

-- Texts to ignore, whole ones where they are shorter than a passage; fingerprints to ignore.
SELECT * FROM shared_passages('one two three four five six', 'one two three four five six', 2, ignore => ARRAY['Three, four']);
SELECT * FROM shared_passages('one two three four five six', 'one two three four five six', 2, ignore => ARRAY['three', '', '-']);
SELECT * FROM shared_passages('one two three', 'one two three', 2, ignore => '{}');
SELECT * FROM shared_passages('one two three', 'one two three', 3, ignore => ARRAY['two three four', 'three one two']);
SELECT copied_share('one two three four', 'one two', 2) AS all_of_a, copied_share('one two three four', 'one two', 2, ignore => ARRAY['three four']) AS without_ignored,
  copied_share('one two', 'one two', 2, ignore => ARRAY['one two']) AS nothing_left;
SELECT copied_share('f(x); return g(1);', 'h(y); return k(2);', 4, 'code', ARRAY['a(b);']);
SELECT winnow_hashes('one two three four', 1, 1, ignore => array(SELECT shingle_hashes('two three', 1)))
  = array(SELECT shingle_hashes('one four', 1) AS h ORDER BY h) AS ignored;
SELECT count(*) FROM winnow_fingerprints('one two three two', 1, 1, 'word', array(SELECT shingle_hashes('two', 1)));
SELECT count(*) FROM winnow_fingerprints('abcabd'::bytea, 1, 1, array(SELECT shingle_hashes('b'::bytea, 1)));
SELECT winnow_hashes('abc'::bytea, 1, 1, ignore => array(SELECT shingle_hashes('abc'::bytea, 1)));
SELECT copied_share('a', 'a', 1, ignore => NULL) IS NULL AS of_null, winnow_hashes('a', ignore => NULL) IS NULL AS of_null;
SELECT copied_share('a', 'a', 1, ignore => ARRAY['b', NULL]);
SELECT winnow_hashes('a', ignore => ARRAY[1, NULL]);
SELECT * FROM winnow_fingerprints('a', ignore => ARRAY[NULL::bigint]);
