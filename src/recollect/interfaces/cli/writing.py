"""Commands that write: add, add-many, update, supersede, edit, resolve, archive, forget, restore, reject, lift, consent."""

import json
import re
import sys
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from recollect.interfaces.cli.session import Id, IfMissing, UserId, given, named_texts, of, screen, text_of
from recollect.model.canonical import EXAMPLES
from recollect.model.errors import BadInput
from recollect.model.vocabulary import Authority, Change, EventType, Kind, Layer, Namespace, Source, Space

if TYPE_CHECKING:
    from recollect.interfaces.python.arguments import NewMemory
    from recollect.model.receipt import Receipt

_NOT_FIELDS = frozenset({"context", "content", "tag", "parent", "meta", "field", "idempotency_key"})
"""What `add` takes that is no field of a memory under its own name."""


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
    category: Annotated[str | None, typer.Option(help="The category.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may be given again.")] = None,
    source: Annotated[str | None, typer.Option(help=f"Where the words came from: {', '.join(Source)}.")] = None,
    authority: Annotated[Authority | None, typer.Option(help="State the authority.")] = None,
    author: Annotated[str | None, typer.Option(help="Who is credited.")] = None,
    parent: Annotated[
        list[str] | None,
        typer.Option(help="What it builds upon: a memory's id, or a content hash; may be given again."),
    ] = None,
    importance: Annotated[int | None, typer.Option(help="1 to 5.")] = None,
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
    field: Annotated[
        list[str] | None,
        typer.Option(help="Any other field, as name=value: text as it is written, anything else as JSON."),
    ] = None,
    idempotency_key: Annotated[str | None, typer.Option(help="Makes a retry safe.")] = None,
) -> int:
    """Remember one thing, and say what became of it."""
    fields = {name: value for name, value in locals().items() if name not in _NOT_FIELDS and value not in (None, False)}
    session = of(context)
    if tag:
        fields["tags"] = tag
    if meta is not None:
        fields["meta"] = _json_object("meta", meta)
    fields |= named_values("field", field, field_takes)
    text = text_of(content)
    with session.memory(IfMissing.MAKE) as memory:
        if parent:
            fields["parent_refs"] = memory.parent_hashes(parent)
        receipt = memory.add(text, idempotency_key=idempotency_key, **fields)
    return _answered(context, receipt)


def update(
    context: typer.Context,
    id: Id,
    content: Annotated[str, typer.Argument(help="What holds now; - reads it from standard input.")],
    source: Annotated[Source | None, typer.Option(help="Where the words came from.")] = None,
    importance: Annotated[int | None, typer.Option(help="1 to 5.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may be given again.")] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(help="Any other field, as name=value: text as it is written, anything else as JSON."),
    ] = None,
    idempotency_key: Annotated[str | None, typer.Option(help="Makes a retry safe.")] = None,
) -> int:
    """Write the next version of a memory: same concept, new words."""
    fields = given(source=source, importance=importance, tags=tag or None) | named_values("field", field, field_takes)
    with of(context).memory() as memory:
        receipt = memory.update(id, text_of(content), idempotency_key=idempotency_key, **fields)
    return _answered(context, receipt)


def supersede(
    context: typer.Context,
    id: Annotated[str, typer.Argument(help="The id of the memory that is outdated, or its first twelve digits.")],
    by: Annotated[str, typer.Option(help="The id of the memory that replaces it.")],
) -> int:
    """Make one memory the next version of another, such as one that `add` offered."""
    with of(context).memory() as memory:
        receipt = memory.supersede(id, by=by)
    return _answered(context, receipt)


def _answered(context: typer.Context, receipt: "Receipt") -> int:
    """Show a receipt and return the exit code."""
    of(context).answer(receipt, screen.receipt)
    return 1 if receipt.denied else 0


def add_many(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(help="JSON lines, one memory each, or a JSON list of them; - is standard input.")
    ] = "-",
) -> int:
    """Remember many things in one transaction, with a receipt each."""
    session = of(context)
    records = _records(file)
    with session.memory(IfMissing.MAKE) as memory:
        try:
            receipts = memory.add_many(cast("list[NewMemory]", list(records.values())))
        except BadInput as error:
            raise _placed(error, list(records)) from None
    session.answer(receipts, screen.receipts)
    return 1 if any(receipt.denied for receipt in receipts) else 0


def _records(file: str) -> dict[str, dict[str, Any]]:
    """The memories that a file holds, each under its place there."""
    text, name = _read(file), "standard input" if file == "-" else file
    if text.lstrip().startswith("["):
        listed = _json(name, text)
        places = {f"{name}, record {number}": one for number, one in enumerate(listed, start=1)}
    else:
        lines = enumerate(text.split("\n"), start=1)
        places = {place: _json(place, line) for n, line in lines if line.strip() for place in [f"{name}, line {n}"]}
    return {place: _an_object(place, value) for place, value in places.items()}


def _placed(error: BadInput, places: Sequence[str]) -> BadInput:
    """The same error, which names a memory by its index, with the place where it stands."""
    found = _INDEX.match(error.field or "")
    if found is None:
        return error
    return BadInput(error.message, field=f"{places[int(found[1])]}{found[2]}", hint=error.hint)


def edit(
    context: typer.Context,
    id: Id,
    pin: Annotated[bool | None, typer.Option("--pinned/--unpinned", help="Never put away unused.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="The tags it is to have; may be given again.")] = None,
    category: Annotated[str | None, typer.Option(help="The category.")] = None,
    importance: Annotated[int | None, typer.Option(help="1 to 5.")] = None,
    expires_at: Annotated[str | None, typer.Option(help=f"When it expires; 'never' for never. {EXAMPLES}")] = None,
    valid_from: Annotated[
        str | None, typer.Option(help=f"From when on it holds; 'open' if that is not known. {EXAMPLES}")
    ] = None,
    valid_until: Annotated[
        str | None, typer.Option(help=f"When it no longer holds; 'open' if no end is known. {EXAMPLES}")
    ] = None,
) -> None:
    """Change a memory's metadata: same id, same content, no new version."""
    session = of(context)
    changes = given(pinned=pin, tags=tag, category=category, importance=importance, expires_at=expires_at)
    if expires_at == "never":
        changes["expires_at"] = None
    holds = given(valid_from=valid_from, valid_until=valid_until)
    changes |= {name: None if value == "open" else value for name, value in holds.items()}
    with session.memory() as memory:
        began = datetime.now(UTC)
        edited = memory.edit(id, **changes)
    session.answer(edited, lambda one: screen.changed(one, "edited" if one.last_modified >= began else "unchanged"))


def resolve(
    context: typer.Context,
    id: Id,
    winner: Annotated[str, typer.Option(help="The id of the side to believe.")],
) -> None:
    """Settle a contradiction."""
    with of(context).memory() as memory:
        of(context).answer(memory.resolve(id, winner=winner), lambda one: screen.changed(one, "resolved"))


def archive(context: typer.Context, id: Id) -> None:
    """Take a memory out of recall, keeping it for the record."""
    with of(context).memory() as memory:
        of(context).answer(memory.archive(id), lambda one: screen.changed(one, "archived"))


def forget(context: typer.Context, id: Id) -> None:
    """Soft-delete a memory; restore brings it back until its purge date."""
    with of(context).memory() as memory:
        of(context).answer(memory.forget(id), lambda one: screen.changed(one, "forgotten"))


def reject(
    context: typer.Context,
    id: Id,
    reason: Annotated[str | None, typer.Option(help="Why, in a few words; kept as long as the memory is.")] = None,
) -> None:
    """Say of a memory that it was never true: its value is refused until the person says it again."""
    with of(context).memory() as memory:
        of(context).answer(memory.reject(id, reason), lambda one: screen.rejected([one], "rejected"))


def lift(
    context: typer.Context, id: Annotated[str, typer.Argument(help="The id of a rejection, or of its memory.")]
) -> None:
    """End a rejection; restore then brings the memory back."""
    with of(context).memory() as memory:
        of(context).answer(memory.lift(id), lambda one: screen.rejected([one], "lifted"))


def rejections(
    context: typer.Context,
    owner: Annotated[str | None, typer.Option(help="Whose rejections; everybody's unless given.")] = None,
    space: Annotated[Space | None, typer.Option(help="Only those of this space.")] = None,
) -> None:
    """List the values that were rejected as never true, with their words while the memory is there."""
    with of(context).memory() as memory:
        of(context).answer(memory.rejections(owner=owner, space=space), screen.rejected)


consent = typer.Typer(no_args_is_help=True, help="Profile fields that wait for the person: list, grant, decline.")


@consent.command("list")
def list_consent(
    context: typer.Context,
    owner: Annotated[str | None, typer.Option(help="Whose fields; everybody's unless given.")] = None,
    space: Annotated[Space | None, typer.Option(help="Only those of this space.")] = None,
) -> None:
    """List the profile fields that somebody proposed and that wait for the person, oldest first."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory:
        of(context).answer(memory.consent(owner=owner, space=space), screen.proposals)


@consent.command()
def grant(context: typer.Context, id: Id) -> None:
    """Consent to a proposal: it becomes active and counts as the person's own word."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory:
        of(context).answer(memory.grant(id), lambda one: screen.changed(one, "granted"))


@consent.command()
def decline(
    context: typer.Context,
    id: Id,
    reason: Annotated[str | None, typer.Option(help="Why, in a few words; kept as long as the memory is.")] = None,
) -> None:
    """Decline a proposal: its value is refused until the person says it themselves."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory:
        of(context).answer(memory.decline(id, reason), lambda one: screen.rejected([one], "declined"))


def promote(
    context: typer.Context,
    id: Id,
    to_space: Annotated[Space, typer.Argument(help="The space that it goes to.")],
    owner: Annotated[str | None, typer.Option(help="Whose space; a project must be named.")] = None,
    user_id: UserId = None,
    reason: Annotated[str, typer.Option(help="Why, in a few words.")] = "requested",
) -> int:
    """Take a memory into another space, along the policy's paths."""
    with of(context).memory() as memory:
        receipt = memory.promote(id, to_space, owner=owner, user_id=user_id, reason=reason)
    return _answered(context, receipt)


def restore(context: typer.Context, id: Id) -> None:
    """Bring back a memory that was archived, forgotten, expired or redundant."""
    with of(context).memory() as memory:
        of(context).answer(memory.restore(id), lambda one: screen.changed(one, "restored"))


_INDEX = re.compile(r"\[(\d+)\](.*)", re.DOTALL)
_AN_OBJECT = 'Such as {"name": "value"}.'
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
    """``name=value`` options as a mapping. A value is taken as JSON where its name ``takes`` such JSON (``None``: any), else as
    it is written: a user may be called 123."""
    values: dict[str, Any] = {}
    for written, text in named_texts(option, options):
        name = written.replace("-", "_")
        values[name] = _value(text, takes(name))
    return values


def _value(text: str, takes: Collection[str] | None) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if takes is None or isinstance(value, str):
        return value
    return value if any(kind in takes for kind in _KINDS[type(value)]) else text


@cache
def field_takes(name: str) -> Collection[str] | None:
    """Which kinds of JSON a field of a memory takes, besides being left out; ``None`` if there is no such field."""
    from recollect.model.record import Candidate

    schema = Candidate.model_json_schema()
    if name not in schema["properties"]:
        return None
    forms = schema["properties"][name]
    kinds = {_form(schema, form)["type"] for form in forms.get("anyOf", [forms])}
    return kinds - {"null"}


def _form(schema: dict[str, Any], form: dict[str, Any]) -> dict[str, Any]:
    named = form.get("$ref")
    return dict(schema["$defs"][named.rpartition("/")[2]]) if named else form


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot read it ({error.strerror}).", field=file, hint="Check the path.") from error
    except UnicodeDecodeError as error:
        raise BadInput("is not UTF-8 text.", field=file, hint="Save it as UTF-8.") from error


def _json_object(field: str, text: str) -> dict[str, Any]:
    return _an_object(field, _json(field, text))


def _json(field: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        why = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise BadInput(f"is not JSON: {why}.", field=field, hint=_AN_OBJECT) from None


def _an_object(field: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadInput("must be a JSON object.", field=field, hint=_AN_OBJECT)
    return value
