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
from typing import Any, Final, NamedTuple

from ._errors import shown
from ._job import Job, count_job, find_job
from ._out_file import write_file
from ._program import check_number, run_program
from ._session import Session, make_session, snapshot
from ._texts import percent_doubled

CLUSTERS: Final = 50
MAX_CLUSTERS: Final = 10000
PAIRS: Final = 12
MAX_PAIRS: Final = 200
FETCHED: Final = 500
PATH_COLUMN: Final = "path"
BYTES: Final = ' COLLATE pg_catalog."C"'
FORMATS: Final = ("html", "json", "csv")
CSV_COLUMNS: Final = ("cluster", "id", "representative", "similarity", "survivor", "path")
SETTINGS: Final = (
    "source", "id", "body", "signature", "profile", "profile_version", "threshold", "linkage", "verify", "verify_threshold", "keep",
    "order_by", "within", "at", "at_most_apart", "filter", "deleted", "measure",
)  # fmt: skip


class _Type(NamedTuple):
    """Of a column, a domain's type being that below it."""

    name: str  # qualified
    is_built_in: bool
    collation: int  # of the column; 0 where the type has none


class _Reader:
    """Queries of one job, in one snapshot. The SQL is that of src/cli/report/report_reader.cpp."""

    def __init__(self, session: Session, job: Job) -> None:
        self.session, self.job = session, job
        self.row_in_parameters = f"{percent_doubled(job.internal)}neardup_job_row(%s::pg_catalog.regclass)"
        self._restrict_search_path()
        self.paths = self._find_paths()

    def _restrict_search_path(self) -> None:
        """Until the report is read, operators are found in pg_catalog only, and where the type of the ids has an equality of its own."""
        self.session.query(
            "SELECT pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ', 'pg_catalog',"
            " (WITH RECURSIVE below(type) AS (SELECT a.atttypid FROM pg_catalog.pg_attribute a"
            " WHERE a.attrelid OPERATOR(pg_catalog.=) %s::pg_catalog.regclass::pg_catalog.oid AND a.attname OPERATOR(pg_catalog.=) 'id'"
            " UNION ALL SELECT t.typbasetype FROM below b JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) b.type"
            " AND t.typtype OPERATOR(pg_catalog.=) 'd')"
            " SELECT pg_catalog.quote_ident(n.nspname) FROM below b"
            " JOIN pg_catalog.pg_opclass c ON c.opcintype OPERATOR(pg_catalog.=) b.type AND c.opcdefault"
            " JOIN pg_catalog.pg_am m ON m.oid OPERATOR(pg_catalog.=) c.opcmethod AND m.amname OPERATOR(pg_catalog.=) 'btree'"
            " JOIN pg_catalog.pg_amop f ON f.amopfamily OPERATOR(pg_catalog.=) c.opcfamily AND f.amoplefttype OPERATOR(pg_catalog.=) b.type"
            " AND f.amoprighttype OPERATOR(pg_catalog.=) b.type AND f.amopstrategy OPERATOR(pg_catalog.=) 3"
            " JOIN pg_catalog.pg_operator o ON o.oid OPERATOR(pg_catalog.=) f.amopopr"
            " JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) o.oprnamespace"
            " WHERE n.nspname OPERATOR(pg_catalog.<>) 'pg_catalog')), true)",
            [self.job.result],
        )

    def _find_paths(self) -> str:
        """The join with the paths of the source, as neardup load names them; one that may not be read is left out.

        Ids are compared as the type below domains on both sides. An operator for the domain itself may be anyone's, and fits better than that
        of the type below. Where the source has another type since the last refresh, built-in types are compared as texts; an operator or a
        cast of another type would be of others. Where it has another collation, both have "C": without one, they cannot be compared.
        """
        none = "LEFT JOIN (SELECT NULL::pg_catalog.text AS path) s ON false"
        types = self._types_of_ids()
        if types is None:
            return none
        source, result = types
        further = ""
        if source.name != result.name:
            if not (source.is_built_in and result.is_built_in):
                return none
            further = "::pg_catalog.text" + BYTES
        elif source.is_built_in and source.collation != result.collation:
            further = BYTES
        found = self.session.query(
            "SELECT pg_catalog.concat('SELECT ', pg_catalog.quote_ident(j.id), %s::pg_catalog.text, ' AS id, ', pg_catalog.quote_ident(a.attname),"
            " ' AS path FROM ', pg_catalog.quote_ident(n.nspname), '.', pg_catalog.quote_ident(c.relname),"
            " ' WHERE true', CASE WHEN j.filter IS NOT NULL THEN pg_catalog.concat(' AND (', j.filter, E'\\n)') END,"
            " CASE WHEN j.deleted IS NOT NULL THEN pg_catalog.concat(' AND (', j.deleted, E'\\n) IS NOT TRUE') END)"
            f" FROM {self.row_in_parameters} j JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) j.source::pg_catalog.oid"
            " JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace"
            " JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attname OPERATOR(pg_catalog.=) %s::pg_catalog.name"
            " AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped"
            " WHERE a.atttypid OPERATOR(pg_catalog.=) ANY ('{pg_catalog.text,pg_catalog.varchar}'::pg_catalog.regtype[]::pg_catalog.oid[])"
            " AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')",
            [f"::{source.name}{further}", self.job.job, PATH_COLUMN],
        )
        return f"LEFT JOIN ({found[0][0]}) s ON s.id = r.id::{result.name}{further}" if found else none

    def _types_of_ids(self) -> tuple[_Type, _Type] | None:
        """That of the source, and that of the result."""
        found = {
            str(side): _Type(str(name), bool(is_built_in), int(collation))
            for side, name, is_built_in, collation in self.session.query(
                "WITH RECURSIVE types AS ("
                f"(SELECT 'source' AS side, a.atttypid AS type, a.attcollation AS collation FROM {self.row_in_parameters} j JOIN pg_catalog.pg_attribute a"
                " ON a.attrelid OPERATOR(pg_catalog.=) j.source::pg_catalog.oid AND a.attname OPERATOR(pg_catalog.=) j.id::pg_catalog.name AND NOT a.attisdropped"
                " UNION ALL SELECT 'result', a.atttypid, a.attcollation FROM pg_catalog.pg_attribute a"
                " WHERE a.attrelid OPERATOR(pg_catalog.=) %s::pg_catalog.regclass::pg_catalog.oid"
                " AND a.attname OPERATOR(pg_catalog.=) 'id' AND NOT a.attisdropped)"
                " UNION ALL SELECT b.side, t.typbasetype, b.collation FROM types b JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) b.type"
                " WHERE t.typtype OPERATOR(pg_catalog.=) 'd')"
                " SELECT b.side, pg_catalog.concat(pg_catalog.quote_ident(n.nspname), '.', pg_catalog.quote_ident(t.typname)),"
                " n.nspname OPERATOR(pg_catalog.=) 'pg_catalog', b.collation::pg_catalog.int8"
                " FROM types b JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) b.type"
                " JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace WHERE t.typtype OPERATOR(pg_catalog.<>) 'd'",
                [self.job.job, self.job.result],
            )
        }
        return (found["source"], found["result"]) if len(found) == 2 else None

    def about(self) -> dict[str, Any]:
        ((database, now, version, finished, phase),) = self.session.query(
            f"SELECT pg_catalog.current_database()::pg_catalog.text, {_iso('pg_catalog.now()')},"
            " (SELECT extversion FROM pg_catalog.pg_extension WHERE extname OPERATOR(pg_catalog.=) 'neardup'),"
            f" (SELECT {_iso('j.finished')} FROM {self.job.job} j), (SELECT j.phase FROM {self.job.job} j)"
        )
        return {"job": self.job.name, "database": database, "time": now, "version": version, "finished": finished, "complete": phase == "idle"}

    def settings(self) -> dict[str, Any]:
        found = {
            key: json.loads(value)
            for key, value in self.session.query(
                f"SELECT s.key, s.value::pg_catalog.text FROM pg_catalog.jsonb_each(pg_catalog.to_jsonb({self.row_in_parameters})) s",
                [self.job.job],
            )
        }
        return {key: found[key] for key in SETTINGS if found.get(key) not in (None, "", [])}

    def rows(self, largest: int | None) -> Iterator[dict[str, Any]]:
        """Rows of clusters of at least 2 rows, the survivor first: of all, by number, or of the largest, these first."""
        limit = "" if largest is None else f" ORDER BY n DESC, cluster LIMIT {largest}"
        order = "c.cluster" if largest is None else "c.n DESC, c.cluster"
        self.session.query(
            "DECLARE neardup_report NO SCROLL CURSOR FOR WITH c AS MATERIALIZED (SELECT cluster, pg_catalog.count(*) AS n"
            f" FROM {self.job.result} GROUP BY cluster HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1{limit})"
            f" SELECT c.cluster, c.n, {_text('r.id')}, {_text('r.representative')}, r.similarity, r.survivor, s.path"
            f" FROM c JOIN {self.job.result} r ON r.cluster OPERATOR(pg_catalog.=) c.cluster"
            f" {self.paths} ORDER BY {order}, r.survivor DESC, r.similarity DESC NULLS LAST, r.id"
        )
        names = ("cluster", "size", "id", "representative", "similarity", "survivor", "path")
        while fetched := self.session.query(f"FETCH {FETCHED} FROM neardup_report"):
            for row in fetched:
                yield dict(zip(names, row))
        self.session.query("CLOSE neardup_report")

    def clusters(self, most: int) -> list[dict[str, Any]]:
        found = []
        for number, rows in groupby(self.rows(most), itemgetter("cluster")):
            members = list(rows)
            kept = [{key: _number(row[key]) for key in ("id", "path", "similarity", "survivor")} for row in members]
            found.append({"number": number, "size": members[0]["size"], "rows": kept})
        return found

    def pairs(self, most: int) -> list[dict[str, Any]]:
        """The pairs whose similarity is nearest to the threshold; of equal distance by a hash of the id, so that they stay the same."""
        ((threshold,),) = self.session.query(
            f"SELECT COALESCE(CASE WHEN verify IS NOT NULL THEN verify_threshold END, threshold) FROM {self.row_in_parameters}",
            [self.job.job],
        )
        rows = self.session.query(
            f"SELECT {_text('representative')}, {_text('id')}, cluster, similarity FROM {percent_doubled(self.job.result)} WHERE NOT survivor"
            f" ORDER BY pg_catalog.abs(similarity OPERATOR(pg_catalog.-) %s::pg_catalog.float8), pg_catalog.md5({_text('id')}) LIMIT %s",
            [threshold, most],
        )
        return [
            {
                "representative": representative,
                "duplicate": duplicate,
                "cluster": cluster,
                "similarity": _number(similarity),
                "threshold_distance": None if _number(similarity) is None else abs(similarity - threshold),
            }
            for representative, duplicate, cluster, similarity in rows
        ]


def _iso(time: str) -> str:
    """A timestamptz in UTC, as ISO 8601 has it."""
    return f"pg_catalog.to_char(pg_catalog.timezone('UTC', {time}), 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"


def _text(column: str) -> str:
    """The text of a column of any type."""
    return f"CASE WHEN {column} IS NOT NULL THEN pg_catalog.concat({column}) END"


def _shortest(value: float | None) -> str | None:
    """The shortest number that reads back as the same, as the program writes it: 1 for 1.0."""
    return None if _number(value) is None else repr(value).removesuffix(".0")


def _number(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _content(session: Session, job: Job, format: str, clusters: int, pairs: int) -> Any:
    """The report as an object (json) or as text (csv)."""
    reader = _Reader(session, job)
    if format == "csv":
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(CSV_COLUMNS)
        for row in reader.rows(None):
            row["survivor"] = "true" if row["survivor"] else "false"
            row["similarity"] = _shortest(row["similarity"])
            writer.writerow([row[name] for name in CSV_COLUMNS])
        return out.getvalue()
    report = reader.about()
    report["settings"] = reader.settings()
    counts = count_job(session, job)
    report["counts"] = vars(counts)
    report["clusters"] = reader.clusters(clusters)
    report["pairs"] = reader.pairs(pairs)
    return report


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
    """What the table of duplicates `job` has found.

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
