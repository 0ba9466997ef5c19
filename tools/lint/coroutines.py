#!/usr/bin/env python3
"""Finds the coroutine shapes that g++ 12 miscompiles.

In a statement with co_await, g++ 12 destroys a temporary made with braces twice, does the same with
what ?: yields, and rejects a braced list. All three are cured by naming the value first:

    Config config{.thread_id = "1"};          instead of   co_await f(Config{.thread_id = "1"});
    co_await f(config);

    if (ok) x = co_await a(); else x = co_await b();       instead of   ok ? co_await a() : co_await b()

The check reads C++ sources and the C++ blocks of Markdown files.
"""

import re
from dataclasses import dataclass, field

import repository

BRACES = "a braced temporary or list beside co_await is destroyed twice by g++ 12; give it a name in a statement before"
CONDITIONAL = "?: beside co_await is miscompiled by g++ 12; write if and else"

TOKEN = re.compile(r"""
    (?P<skip>   \s+ | //[^\n]* | /\*.*?\*/ | ^[ \t]*\#(?:[^\n\\]|\\.)* )
  | (?P<raw>    (?:u8|[uUL])?R"(?P<delimiter>[^()\s\\]{0,16})\(.*?\)(?P=delimiter)" )
  | (?P<text>   "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
  | (?P<word>   [A-Za-z_]\w* | \.?\d(?:[\w.']|[eEpP][+-])* )
  | (?P<sign>   :: | -> | . )
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

CLOSING = {"(": ")", "[": "]", "{": "}"}
CONTROL = {"if", "while", "for", "switch"}
DECLARES_BODY = {"namespace", "class", "struct", "union", "enum", "extern", "requires"}
BEFORE_BODY = {")", "else", "do", "try", ":", ";", "mutable", "noexcept", "const", "override", "final", "requires"}
BEFORE_INITIALIZER = {"=", ",", "(", "{", "return", "co_return", "co_await", "co_yield"}
IN_TRAILING_TYPE = re.compile(r"\w+|::|[<>,&*.]")
CONTINUES_AFTER_BODY = {")", "]", ",", ";", "(", ".", "}"}


@dataclass
class Token:
    text: str
    line: int


@dataclass
class Statement:
    """The tokens of one statement, without the bodies of lambdas inside it."""
    tokens: list = field(default_factory=list)
    braced: list = field(default_factory=list)  # the lines on which an initializer's brace opens

    def findings(self):
        if not self.awaits():
            return []
        found = [(line, BRACES) for line in self.braced]
        found += [(token.line, CONDITIONAL) for token in self.tokens if token.text == "?"]
        return found

    def awaits(self):
        texts = [token.text for token in self.tokens]
        return any(text == "co_await" and before != "operator" for before, text in zip([""] + texts, texts))


def tokenize(source):
    tokens, line = [], 1
    for match in TOKEN.finditer(source):
        if match.lastgroup == "word" or match.lastgroup == "sign":
            tokens.append(Token(match[0], line))
        elif match.lastgroup != "skip":
            tokens.append(Token('""', line))
        line += match[0].count("\n")
    return tokens


class Scanner:
    """Splits C++ into statements, well enough to tell a body's braces from an initializer's."""

    def __init__(self, source):
        self.tokens = tokenize(source)
        self.at = 0
        self.found = []

    def scan(self):
        while self.at < len(self.tokens):
            self.body()
            self.at += 1  # a closing bracket without an opening one
        return sorted(set(self.found))

    def body(self):
        """Reads statements up to the brace that closes the body."""
        while self.at < len(self.tokens) and self.tokens[self.at].text != "}":
            statement = Statement()
            self.statement(statement)
            self.found += statement.findings()

    def statement(self, statement):
        while self.at < len(self.tokens):
            text = self.tokens[self.at].text
            if text in ")]}":
                if text != "}":
                    self.at += 1
                return
            is_header = text == "(" and any(token.text in CONTROL for token in statement.tokens[-2:])
            is_body = text == "{" and self.opens_body(statement)
            self.take(statement)
            if text == ";" or is_header:
                return
            if is_body and not self.continues():
                return

    def group(self, statement, closing):
        """Reads what is inside brackets; it belongs to the statement around them."""
        while self.at < len(self.tokens) and self.tokens[self.at].text != closing:
            if self.tokens[self.at].text in CLOSING.values():
                return
            self.take(statement)
        if self.at < len(self.tokens):
            self.keep(statement)

    def take(self, statement):
        """Reads one token, or a whole group or body if it opens one."""
        token = self.tokens[self.at]
        if token.text == "{" and self.opens_body(statement):
            self.at += 1
            self.body()
            self.at += 1
            statement.tokens.append(Token("{}", token.line))
            return
        if token.text == "{":
            statement.braced.append(token.line)
        self.keep(statement)
        if token.text in CLOSING:
            self.group(statement, CLOSING[token.text])

    def keep(self, statement):
        statement.tokens.append(self.tokens[self.at])
        self.at += 1

    def continues(self):
        return self.at < len(self.tokens) and self.tokens[self.at].text in CONTINUES_AFTER_BODY

    def opens_body(self, statement):
        before = [token.text for token in statement.tokens]
        if not before or before[-1] in BEFORE_BODY:
            return not (before and before[-1] == ")" and self.is_decltype(before))
        if before[-1] == "]":
            return self.is_lambda_introducer(before)
        if before[-1] == "}":
            return ":" in before  # the member initializers of a constructor end in braces
        if before[-1] in BEFORE_INITIALIZER:
            return False
        return bool(DECLARES_BODY & set(before)) or self.ends_trailing_return_type(before)

    @staticmethod
    def is_decltype(before):
        opening = matching(before, "(", ")")
        return opening > 0 and before[opening - 1] == "decltype"

    @staticmethod
    def is_lambda_introducer(before):
        opening = matching(before, "[", "]")
        return opening == 0 or not re.fullmatch(r"\w+|\)|\]", before[opening - 1]) \
            or before[opening - 1] in {"return", "co_return", "co_await", "co_yield"}

    @staticmethod
    def ends_trailing_return_type(before):
        index = len(before) - 1
        while index > 0 and before[index] != "->":
            if before[index] == ")":
                index = matching(before[:index + 1], "(", ")")
            elif not IN_TRAILING_TYPE.fullmatch(before[index]):
                return False
            index -= 1
        return index > 0 and before[index - 1] in {")", "]", "mutable", "noexcept", "constexpr"}


def matching(texts, opening, closing):
    """The index of the bracket that the last of `texts` closes."""
    depth = 0
    for index in range(len(texts) - 1, -1, -1):
        depth += (texts[index] == closing) - (texts[index] == opening)
        if depth == 0:
            return index
    return 0


def cpp_blocks(markdown):
    """The C++ of a Markdown file, every other line blank, so that line numbers stay."""
    kept, inside = [], False
    for line in markdown.split("\n"):
        if line.lstrip().startswith("```"):
            inside = not inside and line.strip() in ("```cpp", "```c++")
            kept.append("")
        else:
            kept.append(line if inside else "")
    return "\n".join(kept)


def check(root):
    findings = []
    markdown = [path for path in repository.files(root) if path.suffix == ".md"]
    for path in repository.code_files(root) + markdown:
        source = (root / path).read_text(errors="replace")
        if path.suffix == ".md":
            source = cpp_blocks(source)
        if "co_await" in source:
            findings += [f"{path}:{line}: {problem}" for line, problem in Scanner(source).scan()]
    return findings


if __name__ == "__main__":
    repository.run(check)
