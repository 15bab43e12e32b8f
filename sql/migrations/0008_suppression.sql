-- 0008_suppression.sql
-- Adds:    suppressions, bounce_list, unsubscribe_list
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.suppressions (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id  uuid        NOT NULL REFERENCES mailqueue.projects (id),
    address     text        NOT NULL,                       -- lower case
    category    text        NOT NULL DEFAULT '',            -- '': all mail of the project
    reason      text        NOT NULL,
    detail      text,
    created_at  timestamptz NOT NULL DEFAULT now(),
    expires_at  timestamptz NOT NULL DEFAULT 'infinity',

    CONSTRAINT suppressions_project_id_address_category_key UNIQUE (project_id, address, category),
    CONSTRAINT suppressions_address_check CHECK (address = lower(address)),
    CONSTRAINT suppressions_reason_check
        CHECK (reason IN ('hard_bounce', 'complaint', 'unsubscribed', 'manual'))
);
COMMENT ON TABLE mailqueue.suppressions IS
    'Addresses a project does not write to, and why. Looked at when mail is accepted and again right before it is sent.';

CREATE TABLE mailqueue.bounce_list (
    id                 bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id         uuid        NOT NULL,
    project            text        DEFAULT 'default',       -- only for INSERT; NULL in the table
    email              text        NOT NULL,
    bounce_type        text        NOT NULL,
    bounce_reason      text,
    bounce_code        text,
    sender_account_id  integer,
    campaign_id        text,
    first_bounced_at   timestamptz NOT NULL DEFAULT now(),
    last_bounced_at    timestamptz NOT NULL DEFAULT now(),
    bounce_count       integer     NOT NULL DEFAULT 1,

    CONSTRAINT bounce_list_project_id_email_key UNIQUE (project_id, email),
    CONSTRAINT bounce_list_email_check CHECK (email = lower(email)),
    CONSTRAINT bounce_list_type_check CHECK (bounce_type IN ('hard', 'soft', 'complaint'))
);
COMMENT ON TABLE mailqueue.bounce_list IS
    'Addresses that bounced or complained. Hard bounces and complaints suppress the address by themselves.';

CREATE TABLE mailqueue.unsubscribe_list (
    id                  bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id          uuid        NOT NULL,
    project             text        DEFAULT 'default',      -- only for INSERT; NULL in the table
    email               text        NOT NULL,
    category            text        NOT NULL DEFAULT '',    -- '': from everything
    unsubscribe_reason  text,
    campaign_id         text,
    user_agent          text,
    ip_address          inet,
    unsubscribed_at     timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT unsubscribe_list_project_id_email_category_key UNIQUE (project_id, email, category),
    CONSTRAINT unsubscribe_list_email_check CHECK (email = lower(email))
);
COMMENT ON TABLE mailqueue.unsubscribe_list IS
    'People who opted out, of a category or of everything. Each row suppresses the address, for queued mail too.';
