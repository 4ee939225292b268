"""What an entry's hash is taken of is its canonical form, however quickly it is written out."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.model.canonical import canonical_json
from recollect.model.ledger import Entry, Event

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
MAYBE = st.none() | TEXT
NUMBER = st.integers(0, 2**63 - 1)
ENTRIES = st.builds(
    Entry,
    TEXT,
    NUMBER,
    NUMBER,
    st.sampled_from(Event),
    TEXT,
    MAYBE,
    MAYBE,
    MAYBE,
    TEXT,
    NUMBER,
    MAYBE,
    TEXT,
    TEXT,
    TEXT,
)


@given(entry=ENTRIES)
def test_the_text_that_is_hashed_is_the_canonical_form(entry: Entry) -> None:
    body = entry._asdict()
    del body["hash"]
    assert entry.hashed_text == canonical_json(body)
