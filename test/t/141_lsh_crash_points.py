#!/usr/bin/python3
"""lsh indexes through crashes at chosen points: a flush or a merge that wrote some pages and links none, a merge
between two steps, VACUUM between its phases, CREATE INDEX CONCURRENTLY while it waits. Then the pages are those of
before, the index is sound, has the rows of a sequential scan, and VACUUM frees what was left behind."""
from durability import *

ROUNDS = 8 if FULL else 4 if LONG else 1
SETTINGS_HERE = """
checkpoint_timeout = 1h
full_page_writes = off
bgwriter_lru_maxpages = 0
min_wal_size = 8MB
max_wal_size = 64MB
shared_buffers = 64MB
"""
SEGMENT = 1 << 20  # of WAL: a limit for the index must be above what else a process writes to
MOST_ROOM = 200  # pages
rng = random.Random(int(os.environ.get("NEARDUP_SEED", "141")))


def strike(findings, server, what, case, before):
    """Kills the server, whose pages were these, or None; then the index must be as before, and as it should be."""
    server.kill()
    server.start()
    with server.connect() as conn:
        if before:
            compare_pages(findings, what, before, pages(conn, [case]))
        return case.look(findings, what, conn)


def pages_now(server, case):
    with server.connect() as conn:
        flush_wal(conn)
        return pages(conn, [case]) if can_inspect.known else None


def tidied(findings, server, what, case):
    with server.connect() as conn:
        findings.see_none(what + ": VACUUM", case.left_by_vacuum(conn))
        case.look(findings, what + " and VACUUM", conn)


# A disk that is full ------------------------------------------------------------------------------------------------

def limit_files(server, pid, size):
    """No file that this process writes may become larger."""
    subprocess.run(["prlimit", "--pid", str(pid), "--fsize=%s:" % size], check=True, **server.user)


def with_room(server, case, more, statement):
    """Runs it where the index cannot grow by more pages than that: its error, if any."""
    with server.connect() as conn:
        size = one(conn, "SELECT pg_relation_size('%s')" % case.index)
        if size < SEGMENT:
            raise RuntimeError("other files are larger than the index: %d" % size)
        limit_files(server, conn.info.backend_pid, size + more * PAGE)
        return sql_error(conn, case.sql(statement))


def until_it_fits(findings, server, case, statement, more=0, step=1):
    """With room for more pages each time, or until a merge is stopped within a step; how often it was stopped."""
    what, stopped = statement.split()[0], 0
    while more < MOST_ROOM:
        error = with_room(server, case, more, statement)
        if error is None:
            return stopped
        stopped += 1
        findings.see(what + ": the error", "could not extend file" in str(error), error)
        if more % 5 == 2 and (LONG or stopped < 5):
            strike(findings, server, "%s, room for %d pages" % (what, more), case, pages_now(server, case))
        with server.connect() as conn:
            findings.see_none("%s, room for %d pages: lsh_check" % (what, more), unsound(conn, case.index))
            if one(conn, "SELECT runs > units AND orphan_pages > 0 FROM lsh_info('%s', true)" % case.index):
                return stopped
        more += step
    findings.see(what + " ends", False, "it needs more than %d pages" % MOST_ROOM)
    return stopped


def full_disk(server):
    """Each page that a flush or a merge adds may be one for which there is no room: what it wrote is linked by none."""
    if not shutil.which("prlimit"):
        return skip("no prlimit here: nothing stops a flush in its middle")
    # The table has room for more rows, the index has none.
    before = (rows(1, 6500), "REINDEX INDEX {table}_v", "DELETE FROM {table} WHERE id % 4 = 0", VACUUM)
    case = Case(KIND["sets"], Way("full disk", before, ()), "d")
    case.asked = (3, 300, 30050, 40050)
    findings, stopped = Findings(), []
    with server.connect() as conn:
        case.prepare(conn)
    for number in range(ROUNDS):
        with server.connect() as conn:  # some of what is to be merged is there to stay
            case.run(conn, (rows(35001 + 500 * number, 35120 + 500 * number),))
        statement = rows(30001 + 500 * number, 30250 + 500 * number)
        stopped.append(until_it_fits(findings, server, case, statement, 5, 1 if LONG else 3))
        tidied(findings, server, "INSERT", case)
        strike(findings, server, "INSERT", case, pages_now(server, case))
    # A row with a run of its own, which no later flush takes the place of; none where runs are made small (145).
    error = with_room(server, case, 1, rows(LARGE, LARGE))
    findings.see("large row", error is None or "could not extend file" in str(error), error)
    tidied(findings, server, "large row", case)
    strike(findings, server, "large row", case, pages_now(server, case))
    with server.connect() as conn:
        conn.execute("ALTER INDEX d_v SET (pending_limit = 64)")
        case.run(conn, (rows(40001, 40150),))
    stopped.append(until_it_fits(findings, server, case, VACUUM))
    tidied(findings, server, "VACUUM", case)
    findings.see("they were stopped", all(stopped), stopped)
    findings.report("stopped when there was room for no page, INSERT and VACUUM %s times" % stopped)
    with server.connect() as conn:
        conn.execute("ALTER INDEX d_v SET (pending_limit = 1)")
    between_steps(server, case)


def all_free(findings, server, case):
    """A merge has freed a part of the pages. A map calls all of them free; new pages are added."""
    with server.connect() as conn:
        conn.execute("ALTER INDEX d_v SET (pending_limit = 64)")
        path, content = fork_path(server, conn, case, "fsm"), map_of_empty_pages(server, conn)
    server.stop()
    put_map(path, content)
    server.start()
    with server.connect() as conn:
        findings.see("the merge is still under way", one(conn, "SELECT runs > units FROM lsh_info('d_v')"))
        case.run(conn, (rows(70_001, 72_200),))
        case.look(findings, "all free", conn)


def between_steps(server, case):
    """A merge goes on in steps: the server is killed after one that is not the last, in a transaction."""
    findings, conn = Findings(), server.connect()
    conn.execute("BEGIN")
    for batch in range(200):
        case.run(conn, (rows(50_000 + 100 * batch, 50_099 + 100 * batch),))
        if one(conn, "SELECT runs > units FROM lsh_info('d_v')"):
            break
    findings.see("a merge is under way", batch < 199)
    strike(findings, server, "between steps", case, pages_now(server, case))
    conn.close()
    all_free(findings, server, case)
    tidied(findings, server, "between steps", case)
    findings.report("killed between two steps of a merge")


# VACUUM -------------------------------------------------------------------------------------------------------------

STATE = """
    SELECT (SELECT phase FROM pg_stat_progress_vacuum WHERE pid = {pid}) AS phase,
        coalesce(sum(entries) FILTER (WHERE first_key > 0), 0) AS listed,
        coalesce(sum(entries) FILTER (WHERE first_key = 0), 0) AS in_rosters,
        (SELECT runs > units FROM lsh_info('{index}')) AS merging
    FROM lsh_pages('{index}') WHERE kind LIKE 'leaf%' AND live
    """
IN_INDEX = "vacuuming indexes"


class State(NamedTuple):
    """The state of an index and of the VACUUM that works on it."""
    phase: str
    listed: int
    in_rosters: int
    merging: bool


# The states of the index, and those when VACUUM began.
PHASES = (
    ("some lists are swept", lambda now, was: now.phase == IN_INDEX and now.listed < was.listed),
    ("rosters are swept", lambda now, was: now.phase == IN_INDEX and now.in_rosters < was.in_rosters),
    ("the index is swept, the table is not", lambda now, was: now.phase == "vacuuming heap"),
    ("the index is cleaned up", lambda now, was: now.phase == "cleaning up indexes"),
    ("it merges", lambda now, was: now.phase == "cleaning up indexes" and now.merging),
)


def state_of_index(conn, case, pid):
    return State(*conn.execute(STATE.replace("{pid}", str(pid)).replace("{index}", case.index)).fetchone())


def reached(server, case, is_there):
    """VACUUM has come there: its task, which waits at each page for a moment; None where it ended before."""
    with server.connect() as conn:
        task = Task(server, case.sql(VACUUM), "SET vacuum_cost_delay = '4ms'; SET vacuum_cost_limit = 1")
        was = state_of_index(conn, case, task.pid)
        while task.is_alive():
            if is_there(state_of_index(conn, case, task.pid), was):
                return task
    task.close()
    return None


def vacuum_phases(server):
    findings, hit = Findings(), []
    kinds = [kind for kind in KINDS if LONG or kind.name in ("minhash", "columns")]
    for number, (what, is_there) in enumerate(PHASES):
        for kind in kinds if LONG else (kinds[number % len(kinds)],):
            case = Case(kind, Way(what, WAY["VACUUM"].before, ()), "v%s%d" % (kind.name, number))
            with server.connect() as conn:
                case.prepare(conn)
                conn.execute("CHECKPOINT")
            task = reached(server, case, is_there)
            hit += [what] * (task is not None)
            strike(findings, server, "VACUUM", case, None)
            tidied(findings, server, "VACUUM", case)
            with server.connect() as conn:
                conn.execute("DROP TABLE " + case.table)
    findings.see("phases were hit", len(set(hit)) > len(PHASES) - 2, set(hit))
    findings.report("killed in VACUUM, at %d of %d phases" % (len(set(hit)), len(PHASES)))


# CREATE INDEX CONCURRENTLY ------------------------------------------------------------------------------------------

def read_phase(conn, pid):
    return conn.execute("SELECT phase FROM pg_stat_progress_create_index WHERE pid = %s", [pid]).fetchone()


def wait_for_phase(conn, task, phase):
    wait_for(lambda: read_phase(conn, task.pid) == (phase,) or not task.is_alive(), phase)
    return task.is_alive()


def killed_in_concurrent_build(findings, server, case, phase):
    """Writers hold it up, before it builds and before it looks at what it has built, and an old snapshot at its end."""
    conn, first, second, old = sessions = [server.connect() for _ in range(4)]
    for session in (first, old):
        session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        session.execute("SELECT count(*) FROM " + case.table)
    case.run(first, (rows(2001, 2001),))
    task = Task(server, case.sql("{create_concurrently}"))
    findings.see("it waits", wait_for_phase(conn, task, "waiting for writers before build"))
    case.run(second, ("BEGIN", rows(2002, 2002)))
    first.execute("COMMIT")
    findings.see("it waits again", wait_for_phase(conn, task, "waiting for writers before validation"))
    case.run(conn, (rows(3001, 3200),))  # these go into the index that is not valid yet
    if phase == "waiting for old snapshots":
        second.execute("COMMIT")
        findings.see("it waits for a snapshot", wait_for_phase(conn, task, phase))
        case.run(conn, (rows(3201, 3300),))
    before = pages_now(server, case)
    server.kill()
    for session in sessions:
        session.close()
    task.close()
    server.start()
    with server.connect() as conn:
        compare_pages(findings, phase, before or {}, pages(conn, [case]) if before else {})
        case.run(conn, ("REINDEX INDEX CONCURRENTLY {table}_v", rows(4001, 4100)))
        case.look(findings, phase, conn)


def concurrent_build(server):
    findings = Findings()
    for kind in KINDS if LONG else (KIND["sets"],):
        if kind.name == "constraint":
            continue
        for number, phase in enumerate(("waiting for writers before validation", "waiting for old snapshots")):
            case = Case(kind, Way(phase, (rows(1, 500), "{drop}"), ()), "b%s%d" % (kind.name, number))
            with server.connect() as conn:
                case.prepare(conn)
            killed_in_concurrent_build(findings, server, case, phase)
    findings.report("killed in CREATE INDEX CONCURRENTLY")


def main():
    with Server(SETTINGS_HERE, initdb=("--wal-segsize=1",)) as server:
        server.start()
        with server.connect() as conn:
            conn.execute(SCHEMA)
            can_inspect(conn)
        sections((full_disk, server), (vacuum_phases, server), (concurrent_build, server))
        equal("nothing alarming in the server's log", server.alarms(), [])


finish(main)
