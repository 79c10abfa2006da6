#!/usr/bin/python3
"""Tests of `neardup report`: report_test.py PROGRAM [TEST ...], as cli_test.py, whose helpers they use."""
import csv
import io
import json
import os
import re
import stat
import struct
import subprocess
import sys

import cli_test
from cli_test import Load, Page, contains, equal, families, sql

cli_test.TESTS.clear()  # those of the others
test = cli_test.test

PAIR = '<details class="card item" open><summary><b>'
CLUSTER = "</b> copies, cluster "


def in_order(text, *parts):
    """Each part comes after the one before."""
    at = 0
    for part in parts:
        found = text.find(part, at)
        if found < 0:
            raise AssertionError(f"{part!r} is not in {text[at:]!r}")
        at = found + len(part)


@test
def report_of_a_job(tmp):
    families(tmp)
    sql("SELECT create_duplicates('dups', 'docs', 'id', 'body', threshold => 0.3)")
    sql("CALL refresh_duplicates('dups')")
    out = f"{tmp}/report.html"
    contains(Load("report", "dups", "--out", out).out, "100 rows, 30 clusters of 2 or more, 60 duplicates")
    equal(os.listdir(tmp), ["report.html"])
    page = Page(out)
    in_order(page.text, "Near duplicates: dups",
             "100 rows, 30 clusters of 2 rows or more, the largest of 4, with 60 duplicates (60.0 %)",
             "Removing them would leave 40 rows", "Show only pairs and clusters with", "Pairs nearest to the threshold",
             "words that differ are marked", "Largest clusters", "Histograms", "Similarity of duplicates", "3–4",
             "Settings", "threshold", "0.3", "anchor", "Made by neardup")
    equal(page.source.count('<svg viewBox="0 0 560.0 250.0"'), 2)
    # a title ends with a word; a path; what differs first: member 1 from member 0
    title = re.search('<bdi class="title">(f11w1 [^<]*)…</bdi>', page.source).group(1)
    equal((title.split(" ")[-1] in sql("SELECT body FROM docs WHERE id = 110").split(" "), 70 < len(title) <= 80),
          (True, True))
    contains(page.source, f'<bdi class="id">{tmp}/11/1.txt</bdi> <span class="soft">(<bdi class="id">111</bdi>)</span>')
    contains(page.source, '<bdi> <del>f11w1</del> <ins>f11w1x</ins> f11w2 f11w3 f11w4 f11w5 f11w6 f11w7 …</bdi>')
    contains(page.text, "4 copies, cluster ")
    # the member v of a family differs where i % 40 = v
    marked = {int(word.rstrip("x").split("w")[1]) % 40 for words in page.marked for word in words.split()}
    if not {0} < marked <= {0, 1, 2, 3}:
        raise AssertionError(page.marked)
    equal((page.source.count(PAIR), page.source.count(CLUSTER), page.source.count("<details")), (12, 30, 12 + 30 + 1))
    few = f"{tmp}/few.html"
    Load("report", "dups", "-o", few, "--clusters", "0", "--pairs", "1", "-q")
    equal(Page(few).source.count(PAIR), 1)
    if "Largest clusters" in Page(few).text:
        raise AssertionError("clusters that nobody asked for")
    for arguments in (("dups",), ("-o", out), ("dups", "-o", out, "--pairs", "x"), ("dups", "x", "-o", out)):
        Load("report", *arguments, status=2)
    contains(
        Load("report", "dups", "-o", out, "--format", "xml", status=2).err, "--format must be html, json or csv: xml")
    contains(Load("report", "dups", "-o", f"{tmp}/no/where.html", status=1).err, "cannot write")
    os.mkfifo(f"{tmp}/pipe")
    contains(Load("report", "dups", "-o", f"{tmp}/pipe", status=1).err, "no regular file")
    equal(stat.S_ISFIFO(os.stat(f"{tmp}/pipe").st_mode), True)
    os.symlink("few.html", f"{tmp}/link.html")
    Load("report", "dups", "-o", f"{tmp}/link.html")
    equal((os.path.islink(f"{tmp}/link.html"), Page(few).source.count(PAIR)), (True, 12))
    os.remove(f"{tmp}/pipe")
    os.remove(f"{tmp}/link.html")
    before = page.source
    Load("report", "nothing", "-o", out, status=1)
    sql("DROP TABLE dups")
    Load("report", "dups", "-o", out, status=1)
    equal(Page(out).source, before)
    equal(sorted(os.listdir(tmp)), ["few.html", "report.html"])


@test
def report_of_hostile_data(tmp):
    evil = ("</div></td></body><script>alert(1)</script> \"double\" 'single' & &amp; &lt;b&gt; "
            "]]> --> <!-- \u202e override "
            "\u2067 isolate \u200f \ufeff \x01 \x1b[31m \x7f \x85 \ufffe <img src=x onerror=alert(1)> 文章重複檢測 "
            "\U0001f600 ")
    text = evil + " ".join(f"w{i}" for i in range(60))
    sql("CREATE EXTENSION neardup; CREATE TABLE docs (id text PRIMARY KEY, body text)")
    sql("INSERT INTO docs SELECT chr(34) || n || chr(39) || ', <i>', '<script>alert(1)</script>' || chr(10) || "
        "string_agg('q' || i, ' ' ORDER BY i) || n FROM generate_series(1, 2) n, generate_series(1, 60) i GROUP BY n")
    sql(f"INSERT INTO docs SELECT $e${evil}$e$ || n, $t${text}$t$ || n FROM generate_series(1, 4) n")
    sql("INSERT INTO docs SELECT 'long' || repeat('é', 150) || n, string_agg('w' || i || CASE WHEN i = n * 100 "
        "THEN 'x' ELSE '' END, ' ' ORDER BY i) FROM generate_series(1, 2) n, generate_series(1, 9000) i GROUP BY n")
    sql("SELECT create_duplicates('\"<b>&\"', 'docs', 'id', 'body', threshold => 0.5, filter => 'id <> ''<i>''')")
    Load("run", '"<b>&"', "-q")
    sql("DELETE FROM docs WHERE id LIKE '%4'")
    out = f"{tmp}/<&>.html"
    Load("report", '"<b>&"', "-o", out)
    contains(open(out, encoding="utf-8").read(), "&quot;double&quot; &#39;single&#39; &amp; &amp;amp;")
    page = Page(out)
    contains(page.source, '<bdi class="title">&lt;script&gt;alert(1)&lt;/script&gt;</bdi>')
    contains(page.source, '<bdi class="id">&quot;1&#39;, &lt;i&gt;</bdi>')
    for part in ('"<b>&"', "<script>alert(1)</script>", "&amp; &lt;b&gt;", "U+202E override U+2067 isolate",
                 "U+001B[31m", "<img src=x onerror=alert(1)>", "文章重複檢測 \U0001f600", "words that are the same",
                 "the first 20,000 of ", "é…", "the row is no longer among those of the source"):
        contains(page.text, part)
    equal(sorted({word for word in page.marked if word.endswith("00x")}), ["w100x", "w200x"])


@test
def reports_of_every_job(tmp):
    out = f"{tmp}/report.html"
    families()

    def report(ddl, arguments):
        if sql("SELECT to_regclass('dups')"):
            sql("SELECT drop_duplicates('dups')")
        sql(f"DROP TABLE IF EXISTS d; {ddl}")
        sql(f"SELECT create_duplicates('dups', 'd', {arguments})")
        Load("report", "dups", "-o", out)
        contains(Page(out).text, "has not been run")
        Load("run", "dups", "-q")
        Load("report", "dups", "-o", out)
        return Page(out)

    page = report(
        "CREATE TABLE d AS SELECT id, to_minhash(body) AS sig FROM docs", "'id', signature => 'sig', threshold => 0.3")
    contains(page.text, "The job reads signatures from the column sig, so there are no texts to show.")
    page = report(
        "CREATE TABLE d AS SELECT md5(id::text)::uuid AS id, body FROM docs", "'id', 'body', threshold => 0.3")
    contains(page.text, sql("SELECT representative FROM dups WHERE NOT survivor ORDER BY cluster LIMIT 1"))
    page = report("CREATE TABLE d AS SELECT ARRAY[id, -id] AS id, convert_to(body, 'UTF8') || '\\xff00'::bytea AS body "
                  "FROM docs", "'id', 'body', profile => 'ctph', threshold => 0.3")
    contains(page.text, "U+0000")
    contains(page.text, "\ufffd")
    page = report("CREATE TABLE d AS SELECT id, convert_to(body || ' café naïve', 'LATIN1') AS body FROM docs",
                  "'id', 'body', threshold => 0.3")
    contains(page.text, " café naïve")
    page = report("CREATE TABLE d AS SELECT id, body || CASE id % 10 WHEN 3 THEN ' and what else there is' "
                  "ELSE '' END AS body FROM docs", "'id', 'body', measure => 'containment', threshold => 0.3")
    contains(page.text, "measurecontainment")  # a row of the table of settings
    equal(sql("SELECT count(*) > 0 FROM dups WHERE NOT survivor"), "t")
    page = report("CREATE TABLE d AS SELECT id, body FROM docs WHERE id % 10 = 0", "'id', 'body'")
    contains(page.text, "No two rows are in one cluster.")
    sql("DROP TABLE d CASCADE")
    Load("report", "dups", "-o", out)


@test
def pairs_nearest_to_the_threshold(tmp):
    families()
    sql("SELECT create_duplicates('dups', 'docs', 'id', 'body', threshold => 0.3)")
    Load("run", "dups", "-q")
    # Similarities of our own, on both sides of the threshold.
    sql("UPDATE dups SET similarity = 0.31 + id / 10000.0 WHERE NOT survivor; UPDATE dups SET similarity = 0.295 "
        "WHERE id = 31;UPDATE dups SET similarity = NULL WHERE id = 32")
    Load("report", "dups", "-o", f"{tmp}/page.html", "--pairs", "3")
    page = Page(f"{tmp}/page.html")
    in_order(page.text, "0.295 cluster", "30 and 31", "0.311 cluster", "10 and 11", "0.312 cluster", "20 and 21",
             "Largest clusters")
    nearest = sql("SELECT id FROM dups WHERE NOT survivor ORDER BY abs(similarity - 0.3) LIMIT 20").split()
    report = json.loads(Load("report", "dups", "-o", "-", "--format", "json", "--pairs", "20").out)
    equal([pair["duplicate"] for pair in report["pairs"]], nearest)
    # one whose similarity is not known is the last
    report = json.loads(Load("report", "dups", "-o", "-", "--format", "json", "--pairs", "200").out)
    equal(len(report["pairs"]), 60)
    equal(report["pairs"][-1] | {"cluster": 0},
          {"representative": "30", "duplicate": "32", "cluster": 0, "similarity": None, "threshold_distance": None})


@test
def titles_and_snippets(tmp):
    words = " ".join(f"word{i}" for i in range(60))
    texts = {1: f"\n \n  A title \t\nand {words}", 2: f"\n \n  A title \t\nand  {words}",
             3: f"\n \n  A title \t\nand {words}",
             4: f"A title\nand {words.replace('word30', 'other').replace('word50', 'second')}",
             5: f"A title\nand {words.replace(' word30', '')}", 6: f"A title\nand {words} {'long' * 200}"}
    sql("CREATE EXTENSION neardup; CREATE TABLE docs (id int PRIMARY KEY, path varchar, body text)")
    for number, text in texts.items():
        sql(f"INSERT INTO docs VALUES ({number}, NULLIF({number}, 3) || '/dir/file{number}.txt', '{text}')")
    sql("SELECT create_duplicates('dups', 'docs', 'id', 'body', threshold => 0.5)")
    Load("run", "dups", "-q")
    equal(sql("SELECT count(*) || ' ' || sum(survivor::int) || ' ' || min(representative) FROM dups"), "6 1 1")

    def snippets():
        Load("report", "dups", "-o", f"{tmp}/page.html", "--pairs", "0")
        page = Page(f"{tmp}/page.html")
        items = re.findall(
            '<li><b>[^<]*</b> <bdi class="id">([0-9])(?:.*?)<div class="snippet" dir="auto">(.*?)</div></li>',
            page.source)
        return page, {number: re.sub("</?bdi>", "", snippet) for number, snippet in items}

    page, found = snippets()
    contains(page.source, '<bdi class="title">A title</bdi>')
    contains(page.source, '<span class="keep">kept</span> <bdi class="id">1/dir/file1.txt</bdi>')
    around = (
        "… word24 word25 word26 word27 word28 word29 <del>word30</del> %sword31 word32 word33 word34 word35 word36 …")
    equal(found, {"2": '<span class="skip">only spaces differ</span>', "3": '<span class="skip">the same text</span>',
                  "4": around % "<ins>other</ins> ", "5": around % "",
                  "6": f"… word54 word55 word56 word57 word58 word59 <ins>{'long' * 50} …</ins> "})
    contains(page.source, '<bdi class="id">3</bdi><div')  # it has no path
    # without a document the path's file name, without that the id
    sql("UPDATE docs SET body = NULL WHERE id = 1")
    contains(snippets()[0].source, '<bdi class="title">file1.txt</bdi>')
    sql("UPDATE docs SET path = NULL WHERE id = 1")
    page, found = snippets()
    contains(page.source, '<summary><bdi class="id">1</bdi>')
    equal(found["4"], '<span class="skip">its representative has no document now</span>')


@test
def report_as_json(tmp):
    families()
    sql("UPDATE docs SET path = E'a\"b\\\\c\\n\\x01\u202e<' WHERE id = 31; UPDATE docs SET path = NULL WHERE id = 32")
    sql("SELECT create_duplicates('dups', 'docs', 'id', 'body', threshold => 0.3)")
    empty = json.loads(Load("report", "dups", "-o", "-", "--format", "json").out)
    equal((empty["counts"]["rows"], empty["clusters"], empty["pairs"], empty["finished"]), (0, [], [], None))
    Load("run", "dups", "-q")
    load = Load("report", "dups", "--out", f"{tmp}/r.json", "--format", "json", "--clusters", "12", "--pairs", "5")
    contains(load.out, "100 rows, 30 clusters of 2 or more, 60 duplicates")
    with open(f"{tmp}/r.json", encoding="utf-8") as file:
        text = file.read()
    load = Load("report", "dups", "--out", "-", "--format", "json", "--clusters", "12", "--pairs", "5")
    equal(re.sub('"time": .*', "", load.out), re.sub('"time": .*', "", text))
    contains(load.err, "dups: 100 rows")
    report = json.loads(text)
    for key in ("time", "finished"):
        equal(bool(re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", report[key])), True)
    equal(sql("SELECT finished BETWEEN '%s' AND '%s'::timestamptz + '1 s' FROM dups_job" % (
              report["finished"], report["finished"])), "t")
    equal(report["counts"], {"rows": 100, "clusters": 30, "clustered_rows": 90, "duplicates": 60, "largest_cluster": 4})
    settings = report["settings"]
    equal((settings["threshold"], settings["source"], settings["linkage"], report["job"]),
          (0.3, "public.docs", "anchor", "dups"))
    largest = sql("""SELECT json_agg(json_build_object('number', cluster, 'size', n, 'rows', rows)
        ORDER BY n DESC, cluster) FROM (
        SELECT r.cluster, count(*) AS n, json_agg(json_build_object('id', r.id::text, 'path', d.path, 'similarity',
          r.similarity,
          'survivor', r.survivor) ORDER BY r.survivor DESC, r.similarity DESC, r.id) AS rows
        FROM dups r JOIN docs d USING (id) GROUP BY r.cluster ORDER BY n DESC, r.cluster LIMIT 12) c""")
    equal(report["clusters"], json.loads(largest))
    whole = json.loads(Load("report", "dups", "--out", "-", "--format", "json").out)
    paths = {row["id"]: row["path"] for cluster in whole["clusters"] for row in cluster["rows"]}
    equal((paths["31"], paths["32"], len(paths)), ("a\"b\\c\n\x01\u202e<", None, 90))
    equal(len(report["pairs"]), 5)
    for pair in report["pairs"]:
        stored = sql(
            f"SELECT similarity FROM dups WHERE id = {pair['duplicate']} AND representative = {pair['representative']}")
        equal((pair["similarity"], pair["threshold_distance"]), (float(stored), abs(float(stored) - 0.3)))


@test
def report_as_csv(tmp):
    families()
    sql("ALTER TABLE docs ADD name text UNIQUE; UPDATE docs SET name = E'id \"' || id || E'\", \\\\ \\r\\n;\u202e'")
    sql("UPDATE docs SET path = NULL WHERE id = 32")
    sql("SELECT create_duplicates('dups', 'docs', 'name', 'body', threshold => 0.3)")
    equal(Load("report", "dups", "-o", "-", "--format", "csv").out,
          "cluster,id,representative,similarity,survivor,path\n")
    Load("run", "dups", "-q")
    out = f"{tmp}/r.csv"
    Load("report", "dups", "-o", out, "--format", "csv", "-q")
    with open(out, encoding="utf-8", newline="") as file:
        text = file.read()
    equal(Load("report", "dups", "-o", "-", "--format", "csv", "-q").out, text)
    got = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    expected = sql("""SELECT json_agg(json_build_array(r.cluster::text, r.id, r.representative, r.similarity::text,
          r.survivor::text,
          COALESCE(d.path, '')) ORDER BY r.cluster, r.survivor DESC, r.similarity DESC, r.id)
        FROM dups r JOIN docs d ON d.name = r.id WHERE r.cluster IN (SELECT cluster FROM dups GROUP BY cluster
          HAVING count(*) > 1)""")
    equal(got, [["cluster", "id", "representative", "similarity", "survivor", "path"], *json.loads(expected)])
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([cli_test.PROGRAM, "report", "dups", "-o", "-", "--format", "csv"], stdout=full,
                              stderr=subprocess.PIPE, check=False)
    equal(done.returncode, 1)


@test
def rights_of_a_page_that_is_replaced(tmp):
    cli_test.families()
    sql("SELECT create_duplicates('dups', 'docs', 'id', 'body')")
    page = f"{tmp}/r.html"
    for mode in (0o600, 0o640, 0o664):
        with open(page, "w", encoding="utf-8"):
            os.chmod(page, mode)
        Load("report", "dups", "--out", page, "-q")
        equal((stat.S_IMODE(os.stat(page).st_mode), os.path.getsize(page) > 1000), (mode, True))
    if os.getuid() == 0:
        os.chown(page, 65534, 65534)
        os.chmod(page, 0o600)
        Load("report", "dups", "--out", page, "-q")
        now = os.stat(page)
        equal((now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode), now.st_size > 1000), (65534, 65534, 0o600, True))
    # The mode shows the mask of an access control list as the group's rights: the most that its entries allow.
    os.chmod(page, 0o660)
    entries = ((1, 6, -1), (2, 6, 65534), (4, 0, -1), (16, 6, -1), (32, 0, -1))  # owner, a user, group, mask, others
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(page, "system.posix_acl_access", acl)
    except OSError as error:
        print(f"skip - access control lists: {error.strerror}")
    else:
        Load("report", "dups", "--out", page, "-q")
        equal(stat.S_IMODE(os.stat(page).st_mode), 0o600)
        # New files inherit the default list of their folder.
        os.chmod(page, 0o640)
        os.setxattr(tmp, "system.posix_acl_default", acl)
        Load("report", "dups", "--out", page, "-q")
        os.removexattr(tmp, "system.posix_acl_default")
        equal(stat.S_IMODE(os.stat(page).st_mode), 0o600)
    os.unlink(page)
    subprocess.run(["sh", "-c", 'umask 027; exec "$0" report dups --out "$1" -q', cli_test.PROGRAM, page], check=True)
    equal(stat.S_IMODE(os.stat(page).st_mode), 0o640)


@test
def operators_of_others(tmp):
    """An operator that fits better than pg_catalog's, in a schema that others may write, is not called."""
    sql("CREATE EXTENSION IF NOT EXISTS neardup")
    sql("CREATE TABLE docs (id varchar(9) PRIMARY KEY, path varchar, body text)")
    sql(f"INSERT INTO docs SELECT i, '{tmp}/' || i, 'words that both have, of number ' || i / 2 "
        "FROM generate_series(2, 9) i")
    for i in range(2, 10):
        with open(f"{tmp}/{i}", "w", encoding="utf-8") as file:
            file.write("text")
    sql("SELECT create_duplicates('dups', 'docs', 'id', 'body')")
    sql("CALL refresh_duplicates('dups')")
    sql("CREATE FUNCTION public.trap(varchar, varchar) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; "
        "END $$;CREATE OPERATOR public.= (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = public.trap)")
    try:
        contains(Load("report", "dups", "--out", f"{tmp}/r.html").out, "8 rows, 4 clusters")
        contains(Load("report", "dups", "--out", "-", "--format", "csv", "-q").out, f"{tmp}/3")
        contains(Load("export", "dups", f"{tmp}/out", "--copy").out, "8 files of 4 clusters copied, 0 skipped")
    finally:
        sql("DROP FUNCTION public.trap CASCADE")


@test
def ids_of_a_domain(tmp):
    """The result has the type below it. In the schema of that type's equality another role may have put an operator for
    both."""
    sql("CREATE EXTENSION IF NOT EXISTS neardup")
    sql("DROP TYPE IF EXISTS odd CASCADE; CREATE TYPE odd; "
        "CREATE FUNCTION odd_in(cstring) RETURNS odd LANGUAGE internal IMMUTABLE STRICT AS 'textin';"
        "CREATE FUNCTION odd_out(odd) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout'; "
        "CREATE TYPE odd (INPUT = odd_in, OUTPUT = odd_out, LIKE = text, COLLATABLE = true);")
    for name, function, operator in (("lt", "text_lt", "< >"), ("le", "text_le", "<= >="), ("eq", "texteq", "= ="),
                                     ("ge", "text_ge", ">= <="), ("gt", "text_gt", "> <")):
        operator, commutator = operator.split()
        sql(f"CREATE FUNCTION odd_{name}(odd, odd) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS '{function}';"
            f"CREATE OPERATOR {operator} (LEFTARG = odd, RIGHTARG = odd, FUNCTION = odd_{name}, COMMUTATOR = "
            f"{commutator}{', MERGES, HASHES' if operator == '=' else ''})")
    sql("CREATE FUNCTION odd_cmp(odd, odd) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'bttextcmp'; "
        "CREATE FUNCTION odd_hash(odd) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'hashtext'; "
        "CREATE OPERATOR CLASS odd_ops DEFAULT FOR TYPE odd USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, "
        "OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 odd_cmp(odd, odd); "
        "CREATE OPERATOR CLASS odd_hash_ops DEFAULT FOR TYPE odd USING hash AS OPERATOR 1 =, FUNCTION 1 odd_hash(odd);"
        "CREATE DOMAIN below AS odd; CREATE DOMAIN id_of_docs AS below")
    sql("CREATE TABLE docs (id id_of_docs PRIMARY KEY, path text, body text);"
        f"INSERT INTO docs SELECT i::text::odd, '{tmp}/' || i, 'words that both have, of number ' || i / 2 "
        "FROM generate_series(2, 9) i")
    sql("SELECT create_duplicates('dups', 'docs', 'id', 'body')")
    sql("CALL refresh_duplicates('dups')")
    sql("CREATE FUNCTION trap(id_of_docs, odd) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung'; END $$; "
        "CREATE OPERATOR = (LEFTARG = id_of_docs, RIGHTARG = odd, FUNCTION = trap)")
    contains(Load("report", "dups", "--out", f"{tmp}/r.html").out, "8 rows, 4 clusters")
    contains(cli_test.Page(f"{tmp}/r.html").text, f"{tmp}/3")
    contains(Load("report", "dups", "--out", "-", "--format", "csv", "-q").out, f"{tmp}/3")
    contains(Load("export", "dups", f"{tmp}/out", "--list").out, "8 files of 4 clusters listed, 0 skipped")
    # a table of duplicates that 0.2.0 made has ids of the domain
    sql("ALTER TABLE dups ALTER id TYPE id_of_docs; ALTER TABLE dups ALTER representative TYPE id_of_docs")
    Load("report", "dups", "--out", f"{tmp}/r.html", "-q")
    contains(cli_test.Page(f"{tmp}/r.html").text, "of number 1")
    contains(Load("export", "dups", "-", "--list").out, f"{tmp}/3")
    sql("ALTER TABLE dups ALTER id TYPE odd; ALTER TABLE dups ALTER representative TYPE odd")
    # a cast of another type may be its owner's
    sql("CREATE TYPE own AS ENUM ('2', '3', '4', '5', '6', '7', '8', '9'); "
        "CREATE FUNCTION convert(own) RETURNS odd LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung'; END $$;"
        "ALTER TABLE docs ALTER id TYPE own USING id::text::own; "
        "CREATE CAST (own AS odd) WITH FUNCTION convert(own) AS IMPLICIT")
    contains(Load("report", "dups", "--out", f"{tmp}/r.html").out, "8 rows, 4 clusters")
    other = 'column "id" of public.docs is public.own, and was public.odd at the last run'
    contains(cli_test.Page(f"{tmp}/r.html").text, other)
    contains(Load("report", "dups", "--out", "-", "--format", "csv", "-q").err,
             f"warning: Documents and paths are not shown: {other}. neardup run writes")
    contains(Load("export", "dups", f"{tmp}/out2", "--list", status=1).err,
             f"{other}\nhint: neardup run writes the table of duplicates again.")
    # The report of passages needs no ids of the result.
    contains(Load("passages", "dups", "--out", f"{tmp}/p.html").out, "8 documents")
    sql("ALTER TABLE docs RENAME id TO number")
    contains(Load("export", "dups", f"{tmp}/out2", "--list", status=1).err,
             "hint: If it was renamed: SELECT alter_duplicates(.., id => 'new_name').")
    sql("DROP TABLE docs")
    contains(Load("report", "dups", "--out", "-", "--format", "json", "-q").err,
             "warning: Documents and paths are not shown: the source of the job has been dropped. drop_duplicates()")
    contains(Load("export", "dups", f"{tmp}/out2", "--list", status=1).err,
             "the source of the job has been dropped\nhint: drop_duplicates() drops the job.")


@test
def ids_of_another_type(tmp):
    """Since the last refresh, which would convert the ids of the result by way of text."""
    sql("CREATE EXTENSION IF NOT EXISTS neardup; CREATE TABLE docs (id int PRIMARY KEY, path text, body text);"
        f"INSERT INTO docs SELECT i, '{tmp}/' || i, 'words that both have, of number ' || i / 2 "
        "FROM generate_series(2, 9) i;" "SELECT create_duplicates('dups', 'docs', 'id', 'body')")
    sql("CALL refresh_duplicates('dups')")
    paths = Load("report", "dups", "--out", "-", "--format", "csv", "-q").out
    contains(paths, f"{tmp}/3")
    for kind in ("text", "bigint USING id::bigint", "numeric", "text"):
        sql(f"ALTER TABLE docs ALTER id TYPE {kind}")
        equal(Load("report", "dups", "--out", "-", "--format", "csv", "-q").out, paths)
        Load("report", "dups", "--out", f"{tmp}/r.html", "-q")
        contains(cli_test.Page(f"{tmp}/r.html").text, "of number 1")
        contains(Load("export", "dups", "-", "--list").out, f"{tmp}/3")
    sql("ALTER TABLE docs ALTER id TYPE text COLLATE \"C\"; ALTER TABLE dups ALTER id TYPE text COLLATE \"POSIX\"")
    equal(Load("report", "dups", "--out", "-", "--format", "csv", "-q").out, paths)
    # a table of duplicates that 0.2.0 made has ids of the source's domain
    sql("CREATE DOMAIN word AS text; ALTER TABLE docs ALTER id TYPE word; ALTER TABLE dups ALTER id TYPE word; "
        "ALTER TABLE dups ALTER representative TYPE word")
    equal(Load("report", "dups", "--out", "-", "--format", "csv", "-q").out, paths)


if __name__ == "__main__":
    os.environ["PGOPTIONS"] = "-c client_min_messages=warning"
    sys.exit(cli_test.main())
