"""Making vectors anew: from one embedder to another and back, while others read and write, and after a stop in the middle."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import recollect
from recollect.engine.read.reindexing import reindex
from recollect.interfaces.python import Recollect
from recollect.model.errors import EmbedderMismatch, NotAllowed
from recollect.stores.protocol import NO_LIMIT
from support.topics import TopicEmbedder

DRINKS, TRAVEL = "tea coffee beverage thirsty", "train bus ferry journey"


class Stopped(Exception):
    """Somebody pulled the plug."""


def topics(listening: Callable[[Sequence[str]], object] | None = None, name: str = "topics") -> TopicEmbedder:
    return TopicEmbedder(DRINKS, TRAVEL, name=name, listening=listening)


def fill(mem: Recollect, count: int = 3, owner: str = "ana") -> None:
    rows = [{"content": f"tea number {n}", "canonical_key": f"Cup-{n}", "owner": owner} for n in range(count)]
    mem.add_many(rows)


def told(mem: Recollect, question: str) -> int:
    return len(mem.query(question, owner="ana", top_k=1_000).items)


def kept(mem: Recollect) -> list[tuple[str, int, int, int]]:
    """Of each stream: whose vectors, how many are in use, how many lie beside them, and how many are wanting."""
    with mem.engine.read() as reader:
        return [
            (
                s.embedder,
                len(reader.vectors_after(s, 0)),
                s.last_memory - len(reader.without_vector(s, s.generation + 1, 0, NO_LIMIT)),
                len(reader.without_vector(s, s.generation, 0, NO_LIMIT)),
            )
            for s in reader.streams_of(mem.engine.tenant)
        ]


def test_from_one_embedder_to_another_to_none_and_back(place: str) -> None:
    with recollect.open(place) as mem:
        fill(mem)
        fill(mem, 2, "ben")
        report = mem.reindex(topics())
        assert (report.embedder, report.streams, report.vectors) == ("topics/2", 2, 5)
        assert kept(mem) == [("topics/2", 3, 0, 0), ("topics/2", 2, 0, 0)]
        assert told(mem, "thirsty") == 3 and mem.verify().ok
        assert mem.reindex("none").embedder == "none"
        assert kept(mem) == [("", 0, 0, 3), ("", 0, 0, 2)]
        assert told(mem, "thirsty") == 0 and told(mem, "tea") == 3 and mem.verify().ok
        assert mem.reindex("static").vectors == 5
        assert [used for _, used, _, _ in kept(mem)] == [3, 2] and mem.verify().ok
        assert mem.reindex("static") == mem.reindex() != report, "there was nothing left to do"
        assert mem.reindex().vectors == 0
    with recollect.open(place) as mem:
        fill(mem, 5)
        assert mem.verify().ok


def test_only_who_may_operate_makes_vectors_anew(place: str) -> None:
    with recollect.open(place) as mem:
        fill(mem)
        with pytest.raises(NotAllowed):
            mem.as_caller(user="ana").reindex("none")


def test_it_tells_how_far_it_is(place: str) -> None:
    heard: list[tuple[int, int]] = []
    with recollect.open(place) as mem:
        fill(mem, 12)
        fill(mem, 3, "ben")
        more = iter([20])

        def grow(_: Sequence[str]) -> None:
            """The first stream grows meanwhile, beyond what was counted."""
            for count in more:
                fill(mem, count)

        reindex(mem.engine, topics(grow), lambda done, total: heard.append((done, total)), chunk=4)
        assert mem.verify().ok
    assert [done for done, _ in heard] == sorted(done for done, _ in heard), "it never goes back"
    assert heard[-1] == (15, 15) and {total for _, total in heard} == {15}
    assert len(heard) > 3


def test_what_is_written_meanwhile_gets_its_vector_too(place: str) -> None:
    with recollect.open(place) as mem, recollect.open(place) as other:
        fill(mem, 2)
        said = iter(["coffee at one", "bus at two"])

        def write(_: Sequence[str]) -> None:
            for content in said:
                other.add(content, owner="ana", title=content)
                other.add(content, owner="somebody new", title=content)
                return

        assert mem.reindex(topics(write)).embedder == "topics/2"
        assert [name for name, *_ in kept(mem)] == ["topics/2"] * 2, "the stream that came meanwhile is not forgotten"
        assert told(mem, "beverage") == 3 and told(mem, "journey") == 1 and mem.verify().ok


def test_what_is_erased_meanwhile_leaves_no_vector(place: str) -> None:
    with recollect.open(place) as mem, recollect.open(place) as other:
        fill(mem, 4)
        doomed = [memory.id for memory in mem.list(owner="ana").items]

        def erase(_: Sequence[str]) -> None:
            if len(doomed) > 1:
                other.erase(id=doomed.pop())

        mem.reindex(topics(erase))
        with mem.engine.read() as reader:
            (stream,) = reader.streams_of("default")
            assert reader.stray_vectors(stream) == [] and len(reader.vectors_after(stream, 0)) < 4
        assert mem.verify().ok and other.verify().ok


def test_others_are_answered_meanwhile_and_can_open_it_meanwhile(place: str) -> None:
    """With several owners there is a time when some have the new vectors already, and others the old ones still."""
    answers: list[int] = []
    with recollect.open(place, embedder=topics(name="old")) as mem:
        for owner in ("ana", "ben", "cat"):
            fill(mem, 3, owner)
        with recollect.open(place, embedder=topics(name="old")) as other:

            def ask(_: Sequence[str]) -> None:
                answers.append(len(other.query("tea", top_k=20).items))
                for embedder in (topics(name="old"), topics(name="new")) if len(answers) == 2 else ():
                    with recollect.open(place, embedder=embedder) as newcomer:
                        answers.append(len(newcomer.query("tea", top_k=20).items))

            mem.reindex(topics(ask, name="new"))
            assert set(answers) == {9} and len(answers) >= 5
            assert told(other, "tea") == 3, "by words, until it is opened again"


def test_whoever_still_has_the_old_embedder_cannot_write_with_it(place: str) -> None:
    with recollect.open(place) as mem, recollect.open(place) as other:
        fill(mem)
        fill(other, 4)
        mem.reindex(topics())
        for owner in ("ana", "ben"):
            with pytest.raises(EmbedderMismatch, match=r"topics/2.*recollect reindex"):
                other.add("coffee at one", owner=owner)
        assert mem.verify().ok and [name for name, *_ in kept(mem)] == ["topics/2"]
    with recollect.open(place, embedder=topics()) as other:
        assert other.add("coffee at one", owner="ben").outcome == "stored"


def test_it_goes_on_where_it_was_stopped(place: str) -> None:
    made: list[int] = []

    def stop_at_the_second(texts: Sequence[str]) -> None:
        if made:
            raise Stopped
        made.append(len(texts))

    with recollect.open(place) as mem:
        fill(mem, 12)
        with pytest.raises(Stopped):
            reindex(mem.engine, topics(stop_at_the_second), chunk=8)
        assert kept(mem)[0][1:] == (12, 8, 0), "the old ones are in use, and some of the new ones are there"
        assert told(mem, "tea") == 12 and mem.verify().ok
        fill(mem, 13)
    again: list[int] = []
    with recollect.open(place) as mem:
        report = mem.reindex(topics(lambda texts: again.append(len(texts))))
        assert report.vectors == sum(again) == 5
        assert kept(mem) == [("topics/2", 13, 0, 0)] and mem.verify().ok


@pytest.mark.parametrize("then", ["another", "none", "back"])
def test_what_was_begun_and_is_not_wanted_any_more_is_dropped(place: str, then: str) -> None:
    def stop_late(texts: Sequence[str]) -> None:
        if len(texts) < 8:
            raise Stopped

    embedder: Any = {"another": topics(name="another"), "none": "none", "back": "static"}[then]
    with recollect.open(place) as mem:
        fill(mem, 10)
        with pytest.raises(Stopped):
            reindex(mem.engine, topics(stop_late), chunk=8)
        assert kept(mem)[0][2] == 8
        mem.reindex(embedder)
        name, used, beside, wanting = kept(mem)[0]
        assert (used, beside, wanting) == ((0, 0, 10) if then == "none" else (10, 0, 0))
        assert name.startswith({"another": "another", "none": "", "back": "recollect-static"}[then])
        with mem.engine.read() as reader:
            assert reader.streams_of("default")[0].next_embedder == ""
        assert mem.verify().ok


def test_of_two_who_make_different_vectors_at_once_the_later_one_goes_on(place: str) -> None:
    """The earlier one must not put its vectors among the other's."""
    with recollect.open(place) as mem, recollect.open(place) as other:
        fill(mem, 3)
        wide = TopicEmbedder(DRINKS, TRAVEL, "rent", name="wide")

        def begin_another(_: Sequence[str]) -> None:
            def stop(_: Sequence[str]) -> None:
                raise Stopped

            with pytest.raises(Stopped):
                other.reindex(TopicEmbedder(DRINKS, TRAVEL, "rent", name="wide", listening=stop))

        with pytest.raises(EmbedderMismatch, match="wide/3"):
            mem.reindex(topics(begin_another))
        assert other.reindex(wide).vectors == 3
        with other.engine.read() as reader:
            (stream,) = reader.streams_of("default")
            assert {len(codes) for _, codes in reader.vectors_after(stream, 0)} == {3}
        assert other.verify().ok


def test_one_tenants_embedder_is_not_anothers(place: str) -> None:
    for tenant in ("acme", "globex"):
        with recollect.open(place, tenant=tenant) as mem:
            fill(mem)
    with recollect.open(place, tenant="acme") as mem:
        mem.reindex(topics())
        assert mem.verify().ok
    with recollect.open(place, tenant="globex") as mem:
        assert kept(mem)[0][0].startswith("recollect-static") and told(mem, "tea") == 3


def test_a_former_defaults_vectors_leave_words_to_find_things_by(place: str) -> None:
    """As a store is that an earlier version wrote."""
    former = TopicEmbedder(DRINKS, *(f"topic{number}" for number in range(255)), name="wordllama-l2-supercat-256")
    with recollect.open(place, embedder=former) as mem:
        fill(mem)
    with recollect.open(place) as mem:
        answer = mem.query("tea", owner="ana")
        assert len(answer.items) == 3 and "recollect reindex" in answer.notice
        assert answer.to_dict()["notice"] == answer.in_bullets()["notice"] == answer.notice
        assert "recollect reindex" in mem.recall_for(session="s", user="tea?", owner="ana").notice
        assert not any("meaning" in item.breakdown for item in answer.items)
        (problem,) = [one for one in mem.doctor() if one.where == "vectors"]
        assert "wordllama-l2-supercat-256/256" in problem.what and "recollect reindex" in str(problem.hint)
        with pytest.raises(EmbedderMismatch, match=r"an earlier version.*recollect reindex"):
            mem.add("coffee", owner="ana")
        assert mem.reindex().vectors == 3
        mem.add("coffee", owner="ana")
        answer = mem.query("tea", owner="ana")
        assert answer.items and not answer.notice and "notice" not in answer.to_dict()
        assert not [one for one in mem.doctor() if one.where == "vectors"]
