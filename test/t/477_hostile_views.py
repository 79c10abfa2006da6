#!/usr/bin/python3
"""Mallory has put relations in the place of those that neardup reads by name, long before a call: views, tables under
policies, tables of no type, of another owner. Others call every function that reads such a relation: each call is
refused, or reads what it was given, and nothing of mallory's runs as them, whether they are strangers, superusers, or
members of mallory's role."""
from hostile import Watch
from harness import *

MALLORY, VICTIM, MEMBER = "neardup_t_mal", "neardup_t_victim", "neardup_t_member"
MAKE = """
CREATE SCHEMA m; GRANT USAGE ON SCHEMA m TO PUBLIC;
CREATE FUNCTION m.evil(what text) RETURNS boolean LANGUAGE plpgsql AS
  $$ BEGIN RAISE WARNING 'hostile % as %', what, current_user; RETURN true; END $$;
CREATE TABLE m.docs AS SELECT i::bigint AS id,
    (SELECT string_agg('w' || (i / 4 * 31 + j * j) % 97, ' ') FROM generate_series(1, 40) j) AS body
  FROM generate_series(1, 30) i;
CREATE TABLE m.rules OF neardup_rule; INSERT INTO m.rules SELECT * FROM neardup_default_rules() LIMIT 3;
SELECT create_lexicon('m.lex', 'SELECT body FROM m.docs');
SELECT create_profile('m.prof', rules => 'm.rules'), create_profile('m.cutter', cut_at_least => 5, cut_min_units => 20);
"""
STEPS = (
    "CALL create_word_model('m.wm', 'SELECT body FROM m.docs', 40, 3)",
    "SELECT create_duplicates('m.x', 'm.docs', 'id', 'body', profile => 'm.cutter')",
    "CALL refresh_duplicates('m.x')",
)
# The relations that are replaced together, and the calls that read them.
CALLS = {
    ("lex",): ("SELECT i_match('w31 w40 w50', 'm.lex')", "SELECT i_match_bag('w31 w40 w50', 'm.lex')"),
    ("wm",): ("SELECT word_similarity('m.wm', 'w31', 'w40')", "SELECT * FROM similar_words('m.wm', 'w31', 3)",
              "SELECT * FROM expand_query('m.wm', 'w31 w40')"),
    ("wm_model",): ("SELECT * FROM similar_words('m.wm', 'w31', 3)",
                    "CALL create_word_model('m.wm', 'SELECT body FROM m.docs', 40, 3)"),
    ("rules",): ("SELECT create_profile('p', rules => 'm.rules')", "SELECT neardup_rules_named('m.rules')"),
    ("prof",): ("SELECT neardup_profile_named('m.prof')", "SELECT create_profile('p', base => 'm.prof')",
                "SELECT alter_profile('m.prof', k => 5)"),
    ("x_passages",): ("SELECT neardup_internal.neardup_without_windows('w31 w40', 'm.x_passages', 20, 'word', 1, 0)",),
    ("x_job",): ("SELECT * FROM duplicates_status", "CALL refresh_duplicates('m.x')",
                 "SELECT * FROM check_duplicates('m.x')", "SELECT * FROM removable_duplicates('m.x')",
                 "SELECT pause_duplicates('m.x')"),
}
TYPED = ("wm", "wm_model", "rules", "prof", "x_job")
GRANT = "GRANT ALL ON m.{0} TO PUBLIC"
VIEWED = ("ALTER TABLE m.{0} RENAME TO {0}_away",
          "CREATE VIEW m.{0} AS SELECT t.* FROM m.{0}_away t WHERE m.evil('a view')", GRANT)
POLICY = ("ALTER TABLE m.{0} ENABLE ROW LEVEL SECURITY", "CREATE POLICY p ON m.{0} USING (m.evil('a policy'))", GRANT)
TYPELESS = (GRANT, "ALTER TABLE m.{0} NOT OF")
FOREIGN = (GRANT, "ALTER TABLE m.{0} OWNER TO %s" % MEMBER)
WAYS = {"a view": VIEWED, "a policy": POLICY, "no type": TYPELESS, "another owner": FOREIGN}
# Strangers are refused these, whatever they were granted.
REFUSED = {("a view", name) for name in ("lex", "wm", "wm_model", "rules", "prof", "x_passages")}
REFUSED |= {("a policy", name) for _, name in REFUSED} | {("no type", name) for name in TYPED if name != "x_job"}
REFUSED |= {("another owner", "wm"), ("another owner", "wm_model")}


def calls(conn, watch):
    rows, states = [], []
    for way, statements in WAYS.items():
        for names, queries in CALLS.items():
            for query in queries:
                for who in (VICTIM, MEMBER, None):
                    if way == "no type" and names[0] not in TYPED:
                        continue
                    conn.execute("BEGIN")
                    try:
                        if way != "another owner":
                            conn.execute("SET LOCAL ROLE %s" % MALLORY)
                        for name in names:
                            conn.execute("; ".join(statements).format(name))
                        watch.drain()
                        conn.execute("RESET ROLE" if who is None else "SET LOCAL ROLE %s" % who)
                        conn.execute("SAVEPOINT s")
                        state = None
                        try:
                            conn.execute(query)
                        except psycopg.Error as e:
                            state = e.sqlstate
                    finally:
                        conn.execute("ROLLBACK")
                    ran = sorted({as_whom for _, as_whom, _ in watch.drain()} - {MALLORY})
                    what = "%s, %s, %s" % (way, query, who or "a superuser")
                    rows.append((what, (ran, (state or "").startswith("XX")), ([], False)))
                    if who == VICTIM and (way, names[0]) in REFUSED:
                        states.append((what, state is not None, True))
    equal_all("nothing of another role runs, and no call ends with an internal error", rows)
    equal_all("strangers are refused", states)


def superusers_jobs(conn):
    """Jobs, models and profiles of a superuser, which others may write to: they do nothing with them but read."""
    conn.execute("CREATE TABLE docs AS TABLE m.docs")
    conn.execute("SELECT create_duplicates('own', 'docs', 'id', 'body'), create_profile('shared')")
    conn.execute("CALL refresh_duplicates('own')")
    conn.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO %s; GRANT SELECT ON own_job TO PUBLIC" % VICTIM)
    conn.execute("SET ROLE %s" % VICTIM)
    for query in ("CALL refresh_duplicates('own')", "SELECT alter_duplicates('own', threshold => 0.9)",
                  "SELECT pause_duplicates('own')", "SELECT drop_duplicates('own')",
                  "SELECT alter_profile('shared', k => 5)"):
        fails("a superuser's: " + query, conn, query, state="42501")
    conn.execute("SET ROLE %s" % MEMBER)
    fails("a lock of a job that one may read", conn, "SELECT neardup_internal.neardup_lock_job('own_job')",
          state="42501")
    conn.execute("RESET ROLE")


def others_progress(conn, name):
    """A model begun by another role is not continued; the progress of a statement of another role is not shown."""
    conn.execute("SET ROLE %s" % VICTIM)
    go_on = "CALL create_word_model('m.wm', 'SELECT body FROM m.docs', 40, 3)"
    for query in (go_on, "SELECT drop_word_model('m.wm')"):
        fails("of another role: " + query, conn, query, state="42501")
    conn.execute("RESET ROLE; ALTER TABLE m.wm OWNER TO %s; SET ROLE %s" % (VICTIM, VICTIM))
    fails("a model of which one owns the words alone", conn, go_on, state="42501")
    conn.execute("RESET ROLE; ALTER TABLE m.wm OWNER TO %s" % MALLORY)
    with connect(name) as other:
        rows = "SELECT i, to_minhash(i::text) FROM generate_series(1, 3000000) i"
        query = "SELECT count(*) FROM all_pairs('%s', 0.3)" % rows
        thread = Thread(target=lambda: sql_error(other, query), daemon=True)
        thread.start()
        end = time.monotonic() + 60
        shown = "SELECT count(*) FROM neardup_progress() WHERE pid = %d" % other.info.backend_pid
        while not one(conn, shown) and time.monotonic() < end:
            time.sleep(0.01)
        conn.execute("SET ROLE %s" % VICTIM)
        seen = one(conn, shown)
        conn.execute("RESET ROLE")
        also = one(conn, shown)
        other.cancel()
        thread.join(60)
        equal("progress of another role's statement: to a stranger, to a superuser", (seen, also), (0, 1))


def guard(conn):
    """A guard names the row that is near by its key where one may read all columns of the key."""
    conn.execute("CREATE TABLE guarded (a int, b int, sig minhash, PRIMARY KEY (a, b)); "
                 "CREATE INDEX ON guarded USING lsh (sig); CREATE TRIGGER guard BEFORE INSERT ON guarded "
                 "FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8'); "
                 "INSERT INTO guarded VALUES (4711, 4712, set_minhash(ARRAY[1, 2, 3])); "
                 "GRANT INSERT, SELECT (a, sig) ON guarded TO %s" % VICTIM)
    for granted, told in (("a", False), ("b", True)):
        conn.execute("GRANT SELECT (%s) ON guarded TO %s; SET ROLE %s" % (granted, VICTIM, VICTIM))
        e = sql_error(conn, "INSERT INTO guarded VALUES (1, 2, set_minhash(ARRAY[1, 2, 3]))")
        text = "%s %s" % (e.diag.message_primary, e.diag.message_detail)
        what = "a guard of a key of which one may read %s" % ("all" if told else "a part")
        equal(what, ("4711" in text, "4712" in text), (told, told))
        conn.execute("RESET ROLE")


def main():
    with roles(MALLORY, VICTIM, MEMBER, members=[(MALLORY, MEMBER)]), database() as name, connect(name) as conn:
        conn.prepare_threshold = None
        watch = Watch(conn)
        conn.execute("GRANT CREATE ON DATABASE {0} TO {1}; SET ROLE {1}".format(name, MALLORY))
        conn.execute(MAKE)
        for statement in STEPS:
            conn.execute(statement)
        conn.execute("GRANT SELECT ON ALL TABLES IN SCHEMA m TO PUBLIC; RESET ROLE; "
                     "GRANT CREATE ON SCHEMA public TO %s, %s" % (VICTIM, MEMBER))
        sections((calls, conn, watch), (others_progress, conn, name), (guard, conn), (superusers_jobs, conn))
        conn.execute("DROP OWNED BY %s, %s, %s CASCADE" % (MALLORY, VICTIM, MEMBER))


finish(main)
