#!/usr/bin/env python3
"""A server whose configuration has store.index and store.ttl: items are found by meaning through the API.

  semantic.py --url http://127.0.0.1:2024

The embedder is tests/embeddings/server.py, for which a text is its length and its first byte.
"""

import argparse
import sys

from langgraph_sdk import get_sync_client


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    store = get_sync_client(url=parser.parse_args().url).store
    store.put_item(["docs"], "long", {"text": "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"})
    store.put_item(["docs"], "short", {"text": "z"})
    store.put_item(["docs"], "hidden", {"text": "y"}, index=False)
    store.put_item(["docs"], "elsewhere", {"title": "z"})

    found = store.search_items(["docs"], query="z")["items"]
    passed = [
        ([item["key"] for item in found[:2]] == ["short", "long"], "the nearest comes first"),
        (abs(found[0]["score"] - 1) < 1e-5 > found[1]["score"] - found[0]["score"], "scores say how near"),
        (all(item["score"] is None for item in found[2:]), "what is not indexed has no score"),
    ]
    for holds, what in passed:
        if not holds:
            print(f"not so: {what}: {found}")
    print(f"{sum(holds for holds, _ in passed)} passed, {sum(not holds for holds, _ in passed)} failed")
    return 0 if all(holds for holds, _ in passed) else 1


if __name__ == "__main__":
    sys.exit(main())
