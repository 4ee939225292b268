"""One scale for every model's cosines, so that a setting such as ``ranking.meaning_min`` means the same whoever made the vectors.

Many models find any two texts alike: 0.7 where others say 0. On such cosines a threshold of 0.4 leaves nothing out and
everything is related to everything. So each model is shown the same few pairs of texts, and its cosines are stretched to
where the static embedder's lie, for which the settings were measured. Their order stays.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.embed.protocol import Embedder, Vectors

    Cosines = NDArray[np.float64]

LEAST_APART = 0.05
"""A model that tells texts apart less than this is taken as it is: there is nothing to stretch."""
DIGITS = 2
"""So few that what a server changes in its last digits changes no scale."""

ALIKE: tuple[tuple[str, str], ...] = (
    ("Where does Ana live?", "Ana has an apartment in Lisbon"),
    ("What is Ben allergic to?", "Ben cannot eat peanuts"),
    ("When is the release?", "We ship version two on Friday"),
    ("Who is my manager?", "I report to Carla Jensen"),
    ("What car does Tom drive?", "Tom bought an electric Volvo"),
    ("What did the doctor say?", "My blood pressure is a little too high"),
    ("Which database do we use?", "All data is kept in PostgreSQL"),
    ("How do I get to work?", "I cycle to the office every morning"),
    ("How much is the rent?", "The flat costs 1,200 euros a month"),
    ("What music does Lea like?", "Lea listens to jazz all day"),
    ("Where did we go on holiday?", "Last summer we camped in Norway"),
    ("What should be done before a deploy?", "Run all tests and back up the data first"),
    ("I moved to Berlin last year", "Since last year my home is Berlin"),
    ("The server ran out of memory", "There was no RAM left on the machine"),
    ("Please write short answers", "Keep your replies brief"),
    ("He quit his job at the bank", "He no longer works for the bank"),
    ("The invoice was paid", "We received the money for the bill"),
    ("My daughter plays the violin", "My girl is a violinist"),
    ("I do not drink coffee", "I never have any coffee"),
    ("The garden needs water", "Somebody has to water the plants"),
    ("They got married in June", "Their wedding was in June"),
    ("He is afraid of dogs", "Dogs frighten him"),
    ("The budget was cut by half", "We have only half of the money now"),
    ("I run five kilometres a day", "Each day I jog for five kilometres"),
)
"""Questions with their answers and statements in other words. Each has nothing to do with any other pair."""


class Scale(NamedTuple):
    """Where a model's cosines lie: those of texts that have nothing, and those of texts that have much, to do with each other."""

    unrelated: float
    related: float

    def on_ours(self, cosines: "Cosines") -> "Cosines":
        """Return what the static embedder would mean by them."""
        import numpy as np

        if self == OURS:
            return cosines
        return np.interp(cosines, (-1.0, *self, 1.0), (-1.0, *OURS, 1.0))


OURS = Scale(0.05, 0.47)
"""The static embedder's, in which the settings are given."""


def measured(embed: "Callable[[Sequence[str]], Vectors]") -> Scale:
    """Measure the scale of a model whose vectors have length 1: the medians over pairs that mean alike, and over all others."""
    import numpy as np

    vectors = embed([text for pair in ALIKE for text in pair]).astype(np.float64)
    cosines = vectors[::2] @ vectors[1::2].T
    alike = np.eye(len(ALIKE), dtype=bool)
    found = Scale(*(round(float(np.median(cosines[which])), DIGITS) for which in (~alike, alike)))
    return found if found.related - found.unrelated >= LEAST_APART else OURS


def scale_of(embedder: "Embedder") -> Scale:
    """Return the one that an embedder says it has; ours, if it says nothing."""
    return Scale(*getattr(embedder, "scale", None) or OURS)
