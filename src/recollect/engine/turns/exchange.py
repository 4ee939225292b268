"""Check an exchange as it comes in, and keep the short-term window of its session."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect.engine.arguments import check_kept
from recollect.engine.context import Engine
from recollect.engine.tracing import border_check, refuse_border
from recollect.engine.transaction import StreamWriter, forgotten, soft_delete
from recollect.engine.write.drafting import parse_candidate
from recollect.engine.write.incumbents import holder
from recollect.engine.write.ingest import Writing
from recollect.engine.write.preparing import Prepared, prepare
from recollect.model import trace
from recollect.model.canonical import check_text
from recollect.model.errors import BadInput, NotAllowed
from recollect.model.item import source_word
from recollect.model.ledger import Address, Event, phase_number
from recollect.model.receipt import Receipt
from recollect.model.vocabulary import SHARED, Authority, EventType, Kind, KindClass, Namespace, Source, Space
from recollect.rules.identity.keys import explicit_key
from recollect.rules.prompt.turn_lines import MAX_SUMMARISED, SUMMARY_TITLE, Said, summary
from recollect.rules.trust.authority import DEFAULT_OWNER
from recollect.stores.protocol import Later, Stored

MAX_TURN_BYTES = 1_048_576
"""The most bytes of a turn. A line longer than a memory may be is stored as linked parts."""
MAX_TOOLS = 64


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returned during the exchange."""

    name: str
    output: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was said, in which session, and whose memory it is about."""

    session: str
    owner: str
    project: str | None
    user: str
    ai: str | None = None
    tools: tuple[ToolResult, ...] = ()
    thread_id: str | None = None
    """The thread of the lines; by default the session."""
    run_id: str | None = None
    is_named: bool = True
    """Whether the owner was named: the default owner's memory would be everyone's."""

    def owner_in(self, space: Space) -> str | None:
        """Return the owner of this exchange's stream in a space; ``None`` if it has none there."""
        owners = {
            Space.SESSION: self.session,
            Space.USER: self.owner,
            Space.PROJECT: self.project,
            Space.SYSTEM: "default",
        }
        return owners[space]

    def address(self, tenant: str, space: Space) -> Address | None:
        owner = self.owner_in(space)
        return Address(tenant, Namespace.PROD, space, owner) if owner is not None else None


def as_session(engine: Engine, session: str, ai_profile: str | None) -> Engine:
    """Return the engine for a session. A bound caller can name only its own."""
    check_kept(engine.policy.privacy, "session", session)
    if ai_profile is not None:
        check_kept(engine.policy.privacy, "ai_profile", ai_profile)
    caller = engine.caller
    if not caller.trusted and caller.session != session:
        hint = "Open it with as_caller(session=…)."
        no = NotAllowed("this caller is not in that session.", field="session", hint=hint)
        raise refuse_border(engine, border_check(engine, "read", Space.SESSION, "border:not_your_space"), no)
    return engine.seen_by(replace(caller, session=session, ai_profile=ai_profile or caller.ai_profile))


def parse_exchange(
    engine: Engine,
    *,
    session: str,
    user: str,
    ai: str | None = None,
    tools: Sequence[Mapping[str, Any]] = (),
    owner: str | None = None,
    project: str | None = None,
    thread_id: str | None = None,
    run_id: str | None = None,
) -> Exchange:
    """Return the exchange from plain values. The owner defaults to the caller's user, else to the default owner.

    An exchange that is too long is refused before it is scanned and before a stream is locked.
    """
    _check_size(user, ai, tools)
    for field, name in (("owner", owner), ("project", project), ("thread_id", thread_id), ("run_id", run_id)):
        if name is not None:
            check_kept(engine.policy.privacy, field, name)
    projects = engine.caller.projects
    return Exchange(
        session=session,
        owner=owner or engine.caller.user or DEFAULT_OWNER,
        project=project or (next(iter(projects)) if len(projects) == 1 else None),
        user=_line("user", user),
        ai=None if ai is None else _line("ai", ai),
        tools=_tools(engine, tools),
        thread_id=thread_id,
        run_id=run_id,
        is_named=owner is not None or engine.caller.user not in (None, DEFAULT_OWNER),
    )


def _line(field: str, text: Any) -> str:
    if not isinstance(text, str) or not text.strip():
        raise BadInput("is empty; say what was said.", field=field)
    try:
        check_text(text)
    except ValueError as error:
        raise BadInput(f"{error}.", field=field) from None
    return text


def _check_size(user: Any, ai: Any, tools: Any) -> None:
    """Raise if the whole exchange is too long; the error names the field that exceeds the limit."""
    listed = tools if isinstance(tools, Sequence) and not isinstance(tools, str | bytes) else ()
    outputs = ((f"tools[{n}].output", tool.get("output")) for n, tool in enumerate(listed) if isinstance(tool, Mapping))
    left = MAX_TURN_BYTES
    for field, text in (("user", user), ("ai", ai), *outputs):
        if isinstance(text, str):
            left -= len(text) if len(text) > left else len(text.encode("utf-8", "surrogatepass"))
        if left < 0:
            message = f"makes the turn longer than {MAX_TURN_BYTES:,} bytes."
            raise BadInput(message, field=field, hint="Record it in several turns.")


def _tools(engine: Engine, tools: Any) -> tuple[ToolResult, ...]:
    if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Sequence):
        raise BadInput("must be a list.", field="tools", hint='Such as [{"name": "search", "output": "…"}].')
    if len(tools) > MAX_TOOLS:
        raise BadInput(f"are more than {MAX_TOOLS}.", field="tools", hint="Record them in several turns.")
    return tuple(_tool(engine, f"tools[{index}]", tool) for index, tool in enumerate(tools))


def _tool(engine: Engine, field: str, tool: Any) -> ToolResult:
    if not isinstance(tool, Mapping) or set(tool) != {"name", "output"}:
        hint = 'Such as {"name": "search", "output": "…"}.'
        raise BadInput("must have a name and an output.", field=field, hint=hint)
    name = check_kept(engine.policy.privacy, f"{field}.name", tool["name"])
    return ToolResult(name, _line(f"{field}.output", tool["output"]))


MAX_EVICTED = 1_000
"""The most lines that one turn forgets; a session with more shrinks over several turns."""
OF_A_TURN = "turn"
"""Marks the lines of an exchange: lines added by hand do not push an exchange out of the window."""
SUMMARY_KEY = explicit_key(SUMMARY_TITLE).text
SUMMARY_CATEGORY = "general"


def slide(
    writing: Writing, address: Address, before: Later[list[Stored]], written: Collection[str]
) -> tuple[tuple[str, ...], tuple[Receipt, ...]]:
    """Soft-delete the lines beyond the window. Return their ids, and the receipt of their summary if one is made.

    ``before`` are the lines of the session before this exchange, ``written`` the ids of its own lines.
    """
    stream_writer, settings = writing.stream_writer(address), writing.engine.policy.turns
    known = {s.state.id: s for s in before() if stream_writer.is_active(s)} | {
        id: stream_writer.stored(id) for id in written
    }
    lines = [s for s in known.values() if not _is_summary(s) and _is_visible(writing, s)]
    exchanged = [stored for stored in lines if OF_A_TURN in (stored.body or {}).get("meta", {})] or lines
    ticks = sorted({_tick(stored) for stored in exchanged}, reverse=True)[: settings.short_term_window]
    leaving = sorted((s for s in lines if _tick(s) < ticks[-1]), key=lambda s: s.number) if ticks else []
    if not leaving:
        return (), ()
    summarised = [s for s in known.values() if _is_summary(s)]
    _ask_in_advance(stream_writer, leaving, summarised)
    events: list[trace.Trace] = []
    stream_writer.load(*leaving)
    for stored in leaving:
        soft_delete(stream_writer, stored.state.id, Event.EXPIRED, "decay")
        events += forgotten(writing.engine, stored.state.id, stored.body, "decay")
    writing.keep(events, stream_writer.stream.number)
    quotable = [
        stored
        for stored in leaving
        if _may_be_quoted(writing, stored) and _is_of_this_phase(writing, stream_writer, stored)
    ]
    receipts = (summarise(writing, address, quotable),) if settings.summarise and quotable else ()
    stream_writer.flush()
    return tuple(stored.state.id for stored in leaving), receipts


def _ask_in_advance(stream_writer: StreamWriter, leaving: Sequence[Stored], summarised: Sequence[Stored]) -> None:
    """Send the reads of forgetting and summarising in one round trip, where the store can."""
    soon = stream_writer.writer.in_advance()
    if soon is not None:
        soon.unindex_text(stream_writer.stream, [stored.number for stored in (*leaving, *summarised)])
        holder(stream_writer.engine, soon, stream_writer.stream, SHARED, KindClass.EVENT, SUMMARY_KEY)
        for stored in summarised:
            soon.relations_at(stream_writer.stream.tenant, [(stored.stream, stored.number)])


def _is_visible(writing: Writing, stored: Stored) -> bool:
    """Return whether the caller may see a line: it cannot forget what it may not see."""
    scope = stored.body["scope"] if stored.body is not None else None
    return writing.engine.sight.sees(scope, stored.state.category)


def _may_be_quoted(writing: Writing, stored: Stored) -> bool:
    """Return whether the summary may quote a line: with allowlists, each reader of the summary must be allowed it."""
    return not writing.engine.policy.agents.allowlists or stored.state.category == SUMMARY_CATEGORY


def _is_of_this_phase(writing: Writing, stream_writer: StreamWriter, stored: Stored) -> bool:
    """Return whether a memory is of the current phase: a summary carries no words of an earlier phase into it."""
    of = phase_number((stored.body or {}).get("phase_id"))
    return not writing.engine.policy.phase.recalls_current_only or of == stream_writer.stream.phase


def summarise(writing: Writing, address: Address, leaving: Sequence[Stored]) -> Receipt:
    """Add lines that left the window to the summary of their session."""
    engine, stream_writer = writing.engine, writing.stream_writer(address)
    where = writing.writer, stream_writer.stream, SHARED, KindClass.EVENT
    earlier = holder(engine, *where, SUMMARY_KEY, category=SUMMARY_CATEGORY).incumbent
    carried = earlier is not None and _is_summary(earlier) and _is_of_this_phase(writing, stream_writer, earlier)
    before = (earlier.body or {}) if earlier is not None and carried else {}
    of = [*before.get("meta", {}).get("summary_of", ()), *(stored.state.id for stored in leaving)]
    text = summary(
        before.get("content"), [_to_said(stored) for stored in leaving], engine.policy.turns.summary_characters
    )
    fields = {
        "content": text,
        "title": SUMMARY_TITLE,
        "category": SUMMARY_CATEGORY,
        "kind": Kind.SHORT_TERM,
        "event_type": EventType.CONTEXT,
        "space": address.space,
        "owner": address.owner,
        "source": Source.TOOL,
        "change": "update",
        "user_id": next((stored.body.get("user_id") for stored in leaving if stored.body), None),
    }
    answer = prepare(engine, parse_candidate(engine, fields), reader=writing.writer)
    return writing.write(answer.noting(summary_of=of[-MAX_SUMMARISED:]) if isinstance(answer, Prepared) else answer)


def _to_said(stored: Stored) -> Said:
    body = stored.body or {}
    speaker = source_word(Source(body["source"]), Authority(stored.state.authority))
    tool = body.get("actor_id") if body["source"] == Source.TOOL else None
    return Said(f"{speaker} {tool}" if tool else speaker, body["content"])


def _tick(stored: Stored) -> int:
    return int((stored.body or {}).get("tick", 0))


def _is_summary(stored: Stored) -> bool:
    return "summary_of" in (stored.body or {}).get("meta", {})
