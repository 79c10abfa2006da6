#!/usr/bin/python3
"""Tests of `neardup load` with files of records, packed files and HTML: formats_test.py PROGRAM [TEST ...], as
cli_test.py beside it.

The files are made here, good, broken and hostile ones; each test says which rows it expects. Needs Python's standard
library, psql, and the programs xz, bzip2 and zstd for packed files.
"""
import base64
import binascii
import bz2
import gzip
import json
import lzma
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import cli_test
from cli_test import Load, Skipped, contains, equal, sql, test, write

cli_test.TESTS.clear()
MEGABYTE = 1 << 20


def rows(columns="body", table="t", order="id"):
    """The rows of the table, a list of lines."""
    text = sql(f"SELECT {columns} FROM {table} ORDER BY {order}")
    return text.split("\n") if text else []


def named(path, columns="body"):
    return sql(f"SELECT {columns} FROM t WHERE path = '{path}'")


def skipped(tmp, *arguments):
    """Loads into t; returns {the path without its folder: (reason, detail)} of what was skipped."""
    load = Load("load", *arguments, "-t", "t", "--list-skipped", f"{tmp}.list")
    found = {}
    with open(f"{tmp}.list", encoding="utf-8") as lines:
        for line in lines:
            reason, path, *detail = line.rstrip("\n").split("\t")
            found[path.rsplit("/", 1)[1] if "/" in path.split("#")[0] else path] = (reason, *detail)
    os.unlink(f"{tmp}.list")
    return load, found


def lines(*objects):
    return "".join(json.dumps(o, ensure_ascii=False) + "\n" for o in objects)


def zstd(content):
    try:
        return subprocess.run(["zstd", "-q", "-c"], input=content, capture_output=True, check=True).stdout
    except FileNotFoundError as error:
        raise Skipped("no program zstd") from error


class Pipe:
    """A run of the program that reads standard input."""

    def __init__(self, content, *arguments):
        done = subprocess.run([cli_test.PROGRAM, "load", "-", "-t", "t", *arguments], input=content,
                              capture_output=True, timeout=120, check=False)
        self.out, self.err = done.stdout.decode(), done.stderr.decode()
        equal(done.returncode, 0)


def peak_memory(*arguments, feed=None, prefix=(), kind="VmHWM"):
    """Megabytes that a run of the program needed at most, and what it printed. feed: writes its standard input. kind:
    VmPeak counts what was not touched, too."""
    with subprocess.Popen([*prefix, cli_test.PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        peak = [0]

        def watch():  # what wait4() says has the memory of this script in it, before the program was started
            while process.returncode is None:
                try:
                    with open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
                        peak.extend(int(line.split()[1]) / 1024 for line in status if line.startswith(kind))
                except OSError:
                    return
                time.sleep(0.01)

        watcher = threading.Thread(target=watch)
        watcher.start()
        if feed is not None:
            feed(process.stdin)
        process.stdin.close()
        out = process.stdout.read().decode()
        status = process.wait()
        watcher.join()
        if status != 0:
            raise AssertionError(f"{arguments}: exit code {status}\n{out}")
    return max(peak), out


def at_most(megabytes, limit):
    """The limit is generous, and not one of the sanitizers, which have memory of their own."""
    if megabytes > limit and "asan" not in cli_test.ORIGINAL:
        raise AssertionError(f"{megabytes} MB")


@test
def packed_texts(tmp):
    text = ("many words in a row, " * 30000 + "end\n").encode()
    write(f"{tmp}/a.txt.bz2", bz2.compress(text))
    write(f"{tmp}/b.txt.xz", lzma.compress(text))
    write(f"{tmp}/c.txt.zst", zstd(text))
    write(f"{tmp}/d-without-suffix", lzma.compress(text))
    write(f"{tmp}/e-members.bz2", bz2.compress(text[:999]) + bz2.compress(text[999:]))
    write(f"{tmp}/f-members.xz", lzma.compress(text[:999]) + bytes(8) + lzma.compress(text[999:]))
    write(f"{tmp}/g-frames.zst", zstd(text[:999]) + b"\x50\x2a\x4d\x18\x03\0\0\0abc" + zstd(text[999:]))
    write(f"{tmp}/h-not-packed.xz", text)
    load, found = skipped(tmp, tmp)
    contains(load.out, "8 new")
    equal(found, {})
    equal(sql("SELECT count(DISTINCT content_hash) || ' ' || min(octet_length(body)) FROM t"), f"1 {len(text)}")


@test
def damaged_packings(tmp):
    text = random.Random(1).randbytes(30000).hex().encode()
    for name, packed in {"bz2": bz2.compress(text), "xz": lzma.compress(text), "zst": zstd(text)}.items():
        write(f"{tmp}/cut.{name}", packed[:-9])
        write(f"{tmp}/head.{name}", packed[:7])
        write(f"{tmp}/garbage.{name}", packed + b"garbage")
        middle = len(packed) // 2
        write(f"{tmp}/changed.{name}", packed[:middle] + bytes([packed[middle] ^ 0x55]) + packed[middle + 1:])
    load, found = skipped(tmp, tmp)
    contains(load.out, "0 new")
    equal({reason for reason, *_ in found.values()}, {"damaged zstd, bzip2 or xz"})
    equal(len(found), 12)
    equal(found["cut.xz"], ("damaged zstd, bzip2 or xz", "xz: ends too early"))
    equal(found["garbage.bz2"], ("damaged zstd, bzip2 or xz", "bzip2: garbage after the end"))


@test
def records_before_damage(tmp):
    records = lines(*({"id": i, "text": f"text {i * i * 7919}"} for i in range(200))).encode()
    for name, packed in {"gz": gzip.compress(records), "zst": zstd(records), "xz": lzma.compress(records)}.items():
        write(f"{tmp}/a.jsonl.{name}", packed[:len(packed) * 2 // 3])
        write(f"{tmp}/a.txt.{name}", packed[:len(packed) * 2 // 3])
    _, by_name = skipped(tmp, tmp)
    of_records = ("SELECT count(*) || ' ' || count(*) FILTER (WHERE body = 'text ' || record_id::int * record_id::int "
                  "* 7919) FROM t WHERE path LIKE '%.jsonl.gz#%'")
    count, right = map(int, sql(of_records).split())
    equal((count == right, 50 < count < 200), (True, True))
    equal(by_name["a.jsonl.gz"], ("damaged gzip", "ends too early"))
    equal({name for name in by_name if ".txt." in name}, {"a.txt.gz", "a.txt.zst", "a.txt.xz"})
    equal(sql("SELECT count(*) FROM t WHERE path LIKE '%.txt.%'"), "0")
    sql("DROP TABLE t, t_files")
    skipped(tmp, f"{tmp}/a.jsonl.gz", "--format", "jsonl")
    equal(sql(of_records), f"{count} {count}")


@test
def bombs_of_every_packing(tmp):
    plain = b"a" * (100 * MEGABYTE)
    line = b'{"text": "' + plain + b'"}\n'
    pack = {"gz": lambda b: gzip.compress(b, 1), "bz2": bz2.compress, "xz": lambda b: lzma.compress(b, preset=0),
            "zst": zstd}
    for name, packed in pack.items():
        write(f"{tmp}/text/bomb.{name}", packed(plain))
        write(f"{tmp}/lines/bomb.jsonl.{name}", packed(line + b'{"text": "fits"}\n'))
    memory, out = peak_memory("load", f"{tmp}/text", f"{tmp}/lines", "-t", "t", "--max-size", "1M")
    contains(out, "8 skipped: 8 too large")
    equal(rows(), ["fits"] * 4)
    at_most(memory, 100)


@test
def a_line_of_a_gigabyte(tmp):
    def feed(stdin):
        stdin.write(b'{"text": "first"}\n{"text": "')
        for _ in range(1000):
            stdin.write(b"x" * MEGABYTE)
        stdin.write(b'"}\n{"text": "last"}\n')

    memory, out = peak_memory("load", "-", "-t", "t", "--format", "jsonl", "--max-size", "10M", feed=feed)
    contains(out, "2 new")
    contains(out, "1 skipped: 1 too large")
    equal(rows("path || ' ' || body"), ["-#1 first", "-#3 last"])
    at_most(memory, 150)


@test
def jsonl_rows(tmp):
    write(f"{tmp}/a.jsonl", lines({"id": 7, "text": "seven", "lang": "en", "n": {"a": [1, 2.5, None, True, "x\"y"]}},
                                  {"text": "Zürich \U0001f600 \"quoted\"\t\\", "id": "s"}) + "\n   \r\n" +
          lines({"body": "of another name"}, {"content": [3], "body": 2.5, "text": "first"}), 10**18)
    Load("load", tmp, "-t", "t")
    equal(rows("path || '|' || coalesce(record_id, '-') || '|' || coalesce(attributes::text, '-') || '|' || "
               "coalesce(at::text, '-')"),
          [f"{tmp}/a.jsonl#1|7|" + '{"n": {"a": [1, 2.5, null, true, "x\\"y"]}, "lang": "en"}|-',
           f"{tmp}/a.jsonl#2|s|-|-", f"{tmp}/a.jsonl#3|-|-|-",
           f"{tmp}/a.jsonl#4|-|" + '{"body": 2.5, "content": [3]}|-'])
    equal(rows(), ["seven", "Zürich \U0001f600 \"quoted\"\t\\", "of another name", "first"])
    equal(sql("SELECT string_agg(size::text, ',' ORDER BY id) FROM t"), ",".join(
        str(len(line) + 1) for line in open(f"{tmp}/a.jsonl", "rb").read().split(b"\n") if line.strip()))
    equal(sql("SELECT min(mtime) = to_timestamp(1000000000) AND max(mtime) = min(mtime) FROM t"), "t")
    equal(sql("SELECT path || ' ' || records || ' ' || options FROM t_files"), f"{tmp}/a.jsonl 4 jsonl")


@test
def jsonl_columns(tmp):
    write(f"{tmp}/a.jsonl", lines({"Title": "named", "text": "not this", "key": 5}))
    Load("load", tmp, "-t", "t", "--text-column", "Title", "--id-column", "key")
    equal(rows("body || '|' || record_id || '|' || attributes"), ['named|5|{"text": "not this"}'])
    write(f"{tmp}/b.jsonl", lines({"headline": "x", "url": "y"}))
    _, found = skipped(tmp, f"{tmp}/b.jsonl")
    equal(found, {"b.jsonl#1": ("without a text column", "no column text, body or content; there are: headline, url")})


@test
def jsonl_broken_and_hostile(tmp):
    bad = {
        '{"text": "cut': "damaged records", '{"text": "two"} {"text": "values"}': "damaged records",
        '["text"]': "damaged records", '"text"': "damaged records", '{"text": "lone \\ud800"}': "damaged records",
        '{"text": "nul \\u0000"}': "damaged records", '{"text": "x", "a": [1,,2]}': "damaged records",
        '{"text": "x", "a": 01}': "damaged records", '{"text": "x", "a": tru}': "damaged records",
        '{"text": "x", "a": "\\u0000"}': "damaged records",
        '{"text": "x", "a": ' + "[" * 600 + "]" * 600 + "}": "damaged records", '{"text": null}': "without a text",
        '{"text": ["x"]}': "damaged records", '{"text": {"x": 1}}': "damaged records", '{"text": ""}': "without a text",
        '{"id": 1, "text": "again"}': "records with the id of an earlier one", "not json": "damaged records",
        "{}": "without a text column", '{"text": "x", "a\\u0000": 1}': "damaged records",
        '{"text" "x"}': "damaged records", '{"text": "x",}': "damaged records",
        '{"text": "x", "a": {"b": "\\q"}}': "damaged records", '{"text": "x", "a": 1e}': "damaged records",
        '{"text": "x", "a": NaN}': "damaged records",
    }
    good = {'{"id": 1, "text": "one"}': "one", '{"text": 12.50}': "12.50", '{"text": true}': "true",
            '{"text": "big", "n": 123456789012345678901234567890.10}': "big", '\ufeff{"text": "mark"}': None,
            '{"text": "deep", "a": ' + "[" * 400 + "]" * 400 + "}": "deep", '{"id": null, "text": "no id"}': "no id"}
    content = "\n".join([*good, *bad]) + "\n"
    write(f"{tmp}/a.jsonl", content.encode() + b'{"text": "caf\xe9"}\n{"text": "unended"}')
    _, found = skipped(tmp, tmp)
    first_bad = len(good) + 1
    expected = {f"a.jsonl#{first_bad + i}": reason for i, reason in enumerate(bad.values())}
    expected[f"a.jsonl#{len(good) + len(bad) + 1}"] = "damaged records"
    expected["a.jsonl#5"] = "damaged records"  # a mark within the file
    equal({path: reason for path, (reason, *_) in found.items()}, expected)
    equal(rows(), ["one", "12.50", "true", "big", "deep", "no id", "unended"])
    equal(sql("SELECT attributes->>'n' FROM t WHERE body = 'big'"), "123456789012345678901234567890.10")


@test
def random_json(tmp):
    chance = random.Random(37)

    def value(depth):
        kind = chance.randrange(7 if depth < 5 else 5)
        return (chance.randrange(-10**6, 10**6), chance.choice([True, False, None]),
                chance.random() * 10**chance.randrange(-9, 9),
                "".join(chr(chance.choice([9, 34, 92, 65, 0xe9, 0x4e2d, 0x1f600])) for _ in range(chance.randrange(9))),
                "", [value(depth + 1) for _ in range(3)] if depth < 5 else 0,
                {chr(97 + i): value(depth + 1) for i in range(3)} if depth < 5 else 0)[kind]

    records = [{"text": f"text {i}", **{f"k{j}": value(0) for j in range(chance.randrange(4))}} for i in range(300)]
    write(f"{tmp}/a.jsonl", "".join(json.dumps(r, ensure_ascii=chance.random() < 0.5) + "\n" for r in records))
    contains(Load("load", tmp, "-t", "t").out, "300 new")
    got = [json.loads(line) for line in rows("coalesce(attributes, '{}')")]
    equal(got, [{k: v for k, v in r.items() if k != "text"} for r in records])


@test
def csv_as_copy_reads_it(tmp):
    content = ('id,text,"odd ""name""",n\n1,plain,a,\n2,"two\nlines, and ""quotes""",,""\r\n3,un"quoted, "part,b,5\n\n'
               '4,"",c,6\n5,,d,7\n6,"€ \t ü",e,8\n')
    write(f"{tmp}/a.csv", content)
    write(f"{tmp}/b.tsv", content.replace(",", "\t"))
    _, found = skipped(tmp, tmp)
    equal(found, {f"{name}#{n}": ("without a text", *detail) for name in ("a.csv", "b.tsv")
                  for n, detail in ((4, ()), (5, ("text is NULL",)))})
    sql("CREATE TABLE c (id text, text text, o text, n text)")
    for name, delimiter in (("a.csv", ","), ("b.tsv", "\t")):
        sql(f"TRUNCATE c; COPY c FROM PROGRAM 'cat {tmp}/{name} | sed /^$/d | tr -d \"\\015\"' (FORMAT csv, HEADER, "
            f"DELIMITER '{delimiter}')")
        equal(
            sql(f"SELECT count(*) FROM (SELECT record_id, body, attributes FROM t WHERE path LIKE '%/{name}#%' EXCEPT "
                "SELECT id, text, jsonb_build_object('odd \"name\"', o, 'n', n) FROM c) d"), "0")
        equal(sql(f"SELECT count(*) FROM t WHERE path LIKE '%/{name}#%'"), "4")


@test
def csv_broken_and_hostile(tmp):
    write(f"{tmp}/columns.csv", "a,b\n1,2\n")
    write(f"{tmp}/ragged.csv", b"id,text\n1,one\n2\n3,three,more\n1,again\n5,caf\xe9\n6,n\0l\n7,seven\n")
    write(f"{tmp}/open.csv", 'text,x\ngood,1\n"open,2\nmore\n')
    write(f"{tmp}/large.csv", "text,x\nfirst,1\n\"" + "long line\n" * 20000 + "\",2\nlast,3\n")
    write(f"{tmp}/mark.csv", "\ufefftext\r\none column\r\n")
    write(f"{tmp}/header-only.csv", "id,text\n")
    write(f"{tmp}/html.csv", "<!doctype html><p>an error page")
    write(f"{tmp}/wide.csv", "text," + "," * 20000 + "\nx\n")
    _, found = skipped(tmp, tmp, "--max-size", "100000")
    equal(found, {
        "columns.csv": ("without a text column", "no column text, body or content; there are: a, b"),
        "ragged.csv#2": ("damaged records", "1 fields, but 2 columns"),
        "ragged.csv#3": ("damaged records", "3 fields, but 2 columns"),
        "ragged.csv#4": ("records with the id of an earlier one", "1"), "ragged.csv#5": ("not valid UTF-8",),
        "ragged.csv#6": ("holding NUL (binary)",), "open.csv#2": ("damaged records", "a quote that is not closed"),
        "large.csv#2": ("too large", "a record"),
        "wide.csv": ("without a text column", "the header has more than 10000 columns")})
    equal(rows("body", order="path"),
          ["<!doctype html><p>an error page", "first", "last", "one column", "good", "one", "seven"])


@test
def csv_records_that_are_cut(tmp):
    last = "2,good two\n3,good \"three\"\n4,good four\n"
    long, rows_of_it = "a" * 200, "x,not a record\n" * 20
    records = {"line": f'1,"{long}\nx,not a record\nend"\n', "closed": f'1,"{long}"\n',
               "doubled": f'1,"{long}""\n{rows_of_it}"\n', "further": f'1,"a\n{long}\n{rows_of_it}{long}"\n',
               "twice": f'1,"{long}"" ""\nx,y\n{long}""{long}\nx,y"\n', "plain": f"1,{long}\n",
               "many": f'1,"\n{rows_of_it}"\n', "quotes": f'1,"b","{long}" "{long}"\n'}
    for name, record in records.items():
        write(f"{tmp}/{name}.csv", "id,text\n" + record + last)
    write(f"{tmp}/open.csv", f'id,text\n2,good two\n3,"{long}\n4,good four\n')
    _, found = skipped(tmp, tmp, "--max-size", "100")
    equal(found, {**{f"{name}.csv#1": ("too large", "a record") for name in records},
                  "open.csv#2": ("damaged records", "a quote that is not closed")})
    for name in records:
        equal(sql(f"SELECT string_agg(body, '|' ORDER BY id) FROM t WHERE path LIKE '%/{name}.csv#%'"),
              "good two|good three|good four")
    # The length of the line does not matter, wherever the buffer of the program ends.
    for size in (262100, 262144, 300000, 524288):
        write(f"{tmp}/buffer.csv", f'id,text\n1,"{"a" * size}""{"b" * size}\nx,y\nend"\n2,good two\n')
        sql("DROP TABLE t, t_files")
        equal(skipped(tmp, f"{tmp}/buffer.csv", "--max-size", "100")[1], {"buffer.csv#1": ("too large", "a record")})
        equal(rows(), ["good two"])


@test
def csv_ends_of_lines(tmp):
    write(f"{tmp}/a.csv",
          'id,text\r\n1,"abc\r\ndef\r\n\r\nghi"\r\n2,plain\r\n3,"quoted"\r\n4,"a ""\r\n"" b"\r\n5,"\r\n"\r\n6,"last\r"')
    Load("load", tmp, "-t", "t")
    equal([json.loads(row) for row in rows("to_json(body)")],
          ["abc\r\ndef\r\n\r\nghi", "plain", "quoted", 'a "\r\n" b', "\r\n", "last\r"])


@test
def csv_headers_that_cannot_be_read(tmp):
    write(f"{tmp}/open.csv", 'id,"text\n1,a\n2,b\n')
    write(f"{tmp}/large.csv", "id,text," + "x" * 2000 + "\n1,a,b\n")
    _, found = skipped(tmp, tmp, "--max-size", "1000")
    equal(found, {"open.csv": ("without a text column", "a quote of the header is not closed"),
                  "large.csv": ("without a text column", "the header is larger than --max-size")})


def message(head, content):
    return "From someone@example.org Thu Jan  1 00:00:00 1970\n" + head + "\n\n" + content + "\n\n"


@test
def mail(tmp):
    text = base64.b64encode("Grüße aus Zürich\r\nzweite Zeile\r\n".encode()).decode()
    box = (message("Message-ID: <one@x>\nDate: Fri, 21 Nov 1997 09:55:06 -0600\nFrom: =?utf-8?q?J=C3=BCrgen?= <j@x>\n"
                   "Subject: =?iso-8859-1?q?caf=E9?=\nTo: a@b", "first line\n>From the start\n>>From deeper") +
           message("Message-ID: <two@x>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B",
                   "--B\nContent-Type: multipart/alternative; boundary=A\n\n--A\nContent-Type: text/html\n\n<p>html\n"
                   "--A\nContent-Type: text/plain; charset=utf-8\n"
                   "Content-Transfer-Encoding: base64\n\n" + text + "\n--A--\n"
                   "--B\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\niVBORw==\n"
                   "--B\nContent-Type: text/plain\nContent-Disposition: attachment; filename=a.txt\n\n"
                   "attached\n--B--") +
           message("Message-ID: <three@x>\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8",
                   "<html><head><title>t</title><style>p{}</style></head><body><p>one &amp; "
                   "two</p><script>x()</script><p>three") + message("Message-ID: <one@x>", "the first one again") +
           message("Message-ID: <five@x>\nMIME-Version: 1.0\nContent-Type: image/png", "no text") +
           message("Subject: without an id", "a=20b"))
    write(f"{tmp}/Inbox", box)
    load, found = skipped(tmp, tmp)
    equal(found, {"Inbox#4": ("records with the id of an earlier one", "one@x"),
                  "Inbox#5": ("without a text", "a message without text")})
    contains(load.out, "passed over: 3 attachments")
    equal(rows("coalesce(record_id, '-') || '|' || replace(rtrim(body, E'\\n'), E'\\n', '/')"),
          ["one@x|first line/From the start/>From deeper", "two@x|Grüße aus Zürich/zweite Zeile",
           "three@x|one & two/three", "-|a=20b"])
    equal(named(f"{tmp}/Inbox#1", "at AT TIME ZONE 'UTC' || '|' || attributes"),
          '1997-11-21 15:55:06|{"to": "a@b", "from": "Jürgen <j@x>", "subject": "café"}')


@test
def mailboxes_by_line_ends(tmp):
    """Where a message ends: before a line "From " after an empty one, of either kind, and not before one in the
    text."""
    box = "".join(message(f"Message-ID: <{i}@x>", f"mail {i}\nFrom here on\n\nits end {i}") for i in range(3))
    for name, end in (("lf", "\n"), ("crlf", "\r\n")):
        write(f"{tmp}/{name}.mbox", box.replace("\n", end).encode())
    _, found = skipped(tmp, tmp)
    equal(found, {})
    equal(rows("path || ' ' || translate(rtrim(body, E'\\r\\n'), E'\\n\\r', '/')", order="path"),
          [f"{tmp}/{name}.mbox#{i + 1} mail {i}/From here on//its end {i}" for name in ("crlf", "lf")
           for i in range(3)])


@test
def records_noted(tmp):
    """The note of a file has the number of its last record that is stored, behind which others may have none."""
    good = [{"id": i, "text": f"text {i}"} for i in range(3)]
    write(f"{tmp}/all.jsonl", lines(*good))
    write(f"{tmp}/between.jsonl", lines(good[0], {"text": ""}, {"text": "another"}))
    write(f"{tmp}/end.jsonl", lines(*good[:2], {"text": ""}, {"text": None}))
    write(f"{tmp}/none.jsonl", lines({"text": ""}, {"text": None}))
    skipped(tmp, tmp)
    noted = [f"{tmp}/{name} {n}"
             for name, n in (("all.jsonl", 3), ("between.jsonl", 3), ("end.jsonl", 2), ("none.jsonl", 0))]
    equal(sql("SELECT string_agg(path || ' ' || records, ',' ORDER BY path) FROM t_files"), ",".join(noted))


@test
def mail_in_other_encodings(tmp):
    if sql("SELECT count(*) FROM pg_available_extensions WHERE name = 'neardup'") == "0":
        raise Skipped("the server has no extension neardup")
    write(f"{tmp}/box.mbox",
          message("Content-Type: text/plain; charset=iso-8859-1", "x").encode().replace(b"\nx\n", b"\ncaf\xe9\n"))
    _, found = skipped(tmp, tmp)
    equal(found["box.mbox#1"][0], "not valid UTF-8")
    sql("CREATE EXTENSION neardup")
    load, found = skipped(tmp, tmp)  # though the file has not changed
    equal((found, rows("rtrim(body, E'\\n')")), ({}, ["café"]))
    contains(load.out, "decoded: 1 ")


@test
def parts_of_mail(tmp):
    """Where they begin and end, in good mails and in broken ones."""
    def multi(boundary, *parts, kind="mixed", end=True, head=""):
        return (f"{head}Content-Type: multipart/{kind}; boundary=\"{boundary}\"\n\nbefore\n" + "".join(
            f"--{boundary}\n{part}\n" for part in parts) +
                (f"--{boundary}--\nbehind\n" if end else ""))

    plain, image = "Content-Type: text/plain\n\n{}", "Content-Type: image/png\n\nx"
    mails = {
        "first": multi("B", plain.format("first"), plain.format("second")),
        "nested": multi("B", multi("BB", image, plain.format("nested")), plain.format("outer")),
        "no end": multi("B", multi("C", image, end=False), plain.format("no end"), end=False),
        "bare": multi("B", "\nbare"), "blank": multi("B  ", plain.format("blank")),
        "cut": multi("B", multi("C", plain.format("cut") + "\n--B\n" + plain.format("other"))),
        "--\n-- \n--b\n--Bx": multi("B", plain.format("--\n-- \n--b\n--Bx")),
        "broken": multi("B", "no field\nContent-Type: text/plain\n\nbroken"),
        "unheaded": multi("B", "Content-Type: image/png", "\nunheaded"),
        "end too early": multi("B", image, head="X: y\n") + "--B\n" + plain.format("behind") + "\n",
        "digest": multi("B", "\nTo: a@b\n\nx", plain.format("digest"), kind="digest"),
        "#0": multi("B", "Content-Transfer-Encoding: x-uuencode\n\nnone\nbegin 644 a\n" + binascii.b2a_uu(
            b"#0").decode() + "`\nend"),
        "a=b": multi("B", "Content-Transfer-Encoding: quoted-printable\n\na=\n=3Db"),
        "--C\n-- x": multi("B", multi("C", image, end=False), plain.format("--C\n-- x")),
        "same": multi("B", multi("B", plain.format("same"))),
        "continued": "Content-Type: multipart/mixed;\n boundary*0=\"B\";\n\tboundary*1=C\n\n--BC\n\ncontinued\n--BC--",
        "deep": "".join(f"Content-Type: multipart/mixed; boundary=B{i}\n\n--B{i}\n" for i in range(50)) + "\ndeep\n",
        "too deep":
            "".join(f"Content-Type: multipart/mixed; boundary=B{i}\n\n--B{i}\n" for i in range(51)) + "\ntoo deep\n"}
    for i, (_, mail) in enumerate(mails.items()):
        for name, text in ((f"{i:02}.mbox", mail), (f"{i:02}-crlf.mbox", mail.replace("\n", "\r\n"))):
            write(f"{tmp}/{name}", "From someone@example.org Thu Jan  1 00:00:00 1970\n" + text)
    _, found = skipped(tmp, tmp)
    without = {"end too early", "too deep"}
    equal({name.split("#")[0] for name in found},
          {f"{i:02}{crlf}.mbox" for i, name in enumerate(mails) for crlf in ("", "-crlf") if name in without})
    equal(rows("rtrim(body, E'\\n')", order="path"),
          [line for name in mails if name not in without for line in 2 * name.split("\n")])


@test
def hostile_mail(tmp):
    deep = "".join(
        f"--B{i}\nContent-Type: multipart/mixed; boundary=B{i + 1}\n\n" for i in range(200)) + "--B200\n\ntext\n"
    box = (
        message("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B0", deep) +
        message("Content-Type: multipart/mixed", "no boundary") + message("X: " + "y" * 300000, "long header") +
        message("Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64", "!!!! not base64 !!!!") +
        message("Content-Type: text/plain; charset=\"\\", "broken parameter") + message(
            "Date: never\nMessage-ID: <<<>>>", "odd header") +
        message("Content-Type: text/html", "<div>" * 50000) + message("", "no header") + message(
            "Subject: large", "x\n" * 200000) +
        message("Subject: last", "last text") + "From cut@short Thu Jan  1 00:00:00 1970\nSubject: cut")
    write(f"{tmp}/box", box)
    load, found = skipped(tmp, tmp, "--max-size", "350000")
    equal(found["box#9"], ("too large", "a message"))
    equal(found["box#1"][0], "without a text")
    equal(named(f"{tmp}/box#10", "rtrim(body, E'\\n')"), "last text")
    equal(named(f"{tmp}/box#3", "rtrim(body, E'\\n')"), "long header")
    contains(load.out, "new")


@test
def mail_with_nested_addresses(tmp):
    groups = "g:" * 60000
    parts = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B"
    attached = "--B\n\nthe text\n--B\nContent-Type: message/{kind}\n\nTo: " + groups + "\n\nattached\n--B--"
    hostile = [message(f"{name}: {groups}", "body") for name in ("To", "from", "CC")]
    hostile += [message("To: a@b\nTo:" + "\n g:" * 60000, "body"), message('To: "' + '":(c)x:' * 60000, "body")]
    harmless = [message(f"{name}: {groups}", "body") for name in ("Reply-To", "Sender", "Bcc", "Resent-To", "Subject")]
    harmless += [
        message(parts, attached.format(kind=kind)) for kind in ("rfc822", "RFC822", "rfc2822", "news", "global")]
    harmless += [message(parts, "--B\n\nthe text\n--B\nContent-Type: multipart/digest; boundary=D\n\n--D\n\nTo: "
                         + groups + "\n\nx\n--D--\n--B--"), message("To: " + "g: a@b, c@d;, " * 999, "body"),
                 message("To: " + "A Name <a@b>, " * 20000, "body"), message("To: a@b\n" * 20000 + "X: y", "body")]
    write(f"{tmp}/box",
          "".join(hostile + harmless) + message("To: Some <a@b>\nTo: c@d\nSubject: one\nSubject: last", "last mail"))
    _, found = skipped(tmp, tmp)
    equal(found, {f"box#{i + 1}": ("damaged records", "a header of addresses with more than 1000 colons")
                  for i in range(len(hostile))})
    equal(sql("SELECT count(*), count(*) FILTER (WHERE rtrim(body, E'\\n') IN ('body', 'the text')) FROM t"),
          f"{len(harmless) + 1}|{len(harmless)}")
    equal(
        named(f"{tmp}/box#{len(hostile + harmless) + 1}", "attributes"), '{"to": "Some <a@b>, c@d", "subject": "last"}')


def warc(kind, uri, content, media="text/plain", date="2024-05-01T10:20:30Z", length=None):
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\n"
    if uri:
        head += f"WARC-Target-URI: {uri}\r\nWARC-Date: {date}\r\n"
    size = len(content) if length is None else length
    return (head + f"Content-Type: {media}\r\nContent-Length: {size}\r\n\r\n").encode() + content + b"\r\n\r\n"


def response(uri, body, media="text/html; charset=utf-8", more="", **options):
    content = f"HTTP/1.1 200 OK\r\nContent-Type: {media}\r\n{more}\r\n".encode() + body
    return warc("response", uri, content, "application/http; msgtype=response", **options)


@test
def wet_and_warc(tmp):
    page = "<title>t</title><body><h1>Kopf</h1><p>Größe &lt;5".encode()
    wet = warc("warcinfo", "", b"software: x") + b"".join(
        warc("conversion", f"http://x/{i}", f"Text {i} ü\n".encode()) for i in range(3)) + warc(
        "conversion", "http://x/0", b"repeated")
    write(f"{tmp}/a.wet.gz", b"".join(gzip.compress(part) for part in (wet[:300], wet[300:])))
    chunked = b"5\r\n<p>ch\r\n8;x=y\r\nunked</p\r\n1\r\n>\r\n0\r\n\r\n"
    packed = gzip.compress(b"<p>packed")
    web = (warc("warcinfo", "", b"x") + warc(
        "request", "http://y/", b"GET / HTTP/1.1\r\n\r\n", "application/http; msgtype=request") +
           response("http://y/", page, date="2024-05-01T10:20:30.25Z") + response(
        "http://y/c", chunked, more="Transfer-Encoding: chunked\r\n") +
           response("http://y/g", packed, more="Content-Encoding: gzip\r\n") + response(
        "http://y/i", b"\x89PNG", "image/png") +
           warc("resource", "http://y/r", b"plain", "text/plain") + warc("metadata", "http://y/", b"x") +
           response("http://y/", page, date="2025-05-01T10:20:30Z"))
    write(f"{tmp}/b.warc", web)
    load, found = skipped(tmp, tmp, "--html", "text")
    equal(found, {"a.wet.gz#5": ("records with the id of an earlier one", "http://x/0")})
    equal(rows("record_id || '|' || replace(rtrim(body, E'\\n'), E'\\n', '/') || '|' || (at AT TIME ZONE 'UTC')"),
          [f"http://x/{i}|Text {i} ü|2024-05-01 10:20:30" for i in range(3)] +
              ["http://y/|Kopf/Größe <5|2024-05-01 10:20:30.25", "http://y/c|chunked|2024-05-01 10:20:30",
               "http://y/g|packed|2024-05-01 10:20:30", "http://y/r|plain|2024-05-01 10:20:30",
               "http://y/|Kopf/Größe <5|2025-05-01 10:20:30"])
    contains(load.out, "5 records of other kinds")
    equal(
        named(f"{tmp}/b.warc#3", "attributes"), '{"warc_type": "response", "content_type": "text/html; charset=utf-8"}')


@test
def lying_and_truncated_warc(tmp):
    good = warc("conversion", "http://x/good", b"good text")
    write(f"{tmp}/long.warc",
          warc("conversion", "http://x/1", b"short", length=5000) + good + warc(
              "conversion", "http://x/2", b"x" * 6000) + good)
    write(f"{tmp}/short.warc", warc("conversion", "http://x/1", b"long\n" * 100, length=20) + good)
    write(f"{tmp}/huge.warc", warc("conversion", "http://x/1", b"a", length=10**18) + good)
    write(f"{tmp}/cut.warc", good + warc("conversion", "http://x/1", b"cut text")[:-8])
    write(f"{tmp}/head.warc", good + b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Le")
    write(f"{tmp}/number.warc", warc("conversion", "http://x/1", b"a", length="-5") + good)
    write(f"{tmp}/none.warc", b"WARC/1.0\r\nWARC-Type: conversion\r\n\r\n" + good)
    write(f"{tmp}/garbage.warc", good + random.Random(5).randbytes(5000) + b"\r\nWARC/1.0 " + b"\r\n" * 4 + good)
    write(f"{tmp}/text.warc", "a text that is none of these")
    _, found = skipped(tmp, tmp)
    lies = ("damaged records", "its Content-Length is not where the next record begins")
    early = ("damaged records", "ends too early")
    number = ("damaged records", "no Content-Length that is a number")
    equal({path: found.pop(path)
           for path in ("long.warc#1", "short.warc#1", "huge.warc#1", "cut.warc#2", "number.warc#1", "none.warc#1")},
          {"long.warc#1": lies, "short.warc#1": lies, "huge.warc#1": ("damaged records", "ends too early"),
           "cut.warc#2": early, "number.warc#1": number, "none.warc#1": number})
    equal(found.pop("head.warc#2"), ("damaged records", "a header that does not end"))
    equal(sql("SELECT count(*) FROM t WHERE body = 'good text'"), "8")
    equal(named(f"{tmp}/text.warc"), "a text that is none of these")


@test
def a_wrong_length_of_warc_loses_one_record(tmp):
    def records(kind, length, packed):
        made = [warc(kind if i == 2 else "conversion", f"http://x/{i}", b"text of record %d" % i,
                     length=length if i == 2 else None) for i in range(1, 8)]
        return b"".join(map(gzip.compress, made) if packed else made)

    cases = {}
    for kind in ("conversion", "response", "resource", "request"):
        for length in (0, 5, 16, 30, 60, 300, 1500, 99999, 10**6, 10**9, 10**18):
            for packed in (False, True):
                name = f"{kind}-{length}-{'packed' if packed else 'plain'}.warc"
                write(f"{tmp}/a/{name}", records(kind, length, packed))
                cases[name] = length
    right = {name for name in cases if "-16-" in name}
    _, found = skipped(tmp, f"{tmp}/a", "--max-size", "1M")
    equal(set(found), {f"{name}#2" for name in cases if name not in right})
    for name in cases:
        loaded = sql(f"SELECT string_agg(right(body, 1), '' ORDER BY id) FROM t WHERE path LIKE '%/{name}#%'")
        equal((name, loaded), (name, "1234567" if name in right and name.startswith(("conv", "reso")) else "134567"))


@test
def a_wrong_length_of_warc_that_memory_does_not_allow(tmp):
    good = [warc("conversion", f"http://x/{i}", b"good text %d" % i) for i in range(3)]
    large = warc("conversion", "http://x/large", b"x" * 3000)
    write(f"{tmp}/end.warc", good[0] + warc("conversion", "http://x/1", b"a", length=10**9) + large + good[1])
    write(f"{tmp}/within.warc", good[0] + warc("conversion", "http://x/1", b"a", length=2900) + large + good[1])
    write(f"{tmp}/right.warc", good[0] + large + good[1] + warc("request", "http://x/l", b"x" * 3000) + good[2])
    lost = "; what this length covers was passed over, more than --max-size"
    _, found = skipped(tmp, tmp, "--max-size", "1k")
    equal(found, {"end.warc#2": ("damaged records", "ends too early" + lost),
                  "within.warc#2": ("damaged records", "its Content-Length is not where the next record begins" + lost),
                  "right.warc#2": ("too large", "a record")})
    equal(sql("SELECT string_agg(substring(path FROM '[a-z]+.warc#.*') || body, ',' ORDER BY path) FROM t"),
          "end.warc#1good text 0,right.warc#1good text 0,right.warc#3good text 1,right.warc#5good text 2,"
          "within.warc#1good text 0,within.warc#3good text 1")


@test
def warc_before_damage(tmp):
    texts = [random.Random(i).randbytes(3000).hex().encode() for i in range(9)]
    made = [warc("conversion", f"http://x/{i}", text, length=10**5 if i == 0 else None) for i, text in enumerate(texts)]
    packed = gzip.compress(b"".join(made[:6])) + gzip.compress(b"".join(made[6:]))[:-2000]
    write(f"{tmp}/a.warc.gz", packed)
    _, found = skipped(tmp, tmp)
    equal(found.pop("a.warc.gz"), ("damaged gzip", "ends too early"))
    equal(found["a.warc.gz#1"][0], "damaged records")
    equal(rows("substr(record_id, 10)", order="id LIMIT 5"), ["1", "2", "3", "4", "5"])


@test
def html_files(tmp):
    pages = {"a.html":
             ("<!DOCTYPE html><html><head><title>T</title><style>x</style></head><body><!-- c --><h1>Head</h1><p>one  "
              "two\n three<br>four<script>var a = '<p>';</script><table><tr><td>a<td>b<tr><td>c</table><pre>p\n  "
              "q</pre>&eacute;&#x4e2d;&lt;</body>", "Head\none two three\nfour\na b\nc\np\n  q\né中<\n"),
             "b.htm": ("<p>unclosed <b>bold<i>it</b>alic <a href='x", "unclosed bolditalic\n"),
             "c.html": ("just text", "just text\n"),
             "d.html": ("<ul><li>x<li>y</ul>z", "x\ny\nz\n"), "e.txt": ("<html><body>by its bytes", "by its bytes\n")}
    for name, (content, _) in pages.items():
        write(f"{tmp}/{name}", content)
    write(f"{tmp}/f.txt", "<p>a text, not HTML")
    Load("load", tmp, "-t", "t", "--html", "text")
    for name, (_, expected) in pages.items():
        equal(cli_test.body("t", f"{tmp}/{name}").decode(), expected)
    equal(named(f"{tmp}/f.txt"), "<p>a text, not HTML")
    load = Load("load", f"{tmp}/a.html", f"{tmp}/b.htm", "-t", "u")
    equal(sql(f"SELECT left(body, 9) FROM u WHERE path = '{tmp}/a.html'"), "<!DOCTYPE")
    equal(load.err.count("warning:"), 1)
    contains(
        load.err,
        f"warning: {tmp}/a.html looks like HTML, but is loaded as plain text; --html text loads what can be seen of it")


@test
def html_in_other_encodings(tmp):
    if sql("SELECT count(*) FROM pg_available_extensions WHERE name = 'neardup'") == "0":
        raise Skipped("the server has no extension neardup")
    sql("CREATE EXTENSION neardup")
    write(f"{tmp}/a.html", b"<html><meta charset=windows-1252><p>caf\xe9")
    write(f"{tmp}/b.html", b'<html><meta http-equiv="Content-Type" content="text/html; charset=koi8-r"><p>\xf0\xf2')
    write(f"{tmp}/c.html", b"<html><p>no charset caf\xe9")
    write(f"{tmp}/d.warc", response("http://y/", b"<p>caf\xe9", "text/html; charset=iso-8859-1") +
          response("http://z/", b"<meta charset='windows-1252'><p>caf\xe9", "text/html"))
    _, found = skipped(tmp, tmp, "--html", "text")
    equal(found, {"c.html": ("not valid UTF-8",)})
    equal(rows("rtrim(body, E'\\n')", order="path"), ["café", "ПР", "café", "café"])


@test
def hostile_html(tmp):
    write(f"{tmp}/deep.html", "<html>" + "<div>" * 100000)
    write(f"{tmp}/ends.html", "<html>" + "<b>" * 1500 + "</i>" * 100000 + "end")
    write(f"{tmp}/attributes.html", "<html><p " + "a=b " * 100000 + ">text")
    write(f"{tmp}/entities.html", "<html>" + "&amp;" * 100000 + "&nosuch;&#xffffff;&#0;")
    write(f"{tmp}/script.html", "<html>before<script>" + "<p>" * 100000)
    write(f"{tmp}/comment.html", "<html>before<!--" + "-" * 100000)
    _, found = skipped(tmp, tmp, "--html", "text")
    equal(found, {"deep.html": ("damaged records", "HTML is nested too deep"),
                  "attributes.html": ("damaged records",
                                      "HTML has tags with too many attributes: 10000 in one, or many of thousands")})
    equal(rows("octet_length(body) > 0"), ["t"] * 4)


@test
def html_with_many_attributes(tmp):
    def many(count, form="a{}", between=" "):
        return between.join(form.format(i) for i in range(count))

    attributes = many(60000)  # libxml2 would take ten seconds for each
    hostile = [f"<p {attributes}>x</p>", "<p\t" + many(60000, "a{}=1", "\n") + "/>",
               "<_x " + many(60000, 'a{}=">"') + ">", "<p " + many(60000, "b{}=''", "") + ">",
               f'<!-- <a b=" --><p {attributes}>"', f"<script>'<a b=\"'</script><p {attributes}>\"",
               f'<p =" {attributes}>"', f'<script/><p {attributes}>', f'<p a/=" {attributes}>"',
               f"<p a = b=' {attributes}>'", f'<p "a=" {attributes}>"', f'<p {"x" * 100}" {attributes}>',
               f"<p {attributes}", "<p c=\">\" " + many(5000) + " d='>' " + many(5001, "x{}") + ">",
               f'<a b="<c d=\'" {attributes}>\'>', "<p " + many(20000, "a{}/") + ">",
               "<p " + "".join(random.Random(9).choices("abcdefgh", k=1200000)) + ">", f"<a<a {attributes}>",
               f"<textarea><p {attributes}>", f'<script><a x {many(9000)} x="</script>' + f"<b {many(8990)}>x</b>" * 3]
    words = "many words without a sign " * 1000
    good = [f"<p {many(9990)}>the text", f"<script>for (i = 0; i<n; i++) f(i); T = '{words}';</script>the text",
            f"<p title='a <b {words}'>the text</p>", f'<p {many(1999, "a{}={{}}")} z="{words}">the text',
            f"<!-- {words} --><p>the text", "<p a=b c>" * 9999 + "the text",
            f"<script>if (a < b) {{ x = '{words}' }}</script>the text", f"<p title='{words}'>the text</p>",
            f"<script>a = \"{words}<p>\"</script>the text", "<p " + "x" * 190000 + ">the text",
            f"the text<!-- 2 < 3, {words} -->"]
    for kind, pages in (("hostile", hostile), ("good", good)):
        for i, page in enumerate(pages):
            write(f"{tmp}/{kind}{i:02}.html", "<html>" + page)
    _, found = skipped(tmp, tmp, "--html", "text")
    equal(found, {f"hostile{i:02}.html": (
        "damaged records", "HTML has tags with too many attributes: 10000 in one, or many of thousands") for i in range(
        len(hostile))})
    equal(rows("rtrim(body, E'\\n')"), ["the text"] * len(good))


@test
def what_is_no_text_is_refused(tmp):
    kinds = {"a.pdf": b"%PDF-1.7\nx", "b.docx": b"PK\x03\x04xx", "c.png": b"\x89PNG\r\n\x1a\nx",
             "d.jpg": b"\xff\xd8\xff\xe0", "e.parquet": b"PAR1xx", "f.db": b"SQLite format 3\0x", "g": b"\x7fELF\x02",
             "h.doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "i.gif": b"GIF89ax", "j.gz": gzip.compress(b"%PDF-1.4"),
             "k.exe": b"MZ\x90\0"}
    for name, content in kinds.items():
        write(f"{tmp}/{name}", content)
    write(f"{tmp}/l.txt", "MZ is a text, and BM, too")
    load, found = skipped(tmp, tmp)
    equal((set(found), {reason for reason, _ in found.values()}), (set(kinds), {"of a kind that is not text"}))
    equal(found["a.pdf"][1], "PDF")
    contains(load.out, "11 skipped: 11 of a kind that is not text")
    if sql("SELECT count(*) FROM pg_available_extensions WHERE name = 'neardup'") == "1":
        sql("CREATE EXTENSION neardup")
        _, found = skipped(tmp, tmp, "--encoding", "detect")
        equal(set(found), set(kinds))


@test
def warnings_about_what_files_look_like(tmp):
    write(f"{tmp}/a.txt", lines({"text": "x"}, {"text": "y"}))
    write(f"{tmp}/b.txt", lines({"text": "x"}, {"text": "y"}))
    write(f"{tmp}/c.txt", "id,name,size\n1,a,2\n2,b,3\n3,c,4\n")
    write(f"{tmp}/d.txt", "One, two, three\nis no table, and\nno, such, thing\nx\n")
    load = Load("load", tmp, "-t", "t")
    equal(load.err.count("warning:"), 2)
    contains(
        load.err,
        f"warning: {tmp}/a.txt looks like lines of JSON, but is loaded as plain text; --format jsonl loads its records")
    contains(
        load.err, f"warning: {tmp}/c.txt looks like CSV, but is loaded as plain text; --format csv loads its records")
    write(f"{tmp}/e.warc", warc("conversion", "http://x/", b"x"))
    write(f"{tmp}/f.mbox", message("Subject: x", "y"))
    load = Load("load", f"{tmp}/e.warc", f"{tmp}/f.mbox", "-t", "t", "--format", "text")
    contains(load.err, "looks like a WARC file")
    contains(load.err, "looks like a mailbox")
    equal(sql("SELECT to_regclass('t_files') IS NULL"), "t")
    Load("load", f"{tmp}/a.txt", "-t", "t", "--format", "jsonl")
    equal(sql(f"SELECT count(*) FROM t WHERE path LIKE '{tmp}/a.txt#%'"), "2")


@test
def hidden_files_and_folders_of_version_control(tmp):
    for name in ("a", ".b", ".c/d", ".git/config", ".hg/x", "e/CVS/x", "e/_darcs/x", "e/.svn/x", "e/f"):
        write(f"{tmp}/{name}", "text")
    write(f"{tmp}/empty", "")
    load = Load("load", tmp, "-t", "t")
    equal(rows("path"), [f"{tmp}/a", f"{tmp}/e/f"])
    contains(
        load.out,
        "passed over: 2 names that begin with a dot (--hidden loads them), 5 folders of version control, 1 empty files")
    Load("load", tmp, "-t", "t", "--hidden")
    equal(rows("path", order="path COLLATE \"C\""), [f"{tmp}/.b", f"{tmp}/.c/d", f"{tmp}/a", f"{tmp}/e/f"])
    Load("load", f"{tmp}/.git/config", f"{tmp}/.git", "-t", "u")
    equal(rows("path", "u"), [f"{tmp}/.git/config"])


@test
def standard_input(_tmp):
    contains(Pipe(b"a text").out, "1 new")
    contains(Pipe(b"a text").out, "1 only with a new time")
    contains(Pipe(b"another text").out, "1 changed")
    equal(rows("path || ' ' || size || ' ' || body"), ["- 12 another text"])
    content = lines({"text": "one"}, {"text": "two"}).encode()
    contains(Pipe(gzip.compress(content), "--format", "jsonl").out, "2 new")
    contains(Pipe(content, "--format", "jsonl").out, "0 new, 0 changed, 0 only with a new time, 2 unchanged")
    equal(rows("path || ' ' || body", order="path"), ["- another text", "-#1 one", "-#2 two"])


@test
def again_grown_and_changed(tmp):
    records = [{"id": i, "text": f"text {i}", "n": i} for i in range(50)]
    path = f"{tmp}/a.jsonl"
    write(path, lines(*records), 10**18)
    contains(Load("load", tmp, "-t", "t").out, "50 new")
    contains(Load("load", tmp, "-t", "t").out, "0 new, 0 changed, 0 only with a new time, 1 unchanged")
    write(path, lines(*records, {"id": 50, "text": "grown"}), 11 * 10**17)
    contains(Load("load", tmp, "-t", "t").out, "1 new, 0 changed, 0 only with a new time, 50 unchanged")
    before = sql("SELECT string_agg(path || id, ',' ORDER BY id) FROM t")
    records[3]["text"], records[4]["n"], records[5]["n"] = "changed", "changed", None
    write(path, lines(*records[:10]), 12 * 10**17)
    contains(Load("load", tmp, "-t", "t").out, "0 new, 3 changed, 0 only with a new time, 7 unchanged")
    equal(sql("SELECT string_agg(path || id, ',' ORDER BY id) FROM t"), before)  # records that are gone stay
    equal(rows("body || attributes", order="id LIMIT 6"),
          ['text 0{"n": 0}', 'text 1{"n": 1}', 'text 2{"n": 2}', 'changed{"n": 3}', 'text 4{"n": "changed"}',
           'text 5{"n": null}'])
    # a record of the same text: its size and time follow, if something else of it has changed
    write(path, lines(*records[:1]).replace('"n"', '  "n"') + lines(*records[1:10]), 13 * 10**17)
    contains(Load("load", tmp, "-t", "t").out, "0 new, 1 changed, 0 only with a new time, 9 unchanged")
    equal(
        rows("extract(epoch FROM mtime)::int8 || ' ' || size", order="id LIMIT 2"), ["1300000000 38", "1000000000 36"])
    # other options: read anew
    contains(Load("load", tmp, "-t", "t", "--id-column", "n").out, "0 new, 10 changed")
    # rows that someone has deleted come back with the file's last one
    sql("TRUNCATE t")
    contains(Load("load", tmp, "-t", "t").out, "10 new")


@test
def tables_that_were_there(tmp):
    write(f"{tmp}/a.txt", "a text")
    Load("load", tmp, "-t", "t")
    write(f"{tmp}/b.jsonl", lines({"text": "b", "x": 1}))
    contains(Load("load", tmp, "-t", "t").out, "1 new")
    equal(rows("body || '|' || coalesce(attributes::text, '-')"), ["a text|-", 'b|{"x": 1}'])
    sql("ALTER TABLE t ALTER attributes TYPE text; UPDATE t_files SET size = 0")
    contains(Load("load", tmp, "-t", "t", status=1).err,
             "column attributes of table \"public\".\"t\" is text, not jsonb; name a new table")
    sql("CREATE TABLE u_files (x int)")
    Load("load", f"{tmp}/a.txt", "-t", "u")
    contains(Load("load", tmp, "-t", "u", status=1).err,
             "table \"public\".\"u_files\" has no column path (text); name a new table, or add the column")
    long = "n" * 60
    contains(Load("load", tmp, "-t", long, status=1).err, "is too long for files of records")
    Load("load", f"{tmp}/a.txt", "-t", long)


@test
def refused_records(tmp):
    write(f"{tmp}/a.txt", "x")
    Load("load", tmp, "-t", "t")
    sql("ALTER TABLE t ADD CHECK (body <> 'bad')")
    write(f"{tmp}/a.jsonl", lines(*({"text": "bad" if i in (7, 70) else f"t{i}"} for i in range(100))))
    load, found = skipped(tmp, tmp)
    equal({path: reason for path, (reason, *_) in found.items()},
          {f"a.jsonl#{i}": "refused by the server" for i in (8, 71)})
    contains(load.out, "98 new")
    contains(load.out, "1 files of records have records that the server or the libraries did not take; "
                       "the next load reads these files again")
    contains(Load("load", tmp, "-t", "t").out, "0 new, 0 changed, 0 only with a new time, 99 unchanged")
    sql("ALTER TABLE t DROP CONSTRAINT t_body_check")
    contains(Load("load", tmp, "-t", "t").out, "2 new")
    contains(Load("load", tmp, "-t", "t").out, "2 unchanged")
    # A row that a trigger leaves out is loaded the next time, too.
    write(f"{tmp}/b.jsonl", lines({"text": "left"}, {"text": "kept"}))
    sql("CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN CASE WHEN NEW.body <> 'left' "
        "THEN NEW END; END $$;CREATE TRIGGER leave BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION leave()")
    contains(Load("load", tmp, "-t", "t").out, "1 new")
    sql("DROP TRIGGER leave ON t")
    contains(Load("load", tmp, "-t", "t").out, "1 new")


@test
def updates_of_records_that_a_trigger_leaves_out(tmp):
    """Those whose texts stay the same: the file is read again until the table has them."""
    path = f"{tmp}/a.jsonl"
    write(path, lines(*({"text": f"text {i}", "k": 1} for i in range(4))), 10**18)
    Load("load", path, "-t", "t")
    write(path, lines(*({"text": f"text {i}", "k": 1 if i == 3 else 2} for i in range(4))), 11 * 10**17)
    sql("CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN CASE WHEN NEW.body ~ '[12]' "
        "THEN NEW END; END $$;CREATE TRIGGER leave BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION leave()")
    load = Load("load", path, "-t", "t")
    contains(load.out, "0 new, 2 changed, 0 only with a new time, 1 unchanged")
    contains(load.err, f"{path}#1: left out by a trigger")
    equal(rows("attributes->'k'"), ["1", "2", "2", "1"])
    equal(rows("size", table="t_files", order="path"), ["-1"])
    sql("DROP TRIGGER leave ON t")
    contains(Load("load", path, "-t", "t").out, "0 new, 1 changed, 0 only with a new time, 3 unchanged")
    equal(rows("attributes->'k'"), ["2", "2", "2", "1"])
    contains(Load("load", path, "-t", "t").out, "0 new, 0 changed, 0 only with a new time, 1 unchanged")


@test
def a_note_that_meets_another_session(tmp):
    """A row of the table of files that changes meanwhile, where no transaction may see that."""
    path = f"{tmp}/a.jsonl"
    write(path, lines({"text": "one"}), 10**18)
    Load("load", path, "-t", "t")
    write(path, lines({"text": "two"}), 11 * 10**17)
    other = subprocess.Popen(["psql", "-XAtq"], stdin=subprocess.PIPE, text=True)
    other.stdin.write("BEGIN; UPDATE t_files SET records = records; SELECT 'at work' \\g /dev/null\n")
    other.stdin.flush()
    cli_test.wait_for(lambda: sql(
        "SELECT count(*) FROM pg_locks WHERE mode = 'RowExclusiveLock' AND relation = 't_files'::regclass") == "1")
    with subprocess.Popen([cli_test.PROGRAM, "load", path, "-t", "t"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ,
                               "PGOPTIONS": "-c default_transaction_isolation=repeatable\\ read"}) as loader:
        cli_test.wait_for(lambda: sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'neardup' "
                                      "AND wait_event_type = 'Lock'") == "1")
        other.communicate("COMMIT;\n")
        contains(cli_test.finish([loader])[0], "1 changed")
    equal(rows("records || ' ' || (size > 0)", table="t_files", order="path"), ["1 true"])


@test
def records_that_an_option_has_left_out(tmp):
    write(f"{tmp}/x.jsonl", lines({"id": 1, "text": "a b c"}, {"id": 2, "text": "a text that has six words"}))
    for option, value, more in (("--min-words", "5", " min_words=5"), ("--max-size", "30", " max_size=30")):
        sql("DROP TABLE IF EXISTS t, t_files")
        contains(Load("load", tmp, "-t", "t", option, value).out, "1 new")
        equal(rows("options", table="t_files", order="path"), ["jsonl" + more])
        contains(Load("load", tmp, "-t", "t", option, value).out, "1 unchanged")
        contains(Load("load", tmp, "-t", "t").out, "1 new, 0 changed, 0 only with a new time, 1 unchanged")
        equal(rows("options", table="t_files", order="path"), ["jsonl"])
    contains(Load("load", tmp, "-t", "t", "--max-size", "256M", "--min-words", "0").out,
             "0 new, 0 changed, 0 only with a new time, 1 unchanged")
    # a load that is stopped has left rows of its own options: those of before are not true any more
    sql("UPDATE t_files SET options = 'parquet'")  # of the package for Python
    contains(Load("load", tmp, "-t", "t").out, "0 new, 0 changed, 0 only with a new time, 2 unchanged")
    write(
        f"{tmp}/x.jsonl", lines({"id": 1, "text": ""}, {"id": 1, "text": "the real one"}, {"id": 1, "text": "another"}))
    _, found = skipped(tmp, tmp)
    equal({path: reason for path, (reason, *_) in found.items()},
          {"x.jsonl#1": "without a text", "x.jsonl#3": "records with the id of an earlier one"})


@test
def a_stopped_load_of_other_options(tmp):
    """A load that was stopped had other options: the file is read again with those of before."""
    write(f"{tmp}/x.jsonl", lines(*({"text": f"text {i}", "other": f"other {i}"} for i in range(4))))
    Load("load", tmp, "-t", "t")
    sql("CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.body = 'other 3' THEN RAISE 'stop' "
        "USING ERRCODE = '57P01'; END IF; RETURN NEW; END $$;"
        "CREATE TRIGGER stop BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION stop()")
    Load("load", tmp, "-t", "t", "--text-column", "other", "--batch-files", "2", status=1)
    equal(rows(), ["other 0", "other 1", "text 2", "text 3"])
    equal(rows("size || ' ' || records", table="t_files", order="path"), ["-1 0"])
    contains(Load("load", tmp, "-t", "t").out, "0 new, 2 changed, 0 only with a new time, 2 unchanged")


@test
def paths_too_long_for_an_index(tmp):
    folder = tmp
    while len(folder) < 3000:
        folder += "/" + os.urandom(100).hex()
    write(f"{folder}/a.jsonl", lines({"text": "one"}))
    write(f"{tmp}/~.jsonl", lines({"text": "two"}))  # behind it
    load = Load("load", f"{tmp}/", "-t", "t")
    contains(load.out, "1 new")
    contains(load.out, "1 skipped: 1 refused by the server")
    write(f"{folder}/a.jsonl", lines({"text": ""}))
    os.rename(f"{tmp}/~.jsonl", f"{folder}/~.jsonl")
    load = Load("load", tmp, "-t", "t")
    contains(load.out,
             "1 files of records cannot be noted as read (path or options do not fit); the next load reads them again")


@test
def options_that_cannot_be_noted(tmp):
    """Progress noted with other options is forgotten: it is not true of the rows that these have written."""
    write(f"{tmp}/x.jsonl", lines({"id": 1, "text": "one"}))
    with cli_test.database("loader_latin1", "LATIN1"):
        Load("load", tmp, "-t", "t", "--id-column", "id")
        contains(
            Load("load", tmp, "-t", "t", "--id-column", "\u6587").out, "1 files of records cannot be noted as read")
        equal(rows("record_id IS NULL"), ["t"])
        contains(Load("load", tmp, "-t", "t", "--id-column", "id").out, "0 new, 1 changed")
        equal(rows("record_id"), ["1"])


@test
def a_file_with_the_path_of_a_record(tmp):
    write(f"{tmp}/x.jsonl", lines({"id": 1, "text": "of the record"}, {"id": 2, "text": "second"}))
    write(f"{tmp}/x.jsonl#1", "of the file")
    write(f"{tmp}/x.jsonl#3", "no record")
    write(f"{tmp}/x.jsonl#01", "no number")
    for _ in range(2):
        _, found = skipped(tmp, tmp)
        equal({path: (reason, *more) for path, (reason, *more) in found.items()},
              {"x.jsonl#1":
                   ("with the path of another row", f"records of {tmp}/x.jsonl have such paths; rename the file")})
        equal(rows(order="path COLLATE \"C\""), ["no number", "of the record", "second", "no record"])
    # the other way around
    Load("load", f"{tmp}/x.jsonl#1", "-t", "u")
    load = Load("load", f"{tmp}/x.jsonl", "-t", "u")
    contains(load.out, "1 new")
    contains(load.err, f"{tmp}/x.jsonl#1: with the path of another row (a file has this path)")
    equal(rows(table="u"), ["of the file", "second"])
    contains(Load("load", tmp, "-t", "u").out, "2 new, 0 changed, 0 only with a new time, 2 unchanged")
    # the same where both have one text: the row stays the file's
    write(f"{tmp}/x.jsonl", lines({"id": 1, "text": "of the file"}, {"id": 2, "text": "second"}))
    load = Load("load", f"{tmp}/x.jsonl", "-t", "u")
    contains(load.err, f"{tmp}/x.jsonl#1: with the path of another row (a file has this path)")
    equal(rows("size || ' ' || (record_id IS NULL)", table="u", order="id LIMIT 1"), [f"{len('of the file')} true"])
    # a copy of a file of one record has the size and the time that the row of the record has
    write(f"{tmp}/one.jsonl", '{"id": 1, "text": "one"}', 10**18)
    Load("load", f"{tmp}/one.jsonl", "-t", "v")
    shutil.copy2(f"{tmp}/one.jsonl", f"{tmp}/one.jsonl#1")
    write(f"{tmp}/one.jsonl", '{"id": 1, "text": "changed"}', 11 * 10**17)
    contains(Load("load", f"{tmp}/one.jsonl", "-t", "v").out, "0 new, 1 changed")
    equal(rows(table="v"), ["changed"])


@test
def a_stop_in_the_middle(tmp):
    write(f"{tmp}/a.jsonl", "".join(lines({"text": f"text {i}", "i": i}) for i in range(20000)))
    write(f"{tmp}/x.txt", "x")
    Load("load", f"{tmp}/x.txt", "-t", "t")
    sql("CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF NEW.body = ''text 9000'' "
        "THEN PERFORM pg_sleep(300); END IF; RETURN NEW; END'; "
        "CREATE TRIGGER slow BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION slow()")
    with subprocess.Popen([cli_test.PROGRAM, "load", tmp, "-t", "t", "--batch-files", "1000"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        cli_test.wait_for(lambda: sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' "
                                      "AND datname = current_database()") == "1")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    equal(process.returncode, 130)
    contains(err.decode(), "what was committed stays")
    equal(sql("SELECT count(*) FROM t"), "9001")
    before = sql("SELECT md5(string_agg(path || id || xmin, ',' ORDER BY id)) FROM t")
    sql("DROP TRIGGER slow ON t")
    contains(Load("load", tmp, "-t", "t").out, "11000 new, 0 changed, 0 only with a new time, 9001 unchanged")
    equal(sql("SELECT md5(string_agg(path || id || xmin, ',' ORDER BY id)) FROM (SELECT *, xmin FROM t ORDER BY id "
              "LIMIT 9001) t"), before)
    equal(sql("SELECT count(*) || ' ' || count(DISTINCT body) FROM t"), "20001 20001")


@test
def mixed_and_mislabelled(tmp):
    write(f"{tmp}/a.jsonl", "a text, not JSON")
    write(f"{tmp}/b.csv", message("Subject: x", "mail in a csv"))
    write(f"{tmp}/c.mbox", warc("conversion", "http://x/", b"warc in an mbox"))
    write(f"{tmp}/d.jsonl", b"\x89PNG\r\n\x1a\n")
    write(f"{tmp}/e.jsonl.gz", lines({"text": "not packed"}))
    write(f"{tmp}/f.jsonl", zstd(lines({"text": "packed, without a suffix"}).encode()))
    write(f"{tmp}/g.warc", lines({"text": "1"}, {"text": "2"}))
    _, found = skipped(tmp, tmp)
    equal(found, {"d.jsonl": ("of a kind that is not text", "image (PNG)")})
    equal(rows("rtrim(body, E'\\n')", order="path COLLATE \"C\"")[:5],
          ["a text, not JSON", "mail in a csv", "warc in an mbox", "not packed", "packed, without a suffix"])
    for kind in ("jsonl", "csv", "tsv", "mbox", "warc"):
        write(f"{tmp}/random-{kind}", random.Random(kind).randbytes(200000))
        skipped(tmp, f"{tmp}/random-{kind}", "--format", kind)


@test
def usage_of_formats(tmp):
    write(f"{tmp}/a", "x")
    contains(Load("load", tmp, "-t", "t", "--format", "xml", status=2).err,
             "--format must be auto, text, jsonl, csv, tsv, mbox or warc: xml")
    contains(Load("load", tmp, "-t", "t", "--html", "no", status=2).err, "--html must be text: no")


if __name__ == "__main__":
    os.environ["PGOPTIONS"] = "-c client_min_messages=warning"
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(cli_test.main())
