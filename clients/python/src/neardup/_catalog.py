"""The types of the extension in a database, wherever their schema is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ._ctph import Ctph
from ._errors import NeardupError
from ._minhash import Minhash
from ._simhash import SimHash
from ._texts import decode_text

Value = Minhash | SimHash | Ctph
CLASSES: Final[dict[str, type[Minhash] | type[SimHash] | type[Ctph]]] = {"minhash": Minhash, "simhash": SimHash, "ctph": Ctph}

# Each name is qualified, so that no search_path can lead it to an object of someone else.
TYPES_SQL: Final = """
SELECT t.typname::pg_catalog.text, n.nspname::pg_catalog.text, t.oid::pg_catalog.int8, t.typarray::pg_catalog.int8,
  pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(t.typname)
FROM pg_catalog.pg_extension e
JOIN pg_catalog.pg_depend d ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
  AND d.refobjid OPERATOR(pg_catalog.=) e.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'
  AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid
JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) d.objid
JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
WHERE e.extname OPERATOR(pg_catalog.=) 'neardup' AND t.typname OPERATOR(pg_catalog.=) ANY ('{minhash,simhash,ctph}'::pg_catalog.name[])
ORDER BY t.typname"""


@dataclass(frozen=True)
class TypeRow:
    """A type of the extension in one database."""

    name: str
    schema: str
    oid: int
    array_oid: int
    quoted: str  # schema.name, quoted where that is needed

    @property
    def value_class(self) -> type[Minhash] | type[SimHash] | type[Ctph]:
        return CLASSES[self.name]


def no_extension() -> NeardupError:
    return NeardupError(
        "the database has no extension neardup. Run CREATE EXTENSION neardup; in it, then connect again. "
        "If PostgreSQL says that the extension is not available, install neardup on the server first"
    )


def too_old(what: str) -> NeardupError:
    return NeardupError(
        f"extension neardup of this database is of a version without {what}. Install the current version on the server, then run "
        "ALTER EXTENSION neardup UPDATE;"
    )


def older_version() -> NeardupError:
    return NeardupError(
        "extension neardup of this database is of an older version than this package. Install the current version on the server, then run "
        "ALTER EXTENSION neardup UPDATE; or install the package of that version"
    )


def type_rows(rows: Iterable[Sequence[Any]]) -> list[TypeRow]:
    """The rows of TYPES_SQL. An error says what to do where types are missing."""
    found = [TypeRow(*map(decode_text, row)) for row in rows]
    if not found:
        raise no_extension()
    missing = sorted(set(CLASSES) - {row.name for row in found})
    if missing:
        raise too_old("the type " + " and the type ".join(missing))
    return found
