-- 0040_subscriptions.sql
-- Adds:    subscription_categories, subscription_preferences, suppression_history, erasures, projects.brand_color; what caused a
--          suppression, the reason paused, suppressions that know an address by its hash only
-- Running workers: not affected
-- Locks:   suppressions, bounce_list, unsubscribe_list and projects for a moment: no row is read or written again

CREATE TABLE mailqueue.subscription_categories (
    id            uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id    uuid        NOT NULL REFERENCES mailqueue.projects (id) ON DELETE CASCADE,
    slug          text        NOT NULL,                     -- category of mail
    name          text        NOT NULL,
    description   text,
    translations  jsonb       NOT NULL DEFAULT '{}',        -- {"de": {"name": …, "description": …}}
    is_required   boolean     NOT NULL DEFAULT false,       -- nobody can unsubscribe from it
    place         integer     NOT NULL DEFAULT 100,         -- lower is shown first
    created_by    text        NOT NULL DEFAULT session_user,
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    removed_at    timestamptz,                              -- shown no more; who unsubscribed from everything stays unsubscribed from it

    CONSTRAINT subscription_categories_project_id_slug_key UNIQUE (project_id, slug),
    CONSTRAINT subscription_categories_slug_check CHECK (slug ~ '^[a-z][a-z0-9_-]{0,62}$'),
    CONSTRAINT subscription_categories_translations_check CHECK (jsonb_typeof(translations) = 'object'),
    CONSTRAINT subscription_categories_place_check CHECK (place BETWEEN 0 AND 10000)
);
COMMENT ON TABLE mailqueue.subscription_categories IS
    'Kinds of mail that people find in the preference centre of a project, and may unsubscribe from unless they are required.';

CREATE TABLE mailqueue.subscription_preferences (
    project_id     uuid        NOT NULL REFERENCES mailqueue.projects (id) ON DELETE CASCADE,
    address_hash   bytea       NOT NULL,                    -- by the key of the project
    category       text        NOT NULL,                    -- *: all that one can unsubscribe from
    address        text,                                    -- lower case; NULL once erased
    is_subscribed  boolean     NOT NULL,
    paused_until   timestamptz,                             -- NULL: not paused
    source         text        NOT NULL,
    email_id       uuid,                                    -- mail whose link was followed
    user_agent     text,
    changed_at     timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT subscription_preferences_pkey PRIMARY KEY (project_id, address_hash, category),
    CONSTRAINT subscription_preferences_address_check CHECK (address = lower(address)),
    CONSTRAINT subscription_preferences_source_check
        CHECK (source IN ('one-click', 'page', 'preference centre', 'operator')),
    CONSTRAINT subscription_preferences_pause_check CHECK (paused_until IS NULL OR is_subscribed)
);
COMMENT ON TABLE mailqueue.subscription_preferences IS
    'What people chose last, when, and by which way. What follows from it stands in suppressions.';

CREATE TABLE mailqueue.suppression_history (
    id            bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id    uuid        NOT NULL,
    address_hash  bytea,
    address       text,                                     -- NULL once erased
    category      text        NOT NULL,
    reason        text        NOT NULL,
    detail        text,
    email_id      uuid,
    source        text,
    created_at    timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    ended_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_by      text        NOT NULL,
    ended_why     text                                      -- NULL: nobody said; replaced: another reason came
);
CREATE INDEX suppression_history_address_hash_idx ON mailqueue.suppression_history (project_id, address_hash);
COMMENT ON TABLE mailqueue.suppression_history IS 'Suppressions that were taken off or replaced, and who did it why.';

CREATE TABLE mailqueue.erasures (
    id            uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id    uuid        NOT NULL,
    address_hash  bytea,                                    -- by the key of the project
    spellings     text[],                                   -- the address; NULL once everything of it is gone
    stage         text        NOT NULL DEFAULT 'mail',
    place         jsonb       NOT NULL DEFAULT '{}',        -- how far its stage is
    found         jsonb       NOT NULL DEFAULT '{}',        -- rows that were changed or deleted, by table
    requested_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    requested_by  text        NOT NULL,
    finished_at   timestamptz,

    CONSTRAINT erasures_stage_check CHECK (stage IN ('mail', 'tables', 'files', 'done')),
    CONSTRAINT erasures_done_check CHECK ((stage = 'done') = (finished_at IS NOT NULL) AND (stage = 'done') = (spellings IS NULL))
);
CREATE INDEX erasures_project_idx ON mailqueue.erasures (project_id, id);
COMMENT ON TABLE mailqueue.erasures IS
    'Persons whose data is being erased, and has been: the address stands here until the last trace of it is gone, then its hash only.';

ALTER TABLE mailqueue.suppressions
    ADD COLUMN email_id uuid,                               -- mail that caused it
    ADD COLUMN source   text,                               -- who put it here
    -- squawk-ignore ban-drop-not-null
    ALTER COLUMN address DROP NOT NULL,                     -- NULL: erased, known by its hash only
    ADD CONSTRAINT suppressions_known_check CHECK (address IS NOT NULL OR address_hash IS NOT NULL) NOT VALID,
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT suppressions_reason_check,
    ADD CONSTRAINT suppressions_reason_check CHECK (
        reason IN ('hard_bounce', 'soft_bounce_threshold', 'complaint', 'unsubscribed', 'paused', 'manual')) NOT VALID;

ALTER TABLE mailqueue.bounce_list ADD COLUMN email_id uuid; -- mail that bounced last
ALTER TABLE mailqueue.unsubscribe_list
    ADD COLUMN email_id uuid,                               -- mail whose link was followed
    ADD COLUMN source   text NOT NULL DEFAULT 'operator',
    ADD CONSTRAINT unsubscribe_list_source_check
        CHECK (source IN ('one-click', 'page', 'preference centre', 'operator')) NOT VALID;

ALTER TABLE mailqueue.projects
    ADD COLUMN brand_color text,                            -- of its pages; NULL: ours
    ADD CONSTRAINT projects_brand_color_check CHECK (brand_color ~ '^#[0-9a-f]{6}$') NOT VALID;
