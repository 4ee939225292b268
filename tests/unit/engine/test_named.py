"""Telling only what a question names: the name of an entity stands in it, whole."""

from collections.abc import Iterator

import pytest

import recollect
from recollect.model.errors import BadInput

TOLD = {
    "Redis is used as a cache": [{"name": "Redis"}],
    "Sessions are used by the auth service, which needs Redis": [{"name": "auth service", "aliases": ["login"]}],
    "Vitest is used for tests": [{"name": "Vitest"}],
    "We use whatever works": [],
}


@pytest.fixture
def mem() -> Iterator[recollect.Recollect]:
    with recollect.open(":memory:") as opened:
        for content, entities in TOLD.items():
            opened.add(content, owner="ana", kind="episodic", entities=entities)
        yield opened


def _told(mem: recollect.Recollect, question: str, **more: object) -> list[str]:
    found = mem.query(question, owner="ana", named=True, **more)  # type: ignore[arg-type]
    return [item.memory.content for item in found.items]


def test_a_shared_word_is_not_a_name(mem: recollect.Recollect) -> None:
    assert len(mem.query("what is Redis used for?", owner="ana").items) > 1
    assert _told(mem, "what is Redis used for?") == ["Redis is used as a cache"]


def test_an_alias_is_one(mem: recollect.Recollect) -> None:
    assert _told(mem, "Who looks after our logins?") == ["Sessions are used by the auth service, which needs Redis"]


def test_part_of_a_name_is_none(mem: recollect.Recollect) -> None:
    assert _told(mem, "which service is used?") == [] == _told(mem, "a service for auth")


def test_what_names_nothing_is_answered_with_nothing(mem: recollect.Recollect) -> None:
    assert mem.query("what tools do we use?", owner="ana", named=True).abstained


def test_whoever_is_named_is_told_however_many_match_better(mem: recollect.Recollect) -> None:
    long = "The Lisbon office keeps a list of suppliers, prices, contracts, contacts and everything else that anybody needs"
    mem.add(long, owner="ana", kind="episodic", entities=[{"name": "Lisbon office"}])
    for number in range(300):
        mem.add(f"Offices in Lisbon, list {number}", owner="ana", kind="episodic")
    asked = "which list has the Lisbon office?"
    assert long not in [item.memory.content for item in mem.query(asked, owner="ana", top_k=20).items]
    assert _told(mem, asked, top_k=1) == [long]


def test_what_is_related_to_it_or_said_next_to_it_is_not_named(mem: recollect.Recollect) -> None:
    (redis,) = mem.query("Redis", owner="ana", named=True).items
    (vitest,) = mem.query("Vitest", owner="ana", named=True).items
    mem.link(redis.memory.id, vitest.memory.id, relation_type="explains")
    assert _told(mem, "what is Redis used for?") == ["Redis is used as a cache"]


def test_names_fold_with_the_policys_synonyms() -> None:
    with recollect.open(":memory:", policy={"text": {"synonyms": {"k8s": "Kubernetes"}}}) as mem:
        mem.add("Deploys go to the cluster", entities=[{"name": "Kubernetes"}])
        assert mem.query("what about k8s?", named=True).items


def test_a_hidden_category_stays_hidden() -> None:
    lists = {"agents": {"allowlists": {"stylist": ["tone"]}}}
    with recollect.open(":memory:", policy=lists) as mem:
        mem.add("Ana is ill", category="health", entities=[{"name": "Ana"}])
        assert mem.query("Ana", named=True).items
        assert not mem.query("Ana", named=True, agent="stylist").items


def test_without_vectors_it_is_the_same(mem: recollect.Recollect) -> None:
    with recollect.open(":memory:", policy={"embedder": {"name": "none"}}) as words_alone:
        for content, entities in TOLD.items():
            words_alone.add(content, owner="ana", kind="episodic", entities=entities)
        for asked in ("what is Redis used for?", "logins", "tools"):
            assert _told(words_alone, asked) == _told(mem, asked)


@pytest.mark.parametrize("named", [1, "yes", None])
def test_it_is_yes_or_no(mem: recollect.Recollect, named: object) -> None:
    with pytest.raises(BadInput, match="true or false") as refused:
        mem.query("Redis", named=named)  # type: ignore[arg-type]
    assert refused.value.field == "named"


def test_it_stands_beside_the_filters(mem: recollect.Recollect) -> None:
    with pytest.raises(BadInput, match="beside filters"):
        mem.query("Redis", filters={"named": True})
