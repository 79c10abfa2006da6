#!/usr/bin/python3
"""Random queries of SQLsmith (https://github.com/anse1/sqlsmith) against a database with every type, kind of index,
trigger and job of ours.

    NEARDUP_ROOT=.. PG_CONFIG=.. [NEARDUP_DESTDIR=..] test/sqlsmith/sqlsmith_test.py [SECONDS [SEED]]

None of them may end the server, break an assertion (tools/assert_server.sh builds a server that has them) or end in an
internal error of ours; and queries that always have the same answer must have it with the lsh indexes and without them.
What fails is printed with its query; the same seed makes the same queries against the same schema. The server is one of
this test's own; sqlsmith runs as a role that is no superuser."""
import collections
import os
import sys

HERE_SMITH = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE_SMITH, "..", "t"), HERE_SMITH]
from servers import *
import estate
import near_queries

SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 600
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time()) % 100000
ROWS = 200  # in each table: sqlsmith joins many of them
TIMEOUT = "2s"
rng = random.Random(SEED)
COMPARED = max(200, SECONDS * 3)  # queries drawn for the comparison

SETTINGS_OF_LOG = """
log_line_prefix = '%e '
log_error_verbosity = verbose
log_min_error_statement = error
log_min_messages = warning
max_parallel_workers_per_gather = 2
min_parallel_table_scan_size = 0
parallel_setup_cost = 10
restart_after_crash = on
temp_file_limit = 1GB
"""

# Beside what estate.make() makes.
MORE = (
    "CREATE TABLE words_of (id int PRIMARY KEY, words text[], weights float8[], vec real[], feats bigint[], "
        "cells int[], small smallint[], at timestamptz, u uuid, raw bytea, q lsh_query)",
    "INSERT INTO words_of SELECT id, string_to_array(body, ' '), ARRAY(SELECT 1 + i %% 3 "
        "FROM generate_series(1, cardinality(string_to_array(body, ' '))) i), ARRAY[id, 1, 2]::real[], "
        "ARRAY[id / 4, id, 3]::bigint[], ARRAY[id / 4, id %% 7, 3, 9], ARRAY[1, 2, id %% 5]::smallint[], "
        "'2026-01-01'::timestamptz + id * interval '1 h', neardup_content_hash(body), "
        "convert_to(body, 'UTF8'), with_threshold(sig, 0.8) FROM article WHERE id <= %d" % ROWS,
    "CREATE INDEX words_feats ON words_of USING lsh (feats)",
    "CREATE INDEX words_cells ON words_of USING lsh (cells minutiae_ops)",
    "CREATE INDEX words_hash ON words_of USING lsh (to_simhash(encode(raw, 'hex')))",
    "CREATE INDEX article_two ON article USING lsh (tenant, published, hash)",
    "CREATE TRIGGER zz_flag BEFORE INSERT OR UPDATE ON mail FOR EACH ROW EXECUTE FUNCTION "
        "neardup_flag('to_minhash(body)', '0.85', 'copy_of', 'id')",
    "CREATE VIEW status AS SELECT job::text, phase, done, total FROM duplicates_status",
)
# Rows that depend on their order, or on more than the tables.
UNSTEADY = re.compile(
    r"\bover\s*\(|\b(?:array_agg|string_agg|json\w*_agg|xmlagg|range_agg|sum|avg|stddev\w*|variance|var_pop|var_samp|"
    r"corr|covar\w*|regr\w*|mode|any_value|now|random|age|clock_timestamp|statement_timestamp|timeofday|txid\w*|"
    r"pg_(?!catalog\b|lsn\b)\w+|current_\w+|inet_\w+|lastval|nextval|setval|query_to\w*|table_to\w*|schema_to\w*|"
    r"cursor_to\w*|database_to\w*|ts_stat|ts_rewrite|set_config|xmin|xmax|cmin|cmax|ctid|"
    r"neardup_(?:progress|devices|jobs))\b|\bversion\(",
    re.I)
PARTS = re.compile(r"\blimit \d+|\btablesample \w+ \([^)]*\)", re.I)  # of the rows
# Conditions that an index serves, one or two of them around every second query: sqlsmith itself seldom writes one.
NEAR = ("jaccard(a.sig, (SELECT sig FROM article WHERE id = {i})) >= 0.7",
        "a.sig % (SELECT sig FROM article WHERE id = {i})",
        "hamming(a.hash, (SELECT hash FROM article WHERE id = {i})) <= 4",
        "ctph_edit_rate(a.digest, (SELECT digest FROM article WHERE id = {i})) <= 0.15",
        "ctph_score(a.digest, (SELECT digest FROM article WHERE id = {i})) >= 70",
        "jaccard_exact(a.items, (SELECT items FROM article WHERE id = {i})) >= 0.6",
        "(a.tenant = 1 AND jaccard(a.sig, (SELECT sig FROM article WHERE id = {i})) > 0.6)",
        "jaccard(to_minhash(a.body, 2), to_minhash((SELECT body FROM article WHERE id = {i}), 2)) >= 0.8",
        "a.sig %> with_threshold((SELECT sig FROM article WHERE id = {i}), 0.75)",
        "(a.tenant = 2 AND a.published > '2026-01-05' AND hamming(a.hash, (SELECT hash FROM article "
            "WHERE id = {i})) < 4)")
PLANS_OF = {"with": "SET enable_seqscan = off; SET enable_indexscan = on; SET enable_bitmapscan = on",
            "bitmap": "SET enable_seqscan = off; SET enable_indexscan = off; SET enable_bitmapscan = on",
            "without": "SET enable_seqscan = on; SET enable_indexscan = off; SET enable_bitmapscan = off; "
            "SET enable_indexonlyscan = off"}


def make(server):
    with server.connect() as conn:
        conn.execute("CREATE ROLE smith LOGIN; GRANT CREATE ON DATABASE postgres TO smith; "
                     "GRANT ALL ON SCHEMA public TO smith; CREATE EXTENSION neardup")
        conn.execute("SET ROLE smith")
        for statement in estate.MAKE:
            conn.execute(statement.replace("generate_series(1, 800)", "generate_series(1, %d)" % ROWS))
        for statement in MORE:
            conn.execute(statement)
        conn.execute("ANALYZE")
        indexes = conn.execute("SELECT count(*) FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE amname = 'lsh' "
                               "AND relkind = 'i'").fetchone()[0]
        rows = conn.execute("SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f') "
                            "AND relnamespace = 'public'::regnamespace").fetchone()[0]
    print("note: sqlsmith: %d relations, %d lsh indexes, seed %d" % (rows, indexes, SEED))


def target(server):
    return "host=%s port=5432 dbname=postgres user=smith" % server.folder


def smith(server, *options, seconds=None):
    """The standard output and standard error of sqlsmith, which is interrupted after so many seconds."""
    env = dict(server.env, PGOPTIONS="-c statement_timeout=%s" % TIMEOUT)
    with open(server.folder + "/smith.out", "w+", errors="replace") as out, open(
            server.folder + "/smith.err", "w+", errors="replace") as err:
        process = subprocess.Popen(
            ["sqlsmith", "--target=" + target(server), "--exclude-catalog", "--seed=%d" % SEED, *options],
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        out.seek(0)
        err.seek(0)
        return out.read(), err.read()


class Log:
    """The server's log, read once: how many errors of each SQLSTATE, and what ought not to be there with its
    statement."""

    START = re.compile(
        r"^([0-9A-Z]{5}) (ERROR|FATAL|PANIC|LOG|WARNING|DETAIL|HINT|CONTEXT|STATEMENT|LOCATION|QUERY):  (.*)")

    def __init__(self, path):
        self.states, self.bad, last, piece = collections.Counter(), [], None, None
        with open(path, errors="replace") as f:
            for line in f:
                if "TRAP:" in line or "terminated by signal" in line or " PANIC: " in line:
                    self.bad.append([line.strip(), ""])
                found = self.START.match(line)
                if not found:
                    if piece == "STATEMENT" and last is not None:
                        last[1] += line
                    elif piece == "LOG" and self.bad and line.startswith("\t"):
                        self.bad[-1][1] += line  # the query that a process ran when it was ended
                    continue
                state, piece, text = found.groups()
                if piece in ("WARNING", "LOG"):
                    last = None
                if piece in ("ERROR", "FATAL"):
                    self.states[state] += 1
                    last = [state + " " + text, ""] if state in ("XX000", "XX001", "XX002") else None
                    if last:
                        self.bad.append(last)
                elif last is not None and piece == "LOCATION":
                    last[0] += " [" + text.strip() + "]"
                elif last is not None and piece == "STATEMENT":
                    last[1] = text + "\n"
                elif piece == "DETAIL" and "Failed process was running" in text and self.bad:
                    self.bad[-1][1] = text + "\n"

    @property
    def statements(self):
        return sum(self.states.values())


def raised_in(what):
    """The C function that raised an error, by the log; None for a crash."""
    found = re.search(r"\[(\w+), \S+:\d+\]", what)
    return found and found.group(1)


# Our nodes of a plan run the conditions of a query, and are callers of all that those call.
WITHOUT_NODES = "; SET neardup.enable_join = off; SET neardup.derive_conditions = off"


def is_ours(server, what, statement):
    """True if our library is among the callers: the statement is run again, with a backtrace, with our nodes in its
    plan and without. None where it does not fail again."""
    function = raised_in(what)
    if function is None or re.search(r"\[\w+, \w+\.(?:cpp|h):", what):
        return True
    traces = backtraces(server, function, statement)
    if any("neardup" in t for t in traces):
        plain = backtraces(server, function, statement, WITHOUT_NODES)
        return not plain or any("neardup" in t for t in plain)
    return False if traces else None


def backtraces(server, function, statement, settings=""):
    """The backtraces of the errors that the function raises in the statement."""
    began = os.path.getsize(server.log)
    with server.connect() as conn:
        conn.execute(
            "SET backtrace_functions = '%s'; SET ROLE smith; SET statement_timeout = '10s'%s" % (function, settings))
        with contextlib.suppress(psycopg.Error):
            conn.execute(b"BEGIN")
            conn.execute(statement.encode())
        conn.rollback()
    with open(server.log, errors="replace") as f:
        f.seek(began)
        return re.findall(r"BACKTRACE:  (.*?)\n\w{5} ", f.read(), re.S)


def sorted_out(server, log):
    """(ours, PostgreSQL's own, those that cannot be told), of each kind one that tells it."""
    kinds = {}
    for what, statement in log.bad:
        kinds.setdefault(re.sub(r"\d+", "N", what), []).append((what, statement))
    parts = {True: [], False: [], None: []}
    for found in kinds.values():
        verdicts = [(is_ours(server, *one_of), one_of) for one_of in found[:3]]
        for verdict in (True, False, None):
            hits = [x for v, x in verdicts if v is verdict]
            if hits:
                parts[verdict].append(list(hits[0]))
                break
    return parts[True], parts[False], parts[None]


def describe_faults(bad, most=10):
    """One of each kind with its statement, for whoever makes it smaller."""
    kinds = {}
    for what, statement in bad:
        kinds.setdefault(re.sub(r"\d+", "N", what)[:160], (what, statement))
    for what, statement in list(kinds.values())[:most]:
        print("    %s" % what)
        print("\n".join("      | " + line for line in statement.splitlines()[:60]))
    return "%d, of %d kinds: %s" % (len(bad), len(kinds), "; ".join(kinds))


def torture(server):
    """Queries and changes of any kind, as they come."""
    out, err = smith(server, "--verbose", seconds=SECONDS * 2 // 3)
    counted = [int(n) for n in re.findall(r"queries: (\d+)", err)]
    log = Log(server.log)
    good = counted[-1] if counted else 0
    check("sqlsmith: %d statements, %d of them errors (%s)" % (
              good, log.statements, ", ".join("%s %d" % item for item in log.states.most_common(6))), good > SECONDS,
          err[-500:] + out[-300:])
    with server.connect() as conn:
        conn.execute("SET ROLE smith")
        names = [r[0] for r in conn.execute(
            "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE amname = 'lsh' "
            "AND relkind = 'i'")]
        equal_all("sqlsmith: every lsh index is sound afterwards",
                  [(n, str(sql_error(conn, "SELECT lsh_check('%s', true)" % n)), "None") for n in names])
    return good


def internal(server):
    """The internal errors in the whole log."""
    ours, own, unknown = sorted_out(server, Log(server.log))
    check("sqlsmith: the server neither ends nor meets an internal error of ours (kinds of PostgreSQL's own: "
              "%d, that do not come again: %d)" % (len(own), len(unknown)), not ours, ours and describe_faults(ours))
    if unknown:
        print("note: sqlsmith: internal errors that do not come again: %s" % "; ".join(what for what, _ in unknown))
        describe_faults(unknown, 3)
    for what, _ in own:
        print("    of PostgreSQL's own: %s" % what)


def drawn(server):
    """Queries, each once; those whose answer may change, or is not one of rows, are left out."""
    out, err = smith(server, "--dry-run", "--max-queries=%d" % (COMPARED * 12), seconds=max(60, SECONDS // 4))
    queries = [q.strip() for q in re.split(r";\s*\n", out)]
    with server.connect() as conn:
        names = [re.escape(n) for n, in conn.execute(
            "SELECT DISTINCT proname FROM pg_proc WHERE provolatile = 'v' AND prokind = 'f'")]
    volatile = re.compile(r"\b(?:%s)\(" % "|".join(names))
    found = []
    for q in queries:
        body = PARTS.sub("", re.sub(r"^--.*$", "", q, flags=re.M)).strip()
        if re.match(r"(?:select|with)\b", body, re.I) and not UNSTEADY.search(body) and not volatile.search(
                body) and not re.search(r"\b(?:insert|update|delete|merge)\b", body, re.I):
            found.append(near(body) if len(found) % 2 else body)
    return len(queries), found[:COMPARED]


def near(query):
    """The query below one through an index."""
    condition = rng.choice((" AND ", " OR ")).join(
        n.format(i=rng.randrange(1, ROWS)) for n in rng.sample(NEAR, rng.choice((1, 1, 2))))
    return "WITH q AS (%s) SELECT a.id, (SELECT count(*) FROM q) FROM article a WHERE %s" % (query, condition)


def rows_or_state(conn, query):
    """(rows, None) or (None, SQLSTATE)."""
    try:
        return collections.Counter(conn.execute(query.encode()).fetchall()), None
    except psycopg.Error as e:
        if conn.closed:
            raise
        return None, e.sqlstate or type(e).__name__


def open_to_compare(server):
    """A session that gives rows as text, whatever their types."""
    conn = server.connect(prepare_threshold=None)
    for oid, in conn.execute("SELECT oid FROM pg_type").fetchall():
        conn.adapters.register_loader(oid, psycopg.types.string.TextLoader)
    conn.execute("SET ROLE smith; SET statement_timeout = '1s'; SET max_parallel_workers_per_gather = 0")
    return conn


def steady(conn, query, rows):
    """True if it gives the same rows again and again, by one plan."""
    conn.execute(PLANS_OF["without"])
    return all(rows_or_state(conn, query) == (rows, None) for _ in range(4))


def compared(server, queries, seconds):
    """(answered, through an lsh index, [what differs, the query]) of queries, each with the indexes and without."""
    answered = used = 0
    bad, ends = [], time.monotonic() + seconds
    conn = open_to_compare(server)
    for query in queries:
        if time.monotonic() > ends:
            break
        got, state = {}, None
        try:
            for plan in ("without", "with", "bitmap"):
                conn.execute(PLANS_OF[plan])
                got[plan], state = rows_or_state(conn, query)
                if state is not None:
                    break
            if state is not None:
                continue
            answered += 1
            plan = "\n".join(r[0] for r in conn.execute(("EXPLAIN (COSTS OFF) " + query).encode()))
        except psycopg.Error as e:  # the server has gone; its log says why
            bad.append(["the session is lost: %s" % e, query])
            server.wait()
            conn = open_to_compare(server)
            continue
        used += bool(
            re.search(r"(?:Index|Bitmap Index) Scan (?:using|on) "
                          r"(?:article_(?!pkey)|words_(?!of)|mail_\w*minhash|kept_with|copies_sig|narrow_copies_sig)",
                      plan))
        differs = got["with"] != got["without"] or got["bitmap"] != got["without"]
        if differs and steady(conn, query, got["without"]):
            bad.append(["%d rows with the indexes, %d by bitmaps, %d without" % tuple(
                            sum(got[p].values()) for p in ("with", "bitmap", "without")),
                        query])
    conn.close()
    return answered, used, bad


def compare(server):
    """The rows are the same with the indexes and without: of sqlsmith's queries, and of those that are full of our
    conditions."""
    total, queries = drawn(server)
    generator = near_queries.Generator(rng, ROWS)
    print("note: sqlsmith: %d of the %d queries that it drew have one answer" % (len(queries), total))
    for what, some in (("queries of sqlsmith", queries),
                       ("queries full of our conditions", (generator.query() for _ in range(100 * COMPARED)))):
        answered, used, bad = compared(server, some, SECONDS / 6)
        print("note: sqlsmith: %s: %d compared, %d of them through an lsh index" % (what, answered, used))
        check("sqlsmith: %s: the same rows with the lsh indexes and without" % what,
              answered > SECONDS / 6 and used and not bad, bad and describe_faults(bad) or "%d answered" % answered)


def planned(server):
    """Many more of them planned, and not run: in these queries nothing is wrong, so that any error is one of ours."""
    generator, count, bad, ends = near_queries.Generator(rng, ROWS), 0, [], time.monotonic() + SECONDS / 12
    with server.connect(prepare_threshold=None) as conn:
        conn.execute("SET ROLE smith")
        while time.monotonic() < ends and not conn.closed:
            query = generator.query()
            conn.execute(rng.choice((PLANS_OF["with"], PLANS_OF["without"],
                                     "RESET enable_seqscan; RESET enable_indexscan; RESET enable_bitmapscan; "
                                         "SET enable_nestloop = %s" % rng.choice(("on", "off")))))
            e = sql_error(conn, "EXPLAIN " + query)
            count += 1
            if e is not None:
                bad.append(["%s %s" % (e.sqlstate, str(e).splitlines()[0]), query])
    bad.sort(key=lambda b: len(b[1]))  # the shortest of each kind tells most
    check("sqlsmith: %d queries full of our conditions are planned" % count, count > SECONDS and not bad,
          bad and describe_faults(bad))


def main():
    if shutil.which("sqlsmith") is None:
        return skip("sqlsmith is not installed")
    with Server(SETTINGS_OF_LOG) as server:
        server.start()
        with server.connect() as conn:
            print("note: sqlsmith: assertions are %s" % one(conn, "SHOW debug_assertions"))
        make(server)
        sections((torture, server), (compare, server), (planned, server), (internal, server))
        if os.environ.get("NEARDUP_TEST_KEEP"):
            print("note: kept in %s" % server.folder)


finish(main)
