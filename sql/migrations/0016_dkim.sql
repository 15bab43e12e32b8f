-- 0016_dkim.sql
-- Adds:    dkim_keys, domain_checks, a project's wish to send signed mail only
-- Running workers: go on; they sign once they are of this version
-- Locks:   projects for a moment: no row is read or written again

ALTER TABLE mailqueue.projects
    ADD COLUMN is_dkim_required boolean NOT NULL DEFAULT false;  -- mail of a domain without a key in force waits
COMMENT ON COLUMN mailqueue.projects.is_dkim_required IS
    'Mail whose From domain has no DKIM key in force waits instead of going out unsigned.';

CREATE TABLE mailqueue.dkim_keys (
    id           uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id   uuid        NOT NULL REFERENCES mailqueue.projects (id),
    domain       text        NOT NULL,                      -- of the From address, in A-label form
    selector     text        NOT NULL,                      -- the record stands at SELECTOR._domainkey.DOMAIN
    algorithm    text        NOT NULL,
    public_key   text        NOT NULL,                      -- p= of the record
    private_key  bytea,                                     -- sealed; see data_keys. NULL once revoked
    status       text        NOT NULL DEFAULT 'pending',
    created_at   timestamptz NOT NULL DEFAULT now(),
    seen_at      timestamptz,                               -- last found in DNS as it should be
    active_at    timestamptz,                               -- signs since
    retired_at   timestamptz,                               -- signs no more since
    needed_until timestamptz,                               -- of a retired key: its record has to stay so long
    revoked_at   timestamptz,

    CONSTRAINT dkim_keys_project_id_domain_selector_key UNIQUE (project_id, domain, selector),
    CONSTRAINT dkim_keys_domain_check CHECK (domain = lower(domain) AND domain ~ '^[a-z0-9][a-z0-9.-]{0,251}[a-z0-9]$'),
    CONSTRAINT dkim_keys_selector_check CHECK (selector ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    CONSTRAINT dkim_keys_algorithm_check CHECK (algorithm IN ('rsa-sha256', 'ed25519-sha256')),
    CONSTRAINT dkim_keys_status_check CHECK (status IN ('pending', 'active', 'retired', 'revoked')),
    CONSTRAINT dkim_keys_private_key_check CHECK ((private_key IS NULL) = (status = 'revoked'))
);
CREATE UNIQUE INDEX dkim_keys_active_key ON mailqueue.dkim_keys (project_id, domain, algorithm) WHERE status = 'active';
COMMENT ON TABLE mailqueue.dkim_keys IS
    'Keys a project signs its mail with. A new one is pending until its record is in DNS; the one before it is retired then, and its record stays until no mail it signed is on the way.';

CREATE TABLE mailqueue.domain_checks (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id   uuid        NOT NULL,
    domain       text        NOT NULL,
    checked_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    is_good      boolean     NOT NULL,                      -- nothing failed
    findings     jsonb       NOT NULL,                      -- one for each thing looked at: what, status, found, advice

    CONSTRAINT domain_checks_domain_check CHECK (domain = lower(domain))
);
CREATE INDEX domain_checks_domain_idx ON mailqueue.domain_checks (project_id, domain, checked_at);
COMMENT ON TABLE mailqueue.domain_checks IS
    'What DNS said of a domain when somebody asked: SPF, DKIM, DMARC, MX and reverse name.';
