-- When a memory holds: from valid_from up to, and not including, valid_until. NULL leaves that side open.
ALTER TABLE memories ADD COLUMN valid_from TEXT;
ALTER TABLE memories ADD COLUMN valid_until TEXT;
