"""Rejected values: found by their marks where they bind, ended one by one, and gone with the owner's name."""

from recollect.model.address import Address
from recollect.model.vocabulary import Namespace, Space
from recollect.rules.identity.rejected_values import Sealed
from recollect.stores.protocol import Store
from recollect.testing.contract.opening import Opening
from recollect.testing.stores import TENANT

ANA = Address(TENANT, Namespace.PROD, Space.USER, "ana")
TEST = ANA._replace(namespace=Namespace.TEST)
SESSION = ANA._replace(space=Space.SESSION, owner="s1")
SECRET = "ab" * 32


class RejectionsContract(Opening):
    """``ReadsRejections`` and ``KeepsRejections``."""

    def test_a_rejection_binds_its_owner_everywhere_and_nobody_else(self, store: Store) -> None:
        with store.write(TENANT, [ANA]) as writer:
            stream = writer.add_stream(ANA, "00" * 16)
            writer.add_rejections(stream, [Sealed("r1", SECRET, "m1"), Sealed("r1", SECRET, "m2")])
            writer.add_rejections(stream, [Sealed("r2", SECRET, "m2")])
        with store.read(TENANT) as reader:
            for address, person in ((ANA, None), (TEST, None), (SESSION, "ana"), (TEST, "ben")):
                assert reader.rejection_secrets(address, person) == {stream.number: SECRET}
            for address, person in ((SESSION, None), (SESSION, "ben"), (ANA._replace(owner="ben"), None)):
                assert reader.rejection_secrets(address, person) == {}
            assert reader.rejections_with(TENANT, stream.number, ["m1"]) == ["r1"]
            assert reader.rejections_with(TENANT, stream.number, ["m2", "m3"]) == ["r1", "r2"]
            assert reader.rejections_with(TENANT, stream.number + 1, ["m1"]) == []
            assert reader.rejecting_streams(TENANT) == [stream.number] and reader.rejecting_streams("globex") == []

    def test_it_ends_by_itself_or_with_the_owners_name(self, store: Store) -> None:
        with store.write(TENANT, [ANA]) as writer:
            stream = writer.add_stream(ANA, "00" * 16)
            writer.add_rejections(stream, [Sealed("r1", SECRET, "m1"), Sealed("r2", SECRET, "m1")])
            writer.remove_rejection(stream, "r1")
        with store.read(TENANT) as reader:
            assert reader.rejections(stream) == [Sealed("r2", SECRET, "m1")]
        with store.write(TENANT) as writer:
            writer.forget_owner(writer.locked_stream(TENANT, stream.number))
        with store.read(TENANT) as reader:
            assert reader.rejections(stream) == [] and reader.rejecting_streams(TENANT) == []
