"""Text filler."""

import hashlib


def hexstr(tag: str, size: int) -> str:
    """Deterministic lower-case hex text: concatenated SHA-256 of 'tag:k'."""
    out, k = [], 0
    while len(out) * 64 < size:
        out.append(hashlib.sha256(f"{tag}:{k}".encode()).hexdigest())
        k += 1
    return "".join(out)[:size]
