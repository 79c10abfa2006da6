-- The type ctph: ssdeep's digests and longer ones.
CREATE TEMP TABLE doc AS
  SELECT (SELECT string_agg(md5(i::text), E'\n') FROM generate_series(1, 400) i) AS a,
         (SELECT string_agg(CASE WHEN i % 100 = 0 THEN 'another line' ELSE md5(i::text) END, E'\n') FROM generate_series(1, 400) i) AS b;
-- Digests are those that ssdeep 2.14.1 prints.
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
SELECT ctph '3:abc:de,"a file.txt"', ctph '3:abc:de' = '3:abc:de,"x"', ctph '6:AAAAAAAA:B', encode(neardup_internal.ctph_send('3:ab:c'), 'hex');
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
-- Explaining. One type must be written, since other types have an explain_pair, too.
SELECT e.* FROM doc, explain_pair(to_ctph(a), to_ctph(b)) e \gx
SELECT verdict FROM doc, explain_pair(to_ctph(a), to_ctph(b), 95) UNION ALL
  SELECT verdict FROM doc, explain_pair(to_ctph(a), to_ctph(b), score => 91, rate => 0.05) UNION ALL
  SELECT verdict FROM doc, explain_pair(to_ctph(a), to_ctph(b), 91.5, rate => 0.05);
SELECT e.* FROM doc, explain_pair(to_ctph(a), ctph_long(a, 256)) e \gx
SELECT verdict FROM doc, explain_pair(ctph_long(a, 256), to_ctph(b), 0, 1);
SELECT ctph_score(a, b) = e.ctph_score AND ctph_edit_rate(a, b) = e.ctph_edit_rate AS same, e.ctph_score AS score, e.ctph_edit_rate AS rate, block_size, verdict
  FROM (VALUES (1, ctph '3::', ctph '3::'), (2, '3:abc:de', '3:abc:de'), (3, '3:aaaaabc:de', '3:aaabc:de'), (4, '3:abc:de', '12:abc:de'),
               (5, '3:abcdef:abcdefgh', '3:abcdefgh:abcdef'), (6, '3:abcdefgh:abcdefgh', '3:hgfedcba:hgfedcba'), (7, '3:abcdefghi:x', '3:abcdefghk:x'),
               (8, '3:abcdefgh:abcdefghi', '6:abcdefghk:x'), (9, '48:abcdefghi:x', '48:abcdefghk:x'), (10, '3221225472:abcdefgh:x', '3221225472:abcdefgi:x'),
               (11, '3:abcdefghi:x', '3221225472:abcdefghk:x'), (12, '3:abc:', '6::x'), (14, ('3:' || repeat('A', 64) || ':AAA')::ctph, '3:abcdefghi:AAA'), (15, '3:AAAAAAAAbcdef:x', '3:AAAAAAAAghijk:x'), (13, 'long100:48:abcdefghi:x', 'long200:48:abcdefghi:x')) v(n, a, b), explain_pair(a, b) e ORDER BY n;
SELECT verdict FROM explain_pair(ctph '3:abc:de', '12:abc:de', 0, 1);
-- A rate that is above the bound is not shown as the bound.
SELECT verdict FROM explain_pair(ctph '3:abcdef:de', '3:abcdeg:de', rate => 0.08333333);
SELECT verdict FROM explain_pair(ctph '3:abcdef:de', '3:abcdeg:de', rate => 0.08333);
SELECT explain_pair(NULL::ctph, '3::') IS NULL AS null_for_null;
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
SELECT explain_pair(ctph '3::', '3::', 101);
SELECT explain_pair(ctph '3::', '3::', 'NaN');
SELECT explain_pair(ctph '3::', '3::', rate => -0.5);
SELECT explain_pair(ctph '3::', '3::', rate => 1.01);
-- PostgreSQL 19 says the rest of it in other lines.
\set VERBOSITY terse
SELECT explain_pair('3::', '3::');
\set VERBOSITY default
-- A digest that begins another comes before it, and is not equal.
SELECT a < b AS before, a = b AS equal, neardup_internal.ctph_cmp(a, b), neardup_internal.ctph_cmp(b, a) FROM (VALUES (ctph '3:abc:de', ctph '3:abc:def')) v(a, b);
