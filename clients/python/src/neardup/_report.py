"""neardup.report(): what a table of duplicates has found. `neardup report` of the command line, which also writes the page."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from ._errors import shown
from ._job import ROWS, Job, find_job
from ._out_file import write_file
from ._program import check_number, run_program
from ._session import Session, make_session, snapshot

CLUSTERS: Final = 50
MAX_CLUSTERS: Final = 10000
PAIRS: Final = 12
MAX_PAIRS: Final = 200
FETCHED: Final = 500
FORMATS: Final = ("html", "json", "csv")
CSV_COLUMNS: Final = ("cluster", "id", "representative", "similarity", "survivor", "path")
COUNTS: Final = ("rows", "clusters", "clustered_rows", "duplicates", "largest_cluster")


def _rows(session: Session, job: Job, function: str, *arguments: str) -> Iterator[tuple[Any, ...]]:
    """The rows of the cursor that a function opens, some at a time."""
    job.ask(session, function, *arguments)
    while fetched := session.query(f"FETCH {FETCHED} FROM {ROWS}"):
        yield from fetched
    session.query(f"CLOSE {ROWS}")


def _clusters(session: Session, job: Job, most: int) -> list[dict[str, Any]]:
    found = []
    for (number, size), rows in groupby(_rows(session, job, "report_rows", str(most)), itemgetter(0, 1)):
        kept = [
            {"id": id_, "path": path, "similarity": _number(similarity), "survivor": survivor} for _, _, id_, _, similarity, survivor, path in rows
        ]
        found.append({"number": number, "size": size, "rows": kept})
    return found


def _pairs(session: Session, job: Job, most: int, threshold: float) -> list[dict[str, Any]]:
    return [
        {
            "representative": representative,
            "duplicate": duplicate,
            "cluster": cluster,
            "similarity": _number(similarity),
            "threshold_distance": None if _number(similarity) is None else abs(similarity - threshold),
        }
        for similarity, cluster, representative, duplicate, *_ in _rows(session, job, "report_pairs", str(most), "false")
    ]


def _shortest(value: float | None) -> str | None:
    """The shortest number that reads back as the same, as the program writes it: 1 for 1.0."""
    return None if _number(value) is None else repr(value).removesuffix(".0")


def _number(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _content(session: Session, job: Job, format: str, clusters: int, pairs: int) -> Any:
    """The report as an object (json) or as text (csv)."""
    if format == "csv":
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(CSV_COLUMNS)
        for cluster, _, id_, representative, similarity, survivor, path in _rows(session, job, "report_rows", "NULL"):
            writer.writerow([cluster, id_, representative, _shortest(similarity), "true" if survivor else "false", path])
        return out.getvalue()
    ((database, _, now, version, _, finished, complete, threshold, *_),) = job.ask(session, "report_about")
    return {
        "job": job.name,
        "database": database,
        "time": now,
        "version": version,
        "finished": finished,
        "complete": complete,
        "settings": {key: json.loads(value) for key, _, _, value in job.ask(session, "report_settings")},
        "counts": dict(zip(COUNTS, job.ask(session, "job_counts")[0])),
        "clusters": _clusters(session, job, clusters),
        "pairs": _pairs(session, job, pairs, threshold),
    }


def _write_page(session: Session, job: str, out: Path, clusters: int, pairs: int) -> None:
    """The page is written by the program."""
    run_program(
        session,
        "report",
        [job, "--out", str(out), "--format", "html", "--clusters", str(clusters), "--pairs", str(pairs)],
        "the format html is written by the program neardup, which is not in PATH. "
        'Add its folder (pg_config --bindir) to PATH, or choose format="json" or "csv"',
    )


def report(
    conn: Any, job: str, out: str | os.PathLike[str] | None = None, *, format: str | None = None, clusters: int = CLUSTERS, pairs: int = PAIRS
) -> Any:
    """Reports what the table of duplicates `job` has found.

    Without `out` it returns the object of format json, or the text of format csv. With `out` it writes the file, by default in the format
    html, or in that of the file's name, and returns its path. clusters: json and html, the N largest clusters (50). pairs: the N pairs
    nearest to the threshold (12).

    A transaction of yours stays as it is. The program, which writes html, reads what is committed, by another connection to the same
    database, with the same role and search_path.
    """
    path = None if out is None else Path(out)
    if format is None:
        format = "json" if path is None else {".json": "json", ".csv": "csv"}.get(path.suffix.lower(), "html")
    if format not in FORMATS:
        raise ValueError(f"format must be html, json or csv: {shown(format)}")
    check_number("clusters", clusters, 0, MAX_CLUSTERS)
    check_number("pairs", pairs, 0, MAX_PAIRS)
    if format == "html" and path is None:
        raise ValueError("format html needs out, the file to write")
    session = make_session(conn, "neardup.report")
    with snapshot(session):
        found = find_job(session, job)
        content: Any = _content(session, found, format, clusters, pairs) if format != "html" else None
    if path is None:
        return content
    if format == "html":
        _write_page(session, job, path, clusters, pairs)
        return path
    write_file(path, content if format == "csv" else json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    return path
