"""Texts on their way to a driver and from it."""

from __future__ import annotations

from typing import Any


def decode_text(value: Any) -> Any:
    """A text that came as bytes, as a str: psycopg 3 knows no encoding of texts where client_encoding is SQL_ASCII. All else as it is."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def percent_doubled(name: str) -> str:
    """A name as it stands in a statement with parameters, where % begins a placeholder."""
    return name.replace("%", "%%")
