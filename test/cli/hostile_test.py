#!/usr/bin/python3
"""Tests of `neardup load` with hostile files: hostile_test.py PROGRAM [TEST ...], as cli_test.py beside it.

Each file of hostile_files.py is loaded beside a good one: it is refused or loaded as expected, the good one is loaded,
and the program takes no more memory than for the good one, one text and MORE_MEMORY; also where it could not have more.
Needs what formats_test.py needs. """
import os
import resource
import sys

import cli_test
import formats_test
from cli_test import Skipped, contains, equal, sql, test, write
from formats_test import MEGABYTE, at_most, peak_memory, rows

import hostile_files

cli_test.TESTS.clear()
MORE_MEMORY = 64  # megabytes


def good(tmp):
    """A folder with a good file of each format."""
    write(f"{tmp}/good.mbox", formats_test.message("Subject: good", "good mail"))
    write(f"{tmp}/good.jsonl", formats_test.lines({"text": "good line"}))
    write(f"{tmp}/good.csv", "text,a\ngood record,1\n")
    write(f"{tmp}/good.warc", formats_test.warc("conversion", "http://x/", b"good page"))
    write(f"{tmp}/good.html", "<html><p>good html")


GOOD = ["good html", "good line", "good mail", "good page", "good record"]


def load(tmp, **how):
    """Loads the folder; returns megabytes, and what was skipped as {name: (reason, detail)}."""
    sql("SET client_min_messages = error; DROP TABLE IF EXISTS t, t_files")
    listed = f"{tmp}.list"
    memory, _ = peak_memory("load", tmp, "-t", "t", "--html", "text", "--list-skipped", listed, **how)
    found = {}
    with open(listed, encoding="utf-8") as lines:
        for line in lines:
            reason, path, *detail = line.rstrip("\n").split("\t")
            found[path.rsplit("/", 1)[1].split("#")[0]] = (reason, *detail)
    os.unlink(listed)
    equal(rows("rtrim(body, E'\\n')", order="body COLLATE \"C\"", table="t WHERE path ~ '/good[.]'"), GOOD)
    return memory, found


def as_expected(file, found):
    """True if the file was loaded, or skipped as it says."""
    got = found.pop(file.name, None)
    if file.skipped is None or got is None:
        return got == file.skipped
    return got[0] == file.skipped[0] and (got[1] if len(got) > 1 else "").startswith(file.skipped[1])


def hostile(tmp, files):
    good(tmp)
    usual, _ = load(tmp)
    for batch in [[file] for file in files] if hostile_files.FULL else [list(files)]:
        largest = max(file.write(tmp) for file in batch) / MEGABYTE
        memory, found = load(tmp)
        equal(([file.name for file in batch if not as_expected(file, found)], found), ([], {}))
        try:
            at_most(memory, usual + largest + MORE_MEMORY)
        except AssertionError as error:
            raise AssertionError(
                f"{error} for {[file.name for file in batch]}, {largest:.0f} MB; {usual:.0f} MB without") from error
        for file in batch:
            os.unlink(f"{tmp}/{file.name}")


@test
def mails(tmp):
    hostile(tmp, hostile_files.mails())


@test
def warcs(tmp):
    hostile(tmp, hostile_files.warcs())


@test
def lines_of_json(tmp):
    hostile(tmp, hostile_files.lines_of_json())


@test
def tables(tmp):
    hostile(tmp, hostile_files.tables())


@test
def pages(tmp):
    hostile(tmp, hostile_files.pages())


@test
def a_limit_of_memory(tmp):
    """The program goes on with what is left of it: libraries that end a program that gets none are not asked for
    more."""
    if "asan" in cli_test.ORIGINAL:
        raise Skipped("the sanitizers reserve terabytes")
    good(tmp)
    usual, _ = load(tmp, kind="VmPeak")
    for file in hostile_files.all_files():
        file.write(tmp)
    for more, refused in ((8, True), (MORE_MEMORY, None)):  # megabytes
        limit = f"ulimit -v {int((usual + more) * 1024)}; exec \"$@\""
        _, found = load(tmp, prefix=("sh", "-c", limit, "sh"))
        if refused:
            contains(str(found), "larger than the memory that is left")


if __name__ == "__main__":
    os.environ["PGOPTIONS"] = "-c client_min_messages=warning"
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(cli_test.main())
