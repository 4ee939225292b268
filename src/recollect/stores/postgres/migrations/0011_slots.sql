-- What a plain statement is about, read by rule: its slot (subject, attribute and scope, without the value), and whom and
-- what it names. Digests, so that they are short; they go with the content. Memories of earlier releases have none until
-- `recollect rekey` names them.
ALTER TABLE memories ADD COLUMN slot TEXT COLLATE "C";
ALTER TABLE memories ADD COLUMN subject_value TEXT COLLATE "C";
CREATE INDEX memories_by_slot ON memories (tenant, stream, slot) WHERE status = 'active' AND slot IS NOT NULL;
CREATE INDEX memories_by_subject_value ON memories (tenant, stream, subject_value)
    WHERE status = 'active' AND subject_value IS NOT NULL;
