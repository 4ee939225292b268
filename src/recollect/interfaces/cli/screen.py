"""Draw answers on the terminal. Stored words are escaped, so that none of them acts as markup or moves the cursor.

Functions that draw an answer are called ``draw_`` and the name that commands give; nothing here decides anything.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console, ConsoleDimensions, ConsoleOptions
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table

from recollect.interfaces.cli.session import typed_options
from recollect.model.caller import names_shown
from recollect.model.policy import settings
from recollect.model.receipt import (
    Difference,
    Growth,
    HistoryEvent,
    MemoryPage,
    OutdatedPair,
    Page,
    PolicyTrial,
    Problem,
    Proposal,
    Recall,
    Receipt,
    RejectedValue,
    Related,
    StreamInfo,
    Turn,
    UpkeepReport,
    Verification,
    holds,
)
from recollect.model.record import Memory, Tombstone
from recollect.model.rendering import BREAK, one_line, visible
from recollect.model.vocabulary import Kind
from recollect.rules.plain_view import counted, entries, memories
from recollect.rules.ranking.selection import NOT_SURE
from recollect.rules.reasons import plain

COPIED = frozenset({"id", "memory", "when", "public key", "root", "ledger root", "state hash"})
"""Columns whose values people copy: they are neither folded nor cut."""

_BRACKETS = re.compile(r"(\\*)\[([a-z#/@][^[]*?\])?")
"""A bracket with the backslashes before it, and the rest of the tag that it would begin."""

BOUNDLESS = 100_000
"""Wider than any table here."""


class _Visible(Console):
    """A console on which stored words move no cursor and hide nothing, however they came to be printed."""

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


class _Wide(_Visible):
    """A console that cuts and folds only for a terminal: a pipe or a file has no width."""

    @property  # type: ignore[misc]  # nobody sets it
    def size(self) -> ConsoleDimensions:
        return super().size if self.is_terminal else ConsoleDimensions(BOUNDLESS, super().size.height)

    def print(self, *objects: Any, **how: Any) -> None:
        """Print without the blanks with which a table fills its last column."""
        if self.is_terminal:
            super().print(*objects, **how)
            return
        with self.capture() as captured:
            super().print(*objects, **how)
        self.file.write("\n".join(line.rstrip(" ") for line in captured.get().split("\n")))


console = _Wide(highlight=False)
_boundless = _Visible(highlight=False, width=BOUNDLESS)
"""A terminal folds what it cannot show, and copies it whole."""
errors = _Visible(stderr=True, highlight=False)

COLOURS = {
    "stored": "green",
    "reinforced": "cyan",
    "superseded": "yellow",
    "contradicted": "magenta",
    "denied": "red",
    "active": "green",
    "contradictory": "magenta",
    "soft_deleted": "red",
    "archived": "blue",
    "redundant": "blue",
    "pending": "yellow",
}


def colour_word(text: str) -> str:
    """Return a status or outcome in its colour."""
    return style_text(COLOURS.get(text, "white"), text)


def escape(text: str) -> str:
    """Return words that rich prints as they are, with nothing invisible in them. ``style_text`` does it before a tag.

    Rich's own ``escape`` doubles a backslash at the very end, which is shown twice unless a tag follows.
    """
    return _BRACKETS.sub(_escape_bracket, visible(text))


def to_cell(text: str) -> str:
    """Return stored words as one line of markup, so that none of them begins a row of its own."""
    return escape(join_lines(text))


def join_lines(text: str) -> str:
    return f" {BREAK} ".join(line for line in visible(text).split("\n") if line.strip())


def _escape_bracket(found: re.Match[str]) -> str:
    backslashes, tag = found.groups()
    return f"{backslashes}{backslashes}\\[{tag}" if tag else f"{backslashes}{backslashes[:1]}["


def style_text(style: str, text: str) -> str:
    """Return words in a colour. Backslashes at their end are doubled, since a tag follows."""
    backslashes = "\\" * (len(text) - len(text.rstrip("\\")))
    return f"[{style}]{escape(text)}{backslashes}[/]"


def say(line: str) -> None:
    """Print a line of markup. The terminal folds it if it is too long, so that it can be copied as one line."""
    console.print(line, soft_wrap=True)


def offer(command: str, *, to_a_person: bool = False) -> str:
    """Return a command to paste, as markup, with the global options of this one; no agent may run what is for a person."""
    typed = typed_options.items()
    options = [word for name, value in typed if not to_a_person or name != "--as-agent" for word in (name, value)]
    return escape(f"{shlex.join(['recollect', *options])} {command}")


def say_plain(line: str) -> None:
    """Print a line that holds no markup, folded in the same way."""
    console.print(line, markup=False, soft_wrap=True)


def make_table(titles: str, rows: Iterable[Sequence[str]]) -> Table:
    """Return a table of markup; commas separate the titles of its columns."""
    made = Table(box=None, pad_edge=False)
    for title in titles.split(", "):
        made.add_column(title, no_wrap=title in COPIED)
    for row in rows:
        made.add_row(*row)
    return made


def print_table(titles: str, rows: Iterable[Sequence[str]], nothing: str = "") -> None:
    """Print a table, or a dim line where there is nothing to put into it."""
    made = make_table(titles, rows)
    console.print(made if made.row_count or not nothing else f"[dim]{nothing}[/]")


def print_uncut(titles: str, rows: Iterable[Sequence[str]]) -> None:
    """Print a table as wide as it is, for values that no terminal of the usual width has room for."""
    _boundless.print(make_table(titles, rows))


def print_pairs(values: Mapping[str, str]) -> None:
    """Print names and values, one line each, without cutting them, so that they can be copied."""
    width = max(map(len, values), default=0) + 2
    for name, value in values.items():
        shown = escape(value).replace("\n", "\n" + " " * width)
        say(f"[dim]{name:<{width}}[/]{shown}".rstrip())


@contextmanager
def progress(title: str) -> Iterator[Any]:
    """Return a function of ``(done, total)`` and a title that draws a bar on the error stream, if that is a terminal."""
    if not errors.is_terminal:
        yield lambda done, total, title=title: None
        return
    from rich.progress import Progress

    with Progress(console=errors, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total, title=title: bar.update(task, completed=done, total=total, description=title)


def draw_receipt(answer: Receipt) -> None:
    line = colour_word(str(answer.outcome))
    if answer.memory is not None:
        memory = answer.memory
        line += f"  {memory.short_id}  {style_text('bold', memory.canonical_key)} v{memory.version}"
        line += f", in place of v{memory.version - 1}" if answer.outcome == "superseded" and memory.version > 1 else ""
        line += "" if memory.namespace == "prod" else f"  in [yellow]{memory.namespace}[/]"
    say(line)
    for code in answer.reasons:
        say(f"  {style_text('dim', code)}  {escape(plain(code))}")
    if answer.detail:
        say(f"  {escape(answer.detail)}")
    if answer.outcome == "contradicted" and answer.memory is not None:
        asked = answer.memory.short_id
        say(f"  it waits: `{offer(f'resolve {asked} --winner {asked}', to_a_person=True)}` believes it,")
        for other in answer.memory.conflict_ids[:1]:
            held = _short_id(other)
            say(f"  and `{offer(f'resolve {asked} --winner {held}', to_a_person=True)}` keeps what was known.")
    _draw_similar(answer)


def _draw_similar(answer: Receipt) -> None:
    """List similar memories that a new one may replace, and the command that replaces the first of them."""
    if answer.memory is None or not answer.similar:
        return
    say("  similar:")
    for one in answer.similar:
        line = f"    {_short_id(one.id)}  {style_text('dim', one.at[:10])}  {to_cell(one.content)}"
        say(line)
    first, new = _short_id(answer.similar[0].id), answer.memory.short_id
    say(f"  If it replaces one of these: {offer(f'supersede {first} --by {new}')}")


def _short_id(id: str) -> str:
    return id.replace("-", "")[:12]


def draw_receipts(answers: Sequence[Receipt]) -> None:
    counts: dict[str, int] = {}
    for answer in answers:
        counts[str(answer.outcome)] = counts.get(str(answer.outcome), 0) + 1
    console.print(
        "  ".join(f"{colour_word(outcome)} {count}" for outcome, count in sorted(counts.items())) or "nothing"
    )
    for number, answer in enumerate(answers, start=1):
        if answer.denied:
            console.print(
                f"  line {number}: {colour_word('denied')} {escape(answer.reasons[0])}  {escape(answer.detail or '')}"
            )


def draw_memory(one: Memory) -> None:
    print_pairs({name: _to_text(value) for name, value in one.to_dict().items() if value not in (None, (), {}, "")})


def draw_changed(one: Memory, what: str) -> None:
    """Say in one line what was done to a memory."""
    named = f"{one.short_id}  {style_text('bold', one.canonical_key)} v{one.version}"
    say(f"{what}  {named}" + ("" if one.status == what else f"  {colour_word(one.status)}"))


def draw_page(answer: MemoryPage) -> None:
    rows = []
    for one in answer.items:
        named = (
            one.short_id,
            escape(one.canonical_key),
            str(one.version),
            colour_word(one.status),
            str(one.importance),
        )
        rows.append((*named, escape(one.owner), to_cell(one.content + holds(one))))
    print_table("id, key, v, status, imp, owner, content", rows, "no memories")
    for problem in answer.damaged:
        say(f"[red]damaged[/] {escape(one_line(problem.what))} {escape(problem.hint or '')}")
    draw_more(answer)


def draw_more(answer: Page[Any]) -> None:
    """Say how to continue a page that is not the last one."""
    if answer.next_cursor:
        say(f"[dim]more: --cursor {answer.next_cursor}[/]")


def draw_chain(links: Sequence[Memory | Tombstone]) -> None:
    rows = []
    for link in links:
        if isinstance(link, Memory):
            id, status, at, content = link.short_id, str(link.status), link.created_at, to_cell(link.content)
        else:
            id, status, at, content = link.id[:13], link.removed, link.at, "[dim]–[/]"
        rows.append((str(link.version), id, colour_word(status), f"{at:%Y-%m-%d %H:%M}", content))
    print_table("v, id, status, since, content", rows)


def draw_recall(answer: Recall) -> None:
    _draw_above(answer)
    rows = []
    for item in answer.items:
        one = item.memory
        rows.append((f"{item.score:.2f}", one.short_id, escape(one.canonical_key), to_cell(one.content + holds(one))))
        along = [] if item.outdated_by is None else [("may be outdated", f"see {_short_id(item.outdated_by)}")]
        along += [("before", one.content) for one in item.earlier]
        along += [(f"↔ {one.relation_type}", one.content) for one in item.related]
        rows += [("", "", style_text("dim", how), style_text("dim", join_lines(content))) for how, content in along]
    if rows:
        print_table("score, id, key, content", rows)
    for missing in answer.left_out:
        said = f"{missing.reason.replace('_', ' ')}: {to_cell(missing.content)}"
        say(f"[dim]left out[/]  {_short_id(missing.id)}  {said}")


def draw_difference(found: Difference) -> None:
    for sign, sides in (("+", found.added), ("−", found.removed)):
        for one in sides:
            say(f"{sign} {_short_id(one.id)}  {to_cell(one.content)}")
    for old, new in found.replaced:
        say(f"↑ {_short_id(new.id)}  {to_cell(new.content)}  [dim]was: {to_cell(old.content)}[/]")
    counts = f"{len(found.added)} added, {len(found.replaced)} replaced, {len(found.removed)} removed"
    console.print(f"[dim]{counts}[/]")


def draw_streams(found: Sequence[StreamInfo]) -> None:
    rows = [(s.namespace, s.space, to_cell(s.owner), str(s.tick), str(s.entries), s.phase_id) for s in found]
    print_table("namespace, space, owner, tick, entries, phase", rows)


def draw_growth(found: Sequence[Growth]) -> None:
    print_table("day, written, total", [(one.day, f"{one.written:,}", f"{one.total:,}") for one in found])


def draw_trial(found: PolicyTrial) -> None:
    for one in found.changed:
        why = ", ".join(one.after_reasons[:1])
        say(f"{colour_word(one.before)} → {colour_word(one.after)}  {to_cell(one.content)}  {style_text('dim', why)}")
    console.print(
        f"{len(found.changed)} of {counted(found.tried, 'write')} would have ended otherwise; nothing was changed"
    )


def draw_missing(because: str, no_room: int) -> None:
    """Say why an answer has nothing, or not everything, in it."""
    if because:
        near = "; --threshold 0 shows what comes near" if because == NOT_SURE else ""
        say(f"[dim]nothing is told: {plain(because)}{near}[/]")
    if no_room:
        console.print(f"[dim]{no_room} more match, for which --budget-tokens has no room[/]")


def draw_related(found: Sequence[Related]) -> None:
    rows = [
        (f"{one.strength:.2f}", escape(one.relation_type), _short_id(one.id), to_cell(one.content)) for one in found
    ]
    print_table("strength, type, id, content", rows, "nothing is related to it")


def draw_bullets(answer: Mapping[str, Any]) -> None:
    """Draw an answer as it stands in a prompt: what changed, then the bullets, or why there are none."""
    if answer["header"]:
        say(escape(answer["header"]))
    draw_missing(answer.get("because", ""), answer["no_room"])
    for one in answer["items"]:
        say(f"- {escape(one['text'])}")
        for line in (*one.get("earlier", ()), *one.get("related", ())):
            say(f"  {escape(line)}")


def draw_change_header(found: Any) -> None:
    say(escape(found.text) if found.text else "[dim]nothing changed[/]")


def draw_history(events: Sequence[HistoryEvent]) -> None:
    names = names_shown({event.actor for event in events if event.actor is not None})
    rows = []
    for event in events:
        who, why = escape(names.get(event.actor or "", "[erased]")), escape(plain(event.meta["rule"]))
        what = (event.event, event.meta["operation"], event.memory_id[:13])
        rows.append((event.at[:19].replace("T", " "), *what, who, why))
    print_table("when, kind, what, memory, who, why", rows, "nothing happened")


def draw_upkeep(report: UpkeepReport) -> None:
    console.print(
        f"expired {len(report.expired)}, put away unused {len(report.forgotten)}, purged {len(report.purged)}, "
        f"lapsed {len(report.lapsed)}"
    )
    draw_beyond_reach(report.beyond_reach)


def draw_beyond_reach(places: Sequence[str]) -> None:
    """List where something that was removed may still be."""
    for what in places:
        say(f"  [dim]beyond reach:[/] {escape(what)}")


def draw_verification(answer: Verification) -> None:
    walked = (counted(answer.streams, "stream"), entries(answer.entries), counted(answer.versions, "version"))
    console.print(f"{'[green]ok[/]' if answer.ok else '[red]broken[/]'}  {', '.join(walked)}")
    if uncovered := answer.uncovered_entries:
        are = "is" if uncovered == 1 else "are"
        console.print(f"  [dim]{entries(uncovered)} {are} covered by no checkpoint yet[/]")
    _draw_signatures(answer.signed_entries, "signed entry", "signed entries")
    _draw_signatures(answer.signed_vouches, "signed vouch", "signed vouches")
    draw_problems(answer.problems)


def _draw_signatures(found: Mapping[str, int], one: str, many: str) -> None:
    """Count signatures by what they are worth, the good ones first."""
    if found:
        by_worth = sorted(found.items(), key=lambda pair: (pair[0] != "good", pair[0]))
        counts = ", ".join(f"{number:,} {worth}" for worth, number in by_worth)
        console.print(f"  {counted(sum(found.values()), one, many)}: {counts}")


def draw_doctor(found: Sequence[Problem]) -> None:
    draw_problems(found)
    if not found:
        console.print("[green]all is well[/]")


def draw_problems(found: Sequence[Problem]) -> None:
    for problem in found:
        console.print(f"  [red]•[/] {style_text('bold', problem.where)}: {escape(problem.what)}")
        if problem.hint:
            console.print(f"    {escape(problem.hint)}")


def draw_consolidation(report: Any) -> None:
    for line in report.diff or [f"{step.action:<18}{step.id[:13]}" for step in report.steps]:
        console.print(line, markup=False)
    waiting = sum(step.action == "outdated" for step in report.steps)
    steps = counted(len(report.steps) - waiting, "step")
    if report.applied:
        say(f"[green]done[/], {steps}. `{offer('consolidate --undo')}` undoes it.")
    elif len(report.steps) > waiting:
        say(f"{steps} proposed; nothing was changed. `{offer('consolidate --force')}` applies them.")
    else:
        console.print(f"[green]nothing to do[/] in {memories(report.examined)}")
    if report.dropped:
        dropped = counted(len(report.dropped), "step")
        console.print(f"{dropped} dropped, since the memories changed meanwhile. Run it again.")
    if waiting:
        say(
            f"{counted(waiting, 'pair')} may be outdated: `{offer('outdated')}` lists them, with the commands that decide."
        )


def draw_outdated(pairs: Sequence[OutdatedPair]) -> None:
    for pair in pairs:
        say(f"[bold]{pair.reason}[/]  {pair.strength:.2f}")
        for name, side in (("earlier", pair.earlier), ("later", pair.later)):
            if side is not None:
                said = f"{side.created_at[:10]}  {side.author}: {side.content}"
                say(f"  {name:<8}{_short_id(side.id)}  {to_cell(said)}")
        if pair.earlier is not None and pair.later is not None:
            earlier, later = _short_id(pair.earlier.id), _short_id(pair.later.id)
            say(f"  believe the later one:    {offer(f'resolve {later} --winner {later}', to_a_person=True)}")
            say(f"  believe the earlier one:  {offer(f'resolve {later} --winner {earlier}', to_a_person=True)}")
    if not pairs:
        console.print("[green]nothing waits for a decision[/]")


def draw_rejected(values: Sequence[RejectedValue], what: str = "rejected") -> None:
    """Draw values that were rejected, or whose rejection was lifted: the rejection's id, the words, and the reason."""
    for one in values:
        said = one_line(one.content) if one.content is not None else "(the memory is gone)"
        why = f"  ({one_line(one.reason)})" if one.reason else ""
        say(f"{what}  {one.id[:13]}  {one.at[:10]}  {escape(said)}{escape(why)}")
        if one.also_gone:
            say(f"  out of recall with it: {', '.join(id[:13] for id in one.also_gone)}")
    if not values:
        console.print("[dim]nothing is rejected[/]")


def draw_proposals(waiting: Sequence[Proposal]) -> None:
    """Draw profile fields that wait for the person: the proposal's id, its author and end, and what holds now."""
    for one in waiting:
        by = f"{one.proposed_by}, lapses {one.lapses_at[:10]}"
        say(f"{one.id[:13]}  {escape(one_line(one.content))}  [dim]{escape(by)}[/]")
        if one.instead_of is not None:
            say(f"  instead of: {escape(one_line(one.instead_of))}")
    if not waiting:
        console.print("[green]nothing waits for consent[/]")


def draw_stats(found: dict[str, Any]) -> None:
    listed = {name: ", ".join(f"{k} {v}" for k, v in of.items()) for name, of in found.items() if isinstance(of, dict)}
    print_pairs({name: listed.get(name, str(value)) for name, value in found.items()})


def draw_phases(found: Sequence[Any]) -> None:
    rows = [
        (p.phase_id, escape(p.phase_name or ""), str(p.phase_started_at), p.at[:19].replace("T", " "), p.phase_reason)
        for p in found
    ]
    print_table("phase, name, since tick, since, reason", rows)


def draw_phase_diff(found: Any) -> None:
    for line in found.summary_lines:
        say_plain(line)


def draw_fields(answer: Any) -> None:
    """Draw a line for each field of an answer."""
    draw_stats(answer.to_dict())


def draw_migration(report: Any) -> None:
    rows = [(escape(one.tenant), f"{one.rows:,}", one.ledger_root, one.state_hash) for one in report.tenants]
    print_uncut("tenant, rows, ledger root, state hash", rows)
    say(f"[green]done[/]: {escape(report.target)} holds the same as {escape(report.source)}")


def draw_restored(answer: Any) -> None:
    words = {True: "[green]yes[/]", False: "[red]no[/]"}
    rows = [(escape(one.tenant), words[one.verified], one.ledger_root) for one in answer.tenants]
    print_uncut("tenant, verified, ledger root", rows)
    say(f"[green]done[/]: {escape(answer.target)}")
    if answer.forgotten_again:
        console.print(f"  erasures on the list that were carried out again: {answer.forgotten_again:,}")


def _to_text(value: Any) -> str:
    if hasattr(value, "isoformat"):
        return str(value.isoformat(timespec="seconds"))
    if hasattr(value, "to_dict"):
        value = {k: v for k, v in value.to_dict().items() if v is not None}
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def draw_traces(page: Page[dict[str, Any]]) -> None:
    rows = []
    for event in page:
        at, reason = event["at"][:19].replace("T", " "), str(event.get("reason", ""))
        rows.append((str(event["number"]), at, event["type"], escape(reason), to_cell(_describe_event(event)[:40])))
    print_table("#, when, type, reason, about", rows, "no traces were kept")
    draw_more(page)


def _describe_event(event: dict[str, Any]) -> str:
    """Return what a governance event is about, in a few words."""
    if "written" in event:
        return ", ".join(item["text"] for item in event["written"])
    if "attempted" in event:
        return str(event["attempted"]["text"])
    if event["type"] == "memory_border_check":
        return " ".join(str(event[key]) for key in ("action", "from_space", "to_space") if key in event)
    named = ("query", "memory_id", "winner_id", "to_id", "phase_id", "to_phase_id")
    found = next((key for key in named if event.get(key)), None)
    if found is None:
        return ""
    return str(event[found])[:13] if found in ("memory_id", "winner_id", "to_id") else str(event[found])


def draw_policy(found: Any) -> None:
    """Draw one setting a paragraph: its name and value, and below them what it means, folded to the terminal."""
    values = found.by_name()
    for name, meaning, _ in settings():
        value = escape(str(values[name]))
        console.print(f"{style_text('bold', name)}  {value}", soft_wrap=not console.is_terminal)
        console.print(Padding(style_text("dim", meaning), (0, 0, 0, 4)))


_SAID_SO = ("forgotten:said_so", "rejected:")


def draw_given(answer: Recall) -> None:
    """Draw what a model is given before it speaks: what changed, then each memory with the reason why it is there."""
    _draw_above(answer)
    rows = []
    for item in answer.items:
        why = "; ".join(plain(code) for code in item.recall_reason[:1])
        rows.append((item.memory.short_id, to_cell(item.memory.content + holds(item.memory)), style_text("dim", why)))
    if rows:
        print_table("id, recalled, why", rows)


def _draw_above(answer: Recall) -> None:
    """Draw what stands above the memories of an answer: what changed, a remark, and why there are none, or not all."""
    if answer.header:
        console.print(escape(answer.header))
    if answer.notice:
        console.print(style_text("yellow", answer.notice))
    draw_missing(answer.because, answer.no_room)


def draw_turn(answer: Turn) -> None:
    """Draw what was recalled, then what the exchange left behind, took back and pushed out of the window."""
    if answer.recall is not None:
        draw_given(answer.recall)
    rows = list(dict.fromkeys(_stated_rows(answer)))
    if rows:
        print_table("outcome, what, where, why", rows)
    lines = sum(_is_line(one) for one in answer.receipts)
    if lines:
        console.print(f"[dim]{counted(lines, 'line')} of the conversation kept in session {escape(answer.session)}[/]")
    reasons = [str(event.get("reason")) for event in answer.events if event["type"] == "memory_deleted"]
    if taken_back := sum(reason.startswith(_SAID_SO) for reason in reasons):
        console.print(f"{memories(taken_back)} forgotten, as the person said")
    if left := reasons.count("decay"):
        console.print(f"[dim]{counted(left, 'line')} left the window[/]")


def _is_line(one: Receipt) -> bool:
    return one.memory is not None and one.memory.kind is Kind.SHORT_TERM


def _stated_rows(answer: Turn) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for each thing that was stated: where it ended up, and what stopped it if anything did."""
    crossed = {one.memory.content for one in answer.promoted if one.memory is not None}
    for one in (*answer.receipts, *answer.promoted):
        if one.memory is None:
            yield colour_word(str(one.outcome)), "", "", escape(plain(one.reasons[0]))
        elif not _is_line(one) and (one in answer.promoted or one.memory.content not in crossed):
            where = f"{one.memory.space} {one.memory.owner}"
            yield colour_word(str(one.outcome)), to_cell(one.memory.content), escape(where), escape(one.detail or "")
