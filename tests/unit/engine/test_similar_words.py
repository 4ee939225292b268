"""A question's words find memories by words that mean much alike: explained, bounded, off by policy, the same on both stores."""

from typing import Any

import recollect
from recollect.interfaces.python import Recollect
from recollect.model.policy import Ranking

WHOLE = Ranking().text + Ranking().meaning + Ranking().nearest_words
"""What all words of a question count for where there are no vectors."""
NOTES = ("The physician prescribed a lotion", "The train to Basel leaves at seven", "Ana keeps bees on the roof")


def opened(place: str, similar_words: float = 0.6, **more: Any) -> Recollect:
    mem = recollect.open(place, embedder="none", policy={"recall": {"similar_words": similar_words, **more}})
    for number, text in enumerate(NOTES):
        mem.add(text, owner="ana", canonical_key=f"Note-{number}")
    return mem


def test_a_word_finds_another_that_means_much_the_same(place: str) -> None:
    with opened(place) as mem:
        (item,) = mem.query("doctor", owner="ana").items
        assert item.memory.content == NOTES[0]
        assert item.recall_reason == ("has_similar_words",)
        assert item.breakdown["similar_words"] == WHOLE and "text" not in item.breakdown


def test_the_policy_switches_it_off(place: str) -> None:
    with opened(place, similar_words=0) as mem:
        assert mem.query("doctor", owner="ana").items == ()


def test_british_words_find_american_ones_without_it(place: str) -> None:
    with opened(place, similar_words=0) as mem:
        mem.add("My favorite color is teal", owner="ana")
        (item,) = mem.query("favourite colour", owner="ana").items
        assert item.memory.content == "My favorite color is teal" and item.breakdown["text"] == WHOLE


def test_the_word_itself_counts_more_than_one_that_means_alike(place: str) -> None:
    with opened(place) as mem:
        mem.add("The doctor is on holiday", owner="ana", canonical_key="Holiday")
        first, second = mem.query("doctor", owner="ana").items
        assert first.memory.content.startswith("The doctor") and first.breakdown["text"] == WHOLE
        assert 0 < second.breakdown["similar_words"] <= 0.6 * WHOLE


def test_several_words_for_one_thing_count_once(place: str) -> None:
    with recollect.open(place, embedder="none") as mem:
        mem.add("mother table chair", owner="ana", canonical_key="Kitchen-One-Word")
        mem.add("mother mama momma", owner="ana", canonical_key="Kitchen-Three-Words")
        mem.add("mama window door", owner="ana", canonical_key="Kitchen-Other-Word")
        mem.add("momma lamp carpet", owner="ana", canonical_key="Kitchen-Last-Word")
        scores = {item.memory.content: item.breakdown["similar_words"] for item in mem.query("mum", owner="ana").items}
        assert len(scores) == 4
        assert scores["mother table chair"] == scores["mother mama momma"] == WHOLE


def test_what_is_hidden_does_not_use_up_what_may_be_read(place: str) -> None:
    with opened(place, max_postings=100) as mem:
        mine = mem.as_caller(user="ana", agent="clerk")
        before = [(i.memory.content, i.score) for i in mine.query("doctor", owner="ana").items]
        rows = [
            {
                "content": f"physician number {n}",
                "owner": "ana",
                "scope": "painter",
                "canonical_key": f"Hidden-{n}",
            }
            for n in range(120)
        ]
        mem.add_many(rows)
        assert [(i.memory.content, i.score) for i in mine.query("doctor", owner="ana").items] == before != []
