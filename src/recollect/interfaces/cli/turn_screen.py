"""Draw what a turn recalls and leaves behind, for people."""

from collections.abc import Iterator

from recollect.interfaces.cli.screen import colour_word, console, draw_missing, escape, print_table, style_text, to_cell
from recollect.model.receipt import Recall, Receipt, Turn, holds
from recollect.model.vocabulary import Kind
from recollect.rules.plain_view import counted, memories
from recollect.rules.reasons import plain

_SAID_SO = ("forgotten:said_so", "rejected:")


def draw_given(answer: Recall) -> None:
    """Draw what a model is given before it speaks: what changed, then each memory with the reason why it is there."""
    if answer.header:
        console.print(escape(answer.header))
    if answer.notice:
        console.print(style_text("yellow", answer.notice))
    draw_missing(answer.because, answer.no_room)
    rows = [
        (
            item.memory.short_id,
            to_cell(item.memory.content + holds(item.memory)),
            style_text("dim", _why(item.recall_reason)),
        )
        for item in answer.items
    ]
    if rows:
        print_table("id, recalled, why", rows)


def _why(reasons: tuple[str, ...]) -> str:
    return escape(plain(reasons[0])) if reasons else ""


def draw_turn(answer: Turn) -> None:
    """Draw what was recalled, then what the exchange left behind, took back and pushed out of the window."""
    if answer.recall is not None:
        draw_given(answer.recall)
    rows = list(dict.fromkeys(_rows(answer)))
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


def _rows(answer: Turn) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for each thing that was stated: where it ended up, and what stopped it if anything did."""
    crossed = {one.memory.content for one in answer.promoted if one.memory is not None}
    for one in (*answer.receipts, *answer.promoted):
        if one.memory is None:
            yield colour_word(str(one.outcome)), "", "", escape(plain(one.reasons[0]))
        elif not _is_line(one) and (one in answer.promoted or one.memory.content not in crossed):
            where = f"{one.memory.space} {one.memory.owner}"
            yield colour_word(str(one.outcome)), to_cell(one.memory.content), escape(where), escape(one.detail or "")
