"""The pictures of `docs/studio.md`: there is one of every page, small enough for a repository, and they are made from the pages.

`make screenshots` makes them anew.
"""

import base64
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from recollect.interfaces.studio import Doorkeeper

from .conftest import Served, serving
from .house import House
from .pages import every_page
from .pressing import press

FOLDER = Path(__file__).parents[2] / "docs" / "studio"
GUIDE = FOLDER.with_suffix(".md")
SHOWN = """home search memory provenance conflicts outdated consent proposals run rejections time traces trace turn policy proof
erasure prompt past-prompt""".split()
NARROW = ("conflicts",)
AROUND = ("sign-in", "receipt")
"""Pages that are reached by no address alone."""
SIZE = {"width": 1180, "height": 760}
MOST_BYTES = 60_000
COLOURS = 48
PIXELS = """async data => {
    const image = new Image();
    image.src = "data:image/png;base64," + data;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const bytes = pen.getImageData(0, 0, image.width, image.height).data;
    let text = "";
    for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
    return [image.width, image.height, btoa(text)];
}"""


def test_the_guide_shows_every_page() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    for name in (*SHOWN, *AROUND, *(f"{name}-narrow" for name in NARROW)):
        assert f"(studio/{name}.png)" in text, f"docs/studio.md does not show {name}"
        size = (FOLDER / f"{name}.png").stat().st_size
        assert size < MOST_BYTES, f"{name}.png has {size:,} bytes: run `make screenshots`"


@pytest.mark.parametrize("house", ["sqlite"], indirect=True)
def test_pictures_are_taken_where_asked(browser: Browser, studio: Served, house: House) -> None:
    """Without ``RECOLLECT_SCREENSHOTS`` one picture is taken and looked at, so that the way of making them stays sound."""
    asked = os.environ.get("RECOLLECT_SCREENSHOTS")
    context = browser.new_context(viewport=SIZE, reduced_motion="reduce", color_scheme="light")  # type: ignore[arg-type]
    page, paper = context.new_page(), context.new_page()
    page.goto(studio.link())
    pages = every_page(house)
    for name in SHOWN if asked else SHOWN[:1]:
        page.goto(studio.root + pages[name])
        _keep(_small(page, paper), name, asked)
    for name in NARROW if asked else ():
        page.set_viewport_size({"width": 360, "height": 760})
        page.goto(studio.root + pages[name])
        _keep(_small(page, paper), f"{name}-narrow", asked)
    if asked:
        page.set_viewport_size(SIZE)  # type: ignore[arg-type]
        page.goto(f"{studio.root}/erasure?owner=villa")
        page.fill("input[name=typed]", "villa")
        press(page, "Erase for good")
        _keep(_small(page, paper), "receipt", asked)
        press(page, "Sign out", within="header")
        with serving(house.memory, Doorkeeper(lambda _: None)) as server:
            page.goto(f"{server.root}/sign-in")
            _keep(_small(page, paper), "sign-in", asked)
    context.close()


def _keep(picture: bytes, name: str, asked: str | None) -> None:
    assert len(picture) < MOST_BYTES, name
    if asked is not None:
        folder = Path(asked)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.png").write_bytes(picture)


def _small(page: Page, paper: Page) -> bytes:
    """Take a picture of a page in its most frequent colours; every other one becomes the nearest of these."""
    taken = base64.b64encode(page.screenshot()).decode()
    width, height, text = paper.evaluate(PIXELS, taken)
    pixels = np.frombuffer(base64.b64decode(text), np.uint8).reshape(-1, 4)[:, :3]
    colours, places, counts = np.unique(pixels, axis=0, return_inverse=True, return_counts=True)
    palette = colours[np.argsort(counts)[::-1][:COLOURS]]
    away = ((colours[:, None, :].astype(np.int32) - palette[None, :, :].astype(np.int32)) ** 2).sum(axis=2)
    return _png(away.argmin(axis=1).astype(np.uint8)[places].reshape(height, width), palette)


def _png(places: np.ndarray, palette: np.ndarray) -> bytes:
    """Write a picture whose pixels are places in a palette."""
    height, width = places.shape
    rows = np.pad(places, ((0, 0), (1, 0)))
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    found = (
        (b"IHDR", header),
        (b"PLTE", palette.tobytes()),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*one) for one in found)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
