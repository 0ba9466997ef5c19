"""Records how LangGraph draws the graphs that tests/data/drawing/graphs.json describes.

    drawings.py [--check] tests/data/drawing/graphs.json

Each case describes graphs under "graphs" and lists under "draw" how far to look into the subgraphs
of the one called "main". The Mermaid text and the JSON that LangGraph makes of it go to drawn.json
beside the descriptions; with --check nothing is written, and a difference is an error.
"""
from __future__ import annotations

import argparse
import json
import operator
import pathlib
import sys
import typing
import warnings

from langgraph.func import entrypoint
from langgraph.graph import StateGraph


class State(typing.TypedDict):
    foo: typing.Annotated[list, operator.add]


class Graphs:
    """Builds the graphs of a description, each once, those inside others first."""

    def __init__(self, descriptions: dict):
        self.descriptions = descriptions
        self.built = {}

    def __getitem__(self, name: str):
        if name not in self.built:
            description = self.descriptions[name]
            build = self.workflow if "entrypoint" in description else self.state_graph
            self.built[name] = build(description)
        return self.built[name]

    def workflow(self, description: dict):
        body = self.function(description)
        body.__name__ = description["entrypoint"]
        return entrypoint()(body)

    def state_graph(self, description: dict):
        graph = StateGraph(State)
        for node in description["nodes"]:
            self.add_node(graph, node)
        for source, target in description.get("edges", []):
            graph.add_edge(source, target)
        for index, branch in enumerate(description.get("branches", [])):
            graph.add_conditional_edges(branch["from"], router(index), branch.get("path_map"))
        return graph.compile(
            checkpointer=description.get("checkpointer"),
            interrupt_before=description.get("interrupt_before"),
            interrupt_after=description.get("interrupt_after"),
        )

    def add_node(self, graph: StateGraph, node: dict):
        destinations = node.get("destinations")
        graph.add_node(
            node["name"],
            self[node["graph"]] if "graph" in node else self.function(node),
            defer=node.get("defer", False),
            metadata=node.get("metadata"),
            destinations=tuple(destinations) if isinstance(destinations, list) else destinations,
            error_handler=(lambda state: None) if node.get("error_handler") else None,
        )

    def function(self, description: dict):
        if "calls" not in description:
            return lambda state: None
        called = self[description["calls"]]

        def call(state):
            return called.invoke(state)

        return call


def router(index: int):
    def route(state):
        return None

    route.__name__ = f"branch{index}"  # LangGraph wants the branches of a node to differ in name
    return route


def drawings(case: dict) -> list:
    """What LangGraph draws of a case, once for each depth it asks for."""
    main = Graphs(case["graphs"])["main"]
    result = []
    for xray in case["draw"]:
        graph = main.get_graph(xray=xray)
        result.append({"xray": xray, "mermaid": graph.draw_mermaid().split("\n"), "json": graph.to_json()})
    return result


def text_of(recorded: dict) -> str:
    """JSON with a line of its own for what is read as a line."""
    lines = ["{"]
    for name, drawn in recorded.items():
        lines.append(f" {json.dumps(name)}: [")
        for drawing in drawn:
            lines += [f'  {{"xray": {json.dumps(drawing["xray"])},', '   "mermaid": [']
            lines += comma_separated(drawing["mermaid"])
            lines += ["   ],", '   "json": {"nodes": [']
            lines += comma_separated(drawing["json"]["nodes"])
            lines += ['   ], "edges": [']
            lines += comma_separated(drawing["json"]["edges"])
            lines += ["   ]}}" + ("" if drawing is drawn[-1] else ",")]
        lines.append(" ]" + ("" if drawn is list(recorded.values())[-1] else ","))
    return "\n".join([*lines, "}", ""])


def comma_separated(values: list) -> list:
    texts = ["    " + json.dumps(value, ensure_ascii=False) for value in values]
    return [text + "," for text in texts[:-1]] + texts[-1:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing, fail on a difference")
    parser.add_argument("graphs", type=pathlib.Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = json.loads(arguments.graphs.read_text())
    now = text_of({name: drawings(case) for name, case in cases.items()})
    drawn = arguments.graphs.parent / "drawn.json"
    if not arguments.check:
        drawn.write_text(now)
    elif drawn.read_text() != now:
        print(f"{drawn}: LangGraph draws something differently; record it anew and look at the difference")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
