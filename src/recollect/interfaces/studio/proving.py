"""Pages that prove and govern the whole: verify, checkpoints, proofs, erasure, and the policy."""

import threading
from itertools import groupby
from typing import Any

import yaml

from recollect.interfaces.python import Recollect
from recollect.interfaces.studio.reading import find_memory
from recollect.interfaces.studio.visits import Answer, Document, Figures, Goto, Page, Visit
from recollect.model.caller import Right
from recollect.model.errors import BadInput, NotFound, RecollectError
from recollect.model.policy import settings
from recollect.model.receipt import Verification

MOST_CHECKPOINTS = 50
MOST_LISTED = 100
MOST_TRIED = 500
EXAMPLE = "privacy:\n  actions:\n    email: deny"


class Verifying:
    """A walk over the whole store, in a thread of its own, so that the page can show how far it is."""

    def __init__(self, memory: Recollect) -> None:
        self.done, self.total = 0, 0
        self.answer: Verification | None = None
        self.fault: str | None = None
        self._memory = memory
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        try:
            self.answer = self._memory.verify(self._note_progress)
        except RecollectError as error:
            self.fault = str(error)

    def _note_progress(self, done: int, total: int) -> None:
        self.done, self.total = done, total


def proof(visit: Visit) -> Page:
    """Show whether the store is sound, its checkpoints, and the forms for proofs and erasure."""
    operates = visit.may(Right.OPERATE)
    taken = visit.memory.checkpoints() if operates else ()
    return Page(
        "proof.html",
        {
            "verifying": visit.session.verifying,
            "checkpoints": taken[::-1][:MOST_CHECKPOINTS],
            "uncovered": visit.memory.uncovered_entries() if operates else None,
            "operates": operates,
            "signers": _list_signers(visit),
        },
    )


def _list_signers(visit: Visit) -> list[str]:
    """Return who may sign documents: everybody whose key counts, if the person may have the store sign."""
    found = visit.memory.identities() if visit.may(Right.OPERATE) else ()
    return [one.name for one in found if one.name is not None and one.current is not None]


def verify(visit: Visit) -> Goto:
    """Begin to verify, unless that is under way."""
    running = visit.session.verifying
    if running is None or not running.is_running:
        visit.session.verifying = Verifying(visit.memory)
    return Goto("/proof")


def progress(visit: Visit) -> Figures:
    """Return how far the verification is."""
    found = visit.session.verifying
    if found is None:
        return Figures({"running": False, "done": 0, "total": 0})
    return Figures({"running": found.is_running, "done": found.done, "total": found.total})


def take_checkpoint(visit: Visit) -> Goto:
    """Cover what was written since the last checkpoint."""
    made = visit.memory.checkpoint(sign_as=visit.text("sign_as"))
    visit.session.tell(f"A checkpoint over {made.size:,} leaves is taken. Download it and keep it elsewhere.")
    return Goto("/proof")


def checkpoint(visit: Visit) -> Document:
    """Return a checkpoint to keep elsewhere."""
    size = visit.number("size", 0, 0, 10**9)
    found = next((one for one in visit.memory.checkpoints() if one.size == size), None)
    if found is None:
        raise NotFound("there is no such checkpoint.", field="size", hint="Take one from the list.")
    return Document(f"checkpoint-{size}.json", found.to_dict())


def prove(visit: Visit) -> Document:
    """Return a proof of one memory, with its content only on request."""
    id = visit.text("id") or ""
    made = visit.memory.prove(id, with_content=visit.text("content") == "yes")
    return Document(f"proof-{made.memory.replace('-', '')[:12]}.json", made.to_dict())


def erasure(visit: Visit) -> Page:
    """Show what an erasure would remove, with the content of the memories that the person may see."""
    owner, id, whole = visit.text("owner"), visit.text("id"), visit.text("whole_chain") == "yes"
    preview = visit.memory.preview_erasure(owner=owner, id=id, whole_chain=whole)
    ids = (*preview.removed, *preview.authored, *(one.id for one in preview.derived))[:MOST_LISTED]
    words = {one: found.content for one in ids if (found := find_memory(visit.memory, one)) is not None}
    asked = {"owner": owner, "id": id, "whole_chain": whole}
    shown = {"preview": preview, "words": words, "asked": asked, "most": MOST_LISTED, "signers": _list_signers(visit)}
    return Page("erasure.html", shown)


def erase(visit: Visit) -> Page:
    """Erase what was previewed, once its name is typed again, and show the receipt."""
    owner, id, whole = visit.text("owner"), visit.text("id"), visit.text("whole_chain") == "yes"
    if visit.text("typed") != (owner or id):
        raise BadInput("is not what is to be erased.", field="typed", hint="Go back and type the name or the id again.")
    done = visit.memory.erase_with_record(owner=owner, id=id, whole_chain=whole, sign_as=visit.text("sign_as"))
    name = f"erasure-{done.receipt.at[:19].replace(':', '')}.json"
    if done.record is not None:
        visit.session.documents[name] = done.record.to_dict()
    signed = done.record is not None and bool(done.record.signatures)
    shown = {"receipt": done.receipt, "document": name if done.record is not None else None, "signed": signed}
    return Page("receipt.html", shown)


def document(visit: Visit) -> Document:
    """Return a document that was made for this session."""
    name = visit.place["name"]
    if name not in visit.session.documents:
        raise NotFound("there is no such document any more.", hint="It is kept until you sign out.")
    return Document(name, visit.session.documents[name])


def policy(visit: Visit) -> Page:
    """Show every setting with its meaning and value."""
    return _policy_page(visit, EXAMPLE)


def _policy_page(visit: Visit, changes: str, **more: Any) -> Page:
    values = visit.memory.policy().by_name()
    rows = [(name, meaning, values[name], default) for name, meaning, default in settings()]
    sections = [(name, list(found)) for name, found in groupby(rows, lambda row: row[0].partition(".")[0])]
    shared = {"sections": sections, "changes": changes, "trial": None, "fault": None, "limit": 100}
    return Page("policy.html", shared | more)


def try_policy(visit: Visit) -> Answer:
    """Say which of the last writes a change of the policy would have ended otherwise."""
    changes, limit = visit.asked.get("changes", ""), visit.number("limit", 100, 1, MOST_TRIED)
    try:
        read = yaml.safe_load(changes)
        if not isinstance(read, dict):
            raise BadInput("must be settings and their values.", field="changes", hint="Such as the example.")
        trial = visit.memory.try_policy(read, limit=limit)
    except (yaml.YAMLError, RecursionError, ValueError, LookupError, AttributeError) as error:
        return _policy_page(visit, changes, fault=f"This is not YAML: {error}", limit=limit)
    except BadInput as error:
        return _policy_page(visit, changes, fault=str(error), limit=limit)
    return _policy_page(visit, changes, trial=trial, limit=limit)
