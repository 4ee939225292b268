"""Vectors: found by meaning, always of one embedder, in step with the text, and gone with it."""

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.embed import EmbedderUnavailable
from recollect.engine.read.meaning import Likeness, Meanings, prepare_question
from recollect.interfaces.python import Recollect
from recollect.model.errors import EmbedderMismatch
from recollect.stores.protocol import NO_LIMIT
from support.script import open_seeded
from support.topics import TopicEmbedder

DRINKS, TRAVEL = "tea coffee cocoa beverage thirsty", "train bus ferry journey"
MEANING = TopicEmbedder(DRINKS, TRAVEL)


def add(mem: Recollect, content: str, **fields: Any) -> str:
    receipt = mem.add(content, **{"owner": "ana", "title": content, **fields})
    assert receipt.memory is not None, receipt.reasons
    return str(receipt.memory.id)


def told(mem: Any, question: str, **how: Any) -> list[str]:
    return [item.memory.content for item in mem.query(question, **{"owner": "ana", **how}).items]


def vectors(mem: Recollect) -> dict[tuple[int, int], bytes]:
    """Every vector in use, by place."""
    with mem.engine.read() as reader:
        streams = reader.streams_of(mem.engine.tenant)
        return {(s.number, number): bytes(codes) for s in streams for number, codes in reader.vectors_after(s, 0)}


def assert_in_step(mem: Recollect) -> None:
    """What has content has a vector, and nothing else has."""
    with mem.engine.read() as reader:
        for stream in reader.streams_of(mem.engine.tenant):
            assert reader.without_vector(stream, stream.generation, 0, NO_LIMIT) == []
            assert reader.stray_vectors(stream) == []


def test_what_shares_no_word_is_found_by_what_it_means(place: str) -> None:
    with recollect.open(place, policy={"recall": {"similar_words": 0}}) as mem:
        add(mem, "The physician prescribed antibiotics for her infection")
        add(mem, "The train to Basel leaves at seven")
        (item,) = mem.query("doctor medicine illness", owner="ana").items
        assert item.memory.content.startswith("The physician")
        assert item.recall_reason == ("means_alike",) and item.breakdown["meaning"] > 0
        assert_in_step(mem)


def test_what_means_too_little_alike_is_not_told() -> None:
    with recollect.open(":memory:", embedder=MEANING, policy={"ranking": {"meaning_min": 0.4}}) as mem:
        add(mem, "tea ferry train bus")
        assert told(mem, "thirsty") == [], "a cosine of 0.3 is less than meaning_min"
    with recollect.open(":memory:", embedder=MEANING, policy={"ranking": {"meaning_min": 0.2}}) as mem:
        add(mem, "tea ferry train bus")
        assert told(mem, "thirsty") == ["tea ferry train bus"]


def test_what_another_wrote_a_moment_ago_is_in_the_next_answer(place: str) -> None:
    with recollect.open(place, embedder=MEANING) as one, recollect.open(place, embedder=MEANING) as other:
        for number in range(5):
            add(one, f"tea number {number}")
            assert f"tea number {number}" in told(other, "thirsty", top_k=10)
            add(other, f"coffee number {number}")
            assert f"coffee number {number}" in told(one, "thirsty", top_k=10)
        assert len(told(one, "beverage", top_k=20)) == 10


def test_what_another_forgot_or_erased_is_not_in_the_next_answer(place: str) -> None:
    with recollect.open(place, embedder=MEANING) as one, recollect.open(place, embedder=MEANING) as other:
        gone, away, stays = add(one, "tea"), add(one, "coffee"), add(one, "cocoa")
        assert len(told(other, "thirsty")) == 3
        one.erase(id=gone)
        one.forget(away)
        assert told(other, "thirsty") == ["cocoa"]
        assert other.get(stays).content == "cocoa"


def test_a_very_selective_filter_still_finds_by_meaning() -> None:
    """The one that may be told is the least alike of 1,051: it would be passed over among the nearest alone."""
    with recollect.open(":memory:", embedder=MEANING, policy={"relations": {"neighbours": 0}}) as mem:
        rows = [{"content": f"tea {n:04d}", "canonical_key": f"Cup-{n:04d}", "owner": "ana"} for n in range(1_050)]
        with_ferry = {"content": "cocoa on the ferry", "owner": "ana", "category": "tasks", "tags": ["rare"]}
        mem.add_many([with_ferry, *rows])
        assert told(mem, "thirsty", filters={"tags": ["rare"]}) == ["cocoa on the ferry"]
        assert told(mem, "thirsty", categories=["tasks"]) == ["cocoa on the ferry"]
        assert told(mem, "thirsty", filters={"tags": ["none"]}) == []


def test_the_past_is_searched_by_meaning_too(place: str) -> None:
    with recollect.open(place, embedder=MEANING) as mem:
        add(mem, "tea at eight", canonical_key="Ana-Morning")
        add(mem, "coffee at eight", canonical_key="Ana-Morning", change="update")
        assert told(mem, "thirsty") == ["coffee at eight"]
        assert told(mem.as_of(tick=1), "thirsty") == ["tea at eight"]


def test_both_stores_give_the_same_order_and_the_same_scores(tmp_path: Path, server_store: str) -> None:
    answers: list[list[Any]] = []
    sentences = [f"{who} {what}" for who in ("Ana", "Ben", "Chloé") for what in ("likes tea", "takes the bus", "sings")]
    for location in (str(tmp_path / "m.db"), server_store):
        with open_seeded(location, policy={"ranking": {"meaning_min": 0.1}}) as mem:
            for number, sentence in enumerate(sentences):
                add(mem, f"{sentence} on day {number}", owner=("ana", "ben")[number % 2])
            found = [
                mem.query(text, top_k=20).items for text in ("hot drink", "public transport", "Chloé music", "tea")
            ]
            answers.append(
                [[(i.memory.content, i.score, i.relevance, i.breakdown, i.recall_reason) for i in one] for one in found]
            )
            answers[-1].append(sorted(vectors(mem).values()))
    assert answers[0] == answers[1] and answers[0][0]


def test_a_question_of_half_a_character_is_a_question() -> None:
    with recollect.open(":memory:") as mem:
        add(mem, "tea")
        assert told(mem, "tea \ud83d") == ["tea"]


def test_without_an_embedder_everything_works_by_words(place: str) -> None:
    with recollect.open(place, embedder="none") as mem:
        tea, coffee = add(mem, "tea in the morning"), add(mem, "coffee in the evening")
        assert told(mem, "coffee") == ["coffee in the evening"] and told(mem, "beverage") == []
        mem.link(tea, coffee)
        assert [one.id for one in mem.related(coffee)] == [tea]
        assert vectors(mem) == {} and mem.verify().ok
        mem.rebuild()
        assert vectors(mem) == {} and mem.verify().ok
        mem.erase(id=tea)
        assert mem.verify().ok and mem.related(coffee) == ()


def test_a_memory_that_had_no_vectors_goes_on_without(place: str) -> None:
    with recollect.open(place, embedder="none") as mem:
        add(mem, "tea in the morning")
    with recollect.open(place) as mem:
        add(mem, "coffee in the evening")
        add(mem, "juice at noon", owner="ben")
        assert vectors(mem) == {} and mem.verify().ok


OTHER = TopicEmbedder(DRINKS, TRAVEL, "rent")
_MENDS = {name: f"recollect reindex --embedder {name}" for name in ("none", "static")}


@pytest.mark.parametrize("asked", [OTHER, TopicEmbedder(DRINKS, TRAVEL, name="other"), "none", "static", None])
def test_whoever_brings_another_embedder_is_told_what_to_do(tmp_path: Path, asked: Any) -> None:
    path = tmp_path / "m.db"
    with recollect.open(path, embedder=MEANING) as mem:
        add(mem, "tea")
    with recollect.open(path, embedder=asked) as mem:
        for call in (lambda: mem.query("tea"), lambda: add(mem, "coffee"), lambda: add(mem, "coffee", owner="ben")):
            with pytest.raises(EmbedderMismatch, match=r"topics/2") as refused:
                call()
            assert _MENDS.get(asked or "static", "mem.reindex(embedder), in Python") in str(refused.value.hint)
            assert (refused.value.field, refused.value.exit_code) == ("embedder", 2)
        assert mem.list(owner="ana").items[0].content == "tea" and mem.verify().ok
    with recollect.open(path, embedder=MEANING) as mem:
        assert told(mem, "thirsty") == ["tea"] and len(vectors(mem)) == 1


def test_vectors_where_there_were_none_are_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with recollect.open(path, embedder="none") as mem:
        add(mem, "tea")
    with recollect.open(path, embedder="static") as mem, pytest.raises(EmbedderMismatch, match="recollect reindex"):
        add(mem, "coffee")


def test_two_who_opened_an_empty_memory_do_not_mix_their_vectors(place: str) -> None:
    """Both looked when nothing was there. The first to write settles it, for every stream."""
    with recollect.open(place, embedder=MEANING) as one, recollect.open(place, embedder=OTHER) as other:
        assert one.query("tea").items == other.query("tea").items == ()
        add(one, "tea")
        for owner in ("ana", "ben"):
            with pytest.raises(EmbedderMismatch):
                add(other, "coffee", owner=owner)
        add(one, "coffee", owner="ben")
        assert one.verify().ok and len(vectors(one)) == 2


def test_each_tenant_has_its_own_embedder(place: str) -> None:
    with recollect.open(place, embedder=MEANING, tenant="acme") as mem:
        add(mem, "tea")
    with recollect.open(place, embedder=OTHER, tenant="globex") as mem:
        add(mem, "rent")
        assert told(mem, "rent") == ["rent"]


class Wrong:
    """Says that it makes vectors of three numbers, and does not."""

    name, dimensions = "wrong", 3

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def embed(self, texts: Any) -> Any:
        import numpy as np

        return np.array(self._rows, dtype=np.float32)


@pytest.mark.parametrize("rows", [[[1, 0]], [[1, 0, 0], [0, 1, 0]], [], [[1, float("nan"), 0]], [1, 0, 0]])
def test_an_embedder_that_is_not_what_it_says_is_found_out(rows: Any) -> None:
    with recollect.open(":memory:", embedder=Wrong(rows)) as mem:
        with pytest.raises(EmbedderUnavailable, match="wrong did not make"):
            add(mem, "tea")
        assert mem.list(owner="ana").items == ()


@pytest.mark.parametrize("how", ["erased", "purged"])
def test_the_vector_of_what_is_removed_is_gone_from_the_file(tmp_path: Path, how: str) -> None:
    now = [datetime(2026, 3, 1, tzinfo=UTC)]
    path = tmp_path / "m.db"
    with recollect.open(path, clock=lambda: now[0]) as mem:
        gone = add(mem, "The physician prescribed antibiotics", pinned=True)
        add(mem, "The train to Basel leaves at seven", pinned=True)
        codes = vectors(mem)[1, 1]
        assert told(mem, "doctor medicine illness") == ["The physician prescribed antibiotics"]
        assert codes in _bytes_of(tmp_path)
        if how == "erased":
            mem.erase(id=gone)
        else:
            mem.forget(gone)
            now[0] += timedelta(days=400)
            assert mem.upkeep().purged == (gone,)
        assert list(vectors(mem)) == [(1, 2)] and told(mem, "doctor medicine illness") == []
        assert_in_step(mem)
        assert mem.verify().ok
    parts = {codes[at : at + 16] for at in range(0, len(codes), 16)}
    assert not [part for part in parts if part in _bytes_of(tmp_path)]


def _bytes_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir() if file.is_file())


def test_what_is_undone_leaves_nothing_at_hand(place: str) -> None:
    """The number of a memory that never came to be is given to the next one, which means something else."""
    with recollect.open(place, embedder=MEANING) as mem:
        add(mem, "tea")
        told(mem, "thirsty")
        with pytest.raises(ZeroDivisionError), mem.engine.write() as writer:
            stream = writer.locked_stream(mem.engine.tenant, 1)
            writer.add_vectors(stream, 0, [(2, bytes([127, 0]))])
            stream.last_memory = 2
            compared = _within(mem, writer, stream)
            assert compared.nearest(10) == [((1, 1), 1.0)], "what may still be undone is not looked at"
            raise ZeroDivisionError
        add(mem, "train")
        assert told(mem, "thirsty") == ["tea"] and told(mem, "journey") == ["train"]


def _within(mem: Recollect, writer: Any, stream: Any) -> Likeness:
    from recollect.engine.read.meaning import likeness_of

    found = likeness_of(mem.engine, writer, [stream], bytes([127, 0]), committed=False)
    assert found is not None
    return found


def test_a_rebuild_gives_the_same_vectors(place: str) -> None:
    with recollect.open(place) as mem:
        for number in range(5):
            add(mem, f"tea number {number}", canonical_key="Ana-Cup", change="update" if number else None)
        mem.erase(id=add(mem, "gone"))
        before, answer = vectors(mem), mem.query("hot drink", owner="ana").items
        mem.rebuild()
        assert vectors(mem) == before and len(before) == 5
        assert mem.query("hot drink", owner="ana").items == answer
        assert_in_step(mem)


def test_a_rebuild_mends_what_verify_finds(place: str) -> None:
    with recollect.open(place) as mem:
        add(mem, "tea")
        before = vectors(mem)
        with mem.engine.write() as writer:
            writer.drop_vectors(writer.locked_stream(mem.engine.tenant, 1), 0)
        assert "no vector" in repr(mem.verify().problems)
        mem.rebuild()
        assert vectors(mem) == before and mem.verify().ok


def test_backups_and_moves_carry_them(tmp_path: Path, empty: str) -> None:
    path, copy = tmp_path / "m.db", tmp_path / "copy.db"
    with recollect.open(path) as mem:
        tea, coffee = add(mem, "green tea leaves"), add(mem, "black coffee beans")
        mem.link(tea, coffee, relation_type="contrasts_with")
        before, related = vectors(mem), mem.related(tea)
        mem.backup(copy)
    with recollect.open(copy) as mem:
        assert (vectors(mem), mem.related(tea)) == (before, related) and mem.verify().ok
    recollect.migrate(path, empty)
    with recollect.open(empty) as mem:
        assert (vectors(mem), mem.related(tea)) == (before, related) and mem.verify().ok


def _limited(mem: Recollect, max_kept: int) -> Recollect:
    return Recollect(replace(mem.engine, meanings=Meanings(None, max_kept)))


def test_streams_too_large_to_keep_give_the_same_answers(place: str) -> None:
    questions = ("hot drink", "public transport", "tea for Ben", "an evening")
    with recollect.open(place) as mem:
        for owner in ("ana", "ben", "cat"):
            mem.add_many(
                [
                    {"content": f"{owner} {what} {n}", "owner": owner}
                    for n in range(8)
                    for what in ("likes tea", "sings")
                ]
            )
        plain = [[(i.memory.id, i.score) for i in mem.query(q, top_k=30).items] for q in questions]
        for max_kept in (0, 20):
            small = _limited(mem, max_kept)
            for _ in range(2):
                assert [[(i.memory.id, i.score) for i in small.query(q, top_k=30).items] for q in questions] == plain, (
                    max_kept
                )
        add(small, "ana likes cocoa at last")
        assert "ana likes cocoa at last" in told(small, "ana likes cocoa")


def test_the_policy_says_how_many_vectors_stay_at_hand() -> None:
    with recollect.open(":memory:", embedder=MEANING, policy={"recall": {"vectors_at_hand": 1_000}}) as mem:
        assert mem.engine.meanings.max_kept == 1_000


@pytest.mark.parametrize("read_again", [5, 6])
def test_what_is_at_hand_stays_within_its_bounds(monkeypatch: pytest.MonkeyPatch, read_again: int) -> None:
    monkeypatch.setattr("recollect.engine.read.meaning.READ_AGAIN", read_again)
    with recollect.open(":memory:", embedder=MEANING) as mem:
        for owner in ("ana", "ben", "cat"):
            mem.add_many([{"content": f"tea {n}", "canonical_key": f"Cup-{n}", "owner": owner} for n in range(6)])
        small = _limited(mem, 7)
        reads: list[int] = []
        with mem.engine.read() as reader:
            streams = reader.streams_of("default")
            counting: Any = _Counting(reader, reads)
            blocks = [small.engine.meanings.block(counting, s, 2, True) for s in streams]
            assert [block.is_whole for block in blocks] == [False, False, True], "the newest keep all their bytes"
            again = [small.engine.meanings.block(counting, s, 2, True) for s in streams]
        if read_again < 6:
            assert again == blocks and reads == [1, 2, 3], "signs stay at hand, and are not read again"
        else:
            assert again[2].is_whole and reads == [1, 2, 3, 1, 2, 3], "a small stream is read again when it is asked"


class _Counting:
    """A reader that notes whose vectors are read."""

    def __init__(self, reader: Any, reads: list[int]) -> None:
        self._reader, self._reads = reader, reads

    def vectors_after(self, stream: Any, after: int) -> Any:
        self._reads.append(stream.number)
        return self._reader.vectors_after(stream, after)


def test_threads_of_different_tenants_do_not_wait_for_each_other_for_ever() -> None:
    """One is inside a transaction while the other asks for its embedder for the first time."""
    with recollect.open(":memory:", embedder=MEANING) as mem:
        engine = mem.engine
        other = replace(engine, caller=replace(engine.caller, tenant="globex"))
        inside, done = threading.Event(), threading.Event()

        def ask() -> None:
            inside.wait(5)
            prepare_question(other, "tea")
            done.set()

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        with engine.write() as writer:
            inside.set()
            done.wait(0.2)
            assert engine.meanings.embedder(engine, writer) is MEANING
        assert done.wait(10)
