"""An audit as a page: one HTML file with its charts drawn in it, that opens anywhere and fetches nothing.

Every text on it was written by somebody else, so every text is escaped, and the page forbids itself scripts. Each chart is a
table with its bars in it, so that the figures can be read without them.
"""

import re
from collections.abc import Iterator, Mapping
from html import escape

from recollect.rules.auditing import FINDINGS, Audit, Example, is_personal, share_of

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
KEPT = (("clean", "#5f9e6e"), ("to look at", "#d9b35c"), ("worthless", "#b8554a"))
"""What is clean, what is worth keeping though something is to be said about it, and what is not."""
_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1d2126;background:#fff}
h1{font-size:1.6rem;overflow-wrap:anywhere}h2{margin-top:2.2rem;font-size:1.15rem}.big{font-size:2.6rem;font-weight:700}
.dim,caption{color:#5b626b}caption{text-align:left;font-size:.85rem;padding-bottom:.3rem}
table{border-collapse:collapse;width:100%;table-layout:fixed;font-size:.92rem}
td,th{border-bottom:1px solid #e3e6ea;padding:.35rem .5rem;text-align:left;vertical-align:top;overflow-wrap:break-word}
.where{width:24%}.why{width:30%}.name{width:8.5rem}.number{width:4.2rem;text-align:right;font-variant-numeric:tabular-nums}
.chart{max-width:44rem}.chart th,.chart td{padding:.2rem .5rem;border:0;font-weight:400;vertical-align:middle}
.chart thead th{font-size:.85rem;font-weight:600}svg{display:block;width:100%;height:1.1rem}.whole{max-width:44rem;height:1.5rem}
@media(max-width:34rem){.chart .share{display:none}.name{width:7rem}.number{width:4.4rem}
.examples thead{display:none}.examples tr,.examples td{display:block;width:auto}.examples td{border:0;padding:.1rem 0}
.examples tr{border-bottom:1px solid #e3e6ea;padding:.5rem 0}.examples .where,.examples .why{color:#5b626b}}
@media(prefers-color-scheme:dark){body{background:#16191d;color:#e6e8eb}
.dim,caption,.examples .where,.examples .why{color:#9aa2ab}td,th,.examples tr{border-color:#2c3238}}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(format: str, file: str, found: Audit) -> str:
    """Return the whole page."""
    return "".join(_render_page(format, file, found))


def _render_page(format: str, file: str, found: Audit) -> Iterator[str]:
    title = f"Audit of {_escape_text(file)}"
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>"
    yield f'<p class="dim">{_escape_text(format)}: {found.read:,} records of {found.owners:,} owners'
    yield f", {found.skipped:,} more that are history or were deleted. Nothing was imported.</p>"
    yield f'<p><span class="big">{share_of(found.worthless, found.read):.1%}</span> of the records say nothing worth keeping'
    yield " (broken, noise, test data, or said before).</p>"
    yield from _draw_summary(found)
    yield "<h2>What was found</h2>"
    counts = {kind: found.counts[kind] for kind in FINDINGS}
    yield from _draw_chart(counts, COLOURS, found.read, "Records by finding; one record may have several.")
    if found.sensitive:
        yield "<h2>Sensitive data, by type</h2>"
        colours = {type: COLOURS["personal" if is_personal(type) else "secret"] for type in found.sensitive}
        yield from _draw_chart(found.sensitive, colours, found.read, "Records by type of sensitive data.")
    for kind, meaning in FINDINGS.items():
        if found.examples[kind]:
            yield from _draw_examples(kind, meaning, found.counts[kind], found.examples[kind])
    yield f'<p class="dim">Each record was compared with up to {found.compared:,} different texts.</p></body></html>\n'


def _draw_summary(found: Audit) -> Iterator[str]:
    """Yield one bar for all records, and what its parts are."""
    counts = (found.clean, found.read - found.clean - found.worthless, found.worthless)
    yield '<svg class="whole" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
    begin = 0.0
    for (_, colour), count in zip(KEPT, counts, strict=True):
        width = 100 * share_of(count, found.read)
        yield _draw_bar(begin, width, colour)
        begin += width
    yield "</svg>"
    named = {name: count for (name, _), count in zip(KEPT, counts, strict=True)}
    yield from _draw_chart(named, dict(KEPT), found.read, "All records.")


def _draw_chart(counts: Mapping[str, int], colours: Mapping[str, str], whole: int, caption: str) -> Iterator[str]:
    """Yield a table of figures, each with a bar as long as it is among the largest."""
    most = max(counts.values(), default=0)
    yield f'<table class="chart"><caption>{caption}</caption><thead><tr><th class="name">what</th>'
    yield '<th class="number">records</th><th class="number share">share</th><th></th></tr></thead><tbody>'
    for name, count in counts.items():
        bar = _draw_bar(0, 100 * share_of(count, most), colours[name])
        yield f'<tr><th scope="row">{_escape_text(name.replace("_", " "))}</th><td class="number">{count:,}</td>'
        yield f'<td class="number share">{share_of(count, whole):.1%}</td>'
        yield f'<td><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{bar}</svg></td></tr>'
    yield "</tbody></table>"


def _draw_bar(begin: float, width: float, colour: str) -> str:
    return f'<rect x="{begin:.2f}" y="0" width="{width:.2f}" height="10" fill="{colour}"/>'


def _draw_examples(kind: str, meaning: str, count: int, found: tuple[Example, ...]) -> Iterator[str]:
    yield f'<h2 id="{kind}">{_escape_text(kind.replace("_", " ").capitalize())}: {count:,}</h2><p>{_escape_text(meaning)}</p>'
    yield '<table class="examples"><thead><tr><th class="where">where</th><th>what it says</th><th class="why">why</th></tr>'
    yield "</thead><tbody>"
    for one in found:
        why = one.why if one.beside is None else f"{one.why}; see {one.beside}"
        place, text, why = map(_escape_text, (one.place, one.text, why))
        yield f'<tr><td class="where">{place}</td><td>{text}</td><td class="why">{why}</td></tr>'
    yield "</tbody></table>"
    if count > len(found):
        yield f'<p class="dim">and {count - len(found):,} more</p>'


def _escape_text(words: str) -> str:
    """Escape a text so that it may stand anywhere on the page."""
    visible = _UNSEEN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", words)
    return escape(visible.encode("utf-8", "replace").decode("utf-8"), quote=True)
