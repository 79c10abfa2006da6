#!/usr/bin/python3
"""Pairs and clusters within groups, near in time, and verified on documents equal plain joins. Bridges equal their
definition. Recall of verified pairs on the data sets."""
import re
import time

from clusters import anchors, components
from harness import *

SIGNED = """CREATE TABLE sig AS SELECT *, %s AS sig FROM doc; ANALYZE sig"""
KINDS = {
    "minhash": ("to_minhash(body, 3)", "jaccard(x.sig, y.sig)", 0.6),
    "simhash": ("to_simhash(body, 3)", "1 - hamming(x.sig, y.sig) / 64.0::float8", 0.85),
    "digests": ("to_ctph(body)", "1 - ctph_edit_rate(x.sig, y.sig)", 0.8),
}
# name: columns, condition of a plain join, further arguments
CONDITIONS = {
    "within": ("tenant AS within", "x.tenant = y.tenant", ""),
    "within a text": ("'t' || tenant AS within", "x.tenant = y.tenant", ""),
    "within a row": ("ROW(tenant, lang) AS within", "x.tenant IS NOT DISTINCT FROM y.tenant AND x.lang = y.lang", ""),
    "within one": ("1 AS within", "true", ""),
    "within itself": ("id AS within", "false", ""),
    "at, days": ("day AS at", "abs(x.day - y.day) <= 2", "at_most_apart => '2 days'"),
    "at, no time": ("stamp AS at", "x.stamp = y.stamp", "at_most_apart => '0'"),
    "at, months": ("stamp AS at", "greatest(x.stamp, y.stamp) <= least(x.stamp, y.stamp) + interval '1 month 1 hour' "
                                      "AND x.stamp IS NOT NULL AND y.stamp IS NOT NULL",
                   "at_most_apart => '1 month 1 hour'"),
    "at, without a time zone":
        ("stamp::timestamp AS at", "x.stamp - y.stamp BETWEEN '-3 hours' AND '3 hours'", "at_most_apart => '3 hours'"),
    "at, always": ("stamp AS at", "x.stamp IS NOT NULL AND y.stamp IS NOT NULL", "at_most_apart => '100 years'"),
    "within and at":
        ("day AS at, tenant AS within", "x.tenant = y.tenant AND abs(x.day - y.day) <= 3", "at_most_apart => '3 days'"),
}


def make_documents(conn, rows):
    conn.execute("SET timezone = 'Europe/Berlin'")
    conn.execute("""DROP TABLE IF EXISTS doc; CREATE TABLE doc AS
        SELECT (i * 7919) %% %d AS id, CASE WHEN i %% 89 = 0 THEN '' WHEN i %% 83 = 0 THEN NULL ELSE (
                SELECT string_agg(CASE WHEN abs(hashint4(i * 1000 + w) %% 100) < i %% 7 * 2 THEN 'edit' || i
                  ELSE 'w' || (i / 12) || '_' || w END, ' ' ORDER BY w)
                FROM generate_series(1, 30 + i %% 5) w) END AS body,
            CASE WHEN i %% 61 > 0 THEN abs(hashint4(i)) %% 5 END AS tenant, CASE WHEN i %% 2 = 0 THEN 'en'
              ELSE 'de' END AS lang,
            CASE WHEN i %% 59 > 0 THEN date '2026-03-01' + abs(hashint4(i + 5)) %% 60 END AS day,
            CASE WHEN i %% 59 > 0 THEN timestamptz '2026-03-01' + abs(hashint4(i + 5)) %% 1500 * interval '1 hour' END
              AS stamp
        FROM generate_series(1, %d) i""" % (rows, rows))


def make_brute(conn, kind):
    signature, similarity, least = KINDS[kind]
    conn.execute("DROP TABLE IF EXISTS sig, brute")
    conn.execute(SIGNED % signature)
    conn.execute("CREATE TABLE brute AS SELECT x.id AS a, y.id AS b, %s AS s FROM sig x JOIN sig y ON x.id < y.id "
                 "AND %s >= %s; ANALYZE brute" % (similarity, similarity, least))


def pair_set(conn, query):
    return {(a, b): s for a, b, s in conn.execute(query).fetchall()}


def bridges(near):
    """Pairs without which their two rows are not joined, by looking."""
    neighbours = {}
    for a, b in near:
        neighbours.setdefault(a, set()).add(b)
        neighbours.setdefault(b, set()).add(a)
    out = []
    for a, b in near:
        seen, todo = {a}, [a]
        while todo and b not in seen:
            i = todo.pop()
            for j in neighbours[i]:
                if j not in seen and {i, j} != {a, b}:
                    seen.add(j)
                    todo.append(j)
        if b not in seen:
            out.append((a, b))
    return sorted(out)


def rows_query(columns):
    return "SELECT id, sig, %s FROM sig" % columns


def compare(conn, kind, names):
    make_brute(conn, kind)
    least = KINDS[kind][2]
    pair_rows, cluster_rows, bridge_rows, pairs, found = [], [], [], 0, 0
    ids = [i for i, in conn.execute("SELECT id FROM sig ORDER BY id % 11, id").fetchall()]
    unsigned = {i for i, in conn.execute("SELECT id FROM sig WHERE sig IS NULL").fetchall()}
    for n, name in enumerate(names):
        columns, on, more = CONDITIONS[name]
        label = "%s, %s" % (kind, name)
        threshold = (least, min(0.99, least + 0.13))[n % 2]
        want = pair_set(conn, "SELECT b.* FROM brute b JOIN doc x ON x.id = b.a JOIN doc y ON y.id = b.b "
                              "WHERE s >= %s AND %s" % (threshold, on))
        query = rows_query(columns)
        arguments = ", ".join(["'%s'" % query.replace("'", "''"), str(threshold)] + [more] * bool(more))
        for memory in ("1MB", "64MB"):
            conn.execute("SET maintenance_work_mem = '%s'; SET neardup.threads = %d" % (memory, 1 + n % 2))
            pair_rows.append((label + ", " + memory, pair_set(conn, "SELECT * FROM all_pairs(%s)" % arguments), want))
        pairs += len(want)
        rows = conn.execute("SELECT id_a, id_b FROM all_pairs(%s)" % arguments).fetchall()
        pair_rows.append((label + ": in order", rows, sorted(want)))
        halves = pair_set(conn,
                          "SELECT * FROM pairs_between('{0} WHERE id % 3 = 0', '{0} WHERE id % 3 <> 0', {1}{2})".format(
                              query.replace("'", "''"), threshold, ", " + more if more else ""))
        pair_rows.append((label + ": two sets", {tuple(sorted(p)): s for p, s in halves.items()},
                          {p: s for p, s in want.items() if (p[0] % 3 == 0) != (p[1] % 3 == 0)}))
        pair_rows.append((label + ": two sets, A first", [p for p in halves if p[0] % 3 or not p[1] % 3], []))
        for linkage, simulate in (("anchor", anchors), ("connected", components)):
            rows = conn.execute("SELECT id, cluster, representative, similarity, cluster_size, survivor "
                                "FROM all_clusters('%s ORDER BY id %% 11, id', %s, '%s'%s)" % (
                query.replace("'", "''"), threshold, linkage, ", " + more if more else "")).fetchall()
            rep = simulate(ids, want)
            size = {}
            for r in rep.values():
                size[r] = size.get(r, 0) + 1
            number = {i: k for k, i in enumerate(ids, 1)}
            cluster_rows.append(("%s, %s" % (label, linkage), [r[:3] + r[4:] for r in rows],
                                 [(i, None, None, None, True) if i in unsigned else (
                                     i, number[rep[i]], rep[i], size[rep[i]], rep[i] == i) for i in ids]))
            near = lambda i, j: 1.0 if i == j else want.get((min(i, j), max(i, j)))
            known = [r for r in rows if r[2] is not None and near(r[0], r[2]) is not None]
            cluster_rows.append(
                ("%s, %s: similarity" % (label, linkage), [r[3] for r in known], [near(r[0], r[2]) for r in known]))
        got = pair_set(conn, "SELECT * FROM cluster_bridges(%s)" % arguments)
        alone = bridges(want)
        found += len(alone)
        bridge_rows.append((label, got, {p: want[p] for p in alone}))
        if not more:
            # Each set of equal signatures in a group is paired by its least id alone.
            group = conn.execute(
                "SELECT min(id) OVER (PARTITION BY sig, %s), id FROM sig" % columns.split(" AS ")[0]).fetchall()
            first = {i: f for f, i in group}
            for identical, keep in (("star", lambda a, b: first[a] == a and (first[b] == b or first[b] == a)),
                                    ("none", lambda a, b: first[a] == a and first[b] == b)):
                pair_rows.append((label + ", " + identical,
                                  pair_set(conn, "SELECT * FROM all_pairs(%s, '%s')" % (arguments, identical)),
                                  {p: s for p, s in want.items() if keep(*p)}))
    conn.execute("RESET maintenance_work_mem; RESET neardup.threads")
    equal_all("%s: %d pairs equal to a plain join" % (kind, pairs), pair_rows)
    equal_all("%s: clusters equal to the simulation" % kind, cluster_rows)
    equal_all("%s: %d bridges equal to the definition" % (kind, found), bridge_rows)


def verified(conn):
    """Measures and bounds by a plain join over the documents."""
    conn.execute("DROP TABLE IF EXISTS sig, true_pair")
    conn.execute("""CREATE TABLE sig AS SELECT *, to_minhash(body, 3) AS m, to_simhash(body, 3) AS s, to_ctph(body) AS
        c,
        to_minhash(convert_to(body, 'UTF8')) AS mb, convert_to(body, 'UTF8') AS bytes FROM doc""")
    conn.execute("""CREATE TABLE shingle_set AS SELECT id, array_agg(DISTINCT w) AS w, tenant
        FROM sig, shingles(body, 3) w GROUP BY id, tenant;
        CREATE TABLE true_pair AS SELECT x.id AS a, y.id AS b, jaccard_exact(x.w, y.w) AS j
            FROM (SELECT DISTINCT x.id AS a, y.id AS b FROM (SELECT id, unnest(w) FROM shingle_set) x(id, w)
              JOIN (SELECT id, unnest(w) FROM shingle_set) y(id, w) USING (w) WHERE x.id < y.id) p
                JOIN shingle_set x ON x.id = a JOIN shingle_set y ON y.id = b;
        CREATE TABLE rate AS SELECT a, b, 1 - edit_rate(x.body, y.body) AS r, jaccard(x.m, y.m) AS jm, 1 - hamming(x.s,
          y.s) / 64.0 AS h
            FROM true_pair JOIN sig x ON x.id = a JOIN sig y ON y.id = b""")
    rows = []
    for memory in ("1MB", "64MB"):
        conn.execute("SET maintenance_work_mem = '%s'" % memory)
        for t in (0.5, 0.8, 1):
            want = pair_set(conn, "SELECT a, b, j FROM true_pair WHERE j >= %s" % t)
            got = pair_set(
                conn, "SELECT * FROM all_pairs('SELECT id, m, body AS doc FROM sig', %s, verify => 'jaccard')" % t)
            rows.append(("jaccard %s: no other pairs" % t, {p: s for p, s in got.items() if want.get(p) != s}, {}))
            rows.append(("jaccard %s: recall" % t, len(got) >= 0.99 * len(want), True))
        want = pair_set(conn, "SELECT a, b, r FROM rate WHERE jm >= 0.4 AND r >= 0.9")
        got = pair_set(conn, "SELECT * FROM all_pairs('SELECT id, m, body AS doc FROM sig', 0.4, verify => "
                             "'edit_rate', verify_threshold => 0.9)")
        rows.append(("edit rate over minhash", got, want))
        want = pair_set(conn, "SELECT a, b, j FROM rate JOIN true_pair USING (a, b) WHERE h >= 0.8 AND j >= 0.7")
        got = pair_set(conn, "SELECT * FROM all_pairs('SELECT id, s, body AS doc FROM sig', 0.8, verify => 'jaccard', "
                             "verify_threshold => 0.7)")
        rows.append(("jaccard over simhash", got, want))
        got = pair_set(conn, "SELECT * FROM all_pairs('SELECT id, s, bytes AS doc FROM sig', 0.8, verify => "
                             "'edit_rate', verify_threshold => 0.9)")
        want = pair_set(conn, "SELECT a, b, r FROM rate WHERE h >= 0.8 AND r >= 0.9")
        rows.append(("edit rate of bytes over simhash", got, want))
        got = pair_set(
            conn, "SELECT * FROM all_pairs('SELECT id, c, body AS doc FROM sig', 0.95, verify => 'edit_rate')")
        want = pair_set(conn, "SELECT a, b, r FROM rate WHERE r >= 0.95")
        rows.append(("edit rate over digests: no other pairs", {p: s for p, s in got.items() if want.get(p) != s}, {}))
        rows.append(("edit rate over digests: finds some", len(got) > 0.3 * len(want) > 10, True))
        got = pair_set(
            conn, "SELECT * FROM all_pairs('SELECT id, mb, bytes AS doc FROM sig', 0.9, verify => 'jaccard')")
        rows.append(("jaccard of bytes", min(got.values()) >= 0.9 and len(got) > 50, True))
        want = pair_set(conn, "SELECT a, b, j FROM true_pair JOIN doc x ON x.id = a JOIN doc y ON y.id = b "
                              "WHERE j >= 0.8 AND x.tenant = y.tenant AND abs(x.day - y.day) <= 9")
        conditions = ("'SELECT id, m, body AS doc, day AS at, tenant AS within FROM sig%s', 0.8, verify => 'jaccard', "
                      "at_most_apart => '9 days'")
        got = pair_set(conn, "SELECT * FROM all_pairs(%s)" % conditions % "")
        rows.append(("all conditions at once",
                     ({p: s for p, s in got.items() if want.get(p) != s}, len(got) >= 0.99 * len(want)), ({}, True)))
        between = pair_set(conn, "SELECT * FROM pairs_between('SELECT id, m, body AS doc, day AS at, tenant AS within "
                                 "FROM sig WHERE id % 2 = 0', " + conditions % " WHERE id % 2 = 1" + ")")
        rows.append(("all conditions between two sets", {tuple(sorted(p)): s for p, s in between.items()},
                     {p: s for p, s in got.items() if sum(p) % 2}))
        ids = [i for i, in conn.execute("SELECT id FROM sig ORDER BY id").fetchall()]
        for linkage, simulate in (("anchor", anchors), ("connected", components)):
            reps = dict(conn.execute("SELECT id, representative FROM all_clusters(%s, linkage => '%s')" % (
                conditions % " ORDER BY id", linkage)).fetchall())
            rows.append(("clusters by %s" % linkage, {i: r for i, r in reps.items() if r is not None and r != i},
                         {i: r for i, r in simulate(ids, got).items() if r != i}))
        rows.append(("bridges", pair_set(conn, "SELECT * FROM cluster_bridges(%s)" % conditions % ""),
                     {p: got[p] for p in bridges(got)}))
    conn.execute("RESET maintenance_work_mem")
    equal_all("verified on documents", rows)


def copies(conn):
    """Documents that come many times, verified: clusters and bridges of the pairs; what is near each other by what it
    is a copy of is not compared again."""
    conn.execute("""DROP TABLE IF EXISTS copied; CREATE TABLE copied AS SELECT (id + 10000 * n) * 7919 %% 100003 AS id,
            id + 10000 * n AS place, m, s, c, tenant, lang, day + n %% 2 AS day,
            CASE WHEN id %% 37 = 0 THEN '' WHEN id %% 11 = 0 THEN body || ' and ' || (n / 2) ELSE body END AS body
        FROM sig, generate_series(0, 5) n WHERE id %% 12 < 5 AND (n < 3 OR id %% 20 < 3)""" % ())
    rows = []
    ids = [i for i, in conn.execute("SELECT id FROM copied ORDER BY place").fetchall()]
    for columns, arguments in (("m, body AS doc", "0.8, verify => 'jaccard'"),
                               ("s, body AS doc", "0.8, verify => 'jaccard', verify_threshold => 0.7"),
                               ("m, body AS doc", "0.6, verify => 'edit_rate', verify_threshold => 0.9"),
                               ("c, body AS doc", "0.95, verify => 'edit_rate'"),
                               ("m, body AS doc, tenant AS within", "0.8, verify => 'jaccard'"),
                               ("m, body AS doc, (tenant::text || lang) COLLATE \"C\" AS within",
                                "0.8, verify => 'jaccard'"),
                               ("c, body AS doc, day AS at", "0.95, verify => 'edit_rate', at_most_apart => '9 days'"),
                               ("m, body AS doc, make_date(2026, 2, 10) + id % 40 AS at",
                                "0.8, verify => 'jaccard', at_most_apart => '1 month -30 days'")):
        query = "SELECT id, %s FROM copied" % columns
        near = pair_set(conn, "SELECT * FROM all_pairs('%s', %s)" % (query, arguments))
        check("some copies are near, some documents near nothing: %s" % columns,
              sum(s == 1 for s in near.values()) > (10 if "-30" in arguments else 500)
                  and len(set(sum(near, ()))) < len(ids), len(near))
        for linkage, simulate in (("anchor", anchors), ("connected", components)):
            got = conn.execute("SELECT id, representative, similarity FROM all_clusters('%s ORDER BY place', %s, "
                               "linkage => '%s')" % (query, arguments, linkage)).fetchall()
            reps = simulate(ids, near)
            want = [(i, reps[i], 1.0 if reps[i] == i else near.get((min(i, reps[i]), max(i, reps[i])))) for i in ids]
            rows.append(("%s: %s, %s" % (linkage, columns, arguments),
                         [g if g[1] is not None else (g[0], g[0], 1.0) for g in got], want))
        rows.append(("bridges: %s, %s" % (columns, arguments),
                     pair_set(conn, "SELECT * FROM cluster_bridges('%s', %s)" % (query, arguments)),
                     {p: near[p] for p in bridges(near)}))
    equal_all("verified, with copies", rows)
    conn.execute("""CREATE TABLE boilerplate AS SELECT n AS id, to_minhash(body) AS m, body FROM
        (SELECT n, CASE WHEN n %% 3 = 0 THEN 'Sign in ' ELSE '' END || repeat('all rights are reserved by us, ',
          20) || CASE WHEN n %% 50 = 0 THEN n ELSE 0 END AS body
         FROM generate_series(1, 3000) n) d""" % ())
    compared, calls = [], [(linkage, more) for linkage in ("anchor", "connected") for more in ("", ", 'all' AS within")]
    conn.add_notice_handler(lambda n: compared.extend(
        int(w) for w in re.findall("([0-9]+) pairs of documents compared", n.message_primary)))
    conn.execute("SET neardup.log_stages = on")
    for linkage, more in calls:
        sizes = conn.execute(
            "SELECT count(DISTINCT cluster), max(cluster_size) FROM all_clusters('SELECT id, m, body AS doc%s "
            "FROM boilerplate ORDER BY id', 0.6, '%s', 'jaccard')" % (more.replace("'", "''"), linkage)).fetchone()
        equal("3,000 rows of some 60 documents are one cluster, %s%s" % (linkage, more), sizes, (1, 3000))
    conn.execute("RESET neardup.log_stages")
    check("few of its 4,498,500 pairs are compared: %s" % compared,
          len(compared) == len(calls) and all(0 < n < 20000 for n in compared), compared)


def recall(conn):
    """The recall of pairs whose true Jaccard similarity reaches a bound is at least 0.99."""
    sets = {"text_articles": ("articles_2500", "id text, body text", "articles_2500_pairs"),
            "code_versions": ("docs", "id text, path text, n int, c text, d text, body text", "pairs"),
            "law_versions": ("docs", "id text, path text, n int, c text, d text, body text", "pairs"),
            "code_submissions": ("docs", "id text, problem text, path text, body text", "pairs"),
            "zh_tang_editions":
                ("docs", "id text, edition text, volume text, author text, title text, body text", "pairs")}
    for name, (file, columns, pairs) in sets.items():
        paths = [data_file(name, f + ".tsv.gz") for f in (file, pairs)]
        if None in paths:
            continue
        conn.execute("DROP TABLE IF EXISTS raw, truth, signed")
        load(conn, "raw", columns, paths[0])
        load(conn, "truth", "a text, b text, lev int, er float8, jw3 float8, jw3n float8, jc5 float8, jc3 float8",
             paths[1])
        if not FULL:  # two documents of five, if there are many
            conn.execute("DELETE FROM raw WHERE (SELECT count(*) FROM raw) > 1000 AND md5(id) > '66'; "
                         "DELETE FROM truth WHERE a NOT IN (SELECT id FROM raw) OR b NOT IN (SELECT id FROM raw)")
        conn.execute("CREATE TABLE signed AS SELECT id, to_minhash(body, 5, 'char') AS sig, body FROM raw")
        rows, told = [], []
        for t in (0.5, 0.7, 0.8, 0.9, 0.95):
            conn.execute("DROP TABLE IF EXISTS got")
            conn.execute("CREATE TEMP TABLE got AS SELECT * FROM all_pairs(NULL::text, 'SELECT id, sig, body AS doc "
                         "FROM signed', %s, verify => 'jaccard')" % t)
            want, both, off = conn.execute("""SELECT count(t.a), count(t.a) FILTER (WHERE g.similarity IS NOT NULL),
                    count(*) FILTER (WHERE g.similarity IS NOT NULL AND (t.a IS NULL
                      OR abs(t.jc5 - g.similarity) > 2e-6))
                FROM got g FULL JOIN (SELECT least(a, b) AS a, greatest(a, b) AS b, jc5 FROM truth WHERE jc5 >= %s) t
                  ON (g.id_a, g.id_b) = (t.a, t.b)""" % t).fetchone()
            rows.append(("%s: wrong ones" % t, off, 0))
            rows.append(("%s: recall %d of %d" % (t, both, want), both >= 0.99 * want, True))
            told.append("%s: %d of %d" % (t, both, want))
        equal_all("%s: pairs verified on documents, recall at least 0.99" % name, rows)
        print("note: %s, jaccard of 5-character shingles: %s" % (name, "; ".join(told)))


def errors(conn):
    for what, call, text, state in (
            ("another column", "all_pairs('SELECT id, m, body FROM sig', 0.8)",
             'query returns a column "body", which has no meaning here', "42804"),
            ("a column twice", "all_pairs('SELECT id, m, 1 AS within, 2 AS within FROM sig', 0.8)",
             'query returns more than one column "within"', "42701"),
            ("doc without verify", "all_pairs('SELECT id, m, body AS doc FROM sig', 0.8)",
             'query returns a column "doc", but verify is not given', "22023"),
            ("verify without doc", "all_pairs('SELECT id, m FROM sig', 0.8, verify => 'jaccard')",
             'query returns no column "doc", which verify compares', "22023"),
            ("at without at_most_apart", "all_pairs('SELECT id, m, day AS at FROM sig', 0.8)",
             'query returns a column "at", but at_most_apart is not given', "22023"),
            ("at_most_apart without at", "all_clusters('SELECT id, m FROM sig', 0.8, at_most_apart => '1 day')",
             'query returns no column "at", which at_most_apart is about', "22023"),
            ("a negative time", "all_pairs('SELECT id, m, day AS at FROM sig', 0.8, at_most_apart => '-1 day')",
             "at_most_apart must not be negative: -1 days", "22023"),
            ("a star in time", "all_pairs('SELECT id, m, day AS at FROM sig', 0.8, 'star', at_most_apart => '1 day')",
             "with at_most_apart, identical must be 'all'", "0A000"),
            ("another measure", "all_pairs('SELECT id, m, body AS doc FROM sig', 0.8, verify => 'cosine')",
             "verify must be 'jaccard' or 'edit_rate': \"cosine\"", "22023"),
            ("a bound without verify", "all_pairs('SELECT id, m FROM sig', 0.8, verify_threshold => 0.8)",
             "verify_threshold is given without verify", "22023"),
            ("a bound out of range",
             "all_pairs('SELECT id, m, body AS doc FROM sig', 0.8, verify => 'jaccard', verify_threshold => 80)",
             "verify_threshold must be above 0 and at most 1: 80", "22023"),
            ("no margin known", "all_pairs('SELECT id, s, body AS doc FROM sig', 0.8, verify => 'jaccard')",
             "verify => 'jaccard' over simhash signatures needs verify_threshold", "22023"),
            ("bytes for words", "all_pairs('SELECT id, m, bytes AS doc FROM sig', 0.8, verify => 'jaccard')",
             'the column "doc" of query is bytea, but the signatures are of text', "42804"),
            ("sets",
             "all_pairs('SELECT id, set_minhash(ARRAY[body]) AS m, body AS doc FROM sig', 0.8, verify => 'jaccard')",
             "verify => 'jaccard' needs signatures of documents: these are of sets", "22023"),
            ("a doc of numbers", "all_pairs('SELECT id, m, id AS doc FROM sig', 0.8, verify => 'jaccard')",
             'the column "doc" of query must be text or bytea: it is integer', "42804"),
            ("a time of text", "all_pairs('SELECT id, m, body AS at FROM sig', 0.8, at_most_apart => '1 day')",
             'the column "at" of query must be timestamptz, timestamp or date: it is text', "42804"),
            ("groups without an order", "all_pairs('SELECT id, m, point(1, 2) AS within FROM sig', 0.8)",
             'the column "within" of query cannot be put in order: it is point', "42883"),
            ("other columns in B",
             "pairs_between('SELECT id, m, tenant AS within FROM sig', 'SELECT id, m FROM sig', 0.8)",
             "query_a and query_b must have the same columns within and at, of the same types", "42804"),
            # Groups are met by walking through both sets in one order.
            ("another collation in B", "pairs_between('SELECT id, m, lang COLLATE \"C\" AS within FROM sig', "
                                           "'SELECT id, m, lang COLLATE \"POSIX\" AS within FROM sig', 0.8)",
             'the columns "within" of query_a and query_b must be of one collation', "42P21"),
            ("other documents in B", "pairs_between('SELECT id, m, body AS doc FROM sig', 'SELECT id, m, bytes AS doc "
                                         "FROM sig', 0.8, verify => 'jaccard')",
             'the columns "doc" of query_a and query_b must be of one type', "42804")):
        fails(what, conn, "SELECT * FROM " + call, text=text, state=state)


def read_in_parallel(conn):
    """Several workers read where the query allows it; the result is the same."""
    conn.execute("SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; "
                 "SET max_parallel_workers_per_gather = 2")
    query = "SELECT id, to_minhash(body, 3) FROM doc"
    want = None
    for workers in (0, 2):
        conn.execute("SET max_parallel_workers_per_gather = %d" % workers)
        rows = conn.execute("SELECT * FROM all_pairs('%s', 0.7)" % query).fetchall()
        clusters = conn.execute("SELECT * FROM all_clusters('%s ORDER BY id', 0.7)" % query).fetchall()
        want = want or (rows, clusters)
        equal("read by %d workers: the same" % workers, (rows, clusters) == want and len(rows) > 100, True)
    # Who reads leaves its pid, and takes so long over a row that each worker gets some
    # pages: rows of different workers are no pairs.
    conn.execute("""SET parallel_leader_participation = off;
        CREATE FUNCTION who() RETURNS int LANGUAGE plpgsql PARALLEL SAFE AS $$ BEGIN PERFORM pg_sleep(0.001);
          RETURN pg_backend_pid(); END $$""")
    pairs = "SELECT count(*) FROM all_pairs('SELECT id, m, who() AS within FROM sig', 0.7)"
    conn.execute("SET max_parallel_workers_per_gather = 0")
    grouped = alone = one(conn, pairs)
    conn.execute("SET max_parallel_workers_per_gather = 2")
    end = time.monotonic() + 60
    while grouped == alone and time.monotonic() < end:  # other sessions may have all workers
        grouped = one(conn, pairs)
    check("workers read", 0 < grouped < alone, (grouped, alone))
    conn.execute("SET max_parallel_workers_per_gather = 0; RESET parallel_leader_participation")


def unequal_sets(conn):
    """A large set and a small one, either way round: the same pairs, in order of id_a; the small one is what is
    kept."""
    conn.execute("""DROP TABLE IF EXISTS large, small;
        CREATE TABLE large AS SELECT 100000 - i AS id, set_minhash(array(SELECT (i * 100 + e)::bigint
          FROM generate_series(1, 30) e)) AS m
          FROM generate_series(1, 4000) i;
        CREATE TABLE small AS SELECT 7 * i AS id, set_minhash(array(SELECT (i * 4000 + e)::bigint
          FROM generate_series(1, 30) e WHERE e > i % 4)) AS m,
          to_simhash(i::text) AS s FROM generate_series(1, 60) i;
        ANALYZE large, small""")
    brute = conn.execute("SELECT s.id, l.id, jaccard(s.m, l.m) FROM small s JOIN large l ON jaccard(s.m, l.m) >= 0.8 "
                         "ORDER BY 1, 2").fetchall()
    check("they have pairs", len(brute) >= 50, len(brute))
    notices = []
    conn.add_notice_handler(lambda n: notices.append(n.message_primary))
    conn.execute("SET neardup.log_stages = on")
    for limit in ("1MB", "64MB"):
        conn.execute("SET maintenance_work_mem = '%s'" % limit)
        for cast, of in (("", ""), ("::text", "NULL::text, ")):
            small, large = ("SELECT id%s, m FROM %s" % (cast, table) for table in ("small", "large"))
            del notices[:]
            first = conn.execute("SELECT * FROM pairs_between(%s'%s', '%s', 0.8)" % (of, small, large)).fetchall()
            second = conn.execute("SELECT * FROM pairs_between(%s'%s', '%s', 0.8)" % (of, large, small)).fetchall()
            what = "%s, %s" % (limit, of or "bigint")
            equal("small, then large: %s" % what, sorted((int(a), int(b), s) for a, b, s in first), brute)
            equal("large, then small: %s" % what, sorted((int(b), int(a), s) for a, b, s in second), brute)
            equal("in order of the first id: %s" % what, [r[0] for r in second], sorted(r[0] for r in second))
            aside = [n for n in notices if "set aside" in n]
            check("most of the large one was set aside, twice: %s" % what,
                  len(aside) == 2 and all(int(n.split(" (")[1].split()[0]) > 3500 for n in aside), notices)
    conn.execute("RESET neardup.log_stages; RESET maintenance_work_mem")
    fails("an error of the second query comes before the first is read", conn,
          "SELECT * FROM pairs_between('SELECT id / 0, m FROM small', 'SELECT id, m, 1 AS other FROM large', 0.8)",
          text="no meaning here", state="42804")
    fails("other signatures in the second", conn,
          "SELECT * FROM pairs_between('SELECT id, m FROM large', 'SELECT id, to_minhash(id::text, k => 2) "
          "FROM small', 0.8)", text="cannot compare signatures made differently", state="42804")


def progress(conn, name):
    """Another session sees how far a call has come, if it may."""
    conn.execute("DROP ROLE IF EXISTS onlooker; CREATE ROLE onlooker")
    conn.execute("""CREATE TABLE hot AS SELECT i::bigint AS id, set_minhash(array(SELECT e::bigint
        FROM generate_series(1, 150) e) ||
        array(SELECT (i * 1000 + e)::bigint FROM generate_series(1, 30) e)) AS sig FROM generate_series(1, 20000) i""")
    searched = 0
    query = "SELECT id, sig FROM hot WHERE id < 100 OR id % 100 > 0 OR pg_sleep(0.003) IS NOT NULL"
    for function, call in (("all_pairs", "all_pairs('%s', 0.8)"),
                           ("pairs_between", "pairs_between('%s', 'TABLE hot', 0.8)"),
                           ("all_clusters", "all_clusters('%s', 0.8, 'connected')"),
                           ("cluster_bridges", "cluster_bridges('%s', 0.8)"),
                           ("all_pairs", "all_pairs('" + query.replace("sig", "sig, id % 2 AS within").replace(
                                    "%", "%%") + "', 0.8)")):
        worker = connect(name)
        errors = []
        thread = Thread(target=lambda: errors.append(
            sql_error(worker, "SELECT count(*) FROM " + (call % query if "%s" in call else call % ()))))
        thread.start()
        seen, rows, shares, hidden = set(), [], [], 0
        pid = worker.info.backend_pid
        end = time.monotonic() + 60
        while thread.is_alive() and time.monotonic() < end and not (
                "searching" in seen and any(0 < s < 1 for s in shares)):
            for row in conn.execute(
                    "SELECT pid, datname, function, phase, rows_read, searched FROM neardup_progress() WHERE pid = %s",
                    (pid,)).fetchall():
                seen.add(row[3])
                rows.append(row[4])
                shares += [row[5]] * (row[5] is not None)
                if row[:3] != (pid, name, function):
                    errors.append(row)
            conn.execute("SET ROLE onlooker")
            hidden += one(conn, "SELECT count(*) FROM neardup_progress()")
            conn.execute("RESET ROLE")
            time.sleep(0.005)
        worker.cancel()
        thread.join()
        searched += any(0 < s <= 1 for s in shares)
        # A busy machine may hide a phase from us, and the call may end before it is cancelled.
        check("progress of %s: read %d rows, searched %.3f" % (function, max(rows, default=0), max(shares, default=-1)),
              "reading rows" in seen and 0 < max(rows) <= 40000 and hidden == 0 and
              len(errors) == 1 and getattr(errors[0], "sqlstate", "57014") == "57014", (seen, errors, hidden))
        equal("nothing is left of it",
              conn.execute("SELECT * FROM neardup_progress() WHERE datname = current_database()").fetchall(), [])
        worker.close()
    check("how much was searched was seen", searched >= 2, searched)
    conn.execute("DROP ROLE onlooker")


def main():
    with database() as name, connect(name) as conn:
        conn.execute("SET neardup.enable_join = off")  # what is compared with is a plain loop
        # More than are searched at once where time or small groups part them.
        make_documents(conn, 5000)
        compare(conn, "minhash", [c for c in CONDITIONS if FULL or c in (
            "within", "within itself", "at, days", "at, months", "within and at")])
        make_documents(conn, 1200)
        for kind in KINDS:
            compare(conn, kind, CONDITIONS)
        verified(conn)
        copies(conn)
        errors(conn)
        read_in_parallel(conn)
        unequal_sets(conn)
        progress(conn, name)
        recall(conn)


finish(main)
