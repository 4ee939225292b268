"""A house with somebody behind every border, and every way to look into it.

What a caller is told must not depend on what it may not see. So each border is tried on stores that differ in nothing but
the memories behind it: there they say one thing, or another, or there are none.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import recollect
from recollect.interfaces.mcp.catalogue import GRAPH, PAGE, SNAPSHOT, TOOLS, get_prompt, read_resource
from recollect.interfaces.python import Recollect
from recollect.model.caller import Caller
from recollect.model.errors import RecollectError
from recollect.model.receipt import Page, Receipt
from recollect.rules.knowledge_graph import Entity, entity_fields
from recollect.rules.ledger.content_ids import cid_of
from support.determinism import SeededRandomness
from support.script import START

POLICY: dict[str, Any] = {
    "agents": {
        "allowlists": {"coder": ["general", "tasks", "procedural", "knowledge"], "stylist": ["general", "style"]}
    },
}
MISSING = "7d7d7d7d-1111-5222-8333-444444444444"
ASKED = "Where are the savings, and when is the launch in Lisbon?"
TELLING = "savings bank garden Lisbon launch Friday spring"
"""Words of what may be seen, which what is hidden may or may not hold too."""
OTHERWISE = "barometer xylophone quartz marmalade trombone walrus origami"
MARK = "zanzibar"
"""A word in everything that is hidden, and in nothing that is asked or may be seen."""


class Moment:
    """A clock that is set by hand, so that nobody's writing moves another's time."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def set(self, minutes: int) -> None:
        self.now = START + timedelta(minutes=minutes)


def as_coder(mem: Recollect, **more: Any) -> Recollect:
    """Ana's own caller, through the agent `coder`: most borders are tried with it."""
    who: dict[str, Any] = {"user": "ana", "agent": "coder", "session": "s-ana", "projects": ["apollo"], **more}
    return mem.as_caller(**who)


def as_application(mem: Recollect) -> Recollect:
    """The application itself, looking through the eyes of its agent."""
    return Recollect(mem.engine.seen_by(replace(mem.engine.caller, agent="coder")), owns_store=False)


_ADMINISTRATION = frozenset(
    {
        *(
            "traces",
            "traces of a session",
            "traces of a memory",
            "explain, the last turn",
            "explain, sentences",
            "events",
            "ops",
            "stats",
        ),
        *("events of a thread", "verify", "doctor", "state_hash", "ledger_root", "uncovered_entries"),
    }
)
"""What an application knows of its whole store, whichever agent it speaks for."""


@dataclass(frozen=True)
class Border:
    """Where something is hidden, and from whom."""

    where: dict[str, Any]
    eyes: Callable[[Recollect], Recollect] = as_coder
    tenant: str = "default"
    within_the_stream: bool = False
    """Hidden beside what may be seen, so that both share what a stream counts, such as its ticks."""
    open_to: frozenset[str] = frozenset()
    """Reads to which the border is none."""
    all_filters: bool = False
    """Whether it is tried with every filter, which takes its time."""
    keep: str = "none"
    """Which governance events the policy keeps."""

    @property
    def reads(self) -> "dict[str, Read]":
        filtered = FILTERED_READS if self.all_filters else {}
        return {name: read for name, read in (READS | filtered).items() if name not in self.open_to}


def _of(owner: str, **more: Any) -> dict[str, Any]:
    return {"owner": owner, **more}


def _person(mem: Recollect) -> Recollect:
    return as_coder(mem, agent=None)


def _governor(mem: Recollect) -> Recollect:
    return as_coder(mem, rights=["read", "write", "govern"])


_BY_ID = frozenset(
    {
        *("get", "history", "chain", "explain", "related", "as_of a tick, get", "as_of a time, get"),
        *("traces of a memory", "explain, sentences"),
    }
)

_SOURCES = frozenset(
    {"ancestors", "descendants", "common_sources", "credit", "derivatives", "vouchers", "parent_hashes"}
)
_KNOWN_TO_ITS_OWNER = (
    _BY_ID
    | _SOURCES
    | {"mcp memory_history", "mcp page", "history of ana", "events", "events of a thread", "ops", "stats"}
    | {"permitted", "preview_erasure", "growth", "streams"}
)
"""Whoever owns something in another namespace may ask for it by its id, and finds it among all that was done."""

BORDERS = {
    "tenant": Border(_of("ana"), tenant="globex", keep="all"),
    "owner": Border(_of("zoe")),
    "owner, from a governor": Border(_of("zoe"), _governor, keep="all"),
    "session": Border(_of("s-zoe", space="session")),
    "project": Border(_of("gemini", space="project")),
    "namespace test": Border(_of("ana", namespace="test", tags=["test"]), open_to=_KNOWN_TO_ITS_OWNER),
    "namespace ephemeral": Border(_of("ana", diagnostic=True), open_to=_KNOWN_TO_ITS_OWNER),
    "scope": Border(_of("ana", scope="stylist"), within_the_stream=True),
    "scope, from a person": Border(_of("ana", scope="stylist"), _person, within_the_stream=True),
    "scope, from a governor": Border(_of("ana", scope="stylist"), _governor, within_the_stream=True, keep="all"),
    "scope, from the application's agent": Border(
        _of("ana", scope="stylist"), as_application, within_the_stream=True, open_to=_ADMINISTRATION
    ),
    "category": Border(_of("ana", category="health"), within_the_stream=True, all_filters=True),
    "no list": Border(_of("ana"), lambda mem: as_coder(mem, agent="stranger"), within_the_stream=True),
    "no read right": Border(_of("ana"), lambda mem: as_coder(mem, rights=["write"]), within_the_stream=True),
}


@dataclass
class House:
    """A store that is furnished, and the ids in it by the names that the reads use."""

    mem: Recollect
    clock: Moment
    own: dict[str, str] = field(default_factory=dict)
    hidden: list[str] = field(default_factory=list)


def furnished(border: Border, words: str | None, *, early: bool = True, location: str = ":memory:") -> House:
    """A house in which the hidden memories hold these words, or in which there are none.

    Some of them are ``early``, before everything else: what they take of a stream's numbers, all others lack.
    """
    clock = Moment()
    mem = recollect.open(
        location, clock=clock, randomness=SeededRandomness(1), policy={**POLICY, "traces": {"keep": border.keep}}
    )
    house = House(mem, clock)
    stranger = Recollect(
        replace(mem.engine, randomness=SeededRandomness(2), caller=Caller(tenant=border.tenant)), owns_store=False
    )
    house.clock.set(1)
    if words is not None and early:
        house.hidden += _hide_early(stranger, border, words)
    _furnish(house)
    house.clock.set(50)
    if words is not None:
        house.hidden += _hide_late(stranger, border, words)
    house.clock.set(100)
    return house


def _id(receipt: Receipt) -> str:
    assert receipt.memory is not None, receipt
    return receipt.memory.id


def _furnish(house: House) -> None:
    """What Ana has and her coder may see: versions, a contradiction, a conversation, what was put away, and so on."""
    mem, clock, own = house.mem, house.clock, house.own
    steps: list[tuple[str, Callable[[], Receipt]]] = [
        ("first", lambda: mem.add("The savings of Ana are in the bank", owner="ana", canonical_key="Savings-Place",
                                  aliases=["ticket-7"], thread_id="t1", tags=["money"])),
        ("second", lambda: mem.add("The savings of Ana are in the garden", owner="ana", canonical_key="Savings-Place",
                                   change="update", importance=4)),
        ("doubted", lambda: mem.add("The savings of Ana are nowhere", owner="ana", canonical_key="Savings-Place",
                                    change="contradiction", authority="ai_inferred")),
        ("canon", lambda: mem.add("Lisbon is where Ana spends the spring", owner="ana", tier="canon", category="tasks",
                                  canonical_key="Spring-Place", pinned=True)),
        ("topic", lambda: mem.add("The launch is planned for Friday", owner="ana", tier="register", topic_id="launch")),
        ("said", lambda: mem.add("We talked about the launch in Lisbon", owner="ana", kind="episodic", thread_id="t1",
                                 entities=[{"name": "launch"}])),
        ("said next", lambda: mem.add("On Friday, she said", owner="ana", kind="episodic", thread_id="t1")),
        ("own scope", lambda: mem.add("The launch needs a bank account", owner="ana", scope="coder", category="tasks")),
        ("away", lambda: mem.add("The garden in Lisbon was sold", owner="ana", canonical_key="Garden-Sale")),
        ("steps", lambda: mem.add("1. Go to the bank\n2. Ask for the savings", owner="ana", kind="procedural",
                                  category="procedural", canonical_key="Savings-How")),
        ("graph", lambda: mem.add(owner="ana", **entity_fields(Entity("Ana", "saver of savings")))),
        ("project", lambda: mem.add("The launch of Apollo is in spring", owner="apollo", space="project")),
        ("system", lambda: mem.add("Everybody speaks softly in Lisbon", owner="house", space="system")),
    ]  # fmt: skip
    for minute, (name, add) in enumerate(steps, start=10):
        clock.set(minute)
        own[name] = _id(add())
    mem.archive(own["away"])
    mem.record(
        session="s-ana", owner="ana", user="I live in Lisbon. I love the garden.", ai="A launch in spring, then."
    )
    mem.start_phase(space="project", owner="apollo", name="second")
    mem.add("Apollo has a new bank", owner="apollo", space="project", canonical_key="Apollo-Bank")


def _hide_early(stranger: Recollect, border: Border, words: str) -> list[str]:
    """The same shape whatever the words, so that a stream which both share counts the same."""
    add = _adding(stranger, border)
    return [
        add(f"{MARK} one {words}", canonical_key="Hidden-First", aliases=["ticket-7"], thread_id="t1"),
        add(f"{MARK} two {words}", canonical_key="Hidden-First", change="update"),
        add(f"{MARK} three {words}", kind="episodic", thread_id="t1"),
    ]


def _hide_late(stranger: Recollect, border: Border, words: str) -> list[str]:
    add = _adding(stranger, border)
    ids = [
        add(f"{MARK} four {words}", canonical_key="Spring-Hidden", tier="canon", pinned=True, importance=5),
        add(f"{MARK} five {words}", canonical_key="Hidden-Topic", importance=5),
        add(f"{MARK} six {words}", kind="episodic", thread_id="t1"),
        add(f"{MARK} seven {words}", kind="profile", key="preferred_name"),
    ]
    if "category" not in border.where:
        known = entity_fields(Entity(f"{MARK} {words}", "savings"))
        ids.append(add(**known))
    stranger.archive(add(f"{MARK} eight {words}", canonical_key="Hidden-Away"))
    stranger.edit(ids[1], tags=["money"])
    return ids


def _adding(stranger: Recollect, border: Border) -> Callable[..., str]:
    def add(content: str, **fields: Any) -> str:
        tags = [*border.where.get("tags", ()), *fields.pop("tags", ())]
        named = {"entities": [{"name": "Lisbon"}]}
        return _id(stranger.add(content, **{**named, **border.where, **fields, "tags": tags}))

    return add


Read = Callable[[Recollect, House], object]


def _own(read: Callable[[Recollect, str], object]) -> Read:
    """A read of one memory, tried with a few that are the caller's to see, and with an alias that others gave theirs too."""
    return lambda mem, house: [outcome(lambda id=id: read(mem, id)) for id in (*_few(house), "ticket-7")]  # type: ignore[misc]


def _few(house: House) -> list[str]:
    """The versions of one concept, and whatever a test put beside them."""
    return [
        id for name, id in house.own.items() if name in ("first", "second", "doubted", "said") or "it" in name.split()
    ]


ON_AN_ID: dict[str, Callable[[Recollect, str], object]] = {
    "get": lambda mem, id: mem.get(id),
    "history": lambda mem, id: mem.history(id),
    "chain": lambda mem, id: mem.chain(id),
    "explain": lambda mem, id: mem.explain(id),
    "related": lambda mem, id: mem.related(id),
    "prove": lambda mem, id: mem.prove(id),
    "ancestors": lambda mem, id: mem.ancestors(id),
    "descendants": lambda mem, id: mem.descendants(id),
    "common_sources": lambda mem, id: mem.common_sources(id, id),
    "credit": lambda mem, id: mem.credit(id),
    "derivatives": lambda mem, id: mem.derivatives(id),
    "vouchers": lambda mem, id: mem.vouchers(id),
    "parent_hashes": lambda mem, id: mem.parent_hashes([id]),
    "as_of a tick, get": lambda mem, id: mem.as_of(tick=8).get(id),
    "as_of a time, get": lambda mem, id: mem.as_of(time=START + timedelta(minutes=60)).get(id),
    "traces of a memory": lambda mem, id: _unnumbered(mem.traces(memory=id)),
    "explain, sentences": lambda mem, id: mem.explain(id).sentences,
    "permitted": lambda mem, id: mem.permitted([id]),
    "preview_erasure": lambda mem, id: mem.preview_erasure(id=id),
    "mcp memory_history": lambda mem, id: TOOLS["memory_history"].call(mem, {"id": id}),
    "mcp page": lambda mem, id: read_resource(mem, f"{PAGE}{id}").text,
}
FILTERED: dict[str, dict[str, Any]] = {
    "kind": {"kind": ["semantic", "episodic"]},
    "event_type": {"event_type": "fact"},
    "layer": {"layer": "world"},
    "tier": {"tier": "canon"},
    "category": {"category": ["general", "tasks"]},
    "pinned": {"pinned": True},
    "topic_id": {"topic_id": "launch"},
    "source": {"source": "user"},
    "user_id": {"user_id": "ana"},
    "agent_id": {"agent_id": "coder"},
    "run_id": {"run_id": "run-1"},
    "thread_id": {"thread_id": "t1"},
    "actor_id": {"actor_id": "ana"},
    "role": {"role": "user"},
    "scope": {"scope": ["stylist", "shared"]},
    "tags": {"tags": ["money"]},
    "key": {"key": "Savings-Place"},
    "hidden key": {"key": "Hidden-First"},
    "importance_min": {"importance_min": 3},
    "importance_max": {"importance_max": 4},
    "updated_after": {"updated_after": START + timedelta(minutes=15)},
    "updated_before": {"updated_before": START + timedelta(minutes=60)},
    "created_after": {"created_after": START + timedelta(minutes=15)},
    "created_before": {"created_before": START + timedelta(minutes=60)},
    "phase": {"phase": "phase-1"},
    "author": {"author": ["ana", "zoe", "coder"]},
    "content_hash": {"content_hash": cid_of(f"{MARK} one {ASKED}")},
    "parent": {"parent": [cid_of(f"{MARK} one {ASKED}"), cid_of(f"{MARK} two {ASKED}")]},
    "voucher": {"voucher": ["zoe", "ben", "coder"]},
    "confidence_min": {"confidence_min": 0.0},
}
NAMED: dict[str, dict[str, Any]] = {
    "of zoe": {"owner": "zoe"},
    "of zoe's session": {"owner": "s-zoe", "space": "session"},
    "of gemini": {"owner": "gemini", "space": "project"},
    "of ana": {"owner": "ana"},
}
"""Where a read may be told to look, whosever it is."""

PLAIN: dict[str, Read] = {
    "list": lambda mem, _: mem.list(limit=1_000),
    "list of every status": lambda mem, _: mem.list(status=None, limit=1_000),
    "list, page by page": lambda mem, _: list(_pages(mem)),
    "list_all": lambda mem, _: mem.list_all(),
    "list_all of every status": lambda mem, _: mem.list_all(status=None),
    "query": lambda mem, _: mem.query(ASKED, top_k=100),
    "query of two": lambda mem, _: mem.query(ASKED, top_k=2),
    "query, threshold": lambda mem, _: mem.query(ASKED, threshold=0.4, top_k=100),
    "query, named": lambda mem, _: mem.query(ASKED, named=True, top_k=100),
    "query, budget": lambda mem, _: mem.query(ASKED, budget_tokens=40, top_k=100),
    "query, categories": lambda mem, _: mem.query(ASKED, categories=["tasks"]),
    "query of a hidden category": lambda mem, _: mem.query(ASKED, categories=["health"]),
    "query for the hidden": lambda mem, _: mem.query("barometer walrus", top_k=100),
    "query, history": lambda mem, _: mem.query(ASKED, history=True, top_k=100),
    "query in a thread": lambda mem, _: [mem.query(ASKED, thread="t9") for _ in range(2)],
    "snapshot_block": lambda mem, _: mem.snapshot_block(),
    "memory_block": lambda mem, _: mem.memory_block(ASKED),
    "memory_block besides": lambda mem, _: mem.memory_block(ASKED, besides=mem.snapshot_block()),
    "recall_for": lambda mem, _: mem.recall_for(session="s-ana", user=ASKED, project="apollo"),
    "recall_for, elsewhere": lambda mem, _: mem.recall_for(session="s-zoe", user=ASKED, project="gemini"),
    "recall_for zoe": lambda mem, _: mem.recall_for(session="s-ana", user=ASKED, owner="zoe"),
    "recall_if_unsure": lambda mem, _: mem.recall_if_unsure(ASKED, 0.1),
    "on_demand_share": lambda mem, _: mem.on_demand_share(),
    "change_header of a thread": lambda mem, _: [mem.change_header(thread="t8") for _ in range(2)],
    "change_header since": lambda mem, _: mem.change_header(owner="ana", space="user", since=0),
    "change_header since, of zoe": lambda mem, _: mem.change_header(owner="zoe", space="user", since=0),
    "change_header since, of gemini": lambda mem, _: mem.change_header(owner="gemini", space="project", since=0),
    "phases": lambda mem, _: [
        mem.phases(space=space, owner=owner)
        for space, owner in (("user", "ana"), ("user", "zoe"), ("session", "s-zoe"), ("project", "apollo"))
    ],
    "phase_diff": lambda mem, _: mem.phase_diff("phase-1", "phase-2", space="project", owner="apollo"),
    "phase_diff elsewhere": lambda mem, _: mem.phase_diff("phase-1", "phase-1", space="project", owner="gemini"),
    "as_of a tick, list": lambda mem, _: mem.as_of(tick=9).list(limit=1_000),
    "as_of a tick, query": lambda mem, _: mem.as_of(tick=9).query(ASKED, top_k=100),
    "as_of a time, list": lambda mem, _: mem.as_of(time=START + timedelta(minutes=60)).list(status=None, limit=1_000),
    "as_of a time, query": lambda mem, _: mem.as_of(time=START + timedelta(minutes=60)).query(ASKED, top_k=100),
    "as_of a phase": lambda mem, _: mem.as_of(phase="phase-2", owner="apollo").list(),
    "history of an owner": lambda mem, _: [list(mem.history(owner=name)) for name in ("zoe", "s-zoe", "gemini")],
    "history of ana": lambda mem, _: mem.history(owner="ana"),
    "history of ana in prod": lambda mem, _: mem.history(owner="ana", include_namespaces=["prod"]),
    "history elsewhere": lambda mem, _: [
        list(mem.history(owner=name, space=space))
        for name, space in (("zoe", None), ("s-zoe", "session"), ("gemini", "project"))
    ],
    "traces": lambda mem, _: _unnumbered(mem.traces(limit=1_000)),
    "traces of a session": lambda mem, _: _unnumbered(mem.traces(session="s-ana")),
    "explain, the last turn": lambda mem, _: mem.explain().sentences,
    "events": lambda mem, _: mem.events(limit=1_000),
    "events of a thread": lambda mem, _: mem.events(thread="t1", limit=1_000),
    "ops": lambda mem, _: mem.ops(by="total"),
    "export": lambda mem, _: list(mem.export(status=None)),
    "export, items": lambda mem, _: list(mem.export(format="items", status=None)),
    "export, entries": lambda mem, _: list(mem.export(format="entries", status=None)),
    "stats": lambda mem, _: mem.stats(),
    "verify": lambda mem, _: mem.verify(),
    "doctor": lambda mem, _: mem.doctor(),
    "changes": lambda mem, _: mem.changes(since="start", limit=1_000),
    "checkpoints": lambda mem, _: mem.checkpoints(),
    "prove_growth": lambda mem, _: mem.prove_growth(1),
    "uncovered_entries": lambda mem, _: mem.uncovered_entries(),
    "identity": lambda mem, _: mem.identity("zoe"),
    "identities": lambda mem, _: mem.identities(),
    "identity_history": lambda mem, _: mem.identity_history(sign_as="zoe"),
    "check_entry": lambda mem, _: mem.check_entry({"content": ASKED}),
    "state_hash": lambda mem, _: mem.state_hash(),
    "ledger_root": lambda mem, _: mem.ledger_root(),
    "consolidate": lambda mem, _: mem.consolidate(),
    "rekey": lambda mem, _: mem.rekey(),
    "outdated": lambda mem, _: mem.outdated(conflicts=True),
    "rejections": lambda mem, _: mem.rejections(),
    "consent": lambda mem, _: mem.consent(),
    "difference": lambda mem, _: [
        mem.difference(1, owner="ana"),
        mem.difference("2026-01-01T00:00:00Z", owner="ana"),
        mem.difference(0, owner="ana", limit=1),
    ],
    "growth": lambda mem, _: mem.growth(),
    "streams": lambda mem, _: mem.streams(),
    "policy": lambda mem, _: mem.policy().model_dump_json(),
    "try_policy": lambda mem, _: mem.try_policy("governed"),
    "proposals": lambda mem, _: mem.proposals(),
    "runs": lambda mem, _: mem.runs(),
    "run": lambda mem, _: mem.run("aaaaaaaaaaaaaaaa"),
    "mcp memory_proposals": lambda mem, _: TOOLS["memory_proposals"].call(mem, {}),
    "mcp memory_runs": lambda mem, _: TOOLS["memory_runs"].call(mem, {}),
    "mcp memory_run": lambda mem, _: TOOLS["memory_run"].call(mem, {"id": "aaaaaaaaaaaaaaaa"}),
    "mcp memory_query": lambda mem, _: TOOLS["memory_query"].call(mem, {"text": ASKED, "form": "full"}),
    "mcp memory_list": lambda mem, _: TOOLS["memory_list"].call(mem, {"limit": 100}),
    "mcp memory_consolidate": lambda mem, _: TOOLS["memory_consolidate"].call(mem, {}),
    "mcp memory_rejections": lambda mem, _: TOOLS["memory_rejections"].call(mem, {}),
    "mcp memory_consent": lambda mem, _: TOOLS["memory_consent"].call(mem, {}),
    "mcp read_graph": lambda mem, _: TOOLS["read_graph"].call(mem, {}),
    "mcp search_nodes": lambda mem, _: TOOLS["search_nodes"].call(mem, {"query": "savings"}),
    "mcp open_nodes": lambda mem, _: TOOLS["open_nodes"].call(mem, {"names": ["Ana"]}),
    "mcp snapshot": lambda mem, _: read_resource(mem, SNAPSHOT).text,
    "mcp graph": lambda mem, _: read_resource(mem, GRAPH).text,
    "mcp prompts": lambda mem, _: [get_prompt(mem, "recall", {"text": ASKED}), get_prompt(mem, "snapshot", {})],
}  # fmt: skip
READS: dict[str, Read] = {
    **{name: _own(read) for name, read in ON_AN_ID.items()},
    **PLAIN,
    **{f"list {name}": lambda mem, _, w=w: mem.list(**w) for name, w in NAMED.items()},  # type: ignore[misc]
    **{f"query {name}": lambda mem, _, w=w: mem.query(ASKED, **w) for name, w in NAMED.items()},  # type: ignore[misc]
}
FILTERED_READS: dict[str, Read] = {
    **{f"list by {name}": lambda mem, _, f=f: mem.list(status=None, **f) for name, f in FILTERED.items()},  # type: ignore[misc]
    **{
        f"query by {name}": lambda mem, _, f=f: mem.query(ASKED, filters=f, top_k=100)  # type: ignore[misc]
        for name, f in FILTERED.items()
    },
}


def _pages(mem: Recollect) -> Iterator[Page]:
    cursor = None
    while True:
        page = mem.list(limit=3, cursor=cursor)
        yield page
        if (cursor := page.next_cursor) is None:
            return


def _unnumbered(traces: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in trace.items() if name != "number"} for trace in traces]


class Refusal(NamedTuple):
    """An error, as everything that it says."""

    name: str
    says: str


def outcome(call: Callable[[], object]) -> object:
    """Return what comes back, an error being an answer too. What is read bit by bit is read to the end."""
    try:
        found = call()
        return list(found) if isinstance(found, Iterator) else found
    except RecollectError as error:
        return Refusal(type(error).__name__, json.dumps(error.to_dict()))


def told(border: Border, house: House) -> dict[str, str]:
    """Every read to which it is a border, one after the other, as text."""
    mem = border.eyes(house.mem)
    return {name: repr(outcome(lambda read=read: read(mem, house))) for name, read in border.reads.items()}  # type: ignore[misc]
