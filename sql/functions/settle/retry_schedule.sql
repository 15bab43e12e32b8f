-- When mail that was refused temporarily is tried again.

-- p_least: the wait that the server asked for. Jitter changes a wait by a fifth at most, so that mails refused together
-- do not return together. No wait passes p_expires, unless the server asks for a longer one or less than the first step
-- of the schedule is left: the mail has then no further attempt. Soft bounces share what is left of the mail's time.
CREATE OR REPLACE FUNCTION mailqueue.retry_wait(p_email uuid, p_project uuid, p_category text, p_attempts integer,
    p_is_soft boolean, p_least interval, p_expires timestamptz)
RETURNS interval
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_steps interval[] := '{1 min,5 min,15 min,1 h}';
    v_soft_wait interval := '24 h';
    v_soft_retries integer := 3;
    v_bounces integer;
    v_wait interval;
    v_share interval;                                        -- of what is left of the mail's time; NULL: no end
    v_left interval := CASE WHEN isfinite(p_expires) THEN p_expires - clock_timestamp() END;
    l record;
BEGIN
    SELECT * INTO l FROM mailqueue.retry_ladders AS r WHERE r.project_id = p_project AND r.category IN (p_category, '')
     ORDER BY r.category DESC LIMIT 1;  -- that of the category before that of all categories
    IF FOUND THEN
        IF p_attempts >= l.max_attempts THEN
            RETURN NULL;
        END IF;
        v_steps := l.steps;
        v_soft_wait := l.soft_wait;
        v_soft_retries := l.soft_retries;
    END IF;
    IF p_is_soft AND v_soft_wait IS NOT NULL THEN
        v_bounces := (SELECT count(*) FROM mailqueue.send_logs AS s
                       WHERE s.email_id = p_email AND s.status = 'bounced');
        IF v_bounces >= v_soft_retries THEN
            RETURN NULL;
        END IF;
        v_wait := v_soft_wait;
        v_share := v_left / (v_soft_retries - v_bounces);
    ELSE
        v_wait := v_steps[least(greatest(p_attempts, 1), cardinality(v_steps))];
        v_share := v_left;
    END IF;
    v_wait := v_wait * (0.8 + 0.4 * random());
    IF v_wait >= v_share AND v_steps[1] < v_left THEN
        v_wait := greatest(v_share * (0.8 + 0.15 * random()), v_steps[1]);
    END IF;
    RETURN greatest(v_wait, p_least);
END $$;
COMMENT ON FUNCTION mailqueue.retry_wait(uuid, uuid, text, integer, boolean, interval, timestamptz) IS
    'Wait after an attempt that failed temporarily, from the retry schedule of the project and category and the time '
    'that the mail has left; NULL: no further attempt.';

CREATE OR REPLACE FUNCTION mailqueue.holds_exhausted(p_project uuid, p_category text) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT coalesce((SELECT r.on_exhausted = 'hold' FROM mailqueue.retry_ladders AS r
                      WHERE r.project_id = p_project AND r.category IN (p_category, '')
                      ORDER BY r.category DESC LIMIT 1), false)
$$;
COMMENT ON FUNCTION mailqueue.holds_exhausted(uuid, text) IS
    'Whether mail of a project and category whose attempts are used up is held until a person decides; otherwise it '
    'fails.';

CREATE OR REPLACE FUNCTION mailqueue.retry_ladders_audit() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    r mailqueue.retry_ladders := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    INSERT INTO mailqueue.audit_events (project_id, action, subject, detail)
    VALUES (r.project_id, 'ladder.changed', 'retries of ' || coalesce(nullif(r.category, ''), 'every category'),
            CASE TG_OP WHEN 'DELETE' THEN '{}' ELSE to_jsonb(r) - 'project_id' - 'category' END);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.retry_ladders_audit() IS 'AFTER change of a retry schedule: writes an audit row.';

CREATE OR REPLACE TRIGGER retry_ladders_audit AFTER INSERT OR UPDATE OR DELETE ON mailqueue.retry_ladders
    FOR EACH ROW EXECUTE FUNCTION mailqueue.retry_ladders_audit();
