-- 0425_notices_by_mail.sql
-- Adds:    notices of domains that refuse more than in the week before; projects.notices_to, to which notices are mailed;
--          notice_causes
-- Running workers: not affected; they tell of nothing
-- Locks:   projects and notices for a moment; index builds on notices

-- squawk-ignore constraint-missing-not-valid
ALTER TABLE mailqueue.projects
    ADD COLUMN notices_to text;                              -- NULL: notices are not mailed

ALTER TABLE mailqueue.notices
    ADD COLUMN due_at     timestamptz,                       -- told after this time; NULL: it was, or it is not told
    ADD COLUMN told_in    uuid,                              -- email that tells of it
    ADD COLUMN told_error text,                              -- why that email could not be queued
    ADD COLUMN domain     text,                              -- of recipients, which the notice is about
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT notices_kind_check,
    ADD CONSTRAINT notices_kind_check CHECK (kind IN (
        'complaint', 'bounce_rate', 'complaint_rate', 'domain_refusals', 'unsubscribed_topic')) NOT VALID;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX notices_domain_idx ON mailqueue.notices (project_id, domain, noticed_at) WHERE domain IS NOT NULL;
-- Those of before are not told.
ALTER TABLE mailqueue.notices ALTER COLUMN due_at SET DEFAULT clock_timestamp();
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX notices_due_idx ON mailqueue.notices (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE mailqueue.notice_causes (
    project_id        uuid        NOT NULL REFERENCES mailqueue.projects (id) ON DELETE CASCADE,
    kind              text        NOT NULL,
    sender_account_id integer     NOT NULL,                  -- 0: none
    told_at           timestamptz NOT NULL,

    CONSTRAINT notice_causes_pkey PRIMARY KEY (project_id, kind, sender_account_id),
    CONSTRAINT notice_causes_told_check CHECK (isfinite(told_at))
);
COMMENT ON TABLE mailqueue.notice_causes IS
    'When notices of one kind about one sender account were last told; the next follow an hour later.';
