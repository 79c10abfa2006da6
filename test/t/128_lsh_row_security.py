#!/usr/bin/python3
"""Row security: no error, plan or function reveals hidden rows, and indexes are still used."""
import itertools

from plans import *
import released

READER = "t_128_reader"

# Functions that may be LEAKPROOF, and why each of them raises no error and writes no
# message, whatever valid values it is given.
BYTES = "compares bytes"
NUMBERS = "compares two numbers"
MAKER = "puts its arguments side by side; any bound is one"
QUIET = "true, or a distance, where the public one refuses"
LEAKPROOF = {
    **{"neardup_internal.%s_%s(%s,%s)" % (t, f, t, t): NUMBERS if t == "simhash" else BYTES
       for t in ("minhash", "simhash", "ctph") for f in ("eq", "ne", "lt", "le", "gt", "ge", "cmp")},
    "hamming(simhash,simhash)": "counts bits of two numbers",
    "neardup_internal.simhash_hamming_float(simhash,simhash)": "counts bits of two numbers",
    "cosine(simhash,simhash)": "counts bits of two numbers",
    "neardup_internal.lsh_query_bound(minhash,double precision)": MAKER,
    "neardup_internal.lsh_hamming_query(simhash,double precision)": MAKER,
    "neardup_internal.lsh_score_query(ctph,double precision)": MAKER,
    "neardup_internal.lsh_rate_query(ctph,double precision)": MAKER,
    "neardup_internal.lsh_bit_query(bit,double precision)": MAKER,
    "neardup_internal.lsh_quiet_within(bit,lsh_query)": QUIET,
    "neardup_internal.lsh_quiet_distance(bit,bit)": QUIET,
    "neardup_internal.lsh_quiet_within(minhash,lsh_query)": QUIET,
    "neardup_internal.lsh_quiet_within(simhash,lsh_query)": QUIET,
    "neardup_internal.lsh_quiet_within(ctph,lsh_query)": QUIET,
    "neardup_internal.lsh_quiet_within(bigint[],lsh_query)": QUIET,
    "neardup_internal.lsh_quiet_within(integer[],lsh_query)": QUIET,
    "neardup_internal.lsh_quiet_similar(minhash,minhash)": QUIET,
    "neardup_internal.lsh_quiet_distance(minhash,minhash)": QUIET,
    "neardup_internal.lsh_quiet_distance(ctph,ctph)": QUIET,
    "neardup_internal.lsh_quiet_conflicts(lsh_query,lsh_query)": QUIET,
}


def labels(conn):
    got = {r[0] for r in conn.execute(
        "SELECT p.oid::regprocedure::text FROM " + OUR_FUNCTIONS + " WHERE proleakproof")}
    equal("functions that are leakproof, and no others", sorted(got ^ set(LEAKPROOF)), [])
    equal("operators of classes by which an index is asked before row security are leakproof",
          conn.execute(
              "SELECT amopopr::regoperator FROM pg_amop JOIN pg_am a ON a.oid = amopmethod JOIN pg_operator o "
              "ON o.oid = amopopr JOIN pg_proc p ON p.oid = oprcode "
              "WHERE amname = 'lsh' AND amopstrategy > 100 AND NOT proleakproof").fetchall(), [])


# Values that fit no other one among them, toasted ones and empty ones.
POOL = """
CREATE TABLE pool (n int GENERATED ALWAYS AS IDENTITY, id int, m minhash, s simhash, c ctph, a bigint[], k varbit,
  q lsh_query);
INSERT INTO pool (id, m) VALUES (1, set_minhash('{1,2,3}'::bigint[])), (2, set_minhash('{1,2,4}'::bigint[])), (3,
  set_minhash('{1,2,3}'::bigint[], seed => 7)),
    (4, set_minhash('{}'::bigint[])), (5, set_minhash('{}'::bigint[], seed => 7)), (6, set_minhash('{1,2,3}'::bigint[],
      64)), (7, set_minhash('{1,2,3}'::bigint[], bits => 8)),
    (8, to_minhash('a b c d')), (9, to_minhash('a b c d', 5, 'char')), (10, set_minhash('{1,2,3}'::bigint[], 4096)),
      (11, NULL), (12, minhash_import((SELECT array_agg(i::bigint) FROM generate_series(1, 16) i)));
INSERT INTO pool (id, c) VALUES (21, to_ctph('a')), (22, to_ctph(repeat('some text ', 99))), (23,
  ctph_long(repeat('some text ', 99), 1024)), (24, ctph_long('', 256)), (25, NULL);
INSERT INTO pool (id, s) VALUES (31, 0::bigint::simhash), (32, (-1)::bigint::simhash), (33, NULL);
INSERT INTO pool (id, a) VALUES (41, '{}'), (42, '{1,2,NULL}'), (43, '{NULL}'), (44, '{1,2,3}'), (45, '{{1,2},{3,1}}'),
  (46, (SELECT array_agg(-i) FROM generate_series(1, 150000) i)), (47, NULL);
INSERT INTO pool (id, k) VALUES (51, B''), (52, B'0101'), (53, repeat('01', 32)::varbit), (54, repeat('01',
  33)::varbit), (55, NULL), (56, repeat('0', 64)::varbit), (57, repeat('1', 4096)::varbit), (58, repeat('1',
  5000)::varbit);
INSERT INTO pool (id, q) SELECT 50, neardup_internal.lsh_bit_query(k, d) FROM pool, unnest('{3,NaN,-1,40}'::float8[]) d
  WHERE k IS NOT NULL;
INSERT INTO pool (id, q) SELECT 50, neardup_internal.lsh_query_bound(m, b)
  FROM pool, unnest('{0.5,NaN,-1,Infinity}'::float8[]) b WHERE m IS NOT NULL;
INSERT INTO pool (id, q) SELECT 50, neardup_internal.lsh_score_query(c, b) FROM pool, unnest('{50,NaN,-1}'::float8[]) b
  WHERE c IS NOT NULL;
INSERT INTO pool (id, q) SELECT 50, neardup_internal.lsh_rate_query(c, b) FROM pool, unnest('{0.1,NaN,2}'::float8[]) b
  WHERE c IS NOT NULL;
INSERT INTO pool (id, q) SELECT 50, neardup_internal.lsh_hamming_query(s, b) FROM pool, unnest('{3,NaN,-1}'::float8[]) b
  WHERE s IS NOT NULL;
INSERT INTO pool (id, q) SELECT 50, neardup_internal.lsh_set_query(a, b) FROM pool, unnest('{0.5,NaN,-1}'::float8[]) b
  WHERE a IS NOT NULL;
INSERT INTO pool (id, q) SELECT 50, neardup_internal.lsh_dice_query(a, 0.5) FROM pool WHERE a IS NOT NULL;
INSERT INTO pool (id, q) SELECT 50, neardup_internal.lsh_cosine_query(a, 0.5) FROM pool WHERE a IS NOT NULL;
CREATE FUNCTION or_refused(call text) RETURNS text LANGUAGE plpgsql AS $$ DECLARE r text; BEGIN EXECUTE call INTO r;
  RETURN r; EXCEPTION
    WHEN datatype_mismatch OR null_value_not_allowed OR string_data_length_mismatch OR invalid_parameter_value
      THEN RETURN 'refused'; END $$;
"""
# Column, its other side, the public operator, its quiet twin, what the twin says where the public one refuses.
TWINS = (("m", "q", "%>", "%>?", "true"), ("s", "q", "%>", "%>?", "true"), ("c", "q", "%>", "%>?", "true"),
         ("a", "q", "%>", "%>?", "true"), ("q", "q", "&&", "&&?", "true"), ("m", "m", "%", "%?", "true"),
         ("m", "m", "<%>", "<%>?", "1"), ("c", "c", "<->", "<->?", "1"), ("k", "q", "%>", "%>?", "true"),
         ("k", "k", "<->", "<->?", "4096"))


def twins(conn):
    conn.execute(POOL)
    for left, right, public, quiet, refused in TWINS:
        rows = conn.execute(
            "SELECT or_refused('SELECT (x.{0} {2} y.{1})::text FROM pool x, pool y WHERE x.n = ' || x.n || ' "
            "AND y.n = ' || y.n), (x.{0} OPERATOR(neardup_internal.{3}) y.{1})::text FROM pool x, pool y "
            "WHERE (x.{0} IS NOT NULL OR x.id % 11 = 0) AND (y.{1} IS NOT NULL OR y.id % 11 = 0) "
            "AND (x.id <> 46 OR y.n % 5 = 0)".format(left, right, public, quiet)).fetchall()
        some = sum(a == "refused" for a, b in rows)
        bad = [(a, b) for a, b in rows if b != (refused if a == "refused" else a)]
        check("%s of %s, %s raises nothing and answers as %s (%d, %d of them refused)" % (
                  quiet, left, right, public, len(rows), some),
              rows and some and not bad, bad[:5])


# Hidden and seen rows; only here and there one that was made otherwise. f: the family.
FAMILIES = {
    # name: (type, of a number, made otherwise, conditions of X and Q, ordering operator)
    "m": ("minhash", "set_minhash(ARRAY[{0}, {0} + 1, {0} + 2]::bigint[], 64)",
          "set_minhash(ARRAY[{0}, {0} + 1, {0} + 2]::bigint[], 64, seed => 424242)",
          ("jaccard(X, Q) >= 0.8", "jaccard(X, Q) > 0.8", "0.9 <= jaccard(Q, X)", "X <%> Q < 0.2", "X % Q", "Q % X",
           "X %> with_threshold(Q, 0.9)", "jaccard_at_least(X, Q, 0.9)", "jaccard(X, Q) > 0.8 OR X % Q"),
          "<%>"),
    "c": ("ctph", "to_ctph(repeat('text no {0} ' || md5(({0})::text), 40))",
          "ctph_long(repeat('text no {0} ' || md5(({0})::text), 40), 256)",
          ("ctph_score(X, Q) >= 80", "ctph_score_at_least(X, Q, 80)", "ctph_edit_rate(X, Q) <= 0.05",
           "ctph_edit_rate_at_most(Q, X, 0.05)", "X <-> Q < 0.05",
           "ctph_score(X, Q) > 90 OR ctph_edit_rate(X, Q) < 0.05"),
          "<->"),
    "s": ("simhash", "(({0}) * 77777777777)::bigint::simhash", None,
          ("hamming(X, Q) <= 2", "hamming_at_most(X, Q, 2)", "X <~> Q < 2"), "<~>"),
    "k": ("bit(64)", "(({0}) * 77777777777)::bigint::bit(64)", None,
          ("bit_hamming(X, Q) <= 2", "bit_hamming_at_most(X, Q, 2)", "X <-> Q < 2"), "<->"),
    "a": ("int[]", "ARRAY[{0}, {0} + 1, {0} + 2]", "ARRAY[{0}, NULL]",
          ("jaccard_exact(X, Q) >= 0.9", "jaccard_exact_at_least(Q, X, 0.9)", "dice_exact(Q, X) > 0.9",
           "set_cosine_exact_at_least(X, Q, 0.9)"), None),
}
OF_QUERY = ("with_threshold(X, 0.85) && with_threshold(Q, 0.9)", "X2 && with_threshold(Q, 0.9)")
TABLES = """
CREATE TABLE {f} (id int PRIMARY KEY, grp int, owner text, note text, v {t});
INSERT INTO {f} SELECT i, i % 3, CASE WHEN i % 4 < 2 THEN '{reader}' ELSE 'nobody' END, 'note ' || i, {value}
  FROM generate_series(1, 1200) i;
INSERT INTO {f} SELECT 2000 + i, 0, 'nobody', 'alike', {hidden} FROM generate_series(1, 300) i;
CREATE VIEW {f}_view WITH (security_barrier) AS SELECT id, grp, note, v FROM {f}_all WHERE owner = '{reader}';
ALTER TABLE {f} ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON {f} USING (owner = current_user);
"""


def tables(conn):
    conn.execute("DO $$ BEGIN CREATE ROLE {0}; EXCEPTION WHEN duplicate_object THEN NULL; END $$".format(READER))
    for schema in ("plain", "indexed"):
        conn.execute("CREATE SCHEMA {0}; SET search_path = {0}, public".format(schema))
        for f, (type_name, value, _, _, _) in FAMILIES.items():
            text = TABLES.replace("{f}_all", "{f}")
            conn.execute(text.replace("{f}", f).replace("{t}", type_name).replace("{reader}", READER)
                         .replace("{value}", value.format("i / 4")).replace("{hidden}", value.format("5000")))
        conn.execute("CREATE TABLE q (id int PRIMARY KEY, owner text, v minhash, v2 lsh_query); "
                     "INSERT INTO q SELECT id, owner, v, with_threshold(v, 0.85) FROM m;"
                     "ALTER TABLE q ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON q USING (owner = current_user)")
        conn.execute(
            "GRANT ALL ON ALL TABLES IN SCHEMA {0} TO {1}; GRANT USAGE ON SCHEMA {0} TO {1}".format(schema, READER))
    for f in FAMILIES:
        conn.execute("CREATE INDEX {0}_lsh ON {0} USING lsh (v)".format(f))
    conn.execute("CREATE INDEX q_lsh ON q USING lsh (with_threshold(v, 0.85)); CREATE INDEX q2_lsh ON q USING lsh (v2)")
    conn.execute("CREATE INDEX m_part_lsh ON m USING lsh (v) WHERE grp = 2; "
                 "CREATE INDEX m_grp_lsh ON m USING lsh (grp, v); ANALYZE")


def said(condition, x, q):
    return re.sub(r"\bX2\b", "v2", re.sub(r"\bX\b", x, re.sub(r"\bQ\b", q, condition)))


def served(p):
    """Answers as without an index, and the index is asked."""
    role = ["SET ROLE " + READER]
    for f, (_, value, _, conditions, order) in FAMILIES.items():
        q = value.format("40")
        for condition in conditions:
            on = said(condition, "v", q)
            p.compare("SELECT id FROM %s WHERE %s" % (f, on), "_lsh", role)
            p.compare("SELECT id FROM %s_view WHERE %s" % (f, on), "_lsh" if " OR " not in on else None, role)
            p.compare("SELECT id FROM %s WHERE %s OR id = 7" % (f, on), "_lsh", role)
            p.compare(
                "SELECT a.id, b.id FROM {0} a JOIN {0} b ON a.id < 60 AND {1}".format(f, said(condition, "b.v", "a.v")),
                None, role)
            p.compare("UPDATE %s SET grp = 9 WHERE %s RETURNING id" % (f, on), "_lsh", role + ["BEGIN"], ["ROLLBACK"])
            p.compare("DELETE FROM %s_view WHERE %s RETURNING id" % (f, on), "_lsh", role + ["BEGIN"], ["ROLLBACK"])
            p.compare("SELECT id FROM (SELECT *, id + 1 AS next FROM {0}_view) x WHERE {1} AND EXISTS (SELECT "
                          "FROM {0}_view y WHERE y.id = x.next)".format(f, on), None, role)
            if order and " OR " not in on:
                p.compare("SELECT v {2} {3} FROM {0} WHERE {1} ORDER BY v {2} {3} LIMIT 3".format(f, on, order, q),
                          ORDERED, role, ordered=True)
        p.compare("SELECT a.id, b.id FROM {0} a JOIN {0} b ON {1} WHERE a.id < 9".format(
                      f, said(conditions[0], "b.v", "a.v")), "_lsh", role, settings=["only nested loops"])
    q = FAMILIES["m"][1].format("40")
    p.compare("SELECT id FROM m WHERE grp = 2 AND jaccard(v, %s) >= 0.8" % q, "_lsh", role)
    p.compare("SELECT id FROM m WHERE grp = 1 AND v %% %s" % q, "_lsh", role)
    for table in ("m", "m_view"):
        for condition in ("jaccard_at_least(threshold => 0.9, query => %s, sig => v)",
                          "jaccard(b => v, a => %s) >= 0.8", "0.8 < jaccard(b => %s, a => v)"):
            p.compare("SELECT id FROM %s WHERE %s" % (table, condition % q), None if "view" in table else "_lsh", role)
    for condition in OF_QUERY:
        p.compare("SELECT id FROM q WHERE " + said(condition, "v", q), "_lsh", role)
    compare_own_rows(p, role)
    p.report("under row security and in barrier views")


# A row's own value cannot be asked of an index.
OWN_ROW = (("m", "v %> with_threshold(v, 0.85)"), ("m", "v % v"), ("q", "v2 && with_threshold(v, 0.9)"),
           ("q", "with_threshold(v, 0.9) && v2"))


def compare_own_rows(p, role):
    for f, condition in OWN_ROW:
        p.compare("SELECT id FROM %s WHERE %s" % (f, condition), None, role)
        p.compare("DELETE FROM %s WHERE %s RETURNING id" % (f, condition), None, role + ["BEGIN"], ["ROLLBACK"])
    p.compare(
        "UPDATE m_view SET grp = 7 WHERE v %> with_threshold(v, 0.85) RETURNING id", None, ["BEGIN"], ["ROLLBACK"])


# Dear enough that leakproof conditions would come first.
MAY_SEE = ("CREATE FUNCTION may_see(owner text) RETURNS boolean LANGUAGE plpgsql STABLE COST 1000 AS "
           "'BEGIN RETURN owner = $${reader}$$; END'")
# f_odd: nothing that the reader may see, and one row that was made otherwise, which is not
# in the index. own: the reader's, to join with.
ODD = """
CREATE TABLE {f}_odd AS TABLE {f};
UPDATE {f}_odd SET owner = 'nobody';
INSERT INTO {f}_odd SELECT 9000, 0, 'nobody', 'odd', {otherwise};
CREATE INDEX ON {f}_odd USING lsh (v) WHERE id < 9000;
CREATE INDEX ON {f}_odd (note);
ALTER TABLE {f}_odd ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON {f}_odd USING (may_see(owner));
CREATE VIEW {f}_odd_view WITH (security_barrier) AS SELECT * FROM {f}_odd WHERE may_see(owner);
CREATE TABLE {f}_odd_part (LIKE {f}) PARTITION BY RANGE (id);
CREATE TABLE {f}_odd_part_1 PARTITION OF {f}_odd_part FOR VALUES FROM (0) TO (600);
CREATE TABLE {f}_odd_part_2 PARTITION OF {f}_odd_part DEFAULT;
ALTER TABLE {f}_odd_part ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON {f}_odd_part USING (may_see(owner));
CREATE INDEX ON {f}_odd_part USING lsh (v);
INSERT INTO {f}_odd_part SELECT * FROM {f}_odd WHERE id < 9000;
INSERT INTO own (id, kind, {f}) VALUES (1, 'index', {otherwise}), (2, 'table', {value});
GRANT SELECT ON own, {f}_odd, {f}_odd_view, {f}_odd_part TO {reader};
ANALYZE;
"""
ODD_TABLES = ("{f}_odd", "{f}_odd_view", "{f}_odd_part", "(SELECT * FROM {f}_odd UNION ALL SELECT * FROM {f}_odd_part)")
ODD_QUERIES = ("SELECT t.id FROM {table} t WHERE {more} AND ({on})",
               "SELECT t.id FROM own o JOIN {table} t ON {more} AND ({on_own}) WHERE o.kind = '{kind}'",
               "SELECT t.id FROM {table} t WHERE {more} AND ({on}) ORDER BY t.v {order} {q} LIMIT 2")


def odd_queries(f):
    """Queries with values that the index does not hold, so that it hands out all rows, and with values that one row of
    the table does not fit."""
    _, value, otherwise, conditions, order = FAMILIES[f]
    asked = ((otherwise.format("40"), "index", "t.id < 9000"), (value.format("40"), "table", "t.note = 'odd'"),
             (value.format("40"), "table", "true"))
    for condition, table, (q, kind, more), query in itertools.product(conditions, ODD_TABLES, asked, ODD_QUERIES):
        if order is None and "ORDER" in query or kind == "table" and table == "{f}_odd_part":  # which has no such row
            continue
        yield query.format(table=table.format(f=f), on=said(condition, "t.v", q),
                           on_own=said(condition, "t.v", "o." + f), more=more, kind=kind, order=order, q=q)


def errors_of_reader(conn, f):
    """[(query, SQLSTATE or None)], of each query by every kind of plan."""
    out = []
    for name, settings in SETTINGS.items():
        conn.execute("RESET ALL; RESET ROLE; SET search_path = indexed, public; " + "".join(
            "SET %s; " % s for s in settings.split(";") if s.strip()) + "SET ROLE " + READER)
        for query in odd_queries(f):
            e = sql_error(conn, query)
            out.append(("%s: %s" % (name, query), e and e.sqlstate))
    conn.execute("RESET ALL; RESET ROLE; SET search_path = indexed, public")
    return out


def hidden(conn):
    """A hidden value of other parameters raises no error, in whatever plan, beside whatever other condition; a visible
    one does."""
    conn.execute("SET search_path = indexed, public; CREATE TABLE own (id int, kind text, m minhash, c ctph, a int[]);"
                 + MAY_SEE.format(reader=READER))
    for f, (_, value, otherwise, _, order) in FAMILIES.items():
        if otherwise is None:
            continue
        conn.execute(ODD.format(f=f, otherwise=otherwise.format("40"), value=value.format("40"), reader=READER))
        got = errors_of_reader(conn, f)
        bad = [(q, state) for q, state in got if state is not None]
        check(
            "%s: hidden values raise nothing (%d)" % (f, len(got)), got and not bad, "%d do; %s" % (len(bad), bad[:3]))
        conn.execute("SET ROLE " + READER)
        for table in ("_odd", "_odd_view") if order else ():
            check("%s%s: nor does an order" % (f, table),
                  sql_error(conn, "SELECT id FROM {0}{1} WHERE id < 5 ORDER BY v {2} {3} LIMIT 2".format(
                      f, table, order, otherwise.format("40"))) is None)
        conn.execute("RESET ROLE; UPDATE {0}_odd SET owner = '{1}' WHERE id IN (9000, 5); "
                     "UPDATE {0}_odd_part SET owner = '{1}' WHERE id = 5".format(f, READER))
        if f == "a":  # a NULL in the query's own set is an error before any row
            continue
        got = errors_of_reader(conn, f)
        bad = [(q, state) for q, state in got if state != "42804"]
        check("%s: seen ones raise their error (%d)" % (f, len(got)), got and not bad,
              "%d do not; %s" % (len(bad), bad[:3]))


def estimates(conn):
    """EXPLAIN tells as much of a value that no row has as of one that 300 hidden rows have."""
    conn.execute("SET search_path = indexed, public; SET enable_seqscan = off; ANALYZE")
    for f, (_, value, _, conditions, _) in FAMILIES.items():
        for table, condition in itertools.product((f, f + "_view"), conditions):
            conn.execute("SET ROLE " + READER)
            a, b = ([re.sub(r"\(actual.*", "", r[0]) for r in conn.execute(
                "EXPLAIN SELECT id FROM %s WHERE %s" % (table, said(condition, "v", value.format(n))))
                     if "cost=" in r[0]] for n in ("5000", "777777"))
            conn.execute("RESET ROLE")
            equal("estimates of %s, %s" % (table, condition), a, b)
    conn.execute("RESET ALL")


def looks(conn, name):
    conn.execute("SET search_path = indexed, public; SET ROLE " + READER)
    explained = "explain_pair('{0}_lsh', {1}, {1})"
    calls = ["SELECT lsh_info('m_lsh')", "SELECT lsh_check('m_lsh')", "SELECT lsh_pages('m_lsh')",
             "SELECT lsh_hot_buckets('m_lsh')"]
    calls += ["SELECT " + explained.format(f, FAMILIES[f][1].format("40")) for f in ("m", "c", "s")]
    for call in calls:
        fails("%.60s is refused under row security" % call, conn, call, text="row-level security hides rows of table",
              state="42501")
    for f in ("m", "c"):
        e = sql_error(conn, "INSERT INTO %s SELECT 99999, 0, '%s', 'x', %s" % (f, READER, FAMILIES[f][2].format("1")))
        check("%s: INSERT of what was made otherwise does not tell of the index" % f,
              e is not None and e.sqlstate == "42804" and "index:" not in e.diag.message_detail
              and "row: " in e.diag.message_detail, e and (e.sqlstate, e.diag.message_detail))
    conn.execute("RESET ROLE")
    e = sql_error(conn, "INSERT INTO m SELECT 99999, 0, 'x', 'x', " + FAMILIES["m"][2].format("1"))
    equal("the owner is told of the index", e.diag.message_detail,
          "index: set of bigint, 64x32, seed 0; row: set of bigint, 64x32, seed 424242")
    # The index or the table is dropped while it is looked for.
    for call, what, state in itertools.product(calls, ("INDEX m_lsh", "TABLE m CASCADE"), ("42704",)):
        call = re.sub(r"'[cs]_lsh', .*",
                      "'m_lsh', %s, %s)" % (FAMILIES["m"][1].format("40"), FAMILIES["m"][1].format("40")), call)
        with connect(name) as one_side, connect(name) as other:
            for c in (one_side, other):
                c.execute("SET search_path = indexed, public")
            other.execute("DROP TABLE IF EXISTS dropped; CREATE TABLE dropped AS SELECT * FROM m WHERE id < 9; "
                          "CREATE INDEX dropped_lsh ON dropped USING lsh (v)")
            other.execute(
                "BEGIN; " + HOLD_CATALOGS + "DROP " + what.replace("m_lsh", "dropped_lsh").replace(" m ", " dropped "))
            e = error_behind(other, ["COMMIT"], one_side, call.replace("m_lsh", "dropped_lsh"))
            check("%.40s beside DROP %s" % (call, what), e is not None and e.sqlstate == state,
                  e and (e.sqlstate, str(e)))


def updated():
    """The SQL of 0.2.0 serves under row security as it did; ALTER EXTENSION UPDATE brings today's labels."""
    with database("_old", extension=False) as name, connect(name) as conn:
        released.install()
        conn.execute("CREATE EXTENSION neardup VERSION '0.2.0'")
        tables_of_old = (
            TABLES.replace("{f}_all", "{f}").replace("{f}", "m").replace("{t}", "minhash").replace("{reader}", READER))
        conn.execute("DO $$ BEGIN CREATE ROLE {0}; EXCEPTION WHEN duplicate_object THEN NULL; END $$".format(READER))
        conn.execute(tables_of_old.replace("{value}", FAMILIES["m"][1].format("i / 4")).replace(
            "{hidden}", FAMILIES["m"][1].format("5000")))
        conn.execute(
            "CREATE INDEX m_lsh ON m USING lsh (v); GRANT SELECT ON m, m_view TO {0}; SET enable_seqscan = off".format(
                READER))
        asked = FAMILIES["m"][1].format("40")
        answers = []
        for version in ("0.2.0", "today's"):
            conn.execute("SET ROLE " + READER)
            for condition, table in itertools.product(FAMILIES["m"][3], ("m", "m_view")):
                query = "SELECT id FROM %s WHERE %s ORDER BY id" % (table, said(condition, "v", asked))
                plan = "\n".join(r[0] for r in conn.execute("EXPLAIN (COSTS OFF) " + query))
                answers.append(
                    (version, table, condition, conn.execute(query).fetchall(), "m_lsh" in plan, "?" in plan))
            conn.execute("RESET ROLE")
            if version == "0.2.0":
                conn.execute("ALTER EXTENSION neardup UPDATE")
        check("0.2.0 and updated: the index is asked", all(a[4] for a in answers), [a for a in answers if not a[4]][:3])
        check("updated: by quiet operators", all(a[5] == (a[0] != "0.2.0") for a in answers),
              [a for a in answers if a[5] == (a[0] == "0.2.0")][:3])
        equal("updated: the same answers", [a[1:4] for a in answers if a[0] == "0.2.0"],
              [a[1:4] for a in answers if a[0] != "0.2.0"])
        labels(conn)


def main():
    sections((updated,))
    with database() as name:
        with connect(name) as conn:
            sections((labels, conn), (twins, conn), (tables, conn))
        p = Plans(name)
        with connect(name) as conn:
            sections((served, p), (hidden, conn), (estimates, conn), (looks, conn, name))
    with psycopg.connect(autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS " + READER)


if __name__ == "__main__":
    finish(main)
