-- Pausing and resuming, for a time and with a reason: a project, a sender account, a campaign, a recipient domain.
--
-- Pauses of projects and accounts block their lanes. Mail of a paused campaign or domain moves to a lane of its own
-- that is blocked until the pause ends: it costs nothing meanwhile, and returns when gather_lanes() finds the block
-- over.

-- Returns the number of the operation; for campaigns and domains continue_operation() moves mail that is queued
-- already. Other mail, and mail accepted later, moves right before it is sent: see mark_emails().
CREATE OR REPLACE FUNCTION mailqueue.pause_sending(p_kind text, p_project text, p_name text,
    p_until timestamptz DEFAULT NULL, p_reason text DEFAULT NULL, p_by text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project uuid := mailqueue.project_named(p_project);
    v_name text := CASE p_kind WHEN 'domain' THEN mailqueue.wire_domain('name', p_name) ELSE p_name END;
    v_max_pauses constant integer := 1000;  -- of campaigns and domains, in one project
    v_actor text := session_user || coalesce(' (' || left(p_by, 200) || ')', '');
BEGIN
    PERFORM mailqueue.check_text('reason', p_reason, 500);
    PERFORM mailqueue.check_text('name', v_name, 255);
    PERFORM mailqueue.check_instant('until', p_until);
    CASE p_kind
    WHEN 'project' THEN
        UPDATE mailqueue.projects AS p
           SET status = 'paused', status_reason = p_reason, status_until = p_until, paused_by = v_actor,
               paused_at = clock_timestamp(), updated_at = now()
         WHERE p.id = v_project AND p.status <> 'suspended';
        IF NOT FOUND THEN
            PERFORM mailqueue.refuse('name', 'the project is suspended');
        END IF;
    WHEN 'sender' THEN
        UPDATE mailqueue.sender_accounts AS a
           SET status = 'paused', status_reason = p_reason, status_until = p_until, paused_by = v_actor,
               paused_at = clock_timestamp()
         WHERE a.project_id = v_project AND a.name = v_name AND a.status <> 'suspended';
        IF NOT FOUND THEN
            IF EXISTS (SELECT FROM mailqueue.sender_accounts AS a
                        WHERE a.project_id = v_project AND a.name = v_name) THEN
                PERFORM mailqueue.refuse('name', 'the sender account is suspended');
            END IF;
            PERFORM mailqueue.refuse('name',
                                     format('this project has no sender account %s', to_json(left(v_name, 100))));
        END IF;
    WHEN 'campaign', 'domain' THEN
        IF coalesce(v_name, '') = '' THEN
            PERFORM mailqueue.refuse('name', format('the %s to pause is needed', p_kind));
        END IF;
        DELETE FROM mailqueue.pauses AS p WHERE p.until <= clock_timestamp();
        -- Every mail of the project is compared with each of them before it is sent.
        IF (SELECT count(*) FROM mailqueue.pauses AS p
             WHERE p.project_id = v_project AND (p.kind, p.value) <> (p_kind, v_name)) >= v_max_pauses THEN
            PERFORM mailqueue.refuse('name', format('%s campaigns and domains of the project are paused already, '
                                                    'and no more can be: pause the project', v_max_pauses));
        END IF;
        INSERT INTO mailqueue.pauses AS p (project_id, kind, value, reason, until, actor)
        VALUES (v_project, p_kind, v_name, p_reason, coalesce(p_until, 'infinity'), v_actor)
        ON CONFLICT ON CONSTRAINT pauses_pkey DO UPDATE
           SET reason = excluded.reason, until = excluded.until, actor = excluded.actor,
               created_at = excluded.created_at;
        PERFORM mailqueue.lock_lanes(v_project);
        PERFORM mailqueue.make_aside_lanes(v_project);
        UPDATE mailqueue.lanes AS l SET blocked_until = coalesce(p_until, 'infinity'), blocked_reason = 'set_aside'
         WHERE l.project_id = v_project AND l.pause_kind = p_kind AND l.pause_value = v_name;
    ELSE
        PERFORM mailqueue.refuse('kind',
                                 format('project, sender, campaign or domain, got %s', to_json(left(p_kind, 100))));
    END CASE;
    RETURN mailqueue.record_operation(v_project, p_kind || '.paused', p_kind || ' ' || v_name,
        jsonb_strip_nulls(jsonb_build_object(
            'reason', p_reason, 'until', p_until, 'emails', 0, 'kind', p_kind, 'value', v_name,
            'verb', CASE WHEN p_kind IN ('campaign', 'domain') THEN 'set_aside' END,
            'filter', jsonb_build_object('project', p_project,
                                         CASE p_kind WHEN 'campaign' THEN 'campaign_id' ELSE p_kind END, v_name))),
        p_by);
END $$;
COMMENT ON FUNCTION mailqueue.pause_sending(text, text, text, timestamptz, text, text) IS
    'Pause mail of a project, sender account, campaign or recipient domain until a point in time or until '
    'resume_sending().';

CREATE OR REPLACE FUNCTION mailqueue.resume_sending(p_kind text, p_project text, p_name text, p_by text DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project uuid := mailqueue.project_named(p_project);
    v_name text := CASE p_kind WHEN 'domain' THEN mailqueue.wire_domain('name', p_name) ELSE p_name END;
BEGIN
    CASE p_kind
    WHEN 'project' THEN
        UPDATE mailqueue.projects AS p
           SET status = 'active', status_reason = NULL, status_until = NULL, updated_at = now()
         WHERE p.id = v_project AND p.status = 'paused';
    WHEN 'sender' THEN
        UPDATE mailqueue.sender_accounts AS a SET status = 'active', status_reason = NULL, status_until = NULL
         WHERE a.project_id = v_project AND a.name = v_name AND a.status = 'paused';
    WHEN 'campaign', 'domain' THEN
        DELETE FROM mailqueue.pauses AS p WHERE p.project_id = v_project AND p.kind = p_kind AND p.value = v_name;
    ELSE
        PERFORM mailqueue.refuse('kind',
                                 format('project, sender, campaign or domain, got %s', to_json(left(p_kind, 100))));
    END CASE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF p_kind IN ('campaign', 'domain') THEN
        PERFORM mailqueue.lock_lanes(v_project);
        UPDATE mailqueue.lanes AS l SET blocked_until = clock_timestamp(), blocked_reason = 'recheck'
         WHERE l.project_id = v_project AND l.pause_kind = p_kind AND l.pause_value = v_name
           AND l.blocked_reason = 'set_aside';
        PERFORM mailqueue.wake_workers();
    END IF;
    PERFORM mailqueue.record_operation(v_project, p_kind || '.resumed', p_kind || ' ' || v_name, '{}', p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.resume_sending(text, text, text, text) IS 'End a pause; false if there was none.';

-- Idempotent: a lane for each pause in force beside each ordinary lane of the project, with the same accounts.
CREATE OR REPLACE FUNCTION mailqueue.make_aside_lanes_of(p_project uuid, p_homes integer[]) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    -- Read once: a scan for each pause would read the lanes that are being created.
    WITH home AS MATERIALIZED (SELECT h.* FROM mailqueue.lanes AS h WHERE h.id = ANY (p_homes))
    INSERT INTO mailqueue.lanes AS l (project_id, priority, route, weight, project_limit, account_limits, home_route,
                                      pause_kind, pause_value, blocked_until, blocked_reason)
    SELECT h.project_id, h.priority, h.route || '|' || p.kind || ':' || p.value, h.weight, h.project_limit,
           h.account_limits, h.route, p.kind, p.value, p.until, 'set_aside'
      FROM mailqueue.pauses AS p CROSS JOIN home AS h
     WHERE p.project_id = p_project AND p.until > clock_timestamp()
    ON CONFLICT (project_id, priority, route) DO NOTHING;
    UPDATE mailqueue.lanes AS l SET account_limits = b.home_limits
      FROM mailqueue.lanes_beside(p_homes) AS b
     WHERE l.id = b.id AND l.pause_kind <> 'next' AND l.account_limits IS DISTINCT FROM b.home_limits;
$$;
COMMENT ON FUNCTION mailqueue.make_aside_lanes_of(uuid, integer[]) IS
    'Create or update the lanes beside these for mail of a project''s paused campaigns and domains.';

CREATE OR REPLACE FUNCTION mailqueue.make_aside_lanes(p_project uuid) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.make_aside_lanes_of(p_project, ARRAY(
           SELECT h.id FROM mailqueue.lanes AS h WHERE h.project_id = p_project AND h.home_route IS NULL))
$$;
COMMENT ON FUNCTION mailqueue.make_aside_lanes(uuid) IS
    'Create or update the lanes for mail of a project''s paused campaigns and domains.';

CREATE OR REPLACE FUNCTION mailqueue.set_aside_emails(p_project uuid, p_ids uuid[], p_kind text, p_value text)
RETURNS SETOF uuid
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH moved AS (
        UPDATE mailqueue.email_queue AS q SET lane_id = a.id
          FROM mailqueue.lanes AS h, mailqueue.lanes AS a
         WHERE q.id = ANY (p_ids) AND q.project_id = p_project AND q.status = 'pending' AND h.id = q.lane_id
           AND coalesce(h.pause_kind, 'rate') IN ('rate', 'next')
           AND a.project_id = p_project AND a.priority = h.priority AND a.home_route = coalesce(h.home_route, h.route)
           AND a.pause_kind = p_kind AND a.pause_value = p_value
        RETURNING q.id, q.lane_id, q.run_at
    ), signalled AS (
        INSERT INTO mailqueue.lane_signals (lane_id, due_at)
        SELECT m.lane_id, min(m.run_at) FROM moved AS m GROUP BY m.lane_id
    )
    SELECT m.id FROM moved AS m
$$;
COMMENT ON FUNCTION mailqueue.set_aside_emails(uuid, uuid[], text, text) IS
    'Move pending mail to the lane of the pause that applies to it; returns the ids.';

-- The pause that applies to a mail, the longest first; NULLs if there is none.
CREATE OR REPLACE FUNCTION mailqueue.pause_of(p_email uuid, OUT kind text, OUT value text, OUT until timestamptz,
    OUT reason text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT p.kind, p.value, p.until, p.reason FROM mailqueue.email_queue AS q
      JOIN mailqueue.pauses AS p ON p.project_id = q.project_id
     WHERE q.id = p_email AND p.until > clock_timestamp()
       AND CASE p.kind WHEN 'campaign' THEN p.value = q.campaign_id
           ELSE p.value = mailqueue.domain_of(q.recipient_email)
                OR (q.recipients > 1 AND EXISTS (SELECT FROM mailqueue.email_recipients AS r
                     WHERE r.email_id = q.id AND r.status = 'pending' AND mailqueue.domain_of(r.address) = p.value)) END
     ORDER BY p.until DESC, p.kind, p.value LIMIT 1
$$;
COMMENT ON FUNCTION mailqueue.pause_of(uuid) IS 'The pause that applies to a mail.';

-- For mark_emails(): mail that was claimed before its pause, or accepted since, moves to the lane of the pause.
CREATE OR REPLACE FUNCTION mailqueue.set_aside_claimed(p_ids uuid[], p_claims bigint[]) RETURNS uuid[]
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH stopped AS MATERIALIZED (
        SELECT q.id, q.claim_no, q.project_id, q.lane_id, z.kind, z.value
          FROM unnest(p_ids, p_claims) AS i(id, claim_no)
          JOIN mailqueue.email_queue AS q ON q.id = i.id AND q.claim_no = i.claim_no
         CROSS JOIN LATERAL mailqueue.pause_of(q.id) AS z WHERE z.kind IS NOT NULL
    ), moved AS (
        UPDATE mailqueue.email_queue AS q SET lane_id = a.id
          FROM stopped AS s, mailqueue.lanes AS l, mailqueue.lanes AS a
         WHERE q.id = s.id AND q.claim_no = s.claim_no AND l.id = s.lane_id AND a.project_id = s.project_id
           AND a.priority = l.priority
           AND a.home_route = coalesce(l.home_route, l.route) AND a.pause_kind = s.kind AND a.pause_value = s.value
        RETURNING q.id
    )
    SELECT array_agg(m.id) FROM moved AS m
$$;
COMMENT ON FUNCTION mailqueue.set_aside_claimed(uuid[], bigint[]) IS
    'Move claimed mails that a pause applies to into its lane; returns their ids, NULL if there are none.';

CREATE OR REPLACE FUNCTION mailqueue.pause_words(p_kind text, p_value text, p_until timestamptz, p_reason text)
RETURNS text
LANGUAGE sql STABLE
AS $$ SELECT format('%s %s is paused until %s%s', p_kind, p_value, mailqueue.shown(p_until), ': ' || p_reason) $$;
COMMENT ON FUNCTION mailqueue.pause_words(text, text, timestamptz, text) IS 'A pause as text.';

-- For every change of the state: the functions above name the person; a change by SQL is noted with its login.
CREATE OR REPLACE FUNCTION mailqueue.note_pause() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF NEW.status = 'paused' THEN
        NEW.paused_by := coalesce(NEW.paused_by, session_user);
        NEW.paused_at := coalesce(NEW.paused_at, clock_timestamp());
    ELSE
        NEW.paused_by := NULL;
        NEW.paused_at := NULL;
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.note_pause() IS
    'BEFORE UPDATE of the status of a project or sender account: note who paused it, and when.';

CREATE OR REPLACE TRIGGER projects_pause BEFORE UPDATE OF status ON mailqueue.projects
    FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION mailqueue.note_pause();
CREATE OR REPLACE TRIGGER sender_accounts_pause BEFORE UPDATE OF status ON mailqueue.sender_accounts
    FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION mailqueue.note_pause();
