-- Profiles that cut what stands in many documents before a job signs.
CREATE TABLE letters (id int PRIMARY KEY, body text);
INSERT INTO letters VALUES
    (1, E'Dear Ann, the parcel has arrived, thank you very much.\n--\nKind regards from your team at Parcel Post, Old Harbour 5'),
    (2, E'Dear Bob, nothing has come so far; we ask once more.\n--\nKind regards from your team at Parcel Post, Old Harbour 5'),
    (3, E'Dear Ann, the parcel has arrived, thank you very much.\n--\nBefore you print this think of the forest'),
    (4, E'Dear Eve, the shop opens at nine.\n--\nBefore you print this think of the forest'),
    (5, E'Dear Joe, do come and see us.\n--\nBefore you print this think of the forest'),
    (6, E'kind regards, from your team at Parcel Post: Old Harbour 5!');

-- Options of the profile: given, completed, ended.
SELECT create_profile('without_footers', cut_at_least => 3);
SELECT alter_profile('without_footers', cut_min_units => 5);
SELECT alter_profile('without_footers', cut_unit => 'line');
SELECT alter_profile('without_footers', cut_at_least => 0);
SELECT alter_profile('without_footers', cut_at_least => 3, cut_unit => 'line');
SELECT alter_profile('without_footers', cut_at_least => 0), alter_profile('without_footers', cut_at_least => 3, cut_unit => 'char');
SELECT alter_profile('without_footers', cut_min_units => 6, cut_unit => 'word');
SELECT version, cut_at_least, cut_min_units, cut_unit FROM without_footers ORDER BY version;
SELECT create_profile('p', cut_at_least => 1);
SELECT create_profile('p', cut_unit => 'line');
SELECT create_profile('p', cut_at_least => 2, cut_unit => 'sentence');
SELECT create_profile('p', cut_at_least => 2, cut_min_units => 0, cut_unit => 'paragraph');
SELECT create_profile('p', base => 'ctph', cut_at_least => 2);
SELECT neardup_sign_sql(neardup_profile_named('without_footers'), 'text', 'body');

-- The same letter with two footers is found; letters with one footer are none.
SELECT create_duplicates('letter_copies', 'letters', 'id', 'body', profile => 'without_footers');
CALL refresh_duplicates('letter_copies');
SELECT id, representative, similarity, survivor FROM letter_copies ORDER BY id;
SELECT passages, passages_rows FROM letter_copies_job;
SELECT number, cardinality(windows) FROM letter_copies_passages;
SELECT s.id, s.signature = to_minhash(c.body) AS is_cut
FROM letter_copies_signatures s JOIN (
    SELECT l.id, coalesce(cut_passages(l.body, r.ranges), l.body) AS body
    FROM letters l LEFT JOIN (
        SELECT id, range_agg(int4range(start, start + length)) AS ranges
        FROM repeated_passages('TABLE letters', 6, 'word', 'none', 3) GROUP BY id) r USING (id)) c USING (id)
ORDER BY s.id;
SELECT * FROM check_duplicates('letter_copies');

-- A row that comes later is cut by what was counted.
INSERT INTO letters VALUES (7, E'Dear Ann, the parcel has arrived, thank you very much.\nBEFORE you print this: think of the forest.');
CALL refresh_duplicates('letter_copies');
SELECT id, representative, similarity FROM letter_copies WHERE id IN (1, 3, 7) ORDER BY id;

-- A step reads its profile and the row of its job once, and so does the beginning of a refresh the row: every other scan
-- of the row updates it. Steps: list, count, sign (one for each batch), index, cluster.
CREATE FUNCTION reads_of_a_refresh(batch int) RETURNS TABLE (of_profile bigint, of_row bigint) LANGUAGE plpgsql AS $$
DECLARE
  profile oid := 'without_footers'::regclass;
  job oid := 'letter_copies_job'::regclass;
BEGIN
  of_profile := -pg_stat_get_xact_numscans(profile);
  of_row := pg_stat_get_xact_tuples_updated(job) - pg_stat_get_xact_numscans(job);
  CALL refresh_duplicates('letter_copies', batch => batch, commit => false);
  of_profile := of_profile + pg_stat_get_xact_numscans(profile);
  of_row := of_row + pg_stat_get_xact_numscans(job) - pg_stat_get_xact_tuples_updated(job);
  RETURN NEXT;
END $$;
SELECT alter_profile('without_footers', k => 2);
SELECT * FROM reads_of_a_refresh(7);
SELECT alter_profile('without_footers', k => 3);
SELECT * FROM reads_of_a_refresh(3);
SELECT * FROM check_duplicates('letter_copies');
DROP FUNCTION reads_of_a_refresh;

SELECT drop_duplicates('letter_copies');
SELECT to_regclass('letter_copies_passages');
DROP TABLE letters, without_footers;
