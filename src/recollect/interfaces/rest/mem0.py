"""A corner for programs that speak to mem0's hosted service: its client works unchanged with ``host=…/compat/mem0``.

What a program adds is stored in its own words, each message a memory, through the ordinary gates. mem0 keeps one id across
versions: here that is the id of a concept's first version. What has no counterpart is refused by name, never ignored.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import Response

from recollect.interfaces.python import Recollect
from recollect.interfaces.python.arguments import SourceName
from recollect.interfaces.rest.access import Answer, Server
from recollect.interfaces.rest.problems import NoCounterpart
from recollect.model.caller import Right
from recollect.model.canonical import canonical_json, format_time
from recollect.model.errors import BadInput, NotAllowed
from recollect.model.receipt import Receipt
from recollect.model.record import Memory, Tombstone
from recollect.model.vocabulary import Outcome

PREFIX = "/compat/mem0"
SOURCES: dict[str, SourceName] = {"user": "user", "assistant": "agent", "tool": "tool", "system": "agent"}
EVENTS = {Outcome.STORED: "ADD", Outcome.SUPERSEDED: "UPDATE"}
WHOSE = ("user_id", "agent_id", "run_id")
PAGE = 100
MOST = 100
Values = dict[str, Any]


def add_to(app: FastAPI, server: Server) -> None:
    """Add the endpoints that mem0's client calls."""

    def route(method: str, path: str, work: Callable[[Recollect, Values], Any]) -> None:
        async def endpoint(request: Request) -> Response:
            asked = {**dict(request.query_params), **(await _read_body(request)), **request.path_params}
            changes = None if method == "GET" or work in (search, get_all) else await request.body()

            def answer(memory: Recollect) -> Answer:
                return Answer(canonical_json(work(memory, asked)).encode())

            return await server.answer(request, answer, changes=changes)

        app.add_api_route(PREFIX + path, endpoint, methods=[method], response_model=None, include_in_schema=False)

    route("GET", "/v1/ping/", ping)
    route("POST", "/v3/memories/add/", add)
    route("POST", "/v3/memories/search/", search)
    route("POST", "/v3/memories/", get_all)
    route("GET", "/v1/memories/{memory_id}/", get)
    route("PUT", "/v1/memories/{memory_id}/", update)
    route("DELETE", "/v1/memories/{memory_id}/", delete)
    route("GET", "/v1/memories/{memory_id}/history/", history)
    route("DELETE", "/v1/memories/", delete_all)
    route("GET", "/v1/entities/", users)

    async def anything_else(request: Request) -> None:
        hint = "Here are add, search, get, get_all, update, delete, delete_all, history and users."
        raise NoCounterpart(f"{request.method} {request.url.path} has no counterpart here.", hint=hint)

    every = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    app.add_api_route(PREFIX + "/{path:path}", anything_else, methods=every, include_in_schema=False)


async def _read_body(request: Request) -> Values:
    if not await request.body():
        return {}
    try:
        body = await request.json()
    except (ValueError, RecursionError):
        raise BadInput("is not JSON.", field="body", hint="Send a JSON object.") from None
    if not isinstance(body, dict):
        raise BadInput("must be a JSON object.", field="body", hint="Such as {}.")
    return body


def ping(memory: Recollect, _: Values) -> Values:
    """Say that the key holds, and of which tenant it is."""
    memory.list(limit=1)
    return {"status": "ok", "org_id": memory.caller.tenant, "project_id": memory.caller.tenant, "user_email": None}


def add(memory: Recollect, asked: Values) -> Values:
    """Remember each message, in its own words."""
    _refuse_unknown(
        asked, "structured_data_schema", "custom_instructions", "agent_custom_instructions", "custom_categories"
    )
    messages = asked.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(one, dict) for one in messages):
        raise BadInput(
            "must be a list of messages.", field="messages", hint='Such as [{"role": "user", "content": "…"}].'
        )
    given = _read_names({**(asked.get("filters") or {}), **asked})
    meta = {**_read_object(asked, "metadata"), **({"app_id": asked["app_id"]} if asked.get("app_id") else {})}
    more = {"expires_at": asked["expiration_date"]} if asked.get("expiration_date") else {}
    receipts = [
        memory.add(
            one.get("content"),
            source=SOURCES.get(str(one.get("role", "user")), "agent"),
            role=one.get("role"),
            meta=meta,
            **given,
            **more,
        )
        for one in messages
    ]
    if all(receipt.denied for receipt in receipts):
        denied = receipts[0]
        raise NotAllowed(f"it was not stored: {', '.join(denied.reasons)}.", field="messages", hint=denied.detail)
    return {"results": [_render_receipt(memory, one, message) for one, message in zip(receipts, messages, strict=True)]}


def _render_receipt(memory: Recollect, receipt: Receipt, message: Mapping[str, Any]) -> Values:
    said = {
        "event": EVENTS.get(receipt.outcome, "NONE"),
        "outcome": str(receipt.outcome),
        "reasons": list(receipt.reasons),
    }
    if receipt.memory is None:
        return {"id": None, "memory": message.get("content"), **said, "detail": receipt.detail}
    return {**_render_memory(memory, receipt.memory), **said}


def search(memory: Recollect, asked: Values) -> Values:
    """Find what answers a query best."""
    _refuse_unknown(asked, "fields", "reference_date")
    filters, where = _read_filters(asked)
    found = memory.query(
        asked.get("query"),  # type: ignore[arg-type]
        filters=filters,
        top_k=min(int(asked.get("top_k") or 10), MOST),
        threshold=asked.get("threshold"),
        **where,
    )
    return {"results": [{**_render_memory(memory, one.memory), "score": one.relevance} for one in found.items]}


def get_all(memory: Recollect, asked: Values) -> Values:
    """List memories by pages of a number."""
    page, size = (_read_number(asked, name, first) for name, first in (("page", 1), ("page_size", PAGE)))
    listed = _list_all(memory, asked)
    results = [_render_memory(memory, one) for one in islice(listed, (page - 1) * size, page * size)]
    more = sum(1 for _ in listed)
    return {
        "count": (page - 1) * size + len(results) + more,
        "next": f"?page={page + 1}&page_size={size}" if more else None,
        "previous": f"?page={page - 1}&page_size={size}" if page > 1 else None,
        "results": results,
    }


def get(memory: Recollect, asked: Values) -> Values:
    """Return a memory as it stands now."""
    return _render_memory(memory, _find_current(memory, asked["memory_id"]))


def update(memory: Recollect, asked: Values) -> Values:
    """Write the next version of a memory, or change until when it holds."""
    _refuse_unknown(asked, "timestamp")
    now = _find_current(memory, asked["memory_id"])
    if asked.get("metadata") is not None and asked.get("text") is None:
        raise BadInput("changes with the text alone.", field="metadata", hint="Send the text as well.")
    outcome: Values = {}
    if asked.get("text") is not None:
        more: Any = {"meta": asked["metadata"]} if asked.get("metadata") else {}
        if memory.caller.may(Right.RELAY):  # it passes on whosever words these were
            more["source"] = now.source
        receipt = memory.update(now.id, asked["text"], **more)
        if receipt.denied:
            raise NotAllowed(f"it was not stored: {', '.join(receipt.reasons)}.", field="text", hint=receipt.detail)
        outcome = {"outcome": str(receipt.outcome), "reasons": list(receipt.reasons)}
        now = receipt.memory or now
    if "expiration_date" in asked:
        now = memory.edit(now.id, expires_at=asked["expiration_date"])
    return {**_render_memory(memory, now), **outcome}


def delete(memory: Recollect, asked: Values) -> Values:
    """Soft-delete a memory."""
    if str(asked.get("delete_linked", "")).lower() == "true":
        raise BadInput(
            "has no counterpart: older versions stay in history.", field="delete_linked", hint="Leave it out."
        )
    memory.forget(_find_current(memory, asked["memory_id"]).id)
    return {"message": "Memory deleted successfully!"}


def delete_all(memory: Recollect, asked: Values) -> Values:
    """Soft-delete every memory of a user, an agent or a run."""
    if not _read_names(asked):
        raise BadInput("name a user_id, an agent_id or a run_id.", field="user_id", hint="Nothing was deleted.")
    for one in list(_list_all(memory, {"filters": _read_names(asked)})):
        memory.forget(one.id)
    return {"message": "Memories deleted successfully!"}


def history(memory: Recollect, asked: Values) -> list[Values]:
    """Return what a memory said, version by version."""
    chain = [one for one in memory.chain(asked["memory_id"]) if isinstance(one, Memory)]
    events, before = [], None
    for one in chain:
        event = {"event": "ADD" if before is None else "UPDATE", "old_memory": before, "new_memory": one.content}
        events.append(_render_event(one, chain[0].id, one.created_at, event))
        before = one.content
    if chain and chain[-1].deleted_at is not None:
        gone = {"event": "DELETE", "old_memory": before, "new_memory": None}
        events.append(_render_event(chain[-1], chain[0].id, chain[-1].deleted_at, gone))
    return events


def _render_event(one: Memory, id: str, at: datetime, said: Values) -> Values:
    times = {"created_at": format_time(at), "updated_at": format_time(at)}
    return {"id": one.id, "memory_id": id, "user_id": one.user_id or one.owner, "input": None, **said, **times}


def users(memory: Recollect, _: Values) -> Values:
    """Count memories by user, agent and run."""
    counts: Counter[tuple[str, str]] = Counter()
    for one in memory.list_all():
        named = (("user", one.user_id or one.owner), ("agent", one.agent_id), ("run", one.run_id))
        counts.update((kind, name) for kind, name in named if name)
    results = [
        {"id": f"{kind}:{name}", "type": kind, "name": name, "total_memories": n}
        for (kind, name), n in sorted(counts.items())
    ]
    return {"count": len(results), "next": None, "previous": None, "results": results}


def _render_memory(memory: Recollect, one: Memory) -> Values:
    """Return a memory as mem0 shows it, under the id of its first version."""
    first = one.id if one.version == 1 else memory.chain(one.id)[0].id
    meta = {name: value for name, value in one.meta.items() if name != "policy_tags"}
    return {
        "id": first,
        "memory": one.content,
        "hash": one.content_hash,
        "user_id": one.user_id or one.owner,
        "agent_id": one.agent_id,
        "app_id": one.meta.get("app_id"),
        "run_id": one.run_id,
        "metadata": meta,
        "categories": [one.category],
        "expiration_date": one.expires_at and format_time(one.expires_at)[:10],
        "created_at": format_time(one.created_at),
        "updated_at": format_time(one.last_modified),
    }


def _find_current(memory: Recollect, id: str) -> Memory:
    """Return the version that an id stands for now: the last of its chain."""
    last: Memory | Tombstone = memory.chain(id)[-1]
    return memory.get(last.id)


def _list_all(memory: Recollect, asked: Values) -> Iterator[Memory]:
    filters, where = _read_filters(asked)
    return memory.list_all(**filters, **where)


def _read_filters(asked: Values) -> tuple[Any, Any]:
    """Return the filters of a list or a query that mem0's words stand for, and where it looks."""
    _refuse_unknown(asked, "metadata", "show_expired")
    found: Values = {}
    for one in _split_filters(asked.get("filters") or {}):
        for name, value in one.items():
            if name in WHOSE:
                found |= {} if value == "*" else {name: _read_name(name, value)}
            elif name == "categories":
                found["category"] = value.get("in") if isinstance(value, dict) else value
            elif name in ("created_at", "updated_at") and isinstance(value, dict):
                found |= _read_times(name.removesuffix("_at"), value)
            else:
                known = "user_id, agent_id, run_id, categories, created_at, updated_at"
                raise BadInput("there is no such filter here.", field=f"filters.{name}", hint=f"Known: {known}.")
    if asked.get("categories"):
        found["category"] = asked["categories"]
    found |= {
        name: asked[given]
        for name, given in (("created_after", "start_date"), ("created_before", "end_date"))
        if asked.get(given)
    }
    user = found.pop("user_id", None)
    return found, {} if user is None else {"owner": user}


def _split_filters(filters: Any) -> Iterator[Values]:
    """Yield the parts of a filter that must all fit. Alternatives and negations have no counterpart."""
    if not isinstance(filters, dict):
        raise BadInput("must be an object.", field="filters", hint='Such as {"user_id": "ana"}.')
    for name, value in filters.items():
        if name == "AND":
            for one in value if isinstance(value, list) else [value]:
                yield from _split_filters(one)
        elif name in ("OR", "NOT"):
            raise BadInput(f"{name} has no counterpart here.", field=f"filters.{name}", hint="Ask once for each.")
        else:
            yield {name: value}


def _read_name(name: str, value: Any) -> Any:
    many = value.get("in") if isinstance(value, dict) else value
    if isinstance(many, list) and name == "user_id":
        if len(many) != 1:
            raise BadInput("is one user at a time here.", field="filters.user_id", hint="Ask once for each.")
        return many[0]
    return many


def _read_times(name: str, value: Values) -> Values:
    words = {"gte": "after", "gt": "after", "lte": "before", "lt": "before"}
    unknown = [word for word in value if word not in words]
    if unknown:
        raise BadInput(f"{unknown[0]!r:.40} is unknown.", field=f"filters.{name}_at", hint="Known: gte, gt, lte, lt.")
    return {f"{name}_{words[word]}": at for word, at in value.items()}


def _read_names(values: Values) -> Values:
    return {name: values[name] for name in WHOSE if values.get(name)}


def _read_object(asked: Values, name: str) -> Values:
    value = asked.get(name) or {}
    if not isinstance(value, dict):
        raise BadInput("must be an object.", field=name, hint='Such as {"topic": "tea"}.')
    return value


def _read_number(asked: Values, name: str, first: int) -> int:
    text = str(asked.get(name) or first)
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= 10_000):
        raise BadInput("must be a whole number from 1 to 10,000.", field=name, hint="Such as 1.")
    return int(text)


def _refuse_unknown(asked: Values, *names: str) -> None:
    for name in names:
        if asked.get(name):
            raise BadInput("has no counterpart here.", field=name, hint="Leave it out.")
