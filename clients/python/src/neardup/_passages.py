"""neardup.passages(): the page of the passages that stand more than once. `neardup passages` of the command line, which writes it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from ._errors import type_error
from ._program import check_number, run_program
from ._session import make_session

MIN_UNITS: Final = 50
MAX_UNITS: Final = 100000
UNIT: Final = "word"
AT_LEAST: Final = 2
MAX_AT_LEAST: Final = 2**31 - 1
PASSAGES: Final = 50
DOCUMENTS: Final = 100
MAX_SHOWN: Final = 10000


def passages(
    conn: Any,
    source: str,
    out: str | os.PathLike[str],
    *,
    min_units: int = MIN_UNITS,
    unit: str = UNIT,
    at_least: int = AT_LEAST,
    passages: int = PASSAGES,
    documents: int = DOCUMENTS,
) -> Path:
    """Writes a page of HTML about the passages that stand more than once in the documents of a job or of a query, and returns its path.

    The program reads what is committed, by another connection to the same database, with the same role and search_path.

    source: the name of a job, or a query as repeated_passages() takes it, which begins with SELECT, TABLE, VALUES or WITH. min_units: units of a
    passage, at least (50). unit: word, char, line, paragraph or code. at_least: times that a passage occurs, at least (2). passages: the N most
    frequent passages (50). documents: the N documents of which most is repeated (100).
    """
    for name, text in (("source", source), ("unit", unit)):
        if not isinstance(text, str):
            raise type_error(name, "a string", text)
    check_number("min_units", min_units, 1, MAX_UNITS)
    check_number("at_least", at_least, 2, MAX_AT_LEAST)
    check_number("passages", passages, 0, MAX_SHOWN)
    check_number("documents", documents, 0, MAX_SHOWN)
    path = Path(out)
    options = {"--min-units": min_units, "--unit": unit, "--at-least": at_least, "--passages": passages, "--documents": documents}
    run_program(
        make_session(conn, "neardup.passages"),
        "passages",
        ["--out", str(path), *(f"{option}={value}" for option, value in options.items()), "--", source],
        "the page is written by the program neardup, which is not in PATH. Add its folder (pg_config --bindir) to PATH; "
        "the functions repeated_passages() and passage_counts() of SQL return what it shows",
    )
    return path
