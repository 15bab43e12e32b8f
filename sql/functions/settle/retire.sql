-- Moving mail from the queue to history, in one statement.

-- p_claims NULL: only rows that no worker holds. Otherwise the fence: the claim that holds the row, or, for mail that
-- turned out to be sent, the lost claim.
CREATE OR REPLACE FUNCTION mailqueue.retire_emails(p_ids uuid[], p_claims bigint[], p_statuses text[], p_reasons text[],
    p_message_ids text[], p_provider_ids text[])
RETURNS TABLE (id uuid, project_id uuid, assigned_to integer, account_day date, project_day date, recipients smallint,
               was_assigned boolean, attempts smallint, worker_id integer, recipient_email text, campaign_id text,
               custom_data jsonb, claim_no bigint)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH input AS MATERIALIZED (
        SELECT * FROM unnest(p_ids, p_claims, p_statuses, p_reasons, p_message_ids, p_provider_ids)
            AS t(id, claim_no, status, reason, message_id, provider_id)
    ), gone AS (
        DELETE FROM mailqueue.email_queue AS q USING input AS i
         WHERE q.id = i.id
           AND (q.claim_no = i.claim_no
                OR (p_claims IS NULL AND q.status <> 'assigned')
                OR (q.lost_claim_no = i.claim_no AND q.status <> 'assigned' AND i.status = 'sent'))
        RETURNING q.*, i.status AS outcome, i.reason AS why, i.message_id, i.provider_id
    ), kept AS (
        INSERT INTO mailqueue.email_history (id, finished_at, project_id, lane_id, status, reason, attempts, worker_id,
            claim_no, last_error, created_at, assigned_to, recipients, unknowns, recipient_email, recipient_name,
            content_id, content_on, message_id, provider_message_id, is_test, [[KEPT_COLUMNS]])
        SELECT g.id, CASE WHEN g.created_at = now() THEN now() ELSE clock_timestamp() END, g.project_id, g.lane_id,
               g.outcome, g.why, g.attempts, g.worker_id, coalesce(g.claim_no, g.lost_claim_no), g.last_error,
               g.created_at, g.assigned_to, greatest(1, g.recipients), g.unknowns, g.recipient_email,
               g.recipient_name, g.content_id, g.content_on, g.message_id, g.provider_id, g.is_test,
               [[g.KEPT_COLUMNS]]
          FROM gone AS g
    ), told AS (
        INSERT INTO mailqueue.email_events (project_id, email_id, type, recipient_email, sender_account_id, detail,
                                            is_test)
        SELECT g.project_id, g.id, g.outcome, g.recipient_email, g.assigned_to, g.why, g.is_test FROM gone AS g
         WHERE g.outcome <> 'sent'
    ), addressed AS (
        UPDATE mailqueue.email_recipients AS r
           SET status = g.outcome, reason = coalesce(r.reason, g.why), settled_at = clock_timestamp()
          FROM gone AS g
         WHERE r.email_id = ANY (p_ids)                      -- otherwise a plan made for an empty table reads all rows
           AND r.email_id = g.id AND r.status = 'pending'
    )
    SELECT g.id, g.project_id, g.assigned_to, g.account_day, g.project_day, g.recipients, g.status = 'assigned',
           g.attempts, g.worker_id, g.recipient_email, g.campaign_id, g.custom_data,
           coalesce(g.claim_no, g.lost_claim_no) FROM gone AS g;
END $$;
COMMENT ON FUNCTION mailqueue.retire_emails(uuid[], bigint[], text[], text[], text[], text[]) IS
    'Finish mails: delete from the queue, write history and events. Returns the rows that were finished, each with the '
    'claim that finished it.';
