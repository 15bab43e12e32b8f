-- 0136_outbox_events.sql
-- Adds:    outboxes that publish events of mail
-- Running workers: go on
-- Locks:   outbox_state and projects for a moment: no row is read or written

ALTER TABLE mailqueue.outbox_state
    ADD COLUMN events text[],                                -- types of events of mail; empty: all; NULL: none
    ADD CONSTRAINT outbox_state_events_check CHECK (cardinality(events) <= 50) NOT VALID;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX outbox_state_events_idx ON mailqueue.outbox_state (project_id) WHERE events IS NOT NULL;

-- Read with the row of the project, so that accepting mail costs no look-up.
ALTER TABLE mailqueue.projects ADD COLUMN has_event_outboxes boolean NOT NULL DEFAULT false;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX projects_ordering_or_events_idx ON mailqueue.projects (id)
    WHERE ordering IS NOT NULL OR has_event_outboxes;
