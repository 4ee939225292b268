-- The part of a stream's ledger that some memories' states follow from.

-- name: ids_around
WITH RECURSIVE around (id) AS (
    SELECT value COLLATE "C" FROM jsonb_array_elements_text(:ids::jsonb)
     UNION
    SELECT beside.id FROM around CROSS JOIN LATERAL (
        SELECT l.other_id AS id FROM ledger l
         WHERE l.tenant = :tenant AND l.memory_id = around.id AND l.stream = :stream AND l.other_id IS NOT NULL
         UNION ALL
        SELECT l.memory_id FROM ledger l
         WHERE l.tenant = :tenant AND l.other_id = around.id AND l.stream = :stream) beside)
SELECT id FROM around

-- name: entries_of_memories
SELECT s.uid, l.seq, l.tick, l.event, l.memory_id, l.other_id, l.from_status, l.to_status, l.rule, l.rules_version,
       l.commitment, l.actor, l.at, l.prev_hash, l.hash, a.seq, a.body, a.salt
  FROM ledger l JOIN streams s USING (tenant, stream) LEFT JOIN amendments a USING (tenant, stream, seq)
 WHERE l.tenant = :tenant AND l.stream = :stream
   AND l.memory_id IN (SELECT value FROM jsonb_array_elements_text(:ids::jsonb))
 ORDER BY l.seq

-- name: versions_of_memories
SELECT v.memory, v.id, v.body, v.salt FROM memories m JOIN versions v USING (tenant, stream, memory)
 WHERE m.tenant = :tenant AND m.stream = :stream
   AND m.id IN (SELECT value FROM jsonb_array_elements_text(:ids::jsonb)) ORDER BY v.memory
