"""What people see: tables and short lines in colour. Everything here only draws."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from recollect.model.policy import settings
from recollect.model.receipt import (
    ErasureReceipt,
    Explanation,
    HistoryEvent,
    Page,
    Problem,
    Recall,
    Receipt,
    Related,
    Turn,
    UpkeepReport,
    Verification,
)
from recollect.model.record import Memory, Tombstone
from recollect.rules.reasons import plain

MAX_SHOWN = 20
"""How many rows of a list that nobody asked for are drawn."""

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)

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


def word(text: str) -> str:
    """A status or outcome in its colour."""
    colour = COLOURS.get(text, "white")
    return f"[{colour}]{escape(text)}[/]"


@contextmanager
def progress(title: str) -> Iterator[Any]:
    """A progress bar on the error stream, as a function of ``(done, total)``."""
    with Progress(console=errors, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def receipt(answer: Receipt) -> None:
    line = word(str(answer.outcome))
    if answer.memory is not None:
        memory = answer.memory
        line += f"  {memory.short_id}  [bold]{escape(memory.canonical_key)}[/] v{memory.version}"
        line += "" if memory.namespace == "prod" else f"  in [yellow]{memory.namespace}[/]"
    console.print(line)
    for code in answer.reasons:
        console.print(f"  [dim]{escape(code)}[/]  {escape(plain(code))}")
    if answer.detail:
        console.print(f"  {escape(answer.detail)}")
    if answer.outcome == "contradicted" and answer.memory is not None:
        asked = answer.memory.short_id
        console.print(f"  it waits: `recollect resolve {asked} --winner {asked}` believes it, another winner does not")


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
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in one.to_dict().items():
        if value not in (None, (), {}, ""):
            table.add_row(f"[dim]{name}[/]", escape(_short(value)))
    console.print(table)


def page(answer: Page) -> None:
    table = _memory_table()
    for one in answer.items:
        _memory_row(table, one)
    console.print(table if answer.items else "[dim]no memories[/]")
    if answer.next_cursor:
        console.print(f"[dim]more: --cursor {answer.next_cursor}[/]")


def chain(links: Sequence[Memory | Tombstone]) -> None:
    table = Table("v", "id", "status", "since", "content", box=None, pad_edge=False)
    for link in links:
        if isinstance(link, Memory):
            at = f"{link.created_at:%Y-%m-%d %H:%M}"
            table.add_row(str(link.version), link.short_id, word(link.status), at, escape(link.content))
        else:
            table.add_row(str(link.version), link.id[:13], word(link.removed), f"{link.at:%Y-%m-%d %H:%M}", "[dim]–[/]")
    console.print(table)


def recall(answer: Recall) -> None:
    if answer.header:
        console.print(escape(answer.header))
    if not answer.items:
        console.print("[dim]nothing matches[/]")
        return
    table = Table("score", "id", "key", "content", box=None, pad_edge=False)
    for item in answer.items:
        one = item.memory
        table.add_row(f"{item.score:.2f}", one.short_id, escape(one.canonical_key), escape(one.content))
        for before in item.earlier:
            table.add_row("", "", "[dim]before[/]", f"[dim]{escape(before.content)}[/]")
        for other in item.related:
            table.add_row("", "", f"[dim]↔ {escape(other.relation_type)}[/]", f"[dim]{escape(other.content)}[/]")
    console.print(table)


def related(found: Sequence[Related]) -> None:
    if not found:
        console.print("[dim]nothing is related to it[/]")
        return
    table = Table("strength", "type", "id", "content", box=None, pad_edge=False)
    for one in found:
        table.add_row(
            f"{one.strength:.2f}", escape(one.relation_type), one.id[:13].replace("-", ""), escape(one.content)
        )
    console.print(table)


def bullets(found: Sequence[dict[str, Any]]) -> None:
    for one in found:
        console.print(f"- {escape(one['text'])}", soft_wrap=True)
        for line in one.get("related", ()):
            console.print(f"  {escape(line)}", soft_wrap=True)


def change_header(found: Any) -> None:
    console.print(escape(found.text) if found.text else "[dim]nothing changed[/]", soft_wrap=True)


def turn(answer: Turn) -> None:
    """What came back, then a line for each thing that the exchange left behind."""
    if answer.recall is not None:
        recall(answer.recall)
    table = Table(title="recorded", title_justify="left", box=None, pad_edge=False, show_header=False)
    for one in (*answer.receipts, *answer.promoted):
        kept = one.memory
        where = f"{kept.kind} in {kept.space} {kept.owner}" if kept is not None else plain(one.reasons[0])
        table.add_row(word(str(one.outcome)), escape(where), escape(_short(kept.content)) if kept is not None else "")
    console.print(table)
    if answer.forgotten:
        console.print(f"[dim]{len(answer.forgotten)} lines left the window[/]")


def history(events: Sequence[HistoryEvent]) -> None:
    table = Table("when", "kind", "what", "memory", "who", "why", box=None, pad_edge=False)
    for event in events:
        table.add_row(
            event.at[:19].replace("T", " "),
            event.event,
            event.meta["operation"],
            event.memory_id[:13],
            escape(event.actor or "[erased]"),
            escape(plain(event.meta["rule"])),
        )
    console.print(table if events else "[dim]nothing happened[/]")


def explanation(answer: Explanation) -> None:
    console.print(answer.text, markup=False)


def upkeep(report: UpkeepReport) -> None:
    console.print(
        f"expired {len(report.expired)}, put away unused {len(report.forgotten)}, purged {len(report.purged)}"
    )
    _unreached(report.beyond_reach)


def _unreached(places: Sequence[str]) -> None:
    for what in places:
        console.print(f"  [dim]beyond reach:[/] {escape(what)}")


def erasure(answer: ErasureReceipt) -> None:
    console.print(
        f"erased {len(answer.removed)} memories in {answer.streams} streams, {answer.owner_names_removed} owner names, "
        f"{answer.actor_names_removed} actor names, {answer.traces_removed} traces"
    )
    if answer.derived or answer.links_cut:
        _draw_derived(answer)
    if answer.remaining:
        console.print(
            f"[yellow]still there in the same chain:[/] {', '.join(i[:13] for i in answer.remaining)} (--whole-chain)"
        )
    _unreached(answer.beyond_reach)


_BECAME = {
    "kept": "stays, without the link",
    "review": "out of recall until somebody restores or erases it",
    "erased": "erased too",
}


def _draw_derived(answer: ErasureReceipt) -> None:
    """What was made of the erased, and what became of it."""
    console.print(f"made of it: {len(answer.derived)} memories; {answer.links_cut} links were cut")
    table = Table("memory", "how", "what became of it", box=None, pad_edge=False)
    for one in answer.derived[:MAX_SHOWN]:
        table.add_row(one.id[:13], ", ".join(one.how).replace("_", " "), _BECAME[one.became])
    if answer.derived:
        console.print(table)
    if len(answer.derived) > MAX_SHOWN:
        console.print(f"  [dim]and {len(answer.derived) - MAX_SHOWN} more: --json or the receipt names them[/]")


def verification(answer: Verification) -> None:
    counts = f"{answer.streams} streams, {answer.entries} entries, {answer.versions} versions"
    console.print(f"[green]ok[/]  {counts}" if answer.ok else f"[red]broken[/]  {counts}")
    if answer.uncovered_entries:
        console.print(f"  [dim]{answer.uncovered_entries} entries are covered by no checkpoint yet[/]")
    problems(answer.problems)


def problems(found: Sequence[Problem]) -> None:
    for problem in found:
        console.print(f"  [red]•[/] [bold]{escape(problem.where)}[/]: {escape(problem.what)}")
        if problem.hint:
            console.print(f"    {escape(problem.hint)}")


def consolidation(report: Any) -> None:
    for line in report.diff or [f"{step.action:<18}{step.id[:13]}" for step in report.steps]:
        console.print(line, markup=False)
    if not report.steps:
        console.print(f"[green]nothing to do[/] in {report.examined} memories")
    elif report.applied:
        console.print(f"[green]done[/], {len(report.steps)} steps. `recollect consolidate --undo` takes it back.")
    else:
        console.print(f"{len(report.steps)} steps proposed; nothing was changed. Apply them with --force.")


def stats(found: dict[str, Any]) -> None:
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in found.items():
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
        table.add_row(f"[dim]{name}[/]", escape(shown))
    console.print(table)


def phases(found: Sequence[Any]) -> None:
    table = Table("phase", "name", "since tick", "since", "reason", box=None, pad_edge=False)
    for one in found:
        since = one.at[:19].replace("T", " ")
        table.add_row(one.phase_id, escape(one.phase_name or ""), str(one.phase_started_at), since, one.phase_reason)
    console.print(table)


def phase_diff(found: Any) -> None:
    for line in found.summary_lines:
        console.print(line, markup=False, soft_wrap=True)


def fields(answer: Any) -> None:
    """An answer as a line for each of its fields."""
    stats(answer.to_dict())


def migration(report: Any) -> None:
    table = Table("tenant", "rows", "ledger root", "state hash", box=None, pad_edge=False)
    for moved in report.tenants:
        table.add_row(escape(moved.tenant), f"{moved.rows:,}", moved.ledger_root[:16], moved.state_hash[:16])
    console.print(table)
    console.print(f"[green]done[/]: {escape(report.target)} holds the same as {escape(report.source)}", soft_wrap=True)


def restored(answer: Any) -> None:
    table = Table("tenant", "ledger root", "verified", box=None, pad_edge=False)
    for one in answer.tenants:
        table.add_row(escape(one.tenant), one.ledger_root[:16], "[green]yes[/]" if one.verified else "[red]no[/]")
    console.print(table)
    console.print(f"[green]done[/]: {escape(answer.target)}")
    if answer.forgotten_again:
        console.print(f"  {answer.forgotten_again} erasures on the list were carried out again")


def _memory_table() -> Table:
    return Table("id", "key", "v", "status", "imp", "owner", "content", box=None, pad_edge=False)


def _memory_row(table: Table, one: Memory) -> None:
    table.add_row(
        one.short_id,
        escape(one.canonical_key),
        str(one.version),
        word(one.status),
        str(one.importance),
        escape(one.owner),
        escape(one.content),
    )


def _short(value: Any) -> str:
    if hasattr(value, "isoformat"):
        return str(value.isoformat(timespec="seconds"))
    if hasattr(value, "to_dict"):
        value = {k: v for k, v in value.to_dict().items() if v is not None}
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def traces(events: Sequence[dict[str, Any]]) -> None:
    table = Table("#", "when", "type", "reason", "about", box=None, pad_edge=False)
    for event in events:
        about = _subject(event)
        table.add_row(
            str(event["number"]), event["at"][:19].replace("T", " "), event["type"], escape(str(event.get("reason", ""))),
            escape(str(about)[:40]),
        )  # fmt: skip
    console.print(table if events else "[dim]no traces were kept[/]")


def _subject(event: dict[str, Any]) -> str:
    """What a governance event is about, in a few words."""
    if "written" in event:
        return ", ".join(item["text"] for item in event["written"])
    if "attempted" in event:
        return str(event["attempted"]["text"])
    if event["type"] == "memory_border_check":
        return " ".join(str(event[key]) for key in ("action", "from_space", "to_space") if key in event)
    named = ("query", "memory_id", "winner_id", "to_id", "phase_id", "to_phase_id")
    return next((str(event[key]) for key in named if event.get(key)), "")


def policy(found: Any) -> None:
    table = Table("setting", "value", "meaning", box=None, pad_edge=False)
    values = found.to_dict()
    for name, meaning, _ in settings():
        section, _, inner = name.partition(".")
        value = values[section][inner] if inner else values[section]
        table.add_row(name, escape(str(value)), f"[dim]{escape(meaning)}[/]")
    console.print(table)
