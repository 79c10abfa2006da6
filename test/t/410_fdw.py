#!/usr/bin/python3
"""A table sharded over three servers by postgres_fdw: conditions are sent, the lsh indexes of the shards are used, and
results are those of one table on one server. Signatures through parameters, text and binary COPY; joins; changes; jobs;
a shard that disappears, lacks the extension, has it in another schema, or has other signatures. The blocks of
docs/distributed.md, on these servers."""
import re

from answers import read_plan, sorted_rows
from jobs import from_scratch, table
from servers import *

ROWS = 20000 if FULL else 1500
EXPLAINED = """
auto_explain.log_min_duration = 0
auto_explain.log_timing = off
log_min_messages = warning
"""
# A shard of 500 rows is read as it lies if it may. In the full form the planner chooses, as the page advises.
OPTIONS = ("extensions 'neardup', async_capable 'true', batch_size '500', fetch_size '1000', options '-c %s'"
           % ("cursor_tuple_fraction=1" if FULL else "enable_seqscan=off"))

COLUMNS = "id bigint %s, family int, body text, sig minhash(128), hash simhash, digest ctph, items int[]"
INDEXES = """
CREATE INDEX w_sig ON w USING lsh (sig);
CREATE INDEX w_hash ON w USING lsh (hash);
CREATE INDEX w_digest ON w USING lsh (digest);
CREATE INDEX w_items ON w USING lsh (items);
CREATE INDEX w_query ON w USING lsh (with_threshold(sig, 0.9));
CREATE INDEX w_body ON w USING lsh (to_minhash(body, 2));
"""
# Families of 8, whose first words differ: copies, and down to some 0.8. NULLs and empty documents among them.
MADE = """
INSERT INTO whole SELECT id, family, body, to_minhash(body), to_simhash(body), to_ctph(body), items FROM (
  SELECT i AS id, i / 8 AS family,
    CASE WHEN i %% 97 = 0 THEN NULL WHEN i %% 89 = 0 THEN '' ELSE (SELECT string_agg(md5((i / 8 * 60 + e)::text) ||
      CASE WHEN e < i %% 8 THEN 'x' || i ELSE '' END, ' ') FROM generate_series(1, 60) e) END AS body,
    ARRAY[i / 8, i / 8 + 1, i / 8 + 2, i %% 3 - 3] AS items
  FROM generate_series(1, %d) i) x"""

# Condition, what the remote SQL says of it, the index. Q, H, C: a signature of each type.
PREDICATES = [
    ("jaccard(sig, Q) > 0.8", "public.jaccard(sig, ", "w_sig"),
    ("jaccard(sig, Q) >= 0.75::real", "public.jaccard(sig, ", "w_sig"),
    ("0.9 <= jaccard(Q, sig)", "public.jaccard(", "w_sig"),
    ("sig <%> Q < 0.2", "(sig OPERATOR(public.<%>) ", "w_sig"),
    ("jaccard_at_least(sig, Q, 0.8)", "public.jaccard_at_least(sig, ", "w_sig"),
    ("sig %> with_threshold(Q, 0.8)", "OPERATOR(public.%>) 'jaccard>=0.8 mh1:", "w_sig"),
    ("with_threshold(sig, 0.9) && with_threshold(Q, 0.9)", "(public.with_threshold(sig, ", "w_query"),
    ("jaccard(to_minhash(body, 2), to_minhash('BODY', k => 2)) >= 0.8",
     "public.to_minhash(body, 2, 'word'::text, 128, 32, 0::bigint), 'mh1:word2:", "w_body"),
    ("jaccard(sig, Q) >= 0.8 AND family >= 0", "public.jaccard(sig, ", "w_sig"),
    ("jaccard(sig, Q) >= 0.8 OR hamming(hash, H) <= 2", " OR (public.hamming(hash, ", "w_hash"),
    ("hamming(hash, H) <= 3", "public.hamming(hash, ", "w_hash"),
    ("hash <~> H < 4", "(hash OPERATOR(public.<~>) ", "w_hash"),
    ("hamming_at_most(hash, H, 3)", "public.hamming_at_most(hash, ", "w_hash"),
    ("hash %> neardup_internal.lsh_hamming_query(H, 3)", "(hash OPERATOR(public.%>) ", "w_hash"),
    ("ctph_score(digest, C) >= 70", "public.ctph_score(digest, ", "w_digest"),
    ("ctph_score_at_least(digest, C, 80)", "public.ctph_score_at_least(digest, ", "w_digest"),
    ("ctph_edit_rate(digest, C) < 0.1", "public.ctph_edit_rate(digest, ", "w_digest"),
    ("digest <-> C <= 0.05", "(digest OPERATOR(public.<->) ", "w_digest"),
    ("ctph_edit_rate_at_most(digest, C, 0.1)", "public.ctph_edit_rate_at_most(digest, ", "w_digest"),
    ("jaccard_exact(items, ARRAY[9, 10, 11]) > 0.6", "public.jaccard_exact(items, ", "w_items"),
    ("jaccard_exact_at_least(items, ARRAY[9, 10, 11], 0.5)", "public.jaccard_exact_at_least(items, ", "w_items"),
]
TYPES = {"Q": "minhash", "H": "simhash", "C": "ctph"}


class Shards:
    """Three servers with a database `app` each, and the coordinator, a database `hub` of the first."""

    def __init__(self, stack):
        self.shards = [stack.enter_context(Server(EXPLAINED)) for _ in range(3)]
        for server in self.shards:
            server.start()
            with server.connect() as conn:
                conn.execute("CREATE ROLE app LOGIN")
                conn.execute("CREATE DATABASE app OWNER app")
        with self.shards[0].connect() as conn:
            conn.execute("CREATE DATABASE hub")
        self.conn = self.shards[0].connect("hub")
        self.seen = [0] * 3

    @staticmethod
    def app(server, **kwargs):
        """A superuser's session, as the foreign servers' user mapping is; the tables are his."""
        return server.connect("app", **kwargs)

    def each(self, *statements):
        for shard in self.shards:
            with self.app(shard) as conn:
                for statement in statements:
                    conn.execute(statement)

    def remote_plans(self):
        """The plans of cursors that each shard has run since the last call; postgres_fdw closes them with the
        statement."""
        out = []
        for i, shard in enumerate(self.shards):
            with open(shard.log, errors="replace") as f:
                f.seek(self.seen[i])
                text = f.read()
                self.seen[i] = f.tell()
            entries = re.split(r"(?m)^(?=\S)", text)  # what follows in an entry is indented
            out.append([e for e in entries if "Query Text: DECLARE" in e])
        return out


def plan(conn, query, options="VERBOSE, COSTS OFF"):
    return read_plan(conn, query, options)


def expand(text, values):
    text = re.sub(r"\b[QHC]\b", lambda m: "'%s'::%s" % (values[m.group()], TYPES[m.group()]), text)
    return text.replace("BODY", values["BODY"])


def whole(query):
    """The query over the one table without indexes."""
    return re.sub(r"\bw(_\d)?\b", "whole", query)


# The page ------------------------------------------------------------------------------------------------------------

def page(s):
    """Blocks marked with where they run; none of them is left out."""
    with open(os.path.join(ROOT, "docs", "distributed.md"), encoding="utf-8") as f:
        blocks = re.findall(r"```sql\n(-- on (every shard|the coordinator)\n.*?)```",
                            f.read().partition("\n## Several servers")[2].partition("\n## ")[0], re.S)
    check(
        "the page has blocks for both sides", {b[1] for b in blocks} == {"every shard", "the coordinator"}, len(blocks))
    for n, (text, where) in enumerate(blocks):
        for i, shard in enumerate(s.shards):
            text = text.replace("host 'shard%d'" % i, "host '%s'" % shard.folder)
        here = ("app", "app", s.shards) if where == "every shard" else ("hub", "postgres", s.shards[:1])
        for server in here[2]:
            done = tool("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", server.folder, "-p", "5432", "-d", here[0],
                        "-U", here[1], input=text, env={"PGOPTIONS": ""})
            if done.returncode:
                break
        check("docs/distributed.md, block %d: %s" % (n, text.splitlines()[1][:60]), done.returncode == 0, done.stderr)
    joined = sorted_rows(s.conn, "SELECT * FROM doc_pairs")
    check("the page: candidates by keys are all pairs",
          len(joined) > 100 and joined == sorted_rows(s.conn, "SELECT * FROM all_pairs('SELECT id, sig "
                                                          "FROM docs', 0.8)"), len(joined))
    equal("the page: a shard signs as the coordinator does",
          one(s.conn, "SELECT count(*) FROM docs WHERE sig = to_minhash(body)"), 300)
    found = plan(s.conn, "SELECT id FROM docs WHERE jaccard(sig, to_minhash('the body of article number 7')) >= 0.8")
    check("the page: what EXPLAIN shows",
          found.count("Async Foreign Scan") == 3 and "public.jaccard(sig, 'mh1:word3:" in found, found)
    s.conn.execute("CREATE SCHEMA taken; IMPORT FOREIGN SCHEMA public LIMIT TO (docs) FROM SERVER shard_0 INTO taken")
    columns = s.conn.execute("SELECT attname, format_type(atttypid, atttypmod), attgenerated FROM pg_attribute "
                             "WHERE attrelid = 'taken.docs'::regclass AND attnum > 3 ORDER BY attnum").fetchall()
    equal("IMPORT FOREIGN SCHEMA takes types, their modifiers and generated columns", columns,
          [("sig", "minhash(128)", "s"), ("hash", "simhash", "s"), ("digest", "ctph", "s")])
    equal("imported and of the page: the same rows", sorted_rows(s.conn, "SELECT * FROM taken.docs"),
          sorted_rows(s.conn, "SELECT * FROM docs_0"))


# Conditions ----------------------------------------------------------------------------------------------------------

def setup(s):
    s.each("CREATE TABLE w (" + COLUMNS % "PRIMARY KEY" + ")", INDEXES,
           "ALTER DATABASE app SET session_preload_libraries = 'auto_explain'")
    s.conn.execute("CREATE TABLE whole (" + COLUMNS % "" + ")")
    s.conn.execute(MADE % ROWS)
    s.conn.execute("ANALYZE whole")
    s.conn.execute("CREATE TABLE w (" + COLUMNS % "" + ") PARTITION BY HASH (id)")
    for i, shard in enumerate(s.shards):
        s.conn.execute("CREATE SERVER s%d FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', port '5432', dbname "
                       "'app', %s)" % (i, shard.folder, OPTIONS))
        s.conn.execute("CREATE USER MAPPING FOR CURRENT_USER SERVER s%d OPTIONS (user 'postgres')" % i)
        s.conn.execute("CREATE FOREIGN TABLE w_%d PARTITION OF w FOR VALUES WITH (MODULUS 3, REMAINDER %d) SERVER s%d "
                       "OPTIONS (table_name 'w')" % (i, i, i))
    s.conn.execute("INSERT INTO w SELECT * FROM whole WHERE id % 2 = 0")
    with s.conn.cursor() as cur:  # the other half by COPY, in both forms
        for half, how in ((1, "TEXT"), (3, "BINARY")):
            with cur.copy("COPY (SELECT * FROM whole WHERE id %% 4 = %d) TO STDOUT (FORMAT %s)" % (half, how)) as out:
                data = b"".join(out)
            with cur.copy("COPY w FROM STDIN (FORMAT %s)" % how) as into:
                into.write(data)
    equal("rows went to three shards unchanged", sorted_rows(s.conn, "SELECT * FROM w"),
          sorted_rows(s.conn, "SELECT * FROM whole"))
    counts = [r[0] for r in s.conn.execute("SELECT count(*) FROM w GROUP BY tableoid")]
    check("each shard has its share", len(counts) == 3 and min(counts) > ROWS / 5, counts)
    s.each("VACUUM ANALYZE w")
    # some rows of the table, to be looked for
    s.conn.execute("CREATE TABLE arrivals AS SELECT id, sig, hash, digest FROM whole WHERE id %% %d = 1; "
                   "ANALYZE arrivals" % (ROWS // 30))
    row = s.conn.execute("SELECT sig::text, hash::text, digest::text, body FROM whole WHERE id = 81").fetchone()
    s.values = dict(zip(("Q", "H", "C", "BODY"), row))


def pushed_down(s, estimate):
    """Every condition is sent whole, each shard looks it up in its index, and the answer is right."""
    sent, indexed, answers = [], [], []
    for condition, text, index in PREDICATES:
        query = expand("SELECT id FROM w WHERE " + condition, s.values)
        found = plan(s.conn, query)
        sent.append(
            (condition, (found.count("Async Foreign Scan"), "Filter:" in found, text in found), (3, False, True)))
        s.remote_plans()
        got = sorted_rows(s.conn, query)
        ran = s.remote_plans()
        indexed.append((condition, [len(p) == 1 and index in p[0] and "Seq Scan" not in p[0] for p in ran], [True] * 3))
        want = sorted_rows(s.conn, whole(query))
        answers.append((condition, got, want))
        answers.append((condition + " finds something", len(want) > 1, True))
    name = "with remote estimates: " if estimate else ""
    equal_all(name + "conditions are sent", sent)
    equal_all(name + "the shards' cursors use their lsh indexes", indexed)
    equal_all(name + "answers are those of one table", answers)


def not_sent(s):
    """A setting, or a collation of no column, keeps a condition at home; other forms are sent."""
    kept = plan(s.conn, expand("SELECT id FROM w WHERE sig % Q", s.values))
    check("sig % q stays on the coordinator", "Filter: (w_1.sig %" in kept and "WHERE" not in kept, kept)
    s.conn.execute("SET neardup.jaccard_threshold = 0.9")
    query = expand("SELECT id FROM w WHERE sig % Q", s.values)
    equal("sig % q asks the coordinator's setting", sorted_rows(s.conn, query), sorted_rows(s.conn, whole(query)))
    query = expand("SELECT id FROM w "
                       "WHERE jaccard_at_least(sig, Q, (SELECT current_setting('neardup.jaccard_threshold')::float8))",
                   s.values)
    found = plan(s.conn, query)
    check("a setting in a subquery is sent", "Filter:" not in found and "$1::double precision" in found, found)
    equal("with the same answer", sorted_rows(s.conn, query), sorted_rows(s.conn, whole(query)))
    s.conn.execute("RESET neardup.jaccard_threshold; SET plan_cache_mode = force_generic_plan")
    s.conn.execute("PREPARE signed (text) AS SELECT id FROM w WHERE jaccard(sig, to_minhash($1)) >= 0.8")
    kept = plan(s.conn, "EXECUTE signed ('%s')" % s.values["BODY"])
    check("a function of a text that is no column's stays there, too",
          "Filter: (jaccard(w_1.sig, to_minhash($1" in kept, kept)
    equal("and answers", sorted_rows(s.conn, "EXECUTE signed ('%s')" % s.values["BODY"]),
          sorted_rows(s.conn, expand("SELECT id FROM whole WHERE jaccard(sig, Q) >= 0.8", s.values)))
    s.conn.execute("RESET plan_cache_mode")


def parameters(s):
    """Parameters travel as text."""
    c = s.conn
    rows = []
    c.execute("SET plan_cache_mode = force_generic_plan")
    for i, (declared, condition, text, value) in enumerate((
            ("minhash, float8", "jaccard(sig, $1) >= $2", "public.jaccard(sig, $1::public.minhash) >= $2", "Q, 0.8"),
            ("minhash, float8", "jaccard_at_least(sig, $1, $2)", "public.jaccard_at_least(sig, $1::public.minhash, $2",
             "Q, 0.8"),
            ("lsh_query", "sig %> $1", "OPERATOR(public.%>) $1::public.lsh_query", "with_threshold(Q, 0.8)"),
            ("simhash, int", "hamming(hash, $1) <= $2", "public.hamming(hash, $1::public.simhash) <= $2", "H, 3"),
            ("ctph, int", "ctph_score(digest, $1) >= $2", "public.ctph_score(digest, $1::public.ctph) >= $2", "C, 70"),
            ("int[], float8", "jaccard_exact(items, $1) > $2", "public.jaccard_exact(items, $1::integer[]) > $2",
             "'{9,10,11}', 0.6"),
            ("text", "jaccard(sig, (SELECT to_minhash($1))) >= 0.8", "public.jaccard(sig, $1::public.minhash)",
             "'BODY'"))):
        value = expand(value, s.values)
        c.execute("PREPARE p%d (%s) AS SELECT id FROM w WHERE %s" % (i, declared, condition))
        c.execute("PREPARE q%d (%s) AS SELECT id FROM whole WHERE %s" % (i, declared, condition))
        rows.append((condition + " is sent", text in plan(c, "EXECUTE p%d (%s)" % (i, value)), True))
        s.remote_plans()
        rows.append((condition, *(sorted_rows(c, "EXECUTE %s%d (%s)" % (name, i, value)) for name in "pq")))
        rows.append((condition + " by the index", [len(p) == 1 and "Seq Scan" not in p[0] for p in s.remote_plans()],
                     [True] * 3))
    c.execute("RESET plan_cache_mode")
    equal_all("parameters of prepared statements", rows)
    kinds = {"sig": "minhash", "hash": "simhash", "digest": "ctph"}
    rows = []
    for column, kind in kinds.items():
        for i in (1, 77, 88, 97 if FULL else 89):
            query = "SELECT id FROM w WHERE %s = (SELECT %s FROM whole WHERE id = %d)" % (column, column, i)
            rows.append(("%s of row %d" % (column, i), sorted_rows(c, query), sorted_rows(c, whole(query))))
    equal_all("values come back as they went, as text", rows)
    equal("a row's document in a scalar subquery",
          sorted_rows(c, "SELECT id FROM w WHERE jaccard(sig, (SELECT sig FROM w WHERE id = 77)) > 0.8"),
          sorted_rows(c, "SELECT id FROM whole WHERE jaccard(sig, (SELECT sig FROM whole WHERE id = 77)) > 0.8"))


def ordered(s):
    for condition, order in (("jaccard(sig, Q) >= 0.75", "sig <%> Q"), ("hamming(hash, H) <= 6", "hash <~> H"),
                             ("ctph_edit_rate(digest, C) < 0.15", "digest <-> C")):
        query = expand(
            "SELECT id, %s AS d FROM w WHERE %s ORDER BY %s, id LIMIT 5" % (order, condition, order), s.values)
        got = s.conn.execute(query).fetchall()
        check("the nearest over all shards: " + order, len(got) >= 2 and got == s.conn.execute(whole(query)).fetchall(),
              got)
        query = expand("SELECT id FROM w WHERE %s ORDER BY %s LIMIT 5" % (condition, order), s.values)
        s.conn.execute("SET enable_sort = off")
        found = plan(s.conn, query)
        s.conn.execute("RESET enable_sort")
        check("sorted by the shards, merged here: " + order,
              "Merge Append" in found and found.count("ASC NULLS LAST") == 3, found)
    query = expand("SELECT id FROM w_1 WHERE jaccard(sig, Q) >= 0.75 ORDER BY sig <%> Q LIMIT 3", s.values)
    check("of one shard the limit is sent, too", "LIMIT 3" in plan(s.conn, query), plan(s.conn, query))


def aggregates(s):
    c, rows = s.conn, []
    aggregates = ("minhash_union_agg(sig), minhash_agg(body), minhash_agg(id), simhash_agg(body), simhash_agg(body, "
                  "2.5), count(sig)")
    sent = plan(c, "SELECT %s FROM w_0" % aggregates)
    check("aggregates of one shard are sent",
          "Relations: Aggregate on (public.w_0)" in sent and "public.minhash_agg(id)" in sent, sent)
    home = "id IN (SELECT id FROM w_0)"
    rows.append(("of a shard", sorted_rows(c, "SELECT %s FROM w_0" % aggregates),
                 sorted_rows(c, "SELECT %s FROM whole WHERE %s" % (aggregates, home))))
    rows.append(("of all", *(sorted_rows(c, "SELECT %s FROM %s" % (aggregates, t)) for t in ("w", "whole"))))
    rows.append(("by family", sorted_rows(c, "SELECT family, %s FROM w GROUP BY family" % aggregates),
                 sorted_rows(c, "SELECT family, %s FROM whole GROUP BY family" % aggregates)))
    c.execute("SET enable_partitionwise_aggregate = on")
    by_id = "SELECT id, %s FROM w WHERE family < 4 GROUP BY id" % aggregates
    check("aggregates by the partition key are sent", plan(c, by_id).count("Relations: Aggregate on") == 3,
          plan(c, by_id))
    rows.append(("by the partition key", sorted_rows(c, by_id), sorted_rows(c, whole(by_id))))
    c.execute("RESET enable_partitionwise_aggregate")
    equal_all("aggregates", rows)


def joins(s):
    c = s.conn
    want = sorted_rows(c, "SELECT * FROM all_pairs('SELECT id, sig FROM whole', 0.8)")
    c.execute("CREATE TABLE home AS SELECT id, tableoid AS shard FROM w")
    check("there are pairs across shards", one(c, """SELECT count(*) FROM all_pairs('SELECT id, sig FROM whole', 0.8) p
        JOIN home a ON a.id = id_a JOIN home b ON b.id = id_b WHERE a.shard <> b.shard""") > 100)
    equal("all_pairs over all shards", sorted_rows(c, "SELECT * FROM all_pairs('SELECT id, sig FROM w', 0.8)"), want)
    parts = ["SELECT * FROM all_pairs('SELECT id, sig FROM w_%d', 0.8)" % i for i in range(3)]
    parts += ["SELECT least(id_a, id_b), greatest(id_a, id_b), similarity "
              "FROM pairs_between('SELECT id, sig FROM w_%d', 'SELECT id, sig FROM w_%d', 0.8)" % p
              for p in ((0, 1), (0, 2), (1, 2))]
    equal("within shards and between any two", sorted_rows(c, " UNION ALL ".join(parts)), want)
    equal("a plain join on band_keys",
          sorted_rows(c, """WITH keyed AS MATERIALIZED (SELECT id, sig, band_keys(sig, 0.8) AS key FROM w)
        SELECT DISTINCT a.id, b.id, jaccard(a.sig, b.sig) FROM keyed a JOIN keyed b USING (key)
        WHERE a.id < b.id AND jaccard(a.sig, b.sig) >= 0.8"""), want)
    rows = []
    for condition in ("jaccard_at_least(w.sig, i.sig, 0.8)", "jaccard(w.sig, i.sig) > 0.8",
                      "hamming(w.hash, i.hash) <= 3", "ctph_score(w.digest, i.digest) >= 70"):
        query = (
            "SELECT i.id, x.id FROM arrivals i CROSS JOIN LATERAL (SELECT id FROM w WHERE %s OFFSET 0) x" % condition)
        rows.append((condition + " is sent", plan(c, query).count(" $1::public."), 3))
        s.remote_plans()
        rows.append((condition, sorted_rows(c, query), sorted_rows(c, whole(query.replace("w.", "whole.")))))
        rows.append(
            (condition + " by the index", {("Seq Scan" in p) for shard in s.remote_plans() for p in shard}, {False}))
        query = "SELECT i.id, w.id FROM arrivals i JOIN w ON " + condition
        rows.append(("as a join: " + condition, sorted_rows(c, query), sorted_rows(c, query.replace("w", "whole"))))
    equal_all("rows of a table, looked for on the shards", rows)
    near = ("SELECT a.id, b.id, jaccard(a.sig, b.sig) FROM {0} a JOIN {0} b ON jaccard(a.sig, b.sig) >= 0.8 "
            "AND a.id < b.id")
    each = "; ".join("ALTER FOREIGN TABLE w_%d OPTIONS (%%s)" % i for i in range(3))
    # shards say that all rows are dear
    c.execute("SET enable_nestloop = off; " + each % (("ADD use_remote_estimate 'false'",) * 3))
    check("a similarity join of shards is made here", "Similarity Join" in plan(c, near.format("w")),
          plan(c, near.format("w")))
    equal("its pairs are all pairs", sorted_rows(c, near.format("w")), want)
    sent = plan(c, near.format("w_0"))
    check("a similarity join of one shard is sent", "Similarity Join" not in sent and "INNER JOIN" in sent, sent)
    equal("its pairs are those of the shard", sorted_rows(c, near.format("w_0")), sorted_rows(c, parts[0]))
    c.execute("RESET enable_nestloop; " + each % (("DROP use_remote_estimate",) * 3))


def estimates(s):
    """Where a shard's planner was asked, the local one does not know better; also beside tables with lsh indexes of
    their own."""
    c = s.conn
    c.execute("ANALYZE w")
    known = one(c, "SELECT count(*) FROM pg_stats WHERE tablename IN ('w', 'w_0', 'w_1', 'w_2') "
                   "AND attname IN ('sig', 'hash', 'digest')")
    equal("ANALYZE takes statistics of foreign signatures", known, 12)
    c.execute("CREATE INDEX arrivals_sig ON arrivals USING lsh (sig)")
    # fetching all is dear
    c.execute(
        "SET cpu_operator_cost = 1; SET cpu_tuple_cost = 1; SET enable_material = off; SET neardup.enable_join = off")
    query = "SELECT i.id, w.id FROM arrivals i JOIN w_0 w ON jaccard(w.sig, i.sig) >= 0.8"

    def foreign_rows():
        lines = plan(c, query, "VERBOSE").splitlines()
        return [re.search(r"rows=(\d+)", x).group(1) for x in lines if "Foreign Scan" in x], " ".join(lines)
    rows, text = foreign_rows()
    check("a foreign scan with a join's parameter", "$1::public.minhash" in text, text)
    c.execute("SET neardup.derive_conditions = off")
    equal("the remote estimate of its rows stays", rows, foreign_rows()[0])
    c.execute("RESET neardup.derive_conditions; RESET cpu_operator_cost; RESET cpu_tuple_cost; RESET enable_material; "
              "RESET neardup.enable_join")
    equal("with the right answer", sorted_rows(c, query),
          sorted_rows(c, "SELECT i.id, w.id FROM arrivals i JOIN whole w ON jaccard(w.sig, i.sig) >= 0.8 "
                     "WHERE w.id IN (SELECT id FROM w_0)"))


def make_mixed(s):
    """A partition that lies here, with an index, beside foreign ones; the same rows in one table without indexes."""
    c = s.conn
    c.execute("""CREATE TABLE m (LIKE whole) PARTITION BY RANGE (id);
        CREATE TABLE m_here PARTITION OF m FOR VALUES FROM (%d) TO (MAXVALUE);
        CREATE INDEX ON m_here USING lsh (sig); CREATE INDEX ON m_here USING lsh (hash)""" % (ROWS // 2))
    with Shards.app(s.shards[0]) as conn:
        conn.execute("CREATE TABLE m_old (LIKE w); ALTER TABLE m_old ALTER body SET STORAGE PLAIN; "
                     "CREATE INDEX ON m_old USING lsh (sig); CREATE INDEX ON m_old USING lsh (hash)")
    c.execute("CREATE FOREIGN TABLE m_old PARTITION OF m FOR VALUES FROM (MINVALUE) TO (%d) SERVER s0" % (ROWS // 2))
    c.execute("INSERT INTO m SELECT * FROM whole; ANALYZE m; CREATE TABLE m_whole AS TABLE whole")


def mixed(s):
    """Queries of partitions here and there."""
    c = s.conn
    rows = []
    for condition in ("jaccard(sig, Q) >= 0.8", "hamming(hash, H) <= 3", "sig % Q",
                      "jaccard(sig, Q) >= 0.8 OR id = %d" % (ROWS - 1)):
        for q in ("SELECT id FROM m WHERE %s", "UPDATE m SET family = family WHERE %s RETURNING id"):
            query = expand(q % condition, s.values)
            rows.append((query[:60], sorted_rows(c, query), sorted_rows(c, query.replace(" m ", " m_whole "))))
    for condition in ("jaccard(m.sig, i.sig) >= 0.8", "hamming(m.hash, i.hash) <= 2"):
        query = "SELECT i.id, m.id FROM arrivals i JOIN m ON " + condition
        for settings in ("", "enable_hashjoin = off; SET enable_material = off; SET cpu_operator_cost = 1"):
            c.execute("SET " + settings if settings else "SELECT")
            plain = query.replace("m.", "m_whole.").replace(" m ", " m_whole ")
            rows.append((condition, sorted_rows(c, query), sorted_rows(c, plain)))
        c.execute("RESET ALL")
    equal_all("partitions here and there", rows)
    c.execute("CREATE INDEX m_digest ON m USING lsh (digest)")
    made = c.execute(
        "SELECT relid::regclass::text FROM pg_partition_tree('m_digest') WHERE isleaf AND level > 0").fetchall()
    equal("an index of the parent passes foreign partitions over", made, [("m_here_digest_idx",)])
    found = plan(c, expand("SELECT id FROM m WHERE jaccard(sig, Q) >= 0.8", s.values))
    check("index here, remote SQL there",
          "m_here_sig_idx" in found and "Remote SQL" in found and "public.jaccard(sig" in found, found)


def changes(s):
    """UPDATE and DELETE with our conditions are sent; the shards' indexes stay sound."""
    c = s.conn
    for what in ("UPDATE w SET items = items || 7 WHERE jaccard(sig, Q) >= 0.8",
                 "UPDATE w SET sig = minhash_union(sig, Q) WHERE hamming(hash, H) <= 3",
                 "DELETE FROM w WHERE ctph_score(digest, C) >= 90"):
        what = expand(what, s.values)
        found = plan(c, what)
        verb = what.split()[0].title()
        n = c.execute(what).rowcount
        check("%s with a condition of ours is sent" % what[:30],
              found.count("->  Foreign %s on" % verb) == 3 and n > 0 and n == c.execute(whole(what)).rowcount, found)
    c.execute("UPDATE w SET id = id + 1000000 WHERE id % 100 = 3 AND family < 0; INSERT INTO w SELECT * FROM whole "
              "WHERE false")
    equal("rows after changes", sorted_rows(c, "SELECT * FROM w"), sorted_rows(c, "SELECT * FROM whole"))
    errors = []
    for shard in s.shards:
        with Shards.app(shard) as conn:
            errors += [unsound(conn, i) for i in ("w_sig", "w_hash", "w_digest", "w_items", "w_query", "w_body")]
    equal("indexes of the shards are sound", [e for e in errors if e], [])


def guard(s):
    """A trigger of the coordinator's table searches all shards, and what the same statement has sent to them."""
    c = s.conn
    c.execute(
        "CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON w FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.9')")
    put = (
        "INSERT INTO w (id, sig) SELECT i, to_minhash('a text of nobody else about %s') FROM generate_series(%d, %d) i")
    refused = dict(text='violates guard "guard"', state="23P01")
    fails("neardup_guard: copies in one statement", c, put % ("this", 2000001, 2000003), **refused)
    for i in range(9):
        c.execute(put % ("text number %d of a few" % (i * 1000003), 2000010 + i, 2000010 + i))
    for i in range(12):
        again = put % ("text number %d of a few" % (i % 9 * 1000003), 2000030 + i, 2000030 + i)
        fails("neardup_guard: a copy of a row of another statement, %d" % i, c, again, **refused)
    there = c.execute("SELECT DISTINCT tableoid FROM w WHERE id BETWEEN 2000010 AND 2000018").fetchall()
    check("neardup_guard: on several shards", len(there) > 1, there)
    fails("neardup_guard: an UPDATE to a copy", c,
          "UPDATE w SET sig = to_minhash('a text of nobody else about text number 0 of a few') WHERE id = 2000012",
          **refused)
    counts, each = {"in": 0, "refused": 0, "other errors": 0}, 200 if FULL else 40

    def insert(seed):
        rng = random.Random(seed)
        with s.shards[0].connect("hub") as conn:
            for i in range(3000000 + 1000 * seed, 3000000 + 1000 * seed + each):
                e = sql_error(conn, put % ("family %d of those at once" % (rng.randrange(30) * 1000003), i, i))
                counts["in" if e is None else "refused" if e.sqlstate == "23P01" else "other errors"] += 1
    threads = [Thread(target=insert, args=(seed,)) for seed in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    families = one(c, "SELECT count(DISTINCT sig::text) FROM w WHERE id >= 3000000")
    check("neardup_guard: writers at once, a row of each family",
          20 < families == counts["in"] and counts["refused"] == 3 * each - families, "%s %s" % (families, counts))
    c.execute("DROP TRIGGER guard ON w; DELETE FROM w WHERE id >= 2000000")


# Jobs ----------------------------------------------------------------------------------------------------------------

def jobs(s):
    """A row of a foreign table may come to lie where it lay before with another document: a job has to look at
    documents."""
    c = s.conn
    c.execute("SELECT create_duplicates('dups', 'm', 'id', 'body')")

    def same(name):
        c.execute("CALL refresh_duplicates('dups')")
        equal("a job over partitions here and there: " + name, table(c, "dups"),
              from_scratch(c, "'body'", source="m"))

    def write_again(body):
        with Shards.app(s.shards[0]) as shard:
            shard.execute("CREATE TABLE kept AS SELECT * FROM m_old; TRUNCATE m_old; "
                          "INSERT INTO m_old SELECT id, family, %s, sig, hash, digest, items FROM kept "
                          "ORDER BY id; DROP TABLE kept" % body)
            return sorted_rows(shard, "SELECT ctid, id FROM m_old")
    places = write_again("body")
    same("first")
    equal("rows lie where they lay",
          write_again("CASE WHEN id % 100 = 7 THEN translate(body, '0123456789', '1234567890') ELSE body END"), places)
    same("after other documents came to lie in old places")
    c.execute("ALTER TABLE m DETACH PARTITION m_old")
    same("a partition detached")
    c.execute("ALTER TABLE m ATTACH PARTITION m_old FOR VALUES FROM (MINVALUE) TO (%d)" % (ROWS // 2))
    same("and attached again")
    c.execute("SELECT drop_duplicates('dups')")


# Failures ------------------------------------------------------------------------------------------------------------

def failure(s):
    """A shard goes away with a connection open, and comes back."""
    c = s.conn
    query = expand("SELECT id FROM w WHERE jaccard(sig, Q) >= 0.8", s.values)
    want = sorted_rows(c, query)
    here = one(c, "SELECT id FROM w_0 ORDER BY id LIMIT 1")
    s.shards[1].stop()
    e = sql_error(c, query)
    check("a shard has gone: PostgreSQL's own error", e is not None and e.sqlstate in ("08001", "08006", "57P01"),
          e and "%s %s" % (e.sqlstate, e))
    fails("a shard is away", c, query, text='could not connect to server "s1"', state="08001")
    fails("a shard is away: changes", c, "UPDATE w SET family = 0 WHERE " + expand("jaccard(sig, Q) >= 0.8", s.values),
          text='could not connect to server "s1"', state="08001")
    fails("a shard is away: pairs", c, "SELECT count(*) FROM all_pairs('SELECT id, sig FROM w', 0.8)",
          text='could not connect to server "s1"', state="08001")
    equal("the others work on", one(c, "SELECT count(*) FROM w WHERE id = %d AND jaccard(sig, sig) >= 0" % here), 1)
    check("one shard by its name", one(c, "SELECT count(*) FROM w_2") > 0)
    s.shards[1].start()
    equal("it is back", sorted_rows(c, query), want)
    s.shards[1].kill()
    s.shards[1].start()
    equal("killed and back: the connection is made anew", sorted_rows(c, query), want)


def broken_shards(s):
    """Databases of the first shard that are not what the coordinator takes them for."""
    c = s.conn
    for name, statements in {
            "without": "CREATE TABLE t (id bigint, sig text)",
            "elsewhere":
                "CREATE SCHEMA nd; CREATE EXTENSION neardup SCHEMA nd; SET search_path = nd, public; "
                "CREATE TABLE public.t (id bigint, sig minhash); INSERT INTO public.t SELECT 1, to_minhash('a b c')",
            "others":
                "CREATE EXTENSION neardup; CREATE TABLE t (id bigint, sig minhash); "
                "INSERT INTO t SELECT i, to_minhash('a b c ' || i, 3, 'word', 64) "
                "FROM generate_series(1, 300) i; CREATE INDEX ON t USING lsh (sig); ANALYZE t",
            "narrow": "CREATE EXTENSION neardup; CREATE TABLE t (id bigint, sig minhash(64))"}.items():
        with s.shards[0].connect() as conn:
            conn.execute("CREATE DATABASE " + name)
        with s.shards[0].connect(name) as conn:
            conn.execute(statements)
        c.execute("CREATE SERVER {0} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{1}', port '5432', dbname '{0}', "
                  "extensions 'neardup');CREATE USER MAPPING FOR CURRENT_USER SERVER {0} OPTIONS "
                  "(user 'postgres');CREATE FOREIGN TABLE t_{0} (id bigint, sig minhash) SERVER {0} OPTIONS "
                  "(table_name 't')".format(name, s.shards[0].folder))
    question = "SELECT id FROM t_%s WHERE jaccard(sig, to_minhash('a b c')) >= 0.8"
    fails("a shard without the extension", c, question % "without", text='type "public.minhash" does not exist',
          state="42704")
    fails("a shard with the extension in another schema", c, question % "elsewhere",
          text='type "public.minhash" does not exist', state="42704")
    equal("whose rows can be fetched all the same",
          one(c, "SELECT count(*) FROM t_elsewhere WHERE sig::text = to_minhash('a b c')::text"), 1)
    fails("a shard with other signatures", c, question % "others", text="cannot compare signatures made differently")
    fails("a column of other parameters", c, "INSERT INTO t_narrow SELECT 1, to_minhash('a b c')",
          text="signature of 128 components does not fit minhash(64)", state="22000")
    fails("an index of other parameters", c, "INSERT INTO t_others SELECT 1, to_minhash('a b c')",
          text="signature was not made like those of the index", state="42804")


def transfer(s):
    """COPY between servers in both forms, of everything that the types can hold."""
    c = s.conn
    c.execute("""CREATE TABLE kinds AS SELECT i AS id, x.sig, s.hash, d.digest,
          CASE WHEN i % 2 = 0 THEN with_threshold(coalesce(x.sig, to_minhash('a')), 0.9) END AS query
      FROM generate_series(1, 60) i,
        LATERAL (SELECT CASE i % 12 WHEN 0 THEN NULL WHEN 1 THEN to_minhash('') WHEN 2 THEN to_minhash('a b c ' || i, 2,
          'char', 64, 8, -5)
          WHEN 3 THEN to_minhash('x'::bytea, 4, 256, 16) WHEN 4 THEN set_minhash(ARRAY[i, 2, 3]::bigint[])
          WHEN 5 THEN weighted_minhash(ARRAY['a', 'b'], ARRAY[1, i])
          WHEN 6 THEN minhash_import(array(SELECT e * i FROM generate_series(1::bigint, 32) e)) WHEN 7
            THEN to_minhash('a ' || i, num_perm => 4096)
          ELSE to_minhash('the text of ' || i) END AS sig) x,
        LATERAL (SELECT CASE WHEN i % 7 > 0 THEN to_simhash('text number ' || i) END AS hash) s,
        LATERAL (SELECT CASE i % 3 WHEN 0 THEN to_ctph(repeat(md5(i::text), i)) WHEN 1
          THEN ctph_long(repeat(md5(i::text), 20), 256)
          ELSE to_ctph('') END AS digest) d""")
    for how in ("TEXT", "BINARY"):
        with Shards.app(s.shards[2]) as conn, conn.cursor() as into, c.cursor() as out:
            conn.execute("CREATE TABLE kinds (id int, sig minhash, hash simhash, digest ctph, query lsh_query)")
            with out.copy("COPY kinds TO STDOUT (FORMAT %s)" % how) as source, into.copy(
                    "COPY kinds FROM STDIN (FORMAT %s)" % how) as target:
                for block in source:
                    target.write(block)
            got = sorted_rows(
                conn, "SELECT k, neardup_internal.minhash_send(sig), query = with_threshold(sig, 0.9) FROM kinds k")
            equal("COPY from server to server, " + how.lower(), got, sorted_rows(
                c, "SELECT k, neardup_internal.minhash_send(sig), query = with_threshold(sig, 0.9) FROM kinds k"))
            conn.execute("DROP TABLE kinds")


def main():
    with contextlib.ExitStack() as stack:
        s = Shards(stack)
        if not one(s.conn, "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") or sql_error(
                s.conn, "LOAD 'auto_explain'"):
            return skip("postgres_fdw and auto_explain are not installed (contrib)")
        page(s)  # which makes the extensions that the others need
        setup(s)
        make_mixed(s)
        sections((pushed_down, s, False), (aggregates, s), (ordered, s))
        for i in range(3):
            s.conn.execute("ALTER SERVER s%d OPTIONS (ADD use_remote_estimate 'true')" % i)
        sections((pushed_down, s, True), (not_sent, s), (parameters, s), (joins, s), (estimates, s), (mixed, s),
                 (jobs, s), (transfer, s))
        sections((changes, s), (guard, s), (failure, s), (broken_shards, s))  # rows that the others look for may go
        s.conn.close()
        alarms = [line for server in s.shards for line in server.alarms()]
        equal("no alarms in the servers' logs", alarms, [])


finish(main)
