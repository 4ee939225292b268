"""The tools of administration: settle contradictions, propose a clean-up, archive and restore, reject and lift, consent."""

from typing import Any

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from recollect.interfaces.mcp.tool import AgentRequest, Answer, Tool, as_text, plain, through
from recollect.interfaces.mcp.tools import ID, shown
from recollect.interfaces.python import Recollect
from recollect.model.receipt import RejectedValue
from recollect.model.record import Memory


class Resolve(AgentRequest):
    id: str = ID
    winner: str = Field(description="the id of the side to believe")


def resolve(memory: Recollect, request: Resolve) -> Answer:
    return _decided(through(memory, request.agent).resolve(request.id, winner=request.winner))


class OneMemory(AgentRequest):
    id: str = ID


def archive(memory: Recollect, request: OneMemory) -> Answer:
    return _decided(through(memory, request.agent).archive(request.id))


def restore(memory: Recollect, request: OneMemory) -> Answer:
    return _decided(through(memory, request.agent).restore(request.id))


def _decided(memory: Memory) -> Answer:
    told = shown(memory)
    return Answer({"memory": told}, as_text(told))


class Reject(OneMemory):
    reason: str | None = Field(None, description="why, in a few words")


def reject(memory: Recollect, request: Reject) -> Answer:
    return _rejected(through(memory, request.agent).reject(request.id, request.reason))


def lift(memory: Recollect, request: OneMemory) -> Answer:
    return _rejected(through(memory, request.agent).lift(request.id))


def _rejected(value: RejectedValue) -> Answer:
    told = plain(value)
    return Answer({"rejection": told}, as_text(told))


class Rejections(AgentRequest):
    owner: str | None = Field(None, description="only this owner's")


def rejections(memory: Recollect, request: Rejections) -> Answer:
    found = plain(through(memory, request.agent).rejections(owner=request.owner))
    return Answer({"rejections": found}, as_text(found))


class Consent(AgentRequest):
    owner: str | None = Field(None, description="only this owner's")


def consent(memory: Recollect, request: Consent) -> Answer:
    found = plain(through(memory, request.agent).consent(owner=request.owner))
    return Answer({"proposals": found}, as_text(found))


def grant(memory: Recollect, request: OneMemory) -> Answer:
    return _decided(through(memory, request.agent).grant(request.id))


def decline(memory: Recollect, request: Reject) -> Answer:
    return _rejected(through(memory, request.agent).decline(request.id, request.reason))


class Proposals(AgentRequest):
    owner: str | None = Field(None, description="only this owner's")


def proposals(memory: Recollect, request: Proposals) -> Answer:
    found = plain(through(memory, request.agent).proposals(owner=request.owner))
    return Answer({"proposals": found}, as_text(found))


class OneProposal(AgentRequest):
    id: str = Field(description="the proposal's id, or its first digits")


class DeclineProposal(OneProposal):
    reason: str | None = Field(None, description="why, in a few words")


def apply_proposal(memory: Recollect, request: OneProposal) -> Answer:
    return _told("proposal", through(memory, request.agent).apply_proposal(request.id))


def decline_proposal(memory: Recollect, request: DeclineProposal) -> Answer:
    return _told("proposal", through(memory, request.agent).decline_proposal(request.id, request.reason))


class Runs(AgentRequest):
    job: str | None = Field(None, description="extract, insights, consolidate or procedures")
    limit: int = Field(20, description="how many at most")


def runs(memory: Recollect, request: Runs) -> Answer:
    found = plain(through(memory, request.agent).runs(job=request.job, limit=request.limit).items)
    return Answer({"runs": found}, as_text(found))


class OneRun(AgentRequest):
    id: str = Field(description="the run's id, or its first digits")


def run(memory: Recollect, request: OneRun) -> Answer:
    return _told("run", through(memory, request.agent).run(request.id))


def undo(memory: Recollect, request: OneRun) -> Answer:
    return _told("undone", through(memory, request.agent).undo(request.id))


def _told(name: str, answer: Any) -> Answer:
    told = plain(answer)
    return Answer({name: told}, as_text(told))


class Consolidate(AgentRequest):
    owner: str | None = Field(None, description="only this owner's memories")
    user_id: SkipJsonSchema[str | None] = None


def consolidate(memory: Recollect, request: Consolidate) -> Answer:
    proposal = plain(through(memory, request.agent).consolidate(owner=request.owner, user_id=request.user_id))
    return Answer(proposal, as_text(proposal))


ADMIN_TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "memory_resolve",
        "Resolve a contradiction",
        "Settle a contradiction that waits, by naming the side to believe. The other side stays in the record.",
        Resolve,
        resolve,
        repeatable=True,
    ),
    Tool(
        "memory_consolidate",
        "Propose a clean-up",
        "Show which memories repeat or contradict one another. It only proposes: nothing is changed.",
        Consolidate,
        consolidate,
        reads_only=True,
    ),
    Tool(
        "memory_archive",
        "Archive a memory",
        "Take a memory out of every answer and keep it for the record.",
        OneMemory,
        archive,
    ),
    Tool(
        "memory_restore",
        "Restore a memory",
        "Bring back a memory that was archived or forgotten, if nothing has taken its place.",
        OneMemory,
        restore,
    ),
    Tool(
        "memory_reject",
        "Reject a memory as never true",
        "Only when the person says that it was never true, not that it has changed. It leaves every answer, and the same "
        "value is refused until the person says it again.",
        Reject,
        reject,
    ),
    Tool(
        "memory_lift",
        "Lift a rejection",
        "End a rejection, by its id or its memory's, so that the value can be stored again.",
        OneMemory,
        lift,
    ),
    Tool(
        "memory_rejections",
        "List rejections",
        "List what was rejected as never true, for the person or the operator.",
        Rejections,
        rejections,
        reads_only=True,
    ),
    Tool(
        "memory_consent",
        "List what waits for consent",
        "List the profile fields that were proposed and wait for the person. Ask the person about one at a time.",
        Consent,
        consent,
        reads_only=True,
    ),
    Tool(
        "memory_grant",
        "Grant a proposal",
        "Only when the person says yes to it. It becomes active as their own word. An agent is refused.",
        OneMemory,
        grant,
    ),
    Tool(
        "memory_decline",
        "Decline a proposal",
        "Only when the person says no to it. Its value is rejected until the person says it themselves.",
        Reject,
        decline,
    ),
    Tool(
        "memory_proposals",
        "List what a model proposes",
        "List what a language model proposed and nobody has decided, with the words that each rests on.",
        Proposals,
        proposals,
        reads_only=True,
    ),
    Tool(
        "memory_apply_proposal",
        "Apply a proposal",
        "Only when the person says yes to it. What it stores stays an inference. An agent is refused.",
        OneProposal,
        apply_proposal,
    ),
    Tool(
        "memory_decline_proposal",
        "Decline a proposal of a model",
        "Only when the person says no to it. A fact is rejected until the person says it themselves. An agent is refused.",
        DeclineProposal,
        decline_proposal,
    ),
    Tool(
        "memory_runs",
        "List the runs of the model",
        "List what the language model of upkeep did, newest first: what it took, and what became of its proposals.",
        Runs,
        runs,
        reads_only=True,
    ),
    Tool(
        "memory_run",
        "Show a run of the model",
        "Show one run with every proposal: stored, waiting, or refused and why.",
        OneRun,
        run,
        reads_only=True,
    ),
    Tool(
        "memory_undo",
        "Undo a run of the model",
        "Take back everything that a run did, for the operator. Says what is in the way if later work depends on it.",
        OneRun,
        undo,
    ),
)
