-- TLSH digests: distances, codes, what is refused.
CREATE TABLE digests (id int, digest text);
INSERT INTO digests VALUES
  (1, 'T1FE51E4F99E080C2A85CD728B78354A969F62E4B4C1FC54CF5E84745B58C926E48FA3CF'),
  (2, 'T15551E2B99E080C2A86CD728B78354A969F62E4B5C1FC14CF5D84745B58C926E48FA3CF'),
  (3, '6f51e3f99e080c1686cd728b78350ada9f62d4a5c0fc10df5d84745b59c927e48fa38e'),
  (4, 'T1DBD196F94E080D1A86CD718A396A4ADB9F63E0B4C1FC14CF5D85B8876CC466D44FA78E'),
  (5, NULL);
SELECT a.id, b.id AS other, tlsh_distance(a.digest, b.digest), tlsh_distance(a.digest, b.digest, length => false) AS without_length,
       tlsh_distance(b.digest, a.digest) = tlsh_distance(a.digest, b.digest) AS symmetric,
       length(replace((tlsh_code(a.digest) # tlsh_code(b.digest))::text, '0', '')) AS code_bits
  FROM digests a JOIN digests b ON a.id < b.id ORDER BY 1, 2;
SELECT id FROM digests WHERE tlsh_distance(digest, 'T1FE51E4F99E080C2A85CD728B78354A969F62E4B4C1FC54CF5E84745B58C926E48FA3CF') <= 50 ORDER BY id;
SELECT tlsh_distance(repeat('0', 70), 'T1' || upper(repeat('a', 70))), tlsh_distance(repeat('0', 70), '100888' || repeat('f', 64)) AS greatest,
       tlsh_distance(repeat('0', 70), '100888' || repeat('f', 64), false) AS greatest_without_length;
SELECT tlsh_code('T1' || repeat('0', 6) || '1b' || repeat('0', 62))::bit(16), length(tlsh_code(repeat('0', 70))), tlsh_code(NULL) IS NULL AS none;
CREATE INDEX ON digests (tlsh_code(digest));
-- Refused
\set VERBOSITY default
SELECT tlsh_distance('', repeat('0', 70));
SELECT tlsh_distance(repeat('0', 70), 'T1' || repeat('0', 69));
SELECT tlsh_distance(repeat('0', 70), 'T1' || repeat('0', 69) || 'g');
SELECT tlsh_distance('96:abc:def', repeat('0', 70));
SELECT tlsh_code('TNULL');
SELECT tlsh_code(repeat('0', 74));
SELECT tlsh_code(repeat('0', 134));
