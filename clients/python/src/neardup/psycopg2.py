"""psycopg 2: `register(conn)` makes a connection send and return Minhash, SimHash and Ctph, and arrays of them."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

try:
    import psycopg2.extensions as extensions
except ImportError as error:
    raise ImportError("neardup.psycopg2 needs psycopg 2: pip install psycopg2-binary") from error

from ._catalog import CLASSES, TYPES_SQL, TypeRow, Value, type_rows

__all__ = ["register"]

# The quoted names of the types, by connection: two databases may have the extension in different schemas.
_names: WeakKeyDictionary[Any, dict[str, str]] = WeakKeyDictionary()
_TYPE_OF = {value_class: name for name, value_class in CLASSES.items()}


class _Adapter:
    """Quotes a value; with its type, so that ARRAY[..] of values has the type, too, where the connection is registered."""

    def __init__(self, value: Value) -> None:
        self.value = value
        self.cast = ""

    def prepare(self, conn: Any) -> None:
        name = _names.get(conn, {}).get(_TYPE_OF[type(self.value)])
        self.cast = f"::{name}" if name else ""

    def getquoted(self) -> bytes:
        return f"'{self.value.to_text()}'{self.cast}".encode()  # the text forms have no quotes or backslashes


def _caster(row: TypeRow) -> Any:
    def load(text: str | None, cursor: object) -> Value | None:
        return None if text is None else row.value_class(text)

    return extensions.new_type((row.oid,), row.name.upper(), load)


def register(conn: Any, globally: bool = False) -> None:
    """Registers the types on a connection; with `globally`, on all connections to databases where they have the same OIDs."""
    if not isinstance(conn, extensions.connection):
        raise TypeError(f"conn must be a psycopg2 connection, not {type(conn).__name__}")
    idle = not conn.autocommit and conn.status == extensions.STATUS_READY
    with conn.cursor(cursor_factory=extensions.cursor) as cursor:
        cursor.execute(TYPES_SQL)
        found = cursor.fetchall()
    if idle:
        conn.rollback()  # the query began a transaction
    rows = type_rows(found)
    for row in rows:
        caster = _caster(row)
        scope = None if globally else conn
        extensions.register_type(caster, scope)
        extensions.register_type(extensions.new_array_type((row.array_oid,), row.name.upper() + "ARRAY", caster), scope)
    _names[conn] = {row.name: row.quoted for row in rows}


for _value_class in CLASSES.values():
    extensions.register_adapter(_value_class, _Adapter)
