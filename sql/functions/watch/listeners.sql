-- Who listens to which inbox by IMAP IDLE. The row is a lease: an inbox has one connection, and another process takes
-- it over when the lease of a dead one has ended. What is heard only makes the scan due.

CREATE OR REPLACE FUNCTION mailqueue.take_inboxes_to_hear(p_listener uuid, p_room integer, p_of_project integer,
    p_of_server integer, p_lease interval) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    -- One process at a time, so that the bounds hold.
    PERFORM mailqueue.lock_row('inbox_listeners');
    RETURN QUERY
    WITH free AS (
        SELECT m.id, m.project_id, m.updated_at, m.host || ':' || m.port AS server,
               row_number() OVER (PARTITION BY m.project_id ORDER BY m.id)
                   + (SELECT count(*) FROM mailqueue.inbox_listeners AS o
                       WHERE o.project_id = m.project_id AND o.lease_until > v_now) AS of_project,
               row_number() OVER (PARTITION BY m.host, m.port ORDER BY m.id)
                   + (SELECT count(*) FROM mailqueue.inbox_listeners AS o
                       WHERE o.server = m.host || ':' || m.port AND o.lease_until > v_now) AS of_server
          FROM mailqueue.mailboxes AS m
          LEFT JOIN mailqueue.inbox_listeners AS l ON l.mailbox_id = m.id
         WHERE m.provider = 'imap' AND m.status IN ('pending', 'assigned') AND m.last_scanned_at IS NOT NULL
           AND (l.mailbox_id IS NULL OR l.lease_until <= v_now)
           -- An inbox that was changed, as by a reconnection, is tried at once.
           AND (l.mailbox_id IS NULL OR l.next_at <= v_now OR l.known_at < m.updated_at)
    ), taken AS (
        INSERT INTO mailqueue.inbox_listeners AS l (mailbox_id, project_id, server, listener, lease_until, known_at)
        SELECT f.id, f.project_id, f.server, p_listener, v_now + p_lease, f.updated_at
          FROM free AS f WHERE f.of_project <= p_of_project AND f.of_server <= p_of_server
         ORDER BY f.of_project, f.id LIMIT p_room
        ON CONFLICT (mailbox_id) DO UPDATE
           SET server = excluded.server, listener = p_listener, state = 'connecting',
               lease_until = excluded.lease_until,
               failures = CASE WHEN l.known_at < excluded.known_at THEN 0 ELSE l.failures END,
               known_at = excluded.known_at, updated_at = v_now
        RETURNING l.mailbox_id
    )
    SELECT t.mailbox_id FROM taken AS t;
END $$;
COMMENT ON FUNCTION mailqueue.take_inboxes_to_hear(uuid, integer, integer, integer, interval) IS
    'Take leases of inboxes without a connection, within the bounds of process, project and server; returns their '
    'ids.';

-- One statement for all connections of a process. An inbox that was paused, removed, given up or changed is not among
-- what it returns: its connection ends.
CREATE OR REPLACE FUNCTION mailqueue.keep_inboxes_heard(p_listener uuid, p_ids uuid[], p_lease interval)
RETURNS SETOF uuid
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    UPDATE mailqueue.inbox_listeners AS l SET lease_until = clock_timestamp() + p_lease
      FROM mailqueue.mailboxes AS m
     WHERE l.mailbox_id = ANY (p_ids) AND l.listener = p_listener AND m.id = l.mailbox_id
       AND m.status IN ('pending', 'assigned') AND m.updated_at <= l.known_at AND l.lease_until > clock_timestamp()
    RETURNING l.mailbox_id
$$;
COMMENT ON FUNCTION mailqueue.keep_inboxes_heard(uuid, uuid[], interval) IS
    'Extend the leases of inboxes that a process listens to; returns those that it still is to listen to.';

CREATE OR REPLACE FUNCTION mailqueue.note_inbox_heard(p_listener uuid, p_mailbox uuid, p_state text, p_error text,
    p_wait interval) RETURNS integer
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    UPDATE mailqueue.inbox_listeners AS l
       SET state = p_state, last_error = left(p_error, 1000), updated_at = clock_timestamp(),
           failures = CASE WHEN p_state = 'listening' THEN 0 ELSE l.failures + (p_error IS NOT NULL)::integer END,
           lease_until = CASE WHEN p_wait IS NULL THEN l.lease_until ELSE clock_timestamp() END,
           next_at = clock_timestamp() + coalesce(p_wait * 2 ^ least(l.failures, 5), interval '0')
     WHERE l.mailbox_id = p_mailbox AND l.listener = p_listener
    RETURNING l.failures
$$;
COMMENT ON FUNCTION mailqueue.note_inbox_heard(uuid, uuid, text, text, interval) IS
    'Write the state of a connection; with a wait, which doubles with each of the first failures, its lease is given '
    'back.';

CREATE OR REPLACE FUNCTION mailqueue.wake_inbox(p_mailbox uuid, p_listener uuid) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_status text;
BEGIN
    UPDATE mailqueue.mailboxes AS m SET run_at = clock_timestamp()
     WHERE m.id = p_mailbox AND m.status = 'pending' AND m.last_error IS NULL AND m.run_at > clock_timestamp()
       AND EXISTS (SELECT FROM mailqueue.inbox_listeners AS l
                    WHERE l.mailbox_id = p_mailbox AND l.listener = p_listener);
    IF FOUND THEN
        RETURN 'woken';
    END IF;
    SELECT m.status INTO v_status FROM mailqueue.mailboxes AS m WHERE m.id = p_mailbox;
    RETURN CASE WHEN v_status = 'assigned' THEN 'scanning' ELSE 'waits' END;
END $$;
COMMENT ON FUNCTION mailqueue.wake_inbox(uuid, uuid) IS
    'Let an inbox be scanned at once: woken; scanning: it is being scanned; waits: it is due, paused or after an '
    'error.';

CREATE OR REPLACE FUNCTION mailqueue.release_inboxes_heard(p_listener uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    UPDATE mailqueue.inbox_listeners AS l
       SET lease_until = clock_timestamp(), next_at = clock_timestamp(), state = 'waiting'
     WHERE l.listener = p_listener AND l.lease_until > clock_timestamp()
$$;
COMMENT ON FUNCTION mailqueue.release_inboxes_heard(uuid) IS 'Give back all leases of a process that stops.';
