-- The log of what checkpoints cover: the statements of one capability, by name.

-- name: log_leaves
SELECT place, kind, subject, body FROM log_leaves WHERE tenant = :tenant ORDER BY place

-- name: log_leaves_about
SELECT place, kind, subject, body FROM log_leaves
 WHERE tenant = :tenant AND kind = :kind AND subject = :subject ORDER BY place

-- name: log_leaves_of_kind
SELECT place, kind, subject, body FROM log_leaves WHERE tenant = :tenant AND kind = :kind ORDER BY place

-- name: last_log_leaves
SELECT place, kind, subject, body FROM log_leaves
 WHERE tenant = :tenant AND place IN (SELECT max(place) FROM log_leaves WHERE tenant = :tenant AND kind = 'stream' GROUP BY subject)
 ORDER BY place

-- name: add_log_leaf
INSERT INTO log_leaves (tenant, place, kind, subject, body) VALUES (?, ?, ?, ?, ?)

-- name: log_checkpoints
SELECT size, log, root, at FROM log_checkpoints WHERE tenant = :tenant ORDER BY size

-- name: log_checkpoint
SELECT size, log, root, at FROM log_checkpoints WHERE tenant = :tenant AND size = :size

-- name: last_log_checkpoint
SELECT size, log, root, at FROM log_checkpoints WHERE tenant = :tenant ORDER BY size DESC LIMIT 1

-- name: add_log_checkpoint
INSERT INTO log_checkpoints (tenant, size, log, root, at) VALUES (:tenant, :size, :log, :root, :at)

-- name: log_signatures
SELECT size, key, signature FROM log_signatures WHERE tenant = :tenant ORDER BY size, key

-- name: log_signatures_of
SELECT size, key, signature FROM log_signatures WHERE tenant = :tenant AND size = :size ORDER BY key

-- name: add_log_signature
INSERT INTO log_signatures (tenant, size, key, signature) VALUES (:tenant, :size, :key, :signature) ON CONFLICT DO NOTHING

-- name: committed_values
-- What the entries about a memory committed to, for as long as it has content.
SELECT l.seq, v.body, v.salt FROM versions v
  JOIN ledger l ON l.tenant = v.tenant AND l.stream = v.stream AND l.memory_id = v.id
 WHERE v.tenant = :tenant AND v.stream = :stream AND v.memory = :memory AND v.body IS NOT NULL
   AND l.event IN ('stored', 'contradicted')
 UNION ALL
SELECT a.seq, a.body, a.salt FROM amendments a
 WHERE a.tenant = :tenant AND a.stream = :stream AND a.memory_id = :id AND a.body IS NOT NULL
 ORDER BY 1
