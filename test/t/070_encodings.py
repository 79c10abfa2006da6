#!/usr/bin/python3
"""Other server encodings give the signatures of UTF-8; bytes that are no text are refused."""
from harness import *
import oracle as o

TEXTS = {
    "LATIN1": ["", "plain words only", "Straße ÀÉÎ àéî ÿ Ø ª º ¼ x² naïve Größe", "µ micro", "a\u00a0b\u00adc ©2024", "Å" * 5000],
    "LATIN5": ["İstanbul ışık ĞÜŞ", "I i İ ı"],
    "WIN1251": ["Привіт, світе! Ґанок її Ї", "Ёлка ёлка №5"],
    "EUC_JP": ["", "漢字かな交じり文。カタカナー", "ＦＵＬＬ ｗｉｄｔｈ abc漢字", "ギリシャ ΣΑΣ σας Привет", "々〆〇ゝヽ"],
    "EUC_KR": ["한국어 문장 漢字 abc"],
    "UTF8": ["Straße ÀÉÎ", "漢字かな交じり文。カタカナー 한국어", "Привіт İı ΣΑΣ"],
    "SQL_ASCII": ["Straße ÀÉÎ", "漢字かな交じり文。カタカナー 한국어", "Привіт İı ΣΑΣ"],
}


def compare(conn, encoding):
    def rows():
        for text in TEXTS[encoding]:
            short = text[:12]
            for k, unit in ((3, "word"), (1, "word"), (5, "char")):
                yield short, one(conn, "SELECT to_minhash(%s::text, %s, %s)::text", (text, k, unit)), o.to_minhash(text, k, unit)
                got = one(conn, "SELECT array(SELECT shingle_hashes(%s::text, %s, %s))", (text, k, unit))
                yield short + " hashes", [h & o.M64 for h in got], o.shingle_hashes(text, k, unit)
            if "µ" not in text:  # folds to a letter that LATIN1 lacks
                yield short + " shingles", one(conn, "SELECT array(SELECT shingles(%s::text, 2))", (text,)), o.shingles(text, 2)
            yield short + " set", one(conn, "SELECT set_minhash(ARRAY[%s::text, 'x'])::text", (text,)), o.set_minhash([text, "x"])
            yield short + " agg", one(conn, "SELECT minhash_agg(t)::text FROM (VALUES (%s::text), ('x')) v(t)", (text,)), o.set_minhash([text, "x"])
            yield short + " like", one(conn, "SELECT minhash_like(%s::text, to_minhash('a', 2))::text", (text,)), o.to_minhash(text, 2)
            want = 1.0 if o.words(text) else 0.0
            yield short + " compare", one(conn, "SELECT jaccard FROM compare_texts(%s::text, %s::text)", (text, text)), want
    equal_all("%s: as in UTF-8" % encoding, rows())


def sql_ascii(name):
    """Text of a SQL_ASCII database is whatever bytes were sent; it must be valid UTF-8 for us."""
    with connect(name) as conn:
        for label, escaped in (("lone byte", "\\377"), ("overlong", "\\300\\257"), ("surrogate", "\\355\\240\\200"),
                               ("beyond U+10FFFF", "\\364\\220\\200\\200"), ("cut short", "abc\\342\\202"), ("continuation", "a\\200b"),
                               ("late", "word " * 2000 + "\\377")):
            text = "convert_from('%s'::bytea, 'SQL_ASCII')" % escaped
            for call in ("to_minhash(%s)", "to_minhash(%s, 5, 'char')", "count(*) FROM shingles(%s)", "count(*) FROM shingle_hashes(%s, 5, 'char')",
                         "minhash_like(%s, to_minhash('a'))", "note FROM compare_texts(%s, 'a')", "set_minhash(ARRAY[%s])",
                         "minhash_agg(t) FROM (VALUES (%s)) v(t)"):
                e = error_of(conn, "SELECT " + call % text)
                if e is None or e.sqlstate != "22021" or conn.closed:
                    check("SQL_ASCII, %s: %s" % (label, call), False, e or "no error")
                    break
            else:
                check("SQL_ASCII, %s: refused" % label, True)
        check("SQL_ASCII: bytea takes any byte", bytes(one(conn, "SELECT convert_to(to_minhash('\\377\\000\\200abcdefgh'::bytea)::text, 'SQL_ASCII')")).decode()
              == o.to_minhash(b"\xff\x00\x80abcdefgh"))


def main():
    for encoding in TEXTS:
        with database("_" + encoding.lower(), "ENCODING '%s' LOCALE 'C'" % encoding) as name:
            with connect(name, client_encoding="UTF8") as conn:
                compare(conn, encoding)
                if encoding == "LATIN1":
                    fails("LATIN1: a folded letter that the encoding lacks", conn, "SELECT shingles('µ'::text, 1)", state="22P05")
                    # What does not hand it back passes over it.
                    equal("LATIN1: a lexicon without that word", one(conn, "SELECT create_lexicon('lexicon', $$ SELECT '5 µm wide'::text UNION ALL SELECT 'as wide' $$)"), 3)
                    check("LATIN1: stop words by a dictionary", one(conn, "SELECT set_size(stopword_minhash('5 µm is the size of it', 'english_stem'::regdictionary))") > 0)
            if encoding == "SQL_ASCII":
                sql_ascii(name)


finish(main)
