"""The texts that the table is fitted on: WordNet's definitions and examples, old speeches, and sentences made from frames."""

import random
import re
import tomllib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

HERE = Path(__file__).parent
MAX_WORDS = 40
"""Longer sentences are left out: most of what people store and ask is shorter, and the teacher takes its time."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'])")
_PARENTHESIS = re.compile(r"\s*\([^()]*\)")


def gather(wordnet: Path, speeches: Path, vocabulary: Sequence[str], seed: int) -> list[str]:
    """Return distinct texts in a fixed order: so many of each sort, drawn by the seed."""
    drawn = random.Random(seed)
    definitions, examples = wordnet_texts(wordnet)
    sentences = [list(speech_sentences(path)) for path in sorted(speeches.glob("*.txt"))]
    passages = [" ".join(some[at : at + 3]) for some in sentences for at in range(0, len(some) - 3, 3)]
    single = [sentence for some in sentences for sentence in some]
    made = list(islice(made_from_frames(wordnet, vocabulary, drawn), 60_000))
    texts = [
        *examples,
        *_some(drawn, definitions, 24_000),
        *_some(drawn, single, 12_000),
        *_some(drawn, [p for p in passages if len(p.split()) <= 2 * MAX_WORDS], 1_500),
        *_some(drawn, sorted(set(made)), 14_000),
    ]
    return list(dict.fromkeys(texts))


def _some(drawn: random.Random, texts: Sequence[str], count: int) -> list[str]:
    return drawn.sample(texts, min(count, len(texts)))


def synsets(wordnet: Path) -> Iterator[tuple[str, list[str], str]]:
    """Yield each synset's part of speech, its words, and its definition with examples."""
    for part in ("noun", "verb", "adj", "adv"):
        for line in (wordnet / f"data.{part}").read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):  # the licence
                continue
            head, _, gloss = line.partition(" | ")
            fields = head.split()
            count = int(fields[3], 16)
            words = [re.sub(r"\(\w+\)$", "", word).replace("_", " ") for word in fields[4 : 4 + 2 * count : 2]]
            yield part, words, gloss.strip()


def wordnet_texts(wordnet: Path) -> tuple[list[str], list[str]]:
    """Return all definitions, every other one behind the words that it defines, and all examples."""
    definitions, examples = [], []
    for number, (_, words, gloss) in enumerate(synsets(wordnet)):
        quoted = re.findall(r'"([^"]+)"', gloss)
        definition = gloss.split('; "')[0].strip(" ;")
        examples += [text for text in quoted if 3 <= len(text.split()) <= MAX_WORDS]
        if 3 <= len(definition.split()) <= MAX_WORDS:
            definitions.append(f"{', '.join(words)}: {definition}" if number % 2 else definition)
    return definitions, examples


def speech_sentences(speech: Path) -> Iterator[str]:
    """Yield the sentences of a speech, without what the audience did."""
    text = _PARENTHESIS.sub("", speech.read_text(encoding="utf-8", errors="replace"))
    for paragraph in text.splitlines():
        for sentence in _SENTENCE_END.split(paragraph):
            if 3 <= len(sentence.split()) <= MAX_WORDS:
                yield sentence.strip()


def _frames() -> dict[str, str]:
    return tomllib.loads((HERE / "frames.toml").read_text(encoding="utf-8"))


def people() -> list[str]:
    """Return the first names that the frames are filled with."""
    return _frames()["name"].split()


def made_from_frames(wordnet: Path, vocabulary: Sequence[str], drawn: random.Random) -> Iterator[str]:
    """Yield sentences with their gaps filled, without end."""
    known = _frames()
    frames = known.pop("frames").strip().splitlines()
    words = {gap: listed.split() for gap, listed in known.items()}
    common = set(vocabulary[1_996:14_000])  # it is sorted by frequency: whole words, the more common half
    of_part: dict[str, set[str]] = {"noun": set(), "verb": set(), "adj": set()}
    for part, lemmas, _ in synsets(wordnet):
        if part in of_part:
            of_part[part] |= {word for word in lemmas if word in common and len(word) > 2}
    words["thing"] = words["other"] = sorted(of_part["noun"])
    words["doing"] = sorted(of_part["verb"] - of_part["adj"])
    words["kind"] = sorted(of_part["adj"] - of_part["noun"])
    while True:
        frame = drawn.choice(frames)
        yield re.sub(r"\{(\w+)\}", lambda gap: drawn.choice(words[gap[1]]), frame)
