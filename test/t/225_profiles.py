#!/usr/bin/python3
"""Profiles: different spellings of one document get the same signature, in every database."""
from harness import *

CODE = "int main() {\n  for (int i = 0; i < 10; ++i)\n    puts(\"one line of many\");\n  return 0;\n}\n" * 4
CHINESE = "天气预报说明天下午有大雨，请各位同事出门时记得带伞，路上小心。会议改到后天上午十点在三楼举行。"
RUSSIAN = "Завтра после обеда ожидается сильный дождь, просим всех взять с собой зонты и быть осторожнее на дорогах."


def signed(conn, profile, *docs, kind="text"):
    """Similarities of the first document to each of the others, signed by a profile."""
    text = one(conn, "SELECT neardup_sign_sql(neardup_profile_named(%s), %s::regtype, 'd')", (profile, kind))
    return one(conn,
               "SELECT array_agg(jaccard(first.s, other.s) ORDER BY n) FROM (SELECT {0} AS s "
                   "FROM (SELECT %s::{1} AS d) x) first, "
                   "(SELECT n, {0} AS s FROM unnest(%s::{1}[]) WITH ORDINALITY u(d, n)) other".format(
                   text.replace("%", "%%"), kind), (docs[0], list(docs[1:])))


def line_ends(name):
    with connect(name) as conn:
        crlf, cr = CODE.replace("\n", "\r\n"), CODE.replace("\n", "\r")
        equal("code: copies with other line ends", signed(conn, "code", CODE, crlf, cr), [1, 1])
        equal("code in bytes, too", signed(conn, "code", CODE.encode(), crlf.encode(), kind="bytea"), [1])
        check("chars of the function itself see them",
              one(conn, "SELECT jaccard(to_minhash(%s, 8, 'char'), to_minhash(%s, 8, 'char'))", (CODE, crlf)) < 1)
        equal("words never see them", signed(conn, "default", CODE, crlf), [1])


def normal_forms(name):
    with connect(name) as conn:
        composed = "Café crème, naïveté, Ångström and élan vital are served at the fiancée's résumé party in Århus"
        import unicodedata
        decomposed, wide = unicodedata.normalize("NFD", composed), composed.replace("Café", "\uff23\uff41\uff46é")
        check("without normalization they differ", signed(conn, "default", composed, decomposed)[0] < 1)
        conn.execute(
            "SELECT create_profile('nfc', normalization => 'NFC'), create_profile('nfkc', normalization => 'NFKC')")
        equal("NFC and NFD of a text", signed(conn, "nfc", composed, decomposed), [1])
        check("NFC keeps what is only compatible", signed(conn, "nfc", composed, wide)[0] < 1)
        equal("NFKC does not", signed(conn, "nfkc", composed, wide, decomposed), [1, 1])
        equal("alter_profile takes it away", one(conn, "SELECT alter_profile('nfc', normalization => 'none')"), 2)
        check("and then they differ", signed(conn, "nfc", composed, decomposed)[0] < 1)
        fails("another form", conn, "SELECT create_profile('p', normalization => 'NFD')",
              text="normalization must be 'none', 'NFC' or 'NFKC': 'NFD'", state="22023")
        fails("bytes have none", conn, "SELECT create_profile('p', base => 'ctph', normalization => 'NFC')",
              text="no normal form", state="22023")
        conn.execute("CREATE TABLE docs (id int PRIMARY KEY, body text); "
                     "SELECT create_profile('clean_nfc', base => 'web', min_length => 0, normalization => 'NFC')")
        conn.execute("INSERT INTO docs VALUES (1, %s), (2, %s), (3, %s)",
                     (composed, decomposed, composed.replace("party", "pa\u00adr\u200bty")))
        conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body', profile => 'clean_nfc')")
        conn.execute("CALL refresh_duplicates('dups')")
        equal("a job by it, and without invisible characters",
              conn.execute("SELECT id, representative, similarity FROM dups ORDER BY id").fetchall(),
              [(1, 1, 1), (2, 1, 1), (3, 1, 1)])
        conn.execute("SELECT drop_duplicates('dups'); DROP TABLE docs, nfc, nfkc, clean_nfc")


def other_databases():
    """Documents with characters that the encoding of the database lacks are compared all the same."""
    with database("_latin1", "ENCODING 'LATIN1' LOCALE 'C'") as name, connect(name) as conn:
        conn.execute("CREATE TABLE docs (id int PRIMARY KEY, body bytea)")
        rows = [(1, CHINESE), (2, CHINESE), (3, RUSSIAN), (4, RUSSIAN.replace("зонты", "зонт")),
                (5, CHINESE[:20] + RUSSIAN[30:]), (6, "plain words that everybody has")]
        for i, body in rows:
            conn.execute("INSERT INTO docs VALUES (%s, %s)", (i, body.encode()))
        conn.execute("SELECT create_duplicates('dups', 'docs', 'id', 'body', threshold => 0.7)")
        conn.execute("CALL refresh_duplicates('dups')")
        equal("LATIN1: equal and near documents in bytes are duplicates",
              conn.execute("SELECT id, representative FROM dups ORDER BY id").fetchall(),
              [(1, 1), (2, 1), (3, 3), (4, 3), (5, 5), (6, 6)])
        fails("LATIN1: no normal forms", conn, "SELECT create_profile('p', normalization => 'NFC')",
              text="needs a database in UTF8", state="0A000")
    with database("_ascii", "ENCODING 'SQL_ASCII' LOCALE 'C'") as name, connect(
            name, client_encoding="SQL_ASCII") as conn:
        conn.execute("CREATE TABLE docs (id int PRIMARY KEY, body text)")
        for i in range(40):
            # the 1,000th byte, the 100,000th and others are within a character
            conn.execute(b"INSERT INTO docs VALUES (%d, %s)" % (
                i, b"'" + ("".join("слово%d " % (j * (1 + i // 2) % 997) for j in range(300 if i else 40000))).encode()
                       + b"'"))
        suggested = conn.execute("SELECT unit, k FROM neardup_suggest('SELECT id, body FROM docs') LIMIT 1").fetchall()
        equal("SQL_ASCII: neardup_suggest cuts no character", len(suggested), 1)
        conn.execute("SELECT create_profile('least', min_length => 30)")
        text = one(conn, "SELECT neardup_sign_sql(neardup_profile_named('least'), 'text', 'd')")
        text = text.decode() if isinstance(text, bytes) else text
        lengths = conn.execute(b"SELECT %s IS NULL FROM (VALUES ('%s'), ('%s')) v(d)" % (
            text.encode(), "ы".encode() * 29, "ы".encode() * 30)).fetchall()
        equal("SQL_ASCII: min_length counts characters", lengths, [(True,), (False,)])


def main():
    with database() as name:
        sections((line_ends, name), (normal_forms, name))
    sections((other_databases,))


finish(main)
