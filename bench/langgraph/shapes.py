"""The shapes of LangGraph's own benchmarks, as ../README.md describes them.

Each function takes a size, 0 for the default, and returns the row's name, the graph, its input, and
the number of super-steps of one run. LangGraph is imported when a shape is made, not before.
"""

import operator
from dataclasses import dataclass, field
from typing import Annotated

from typing_extensions import TypedDict

from text import hexstr


def sequential(size):
    from langgraph.graph import END, START, MessagesState, StateGraph

    length = size or 1000
    graph = StateGraph(MessagesState)
    previous = START
    for i in range(length):
        graph.add_node(f"node_{i}", lambda state: None)
        graph.add_edge(previous, f"node_{i}")
        previous = f"node_{i}"
    graph.add_edge(previous, END)
    return f"sequential_{length}", graph, {"messages": []}, length


def react_replies(calls):
    from langchain_core.messages import AIMessage

    replies = [
        AIMessage("", id=f"a{i}",
                  tool_calls=[{"name": "search", "args": {"query": hexstr(f"query{i}", 3600)}, "id": f"call{i}"}])
        for i in range(calls)
    ]
    return [*replies, AIMessage("answer" * 100, id="answer")]


class ReactAgent:
    """LangGraph's ready-made agent, as its own benchmark runs it."""

    def __init__(self, calls):
        self.calls = calls

    def compile(self, checkpointer):
        from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
        from langchain_core.outputs import ChatGeneration, ChatResult
        from langchain_core.tools import StructuredTool
        from langgraph.prebuilt import create_react_agent

        class Model(FakeMessagesListChatModel):
            def bind_tools(self, tools, **_):
                return self

            def _generate(self, messages, *_, **__):
                reply = self.responses[len(messages) // 2]
                return ChatResult(generations=[ChatGeneration(message=reply)])

        tool = StructuredTool.from_function(
            lambda query: f"result for query: {query}" * 10, name="search", description="")
        return create_react_agent(Model(responses=react_replies(self.calls)), [tool], checkpointer=checkpointer)


def react_agent(size):
    from langchain_core.messages import HumanMessage

    calls = size or 100
    return f"react_agent_{calls}x", ReactAgent(calls), {"messages": [HumanMessage("hi?")]}, 2 * calls + 1


def react_graph(size):
    from langchain_core.messages import HumanMessage, ToolMessage
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.types import Send

    calls = size or 100
    replies = react_replies(calls)

    def agent(state: MessagesState):
        return {"messages": [replies[len(state["messages"]) // 2]]}

    def search(call):
        result = f"result for query: {call['args']['query']}"
        return {"messages": [ToolMessage(result * 10, name=call["name"], tool_call_id=call["id"])]}

    def call_tools(state: MessagesState):
        return [Send("tools", call) for call in state["messages"][-1].tool_calls]

    graph = StateGraph(MessagesState)
    graph.add_node("agent", agent)
    graph.add_node("tools", search)
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", call_tools, ["tools"])
    graph.add_edge("tools", "agent")
    return f"react_graph_{calls}x", graph, {"messages": [HumanMessage("hi?")]}, 2 * calls + 1


def latest(_, update):
    return update


def latest_not_none(current, update):
    return current if update is None else update


def latest_not_empty(current, update):
    return update or current


@dataclass(kw_only=True)
class WideState:
    messages: Annotated[list, operator.add] = field(default_factory=list)
    trigger_events: Annotated[list, operator.add] = field(default_factory=list)
    primary_issue_medium: Annotated[str, latest_not_empty] = "email"
    autoresponse: Annotated[dict | None, latest] = None
    issue: Annotated[dict | None, latest_not_empty] = None
    relevant_rules: list[dict] | None = None
    memory_docs: list[dict] | None = None
    categorizations: Annotated[list[dict], operator.add] = field(default_factory=list)
    responses: Annotated[list[dict], operator.add] = field(default_factory=list)
    user_info: Annotated[dict | None, latest_not_none] = None
    crm_info: Annotated[dict | None, latest_not_none] = None
    email_thread_id: Annotated[str | None, latest_not_none] = None
    slack_participants: Annotated[dict, operator.or_] = field(default_factory=dict)
    bot_id: str | None = None
    notified_assignees: Annotated[dict, operator.or_] = field(default_factory=dict)


def wide_state(size):
    from langgraph.graph import END, START, StateGraph

    size = size or 1200
    text = hexstr("wide", size)

    def one(state: WideState):
        return {"trigger_events": state.messages, "primary_issue_medium": text}

    def two(state: WideState):
        event = state.trigger_events[-1]
        return {"autoresponse": event, "issue": event}

    def three(state: WideState):
        return {"relevant_rules": [state.autoresponse]}

    def four(state: WideState):
        events = state.trigger_events
        return {"categorizations": events, "responses": events, "memory_docs": events}

    def five(state: WideState):
        category = state.categorizations[-1]
        return {"user_info": category, "crm_info": category, "email_thread_id": text,
                "slack_participants": category, "bot_id": text, "notified_assignees": category}

    def six(state: WideState):
        return {"messages": state.responses}

    graph = StateGraph(WideState)
    for node in (one, two, three, four, five, six):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "one")
    graph.add_edge("one", "two")
    graph.add_edge("two", "three")
    graph.add_edge("two", "four")
    graph.add_edge(["three", "four"], "five")
    graph.add_edge("five", "six")
    graph.add_conditional_edges("six", lambda state: END if len(state.messages) > size else "one")
    return f"wide_state_9x{size}", graph, {"messages": [wide_message()]}, 5 * count_rounds(size)


def wide_message():
    """Three entries of three entries: 9 lists of 25 scalars."""
    scalars = ["hi?" * 10, True, 1, 6327816386138, None] * 5
    return {str(i) * 10: {str(j) * 10: list(scalars) for j in range(3)} for i in range(3)}


def count_rounds(size):
    messages, events, responses, rounds = 1, 0, 0, 0
    while messages <= size:
        events += messages
        responses += events
        messages += responses
        rounds += 1
    return rounds


class Show(TypedDict):
    subjects: list[str]
    jokes: Annotated[list[str], operator.add]


class JokeInput(TypedDict):
    subject: str


class JokeOutput(TypedDict):
    jokes: list[str]


class Joke(JokeInput, JokeOutput):
    pass


def fanout_to_subgraph(size):
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Send

    def edit(state: JokeInput):
        return {"subject": f"{state['subject']} - hohoho"}

    def generate(state: JokeInput):
        return {"jokes": [f"Joke about {state['subject']}"]}

    def bump(state: JokeOutput):
        return {"jokes": [state["jokes"][0] + " a"]}

    def bump_again(state: JokeOutput):
        return END if state["jokes"][0].endswith(" a" * 10) else "bump"

    def joke_about_each(state: Show):
        return [Send("generate_joke", {"subject": subject}) for subject in state["subjects"]]

    joke = StateGraph(Joke, input_schema=JokeInput, output_schema=JokeOutput)
    joke.add_node("edit", edit)
    joke.add_node("generate", generate)
    joke.add_node("bump", bump)
    joke.add_edge(START, "edit")
    joke.add_edge("edit", "generate")
    joke.add_edge("generate", "bump")
    joke.add_conditional_edges("bump", bump_again)

    graph = StateGraph(Show)
    graph.add_node("generate_joke", joke.compile())
    graph.add_conditional_edges(START, joke_about_each)
    graph.add_edge("generate_joke", END)
    subjects = [hexstr(f"subject{i}", 1000) for i in range(size or 100)]
    steps = 1 + 12 * len(subjects)  # a joke is edited, generated, and bumped ten times
    return f"fanout_to_subgraph_{len(subjects)}x", graph, {"subjects": subjects}, steps


SHAPES = {shape.__name__: shape for shape in (sequential, react_agent, react_graph, wide_state, fanout_to_subgraph)}
