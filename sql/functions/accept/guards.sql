-- Guards of the queue, for statements outside of functions that would lose mail or its reservation of a limit.
--
-- DELETE from the queue is allowed with a warning; mailqueue verify finds the rows missing. TRUNCATE is refused. The
-- same statements inside functions are the product's own. SET mailqueue.by_hand = on allows everything.

CREATE OR REPLACE FUNCTION mailqueue.is_by_hand(p_context text) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT position(E'\n' IN p_context) = 0
           AND coalesce(current_setting('mailqueue.by_hand', true), '') NOT IN ('on', 'true', '1')
$$;
COMMENT ON FUNCTION mailqueue.is_by_hand(text) IS
    'Whether a trigger with this context was fired by a statement outside of functions while mailqueue.by_hand is '
    'off.';

CREATE OR REPLACE FUNCTION mailqueue.email_queue_by_hand() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_context text;
BEGIN
    GET DIAGNOSTICS v_context = PG_CONTEXT;
    IF mailqueue.is_by_hand(v_context) THEN
        RAISE WARNING '% on email_queue loses mail, or the part of a limit that is reserved for it', TG_OP USING
              HINT = 'Cancel, hold, release, requeue or pause it: mailqueue email --help, or the functions *_matching. '
                     'To do it anyway: SET mailqueue.by_hand = on.';
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.email_queue_by_hand() IS
    'Statement trigger BEFORE DELETE, and BEFORE UPDATE of columns that claims own: warns about statements outside of'
    ' functions.';

CREATE OR REPLACE TRIGGER email_queue_deleted_by_hand BEFORE DELETE ON mailqueue.email_queue
    FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.email_queue_by_hand();
CREATE OR REPLACE TRIGGER email_queue_updated_by_hand
    BEFORE UPDATE OF id, project_id, lane_id, claim_no, worker_id, assigned_to, recipients, content_id, content_on
    ON mailqueue.email_queue FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.email_queue_by_hand();

CREATE OR REPLACE FUNCTION mailqueue.truncated_by_hand() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_context text;
BEGIN
    GET DIAGNOSTICS v_context = PG_CONTEXT;
    IF mailqueue.is_by_hand(v_context) THEN
        RAISE EXCEPTION 'TRUNCATE of % would lose accepted mail, counters or consent', TG_TABLE_NAME
            USING ERRCODE = '55000',
              HINT = 'Old mail leaves by months, with mailqueue maintain. To do it anyway: SET mailqueue.by_hand = '
                     'on.';
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.truncated_by_hand() IS
    'BEFORE TRUNCATE of tables that cannot be restored from others: raises an error outside of functions.';

/*% set guarded = [
    "projects", "sender_accounts", "data_keys", "limits", "limit_counters", "lanes", "lane_signals", "accepted_days",
    "email_queue", "email_contents", "email_recipients", "email_history", "send_logs", "email_events", "suppressions",
    "bounce_list", "unsubscribe_list", "workers", "send_intents", "idempotency_keys", "audit_events", "audit_seals",
    "audit_keys", "pauses",
] %*/
--% for table in guarded
CREATE OR REPLACE TRIGGER [[table]]_truncated BEFORE TRUNCATE ON mailqueue.[[table]]
    FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.truncated_by_hand();
--% endfor
