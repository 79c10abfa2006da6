"""A minhash signature: docs/format.md 1 of the extension has its text form and its binary form."""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Iterable
from functools import total_ordering
from typing import Final, Literal

from ._errors import shown, text_error, type_error, unknown_format

FORMAT: Final = 1
EMPTY: Final = 1  # of the flags
MIN_NUM_PERM: Final = 16
MAX_NUM_PERM: Final = 4096
MAX_K: Final = 64
WIDTHS: Final[dict[int, Literal["B", "H", "I"]]] = {8: "B", 16: "H", 32: "I"}  # bits of a component: its code of struct
HEADER: Final = struct.Struct(">BBBBHBBq")  # format, kind, k, bits, num_perm, tokenizer, flags, seed

WORD, CHAR, BYTE, TEXT_SET, BIGINT_SET, IMPORTED, WEIGHTED, LINE, PARAGRAPH, CODE = range(1, 11)
TEXT_NAMES: Final = {
    WORD: "word", CHAR: "char", BYTE: "byte", TEXT_SET: "text", BIGINT_SET: "bigint", IMPORTED: "import", WEIGHTED: "weighted",
    LINE: "line", PARAGRAPH: "para", CODE: "code",
}  # fmt: skip
KINDS: Final = {name: kind for kind, name in TEXT_NAMES.items()}
SOURCES: Final = {
    WORD: "text", CHAR: "text", BYTE: "bytea", TEXT_SET: "text[]", BIGINT_SET: "bigint[]", IMPORTED: "import", WEIGHTED: "weighted",
    LINE: "text", PARAGRAPH: "text", CODE: "text",
}  # fmt: skip
UNITS: Final = {WORD: "word", CHAR: "char", BYTE: "byte", LINE: "line", PARAGRAPH: "paragraph", CODE: "code"}  # of shingles
TOKENIZED: Final = (WORD, CODE)  # have a version of their rules

TEXT_FORM: Final = re.compile(
    rf"mh1:(?P<kind>{'|'.join(KINDS)})" + r"(?P<k>[0-9]{0,3}):(?P<num_perm>[0-9]{1,5})x(?P<bits>[0-9]{1,3})"
    r":s(?P<seed>-?[0-9]{1,19}):t(?P<tokenizer>[0-9]{1,3}):(?P<components>[A-Za-z0-9_-]*)",
    re.ASCII,
)
SHAPE: Final = "A signature has six parts separated by colons: mh1:word3:128x32:s0:t1:..."
HINT: Final = "To sign a document, use to_minhash(...) in SQL."


@total_ordering
class Minhash:
    """A minhash signature, immutable. `Minhash(text)` reads the text form, `Minhash.from_binary(data)` the binary form.

    Two signatures are equal when their parameters and components are. `jaccard` and `containment` return what the
    functions of the extension return. The order is arbitrary but fixed, and is not the server's.
    """

    __slots__ = ("_wire",)
    _wire: bytes

    def __init__(self, value: str | Minhash) -> None:
        if isinstance(value, Minhash):
            wire = value._wire
        elif isinstance(value, str):
            wire = _wire_of_text(value)
        else:
            raise type_error("a minhash", "its text form (str); Minhash.from_binary() takes bytes", value)
        object.__setattr__(self, "_wire", wire)

    @classmethod
    def _from_wire(cls, wire: bytes) -> Minhash:
        self = object.__new__(cls)
        object.__setattr__(self, "_wire", wire)
        return self

    @classmethod
    def from_text(cls, text: str) -> Minhash:
        return cls(text)

    @classmethod
    def from_binary(cls, data: bytes | bytearray | memoryview) -> Minhash:
        """Reads the binary form, that of binary results and of binary COPY."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise type_error("the binary form of a minhash", "bytes", data)
        wire = bytes(data)
        fault = _fault(wire)
        if fault:
            raise ValueError(f"invalid minhash signature: {fault}")
        return cls._from_wire(wire)

    @classmethod
    def from_components(cls, components: Iterable[int], bits: int = 32, seed: int = 0) -> Minhash:
        """The signature that minhash_import() makes of components that another program computed."""
        if bits not in WIDTHS:
            raise ValueError(f"bits must be 8, 16 or 32: {shown(bits)}")
        values = list(components)
        if not MIN_NUM_PERM <= len(values) <= MAX_NUM_PERM:
            raise ValueError(f"a signature has from {MIN_NUM_PERM} to {MAX_NUM_PERM} components: {len(values)}")
        for value in values:
            if isinstance(value, bool) or not hasattr(value, "__index__"):
                raise type_error("a component", "a whole number", value)
            if not 0 <= value < 1 << bits:
                raise ValueError(f"a component of {bits} bits is from 0 to {(1 << bits) - 1}: {shown(value)}")
        if not -(1 << 63) <= seed < 1 << 63:
            raise ValueError(f"seed must be a bigint: {shown(seed)}")
        header = HEADER.pack(FORMAT, IMPORTED, 0, bits, len(values), 0, 0, seed)
        return cls._from_wire(header + struct.pack(f">{len(values)}{WIDTHS[bits]}", *values))

    def to_binary(self) -> bytes:
        return self._wire

    def to_text(self) -> str:
        _, kind, k, bits, num_perm, tokenizer, flags, seed = HEADER.unpack_from(self._wire)
        name = TEXT_NAMES[kind] + (str(k) if kind in UNITS else "")
        last = "empty" if flags & EMPTY else _base64url(_swapped(self._wire[HEADER.size :], bits))
        return f"mh{FORMAT}:{name}:{num_perm}x{bits}:s{seed}:t{tokenizer}:{last}"

    __str__ = to_text

    def __repr__(self) -> str:
        return f"<Minhash {self.description}{', empty' if self.is_empty else ''}>"

    def __eq__(self, other: object) -> bool:
        return self._wire == other._wire if isinstance(other, Minhash) else NotImplemented

    def __lt__(self, other: Minhash) -> bool:
        return self._wire < other._wire if isinstance(other, Minhash) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._wire)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Minhash cannot be changed")

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        return Minhash.from_binary, (self._wire,)

    @property
    def source(self) -> str:
        """'text', 'bytea', 'text[]', 'bigint[]', 'import' or 'weighted', as minhash_parameters() returns it."""
        return SOURCES[self._wire[1]]

    @property
    def unit(self) -> str | None:
        """'word', 'char', 'byte', 'line', 'paragraph' or 'code'; None for a set."""
        return UNITS.get(self._wire[1])

    @property
    def k(self) -> int | None:
        return self._wire[2] if self._wire[1] in UNITS else None

    @property
    def bits(self) -> int:
        return self._wire[3]

    @property
    def num_perm(self) -> int:
        return int.from_bytes(self._wire[4:6], "big")

    @property
    def tokenizer(self) -> int | None:
        return self._wire[6] or None

    @property
    def is_empty(self) -> bool:
        return bool(self._wire[7] & EMPTY)

    @property
    def seed(self) -> int:
        return int.from_bytes(self._wire[8:16], "big", signed=True)

    @property
    def description(self) -> str:
        """The parameters, as the server's errors show them."""
        kind = self._wire[1]
        what = {TEXT_SET: "set of text", BIGINT_SET: "set of bigint", IMPORTED: "imported", WEIGHTED: "weighted set"}.get(kind)
        if what is None:
            what = f"{UNITS[kind]} {self.k}"
        if self.tokenizer is not None and self.tokenizer > 1:
            return f"{what}, {self.num_perm}x{self.bits}, seed {self.seed}, tokenizer {self.tokenizer}"
        return f"{what}, {self.num_perm}x{self.bits}, seed {self.seed}"

    @property
    def components(self) -> tuple[int, ...]:
        """The components; of an empty set num_perm times the greatest value, as minhash_components() returns them."""
        if self.is_empty:
            return ((1 << self.bits) - 1,) * self.num_perm
        return struct.unpack_from(f">{self.num_perm}{WIDTHS[self.bits]}", self._wire, HEADER.size)

    def is_comparable(self, other: Minhash) -> bool:
        """True if both were made with the same parameters."""
        return self._wire[:7] == other._wire[:7] and self._wire[8:16] == other._wire[8:16]

    def jaccard(self, other: Minhash) -> float:
        """Estimated Jaccard similarity, from 0 to 1: the number that jaccard(a, b) returns."""
        self._check_comparable(other)
        if self.is_empty or other.is_empty:
            return 0.0
        code = WIDTHS[self.bits]  # equality does not depend on the byte order
        a = memoryview(self._wire)[HEADER.size :].cast(code)
        b = memoryview(other._wire)[HEADER.size :].cast(code)
        share = sum(x == y for x, y in zip(a, b)) / self.num_perm
        return max(0.0, (share - 1 / 256) / (1 - 1 / 256)) if self.bits == 8 else share

    def containment(self, other: Minhash) -> float:
        """Estimated share of the elements of this set that the other has. Not for 8 bits."""
        self._check_comparable(other)
        if self.bits == 8:
            raise ValueError("signatures of 8 bits have no order: containment needs 16 or 32 bits")
        if self.is_empty or other.is_empty:
            return 0.0
        a, b = self.components, other.components
        of_a = sum(x <= y for x, y in zip(a, b))
        return sum(x == y for x, y in zip(a, b)) / of_a if of_a else 0.0

    def _check_comparable(self, other: Minhash) -> None:
        if not isinstance(other, Minhash):
            raise type_error("the other signature", "a Minhash", other)
        if not self.is_comparable(other):
            raise ValueError(f"cannot compare signatures made differently: {self.description} and {other.description}")


def _swapped(data: bytes, bits: int) -> bytes:
    """Components of one byte order in the other."""
    if bits == 8:
        return data
    code = WIDTHS[bits]
    count = len(data) * 8 // bits
    return struct.pack(f"<{count}{code}", *struct.unpack(f">{count}{code}", data))


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _fault(wire: bytes) -> str | None:
    """The fault of a binary form."""
    if wire[:2] == b"mh":
        return "this is its text form; Minhash(text) reads it"
    if len(wire) < HEADER.size:
        return f"{len(wire)} bytes are too few"
    form, kind, k, bits, num_perm, tokenizer, flags, _ = HEADER.unpack_from(wire)
    fault = _header_fault(form, kind, k, bits, num_perm, tokenizer, flags)
    if fault:
        return fault
    wanted = HEADER.size + (0 if flags & EMPTY else num_perm * bits // 8)
    if len(wire) != wanted:
        return f"{len(wire)} bytes, {wanted} expected"
    if not flags & EMPTY and kind != IMPORTED and bits != 8:
        components = struct.unpack_from(f">{num_perm}{WIDTHS[bits]}", wire, HEADER.size)
        if (1 << bits) - 1 in components:
            return f"component {components.index((1 << bits) - 1)} is empty"
    return None


def _header_fault(form: int, kind: int, k: int, bits: int, num_perm: int, tokenizer: int, flags: int) -> str | None:
    if form != FORMAT:
        return unknown_format(form, FORMAT)
    if bits not in WIDTHS:
        return f"bits is {bits}, it must be 8, 16 or 32"
    if not MIN_NUM_PERM <= num_perm <= MAX_NUM_PERM:
        return f"num_perm is {num_perm}, it must be between {MIN_NUM_PERM} and {MAX_NUM_PERM}"
    if flags & ~EMPTY:
        return "unknown flags"
    if kind not in TEXT_NAMES:
        return f"kind {kind} is not known. A newer version of the package may read it"
    if kind in UNITS and not 1 <= k <= MAX_K:
        return f"k is {k}, it must be between 1 and {MAX_K}"
    if kind not in UNITS and k != 0:
        return f"k is {k} for a set"
    if (kind in TOKENIZED) != (tokenizer != 0):
        return f"tokenizer version is {tokenizer}"
    return None


def _wire_of_text(text: str) -> bytes:
    match = TEXT_FORM.fullmatch(text)
    if match is None:
        raise text_error("minhash", text, SHAPE, HINT)
    numbers = {name: int(match[name] or 0) for name in ("k", "num_perm", "bits", "seed", "tokenizer")}
    kind = KINDS[match["kind"]]
    empty = match["components"] == "empty"
    fault = None
    if numbers["bits"] not in WIDTHS or max(numbers["k"], numbers["tokenizer"]) > 255:
        fault = "A number is out of range."
    elif not -(1 << 63) <= numbers["seed"] < 1 << 63:
        fault = "The seed is not a bigint."
    if fault:
        raise text_error("minhash", text, fault, HINT)
    data = b"" if empty else _components_of_text(text, match["components"], numbers["num_perm"], numbers["bits"])
    wire = (
        HEADER.pack(
            FORMAT, kind, numbers["k"], numbers["bits"], numbers["num_perm"], numbers["tokenizer"], EMPTY if empty else 0, numbers["seed"]
        )
        + data
    )
    fault = _fault(wire)
    # Only the canonical form is read: what is read is written as it was.
    if fault is None and Minhash._from_wire(wire).to_text() != text:
        fault = "a number or the last part is not in its shortest form"
    if fault:
        raise text_error("minhash", text, fault[0].upper() + fault[1:] + ".", HINT)
    return wire


def _components_of_text(text: str, last: str, num_perm: int, bits: int) -> bytes:
    wanted = num_perm * bits // 8
    if len(last) % 4 == 1:
        raise text_error("minhash", text, "The last part is not base64url.", HINT)
    data = base64.urlsafe_b64decode(last + "=" * (-len(last) % 4))
    if len(data) != wanted:
        raise text_error("minhash", text, f"The last part holds {len(data)} bytes, {wanted} expected.", HINT)
    return _swapped(data, bits)
