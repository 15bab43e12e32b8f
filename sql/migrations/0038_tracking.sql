-- 0038_tracking.sql
-- Adds:    tracking_keys, tracked_links; what projects want to know of opens and clicks, and by which domain
-- Running workers: not affected
-- Locks:   projects for a moment: no row is read or written again

CREATE TABLE mailqueue.tracking_keys (
    id          bigint      NOT NULL PRIMARY KEY,            -- random; stands in each token made with the key
    project_id  uuid        NOT NULL REFERENCES mailqueue.projects (id),
    sealed      bytea       NOT NULL,                        -- 32 random bytes; see data_keys
    created_at  timestamptz NOT NULL DEFAULT now(),
    retired_at  timestamptz,                                 -- makes no tokens since; those it made stay good

    CONSTRAINT tracking_keys_id_check CHECK (id BETWEEN 1 AND 1099511627775)
);
CREATE UNIQUE INDEX tracking_keys_active_key ON mailqueue.tracking_keys (project_id) WHERE retired_at IS NULL;
CREATE INDEX tracking_keys_project_idx ON mailqueue.tracking_keys (project_id);
COMMENT ON TABLE mailqueue.tracking_keys IS
    'Keys of the tokens in links of mail. Each project has one that makes them; those before it go on opening theirs.';

CREATE TABLE mailqueue.tracked_links (
    project_id  uuid        NOT NULL,
    link        bytea       NOT NULL,                        -- keyed hash of the address, cut to 12 bytes
    url         text        NOT NULL,
    used_on     date        NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,  -- about the last day a mail named it

    CONSTRAINT tracked_links_pkey PRIMARY KEY (project_id, link),
    CONSTRAINT tracked_links_link_check CHECK (octet_length(link) = 12),
    CONSTRAINT tracked_links_url_check CHECK (url ~* '^https?://[^/?#]' AND length(url) <= 8192)
);
COMMENT ON TABLE mailqueue.tracked_links IS
    'Where tracked links lead. A mail names the hash; the address is here before the mail is handed over.';

ALTER TABLE mailqueue.projects
    ADD COLUMN track_opens         boolean NOT NULL DEFAULT false,
    ADD COLUMN track_clicks        boolean NOT NULL DEFAULT false,
    ADD COLUMN tracking_domain     text,                     -- links in mail name it; NULL: the installation's own address
    ADD COLUMN tracking_checked_at timestamptz,              -- last found to lead here; links wait for it
    -- squawk-ignore constraint-missing-not-valid
    ADD CONSTRAINT projects_tracking_domain_check CHECK (
        length(tracking_domain) <= 253 AND tracking_domain ~ '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$');
COMMENT ON COLUMN mailqueue.projects.track_opens IS 'Mail that does not say otherwise has a picture that tells when it is opened.';
COMMENT ON COLUMN mailqueue.projects.track_clicks IS 'Links of mail that does not say otherwise lead by way of us, to be counted.';
