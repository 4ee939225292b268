"""Provide vectors: the tenant's embedder, and a cache of the vectors of recently read streams.

Vectors of different embedders cannot be compared, so each stream names its own. A text is embedded before the write
lock is taken, its vector commits with its version, and vectors that another process committed are read before the next
search.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, NamedTuple

from recollect.embed import Embedder, EmbedderSettings, EmbedderUnavailable, embedder_named, policy_name
from recollect.embed.protocol import label_of
from recollect.embed.scale import Scale, scale_of
from recollect.embed.static import neighbours_of
from recollect.engine.read.vector_block import Block, Slice, Whole, rows_of
from recollect.model.errors import EmbedderMismatch
from recollect.model.policy import Embedding
from recollect.rules.ranking.bm25 import FOR_NEIGHBOURS
from recollect.rules.ranking.closeness import RERANKED, closely_compared
from recollect.rules.ranking.question import Question, aspect_of, read_question
from recollect.stores.protocol import Place, Reader, Reading, Search, Stream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.engine.context import Engine
    from recollect.rules.ranking.vectors import Codes

SIGNS_KEPT = 8
"""How many times more vectors are cached by their signs alone, which take an eighth of the space."""
READ_AGAIN = 4 * RERANKED
"""The size up to which a stream cached by signs alone is read again: a question would read a quarter anyway."""
FORMER_DEFAULTS = frozenset({"wordllama-l2-supercat-256/256"})
"""Embedders of earlier versions whose vectors a store may have. They can be neither compared nor extended any more."""
BY_WORDS_ALONE = (
    "Found by words alone: the vectors here were made by an earlier version. `recollect reindex` makes them anew."
)
NO_EMBEDDER = embedder_named(EmbedderSettings("none"))
Key = tuple[str, int, int]
"""A tenant, the number of a stream, and a generation of its vectors."""


class FormerVectors(EmbedderMismatch):
    """The store has the vectors of a former default embedder."""


class Meanings:
    """The embedder of an open store, and its cache of vectors. Safe to share between threads."""

    def __init__(self, chosen: Embedder | None, max_kept: int) -> None:
        self._chosen = chosen
        self.max_kept = max_kept
        self._known: dict[str, Embedder] = {}
        self._blocks: OrderedDict[Key, Block] = OrderedDict()
        self._owners: dict[Key, str] = {}
        self._lock = threading.RLock()

    def embedder(self, engine: "Engine", reader: Reader | None = None) -> Embedder:
        """Return the embedder of the tenant: as configured, else the one that made the vectors in the store.

        Pass the ``reader`` inside a transaction. No lock is held here, since an open transaction must not wait for a
        thread that waits for it.
        """
        found = self._known.get(engine.tenant)
        if found is None:
            found = _check_vectors(engine, self._chosen or _choose_embedder(engine), reader)
            found = self._known.setdefault(engine.tenant, found)
        return found

    def if_any(self, engine: "Engine", reader: Reader | None = None) -> Embedder | None:
        """Return the tenant's embedder, or ``None`` if the vectors in the store are of another one."""
        try:
            return self.embedder(engine, reader)
        except EmbedderMismatch:
            return None

    def for_reading(self, engine: "Engine") -> Embedder:
        """Return the embedder for a read, or one without vectors if the store still has a former default's vectors."""
        try:
            return self.embedder(engine)
        except FormerVectors:
            return NO_EMBEDDER

    def change(self, tenant: str, embedder: Embedder) -> None:
        """Use this embedder for a tenant from now on."""
        self._known[tenant] = embedder

    def block(self, reader: Reader, stream: Stream, dimensions: int, committed: bool) -> Block:
        """Return the vectors of a stream up to its snapshot; uncommitted ones are not cached."""
        key = (stream.tenant, stream.number, stream.generation)
        with self._lock:
            if key not in self._blocks:
                self._forget([old for old in self._blocks if old[:2] == key[:2] and old < key])
                self._blocks[key] = Block(dimensions)
                self._owners[key] = stream.address.owner if stream.address is not None else ""
            block = self._blocks[key]
            if committed and not block.is_whole and len(block) <= READ_AGAIN:
                block = self._blocks[key] = Block(dimensions)
            self._blocks.move_to_end(key)
            if committed and stream.last_memory > block.last:
                block.extend(reader.vectors_after(stream, block.last), stream.last_memory)
                self._make_room(key)
            return block

    def at_hand(self, tenant: str, owners: Sequence[str] | None) -> list[tuple[int, int, int]]:
        """Return the cached streams of some owners, or of all: number, generation and last memory."""
        with self._lock:
            of_tenant = [(key, owner) for key, owner in self._owners.items() if key[0] == tenant]
            found = [key for key, owner in of_tenant if owners is None or owner in owners]
            return [(key[1], key[2], self._blocks[key].last) for key in found]

    def forget(self, tenant: str, stream: int) -> None:
        """Drop the cached vectors of a stream, since some were removed."""
        with self._lock:
            self._forget([key for key in self._blocks if key[:2] == (tenant, stream)])

    def _forget(self, keys: Sequence[Key]) -> None:
        for key in keys:
            del self._blocks[key], self._owners[key]

    def _make_room(self, current: Key) -> None:
        """Reduce the least recently used streams to their signs, and drop them if there are still too many."""
        whole = {key: len(block) for key, block in self._blocks.items() if block.is_whole}
        room = self.max_kept - sum(whole.values())
        for key, count in whole.items():
            if room < 0:
                self._blocks[key].keep_signs_only()
                room += count
        room = self.max_kept * SIGNS_KEPT - sum(len(block) for block in self._blocks.values())
        for key in list(self._blocks):
            if room < 0 and key != current:
                room += len(self._blocks[key])
                self._forget([key])


class Near(NamedTuple):
    """Which neighbours in a stream to choose: all that are similar enough, and at least the nearest few."""

    least: float
    at_least: int

    def choose(self, numbers: "NDArray[np.int64]", likes: "NDArray[np.float64]") -> list[tuple[int, float]]:
        """Return the chosen numbers with their cosines, best first, ties in the given order."""
        import numpy as np

        if len(likes) > self.at_least:
            floor = min(self.least, np.partition(likes, -self.at_least)[-self.at_least])
            chosen = np.flatnonzero(likes >= floor)
            numbers, likes = numbers[chosen], likes[chosen]
        best = np.argsort(-likes, kind="stable")
        alike = likes[best].tolist()
        enough = max(self.at_least, sum(like >= self.least for like in alike))
        return list(zip(numbers[best].tolist(), alike, strict=True))[:enough]


class Fresh:
    """The vectors that a transaction sees above a number, its own included, read once for all comparisons."""

    def __init__(self) -> None:
        self._block: Block | None = None

    def add(self, number: int, vector: bytes) -> None:
        """Add the vector of a memory that the transaction has just written."""
        if self._block is not None:
            self._block.extend([(number, vector)] if vector else [], number)

    def alike(
        self, reader: Reader, stream: Stream, vector: bytes, after: int, near: Near, scale: Scale
    ) -> list[tuple[int, float]]:
        """Return the memories of a stream above ``after`` that are nearest to a vector."""
        if stream.last_memory <= after:
            return []
        block = self._block
        if block is None or block.after > after or block.last < stream.last_memory:
            block = self._block = Block(len(vector), after)
            block.extend(reader.vectors_after(stream, after), stream.last_memory)
        numbers, likes = _compare_rows(_codes_in(vector), block.between(after, stream.last_memory), scale)
        return near.choose(numbers, likes[0])


MOST_AT_ONCE = 16_384
"""The size up to which a stream is compared with several vectors in one matrix product."""
TOGETHER = 64
"""How many vectors one product compares, to limit memory."""


def alike_to_each(
    engine: "Engine", reader: Reader, stream: Stream, vectors: Sequence[bytes], near: Near, *, committed: bool
) -> tuple[list[list[tuple[int, float]]], int]:
    """Return the nearest memories of a stream for each vector, and the last memory that was compared.

    Candidates are shortlisted by their signs, so that one vector and many give the same result.
    """
    embedder = engine.meanings.embedder(engine, reader)
    if not stream.last_memory or stream.embedder != label_of(embedder):
        return [[] for _ in vectors], 0
    block = engine.meanings.block(reader, stream, embedder.dimensions, committed)
    rows, scale = block.between(0, stream.last_memory), scale_of(embedder)
    found = _alike_together(rows, vectors, near, scale) if rows.whole is not None else None
    if not len(rows.numbers):
        found = [[] for _ in vectors]
    if found is None:
        each = (Likeness(reader, _codes_in(vector), [(stream, rows)], {}, scale) for vector in vectors)
        found = [near.choose(*one.compared(RERANKED)) for one in each]
    return found, min(block.last, stream.last_memory)


def _alike_together(
    rows: Slice, vectors: Sequence[bytes], near: Near, scale: Scale
) -> list[list[tuple[int, float]]] | None:
    """Compare several vectors with all rows in one product; return ``None`` where one by one is faster."""
    from recollect.rules.ranking.vectors import by_words, codes_from, differing, fewest, signs

    count = len(rows.numbers)
    if count > (MOST_AT_ONCE if len(vectors) > 1 else RERANKED):
        return None
    found = []
    for begin in range(0, len(vectors), TOGETHER):
        codes = codes_from(vectors[begin : begin + TOGETHER], len(vectors[0]))
        numbers, likes = _compare_rows(codes, rows, scale)
        if count <= RERANKED:
            found += [near.choose(numbers, other_row) for other_row in likes]
            continue
        signs_asked = by_words(signs(codes))
        for place, other_row in enumerate(likes):
            chosen = fewest(differing(signs_asked[:, place : place + 1], rows.signs), RERANKED)
            chosen.sort()
            found.append(near.choose(numbers[chosen], other_row[chosen]))
    return found


def _compare_rows(codes: "Codes", rows: Slice, scale: Scale) -> "tuple[NDArray[np.int64], NDArray[np.float64]]":
    """Return the numbers of the rows and their cosines, a row of cosines for each vector."""
    from recollect.rules.ranking.vectors import cosines

    assert rows.whole is not None, "the vectors are at hand"
    likes = scale.on_ours(cosines(codes, *rows.whole)).round(6)
    return rows.numbers, likes


class _Ordered(NamedTuple):
    """Memories in order of similarity, as columns."""

    streams: "NDArray[np.int64]"
    numbers: "NDArray[np.int64]"
    likes: "NDArray[np.float64]"


class Likeness:
    """Compares a text with the memories of some streams by cosine, scaled to be comparable between embedders."""

    def __init__(
        self,
        reader: Reader,
        question: "Codes",
        streams: Sequence[tuple[Stream, Slice]],
        seen: Mapping[int, int],
        scale: Scale,
    ) -> None:
        self._reader, self._question, self._seen, self._scale = reader, question, seen, scale
        self._streams = {stream.number: (stream, rows) for stream, rows in streams if len(rows.numbers)}
        self._cosines: dict[Place, float | None] = {}
        self._near: dict[int, _Ordered] = {}
        self._by_signs: NDArray[np.int64] | None = None
        self._widest: dict[int, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        """The largest set of rows compared exactly so far in each stream, in order, with their cosines."""

    def nearest(self, count: int, least: float = -1.0) -> list[tuple[Place, float]]:
        """Return the most similar memories of all streams with their exact cosines, best first."""
        compared = max(count, closely_compared(len(self)))
        if compared not in self._near:
            self._near[compared] = self._ordered(self._nearest_by_signs(compared))
        return self._best(self._near[compared], count, least)

    def _nearest_by_signs(self, count: int) -> "dict[int, NDArray[np.int64]]":
        """Return the rows of each stream that differ in the fewest signs, ``count`` in total, or all of fewer."""
        import numpy as np

        from recollect.rules.ranking.vectors import by_words, differing, fewest, signs

        if len(self) <= count:
            return {of: np.arange(len(rows.numbers)) for of, (_, rows) in self._streams.items()}
        if self._by_signs is None or len(self._by_signs) < count:
            signs_asked = by_words(signs(self._question))
            distances = [differing(signs_asked, rows.signs) for _, rows in self._streams.values()]
            self._by_signs = fewest(np.concatenate(distances) if len(distances) > 1 else distances[0], count)
        chosen = np.sort(self._by_signs[:count])
        lengths = [len(rows.numbers) for _, rows in self._streams.values()]
        ends = np.cumsum(lengths)
        parts = np.split(chosen, np.searchsorted(chosen, ends[:-1]))
        return {
            of: part - (end - length) for of, part, end, length in zip(self._streams, parts, ends, lengths, strict=True)
        }

    def compared(self, count: int) -> "tuple[NDArray[np.int64], NDArray[np.float64]]":
        """Return the rows of the only stream that differ in the fewest signs, in order, with their cosines."""
        ((of, (stream, rows)),) = self._streams.items()
        return self._compared(stream, rows, self._nearest_by_signs(count)[of])

    def nearest_of(self, places: Sequence[Place], count: int, least: float = -1.0) -> list[tuple[Place, float]]:
        """Return the most similar of these memories with their cosines, best first."""
        import numpy as np

        rows = {
            of: rows_of(known, np.array(sorted(n for stream, n in places if stream == of), dtype=np.int64))
            for of, (_, known) in self._streams.items()
        }
        return self._best(self._ordered(rows), count, least)

    def _ordered(self, rows: "Mapping[int, NDArray[np.int64]]") -> "_Ordered":
        """Return these rows of each stream, most similar first, ties by place."""
        import numpy as np

        compared = {of: self._compared(*self._streams[of], rows[of]) for of in sorted(rows)}
        of = np.repeat(np.array(list(compared), dtype=np.int64), [len(numbers) for numbers, _ in compared.values()])
        numbers = np.concatenate([np.zeros(0, dtype=np.int64), *(numbers for numbers, _ in compared.values())])
        likes = np.concatenate([np.zeros(0), *(likes for _, likes in compared.values())])
        order = np.argsort(-likes, kind="stable")  # stable: ties stay in the order of their places
        return _Ordered(of[order], numbers[order], likes[order])

    def _best(self, near: "_Ordered", count: int, least: float) -> list[tuple[Place, float]]:
        alike = near.likes[:count]
        alike = alike[alike >= least]
        places = zip(near.streams[: len(alike)].tolist(), near.numbers[: len(alike)].tolist(), strict=True)
        found = list(zip(places, alike.tolist(), strict=True))
        self._cosines |= found
        return found

    def seen_to(self, stream: Stream) -> int:
        """Return the last memory of a stream that is compared."""
        return min(self._seen.get(stream.number, 0), stream.last_memory)

    @property
    def streams(self) -> list[Stream]:
        return [stream for stream, _ in self._streams.values()]

    def __len__(self) -> int:
        return sum(len(rows.numbers) for _, rows in self._streams.values())

    def cosines(self, places: Sequence[Place]) -> dict[Place, float]:
        """Return the cosine of each of these memories that has a vector."""
        self._compare([place for place in places if place not in self._cosines])
        return {place: like for place in places if (like := self._cosines[place]) is not None}

    def _compare(self, places: Sequence[Place]) -> None:
        import numpy as np

        self._cosines |= dict.fromkeys(places)
        for of, (stream, rows) in self._streams.items() if places else ():
            wanted = np.array(sorted({memory for number, memory in places if number == of}), dtype=np.int64)
            numbers, values = self._compared(stream, rows, rows_of(rows, wanted))
            self._cosines |= zip(((of, number) for number in numbers.tolist()), values.tolist(), strict=True)

    def between(self, places: Sequence[Place]) -> dict[tuple[Place, Place], float]:
        """Return the cosine between each two of these memories that have a vector."""
        import numpy as np

        from recollect.rules.ranking.vectors import cosines

        known: list[Place] = []
        codes = [np.zeros((0, self._question.shape[1]), dtype=np.int8)]
        for of, (stream, rows) in self._streams.items():
            wanted = np.array(sorted(memory for number, memory in places if number == of), dtype=np.int64)
            numbers, found = self._vectors(stream, rows, rows_of(rows, wanted))
            known += ((of, number) for number in numbers.tolist())
            codes.append(found.codes)
        every = np.concatenate(codes)
        likes = self._scale.on_ours(cosines(every, every)).round(6).tolist()
        return {
            (one, other): like
            for one, row in zip(known, likes, strict=True)
            for other, like in zip(known, row, strict=True)
        }

    def _compared(
        self, stream: Stream, rows: Slice, at: "NDArray[np.int64]"
    ) -> "tuple[NDArray[np.int64], NDArray[np.float64]]":
        """Return the memories in these rows with their cosines, rounded so that the last bit never decides."""
        import numpy as np

        from recollect.rules.ranking.vectors import cosines

        known, likes = self._widest.get(stream.number, (at[:0], np.zeros(0)))
        if 0 < len(at) <= len(known):
            places = np.minimum(np.searchsorted(known, at), len(known) - 1)
            if np.array_equal(known[places], at):
                return rows.numbers[at], likes[places]
        numbers, found = self._vectors(stream, rows, at)
        likes = self._scale.on_ours(cosines(self._question, *found)[0]).round(6)
        if len(known) < len(at) == len(numbers):
            self._widest[stream.number] = (at, likes)
        return numbers, likes

    def _vectors(self, stream: Stream, rows: Slice, at: "NDArray[np.int64]") -> "tuple[NDArray[np.int64], Whole]":
        """Return the memories in these rows with their vectors, from the cache or the store."""
        import numpy as np

        from recollect.rules.ranking.vectors import codes_from, squares

        numbers = rows.numbers[at]
        if rows.whole is not None:
            return numbers, rows.whole.at(at)
        blobs = self._reader.vectors_numbered(stream, numbers.tolist())
        numbers = numbers[np.isin(numbers, list(blobs))]
        codes = codes_from([bytes(blobs[number]) for number in numbers.tolist()], self._question.shape[1])
        return numbers, Whole(codes, squares(codes))


class PreparedQuestion(NamedTuple):
    """A question with its terms and vectors.

    An embedder may be remote and fail, so it runs before anything is read or recorded.
    """

    text: str
    embedder: Embedder
    codes: "Codes | None"
    """``None`` if the embedder makes no vectors."""
    question: Question
    similar: Mapping[str, Mapping[str, float]]
    """For each term of the question, words of similar meaning with their cosines."""
    named_only: bool = False
    """Whether only memories named in the question are recalled."""
    aspect: "Codes | None" = None
    """The vector of the question without the names in it; ``None`` if it names nobody."""

    @property
    def notice(self) -> str:
        """A note for the caller on how the question is answered; mostly empty."""
        return BY_WORDS_ALONE if self.embedder is NO_EMBEDDER else ""


def prepare_question(engine: "Engine", text: str, *, named_only: bool = False) -> PreparedQuestion:
    embedder = engine.meanings.for_reading(engine)
    question = read_question(text, engine.clock(), engine.policy.text.synonyms)
    similar = neighbours_of(question.terms) if engine.policy.recall.similar_words and not named_only else {}
    if not embedder.dimensions:
        return PreparedQuestion(text, embedder, None, question, similar, named_only)
    aspect = aspect_of(text)
    codes = codes_of(embedder, text, *([aspect] if aspect else []))
    return PreparedQuestion(text, embedder, codes[:1], question, similar, named_only, codes[1:] if aspect else None)


def announce(
    engine: "Engine",
    reader: Reader,
    owners: Sequence[str] | None,
    namespaces: Sequence[str],
    prepared: PreparedQuestion,
) -> None:
    """Announce a search in the streams of these owners, so that the store sends it with the lookup of streams."""
    at_hand, most = engine.meanings.at_hand(engine.tenant, owners), engine.policy.recall.max_postings
    similar = sorted({other for near in prepared.similar.values() for other in near})
    readings = [
        Reading(prepared.question.terms, most),
        Reading(similar, most // FOR_NEIGHBOURS),
        Reading(prepared.question.depends_on, most),
    ]
    reader.announce_search(engine.tenant, Search(owners, namespaces, readings, at_hand, *engine.sight))


def likeness(
    engine: "Engine", reader: Reader, streams: Sequence[Stream], prepared: PreparedQuestion
) -> Likeness | None:
    """Return the comparison of a question with these streams; ``None`` without vectors."""
    return (
        None if prepared.codes is None else _likeness(engine, reader, streams, prepared.embedder, prepared.codes, True)
    )


def likeness_of(
    engine: "Engine", reader: Reader, streams: Sequence[Stream], vector: bytes, *, committed: bool
) -> Likeness | None:
    """Return the comparison of a vector with these streams; in an uncommitted transaction, with the cache only."""
    embedder = engine.meanings.embedder(engine, reader)
    return _likeness(engine, reader, streams, embedder, _codes_in(vector), committed)


def _likeness(
    engine: "Engine", reader: Reader, streams: Sequence[Stream], embedder: Embedder, codes: "Codes", committed: bool
) -> Likeness | None:
    """Return the comparison with the streams whose vectors are this embedder's."""
    meanings = engine.meanings
    own = [stream for stream in streams if stream.last_memory and stream.embedder == label_of(embedder)]
    blocks = {stream.number: meanings.block(reader, stream, embedder.dimensions, committed) for stream in own}
    rows = [(stream, blocks[stream.number].between(0, stream.last_memory)) for stream in own]
    seen = {number: block.last for number, block in blocks.items()}
    return Likeness(reader, codes, rows, seen, scale_of(embedder)) if own else None


def codes_of(embedder: Embedder, *texts: str) -> "Codes":
    """Embed texts. A question may hold half a surrogate pair, which is replaced, as no embedder can read it."""
    return _embed_checked(embedder, [text.encode("utf-8", "replace").decode("utf-8") for text in texts])


def _codes_in(vector: bytes) -> "Codes":
    from recollect.rules.ranking.vectors import codes_from

    return codes_from([vector], len(vector))


def vector_of(engine: "Engine", text: str, reader: Reader | None) -> bytes:
    """Return a text's vector as it is stored; empty if the store has no vectors."""
    embedder = engine.meanings.embedder(engine, reader)
    return codes_of(embedder, text).tobytes() if embedder.dimensions else b""


def vectors_of(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """Return the vectors of texts as they are stored."""
    return [row.tobytes() for row in _embed_checked(embedder, texts)] if texts else []


def _embed_checked(embedder: Embedder, texts: Sequence[str]) -> "Codes":
    """Embed texts, or raise if the shape of the result is wrong, which would make the stream unreadable."""
    import numpy as np

    from recollect.rules.ranking.vectors import quantise

    vectors = np.asarray(embedder.embed(texts))
    if vectors.shape != (len(texts), embedder.dimensions) or not np.isfinite(vectors).all():
        message = f"{embedder.name} did not make a vector of {embedder.dimensions} numbers for each text."
        hint = "Its embed() gives one row a text, in their order, and each row has as many numbers as dimensions says."
        raise EmbedderUnavailable(message, field="embedder", hint=hint)
    return quantise(vectors)


def check_stream(reader: Reader, stream: Stream, embedder: Embedder) -> None:
    """Raise unless the vectors of a stream, or of the tenant for a new stream, are of this embedder.

    This stops a process that opened the store before a reindexing from adding vectors of the former embedder.
    """
    there = [stream.embedder] if stream.last_memory else reader.embedders(stream.tenant)
    if there and label_of(embedder) not in there:
        raise _mismatch(there, embedder)


def _choose_embedder(engine: "Engine") -> Embedder | None:
    settings = engine.policy.embedder
    return None if settings.name is None else embedder_named(settings_of(settings))


def settings_of(section: Embedding) -> EmbedderSettings:
    """Return the embedder section of the policy in the form that embedders take."""
    values = section.model_dump()
    return EmbedderSettings(**(values | {"name": section.name or "static"}))


def _check_vectors(engine: "Engine", configured: Embedder | None, reader: Reader | None) -> Embedder:
    """Return the configured embedder, or the one of the store's vectors; raise if none of the vectors are its own."""
    with nullcontext(reader) if reader is not None else engine.read(brief=True) as open_reader:
        there = open_reader.embedders(engine.tenant)
    if there and FORMER_DEFAULTS.issuperset(there) and (configured is None or policy_name(configured) == "static"):
        message = f"the vectors here were made by {_join_names(there)}, the default of an earlier version."
        hint = "Make them anew: recollect reindex. Until then queries are answered by words alone."
        raise FormerVectors(message, field="embedder", hint=hint)
    embedder = configured or _find_embedder(there)
    if there and label_of(embedder) not in there:
        raise _mismatch(there, embedder)
    return embedder


def _find_embedder(there: Sequence[str]) -> Embedder:
    """Return the embedder that made the vectors in the store; the default for a new store."""
    known = {label_of(one): one for one in (embedder_named(EmbedderSettings(name)) for name in ("static", "none"))}
    found = next((known[label] for label in there if label in known), None)
    if found is not None or not there:
        return found or known[label_of(embedder_named(EmbedderSettings()))]
    hint = "Open it with that embedder, or change to another: recollect reindex --embedder static"
    raise EmbedderMismatch(f"the vectors here were made by {_join_names(there)}.", field="embedder", hint=hint)


def _mismatch(there: Sequence[str], embedder: Embedder) -> EmbedderMismatch:
    """Return the error, with the command that makes this embedder's vectors."""
    name = policy_name(embedder)
    command = f"recollect reindex --embedder {name}" if name else "mem.reindex(embedder), in Python"
    if name == "openai":
        command = "recollect --policy FILE reindex, with the policy that describes it"
    message = f"the vectors here were made by {_join_names(there)}, not by {_join_names([label_of(embedder)])}."
    hint = f"Open it with the embedder that made them, or make them anew with this one: {command}"
    return EmbedderMismatch(message, field="embedder", hint=hint)


def _join_names(labels: Sequence[str]) -> str:
    return " and ".join(label or "nobody (there are none)" for label in labels)
