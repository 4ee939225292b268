-- What builds upon what, and who vouches for whom: the statements of one capability, by name.

-- name: places_naming
-- Each index is asked by itself: a planner that is asked for all at once would rather read the whole tenant in order of time.
SELECT stream, memory FROM memories WHERE tenant = :tenant AND user_id = :name
 UNION
SELECT stream, memory FROM memories WHERE tenant = :tenant AND actor_id = :name
 UNION
SELECT stream, memory FROM memories WHERE tenant = :tenant AND author_id = :name
 UNION
SELECT stream, memory FROM memories WHERE tenant = :tenant AND author_id = :principal
 UNION
SELECT stream, memory FROM memories WHERE tenant = :tenant AND author_name = :name

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
