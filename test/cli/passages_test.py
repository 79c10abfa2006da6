#!/usr/bin/python3
"""Tests of `neardup passages`: passages_test.py PROGRAM [TEST ...], as cli_test.py, whose helpers they use."""
import html
import json
import os
import re
import sys

import cli_test
from cli_test import Load, Page, contains, equal, sql

cli_test.TESTS.clear()  # those of the others
test = cli_test.test

FOOTER = "kind regards from all of us at the parcel post"
MAILS = """CREATE EXTENSION neardup; CREATE TABLE mails (id int PRIMARY KEY, body text, team text);
    INSERT INTO mails SELECT i, (SELECT string_agg('w' || i || 'x' || n, ' ') FROM generate_series(1, i) n) || E'\\n'
        || CASE WHEN i % 2 = 0 THEN initcap('""" + FOOTER + """') ELSE '""" + FOOTER + """' END,
        CASE WHEN i > 2 THEN 'b' ELSE 'a' END FROM generate_series(1, 20) i;
    INSERT INTO mails VALUES (21, 'nothing of the others'), (22, NULL)"""


def read_passages(page):
    """[(documents, occurrences, text, ids)] in the order of the page."""
    found = re.findall(r'<summary><b>([\d,]+)</b> documents?, <b>([\d,]+)</b> occurrences</summary>\s*<div class="line '
                       r'text" dir="auto">(.*?)</div>\s*<p class="note soft">In (.*?)</p>', page.source, re.DOTALL)
    return [(int(d), int(o), html.unescape(text),
             re.findall('<bdi class="id">(.*?)</bdi>', ids)) for d, o, text, ids in found]


def read_bars(page):
    """{id: (value of the bar, repeated, length)}"""
    found = re.findall(r'<bdi class="id">([^<]*)</bdi></th><td><meter min="0" max="1" value="([^"]*)">[^<]*</meter> '
                       r'[^<]*</td><td>([\d,]+) of ([\d,]+) characters', page.source)
    return {name: (float(value), int(part.replace(",", "")),
                   int(whole.replace(",", ""))) for name, value, part, whole in found}


@test
def passages_of_a_query(tmp):
    sql(MAILS)
    out = f"{tmp}/page.html"
    query = "SELECT id, body FROM mails ORDER BY id -- all"
    contains(Load("passages", query, "--min-units", "5", "-o", out).out, "21 documents, 20 with repeated passages, ")
    equal(os.listdir(tmp), ["page.html"])
    page = Page(out)
    contains(page.text, "Passages of 5 or more words that occur 2 times or more.")
    contains(page.text, "Repeated passages: " + query)
    contains(page.text, "Show only passages and documents with")
    equal(read_passages(page), [(20, 20, FOOTER, read_passages(page)[0][3])])
    ids = read_passages(page)[0][3]
    equal((len(ids), len(set(ids)), set(ids) <= {str(i) for i in range(1, 21)}), (12, 12, True))
    contains(page.text, "and 8 more")
    lengths = sql("SELECT json_object_agg(id, length(body)) FROM mails WHERE id <= 20")
    bars = read_bars(page)
    equal({k: v[2] for k, v in bars.items()}, json.loads(lengths))
    equal({v[1] for v in bars.values()}, {len(FOOTER)})
    equal([round(v[1] / v[2], 3) for v in bars.values()], [v[0] for v in bars.values()])
    equal(list(bars), sorted(bars, key=int))  # the shortest mail has the greatest share
    few = f"{tmp}/few.html"
    Load("passages", query, "--min-units", "5", "-o", few, "--documents", "3", "--passages", "0", "-q")
    equal((read_passages(Page(few)), list(read_bars(Page(few)))), ([], ["1", "2", "3"]))


@test
def passages_longer_than_a_shingle(tmp):
    """Documents of a passage are found by a shingle of at most 64 units: also of passages of more, of each unit."""
    out = f"{tmp}/page.html"
    words = " ".join(f"w{i}" for i in range(80))
    sql("CREATE EXTENSION neardup; CREATE TABLE long_mails AS SELECT i AS id, 'mine' || i || ' ' || CASE "
        "WHEN i % 2 = 0 THEN '" + words + "' ELSE 'nothing else' END || ' yours' || i AS body "
        "FROM generate_series(1, 6) i")
    for options in (("--min-units", "70"), ("--min-units", "64"), ("--min-units", "100", "--unit", "char"),
                    ("--min-units", "79", "--unit", "code")):
        Load("passages", "TABLE long_mails ORDER BY id", *options, "-o", out)
        equal([(p[0], sorted(p[3])) for p in read_passages(Page(out))], [(3, ["2", "4", "6"])])
    sql("DROP TABLE long_mails")
    first, second = (" ".join(f"{letter}{i}" for i in range(10)) for letter in "ab")
    Load("passages", f"VALUES (1, '{first} {second} one'), (2, '{first} {second} two'), (3, '{first} three')",
         "--min-units", "5", "-o", out)
    equal(sorted((p[0], sorted(p[3])) for p in read_passages(Page(out))), [(2, ["1", "2"]), (3, ["1", "2", "3"])])
    text = "\\n".join(f"line {i}" for i in range(5))
    for unit, query in (
            ("line", f"VALUES (1, E'a\\n{text}\\nb'), (2, E'c\\n{text}\\nd'), (3, 'e')"),
            ("paragraph", "VALUES (1, E'a\\n\\nsame one\\n\\nb'), (2, E'c\\n\\nsame one\\n\\nd'), (3, 'e')")):
        Load("passages", query, "--unit", unit, "--min-units", "1", "-o", out)
        equal({i for p in read_passages(Page(out)) for i in p[3]}, {"1", "2"})


@test
def units_and_groups(tmp):
    sql(MAILS)
    out = f"{tmp}/page.html"
    Load("passages", "SELECT id, body, team AS within FROM mails", "--unit", "line", "--min-units", "1", "--at-least",
         "3", "-o", out)
    equal([p[:3] for p in read_passages(Page(out))],
          [(9, 9, FOOTER), (9, 9, " ".join(w.capitalize() for w in FOOTER.split()))])
    contains(Page(out).text, "Passages of 1 or more lines that")
    Load("passages", "VALUES (1, 'x = f(1);'), (2, 'y=g(x) ;')", "--unit", "code", "--min-units", "4", "-o", out)
    contains(Page(out).text, "Passages of 4 or more tokens of code that occur 2 times or more.")
    Load("passages", "SELECT 1, 'a b c' ;\n", "--min-units", "2", "-o", out)
    contains(Page(out).text, "No passage is repeated.")
    equal(Page(out).scripts, [])
    for query in ("SELECT*FROM (VALUES (1, 'a b'), (2, 'a b')) v", "select-1, 'a b'", "(VALUES(1, 'a b'))",
                  "WITH\"m\"AS (SELECT 1, 'a b') TABLE m"):
        Load("passages", query, "--min-units", "2", "-o", out)
    Load("passages", "SELECT 1, NULL::text WHERE false", "-o", out)
    contains(Page(out).text, "0 documents, 0 with repeated passages")


@test
def passages_of_a_job(tmp):
    sql(MAILS)
    sql("SELECT create_duplicates('dups', 'mails', 'id', 'body', threshold => 0.5)")
    out = f"{tmp}/page.html"
    contains(Load("passages", "dups", "--min-units", "5", "-o", out).out, "21 documents, 20 with repeated passages")
    equal([p[:3] for p in read_passages(Page(out))], [(20, 20, FOOTER)])
    contains(Page(out).text, "Repeated passages: dups")
    sql("CREATE TABLE files AS SELECT id, convert_to(body, 'UTF8') AS data FROM mails; "
        "ALTER TABLE files ADD PRIMARY KEY (id)")
    sql("SELECT create_duplicates('binary', 'files', 'id', 'data', profile => 'web', threshold => 0.5)")
    equal([p[:3] for p in read_passages(Page(Load("passages", "binary", "--min-units", "5", "-o", out) and out))],
          [(20, 20, FOOTER)])
    sql("ALTER TABLE mails ADD sig minhash; UPDATE mails SET sig = to_minhash(body); "
        "SELECT create_duplicates('signed', 'mails', 'id', signature => 'sig', threshold => 0.5)")
    contains(Load("passages", "signed", "-o", out, status=1).err, "there are no texts")


@test
def hostile_data(tmp):
    evil = ("</div></body><script>alert(1)</script> \" ' & &lt; "
            "]]> --> \u202e override \u2067 isolate \x01 \x1b[31m <img src=x onerror=alert(1)> \U0001f600 ")
    sql("CREATE EXTENSION neardup; CREATE TABLE docs (id text PRIMARY KEY, body text)")
    sql(f"INSERT INTO docs SELECT $e${evil}$e$ || n, $e${evil}$e$ FROM generate_series(1, 3) n")
    out = f"{tmp}/page.html"
    Load("passages", f"SELECT id, body FROM docs WHERE body <> $e${evil.replace(chr(1), '')}$e$", "--min-units", "2",
         "-o", out)
    equal(Page(out).source.count("<tr"), 3)
    contains(Page(out).text, "3 documents, 3 occurrences")


@test
def errors(tmp):
    sql(MAILS)
    out = f"{tmp}/page.html"
    for arguments in (("dups",), ("-o", out), ("TABLE mails", "x", "-o", out),
                      ("TABLE mails", "-o", out, "--min-units", "0"), ("TABLE mails", "-o", out, "--at-least", "1"),
                      ("TABLE mails", "-o", out, "--passages", "10001")):
        Load("passages", *arguments, status=2)
    for source, said in (("nothing", "no table of duplicates"), ("with_x", "no table of duplicates"),
                         ("table.x", "no table of duplicates"), ("Values", "no table of duplicates"),
                         ("SELECT 1", "it returns 1 column"), ("SELECT 1, 'a', 2", "it returns 3 columns"),
                         ("SELECT 1; SELECT 2, 'a'", "syntax error"), ("SELECT 1, 'a' UNION ALL SELECT 1, 'b'", "1"),
                         ("SELECT nothing FROM mails", "nothing"),
                         ("WITH gone AS (DELETE FROM mails RETURNING id, body) SELECT * FROM gone", "WITH")):
        contains(Load("passages", source, "-o", out, status=1).err, said)
    contains(Load("passages", "SELECT id, body FROM mails", "--unit", "page", "-o", out, status=1).err,
             'unknown unit "page"')
    contains(Load("passages", "SELECT id, body FROM mails", "--min-units", "1", "-o", out, status=1).err,
             "min_units must be between 2 and 100000 for unit 'word': 1")
    contains(Load("passages", "SELECT id, body FROM mails", "-o", f"{tmp}/no/where.html", status=1).err, "cannot write")
    equal((os.listdir(tmp), sql("SELECT count(*) FROM mails")), ([], "22"))
    contains(Load("passages", "SELECT id, body FROM mails", "-o", "-").out, "</html>")
    contains(Load("passages", "--help").out, "usage: neardup passages JOB|QUERY --out FILE")


if __name__ == "__main__":
    os.environ["PGOPTIONS"] = "-c client_min_messages=warning"
    sys.exit(cli_test.main())
