-- What a worker did at an attempt, for the spans of emails that are sampled. Of others, and where no spans are
-- exported, workers call none of this: see mailqueue/mail/send/stages.py.

CREATE OR REPLACE FUNCTION mailqueue.note_send_stages(p_emails uuid[], p_claimed integer[], p_begun integer[],
    p_composed integer[], p_answered integer[]) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    INSERT INTO mailqueue.send_stages (email_id, claimed_ms, begun_ms, composed_ms, answered_ms)
    SELECT i.email_id, i.claimed, i.begun, i.composed, i.answered
      FROM unnest(p_emails, p_claimed, p_begun, p_composed, p_answered)
        AS i(email_id, claimed, begun, composed, answered)
     WHERE mailqueue.are_calls_traced()
$$;
COMMENT ON FUNCTION mailqueue.note_send_stages(uuid[], integer[], integer[], integer[], integer[]) IS
    'Record what a worker did at attempts, in milliseconds before now, if spans are exported. The arrays are of one '
    'length.';

CREATE OR REPLACE FUNCTION mailqueue.read_send_stages(p_emails uuid[])
RETURNS TABLE (email_id uuid, noted_at timestamptz, claimed_ms integer, begun_ms integer, composed_ms integer,
               answered_ms integer)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT s.email_id, s.noted_at, s.claimed_ms, s.begun_ms, s.composed_ms, s.answered_ms
      FROM mailqueue.send_stages AS s WHERE s.email_id = ANY (p_emails) ORDER BY s.email_id, s.noted_at
$$;
COMMENT ON FUNCTION mailqueue.read_send_stages(uuid[]) IS
    'What workers did at attempts of emails, in the order of time.';
