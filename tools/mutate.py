#!/usr/bin/env python3
"""Plants the mistakes of test/mutations, one at a time, in a copy of the tree, and sees whether the tests catch them.

    tools/mutate.py --list                          their names and what each is
    tools/mutate.py --anchors                       does every pattern stand once where it should?
    tools/mutate.py --moved                         where do those stand now that do not?
    tools/mutate.py --prepare COPY                  brings the copy up to date and builds it
    tools/mutate.py --run COPY [--sample N] [--seed TEXT] [--area AREA] [NAME ...]
Called by ./run mutate (tools/run/mutate.sh), which starts the server. test/mutations/README says what a file holds.
"""
import argparse
import filecmp
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

from mutation_places import PACKAGE, Bad, Sources

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "test", "mutations")
CLI_SCRIPTS = {"loader": "cli_test.py", "report": "report_test.py", "passages": "passages_test.py",
               "formats": "formats_test.py", "hostile": "hostile_test.py"}
KINDS = ("unit", "regress", "isolation", "script", *CLI_SCRIPTS, "client", "lint")
NOT_BUILT = {"lint", "client"}  # what they run is in Python
SCRIPTS = {"script": "test/t", "client": "test/clients"}
NOT_OURS = r"\.git|\.run|build[^/]*|.*\.pyc|.*__pycache__"
BUILT = r"bin|sql/neardup--[^/]*\.sql|.*\.(o|d|so|gch)|src/\.compiler|src/pg/\.server|src/text/\.libraries"
NOT_COPIED = re.compile("(%s|%s)$" % (NOT_OURS, BUILT))


class Mutation:
    def __init__(self, path):
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.what = self.area = self.harmless = ""
        self.tests = []
        self.edits = []  # (find, put, the function that it stands in or None)
        functions = []
        block = None
        with open(path, encoding="utf-8") as f:
            lines = f.read().split("\n")
        if lines and not lines[-1]:
            lines.pop()
        for line in lines:
            if line == "find:":
                self.edits.append([[], None])
                block = self.edits[-1][0]
            elif line == "put:" and self.edits and self.edits[-1][1] is None:
                self.edits[-1][1] = block = []
            elif block is not None:
                block.append(line)
            elif line.strip():
                key, _, value = line.partition(":")
                value = value.strip()
                if key == "what":
                    self.what = value
                elif key == "area":
                    self.area = value
                elif key == "harmless":
                    self.harmless = value
                elif key == "in":
                    functions.append(value)
                elif key == "test":
                    kind, _, rest = value.partition(" ")
                    if kind not in KINDS:
                        raise Bad("%s: unknown kind of test: %s" % (self.name, value))
                    folder = SCRIPTS.get(kind)
                    if folder and not os.path.exists(os.path.join(ROOT, folder, rest.strip())):
                        raise Bad("%s: no such script: %s/%s" % (self.name, folder, rest.strip()))
                    self.tests.append((kind, rest.strip()))
                else:
                    raise Bad("%s: a line that says nothing known: %s" % (self.name, line))
        if len(functions) not in (0, 1, len(self.edits)):
            raise Bad("%s: needs one function for all of its patterns, or one for each" % self.name)
        if len(functions) < 2:
            functions = (functions or [None]) * len(self.edits)
        self.edits = [
            ("\n".join(find), "\n".join(put or []), function) for (find, put), function in zip(self.edits, functions)]
        if not (self.what and self.area and self.edits and (self.tests or self.harmless)):
            raise Bad("%s: needs what, area, test (or harmless), find and put" % self.name)


def mutations():
    return [Mutation(os.path.join(FOLDER, name)) for name in sorted(os.listdir(FOLDER)) if name.endswith(".txt")]


def mirror(source, target, skip=None):
    """Makes target's files those of source, times included; what `skip` matches is left alone on both sides."""
    def files(top):
        found = {}
        for where, folders, names in os.walk(top):
            at = os.path.relpath(where, top)
            folders[:] = [f for f in folders if not (skip and skip.fullmatch(os.path.normpath(os.path.join(at, f))))]
            for name in names:
                path = os.path.normpath(os.path.join(at, name))
                if not (skip and skip.fullmatch(path)):
                    status = os.lstat(os.path.join(where, name))
                    found[path] = (status.st_mtime_ns, status.st_size)
        return found
    have, want = files(target) if os.path.isdir(target) else {}, files(source)
    for path in have.keys() - want.keys():
        os.remove(os.path.join(target, path))
    changed = [path for path in want if have.get(path) != want[path]]
    if skip:  # of sources the content counts: what was touched need not be compiled
        changed = [path for path in changed if path not in have or have[path][1] != want[path][1]
                   or not filecmp.cmp(os.path.join(source, path), os.path.join(target, path), shallow=False)]
    for path in changed:
        to = os.path.join(target, path)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy2(os.path.join(source, path), to + ".new", follow_symlinks=False)
        os.replace(to + ".new", to)
    return changed


def processors():
    return str(os.cpu_count() or 2)


def call(command, log, cwd=None, env=None, timeout=None):
    """(status, output), the status 'time' where the time was over; a process group of its own, so that nothing stays
    behind."""
    process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=timeout)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        status = "time"
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    output = output.decode("utf-8", "replace")
    log.write("+ %s\n%s\n" % (" ".join(command), output))
    log.flush()
    return status, output


class Copy:
    """The copy of the tree: tree/ is built and mutated, base/ is what tree/ goes back to."""

    def __init__(self, folder):
        self.folder = folder
        self.tree = os.path.join(folder, "tree")
        self.base = os.path.join(folder, "base")
        self.unit = os.path.join(self.tree, "build-unit")
        os.makedirs(self.tree, exist_ok=True)
        self.log = open(os.path.join(folder, "log"), "a", encoding="utf-8")
        self.pg_config = os.environ["PG_CONFIG"]

    def make(self, *targets):
        return call(
            ["make", "-j" + processors(), "PG_CONFIG=" + self.pg_config, "CUDA=no", *targets], self.log, cwd=self.tree)

    def objects(self):
        found = []
        for where, _, names in os.walk(os.path.join(self.tree, "src")):
            found += [os.path.relpath(os.path.join(where, n), self.tree) for n in names
                      if n.endswith(".o") and n[:-1] + "cpp" in names]
        return sorted(found)

    def build(self, kinds):
        """Builds what these kinds of tests need; (status, output) of what failed, or None."""
        targets = []
        if "unit" in kinds:
            targets += self.objects()
        if kinds & {"regress", "isolation", "script", *CLI_SCRIPTS}:
            targets += ["all"]
        steps = [lambda: self.make(*targets)] if targets else []
        if "unit" in kinds:
            steps.append(
                lambda: call(["cmake", "--build", self.unit, "-j", processors(), "--target", "unit_test"], self.log))
        for step in steps:
            status, output = step()
            if status != 0:
                return output
        return None

    def take_over(self):
        """A first copy takes what the checkout has built, with its times, so that make and CMake find nothing to do."""
        mirror(ROOT, self.tree, re.compile("(%s)$" % NOT_OURS))
        built = os.path.join(ROOT, "build")
        try:
            with open(os.path.join(built, "CMakeCache.txt"), encoding="utf-8") as f:
                if not re.search("^NEARDUP_OBJECTS:PATH=%s/?$" % re.escape(ROOT), f.read(), re.M):
                    return
        except OSError:
            return
        mirror(built, self.unit)
        # CMake writes whole paths.
        for where, _, names in os.walk(self.unit):
            for name in names:
                path = os.path.join(where, name)
                if name.endswith((".o", ".a", ".gch")) or os.path.islink(path):
                    continue
                with open(path, "rb") as f:
                    text = f.read()
                if b"\0" in text or ROOT.encode() not in text:
                    continue
                times = os.stat(path)
                with open(path, "wb") as f:
                    f.write(re.sub(re.escape(ROOT.encode()) + rb"(/build(?![\w-]))?",
                                   lambda found: (self.unit if found.group(1) else self.tree).encode(), text))
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def prepare(self, units):
        if os.path.isdir(self.base):
            mirror(self.base, self.tree)  # one may have been stopped half way
        elif os.path.exists(os.path.join(ROOT, "neardup.so")):
            self.take_over()
        changed = mirror(ROOT, self.tree, NOT_COPIED)
        # What is older than an object that was made of it before would not be seen.
        for path in changed:
            os.utime(os.path.join(self.tree, path))
        failed = self.build({"regress"})
        if not failed and units:
            status, failed = 0, ""
            if not os.path.exists(os.path.join(self.unit, "CMakeCache.txt")):
                status, failed = call(["cmake", "-S", self.tree, "-B", self.unit, "-DCMAKE_BUILD_TYPE=None",
                                       "-DCMAKE_CXX_FLAGS=-O1 -g0", "-DNEARDUP_OBJECTS=" + self.tree], self.log)
            if status == 0:
                failed = self.build({"unit"})
        if failed:
            sys.exit("the copy cannot be built:\n" + failed[-3000:])
        mirror(self.tree, self.base)

    def restore(self):
        mirror(self.base, self.tree)

    def install(self):
        """Puts the library, the program and the SQL into the server's folder."""
        def put(source, folder):
            target = os.path.join(os.environ["NEARDUP_DESTDIR"] + folder, os.path.basename(source))
            if os.path.exists(source):
                shutil.copy(source, target + ".new")
                os.replace(target + ".new", target)
        def folder_of(option):
            return subprocess.run([self.pg_config, option], check=True, capture_output=True, text=True).stdout.strip()
        put(os.path.join(self.tree, "neardup.so"), folder_of("--pkglibdir"))
        extension = folder_of("--sharedir") + "/extension"
        for where in ("sql", "sql/upgrade"):
            for name in os.listdir(os.path.join(self.tree, where)):
                if re.fullmatch(r"neardup--.*\.sql", name):
                    put(os.path.join(self.tree, where, name), extension)

    def unit_program(self):
        return os.path.join(self.unit, "unit_test")


class Runner:
    """Runs tests against the server of the environment."""

    def __init__(self, copy):
        self.copy = copy
        self.log = copy.log
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
            status, output = call(["/usr/bin/python3", os.path.join(self.copy.tree, "test", "clients", rest)], self.log,
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
            status, output = call(["/usr/bin/python3", os.path.join(self.copy.tree, "test", "cli", CLI_SCRIPTS[kind]),
                                   self.env["NEARDUP_BIN"], *rest.split()],
                                  self.log, env=dict(self.env, PGDATABASE="loader"), timeout=timeout)
            return self.script_verdict(status, output)
        database = "mutate_script"
        self.psql("DROP DATABASE IF EXISTS %s WITH (FORCE)" % database, "CREATE DATABASE %s" % database)
        path = os.path.join(self.copy.tree, "test", "t", rest)
        status, output = call([("bash" if rest.endswith(".sh") else "/usr/bin/python3"), path], self.log,
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
    return chosen


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


def run(options):
    copy = Copy(options.run)
    copy.log.truncate(0)
    everything = mutations()
    chosen = choose(everything, options)
    sources = Sources(copy.tree)
    runner = Runner(copy)
    # Without mistakes all of these tests pass, or else they prove nothing.
    baseline, bad = {}, 0
    copy.install()
    for test in sorted({test for m in chosen for test in m.tests}):
        began = time.monotonic()
        verdict = runner.run(*test, 900)
        baseline[test] = (verdict, time.monotonic() - began)
        if verdict == "passed":
            print("unmutated: %s passes (%.1f s)" % (spell(test), baseline[test][1]), flush=True)
        elif verdict == "skipped":
            print("unmutated: %s checks nothing here" % spell(test), flush=True)
        else:
            print("not ok - unmutated, %s fails (%s)" % (spell(test), verdict), flush=True)
            bad += 1
    if bad:
        print("the log: %s" % copy.log.name)
        return 1
    results = {}
    for m in chosen:
        began = time.monotonic()
        tests = [t for t in m.tests if baseline[t][0] == "passed"]
        if m.tests and not tests:
            print("skip - mutation %s: none of its tests runs here" % m.name, flush=True)
            continue
        copy.log.write("==== %s\n" % m.name)
        try:
            changed = sources.apply(m)
            for path, text in changed.items():
                with open(os.path.join(copy.tree, path), "w", encoding="utf-8") as f:
                    f.write(text)
            failed = copy.build({kind for kind, _ in tests})
            if failed:
                raise Bad("%s: the mutated sources cannot be built: %s" % (
                    m.name, "; ".join(re.findall(r"error: .*", failed)[:2]) or failed[-300:]))
            if {kind for kind, _ in tests} - {"unit", *NOT_BUILT}:
                copy.install()
            by = None
            for test in tests:
                verdict = runner.run(*test, max(60, 10 * baseline[test][1]))
                if verdict in ("failed", "time", "skipped"):
                    by = spell(test) + {"time": ", which does not end",
                                        "skipped": ", which checks nothing any more"}.get(verdict, "")
                    break
            seconds = time.monotonic() - began
            if by:
                results[m.name] = "caught"
                print("ok - mutation %s is caught: by %s (%.0f s)%s"
                      % (m.name, by, seconds, "; and yet it is marked harmless" if m.harmless else ""), flush=True)
            elif m.harmless:
                results[m.name] = "survived"
                print("ok - mutation %s is harmless: %s (%.0f s)" % (m.name, m.harmless, seconds), flush=True)
            else:
                results[m.name] = "survived"
                print("not ok - mutation %s survives: SURVIVED %s (%.0f s): %s" % (
                          m.name, "; ".join(map(spell, tests)), seconds, m.what),
                      flush=True)
        except Bad as e:
            results[m.name] = "survived"
            print("not ok - mutation %s" % e, flush=True)
        finally:
            copy.restore()
    copy.install()
    table(everything if not (options.names or options.area or options.sample) else [
              m for m in everything if m.name in results], results)
    return 1 if any(results[m.name] == "survived" and not m.harmless for m in chosen if m.name in results) else 0


def anchors(moved):
    """Says which mutations do not find their place; if `moved`, where it may be now."""
    sources, bad, good = Sources(ROOT), 0, 0
    for name in sorted(os.listdir(FOLDER)):
        if not name.endswith(".txt"):
            continue
        mutation = None
        try:
            mutation = Mutation(os.path.join(FOLDER, name))
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
