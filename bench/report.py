#!/usr/bin/env python3
"""Measures, and writes bench/results.md: a section a topic, ours beside its peers, with machine, commit, date and command.

    report.py [--list] [SECTION ...]     all sections but those that are marked as long, unless some are named

./run bench --report calls this with the benchmarks built and a server started (PGHOST and so on). A section that is not measured keeps the text that
it has: its own first line says when and where that was measured. What a benchmark prints is shown as it is. One that fails leaves its section as it was,
and the exit status says so."""
import argparse
import datetime
import os
import re
import subprocess
import sys
import time
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
RESULTS = os.path.join(HERE, "results.md")
MARK = re.compile(r"^<!-- section: (\S+) -->$")

INTRO = """# Measured

What `./run bench --report` prints, ours beside its peers in the same run. Medians; the first line of each section has machine, commit and date. Older
figures are in the history of this file. To repeat one section: `./run bench --report NAME`, with the name in its first line.
"""

# name; title; what is compared and how to read it; command, from bench/, {build}: the folder of the programs; whether it takes more than some minutes
Section = namedtuple("Section", "name title text command long", defaults=(False,))

SECTIONS = [
    Section("signing", "Signing, in C++ and in Python, beside rensa, FastSketchLSH, gaoya and datasketch",
            "MB/s of text, one thread where nothing else is said, documents of 6 kB: from text to 128 components. `of core`: the share of the core's rate by the "
            "clock.",
            "python3 peers.py {build}/core_bench && {build}/core_bench"),
    Section("sql", "Through SQL, beside the core alone",
            "Signing in MB/s, `jaccard` in ns a call, `all_pairs` in s.",
            "./sql_bench.sh"),
    Section("engines", "All pairs, by type, threads and kernels",
            "Seconds. `reference_bench`: the definition, every pair compared (scaled from a sample).",
            "{build}/pairs_bench && {build}/engines_bench && {build}/reference_bench 200000"),
    Section("growth", "Pairs and clusters of minhashes, as their rows grow",
            "Processor time of one thread, and the exponent from one line to the next. Three rows in ten are near copies of an earlier one; with `families`, "
            "in every 250,000 rows 10,000 are versions of one.",
            "{build}/growth_bench 1000000"),
    Section("joins", "Similarity joins in plain SQL",
            "Seconds, medians of three, two threads; the ratio is to what the join is compared with.",
            "./join_bench.sh"),
    Section("join_plans", "Similarity joins: the plan that the planner chooses",
            "Seconds: the plan by cost, the similarity join, the nested loop (60: not run); the ratio is that of the plan by cost to the faster one.",
            "./join_bench.sh plans", True),
    Section("plans", "Plans: what the planner chooses, beside the best plan that its settings give",
            "Milliseconds, medians of five; 500,000 rows, of which 8 % are one notice, 30 % have no signature, and 4,000 are one family of near copies.",
            "./plans_bench.sh", True),
    Section("containment", "Containment of sets: the lsh index beside GIN with verification",
            "100,000 sets of 400 numbers, of which 40 are shared by many rows.",
            "./containment_bench.sh"),
    Section("bit_codes", "Bit strings near in Hamming distance: the lsh index beside sequential scans and pgvector's HNSW",
            "Codes of 256 bits; those of pictures have bits that depend on each other.",
            "export MAKE_BIT_CODES={build}/make_bit_codes; ./bit_codes_bench.sh 100000 && ./bit_codes_bench.sh 1000000"),
    Section("nearest", "The ten nearest rows, exactly, beside sequential scans and pgvector's HNSW",
            "`none near`: no row within what the index serves, so that it reads the table, too.",
            "export MAKE_SIGNATURES={build}/make_signatures MAKE_BIT_CODES={build}/make_bit_codes; ./nearest_bench.sh 100000 && ./nearest_bench.sh 1000000"),
    Section("all_pairs", "All pairs through SQL, beside plain SQL",
            "Seconds; `-`: more than 20.",
            "LIMIT=20 ./all_pairs_bench.sh 20000"),
    Section("index", "The index, beside GIN over band keys",
            "The GIN index finds the rows that share one of 16 bands of 8 components, which are then compared; it misses rows. Every answer of ours is "
            "compared with a sequential scan's.",
            "MOST_ROWS=100000 SECTIONS='build size query identical rescan insert' ./lsh_bench.sh"),
    Section("reach", "Uses of PostgreSQL's insides, each left out",
            "Rows with a signature of 128 components, 8 bits each. `pins`, `hints`, `rows`, `appends`: without that row of the table in docs/internals.md.",
            "export MAKE_SIGNATURES={build}/make_signatures; ./reach_bench.sh 100000 && ./reach_bench.sh 10000000", True),
    Section("families", "Indexes of simhashes and digests, beside sequential scans",
            "Processor time of a search.",
            "ROWS=100000 ./lsh_families_bench.sh"),
    Section("columns", "Indexes of several columns, of minutiae and of sets",
            "Milliseconds a query, the median of 40.",
            "./lsh_columns_bench.sh 100000"),
    Section("edit_distance", "Edit distance of documents, beside rapidfuzz and edlib",
            "Milliseconds, one thread, without a bound and with one of 1.05 distances.",
            "python3 edit_distance_bench.py {build}/edit_distance_bench"),
    Section("weighted", "Weighted sets, beside three samplers of the literature",
            "Microseconds a set; errors of the estimates.",
            "{build}/weighted_bench"),
    Section("jobs", "Jobs",
            "Seconds: files of the machine into a table of duplicates; then short documents, of which 1 % change.",
            "./jobs_bench.sh 100000"),
    Section("loading", "Loading JSONL and HTML by neardup load, beside jq",
            "MB/s of the file, by the clock and by the program's processor time.",
            "./loader_bench.sh"),
    Section("python_load", "Loading Parquet in Python: neardup.load, beside psycopg's write_row() and COPY of bytes that are ready",
            "MB/s of text, each twice.",
            "python3 python_load_bench.py"),
    Section("records", "Records of two tables linked",
            "Seconds; 100,000 people in each table (docs/records.md).",
            "./records_bench.sh 100000"),
    Section("passages", "Repeated passages",
            "Files of the machine, with two limits of memory, beside a suffix array of the same text; one footer in many documents.",
            "python3 passages_bench.py --mb 200 --suffix {build}/suffix_passages"),
    Section("choosing", "Precision and recall of the methods on data with known duplicates",
            "A duplicate differs in less than a tenth of its characters (`edit_rate` below 0.05); of editions, it is another one of the same work; of "
            "object files, one of the same source, series of releases and options. Precision is the share of the pairs found that are duplicates, recall "
            "the share of the duplicates found. `best`: the threshold of the greatest F1, chosen on the same data. us to sign: processor time of a "
            "document; bytes: of a signature or set, with the 4 bytes in front of a value of variable length. An excerpt in which a word differs counts "
            "as wrong.",
            "python3 choosing_bench.py"),
    Section("verify", "Pairs verified on documents",
            "Seconds, documents of 10 kB.",
            "./verify_bench.sh"),
    Section("words", "Word models",
            "Counting in MB/s; similar words from documents to rows.",
            "./words_bench.sh && {build}/similar_words_bench"),
    Section("clean", "Cleaning",
            "MB/s of the built-in rules.",
            "{build}/clean_bench"),
    Section("operating", "Sizes, dump, restore, VACUUM",
            "20,000 documents of 60 words.",
            "./operating_bench.sh"),
    Section("index_million", "The index at a million rows, beside GIN", "As above.", "./lsh_bench.sh", True),
    Section("bit_codes_ten_million", "Ten million bit strings", "As above, without all pairs.",
            "MAKE_BIT_CODES={build}/make_bit_codes ./bit_codes_bench.sh 10000000", True),
    Section("jobs_million", "Jobs at a million rows", "As above.", "./jobs_bench.sh 1000000", True),
    Section("follow", "Jobs that follow their source by triggers, beside those that compare all rows",
            "Processor time of one backend, one thread: refreshes of a million signatures, of which 30 % are near copies; then what writers pay.",
            "python3 follow_bench.py 1000000", True),
    Section("jobs_ten_million", "Jobs at ten million rows", "As above; 25 GB of disk.", "./jobs_bench.sh 10000000", True),
    Section("partitions", "Ten partitions", "A million rows.", "./partitions_bench.sh", True),
    Section("gpu", "On a GPU, beside the same machine's CPU",
            "Seconds (docs/gpu.md).", "{build}/gpu_bench && MAKE_SIGNATURES={build}/make_signatures ./gpu_sql_bench.sh", True),
]


def first_output_line(command):
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, shell=True).stdout.strip().split("\n")[0]


def machine():
    memory = first_output_line("awk '/MemTotal/ { printf \"%.0f GiB\", $2 / 1048576 }' /proc/meminfo")
    system = first_output_line(". /etc/os-release && echo $PRETTY_NAME")
    parts = [first_output_line("sed -n 's/^model name.*: //p' /proc/cpuinfo") or "unknown processor", "%d processors" % os.cpu_count(), memory, system,
             first_output_line("${CXX:-g++} --version"), first_output_line("psql -XAtc 'SELECT split_part(version(), chr(32), 1) || chr(32) || current_setting($$server_version$$)'")]
    gpu = first_output_line("nvidia-smi --query-gpu=name --format=csv,noheader")
    return ", ".join(p for p in parts + [gpu] if p)


def commit():
    dirty = "" if subprocess.run(["git", "diff", "--quiet", "HEAD"], cwd=ROOT).returncode == 0 else " with changes"
    return (first_output_line("git rev-parse --short HEAD") or "unknown") + dirty


def read_sections():
    """{name: text} of the sections that results.md has."""
    found, name = {}, None
    if os.path.exists(RESULTS):
        with open(RESULTS, encoding="utf-8") as f:
            for line in f:
                mark = MARK.match(line.rstrip("\n"))
                if mark:
                    name = mark.group(1)
                    found[name] = ""
                if name:
                    found[name] += line
    return found


def write_sections(texts):
    with open(RESULTS + ".new", "w", encoding="utf-8") as f:
        f.write(INTRO)
        for section in SECTIONS:
            if section.name in texts:
                f.write("\n" + texts[section.name].strip("\n") + "\n")
    os.replace(RESULTS + ".new", RESULTS)


def measure(section, build, where):
    """The section's text; None where its command failed."""
    load = os.getloadavg()[0]
    start = time.monotonic()
    run = subprocess.run(["bash", "-o", "pipefail", "-c", section.command.format(build=build)], cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace")
    took = time.monotonic() - start
    if run.returncode != 0 or not run.stdout.strip():
        print("%s: status %d\n%s" % (section.name, run.returncode, run.stdout[-2000:]), file=sys.stderr)
        return None
    lines = [line.rstrip() for line in run.stdout.strip("\n").split("\n")]
    return "\n".join(["<!-- section: %s -->" % section.name, "## " + section.title, "", section.text, "",
                      "`%s`: %s; %s; load %.1f before; %.0f s." % (section.name, where, datetime.date.today(), load, took), "",
                      "Command, in `bench/`: `%s`" % section.command.format(build="../build-bench"), "", "```text"] + lines + ["```", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", default=os.path.join(ROOT, "build-bench"), help="the folder of the programs")
    parser.add_argument("sections", nargs="*", metavar="SECTION")
    args = parser.parse_args()
    if args.list:
        for section in SECTIONS:
            print("%-14s %s%s" % (section.name, section.title, " (long)" if section.long else ""))
        return 0
    known = {section.name: section for section in SECTIONS}
    for name in args.sections:
        if name not in known:
            parser.error("there is no section %s: %s" % (name, ", ".join(known)))
    wanted = [known[name] for name in args.sections] or [section for section in SECTIONS if not section.long]
    where = "%s; commit %s" % (machine(), commit())
    failed = 0
    for section in wanted:
        print("%-14s " % section.name, end="", flush=True)
        text = measure(section, args.build, where)
        if text is None:
            failed += 1
            continue
        texts = read_sections()
        texts[section.name] = text
        write_sections(texts)
        print("written", flush=True)
    return 1 if failed else 0


sys.exit(main())
