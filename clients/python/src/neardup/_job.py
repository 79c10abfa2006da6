"""A job of create_duplicates(): where its tables are, and what is in them. As src/cli/base/job.cpp of the command-line program does it.

All names of the SQL are qualified: an operator or a function of somebody else, in a schema of search_path, would run with the caller's rights.
"""

from __future__ import annotations

from dataclasses import dataclass

from ._catalog import no_extension, too_old
from ._errors import type_error
from ._session import Session
from ._texts import percent_doubled


@dataclass(frozen=True)
class Job:
    name: str
    result: str
    changes: str
    job: str
    extension: str  # schemas, quoted, with a dot
    internal: str


@dataclass(frozen=True)
class JobCounts:
    """Rows, clusters of at least 2 rows, rows of these, these without the survivors, and the rows of the largest cluster."""

    rows: int
    clusters: int
    clustered_rows: int
    duplicates: int
    largest_cluster: int


def find_job(session: Session, name: str) -> Job:
    if not isinstance(name, str):
        raise type_error("job", "the name of a table of duplicates", name)
    schemas = session.query(
        "SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e"
        " JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'"
    )
    if not schemas:
        raise no_extension()
    internals = session.query(
        "SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_depend d"
        " ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid"
        " AND d.refobjid OPERATOR(pg_catalog.=) e.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'"
        " AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid"
        " JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) d.objid"
        " JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace"
        " WHERE e.extname OPERATOR(pg_catalog.=) 'neardup' AND p.proname OPERATOR(pg_catalog.=) 'neardup_job_table'"
    )
    if not internals:
        raise too_old("jobs")
    extension, internal = schemas[0][0] + ".", internals[0][0] + "."
    doubled = percent_doubled(internal)
    part = doubled + "neardup_job_part(j, "
    ((result, changes, job),) = session.query(
        f"SELECT {part}''), {part}'_changes'), {part}'_job') FROM {doubled}neardup_job_table(%s::pg_catalog.text) j", [name]
    )
    return Job(name, result, changes, job, extension, internal)


def _sum(column: str, condition: str = "true") -> str:
    return f"COALESCE(pg_catalog.sum({column}) FILTER (WHERE {condition}), 0)::pg_catalog.int8"


def count_job(session: Session, job: Job) -> JobCounts:
    several = "n OPERATOR(pg_catalog.>) 1"
    ((rows, clusters, clustered, largest, duplicates),) = session.query(
        f"SELECT {_sum('n')}, pg_catalog.count(*) FILTER (WHERE {several}), {_sum('n', several)}, COALESCE(pg_catalog.max(n), 0), {_sum('others', several)}"
        " FROM (SELECT pg_catalog.count(*) AS n, pg_catalog.count(*) FILTER (WHERE NOT survivor) AS others"
        f" FROM {job.result} GROUP BY cluster) c"
    )
    return JobCounts(rows, clusters, clustered, duplicates, largest)
