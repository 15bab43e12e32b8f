-- 1097_page_texts.sql
-- Adds:    projects.page_texts: a project's own texts of the pages of its recipients, which recipient_of_link() returns
-- Running workers: not affected; API processes of the release before go on
-- Locks:   projects for a moment
-- squawk-ignore-file ban-drop-function

ALTER TABLE mailqueue.projects
    ADD COLUMN page_texts jsonb,                            -- text by language, then name
    ADD CONSTRAINT projects_page_texts_check CHECK (jsonb_typeof(page_texts) = 'object') NOT VALID;

DROP FUNCTION IF EXISTS mailqueue.recipient_of_link(uuid, integer);
