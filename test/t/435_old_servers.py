#!/usr/bin/python3
# may be skipped: it builds the extension several times, so it runs in the full form
"""Data that an older library or an older PostgreSQL has written keeps working, without REINDEX: signatures, indexes of
every kind, constraints, jobs and word models.

    releases      a cluster that the library of the first release began goes through every
    release to this version; each adds what it brought
    skipping      the library of each release, and this one in its place: ALTER EXTENSION UPDATE over all steps at once
    pg_upgrade    the cluster of the first of these goes on to the other versions of PostgreSQL, one after the other, by
    copies and by links; then one with
                  the SQL of the last release, which is updated behind pg_upgrade

The libraries of releases are built from this repository's history, at the commits of sql/upgrade/README, for the oldest
PostgreSQL that is here. pg_upgrade needs a second one with its development files, found as /usr/lib/postgresql/NN, or
named in NEARDUP_PG_CONFIGS (pg_config programs, separated by spaces); ./run test --upgrades makes a root that has
three. NEARDUP_UPGRADE_BUILDS names a folder where what was built stays for the next run."""
import glob
import types

from released import *
import catalog
import estate

MODES = ("--copy", "--link")  # of pg_upgrade, in turn
INSTALLED = "SELECT sql, library FROM neardup_version()"


def releases():
    """{version: commit}, the oldest first."""
    with open(os.path.join(UPGRADE, "README"), encoding="utf-8") as f:
        found = dict(re.findall(r"^    (\d+\.\d+\.\d+) +([0-9a-f]{7,40})$", f.read(), re.M))
    return {v: found[v] for v in sorted(found, key=estate.version_key)}


class Builds:
    """The extension of a release, or of today where that is None, for a PostgreSQL; each is built once."""

    def __init__(self, folder):
        self.folder, self.sources, self.made = folder, {}, {}

    def copy_sources(self, release, major):
        """None where there is no history."""
        key = release, major
        if key not in self.sources:
            folder = os.path.join(self.folder, "sources-%s-%d" % (release or "today", major))
            # A release does not change, so its folder of an earlier run is reused; today's files replace older ones.
            kept = os.path.exists(folder + "/Makefile")
            self.sources[key] = folder if kept and release else copy_sources(release and releases()[release], folder)
        return self.sources[key]

    def installation(self, release, program):
        key = release, pg_version(program)
        if release is None and program == PG_CONFIG and DESTDIR:
            return types.SimpleNamespace(bin=Server.bin_of_today())  # what ./run test has installed
        if key not in self.made:
            began = time.monotonic()
            self.made[key] = Installation(
                os.path.join(self.folder, "installed-%s-%d" % (release or "today", key[1])), self.copy_sources(*key),
                program, ("WITH_CLI=no",))
            print("note: %s built for PostgreSQL %d in %.0f s" % (
                      release or "this version", key[1], time.monotonic() - began),
                  flush=True)
        return self.made[key]


def programs():
    """pg_config of the versions of PostgreSQL that are complete here, the oldest first."""
    found = {}
    for program in [PG_CONFIG, *os.environ.get("NEARDUP_PG_CONFIGS", "").split(),
                    *sorted(glob.glob("/usr/lib/postgresql/*/bin/pg_config"))]:
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            bindir = pg_config("--bindir", program)
            if all(os.path.exists(p) for p in (
                    bindir + "/postgres", bindir + "/pg_upgrade", bindir + "/initdb", pg_config("--pgxs", program))):
                found.setdefault(pg_version(program), program)
    return [found[major] for major in sorted(found)]


def exact(name, conn, upto):
    """Answers by the indexes, which a sequential scan gives, too."""
    got = estate.answers(conn, True, upto)
    estate.same(name + ": indexes give what a sequential scan gives", got, estate.answers(conn, False, upto))
    estate.served(name, conn, upto)
    estate.sound(name, conn, upto)
    return got


def carried_over(name, conn, before, upto):
    """Another library or server: the answers of before, by the indexes as they are."""
    estate.same(name + ": the same answers", estate.answers(conn, True, upto), before)
    exact(name, conn, upto)
    estate.guarded(name, conn)


def server_dependent(definitions):
    """Operator classes for equality, with their families: of the types that there are where the extension is installed,
    and with their hash functions. PostgreSQL 18 gave boolean another one, with the same values; 19 has a type more,
    oid8; pg_upgrade keeps what was."""
    names = {d.split(";")[0] for d in definitions if "; Type: OPERATOR CLASS; " in d and " FUNCTION 15 " in d}
    return {d for d in definitions if d.split(";")[0] in names and "; Type: OPERATOR " in d}


def as_new(name, server, conn, from_another_server=False):
    """The objects of the extension are those of a new installation."""
    conn.execute("DROP DATABASE IF EXISTS fresh")
    conn.execute("CREATE DATABASE fresh TEMPLATE template0")
    with server.connect("fresh") as new:
        new.execute("CREATE EXTENSION neardup")
        said = catalog.descriptions(new)
    dump = ["pg_dump", "--schema-only", "--binary-upgrade", "-d"]
    wanted, got = (catalog.definitions(server.client(*dump, database)) for database in ("fresh", "postgres"))
    check(name + ": definitions are read", len(wanted) > 400, len(wanted))
    has = catalog.descriptions(conn)
    if from_another_server:
        wanted -= server_dependent(wanted)
        said = {(kind, *rest) for kind, *rest in said
                if kind not in ("operator class", "operator family") or (kind, *rest) in has}
    equal(name + ": no object of a new installation is missing or otherwise", sorted(wanted - got), [])
    equal(name + ": the extension has these objects and no others, and says the same of them",
          sorted(said ^ has, key=str), [])
    conn.execute("DROP DATABASE fresh")


def at_release(name, server, conn, version, upto, before):
    """One step of the chain, under that version's library: the update, and what it brought. Returns the answers."""
    if before is None:
        conn.execute("CREATE EXTENSION neardup")
        estate.make(conn)
    else:
        carried_over(name + ", before the update", conn, before, upto)
        conn.execute("ALTER EXTENSION neardup UPDATE")
        carried_over(name, conn, before, upto)
        if version == default_version():
            as_new(name, server, conn)
        estate.make_later(conn, version)
    equal(name + ": versions", conn.execute(INSTALLED).fetchone(), (version, version))
    estate.live_on(name, conn, version, 10000 * (1 + list(releases()).index(version) if version in releases() else 9))
    return exact(name + ", at its end", conn, version)


def chain(builds, program):
    """A cluster that was in use through all releases, stopped; and its answers."""
    server, before, upto = None, None, None
    for version in [*releases(), default_version()]:
        installation = builds.installation(version if version in releases() else None, program)
        if server is None:
            server = Server(installation=installation)
        server.bin = installation.bin
        with server.start().connect() as conn:
            before = at_release("%s, release by release" % version, server, conn, version, upto, before)
        upto = version
        server.stop()
    check("release by release: nothing alarming in the log", not server.alarms(), server.alarms())
    return server, before


def skipping(builds, program, release):
    """This library over the files of that release, whose SQL is updated at once. It serves the SQL of the last release
    before the update, too."""
    is_last = release == list(releases())[-1]
    with Server(installation=builds.installation(release, program)) as server:
        with server.start().connect() as conn:
            conn.execute("CREATE EXTENSION neardup")
            equal(release + ": its own library", conn.execute(INSTALLED).fetchone(), (release, release))
            estate.make(conn)
            before = estate.answers(conn)
        server.stop()
        server.bin = builds.installation(None, program).bin
        with server.start().connect() as conn:
            name = "%s, then this library" % release
            equal(name, conn.execute(INSTALLED).fetchone(), (release, default_version()))
            if is_last:
                carried_over(name, conn, before, None)
            conn.execute("ALTER EXTENSION neardup UPDATE")
            name += ", updated"
            carried_over(name, conn, before, None)
            as_new(name, server, conn)
            estate.live_on(name, conn)
        check(release + ": nothing alarming in the log", not server.alarms(), server.alarms())


def upgrade(old, new, mode):
    """pg_upgrade of a stopped server into a new one."""
    new._run("pg_upgrade", "-b", old.bin, "-B", new.bin, "-d", old.data, "-D", new.data, "-U", "postgres", "-s",
             new.folder, mode)


def pg_upgraded(builds, server, before, upto, majors):
    """Through these versions of PostgreSQL, each from the one before."""
    for step, program in enumerate(majors):
        name = "pg_upgrade %s to %d, SQL of %s" % (
            MODES[step % len(MODES)], pg_version(program), upto or "the last release")
        new = Server(installation=builds.installation(None, program))
        upgrade(server, new, MODES[step % len(MODES)])
        server.remove()
        server = new
        with server.start().connect() as conn:
            conn.execute("ANALYZE")
            carried_over(name, conn, before, upto)
            if upto is None:
                conn.execute("ALTER EXTENSION neardup UPDATE")
                carried_over(name + ", updated", conn, before, upto)
            as_new(name, server, conn, True)
            estate.live_on(name, conn, upto, 10000 * (10 + step))
            before = exact(name + ", at its end", conn, upto)
        server.stop()
        check(name + ": nothing alarming in the log", not server.alarms(), server.alarms())
    server.remove()


def through_all(builds, all_programs):
    server, before = chain(builds, all_programs[0])
    pg_upgraded(builds, server, before, default_version(), all_programs[1:])


def updated_behind(builds, all_programs, release):
    """pg_upgrade first, then the update: of a cluster with that release's SQL."""
    server = Server(installation=builds.installation(None, all_programs[0]))
    install(server.bin[:-len(pg_config("--bindir", all_programs[0]))], all_programs[0])
    with server.start().connect() as conn:
        conn.execute("CREATE EXTENSION neardup VERSION '%s'" % release)
        estate.make(conn)
        before = estate.answers(conn)
    server.stop()
    pg_upgraded(builds, server, before, None, all_programs[1:])


def main():
    if not FULL:
        return skip("servers and libraries of other versions: full form only (NEARDUP_FULL=1)")
    found = programs()
    with contextlib.ExitStack() as stack:
        folder = os.environ.get("NEARDUP_UPGRADE_BUILDS") or stack.enter_context(
            tempfile.TemporaryDirectory(prefix="neardup_435_", dir="/tmp"))
        os.chmod(folder, 0o755)
        builds = Builds(folder)
        last = list(releases())[-1]
        calls = []
        if builds.copy_sources(last, pg_version(found[0])) is None:
            skip("the libraries of %s: this is no clone with its history" % ", ".join(releases()))
        else:
            calls += [(through_all, builds, found), *[(skipping, builds, found[0], release) for release in releases()]]
        if len(found) < 2:
            skip("pg_upgrade: there is one PostgreSQL here, %s" % [pg_version(p) for p in found])
        else:
            calls.append((updated_behind, builds, found, last))
        sections(*calls)


finish(main)
