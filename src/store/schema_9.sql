-- The hypothesis that an unsent edit was made for, by its number in the session.

ALTER TABLE draft ADD COLUMN hypothesis INTEGER;
