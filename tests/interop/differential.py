"""Exchanges random values between Clew and the real LangGraph, in both directions.

    differential.py --interop build/bin/clew-interop [--seed N] [--count N]

Python to Clew: Clew must see in the bytes what the reader below sees, and store the value as the
same bytes. Clew to Python: LangGraph must read the value and store it as the same bytes. Both once
plainly and once encrypted. Closes with "N passed, N failed"; the exit code is 0 if none failed.
"""
from __future__ import annotations

import argparse
import collections
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import json
import logging
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import typing
import uuid
import warnings
import zoneinfo

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

import numpy  # noqa: E402
import pydantic  # noqa: E402
from langchain_core import messages  # noqa: E402
from langchain_core.documents import Document  # noqa: E402
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer  # noqa: E402
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer  # noqa: E402
from langgraph.types import Command, Interrupt, Overwrite, Send  # noqa: E402

DEFAULT_SEED = 20240229
DEFAULT_COUNT = 500
LARGEST_EXACT_INTEGER = 2**53 - 1


# ---- what the bytes say, read without LangGraph or its MessagePack library


class Reader:
    """MessagePack to canonical JSON, straight from the bytes."""

    FIXED = {0xC0: None, 0xC2: False, 0xC3: True}
    SIZED = {
        **{0xC4 + i: ("bytes", 1 << i) for i in range(3)},
        **{0xC7 + i: ("extension", 1 << i) for i in range(3)},
        **{0xD9 + i: ("text", 1 << i) for i in range(3)},
        **{0xDC + i: ("list", 2 << i) for i in range(2)},
        **{0xDE + i: ("map", 2 << i) for i in range(2)},
    }
    PAYLOADS = {
        0: ["arg"],
        1: ["args"],
        2: ["kwargs"],
        3: ["arg", "method"],
        4: ["kwargs"],
        5: ["kwargs", "method"],
    }

    def __init__(self, data: bytes):
        self.data = data
        self.position = 0

    @classmethod
    def whole(cls, data: bytes):
        reader = cls(data)
        value = reader.value()
        if reader.position != len(data):
            raise ValueError("bytes follow the value")
        return value

    def take(self, size: int) -> bytes:
        piece = self.data[self.position : self.position + size]
        if len(piece) != size:
            raise ValueError("the input ends early")
        self.position += size
        return piece

    def number(self, size: int, signed: bool = False) -> int:
        return int.from_bytes(self.take(size), "big", signed=signed)

    def value(self):
        head = self.number(1)
        if head < 0x80:
            return head
        if head >= 0xE0:
            return head - 0x100
        if head < 0x90:
            return self.map(head - 0x80)
        if head < 0xA0:
            return self.list(head - 0x90)
        if head < 0xC0:
            return self.text(head - 0xA0)
        if head in self.FIXED:
            return self.FIXED[head]
        if head in self.SIZED:
            kind, width = self.SIZED[head]
            return getattr(self, kind)(self.number(width))
        if head == 0xCA:
            return canonical_float(struct.unpack(">f", self.take(4))[0])
        if head == 0xCB:
            return canonical_float(struct.unpack(">d", self.take(8))[0])
        if 0xCC <= head <= 0xCF:
            return canonical_integer(self.number(1 << (head - 0xCC)))
        if 0xD0 <= head <= 0xD3:
            return canonical_integer(self.number(1 << (head - 0xD0), signed=True))
        if 0xD4 <= head <= 0xD8:
            return self.extension(1 << (head - 0xD4))
        raise ValueError(f"{head:#x} starts no value")

    def text(self, size: int):
        return self.take(size).decode()

    def bytes(self, size: int):
        return {"$bytes": self.take(size).hex()}

    def list(self, size: int):
        return [self.value() for _ in range(size)]

    def map(self, size: int):
        entries = [[self.value(), self.value()] for _ in range(size)]
        keys = [key for key, _ in entries]
        plain = all(isinstance(key, str) and not key.startswith("$") for key in keys)
        if plain and len(set(keys)) == size:
            return dict(entries)
        return {"$map": entries}

    def extension(self, size: int):
        code = self.number(1, signed=True)
        content = self.take(size)
        try:
            payload = Reader.whole(content)
        except ValueError:
            return {"$ext": code, "raw": content.hex()}
        if code == 7:
            return {"$ext": 7, "value": payload}
        if code == 6 and isinstance(payload, list) and len(payload) == 4:
            fields = zip(("dtype", "shape", "order"), payload)
            return {"$ext": 6, **dict(fields), "data": payload[3]["$bytes"]}
        fields = ["module", "name", *self.PAYLOADS.get(code, [])]
        if code in self.PAYLOADS and isinstance(payload, list) and len(payload) == len(fields):
            return {"$ext": code, **dict(zip(fields, payload))}
        return {"$ext": code, "raw": content.hex()}


def canonical_integer(number: int):
    exact = -LARGEST_EXACT_INTEGER <= number <= LARGEST_EXACT_INTEGER
    return number if exact else {"$int": str(number)}


def canonical_float(number: float):
    return {"$float": repr(number)}


def canonical(tag: str, data: bytes):
    if tag == "null":
        return None
    if tag == "msgpack":
        return Reader.whole(data)
    return {f"${tag}": data.hex()}


def is_set(described) -> bool:
    return (
        isinstance(described, dict)
        and described.get("$ext") == 0
        and described["module"] == "builtins"
        and described["name"] in ("set", "frozenset")
    )


def with_sorted_sets(described):
    """The same with the members of every set in one order: Python gives them in any."""
    if isinstance(described, list):
        return [with_sorted_sets(element) for element in described]
    if not isinstance(described, dict):
        return described
    result = {key: with_sorted_sets(element) for key, element in described.items()}
    if is_set(result):
        result["arg"] = sorted(result["arg"], key=json.dumps)
    return result


def has_unordered_set(described) -> bool:
    if isinstance(described, list):
        return any(map(has_unordered_set, described))
    if not isinstance(described, dict):
        return False
    if is_set(described) and len(described["arg"]) > 1:
        return True
    return any(map(has_unordered_set, described.values()))


# ---- random values of Python


class Mood(enum.Enum):
    CALM = "calm"
    LOUD = 3


class Point(typing.NamedTuple):
    x: typing.Any
    y: typing.Any = 0


@dataclasses.dataclass
class Order:
    number: int
    lines: list = dataclasses.field(default_factory=list)


class Profile(pydantic.BaseModel):
    name: str
    tags: list = []
    more: typing.Any = None


class RandomValues:
    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def one_in(self, count: int) -> bool:
        return self.random.randrange(count) == 0

    def choice(self, options):
        return self.random.choice(options)

    def any(self, depth: int = 0):
        makers = [self.scalar] * 5 + [self.typed] * 2 + [self.message]
        if depth < 4:
            makers += [self.list, self.object] * 2 + [self.map, self.composite]
        maker = self.choice(makers)
        return maker() if maker in (self.scalar, self.typed, self.message) else maker(depth + 1)

    def scalar(self):
        makers = [self.integer, self.float, self.text, self.text, self.bytes]
        return self.choice([*makers, lambda: None, lambda: self.one_in(2)])()

    def integer(self):
        edge = self.choice([0, 2**self.random.randrange(64), -(2 ** self.random.randrange(63))])
        return min(max(edge + self.random.randrange(-2, 3), -(2**63)), 2**64 - 1)

    def float(self):
        if self.one_in(2):
            return struct.unpack("<d", self.random.randbytes(8))[0]
        special = [float("inf"), float("-inf"), float("nan"), sys.float_info.max, 5e-324]
        return self.choice([0.0, -0.0, 1.0, 0.1, 1e16, 1e-5, *special])

    def text(self):
        length = self.choice([0, 1, 13, 14, 15, 31, 32, self.random.randrange(60), 255, 256])
        if self.one_in(100):
            length = 65536
        alphabet = "abc \"\\\n\t\x00\x7f/é世\u2028\ufeff\uffff😀\U0010ffff\u0301\ud800"
        return "".join(self.random.choices(alphabet, k=length))

    def word(self):
        return "".join(self.random.choices("abcdefgh", k=self.random.randrange(1, 9)))

    def bytes(self):
        large = 70000 if self.one_in(20) else 3
        return self.random.randbytes(self.choice([0, 1, 14, 15, 255, 256, large]))

    def size(self):
        small = self.random.randrange(4)
        return self.choice([15, 16, 33]) if self.one_in(8) else small

    def list(self, depth):
        elements = [self.any(depth) for _ in range(self.size())]
        return tuple(elements) if self.one_in(4) else elements

    def object(self, depth):
        return {self.choice([self.word, self.key])(): self.any(depth) for _ in range(self.size())}

    def key(self):
        return self.text().replace("\ud800", "")  # LangGraph refuses half a character in keys

    def map(self, depth):
        plain = [self.integer, self.float, self.bytes, self.word]
        typed = [self.uuid, self.date, self.datetime, lambda: Mood.LOUD]
        fixed = [lambda: None, lambda: True, lambda: (1, (self.word(), None))]
        keys = [*plain, *typed, *fixed]
        return {self.choice(keys)(): self.any(depth) for _ in range(self.size())}

    def uuid(self):
        return uuid.UUID(bytes=self.random.randbytes(16))

    def date(self):
        return datetime.date.fromordinal(self.random.randrange(1, 3652060))

    def time(self):
        hour, minute = self.random.randrange(24), self.random.randrange(60)
        return datetime.time(hour, minute, 0, self.choice([0, 1, 999999]), self.zone())

    def zone(self):
        offset = datetime.timedelta(minutes=self.random.randrange(-1439, 1440))
        return self.choice([None, datetime.timezone.utc, datetime.timezone(offset)])

    def datetime(self):
        return datetime.datetime.combine(self.date(), self.time())

    def timedelta(self):
        days, seconds = self.random.randrange(-(10**6), 10**6), self.random.randrange(86400)
        return datetime.timedelta(days, seconds, self.choice([0, 1, 999999]))

    def decimal(self):
        numbers = [str(self.integer()), repr(self.random.random())]
        texts = ["1.10", "NaN", "-Infinity", "1E+5", "-0.00", *numbers]
        return decimal.Decimal(self.choice(texts))

    def set(self):
        makers = [self.integer, self.word, self.uuid, self.bytes]
        members = [self.choice(makers)() for _ in range(self.random.randrange(4))]
        return self.choice([set, frozenset, collections.deque])(members)

    def array(self):
        dtype = self.choice(["<f8", "<i2", ">i4", "|u1", "<c16"])
        array = numpy.arange(6, dtype=dtype).reshape(2, 3)
        return self.choice([array, array.T, array[:, ::2], array[:0]])

    def typed(self):
        times = [self.date, self.time, self.datetime, self.timedelta]
        return self.choice([
            *times,
            self.uuid,
            self.decimal,
            self.set,
            self.array,
            lambda: self.zone() or zoneinfo.ZoneInfo("Europe/Paris"),
            lambda: pathlib.Path("/" + self.word()) / self.word(),
            lambda: re.compile(self.word() + "+", re.I),
            lambda: ipaddress.ip_address(self.random.getrandbits(32)),
            lambda: self.choice(list(Mood)),
            lambda: pydantic.SecretStr(self.word()),
            lambda: ValueError(self.word()),
        ])()

    def composite(self, depth):
        return self.choice([
            lambda: Point(self.any(depth)),
            lambda: Order(self.integer(), [self.any(depth)]),
            lambda: Profile(name=self.word(), tags=[self.word()], more=self.any(depth)),
            lambda: Send(self.word(), self.any(depth)),
            lambda: Interrupt(value=self.any(depth), id=self.word()),
            lambda: Command(update={self.word(): self.any(depth)}, goto=[self.word()]),
            lambda: Overwrite(value=self.any(depth)),
            lambda: Document(page_content=self.word(), metadata={self.word(): self.integer()}),
        ])()

    def message(self):
        content = self.choice([self.word(), [{"type": "text", "text": self.word()}, self.word()]])
        kwargs = {self.word(): self.integer()}
        common = {"id": self.choice([None, self.word()]), "additional_kwargs": kwargs}
        call = {"name": self.word(), "args": {self.word(): self.float()}, "id": self.word()}
        calls = [call] * self.random.randrange(3)
        usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
        answer = {"tool_call_id": self.word(), "artifact": self.bytes()}
        return self.choice([
            lambda: messages.HumanMessage(content, name=self.word(), **common),
            lambda: messages.SystemMessage(content, **common),
            lambda: messages.AIMessage(content, tool_calls=calls, usage_metadata=usage, **common),
            lambda: messages.AIMessageChunk(content, **common),
            lambda: messages.ToolMessage(content, **answer, **common),
            lambda: messages.RemoveMessage(id=self.word()),
            lambda: messages.ChatMessage(content, role=self.word(), **common),
        ])()


# ---- the comparison


class Differential:
    def __init__(self, interop: str, seed: int, count: int):
        self.interop = interop
        self.seed = seed
        self.count = count
        self.passed = 0
        self.failed = 0

    def run_interop(self, *arguments: str, text: str = "") -> list[dict]:
        run = subprocess.run([self.interop, *arguments], input=text, capture_output=True, text=True)
        lines = run.stdout.splitlines()
        if run.returncode != 0 or len(lines) != self.count:
            got = f"{len(lines)} of {self.count} lines"
            raise SystemExit(f"clew-interop {arguments[0]} gave {got}: {run.stderr}")
        return [json.loads(line) for line in lines]

    def check(self, name: str, mismatch: str | None):
        if mismatch is None:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {name}: {mismatch}")

    def python_to_clew(self, label: str, serializer, options: list[str]):
        values = RandomValues(self.seed)
        written = [serializer.dumps_typed(values.any()) for _ in range(self.count)]
        requests = [json.dumps({"tag": tag, "hex": bytes(data).hex()}) for tag, data in written]
        answers = self.run_interop("convert", *options, text="\n".join(requests))
        for index, (stored, answer) in enumerate(zip(written, answers)):
            mismatch = answer.get("error") or self.conversion_mismatch(stored, answer, options)
            self.check(f"{label}[{index}]", mismatch)

    def conversion_mismatch(self, stored, answer: dict, options: list[str]) -> str | None:
        expected = plain(*stored, options)
        got = plain(answer["tag"], bytes.fromhex(answer["hex"]), options)
        seen = difference("canonical", canonical(*expected), answer["canonical"])
        return seen or bytes_difference("stored again", expected, got)

    def clew_to_python(self, label: str, serializer, options: list[str]):
        numbers = ["--seed", str(self.seed), "--count", str(self.count)]
        lines = self.run_interop("random", *numbers, *options)
        for index, line in enumerate(lines):
            try:
                mismatch = self.reading_mismatch(line, serializer, options)
            except Exception as error:  # noqa: BLE001 - whatever LangGraph raises is the finding
                mismatch = f"{type(error).__name__}: {error}"
            self.check(f"{label}[{index}]", mismatch)

    def reading_mismatch(self, line: dict, serializer, options: list[str]) -> str | None:
        tag, data = line["tag"], bytes.fromhex(line["hex"])
        expected = plain(tag, data, options)
        got = plain(*serializer.dumps_typed(serializer.loads_typed((tag, data))), options)
        described = canonical(*expected)
        seen = difference("canonical", described, line["canonical"])
        if seen is not None or not has_unordered_set(described):
            return seen or bytes_difference("stored by Python", expected, got)
        again = with_sorted_sets(canonical(*got))
        return difference("read by Python", with_sorted_sets(described), again)

    def run(self) -> int:
        key = random.Random(self.seed).randbytes(32)
        encrypted = EncryptedSerializer.from_pycryptodome_aes(key=key)
        for label, serializer, options in (
            ("plain", JsonPlusSerializer(), []),
            ("encrypted", encrypted, ["--key", key.hex()]),
        ):
            self.python_to_clew(f"python to clew, {label}", serializer, options)
            self.clew_to_python(f"clew to python, {label}", serializer, options)
        print(f"{self.passed} passed, {self.failed} failed")
        return 0 if self.passed > 0 and self.failed == 0 else 1


def plain(tag: str, data: bytes, options: list[str]) -> tuple[str, bytes]:
    """What was encrypted, or the pair itself. The cipher alone decrypts it, and checks the MAC."""
    if not options:
        return tag, bytes(data)
    from Crypto.Cipher import AES

    inner, cipher_name = tag.split("+")
    if cipher_name != "aes":
        raise ValueError(f"not encrypted with aes: {tag}")
    cipher = AES.new(bytes.fromhex(options[1]), AES.MODE_EAX, nonce=data[:16])
    return inner, cipher.decrypt_and_verify(data[32:], data[16:32])


def difference(what: str, expected, got) -> str | None:
    """Compared as text, in which the order of entries and 1 and 1.0 and True differ."""
    expected_text, got_text = json.dumps(expected), json.dumps(got)
    if expected_text == got_text:
        return None
    same = len(os.path.commonprefix([expected_text, got_text]))
    shown = slice(max(0, same - 100), same + 200)
    return f"{what}: expected {expected_text[shown]}, got {got_text[shown]}"


def bytes_difference(what: str, expected: tuple[str, bytes], got: tuple[str, bytes]) -> str | None:
    return difference(what, [expected[0], expected[1].hex()], [got[0], got[1].hex()])


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares Clew with the real LangGraph.")
    parser.add_argument("--interop", required=True, help="the clew-interop program")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    parser.add_argument("--count", type=int, default=DEFAULT_COUNT, help="values per direction")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}, {arguments.count} values per direction")
    return Differential(arguments.interop, arguments.seed, arguments.count).run()


if __name__ == "__main__":
    sys.exit(main())
