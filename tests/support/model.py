"""The simple model: what a memory should be after any sequence of operations, kept in plain dictionaries.

It is written from the documentation and shares no code with the engine. What only the language rules can know (whether
two sentences say the same) it takes from the receipt; what follows from that, it works out for itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from support.note import EVENT_KINDS, Note, Place, fits

UNUSED_AFTER = timedelta(days=60)
PURGE_AFTER = timedelta(days=30)
UNUSED_IMPORTANCE_BELOW = 3
DEFAULT_TTL = {"test": timedelta(days=7), "ephemeral": timedelta(days=1)}
AUTHORITIES = ("system_imposed", "tool_verified", "user_asserted", "ai_inferred")
RESTORABLE = ("archived", "soft_deleted", "redundant")


class Refusal(Exception):
    """The model expects the operation to be refused, in the state in which the memory is."""


class Model:
    """What should be in the store. ``now`` is the time of the operation that is being followed."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.notes: dict[str, Note] = {}
        self.ticks: dict[Place, int] = {}
        self.runs: list[list[tuple[str, str, str | None, str | None]]] = []
        self._written: set[Place] = set()

    def kept(self) -> list[Note]:
        """Everything whose content is still there."""
        return [note for note in self.notes.values() if note.removed is None]

    def is_live(self, note: Note) -> bool:
        """Active, and past neither its date nor its tick."""
        return note.status == "active" and note.removed is None and not self._is_due(note, self._tick(note.place))

    def shown_status(self, note: Note) -> str:
        """What a read says: what has expired is no longer active, swept or not."""
        return "soft_deleted" if note.status == "active" and not self.is_live(note) else note.status

    def live(self, **wanted: Any) -> list[Note]:
        """What a read may show, newest first; ``wanted`` holds values of namespace, space, owner, and scopes."""
        found = [n for n in self.notes.values() if self.is_live(n) and fits(n, **wanted)]
        return sorted(found, key=lambda n: n.order, reverse=True)

    def active(self, concept: tuple[Place, str, str, str]) -> Note | None:
        """The one memory that has the concept's key now, if any."""
        found = [n for n in self.notes.values() if n.status == "active" and n.removed is None and n.concept == concept]
        assert len(found) <= 1, f"two active memories of {concept}"
        return found[0] if found else None

    def chain(self, note: Note) -> list[Note]:
        """Every version of the note's concept, first to last."""
        first = note
        while first.supersedes is not None:
            first = self.notes[first.supersedes]
        links = [first]
        while links[-1].superseded_by is not None:
            links.append(self.notes[links[-1].superseded_by])
        return links

    def is_about_to_expire(self, places: Iterable[Place]) -> bool:
        """Whether the next write to any of these streams finds something past its tick that reads still show."""
        return any(
            self.is_live(n) and self._is_due(n, self._tick(n.place) + 1)
            for n in self.notes.values()
            if n.place in places
        )

    def ends_next(self, note: Note) -> bool:
        """Return whether the next write to a note's stream finds the note expired."""
        return self._is_due(note, self._tick(note.place) + 1)

    def _tick(self, place: Place) -> int:
        return self.ticks.get(place, 0)

    def _is_due(self, note: Note, tick: int) -> bool:
        by_date = note.expires_at is not None and note.expires_at <= self.now
        return by_date or (note.expires_at_tick is not None and note.expires_at_tick <= tick)

    def begin(self, *places: Place, ticks: int = 1) -> None:
        """A write to these streams starts: what is due by the tick that it will have leaves the active set."""
        self._written = set()
        for note in [n for n in self.kept() if n.place in places and n.status == "active"]:
            if self._is_due(note, self._tick(note.place) + ticks):
                self._put_away(note)

    def committed(self, *, ticks: int = 1) -> None:
        """The write is done, and each stream that got an entry has ticked once. Upkeep alone does not tick."""
        for place in self._written:
            self.ticks[place] = self._tick(place) + ticks
        self._written = set()

    def read(self, ids: Iterable[str]) -> None:
        """These were shown to somebody. The store may learn of it later, but then as of now."""
        for note in map(self.notes.__getitem__, ids):
            note.accesses += 1
            note.last_access = self.now

    def _used(self, note: Note) -> None:
        """Count an edit, or a decision for a note that waited, as a use of it, and as no read."""
        note.last_access = self.now

    def _wrote(self, note: Note) -> None:
        self._written.add(note.place)

    def _put_away(self, note: Note) -> None:
        self._wrote(note)
        note.status, note.deleted_at, note.purge_at = "soft_deleted", self.now, self.now + PURGE_AFTER

    def place_of(self, fields: Mapping[str, Any]) -> Place:
        namespace = "test" if fields.get("source") == "test_suite" else fields.get("namespace", "prod")
        return namespace, fields.get("space", "user"), fields.get("owner", "default")

    def added(self, many: Sequence[tuple[Mapping[str, Any], Any]]) -> None:
        """Candidates and their receipts, written together. Denied ones leave everything as it is."""
        let_in = [(fields, receipt) for fields, receipt in many if not receipt.denied]
        self.begin(*(self.place_of(fields) for fields, _ in let_in))
        for fields, receipt in let_in:
            self._add(fields, receipt)
        self.committed()

    def _add(self, fields: Mapping[str, Any], receipt: Any) -> None:
        outcome, shown = str(receipt.outcome), receipt.memory
        newcomer = self._note(fields, shown)
        incumbent = self.active(newcomer.concept)
        expected = self._outcomes(fields, newcomer, incumbent)
        assert outcome in expected, f"{outcome}, expected one of {expected}: {receipt.reasons}"
        if outcome == "reinforced":
            self._reinforce(shown.id, newcomer, incumbent)
            return
        if outcome == "contradicted" and "conflict:said_again" in receipt.reasons:
            self._count_claim(shown.id, newcomer, incumbent)
            return
        assert shown.id not in self.notes, "a new memory has a new id"
        self.notes[shown.id] = newcomer
        self._wrote(newcomer)
        if outcome == "contradicted":
            assert incumbent is not None
            newcomer.status = "contradictory"
            self._link(newcomer, incumbent, "conflicts")
        if outcome == "superseded":
            assert incumbent is not None
            self._supersede(incumbent, newcomer)
            if "identity:confirmed" not in receipt.reasons:
                self._take_over(incumbent, newcomer, set(fields), newcomer.authority)
            if any(reason.startswith("conflict:") for reason in receipt.reasons):
                self._link(newcomer, incumbent, "conflicts")
        if outcome == "stored":
            self._link_alike(fields, newcomer, shown.related_memory_ids)

    def _note(self, fields: Mapping[str, Any], shown: Any) -> Note:
        """The note for a candidate. Its id, its key and what a rule rated it at are the receipt's to say."""
        place = self.place_of(fields)
        named = fields.get("canonical_key", shown.canonical_key)
        assert named.lower() == shown.canonical_key.lower(), "an explicit key is kept"
        expires_at = fields.get("expires_at")
        if expires_at is None and place[0] in DEFAULT_TTL:
            expires_at = self.now + DEFAULT_TTL[place[0]]
        tick = self._tick(place) + 1
        return Note(
            id=shown.id,
            place=place,
            scope=fields.get("scope", "shared"),
            kind=fields.get("kind", "semantic"),
            key=shown.canonical_key,
            content=fields["content"],
            authority=fields.get("authority", "user_asserted"),
            tick=tick,
            created_at=self.now,
            order=len(self.notes),
            pinned=fields.get("pinned", False),
            importance=fields.get("importance", shown.importance),
            rated="importance" in fields,
            category=fields.get("category", "procedural" if fields.get("kind") == "procedural" else "general"),
            tags=tuple(dict.fromkeys(fields.get("tags", ()))),
            expires_at=expires_at,
            expires_at_tick=tick + fields["ttl_ticks"] if "ttl_ticks" in fields else None,
            last_reinforced=self.now,
        )

    def _outcomes(self, fields: Mapping[str, Any], new: Note, old: Note | None) -> tuple[str, ...]:
        """The outcomes that the rules leave open."""
        if new.kind in EVENT_KINDS:
            return ("stored",)
        if old is None:
            return ("stored",) if "canonical_key" in fields else ("stored", "reinforced")
        if " ".join(new.content.split()) == " ".join(old.content.split()) or fields.get("change") == "same":
            return ("superseded",) if self._is_higher(new.authority, old.authority) else ("reinforced",)
        if "change" not in fields:
            return ("reinforced", "superseded", "contradicted")
        return ("superseded",) if self._newcomer_wins(fields["change"], new, old) else ("contradicted",)

    def _is_higher(self, one: str, other: str) -> bool:
        """Return whether an authority is higher than another: what it confirms is then a version of its own."""
        return AUTHORITIES.index(one) < AUTHORITIES.index(other)

    def _newcomer_wins(self, change: str, new: Note, old: Note) -> bool:
        ours, theirs = AUTHORITIES.index(new.authority), AUTHORITIES.index(old.authority)
        if change == "correction":
            return ours <= max(theirs, AUTHORITIES.index("user_asserted"))
        if change == "update" or ours != theirs:
            return ours <= theirs
        return new.tick > old.tick or new.importance >= old.importance

    def _reinforce(self, id: str, newcomer: Note, incumbent: Note | None) -> None:
        note = self.notes[id]
        assert note.status == "active" and note.removed is None, "only what is active is reinforced"
        assert incumbent in (None, note), "the memory of the same key is the one to reinforce"
        assert note.concept[:3] == newcomer.concept[:3], "reinforced across a stream, a scope or a kind"
        note.reinforcements += 1
        note.last_reinforced = self.now
        assert not self._is_higher(newcomer.authority, note.authority), (
            "what a higher authority confirms is a new version"
        )
        self._wrote(note)

    def _count_claim(self, id: str, newcomer: Note, incumbent: Note | None) -> None:
        claim = self.notes[id]
        assert incumbent is not None and claim.status == "contradictory" and claim.removed is None, "only what waits"
        assert (claim.concept, claim.authority) == (newcomer.concept, newcomer.authority), "another's claim"
        claim.reinforcements += 1
        claim.last_reinforced = self.now
        self._link(claim, incumbent, "conflicts")
        self._wrote(claim)

    def _supersede(self, old: Note, new: Note) -> None:
        self._wrote(old)
        old.status, old.superseded_by = "superseded", new.id
        new.supersedes, new.version = old.id, old.version + 1

    def _take_over(self, old: Note, new: Note, stated: set[str], authority: str) -> None:
        """A new version keeps what was decided about the one before and what it does not state itself.

        By the ``authority`` with which it counts: weight goes on to an equal one alone, and tags to none that is higher.
        """
        weight = authority == old.authority
        if "category" not in stated and old.category != "general":
            new.category = old.category
        if "tags" not in stated and old.tags and not self._is_higher(authority, old.authority):
            new.tags = old.tags
        if weight and "pinned" not in stated and old.pinned:
            new.pinned = True
        if weight and "importance" not in stated and old.rated:
            new.importance, new.rated = old.importance, True

    def _link_alike(self, fields: Mapping[str, Any], newcomer: Note, ids: Iterable[str]) -> None:
        for other in (self.notes[id] for id in ids):
            assert "canonical_key" not in fields, "an explicit key wins over likeness"
            assert self.is_live(other) and other.concept[:3] == newcomer.concept[:3], "linked across a border"
            self._link(newcomer, other, "related")

    def _link(self, one: Note, other: Note, name: str) -> None:
        getattr(one, name).add(other.id)
        getattr(other, name).add(one.id)

    def start(self, id: str) -> Note:
        """A write to one memory begins; raises :class:`Refusal` if its content is gone."""
        note = self.notes[id]
        self.begin(note.place)
        if note.removed is not None:
            raise Refusal("removed")
        return note

    def edit(self, id: str, changes: Mapping[str, Any]) -> None:
        values = {name: tuple(dict.fromkeys(value)) if name == "tags" else value for name, value in changes.items()}
        if self._says_so(self.notes[id], values):
            return
        note = self.start(id)
        if note.status == "superseded":
            raise Refusal("superseded")
        for name, value in values.items():
            setattr(note, name, value)
        note.rated |= "importance" in changes
        self._used(note)
        self._wrote(note)
        self.committed()

    def _says_so(self, note: Note, values: Mapping[str, Any]) -> bool:
        """Whether an edit would change nothing: then nothing is written, not even what is due put away."""
        if note.removed is not None or note.status == "superseded" or ("importance" in values and not note.rated):
            return False
        return all(getattr(note, name) == value for name, value in values.items())

    def archive(self, id: str) -> None:
        note = self.start(id)
        if note.status not in ("active", "contradictory"):
            raise Refusal(note.status)
        note.status = "archived"
        self._wrote(note)
        self.committed()

    def forget(self, id: str) -> None:
        note = self.start(id)
        if note.status in ("soft_deleted", "superseded"):
            raise Refusal(note.status)
        self._put_away(note)
        self.committed()

    def restore(self, id: str) -> None:
        note = self.start(id)
        if note.status not in RESTORABLE or self.active(note.concept) is not None:
            raise Refusal(note.status)
        self._bring_back(note)
        self.committed()

    def _bring_back(self, note: Note) -> None:
        """Active again, and not about to expire again for what it expired for."""
        self._wrote(note)
        note.status, note.deleted_at, note.purge_at, note.last_reinforced = "active", None, None, self.now
        if note.expires_at is not None and note.expires_at <= self.now:
            note.expires_at = None
        if note.expires_at_tick is not None and note.expires_at_tick <= self._tick(note.place) + 1:
            note.expires_at_tick = None

    def sides(self, id: str) -> list[str]:
        """Who may win the contradiction in which a memory waits."""
        note = self.notes[id]
        incumbent = self.active(note.concept)
        active = {other for other in note.conflicts if self.notes[other].status == "active"}
        return sorted({id, *active} | ({incumbent.id} if incumbent else set()))

    def resolve(self, id: str, winner: str) -> None:
        note = self.start(id)
        if note.status != "contradictory" or winner not in self.sides(id):
            raise Refusal(note.status)
        self._wrote(note)
        incumbent = self.active(note.concept)
        if winner != id:
            note.status = "archived"
        else:
            note.status = "active"
            self._used(note)
            if incumbent is not None:
                self._supersede(incumbent, note)
                stated = {"pinned"} if note.pinned else set()
                stated |= ({"tags"} if note.tags else set()) | ({"category"} if note.category != "general" else set())
                self._take_over(
                    incumbent, note, stated | ({"importance"} if note.rated else set()), incumbent.authority
                )
        self.committed()

    def upkeep(self) -> dict[str, set[str]]:
        """What a round of upkeep should do, done: the ids that expired, were put away, and were purged.

        Upkeep does not age anything: a memory's ticks are those of its stream's own use.
        """
        before = {note.id for note in self.kept() if note.status == "active"}
        self.begin(*{note.place for note in self.notes.values()}, ticks=0)
        expired = {id for id in before if self.notes[id].status != "active"}
        due = [n for n in self.kept() if n.purge_at is not None and n.purge_at <= self.now]
        unused = [n for n in self.kept() if n.status == "active" and self._is_unused(n)]
        for note in unused:
            self._put_away(note)
        for note in due:
            self._remove(note, "purged")
        self.committed(ticks=0)
        return {"expired": expired, "forgotten": {n.id for n in unused}, "purged": {n.id for n in due}}

    def _is_unused(self, note: Note) -> bool:
        used = max(moment for moment in (note.last_reinforced, note.last_access) if moment is not None)
        return not note.pinned and note.importance < UNUSED_IMPORTANCE_BELOW and used < self.now - UNUSED_AFTER

    def erase(self, id: str, *, whole_chain: bool) -> set[str]:
        """Take the content of a memory, or of every version of its concept, away; returns whose."""
        if self.notes[id].removed is not None:
            raise Refusal("removed")
        return self.erase_all(link.id for link in (self.chain(self.notes[id]) if whole_chain else [self.notes[id]]))

    def erase_all(self, ids: Iterable[str]) -> set[str]:
        gone = [note for note in map(self.notes.__getitem__, ids) if note.removed is None]
        self.begin(*{note.place for note in gone})
        for note in gone:
            self._remove(note, "erased")
        self.committed()
        return {note.id for note in gone}

    def forget_owner(self, owner: str) -> None:
        """The owner's streams are nobody's now; who comes under that name later starts anew."""
        for note in self.notes.values():
            if note.place[2] == owner:
                note.place = (note.place[0], note.place[1], f"(erased) {owner} {len(self.notes)}")
        self.ticks = {place: tick for place, tick in self.ticks.items() if place[2] != owner}

    def _remove(self, note: Note, how: str) -> None:
        self._wrote(note)
        note.removed, note.related, note.conflicts = how, set(), set()

    def consolidated(self, steps: Sequence[Any], dropped: Sequence[Any]) -> None:
        """A clean-up was carried out. Each step must be one that makes sense, and is remembered for its undoing.

        It writes to the streams alone in which there was a step to take, whether or not the step was dropped then.
        """
        self.begin(*{self.notes[step.id].place for step in (*steps, *dropped)})
        if steps:
            self.runs.append([(step.action, step.id, step.other, self._take_step(step)) for step in steps])
        self.committed()

    def _take_step(self, step: Any) -> str | None:
        """Do one step; returns what undoing it needs to know."""
        note = self.notes[step.id]
        assert self.is_live(note) and note.kind not in EVENT_KINDS, f"{step.action} of what is not live"
        self._wrote(note)
        if step.action == "slot":
            return None
        if step.action == "rekey":
            before, note.key = note.key, step.detail.split(" → ")[1]
            assert self.active(note.concept) is note
            return before
        best = self.notes[step.other]
        assert self.is_live(best) and best.concept[:3] == note.concept[:3], f"{step.action} across a border"
        name = "conflicts" if step.action == "conflict" else "related"
        linked = "linked before" if best.id in getattr(note, name) else None
        self._link(note, best, name)
        if step.action == "redundant":
            assert (best.importance, best.order) > (note.importance, note.order), "the better one goes on"
            note.status = "redundant"
        return linked

    def undone(self) -> None:
        """The last clean-up is taken back; :class:`Refusal` if a key that it freed is in use again."""
        self.runs = [run for run in self.runs if any(self.notes[id].removed is None for _, id, _, _ in run)]
        if not self.runs:
            raise Refusal("nothing to undo")
        run = self.runs[-1]
        self.begin(*{self.notes[id].place for _, id, _, _ in run})
        for action, id, other, before in reversed(run):
            if self.notes[id].removed is None:
                self._take_back(action, self.notes[id], other, before)
        self.runs.pop()
        self.committed()

    def _take_back(self, action: str, note: Note, other: str | None, before: str | None) -> None:
        self._wrote(note)
        if action == "slot":
            return
        if action == "rekey":
            assert before is not None
            note.key = before
            return
        assert other is not None
        if action == "redundant" and note.status == "redundant":
            if self.active(note.concept) is not None:
                raise Refusal("the key is taken")
            self._bring_back(note)
        name = "conflicts" if action == "conflict" else "related"
        if before is None:
            getattr(note, name).discard(other)
            getattr(self.notes[other], name).discard(note.id)
