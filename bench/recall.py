"""How well questions find the memories that answer them, on every set that a folder holds, side by side.

    python bench/recall.py --data DIR                  by set, beside FTS5, cosine alone, and BM25 and cosine simply added
    python bench/recall.py --data DIR --kinds          also by kind of question
    python bench/recall.py --data DIR --ablation       also with each feature off in turn
    python bench/recall.py --data DIR --embedder none  by words alone; or minilm, which takes some minutes
    python bench/recall.py --data DIR --only weeks     only the sets whose name has this in it

Each conversation, week or scope is a real store of its own, told through `add` and asked through `query`. The plain rankings
see the same texts and the same vectors. `bench/README.md` says where the sets come from, and `tune.py` how weights are chosen.
"""

import time
from collections.abc import Mapping, Sequence

from figures import percentile, print_table
from recall import rankers, sets
from recall.index import Index
from recall.measures import Answer, Figures, average, mean, newer_first
from recall.stored import Told, load, options
from recollect.embed import EmbedderSettings, embedder_named
from recollect.model.policy import Ranking

COLUMNS = ("first", "in 5", "R@5", "R@10", "NDCG@10", "all@5")
HEADER = ("", *COLUMNS, "newer first", "p50 ms", "p95 ms")
OURS = "Recollect"
A_FEW = 2
"""So many questions may be lost to a plain ranking on one set: fewer are noise."""

Figured = dict[str, dict[str, Figures]]
"""By the name of the set, then by the ranking's."""


def answers(told: Told, ranker: rankers.Ranker) -> list[Answer]:
    """Every question of a set, answered by a plain ranking."""
    return [_answer(index, question, ranker) for conversation, index, _ in told for question in conversation.questions]


def _answer(index: Index, question: sets.Question, ranker: rankers.Ranker) -> Answer:
    start = time.perf_counter()
    numbers = ranker(index, question)
    seconds = time.perf_counter() - start
    return Answer(question, tuple(index.turns[number].id for number in numbers), seconds)


def asked(told: Told, **policy: Mapping[str, object]) -> list[Answer]:
    """Every question of a set, asked of the stores, under the usual policy or with other settings in some sections."""
    found = []
    for conversation, _, filled in told:
        mem = filled.under(**policy) if policy else filled.mem
        found += [filled.answer(question, mem) for question in conversation.questions]
    return found


def row(title: str, found: Sequence[Answer]) -> tuple[str, ...]:
    above, pairs = newer_first(found)
    times = [one.seconds * 1_000 for one in found]
    return (
        title,
        *(f"{value:.3f}" for value in mean(found)),
        f"{above}/{pairs}" if pairs else "",
        f"{percentile(times, 0.5):.1f}",
        f"{percentile(times, 0.95):.1f}",
    )


def compare(name: str, told: Told, dense: bool) -> dict[str, list[Answer]]:
    """One set: Recollect beside the plain rankings."""
    plain: dict[str, rankers.Ranker] = {"FTS5": rankers.FullTextSearch()}
    if dense:
        plain |= {"cosine": rankers.by_meaning, "BM25 + cosine": rankers.by_plain_sum}
    found = {OURS: asked(told), **{title: answers(told, ranker) for title, ranker in plain.items()}}
    texts = sum(len(conversation.turns) for conversation, _, _ in told)
    print_table(
        f"{name}: {len(found[OURS]):,} questions, {texts:,} texts", HEADER, [row(*one) for one in found.items()]
    )
    return found


def print_macro(figured: Figured) -> None:
    """Every set counts alike."""
    titles = next(iter(figured.values()))
    rows = [
        (title, *(f"{value:.3f}" for value in average([of_set[title] for of_set in figured.values()])))
        for title in titles
    ]
    print_table(f"Macro average over {len(figured)} sets", ("", *COLUMNS), rows)


def print_losses(compared: Mapping[str, Mapping[str, Sequence[Answer]]]) -> None:
    """Where a plain ranking has more questions right than Recollect, and whether by more than a few."""
    rows = []
    for name, found in compared.items():
        ours, count = mean(found[OURS]), len(found[OURS])
        for title in found:
            for column in ("first", "in_5"):
                lost = round((getattr(mean(found[title]), column) - getattr(ours, column)) * count)
                if title != OURS and lost > 0:
                    verdict = "more than a few" if lost > A_FEW else ""
                    rows.append((f"{name}, {column.replace('_', ' ')}", title, f"{lost} of {count}", verdict))
    print_table("Losses: questions that a plain ranking has right and Recollect has not, net", ("",) * 4, rows)


def print_kinds(name: str, found: Sequence[Answer]) -> None:
    kinds = sorted({one.question.kind for one in found})
    rows = []
    for kind in kinds:
        of_kind = [one for one in found if one.question.kind == kind]
        rows.append(row(f"{kind} ({len(of_kind)})", of_kind))
    print_table(f"{name}, by kind of question", HEADER, rows)


OFF: dict[str, Mapping[str, object]] = {
    **{name: {name: 0.0} for name, known in Ranking.model_fields.items() if known.annotation is float},
    "lent": {"lent": ()},
    "newest_first": {"newest_first": False},
}
"""The settings that switch each feature off."""


def print_ablation(loaded: Mapping[str, Told], whole: Figured) -> None:
    """What each feature is worth: how far first, in 5 and R@10 fall without it."""
    columns = ("first", "in_5", "recall_10")
    rows = []
    for feature, off in OFF.items():
        cells = []
        for name, told in loaded.items():
            without = mean(asked(told, ranking=off))
            cells += [f"{getattr(without, c) - getattr(whole[name][OURS], c):+.3f}" for c in columns]
        rows.append((f"without {feature}", *cells))
    header = [f"{name.removeprefix('LoCoMo ')[:9]} {column}" for name in loaded for column in ("1st", "in 5", "R@10")]
    print_table("Ablation", ("", *header), rows)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--kinds", action="store_true", help="figures by kind of question, too")
    parser.add_argument("--ablation", action="store_true", help="figures with each feature off in turn, too")
    given = parser.parse_args()
    embedder = embedder_named(EmbedderSettings(name=given.embedder))
    loaded = load(given.data, embedder, given.only)
    compared = {name: compare(name, told, dense=embedder.dimensions > 0) for name, told in loaded.items()}
    if given.kinds:
        for name, found in compared.items():
            print_kinds(name, found[OURS])
    figured = {name: {title: mean(of) for title, of in found.items()} for name, found in compared.items()}
    print_macro(figured)
    print_losses(compared)
    if given.ablation:
        print_ablation(loaded, figured)


if __name__ == "__main__":
    main()
