#!/usr/bin/env python3
"""Repeated passages of files of this machine, with two limits of memory; beside a suffix array of the same text; and one footer in
many documents, short ones and pages of 10,000 characters. One run each: seconds, those of processors, and the peak of the memory that the process has for itself.

    passages_bench.py [--mb MB] [--footers N] [--suffix BUILD/suffix_passages] [--folders FOLDER ..]

PGHOST, PGDATABASE and so on choose the server, which must be on this machine. Tables named neardup_bench_* are made and dropped there.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time

try:
    import psycopg
except ImportError:
    print("python3-psycopg is not installed")
    sys.exit(0)

MB = 10 ** 6
LARGEST = 5 * MB
UNITS = (("word", 50), ("char", 200), ("line", 5))
FOOTER_WORDS = 200
PAGE = 10000  # characters


def texts(folders, limit):
    """Files that are text in UTF-8, in the order of their names."""
    total = 0
    for folder in folders:
        for path, names, files in os.walk(folder):
            names.sort()
            for name in sorted(files):
                full = os.path.join(path, name)
                if os.path.islink(full) or not os.path.isfile(full) or not 0 < os.path.getsize(full) <= LARGEST:
                    continue
                try:
                    with open(full, "rb") as f:
                        data = f.read()
                    text = data.decode("utf-8")
                except (OSError, UnicodeDecodeError):
                    continue
                if "\0" in text:
                    continue
                total += len(data)
                yield text
                if total >= limit:
                    return


class Peak:
    """The most memory that a process has had for itself (RssAnon) while the block ran, in MB."""

    def __init__(self, pid):
        self.path, self.done, self.most = "/proc/%d/status" % pid, threading.Event(), 0

    def look(self):
        try:
            with open(self.path) as f:
                self.most = max([self.most] + [int(line.split()[1]) // 1024 for line in f if line.startswith("RssAnon")])
        except OSError:
            pass

    def __enter__(self):
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while not self.done.wait(0.02):
            self.look()

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def processor_seconds(pid):
    """The processor time of a process and its threads."""
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def report(what, seconds, processors, most, found=""):
    print("%-58s %7.1f s %7.1f s %6d MB   %s" % (what, seconds, processors, most, found), flush=True)


def timed(conn, what, memory, call):
    conn.execute("SET maintenance_work_mem = '%s'" % memory)
    pid = conn.info.backend_pid
    start, spent = time.monotonic(), processor_seconds(pid)
    with Peak(pid) as peak:
        ranges, length = conn.execute("SELECT count(*), coalesce(sum(length), 0) FROM repeated_passages(%s)" % call).fetchone()
    seconds, spent = time.monotonic() - start, processor_seconds(pid) - spent
    report("%s, %s" % (what, memory), seconds, spent, peak.most, "%d ranges, %d characters" % (ranges, length))
    return spent


def fill(conn, documents):
    conn.execute("DROP TABLE IF EXISTS neardup_bench_passages")
    conn.execute("CREATE UNLOGGED TABLE neardup_bench_passages (id int, body text)")
    with conn.cursor() as cursor, cursor.copy("COPY neardup_bench_passages FROM STDIN") as copy:
        for i, text in enumerate(documents):
            copy.write_row((i, text))
    conn.execute("ANALYZE neardup_bench_passages")


def suffix_array(program, documents, least):
    """The plain program on the same text: documents with a NUL between them, passages of bytes."""
    with tempfile.NamedTemporaryFile() as file:
        for text in documents:
            file.write(text.encode("utf-8") + b"\0")
        file.flush()
        start, before = time.monotonic(), os.times().children_user + os.times().children_system
        process = subprocess.Popen([program, file.name, str(least)], stdout=subprocess.PIPE, text=True)
        with Peak(process.pid) as peak:
            said = process.communicate()[0].strip()
        spent = os.times().children_user + os.times().children_system - before
        report("suffix array (libdivsufsort), %d bytes" % least, time.monotonic() - start, spent, peak.most, said)


def pages(documents):
    """The documents in pieces of a page."""
    return [text[at:at + PAGE] for text in documents for at in range(0, len(text), PAGE)]


def made_documents(number):
    """Documents of words that are the same in no two."""
    words = ["w%x" % (i * 2654435761 % 2 ** 32) for i in range(50000)]
    state = 1
    for i in range(number):
        out = ["d%d" % i]
        for _ in range(250):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
            out.append(words[(state >> 33) % len(words)])
        yield " ".join(out)


def with_footer(conn, what, documents):
    """Without a footer, and with one behind each document."""
    footer = " " + " ".join("footer%d" % i for i in range(FOOTER_WORDS))
    spent = []
    for name, end in (("without a footer", ""), ("with one of %d words" % FOOTER_WORDS, footer)):
        fill(conn, (text + end for text in documents))
        spent.append(timed(conn, "%d %s %s" % (len(documents), what, name), "256MB", "'TABLE neardup_bench_passages ORDER BY id'"))
    print("%-58s %7.2f" % ("with the footer: times the time of processors", spent[1] / spent[0]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=200)
    parser.add_argument("--footers", type=int, default=100000)
    parser.add_argument("--suffix")
    parser.add_argument("--folders", nargs="*", default=["/usr/share", "/usr/include", "/usr/lib"])
    parser.add_argument("--units", nargs="*", default=[unit for unit, _ in UNITS])
    args = parser.parse_args()
    with psycopg.connect("", autocommit=True) as conn:
        conn.execute("SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS neardup; SET jit = off; SET max_parallel_workers_per_gather = 2; SET neardup.threads = 0")
        print("seconds, those of processors, peak of memory; %s, %d processors, %s threads" % (conn.execute("SELECT version()").fetchone()[0].split(",")[0], os.cpu_count(),
                                                 conn.execute("SHOW max_parallel_workers_per_gather").fetchone()[0]))
        documents = list(texts(args.folders, args.mb * MB))
        fill(conn, documents)
        print("%d files, %d MB" % (len(documents), sum(len(d.encode("utf-8")) for d in documents) // MB), flush=True)
        for unit, least in UNITS:
            for memory in ("256MB", "64MB"):
                if unit in args.units:
                    timed(conn, "%s %d" % (unit, least), memory, "'TABLE neardup_bench_passages ORDER BY id', %d, '%s'" % (least, unit))
        if args.suffix and os.path.exists(args.suffix):
            suffix_array(args.suffix, documents, 200)
        if args.footers:
            with_footer(conn, "documents of 250 words", list(made_documents(args.footers)))
            with_footer(conn, "pages of files", pages(documents)[:args.footers])
        conn.execute("DROP TABLE neardup_bench_passages")


main()
