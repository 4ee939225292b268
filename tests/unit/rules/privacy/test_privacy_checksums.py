"""Our checksums and tables against python-stdnum's."""

from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import luhn, numdb
from stdnum.iban import _struct_re

from recollect.rules.privacy import scan
from recollect.rules.privacy.personal import IBAN_LENGTHS, has_issuer, passes_luhn
from rows import every_row

at_leisure = settings(deadline=None)
"""The first scan imports and compiles what later ones need, so one example may take much longer than another."""


@at_leisure
@given(st.text("0123456789", min_size=2, max_size=25))
def test_luhn_agrees_with_stdnum(digits: str) -> None:
    assert passes_luhn(digits) == luhn.is_valid(digits)


@at_leisure
@given(st.text("0123456789", min_size=11, max_size=18))
def test_luhn_accepts_what_stdnum_completes(digits: str) -> None:
    assert passes_luhn(digits + luhn.calc_check_digit(digits))


def test_every_country_has_the_length_that_the_registry_gives() -> None:
    for country, length in IBAN_LENGTHS.items():
        [(_, info), *_] = numdb.get("iban").info(country + "00")
        parts = _struct_re.findall(info["bban"])
        assert sum(int(size) for size, _ in parts) + 4 == length, country


@every_row(
    ("digits", "known"),
    [
        ("4" + "0" * 15, True),
        ("4" + "0" * 13, False),
        ("34" + "0" * 13, True),
        ("34" + "0" * 14, False),
        ("2221" + "0" * 12, True),
        ("2220" + "0" * 12, False),
        ("2720" + "0" * 12, True),
        ("2721" + "0" * 12, False),
        ("6500" + "0" * 12, True),
        ("1234" + "0" * 12, False),
    ],
)
def test_issuers_have_their_prefixes_and_lengths(digits: str, known: bool) -> None:
    assert has_issuer(digits) is known


@at_leisure
@given(st.integers(0, 999), st.integers(0, 99), st.integers(0, 9999))
def test_a_social_security_number_counts_only_if_it_could_be_issued(area: int, group: int, serial: int) -> None:
    issued = area not in (0, 666) and area < 900 and group > 0 and serial > 0
    found = [f.type for f in scan(f"{area:03}-{group:02}-{serial:04}")]
    assert ("us_ssn" in found) is issued
