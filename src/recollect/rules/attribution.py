"""Whom a version names besides the owner of its stream, and whether its words are theirs."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recollect.model.vocabulary import SHARED, Source, Space
from recollect.rules.signers import origin_in

Body = Mapping[str, Any]

WRITTEN_FOR = "written_for"
"""Somebody else, or an agent, wrote it while acting for them, or for their eyes alone."""
ACTED = "acted"
"""They are named as who did, or as the tool that did, what it tells of."""
AGENT = "agent"
"""An agent, a model or a tool of their name wrote it for somebody else."""
VOUCHED = "vouched"
"""They vouched for it where it was imported from."""
THREAD = "thread"
"""The thread or the run in which it was written bears their name."""
ROLES = frozenset({WRITTEN_FOR, ACTED, AGENT, VOUCHED, THREAD})
LISTED_ONLY = frozenset({AGENT, VOUCHED, THREAD})
"""Such a memory is another's in every way, and nothing is decided about it."""
NOBODY = frozenset({"application", "assistant", SHARED})
"""Authors and scopes where nobody was named: erasing an owner who is called so must not take everything along."""
_MACHINES = (Source.AGENT, Source.TOOL)


def is_theirs(body: Body, name: str) -> bool:
    """Whether the words are somebody's own, wherever they lie: they wrote them, or said them; in a session, also the answers.

    >>> is_theirs({"space": "project", "source": "import", "author": {"id": "a1", "name": "ana"}}, "ana")
    True
    >>> is_theirs({"space": "project", "source": "agent", "author": {"id": "planner"}, "user_id": "ana"}, "ana")
    False
    """
    speaker = body.get("actor_id") or body.get("user_id")
    if body["source"] == Source.USER and speaker == name:
        return True
    if body["space"] == Space.SESSION and body.get("user_id") == name:
        return True
    return _is_author(body, name) and not _serves_another(body, name)


def roles_of(body: Body, told: Iterable[Body], name: str) -> tuple[str, ...]:
    """In which ways a version that is not theirs names somebody. ``told`` are vouchers that were heard of later.

    >>> roles_of({"space": "project", "user_id": "ana", "agent_id": "planner"}, [], "ana")
    ('written_for',)
    """
    return tuple(role for role, holds in _roles(body, told, name) if holds)


def _roles(body: Body, told: Iterable[Body], name: str) -> Iterator[tuple[str, bool]]:
    yield WRITTEN_FOR, name == body.get("user_id") or (name == body.get("scope") and name not in NOBODY)
    yield ACTED, name == body.get("actor_id")
    yield AGENT, name == body.get("agent_id") or _is_author(body, name)
    yield THREAD, name in (body.get("thread_id"), body.get("run_id"))
    yield VOUCHED, any(name in (one.get("id"), one.get("name")) for one in (*_vouchers(body), *told))


def _is_author(body: Body, name: str) -> bool:
    author = body.get("author", {})
    return name in (author.get("id"), author.get("name")) and name not in NOBODY


def _serves_another(body: Body, name: str) -> bool:
    """Whether an agent, a model or a tool of this name wrote it for somebody else: that one's memory is not the agent's."""
    whose = body.get("user_id") or (body.get("owner") if body["space"] == Space.USER else None)
    return (body["source"] in _MACHINES or body.get("agent_id") == name) and whose not in (None, name)


def _vouchers(body: Body) -> list[Body]:
    """Who vouched for it elsewhere; anything of another shape was said by somebody, and vouches for nothing."""
    found = origin_in(body).get("vouchers")
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
