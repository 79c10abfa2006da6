-- Refreshing a table of duplicates -----------------------------------------------------------------------------------
-- listing: which rows are new, changed or gone; signing: batch by batch; indexing: where there is no index yet;
-- clustering: those clusters that changed rows can touch, or all of them. Each step is one transaction, and whatever was
-- committed stays: a refresh that ends early is gone on with by the next.

-- With the role in its name: what a failed refresh leaves to a session is not in the way of another role's there.
CREATE FUNCTION neardup_job_temp(job regclass, what text) RETURNS text LANGUAGE sql STABLE STRICT
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT format('pg_temp.neardup_%s_%s_%s', what, job::oid, (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user))
  $$;
COMMENT ON FUNCTION neardup_job_temp(regclass, text) IS 'private: a temporary table of a refresh';

-- Another column may have the name of one that the job reads, by ALTER TABLE, which writes no row. And on a server that the job was restored
-- on from a dump, a row may be where another version of it was, under the same number. True where it has, or may be.
CREATE FUNCTION neardup_refresh_columns(job regclass, j neardup_job) RETURNS boolean LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  columns text[] := ARRAY(SELECT format('%s %s', a.attnum, a.attname) FROM pg_attribute a
                          WHERE a.attrelid = j.source AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum);
  server bigint := (SELECT c.system_identifier FROM pg_control_system() c);
  changed boolean := NOT COALESCE(j.columns <@ columns, true) OR j.system IS DISTINCT FROM server;
BEGIN
  IF changed OR j.columns IS DISTINCT FROM columns THEN
    EXECUTE format('UPDATE %s SET columns = $1, system = $2, resync = resync OR $3', job) USING columns, server, changed;
  END IF;
  RETURN changed;
END $$;
COMMENT ON FUNCTION neardup_refresh_columns(regclass, neardup_job) IS 'private: whether a column of the source has gone, or its name, or the server is another one, since the last listing';

-- Types of the source's columns may have changed since the tables of the job were made: theirs follow. True where they did.
CREATE FUNCTION neardup_refresh_types(job regclass, j neardup_job) RETURNS boolean LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  shape text := @extschema@.neardup_job_temp(job, 'shape'::text);
  result text := @extschema@.neardup_job_part(job, ''::text);
  signatures text := @extschema@.neardup_job_part(job, '_signatures'::text);
  changed boolean := false;
  r record;
  columns text[];
  what text;
  follow text;
  copied text;
BEGIN
  PERFORM @extschema@.neardup_drop('TABLE'::text, shape);
  EXECUTE format('CREATE TEMP TABLE %s AS SELECT * FROM (%s) l WITH NO DATA', split_part(shape, '.', 2), @extschema@.neardup_job_rows(j));
  PERFORM @extschema@.neardup_check_range(b.atttypid, format('column "%s"', CASE b.attname WHEN 'id' THEN j.id::text WHEN 'key' THEN 'order_by' ELSE b.attname::text END))
    FROM pg_attribute b WHERE b.attrelid = shape::regclass::oid AND b.attnum > 0;
  FOR r IN SELECT a.attname::text AS name, pg_catalog.format_type(a.atttypid, a.atttypmod) AS old, pg_catalog.format_type(b.atttypid, b.atttypmod) AS new,
             COALESCE((SELECT format(' COLLATE %I.%I', n.nspname, l.collname) FROM pg_collation l JOIN pg_namespace n ON n.oid = l.collnamespace
                       WHERE l.oid = b.attcollation), '') AS collation, a.atttypid AS old_type, b.atttypid AS new_type
           FROM pg_attribute a JOIN pg_attribute b ON b.attname = a.attname
           WHERE a.attrelid = signatures::regclass::oid AND b.attrelid = shape::regclass::oid AND a.attnum > 0 AND b.attnum > 0
             AND NOT a.attisdropped AND (a.atttypid, a.atttypmod, a.attcollation) <> (b.atttypid, b.atttypmod, b.attcollation) LOOP
    columns := CASE WHEN r.name = 'id' THEN '{id,representative}'
                    WHEN r.name LIKE 'within_%' THEN ARRAY[j.within[substr(r.name, 8)::int]::text] END;
    what := CASE r.name WHEN 'id' THEN j.id::text WHEN 'at' THEN j.at::text WHEN 'key' THEN 'order_by' ELSE columns[1] END;
    BEGIN
      follow := format('ALTER TABLE %s ALTER %I TYPE %s%s USING ', signatures, r.name, r.new, r.collation);
      copied := '%I::pg_catalog.text::' || replace(r.new, '%', '%%');
      IF EXISTS (SELECT FROM pg_type y WHERE y.oid = r.old_type AND y.typtype = 'd' AND y.typbasetype = r.new_type) THEN
        copied := '%I::' || replace(r.new, '%', '%%');  -- a domain as the type below it
      ELSIF NOT @extschema@.neardup_trusted_type(r.old_type) OR NOT @extschema@.neardup_trusted_type(r.new_type) THEN
        RAISE EXCEPTION 'casts and checks of another role''s type would run with your rights' USING ERRCODE = 'insufficient_privilege';
      END IF;
      IF r.name <> 'key' THEN
        EXECUTE follow || format(copied, r.name);
      ELSE
        BEGIN
          EXECUTE follow || 'NULL';  -- keys are read again
        EXCEPTION WHEN not_null_violation OR check_violation THEN  -- of a domain
          BEGIN
            EXECUTE follow || format(copied, r.name);
          EXCEPTION WHEN OTHERS THEN  -- these are as they were at the last refresh, and those of the source fit
            PERFORM @extschema@.neardup_clear_signatures(job, j);
            EXECUTE follow || 'NULL';
          END;
        END;
      END IF;
      IF columns IS NOT NULL THEN
        EXECUTE format('ALTER TABLE %s %s', result,
          (SELECT string_agg(format('ALTER %I TYPE %s%s USING %s', c, r.new, r.collation, format(copied, c)), ', ') FROM unnest(columns) c));
      END IF;
    EXCEPTION WHEN OTHERS THEN
      RAISE EXCEPTION '"%" of % was % and is %, and the tables of the job cannot follow: %', what, j.source, r.old, r.new, SQLERRM
        USING ERRCODE = SQLSTATE, HINT = 'drop_duplicates() and create_duplicates() make the job anew.';
    END;
    changed := true;
  END LOOP;
  PERFORM @extschema@.neardup_drop('TABLE'::text, shape);
  RETURN changed;
END $$;
COMMENT ON FUNCTION neardup_refresh_types(regclass, neardup_job) IS 'private: gives the tables of a job the types that the source''s columns have now';

CREATE FUNCTION neardup_refresh_list(job regclass, j neardup_job) RETURNS bigint LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  todo text := @extschema@.neardup_job_temp(job, 'todo'::text);
  rows text := @extschema@.neardup_job_rows(j);
  signatures text := @extschema@.neardup_job_part(job, '_signatures'::text);
  stored boolean := @extschema@.neardup_job_stored(j.source);
  eq text := @extschema@.neardup_equality(@extschema@.neardup_job_column(j.source, j.id, 'id'::text));  -- of ids
  changed text;
  n bigint;
  nameless boolean;
BEGIN
  -- Each row is to remember by itself that it has not been compared, so that what a time limit ends is gone on with.
  IF j.resync THEN
    IF stored THEN EXECUTE format('UPDATE %s SET version = NULL WHERE version IS NOT NULL', signatures); END IF;
    EXECUTE format('UPDATE %s SET resync = false', job);
  END IF;
  IF stored THEN
    changed := 'g.version IS NULL OR g.origin IS DISTINCT FROM l.origin OR g.place IS DISTINCT FROM l.place OR g.version IS DISTINCT FROM l.version';
  ELSE
    changed := format('ROW(g.content)::pg_catalog.record OPERATOR(pg_catalog.*<>) ROW(%s)::pg_catalog.record OR %s', @extschema@.neardup_job_hash(j, @extschema@.neardup_job_kind(j), 'l.body'),
                      @extschema@.neardup_job_differs(j, 'g', 'l'));
  END IF;
  PERFORM @extschema@.neardup_drop('TABLE'::text, todo);
  EXECUTE format(
    'CREATE TEMP TABLE %1$s AS SELECT row_number() OVER () AS n, t.* FROM (
       SELECT l.id, false AS gone FROM (%2$s) l LEFT JOIN %3$s g ON g.id %5$s l.id WHERE g.id IS NULL OR g.gone OR %4$s
       UNION ALL
       SELECT g.id, true FROM %3$s g WHERE NOT g.gone AND NOT EXISTS (SELECT FROM (%2$s) l WHERE l.id %5$s g.id)) t',
    split_part(todo, '.', 2), rows, signatures, changed, eq);
  GET DIAGNOSTICS n = ROW_COUNT;
  EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE id IS NULL)', todo) INTO nameless;
  IF nameless THEN
    RAISE EXCEPTION 'the column "%" of % is NULL in a row', j.id, j.source USING ERRCODE = 'null_value_not_allowed',
      HINT = format('filter => %L leaves such rows out.', format('%I IS NOT NULL', j.id));
  END IF;
  EXECUTE format('CREATE INDEX ON %s (n)', todo);
  EXECUTE format('ANALYZE %s', todo);
  RETURN n;
END $$;
COMMENT ON FUNCTION neardup_refresh_list(regclass, neardup_job) IS 'private: lists the rows to be signed, and how many they are';

CREATE FUNCTION neardup_refresh_sign(job regclass, j neardup_job, after bigint, upto bigint) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  todo text := @extschema@.neardup_job_temp(job, 'todo'::text);
  signatures text := @extschema@.neardup_job_part(job, '_signatures'::text);
  kind text := @extschema@.neardup_job_kind(j);
  eq text := @extschema@.neardup_equality(@extschema@.neardup_job_column(j.source, j.id, 'id'::text));  -- of ids
  more text[] := ARRAY(SELECT 'key' UNION ALL SELECT 'within_' || i::text FROM generate_series(1, array_length(j.within, 1)) i
                       UNION ALL SELECT 'at' WHERE j.at IS NOT NULL);
  sign text := CASE WHEN j.body IS NULL THEN 'b.body'
                    ELSE @extschema@.neardup_sign_sql(@extschema@.neardup_profile_named(j.profile), j.body_type, 'b.body') END;
BEGIN
  EXECUTE format(
    'INSERT INTO %1$s AS g (id, signature, content, origin, place, version, generation, gone, %2$s)
     SELECT b.id, CASE WHEN b.same THEN b.signature ELSE %3$s END,
            b.content, b.origin, b.place, b.version, CASE WHEN b.changed THEN $3 ELSE b.generation END, false, %4$s
     FROM (SELECT l.*, o.signature, COALESCE(o.generation, 0) AS generation,
                  o.id IS NOT NULL AND NOT o.gone AND o.content IS NOT DISTINCT FROM l.content AS same,
                  o.id IS NULL OR o.gone OR o.content IS DISTINCT FROM l.content OR %5$s
                  OR ($4 AND (o.origin IS DISTINCT FROM l.origin OR o.place IS DISTINCT FROM l.place OR o.version IS DISTINCT FROM l.version)) AS changed
           FROM (SELECT l.*, %6$s AS content FROM %7$s t JOIN (%8$s) l ON l.id %10$s t.id
                 WHERE t.n > $1 AND t.n <= $2 AND NOT t.gone OFFSET 0) l
           LEFT JOIN %1$s o ON o.id %10$s l.id OFFSET 0) b
     ON CONFLICT (id) DO UPDATE SET signature = EXCLUDED.signature,
       content = EXCLUDED.content, origin = EXCLUDED.origin, place = EXCLUDED.place, version = EXCLUDED.version,
       generation = EXCLUDED.generation, gone = false, %9$s',
    signatures, array_to_string(more, ', '), sign, (SELECT string_agg('b.' || c, ', ' ORDER BY i) FROM unnest(more) WITH ORDINALITY u(c, i)),
    @extschema@.neardup_job_differs(j, 'o', 'l'), @extschema@.neardup_job_hash(j, kind, 'l.body'), todo, @extschema@.neardup_job_rows(j),
    (SELECT string_agg(format('%s = EXCLUDED.%s', c, c), ', ') FROM unnest(more) c), eq)
    USING after, upto, j.refresh, j.verify IS NOT NULL;
  EXECUTE format(
    'UPDATE %s g SET gone = true, generation = $3
     FROM %s t WHERE t.n > $1 AND t.n <= $2 AND t.gone AND g.id %s t.id AND NOT g.gone', signatures, todo, eq)
    USING after, upto, j.refresh;
EXCEPTION WHEN cardinality_violation THEN
  RAISE EXCEPTION 'the column "%" of % is not unique', j.id, j.source USING ERRCODE = 'cardinality_violation';
END $$;
COMMENT ON FUNCTION neardup_refresh_sign(regclass, neardup_job, bigint, bigint) IS 'private: signs the rows of one batch, and marks those that have gone';

-- Least similarity of signatures for rows that may be similar.
CREATE FUNCTION neardup_refresh_threshold(job regclass, j neardup_job) RETURNS float8 LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t float8;
BEGIN
  IF j.verify IS NULL OR j.verify_threshold IS NOT NULL THEN RETURN j.threshold; END IF;
  IF j.verify = 'edit_rate' THEN RETURN greatest(1 - 3 * (1 - j.threshold), 0.01); END IF;
  EXECUTE format('SELECT @extschema@.neardup_search_threshold(signature, $1) FROM %s WHERE signature IS NOT NULL LIMIT 1',
                 @extschema@.neardup_job_part(job, '_signatures'::text)) INTO t USING j.threshold;
  RETURN t;
END $$;
COMMENT ON FUNCTION neardup_refresh_threshold(regclass, neardup_job) IS 'private: least similarity of signatures of similar rows';

-- The condition that two signatures are near, which an index serves; NULL where none would. Here and below, numbers are
-- written into statements with all of their digits.
CREATE FUNCTION neardup_refresh_near(kind text, threshold float8, a text, b text) RETURNS text LANGUAGE sql IMMUTABLE
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
  SELECT CASE
    WHEN kind = 'minhash' AND threshold >= 0.5 THEN format('@extschema@.jaccard(%s, %s) OPERATOR(pg_catalog.>=) %L::pg_catalog.float8', a, b, threshold)
    WHEN kind = 'simhash' AND threshold >= 1 - 10 / 64.0::float8 THEN
      format('@extschema@.hamming(%s, %s) OPERATOR(pg_catalog.<=) %s', a, b, (SELECT max(d) FROM generate_series(0, 10) d WHERE 1 - d / 64.0::float8 >= threshold))
    WHEN kind = 'ctph' AND threshold >= 0.85 THEN
      format('@extschema@.ctph_edit_rate(%s, %s) OPERATOR(pg_catalog.<=) %L::pg_catalog.float8', a, b, least(1 - threshold + 1e-9, 0.15)) END
  $$;
COMMENT ON FUNCTION neardup_refresh_near(text, float8, text, text) IS 'private: the condition that two signatures are near';

CREATE FUNCTION neardup_refresh_index(job regclass, j neardup_job) RETURNS void LANGUAGE plpgsql SET extra_float_digits = 1
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  signatures text := @extschema@.neardup_job_part(job, '_signatures'::text);
  kind text := @extschema@.neardup_job_kind(j);
  lower float8;
BEGIN
  IF cardinality(@extschema@.neardup_job_indexes(job)) = 0 AND
     @extschema@.neardup_refresh_near(kind, j.search_threshold, 'a', 'b') IS NOT NULL THEN
    -- they may be of other parameters than those that have come
    EXECUTE format('UPDATE %s SET signature = NULL WHERE gone AND signature IS NOT NULL', signatures);
    -- An index of a lower threshold than what is searched for tells candidates apart by how many bands they share: at a million rows of pages
    -- full of boilerplate a tenth of them is left. Long signatures may have too many bands for it, or for any index: then all rows are
    -- clustered each time.
    FOREACH lower IN ARRAY CASE WHEN kind = 'minhash' THEN ARRAY[0.05, 0] ELSE ARRAY[0] END::float8[] LOOP
      BEGIN
        EXECUTE format('CREATE INDEX ON %s USING lsh (signature%s)%s', signatures,
          CASE WHEN kind = 'ctph' THEN format(' @extschema@.ctph_ops (max_rate = %s)',
            least(ceil(((1::float8 - j.search_threshold) * 100000::float8)::numeric(12, 3)) / 100000::numeric, 0.15::numeric)::numeric(6, 5)) ELSE '' END,
          CASE WHEN kind = 'minhash' THEN format(' WITH (threshold = %s)', j.search_threshold - lower) ELSE '' END);
        EXIT;
      EXCEPTION WHEN program_limit_exceeded THEN NULL;
      END;
    END LOOP;
    EXECUTE format('ANALYZE %s', signatures);
  END IF;
END $$;
COMMENT ON FUNCTION neardup_refresh_index(regclass, neardup_job) IS 'private: makes the index of a job''s signatures where there is none';

-- The rows that are clustered anew, so that all others keep theirs: a list of those whose cluster may have changed, and of the representatives
-- that they meet. False, and no list, where they are so many that clustering all is quicker. `near` may hold of more pairs than
-- are similar (within, at and verify are left to the clustering): then the list is longer, nothing else.
--
-- Connected: rows of two clusters are not similar. So what changes are the clusters of rows that have changed or gone, and those that the
-- changed rows are near to now.
-- Anchor: only representatives draw others to them, and only later ones. A row is affected when it has changed, when its representative has
-- gone, has changed or is affected itself, or when an earlier near row is affected that may be a representative now. It is none for sure
-- where an earlier representative that is not affected is near.
CREATE FUNCTION neardup_refresh_touched(job regclass, j neardup_job) RETURNS boolean LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  result text := @extschema@.neardup_job_part(job, ''::text);
  signatures text := @extschema@.neardup_job_part(job, '_signatures'::text);
  touched text := @extschema@.neardup_job_temp(job, 'touched'::text);
  edges text := @extschema@.neardup_job_temp(job, 'edges'::text);
  kind text := @extschema@.neardup_job_kind(j);
  eq text := @extschema@.neardup_equality(@extschema@.neardup_job_column(j.source, j.id, 'id'::text));  -- of ids
  near text := @extschema@.neardup_refresh_near(kind, j.search_threshold, 'g.signature', 'f.signature');
  exact boolean := kind IN ('minhash', 'simhash') AND j.verify IS NULL AND j.at IS NULL AND cardinality(j.within) = 0;
  rows bigint;
  n bigint;
  found bigint;
  sampled bigint;
  most bigint;
BEGIN
  IF j.recluster OR j.clustered = 0 OR near IS NULL OR cardinality(@extschema@.neardup_job_indexes(job)) = 0 THEN RETURN false; END IF;
  EXECUTE format('SELECT count(*) FROM %s', signatures) INTO rows;
  EXECUTE format('SELECT count(*) FROM %s WHERE generation > $1', signatures) INTO n USING j.clustered;
  -- A search costs as much as to cluster ten rows, and in more than a million rows more: an index that the memory does not hold.
  most := least(rows / 10 + 10, 100000 + rows / 100);
  IF n > least(rows / 20 + 10, most) THEN RETURN false; END IF;
  PERFORM @extschema@.neardup_drop('TABLE'::text, touched, edges);
  EXECUTE format('CREATE TEMP TABLE %s AS SELECT id, false AS searched FROM %s WHERE generation > $1 AND NOT gone', split_part(touched, '.', 2), signatures)
    USING j.clustered;
  EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (id)', touched);
  EXECUTE format('CREATE TEMP TABLE %s AS SELECT id AS x, id AS y, false AS later, false AS settled FROM %s WITH NO DATA', split_part(edges, '.', 2), signatures);
  IF j.linkage = 'anchor' THEN
    EXECUTE format('INSERT INTO %s SELECT m.id, false FROM %s s JOIN %s r ON r.id %s s.id JOIN %s m ON m.cluster = r.cluster
        WHERE s.generation > $1 AND r.survivor ON CONFLICT DO NOTHING', touched, signatures, result, eq, result) USING j.clustered;
  END IF;
  FOR round IN 1 .. 50 LOOP
    EXECUTE format('SELECT count(*), count(*) FILTER (WHERE NOT searched) FROM %s', touched) INTO n, found;
    IF n > most THEN RETURN false; END IF;
    EXIT WHEN found = 0;
    EXECUTE format('ANALYZE %s', touched);
    -- A large family of near rows: each would find all others.
    EXECUTE format('SELECT count(*) FROM (SELECT s.signature FROM %s t JOIN %s s ON s.id %s t.id
           WHERE NOT t.searched AND NOT s.gone AND s.signature IS NOT NULL LIMIT 20) f
         CROSS JOIN LATERAL (SELECT FROM %s g WHERE NOT g.gone AND %s) g', touched, signatures, eq, signatures, near) INTO sampled;
    IF sampled * found / least(found, 20) > 10 * rows + 100000 THEN RETURN false; END IF;
    -- Records compare as ORDER BY does. settled: a representative that has not changed.
    EXECUTE format(
      'INSERT INTO %s SELECT f.id, g.id, %s, r.survivor AND g.generation <= $1 FROM (SELECT s.id, s.key, s.signature FROM %s t JOIN %s s ON s.id %s t.id
           WHERE NOT t.searched AND NOT s.gone AND s.signature IS NOT NULL) f
         CROSS JOIN LATERAL (SELECT g.id, g.key, g.generation FROM %s g WHERE NOT g.gone AND %s) g LEFT JOIN %s r ON r.id %s g.id
         WHERE ROW(g.id)::record OPERATOR(pg_catalog.<>) ROW(f.id)::record', edges,
      format('CASE WHEN (g.key IS NULL) OPERATOR(pg_catalog.<>) (f.key IS NULL) THEN g.key IS NULL
        WHEN ROW(g.key)::record OPERATOR(pg_catalog.=) ROW(f.key)::record THEN ROW(g.id)::record OPERATOR(pg_catalog.>) ROW(f.id)::record
        ELSE ROW(g.key)::record OPERATOR(pg_catalog.%s) ROW(f.key)::record END', CASE WHEN j.keep = 'oldest' THEN '>' ELSE '<' END),
      touched, signatures, eq, signatures, near, result, eq) USING j.clustered;
    EXECUTE format('UPDATE %s SET searched = true WHERE NOT searched', touched);
    EXIT WHEN j.linkage = 'connected';
    EXECUTE format('ANALYZE %s', edges);
    EXECUTE format(
      'INSERT INTO %s SELECT DISTINCT a.id, false FROM (
         SELECT e.y AS id FROM %s e WHERE e.later%s
         UNION ALL
         SELECT m.id FROM %s t JOIN %s r ON r.id %s t.id JOIN %s m ON m.cluster = r.cluster WHERE r.survivor) a ON CONFLICT DO NOTHING',
      touched, edges, CASE WHEN exact THEN format(' AND NOT EXISTS (SELECT FROM %s s
           WHERE s.x %s e.x AND s.settled AND NOT s.later AND NOT EXISTS (SELECT FROM %s t WHERE t.id %s s.y))', edges, eq, touched, eq) END,
      touched, result, eq, result);
  END LOOP;
  IF found > 0 AND j.linkage = 'anchor' THEN RETURN false; END IF;
  IF j.linkage = 'connected' THEN
    EXECUTE format('INSERT INTO %s SELECT DISTINCT y, true FROM %s ON CONFLICT DO NOTHING', touched, edges);
    EXECUTE format('INSERT INTO %s SELECT m.id, true FROM %s m WHERE m.cluster IN (SELECT r.cluster FROM %s r WHERE EXISTS (SELECT FROM %s t WHERE t.id %s r.id)
        UNION ALL SELECT r.cluster FROM %s r JOIN %s s ON s.id %s r.id WHERE s.generation > $1) ON CONFLICT DO NOTHING',
      touched, result, result, touched, eq, result, signatures, eq) USING j.clustered;
    EXECUTE format('SELECT count(*) FROM %s', touched) INTO n;
    RETURN n <= rows / 2;
  END IF;
  EXECUTE format('INSERT INTO %s SELECT DISTINCT y, true FROM %s WHERE settled ON CONFLICT DO NOTHING', touched, edges);
  EXECUTE format('INSERT INTO %s SELECT DISTINCT r.representative, true FROM %s r JOIN %s s ON s.id %s r.id WHERE s.generation > $1 ON CONFLICT DO NOTHING',
    touched, result, signatures, eq) USING j.clustered;
  RETURN true;
END $$;
COMMENT ON FUNCTION neardup_refresh_touched(regclass, neardup_job) IS 'private: lists the rows whose cluster may have changed';

CREATE FUNCTION neardup_refresh_cluster(job regclass, j neardup_job) RETURNS void LANGUAGE plpgsql SET extra_float_digits = 1
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  result text := @extschema@.neardup_job_part(job, ''::text);
  signatures text := @extschema@.neardup_job_part(job, '_signatures'::text);
  changes text := @extschema@.neardup_job_part(job, '_changes'::text);
  touched text := @extschema@.neardup_job_temp(job, 'touched'::text);
  edges text := @extschema@.neardup_job_temp(job, 'edges'::text);
  fresh text := @extschema@.neardup_job_temp(job, 'fresh'::text);
  ids text := @extschema@.neardup_job_temp(job, 'ids'::text);
  heirs text := @extschema@.neardup_job_temp(job, 'heirs'::text);
  part boolean := @extschema@.neardup_refresh_touched(job, j);
  within text := (SELECT string_agg('g.within_' || i::text, ', ' ORDER BY i) FROM generate_series(1, array_length(j.within, 1)) i);
  eq text := @extschema@.neardup_equality(@extschema@.neardup_job_column(j.source, j.id, 'id'::text));  -- of ids
  id_type text;
  query text;
  looked_at bigint;
  n bigint;
BEGIN
  -- a domain may not take the NULL that names the type
  SELECT CASE WHEN t IN ('smallint'::regtype::oid, 'int'::regtype::oid, 'bigint'::regtype::oid) THEN 'bigint' ELSE pg_catalog.format_type(t, NULL) END
    INTO id_type FROM (SELECT @extschema@.neardup_job_column(j.source, j.id, 'id'::text)::oid AS t) x;
  query := format('SELECT g.id, g.signature%s%s%s FROM %s g%s WHERE NOT g.gone%s ORDER BY g.key %s NULLS LAST, g.id',
    CASE WHEN within IS NOT NULL THEN format(', ROW(%s) AS within', within) END, CASE WHEN j.at IS NOT NULL THEN ', g.at AS at' END,
    CASE WHEN j.verify IS NOT NULL THEN
      format(', %s AS doc', @extschema@.neardup_document_sql(@extschema@.neardup_profile_named(j.profile), j.body_type, 'l.body')) END,
    signatures, CASE WHEN j.verify IS NOT NULL THEN format(' JOIN (%s) l ON l.id %s g.id', @extschema@.neardup_job_rows(j), eq) END,
    CASE WHEN part THEN format(' AND EXISTS (SELECT FROM %s t WHERE t.id %s g.id)', touched, eq) END,
    CASE WHEN j.keep = 'oldest' THEN 'ASC' ELSE 'DESC' END);
  PERFORM @extschema@.neardup_drop('TABLE'::text, fresh, ids, heirs);
  EXECUTE format('CREATE TEMP TABLE %s AS SELECT c.id, COALESCE(c.cluster, c.n) AS c, COALESCE(c.representative, c.id) AS representative,
                    c.similarity, c.survivor, c.n
                  FROM @extschema@.all_clusters(NULL::%s, %L, %L::float8, %L, %L, %L::float8, %L::interval)
                       WITH ORDINALITY c(id, cluster, representative, similarity, cluster_size, survivor, n)',
    split_part(fresh, '.', 2), id_type, query, j.threshold, j.linkage, j.verify, j.verify_threshold, j.at_most_apart);
  GET DIAGNOSTICS looked_at = ROW_COUNT;
  EXECUTE format('ANALYZE %s', fresh);
  -- Where an old cluster lives on: with its representative, or with the first of its rows that are left.
  EXECUTE format('CREATE TEMP TABLE %s AS SELECT DISTINCT ON (r.cluster) r.cluster AS old, f.c FROM %s f JOIN %s r ON r.id %s f.id
                  ORDER BY r.cluster, r.id %s r.representative DESC, f.n', split_part(heirs, '.', 2), fresh, result, eq, eq);
  EXECUTE format('CREATE TEMP TABLE %s AS SELECT c, COALESCE(old, $1 - 1 + row_number() OVER (PARTITION BY old IS NULL ORDER BY c)) AS id, old IS NULL AS new
                  FROM (SELECT f.c, min(h.old) AS old FROM (SELECT DISTINCT c FROM %s) f LEFT JOIN %s h ON h.c = f.c GROUP BY f.c) x',
                 split_part(ids, '.', 2), fresh, heirs) USING j.next_cluster;
  EXECUTE format('ANALYZE %s', ids);
  EXECUTE format('ANALYZE %s', heirs);
  EXECUTE format(
    'INSERT INTO %s (refresh, change, cluster, other)
     SELECT $1, ''merged'', i.id, h.old FROM %s h JOIN %s i ON i.c = h.c WHERE i.id <> h.old
     UNION ALL
     SELECT DISTINCT $1, ''split'', i.id, r.cluster FROM %s f JOIN %s i ON i.c = f.c AND i.new JOIN %s r ON r.id %s f.id
     UNION ALL
     SELECT DISTINCT $1, ''gone'', r.cluster, NULL::bigint FROM %s r WHERE %s AND NOT EXISTS (SELECT FROM %s h WHERE h.old = r.cluster)',
    changes, heirs, ids, fresh, ids, result, eq, result,
    CASE WHEN part THEN format('EXISTS (SELECT FROM %s g WHERE g.gone AND g.id %s r.id)', signatures, eq) ELSE 'true' END, heirs) USING j.refresh;
  EXECUTE format('DELETE FROM %s r WHERE %s', result,
    CASE WHEN part THEN format('EXISTS (SELECT FROM %s g WHERE g.gone AND g.id %s r.id)', signatures, eq)
         ELSE format('NOT EXISTS (SELECT FROM %s f WHERE f.id %s r.id)', fresh, eq) END);
  EXECUTE format(
    'INSERT INTO %1$s AS r (id, cluster, representative, similarity, survivor, found_at%2$s)
     SELECT f.id, i.id, f.representative, f.similarity, f.survivor, now()%3$s
     FROM %4$s f JOIN %5$s i ON i.c = f.c%6$s LEFT JOIN %1$s o ON o.id %9$s f.id
     WHERE o.id IS NULL OR (o.cluster, o.survivor) <> (i.id, f.survivor) OR NOT (o.representative %9$s f.representative)
           OR o.similarity IS DISTINCT FROM f.similarity%7$s
     ON CONFLICT (id) DO UPDATE SET cluster = EXCLUDED.cluster, representative = EXCLUDED.representative, similarity = EXCLUDED.similarity,
       survivor = EXCLUDED.survivor, found_at = CASE WHEN r.cluster = EXCLUDED.cluster THEN r.found_at ELSE EXCLUDED.found_at END%8$s',
    result, (SELECT string_agg(', ' || pg_catalog.quote_ident(w), '' ORDER BY i) FROM unnest(j.within) WITH ORDINALITY u(w, i)), ', ' || within, fresh, ids,
    CASE WHEN within IS NOT NULL THEN format(' JOIN %s g ON g.id %s f.id', signatures, eq) END,
    (SELECT string_agg(format(' OR ROW(o.%I)::record OPERATOR(pg_catalog.*<>) ROW(g.within_%s)::record', w, i), '' ORDER BY i) FROM unnest(j.within) WITH ORDINALITY u(w, i)),
    (SELECT string_agg(format(', %I = EXCLUDED.%I', w, w), '' ORDER BY i) FROM unnest(j.within) WITH ORDINALITY u(w, i)), eq);
  -- Rows of a cluster that were not looked at go with its representative.
  IF part THEN
    EXECUTE format('UPDATE %s r SET cluster = i.id, found_at = now() FROM %s h JOIN %s i ON i.c = h.c
        WHERE r.cluster = h.old AND i.id <> h.old AND NOT EXISTS (SELECT FROM %s f WHERE f.id %s r.id)', result, heirs, ids, fresh, eq);
  END IF;
  EXECUTE format('DELETE FROM %s WHERE gone', signatures);
  EXECUTE format('SELECT count(*) FROM %s WHERE new', ids) INTO n;
  EXECUTE format('UPDATE %s SET clustered = refresh, clustered_rows = $2, recluster = false, next_cluster = next_cluster + $1', job)
    USING n, looked_at;
  PERFORM @extschema@.neardup_drop('TABLE'::text, fresh, ids, heirs, touched, edges);
END $$;
COMMENT ON FUNCTION neardup_refresh_cluster(regclass, neardup_job) IS 'private: clusters what has changed and writes the result';

-- One step, by the phase that the job is in; gives the next phase.
CREATE FUNCTION neardup_refresh_step(job regclass, batch int) RETURNS text LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  j @extschema@.neardup_job := @extschema@.neardup_job_row(job);
  p @extschema@.neardup_profile;
  t regtype;
  n bigint;
BEGIN
  IF j.phase = 'listing' THEN
    PERFORM @extschema@.neardup_job_rows(j);
    IF j.body IS NOT NULL THEN
      p := @extschema@.neardup_profile_named(j.profile);
      t := @extschema@.neardup_job_column(j.source, j.body, 'body'::text);
      IF p.version IS DISTINCT FROM j.profile_version OR t::oid <> j.body_type::oid THEN
        j.profile_version := p.version; j.body_type := t; j.recluster := true;
        EXECUTE format('UPDATE %s SET profile_version = $1, body_type = $2, recluster = true', job) USING p.version, t;
        PERFORM @extschema@.neardup_clear_signatures(job, j);
      END IF;
    END IF;
    j.resync := @extschema@.neardup_refresh_columns(job, j) OR j.resync;
    IF @extschema@.neardup_refresh_types(job, j) THEN
      j.resync := true;
      EXECUTE format('UPDATE %s SET resync = true, recluster = true', job);
    END IF;
    n := @extschema@.neardup_refresh_list(job, j);
    EXECUTE format('UPDATE %s SET total = $1, done = 0', job) USING n;
    RETURN CASE WHEN n > 0 THEN 'signing' ELSE 'indexing' END;
  ELSIF j.phase = 'signing' THEN
    BEGIN
      PERFORM @extschema@.neardup_refresh_sign(job, j, j.done, j.done + batch);
    EXCEPTION WHEN datatype_mismatch THEN
      -- the column has signatures of other parameters now, which only another index takes
      IF j.signature IS NULL OR cardinality(@extschema@.neardup_job_indexes(job)) = 0 THEN RAISE; END IF;
      PERFORM @extschema@.neardup_drop('INDEX'::text, VARIADIC @extschema@.neardup_job_indexes(job));
      EXECUTE format('UPDATE %s SET recluster = true', job);
      PERFORM @extschema@.neardup_refresh_sign(job, j, j.done, j.done + batch);
    END;
    EXECUTE format('UPDATE %s SET done = LEAST(done + $1, total)', job) USING batch;
    RETURN CASE WHEN j.done + batch < j.total THEN 'signing' ELSE 'indexing' END;
  ELSIF j.phase = 'indexing' THEN
    j.search_threshold := @extschema@.neardup_refresh_threshold(job, j);
    EXECUTE format('UPDATE %s SET search_threshold = $1', job) USING j.search_threshold;
    PERFORM @extschema@.neardup_refresh_index(job, j);
    PERFORM @extschema@.neardup_drop('TABLE'::text, @extschema@.neardup_job_temp(job, 'todo'::text));
    EXECUTE format('SELECT count(*) FROM %s WHERE generation > $1', @extschema@.neardup_job_part(job, '_signatures'::text)) INTO n USING j.clustered;
    IF n = 0 AND NOT j.recluster THEN
      EXECUTE format('UPDATE %s SET clustered_rows = 0', job);
      RETURN 'idle';
    END IF;
    RETURN 'clustering';
  END IF;
  PERFORM @extschema@.neardup_refresh_cluster(job, j);
  RETURN 'idle';
END $$;
COMMENT ON FUNCTION neardup_refresh_step(regclass, int) IS 'private: one step of a refresh';

-- Whether 0.2.0 signed some documents of a job otherwise: encodings were guessed by other means, rules are others, CR was no line's end.
CREATE FUNCTION neardup_signed_otherwise(j neardup_job) RETURNS boolean LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  p @extschema@.neardup_profile;
BEGIN
  IF j.body IS NULL THEN RETURN false; END IF;
  p := @extschema@.neardup_profile_named(j.profile);
  RETURN COALESCE(p.unit = 'char', false) OR p.rules <> 'none' OR (j.body_type::oid = 'bytea'::regtype::oid AND p.encoding <> 'bytes');
END $$;
COMMENT ON FUNCTION neardup_signed_otherwise(neardup_job) IS 'private: whether a job of 0.2.0 is to sign its documents anew';

-- False where the job is paused.
CREATE FUNCTION neardup_refresh_begin(job regclass, j neardup_job) RETURNS boolean LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  t record;
  qualified boolean := (@extschema@.neardup_job_row(job)).qualified;  -- as it is stored
BEGIN
  PERFORM @extschema@.neardup_demand_owner(job);
  IF j.source IS NULL THEN
    RAISE EXCEPTION 'job % has no row', job USING ERRCODE = 'data_exception';
  END IF;
  IF j.paused THEN
    RAISE NOTICE '% is paused', @extschema@.neardup_job_name(job)
      USING HINT = format('SELECT pause_duplicates(%L, false);', @extschema@.neardup_job_name(job));
    RETURN false;
  END IF;
  SELECT * INTO t FROM @extschema@.neardup_job_tables(job);
  PERFORM @extschema@.neardup_job_part(job, v.suffix) FROM (VALUES (''), ('_signatures'), ('_changes')) v(suffix);
  EXECUTE format('UPDATE %s SET refresh = refresh + 1, phase = ''listing'', done = 0, total = NULL, started = clock_timestamp(),
                  phase_started = clock_timestamp(), finished = NULL, pid = pg_backend_pid(), last_error = NULL,
                  filter = $1, deleted = $2, order_by = $3, qualified = true, profile_version = CASE WHEN $7 THEN NULL ELSE profile_version END,
                  result = COALESCE(result, $4), signatures = COALESCE(signatures, $5), changes = COALESCE(changes, $6)', job)
    USING j.filter, j.deleted, j.order_by, t.result, t.signatures, t.changes, qualified IS NOT TRUE AND @extschema@.neardup_signed_otherwise(j);
  RETURN true;
END $$;
COMMENT ON FUNCTION neardup_refresh_begin(regclass, neardup_job) IS 'private: marks the begin of a refresh';

-- After a step: `next` is the phase that it leads to. signed: a batch has been signed by this call. goes_on is false where the refresh ends here.
CREATE FUNCTION neardup_refresh_next(job regclass, step text, next text, start timestamptz, time_limit interval, INOUT signed boolean, OUT goes_on boolean)
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  j @extschema@.neardup_job;
  held text := @extschema@.neardup_held_name(job);
BEGIN
  EXECUTE format('UPDATE %s SET phase_started = CASE WHEN phase = $1 THEN phase_started ELSE clock_timestamp() END, phase = $1', held) USING next;
  -- not before a batch: what only lists, and is stopped, would never come further
  signed := signed OR step = 'signing';
  goes_on := next <> 'idle';
  IF NOT goes_on THEN
    EXECUTE format('UPDATE %s SET finished = clock_timestamp(), pid = NULL', held);
    RETURN;
  END IF;
  j := @extschema@.neardup_job_row(job);
  goes_on := COALESCE(NOT (j.paused OR (signed AND clock_timestamp() - start >= time_limit)), true);
  IF goes_on THEN RETURN; END IF;
  EXECUTE format('UPDATE %s SET finished = clock_timestamp(), pid = NULL, phase = %L', held, 'waiting');
  RAISE NOTICE '%: % of % rows signed, then %; the next refresh goes on', left(@extschema@.neardup_job_name(job), 200), j.done, COALESCE(j.total, 0),
    CASE WHEN j.paused THEN 'paused' ELSE 'the time limit was reached' END;
END $$;
COMMENT ON FUNCTION neardup_refresh_next(regclass, text, text, timestamptz, interval, boolean) IS 'private: what follows a step of a refresh';

-- Of a job that is still there.
CREATE FUNCTION neardup_refresh_failed(job regclass, message text) RETURNS void LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM pg_class c WHERE c.oid = job) THEN
    EXECUTE format('UPDATE %s SET phase = %L, finished = clock_timestamp(), pid = NULL, last_error = $1', @extschema@.neardup_held_name(job), 'failed') USING message;
  END IF;
END $$;
COMMENT ON FUNCTION neardup_refresh_failed(regclass, text) IS 'private: what an error leaves in the row of a job';

-- Without a search_path of its own, since it commits: it names nothing that is not qualified. Expressions of a job of 0.2.0 are read with the caller's.
CREATE PROCEDURE neardup_refresh(job regclass, batch int, time_limit interval, commit boolean) LANGUAGE plpgsql AS $$
DECLARE
  start pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  step pg_catalog.text := 'listing';
  next pg_catalog.text;
  after record;
  signed boolean := false;
  failed boolean := false;
  state pg_catalog.text; message pg_catalog.text; detail pg_catalog.text; hint pg_catalog.text;
BEGIN
  IF NOT @extschema@.neardup_refresh_begin(job, @extschema@.neardup_qualified(@extschema@.neardup_job_row(job))) THEN RETURN; END IF;
  IF commit THEN COMMIT; END IF;
  LOOP
    BEGIN
      next := @extschema@.neardup_refresh_step(job, batch);
    EXCEPTION WHEN OTHERS THEN
      IF NOT commit THEN RAISE; END IF;
      GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
      failed := true;
    END;
    IF failed THEN
      PERFORM @extschema@.neardup_refresh_failed(job, message);
      COMMIT;
      PERFORM @extschema@.neardup_raise(state, message, detail, hint);
    END IF;
    SELECT * INTO after FROM @extschema@.neardup_refresh_next(job, step, next, start, time_limit, signed);
    IF commit THEN COMMIT; END IF;
    EXIT WHEN NOT after.goes_on;
    signed := after.signed;
    step := next;
  END LOOP;
END $$;
COMMENT ON PROCEDURE neardup_refresh(regclass, int, interval, boolean) IS 'private: a refresh, under the lock of refresh_duplicates()';

CREATE PROCEDURE refresh_duplicates(name text, batch int = 10000, time_limit interval = NULL, commit boolean = true)
  AS 'MODULE_PATHNAME', 'neardup_refresh_duplicates' LANGUAGE C;
COMMENT ON PROCEDURE refresh_duplicates(text, int, interval, boolean) IS
  'brings a table of duplicates up to date; commits after each batch, goes on where an interrupted one stopped';

-- Watching -----------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_jobs() RETURNS TABLE (job regclass, source regclass, phase text, done bigint, total bigint, rate float8,
    time_left interval, started timestamptz, finished timestamptz, pid int, last_error text)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE ROWS 10;
COMMENT ON FUNCTION neardup_jobs() IS 'private: the rows of duplicates_status';

CREATE VIEW duplicates_status AS SELECT * FROM @extschema@.neardup_jobs();
COMMENT ON VIEW duplicates_status IS
  'the jobs that you may read: phase (signing: rows done of total; clustering: per cent), rate a second, time left, last error';
GRANT SELECT ON duplicates_status TO PUBLIC;
