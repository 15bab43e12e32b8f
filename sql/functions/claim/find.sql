-- Other calls of claims: one that finds a claim whose answer did not reach its worker, and one without contents.

CREATE OR REPLACE FUNCTION mailqueue.find_claims(p_worker integer, p_after bigint)
RETURNS TABLE (id uuid, claim_no bigint, assigned_to integer, account_revision integer, project_id uuid,
               attempts smallint, recipients smallint, unknowns smallint, expires_at timestamptz, category text,
               recipient_email text, recipient_name text, custom_data jsonb, content_id bigint, content_on date)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    -- Waits for a claim whose session has not noticed yet that its client is gone; afterwards it can be seen.
    PERFORM FROM mailqueue.workers AS w WHERE w.id = p_worker FOR UPDATE;
    RETURN QUERY
        SELECT q.id, q.claim_no, q.assigned_to, s.revision, q.project_id, q.attempts, q.recipients, q.unknowns,
               q.expires_at, q.category, q.recipient_email, q.recipient_name, q.custom_data, q.content_id, q.content_on
          FROM mailqueue.email_queue AS q JOIN mailqueue.sender_accounts AS s ON s.id = q.assigned_to
         WHERE q.status = 'assigned' AND q.worker_id = p_worker AND q.claim_no > p_after;
END $$;
COMMENT ON FUNCTION mailqueue.find_claims(integer, bigint) IS
    'Mail a worker holds by claims after a number: what was claimed for it when the answer to a claim was lost.';

-- The call of those that read contents one by one.
CREATE OR REPLACE FUNCTION mailqueue.claim_emails(p_worker integer, p_limit integer, p_lease interval,
    p_avoid integer[] DEFAULT '{}')
RETURNS TABLE (id uuid, claim_no bigint, assigned_to integer, account_revision integer, project_id uuid,
               attempts smallint, recipients smallint, unknowns smallint, expires_at timestamptz, category text,
               recipient_email text, recipient_name text, custom_data jsonb, content_id bigint, content_on date)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT e.id, e.claim_no, e.assigned_to, e.account_revision, e.project_id, e.attempts, e.recipients, e.unknowns,
           e.expires_at, e.category, e.recipient_email, e.recipient_name, e.custom_data, e.content_id, e.content_on
      FROM mailqueue.claim_and_read(p_worker, p_limit, p_lease, p_avoid, false, false) AS e WHERE e.kind = 'claim';
END $$;
COMMENT ON FUNCTION mailqueue.claim_emails(integer, integer, interval, integer[]) IS
    'Claim due mail of about so many recipients for one worker, without its contents.';
