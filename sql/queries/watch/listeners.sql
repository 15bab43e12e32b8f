-- Inboxes that processes listen to by IMAP IDLE.

-- name: take_inboxes_to_hear :many
-- Ids of inboxes whose leases were taken.
SELECT t.id FROM mailqueue.take_inboxes_to_hear(%(listener)s, %(room)s, %(of_project)s, %(of_server)s, %(lease)s)
    AS t (id);

-- name: yield_inboxes_heard :run
-- Give back leases for inboxes of projects with fewer connections.
SELECT mailqueue.yield_inboxes_heard(%(listener)s, %(room)s, %(of_project)s, %(of_server)s);

-- name: keep_inboxes_heard :many
-- Ids of inboxes whose leases were renewed.
SELECT k.id FROM mailqueue.keep_inboxes_heard(%(listener)s, %(ids)s::uuid[], %(lease)s) AS k (id);

-- name: note_inbox_heard :run
-- Write the state of a connection.
SELECT mailqueue.note_inbox_heard(%(listener)s, %(id)s, %(state)s, %(error)s, %(wait)s);

-- name: wake_inbox :value
-- Whether an inbox is scanned at once.
SELECT mailqueue.wake_inbox(%(id)s, %(listener)s);

-- name: release_inboxes_heard :run
-- Give back all leases of a process.
SELECT mailqueue.release_inboxes_heard(%(listener)s);
