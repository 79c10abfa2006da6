"""The migration operation that creates the extension."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.operations import CreateExtension


class NeardupExtension(CreateExtension):  # type: ignore[misc]
    """CREATE EXTENSION IF NOT EXISTS neardup. The files of the extension must be installed on the server."""

    def __init__(self, **options: Any) -> None:
        super().__init__("neardup", **options)

    def deconstruct(self) -> Any:
        name, args, kwargs = super().deconstruct()
        return name, [], {key: value for key, value in kwargs.items() if key != "name"}
