"""List every reason code with its meaning, and tell a turn's governance events as plain sentences."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from recollect.model.rendering import one_line
from recollect.model.trace import Trace, TraceType
from recollect.rules.gates.writing import FAULTS as WRITING_FAULTS
from recollect.rules.identity.change import RULES as CHANGE_RULES
from recollect.rules.identity.decision import READER_RULES
from recollect.rules.language.word_lists import load_table
from recollect.rules.plain_view import counted, memories

REASONS: dict[str, str] = {
    **load_table(__package__, "reasons.toml"),
    **WRITING_FAULTS,
    **{f"change:{code}": rule.meaning for code, rule in CHANGE_RULES.items()},
    **{f"change:{code}": meaning for code, meaning in READER_RULES.items()},
}


def plain(code: str) -> str:
    """What a code means; a code that is unknown here is shown as it is."""
    return REASONS.get(code, code)


MAX_TRACES = 500
"""How far back a turn is looked for."""
RECENT = 20
"""How many events are told when none of them begins a turn."""
MAX_NAMED = 5
"""Beyond so many memories the rest are only counted."""
QUOTED_CHARACTERS = 60

_CAME_BECAUSE = {
    "matches_query": ("matched the words", "matched the words"),
    "near_a_match": ("was said next to a match", "were said next to a match"),
    "has_similar_words": ("has a similar word", "have similar words"),
    "means_alike": ("means something alike", "mean something alike"),
    "bears_on_query": ("is about what the question depends on", "are about what the question depends on"),
    "about_the_person": ("is what is known of the person", "are what is known of the person"),
    "related_to_a_match": ("has to do with a match", "have to do with a match"),
    "recency": ("is recent", "are recent"),
    "importance": ("is important", "are important"),
    "active_rule": ("is an active rule", "are active rules"),
}
_WINS_BECAUSE = {
    "authority": "the higher authority is believed",
    "correction": "a correction is believed",
    "recency": "the newer is believed",
    "importance": "the more important is believed",
    "manual": "a person has yet to decide",
    "tentative": "the other only asks or supposes",
    "other_subject": "the other shares no word with it and may be about something else",
    "latest_wins": "the policy believes the latest",
    "source_priority": "the policy believes the better source",
}
_DOING = {"read": "reading", "write": "writing to", "promote": "moving something to"}
NOTHING = "No events of it were kept. The setting traces.keep says which are: all keeps every one."


def sentences(traces: Sequence[Trace]) -> tuple[str, ...]:
    """What the events say, in the order: asked, written, refused, settled, moved, gone, phases, borders."""
    names = _Names(traces)
    told = [sentence for tell in _TELLERS for sentence in tell(traces, names)]
    return tuple(told) or (NOTHING,)


def last_turn(traces: Sequence[Trace]) -> Sequence[Trace]:
    """The events of the last turn: from the last recall of the session that spoke last, and the reads before it.

    Where nothing was recalled there is no turn, and the last few events are told.
    """
    if not traces:
        return traces
    spoken = [event for event in traces if event["session"] == traces[-1]["session"]]
    starts = _find_starts(spoken)
    return spoken[starts[-1] :] if starts else spoken[-RECENT:]


def turn_of(traces: Sequence[Trace], number: int) -> Sequence[Trace]:
    """The events of one session's turn to which the event of a number belongs; before the first recall, the event alone."""
    starts = [*_find_starts(traces), len(traces)]
    for start, end in pairwise(starts):
        if any(event["number"] == number for event in traces[start:end]):
            return traces[start:end]
    return [event for event in traces if event["number"] == number]


def _find_starts(traces: Sequence[Trace]) -> list[int]:
    """Where turns begin: at a recall, or at the first of the reads just before it."""
    starts = []
    for place, event in enumerate(traces):
        if event["type"] == TraceType.RECALL:
            start = place
            reads = (TraceType.BORDER_CHECK, "read")
            while start > 0 and (traces[start - 1]["type"], traces[start - 1].get("action")) == reads:
                start -= 1
            starts.append(start)
    return starts


class _Names:
    """What memories are called: by their words if some event shows them, else by their short ids."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        shown = (item for event in traces for item in (*event.get("recalled", ()), *event.get("written", ())))
        self._items: dict[str, Mapping[str, Any]] = {item["id"]: item for item in shown}

    def of(self, id: str) -> str:
        item = self._items.get(id)
        return f"memory {id.replace('-', '')[:12]}" if item is None else _quote(item["text"])

    def owner(self, id: str) -> str | None:
        owner: str | None = self._items.get(id, {}).get("meta", {}).get("owner")
        return owner


Teller = Callable[[Sequence[Trace], _Names], Iterator[str]]


def _events_of(traces: Iterable[Trace], *types: TraceType) -> list[Trace]:
    return [event for event in traces if event["type"] in types]


def _tell_recalled(traces: Sequence[Trace], names: _Names) -> Iterator[str]:
    for event in _events_of(traces, TraceType.RECALL):
        items, question = event["recalled"], f"for the question {_quote(event['query'])}"
        if items:
            yield f"Recalled {memories(len(items))} {question}: {_reasons_of(items)}."
        else:
            yield f"Recalled nothing {question}."


def _reasons_of(items: Sequence[Mapping[str, Any]]) -> str:
    counts = Counter(reason for item in items for reason in item["meta"].get("recall_reason", ()))
    told = []
    for code in sorted(counts, key=lambda code: (-counts[code], code)):
        one, many = _CAME_BECAUSE.get(code, (plain(code), plain(code)))
        told.append(f"{counts[code]} {one if counts[code] == 1 else many}")
    return ", ".join(told) or "no reasons were noted"


def _tell_written(traces: Sequence[Trace], names: _Names) -> Iterator[str]:
    items = [item for event in _events_of(traces, TraceType.WRITE) for item in event["written"]]
    passing = [item for item in items if item["kind"] == "short_term"]
    lasting = [item for item in items if item["kind"] != "short_term"]
    if passing:
        yield f"Kept {counted(len(passing), 'line')} of the conversation in short-term memory."
    for item in lasting[:MAX_NAMED]:
        yield _tell_one_written(item)
    if len(lasting) > MAX_NAMED:
        yield f"Wrote {counted(len(lasting) - MAX_NAMED, 'more memory', 'more memories')}."


def _tell_one_written(item: Mapping[str, Any]) -> str:
    meta = item["meta"]
    place = _name_place(meta.get("space"), meta.get("owner"))
    because = plain(f"authority:{meta['authority']}")
    return f"Wrote the {meta['event_type']} {_quote(item['text'])} to {place}: {because}."


def _tell_refused(traces: Sequence[Trace], names: _Names) -> Iterator[str]:
    counts = Counter(event["reason"] for event in _events_of(traces, TraceType.DENIED))
    for code, count in counts.items():
        yield f"Refused {counted(count, 'write')}: {plain(code)}."


def _tell_settled(traces: Sequence[Trace], names: _Names) -> Iterator[str]:
    for event in _events_of(traces, TraceType.CONFLICT):
        because = _WINS_BECAUSE.get(event["rule"], event["rule"])
        winner, loser = names.of(event["winner_id"]), names.of(event["loser_id"])
        yield f"Found a contradiction: {winner} stands against {loser}, since {because}."


def _tell_moved(traces: Sequence[Trace], names: _Names) -> Iterator[str]:
    for event in _events_of(traces, TraceType.PROMOTED):
        code = event["reason"] if event["reason"] in REASONS else f"authority:{event['authority_used']}"
        yield f"Moved {names.of(event['to_id'])} {_name_way(event, names.owner(event['to_id']))}: {plain(code)}."
    for event in _events_of(traces, TraceType.PROMOTION_DENIED):
        yield f"Did not move {names.of(event['memory_id'])} {_name_way(event, None)}: {plain(event['reason'])}."


def _tell_gone(traces: Sequence[Trace], names: _Names) -> Iterator[str]:
    forgotten = _events_of(traces, TraceType.FORGET)
    said = {event["memory_id"] for event in forgotten}
    deleted = [event for event in _events_of(traces, TraceType.DELETED) if event["memory_id"] not in said]
    for verb, events in (("Forgot", forgotten), ("Took out of the active set", deleted)):
        for code in dict.fromkeys(event["reason"] for event in events):
            ids = [event["memory_id"] for event in events if event["reason"] == code]
            yield f"{verb} {_list_names(ids, names)}: {plain(code)}."


def _tell_phases(traces: Sequence[Trace], names: _Names) -> Iterator[str]:
    for event in _events_of(traces, TraceType.PHASE_STARTED):
        yield f"Began {event['phase_id']} in {_name_place(event['space'], event['owner'])}: {plain(event['reason'])}."
    for event in _events_of(traces, TraceType.PHASE_DIFF):
        counts = ", ".join(f"{event[f'{what}_count']} {what}" for what in ("added", "deleted", "replaced"))
        phases = f"{event['from_phase_id']} with {event['to_phase_id']}"
        yield f"Compared {phases} in {_name_place(event['space'], event['owner'])}: {counts}."


def _tell_borders(traces: Sequence[Trace], names: _Names) -> Iterator[str]:
    checks = _events_of(traces, TraceType.BORDER_CHECK)
    closed = [event for event in checks if not event["allowed"]]
    if checks:
        state = f"{len(closed)} closed" if closed else "open" if len(checks) == 1 else "all open"
        yield f"Checked {counted(len(checks), 'border')}: {state}."
    yield from dict.fromkeys(_tell_stopped(event) for event in closed)


def _tell_stopped(event: Trace) -> str:
    space = _name_place(event.get("to_space", event["from_space"]), None)
    return f"Stopped {_DOING[event['action']]} {space}: {plain(event['reason'])}."


_TELLERS: tuple[Teller, ...] = (
    _tell_recalled,
    _tell_written,
    _tell_refused,
    _tell_settled,
    _tell_moved,
    _tell_gone,
    _tell_phases,
    _tell_borders,
)


def _list_names(ids: Sequence[str], names: _Names) -> str:
    named = [names.of(id) for id in ids[:MAX_NAMED]]
    more = [f"{len(ids) - MAX_NAMED:,} more"] if len(ids) > MAX_NAMED else []
    *first, last = [*named, *more]
    return f"{', '.join(first)} and {last}" if first else last


def _quote(text: str) -> str:
    """Return at most so many characters of it, on one line."""
    return f"“{one_line(text, QUOTED_CHARACTERS)}”"


def _name_way(event: Trace, owner: str | None) -> str:
    return f"from {_name_place(event['from_space'], None)} to {_name_place(event['to_space'], owner)}"


def _name_place(space: str | None, owner: str | None) -> str:
    if space == "user":
        return f"{owner}'s own space" if owner else "the person's own space"
    if space == "project":
        return f"the project {owner}" if owner else "the project"
    return "the system's space" if space == "system" else "the session"
