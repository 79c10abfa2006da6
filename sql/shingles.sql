-- Text to shingles: words, characters, bytes.
SELECT * FROM shingles('The quick, brown FOX_1 jumps!');
SELECT * FROM shingles('one two');
SELECT count(*) FROM shingles('');
SELECT count(*) FROM shingles(' ,.;- ');
SELECT count(*) FROM shingles(NULL);
SELECT * FROM shingles('Straße ÅNGSTRÖM Σίσυφος', 1);
SELECT * FROM shingles('我爱北京 and Tokyo東京', 2);
SELECT * FROM shingles('ab cé', 3, 'char');
SELECT * FROM shingles('ab', 3, 'char');
-- A short document has one shingle, all of it.
SELECT count(*) FROM shingle_hashes('one two', 5);
SELECT shingle_hashes('a b c d') = ANY (ARRAY(SELECT shingle_hashes('x A b, C.'))) AS shared FROM generate_series(1, 1);
SELECT count(*), count(DISTINCT h) FROM shingle_hashes('a a a a a a') h;
SELECT count(*) FROM shingle_hashes('\x000102030405060708'::bytea);
-- Frozen values: a change here is a new tokenizer version.
SELECT * FROM shingle_hashes('the quick brown fox');
SELECT * FROM shingle_hashes('abcdef', 5, 'char');
SELECT * FROM shingle_hashes('\x0001020304'::bytea, 4);
-- Errors
SELECT shingles('a', 0);
SELECT shingles('a', 65);
SELECT shingles('a', 3, 'words');
SELECT shingles('a', 3, 'byte');

-- Lines and paragraphs: white space is normalised, blank lines are none.
SELECT shingles(E'  One  line\r\n\r\n\tand another\nof it\n \nEND', 1, 'line');
SELECT shingles(E'  One  line\r\n\r\n\tand another\nof it\n \nEND', 1, 'paragraph');
SELECT array(SELECT shingle_hashes(E'a b\n\nc', 2, 'line')) = array(SELECT shingle_hashes(E' a\tb \r\nc\r\n', 2, 'line')) AS equal,
  array(SELECT shingle_hashes('a', 1, 'line')) = array(SELECT shingle_hashes('A', 1, 'line')) AS of_another_case;
SELECT to_minhash(E'a\nb', 1, 'line', 16, 8), (minhash_parameters(to_minhash('a', 2, 'paragraph'))).*;
SELECT minhash_like(E'x\ny', to_minhash(E'y\nx', 1, 'line')) = to_minhash(E'x\ny', 1, 'line') AS like_it;
SELECT start_a, start_b, length, text FROM shared_passages(E'a\nb c\nd\n', E'd\nb  c\nd', 2, 'line');
SELECT copied_share(E'a b\n\nc\n\nd', E'c\n \na  b', 1, 'paragraph');
SELECT position, fingerprint IS NOT NULL AS has_one FROM winnow_fingerprints(E'a\n b\nc', 1, 1, 'line');

-- Code: names and literals are folded, comments left out.
SELECT array(SELECT shingles('int sum(int a) { return a + 1; } // all', 1, 'code')) AS tokens;
SELECT array(SELECT shingles(E'def f(x):  # why\n  return x or \'\'\'a\nb\'\'\'', 4, 'code')) AS shingles;
SELECT array(SELECT shingle_hashes('if (x > 1) y = "a";', 3, 'code')) = array(SELECT shingle_hashes(E'if(count>0x2f) /* no */\n\tsum=\'b\';', 3, 'code')) AS renamed,
  array(SELECT shingle_hashes('if (x)', 1, 'code')) = array(SELECT shingle_hashes('IF (x)', 1, 'code')) AS not_a_keyword;
SELECT array(SELECT shingles(' // nothing' || chr(10) || '/* but', 1, 'code')) AS none, array(SELECT shingles('"no end', 1, 'code')) AS one;
SELECT to_minhash('f(x);', 2, 'code', 16, 8), (minhash_parameters(to_minhash('a', 2, 'code'))).*;
SELECT minhash_like('f(x)', to_minhash('g(1)', 2, 'code')) = to_minhash('f(y)', 2, 'code') AS like_it;
SELECT replace(to_minhash('f(x);', 2, 'code', 16, 8)::text, ':t1:', ':t0:')::minhash;
SELECT minhash_like('f(x)', replace(to_minhash('g(1)', 2, 'code')::text, ':t1:', ':t9:')::minhash);
SELECT to_simhash('f(x, 1)', 2, 'code') = to_simhash('g ( y, "z" )', 2, 'code') AS equal_simhashes;
SELECT start_a, start_b, length, text FROM shared_passages('b = g(1); /* x */ c = h(2);', 'x=y(3);', 7, 'code');
SELECT copied_share('b = g(1); return', 'x=y(3);', 7, 'code');
SELECT position FROM winnow_fingerprints('  a = /* c */ (b)', 1, 1, 'code');
SELECT winnow_hashes('f(x, 1)', 2, 3, 'code') = winnow_hashes('g(y,2)', 2, 3, 'code') AS equal_sets;
SELECT jaccard, a_in_b, note FROM compare_texts('a = b;', 'c = 1;', 2, 'code');
