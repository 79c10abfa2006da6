#!/usr/bin/python3
"""The comments that \\df+, \\do+, \\dT+ and \\dA+ show: those of functions that users call end with an example, and
every example runs."""
import importlib
import re

from harness import *

# The objects of the extension: kind and name, schema, comment
COMMENTS = r"""SELECT o.type || ' ' || regexp_replace(o.identity, '\m(public|pg_catalog)\.', '', 'g'), o.schema,
    obj_description(d.objid, d.classid::regclass::name)
    FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid
      AND e.extname = 'neardup',
    pg_identify_object(d.classid, d.objid, 0) o WHERE d.deptype = 'e' ORDER BY 1"""
# Examples of these make what others use; they are run first, in this order, and stay.
MAKERS = ("access method lsh", "function create_lexicon", "procedure create_word_model", "function create_profile",
          "function create_duplicates", "procedure refresh_duplicates")
# they raise an error that names the right call, which is their example
RAISING = {"jaccard(text,text)", "set_minhash(text,integer,integer,bigint)"}
COMPARISONS = r"operator (?:=|<>|<=?|>=?)\("
LEAST = 150  # examples, and more


def sample(conn):
    """Documents of which some are near copies, as the examples name them."""
    conn.execute("CREATE TABLE docs (id bigint PRIMARY KEY, body text, sig minhash, at timestamptz, copy_of bigint)")
    topics = ("the river carries water from the hills to the sea and the water turns the wheels of the old mills along "
                  "its banks",
              "the railway crosses the river on a bridge of iron that was built in the last century and painted green "
                  "every spring",
              "a library keeps books and maps in long rooms where readers sit at oak tables under lamps until late in "
                  "the evening",
              "bakers start work long before dawn since bread needs hours to rise and people want it warm when "
                  "they get up")
    for i in range(12):
        body = "%s; %s" % (topics[i % 4], topics[(i % 4 + 1) % 4])
        conn.execute("INSERT INTO docs VALUES (%s, %s, to_minhash(%s), '2024-01-01'::timestamptz + %s * interval "
                     "'1 day')", (i + 1, body + (" again", ".", " and so on")[i // 4],
                                  body + (" again", ".", " and so on")[i // 4], i % 5))
    conn.execute("CREATE INDEX docs_hash ON docs USING lsh (to_simhash(body)); "
                 "CREATE INDEX docs_digest ON docs USING lsh (to_ctph(body)); "
                 "CREATE TABLE docs_rules OF neardup_rule; "
                 "INSERT INTO docs_rules VALUES ('page number', 'line', '^[0-9]+$', '', 1); ANALYZE docs")


def tried(conn, statement, stay):
    """Runs an example; returns the error, or None. It is undone unless it has to stay; a trigger is fired."""
    try:
        if stay or statement.startswith("CALL"):
            conn.execute(statement)
            return None
        with conn.transaction(force_rollback=True):
            cur = conn.execute(statement)
            if statement.startswith("SELECT"):
                cur.fetchall()
            elif statement.startswith("CREATE TRIGGER"):
                conn.execute(
                    "INSERT INTO docs (id, body, sig) SELECT 100, 'a text of its own', to_minhash('a text of its own')")
                conn.execute("UPDATE docs SET sig = to_minhash('another text') WHERE id = 100")
        return None
    except psycopg.Error as e:
        return e


def phrases():
    """Those that our pages do not use."""
    sys.path.append(os.path.join(ROOT, "tools"))
    return [pattern for pattern, _ in importlib.import_module("check_prose").PHRASES]


def main():
    with database() as name, connect(name) as conn:
        sample(conn)
        comments = {what: comment or "" for what, schema, comment in conn.execute(COMMENTS)
                    if schema != "neardup_internal" and not (comment or "").startswith("private:")}
        examples = {
            what: comment.rpartition(" Example: ")[2] for what, comment in comments.items() if " Example: " in comment}

        wanted = [what for what, comment in comments.items() if what.startswith(
            ("function ", "procedure ", "aggregate ", "access method "))
                  or re.match("operator (?!class |family )", what) and not re.match(
            COMPARISONS, what) or what.startswith("type ") and comment]
        equal("every function, operator and type that users name has an example (%d)" % len(wanted),
              [what for what in wanted if what not in examples], [])
        check("and these are all of them", len(examples) > LEAST, len(examples))
        equal("no comment is too long to read", [(what, len(c)) for what, c in comments.items() if len(c) > 320], [])
        equal("none has a backslash, which standard_conforming_strings = off reads otherwise",
              [what for what, c in comments.items() if "\\" in c or not c.isascii()], [])
        equal("they keep to plain English",
              [(what, m.group(0)) for what, c in comments.items() for pattern in phrases() for m in [
                  re.search(pattern, c, re.I)] if m], [])
        equal("no example ends in a semicolon or a dot", [e for e in examples.values() if e[-1] in ";."], [])
        equal("every example calls what it is an example of",
              [(what, e) for what, e in examples.items() if what.startswith(("function ", "procedure ", "aggregate "))
               and not re.search(r"\b%s\(" % re.search(r" (\w+)\(", what).group(1), e)], [])

        first = [what for maker in MAKERS for what in examples if what == maker or what.startswith(maker + "(")]
        equal("what others use is made by examples", len(first), len(MAKERS))
        failed, ran = [], 0
        for what in first + sorted(set(examples) - set(first)):
            e = tried(conn, examples[what], what in first)
            if e is not None and e.sqlstate == "0A000" and "this build of neardup" in str(e):
                skip("%s: %s" % (what, e.diag.message_primary))
                continue
            ran += 1
            if e is not None:
                failed.append("%s: %s: %s" % (what, examples[what], e))
        check("every example runs (%d)" % ran, not failed, "%d fail; %s" % (len(failed), "; ".join(failed)))
        equal("functions that raise an error show the right call",
              sorted(what.partition(" ")[2] for what in examples if what.partition(" ")[2] in RAISING), sorted(RAISING))
        equal("the examples found near copies",
              conn.execute("SELECT count(*), count(*) FILTER (WHERE NOT survivor) > 0 FROM doc_copies").fetchone(),
              (12, True))
        check("the example of all_pairs() finds some", conn.execute(
            examples["function all_pairs(text,double precision,text,text,double precision,interval,text)"]).fetchall())


finish(main)
