"""Weigh vouches: a vouch weighs as much as the trust that flows to the voucher from the trusted seeds.

A vouch for a memory says that its author can be relied upon, so vouches form a graph of trust. The weight of the
vouches for one memory is the maximum flow from the *seeds* (the caller, and the names in the policy) through that graph
to the memory. A seed's own word counts 1; any other voucher passes on, in total, no more than it is trusted itself,
which is a fixed fraction of 1 for each step away from a seed.

A thousand identities of one actor add nothing. All trust that reaches them passes through the few that an honest
voucher vouched for, and by the min-cut theorem the flow is no greater than what those few may pass on. Symmetric
measures, such as counting or plain PageRank, cannot have that property; flows from a chosen source can (Cheng and
Friedman, "Sybilproof Reputation Mechanisms", 2005; Levien and Aiken, "Attack-Resistant Trust Metrics for Public Key
Certification", 1998).
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

UNITS = 1_000_000
"""Trust is counted in whole millionths, so that no rounding decides an order."""
ENOUGH = 3
"""The number of whole vouches beyond which another makes no difference to ranking."""


class Vouch(NamedTuple):
    """A voucher of a memory, and their confidence."""

    voucher: str
    confidence: float = 1.0


Graph = Mapping[str, Iterable[str]]
"""For each identity, the identities whose memories it vouches for."""


def capacities(graph: Graph, seeds: Iterable[str], passed_on: float, max_steps: int) -> dict[str, int]:
    """Return what each identity may pass on, in millionths, by its distance from the nearest seed."""
    found = dict.fromkeys(seeds, UNITS)
    level = list(found)
    for step in range(1, max_steps + 1):
        amount = round(UNITS * passed_on**step)
        level = list(
            dict.fromkeys(identity for near in level for identity in graph.get(near, ()) if identity not in found)
        )
        found |= dict.fromkeys(level, amount)
    return found


def weight(
    vouches: Iterable[Vouch],
    graph: Graph,
    seeds: Iterable[str],
    *,
    passed_on: float = 0.5,
    max_steps: int = 3,
    enough: float = ENOUGH,
) -> float:
    """Return the weight of all vouches for one memory: 1 is the full word of one seed, and ``enough`` is the maximum.

    >>> trust = {"ana": ["ben"], "ben": ["cat"], "cat": ["sock1", "sock2", "sock3"]}
    >>> weight([Vouch("ben")], trust, seeds=["ana"])
    0.5
    >>> weight([Vouch("cat")], trust, seeds=["ana"])
    0.25
    >>> weight([Vouch("sock1"), Vouch("sock2"), Vouch("sock3"), Vouch("cat")], trust, seeds=["ana"])
    0.25
    """
    seeds = list(dict.fromkeys(seeds))
    most = capacities(graph, seeds, passed_on, max_steps)
    net = _Net()
    for name, amount in most.items():
        net.add((name, "in"), (name, "out"), amount)
    for name in seeds:
        net.add(_SOURCE, (name, "out"), round(enough * UNITS))
    for name in most:
        for other in dict.fromkeys(graph.get(name, ())):
            if other in most and other != name:
                net.add((name, "out"), (other, "in"), UNITS)
    for vouch in dict.fromkeys(vouches):
        if vouch.voucher in most:
            net.add((vouch.voucher, "out"), _MEMORY, round(UNITS * vouch.confidence))
    return net.flow(_SOURCE, _MEMORY, round(enough * UNITS)) / UNITS


def weighs_nothing(
    confidence: float, signed: str | None, counts: bool, seeds: Sequence[str], *, imported: bool = False
) -> str:
    """Explain why a vouch weighs nothing, and what would give it weight. ``signed`` is what its signature is worth.

    >>> weighs_nothing(1.0, None, True, ())
    'nobody is relied upon here: ask as an agent or a user, or name whom you rely upon in the policy (trust.seeds)'
    """
    if not counts and signed is None and imported:
        return "it came with an import and is not signed: vouch for it here, or import it signed with a registered key"
    if not counts and signed is None:
        return "it is not signed, and the policy counts only what is (trust.signed_only): vouch anew, signed"
    if not counts:
        return f"the key that signed it is {signed}: vouch anew, with a key that counts"
    if not confidence:
        return "its confidence is 0"
    if not seeds:
        return "nobody is relied upon here: ask as an agent or a user, or name whom you rely upon in the policy (trust.seeds)"
    reached = "one of those vouches for a memory of theirs, or the policy names them (trust.seeds)"
    return f"no chain of vouches leads to them from whoever is relied upon here ({', '.join(seeds)}); it counts once {reached}"


Node = tuple[str, str]
_SOURCE: Node = ("", "source")
_MEMORY: Node = ("", "memory")


class _Net:
    """A flow network with residual capacities; flow is sent along the shortest paths (Edmonds and Karp)."""

    def __init__(self) -> None:
        self._left: dict[Node, dict[Node, int]] = {}

    def add(self, start: Node, end: Node, amount: int) -> None:
        edges = self._left.setdefault(start, {})
        edges[end] = edges.get(end, 0) + amount
        self._left.setdefault(end, {}).setdefault(start, 0)

    def flow(self, start: Node, end: Node, enough: int) -> int:
        """Return the maximum flow from one node to another, at most ``enough``."""
        sent = 0
        while sent < enough and (way := self._shortest(start, end)):
            amount = min(enough - sent, *(self._left[a][b] for a, b in way))
            for a, b in way:
                self._left[a][b] -= amount
                self._left[b][a] += amount
            sent += amount
        return sent

    def _shortest(self, start: Node, end: Node) -> list[tuple[Node, Node]]:
        came_from: dict[Node, Node] = {start: start}
        waiting = deque([start])
        while waiting and end not in came_from:
            node = waiting.popleft()
            for other, left in self._left.get(node, {}).items():
                if left > 0 and other not in came_from:
                    came_from[other] = node
                    waiting.append(other)
        if end not in came_from:
            return []
        way = [end]
        while way[-1] != start:
            way.append(came_from[way[-1]])
        way.reverse()
        return list(pairwise(way))
