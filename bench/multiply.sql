-- Copies of what one stream holds, for measuring how reads grow: as further owners' streams, or further memories of the same
-- one. Ids and keys are made to differ; what these reads never look at (other owners' ledgers, traces) is left out. The ledger
-- of the one stream is as long as its memories make it, with a tick for each copy; its hashes are no chain.
-- "{ks}" gives the numbers of the copies, "{hex}" a copy's number in eight hexadecimal digits.

-- name: owners_streams
INSERT INTO streams (tenant, stream, uid, namespace, space, owner, tick, last_seq, last_memory, head, last_at, documents, words,
                     phase, embedder, generation)
SELECT tenant, stream + k, {hex} || substr(uid, 9), namespace, space, owner || '-' || k, tick, last_seq, last_memory, head, last_at,
       documents, words, phase, embedder, generation
  FROM {ks} CROSS JOIN streams WHERE stream = 1

-- name: owners_versions
INSERT INTO versions (tenant, stream, memory, id, body, salt)
SELECT tenant, stream + k, memory, {hex} || substr(id, 9), replace(body, '"owner":"ana"', '"owner":"ana-' || k || '"'), salt
  FROM {ks} CROSS JOIN versions WHERE stream = 1

-- name: owners_memories
INSERT INTO memories ({columns})
SELECT {values} FROM {ks} CROSS JOIN memories WHERE stream = 1

-- name: owners_postings
INSERT INTO postings (tenant, stream, term, place, tf, length)
SELECT tenant, stream + k, term, place, tf, length FROM {ks} CROSS JOIN postings WHERE stream = 1

-- name: owners_vectors
INSERT INTO vectors (tenant, stream, memory, generation, codes)
SELECT tenant, stream + k, memory, generation, codes FROM {ks} CROSS JOIN vectors WHERE stream = 1

-- name: stream_versions
INSERT INTO versions (tenant, stream, memory, id, body, salt)
SELECT tenant, stream, memory + k * {size}, {hex} || substr(id, 9), body, salt FROM {ks} CROSS JOIN versions

-- name: stream_memories
INSERT INTO memories ({columns})
SELECT {values} FROM {ks} CROSS JOIN memories

-- name: stream_postings
INSERT INTO postings (tenant, stream, term, place, tf, length)
SELECT tenant, stream, term, place - k * {size}, tf, length FROM {ks} CROSS JOIN postings WHERE place <> -9223372036854775807

-- name: stream_counts
UPDATE postings SET tf = tf * {times} WHERE place = -9223372036854775807

-- name: stream_vectors
INSERT INTO vectors (tenant, stream, memory, generation, codes)
SELECT tenant, stream, memory + k * {size}, generation, codes FROM {ks} CROSS JOIN vectors

-- name: stream_ledger
INSERT INTO ledger (tenant, stream, seq, tick, event, memory_id, other_id, from_status, to_status, rule, rules_version, commitment,
                    actor, at, prev_hash, hash)
SELECT l.tenant, l.stream, l.seq + k * s.last_seq, l.tick + k * s.tick, l.event, {hex} || substr(l.memory_id, 9),
       {hex} || substr(l.other_id, 9), l.from_status, l.to_status, l.rule, l.rules_version, l.commitment, l.actor, l.at, l.prev_hash,
       l.hash
  FROM {ks} CROSS JOIN ledger l JOIN streams s USING (tenant, stream)

-- name: stream_itself
UPDATE streams SET tick = tick * {times}, last_seq = last_seq * {times}, last_memory = last_memory * {times}, documents = documents * {times}, words = words * {times}
