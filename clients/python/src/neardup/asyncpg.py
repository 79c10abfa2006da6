"""asyncpg: `await register(conn)` sets binary codecs for Minhash, SimHash and Ctph, also for arrays, COPY and prepared statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    import asyncpg
except ImportError as error:
    raise ImportError("neardup.asyncpg needs asyncpg: pip install asyncpg") from error

from ._catalog import TYPES_SQL, TypeRow, Value, type_rows

__all__ = ["register"]


def _codec(row: TypeRow) -> tuple[Callable[[Any], bytes], Callable[[bytes], Value]]:
    value_class = row.value_class

    def encode(value: Any) -> bytes:
        """A value, or what its class reads, such as the text form."""
        return (value if isinstance(value, value_class) else value_class(value)).to_binary()

    return encode, value_class.from_binary


async def register(conn: Any) -> None:
    """Sets the codecs of a connection. A pool calls this as its `init`: `asyncpg.create_pool(.., init=register)`."""
    if not isinstance(conn, (asyncpg.Connection, asyncpg.pool.PoolConnectionProxy)):
        raise TypeError(f"conn must be an asyncpg.Connection, not {type(conn).__name__}")
    for row in type_rows([tuple(record) for record in await conn.fetch(TYPES_SQL)]):
        encoder, decoder = _codec(row)
        await conn.set_type_codec(row.name, schema=row.schema, encoder=encoder, decoder=decoder, format="binary")
