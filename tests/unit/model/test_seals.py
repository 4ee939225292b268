"""Links under seals: cutting one leaves the commitment as it was, and nothing to guess the link by."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model.canonical import canonical_json
from recollect.model.seals import (
    ACTOR,
    NEIGHBOUR,
    PARENT,
    SIGNATURE,
    USER,
    committed_form,
    committed_text,
    cut_seals,
    links_of,
    with_salts,
    without,
)
from rows import every_row

A, B, C = "a" * 64, "b" * 64, "c" * 64
BODY = {
    "content": "Rain is due",
    "owner": "lab",
    "space": "project",
    PARENT: [A, B, C],
    SIGNATURE: "ed25519:…",
    NEIGHBOUR: [["one", 0.9], ["two", 0.7]],
    USER: "Xenia",
    ACTOR: "Yorick",
}


NUMBERS = iter(range(1, 10**6))


def draw(count: int) -> bytes:
    return next(NUMBERS).to_bytes(count)


def text_of(body: dict[str, Any]) -> str:
    return committed_text(canonical_json(body))


def test_a_body_without_links_is_committed_to_as_it_is() -> None:
    plain = with_salts({"content": "Rain is due", SIGNATURE: "of the words alone"}, draw)
    assert plain == {"content": "Rain is due", SIGNATURE: "of the words alone"}
    assert text_of(plain) == canonical_json(plain)


def test_what_is_committed_to_holds_no_link() -> None:
    sealed = with_salts(BODY, draw)
    committed = text_of(sealed)
    assert "Rain is due" in committed
    assert not any(
        value in committed for value in (A, B, C, "ed25519", "one", "0.9", "Xenia", "Yorick", *_salts(sealed))
    )


@pytest.mark.parametrize(("space", "owner"), [("user", "ana"), ("session", "monday")])
def test_the_name_of_whoever_it_belongs_to_needs_no_seal(space: str, owner: str) -> None:
    body = {"content": "Rain is due", "space": space, "owner": owner, USER: "ana"}
    assert with_salts(body, draw) == body


def _salts(body: dict[str, Any]) -> list[str]:
    return [link.salt for link in links_of(body)]


@given(st.lists(st.sets(st.integers(0, 7)), max_size=4))
def test_whichever_links_are_cut_the_commitment_holds_and_nothing_is_left_of_them(rounds: list[set[int]]) -> None:
    body = with_salts(BODY, draw)
    before, every = text_of(body), links_of(body)
    assert [link.value for link in every if link.field == PARENT] == [A, B, C]
    gone: list[Any] = []
    for places in rounds:
        now = [link for link in links_of(body) if link in [every[place] for place in places]]
        body = without(body, now) if now else body
        gone += now
    text = canonical_json(body)
    assert committed_text(text) == committed_form(body, text) == before
    assert links_of(body) == [link for link in every if link not in gone]
    assert sorted(cut_seals(body)) == sorted(link.seal for link in gone)
    assert not any(link.salt in text for link in gone)
    assert not any(str(link.value) in text for link in gone if link.field != NEIGHBOUR)


def test_a_seal_cannot_be_guessed_without_its_salt() -> None:
    link = links_of(with_salts(BODY, draw))[0]
    assert (link.field, link.value) == (NEIGHBOUR, ["one", 0.9])
    assert link.seal == hashlib.sha256(bytes.fromhex(link.salt) + b"neighbours one 0.9").hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {PARENT: [B, A, C]},
        {PARENT: [A, B, "d" * 64]},
        {NEIGHBOUR: [["one", 0.8], ["two", 0.7]]},
        {SIGNATURE: "another's"},
        {"content": "Snow is due"},
    ],
)
def test_whatever_is_changed_the_commitment_is_another(change: dict[str, Any]) -> None:
    sealed = with_salts(BODY, draw)
    assert text_of({**sealed, **change}) != text_of(sealed)


@every_row(
    "change",
    [
        {PARENT: [A, B]},
        {"cut": [[PARENT, 7, "e" * 64]]},
        {"sealed": {PARENT: [A]}},
        {"salts": {PARENT: ["not hex", "at", "all"]}},
        {"salts": {PARENT: ["00"]}},
        {"cut": [[PARENT, True, "e" * 64]]},
        {"cut": [[SIGNATURE, 1, "e" * 64], [SIGNATURE, 0, "e" * 64]]},
        {"salts": {PARENT: ["AA", "BB", "CC"]}},
        {NEIGHBOUR: [["one", "0.9"], ["two", 0.7]]},
    ],
)
def test_what_was_never_written_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        text_of({**with_salts(BODY, draw), **change})


def test_seals_alone_are_no_version() -> None:
    """Whoever puts the committed form in the place of the body would cut every link without a trace."""
    with pytest.raises(ValueError):
        committed_text(text_of(with_salts(BODY, draw)))


@pytest.mark.parametrize("prefix", [" {", '{"content":"Snow is due",'])
def test_another_spelling_of_the_same_body_is_refused(prefix: str) -> None:
    text = canonical_json(with_salts(BODY, draw))
    other = prefix + text[1:]
    assert json.loads(other) == json.loads(text)
    with pytest.raises(ValueError):
        committed_text(other)
