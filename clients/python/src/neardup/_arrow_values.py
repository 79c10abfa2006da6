"""Columns of Arrow as Python's values. Where pandas is installed, Arrow makes others of times with nanoseconds; here they are the same."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa

EPOCH: Final = datetime(1970, 1, 1)
DAY: Final = 86400 * 10**9  # nanoseconds
MICROSECONDS_END: Final = {"timestamp": len("1970-01-01T00:00:00.000000"), "time": len("00:00:00.000000")}  # in Python's text, before a zone


def python_values(column: Any, separator: str) -> list[Any]:
    """The values as column.to_pylist() has them, except for those that Python lacks, also within lists, structs, maps and dictionaries.

    Of a time, a timestamp or a duration of Arrow's unit ns: as that of microseconds where these suffice, else its text, as Python writes it, with
    three digits more, and with `separator` between day and time. Of a time beyond Python's, or in a zone that this machine does not know: the
    number that Arrow has. Of a text that is not valid UTF-8: U+FFFD for what is broken. Raises ValueError for a struct with two fields of one name.
    """
    if not _has_nanoseconds(column.type):
        try:
            values: list[Any] = column.to_pylist()
            return values
        except (UnicodeDecodeError, OverflowError, ValueError):
            pass  # a value that Python lacks; the others are as they are
    return [_value(scalar, separator) for scalar in column]


def _has_nanoseconds(kind: Any) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return _has_nanoseconds(kind.storage_type)
    if getattr(kind, "unit", None) == "ns":
        return True
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _has_nanoseconds(kind.value_type)
    return any(_has_nanoseconds(kind.field(number).type) for number in range(kind.num_fields))


def _value(scalar: Any, separator: str) -> Any:
    if not scalar.is_valid:
        return None
    kind = scalar.type
    if isinstance(scalar, pa.MapScalar):
        return [(_value(entry[0], separator), _value(entry[1], separator)) for entry in scalar.values]
    if isinstance(scalar, pa.ListScalar):  # of every kind
        return [_value(item, separator) for item in scalar.values]
    if isinstance(scalar, pa.StructScalar):
        names = [kind.field(number).name for number in range(kind.num_fields)]
        if len(set(names)) < len(names):
            raise ValueError("it has two fields of one name")
        return {name: _value(scalar[number], separator) for number, name in enumerate(names)}
    if isinstance(scalar, (pa.DictionaryScalar, pa.RunEndEncodedScalar, pa.UnionScalar)):
        return _value(scalar.value, separator)
    if isinstance(scalar, pa.ExtensionScalar) and _has_nanoseconds(kind):  # others may have values of their own, such as UUIDs
        return _value(scalar.value, separator)
    if getattr(kind, "unit", None) == "ns":
        return _from_nanoseconds(kind, scalar.value, separator)
    return _plain_value(scalar)


def _plain_value(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        if isinstance(scalar, pa.ExtensionScalar):  # such as JSON
            return _plain_value(scalar.value)
        return scalar.as_buffer().to_pybytes().decode("utf-8", "replace")
    except (OverflowError, ValueError):
        number = getattr(scalar, "value", None)
        if isinstance(number, int):
            return number
        raise


def _from_nanoseconds(kind: Any, number: int, separator: str) -> Any:
    """Every duration and timestamp of 64 bits is within Python's."""
    microseconds, rest = divmod(number, 1000)
    span = timedelta(microseconds=microseconds)
    if pa.types.is_duration(kind):
        return span if rest == 0 else f"{span}{'' if span.microseconds else '.000000'}{rest:03}"
    if pa.types.is_time(kind):
        if not 0 <= number < DAY:
            return number
        time = (EPOCH + span).time()
        return time if rest == 0 else _with_digits(time.isoformat("microseconds"), rest, MICROSECONDS_END["time"])
    try:
        moment = EPOCH + span if kind.tz is None else (EPOCH.replace(tzinfo=timezone.utc) + span).astimezone(_zone(kind.tz))
    except ValueError:  # a zone that this machine does not know
        return number
    return moment if rest == 0 else _with_digits(moment.isoformat(separator, "microseconds"), rest, MICROSECONDS_END["timestamp"])


def _with_digits(text: str, rest: int, at: int) -> str:
    return f"{text[:at]}{rest:03}{text[at:]}"


@lru_cache
def _zone(name: str) -> tzinfo:
    """As Arrow finds it: older versions by pytz, where that is installed, whose offsets of local mean time have no seconds."""
    found: tzinfo = pa.scalar(0, pa.timestamp("us", name)).as_py().tzinfo
    return found
