"""Content addresses: those that others give the same bytes, and one only."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.rules.ledger.content_ids import cid_of, cid_of_hash, hash_of_cid

KNOWN = {
    "": "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku",
    "hello world": "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e",
}
"""As IPFS itself gives them for raw blocks."""


@pytest.mark.parametrize(("content", "cid"), KNOWN.items())
def test_the_address_is_the_one_that_others_give(content: str, cid: str) -> None:
    assert cid_of(content) == cid


@given(st.binary(min_size=32, max_size=32))
def test_address_and_hash_lead_to_each_other(digest: bytes) -> None:
    cid = cid_of_hash(digest.hex())
    assert hash_of_cid(cid) == digest.hex()
    assert (len(cid), cid[:7]) == (59, "bafkrei")


def test_it_is_the_address_of_the_utf8_bytes() -> None:
    assert hash_of_cid(cid_of("né 🫖")) == hashlib.sha256("né 🫖".encode()).hexdigest()


@pytest.mark.parametrize(
    ("wrong", "why"),
    {
        "": "no CIDv1",
        "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG": "no CIDv1",
        KNOWN["hello world"].upper(): "no CIDv1",
        KNOWN["hello world"] + "a": "no CIDv1",
        "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi": "of another kind",
        KNOWN["hello world"][:-1] + "f": "last digit",
    }.items(),
)
def test_any_other_spelling_is_refused(wrong: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        hash_of_cid(wrong)


@pytest.mark.parametrize("wrong", ["", "ab", "A" * 64, "g" * 64, "a" * 63])
def test_only_a_hash_has_an_address(wrong: str) -> None:
    with pytest.raises(ValueError, match="no SHA-256"):
        cid_of_hash(wrong)
