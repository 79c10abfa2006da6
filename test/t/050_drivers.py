#!/usr/bin/python3
"""Calls as psycopg 3, psycopg2 and psql send them: typed, untyped, named, prepared with generic plans, binary."""
import decimal
import struct

from binary import *
import oracle as o

NUMBER = struct.pack("!i", 1)
DOC = "the quick brown fox jumps over the lazy dog"
NEAR = "the quick brown fox jumps over the lazy cat"


def make_pairs(conn, id_):
    conn.execute("DROP TABLE IF EXISTS p; CREATE TABLE p AS SELECT %s AS id, to_minhash('common words ' || i / 2) "
                 "AS sig FROM generate_series(10, 29) i" % id_)


def psycopg3(conn):
    def scalar(query, *args, **named):
        return one(conn, query, args or named or None)

    full = "doc => %(d)s, k => %(k)s, unit => %(u)s"
    equal_all("psycopg 3: constructors", [
        ("to_minhash(%s)", scalar("SELECT to_minhash(%s)", DOC), o.to_minhash(DOC)),
        ("to_minhash(%s, %s)", scalar("SELECT to_minhash(%s, %s)", DOC, 2), o.to_minhash(DOC, 2)),
        ("to_minhash(%s, %s, %s)", scalar("SELECT to_minhash(%s, %s, %s)", DOC, 5, "char"),
         o.to_minhash(DOC, 5, "char")),
        ("numbers as text", scalar("SELECT to_minhash(%s, %s, %s)", DOC, "5", "char"), o.to_minhash(DOC, 5, "char")),
        ("four", scalar("SELECT to_minhash(%s, %s, %s, %s)", DOC, 5, "char", 64), o.to_minhash(DOC, 5, "char", 64)),
        ("all six", scalar("SELECT to_minhash(%s, %s, %s, %s, %s, %s)", DOC, 5, "char", 64, 16, -7),
         o.to_minhash(DOC, 5, "char", 64, 16, -7)),
        ("named", scalar("SELECT to_minhash(%s)" % full, d=DOC, k=4, u="char"), o.to_minhash(DOC, 4, "char")),
        ("named, some", scalar("SELECT to_minhash(%(d)s, seed => %(s)s)", d=DOC, s=5), o.to_minhash(DOC, seed=5)),
        ("typed text", scalar("SELECT to_minhash(%s::text)", DOC), o.to_minhash(DOC)),
        ("binary text", scalar("SELECT to_minhash(%b)", DOC), o.to_minhash(DOC)),
        ("varchar", scalar("SELECT to_minhash(%s::varchar)", DOC), o.to_minhash(DOC)),
        ("bytes", scalar("SELECT to_minhash(%s)", DOC.encode()), o.to_minhash(DOC.encode())),
        ("bytes, k", scalar("SELECT to_minhash(%s, %s)", DOC.encode(), 4), o.to_minhash(DOC.encode(), 4)),
        ("set of int", scalar("SELECT set_minhash(%s)", [1, 2, 300000]), o.set_minhash([1, 2, 300000])),
        ("set of big int", scalar("SELECT set_minhash(%s)", [1, 1 << 40]), o.set_minhash([1, 1 << 40])),
        ("set of str", scalar("SELECT set_minhash(%s::text[])", ["a", "b"]), o.set_minhash(["a", "b"])),
        ("no str", scalar("SELECT set_minhash(%s::text[])", []), o.set_minhash([], kind="text")),
        ("None", scalar("SELECT to_minhash(%s)", None), None),
    ])
    for value in (["a", "b"], []):  # psycopg 3 may send the list as an untyped literal
        e = sql_error(conn, "SELECT set_minhash(%s)", (value,))
        got = None if e else scalar("SELECT set_minhash(%s)", value)
        check("psycopg 3: untyped list %r is refused or right, never a document" % value,
              (e and e.sqlstate == "42804") or got == o.set_minhash(value, kind="text"), "%s %s" % (e, got))
    form = o.to_minhash(NEAR)
    m = sum(x == y for x, y in zip(o.components(o.shingle_hashes(DOC)), o.components(o.shingle_hashes(NEAR))))
    equal_all("psycopg 3: comparing a column", [
        ("text form", scalar("SELECT jaccard(sig, %s) FROM a", form), m / 128),
        ("text form first", scalar("SELECT jaccard(%s, sig) FROM a", form), m / 128),
        ("cast", scalar("SELECT jaccard(sig, %s::minhash) FROM a", form), m / 128),
        ("constructor", scalar("SELECT jaccard(sig, to_minhash(%s)) FROM a", NEAR), m / 128),
        ("operator", scalar("SELECT sig <%%> %s FROM a", form), 1 - m / 128),
        ("similar", scalar("SELECT sig %% %s FROM a", o.to_minhash(DOC)), True),
        ("equal", scalar("SELECT sig = %s FROM a", o.to_minhash(DOC)), True),
        ("minhash_like", scalar("SELECT minhash_like(%s, sig) FROM a", NEAR), form),
        ("bound as int", scalar("SELECT jaccard(sig, %s) >= %s FROM a", form, 0), True),
        ("bound as Decimal", scalar("SELECT jaccard(sig, %s) >= %s FROM a", form, decimal.Decimal("0.999")), False),
        ("minhash read back", scalar("SELECT sig FROM a"), o.to_minhash(DOC)),
    ])
    fails("psycopg 3: a document where a signature belongs", conn, "SELECT jaccard(sig, %s) FROM a", (DOC,),
          text="invalid input syntax for type minhash", state="22P02", hint="to_minhash")
    fails("psycopg 3: a value typed as text", conn, "SELECT jaccard(sig, %s::text) FROM a", (form,), state="42883")
    equal("psycopg 3: minhash_parameters", conn.execute("SELECT (minhash_parameters(%s)).*", (form,)).fetchone(),
          (1, "text", "word", 3, 128, 32, 0, 1))


def ids(conn):
    """all_pairs with every kind of id; thresholds of every driver type."""
    rows = []
    for kind in ("uuid", "text", "int", "date", "bigint", "numeric", "timestamptz", "smallint"):
        expression = {"uuid": "(repeat('0', 24) || lpad(to_hex(i), 8, '0'))::uuid", "text": "'row ' || i",
                      "date": "date '2024-01-01' + i",
                      "timestamptz": "timestamptz '2024-01-01 00:00Z' + i * interval '1 day'"}.get(kind, "i::" + kind)
        make_pairs(conn, expression)
        got = conn.execute(
            "SELECT id_a, id_b, similarity FROM all_pairs(NULL::%s, 'SELECT id, sig FROM p', %%s)" % kind,
            (1,)).fetchall()
        want = conn.execute("SELECT a.id, b.id, 1.0::float8 FROM p a JOIN p b ON a.id < b.id "
                            "AND jaccard(a.sig, b.sig) = 1 ORDER BY 1, 2").fetchall()
        rows.append((kind, got, want))
        rows.append((kind + " found", len(got), 10))
        got = (conn.execute("SELECT count(*) FROM pairs_between(NULL::%s, 'SELECT id, sig FROM p', 'TABLE p', 0.9)"
                            % kind).fetchone()[0])
        rows.append((kind + " between", got, 40))
        got = conn.execute("SELECT count(DISTINCT cluster) FROM all_clusters(NULL::%s, 'TABLE p', 0.9) "
                           "WHERE cluster_size > 1" % kind).fetchone()[0]
        rows.append((kind + " clusters", got, 10))
    equal_all("ids of every type", rows)
    make_pairs(conn, "i::bigint")
    equal_all("all_pairs without a witness, thresholds of every type", [
        (repr(t), one(conn, "SELECT count(*) FROM all_pairs(%s, %s)", ("TABLE p", t)), 10)
        for t in (1, 1.0, 0.99, "0.99", decimal.Decimal("0.99"))])
    equal("all_pairs with named arguments",
          one(conn, "SELECT count(*) FROM all_pairs(query => %s, threshold => %s)", ("TABLE p", 0.99)), 10)
    conn.execute("CREATE TABLE u AS SELECT id::int, sig FROM p")
    e = sql_error(conn, "SELECT count(*) FROM all_pairs('TABLE u', 0.8)")
    check("int ids without a witness: taken, or the error says how",
          e is None or "NULL::int" in (e.diag.message_hint or ""), e)
    conn.execute("DROP TABLE u; CREATE TABLE u AS SELECT gen_random_uuid() AS id, sig FROM p")
    fails("uuid ids without a witness", conn, "SELECT * FROM all_pairs('TABLE u', 0.8)", text="uuid", hint="NULL::uuid")


def generic(conn):
    """A constructor keeps the result of a stable argument: results must follow every change of the argument."""
    conn.execute("""CREATE TABLE g AS SELECT i AS id, 'alpha beta gamma delta ' || i / 3 || ' epsilon' AS body
        FROM generate_series(1, 300) i;
        ALTER TABLE g ADD sig minhash; UPDATE g SET sig = to_minhash(body);
        SET plan_cache_mode = force_generic_plan""")
    conn.execute("PREPARE q(text) AS SELECT array_agg(id ORDER BY id) FROM g WHERE jaccard(sig, to_minhash($1)) > 0.9")
    conn.execute("PREPARE q3(text, int, text) AS SELECT to_minhash($1, $2, $3)::text")
    conn.execute("PREPARE qs(bigint[]) AS SELECT set_minhash($1)::text FROM generate_series(1, 2)")

    def rows():
        for n in list(range(30)) + [5, 5, 6, 5]:
            doc = "alpha beta gamma delta %d epsilon" % n
            want = one(conn, "SELECT array_agg(id ORDER BY id) FROM g WHERE body = %s", (doc,))
            yield "generic plan %d" % n, one(conn, "EXECUTE q('%s')" % doc), want
            k, unit = 1 + n % 4, ("word", "char")[n % 2]
            yield ("generic k %d" % n, one(conn, "EXECUTE q3('%s', %d, '%s')" % (doc, k, unit)),
                   o.to_minhash(doc, k, unit))
            yield "generic set %d" % n, one(conn, "EXECUTE qs('{%d,%d}')" % (n, n + 1)), o.set_minhash([n, n + 1])
    equal_all("generic plans follow their parameters", rows())

    conn.execute("""CREATE FUNCTION loops(doc text) RETURNS text LANGUAGE plpgsql AS $$
        DECLARE v text := ''; s minhash; w minhash; a bigint[] := '{}'; n int; k int; bad text := '';
        BEGIN
          FOR i IN 1..60 LOOP
            v := repeat(doc || i % 7 || ' ', 1 + i % 3);
            s := to_minhash(v);
                                       -- a simple expression: its state lives on from one turn to the next
            EXECUTE 'SELECT to_minhash($1 || '''')' INTO w USING v;
            IF s <> w THEN bad := bad || ' text ' || i; END IF;
            k := 1 + i % 5;
            s := to_minhash(v, k, CASE i % 2 WHEN 0 THEN 'char' ELSE 'word' END, 16 + i, 32, i);
            EXECUTE 'SELECT to_minhash($1 || '''', $2 + 0, $3 || '''', $4 + 0, 32, $5)' INTO w USING v, k, CASE i % 2
              WHEN 0 THEN 'char' ELSE 'word' END, 16 + i, i::bigint;
            IF s <> w THEN bad := bad || ' parameters ' || i; END IF;
            a := a || (i % 9)::bigint; IF i % 10 = 0 THEN a := '{}'; END IF;
            s := set_minhash(a);
            EXECUTE 'SELECT set_minhash($1 || ''{}''::bigint[])' INTO w USING a;
            IF s <> w THEN bad := bad || ' set ' || i; END IF;
            s := minhash_like(v, to_minhash('x', k));
            IF (minhash_parameters(s)).k <> k THEN bad := bad || ' like ' || i; END IF;
            SELECT count(*) INTO n FROM g WHERE jaccard(sig, to_minhash('alpha beta gamma delta ' || i || ' epsilon')) >
              0.9;
            IF n <> (SELECT count(*) FROM g WHERE body = 'alpha beta gamma delta ' || i || ' epsilon')
              THEN bad := bad || ' query ' || i; END IF;
          END LOOP;
          RETURN bad;
        END $$""")
    for mode in ("force_generic_plan", "force_custom_plan", "auto"):
        conn.execute("SET plan_cache_mode = %s" % mode)
        equal("PL/pgSQL variables that change, %s" % mode, one(conn, "SELECT loops('some words ')"), "")
    conn.execute("""CREATE FUNCTION deep(n int) RETURNS text LANGUAGE plpgsql AS $$
        DECLARE s text; BEGIN s := to_minhash(n::text); IF n > 0 THEN PERFORM deep(n - 1); END IF;
        IF s <> (SELECT to_minhash(x) FROM (SELECT n::text OFFSET 0) y(x))::text THEN RETURN 'wrong at ' || n; END IF;
        RETURN to_minhash(n::text)::text; END $$""")
    equal("recursion", one(conn, "SELECT deep(12)"), o.to_minhash("12"))
    equal("models that change by row",
          one(conn, """SELECT string_agg(minhash_like('a b c d', m)::text, ',' ORDER BY n) FROM
        (SELECT n, to_minhash('x', 1 + n / 3 % 3) AS m FROM generate_series(0, 11) n) q"""),
          ",".join(o.to_minhash("a b c d", 1 + n // 3 % 3) for n in range(12)))
    equal("arguments that change by row",
          one(conn, """SELECT count(*) FROM (SELECT id, jaccard(sig, to_minhash(body)) AS j,
        (SELECT count(*) FROM g h WHERE h.sig = to_minhash(g.body)) AS n FROM g) x WHERE j <> 1 OR n NOT BETWEEN 1
          AND 3"""),
          0)
    equal("a function inlined into SQL",
          one(conn, """SELECT string_agg(to_minhash(x)::text, ',' ORDER BY x) FROM (VALUES ('a'), ('b')) v(x)"""),
          o.to_minhash("a") + "," + o.to_minhash("b"))

    # Once a row, 5000 times 4 MB would take most of a minute; the limit is far above what one signature costs.
    conn.execute("CREATE TABLE many AS SELECT to_minhash('x' || i) AS sig FROM generate_series(1, 5000) i; "
                 "SET plan_cache_mode = force_generic_plan")
    conn.execute("PREPARE big(text) AS SELECT count(*) FROM many WHERE jaccard(sig, to_minhash($1)) > 0.5")
    conn.execute("SET max_parallel_workers_per_gather = 0; SET statement_timeout = '20s'")
    e = sql_error(conn, "EXECUTE big(repeat('some more words ', 262144))")
    check("a stable argument is signed once a scan", e is None, e)
    conn.execute("CREATE TABLE long AS SELECT string_agg('some more words ' || i, ' ') AS body "
                 "FROM generate_series(1, 200000) i")
    conn.execute("PREPARE narrow(varchar) AS SELECT count(*) FROM many WHERE jaccard(sig, to_minhash($1)) > 0.5")
    conn.execute("""CREATE FUNCTION near_long() RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE v text;
        BEGIN SELECT body INTO v FROM long;
        RETURN (SELECT count(*) FROM many WHERE jaccard(sig, to_minhash(v)) > 0.5); END $$""")
    for name, statement in (("a parameter of another type", "EXECUTE narrow(repeat('some more words ', 262144))"),
                            ("a subquery",
                             "SELECT count(*) FROM many WHERE jaccard(sig, to_minhash((SELECT body FROM long))) > 0.5"),
                            ("a document like a column",
                             "SELECT count(*) FROM many WHERE jaccard(sig, minhash_like((SELECT body "
                                 "FROM long), sig)) > 0.5"),
                            ("a variable that leads to a TOAST table", "SELECT near_long()")):
        e = sql_error(conn, statement)
        check("%s is signed once a scan" % name, e is None, e)
    conn.execute("SET statement_timeout = 0; RESET plan_cache_mode")


def untyped(conn):
    rows = []
    for call, types in (("to_minhash($1)", "{text}"), ("to_minhash($1, $2)", "{text,integer}"),
                        ("to_minhash($1, $2, $3)", "{text,integer,text}"),
                        ("to_minhash($1, $2, $3, $4)", "{text,integer,text,integer}"),
                        ("jaccard(sig, $1)", "{minhash}"), ("sig <%> $1", "{minhash}"), ("sig % $1", "{minhash}"),
                        ("minhash_like($1, sig)", "{text}"),
                        ("jaccard(sig, to_minhash($1)) > $2", '{text,"double precision"}')):
        conn.execute("PREPARE u AS SELECT %s FROM a" % call)
        rows.append(
            (call, one(conn, "SELECT parameter_types::text FROM pg_prepared_statements WHERE name = 'u'"), types))
        conn.execute("DEALLOCATE u")
    equal_all("types inferred for untyped parameters", rows)
    fails("set_minhash of an untyped literal", conn, "SELECT set_minhash('{a,b}')", state="42804")
    for call in ("all_pairs('TABLE a', '0.8')", "cluster_anchor(sig, '0.8') OVER ()", "to_minhash('a', '3')",
                 "compare_texts('a b', 'b c')"):
        e = sql_error(conn, "SELECT %s FROM a" % call)
        check("untyped literals: %s" % call, e is None, e)


def psycopg2_calls(name):
    try:
        import psycopg2
    except ImportError:
        return skip("python3-psycopg2 is not installed")
    conn = psycopg2.connect(dbname=name)
    conn.autocommit = True
    cur = conn.cursor()

    def scalar(query, *args):
        cur.execute(query, args)
        return cur.fetchone()[0]
    equal_all("psycopg2", [
        ("document", scalar("SELECT to_minhash(%s)", DOC), o.to_minhash(DOC)),
        ("three", scalar("SELECT to_minhash(%s, %s, %s)", DOC, 5, "char"), o.to_minhash(DOC, 5, "char")),
        ("bytes", scalar("SELECT to_minhash(%s)", psycopg2.Binary(DOC.encode())), o.to_minhash(DOC.encode())),
        ("list of str", scalar("SELECT set_minhash(%s)", ["a", "b"]), o.set_minhash(["a", "b"])),
        ("list of int", scalar("SELECT set_minhash(%s)", [1, 2]), o.set_minhash([1, 2])),
        ("typed empty list", scalar("SELECT set_minhash(%s::bigint[])", []), o.set_minhash([])),
        ("text form", scalar("SELECT jaccard(sig, %s) FROM a", o.to_minhash(DOC)), 1.0),
        ("operator", scalar("SELECT sig %% %s FROM a", o.to_minhash(DOC)), True),
        ("distance", scalar("SELECT sig <%%> %s FROM a", o.to_minhash(DOC)), 0.0),
        ("constructor", scalar("SELECT jaccard(sig, to_minhash(%s)) >= %s FROM a", DOC, 0.8), True),
        ("all_pairs", scalar("SELECT count(*) FROM all_pairs(%s, %s)", "TABLE p", 0.99), 10),
    ])
    try:
        got = scalar("SELECT set_minhash(%s)", [])
    except psycopg2.Error as e:
        got = e.pgcode
    equal("psycopg2: an untyped empty list is refused", got, "42804")
    conn.close()


def psql_calls(name):
    def psql(script, *args):
        r = tool("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", name, *args, input=script)
        return (r.stdout + r.stderr).strip()
    form = o.to_minhash(DOC)
    rows = [
        ("-v", psql("SELECT to_minhash(:'doc');\n", "-v", "doc=" + DOC), form),
        ("PREPARE", psql("PREPARE s AS SELECT to_minhash($1, $2, $3);\nEXECUTE s('%s', 5, 'char');\n" % DOC),
         o.to_minhash(DOC, 5, "char")),
        ("text form", psql("SELECT jaccard(sig, :'s') FROM a;\n", "-v", "s=" + form), "1"),
        ("operator", psql("SELECT sig % :'s', sig <%> :'s' FROM a;\n", "-v", "s=" + form), "t|0"),
        ("named", psql("SELECT to_minhash(doc => :'doc', k => :k);\n", "-v", "doc=" + DOC, "-v", "k=2"),
         o.to_minhash(DOC, 2)),
    ]
    version = tool("psql", "--version").stdout.split()[2]
    if int(re.match("[0-9]+", version)[0]) >= 16:
        rows.append(("\\bind", psql("SELECT to_minhash($1, $2) \\bind '%s' 2 \\g\n" % DOC), o.to_minhash(DOC, 2)))
    equal_all("psql", rows)


def text_forms(conn):
    """A text form sent as binary is told so, of every type."""
    for kind, value in (("minhash", "to_minhash('a b c d')"), ("simhash", "to_simhash('a b c d')"),
                        ("ctph", "to_ctph('a b c d'::text)"), ("ctph", "'3::'::ctph"),
                        ("ctph", "ctph_long('a b c d'::text, 256)"),
                        ("lsh_query", "with_threshold(to_minhash('a b c d'), 0.8)")):
        text = one(conn, "SELECT (%s)::text" % value).encode()
        conn.execute("CREATE TEMP TABLE sent (v %s)" % kind)
        try:
            with conn.cursor() as cur, cur.copy("COPY sent FROM STDIN (FORMAT binary)") as copy:
                copy.write(
                    b"PGCOPY\n\xff\r\n\0" + struct.pack(">iihi", 0, 0, 1, len(text)) + text + struct.pack(">h", -1))
            e = None
        except psycopg.Error as error:
            e = error
        check("text of %s sent as binary" % value,
              e is not None and "this is its text form" in str(e) and "send function" in (e.diag.message_hint or ""), e)
        conn.execute("DROP TABLE sent")


def binary(conn):
    values = [o.to_minhash(DOC), o.to_minhash("", 2), o.to_minhash(DOC, 5, "char", 25, 8, -1),
              o.to_minhash(DOC.encode()), o.set_minhash(["a"], 16, 16), o.set_minhash([1, 2], 100),
              o.to_minhash(DOC, 3, "word", 4096)]
    conn.execute("CREATE TABLE b(id int, sig minhash); CREATE TABLE c(LIKE b)")
    with conn.cursor() as cur:
        cur.executemany("INSERT INTO b VALUES (%s, %s)", list(enumerate(values)))
        with cur.copy("COPY b TO STDOUT (FORMAT binary)") as copy:
            image = b"".join(bytes(block) for block in copy)

    e = copy_error(conn, "c", image)
    check("binary COPY out and in", e is None, e)
    text_forms(conn)
    equal("binary COPY keeps every value", conn.execute("SELECT id, sig::text FROM c ORDER BY id").fetchall(),
          list(enumerate(values)))
    with conn.cursor(binary=True) as cur:
        raw = cur.execute("SELECT sig FROM b WHERE id = 0").fetchone()[0]
        back = cur.execute("SELECT sig::text FROM c WHERE id = 0").fetchone()[0]
    check("binary results", len(raw) >= 512 and back == values[0], "%d bytes" % len(raw))

    samples = []
    with conn.cursor(binary=True) as cur:
        for n in (1, 2, 4, 5):
            samples.append(bytes(cur.execute("SELECT sig FROM b WHERE id = %s", (n,)).fetchone()[0]))
    bad = []
    for cut in list(range(0, len(image), max(1, len(image) // 150))) + list(range(11, 40)):
        conn.execute("TRUNCATE c")
        if copy_error(conn, "c", image[:cut]) is None:  # PostgreSQL takes an end between two rows
            got = conn.execute("SELECT id, sig::text FROM c ORDER BY id").fetchall()
            if got != list(enumerate(values))[: len(got)] or cut == len(image):
                bad.append(cut)
    equal("a COPY cut short is an error", bad, [])

    def whole():
        """It is readable, writable, comparable."""
        text = one(conn, "SELECT sig::text FROM c")
        conn.execute("SELECT jaccard(sig, sig), minhash_parameters(sig), minhash_components(sig) FROM c")
        return "" if one(conn, "SELECT %s::minhash = sig FROM c", (text,)) else "text form is another value"
    damaged(conn, "c", NUMBER, samples, 32, whole)


def main():
    with database() as name, connect(name) as conn:
        conn.execute("SET client_min_messages = warning; CREATE TABLE a AS SELECT 1::bigint AS id, to_minhash('%s') "
                     "AS sig" % DOC)
        make_pairs(conn, "i::bigint")
        sections((psycopg3, conn), (ids, conn), (untyped, conn), (psycopg2_calls, name), (psql_calls, name),
                 (generic, conn),
                 (binary, conn))


finish(main)
