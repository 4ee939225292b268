"""Who gets in, and what keeps others out: links, keys, cookies, tokens, names, rights and headers."""

import html
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

import recollect
from recollect import Recollect
from recollect.interfaces.rest.app import create_app
from recollect.interfaces.studio import PREFIX, Doorkeeper, build_studio, mount_studio, rendering
from recollect.interfaces.studio.app import CHANGES, MAX_FORM_BYTES, PAGES
from recollect.interfaces.studio.serving import NAMES
from recollect.model.run import Action
from recollect.rules.identity import outdating

KEY = "a-key-of-more-than-sixteen-characters"


@pytest.fixture
def memory() -> Iterator[Recollect]:
    with recollect.open(":memory:", policy={"traces": {"keep": "all"}}) as opened:
        opened.add("Ana likes tea", owner="ana", source="user")
        yield opened


@pytest.fixture
def door(memory: Recollect) -> Doorkeeper:
    return Doorkeeper(lambda key: memory if key == KEY else None)


def visitor(door: Doorkeeper, hosts: frozenset[str] | None = NAMES) -> TestClient:
    return TestClient(served(door, hosts), base_url="http://127.0.0.1", follow_redirects=False)


def served(door: Doorkeeper, hosts: frozenset[str] | None = None) -> Starlette:
    return Starlette(routes=[Mount(PREFIX, build_studio(door, hosts=hosts))])


@pytest.fixture
def signed_in(door: Doorkeeper, memory: Recollect) -> TestClient:
    client = visitor(door)
    client.get("/studio/enter", params={"token": door.new_link(memory)})
    return client


def token(client: TestClient) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/studio/").text)
    assert found is not None
    return found[1]


def test_a_link_opens_once(door: Doorkeeper, memory: Recollect) -> None:
    link = door.new_link(memory)
    assert visitor(door).head("/studio/enter", params={"token": link}).status_code == 204, "a preview uses nothing up"
    first = visitor(door).get("/studio/enter", params={"token": link})
    assert first.status_code == 303 and first.headers["location"] == "/studio/"
    cookie = first.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and "path=/studio" in cookie and "secure" not in cookie
    again = visitor(door).get("/studio/enter", params={"token": link})
    assert again.status_code == 403 and "set-cookie" not in again.headers
    assert visitor(door).get("/studio/enter", params={"token": "guessed"}).status_code == 403


def test_a_link_that_nobody_opened_is_over(
    door: Doorkeeper, memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.interfaces.studio.sessions.LINK_S", -1.0)
    assert door.enter_by_link(door.new_link(memory)) is None


def test_nobody_sees_anything_without_a_session(door: Doorkeeper) -> None:
    client = visitor(door)
    for path in PAGES:
        found = client.get(f"/studio{re.sub(r'{[^}]+}', '1', path)}")
        assert found.status_code == 401 and "Ana" not in found.text, path
    for path in CHANGES:
        found = client.post(f"/studio{re.sub(r'{[^}]+}', 'forget', path)}", data={"csrf": "x"})
        assert found.status_code == 401, path


def test_a_key_opens_a_session_and_another_does_not(door: Doorkeeper) -> None:
    client = visitor(door)
    assert client.post("/studio/sign-in", data={"key": "wrong"}).status_code == 403
    assert client.post("/studio/sign-in", data={"key": KEY}, headers={"origin": "http://evil.test"}).status_code == 403
    assert client.post("/studio/sign-in", data={"key": KEY}).status_code == 303
    assert client.get("/studio/").status_code == 200
    https = TestClient(served(door), base_url="https://memory.test", follow_redirects=False)
    assert "secure" in https.post("/studio/sign-in", data={"key": KEY}).headers["set-cookie"].lower()


def test_without_keys_there_is_no_form_for_one(memory: Recollect) -> None:
    client = visitor(Doorkeeper())
    assert "password" not in client.get("/studio/sign-in").text
    assert client.post("/studio/sign-in", data={"key": KEY}).status_code == 403


def test_a_server_s_keys_open_studio_until_they_are_revoked(memory: Recollect) -> None:
    made = memory.create_key("ana's laptop", user="ana", rights=["read"])
    app = create_app(memory)
    assert mount_studio(app, memory, key_required=True) == "/studio/sign-in"
    client = TestClient(app, base_url="http://memory.test", follow_redirects=False)
    assert client.post("/studio/sign-in", data={"key": "rk_wrong"}).status_code == 403
    assert client.post("/studio/sign-in", data={"key": made.key}).status_code == 303
    page = client.get("/studio/memories").text
    assert "Ana likes tea" in page and "/do/forget" not in page
    memory.revoke_key(made.about.id)
    assert client.get("/studio/memories").status_code == 401
    entrance = mount_studio(create_app(memory), memory, key_required=False)
    assert entrance.startswith("/studio/enter?token=")


def test_a_session_ends_when_it_is_left_or_idle(
    signed_in: TestClient, door: Doorkeeper, memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert signed_in.post("/studio/sign-out", data={"csrf": "wrong"}).status_code == 200
    cookie = door.enter_by_link(door.new_link(memory))
    assert cookie is not None and door.session(cookie) is not None
    monkeypatch.setattr("recollect.interfaces.studio.sessions.IDLE_S", -1.0)
    assert door.session(cookie) is None
    monkeypatch.undo()
    other = visitor(door)
    other.get("/studio/enter", params={"token": door.new_link(memory)})
    other.post("/studio/sign-out", data={"csrf": token(other)})
    assert other.get("/studio/").status_code == 401


def test_the_session_that_was_idle_longest_makes_room(
    door: Doorkeeper, memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.interfaces.studio.sessions.MAX_SESSIONS", 2)
    first, second, third = (door.enter_by_link(door.new_link(memory)) for _ in range(3))
    assert door.session(first or "") is None and door.session(second or "") and door.session(third or "")


@pytest.mark.parametrize("path", sorted(CHANGES))
def test_a_change_needs_the_token_of_its_session(path: str, signed_in: TestClient, memory: Recollect) -> None:
    id = next(iter(memory.list().items)).id
    where, good = f"/studio{path.replace('{operation}', 'forget')}", token(signed_in)
    form = {"id": id, "next": "/", "typed": id}
    before = memory.state_hash()
    assert signed_in.post(where, data=form).status_code == 403
    assert signed_in.post(where, data={**form, "csrf": "wrong"}).status_code == 403
    assert signed_in.post(where, data={**form, "csrf": "ü"}).status_code == 403
    assert signed_in.post(where, data={**form, "csrf": good}, headers={"origin": "http://evil.test"}).status_code == 403
    for origin in ("null", "http://[::1"):
        assert signed_in.post(where, data={**form, "csrf": good}, headers={"origin": origin}).status_code == 403
    assert signed_in.post(where, json={**form, "csrf": good}).status_code == 403
    assert signed_in.post(where, data={**form, "csrf": good, "much": "x" * MAX_FORM_BYTES}).status_code == 403
    assert memory.state_hash() == before
    assert signed_in.get(where).status_code in (200, 400, 404, 405)


def test_whoever_is_signed_in_keeps_the_menu_where_there_is_no_page(signed_in: TestClient, door: Doorkeeper) -> None:
    assert 'href="/studio/memories"' in signed_in.get("/studio/nowhere").text
    assert 'href="/studio/memories"' in signed_in.delete("/studio/").text
    assert 'href="/studio/memories"' not in visitor(door).get("/studio/nowhere").text


def test_a_form_goes_on_within_studio_alone(signed_in: TestClient, memory: Recollect) -> None:
    id, good = next(iter(memory.list().items)).id, token(signed_in)
    for given, wanted in {
        "/memories?q=a": "/studio/memories?q=a",
        "https://evil.test/": "/studio/",
        "//evil.test/": "/studio/",
        "javascript:alert(1)": "/studio/",
        "http://[::1": "/studio/",
        "": "/studio/",
    }.items():
        done = signed_in.post("/studio/do/pin", data={"id": id, "next": given, "csrf": good})
        assert (done.status_code, done.headers["location"]) == (303, wanted)


def test_a_refusal_is_told_on_the_page_that_follows(signed_in: TestClient, memory: Recollect) -> None:
    id, good = next(iter(memory.list().items)).id, token(signed_in)
    signed_in.post("/studio/do/restore", data={"id": id, "next": "/", "csrf": good})
    assert "notice failed" in signed_in.get("/studio/").text
    assert "notice failed" not in signed_in.get("/studio/").text
    assert signed_in.post("/studio/do/nothing", data={"id": id, "csrf": good}).status_code == 404
    assert signed_in.post("/studio/do/forget", data={"id": "ffffffffffff", "csrf": good}).status_code == 404


@pytest.mark.parametrize("host", ["evil.test", "evil.test:8080", "127.0.0.1.evil.test", "[::1", "a]b", ""])
def test_on_loopback_it_answers_under_no_other_name(host: str, signed_in: TestClient) -> None:
    assert signed_in.get("/studio/", headers={"host": host}).status_code == 421
    assert signed_in.get("/studio/", headers={"host": "localhost:1234"}).status_code == 200


def test_every_answer_has_the_headers_that_keep_others_out(signed_in: TestClient) -> None:
    for path in ("/", "/memories", "/no-such-page", "/static/studio.css", "/sign-in", "/proof/progress.json"):
        found = signed_in.get(f"/studio{path}")
        policy = dict(part.split(" ", 1) for part in found.headers["content-security-policy"].split("; "))
        assert (
            policy["default-src"] == "'none'" and policy["script-src"] == "'self'" and policy["style-src"] == "'self'"
        )
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["referrer-policy"] == "same-origin"
    assert signed_in.get("/studio/").headers["cache-control"] == "no-store"
    assert signed_in.get("/studio/static/../app.py").status_code == 404


def test_no_page_has_a_script_or_a_style_of_its_own(signed_in: TestClient, memory: Recollect) -> None:
    id = next(iter(memory.list().items)).id
    for path in ("/", "/memories", f"/memories/{id}", "/policy", "/proof", "/time", "/traces"):
        text = signed_in.get(f"/studio{path}").text
        assert re.findall(r"<script(?![^>]* src=)|<style| style=| on[a-z]+=", text) == [], path


RIGHTS: dict[str, tuple[list[str], set[str]]] = {
    "a reader": (["read"], {"/traces", "/erasure", "/prove"}),
    "a writer": (["read", "write"], {"/traces", "/erasure", "/prove"}),
    "who governs": (["read", "write", "govern"], {"/erasure", "/prove"}),
    "who erases": (["read", "erase"], {"/traces", "/prove"}),
    "who operates": (["read", "operate"], {"/traces", "/erasure"}),
}


@pytest.mark.parametrize("who", RIGHTS)
def test_rights_decide_what_is_shown(who: str, door: Doorkeeper, memory: Recollect) -> None:
    rights, closed = RIGHTS[who]
    id = next(iter(memory.list().items)).id
    memory.checkpoint()
    client = visitor(door)
    seen = memory.as_caller(user="ana", rights=rights)
    client.get("/studio/enter", params={"token": door.new_link(seen)})
    asked = {"/traces": "/traces", "/erasure": f"/erasure?id={id}", "/prove": f"/prove?id={id}"}
    assert {name for name, path in asked.items() if client.get(f"/studio{path}").status_code == 403} == closed
    page = client.get(f"/studio/memories/{id}").text
    assert ("/do/forget" in page) == ("write" in rights) and ("/erasure?id=" in page) == ("erase" in rights)
    assert ("Verify the store" in client.get("/studio/proof").text) == ("operate" in rights)
    assert ("Try it" in client.get("/studio/policy").text) == ("operate" in rights)


CALLERS: dict[str, dict[str, Any]] = {
    "a person": {"user": "ana"},
    "a member of a project": {"user": "ben", "projects": ["garden"]},
    "who governs a project": {"user": "ben", "projects": ["garden"], "rights": ["read", "write", "govern"]},
    "an agent": {"agent": "planner", "user": "ana", "projects": ["garden"]},
    "an agent that governs": {"agent": "planner", "user": "ana", "rights": ["read", "write", "govern"]},
}
FORM = re.compile(r'<form method="post" action="(/studio/do/[^"]+)"[^>]*>(.*?)</form>', re.DOTALL)


def fill_queues(memory: Recollect, **where: str) -> None:
    """Let something wait in every queue of one place."""

    def said(words: str, **fields: Any) -> recollect.Memory:
        kept = memory.add(words, **{"source": "user", "author": "ana", **where, **fields}).memory
        assert kept is not None
        return kept

    planned = {"source": "agent", "author": "agent:planner"}
    said("The well is 9 m deep", title="well")
    said("The well is 12 m deep", title="well", **planned)
    memory.link(
        said("A bigger tank came", **planned).id, said("The tank is small", **planned).id, relation_type="may_update"
    )
    memory.link(said("A longer hose was bought").id, said("The hose is 10 m long").id, relation_type="may_update")
    memory.reject(said("The shed is blue").id, "it is green")
    memory.forget(said("The gate is green").id)


@pytest.mark.parametrize("who", CALLERS)
def test_no_queue_shows_a_button_that_is_refused(who: str, tmp_path: Path) -> None:
    with recollect.open(tmp_path / "filled.db") as memory:
        fill_queues(memory, owner="ana")
        fill_queues(memory, owner="garden", space="project")
        memory.as_caller(agent="planner", user="ana").add("Annie", kind="profile", key="preferred_name", owner="ana")
        memory.backup(tmp_path / "base.db")
    pages = ("/conflicts", "/outdated", "/consent", "/rejections", "/memories?status=any")
    base = tmp_path / "base.db"

    def press(number: int | None) -> tuple[int, str]:
        """Press one of all buttons on a store of its own; return how many there are, and what the next page says."""
        copy = Path(shutil.copy(base, tmp_path / f"{number}.db"))
        with recollect.open(copy) as memory:
            door = Doorkeeper()
            client = visitor(door)
            client.get("/studio/enter", params={"token": door.new_link(memory.as_caller(**CALLERS[who]))})
            forms = [found for page in pages for found in FORM.findall(client.get(f"/studio{page}").text)]
            if number is None:
                return len(forms), ""
            action, fields = forms[number]
            given = dict(re.findall(r'<input[^>]* name="([^"]*)" value="([^"]*)"', fields))
            answer = client.post(action, data={name: html.unescape(value) for name, value in given.items()})
            said = client.get(answer.headers["location"]).text
        return len(forms), f"{action}: {said}" if "notice failed" in said else ""

    buttons, _ = press(None)
    assert buttons >= (8 if "agent" not in who else 1)
    refused = [said for number in range(buttons) if (said := press(number)[1])]
    assert [re.sub(r"(?s): .*notice failed[^>]*>(.*?)</p>.*", r": \1", one) for one in refused] == []


def test_somebody_else_s_memories_are_not_there(door: Doorkeeper, memory: Recollect) -> None:
    id = next(iter(memory.list().items)).id
    client = visitor(door)
    client.get("/studio/enter", params={"token": door.new_link(memory.as_caller(user="ben"))})
    assert client.get(f"/studio/memories/{id}").status_code == 404
    for path in (
        "/",
        "/memories?status=any",
        "/memories?q=tea",
        "/time",
        "/prompt?text=tea",
        "/rejections",
        "/consent",
    ):
        assert "Ana likes tea" not in client.get(f"/studio{path}").text, path


def test_nonsense_is_answered_with_a_sentence(signed_in: TestClient) -> None:
    wrong: dict[str, Any] = {
        "/memories?cursor=nonsense": 400,
        "/memories?space=nowhere": 400,
        "/memories?status=odd": 400,
        "/memories/%00": 404,
        "/memories/ab": 404,
        "/time?at=yesterday": 400,
        "/time?stream=user/nobody": 404,
        "/time?at=phase-99": 404,
        "/traces?type=odd": 400,
        "/traces/999999": 404,
        "/turns/999999": 404,
        "/prompt?event=999999": 404,
        "/prove?id=": 404,
        "/documents/none.json": 404,
        "/erasure": 400,
        "/proof/checkpoint.json?size=77": 404,
        "/memories?threshold=abc&q=tea": 200,
        "/prompt?text=tea&budget=0": 200,
    }
    assert {path: signed_in.get(f"/studio{path}").status_code for path in wrong} == wrong


def test_a_refused_method_is_told_every_method_of_its_address(signed_in: TestClient) -> None:
    allowed = dict.fromkeys(PAGES, "GET, HEAD")
    allowed |= {path: ", ".join(sorted({"POST", *allowed.get(path, "POST").split(", ")})) for path in CHANGES}
    for path, methods in (allowed | {"/sign-in": "GET, HEAD, POST"}).items():
        refused = signed_in.delete(f"/studio{re.sub(r'{[^}]+}', '1', path)}")
        assert (refused.status_code, refused.headers["allow"]) == (405, methods), path
        assert "content-security-policy" in refused.headers


def test_pages_say_what_was_refused_and_what_a_proposal_was_taken_from(door: Doorkeeper, memory: Recollect) -> None:
    memory.turn(session="s1", user="My password is hunter2-Zx9Q. I live in Oslo.", owner="ana")
    agent = memory.as_caller(agent="planner", user="ana", session="s1")
    agent.turn(session="s1", user="I live in Bergen and my name is Annie")
    whole, narrow = visitor(door), visitor(door)
    whole.get("/studio/enter", params={"token": door.new_link(memory)})
    narrow.get("/studio/enter", params={"token": door.new_link(memory.as_caller(agent="planner", user="ana"))})
    number = memory.traces(type="memory_denied").items[0]["number"]
    story = whole.get(f"/studio/turns/{number}").text
    assert "it holds sensitive data that the policy denies" in story and "hunter2" not in story
    evidence = whole.get("/studio/consent").text.partition("<dt>Evidence</dt>")[2].partition("</dd>")[0]
    assert "I live in Bergen and my name is Annie" in evidence
    found = narrow.get("/studio/memories?q=tea").text
    assert "Ana likes tea" in found and "Not allowed: the space project was not read" in found


def test_every_doubt_and_every_proposal_is_told_in_a_sentence() -> None:
    assert set(rendering.OUTDATED) == set(outdating.REASONS)
    assert set(rendering.PROPOSED) == set(Action) - {Action.DIFFERENT}, "that two differ is noted, and never waits"


def test_moments_far_apart_are_compared_page_by_page(
    signed_in: TestClient, memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.interfaces.studio.past.CHANGES_PER_PAGE", 2)
    for town in ("Porto", "Oslo", "Rome", "Graz"):
        memory.add(f"{town} has a harbour", owner="ana", source="user")
    address, found = "/time?stream=user%2Fana&from=0", []
    while address:
        page = signed_in.get(f"/studio{address}").text
        changes = page.partition("Believed at")[0]
        found.append(re.findall(r"(Porto|Oslo|Rome|Graz|tea)", changes))
        assert ("Newest changes" in changes) == (len(found) > 1)
        older = re.search(r'href="/studio([^"]+)">Older changes', changes)
        address = html.unescape(older[1]) if older else ""
    assert found == [["Graz", "Rome"], ["Oslo", "Porto"], ["tea"]]


def test_the_block_of_a_past_prompt_goes_with_what_it_quotes() -> None:
    with recollect.open(":memory:", policy={"traces": {"keep": "all"}}) as memory:
        tea = memory.add("Ana prefers tea over coffee", owner="ana", source="user").memory
        assert tea is not None
        answer = memory.query("what does Ana drink?", owner="ana")
        number = memory.traces(type="memory_recall").items[0]["number"]
        door = Doorkeeper()
        client = visitor(door)
        client.get("/studio/enter", params={"token": door.new_link(memory)})
        shown = client.get(f"/studio/prompt?event={number}").text
        assert all(line in shown for line in answer.text.splitlines() if "`" not in line)
        memory.erase(id=tea.id)
        gone = client.get(f"/studio/prompt?event={number}")
        assert gone.status_code == 404 and "went with what was erased" in gone.text and "tea" not in gone.text
