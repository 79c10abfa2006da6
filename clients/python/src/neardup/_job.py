"""A job of create_duplicates(): where its tables are, and what is in them. As src/cli/job.cpp of the command-line program does it."""

from __future__ import annotations

from dataclasses import dataclass

from ._catalog import no_extension, too_old
from ._errors import type_error
from ._session import Session


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
        "SELECT pg_catalog.quote_ident(n.nspname) || '.' FROM pg_catalog.pg_extension e"
        " JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'neardup'"
    )
    if not schemas:
        raise no_extension()
    internals = session.query(
        "SELECT pg_catalog.quote_ident(n.nspname) || '.' FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_depend d"
        " ON d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.refobjid = e.oid AND d.deptype = 'e'"
        " AND d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass JOIN pg_catalog.pg_proc p ON p.oid = d.objid"
        " JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE e.extname = 'neardup' AND p.proname = 'neardup_job_table'"
    )
    if not internals:
        raise too_old("jobs")
    extension, internal = schemas[0][0], internals[0][0]
    part = internal + "neardup_job_part(j, "
    ((result, changes, job),) = session.query(
        f"SELECT {part}''), {part}'_changes'), {part}'_job') FROM {internal}neardup_job_table(%s::pg_catalog.text) j", [name]
    )
    return Job(name, result, changes, job, extension, internal)


def count_job(session: Session, job: Job) -> JobCounts:
    ((rows, clusters, clustered, largest, duplicates),) = session.query(
        "SELECT COALESCE(sum(n), 0)::int8, count(*) FILTER (WHERE n > 1), COALESCE(sum(n) FILTER (WHERE n > 1), 0)::int8,"
        " COALESCE(max(n), 0), COALESCE(sum(others) FILTER (WHERE n > 1), 0)::int8"
        f" FROM (SELECT count(*) AS n, count(*) FILTER (WHERE NOT survivor) AS others FROM {job.result} GROUP BY cluster) c"
    )
    return JobCounts(rows, clusters, clustered, duplicates, largest)
