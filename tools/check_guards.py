#!/usr/bin/env python3
"""Every call below a guard: fails at the first call of a function of the server, in src/pg, that src/pg/base/GUARDS
does not list with its file.

    tools/check_guards.py [ROOT]     ROOT: the folder of the project, this one unless given

What those functions do is allowed because the server's own callers have checked something before: privileges, locks,
the kind of a statement, as whom code runs. A row of GUARDS says what stands in the place of that. A row without a call
is a mistake, too: GUARDS says what is true. So is a row that says nothing. Functions of ours that only hide a
difference between versions (WRAPPERS) count like what they call."""
import os
import re
import sys

GUARDS = "src/pg/base/GUARDS"
WRAPPERS_IN = "base/compat.h"
WRAPPERS = ("analyze_with_parameters", "begin_parallel_scan", "plan_query")
# Functions of the server, as regular expressions.
FUNCTIONS = (
    # statements: parsed, analysed, rewritten, planned, run
    "raw_parser", r"pg_parse_query", r"parse_analyze\w*", r"pg_analyze_and_rewrite\w*",
    r"transform(?:Expr|Stmt|TopLevelStmt|WhereClause)", r"QueryRewrite", r"pg_rewrite_query",
    r"pg_plan_quer\w+", r"planner", r"standard_planner", r"ProcessUtility", r"standard_ProcessUtility",
    r"Executor(?:Start|Run)",
    r"SPI_exec\w*", r"SPI_prepare\w*", r"SPI_cursor_(?:open|parse_open)\w*", r"SPI_plan_get_cached_plan",
    # expressions, and what else runs functions
    r"coerce_(?:to_target_)?type", r"build_column_default", r"expression_planner\w*", r"eval_const_expressions",
    r"estimate_expression_value", r"stringToNode",
    r"CreateExecutorState", r"CreateStandaloneExprContext", r"ExecInit(?:Expr|ExprList|Qual|Check|Node)\w*",
    r"ExecPrepare\w+",
    r"BuildIndexInfo", r"FormIndexDatum", r"RelationGetIndex(?:Expressions|Predicate)", r"index_build",
    r"table_index_build_\w*scan",
    r"OidFunctionCall\w+", r"Oid(?:Input|Output|Receive|Send)FunctionCall",
    r"(?:Input|Output|Receive|Send)FunctionCall\w*", r"FunctionCall\d\w*", r"fmgr_info\w*",
    # as whom, and how
    "SetUserIdAndSecContext", r"set_config_option\w*", r"SetConfigOption",
    # relations: found, locked, opened, read
    r"RangeVarGet\w+", r"get_relname_relid", r"(?:Conditional)?LockRelation(?:Oid|Id)?", r"LockAcquire\w*",
    r"relation_open\w*", r"table_open\w*", r"index_open", r"sequence_open",
    r"try_(?:relation|table|index)_open", r"table_beginscan\w*", r"index_beginscan\w*", r"systable_beginscan\w*",
    r"heap_hot_search_buffer", r"table_index_fetch_tuple",
    # catalogs and statistics
    r"recordDependencyOn\w*", r"recordMultipleDependencies", r"CatalogTuple\w+", r"heap_lock_tuple",
    r"perform(?:Multiple)?Deletions?", "examine_variable",
    r"get_(?:restriction|join)_variables?", "get_attstatsslot",
)
CALL = re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(FUNCTIONS + WRAPPERS))
# Comments, and strings with what is in them, and the raw ones.
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def blank_comments(text):
    """The text without comments and strings, with all its lines."""
    return NO_CODE.sub(lambda found: '""' + "\n" * found.group().count("\n"), text)


def find_calls(src):
    """{(function, file below src/pg): the first line}"""
    calls = {}
    for folder, folders, names in os.walk(src):
        folders.sort()
        for name in sorted(names):
            if not name.endswith((".h", ".cpp")):
                continue
            path = os.path.relpath(os.path.join(folder, name), src)
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as f:
                for number, line in enumerate(blank_comments(f.read()).split("\n"), 1):
                    for function in CALL.findall(line):
                        if not (function in WRAPPERS and path == WRAPPERS_IN):
                            calls.setdefault((function, path), number)
    return calls


def read_rows(path):
    """(line, functions, file, what it says) of every row."""
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if line.startswith("|") and len(cells) >= 3 and cells[0] != "function" and not cells[0].startswith("-"):
                yield number, cells[0].replace(",", " ").split(), cells[1], "|".join(cells[2:]).strip()


def check(root):
    """The mistakes, and the number of calls that were looked at."""
    calls = find_calls(os.path.join(root, "src/pg"))
    mistakes, listed = [], {}
    for number, functions, path, why in read_rows(os.path.join(root, GUARDS)):
        where = "%s:%d" % (GUARDS, number)
        if not why:
            mistakes.append("%s: the row does not say why %s may be called" % (where, ", ".join(functions)))
        for function in functions:
            if (function, path) in listed:
                mistakes.append(
                    "%s: %s in %s has a row already, in line %d" % (where, function, path, listed[function, path]))
            listed[function, path] = number
            if (function, path) not in calls:
                mistakes.append("%s: src/pg/%s does not call %s%s" % (
                    where, path, function, "" if CALL.match(function + "(") else ", which is no function of the list"))
    for (function, path), number in sorted(calls.items(), key=lambda call: (call[0][1], call[1])):
        if (function, path) not in listed:
            mistakes.append("src/pg/%s:%d: %s() is called below its guard: %s has no row for it in this file" % (
                path, number, function, GUARDS))
    return mistakes, len(calls)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    mistakes, count = check(root)
    for mistake in mistakes:
        print(mistake)
    if count == 0:
        mistakes.append("nothing was looked at")
    print("%s - calls below a guard of the server are those of %s (%d functions of files)%s" % (
        "not ok" if mistakes else "ok", GUARDS, count, ": %d mistakes" % len(mistakes) if mistakes else ""))
    sys.exit(1 if mistakes else 0)


main()
