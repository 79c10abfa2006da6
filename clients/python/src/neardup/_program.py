"""The program neardup, which writes the pages: run with the connection of the caller."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import Final

from ._errors import NeardupError, type_error
from ._session import Session, snapshot

EXECUTABLE: Final = "neardup"

# libpq makes a connection, of another database maybe, by variables that begin so; these only say how a session writes and where files are.
CONNECTION_VARIABLES: Final = "PG"
OTHER_VARIABLES: Final = frozenset(("PGDATESTYLE", "PGTZ", "PGGEQO", "PGLOCALEDIR", "PGSYSCONFDIR"))

# Left out, because the program's libpq may be older than the driver's and not know the parameter.
DEFAULTS: Final = {
    "channel_binding": "prefer", "gssdelegation": "0", "gssencmode": "prefer", "krbsrvname": "postgres", "load_balance_hosts": "disable",
    "ssl_min_protocol_version": "TLSv1.2", "sslcertmode": "allow", "sslcompression": "0", "sslmode": "prefer", "sslnegotiation": "postgres",
    "sslsni": "1", "target_session_attrs": "any",
}  # fmt: skip

SPACE: Final = r"\s"
QUOTE: Final = "'"

# Arguments of a program are seen by all users of the machine.
SECRETS: Final = frozenset(("sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"))


def run_program(session: Session, command: str, arguments: list[str], missing: str) -> None:
    """`neardup COMMAND --quiet ARGUMENTS`. missing: what the caller wants it for, and what else there is, for the error without it."""
    executable = shutil.which(EXECUTABLE)
    if executable is None:
        raise NeardupError(missing)
    done = subprocess.run(
        [executable, command, "--quiet", "--dbname", _conninfo(session), *arguments],
        env=_environment(session),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise NeardupError(f"neardup {command} ended with status {done.returncode}: {done.stderr.strip()}")


def _environment(session: Session) -> dict[str, str]:
    """Without the variables that could lead to another database, as PGSERVICE does."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(CONNECTION_VARIABLES) or name in OTHER_VARIABLES}
    password = session.conn.info.password
    return {**kept, "PGPASSWORD": password} if password else kept


def _conninfo(session: Session) -> str:
    """The connection string of another connection that is like the caller's."""
    parameters = {name: value for name, value in session.parameters().items() if name not in SECRETS and value != DEFAULTS.get(name)}
    options = [parameters["options"]] if "options" in parameters else []
    options += [f"-c {name}={_escaped(value, SPACE)}" for name, value in _settings(session)]
    if options:
        parameters["options"] = " ".join(options)
    return " ".join(f"{name}='{_escaped(value, QUOTE)}'" for name, value in parameters.items())


def _settings(session: Session) -> list[tuple[str, str]]:
    """The settings that SET has changed of who reads, and of what names mean."""
    with snapshot(session):
        rows = session.query(
            "SELECT name, setting FROM pg_catalog.pg_settings WHERE name OPERATOR(pg_catalog.=) 'search_path' AND setting OPERATOR(pg_catalog.<>) reset_val"
            " UNION ALL SELECT 'role', r FROM pg_catalog.current_setting('role') r WHERE r OPERATOR(pg_catalog.<>) 'none'"
        )
    return [(str(name), str(value)) for name, value in rows]


def _escaped(value: str, special: str) -> str:
    """The value with a backslash before each backslash and before what the pattern `special` matches."""
    return re.sub(rf"\\|{special}", lambda found: "\\" + found[0], value)


def check_number(name: str, value: int, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise type_error(name, "a whole number", value)
    if not least <= value <= most:
        raise ValueError(f"{name} must be between {least} and {most}: {value}")
