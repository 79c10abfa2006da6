-- Choosing parameters: neardup_suggest, neardup_s_curve ----------------------------------------------------------------

-- P(matches >= m) for m = 0 .. num_perm, in elements 1 .. num_perm + 1, of a signature whose components agree each with
-- probability similarity. By logarithms from m = 0: no factor leaves the range of float8 at 4096 components.
CREATE FUNCTION neardup_match_tail(num_perm int, similarity float8) RETURNS float8[]
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  tail float8[] := array_fill(0::float8, ARRAY[num_perm + 1]);
  term float8;
  total float8 := 0;
BEGIN
  IF similarity <= 0 THEN tail[1] := 1; RETURN tail; END IF;
  IF similarity >= 1 THEN RETURN array_fill(1::float8, ARRAY[num_perm + 1]); END IF;
  -- from m = num_perm downwards, so that small tails are sums of small terms
  term := num_perm * ln(similarity);
  FOR m IN REVERSE num_perm .. 0 LOOP
    IF term > -700 THEN total := total + exp(term); END IF;
    tail[m + 1] := least(total, 1);
    IF m > 0 THEN term := term + ln(m * (1 - similarity) / ((num_perm - m + 1) * similarity)); END IF;
  END LOOP;
  RETURN tail;
END $$;
COMMENT ON FUNCTION neardup_match_tail(int, float8) IS
  'private: probabilities that at least 0, 1 .. num_perm components agree, each with this probability';

-- Least number of equal components at which jaccard() is at least the threshold (32 and 16 bits).
CREATE FUNCTION neardup_matches_needed(num_perm int, threshold float8) RETURNS int
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN (m - 1)::float8 / num_perm >= threshold THEN m - 1 WHEN m::float8 / num_perm >= threshold THEN m ELSE m + 1 END
  FROM (SELECT ceil(num_perm * threshold)::int) c(m)
  $$;
COMMENT ON FUNCTION neardup_matches_needed(int, float8) IS
  'private: least number of equal components at which jaccard is at least the threshold';

-- The S-curve, to be looked at.
CREATE FUNCTION neardup_s_curve(threshold float8, num_perm int = 128, bands int = NULL, rows int = NULL) RETURNS SETOF text
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 30 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  need int;
  first int;
  p float8;
  at float8;
BEGIN
  IF threshold IS NULL OR num_perm IS NULL THEN
    RAISE EXCEPTION '% must not be NULL', CASE WHEN threshold IS NULL THEN 'threshold' ELSE 'num_perm' END
      USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF NOT (threshold > 0 AND threshold <= 1) THEN
    RAISE EXCEPTION 'threshold must be above 0 and at most 1: %', threshold USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF num_perm NOT BETWEEN 16 AND 4096 THEN
    RAISE EXCEPTION 'num_perm must be between 16 and 4096: %', num_perm USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF (bands IS NULL) <> (rows IS NULL) THEN
    RAISE EXCEPTION 'bands and rows must be given together' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF bands::bigint * rows > num_perm THEN
    RAISE EXCEPTION '% bands of % rows need % components, and num_perm is %', bands, rows, bands::bigint * rows, num_perm
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  need := @extschema@.neardup_matches_needed(num_perm, threshold);
  -- whole steps of 0.02 from 0.5, or from 0.2 below the threshold where that is less
  first := greatest(0, least(25, round((threshold - 0.2) * 50)::int));
  RETURN NEXT CASE WHEN bands IS NULL
    THEN pg_catalog.format('probability that jaccard >= %s (%s of %s components)', threshold, need, num_perm)
    ELSE pg_catalog.format('probability that one of %s bands of %s components agrees; -> is the threshold, %s', bands, rows, threshold) END;
  RETURN NEXT '       0          0.25         0.5        0.75           1';
  FOR i IN first .. 50 LOOP
    at := i / 50.0::float8;
    p := CASE WHEN bands IS NULL THEN (@extschema@.neardup_match_tail(num_perm, at))[need + 1]
              ELSE @extschema@.lsh_probability(at, bands, rows) END;
    RETURN NEXT pg_catalog.format('%s %s|%s| %s', to_char(at, 'FM0.00') || repeat(' ', 4),
      -- the step that holds the threshold
      CASE WHEN i = round(threshold * 50)::int THEN '->' ELSE '  ' END,
      rpad(repeat('#', round(p * 48)::int), 48, CASE WHEN i = round(threshold * 50)::int THEN '-' ELSE ' ' END),
      to_char(floor(p * 10000 + 1e-6) / 10000, 'FM0.0000'));
  END LOOP;
END $$;
COMMENT ON FUNCTION neardup_s_curve(float8, int, int, int) IS
  'lines to look at: with which probability pairs of each similarity are found at a threshold, or by so many bands';

-- The statement that reads the columns of a query: v1, t1, .. are each column's text, cut, and the oid of its type. Types that came later than PostgreSQL's
-- own may have a cast to text, of whoever owns them: their output is taken.
CREATE FUNCTION neardup_reading_sql(query text, what text, columns text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  body text := regexp_replace(query, E';[\\s;]*(--[^\\n]*\\s*)*$', '');
BEGIN
  IF query IS NULL THEN
    RAISE EXCEPTION '% must not be NULL', what USING ERRCODE = 'null_value_not_allowed';
  END IF;
  RETURN format('SELECT %s FROM (%s' || chr(10) || ') "neardup query"(%s)',
    (SELECT string_agg(format('@extschema@.neardup_first_characters(CASE WHEN pg_catalog.pg_typeof("neardup %1$s")::pg_catalog.oid OPERATOR(pg_catalog.<) 16384::pg_catalog.oid THEN "neardup %1$s"::pg_catalog.text
                                 WHEN "neardup %1$s" IS NOT NULL THEN pg_catalog.format(''%%s'', "neardup %1$s") END, 100001) AS v%1$s, pg_catalog.pg_typeof("neardup %1$s")::pg_catalog.oid AS t%1$s', n), ', ' ORDER BY n)
     FROM generate_subscripts(columns, 1) n),
    body, (SELECT string_agg(format('"neardup %s"', n), ', ' ORDER BY n) FROM generate_subscripts(columns, 1) n));
END $$;
COMMENT ON FUNCTION neardup_reading_sql(text, text, text[]) IS 'private: the statement that reads the columns of a query';

CREATE FUNCTION neardup_no_columns(what text, columns text[], said text) RETURNS void LANGUAGE plpgsql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION '% must return % columns: %', what, CASE cardinality(columns) WHEN 2 THEN 'two' ELSE 'three' END,
    array_to_string(columns, ', ') USING ERRCODE = 'datatype_mismatch', DETAIL = 'PostgreSQL says: ' || said || '.';
END $$;
COMMENT ON FUNCTION neardup_no_columns(text, text[], text) IS 'private: the error for a query that returns other columns';

-- STABLE although the query may be anything: of a function that is STABLE, PostgreSQL opens cursors only over what reads. Without a search_path
-- of its own: the query is the caller's.
CREATE FUNCTION neardup_reading_cursor(query text, what text, columns text[]) RETURNS refcursor LANGUAGE plpgsql STABLE AS $$
DECLARE
  c pg_catalog.refcursor;
  statement pg_catalog.text := @extschema@.neardup_reading_sql(query, what, columns);
BEGIN
  -- once as it stands, so that a second statement in it is seen for what it is
  BEGIN
    OPEN c NO SCROLL FOR EXECUTE query;
    CLOSE c;
  EXCEPTION WHEN invalid_cursor_definition OR feature_not_supported THEN
    RAISE EXCEPTION '% must be one SELECT, VALUES or TABLE statement that only reads', what
      USING ERRCODE = 'feature_not_supported', DETAIL = pg_catalog.concat('PostgreSQL says: ', SQLERRM, '.');
  END;
  c := NULL;
  BEGIN
    OPEN c NO SCROLL FOR EXECUTE statement;
  EXCEPTION WHEN invalid_column_reference THEN
    PERFORM @extschema@.neardup_no_columns(what, columns, SQLERRM);
  END;
  RETURN c;
END $$;
COMMENT ON FUNCTION neardup_reading_cursor(text, text, text[]) IS
  'private: opens a cursor over a query that only reads: v1, t1, .. are each column''s text, cut, and the oid of its type';

-- Microseconds of a look-up in an index of these documents; NULL and why where none can be made. The table and its index
-- are made in a subtransaction that is always rolled back.
CREATE FUNCTION neardup_suggest_query_us(docs text[], unit text, k int, num_perm int, threshold float8, OUT us float8, OUT why text)
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  began timestamptz;
BEGIN
  PERFORM set_config('enable_seqscan', 'off', true);
  EXECUTE pg_catalog.format('CREATE TEMP TABLE neardup_suggest_sample AS SELECT @extschema@.to_minhash(d, %s, %L, %s, 16) AS sig FROM unnest($1) d', k, unit, num_perm)
    USING docs;
  EXECUTE pg_catalog.format('CREATE INDEX ON pg_temp.neardup_suggest_sample USING lsh (sig @extschema@.minhash_ops) WITH (threshold = %s)', threshold);
  FOR i IN 1 .. 2 LOOP
    began := clock_timestamp();
    EXECUTE 'SELECT sum((SELECT count(*) FROM pg_temp.neardup_suggest_sample b WHERE @extschema@.jaccard_at_least(b.sig, a.sig, $1)))
             FROM pg_temp.neardup_suggest_sample a' USING threshold;
    us := least(us, 1000000 * extract(epoch FROM clock_timestamp() - began) / pg_catalog.cardinality(docs));
  END LOOP;
  RAISE EXCEPTION 'rolled back' USING ERRCODE = 'NDRBK';
EXCEPTION
  WHEN SQLSTATE 'NDRBK' THEN NULL;
  WHEN OTHERS THEN us := NULL; why := SQLERRM;
END $$;
COMMENT ON FUNCTION neardup_suggest_query_us(text[], text, int, int, float8) IS
  'private: measured time of a look-up in a temporary index, which is rolled back';

-- Whether a sample takes no more documents.
CREATE FUNCTION neardup_sample_full(documents int, bytes bigint, empty_rows int) RETURNS boolean LANGUAGE sql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT documents >= 2000 OR bytes > 20000000 OR empty_rows > 2000
  $$;
COMMENT ON FUNCTION neardup_sample_full(int, bigint, int) IS 'private: whether a sample takes no more documents';

-- Of a long document the first 100,000 characters are looked at; doc is NULL for an empty one.
CREATE FUNCTION neardup_sample_document(id text, given text, type oid, OUT doc text, OUT cut int, OUT bytes bigint) LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  most_length CONSTANT int := 100000;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_type t WHERE t.oid = type
                 AND COALESCE(NULLIF(t.typbasetype, 0::oid), t.oid) IN ('text'::regtype::oid, 'varchar'::regtype::oid, 'bpchar'::regtype::oid)) THEN
    RAISE EXCEPTION 'the second column of query must be a document of type text: it is %', type::regtype
      USING ERRCODE = 'datatype_mismatch';
  END IF;
  IF id IS NULL THEN
    RAISE EXCEPTION 'query returns a row whose id is NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  doc := NULLIF(@extschema@.neardup_first_characters(given, most_length), '');
  cut := (octet_length(doc) < octet_length(given))::int;
  bytes := octet_length(doc);
END $$;
COMMENT ON FUNCTION neardup_sample_document(text, text, oid) IS 'private: a row of the query of neardup_suggest, checked';

CREATE FUNCTION neardup_check_sample(ids text[], empty_rows int) RETURNS void LANGUAGE plpgsql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  twice text;
BEGIN
  IF cardinality(ids) = 0 THEN
    RAISE EXCEPTION 'query returns no document' USING ERRCODE = 'no_data_found',
      DETAIL = CASE WHEN empty_rows > 0 THEN format('Rows whose document is NULL or empty: %s.', empty_rows) ELSE 'It returns no row.' END;
  END IF;
  SELECT u.id INTO twice FROM unnest(ids) u(id) GROUP BY u.id HAVING count(*) > 1 ORDER BY u.id LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'query returns the id % more than once', twice USING ERRCODE = 'unique_violation';
  END IF;
END $$;
COMMENT ON FUNCTION neardup_check_sample(text[], int) IS 'private: raises an error for a sample that cannot be used';

-- This and the next have no search_path of their own: the caller's queries are read with his. What they name beside them is qualified.
CREATE FUNCTION neardup_suggest_sample(query text, OUT ids text[], OUT docs text[], OUT total bigint, OUT empty_rows int, OUT cut int, OUT more boolean)
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
DECLARE
  c pg_catalog.refcursor;
  r record;
  d record;
BEGIN
  ids := '{}'; docs := '{}'; total := 0; empty_rows := 0; cut := 0; more := false;
  c := @extschema@.neardup_reading_cursor(query, 'query'::pg_catalog.text, ARRAY['id', 'document']::pg_catalog.text[]);
  LOOP
    FETCH c INTO r;
    EXIT WHEN NOT FOUND;
    more := @extschema@.neardup_sample_full(pg_catalog.cardinality(docs), total, empty_rows);
    EXIT WHEN more;
    SELECT * INTO d FROM @extschema@.neardup_sample_document(r.v1, r.v2, r.t2);
    IF d.doc IS NULL THEN
      empty_rows := empty_rows OPERATOR(pg_catalog.+) 1;
    ELSE
      cut := cut OPERATOR(pg_catalog.+) d.cut;
      ids := pg_catalog.array_append(ids, r.v1);
      docs := pg_catalog.array_append(docs, d.doc);
      total := total OPERATOR(pg_catalog.+) d.bytes;
    END IF;
  END LOOP;
  CLOSE c;
  PERFORM @extschema@.neardup_check_sample(ids, empty_rows);
END $$;
COMMENT ON FUNCTION neardup_suggest_sample(text) IS 'private: the documents that neardup_suggest looks at';

CREATE FUNCTION neardup_check_label(n int, a text, b text, duplicate text, type oid) RETURNS void LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  most_labels CONSTANT int := 100000;
BEGIN
  IF type <> 'boolean'::regtype::oid THEN
    RAISE EXCEPTION 'the third column of labels must be boolean: it is %', type::regtype USING ERRCODE = 'datatype_mismatch';
  END IF;
  IF a IS NULL OR b IS NULL OR duplicate IS NULL THEN
    RAISE EXCEPTION 'labels returns a row with NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF a = b THEN
    RAISE EXCEPTION 'labels pairs the id % with itself', a USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF n = most_labels THEN
    RAISE EXCEPTION 'labels returns more than % rows', most_labels USING ERRCODE = 'program_limit_exceeded';
  END IF;
END $$;
COMMENT ON FUNCTION neardup_check_label(int, text, text, text, oid) IS 'private: raises an error for a row of labels that cannot be used';

CREATE FUNCTION neardup_suggest_labels(labels text, OUT la text[], OUT lb text[], OUT ld boolean[]) LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
DECLARE
  c pg_catalog.refcursor;
  r record;
BEGIN
  la := '{}'; lb := '{}'; ld := '{}';
  c := @extschema@.neardup_reading_cursor(labels, 'labels'::pg_catalog.text, ARRAY['id_a', 'id_b', 'is_duplicate']::pg_catalog.text[]);
  LOOP
    FETCH c INTO r;
    EXIT WHEN NOT FOUND;
    PERFORM @extschema@.neardup_check_label(pg_catalog.cardinality(la), r.v1, r.v2, r.v3, r.t3);
    la := pg_catalog.array_append(la, r.v1);
    lb := pg_catalog.array_append(lb, r.v2);
    ld := pg_catalog.array_append(ld, r.v3::boolean);
  END LOOP;
  CLOSE c;
END $$;
COMMENT ON FUNCTION neardup_suggest_labels(text) IS 'private: the pairs that people have judged';

CREATE FUNCTION neardup_suggest_of(ids text[], docs text[], total bigint, empty_rows int, cut int, more boolean, labels text, la text[], lb text[],
    ld boolean[], edit_similarity float8)
  RETURNS TABLE (unit text, k int, threshold float8, num_perm int, bits int, index_options text, expected_recall float8,
                 expected_precision float8, bytes_per_row float8, signing_us float8, query_us float8, pairs bigint, note text)
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 18 SET jit = off SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  most_length CONSTANT int := 100000;   -- as in neardup_sample_document()
  r record;
  -- told in the note
  copies int := 0;
  strange bigint := 0;                  -- labels of ids that are not in the sample
  remarks text[] := '{}';
  judged boolean := false;              -- only labelled pairs count
  -- forms of shingles, the one to be preferred first
  units text[];
  ks int[];
  unspaced float8;
  queries text[] := '{}';
  floors float8[];                      -- least similarity of signatures that makes a near pair
  -- pairs
  most_pairs int;
  pair_a int[];
  pair_b int[];
  pair_weight float8[];
  pair_true boolean[];
  near_pairs bigint;
  true_pairs bigint;
  true_weight float8;
  -- pairs by exact similarity in steps of 1/200: form, step, weight of true ones, of others
  hist_form int[] := '{}';
  hist_step int[] := '{}';
  hist_true float8[] := '{}';
  hist_false float8[] := '{}';
  timed text[];                         -- documents on which time is measured
  began timestamptz;
  us float8;
  best record;
  proposals jsonb := '[]';
  times float8[] := '{}';
  n int;
  dummy bigint;
  unmeasured text;                      -- why look-ups could not be timed
BEGIN
  IF labels IS NOT NULL THEN
    SELECT least(l.a, l.b) AS a, greatest(l.a, l.b) AS b INTO r FROM unnest(la, lb, ld) l(a, b, d)
      GROUP BY 1, 2 HAVING bool_or(l.d) AND NOT bool_and(l.d) LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'labels says both true and false of % and %', r.a, r.b USING ERRCODE = 'invalid_parameter_value';
    END IF;
    WITH d AS (SELECT u.id, u.n::int FROM unnest(ids) WITH ORDINALITY u(id, n)),
    p AS (SELECT DISTINCT least(x.n, y.n) AS a, greatest(x.n, y.n) AS b, l.d
          FROM unnest(la, lb, ld) l(a, b, d) JOIN d x ON x.id = l.a JOIN d y ON y.id = l.b)
    SELECT array_agg(p.a ORDER BY p.a, p.b), array_agg(p.b ORDER BY p.a, p.b), array_agg(p.d ORDER BY p.a, p.b),
           count(*) FILTER (WHERE p.d), bool_or(NOT p.d),
           (SELECT count(*) FROM unnest(la, lb) l(a, b) WHERE l.a <> ALL (ids) OR l.b <> ALL (ids))
      INTO pair_a, pair_b, pair_true, true_pairs, judged, strange FROM p;
    IF true_pairs = 0 THEN
      RAISE EXCEPTION 'labels names no duplicates of which both are in the sample' USING ERRCODE = 'no_data_found',
        DETAIL = pg_catalog.format('The sample has %s documents; labels of ids that are not in it: %s of %s.', pg_catalog.cardinality(docs), strange, pg_catalog.cardinality(la)),
        HINT = 'Let query return the labelled documents first.';
    END IF;
  ELSE
    -- Equal documents are found by every form and would only hide what the others tell.
    n := pg_catalog.cardinality(docs);
    SELECT array_agg(x.doc ORDER BY x.n) INTO docs
      FROM (SELECT min(u.n) AS n, u.doc FROM unnest(docs) WITH ORDINALITY u(doc, n) GROUP BY u.doc) x;
    copies := n - pg_catalog.cardinality(docs);
  END IF;

  -- Scripts without spaces: words of one letter that takes three bytes or more in UTF-8, a mark may follow
  SELECT COALESCE(sum(n) FILTER (WHERE n <= 2 AND octet_length(convert_to(@extschema@.neardup_first_characters(w, 1), 'UTF8')) >= 3)::float8
                  / NULLIF(sum(n), 0), 0)
    INTO unspaced FROM unnest(docs[1:200]) d, @extschema@.shingles(@extschema@.neardup_first_characters(d, 1000), 1) w,
      LATERAL @extschema@.neardup_characters(w) n;
  IF unspaced > 0.5 THEN
    units := '{char,char,char,char}';
    ks := '{3,2,5,8}';
    floors := '{0.2,0.2,0.2,0.2}';
  ELSE
    -- in any two long texts many three letters are the same
    units := '{word,word,word,char,char,char}';
    ks := '{3,2,5,5,8,3}';
    floors := '{0.2,0.2,0.2,0.2,0.2,0.3}';
  END IF;

  -- Near pairs. Exact comparisons are what takes time: fewer of long documents.
  most_pairs := greatest(300, least(5000, 15000000 / (1 + total / pg_catalog.cardinality(docs))));
  IF NOT COALESCE(judged, false) THEN
    FOR f IN 1 .. pg_catalog.cardinality(units) LOOP
      queries[f] := pg_catalog.format('SELECT n, s FROM pg_catalog.unnest(%L::@extschema@.minhash[]) WITH ORDINALITY u(s, n)',
        (SELECT array_agg(@extschema@.to_minhash(u.doc, ks[f], units[f], 128, 32) ORDER BY u.n)
         FROM unnest(docs) WITH ORDINALITY u(doc, n))::text);
    END LOOP;
    -- Where there are too many, a pair is kept with a chance that grows with its similarity, and weighs as many as it
    -- stands for. The chance is a hash: another call keeps the same ones. (Of text: PostgreSQL's hash of a bigint folds
    -- its halves together, and neighbours in the sample would be kept or lost together.)
    WITH near AS (
      SELECT p.id_a::int AS a, p.id_b::int AS b, (sum(p.similarity) / pg_catalog.cardinality(units)) ^ 3 AS q
      FROM unnest(queries, floors) f(query, floor), LATERAL @extschema@.all_pairs(f.query, f.floor) p GROUP BY 1, 2),
    counted AS (SELECT near.*, count(*) OVER () AS total, sum(near.q) OVER () AS q_total FROM near),
    weighed AS (SELECT counted.*, CASE WHEN total <= most_pairs THEN 1 ELSE greatest(1, q_total / (most_pairs * q)) END AS w FROM counted),
    kept AS (
      SELECT weighed.a, weighed.b, weighed.w, total FROM weighed
      WHERE w = 1 OR (hashtextextended(a || ' ' || b, 0) & 2147483647) / 2147483648.0 < 1 / w)
    SELECT array_agg(x.a ORDER BY x.a, x.b), array_agg(x.b ORDER BY x.a, x.b), array_agg(x.w ORDER BY x.a, x.b),
           CASE WHEN labels IS NOT NULL THEN array_agg(x.d ORDER BY x.a, x.b) END, max(x.total)
      INTO pair_a, pair_b, pair_weight, pair_true, near_pairs
      FROM (SELECT COALESCE(kept.a, l.a) AS a, COALESCE(kept.b, l.b) AS b, CASE WHEN l.d THEN 1 ELSE kept.w END AS w,
                   l.d IS NOT NULL AS d, kept.total
            FROM kept FULL JOIN unnest(pair_a, pair_b, pair_true) l(a, b, d) ON l.a = kept.a AND l.b = kept.b) x;
    queries := NULL;
    IF pair_a IS NULL THEN
      RAISE EXCEPTION 'no two documents of the sample are similar' USING ERRCODE = 'no_data_found',
        DETAIL = pg_catalog.format('The sample has %s documents.', pg_catalog.cardinality(docs)),
        HINT = 'Take a sample that has duplicates in it: rows of one source or of one time, or rows together with those that all_pairs finds near them.';
    END IF;
  ELSE
    pair_weight := array_fill(1::float8, ARRAY[pg_catalog.cardinality(pair_a)]);
    near_pairs := pg_catalog.cardinality(pair_a);
  END IF;

  IF labels IS NULL THEN
    WITH d AS MATERIALIZED (SELECT u.n::int, u.doc FROM unnest(docs) WITH ORDINALITY u(doc, n))
    SELECT array_agg(@extschema@.edit_rate(x.doc, y.doc, (1 - edit_similarity) / 2 + 1e-9) IS NOT NULL ORDER BY p.n) INTO pair_true
      FROM unnest(pair_a, pair_b) WITH ORDINALITY p(a, b, n) JOIN d x ON x.n = p.a JOIN d y ON y.n = p.b;
  END IF;
  SELECT count(*), sum(p.w) INTO true_pairs, true_weight FROM unnest(pair_true, pair_weight) p(t, w) WHERE p.t;
  IF true_pairs = 0 THEN
    RAISE EXCEPTION 'no two documents of the sample are near duplicates' USING ERRCODE = 'no_data_found',
      DETAIL = pg_catalog.format('Of %s documents %s pairs are near, and none of these has 1 - 2 * edit_rate >= %s.', pg_catalog.cardinality(docs), near_pairs, edit_similarity),
      HINT = 'Take a sample that has duplicates in it, give labels, or a lower edit_similarity.';
  END IF;

  -- Exact similarity of the pairs, and the time that signing takes
  SELECT array_agg(u.doc) INTO timed
    FROM (SELECT u.doc, u.n, sum(octet_length(u.doc)) OVER (ORDER BY u.n) AS bytes FROM unnest(docs) WITH ORDINALITY u(doc, n)) u
    WHERE u.n <= 500 AND (u.n = 1 OR u.bytes <= 2000000);
  FOR f IN 1 .. pg_catalog.cardinality(units) LOOP
    WITH d AS MATERIALIZED (
      SELECT u.n::int, ARRAY(SELECT DISTINCT h FROM @extschema@.shingle_hashes(u.doc, ks[f], units[f]) h ORDER BY h) AS hashes
      FROM unnest(docs) WITH ORDINALITY u(doc, n)
      WHERE u.n IN (SELECT unnest(pair_a) UNION SELECT unnest(pair_b))),
    s AS (
      SELECT round(200 * @extschema@.jaccard_exact(x.hashes, y.hashes))::int AS step, p.w, p.t
      FROM unnest(pair_a, pair_b, pair_weight, pair_true) p(a, b, w, t) JOIN d x ON x.n = p.a JOIN d y ON y.n = p.b),
    h AS (SELECT s.step, COALESCE(sum(s.w) FILTER (WHERE s.t), 0) AS yes, COALESCE(sum(s.w) FILTER (WHERE NOT s.t), 0) AS no FROM s GROUP BY 1)
    SELECT hist_form || array_agg(f), hist_step || array_agg(h.step), hist_true || array_agg(h.yes), hist_false || array_agg(h.no)
      INTO hist_form, hist_step, hist_true, hist_false FROM h;
    FOREACH n IN ARRAY ARRAY[64, 128, 256] LOOP
      us := NULL;
      FOR i IN 1 .. 2 LOOP
        began := clock_timestamp();
        SELECT count(@extschema@.to_minhash(d, ks[f], units[f], n, 16)) INTO dummy FROM unnest(timed) d;
        us := least(us, 1000000 * extract(epoch FROM clock_timestamp() - began) / pg_catalog.cardinality(timed));
      END LOOP;
      times := times || us;
    END LOOP;
  END LOOP;

  -- For each form and size the threshold of the greatest F1
  FOR best IN
    WITH tail AS MATERIALIZED (
      SELECT l.size, s.step, @extschema@.neardup_match_tail(l.size, (s.step / 200.0)::float8) AS p
      FROM unnest(ARRAY[64, 128, 256]) l(size), generate_series(0, 200) s(step)),
    asked AS MATERIALIZED (
      SELECT l.size, t.percent, @extschema@.neardup_matches_needed(l.size, (t.percent / 100.0)::float8) AS need
      FROM unnest(ARRAY[64, 128, 256]) l(size), generate_series(30, 99) t(percent)),
    rated AS (
      SELECT h.form, a.size, a.percent, a.need, sum(h.yes * t.p[a.need + 1]) AS tp, sum(h.no * t.p[a.need + 1]) AS fp
      FROM unnest(hist_form, hist_step, hist_true, hist_false) h(form, step, yes, no)
      JOIN tail t ON t.step = h.step JOIN asked a ON a.size = t.size GROUP BY 1, 2, 3, 4),
    scored AS (
      SELECT rated.*, 2 * tp / (true_weight + tp + fp) AS f1, max(2 * tp / (true_weight + tp + fp)) OVER (PARTITION BY form, size) AS most
      FROM rated),
    -- runs of thresholds that are as good but for 0.005
    good AS (
      SELECT scored.*, percent - row_number() OVER (PARTITION BY form, size ORDER BY percent) AS run FROM scored
      WHERE f1 >= most - 0.005 AND most > 0),
    runs AS (
      SELECT DISTINCT ON (form, size) form, size, (min(percent) + max(percent) + 1) / 2 AS percent
      FROM good GROUP BY form, size, run ORDER BY form, size, max(f1) DESC, run)
    SELECT s.form, s.size, s.percent / 100.0::float8 AS threshold, s.need, s.tp / true_weight AS recall, s.tp / (s.tp + s.fp) AS precision,
           s.f1, 16 + 2 * s.size + round(5.9 * (s.size + 1 - s.need)) AS bytes
    FROM scored s JOIN runs USING (form, size, percent)
    ORDER BY round(s.f1::numeric, 2) DESC, bytes, s.form
  LOOP
    proposals := proposals || to_jsonb(best);
  END LOOP;

  IF labels IS NULL THEN
    remarks := remarks || pg_catalog.format('%s documents, %s near pairs, %s of them duplicates (1 - 2 * edit_rate >= %s)',
                                 pg_catalog.cardinality(docs), near_pairs, true_pairs, edit_similarity);
  ELSIF judged THEN
    remarks := remarks || pg_catalog.format('%s documents, %s labelled pairs, %s of them duplicates', pg_catalog.cardinality(docs), near_pairs, true_pairs);
  ELSE
    remarks := remarks || pg_catalog.format('%s documents, %s pairs labelled as duplicates and none as others: all other near pairs (%s) are taken for others',
                                 pg_catalog.cardinality(docs), true_pairs, near_pairs);
  END IF;
  IF more THEN remarks := remarks || 'the query returns more rows than were read'::text; END IF;
  IF true_pairs < 30 THEN remarks := remarks || 'few duplicates: the figures are rough'::text; END IF;
  IF strange > 0 THEN remarks := remarks || pg_catalog.format('labels of ids that are not in the sample: %s', strange); END IF;
  IF near_pairs > pg_catalog.cardinality(pair_a) THEN remarks := remarks || pg_catalog.format('%s of the near pairs stand for all', pg_catalog.cardinality(pair_a)); END IF;
  IF copies > 0 THEN remarks := remarks || pg_catalog.format('copies of equal documents left out: %s', copies); END IF;
  IF empty_rows > 0 THEN remarks := remarks || pg_catalog.format('NULL or empty documents left out: %s', empty_rows); END IF;
  IF cut > 0 THEN remarks := remarks || pg_catalog.format('long documents of which only %s characters were looked at: %s', most_length, cut); END IF;
  IF unspaced > 0.5 THEN remarks := remarks || pg_catalog.format('%s %% of the letters are of scripts without spaces', round(100 * unspaced)); END IF;

  FOR best IN SELECT p.value, p.ordinality FROM jsonb_array_elements(proposals) WITH ORDINALITY p ORDER BY p.ordinality LOOP
    n := (best.value->>'form')::int;
    unit := units[n];
    k := ks[n];
    num_perm := (best.value->>'size')::int;
    bits := 16;
    threshold := (best.value->>'threshold')::float8;
    index_options := concat('threshold = ', threshold);
    expected_recall := round((best.value->>'recall')::numeric, 3);
    expected_precision := round((best.value->>'precision')::numeric, 3);
    bytes_per_row := (best.value->>'bytes')::float8;
    signing_us := round(times[3 * (n - 1) + CASE num_perm WHEN 64 THEN 1 WHEN 128 THEN 2 ELSE 3 END]::numeric, 1);
    IF unmeasured IS NULL THEN
      SELECT round(q.us::numeric, 1), q.why INTO query_us, unmeasured
        FROM @extschema@.neardup_suggest_query_us(timed, units[n], ks[n], num_perm, threshold) q;
      IF unmeasured IS NOT NULL THEN remarks := remarks || ('query_us is not measured: ' || unmeasured); END IF;
    END IF;
    pairs := true_pairs;
    note := CASE WHEN best.ordinality = 1 THEN array_to_string(remarks, '; ') ELSE '' END;
    RETURN NEXT;
  END LOOP;
END $$;
COMMENT ON FUNCTION neardup_suggest_of(text[], text[], bigint, int, int, boolean, text, text[], text[], boolean[], float8) IS
  'private: what neardup_suggest says of a sample and labels';

CREATE FUNCTION neardup_check_edit_similarity(edit_similarity float8) RETURNS void LANGUAGE plpgsql IMMUTABLE
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF edit_similarity IS NULL THEN
    RAISE EXCEPTION 'edit_similarity must not be NULL' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF NOT (edit_similarity >= 0.5 AND edit_similarity <= 1) THEN
    RAISE EXCEPTION 'edit_similarity must be from 0.5 to 1: %', edit_similarity USING ERRCODE = 'invalid_parameter_value';
  END IF;
END $$;
COMMENT ON FUNCTION neardup_check_edit_similarity(float8) IS 'private: raises an error for an edit_similarity out of range';

CREATE FUNCTION neardup_suggest(query text, labels text = NULL, edit_similarity float8 = 0.8)
  RETURNS TABLE (unit text, k int, threshold float8, num_perm int, bits int, index_options text, expected_recall float8,
                 expected_precision float8, bytes_per_row float8, signing_us float8, query_us float8, pairs bigint, note text)
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 18 SET jit = off AS $$
DECLARE
  s record;
  l record;
BEGIN
  PERFORM @extschema@.neardup_check_edit_similarity(edit_similarity);
  SELECT * INTO s FROM @extschema@.neardup_suggest_sample(query);
  SELECT NULL::pg_catalog.text[] AS la, NULL::pg_catalog.text[] AS lb, NULL::boolean[] AS ld INTO l;
  IF labels IS NOT NULL THEN SELECT * INTO l FROM @extschema@.neardup_suggest_labels(labels); END IF;
  RETURN QUERY SELECT f.* FROM @extschema@.neardup_suggest_of(s.ids, s.docs, s.total, s.empty_rows, s.cut, s.more, labels, l.la, l.lb, l.ld, edit_similarity) f;
END $$;
COMMENT ON FUNCTION neardup_suggest(text, text, float8) IS
  'unit, k, num_perm and threshold for the documents of a query, best first, measured on a sample of them';
