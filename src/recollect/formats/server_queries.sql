-- Reading other tools' tables on a PostgreSQL server. {table} is the table's name, quoted; :most_bytes bounds a value.

-- name: begin
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY

-- name: columns
-- A view is none: what it runs is somebody else's.
SELECT a.attname AS name
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relname = :table AND c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid)
  AND a.attnum > 0 AND NOT a.attisdropped

-- name: tables_with
SELECT c.relname AS name
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid) AND a.attnum > 0 AND NOT a.attisdropped
GROUP BY c.oid, c.relname
HAVING array_agg(a.attname::text) @> :columns
ORDER BY c.relname
LIMIT 20

-- name: pgvector_points
-- needs: id payload
SELECT id::text AS id, CASE WHEN octet_length(payload::text) <= :most_bytes THEN payload::text END AS payload
FROM {table}
ORDER BY payload ->> 'created_at', id

-- name: langgraph_items
-- needs: prefix key value created_at updated_at
-- An older table has no expires_at. The format of times is that of the store's own file, whatever the session's zone.
SELECT prefix, key, CASE WHEN octet_length(value::text) <= :most_bytes THEN value::text END AS value,
       to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_at,
       to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS updated_at,
       to_char((to_jsonb(t) ->> 'expires_at')::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
           AS expires_at
FROM {table} t
ORDER BY t.created_at, t.prefix, t.key
