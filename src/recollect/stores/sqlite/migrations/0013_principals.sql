-- Actors are principals: the kind of a name stands before it, so that a user and an agent of one name are two. Earlier
-- releases wrote the name alone. Whoever owns a user's space, or is named as the user of a memory, becomes a user: erasing
-- that person then still reaches what they did. Everybody else is an agent. The uid stays, and still commits to the name.
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
    tenant    TEXT NOT NULL,
    platform  TEXT NOT NULL,
    id        TEXT NOT NULL,
    actor     TEXT NOT NULL,
    at        TEXT NOT NULL,
    signature TEXT NOT NULL,
    PRIMARY KEY (tenant, platform, id)
) WITHOUT ROWID;
