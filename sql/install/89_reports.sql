-- Queries of reports, exports, pages of passages and the progress of refreshes ----------------------------------------
-- bin/neardup and the Python package call these functions and show their rows. They run with the rights of their caller: one who
-- may not read a table or a column gets PostgreSQL's own error. All names are qualified. A function that evaluates the filter of a
-- job sets search_path to pg_catalog first, as the filter requires. Results without a bound are returned by the cursor neardup_rows,
-- which the caller fetches from and closes; the filter is evaluated meanwhile, so the setting lasts until the transaction ends. Ids
-- are shown by the output function of their type: a cast to text may be another role's.

-- Looked up at each call: the schema may have been renamed since the installation.
CREATE FUNCTION neardup_internal.extension_schema() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e
  JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'
$$;
COMMENT ON FUNCTION neardup_internal.extension_schema() IS 'private: the schema of the extension, quoted';

CREATE FUNCTION neardup_internal.iso_time(moment timestamptz) RETURNS text LANGUAGE sql STABLE STRICT AS $$
  SELECT pg_catalog.to_char(pg_catalog.timezone('UTC', moment), 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
$$;
COMMENT ON FUNCTION neardup_internal.iso_time(timestamptz) IS 'private: a time in UTC, as ISO 8601 has it';

-- base: the type below domains. equal: the operator of its default order, or PostgreSQL's own.
CREATE FUNCTION neardup_internal.id_column(relation oid, name text, OUT declared text, OUT base text, OUT built_in boolean,
    OUT collated oid, OUT equal text) LANGUAGE sql STABLE STRICT AS $$
  WITH RECURSIVE below(declared, type, collated) AS (
    SELECT a.atttypid, a.atttypid, a.attcollation FROM pg_catalog.pg_attribute a
    WHERE a.attrelid OPERATOR(pg_catalog.=) $1 AND a.attname OPERATOR(pg_catalog.=) $2
      AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped
    UNION ALL
    SELECT b.declared, t.typbasetype, b.collated FROM below b
    JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) b.type AND t.typtype OPERATOR(pg_catalog.=) 'd')
  SELECT pg_catalog.format_type(b.declared, NULL),
    pg_catalog.concat(pg_catalog.quote_ident(n.nspname), '.', pg_catalog.quote_ident(t.typname)),
    n.nspname OPERATOR(pg_catalog.=) 'pg_catalog', b.collated,
    COALESCE((
      SELECT pg_catalog.format('OPERATOR(%I.%s)', s.nspname, o.oprname) FROM pg_catalog.pg_opclass c
      JOIN pg_catalog.pg_am m ON m.oid OPERATOR(pg_catalog.=) c.opcmethod AND m.amname OPERATOR(pg_catalog.=) 'btree'
      JOIN pg_catalog.pg_amop f ON f.amopfamily OPERATOR(pg_catalog.=) c.opcfamily
        AND f.amoplefttype OPERATOR(pg_catalog.=) t.oid AND f.amoprighttype OPERATOR(pg_catalog.=) t.oid
        AND f.amopstrategy OPERATOR(pg_catalog.=) 3
      JOIN pg_catalog.pg_operator o ON o.oid OPERATOR(pg_catalog.=) f.amopopr
      JOIN pg_catalog.pg_namespace s ON s.oid OPERATOR(pg_catalog.=) o.oprnamespace
      WHERE c.opcintype OPERATOR(pg_catalog.=) t.oid AND c.opcdefault), 'OPERATOR(pg_catalog.=)')
  FROM below b JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) b.type AND t.typtype OPERATOR(pg_catalog.<>) 'd'
  JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
$$;
COMMENT ON FUNCTION neardup_internal.id_column(oid, text) IS 'private: a column of ids, and how its values are compared';

-- An operator for a domain may be another role's, so that domains do not count. Where the source has another type of pg_catalog
-- since the last refresh, ids are compared as text, as a refresh converts them; where it has another collation, both have "C". Other
-- types are not compared: their owners may have made casts.
CREATE FUNCTION neardup_internal.job_ids(job regclass, OUT source regclass, OUT same text, OUT problem text, OUT cure text)
  LANGUAGE plpgsql STABLE STRICT AS $$
DECLARE
  j pg_catalog.record := neardup_internal.neardup_job_row(job);
  a pg_catalog.record;
  b pg_catalog.record;
  kind pg_catalog.text;
BEGIN
  source := (SELECT c.oid FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) j.source::pg_catalog.oid);
  IF source IS NULL THEN
    problem := 'the source of the job has been dropped';
    cure := 'drop_duplicates() drops the job.';
    RETURN;
  END IF;
  SELECT c.* INTO a FROM neardup_internal.id_column(j.source, j.id::pg_catalog.text) c;
  SELECT c.* INTO b FROM neardup_internal.id_column(neardup_internal.neardup_job_part(job, '')::pg_catalog.regclass, 'id') c;
  IF a.base OPERATOR(pg_catalog.=) b.base THEN
    kind := pg_catalog.concat(a.base, CASE WHEN a.built_in AND a.collated OPERATOR(pg_catalog.<>) b.collated
      THEN ' COLLATE pg_catalog."C"' END);
  ELSIF a.built_in AND b.built_in THEN
    kind := 'pg_catalog.text COLLATE pg_catalog."C"';
    a.equal := 'OPERATOR(pg_catalog.=)';
  ELSIF a.base IS NULL THEN
    problem := pg_catalog.format('column "%s" of %s does not exist', j.id, source);
    cure := 'If it was renamed: SELECT alter_duplicates(.., id => ''new_name'').';
  ELSE
    problem := pg_catalog.format('column "%s" of %s is %s, and was %s at the last run', j.id, source, a.declared, b.declared);
    cure := 'neardup run writes the table of duplicates again.';
  END IF;
  IF kind IS NOT NULL THEN
    same := pg_catalog.format('%%s::%1$s %2$s %%s::%1$s', pg_catalog.replace(kind, '%', '%%'), pg_catalog.replace(a.equal, '%', '%%'));
  END IF;
END $$;
COMMENT ON FUNCTION neardup_internal.job_ids(regclass) IS
  'private: the source of a job, and the comparison of its ids with those of the result as a pattern for format(), or why there is none';

-- document: SQL of the document of %1$s, a row of the query; shown: whether that row is there, the first %2$s characters of its
-- document, and its length. Of bytes without an encoding what is UTF-8 can be shown.
CREATE FUNCTION neardup_internal.job_documents(job regclass, OUT query text, OUT document text, OUT shown text, OUT cleaned boolean,
    OUT problem text) LANGUAGE plpgsql STABLE STRICT AS $$
DECLARE
  j pg_catalog.record := neardup_internal.neardup_job_row(job);
  p pg_catalog.record;
  neardup pg_catalog.text := neardup_internal.extension_schema();
  is_bytes pg_catalog.bool := j.body_type::pg_catalog.oid OPERATOR(pg_catalog.=) 'pg_catalog.bytea'::pg_catalog.regtype::pg_catalog.oid;
BEGIN
  IF j.body IS NULL THEN
    problem := pg_catalog.format('The job reads signatures from the column %s, so there are no texts to show.', j.signature);
    RETURN;
  END IF;
  query := neardup_internal.neardup_job_rows(job);
  EXECUTE pg_catalog.format('SELECT p.* FROM %s.neardup_profile_named($1) p', neardup) INTO p USING j.profile;
  cleaned := p.script OPERATOR(pg_catalog.<>) 'keep' OR p.rules OPERATOR(pg_catalog.<>) 'none';
  document := '%1$s.body';
  IF is_bytes AND p.encoding OPERATOR(pg_catalog.<>) 'bytes' THEN
    document := pg_catalog.format('(%s.neardup_decode(%%1$s.body%s)).body',
      pg_catalog.replace(neardup, '%', '%%'),
      CASE WHEN p.encoding OPERATOR(pg_catalog.<>) 'detect' THEN pg_catalog.format(', %L', p.encoding) END);
    is_bytes := false;
  END IF;
  shown := pg_catalog.format('%%1$s.id IS NOT NULL, pg_catalog.%s(%s%s %%2$s), pg_catalog.length(%s)::pg_catalog.int8',
    CASE WHEN is_bytes THEN 'substr' ELSE 'left' END, document, CASE WHEN is_bytes THEN ', 1,' ELSE ',' END, document);
END $$;
COMMENT ON FUNCTION neardup_internal.job_documents(regclass) IS
  'private: the query of the rows of a job, and patterns for format() of their documents, or why there are no texts';

CREATE FUNCTION neardup_internal.job_paths(job regclass, path_column text, OUT type text, OUT is_text boolean,
    OUT readable boolean, OUT query text) LANGUAGE plpgsql STABLE STRICT AS $$
DECLARE
  j pg_catalog.record := neardup_internal.neardup_job_row(job);
BEGIN
  SELECT pg_catalog.format_type(a.atttypid, NULL), a.atttypid OPERATOR(pg_catalog.=) ANY (
      ARRAY['pg_catalog.text'::pg_catalog.regtype::pg_catalog.oid, 'pg_catalog.varchar'::pg_catalog.regtype::pg_catalog.oid]),
    pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT'),
    pg_catalog.concat(
      pg_catalog.format('SELECT %I AS id, %I AS path FROM %s WHERE true', j.id, a.attname,
        neardup_internal.neardup_held_name(j.source)),
      ' AND (' OPERATOR(pg_catalog.||) j.filter OPERATOR(pg_catalog.||) E'\n)',
      ' AND (' OPERATOR(pg_catalog.||) j.deleted OPERATOR(pg_catalog.||) E'\n) IS NOT TRUE')
    INTO type, is_text, readable, query FROM pg_catalog.pg_attribute a
    WHERE a.attrelid OPERATOR(pg_catalog.=) j.source::pg_catalog.oid AND a.attname OPERATOR(pg_catalog.=) path_column
      AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped;
END $$;
COMMENT ON FUNCTION neardup_internal.job_paths(regclass, text) IS
  'private: a column of the source of a job, and the query of id and path of its rows';

-- The path is the column that neardup load makes; one that may not be read is left out. same: as of job_ids().
CREATE FUNCTION neardup_internal.path_join(job regclass, same text, id text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT COALESCE((SELECT pg_catalog.format('LEFT JOIN (%s) s ON %s', p.query, pg_catalog.format(same, 's.id', id))
      FROM neardup_internal.job_paths(job, 'path') p WHERE same IS NOT NULL AND p.is_text AND p.readable),
    'LEFT JOIN (SELECT NULL::pg_catalog.text AS path) s ON false')
$$;
COMMENT ON FUNCTION neardup_internal.path_join(regclass, text, text) IS
  'private: the join of rows of the result with their paths, s';

CREATE FUNCTION neardup_internal.job_counts(job regclass, OUT rows bigint, OUT clusters bigint, OUT clustered_rows bigint,
    OUT duplicates bigint, OUT largest_cluster bigint) LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
  EXECUTE pg_catalog.format(
    'SELECT COALESCE(pg_catalog.sum(n), 0)::pg_catalog.int8, pg_catalog.count(*) FILTER (WHERE several),
       COALESCE(pg_catalog.sum(n) FILTER (WHERE several), 0)::pg_catalog.int8,
       COALESCE(pg_catalog.sum(others) FILTER (WHERE several), 0)::pg_catalog.int8, COALESCE(pg_catalog.max(n), 0)
     FROM (SELECT pg_catalog.count(*) AS n, pg_catalog.count(*) FILTER (WHERE NOT survivor) AS others,
         pg_catalog.count(*) OPERATOR(pg_catalog.>) 1 AS several FROM %s GROUP BY cluster) c',
    neardup_internal.neardup_job_part(job, ''))
    INTO rows, clusters, clustered_rows, duplicates, largest_cluster;
END $$;
COMMENT ON FUNCTION neardup_internal.job_counts(regclass) IS
  'private: rows of the result, clusters of two and more, their rows, those that are no survivors, the largest';

-- A refresh ------------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_internal.run_progress(job regclass)
  RETURNS TABLE (phase text, done bigint, total bigint, rate float8, time_left float8, elapsed float8, step text,
    rows_read bigint, searched float8, pairs bigint) LANGUAGE plpgsql VOLATILE STRICT ROWS 1 AS $$
BEGIN
  RETURN QUERY EXECUTE pg_catalog.format(
    'SELECT s.phase, s.done, s.total, s.rate, pg_catalog.date_part(''epoch'', s.time_left),
       pg_catalog.date_part(''epoch'', pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) j.phase_started),
       g.phase, g.rows_read, g.searched, g.pairs
     FROM neardup_internal.neardup_job_row($1) j
     JOIN neardup_internal.job_status() s ON s.job
       OPERATOR(pg_catalog.=) neardup_internal.neardup_job_part($1, '''')::pg_catalog.regclass::pg_catalog.text
     LEFT JOIN %s.neardup_progress() g ON g.pid OPERATOR(pg_catalog.=) s.pid', neardup_internal.extension_schema()) USING job;
END $$;
COMMENT ON FUNCTION neardup_internal.run_progress(regclass) IS 'private: how far the refresh of a job is; times in seconds';

-- new_duplicates: found_at is the time of the clustering, and stays with rows that stay in their cluster.
CREATE FUNCTION neardup_internal.run_summary(job regclass, OUT finished boolean, OUT done bigint, OUT total bigint,
    OUT rows bigint, OUT clusters bigint, OUT duplicates bigint, OUT new_duplicates bigint) LANGUAGE plpgsql STABLE STRICT AS $$
DECLARE
  j pg_catalog.record := neardup_internal.neardup_job_row(job);
BEGIN
  finished := j.phase OPERATOR(pg_catalog.=) 'idle';
  done := COALESCE(j.done, 0);
  total := COALESCE(j.total, 0);
  IF NOT finished THEN
    RETURN;
  END IF;
  SELECT c.rows, c.clusters, c.duplicates, 0 INTO rows, clusters, duplicates, new_duplicates FROM neardup_internal.job_counts(job) c;
  IF j.clustered OPERATOR(pg_catalog.=) j.refresh THEN
    EXECUTE pg_catalog.format(
      'SELECT pg_catalog.count(*) FROM %1$s WHERE NOT survivor AND found_at OPERATOR(pg_catalog.>=) $1
         AND found_at OPERATOR(pg_catalog.<=) $2 AND cluster OPERATOR(pg_catalog.=) ANY (
           SELECT cluster FROM %1$s GROUP BY cluster HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1)',
      neardup_internal.neardup_job_part(job, '')) INTO new_duplicates USING j.started, j.finished;
  END IF;
END $$;
COMMENT ON FUNCTION neardup_internal.run_summary(regclass) IS 'private: what the latest refresh of a job has found';

CREATE FUNCTION neardup_internal.run_changes(job regclass) RETURNS TABLE (change text, clusters bigint)
  LANGUAGE plpgsql STABLE STRICT ROWS 5 AS $$
BEGIN
  RETURN QUERY EXECUTE pg_catalog.format(
    'SELECT change, pg_catalog.count(*) FROM %s WHERE refresh OPERATOR(pg_catalog.=) $1 GROUP BY change ORDER BY change',
    neardup_internal.neardup_job_part(job, '_changes')) USING (neardup_internal.neardup_job_row(job)).refresh;
END $$;
COMMENT ON FUNCTION neardup_internal.run_changes(regclass) IS
  'private: what the latest refresh of a job has done to clusters of earlier ones';

-- A report -------------------------------------------------------------------------------------------------------------

CREATE FUNCTION neardup_internal.page_about(OUT database text, OUT shown_time text, OUT iso_time text, OUT version text)
  LANGUAGE sql STABLE AS $$
  SELECT pg_catalog.current_database()::pg_catalog.text, pg_catalog.to_char(pg_catalog.now(), 'YYYY-MM-DD HH24:MI TZ'),
    neardup_internal.iso_time(pg_catalog.now()),
    (SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname OPERATOR(pg_catalog.=) 'neardup')
$$;
COMMENT ON FUNCTION neardup_internal.page_about() IS 'private: where and when a page is made, and by what version';

CREATE FUNCTION neardup_internal.report_threshold(job regclass) RETURNS float8 LANGUAGE sql STABLE STRICT AS $$
  SELECT COALESCE(CASE WHEN j.verify IS NOT NULL THEN j.verify_threshold END, j.threshold)
  FROM neardup_internal.neardup_job_row(job) j
$$;
COMMENT ON FUNCTION neardup_internal.report_threshold(regclass) IS
  'private: the threshold of the similarity that the result of a job has';

-- no_documents: why documents cannot be read; no_ids: why rows of the result are not found in the source. cleaned: the profile
-- changes texts before they are compared.
CREATE FUNCTION neardup_internal.report_about(job regclass, OUT database text, OUT shown_time text, OUT iso_time text,
    OUT version text, OUT shown_finished text, OUT iso_finished text, OUT complete boolean, OUT threshold float8,
    OUT cleaned boolean, OUT no_documents text, OUT no_ids text)
  LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  j pg_catalog.record := neardup_internal.neardup_job_row(job);
  ended pg_catalog.timestamptz := CASE WHEN j.pid IS NULL THEN j.finished END;
  more pg_catalog.text;
BEGIN
  SELECT a.* INTO database, shown_time, iso_time, version FROM neardup_internal.page_about() a;
  shown_finished := pg_catalog.to_char(ended, 'YYYY-MM-DD HH24:MI TZ');
  iso_finished := neardup_internal.iso_time(ended);
  complete := COALESCE(j.phase OPERATOR(pg_catalog.=) 'idle', false);
  threshold := neardup_internal.report_threshold(job);
  SELECT pg_catalog.concat('Documents and paths are not shown: ', i.problem, '. ', i.cure) INTO no_ids
    FROM neardup_internal.job_ids(job) i WHERE i.same IS NULL;
  SELECT d.cleaned, d.problem INTO cleaned, no_documents FROM neardup_internal.job_documents(job) d;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS no_documents = MESSAGE_TEXT, more = PG_EXCEPTION_DETAIL;
  no_documents := pg_catalog.format('The documents cannot be read: %s%s.', no_documents,
    CASE WHEN more OPERATOR(pg_catalog.<>) '' THEN pg_catalog.format(' (%s)', more) END);
END $$;
COMMENT ON FUNCTION neardup_internal.report_about(regclass) IS
  'private: what a report says of a job first, and what of its documents can be shown';

CREATE FUNCTION neardup_internal.report_settings(job regclass) RETURNS TABLE (key text, label text, value text, as_json text)
  LANGUAGE sql STABLE STRICT ROWS 18 SET search_path = pg_catalog, pg_temp AS $$
  SELECT k.key, k.label, s.value OPERATOR(pg_catalog.#>>) '{}', s.value::pg_catalog.text
  FROM pg_catalog.jsonb_each(pg_catalog.to_jsonb(neardup_internal.neardup_job_row(job))) s
  JOIN (VALUES (1, 'source', 'source'), (2, 'id', 'id column'), (3, 'body', 'documents'), (4, 'signature', 'signatures'),
      (5, 'profile', 'profile'), (6, 'profile_version', 'profile version'), (7, 'threshold', 'threshold'),
      (8, 'linkage', 'linkage'), (9, 'verify', 'verified by'), (10, 'verify_threshold', 'threshold of that'),
      (11, 'keep', 'kept'), (12, 'order_by', 'ordered by'), (13, 'within', 'within'), (14, 'at', 'time'),
      (15, 'at_most_apart', 'at most apart'), (16, 'filter', 'filter'), (17, 'deleted', 'deleted rows'), (18, 'measure', 'measure'))
    k(n, key, label) ON k.key OPERATOR(pg_catalog.=) s.key
  WHERE (s.value OPERATOR(pg_catalog.#>>) '{}') OPERATOR(pg_catalog.<>) ALL (ARRAY['', '[]']) ORDER BY k.n
$$;
COMMENT ON FUNCTION neardup_internal.report_settings(regclass) IS 'private: the settings of a job that are set, for a report';

-- Duplicates by hundredths of similarity, those of exactly 1 at 100.
CREATE FUNCTION neardup_internal.report_similarities(job regclass) RETURNS TABLE (hundredths bigint, duplicates bigint)
  LANGUAGE plpgsql STABLE STRICT ROWS 101 AS $$
BEGIN
  RETURN QUERY EXECUTE pg_catalog.format(
    'SELECT CASE WHEN similarity OPERATOR(pg_catalog.>=) 1::pg_catalog.float8 THEN 100
       ELSE GREATEST(pg_catalog.floor(similarity OPERATOR(pg_catalog.*) 100::pg_catalog.float8
         OPERATOR(pg_catalog.+) ''1e-9''::pg_catalog.float8), 0) END::pg_catalog.int8, pg_catalog.count(*)
     FROM %s WHERE NOT survivor AND similarity IS NOT NULL GROUP BY 1 ORDER BY 1', neardup_internal.neardup_job_part(job, ''));
END $$;
COMMENT ON FUNCTION neardup_internal.report_similarities(regclass) IS 'private: the histogram of similarities of a report';

-- Clusters by the power of two that holds their size: 1 of 2 rows, 2 of 3 and 4, 3 of 5 to 8.
CREATE FUNCTION neardup_internal.report_sizes(job regclass) RETURNS TABLE (power bigint, clusters bigint)
  LANGUAGE plpgsql STABLE STRICT ROWS 10 AS $$
BEGIN
  RETURN QUERY EXECUTE pg_catalog.format(
    'SELECT pg_catalog.ceil(pg_catalog.log(2, n))::pg_catalog.int8, pg_catalog.count(*)
     FROM (SELECT pg_catalog.count(*) AS n FROM %s GROUP BY cluster
       HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1) c GROUP BY 1 ORDER BY 1',
    neardup_internal.neardup_job_part(job, ''));
END $$;
COMMENT ON FUNCTION neardup_internal.report_sizes(regclass) IS 'private: the histogram of sizes of clusters of a report';

-- The columns and the joins of the rows of the source with these ids, a row an alias. same: as of job_ids(); NULL where there are to
-- be no texts, and the columns are empty.
CREATE FUNCTION neardup_internal.report_documents(job regclass, same text, aliases text[], ids text[], characters int,
    OUT shown text, OUT joined text) LANGUAGE plpgsql STABLE AS $$
DECLARE
  d pg_catalog.record;
BEGIN
  IF same IS NULL THEN
    shown := pg_catalog.array_to_string(pg_catalog.array_fill(
      'false, NULL::pg_catalog.text, NULL::pg_catalog.int8'::pg_catalog.text, ARRAY[pg_catalog.cardinality(aliases)]), ', ');
    RETURN;
  END IF;
  d := neardup_internal.job_documents(job);
  SELECT pg_catalog.string_agg(pg_catalog.format(d.shown, a.alias, characters), ', ' ORDER BY a.n),
    pg_catalog.string_agg(pg_catalog.format('LEFT JOIN (%s) %s ON %s', d.query, a.alias,
      pg_catalog.format(same, pg_catalog.concat(a.alias, '.id'), a.id)), ' ' ORDER BY a.n)
    INTO shown, joined FROM ROWS FROM (pg_catalog.unnest(aliases), pg_catalog.unnest(ids)) WITH ORDINALITY a(alias, id, n);
END $$;
COMMENT ON FUNCTION neardup_internal.report_documents(regclass, text, text[], text[], int) IS
  'private: the columns of documents of a report, and their joins';

-- A hash of their ids orders pairs that are as near, so that they stay the same. With texts ids are cut.
CREATE FUNCTION neardup_internal.report_pairs(job regclass, most int, with_texts boolean) RETURNS refcursor
  LANGUAGE plpgsql VOLATILE STRICT AS $$
DECLARE
  path pg_catalog.text := pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  opened pg_catalog.refcursor := 'neardup_rows';
  d pg_catalog.record := neardup_internal.report_documents(job, CASE WHEN with_texts THEN (neardup_internal.job_ids(job)).same END,
    ARRAY['a', 'b'], ARRAY['p.representative', 'p.id'], 20000);
  id pg_catalog.text := CASE WHEN with_texts THEN 'pg_catalog.left(pg_catalog.concat(p.%s), 200)' ELSE 'pg_catalog.concat(p.%s)' END;
BEGIN
  OPEN opened NO SCROLL FOR EXECUTE pg_catalog.format(
    'WITH p AS MATERIALIZED (
       SELECT id, representative, cluster, similarity, pg_catalog.abs(similarity OPERATOR(pg_catalog.-) $1) AS distance,
         pg_catalog.md5(pg_catalog.concat(id)) AS hash
       FROM %s WHERE NOT survivor ORDER BY distance, hash LIMIT $2)
     SELECT p.similarity, p.cluster, %s, %s, %s FROM p %s ORDER BY p.distance, p.hash',
    neardup_internal.neardup_job_part(job, ''), pg_catalog.format(id, 'representative'), pg_catalog.format(id, 'id'),
    d.shown, d.joined)
    USING neardup_internal.report_threshold(job), most;
  RETURN opened;
END $$;
COMMENT ON FUNCTION neardup_internal.report_pairs(regclass, int, boolean) IS
  'private: opens a cursor for the duplicates whose similarity is nearest to the threshold, perhaps with their documents';

-- The survivor of each cluster and 12 others, the most similar ones first.
CREATE FUNCTION neardup_internal.report_clusters(job regclass, most int, with_texts boolean) RETURNS refcursor
  LANGUAGE plpgsql VOLATILE STRICT AS $$
DECLARE
  path pg_catalog.text := pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  opened pg_catalog.refcursor := 'neardup_rows';
  same pg_catalog.text := (neardup_internal.job_ids(job)).same;
  d pg_catalog.record := neardup_internal.report_documents(job, CASE WHEN with_texts THEN same END, ARRAY['d'], ARRAY['m.id'], 8000);
BEGIN
  OPEN opened NO SCROLL FOR EXECUTE pg_catalog.format(
    'WITH top AS MATERIALIZED (
       SELECT cluster, pg_catalog.count(*) AS n, pg_catalog.min(similarity) FILTER (WHERE NOT survivor) AS least,
         pg_catalog.avg(similarity) FILTER (WHERE NOT survivor) AS average
       FROM %1$s GROUP BY cluster HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1 ORDER BY n DESC, cluster LIMIT $1),
     m AS MATERIALIZED (
       SELECT t.cluster, t.n, t.least, t.average, r.id, r.similarity, r.survivor FROM top t CROSS JOIN LATERAL (
         SELECT r.* FROM %1$s r WHERE r.cluster OPERATOR(pg_catalog.=) t.cluster
         ORDER BY r.survivor DESC, r.similarity DESC NULLS LAST, r.id LIMIT 13) r)
     SELECT m.cluster, m.n, m.least, m.average, m.similarity, pg_catalog.left(pg_catalog.concat(m.id), 200),
       pg_catalog.right(s.path, 1000), %2$s
     FROM m %3$s %4$s ORDER BY m.n DESC, m.cluster, m.survivor DESC, m.similarity DESC NULLS LAST, m.id',
    neardup_internal.neardup_job_part(job, ''), d.shown, d.joined, neardup_internal.path_join(job, same, 'm.id')) USING most;
  RETURN opened;
END $$;
COMMENT ON FUNCTION neardup_internal.report_clusters(regclass, int, boolean) IS
  'private: opens a cursor for the largest clusters of a job, perhaps with documents';

-- The largest clusters, the largest first, or where there is no number all, by theirs; the survivor of each first.
CREATE FUNCTION neardup_internal.report_rows(job regclass, largest int) RETURNS refcursor
  LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  path pg_catalog.text := pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  opened pg_catalog.refcursor := 'neardup_rows';
BEGIN
  OPEN opened NO SCROLL FOR EXECUTE pg_catalog.format(
    'WITH c AS MATERIALIZED (SELECT cluster, pg_catalog.count(*) AS n FROM %1$s GROUP BY cluster
       HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1 %2$s)
     SELECT c.cluster, c.n, pg_catalog.concat(r.id), pg_catalog.concat(r.representative), r.similarity, r.survivor, s.path
     FROM c JOIN %1$s r ON r.cluster OPERATOR(pg_catalog.=) c.cluster %3$s
     ORDER BY %4$s c.cluster, r.survivor DESC, r.similarity DESC NULLS LAST, r.id',
    neardup_internal.neardup_job_part(job, ''), CASE WHEN largest IS NOT NULL THEN 'ORDER BY n DESC, cluster LIMIT $1' END,
    neardup_internal.path_join(job, (neardup_internal.job_ids(job)).same, 'r.id'),
    CASE WHEN largest IS NOT NULL THEN 'c.n DESC,' END) USING largest;
  RETURN opened;
END $$;
COMMENT ON FUNCTION neardup_internal.report_rows(regclass, int) IS
  'private: opens a cursor for the rows of clusters of two and more, with their paths';

-- An export ------------------------------------------------------------------------------------------------------------

-- as_bytes: ids and paths as the database has them, so that one that the client's encoding lacks does not end the export.
CREATE FUNCTION neardup_internal.export_rows(job regclass, path_column text, as_bytes boolean) RETURNS refcursor
  LANGUAGE plpgsql VOLATILE STRICT AS $$
DECLARE
  path pg_catalog.text := pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  opened pg_catalog.refcursor := 'neardup_rows';
  i pg_catalog.record := neardup_internal.job_ids(job);
  p pg_catalog.record := neardup_internal.job_paths(job, path_column);
  shown pg_catalog.text := CASE WHEN as_bytes THEN 'pg_catalog.convert_to(%s, pg_catalog.getdatabaseencoding())' ELSE '%s' END;
BEGIN
  IF i.source IS NULL THEN
    RAISE EXCEPTION '%', i.problem USING ERRCODE = 'undefined_table', HINT = i.cure;
  ELSIF p.type IS NULL THEN
    RAISE EXCEPTION 'the source % has no column "%" of paths', i.source, path_column
      USING ERRCODE = 'undefined_column', HINT = 'Another column is named by --path-column.';
  ELSIF NOT p.is_text THEN
    RAISE EXCEPTION 'column "%" of % is %, not text', path_column, i.source, p.type USING ERRCODE = 'datatype_mismatch';
  ELSIF i.same IS NULL THEN
    RAISE EXCEPTION '%', i.problem USING ERRCODE = 'datatype_mismatch', HINT = i.cure;
  END IF;
  OPEN opened NO SCROLL FOR EXECUTE pg_catalog.format(
    'SELECT r.cluster, r.survivor, COALESCE(r.similarity, -1), %2$s, %3$s
     FROM %1$s r JOIN (SELECT cluster FROM %1$s GROUP BY cluster HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1) c
       ON c.cluster OPERATOR(pg_catalog.=) r.cluster
     LEFT JOIN (%4$s) s ON %5$s ORDER BY r.cluster, r.survivor DESC, r.similarity DESC, s.path, r.id',
    neardup_internal.neardup_job_part(job, ''), pg_catalog.format(shown, 'pg_catalog.left(pg_catalog.concat(r.id), 200)'),
    pg_catalog.format(shown, 's.path::pg_catalog.text'), p.query, pg_catalog.format(i.same, 's.id', 'r.id'));
  RETURN opened;
END $$;
COMMENT ON FUNCTION neardup_internal.export_rows(regclass, text, boolean) IS
  'private: opens a cursor for the rows of clusters of two and more, in their order, with a column of paths';

-- A page of passages ---------------------------------------------------------------------------------------------------

-- One list of all that the page shows. kind 0: x documents, y of them with a repeated passage; 1: their characters, y of them repeated;
-- 2: a document of x characters, y of them repeated, the greatest share first; 3: a passage in x documents with y occurrences, the
-- most frequent first; 4: a document of passage number. query: of id, body and perhaps within. In the statement:
--   d  the documents            r  the repeated ranges               u  those of each document
--   s  length of each document, and how much of it is repeated       p  the most frequent passages
--   j  the text of each range, and the passages whose first shingle it has
-- A range is no more frequent than a passage in it. The shingles leave few ranges to compare with a passage; a range with all of its
-- units holds it. A document may hold a passage several times, so more ranges are given than documents are shown.
CREATE FUNCTION neardup_internal.passages_page(query text, has_within boolean, min_units int, unit text, at_least int,
    most_passages int, most_documents int)
  RETURNS TABLE (kind bigint, number bigint, shown text, x bigint, y bigint) LANGUAGE plpgsql VOLATILE STRICT AS $$
DECLARE
  documents pg_catalog.text := pg_catalog.format(
    'SELECT CASE WHEN q.id IS NOT NULL THEN pg_catalog.concat(q.id) END AS id, q.body::pg_catalog.text AS body%s FROM (%s) q',
    CASE WHEN has_within THEN ', q.within' END, query);
BEGIN
  RETURN QUERY EXECUTE pg_catalog.format(
    'WITH d AS MATERIALIZED (%1$s),
    r AS MATERIALIZED (
      SELECT * FROM %2$s.repeated_passages($1, id => NULL::pg_catalog.text, min_units => $2, unit => $3, keep => ''none'', at_least => $4)),
    u AS MATERIALIZED (
      SELECT r.id, pg_catalog.range_agg(pg_catalog.int4range(r.start, r.start OPERATOR(pg_catalog.+) r.length)) AS ranges
      FROM r GROUP BY r.id),
    s AS MATERIALIZED (
      SELECT d.id, pg_catalog.length(d.body)::pg_catalog.int8 AS length,
        COALESCE((SELECT pg_catalog.sum(pg_catalog.upper(x) OPERATOR(pg_catalog.-) pg_catalog.lower(x))
          FROM pg_catalog.unnest(u.ranges) x), 0)::pg_catalog.int8 AS repeated
      FROM d LEFT JOIN u ON u.id OPERATOR(pg_catalog.=) d.id WHERE d.body IS NOT NULL),
    p AS MATERIALIZED (
      SELECT pg_catalog.row_number() OVER () AS n, c.*,
        (SELECT pg_catalog.count(*) FROM %2$s.shingles(c.passage, 1, $3))::pg_catalog.int4 AS units,
        (SELECT h FROM %2$s.shingle_hashes(c.passage, $5, $3) h LIMIT 1) AS hash
      FROM %2$s.passage_counts($1, min_units => $2, unit => $3, at_least => $4, most => $6) c LIMIT $7),
    j AS MATERIALIZED (
      SELECT t.*, ARRAY(SELECT DISTINCT p.n FROM %2$s.shingle_hashes(t.text, $5, $3) h
          JOIN p ON p.hash OPERATOR(pg_catalog.=) h) AS passages
      FROM (SELECT r.id, r.occurrences, pg_catalog.substr(d.body, r.start, r.length) AS text
        FROM r JOIN d ON d.id OPERATOR(pg_catalog.=) r.id OFFSET 0) t)
    SELECT 0::pg_catalog.int8, 0::pg_catalog.int8, NULL::pg_catalog.text, pg_catalog.count(*),
      pg_catalog.count(*) FILTER (WHERE s.repeated OPERATOR(pg_catalog.>) 0) FROM s
    UNION ALL
    SELECT 1, 0, NULL, COALESCE(pg_catalog.sum(s.length), 0)::pg_catalog.int8, COALESCE(pg_catalog.sum(s.repeated), 0)::pg_catalog.int8 FROM s
    UNION ALL
    (SELECT 2, pg_catalog.row_number() OVER (
        ORDER BY s.repeated::pg_catalog.float8 OPERATOR(pg_catalog./) s.length DESC, s.repeated DESC, s.id),
        pg_catalog.left(s.id, 200), s.length, s.repeated
     FROM s WHERE s.repeated OPERATOR(pg_catalog.>) 0 ORDER BY 2 LIMIT $8)
    UNION ALL
    SELECT 3, p.n, pg_catalog.left(p.passage, 2000), p.documents, p.occurrences FROM p
    UNION ALL
    SELECT 4, p.n, pg_catalog.left(f.id, 200), 0, 0 FROM p CROSS JOIN LATERAL (
      SELECT j.id FROM j WHERE j.occurrences OPERATOR(pg_catalog.<=) p.occurrences AND p.n OPERATOR(pg_catalog.=) ANY (j.passages)
        AND %2$s.copied_share(p.passage, j.text, p.units, $3) OPERATOR(pg_catalog.>=) 1::pg_catalog.float8 LIMIT 48) f
    ORDER BY 1, 2', documents, neardup_internal.extension_schema())
    USING documents, min_units, unit, at_least, LEAST(min_units, 64), GREATEST(most_passages, 1), most_passages, most_documents;
END $$;
COMMENT ON FUNCTION neardup_internal.passages_page(text, boolean, int, text, int, int, int) IS
  'private: what a page of the repeated passages of a query shows';

CREATE FUNCTION neardup_internal.job_passages(job regclass, min_units int, unit text, at_least int, most_passages int,
    most_documents int) RETURNS TABLE (kind bigint, number bigint, shown text, x bigint, y bigint)
  LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  d pg_catalog.record := neardup_internal.job_documents(job);
BEGIN
  IF d.problem IS NOT NULL THEN
    RAISE EXCEPTION '%', d.problem USING ERRCODE = 'wrong_object_type';
  END IF;
  RETURN QUERY SELECT p.* FROM neardup_internal.passages_page(
    pg_catalog.format('SELECT d.id, %s AS body FROM (%s) d', pg_catalog.format(d.document, 'd'), d.query),
    false, min_units, unit, at_least, most_passages, most_documents) p;
END $$;
COMMENT ON FUNCTION neardup_internal.job_passages(regclass, int, text, int, int, int) IS
  'private: what a page of the repeated passages of a job shows';
