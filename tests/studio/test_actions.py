"""Every action, from the button that a person presses to what the store then says; on both stores."""

import json
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from models.test_pairs import LISBON, PORTO, TEA, TEAS
from recollect import Memory
from recollect.interfaces.studio.deciding import OPERATIONS
from recollect.rules.ledger.proofs import check, check_document

from .conftest import Served
from .house import House
from .pressing import press


def written(house: House, words: str, **fields: object) -> Memory:
    receipt = house.memory.add(words, **{"owner": "ana", "source": "user", **fields})  # type: ignore[arg-type]
    assert receipt.memory is not None
    return receipt.memory


def told(page: Page) -> str:
    return page.inner_text(".notice")


def test_a_memory_is_pinned_tagged_archived_forgotten_restored_and_vouched_for(
    page: Page, studio: Served, house: House
) -> None:
    one = house.memory.as_caller(user="ana").add("Ana plays the cello", owner="ana").memory
    assert one is not None
    page.goto(f"{studio.root}/memories/{one.id}")
    press(page, "Pin")
    assert told(page) == "Pinned." and house.memory.get(one.id).pinned
    press(page, "Unpin")
    assert not house.memory.get(one.id).pinned
    page.fill("input[name=tags]", "music, evening")
    press(page, "Save")
    assert house.memory.get(one.id).tags == ("music", "evening")
    press(page, "Archive")
    assert house.memory.get(one.id).status == "archived"
    press(page, "Restore")
    assert house.memory.get(one.id).status == "active"
    press(page, "Forget")
    assert house.memory.get(one.id).status == "soft_deleted" and "Restore brings it back" in told(page)
    page.goto(f"{studio.root}/memories?status=soft_deleted&q=")
    press(page, "Restore", within=f"li:has(a[href$='{one.id}'])")
    assert house.memory.get(one.id).status == "active" and "status=soft_deleted" in page.url
    press_reject(page, studio, one)
    assert house.memory.get(one.id).status != "active"


def press_reject(page: Page, studio: Served, one: Memory) -> None:
    page.goto(f"{studio.root}/memories/{one.id}")
    page.fill("input[name=reason]", "it was her sister")
    press(page, "Never true")
    assert "refused from now on" in told(page)
    assert page.locator("main button", has_text="Never true").count() == 0
    assert page.locator("main button", has_text="Lift the rejection").count() == 1
    page.goto(f"{studio.root}/rejections")
    assert "Because: it was her sister" in page.inner_text("main")


def test_somebody_else_vouches_for_it(context: BrowserContext, studio: Served, house: House) -> None:
    one = written(house, "The greenhouse has forty panes", owner="garden", space="project")
    page = context.new_page()
    page.goto(studio.link(house.memory.as_caller(user="ben", projects=["garden"])))
    page.goto(f"{studio.root}/memories/{one.id}")
    press(page, "Vouch for it")
    assert [voucher["name"] for voucher in house.memory.get(one.id).vouchers] == ["ben"]


def test_a_list_is_paged_filtered_and_changed_in_place(page: Page, studio: Served, house: House) -> None:
    for number in range(30):
        written(house, f"Shelf {number} holds box {number * 7}", owner="attic", tags=["box"], category="storage")
    page.goto(f"{studio.root}/memories?owner=attic&tag=box&category=storage")
    assert page.locator("main li[data-card]").count() == 25
    press(page, "Pin", within="li[data-card] >> nth=0")
    assert page.locator("li[data-card] >> nth=0").locator(".badge", has_text="pinned").count() == 1
    with page.expect_navigation():
        page.get_by_role("link", name="Next page").click()
    assert page.locator("main li[data-card]").count() == 5
    page.goto(f"{studio.root}/memories?owner=attic&pinned=yes")
    assert page.locator("main li[data-card]").count() == 1


def test_a_search_answers_as_query_does(page: Page, studio: Served, house: House) -> None:
    page.goto(f"{studio.root}/memories")
    page.fill("input[type=search]", "where does Ana live")
    press(page, "Search")
    shown = page.locator("article .said").all_inner_texts()
    assert shown == [one.memory.content for one in house.memory.query("where does Ana live", top_k=10).items]
    assert page.locator("article svg.bar rect").count() > 0


def test_a_search_says_what_it_left_out_and_why(context: BrowserContext, studio: Served, house: House) -> None:
    ana = house.memory.as_caller(user="ana", session="s9")
    ana.add("The API port is 9191", title="api port", space="session", owner="s9")
    page = context.new_page()
    page.goto(studio.link(ana))

    def left_out(text: str, **limits: str) -> dict[str, str]:
        page.goto(f"{studio.root}/memories?q={text}&threshold=1")
        for name, value in limits.items():
            page.fill(f"input[name={name}]", value)
        press(page, "Apply")
        card = page.locator(".card:has(h2:text-is('Left out'))")
        reasons, meanings = (card.locator(f"dl.facts {part}").all_inner_texts() for part in ("dt", "dd"))
        assert set(reasons) == set(card.locator("tbody .badge").all_inner_texts())
        return dict(zip(reasons, meanings, strict=True))

    assert left_out("which API port")["shadowed"] == "another memory of the same concept is told instead"
    assert "threshold" in left_out("where does Ana live", threshold="100")["below threshold"]
    assert "budget of tokens" in left_out("where does Ana live", budget="40")["no room"]
    assert "as were asked for" in left_out("where does Ana live", top_k="1")["beyond top k"]
    agent = context.new_page()
    agent.goto(studio.link(house.memory.as_caller(agent="planner", user="ana")))
    agent.goto(f"{studio.root}/memories?q=where does Ana live")
    assert "Not allowed: the space project was not read" in agent.inner_text("main")


def test_a_contradiction_is_decided_either_way(page: Page, studio: Served, house: House) -> None:
    page.goto(f"{studio.root}/conflicts")
    press(page, "Keep this one", within=".side >> nth=0")
    assert house.memory.get(house.guess).status == "archived" and house.memory.get(house.port).status == "active"
    guess = written(house, "The API port is 7070", title="api port", source="agent", author="planner")
    page.goto(f"{studio.root}/conflicts")
    press(page, "Keep this one", within=".side >> nth=1")
    assert house.memory.get(guess.id).status == "active"
    wrong = written(house, "The API port is 6060", title="api port", source="agent", author="planner")
    assert wrong.status == "contradictory" or wrong.status == "active"
    if wrong.status == "contradictory":
        page.goto(f"{studio.root}/conflicts")
        press(page, "Never true", within=".side >> nth=1")
    assert page.goto(f"{studio.root}/conflicts") is not None
    expect(page.locator("main")).to_contain_text("No contradiction waits")


def test_what_seems_outdated_is_superseded_or_kept(page: Page, studio: Served, house: House) -> None:
    pair = house.memory.outdated()[0]
    page.goto(f"{studio.root}/outdated")
    press(page, "Keep both")
    assert pair.earlier is not None and house.memory.get(pair.earlier.id).status == "active"
    old = written(house, "Invoices are sent with Ledgerly and take a week", owner="office")
    new = written(house, "Bills leave through Paperfly now (two days); Ledgerly is gone", owner="office")
    house.memory.link(new.id, old.id, relation_type="may_update")
    page.goto(f"{studio.root}/outdated")
    press(page, "The later one supersedes it")
    assert house.memory.get(old.id).status in ("superseded", "archived")
    assert house.memory.get(new.id).status == "active"


def test_a_rejection_is_lifted(page: Page, studio: Served, house: House) -> None:
    before = len(house.memory.rejections())
    page.goto(f"{studio.root}/rejections")
    press(page, "Lift")
    assert len(house.memory.rejections()) == before - 1


def test_consent_is_granted_and_declined(page: Page, studio: Served, house: House) -> None:
    agent = house.memory.as_caller(agent="planner", user="ana")
    page.goto(f"{studio.root}/consent")
    press(page, "Grant")
    assert house.memory.get(house.proposal).status == "active"
    agent.add("Ana's pronouns are they/them", kind="profile", key="pronouns", owner="ana")
    waiting = house.memory.consent()[0]
    page.goto(f"{studio.root}/consent")
    page.fill("input[name=reason]", "she has not said so")
    press(page, "Decline")
    assert house.memory.consent() == () and house.memory.get(waiting.id).status != "active"
    assert "she has not said so" in [one.reason for one in house.memory.rejections()]


def test_a_proposal_is_applied_or_declined_and_a_run_undone(page: Page, studio: Served, house: House) -> None:
    (waits,) = house.memory.proposals()
    page.goto(f"{studio.root}/proposals")
    assert page.locator("article mark").all_inner_texts() == [LISBON, PORTO]
    expect(page.locator("article")).to_contain_text("The later one would take the place of the earlier one.")
    press(page, "Apply", within="article")
    assert [str(house.memory.get(id).status) for id in waits.sources] == ["superseded", "active"]
    with page.expect_navigation():
        page.locator("main table a").first.click()
    assert page.locator("main li a").all_inner_texts()[-2:] == [id.replace("-", "")[:12] for id in waits.sources]
    press(page, "Undo the run")
    assert [str(house.memory.get(id).status) for id in waits.sources] == ["active", "active"]
    assert house.memory.run(waits.run).outcome == "undone"
    for words in (TEA, TEAS):
        written(house, words, owner="kitchen")
    house.memory.upkeep(job="consolidate", owner="kitchen")
    page.goto(f"{studio.root}/proposals")
    press(page, "Decline", within="article")
    assert house.memory.proposals() == () and told(page) == "Declined."


def test_a_policy_is_tried(page: Page, studio: Served, house: House) -> None:
    written(house, "The shop writes from till@example.org", owner="shop")
    page.goto(f"{studio.root}/policy")
    press(page, "Try it")
    assert "would have ended otherwise" in page.inner_text("#trial")
    assert "till@example.org" in page.inner_text("#trial") and "denied" in page.inner_text("#trial")
    page.fill("textarea", "write: {polity: none}")
    press(page, "Try it")
    assert "there is no such setting" in page.inner_text("[role=alert]")
    page.fill("textarea", "[")
    press(page, "Try it")
    assert "not YAML" in page.inner_text("[role=alert]")


def test_the_store_is_verified_and_proofs_are_taken_away(page: Page, studio: Served, house: House) -> None:
    page.goto(f"{studio.root}/proof")
    press(page, "Verify the store")
    expect(page.locator("main .badge.good")).to_have_text("sound", timeout=20_000)
    written(house, "The gate code changes in May", owner="garden")
    press(page, "Take a checkpoint")
    assert "is taken" in told(page)
    taken = saved(page, "a:has-text('Download') >> nth=0")
    assert taken["root"] == house.memory.checkpoints()[-1].root
    page.fill("input[name=id] >> nth=0", house.home)
    page.check("input[name=content]")
    proof = saved(page, "button:has-text('Download')")
    assert proof["memory"] == house.home and check(json.dumps(proof), kept=house.memory.checkpoints()[-1]).ok


def saved(page: Page, selector: str) -> dict[str, object]:
    """Download what a link or a button gives, and read it."""
    with page.expect_download() as download:
        page.locator(f"main {selector}").click()
    found: dict[str, object] = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    return found


def test_an_erasure_is_previewed_done_and_proved(page: Page, studio: Served, house: House) -> None:
    words, key = "Zoe keeps bees behind the mill", None
    if house.kind == "sqlite":  # whose keys lie beside the store
        house.memory.new_identity("warden")
        key = house.memory.identity("warden").key_that_counts().key
    one = written(house, words, owner="zoe")
    page.goto(f"{studio.root}/proof")
    page.fill("input[name=owner]", "zoe")
    press(page, "Preview", within="form:has(input[name=owner])")
    assert words in page.inner_text("main") and house.memory.get(one.id).status == "active"
    page.fill("input[name=typed]", "zo")
    press(page, "Erase for good")
    assert "is not what is to be erased" in page.inner_text("main") and house.memory.get(one.id).status == "active"
    page.go_back()
    page.fill("input[name=typed]", "zoe")
    if key is not None:
        page.locator("select[name=sign_as]").select_option("agent:warden")
    press(page, "Erase for good")
    assert "1 memory in 1 stream" in page.inner_text("main") and words not in page.content()
    record = saved(page, "a:has-text('Download the receipt')")
    assert record["removed"] == [one.id] and (key is None or check_document(json.dumps(record), [key]).ok)
    page.goto(f"{studio.root}/memories/{one.id}")
    assert "Its content was erased" in page.inner_text("h1") and words not in page.content()
    assert house.memory.verify().ok


def test_every_operation_of_the_pages_is_pressed_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    pressed = {
        "pin": "Pin",
        "unpin": "Unpin",
        "tags": "Save",
        "archive": "Archive",
        "forget": "Forget",
        "restore": "Restore",
    }
    pressed |= {
        "reject": "Never true",
        "lift": "Lift",
        "resolve": "Keep this one",
        "grant": "Grant",
        "decline": "Decline",
    }
    pressed |= {"vouch": "Vouch for it", "apply": "Apply", "dismiss": "Decline", "undo": "Undo the run"}
    assert set(pressed) == set(OPERATIONS)
    assert all(f'press(page, "{name}"' in text for name in pressed.values())
