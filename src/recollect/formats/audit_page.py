"""An audit as a page: one HTML file with its charts drawn in it, that opens anywhere and fetches nothing.

Every text on it was written by somebody else, so every text is escaped, and the page forbids itself scripts.
"""

import re
from collections.abc import Iterator, Mapping
from html import escape

from recollect.rules.auditing import FINDINGS, Audit, Example, is_personal, share

BAR_WIDTH, ROW_HEIGHT, LABEL_WIDTH = 420, 26, 150
COLOURS = {
    "broken": "#7a7f87",
    "noise": "#b0a08a",
    "test": "#c9b458",
    "duplicate": "#5b8fb9",
    "near_duplicate": "#8fb8d6",
    "contradiction": "#b56fb1",
    "outdated": "#d3a4d0",
    "secret": "#c8503c",
    "personal": "#e0936f",
}
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""Characters that have no shape, or turn the direction of what follows."""
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1d2126;background:#fff}
h1{font-size:1.6rem}h2{margin-top:2.2rem;font-size:1.15rem}.big{font-size:2.6rem;font-weight:700}
.dim{color:#5b626b}table{border-collapse:collapse;width:100%;font-size:.92rem}
td,th{border-bottom:1px solid #e3e6ea;padding:.35rem .5rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}
svg{max-width:100%}@media(prefers-color-scheme:dark){body{background:#16191d;color:#e6e8eb}.dim{color:#9aa2ab}
td,th{border-color:#2c3238}svg text{fill:#e6e8eb}}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(format: str, file: str, found: Audit) -> str:
    """The whole page."""
    return "".join(_page(format, file, found))


def _page(format: str, file: str, found: Audit) -> Iterator[str]:
    title = f"Audit of {_text(file)}"
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>"
    yield f'<p class="dim">{_text(format)}: {found.read:,} records of {found.owners:,} owners'
    yield f", {found.skipped:,} more that are history or were deleted. Nothing was imported.</p>"
    yield f'<p><span class="big">{share(found.worthless, found.read):.1%}</span> of the records say nothing worth keeping'
    yield " (broken, noise, test data, or said before).</p>"
    yield _kept_and_not(found)
    yield "<h2>What was found</h2>"
    yield _bars({kind: found.counts[kind] for kind in FINDINGS}, COLOURS, "Records by finding")
    if found.sensitive:
        yield "<h2>Sensitive data, by type</h2>"
        colours = {type: COLOURS["personal" if is_personal(type) else "secret"] for type in found.sensitive}
        yield _bars(found.sensitive, colours, "Records by type of sensitive data")
    for kind, meaning in FINDINGS.items():
        if found.examples[kind]:
            yield from _examples(kind, meaning, found.counts[kind], found.examples[kind])
    yield f'<p class="dim">Each record was compared with up to {found.compared:,} different texts.</p></body></html>\n'


def _kept_and_not(found: Audit) -> str:
    """One bar: what is clean, what is worth keeping though something is to be said about it, and what is not."""
    rest = found.read - found.clean - found.worthless
    parts = (
        ("clean", found.clean, "#5f9e6e"),
        ("to look at", rest, "#d9b35c"),
        ("worthless", found.worthless, "#b8554a"),
    )
    x, drawn, width = 0.0, [], BAR_WIDTH + LABEL_WIDTH
    for label, count, colour in parts:
        part = width * share(count, found.read)
        drawn.append(
            f'<rect x="{x:.1f}" y="0" width="{part:.1f}" height="22" fill="{colour}"><title>{label}: {count:,}</title></rect>'
        )
        x += part
    legend = " · ".join(f"{label} {count:,}" for label, count, _ in parts)
    return (
        f'<svg role="img" aria-label="{legend}" viewBox="0 0 {width} 46" width="{width}" height="46">{"".join(drawn)}'
        f'<text x="0" y="40" font-size="13">{legend}</text></svg>'
    )


def _bars(counts: Mapping[str, int], colours: Mapping[str, str], label: str) -> str:
    most = max(counts.values(), default=0) or 1
    height, width = ROW_HEIGHT * len(counts), LABEL_WIDTH + BAR_WIDTH + 80
    rows = []
    for number, (name, count) in enumerate(counts.items()):
        y, length = number * ROW_HEIGHT, BAR_WIDTH * count / most
        rows.append(
            f'<text x="0" y="{y + 17}" font-size="13">{_text(name.replace("_", " "))}</text>'
            f'<rect x="{LABEL_WIDTH}" y="{y + 4}" width="{length:.1f}" height="18" fill="{colours[name]}"/>'
            f'<text x="{LABEL_WIDTH + length + 6:.1f}" y="{y + 17}" font-size="13">{count:,}</text>'
        )
    return (
        f'<svg role="img" aria-label="{label}" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f"{''.join(rows)}</svg>"
    )


def _examples(kind: str, meaning: str, count: int, found: tuple[Example, ...]) -> Iterator[str]:
    yield f'<h2 id="{kind}">{_text(kind.replace("_", " ").capitalize())}: {count:,}</h2><p>{_text(meaning)}</p>'
    yield "<table><tr><th>where</th><th>what it says</th><th>why</th></tr>"
    for one in found:
        why = one.why if one.beside is None else f"{one.why}; see {one.beside}"
        yield f"<tr><td>{_text(one.place)}</td><td>{_text(one.text)}</td><td>{_text(why)}</td></tr>"
    yield "</table>"
    if count > len(found):
        yield f'<p class="dim">and {count - len(found):,} more</p>'


def _text(words: str) -> str:
    """Words as they may stand anywhere on the page."""
    visible = _UNSEEN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", words)
    return escape(visible.encode("utf-8", "replace").decode("utf-8"), quote=True)
