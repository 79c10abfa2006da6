"""The program neardup, which writes the pages: run with the connection of the caller."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Final

from ._errors import NeardupError, type_error
from ._session import Session

EXECUTABLE: Final = "neardup"


def run_program(session: Session, command: str, arguments: list[str], missing: str) -> None:
    """`neardup COMMAND --quiet ARGUMENTS`. missing: what the caller wants it for, and what else there is, for the error without it."""
    executable = shutil.which(EXECUTABLE)
    if executable is None:
        raise NeardupError(missing)
    info = session.conn.info
    names = {"host": "PGHOST", "port": "PGPORT", "dbname": "PGDATABASE", "user": "PGUSER", "password": "PGPASSWORD"}
    variables = {variable: str(getattr(info, name)) for name, variable in names.items() if getattr(info, name, None)}
    done = subprocess.run(
        [executable, command, "--quiet", *arguments], env={**os.environ, **variables}, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise NeardupError(f"neardup {command} ended with status {done.returncode}: {done.stderr.strip()}")


def check_number(name: str, value: int, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise type_error(name, "a whole number", value)
    if not least <= value <= most:
        raise ValueError(f"{name} must be between {least} and {most}: {value}")
