-- Profiles -----------------------------------------------------------------------------------------------------------
-- How a document becomes a signature. A user's profile is a table of this type in the user's schema, a row a version;
-- the built-in ones are constants. Version 2 reads CR LF as LF (units of characters), or has other rules.

CREATE TYPE neardup_profile AS (
  version int, signature text, unit text, k int, num_perm int, bits int, seed bigint,
  encoding text, script text, rules text, min_length int, made_at timestamptz,
  normalization text);        -- NULL: none, made by 0.2.0
COMMENT ON TYPE neardup_profile IS 'how documents are signed: rows of a table that create_profile() makes';

CREATE FUNCTION neardup_default_profiles(OUT name text, OUT profile neardup_profile) RETURNS SETOF record
  LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 6 AS $$
  SELECT name, ROW(version, signature, unit, k, num_perm, bits, seed, encoding, script, rules, min_length, NULL, 'none')::@extschema@.neardup_profile
  FROM (VALUES
    ('default', 1, 'minhash', 'word', 3, 128, 32, 0::bigint, 'detect', 'keep', 'none', 0),
    ('web', 2, 'minhash', 'word', 3, 128, 32, 0, 'detect', 'keep', 'default', 50),
    ('code', 2, 'minhash', 'char', 8, 128, 32, 0, 'detect', 'keep', 'none', 0),
    ('chinese', 2, 'minhash', 'char', 3, 128, 32, 0, 'detect', 'simplified', 'none', 0),
    ('simhash', 1, 'simhash', 'word', 3, NULL, NULL, NULL, 'detect', 'keep', 'none', 0),
    ('ctph', 1, 'ctph', NULL, NULL, NULL, NULL, NULL, 'bytes', 'keep', 'none', 0))
    v(name, version, signature, unit, k, num_perm, bits, seed, encoding, script, rules, min_length)
  $$;
COMMENT ON FUNCTION neardup_default_profiles() IS 'the built-in profiles';

CREATE FUNCTION neardup_table_path(name text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_table_path(text) IS
  'private: the name of a relation with its schema, whatever the search_path; NULL where there is none';
CREATE FUNCTION neardup_rules_path(rules text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_rules_path(text) IS 'private: the same for the rules of a profile; none and default are no tables';
CREATE FUNCTION neardup_new_name(name text, what text, most_bytes int) RETURNS text[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
COMMENT ON FUNCTION neardup_new_name(text, text, int) IS 'private: schema and name of a table that is to be made';
CREATE FUNCTION neardup_profile_row(name text) RETURNS neardup_profile
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_profile_row(text) IS
  'private: the newest version of a profile that is a table; NULL where the name stands for none';
CREATE FUNCTION neardup_rules_named(name text) RETURNS neardup_rule[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION neardup_rules_named(text) IS 'the rows of a table of type neardup_rule, by position, as neardup_clean takes them';

CREATE FUNCTION neardup_default_profile(name text) RETURNS neardup_profile LANGUAGE sql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT d.profile FROM @extschema@.neardup_default_profiles() d WHERE d.name = $1
  $$;
COMMENT ON FUNCTION neardup_default_profile(text) IS 'private: the built-in profile of this name, or NULL';

-- Names are looked up in the caller's search_path, and nothing else is.
CREATE FUNCTION neardup_profile_named(name text) RETURNS neardup_profile LANGUAGE plpgsql STABLE AS $$
DECLARE
  p @extschema@.neardup_profile := @extschema@.neardup_default_profile(name);
BEGIN
  IF p IS NULL THEN p := @extschema@.neardup_profile_row(name); END IF;
  IF p IS NULL THEN PERFORM @extschema@.neardup_no_profile(name); END IF;
  RETURN p;
END $$;
COMMENT ON FUNCTION neardup_profile_named(text) IS 'the built-in profile of this name, or the newest version of the profile table of this name';

CREATE FUNCTION neardup_no_profile(name text) RETURNS void LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'there is no profile "%"', name USING ERRCODE = 'undefined_object',
    HINT = 'Built in are ' || (SELECT string_agg(d.name, ', ') FROM @extschema@.neardup_default_profiles() d)
           || '; make your own with create_profile().';
END $$;
COMMENT ON FUNCTION neardup_no_profile(text) IS 'private: the error for a name that stands for no profile';

-- Of one that neardup_profile_named() knows.
CREATE FUNCTION neardup_profile_path(name text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF NOT (@extschema@.neardup_default_profile(name) IS NULL) THEN RETURN name; END IF;
  RETURN COALESCE(@extschema@.neardup_table_path(name), name);
END $$;
COMMENT ON FUNCTION neardup_profile_path(text) IS 'private: a profile''s name with its schema, whatever the search_path';

-- What is wrong with a profile is said when it is made.
CREATE FUNCTION neardup_check_profile(p neardup_profile) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF p.signature IS NULL OR p.signature NOT IN ('minhash', 'simhash', 'ctph') THEN
    RAISE EXCEPTION 'signature must be ''minhash'', ''simhash'' or ''ctph'': %', COALESCE(quote_literal(p.signature), 'NULL')
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF p.encoding IS NULL OR p.script IS NULL OR p.rules IS NULL OR p.min_length IS NULL THEN
    RAISE EXCEPTION 'encoding, script, rules and min_length of a profile must not be NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF p.script NOT IN ('keep', 'simplified', 'traditional') THEN
    RAISE EXCEPTION 'script must be ''keep'', ''simplified'' or ''traditional'': %', quote_literal(p.script)
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF p.min_length < 0 THEN
    RAISE EXCEPTION 'min_length must be at least 0: %', p.min_length USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF COALESCE(p.normalization, 'none') NOT IN ('none', 'NFC', 'NFKC') THEN
    RAISE EXCEPTION 'normalization must be ''none'', ''NFC'' or ''NFKC'': %', quote_literal(p.normalization) USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF p.normalization <> 'none' AND getdatabaseencoding() <> 'UTF8' THEN
    RAISE EXCEPTION 'normalization => % needs a database in UTF8: this one is in %', quote_literal(p.normalization), getdatabaseencoding()
      USING ERRCODE = 'feature_not_supported';
  END IF;
  IF p.encoding = 'bytes' AND (p.script <> 'keep' OR p.rules <> 'none' OR p.normalization <> 'none') THEN
    RAISE EXCEPTION 'documents of encoding ''bytes'' have no script, no rules and no normal form' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF p.signature <> 'ctph' AND (p.unit IS NULL OR p.k IS NULL) THEN
    RAISE EXCEPTION 'unit and k of a profile of % signatures must not be NULL', p.signature USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF p.signature = 'minhash' AND (p.num_perm IS NULL OR p.bits IS NULL OR p.seed IS NULL) THEN
    RAISE EXCEPTION 'num_perm, bits and seed of a profile of minhash signatures must not be NULL' USING ERRCODE = 'null_value_not_allowed',
      HINT = 'Give them, or another base.';
  END IF;
  IF p.encoding NOT IN ('detect', 'bytes') THEN PERFORM @extschema@.neardup_decode(''::bytea, p.encoding); END IF;
  -- the functions check unit, k and the rest; the rules are compiled
  EXECUTE 'SELECT ' || @extschema@.neardup_sign_sql(p, 'text'::regtype, '''one two three four''::pg_catalog.text');
END $$;
COMMENT ON FUNCTION neardup_check_profile(neardup_profile) IS 'private: raises an error for a profile that cannot be used';

-- The document that a profile signs, as an expression over the expression `body`. A profile may be another role's: nothing in
-- it, nor its rules, is to run what that role has put there.
CREATE FUNCTION neardup_document_sql(p neardup_profile, body_type regtype, body text) RETURNS text LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  e text := body;
BEGIN
  IF body_type::oid <> 'bytea'::regtype::oid THEN
    e := format('(%s)::pg_catalog.text', e);
  ELSIF p.encoding <> 'bytes' THEN
    e := format('@extschema@.neardup_signed_text(%s, %s)', e, CASE WHEN p.encoding = 'detect' THEN 'NULL::pg_catalog.text' ELSE quote_literal(p.encoding) || '::pg_catalog.text' END);
  END IF;
  -- a file that came by way of another system has other line ends; words do not see them
  IF p.unit = 'char' AND p.encoding <> 'bytes' THEN
    e := format(E'pg_catalog.replace(pg_catalog.replace(%s, E''\\r\\n'', E''\\n''), E''\\r'', E''\\n'')', e);
  END IF;
  IF p.normalization IN ('NFC', 'NFKC') AND p.encoding <> 'bytes' THEN e := format('pg_catalog.normalize(%s, %L)', e, p.normalization); END IF;
  IF p.script <> 'keep' THEN
    IF p.script NOT IN ('simplified', 'traditional') THEN
      RAISE EXCEPTION 'script must be ''keep'', ''simplified'' or ''traditional'': %', quote_literal(p.script) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    e := pg_catalog.format('@extschema@.%I(%s)', 'neardup_to_' || p.script, e);
  END IF;
  IF p.rules = 'default' THEN
    e := pg_catalog.format('(@extschema@.neardup_clean(%s)).body', e);
  ELSIF p.rules <> 'none' THEN
    e := pg_catalog.format('(@extschema@.neardup_clean(%s, (SELECT @extschema@.neardup_rules_named(%L::pg_catalog.text)))).body', e, p.rules);
  END IF;
  RETURN e;
END $$;
COMMENT ON FUNCTION neardup_document_sql(neardup_profile, regtype, text) IS
  'private: the SQL expression of the document that a profile signs';

-- The signature, as an expression over the expression `body`; NULL for a document below min_length.
CREATE FUNCTION neardup_sign_sql(p neardup_profile, body_type regtype, body text) RETURNS text LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  bytes boolean := body_type::oid = 'bytea'::regtype::oid AND p.encoding = 'bytes';
  document text := @extschema@.neardup_document_sql(p, body_type, body);
  d text := CASE WHEN p.min_length > 0 THEN 'd.body' ELSE document END;
  e text;
BEGIN
  e := CASE
    WHEN p.signature = 'ctph' THEN pg_catalog.format('@extschema@.to_ctph(%s)', d)
    WHEN p.signature = 'simhash' AND bytes THEN pg_catalog.format('@extschema@.to_simhash(%s, %s)', d, p.k)
    WHEN p.signature = 'simhash' THEN pg_catalog.format('@extschema@.to_simhash(%s, %s, %L::pg_catalog.text)', d, p.k, p.unit)
    WHEN bytes THEN pg_catalog.format('@extschema@.to_minhash(%s, %s, num_perm => %s, bits => %s, seed => ''%s''::pg_catalog.int8)', d, p.k, p.num_perm, p.bits, p.seed)
    ELSE pg_catalog.format('@extschema@.to_minhash(%s, %s, %L::pg_catalog.text, %s, %s, ''%s''::pg_catalog.int8)', d, p.k, p.unit, p.num_perm, p.bits, p.seed)
    END;
  IF p.min_length > 0 THEN
    e := pg_catalog.format('(SELECT CASE WHEN @extschema@.neardup_characters(d.body) OPERATOR(pg_catalog.>=) %s THEN %s END FROM (SELECT %s OFFSET 0) d(body))', p.min_length, e, document);
  END IF;
  RETURN e;
END $$;
COMMENT ON FUNCTION neardup_sign_sql(neardup_profile, regtype, text) IS 'the SQL expression that signs documents as a profile says';

CREATE FUNCTION neardup_make_profile(named text[], p neardup_profile) RETURNS regclass LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  path text := format('%I.%I', named[1], named[2]);
  profile regclass;
BEGIN
  PERFORM @extschema@.neardup_check_profile(p);
  EXECUTE format('CREATE TABLE %s OF @extschema@.neardup_profile (PRIMARY KEY (version))', path);
  profile := @extschema@.neardup_made_here(path);
  EXECUTE format('INSERT INTO %s SELECT ($1).*', path) USING p;
  RETURN profile;
END $$;
COMMENT ON FUNCTION neardup_make_profile(text[], neardup_profile) IS 'private: the table of a profile, with its first version';

CREATE FUNCTION neardup_add_version(path text, p neardup_profile) RETURNS int LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  relation regclass := path::regclass;
  profile text := @extschema@.neardup_held_name(relation);
BEGIN
  -- triggers of another role would run with the rights of who calls
  IF NOT EXISTS (SELECT FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE c.oid = relation AND r.rolname = current_user) THEN
    RAISE EXCEPTION 'profile % belongs to another role', path USING ERRCODE = 'insufficient_privilege', HINT = 'Only its owner alters it.';
  END IF;
  PERFORM @extschema@.neardup_check_profile(p);
  EXECUTE format('INSERT INTO %s SELECT ($1).*', profile) USING p;
  RETURN p.version;
END $$;
COMMENT ON FUNCTION neardup_add_version(text, neardup_profile) IS 'private: adds a version to a profile';

-- What is not given stays.
CREATE FUNCTION neardup_changed_profile(p neardup_profile, version int, signature text, unit text, k int, num_perm int, bits int, seed bigint, encoding text,
    script text, rules text, min_length int, normalization text) RETURNS neardup_profile LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT ROW(version, COALESCE(signature, p.signature), COALESCE(unit, p.unit), COALESCE(k, p.k), COALESCE(num_perm, p.num_perm),
             COALESCE(bits, p.bits), COALESCE(seed, p.seed), COALESCE(encoding, p.encoding), COALESCE(script, p.script),
             COALESCE(rules, p.rules), COALESCE(min_length, p.min_length), now(), COALESCE(normalization, p.normalization, 'none'))::@extschema@.neardup_profile
  $$;
COMMENT ON FUNCTION neardup_changed_profile(neardup_profile, int, text, text, int, int, int, bigint, text, text, text, int, text) IS
  'private: a version of a profile that differs in what is given';

CREATE FUNCTION create_profile(name text, base text = 'default', signature text = NULL, unit text = NULL, k int = NULL,
    num_perm int = NULL, bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL,
    min_length int = NULL, normalization text = NULL) RETURNS regclass LANGUAGE plpgsql AS $$
BEGIN
  IF NOT (@extschema@.neardup_default_profile(name) IS NULL) THEN
    RAISE EXCEPTION 'profile "%" is built in', name USING ERRCODE = 'duplicate_object';
  END IF;
  RETURN @extschema@.neardup_make_profile(@extschema@.neardup_new_name(name, 'a profile'::pg_catalog.text, 63),
    @extschema@.neardup_changed_profile(@extschema@.neardup_profile_named(base), 1, signature, unit, k, num_perm, bits, seed, encoding, script,
                                        @extschema@.neardup_rules_path(rules), min_length, normalization));
END $$;
COMMENT ON FUNCTION create_profile(text, text, text, text, int, int, int, bigint, text, text, text, int, text) IS
  'makes a profile, a table of that name, version 1; what is not given is as in the profile base';

CREATE FUNCTION neardup_own_profile(name text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF NOT (@extschema@.neardup_default_profile(name) IS NULL) THEN
    RAISE EXCEPTION 'profile "%" is built in', name USING ERRCODE = 'wrong_object_type',
      HINT = pg_catalog.format('Make your own: create_profile(''my_%s'', base => %L, ..).'::pg_catalog.text, name, name);
  END IF;
  RETURN @extschema@.neardup_profile_path(name);
END $$;
COMMENT ON FUNCTION neardup_own_profile(text) IS 'private: the path of a profile that is a table';

CREATE FUNCTION alter_profile(name text, signature text = NULL, unit text = NULL, k int = NULL, num_perm int = NULL,
    bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL, min_length int = NULL,
    normalization text = NULL) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  path pg_catalog.text := @extschema@.neardup_own_profile(name);
  p @extschema@.neardup_profile := @extschema@.neardup_profile_named(path);
BEGIN
  RETURN @extschema@.neardup_add_version(path,
    @extschema@.neardup_changed_profile(p, p.version OPERATOR(pg_catalog.+) 1, signature, unit, k, num_perm, bits, seed, encoding, script,
                                        @extschema@.neardup_rules_path(rules), min_length, normalization));
END $$;
COMMENT ON FUNCTION alter_profile(text, text, text, int, int, int, bigint, text, text, text, int, text) IS
  'adds a version to a profile and gives its number; jobs sign all rows anew at their next refresh';
