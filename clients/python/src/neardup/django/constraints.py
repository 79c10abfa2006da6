"""The constraint that refuses copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.postgres.constraints import ExclusionConstraint
from django.db.models import F

from .functions import WithThreshold

IN_PLACE_OF_LSH = "gist"  # Django's own class accepts only its two index types


class NoCopiesConstraint(ExclusionConstraint):  # type: ignore[misc]
    """Refuses a row whose similarity to another row is `threshold` or more.

    `signature` is the name of a MinhashField or an expression such as ToMinhash("body"). With `within`, a list of fields, only
    rows with equal values in these are copies of each other. Model.full_clean() checks it, too; the database decides.
    """

    default_violation_error_message = "This is a near copy of an existing row."

    def __init__(self, *, name: str, signature: Any, threshold: Any = 0.8, within: Sequence[Any] = (), **options: Any) -> None:
        self.signature, self.threshold, self.within = signature, threshold, tuple(within)
        reference = F(signature) if isinstance(signature, str) else signature
        expressions = [(field, "=") for field in self.within] + [(WithThreshold(reference, threshold), "&&")]
        super().__init__(name=name, expressions=expressions, index_type=IN_PLACE_OF_LSH, **options)
        self.index_type = "lsh"

    def deconstruct(self) -> Any:
        path, args, kwargs = super().deconstruct()
        for made in ("expressions", "index_type"):
            kwargs.pop(made, None)
        kwargs["signature"] = self.signature
        kwargs["threshold"] = self.threshold
        if self.within:
            kwargs["within"] = self.within
        return path, args, kwargs
