-- The type ctph: ssdeep's digests and longer ones.
CREATE TEMP TABLE doc AS
  SELECT (SELECT string_agg(md5(i::text), E'\n') FROM generate_series(1, 400) i) AS a,
         (SELECT string_agg(CASE WHEN i % 100 = 0 THEN 'another line' ELSE md5(i::text) END, E'\n') FROM generate_series(1, 400) i) AS b;
-- What ssdeep 2.14.1 prints
SELECT to_ctph(''), to_ctph('a'), to_ctph('\x'::bytea), to_ctph('\x00'::bytea);
SELECT to_ctph(a), to_ctph(b) FROM doc;
SELECT to_ctph(a) = to_ctph(convert_to(a, 'UTF8')) AS text_is_its_bytes, to_ctph(NULL::text) FROM doc;
-- Measures
SELECT ctph_score(to_ctph(a), to_ctph(b)), ctph_score(to_ctph(a), to_ctph(a)), ctph_score(to_ctph(a), to_ctph('x')) FROM doc;
SELECT round(ctph_edit_rate(to_ctph(a), to_ctph(b))::numeric, 4), to_ctph(a) <-> to_ctph(a), to_ctph(a) <-> to_ctph('x') FROM doc;
SELECT ctph_score_at_least(to_ctph(a), to_ctph(b), 50), ctph_score_at_least(to_ctph(a), to_ctph(b), 99.5),
       ctph_edit_rate_at_most(to_ctph(a), to_ctph(b), 0.2), ctph_edit_rate_at_most(to_ctph(a), to_ctph(b), 0) FROM doc;
SELECT ctph_score('3::', '3::'), ctph_edit_rate('3::', '3::');
-- Forms
SELECT ctph '3:abc:de,"a file.txt"', ctph '3:abc:de' = '3:abc:de,"x"', ctph '6:AAAAAAAA:B', encode(ctph_send('3:ab:c'), 'hex');
SELECT bool_and(d = d::text::ctph) FROM doc, LATERAL (VALUES (to_ctph(a)), (to_ctph(b)), (ctph_long(a, 256)), (ctph_long(b, 1024)), ('3::')) v(d);
CREATE TEMP TABLE d (id int, c ctph);
INSERT INTO d SELECT 1, to_ctph(a) FROM doc UNION ALL SELECT 2, to_ctph(b) FROM doc UNION ALL SELECT 3, to_ctph(a) FROM doc UNION ALL SELECT 4, NULL;
CREATE INDEX ON d (c);
CREATE INDEX ON d USING hash (c);
SET enable_seqscan = off;
SELECT id FROM d WHERE c = (SELECT to_ctph(a) FROM doc) ORDER BY id;
SELECT count(*) FROM d x JOIN d y USING (c);
RESET enable_seqscan;
SELECT count(DISTINCT c), count(*) FILTER (WHERE c <> '3:z:z') FROM d WHERE c IS NOT NULL;
COPY d TO STDOUT;
-- Longer digests say so, and are compared with longer ones only.
SELECT left(ctph_long(a, 256)::text, 30), length(ctph_long(a, 256)::text) > 100 AS longer FROM doc;
SELECT ctph_score(ctph_long(a, 256), ctph_long(b, 256)) BETWEEN 50 AND 99 AS near,
       ctph_edit_rate(ctph_long(a, 256), ctph_long(b, 256)) < 0.2 AS near FROM doc;
SELECT ctph_score(to_ctph(a), ctph_long(a, 256)) FROM doc;
-- Errors
SELECT ctph 'some text';
SELECT ctph '';
SELECT ctph '3:abc';
SELECT ctph '4:abc:de';
SELECT ctph '3:ab!c:de';
SELECT ctph '99999999999999999999:ab:c';
SELECT ctph '-3:ab:c';
SELECT ctph_long('a', 64);
SELECT ctph_long('a', 5000);
SELECT ctph_long('a', -1);
SELECT ctph_score_at_least('3::', '3::', 101);
SELECT ctph_edit_rate_at_most('3::', '3::', -0.5);
SELECT ctph_edit_rate_at_most('3::', '3::', 'NaN');
