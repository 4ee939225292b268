"""A real browser and a served Studio, shared by the tests of a module."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from recollect import Recollect
from recollect.interfaces.studio import PREFIX, Doorkeeper, open_listener
from recollect.interfaces.studio.serving import on_loopback

from .house import House, fill, opened

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--font-render-hinting=none"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a process: the Chromium on the path, which `tools/chromium.sh` sees to."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    fallback = Path(__file__).parents[2] / ".venv" / "chromium" / "chromium"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found or str(fallback), args=ARGUMENTS)
        yield started
        started.close()


class Served:
    """Studio on a free port of this machine."""

    def __init__(self, memory: Recollect, doorkeeper: Doorkeeper, port: int) -> None:
        self.memory, self.doorkeeper = memory, doorkeeper
        self.root = f"http://127.0.0.1:{port}{PREFIX}"

    def link(self, memory: Recollect | None = None) -> str:
        return f"{self.root}/enter?token={self.doorkeeper.new_link(memory or self.memory)}"


@contextmanager
def serving(memory: Recollect, doorkeeper: Doorkeeper | None = None) -> Iterator[Served]:
    listener = open_listener(0)
    door = doorkeeper or Doorkeeper()
    config = uvicorn.Config(on_loopback(door), ws="none", log_level="warning", access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    with listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield Served(memory, door, listener.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(10)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A filled store of either kind, for the tests of one module."""
    if request.param == "sqlite":
        where = str(tmp_path_factory.mktemp("studio") / "memory.db")
    else:
        postgres = request.getfixturevalue("postgres")
        where = postgres.url("plain_store")
        postgres.empty_database(where)
    with opened(where) as memory:
        yield fill(memory)


@pytest.fixture(scope="module")
def studio(house: House) -> Iterator[Served]:
    with serving(house.memory) as served:
        yield served


@contextmanager
def watched(page: Page) -> Iterator[list[str]]:
    """Collect whatever a page should not do: log errors, throw, ask other machines, or open dialogs."""
    faults: list[str] = []
    page.on("console", lambda said: faults.append(f"console: {said.text}") if said.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(f"threw: {error}"))
    page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on(
        "request", lambda asked: None if "://127.0.0.1:" in asked.url else faults.append(f"asked: {asked.url[:100]}")
    )
    yield faults


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce", locale="en-GB")
    made.set_default_timeout(10_000)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext, studio: Served) -> Page:
    """A page of somebody who is signed in as the application itself."""
    opened = context.new_page()
    opened.goto(studio.link())
    return opened
