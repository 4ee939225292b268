"""Make vectors anew, by the same embedder or another, while the store is in use.

A stream's new vectors are made in batches, each in its own transaction, so that a kill loses one batch and the next run
continues from there. Once all are made, a short transaction makes the last few, switches to the new generation, and
drops the old one. Until then queries use the old vectors.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_changes

from recollect.embed import Embedder, embedder_named
from recollect.embed.protocol import label_of
from recollect.engine.context import Engine
from recollect.engine.read.meaning import settings_of, vectors_of
from recollect.engine.retries import again_on_conflict
from recollect.model.caller import Right
from recollect.model.canonical import Plain
from recollect.model.errors import EmbedderMismatch
from recollect.stores.protocol import NO_LIMIT, Stream, Writer

Progress = Callable[[int, int], None]
"""Called with how much is done, and of how much."""


class ProgressCounter:
    """Adds up how much of a total is done, and tells the progress callback, if there is one."""

    def __init__(self, progress: Progress | None, total: int = 0) -> None:
        self._progress, self.done, self.total = progress, 0, total

    def add(self, count: int = 1) -> None:
        self.done += count
        if self._progress is not None:
            self._progress(self.done, max(self.done, self.total))


CHUNK = 256
"""How many texts are embedded, and their vectors committed, at a time."""


@dataclass(frozen=True, slots=True)
class Reindexed(Plain):
    """The embedder of the vectors (``none`` if there are none), and how many streams and vectors were made anew."""

    embedder: str
    streams: int
    vectors: int


def reindex(
    engine: Engine, embedder: str | Embedder | None = None, progress: Progress | None = None, chunk: int = CHUNK
) -> Reindexed:
    """Give every memory of the tenant a vector by this embedder, skipping streams that have its vectors already.

    The default is the policy's embedder, else the built-in one. This engine uses it from then on; other processes must
    open the store again.
    """
    engine.require(Right.OPERATE, "make vectors anew")
    chosen = _choose_embedder(engine, embedder)
    begun: set[int] = set()
    made = 0
    while streams := [stream for stream in _find_outdated_streams(engine, chosen) if stream.number not in begun]:
        begun |= {stream.number for stream in streams}
        done = ProgressCounter(progress, sum(stream.last_memory for stream in streams))
        made += sum(_reindex_stream(engine, stream, chosen, done, chunk) for stream in streams)
        progress = None  # the streams added meanwhile are few, and the total was reported
    engine.meanings.change(engine.tenant, chosen)
    return Reindexed(label_of(chosen) or "none", len(begun), made)


def _find_outdated_streams(engine: Engine, embedder: Embedder) -> list[Stream]:
    """Return the streams with another embedder's vectors, or with an unfinished reindexing."""
    with engine.read() as reader:
        streams = [stream for stream in reader.streams_of(engine.tenant) if stream.last_memory]
    return [stream for stream in streams if stream.embedder != label_of(embedder) or stream.next_embedder]


def _choose_embedder(engine: Engine, embedder: str | Embedder | None) -> Embedder:
    if embedder is not None and not isinstance(embedder, str):
        return embedder
    settings = settings_of(engine.policy.embedder)
    return embedder_named(settings if embedder is None else with_changes(settings, name=embedder))


def _reindex_stream(engine: Engine, stream: Stream, embedder: Embedder, done: ProgressCounter, chunk: int) -> int:
    """Give a stream new vectors, and return how many; memories written since the count do not count as done."""
    made = last = 0
    end = done.done + stream.last_memory
    if embedder.dimensions and stream.embedder != label_of(embedder):
        generation = _begin(engine, stream.number, embedder)
        while missing := _find_missing(engine, stream, generation, last, chunk):
            vectors = vectors_of(embedder, [content for _, content in missing])
            numbers = [number for number, _ in missing]
            made += _keep(engine, stream.number, generation, embedder, list(zip(numbers, vectors, strict=True)))
            done.add(min(numbers[-1], stream.last_memory) - min(last, stream.last_memory))
            last = numbers[-1]
    made += _finish(engine, stream.number, embedder)
    done.add(end - done.done)
    return made


@again_on_conflict
def _begin(engine: Engine, number: int, embedder: Embedder) -> int:
    """Return the generation being made; drop what another embedder had begun."""
    with engine.write() as writer:
        stream = writer.locked_stream(engine.tenant, number)
        if stream.next_embedder != label_of(embedder):
            _drop_begun(writer, stream)
            stream.next_embedder = label_of(embedder)
            writer.set_embedder(stream)
        return stream.generation + 1


def _drop_begun(writer: Writer, stream: Stream) -> None:
    """Drop the vectors of the next generation."""
    writer.drop_vectors(stream, stream.generation + 1)
    stream.next_embedder = ""


def _find_missing(engine: Engine, stream: Stream, generation: int, after: int, most: int) -> list[tuple[int, str]]:
    with engine.read() as reader:
        return reader.without_vector(stream, generation, after, most)


@again_on_conflict
def _keep(
    engine: Engine, number: int, generation: int, embedder: Embedder, vectors: Sequence[tuple[int, bytes]]
) -> int:
    """Store the vectors whose memory still has its content: it may have been erased meanwhile."""
    with engine.write() as writer:
        stream = writer.locked_stream(engine.tenant, number)
        if stream.generation + 1 != generation:
            return 0  # another process finished the generation meanwhile
        _check_owner(stream, embedder)
        first, last = vectors[0][0], vectors[-1][0]
        missing = {number for number, _ in writer.without_vector(stream, generation, first - 1, last - first + 1)}
        kept = [(number, codes) for number, codes in vectors if number in missing]
        writer.add_vectors(stream, generation, kept)
        return len(kept)


def _check_owner(stream: Stream, embedder: Embedder) -> None:
    """Raise if another process began a different reindexing: the last to begin continues."""
    if stream.next_embedder != label_of(embedder):
        message = f"somebody else is making vectors by {stream.next_embedder or 'nobody'} here meanwhile."
        hint = "Wait until that is done; then, if these are wanted after all: recollect reindex"
        raise EmbedderMismatch(message, field="embedder", hint=hint)


@again_on_conflict
def _finish(engine: Engine, number: int, embedder: Embedder) -> int:
    """Make the last vectors, switch to the new generation, and drop the old one and what another embedder had begun."""
    with engine.write() as writer:
        stream = writer.locked_stream(engine.tenant, number)
        made = 0
        if stream.embedder == label_of(embedder) or not embedder.dimensions:
            _drop_begun(writer, stream)
        else:
            _check_owner(stream, embedder)
            made = _add_missing(writer, stream, stream.generation + 1, embedder)
        if stream.embedder != label_of(embedder):
            writer.drop_vectors(stream, stream.generation)
            stream.embedder, stream.next_embedder = label_of(embedder), ""
            stream.generation += 1
        writer.set_embedder(stream)
    engine.meanings.forget(engine.tenant, number)
    return made


def _add_missing(writer: Writer, stream: Stream, generation: int, embedder: Embedder) -> int:
    missing = writer.without_vector(stream, generation, 0, NO_LIMIT)
    vectors = vectors_of(embedder, [content for _, content in missing])
    numbers = [number for number, _ in missing]
    writer.add_vectors(stream, generation, list(zip(numbers, vectors, strict=True)))
    return len(missing)


def remake_vectors(writer: Writer, stream: Stream, embedder: Embedder | None) -> None:
    """Drop a stream's vectors and make them again, unless they are of another embedder."""
    if embedder is not None and embedder.dimensions and stream.embedder == label_of(embedder):
        writer.drop_vectors(stream, stream.generation)
        _add_missing(writer, stream, stream.generation, embedder)
