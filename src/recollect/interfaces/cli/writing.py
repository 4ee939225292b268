"""Commands that write: add, add-many, update, supersede, edit, resolve, archive, forget, restore, reject, lift, consent."""

import json
import re
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from recollect.interfaces.cli.session import (
    Id,
    IfMissing,
    UserId,
    calls,
    check_object,
    drop_missing,
    expect_few_texts,
    get_session,
    parse_json,
    read_argument,
    read_text,
    screen,
    split_pairs,
)
from recollect.model.canonical import EXAMPLES
from recollect.model.errors import BadInput
from recollect.model.vocabulary import Authority, Change, EventType, Kind, Layer, Namespace, Source, Space

if TYPE_CHECKING:
    from recollect.interfaces.python.arguments import NewMemory
    from recollect.model.receipt import Receipt
    from recollect.model.record import Memory

_NOT_FIELDS = frozenset({"context", "content", "parent", "meta", "field", "idempotency_key"})
"""The parameters of `add` that are not passed on as fields of the memory."""


Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be given again.")]
Importance = Annotated[int | None, typer.Option(help="1 to 5.")]
Category = Annotated[str | None, typer.Option(help="The category.")]
OtherFields = Annotated[
    list[str] | None,
    typer.Option("--field", help="Any other field, as name=value: text as it is written, anything else as JSON."),
]
RetryKey = Annotated[str | None, typer.Option(help="Makes a retry safe.")]


def add(
    context: typer.Context,
    content: Annotated[str, typer.Argument(help="What to remember; - reads it from standard input.")],
    owner: Annotated[str | None, typer.Option(help="Whose memory it is.")] = None,
    user_id: UserId = None,
    space: Annotated[Space | None, typer.Option(help="The space it belongs to.")] = None,
    namespace: Annotated[Namespace | None, typer.Option(help="Production, test or ephemeral.")] = None,
    scope: Annotated[str | None, typer.Option(help="shared, or the one agent that may see it.")] = None,
    kind: Annotated[Kind | None, typer.Option(help="What sort of thing it is.")] = None,
    canonical_key: Annotated[str | None, typer.Option(help="Name the concept yourself.")] = None,
    title: Annotated[str | None, typer.Option(help="A title that names the concept.")] = None,
    topic_id: Annotated[str | None, typer.Option(help="The topic of a register.")] = None,
    key: Annotated[str | None, typer.Option(help="The fact key of a profile memory.")] = None,
    tier: Annotated[str | None, typer.Option(help="canon or register.")] = None,
    event_type: Annotated[EventType | None, typer.Option(help="What the speaker was doing.")] = None,
    layer: Annotated[Layer | None, typer.Option(help="self, world or intent.")] = None,
    sublayer: Annotated[str | None, typer.Option(help="The sublayer.")] = None,
    category: Category = None,
    tags: Tags = None,
    source: Annotated[str | None, typer.Option(help=f"Where the words came from: {', '.join(Source)}.")] = None,
    authority: Annotated[Authority | None, typer.Option(help="State the authority.")] = None,
    author: Annotated[str | None, typer.Option(help="Who is credited.")] = None,
    parent: Annotated[
        list[str] | None,
        typer.Option(help="What it builds upon: a memory's id, or a content hash; may be given again."),
    ] = None,
    importance: Importance = None,
    pinned: Annotated[bool, typer.Option("--pinned", help="Never put away unused.")] = False,
    change: Annotated[Change | None, typer.Option(help="How it relates to what is known.")] = None,
    supersedes: Annotated[
        str | None, typer.Option(help="The id of the active memory that this one is the next version of.")
    ] = None,
    diagnostic: Annotated[bool, typer.Option("--diagnostic", help="Temporary: ephemeral namespace.")] = False,
    expires_at: Annotated[str | None, typer.Option(help=f"When it expires. {EXAMPLES}")] = None,
    ttl_ticks: Annotated[int | None, typer.Option(help="After how many ticks it expires.")] = None,
    valid_from: Annotated[str | None, typer.Option(help=f"From when on it holds. {EXAMPLES}")] = None,
    valid_until: Annotated[str | None, typer.Option(help=f"When it no longer holds. {EXAMPLES}")] = None,
    meta: Annotated[str | None, typer.Option(help="A JSON object.")] = None,
    field: OtherFields = None,
    idempotency_key: RetryKey = None,
) -> int:
    """Remember one thing, and say what became of it."""
    fields = {
        name: value for name, value in locals().items() if name not in _NOT_FIELDS and value not in (None, False, [])
    }
    session = get_session(context)
    expect_few_texts()
    if meta is not None:
        fields["meta"] = check_object("meta", parse_json("meta", meta))
    fields |= named_values("field", field, field_takes)
    text = read_argument(content)
    with session.memory(IfMissing.MAKE) as memory:
        if parent:
            fields["parent_refs"] = memory.parent_hashes(parent)
        receipt = memory.add(text, idempotency_key=idempotency_key, **fields)
    return _answer_receipt(context, receipt)


def update(
    context: typer.Context,
    id: Id,
    content: Annotated[str, typer.Argument(help="What holds now; - reads it from standard input.")],
    source: Annotated[Source | None, typer.Option(help="Where the words came from.")] = None,
    importance: Importance = None,
    tags: Tags = None,
    field: OtherFields = None,
    idempotency_key: RetryKey = None,
) -> int:
    """Write the next version of a memory: same concept, new words."""
    expect_few_texts()
    fields = drop_missing(source=source, importance=importance, tags=tags) | named_values("field", field, field_takes)
    with get_session(context).memory() as memory:
        receipt = memory.update(id, read_argument(content), idempotency_key=idempotency_key, **fields)
    return _answer_receipt(context, receipt)


@calls("supersede", "receipt", exit_code=lambda receipt: int(receipt.denied))
def supersede(
    id: Annotated[str, typer.Argument(help="The id of the memory that is outdated, or its first twelve digits.")],
    by: Annotated[str, typer.Option(help="The id of the memory that replaces it.")],
) -> None:
    """Make one memory the next version of another, such as one that `add` offered."""


def _answer_receipt(context: typer.Context, receipt: "Receipt") -> int:
    """Show a receipt and return the exit code."""
    get_session(context).answer(receipt, "receipt")
    return 1 if receipt.denied else 0


def add_many(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(help="JSON lines, one memory each, or a JSON list of them; - is standard input.")
    ] = "-",
) -> int:
    """Remember many things in one transaction, with a receipt each."""
    session = get_session(context)
    records = _read_records(file)
    with session.memory(IfMissing.MAKE) as memory:
        try:
            receipts = memory.add_many(cast("list[NewMemory]", list(records.values())))
        except BadInput as error:
            raise _name_place(error, list(records)) from None
    session.answer(receipts, screen.draw_receipts)
    return 1 if any(receipt.denied for receipt in receipts) else 0


def _read_records(file: str) -> dict[str, dict[str, Any]]:
    """Return the memories that a file holds, each under its place there."""
    text, name = read_text(file), "standard input" if file == "-" else file
    if text.lstrip().startswith("["):
        listed = parse_json(name, text)
        places = {f"{name}, record {number}": one for number, one in enumerate(listed, start=1)}
    else:
        lines = enumerate(text.split("\n"), start=1)
        places = {
            place: parse_json(place, line) for n, line in lines if line.strip() for place in [f"{name}, line {n}"]
        }
    return {place: check_object(place, value) for place, value in places.items()}


def _name_place(error: BadInput, places: Sequence[str]) -> BadInput:
    """Return an error about the memory at an index of the batch as an error about its place in the file."""
    found = _INDEX.match(error.field or "")
    if found is None:
        return error
    return BadInput(error.message, field=f"{places[int(found[1])]}{found[2]}", hint=error.hint)


def edit(
    context: typer.Context,
    id: Id,
    pin: Annotated[bool | None, typer.Option("--pinned/--unpinned", help="Never put away unused.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="The tags it is to have; may be given again.")] = None,
    category: Category = None,
    importance: Importance = None,
    expires_at: Annotated[str | None, typer.Option(help=f"When it expires; 'never' for never. {EXAMPLES}")] = None,
    valid_from: Annotated[
        str | None, typer.Option(help=f"From when on it holds; 'open' if that is not known. {EXAMPLES}")
    ] = None,
    valid_until: Annotated[
        str | None, typer.Option(help=f"When it no longer holds; 'open' if no end is known. {EXAMPLES}")
    ] = None,
) -> None:
    """Change a memory's metadata (tags, category, pin, importance, dates) without a new version."""
    session = get_session(context)
    changes = drop_missing(pinned=pin, tags=tag, category=category, importance=importance, expires_at=expires_at)
    if expires_at == "never":
        changes["expires_at"] = None
    holds = drop_missing(valid_from=valid_from, valid_until=valid_until)
    changes |= {name: None if value == "open" else value for name, value in holds.items()}
    with session.memory() as memory:
        began = datetime.now(UTC)
        edited = memory.edit(id, **changes)
    session.answer(
        edited, lambda one: screen.draw_changed(one, "edited" if one.last_modified >= began else "unchanged")
    )


def _draw_changed(what: str) -> Callable[["Memory"], None]:
    """Return a function that draws, in one line, what was done to a memory."""
    return lambda memory: screen.draw_changed(memory, what)


@calls("resolve", _draw_changed("resolved"))
def resolve(id: Id, winner: Annotated[str, typer.Option(help="The id of the side to believe.")]) -> None:
    """Decide a contradiction, or a pair of which one may be outdated."""


@calls("archive", _draw_changed("archived"))
def archive(id: Id) -> None:
    """Take a memory out of recall, keeping it for the record."""


@calls("forget", _draw_changed("forgotten"))
def forget(id: Id) -> None:
    """Soft-delete a memory; restore brings it back until its purge date."""


@calls("restore", _draw_changed("restored"))
def restore(id: Id) -> None:
    """Bring back a memory that was archived, forgotten, expired or redundant."""


@calls("promote", "receipt", exit_code=lambda receipt: int(receipt.denied))
def promote(
    id: Id,
    to_space: Annotated[Space, typer.Argument(help="The space that it goes to.")],
    owner: Annotated[str | None, typer.Option(help="Whose space; a project must be named.")] = None,
    user_id: UserId = None,
    reason: Annotated[str, typer.Option(help="Why, in a few words.")] = "requested",
) -> None:
    """Take a memory into another space, along the policy's paths."""


Why = Annotated[str | None, typer.Option(help="Why, in a few words; kept as long as the memory is.")]
OfSpace = Annotated[Space | None, typer.Option(help="Only those of this space.")]


@calls("reject", lambda one: screen.draw_rejected([one], "rejected"))
def reject(id: Id, reason: Why = None) -> None:
    """Say that a memory was never true: its value is refused until the person says it again."""


@calls("lift", lambda one: screen.draw_rejected([one], "lifted"))
def lift(id: Annotated[str, typer.Argument(help="The id of a rejection, or of its memory.")]) -> None:
    """End a rejection; restore then brings the memory back."""


@calls("rejections", "rejected")
def rejections(
    owner: Annotated[str | None, typer.Option(help="Whose rejections; everybody's unless given.")] = None,
    space: OfSpace = None,
) -> None:
    """List the values that were rejected as never true, with their words while the memory is there."""


consent = typer.Typer(no_args_is_help=True, help="Profile fields that wait for the person: list, grant, decline.")


@consent.command("list")
@calls("consent", "proposals")
def list_consent(
    owner: Annotated[str | None, typer.Option(help="Whose fields; everybody's unless given.")] = None,
    space: OfSpace = None,
) -> None:
    """List the profile fields that somebody proposed and that wait for the person, oldest first."""


@consent.command()
@calls("grant", _draw_changed("granted"))
def grant(id: Id) -> None:
    """Consent to a proposal: it becomes active and counts as the person's own word."""


@consent.command()
@calls("decline", lambda one: screen.draw_rejected([one], "declined"))
def decline(id: Id, reason: Why = None) -> None:
    """Decline a proposal: its value is refused until the person says it themselves."""


_INDEX = re.compile(r"\[(\d+)\](.*)", re.DOTALL)
_KINDS: dict[type, tuple[str, ...]] = {
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number",),
    list: ("array",),
    dict: ("object",),
    type(None): ("null",),
}
"""What JSON calls the values that it is read into."""


def named_values(
    option: str, options: list[str] | None, takes: Callable[[str], Collection[str] | None]
) -> dict[str, Any]:
    """Return ``name=value`` options as a mapping. ``takes`` returns the kinds of JSON that a name may have (``None``: any).

    A value of another kind stays text: a user may be called 123.
    """
    values: dict[str, Any] = {}
    for written, text in split_pairs(option, options):
        name = written.replace("-", "_")
        values[name] = _parse_value(text, takes(name))
    return values


def _parse_value(text: str, takes: Collection[str] | None) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if takes is None or isinstance(value, str):
        return value
    return value if any(kind in takes for kind in _KINDS[type(value)]) else text


@cache
def field_takes(name: str) -> Collection[str] | None:
    """Return which kinds of JSON a field of a memory takes, besides being left out; ``None`` if there is no such field."""
    from recollect.model.record import Candidate

    schema = Candidate.model_json_schema()
    if name not in schema["properties"]:
        return None
    forms = schema["properties"][name]
    kinds = {_resolve_form(schema, form)["type"] for form in forms.get("anyOf", [forms])}
    return kinds - {"null"}


def _resolve_form(schema: dict[str, Any], form: dict[str, Any]) -> dict[str, Any]:
    named = form.get("$ref")
    return dict(schema["$defs"][named.rpartition("/")[2]]) if named else form
