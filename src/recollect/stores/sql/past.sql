-- What a stream was at an earlier moment, from its ledger.

-- name: last_entry
SELECT seq, tick, at FROM ledger
 WHERE tenant = :tenant AND stream = :stream AND tick <= :tick AND at <= :at ORDER BY seq DESC LIMIT 1

-- name: last_memory_by
SELECT m.memory FROM ledger l JOIN memories m ON m.tenant = l.tenant AND m.id = l.memory_id
 WHERE l.tenant = :tenant AND l.stream = :stream AND l.seq <= :seq AND l.event IN ('stored', 'contradicted')
 ORDER BY l.seq DESC LIMIT 1

-- name: changed_between
-- A memory's time to live is that of today unless an entry after the first moment changed it.
WITH changed (id) AS (
    SELECT memory_id FROM ledger
     WHERE tenant = :tenant AND stream = :stream AND seq > :after_seq AND seq <= :upto_seq
     UNION
    SELECT other_id FROM ledger
     WHERE tenant = :tenant AND stream = :stream AND seq > :after_seq AND seq <= :upto_seq AND other_id IS NOT NULL
     UNION
    SELECT memory_id FROM ledger
     WHERE tenant = :tenant AND stream = :stream AND seq > :after_seq AND event IN ('expired', 'restored', 'rekeyed')
     UNION
    SELECT memory_id FROM amendments
     WHERE tenant = :tenant AND stream = :stream AND seq > :after_seq AND body LIKE '%expires_at%'
     UNION
    SELECT id FROM memories
     WHERE tenant = :tenant AND stream = :stream
       AND ((expires_at > :after_at AND expires_at <= :upto_at)
            OR (expires_at_tick > :after_tick AND expires_at_tick <= :upto_tick)))
SELECT id FROM memories
 WHERE tenant = :tenant AND stream = :stream
   AND (id IN (SELECT id FROM changed)
        OR (key_identity <> '' AND key_identity IN
            (SELECT key_identity FROM memories
              WHERE tenant = :tenant AND stream = :stream AND id IN (SELECT id FROM changed))))
 ORDER BY memory DESC
