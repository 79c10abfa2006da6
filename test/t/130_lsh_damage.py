#!/usr/bin/python3
"""Damaged lsh indexes. Copies of an index file are changed field by field and byte by byte. A separate server runs
queries, lsh_check and related functions, inserts and VACUUM on them. Each statement returns the right answer or raises
an error with the word "damaged"; no backend crashes or hangs. If a page's head or a link to a page is damaged, no query
may silently return wrong rows. If entries are damaged, lsh_check(index, true) must find what queries do not; it finds
every damage of the groups FOUND."""
from damaged_pages import *

DAMAGED = {"XX001", "XX002"}  # data corrupted, index corrupted
SETTINGS = ("full_page_writes = off\nwal_level = minimal\nmax_wal_senders = 0\n"
            "shared_buffers = 128MB\nstatement_timeout = 120s\n")

# Damage that lsh_check(index, true) always finds. Not: a directory or a meta page that another index could have (one
# whose counts are not known, by their flag), a page of the same run in the place of another, a bound that still parts
# its pages, bytes that nothing reads.
FOUND = {"beyond the file", "counts", "entries", "impossible rows", "inner page", "leaf", "leaf count", "no link",
         "pending page", "whole pages"}


# Indexes to damage ---------------------------------------------------------------------------------------------------

def sign(n, copies, options=""):
    """SQL of the signature of row n: sets of 60 elements; `copies` neighbours share nine tenths of them."""
    return ("set_minhash(array(SELECT (%(n)s / %(c)d) * 1000 + e + CASE WHEN e < 4 THEN 100 * (%(n)s %% %(c)d) "
            "ELSE 0 END FROM generate_series(0::bigint, 59) e)%(o)s)" % {"n": n, "c": copies, "o": options})


def make_flat(server, conn):
    """A built run, runs of flushes, a vacuumed run, closed and open pending pages."""
    conn.execute("CREATE TABLE flat (id bigint, sig minhash)")
    insert = "INSERT INTO flat SELECT i, %s FROM generate_series(%%d::bigint, %%d) i" % sign(
        "i", 3, ", 64, 16").replace("%", "%%")
    conn.execute(insert % (1, 800))
    conn.execute("CREATE INDEX flat_sig ON flat USING lsh (sig)")
    conn.execute(
        "INSERT INTO flat SELECT -i, %s FROM generate_series(1, 5) i" % "set_minhash(ARRAY[]::bigint[], 64, 16)")
    conn.execute(insert % (801, 1300))
    conn.execute("DELETE FROM flat WHERE id % 10 = 0 AND id < 700")
    conn.execute("VACUUM flat")
    conn.execute(insert % (1301, 2200))
    return Golden("flat", "id bigint, sig minhash", "", [(4, 0.9), (1201, 0.8), (2199, 0.75)], 0.2).read(server, conn)


def make_merging(server, conn):
    """A merge that is under way, beside what is in flat."""
    conn.execute("CREATE TABLE merging (id bigint, sig minhash)")
    conn.execute("CREATE INDEX merging_sig ON merging USING lsh (sig) WITH (pending_limit = 1)")
    g = Golden(
        "merging", "id bigint, sig minhash", "WITH (pending_limit = 1)", [(1, 0.9), (1000, 0.8), (2999, 0.75)], 0.2)
    insert = "INSERT INTO merging SELECT i, %s FROM generate_series(%%d::bigint, %%d) i" % sign(
        "i", 3, ", 64, 16").replace("%", "%%")
    conn.execute(insert % (1, 2400))
    for at in range(2401, 20000, 96):
        conn.execute(insert % (at, at + 95))
        g.read(server, conn)
        outputs = [r for r in g.runs if r.state == OUTPUT]
        if outputs and outputs[0].leaves > 3 and g.pending:
            return g
    raise RuntimeError("no merge was seen under way")


def make_tall(server, conn):
    """Runs of two levels."""
    conn.execute("CREATE TABLE tall (id bigint, sig minhash)")
    conn.execute("INSERT INTO tall SELECT i, %s FROM generate_series(1::bigint, 19000) i" % sign("i", 3, ", 64, 8"))
    conn.execute("CREATE INDEX tall_sig ON tall USING lsh (sig) WITH (threshold = 0.3)")
    conn.execute("VACUUM tall")
    g = Golden("tall", "id bigint, sig minhash", "WITH (threshold = 0.3)", [(4, 0.9), (9001, 0.8), (18999, 0.5)],
               0.1).read(server, conn)
    if not any(r.height == 2 for r in g.runs):
        raise RuntimeError("no run of two levels")
    return g


def make_hashes(server, conn):
    """Simhashes: a built run, pending pages. Ten neighbours differ in up to 9 bits."""
    conn.execute("CREATE TABLE hashes (id bigint, sig simhash)")
    insert = ("INSERT INTO hashes SELECT i, neardup_internal.simhash_from_bigint(hashint8extended(i / 10, 7) # "
              "((1::bigint << (i %% 10)::int) - 1)) FROM generate_series(%d::bigint, %d) i")
    conn.execute(insert % (1, 3000))
    conn.execute("CREATE INDEX hashes_sig ON hashes USING lsh (sig)")
    conn.execute(insert % (3001, 3400))
    return Golden("hashes", "id bigint, sig simhash", "", [(4, 3), (2001, 7), (3399, 1)], 30,
                  "neardup_internal.lsh_hamming_query", 2).read(server, conn)


def make_digests(server, conn):
    """Digests: the same of documents, four of which share most lines."""
    conn.execute("CREATE TABLE digests (id bigint, sig ctph)")
    insert = (
        "INSERT INTO digests SELECT i, to_ctph((SELECT string_agg(md5((CASE WHEN l %% 20 < i %% 4 THEN i * 1000 + l "
        "ELSE i / 4 * 1000 + l END)::text), '') FROM generate_series(1, 30) l)) FROM generate_series(%d::bigint, %d) i")
    conn.execute(insert % (1, 400))
    conn.execute("CREATE INDEX digests_sig ON digests USING lsh (sig)")
    conn.execute(insert % (401, 440))
    return Golden("digests", "id bigint, sig ctph", "", [(4, 0.1), (201, 0.15), (439, 0.05)], 0.9,
                  "neardup_internal.lsh_rate_query", 0.12).read(server, conn)


def make_codes(server, conn):
    """Bit strings: a built run, pending pages. Eight neighbours of one code differ in up to 7 bits."""
    conn.execute("CREATE TABLE codes (id bigint, sig bit(128))")
    insert = ("INSERT INTO codes SELECT i, (hashint8extended(i / 8, 7)::bit(64) || hashint8extended(i / 8, "
              "8)::bit(64)) # (((1::bigint << (i %% 8)::int) - 1)::bit(64) || repeat('0', 64)::bit(64))"
              " FROM generate_series(%d::bigint, %d) i")
    conn.execute(insert % (1, 3000))
    conn.execute("CREATE INDEX codes_sig ON codes USING lsh (sig)")
    conn.execute(insert % (3001, 3400))
    return Golden("codes", "id bigint, sig bit(128)", "", [(4, 3), (2001, 6), (3399, 1)], 60,
                  "neardup_internal.lsh_bit_query", 2).read(server, conn)


# Statements over a damaged index -------------------------------------------------------------------------------------

def says_damaged(e, case):
    return (e.sqlstate in DAMAGED and (case.group != "beyond the file" or e.sqlstate == "XX002")
            # Damaged parameters are those of another family, or of other signatures.
            or case.group == "meta page" and e.sqlstate in ("0A000", "42804"))


def answers(conn, table, g, index_only):
    """[(number, rows or error)] of the queries. index_only: by the index; else by a sequential scan. The last one asks
    for so many signatures that it meets most pages."""
    out = []
    for way in ("indexscan", "bitmapscan") if index_only else ("seqscan",):
        for other in ("seqscan", "indexscan", "bitmapscan"):
            conn.execute("SET enable_%s = %s" % (other, "on" if other == way else "off"))
        single = "SELECT id FROM %s WHERE sig %%%%> %s(%%s::%s, %%s) ORDER BY id" % (table, g.maker, g.type)
        many = "SELECT a.id, b.id FROM %s_asked a, %s b WHERE b.sig %%%%> %s(a.sig, %s) ORDER BY 1, 2" % (
            g.name, table, g.maker, g.usual)
        queries = [(single, [g.signatures[row], bound]) for row, bound in g.queries + [(g.queries[0][0], g.low)]] + [
            (many, [])]
        for number, (query, args) in enumerate(queries):
            e = None
            try:
                got = conn.execute(query, args).fetchall()
            except psycopg.Error as error:
                e = error
                if conn.closed:
                    raise
            out.append((number, e or got))
    conn.execute("RESET enable_seqscan; RESET enable_indexscan; RESET enable_bitmapscan")
    return out


def try_case(conn, case, table, want):
    """The faults, or ''; and True if anything was noticed."""
    index, g = table + "_sig", case.golden
    bad, noticed = [], False

    def run_statement(what, query, args=None):
        nonlocal noticed
        e = sql_error(conn, query, args)
        if conn.closed:
            raise e
        if e is not None:
            noticed = True
            if not says_damaged(e, case):
                bad.append("%s: %s %s" % (what, e.sqlstate, str(e).splitlines()[0]))
        return e

    def compare(when, expected):
        wrong = ""
        for number, got in answers(conn, table, g, True):
            if isinstance(got, psycopg.Error):
                if not says_damaged(got, case):
                    bad.append("query %d %s: %s %s" % (number, when, got.sqlstate, str(got).splitlines()[0]))
            elif got != expected[number]:
                wrong = "query %d %s gives %d rows for %d" % (number, when, len(got), len(expected[number]))
        if wrong and case.sure:
            bad.append(wrong + " and no error")
        return wrong

    sizes = "SELECT pg_relation_size('%s'), pg_relation_size('%s')" % (table, index)
    before = conn.execute(sizes).fetchone()
    wrong = compare("at first", want)
    run_statement("lsh_info", "SELECT * FROM lsh_info(%s, true)", [index])
    run_statement("lsh_pages", "SELECT * FROM lsh_pages(%s)", [index])
    run_statement("lsh_hot_buckets", "SELECT * FROM lsh_hot_buckets(%s, 2)", [index])
    run_statement("lsh_check", "SELECT lsh_check(%s)", [index])
    found = run_statement("lsh_check", "SELECT lsh_check(%s, true)", [index])
    if not found and (wrong or case.group in FOUND and not (case.group == "counts" and g.merges())):
        bad.append("%s, which lsh_check does not find" % (wrong or "a damage"))
    # Block 4294967295 means "a new one" to PostgreSQL.
    if conn.execute(sizes).fetchone() != before:
        bad.append("reading made a file longer")
    # Writing to it.
    for part in range(3):
        run_statement("insert",
                 "INSERT INTO %s SELECT id + 1000000, sig FROM %s WHERE id %% 30 = %d LIMIT 40" % (table, table, part))
    sql_error(conn, "SET enable_indexscan = off; SET enable_bitmapscan = off")
    run_statement("delete", "DELETE FROM %s WHERE id %% 7 = 0" % table)
    run_statement("vacuum", "VACUUM (INDEX_CLEANUP on) " + table)
    after = [got for _, got in answers(conn, table, g, False)]
    wrong = compare("after VACUUM", after)
    found = run_statement("lsh_check after VACUUM", "SELECT lsh_check(%s, true)", [index])
    if wrong and not found:
        bad.append("%s, which lsh_check does not find" % wrong)
    return "; ".join(bad), noticed


def uses_index(conn, g):
    conn.execute("SET enable_seqscan = off")
    plan = "\n".join(r[0] for r in conn.execute("EXPLAIN SELECT id FROM %s WHERE sig %%> %s('%s', %s)" % (
        g.name, g.maker, g.signatures[g.queries[0][0]], g.queries[0][1])))
    conn.execute("RESET enable_seqscan")
    return check("%s: the index is used" % g.name, g.name + "_sig" in plan, plan)


def make_copies(server, cases):
    """Tables c0, c1, .. of a damaged file each, on a server that is stopped before and after. Their paths: [(heap,
    index)]."""
    server.start()
    places = []
    with server.connect() as conn:
        for i, case in enumerate(cases):
            conn.execute("CREATE TABLE c%d (%s); CREATE INDEX c%d_sig ON c%d USING lsh (sig) %s" % (
                i, case.golden.columns, i, i, case.golden.options))
            conn.execute("UPDATE pg_class SET relfrozenxid = '%s', relminmxid = '%s' WHERE oid = 'c%d'::regclass" % (
                *case.golden.xids, i))
            places.append(
                conn.execute("SELECT pg_relation_filepath('c%d'), pg_relation_filepath('c%d_sig')" % (i, i)).fetchone())
    server.stop()
    for case, (heap, index) in zip(cases, places):
        with open(os.path.join(server.data, heap), "r+b") as f:
            f.write(case.golden.heap)
        case.write(os.path.join(server.data, index))
    return places


def try_cases(server, cases, want, results):
    make_copies(server, cases)
    server.start()
    conn = server.connect()
    for i, case in enumerate(cases):
        try:
            bad, noticed = try_case(conn, case, "c%d" % i, want[case.golden])
        except psycopg.OperationalError as e:
            if not conn.closed:
                raise
            bad, noticed = "the backend died: %s" % " ".join(str(e).split()), True
            time.sleep(0.2)  # until the server has ended its other processes, too
            conn = server.wait().connect()
        counts = results.setdefault(case.group, [0, 0, []])
        counts[0] += 1
        counts[1] += noticed
        if bad:
            counts[2].append("%s: %s" % (case.label, bad))
        if os.environ.get("NEARDUP_VERBOSE") and (bad or not noticed):
            print("#", case.label, "|", bad or "not noticed", flush=True)
    for i in range(len(cases)):
        sql_error(conn, "DROP TABLE c%d" % i)
    conn.close()
    server.stop()


def merge_stops(server, g):
    """A leaf that has yet to be merged pretends to hold the keys of the last one: steps that wait for these to come
    would skip the leaves between. The merge stops instead, so that nothing is lost once the page is what it was."""
    run = [r for r in g.runs if r.state == INPUT][0]
    done = next(r for r in g.runs if r.state == OUTPUT).hi
    leaves = g.children(run.root)
    # as bytes they compare as entries do
    bounds = [g.file[PAGE * run.root + 2200 + 11 * i:][:11] for i in range(len(leaves))]
    first = sum(bound <= done for bound in bounds)
    check("a merge is under way, leaves are to come", 0 < first < len(leaves) - 5 and run.height == 1,
          (run.height, done, bounds))
    leaf = leaves[first]
    place = PAGE * leaf + 32  # base_key
    [(_, path)] = make_copies(server, [Case(g, "merging", "", True, place, g.page(leaves[-1])[32:40])])
    server.start()
    with server.connect() as conn:
        e = None
        for part in range(400):
            e = sql_error(conn, "INSERT INTO c0 SELECT id + %d, sig FROM c0 WHERE id %% 30 = %d LIMIT 96"
                               % (100000 * (part + 1), part % 30))
            if e is not None:
                break
        check(
            "a merge stops at a leaf whose entries lie beyond the next one", e is not None and e.sqlstate in DAMAGED, e)
        check("lsh_check finds it", sql_error(conn, "SELECT lsh_check('c0_sig')") is not None)
    server.stop()
    with open(os.path.join(server.data, path), "r+b") as f:
        f.seek(place)
        f.write(g.page(leaf)[32:40])
    server.start()
    with server.connect() as conn:
        e = sql_error(conn, "SELECT lsh_check('c0_sig', true)")
        check("with the page as it was, nothing is missing", e is None, e)
        conn.execute("INSERT INTO c0 SELECT id + 1000000000, sig FROM c0 LIMIT 2000; DROP TABLE c0")
    server.stop()


def damage(server, seed):
    rng = random.Random(seed)
    server.start()
    with server.connect() as conn:
        conn.execute("CREATE EXTENSION neardup")
        goldens = []
        for make in (make_flat, make_merging, make_tall, make_hashes, make_digests, make_codes):
            began = time.monotonic()
            goldens.append(make(server, conn))
            print("note: %s took %.1f s" % (make.__name__, time.monotonic() - began))
        want = {}
        for g in goldens:
            g.signatures = {
                row: one(conn, "SELECT sig::text FROM %s WHERE id = %s" % (g.name, row)) for row, _ in g.queries}
            conn.execute(
                "CREATE TABLE %s_asked AS SELECT * FROM %s WHERE abs(hashint8(id)) %% 1000 <= %d; ANALYZE %s_asked" %
                (g.name, g.name, 12000 // one(conn, "SELECT count(*) FROM " + g.name), g.name))
            uses_index(conn, g)
            want[g] = [got for _, got in answers(conn, g.name, g, False)]
            check("%s: rows are found" % g.name, all(isinstance(got, list) and got for got in want[g]), want[g])
            equal("%s, undamaged: index and sequential scan agree" % g.name, answers(conn, g.name, g, True),
                  list(enumerate(want[g])) * 2)
            for full in ("false", "true"):
                e = sql_error(conn, "SELECT lsh_check('%s_sig', %s)" % (g.name, full))
                check("%s, undamaged: lsh_check(.., %s)" % (g.name, full), e is None, e)
        cases = []
        for g in goldens:
            some = page_cases(g, rng, 7 if FULL else 2)
            if not FULL:
                # Some of each group; what the others have as well is left out of the largest.
                groups = {"tall": ("beyond the file", "inner page", "links", "no link", "bounds"),
                          "hashes": ("meta page", "any byte", "entries", "pending page"),
                          "digests": ("meta page", "any byte", "entries", "pending page"),
                          "codes": ("meta page", "any byte", "entries", "leaf count", "pending page")}.get(
                    g.name, {c.group for c in some})
                most = (8 if LONG else 4) if g.name in ("hashes", "digests", "codes") else 15 if LONG else 7
                some = [c for group in sorted(groups) for c in (
                    lambda of: of if len(of) <= most or group == "beyond the file" else rng.sample(of, most))(
                    [c for c in some if c.group == group])]
            cases += some
    server.stop()
    merge_stops(server, next(g for g in goldens if g.name == "merging"))
    results = {}
    began = time.monotonic()
    for at in range(0, len(cases), 400):
        try_cases(server, cases[at:at + 400], want, results)
    print("note: %d damages, %.0f s" % (len(cases), time.monotonic() - began))
    for group, (count, noticed, bad) in results.items():
        check("%s: %d damages, %d noticed, none harmful" % (group, count, noticed), not bad,
              "%d of %d: %s" % (len(bad), count, "; ".join(bad[:4])))
    crashes = [line for line in server.log_text().splitlines() if any(
        w in line for w in ("terminated by signal", "PANIC:", "TRAP:"))]
    check("no backend crashed", not crashes, " ".join(crashes[:5]))


def main():
    if not os.path.exists(DESTDIR + pg_config("--pkglibdir") + "/neardup.so"):
        return skip("neardup is not installed")
    with Server(SETTINGS) as server:
        # Checksums would notice all of it: here they are off, as they are in many installations.
        server._run("pg_checksums", "--disable", "-D", server.data)
        damage(server, int(os.environ.get("NEARDUP_SEED", "1")))


finish(main)
