-- Bounces reported by a server during sending. They are recorded as events, like later bounces.

CREATE OR REPLACE FUNCTION mailqueue.refused_emails(p_ids uuid[], p_logs text[], p_codes text[], p_enhanced text[],
    p_replies text[], p_hard boolean[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_events mailqueue.email_events[];
BEGIN
    WITH added AS (
        INSERT INTO mailqueue.email_events AS v (project_id, email_id, type, recipient_email, sender_account_id, detail,
                                                 code, suppresses, is_test)
        SELECT m.project_id, i.id, CASE WHEN i.hard THEN 'hard_bounce' ELSE 'soft_bounce' END, m.recipient_email,
               m.assigned_to, left(i.reply, 1000),
               coalesce(i.enhanced, i.code), CASE WHEN i.hard AND NOT m.is_test THEN 'hard_bounce' END, m.is_test
          FROM unnest(p_ids, p_logs, p_codes, p_enhanced, p_replies, p_hard) AS i(id, log, code, enhanced, reply, hard)
         CROSS JOIN LATERAL (SELECT h.project_id, h.recipient_email, h.assigned_to, h.is_test
                               FROM mailqueue.email_history AS h WHERE h.id = i.id
                             UNION ALL SELECT q.project_id, q.recipient_email, q.assigned_to, q.is_test
                                         FROM mailqueue.email_queue AS q WHERE q.id = i.id LIMIT 1) AS m
         WHERE (i.hard OR i.log = 'bounced')
           -- Messages with several recipients have one for each; see below.
           AND (i.hard OR NOT EXISTS (SELECT FROM mailqueue.email_recipients AS r WHERE r.email_id = i.id))
        RETURNING v
    )
    SELECT array_agg(a.v) INTO v_events FROM added AS a;
    IF v_events IS NOT NULL THEN
        PERFORM mailqueue.apply_events(v_events);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.refused_emails(uuid[], text[], text[], text[], text[], boolean[]) IS
    'Record the bounces among settled mails.';

CREATE OR REPLACE FUNCTION mailqueue.refused_recipients(p_ids uuid[], p_claims bigint[], p_addresses text[],
    p_statuses text[], p_reasons text[], p_codes text[], p_hard boolean[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_events mailqueue.email_events[];
BEGIN
    WITH added AS (
        INSERT INTO mailqueue.email_events AS v (project_id, email_id, type, recipient_email, sender_account_id, detail,
                                                 code, suppresses, is_test)
        SELECT q.project_id, i.id, CASE WHEN i.hard THEN 'hard_bounce' ELSE 'soft_bounce' END, i.address, q.assigned_to,
               left(i.reason, 1000),
               i.code, CASE WHEN i.hard AND NOT q.is_test THEN 'hard_bounce' END, q.is_test
          FROM unnest(p_ids, p_claims, p_addresses, p_statuses, p_reasons, p_codes, p_hard)
            AS i(id, claim_no, address, status, reason, code, hard)
          JOIN mailqueue.email_queue AS q ON q.id = i.id AND q.claim_no = i.claim_no
         WHERE i.hard OR (i.status = 'failed' AND i.code ~ '^5\.[12]\.')
        RETURNING v
    )
    SELECT array_agg(a.v) INTO v_events FROM added AS a;
    IF v_events IS NOT NULL THEN
        PERFORM mailqueue.apply_events(v_events);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.refused_recipients(uuid[], bigint[], text[], text[], text[], text[], boolean[]) IS
    'Record the bounces among single recipients of claimed messages.';
