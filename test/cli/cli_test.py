#!/usr/bin/python3
"""Tests of the program `neardup`: cli_test.py PROGRAM [TEST ...], against the server that the PG* environment names (an
empty database).

Prints "ok - name" or "not ok - name" a test; exits with 1 when one failed. Needs Python's standard library and psql.
"""
import base64
import contextlib
import gzip
import hashlib
import html.parser
import os
import pty
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import traceback

TESTS = []
LOST = []  # what threads of the test at work have ended with
threading.excepthook = LOST.append


def test(function):
    TESTS.append(function)
    return function


def sql(statement, **environment):
    done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statement], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    if done.returncode != 0:
        raise AssertionError(f"psql: {statement}: {done.stderr}")
    return done.stdout.rstrip("\n")


class Load:
    """One finished run of the program."""

    def __init__(self, *arguments, status=0, prefix=(), **environment):
        done = subprocess.run([*prefix, PROGRAM, *map(os.fsencode, arguments)], stdin=subprocess.DEVNULL,
                              capture_output=True, env={**os.environ, **environment}, timeout=120, check=False)
        self.out, self.err = done.stdout.decode(), done.stderr.decode()
        if done.returncode != status:
            raise AssertionError(f"{arguments}: exit code {done.returncode}, not {status}\n{self.out}{self.err}")


def equal(got, expected):
    if got != expected:
        raise AssertionError(f"got {got!r}, expected {expected!r}")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"{part!r} is not in {text!r}")


def write(path, content, mtime=None):
    path = os.fsencode(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    if mtime is not None:
        os.utime(path, ns=(mtime, mtime))


def body(table, path):
    return bytes.fromhex(sql(f"SELECT encode(convert_to(body, 'UTF8'), 'hex') FROM {table} WHERE path = '{path}'"))


@test
def columns_and_content(tmp):
    texts = {"a.txt": "plain\n", "sub/ü.txt": "Ünïcode 漢字 \U0001f600\n", "bom": "\ufeffx\r\n",
             "sub/deep/back\\slash\tand\nnewline": "tab\tnewline\nbackslash\\N\\.\n"}
    for name, text in texts.items():
        write(f"{tmp}/{name}", text, 1_600_000_000_123_456_789)
    load = Load("load", tmp, "--table", "t")
    contains(load.out, "4 new, 0 changed, 0 only with a new time, 0 unchanged")
    equal(sql("SELECT string_agg(attname || ' ' || format_type(atttypid, NULL), ', ' ORDER BY attnum) "
              "FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0"),
          "id bigint, path text, size bigint, mtime timestamp with time zone, content_hash bigint, body text")
    for name, text in texts.items():
        equal(bytes.fromhex(
                  sql(f"SELECT encode(convert_to(body, 'UTF8'), 'hex') FROM t WHERE path = $q${tmp}/{name}$q$")),
              text.encode())
    equal(sql("SELECT count(DISTINCT mtime) || ' ' || min(mtime AT TIME ZONE 'UTC') FROM t"),
          "1 2020-09-13 12:26:40.123456")
    equal(sql("SELECT bool_and(size = octet_length(body)) FROM t"), "t")
    # The number is the output of xxhsum -H3 for these bytes.
    equal(sql("SELECT content_hash FROM t WHERE body = 'plain' || chr(10)"), str(0x34c4ec86edf99bee))


@test
def unchanged_files_are_not_read_again(tmp):
    write(f"{tmp}/a", "first", 10**18)
    write(f"{tmp}/b", "other", 10**18)
    Load("load", tmp, "-t", "t")
    write(f"{tmp}/a", "FIRST", 10**18)  # same size and time: only who reads it can tell
    contains(Load("load", tmp, "-t", "t").out, "0 new, 0 changed, 0 only with a new time, 2 unchanged")
    equal(body("t", f"{tmp}/a"), b"first")


@test
def new_time_and_new_content(tmp):
    for name in "abc":
        write(f"{tmp}/{name}", f"text {name}", 10**18)
    Load("load", tmp, "-t", "t")
    before = sql("SELECT string_agg(path || id, ',' ORDER BY path) FROM t")
    write(f"{tmp}/a", "text a", 11 * 10**17)
    write(f"{tmp}/b", "another text", 11 * 10**17)
    contains(Load("load", tmp, "-t", "t").out, "0 new, 1 changed, 1 only with a new time, 1 unchanged")
    equal(sql("SELECT string_agg(path || id, ',' ORDER BY path) FROM t"), before)
    equal(body("t", f"{tmp}/b"), b"another text")
    equal(sql("SELECT count(*) FROM t WHERE mtime = to_timestamp(1100000000)"), "2")
    contains(Load("load", tmp, "-t", "t").out, "3 unchanged")


@test
def odd_times(tmp):
    write(f"{tmp}/old", "old", -10**9 - 1500)
    write(f"{tmp}/future", "future", 2**33 * 10**9)
    Load("load", tmp, "-t", "t")
    equal(sql(f"SELECT mtime AT TIME ZONE 'UTC' FROM t WHERE path = '{tmp}/old'"), "1969-12-31 23:59:58.999998")
    contains(Load("load", tmp, "-t", "t").out, "2 unchanged")


@test
def gzip_files(tmp):
    text = ("many words in a row, " * 20000 + "fin\n").encode()
    write(f"{tmp}/plain", text)
    write(f"{tmp}/packed.gz", gzip.compress(text))
    write(f"{tmp}/packed-without-suffix", gzip.compress(text))
    write(f"{tmp}/members.gz", gzip.compress(text[:1000]) + gzip.compress(b"") + gzip.compress(text[1000:]))
    write(f"{tmp}/padded.gz", gzip.compress(text) + bytes(512))
    write(f"{tmp}/nothing.gz", gzip.compress(b""))
    Load("load", tmp, "-t", "t")
    equal(sql("SELECT count(*) || ' ' || count(DISTINCT content_hash) FROM t WHERE body <> ''"), "5 1")
    equal(body("t", f"{tmp}/members.gz"), text)
    equal(sql("SELECT bool_and(size < 5000) FROM t WHERE path ~ 'gz$'"), "t")


@test
def damaged_gzip_is_reported(tmp):
    packed = gzip.compress(os.urandom(50000).hex().encode())
    # The text is not compressed, so that a changed byte stays one character and is no NUL, which is found first.
    stored = gzip.compress(b"many words in a row, " * 5000, 0)
    write(f"{tmp}/cut.gz", packed[:-9])
    write(f"{tmp}/cut-header.gz", packed[:5])
    write(f"{tmp}/no-such-block.gz", packed[:10] + b"\x07" + packed[11:])
    write(f"{tmp}/changed.gz", stored[:20000] + bytes([stored[20000] ^ 1]) + stored[20001:])
    write(f"{tmp}/checksum.gz", packed[:-6] + bytes([packed[-6] ^ 255]) + packed[-5:])
    write(f"{tmp}/garbage.gz", packed + b"garbage")
    write(f"{tmp}/good.txt", "good")
    load = Load("load", tmp, "-t", "t")
    contains(load.out, "1 new")
    contains(load.out, "6 skipped: 6 damaged gzip")
    contains(load.err, f"{tmp}/garbage.gz: damaged gzip (garbage after the end)")
    contains(load.err, f"{tmp}/cut.gz: damaged gzip (ends too early)")


@test
def archives_are_skipped_by_name(tmp):
    for name in ("a.zip", "b.7z", "c.RAR", "d.tar", "e.tar.gz", "f.tgz", "g.tar.lz", "h.tar.bz2", "i.tar.xz",
                 "j.tar.zst", "k.tar.Z"):
        write(f"{tmp}/{name}", "text\0" if name < "h" else "text")
    write(f"{tmp}/log.gz", gzip.compress(b"unpacked"))
    for name in ("zip", "a.xz", "tar", "a.zip.txt", "x.tar.gz.txt"):
        write(f"{tmp}/{name}", "text")
    load = Load("load", tmp, "-t", "t", "--list-skipped", f"{tmp}-list")
    contains(load.out, "6 new")
    contains(load.out, "11 skipped: 11 archives")
    contains(open(f"{tmp}-list", encoding="utf-8").read(), f"archives\t{tmp}/c.RAR\n")
    os.unlink(f"{tmp}-list")
    equal(Load("load", tmp, "-t", "t").err.count("skipped"), 0)
    contains(Load("load", f"{tmp}/a.zip", "-t", "t").out, "1 skipped: 1 archives")


@test
def bombs_and_large_files(tmp):
    write(f"{tmp}/bomb.gz", gzip.compress(b"a" * 50_000_000))
    write(f"{tmp}/large", "a" * 3_000_001)
    write(f"{tmp}/fits", "a" * 3_000_000)
    load = Load("load", tmp, "-t", "t", "--max-size", "3000000")
    contains(load.out, "1 new")
    contains(load.out, "2 skipped: 2 too large")
    equal(sql("SELECT octet_length(body) FROM t"), "3000000")


@test
def utf8_is_checked_as_the_server_does(tmp):
    sequences = ["c080", "c1bf", "c280", "dfbf", "e09fbf", "e0a080", "ed9fbf", "eda080", "edbfbf", "ee8080", "efbfbf",
                 "f08fbfbf", "f0908080", "f48fbfbf", "f4908080", "f5808080", "80", "bf", "ff", "fe", "c2", "e282",
                 "f09f98", "c2c2", "e28228", "f09f9828", "61c3a962", "6161616161616161c3",
                 "61616161616161616161ff6161616161616161"]
    for sequence in sequences:
        write(f"{tmp}/{sequence}", bytes.fromhex(sequence))
    expected = []
    for sequence in sequences:
        try:
            bytes.fromhex(sequence).decode("utf-8")
            expected.append(f"{tmp}/{sequence}")
        except UnicodeDecodeError:
            pass
    load = Load("load", tmp, "-t", "t")
    equal(sql("SELECT string_agg(path, ',' ORDER BY path COLLATE \"C\") FROM t"), ",".join(sorted(expected)))
    contains(load.out, f"{len(sequences) - len(expected)} not valid UTF-8")
    if "refused" in load.out:
        raise AssertionError(load.out)


@test
def what_is_skipped_is_listed(tmp):
    for number in range(12):
        write(f"{tmp}/latin{number:02}", b"caf\xe9")
    write(f"{tmp}/binary", b"text\0text")
    write(f"{tmp}/binary.gz", gzip.compress(b"text\0text"))
    write(f"{tmp}/late-nul", b"x" * 3_000_000 + b"\0")
    write(os.fsencode(tmp) + b"/name\xff\n", "good text")
    write(f"{tmp}/é\u009b2J\u202ex\u2069\u061c", b"caf\xe9")
    load = Load("load", tmp, "-t", "t")
    contains(load.out, "0 new")
    contains(load.out, "17 skipped: 1 file name not valid UTF-8, 3 holding NUL (binary), 13 not valid UTF-8")
    contains(load.err, "... and 7 more; --list-skipped FILE")
    equal(load.err.count("  skipped "), 10)
    load = Load("load", tmp, "-t", "t", "--list-skipped", f"{tmp}-list")
    lines = open(f"{tmp}-list", encoding="utf-8").read().splitlines()
    os.unlink(f"{tmp}-list")
    equal(len(lines), 17)
    contains("\n".join(lines), f"not valid UTF-8\t{tmp}/é\\xc2\\x9b2J\\xe2\\x80\\xaex\\xe2\\x81\\xa9\\xd8\\x9c")
    if (f"file name not valid UTF-8\t{tmp}/name\\xff\\x0a" not in lines
        or f"not valid UTF-8\t{tmp}/latin11" not in lines):
        raise AssertionError(lines)
    for _ in range(2):
        contains(Load("load", tmp, "-t", "t", "--list-skipped", f"{tmp}/list").out,
                 "0 new, 0 changed, 0 only with a new time, 0 unchanged")
    Load("load", tmp, "-t", "t", "--list-skipped", f"{tmp}/no/such/folder", status=1)


@test
def the_list_of_what_is_skipped_replaces_no_other_file(tmp):
    write(f"{tmp}/in/keep.txt", "a document")
    write(f"{tmp}/in/latin", b"caf\xe9")
    write(f"{tmp}/notes", "too large a plan\twith a tab\n")
    write(f"{tmp}/empty", "")
    # documents that begin as a list does
    others = {"word": "unreadable", "words": "archives\tbody\nimportant\n", "path": "archives\t/a\nimportant\n",
              "end": "archives\t/a\nimportant", "tab": "archives\t", "cut": "arch",
              "indented": "archives\t/a\n\timportant\n", "reason": "notes\t/a\n"}
    for name, text in others.items():
        write(f"{tmp}/{name}", text)
        contains(Load("load", f"{tmp}/in", "-t", "t", "--list-skipped", f"{tmp}/{name}", status=1).err,
                 "is not a list of skipped files")
        equal(open(f"{tmp}/{name}", encoding="utf-8").read(), text)
    for arguments, name, reason in (((f"{tmp}/in/keep.txt",), f"{tmp}/in/keep.txt", "the file is to be loaded"),
                                    ((f"{tmp}/in",), f"{tmp}/in/keep.txt", "is not a list of skipped files"),
                                    ((f"{tmp}/in",), f"{tmp}/notes", "is not a list of skipped files"),
                                    ((f"{tmp}/in", f"{tmp}/empty"), f"{tmp}/empty", "the file is to be loaded")):
        contains(Load("load", *arguments, "-t", "t", "--list-skipped", name, status=1).err,
                 f"neardup load: --list-skipped {name}: the file")
        contains(Load("load", *arguments, "-t", "t", "--list-skipped", name, status=1).err, reason)
    equal([open(f"{tmp}/{name}", encoding="utf-8").read() for name in ("in/keep.txt", "notes")],
          ["a document", "too large a plan\twith a tab\n"])
    equal(sql("SELECT to_regclass('t') IS NULL"), "t")
    standard_input = shell('"$0" load - -t t --list-skipped "$1" < "$1"', f"{tmp}/notes")
    equal((standard_input.returncode, os.path.getsize(f"{tmp}/notes")), (1, 28))
    # a list of an earlier load, an empty file, and what is no file
    for _ in range(2):
        Load("load", f"{tmp}/in", "-t", "t", "--list-skipped", f"{tmp}/empty")
        equal(open(f"{tmp}/empty", encoding="utf-8").read(), f"not valid UTF-8\t{tmp}/in/latin\n")
    # The list of a load that was killed may end anywhere in a line.
    for end in ("arch", "archives", "archives\t", "archives\t/a", "archives\t-#1\tdet"):
        write(f"{tmp}/empty", "too large\t/x\tdecoded\n" + end)
        Load("load", f"{tmp}/in", "-t", "t", "--list-skipped", f"{tmp}/empty")
        equal(open(f"{tmp}/empty", encoding="utf-8").read(), f"not valid UTF-8\t{tmp}/in/latin\n")
    os.chmod(tmp, 0o777)
    os.chmod(f"{tmp}/empty", 0o222)
    contains(Load("load", f"{tmp}/in", "-t", "t", "--list-skipped", f"{tmp}/empty", prefix=other_user(), status=1).err,
             f"cannot read {tmp}/empty: Permission denied")
    contains(
        Load("load", f"{tmp}/in", "-t", "t", "--list-skipped", "/dev/stdout").out, f"not valid UTF-8\t{tmp}/in/latin\n")
    # a pipe is read by others only: the load waits until its reader comes
    os.mkfifo(f"{tmp}/pipe")
    with subprocess.Popen(["sh", "-c", 'sleep 1; exec cat "$0"', f"{tmp}/pipe"], stdout=subprocess.PIPE) as reader:
        Load("load", f"{tmp}/in", "-t", "t", "--list-skipped", f"{tmp}/pipe")
        try:
            equal(reader.communicate(timeout=30)[0].decode(), f"not valid UTF-8\t{tmp}/in/latin\n")
        finally:
            reader.kill()


@test
def messages_have_no_control_characters(tmp):
    escape, shown = "\x1b[31mred\\n", "\\x1b[31mred\\n"
    write(f"{tmp}/a", "text")
    Load("load", tmp, "-t", "t")
    trigger("speak", "UPDATE",
            f"RAISE WARNING '{escape}'; RAISE EXCEPTION '{escape}' USING ERRCODE = '57P01', HINT = '{escape}', "
                "DETAIL = E'two\\nlines';")
    write(f"{tmp}/a", "another text")
    said = Load("load", tmp, "-t", "t", status=1).err
    contains(said, f"WARNING:  {shown}\n")
    contains(said, f"neardup load: {shown} (two\nlines)\nhint: {shown}\n")
    families()
    sql("SELECT create_duplicates('dups', 'docs', 'id', 'body', filter => 'path::int8 > 0')")
    sql(f"UPDATE docs SET path = '{escape}'")
    said += Load("run", "dups", status=1).err
    contains(said, f'invalid input syntax for type bigint: "{shown}"')
    sql(f"""SELECT drop_duplicates('dups'); CREATE DOMAIN "d{escape}" AS text;
      ALTER TABLE docs ALTER path TYPE "d{escape}";
      ALTER TABLE docs RENAME TO "{escape}"; SELECT create_duplicates('dups', '"{escape}"', 'id', 'body')""")
    Load("run", "dups", "-q")
    said += Load("export", "dups", f"{tmp}/out", "--list", status=1).err
    contains(said, f'column "path" of public."{shown}" is public."d{shown}", not text')
    equal([c for c in said if ord(c) < 32 and c != "\n"], [])


@test
def other_encodings(tmp):
    write(f"{tmp}/utf8", "naïve")
    write(f"{tmp}/latin", "naïve café ".encode("latin1") * 3)
    write(f"{tmp}/packed.gz", gzip.compress("naïve".encode("latin1")))
    write(f"{tmp}/guess", "\xdc".encode("latin1"))
    write(f"{tmp}/bom16", "naïve €".encode("utf-16"))
    write(f"{tmp}/wide", ("plain words, " * 50).encode("utf-16-le"))
    write(f"{tmp}/broken", b"\xc3")
    write(f"{tmp}/binary", b"text\0text" + bytes(range(256)))
    load = Load("load", tmp, "-t", "t")
    contains(load.out, "1 new")
    contains(load.out, "hint: --encoding detect stores text that is not UTF-8, too")
    missing = Load("load", tmp, "-t", "t", "--encoding", "detect", status=1)
    contains(missing.err,
             "--encoding needs the function neardup_decode(bytea, text), which this database does not have\nhint: ")
    # one that is no part of the extension may be anyone's
    sql("CREATE FUNCTION neardup_decode(document bytea, encoding text) RETURNS TABLE (body text) LANGUAGE sql AS $$ "
        "SELECT 'not called' $$")
    contains(Load("load", tmp, "-t", "t", "--encoding", "detect", status=1).err, "which this database does not have")
    sql("DROP FUNCTION neardup_decode; CREATE EXTENSION neardup")
    sql("ALTER EXTENSION neardup DROP FUNCTION neardup_decode; DROP FUNCTION neardup_decode")
    sql("""CREATE FUNCTION neardup_decode(document bytea, name text DEFAULT NULL)
      RETURNS TABLE (body text, encoding text, confidence float8, dropped bigint) LANGUAGE plpgsql AS $$
      #variable_conflict use_column
      BEGIN
        IF document = '\\xc3' THEN RAISE EXCEPTION 'nothing fits' USING ERRCODE = 'character_not_in_repertoire'; END IF;
        IF position('\\x00'::bytea IN document) > 0 THEN
          RETURN QUERY SELECT string_agg(chr(get_byte(document, i) + 256 * get_byte(document, i + 1)), '' ORDER BY i)
            FILTER (WHERE i > 0 OR get_byte(document, 0) <> 255), 'UTF-16LE', 1.0::float8, 0::bigint
            FROM generate_series(0, length(document) - 2, 2) i;
        ELSE
          RETURN QUERY SELECT convert_from(document, COALESCE($2, 'latin1')), COALESCE($2, 'windows-1252'),
            CASE WHEN length(document) > 1 THEN 0.9 ELSE 0.2 END::float8, 1::bigint;
        END IF;
      END $$; ALTER EXTENSION neardup ADD FUNCTION neardup_decode""")
    load = Load("load", tmp, "-t", "t", "--encoding", "detect")
    contains(load.out, "5 new, 0 changed, 0 only with a new time, 1 unchanged")
    contains(load.out, "2 skipped: 1 holding NUL (binary), 1 not valid UTF-8")
    contains(load.out, "decoded: 2 UTF-16LE, 3 windows-1252; 3 bytes dropped; 1 files of an uncertain encoding")
    contains(load.err, f"{tmp}/broken: not valid UTF-8 (nothing fits)")
    for name, text in (("latin", "naïve café " * 3), ("packed.gz", "naïve"), ("bom16", "naïve €"),
                       ("wide", "plain words, " * 50)):
        equal(body("t", f"{tmp}/{name}"), text.encode())
    equal(sql("SELECT size FROM t WHERE path ~ 'latin'"), "33")
    contains(Load("load", tmp, "-t", "t", "--encoding", "detect").out, "6 unchanged")
    contains(Load("load", f"{tmp}/latin", "-t", "t2", "--encoding", "latin2").out, "decoded: 1 latin2; 1 bytes dropped")
    contains(Load("load", f"{tmp}/latin", "-t", "t3", "--encoding", "klingon", status=1).err, "klingon")
    equal(sql("SELECT to_regclass('t3') IS NULL"), "t")
    Load("load", tmp, "-t", "t", "--encoding", "", status=2)
    # the extension's own
    sql("DROP EXTENSION neardup; CREATE EXTENSION neardup")
    write(f"{tmp}/han", "漢字文章重複檢測。".encode("gb18030") + b"\xff")
    contains(Load("load", f"{tmp}/han", "-t", "t", "--encoding", "gb18030").out, "decoded: 1 GB18030; 1 bytes dropped")
    equal(body("t", f"{tmp}/han"), "漢字文章重複檢測。".encode())
    contains(Load("load", f"{tmp}/bom16", f"{tmp}/wide", "-t", "t4", "--encoding", "detect").out, "decoded: 2 UTF16LE")
    equal(body("t4", f"{tmp}/bom16"), "naïve €".encode())
    contains(Load("load", f"{tmp}/han", "-t", "t5", "--encoding", "viqr", status=1).err,
             "no converter for the encoding VIQR\nhint: ")


@test
def files_that_change_while_they_are_read(tmp):
    write(f"{tmp}/a", "many words in a row, " * 1_000_000, 10**18)
    done = threading.Event()

    def keep_writing():
        now = 10**18
        while not done.is_set():
            now += 10**9
            os.utime(f"{tmp}/a", ns=(now, now))
            time.sleep(0.0001)

    writer = threading.Thread(target=keep_writing)
    writer.start()
    try:
        for _ in range(50):
            if "1 written to while they were read; the next load reads them again" in Load("load", tmp, "-t", "t").out:
                break
        else:
            raise AssertionError("it was never seen to change")
    finally:
        done.set()
        writer.join()
    write(f"{tmp}/a", "fewer words")
    load = Load("load", tmp, "-t", "t")
    contains(load.out, "0 new, 1 changed")
    equal("written to" in load.out, False)
    equal(body("t", f"{tmp}/a"), b"fewer words")


@test
def links_and_special_files(tmp):
    write(f"{tmp}/in/a", "text")
    write(f"{tmp}/outside/b", "outside")
    os.symlink(f"{tmp}/outside", f"{tmp}/in/link-to-directory")
    os.symlink(f"{tmp}/outside/b", f"{tmp}/in/link-to-file")
    os.symlink(f"{tmp}/in", f"{tmp}/in/loop")
    os.mkfifo(f"{tmp}/in/pipe")
    load = Load("load", f"{tmp}/in", "-t", "t")
    contains(load.out, "1 new")
    contains(load.out, "passed over: 3 symbolic links, 1 sockets, pipes or devices")
    contains(Load("load", f"{tmp}/in/link-to-file", "-t", "t").out, "1 new")
    load = Load("load", f"{tmp}/in/link-to-directory", f"{tmp}/in/link-to-file", "-t", "t2")
    contains(load.out, "1 new")
    contains(load.out, "1 skipped: 1 further links to a file")
    contains(load.err, f"skipped {tmp}/in/link-to-file: further links to a file ({tmp}/in/link-to-directory/b)")


@test
def named_twice(tmp):
    write(f"{tmp}/x/y/a", "text")
    write(f"{tmp}/x/b", "text")
    load = Load("load", f"{tmp}/x", f"{tmp}/x/y", f"{tmp}//x/./y/../b", f"{tmp}/x/b", "-t", "t")
    contains(load.out, "2 new")
    contains(load.out, "passed over: 1 directories met twice, 2 files named twice")
    equal(sql("SELECT string_agg(path, ',' ORDER BY path) FROM t"), f"{tmp}/x/b,{tmp}/x/y/a")
    os.symlink("x", f"{tmp}/link")
    for number, arguments in enumerate(
            (["x", "x"], ["x", "x/"], ["x/y", "x"], ["x", "link"], ["link", "x"], ["link/y", "x", "link/b"],
             ["x/y/a", "link"], ["x/b", "link/b", "x/y", "link/y"])):
        load = Load("load", *[f"{tmp}/{argument}" for argument in arguments], "-t", f"u{number}", "--batch-files", "1")
        contains(load.out, "2 new")
        equal(sql(f"SELECT count(*) || ' ' || count(DISTINCT regexp_replace(path, '/link/', '/x/')) FROM u{number}"),
              "2 2")


@test
def hard_links(tmp):
    for name in ("a.txt", "b.txt", "sub/c.txt"):
        write(f"{tmp}/in/{name}", f"text {name}", 10**18)
    for name, target in (("in/z.txt", "in/a.txt"), ("in/sub/deep.txt", "in/a.txt"), ("in/b.zip", "in/b.txt"),
                         ("out", "in/sub/c.txt"), ("in/0.md", "in/sub/c.txt"), ("in/caf\udce9.txt", "in/b.txt")):
        os.link(f"{tmp}/{target}", os.fsencode(tmp) + b"/" + name.encode("utf-8", "surrogateescape"))
    for batch in ("1", "1000"):
        load = Load("load", f"{tmp}/in", f"{tmp}/out", "-t", "t", "--include", "*.txt", "--include", "*.zip",
                    "--include", "out", "--batch-files", batch, "--list-skipped", f"{tmp}/list")
        contains(load.out, "3 new" if batch == "1" else "0 new, 0 changed, 0 only with a new time, 3 unchanged")
        contains(load.out, "5 skipped: 1 file name not valid UTF-8, 1 archives, 3 further links to a file\n")
        equal(sql("SELECT string_agg(path, ',' ORDER BY path) FROM t"),
              f"{tmp}/in/a.txt,{tmp}/in/b.txt,{tmp}/in/sub/c.txt")
        links = [
            line for line in open(f"{tmp}/list", encoding="utf-8").read().splitlines() if line.startswith("further")]
        equal(links, [f"further links to a file\t{tmp}/in/{name}\t{tmp}/in/a.txt" for name in ("z.txt", "sub/deep.txt")]
              + [f"further links to a file\t{tmp}/out\t{tmp}/in/sub/c.txt"])
    # a path that has a row keeps it
    os.link(f"{tmp}/in/sub/c.txt", f"{tmp}/in/0.txt")
    write(f"{tmp}/in/sub/c.txt", "changed", 11 * 10**17)
    load = Load("load", f"{tmp}/in", "-t", "t", "--include", "*.txt", "--batch-files", "1")
    contains(load.out, "0 new, 1 changed, 0 only with a new time, 2 unchanged")
    contains(load.err, f"{tmp}/in/0.txt: further links to a file ({tmp}/in/sub/c.txt)")
    equal(body("t", f"{tmp}/in/sub/c.txt"), b"changed")
    sql(f"UPDATE t SET path = '{tmp}/in/sub/deep.txt' WHERE path = '{tmp}/in/a.txt'")
    contains(Load("load", f"{tmp}/in", "-t", "t", "--include", "*.txt").out,
             "0 new, 0 changed, 0 only with a new time, 3 unchanged")
    # A path that the encoding of the database cannot hold is not the first path of a file.
    os.link(f"{tmp}/in/a.txt", f"{tmp}/in/Ж.txt")
    os.rename(f"{tmp}/in/a.txt", f"{tmp}/in/日.txt")
    with database("loader_other", "EUC_JP"):
        contains(Load("load", f"{tmp}/in", "-t", "t", "--include", "Ж.txt", "--include", "日.txt").out,
                 "1 skipped: 1 further links to a file")
    with database("loader_other", "WIN1251"):
        contains(Load("load", f"{tmp}/in/日.txt", f"{tmp}/in/Ж.txt", "-t", "t").out, "1 new")


@test
def folders_in_byte_order(tmp):
    write(f"{tmp}/b/1/x.txt", "text")
    for name in ("a/z/2", "a/Z/3", "c"):
        os.makedirs(f"{tmp}/{name}")
        os.link(f"{tmp}/b/1/x.txt", f"{tmp}/{name}/x.txt")
    Load("load", tmp, "-t", "t")
    equal(sql("SELECT path FROM t"), f"{tmp}/a/Z/3/x.txt")


@test
def globs_sizes_and_words(tmp):
    for name in ("a.txt", "b.md", "keep/c.txt", "drop/d.txt", "drop/deep/e.txt"):
        write(f"{tmp}/{name}", "one two three")
    write(f"{tmp}/f.txt", "one")
    write(f"{tmp}/han.txt", "三個字")

    def loaded(*options):
        sql("DROP TABLE IF EXISTS t")
        Load("load", tmp, "-t", "t", *options)
        return sql(f"SELECT string_agg(substr(path, {len(tmp) + 2}), ' ' ORDER BY path) FROM t")

    equal(loaded("--include", "*.txt", "--exclude", "drop"), "a.txt f.txt han.txt keep/c.txt")
    equal(loaded("--include", "*/drop/*"), "drop/d.txt drop/deep/e.txt")
    equal(loaded("--exclude", "*.txt"), "b.md")
    equal(loaded("--exclude", "dr*/", "--exclude", f"{tmp}/keep//", "--exclude", "a.txt/"), "a.txt b.md f.txt han.txt")
    equal(loaded("--include", "???.txt"), "han.txt")
    equal(loaded("--min-size", "4", "--include", "?.txt", "--exclude", "drop", "--exclude", "keep"), "a.txt")
    equal(loaded("--min-size", "3", "--include", "?.txt", "--exclude", "drop", "--exclude", "keep"), "a.txt f.txt")
    equal(loaded("--min-words", "3", "--exclude", "drop", "--exclude", "keep"), "a.txt b.md han.txt")


def shell(command, *arguments):
    """A command line of sh in which "$0" is the program; its exit code."""
    return subprocess.run(
        ["sh", "-c", command, PROGRAM, *arguments], capture_output=True, text=True, timeout=60, check=False)


@test
def closed_and_full_streams(tmp):
    for number in range(50):
        write(f"{tmp}/in/{number}", f"text {number}")
    write(f"{tmp}/in/latin", b"caf\xe9")
    equal(shell('"$0" load "$1" -t t --batch-files 5 2>&-', f"{tmp}/in").returncode, 0)
    for number, (streams, message) in enumerate(((">&-", "Bad file descriptor"), ("<&- >&-", "Bad file descriptor"),
                                                 (">/dev/full", "No space left on device"))):
        done = shell(
            f'"$0" load "$1" -t t{number} --batch-files 5 --list-skipped "$2" {streams}', f"{tmp}/in", f"{tmp}/list")
        contains(done.stderr, f"cannot write to standard output: {message}")
        equal((done.returncode, sql(f"SELECT count(*) FROM t{number}")), (1, "50"))
        equal(open(f"{tmp}/list", encoding="utf-8").read(), f"not valid UTF-8\t{tmp}/in/latin\n")
        equal(shell(f'"$0" load "$1" -t t{number} -q {streams}', f"{tmp}/in/0").returncode, 0)
        equal(shell(f'"$0" --help {streams}').returncode, 1)
    equal(shell('"$0" load "$1" -t t5 <&- >&- 2>&-', f"{tmp}/in").returncode, 1)
    equal(sql("SELECT count(*) FROM t5"), "50")


@test
def table_names(tmp):
    write(f"{tmp}/a", "text")
    sql('CREATE SCHEMA "Odd.Schema"')
    for name, relation in (("T_Upper", "t_upper"), ('"T Upper"', '"T Upper"'), ('public."a""b;--"', 'public."a""b;--"'),
                           ('"Odd.Schema".t', '"Odd.Schema".t'), ("größe$1", "größe$1")):
        Load("load", tmp, "-t", name)
        equal(sql(f"SELECT count(*) FROM {relation}"), "1")
    for name in ("", "x; DROP TABLE t", "1x", "a.b.c.", "a b", '"open', '""', "a.", "x" * 64, "a.b.c", "t--"):
        contains(Load("load", tmp, "-t", name, status=2).err, "--table")
    contains(Load("load", tmp, "-t", "no_such_schema.t", status=1).err, "no_such_schema")


@test
def tables_that_do_not_fit(tmp):
    write(f"{tmp}/a", "text")
    columns = "path text UNIQUE, size bigint, mtime timestamptz, content_hash bigint"
    for definition, message in (("x int", "has no column path"), (columns, "has no column body"),
                                (columns + ", body bytea", "column body of table \"public\".\"t\" is bytea, not text"),
                                (columns.replace("UNIQUE", "") + ", body text", "has no unique index")):
        sql(f"DROP TABLE IF EXISTS t; CREATE TABLE t ({definition})")
        contains(Load("load", tmp, "-t", "t", status=1).err, message)
    sql("DROP TABLE t; CREATE VIEW t AS SELECT 1")
    contains(Load("load", tmp, "-t", "t", status=1).err, "is not a table")
    sql(f"DROP VIEW t; CREATE TABLE t ({columns}, body text, added timestamptz DEFAULT now())")
    Load("load", tmp, "-t", "t")
    equal(sql("SELECT count(added) FROM t"), "1")


@test
def usage(tmp):
    contains(Load("load", "--help").out, "usage: neardup load")
    contains(Load("--help").out, "load")
    Load(status=2)
    Load("no-such-command", status=2)
    contains(Load("load", tmp, status=2).err, "--table is missing")
    contains(Load("load", "-t", "t", status=2).err, "no directory given")
    for option in (("--max-size", "-1"), ("--max-size", "2G"), ("--min-size", "x"),
                   ("--min-size", "99999999999999999999"), ("--batch-files", "0"), ("--no-such-option",)):
        Load("load", tmp, "-t", "t", *option, status=2)
    contains(Load("load", tmp, "-t", "t", "-d", "no_such_database", status=1).err, "no_such_database")
    write(f"{tmp}/a", "text")
    contains(Load("load", tmp, "-t", "t").out, "1 new")
    quiet = Load("load", tmp, "-t", "t", "--quiet")
    equal(quiet.out + quiet.err, "")
    Load("load", tmp, "-t", "t", "--conninfo", f"host='{os.environ['PGHOST']}' dbname={os.environ['PGDATABASE']}")


@test
def what_is_not_there_is_an_error_before_anything_is_made(tmp):
    write(f"{tmp}/there/a", "text")
    os.symlink("nowhere", f"{tmp}/dangling")
    gone = "No such file or directory"
    for arguments, message in (([f"{tmp}/nosuch"], f"{tmp}/nosuch: {gone}"),
                               ([f"{tmp}/there", f"{tmp}/nosuch"], f"{tmp}/nosuch: {gone}"),
                               ([f"{tmp}/x", f"{tmp}/there", f"{tmp}/y"],
                                f"neardup load: {tmp}/x: {gone}; {tmp}/y: {gone}\n"),
                               ([f"{tmp}/dangling"], f"{tmp}/dangling: {gone}"),
                               ([f"{tmp}/there/a/"], f"{tmp}/there/a/: Not a directory"),
                               ([f"{tmp}/\x1b[31m"], f"{tmp}/\\x1b[31m: {gone}"),
                               ([f"{tmp}/" + "n" * 300], "File name too long")):
        failed = Load("load", *arguments, "-t", "t", "--list-skipped", f"{tmp}/list", status=1)
        contains(failed.err, message)
        equal((failed.out, "vanished" in failed.err, "created" in failed.err), ("", False, False))
    # nothing of the server is asked
    contains(Load("load", f"{tmp}/nosuch", "-t", "t", "-d", "no_such_database", status=1).err, f"{tmp}/nosuch: {gone}")
    contains(Load("load", f"{tmp}/there", "-t", "t", "--list-skipped", f"{tmp}/no/such/folder", status=1).err,
             "cannot write")
    equal(sql("SELECT to_regclass('t') IS NULL"), "t")
    equal(os.path.exists(f"{tmp}/list"), False)
    # standard input that cannot be read
    for closed, message in (("<&-", "-: Bad file descriptor"), (f"< '{tmp}'", "-: Is a directory")):
        failed = shell(f'"$0" load - -t t {closed}')
        equal((failed.returncode, failed.stdout, failed.stderr), (1, "", f"neardup load: {message}\n"))
    equal(sql("SELECT to_regclass('t') IS NULL"), "t")
    contains(shell(f'"$0" load - "$1" -t t < "{tmp}"', f"{tmp}/there").stdout, "1 skipped: 1 unreadable")
    sql("DROP TABLE t")
    contains(Load("load", f"{tmp}/there/", "-t", "t").out, "1 new")
    contains(Load("load", f"{tmp}/there//.", f"{tmp}/there/../there/", "-t", "t").out,
             "0 new, 0 changed, 0 only with a new time, 1 unchanged")


@test
def dots_after_a_symbolic_link(tmp):
    write(f"{tmp}/far/away/inside/a", "text")
    write(f"{tmp}/far/away/b", "text")
    write(f"{tmp}/near/c", "text")
    os.symlink("../far/away/inside", f"{tmp}/near/link")
    Load("load", f"{tmp}/near/link/..", "-t", "t")
    equal(sql("SELECT string_agg(path, ',' ORDER BY path) FROM t"), f"{tmp}/far/away/b,{tmp}/far/away/inside/a")
    Load("load", f"{tmp}/near/link/../../../near/c", "-t", "t2")
    equal(sql("SELECT path FROM t2"), f"{tmp}/near/c")


def other_user():
    """A command that runs a program as a user who may not read everything."""
    if os.getuid() != 0:
        return ()
    user = os.environ.get("NEARDUP_SERVER_USER", "nobody")
    group = subprocess.run(["id", "-g", user], capture_output=True, text=True, check=True).stdout.strip()
    return ("setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups")


@test
def unreadable_files(tmp):
    prefix = other_user()
    write(f"{tmp}/secret", "secret")
    os.chmod(f"{tmp}/secret", 0)
    write(f"{tmp}/locked/a", "text")
    os.chmod(f"{tmp}/locked", 0)
    write(f"{tmp}/open", "text")
    try:
        for unreadable in ("locked", "secret"):
            failed = Load("load", f"{tmp}/{unreadable}", "-t", "t", prefix=prefix, status=1)
            contains(failed.err, f"neardup load: {tmp}/{unreadable}: Permission denied\n")
        contains(Load("load", f"{tmp}/locked/a", tmp, "-t", "t", prefix=prefix, status=1).err,
                 f"{tmp}/locked/a: Permission denied")
        equal(sql("SELECT to_regclass('t') IS NULL"), "t")
        load = Load("load", tmp, f"{tmp}/locked", "-t", "t", prefix=prefix)
    finally:
        os.chmod(f"{tmp}/locked", stat.S_IRWXU)
    contains(load.out, "1 new")
    contains(load.out, "2 skipped: 2 unreadable")
    contains(load.err, f"{tmp}/secret: unreadable (Permission denied)")


@test
def a_refused_row_does_not_stop_the_others(tmp):
    for number in range(50):
        write(f"{tmp}/{number:02}", f"text {number}")
    write(f"{tmp}/31", "poison")
    write(f"{tmp}/" + "/".join(os.urandom(120).hex() for _ in range(15)), "its path does not fit into an index")
    write(f"{tmp}/none", ".")
    Load("load", f"{tmp}/none", "-t", "t")
    sql("ALTER TABLE t ADD CHECK (body <> 'poison')")
    load = Load("load", tmp, "-t", "t")
    contains(load.out, "49 new")
    contains(load.out, "2 refused by the server")
    contains(load.err, f"{tmp}/31: refused by the server")
    equal(sql("SELECT count(*) FROM t"), "50")


def trigger(name, when, body, table="t"):
    sql(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN {body} END $f$; "
        f"CREATE TRIGGER {name} BEFORE {when} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()")


@test
def rows_that_a_trigger_leaves_out_are_not_counted(tmp):
    texts = [" ".join(f"w{family}x{i}" for i in range(60)) for family in range(3)]
    for number in range(6):
        write(f"{tmp}/{number}", texts[number // 2] + f" {number}", 10**18)
    write(f"{tmp}/none", ".", 10**18)
    sql("CREATE EXTENSION neardup")
    Load("load", f"{tmp}/none", "-t", "t")
    sql("CREATE TRIGGER g BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION neardup_guard('to_minhash(body)', "
        "'0.5', 'skip')")
    load = Load("load", tmp, "-t", "t")
    contains(load.out, "3 new, 0 changed, 0 only with a new time, 1 unchanged")
    contains(load.out, "3 skipped: 3 left out by a trigger")
    contains(load.err, f"skipped {tmp}/1: left out by a trigger")
    equal(sql("SELECT count(*) FROM t"), "4")
    load = Load("load", tmp, "-t", "t", "--batch-files", "1", "--list-skipped", f"{tmp}-list")
    contains(load.out, "0 new, 0 changed, 0 only with a new time, 4 unchanged; 0 B of text")
    equal(
        open(f"{tmp}-list", encoding="utf-8").read(), "".join(f"left out by a trigger\t{tmp}/{n}\n" for n in (1, 3, 5)))
    os.unlink(f"{tmp}-list")
    # an update that would make a near copy
    write(f"{tmp}/2", texts[0] + " changed", 11 * 10**17)
    load = Load("load", f"{tmp}/2", "-t", "t")
    contains(load.out, "0 new, 0 changed, 0 only with a new time, 0 unchanged; 0 B of text")
    contains(load.out, "1 skipped: 1 left out by a trigger")
    equal(body("t", f"{tmp}/2").decode(), texts[1] + " 2")


@test
def updates_that_a_trigger_or_a_rule_leaves_out(tmp):
    for name in "abcdef":
        write(f"{tmp}/{name}", f"text {name}", 10**18)
    Load("load", tmp, "-t", "t")
    trigger("keeps_a", "UPDATE", "RETURN CASE WHEN old.path ~ '[ab]$' THEN NULL ELSE new END;")
    sql("CREATE RULE keep_c AS ON UPDATE TO t WHERE old.path ~ 'c$' DO INSTEAD NOTHING")
    for name in "acd":
        write(f"{tmp}/{name}", f"changed {name}", 11 * 10**17)
    for name in "be":
        write(f"{tmp}/{name}", f"text {name}", 11 * 10**17)
    load = Load("load", tmp, "-t", "t")
    contains(load.out, "0 new, 1 changed, 1 only with a new time, 1 unchanged")
    contains(load.out, "3 skipped: 3 left out by a trigger")
    for name, text in (("a", b"text a"), ("c", b"text c"), ("d", b"changed d")):
        equal(body("t", f"{tmp}/{name}"), text)
    contains(Load("load", tmp, "-t", "t").out, "0 new, 0 changed, 0 only with a new time, 3 unchanged")


@test
def a_row_that_is_deleted_while_it_is_updated(tmp):
    write(f"{tmp}/a", "text", 10**18)
    Load("load", tmp, "-t", "t")
    write(f"{tmp}/a", "changed", 11 * 10**17)
    other = subprocess.Popen(["psql", "-XAtq"], stdin=subprocess.PIPE, text=True)
    other.stdin.write("BEGIN; DELETE FROM t;\n")
    other.stdin.flush()
    wait_for(lambda: sql(
        "SELECT count(*) FROM pg_locks WHERE mode = 'RowExclusiveLock' AND relation = 't'::regclass") == "1")
    loader = start("load", tmp, "-t", "t")
    wait_for(lambda: sql(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'neardup' AND wait_event_type = 'Lock'") == "1")
    other.communicate("COMMIT;\n")
    contains(finish([loader])[0], "1 new, 0 changed")
    equal(body("t", f"{tmp}/a"), b"changed")


@test
def rows_that_triggers_send_elsewhere(tmp):
    for number in range(8):
        write(f"{tmp}/{number}", f"text {number}", 10**18)
    columns = "path text UNIQUE, size bigint, mtime timestamptz, content_hash bigint, body text"
    # partitions: one of them leaves rows out, some rows have none
    sql(f"CREATE TABLE p ({columns}) PARTITION BY RANGE (path); CREATE TABLE p1 PARTITION OF p FOR VALUES "
        f"FROM ('{tmp}/0') TO ('{tmp}/3'); CREATE TABLE p2 PARTITION OF p FOR VALUES FROM ('{tmp}/3') TO ('{tmp}/7')")
    trigger("even", "INSERT", "RETURN CASE WHEN new.path ~ '[02468]$' THEN new END;", "p1")
    load = Load("load", tmp, "-t", "p")
    contains(load.out, "6 new")
    contains(load.out, "2 skipped: 1 refused by the server, 1 left out by a trigger")
    equal(sql("SELECT count(*) FROM p"), "6")
    # a trigger that puts rows into a child
    sql(f"CREATE TABLE t ({columns}); CREATE TABLE child () INHERITS (t)")
    trigger("to_child", "INSERT", "IF new.path !~ '7$' THEN INSERT INTO child SELECT new.*; END IF; RETURN NULL;")
    load = Load("load", tmp, "-t", "t")
    contains(load.out, "7 new")
    contains(load.out, "1 skipped: 1 left out by a trigger")
    equal(sql("SELECT count(*) || ' ' || (SELECT count(*) FROM ONLY t) FROM t"), "7 0")
    contains(Load("load", tmp, "-t", "t").out, "0 new, 0 changed, 0 only with a new time, 7 unchanged")
    # a trigger that writes other paths
    sql(f"CREATE TABLE u ({columns})")
    trigger("shorter", "INSERT",
            "new.path := regexp_replace(new.path, '.*/', ''); RETURN CASE WHEN new.path <> '3' THEN new END;", "u")
    load = Load("load", tmp, "-t", "u")
    contains(load.out, "7 new")
    contains(load.out, "1 skipped: 1 left out by a trigger")
    equal(sql("SELECT string_agg(path, '' ORDER BY path) FROM u"), "0124567")


@contextlib.contextmanager
def database(name, encoding):
    """A database of its own, also for the programs that run meanwhile."""
    sql(f"DROP DATABASE IF EXISTS {name}")
    sql(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    before = os.environ["PGDATABASE"]
    os.environ["PGDATABASE"] = name
    try:
        yield
    finally:
        os.environ["PGDATABASE"] = before
        sql(f"DROP DATABASE {name}")


@test
def a_database_of_another_encoding(tmp):
    write(f"{tmp}/ascii", "plain")
    write(f"{tmp}/latin", "café")
    write(f"{tmp}/cyrillic", "Привіт")
    with database("loader_latin1", "LATIN1"):
        load = Load("load", tmp, "-t", "t")
        contains(load.out, "2 new")
        contains(load.err, "cyrillic: refused by the server")
        equal(body("t", f"{tmp}/latin"), "café".encode())


NAMES = ["plain", "café", "Привет", "日本語", "a¦b", "€uro", "\U0001f600", "é/日/x", "～", "〜", "back\\slash\\x41",
         "\u0301", "ﬁ"]


@test
def names_that_the_encoding_of_the_database_lacks(tmp):
    text = " ".join(f"w{i}" for i in range(60))
    for name in NAMES:
        write(f"{tmp}/in/{name}.txt", text, 10**18)
    write(os.fsencode(f"{tmp}/in/") + b"caf\xe9.txt", text, 10**18)
    # U+00A6 has no code of its own in EUC_JP, and comes back as U+FFE4
    held = {"LATIN1": ["plain", "café", "a¦b", "back\\slash\\x41"], "SQL_ASCII": NAMES,
            "EUC_JP": ["plain", "café", "Привет", "日本語", "é/日/x", "～", "back\\slash\\x41"],
            "WIN1251": ["plain", "Привет", "a¦b", "€uro", "back\\slash\\x41"]}
    for encoding, names in held.items():
        with database("loader_other", encoding):
            refused = len(NAMES) - len(names)
            skipped = f"{refused + 1} skipped: 1 file name not valid UTF-8" + (
                f", {refused} refused by the server\n" if refused else "\n")
            for counts, batch in ((f"{len(names)} new, 0 changed, 0 only with a new time, 0 unchanged", "1000"),
                                  (f"0 new, 0 changed, 0 only with a new time, {len(names)} unchanged", "3")):
                load = Load("load", f"{tmp}/in", "-t", "t", "--batch-files", batch, "--list-skipped", f"{tmp}/list")
                contains(load.out, counts)
                contains(load.out, skipped)
                lines = open(f"{tmp}/list", encoding="utf-8").read().splitlines()
                equal(sorted(line.split("\t")[1] for line in lines if line.startswith("refused")),
                      sorted(f"{tmp}/in/{name}.txt" for name in NAMES if name not in names))
                contains("\n".join(lines), f"file name not valid UTF-8\t{tmp}/in/caf\\xe9.txt")
            if encoding == "LATIN1":
                contains("\n".join(lines), 'Привет.txt\tcharacter with byte sequence 0xd0 0x9f in encoding "UTF8" has '
                                           'no equivalent in encoding "LATIN1"')
            if encoding == "EUC_JP":
                contains("\n".join(lines), f"a¦b.txt\tencoding EUC_JP would make another name of it: {tmp}/in/a￤b.txt")
            sql("CREATE EXTENSION neardup; SELECT create_duplicates('dups', 't', 'id', 'body')")
            contains(
                Load("run", "dups").out, f"{len(names)} rows, 1 clusters of 2 or more, {len(names) - 1} duplicates")
            Load("report", "dups", "-o", f"{tmp}/report.html")
            contains(Page(f"{tmp}/report.html").text, "Largest clusters")
            contains(Load("export", "dups", f"{tmp}/{encoding}", "--link").out,
                     f"{len(names)} files of 1 clusters linked, 0 skipped")
            links = [
                os.readlink(f"{tmp}/{encoding}/cluster_1/{name}") for name in os.listdir(f"{tmp}/{encoding}/cluster_1")]
            equal(sorted(links), sorted(f"{tmp}/in/{name}.txt" for name in names))
            for arguments in (("load", f"{tmp}/in", "-t", "日本語"),
                              ("export", "dups", "-", "--list", "--path-column", "日本語"), ("run", "日本語"),
                              ("report", "日本語", "-o", f"{tmp}/report.html")):
                Load(*arguments, status=1 if arguments[0] != "load" or encoding in ("LATIN1", "WIN1251") else 0)


@test
def paths_that_have_no_utf8(tmp):
    for name in ("a", "ж", "c"):
        write(f"{tmp}/in/{name}.txt", " ".join(f"w{i}" for i in range(60)), 10**18)
    with database("loader_other", "WIN1251"):
        Load("load", f"{tmp}/in", "-t", "t")
        sql("UPDATE t SET path = convert_from('\\x2f7898', 'WIN1251') WHERE path ~ 'c.txt$'")  # 0x98 is no character
        sql("CREATE EXTENSION neardup; SELECT create_duplicates('dups', 't', 'id', 'body')")
        contains(Load("run", "dups").out, "3 rows, 1 clusters of 2 or more")
        export = Load("export", "dups", f"{tmp}/out", "--link")
        contains(export.out, "2 files of 1 clusters linked, 1 skipped")
        contains(export.err, ": no UTF-8 for the path /x\\x98")
        equal(sorted(os.readlink(f"{tmp}/out/{name}") for name in tree(f"{tmp}/out")),
              [f"{tmp}/in/a.txt", f"{tmp}/in/ж.txt"])
        contains(Load("export", "dups", "-", "--list").out, f"{tmp}/in/ж.txt\n")
        sql("CREATE TABLE named AS SELECT 'ж' || id AS id, CASE WHEN id > 1 THEN path END AS path, body FROM t",
            PGCLIENTENCODING="UTF8")
        sql("SELECT create_duplicates('by_name', 'named', 'id', 'body')")
        Load("run", "by_name", "-q")
        contains(Load("export", "by_name", "-", "--list").err, "row ж1: no path")


@test
def bytes_of_a_database_without_an_encoding(tmp):
    raw = os.fsencode(f"{tmp}/in/") + b"caf\xe9.txt"
    write(raw, "text")
    with database("loader_other", "SQL_ASCII"):
        sql("CREATE EXTENSION neardup; CREATE TABLE docs (id text PRIMARY KEY, path text, body text)")
        sql(f"INSERT INTO docs SELECT repeat('x', 199) || 'é' || n, convert_from('\\x{raw.hex()}', 'SQL_ASCII'), "
            "repeat('é ', 19999) || 'é' || n " "FROM generate_series(1, 2) n")
        sql("SELECT create_duplicates('dups', 'docs', 'id', 'body', threshold => 0.1)")
        contains(Load("run", "dups").out, "2 rows, 1 clusters of 2 or more")
        Load("report", "dups", "-o", f"{tmp}/report.html")
        contains(Page(f"{tmp}/report.html").text, "the first 20,000 of ")
        contains(Load("export", "dups", "-", "--list").out, "caf\\xe9.txt")
        Load("export", "dups", f"{tmp}/out", "--link")
        equal(os.readlink(os.fsencode(f"{tmp}/out/cluster_1/KEEP - caf_.txt")), raw)
        write(f"{tmp}/latin", "naïve".encode("latin1"))
        contains(Load("load", f"{tmp}/latin", "-t", "t", "--encoding", "latin1").out, "1 new")
        equal(sql("SELECT encode(body::bytea, 'hex') FROM t"), "naïve".encode().hex())


@test
def large_batches(tmp):
    for number in range(3):
        write(f"{tmp}/{number}", f"{number} large text " * 1_600_000)
    contains(Load("load", tmp, "-t", "t").out, "3 new")
    equal(sql("SELECT count(*) FROM t WHERE octet_length(body) = size AND length(body) > 20000000"), "3")
    write(f"{tmp}/1", "1 changed text " * 1_600_000)
    contains(Load("load", tmp, "-t", "t").out, "1 changed")
    equal(sql("SELECT count(*) FROM t WHERE body LIKE '1 changed%'"), "1")


def start(*arguments):
    return subprocess.Popen(
        [PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for(condition, seconds=300):  # a hang guard
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.02)


@contextlib.contextmanager
def gate_closed():
    """A statement that asks for the advisory lock 96 waits."""
    holder = subprocess.Popen(["psql", "-XAtq"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    holder.stdin.write("SELECT pg_advisory_lock(96), 'closed';\n")
    holder.stdin.flush()
    contains(holder.stdout.readline(), "closed")
    try:
        yield
    finally:
        holder.communicate()


def wait_for_gate():
    wait_for(lambda: sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = "
                         "(SELECT oid FROM pg_database WHERE datname = current_database())") == "1")


@test
def a_killed_load_goes_on(tmp):
    for number in range(3000):
        write(f"{tmp}/{number:04}", f"text {number} " * 50)
    write(f"{tmp}/none", ".")
    Load("load", f"{tmp}/none", "-t", "t")
    # The 150th row waits, so that the load is at work when it is killed.
    sql("CREATE SEQUENCE rows; CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN IF nextval(''rows'') = 150 THEN PERFORM pg_advisory_xact_lock(96); END IF; RETURN new; END'")
    sql("CREATE TRIGGER gate BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION gate()")
    with gate_closed():
        loader = start("load", tmp, "-t", "t", "--batch-files", "20")
        wait_for_gate()
        loader.send_signal(signal.SIGKILL)
        loader.communicate()
    wait_for(lambda: sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'neardup'") == "0")
    there = int(sql("SELECT count(*) FROM t"))
    equal(((there - 1) % 20, there > 100, there < 3001), (0, True, True))
    sql("DROP FUNCTION gate CASCADE")
    contains(
        Load("load", tmp, "-t", "t").out, f"{3001 - there} new, 0 changed, 0 only with a new time, {there} unchanged")


@test
def ctrl_c_while_the_server_works(tmp):
    write(f"{tmp}/a", "text")
    Load("load", tmp, "-t", "t")
    write(f"{tmp}/b", "text")
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        blocker = subprocess.Popen(
            ["psql", "-XAtq", "-c", "BEGIN; LOCK TABLE t IN EXCLUSIVE MODE; SELECT pg_sleep(60)"])
        try:
            wait_for(lambda: sql("SELECT count(*) FROM pg_locks WHERE mode = 'ExclusiveLock' AND granted "
                                 "AND relation = 't'::regclass") == "1")
            loader = start("load", tmp, "-t", "t")
            wait_for(lambda: sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'neardup' "
                                 "AND wait_event_type = 'Lock'") == "1")
            loader.send_signal(number)
            _, err = loader.communicate(timeout=300)
            equal(loader.returncode, status)
            contains(err.decode(), "run it again to go on")
        finally:
            sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' "
                "AND pid <> pg_backend_pid()")
            blocker.wait()
        wait_for(lambda: sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'neardup'") == "0")
    contains(Load("load", tmp, "-t", "t").out, "1 new")


def finish(loaders):
    """Waits for programs that were started; what each printed to stdout."""
    outputs = [loader.communicate(timeout=300) for loader in loaders]
    for loader, (out, err) in zip(loaders, outputs):
        if loader.returncode != 0:
            raise AssertionError(f"exit code {loader.returncode}\n{out.decode()}{err.decode()}")
    return [out.decode() for out, _ in outputs]


@test
def two_loaders_at_once(tmp):
    for number in range(2000):
        write(f"{tmp}/{number:04}", f"text {number} " * 20)
    outputs = finish([start("load", tmp, "-t", "t", "--batch-files", "50") for _ in range(3)])
    equal(sql("SELECT count(*) || ' ' || count(DISTINCT path) FROM t"), "2000 2000")
    equal(sum(int(out.split()[0]) for out in outputs), 2000)


@test
def loaders_make_one_table(tmp):
    write(f"{tmp}/a", "text")
    for number in range(20):
        outputs = finish([start("load", tmp, "-t", f"t{number}") for _ in range(4)])
        equal(sum(int(out.split()[0]) for out in outputs), 1)


@test
def a_type_of_the_name(tmp):
    write(f"{tmp}/a", "text")
    sql("CREATE TYPE t AS ENUM ()")
    contains(Load("load", tmp, "-t", "t", status=1).err, 'type "t" already exists')


@test
def progress_on_a_terminal(tmp):
    for number in range(10000):
        write(f"{tmp}/{number:05}", f"text {number} " * 20)
    leader, follower = open_terminal()
    loader = subprocess.Popen([PROGRAM, "load", tmp, "-t", "t", "--batch-files", "20"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=follower)
    os.close(follower)
    seen = read_terminal(leader)
    out, _ = loader.communicate()
    contains(out.decode(), "10000 new")
    for part in ("\r", "/10000 files", "left", "%"):
        contains(seen, part)
    plain = Load("load", tmp, "-t", "t")
    equal(plain.err.count("\r"), 0)


FAMILIES = """CREATE EXTENSION IF NOT EXISTS neardup;
    CREATE TABLE docs (id bigint PRIMARY KEY, path text, body text);
    INSERT INTO docs SELECT f * 10 + v, '%s/' || f || '/' || v || '.txt',
      (SELECT string_agg('f' || f || 'w' || i || CASE WHEN i %% 40 = v THEN 'x' ELSE '' END, ' ' ORDER BY i)
        FROM generate_series(1, 80) i)
      FROM generate_series(1, %d) f, generate_series(0, f %% 4) v"""


def families(tmp="", count=40):
    """A table docs of documents in families of 1 to 4, ids family * 10 + member."""
    sql(FAMILIES % (tmp, count))


@test
def run_a_job(tmp):
    families()
    sql("SELECT create_duplicates('dups', 'docs', 'id', 'body', threshold => 0.5)")
    run = Load("run", "dups", "--batch", "7")
    contains(run.out, "100 rows, 30 clusters of 2 or more, 60 duplicates (60.0 %), 60 of them new since the last run")
    contains(Load("run", "dups").out, "60 duplicates (60.0 %), 0 of them new")
    sql("INSERT INTO docs SELECT id + 5, path, body FROM docs WHERE id IN (10, 20, 40)")
    contains(
        Load("run", "public.dups").out, "103 rows, 31 clusters of 2 or more, 63 duplicates (61.2 %), 3 of them new")
    sql("DELETE FROM docs WHERE id IN (40, 45)")
    contains(Load("run", "dups").out, "clusters of earlier runs: 1 gone")
    sql("UPDATE docs SET body = body WHERE id <= 50")
    limited = Load("run", "dups", "--batch", "7", "--time-limit", "0 s")
    contains(limited.out, "not finished: 7 of ")
    Load("run", "dups")
    contains(Load("run", "dups", "--rebuild", "--batch", "7", "--time-limit", "0 s").out,
             "not finished: 7 of 101 rows signed")
    contains(Load("run", "dups", "--rebuild").out, "101 rows, ")
    sql("SELECT pause_duplicates('dups')")
    equal(Load("run", "dups", status=1).out, "")
    quiet = Load("run", "dups", "-q", status=1)
    equal(quiet.out + quiet.err, "")
    contains(Load("run", "nothing", status=1).err, 'there is no table of duplicates "nothing"\nhint: ')
    contains(
        Load("run", "dups", "--time-limit", "soon", status=1).err, 'invalid input syntax for type interval: "soon"')
    for arguments in ((), ("dups", "more"), ("dups", "--batch", "0"), ("dups", "--time-limit", "")):
        Load("run", *arguments, status=2)
    contains(Load("run", "dups", "--nonsense", status=2).err,
             "neardup run: unrecognized option '--nonsense'\nTry: neardup run --help")
    contains(Load("run", "--help").out, "usage: neardup run JOB")
    sql("DROP EXTENSION neardup CASCADE")
    contains(Load("run", "dups", status=1).err, "has no extension neardup")


@test
def run_of_a_result_that_was_changed_by_hand(tmp):
    families()
    sql("SELECT create_duplicates('dups', 'docs', 'id', 'body', threshold => 0.5)")
    Load("run", "dups", "-q")
    sql("UPDATE dups SET survivor = true WHERE id = 31; UPDATE dups SET found_at = now() + interval '1 day' "
        "WHERE id = 72")
    contains(Load("run", "dups").out, "100 rows, 30 clusters of 2 or more, 60 duplicates (60.0 %), 0 of them new")
    Load("report", "dups", "-o", f"{tmp}/report.html")
    contains(Page(f"{tmp}/report.html").text, "Removing them would leave 40 rows")
    # The run writes the deleted rows again, and finds row 165 for the first time.
    sql("DELETE FROM dups WHERE id IN (110, 112, 113); UPDATE dups SET found_at = now() + interval '1 day' "
        "WHERE id IN (111, 131); INSERT INTO docs SELECT 165, path, body FROM docs WHERE id = 160")
    contains(Load("run", "dups").out, "101 rows, 31 clusters of 2 or more, 61 duplicates (60.4 %), 3 of them new")


@test
def run_with_one_connection(tmp):
    families()
    sql("SELECT create_duplicates('dups', 'docs', 'id', 'body', threshold => 0.5)")
    sql("DROP ROLE IF EXISTS neardup_one; CREATE ROLE neardup_one LOGIN CONNECTION LIMIT 1; "
        "GRANT ALL ON SCHEMA public TO neardup_one; "
        + "".join(f"ALTER TABLE {table} OWNER TO neardup_one; " for table in (
        "docs", "dups", "dups_signatures", "dups_changes", "dups_job")))
    try:
        run = Load("run", "dups", "-U", "neardup_one")
        contains(run.err, "no second connection")
        contains(run.out, "100 rows, 30 clusters of 2 or more")
    finally:
        sql("DROP OWNED BY neardup_one CASCADE; DROP ROLE neardup_one")


@test
def run_is_watched_and_stopped(tmp):
    families()
    # After twenty rows the others wait, so that the run is at work when it is stopped.
    sql("CREATE FUNCTION gate() RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.006); "
        "IF EXISTS (SELECT FROM public.dups_job WHERE phase = 'signing' AND done >= 20) "
        "THEN PERFORM pg_advisory_xact_lock_shared(96); END IF; RETURN ''; END $$; "
        "CREATE VIEW slow AS SELECT id, body || gate() AS body FROM docs; "
        "SELECT create_duplicates('dups', 'slow', 'id', 'body', threshold => 0.5)")
    with gate_closed():
        runner = start("run", "dups", "--batch", "10")
        wait_for_gate()
        runner.send_signal(signal.SIGINT)
        _, err = runner.communicate(timeout=300)
    equal(runner.returncode, 130)
    contains(err.decode(), "signing: ")
    contains(err.decode(), "stopped; what was committed stays, the next run goes on")
    equal(sql("SELECT phase FROM duplicates_status"), "interrupted")
    signed = int(sql("SELECT count(*) FROM dups_signatures"))
    equal((signed % 10, signed > 0), (0, True))
    leader, follower = open_terminal()
    runner = subprocess.Popen([PROGRAM, "run", "dups", "--batch", "10"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=follower)
    os.close(follower)
    seen = read_terminal(leader)
    contains(runner.communicate()[0].decode(), "100 rows, 30 clusters of 2 or more, 60 duplicates")
    for part in ("\r", "signing: ", " of ", " rows, ", " rows/s", " left", "%", "[#"):
        contains(seen, part)
    contains(seen, f" of {100 - signed} rows")
    equal(sql("SELECT phase FROM duplicates_status"), "idle")


class Page(html.parser.HTMLParser):
    """A report, read strictly: only elements that it may have, closed in order, and no attribute that acts."""
    ELEMENTS = set(
        "html head meta title style body main h1 h2 h3 p dl dt dd div table thead tbody tr th td bdi span svg g line "
        "rect text mark details summary b section ul li ins del label input output script a meter".split())
    EMPTY = ("meta", "input")

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.open, self.words, self.marked, self.scripts = [], [], [], []
        with open(path, encoding="utf-8") as file:
            self.source = file.read()
        self.feed(self.source)
        self.close()
        equal(self.open, [])
        self.text = "".join(self.words)
        # The policy allows the one script that the page has, by its hash, and nothing that is loaded.
        hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in self.scripts]
        policy = re.search('<meta http-equiv="Content-Security-Policy" content="([^"]*)">', self.source).group(1)
        if len(hashes) > 1 or not all(f"script-src 'sha256-{one}';" in policy for one in hashes):
            raise AssertionError(f"{policy!r} and scripts of {hashes}")
        contains(policy, "default-src 'none'; style-src 'unsafe-inline';")
        for never in ("http:", "https:", "url(", "@import", "\u202e", "\u2067", "\x1b"):
            if never in self.source:
                raise AssertionError(f"{never!r} is in the page")

    def handle_starttag(self, tag, attrs):
        if tag not in self.ELEMENTS:
            raise AssertionError(f"<{tag}>")
        for name, value in attrs:
            if name.startswith("on") or name in ("src", "style") or (name == "href" and not value.startswith("#")):
                raise AssertionError(f"<{tag} {name}>")
        if tag == "script":
            equal(attrs, [])
            self.scripts.append("")
        if tag not in self.EMPTY and not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        equal(self.open.pop(), tag)

    def handle_data(self, data):
        if self.open[-1:] == ["script"]:
            self.scripts[-1] += data
            return
        self.words.append(data)
        if "mark" in self.open:
            self.marked.append(data)


def tree(folder):
    return sorted(
        os.path.relpath(os.path.join(top, name), folder) for top, _, names in os.walk(folder) for name in names)


@contextlib.contextmanager
def traps():
    """A schema before pg_catalog with operators and functions that raise an error: operators, each that pg_catalog has
    for two types without wildcards, and some that it lacks; and a domain of the name of each type."""
    sql("""CREATE SCHEMA trap;
      DO $do$ DECLARE o record; BEGIN
        FOR o IN SELECT DISTINCT oprname, l, r FROM (
            SELECT oprname, format_type(oprleft, NULL) l, format_type(oprright, NULL) r FROM pg_operator JOIN pg_type a
              ON a.oid = oprleft
              JOIN pg_type b ON b.oid = oprright WHERE oprnamespace = 'pg_catalog'::regnamespace AND a.typtype <> 'p'
                AND b.typtype <> 'p'
            UNION ALL SELECT n, l, r FROM (VALUES ('bigint', 'interval'), ('oid', 'regclass'), ('regclass', 'regclass'),
              ('oid', 'regtype'), ('double precision', 'integer'),
              ('double precision', 'numeric'), ('bigint', 'numeric'), ('jsonb', 'jsonb'), ('name', 'name'), ('numeric',
                'integer')) t(l, r),
              unnest('{=,<>,<,>,<=,>=,+,-,*,/,||,#>>}'::text[]) n) p LOOP
          EXECUTE format('CREATE OR REPLACE FUNCTION trap.spring(%2$s, %3$s) RETURNS bool LANGUAGE plpgsql
              AS $f$ BEGIN RAISE ''%%'', %4$L; END $f$', o.oprname, o.l, o.r,
            'sprung: an operator of ' || o.l || ' and ' || o.r);
          EXECUTE format('CREATE OPERATOR trap.%1$s (LEFTARG = %2$s, RIGHTARG = %3$s, FUNCTION = trap.spring)',
            o.oprname, o.l, o.r);
        END LOOP; END $do$""")
    sql("""CREATE FUNCTION trap.spring_of_type(anyelement) RETURNS bool LANGUAGE plpgsql AS $f$ BEGIN RAISE
      'sprung: a type %', pg_typeof($1); END $f$;
      DO $do$ DECLARE t record; BEGIN
        FOR t IN SELECT typname FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype = 'b'
          AND typcategory <> 'A' LOOP
          EXECUTE format('CREATE DOMAIN trap.%1$I AS pg_catalog.%1$I CHECK (trap.spring_of_type(VALUE))', t.typname);
        END LOOP; END $do$""")
    try:
        yield {"PGOPTIONS": "-c search_path=trap,pg_catalog,public -c client_min_messages=warning"}
    finally:
        sql("SET client_min_messages = error; DROP SCHEMA trap CASCADE")


@test
def operators_of_other_roles_are_not_called(tmp):
    sql("CREATE EXTENSION neardup")
    write(f"{tmp}/in/a.txt", "a text", 10**18)
    write(f"{tmp}/in/b.jsonl", '{"id": 1, "text": "first", "n": 1}\n{"text": "second"}\n', 10**18)
    write(f"{tmp}/in/c.txt", b"caf\xe9", 10**18)
    with traps() as path:
        contains(Load("load", f"{tmp}/in", "-t", "public.t", "--encoding", "latin1", **path).out, "4 new")
        contains(Load("load", f"{tmp}/in", "-t", "public.t", "--encoding", "latin1", **path).out, "3 unchanged")
        write(f"{tmp}/in/a.txt", "a text", 11 * 10**17)
        write(f"{tmp}/in/b.jsonl", '{"id": 2, "text": "first", "n": 1}\n{"text": "changed"}\n', 11 * 10**17)
        write(f"{tmp}/in/c.txt", "another text", 11 * 10**17)
        contains(Load("load", f"{tmp}/in", "-t", "public.t", "--encoding", "latin1", **path).out,
                 "0 new, 3 changed, 1 only with a new time, 0 unchanged")
    equal(sql("SELECT string_agg(concat_ws('|', extract(epoch FROM mtime)::int8, record_id, body, attributes), ' ' "
              "ORDER BY path) FROM t"),
          '1100000000|a text 1100000000|2|first|{"n": 1} 1100000000|changed 1100000000|another text')
    equal(sql("SELECT extract(epoch FROM mtime)::int8, records FROM t_files"), "1100000000|2")
    families()
    sql("SELECT create_duplicates('dups', 'docs', 'id', 'body', threshold => 0.5)")
    with traps() as path:
        contains(Load("run", "public.dups", **path).out, "100 rows, 30 clusters of 2 or more, 60 duplicates")
        contains(Load("report", "public.dups", "--out", f"{tmp}/r.html", **path).out,
                 "100 rows, 30 clusters of 2 or more, 60 duplicates")
        Load("passages", "public.dups", "--out", f"{tmp}/p.html", **path)
        contains(
            Load("passages", "SELECT id, body FROM public.docs", "--out", f"{tmp}/p.html", **path).out, "100 documents")
        contains(Load("export", "public.dups", f"{tmp}/out", "--list", **path).out, "90 files of 30 clusters listed")


@test
def a_table_of_files_of_another_role(tmp):
    """Its triggers and policies would run with the rights of who loads."""
    write(f"{tmp}/k.jsonl", '{"text": "one"}\n')
    write(f"{tmp}/k.txt", "text")
    columns = ("path text PRIMARY KEY, size bigint NOT NULL, mtime timestamptz NOT NULL, records bigint NOT NULL, "
               "options text NOT NULL")
    sql("DROP ROLE IF EXISTS neardup_mallory; CREATE ROLE neardup_mallory; "
        "GRANT CREATE, USAGE ON SCHEMA public TO neardup_mallory")
    try:
        Load("load", f"{tmp}/k.txt", "-t", "cap")
        sql(f"""SET ROLE neardup_mallory; CREATE TABLE cap_files ({columns});
          CREATE FUNCTION spring() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung as %', current_user;
            END $$;
          CREATE TRIGGER spring BEFORE INSERT OR UPDATE ON cap_files FOR EACH ROW EXECUTE FUNCTION spring();
            GRANT ALL ON cap_files TO public""")
        refused = Load("load", tmp, "-t", "cap", status=1).err
        contains(refused, 'table "public"."cap_files" belongs to neardup_mallory, who is neither you nor a member of '
                          'the owner of "public"."cap"')
        # The program does not read it either: the functions of a view run with the rights of its reader.
        contains(Load("load", f"{tmp}/k.txt", "-t", "cap").out, "1 unchanged")
        sql("""SET ROLE neardup_mallory; DROP TABLE cap_files;
          CREATE FUNCTION look() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung'; END $$;
          CREATE VIEW cap_files AS SELECT look() AS path, 1::bigint AS size, now() AS mtime, 0::bigint AS records,
            '' AS options; GRANT ALL ON cap_files TO public;
          RESET ROLE; ALTER TABLE cap ADD record_id text, ADD at timestamptz, ADD attributes jsonb""")
        contains(Load("load", f"{tmp}/k.txt", "-t", "cap").out, "1 unchanged")
        contains(Load("load", tmp, "-t", "cap", status=1).err, '"public"."cap_files" is not an ordinary table')
        # the owner's of the table of documents
        sql(f"DROP VIEW cap_files; CREATE TABLE cap_files ({columns}); ALTER TABLE cap OWNER TO neardup_mallory; "
            "ALTER TABLE cap_files OWNER TO neardup_mallory")
        contains(Load("load", tmp, "-t", "cap").out, "1 new")
        contains(Load("load", tmp, "-t", "cap").out, "2 unchanged")
    finally:
        sql("DROP OWNED BY neardup_mallory CASCADE; DROP ROLE neardup_mallory")


@test
def the_table_of_files_is_beside_the_table(tmp):
    """The table is in its schema: one for each search_path would not know what the others have loaded."""
    write(f"{tmp}/x.jsonl", '{"text": "one", "other": "O"}\n')
    sql("CREATE SCHEMA a; CREATE SCHEMA b")
    try:
        write(f"{tmp}/x.txt", "text")
        Load("load", f"{tmp}/x.txt", "-t", "team")
        for schema, options, text in (("a", (), "one"), ("b", ("--text-column", "other"), "O"), ("a", (), "one")):
            Load("load", f"{tmp}/x.jsonl", "-t", "team", *options, PGOPTIONS=f"-c search_path={schema},public")
            equal(sql("SELECT body FROM team WHERE path ~ '#1$'"), text)
        equal(
            sql("SELECT string_agg(relnamespace::regnamespace::text, ',') FROM pg_class WHERE relname = 'team_files'"),
            "public")
    finally:
        sql("DROP SCHEMA a, b CASCADE")


@test
def a_table_that_comes_before_the_one_that_is_loaded(tmp):
    """A table that was checked is found again by its schema, whatever is made in others meanwhile."""
    write(f"{tmp}/x.jsonl", '{"text": "one"}\n{"text": "two"}\n')
    columns = ("path text PRIMARY KEY, size bigint NOT NULL, mtime timestamptz NOT NULL, records bigint NOT NULL, "
               "options text NOT NULL")
    sql("DROP ROLE IF EXISTS neardup_mallory; CREATE ROLE neardup_mallory; CREATE SCHEMA shared; "
        "GRANT CREATE, USAGE ON SCHEMA shared TO neardup_mallory")
    try:
        Load("load", f"{tmp}/x.jsonl", "-t", "docs")
        sql("TRUNCATE docs, docs_files; "
            "CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(96); "
            "RETURN new; END';CREATE TRIGGER gate BEFORE INSERT ON docs FOR EACH ROW EXECUTE FUNCTION gate()")
        with gate_closed():
            loader = subprocess.Popen([PROGRAM, "load", f"{tmp}/x.jsonl", "-t", "docs", "--batch-files", "1"],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      env={**os.environ, "PGOPTIONS": "-c search_path=shared,public"})
            wait_for_gate()
            sql(f"""SET ROLE neardup_mallory; CREATE TABLE shared.docs_files ({columns});
              CREATE TABLE shared.docs (path text UNIQUE, size bigint, mtime timestamptz, content_hash bigint,
                body text, record_id text, at timestamptz, attributes jsonb);
              CREATE FUNCTION shared.spring() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung as %',
                current_user; END $$;
              CREATE TRIGGER spring BEFORE INSERT OR UPDATE ON shared.docs_files FOR EACH ROW EXECUTE FUNCTION
                shared.spring();
              CREATE TRIGGER spring BEFORE INSERT OR UPDATE ON shared.docs FOR EACH ROW EXECUTE FUNCTION
                shared.spring(); GRANT ALL ON ALL TABLES IN SCHEMA shared TO public""")
        contains(finish([loader])[0], "2 new")
        equal(sql("SELECT size > 0, records FROM docs_files"), "t|2")
        equal(sql("SELECT count(*) FROM docs"), "2")
    finally:
        sql("DROP SCHEMA shared CASCADE; DROP OWNED BY neardup_mallory CASCADE; DROP ROLE neardup_mallory")


@test
def types_of_another_schema(tmp):
    """The name of a type depends on search_path, the type does not."""
    write(f"{tmp}/x.jsonl", '{"text": "one"}\n')
    sql("CREATE SCHEMA other; CREATE DOMAIN other.text AS pg_catalog.text; "
        "CREATE DOMAIN other.jsonb AS pg_catalog.jsonb")
    path = {"PGOPTIONS": "-c search_path=other,pg_catalog,public"}
    try:
        for _ in range(2):
            Load("load", tmp, "-t", "public.t", **path)
        equal(sql("SELECT body, attributes IS NULL FROM t"), "one|t")
        sql("ALTER TABLE t ALTER body TYPE other.text")
        contains(Load("load", tmp, "-t", "public.t", status=1, **path).err,
                 'column body of table "public"."t" is other.text, not text')
    finally:
        sql("DROP SCHEMA other CASCADE")


@test
def an_operator_beside_the_type_of_the_ids_is_not_called(tmp):
    """An enum has its operators from pg_catalog; in its own schema another role may have put some that fit better."""
    sql("CREATE EXTENSION neardup; CREATE TYPE rank AS ENUM ('a', 'b', 'c'); "
        "CREATE TABLE docs (id rank PRIMARY KEY, path text, body text);"
        "INSERT INTO docs SELECT r, r, 'words that all have' FROM unnest('{a,b,c}'::rank[]) r; "
        "SELECT create_duplicates('dups', 'docs', 'id', 'body')")
    Load("run", "dups", "-q")
    for left, right, names in (("rank", "rank", "="), ("float8", "int4", ">= *"), ("float8", "numeric", "+"),
                               ("oid", "regtype", "="), ("jsonb", "jsonb", "#>>")):
        sql(f"CREATE FUNCTION spring({left}, {right}) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung'; END $$")
        for name in names.split():
            sql(f"CREATE OPERATOR {name} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = spring)")
    contains(Load("report", "dups", "--out", f"{tmp}/r.html").out, "3 rows, 1 clusters")
    contains(Load("export", "dups", f"{tmp}/out", "--list").out, "3 files of 1 clusters listed")


@test
def export_of_clusters(tmp):
    words = " ".join(f"w{i}" for i in range(60))
    files = {"a/x.txt": words, "b/x.txt": words + " more", "c/X.TXT": words, "d/KEEP - me.txt": words,
             "d/gone.txt": words, "e/sp\n:\u202e?.tar.gz.txt": words, "e/" + "é" * 120 + ".text": words,
             "f/alone.txt": "nothing like it at all"}
    for name, text in files.items():
        write(f"{tmp}/in/{name}", text, 10**18)
    Load("load", f"{tmp}/in", "-t", "docs", "-q")
    sql("CREATE EXTENSION neardup; SELECT create_duplicates('dups', 'docs', 'id', 'body')")
    Load("run", "dups", "-q")
    os.unlink(f"{tmp}/in/d/gone.txt")
    before = {name: os.stat(f"{tmp}/in/{name}") for name in tree(f"{tmp}/in")}
    expected = sorted(["cluster_1/KEEP - x.txt", "cluster_1/X.TXT", "cluster_1/x (2).txt", "cluster_1/_KEEP - me.txt",
                       "cluster_1/sp____.tar.gz.txt", "cluster_1/" + "é" * 97 + ".text"])
    export = Load("export", "dups", f"{tmp}/links", "--link")
    contains(export.out, "6 files of 1 clusters linked, 1 skipped")
    contains(export.err, f"skipped cluster 1, {tmp}/in/d/gone.txt: No such file or directory")
    equal(tree(f"{tmp}/links"), expected)
    equal(os.readlink(f"{tmp}/links/cluster_1/KEEP - x.txt"), f"{tmp}/in/a/x.txt")
    contains(Load("export", "dups", f"{tmp}/copies", "--copy").out, "6 files of 1 clusters copied, 1 skipped")
    equal(tree(f"{tmp}/copies"), expected)
    kept = f"{tmp}/copies/cluster_1/KEEP - x.txt"
    equal((os.path.islink(kept), open(kept, encoding="utf-8").read(), os.stat(kept).st_mtime), (False, words, 10**9))
    Load("export", "dups", f"{tmp}/list", "--list")
    lines = open(f"{tmp}/list/clusters.tsv", encoding="utf-8").read().splitlines()
    equal((len(lines), lines[0]), (7, f"1\tkeep\t1.0000\t{tmp}/in/a/x.txt"))
    equal(Load("export", "dups", "-", "--list").out.splitlines(), lines)
    for folder in ("links", "in"):
        contains(Load("export", "dups", f"{tmp}/{folder}", "--copy", status=1).err, "is not empty")
    contains(Load("export", "dups", f"{tmp}/in/a/x.txt", "--copy", status=1).err, "Not a directory")
    equal({name: os.stat(f"{tmp}/in/{name}") for name in tree(f"{tmp}/in")}.keys(), before.keys())
    for name, stat_ in before.items():
        now = os.stat(f"{tmp}/in/{name}")
        equal((now.st_ino, now.st_size, now.st_mtime_ns, now.st_nlink),
              (stat_.st_ino, stat_.st_size, stat_.st_mtime_ns, 1))
    for arguments in (("dups", f"{tmp}/new"), ("dups", "--link"), ("dups", f"{tmp}/new", "--link", "--copy"),
                      ("dups", "-", "--copy"), ("dups", "", "--link"), ("dups", "a", "b", "--link")):
        Load("export", *arguments, status=2)
    equal(os.path.exists(f"{tmp}/new"), False)


@test
def export_of_other_paths(tmp):
    families()
    sql("ALTER TABLE docs RENAME path TO place; "
        "SELECT create_duplicates('dups', 'docs', 'id', 'body', threshold => 0.3, deleted => 'id = 20')")
    Load("run", "dups", "-q")
    failed = Load("export", "dups", f"{tmp}/out", "--link", status=1)
    contains(failed.err,
             'the source public.docs has no column "path" of paths\nhint: Another column is named by --path-column.')
    contains(Load("export", "dups", f"{tmp}/out", "--link", "--path-column", "id", status=1).err, "is bigint, not text")
    equal(os.path.exists(f"{tmp}/out"), False)
    sql("UPDATE docs SET place = 'in/' || id || '.txt'; UPDATE docs SET place = NULL WHERE id = 31; "
        "UPDATE docs SET place = '' WHERE id = 32;UPDATE docs SET place = 'in' WHERE id = 33")
    for i in sql("SELECT id FROM docs").split():
        write(f"{tmp}/in/{i}.txt", i)
    for base, message in ((f"{tmp}/nosuch", "No such file or directory"), (f"{tmp}/in/10.txt", "not a directory")):
        failed = Load("export", "dups", f"{tmp}/out", "--link", "--path-column", "place", "--base", base, status=1)
        contains(failed.err, f"--base {base}: {message}")
    equal(os.path.exists(f"{tmp}/out"), False)
    export = Load("export", "dups", f"{tmp}/out", "--link", "--path-column", "place", "--base", f"{tmp}/./in/..")
    contains(export.out, "86 files of 30 clusters linked, 3 skipped")
    for problem in ("row 31: no path", "row 32: empty path", f"{tmp}/in: not a regular file"):
        contains(export.err, problem)
    equal(open(f"{tmp}/out/cluster_{sql('SELECT cluster FROM dups WHERE id = 10')}/KEEP - 10.txt",
               encoding="utf-8").read(), "10")


class Skipped(Exception):
    pass


def open_terminal():
    try:
        return pty.openpty()
    except OSError as error:
        raise Skipped(f"no terminal can be opened: {error}") from error


def read_terminal(leader):
    seen = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:  # the other side was closed
            break
        if not part:
            break
        seen += part
    os.close(leader)
    return seen.decode()


def main():
    global PROGRAM, ORIGINAL
    ORIGINAL = sys.argv[1]
    wanted = sys.argv[2:]
    top = tempfile.mkdtemp(prefix="neardup-cli-")
    os.chmod(top, 0o755)
    failed = 0
    try:
        # a copy, for a user who may not be able to enter the checkout
        PROGRAM = shutil.copy(sys.argv[1], f"{top}/neardup")
        for function in TESTS:
            if wanted and function.__name__ not in wanted:
                continue
            name = function.__name__.replace("_", " ")
            sql("DROP SCHEMA IF EXISTS public, \"Odd.Schema\" CASCADE; CREATE SCHEMA public")
            folder = f"{top}/{function.__name__}"
            os.mkdir(folder)
            LOST.clear()
            try:
                function(folder)
                if LOST:
                    raise AssertionError("in a thread") from LOST[0].exc_value
                print(f"ok - loader: {name}", flush=True)
            except Skipped as reason:
                print(f"skip - loader: {name}: {reason}", flush=True)
            except Exception:  # pylint: disable=broad-except
                failed += 1
                print(f"not ok - loader: {name}", flush=True)
                traceback.print_exc(file=sys.stdout)
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    os.environ["PGOPTIONS"] = "-c client_min_messages=warning"
    sys.exit(main())
