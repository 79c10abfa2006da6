#!/usr/bin/env python3
"""PostgreSQL's longjmp and C++'s exceptions never meet in a frame of src/pg and src/offload: rule 4 of CONTRIBUTING.md,
"Two worlds".

    tools/two_worlds.py [ROOT]     ROOT: the folder of the project, this one unless given

A function, or a lambda, is a frame. What may raise a PostgreSQL error: a function that PostgreSQL's headers declare, or
a pointer to one that they declare, but for CANNOT_RAISE; and, since an error passes through all frames above it, a
function of ours that calls such a one. Such a call is a mistake in a frame that
  - holds an object with a destructor (a variable, an argument by value, or a
  temporary), which longjmp would leave behind,
  - throws,
  - is a lambda for call_core() or make_owned(), or one inside it: the core, with objects of its own, is above it,
  - overrides a function of the core: the same.
And only boundary.cpp catches. Not seen: what a pointer of ours points to, what only an instance of a template calls,
destructors that run without being named."""
import os

import cpp_sources
from clang.cindex import CursorKind, StorageClass, TypeKind

WHAT = "no frame lives in both worlds, PostgreSQL's and C++'s"
FOLDERS = ("src/pg/", "src/offload/")

# Lambdas as arguments of these run under a catch ("core"), or with a landing place for longjmp ("pg").
WORLD_OF_ARGUMENT = {"call_core": "core", "make_owned": "core", "call_pg": "pg", "try_pg": "pg"}

# PostgreSQL's functions that raise nothing.
CANNOT_RAISE = {
    # compare, copy and measure bytes that they are given
    "pg_strcasecmp", "pg_strncasecmp", "strlcpy", "pg_mbcliplen", "pg_number_of_ones", "pg_popcount",
    # print into a buffer of the caller
    "pg_snprintf",
    # write a number of the backend's status, in shared memory
    "pgstat_progress_update_param",
    # a failed assertion ends the process
    "ExceptionalCondition",
}

# (file, function): why it may.
EXCEPTIONS = {
    ("src/pg/base/boundary.cpp", "try_pg"): "catches what PostgreSQL raises, and keeps it for call_core()",
}
MAY_CATCH = {"src/pg/base/boundary.cpp"}


def overrides_core(cursor):
    """True if a method overrides one of a class that is not of src/pg itself."""
    if not any(child.kind == CursorKind.CXX_OVERRIDE_ATTR for child in cursor.get_children()):
        return False
    bases = [child.type.get_declaration() for child in cursor.semantic_parent.get_children()
             if child.kind == CursorKind.CXX_BASE_SPECIFIER]
    return not bases or any(base.location.file is None or "src/pg/" not in base.location.file.name for base in bases)


class Frame:
    """A function or a lambda. Lines of what it does; `calls` of (line, key) with the key of a function of ours."""

    def __init__(self, file, cursor, name, world):
        self.file, self.line, self.name, self.world = file, cursor.location.line, name, world
        self.key = cursor.get_usr() or "%s:%d:%d" % (file, cursor.location.line, cursor.location.column)
        self.holds, self.raises, self.calls, self.throws, self.catches = [], [], [], [], []


class Types:
    """The types that have a destructor that does something."""

    def __init__(self):
        self.known = {}

    def has_destructor(self, of):
        of = of.get_canonical()
        while of.kind in (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY):
            of = of.element_type.get_canonical()
        if of.kind not in (TypeKind.RECORD, TypeKind.UNEXPOSED):  # unexposed: std::vector<T> in a template
            return False
        name = of.spelling
        if name not in self.known:
            self.known[name] = False  # a type that holds a pointer to itself asks again
            self.known[name] = self.look(of)
        return self.known[name]

    def look(self, of):
        if any(self.has_destructor(field.type) for field in of.get_fields()):
            return True
        declared = of.get_declaration()
        pattern = cpp_sources.find_template(declared) or declared
        for child in (pattern.get_definition() or pattern).get_children():
            if child.kind == CursorKind.DESTRUCTOR and (child.is_virtual_method() or not child.is_default_method()):
                return True
            if child.kind == CursorKind.CXX_BASE_SPECIFIER and self.has_destructor(child.type):
                return True
        # std::optional<std::string>, which inherits what depends on its argument
        arguments = (of.get_template_argument_type(n) for n in range(max(of.get_num_template_arguments(), 0)))
        return name_of_template(of) in HOLD_THEIR_ARGUMENTS and any(
            self.has_destructor(argument) for argument in arguments)


HOLD_THEIR_ARGUMENTS = {"std::optional", "std::pair", "std::tuple", "std::array", "std::variant"}


POINTERS = (CursorKind.FIELD_DECL, CursorKind.VAR_DECL, CursorKind.PARM_DECL)
REFERENCES = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)


def name_of_template(of):
    return of.spelling.split("<")[0].removeprefix("const ")


def is_of_postgresql(cursor):
    file = cursor.location.file
    return file is not None and cpp_sources.is_of_postgresql(file.name)


class Looker:
    """Fills frames from a unit."""

    def __init__(self, unit):
        self.unit = unit
        self.types = Types()
        self.frames = []
        self.inlines = {}  # of PostgreSQL's inline functions: what they may raise by, or None

    def function(self, file, cursor):
        frame = Frame(file, cursor, cursor.spelling, "core" if overrides_core(cursor) else None)
        self.frames.append(frame)
        if cursor.kind in (CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR) and self.types.has_destructor(
                cursor.semantic_parent.type):
            frame.holds.append(
                (frame.line, "the object that it %s" % ("makes" if cursor.kind == CursorKind.CONSTRUCTOR else "ends")))
        for child in cursor.get_children():
            self.visit(child, frame)

    def visit(self, cursor, frame):
        kind, line = cursor.kind, cursor.location.line
        if kind == CursorKind.LAMBDA_EXPR:
            self.closure(cursor, frame, None)
            return
        if kind in (CursorKind.VAR_DECL, CursorKind.PARM_DECL):
            if cursor.storage_class != StorageClass.STATIC and self.types.has_destructor(cursor.type):
                frame.holds.append((line, cursor.spelling or cursor.type.spelling))
        elif kind == CursorKind.CALL_EXPR:
            self.call(cursor, frame)
            role = WORLD_OF_ARGUMENT.get(cursor.spelling)
            if role:
                self.arguments(cursor, frame, role)
                return
        elif kind == CursorKind.CXX_THROW_EXPR:
            frame.throws.append((line, "throw"))
        elif kind == CursorKind.CXX_CATCH_STMT:
            frame.catches.append((line, "catch"))
        for child in cursor.get_children():
            self.visit(child, frame)

    def arguments(self, cursor, frame, role):
        """Reads a call of call_core() or a related function: a lambda may be wrapped in conversions."""
        for child in cursor.get_children():
            if child.kind == CursorKind.LAMBDA_EXPR:
                self.closure(child, frame, role)
                continue
            if child.kind == CursorKind.CALL_EXPR:
                self.call(child, frame)
            self.arguments(child, frame, role)

    def closure(self, cursor, outer, role):
        inner = Frame(outer.file, cursor, "a lambda in " + outer.name, role or outer.world)
        self.frames.append(inner)
        if role is None:  # who gets it may call it here and now
            outer.calls.append((inner.line, inner.key, inner.name))
        for child in cursor.get_children():
            self.visit(child, inner)

    def call(self, cursor, frame):
        line, callee = cursor.location.line, cursor.referenced
        if callee is None:
            return
        if callee.kind == CursorKind.CONSTRUCTOR or callee.result_type.get_canonical().kind not in REFERENCES:
            if self.types.has_destructor(cursor.type):
                frame.holds.append((line, "a temporary " + cursor.type.spelling))
        if callee.kind in POINTERS:
            if is_of_postgresql(callee) or is_of_postgresql(callee.type.get_declaration()):
                frame.raises.append((line, "what %s points to" % callee.spelling))
        elif is_of_postgresql(callee):
            if self.may_raise(callee):
                frame.raises.append((line, callee.spelling + "()"))
        else:
            file = self.unit.cursor_file(callee)
            if file and file.startswith("src/"):
                callee = cpp_sources.find_template(callee) or callee
                frame.calls.append((line, callee.get_usr(), callee.spelling))

    def may_raise(self, callee):
        """True of a function that PostgreSQL's headers declare; one that they define may raise what it calls may."""
        if callee.spelling in CANNOT_RAISE:
            return False
        body = callee.get_definition()
        if body is None or not is_of_postgresql(body):
            return True
        key = callee.get_usr()
        if key not in self.inlines:
            self.inlines[key] = False  # recursion asks again
            self.inlines[key] = any(self.raises_in(child) for child in body.get_children())
        return self.inlines[key]

    def raises_in(self, cursor):
        if cursor.kind == CursorKind.CALL_EXPR:
            callee = cursor.referenced
            if callee is None or callee.kind in POINTERS:
                return True
            if is_of_postgresql(callee) and self.may_raise(callee):
                return True
        return any(self.raises_in(child) for child in cursor.get_children())


def look(unit):
    if not unit.source.startswith(FOLDERS):
        return []
    looker = Looker(unit)
    for file, top in unit.tops("two worlds"):
        if file.startswith("src/"):
            for function in cpp_sources.functions_in(top):
                looker.function(file, function)
    return looker.frames


def raising_calls(frames):
    """{key of a frame: [(line, what)]}: its calls that may raise, directly or further down."""
    excepted = {frame.key for frame in frames.values() if (frame.file, frame.name) in EXCEPTIONS}
    raising = {key: list(frame.raises) for key, frame in frames.items() if key not in excepted}
    callers = {}
    for key, frame in frames.items():
        for line, callee, name in frame.calls:
            callers.setdefault(callee, []).append((key, line, name))
    waiting = [key for key, calls in raising.items() if calls]
    reached = set(waiting)
    while waiting:
        callee = waiting.pop()
        for key, line, name in callers.get(callee, []):
            if key in excepted:
                continue
            raising[key].append((line, name + ("()" if " " not in name else "")))
            if key not in reached:
                reached.add(key)
                waiting.append(key)
    return raising


def judge(facts, root):
    frames = {}
    for frame in (frame for found in facts for frame in found):
        frames.setdefault(frame.key, frame)
    raising = raising_calls(frames)
    mistakes, used = [], set()
    for key, frame in sorted(frames.items(), key=lambda item: (item[1].file, item[1].line)):
        for mistake in frame_mistakes(frame, raising.get(key, [])):
            mistakes.append("%s:%d: %s" % (frame.file, frame.line, mistake))
        if (frame.file, frame.name) in EXCEPTIONS:
            used.add((frame.file, frame.name))
    if os.path.exists(os.path.join(root, "src", "pg", "base", "boundary.cpp")):
        mistakes += ["tools/two_worlds.py: no %s in %s, yet it is an exception" % (name, file)
                     for file, name in sorted(set(EXCEPTIONS) - used)]
    return mistakes, len(frames)


def frame_mistakes(frame, raising):
    if frame.catches and frame.file.startswith("src/pg/") and frame.file not in MAY_CATCH:
        yield "%s catches (line %d)" % (frame.name, frame.catches[0][0])
    if not raising or not frame.file.startswith(FOLDERS):
        return
    line, call = min(raising)
    call = "calls %s (line %d)" % (call, line)
    if frame.world == "core":
        yield "%s %s, below the core" % (frame.name, call)
    elif frame.holds:
        yield "%s %s and holds %s (line %d)" % (frame.name, call, frame.holds[0][1], frame.holds[0][0])
    elif frame.throws:
        yield "%s %s and throws (line %d)" % (frame.name, call, frame.throws[0][0])


if __name__ == "__main__":
    import two_worlds
    cpp_sources.main(two_worlds)
