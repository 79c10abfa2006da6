#!/usr/bin/python3
"""Other server encodings give the signatures of UTF-8; bytes that are not text are refused."""
from harness import *
import oracle as o

TEXTS = {
    "LATIN1": ["", "plain words only", "Straße ÀÉÎ àéî ÿ Ø ª º ¼ x² naïve Größe", "µ micro", "a\u00a0b\u00adc ©2024",
               "Å" * 5000],
    "LATIN5": ["İstanbul ışık ĞÜŞ", "I i İ ı"],
    "WIN1251": ["Привіт, світе! Ґанок її Ї", "Ёлка ёлка №5"],
    "EUC_JP":
        ["", "漢字かな交じり文。カタカナー", "ＦＵＬＬ ｗｉｄｔｈ abc漢字", "ギリシャ ΣΑΣ σας Привет", "々〆〇ゝヽ"],
    "EUC_KR": ["한국어 문장 漢字 abc"],
    "UTF8": ["Straße ÀÉÎ", "漢字かな交じり文。カタカナー 한국어", "Привіт İı ΣΑΣ"],
    "SQL_ASCII": ["Straße ÀÉÎ", "漢字かな交じり文。カタカナー 한국어", "Привіт İı ΣΑΣ"],
}


def compare(conn, encoding):
    def rows():
        for text in TEXTS[encoding]:
            short = text[:12]
            for k, unit in ((3, "word"), (1, "word"), (5, "char")):
                yield (short, one(conn, "SELECT to_minhash(%s::text, %s, %s)::text", (text, k, unit)),
                       o.to_minhash(text, k, unit))
                got = one(conn, "SELECT array(SELECT shingle_hashes(%s::text, %s, %s))", (text, k, unit))
                yield short + " hashes", [h & o.M64 for h in got], o.shingle_hashes(text, k, unit)
            # µ folds to a letter that LATIN1 lacks, and stays
            yield short + " shingles", one(conn, "SELECT array(SELECT shingles(%s::text, 2))", (text,)), [
                s.replace("μ", "µ") for s in o.shingles(text, 2)]
            yield (short + " set", one(conn, "SELECT set_minhash(ARRAY[%s::text, 'x'])::text", (text,)),
                   o.set_minhash([text, "x"]))
            yield (short + " agg",
                   one(conn, "SELECT minhash_agg(t)::text FROM (VALUES (%s::text), ('x')) v(t)", (text,)),
                   o.set_minhash([text, "x"]))
            yield short + " like", one(
                conn, "SELECT minhash_like(%s::text, to_minhash('a', 2))::text", (text,)), o.to_minhash(text, 2)
            want = 1.0 if o.words(text) else 0.0
            yield short + " compare", one(
                conn, "SELECT jaccard FROM compare_texts(%s::text, %s::text)", (text, text)), want
    equal_all("%s: as in UTF-8" % encoding, rows())


def sql_ascii(name):
    """Text of a SQL_ASCII database is whatever bytes were sent; it must be valid UTF-8 for us."""
    with connect(name) as conn:
        for label, escaped in (("lone byte", "\\377"), ("overlong", "\\300\\257"), ("surrogate", "\\355\\240\\200"),
                               ("beyond U+10FFFF", "\\364\\220\\200\\200"), ("cut short", "abc\\342\\202"),
                               ("continuation", "a\\200b"), ("late", "word " * 2000 + "\\377")):
            text = "convert_from('%s'::bytea, 'SQL_ASCII')" % escaped
            states = []
            for call in ("to_minhash(%s)", "to_minhash(%s, 5, 'char')", "count(*) FROM shingles(%s)",
                         "count(*) FROM shingle_hashes(%s, 5, 'char')", "minhash_like(%s, to_minhash('a'))",
                         "note FROM compare_texts(%s, 'a')", "set_minhash(ARRAY[%s])",
                         "minhash_agg(t) FROM (VALUES (%s)) v(t)"):
                e = sql_error(conn, "SELECT " + call % text)
                states.append((call, e and e.sqlstate, "22021"))
            equal_all("SQL_ASCII, %s: refused" % label, states)
        check("SQL_ASCII: bytea takes any byte", bytes(
            one(conn, "SELECT convert_to(to_minhash('\\377\\000\\200abcdefgh'::bytea)::text, 'SQL_ASCII')")).decode()
            == o.to_minhash(b"\xff\x00\x80abcdefgh"))


def cased_letters(conn, encoding):
    """All letters with a capital or a small form, and their forms, that the encoding has."""
    letters = [c for c in map(chr, range(0x80, 0x10000)) if not 0xd800 <= ord(c) < 0xe000 and len(
        {c, c.lower(), c.upper(), c.casefold()}) > 1]
    return one(conn, "SELECT letters_in(%s, %s)", (letters, encoding))


def folded_letters():
    """A server of any encoding reads the output of shingles() again as the same words."""
    with database("_utf8") as name, connect(name) as conn:
        conn.execute("CREATE FUNCTION letters_in(letters text[], encoding text) RETURNS text[] LANGUAGE plpgsql AS $$ "
                     "DECLARE c text; found text[] := '{}'; BEGIN"
                     " FOREACH c IN ARRAY letters LOOP BEGIN PERFORM convert_to(c, encoding); found := found || c; "
                     "EXCEPTION WHEN untranslatable_character THEN NULL; END; END LOOP; RETURN found; END $$")
        encodings = [r[0] for r in conn.execute(
            "SELECT DISTINCT pg_encoding_to_char(contoencoding) e FROM pg_conversion WHERE condefault "
            "AND pg_encoding_to_char(conforencoding) = 'UTF8' AND contoencoding BETWEEN 1 AND 34 "
            "ORDER BY e").fetchall()]
        letters = {e: cased_letters(conn, e) for e in encodings}

    def rows():
        for encoding in [e for e in encodings if e != "EUC_TW"] if FULL else (
                "EUC_CN", "EUC_JP", "EUC_KR", "KOI8R", "LATIN2", "WIN1250", "WIN1257"):
            with database("_letters", "ENCODING '%s' LOCALE 'C'" % encoding) as name, connect(
                    name, client_encoding="UTF8") as conn:
                words = one(
                    conn, "SELECT array(SELECT shingles(array_to_string(%s::text[], ' '), 1))", (letters[encoding],))
                same = one(conn,
                           "SELECT to_minhash(array_to_string(%s::text[], ' '), 1) = "
                               "to_minhash(array_to_string(%s::text[], ' '), 1)",
                           (letters[encoding], words))
                yield encoding, (same, sum("\\" in w for w in words)), (True, 0)

    equal_all("folded letters of encodings are written", rows())


def lexicon(conn):
    return (one(conn, "SELECT create_lexicon('lexicon', $$ SELECT '5 µm wide'::text UNION ALL SELECT 'as wide' $$)"),
            one(conn, "SELECT i_match('5 µm'::text, 'lexicon', 0, 1)"),
            one(conn, "SELECT i_match('5'::text, 'lexicon', 0, 1) <> i_match('5 µm'::text, 'lexicon', 0, 1)"))


def micro_sign(conn, encoding, fingerprint):
    """The micro sign folds to a mu that these encodings lack: words are written with the sign, and found by it."""
    for what, call, want in (
            ("shingles", "shingles('5 µM Breite'::text, 2)", ["5 µm", "µm breite"]),
            ("characters as they stand", "shingles('µM'::text, 2, 'char')", ["µM"]),
            ("shingles of stop words", "stopword_shingles('the µm of 5'::text, ARRAY['the', 'µm'], 1)",
             ["the µm", "µm of"]),
            ("by a dictionary", "stopword_shingles('5 µm is the µ of it', 'english_stem'::regdictionary, 1)",
             ["is the", "the µ", "of it"]),
            ("words of a model", "word FROM word_similarities($$ SELECT 'red µm here. blue µm here. red cm here. "
                                     "blue cm here.'::text $$, k => 1) WHERE word LIKE '_m' ORDER BY word",
             ["cm", "µm"])):
        equal("%s: %s" % (encoding, what), one(conn, "SELECT array(SELECT %s)" % call), want)
    equal("%s: a lexicon, and its fingerprint, as in UTF8" % encoding, lexicon(conn), fingerprint)
    conn.execute(
        "CALL create_word_model('units', $$ SELECT 'red µm here. blue µm here. red cm here. blue cm here.'::text $$)")
    equal("%s: similar words" % encoding, one(conn, "SELECT similar_word FROM similar_words('units', 'µM', 1)"), "cm")
    equal("%s: an expanded query" % encoding,
          conn.execute("SELECT word, similar_word FROM expand_query('units', 'a µM', 1)").fetchall(),
          [("a", "a"), ("µm", "µm"), ("µm", "cm")])
    conn.execute("CREATE TABLE notes AS SELECT i, 'Der Draht ist ' || i % 40 || ' µm breit und ' || i % 7 || "
                 "' Meter lang, sagt Blatt ' || i % 40 AS body FROM generate_series(1, 200) i")
    check("%s: neardup_suggest" % encoding,
          one(conn, "SELECT count(*) FROM neardup_suggest('SELECT i, body FROM notes')") > 0)


def lacking(conn):
    """Letters that only traditional or simplified text has, which LATIN1 lacks."""
    got = one(conn, "SELECT neardup_stopwords('french')")
    check("LATIN1: stop words without those that it cannot write",
          "le" in got and len(got) > 50 and not any("œ" in w for w in got), got)
    fails("LATIN1: stop words of a language that it does not write", conn, "SELECT neardup_stopwords('russian')",
          state="22P05")
    equal("LATIN1: a title that it cannot write stays encoded",
          one(conn, "SELECT neardup_title('caf%C3%A9_%E4%B8%AD.txt')"), "caf%C3%A9 %E4%B8%AD")


def scripts(conn):
    """A character whose other form the encoding lacks stays; one such document does not end a refresh."""
    equal("EUC_JP: simplified, where it can be", one(conn, "SELECT neardup_to_simplified('釀造・國體ab')"),
          "釀造・国体ab")
    equal("EUC_JP: traditional", one(conn, "SELECT neardup_to_traditional('中国的国家')"), "中國的國家")
    conn.execute("CREATE TABLE docs AS SELECT i AS id, convert_to('日本酒は米を醸造して作る。釀造の文書', 'UTF8') AS "
                 "body FROM generate_series(1, 3) i")
    conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body', profile => 'chinese')")
    conn.execute("CALL refresh_duplicates('dups')")
    equal("EUC_JP: a job of profile chinese", one(conn, "SELECT count(*) FILTER (WHERE survivor) FROM dups"), 1)


def main():
    for encoding in TEXTS:
        with database("_" + encoding.lower(), "ENCODING '%s' LOCALE 'C'" % encoding) as name:
            with connect(name, client_encoding="UTF8") as conn:
                compare(conn, encoding)
                if encoding == "EUC_JP":
                    sections((scripts, conn))
            if encoding == "SQL_ASCII":
                sql_ascii(name)
    sections((folded_letters,))
    with database("_utf8") as name, connect(name) as conn:
        fingerprint = lexicon(conn)
    for encoding in ("LATIN1", "LATIN5", "LATIN9", "WIN1252", "WIN1254"):
        with database("_micro", "ENCODING '%s' LOCALE 'C'" % encoding) as name, connect(
                name, client_encoding="UTF8") as conn:
            sections((micro_sign, conn, encoding, fingerprint))
    with database("_latin1", "ENCODING 'LATIN1' LOCALE 'C'") as name, connect(name, client_encoding="UTF8") as conn:
        sections((lacking, conn))
    with database("_jis", "ENCODING 'EUC_JIS_2004' LOCALE 'C'") as name, connect(name, client_encoding="UTF8") as conn:
        equal("EUC_JIS_2004: one character of two code points",
              one(conn, "SELECT array(SELECT shingles('か゚き'::text, 2, 'char'))"), ["か゚", "\\u309Aき"])
        equal("EUC_JIS_2004: in a word", one(conn, "SELECT array(SELECT shingles('か゚き'::text, 1))"), ["か゚", "き"])


finish(main)
