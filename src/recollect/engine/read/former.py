"""Find a memory by what it took the place of.

"Pipelines run in GitHub Actions, CircleCI is gone" hardly answers what the CI system is, but the memory that it replaced
did. So a superseded version that is near a question speaks for the active one of its chain: its cosine, its words and
its terms count as that one's own where they are nearer. Nothing of it is told, and nothing is stored for it.
"""

from collections.abc import Iterable, Mapping, Sequence

from recollect.engine.read.meaning import Likeness
from recollect.rules.language.text import terms
from recollect.stores.protocol import Place, Reader


class Former:
    """The superseded versions near a question, by the active memory that took their place."""

    def __init__(self, reader: Reader, tenant: str, near: Sequence[Place]) -> None:
        live_versions = reader.live_versions(tenant, near)
        self.contents = reader.contents(tenant, sorted(live_versions)) if live_versions else {}
        """What they say."""
        self._of: dict[Place, list[Place]] = {}
        for superseded in sorted(self.contents):
            self._of.setdefault(live_versions[superseded], []).append(superseded)

    @property
    def successors(self) -> Sequence[Place]:
        """The active memories that took their place."""
        return list(self._of)

    def with_own(self, place: Place) -> Sequence[Place]:
        """Return a memory, followed by those whose place it took."""
        return place, *self._of.get(place, ())

    def terms(self, place: Place) -> frozenset[str]:
        """Return the index terms of those whose place a memory took."""
        return frozenset(term for former in self._of.get(place, ()) for term in terms(self.contents[former]))

    def cosines(self, meaning: Likeness, places: Iterable[Place]) -> dict[Place, float]:
        """Return the cosine of each memory that has a vector, or that of a nearer one whose place it took."""
        versions = {place: self.with_own(place) for place in places}
        found = meaning.cosines([*dict.fromkeys(one for each in versions.values() for one in each)])
        known = {place: [found[one] for one in each if one in found] for place, each in versions.items()}
        return {place: max(likes) for place, likes in known.items() if likes}

    def nearest(self, shares: Mapping[str, Mapping[Place, float]], places: Iterable[Place]) -> dict[Place, Place]:
        """Return for each memory whose words are nearest to the question: its own, or of one whose place it took.

        ``shares`` says what each word of the question adds to each of them.
        """
        return {
            place: max(self.with_own(place), key=lambda one: sum(of_word.get(one, 0.0) for of_word in shares.values()))
            for place in places
        }
