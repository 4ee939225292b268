-- A memory that stays may lose a link to one that was erased, or leave recall. A restored copy has to do so again.
ALTER TABLE erasures DROP CONSTRAINT erasures_what_check,
    ADD CONSTRAINT erasures_what_check
        CHECK (what IN ('memory', 'stream', 'actor', 'thread', 'link', 'review'));
