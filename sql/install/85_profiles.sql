-- Profiles -----------------------------------------------------------------------------------------------------------
-- How a document becomes a signature. A user's profile is a table of this type in the user's schema, a row a version;
-- the built-in ones are constants. Version 2 reads CR LF as LF (units of characters), or has other rules.

CREATE TYPE neardup_profile AS (
  version int, signature text, unit text, k int, num_perm int, bits int, seed bigint,
  encoding text, script text, rules text, min_length int, made_at timestamptz,
  normalization text,         -- NULL: none, made by 0.2.0
  cut_at_least int, cut_min_units int, cut_unit text);  -- NULL: nothing is cut
COMMENT ON TYPE neardup_profile IS
  'Parameters with which documents are signed: a row of a table that create_profile() creates. Example: SELECT neardup_profile_named(''default'')';

CREATE FUNCTION neardup_default_profiles(OUT name text, OUT profile neardup_profile) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 6;
COMMENT ON FUNCTION neardup_default_profiles() IS 'Built-in profiles. Example: SELECT * FROM neardup_default_profiles()';

CREATE FUNCTION neardup_rules_named(name text) RETURNS neardup_rule[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_rules_named(text) IS
  'Rows of a table of type neardup_rule, ordered by position, as an array for neardup_clean(). Example: SELECT neardup_rules_named(''docs_rules'')';

CREATE FUNCTION neardup_profile_named(name text) RETURNS neardup_profile
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
COMMENT ON FUNCTION neardup_profile_named(text) IS
  'Built-in profile of this name, or the newest version of your own profile. Example: SELECT * FROM neardup_profile_named(''default'')';
CREATE FUNCTION neardup_sign_sql(p neardup_profile, body_type regtype, body text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
COMMENT ON FUNCTION neardup_sign_sql(neardup_profile, regtype, text) IS
  'SQL expression that signs documents as a profile says. Example: SELECT neardup_sign_sql(neardup_profile_named(''default''), ''text'', ''body'')';

CREATE FUNCTION create_profile(name text, base text = 'default', signature text = NULL, unit text = NULL, k int = NULL,
    num_perm int = NULL, bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL,
    min_length int = NULL, normalization text = NULL, cut_at_least int = NULL, cut_min_units int = NULL, cut_unit text = NULL) RETURNS regclass
  AS 'MODULE_PATHNAME', 'neardup_create_profile' LANGUAGE C;
COMMENT ON FUNCTION create_profile(text, text, text, text, int, int, int, bigint, text, text, text, int, text, int, int, text) IS
  'Creates a profile, a table of that name with version 1. Arguments that are not given are as in the profile base. Example: SELECT create_profile(''docs_profile'', base => ''default'', k => 4)';
CREATE FUNCTION alter_profile(name text, signature text = NULL, unit text = NULL, k int = NULL, num_perm int = NULL,
    bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL, min_length int = NULL,
    normalization text = NULL, cut_at_least int = NULL, cut_min_units int = NULL, cut_unit text = NULL) RETURNS int
  AS 'MODULE_PATHNAME', 'neardup_alter_profile' LANGUAGE C;
COMMENT ON FUNCTION alter_profile(text, text, text, int, int, int, bigint, text, text, text, int, text, int, int, text) IS
  'Adds a version to a profile and returns its number. Jobs with this profile sign all rows again at their next refresh. Example: SELECT alter_profile(''docs_profile'', k => 5)';
