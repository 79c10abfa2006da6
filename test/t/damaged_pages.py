"""The layout of an lsh index's file (docs/format.md), and the ways to damage one: other values of its fields, other
bytes, links to other pages, pages of others, files that are cut."""
import struct

from servers import *

PAGE = 8192
# A block that no file here has; PostgreSQL's files end at 131,072 blocks, and it says
# otherwise of what lies beyond the first one.
FAR = 5 << 17


def u(data, at, size):
    return int.from_bytes(data[at:at + size], "little")


class Run:
    def __init__(self, file, at):
        self.at = at
        (self.id, self.lo, self.hi, self.entries, self.rows, self.sum_sq, self.root, self.leaves, self.inners,
         self.height, self.state, self.flags, self.unit) = struct.unpack_from("<Q11sx11sxQQdIIIBBBB", file, at)


LIVE, OUTPUT, INPUT = 2, 3, 4
META_FIELDS = [("magic", 24, 4), ("format", 28, 4), ("family version", 56, 4), ("flags", 60, 2), ("nbands", 62, 2),
               ("params_len", 80, 2), ("params", 82, 4), ("params 2", 86, 4), ("params bands", 98, 2),
               ("params rows", 100, 2), ("params need", 102, 2), ("params 8", 90, 1), ("params 9", 91, 1),
               ("params 10", 92, 2), ("next_id", 272, 8), ("nruns", 296, 2), ("npending", 298, 2)]
RUN_FIELDS = [("id", 0, 8), ("lo", 8, 11), ("hi", 20, 11), ("root", 56, 4), ("height", 68, 1), ("state", 69, 1),
              ("unit", 71, 1)]
COUNT_FIELDS = [("entries", 32, 8), ("rows", 40, 8), ("sum_sq", 48, 8), ("leaves", 60, 4), ("inners", 64, 4)]
HEAD_FIELDS = [("pd_lower", 12, 2), ("pd_upper", 14, 2), ("pd_special", 16, 2), ("pd_pagesize_version", 18, 2),
               ("owner", 8176, 8), ("ordinal", 8184, 4), ("kind", 8188, 2), ("page_id", 8190, 2)]
LEAF_FIELDS = [("n", 24, 2), ("key_bits", 26, 1), ("block_bits", 27, 1), ("off_bits", 28, 1)]
INNER_FIELDS = [("n", 24, 2), ("level", 26, 2)]


class Golden:
    """A table and its index as they lie on disk."""

    def __init__(self, name, columns, options, queries, low, maker="with_threshold", usual=0.8):
        """queries: (row, bound); low: a bound for which all rows are read; maker: of an lsh_query from a value and a
        bound; usual: a bound."""
        self.name, self.columns, self.options, self.queries, self.low = name, columns, options, queries, low
        self.maker, self.usual, self.type = maker, usual, columns.split()[-1]

    def read(self, server, conn):
        conn.execute("CHECKPOINT")
        paths = [one(conn, "SELECT pg_relation_filepath(%s::regclass)", [r]) for r in (self.name, self.name + "_sig")]
        self.heap, self.file = (open(os.path.join(server.data, p), "rb").read() for p in paths)
        self.runs = [Run(self.file, 1792 + 72 * i) for i in range(u(self.file, 296, 2))]
        self.pending = [struct.unpack_from("<QI", self.file, 640 + 12 * i) for i in range(u(self.file, 298, 2))]
        self.xids = conn.execute("SELECT relfrozenxid::text, relminmxid::text FROM pg_class WHERE oid = %s::regclass",
                                 [self.name]).fetchone()
        return self

    def merges(self):
        """True if a merge is under way: then its runs' counts are not known exactly."""
        return any(run.state != LIVE for run in self.runs)

    def page(self, block):
        return self.file[PAGE * block:PAGE * (block + 1)]

    def children(self, block):
        return [u(self.file, PAGE * block + 32 + 4 * i, 4) for i in range(u(self.file, PAGE * block + 24, 2))]

    def inners(self, run):
        return self.children(run.root) if run.height == 2 else []

    def leaf_blocks(self, run):
        return [b for i in self.inners(run) for b in self.children(i)] if run.height == 2 else self.children(run.root)


def values_for(old, size, rng):
    """Other values of a field."""
    most = (1 << 8 * size) - 1
    flips = [old ^ (1 << rng.randrange(8 * size)) for _ in range(2)]
    picked = []
    for v in [0, most, old + 1, old - 1, most >> 1, *flips]:
        v &= most
        if v != old and v not in picked:
            picked.append(v)
    return picked


class Case:
    """label: what was done; sure: queries must notice it, or give right rows all the same; size: of the file, where
    cut."""

    def __init__(self, golden, group, label, sure, at, data, size=None):
        self.golden, self.group, self.label, self.sure = golden, group, label, sure
        self.at, self.data, self.size = at, data, size

    def write(self, path):
        with open(path, "r+b") as f:
            f.truncate(0)
            f.write(self.golden.file)
            f.seek(self.at)
            f.write(self.data)
            if self.size is not None:
                f.truncate(self.size)


def every_row(g, block, what, data):
    """The pending page with this in each of its rows: where it begins, and its bytes."""
    page = bytearray(g.page(block))
    at, end = 24, u(page, 12, 2)
    while at < end:
        place = at if what == "block" else at + 4
        page[place:place + len(data)] = data
        at += 8 + 5 * u(page, at + 6, 2)
    return PAGE * block, bytes(page)


def page_cases(g, rng, dense):
    """dense: how many values of each field, at most."""
    out = []

    def beyond(at, where):
        """Every kind of link, each time: to the block behind the last one, to a far one, and to the meta page."""
        for what, block in (("the next block", len(g.file) // PAGE), ("a far block", FAR), ("the meta page", 0)):
            out.append(Case(g, "beyond the file", "%s %s: a link to %s" % (g.name, where, what), True, at,
                            block.to_bytes(4, "little")))

    # The parts of a run that may stand for each other unnoticed.
    alike = {
        b: set(g.leaf_blocks(run)) | set(g.inners(run)) for run in g.runs for b in g.leaf_blocks(run) + g.inners(run)}

    def field(group, sure, base, fields, where):
        for name, at, size in fields:
            old = u(g.file, base + at, size)
            values = values_for(old, size, rng)
            for value in values if len(values) <= dense else rng.sample(values, dense):
                out.append(Case(g, group, "%s %s %s: %#x -> %#x" % (g.name, where, name, old, value),
                                sure and not (group == "links" and value in alike[old]), base + at,
                                value.to_bytes(size, "little")))

    field("meta page", True, 0, HEAD_FIELDS, "meta")
    # A family's parameters are checked by the family; what is possible as
    # parameters of another index is not seen there.
    field("meta page", False, 0, META_FIELDS, "meta")
    field("counts", True, 1792, COUNT_FIELDS, "first run")
    field("flags", True, 1792, [("flags", 70, 1)], "first run")
    field("directory", False, 1792, RUN_FIELDS, "first run")
    states = {LIVE: "live", OUTPUT: "output", INPUT: "input"}
    for state in {r.state for r in g.runs}:
        run = [r for r in g.runs if r.state == state][-1]
        field("directory", False, run.at, RUN_FIELDS, "last %s run" % states[state])
        field("inner page", True, PAGE * run.root, HEAD_FIELDS, "root of %s run" % states[state])
        field("inner page", False, PAGE * run.root, INNER_FIELDS, "root of %s run" % states[state])
        beyond(run.at + 56, "last %s run" % states[state])
        # A merge no longer reads the first children of an input.
        beyond(PAGE * run.root + 32 + 4 * (len(g.children(run.root)) - 1), "root of %s run" % states[state])
        for inner in g.inners(run)[-1:]:
            beyond(PAGE * inner + 32, "inner of %s run" % states[state])
        used = g.children(run.root)
        pick = rng.randrange(len(used))
        links = [("child %d" % pick, 32 + 4 * pick, 4)]
        field("links", True, PAGE * run.root, links, "root of %s run" % states[state])
        out.append(Case(g, "no link", "%s root of %s run: no block at child %d" % (g.name, states[state], pick), True,
                        PAGE * run.root + 32 + 4 * pick, b"\xff" * 4))
        field("bounds", False, PAGE * run.root, [("bound %d" % pick, 2200 + 11 * pick, 5)],
              "root of %s run" % states[state])
        for inner in g.inners(run)[-1:]:
            field("inner page", True, PAGE * inner, HEAD_FIELDS, "inner of %s run" % states[state])
            field("inner page", False, PAGE * inner, INNER_FIELDS, "inner of %s run" % states[state])
            field("links", True, PAGE * inner, links, "inner of %s run" % states[state])
            for at in range(len(g.children(inner))):
                out.append(Case(g, "no link", "%s inner of %s run: no block at child %d" % (g.name, states[state], at),
                                True, PAGE * inner + 32 + 4 * at, b"\xff" * 4))
        leaves = g.leaf_blocks(run)
        leaf = PAGE * leaves[-1 if state == INPUT else rng.randrange(len(leaves))]
        field("leaf", True, leaf, HEAD_FIELDS, "leaf of %s run" % states[state])
        field("leaf", True, leaf, LEAF_FIELDS, "leaf of %s run" % states[state])
        for at in leaves[-1:] if state == INPUT else leaves[:4]:
            out.append(Case(g, "leaf count", "%s leaf %d of %s run: half of its entries" % (g.name, at, states[state]),
                            True, PAGE * at + 24, (u(g.file, PAGE * at + 24, 2) // 2).to_bytes(2, "little")))
        out.append(Case(g, "impossible rows", "%s leaf of %s run: rows in a far block" % (g.name, states[state]), False,
                        leaf + 40, FAR.to_bytes(4, "little")))
        # A leaf may have no entries so far behind: a damage of what nobody reads is not found.
        far = [("keys", 3000, 8)] if u(g.file, leaf + 3000, 8) else []
        field("entries", False, leaf, [("base_key", 32, 8), ("base_block", 40, 4), ("keys", 60, 8)] + far,
              "leaf of %s run" % states[state])
        # Whole pages: lost, of another place, of another run.
        other = g.page(leaves[0] if leaf != PAGE * leaves[0] else leaves[1])
        for what, page in (("zero", bytes(PAGE)), ("another leaf", other), ("the root", g.page(run.root)),
                           ("the meta page", g.page(0)), ("noise", rng.randbytes(PAGE)), ("0xff", b"\xff" * PAGE)):
            out.append(Case(g, "whole pages", "%s leaf of %s run: %s" % (g.name, states[state], what),
                            what != "another leaf", leaf, page))
        out.append(Case(
            g, "whole pages", "%s root of %s run: zero" % (g.name, states[state]), True, PAGE * run.root, bytes(PAGE)))
    for which in sorted({0, len(g.pending) - 1} if g.pending else ()):
        identity, block = g.pending[which]
        beyond(640 + 12 * which + 8, "pending %d" % which)
        field("directory", False, 640 + 12 * which, [("id", 0, 8), ("block", 8, 4)], "pending %d" % which)
        field("pending page", True, PAGE * block, HEAD_FIELDS, "pending %d" % which)
        field("pending page", False, PAGE * block,
              [("block", 24, 4), ("offset", 28, 2), ("nkeys", 30, 2), ("keys", 40, 8)], "pending %d" % which)
        for what, data in (("block", b"\xff" * 4), ("block", FAR.to_bytes(4, "little")), ("offset", bytes(2))):
            out.append(Case(g, "impossible rows", "%s pending %d: impossible %s in every row" % (g.name, which, what),
                            False, *every_row(g, block, what, data)))
    for what, size in (("one page", PAGE), ("half", len(g.file) // PAGE // 2 * PAGE),
                       ("a part of a page", len(g.file) - 100), ("nothing", 0)):
        out.append(Case(g, "whole pages", "%s file cut to %s" % (g.name, what), True, 0, b"", size))
    out.append(Case(g, "whole pages", g.name + " meta page: zero", True, 0, bytes(PAGE)))
    for _ in range(400 if FULL else 25 if LONG else 10):
        at = rng.randrange(len(g.file))
        out.append(Case(g, "any byte", "%s byte %d of block %d" % (g.name, at % PAGE, at // PAGE), False, at,
                        bytes([g.file[at] ^ 1 << rng.randrange(8)])))
    return out
