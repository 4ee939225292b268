"""What a random user says: sentences that meet, contradict and repeat each other, and what can be said about them."""

from datetime import datetime, timedelta
from typing import Any

from hypothesis import strategies as st

OWNERS = ("ana", "ben")
WORDLESS = "🫖"
"""It holds nothing that a search could find it by."""
SENTENCES = (
    "Ana likes green tea",
    "Ana really likes green tea",
    "Ana does not like green tea",
    "I live in Berlin",
    "I live in Hamburg",
    "Actually, I live in Madrid",
    "Never use emojis in replies",
    "No emojis",
    "The deploy port of the web service is 8080",
    "The deploy port of the web service is 9090",
    "Ben is allergic to peanuts",
    "Ana is allergic to peanuts",
    "We meet every Tuesday at ten in the small room",
    "We meet every Tuesday at ten in the small room.",
    "The small room is where we meet every Tuesday at ten",
    "Is the deploy port 8080?",
    "Кошка спит на окне",
    WORDLESS,
    "the password is hunter2-very-secret",
)
STEPS = ("1. Fill the can\n2. Pour slowly", "1. Fill the can\n2. Pour it all at once", "1. Never use emojis in replies")
KEYS = ("Ana-Likes-Tea", "ana-likes-TEA", "Deploy-Port-Web", "Team-Meeting-Day")
TAGS = ("urgent", "home", "100 %")

contents = st.sampled_from(SENTENCES)
durations = st.sampled_from([timedelta(minutes=1), timedelta(days=1), timedelta(days=45), timedelta(days=400)])
changes = st.sampled_from(["same", "update", "update", "correction", "contradiction", "contradiction"])
authorities = st.sampled_from(["system_imposed", "tool_verified", "user_asserted", "user_asserted", "ai_inferred"])
picks = st.integers(0, 10_000)
edits = st.fixed_dictionaries(
    {},
    optional={
        "pinned": st.booleans(),
        "importance": st.integers(1, 5),
        "category": st.sampled_from(["general", "work"]),
        "tags": st.lists(st.sampled_from(TAGS), max_size=2),
    },
).filter(bool)


def mostly(usual: Any, *others: Any) -> st.SearchStrategy[Any]:
    """One value most of the time, so that runs meet in few streams, and now and then another."""
    return st.sampled_from([*[usual] * 5, *others])


@st.composite
def candidates(draw: st.DrawFn, now: datetime) -> dict[str, Any]:
    """Something to remember: named or not, in any stream, with whatever a caller may say about it."""
    fields: dict[str, Any] = {
        "content": draw(contents),
        "owner": draw(mostly("ana", "ben")),
        "scope": draw(mostly("shared", "planner")),
        "namespace": draw(mostly("prod", "test", "ephemeral")),
        "space": draw(mostly("user", "system")),
        "kind": draw(mostly("semantic", "procedural", "insight", "episodic")),
    }
    if fields["kind"] == "procedural":
        fields["content"] = draw(st.sampled_from(STEPS))
    extras = {
        "ttl_ticks": st.integers(1, 4),
        "expires_at": durations.map(lambda duration: now + duration),
        "tags": st.lists(st.sampled_from(TAGS), max_size=2),
        "importance": st.integers(1, 5),
        "pinned": st.booleans(),
    }
    for name in draw(st.lists(st.sampled_from(sorted(extras)), max_size=2, unique=True)):
        fields[name] = draw(extras[name])
    if fields["kind"] != "episodic" and draw(st.booleans()):
        fields |= {"canonical_key": draw(st.sampled_from(KEYS)), "event_type": "fact"}
    return fields
