-- 0037_bounces.sql
-- Adds:    the domain to which bounces of a project's mail come back
-- Running workers: not affected
-- Locks:   projects for a moment: no row is read or written again

ALTER TABLE mailqueue.projects
    ADD COLUMN bounce_domain text,                           -- its mail comes here: return paths are signed; NULL: bounce_address
    -- squawk-ignore constraint-missing-not-valid
    ADD CONSTRAINT projects_bounce_domain_check CHECK (
        length(bounce_domain) <= 190 AND bounce_domain ~ '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$');
COMMENT ON COLUMN mailqueue.projects.bounce_domain IS
    'Domain whose mail reaches the listener for bounces: what is sent by SMTP has a return path of its own there, signed.';
