#!/usr/bin/python3
# may be skipped: it builds the extension several times, so it runs in the full form
"""What an older library or an older PostgreSQL has written keeps working: data, indexes, constraints, jobs and word models of the last release
under this library, and through pg_upgrade to other versions of PostgreSQL.

The last release is built from this repository's history; pg_upgrade needs a second PostgreSQL with its development files, found as
/usr/lib/postgresql/NN, or named in NEARDUP_PG_CONFIGS (pg_config programs, separated by spaces)."""
import glob

from servers import *
import estate

RELEASES = {"0.1.0": "ccfd6ca"}  # sql/upgrade/README


def old_library(folder, release, commit):
    sources = sources_of(commit, os.path.join(folder, "release"))
    if sources is None:
        return skip("the library of %s: this is no clone with its history" % release)
    old = Installation(os.path.join(folder, "old"), sources)
    with Server(installation=old) as server:
        with server.start().connect() as conn:
            conn.execute("CREATE EXTENSION neardup")
            equal("%s: its own library" % release, conn.execute("SELECT sql, library FROM neardup_version()").fetchone(), (release, release))
            estate.make(conn)
            before = estate.answers(conn)
        server.stop()
        server.bin = Server.bin_of_today()
        with server.start().connect() as conn:
            equal("%s: this library in its place" % release, conn.execute("SELECT sql, library FROM neardup_version()").fetchone(), (release, default_version()))
            estate.same("%s under this library: the same answers" % release, estate.answers(conn), before)
            estate.sound("%s under this library" % release, conn)
            conn.execute("ALTER EXTENSION neardup UPDATE")
            estate.same("%s under this library, updated: the same answers" % release, estate.answers(conn), before)
            estate.served("%s under this library, updated" % release, conn)
            estate.live_on("%s under this library, updated" % release, conn)
        check("nothing alarming in the log", not server.alarms(), server.alarms())


def others():
    """pg_config of other majors that are complete here: {major: program}."""
    found = {}
    for program in os.environ.get("NEARDUP_PG_CONFIGS", "").split() + sorted(glob.glob("/usr/lib/postgresql/*/bin/pg_config")):
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            bindir = pg_config("--bindir", program)
            if all(os.path.exists(p) for p in (bindir + "/postgres", bindir + "/pg_upgrade", bindir + "/initdb", pg_config("--pgxs", program))):
                found.setdefault(pg_version(program), program)
    return found


def pg_upgraded(folder, old_program, new_program):
    """From the older major to the newer one, with the SQL of the last release, and with today's."""
    from_major, to_major = pg_version(old_program), pg_version(new_program)
    old = Installation(os.path.join(folder, "from%d-%d" % (from_major, to_major)), sources_of(None, os.path.join(folder, "sources%d-%d-a" % (from_major, to_major))), old_program)
    new = Installation(os.path.join(folder, "to%d-%d" % (from_major, to_major)), sources_of(None, os.path.join(folder, "sources%d-%d-b" % (from_major, to_major))), new_program)
    for sql_version in (list(RELEASES)[-1], default_version()):
        name = "pg_upgrade from %d to %d, SQL of %s" % (from_major, to_major, sql_version)
        with Server(installation=old) as before_server, Server(installation=new) as server:
            with before_server.start().connect() as conn:
                conn.execute("CREATE EXTENSION neardup VERSION '%s'" % sql_version)
                estate.make(conn)
                before = estate.answers(conn)
            before_server.stop()
            server._run("pg_upgrade", "-b", old.bin, "-B", new.bin, "-d", before_server.data, "-D", server.data, "-U", "postgres", "-s", server.folder)
            with server.start().connect() as conn:
                equal(name + ": it is there", one(conn, "SELECT sql FROM neardup_version()"), sql_version)
                conn.execute("ANALYZE")
                estate.same(name + ": the same answers", estate.answers(conn), before)
                estate.served(name, conn)
                estate.sound(name, conn)
                conn.execute("ALTER EXTENSION neardup UPDATE")
                estate.live_on(name, conn)
            check("nothing alarming in the log", not server.alarms(), server.alarms())


def main():
    if not FULL:
        return skip("servers and libraries of other versions: full form only (NEARDUP_FULL=1)")
    with tempfile.TemporaryDirectory(prefix="neardup_435_", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        calls = [(old_library, folder, *item) for item in list(RELEASES.items())[-1:]]
        programs = others()
        majors = sorted(programs)
        if len(majors) < 2:
            skip("pg_upgrade: there is one PostgreSQL here, %s" % majors)
        calls += [(pg_upgraded, folder, programs[a], programs[b]) for a, b in zip(majors, majors[1:])]
        sections(*calls)


finish(main)
