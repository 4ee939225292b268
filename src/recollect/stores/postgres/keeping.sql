-- What opens, looks after and examines the store as a whole, by name. These run as the role that connects.

-- name: find_schema
SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = 'recollect' AND c.relname = 'migrations') AS found

-- name: lock_schema
-- One at a time: several processes may open a new store at the same moment.
SELECT pg_advisory_xact_lock(7593811504382716900)

-- name: become_app
SELECT set_config('role', 'recollect_app', true)

-- name: applied_migrations
SELECT number, sha256 FROM recollect.migrations ORDER BY number

-- name: note_migration
INSERT INTO recollect.migrations (number, name, sha256) VALUES (:number, :name, :sha256)

-- name: set_partitions
SELECT set_config('recollect.partitions', :partitions, true)

-- name: store_value
SELECT value FROM recollect.store WHERE name = :name

-- name: set_store_value
INSERT INTO recollect.store (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: remove_store_value
DELETE FROM recollect.store WHERE name = :name

-- name: scrub_notes
SELECT name FROM recollect.store WHERE name LIKE 'scrub_due %' ORDER BY name

-- name: forget_scrub_notes
DELETE FROM recollect.store WHERE name = ANY (:names)

-- name: owns_tables
SELECT pg_has_role(relowner, 'USAGE') AS ours FROM pg_class
 WHERE relnamespace = 'recollect'::regnamespace AND relname = 'erasures'

-- name: erasures
SELECT tenant, what, id FROM recollect.erasures ORDER BY number

-- name: sees_every_tenant
SELECT rolsuper OR rolbypassrls AS all FROM pg_roles WHERE rolname = current_user

-- name: tables_of_tenants
SELECT c.relname::text AS name, pg_relation_size(c.oid) AS bytes FROM pg_class c
 WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind = 'r'
   AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant')
 ORDER BY c.relname

-- name: tenants
SELECT DISTINCT tenant FROM {table}

-- name: tables_to_scrub
-- Every table that may hold content, with whether this role may rewrite it.
SELECT c.relname AS name, pg_has_role(c.relowner, 'USAGE') AS ours FROM pg_class c
 WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind = 'r'
   AND c.relname NOT IN ('migrations', 'store')
 ORDER BY c.relname

-- name: new_transaction
SELECT pg_current_xact_id()::xid AS number

-- name: older_readers
-- Whoever may still look at rows as they were before that transaction; then a rewritten table still holds them.
SELECT (SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()
           AND backend_xmin IS NOT NULL AND age(backend_xmin) >= age(:number::xid))
     + (SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database())
     + (SELECT count(*) FROM pg_replication_slots WHERE xmin IS NOT NULL AND age(xmin) >= age(:number::xid)) AS n

-- name: size
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint AS bytes FROM pg_class c
 WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind = 'r'

-- name: faults
SELECT format('the index %s is not valid: run REINDEX', i.indexrelid::regclass) AS fault
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
 WHERE c.relnamespace = 'recollect'::regnamespace AND NOT (i.indisvalid AND i.indisready)
 UNION ALL
SELECT format('the table %s has no forced row-level security', c.oid::regclass) FROM pg_class c
 WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind IN ('r', 'p')
   AND NOT (c.relrowsecurity AND c.relforcerowsecurity
            AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid))
 UNION ALL
SELECT format('the role recollect_app may do too much: it must be no superuser and not bypass row-level security')
  FROM pg_roles WHERE rolname = 'recollect_app' AND (rolsuper OR rolbypassrls)
 UNION ALL
SELECT format('the server counted %s failed page checksums in this database', checksum_failures)
  FROM pg_stat_database WHERE datname = current_database() AND checksum_failures > 0

-- name: objects
-- Whatever may keep a copy of a row: tables, views, functions that triggers run, triggers, and rules.
SELECT 'table' AS kind, c.relname::text AS name, NULL::text AS on_table FROM pg_class c
 WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind IN ('r', 'p', 'f', 'm', 'v') AND NOT c.relispartition
 UNION ALL
SELECT 'function', p.proname::text, NULL FROM pg_proc p WHERE p.pronamespace = 'recollect'::regnamespace
 UNION ALL
SELECT 'trigger', t.tgname::text, c.relname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
 WHERE c.relnamespace = 'recollect'::regnamespace AND NOT t.tgisinternal
 UNION ALL
SELECT 'rule', r.rulename::text, c.relname::text FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
 WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind <> 'v' AND c.relkind <> 'm'
 ORDER BY 1, 2, 3

-- name: has_amcheck
SELECT count(*) AS n FROM pg_extension WHERE extname = 'amcheck'

-- name: indexes_to_examine
SELECT i.indexrelid::regclass::text AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
  JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am a ON a.oid = x.relam
 WHERE c.relnamespace = 'recollect'::regnamespace AND x.relkind = 'i' AND a.amname = 'btree' ORDER BY 1

-- name: examine_index
SELECT bt_index_check(:name::regclass, true)
