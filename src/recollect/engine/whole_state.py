"""The whole state of a tenant as bytes that two stores can be compared by."""

import hashlib
from collections.abc import Iterator

from recollect.model.canonical import canonical_json
from recollect.stores.protocol import Reader


def state_lines(reader: Reader, tenant: str) -> Iterator[str]:
    """A canonical line each: streams, entries, versions' bodies, states, rejections, postings. No salts, no counters."""
    for stream in reader.streams_of(tenant):
        address = list(stream.address) if stream.address else None
        yield canonical_json(["stream", stream.uid, address, stream.tick, stream.last_seq, stream.head])
        for entry in reader.entries(stream):
            yield canonical_json(["entry", entry.seq, entry.hash])
        for version in reader.versions(stream):
            yield canonical_json(["version", version.id, version.body])
        for stored in reader.states(stream):
            yield canonical_json(["state", stored.state.to_dict()])
        for rejection in reader.rejections(stream):
            yield canonical_json(["rejection", *rejection])
        for posting in reader.indexed_text(stream):
            yield canonical_json(["posting", *posting])


def state_hash_of(reader: Reader, tenant: str) -> str:
    """One hash over all those lines, in constant memory."""
    digest = hashlib.sha256()
    for number, line in enumerate(state_lines(reader, tenant)):
        digest.update(("\n" + line if number else line).encode("utf-8"))
    return digest.hexdigest()


def ledger_root_of(reader: Reader, tenant: str) -> str:
    """One hash over the heads of all chains: equal only where every stream has the same history."""
    heads = [[stream.uid, stream.last_seq, stream.head] for stream in reader.streams_of(tenant)]
    return hashlib.sha256(canonical_json(heads).encode("utf-8")).hexdigest()
