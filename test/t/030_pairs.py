#!/usr/bin/python3
"""all_pairs and pairs_between equal a brute-force join; clusters equal a simulation over the pairs of that join."""
import time

from clusters import anchors, components
from harness import *

# name: signature of a body, similarity of x.sig and y.sig, from where on the brute-force join keeps pairs, thresholds
SIMHASH = "1 - hamming(x.sig, y.sig) / 64.0::float8"
DIGEST = "1 - ctph_edit_rate(x.sig, y.sig)"
KINDS = {
    "minhash, 32 bits":
        ("to_minhash(body, 3, 'word', 128, 32)", "jaccard(x.sig, y.sig)", 0.3, (0.4, 0.5, 0.8, 0.95, 1.0)),
    "minhash, 16 bits":
        ("to_minhash(body, 3, 'word', 128, 16)", "jaccard(x.sig, y.sig)", 0.3, (0.4, 0.5, 0.8, 0.95, 1.0)),
    "minhash, 8 bits":
        ("to_minhash(body, 3, 'word', 128, 8)", "jaccard(x.sig, y.sig)", 0.3, (0.4, 0.5, 0.8, 0.95, 1.0)),
    "simhash": ("to_simhash(body, 3)", SIMHASH, 0.7, (0.75, 0.85, 61 / 64, 1.0)),
    # Any two digests have a similarity of some 0.6.
    "digests": ("to_ctph(body)", DIGEST, 0.7, (0.72, 0.85, 0.95, 1.0)),
    "long digests": ("ctph_long(body, 200)", DIGEST, 0.7, (0.75, 0.85, 1.0)),
}
# thresholds and memory of clusters
CLUSTERED = {"minhash, 32 bits": ((0.8, "4MB"), (0.5, "64kB")), "simhash": ((0.9375, "64kB"),),
             "digests": ((0.72, "64kB"),)}
# Some kinds on some sets run only in the full form.
LEFT_OUT = {
    "text_articles": ("minhash, 16 bits",),
    "code_submissions": ("minhash, 16 bits", "minhash, 8 bits", "long digests"),
    "sms": ("minhash, 16 bits", "minhash, 8 bits", "digests", "long digests"),
}
# Number of columns, and which of them is the text.
OTHERS = {"code_plagiarism": (5, 5), "code_versions": (6, 6), "ja_aozora": (6, 6), "law_versions": (6, 6),
          "news_reuters": (3, 3), "ru_lit": (5, 5), "udhr": (5, 4), "zh_classic_editions": (6, 6),
          "zh_encodings": (9, 3), "zh_headlines": (3, 3), "zh_tang_editions": (6, 6)}
PAIR_SQL = """SELECT count(*) FILTER (WHERE f.id_a IS NULL), count(*) FILTER (WHERE b.a IS NULL),
        count(*) FILTER (WHERE f.similarity <> b.s), count(b.a), min(coalesce(b.a, f.id_a)::text || ' ' || coalesce(b.b,
          f.id_b)::text)
            FILTER (WHERE f.similarity IS DISTINCT FROM b.s)
    FROM (SELECT * FROM %s) f FULL JOIN (SELECT * FROM brute WHERE s >= %s %s) b ON (f.id_a, f.id_b) = (b.a, b.b)"""


def compare(conn, name, source, threshold, where=""):
    missing, extra, wrong, found, example = conn.execute(PAIR_SQL % (source, threshold, where)).fetchone()
    return name, (missing, extra, wrong, example), (0, 0, 0, None), found


def sets(conn):
    """Yields (name, id type) after making table doc(id, body)."""
    for name, file, columns, query in (
            ("text_articles", "articles_2500", "id text, body text",
             "SELECT substr(id, 2)::bigint AS id, body FROM raw ORDER BY id LIMIT %d" % (2500 if FULL else 800)),
            ("code_submissions", "docs", "id bigint, problem text, path text, body text", "SELECT id, body FROM raw"),
            ("sms", "docs", "id bigint, label text, body text",
             "SELECT id, body FROM raw ORDER BY id LIMIT %d" % (2000 if FULL else 800))):
        path = data_file(name, file + ".tsv.gz")
        if path:
            conn.execute("DROP TABLE IF EXISTS raw, doc")
            load(conn, "raw", columns, path)
            conn.execute("CREATE TABLE doc AS " + query)
            yield name
    # The others with documents of their own, in part.
    for name, (columns, text) in OTHERS.items() if FULL else ():
        path = data_file(name, "docs.tsv.gz")
        if path:
            conn.execute("DROP TABLE IF EXISTS raw, doc")
            load(conn, "raw", ", ".join("c%d text" % i for i in range(1, columns + 1)), path)
            conn.execute(
                "CREATE TABLE doc AS SELECT row_number() OVER () AS id, c%d AS body FROM raw LIMIT 1200" % text)
            yield name
    # Always there: families of edited copies with empty and equal texts, so that this runs without any data set.
    conn.execute("""DROP TABLE IF EXISTS doc;
        CREATE TABLE doc AS
        SELECT i::bigint AS id, CASE WHEN i %% 97 = 0 THEN '' ELSE (
            SELECT string_agg(CASE WHEN abs(hashint4(i * 1000 + w) %% 100) < i %% 7 * 2 THEN 'edit' || i
              ELSE 'w' || (i / 12) || '_' || w END, ' ' ORDER BY w)
            FROM generate_series(1, 40 + i %% 5) w) END AS body
        FROM generate_series(1, %d) i""" % (1500 if FULL else 900))
    yield "generated"


def sign(conn, kind):
    signature, similarity, least, _ = KINDS[kind]
    conn.execute("DROP TABLE IF EXISTS sig, brute")
    # first: the least id with the same signature
    conn.execute("""CREATE TABLE sig AS SELECT *, min(id) OVER (PARTITION BY sig) AS first
        FROM (SELECT id, %s AS sig FROM doc) d; ANALYZE sig""" % signature)
    conn.execute("""CREATE TABLE brute AS SELECT * FROM (SELECT x.id AS a, y.id AS b, x.first AS first_a, y.first AS
        first_b, %s AS s
        FROM sig x JOIN sig y ON x.id < y.id OFFSET 0) p WHERE s >= %s; ANALYZE brute""" % (similarity, least))


def clusters(conn, name, kind, threshold):
    similarity = KINDS[kind][1]
    near = set(conn.execute("SELECT a, b FROM brute WHERE s >= %s", (threshold,)).fetchall())
    unsigned = {r[0] for r in conn.execute("SELECT id FROM sig WHERE sig IS NULL")}
    for order in ("id", "id DESC", "id % 7, id"):
        ids = [r[0] for r in conn.execute("SELECT id FROM sig ORDER BY %s" % order)]
        number = {i: n for n, i in enumerate(ids, 1)}
        for function, simulate in (("cluster_anchor", anchors), ("cluster_connected", components)):
            want = {i: None if i in unsigned else number[r] for i, r in simulate(ids, near).items()}
            got = dict(conn.execute(
                "SELECT id, %s(sig, %s) OVER (ORDER BY %s) FROM sig" % (function, threshold, order)).fetchall())
            yield "%s %s %s by %s" % (name, function, threshold, order), [i for i in ids if got[i] != want[i]][:5], []
        if order != "id % 7, id":
            continue
        for linkage, simulate in (("anchor", anchors), ("connected", components)):
            rows = conn.execute("""SELECT c.id, c.cluster, c.representative, c.similarity, c.cluster_size, c.survivor,
                    CASE WHEN c.id = c.representative THEN 1 ELSE %s END
                FROM all_clusters('SELECT id, sig FROM sig ORDER BY %s', %s, %s) c
                    JOIN sig x USING (id) JOIN sig y ON y.id = c.representative""" % (
                similarity, "id % 7, id", threshold, "'%s'" % linkage)).fetchall()
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
    for kind, (_, _, _, thresholds) in KINDS.items():
        if kind in LEFT_OUT.get(name, ()) and not FULL:
            continue
        sign(conn, kind)
        for n, threshold in enumerate(thresholds):
            for memory, threads in (("1MB", 2), ("64MB", 1)):
                if memory == "1MB" and n % 2 == 0 and not FULL:
                    continue
                conn.execute("SET maintenance_work_mem = '%s'; SET neardup.threads = %d" % (memory, threads))
                row = compare(conn, "%s, %s, %s, %s" % (name, kind, threshold, memory),
                              "all_pairs('SELECT id, sig FROM sig', %s)" % threshold, threshold)
                pair_rows.append(row[:3])
                pairs += row[3]
        halves = (
            "pairs_between('SELECT id, sig FROM sig WHERE id % 2 = 0', 'SELECT id, sig FROM sig WHERE id % 2 = 1', {})")
        both = """(SELECT least(id_a, id_b) AS id_a, greatest(id_a, id_b) AS id_b, similarity FROM %s h
            WHERE id_a %% 2 = 0 AND id_b %% 2 = 1) h""" % halves
        for threshold in thresholds[1:3]:
            pair_rows.append(compare(conn, "%s between, %s, %s" % (name, kind, threshold), both.format(threshold),
                                     threshold, "AND (a + b) % 2 = 1")[:3])
        # Each set of equal signatures is paired by its least id alone, but for the star.
        threshold = thresholds[-2]
        for identical, where in (("star", "AND a = first_a AND (b = first_b OR first_a = first_b)"),
                                 ("none", "AND a = first_a AND b = first_b AND first_a <> first_b")):
            pair_rows.append(
                compare(conn, "%s, %s, identical %s" % (name, kind, identical),
                        "all_pairs('SELECT id, sig FROM sig ORDER BY id DESC', %s, '%s')" % (threshold, identical),
                        threshold, where)[:3])
        for threshold, memory in CLUSTERED.get(kind, ()):
            conn.execute("SET work_mem = '%s'" % memory)
            cluster_rows += clusters(conn, "%s, %s, %s" % (name, kind, memory), kind, threshold)
        conn.execute("RESET work_mem; RESET maintenance_work_mem; RESET neardup.threads")
    equal_all("%s: %d pairs equal to brute force" % (name, pairs), pair_rows)
    equal_all("%s: clusters equal to the simulation" % name, cluster_rows)

    rows = conn.execute("SELECT id_a, id_b FROM all_pairs('SELECT id, sig FROM sig ORDER BY id DESC', 0.5)").fetchall()
    check("%s: ordered, id_a < id_b, no repeats" % name, rows == sorted(set(rows)) and all(a < b for a, b in rows),
          rows[:5])


def planted(conn):
    """The 20 planted pairs of text_articles, and nothing else."""
    paths = [data_file("text_articles", f + ".tsv.gz") for f in ("articles_2500", "articles_2500_gold")]
    if None in paths:
        return
    conn.execute("DROP TABLE IF EXISTS article, gold")
    load(conn, "article", "id text, body text", paths[0])
    load(conn, "gold", "a text, b text", paths[1])
    gold = sorted(tuple(sorted(r)) for r in conn.execute("SELECT a, b FROM gold"))
    found = conn.execute(
        "SELECT id_a, id_b FROM all_pairs(NULL::text, 'SELECT id, to_minhash(body) FROM article', 0.8)").fetchall()
    equal("text_articles: the 20 planted pairs", sorted(tuple(sorted(r)) for r in found), gold)
    for function in ("cluster_anchor", "cluster_connected"):
        found = conn.execute("""SELECT array_agg(id ORDER BY id COLLATE "C") FROM (SELECT id, %s(to_minhash(body), 0.8)
            OVER (ORDER BY id) AS c FROM article) x GROUP BY c HAVING count(*) > 1""" % function).fetchall()
        equal(
            "text_articles: %s finds the 20 planted pairs" % function, sorted(tuple(sorted(r[0])) for r in found), gold)


def odd_sizes(conn):
    """Numbers of components that are no powers of two, where t * L is not what it seems; equal and empty rows."""
    rows = []
    for num_perm, bits in ((16, 32), (25, 32), (25, 8), (100, 16), (333, 32), (4096, 8)):
        conn.execute("""DROP TABLE IF EXISTS sig, brute; CREATE TABLE sig AS SELECT id, set_minhash(CASE
                WHEN id %% 50 = 0
                THEN '{}' ELSE array(SELECT (id / 40) * 1000 + e FROM generate_series(1, 30 + id %% 11) e
                    WHERE hashint8(id * 50 + e) %% 10 < 8) END::bigint[], %d, %d) AS sig
                      FROM generate_series(1::bigint, 400) id;
            CREATE TABLE brute AS SELECT x.id AS a, y.id AS b, jaccard(x.sig, y.sig) AS s
                FROM sig x JOIN sig y ON x.id < y.id WHERE jaccard(x.sig, y.sig) > 0""" % (num_perm, bits))
        for percent in (1, 7, 12, 28, 29, 56, 57, 58, 64, 80, 90, 99, 100):
            t = "%d / 100.0::float8" % percent
            rows.append(compare(conn, "%dx%d at %d %%" % (num_perm, bits, percent),
                                "all_pairs('SELECT id, sig FROM sig', %s)" % t, t)[:3])
    equal_all("all_pairs at awkward sizes and thresholds", rows)


def windows(conn):
    conn.execute("""DROP TABLE IF EXISTS w; CREATE TABLE w(id int, tenant int, body text);
        INSERT INTO w VALUES (1, 1, 'a b c d e'), (2, 1, 'a b c d e'), (3, 2, 'a b c d e'), (4, 2, NULL), (5, 2, ''),
          (6, 2, ''), (7, 2, 'A b, c D e')""")
    for function in ("cluster_anchor", "cluster_connected"):
        got = conn.execute("SELECT id, %s(to_minhash(body), 0.9) OVER (PARTITION BY tenant ORDER BY id) FROM w "
                           "ORDER BY id" % function).fetchall()
        equal("%s: partitions, NULL and empty texts" % function, got,
              [(1, 1), (2, 1), (3, 1), (4, None), (5, 3), (6, 4), (7, 1)])


def memory_bounded(conn):
    """200 MB of signatures within 64 MB: what the backend holds at most, beside ids and PostgreSQL's own."""
    conn.execute("""CREATE TABLE much AS SELECT i AS id, set_minhash(ARRAY[i, i / 2, i / 3, i %% 997, i * 7]) AS sig
        FROM generate_series(1::bigint, %d) i;
        SET maintenance_work_mem = '64MB'; SET neardup.threads = 2""" % (400000 if FULL else 250000))
    def anonymous(pid):
        with open("/proc/%d/status" % pid) as status:
            return next(int(line.split()[1]) // 1024 for line in status if line.startswith("RssAnon"))
    for function in ("all_pairs('TABLE much', 0.9)", "all_clusters('TABLE much', 0.9)",
                     "all_pairs('SELECT *, id / 1000 AS within FROM much', 0.9)"):
        with connect(conn.info.dbname) as worker:
            worker.execute("SET maintenance_work_mem = '64MB'; SET neardup.threads = 2")
            one(worker, "SELECT count(*) FROM all_pairs('SELECT * FROM much LIMIT 10', 0.9)")
            pid, most, errors = worker.info.backend_pid, 0, []
            try:
                before = most = anonymous(pid)
            except OSError as e:
                return skip("memory of a backend: %s" % e)
            thread = Thread(target=lambda: errors.append(sql_error(worker, "SELECT count(*) FROM " + function)))
            thread.start()
            while thread.is_alive():
                most = max(most, anonymous(pid))
                time.sleep(0.002)
            thread.join()
        check("%s of signatures of three times 64 MB: %d MB more in memory at most"
              % (function.split("(")[0], most - before), errors == [None] and 4 < most - before < 96, errors)
    conn.execute("RESET maintenance_work_mem; RESET neardup.threads; DROP TABLE much")


def main():
    with database() as name, connect(name) as conn:
        conn.execute("SET neardup.enable_join = off")  # what is compared with is a plain loop
        for data in sets(conn):
            sections((run_set, conn, data))
        sections((odd_sizes, conn), (planted, conn), (windows, conn), (memory_bounded, conn))


finish(main)
