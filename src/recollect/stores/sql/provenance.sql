-- What builds upon what, and who vouches for whom: the statements of one capability, by name.

-- name: add_parent
INSERT INTO parents (tenant, hash, stream, memory) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING

-- name: remove_parents
DELETE FROM parents WHERE tenant = :tenant AND stream = :stream AND memory = :memory

-- name: cut_links
UPDATE versions SET body = :body WHERE tenant = :tenant AND stream = :stream AND memory = :memory AND body IS NOT NULL

-- name: remove_parent
DELETE FROM parents WHERE tenant = ? AND hash = ? AND stream = ? AND memory = ?

-- name: drop_parents
DELETE FROM parents WHERE tenant = :tenant AND stream = :stream
