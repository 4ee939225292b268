-- Gives every partitioned table that has no partitions yet as many as the setting recollect.partitions says.
DO $$
DECLARE
    wanted CONSTANT integer := current_setting('recollect.partitions');
    parent record;
BEGIN
    FOR parent IN
        SELECT c.oid::regclass AS name, c.relname FROM pg_class c
         WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind = 'p'
           AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid)
    LOOP
        FOR remainder IN 0 .. wanted - 1 LOOP
            EXECUTE format('CREATE TABLE recollect.%I PARTITION OF %s FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                           parent.relname || '_' || remainder, parent.name, wanted, remainder);
        END LOOP;
    END LOOP;
END
$$;
