"""The copy of the tree that ./run mutate changes and builds."""
import filecmp
import os
import re
import shutil
import signal
import subprocess
import sys

from mutation_files import CLI_SCRIPTS, ROOT

NOT_BUILT = {"lint", "client"}  # what they run is in Python
NOT_OURS = r"\.git|\.run|build[^/]*|.*\.pyc|.*__pycache__"
BUILT = r"bin|sql/neardup--[^/]*\.sql|.*\.(o|d|so|gch)|src/\.compiler|src/pg/\.server|src/text/\.libraries"
NOT_COPIED = re.compile("(%s|%s)$" % (NOT_OURS, BUILT))


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

    def copy_built(self):
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
            self.copy_built()
        changed = mirror(ROOT, self.tree, NOT_COPIED)
        # A source older than an object that was made of it before would not be seen.
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
        def config_folder(option):
            return subprocess.run([self.pg_config, option], check=True, capture_output=True, text=True).stdout.strip()
        put(os.path.join(self.tree, "neardup.so"), config_folder("--pkglibdir"))
        extension = config_folder("--sharedir") + "/extension"
        for where in ("sql", "sql/upgrade"):
            for name in os.listdir(os.path.join(self.tree, where)):
                if re.fullmatch(r"neardup--.*\.sql", name):
                    put(os.path.join(self.tree, where, name), extension)

    def unit_program(self):
        return os.path.join(self.unit, "unit_test")
