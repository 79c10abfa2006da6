#!/usr/bin/python3
"""Every SQL function called with values drawn at random, some of them absurd: a result or an error that says what is
wrong, never an internal error or a crash of the server. Each run draws other values; NEARDUP_SEED repeats a run."""
import random

from harness import *

SEED = int(os.environ.get("NEARDUP_SEED") or random.randrange(1 << 30))
rng = random.Random(SEED)

TEXTS = ("", " ", "a", "the quick brown fox jumps over the lazy dog", "x" * 3000, "ab " * 5000,
         "Привіт світ, як справи?", "你好世界 " * 50, "\u0301\u0301", "\U0001F600" * 40, "a\nb\tc", "%s%n", "*",
         "docs.*", "(", "NaN", "-1", "docs", "public.docs", "by_sig", "sig", "body", "id", "select 1", "select",
         "select null::int, null::minhash", "select id, body from docs", "select id, sig from docs",
         "select id, sim from docs", "select id, dig from docs", "select id, sig, body as doc, at from docs", "word",
         "character", "byte", "utf8", "GBK", "anchor", "connected", "jaccard", "edit_rate", "all", "star", "none",
         "english", "minhash", "job1", "model1", "lexicon1", "a" * 70000)
INTEGERS = (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255, 256, 1000, 1024, 4096, 4097,
            65535, 65536, 1000000, 2147483647, -1, -2, -2147483648)
BIGINTS = INTEGERS + (2 ** 63 - 1, -2 ** 63, 2 ** 61 - 1)
FLOATS = ("0", "1", "0.5", "0.8", "0.75", "1e-300", "-0.0", "-1", "1.0000001", "2", "100", "'NaN'", "'Infinity'",
          "'-Infinity'", "1e308", "5e-324")
RELATIONS = ("docs", "docs_pkey", "by_sig", "by_sim", "by_dig", "lexicon1", "model1", "seen", "pg_class")
# A server's own matters: who may call them is checked elsewhere, and these arguments cannot be written.
UNWRITABLE = {"internal", "cstring", "trigger", "event_trigger", "index_am_handler"}

# Calls as they are meant, of which one or two arguments are drawn at random. %d: one of a few numbers.
CALLS = (
    ("SELECT * FROM all_pairs({}, {}, identical => {})",
     (("text", "'select id, sig from docs'"), ("double precision", "0.8"), ("text", "'all'"))),
    ("SELECT * FROM all_pairs({}, {})", (("text", "'select id, sim from docs'"), ("double precision", "0.9"))),
    ("SELECT * FROM all_pairs({}, {})", (("text", "'select id, dig from docs'"), ("double precision", "0.8"))),
    ("SELECT * FROM all_pairs({}, {}, verify => {}, verify_threshold => {})",
     (("text", "'select id, sig, body as doc from docs'"), ("double precision", "0.8"), ("text", "'jaccard'"),
      ("double precision", "0.8"))),
    ("SELECT * FROM all_pairs({}, {}, at_most_apart => {})",
     (("text", "'select id, sig, at from docs'"), ("double precision", "0.8"), ("interval", "'1 day'"))),
    ("SELECT * FROM all_clusters({}, {}, {}, at_most_apart => {})",
     (("text", "'select id, sig, at from docs'"), ("double precision", "0.8"), ("text", "'connected'"),
      ("interval", "'3 h'"))),
    ("SELECT * FROM all_clusters({}, {}, {})",
     (("text", "'select id, sig from docs'"), ("double precision", "0.8"), ("text", "'connected'"))),
    ("SELECT * FROM pairs_between({}, {}, {})",
     (("text", "'select id, sig from docs where id < 90'"), ("text", "'select id, sig from docs where id > 80'"),
      ("double precision", "0.8"))),
    ("SELECT * FROM cluster_bridges({}, {})", (("text", "'select id, sig from docs'"), ("double precision", "0.8"))),
    ("SELECT create_duplicates({}, {}, 'id', {}, threshold => {}, linkage => {}, keep => {}, order_by => {}, "
         "filter => {})",
     (("text", "'job%d'"), ("regclass", "'docs'"), ("name", "'body'"), ("double precision", "0.8"),
      ("text", "'anchor'"), ("text", "'oldest'"), ("text", "'id'"), ("text", "'id > 0'"))),
    ("SELECT create_duplicates({}, {}, 'id', signature => {}, threshold => {}, within => {}, at => {}, at_most_apart "
         "=> {}, deleted => {})",
     (("text", "'job%d'"), ("regclass", "'docs'"), ("name", "'sig'"), ("double precision", "0.8"), ("name[]", "'{}'"),
      ("name", "'at'"), ("interval", "'1 day'"), ("text", "'id < 0'"))),
    ("SELECT create_duplicates({}, {}, 'id', {}, threshold => {}, profile => {}, verify => {}, measure => {})",
     (("text", "'job%d'"), ("regclass", "'docs'"), ("name", "'body'"), ("double precision", "0.8"), ("text", "'code'"),
      ("text", "NULL"), ("text", "'containment'"))),
    ("SELECT alter_duplicates({}, measure => {})", (("text", "'job%d'"), ("text", "'containment'"))),
    ("SELECT * FROM all_clusters({}, {}, {}, measure => {})",
     (("text", "'select id, winnow_hashes(body) from docs'"), ("double precision", "0.8"), ("text", "'anchor'"),
      ("text", "'containment'"))),
    ("SELECT * FROM cluster_bridges({}, {}, measure => {})",
     (("text", "'select id, winnow_hashes(body) from docs'"), ("double precision", "0.8"), ("text", "'containment'"))),
    ("CALL refresh_duplicates({}, {})", (("text", "'job%d'"), ("integer", "50"))),
    ("SELECT alter_duplicates({}, threshold => {})", (("text", "'job%d'"), ("double precision", "0.7"))),
    ("SELECT rename_duplicates({}, {})", (("text", "'job%d'"), ("text", "'job%d'"))),
    ("SELECT drop_duplicates({})", (("text", "'job%d'"),)),
    ("SELECT * FROM neardup_suggest({})", (("text", "'select id, body from docs'"),)),
    ("SELECT * FROM neardup_suggest_examples({})", (("text", "'select id, body from docs'"),)),
    ("DELETE FROM docs WHERE id = {}", (("integer", "5"),)),
    ("INSERT INTO docs (id, body, sig) VALUES (200 + (random() * 1000)::int, {}, {}) ON CONFLICT (id) DO UPDATE "
         "SET sig = excluded.sig",
     (("text", "'a b c d'"), ("minhash", "to_minhash('a b c d')"))),
    ("UPDATE docs SET body = {}, sig = {}, sim = {}, dig = {} WHERE id = 7",
     (("text", "'a b c d'"), ("minhash", "to_minhash('a b c d')"), ("simhash", "to_simhash('a')"),
      ("ctph", "to_ctph('a')"))),
    ("SELECT id FROM docs WHERE jaccard(sig, {}) > {} ORDER BY sig <%> {} LIMIT 3",
     (("minhash", "(SELECT sig FROM docs WHERE id = 3)"), ("double precision", "0.8"),
      ("minhash", "(SELECT sig FROM docs WHERE id = 3)"))),
    ("SELECT id FROM docs WHERE hamming(sim, {}) <= {}",
     (("simhash", "(SELECT sim FROM docs WHERE id = 3)"), ("integer", "3"))),
    ("SELECT id FROM docs WHERE ctph_edit_rate(dig, {}) <= {}",
     (("ctph", "(SELECT dig FROM docs WHERE id = 3)"), ("double precision", "0.2"))),
    ("SELECT id FROM docs WHERE ctph_score(dig, {}) >= {}",
     (("ctph", "(SELECT dig FROM docs WHERE id = 3)"), ("integer", "80"))),
    ("SELECT id FROM docs WHERE sig %> {}",
     (("lsh_query", "with_threshold((SELECT sig FROM docs WHERE id = 3), 0.8)"),)),
    ("SELECT * FROM word_similarities({}, vocabulary => {}, k => {}, \"window\" => {}, features => {})",
     (("text", "'select body from docs'"), ("integer", "50"), ("integer", "5"), ("integer", "3"), ("integer", "40"))),
    ("CALL create_word_model({}, {}, vocabulary => {})",
     (("text", "'model%d'"), ("text", "'select body from docs'"), ("integer", "50"))),
    ("SELECT drop_word_model({})", (("text", "'model%d'"),)),
    ("SELECT * FROM similar_words({}, {}, {})", (("regclass", "'seen'"), ("text", "'w3'"), ("integer", "5"))),
    ("SELECT expand_query({}, {}, {})", (("regclass", "'seen'"), ("text", "'w3 w5'"), ("integer", "5"))),
    ("SELECT create_lexicon({}, {})", (("text", "'lexicon%d'"), ("text", "'select body from docs'"))),
    ("SELECT i_match({}, {}, {}, {})",
     (("text", "'w3 w4 w5'"), ("regclass", "'lexicon1'"), ("double precision", "0.2"), ("double precision", "0.8"))),
    ("SELECT lsh_info({}), lsh_check({}, true)", (("regclass", "'by_sig'"), ("regclass", "'by_sig'"))),
    ("SELECT * FROM explain_pair({}, {}, {}, {})",
     (("regclass", "'by_sig'"), ("minhash", "(SELECT sig FROM docs WHERE id = 3)"),
      ("minhash", "(SELECT sig FROM docs WHERE id = 9)"), ("double precision", "0.8"))),
    ("SELECT cluster_connected({}, {}) OVER () FROM docs", (("minhash", "sig"), ("double precision", "0.8"))),
    ("VACUUM docs", ()), ("ANALYZE docs", ()),
)


def quoted(text):
    return "E'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def some_text():
    if rng.random() < 0.85:
        return quoted(rng.choice(TEXTS))
    return quoted("".join(rng.choice("abc de\u00e9\u4e2d\n0_-.\u0301") for _ in range(rng.randrange(400))))


def row_of_docs(column):
    return "(SELECT %s FROM docs WHERE %s IS NOT NULL ORDER BY id LIMIT 1 OFFSET %d)" % (
        column, column, rng.randrange(50))


def value(kind):
    """An expression of the type: mostly sound, sometimes at a border, sometimes NULL."""
    if rng.random() < 0.06:
        return "NULL::" + kind
    if kind.endswith("[]"):
        element = kind[:-2]
        if rng.random() < 0.05 and element != "neardup_rule":
            return "ARRAY[ARRAY[%s], ARRAY[%s]]::%s" % (value(element), value(element), kind)
        return "ARRAY[%s]::%s" % (", ".join(value(element) for _ in range(rng.choice((0, 0, 1, 2, 3, 5, 20)))), kind)
    if kind in ("text", "name", "character varying"):
        return "%s::%s" % (some_text(), kind)
    if kind == "integer":
        return "(%d)" % rng.choice(INTEGERS)
    if kind == "smallint":
        return "(%d)::smallint" % (rng.choice(INTEGERS) % 32768)
    if kind == "bigint":
        return "(%d)::bigint" % rng.choice(BIGINTS)
    if kind in ("double precision", "real", "numeric"):
        return "%s::%s" % (rng.choice(FLOATS if kind == "double precision" else FLOATS[:5] + FLOATS[7:12]), kind)
    if kind == "bytea":
        return rng.choice(
            ("'\\x'::bytea", "decode(repeat('00', 1000), 'hex')", "convert_to(%s, 'utf8')" % some_text(),
             "sha512('%d')" % rng.randrange(99), "neardup_internal.minhash_send(%s)" % row_of_docs("sig")))
    if kind == "minhash":
        return rng.choice(
            (row_of_docs("sig"), row_of_docs("sig"), "to_minhash('')",
             "to_minhash('abc def ghi', 2, 'character', 64, 8, 7)", "to_minhash('a b c d e', 3, 'word', 4096, 16, -5)"))
    if kind == "simhash":
        return rng.choice((row_of_docs("sim"), "neardup_internal.simhash_from_bigint(0)",
                           "neardup_internal.simhash_from_bigint(-1)", "to_simhash(%s)" % some_text()))
    if kind == "ctph":
        return rng.choice(
            (row_of_docs("dig"), "'3::'::ctph", "to_ctph(%s)" % some_text(), "ctph_long(%s, 256)" % some_text()))
    if kind == "lsh_query":
        return rng.choice(("with_threshold(%s, 0.8)" % value("minhash"),
                           "neardup_internal.lsh_query_bound(%s, %s)" % (value("minhash"), rng.choice(FLOATS)),
                           "neardup_internal.lsh_hamming_query(%s, 3)" % value("simhash"),
                           "neardup_internal.lsh_rate_query(%s, 0.2)" % value("ctph"),
                           "neardup_internal.lsh_set_query(ARRAY[1, 2, 3]::bigint[], 0.5)"))
    choices = {"regclass": RELATIONS, "regdictionary": ("english_stem", "simple"),
               "regtype": ("text", "int", "minhash"),
               "interval": ("1 day", "-1 day", "0", "1 month", "178000000 years", "5 s"), "boolean": ("true", "false"),
               "bit": ("1", "101", "")}
    if kind in choices:
        return "'%s'::%s" % (rng.choice(choices[kind]), kind if kind != "bit" else "bit(64)")
    if kind == "anyelement":
        return rng.choice(("NULL::bigint", "NULL::text", "1", "now()", "'a'::text", "row(1, 2)"))
    return "NULL::" + kind


def drawn_call(functions):
    name, kind, returns_set, types, defaults = rng.choice(functions)
    given = types[:len(types) - rng.randrange(defaults + 1)]
    call = "%s(%s)" % (name, ", ".join(value(t) for t in given))
    if kind == "p":
        return "CALL " + call
    if kind == "w":
        return "SELECT %s OVER (ORDER BY id) FROM (SELECT * FROM docs LIMIT 30) s" % call
    if kind == "a":
        return "SELECT %s FROM generate_series(1, %d)" % (call, rng.choice((0, 1, 2, 50)))
    return "SELECT * FROM %s LIMIT %d" % (call, rng.choice((1, 1000))) if returns_set else "SELECT %s" % call


def meant_call():
    template, arguments = rng.choice(CALLS)
    drawn = set(rng.sample(range(len(arguments)), min(len(arguments), rng.choice((0, 1, 1, 2)))))
    return template.format(*(value(kind) if i in drawn else good.replace("%d", str(rng.randrange(4)))
                             for i, (kind, good) in enumerate(arguments)))


class Caller:
    """Runs calls; remembers how they ended."""

    def __init__(self, name):
        self.name = name
        self.conn = self.open()
        self.ends = {}
        self.bad = []

    def open(self):
        conn = connect(self.name)
        conn.execute("SET statement_timeout = '4s'; SET client_min_messages = error; SET work_mem = '4MB'")
        return conn

    def run(self, call):
        try:
            cursor = self.conn.execute(call.encode())
            if cursor.description:
                cursor.fetchall()
            end = "ok"
        except psycopg.Error as e:
            end = e.sqlstate or "lost"
            if end in ("XX000", "XX002", "lost", "53200") or end[:3] == "57P":
                self.bad.append("%s %.100s: %.300s" % (end, e, call))
        self.ends[end] = self.ends.get(end, 0) + 1
        if self.conn.closed:
            self.conn = reconnect(self.open)

    def tell(self, what):
        calls = sum(self.ends.values())
        check("%d %s end in an answer (%d) or in an error that says what is wrong (seed %d)" % (
                  calls, what, self.ends.get("ok", 0), SEED),
              self.ends.get("ok", 0) > calls / 4 and not self.bad, "%s; %s" % (self.ends, self.bad[:3]))
        self.ends, self.bad = {}, []


def reconnect(open_connection):
    """After the server has ended its processes and started anew."""
    for attempt in range(60):
        try:
            return open_connection()
        except psycopg.Error:
            time.sleep(1)
    raise RuntimeError("the server does not come back")


def make_docs(conn):
    conn.execute(
        "CREATE TABLE docs (id bigint PRIMARY KEY, body text, sig minhash, sim simhash, dig ctph, at timestamptz)")
    conn.execute("""INSERT INTO docs SELECT i, body, to_minhash(body), to_simhash(body), to_ctph(body), now() + i *
        interval '1 hour'
        FROM (SELECT i, (SELECT string_agg('w' || (i / 5 * 7 + j * j + CASE WHEN j % 9 = 0 THEN i ELSE 0 END) % 97, ' ')
          FROM generate_series(1, 80) j) body
              FROM generate_series(1, 200) i) d""")
    for index, column in (("by_sig", "sig"), ("by_sim", "sim"), ("by_dig", "dig")):
        conn.execute("CREATE INDEX %s ON docs USING lsh (%s)" % (index, column))
    conn.execute("SELECT create_lexicon('lexicon1', 'SELECT body FROM docs')")
    conn.execute("CALL create_word_model('seen', 'SELECT body FROM docs', vocabulary => 50)")


def extension_functions(conn):
    """(name, kind, returns a set, types, arguments that may be left out)"""
    rows = conn.execute("""
        SELECT format('%I.%I', nspname, proname), prokind::text, proretset,
               ARRAY(SELECT format_type(t, NULL) FROM unnest(proargtypes) WITH ORDINALITY u(t, n)
                 ORDER BY n), pronargdefaults
        FROM """ + OUR_FUNCTIONS + """ JOIN pg_namespace n ON n.oid = pronamespace ORDER BY p.oid""").fetchall()
    return [f for f in rows if not UNWRITABLE & set(f[3])]


def main():
    print("note: NEARDUP_SEED=%d" % SEED, flush=True)
    with database() as name:
        with connect(name) as conn:
            make_docs(conn)
            functions = extension_functions(conn)
        check("functions to call: %d" % len(functions), len(functions) > 150)
        caller = Caller(name)
        for _ in range(200000 if FULL else 10000):
            caller.run(drawn_call(functions))
        caller.tell("calls with drawn values")
        for _ in range(20000 if FULL else 1200):
            caller.run(meant_call())
        caller.tell("calls of which one or two values are drawn")
        conn = caller.conn
        conn.execute("SET statement_timeout = 0")
        indexes = [r[0] for r in conn.execute(
            "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE amname = 'lsh'")]
        for index in indexes:
            conn.execute("SELECT lsh_check(%s::regclass, true)", (index,))
        check("indexes are whole afterwards: %d" % len(indexes), len(indexes) >= 3)
        conn.close()


finish(main)
