"""What people see of each answer. Everything here only draws."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.padding import Padding
from rich.table import Table

from recollect.interfaces.cli.console import (
    cell,
    console,
    errors,
    escape,
    on_one_line,
    pairs,
    progress,
    styled,
    table,
    uncut,
    word,
)
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
from recollect.model.rendering import one_line
from recollect.rules.plain_view import counted, entries, memories
from recollect.rules.reasons import plain

__all__ = ["cell", "console", "errors", "escape", "pairs", "progress", "styled", "table", "uncut", "word"]
"""What commands take from the console; the functions below draw one answer each."""


def receipt(answer: Receipt) -> None:
    line = word(str(answer.outcome))
    if answer.memory is not None:
        memory = answer.memory
        line += f"  {memory.short_id}  {styled('bold', memory.canonical_key)} v{memory.version}"
        line += "" if memory.namespace == "prod" else f"  in [yellow]{memory.namespace}[/]"
    console.print(line, soft_wrap=True)
    for code in answer.reasons:
        console.print(f"  {styled('dim', code)}  {escape(plain(code))}", soft_wrap=True)
    if answer.detail:
        console.print(f"  {escape(answer.detail)}", soft_wrap=True)
    if answer.outcome == "contradicted" and answer.memory is not None:
        asked = answer.memory.short_id
        console.print(f"  it waits: `recollect resolve {asked} --winner {asked}` believes it,", soft_wrap=True)
        for other in answer.memory.conflict_ids[:1]:
            held = _short_id(other)
            console.print(f"  and `recollect resolve {asked} --winner {held}` keeps what was known.", soft_wrap=True)
    _offer(answer)


def _offer(answer: Receipt) -> None:
    """The similar memories that a new one may replace, and the command that says so for the first of them."""
    if answer.memory is None or not answer.similar:
        return
    console.print("  similar:", soft_wrap=True)
    for one in answer.similar:
        line = f"    {_short_id(one.id)}  {styled('dim', one.at[:10])}  {cell(one.content)}"
        console.print(line, soft_wrap=True)
    first, new = _short_id(answer.similar[0].id), answer.memory.short_id
    console.print(f"  If it replaces one of these: recollect supersede {first} --by {new}", soft_wrap=True)


def _short_id(id: str) -> str:
    return id.replace("-", "")[:12]


def receipts(answers: Sequence[Receipt]) -> None:
    counts: dict[str, int] = {}
    for answer in answers:
        counts[str(answer.outcome)] = counts.get(str(answer.outcome), 0) + 1
    console.print("  ".join(f"{word(outcome)} {count}" for outcome, count in sorted(counts.items())) or "nothing")
    for number, answer in enumerate(answers, start=1):
        if answer.denied:
            console.print(
                f"  line {number}: {word('denied')} {escape(answer.reasons[0])}  {escape(answer.detail or '')}"
            )


def memory(one: Memory) -> None:
    pairs({name: _short(value) for name, value in one.to_dict().items() if value not in (None, (), {}, "")})


def changed(one: Memory, what: str) -> None:
    """What was done to a memory, in one line."""
    named = f"{one.short_id}  {styled('bold', one.canonical_key)} v{one.version}"
    console.print(f"{what}  {named}" + ("" if one.status == what else f"  {word(one.status)}"), soft_wrap=True)


def page(answer: MemoryPage) -> None:
    drawn = table("id", "key", "v", "status", "imp", "owner", "content")
    for one in answer.items:
        named = (one.short_id, escape(one.canonical_key), str(one.version), word(one.status), str(one.importance))
        drawn.add_row(*named, escape(one.owner), cell(one.content + holds(one)))
    console.print(drawn if answer.items else "[dim]no memories[/]")
    for problem in answer.damaged:
        console.print(f"[red]damaged[/] {escape(one_line(problem.what))} {escape(problem.hint or '')}", soft_wrap=True)
    more(answer)


def more(answer: Page[Any]) -> None:
    """Say how to continue a page that is not the last one."""
    if answer.next_cursor:
        console.print(f"[dim]more: --cursor {answer.next_cursor}[/]", soft_wrap=True)


def chain(links: Sequence[Memory | Tombstone]) -> None:
    drawn = table("v", "id", "status", "since", "content")
    for link in links:
        if isinstance(link, Memory):
            at = f"{link.created_at:%Y-%m-%d %H:%M}"
            drawn.add_row(str(link.version), link.short_id, word(link.status), at, cell(link.content))
        else:
            drawn.add_row(str(link.version), link.id[:13], word(link.removed), f"{link.at:%Y-%m-%d %H:%M}", "[dim]–[/]")
    console.print(drawn)


def recall(answer: Recall) -> None:
    if answer.header:
        console.print(escape(answer.header))
    if answer.notice:
        console.print(styled("yellow", answer.notice))
    _short_of(answer.abstained, answer.no_room)
    if not answer.items:
        return
    drawn = table("score", "id", "key", "content")
    for item in answer.items:
        one = item.memory
        drawn.add_row(f"{item.score:.2f}", one.short_id, escape(one.canonical_key), cell(one.content + holds(one)))
        for before in item.earlier:
            drawn.add_row("", "", "[dim]before[/]", styled("dim", on_one_line(before.content)))
        for other in item.related:
            drawn.add_row("", "", styled("dim", f"↔ {other.relation_type}"), styled("dim", on_one_line(other.content)))
    console.print(drawn)
    for missing in answer.left_out:
        said = f"{missing.reason.replace('_', ' ')}: {cell(missing.content)}"
        console.print(f"[dim]left out[/]  {_short_id(missing.id)}  {said}", soft_wrap=True)


def difference(found: Difference) -> None:
    for sign, sides in (("+", found.added), ("−", found.removed)):
        for one in sides:
            console.print(f"{sign} {_short_id(one.id)}  {cell(one.content)}", soft_wrap=True)
    for old, new in found.replaced:
        console.print(f"↑ {_short_id(new.id)}  {cell(new.content)}  [dim]was: {cell(old.content)}[/]", soft_wrap=True)
    counts = f"{len(found.added)} added, {len(found.replaced)} replaced, {len(found.removed)} removed"
    console.print(f"[dim]{counts}[/]")


def streams(found: Sequence[StreamInfo]) -> None:
    drawn = table("namespace", "space", "owner", "tick", "entries", "phase")
    for one in found:
        drawn.add_row(one.namespace, one.space, cell(one.owner), str(one.tick), str(one.entries), one.phase_id)
    console.print(drawn)


def growth(found: Sequence[Growth]) -> None:
    drawn = table("day", "written", "total")
    for one in found:
        drawn.add_row(one.day, f"{one.written:,}", f"{one.total:,}")
    console.print(drawn)


def trial(found: PolicyTrial) -> None:
    for one in found.changed:
        why = ", ".join(one.after_reasons[:1])
        console.print(
            f"{word(one.before)} → {word(one.after)}  {cell(one.content)}  {styled('dim', why)}", soft_wrap=True
        )
    console.print(
        f"{len(found.changed)} of {counted(found.tried, 'write')} would have ended otherwise; nothing was changed"
    )


def _short_of(abstained: bool, no_room: int) -> None:
    """Why an answer has nothing, or not everything, in it."""
    if abstained:
        console.print("[dim]nothing matches[/]")
    if no_room:
        console.print(f"[dim]{no_room} more match, for which --budget-tokens has no room[/]")


def related(found: Sequence[Related]) -> None:
    if not found:
        console.print("[dim]nothing is related to it[/]")
        return
    drawn = table("strength", "type", "id", "content")
    for one in found:
        drawn.add_row(f"{one.strength:.2f}", escape(one.relation_type), one.id[:13].replace("-", ""), cell(one.content))
    console.print(drawn)


def bullets(answer: Mapping[str, Any]) -> None:
    """An answer as it stands in a prompt: what changed, then the bullets, or that nothing matches."""
    if answer["header"]:
        console.print(escape(answer["header"]), soft_wrap=True)
    _short_of(answer["abstained"], answer["no_room"])
    for one in answer["items"]:
        console.print(f"- {escape(one['text'])}", soft_wrap=True)
        for line in (*one.get("earlier", ()), *one.get("related", ())):
            console.print(f"  {escape(line)}", soft_wrap=True)


def change_header(found: Any) -> None:
    console.print(escape(found.text) if found.text else "[dim]nothing changed[/]", soft_wrap=True)


def turn(answer: Turn) -> None:
    """What came back, then a line for each thing that the exchange left behind."""
    if answer.recall is not None:
        recall(answer.recall)
    drawn = Table(title="recorded", title_justify="left", box=None, pad_edge=False, show_header=False)
    for one in (*answer.receipts, *answer.promoted):
        kept = one.memory
        where = f"{kept.kind} in {kept.space} {kept.owner}" if kept is not None else plain(one.reasons[0])
        drawn.add_row(word(str(one.outcome)), escape(where), cell(kept.content) if kept is not None else "")
    console.print(drawn)
    if answer.forgotten:
        console.print(f"[dim]{counted(len(answer.forgotten), 'line')} left the window[/]")


def history(events: Sequence[HistoryEvent]) -> None:
    drawn = table("when", "kind", "what", "memory", "who", "why")
    names = names_shown({event.actor for event in events if event.actor is not None})
    for event in events:
        drawn.add_row(
            event.at[:19].replace("T", " "),
            event.event,
            event.meta["operation"],
            event.memory_id[:13],
            escape(names.get(event.actor or "", "[erased]")),
            escape(plain(event.meta["rule"])),
        )
    console.print(drawn if events else "[dim]nothing happened[/]")


def upkeep(report: UpkeepReport) -> None:
    console.print(
        f"expired {len(report.expired)}, put away unused {len(report.forgotten)}, purged {len(report.purged)}, "
        f"lapsed {len(report.lapsed)}"
    )
    beyond_reach(report.beyond_reach)


def beyond_reach(places: Sequence[str]) -> None:
    """Where something that was removed may still be."""
    for what in places:
        console.print(f"  [dim]beyond reach:[/] {escape(what)}", soft_wrap=True)


def verification(answer: Verification) -> None:
    walked = (counted(answer.streams, "stream"), entries(answer.entries), counted(answer.versions, "version"))
    counts = ", ".join(walked)
    console.print(f"[green]ok[/]  {counts}" if answer.ok else f"[red]broken[/]  {counts}")
    if answer.uncovered_entries:
        uncovered = answer.uncovered_entries
        console.print(
            f"  [dim]{entries(uncovered)} {'is' if uncovered == 1 else 'are'} covered by no checkpoint yet[/]"
        )
    _signed(answer.signed_entries, "signed entry", "signed entries")
    _signed(answer.signed_vouches, "signed vouch", "signed vouches")
    problems(answer.problems)


def _signed(found: Mapping[str, int], one: str, many: str) -> None:
    """What signatures are worth: how many of each, the good ones first."""
    if found:
        worth = sorted(found.items(), key=lambda pair: (pair[0] != "good", pair[0]))
        told = ", ".join(f"{number:,} {word}" for word, number in worth)
        console.print(f"  {counted(sum(found.values()), one, many)}: {told}")


def doctor(found: Sequence[Problem]) -> None:
    problems(found)
    if not found:
        console.print("[green]all is well[/]")


def problems(found: Sequence[Problem]) -> None:
    for problem in found:
        console.print(f"  [red]•[/] {styled('bold', problem.where)}: {escape(problem.what)}")
        if problem.hint:
            console.print(f"    {escape(problem.hint)}")


def consolidation(report: Any) -> None:
    for line in report.diff or [f"{step.action:<18}{step.id[:13]}" for step in report.steps]:
        console.print(line, markup=False)
    waiting = sum(step.action == "outdated" for step in report.steps)
    steps = counted(len(report.steps) - waiting, "step")
    if report.applied:
        console.print(f"[green]done[/], {steps}. `recollect consolidate --undo` undoes it.")
    elif len(report.steps) > waiting:
        console.print(f"{steps} proposed; nothing was changed. Apply with --force.")
    else:
        console.print(f"[green]nothing to do[/] in {memories(report.examined)}")
    if report.dropped:
        dropped = counted(len(report.dropped), "step")
        console.print(f"{dropped} dropped, since the memories changed meanwhile. Run it again.")
    if waiting:
        console.print(f"{counted(waiting, 'pair')} may be outdated: `recollect outdated`, then `recollect resolve`.")


def outdated(pairs: Sequence[OutdatedPair]) -> None:
    for pair in pairs:
        console.print(f"[bold]{pair.reason}[/]  {pair.strength:.2f}", soft_wrap=True)
        for name, side in (("earlier", pair.earlier), ("later", pair.later)):
            if side is not None:
                said = f"{side.created_at[:10]}  {side.author}: {side.content}"
                console.print(f"  {name:<8}{side.id[:13]}  {cell(said)}", soft_wrap=True)
    if pairs:
        console.print("Decide a pair: `recollect resolve LATER --winner` and the id of the side to believe.")
    else:
        console.print("[green]nothing waits for a decision[/]")


def rejected(values: Sequence[RejectedValue], what: str = "rejected") -> None:
    """Values that were rejected, or whose rejection was lifted: the rejection's id, what it said, and why."""
    for one in values:
        said = one_line(one.content) if one.content is not None else "(the memory is gone)"
        why = f"  ({one_line(one.reason)})" if one.reason else ""
        console.print(f"{what}  {one.id[:13]}  {one.at[:10]}  {escape(said)}{escape(why)}", soft_wrap=True)
        if one.also_gone:
            console.print(f"  out of recall with it: {', '.join(id[:13] for id in one.also_gone)}", soft_wrap=True)
    if not values:
        console.print("[dim]nothing is rejected[/]")


def proposals(waiting: Sequence[Proposal]) -> None:
    """Profile fields that wait for the person: the proposal's id, who made it, until when it waits, and what holds now."""
    for one in waiting:
        by = f"{one.proposed_by}, lapses {one.lapses_at[:10]}"
        console.print(f"{one.id[:13]}  {escape(one_line(one.content))}  [dim]{escape(by)}[/]", soft_wrap=True)
        if one.instead_of is not None:
            console.print(f"  instead of: {escape(one_line(one.instead_of))}", soft_wrap=True)
    if not waiting:
        console.print("[green]nothing waits for consent[/]")


def stats(found: dict[str, Any]) -> None:
    pairs({name: _listed(value) if isinstance(value, dict) else str(value) for name, value in found.items()})


def _listed(counts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts.items())


def phases(found: Sequence[Any]) -> None:
    drawn = table("phase", "name", "since tick", "since", "reason")
    for one in found:
        since = one.at[:19].replace("T", " ")
        drawn.add_row(one.phase_id, escape(one.phase_name or ""), str(one.phase_started_at), since, one.phase_reason)
    console.print(drawn)


def phase_diff(found: Any) -> None:
    for line in found.summary_lines:
        console.print(line, markup=False, soft_wrap=True)


def fields(answer: Any) -> None:
    """An answer as a line for each of its fields."""
    stats(answer.to_dict())


def migration(report: Any) -> None:
    drawn = table("tenant", "rows", "ledger root", "state hash")
    for moved in report.tenants:
        drawn.add_row(escape(moved.tenant), f"{moved.rows:,}", moved.ledger_root, moved.state_hash)
    uncut(drawn)
    console.print(f"[green]done[/]: {escape(report.target)} holds the same as {escape(report.source)}", soft_wrap=True)


def restored(answer: Any) -> None:
    drawn = table("tenant", "verified", "ledger root")
    for one in answer.tenants:
        drawn.add_row(escape(one.tenant), "[green]yes[/]" if one.verified else "[red]no[/]", one.ledger_root)
    uncut(drawn)
    console.print(f"[green]done[/]: {escape(answer.target)}", soft_wrap=True)
    if answer.forgotten_again:
        console.print(f"  erasures on the list that were carried out again: {answer.forgotten_again:,}")


def _short(value: Any) -> str:
    if hasattr(value, "isoformat"):
        return str(value.isoformat(timespec="seconds"))
    if hasattr(value, "to_dict"):
        value = {k: v for k, v in value.to_dict().items() if v is not None}
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def traces(page: Page[dict[str, Any]]) -> None:
    drawn = table("#", "when", "type", "reason", "about")
    for event in page:
        at, reason = event["at"][:19].replace("T", " "), str(event.get("reason", ""))
        drawn.add_row(str(event["number"]), at, event["type"], escape(reason), cell(_subject(event)[:40]))
    console.print(drawn if page else "[dim]no traces were kept[/]")
    more(page)


def _subject(event: dict[str, Any]) -> str:
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


def policy(found: Any) -> None:
    """Draw one setting a paragraph: its name and value, and below them what it means, folded to the terminal."""
    values = found.to_dict()
    for name, meaning, _ in settings():
        section, _, inner = name.partition(".")
        value = values[section][inner] if inner else values[section]
        console.print(f"{styled('bold', name)}  {escape(str(value))}", soft_wrap=not console.is_terminal)
        console.print(Padding(styled("dim", meaning), (0, 0, 0, 4)))
