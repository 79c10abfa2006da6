"""The result of a load, and its summary: as `neardup load` of the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

EXAMPLES: Final = 10  # of skipped records


@dataclass
class Stored:
    """The numbers of rows that a transaction has added and changed."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    left_out: int = 0  # by a trigger
    bytes: int = 0
    of_files: Sequence[str] = ()  # paths that rows of files have


@dataclass
class LoadResult:
    """The result of a load. Its str() is the summary that `neardup load` prints."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    bytes: int = 0  # of text, in new and changed rows
    seconds: float = 0.0
    skipped: Counter[str] = field(default_factory=Counter)  # by reason
    examples: list[tuple[str, str, str]] = field(default_factory=list)  # the first skipped: reason, path, detail
    unnoted: int = 0  # files that cannot be noted in TABLE_files: the next load reads them again

    def __str__(self) -> str:
        rate = self.bytes / max(self.seconds, 1e-3)
        text = (
            f"{self.new} new, {self.changed} changed, {self.unchanged} unchanged; "
            f"{_human(self.bytes)} of text in {self.seconds:.1f} s ({_human(rate)}/s)"
        )
        if self.skipped:
            text += f"\n{self.skipped.total()} skipped: " + ", ".join(f"{number} {reason}" for reason, number in sorted(self.skipped.items()))
        if self.unnoted:
            text += f"\n{self.unnoted} files of records cannot be noted as read (path or options do not fit); the next load reads them again"
        return text

    def add(self, stored: Stored) -> None:
        self.new += stored.new
        self.changed += stored.changed
        self.unchanged += stored.unchanged
        self.bytes += stored.bytes
        if stored.left_out:
            self.skipped["left out by a trigger"] += stored.left_out
        for path in stored.of_files:
            self.skip("with the path of another row", path, "a file has this path")

    def skip(self, reason: str, path: str, detail: str = "") -> None:
        self.skipped[reason] += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append((reason, path, detail))


def _human(number: float) -> str:
    units = iter(("B", "kB", "MB", "GB", "TB"))
    unit = next(units)
    while number >= 999.5 and unit != "TB":
        number, unit = number / 1000, next(units)
    return f"{number:.0f} {unit}" if unit == "B" or number >= 99.95 else f"{number:.1f} {unit}"
