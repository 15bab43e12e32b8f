-- Settling outcomes of claimed mail, many at a time. Everything an outcome causes is committed together.
--
-- Hash joins are allowed here, unlike in claims: the input is joined with itself several times, and nested loops over
-- 200 rows cost 100 us a mail. Tables are still accessed by index only.

-- Outcomes: sent, failed, suppressed, expired, cancelled leave the queue; defer (no attempt counted) returns after
-- p_waits; retry (counted) returns by its retry schedule, and not before p_waits: logged as bounced, it is a soft
-- bounce; unknown follows the policy of the mail. p_logs is the status for send_logs, NULL if nothing was tried.
-- p_spent is the number of recipients that count against the limits, p_left the number still to be sent to.
-- p_conversations are the records of attempts that were not accepted, as JSON; NULL: there are none. Returns the ids
-- whose claim was lost; nothing was written for those.
CREATE OR REPLACE FUNCTION mailqueue.settle_emails(p_ids uuid[], p_claims bigint[], p_outcomes text[], p_reasons text[],
    p_waits interval[], p_spent integer[], p_left integer[], p_logs text[], p_message_ids text[], p_provider_ids text[],
    p_codes text[], p_enhanced text[], p_replies text[], p_ms integer[], p_hard boolean[],
    p_conversations text[] DEFAULT NULL) RETURNS uuid[]
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_mergejoin = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_outcomes text[]; v_reasons text[]; v_waits interval[];
    v_lost bigint[];                                         -- places of outcomes whose claim was lost
    v_limits integer[]; v_days date[]; v_spent integer[]; v_back integer[]; v_bounces integer[]; v_errors integer[];
BEGIN
    IF p_ids = '{}' THEN
        RETURN '{}';
    ELSIF p_outcomes <@ '{sent}' AND p_logs <@ '{sent}' AND array_position(p_logs, NULL) IS NULL
          AND NOT true = ANY (p_hard) AND coalesce(p_conversations, '{}') = '{}' THEN
        RETURN mailqueue.settle_sent(p_ids, p_claims, p_spent, p_message_ids, p_provider_ids, p_codes, p_enhanced,
                                     p_replies, p_ms);
    END IF;
    -- A retry without attempts, schedule steps or time left fails, or is held as exhausted where its schedule says so;
    -- an unknown outcome is resent once, then held.
    SELECT array_agg(o.outcome ORDER BY i.n), array_agg(w.wait ORDER BY i.n),
           array_agg(CASE WHEN o.outcome = 'expired' AND q.unknowns > 0 AND e.reason NOT LIKE 'outcome_unknown: %'
                          THEN 'outcome_unknown: ' || e.reason ELSE e.reason END ORDER BY i.n)
      INTO v_outcomes, v_waits, v_reasons
      FROM unnest(p_ids, p_claims, p_outcomes, p_reasons, p_waits, p_logs) WITH ORDINALITY
                                                                               AS i(id, claim_no, outcome, reason, wait,
                                                                                    log, n)
      LEFT JOIN mailqueue.email_queue AS q ON q.id = i.id
     CROSS JOIN LATERAL (SELECT CASE WHEN i.outcome = 'retry'
                THEN mailqueue.retry_wait(q.id, q.project_id, q.category, q.attempts,
                                          i.log IS NOT DISTINCT FROM 'bounced', i.wait, q.expires_at)
                ELSE i.wait END AS wait OFFSET 0) AS w
     CROSS JOIN LATERAL (SELECT CASE
               WHEN i.outcome IN ('retry', 'defer') AND q.is_cancelled THEN 'cancelled'
               WHEN i.outcome = 'retry' AND (q.attempts >= q.max_attempts OR w.wait IS NULL)
                    THEN CASE WHEN mailqueue.holds_exhausted(q.project_id, q.category) THEN 'exhausted'
                              ELSE 'failed' END
               WHEN i.outcome IN ('retry', 'defer') AND v_now + coalesce(w.wait, interval '0') >= q.expires_at
                    THEN 'expired'
               WHEN i.outcome = 'unknown' AND q.delivery = 'resend' AND q.unknowns = 0 THEN 'resend'
               WHEN i.outcome = 'unknown' THEN 'held'
               ELSE i.outcome END AS outcome OFFSET 0) AS o
     CROSS JOIN LATERAL (SELECT CASE
               WHEN o.outcome = 'expired' AND i.outcome IN ('retry', 'defer') AND q.expires_at > v_now
                    AND starts_with(i.reason, 'outcome_unknown: ') IS NOT TRUE
                    THEN concat_ws(': ', 'the next attempt would be after it expires', i.reason)
               ELSE i.reason END AS reason OFFSET 0) AS e;

    WITH input AS MATERIALIZED (
        SELECT *
          FROM unnest(p_ids, p_claims, v_outcomes, v_reasons, v_waits, p_spent, p_left, p_logs, p_message_ids,
                      p_provider_ids, p_codes, p_enhanced, p_replies, p_ms, p_conversations) WITH ORDINALITY
            AS t(id, claim_no, outcome, reason, wait, spent, left_over, log, message_id, provider_id, code, enhanced,
                 reply, ms, conversation, n)
    ), finished AS (
        SELECT array_agg(i.id) AS ids, array_agg(i.claim_no) AS claims, array_agg(i.outcome) AS outcomes,
               array_agg(i.reason) AS reasons, array_agg(i.message_id) AS message_ids,
               array_agg(i.provider_id) AS provider_ids, clock_timestamp() AS settled_at  -- before that of any event
          FROM input AS i WHERE i.outcome IN ('sent', 'failed', 'suppressed', 'expired', 'cancelled')
    ), gone AS MATERIALIZED (
        SELECT r.*
          FROM finished AS f,
               mailqueue.retire_emails(f.ids, f.claims, f.outcomes, f.reasons, f.message_ids, f.provider_ids) AS r
    ), back AS (
        UPDATE mailqueue.email_queue AS q
           SET status = CASE WHEN i.outcome IN ('held', 'exhausted') THEN 'held' ELSE 'pending' END,
               claim_no = NULL, worker_id = NULL, assigned_at = NULL, lease_until = NULL,
               attempts = q.attempts - CASE i.outcome WHEN 'defer' THEN 1 ELSE 0 END,
               unknowns = least(q.unknowns, 32766) + CASE WHEN i.outcome IN ('resend', 'held') THEN 1 ELSE 0 END,
               crashes = CASE i.outcome WHEN 'defer' THEN q.crashes ELSE 0 END,
               run_at = CASE WHEN i.wait IS NULL THEN q.run_at ELSE v_now + i.wait END,
               last_error = CASE i.outcome WHEN 'held' THEN 'outcome_unknown: ' || coalesce(i.reason, '')
                                           WHEN 'exhausted' THEN 'attempts used up: ' || coalesce(i.reason, '')
                                           ELSE coalesce(i.reason, q.last_error) END,
               recipients = coalesce(i.left_over, q.recipients),
               -- Only mail that was certainly not accepted uses the next account; see next_lane() and kept_lane().
               lane_id = coalesce(CASE i.outcome WHEN 'retry' THEN mailqueue.next_lane(q.lane_id, q.assigned_to)
                                                 WHEN 'resend' THEN mailqueue.kept_lane(q.lane_id, q.assigned_to)
                                                 WHEN 'held' THEN mailqueue.kept_lane(q.lane_id, q.assigned_to) END,
                                  q.lane_id)
          FROM input AS i, mailqueue.email_queue AS o
         WHERE q.id = i.id AND q.claim_no = i.claim_no AND o.id = q.id
           AND i.outcome IN ('retry', 'defer', 'resend', 'held', 'exhausted')
        RETURNING q.id, q.lane_id, q.run_at, q.status, q.project_id, q.recipient_email, q.last_error, q.is_test,
                  o.assigned_to, o.account_day, o.project_day, o.recipients, o.attempts, o.worker_id, o.campaign_id,
                  o.custom_data, o.claim_no
    ), signalled AS (
        INSERT INTO mailqueue.lane_signals (lane_id, due_at)
        SELECT b.lane_id, min(b.run_at) FROM back AS b WHERE b.status = 'pending' GROUP BY b.lane_id
    ), told AS (
        INSERT INTO mailqueue.email_events (project_id, email_id, type, recipient_email, sender_account_id, detail,
                                            is_test)
        SELECT b.project_id, b.id, 'held', b.recipient_email, b.assigned_to, b.last_error, b.is_test FROM back AS b
         WHERE b.status = 'held'
    ), settled AS MATERIALIZED (                             -- by its claim: another of the same mail may be late
        SELECT g.* FROM gone AS g
        UNION ALL
        SELECT b.id, b.project_id, b.assigned_to, b.account_day, b.project_day, b.recipients, true,
               b.attempts, b.worker_id, b.recipient_email, b.campaign_id, b.custom_data, b.claim_no FROM back AS b
    ), logged AS (
        INSERT INTO mailqueue.send_logs (email_id, project_id, sender_account_id, worker_id, attempt, status,
                                         recipient_email, campaign_id, message_id, error_code, enhanced_code, reply,
                                         response_ms, conversation, custom_data, sent_at)
        SELECT s.id, s.project_id, s.assigned_to, s.worker_id, s.attempts, i.log, s.recipient_email,
               s.campaign_id, i.message_id, i.code, i.enhanced, i.reply, i.ms, i.conversation::jsonb,
               mailqueue.attempt_data(s.custom_data), (SELECT f.settled_at FROM finished AS f)
          FROM settled AS s JOIN input AS i ON i.id = s.id AND i.claim_no = s.claim_no WHERE i.log IS NOT NULL
    ), counted AS (
        SELECT s.project_id, s.assigned_to, s.account_day, s.project_day,
               sum(least(i.spent, s.recipients)) AS spent, sum(s.recipients - least(i.spent, s.recipients)) AS back,
               count(*) FILTER (WHERE i.log = 'bounced') AS bounces,
               count(*) FILTER (WHERE i.log IN ('failed', 'rejected', 'deferred', 'unknown')) AS errors
          FROM settled AS s JOIN input AS i ON i.id = s.id AND i.claim_no = s.claim_no WHERE s.was_assigned
         GROUP BY s.project_id, s.assigned_to, s.account_day, s.project_day
    ), by_limit AS (
        SELECT m.id, c.account_day AS day, c.spent, c.back, c.bounces, c.errors
          FROM counted AS c JOIN mailqueue.limits AS m ON m.sender_account_id = c.assigned_to
        UNION ALL
        SELECT m.id, c.project_day, c.spent, c.back, c.bounces, c.errors
          FROM counted AS c JOIN mailqueue.limits AS m ON m.project_id = c.project_id AND m.sender_account_id IS NULL
    )
    SELECT (SELECT array_agg(i.n) FROM input AS i
             WHERE NOT EXISTS (SELECT FROM settled AS s WHERE s.id = i.id AND s.claim_no = i.claim_no)),
           array_agg(l.id), array_agg(l.day), array_agg(l.spent), array_agg(l.back), array_agg(l.bounces),
           array_agg(l.errors)
      INTO v_lost, v_limits, v_days, v_spent, v_back, v_bounces, v_errors FROM by_limit AS l;

    IF true = ANY (p_hard) OR 'bounced' = ANY (p_logs) THEN
        PERFORM mailqueue.refused_emails(array_agg(i.id), array_agg(i.log), array_agg(i.code), array_agg(i.enhanced),
                                         array_agg(i.reply), array_agg(i.hard))
           FROM unnest(p_ids, p_logs, p_codes, p_enhanced, p_replies, p_hard) WITH ORDINALITY
             AS i(id, log, code, enhanced, reply, hard, n)
          WHERE i.n <> ALL (coalesce(v_lost, '{}'));
    END IF;
    IF v_limits IS NOT NULL THEN
        PERFORM mailqueue.settle_limits(v_limits, v_days, v_spent, v_back, v_bounces, v_errors, p_claims);
    END IF;
    RETURN ARRAY(SELECT p_ids[l.n] FROM unnest(v_lost) AS l(n));
END $$;
COMMENT ON FUNCTION mailqueue.settle_emails(uuid[], bigint[], text[], text[], interval[], integer[], integer[], text[],
    text[], text[], text[], text[], text[], integer[], boolean[], text[]) IS
    'Record outcomes of claimed mails with all consequences; returns the ids whose claim was lost.';

-- Outcomes of single recipients of messages that have several; called in the transaction that settles the message.
CREATE OR REPLACE FUNCTION mailqueue.settle_recipients(p_ids uuid[], p_claims bigint[], p_addresses text[],
    p_statuses text[], p_reasons text[], p_codes text[], p_hard boolean[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
BEGIN
    -- A worker that stalls before it settles the messages must not block these rows and limits.
    PERFORM set_config('idle_in_transaction_session_timeout', '10s', true);
    UPDATE mailqueue.email_recipients AS r
       SET status = i.status, reply_code = i.code, settled_at = clock_timestamp(),
           reason = CASE i.status
                         WHEN 'suppressed'
                              THEN coalesce(i.reason, mailqueue.suppressed(q.project_id, r.address, q.category))
                                  ELSE i.reason END
      FROM unnest(p_ids, p_claims, p_addresses, p_statuses, p_reasons, p_codes)
        AS i(id, claim_no, address, status, reason, code),
           mailqueue.email_queue AS q
     WHERE r.email_id = ANY (p_ids)                          -- otherwise a plan made for an empty table reads all rows
       AND q.id = i.id AND q.claim_no = i.claim_no AND r.email_id = i.id AND r.address = i.address
       AND r.status = 'pending';
    PERFORM mailqueue.refused_recipients(p_ids, p_claims, p_addresses, p_statuses, p_reasons, p_codes, p_hard);
END $$;
COMMENT ON FUNCTION mailqueue.settle_recipients(uuid[], bigint[], text[], text[], text[], text[], boolean[]) IS
    'Record outcomes of single recipients of claimed messages.';

-- Mail is accepted with texts that fit; only the schema's owner can have written longer ones.
CREATE OR REPLACE FUNCTION mailqueue.shorten_email(p_id uuid, p_claim bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    UPDATE mailqueue.email_queue AS q
       SET recipient_email = left(q.recipient_email, 500), campaign_id = left(q.campaign_id, 500),
           category = left(q.category, 500), idempotency_key = left(q.idempotency_key, 500),
           tags = ARRAY(SELECT left(t, 500) FROM unnest(q.tags[1:100]) AS t)
     WHERE q.id = p_id AND q.claim_no = p_claim
$$;
COMMENT ON FUNCTION mailqueue.shorten_email(uuid, bigint) IS
    'Cut the texts of a claimed email to what indexes of history can hold, so that its outcome can be recorded.';

-- The last resort: nothing is written but the row of the queue, and what else the server accepts.
CREATE OR REPLACE FUNCTION mailqueue.hold_unrecorded(p_id uuid, p_claim bigint, p_spent integer, p_reason text)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    o mailqueue.email_queue;
    v_spent integer;
    v_limits integer[];
    v_days date[];
BEGIN
    SELECT q.* INTO o FROM mailqueue.email_queue AS q WHERE q.id = p_id AND q.claim_no = p_claim FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.email_queue AS q
       SET status = 'held', claim_no = NULL, worker_id = NULL, assigned_at = NULL, lease_until = NULL, crashes = 0,
           unknowns = least(q.unknowns, 32766) + 1, last_error = 'outcome_unknown: ' || left(p_reason, 900),
           lane_id = coalesce(mailqueue.kept_lane(q.lane_id, q.assigned_to), q.lane_id)
     WHERE q.id = o.id;
    BEGIN
        INSERT INTO mailqueue.email_events (project_id, email_id, type, recipient_email, sender_account_id, detail,
                                            is_test)
        VALUES (o.project_id, o.id, 'held', o.recipient_email, o.assigned_to,
                'outcome_unknown: ' || left(p_reason, 900), o.is_test);
    EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR raise_exception THEN
        RAISE WARNING 'the event of email % is not written: %', o.id, SQLERRM;
    END;
    v_spent := least(p_spent, o.recipients);
    SELECT array_agg(m.id ORDER BY m.id),
           array_agg(CASE WHEN m.sender_account_id IS NULL THEN o.project_day ELSE o.account_day END ORDER BY m.id)
      INTO v_limits, v_days
      FROM mailqueue.limits AS m
     WHERE m.sender_account_id = o.assigned_to OR m.project_id = o.project_id AND m.sender_account_id IS NULL;
    BEGIN
        PERFORM mailqueue.settle_limits(v_limits, v_days, array_fill(v_spent, ARRAY[cardinality(v_limits)]),
                    array_fill(o.recipients - v_spent, ARRAY[cardinality(v_limits)]),
                    array_fill(0, ARRAY[cardinality(v_limits)]), array_fill(1, ARRAY[cardinality(v_limits)]),
                    ARRAY[p_claim]);
    EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR raise_exception THEN
        RAISE WARNING 'the limits of email % are not settled: %', o.id, SQLERRM;
    END;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.hold_unrecorded(uuid, bigint, integer, text) IS
    'Hold a claimed email whose outcome is refused, until a person decides; returns whether the claim still held.';
