"""Where the texts of the benchmarks come from.

With ``--data DIR`` the memories that are timed and the questions that are asked are LoCoMo's own turns and questions.
There are too few of them to fill a large store, so what lies underneath is always generated: sentences whose words
follow the frequencies of English chat (a few words are everywhere, most are rare), with names, numbers and plain
statements among them. The same seed gives the same sentences on every machine.
"""

import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path

WHERE_FROM = """No texts in {folder}. Put there, under this name:
  locomo/locomo*.json   LoCoMo conversations    https://github.com/snap-research/locomo"""

VOCABULARY = 30_000
FLATNESS = 20.0
"""How many ranks share the top of the distribution; with the slope it fits the word frequencies of LoCoMo's turns."""
SLOPE = 1.2

GLUE = """and to a it the you i my for of me that so your is was with have in been on we can but how what about up this
be do are out all our some them just they any had at from when there would more""".split()

COMMON = """great really make like help keep love see go support work time amazing get cool look feel lot sound last
different good way people take inspire thing tough one new much know definitely sure family appreciate something glad
always important mean game fun life talk together stay remind friend think start want try find day week happy share
book dog music team hope nice plan kid home place meet experience year weekend class idea movie beautiful learn art
enjoy photo yesterday excited community project dance trip job city car food recipe cook run hike travel school change
play write read paint garden movement meeting deadline client budget report release server database deploy backup test
review feature customer invoice contract office laptop phone camera bike train flight hotel beach mountain river forest
doctor allergy medicine sleep exercise yoga coffee tea bread cheese peanut dinner lunch breakfast birthday wedding
sister brother mother father daughter son cousin neighbour teacher student manager engineer designer lawyer nurse
guitar piano violin concert theatre museum library novel poem story letter language spanish french german portuguese
colour blue green red dark light theme style quiet loud early late morning evening summer winter spring autumn rain
snow sun wind storm window door kitchen table chair lamp street bridge station market shop price money bank tax
insurance visa passport ticket""".split()

NAMES = """Ana Ben Chloe Dan Elena Farid Grace Hugo Ines Jonas Kira Liam Maria Noor Otto Priya Quentin Rosa Sam Tara Uma
Victor Wanda Xavier Yuki Zoe""".split()

STATEMENTS = (
    "{who} lives in {place}.",
    "{who} works for {place} as an {common}.",
    "{who} prefers the {word} {common} to the {word} one.",
    "{who} is allergic to {word}.",
    "{who}'s favourite {common} is {word}.",
    "The port of the {word} {common} is {number}.",
    "{who} moved to {place} in {year}.",
    "Never use {word} in {common} {word}.",
)

_ONSETS = "b c d f g h l m n p r s t v br dr gr pl st tr sh ch".split()
_NUCLEI = "a e i o u ai ea ou".split()
_CODAS = ("", "", "n", "r", "l", "s", "t", "m", "nd", "ck")


@dataclass(frozen=True)
class Texts:
    """What one run of a benchmark is fed with."""

    fresh: Sequence[str]
    """Memories to be timed, one after the other; none of them is in the filling."""
    questions: Sequence[str]
    source: str


def filling(count: int) -> list[str]:
    """That many distinct sentences for the store underneath; more of them begin with the same ones."""
    return list(islice(distinct(sentences(seed=1)), count))


def load(data: Path | None, fresh: int, questions: int) -> Texts:
    """The texts of a run: LoCoMo's where ``data`` has them, else generated ones."""
    if data is None:
        new = list(islice(distinct(sentences(seed=2)), fresh))
        return Texts(new, list(islice(generated_questions(new), questions)), "generated")
    turns, asked = locomo(data)
    if not turns:
        sys.exit(WHERE_FROM.format(folder=data))
    random.Random(3).shuffle(turns)
    random.Random(4).shuffle(asked)
    return Texts(_topped_up(turns, fresh), asked[:questions], "LoCoMo")


def locomo(folder: Path) -> tuple[list[str], list[str]]:
    """Every distinct turn and every question of the LoCoMo conversations in a folder."""
    turns: dict[str, None] = {}
    questions: list[str] = []
    for file in sorted(folder.glob("locomo/locomo*.json")):
        for sample in json.loads(file.read_text("utf-8")):
            questions += [qa["question"] for qa in sample["qa"]]
            for name, session in sample["conversation"].items():
                if name.startswith("session_") and isinstance(session, list):
                    turns.update(dict.fromkeys(turn["text"].strip() for turn in session if turn["text"].strip()))
    return list(turns), questions


def _topped_up(turns: list[str], count: int) -> list[str]:
    """Enough texts for a long run: generated ones follow when the real ones run out."""
    if len(turns) >= count:
        return turns[:count]
    return turns + list(islice(distinct(sentences(seed=5)), count - len(turns)))


def sentences(seed: int) -> Iterator[str]:
    """Sentences without end: one in five a plain statement, the others chat."""
    rng = random.Random(seed)
    words = vocabulary()
    weights = list(accumulate(1.0 / (rank + FLATNESS) ** SLOPE for rank in range(len(words))))

    def some(count: int) -> list[str]:
        return rng.choices(words, cum_weights=weights, k=count)

    while True:
        if rng.random() < 0.2:
            yield _statement(rng, some(2))
        else:
            yield _chat(rng, some(rng.randint(5, 18)))


def _statement(rng: random.Random, rare: Sequence[str]) -> str:
    text = rng.choice(STATEMENTS)
    for word in rare:
        text = text.replace("{word}", word, 1)
    return text.format(
        who=f"{rng.choice(NAMES)} {_invented(rng, 2).title()}",
        place=_invented(rng, 2).title(),
        common=rng.choice(COMMON),
        word=rare[0],
        number=rng.randint(1_024, 65_535),
        year=rng.randint(1990, 2029),
    )


def _chat(rng: random.Random, content: Sequence[str]) -> str:
    """Content words with the small words of English between them, sometimes addressed to somebody, sometimes counted."""
    said: list[str] = []
    for word in content:
        said += [rng.choice(GLUE), word] if rng.random() < 0.8 else [word]
    if rng.random() < 0.3:
        said.insert(0, f"{rng.choice(NAMES)},")
    if rng.random() < 0.2:
        said.insert(rng.randrange(len(said)), str(rng.randint(2, 400)))
    text = " ".join(said)
    return text[0].upper() + text[1:] + rng.choice((".", ".", ".", "!", "?"))


def vocabulary() -> list[str]:
    """The most common words of chat, then invented rare ones, most frequent first."""
    rng = random.Random(0)
    known = dict.fromkeys(COMMON)
    while len(known) < VOCABULARY:
        known[_invented(rng, rng.choice((2, 2, 3)))] = None
    return list(known)


def _invented(rng: random.Random, syllables: int) -> str:
    return "".join(rng.choice(_ONSETS) + rng.choice(_NUCLEI) + rng.choice(_CODAS) for _ in range(syllables))


def generated_questions(texts: Sequence[str]) -> Iterator[str]:
    """Questions about the texts, in four or so of their own words."""
    rng = random.Random(6)
    while True:
        words = [word.strip(".,!?") for word in rng.choice(texts).split()]
        start = rng.randrange(max(1, len(words) - 7))
        yield f"What about {' '.join(words[start : start + 8])}?"


def distinct(texts: Iterator[str]) -> Iterator[str]:
    seen: set[str] = set()
    for text in texts:
        if text not in seen:
            seen.add(text)
            yield text
