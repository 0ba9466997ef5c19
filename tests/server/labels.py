"""What a recording leaves open: labels that stand for values which every server makes up itself.

In a recording `<thread-1>` stands for an id. Within a file the same label is the same value, and two
labels of one kind are two values. `Labels` remembers which value a server gave for which label.
"""

import re
import uuid

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

# What a value of each kind looks like. Numbered kinds name one value, the others are different every time.
NUMBERED = {
    "thread": UUID, "run": UUID, "ckpt": UUID, "asst": UUID, "cron": UUID, "uuid": UUID, "req": UUID,
    "hex": r"[0-9a-f]{32}", "sid": r"[^\s\"]+", "sub": r"[^\s\"]+",
}
UNNUMBERED = {
    "ts": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?\+00:00",
    "ms": r"\d+",
    "base": r"https?://[^\s\"]+|",
    "hook-host": r"[^\s\"/]+",
}

LABEL = re.compile(rf"<(?:({'|'.join(NUMBERED)})-(\d+)|({'|'.join(UNNUMBERED)}))>")


class Labels:
    def __init__(self, given=None):
        self._value_of = dict(given or {})

    def copy(self):
        return Labels(self._value_of)

    def take_over(self, other):
        self._value_of = other._value_of

    def value_of(self, label):
        """The value of a label; one that no answer has given yet is the client's to choose."""
        return self._value_of.setdefault(label, str(uuid.uuid4()))

    def fill_in(self, recorded):
        """A recorded request with every label replaced by its value."""
        if isinstance(recorded, str):
            return LABEL.sub(lambda found: self.value_of(found[0]), recorded)
        if isinstance(recorded, list):
            return [self.fill_in(element) for element in recorded]
        if isinstance(recorded, dict):
            return {self.fill_in(key): self.fill_in(value) for key, value in recorded.items()}
        return recorded

    def match(self, recorded, text):
        """Why `text` cannot be what the recorded text stands for, or None. Binds labels that are new."""
        found = list(LABEL.finditer(recorded))
        match = re.fullmatch(self._pattern(recorded, found), text, re.DOTALL)
        if not match:
            return f"expected {self._known(recorded)!r}, got {text!r}"
        for label, value in zip(found, match.groups()):
            wrong = label[1] and self._bind(label[0], label[1], value)
            if wrong:
                return wrong
        return None

    @staticmethod
    def _pattern(recorded, found):
        pattern, end = "", 0
        for label in found:
            shape = NUMBERED[label[1]] if label[1] else UNNUMBERED[label[3]]
            pattern += re.escape(recorded[end:label.start()]) + f"({shape})"
            end = label.end()
        return pattern + re.escape(recorded[end:])

    def _bind(self, label, kind, value):
        known = self._value_of.get(label)
        if known is not None:
            return None if known == value else f"expected {label} = {known}, got {value}"
        for other, taken in self._value_of.items():
            if taken == value and other.startswith(f"<{kind}-"):
                return f"expected a new value for {label}, got that of {other}: {value}"
        self._value_of[label] = value
        return None

    def _known(self, recorded):
        return LABEL.sub(lambda found: self._value_of.get(found[0], found[0]), recorded)
