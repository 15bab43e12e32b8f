-- 0063_project_bounds.sql
-- Adds:    bounds of projects and what they use of them; reasons to refuse the mail of one project
-- Running workers: not affected
-- Locks:   projects, refusals and lane_signals for a moment

ALTER TABLE mailqueue.projects
    ADD COLUMN max_queued_emails bigint,                     -- emails that wait or are being sent; NULL: no bound
    ADD COLUMN max_stored_bytes  bigint,                     -- subjects, bodies and files; NULL: no bound
    ADD COLUMN max_uploads       bigint,                     -- files; NULL: no bound
    ADD COLUMN max_templates     bigint,                     -- NULL: no bound
    ADD COLUMN max_events        bigint,                     -- events of emails; NULL: no bound
    -- squawk-ignore constraint-missing-not-valid
    ADD CONSTRAINT projects_bounds_check CHECK (
        max_queued_emails >= 0 AND max_stored_bytes >= 0 AND max_uploads >= 0 AND max_templates >= 0
        AND max_events >= 0);

ALTER TABLE mailqueue.lane_signals ADD COLUMN bytes bigint NOT NULL DEFAULT 0;  -- of subjects and bodies, as accepted
COMMENT ON TABLE mailqueue.lane_signals IS
    'Written in the transaction that makes mail pending, consumed by gather_lanes(): wakes the lane and carries the counts of accepted mail to accepted_days and project_usage.';

CREATE TABLE mailqueue.project_usage (
    project_id     uuid   PRIMARY KEY,
    queued_emails  bigint NOT NULL DEFAULT 0,
    stored_bytes   bigint NOT NULL DEFAULT 0,
    uploads        bigint NOT NULL DEFAULT 0,
    events         bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON TABLE mailqueue.project_usage IS
    'What each project uses of its bounds, up to the last count_usage(): project_usage_changes and lane_signals are to be added. Only that function writes here.';

CREATE TABLE mailqueue.project_usage_changes (
    project_id     uuid   NOT NULL,
    queued_emails  bigint NOT NULL DEFAULT 0,
    stored_bytes   bigint NOT NULL DEFAULT 0,
    uploads        bigint NOT NULL DEFAULT 0,
    events         bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE mailqueue.project_usage_changes IS
    'What came and went since the last count_usage(), appended by the transactions that did it: no row here is ever updated, so nobody waits.';

CREATE TABLE mailqueue.usage_counts (
    is_only       boolean     NOT NULL DEFAULT true PRIMARY KEY,
    counted_at    timestamptz NOT NULL DEFAULT '-infinity',  -- when every signal was gathered and every change added
    recounted_at  timestamptz,                               -- when usage was last compared with the tables; NULL: never

    CONSTRAINT usage_counts_only_check CHECK (is_only)
) WITH (fillfactor = 20);
INSERT INTO mailqueue.usage_counts DEFAULT VALUES;
COMMENT ON TABLE mailqueue.usage_counts IS 'How recent project_usage is. One row.';

CREATE TABLE mailqueue.usage_carries (
    project_id  uuid   NOT NULL,
    first_xid   xid8   NOT NULL,                             -- the first signal there was; holds while that is there
    first_id    bigint NOT NULL,
    until_xid   xid8   NOT NULL,                             -- signals below it are in the sums
    emails      bigint NOT NULL,
    bytes       bigint NOT NULL
);
CREATE INDEX usage_carries_first_idx ON mailqueue.usage_carries (project_id, first_xid, first_id, until_xid);
COMMENT ON TABLE mailqueue.usage_carries IS
    'Sums of signals of a project with bounds, while no worker gathers: producers append them, so that not every one reads all signals.';

-- Reasons that concern one project only.
ALTER TABLE mailqueue.refusals ADD COLUMN project_id uuid;   -- NULL: no mail of any project is accepted
