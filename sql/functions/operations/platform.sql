-- Pausing the whole installation, and draining workers: what is claimed is finished, and nothing more is claimed.
--
-- A claim asks nothing more than before: that the row of its worker names the server it sends on. A pause and a drain
-- remove that name, and may_send() does not write it again before they end.

CREATE OR REPLACE FUNCTION mailqueue.platform_pause(OUT since timestamptz, OUT actor text, OUT until timestamptz,
    OUT reason text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT s.paused_at, s.paused_by, s.paused_until, s.pause_reason FROM mailqueue.server_identity AS s
     WHERE s.is_only AND s.paused_at IS NOT NULL AND (s.paused_until IS NULL OR s.paused_until > clock_timestamp())
$$;
COMMENT ON FUNCTION mailqueue.platform_pause() IS 'The pause of the whole installation; NULLs if there is none.';

CREATE OR REPLACE FUNCTION mailqueue.platform_pause_words() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT format('all sending is paused since %s by %s until %s%s', mailqueue.shown(z.since), z.actor,
                  mailqueue.shown(coalesce(z.until, 'infinity')), ': ' || z.reason)
      FROM mailqueue.platform_pause() AS z WHERE z.since IS NOT NULL
$$;
COMMENT ON FUNCTION mailqueue.platform_pause_words() IS
    'The pause of the whole installation as text; NULL if there is none.';

-- Workers first, as where one is permitted; then again those that were permitted while this waited for the row of the
-- server.
CREATE OR REPLACE FUNCTION mailqueue.pause_platform(p_until timestamptz, p_reason text, p_by text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_reason text := nullif(btrim(p_reason), '');
BEGIN
    PERFORM mailqueue.check_administers();
    IF v_reason IS NULL THEN
        PERFORM mailqueue.refuse('reason', 'say why all sending is paused');
    END IF;
    PERFORM mailqueue.check_text('reason', v_reason, 500);
    PERFORM mailqueue.check_instant('until', p_until);
    UPDATE mailqueue.workers AS w SET sends_on = NULL WHERE w.sends_on IS NOT NULL;
    UPDATE mailqueue.server_identity AS s
       SET paused_at = clock_timestamp(), paused_until = p_until, pause_reason = v_reason,
           paused_by = session_user || coalesce(' (' || left(p_by, 200) || ')', '')
     WHERE s.is_only;
    UPDATE mailqueue.workers AS w SET sends_on = NULL WHERE w.sends_on IS NOT NULL;
    RETURN mailqueue.record_operation(NULL, 'platform.paused', 'all projects',
        jsonb_strip_nulls(jsonb_build_object('reason', v_reason, 'until', p_until)), p_by);
END $$;
COMMENT ON FUNCTION mailqueue.pause_platform(timestamptz, text, text) IS
    'Pause all sending until a point in time, or until resume_platform(); returns the number of the operation. Mail is '
    'accepted meanwhile, and what is being sent is finished.';

CREATE OR REPLACE FUNCTION mailqueue.resume_platform(p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_was record;
BEGIN
    PERFORM mailqueue.check_administers();
    -- One that is over has ended by itself.
    SELECT z.* INTO v_was FROM mailqueue.server_identity AS s CROSS JOIN mailqueue.platform_pause() AS z
     WHERE s.is_only FOR NO KEY UPDATE OF s;
    UPDATE mailqueue.server_identity AS s
       SET paused_at = NULL, paused_by = NULL, paused_until = NULL, pause_reason = NULL
     WHERE s.is_only AND s.paused_at IS NOT NULL;
    IF v_was.since IS NULL THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.wake_workers();
    PERFORM mailqueue.record_operation(NULL, 'platform.resumed', 'all projects',
        jsonb_strip_nulls(jsonb_build_object('reason', v_was.reason, 'since', v_was.since)), p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.resume_platform(text) IS 'End a pause of all sending; false if there was none.';

-- By id, or all of a host; of those that run.
CREATE OR REPLACE FUNCTION mailqueue.drain_workers(p_worker integer, p_host text, p_is_drained boolean, p_by text)
RETURNS SETOF integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_ids integer[];
BEGIN
    PERFORM mailqueue.check_administers();
    IF num_nonnulls(p_worker, p_host) <> 1 THEN
        PERFORM mailqueue.refuse('worker', 'name either a worker or a host');
    END IF;
    WITH changed AS (
        UPDATE mailqueue.workers AS w
           SET drained_at = CASE WHEN p_is_drained THEN clock_timestamp() END,
               drained_by = CASE WHEN p_is_drained
                                 THEN session_user || coalesce(' (' || left(p_by, 200) || ')', '') END,
               sends_on = CASE WHEN NOT p_is_drained THEN w.sends_on END
         WHERE w.stopped_at IS NULL AND w.lost_at IS NULL AND w.kind <> 'custom-smtp-mail'
           AND (w.id = p_worker OR w.host = p_host) AND (w.drained_at IS NOT NULL) <> p_is_drained
        RETURNING w.id
    )
    SELECT array_agg(c.id ORDER BY c.id) INTO v_ids FROM changed AS c;
    IF v_ids IS NOT NULL THEN
        PERFORM mailqueue.record_operation(NULL, CASE WHEN p_is_drained THEN 'worker.drained' ELSE 'worker.resumed' END,
            coalesce('worker ' || p_worker, 'host ' || p_host), jsonb_build_object('workers', v_ids), p_by);
        IF NOT p_is_drained THEN
            PERFORM mailqueue.wake_workers();
        END IF;
    END IF;
    RETURN QUERY SELECT i FROM unnest(v_ids) AS i;
END $$;
COMMENT ON FUNCTION mailqueue.drain_workers(integer, text, boolean, text) IS
    'Let running workers claim nothing more, or claim again; returns the ids of those that were changed.';
