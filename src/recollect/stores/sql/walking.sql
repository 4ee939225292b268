-- What a walk through everything reads, a page at a time: the statements of one capability, by name.

-- name: versions_after
-- Each with the columns of the current state that repeat what it says.
SELECT v.memory, v.id, v.body, v.salt, m.canonical_key, m.key_identity, m.authority, m.kind_class, m.phase, m.created_at, m.scope,
       m.content_hash, m.kind, m.event_type, m.layer, m.tier, m.topic_id, m.source, m.user_id, m.agent_id, m.run_id,
       m.thread_id, m.actor_id, m.role, m.author_id, m.author_name, m.confidence
  FROM versions v LEFT JOIN memories m USING (tenant, stream, memory)
 WHERE v.tenant = :tenant AND v.stream = :stream AND v.memory > :after ORDER BY v.memory LIMIT :limit

-- name: amendments_after
SELECT seq, body, salt, memory_id FROM amendments
 WHERE tenant = :tenant AND stream = :stream AND seq > :after ORDER BY seq LIMIT :limit

-- name: states_after
SELECT memory, terms, id, status, version, supersedes_id, superseded_by_id, related, conflicts, canonical_key, key_digest,
       slot, subject_value, pinned, importance, importance_reason, authority, authority_reason, category, tags, reinforcements,
       last_reinforced, last_modified, expires_at, expires_at_tick, valid_from, valid_until, deleted_at, purge_at, vouchers,
       removed
  FROM memories WHERE tenant = :tenant AND stream = :stream AND memory > :after ORDER BY memory LIMIT :limit

-- name: removals
SELECT memory_id, event, commitment FROM ledger
 WHERE tenant = :tenant AND stream = :stream AND event IN ('erased', 'purged', 'severed') ORDER BY commitment

-- name: parents_between
SELECT memory, hash FROM parents
 WHERE tenant = :tenant AND stream = :stream AND memory > :after AND memory <= :upto ORDER BY memory, hash

-- name: relations_between
SELECT * FROM relations
 WHERE tenant = :tenant AND from_stream = :stream AND from_memory > :after AND from_memory <= :upto
 ORDER BY from_memory, to_stream, to_memory, relation_type

-- name: postings_after
-- With the count of each term, which stands before its postings.
SELECT term, -place, tf, length FROM postings
 WHERE tenant = :tenant AND stream = :stream AND (term, place) > (:term, :place) ORDER BY term, place LIMIT :limit

-- name: entry_hashes
SELECT hash FROM ledger WHERE tenant = :tenant AND stream = :stream AND seq > :after ORDER BY seq LIMIT :limit
