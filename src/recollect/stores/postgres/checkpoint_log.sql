-- The log of what checkpoints cover: the statements that PostgreSQL needs in its own words, by name. The others are in stores/sql.

-- name: lock_log
-- One at a time appends to a tenant's log.
SELECT pg_advisory_xact_lock(hashtextextended('recollect checkpoint log of ' || :tenant, 0))
