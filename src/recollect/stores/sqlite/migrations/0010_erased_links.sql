-- A memory that stays may lose a link to one that was erased, or leave recall. Here the list that says so is a file beside the
-- database, which has no schema; the number keeps the two stores in step.
SELECT 1;
