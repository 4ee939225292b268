-- Row-level security on every table of the schema, whatever migration made it: nothing can be forgotten.
-- It is forced, so that it binds the tables' owner too. Partitions have it of their own, since a query that names a
-- partition never meets the policy of its parent. No tenant set, or an empty one: no rows.
-- What belongs to no tenant can be read by every operation and changed by the keeper, who makes or restores the store.
DO $$
DECLARE
    one record;
    mine CONSTANT text := 'tenant = nullif(current_setting(''recollect.tenant'', true), '''')';
BEGIN
    FOR one IN
        SELECT c.oid::regclass AS name,
               EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant') AS has_tenant,
               EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'one_tenant') AS has_policy
          FROM pg_class c
         WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind IN ('r', 'p')
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', one.name);
        EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', one.name);
        IF one.has_tenant AND NOT one.has_policy THEN
            EXECUTE format('CREATE POLICY one_tenant ON %s USING (%s) WITH CHECK (%s)', one.name, mine, mine);
        ELSIF NOT one.has_tenant THEN
            EXECUTE format('DROP POLICY IF EXISTS keeper ON %s', one.name);
            EXECUTE format('DROP POLICY IF EXISTS readers ON %s', one.name);
            EXECUTE format('CREATE POLICY keeper ON %s TO current_user USING (true) WITH CHECK (true)', one.name);
            EXECUTE format('CREATE POLICY readers ON %s FOR SELECT USING (true)', one.name);
        END IF;
    END LOOP;
END
$$;

-- All that operations may write into the table without a tenant is the note that removed bytes wait for a scrub.
DROP POLICY IF EXISTS scrub_notes ON store;
CREATE POLICY scrub_notes ON store FOR INSERT WITH CHECK (name LIKE 'scrub_due %');

-- Every tenant's runs add to what models used in a day; only what is of an earlier day may be taken away.
DROP POLICY IF EXISTS spending ON model_spending;
CREATE POLICY spending ON model_spending FOR INSERT WITH CHECK (true);
DROP POLICY IF EXISTS spent_before ON model_spending;
CREATE POLICY spent_before ON model_spending FOR DELETE USING (day < to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD'));

-- Whoever looks after the whole store reads the list of erasures as a whole, to carry it out on a restored copy.
DROP POLICY IF EXISTS keeper ON erasures;
CREATE POLICY keeper ON erasures FOR SELECT TO current_user USING (true);
