"""inspectdb with the fields of neardup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.core.management.commands.inspectdb import Command as InspectDb

from neardup.django.fields import CtphField, MinhashField, SimHashField

FIELDS = {field.type_name: field.__name__ for field in (MinhashField, SimHashField, CtphField)}
TYPE_SQL = """
SELECT t.typname, pg_catalog.format_type(a.atttypid, a.atttypmod)
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) a.atttypid
JOIN pg_catalog.pg_depend d ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid
  AND d.objid OPERATOR(pg_catalog.=) t.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'::pg_catalog."char"
JOIN pg_catalog.pg_extension e ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
  AND e.oid OPERATOR(pg_catalog.=) d.refobjid
WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name
  AND a.attrelid OPERATOR(pg_catalog.=) pg_catalog.quote_ident(%s::pg_catalog.text)::pg_catalog.regclass::pg_catalog.oid
  AND a.attname OPERATOR(pg_catalog.=) %s::pg_catalog.name"""


class Command(InspectDb):  # type: ignore[misc]
    def get_field_type(self, connection: Any, table_name: str, row: Any) -> Any:
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(TYPE_SQL, [table_name, row.name])
                found = cursor.fetchone()
            if found and found[0] in FIELDS:
                numbers = [int(number) for number in re.findall(r"[0-9]+", found[1].partition("(")[2])]
                return f"neardup.django.{FIELDS[found[0]]}", dict(zip(("num_perm", "bits"), numbers)), []
        return super().get_field_type(connection, table_name, row)

    def handle_inspection(self, options: Any) -> Iterator[str]:
        lines = list(super().handle_inspection(options))
        wanted = any(" = neardup.django." in line for line in lines)
        for line in lines:
            if wanted and line.startswith("from ") and line.endswith(" import models"):
                yield "import neardup.django"
                wanted = False
            yield line
