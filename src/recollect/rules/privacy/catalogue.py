"""All rules, the most specific first, and grouped by the trigger that makes them worth trying."""

from dataclasses import dataclass

from recollect.rules.privacy import email, iban, network, payment_cards, personal, phone, us_numbers
from recollect.rules.privacy.rule import Rule
from recollect.rules.privacy.tables import FORMAT_RULES, LABEL_RULES
from recollect.rules.privacy.triggers import Trigger

RULES: tuple[Rule, ...] = (
    *FORMAT_RULES,
    *LABEL_RULES,
    *us_numbers.RULES,
    *payment_cards.RULES,
    *iban.RULES,
    *email.RULES,
    *phone.RULES,
    *network.RULES,
    *personal.RULES,
)


@dataclass(frozen=True, slots=True)
class Group:
    """The rules behind one trigger: those to try at an anchor, by anchor, and those to search for."""

    when: Trigger
    anchored: tuple[tuple[str, tuple[Rule, ...]], ...]
    searched: tuple[Rule, ...]


def grouped(rules: tuple[Rule, ...]) -> tuple[Group, ...]:
    """The rules by trigger, keeping their order."""
    triggers = dict.fromkeys(rule.when for rule in rules)
    return tuple(_group(when, [rule for rule in rules if rule.when is when]) for when in triggers)


def _group(when: Trigger, rules: list[Rule]) -> Group:
    by_anchor: dict[str, list[Rule]] = {}
    for rule in rules:
        for anchor in rule.anchors:
            by_anchor.setdefault(anchor, []).append(rule)
    anchored = tuple((anchor, tuple(those)) for anchor, those in by_anchor.items())
    return Group(when, anchored, tuple(rule for rule in rules if not rule.anchors))


GROUPS: tuple[Group, ...] = grouped(RULES)
