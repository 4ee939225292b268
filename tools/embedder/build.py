"""Build the default embedder's table and the list of neighbours: `python tools/embedder/build.py --work DIR`. See the README."""

import argparse
import hashlib
import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported; the teacher runs in processes instead
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "src")]

import fit  # noqa: E402
import neighbours  # noqa: E402
import numpy as np  # noqa: E402
import sources  # noqa: E402
import teacher  # noqa: E402

import texts  # noqa: E402
from recollect.embed.static import FIRST_PIECE, TABLE  # noqa: E402
from recollect.embed.static import WordPiece  # noqa: E402

SEED = 16


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--work", type=Path, required=True, help="a folder for downloads and what the teacher said")
    options.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options.add_argument("--out", type=Path, default=TABLE, help="where the finished files go")
    asked = options.parse_args()
    work: Path = asked.work.resolve()
    found = sources.fetch(work)
    vocabulary = (found.model / "vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    splitter = WordPiece(vocabulary)
    gathered = texts.gather(found.wordnet, found.speeches, vocabulary, SEED)
    pieces = [splitter.pieces(text) for text in gathered]
    single = [[number] for number in range(FIRST_PIECE, len(vocabulary))]
    targets = fit.project(
        teacher.taught(found.model, pieces, work, asked.processes),
        teacher.taught(found.model, single, work, asked.processes),
    )
    bags = fit.bags([[number - FIRST_PIECE for number in one if number >= FIRST_PIECE] for one in pieces], len(single))
    table = fit.quantise(fit.fit(fit.start(targets, bags), bags, targets.texts, SEED))
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "vocabulary.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    (asked.out / "vectors.int8").write_bytes(table.tobytes())
    words = neighbours.listed_words(splitter, gathered, found.wordnet)
    of_words = [splitter.pieces(word) for word in words]
    sums = neighbours.sums(
        table, [[number - FIRST_PIECE for number in one if number >= FIRST_PIECE] for one in of_words]
    )
    taught = teacher.taught(found.model, of_words, work, asked.processes)
    parts = np.array([len(one) > 1 for one in of_words])
    lines = neighbours.neighbours(words, sums, taught, parts, found.wordnet)
    (asked.out / "neighbours.txt").write_text("\n".join(lines), encoding="ascii")
    for path in sorted(asked.out.iterdir()):
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.stat().st_size:>9,}  {path.name}")


if __name__ == "__main__":
    main()
