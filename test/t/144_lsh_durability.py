#!/usr/bin/python3
"""lsh indexes of every kind, written in every way that durability.py lists, through a clean restart, crashes, torn
pages, and free space maps that are old, lost or wrong. After each the index is sound and has the rows of a sequential
scan; after a restart or a crash the bytes of its pages are those that were in memory."""
from durability import *

SEED = int(os.environ.get("NEARDUP_SEED", "144"))
SETTINGS_HERE = """
checkpoint_timeout = 1h
bgwriter_lru_maxpages = 0
shared_buffers = 128MB
min_parallel_table_scan_size = 0
"""
SECTOR = 512


class Fleet:
    """Tables that are ready to be written to, one a case, in a database that is copied for each danger."""

    def __init__(self, server, cases):
        self.server, self.cases = server, cases
        with server.connect() as conn:
            conn.execute("CREATE DATABASE fleet")
        with server.connect("fleet") as conn:
            conn.execute(SCHEMA)
            self.inspected = can_inspect(conn)
            for case in cases:
                case.prepare(conn)

    @contextlib.contextmanager
    def copy(self, images="off"):
        """A copy at a checkpoint; yields the name of its database. With images of pages in WAL, what was never logged
        comes back with what is logged of the same page later."""
        with self.server.connect() as conn:
            conn.execute("CREATE DATABASE struck TEMPLATE fleet")
            conn.execute("ALTER SYSTEM SET full_page_writes = %s" % images)
            conn.execute("SELECT pg_reload_conf()")
            wait_for(lambda: one(conn, "SHOW full_page_writes") == images, "full_page_writes")
            conn.execute("CHECKPOINT")
        yield "struck"
        with self.server.connect() as conn:
            conn.execute("DROP DATABASE struck")

    def write(self, conn, cases):
        """Changes the indexes in the ways of the cases; returns their pages."""
        for case in cases:
            case.run(conn, case.way.writes)
        flush_wal(conn)
        return pages(conn, cases) if self.inspected else {}

    def compare(self, findings, what, cases, before, tidy=LONG):
        """Compares after the danger; with tidy once more after VACUUM."""
        with self.server.connect("struck") as conn:
            compare_pages(findings, what, before, pages(conn, cases) if self.inspected else {})
            found = look_at(findings, what, conn, cases)
            findings.see(what + ": rows are found", found > len(cases), found)
            if tidy:
                for case in cases:
                    findings.see_none("%s: %s: VACUUM" % (what, case.name), case.left_by_vacuum(conn))
                look_at(findings, what + " and VACUUM", conn, cases)

    def logged(self):
        return [case for case in self.cases if case.way.logged]


def clean_restart(fleet):
    """It replays nothing: a page that was changed and not marked dirty is the old one afterwards."""
    findings, server = Findings(), fleet.server
    with fleet.copy() as name:
        with server.connect(name) as conn:
            before = fleet.write(conn, fleet.cases)
        server.stop()
        server.start()
        fleet.compare(findings, "clean restart", fleet.cases, before)
    findings.report("a clean restart keeps what was written")


def crash(fleet):
    """The disk is as old as the last checkpoint; the rest comes from WAL. Unlogged indexes are empty."""
    findings, server, cases = Findings(), fleet.server, fleet.logged()
    others = [case for case in fleet.cases if not case.way.logged]
    with fleet.copy() as name:
        with server.connect(name) as conn:
            fleet.write(conn, others)
            before = fleet.write(conn, cases)
        server.kill()
        server.start()
        fleet.compare(findings, "crash", cases, before, tidy=True)
        with server.connect(name) as conn:
            look_at(findings, "crash", conn, others)
    findings.report("a crash keeps what was written")


def crash_before_commit(fleet):
    """The rows go, what the index has of them is there until VACUUM."""
    findings, server = Findings(), fleet.server
    cases = [case for case in fleet.logged() if case.way.in_place]
    with fleet.copy() as name:
        conn = server.connect(name)
        conn.execute("BEGIN")
        before = fleet.write(conn, cases)
        with server.connect(name) as other:
            flush_wal(other)
        server.kill()
        conn.close()
        server.start()
        fleet.compare(findings, "before commit", cases, before)
    findings.report("a crash between a write and its commit")


# Torn pages ---------------------------------------------------------------------------------------------------------

FORKS = ("main", "fsm")


def in_memory(server, conn, cases):
    """The pages in memory of each file of the indexes: {path: [bytes]}."""
    query = """
        SELECT get_raw_page('{index}', '{fork}', b::int)
        FROM generate_series(0, pg_relation_size('{index}', '{fork}') / 8192 - 1) b ORDER BY b
        """
    return {fork_path(server, conn, case, fork):
            [row[0] for row in conn.execute(query.replace("{index}", case.index).replace("{fork}", fork))]
            for case in cases for fork in FORKS}


def mixed(rng, old, new):
    """A page of which some sectors were written and others not."""
    count = PAGE // SECTOR
    half = count // 2
    written = rng.choice((range(half), range(half, count), range(1), range(1, count),
                          rng.sample(range(count), rng.randrange(1, count))))
    return b"".join((new if s in written else old)[s * SECTOR:(s + 1) * SECTOR] for s in range(count))


def tear(rng, path, new_pages):
    """Tears some pages that memory has otherwise than the disk; returns how many."""
    torn = 0
    with open(path, "r+b") as f:
        for block, new in enumerate(new_pages):
            f.seek(block * PAGE)
            old = f.read(PAGE).ljust(PAGE, b"\0")
            if old[:CHECKSUM.start] + old[CHECKSUM.stop:] != new[:CHECKSUM.start] + new[CHECKSUM.stop:]:
                f.seek(block * PAGE)
                f.write(mixed(rng, old, new))
                torn += 1
    return torn


def torn_pages(fleet):
    """Pages that were on their way to the disk: a crash left old sectors and new ones. Images in WAL repair them."""
    if not fleet.inspected:
        return
    findings, server, cases, rng = Findings(), fleet.server, fleet.logged(), random.Random(SEED)
    with fleet.copy(images="on") as name:
        with server.connect(name) as conn:
            before = fleet.write(conn, cases)
            files = in_memory(server, conn, cases)
        server.kill()
        torn = sum(tear(rng, path, new_pages) for path, new_pages in files.items() if os.path.exists(path))
        server.start()
        fleet.compare(findings, "torn pages", cases, before)
    findings.see("pages are torn", torn > 2 * len(cases), torn)
    findings.report("%d torn pages are repaired" % torn)


# Free space maps ----------------------------------------------------------------------------------------------------

def old_map(saved, _):
    return saved


def map_of_a_table(_, of_table):
    """The map of a table of many empty pages: it calls all free, the meta page, pages in use, and some beyond."""
    return of_table


def empty_map(saved, _):
    return bytes(len(saved))


def no_map(*_):
    return None


def noise(saved, _):
    return random.Random(SEED).randbytes(len(saved))


MAPS = (old_map, map_of_a_table, empty_map, no_map, noise)


def cases_of_maps():
    """Each kind of index with a map that was right once, the first also with each other one."""
    pairs = [(kind, lie) for kind in KINDS for lie in MAPS
             if LONG or kind is KINDS[0] or (kind.name == "bits" and lie is map_of_a_table)]
    return {Case(kind, Way(lie.__name__, FREED, WAY["used again"].writes), "m%d" % n): lie
            for n, (kind, lie) in enumerate(pairs)}


def true_map(conn, case):
    """True if the map has the pages that are free, and no other page of the file; and which it has otherwise."""
    if not one(conn, "SELECT count(*) FROM pg_extension WHERE extname = 'pg_freespacemap'"):
        return True, ""
    wrong = conn.execute("""
        SELECT block, kind, free FROM lsh_pages('{index}') WHERE free <> (pg_freespace('{index}', block) > 0)
        """.replace("{index}", case.index)).fetchall()
    return not wrong, wrong[:3]


def free_space_maps(fleet):
    """They are no part of what a crash keeps, and only tell where to look: no page in use is given to another."""
    findings, server, lies = Findings(), fleet.server, cases_of_maps()
    with server.connect("fleet") as conn:
        if one(conn, "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_freespacemap'"):
            conn.execute("CREATE EXTENSION pg_freespacemap")
        for case in lies:
            case.prepare(conn)
        of_table = map_of_empty_pages(server, conn)
        paths = {case: fork_path(server, conn, case, "fsm") for case in lies}
        saved = {case: read_file(path) for case, path in paths.items()}
        for case in lies:
            case.run(conn, case.way.writes)
    server.stop()
    for case, lie in lies.items():
        findings.see(case.name + ": the map changed", read_file(paths[case]) != saved[case])
        put_map(paths[case], lie(saved[case], of_table))
    server.start()
    with server.connect("fleet") as conn:
        for case in lies:
            case.run(conn, GO_ON)
        look_at(findings, "then", conn, lies)
        for case in lies:
            findings.see_none(case.name + ": VACUUM", case.left_by_vacuum(conn))
            findings.see(case.name + ": the map after VACUUM", *true_map(conn, case))
            case.run(conn, (rows(1301, 1500),))
        look_at(findings, "then, and VACUUM", conn, lies)
    findings.report("free space maps that are old, lost or wrong")


def main():
    with Server(SETTINGS_HERE) as server:
        server.start()
        began = time.monotonic()
        fleet = Fleet(server, way_cases(random.Random(SEED), None if LONG else 2))
        print("note: %d cases, prepared in %.1f s" % (len(fleet.cases), time.monotonic() - began), flush=True)
        sections((clean_restart, fleet), (crash, fleet), (crash_before_commit, fleet), (torn_pages, fleet),
                 (free_space_maps, fleet))
        # The server warns of maps that are noise; of pages of an index it would raise errors.
        noise = "page verification failed"
        equal("nothing alarming in the server's log", [line for line in server.alarms() if noise not in line], [])


finish(main)
