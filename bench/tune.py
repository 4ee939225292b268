"""Choose the weights of the ranking by cross-validation over sets, and the curve from support to confidence.

    python bench/tune.py --data DIR                each weight searched on all sets but one, and judged on that one
    python bench/tune.py --data DIR --confidence   the curve, fitted on all sets but one and judged on that one

Every question is asked once, with every weight at 1; what each feature would add under other weights follows from the
breakdown. So a search takes seconds, but only weights are searched: what is looked at, and in which order linked memories are
told, is measured by `recall.py`. A feature earns its place if it helps on sets that it was not made for. Every set counts alike.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from figures import print_table
from recall.measures import Answer
from recall.stored import OWNER, Told, load, options
from recollect.embed import EmbedderSettings, embedder_named
from recollect.model.policy import Ranking
from recollect.rules.ranking import selection

WEIGHTS = [n for n, known in Ranking.model_fields.items() if known.annotation is float and n != "meaning_min"]
STEPS = (0.0, 0.25, 0.5, 0.75, 1.25, 1.5, 2.0)
"""By what each weight is multiplied in a search."""
ROUNDS = 2
RIGHT_IN = 5
TELLING = 10
"""How many questions without an answer a set must have to tell what confidence is worth."""

Weighed = Mapping[str, float]
Vector = NDArray[np.float64]


class Case(NamedTuple):
    """A question's candidates: what each feature says of them, unweighted, and which are right, out of how many."""

    features: NDArray[np.float64]
    right: NDArray[np.bool_]
    wanted: int


def cases(told: Told) -> list[Case]:
    """Every question of a set, asked with every weight at 1."""
    raw = {name: -1.0 if Ranking.model_fields[name].default < 0 else 1.0 for name in WEIGHTS}
    found = []
    for conversation, _, filled in told:
        mem = filled.under(ranking={**raw, "newest_first": False, "meaning_min": 0.0}, recall={"confidence_min": 0.0})
        for question in conversation.questions:
            items = mem.query(question.text, owner=OWNER, top_k=50).items
            each = [[item.breakdown.get(name, 0.0) / raw[name] for name in WEIGHTS] for item in items]
            right = [filled.ids[item.memory.id] in question.gold for item in items]
            shape = (len(items), len(WEIGHTS))
            found.append(Case(np.array(each).reshape(shape), np.array(right, dtype=bool), len(question.gold)))
    return found


def figure(of_set: Sequence[Case], weights: Weighed) -> float:
    """The mean of right first, right in five and R@10."""
    by = np.array([weights[name] for name in WEIGHTS])
    total = 0.0
    for case in of_set:
        ranked = case.right[np.argsort(-(case.features @ by).round(6), kind="stable")][:10]
        total += float(ranked[:1].any()) + float(ranked[:RIGHT_IN].any()) + ranked.sum() / case.wanted
    return total / (3 * len(of_set))


def macro(sets: Mapping[str, Sequence[Case]], weights: Weighed) -> float:
    return sum(figure(of_set, weights) for of_set in sets.values()) / len(sets)


def searched(sets: Mapping[str, Sequence[Case]], start: Weighed) -> dict[str, float]:
    """The best weights that are found by changing one at a time, text aside, which is the yardstick."""
    best = dict(start)
    for _ in range(ROUNDS):
        for name in WEIGHTS:
            if name != "text" and start[name]:
                tried = [{**best, name: start[name] * step} for step in (1.0, *STEPS)]
                best = max([best, *tried], key=lambda weights: macro(sets, weights))
    return best


def print_weights(sets: Mapping[str, Sequence[Case]]) -> None:
    defaults = {name: float(Ranking.model_fields[name].default) for name in WEIGHTS}
    rows = []
    for name in sets:
        others = {other: of for other, of in sets.items() if other != name}
        found = searched(others, defaults)
        moved = ", ".join(f"{n} {v:g}" for n, v in found.items() if v != defaults[n])
        rows.append((name, f"{figure(sets[name], defaults):.3f}", f"{figure(sets[name], found):.3f}", moved))
    print_table("Weights searched on all sets but one, judged on that one", ("", "default", "searched", "moved"), rows)
    rows = []
    for name in WEIGHTS:
        off = {**defaults, name: 0.0}
        worth = {of: figure(cases, defaults) - figure(cases, off) for of, cases in sets.items()}
        rows.append((name, *(f"{value:+.3f}" for value in worth.values()), f"{sum(worth.values()) / len(worth):+.3f}"))
    print_table("What each feature adds, by set", ("", *(name[-12:] for name in sets), "macro"), rows)
    print(f"\nMacro average of right first, in five and R@10: {macro(sets, defaults):.4f}")


class Judged(NamedTuple):
    """The support of an answer to each question of a set, whether a right memory is among five, and whether there is one."""

    support: Vector
    right: NDArray[np.bool_]
    answerable: NDArray[np.bool_]


def judged(told: Told) -> Judged:
    rows = []
    for conversation, _, filled in told:
        mem = filled.under(recall={"confidence_min": 0.0})
        for question in conversation.asked:
            answer: Answer = filled.answer(question, mem)
            right = not question.gold.isdisjoint(answer.ranking[:RIGHT_IN])
            rows.append((_support(answer.confidence), right, bool(question.gold)))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Judged(columns[0].astype(float), columns[1].astype(bool), columns[2].astype(bool))


def _support(sure: float) -> float:
    """What the curve made this confidence of."""
    bounded = min(max(sure, 0.001), 0.999)
    return (math.log(bounded / (1 - bounded)) - selection.AT_NOTHING) / selection.PER_SUPPORT


def curve(sets: Sequence[Judged]) -> tuple[float, float]:
    """The logistic curve from support to how often a right memory is among five; every set counts alike."""
    support = np.concatenate([one.support for one in sets])
    right = np.concatenate([one.right for one in sets]).astype(float)
    weight = np.concatenate([np.full(len(one.support), 1 / len(one.support)) for one in sets])
    x = np.stack([np.ones_like(support), support])
    at = np.zeros(2)
    for _ in range(50):  # Newton's method
        p = 1 / (1 + np.exp(-(at @ x)))
        slope = x @ (weight * (right - p)) - 1e-6 * at
        bend = (x * (weight * p * (1 - p))) @ x.T + 1e-6 * np.eye(2)
        at = at + np.linalg.solve(bend, slope)
    return float(at[0]), float(at[1])


def print_confidence(sets: Mapping[str, Judged]) -> None:
    """The curve fitted on all, how it does on sets that it was not fitted on, and what each least confidence costs."""
    telling = {name: one for name, one in sets.items() if (~one.answerable).sum() >= TELLING}
    fitted = curve(list(telling.values()))
    print(
        f"\nThe curve, over sets that have questions without an answer: AT_NOTHING {fitted[0]:.2f}, PER_SUPPORT {fitted[1]:.2f}"
    )
    rows, sure = [], {}
    for name, one in sets.items():
        others = [of for other, of in telling.items() if other != name]
        base, per = curve(others) if others else fitted
        sure[name] = 1 / (1 + np.exp(-(base + per * one.support)))
        said, was = float(sure[name].mean()), float(one.right.mean())
        apart = _chance(sure[name][one.right], sure[name][~one.answerable])
        rows.append((name, f"{said:.2f}", f"{was:.2f}", apart))
    header = ("", "said", "was right", "AUC, unanswerable")
    print_table("Confidence, fitted on all sets but the one that is judged", header, rows)
    rows = [_at(least, sets, sure) for least in (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)]
    header = ("least", *(f"{name[-12:]} {what}" for name in sets for what in ("lost", "silent")))
    print_table("Of a least confidence: right-in-five lost, and unanswerable questions left unanswered", header, rows)


def _chance(of_right: Vector, of_none: Vector) -> str:
    """How often a right answer is surer than one to a question that has none."""
    if not len(of_right) or not len(of_none):
        return ""
    over = (of_right[:, None] > of_none[None]).mean() + 0.5 * (of_right[:, None] == of_none[None]).mean()
    return f"{over:.2f}"


def _at(least: float, sets: Mapping[str, Judged], sure: Mapping[str, Vector]) -> tuple[str, ...]:
    cells = []
    for name, one in sets.items():
        low = sure[name] < least
        cells.append(f"{(one.right & low).sum() / max(one.answerable.sum(), 1):.3f}")
        none = ~one.answerable
        cells.append(f"{(none & low).sum()}/{none.sum()}" if none.any() else "")
    return f"{least:.2f}", *cells


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--confidence", action="store_true", help="the curve from support to confidence instead")
    given = parser.parse_args()
    data: Path = given.data
    loaded = load(data, embedder_named(EmbedderSettings(name=given.embedder)), given.only)
    if given.confidence:
        print_confidence({name: judged(told) for name, told in loaded.items()})
    else:
        print_weights({name: cases(told) for name, told in loaded.items()})


if __name__ == "__main__":
    main()
