"""Facts about projects and services that a verb names: written in, hosted on, due on, led by."""

import re

from recollect.rules.saq import values
from recollect.rules.saq.phrases import TEAM, thing
from recollect.rules.saq.rule import Parts, Reader, Rule, rule
from recollect.rules.saq.sentence import Sentence
from recollect.rules.saq.values import Check

_TOOL = r"(?P<tool>[\w.+#-]+)(?: version)?"


def _subject(phrase: str, speaker: str) -> str | None:
    low = phrase.lower()
    return TEAM if low in ("we", "i") else thing(phrase, speaker)


def _fact(aspect: str, qualifier: str, check: Check) -> Reader:
    def read(match: re.Match[str], sentence: Sentence) -> Parts | None:
        what = _subject(match["s"], sentence.speaker) if check(match["v"]) else None
        return (what, aspect, qualifier) if what else None

    return read


def _used_version(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "We use Python 3.12": the version is the tool's, unless something other than the team uses it."""
    user = _subject(match["s"], sentence.speaker)
    if user is None or not values.version(match["v"]) or not match["tool"][0].isupper():
        return None
    tool = match["tool"].lower()
    return (tool if user == TEAM else f"{user} {tool}"), "version", "number"


PROJECTS: tuple[Rule, ...] = (
    rule(
        "port",
        "port",
        "{s} {listen|run} on port {v}",
        "{s} {be} (?:listening|running|served|available|exposed) on port {v}",
        "{s} (?:must|should) (?:listen|run) on port {v}",
        "{s} {use} port {v}",
        "run {s} on port {v}",
        read=_fact("port", "number", values.port),
    ),
    rule(
        "binding",
        "bind binds bound listen listens listening",
        "bind {s} to {v}",
        "{s} {bind|listen} (?:to|on|at) {v}",
        "{s} {be} (?:bound|listening) (?:to|on|at) {v}",
        "{s} (?:must|should) (?:bind|listen) (?:to|on|at) {v}",
        read=_fact("config", "binding", values.address),
    ),
    rule(
        "version",
        "version",
        "{s} {be} (?:at|on) version {v}",
        "{s} {run|use} version {v}",
        read=_fact("version", "number", values.version),
    ),
    rule(
        "version.used",
        "use uses using on run runs running upgraded moved switched",
        rf"{{s}} {{use|run}} (?:on )?{_TOOL} {{v}}",
        rf"(?P<s>we) {{be}} on {_TOOL} {{v}}",
        rf"{{s}} {{be}} (?:using|running) {_TOOL} {{v}}",
        rf"{{s}} (?:have |has )?(?:upgraded|moved|switched) to {_TOOL} {{v}}",
        read=_used_version,
    ),
    rule(
        "language",
        "written implemented coded built",
        "{s} {be} (?:written|implemented|coded|built) in {v}",
        read=_fact("language", "code", values.programming_language),
    ),
    rule("deadline", "due", "{s} {be} due {v}", read=_fact("deadline", "date", values.date)),
    rule(
        "launch",
        "launches ships launch",
        "{s} (?:launches|ships) {v}",
        read=_fact("launch", "date", values.date),
    ),
    rule("lead", "leads leading", "(?P<v>[^,]+?) (?:leads|is leading) {s}", read=_fact("lead", "name", values.name)),
    rule("owner.by", "owned", "{s} {be} owned by {v}", read=_fact("owner", "name", values.name)),
)
