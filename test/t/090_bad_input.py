#!/usr/bin/python3
"""Bad input that pg_regress does not cover: mutated literals, errors inside queries, rights, memory over many
errors."""
import random

from harness import *
import oracle as o

DOC = "the quick brown fox jumps over the lazy dog"


def literals(conn):
    """Each mutation of a text form is refused, or is a whole value that its printed form gives back."""
    rng = random.Random(4)
    alphabet = "mh1:wordcharbyteximportsettext0123456789-_AZaz=+/ \n\\é"
    forms = [o.to_minhash(DOC, L=16), o.to_minhash(""), o.to_minhash(DOC, 5, "char", 25, 8, -1),
             o.set_minhash(["a"], 16, 16), o.set_minhash([1], 17)]
    mutations = ["", ":", "mh1", "mh1:", "mh2:word3:128x32:s0:t1:empty", "mh1:word3:128x32:s0:t1",
                 "MH1:word3:128x32:s0:t1:empty", "mh1:word3:128x32:s0:t1:empty ", " mh1:word3:128x32:s0:t1:empty",
                 "mh1:word3:128x32:s0:t2:empty", "mh1:char3:128x32:s0:t1:empty", "mh1:word0:128x32:s0:t1:empty",
                 "mh1:word65:128x32:s0:t1:empty", "mh1:word03:128x32:s0:t1:empty", "mh1:word3:15x32:s0:t1:empty",
                 "mh1:word3:4097x32:s0:t1:empty", "mh1:word3:128x64:s0:t1:empty",
                 "mh1:word3:128x32:s9223372036854775808:t1:empty", "mh1:word3:128x32:s-9223372036854775809:t1:empty",
                 "mh1:word3:128x32:s:t1:empty", "mh1:word3:128x32:s-0:t1:empty", "mh1:word3:128x32:s+1:t1:empty",
                 "mh1:word99999999999999999999:128x32:s0:t1:empty", "mh1:word3:128x32:s0:t1:EMPTY",
                 "mh1:word3:16x32:s0:t1:" + "A" * 1000000, "mh1:" + "word" * 100000]
    for form in forms:
        mutations += [form[:n] for n in range(len(form))]
        for position in range(len(form)):
            c = rng.choice(alphabet)
            mutations += [form[:position] + c + form[position + 1:], form[:position] + form[position + 1:],
                          form[:position] + c + form[position:]]
        mutations += [form + x for x in ("=", "A", "AAAA", " ", "\n", ":")]
    refused, bad = 0, []
    for m in mutations:
        e = sql_error(conn, "SELECT %s::minhash::text", (m,))
        if e is None:
            got = one(conn, "SELECT %s::minhash::text", (m,))
            if one(conn, "SELECT %s::minhash = %s::minhash AND %s::minhash::text = %s", (m, got, got, got)) is not True:
                bad.append("%.60r reads as %.60r" % (m, got))
            conn.execute(
                "SELECT jaccard(s, s), minhash_parameters(s), minhash_components(s) FROM (SELECT %s::minhash AS s) x",
                (m,))
        else:
            refused += 1
            if e.sqlstate[:2] != "22":
                bad.append("%.60r: %s %.100s" % (m, e.sqlstate, e))
            if len(str(e)) > 2000:
                bad.append("an error of %d characters" % len(str(e)))
    check("mutated literals: %d refused of %d, the others are whole" % (refused, len(mutations)),
          refused > 100 and not bad, "%d bad: %s" % (len(bad), bad[:3]))
    equal("typmod: input", (sql_error(conn, "SELECT %s::minhash(64)", (o.to_minhash(DOC),)) or e).sqlstate[:2], "22")


def numbers(conn):
    """A value just outside a range is shown with all its digits."""
    sig = "to_minhash($$a b c d$$)"
    for call, number in (
            ("all_pairs('SELECT 1::bigint, %s', 1.0000001)" % sig, "1.0000001"),
            ("all_pairs('SELECT 1::bigint, %s', 80.1)" % sig, "80.1"),
            ("all_pairs('SELECT 1::bigint, to_minhash(''a''), ''a''::text', 0.8, verify => 'jaccard', verify_threshold "
                 "=> 1.0000001)",
             "1.0000001"),
            ("with_threshold(%s, 1.0000001)" % sig, "1.0000001"), ("with_threshold(%s, -1e-300)" % sig, "-1e-300"),
            ("explain_pair(%s, %s, 1.00000000000001)" % (sig, sig), "1.00000000000001"),
            ("explain_pair(to_simhash('a b c d'), to_simhash('a b c d'), 64.0000001)", "64.0000001"),
            ("explain_pair(to_ctph('a'::text), to_ctph('b'::text), 100.000001)", "100.000001"),
            ("explain_pair(to_ctph('a'::text), to_ctph('b'::text), 70, 1.0000001)", "1.0000001"),
            ("edit_rate('a'::text, 'b'::text, 1.0000001)", "1.0000001"),
            ("minutiae_cells('{}', 64, 0.50000001)", "0.50000001"),
            ("minutiae_cells(ARRAY[point '(1.0000001,0)'])", "(1.0000001,0)"),
            ("word_similarities('SELECT ''a''::text', discount => 0.9990001)", "0.9990001"),
            ("neardup_score_precision(1, 0.1234567, 0.1234567)", "0.1234567"),
            ("weighted_minhash(ARRAY['a'], ARRAY[1099511627776.25])", "1099511627776.25"),
            ("cluster_anchor(s, t) OVER () FROM (VALUES (%s, 0.8::float8), (%s, 0.8000001)) v(s, t)" % (sig, sig),
             "0.8 and 0.8000001")):
        e = sql_error(conn, "SELECT " + call)
        check("%.60s: %s" % (call, number), e is not None and str(e.diag.message_primary).endswith(number), e)
    fails("a percentage", conn, "SELECT all_pairs('SELECT 1::bigint, %s', 80.1)" % sig, hint="For 80.1 %, write 0.801.")
    e = sql_error(conn, "SELECT all_pairs('SELECT 1::bigint, %s', 1.0000001)" % sig)
    check("what is a little above 1 is no percentage", e is not None and e.diag.message_hint is None, e)
    conn.execute("CREATE TABLE precise (sig minhash); INSERT INTO precise VALUES (%s)" % sig)
    conn.execute(
        "CREATE INDEX precise_index ON precise USING lsh (sig) WITH (threshold = 0.8000001, recall = 0.9000001)")
    got = one(conn, "SELECT guarantee FROM lsh_info('precise_index')")
    check("the guarantee of an index", "0.8000001" in got and "0.9000001" in got, got)


def settings(name):
    """A name that is not known is told at the latest when the library is loaded."""
    with connect(name) as conn:
        heard = []
        conn.add_notice_handler(lambda n: heard.append(n.message_primary))
        conn.execute("SET neardup.jacard_threshold = 0.9")
        conn.execute("SELECT to_minhash('a')")
        check("a wrong name of a setting, before the library is loaded",
              any("neardup.jacard_threshold" in m for m in heard), heard)
        if server_version() >= 150000:
            fails("and after", conn, "SET neardup.jacard_threshold = 0.9", text="neardup.jacard_threshold")
    with connect(name) as conn:
        conn.execute("LOAD 'neardup'")
        if server_version() >= 150000:
            fails("in a session that has loaded it", conn, "SET neardup.jacard_threshold = 0.9",
                  text="neardup.jacard_threshold")
    with connect(name) as conn:
        equal("a similarity in per cent is above none",
              one(conn, "SELECT jaccard(to_minhash('a b c'), to_minhash('a b c')) >= 80"), False)
        fails("where it is an argument it is refused", conn,
              "SELECT jaccard_at_least(to_minhash('a b c'), to_minhash('a b c'), 80)", hint="write 0.8")


def queries(conn):
    calls = ("SELECT count(*) FROM all_pairs({})", "SELECT count(*) FROM all_clusters({})",
             "SELECT count(*) FROM pairs_between('TABLE t', {})")
    for query, t, state in (
            ("SELECT id + 0 / (20 - id), sig FROM t", "0.8", "22012"), ("SELECT id, sig FROM nowhere", "0.8", "42P01"),
            ("SELECT id, sig FRM t", "0.8", "42601"), ("", "0.8", None), (";", "0.8", None),
            ("TABLE t; TABLE t", "0.8", None), ("TABLE t; DROP TABLE t", "0.8", None),
            ("DELETE FROM t RETURNING id, sig", "0.8", None),
            ("WITH d AS (DELETE FROM t RETURNING *) SELECT id, sig FROM d", "0.8", None),
            ("INSERT INTO t TABLE t", "0.8", None), ("COMMIT", "0.8", None), ("SET work_mem = '1MB'", "0.8", None),
            ("COPY t TO STDOUT", "0.8", None), ("EXPLAIN TABLE t", "0.8", None), ("SELECT id FROM t", "0.8", None),
            ("SELECT sig, id FROM t", "0.8", None), ("SELECT id, sig, sig FROM t", "0.8", None),
            ("SELECT id, id FROM t", "0.8", None), ("SELECT NULL::bigint, sig FROM t", "0.8", None),
            ("SELECT 1::bigint, sig FROM t", "0.8", None),
            ("SELECT id, to_minhash('x', 1 + id::int % 2) FROM t", "0.8", None),
            ("SELECT id, sig FROM t WHERE id = $1", "0.8", None), ("SELECT $1, sig FROM t", "0.8", None),
            ("t", "0.8", None), ("SELECT id, 'x' FROM t", "0.8", None), ("TABLE t", "0", "22023"),
            ("TABLE t", "80", "22023"), ("TABLE t", "-1", "22023"), ("TABLE t", "'NaN'", "22023"),
            ("TABLE t", "'inf'", "22023"), ("TABLE t", "1.0000000000000002", "22023"),
            ("SELECT id, sig FROM t " + "-- " + "x" * 2000000, "80", "22023")):
        states = []
        for call in calls:
            e = sql_error(conn, call.format("%s, " + t), (query,))
            good = e is not None and e.sqlstate not in (None, "XX000") and (
                state is None or e.sqlstate == state) and not conn.closed
            states.append(
                (call[21:34], "as it should be" if good else "%s %s" % (getattr(e, "sqlstate", ""), e or "no error"),
                 "as it should be"))
        equal_all("refused: %.50r at %s" % (query, t), states)
    equal("nothing was deleted or dropped on the way", one(conn, "SELECT count(*) FROM t"), 40)
    for label, query, want in (("empty table", "TABLE e", 0), ("no row", "SELECT id, sig FROM t WHERE false", 0),
                               ("one row", "SELECT id, sig FROM t LIMIT 1", 0),
                               ("NULL signatures", "SELECT id, NULL::minhash FROM t", 0),
                               ("empty signatures", "SELECT id, to_minhash('') FROM t", 0),
                               ("trailing semicolon", "TABLE t;", 19), ("comment", "/* a; b */ TABLE t -- c; d", 19),
                               ("nested",
                                "SELECT id_a * 1000 + id_b, to_minhash('same') FROM all_pairs('TABLE t', 0.9)", 171)):
        e = sql_error(conn, "SELECT count(*) FROM all_pairs(%s, 0.9)", (query,))
        if label == "trailing semicolon" and e is not None:
            continue  # either way is sound
        got = e or one(conn, "SELECT count(*) FROM all_pairs(%s, 0.9)", (query,))
        equal("all_pairs of %s" % label, got, want)

    conn.execute("""CREATE FUNCTION many() RETURNS int LANGUAGE plpgsql AS $$
        DECLARE n int := 0; BEGIN
          FOR i IN 1..200 LOOP
            BEGIN PERFORM * FROM all_pairs('SELECT id + 0 / (20 - id), sig FROM t', 0.8);
              EXCEPTION WHEN division_by_zero THEN n := n + 1; END;
            BEGIN PERFORM cluster_anchor(CASE WHEN id = 20 THEN to_minhash('x', 2) ELSE sig END, 0.8) OVER (ORDER BY id)
              FROM t; EXCEPTION WHEN undefined_function THEN NULL; WHEN others THEN n := n + 1; END;
          END LOOP; RETURN n; END $$""")
    equal("errors caught in PL/pgSQL", one(conn, "SELECT many()"), 400)
    fails("threshold that changes in the partition", conn,
          "SELECT cluster_anchor(sig, 0.5 + id / 100.0) OVER (ORDER BY id) FROM t", state="22023")
    for t in ("0", "80", "'NaN'", "-0.5"):
        fails(
            "cluster_anchor threshold %s" % t, conn, "SELECT cluster_anchor(sig, %s) OVER () FROM t" % t, state="22023")
    fails("window function without OVER", conn, "SELECT cluster_anchor(sig, 0.8) FROM t", state="42809")


def rights(conn):
    conn.execute("DROP ROLE IF EXISTS t_090_reader; CREATE ROLE t_090_reader")
    try:
        conn.execute("CREATE TABLE secret AS TABLE t; "
                     "CREATE VIEW shown AS SELECT id, cluster_anchor(sig, 0.8) OVER (ORDER BY id) AS c FROM secret; "
                     "GRANT SELECT ON shown TO t_090_reader")
        conn.execute("SET ROLE t_090_reader")
        fails("all_pairs runs with the caller's rights", conn, "SELECT * FROM all_pairs('TABLE secret', 0.8)",
              state="42501")
        equal("a view over the window function has its owner's", one(conn, "SELECT count(*) FROM shown"), 40)
        equal("an ordinary user calls everything", one(conn, "SELECT jaccard(to_minhash('a'), to_minhash('a'))"), 1.0)
    finally:
        conn.execute("RESET ROLE; DROP VIEW IF EXISTS shown; DROP TABLE IF EXISTS secret; DROP ROLE t_090_reader")


def schemas():
    """Names that a schema may have."""
    with database("_schema", extension=False) as other, connect(other) as conn:
        for schema in ('100%', "%s"):
            fails("a schema named %s is refused" % schema, conn,
                  'CREATE SCHEMA "%s"; CREATE EXTENSION neardup SCHEMA "%s"' % (schema, schema),
                  text="with a % in its name", state="3F000")
        for schema in ("two words", "Größe", "a.b", "select"):
            conn.execute('CREATE SCHEMA "%s"; CREATE EXTENSION neardup SCHEMA "%s"' % (schema, schema))
            equal("a schema named %s" % schema,
                  one(conn,
                      'SELECT "%s".jaccard("%s".to_minhash(\'a\'), "%s".to_minhash(\'a\'))' % (schema, schema, schema)),
                  1.0)
            conn.execute("CREATE TABLE d AS SELECT i AS id, 'one two three ' || i / 2 AS body "
                         "FROM generate_series(1, 20) i; ALTER TABLE d ADD PRIMARY KEY (id)")
            conn.execute('SELECT "%s".create_duplicates(\'copies\', \'d\', \'id\', \'body\')' % schema)
            conn.execute('CALL "%s".refresh_duplicates(\'copies\')' % schema)
            equal("a job with the extension there: %s" % schema, one(conn, "SELECT count(*) FROM copies"), 20)
            conn.execute('CALL "%s".create_word_model(\'m\', \'SELECT body FROM d\')' % schema)
            equal("a word model: %s" % schema, one(conn, "SELECT count(*) > 0 FROM m"), True)
            conn.execute("DROP EXTENSION neardup CASCADE; "
                         "DROP TABLE IF EXISTS d, copies, copies_job, copies_signatures, copies_changes, m, "
                         "m_model CASCADE; DROP SCHEMA \"%s\" CASCADE" % schema)


def long_names(conn):
    """A text that is too long for a name is refused by its length, and is not in the message. The longest name is read:
    63 quotes in each of three parts."""
    part = '"%s"' % ('""' * 63)
    longest = ".".join((part, part, part))
    for call in ("neardup_rules_named(%s)", "neardup_profile_named(%s)", "create_profile('p', base => %s)",
                 "create_profile('p', rules => %s)", "create_profile(%s)", "alter_profile(%s)",
                 "create_lexicon(%s, 'SELECT 1')", "drop_word_model(%s)", "create_duplicates(%s, 'pg_class', 'oid')",
                 "check_duplicates(%s)", "removable_duplicates(%s)", "rename_duplicates('a', %s)",
                 "drop_duplicates(%s)"):
        for length in (len(longest) + 1, 400000):
            fails("%s of %d bytes" % (call % "name", length), conn, "SELECT " + call, ('"' * length,),
                  text="a name with its schema has at most %d bytes: this one has %d" % (len(longest), length),
                  state="42622")
        e = sql_error(conn, "SELECT " + call, (longest,))
        check("%s of %d bytes is read" % (call % "name", len(longest)),
              e is not None and "a name with its schema" not in str(e), e)


def memory(conn):
    """Errors of every kind, thousands of times in one session: no growth."""
    bad = ["SELECT 'x'::minhash", "SELECT to_minhash('a b', 0)", "SELECT to_minhash('a b', 3, 'page')",
           "SELECT to_minhash('a', 3, 'word', 5000)", "SELECT jaccard(to_minhash('a'), to_minhash('a', 2))",
           "SELECT set_minhash(ARRAY[1, NULL]::bigint[])", "SELECT shingles('a b c', 65)",
           "SELECT * FROM all_pairs('SELECT id + 0 / (20 - id), sig FROM t', 0.8)",
           "SELECT * FROM all_pairs('TABLE t', 80)", "SELECT * FROM all_pairs('SELECT 1::bigint, sig FROM t', 0.5)",
           "SELECT cluster_anchor(CASE WHEN id = 20 THEN to_minhash('x', 2) ELSE sig END, 0.8) OVER (ORDER BY id) "
           "FROM t", "SELECT minhash_union_agg(CASE WHEN id = 20 THEN to_minhash('x', 2) ELSE sig END) FROM t",
           "SELECT 1 / count(*) FROM t WHERE jaccard(sig, to_minhash('z', num_perm => 128)) > 2",
           "SELECT 1 / (length(to_minhash(repeat('word ', 20000), num_perm => 4096)::text) * 0)",
           "SELECT shingles('a b c d', 2), 1 / 0", "SELECT minhash_agg(id, 9999) FROM t"]
    pid = conn.info.backend_pid

    def resident():
        with open("/proc/%d/statm" % pid) as f:
            pages = f.read().split()
        return int(pages[1]) * 4, one(conn, "SELECT sum(total_bytes) FROM pg_backend_memory_contexts") // 1024

    def rounds(n):
        for i in range(n):
            for query in bad:
                if sql_error(conn, query) is None:
                    return query
    missed = rounds(20)
    try:
        before = resident()
    except OSError:
        return skip("memory of the server process is not visible from here")
    rounds(1000 if FULL else 150)
    after = resident()
    check("memory after %d kinds of errors, many times: %s -> %s kB" % (len(bad), before, after),
          missed is None and after[0] - before[0] < 4096 and after[1] - before[1] < 1024, missed or "grew")


def huge(conn):
    """The 1 GB limits; slow and large, so in the full form only."""
    if not FULL:
        return skip("1 GB limits: full form only (NEARDUP_FULL=1)")
    for label, query in (
            ("document of 1 GB - 100", "SELECT length(to_minhash(repeat('word and ', 119304000))::text) > 0"),
            ("char document of 500 MB",
             "SELECT length(to_minhash(repeat('abcdefghij', 50000000), 5, 'char')::text) > 0"),
            # array_agg itself ends at 67 million elements, with an error of its own
            ("all shingles of 400 MB", "SELECT count(*) FROM shingle_hashes(repeat('a b c d e ', 40000000), 1)"),
            ("set of 60 million",
             "SELECT set_minhash(array_agg(i)) IS NOT NULL FROM generate_series(1, 60000000::bigint) i"),
            ("compare_texts of 400 MB", "SELECT note FROM compare_texts(repeat('a b c d ', 50000000), 'a b')"),
            ("a shingle over 1 GB",
             "SELECT length(s) FROM shingles(repeat(repeat('x', 1000000) || ' ', 600), 64) s LIMIT 1"),
            ("jaccard_exact of 2 x 60 million", "SELECT jaccard_exact(a, a) FROM (SELECT array_agg(i) AS a "
                                                    "FROM generate_series(1, 60000000::bigint) i) x")):
        e = sql_error(conn, query)
        if conn.closed:
            return check("1 GB: " + label, False, "connection lost: %s" % e)
        check("1 GB: %s (%s)" % (label, e.sqlstate if e else "done"), e is None or e.sqlstate in ("54000", "53200"), e)


def main():
    with database() as name, connect(name) as conn:
        conn.execute("CREATE TABLE t AS SELECT i AS id, to_minhash('common ' || i / 2) AS sig "
                     "FROM generate_series(1::bigint, 40) i; CREATE TABLE e(LIKE t)")
        sections((schemas,), (settings, name),
                 *((f, conn) for f in (literals, numbers, queries, rights, long_names, memory, huge)))


finish(main)
