"""Making vectors anew, by the same embedder or another, while the memory is in use.

A stream's new vectors are made beside those in use, some hundred at a time and each time in a transaction of its own, so that
a kill loses no more than that; running it again goes on where it was. When all are there, one short transaction makes the
last few, takes the new ones into use, and drops the old ones. Until then queries are answered with the old ones.
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
from recollect.model.errors import EmbedderMismatch
from recollect.model.receipt import Plain
from recollect.stores.protocol import NO_LIMIT, Stream, Writer

Progress = Callable[[int, int], None]
CHUNK = 256
"""How many texts are embedded, and their vectors committed, at a time."""


@dataclass(frozen=True, slots=True)
class Reindexed(Plain):
    """Whose vectors the memories have now (``none``: nobody's), and how many were made."""

    embedder: str
    streams: int
    vectors: int


def reindex(
    engine: Engine, embedder: str | Embedder | None = None, progress: Progress | None = None, chunk: int = CHUNK
) -> Reindexed:
    """Give every memory of the tenant a vector by this embedder; streams that have its vectors already are passed over.

    Without an embedder it is the policy's, and else the default one. From then on this memory uses it; whoever else has it
    open must open it again.
    """
    engine.require(Right.OPERATE, "make vectors anew")
    chosen = _chosen(engine, embedder)
    begun: set[int] = set()
    made = 0
    while streams := [stream for stream in _others(engine, chosen) if stream.number not in begun]:
        begun |= {stream.number for stream in streams}
        done = _Done(sum(stream.last_memory for stream in streams), progress)
        made += sum(_reindex_stream(engine, stream, chosen, done, chunk) for stream in streams)
        progress = None  # those who came meanwhile are few, and the whole has been told
    engine.meanings.change(engine.tenant, chosen)
    return Reindexed(label_of(chosen) or "none", len(begun), made)


def _others(engine: Engine, embedder: Embedder) -> list[Stream]:
    """The streams that have another's vectors, or that somebody had begun to give another's and did not finish."""
    with engine.read() as reader:
        streams = [stream for stream in reader.streams_of(engine.tenant) if stream.last_memory]
    return [stream for stream in streams if stream.embedder != label_of(embedder) or stream.next_embedder]


def _chosen(engine: Engine, embedder: str | Embedder | None) -> Embedder:
    if embedder is not None and not isinstance(embedder, str):
        return embedder
    settings = settings_of(engine.policy.embedder)
    return embedder_named(settings if embedder is None else with_changes(settings, name=embedder))


class _Done:
    """How far the whole of it is, in memories."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress, self._before = total, progress, 0

    def at(self, stream: Stream, number: int) -> None:
        """Within a stream, up to this memory; those that were written since it was counted do not count."""
        self._tell(self._before + min(number, stream.last_memory))

    def with_stream(self, stream: Stream) -> None:
        self._before += stream.last_memory
        self._tell(self._before)

    def _tell(self, count: int) -> None:
        if self._progress is not None:
            self._progress(count, self._total)


def _reindex_stream(engine: Engine, stream: Stream, embedder: Embedder, done: _Done, chunk: int) -> int:
    made = last = 0
    if embedder.dimensions and stream.embedder != label_of(embedder):
        generation = _begin(engine, stream.number, embedder)
        while missing := _still_to_do(engine, stream, generation, last, chunk):
            vectors = vectors_of(embedder, [content for _, content in missing])
            numbers = [number for number, _ in missing]
            made += _keep(engine, stream.number, generation, embedder, list(zip(numbers, vectors, strict=True)))
            last = numbers[-1]
            done.at(stream, last)
    made += _finish(engine, stream.number, embedder)
    done.with_stream(stream)
    return made


@again_on_conflict
def _begin(engine: Engine, number: int, embedder: Embedder) -> int:
    """The generation that is being made; what another embedder had begun is dropped."""
    with engine.write() as writer:
        stream = writer.locked_stream(engine.tenant, number)
        if stream.next_embedder != label_of(embedder):
            _drop_begun(writer, stream)
            stream.next_embedder = label_of(embedder)
            writer.set_embedder(stream)
        return stream.generation + 1


def _drop_begun(writer: Writer, stream: Stream) -> None:
    """Drop what was made for the next generation."""
    writer.drop_vectors(stream, stream.generation + 1)
    stream.next_embedder = ""


def _still_to_do(engine: Engine, stream: Stream, generation: int, after: int, most: int) -> list[tuple[int, str]]:
    with engine.read() as reader:
        return reader.without_vector(stream, generation, after, most)


@again_on_conflict
def _keep(
    engine: Engine, number: int, generation: int, embedder: Embedder, vectors: Sequence[tuple[int, bytes]]
) -> int:
    """Keep those whose memory still has its content: it may have been erased while its vector was made."""
    with engine.write() as writer:
        stream = writer.locked_stream(engine.tenant, number)
        if stream.generation + 1 != generation:
            return 0  # somebody else has finished meanwhile
        _still_ours(stream, embedder)
        first, last = vectors[0][0], vectors[-1][0]
        there = {number for number, _ in writer.without_vector(stream, generation, first - 1, last - first + 1)}
        kept = [(number, codes) for number, codes in vectors if number in there]
        writer.add_vectors(stream, generation, kept)
        return len(kept)


def _still_ours(stream: Stream, embedder: Embedder) -> None:
    """Of two who make different vectors at once, the one who began last goes on."""
    if stream.next_embedder != label_of(embedder):
        message = f"somebody else is making vectors by {stream.next_embedder or 'nobody'} here meanwhile."
        hint = "Wait until that is done; then, if these are wanted after all: recollect reindex"
        raise EmbedderMismatch(message, field="embedder", hint=hint)


@again_on_conflict
def _finish(engine: Engine, number: int, embedder: Embedder) -> int:
    """Make the last few, and take all into use. The old ones are dropped, and so is what another had begun."""
    with engine.write() as writer:
        stream = writer.locked_stream(engine.tenant, number)
        made = 0
        if stream.embedder == label_of(embedder) or not embedder.dimensions:
            _drop_begun(writer, stream)
        else:
            _still_ours(stream, embedder)
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
    """Drop a stream's vectors and make them again; another embedder's stay as they are."""
    if embedder is not None and embedder.dimensions and stream.embedder == label_of(embedder):
        writer.drop_vectors(stream, stream.generation)
        _add_missing(writer, stream, stream.generation, embedder)
