-- Opens and clicks, after they were recorded.

CREATE OR REPLACE FUNCTION mailqueue.look_at_clicks(p_ids uuid[], p_within interval)
RETURNS TABLE (email_id uuid, sent_at timestamptz, links text[])
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off
AS $$
    SELECT e.id, (SELECT max(h.finished_at) FROM mailqueue.email_history AS h WHERE h.id = e.id),
           ARRAY(SELECT DISTINCT v.data ->> 'link' FROM mailqueue.email_events AS v
                  WHERE v.email_id = e.id AND v.type = 'clicked' AND v.occurred_at > clock_timestamp() - p_within AND v.data ? 'link'
                    AND (mailqueue.tenant() IS NULL OR v.project_id = mailqueue.tenant()))
      FROM unnest(p_ids) AS e (id)
$$;
COMMENT ON FUNCTION mailqueue.look_at_clicks(uuid[], interval) IS
    'When mails were handed over (NULL: they are on their way), and which of their links were followed a moment ago.';

CREATE OR REPLACE FUNCTION mailqueue.judge_clicks(p_ids uuid[], p_within interval, p_machine text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH judged AS (
        UPDATE mailqueue.email_events AS v SET data = v.data || jsonb_build_object('is_machine', true, 'machine', p_machine)
         WHERE v.email_id = ANY (p_ids) AND v.type = 'clicked' AND v.source = 'tracking' AND v.occurred_at > clock_timestamp() - p_within
           AND NOT v.data ? 'is_machine' AND (mailqueue.tenant() IS NULL OR v.project_id = mailqueue.tenant())
        RETURNING v.email_id
    )
    SELECT count(*) FROM judged
$$;
COMMENT ON FUNCTION mailqueue.judge_clicks(uuid[], interval, text) IS
    'Say of clicks of a moment ago that a program made them, which is seen only when there are several. Gives how many.';
