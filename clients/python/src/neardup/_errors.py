"""The errors of this package. Those of the server stay the driver's own."""

from __future__ import annotations


class NeardupError(Exception):
    """Something is missing in the database or on this machine. The message ends with what to do."""


def unknown_format(form: int, known: int) -> str:
    """Why a binary form is refused whose first byte this package does not know."""
    return f"format {form} is not known, this package reads format {known}. A newer version of the package may read it"


def shown(value: object, most: int = 32) -> str:
    """A value as messages show it: short, and printable whatever it holds."""
    text = ascii(value)
    return text if len(text) <= most + 2 else text[:most] + ".."


def text_error(kind: str, value: str, why: str, hint: str) -> ValueError:
    """The error for a text that is not the text form of a type, worded as the server's."""
    return ValueError(f"invalid input syntax for type {kind}: {shown(value)}. {why} {hint}")


def type_error(what: str, wanted: str, value: object) -> TypeError:
    return TypeError(f"{what} must be {wanted}, not {type(value).__name__}: {shown(value)}")
