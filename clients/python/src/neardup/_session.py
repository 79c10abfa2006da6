"""One face of the synchronous drivers, for what loads and refreshes: queries, COPY, transactions of our own."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Protocol

from ._errors import NeardupError
from ._texts import decode_text

WANTED = "a connection of psycopg 3 or psycopg 2, or one of SQLAlchemy or Django that uses them"


class Session(Protocol):
    """The calls of a driver that the package needs."""

    conn: Any
    in_block: bool  # a block of the framework's that commits at its end, though the driver may not have begun a transaction yet

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Executes a statement; its rows, if it returns any. Without parameters, % stands for itself."""

    def copy(self, sql: str, blocks: Iterable[bytes]) -> int:
        """COPY FROM STDIN of binary data; the number of rows that the server stored."""

    def cancel(self) -> None: ...

    def parameters(self) -> dict[str, Any]:
        """The parameters that libpq has connected with, defaults, environment and service file included; without the password."""

    def second(self) -> Session:
        """Another connection to the same database."""

    def close(self) -> None: ...

    def is_closed(self) -> bool: ...

    def is_in_pipeline(self) -> bool: ...

    def is_idle(self) -> bool:
        """True if no transaction is open."""

    def begin(self, modes: str) -> None:
        """Begins a transaction; without autocommit the driver does it, which keeps account of it."""

    def rollback(self) -> None:
        """Ends the transaction, for the driver, too; none may be open."""

    def get_autocommit(self) -> bool: ...

    def set_autocommit(self, value: bool) -> None: ...

    def get_client_encoding(self) -> str: ...

    def set_client_encoding(self, name: str) -> None: ...

    def sqlstate(self, error: BaseException) -> str | None:
        """The SQLSTATE of an error of the server; None for anything else."""


class Psycopg3:
    def __init__(self, conn: Any) -> None:
        self.conn = conn
        self.in_block = False

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        import psycopg

        statement = sql.encode() if self.conn.info.encoding == "ascii" else sql
        with psycopg.Cursor(self.conn, row_factory=psycopg.rows.tuple_row) as cursor:
            cursor.execute(statement, list(parameters) or None)
            return [tuple(map(decode_text, row)) for row in cursor] if cursor.description else []

    def copy(self, sql: str, blocks: Iterable[bytes]) -> int:
        import psycopg

        with psycopg.Cursor(self.conn) as cursor:
            with cursor.copy(sql) as copy:
                for block in blocks:
                    copy.write(block)
            return cursor.rowcount

    def cancel(self) -> None:
        self.conn.cancel()

    def parameters(self) -> dict[str, Any]:
        info = self.conn.info
        found = {option.keyword.decode(): option.val.decode() for option in self.conn.pgconn.info if option.val}
        found.update(host=info.host, port=str(info.port))  # of several servers the one that it is
        if "hostaddr" in found:
            found["hostaddr"] = info.hostaddr
        return _without(found)

    def second(self) -> Session:
        import psycopg

        return Psycopg3(psycopg.connect(**self.parameters(), password=self.conn.info.password or None, autocommit=True))

    def close(self) -> None:
        self.conn.close()

    def is_closed(self) -> bool:
        return bool(self.conn.closed)

    def is_in_pipeline(self) -> bool:
        import psycopg

        return bool(self.conn.pgconn.pipeline_status != psycopg.pq.PipelineStatus.OFF)

    def is_idle(self) -> bool:
        import psycopg

        return bool(self.conn.info.transaction_status == psycopg.pq.TransactionStatus.IDLE)

    def begin(self, modes: str) -> None:
        self.query(f"{'BEGIN' if self.conn.autocommit else 'SET TRANSACTION'} {modes}")

    def rollback(self) -> None:
        self.conn.rollback()

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
        self.in_block = False

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        from psycopg2.extensions import BYTES, register_type
        from psycopg2.extensions import cursor as plain

        with self.conn.cursor(cursor_factory=plain) as cursor:
            if self.conn.encoding not in ("SQL_ASCII", "SQLASCII"):
                cursor.execute(sql, list(parameters) or None)
                return list(cursor.fetchall()) if cursor.description else []
            register_type(BYTES, cursor)
            cursor.execute(sql.encode(), [_Utf8(value) if isinstance(value, str) else value for value in parameters] or None)
            return [tuple(map(decode_text, row)) for row in cursor] if cursor.description else []

    def copy(self, sql: str, blocks: Iterable[bytes]) -> int:
        with self.conn.cursor() as cursor:
            cursor.copy_expert(sql, _Blocks(blocks), size=1 << 16)
            return int(cursor.rowcount)

    def cancel(self) -> None:
        self.conn.cancel()

    def parameters(self) -> dict[str, Any]:
        found = dict(self.conn.get_dsn_parameters())
        if "," not in found.get("hostaddr", ""):  # psycopg 2 does not say which address it is
            found.update(host=self.conn.info.host, port=str(self.conn.info.port))
        return _without(found)

    def second(self) -> Session:
        import psycopg2

        other = psycopg2.connect(**self.parameters(), password=self.conn.info.password or None)
        other.autocommit = True
        return Psycopg2(other)

    def close(self) -> None:
        self.conn.close()

    def is_closed(self) -> bool:
        return bool(self.conn.closed)

    def is_in_pipeline(self) -> bool:
        return False

    def is_idle(self) -> bool:
        from psycopg2.extensions import TRANSACTION_STATUS_IDLE

        return bool(self.conn.info.transaction_status == TRANSACTION_STATUS_IDLE)

    def begin(self, modes: str) -> None:
        self.query(f"{'BEGIN' if self.conn.autocommit else 'SET TRANSACTION'} {modes}")

    def rollback(self) -> None:
        """ROLLBACK as a statement would end the transaction without the driver's knowledge: it would not begin the user's next one."""
        self.conn.rollback()
        if not self.is_idle():  # in autocommit the driver does not know of ours
            self.query("ROLLBACK")

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


def _without(parameters: dict[str, str]) -> dict[str, str]:
    """Without the password, which goes its own way, without a service, whose parameters are among the others, and without what is empty."""
    return {name: value for name, value in parameters.items() if value and name not in ("password", "service", "servicefile")}


class _Utf8:
    """A text as a parameter of psycopg 2 in UTF-8, where client_encoding is SQL_ASCII."""

    def __init__(self, value: str) -> None:
        self.value = value

    def __conform__(self, protocol: object) -> _Utf8:
        return self

    def getquoted(self) -> bytes:
        from psycopg2.extensions import QuotedString

        quoted = QuotedString(self.value)
        quoted.encoding = "utf-8"
        return bytes(quoted.getquoted())


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


def _is_in_block(conn: Any) -> bool:
    """True if a framework has begun a transaction. The driver begins it with the first statement only, and its connection is idle until then."""
    module = type(conn).__module__
    if module.startswith("django."):
        return bool(getattr(conn, "in_atomic_block", False))
    if module == "sqlalchemy.orm.scoping":
        conn = conn()
    if not module.startswith("sqlalchemy.") or not hasattr(conn, "get_transaction"):
        return False
    if hasattr(conn, "bind"):  # a Session begins one by itself whenever it is used; what counts is one that the user asked for
        origin = getattr(conn.get_transaction(), "origin", None)
        return getattr(origin, "name", "AUTOBEGIN") != "AUTOBEGIN"
    return conn.get_transaction() is not None


def make_session(conn: Any, function: str) -> Session:
    """The session over a user's connection, which is checked. `function` is that of the caller, for messages."""
    is_async = type(conn).__module__.startswith("sqlalchemy.ext.asyncio")  # these look like the synchronous ones
    in_block = not is_async and _is_in_block(conn)  # a Session is in one as soon as it was asked for its connection
    inner = conn if is_async else _driver_connection(conn)
    module = type(inner).__module__.partition(".")[0]
    if is_async or "Async" in type(inner).__name__ or module == "asyncpg":
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
    if session.is_in_pipeline():
        raise NeardupError(
            f"the connection is in pipeline mode, and {function} needs the result of each statement: leave the pipeline before the call"
        )
    session.in_block = in_block and not session.get_autocommit()
    return session


@contextmanager
def own_transactions(session: Session, function: str) -> Iterator[None]:
    """Autocommit, so that each batch is a transaction of its own; at the end what the user had."""
    refusal = f"the connection is in a transaction, and {function} commits each batch: commit or roll back before the call"
    if session.in_block or not session.is_idle():
        raise NeardupError(refusal)
    before = session.get_autocommit()
    session.set_autocommit(True)
    try:
        session.query("SELECT 1")
        if not session.is_idle():  # within `with conn:` psycopg 2 begins one in autocommit, too
            raise NeardupError(refusal)
        yield
    finally:
        _set_back(session, "autocommit", before)


def _set_back(session: Session, what: Literal["autocommit", "client_encoding"], before: Any) -> None:
    """To what the user had. Where this fails, it does not hide the result of the call, or its error."""
    if session.is_closed():
        return
    try:
        if what == "client_encoding":
            session.set_client_encoding(before)
            return
        if not session.is_idle():
            session.rollback()
        session.set_autocommit(before)
    except Exception as error:
        if not session.is_closed():
            warnings.warn(f"neardup could not set {what} of the connection back to {before}: {error}", RuntimeWarning, stacklevel=2)


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
        _set_back(session, "client_encoding", before)


@contextmanager
def transaction(session: Session) -> Iterator[None]:
    """One transaction within own_transactions()."""
    session.query("BEGIN")
    try:
        yield
    except BaseException:
        if not session.is_closed():
            session.rollback()
        raise
    session.query("COMMIT")


@contextmanager
def snapshot(session: Session) -> Iterator[None]:
    """Reads within a transaction that ends here, or behind a savepoint of the user's. Both are rolled back: no setting stays."""
    own = session.is_idle()
    if not own:
        session.query("SAVEPOINT neardup_report")
    try:
        if own:
            session.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield
    finally:
        if not session.is_closed():
            if own:
                session.rollback()
            else:
                session.query("ROLLBACK TO SAVEPOINT neardup_report; RELEASE SAVEPOINT neardup_report")
