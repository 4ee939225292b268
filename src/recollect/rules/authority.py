"""How much weight words carry: granted by who the caller is, never by what the request says of itself."""

from collections.abc import Sequence

from recollect.model.caller import Caller, Right
from recollect.model.vocabulary import Authority, Source


def grant_authority(
    source: Source,
    caller: Caller,
    stated: Authority | None,
    verifying_tools: tuple[str, ...],
    tool: str | None = None,
) -> tuple[Authority, str]:
    """The authority of a memory and the reason for it.

    Only a trusted in-process caller may state an authority. Otherwise a person's words are ``user_asserted``, the
    operator's ``system_imposed``, a model's ``ai_inferred``, and a tool's ``tool_verified`` if policy names that tool
    as verifying, else ``ai_inferred``. An agent that says it speaks for a person, or for the ``tool`` that it names, is
    believed only with the right to.
    """
    if stated is not None and caller.trusted:
        return stated, "stated_by_trusted_caller"
    if source in (Source.SYSTEM, Source.OPERATOR):
        return Authority.SYSTEM_IMPOSED, f"source:{source}"
    if source is Source.TOOL and (
        caller.agent in verifying_tools or (tool in verifying_tools and caller.may(Right.RELAY))
    ):
        return Authority.TOOL_VERIFIED, "verifying_tool"
    if source is Source.USER and speaks_for_a_person(caller):
        return Authority.USER_ASSERTED, "source:user"
    return Authority.AI_INFERRED, f"source:{source}"


def rank(authority: Authority, order: Sequence[Authority]) -> int:
    """How far from the top it stands in the policy's order: 0 is believed most."""
    return order.index(authority)


def outranks(one: Authority, other: Authority, order: Sequence[Authority]) -> bool:
    """Whether ``one`` stands above ``other`` in the policy's order."""
    return rank(one, order) < rank(other, order)


def speaks_for_a_person(caller: Caller) -> bool:
    """Whether words that are given as a person's are that person's: an agent needs the right to pass them on."""
    if caller.trusted:
        return True
    return caller.user is not None and (not caller.is_an_agent or caller.may(Right.RELAY))
