-- Bounds of projects. A project at its bound is refused with SQLSTATE MQ002, naming the bound; the others go on.
--
-- Transactions that are open at the same time do not see each other's mail: together they may exceed a bound by what
-- they write. Mail of the last second may exceed it too, where workers count.

CREATE OR REPLACE FUNCTION mailqueue.refuse_full(p_project text, p_bound text, p_used bigint, p_most bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'project % is full: it has % % and may have %', p_project, p_used,
          CASE p_bound WHEN 'max_queued_emails' THEN 'queued emails' WHEN 'max_stored_bytes' THEN 'stored bytes'
                       WHEN 'max_uploads' THEN 'uploads' WHEN 'max_templates' THEN 'templates'
                       WHEN 'max_events' THEN 'events' WHEN 'max_contacts' THEN 'contacts'
                       ELSE replace(p_bound, '_', ' ') END, p_most
          USING ERRCODE = 'MQ002', COLUMN = p_bound,
              HINT = format('%sAn administrator raises the bound: mailqueue project change %s --%s N',
                            CASE p_bound WHEN 'max_queued_emails' THEN 'Sending its queued emails makes room. '
                                         ELSE '' END,
                            p_project, replace(p_bound, '_', '-'));
END $$;
COMMENT ON FUNCTION mailqueue.refuse_full(text, text, bigint, bigint) IS
    'Refuse what exceeds a bound of a project with SQLSTATE MQ002, naming the bound and how much is used.';

-- What emails a project has, as far as one statement sees. p_own: only signals of this transaction are added, since a
-- worker has gathered the others a moment ago. Else all are read, and where there are many their sum is kept in
-- usage_carries, so that the next to ask reads only what came since.
CREATE OR REPLACE FUNCTION mailqueue.room_used(p_project uuid, p_own xid8, OUT emails bigint, OUT bytes bigint)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    v_lanes integer[] := ARRAY(SELECT l.id FROM mailqueue.lanes AS l WHERE l.project_id = p_project);
    n record;
BEGIN
    IF p_own IS NOT NULL THEN
        SELECT greatest(0, mailqueue.as_count(sum(x.emails))), greatest(0, mailqueue.as_count(sum(x.bytes)))
          INTO room_used.emails, room_used.bytes
          FROM (SELECT g.queued_emails AS emails, g.stored_bytes AS bytes FROM mailqueue.gathered_usage() AS g
                 WHERE g.project_id = p_project
                UNION ALL
                SELECT s.emails, s.bytes FROM mailqueue.lane_signals AS s
                 WHERE s.xid = p_own AND s.lane_id = ANY (v_lanes)) AS x;
        RETURN;
    END IF;
    -- Everything below a snapshot's xmin is over: its sum changes no more until gather_lanes() takes the first of them.
    -- By the index, in which signals of one transaction lie in the order in which that function takes them.
    WITH first AS MATERIALIZED (
        SELECT s.xid, ((s.ctid::text::point)[0] * 65536 + (s.ctid::text::point)[1])::bigint AS place
          FROM mailqueue.lane_signals AS s
         WHERE s.xid >= (SELECT g.signal_floor FROM mailqueue.lane_gather AS g WHERE g.is_only)
         ORDER BY s.xid LIMIT 1
    ), carried AS MATERIALIZED (
        SELECT c.until_xid, c.emails, c.bytes
          FROM first AS f JOIN mailqueue.usage_carries AS c
            ON c.project_id = p_project AND c.first_xid = f.xid AND c.first_place = f.place
         ORDER BY c.until_xid DESC LIMIT 1
    ), later AS MATERIALIZED (
        SELECT count(*) FILTER (WHERE s.xid < o.xmin) AS signals,
               sum(s.emails) FILTER (WHERE s.xid < o.xmin AND s.lane_id = ANY (v_lanes)) AS over_emails,
               sum(s.bytes) FILTER (WHERE s.xid < o.xmin AND s.lane_id = ANY (v_lanes)) AS over_bytes,
               sum(s.emails) FILTER (WHERE s.lane_id = ANY (v_lanes)) AS emails,
               sum(s.bytes) FILTER (WHERE s.lane_id = ANY (v_lanes)) AS bytes
          FROM mailqueue.lane_signals AS s, (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xmin) AS o
         WHERE s.xid >= coalesce((SELECT c.until_xid FROM carried AS c), (SELECT f.xid FROM first AS f))
    )
    SELECT f.xid, f.place, pg_snapshot_xmin(pg_current_snapshot()) AS xmin, l.signals,
           coalesce(l.over_emails, 0) + coalesce(c.emails, 0) AS over_emails,
           coalesce(l.over_bytes, 0) + coalesce(c.bytes, 0) AS over_bytes,
           coalesce(l.emails, 0) + coalesce(c.emails, 0) + coalesce(u.emails, 0) AS emails,
           coalesce(l.bytes, 0) + coalesce(c.bytes, 0) + coalesce(u.bytes, 0) AS bytes
      INTO n
      FROM later AS l LEFT JOIN first AS f ON true LEFT JOIN carried AS c ON true
     CROSS JOIN (SELECT sum(g.queued_emails) AS emails, sum(g.stored_bytes) AS bytes
                   FROM mailqueue.gathered_usage() AS g WHERE g.project_id = p_project) AS u;
    IF n.signals > 500 AND n.xid < n.xmin THEN
        INSERT INTO mailqueue.usage_carries (project_id, first_xid, first_place, until_xid, emails, bytes)
        VALUES (p_project, n.xid, n.place, n.xmin, mailqueue.as_count(n.over_emails), mailqueue.as_count(n.over_bytes));
    END IF;
    emails := greatest(0, mailqueue.as_count(n.emails));
    bytes := greatest(0, mailqueue.as_count(n.bytes));
END $$;
COMMENT ON FUNCTION mailqueue.room_used(uuid, xid8) IS
    'Emails that a project has in the queue and bytes that it stores, with those of this transaction.';

-- For projects that have a bound of queued emails or stored bytes. Called before the rows are written.
--
-- What its own transaction wrote is not gathered, and a COPY may have written millions: the more there are, the rarer
-- they are counted.
CREATE OR REPLACE FUNCTION mailqueue.take_room(p_project uuid, p_emails bigint, p_bytes bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
    v_xid xid8 := pg_current_xact_id_if_assigned();
    v_pages float8;                                          -- of the signals of this transaction
    p record;
    u record;
BEGIN
    IF v_xid IS NOT NULL THEN
        -- Of the pages between its first signal and its last, others may have written some.
        v_pages := (SELECT (s.ctid::text::point)[0] FROM mailqueue.lane_signals AS s WHERE s.xid = v_xid
                     ORDER BY s.xid DESC LIMIT 1)
                   - (SELECT (s.ctid::text::point)[0] FROM mailqueue.lane_signals AS s WHERE s.xid = v_xid
                       ORDER BY s.xid LIMIT 1);
        IF v_pages > 2 AND random() > 0.2 / v_pages
           AND EXISTS (SELECT FROM mailqueue.lane_signals AS s WHERE s.xid = v_xid OFFSET 200) THEN
            RETURN;
        END IF;
    END IF;
    SELECT o.name, o.max_queued_emails, o.max_stored_bytes INTO p FROM mailqueue.projects AS o WHERE o.id = p_project;
    SELECT * INTO u
      FROM mailqueue.room_used(p_project,
                               CASE WHEN EXISTS (SELECT FROM mailqueue.usage_counts AS c
                                                  WHERE c.is_only AND c.counted_at > clock_timestamp() - interval '1 s')
                                         THEN coalesce(v_xid, '0') END);
    IF u.emails + p_emails > p.max_queued_emails THEN
        PERFORM mailqueue.refuse_full(p.name, 'max_queued_emails', u.emails, p.max_queued_emails);
    ELSIF u.bytes + p_bytes > p.max_stored_bytes THEN
        PERFORM mailqueue.refuse_full(p.name, 'max_stored_bytes', u.bytes, p.max_stored_bytes);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.take_room(uuid, bigint, bigint) IS
    'Refuse emails for which a project has no room: more than its bound of queued emails or stored bytes allows.';

-- For calls that hand in many at once: what is refused is the whole call.
CREATE OR REPLACE FUNCTION mailqueue.check_room(p_project uuid, p_emails bigint) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_producer(p_project);
    IF EXISTS (SELECT FROM mailqueue.refusals AS r
                WHERE r.valid_until > now() AND coalesce(r.project_id, p_project) = p_project) THEN
        PERFORM mailqueue.refuse_for_now(p_project);
    END IF;
    IF EXISTS (SELECT FROM mailqueue.projects AS p
                WHERE p.id = p_project AND num_nonnulls(p.max_queued_emails, p.max_stored_bytes) > 0) THEN
        PERFORM mailqueue.take_room(p_project, p_emails, 1);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_room(uuid, bigint) IS
    'Refuse so many emails of a project while no mail is accepted, from a login that is bound to other projects, or '
    'where a bound of the project leaves no room.';

-- The change of its own transaction is a row that it sees.
CREATE OR REPLACE FUNCTION mailqueue.check_upload_room(p_project uuid, p_uploads bigint, p_bytes bigint) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    p record;
    v_uploads bigint; v_bytes bigint;
BEGIN
    SELECT o.name, o.max_uploads, o.max_stored_bytes INTO p FROM mailqueue.projects AS o
     WHERE o.id = p_project AND num_nonnulls(o.max_uploads, o.max_stored_bytes) > 0;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT greatest(0, mailqueue.as_count(sum(g.uploads))), greatest(0, mailqueue.as_count(sum(g.stored_bytes)))
      INTO v_uploads, v_bytes FROM mailqueue.gathered_usage() AS g WHERE g.project_id = p_project;
    IF v_uploads + p_uploads > p.max_uploads THEN
        PERFORM mailqueue.refuse_full(p.name, 'max_uploads', v_uploads, p.max_uploads);
    ELSIF v_bytes + p_bytes > p.max_stored_bytes THEN
        PERFORM mailqueue.refuse_full(p.name, 'max_stored_bytes', v_bytes, p.max_stored_bytes);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_upload_room(uuid, bigint, bigint) IS
    'Refuse files for which a project has no room: more than its bound of uploads or stored bytes allows.';

CREATE OR REPLACE FUNCTION mailqueue.check_template_room(p_project uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_name text;
    v_most bigint;
    v_count bigint;
BEGIN
    SELECT p.name, p.max_templates INTO v_name, v_most FROM mailqueue.projects AS p
     WHERE p.id = p_project AND p.max_templates IS NOT NULL;
    IF FOUND THEN
        SELECT count(*) INTO v_count FROM mailqueue.templates AS t
         WHERE t.project_id = p_project AND t.deleted_at IS NULL;
        IF v_count >= v_most THEN
            PERFORM mailqueue.refuse_full(v_name, 'max_templates', v_count, v_most);
        END IF;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_template_room(uuid) IS
    'Refuse a template where a project has as many as it may have.';

CREATE OR REPLACE FUNCTION mailqueue.check_contact_room(p_project uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_name text;
    v_most bigint;
    v_count bigint;
BEGIN
    SELECT p.name, p.max_contacts INTO v_name, v_most FROM mailqueue.projects AS p
     WHERE p.id = p_project AND p.max_contacts IS NOT NULL;
    IF FOUND THEN
        SELECT greatest(0, mailqueue.as_count(sum(g.contacts))) INTO v_count
          FROM mailqueue.gathered_usage() AS g WHERE g.project_id = p_project;
        IF v_count >= v_most THEN
            PERFORM mailqueue.refuse_full(v_name, 'max_contacts', v_count, v_most);
        END IF;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_contact_room(uuid) IS
    'Refuse a contact where a project has as many as it may have.';

-- Events themselves are never refused: a bounce must suppress its address. Opens and clicks, which anybody with a link
-- can cause, are not stored.
CREATE OR REPLACE FUNCTION mailqueue.projects_full_of_events() RETURNS uuid[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = on SET jit = off
AS $$
    SELECT array_agg(p.id) FROM mailqueue.projects AS p
     WHERE p.max_events IS NOT NULL
       AND p.max_events <= (SELECT sum(g.events) FROM mailqueue.gathered_usage() AS g WHERE g.project_id = p.id)
$$;
COMMENT ON FUNCTION mailqueue.projects_full_of_events() IS
    'Projects that have as many events as they may have; NULL: none.';

-- One row for each bound, whether it is set or not.
CREATE OR REPLACE FUNCTION mailqueue.bounds_of_projects(p_project uuid DEFAULT NULL)
RETURNS TABLE (project_id uuid, project text, bound text, used bigint, most bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT p.id, p.name, b.bound, b.used, b.most
      FROM mailqueue.projects AS p
      LEFT JOIN mailqueue.usage_of_projects(p_project) AS u ON u.project_id = p.id
     CROSS JOIN LATERAL (VALUES
         (1, 'max_queued_emails', coalesce(u.queued_emails, 0), p.max_queued_emails),
         (2, 'max_stored_bytes', coalesce(u.stored_bytes, 0), p.max_stored_bytes),
         (3, 'max_uploads', coalesce(u.uploads, 0), p.max_uploads),
         (4, 'max_templates', (SELECT count(*) FROM mailqueue.templates AS t
                                WHERE t.project_id = p.id AND t.deleted_at IS NULL), p.max_templates),
         (5, 'max_events', coalesce(u.events, 0), p.max_events),
         (6, 'max_contacts', coalesce(u.contacts, 0), p.max_contacts)) AS b(n, bound, used, most)
     WHERE p.id = coalesce(p_project, p.id) AND p.id = coalesce(mailqueue.tenant(), p.id)
       AND (p_project IS NOT NULL OR p.deleted_at IS NULL)
     ORDER BY p.name, b.n
$$;
COMMENT ON FUNCTION mailqueue.bounds_of_projects(uuid) IS
    'What a project, or each, uses of its bounds now; most is NULL where there is no bound.';
