-- 0141_contact_bounds.sql
-- Adds:    the bound max_contacts, the number of contacts among the usage of projects, the scopes contacts:read and
--          contacts:write
-- Running workers: not affected
-- Locks:   projects, project_usage, project_usage_changes and api_keys for a moment

ALTER TABLE mailqueue.projects
    ADD COLUMN max_contacts bigint,                          -- NULL: no bound
    -- squawk-ignore constraint-missing-not-valid
    ADD CONSTRAINT projects_max_contacts_check CHECK (max_contacts >= 0);
ALTER TABLE mailqueue.project_usage ADD COLUMN contacts bigint NOT NULL DEFAULT 0;
ALTER TABLE mailqueue.project_usage_changes ADD COLUMN contacts bigint NOT NULL DEFAULT 0;

-- Contacts that are there are counted when the first bound is set, or once a day.
UPDATE mailqueue.usage_counts SET recounted_at = NULL;

ALTER TABLE mailqueue.api_keys
    ALTER COLUMN scopes SET DEFAULT '{email:send,email:read,template:read,template:write,analytics:read,suppression:manage,webhook:manage,project:read,project:write,contacts:read,contacts:write}',
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT api_keys_scopes_check,
    -- Every scope that it allowed before is allowed.
    ADD CONSTRAINT api_keys_scopes_check CHECK (
        cardinality(scopes) > 0 AND scopes <@ '{email:send,email:read,template:read,template:write,analytics:read,suppression:manage,webhook:manage,project:read,project:write,contacts:read,contacts:write}'::text[]) NOT VALID;
