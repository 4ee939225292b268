"""Every queue with the keyboard alone: reach the button, press it, and find the focus where work goes on."""

import pytest
from playwright.sync_api import Page

from .conftest import Served
from .house import House

MOST_STEPS = 60


def tab_to(page: Page, starts_with: str) -> None:
    """Press Tab until the button that says so has the focus."""
    for _ in range(MOST_STEPS):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText || ''").startswith(starts_with):
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", "whoever uses the keyboard sees where they are"
            return
    raise AssertionError(f"no {starts_with!r} within {MOST_STEPS} steps")


def press(page: Page, starts_with: str) -> str:
    """Reach a button and press it; return what the next page says was done."""
    tab_to(page, starts_with)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    return page.inner_text(".notice")


def test_the_first_step_skips_the_menu(page: Page, studio: Served) -> None:
    page.goto(f"{studio.root}/conflicts")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


@pytest.mark.parametrize(
    ("queue", "button", "done"),
    [
        ("conflicts", "Keep this one", "Decided."),
        ("outdated", "Keep both", "Decided."),
        ("consent", "Decline", "Declined"),
        ("proposals", "Apply", "Applied."),
        ("rejections", "Lift", "Lifted"),
        ("memories", "Pin", "Pinned."),
        ("memories?status=soft_deleted", "Restore", "Restored."),
    ],
)
def test_a_queue_is_worked_through(
    queue: str, button: str, done: str, page: Page, studio: Served, house: House
) -> None:
    page.goto(f"{studio.root}/{queue}")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert press(page, button).startswith(done)
    assert f"/{queue.partition('?')[0]}" in page.url


def test_j_and_k_go_through_cards_and_slash_to_the_search(page: Page, studio: Served) -> None:
    page.goto(f"{studio.root}/memories")
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = page.evaluate("[...document.querySelectorAll('[data-card]')].indexOf(document.activeElement)")
    page.keyboard.press("k")
    first = page.evaluate("[...document.querySelectorAll('[data-card]')].indexOf(document.activeElement)")
    assert (second, first) == (1, 0)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.type("jk/tea")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator("input[type=search]").input_value() == "jk/tea"
