-- 0180_inbox_watch.sql
-- Adds:    inbox_users, mailboxes, notification_channels, filter_rules, notifications, notification_windows,
--          seen_messages, workspace_rates,
--          channel_providers: new mail of watched inboxes becomes messages in other channels
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.inbox_users (
    id                    uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id            uuid        NOT NULL REFERENCES mailqueue.projects (id),
    email                 text        NOT NULL,
    notifications_paused  boolean     NOT NULL DEFAULT false,
    created_at            timestamptz NOT NULL DEFAULT now(),
    updated_at            timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT inbox_users_project_id_email_key UNIQUE (project_id, email)
);
COMMENT ON TABLE mailqueue.inbox_users IS 'Persons whose inboxes a project watches.';

CREATE TABLE mailqueue.mailboxes (
    id               uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id       uuid        NOT NULL REFERENCES mailqueue.projects (id),
    user_id          uuid        NOT NULL REFERENCES mailqueue.inbox_users (id) ON DELETE CASCADE,
    provider         text        NOT NULL,
    email_address    text        NOT NULL,
    host             text        NOT NULL,
    port             integer     NOT NULL,
    tls              text        NOT NULL,
    username         text        NOT NULL,
    sealed_password  bytea       NOT NULL,
    folders          text[]      NOT NULL,
    webmail_url      text,
    scan_seconds     integer     NOT NULL,
    cursor           jsonb       NOT NULL DEFAULT '{}',
    refusals         smallint    NOT NULL DEFAULT 0,
    last_scanned_at  timestamptz,
    updated_at       timestamptz NOT NULL DEFAULT now(),

    -- Queue contract: these columns stand in every queue table.
    status        text        NOT NULL DEFAULT 'pending',
    priority      smallint    NOT NULL DEFAULT 2,
    run_at        timestamptz NOT NULL DEFAULT now(),
    attempts      smallint    NOT NULL DEFAULT 0,
    max_attempts  smallint    NOT NULL DEFAULT 30000,        -- the handler decides when an inbox is given up
    claim_no      bigint,
    worker_id     integer,
    assigned_at   timestamptz,
    lease_until   timestamptz,
    last_error    text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    crashes       smallint    NOT NULL DEFAULT 0,
    finished_at   timestamptz,

    CONSTRAINT mailboxes_user_id_email_address_key UNIQUE (user_id, email_address),
    CONSTRAINT mailboxes_provider_check CHECK (provider IN ('imap')),
    CONSTRAINT mailboxes_tls_check CHECK (tls IN ('implicit', 'starttls', 'none')),
    CONSTRAINT mailboxes_status_check CHECK (status IN ('pending', 'assigned', 'held', 'failed')),
    CONSTRAINT mailboxes_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL))
) WITH (fillfactor = 50);
CREATE INDEX mailboxes_project_idx ON mailqueue.mailboxes (project_id, id);
CREATE INDEX mailboxes_claim_idx ON mailqueue.mailboxes (user_id, run_at, id) WHERE status = 'pending';
CREATE INDEX mailboxes_lease_idx ON mailqueue.mailboxes (lease_until) WHERE status = 'assigned';
CREATE INDEX mailboxes_suspect_idx ON mailqueue.mailboxes (run_at) WHERE status = 'pending' AND crashes > 0;
CREATE INDEX mailboxes_failed_idx ON mailqueue.mailboxes (finished_at) WHERE status = 'failed';
COMMENT ON TABLE mailqueue.mailboxes IS
    'Watched inboxes, which workers scan for new mail: held while paused, failed until somebody reconnects them.';

CREATE TABLE mailqueue.notification_channels (
    id                uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id        uuid        NOT NULL REFERENCES mailqueue.projects (id),
    user_id           uuid        NOT NULL REFERENCES mailqueue.inbox_users (id) ON DELETE CASCADE,
    channel_type      text        NOT NULL,
    status            text        NOT NULL DEFAULT 'active',
    sealed_token      bytea,
    slack_channel_id  text,
    workspace         text,
    next_at           timestamptz NOT NULL DEFAULT now(),
    revision          integer     NOT NULL DEFAULT 1,
    last_error        text,
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT notification_channels_channel_type_check CHECK (channel_type IN ('slack')),
    CONSTRAINT notification_channels_status_check CHECK (status IN ('active', 'error', 'disconnected')),
    CONSTRAINT notification_channels_slack_check CHECK (channel_type <> 'slack' OR slack_channel_id IS NOT NULL),
    CONSTRAINT notification_channels_token_check CHECK ((status = 'disconnected') = (sealed_token IS NULL))
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX notification_channels_user_key ON mailqueue.notification_channels (user_id, channel_type)
    WHERE status <> 'disconnected';
CREATE INDEX notification_channels_project_idx ON mailqueue.notification_channels (project_id, id);
CREATE INDEX notification_channels_user_idx ON mailqueue.notification_channels (user_id);
CREATE INDEX notification_channels_error_idx ON mailqueue.notification_channels (updated_at) WHERE status = 'error';
COMMENT ON TABLE mailqueue.notification_channels IS
    'Where the notifications of a person go. The row of a disconnected channel stays, without its token.';

CREATE TABLE mailqueue.filter_rules (
    id          uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id  uuid        NOT NULL REFERENCES mailqueue.projects (id),
    user_id     uuid        NOT NULL REFERENCES mailqueue.inbox_users (id) ON DELETE CASCADE,
    rule_type   text        NOT NULL,
    pattern     text        NOT NULL,
    is_active   boolean     NOT NULL DEFAULT true,
    priority    smallint    NOT NULL DEFAULT 0,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT filter_rules_rule_type_check CHECK (rule_type IN ('sender', 'subject'))
);
CREATE INDEX filter_rules_project_idx ON mailqueue.filter_rules (project_id, id);
CREATE INDEX filter_rules_user_idx ON mailqueue.filter_rules (user_id, is_active);
COMMENT ON TABLE mailqueue.filter_rules IS 'Which mail a person is notified of; without an active rule, of all.';

CREATE TABLE mailqueue.notifications (
    id                       uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id               uuid        NOT NULL REFERENCES mailqueue.projects (id),
    user_id                  uuid        NOT NULL REFERENCES mailqueue.inbox_users (id) ON DELETE CASCADE,
    email_account_id         uuid        NOT NULL REFERENCES mailqueue.mailboxes (id) ON DELETE CASCADE,
    notification_channel_id  uuid        NOT NULL
        REFERENCES mailqueue.notification_channels (id) ON DELETE CASCADE,
    kind                     text        NOT NULL DEFAULT 'mail',
    summary_id               uuid        REFERENCES mailqueue.notifications (id) ON DELETE CASCADE,
    rule_id                  uuid,
    message_id               text,
    sender_name              text        NOT NULL DEFAULT '',
    sender_address           text        NOT NULL DEFAULT '',
    subject                  text        NOT NULL DEFAULT '',
    preview                  text        NOT NULL DEFAULT '',
    external_message_id      text,
    email_received_at        timestamptz NOT NULL,
    posting_claim            bigint,
    updated_at               timestamptz NOT NULL DEFAULT now(),

    -- Queue contract: these columns stand in every queue table.
    status        text        NOT NULL DEFAULT 'pending',
    priority      smallint    NOT NULL DEFAULT 2,
    run_at        timestamptz NOT NULL DEFAULT now(),
    attempts      smallint    NOT NULL DEFAULT 0,
    max_attempts  smallint    NOT NULL DEFAULT 4,
    claim_no      bigint,
    worker_id     integer,
    assigned_at   timestamptz,
    lease_until   timestamptz,
    last_error    text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    crashes       smallint    NOT NULL DEFAULT 0,
    finished_at   timestamptz,

    CONSTRAINT notifications_kind_check CHECK (kind IN ('mail', 'summary', 'notice')),
    CONSTRAINT notifications_status_check CHECK (
        status IN ('pending', 'assigned', 'held', 'merged', 'sent', 'delivered', 'failed')),
    CONSTRAINT notifications_merged_check CHECK ((status = 'merged') = (summary_id IS NOT NULL)),
    CONSTRAINT notifications_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL))
) WITH (fillfactor = 70);
CREATE INDEX notifications_project_idx ON mailqueue.notifications (project_id, id);
CREATE INDEX notifications_user_idx ON mailqueue.notifications (user_id, id);
CREATE INDEX notifications_account_idx ON mailqueue.notifications (email_account_id);
CREATE INDEX notifications_channel_idx ON mailqueue.notifications (notification_channel_id, status);
CREATE INDEX notifications_summary_idx ON mailqueue.notifications (summary_id, id) WHERE summary_id IS NOT NULL;
CREATE INDEX notifications_created_at_idx ON mailqueue.notifications (created_at);
CREATE INDEX notifications_claim_idx ON mailqueue.notifications (notification_channel_id, run_at, id)
    WHERE status = 'pending';
CREATE INDEX notifications_lease_idx ON mailqueue.notifications (lease_until) WHERE status = 'assigned';
CREATE INDEX notifications_suspect_idx ON mailqueue.notifications (run_at) WHERE status = 'pending' AND crashes > 0;
CREATE INDEX notifications_failed_idx ON mailqueue.notifications (finished_at) WHERE status = 'failed';
CREATE INDEX notifications_held_idx ON mailqueue.notifications (created_at) WHERE status = 'held';
COMMENT ON TABLE mailqueue.notifications IS
    'Messages about new mail, to be delivered to a channel. Mail that a summary tells of is merged.';

CREATE TABLE mailqueue.notification_windows (
    channel_id  uuid        NOT NULL PRIMARY KEY REFERENCES mailqueue.notification_channels (id) ON DELETE CASCADE,
    project_id  uuid        NOT NULL REFERENCES mailqueue.projects (id),
    started_at  timestamptz NOT NULL,
    mails       integer     NOT NULL,
    summary_id  uuid
) WITH (fillfactor = 50);
CREATE INDEX notification_windows_project_idx ON mailqueue.notification_windows (project_id);
COMMENT ON TABLE mailqueue.notification_windows IS
    'The current minute of each channel: how much mail came, and the summary that tells of it.';

CREATE TABLE mailqueue.seen_messages (
    user_id      uuid        NOT NULL REFERENCES mailqueue.inbox_users (id) ON DELETE CASCADE,
    message_key  uuid        NOT NULL,
    project_id   uuid        NOT NULL REFERENCES mailqueue.projects (id),
    seen_at      timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT seen_messages_pkey PRIMARY KEY (user_id, message_key)
);
CREATE INDEX seen_messages_project_idx ON mailqueue.seen_messages (project_id);
CREATE INDEX seen_messages_seen_at_idx ON mailqueue.seen_messages (seen_at);
COMMENT ON TABLE mailqueue.seen_messages IS 'Messages that a person was notified of, kept so that a copy notifies nobody.';

CREATE TABLE mailqueue.workspace_rates (
    project_id  uuid        NOT NULL REFERENCES mailqueue.projects (id),
    workspace   text        NOT NULL,
    next_at     timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT workspace_rates_pkey PRIMARY KEY (project_id, workspace)
) WITH (fillfactor = 50);
COMMENT ON TABLE mailqueue.workspace_rates IS
    'How fast notifications of a project go to a workspace, shared by all processes.';

CREATE TABLE mailqueue.channel_providers (
    name           text        NOT NULL PRIMARY KEY,
    next_at        timestamptz NOT NULL DEFAULT now(),
    failures       smallint    NOT NULL DEFAULT 0,
    blocked_until  timestamptz,

    CONSTRAINT channel_providers_failures_check CHECK (failures >= 0)
) WITH (fillfactor = 50);
COMMENT ON TABLE mailqueue.channel_providers IS
    'How fast notifications go to a provider, and the circuit that opens when it keeps failing.';
INSERT INTO mailqueue.channel_providers (name) VALUES ('slack');
