"""A model of how the index access method lsh works on its pages. test/t/110_lsh_model.py runs it.

What is here. Pages carry the id of their owner; block 0 is the directory, which says what these ids are: pending pages,
and sorted runs of entries (key, TID) of which those in [lo, hi) count. Inserts append rows to the last pending page, or
put a row that fits into no page into a run; maintenance flushes closed pending pages into a run and merges runs step by
step; vacuum removes dead rows; cleanup finds pages that nobody owns; readers count hits per row or list all rows.
Nothing else is here: no bytes, no planner, no parameters, and keys, pages and limits are small, so that every boundary
is met often.

How to read it. Whoever works on the index is a generator. What it does between two yields is what the C++ does without
letting go of a content lock: it yields where others can get in, or where it may be killed. `World.record` is one WAL
record. Killed: the locks go, what was recorded stays. A crash takes everybody, and the last records that no commit had
flushed. A standby's readers see what readers see here, the state after each record; they are not modelled apart.

What it checks. A reader: each row that was committed before it began, and is not deleted since, is found once, with
exactly its keys. A vacuum: it meets each such row once, and no entry of what it removed counts any more. And at any
time what lsh_check looks at: `check_index`. `w.wrong(name)`: a mistake that the test plants, and must see noticed.
"""
import random
from collections import Counter, defaultdict, namedtuple

ROSTER = 0  # the key under which each row has its TID once
KEYS, ROW_KEYS = 20, 5  # other keys are 1..KEYS; a row has up to ROW_KEYS of them, or none
LARGE_ROW_KEYS = (9, 14)  # of a large row, at least and at most: with its roster entry it fits into no pending page
LEAF_ENTRIES, FANOUT = 5, 4  # FANOUT: children of an inner page, and of the root of a merge's output
BUDGET = FANOUT  # leaves that a merge step writes: so that it needs one new inner page at most
PENDING_ENTRIES, MOST_PENDING = 9, 6
MOST_WAITS = 8  # rounds of maintenance after which an insert must have found room
PENDING_LIMIT = 2  # closed pending pages that an inserter flushes
MOST_RUNS = 24  # slots of the directory
CROWDED = 18  # runs from which on only merges, whose outputs and siblings need slots, may add one
ROOMY = 10  # most runs that a vacuum freezes
PATIENCE, ROSTER_BATCH = 4, 6  # PATIENCE: restarts after which a reader keeps maintenance away

MIN, MAX, NO_TID = (0, 0), (KEYS + 1, 0), 10**9  # NO_TID: above all TIDs

PENDING, INNER, LEAF = "pending", "inner", "leaf"
BUILDING, LIVE, OUTPUT, INPUT = "building", "live", "output", "input"
RUNNING, COMMITTED, DEAD = "running", "committed", "dead"

# owner 0: nobody. body: (TID, keys) of pending rows; (fence, block) of children; (key, TID) of a leaf's entries.
# closed: of a pending page: no row is added any more.
Page = namedtuple("Page", "owner kind body closed", defaults=(False,))
ZERO = Page(0, "zero", ())
Slot = namedtuple("Slot", "id block")  # of a pending page
# Runs of one unit hold parts of the same rows. height 1: the root lists leaves; 2: inner pages; fixed at the start.
Run = namedtuple("Run", "id unit state lo hi root height")
Row = namedtuple("Row", "keys state")  # in the heap. Rows that have a TID in turn, or a row deleted, are other objects.


class Violation(Exception):
    """The protocol broke a promise."""


class Outdated(Violation):
    """A page contradicts the directory. A reader's may be old; to others, who keep theirs up, it is corruption."""


def need(good, what, *about):
    if not good:
        raise Violation(" ".join(map(str, (what,) + about)))


class Directory(namedtuple("Directory", "next_id change horizon runs pending")):
    """The meta page. One content lock reads all of it, so a copy is a state that the index was in."""

    def changed(self, put=(), drop=(), **more):
        runs = {**self.runs, **{run.id: run for run in put}}
        for run in drop:
            runs.pop(run.id, None)
        return self._replace(runs=runs, change=self.change + 1, **more)

    def tail(self):
        return self.pending[-1] if self.pending else None

    def units(self):
        """Unit -> its runs. A run that is being built belongs to none yet."""
        units = defaultdict(list)
        for run in self.runs.values():
            if run.state != BUILDING:
                units[run.unit].append(run)
        return units

    def new_unit(self):
        """Numbers of units return, for a reader uses them within one directory only."""
        used = {run.unit for run in self.runs.values()}
        return next(n for n in range(len(used) + 1) if n not in used)


class Lock:
    """A heavyweight lock. Callers wait by trying again."""

    def __init__(self):
        self.owner, self.sharers = None, set()

    def acquire(self, me, share=False):
        if self.owner not in (None, me) or not share and self.sharers - {me}:
            return False
        if share:
            self.sharers.add(me)
        else:
            self.owner = me
        return True

    def drop(self, me, share=False):
        if share:
            self.sharers.discard(me)
        elif self.owner is me:
            self.owner = None


class World:
    """The file, the heap, the locks, and what the last records of the WAL replaced."""

    def __init__(self, seed, planted):
        self.random, self.planted = random.Random(seed), planted
        self.disk = defaultdict(lambda: ZERO, {0: Directory(1, 0, 0, {}, ())})
        self.blocks = 1  # length of the file
        self.heap = {}  # TID -> Row; None: unused
        self.undo = []  # per record that no flush covers: its pages and rows as they were
        self.locked = {}  # block -> the actor that keeps it locked across a yield
        self.maint, self.vac = Lock(), Lock()
        self.most_merges = self.random.choice((1, 2))  # at a time: classes of runs, in the C++
        self.known_free = self.random.choice((0.95, 0.6))  # how often the free space map knows a free page
        self.merge_steps = self.random.choice(((1, 2), (1, 4, 8)))  # after a flush
        self.counts = Counter()

    @property
    def meta(self):
        return self.disk[0]

    def wrong(self, mistake):
        return mistake in self.planted

    def committed(self):
        """TID -> row: those that a reader may not miss, while w.heap[tid] is that row."""
        return {tid: row for tid, row in self.heap.items() if row and row.state == COMMITTED}

    def record(self, pages, rows=()):
        """Replaces pages (by block) and rows (by TID) in one WAL record; unlocks the pages."""
        need(len(pages) <= 4, "a record has more pages than generic WAL takes")
        old = {block: self.disk[block] for block in pages}
        self.undo.append((old, {tid: self.heap.get(tid) for tid in rows}))
        if 0 in pages:
            need(len(pages[0].runs) <= MOST_RUNS, "the directory is full")
            for run in pages[0].runs.values():
                need(run.lo >= old[0].runs.get(run.id, run).lo, "lo falls; but what is free must stay so:", run)
        self.disk.update(pages)
        self.heap.update(rows)
        for block in pages:
            self.locked.pop(block, None)

    def crash(self):
        """Records that no flush covers may be lost, the last ones first; and zero pages at the end of the file."""
        for _ in range(self.random.randint(0, len(self.undo))):
            pages, rows = self.undo.pop()
            self.disk.update(pages)
            self.heap.update(rows)
            self.counts["records lost"] += 1
        self.undo.clear()
        self.heap.update({t: r._replace(state=DEAD) for t, r in self.heap.items() if r and r.state == RUNNING})
        while self.disk[self.blocks - 1] is ZERO and self.random.random() < 0.5:
            self.blocks -= 1

    def look(self, block):
        """The page, under a content lock that lasts until the caller's next yield."""
        yield
        while block in self.locked:
            yield
        return self.disk[block]

    def draw_id(self):
        """(a new id, next_id after it): for the record that lists the id."""
        new = self.meta.next_id
        if self.wrong("ids-return"):
            used = {*self.meta.runs, *(slot.id for slot in self.meta.pending)}
            new = next(n for n in range(1, new + 1) if n not in used)
        return new, max(new + 1, self.meta.next_id)

    def free(self, page, directory):
        """True if nobody needs the page. What is free stays so until someone takes it, so an old copy of the directory
        errs on the safe side."""
        if page.owner == 0:
            return True
        if page.owner >= directory.next_id and not self.wrong("alloc-ignores-next-id"):
            return False
        run = directory.runs.get(page.owner)
        if run is None:
            return all(slot.id != page.owner for slot in directory.pending)
        if run.state != INPUT or page.kind != LEAF:
            return False
        if not page.body:  # it may lie above lo, where its link is still followed
            return self.wrong("alloc-takes-empty-leaves")
        return page.body[0 if self.wrong("alloc-looks-at-first") else -1] < run.lo

    def alloc(self, me):
        """A free page, locked by `me`. The free space map may say anything, or nothing: any free block may come."""
        directory = self.meta
        yield
        start = self.random.randrange(self.blocks)
        for i in range(self.blocks if self.random.random() < self.known_free else 0):
            block = (start + i) % self.blocks
            if block == 0 or block in self.locked or not self.free(self.disk[block], directory):
                continue
            if self.wrong("alloc-tests-unlocked"):
                yield from self.look(block)
            self.locked[block] = me
            self.counts["pages used again"] += self.disk[block] is not ZERO
            return block
        while True:
            block = self.blocks
            self.blocks += 1
            page = yield from self.look(block)  # others can see the new block before its maker has locked it
            if self.free(page, directory) or self.wrong("alloc-extends-unlocked"):
                self.locked[block] = me
                return block

    def write(self, me, page):
        block = yield from self.alloc(me)
        self.record({block: page})
        return block

    def write_leaves(self, me, run, entries, most):
        """Packs entries into at most `most` leaves: ([(fence, block)], number of entries packed)."""
        for one, two in zip(entries, entries[1:]):
            need(one < two, "an entry comes twice", one, two)
        links, done = [], 0
        while done < len(entries) and len(links) < most:
            body = tuple(entries[done : done + self.random.randint(LEAF_ENTRIES - 2, LEAF_ENTRIES)])
            links.append((body[0], (yield from self.write(me, Page(run.id, LEAF, body)))))
            done += len(body)
        return links, done

    def leaves(self, run, lo, hi):
        """(fence, block) of the run's leaves that may have entries in [lo, hi)."""
        level = [(MIN, run.root)]
        for _ in range(run.height):
            below = []
            for _, block in level:
                page = yield from self.look(block)
                if page.owner != run.id or page.kind != INNER:
                    raise Outdated("corruption: a tree page is another's %s %s" % (run, page))
                below += page.body
            ends = [fence for fence, _ in below[1:]] + [MAX]
            level = [link for link, end in zip(below, ends) if link[0] < hi and end > lo]
        return level

    def leaf(self, run, fence, block, directory):
        """A leaf's entries. A leaf across lo may be another's by now, and counts as empty: a merge took its last entry,
        or a vacuum removed what it had above lo."""
        page = yield from self.look(block)
        if page.owner == run.id and page.kind == LEAF or directory and self.wrong("reader-trusts-blocks"):
            return page.body if page.kind == LEAF else ()
        yield
        if directory and self.meta.change != directory.change:
            raise Outdated
        need(fence < run.lo and not self.wrong("no-straddlers"), "corruption: a leaf is another's", run, fence, page)
        self.counts["straddlers"] += 1
        return ()

    def entries(self, run, lo, hi, directory=None, most=NO_TID):
        """The run's entries in [lo, hi) that count: all, or the first `most` and perhaps more.
        directory: what a reader has taken the run from. None: the caller keeps the run as it is (has MAINT, or is a
        vacuum and the run below its horizon), and must not look at `change`, which inserts move at any time."""
        lo = lo if directory and self.wrong("reader-ignores-lo") else max(lo, run.lo)
        hi = hi if directory and self.wrong("reader-ignores-hi") else min(hi, run.hi)
        found = []
        for fence, block in (yield from self.leaves(run, lo, hi)) if lo < hi else ():
            found += [e for e in (yield from self.leaf(run, fence, block, directory)) if lo <= e < hi]
            if len(found) >= most:
                break
        return found

    def read_pending(self, directory):
        rows = []
        for slot in directory.pending:
            page = yield from self.look(slot.block)
            if page.owner != slot.id and not self.wrong("reader-trusts-blocks"):
                raise Outdated
            rows += page.body if page.kind == PENDING else ()
        return rows


# Insert, flush, merge ------------------------------------------------------------------------------------------------

def entry_count(rows):
    return sum(1 + len(keys) for _, keys in rows)


def insert(w, me, tid):
    """Puts the row into the index, then commits."""
    item = (tid, w.heap[tid].keys)
    if entry_count([item]) > PENDING_ENTRIES:
        yield from insert_large(w, me, item)
    else:
        yield from insert_pending(w, me, item)
    yield
    w.record({}, {tid: w.heap[tid]._replace(state=COMMITTED)})
    if w.random.random() < 0.5:  # else synchronous_commit = off
        w.undo.clear()
    w.counts["inserts"] += 1


def insert_large(w, me, item):
    """A row that fits into no pending page: a flush takes it, with the closed pages, into a run."""
    for _ in range(MOST_WAITS):
        taken = yield from maintain(w, me, large=item)
        if taken or w.wrong("large-row-put-off"):
            w.counts["large rows"] += 1
            return
    raise Violation("an insert of a large row waits for a vacuum, or for nothing")


def insert_pending(w, me, item):
    """Puts the row into the last pending page, or into a new one; then maintenance."""
    waited = 0
    while True:
        tail = w.meta.tail()
        if tail:
            page = yield from w.look(tail.block)
            if page.owner != tail.id or page.closed and w.wrong("insert-waits-for-closed"):
                continue
            # A closed tail is as good as full: the vacuum that closed it may have died before its flush.
            fits = entry_count(page.body + (item,)) <= PENDING_ENTRIES
            if fits and (not page.closed or w.wrong("insert-ignores-closed")):
                w.record({tail.block: page._replace(body=page.body + (item,))})
                break
        yield
        if len(w.meta.pending) >= MOST_PENDING:
            waited += 1
            need(waited < MOST_WAITS, "an insert waits for a vacuum, or for nothing")
            yield from maintain(w, me)
            continue
        block = yield from w.alloc(me)
        if w.wrong("insert-drops-lock"):
            w.locked.pop(block)
        yield
        if w.meta.tail() != tail:
            w.locked.pop(block, None)
            continue
        new, next_id = w.draw_id()
        pending = w.meta.pending + (Slot(new, block),)
        pages = {0: w.meta.changed(next_id=next_id, pending=pending), block: Page(new, PENDING, (item,))}
        # Closed in the same record: flush relies on it that only the last page can change.
        if tail and not w.wrong("insert-leaves-open"):
            pages[tail.block] = w.disk[tail.block]._replace(closed=True)
        w.record(pages)
        break
    yield
    if len(w.meta.pending) > PENDING_LIMIT and w.maint.acquire(me):
        yield from maintain(w, me)


def maintain(w, me, fans=(2, 3), large=None):
    """A flush, and at least one step of a merge: else maintenance that is short of time fills the directory. When that
    is crowded, merges come first: maintenance may be killed after its flush again and again. Returns whether it
    flushed, with the row `large`."""
    while not w.maint.acquire(me):
        yield
    crowded = len(w.meta.runs) >= CROWDED
    flushes = not crowded or w.wrong("flush-when-crowded")
    if flushes:
        yield from flush(w, me, large)
    for _ in range(12 if crowded else w.random.choice(w.merge_steps)):
        yield from merge_step(w, me, w.random.choice(fans))
    w.maint.drop(me)
    return flushes


def flush(w, me, large=None):
    """The closed pending pages, and the row `large`, become a run. Under MAINT."""
    yield
    dead = [run for run in w.meta.runs.values() if run.state == BUILDING]
    if dead:  # of a flush that did not end
        w.record({0: w.meta.changed(drop=dead)})
    yield
    slots = w.meta.pending
    if slots and not (yield from w.look(slots[-1].block)).closed:
        slots = slots[:-1]
    rows = [large] if large else []
    if not slots and not rows:
        return
    yield
    new, next_id = w.draw_id()
    run = Run(new, w.meta.new_unit(), BUILDING, MIN, MIN, 0, 1)
    # Listed before its first page is written: a page whose owner is not listed is free.
    w.record({0: w.meta.changed(put=() if w.wrong("flush-unlisted") else [run], next_id=next_id)})
    for slot in slots:
        page = yield from w.look(slot.block)
        need(page.owner == slot.id, "corruption: a pending page is another's", slot, page)
        rows += page.body
    entries = [(key, tid) for tid, keys in rows for key in (ROSTER,) + keys]
    links, _ = yield from w.write_leaves(me, run, sorted(entries), len(entries))
    root = yield from w.write(me, Page(new, INNER, tuple(links)))
    yield
    run = run._replace(state=LIVE, hi=MAX, root=root)
    if w.wrong("flush-two-records"):
        w.record({0: w.meta.changed(put=[run])})
        yield
    w.record({0: w.meta.changed(put=[run], pending=tuple(slot for slot in w.meta.pending if slot not in slots))})
    w.counts["flushes"] += 1


def merge_step(w, me, fan):
    """Begins a merge of `fan` units (0: does not), or moves one on. Under MAINT. Which one is policy: chance, here.
    Units that a vacuum has frozen are left out first of all. If they were among those that count as merges at work, or
    that the next merge is made of, younger runs would have to wait for the vacuum, and fill the directory."""
    yield
    old_may_move = w.vac.acquire(me, share=True) or w.wrong("merge-ignores-vacuum")
    units = w.meta.units()
    able = [u for u, runs in units.items() if old_may_move or all(run.id >= w.meta.horizon for run in runs)]
    merging = [u for u, runs in units.items() if any(run.state == OUTPUT for run in runs)]
    idle, movable = [u for u in able if u not in merging], [u for u in able if u in merging]
    at_work = merging if w.wrong("merge-waits-frozen") else movable
    if fan and len(at_work) < w.most_merges and len(idle) >= fan and w.random.random() < 0.6:
        yield from begin_merge(w, me, w.random.sample(idle, fan))
    elif movable:
        yield from move_on(w, me, w.random.choice(movable))
    w.vac.drop(me, share=True)


def begin_merge(w, me, units):
    block = yield from w.alloc(me)
    yield
    new, next_id = w.draw_id()
    unit = w.meta.new_unit()
    runs = [run._replace(state=INPUT, unit=unit) for run in w.meta.runs.values() if run.unit in units]
    runs.append(Run(new, unit, OUTPUT, MIN, MIN, block, 2))
    w.record({0: w.meta.changed(put=runs, next_id=next_id), block: Page(new, INNER, ())})


def move_on(w, me, unit):
    """Moves the next entries of the inputs to the output. One record makes them count here and no more there."""
    runs = w.meta.units()[unit]
    output = next(run for run in runs if run.state == OUTPUT)
    inputs = [run for run in runs if run.state == INPUT]
    root = yield from w.look(output.root)
    last = (yield from w.look(root.body[-1][1])) if root.body else None
    room_in_last = FANOUT - len(last.body) if last else 0
    room = (FANOUT - len(root.body)) * FANOUT + room_in_last
    if room == 0:
        yield from open_sibling(w, me, output)
        return
    entries = []
    for run in inputs:  # one more than fits comes from each that has it: so some are left over unless all are exhausted
        entries += yield from w.entries(run, MIN, MAX, most=BUDGET * LEAF_ENTRIES + 1)
    entries.sort()
    links, done = yield from w.write_leaves(me, output, entries, min(BUDGET, room))
    cursor = (entries[done - 1][0], entries[done - 1][1] + 1) if done < len(entries) else MAX
    old, new = tuple(links[:room_in_last]), tuple(links[room_in_last:])
    pages = {root.body[-1][1]: last._replace(body=last.body + old)} if old else {}
    if new:
        block = yield from w.alloc(me)
        pages[block] = Page(output.id, INNER, new)
        pages[output.root] = root._replace(body=root.body + ((new[0][0], block),))
    yield
    # An input with hi at or below the cursor has nothing left: it leaves early. A sibling may lie above the cursor.
    gone = [run for run in inputs if run.hi <= cursor]
    moved = [run._replace(lo=max(run.lo, cursor)) for run in inputs if run.hi > cursor]
    if w.wrong("merge-lowers-lo"):
        moved = [run._replace(lo=cursor) for run in moved]
    output = output._replace(state=OUTPUT if moved else LIVE, hi=cursor)
    # A vacuum may have left nothing for the output.
    put, drop = ([output], gone) if root.body or links else ([], gone + [output])
    if w.wrong("merge-two-records"):
        w.record({0: w.meta.changed(put=put), **pages})
        yield
        pages, put = {}, []
    w.record({0: w.meta.changed(put=put + moved, drop=drop), **pages})
    w.counts["inputs gone early"] += len(gone) if moved else 0
    w.counts["merges"] += not moved


def open_sibling(w, me, output):
    """The output's tree is full: it stays as it is, and a sibling of the same unit goes on where it ends. In a record
    of its own, since that of a step has four pages already."""
    block = yield from w.alloc(me)
    yield
    new, next_id = w.draw_id()
    full = output._replace(state=LIVE, unit=w.meta.new_unit() if w.wrong("merge-splits-units") else output.unit)
    sibling = Run(new, output.unit, OUTPUT, output.hi, output.hi, block, 2)
    w.record({0: w.meta.changed(put=[full, sibling], next_id=next_id), block: Page(new, INNER, ())})
    w.counts["siblings"] += 1


# Vacuum, cleanup -----------------------------------------------------------------------------------------------------

def vacuum(w, me):
    """The heap's list of dead rows; the index without them; their TIDs free for new rows; cleanup."""
    dead = {tid for tid, row in w.heap.items() if row and row.state == DEAD}
    yield from bulk_delete(w, me, dead)
    for tid in dead:
        yield
        w.record({}, {tid: None})
    w.counts["vacuums"] += 1
    yield from cleanup(w, me)


def bulk_delete(w, me, dead):
    expected, met = w.committed(), []
    yield
    while not w.vac.acquire(me):
        yield
    while True:
        while not w.maint.acquire(me):
            yield
        # With few units a merge would not make room: then they are large, and have many siblings.
        if len(w.meta.runs) <= ROOMY or len(w.meta.units()) < 3 or w.wrong("flush-when-crowded"):
            break
        yield from maintain(w, me)
    too_early = w.meta.next_id
    tail = w.meta.tail()
    if tail:
        page = yield from w.look(tail.block)
        w.record({tail.block: page._replace(closed=True)})
    yield from flush(w, me)
    yield
    w.record({0: w.meta._replace(horizon=too_early if w.wrong("vacuum-fixes-early") else w.meta.next_id)})
    runs = [run for run in w.meta.runs.values() if run.id < w.meta.horizon]
    w.maint.drop(me)
    me.patient = True  # nobody may have to wait for what follows
    # All rows of `dead` are in these runs, and the runs stay as they are. With little memory: TIDs part by part.
    middle = w.random.choice((0, w.random.randint(0, len(w.heap))))
    for low, high in ((0, middle), (middle, NO_TID)):
        for run in runs:
            met += [tid for _, tid in (yield from w.entries(run, (ROSTER, low), (ROSTER, high)))]
        found = dead.intersection(met)
        # Rosters last: by them the next vacuum finds what this one leaves if it dies.
        for rosters in (True, False) if w.wrong("vacuum-rosters-first") else (False, True):
            for run in runs if found else ():
                yield from sweep(w, run, found, rosters)
    w.vac.drop(me)
    me.patient = False
    # CREATE INDEX CONCURRENTLY takes what it does not meet here for missing.
    for tid, row in expected.items():
        need(w.heap[tid] is not row or met.count(tid) == 1, "a vacuum does not meet a row once:", tid)
    left = dead.intersection(check_index(w))
    need(not left, "vacuum left entries of rows:", left)


def sweep(w, run, found, rosters):
    """Removes the entries of the rows `found` from a run's leaves: their roster entries, or all others."""

    def keep(entry):
        return entry[1] not in found or (entry[0] == ROSTER) != rosters

    for _, block in (yield from w.leaves(run, run.lo, run.hi)):
        page = yield from w.look(block)
        if page.owner != run.id or all(map(keep, page.body)):
            continue
        for _ in range(w.random.choice((0, 0, 0, 20))):  # few get in here: so it takes long at times
            yield
        page = yield from w.look(block)  # now locked for writing; in between someone may have taken it
        if page.owner == run.id or w.wrong("vacuum-trusts-link"):
            w.record({block: page._replace(owner=run.id, body=tuple(filter(keep, page.body)))})


def cleanup(w, me):
    """Merges, to the end if nobody begins others; then gives back the pages of steps that died, of complete runs."""
    yield from maintain(w, me, fans=(0, 1, 2))  # 1: a run with much room is merged with itself
    for _ in range(w.random.choice((0, 20))):
        yield from maintain(w, me, fans=(0,))
    yield
    directory = w.meta
    reachable = {slot.block for slot in directory.pending}
    runs = [run for run in directory.runs.values() if run.state != BUILDING]
    for run in runs:
        reachable.add(run.root)
        for height in range(1, run.height + 1):
            try:
                reachable |= {block for _, block in (yield from w.leaves(run._replace(height=height), MIN, MAX))}
            except Outdated:  # the run is gone meanwhile: its pages are free without our help
                break
    complete = {run.id for run in runs if run.state != OUTPUT or w.wrong("cleanup-stamps-outputs")}
    for block in range(1, w.blocks):
        yield
        page = w.disk[block]
        if page.owner in complete and block not in reachable and block not in w.locked:
            w.record({block: page._replace(owner=0)})
            w.counts["orphans"] += 1


# Readers -------------------------------------------------------------------------------------------------------------

def with_directory(w, me, work):
    """work(the meta page, and again for `entries`) until no page contradicts the directory that it began with."""
    primary = w.random.random() < 0.7  # a standby's readers cannot keep maintenance away
    for attempt in range(10**6):
        sheltered = primary and attempt >= PATIENCE
        while sheltered and not w.maint.acquire(me, share=True):
            yield
        yield
        directory = w.meta
        try:
            keeps = sheltered and not w.wrong("reader-restarts-sheltered")
            result = yield from work(directory, None if keeps else directory)
            break
        except Outdated:
            need(not sheltered, "a reader restarts although it keeps maintenance away")
            yield
            need(w.meta.change != directory.change, "corruption: a page contradicts a current directory")
            w.counts["restarts"] += 1
    w.maint.drop(me, share=True)
    w.counts["sheltered scans"] += sheltered
    return result


def count_hits(w, me):
    """Counts a query's keys in each row; sometimes in two passes over ranges of TIDs, as with little memory."""
    expected = w.committed()
    query = [ROSTER] + w.random.sample(range(1, KEYS + 1), 3)
    middle = w.random.choice((0, 0, w.random.randint(0, len(w.heap))))
    for low, high in ((middle, NO_TID), (0, middle))[: 2 if middle else 1]:
        places = yield from with_directory(w, me, lambda *now: collect(w, *now, query, low, high))
        for tid, row in expected.items():
            if low <= tid < high and w.heap[tid] is row:
                want = [[key for key in query if key == ROSTER or key in row.keys]]
                got = [sorted(keys, key=query.index) for keys in places[tid].values()]
                need(got == want, "a reader counts wrongly: TID", tid, "got", got, "want", want)
    w.counts["counting scans"] += 1


def collect(w, directory, moving, query, low, high):
    """TID -> unit, or PENDING -> its keys in the query."""
    places = defaultdict(lambda: defaultdict(list))
    tasks = [run for run in directory.runs.values() if run.state != BUILDING] + [None]
    w.random.shuffle(tasks)
    for run in tasks:
        if run is None:
            for tid, keys in (yield from w.read_pending(directory)):
                places[tid][PENDING] += [key for key in query if key == ROSTER or key in keys]
        for key in query if run else ():
            for _, tid in (yield from w.entries(run, (key, low), (key, high), moving)):
                places[tid][run.id if w.wrong("reader-counts-per-run") else run.unit].append(key)
    return places


def list_rows(w, me):
    """Every row by the rosters, in TID order, a batch at a time, each with a directory of its own."""
    expected, returned, last = w.committed(), set(), 0
    while True:
        tids = yield from with_directory(w, me, lambda *now: roster_batch(w, *now, last + 1))
        for one, two in zip(tids, tids[1:]):  # a row that goes, and the next row of its TID, may both be there
            need(one < two or w.heap[one] is not expected.get(one), "a roster scan meets a row twice:", one)
        batch = sorted(set(tids))[:ROSTER_BATCH]
        need(returned.isdisjoint(batch), "a roster scan returns TIDs again:", batch)
        returned.update(batch)
        if len(batch) < ROSTER_BATCH:
            break
        last = 0 if w.wrong("roster-starts-again") else tids[-1] if w.wrong("roster-skips") else batch[-1]
    for tid, row in expected.items():
        need(w.heap[tid] is not row or tid in returned, "a roster scan loses a row:", tid)
    w.counts["roster scans"] += 1


def roster_batch(w, directory, moving, first):
    tids = [tid for tid, _ in (yield from w.read_pending(directory)) if tid >= first]
    for run in directory.runs.values():
        if run.state != BUILDING:
            found = yield from w.entries(run, (ROSTER, first), (ROSTER, NO_TID), moving, most=ROSTER_BATCH)
            tids += [tid for _, tid in found[:ROSTER_BATCH]]
    return sorted(tids)


# Checks --------------------------------------------------------------------------------------------------------------

def check_index(w, quiet=False):
    """Checks what lsh_check does, and that every committed row is in one place with its keys. Returns TID -> unit ->
    keys. quiet: nobody is at work and cleanup has run, so every page is in use or free; unless a merge is under way,
    whose inputs may still have links to pages that others took and left, which keeps cleanup from finding these."""
    meta, used = w.meta, {0}
    places = defaultdict(lambda: defaultdict(list))

    def use(block, owner, kind):
        page = w.disk[block]
        need(page.owner == owner and page.kind == kind, "a page is not what its link says:", block, page)
        need(block not in used, "a page is linked twice:", block, page)
        need(not w.free(page, meta), "a page in use is free:", block, page)
        used.add(block)
        return page

    need(all(n < meta.next_id for n in [*meta.runs, *(slot.id for slot in meta.pending)]), "an id is above next_id")
    for slot in meta.pending:
        page = use(slot.block, slot.id, PENDING)
        need(page.closed or slot == meta.tail(), "a pending page is open:", slot)
        for tid, keys in page.body:
            places[tid][PENDING] += (ROSTER,) + keys
    for unit, runs in meta.units().items():
        check_bounds(runs)
        for run in runs:
            links = [(MIN, run.root)]
            for _ in range(run.height):
                links = [link for _, block in links for link in use(block, run.id, INNER).body]
            ends = [fence for fence, _ in links[1:]] + [MAX]
            for (fence, block), end in zip(links, ends):
                need(fence < end and fence < run.hi, "fences out of order:", run, fence, end)
                page = w.disk[block]
                own = page.owner == run.id and page.kind == LEAF
                body = [entry for entry in page.body if run.lo <= entry < run.hi] if own else []
                if end <= run.lo or fence < run.lo and not body:
                    continue  # nothing in it counts: it may be another's
                use(block, run.id, LEAF)
                need(not page.body or fence <= page.body[0], "an entry below its fence:", fence, page)
                after = page.body[1:] + (end,)
                need(all(one < two for one, two in zip(page.body, after)), "entries out of order:", page, end)
                for key, tid in body:
                    places[tid][unit].append(key)
    for tid, units in places.items():
        need(w.heap.get(tid), "entries of an unused TID:", tid, dict(units))
        for unit, keys in units.items():
            need(keys.count(ROSTER) == 1, "a row is not in its unit's roster once:", tid, unit, keys)
    for tid, row in w.committed().items():
        got = [sorted(keys) for keys in places[tid].values()]
        need(got == [sorted((ROSTER,) + row.keys)], "a row is lost, doubled or incomplete:", tid, row, got)
    for block in range(1, w.blocks) if quiet and all(run.state == LIVE for run in meta.runs.values()) else ():
        need(block in used or w.free(w.disk[block], meta), "a page is lost:", block, w.disk[block])
    w.counts["checks"] += 1
    return places


def check_bounds(runs):
    """Siblings follow each other; inputs begin at the cursor, or above it when they are upper siblings themselves."""
    inputs = [run for run in runs if run.state == INPUT]
    others = sorted((run for run in runs if run.state != INPUT), key=lambda run: run.hi)
    outputs = [run for run in others if run.state == OUTPUT]
    need(all(run.lo <= run.hi for run in runs), "lo is above hi:", runs)
    need(len(outputs) == bool(inputs) and outputs in ([], others[-1:]), "outputs without inputs or the reverse:", runs)
    need(all(one.hi == two.lo for one, two in zip(others, others[1:])), "siblings do not adjoin:", runs)
    need(all(run.lo >= others[-1].hi for run in inputs), "an input begins below the cursor:", runs)
