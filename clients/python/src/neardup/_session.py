"""One face of the synchronous drivers, for what loads and refreshes: queries, COPY, transactions of our own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from ._errors import NeardupError

WANTED = "a connection of psycopg 3 or psycopg 2, or one of SQLAlchemy or Django that uses them"


class Session(Protocol):
    """What a driver does for us."""

    conn: Any

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Executes a statement; its rows, if it returns any. Without parameters, % stands for itself."""

    def copy(self, sql: str, blocks: Iterable[bytes]) -> int:
        """COPY FROM STDIN of binary data; the number of rows that the server stored."""

    def cancel(self) -> None: ...

    def second(self) -> Session:
        """Another connection to the same database."""

    def close(self) -> None: ...

    def is_closed(self) -> bool: ...

    def is_idle(self) -> bool:
        """Whether no transaction is open."""

    def get_autocommit(self) -> bool: ...

    def set_autocommit(self, value: bool) -> None: ...

    def get_client_encoding(self) -> str: ...

    def set_client_encoding(self, name: str) -> None: ...

    def sqlstate(self, error: BaseException) -> str | None:
        """Of an error of the server; None for anything else."""


class Psycopg3:
    def __init__(self, conn: Any) -> None:
        self.conn = conn

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.Cursor(self.conn, row_factory=psycopg.rows.tuple_row) as cursor:
            cursor.execute(sql, list(parameters) or None)
            return cursor.fetchall() if cursor.description else []

    def copy(self, sql: str, blocks: Iterable[bytes]) -> int:
        import psycopg

        with psycopg.Cursor(self.conn) as cursor:
            with cursor.copy(sql) as copy:
                for block in blocks:
                    copy.write(block)
            return cursor.rowcount

    def cancel(self) -> None:
        self.conn.cancel()

    def second(self) -> Session:
        import psycopg

        return Psycopg3(psycopg.connect(self.conn.info.dsn, password=self.conn.info.password or None, autocommit=True))

    def close(self) -> None:
        self.conn.close()

    def is_closed(self) -> bool:
        return bool(self.conn.closed)

    def is_idle(self) -> bool:
        import psycopg

        return bool(self.conn.info.transaction_status == psycopg.pq.TransactionStatus.IDLE)

    def get_autocommit(self) -> bool:
        return bool(self.conn.autocommit)

    def set_autocommit(self, value: bool) -> None:
        self.conn.autocommit = value

    def get_client_encoding(self) -> str:
        return str(self.conn.info.parameter_status("client_encoding"))

    def set_client_encoding(self, name: str) -> None:
        self.query("SELECT pg_catalog.set_config('client_encoding', %s, false)", [name])

    def sqlstate(self, error: BaseException) -> str | None:
        return getattr(error, "sqlstate", None)


class Psycopg2:
    def __init__(self, conn: Any) -> None:
        self.conn = conn

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        from psycopg2.extensions import cursor as plain

        with self.conn.cursor(cursor_factory=plain) as cursor:
            cursor.execute(sql, list(parameters) or None)
            return list(cursor.fetchall()) if cursor.description else []

    def copy(self, sql: str, blocks: Iterable[bytes]) -> int:
        with self.conn.cursor() as cursor:
            cursor.copy_expert(sql, _Blocks(blocks), size=1 << 16)
            return int(cursor.rowcount)

    def cancel(self) -> None:
        self.conn.cancel()

    def second(self) -> Session:
        import psycopg2

        options = dict(self.conn.get_dsn_parameters())
        if self.conn.info.password:
            options["password"] = self.conn.info.password
        other = psycopg2.connect(**options)
        other.autocommit = True
        return Psycopg2(other)

    def close(self) -> None:
        self.conn.close()

    def is_closed(self) -> bool:
        return bool(self.conn.closed)

    def is_idle(self) -> bool:
        from psycopg2.extensions import TRANSACTION_STATUS_IDLE

        return bool(self.conn.info.transaction_status == TRANSACTION_STATUS_IDLE)

    def get_autocommit(self) -> bool:
        return bool(self.conn.autocommit)

    def set_autocommit(self, value: bool) -> None:
        self.conn.autocommit = value

    def get_client_encoding(self) -> str:
        return str(self.conn.encoding)

    def set_client_encoding(self, name: str) -> None:
        self.conn.set_client_encoding(name)

    def sqlstate(self, error: BaseException) -> str | None:
        return getattr(error, "pgcode", None)


class _Blocks:
    """Blocks as the file that copy_expert() reads."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks: Iterator[bytes] = iter(blocks)
        self._rest = memoryview(b"")

    def read(self, size: int) -> bytes:
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return b""
            self._rest = memoryview(block)
        data, self._rest = self._rest[:size], self._rest[size:]
        return bytes(data)


def _driver_connection(conn: Any) -> Any:
    """The driver's connection behind one of SQLAlchemy or Django."""
    module = type(conn).__module__
    if module.startswith("sqlalchemy."):
        if hasattr(conn, "bind") and hasattr(conn, "connection") and callable(conn.connection):  # a Session
            conn = conn.connection()
        inner = getattr(conn, "connection", None)
        return getattr(inner, "driver_connection", inner)
    if module.startswith("django."):
        if hasattr(conn, "ensure_connection"):  # not the proxy's isinstance: that of any alias
            conn.ensure_connection()
        return conn.connection
    return conn


def session_of(conn: Any, function: str) -> Session:
    """The session over a user's connection, which is checked. `function` is that of the caller, for messages."""
    inner = _driver_connection(conn)
    module = type(inner).__module__.partition(".")[0]
    if "Async" in type(inner).__name__ or module == "asyncpg":
        raise TypeError(f"{function} needs a synchronous connection ({WANTED}); in async code, call it in a thread with a connection of its own")
    session: Session
    if module == "psycopg" and hasattr(inner, "adapters") and hasattr(inner, "pgconn"):
        session = Psycopg3(inner)
    elif module.startswith("psycopg2") and hasattr(inner, "get_dsn_parameters"):
        session = Psycopg2(inner)
    elif any(base.__module__.startswith("psycopg2") for base in type(inner).__mro__):
        session = Psycopg2(inner)
    elif any(base.__module__.startswith("psycopg") and base.__name__ == "Connection" for base in type(inner).__mro__):
        session = Psycopg3(inner)
    else:
        raise TypeError(f"conn must be {WANTED}, not {type(conn).__module__}.{type(conn).__name__}")
    if session.is_closed():
        raise NeardupError("the connection is closed: connect again")
    return session


@contextmanager
def own_transactions(session: Session, function: str) -> Iterator[None]:
    """Autocommit, so that each batch is a transaction of its own; at the end what the user had."""
    if not session.is_idle():
        raise NeardupError(f"the connection is in a transaction, and {function} commits each batch: commit or roll back before the call")
    before = session.get_autocommit()
    session.set_autocommit(True)
    try:
        yield
    finally:
        if not session.is_closed():
            if not session.is_idle():
                session.query("ROLLBACK")
            session.set_autocommit(before)


@contextmanager
def utf8(session: Session) -> Iterator[None]:
    """Texts in UTF-8, whatever encoding the user's connection has; binary COPY converts them, too."""
    before = session.get_client_encoding()
    if before.upper() in ("UTF8", "UTF-8"):
        yield
        return
    session.set_client_encoding("UTF8")
    try:
        yield
    finally:
        if not session.is_closed():
            session.set_client_encoding(before)


@contextmanager
def transaction(session: Session) -> Iterator[None]:
    """One transaction within own_transactions()."""
    session.query("BEGIN")
    try:
        yield
    except BaseException:
        if not session.is_closed():
            session.query("ROLLBACK")
        raise
    session.query("COMMIT")
