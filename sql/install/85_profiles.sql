-- Profiles -----------------------------------------------------------------------------------------------------------
-- How a document becomes a signature. A user's profile is a table of this type in the user's schema, a row a version;
-- the built-in ones are constants.

CREATE TYPE neardup_profile AS (
  version int, signature text, unit text, k int, num_perm int, bits int, seed bigint,
  encoding text, script text, rules text, min_length int, made_at timestamptz);
COMMENT ON TYPE neardup_profile IS 'how documents are signed: rows of a table that create_profile() makes';

CREATE FUNCTION neardup_default_profiles(OUT name text, OUT profile neardup_profile) RETURNS SETOF record
  LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 6 AS $$
  SELECT name, ROW(1, signature, unit, k, num_perm, bits, seed, encoding, script, rules, min_length, NULL)::@extschema@.neardup_profile
  FROM (VALUES
    ('default', 'minhash', 'word', 3, 128, 32, 0::bigint, 'detect', 'keep', 'none', 0),
    ('web', 'minhash', 'word', 3, 128, 32, 0, 'detect', 'keep', 'default', 50),
    ('code', 'minhash', 'char', 8, 128, 32, 0, 'detect', 'keep', 'none', 0),
    ('chinese', 'minhash', 'char', 3, 128, 32, 0, 'detect', 'simplified', 'none', 0),
    ('simhash', 'simhash', 'word', 3, NULL, NULL, NULL, 'detect', 'keep', 'none', 0),
    ('ctph', 'ctph', NULL, NULL, NULL, NULL, NULL, 'bytes', 'keep', 'none', 0))
    v(name, signature, unit, k, num_perm, bits, seed, encoding, script, rules, min_length)
  $$;
COMMENT ON FUNCTION neardup_default_profiles() IS 'the built-in profiles';

-- The profile of this name: built in, or the newest version of a table.
CREATE FUNCTION neardup_profile_named(name text) RETURNS neardup_profile LANGUAGE plpgsql STABLE AS $$
DECLARE
  p @extschema@.neardup_profile;
  t regclass;
BEGIN
  SELECT (d.profile).* INTO p FROM @extschema@.neardup_default_profiles() d WHERE d.name = $1;
  IF FOUND THEN RETURN p; END IF;
  BEGIN
    t := pg_catalog.to_regclass($1);
  EXCEPTION WHEN syntax_error OR invalid_name OR undefined_table THEN t := NULL;
  END;
  IF t IS NULL OR (SELECT c.reloftype FROM pg_catalog.pg_class c WHERE c.oid = t::oid AND c.relkind = 'r') IS DISTINCT FROM '@extschema@.neardup_profile'::regtype::oid THEN
    RAISE EXCEPTION 'there is no profile "%"', $1 USING ERRCODE = 'undefined_object',
      HINT = 'Built in are ' || (SELECT string_agg(d.name, ', ') FROM @extschema@.neardup_default_profiles() d)
             || '; make your own with create_profile().';
  END IF;
  -- A policy is run by whoever reads the table.
  IF (SELECT pg_catalog.row_security_active(c.oid) AND r.rolname <> current_user FROM pg_catalog.pg_class c JOIN pg_catalog.pg_roles r ON r.oid = c.relowner WHERE c.oid = t::oid) THEN
    RAISE EXCEPTION 'profile "%" of another role has row security', $1 USING ERRCODE = 'insufficient_privilege';
  END IF;
  EXECUTE pg_catalog.format('SELECT * FROM %s ORDER BY version DESC LIMIT 1', t) INTO p;
  IF p.version IS NULL THEN
    RAISE EXCEPTION 'profile "%" has no version', $1 USING ERRCODE = 'undefined_object';
  END IF;
  RETURN p;
END $$;
COMMENT ON FUNCTION neardup_profile_named(text) IS 'the built-in profile of this name, or the newest version of the profile table of this name';

-- Of one that neardup_profile_named() knows; a temporary one has no other name.
CREATE FUNCTION neardup_profile_path(name text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT COALESCE((SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
                   FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                   WHERE name NOT IN (SELECT d.name FROM @extschema@.neardup_default_profiles() d)
                     AND c.oid = pg_catalog.to_regclass(name)::oid AND c.relpersistence <> 't'), name)
  $$;
COMMENT ON FUNCTION neardup_profile_path(text) IS 'private: a profile''s name with its schema, whatever the search_path';

-- What is wrong with a profile is said when it is made.
CREATE FUNCTION neardup_check_profile(p neardup_profile) RETURNS void LANGUAGE plpgsql AS $$
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
  IF p.encoding = 'bytes' AND (p.script <> 'keep' OR p.rules <> 'none') THEN
    RAISE EXCEPTION 'documents of encoding ''bytes'' have no script and no rules' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF p.signature <> 'ctph' AND (p.unit IS NULL OR p.k IS NULL) THEN
    RAISE EXCEPTION 'unit and k of a profile of % signatures must not be NULL', p.signature USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF p.signature = 'minhash' AND (p.num_perm IS NULL OR p.bits IS NULL OR p.seed IS NULL) THEN
    RAISE EXCEPTION 'num_perm, bits and seed of a profile of minhash signatures must not be NULL' USING ERRCODE = 'null_value_not_allowed',
      HINT = 'Give them, or another base.';
  END IF;
  IF p.encoding NOT IN ('detect', 'bytes') THEN PERFORM @extschema@.neardup_decode('', p.encoding); END IF;
  -- the functions check unit, k and the rest; the rules are compiled
  EXECUTE 'SELECT ' || @extschema@.neardup_sign_sql(p, 'text', '''one two three four''::text');
END $$;
COMMENT ON FUNCTION neardup_check_profile(neardup_profile) IS 'private: raises an error for a profile that cannot be used';

-- The document that a profile signs, as an expression over the expression `body`. A profile may be another role's: nothing in
-- it, nor its rules, is to run what that role has put there.
CREATE FUNCTION neardup_document_sql(p neardup_profile, body_type regtype, body text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  e text := body;
BEGIN
  IF body_type::oid = 'bytea'::regtype::oid AND p.encoding <> 'bytes' THEN
    e := pg_catalog.format('(@extschema@.neardup_decode(%s%s)).body', e,
                CASE WHEN p.encoding = 'detect' THEN '' ELSE ', ' || quote_literal(p.encoding) END);
  END IF;
  IF p.script <> 'keep' THEN e := pg_catalog.format('@extschema@.%I(%s)', 'neardup_to_' || p.script, e); END IF;
  IF p.rules = 'default' THEN
    e := pg_catalog.format('(@extschema@.neardup_clean(%s)).body', e);
  ELSIF p.rules <> 'none' THEN
    IF EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = p.rules::regclass::oid
               AND (c.relkind <> 'r' OR c.relrowsecurity OR c.reloftype <> '@extschema@.neardup_rule'::regtype::oid)
               AND c.relowner <> (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user)) THEN
      RAISE EXCEPTION 'the rules "%" of another role are no plain table of type neardup_rule', p.rules USING ERRCODE = 'wrong_object_type';
    END IF;
    e := pg_catalog.format('(@extschema@.neardup_clean(%s, (SELECT pg_catalog.array_agg(r.*::@extschema@.neardup_rule ORDER BY r.position) FROM %s r))).body',
                e, p.rules::regclass);
  END IF;
  RETURN e;
END $$;
COMMENT ON FUNCTION neardup_document_sql(neardup_profile, regtype, text) IS
  'private: the SQL expression of the document that a profile signs';

-- The signature, as an expression over the expression `body`; NULL for a document below min_length.
CREATE FUNCTION neardup_sign_sql(p neardup_profile, body_type regtype, body text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  bytes boolean := body_type::oid = 'bytea'::regtype::oid AND p.encoding = 'bytes';
  document text := @extschema@.neardup_document_sql(p, body_type, body);
  d text := CASE WHEN p.min_length > 0 THEN 'd.body' ELSE document END;
  e text;
BEGIN
  e := CASE
    WHEN p.signature = 'ctph' THEN pg_catalog.format('@extschema@.to_ctph(%s)', d)
    WHEN p.signature = 'simhash' AND bytes THEN pg_catalog.format('@extschema@.to_simhash(%s, %s)', d, p.k)
    WHEN p.signature = 'simhash' THEN pg_catalog.format('@extschema@.to_simhash(%s, %s, %L)', d, p.k, p.unit)
    WHEN bytes THEN pg_catalog.format('@extschema@.to_minhash(%s, %s, num_perm => %s, bits => %s, seed => %s)', d, p.k, p.num_perm, p.bits, p.seed)
    ELSE pg_catalog.format('@extschema@.to_minhash(%s, %s, %L, %s, %s, %s)', d, p.k, p.unit, p.num_perm, p.bits, p.seed)
    END;
  IF p.min_length > 0 THEN
    e := pg_catalog.format('(SELECT CASE WHEN pg_catalog.length(d.body) >= %s THEN %s END FROM (SELECT %s OFFSET 0) d(body))', p.min_length, e, document);
  END IF;
  RETURN e;
END $$;
COMMENT ON FUNCTION neardup_sign_sql(neardup_profile, regtype, text) IS 'the SQL expression that signs documents as a profile says';

CREATE FUNCTION create_profile(name text, base text = 'default', signature text = NULL, unit text = NULL, k int = NULL,
    num_perm int = NULL, bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL,
    min_length int = NULL) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
  p @extschema@.neardup_profile := @extschema@.neardup_profile_named(base);
  at text[] := pg_catalog.parse_ident(name);
  t regclass;
BEGIN
  IF name IS NULL THEN RAISE EXCEPTION 'name must not be NULL' USING ERRCODE = 'null_value_not_allowed'; END IF;
  IF pg_catalog.array_length(at, 1) > 2 THEN
    RAISE EXCEPTION 'a profile''s name is a name or schema.name: %', name USING ERRCODE = 'invalid_name';
  END IF;
  IF EXISTS (SELECT FROM @extschema@.neardup_default_profiles() d WHERE d.name = $1) THEN
    RAISE EXCEPTION 'profile "%" is built in', name USING ERRCODE = 'duplicate_object';
  END IF;
  p := ROW(1, COALESCE(signature, p.signature), COALESCE(unit, p.unit), COALESCE(k, p.k), COALESCE(num_perm, p.num_perm),
           COALESCE(bits, p.bits), COALESCE(seed, p.seed), COALESCE(encoding, p.encoding), COALESCE(script, p.script),
           COALESCE(rules, p.rules), COALESCE(min_length, p.min_length), now());
  PERFORM @extschema@.neardup_check_profile(p);
  EXECUTE pg_catalog.format('CREATE TABLE %s OF @extschema@.neardup_profile (PRIMARY KEY (version))',
                 (SELECT string_agg(quote_ident(x), '.' ORDER BY n) FROM pg_catalog.unnest(at) WITH ORDINALITY u(x, n)));
  t := name::regclass;
  EXECUTE pg_catalog.format('INSERT INTO %s SELECT ($1).*', t) USING p;
  RETURN t;
END $$;
COMMENT ON FUNCTION create_profile(text, text, text, text, int, int, int, bigint, text, text, text, int) IS
  'makes a profile, a table of that name, version 1; what is not given is as in the profile base';

CREATE FUNCTION alter_profile(name text, signature text = NULL, unit text = NULL, k int = NULL, num_perm int = NULL,
    bits int = NULL, seed bigint = NULL, encoding text = NULL, script text = NULL, rules text = NULL, min_length int = NULL)
  RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  p @extschema@.neardup_profile;
BEGIN
  IF EXISTS (SELECT FROM @extschema@.neardup_default_profiles() d WHERE d.name = $1) THEN
    RAISE EXCEPTION 'profile "%" is built in', name USING ERRCODE = 'wrong_object_type',
      HINT = pg_catalog.format('Make your own: create_profile(''my_%s'', base => %L, ..).', name, name);
  END IF;
  p := @extschema@.neardup_profile_named(name);
  p := ROW(p.version + 1, COALESCE(signature, p.signature), COALESCE(unit, p.unit), COALESCE(k, p.k),
           COALESCE(num_perm, p.num_perm), COALESCE(bits, p.bits), COALESCE(seed, p.seed), COALESCE(encoding, p.encoding),
           COALESCE(script, p.script), COALESCE(rules, p.rules), COALESCE(min_length, p.min_length), now());
  PERFORM @extschema@.neardup_check_profile(p);
  EXECUTE pg_catalog.format('INSERT INTO %s SELECT ($1).*', name::regclass) USING p;
  RETURN p.version;
END $$;
COMMENT ON FUNCTION alter_profile(text, text, text, int, int, int, bigint, text, text, text, int) IS
  'adds a version to a profile and gives its number; jobs sign all rows anew at their next refresh';
