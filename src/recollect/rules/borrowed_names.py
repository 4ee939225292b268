"""Whose name may stand under a memory: a bound caller's own or its user's, and none that would be taken for another's.

Names are compared as they are read, not as they are spelled: ``oper\\u00adator`` is shown as the operator.
"""

import re

from recollect.model.caller import Caller
from recollect.model.principals import as_principal, short_name
from recollect.model.record import Candidate
from recollect.model.rendering import one_line
from recollect.model.vocabulary import Source
from recollect.rules.injection import origin_name
from recollect.rules.look_alikes import as_drawn

_HIGHER_NAMES = frozenset("system operator administrator admin root".split())
_WORD = re.compile(r"[^\W_]+")
_BY_ITSELF = re.compile(r"[^\W_](?:\S*[^\W_])?")
"""Words as blanks part them. A tool may well be called ``system_info``, and not ``System (verified)``."""


def signs_as_another(caller: Caller, candidate: Candidate, source: Source) -> bool:
    """Whether a bound caller signs with a name that is neither its own nor its user's, or that sounds like more than it is."""
    if caller.trusted:
        return False
    author, tool = candidate.author, candidate.actor_id
    if candidate.user_id not in (caller.user, None) or candidate.agent_id not in (caller.agent, None):
        return True
    if author is not None:
        is_own = as_principal(author.id) in caller.own_principals
        return not is_own or (author.name != short_name(author.id) and _poses(author.name, caller, _WORD))
    is_credited = source is Source.TOOL and tool is not None and tool != caller.agent
    return is_credited and _poses(str(tool), caller, _BY_ITSELF)


def _poses(name: str, caller: Caller, words: re.Pattern[str]) -> bool:
    """Whether a name would be taken for the operator's, or that of an agent or its tool for its user's."""
    read = as_read(name)
    is_the_users = caller.is_an_agent and caller.user is not None and _alike(read, as_read(caller.user))
    return is_the_users or not _HIGHER_NAMES.isdisjoint(words.findall(read))


def _alike(one: str, other: str) -> bool:
    """Whether two names are the same where they are shown, which may be cut, or but for signs."""
    words = _WORD.findall(one)
    return origin_name(one) == origin_name(other) or (bool(words) and words == _WORD.findall(other))


def as_read(name: str) -> str:
    """A name as a reader takes it: without what nobody sees, which is not shown either, without case, accents and
    compatibility forms, and in one alphabet where letters of two look the same.

    >>> as_read("Ope\\u200br\\u0430t\\u00f6r") == as_read("ＯＰＥＲＡＴＯＲ") == "operator"
    True
    """
    return as_drawn(one_line(name)).casefold()
