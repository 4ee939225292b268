"""How many versions of a thread are kept, and which ones go."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect.model.canonical import format_time
from recollect.model.errors import BadInput
from recollect.stores.sql.checkpoints import ROOT, GraphVersion

KEEP_LAST = 500
"""Versions of a thread that are kept unless something else is asked for: about a hundred turns of an agent."""
SLACK = 0.05
"""The share by which a limit may be exceeded: giving up many versions at once costs little more than giving up one."""

StoredChannels = Callable[[GraphVersion], set[str]]
"""The channels whose value is stored with a version."""


@dataclass(frozen=True, slots=True)
class Retention:
    """How far back a thread's history goes. The newest version always stays, and ``None`` sets no limit.

    ``keep_last`` counts the versions of the graph, and of each subgraph. ``keep_days`` is their age. Versions are given up
    many at a time, so up to a twentieth more may be there.
    """

    keep_last: int | None = KEEP_LAST
    keep_days: int | None = None

    def __post_init__(self) -> None:
        for name in ("keep_last", "keep_days"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise BadInput("must be a whole number from 1, or None for no limit.", field=name)

    def oldest_moment(self, now: datetime, slack: float = 0.0) -> str:
        """What was saved before this moment may go; the empty text if nothing is too old."""
        if self.keep_days is None:
            return ""
        return format_time(now - timedelta(days=self.keep_days * (1 + slack)))

    def exceeded(self, count: int, oldest: str, now: datetime) -> bool:
        """Whether a namespace with so many versions, the oldest saved then, has enough to give up to be worth it."""
        too_many = self.keep_last is not None and count > self.keep_last + int(self.keep_last * SLACK)
        return count > 1 and (too_many or oldest < self.oldest_moment(now, SLACK))


def outdated(
    versions: Sequence[GraphVersion], keep: Retention, now: datetime, stored: StoredChannels
) -> list[GraphVersion]:
    """The versions of a thread that its retention gives up.

    A subgraph that was called in one step only is of no use once that step is gone, so all of its versions go when the
    oldest version of the graph that is kept is newer. What a kept version is rebuilt from stays.
    """
    kept = [version for ns in _by_namespace(versions) for version in _recent(ns, keep, now)]
    roots = [version.id for version in kept if version.ns == ROOT]
    if roots:
        kept = [version for version in kept if not (_of_one_step(version.ns) and version.id < min(roots))]
    return _others(versions, _with_ancestors(kept, versions, stored))


def all_but_latest(versions: Sequence[GraphVersion], stored: StoredChannels) -> list[GraphVersion]:
    """Every version but the newest of each namespace and what it is rebuilt from."""
    latest = [max(ns, key=lambda version: version.id) for ns in _by_namespace(versions)]
    return _others(versions, _with_ancestors(latest, versions, stored))


def _by_namespace(versions: Iterable[GraphVersion]) -> list[list[GraphVersion]]:
    groups: dict[str, list[GraphVersion]] = {}
    for version in versions:
        groups.setdefault(version.ns, []).append(version)
    return list(groups.values())


def _recent(versions: Sequence[GraphVersion], keep: Retention, now: datetime) -> list[GraphVersion]:
    newest_first = sorted(versions, key=lambda version: version.id, reverse=True)[: keep.keep_last]
    oldest = keep.oldest_moment(now)
    return [version for n, version in enumerate(newest_first) if n == 0 or version.saved_at >= oldest]


def _of_one_step(ns: str) -> bool:
    """Whether a namespace names the task that called the subgraph, as ``node:task`` does, and not the node alone."""
    return ":" in ns


def _with_ancestors(
    kept: Iterable[GraphVersion], versions: Sequence[GraphVersion], stored: StoredChannels
) -> set[tuple[str, str]]:
    """The kept versions and, for channels that are replayed, their ancestors up to one that has the value stored."""
    known = {(version.ns, version.id): version for version in versions}
    keep: set[tuple[str, str]] = set()
    for version in kept:
        keep.add((version.ns, version.id))
        missing = set(version.rebuilt)
        while missing and version.parent_id is not None and (version.ns, version.parent_id) in known:
            version = known[version.ns, version.parent_id]
            keep.add((version.ns, version.id))
            missing -= stored(version)
    return keep


def _others(versions: Iterable[GraphVersion], keep: set[tuple[str, str]]) -> list[GraphVersion]:
    return [version for version in versions if (version.ns, version.id) not in keep]
