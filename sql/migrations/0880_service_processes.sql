-- 0880_service_processes.sql
-- Adds:    service_processes: which processes of listeners run, by their heartbeat
-- Running workers: not affected; listeners of an earlier release are not seen until they are restarted
-- Locks:   none on existing tables

CREATE TABLE mailqueue.service_processes (
    launch_id   uuid        NOT NULL,
    service     text        NOT NULL,
    host        text        NOT NULL,
    pid         integer     NOT NULL,
    version     text        NOT NULL,
    is_in_up    boolean     NOT NULL,
    started_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    beat_at     timestamptz NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT service_processes_pkey PRIMARY KEY (launch_id, service)
) WITH (fillfactor = 50);
COMMENT ON TABLE mailqueue.service_processes IS
    'Processes of listeners, such as the API, and their heartbeat; a process that ends deletes its rows.';
