"""An index `USING lsh`."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.indexes import PostgresIndex

from .._errors import type_error

PARAMETERS = ("threshold", "recall", "pending_limit")


class LshIndex(PostgresIndex):  # type: ignore[misc]
    """LshIndex(fields=["sig"], name="docs_sig", threshold=0.6), or of expressions: LshIndex(ToMinhash("body"), name="docs_body")."""

    suffix = "lsh"

    def __init__(self, *expressions: Any, **kwargs: Any) -> None:
        self.parameters = {name: kwargs.pop(name) for name in PARAMETERS if kwargs.get(name) is not None}
        for name, value in self.parameters.items():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
                raise type_error(f"the storage parameter {name}", "a number", value)
        super().__init__(*expressions, **kwargs)

    def deconstruct(self) -> Any:
        path, args, kwargs = super().deconstruct()
        return path, args, {**kwargs, **self.parameters}

    def get_with_params(self) -> list[str]:
        return [f"{name} = {value!r}" for name, value in self.parameters.items()]
