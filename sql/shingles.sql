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
