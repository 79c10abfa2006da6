-- Profiles -----------------------------------------------------------------------------------------------------------
-- How a document becomes a signature. A user's profile is a table of this type in the user's schema, a row a version;
-- the built-in ones are constants. Version 2 reads CR LF as LF (units of characters), or has other rules.

CREATE TYPE neardup_profile AS (
  version int, signature text, unit text, k int, num_perm int, bits int, seed bigint,
  encoding text, script text, rules text, min_length int, made_at timestamptz,
  normalization text);        -- NULL: none, made by 0.2.0
COMMENT ON TYPE neardup_profile IS 'how documents are signed: rows of a table that create_profile() makes';

CREATE FUNCTION neardup_default_profiles(OUT name text, OUT profile neardup_profile) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 6;
COMMENT ON FUNCTION neardup_default_profiles() IS 'the built-in profiles';

CREATE FUNCTION neardup_rules_named(name text) RETURNS neardup_rule[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_rules_named(text) IS 'the rows of a table of type neardup_rule, by position, as neardup_clean takes them';

CREATE FUNCTION neardup_profile_named(name text) RETURNS neardup_profile
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
COMMENT ON FUNCTION neardup_profile_named(text) IS 'the built-in profile of this name, or the newest version of the profile table of this name';
CREATE FUNCTION neardup_sign_sql(p neardup_profile, body_type regtype, body text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
COMMENT ON FUNCTION neardup_sign_sql(neardup_profile, regtype, text) IS 'the SQL expression that signs documents as a profile says';

-- What is not given is as in the profile base.
CREATE FUNCTION create_profile(name text, base text = 'default', signature text = NULL, unit text = NULL, k int = NULL,
    num_perm int = NULL, bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL,
    min_length int = NULL, normalization text = NULL) RETURNS regclass
  AS 'MODULE_PATHNAME', 'neardup_create_profile' LANGUAGE C;
COMMENT ON FUNCTION create_profile(text, text, text, text, int, int, int, bigint, text, text, text, int, text) IS
  'makes a profile, a table of that name, version 1; what is not given is as in the profile base';
-- What is not given stays.
CREATE FUNCTION alter_profile(name text, signature text = NULL, unit text = NULL, k int = NULL, num_perm int = NULL,
    bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL, min_length int = NULL,
    normalization text = NULL) RETURNS int
  AS 'MODULE_PATHNAME', 'neardup_alter_profile' LANGUAGE C;
COMMENT ON FUNCTION alter_profile(text, text, text, int, int, int, bigint, text, text, text, int, text) IS
  'adds a version to a profile and gives its number; jobs sign all rows anew at their next refresh';
