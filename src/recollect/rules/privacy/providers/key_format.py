"""The common shape of all provider rules."""

from recollect.rules.privacy.rule import WORD_START, Check, Rule, marked
from recollect.rules.privacy.triggers import long_word


def key_format(
    name: str,
    *,
    anchors: tuple[str, ...],
    pattern: str,
    true_positives: tuple[str, ...],
    false_positives: tuple[str, ...],
    check: Check = marked,
) -> Rule:
    """A rule for keys that begin with one of the anchors, at the start of a word.

    Where a provider's keys have a fixed length, end the pattern with ``WORD_END``. Where the length varies, give a
    generous upper limit instead: the pattern then also finds the beginning of a longer key.
    """
    return Rule(
        name=name,
        type="api_key",
        when=long_word,
        anchors=anchors,
        pattern=WORD_START + pattern,
        check=check,
        true_positives=true_positives,
        false_positives=false_positives,
    )
