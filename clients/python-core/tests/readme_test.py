#!/usr/bin/env python3
"""README.md, pasted line by line: every python block, in order, in one session. A comment at the end of a line is what it returns."""
import ast
import os
import re

from common import ROOT, check, equal, finish
from harness import database

README = os.path.join(ROOT, "clients", "python-core", "README.md")


def statements(block):
    """(source, what it returns or None), one after another."""
    lines = block.splitlines()
    for node in ast.parse(block).body:
        source = "\n".join(lines[node.lineno - 1:node.end_lineno])
        comment = re.search(r"  # (.*)$", lines[node.end_lineno - 1][node.end_col_offset:])
        yield node, source, comment.group(1) if comment else None


def runs(source, names):
    """(whether it does, else its error)"""
    try:
        exec(source, names)
    except Exception as error:
        return False, error
    return True, ""


def paste(block, names):
    for node, source, shown in statements(block):
        if isinstance(node, ast.Expr):
            value = eval(compile(ast.Expression(node.value), "README.md", "eval"), names)
            equal("README: %s" % source[:70], repr(value) if shown else None, shown)
        else:
            check("README: %s" % source.splitlines()[0][:70], *runs(source, names))


def main():
    with open(README, encoding="utf-8") as f:
        text = f.read()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    check("README has its blocks", len(blocks) == 4, len(blocks))
    names = {}
    with database(extension=False) as name:
        before = os.environ.get("PGDATABASE", "postgres")
        os.environ["PGDATABASE"] = name
        for block in blocks:
            paste(block, names)
        names["conn"].close()
        os.environ["PGDATABASE"] = before
    for link in re.findall(r"\]\(([^)#]+)", text):
        check("README links to %s" % link, os.path.exists(os.path.join(os.path.dirname(README), link)), link)


finish(main)
