"""A supervisor with two agents that remember across restarts, without a language model.

    python examples/langgraph_supervisor.py memory.db ana "I live in Lisbon"
    python examples/langgraph_supervisor.py memory.db ana "Please compare green and black tea"
    python examples/langgraph_supervisor.py memory.db ana "Where do I live?"

Instead of a file it may be a postgresql:// URL.

The supervisor recalls what is known about the user and passes the message on to an agent: the *concierge* keeps what people
say of themselves, the *researcher* keeps its own notes. Each sees what the user said and what it noted itself, and neither
sees the other's notes: the borders are the engine's, not the prompt's. The conversation is kept by the checkpointer, what is
worth knowing by the memory; both lie in one database, so that the next process goes on where this one stopped. Note that the
conversation passes no gates: a password that the agents refuse is still among the messages.
"""

import operator
import sys
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

import recollect
from recollect.langgraph import RecollectSaver, RecollectStore
from recollect.langgraph.items import owner_of

Graph = CompiledStateGraph[Any, Any, Any, Any]
RESEARCH_WORDS = ("compare", "find", "research")


class Conversation(TypedDict):
    messages: Annotated[list[str], operator.add]
    user: str
    memory_context: str
    """What was recalled for this turn."""
    to: str


class Work(TypedDict):
    """What an agent is given, and what it has done so far: its own state, kept from turn to turn."""

    messages: Annotated[list[str], operator.add]
    done: Annotated[list[str], operator.add]


def concierge(mem: recollect.Recollect, user: str) -> Graph:
    """Keeps what a person says of themselves; the rules decide what it is and what it replaces."""
    own = mem.as_caller(agent="concierge", user=user, rights=["read", "write", "relay"])

    def listen(work: Work) -> dict[str, list[str]]:
        said = work["messages"][-1]
        outcome = "asked" if said.endswith("?") else own.add(said, source="user").outcome
        known = own.query(said).text or "- nothing yet"
        return {"messages": [f"concierge: {outcome}.\n{known}"], "done": [said]}

    return _agent("listen", listen)


def researcher(mem: recollect.Recollect, user: str) -> Graph:
    """Keeps notes that only it sees, one for each topic."""
    place = ("notes", _label(user))
    own = mem.as_caller(agent="researcher", user=user, projects=[owner_of(place)])

    def look_up(work: Work) -> dict[str, list[str]]:
        topic = work["messages"][-1]
        with RecollectStore(own, scope="researcher") as notes:
            return {"messages": [f"researcher: {_noted(notes, place, topic)}"], "done": [topic]}

    return _agent("look_up", look_up)


def _label(user: str) -> str:
    """A user's name, perhaps an e-mail address, as part of a namespace, which may hold no dots; no two users share one."""
    return user.replace("~", "~~").replace(".", "~d")


def _noted(notes: RecollectStore, place: tuple[str, ...], topic: str) -> str:
    """Count how often a topic came up. What the gates refuse, such as a password, is not kept, and the turn goes on."""
    known = notes.get(place, topic)
    times = known.value["times"] + 1 if known else 1
    try:
        notes.put(place, topic, {"topic": topic, "times": times})
    except recollect.Refused as refused:
        return f"no note was taken, {refused.message}"
    return f"asked {times} time(s) so far."


def _agent(name: str, step: Any) -> Graph:
    """An agent as a subgraph with a state of its own, which the checkpointer keeps under the agent's name."""
    builder = StateGraph(Work)
    builder.add_node(name, step)
    builder.add_edge(START, name)
    return builder.compile(checkpointer=True)


def supervisor(mem: recollect.Recollect, saver: RecollectSaver, user: str) -> Graph:
    """Recalls, routes, and lets the chosen agent answer."""
    own = mem.as_caller(agent="supervisor", user=user)

    def route(state: Conversation) -> dict[str, str]:
        said = state["messages"][-1]
        to = "researcher" if any(word in said.lower() for word in RESEARCH_WORDS) else "concierge"
        return {"memory_context": own.query(said).text, "to": to}

    builder = StateGraph(Conversation)
    builder.add_node("route", route)
    for name, agent in (("concierge", concierge(mem, user)), ("researcher", researcher(mem, user))):
        builder.add_node(name, _calling(agent))
        builder.add_edge(name, END)
    builder.add_edge(START, "route")
    builder.add_conditional_edges("route", lambda state: state["to"], ["concierge", "researcher"])
    return builder.compile(checkpointer=saver)


def _calling(agent: Graph) -> Any:
    """A node that gives an agent the last message and takes its answer."""
    return lambda state: {"messages": [agent.invoke({"messages": [state["messages"][-1]]})["messages"][-1]]}


def turn(location: str | Path, user: str, said: str) -> str:
    """One turn of a conversation, in a process that may be another one than the last turn's; returns the answer."""
    with recollect.open(location) as mem, RecollectSaver(mem) as saver:
        config: Any = {"configurable": {"thread_id": "conversation", "user_id": user}}
        state = supervisor(mem, saver, user).invoke({"messages": [said], "user": user}, config)
        return str(state["messages"][-1])


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    try:
        print(turn(*sys.argv[1:]))
    except recollect.RecollectError as error:
        sys.exit(str(error))
