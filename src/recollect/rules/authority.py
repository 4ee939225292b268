"""How much weight words carry: granted by who the caller is, never by what the request says of itself."""

from recollect.model.caller import Caller
from recollect.model.vocabulary import Authority, Source


def grant_authority(
    source: Source, caller: Caller, stated: Authority | None, verifying_tools: tuple[str, ...]
) -> tuple[Authority, str]:
    """The authority of a memory and the reason for it.

    Only a trusted in-process caller may state an authority. Otherwise a person's words are ``user_asserted``, the
    operator's ``system_imposed``, a model's ``ai_inferred``, and a tool's ``tool_verified`` if policy names that tool
    as verifying, else ``ai_inferred``.
    """
    if stated is not None and caller.trusted:
        return stated, "stated_by_trusted_caller"
    if source in (Source.SYSTEM, Source.OPERATOR):
        return Authority.SYSTEM_IMPOSED, f"source:{source}"
    if source is Source.TOOL and caller.agent in verifying_tools:
        return Authority.TOOL_VERIFIED, "verifying_tool"
    if source is Source.USER and (caller.trusted or caller.user is not None):
        return Authority.USER_ASSERTED, "source:user"
    return Authority.AI_INFERRED, f"source:{source}"
