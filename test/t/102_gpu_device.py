#!/usr/bin/python3
# may be skipped: it needs a GPU
"""A real GPU, through SQL: the rows of the CPU in the same order, memory limits, cancels, sessions side by side,
sessions that end."""
import random

from harness import *

SEED = int(os.environ.get("NEARDUP_SEED", "102"))
ROWS = 60_000 if FULL else 20_000
WORDS = 2_000
ON_THE_GPU = "on the GPU"
STAGES = ("pairs found", "words compared")

MINHASHES = "all_pairs('SELECT id, m FROM s', 0.8)"
SIMHASHES = "all_pairs('SELECT id, h FROM s', 54 / 64.0)"
DIGESTS = "all_pairs('SELECT id, c FROM s', 0.85)"
SIMILAR_WORDS = "word_similarities('SELECT body FROM talk', vocabulary => 500, k => 7)"
MUCH = "all_pairs('SELECT id, c FROM much', 0.85)"
# Statements that show by neardup.log_stages where they ran.
PAIRS = (
    MINHASHES,
    "all_pairs('SELECT id, m FROM s', 0.5)",
    "all_pairs('SELECT id, m16 FROM s', 0.8)",
    "all_pairs('SELECT id, m8 FROM s', 0.8)",
    "all_pairs('SELECT id, m FROM s', 1)",
    "all_pairs('SELECT id, m FROM s', 0.8, 'star')",
    "all_pairs('SELECT id, m FROM s', 0.8, 'none')",
    "all_pairs('SELECT id, m, body AS doc FROM s', 0.8, verify => 'edit_rate', verify_threshold => 0.9)",
    "all_pairs(NULL::text, 'SELECT id::text, m FROM s', 0.8)",
    "all_pairs('SELECT id, h FROM s', 61 / 64.0)",
    "all_pairs('SELECT id, h FROM s', 57 / 64.0)",
    SIMHASHES,
    "all_pairs('SELECT id, h FROM s', 50 / 64.0, 'star')",
    "all_pairs('SELECT id, h FROM s', 1)",
    DIGESTS,
    "all_pairs('SELECT id, c FROM s', 0.72)",
    "all_pairs('SELECT id, c FROM s', 1)",
    "all_pairs('SELECT id, long FROM s WHERE id < 3000', 0.8)",
    "all_pairs('SELECT id, c FROM s WHERE false', 0.85)",
    "pairs_between('SELECT id, m FROM s WHERE id % 3 = 0', 'SELECT id, m FROM s WHERE id % 3 > 0', 0.8)",
    "pairs_between('SELECT id, h FROM s WHERE id < 10', 'SELECT id, h FROM s', 57 / 64.0)",
    "pairs_between('SELECT id, h FROM s', 'SELECT id, h FROM s WHERE id < 10', 57 / 64.0, 'none')",
    "pairs_between('SELECT id, c FROM s WHERE id % 3 = 0', 'SELECT id, c FROM s WHERE id % 3 > 0', 0.8)",
    SIMILAR_WORDS,
    "word_similarities('SELECT body FROM talk', by_position => false)",
    "word_similarities('SELECT body FROM talk', \"window\" => 8, k => 100)",
)
# Clusters, groups and window functions have no such stage. The CPU finds clusters of minhashes without all pairs, and
# searches bit strings and sets.
OTHERS = (
    "all_pairs('SELECT id, m, seen AS at FROM s', 0.8, at_most_apart => '10 days')",
    "all_clusters('SELECT id, h FROM s ORDER BY id', 61 / 64.0)",
    "all_clusters('SELECT id, h FROM s ORDER BY id DESC', 57 / 64.0, 'connected')",
    "all_clusters('SELECT id, c FROM s ORDER BY id', 0.85)",
    "all_clusters('SELECT id, c FROM s ORDER BY id', 0.85, 'connected')",
    "cluster_bridges('SELECT id, h FROM s', 61 / 64.0)",
    "(SELECT id, cluster_anchor(h, 61 / 64.0) OVER (ORDER BY id) FROM s ORDER BY id)",
    "(SELECT id, cluster_connected(c, 0.85, id) OVER (PARTITION BY tenant ORDER BY id) FROM s ORDER BY id)",
    "(SELECT id, cluster_connected(m, 0.8) OVER (ORDER BY id) FROM s ORDER BY id)",
    "all_clusters('SELECT id, m FROM s ORDER BY id', 0.8)",
    "all_pairs('SELECT id, m, tenant AS within FROM s', 0.8)",
    "all_pairs('SELECT id, c, tenant AS within FROM s', 0.8)",
    "all_pairs('SELECT id, code FROM s', 0.9)",
    "all_pairs('SELECT id, elements FROM s', 0.8, measure => 'jaccard')",
)


def fill(conn):
    """Families of edited texts, of which some are equal and some are empty; digests that only comparing all with all
    tells apart."""
    conn.execute("""CREATE TABLE s AS
        SELECT i::bigint AS id, i %% 7 AS tenant, timestamptz '2026-01-01' + i %% 365 * interval '1 day' AS seen,
          t AS body, to_minhash(t) AS m,
               to_minhash(t, 3, 'word', 128, 16) AS m16, to_minhash(t, 3, 'word', 128, 8) AS m8, to_simhash(t) AS h,
                 to_ctph(repeat(t, 6)) AS c,
               CASE WHEN i < 3000 THEN ctph_long(repeat(t, 12), 400) END AS long, bit_code AS code,
               ARRAY(SELECT abs(hashtext(w)) FROM unnest(string_to_array(t, ' ')) w) AS elements
        FROM generate_series(1, %d) i,
             LATERAL (SELECT CASE WHEN i %% 97 = 0 THEN '' ELSE (
                SELECT string_agg(CASE WHEN abs(hashint4(i * 1000 + w) %% 100) < i %% 7 * 2 THEN 'edit' || i
                  ELSE 'w' || (i / 12) || '_' || w END, ' ' ORDER BY w)
                FROM generate_series(1, 40 + i %% 5) w) END) d(t),
             LATERAL (SELECT (hashint8extended(i / 3, 7)::bit(64) # (1::bigint << i %% 60)::bit(64))) b(bit_code)"""
                 % ROWS)
    conn.execute("""CREATE TABLE much AS
        SELECT i AS id, ('192:' || CASE WHEN i % 10 = 9 THEN overlay(p PLACING 'xyz'
          FROM 30) ELSE p END || ':' || left(p, 32))::ctph AS c
        FROM generate_series(1::bigint, 1000000) i,
             LATERAL (SELECT left(translate(encode(sha512((i - (i % 10 = 9)::int)::text::bytea), 'base64'), E'\\n=',
               ''), 64)) s(p)""")
    rng = random.Random(SEED)
    vocabulary = ["w%s" % "".join(rng.choice("abcdefghij") for _ in range(6)) for _ in range(WORDS)]
    weights = [1 / (1 + r) for r in range(WORDS)]
    conn.execute("CREATE TABLE talk (body text)")
    with conn.cursor() as cur, cur.copy("COPY talk FROM STDIN") as copy:
        for _ in range(2000):
            copy.write_row((" ".join(rng.choices(vocabulary, weights, k=60)),))
    conn.execute("ANALYZE")


def rows_on(conn, device, source):
    """A digest of the rows in their order and their number, and the notices of the stages in which a GPU may be
    used."""
    notices = []

    def keep(diagnostic):
        notices.append(diagnostic.message_primary)

    conn.add_notice_handler(keep)
    conn.execute("SET neardup.device = '%s'; SET neardup.log_stages = on" % device)
    rows = conn.execute("SELECT md5(string_agg(p::text, ',')), count(*) FROM %s p" % source).fetchone()
    conn.remove_notice_handler(keep)
    return rows, [notice for notice in notices if notice.startswith(STAGES)]


def same_rows(conn, settings="", sources=PAIRS + OTHERS):
    if settings:
        conn.execute(settings)
    where = settings and ": " + settings
    compared, not_on_gpu = [], []
    for source in sources:
        want, _ = rows_on(conn, "cpu", source)
        got, stages = rows_on(conn, "gpu", source)
        compared.append((source, got, want))
        if source in PAIRS and not is_empty(source) and not any(ON_THE_GPU in stage for stage in stages):
            not_on_gpu.append("%s: %s" % (source, stages))
    equal_all("the rows of the CPU, in the same order" + where, compared)
    check("they came from the GPU" + where, not not_on_gpu, not_on_gpu)


def is_empty(source):
    """True if there is nothing to search."""
    return "WHERE false" in source


def word_models(conn):
    for device in "cpu", "gpu":
        conn.execute("SET neardup.device = '%s'" % device)
        conn.execute("CALL create_word_model('talk_%s', 'SELECT body FROM talk', vocabulary => 1000)" % device)
    equal("a stored word model: rows that differ",
          one(conn, "SELECT count(*) FROM (TABLE talk_cpu EXCEPT TABLE talk_gpu) d"), 0)
    equal("a stored word model: words", one(conn, "SELECT count(*) FROM talk_gpu"), 1000)


def memory(conn):
    """Within little memory the rows are the same; within too little there is an error, and the session goes on."""
    same_rows(conn, "SET neardup.gpu_memory_limit = '64MB'", (MINHASHES, SIMHASHES, DIGESTS, SIMILAR_WORDS))
    conn.execute("SET neardup.device = 'gpu'; SET neardup.gpu_memory_limit = '1MB'")
    fails("too small a limit", conn, "SELECT count(*) FROM " + MINHASHES,
          text="more device memory than the 1 MB that it may take", state="58000")
    conn.execute("SET neardup.device = 'auto'; SET neardup.threads = 1")
    auto = one(conn, "SELECT count(*) FROM " + DIGESTS)
    conn.execute("RESET neardup.threads; RESET neardup.gpu_memory_limit; SET neardup.device = 'gpu'")
    equal("auto with too small a limit: the CPU's rows; and the GPU works again", auto,
          one(conn, "SELECT count(*) FROM " + DIGESTS))
    conn.execute("SET maintenance_work_mem = '1MB'")
    fails("rows that do not fit in memory", conn, "SELECT count(*) FROM " + MUCH,
          text="the rows do not fit in memory, so the GPU cannot search them")
    conn.execute("RESET maintenance_work_mem")


def cancels(name, conn):
    conn.execute("SET neardup.device = 'gpu'")
    stops_when_asked("pg_cancel_backend stops a search", conn, "SELECT count(*) FROM " + MUCH)
    conn.execute("SET statement_timeout = '700ms'")
    fails("statement_timeout stops a search", conn, "SELECT count(*) FROM " + MUCH, state="57014")
    conn.execute("RESET statement_timeout")
    equal("a search after them", rows_on(conn, "gpu", DIGESTS)[0], rows_on(conn, "cpu", DIGESTS)[0])
    other = connect(name)
    other.execute("SET neardup.device = 'gpu'")
    pid, errors = other.info.backend_pid, []
    thread = Thread(target=lambda: errors.append(sql_error(other, "SELECT count(*) FROM " + MUCH)), daemon=True)
    thread.start()
    before = cpu_seconds(pid)
    while thread.is_alive() and cpu_seconds(pid) < before + 1.5:
        time.sleep(0.01)
    conn.execute("SELECT pg_terminate_backend(%s)", (pid,))
    thread.join(60)
    check("a session ends in the middle of a search", errors and errors[0] is not None, errors)


def sessions(name):
    """Four sessions at once, each with contexts of its own."""
    with connect(name) as conn:
        want = [rows_on(conn, "cpu", source)[0] for source in PAIRS]
    wrong = []

    def work(shift):
        try:
            with connect(name) as conn:
                for i in range(len(PAIRS)):
                    at = (i + shift * 7) % len(PAIRS)
                    got, _ = rows_on(conn, "gpu", PAIRS[at])
                    if got != want[at]:
                        wrong.append("%s: %s" % (PAIRS[at], got))
        except psycopg.Error as e:
            wrong.append(str(e))

    threads = [Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(300)
    check("four sessions at once", not wrong and not any(t.is_alive() for t in threads), wrong)


def choice(conn):
    """auto: the CPU does little work, the GPU much."""
    conn.execute("SET neardup.threads = 1")
    little = rows_on(conn, "auto", "all_pairs('SELECT id, h FROM s WHERE id < 500', 61 / 64.0)")[1]
    check("auto: little work stays on the CPU", not any(ON_THE_GPU in s for s in little), little)
    much = rows_on(conn, "auto", "all_pairs('SELECT id, c FROM much WHERE id < 200000', 0.85)")[1]
    check("auto: much work goes to the GPU", any(ON_THE_GPU in s for s in much), much)
    conn.execute("RESET neardup.threads; RESET neardup.device")


def still_usable(conn):
    """In the session that has been open from the start, which a crash of any other would have ended."""
    check("the GPU is still usable", one(conn, "SELECT bool_or(usable) FROM neardup_devices()"))


def main():
    with database() as name, connect(name) as conn:
        devices = conn.execute(
            "SELECT name, usable, reason, compute_capability, driver FROM neardup_devices()").fetchall()
        if not any(usable for _, usable, *_ in devices):
            return skip("no usable GPU: %s" % devices[0][2])
        print("# %s" % devices)
        conn.execute("ALTER DATABASE %s SET statement_timeout = '5min'" % name)  # a hang guard
        conn.execute("SET maintenance_work_mem = '1GB'; SET work_mem = '1GB'")
        fill(conn)
        sections((same_rows, conn), (word_models, conn), (memory, conn), (cancels, name, conn), (sessions, name),
                 (choice, conn), (still_usable, conn))


finish(main)
