"""Sign vouchers for exported entries, and check such signatures, as another platform would."""

from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from recollect.engine.context import Engine
from recollect.engine.trust.identities import check_signature
from recollect.rules.trust.signatures import bytes_of_voucher, sign, signature_text
from recollect.rules.trust.signed_documents import SignatureCheck, signature_of


def sign_voucher(entry: Mapping[str, Any], voucher: Mapping[str, Any], private: Ed25519PrivateKey) -> dict[str, Any]:
    """Return a voucher for an exported entry, with the signature of whoever vouches."""
    return {**voucher, "signature": signature_text(sign(private, bytes_of_voucher(entry, voucher)))}


def check_voucher(engine: Engine, entry: Mapping[str, Any], voucher: Mapping[str, Any]) -> SignatureCheck:
    """Say whether somebody who vouches for an exported entry signed that, with a key that counts now."""
    return check_signature(engine, signature_of(voucher), bytes_of_voucher(entry, voucher), voucher)
