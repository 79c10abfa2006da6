#!/usr/bin/env python3
"""Plants the mistakes of test/mutations, one at a time, in a copy of the tree, and sees whether the tests catch them.

    tools/mutate.py --list                          their names and what each is
    tools/mutate.py --anchors                       does every pattern stand once where it should?
    tools/mutate.py --moved                         where do those stand now that do not?
    tools/mutate.py --prepare COPY                  brings the copy up to date and builds it
    tools/mutate.py --run COPY [--sample N] [--seed TEXT] [--area AREA] [--share PART/PARTS] [NAME ...]
Called by ./run mutate (tools/run/mutate.sh), which starts the server. test/mutations/README says what a file holds.
"""
import argparse
import collections
import os
import random
import re
import subprocess
import sys
import time

from mutation_copy import NOT_BUILT, Copy, call
from mutation_files import CLI_SCRIPTS, ROOT, Mutation, entries, mutations
from mutation_places import PACKAGE, Bad, Sources


MOST_SECONDS = 900  # of a test without mistakes


class Runner:
    """Runs tests against the server of the environment."""

    def __init__(self, copy):
        self.copy = copy
        self.log = copy.log
        self.python = os.environ.get("NEARDUP_PYTHON", "/usr/bin/python3")
        self.env = dict(os.environ, NEARDUP_ROOT=copy.tree, NEARDUP_BIN=os.path.join(copy.tree, "bin", "neardup"))
        pgxs = subprocess.run([copy.pg_config, "--pgxs"], check=True, capture_output=True, text=True).stdout.strip()
        self.regress_folder = os.path.join(os.path.dirname(pgxs), "..", "test")
        self.bindir = subprocess.run(
            [copy.pg_config, "--bindir"], check=True, capture_output=True, text=True).stdout.strip()

    def psql(self, *statements):
        command = ["psql", "-X", "-q", "-d", "postgres"]
        for statement in statements:
            command += ["-c", statement]
        call(command, self.log, env=self.env)

    def wait_for_server(self):
        limit = time.monotonic() + 120
        while subprocess.run(["psql", "-X", "-q", "-d", "postgres", "-c", "SELECT"], env=self.env, capture_output=True,
                             check=False).returncode != 0:
            if time.monotonic() > limit:
                sys.exit("not ok - the server is gone")
            time.sleep(0.2)

    def run(self, kind, rest, timeout):
        """'passed', 'failed', 'skipped' or 'time'."""
        if kind == "unit":
            status, output = call([self.copy.unit_program(), "--gtest_color=no", "--gtest_fail_fast",
                                   "--gtest_filter=" + rest], self.log,
                                  cwd=self.copy.folder, env=self.env, timeout=timeout)
            if status == 0 and not re.search(r"^\[       OK \]", output, re.M):
                return "skipped"
            return self.verdict(status)
        if kind == "lint":
            status, output = call([os.environ.get("NEARDUP_LINT_PYTHON", "python3"),
                                   os.path.join(self.copy.tree, "tools", "sql_lint.py")], self.log,
                                  cwd=self.copy.tree, env=self.env, timeout=timeout)
            return self.script_verdict(status, output)
        self.wait_for_server()
        if kind == "client":
            status, output = call([self.python, os.path.join(self.copy.tree, "test", "clients", rest)], self.log,
                                  env=dict(self.env, PYTHONPATH=os.path.join(self.copy.tree, PACKAGE)), timeout=timeout)
            return self.script_verdict(status, output)
        if kind in ("regress", "isolation"):
            program = {"regress": "regress/pg_regress", "isolation": "isolation/pg_isolation_regress"}[kind]
            inputs = self.copy.tree if kind == "regress" else os.path.join(self.copy.tree, "test", "isolation")
            outputs = os.path.join(self.copy.folder, kind)
            os.makedirs(os.path.join(outputs, "results"), exist_ok=True)
            program = os.path.join(self.regress_folder, program)
            if not os.path.exists(program):
                return "skipped"
            status, output = call([program, "--inputdir=" + inputs, "--outputdir=" + outputs, "--bindir=" + self.bindir,
                                   "--dbname=mutate_" + kind, "--encoding=UTF8", "--no-locale",
                                   "--load-extension=neardup", *rest.split()],
                                  self.log, cwd=self.copy.tree, env=self.env, timeout=timeout)
            if status != 0 and os.path.exists(os.path.join(outputs, "regression.diffs")):
                with open(os.path.join(outputs, "regression.diffs"), encoding="utf-8", errors="replace") as f:
                    self.log.write(f.read(4000))
            return self.verdict(status)
        if kind in CLI_SCRIPTS:
            self.psql("DROP DATABASE IF EXISTS loader WITH (FORCE)", "CREATE DATABASE loader")
            status, output = call([self.python, os.path.join(self.copy.tree, "test", "cli", CLI_SCRIPTS[kind]),
                                   self.env["NEARDUP_BIN"], *rest.split()],
                                  self.log, env=dict(self.env, PGDATABASE="loader"), timeout=timeout)
            return self.script_verdict(status, output)
        database = "mutate_script"
        self.psql("DROP DATABASE IF EXISTS %s WITH (FORCE)" % database, "CREATE DATABASE %s" % database)
        path = os.path.join(self.copy.tree, "test", "t", rest)
        status, output = call([("bash" if rest.endswith(".sh") else self.python), path], self.log,
                              env=dict(self.env, PGDATABASE=database), timeout=timeout)
        return self.script_verdict(status, output)

    @staticmethod
    def verdict(status):
        return {0: "passed", "time": "time"}.get(status, "failed")

    def script_verdict(self, status, output):
        if re.search("^not ok", output, re.M):
            return "failed"
        if status == 0 and not re.search("^ok", output, re.M):
            return "skipped"
        return self.verdict(status)


def spell(test):
    return " ".join(test).strip()


def first_test(mutation):
    return mutation.tests[0] if mutation.tests else None


def choose_share(chosen, share):
    """The part "2/3", say: whose first test is the same comes together, since it is also run without mistakes."""
    part, parts = map(int, share.split("/"))
    counts, shares = collections.Counter(map(first_test, chosen)), [[] for _ in range(parts)]
    for test, _ in counts.most_common():
        least = min(shares, key=len)
        least += [m for m in chosen if first_test(m) == test]
    return sorted(shares[part - 1], key=lambda m: m.name)


def choose(all_of_them, options):
    chosen = all_of_them
    if options.names:
        known = {m.name for m in all_of_them}
        for name in options.names:
            if name not in known:
                sys.exit("no mutation is called %s; --list names them" % name)
        chosen = [m for m in chosen if m.name in options.names]
    else:
        chosen = [m for m in chosen if not m.harmless]
    if options.area:
        chosen = [m for m in chosen if m.area == options.area]
        if not chosen:
            sys.exit(
                "no mutation is of the area %s: %s" % (options.area, ", ".join(sorted({m.area for m in all_of_them}))))
    if options.sample and options.sample < len(chosen):
        # one of each area first, in an order of chance
        if options.run:
            print("a sample of %d, by the seed %s" % (options.sample, options.seed))
        chance = random.Random(options.seed)
        shuffled = chance.sample(chosen, len(chosen))
        seen, turns = {}, []
        for m in shuffled:
            seen[m.area] = seen.get(m.area, 0) + 1
            turns.append((seen[m.area], m))
        chosen = [m for _, m in sorted(turns, key=lambda turn: turn[0])][:options.sample]
        chosen.sort(key=lambda m: m.name)
    return choose_share(chosen, options.share) if options.share else chosen


def table(all_of_them, results):
    areas = sorted({m.area for m in all_of_them if m.name in results or m.harmless})
    print("%-10s %8s %8s %8s %8s" % ("area", "planted", "caught", "harmless", "survived"))
    total = [0] * 4
    for area in areas + ["all"]:
        if area == "all":
            row = total
        else:
            of_area = [m for m in all_of_them if m.area == area and (m.name in results or m.harmless)]
            row = [len(of_area), sum(results.get(m.name) == "caught" for m in of_area),
                   sum(bool(m.harmless) and results.get(m.name) != "caught" for m in of_area),
                   sum(results.get(m.name) == "survived" and not m.harmless for m in of_area)]
            total = [a + b for a, b in zip(total, row)]
        print("%-10s %8d %8d %8d %8d" % (area, *row))


class Baseline:
    """Tests without mistakes: all of them pass, or else they prove nothing."""

    def __init__(self, runner):
        self.runner, self.verdicts, self.bad = runner, {}, 0

    def run(self, tests):
        """Those that were not run before; the library of the unchanged sources is installed."""
        for test in sorted(set(tests) - self.verdicts.keys()):
            began = time.monotonic()
            verdict = self.runner.run(*test, MOST_SECONDS)
            seconds = time.monotonic() - began
            self.verdicts[test] = (verdict, seconds)
            if verdict == "passed":
                print("unmutated: %s passes (%.1f s)" % (spell(test), seconds), flush=True)
            elif verdict == "skipped":
                print("unmutated: %s checks nothing here" % spell(test), flush=True)
            else:
                print("not ok - unmutated, %s fails (%s)" % (spell(test), verdict), flush=True)
                self.bad += 1

    def may_run(self, test):
        return test not in self.verdicts or self.verdicts[test][0] == "passed"

    def limit(self, test):
        """Seconds after which a test does not end."""
        return max(60, 10 * self.verdicts[test][1]) if test in self.verdicts else MOST_SECONDS


def plant(copy, sources, mutation, tests):
    """Builds and installs the changed sources."""
    for path, text in sources.apply(mutation).items():
        with open(os.path.join(copy.tree, path), "w", encoding="utf-8") as f:
            f.write(text)
    failed = copy.build({kind for kind, _ in tests})
    if failed:
        raise Bad("%s: the mutated sources cannot be built: %s" % (
            mutation.name, "; ".join(re.findall(r"error: .*", failed)[:2]) or failed[-300:]))
    if {kind for kind, _ in tests} - {"unit", *NOT_BUILT}:
        copy.install()


def catching(runner, baseline, tests):
    """(the first test that the mistake fails, how), or (None, "")."""
    for test in tests:
        verdict = runner.run(*test, baseline.limit(test))
        if verdict in ("failed", "time", "skipped"):
            return test, {"time": ", which does not end", "skipped": ", which checks nothing any more"}.get(verdict, "")
    return None, ""


def verdict_line(mutation, tests, caught_by, how, seconds):
    """The line of a mistake that was tried."""
    if caught_by:
        return "ok - mutation %s is caught: by %s%s (%.0f s)%s" % (
            mutation.name, spell(caught_by), how, seconds,
            "; and yet it is marked harmless" if mutation.harmless else "")
    if mutation.harmless:
        return "ok - mutation %s is harmless: %s (%.0f s)" % (mutation.name, mutation.harmless, seconds)
    return "not ok - mutation %s survives: SURVIVED %s (%.0f s): %s" % (
        mutation.name, "; ".join(map(spell, tests)), seconds, mutation.what)


def run(options):
    copy = Copy(options.run)
    copy.log.truncate(0)
    everything = mutations()
    chosen = choose(everything, options)
    sources = Sources(copy.tree)
    runner = Runner(copy)
    baseline = Baseline(runner)
    copy.install()
    baseline.run(set(map(first_test, chosen)) - {None})
    if baseline.bad:
        print("the log: %s" % copy.log.name)
        return 1
    results, others = {}, set()
    for m in chosen:
        began = time.monotonic()
        tests = [t for t in m.tests if baseline.may_run(t)]
        if m.tests and not tests:
            print("skip - mutation %s: none of its tests runs here" % m.name, flush=True)
            continue
        copy.log.write("==== %s\n" % m.name)
        try:
            plant(copy, sources, m, tests)
            test, how = catching(runner, baseline, tests)
            others.update({test} - {None} - baseline.verdicts.keys())
            results[m.name] = "caught" if test else "survived"
            print(verdict_line(m, tests, test, how, time.monotonic() - began), flush=True)
        except Bad as e:
            results[m.name] = "survived"
            print("not ok - mutation %s" % e, flush=True)
        finally:
            copy.restore()
    copy.install()
    baseline.run(others)  # what has caught something after the first test of a mistake did not
    whole = not (options.names or options.area or options.sample or options.share)
    table(everything if whole else [m for m in everything if m.name in results], results)
    survived = any(results[m.name] == "survived" and not m.harmless for m in chosen if m.name in results)
    return 1 if survived or baseline.bad else 0


def anchors(moved):
    """Says which mutations do not find their place; if `moved`, where it may be now."""
    sources, bad, good = Sources(ROOT), 0, 0
    for entry in entries():
        mutation = None
        try:
            mutation = Mutation(*entry)
            sources.apply(mutation)
            good += 1
        except Bad as e:
            bad += 1
            print("not ok - mutation %s" % e)
            if moved and mutation:
                print_moved(sources, mutation)
    if good:
        print("ok - the patterns of %d mutations stand once each" % good)
    return 1 if bad else 0


def print_moved(sources, mutation):
    for find, _, function in mutation.edits:
        try:
            sources.place(mutation.name, find, function)
        except Bad:
            for line in sources.moved(find) or ["it stands nowhere any more"]:
                print("    %s: %s" % (find.strip().split("\n")[0], line))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--anchors", action="store_true")
    parser.add_argument("--moved", action="store_true")
    parser.add_argument("--prepare", metavar="COPY")
    parser.add_argument("--run", metavar="COPY")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", default="")
    parser.add_argument("--share", metavar="PART/PARTS")
    parser.add_argument("--area")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    if options.anchors or options.moved:
        return anchors(options.moved)
    try:
        if options.list:
            for m in mutations():
                print(
                    "%-40s %-8s %s%s" % (m.name, m.area, m.what, " (harmless: %s)" % m.harmless if m.harmless else ""))
            return 0
        if options.prepare:
            chosen = choose(mutations(), options)
            Copy(options.prepare).prepare(any(kind == "unit" for m in chosen for kind, _ in m.tests))
            return 0
        return run(options)
    except Bad as e:
        print("not ok - mutation %s" % e)
        return 1


if __name__ == "__main__":
    sys.exit(main())
