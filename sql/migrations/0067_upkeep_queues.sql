-- 0067_upkeep_queues.sql
-- Adds:    columns of the queue contract to erasures; maintenance_tasks
-- Running workers: not affected; processes of the release before finish erasures as they did
-- Locks:   erasures for a moment; it holds few rows

ALTER TABLE mailqueue.erasures
    ADD COLUMN status       text        NOT NULL DEFAULT 'pending',
    ADD COLUMN priority     smallint    NOT NULL DEFAULT 2,
    ADD COLUMN run_at       timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN attempts     smallint    NOT NULL DEFAULT 0,
    ADD COLUMN max_attempts smallint    NOT NULL DEFAULT 30000,    -- a person is erased, however long it takes
    ADD COLUMN claim_no     bigint,
    ADD COLUMN worker_id    integer,
    ADD COLUMN assigned_at  timestamptz,
    ADD COLUMN lease_until  timestamptz,
    ADD COLUMN last_error   text,
    ADD COLUMN created_at   timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN crashes      smallint    NOT NULL DEFAULT 0;
UPDATE mailqueue.erasures SET status = 'done' WHERE stage = 'done';
ALTER TABLE mailqueue.erasures
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT erasures_done_check,
    ADD CONSTRAINT erasures_done_check CHECK ((stage = 'done') = (spellings IS NULL)) NOT VALID,
    ADD CONSTRAINT erasures_status_check CHECK (status IN ('pending', 'assigned', 'done', 'failed')) NOT VALID;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX erasures_claim_idx ON mailqueue.erasures (run_at, id) WHERE status = 'pending';
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX erasures_lease_idx ON mailqueue.erasures (lease_until) WHERE status = 'assigned';
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX erasures_suspect_idx ON mailqueue.erasures (run_at) WHERE status = 'pending' AND crashes > 0;
COMMENT ON COLUMN mailqueue.erasures.status IS
    'State in the queue of erasures; done: the erasure is complete, whoever completed it.';

CREATE TABLE mailqueue.maintenance_tasks (
    id            uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    task          text        NOT NULL,
    every         interval    NOT NULL,                      -- from the end of one run to the next
    last_run_at   timestamptz,                               -- NULL: never
    last_report   text,
    project_id    uuid,                                      -- always NULL: tasks are of the installation

    -- Queue contract: these columns stand in every queue table.
    status        text        NOT NULL DEFAULT 'pending',
    priority      smallint    NOT NULL DEFAULT 2,
    run_at        timestamptz NOT NULL DEFAULT now(),
    attempts      smallint    NOT NULL DEFAULT 0,
    max_attempts  smallint    NOT NULL DEFAULT 30000,        -- a task is never given up
    claim_no      bigint,
    worker_id     integer,
    assigned_at   timestamptz,
    lease_until   timestamptz,
    last_error    text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    crashes       smallint    NOT NULL DEFAULT 0,
    finished_at   timestamptz,

    CONSTRAINT maintenance_tasks_task_key UNIQUE (task),
    CONSTRAINT maintenance_tasks_every_check CHECK (every BETWEEN '1 min' AND '90 days'),
    CONSTRAINT maintenance_tasks_status_check CHECK (status IN ('pending', 'assigned', 'failed'))
);
CREATE INDEX maintenance_tasks_claim_idx ON mailqueue.maintenance_tasks (run_at, id) WHERE status = 'pending';
COMMENT ON TABLE mailqueue.maintenance_tasks IS
    'Tasks of `mailqueue maintain`, which any worker that may act as the schema''s owner runs when they are due.';
COMMENT ON COLUMN mailqueue.maintenance_tasks.every IS
    'Wait from the end of one run to the next; may be changed by UPDATE.';

INSERT INTO mailqueue.maintenance_tasks (task, every, run_at) VALUES
    ('partitions', '6 h', now() + interval '5 min'),
    ('counters', '1 h', now() + interval '5 min'),
    ('warm-up', '6 h', now() + interval '10 min'),
    ('keys', '6 h', now() + interval '10 min'),
    ('retention', '1 day', now() + interval '1 h'),
    ('archive', '1 day', now() + interval '1 h'),
    ('analyze', '6 h', now() + interval '15 min'),
    ('vacuum', '1 day', now() + interval '15 min');
