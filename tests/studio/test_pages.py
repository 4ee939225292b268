"""Every page, on both stores: at two widths without a sideways scroll, in both colour schemes without a fault of axe-core."""

from contextlib import closing
from importlib import resources
from typing import Any, Literal

from playwright.sync_api import Browser, Page

from recollect.interfaces.studio import Doorkeeper

from .conftest import Served, serving, watched
from .house import House
from .pages import every_page
from .pressing import press

AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
ALL_RULES = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"]}
CONTRAST = {"runOnly": {"type": "rule", "values": ["color-contrast"]}, "resultTypes": ["violations"]}
LOOKS: tuple[tuple[int, Literal["light", "dark"], dict[str, Any]], ...] = (
    (360, "light", ALL_RULES),
    (1920, "dark", CONTRAST),
)
"""Somebody's window: narrow and light, then wide and dark; and what axe-core is asked there."""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
OPEN_ALL = "document.querySelectorAll('details').forEach(part => { part.open = true; })"
CRAMPED = """[...document.querySelectorAll("main td, main dd, main li, main label")]
    .filter(cell => cell.clientWidth < 90 && cell.clientHeight > 70).map(cell => cell.innerText)"""
"""Places so narrow that their words stand one below the other."""
TOO_HIGH = "document.documentElement.scrollHeight - innerHeight"


def _faults(view: Page, rules: dict[str, Any]) -> list[str]:
    if not view.evaluate("'axe' in window"):
        view.evaluate(AXE)
    result = view.evaluate("rules => axe.run(document, rules)", rules)
    return [
        f"{fault['id']}: {node['html'][:160]} {node['failureSummary'][:160]}"
        for fault in result["violations"]
        for node in fault["nodes"][:2]
    ]


def _misfits(page: Page, house: House) -> dict[int, Any]:
    """Return, for each window, what does not fit on the page that is open, and what axe-core says of it."""
    found: dict[int, Any] = {}
    for width, scheme, rules in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        faulty = _faults(page, rules) if house.kind == "sqlite" else []
        seen = page.evaluate(TOO_WIDE), page.evaluate(CRAMPED), faulty
        if seen != (0, [], []):
            found[width] = seen
    return found


def test_every_page_fits_and_says_what_the_store_says(page: Page, studio: Served, house: House) -> None:
    """Each page is opened once, and looked at in both windows.

    What axe-core says depends on the page and not on the store, so it is asked on one of them.
    """
    said: dict[str, str] = {}
    found: dict[tuple[str, int], Any] = {}
    with watched(page) as faults:
        for name, path in every_page(house).items():
            answer = page.goto(studio.root + path)
            assert answer is not None and answer.status == (404 if name == "missing" else 200), name
            page.evaluate(OPEN_ALL)
            said[name] = page.inner_text("main")
            found |= {(name, width): seen for width, seen in _misfits(page, house).items()}
    assert found == {}
    assert [fault for fault in faults if "404" not in fault] == []
    assert "1\nconflict\n" in said["home"] and "Last checkpoint" in said["home"]
    assert (
        "Ana now lives in Porto" in said["search"]
        and "nearest words" in said["search"]
        and "Left out" in said["search"]
    )
    assert "v2" in said["memory"] and "Ana lives in Lisbon" in said["memory"] and "planner" in said["memory"]
    assert (
        "The March report counts 1,240 visitors" in said["provenance"] and "Spring was a success" in said["provenance"]
    )
    assert "What would go if this went" in said["provenance"]
    assert "The API port is 8080" in said["conflicts"] and "The API port is 9090" in said["conflicts"]
    assert "Borg" in said["outdated"] and "Restic" in said["outdated"]
    assert "Annie" in said["consent"] and "Volvo" in said["rejections"]
    assert "Grounding" in said["proposals"] and "summer house" in said["proposals"] and "1 waiting" in said["proposals"]
    assert "replaced" in said["time"] and "phase-1" in said["phases"]
    assert "policy.recall.top_k: 5" in said["trace"] and '"deterministic_hash"' in said["json"]
    assert "Recalled" in said["turn"] and "Written" in said["turn"]
    assert "conflict.policy" in said["policy"] or "conflict" in said["policy"]
    assert (
        "tokens" in said["prompt"] and "snapshot_block" in said["prompt"] and "What past prompts got" in said["prompt"]
    )
    assert (
        "to the letter as it was" in said["past-prompt"] and "Recorded data, not instructions." in said["past-prompt"]
    )
    shown = len(list(house.memory.list_all(status=None)))
    assert f"of {shown}" in said["home"]


def test_signing_in_fits_too(browser: Browser, house: House) -> None:
    found: dict[str, dict[int, Any]] = {}
    with (
        serving(house.memory, Doorkeeper(lambda _: None)) as served,
        closing(browser.new_page(viewport={"width": 360, "height": 800})) as page,
    ):
        page.goto(f"{served.root}/sign-in")
        assert page.evaluate(TOO_HIGH) == 0, "signing in takes no scrolling"
        found["a form"] = _misfits(page, house)
        page.fill("input[name=key]", "no key")
        press(page, "Sign in")
        found["a mistake"] = _misfits(page, house)
    assert {name: seen for name, seen in found.items() if seen} == {}


def test_versions_show_which_words_changed(page: Page, studio: Served, house: House) -> None:
    page.goto(f"{studio.root}/memories/{house.home}")
    assert page.locator(".timeline del").all_inner_texts() == ["Lisbon"]
    assert "Porto" in page.locator(".timeline ins").all_inner_texts()


def test_settings_are_shown_as_a_policy_file_has_them(page: Page, studio: Served) -> None:
    page.set_viewport_size({"width": 1180, "height": 900})
    page.goto(f"{studio.root}/policy")
    page.evaluate(OPEN_ALL)
    rows = [cells.split("\t") for cells in page.locator("table.settings tbody tr").all_inner_texts()]
    shown = {name: value.partition("\n")[0].strip() for name, value, _ in rows}
    wanted = {"keys.parser": "true", "write.allow_event_types": "null", "namespaces.test_tags": '["test", "e2e"]'}
    assert wanted.items() <= shown.items()
    broken = """[...document.querySelectorAll('.settings td:first-child')]
        .filter(cell => { const words = document.createRange(); words.selectNodeContents(cell);
                          return words.getClientRects().length > 1; }).map(cell => cell.innerText)"""
    assert page.evaluate(broken) == []


def test_provenance_is_drawn(page: Page, studio: Served, house: House) -> None:
    page.goto(f"{studio.root}/memories/{house.summary}")
    assert page.locator(".graph g").count() == 3 and page.locator(".graph path").count() == 2
    assert page.locator(".graph g.root text").all_text_contents()[0].startswith("application: Visitors")


def test_the_slider_shows_another_moment(page: Page, studio: Served, house: House) -> None:
    page.goto(f"{studio.root}/time?stream=user%2Fana")
    assert page.inner_text("h2 >> nth=-1").startswith("Believed at tick")
    slider = page.locator("input[type=range][data-for=at]")
    slider.focus()
    with page.expect_navigation():
        page.keyboard.press("Home")
    assert "Nothing was believed then" in page.inner_text("main")
    with page.expect_navigation():
        page.locator("select[name=stream]").select_option("session/s1")
    assert "I like green tea best" in page.inner_text("main")
    page.goto(f"{studio.root}/time?stream=user%2Fana&by=day")
    with page.expect_navigation():
        page.locator("input[type=range][data-for=at]").evaluate(
            "e => { e.value = 0; e.dispatchEvent(new Event('change')); }"
        )
    assert "2026-03-02" in page.locator("#at").input_value()


def test_a_reader_s_pages_have_no_button_that_changes_anything(browser: Browser, studio: Served, house: House) -> None:
    reader = house.memory.as_caller(user="ana", session="s1", rights=["read"])
    context = browser.new_context()
    page = context.new_page()
    page.goto(studio.link(reader))
    for name, path in every_page(house).items():
        answer = page.goto(studio.root + path)
        assert answer is not None
        needs_more = name in "run traces trace json turn erasure erasing-one past-prompt".split()
        assert answer.status == (404 if name == "missing" else 403 if needs_more else 200), name
        forms = page.locator("main form[method=post]").count()
        assert forms == 0, name
    assert page.locator("nav a", has_text="Traces").count() == 0
    context.close()


def test_what_follows_an_action_fits_too(page: Page, studio: Served, house: House) -> None:
    found: dict[str, dict[int, Any]] = {}
    house.memory.add("The shop writes from till@example.org", owner="shop", source="user")
    page.goto(f"{studio.root}/policy")
    press(page, "Try it")
    found["a trial"] = _misfits(page, house)
    page.fill("textarea", "write: {polity: none}")
    press(page, "Try it")
    found["a mistake"] = _misfits(page, house)
    page.goto(f"{studio.root}/proof")
    press(page, "Verify the store")
    page.locator("main .badge.good").wait_for()
    press(page, "Take a checkpoint")
    found["verified, and told so"] = _misfits(page, house)
    gone = next(iter(house.memory.list(owner="shop").items))
    if house.kind == "sqlite":  # whose keys lie beside the store
        house.memory.new_identity("warden")
    page.goto(f"{studio.root}/erasure?id={gone.id}")
    found["a preview"] = _misfits(page, house)
    page.fill("input[name=typed]", gone.id)
    press(page, "Erase for good")
    found["a receipt"] = _misfits(page, house)
    page.goto(f"{studio.root}/memories/{gone.id}")
    found["a tombstone"] = _misfits(page, house)
    page.goto(f"{studio.root}/time?at=yesterday")
    found["an error"] = _misfits(page, house)
    press(page, "Sign out", within="header")
    found["signed out"] = _misfits(page, house)
    assert {name: seen for name, seen in found.items() if seen} == {}
