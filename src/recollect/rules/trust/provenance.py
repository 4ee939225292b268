"""Find what builds upon what, in which role, and whom a version names; draw the graph."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, NamedTuple, TypeVar

from recollect.model.caller import USER, kind_of, principal, short_name
from recollect.model.rendering import one_line
from recollect.model.vocabulary import SHARED, Space
from recollect.model.vocabulary import Source as WriterSource
from recollect.rules.trust.signers import origin_in

KEPT = Fraction(1, 2)
"""The share of the credit that an author keeps for a memory that builds upon others."""
DUST = Fraction(1, 2**128)
"""A share below this is not divided further: the fractions would grow without end, for no one's gain."""
NOT_FOLLOWED = ""
"""The key of the credit beyond the end of a walk; no author has it."""
UNRESOLVED = "sha256:"
"""The prefix of the key of a parent that is unknown, or hidden from the caller."""

ERASED = "erased:"
"""The prefix of the key of an erased parent; the rest reveals nothing, and is the same each time it is shown."""

MADE_BY = "proposal"
"""The key in ``meta`` of the model's proposal that a memory came from; such a memory is erased with its sources."""

Record = TypeVar("Record")
Key = TypeVar("Key", bound=Hashable)


def find_referenced(child_at: Any, records: Iterable[tuple[Any, Record]]) -> Record | None:
    """Return which of the records with one hash a child refers to: the latest before it, else the first after it."""
    in_order = sorted(records, key=lambda one: one[0])
    older = [record for at, record in in_order if at < child_at]
    younger = [record for at, record in in_order if at > child_at]
    return older[-1] if older else younger[0] if younger else None


class Circle(NamedTuple, Generic[Key]):
    """The first eight nodes of a cycle after the one that closes it, each the parent of the one before."""

    nodes: tuple[Key, ...]
    size: int


def on_a_cycle(parents: Mapping[Key, Sequence[Key]]) -> list[Key]:
    """Return some nodes of each cycle, in the order given; none if there is no cycle.

    >>> on_a_cycle({"a": ["b"], "b": ["c"], "c": []})
    []
    >>> on_a_cycle({"a": ["b"], "b": ["a"]})
    ['b']
    """
    return list(circles(parents))


def circles(parents: Mapping[Key, Sequence[Key]]) -> dict[Key, Circle[Key]]:
    """Return each cycle by the node that closes it, from the closing parent back to the node itself.

    >>> circles({"a": ["b"], "b": ["c"], "c": ["a"]})
    {'c': Circle(nodes=('a', 'b', 'c'), size=3)}
    """
    done: set[Key] = set()
    found: dict[Key, Circle[Key]] = {}
    for start in parents:
        if start in done:
            continue
        path, depths = [(start, iter(parents[start]))], {start: 0}
        while path:
            node, rest = path[-1]
            parent = next(rest, None)
            if parent is None:
                path.pop()
                del depths[node]
                done.add(node)
            elif parent in depths:
                first, size = depths[parent], len(path) - depths[parent]
                nodes = tuple(node_on_path for node_on_path, _ in path[first : first + 8])
                found.setdefault(node, Circle(nodes, size))
            elif parent not in done and parent in parents:
                depths[parent] = len(path)
                path.append((parent, iter(parents[parent])))
    return found


class Source(NamedTuple):
    """A memory in a graph of provenance. An unknown or hidden one is only its hash.

    An erased one has not even a hash.
    """

    key: str
    content_hash: str
    id: str | None = None
    author: str | None = None
    at: str | None = None
    status: str | None = None
    content: str | None = None
    vouchers: int = 0

    @property
    def resolved(self) -> bool:
        return self.id is not None

    def to_dict(self) -> dict[str, Any]:
        known = {name: value for name, value in self._asdict().items() if value not in (None, "") and name != "key"}
        return {**known, "resolved": self.resolved}


def unresolved_source(content_hash: str) -> Source:
    return Source(UNRESOLVED + content_hash, content_hash)


def erased_source(seal: str) -> Source:
    """Return an erased parent by the seal that it left behind: that it existed still counts."""
    return Source(ERASED + seal, "")


@dataclass(frozen=True, slots=True)
class Lineage:
    """A part of the graph: the memory asked about, everything reached from there, and what builds upon what.

    ``parents`` holds the keys of what each memory builds upon, in its own order. ``towards`` is the direction of the
    walk. ``unfollowed`` are memories that build upon more than one answer holds.
    """

    root: str
    towards: str
    sources: dict[str, Source]
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unfollowed: frozenset[str] = frozenset()

    @property
    def truncated(self) -> bool:
        """Whether there was more than one answer holds."""
        return bool(self.unfollowed)

    @property
    def next(self) -> dict[str, tuple[str, ...]]:
        """For each memory, those one step further from the root."""
        if self.towards == "ancestors":
            return self.parents
        children: dict[str, list[str]] = {key: [] for key in self.sources}
        for child, parents in self.parents.items():
            for parent in parents:
                children.setdefault(parent, []).append(child)
        return {key: tuple(found) for key, found in children.items()}

    def distances(self) -> dict[str, int]:
        """Return the distance of each memory from the root, nearest first, without the root."""
        steps, level, following = {self.root: 0}, [self.root], self.next
        while level:
            further = dict.fromkeys(key for near in level for key in following.get(near, ()) if key not in steps)
            steps |= dict.fromkeys(further, steps[level[0]] + 1)
            level = list(further)
        return {key: distance for key, distance in steps.items() if key != self.root}

    def to_dict(self) -> dict[str, Any]:
        return {
            "root": self.sources[self.root].to_dict(),
            self.towards: [
                {**self.sources[key].to_dict(), "distance": distance} for key, distance in self.distances().items()
            ],
            "edges": [list(edge) for edge in _edges(self)],
            "truncated": self.truncated,
        }


def find_common(one: Lineage, other: Lineage) -> list[tuple[Source, int, int]]:
    """Return the common sources of two memories, themselves included, with both distances; nearest first."""
    of_one, of_other = {one.root: 0, **one.distances()}, {other.root: 0, **other.distances()}
    shared = [(one.sources[key], of_one[key], of_other[key]) for key in of_one if key in of_other]
    return sorted(shared, key=lambda found: (found[1] + found[2], found[0].at or "", found[0].key))


def credit(lineage: Lineage) -> dict[str, Fraction]:
    """Return each author's share of the credit for a memory. The shares add up to exactly 1.

    The author of something new has all the credit. The author of a memory that builds upon others keeps half, and the
    other half is divided equally among its parents by the same rule. An unknown source is credited under its hash and
    an erased one under its seal, so that hiding a source gains nothing. Where the graph was not followed further, the
    half that is not kept is credited to ``NOT_FOLLOWED``, so that padding the graph gains nothing either. A share below
    ``DUST`` is not divided. A memory reached before is not followed round a cycle.
    """
    order = {key: place for place, key in enumerate(_sort_parents_first(lineage))}
    to_share: dict[str, Fraction] = {lineage.root: Fraction(1)}
    shares: dict[str, Fraction] = {}
    for key in reversed(order):
        source, amount = lineage.sources[key], to_share.get(key, Fraction(0))
        divided = lineage.parents.get(key, ()) if amount >= DUST else ()
        parents = [parent_key for parent_key in divided if order[parent_key] < order[key]]
        who, followed = source.author or source.key, key not in lineage.unfollowed or amount < DUST
        shares[who] = shares.get(who, Fraction(0)) + (amount if followed and not parents else KEPT * amount)
        if not followed:
            shares[NOT_FOLLOWED] = shares.get(NOT_FOLLOWED, Fraction(0)) + (1 - KEPT) * amount
        for parent in parents:
            to_share[parent] = to_share.get(parent, Fraction(0)) + (1 - KEPT) * amount / len(parents)
    return dict(sorted(((who, share) for who, share in shares.items() if share), key=lambda one: (-one[1], one[0])))


def _sort_parents_first(lineage: Lineage) -> list[str]:
    """Return everything that the root builds upon, parents before children; then the root."""
    order: list[str] = []
    seen = {lineage.root}
    path = [(lineage.root, iter(lineage.parents.get(lineage.root, ())))]
    while path:
        key, rest = path[-1]
        parent = next(rest, None)
        if parent is None:
            path.pop()
            order.append(key)
        elif parent not in seen:
            seen.add(parent)
            path.append((parent, iter(lineage.parents.get(parent, ()))))
    return order


LABEL = 48
"""How many characters of a memory's words a drawing shows."""


def label(source: Source) -> str:
    """Return a memory in one line: its author and the beginning of its words, or the hash of an unknown one."""
    if source.key.startswith(ERASED):
        return "erased"
    if not source.resolved:
        return f"unresolved {source.content_hash[:12]}"
    return f"{one_line(short_name(source.author or ''))}: {one_line(source.content or '', LABEL)}"


def to_dot(lineage: Lineage) -> str:
    """Return the graph for Graphviz: an arrow leads from each memory to what it builds upon."""
    names = {key: f"m{number}" for number, key in enumerate(lineage.sources)}
    lines = ["digraph provenance {", "  rankdir=BT;", '  node [shape=box, fontname="sans-serif"];']
    for key, source in lineage.sources.items():
        style = "" if source.resolved else ", style=dashed"
        text = label(source).replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'  {names[key]} [label="{text}"{style}];')
    lines += [f"  {names[child]} -> {names[parent]};" for child, parent in _edges(lineage)]
    return "\n".join([*lines, "}", ""])


def to_mermaid(lineage: Lineage) -> str:
    """Return the graph for Mermaid, as documentation pages draw it."""
    names = {key: f"m{number}" for number, key in enumerate(lineage.sources)}
    lines = ["graph BT"]
    for key, source in lineage.sources.items():
        opened, closed = ('["', '"]') if source.resolved else ('(["', '"])')
        lines.append(f"  {names[key]}{opened}{_mermaid_text(label(source))}{closed}")
    lines += [f"  {names[child]} --> {names[parent]}" for child, parent in _edges(lineage)]
    return "\n".join([*lines, ""])


def _edges(lineage: Lineage) -> list[tuple[str, str]]:
    return [(child, parent) for child, parents in lineage.parents.items() for parent in parents]


def _mermaid_text(text: str) -> str:
    """Return text with everything that Mermaid or a browser could read as markup as a numbered character."""
    return "".join(c if c.isalnum() or c in " .,:;-_…" else f"#{ord(c)};" for c in text)


class Branch(NamedTuple):
    """A node of the graph drawn as a tree; ``again`` if it is drawn in full elsewhere."""

    source: Source
    branches: tuple["Branch", ...]
    again: bool = False


def as_tree(lineage: Lineage) -> Branch:
    """Return the graph as a tree from its root. A node reached several times is drawn in full once."""
    drawn: set[str] = set()
    following = lineage.next

    def branch(key: str, depth: int) -> Branch:
        if key in drawn or depth > MAX_DEPTH:
            return Branch(lineage.sources[key], (), again=True)
        drawn.add(key)
        return Branch(lineage.sources[key], tuple(branch(further, depth + 1) for further in following.get(key, ())))

    return branch(lineage.root, 0)


MAX_DEPTH = 200
"""How deep a tree is drawn; deeper, a terminal shows nothing but its margin."""

BUILT_UPON = "built_upon"
"""It names the other's content hash among its parents."""
PROMOTED = "promoted"
"""It is the other's words, promoted to another space."""
SUMMARY = "summary"
"""It summarises the other, among others."""
TAKEN_FROM = "taken_from"
"""It was extracted from the other, a line of a conversation."""

_ROLES = {"promoted_from": PROMOTED, "summary_of": SUMMARY, "source_turn_ids": TAKEN_FROM}


def made_of(body: Mapping[str, Any], parents: Collection[str], ids: Collection[str]) -> tuple[str, ...]:
    """Return how a version was made of the memories with these ids, given which of its parents they are.

    >>> made_of({"meta": {"promoted_from": "a", "summary_of": ["b", "c"]}}, [], {"a", "c"})
    ('promoted', 'summary')
    >>> made_of({"parent_refs": ["f00d"]}, ["f00d"], {"a"})
    ('built_upon',)
    """
    meta = body.get("meta", {})
    roles = tuple(role for name, role in _ROLES.items() if any(id in ids for id in _ids_in(meta.get(name))))
    return (BUILT_UPON, *roles) if parents else roles


def sources_named(body: Mapping[str, Any]) -> list[str]:
    """Return the ids of memories whose words a version claims to hold: lines of a conversation, a promoted memory."""
    meta = body.get("meta", {})
    return [id for name in ("promoted_from", "source_turn_ids") for id in _ids_in(meta.get(name))]


def holds_words_of(body: Mapping[str, Any], source: Mapping[str, Any]) -> bool:
    """Return whether a version holds the words of a memory it names: the same words, or a line of the same person.

    Any caller may write ids into ``meta``: naming another's memory does not make it a source.

    >>> mine = {"content_hash": "a", "space": "user", "owner": "ana", "user_id": "ana"}
    >>> line = {"content_hash": "b", "space": "session", "owner": "s1", "user_id": "ana"}
    >>> holds_words_of(mine, line), holds_words_of(mine, line | {"user_id": "ben"})
    (True, False)
    """
    if source.get("content_hash") == body.get("content_hash"):
        return True
    return source.get("space") == Space.SESSION and _person(source) == _person(body)


def _person(body: Mapping[str, Any]) -> str | None:
    return body.get("user_id") or (body.get("owner") if body.get("space") == Space.USER else None)


def _ids_in(value: Any) -> Collection[str]:
    """Return the ids in a field, which is one id or a list; a value of another type names none."""
    listed = value if isinstance(value, list) else [value]
    return [id for id in listed if isinstance(id, str)]


Body = Mapping[str, Any]

WRITTEN_FOR = "written_for"
"""Another person, or an agent, wrote it on their behalf."""
ACTED = "acted"
"""They are named as the actor, or as the tool, of what it reports."""
AGENT = "agent"
"""An agent, a model or a tool of their name wrote it, or it is private to one."""
VOUCHED = "vouched"
"""They vouched for it where it was imported from."""
THREAD = "thread"
"""The thread or the run in which it was written has their name."""
ROLES = frozenset({WRITTEN_FOR, ACTED, AGENT, VOUCHED, THREAD})
LISTED_ONLY = frozenset({AGENT, VOUCHED, THREAD})
"""Roles in a memory that is entirely another's; nothing is decided about it."""
NOBODY = frozenset({"application", "assistant", SHARED})
"""Authors and scopes without a name: erasing an owner with such a name must not remove everything."""
_MACHINES = (WriterSource.AGENT, WriterSource.TOOL)


def is_theirs(body: Body, name: str) -> bool:
    """Return whether the words are a person's own, in any stream: written or said by them or, in a session, the answers
    too.

    ``name`` is the person's. An author with a kind is compared whole, so that no agent or tool of that name counts; an
    author without a kind, from a file or an application, may be the person, unless a machine wrote it.

    >>> is_theirs({"space": "project", "source": "import", "author": {"id": "a1", "name": "ana"}}, "ana")
    True
    >>> is_theirs({"space": "project", "source": "import", "author": {"id": "agent:ana", "name": "ana"}}, "ana")
    False
    >>> is_theirs({"space": "project", "source": "agent", "author": {"id": "planner"}, "user_id": "ana"}, "ana")
    False
    """
    speaker = body.get("actor_id") or body.get("user_id")
    if body["source"] == WriterSource.USER and speaker == name:
        return True
    if body["space"] == Space.SESSION and body.get("user_id") == name:
        return True
    return _is_author(body, name)


def roles_of(body: Body, later_vouchers: Iterable[Body], name: str) -> tuple[str, ...]:
    """Return the roles in which a version that is not theirs names a person. ``later_vouchers`` were imported later.

    >>> roles_of({"space": "project", "source": "agent", "user_id": "ana", "agent_id": "planner"}, [], "ana")
    ('written_for',)
    """
    return tuple(role for role, holds in _roles(body, later_vouchers, name) if holds)


def _roles(body: Body, later_vouchers: Iterable[Body], name: str) -> Iterator[tuple[str, bool]]:
    acted = name == body.get("actor_id")
    by_person = body["source"] != WriterSource.TOOL and body.get("role") not in ("tool", "assistant")
    yield WRITTEN_FOR, name == body.get("user_id")
    yield ACTED, acted and by_person
    yield AGENT, (acted and not by_person) or _is_an_agents_name(body, name)
    yield THREAD, name in (body.get("thread_id"), body.get("run_id"))
    yield VOUCHED, any(_is_named(voucher, name) for voucher in (*_vouchers(body), *later_vouchers))


def _is_author(body: Body, name: str) -> bool:
    """Return whether a person of this name is credited: as ``user:NAME``, or without a kind and not by a machine."""
    author = body.get("author", {})
    if kind_of(str(author.get("id", ""))) is not None:
        return bool(author["id"] == principal(USER, name))
    by_agent = body["source"] in _MACHINES or body.get("agent_id") == name
    return name in (author.get("id"), author.get("name")) and name not in NOBODY and not by_agent


def _is_an_agents_name(body: Body, name: str) -> bool:
    author = body.get("author", {})
    named = (author.get("name"), short_name(str(author.get("id", ""))), body.get("agent_id"), body.get("scope"))
    return name in named and name not in NOBODY


def _is_named(voucher: Body, name: str) -> bool:
    return name in (voucher.get("id"), voucher.get("name")) or voucher.get("id") == principal(USER, name)


def _vouchers(body: Body) -> list[Body]:
    """Return the vouchers from the memory's origin; a value of another shape vouches for nothing."""
    found = origin_in(body).get("vouchers")
    return [voucher for voucher in found if isinstance(voucher, Mapping)] if isinstance(found, list) else []
