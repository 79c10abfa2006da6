"""A simhash: 64 bits; docs/format.md 10 of the extension has its forms."""

from __future__ import annotations

import math
import re
from functools import total_ordering
from typing import Final

from ._errors import shown, text_error, type_error

BITS: Final = 64
BYTES: Final = BITS // 8
DIGITS: Final = BITS // 4
TEXT_FORM: Final = re.compile(r"[0-9A-Fa-f]{16}", re.ASCII)


@total_ordering
class SimHash:
    """A simhash, immutable: `SimHash(text)` reads 16 hexadecimal digits, `SimHash(number)` a number of 64 bits.

    Order and equality are those of unsigned numbers, as in the server.
    """

    __slots__ = ("_value",)
    _value: int

    def __init__(self, value: str | int | SimHash) -> None:
        if isinstance(value, SimHash):
            number = value._value
        elif isinstance(value, str):
            if TEXT_FORM.fullmatch(value) is None:
                raise text_error("simhash", value, f"A simhash has {DIGITS} hexadecimal digits.", "To make one, use to_simhash(...) in SQL.")
            number = int(value, 16)
        elif isinstance(value, int) and not isinstance(value, bool):
            if not 0 <= value < 1 << BITS:
                raise ValueError(f"a simhash is from 0 to 2^64 - 1; SimHash.from_bigint() takes signed numbers: {shown(value)}")
            number = value
        else:
            raise type_error("a simhash", "its text form (str) or a whole number", value)
        object.__setattr__(self, "_value", number)

    @classmethod
    def from_text(cls, text: str) -> SimHash:
        if not isinstance(text, str):
            raise type_error("the text form of a simhash", "a str", text)
        return cls(text)

    @classmethod
    def from_binary(cls, data: bytes | bytearray | memoryview) -> SimHash:
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise type_error("the binary form of a simhash", "bytes", data)
        if len(data) != BYTES:
            raise ValueError(f"invalid simhash: {len(data)} bytes, {BYTES} expected")
        return cls(int.from_bytes(data, "big"))

    @classmethod
    def from_bigint(cls, number: int) -> SimHash:
        """The simhash with the bits of a signed number, as the cast from bigint makes it."""
        if isinstance(number, bool) or not isinstance(number, int):
            raise type_error("a bigint", "a whole number", number)
        if not -(1 << (BITS - 1)) <= number < 1 << (BITS - 1):
            raise ValueError(f"a bigint is from -2^63 to 2^63 - 1: {shown(number)}")
        return cls(number % (1 << BITS))

    def to_text(self) -> str:
        return f"{self._value:0{DIGITS}x}"

    def to_binary(self) -> bytes:
        return self._value.to_bytes(BYTES, "big")

    def to_bigint(self) -> int:
        return self._value - (1 << BITS if self._value >> (BITS - 1) else 0)

    __str__ = to_text

    def __int__(self) -> int:
        return self._value

    __index__ = __int__

    def __repr__(self) -> str:
        return f"SimHash('{self.to_text()}')"

    def __eq__(self, other: object) -> bool:
        return self._value == other._value if isinstance(other, SimHash) else NotImplemented

    def __lt__(self, other: SimHash) -> bool:
        return self._value < other._value if isinstance(other, SimHash) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a SimHash cannot be changed")

    def __reduce__(self) -> tuple[type[SimHash], tuple[int]]:
        return SimHash, (self._value,)

    def hamming(self, other: SimHash) -> int:
        """Number of differing bits, from 0 to 64: the number that hamming(a, b) returns."""
        if not isinstance(other, SimHash):
            raise type_error("the other value", "a SimHash", other)
        return (self._value ^ other._value).bit_count()

    def cosine(self, other: SimHash) -> float:
        """Estimated cosine of the features: cos(pi * hamming / 64)."""
        return math.cos(math.pi * self.hamming(other) / BITS)
