-- Actors are principals: the kind of a name stands before it, so that a user and an agent of one name are two. Earlier
-- releases wrote the name alone. Whoever owns a user's space, or is named as the user of a memory, becomes a user: erasing
-- that person then still reaches what they did. Everybody else is an agent. The uid stays, and still commits to the name.
-- What binds even the tables' owner to one tenant is put back in force before this transaction ends, as after every migration.
ALTER TABLE actors NO FORCE ROW LEVEL SECURITY;
ALTER TABLE streams NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memories NO FORCE ROW LEVEL SECURITY;
UPDATE actors SET name = CASE
        WHEN name = 'application' THEN 'system:application'
        WHEN (tenant, name) IN (SELECT tenant, owner FROM streams WHERE space = 'user' AND owner IS NOT NULL)
          OR (tenant, name) IN (SELECT tenant, user_id FROM memories WHERE user_id IS NOT NULL) THEN 'user:' || name
        ELSE 'agent:' || name END
 WHERE name IS NOT NULL
   AND substr(name, 1, 5) NOT IN ('user:', 'tool:') AND substr(name, 1, 6) <> 'agent:' AND substr(name, 1, 7) <> 'system:'
   AND NOT EXISTS (SELECT 1 FROM actors other WHERE other.tenant = actors.tenant
                      AND other.name IN ('user:' || actors.name, 'agent:' || actors.name, 'system:' || actors.name));

-- The ids that a principal has on other platforms. Its own signature covers every value of a row.
CREATE TABLE platform_ids (
    tenant    TEXT COLLATE "C" NOT NULL,
    platform  TEXT COLLATE "C" NOT NULL,
    id        TEXT COLLATE "C" NOT NULL,
    actor     TEXT COLLATE "C" NOT NULL,
    at        TEXT COLLATE "C" NOT NULL,
    signature TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, platform, id)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT, DELETE ON platform_ids TO recollect_app;
