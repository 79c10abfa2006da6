"""A job of create_duplicates(), and the functions of the extension that are asked about it: sql/install/89_reports.sql.

What is called is named with its schema, and arguments have the types of the functions: nothing is found by search_path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ._catalog import no_extension, older_version
from ._errors import type_error
from ._session import Session
from ._texts import percent_doubled

ROWS: Final = "neardup_rows"  # the cursor that functions open


@dataclass(frozen=True)
class Job:
    name: str
    extension: str  # the schema, quoted, with a dot; % is doubled, as in statements with parameters
    table: str  # <name>_job, quoted and qualified

    def ask(self, session: Session, function: str, *arguments: str) -> list[tuple[Any, ...]]:
        """The rows that a function returns for the job. Further arguments are constants of SQL."""
        call = ", ".join(("%s::pg_catalog.text::pg_catalog.regclass", *arguments))
        return session.query(f"SELECT * FROM neardup_internal.{function}({call})", [self.table])


def find_job(session: Session, name: str) -> Job:
    if not isinstance(name, str):
        raise type_error("job", "the name of a table of duplicates", name)
    found = session.query(
        "SELECT pg_catalog.concat(pg_catalog.quote_ident(n.nspname), '.'), EXISTS (SELECT FROM pg_catalog.pg_depend d"
        " JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) d.objid"
        " WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid"
        " AND d.refobjid OPERATOR(pg_catalog.=) e.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'"
        " AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid"
        " AND p.proname OPERATOR(pg_catalog.=) 'report_about')"
        " FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace"
        " WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'"
    )
    if not found:
        raise no_extension()
    ((extension, is_current),) = found
    if not is_current:
        raise older_version()
    ((table,),) = session.query(
        "SELECT neardup_internal.neardup_job_part(neardup_internal.neardup_job_table(%s::pg_catalog.text), '_job')", [name]
    )
    return Job(name, percent_doubled(extension), table)
