"""A ctph digest (fuzzy digest, as ssdeep prints it): docs/format.md 11 of the extension has its forms."""

from __future__ import annotations

import re
import struct
from functools import total_ordering
from typing import Final

from ._errors import text_error, type_error, unknown_format

FORMAT: Final = 1
EXPONENTS: Final = 31
LEAST_BLOCK: Final = 3
LENGTH: Final = 64  # of ssdeep's digests
MAX_LENGTH: Final = 1024
MAX_SSDEEP_PART: Final = 1024  # of a part as it is written; of one whose runs are cut to three, LENGTH
HEADER: Final = struct.Struct(">BBHHH")  # format, exponent, length, characters of part 1 and of part 2
PART: Final = re.compile(r"[A-Za-z0-9+/]*", re.ASCII)
LONG_RUN: Final = re.compile(r"(.)\1{3,}")
NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
TEXT_START: Final = re.compile(rb"(long)?[0-9]+:")
HINT: Final = "A digest reads blocksize:part1:part2, as ssdeep prints it. To digest a document, use to_ctph(...) in SQL."


@total_ordering
class Ctph:
    """A fuzzy digest, immutable: `Ctph(text)` reads `blocksize:part1:part2`; a file name after it is ignored."""

    __slots__ = ("_exponent", "_length", "_part1", "_part2")
    _exponent: int
    _length: int
    _part1: str
    _part2: str

    def __init__(self, value: str | Ctph) -> None:
        if isinstance(value, Ctph):
            fields = (value._exponent, value._length, value._part1, value._part2)
        elif isinstance(value, str):
            fields = _fields_of_text(value)
        else:
            raise type_error("a ctph digest", "its text form (str); Ctph.from_binary() takes bytes", value)
        for name, field in zip(self.__slots__, fields):
            object.__setattr__(self, name, field)

    @classmethod
    def from_text(cls, text: str) -> Ctph:
        return cls(text)

    @classmethod
    def from_binary(cls, data: bytes | bytearray | memoryview) -> Ctph:
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise type_error("the binary form of a ctph digest", "bytes", data)
        fields = _fields_of_wire(bytes(data))
        self = object.__new__(cls)
        for name, field in zip(cls.__slots__, fields):
            object.__setattr__(self, name, field)
        return self

    @property
    def block_size(self) -> int:
        return LEAST_BLOCK << self._exponent

    @property
    def part1(self) -> str:
        return self._part1

    @property
    def part2(self) -> str:
        return self._part2

    @property
    def length(self) -> int:
        """64 for ssdeep's digests; the argument of ctph_long() for longer ones."""
        return self._length

    @property
    def is_long(self) -> bool:
        return self._length != LENGTH

    def to_text(self) -> str:
        text = f"{self.block_size}:{self._part1}:{self._part2}"
        return f"long{self._length}:{text}" if self.is_long else text

    def to_binary(self) -> bytes:
        header = HEADER.pack(FORMAT, self._exponent, self._length, len(self._part1), len(self._part2))
        return header + (self._part1 + self._part2).encode("ascii")

    __str__ = to_text

    def __repr__(self) -> str:
        return f"Ctph('{self.to_text()}')"

    def __eq__(self, other: object) -> bool:
        return self.to_binary() == other.to_binary() if isinstance(other, Ctph) else NotImplemented

    def __lt__(self, other: Ctph) -> bool:
        return self.to_binary() < other.to_binary() if isinstance(other, Ctph) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_binary())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Ctph cannot be changed")

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        return Ctph.from_binary, (self.to_binary(),)


def _part_fault(part: str, name: str, length: int) -> str | None:
    if PART.fullmatch(part) is None:
        return f"{name} has characters other than A-Z, a-z, 0-9, + and /"
    most = MAX_SSDEEP_PART if length == LENGTH else length
    if len(part) > most:
        return f"{name} has {len(part)} characters, at most {most} are allowed"
    cut = len(LONG_RUN.sub(r"\1\1\1", part))
    if length == LENGTH and cut > LENGTH:
        return f"{name} has {cut} characters when runs are cut to three, at most {LENGTH} are allowed"
    return None


def _number(text: str, what: str, value: str) -> int:
    if NUMBER.fullmatch(value) is None:
        raise text_error("ctph", text, f"The {what} is not a number.", HINT)
    return int(value)


def _fields_of_text(text: str) -> tuple[int, int, str, str]:
    parts = text.partition(",")[0].split(":")
    length = LENGTH
    if parts[0].startswith("long"):
        length = _number(text, "length", parts.pop(0)[4:])
        if not LENGTH < length <= MAX_LENGTH:
            raise text_error("ctph", text, f"The length of a long digest is between {LENGTH + 1} and {MAX_LENGTH}: {length}.", HINT)
    if len(parts) != 3:
        raise text_error("ctph", text, "A digest has a block size and two parts, with colons between them.", HINT)
    size = _number(text, "block size", parts[0])
    exponent = (size // LEAST_BLOCK).bit_length() - 1
    if not 0 <= exponent < EXPONENTS or LEAST_BLOCK << exponent != size:
        raise text_error("ctph", text, f"The block size must be 3 * 2^i with i = 0..30: {size}.", HINT)
    fault = _part_fault(parts[1], "part 1", length) or _part_fault(parts[2], "part 2", length)
    if fault:
        raise text_error("ctph", text, "P" + fault[1:] + ".", HINT)
    return exponent, length, parts[1], parts[2]


def _fields_of_wire(wire: bytes) -> tuple[int, int, str, str]:
    def corrupt(what: str) -> ValueError:
        return ValueError(f"invalid ctph digest: {what}")

    if TEXT_START.match(wire):
        raise corrupt("this is its text form; Ctph(text) reads it")
    if len(wire) < HEADER.size:
        raise corrupt(f"{len(wire)} bytes are too few")
    form, exponent, length, length1, length2 = HEADER.unpack_from(wire)
    if form != FORMAT:
        raise corrupt(unknown_format(form, FORMAT))
    if exponent >= EXPONENTS:
        raise corrupt(f"the block size is 3 * 2^{exponent}, at most 3 * 2^30")
    if not LENGTH <= length <= MAX_LENGTH:
        raise corrupt(f"length is {length}, it must be between {LENGTH} and {MAX_LENGTH}")
    if len(wire) != HEADER.size + length1 + length2:
        raise corrupt(f"{len(wire)} bytes, {HEADER.size + length1 + length2} expected")
    characters = wire[HEADER.size :].decode("latin-1")
    part1, part2 = characters[:length1], characters[length1:]
    fault = _part_fault(part1, "part 1", length) or _part_fault(part2, "part 2", length)
    if fault:
        raise corrupt(fault)
    return exponent, length, part1, part2
