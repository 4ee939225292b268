-- The planner's statistics keep samples of what columns hold, in a catalogue that no erasure reaches. So none are kept of
-- columns that may hold content or names. Opaque ids outlive an erasure anyway.
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT c.oid::regclass AS name, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
         WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind IN ('r', 'p')
           AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid IN ('text'::regtype, 'bytea'::regtype)
           AND a.attstattarget IS DISTINCT FROM 0
           AND a.attname NOT IN ('tenant', 'namespace', 'space', 'status', 'kind', 'kind_class', 'event', 'created_at',
                                 'expires_at', 'valid_from', 'valid_until', 'purge_at', 'removed', 'id', 'uid', 'memory_id', 'other_id',
                                 'supersedes_id', 'superseded_by_id')
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', one.name, one.attname);
    END LOOP;
END
$$;
