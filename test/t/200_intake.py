#!/usr/bin/python3
"""Text intake: bytes in many encodings become the text that they encode; scripts, cleaning rules, quality, titles."""
import collections

from harness import *

LEAST_ACCURACY = 0.98


def available(conn, name, call):
    """True if this build has the library behind a call; a skip line when not."""
    e = sql_error(conn, "SELECT " + call)
    if e is None:
        return True
    check("without %s: 0A000 and the package's name" % name,
          e.sqlstate == "0A000" and "lib" in (e.diag.message_hint or ""), e)
    skip("%s: this build is without it" % name)
    return False


def encodings(conn, opencc):
    path = data_file("zh_encodings", "docs.tsv.gz")
    if not path:
        return
    load(conn, "zh",
         "id text, edition text, t text, s text, t_gb18030 bytea, t_big5 bytea, s_gb18030 bytea, s_gbk bytea, "
             "t_utf16le bytea",
         path)
    columns = (("t_gb18030", "t", "GB18030"), ("t_big5", "t", "Big5"), ("s_gb18030", "s", "gb18030"),
               ("s_gbk", "s", "cp936"), ("t_utf16le", "t", "utf-16le"))
    for column, want, name in columns:
        rows, good, signed = conn.execute(
            "SELECT count(*), count(*) FILTER (WHERE neardup_to_utf8({c}, '{n}') = {w}),"
            " count(*) FILTER (WHERE to_minhash(neardup_to_utf8({c}, '{n}')) = to_minhash({w})) FROM zh "
            "WHERE {c} IS NOT NULL".format(c=column, n=name, w=want)).fetchone()
        check("zh_encodings, %s: text and signature of every row (%d)" % (column, rows), rows == good == signed > 0,
              "%d texts, %d signatures" % (good, signed))
    right = total = 0
    for column, want, name in columns:
        rows, good, short, short_good = conn.execute(
            "SELECT count(*) FILTER (WHERE long), count(*) FILTER (WHERE long AND good), count(*) FILTER "
            "(WHERE NOT long), count(*) FILTER (WHERE NOT long AND good)"
            " FROM (SELECT octet_length({c}) >= 200 AS long, (neardup_decode({c})).body = {w} AS good FROM zh "
            "WHERE {c} IS NOT NULL) d".format(c=column, w=want)).fetchone()
        print("# detected, %s: %d of %d documents of 200 bytes or more, %d of %d shorter ones"
                  % (column, good, rows, short_good, short),
              flush=True)
        right, total = right + good, total + rows
    check("zh_encodings: detection is right for %.2f of %d documents" % (LEAST_ACCURACY, total),
          right >= LEAST_ACCURACY * total > 0, "%d of %d" % (right, total))
    if opencc:
        rows, texts, signatures, alike = conn.execute(
            "SELECT count(*), count(*) FILTER (WHERE neardup_to_simplified(t) = s), count(*) FILTER "
            "(WHERE to_minhash(neardup_to_simplified(t), 2) = to_minhash(s, 2)),"
            " avg(jaccard(to_minhash(neardup_to_simplified(t), 2), to_minhash(s, 2))) FROM zh").fetchone()
        print("# neardup_to_simplified(traditional) is the simplified text for %d of %d poems, signatures equal for "
                  "%d, mean similarity %.3f" % (texts, rows, signatures, alike),
              flush=True)
        check("zh_encodings: most poems are one text after neardup_to_simplified", signatures >= 0.9 * rows,
              "%d of %d" % (signatures, rows))
        back = one(conn, "SELECT count(*) FILTER (WHERE neardup_to_simplified(neardup_to_traditional(s)) = s) FROM zh")
        print("# simplified, traditional and back is the same for %d of %d" % (back, rows), flush=True)


NAMES = {"Cyrillic": "windows-1251", "EUC": "EUC-JP", "Baltic": "iso-8859-4", "JIS": "ISO-2022-JP"}
REFUSED = ("HZ", "JIS", "TCVN", "VIQR", "VPS")


def languages(conn):
    path = data_file("udhr", "docs.tsv.gz")
    if not path:
        return
    load(conn, "udhr", "id text, language text, encoding text, body text, raw bytea", path)
    rows = conn.execute("SELECT id, language, encoding, body, raw FROM udhr ORDER BY id").fetchall()

    def exact():
        for _, language, encoding, body, raw in rows:
            if body is not None:
                yield "%s %s" % (language, encoding), conn.execute(
                    "SELECT body FROM neardup_decode(%s, %s)", (raw, NAMES.get(encoding, encoding))).fetchone()[0], body

    equal_all("udhr: every row whose text is known", exact())
    for encoding in REFUSED:
        raw = next(r[4] for r in rows if r[2] == encoding)
        fails("udhr: %s is refused by its name" % encoding, conn, "SELECT neardup_to_utf8(%s, %s)", (raw, encoding),
              state="0A000", text=NAMES.get(encoding, encoding))
    found = collections.defaultdict(collections.Counter)
    for _, language, encoding, body, raw in rows:
        if encoding in REFUSED or body is None:
            continue
        got, name, _, dropped = conn.execute("SELECT * FROM neardup_decode(%s)", (raw,)).fetchone()
        # C1 controls in the given text mean that its label is wrong (Windows' characters read as ISO's).
        mislabelled = any("\x80" <= c < "\xa0" for c in body)
        found[encoding]["mislabelled" if mislabelled and got != body else "right" if got == body else "wrong"] += 1
    for encoding in sorted(found):
        print("# detected, udhr %s: %s" % (encoding,
                                           ", ".join("%d %s" % (n, k) for k, n in sorted(found[encoding].items()))),
              flush=True)
    right, wrong = (sum(counts[k] for counts in found.values()) for k in ("right", "wrong"))
    check("udhr: detection is right for 0.9 of the documents", right >= 0.9 * (right + wrong) > 0,
          "%d right, %d wrong" % (right, wrong))
    check("udhr: detection of GB2312, EUC and SJIS", all(set(found[e]) == {"right"} for e in ("GB2312", "EUC", "SJIS")),
          dict(found))


def detection(conn):
    """Documents made here, so that something is tested without the data sets."""
    text = ("Съешь же ещё этих мягких французских булок, да выпей чаю. Широкая электрификация южных губерний даст "
            "мощный толчок подъёму сельского хозяйства.")
    chinese = "人生得意须尽欢，莫使金樽空对月。天生我材必有用，千金散尽还复来。烹羊宰牛且为乐，会须一饮三百杯。"
    japanese = ("吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。"
                "何でも薄暗いじめじめした所でニャーニャー泣いていた事だけは記憶している。")
    korean = ("모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 "
              "부여받았으며 서로 형제애의 정신으로 행동하여야 한다.")
    cases = [(text, c) for c in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-16", "utf-8-sig")]
    cases += [(chinese, c) for c in ("utf-16-le", "utf-16-be")]
    cases += [("亲爱的朋友：你好", "gb18030"),
              ("Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.", "iso-8859-7"),
              ("כל בני אדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון", "cp1255")]
    cases += [(text, "cp1251"), (text, "koi8-r"), (chinese, "gb18030"), (chinese, "gbk"), (japanese, "euc-jp"),
              (japanese, "shift_jis"), (korean, "cp949")]

    # few different characters, which mislead statistics
    (equal("documents of few characters",
           conn.execute("SELECT count(*) FROM unnest(ARRAY['GB18030', 'BIG5']) e, "
                        "LATERAL neardup_detect_encoding(convert_to(repeat('中文文字', 5000), e)) d "
                        "WHERE d.encoding = e").fetchone()[0], 2))

    def rows():
        for want, codec in cases:
            yield codec, one(conn, "SELECT neardup_to_utf8(%s)", (want.encode(codec),)), want
            cut = conn.execute("SELECT body, dropped FROM neardup_decode(%s)", (want.encode(codec)[:-1],)).fetchone()
            yield (codec + ", cut", (want.startswith(cut[0]), len(cut[0]) >= len(want) - 1, cut[1] <= 1),
                   (True, True, True))
            yield codec + ", by name", one(
                conn, "SELECT neardup_to_utf8(%s, %s)",
                (want.encode(codec), "utf-8" if codec == "utf-8-sig" else codec)), want

    equal_all("documents of many encodings", rows())
    confidences = conn.execute("SELECT min(confidence), max(confidence) "
                                   "FROM unnest(%s::bytea[]) d, neardup_detect_encoding(d)",
                               ([os.urandom(n) for n in (0, 1, 2, 3, 10, 100, 1000, 100000)],)).fetchone()
    check("confidence is from 0 to 1 for any bytes", 0 <= confidences[0] <= confidences[1] <= 1, confidences)
    def noise():
        for n in (1, 2, 3, 5, 8, 100, 5000, 70000):
            raw = os.urandom(n)
            body, name, _, dropped = conn.execute("SELECT * FROM neardup_decode(%s)", (raw,)).fetchone()
            yield raw[:20], body is not None and dropped >= 0, name not in ("HZ", "ISO-2022-JP")
    equal_all("any bytes become some text", noise())


def many_broken(conn):
    """Every encoding that PostgreSQL converts, on bytes of all kinds: text or an error that says where; the same with
    drop."""
    names = [r[0] for r in conn.execute(
        "SELECT DISTINCT pg_encoding_to_char(conforencoding) FROM pg_conversion "
        "WHERE pg_encoding_to_char(contoencoding) = 'UTF8' AND condefault")]
    soup = bytes(range(256)) + b"\x81\x30\x81" + bytes(os.urandom(3000)) + b"\xe4\xb8"

    def rows():
        for name in names:
            e = sql_error(conn, "SELECT neardup_to_utf8(%s, %s)", (soup, name))
            yield name, e is not None and e.sqlstate in ("22021", "22P05", "0A000"), True
            if e.sqlstate == "0A000":
                continue
            text = one(conn, "SELECT neardup_to_utf8(%s, %s, 'drop')", (soup, name))
            yield name + ", drop", "ABC" in text and "\0" not in text, True

    equal_all("broken bytes in every encoding", rows())


def rules(conn):
    keep = "SELECT body FROM neardup_clean(%s, ARRAY[%s]::neardup_rule[])"
    row = "ROW('%s', '%s', %s, %s, %s)::neardup_rule"
    equal("a rule of one's own", one(conn, keep % ("E'a\\nAD\\nb'", row % ("ad", "line", "'^AD$'", "NULL", 1))), "a\nb")
    equal("rules go by position, those without one last",
          one(conn,
              keep % ("'x'", ", ".join((row % ("c", "text", "'c'", "'d'", "NULL"), row % ("b", "text", "'b'", "'c'", 2),
                                        row % ("a", "text", "'x'", "'b'", 1))))), "d")
    equal("no rules", tuple(conn.execute("SELECT * FROM neardup_clean('x', '{}')").fetchone()), ("x", 1.0, []))
    equal("an empty text", tuple(conn.execute("SELECT * FROM neardup_clean('')").fetchone()), ("", 1.0, []))
    equal("kept and fired",
          tuple(conn.execute("SELECT kept, fired FROM neardup_clean(E'12345\\nAdvertisement\\n', NULL)").fetchone()),
          (0.3, ["advertisement-en"]))
    bad = [("a", "line", "'(a'", "NULL", "missing )"), ("a", "line", "'(?=x)'", "NULL", "bad pattern"),
           ("a", "lines", "'x'", "NULL", "unknown kind"), ("a", "text", "'x'", "E'\\\\2'", "group 2"),
           ("a", "line", "''", "NULL", "pattern must"), ("a", "line", "repeat('x', 5000)", "NULL", "pattern must"),
           ("a", "line", "'x'", "'y'", "replacement"), ("a", "line", "'(a{0,100}){0,100}'", "NULL", "bad pattern"),
           ("", "line", "'x'", "NULL", "name of a rule")]
    for name, kind, pattern, replacement, text in bad:
        fails("bad rule: %s %s" % (kind, pattern), conn,
              "SELECT neardup_clean('x', ARRAY[%s])" % (row % (name, kind, pattern, replacement, 1)), state="22023",
              text=text)
    fails("a bad rule is named with its pattern", conn,
          "SELECT neardup_clean('x', ARRAY[%s])" % (row % ("my rule", "line", "'a[é'", "NULL", 1)), state="22023",
          text="my rule")
    fails("a rule that is NULL", conn, "SELECT neardup_clean('x', ARRAY[NULL]::neardup_rule[])", state="22004")
    fails("a pattern that is NULL", conn,
          "SELECT neardup_clean('x', ARRAY[%s])" % (row % ("a", "line", "NULL", "NULL", 1)), state="22004")
    fails("too many rules", conn,
          "SELECT neardup_clean('x', array_agg(%s)) FROM generate_series(1, 300)"
              % (row % ("a", "line", "'x'", "NULL", 1)), state="22023")
    fails("growth without bound", conn,
          "SELECT neardup_clean(repeat('a', 100000), ARRAY[%s])" % (row % ("a", "text", "'a'", "repeat('b', 1000)", 1)),
          state="54000")
    conn.execute(
        "CREATE TABLE my_rules OF neardup_rule; INSERT INTO my_rules VALUES ('mine', 'line', '^drop me', NULL, 5)")
    equal("the built-in rules and a table's",
          tuple(conn.execute(
              "SELECT * FROM neardup_clean(E'drop me\\nkeep\\nAdvertisement\\n', ARRAY(SELECT r "
              "FROM neardup_default_rules() r) || ARRAY(SELECT r::neardup_rule FROM my_rules r))").fetchone())[::2],
          ("keep\n", ["mine", "advertisement-en"]))
    equal("all but one of the built-in rules",
          conn.execute("SELECT c.fired FROM (SELECT array_agg(r) AS a FROM neardup_default_rules() r "
                       "WHERE name <> 'url') d, neardup_clean('http://x.example', d.a) c").fetchone()[0], [])
    equal("the array of the built-in rules does what they do",
          one(conn, "SELECT count(*) FROM (SELECT neardup_clean(t) AS a, neardup_clean(t, ARRAY(SELECT r "
                    "FROM neardup_default_rules() r)) AS b"
                    " FROM unnest(ARRAY[E'Chapter 1\\n\\n\\n\\nSee www.x.example', E'正文\\n【广告】\\n', '']) t) d "
                    "WHERE a IS DISTINCT FROM b"), 0)
    lines = ["Chapter 11 bankruptcy was filed on Monday by the company.", "Chapter I liked best was the last",
             "Copyright law was changed by the parliament", "We use cookies in this recipe", "Register now to vote",
             "他扫描二维码付了钱。", "记者：为什么？"]
    equal(
        "prose stays", tuple(conn.execute("SELECT body, fired FROM neardup_clean(%s)", ("\n".join(lines),)).fetchone()),
        ("\n".join(lines), []))
    lines = ["Chapter 11. The Fall", "Copyright 2020 Some Press", "We use cookies on our website", "Register now",
             "扫描下方二维码，关注我们", "记者：王小明"]
    equal("notices go", one(conn, "SELECT body FROM neardup_clean(%s)", ("\n".join(lines + ["end"]),)), "end")
    equal(
        "CR LF, CR and LF",
        one(conn, "SELECT array_agg(DISTINCT (body, kept, fired)::text) FROM unnest(ARRAY[E'\\r\\n', E'\\r', E'\\n']) "
                  "e, LATERAL neardup_clean('one' || e || 'Advertisement' || e || 'two' || e)"),
        ['("one\ntwo\n",0.36363636363636365,{advertisement-en})'])
    equal("invisible characters",
          tuple(
              conn.execute(
                  "SELECT body, fired "
                  "FROM neardup_clean(E'ex\\u00adam\\u200bple\\u2060s Auf\\u200clage می\\u200cخواهم')").fetchone()),
          ("examples Auflage می\u200cخواهم", ["invisible"]))
    equal("the first of the built-in rules",
          conn.execute("SELECT name, position FROM neardup_default_rules() ORDER BY position LIMIT 2").fetchall(),
          [("invisible", 0), ("comments-en", 10)])
    # More sets than are kept compiled.
    equal("many sets in turn",
          one(conn, "SELECT count(DISTINCT (neardup_clean('abcdefg', ARRAY[ROW('r', 'text', chr(96 + i), '-', "
                    "1)::neardup_rule])).body) FROM (SELECT i % 7 + 1 AS i FROM generate_series(1, 100) i) s"), 7)
    conn.execute("CREATE TABLE pages AS SELECT i, E'Page ' || i || E'\\nAdvertisement\\nsee http://x.example/' || i || "
                 "E'\\n' AS body FROM generate_series(1, 3000) i; ANALYZE pages")
    serial = conn.execute("SELECT count(*), sum(hashtext((neardup_clean(body)).body)), sum(neardup_text_score(body)) "
                          "FROM pages").fetchone()
    conn.execute("SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; "
                 "SET max_parallel_workers_per_gather = 2")
    plan = conn.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "
                        "SELECT sum(hashtext((neardup_clean(body)).body)) FROM pages").fetchall()
    parallel = conn.execute("SELECT count(*), sum(hashtext((neardup_clean(body)).body)), sum(neardup_text_score(body)) "
                            "FROM pages").fetchone()
    check("parallel workers clean, too",
          any("Gather" in r[0] for r in plan) and serial[:2] == parallel[:2] and abs(serial[2] - parallel[2]) < 1e-6,
          (serial, parallel))


def pages(conn):
    """The built-in rules on whole pages beside their articles: how much of each they take."""
    path = data_file("news_boilerplate", "pages.tsv.gz")
    if not path:
        return
    load(conn, "web", "id text, key text, url text, article text, page text", path)
    article, page, before, after = conn.execute(
        "SELECT avg((neardup_clean(article)).kept), avg((neardup_clean(page)).kept), avg(containment(to_minhash(page), "
        "to_minhash(article))),"
        " avg(containment(to_minhash((neardup_clean(page)).body), to_minhash(article))) FROM web").fetchone()
    print("# built-in rules keep %.3f of articles and %.3f of whole pages; "
              "share of a page that is its article: %.3f before, %.3f after" % (article, page, before, after),
          flush=True)
    check("the built-in rules spare articles and help pages", article > 0.95 and after >= before,
          (article, page, before, after))


def quality(conn, cleans):
    rows = conn.execute(
        "SELECT q.* FROM unnest(ARRAY[repeat('Some text of words. ', 100), E'One sentence, then another, and a third "
        "one that is of some length for a text.\\n', '!!! ### $$$ 1']) t, neardup_text_quality(t) q").fetchall()
    check("kept is NULL without RE2 only", all((r[0] is None) == (not cleans) for r in rows), rows)
    check("repetition and signs lower the score",
          rows[0][4] < rows[1][4] and rows[2][4] < rows[1][4] and all(0 <= r[4] <= 1 for r in rows), rows)
    equal("neardup_text_score is the score",
          one(conn, "SELECT count(*) FROM unnest(ARRAY['', 'a', E'b\\nb']) t, neardup_text_quality(t) q "
                    "WHERE q.score <> neardup_text_score(t)"), 0)


def scripts(conn):
    equal(
        "to simplified", one(conn, "SELECT neardup_to_simplified('漢字轉換，乾燥頭髮 abc')"), "汉字转换，干燥头发 abc")
    equal("to traditional", one(conn, "SELECT neardup_to_traditional('汉字转换，干燥头发 abc')"),
          "漢字轉換，乾燥頭髮 abc")
    equal("what is not Chinese stays", one(conn, "SELECT neardup_to_simplified('Plain, naïve Привет')"),
          "Plain, naïve Привет")
    # Cut into pieces, of lines and of one line.
    for end in ("\n", "。", " "):
        equal("a long text is converted as its parts are, ended by %r" % end,
              one(conn, "SELECT neardup_to_simplified(repeat(%s, 5000)) = repeat(neardup_to_simplified(%s), 5000)",
                  ("頭髮乾燥，發展中國家的電腦軟體" + end,) * 2), True)


def interrupts(conn, opencc, cleans):
    conn.execute("CREATE TABLE long AS SELECT repeat('甲乙丙丁，戊己庚辛', 3000000) AS t, "
                 "convert_to(repeat('甲乙丙丁', 5000000), 'GB18030') AS raw")
    calls = ["neardup_to_utf8(raw || '\\xff', 'gb18030', 'drop')",
             "neardup_to_utf8(raw || raw || raw || raw, 'utf-16le', 'drop')", "neardup_text_score(t || t || t)"]
    calls += ["neardup_to_simplified(t)"] if opencc else []
    calls += ["neardup_clean(t, ARRAY[ROW('x', 'text', '(甲|乙|丙)', '\\1-', 1)::neardup_rule])"] if cleans else []
    for call in calls:
        stops_when_asked("cancelled: %s" % call.split("(")[0], conn, "SELECT length(%s::text) FROM long" % call)
    equal("and all goes on", one(conn, "SELECT neardup_to_utf8('\\xc4e3', 'gbk')"), "你")


def other_databases(cleans):
    with database("_latin1", "ENCODING 'LATIN1' LOCALE 'C'") as name, connect(name, client_encoding="UTF8") as conn:
        equal("LATIN1: what it has", one(conn, "SELECT neardup_to_utf8('\\x636166c3a9', 'utf8')"), "café")
        fails("LATIN1: what it lacks", conn, "SELECT neardup_to_utf8('\\x61e4b8ad', 'utf8')", state="22P05",
              text="U+4E2D")
        equal("LATIN1: dropped",
              tuple(conn.execute("SELECT body, dropped FROM neardup_decode('\\x61e4b8ad62e69687', 'utf8')").fetchone()),
              ("ab", 2))
        equal("LATIN1: title", one(conn, "SELECT neardup_title('caf%C3%A9_noir.txt')"), "café noir")
        few = one(conn, "SELECT count(*) FROM neardup_default_rules()")
        check("LATIN1: the rules for English", few >= 10, few)
        if cleans:
            equal("LATIN1: cleaned", one(conn, "SELECT body FROM neardup_clean(E'café\nAdvertisement\nÀ propos\n')"),
                  "café\nÀ propos\n")
            fails("LATIN1: a bad pattern is shown", conn,
                  "SELECT neardup_clean('x', ARRAY[ROW('é', 'line', 'é(', NULL, 1)::neardup_rule])", state="22023",
                  text='rule "é"')
    with database("_euc", "ENCODING 'EUC_JP' LOCALE 'C'") as name, connect(name, client_encoding="UTF8") as conn:
        equal("EUC_JP: from Shift JIS", one(conn, "SELECT neardup_to_utf8('\\x93fa967b8cea', 'sjis')"), "日本語")
    with database("_ascii", "ENCODING 'SQL_ASCII' LOCALE 'C'") as name, connect(name) as conn:
        equal("SQL_ASCII: the bytes of UTF-8",
              bytes(one(conn, "SELECT convert_to(neardup_to_utf8('\\xc4e3', 'gbk'), 'SQL_ASCII')")), "你".encode())
        fails("SQL_ASCII: text that is none", conn, "SELECT neardup_text_quality(convert_from('\\xff', 'SQL_ASCII'))",
              state="22021")


def main():
    with database() as name, connect(name) as conn:
        opencc = available(conn, "OpenCC", "neardup_to_simplified('x')")
        cleans = available(conn, "RE2", "neardup_clean('x')")
        sections((detection, conn), (many_broken, conn), (encodings, conn, opencc), (languages, conn),
                 (quality, conn, cleans),
                 (interrupts, conn, opencc, cleans))
        if cleans:
            sections((rules, conn), (pages, conn))
        if opencc:
            sections((scripts, conn))
    other_databases(cleans)


finish(main)
