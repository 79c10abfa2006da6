"""psycopg 3: `register(conn)` makes a connection send and return Minhash, SimHash and Ctph, as text and in binary, and arrays of them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast

try:
    import psycopg
except ImportError as error:
    raise ImportError("neardup.psycopg needs psycopg 3: pip install psycopg") from error
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.rows import tuple_row
from psycopg.types import TypeInfo

from ._catalog import CLASSES, TYPES_SQL, TypeRow, Value, type_rows

if TYPE_CHECKING:
    from psycopg.abc import AdaptContext

__all__ = ["register", "register_async"]


class _TextDumper(Dumper):
    def dump(self, obj: Value) -> Buffer:
        return obj.to_text().encode("ascii")


class _BinaryDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Value) -> Buffer:
        return obj.to_binary()


@cache
def _loader(name: str, format: Format) -> type[Loader]:
    """A loader of the type; `format` as the class attribute that psycopg reads."""
    value_class = CLASSES[name]

    def load_text(self: Loader, data: Buffer) -> Value:
        return value_class(bytes(data).decode("ascii"))

    def load_binary(self: Loader, data: Buffer) -> Value:
        return value_class.from_binary(bytes(data))

    load = load_binary if format == Format.BINARY else load_text
    return type(f"{value_class.__name__}Loader", (Loader,), {"format": format, "load": load})


def _register_types(context: AdaptContext | None, rows: list[TypeRow]) -> None:
    adapters = context.adapters if context is not None else psycopg.adapters
    for row in rows:
        TypeInfo(row.name, row.oid, row.array_oid, regtype=row.quoted).register(context)
        for base in (_BinaryDumper, _TextDumper):  # psycopg prefers the last
            adapters.register_dumper(row.value_class, type(base.__name__, (base,), {"oid": row.oid}))
        for format in (Format.TEXT, Format.BINARY):
            adapters.register_loader(row.oid, _loader(row.name, format))


def register(conn: psycopg.Connection[Any], context: AdaptContext | None = None) -> None:
    """Registers the types on a connection, or, found through this connection, on `context` (a cursor, psycopg.adapters).

    The database must have the extension. A pool calls this as its `configure`.
    """
    if isinstance(cast(object, conn), psycopg.AsyncConnection):
        raise TypeError("conn is an AsyncConnection: await neardup.psycopg.register_async(conn)")
    if not isinstance(cast(object, conn), psycopg.Connection):
        raise TypeError(f"conn must be a psycopg.Connection, not {type(conn).__name__}")
    with conn.transaction(), psycopg.Cursor(conn, row_factory=tuple_row) as cursor:  # a transaction begins here only if it also ends here
        rows = type_rows(cursor.execute(TYPES_SQL).fetchall())
    _register_types(context if context is not None else conn, rows)


async def register_async(conn: psycopg.AsyncConnection[Any], context: AdaptContext | None = None) -> None:
    """As register(), for an AsyncConnection."""
    if not isinstance(cast(object, conn), psycopg.AsyncConnection):
        raise TypeError(f"conn must be a psycopg.AsyncConnection, not {type(conn).__name__}")
    async with conn.transaction(), psycopg.AsyncCursor(conn, row_factory=tuple_row) as cursor:
        rows = type_rows(await (await cursor.execute(TYPES_SQL)).fetchall())
    _register_types(context if context is not None else conn, rows)
