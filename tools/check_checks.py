#!/usr/bin/python3
"""Checks that cannot fail: `tools/check_checks.py [FILE ..]`. Without files it reads each script below test/ and
clients/. A check that is given a constant, something that is true whatever the test found (a text, a list that is
written out, a generator, a function), or the same expression twice, says ok where nothing was looked at. Prints
file:line and what it is; the exit status is 1 where it finds one."""
import ast
import glob
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
FOLDERS = ("test/**/*.py", "clients/**/test*/*.py")
ALWAYS_TRUE = (ast.Lambda, ast.GeneratorExp, ast.JoinedStr)


def is_always_true(value):
    """True of an expression whose value is always true, by itself."""
    if isinstance(value, ast.Constant):
        return bool(value.value)
    if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
        return bool(value.elts) and not any(isinstance(e, ast.Starred) for e in value.elts)
    if isinstance(value, ast.BoolOp):
        return (any if isinstance(value.op, ast.Or) else all)(is_always_true(v) for v in value.values)
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        return isinstance(value.operand, ast.Constant) and not value.operand.value
    if isinstance(value, ast.Compare) and len(value.ops) == 1 and isinstance(
            value.ops[0], (ast.Eq, ast.Is, ast.LtE, ast.GtE)):
        return is_same(value.left, value.comparators[0])
    return isinstance(value, ALWAYS_TRUE)


def is_same(a, b):
    """True if both are one expression, of which each evaluation gives the same: a call may not."""
    return ast.dump(a) == ast.dump(b) and not any(isinstance(node, (ast.Call, ast.Await)) for node in ast.walk(a))


def find_fault(call):
    """The fault of a call; None where it can fail."""
    name = call.func.id if isinstance(call.func, ast.Name) else None
    if name == "check" and len(call.args) > 1 and is_always_true(call.args[1]):
        return "check() of what is always true"
    if name == "equal" and len(call.args) > 2 and is_same(call.args[1], call.args[2]):
        return "equal() of two expressions that are one"
    if name == "equal" and len(call.args) == 2 and is_same(*call.args):  # of the loader's tests, which give no name
        return "equal() of two expressions that are one"
    return None


def faults(path):
    with open(path, encoding="utf-8") as f:
        tree = ast.parse(f.read(), path)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            fault = find_fault(node)
        elif isinstance(node, ast.Assert):
            fault = "assert of what is always true" if is_always_true(node.test) else None
        else:
            continue
        if fault:
            yield node.lineno, fault


def main():
    paths = sys.argv[1:] or sorted(
        {p for folder in FOLDERS for p in glob.glob(os.path.join(ROOT, folder), recursive=True)})
    count = 0
    for path in paths:
        for line, fault in faults(path):
            count += 1
            print("not ok - %s:%d: %s" % (os.path.relpath(path, ROOT) if len(sys.argv) < 2 else path, line, fault))
    if paths and not count:
        print("ok - no check in %d scripts is one that cannot fail" % len(paths))
    return 1 if count or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
