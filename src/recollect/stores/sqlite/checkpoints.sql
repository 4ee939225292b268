-- The checkpoints of graphs: the statements that SQLite needs in its own words, by name. The others are in stores/sql.

-- name: known_graph_values
SELECT v.digest FROM json_each(:digests) j CROSS JOIN graph_values v
 WHERE v.tenant = :tenant AND v.thread = :thread AND v.digest = j.value

-- name: graph_values_of
SELECT ch.channel, v.type, v.value
  FROM graph_channels ch CROSS JOIN graph_values v
    ON v.tenant = ch.tenant AND v.thread = ch.thread AND v.digest = ch.digest
 WHERE ch.tenant = :tenant AND ch.thread = :thread AND ch.ns = :ns AND ch.checkpoint = :checkpoint
 ORDER BY ch.channel
