-- Reading other tools' databases. Rows come in the order in which they were written.

-- name: tables
SELECT name FROM sqlite_master WHERE type = 'table'

-- name: langgraph_items
-- needs: store
SELECT prefix, key, value, created_at, updated_at, expires_at FROM store ORDER BY created_at, prefix, key

-- name: qdrant_points
-- needs: points
SELECT id, point FROM points ORDER BY rowid

-- name: mem0_changes
-- needs: history
-- A memory is far shorter; a text that was made to fill the reader's memory is cut, and then refused for its length.
SELECT memory_id, event, substr(old_memory, 1, 20000) AS old_memory, substr(new_memory, 1, 20000) AS new_memory,
       created_at, updated_at
FROM history
WHERE memory_id IN (SELECT memory_id FROM history WHERE event <> 'ADD')
ORDER BY rowid

-- name: mem0_last
-- needs: history
SELECT memory_id, new_memory, event, is_deleted, created_at, updated_at, actor_id, role FROM history
WHERE rowid IN (SELECT max(rowid) FROM history GROUP BY memory_id)
ORDER BY rowid

-- name: mem0_deleted
-- needs: history
SELECT memory_id FROM history
WHERE rowid IN (SELECT max(rowid) FROM history GROUP BY memory_id) AND (event = 'DELETE' OR is_deleted)
ORDER BY rowid
