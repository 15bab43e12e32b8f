-- 1096_logos_of_projects.sql
-- Adds:    projects.logo: the picture of templates at the top of the pages of its recipients; recipient_of_link()
--          returns the token of its URL
-- Running workers: not affected; API processes of the release before go on
-- Locks:   projects for a moment
-- squawk-ignore-file ban-drop-function

-- No foreign key: template_pictures refers to projects, and a circle cannot be restored table by table.
ALTER TABLE mailqueue.projects ADD COLUMN logo uuid;

DROP FUNCTION IF EXISTS mailqueue.recipient_of_link(uuid, integer);
