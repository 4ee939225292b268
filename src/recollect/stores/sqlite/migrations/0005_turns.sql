-- What a turn reads whatever is asked: the latest lines of the conversation, the facts of the profile, and the rules. Few
-- memories are any of them, so these indexes stay small, and most writes do not touch them.
CREATE INDEX memories_turns ON memories (tenant, stream, memory) WHERE status = 'active' AND kind = 'short_term';
CREATE INDEX memories_profile ON memories (tenant, stream, memory) WHERE status = 'active' AND kind = 'profile';
CREATE INDEX memories_rules ON memories (tenant, stream, memory)
    WHERE status = 'active' AND layer = 'intent' AND authority <> 'ai_inferred';
