#!/usr/bin/python3
"""Profiles that cut passages which stand in many documents, before a job signs: against passages cut by hand, over a
job's life, with little memory, by hostile hands; mails with footers and stories in the
frames of several sites, before and after."""
import collections
import os
import random
import re
import tempfile

from harness import *

WORD = re.compile(r"\w+")
ROLE = "neardup_t_cutter"


def split_words(text):
    return [(m.group().lower(), m.start(), m.end()) for m in WORD.finditer(text)]


def split_characters(text):
    return [(c, i, i + 1) for i, c in enumerate(text)]


def split_lines(text):
    return [(" ".join(m.group().split()), m.start() + len(m.group()) - len(m.group().lstrip()),
             m.start() + len(m.group().rstrip())) for m in re.finditer(r"[^\n]+", text) if m.group().strip()]


def split_paragraphs(text):
    out = []
    for line, start, end in split_lines(text):
        if out and not re.search(r"\n[ ]*\n", text[out[-1][2]:start]):
            out[-1] = (out[-1][0] + " " + line, out[-1][1], end)
        else:
            out.append((line, start, end))
    return out


UNITS = {"word": split_words, "char": split_characters, "line": split_lines, "paragraph": split_paragraphs}


def cut_by_hand(rows, unit, units, at_least):
    """{id: text} of rows (id, text, team): without the windows that stand in so many documents of the team."""
    windows = {
        i: [(tuple(u[0] for u in us[n:n + units]), us[n][1], us[n + units - 1][2]) for n in range(len(us) - units + 1)]
        for i, text, _ in rows for us in [UNITS[unit](text)]}
    documents = collections.Counter((team, w) for i, _, team in rows for w in {w[0] for w in windows[i]})
    out = {}
    for i, text, team in rows:
        cut = {c for w, start, end in windows[i] if documents[team, w] >= at_least for c in range(start, end)}
        out[i] = "".join(c for n, c in enumerate(text) if n not in cut)
    return out


def collage(rng):
    """Texts of pieces of a pool, and of each other."""
    pool = ["w%d" % rng.randrange(rng.choice((3, 8, 40))) for _ in range(30)]
    rows = []
    for i in range(rng.randrange(2, 10)):
        text = ""
        for _ in range(rng.randrange(1, 6)):
            a = rng.randrange(30)
            text += rng.choice((" ", ", ", "\n", "\n\n")).join(pool[a:a + rng.randrange(1, 12)]) + rng.choice(
                (" ", "\n", "\n \n"))
        rows.append((i * 7 - 20, text, rng.choice((1, 1, 2, None))))
    return rows


SIGNERS = {"minhash": "to_minhash(%s, 2, 'word', 64, 16, 7)", "simhash": "to_simhash(%s, 2, 'word')",
           "ctph": "to_ctph(%s)"}


def definition(conn):
    """A job's signatures are those of the documents that were cut by hand; with verify, so is its result."""
    rng = random.Random(3)
    conn.execute("CREATE TABLE docs (id int PRIMARY KEY, body text, team int)")
    bad, cut_texts, rounds = [], 0, 120 if FULL else 40
    for n in range(rounds):
        rows = collage(rng)
        unit, at_least, teams, kind = (
            rng.choice(list(UNITS)), rng.choice((2, 2, 3)), rng.random() < 0.5, rng.choice(list(SIGNERS)))
        units = rng.randrange(1 if unit in ("line", "paragraph") else 2, 6)
        least = rng.choice((0, 0, 12))
        conn.execute("TRUNCATE docs")
        with conn.cursor() as cursor:
            cursor.executemany("INSERT INTO docs VALUES (%s, %s, %s)", rows)
        conn.execute(
            "SELECT create_profile('p', base => %s, k => 2, num_perm => 64, bits => 16, seed => 7, encoding => "
                "'detect', unit => 'word', min_length => %s, cut_at_least => %s, cut_min_units => %s, cut_unit => %s)",
            ("default" if kind == "minhash" else kind, least, at_least, units, unit))
        verify = ", verify => 'jaccard', verify_threshold => 0.5" if kind == "minhash" else ""
        conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body', profile => 'p', threshold => 0.5%s%s)" % (
            verify, ", within => '{team}'" if teams else ""))
        conn.execute("CALL refresh_duplicates('dups', batch => %d)" % rng.choice((1, 3, 1000)))
        cut = cut_by_hand([(i, text, team if teams else 0) for i, text, team in rows], unit, units, at_least)
        cut_texts += sum(cut[i] != text for i, text, _ in rows)
        want = [(i, one(
            conn,
            "SELECT CASE WHEN length(d) >= %s THEN " + SIGNERS[kind] % "d" + "::text END FROM (SELECT %s::text) x(d)",
            (least, cut[i]))) for i in sorted(cut)]
        got = conn.execute("SELECT id, signature::text FROM dups_signatures ORDER BY id").fetchall()
        if got != want:
            bad.append((unit, units, at_least, kind, rows, [(g, w) for g, w in zip(got, want) if g != w][:1]))
        # the same texts, cut before a job without cutting reads them
        conn.execute("CREATE TABLE cut (id int PRIMARY KEY, body text, team int)")
        with conn.cursor() as cursor:
            cursor.executemany("INSERT INTO cut VALUES (%s, %s, %s)", [(i, cut[i], team) for i, _, team in rows])
        conn.execute("SELECT alter_profile('p', cut_at_least => 0); "
                     "SELECT create_duplicates('plain', 'cut', 'id', 'body', profile => 'p', threshold => 0.5%s%s)"
                     % (verify, ", within => '{team}'" if teams else ""))
        conn.execute("CALL refresh_duplicates('plain')")
        result = "SELECT id, representative, similarity, survivor FROM %s ORDER BY id"
        got, want = (conn.execute(result % job).fetchall() for job in ("dups", "plain"))
        if got != want:
            bad.append((unit, units, at_least, kind, verify, rows, got, want))
        conn.execute("SELECT drop_duplicates('dups'), drop_duplicates('plain'); DROP TABLE p, cut")
    check(
        "signatures and results are those of documents cut by hand (%d jobs, %d texts were cut)" % (rounds, cut_texts),
        not bad and cut_texts > rounds, bad[:1])
    conn.execute("DROP TABLE docs")


PROGRAM = """/* Copyright %(n)d by somebody */
#include <stdio.h>
static void usage_%(n)d(const char *name%(n)d) { fprintf(stderr, "usage of %(n)d: %%s [file ..]\\n", name%(n)d);
  exit(%(n)d); } // ends
"""


def programs(conn):
    """With unit 'code' a template is cut whatever its names, literals and comments are."""
    bodies = ["int sum(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }",
              "double mean(double *values, int count) { if (count == 0) return 0; return total(values, count) / count; "
              "}", "char *copy(const char *from) { char *to = malloc(strlen(from) + 1); while (*from) *to++ = *from++; "
              "return to; }"]
    conn.execute("CREATE TABLE files (id int PRIMARY KEY, body text)")
    for i in range(9):
        conn.execute(
            "INSERT INTO files VALUES (%s, %s)",
            (i, PROGRAM % {"n": i} + re.sub(r"\b(i|s|a|n|to|from|values|count)\b", r"\1_%d" % i, bodies[i % 3])))
    conn.execute(
        "SELECT create_profile('programs', unit => 'code', k => 4, cut_at_least => 4, cut_unit => 'code', "
        "cut_min_units => 12); SELECT create_duplicates('file_copies', 'files', 'id', 'body', profile => 'programs')")
    conn.execute("CALL refresh_duplicates('file_copies')")
    got = [one(conn, "SELECT count(DISTINCT signature) FROM file_copies_signatures WHERE id %% 3 = %s", (r,))
           for r in range(3)]
    equal("code: one signature for each program, without its template", got, [1, 1, 1])
    near = one(conn, "SELECT max(jaccard(a.signature, b.signature)) FROM file_copies_signatures a "
                     "JOIN file_copies_signatures b ON a.id % 3 < b.id % 3")
    check("and programs with one template are not near", near < 0.3, near)
    equal("clusters", conn.execute("SELECT id, representative FROM file_copies ORDER BY id").fetchall(),
          [(i, i % 3) for i in range(9)])
    conn.execute("SELECT drop_duplicates('file_copies'); DROP TABLE files, programs")


FOOTER = "kind regards from your team at Parcel Post Limited, Main Street 5, in the old harbour"


def signature(conn, i):
    return one(conn, "SELECT signature::text FROM dups_signatures WHERE id = %s", (i,))


def signed(conn, text):
    return one(conn, "SELECT to_minhash(%s)::text", (text,))


def life(conn):
    """The stored passages cut rows that come later, until they are made again."""
    conn.execute("CREATE TABLE docs (id int PRIMARY KEY, body text); "
                 "SELECT create_profile('p', cut_at_least => 3, cut_min_units => 4)")
    equal("what is not given", conn.execute("SELECT cut_at_least, cut_min_units, cut_unit FROM p").fetchall(),
          [(3, 4, "word")])
    conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body', profile => 'p')")
    conn.execute("CALL refresh_duplicates('dups')")
    equal("of no rows nothing is cut",
          conn.execute("SELECT count(*), (SELECT passages_rows FROM dups_job) FROM dups_passages").fetchone(), (0, 0))
    put = ("INSERT INTO docs SELECT i, 'text number ' || i || ' of this day: ' || md5(i::text) || ' ' || %s::text "
           "FROM generate_series(%s::int, %s::int) i")
    conn.execute(put, (FOOTER, 1, 10))
    text = lambda i, more="": one(
        conn, "SELECT 'text number ' || %s::int || ' of this day: ' || md5(%s::int::text) || ' ' || %s", (i, i, more))
    conn.execute("CALL refresh_duplicates('dups')")
    equal("the first rows are counted", (signature(conn, 3), one(conn, "SELECT passages_rows FROM dups_job")),
          (signed(conn, text(3)), 10))
    conn.execute(put, (FOOTER, 11, 11))
    conn.execute(put, ("another footer that comes from the next day on, and stays", 12, 15))
    conn.execute("CALL refresh_duplicates('dups')")
    equal("a later row is cut, too", signature(conn, 11), signed(conn, text(11)))
    equal("but not of what was not there", signature(conn, 12),
          signed(conn, text(12, "another footer that comes from the next day on, and stays")))
    equal("check_duplicates finds nothing to remark", conn.execute("SELECT * FROM check_duplicates('dups')").fetchall(),
          [])
    conn.execute("CALL refresh_duplicates('dups', rebuild => true)")
    equal("a rebuild counts all rows", (signature(conn, 12), one(conn, "SELECT passages_rows FROM dups_job")),
          (signed(conn, text(12)), 15))
    before = conn.execute("SELECT id, signature::text FROM dups_signatures ORDER BY id").fetchall(), conn.execute(
        "SELECT id, representative, similarity FROM dups ORDER BY id").fetchall()
    keys = [one(conn, "SELECT passages_key FROM dups_job")]
    conn.execute("CALL refresh_duplicates('dups', rebuild => true)")
    keys.append(one(conn, "SELECT passages_key FROM dups_job"))
    after = conn.execute("SELECT id, signature::text FROM dups_signatures ORDER BY id").fetchall(), conn.execute(
        "SELECT id, representative, similarity FROM dups ORDER BY id").fetchall()
    equal("another one makes the same, by another key", (after, keys[0] != keys[1]), (before, True))
    equal("check_duplicates agrees", conn.execute("SELECT * FROM check_duplicates('dups')").fetchall(), [])
    conn.execute(put, ("the third footer comes from this week on, and not before", 16, 30))
    conn.execute("CALL refresh_duplicates('dups')")
    equal("up to twice the rows what was counted stays", one(conn, "SELECT passages_rows FROM dups_job"), 15)
    conn.execute(put, ("", 31, 31))
    conn.execute("CALL refresh_duplicates('dups')")
    equal("then it is counted anew", (one(conn, "SELECT passages_rows FROM dups_job"), signature(conn, 20)),
          (31, signed(conn, text(20))))
    conn.execute("SELECT alter_profile('p', cut_at_least => 16)")
    conn.execute("CALL refresh_duplicates('dups')")
    equal("another number in the profile", signature(conn, 20),
          signed(conn, text(20, "the third footer comes from this week on, and not before")))
    conn.execute("SELECT alter_profile('p', k => 2)")
    conn.execute("CALL refresh_duplicates('dups')")
    equal(
        "another k: cut as before", signature(conn, 3), one(conn, "SELECT to_minhash(%s, 2)::text", (text(3, FOOTER),)))
    conn.execute("SELECT alter_profile('p', k => 3, cut_at_least => 0)")
    conn.execute("CALL refresh_duplicates('dups')")
    equal(
        "0 ends it",
        (signature(conn, 3),
         conn.execute("SELECT count(*), (SELECT passages_key FROM dups_job) FROM dups_passages").fetchone(),
         conn.execute("SELECT cut_at_least, cut_min_units, cut_unit FROM p ORDER BY version DESC LIMIT 1").fetchone()),
        (signed(conn, text(3, FOOTER)), (0, None), (None, None, None)))
    conn.execute("SELECT alter_profile('p', cut_at_least => 3, cut_unit => 'line')")
    equal("lines are cut one by one",
          conn.execute("SELECT cut_min_units FROM p ORDER BY version DESC LIMIT 1").fetchone(), (1,))
    conn.execute("SELECT alter_profile('p', cut_at_least => 3, cut_unit => 'word', cut_min_units => 4); "
                 "SELECT rename_duplicates('dups', 'renamed')")
    conn.execute("CALL refresh_duplicates('renamed')")
    conn.execute("SELECT rename_duplicates('renamed', 'dups')")
    equal("its table has the job's name", conn.execute("SELECT passages::text FROM dups_job").fetchone(),
          ("dups_passages",))
    equal("under another name of the job", signature(conn, 3), signed(conn, text(3)))
    conn.execute("DROP TABLE dups_passages")
    conn.execute("CALL refresh_duplicates('dups')")
    equal("without its table it is made again", (signature(conn, 3), one(conn, "SELECT count(*) FROM dups_passages")),
          (signed(conn, text(3)), 1))
    conn.execute("SELECT create_profile('q', base => 'p'); SELECT alter_duplicates('dups', profile => 'q')")
    equal("another profile begins anew",
          conn.execute("SELECT count(*), (SELECT passages_key FROM dups_job) FROM dups_passages").fetchone(), (0, None))
    conn.execute("CALL refresh_duplicates('dups')")
    equal("and cuts", signature(conn, 3), signed(conn, text(3)))
    conn.execute("ALTER TABLE q RENAME TO gone")
    fails("a profile that has gone", conn, "CALL refresh_duplicates('dups')", text="there is no profile")
    conn.execute("ALTER TABLE gone RENAME TO q")
    conn.execute("CALL refresh_duplicates('dups')")
    conn.execute("SELECT drop_duplicates('dups')")
    equal("all goes with the job", one(conn, "SELECT to_regclass('dups_passages') IS NULL"), True)
    conn.execute("DROP TABLE docs, p, q")


def changes(conn):
    """Rows that come while a refresh is stopped, rows that move to another team, another column."""
    conn.execute("CREATE TABLE docs (id int PRIMARY KEY, body text, team int, other text); "
                 "SELECT create_profile('p', cut_at_least => 3, cut_min_units => 4)")
    conn.execute("INSERT INTO docs SELECT i, 'text number ' || md5(i::text) || ' ' || %s::text, 1, md5(i::text) || "
                 "' another footer that stands in every row' FROM generate_series(1, 10) i", (FOOTER,))
    conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body', profile => 'p')")
    conn.execute("CALL refresh_duplicates('dups', batch => 1, time_limit => '0 s')")
    conn.execute("INSERT INTO docs SELECT i, md5(i::text), 1 FROM generate_series(11, 21) i")
    for _ in range(3):
        conn.execute("CALL refresh_duplicates('dups')")
    equal(
        "rows that came before the first result are counted later", one(conn, "SELECT passages_rows FROM dups_job"), 21)
    conn.execute("DELETE FROM docs WHERE id > 10; SELECT alter_duplicates('dups', body => 'other')")
    conn.execute("CALL refresh_duplicates('dups')")
    equal("another column is counted anew", signature(conn, 3), one(conn, "SELECT to_minhash(md5('3') || ' ')::text"))
    conn.execute("SELECT drop_duplicates('dups'); INSERT INTO docs SELECT 100, body, 2 FROM docs WHERE id = 1; "
                 "SELECT create_duplicates('dups', 'docs', 'id', 'body', profile => 'p', within => '{team}')")
    conn.execute("CALL refresh_duplicates('dups')")
    equal("in another team other passages are cut", signature(conn, 1) == signature(conn, 100), False)
    conn.execute("UPDATE docs SET team = 2 WHERE id = 1")
    conn.execute("CALL refresh_duplicates('dups')")
    equal("a row that moves there is signed again",
          conn.execute("SELECT id, representative FROM dups WHERE id IN (1, 100) ORDER BY id").fetchall(),
          [(1, 1), (100, 1)])
    conn.execute("SELECT drop_duplicates('dups'); DROP TABLE docs, p")


def other_kinds(conn):
    """Bytes, quoting mails, tables that lie elsewhere, teams of every kind of type."""
    conn.execute(
        "CREATE TABLE docs (id int PRIMARY KEY, body bytea, city text COLLATE \"C\", price money, tags text[])")
    for i in range(12):
        conn.execute("INSERT INTO docs VALUES (%s, %s, %s, %s::int::money, %s)", (
            i, ("число %d и слово %s, и ещё " % (i, "abc"[i // 4] * 3) + FOOTER).encode("koi8-r" if i % 2 else "utf-8"),
            "ab"[i % 2], i % 2, ["x", "ab"[i % 2]]))
    conn.execute("SELECT create_profile('p', cut_at_least => 6, cut_min_units => 5)")
    for within in ("'{}'", "'{city}'", "'{price}'", "'{city,tags}'"):
        conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body', profile => 'p', within => %s)" % within)
        conn.execute("CALL refresh_duplicates('dups')")
        equal("bytes in two encodings, within %s" % within, signature(conn, 1), signed(conn, "число 1 и слово aaa, "))
        conn.execute("SELECT drop_duplicates('dups')")
    conn.execute("ALTER TABLE docs ADD half int; UPDATE docs SET half = id % 2; "
                 "SELECT create_duplicates('dups', 'docs', 'id', 'body', profile => 'p', within => '{half}')")
    conn.execute("CALL refresh_duplicates('dups')")
    conn.execute("ALTER TABLE docs ALTER half TYPE text; INSERT INTO docs SELECT 100, body, city, price, tags, half "
                 "FROM docs WHERE id = 1")
    conn.execute("CALL refresh_duplicates('dups')")
    equal("a team of another type", (signature(conn, 1), signature(conn, 100)),
          (signed(conn, "число 1 и слово aaa, "),) * 2)
    conn.execute("DELETE FROM docs WHERE id = 100")
    conn.execute("SELECT drop_duplicates('dups'); SELECT alter_profile('p', k => 2); "
                 "CREATE VIEW seen AS SELECT id, convert_from(body, CASE id % 2 WHEN 1 THEN 'koi8r' "
                 "ELSE 'utf8' END) AS body FROM docs")
    conn.execute("SELECT create_duplicates('dups', 'seen', 'id', 'body', profile => 'p', measure => 'containment')")
    conn.execute("CALL refresh_duplicates('dups')")
    equal("sets of fingerprints, of a view",
          one(conn, "SELECT signature = winnow_hashes(%s, 2) FROM dups_signatures WHERE id = 1",
              ("число 1 и слово aaa, ",)), True)
    conn.execute("SELECT drop_duplicates('dups'); DROP VIEW seen; DROP TABLE docs, p")
    with database("_latin1", "ENCODING 'LATIN1' LOCALE 'C'") as name, connect(name) as latin:
        latin.execute("CREATE TABLE docs (id int PRIMARY KEY, body bytea); "
                      "SELECT create_profile('p', cut_at_least => 4, cut_min_units => 4)")
        for i in range(5):
            latin.execute("INSERT INTO docs VALUES (%s, %s)",
                          (i, ("première %d, 中文字%s " % (i, chr(0x4e10 + i)) + FOOTER).encode()))
        latin.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body', profile => 'p')")
        latin.execute("CALL refresh_duplicates('dups')")
        equal(
            "LATIN1",
            one(latin, "SELECT signature = to_minhash(neardup_signed_text(%s, NULL)) FROM dups_signatures WHERE id = 2",
                ("première 2, 中文字\u4e12 ".encode(),)), True)


def memory(conn):
    """Sets of passages beyond the memory for them."""
    conn.execute("""CREATE TABLE docs AS SELECT i AS id, (SELECT string_agg(md5((i / 2 * 1000 + j)::text), ' ')
        FROM generate_series(1, 60) j) || ' own ' || md5(i::text) AS body FROM generate_series(1, 4000) i;
        ALTER TABLE docs ADD PRIMARY KEY (id); SELECT create_profile('p', cut_at_least => 2)""")
    answers = []
    for sort, maintenance in (("64kB", "1MB"), ("64MB", "256MB")):
        conn.execute("SET work_mem = '%s'; SET maintenance_work_mem = '%s'; "
                     "SELECT create_duplicates('dups', 'docs', 'id', 'body', profile => 'p')" % (sort, maintenance))
        conn.execute("CALL refresh_duplicates('dups')")
        answers.append(
            conn.execute("SELECT md5(string_agg(signature::text, ',' ORDER BY id)), (SELECT sum(cardinality(windows)) "
                         "FROM dups_passages) FROM dups_signatures").fetchone())
        conn.execute("SELECT drop_duplicates('dups')")
    conn.execute("RESET work_mem; RESET maintenance_work_mem")
    equal("little memory gives the same", answers[0], answers[1])
    check("of very many passages", answers[0][1] > 100000, answers)
    conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body', profile => 'p')")
    conn.execute("SET maintenance_work_mem = '1MB'; SET temp_file_limit = '1MB'")
    fails("its files are counted", conn, "CALL refresh_duplicates('dups')", text="temporary file size exceeds",
          state="53400")
    conn.execute("RESET maintenance_work_mem; RESET temp_file_limit")
    equal("the job says so",
          conn.execute("SELECT phase, last_error LIKE 'temporary file size%' FROM duplicates_status").fetchall(),
          [("failed", True)])
    stops_when_asked("a count of passages is cancelled", conn, "CALL refresh_duplicates('dups')")
    equal("in its phase", conn.execute("SELECT phase, next_step FROM duplicates_status").fetchall(),
          [("interrupted", "CALL refresh_duplicates('dups');")])
    conn.execute("CALL refresh_duplicates('dups')")
    equal("and the next refresh makes the same",
          one(conn, "SELECT md5(string_agg(signature::text, ',' ORDER BY id)) FROM dups_signatures"), answers[0][0])
    conn.execute("SELECT drop_duplicates('dups'); DROP TABLE docs, p")


def watched(conn, name):
    """The count of passages as another session sees it."""
    conn.execute("CREATE TABLE docs (id int PRIMARY KEY, body text); INSERT INTO docs SELECT i, 'w' || i "
                 "FROM generate_series(1, 9) i; SELECT create_profile('p', cut_at_least => 2); "
                 "SELECT create_duplicates('dups', 'docs', 'id', 'body', profile => 'p'); "
                 "CREATE FUNCTION waits() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM "
                 "pg_advisory_xact_lock(7); RETURN NULL; END $$")
    conn.execute("CALL refresh_duplicates('dups')")
    conn.execute("CREATE TRIGGER waits BEFORE INSERT ON dups_passages EXECUTE FUNCTION waits()")
    with connect(name) as other:
        other.execute("SELECT pg_advisory_lock(7)")
        e = error_behind(other,
                         ("CREATE TABLE seen AS SELECT phase, done, total, next_step FROM duplicates_status",
                          "SELECT pg_advisory_unlock(7)"), conn, "CALL refresh_duplicates('dups', rebuild => true)")
    equal("a count of passages is a phase of its own", (e, conn.execute("TABLE seen").fetchall()),
          (None, [("counting", 0, 100, None)]))
    conn.execute("SELECT drop_duplicates('dups'); DROP FUNCTION waits; DROP TABLE docs, p, seen")


def bad_input(conn):
    make = "SELECT create_profile('p', %s)"
    fails("one document", conn, make % "cut_at_least => 1", text="cut_at_least must be 0 or at least 2: 1",
          state="22023", hint="0 cuts nothing")
    fails("fewer than none", conn, make % "cut_at_least => -3", text="cut_at_least must be 0 or at least 2: -3",
          state="22023")
    fails("one word", conn, make % "cut_at_least => 5, cut_min_units => 1",
          text="cut_min_units must be between 2 and 100000 for unit 'word': 1", state="22023")
    fails("no lines", conn, make % "cut_at_least => 5, cut_min_units => 0, cut_unit => 'line'",
          text="cut_min_units must be between 1 and 100000 for unit 'line': 0", state="22023")
    fails("an unknown unit", conn, make % "cut_at_least => 5, cut_unit => 'sentence'", text='unknown unit "sentence"',
          state="22023")
    fails("units of nothing", conn, make % "cut_min_units => 5",
          text="cut_min_units and cut_unit are given without cut_at_least", state="22023")
    fails("and where it is ended", conn, make % "cut_at_least => 0, cut_unit => 'line'",
          text="given without cut_at_least", state="22023")
    fails("bytes", conn, make % "base => 'ctph', cut_at_least => 5",
          text="documents of encoding 'bytes' are no text to cut passages from: cut_at_least is 5", state="22023")
    equal("nothing was made", one(conn, "SELECT to_regclass('p') IS NULL"), True)
    conn.execute("SELECT create_profile('p', cut_at_least => 5)")
    fails("outside a job", conn, "SELECT neardup_sign_sql(neardup_profile_named('p'), 'text', 'body')",
          text="a profile with cut_at_least signs in jobs only", state="0A000", hint="cut_at_least => 0")
    conn.execute(
        "CREATE TABLE docs (id int PRIMARY KEY, body text); INSERT INTO docs VALUES (1, 'a'), (2, NULL); "
        "CREATE TABLE dups_passages (mine int); SELECT create_duplicates('dups', 'docs', 'id', 'body', profile => 'p')")
    fails("a table that has the name", conn, "CALL refresh_duplicates('dups')",
          text="relation public.dups_passages exists already: the job needs the name for its passages", state="42P07",
          hint="rename_duplicates")
    conn.execute("DROP TABLE dups_passages")
    conn.execute("CALL refresh_duplicates('dups')")
    equal("then it can be made", one(conn, "SELECT count(*) FROM dups_passages"), 0)
    conn.execute("SELECT drop_duplicates('dups'); DROP TABLE docs, p")


def hostile(conn, name):
    """Tables of others, rows that make no sense."""
    conn.execute("DROP ROLE IF EXISTS {0}; CREATE ROLE {0}; CREATE SCHEMA s AUTHORIZATION {0}; "
                 "CREATE TABLE docs (id int PRIMARY KEY, body text); "
                 "INSERT INTO docs SELECT i, 'a few words that stand in every row, and the number ' || i "
                 "FROM generate_series(1, 5) i; SELECT create_profile('p', cut_at_least => 3, cut_min_units => 4); "
                 "SELECT create_duplicates('dups', 'docs', 'id', 'body', profile => 'p')".format(ROLE))
    conn.execute("CALL refresh_duplicates('dups')")
    cut = ("SELECT neardup_internal.neardup_without_windows(%s, %s::regclass, 4, 'word', (SELECT passages_key "
           "FROM dups_job), 0)")
    words = "a few words that stand in every row, and the number 7"
    equal("its owner may ask it", one(conn, cut, (words, "dups_passages")), " 7")
    conn.execute("SET ROLE %s" % ROLE)
    key = "SELECT neardup_internal.neardup_without_windows('x', %s::regclass, 4, 'word', 1, 0)"
    fails("another role has no passages of it", conn, key, ("dups_passages",),
          text="permission denied for table dups_passages", state="42501")
    fails("nor its profile", conn, "SELECT create_duplicates('s.mine', 'docs', 'id', 'body', profile => 'public.p')",
          state="42501")
    conn.execute("RESET ROLE; GRANT SELECT ON docs, p TO {0}; SET ROLE {0}".format(ROLE))
    conn.execute("SELECT create_duplicates('s.mine', 'docs', 'id', 'body', profile => 'public.p')")
    conn.execute("CALL refresh_duplicates('s.mine')")
    conn.execute("RESET ROLE")
    equal("a job of his own has passages of his own",
          conn.execute("SELECT relname, relowner::regrole::text FROM pg_class WHERE relname LIKE '%%\\_passages' "
                       "ORDER BY 1").fetchall(),
          [("dups_passages", conn.info.user), ("mine_passages", ROLE)])
    fails("whoever else refreshes", conn, "CALL refresh_duplicates('s.mine')", text="belongs to another role",
          state="42501")
    # his row names our table
    conn.execute("SET ROLE %s" % ROLE)
    conn.execute("UPDATE s.mine_job SET passages = 'public.dups_passages', passages_key = 1, passages_rows = "
                 "9223372036854775807")
    fails("a table that is another's", conn, "CALL refresh_duplicates('s.mine', rebuild => true)",
          text="table public.dups_passages does not belong to job s.mine", state="42809")
    conn.execute("RESET ROLE")
    equal("which is left alone", one(conn, "SELECT count(*) FROM dups_passages"), 1)
    conn.execute("DROP SCHEMA s CASCADE")
    conn.execute("GRANT SELECT ON dups_passages TO {0}; ALTER TABLE dups_passages ENABLE ROW LEVEL SECURITY; "
                 "SET ROLE {0}".format(ROLE))
    fails("row security hides it", conn, key, ("dups_passages",), text="permission denied for table dups_passages",
          state="42501")
    conn.execute(
        "RESET ROLE; ALTER TABLE dups_passages DISABLE ROW LEVEL SECURITY; CREATE VIEW looks AS TABLE dups_passages")
    fails(
        "a view", conn, key, ("looks",), text="public.looks is no table of passages that a job has made", state="42809")
    fails("another table", conn, key, ("docs",), text="public.docs is no table of passages that a job has made",
          state="42809")
    fails("none", conn, "SELECT neardup_internal.neardup_without_windows('x', 0, 4, 'word', 1, 0)",
          text="the table of passages with OID 0 does not exist", state="42P01")
    fails("one word", conn, "SELECT neardup_internal.neardup_without_windows('x', 'dups_passages', 1, 'word', 1, 0)",
          text="min_units must be between 2", state="22023")
    fails("groups that are no numbers", conn,
          "SELECT * FROM neardup_internal.neardup_frequent_windows('SELECT 1 AS id, ''a b'' AS body, ''x''::text AS "
          "within', 2, 'word', 2, 1)", text='query returns a column "within" of type text, not bigint', state="42804")
    kept = conn.execute("TABLE dups_passages").fetchall()
    for windows, what in (("'{}'", "have a row of 0 windows"), ("'{NULL}'", "have a window that is NULL"),
                          ("'{3,2}'", "dups_passages do not ascend in a row"),
                          ("'{3,3}'", "dups_passages do not ascend in a row"),
                          ("array_fill(1::bigint, '{5000}')", "have a row of 5000 windows"),
                          ("NULL", "have a row that is NULL")):
        conn.execute("ALTER TABLE dups_passages ALTER windows DROP NOT NULL; UPDATE dups_passages SET windows = %s; "
                     "UPDATE docs SET body = body || '!'" % windows)
        fails("nonsense by hand: %s" % windows, conn, "CALL refresh_duplicates('dups')", text=what)
    conn.execute("CALL refresh_duplicates('dups', rebuild => true)")
    equal("a rebuild repairs it",
          (one(conn, "SELECT cardinality(windows) FROM dups_passages"),
           conn.execute("SELECT count(*) FROM check_duplicates('dups')").fetchone()), (len(kept[0][1]), (0,)))
    conn.execute("UPDATE p SET cut_unit = NULL; UPDATE docs SET body = body || '-'")
    fails("a profile changed by hand", conn, "CALL refresh_duplicates('dups')",
          text="cut_unit and cut_min_units of a profile with cut_at_least must not be NULL", state="22004")
    conn.execute("UPDATE p SET cut_unit = 'word'")
    # passages that were taken over: of two blocks that overlap
    conn.execute("INSERT INTO dups_passages SELECT number + 1, windows[2:3] FROM dups_passages")
    conn.execute("UPDATE docs SET body = body || '?'")
    conn.execute("CALL refresh_duplicates('dups')")
    equal("rows of one's own making end in no error", one(conn, "SELECT count(*) FROM dups"), 5)
    conn.execute(
        "DROP VIEW looks; SELECT drop_duplicates('dups'); DROP TABLE docs, p; DROP OWNED BY {0}; DROP ROLE {0}".format(
            ROLE))


def restored(conn, name):
    """The tables of a job are dumped and restored as any others, and the next refresh goes on with them."""
    conn.execute("CREATE TABLE docs (id int PRIMARY KEY, body text, team text); "
                 "INSERT INTO docs SELECT i, 'mail number ' || i || ', ' || md5(i::text) || ' {0}', 't' || i % "
                 "2 FROM generate_series(1, 12) i; " "SELECT create_profile('p', cut_at_least => 4); "
                 "SELECT create_duplicates('dups', 'docs', 'id', 'body', profile => 'p'); "
                 "SELECT create_duplicates('team_dups', 'docs', 'id', 'body', profile => 'p', within => "
                 "'{{team}}')".format(FOOTER))
    conn.execute("CALL refresh_duplicates('dups')")
    conn.execute("CALL refresh_duplicates('team_dups')")
    keys = "SELECT (SELECT passages_key FROM dups_job), (SELECT passages_key FROM team_dups_job)"
    before = conn.execute(keys).fetchone()
    with tempfile.TemporaryDirectory() as folder, database("_restored", extension=False) as other:
        path = os.path.join(folder, "dump")
        dumped = tool("pg_dump", "-Fc", "-f", path, name)
        back = tool("pg_restore", "-d", other, path)
        check("dumped and restored", dumped.returncode == 0 and back.returncode == 0, dumped.stderr + back.stderr)
        with connect(other) as conn2:
            conn2.execute("INSERT INTO docs VALUES (100, 'mail number 100, new, %s', 't1')" % FOOTER)
            for job in ("dups", "team_dups"):
                conn2.execute("CALL refresh_duplicates('%s')" % job)
                equal("%s: a new row is cut" % job,
                      one(conn2, "SELECT signature = to_minhash('mail number 100, new, ') FROM %s_signatures "
                                 "WHERE id = 100" % job), True)
            equal("by what was stored", conn2.execute(keys).fetchone(), before)
            equal("which belongs to the job",
                  conn2.execute("SELECT count(*) FROM pg_depend WHERE objid = 'dups_passages'::regclass "
                                "AND refobjid = 'dups_job'::regclass").fetchone(), (1,))
    conn.execute("SELECT drop_duplicates('dups'), drop_duplicates('team_dups'); DROP TABLE docs, p")


def signature_pairs(conn, job):
    return set(conn.execute("SELECT id_a, id_b FROM all_pairs('SELECT id, signature FROM %s_signatures "
                            "WHERE signature IS NOT NULL', 0.7)" % job).fetchall())


def measured(conn, what, table, truth, cutting):
    """Prints precision and recall of the pairs of a job's signatures, without and with cutting."""
    scores = []
    for option in ("", cutting):
        conn.execute(
            "SELECT create_profile('measured_profile'%s); "
            "SELECT create_duplicates('measured', '%s', 'id', 'body', profile => 'measured_profile')" % (option, table))
        conn.execute("CALL refresh_duplicates('measured')")
        found = signature_pairs(conn, "measured")
        right = len(found & truth)
        scores.append((right / len(found) if found else 1.0, right / len(truth)))
        print("note: %s, %s: %d pairs found, %d near: precision %.3f, recall %.3f" % (
            what, "cut" if option else "not cut", len(found), len(truth), *scores[-1]))
        conn.execute("SELECT drop_duplicates('measured'); DROP TABLE measured_profile")
    return scores


def mails(conn):
    """Short messages with one of twenty footers of about sixty words. Near are those whose messages are, whatever
    footers they have."""
    path = data_file("sms", "docs.tsv.gz")
    if path is None:
        return
    load(conn, "sms", "id int, kind text, body text", path)
    rng = random.Random(5)
    vocabulary = sorted({w for (body,) in conn.execute("SELECT body FROM sms LIMIT 2000").fetchall()
                         for w in WORD.findall(body.lower())})
    footers = ["\n-- \n" + " ".join(rng.choice(vocabulary) for _ in range(60)) for _ in range(20)]
    conn.execute("CREATE TABLE mails (id int PRIMARY KEY, body text)")
    rows = conn.execute("SELECT id, body FROM sms WHERE array_length(regexp_split_to_array(body, '\\s+'), 1) >= 12 "
                        "ORDER BY id").fetchall()
    with conn.cursor() as cursor:
        cursor.executemany("INSERT INTO mails VALUES (%s, %s)", [(i, body + rng.choice(footers)) for i, body in rows])
    truth = set(conn.execute("SELECT id_a, id_b FROM all_pairs('SELECT s.id, ARRAY(SELECT shingle_hashes(s.body)) "
                             "FROM sms s JOIN mails USING (id)', 0.7, measure => 'jaccard')").fetchall())
    before, after = measured(conn, "mails with footers", "mails", truth, ", cut_at_least => 50")
    check("cutting makes pairs of mails right", after[0] > 0.95 and after[1] > 0.95, (before, after))
    check("which they are not with their footers", min(before) < 0.7, before)


def news(conn):
    """Stories in the frames of sites: each frame around four stories, each story in two frames. Near are the two pages
    of a story."""
    path = data_file("news_boilerplate", "pages.tsv.gz")
    if path is None:
        return
    load(conn, "pages", "id int, key text, url text, body text, page text", path)
    whole = [(body, page.split(body)) for body, page in conn.execute(
        "SELECT body, page FROM pages WHERE length(body) > 500 ORDER BY id").fetchall() if page.count(body) == 1]
    frames, stories = [parts for _, parts in whole][:40], [body for body, _ in whole][:80]
    conn.execute("CREATE TABLE news (id int PRIMARY KEY, body text)")
    rows, truth = [], set()
    for s, story in enumerate(stories):
        for half in range(2):
            before, after = frames[(s + half * 7) % len(frames)]
            rows.append((2 * s + half, before + story + after))
        truth.add((2 * s, 2 * s + 1))
    with conn.cursor() as cursor:
        cursor.executemany("INSERT INTO news VALUES (%s, %s)", rows)
    check("there are pages enough", len(frames) == 40 and len(stories) == 80, (len(frames), len(stories)))
    for unit, units in (("word", 5), ("word", 10), ("word", 20), ("word", 50), ("line", 1)):
        before, after = measured(conn, "stories in frames, %d %s" % (units, unit), "news", truth,
                                 ", cut_at_least => 3, cut_unit => '%s', cut_min_units => %d" % (unit, units))
        if (unit, units) == ("word", 10):
            check("cutting finds stories in other frames",
                  after[1] > before[1] and after[1] > 0.8 and after[0] >= before[0], (before, after))


def main():
    with database() as name, connect(name) as conn:
        sections((bad_input, conn), (definition, conn), (programs, conn), (life, conn), (changes, conn),
                 (other_kinds, conn), (memory, conn), (watched, conn, name), (hostile, conn, name),
                 (restored, conn, name), (mails, conn), (news, conn))


finish(main)
