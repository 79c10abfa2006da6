#!/usr/bin/python3
"""The parts of a release: META.json by the PGXN Meta Spec, one version everywhere, the Debian packaging, the manual
page, and the files that `make install` and `cmake --install` install. Building and trying the packages themselves:
./run package, a step of --full."""
import glob
import json
import re
import shutil
import stat
import tempfile

from harness import *

ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
PG_CONFIG = os.environ.get("PG_CONFIG", "pg_config")
PROGRAM = os.environ.get("NEARDUP_BIN", os.path.join(ROOT, "bin", "neardup"))
# Licences of the spec's list that a project like this one could have.
LICENCES = ("postgresql", "apache_2_0", "bsd", "freebsd", "mit", "zlib", "open_source")
TOP_KEYS = {"name", "abstract", "description", "version", "maintainer", "license", "provides", "prereqs", "tags",
            "resources", "release_status", "generated_by", "meta-spec", "no_index"}


def path(*parts):
    return os.path.join(ROOT, *parts)


def read(*parts):
    with open(path(*parts), encoding="utf-8") as f:
        return f.read()


def run(*args, **kwargs):
    return subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, **kwargs)


def pg_config(what):
    return run(PG_CONFIG, "--" + what).stdout.strip()


def tracked():
    """The files of the commit, or None outside a git checkout: also in a copy below one."""
    if shutil.which("git") is None:
        return None
    top = run("git", "-c", "safe.directory=*", "rev-parse", "--show-toplevel", cwd=ROOT)
    if top.returncode or os.path.realpath(top.stdout.strip()) != os.path.realpath(ROOT):
        return None
    listed = run(
        "git", "-c", "safe.directory=" + ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    return [name for name in listed.stdout.split("\0")
            if name and os.path.exists(path(name))] if listed.returncode == 0 else None


GIT_FIRST = ("apt-get update && apt-get install -y --no-install-recommends git ca-certificates  # else the checkout "
             "has no history")


def workflows():
    """Each job of the workflows is one command of ./run that there is. Those that need a git checkout install git
    before it."""
    known = run(path("run"), "help").stdout
    for name in ("tests.yml", "nightly.yml"):
        text = read(".github", "workflows", name)
        jobs = re.split(r"^  \w+:$", text.split("\njobs:\n")[1], flags=re.M)[1:]
        check("%s has jobs" % name, len(jobs) > 2, jobs)
        for job in jobs:
            steps = re.findall(r"^      - (?:run|uses): (.*)$", job, re.M)
            command = steps[-1]
            words = command.split()
            check("%s: %s" % (name, command),
                  words[0] == "./run" and all(re.search(r"^ +%s\b" % re.escape(w), known, re.M)
                                              for w in words[1:] if w.startswith("--") or w == words[1]), known)
            needs_git = {"lint", "package", "--ci", "--full"} & set(words)
            equal("%s: the steps before %s" % (name, command), steps[:-1],
                  [GIT_FIRST] * bool(needs_git) + ["actions/checkout@v6"])


def meta():
    m = json.loads(read("META.json"))
    equal("META.json has the keys that the spec requires",
          [k for k in ("name", "abstract", "version", "maintainer", "license", "provides", "meta-spec")
           if not m.get(k)], [])
    equal("it has no key that the spec does not know",
          [k for k in m if k not in TOP_KEYS and not k.lower().startswith("x_")], [])
    equal("meta-spec", m["meta-spec"]["version"], "1.0.0")
    check("the licence is one of the spec's", m["license"] in LICENCES, m["license"])
    check("the name is a term", re.fullmatch(r"[^\s/\\\x00-\x1f]{2,}", m["name"]), m["name"])
    check("release_status", m["release_status"] in ("stable", "testing", "unstable"), m["release_status"])
    equal("tags are tags", [t for t in m["tags"] if not re.fullmatch(r"[^\s/\\\x00-\x1f]{1,255}", t)], [])
    version = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[A-Za-z][0-9A-Za-z-]*)?")
    wanted = [v for phase in m["prereqs"].values() for relation in phase.values() for v in relation.values()]
    equal("versions are semantic versions", [v for v in [m["version"]] + wanted if not version.fullmatch(str(v))], [])
    equal("it provides the extension", list(m["provides"]), ["neardup"])
    provided = m["provides"]["neardup"]
    files = tracked()
    for key in ("file", "docfile"):
        check("provides: %s is a file of the distribution" % key,
              os.path.isfile(path(provided[key])) and (files is None or provided[key] in files), provided[key])
    return m["version"], provided["version"]


def versions():
    version = default_version()
    changelog = re.match(r"neardup \(([^)]*)-[^-)]*\) ", read("debian", "changelog"))
    spec = re.search(r"^Version: +(.*)$", read("packaging", "neardup.spec"), re.M).group(1)
    python = re.search(r'^version = "(.*?)"', read("clients", "python", "pyproject.toml"), re.M).group(1)
    equal("one version in neardup.control, META.json twice, debian/changelog, the spec of RPM, clients/python",
          [*meta_versions, changelog and changelog.group(1), spec, python], [version] * 5)
    # The commands that build packages, and the titles
    for at in (("packaging", "neardup.spec"), ("docs", "install.md"), ("docs", "reference.md"), ("README.md",)):
        named = set(re.findall(r"(?:neardup[-_ ]|version )(\d+\.\d+\.\d+)", read(*at)))
        equal("%s names no other version" % os.path.join(*at), named, {version})
    if os.access(PROGRAM, os.X_OK):
        equal("the program says it, too", run(PROGRAM, "--version").stdout, "neardup %s\n" % version)
    else:
        skip("the program's version: %s is not built" % PROGRAM)
    check("CHANGELOG.md begins with it", re.search(r"^## (\S+?),? ", read("CHANGELOG.md"), re.M).group(1) == version)


def named_options(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def manual():
    page = read("docs", "neardup.1").replace("\\-", "-")
    parts = dict(re.findall(r"^\.SH (.*?)\n(.*?)(?=^\.SH |\Z)", page, re.M | re.S))
    common = named_options(parts["OPTIONS OF EVERY COMMAND"])
    if not os.access(PROGRAM, os.X_OK):
        return skip("the manual page: %s is not built" % PROGRAM)
    commands = re.findall(r"^  (\S+) ", run(PROGRAM, "--help").stdout, re.M)
    check("the program has commands", len(commands) >= 4, commands)
    equal(
        "the manual page has a section for each command", [k[8:] for k in parts if k.startswith("neardup ")], commands)
    for command in commands:
        there = named_options(run(PROGRAM, command, "--help").stdout)
        here = named_options(parts.get("neardup " + command, ""))
        equal(
            "neardup %s: the page has the options of its help" % command, sorted(here | common), sorted(there | common))
        check("neardup %s has the common options" % command, common - {"--conninfo"} <= there, common - there)
    if shutil.which("man") is None or shutil.which("groff") is None:
        return skip("the manual page's markup: no man or groff")
    equal("groff has nothing against the page",
          run("man", "-l", "--warnings", "-E", "UTF-8", "-Tutf8", "-Z", path("docs", "neardup.1"),
              env=dict(os.environ, MANROFFSEQ="", LC_ALL="C.UTF-8")).stdout.count("warning"), 0)


def expanded(template, versions_):
    """As pg_buildext makes debian/control: paragraphs of packages PGVERSION for each version, others for the newest."""
    out = []
    for paragraph in template.strip().split("\n\n"):
        named = re.match(r"Package: .*PGVERSION", paragraph)
        out += [paragraph.replace("PGVERSION", v) for v in (versions_ if named else versions_[-1:])]
    return "\n\n".join(out) + "\n"


def debian():
    control = read("debian", "control")
    made_for = re.findall(r"^Package: postgresql-(\d+)-neardup$", control, re.M)
    equal("debian/control is made from control.in", control, expanded(read("debian", "control.in"), made_for))
    equal("debian/tests/control is made from control.in", read("debian", "tests", "control"),
          read("debian", "tests", "control.in").replace(
              "postgresql-PGVERSION-neardup", ", ".join("postgresql-%s-neardup" % v for v in made_for)))
    for name in ("rules", "tests/installcheck"):
        check("debian/%s can be run" % name, os.access(path("debian", name), os.X_OK))
    if os.path.exists("/usr/share/dpkg/buildflags.mk"):
        said = run("make", "-n", "-f", "debian/rules", "binary", cwd=ROOT).stdout
        check("debian/rules has each target once", said.endswith("dh binary\n") and "warning: " not in said, said)
    else:
        skip("debian/rules: no dpkg-dev")
    copyright_ = read("debian", "copyright")
    equal("NOTICE has the licence of the Unicode tables as debian/copyright has it",
          " ".join(read("NOTICE").split()).count(
              " ".join(re.sub(r"(?m)^ \.?$", "", copyright_.rsplit("License: Unicode-3.0", 1)[1]).split())), 1)
    equal("debian/copyright names files that there are",
          [p for p in re.findall(r"^Files: (.*)$", copyright_, re.M) if not glob.glob(path(p))], [])
    equal("debian/copyright has the words of LICENSE", " ".join(re.sub(r"(?m)^ \.?$", "", copyright_).split()).count(
        " ".join(read("LICENSE").split("\n\n", 2)[2].split())), 1)


def built_files():
    files = tracked()
    if files is None:
        return skip("files that are built: not a git checkout")
    bad = re.compile(r"\.(o|so|bc|a|pyc|deb|zip|gz|xz|bz2)$|^bin/|^build|^results/|^\.run/|^sql/neardup--|__pycache__")
    equal("no built file is in the commit",
          [f for f in files if bad.search(f) and f != "test/upgrade/releases.tar.xz"], [])


def expected_files():
    extension = pg_config("sharedir") + "/extension/"
    upgrades = [os.path.basename(f).removesuffix(".in") for f in glob.glob(path("sql", "upgrade", "*.sql*"))]
    files = [pg_config("pkglibdir") + "/neardup.so", pg_config("bindir") + "/neardup",
             pg_config("mandir") + "/man1/neardup.1"]
    return sorted(
        files + [extension + f for f in ["neardup.control", "neardup--%s.sql" % default_version()] + upgrades])


def listing(folder):
    """{file: permissions} below a DESTDIR."""
    return {"/" + os.path.relpath(os.path.join(at, name), folder): oct(
        stat.S_IMODE(os.stat(os.path.join(at, name)).st_mode))
            for at, _, names in os.walk(folder) for name in names}


def make(*args, **kwargs):
    return run("make", "-s", "PG_CONFIG=" + PG_CONFIG, "CUDA=no", *args, **kwargs)


def installs(scratch):
    by_make = os.path.join(scratch, "make")
    if not (os.path.exists(path("neardup.so")) and os.path.exists(path("bin", "neardup"))):
        return skip("what is installed: the extension is not built in %s" % ROOT)
    umask = os.umask(0o022)
    try:
        for n in ("installed", "installed again"):
            done = make("install", "DESTDIR=" + by_make, cwd=ROOT)
            check("make install: %s" % n, done.returncode == 0, done.stdout[-500:])
        made = listing(by_make)
        equal("make install: the files that are expected", sorted(made), expected_files())
        script = pg_config("sharedir") + "/extension/neardup--%s.sql" % default_version()
        with open(by_make + script, "rb") as f:
            text = f.read()
        equal("the SQL script is sql/install in the order of the names", text,
              b"".join(open(f, "rb").read() for f in sorted(glob.glob(path("sql", "install", "*.sql")))))
        cmake(scratch, made, by_make, script)
        done = make("uninstall", "DESTDIR=" + by_make, cwd=ROOT)
        equal("make uninstall leaves nothing", (done.returncode, sorted(listing(by_make))), (0, []))
        done = make("install", "WITH_CLI=no", "DESTDIR=" + by_make, cwd=ROOT)
        equal("make install WITH_CLI=no: all but the program", (done.returncode, sorted(listing(by_make))),
              (0, [f for f in expected_files() if not re.search(r"/neardup(\.1)?$", f)]))
    finally:
        os.umask(umask)


def cmake(scratch, made, by_make, script):
    if shutil.which("cmake") is None:
        return skip("cmake --install: no cmake")
    build, by_cmake = os.path.join(scratch, "build"), os.path.join(scratch, "cmake")
    done = run("cmake", "-S", ROOT, "-B", build, "-DNEARDUP_EXTENSION=ON", "-DCMAKE_CXX_FLAGS=-O1",
               "-DPG_CONFIG=" + shutil.which(PG_CONFIG))
    if not check("cmake configures the extension", done.returncode == 0, done.stdout[-500:]):
        return
    if FULL:
        done = run("cmake", "--build", build, "--target", "extension", "-j", str(len(os.sched_getaffinity(0))))
        check("cmake builds the extension without warnings", done.returncode == 0 and "warning:" not in done.stdout,
              done.stdout[-500:])
    else:  # the rules are tried with what make has built
        done = run("cmake", "--build", build, "--target", "neardup_sql")
        check("cmake makes the SQL script", done.returncode == 0, done.stdout[-500:])
        shutil.copy(path("neardup.so"), os.path.join(build, "src", "pg"))
        shutil.copy(path("bin", "neardup"), os.path.join(build, "src", "pg"))
    done = run("cmake", "--install", build, env=dict(os.environ, DESTDIR=by_cmake))
    check("cmake --install", done.returncode == 0, done.stdout[-500:])
    equal("cmake --install: the files of make install, with their permissions", listing(by_cmake), made)
    with open(by_make + script, "rb") as one_, open(by_cmake + script, "rb") as other:
        equal("cmake makes the same SQL script", other.read() == one_.read(), True)
    if FULL:
        built_by_cmake(by_cmake, by_make)


def functions(library):
    """The functions that SQL can name, and what a server asks a module for, as `nm` lists them."""
    names = [line.split()[-1] for line in run("nm", "-D", "--defined-only", library).stdout.splitlines()]
    return {n for n in names if n.startswith(("pg_finfo_", "Pg_magic", "_PG_init"))}


def built_by_cmake(by_cmake, by_make):
    library = pg_config("pkglibdir") + "/neardup.so"
    equal("CMake's module has the functions of make's", functions(by_cmake + library), functions(by_make + library))
    check("they are many", len(functions(by_make + library)) > 100)
    equal("CMake's program", run(by_cmake + pg_config("bindir") + "/neardup", "--version").stdout,
          "neardup %s\n" % default_version())
    with database("_cmake", extension=False) as name, connect(name) as conn:
        os.chmod(os.path.dirname(by_cmake), 0o755)
        conn.execute("LOAD '%s'" % (by_cmake + library))
        equal("a server takes CMake's module", one(conn, "SHOW neardup.jaccard_threshold"), "0.8")


def for_other_servers(copy):
    """Objects of one server are not taken for those of another: what make would compile of three and of the program."""
    def compiled(*args):
        said = make("CCACHE=", "CXX=echo compile", *objects, *args, cwd=copy).stdout
        made = re.findall(r"^compile .* -o (\S+)", said, re.M)
        for name in made:
            os.utime(os.path.join(copy, name))
        return [name for name in objects if name in made]
    objects = ["src/core/signature/minhash.o", "src/text/charset.o", "src/pg/module.o", "src/cli/main.o"]
    equal("with another compiler all is compiled again", compiled(), objects)
    equal("nothing is compiled twice for one server", compiled(), [])
    equal("for another server its objects and the program are", compiled("VERSION=99.1"), objects[2:])
    equal("with other flags all is", compiled("VERSION=99.1", "PG_CXXFLAGS=-O1"), objects)


def elsewhere(scratch):
    """Builds in other folders, and what `make clean` leaves, in a copy of the sources that is no git checkout."""
    files = tracked()
    if files is None:
        return skip("a copy of the sources: not a git checkout")
    copy, other = os.path.join(scratch, "copy"), os.path.join(scratch, "other")
    os.mkdir(other)
    for name in files:
        os.makedirs(os.path.join(copy, os.path.dirname(name)), exist_ok=True)
        shutil.copy2(path(name), os.path.join(copy, name), follow_symlinks=False)
    before = listing(copy)
    done = run("make", "-n", "-f", copy + "/Makefile", "PG_CONFIG=" + PG_CONFIG, "CUDA=no", cwd=other)
    check("a build in another folder", done.returncode == 0
          and " -c %s/src/core/signature/minhash.cpp -o src/core/signature/minhash.o" % copy in done.stdout,
          done.stdout[-500:])
    equal("nothing of it lies in the sources", listing(copy), before)
    for source in glob.glob(copy + "/src/**/*.cpp", recursive=True):
        for kind in ("o", "d"):
            open(source[:-3] + kind, "w").close()
    for header in glob.glob(copy + "/src/pch/*.h"):
        for kind in ("gch", "d"):
            open("%s.%s" % (header, kind), "w").close()
    for name in ("neardup.so", "neardup_gpu.so", "bin/neardup", "sql/neardup--%s.sql" % default_version(),
                 "src/.compiler", "src/text/.libraries", "src/cli/.libraries", "src/pg/.server", "results/pairs.out",
                 "regression.diffs", "regression.out"):
        os.makedirs(os.path.join(copy, os.path.dirname(name)), exist_ok=True)
        open(os.path.join(copy, name), "w").close()
    done = make("-f", copy + "/Makefile", cwd=other)
    check("sources with objects in them are refused", done.returncode != 0 and "holds objects" in done.stdout,
          done.stdout[-300:])
    for_other_servers(copy)
    done = make("clean", cwd=copy)
    equal("make clean leaves the sources, and nothing else",
          (done.returncode, sorted(set(listing(copy)) ^ set(before))),
          (0, []))


def byte_order():
    """A build for a big-endian machine ends with a sentence that says why."""
    refused = run(os.environ.get("CXX", "g++"), "-std=c++20", "-fsyntax-only", "-U__BYTE_ORDER__",
                  "-D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__",
                  "-I" + path("src"), path("src", "core", "kernels", "scalar.cpp"))
    check("the core does not compile for a big-endian machine", refused.returncode != 0
          and "neardup does not support big-endian machines: its stored forms are little-endian" in refused.stdout,
          refused.stdout[-300:])


def main():
    global meta_versions
    meta_versions = meta()
    scratch = tempfile.mkdtemp(prefix="neardup_450_", dir="/tmp")
    try:
        sections((versions,), (workflows,), (manual,), (debian,), (byte_order,), (built_files,), (installs, scratch),
                 (elsewhere, scratch))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


meta_versions = ()
finish(main)
