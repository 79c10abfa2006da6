"""neardup.refresh(): refresh_duplicates() on one connection, its progress from another. `neardup run` of the command line."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from ._errors import shown, type_error
from ._job import Job, find_job
from ._session import Session, make_session, own_transactions

LOOK_EVERY = 0.25  # seconds
MAX_BATCH = (1 << 31) - 1
MAX_TIME_LIMIT = 10**9  # seconds: 31 years


@dataclass(frozen=True)
class Status:
    """The progress of a refresh: what duplicates_status and neardup_progress() show."""

    phase: str  # listing, counting, signing, indexing, clustering
    share: float | None  # of the phase, where it is known
    text: str  # for people
    done: int
    total: int | None
    rate: float | None  # rows per second
    time_left: float | None  # seconds


@dataclass(frozen=True)
class RefreshResult:
    """The result of a refresh. Its str() is what `neardup run` prints."""

    finished: bool  # False: the time limit or a pause stopped it, and the next refresh continues
    seconds: float
    done: int = 0
    total: int = 0
    rows: int = 0
    clusters: int = 0  # of at least 2 rows
    duplicates: int = 0
    new_duplicates: int = 0
    changes: dict[str, int] = field(default_factory=dict)  # clusters of earlier runs: merged, split, gone

    def __str__(self) -> str:
        if not self.finished:
            return f"not finished: {self.done} of {self.total} rows signed in {self.seconds:.1f} s; the next run goes on"
        share = 100 * self.duplicates / self.rows if self.rows else 0.0
        text = (
            f"{self.rows} rows, {self.clusters} clusters of 2 or more, {self.duplicates} duplicates ({share:.1f} %), "
            f"{self.new_duplicates} of them new since the last run; {self.seconds:.1f} s"
        )
        if self.changes:
            text += "\nclusters of earlier runs: " + ", ".join(f"{number} {change}" for change, number in sorted(self.changes.items()))
        return text


Progress = bool | Callable[[Status], None] | None


def _seconds_text(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _read_status(row: Sequence[Any]) -> Status | None:
    """Reads a row of run_progress(); None before the start and after the end."""
    phase, done, total, rate, left, elapsed, step, rows_read, searched, pairs = row
    done, elapsed = done or 0, elapsed or 0
    share: float | None = None
    text: str = phase
    if phase == "signing" and total:
        share = done / total
        text += f": {done} of {total} rows"
        if rate:
            text += f", {int(rate)} rows/s"
        if left is not None:
            text += f", {_seconds_text(left)} left"
    elif phase in ("clustering", "counting"):
        if phase == "counting":
            text = "counting passages"
        if searched is not None:
            share = searched
            text += ": searching" if phase == "counting" else f": searching, {pairs} pairs"
        elif step == "reading rows":
            text += f": {rows_read} rows read"
        elif step:
            text += f": {step}"
        if share is None:
            text += f", {_seconds_text(elapsed)}"
    elif phase in ("listing", "indexing"):
        text = "listing the rows that have changed" if phase == "listing" else "indexing the signatures"
        text += f", {_seconds_text(elapsed)}"
    elif phase != "signing":
        return None
    return Status(phase, share, text, done, total, rate or None, left)


class _Watch:
    """Looks at the refresh through a connection of its own. Where it cannot look, the refresh runs unwatched."""

    def __init__(self, session: Session, job: Job, show: Callable[[Status], None]) -> None:
        self.show = show
        self.job = job
        self.session: Session | None = None
        try:
            self.session = session.second()
            self.session.query("SET statement_timeout = '5s'")
        except Exception as error:
            print(f"neardup.refresh: no second connection to show how far it is: {error}", file=sys.stderr)

    def look(self) -> None:
        if self.session is None:
            return
        try:
            rows = self.job.ask(self.session, "run_progress")
        except Exception as error:
            if self.session.sqlstate(error) != "57014":  # a slow answer is not the last one
                self.close()
            return
        status = _read_status(rows[0]) if rows else None
        if status is not None:
            self.show(status)

    def close(self) -> None:
        if self.session is not None:
            self.session.close()
            self.session = None


class _Bar:
    """A bar of tqdm, one for each phase."""

    def __init__(self, tqdm: Any) -> None:
        self.tqdm = tqdm
        self.bar: Any = None
        self.phase = ""

    def __call__(self, status: Status) -> None:
        if status.phase != self.phase:
            self.close()
            self.phase = status.phase
            self.bar = self.tqdm(total=100, desc=status.phase, unit="%", leave=False, bar_format="{l_bar}{bar}| {postfix}")
        self.bar.n = round(100 * (status.share or 0), 1)
        self.bar.set_postfix_str(status.text)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None


def progress_bar() -> Any:
    """The class tqdm, where it is installed; it chooses the notebook's bar there."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


def _call(session: Session, job: Job, arguments: dict[str, Any], watch: _Watch | None) -> None:
    """CALL in a thread, so that this one can look at it and Ctrl-C can cancel it."""
    types = {"batch": "pg_catalog.int4", "time_limit": "pg_catalog.interval", "rebuild": "pg_catalog.bool"}
    text = "".join(f", {name} => %s::pg_catalog.text::{types[name]}" for name in arguments)
    parameters = [job.name, *(str(value) for value in arguments.values())]
    errors: list[BaseException] = []

    def run() -> None:
        try:
            session.query(f"CALL {job.extension}refresh_duplicates(%s::pg_catalog.text{text})", parameters)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="neardup.refresh")
    thread.start()
    try:
        while thread.is_alive():
            thread.join(LOOK_EVERY)
            if watch is not None and thread.is_alive():
                watch.look()
    except BaseException:
        session.cancel()  # what was committed stays
        thread.join()
        raise
    if errors:
        raise errors[0]


def _summary(session: Session, job: Job, seconds: float) -> RefreshResult:
    ((finished, done, total, rows, clusters, duplicates, fresh),) = job.ask(session, "run_summary")
    if not finished:
        return RefreshResult(False, seconds, done, total)
    changes = {str(change): number for change, number in job.ask(session, "run_changes")}
    return RefreshResult(True, seconds, done, total, rows, clusters, duplicates, fresh, changes)


def _arguments(batch: int | None, time_limit: timedelta | float | str | None, rebuild: bool) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    if batch is not None:
        if isinstance(batch, bool) or not isinstance(batch, int):
            raise type_error("batch", "a whole number", batch)
        if not 1 <= batch <= MAX_BATCH:
            raise ValueError(f"batch must be between 1 and {MAX_BATCH}: {shown(batch)}")
        arguments["batch"] = batch
    if time_limit is not None:
        if isinstance(time_limit, timedelta):
            time_limit = time_limit.total_seconds()
        if isinstance(time_limit, bool) or not isinstance(time_limit, (int, float, str)):
            raise type_error("time_limit", "a timedelta, a number of seconds or an interval such as '30min'", time_limit)
        if not isinstance(time_limit, str) and not 0 <= time_limit <= MAX_TIME_LIMIT:  # NaN, too
            raise ValueError(f"time_limit must be between 0 and {MAX_TIME_LIMIT} seconds: {shown(time_limit)}")
        arguments["time_limit"] = time_limit if isinstance(time_limit, str) else f"{time_limit:.6f} s"  # an interval has no exponents
    if rebuild:
        arguments["rebuild"] = True
    return arguments


def refresh(
    conn: Any,
    job: str,
    *,
    batch: int | None = None,
    time_limit: timedelta | float | str | None = None,
    rebuild: bool = False,
    progress: Progress = None,
) -> RefreshResult:
    """Brings the table of duplicates `job` up to date: CALL refresh_duplicates(), in autocommit. What a run has committed stays.

    A connection in a transaction is refused, because each batch is committed.

    batch: rows that are signed and committed together (10000). time_limit: no batch begins after this time; a timedelta, seconds (at most
    1000000000) or an interval such as '30min'. rebuild: sign and cluster all rows again. progress: None shows a bar of tqdm if it is
    installed and stderr is a terminal, True shows it in any case, False shows nothing; a function is called with a Status. Ctrl-C cancels
    the statement; the next refresh continues.
    """
    session = make_session(conn, "neardup.refresh")
    arguments = _arguments(batch, time_limit, rebuild)
    bar: _Bar | None = None
    show = progress if callable(progress) else None
    if show is None and (progress or (progress is None and sys.stderr.isatty())):
        tqdm = progress_bar()
        if tqdm is not None:
            show = bar = _Bar(tqdm)
        elif progress:
            raise ImportError("progress=True needs tqdm: pip install tqdm")
    with own_transactions(session, "neardup.refresh"):
        found = find_job(session, job)
        watch = _Watch(session, found, show) if show is not None else None
        began = time.monotonic()
        try:
            _call(session, found, arguments, watch)
        finally:
            if watch is not None:
                watch.close()
            if bar is not None:
                bar.close()
        return _summary(session, found, time.monotonic() - began)
