-- The rate of the installation: id 0 in limits, reserved by every claim before any other.

CREATE OR REPLACE FUNCTION mailqueue.set_max_send_rate(p_rate numeric) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_old numeric;
    v_burst integer := greatest(1, ceil(coalesce(p_rate, 1) / 10));
BEGIN
    IF p_rate <= 0 OR p_rate > 1000000 THEN
        PERFORM mailqueue.refuse('rate', format('above 0 and at most 1000000 mails a second, or NULL, got %s', p_rate));
    END IF;
    PERFORM mailqueue.lock_row('send rate');
    SELECT m.rate_per_second INTO v_old FROM mailqueue.limits AS m WHERE m.id = 0;
    IF v_old IS NOT DISTINCT FROM p_rate THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.limits AS m SET rate_per_second = p_rate, burst = v_burst WHERE m.id = 0;
    IF NOT FOUND THEN
        INSERT INTO mailqueue.limits (id, rate_per_second, burst, batch_size, time_zone) OVERRIDING SYSTEM VALUE
        VALUES (0, p_rate, v_burst, 2147483647, 'UTC');
        INSERT INTO mailqueue.limit_counters (limit_id, tokens, day)
        VALUES (0, v_burst, (now() AT TIME ZONE 'UTC')::date);
    END IF;
    INSERT INTO mailqueue.audit_events (action, subject, detail)
    VALUES ('installation.rate_changed', 'installation', jsonb_build_object('from', v_old, 'to', p_rate));
    PERFORM mailqueue.wake_workers();
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.set_max_send_rate(numeric) IS
    'Limit the installation to that many recipients per second; NULL for no limit. False if it had that value.';
