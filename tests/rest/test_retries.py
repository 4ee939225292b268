"""Every change under an idempotency key: made once, whichever server is asked and however often, and answered alike."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import recollect
from recollect import Recollect
from recollect.engine import retries
from recollect.interfaces.rest import Settings, create_app
from recollect.interfaces.rest.operations import OPERATIONS

Made = dict[str, str]
Change = tuple[str, str, Any]
NEEDS_A_MODEL = {"undo", "apply_proposal", "decline_proposal"}
"""What is decided about a model's runs goes the same way as everything else here."""


def changes(memory: Recollect) -> dict[str, Change]:
    """Return a request for every change there is, each about a memory of its own."""

    def id_of(content: str, **more: Any) -> str:
        made = memory.add(content, owner="ana", **more).memory
        assert made is not None
        return made.id

    plants = "Beech Elm Fir Gorse Hazel Ivy Juniper Larch Maple Nettle Oak Pine Quince Rowan Sorrel Thyme Yew".split()
    ids = iter([id_of(f"{plant} grows in the garden of Ana") for plant in plants])
    here = {name: f"/v1/memories/{next(ids)}" for name in "edit update forget archive vouch withdraw reject".split()}
    memory.vouch(here["withdraw"].rpartition("/")[2], by="ben")
    memory.archive(archived := next(ids))
    memory.reject(rejected := next(ids))
    one, other, old, new = (next(ids) for _ in range(4))
    memory.link(one, other)
    said = id_of("The lodge of Ana is in Oslo", source="user")
    waiting = memory.add("The lodge of Ana is in Rome", owner="ana", source="agent", change="contradiction").memory
    assert waiting is not None and waiting.status == "contradictory"
    fields = [
        memory.add("Cleo", owner="cleo", kind="profile", key=key, source="agent").memory
        for key in ("preferred_name", "city")
    ]
    grant, decline = (field.id for field in fields if field is not None)
    session = memory.add("Ana hums while she works", owner="s9", space="session").memory
    assert session is not None
    return {
        "add": ("POST", "/v1/memories", {"content": "Ana likes tea", "owner": "ana"}),
        "add_many": ("POST", "/v1/memories", [{"content": "Ana speaks Norwegian"}, {"content": "Ana has a kayak"}]),
        "edit": ("PATCH", here["edit"], {"pinned": True}),
        "update": ("PUT", here["update"], {"content": "Yew stands in the garden of Ana"}),
        "forget": ("DELETE", here["forget"], None),
        "restore": ("POST", f"/v1/memories/{archived}/restore", None),
        "archive": ("POST", f"{here['archive']}/archive", None),
        "resolve": ("POST", f"/v1/memories/{waiting.id}/resolve", {"winner": said}),
        "promote": ("POST", f"/v1/memories/{session.id}/promote", {"to_space": "user", "owner": "ana"}),
        "supersede": ("POST", f"/v1/memories/{old}/supersede", {"by": new}),
        "vouch": ("POST", f"{here['vouch']}/vouch", {"by": "ben"}),
        "withdraw_vouch": ("DELETE", f"{here['withdraw']}/vouch?by=ben", None),
        "reject": ("POST", f"{here['reject']}/reject", {"reason": "never planted"}),
        "lift": ("DELETE", f"/v1/rejections/{rejected}", None),
        "unlink": ("DELETE", f"/v1/memories/{one}/links/{other}", None),
        "link": ("PUT", f"/v1/memories/{other}/links/{one}", {"relation_type": "explains"}),
        "turn": ("POST", "/v1/turns", {"session": "s1", "user": "I live in Oslo.", "owner": "ana"}),
        "record": ("POST", "/v1/record", {"session": "s2", "user": "I like opera.", "owner": "ana"}),
        "start_phase": ("POST", "/v1/phases", {"owner": "s1", "name": "next"}),
        "grant": ("POST", f"/v1/consent/{grant}/grant", None),
        "decline": ("POST", f"/v1/consent/{decline}/decline", None),
        "upkeep": ("POST", "/v1/upkeep", None),
        "consolidate": ("POST", "/v1/consolidate", {"force": True}),
        "rekey": ("POST", "/v1/rekey", None),
        "checkpoint": ("POST", "/v1/ledger/checkpoints", None),
        "import_": ("POST", "/v1/import?owner=ana", '{"content": "Ana plays chess"}\n'),
        "mem0": ("POST", "/compat/mem0/v3/memories/add/", {"messages": [{"role": "user", "content": "Ana ran home"}]}),
    }


def send(client: TestClient, change: Change, key: str, **more: Any) -> Any:
    method, path, body = change
    sent = {"content": body} if isinstance(body, str) else {"json": body}
    return client.request(method, path, headers={"Idempotency-Key": key, **more}, **sent)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return tmp_path / "memory.db" if request.param == "sqlite" else request.getfixturevalue("server_store")


@pytest.fixture
def start(place: Any) -> Iterator[Callable[[], tuple[Recollect, TestClient]]]:
    """Start servers of one store, each with the store opened anew, as by a process of its own."""
    with ExitStack() as opened:

        def start_one() -> tuple[Recollect, TestClient]:
            memory = opened.enter_context(recollect.open(place))
            app = create_app(memory, Settings(key_required=False, burst=10**6))
            return memory, opened.enter_context(TestClient(app, base_url="http://127.0.0.1"))

        yield start_one


def test_every_change_is_made_once_across_servers_and_answered_alike(start: Any) -> None:
    memory, first = start()
    asked = changes(memory)
    named = {one.name for one in OPERATIONS if one.changes}
    assert set(asked) >= named - NEEDS_A_MODEL - {"erase"}, "every change of the table is tried here"
    done = {name: send(first, change, f"key of {name}") for name, change in asked.items()}
    assert {name: answer.text for name, answer in done.items() if answer.status_code != 200} == {}
    before = memory.state_hash()
    other, second = start()
    for name, change in asked.items():
        again = send(second, change, f"key of {name}")
        assert again.status_code == 200, (name, again.text)
        assert again.headers.get("etag") == done[name].headers.get("etag"), name
        if name in ("add", "update", "turn", "record"):
            assert again.json()["replayed"], name
        else:
            assert again.text == done[name].text, name
        mixed_up = send(second, ("POST", "/v1/phases", {"owner": "s3"}), f"key of {name}")
        assert (mixed_up.status_code, mixed_up.json()["code"]) == (422, "retry_mismatch"), name
    assert other.state_hash() == before, "nothing was done twice"


def test_a_key_is_the_callers_own_and_a_failure_gives_it_back(start: Any) -> None:
    memory, client = start()
    ana, ben = ({"Authorization": f"Bearer {memory.create_key('k', user=name).key}"} for name in ("ana", "ben"))
    id = memory.add("Ana likes tea", owner="ana").memory.id  # type: ignore[union-attr]
    forget = ("DELETE", f"/v1/memories/{id}", None)
    assert send(client, forget, "k", **ben).json()["code"] == "not_found"
    assert send(client, forget, "k", **ana).json()["status"] == "soft_deleted"
    assert send(client, forget, "k", **ana).json()["status"] == "soft_deleted"
    assert send(client, forget, "k", **ben).json()["code"] == "not_found"
    assert send(client, forget, "other", **ana).json()["code"] == "wrong_state"
    memory.restore(id)
    assert send(client, forget, "other", **ana).json()["status"] == "soft_deleted", "a failure keeps no key"


def test_the_same_request_at_the_same_time_is_done_once(start: Any) -> None:
    (memory, first), (_, second) = start(), start()
    batch = ("POST", "/v1/memories", [{"content": f"Ana waters plant {n}", "kind": "episodic"} for n in range(3)])
    answers: list[str] = []
    askers = [
        threading.Thread(target=lambda client=client: answers.append(send(client, batch, "together").text))
        for client in (first, second) * 3
    ]
    for one in askers:
        one.start()
    for one in askers:
        one.join()
    assert len(set(answers)) == 1 and "stored" in answers[0]
    assert len(memory.list(kind="episodic")) == 3


def test_an_erasure_leaves_no_word_in_kept_answers(start: Any) -> None:
    memory, client = start()
    id = memory.add("Ana keeps a zanzibarquartz", owner="ana").memory.id  # type: ignore[union-attr]
    edit = ("PATCH", f"/v1/memories/{id}", {"pinned": True})
    assert "zanzibarquartz" in send(client, edit, "k1").text
    erase = ("POST", "/v1/erasures", {"owner": "ana"})
    erased = send(client, erase, "k2")
    assert erased.json()["removed"] == [id]
    again = send(client, edit, "k1")
    assert (again.status_code, again.json()["code"]) == (409, "refused") and "zanzibarquartz" not in again.text
    assert send(client, erase, "k2").text == erased.text


def test_a_change_whose_process_ended_before_its_answer_is_not_made_again(
    start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, client = start()
    id = memory.add("Ana likes tea", owner="ana").memory.id  # type: ignore[union-attr]
    link = ("PATCH", f"/v1/memories/{id}", {"tags": ["a"]})

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as ended:
        ended.setattr(retries, "_keep", die)
        with pytest.raises(KeyboardInterrupt):
            retries.once(memory.engine, "k", "a request", lambda engine: str(Recollect(engine).edit(id, pinned=True)))
    monkeypatch.setattr(retries, "ANSWER_WAIT_S", 0.1)
    with pytest.raises(recollect.OutcomeUnknown):
        retries.once(memory.engine, "k", "a request", lambda engine: pytest.fail("it was made before"))
    assert memory.get(id).pinned and send(client, link, "k").json()["code"] == "retry_mismatch"


def test_a_retry_whose_first_answer_was_lost_is_told_that_and_finds_the_change_made(
    start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that is killed between a change and the keeping of its answer leaves just this."""
    (memory, first), (_, second) = start(), start()
    id = memory.add("Ana likes tea", owner="ana").memory.id  # type: ignore[union-attr]
    pin = ("PATCH", f"/v1/memories/{id}", {"pinned": True})

    def lose(*_: object) -> None:
        raise recollect.StoreUnavailable("it is gone.")

    with monkeypatch.context() as lost:
        lost.setattr(retries, "_keep", lose)
        assert send(first, pin, "k").json()["pinned"] is True
    monkeypatch.setattr(retries, "ANSWER_WAIT_S", 0.1)
    for client in (second, first, second):
        again = send(client, pin, "k")
        assert (again.status_code, again.json()["code"]) == (503, "outcome_unknown")
        assert "under a new key" in again.json()["hint"] and again.headers["retry-after"] == "1"
    assert second.get(f"/v1/memories/{id}").json()["pinned"] is True
    assert send(second, ("PATCH", f"/v1/memories/{id}", {"tags": ["a"]}), "new key").json()["tags"] == ["a"]
    assert len([one for one in memory.history(id) if one.meta["operation"] == "edited"]) == 2, "neither was made twice"
