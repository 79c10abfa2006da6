#!/usr/bin/python3
"""all_pairs and pairs_between equal a brute-force join, clusters a simulation over that join's pairs."""
from harness import *

LEAST = 0.3  # the brute-force join keeps pairs from here
PAIR_SQL = """SELECT count(*) FILTER (WHERE f.id_a IS NULL), count(*) FILTER (WHERE b.a IS NULL),
        count(*) FILTER (WHERE f.similarity <> b.s), count(b.a), min(coalesce(b.a, f.id_a)::text || ' ' || coalesce(b.b, f.id_b)::text)
            FILTER (WHERE f.similarity IS DISTINCT FROM b.s)
    FROM (SELECT * FROM %s) f FULL JOIN (SELECT * FROM brute WHERE s >= %s %s) b ON (f.id_a, f.id_b) = (b.a, b.b)"""


def compare(conn, name, source, threshold, where=""):
    missing, extra, wrong, found, example = conn.execute(PAIR_SQL % (source, threshold, where)).fetchone()
    return name, (missing, extra, wrong, example), (0, 0, 0, None), found


def sets(conn):
    """Yields (name, id type) after making table doc(id, body)."""
    for name, file, columns, query in (
            ("text_articles", "articles_2500", "id text, body text", "SELECT substr(id, 2)::bigint AS id, body FROM raw"),
            ("code_submissions", "docs", "id bigint, problem text, path text, body text", "SELECT id, body FROM raw"),
            ("sms", "docs", "id bigint, label text, body text", "SELECT id, body FROM raw ORDER BY id LIMIT 3000")):
        path = data_file(name, file + ".tsv.gz")
        if path:
            conn.execute("DROP TABLE IF EXISTS raw, doc")
            load(conn, "raw", columns, path)
            conn.execute("CREATE TABLE doc AS " + query)
            yield name
    # Always there: families of edited copies with empty and equal texts, so that this runs without any data set.
    conn.execute("""DROP TABLE IF EXISTS doc;
        CREATE TABLE doc AS
        SELECT i::bigint AS id, CASE WHEN i % 97 = 0 THEN '' ELSE (
            SELECT string_agg(CASE WHEN abs(hashint4(i * 1000 + w) % 100) < i % 7 * 2 THEN 'edit' || i ELSE 'w' || (i / 12) || '_' || w END, ' ' ORDER BY w)
            FROM generate_series(1, 40 + i % 5) w) END AS body
        FROM generate_series(1, 1500) i""")
    yield "generated"


def sign(conn, num_perm, bits):
    conn.execute("DROP TABLE IF EXISTS sig, brute")
    conn.execute("CREATE TABLE sig AS SELECT id, to_minhash(body, 3, 'word', %d, %d) AS sig FROM doc; ANALYZE sig" % (num_perm, bits))
    conn.execute("""CREATE TABLE brute AS SELECT * FROM (SELECT x.id AS a, y.id AS b, jaccard(x.sig, y.sig) AS s
        FROM sig x JOIN sig y ON x.id < y.id OFFSET 0) p WHERE s >= %s; ANALYZE brute""" % LEAST)


def anchors(ids, near):
    """Greedy first-come: {id: its representative's id}."""
    rank = {i: n for n, i in enumerate(ids)}
    neighbours = {i: [] for i in ids}
    for a, b in near:
        neighbours[a].append(b)
        neighbours[b].append(a)
    rep = {}
    for i in ids:
        kept = [j for j in neighbours[i] if rep.get(j) == j]
        rep[i] = min(kept, key=rank.get) if kept else i
    return rep


def components(ids, near):
    """Union-find; the first id in order represents."""
    parent = {i: i for i in ids}
    rank = {i: n for n, i in enumerate(ids)}

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i
    for a, b in near:
        a, b = sorted((root(a), root(b)), key=rank.get)
        parent[b] = a
    return {i: root(i) for i in ids}


def clusters(conn, name, threshold):
    near = set(conn.execute("SELECT a, b FROM brute WHERE s >= %s", (threshold,)).fetchall())
    for order in ("id", "id DESC", "id % 7, id"):
        ids = [r[0] for r in conn.execute("SELECT id FROM sig ORDER BY %s" % order)]
        number = {i: n for n, i in enumerate(ids, 1)}
        for function, simulate in (("cluster_anchor", anchors), ("cluster_connected", components)):
            want = {i: number[r] for i, r in simulate(ids, near).items()}
            got = dict(conn.execute("SELECT id, %s(sig, %s) OVER (ORDER BY %s) FROM sig" % (function, threshold, order)).fetchall())
            yield "%s %s %s by %s" % (name, function, threshold, order), [i for i in ids if got[i] != want[i]][:5], []
        if order != "id % 7, id":
            continue
        for linkage, simulate in (("anchor", anchors), ("connected", components)):
            rows = conn.execute("""SELECT c.id, c.cluster, c.representative, c.similarity, c.cluster_size, c.survivor,
                    CASE WHEN c.id = c.representative THEN 1 ELSE jaccard(x.sig, y.sig) END
                FROM all_clusters('SELECT id, sig FROM sig ORDER BY %s', %s, %s) c
                    JOIN sig x USING (id) JOIN sig y ON y.id = c.representative""" % ("id % 7, id", threshold, "'%s'" % linkage)).fetchall()
            want = simulate(ids, near)
            size = {}
            for r in want.values():
                size[r] = size.get(r, 0) + 1
            label = "%s all_clusters %s %s" % (name, linkage, threshold)
            # A row of its own cluster may be left out: what is there must be right and every real cluster whole.
            got = {r[0]: r for r in rows}
            expect = {i: want[i] for i in ids if size[want[i]] > 1 or i in got}
            yield label, {i: r[2] for i, r in got.items()}, expect
            yield label + ": sizes", [r for r in rows if r[4] != size[want[r[0]]]][:3], []
            yield label + ": survivors", [r for r in rows if r[5] != (r[0] == r[2])][:3], []
            yield label + ": similarity", [r for r in rows if r[3] != r[6]][:3], []
            yield label + ": one number a cluster", len({r[1] for r in rows}), len({r[2] for r in rows})


def run_set(conn, name):
    pair_rows, cluster_rows, pairs = [], [], 0
    for bits in (32, 16, 8):
        sign(conn, 128, bits)
        for threshold in (0.4, 0.5, 0.8, 0.95, 1.0):
            for memory in ("1MB", "64MB"):
                if memory == "1MB" and threshold in (0.4, 0.95) and not FULL:
                    continue
                conn.execute("SET maintenance_work_mem = '%s'" % memory)
                row = compare(conn, "%s bits %d, %s, %s" % (name, bits, threshold, memory),
                              "all_pairs('SELECT id, sig FROM sig', %s)" % threshold, threshold)
                pair_rows.append(row[:3])
                pairs += row[3]
        halves = "pairs_between('SELECT id, sig FROM sig WHERE id % 2 = 0', 'SELECT id, sig FROM sig WHERE id % 2 = 1', {})"
        both = """(SELECT least(id_a, id_b) AS id_a, greatest(id_a, id_b) AS id_b, similarity FROM %s h
            WHERE id_a %% 2 = 0 AND id_b %% 2 = 1) h""" % halves
        for threshold in (0.5, 0.8):
            pair_rows.append(compare(conn, "%s between, bits %d, %s" % (name, bits, threshold), both.format(threshold), threshold,
                                     "AND (a + b) % 2 = 1")[:3])
        if bits == 32:
            for memory in ("64kB", "4MB"):
                conn.execute("SET work_mem = '%s'" % memory)
                for threshold in (0.8, 0.5):
                    cluster_rows += clusters(conn, "%s, %s" % (name, memory), threshold)
            conn.execute("RESET work_mem")
    equal_all("%s: %d pairs equal to brute force" % (name, pairs), pair_rows)
    equal_all("%s: clusters equal to the simulation" % name, cluster_rows)

    rows = conn.execute("SELECT id_a, id_b FROM all_pairs('SELECT id, sig FROM sig ORDER BY id DESC', 0.5)").fetchall()
    check("%s: ordered, id_a < id_b, no repeats" % name, rows == sorted(set(rows)) and all(a < b for a, b in rows), rows[:5])


def planted(conn):
    """The 20 planted pairs of text_articles, and nothing else."""
    paths = [data_file("text_articles", f + ".tsv.gz") for f in ("articles_2500", "articles_2500_gold")]
    if None in paths:
        return
    conn.execute("DROP TABLE IF EXISTS article, gold")
    load(conn, "article", "id text, body text", paths[0])
    load(conn, "gold", "a text, b text", paths[1])
    gold = sorted(tuple(sorted(r)) for r in conn.execute("SELECT a, b FROM gold"))
    found = conn.execute("SELECT id_a, id_b FROM all_pairs(NULL::text, 'SELECT id, to_minhash(body) FROM article', 0.8)").fetchall()
    equal("text_articles: the 20 planted pairs", sorted(tuple(sorted(r)) for r in found), gold)
    for function in ("cluster_anchor", "cluster_connected"):
        found = conn.execute("""SELECT array_agg(id ORDER BY id COLLATE "C") FROM (SELECT id, %s(to_minhash(body), 0.8)
            OVER (ORDER BY id) AS c FROM article) x GROUP BY c HAVING count(*) > 1""" % function).fetchall()
        equal("text_articles: %s finds the 20 planted pairs" % function, sorted(tuple(sorted(r[0])) for r in found), gold)


def odd_sizes(conn):
    """Numbers of components that are no powers of two, where t * L is not what it seems; equal and empty rows."""
    rows = []
    for num_perm, bits in ((16, 32), (25, 32), (25, 8), (100, 16), (333, 32), (4096, 8)):
        conn.execute("""DROP TABLE IF EXISTS sig, brute; CREATE TABLE sig AS SELECT id, set_minhash(CASE WHEN id %% 50 = 0
                THEN '{}' ELSE array(SELECT (id / 40) * 1000 + e FROM generate_series(1, 30 + id %% 11) e
                    WHERE hashint8(id * 50 + e) %% 10 < 8) END::bigint[], %d, %d) AS sig FROM generate_series(1::bigint, 400) id;
            CREATE TABLE brute AS SELECT x.id AS a, y.id AS b, jaccard(x.sig, y.sig) AS s
                FROM sig x JOIN sig y ON x.id < y.id WHERE jaccard(x.sig, y.sig) > 0""" % (num_perm, bits))
        for percent in (1, 7, 12, 28, 29, 56, 57, 58, 64, 80, 90, 99, 100):
            t = "%d / 100.0::float8" % percent
            rows.append(compare(conn, "%dx%d at %d %%" % (num_perm, bits, percent),
                                "all_pairs('SELECT id, sig FROM sig', %s)" % t, t)[:3])
    equal_all("all_pairs at awkward sizes and thresholds", rows)


def windows(conn):
    conn.execute("""DROP TABLE IF EXISTS w; CREATE TABLE w(id int, tenant int, body text);
        INSERT INTO w VALUES (1, 1, 'a b c d e'), (2, 1, 'a b c d e'), (3, 2, 'a b c d e'), (4, 2, NULL), (5, 2, ''), (6, 2, ''), (7, 2, 'A b, c D e')""")
    for function in ("cluster_anchor", "cluster_connected"):
        got = conn.execute("SELECT id, %s(to_minhash(body), 0.9) OVER (PARTITION BY tenant ORDER BY id) FROM w ORDER BY id" % function).fetchall()
        equal("%s: partitions, NULL and empty texts" % function, got, [(1, 1), (2, 1), (3, 1), (4, None), (5, 3), (6, 4), (7, 1)])


def main():
    with database() as name, connect(name) as conn:
        for data in sets(conn):
            sections((run_set, conn, data))
        sections((odd_sizes, conn), (planted, conn), (windows, conn))


finish(main)
