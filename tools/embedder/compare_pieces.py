"""Compare the package's splitter with the reference implementation: `python tools/embedder/compare_pieces.py --work DIR`.

The texts are those that the table is fitted on, the same damaged at random with characters from all over Unicode, and every
character by itself between letters. Needs the package `tokenizers`. Ends with 1 if a text differs that it should not.
"""

import argparse
import random
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Tokenizer

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "src")]

import sources  # noqa: E402

import texts  # noqa: E402
from recollect.embed.static import WordPiece  # noqa: E402

DAMAGED = 60_000
PLACES = (
    (0x20, 0x7E), (0x00, 0x1F), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F),
    (0x1100, 0x11FF), (0x2000, 0x206F), (0x3040, 0x30FF), (0x4E00, 0x4FFF), (0xAC00, 0xAD00), (0xFE00, 0xFFFF),
    (0x1F300, 0x1F6FF),
)  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--work", type=Path, required=True, help="the folder that build.py works in")
    found = sources.fetch(options.parse_args().work.resolve())
    vocabulary = (found.model / "vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    ours = WordPiece(vocabulary)
    theirs = Tokenizer.from_file(str(found.model / "tokenizer.json"))
    theirs.no_padding()
    theirs.no_truncation()
    theirs.encode_special_tokens = True  # "[SEP]" in a text is text
    gathered = texts.gather(found.wordnet, found.speeches, vocabulary, seed=16)
    different = compared = 0
    for text in (*gathered, *damaged(gathered)):
        compared += 1
        if ours.pieces(text) != theirs.encode(text, add_special_tokens=False).ids:
            different += 1
            print(f"differs: {text!r}")
    print(f"{compared:,} texts, {different} differ")
    young = [code for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF and _differs(ours, theirs, chr(code))]
    print(f"characters that differ by themselves, all newer than the reference's Unicode tables: {len(young)}")
    sys.exit(bool(different))


def damaged(gathered: list[str]) -> Iterator[str]:
    """Yield texts with characters put in, doubled, cut out or in other case, of blocks in which both know every character."""
    drawn = random.Random(7)
    for text in drawn.sample(gathered, DAMAGED):
        letters = list(text)
        for _ in range(drawn.randint(1, 8)):
            at = drawn.randrange(len(letters) + 1)
            character = chr(drawn.randint(*drawn.choice(PLACES)))
            if unicodedata.ucd_3_2_0.category(character) != unicodedata.category(character):
                character = character.upper() if character.isascii() else "é"  # assigned, or sorted otherwise, since
            letters[at:at] = character * drawn.choice((1, 1, 1, 2, 120))
        yield "".join(letters)


def _differs(ours: WordPiece, theirs: Tokenizer, character: str) -> bool:
    text = f"ab{character}cd"
    return bool(ours.pieces(text) != theirs.encode(text, add_special_tokens=False).ids)


if __name__ == "__main__":
    main()
