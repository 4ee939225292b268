"""The short-term window: the last exchanges of a session word for word, and one summary of those before them.

An exchange is written in one transaction, so its lines share a tick: that is what the window counts.
"""

from collections.abc import Sequence

from recollect.engine.drafting import parse_candidate
from recollect.engine.expiry import forgotten, soft_delete
from recollect.engine.incumbents import holder
from recollect.engine.ingest import Prepared, Writing, prepare
from recollect.engine.pen import Pen
from recollect.model import trace
from recollect.model.address import Address
from recollect.model.item import source_word
from recollect.model.ledger import Event
from recollect.model.phase import phase_number
from recollect.model.receipt import Receipt
from recollect.model.vocabulary import SHARED, Authority, EventType, Kind, KindClass, Source
from recollect.rules.keys import explicit_key
from recollect.rules.turns import MAX_SUMMARISED, SUMMARY_TITLE, Said, summary
from recollect.stores.protocol import Stored

MAX_EVICTED = 1_000
"""How many lines one turn lets go; a session that holds more is brought down over several turns."""
OF_A_TURN = "turn"
"""What marks the lines of an exchange: those that somebody only adds push no exchange out."""
SUMMARY_KEY = explicit_key(SUMMARY_TITLE).text
SUMMARY_CATEGORY = "general"


def slide(writing: Writing, address: Address) -> tuple[tuple[str, ...], tuple[Receipt, ...]]:
    """Let go of what is beyond the window. Returns the ids that left, and the receipt of their summary if one is made."""
    pen, settings = writing.pen(address), writing.engine.policy.turns
    newest = writing.writer.standing(pen.stream, "turns", MAX_EVICTED)()
    lines = [s for s in newest if not _is_summary(s) and _seen(writing, s)]
    exchanged = [stored for stored in lines if OF_A_TURN in (stored.body or {}).get("meta", {})] or lines
    ticks = sorted({_tick(stored) for stored in exchanged}, reverse=True)[: settings.short_term_window]
    gone = sorted((s for s in lines if _tick(s) < ticks[-1]), key=lambda s: s.number) if ticks else []
    if not gone:
        return (), ()
    events: list[trace.Trace] = []
    pen.load(*gone)
    for stored in gone:
        soft_delete(pen, stored.state.id, Event.EXPIRED, "decay")
        events += forgotten(writing.engine, stored.state.id, stored.body, "decay")
    pen.flush()
    writing.keep(events, pen.stream.number)
    told = [stored for stored in gone if _may_be_told(writing, stored) and _is_of_this_phase(writing, pen, stored)]
    receipts = (_summarise(writing, address, told),) if settings.summarise and told else ()
    return tuple(stored.state.id for stored in gone), receipts


def _seen(writing: Writing, stored: Stored) -> bool:
    """What the caller may not know of is not the caller's to let go."""
    scope = stored.body["scope"] if stored.body is not None else None
    return writing.engine.sight.sees(scope, stored.state.category)


def _may_be_told(writing: Writing, stored: Stored) -> bool:
    """Whether the summary may hold a line: where agents have lists, whoever reads the one must be allowed the other."""
    return not writing.engine.policy.agents.allowlists or stored.state.category == SUMMARY_CATEGORY


def _is_of_this_phase(writing: Writing, pen: Pen, stored: Stored) -> bool:
    """Return whether a memory was written in the current phase: a summary carries no words of an earlier one into it."""
    of = phase_number((stored.body or {}).get("phase_id"))
    return not writing.engine.policy.phase.recalls_current_only or of == pen.stream.phase


def _summarise(writing: Writing, address: Address, gone: Sequence[Stored]) -> Receipt:
    engine, pen = writing.engine, writing.pen(address)
    where = writing.writer, pen.stream, SHARED, KindClass.EVENT
    earlier = holder(engine, *where, SUMMARY_KEY, category=SUMMARY_CATEGORY).incumbent
    carried = earlier is not None and _is_summary(earlier) and _is_of_this_phase(writing, pen, earlier)
    before = (earlier.body or {}) if earlier is not None and carried else {}
    of = [*before.get("meta", {}).get("summary_of", ()), *(stored.state.id for stored in gone)]
    text = summary(before.get("content"), [_said(stored) for stored in gone], engine.policy.turns.summary_characters)
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
        "user_id": next((stored.body.get("user_id") for stored in gone if stored.body), None),
    }
    answer = prepare(engine, parse_candidate(engine, fields), reader=writing.writer)
    return writing.settle(answer.noting(summary_of=of[-MAX_SUMMARISED:]) if isinstance(answer, Prepared) else answer)


def _said(stored: Stored) -> Said:
    body = stored.body or {}
    speaker = source_word(Source(body["source"]), Authority(stored.state.authority))
    tool = body.get("actor_id") if body["source"] == Source.TOOL else None
    return Said(f"{speaker} {tool}" if tool else speaker, body["content"])


def _tick(stored: Stored) -> int:
    return int((stored.body or {}).get("tick", 0))


def _is_summary(stored: Stored) -> bool:
    return "summary_of" in (stored.body or {}).get("meta", {})
