"""Whom a version names besides the owner of its stream, and whether its words are theirs."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recollect.model.principals import USER, kind_of, principal, short_name
from recollect.model.vocabulary import SHARED, Source, Space
from recollect.rules.signers import origin_in

Body = Mapping[str, Any]

WRITTEN_FOR = "written_for"
"""Somebody else, or an agent, wrote it while acting for them."""
ACTED = "acted"
"""They are named as who did, or as the tool that did, what it tells of."""
AGENT = "agent"
"""An agent, a model or a tool of their name wrote it or alone may see it."""
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

    ``name`` is a person's. An author with a kind is compared whole, so that no agent or tool of that name is taken for them; one
    that a file or an application named without a kind may be the person, unless a machine wrote it.

    >>> is_theirs({"space": "project", "source": "import", "author": {"id": "a1", "name": "ana"}}, "ana")
    True
    >>> is_theirs({"space": "project", "source": "import", "author": {"id": "agent:ana", "name": "ana"}}, "ana")
    False
    >>> is_theirs({"space": "project", "source": "agent", "author": {"id": "planner"}, "user_id": "ana"}, "ana")
    False
    """
    speaker = body.get("actor_id") or body.get("user_id")
    if body["source"] == Source.USER and speaker == name:
        return True
    if body["space"] == Space.SESSION and body.get("user_id") == name:
        return True
    return _is_author(body, name)


def roles_of(body: Body, told: Iterable[Body], name: str) -> tuple[str, ...]:
    """In which ways a version that is not theirs names somebody. ``told`` are vouchers that were heard of later.

    >>> roles_of({"space": "project", "user_id": "ana", "agent_id": "planner"}, [], "ana")
    ('written_for',)
    """
    return tuple(role for role, holds in _roles(body, told, name) if holds)


def _roles(body: Body, told: Iterable[Body], name: str) -> Iterator[tuple[str, bool]]:
    acted = name == body.get("actor_id")
    by_person = not _is_a_machines(body)
    yield WRITTEN_FOR, name == body.get("user_id")
    yield ACTED, acted and by_person
    yield AGENT, (acted and not by_person) or _is_an_agents_name(body, name)
    yield THREAD, name in (body.get("thread_id"), body.get("run_id"))
    yield VOUCHED, any(_names(one, name) for one in (*_vouchers(body), *told))


def _is_author(body: Body, name: str) -> bool:
    """Return whether a person of this name is credited: as ``user:NAME``, or without a kind on what no machine wrote."""
    author = body.get("author", {})
    if kind_of(str(author.get("id", ""))) is not None:
        return bool(author["id"] == principal(USER, name))
    by_agent = body["source"] in _MACHINES or body.get("agent_id") == name
    return name in (author.get("id"), author.get("name")) and name not in NOBODY and not by_agent


def _is_a_machines(body: Body) -> bool:
    """Whether ``actor_id`` names a tool or a model: those are no people."""
    return body["source"] == Source.TOOL or body.get("role") in ("tool", "assistant")


def _is_an_agents_name(body: Body, name: str) -> bool:
    author = body.get("author", {})
    named = (author.get("name"), short_name(str(author.get("id", ""))), body.get("agent_id"), body.get("scope"))
    return name in named and name not in NOBODY


def _names(voucher: Body, name: str) -> bool:
    return name in (voucher.get("id"), voucher.get("name")) or voucher.get("id") == principal(USER, name)


def _vouchers(body: Body) -> list[Body]:
    """Who vouched for it elsewhere; anything of another shape was said by somebody, and vouches for nothing."""
    found = origin_in(body).get("vouchers")
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
