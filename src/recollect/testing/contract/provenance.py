"""Check provenance: parents, vouchers and aliases of memories, and the tombstones of rejected values."""

from typing import Any

from recollect.model.canonical import canonical_json
from recollect.model.ledger import Address, Event
from recollect.model.vocabulary import Namespace, Space
from recollect.rules.identity.rejected_values import Sealed
from recollect.stores.protocol import NO_LIMIT, KeyRow, PlatformId, Selection, Store, Stored
from recollect.testing.stores import TENANT, Scribe, StoreUnderTest, address, at, entry, memory_id, state

A, B, C = "a" * 64, "b" * 64, "c" * 64
ALL = Selection()
UID = "e" * 64


def _ids(found: list[Stored]) -> list[str]:
    return [stored.state.id for stored in found]


def _keep(scribe: Scribe, name: str, hash: str, *parents: str, **fields: object) -> str:
    body = {"content_hash": hash, "author": {"id": f"{name}'s author", "name": name}, **fields}
    if parents:
        body["parent_refs"] = list(parents)
    return scribe.keep(name, body_fields=body)


def _vouched(store: Store, scribe: Scribe, voucher: str, *names: str) -> str:
    """Have somebody vouch for memories of the scribe's stream; return who, by uid."""
    with store.write(TENANT, [scribe.address]) as writer:
        stream = scribe.stream(writer)
        uid = writer.actor_uid(TENANT, voucher, voucher.encode().ljust(16, b"."))
        for name in names:
            stream.last_seq += 1
            made = entry(stream, stream.last_seq, memory_id(name), Event.VOUCHED, actor=uid)
            writer.add_entry(stream, made)
            stream.head = made.hash
            found = writer.by_ids(TENANT, [memory_id(name)])[memory_id(name)]
            found.state.vouchers.append({"actor": uid, "at": at(1)})
            writer.move_memory(stream, found.number, found.state)
        writer.advance_stream(stream)
    return uid


class ProvenanceContract(StoreUnderTest):
    """``ReadsProvenance``, and what the writes of memories keep for it."""

    def test_a_memory_is_found_by_its_content_hash(self, store: Store, scribe: Scribe) -> None:
        tea, coffee = _keep(scribe, "tea", A), _keep(scribe, "coffee", B)
        again = _keep(Scribe(store, address("ben")), "tea again", A, created_at=at(9))
        with store.read(TENANT) as reader:
            assert _ids(reader.with_hashes(TENANT, [A], ALL, 10)) == [tea, again]
            assert _ids(reader.with_hashes(TENANT, [A, B, A], ALL, 10)) == [tea, coffee, again]
            assert _ids(reader.with_hashes(TENANT, [A, B], ALL, 2)) == [tea, coffee]
            assert reader.with_hashes(TENANT, [C], ALL, 10) == reader.with_hashes(TENANT, [], ALL, 10) == []
            found = reader.with_hashes(TENANT, [B], ALL, 10)[0]
        assert found.body is not None and found.body["content_hash"] == B

    def test_what_names_a_parent_is_found_by_the_parents_hash(self, store: Store, scribe: Scribe) -> None:
        _keep(scribe, "tea", A)
        green, black = _keep(scribe, "green", B, A), _keep(scribe, "black", C, A, B)
        with store.read(TENANT) as reader:
            assert _ids(reader.built_upon(TENANT, [A], ALL, 10)) == [green, black]
            assert _ids(reader.built_upon(TENANT, [A, B], ALL, 10)) == [green, black]
            assert _ids(reader.built_upon(TENANT, [A], ALL, 1)) == [green]
            assert _ids(reader.built_upon(TENANT, [B], ALL, 10)) == [black]
            assert reader.built_upon(TENANT, [C], ALL, 10) == []
            assert reader.parents_between(scribe.seen_by(reader), 0, NO_LIMIT) == [(2, A), (3, A), (3, B)]

    def test_only_what_is_selected_is_found(self, store: Store, scribe: Scribe) -> None:
        _keep(scribe, "hidden", A, B, scope="planner")
        other = Scribe(store, address("ben"))
        seen = _keep(other, "seen", A, B)
        shared, ben = Selection(scopes=("shared",)), Selection(streams=(other.now().number,))
        with store.read(TENANT) as reader:
            for selection in (shared, ben):
                assert _ids(reader.with_hashes(TENANT, [A], selection, 10)) == [seen]
                assert _ids(reader.built_upon(TENANT, [B], selection, 10)) == [seen]
        with store.read("globex") as reader:
            assert reader.with_hashes("globex", [A], ALL, 10) == reader.built_upon("globex", [B], ALL, 10) == []

    def test_what_a_memory_builds_upon_goes_with_its_content(self, store: Store, scribe: Scribe) -> None:
        green = _keep(scribe, "green", B, A)
        black = _keep(scribe, "black", C, A)
        with store.write(TENANT, [scribe.address]) as writer:
            writer.remove_content(scribe.stream(writer), 1, green)
        with store.read(TENANT) as reader:
            assert _ids(reader.built_upon(TENANT, [A], ALL, 10)) == [black]
            assert reader.with_hashes(TENANT, [B], ALL, 10) == []
            assert reader.parents_between(scribe.seen_by(reader), 0, NO_LIMIT) == [(2, A)]

    def test_what_a_version_names_by_id_is_found(self, store: Store, scribe: Scribe) -> None:
        tea, milk = memory_id("tea"), memory_id("milk")
        metas: dict[str, dict[str, object]] = {
            "promoted": {"promoted_from": tea},
            "summary": {"summary_of": [milk, tea]},
            "stated": {"source_turn_ids": [tea]},
            "other": {"about": tea, "summary_of": [memory_id("sugar")]},
            "odd": {"summary_of": 7, "promoted_from": None},
        }
        kept = {"near": _keep(scribe, "near", B, neighbours=[[tea, 0.5], [milk, 0.25]])}
        kept |= {name: _keep(scribe, name, B, meta=meta) for name, meta in metas.items()}
        with store.read(TENANT) as reader:
            assert _ids(reader.tied_to(TENANT, [tea])) == [
                kept[name] for name in ("near", "promoted", "summary", "stated")
            ]
            assert _ids(reader.tied_to(TENANT, [milk, memory_id("coffee")])) == [kept["near"], kept["summary"]]
            assert reader.tied_to(TENANT, []) == reader.tied_to(TENANT, [memory_id("coffee")]) == []
        with store.read("globex") as reader:
            assert reader.tied_to("globex", [tea]) == []

    def test_what_names_somebody_is_found_wherever_the_name_stands(self, store: Store, scribe: Scribe) -> None:
        name, voucher = "Zoë 'Q\"", {"id": "Zoë 'Q\"", "name": "Z", "timestamp": at(1)}
        bodies: dict[str, dict[str, Any]] = {
            **{field: {field: name} for field in ("user_id", "agent_id", "actor_id", "scope")},
            "author": {"author": {"id": name, "name": "Zoë"}},
            "credited": {"author": {"id": "z", "name": name}},
            "vouched": {"meta": {"entry": {"vouchers": [7, {"id": "ben"}, voucher]}}},
            "odd": {"meta": {"entry": {"vouchers": {"id": 7}}, "about": name}, "topic_id": name},
        }
        kept = {named: _keep(scribe, named, B, **fields) for named, fields in bodies.items()}
        kept["told"] = scribe.keep("told", vouchers=[{"actor": "", "at": at(1), "told": voucher}])
        with store.read(TENANT) as reader:
            assert _ids(reader.tied_to(TENANT, [name])) == [id for named, id in kept.items() if named != "odd"]
            assert reader.tied_to(TENANT, ["Zo", "zoë 'q\""]) == []

    def test_whose_words_a_memory_is_says_where_it_is(self, store: Store, scribe: Scribe) -> None:
        name, other = "Zoë 'Q\"", Scribe(store, address("ben"))
        bodies: dict[str, dict[str, Any]] = {
            **{field: {field: name} for field in ("user_id", "actor_id")},
            "author": {"author": {"id": name, "name": "Zoë"}},
            "principal": {"author": {"id": f"user:{name}", "name": "Zoë"}},
            "credited": {"author": {"id": "z", "name": name}},
            "agent": {"agent_id": name, "author": {"id": f"agent:{name}", "name": "Zoë"}},
            "gone": {"user_id": name, "author": {"id": name, "name": name}},
        }
        for named, fields in bodies.items():
            _keep(scribe, named, B, **fields)
        _keep(other, "elsewhere", B, user_id=name)
        with store.write(TENANT, [scribe.address]) as writer:
            writer.remove_content(scribe.stream(writer), 7, memory_id("gone"))
        with store.read(TENANT) as reader:
            here, there = scribe.seen_by(reader).number, other.seen_by(reader).number
            expected = [(here, number) for number in (1, 2, 3, 4, 5)] + [(there, 1)]
            assert sorted(reader.places_naming(TENANT, name)) == sorted(expected)
            assert reader.places_naming(TENANT, "zoë") == []
        with store.read("globex") as reader:
            assert reader.places_naming("globex", name) == []

    def test_a_name_that_was_cut_out_of_a_version_is_nowhere_beside_it(self, store: Store, scribe: Scribe) -> None:
        author = {"id": "a1", "name": "ana"}
        green = _keep(scribe, "green", B, user_id="ana", actor_id="ana", author=author, aliases=["g"])
        with store.write(TENANT, [scribe.address]) as writer:
            stream, found = scribe.stream(writer), writer.by_ids(TENANT, [green])[green]
            kept = {name: value for name, value in (found.body or {}).items() if value != "ana"}
            body = kept | {"author": {"id": "erased", "name": "erased"}}
            writer.cut_links(stream, 1, green, canonical_json(body), [])
            writer.put_memory(stream, 1, found.state, body, None)
        with store.read(TENANT) as reader:
            (version,) = reader.versions_after(scribe.seen_by(reader), 0, 9)
            assert reader.stray_column(version, body) is None and reader.tied_to(TENANT, ["ana"]) == []
            assert reader.places_naming(TENANT, "ana") == []
            assert reader.select(TENANT, Selection(authors=("ana", "a1")), 9) == []
            assert reader.by_ids(TENANT, [green])[green].state == found.state

    def test_a_link_is_cut_out_of_a_version_and_of_all_that_was_kept_under_it(
        self, store: Store, scribe: Scribe
    ) -> None:
        green = _keep(scribe, "green", C, A, B)
        with store.write(TENANT, [scribe.address]) as writer:
            stream = scribe.stream(writer)
            retry = {"digest": "d", "salt": b"s", "outcome": "stored", "memory_id": green, "reasons": (), "at": at(1)}
            writer.keep_retry(TENANT, "once", retry)
            for hash in (A, B):
                writer.keep_trace(TENANT, {"type": "written", "of": hash}, at(1), stream.number, None)
            body = {**(writer.by_ids(TENANT, [green])[green].body or {}), "parent_refs": [B]}
            writer.cut_links(stream, 1, green, canonical_json(body), [A])
        with store.read(TENANT) as reader:
            assert (reader.by_ids(TENANT, [green])[green].body or {})["parent_refs"] == [B]
            assert reader.parents_between(scribe.seen_by(reader), 0, NO_LIMIT) == [(1, B)]
            assert [trace["of"] for trace in reader.traces(TENANT)] == [B]
            assert reader.retry(TENANT, "once") is None

    def test_it_is_made_anew_from_the_versions(self, store: Store, scribe: Scribe) -> None:
        green = _keep(scribe, "green", B, A)
        with store.write(TENANT, [scribe.address]) as writer:
            stream = scribe.stream(writer)
            body = writer.by_ids(TENANT, [green])[green].body
            writer.drop_projections(stream)
            assert writer.parents_between(stream, 0, NO_LIMIT) == []
            writer.put_memory(stream, 1, state(green), body, None)
            writer.advance_stream(stream)
        with store.read(TENANT) as reader:
            assert reader.parents_between(scribe.seen_by(reader), 0, NO_LIMIT) == [(1, A)]

    def test_a_parent_that_is_named_twice_is_noted_once(self, store: Store, scribe: Scribe) -> None:
        _keep(scribe, "green", B, A, A)
        with store.read(TENANT) as reader:
            assert reader.parents_between(scribe.seen_by(reader), 0, NO_LIMIT) == [(1, A)]

    def test_vouchers_come_with_their_names_until_they_are_erased(self, store: Store, scribe: Scribe) -> None:
        tea, coffee = _keep(scribe, "tea", A), _keep(scribe, "coffee", B)
        uid = _vouched(store, scribe, "TrustBot", "tea")
        with store.read(TENANT) as reader:
            found = reader.by_ids(TENANT, [tea, coffee])
            assert (found[tea].actor_names, found[coffee].actor_names) == ({uid: "TrustBot"}, {})
            (by_number,) = reader.by_numbers(scribe.seen_by(reader), [1])
            (by_hash,) = reader.with_hashes(TENANT, [A], ALL, 10)
            listed = {stored.state.id: stored for stored in reader.select(TENANT, ALL, 10)}
            assert by_number.actor_names == by_hash.actor_names == listed[tea].actor_names == {uid: "TrustBot"}
            assert reader.names_of(TENANT, [uid, UID]) == {uid: "TrustBot"}
        with store.write(TENANT) as writer:
            writer.forget_actor(TENANT, uid)
        with store.read(TENANT) as reader:
            assert reader.by_ids(TENANT, [tea])[tea].actor_names == reader.names_of(TENANT, [uid]) == {}

    def test_ids_of_other_platforms_go_with_their_actor(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            ana, ben = (writer.actor_uid(TENANT, name, name.encode() * 4) for name in ("user:ana", "agent:ben"))
            links = [PlatformId("", "b", ben, UID, "s"), PlatformId("agora", "a", ana, UID, "s")]
            for link in links:
                writer.add_platform_id(TENANT, link)
        with store.read(TENANT) as reader:
            assert reader.platform_ids(TENANT) == links and reader.platform_ids("globex") == []
        with store.write(TENANT) as writer:
            writer.forget_actor(TENANT, ana)
            assert writer.platform_ids(TENANT) == links[:1]
            writer.remove_platform_id(TENANT, "", "b")
            assert writer.platform_ids(TENANT) == []

    def test_keys_of_clients_are_their_tenants_and_go_with_their_user(self, store: Store) -> None:
        ana = KeyRow("k1", "d1", "laptop", "ana", "planner", "[]", '["read"]', UID, None)
        ben = KeyRow("k2", "d2", "phone", "ben", None, '["apollo"]', "[]", UID, UID)
        with store.write(TENANT) as writer:
            for key in (ben, ana):
                writer.add_access_key(TENANT, key)
            assert (writer.revoke_access_key(TENANT, "k2", "then"), writer.revoke_access_key(TENANT, "k2", "now")) == (
                1,
                0,
            )
            writer.note_key_use(TENANT, "k1", "now")
        with store.read(TENANT) as reader:
            kept = [ana._replace(last_used="now"), ben._replace(revoked_at="then")]
            assert reader.access_keys(TENANT) == kept and reader.access_keys(TENANT, "k2") == kept[1:]
            assert reader.access_keys("globex") == reader.access_keys(TENANT, "k3") == []
        with store.write(TENANT) as writer:
            assert (writer.forget_access_keys(TENANT, "ana"), writer.forget_access_keys(TENANT, "eve")) == (1, 0)
            assert [key.id for key in writer.access_keys(TENANT)] == ["k2"]

    def test_whom_somebody_vouches_for(self, store: Store, scribe: Scribe) -> None:
        for name in ("tea", "coffee", "water"):
            _keep(scribe, name, A, scope="planner" if name == "water" else "shared")
        _vouched(store, scribe, "ana", "tea", "coffee", "water")
        _vouched(store, scribe, "ben", "coffee")
        coffee, tea, water = (f"agent:{name}'s author" for name in ("coffee", "tea", "water"))
        everybody = {"ana": (coffee, tea, water), "ben": (coffee,)}
        with store.read(TENANT) as reader:
            assert reader.vouched_for(TENANT, ["ana", "ben", "cat"], ALL, 10) == everybody
            for selection, most in ((ALL, 2), (Selection(scopes=("shared",)), 9)):
                assert reader.vouched_for(TENANT, ["ana"], selection, most) == {"ana": (coffee, tea)}
            assert reader.vouched_for(TENANT, [], ALL, 9) == {}
        with store.read("globex") as reader:
            assert reader.vouched_for("globex", ["ana"], ALL, 9) == {}

    def test_a_vouch_that_was_withdrawn_counts_no_more(self, store: Store, scribe: Scribe) -> None:
        tea = _keep(scribe, "tea", A)
        _vouched(store, scribe, "ana", "tea")
        with store.write(TENANT, [scribe.address]) as writer:
            found = writer.by_ids(TENANT, [tea])[tea]
            found.state.vouchers.clear()
            writer.move_memory(scribe.stream(writer), found.number, found.state)
        with store.read(TENANT) as reader:
            assert reader.vouched_for(TENANT, ["ana"], ALL, 9) == {}


ANA = Address(TENANT, Namespace.PROD, Space.USER, "ana")
TEST = ANA._replace(namespace=Namespace.TEST)
SESSION = ANA._replace(space=Space.SESSION, owner="s1")
SECRET = "ab" * 32


class RejectionsContract(StoreUnderTest):
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
