-- Operational events: the statements of one capability, by name. Lists are newest first; a page begins before a place.

-- name: remove_operations_naming
DELETE FROM operations WHERE tenant = :tenant AND (user_id = :name OR thread_id = :name)

-- name: remove_operations_before
DELETE FROM operations WHERE tenant = :tenant AND at < :at
