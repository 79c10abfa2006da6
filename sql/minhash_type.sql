-- The type: forms, type modifier, order.
SELECT to_minhash('a b c', num_perm => 16);
SELECT to_minhash('a b c', num_perm => 16, bits => 16);
SELECT to_minhash('a b c', 2, 'char', 16, 8, -5);
SELECT to_minhash(''), to_minhash('...'), to_minhash('\x'::bytea), set_minhash('{}'::text[]), set_minhash('{}'::bigint[]);
SELECT to_minhash(NULL::text), set_minhash(NULL::text[]);
-- Input and output are inverse.
SELECT bool_and(s = s::text::minhash)
  FROM unnest(ARRAY[16, 100, 128, 4096]) n, unnest(ARRAY[8, 16, 32]) b,
       LATERAL (VALUES (to_minhash('some words of text', num_perm => n, bits => b)), (to_minhash('', 5, 'char', n, b, 7)),
                       (to_minhash('\x0102'::bytea, 2, n, b)), (set_minhash('{a,b}'::text[], n, b, -1)),
                       (set_minhash('{1,2}'::bigint[], n, b))) v(s);
-- Binary form
CREATE TABLE m (id int, s minhash);
INSERT INTO m VALUES (1, to_minhash('one two three four')), (2, to_minhash('')), (3, NULL), (4, set_minhash('{1}'::bigint[], 16, 8, 3));
SELECT id, length(neardup_internal.minhash_send(s)), encode(substr(neardup_internal.minhash_send(s), 1, 16), 'hex') FROM m ORDER BY id;
-- Type modifier: checks, never converts.
SELECT 'minhash(128)'::regtype, format_type('minhash'::regtype, (128 << 8) | 16);
CREATE TABLE shaped (s minhash(128, 32), t minhash(64));
INSERT INTO shaped VALUES (to_minhash('a'), to_minhash('a', num_perm => 64));
INSERT INTO shaped (s) VALUES (to_minhash('a', bits => 16));
INSERT INTO shaped (t) VALUES (to_minhash('a'));
\d shaped
SELECT to_minhash('a')::minhash(8);
SELECT to_minhash('a')::minhash(128, 31);
SELECT to_minhash('a')::minhash(1, 2, 3);
-- Order and equality
SELECT to_minhash('a b') = to_minhash('A, B!'), to_minhash('a') <> to_minhash('b'), to_minhash('') = to_minhash('?');
CREATE INDEX ON m (s);
CREATE INDEX ON m USING hash (s);
SELECT count(DISTINCT s) FROM m;
SELECT a.id, b.id FROM m a JOIN m b ON a.s = b.s ORDER BY 1, 2;
-- Parts
SELECT * FROM minhash_parameters(to_minhash('a b'));
SELECT * FROM minhash_parameters(to_minhash('a b', 5, 'char', 64, 16, 9));
SELECT * FROM minhash_parameters(to_minhash('\x00'::bytea));
SELECT * FROM minhash_parameters(set_minhash('{a}'::text[]));
SELECT * FROM minhash_parameters(minhash_import(ARRAY(SELECT generate_series(1, 16))));
SELECT minhash_components(to_minhash('a b c', num_perm => 16));
SELECT minhash_components(to_minhash('', num_perm => 16, bits => 16));
SELECT minhash_components(minhash_import(ARRAY(SELECT i * 3 FROM generate_series(1, 16) i), 8)) ;
-- Errors
SELECT 'some text'::minhash;
SELECT ''::minhash;
SELECT minhash 'mh2:word3:128x32:s0:t1:empty';
SELECT minhash 'mh1:word3:128x32:s0:t1';
SELECT minhash 'mh1:words3:128x32:s0:t1:empty';
SELECT minhash 'mh1:word0:128x32:s0:t1:empty';
SELECT minhash 'mh1:word3:15x32:s0:t1:empty';
SELECT minhash 'mh1:word3:128x33:s0:t1:empty';
SELECT minhash 'mh1:word3:128x32:s0:t0:empty';
SELECT minhash 'mh1:word3:128x32:s:t1:empty';
SELECT minhash 'mh1:word3:16x8:s0:t1:AAAA';
SELECT minhash 'mh1:word3:16x8:s0:t1:!!!!';
SELECT minhash_import('{1,2}');
SELECT minhash_import(ARRAY(SELECT generate_series(250, 270)), 8);
SELECT minhash_import(array_append(ARRAY(SELECT generate_series(1, 16)), NULL));
SELECT minhash_import(ARRAY(SELECT -i FROM generate_series(1, 16) i));
-- Operators of btree and hash indexes are leakproof, so that they serve under row security, too.
SELECT amopopr::regoperator FROM pg_amop JOIN pg_am a ON a.oid = amopmethod JOIN pg_operator o ON o.oid = amopopr JOIN pg_proc p ON p.oid = oprcode
  WHERE amname IN ('btree', 'hash') AND amoplefttype IN ('minhash'::regtype, 'simhash'::regtype, 'ctph'::regtype) AND NOT proleakproof;
DROP TABLE m, shaped;

-- Binary COPY: the type modifier checks what comes in, as it does with text.
CREATE TABLE sent (s minhash);
INSERT INTO sent SELECT set_minhash('{1,2,3}'::bigint[], 64);
COPY sent TO PROGRAM 'cat > neardup_regress_copy' (FORMAT binary);
CREATE TABLE received (s minhash(64), of_16_bits minhash(64,16), of_128 minhash(128));
COPY received (s) FROM 'neardup_regress_copy' (FORMAT binary);
\set SHOW_CONTEXT never
COPY received (of_16_bits) FROM 'neardup_regress_copy' (FORMAT binary);
COPY received (of_128) FROM 'neardup_regress_copy' (FORMAT binary);
COPY (SELECT) TO PROGRAM 'rm neardup_regress_copy';
SELECT count(*), bool_and(r.s = sent.s) AS same FROM received r, sent;
DROP TABLE sent, received;
-- The extended hash has a seed; that of 0 begins with the other hash.
SELECT count(DISTINCT neardup_internal.minhash_hash_extended(set_minhash('{1,2,3}'::bigint[]), seed)) AS seeds,
       bool_or(neardup_internal.minhash_hash_extended(set_minhash('{1,2,3}'::bigint[]), 0)::bit(64) & x'00000000ffffffff' = neardup_internal.minhash_hash(set_minhash('{1,2,3}'::bigint[]))::bigint::bit(64) & x'00000000ffffffff') AS low_half
FROM generate_series(0, 9) seed;
