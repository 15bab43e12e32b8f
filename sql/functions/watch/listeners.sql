-- Who listens to which inbox by IMAP IDLE. The row is a lease: an inbox has one connection, and another process takes
-- it over when the lease of a dead one has ended. What is heard only makes the scan due.

-- Inboxes by IMAP that no process listens to and that may be tried now. An inbox that was changed, as by a
-- reconnection, is tried at once. Those of projects that have all the connections they may have are left out, so that
-- they take no place at a server.
CREATE OR REPLACE FUNCTION mailqueue.inboxes_without_listener(p_now timestamptz, p_of_project integer)
RETURNS TABLE (id uuid, project_id uuid, server text, known_at timestamptz, has_failed boolean)
LANGUAGE sql STABLE
AS $$
    SELECT m.id, m.project_id, m.host || ':' || m.port, m.updated_at,
           coalesce(l.failures > 0 AND l.known_at >= m.updated_at, false)
      FROM mailqueue.mailboxes AS m
      LEFT JOIN mailqueue.inbox_listeners AS l ON l.mailbox_id = m.id
     WHERE m.provider = 'imap' AND m.status IN ('pending', 'assigned') AND m.paused_by IS NULL
       AND m.last_scanned_at IS NOT NULL
       AND (l.mailbox_id IS NULL
            OR l.lease_until <= p_now AND (l.next_at <= p_now OR l.known_at < m.updated_at))
       AND m.project_id NOT IN (
           SELECT o.project_id FROM mailqueue.inbox_listeners AS o WHERE o.lease_until > p_now
            GROUP BY o.project_id HAVING count(*) >= p_of_project)
$$;

-- The connections of a project and at a server are counted once for all inboxes. At a server and in all, projects take
-- turns: the first inbox of each, then the second of each. Of a project those come last whose last connection failed.
CREATE OR REPLACE FUNCTION mailqueue.inboxes_in_turn(p_now timestamptz, p_of_project integer, p_of_server integer)
RETURNS TABLE (id uuid, project_id uuid, server text, known_at timestamptz, has_failed boolean, turn bigint)
LANGUAGE sql STABLE
AS $$
    WITH held AS MATERIALIZED (
        SELECT o.project_id, o.server, count(*) AS connections FROM mailqueue.inbox_listeners AS o
         WHERE o.lease_until > p_now GROUP BY o.project_id, o.server
    ), at_server AS (
        SELECT f.*, row_number() OVER (PARTITION BY f.server, f.project_id ORDER BY f.has_failed, f.id)
               + coalesce(h.connections, 0) AS turn_at_server
          FROM mailqueue.inboxes_without_listener(p_now, p_of_project) AS f
          LEFT JOIN held AS h USING (server, project_id)
    ), within_server AS (
        SELECT a.*, row_number() OVER (PARTITION BY a.server ORDER BY a.turn_at_server, a.has_failed, a.id)
               + coalesce(h.connections, 0) AS of_server
          FROM at_server AS a
          LEFT JOIN (SELECT h.server, sum(h.connections) AS connections FROM held AS h GROUP BY h.server) AS h
              USING (server)
    ), within_project AS (
        SELECT w.*, row_number() OVER (PARTITION BY w.project_id ORDER BY w.has_failed, w.id)
               + coalesce(h.connections, 0) AS of_project
          FROM within_server AS w
          LEFT JOIN (SELECT h.project_id, sum(h.connections) AS connections FROM held AS h
                      GROUP BY h.project_id) AS h USING (project_id)
         WHERE w.of_server <= p_of_server
    )
    SELECT p.id, p.project_id, p.server, p.known_at, p.has_failed, p.of_project::bigint FROM within_project AS p
     WHERE p.of_project <= p_of_project
$$;
COMMENT ON FUNCTION mailqueue.inboxes_in_turn(timestamptz, integer, integer) IS
    'Inboxes without a connection that fit within the bounds of project and server, and which connection of its '
    'project each would be.';

CREATE OR REPLACE FUNCTION mailqueue.take_inboxes_to_hear(p_listener uuid, p_room integer, p_of_project integer,
    p_of_server integer, p_lease interval) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
DECLARE
    v_now timestamptz;
BEGIN
    -- One process at a time, so that the bounds hold.
    PERFORM mailqueue.lock_row('inbox_listeners');
    v_now := clock_timestamp();
    RETURN QUERY
    WITH taken AS (
        INSERT INTO mailqueue.inbox_listeners AS l (mailbox_id, project_id, server, listener, lease_until, known_at)
        SELECT f.id, f.project_id, f.server, p_listener, v_now + p_lease, f.known_at
          FROM mailqueue.inboxes_in_turn(v_now, p_of_project, p_of_server) AS f
         ORDER BY f.turn, f.has_failed, f.id LIMIT p_room
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

-- Where a process or a server has no room left, a project with more connections gives one up for each inbox of a
-- project with fewer, until they have as many: at the server, or in all processes, as inboxes are taken in this order.
-- An inbox whose last connection failed takes no place of another's.
CREATE OR REPLACE FUNCTION mailqueue.yield_inboxes_heard(p_listener uuid, p_room integer, p_of_project integer,
    p_of_server integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
SET enable_nestloop = off SET enable_mergejoin = off     -- a row joins one other by its place and its turn
AS $$
DECLARE
    v_now     timestamptz;
    v_yielded integer;
BEGIN
    PERFORM mailqueue.lock_row('inbox_listeners');
    v_now := clock_timestamp();
    WITH leased AS MATERIALIZED (
        SELECT l.mailbox_id, l.listener, l.project_id, l.server, row_number() OVER (PARTITION BY l.project_id
               ORDER BY l.listener = p_listener, l.mailbox_id) AS turn
          FROM mailqueue.inbox_listeners AS l
         WHERE l.lease_until > v_now
    ), held AS (  -- in each server, and in this process, which is the place without a name
        SELECT l.mailbox_id, l.listener, l.project_id, l.server AS place, row_number() OVER (PARTITION BY l.server,
               l.project_id ORDER BY l.mailbox_id) AS turn
          FROM leased AS l
        UNION ALL
        SELECT l.mailbox_id, l.listener, l.project_id, '', l.turn FROM leased AS l WHERE l.listener = p_listener
    ), full_places AS MATERIALIZED (
        SELECT h.place FROM held AS h
         GROUP BY h.place HAVING count(*) >= CASE h.place WHEN '' THEN p_room ELSE p_of_server END
    ), waiting AS (
        SELECT f.id, f.server AS place, row_number() OVER (PARTITION BY f.server, f.project_id ORDER BY f.id)
               + coalesce(c.connections, 0) AS turn
          FROM mailqueue.inboxes_without_listener(v_now, p_of_project) AS f
          JOIN full_places AS p ON p.place = f.server
          LEFT JOIN (SELECT h.place, h.project_id, count(*) AS connections FROM held AS h GROUP BY 1, 2) AS c
              ON c.place = f.server AND c.project_id = f.project_id
         WHERE NOT f.has_failed AND EXISTS (SELECT FROM full_places AS o WHERE o.place <> '')
        UNION ALL
        SELECT f.id, '', f.turn FROM mailqueue.inboxes_in_turn(v_now, p_of_project, p_of_server) AS f
         WHERE NOT f.has_failed AND EXISTS (SELECT FROM full_places AS o WHERE o.place = '')
    ), yielded AS (
        SELECT h.mailbox_id
          FROM (SELECT o.*, row_number() OVER (PARTITION BY o.place ORDER BY o.turn DESC, o.mailbox_id) AS n
                  FROM held AS o) AS h
          JOIN (SELECT o.*, row_number() OVER (PARTITION BY o.place ORDER BY o.turn, o.id) AS n
                  FROM waiting AS o) AS w USING (place, n)
         WHERE h.listener = p_listener AND h.turn > w.turn
    )
    UPDATE mailqueue.inbox_listeners AS l
       SET lease_until = v_now, next_at = v_now, state = 'waiting', updated_at = v_now
     WHERE l.mailbox_id IN (SELECT y.mailbox_id FROM yielded AS y);
    GET DIAGNOSTICS v_yielded = ROW_COUNT;
    RETURN v_yielded;
END $$;
COMMENT ON FUNCTION mailqueue.yield_inboxes_heard(uuid, integer, integer, integer) IS
    'Give back leases of a process where inboxes of projects with fewer connections have none; returns how many.';

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
       AND m.status IN ('pending', 'assigned') AND m.paused_by IS NULL AND m.updated_at <= l.known_at
       AND l.lease_until > clock_timestamp()
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
     WHERE m.id = p_mailbox AND m.status = 'pending' AND m.paused_by IS NULL AND m.last_error IS NULL
       AND m.run_at > clock_timestamp()
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
