"""The tools that a client gets by default (query, list, add, update, forget, history), and those of administration."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic.json_schema import SkipJsonSchema

from recollect.engine.read.filters import FILTERS
from recollect.interfaces.mcp.tool import AgentRequest, Answer, NextStep, Tool, as_text, see_as
from recollect.interfaces.python import Recollect
from recollect.model.canonical import to_json_values
from recollect.model.errors import BadInput, RecollectError
from recollect.model.receipt import Receipt
from recollect.model.record import Memory, as_source
from recollect.model.rendering import envelope, one_line
from recollect.model.vocabulary import Change, Kind, Status
from recollect.rules.ranking.selection import NOT_SURE
from recollect.rules.reasons import plain

ID = Field(description="a memory's id, its first 12 digits, or its content hash")
SHOWN = """
    id content canonical_key category kind status version owner scope authority importance pinned tags supersedes_id
    conflict_ids
""".split()
"""What a receipt tells a model of a memory; the resource ``recollect://memory/{id}`` has the rest."""
LISTED = 20
"""How many memories a page of the list has, unless the request says otherwise."""
EXCERPT = 240
"""How many characters of a memory an overview shows: in a list, and of the memories that a new one may replace."""

THREAD = "mcp"
"""The thread of a request that names none: clients begin with what changed since a client of the same caller last asked."""
NOTHING_TOLD = "Nothing is told: {}."
COMES_NEAR = " With threshold=0 you get what comes near."
NO_ROOM = "{} more have to do with it, for which budget_tokens has no room."
REPLACE = (
    "If it replaces one of these, call memory_update with id=<that id>, by={}. If they are different facts that "
    "both hold, do nothing."
)

Owner = Annotated[str | None, Field(None, description="whose memories; left out, all that you may see")]
Categories = Annotated[list[str] | None, Field(None, description="only these; all must be open to you")]
Namespaces = list[Literal["prod", "test", "ephemeral"]] | None


class Query(AgentRequest):
    text: str = Field(description="what to look for, in plain words")
    owner: Owner = None
    categories: Categories = None
    filters: dict[str, Any] | None = Field(
        None, description=f'all must fit, such as {{"tags": ["work"]}}. Known: {", ".join(FILTERS)}'
    )
    top_k: int | None = Field(None, description="how many at most")
    form: Literal["bullets", "full"] = Field(
        "bullets", description="short lines, or full records with score and reason"
    )
    budget_tokens: int | None = Field(None, description="how many tokens the items may take")
    threshold: float | None = Field(None, description="0 to 1: drop weaker matches")
    history: bool | None = Field(None, description="also what each said before")
    # Accepted and documented, but rarely of use to a model: the listing does not spend tokens on these.
    user_id: SkipJsonSchema[str | None] = None
    space: SkipJsonSchema[str | list[str] | None] = None
    include_namespaces: SkipJsonSchema[Namespaces] = None
    share_of_best: SkipJsonSchema[float | None] = None
    named: SkipJsonSchema[bool | None] = None
    thread: SkipJsonSchema[str | None] = None


def query(memory: Recollect, request: Query) -> Answer:
    recall = memory.query(**{"thread": THREAD, **request.model_dump(exclude_none=True)})
    answer = to_json_values(recall.in_full() if request.form == "full" else recall.in_bullets())
    notes = (
        NOTHING_TOLD.format(plain(recall.because)) + COMES_NEAR * (recall.because == NOT_SURE)
        if recall.abstained
        else "",
        NO_ROOM.format(recall.no_room) if recall.no_room else "",
    )
    before = envelope([recall.header]) if recall.header else ""
    return Answer(answer, as_text(answer["items"]), tuple(note for note in notes if note), before=before)


class List(AgentRequest):
    owner: Owner = None
    category: str | None = None
    kind: str | None = Field(None, json_schema_extra={"enum": [*Kind]})
    tags: list[str] | None = Field(None, description="all must fit")
    status: str | None = Field(
        None, description="active unless you say otherwise", json_schema_extra={"enum": [*Status]}
    )
    filters: dict[str, Any] | None = Field(None, description="more filters, those of memory_query")
    limit: int = LISTED
    cursor: str | None = Field(None, description="next_cursor of the page before")
    user_id: SkipJsonSchema[str | None] = None
    space: SkipJsonSchema[str | list[str] | None] = None
    include_namespaces: SkipJsonSchema[Namespaces] = None


def list_memories(memory: Recollect, request: List) -> Answer:
    asked = request.model_dump(exclude={"agent", "filters"}, exclude_none=True)
    page = see_as(memory, request.agent).list(**asked, **_check_filters(request))
    values: dict[str, Any] = {"items": [_summarise(one) for one in page.items], "next_cursor": page.next_cursor}
    if page.damaged:
        values["damaged"] = [one.to_dict() for one in page.damaged]
    return Answer(values, as_text(values))


def _check_filters(request: List) -> dict[str, Any]:
    """Return the filters, or raise an error that names one that is unknown, or that is given as an argument as well."""
    given = request.filters or {}
    for name in given:
        if name in FILTERS and getattr(request, name, None) is not None:
            raise BadInput("is given twice.", field=name, hint="Give it as an argument, or in filters.")
        if name in List.model_fields and name not in FILTERS:
            raise BadInput("is an argument of its own.", field=name, hint="Give it outside of filters.")
        if name not in FILTERS:
            raise BadInput("there is no such filter.", field=name, hint=f"Known: {', '.join(FILTERS)}.")
    return given


def _summarise(memory: Memory) -> dict[str, Any]:
    """Return a memory in a list: enough to choose it by. Only what is not active says its status."""
    summary = {"id": memory.id, "key": memory.canonical_key, "content": one_line(memory.content, EXCERPT)}
    summary |= {"category": memory.category, "at": f"{memory.created_at:%Y-%m-%d}"}
    return summary if memory.status is Status.ACTIVE else {**summary, "status": str(memory.status)}


class Add(AgentRequest):
    content: str = Field(description="one fact, understood without this conversation")
    title: str | None = Field(
        None, description="Subject-Aspect-Qualifier, such as Ana-Home-City; the same title again updates that memory"
    )
    owner: str | None = Field(None, description="whose memory it is, unless the server's user's")
    scope: str | None = Field(None, description="shared, or the one agent that may see it")
    category: str | None = None
    tags: list[str] | None = None
    entities: list[dict[str, Any]] | None = Field(
        None, description='what it is about, such as {"name": "Kubernetes", "aliases": ["k8s"]}'
    )
    kind: str | None = Field(None, json_schema_extra={"enum": [*Kind]})
    key: str | None = Field(None, description="for kind profile: the fact key, such as preferred_name")
    importance: int | None = Field(None, description="1 to 5")
    pinned: bool | None = None
    source: Annotated[Literal["agent", "user", "tool"], BeforeValidator(as_source)] = Field(
        "agent", description="whose words these are"
    )
    change: str | None = Field(
        None, description="how it relates to what is known, if you know", json_schema_extra={"enum": [*Change]}
    )
    idempotency_key: str | None = Field(None, description="makes a retry safe")
    user_id: SkipJsonSchema[str | None] = None
    supersedes: SkipJsonSchema[str | None] = None


def add(memory: Recollect, request: Add) -> Answer:
    fields = request.model_dump(exclude={"agent"}, exclude_none=True)
    return _render_receipt(see_as(memory, request.agent).add(**fields))


class Update(AgentRequest):
    id: str = Field(description="id of the memory that is outdated")
    by: str | None = Field(None, description="id of the memory that replaces it, if you have added it")
    content: str | None = Field(None, description="else: what holds now, as one complete sentence")
    source: Literal["agent", "user", "tool"] | None = Field(None, description="with content: whose words these are")


def update(memory: Recollect, request: Update) -> Answer:
    seen = see_as(memory, request.agent)
    if request.by is not None and request.content is not None:
        hint = "Give by for a memory that was added already, or content for a new version."
        raise BadInput("cannot be given together with by.", field="content", hint=hint)
    if request.by is not None:
        if request.source is not None:
            raise BadInput("goes with content, not with by.", field="source", hint="Leave it out.")
        return _render_receipt(seen.supersede(request.id, by=request.by))
    if request.content is None:
        hint = "Give content for a new version, or by for a memory that was added already."
        raise BadInput("is missing, and so is by.", field="content", hint=hint)
    with _rename_fields(supersedes="id"):
        return _render_receipt(seen.update(request.id, request.content, source=request.source or "agent"))


@contextmanager
def _rename_fields(**names: str) -> Iterator[None]:
    """Let an error name the argument of this tool instead of the argument of the method that the tool calls."""
    try:
        yield
    except RecollectError as error:
        error.field = names.get(error.field or "", error.field)
        raise


def _render_receipt(receipt: Receipt) -> Answer:
    """Return a receipt; where it offers similar memories, with the call that accepts one."""
    values = {
        "outcome": receipt.outcome,
        "reasons": list(receipt.reasons),
        "detail": receipt.detail,
        "memory": None if receipt.memory is None else select_shown(receipt.memory),
        "similar": [one | {"content": one_line(one["content"], EXCERPT)} for one in to_json_values(receipt.similar)],
        "changed": to_json_values(receipt.changed),
        "replayed": receipt.replayed,
    }
    offered = receipt.memory is not None and receipt.similar
    step = NextStep("memory_update", REPLACE.format(receipt.memory.id)) if offered and receipt.memory else None
    return Answer(values, as_text(values), next_step=step)


def select_shown(memory: Memory) -> dict[str, Any]:
    """Return the fields that a model sees of a memory that it wrote or decided about."""
    record = to_json_values(memory)
    return {name: record[name] for name in SHOWN}


class OneMemory(AgentRequest):
    id: str = ID


def forget(memory: Recollect, request: OneMemory) -> Answer:
    gone = to_json_values(see_as(memory, request.agent).forget(request.id))
    values = {"memory": {name: gone[name] for name in ("id", "content", "status", "purge_at")}}
    return Answer(values, as_text(values))


def history(memory: Recollect, request: OneMemory) -> Answer:
    events = to_json_values(see_as(memory, request.agent).history(request.id))
    return Answer({"events": events}, as_text(events))


DEFAULT_TOOLS: tuple[Tool[Any], ...] = (
    Tool("memory_query", Query, query),
    Tool("memory_list", List, list_memories),
    Tool("memory_add", Add, add),
    Tool("memory_update", Update, update),
    Tool("memory_forget", OneMemory, forget),
    Tool("memory_history", OneMemory, history),
)


class Resolve(OneMemory):
    winner: str = Field(description="the id of the side to believe")


class Reject(OneMemory):
    reason: str | None = Field(None, description="why, in a few words")


class OfOwner(AgentRequest):
    owner: str | None = Field(None, description="only this owner's")


class OneProposal(AgentRequest):
    id: str = Field(description="the proposal's id, or its first digits")


class DeclineProposal(OneProposal):
    reason: str | None = Field(None, description="why, in a few words")


class Runs(AgentRequest):
    job: str | None = Field(None, description="extract, insights, consolidate or procedures")
    limit: int = Field(20, description="how many at most")


class OneRun(AgentRequest):
    id: str = Field(description="the run's id, or its first digits")


class Consolidate(AgentRequest):
    owner: str | None = Field(None, description="only this owner's memories")
    user_id: SkipJsonSchema[str | None] = None


def calls(
    method: str, name: str | None, show: Callable[[Any], Any] = to_json_values
) -> Callable[[Recollect, AgentRequest], Answer]:
    """Return a function that answers with what a method of the memory returns, under this name if it has one."""

    def run(memory: Recollect, request: AgentRequest) -> Answer:
        arguments = request.model_dump(exclude={"agent"}, exclude_none=True)
        found = show(getattr(see_as(memory, request.agent), method)(**arguments))
        return Answer(found if name is None else {name: found}, as_text(found))

    return run


ADMIN_TOOLS: tuple[Tool[Any], ...] = (
    Tool("memory_resolve", Resolve, calls("resolve", "memory", select_shown)),
    Tool("memory_consolidate", Consolidate, calls("consolidate", None)),
    Tool("memory_archive", OneMemory, calls("archive", "memory", select_shown)),
    Tool("memory_restore", OneMemory, calls("restore", "memory", select_shown)),
    Tool("memory_reject", Reject, calls("reject", "rejection")),
    Tool("memory_lift", OneMemory, calls("lift", "rejection")),
    Tool("memory_rejections", OfOwner, calls("rejections", "rejections")),
    Tool("memory_consent", OfOwner, calls("consent", "proposals")),
    Tool("memory_grant", OneMemory, calls("grant", "memory", select_shown)),
    Tool("memory_decline", Reject, calls("decline", "rejection")),
    Tool("memory_proposals", OfOwner, calls("proposals", "proposals")),
    Tool("memory_apply_proposal", OneProposal, calls("apply_proposal", "proposal")),
    Tool("memory_decline_proposal", DeclineProposal, calls("decline_proposal", "proposal")),
    Tool("memory_runs", Runs, calls("runs", "runs", lambda page: to_json_values(page.items))),
    Tool("memory_run", OneRun, calls("run", "run")),
    Tool("memory_undo", OneRun, calls("undo", "undone")),
)
