-- The time of a stream is divided into phases. Each but the first begins with an entry of the ledger; the stream knows the
-- number of the current one, and a memory that of the phase in which it was written: what was there before phases belongs to the first.
ALTER TABLE streams ADD COLUMN phase BIGINT NOT NULL DEFAULT 1;
ALTER TABLE memories ADD COLUMN phase BIGINT DEFAULT 1;
CREATE INDEX ledger_phases ON ledger (tenant, stream, seq) WHERE event = 'phase_started';
