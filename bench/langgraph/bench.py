#!/usr/bin/env python3
"""Baseline workloads W1..W9 on LangGraph for Python.

One invocation measures one (workload, backend) cell in a fresh process and prints
JSON lines.  The workloads are specified in ../README.md; clew-bench runs the same ones.

  python bench.py W1 --backend sqlite --durability sync --repeat 5
"""

import argparse
import asyncio
import gc
import json
import operator
import os
import re
import resource
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import contextmanager
from typing import Annotated, Any

from typing_extensions import TypedDict

from shapes import SHAPES
from text import hexstr

os.environ.setdefault("LANGSMITH_TRACING", "false")

now = time.perf_counter


# ----------------------------------------------------------------- utilities
def rss_mb() -> float:
    with open("/proc/self/statm") as f:
        return round(int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)


def peak_mb() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, 1)


def cpu_s() -> float:
    r = resource.getrusage(resource.RUSAGE_SELF)
    return r.ru_utime + r.ru_stime


class Watch(list):
    """List of wall times; .cpu holds the process CPU time of the same regions."""

    def __init__(self):
        super().__init__()
        self.cpu: list[float] = []

    def __enter__(self):
        gc.collect()
        self._c, self._t = cpu_s(), now()
        return self

    def __exit__(self, *exc):
        self.append(now() - self._t)
        self.cpu.append(cpu_s() - self._c)


def emit(workload, backend, n, *, wall=None, steps=None, disk=None, **extra):
    """wall: list of seconds (one per repetition) for n operations of `steps` super-steps each."""
    row: dict[str, Any] = {"impl": "python", "workload": workload, "backend": backend, "n": n}
    if wall:
        med = statistics.median(wall)
        row["ops_per_s"] = round(n / med, 2)
        row["us_per_op"] = round(med / n * 1e6, 2)
        row["us_per_superstep"] = round(med / n / steps * 1e6, 2) if steps else None
        row["wall_s"] = [round(w, 4) for w in wall]
        if getattr(wall, "cpu", None):
            c = statistics.median(wall.cpu)
            row["cpu_us_per_op"] = round(c / n * 1e6, 2)
            if steps:
                row["cpu_us_per_superstep"] = round(c / n / steps * 1e6, 2)
    row["bytes_on_disk"] = disk
    row["rss_mb"] = rss_mb()
    row["peak_rss_mb"] = peak_mb()
    row.update(extra)
    print(json.dumps(row), flush=True)


def dir_bytes(path: str) -> int:
    return sum(os.path.getsize(os.path.join(path, f)) for f in os.listdir(path))


# ------------------------------------------------------------------ backends
class Backend:
    """Makes a checkpointer; `size()` is the storage used after the run."""

    def __init__(self, name: str, workdir: str, pg: str):
        self.name, self.dir, self.pg = name, workdir, pg
        self.conn = None

    @contextmanager
    def saver(self):
        if self.name == "none":
            yield None
        elif self.name == "memory":
            from langgraph.checkpoint.memory import InMemorySaver

            yield InMemorySaver()
        elif self.name.startswith("sqlite"):
            from langgraph.checkpoint.sqlite import SqliteSaver

            path = os.path.join(self.dir, "cp.db")
            for f in os.listdir(self.dir):
                os.unlink(os.path.join(self.dir, f))
            conn = sqlite3.connect(path, check_same_thread=False)
            if self.name == "sqlite_normal":
                conn.execute("PRAGMA synchronous=NORMAL")
            self.conn = conn
            s = SqliteSaver(conn)
            s.setup()
            yield s
            conn.close()
        elif self.name.startswith("postgres"):
            import psycopg
            from psycopg.rows import dict_row
            from langgraph.checkpoint.postgres import PostgresSaver

            dsn = self.pg
            opts = "-c synchronous_commit=" + ("off" if self.name.endswith("off") else "on")
            with psycopg.connect(dsn, autocommit=True) as c:
                c.execute("DROP SCHEMA public CASCADE")
                c.execute("CREATE SCHEMA public")
            conn = psycopg.connect(
                dsn, autocommit=True, prepare_threshold=0, row_factory=dict_row, options=opts
            )
            self.conn = conn
            s = PostgresSaver(conn)
            s.setup()
            yield s
            conn.close()
        else:
            raise SystemExit(f"unknown backend {self.name}")

    def size(self):
        if self.name.startswith("sqlite"):
            self.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return dir_bytes(self.dir)
        if self.name.startswith("postgres"):
            row = self.conn.execute(
                "SELECT sum(pg_total_relation_size(c.oid)) AS s FROM pg_class c "
                "JOIN pg_namespace n ON n.oid=c.relnamespace "
                "WHERE n.nspname='public' AND c.relkind='r'"
            ).fetchone()
            return int(row["s"])
        return None


def cfg(thread: str) -> dict:
    return {"configurable": {"thread_id": thread}, "recursion_limit": 100000}


# ----------------------------------------------------------------- workloads
def w1_graph(width: int):
    from langgraph.graph import END, START, StateGraph

    class S(TypedDict):
        foo: int
        bar: Annotated[list, operator.add]

    g = StateGraph(S)
    for i in range(width):
        g.add_node(f"n{i}", lambda s, i=i: {"foo": i, "bar": [f"n{i}"]})
        g.add_edge(START if i == 0 else f"n{i-1}", f"n{i}")
    g.add_edge(f"n{width-1}", END)
    return g


def W1(b: Backend, a):
    width = a.nodes
    n = a.n or {"none": 300, "memory": 200}.get(b.name, 100)
    wall = Watch()
    disk = None
    for r in range(a.repeat):
        with b.saver() as sv:
            g = w1_graph(width).compile(checkpointer=sv)
            kw = {} if sv is None else {"durability": a.durability}
            for i in range(5):
                g.invoke({"foo": 0, "bar": []}, cfg(f"warm{i}"), **kw)
            with wall:
                for i in range(n):
                    g.invoke({"foo": 0, "bar": []}, cfg(f"t{i}"), **kw)
            out = g.invoke({"foo": 0, "bar": []}, cfg("check"), **kw)
            assert out == {"foo": width - 1, "bar": [f"n{i}" for i in range(width)]}
            if r == a.repeat - 1:
                disk = b.size()
    emit(f"W1_seq{width}", b.name, n, wall=wall, steps=width, disk=disk,
         durability=None if b.name == "none" else a.durability)


def w2_graph(variant: str):
    from langchain_core.messages import AIMessage
    from langgraph.graph import END, START, StateGraph
    from langgraph.graph.message import add_messages

    if variant == "delta":
        from langgraph.channels.delta import DeltaChannel
        from langgraph.graph.message import _messages_delta_reducer

        ch: Any = DeltaChannel(_messages_delta_reducer)
    else:
        ch = add_messages

    class S(TypedDict):
        messages: Annotated[list, ch]

    def echo(s):
        t = s["messages"][-1].id[1:]
        return {"messages": [AIMessage(content=hexstr(f"{t}:ai", 500), id=f"a{t}")]}

    g = StateGraph(S)
    g.add_node("echo", echo)
    g.add_edge(START, "echo")
    g.add_edge("echo", END)
    return g


def W2(b: Backend, a):
    from langchain_core.messages import HumanMessage

    turns = a.n or 1000
    total, last, disk = Watch(), [], None
    state_ms = []
    for r in range(a.repeat):
        with b.saver() as sv:
            g = w2_graph(a.variant).compile(checkpointer=sv)
            marks = [now()]
            with total:
                for t in range(turns):
                    g.invoke(
                        {"messages": [HumanMessage(content=hexstr(f"{t}:human", 500), id=f"h{t}")]},
                        cfg("chat"),
                        durability=a.durability,
                    )
                    marks.append(now())
            k = min(100, turns)
            last.append(marks[-1] - marks[-1 - k])
            t = now()
            st = g.get_state(cfg("chat"))
            state_ms.append((now() - t) * 1e3)
            assert len(st.values["messages"]) == 2 * turns
            if r == a.repeat - 1:
                disk = b.size()
    emit(f"W2_chat_{a.variant}", b.name, turns, wall=total, steps=1, disk=disk, durability=a.durability,
         total_s=round(statistics.median(total), 3), last100_s=round(statistics.median(last), 3),
         get_state_ms=round(statistics.median(state_ms), 2))


def W3(b: Backend, a):
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Send

    class S(TypedDict):
        items: Annotated[list, operator.add]
        count: int

    fan = a.fan
    n = a.n or (30 if fan <= 100 else 5)
    g0 = StateGraph(S)
    g0.add_node("worker", lambda s: {"items": [s["i"]]})
    g0.add_node("reduce", lambda s: {"count": len(s["items"])})
    g0.add_conditional_edges(START, lambda s: [Send("worker", {"i": i}) for i in range(fan)], ["worker"])
    g0.add_edge("worker", "reduce")
    g0.add_edge("reduce", END)
    wall, disk = Watch(), None
    for r in range(a.repeat):
        with b.saver() as sv:
            g = g0.compile(checkpointer=sv)
            kw = {} if sv is None else {"durability": a.durability}
            assert g.invoke({"items": []}, cfg("warm"), **kw)["count"] == fan
            with wall:
                for i in range(n):
                    g.invoke({"items": []}, cfg(f"t{i}"), **kw)
            if r == a.repeat - 1:
                disk = b.size()
    emit(f"W3_fan{fan}", b.name, n, wall=wall, steps=2, disk=disk,
         us_per_task=round(statistics.median(wall) / n / fan * 1e6, 2),
         durability=None if b.name == "none" else a.durability)


def W4(b: Backend, a):
    from langgraph.graph import END, START, StateGraph

    channels = a.channels
    S = TypedDict("S", {f"c{i}": str for i in range(channels)})
    g0 = StateGraph(S)
    for k in range(50):
        val = hexstr(f"step{k}", 100)
        g0.add_node(f"n{k}", lambda s, k=k, val=val: {f"c{k % channels}": val})
        g0.add_edge(START if k == 0 else f"n{k-1}", f"n{k}")
    g0.add_edge("n49", END)
    inp = {f"c{i}": hexstr(f"init{i}", 100) for i in range(channels)}
    n = a.n or 10
    wall, disk = Watch(), None
    for r in range(a.repeat):
        with b.saver() as sv:
            g = g0.compile(checkpointer=sv)
            kw = {} if sv is None else {"durability": a.durability}
            g.invoke(inp, cfg("warm"), **kw)
            with wall:
                for i in range(n):
                    g.invoke(inp, cfg(f"t{i}"), **kw)
            if r == a.repeat - 1:
                disk = b.size()
    emit(f"W4_wide{channels}x50", b.name, n, wall=wall, steps=50, disk=disk,
         durability=None if b.name == "none" else a.durability)


def W5(b: Backend, a):
    from langgraph.graph import END, START, StateGraph

    class S(TypedDict):
        x: int

    def build(level: int):
        g = StateGraph(S)
        if level == 5:
            g.add_node("leaf", lambda s: {"x": s["x"] + 1})
            g.add_edge(START, "leaf")
            g.add_edge("leaf", END)
        else:
            g.add_node("pre", lambda s: {"x": s["x"] + 1})
            g.add_node("sub", build(level + 1).compile())
            g.add_edge(START, "pre")
            g.add_edge("pre", "sub")
            g.add_edge("sub", END)
        return g

    n = a.n or 50
    wall, disk = Watch(), None
    for r in range(a.repeat):
        with b.saver() as sv:
            g = build(1).compile(checkpointer=sv)
            kw = {} if sv is None else {"durability": a.durability}
            assert g.invoke({"x": 0}, cfg("warm"), **kw) == {"x": 5}
            with wall:
                for i in range(n):
                    g.invoke({"x": 0}, cfg(f"t{i}"), **kw)
            if r == a.repeat - 1:
                disk = b.size()
    emit("W5_deep5", b.name, n, wall=wall, steps=9, disk=disk,
         durability=None if b.name == "none" else a.durability)


def W6(b: Backend, a):
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Command, interrupt

    class S(TypedDict):
        a: str
        answer: str

    g0 = StateGraph(S)
    g0.add_node("before", lambda s: {"a": "ready"})
    g0.add_node("ask", lambda s: {"answer": interrupt({"q": "go?"})})
    g0.add_node("after", lambda s: {"a": "done"})
    g0.add_edge(START, "before")
    g0.add_edge("before", "ask")
    g0.add_edge("ask", "after")
    g0.add_edge("after", END)
    threads = a.n or 1000
    p1, p2, disk = Watch(), Watch(), None
    for r in range(a.repeat):
        with b.saver() as sv:
            g = g0.compile(checkpointer=sv)
            with p1:
                for i in range(threads):
                    g.invoke({"a": "", "answer": ""}, cfg(f"t{i}"), durability=a.durability)
            with p2:
                for i in range(threads):
                    out = g.invoke(Command(resume="yes"), cfg(f"t{i}"), durability=a.durability)
            assert out["answer"] == "yes" and out["a"] == "done"
            if r == a.repeat - 1:
                disk = b.size()
    emit("W6_interrupt", b.name, threads, wall=p1, steps=2, disk=None, durability=a.durability)
    emit("W6_resume", b.name, threads, wall=p2, steps=2, disk=disk, durability=a.durability)

    class T(TypedDict):
        n: int
        note: str

    ticks = 998
    g1 = StateGraph(T)
    g1.add_node("tick", lambda s: {"n": s["n"] + 1, "note": hexstr(f"tick{s['n']}", 100)})
    g1.add_edge(START, "tick")
    g1.add_conditional_edges("tick", lambda s: END if s["n"] >= ticks else "tick", ["tick", END])
    mk, gs, hist = Watch(), [], Watch()
    for r in range(max(1, a.repeat - 1)):
        with b.saver() as sv:
            g = g1.compile(checkpointer=sv)
            with mk:
                g.invoke({"n": 0, "note": ""}, cfg("long"), durability=a.durability)
            for _ in range(50):
                t = now()
                st = g.get_state(cfg("long"))
                gs.append(now() - t)
            assert st.values["n"] == ticks
            with hist:
                h = list(g.get_state_history(cfg("long")))
            assert len(h) == ticks + 2, len(h)
            disk = b.size()
    emit("W6_loop998", b.name, 1, wall=mk, steps=ticks, disk=disk, durability=a.durability)
    emit("W6_get_state_1000cp", b.name, 1, wall=[statistics.median(gs)],
         p99_us=round(sorted(gs)[int(len(gs) * 0.99) - 1] * 1e6, 1))
    emit("W6_history_1000cp", b.name, ticks + 2, wall=hist)


def nested_json() -> dict:
    return {
        f"section{i}": {
            f"item{j}": {
                "id": f"{i}-{j}", "text": hexstr(f"nj{i}:{j}", 120), "score": (i * 31 + j) / 7.0,
                "count": i * 1000 + j, "ok": (i + j) % 2 == 0, "none": None,
                "tags": [f"tag{k}" for k in range(8)],
                "vec": [float((i * 7 + j * 3 + k) % 97) / 97.0 for k in range(16)],
            }
            for j in range(20)
        }
        for i in range(95)
    }


def W7(b: Backend, a):
    from langchain_core.messages import AIMessage, HumanMessage
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    dicts = [
        {"type": "human" if i % 2 == 0 else "ai", "content": hexstr(f"m{i}", 500), "id": f"m{i}",
         "additional_kwargs": {}, "response_metadata": {}, "name": None}
        for i in range(1000)
    ]
    objs = [(HumanMessage if i % 2 == 0 else AIMessage)(content=hexstr(f"m{i}", 500), id=f"m{i}")
            for i in range(1000)]
    for name, val in (("msg_dicts", dicts), ("msg_objects", objs), ("nested_json", nested_json())):
        s = JsonPlusSerializer()
        typ, blob = s.dumps_typed(val)
        back = s.loads_typed((typ, blob))
        assert len(back) == len(val)
        enc, dec = Watch(), Watch()
        for _ in range(a.repeat):
            k, c, t = 0, cpu_s(), now()
            while now() - t < 0.8:
                s.dumps_typed(val)
                k += 1
            enc.append((now() - t) / k)
            enc.cpu.append((cpu_s() - c) / k)
            k, c, t = 0, cpu_s(), now()
            while now() - t < 0.8:
                s.loads_typed((typ, blob))
                k += 1
            dec.append((now() - t) / k)
            dec.cpu.append((cpu_s() - c) / k)
        mb = len(blob) / 1e6
        emit(f"W7_enc_{name}", typ, 1, wall=enc, blob_bytes=len(blob), mb_per_s=round(mb / statistics.median(enc), 1))
        emit(f"W7_dec_{name}", typ, 1, wall=dec, blob_bytes=len(blob), mb_per_s=round(mb / statistics.median(dec), 1))


def W8(b: Backend, a):
    import numpy as np

    n = a.n or 10000
    dims = a.dims
    rng = np.random.default_rng(7)
    vecs = rng.standard_normal((n + 100, max(dims, 1))).astype(np.float32) if dims else None

    def embed(texts):
        return [vecs[int(re.search(r"(\d+)\|", t).group(1))].tolist() for t in texts]

    # SqliteStore reads "text_fields", the others "fields".
    index = {"dims": dims, "embed": embed, "fields": ["text"], "text_fields": ["text"]} if dims else None

    @contextmanager
    def make():
        if b.name == "memory":
            from langgraph.store.memory import InMemoryStore

            yield InMemoryStore(index=index) if index else InMemoryStore()
        elif b.name.startswith("sqlite"):
            from langgraph.store.sqlite import SqliteStore

            for f in os.listdir(b.dir):
                os.unlink(os.path.join(b.dir, f))
            conn = sqlite3.connect(os.path.join(b.dir, "store.db"), check_same_thread=False, isolation_level=None)
            st = SqliteStore(conn, index=index) if index else SqliteStore(conn)
            st.setup()
            b.conn = conn
            yield st
            conn.close()
        elif b.name.startswith("postgres"):
            import psycopg
            from psycopg.rows import dict_row
            from langgraph.store.postgres import PostgresStore

            with psycopg.connect(b.pg, autocommit=True) as c:
                c.execute("DROP SCHEMA public CASCADE")
                c.execute("CREATE SCHEMA public")
            conn = psycopg.connect(b.pg, autocommit=True, prepare_threshold=0, row_factory=dict_row)
            st = PostgresStore(conn, index=index) if index else PostgresStore(conn)
            st.setup()
            b.conn = conn
            yield st
            conn.close()

    def ns(i):
        return ("users", f"u{i % 100}", "memories")

    values = [{"text": f"{i}|{hexstr(f's{i}', 100)}", "category": i % 10, "n": i} for i in range(n)]
    times = {}

    def measure(name, q, call):
        watch = times.setdefault(name, (q, Watch()))[1]
        with watch:
            for i in range(q):
                res = call(i)
        return res

    disk = None
    for r in range(a.repeat):
        with make() as st:
            measure("put", n, lambda i: st.put(ns(i), f"k{i}", values[i]))
            it = measure("get", n, lambda i: st.get(ns(i), f"k{i}"))
            assert it.value["n"] == n - 1
            res = measure("search_narrow", 100,
                          lambda i: st.search(("users", f"u{i}"), filter={"category": i % 10}, limit=10))
            assert len(res) == 10, len(res)
            res = measure("search_broad", 20, lambda i: st.search(("users",), filter={"category": i % 10}, limit=10))
            assert len(res) == 10
            if dims:
                res = measure("semantic", 10, lambda i: st.search(("users",), query=f"{n + i}|q", limit=10))
                assert len(res) == 10 and res[0].score is not None
                measure("semantic_filter", 10,
                        lambda i: st.search(("users",), query=f"{n + i}|q", filter={"category": 3}, limit=10))
            if r == a.repeat - 1:
                if b.name.startswith("sqlite") or b.name.startswith("postgres"):
                    disk = b.size()
        if not dims:
            from langgraph.store.base import PutOp

            with make() as st:
                measure("put_batch100", n // 100, lambda k: st.batch(
                    [PutOp(ns(i), f"k{i}", values[i]) for i in range(k * 100, k * 100 + 100)]))
    suffix = f"_vec{dims}" if dims else ""
    for name, (q, watch) in times.items():
        emit(f"W8_{name}{suffix}", b.name, q, wall=watch, disk=disk if name == "put" else None)


def W9(b: Backend, a):
    from langgraph.graph import END, START, StateGraph

    class S(TypedDict):
        n: int

    async def first(s):
        return {"n": s["n"] + 1}

    async def mid(s):
        await asyncio.sleep(0.005)
        return {"n": s["n"] + 1}

    g0 = StateGraph(S)
    g0.add_node("first", first)
    g0.add_node("mid", mid)
    g0.add_node("last", first)
    g0.add_edge(START, "first")
    g0.add_edge("first", "mid")
    g0.add_edge("mid", "last")
    g0.add_edge("last", END)
    threads = a.n or 1000
    wall = []

    async def go():
        if b.name == "none":
            sv, close = None, None
        elif b.name == "memory":
            from langgraph.checkpoint.memory import InMemorySaver

            sv, close = InMemorySaver(), None
        elif b.name.startswith("sqlite"):
            import aiosqlite
            from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

            for f in os.listdir(b.dir):
                os.unlink(os.path.join(b.dir, f))
            conn = await aiosqlite.connect(os.path.join(b.dir, "cp.db"))
            sv, close = AsyncSqliteSaver(conn), conn.close
            await sv.setup()
        else:
            raise SystemExit("W9: none, memory, sqlite")
        g = g0.compile(checkpointer=sv)
        kw = {} if sv is None else {"durability": a.durability}
        await g.ainvoke({"n": 0}, cfg("warm"), **kw)
        t = now()
        outs = await asyncio.gather(*(g.ainvoke({"n": 0}, cfg(f"t{i}"), **kw) for i in range(threads)))
        wall.append(now() - t)
        assert all(o["n"] == 3 for o in outs)
        if close:
            await close()

    c0 = cpu_s()
    for _ in range(a.repeat):
        if a.uvloop:
            import uvloop

            uvloop.run(go())
        else:
            asyncio.run(go())
    emit("W9_conc1000" + ("_uvloop" if a.uvloop else ""), b.name, threads, wall=wall, steps=3,
         durability=None if b.name == "none" else a.durability,
         cpu_s_per_rep=round((cpu_s() - c0) / a.repeat, 3))


def run_shape(b: Backend, a):
    """As LangGraph's own benchmarks do: one stream per operation, collected to its end."""
    name, g0, inp, steps = SHAPES[a.workload](a.size)
    n = a.n or 3
    wall, disk = Watch(), None
    for r in range(a.repeat):
        with b.saver() as sv:
            g = g0.compile(checkpointer=sv)
            kw = {} if sv is None else {"durability": a.durability}
            events = len(list(g.stream(inp, cfg("warm"), **kw)))
            with wall:
                for i in range(n):
                    len(list(g.stream(inp, cfg(f"t{i}"), **kw)))
            if r == a.repeat - 1:
                disk = b.size()
    emit(name, b.name, n, wall=wall, steps=steps, disk=disk,
         durability=None if b.name == "none" else a.durability, events=events)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("workload", choices=[*(f"W{i}" for i in range(1, 10)), *SHAPES])
    p.add_argument("--backend", default="memory",
                   choices=["none", "memory", "sqlite", "sqlite_normal", "postgres", "postgres_off"])
    p.add_argument("--durability", default="sync", choices=["sync", "async", "exit"])
    p.add_argument("--repeat", type=int, default=3)
    p.add_argument("--n", type=int, default=0, help="0 = the workload's default")
    p.add_argument("--nodes", type=int, default=10, help="W1")
    p.add_argument("--fan", type=int, default=100, help="W3")
    p.add_argument("--channels", type=int, default=100, help="W4")
    p.add_argument("--variant", default="plain", choices=["plain", "delta"], help="W2")
    p.add_argument("--dims", type=int, default=0, help="W8: 0 = no vectors")
    p.add_argument("--size", type=int, default=0, help="a shape's length or width; 0 = its default")
    p.add_argument("--uvloop", action="store_true", help="W9")
    p.add_argument("--pg", default=os.environ.get("BENCH_PG", "host=127.0.0.1 port=5432 user=postgres dbname=bench"),
                   help="DSN of a scratch database; its public schema is dropped")
    p.add_argument("--tmp", default=None, help="directory on the disk to measure")
    a = p.parse_args()
    work = tempfile.mkdtemp(prefix="bench_", dir=a.tmp)
    try:
        run = run_shape if a.workload in SHAPES else globals()[a.workload]
        run(Backend(a.backend, work, a.pg), a)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
