"""Press buttons as a person does."""

from playwright.sync_api import Page


def press(page: Page, name: str, *, within: str = "main") -> None:
    """Press a button by what it says at the beginning, and wait for the page that follows."""
    with page.expect_navigation():
        page.locator(within).first.locator("button", has_text=name).first.click()
