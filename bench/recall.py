"""How well questions find the memories that answer them, on three public sets of long conversations.

    python bench/recall.py --data DIR                  by set, beside FTS5, vectors alone and rank fusion
    python bench/recall.py --data DIR --kinds          also by kind of question
    python bench/recall.py --data DIR --ablation       also with each feature off in turn
    python bench/recall.py --data DIR --embedder none  by words alone; or minilm, which takes some minutes
    python bench/recall.py --data DIR --store          also asked of a real store, through `query`

Each conversation is one stream, held in memory: what is measured is the ranking and not a store, but for the row that says so.
`bench/README.md` says where the sets come from.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from figures import percentile, print_table
from recall import rankers, sets
from recall.index import Index
from recall.measures import Answer, mean, newer_first
from recall.stored import answers_from_a_store
from recollect.embed import Embedder, EmbedderSettings, embedder_named

HEADER = ("", "R@5", "R@10", "NDCG@10", "all@5", "newer first", "p50 ms", "p95 ms")

NOTHING_TO_GO_BY = "—"

Indexed = list[tuple[sets.Conversation, Index]]


def answers(indexed: Indexed, ranker: rankers.Ranker) -> list[Answer]:
    """Every question of a set, answered."""
    return [answer(index, question, ranker) for conversation, index in indexed for question in conversation.questions]


def answer(index: Index, question: sets.Question, ranker: rankers.Ranker) -> Answer:
    start = time.perf_counter()
    numbers = ranker(index, question)
    seconds = time.perf_counter() - start
    return Answer(question, tuple(index.turns[number].id for number in numbers), seconds)


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


def compare(name: str, indexed: Indexed, dense: bool, store: bool) -> list[Answer]:
    """One set: Recollect beside the plain rankings."""
    rivals: dict[str, rankers.Ranker] = {"SQLite FTS5": rankers.FullTextSearch(), "BM25": rankers.by_text}
    if dense:
        rivals |= {"vectors alone": rankers.by_meaning, "rank fusion": rankers.by_rank_fusion}
    ours = answers(indexed, rankers.Recollect())
    rows = [row("Recollect", ours), *(row(title, answers(indexed, ranker)) for title, ranker in rivals.items())]
    if store:
        asked = answers_from_a_store(conversation for conversation, _ in indexed)
        rows.insert(1, row("query, from a store", asked))
    print_table(f"{name}: {len(ours):,} questions, {turns(indexed):,} turns", HEADER, rows)
    return ours


def turns(indexed: Indexed) -> int:
    return sum(len(conversation.turns) for conversation, _ in indexed)


def print_kinds(name: str, found: Sequence[Answer]) -> None:
    kinds = sorted({one.question.kind for one in found})
    rows = []
    for kind in kinds:
        of_kind = [one for one in found if one.question.kind == kind]
        rows.append(row(f"{kind} ({len(of_kind)})", of_kind))
    print_table(f"{name}, by kind of question", HEADER, rows)


def print_ablation(loaded: Mapping[str, Indexed]) -> None:
    """What each feature is worth: the figures without it, and how far they fall; a dash where a set has nothing of it."""
    whole = {name: mean(answers(indexed, rankers.Recollect())) for name, indexed in loaded.items()}
    rows = []
    for feature in rankers.ABLATED:
        cells = []
        for name, indexed in loaded.items():
            if not any(rankers.is_shown_by(index, feature) for _, index in indexed):
                cells += [NOTHING_TO_GO_BY] * (len(whole[name]) + 1)
                continue
            found = answers(indexed, rankers.without(feature))
            cells += [f"{after - before:+.3f}" for after, before in zip(mean(found), whole[name], strict=True)]
            cells.append("{}/{}".format(*newer_first(found)))
        rows.append((f"without {feature}", *cells))
    columns = ("R@5", "R@10", "NDCG", "all@5", "newer")
    print_table("Ablation", ("", *(f"{name[:4]} {column}" for name in loaded for column in columns)), rows)


def load(data: Path, embedder: Embedder) -> dict[str, Indexed]:
    loaded = {}
    for name in sets.SET_NAMES:
        conversations = sets.load(data, name)
        if conversations:
            loaded[name] = [(one, Index(one, embedder)) for one in conversations]
    return loaded


def warm_up(loaded: Mapping[str, Indexed]) -> None:
    """Embed everything beforehand: queries are timed, not the filling of an index."""
    for indexed in loaded.values():
        for _, index in indexed:
            assert len(index.codes) == len(index.turns)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True, help="the folder that holds the public sets")
    options.add_argument("--embedder", default="static", help="static, none or minilm")
    options.add_argument("--kinds", action="store_true", help="figures by kind of question, too")
    options.add_argument("--ablation", action="store_true", help="figures with each feature off in turn, too")
    options.add_argument("--store", action="store_true", help="ask a real store, too")
    asked = options.parse_args()
    embedder = embedder_named(EmbedderSettings(name=asked.embedder))
    loaded = load(asked.data, embedder)
    if not loaded:
        sys.exit(f"{asked.data} holds none of {', '.join(sets.SET_NAMES)}. bench/README.md says where they come from.")
    warm_up(loaded)
    for name, indexed in loaded.items():
        found = compare(name, indexed, dense=embedder.dimensions > 0, store=asked.store)
        if asked.kinds:
            print_kinds(name, found)
    if asked.ablation:
        print_ablation(loaded)


if __name__ == "__main__":
    main()
