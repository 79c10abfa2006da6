#!/usr/bin/python3
"""The protocol of the index access method: its model (test/model/lsh_protocol.py) with everybody interleaved at random.

Every history is its seed: `110_lsh_model.py 4711` runs one, `110_lsh_model.py 4711 ids-return` with a planted mistake.

The whole exploration is run where the model, this script or src/pg/lsh/README differ from what test/model/explored.txt
names, and in the full form. That file has the digests of these, and of each mistake the history in which it was
noticed: else these histories are run again, and some without a mistake. `110_lsh_model.py explore` writes it.
"""
import hashlib
import re
import time
from collections import Counter

import harness
from harness import *

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "model"))
import lsh_protocol
from lsh_protocol import *

HISTORIES = 8000 if FULL else 1000
FEW = 60           # histories, where the whole has been explored before
MOST_TRIES = 2000  # histories within which each mistake must be noticed
EXPLORED = os.path.join(ROOT, "test", "model", "explored.txt")
OF = ("src/pg/lsh/README", "test/model/lsh_protocol.py", "test/t/110_lsh_model.py")

MUST_HAPPEN = (
    "counting scans", "roster scans", "restarts", "sheltered scans", "straddlers", "inserts", "TIDs used again",
    "flushes", "merges", "siblings", "inputs gone early", "vacuums", "orphans", "pages used again", "kills", "crashes",
    "records lost", "checks", "large rows",
)

MISTAKES = {
    "reader-trusts-blocks": "readers do not look at the owner of a page",
    "reader-ignores-lo": "readers count entries that a merge has moved away",
    "reader-ignores-hi": "readers count entries that a merge has not moved yet, by their directory",
    "reader-counts-per-run": "readers count the runs of a unit apart",
    "reader-restarts-sheltered": "a reader that keeps maintenance away restarts when `change` moved",
    "roster-starts-again": "a roster scan forgets the last TID when it takes a new directory",
    "roster-skips": "a roster scan goes on behind what it read, not behind what it returned",
    "no-straddlers": "a leaf across lo that another took is corruption",
    "alloc-tests-unlocked": "a page is found free, then locked, and not tested again",
    "alloc-extends-unlocked": "a page added to the file is locked later, and not tested again",
    "alloc-ignores-next-id": "an id that an old directory copy does not have is taken for gone, even a newer one",
    "alloc-takes-empty-leaves": "a leaf of an input without entries is free wherever it lies",
    "alloc-looks-at-first": "a leaf of an input is free when its first entry is below lo",
    "ids-return": "an id is used again when the directory does not have it any more",
    "insert-drops-lock": "the page for a new tail is not kept locked until it is linked",
    "insert-leaves-open": "the old tail is not closed in the record that links the new one",
    "insert-ignores-closed": "rows go into a page that is closed",
    "insert-waits-for-closed": "a closed tail is read again until it is another",
    "large-row-put-off": "an insert takes its large row for stored when the flush was put off",
    "flush-unlisted": "a run enters the directory only when it is written",
    "flush-two-records": "a flushed run goes live in one record, its pending pages leave in the next",
    "flush-when-crowded": "flushes go on while merges do not keep up",
    "merge-two-records": "the output's hi moves in one record, the inputs' lo in the next",
    "merge-lowers-lo": "an input's lo is set to the cursor even where it was higher",
    "merge-ignores-vacuum": "runs below the horizon move while a vacuum works on them",
    "merge-waits-frozen": "a merge that a vacuum holds up counts as the merge at work",
    "merge-splits-units": "a full output and its sibling are two units",
    "vacuum-fixes-early": "the horizon is set before the flush",
    "vacuum-rosters-first": "roster entries are removed before those of the keys",
    "vacuum-trusts-link": "the owner is not looked at again when the leaf is locked for writing",
    "cleanup-stamps-outputs": "cleanup takes a run that still grows for complete",
}


class Actor:
    """A backend. patient: nobody may have to wait for it where it is, so it may sleep for very long."""

    def __init__(self, w, work):
        self.name, self.patient, self.wakes = work.__name__, False, 0
        self.tid = new_row(w) if work is insert else None
        self.steps = work(w, self, self.tid) if work is insert else work(w, self)

    def run(self, steps):
        """Returns true if it has come to its end."""
        return any(next(self.steps, self) is self for _ in range(steps))

    def die(self, w):
        """As PostgreSQL does it: the transaction aborts, its locks go."""
        self.steps.close()
        for lock in (w.maint, w.vac):
            lock.drop(self)
            lock.drop(self, share=True)
        w.locked = {block: owner for block, owner in w.locked.items() if owner is not self}
        row = w.heap.get(self.tid)
        if row and row.state == RUNNING:
            w.heap[self.tid] = row._replace(state=DEAD)


def new_row(w):
    """The TID of a new row in the heap, often one that vacuum has freed. The index learns of it next."""
    unused = [tid for tid, row in w.heap.items() if row is None]
    tid = w.random.choice(unused) if unused and w.random.random() < 0.8 else len(w.heap) + 1
    w.counts["TIDs used again"] += tid in w.heap
    w.counts["rows"] += 1
    least, most = LARGE_ROW_KEYS if w.random.random() < 0.05 else (0, ROW_KEYS)
    keys = w.random.sample(range(1, KEYS + 1), w.random.randint(least, most))
    w.record({}, {tid: Row(tuple(keys), RUNNING)})
    return tid


def delete_a_row(w):
    rows = w.committed()
    for tid in w.random.sample(sorted(rows), min(1, len(rows))):
        w.record({}, {tid: rows[tid]._replace(state=DEAD)})


def history(seed, planted=frozenset()):
    """Raises Violation; returns counts of what happened."""
    w = World(seed, planted)
    chance = w.random.random
    kill, crash = w.random.choice(((0, 0), (0.01, 0), (0.01, 0.002), (0.03, 0.004)))
    delete = w.random.choice((0.01, 0.05))
    long_vacuum = chance() < 0.2
    actors = []
    for step in range(2500 if long_vacuum else 1000):
        if len(actors) < 7:
            vacuums = any(actor.name == "vacuum" for actor in actors)  # one at a time: the table's lock
            work = w.random.choices((insert, count_hits, list_rows, vacuum), (55, 25, 10, 0 if vacuums else 10))[0]
            actors.append(Actor(w, work))
        if chance() < delete:
            delete_a_row(w)
        if chance() < 0.01:
            check_index(w)
        if chance() < crash:
            for actor in actors:
                actor.die(w)
            actors = []
            w.crash()
            check_index(w)
            w.counts["crashes"] += 1
            continue
        actor = w.random.choice(actors)
        if chance() < kill:
            actor.die(w)
            actors.remove(actor)
            w.counts["kills"] += 1
            continue
        if long_vacuum and actor.patient and chance() < 0.02:
            actor.wakes = step + w.random.randint(10, 2000)
        elif chance() < 0.003:
            actor.wakes = step + w.random.randint(10, 300)
        if actor.wakes <= step and actor.run(w.random.choice((1, 1, 1, 5, 20))):
            actors.remove(actor)
    for quiet in (False, True):  # all come to an end; a last vacuum leaves each page in use or free
        for _ in range(100000):
            if not actors:
                break
            actor = w.random.choice(actors)
            if actor.run(1):
                actors.remove(actor)
        need(not actors, "some do not come to an end:", *(actor.name for actor in actors))
        check_index(w, quiet)
        actors = [Actor(w, vacuum)]
    return w.counts


def clean_histories(histories):
    counts = Counter()
    began, seed = time.monotonic(), 0
    try:
        for seed in range(histories):
            counts.update(history(seed))
        good, why = True, ""
    except Violation as e:
        good, why = False, "seed %d: %s" % (seed, e)
    check("%d histories keep the protocol's promises (%.0f s)" % (seed + good, time.monotonic() - began), good, why)
    for what in MUST_HAPPEN:
        check("%s: %d" % (what, counts[what]), counts[what] > 0, "so this was not tested")


def planted_mistakes(known):
    """known: the seeds to begin with. Returns the seeds that notice."""
    seeds = {}
    for name, what in MISTAKES.items():
        began, notice = time.monotonic(), None
        for seed in ([known[name]] if name in known else []) + list(range(MOST_TRIES)):
            try:
                history(seed, {name})
            except Violation as e:
                notice = "seed %d, %.1f s: %s" % (seed, time.monotonic() - began, e)
                seeds[name] = seed
                break
        if check("noticed: %s: %s" % (name, what), notice, "not in %d histories" % MOST_TRIES):
            print("  %.200s" % notice)
    return seeds


def digests():
    """(digest, file) of what an exploration depends on."""
    for path in OF:
        with open(os.path.join(ROOT, path), "rb") as f:
            yield hashlib.sha256(f.read()).hexdigest(), path


def explored():
    """The contents of explored.txt: digests as above, and of each mistake its seed."""
    with open(EXPLORED, encoding="ascii") as f:
        rows = [tuple(line.split()) for line in f if not line.startswith("#")]
    return [r for r in rows if len(r[0]) == 64], {name: int(seed) for seed, name in rows if len(seed) < 64}


def explore():
    """All of it; then writes explored.txt."""
    of = list(digests())
    clean_histories(HISTORIES)
    seeds = planted_mistakes({})
    if not harness.failures:
        with open(EXPLORED, "w", encoding="ascii") as f:
            f.write("# Made by `test/t/110_lsh_model.py explore`: what was explored without a violation, and in which "
                    "history each mistake was noticed.\n")
            f.writelines("%s %s\n" % row for row in of)
            f.writelines("%d %s\n" % (seed, name) for name, seed in seeds.items())


def main():
    with open(lsh_protocol.__file__, encoding="utf-8") as f:
        written = set(re.findall(r'wrong\("([a-z-]+)"\)', f.read()))
    equal("every mistake in the model is in the table", written ^ set(MISTAKES), set())
    before, known = explored()
    same = check("test/model/explored.txt is of this model, README and script", before == list(digests()),
                 "they have changed: `test/t/110_lsh_model.py explore` explores them and writes it anew")
    whole = FULL or not same
    sections((clean_histories, HISTORIES if whole else FEW), (planted_mistakes, {} if whole else known))


if __name__ == "__main__":
    if sys.argv[1:] == ["explore"]:
        finish(explore)
    elif len(sys.argv) > 1:
        finish(lambda: print(dict(history(int(sys.argv[1]), set(sys.argv[2:])))))
    else:
        finish(main)
