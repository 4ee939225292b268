-- The log of what checkpoints cover: the statements that SQLite needs in its own words, by name. The others are in stores/sql.

-- name: lock_log
-- One at a time appends to a tenant's log.
SELECT :tenant WHERE 0
