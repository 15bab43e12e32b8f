-- Domains of recipients that refuse more mail than in the week before.

-- Of at least min_sent_for_rates emails of a day, a twentieth or more was refused or bounced, and at least three times
-- the share of the seven days before. A domain is named once within rates_window.
CREATE OR REPLACE FUNCTION mailqueue.judge_domains(p_now timestamptz DEFAULT clock_timestamp()) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_count integer;
BEGIN
    WITH today AS MATERIALIZED (
        SELECT q.project_id, q.value AS domain, sum(q.sent + q.failed) AS emails,
               sum(q.soft_bounces + q.hard_bounces + q.failed) AS refused
          FROM mailqueue.stats_quarters AS q
         WHERE q.started_at >= p_now - interval '1 d' AND q.started_at < p_now AND q.dimension = 'domain'
           AND NOT q.is_test AND q.value <> ''
         GROUP BY q.project_id, q.value
        HAVING sum(q.sent + q.failed) >= mailqueue.system_number('min_sent_for_rates')
           AND sum(q.soft_bounces + q.hard_bounces + q.failed) * 20 >= sum(q.sent + q.failed)
    )
    INSERT INTO mailqueue.notices (project_id, kind, domain, told)
    SELECT t.project_id, 'domain_refusals', t.domain,
           format('%s refused or bounced %s of %s emails of the last day (%s %%), after %s %% in the week before',
                  t.domain, t.refused, t.emails, round(100.0 * t.refused / t.emails, 1),
                  round(100.0 * w.refused / greatest(w.emails, 1), 1))
      FROM today AS t
      JOIN mailqueue.projects AS p ON p.id = t.project_id AND p.deleted_at IS NULL
     CROSS JOIN LATERAL (
            SELECT coalesce(sum(q.sent + q.failed), 0) AS emails,
                   coalesce(sum(q.soft_bounces + q.hard_bounces + q.failed), 0) AS refused
              FROM mailqueue.stats_quarters AS q
             WHERE q.project_id = t.project_id AND q.dimension = 'domain' AND q.value = t.domain AND q.value2 = ''
               AND NOT q.is_test AND q.started_at >= p_now - interval '8 d'
               AND q.started_at < p_now - interval '1 d') AS w
     WHERE w.emails >= mailqueue.system_number('min_sent_for_rates')
       AND t.refused * w.emails >= 3 * w.refused * t.emails
       AND NOT EXISTS (SELECT FROM mailqueue.notices AS n
                        WHERE n.project_id = t.project_id AND n.domain = t.domain
                          AND n.noticed_at > p_now - mailqueue.system_interval('rates_window'));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.judge_domains(timestamptz) IS
    'Write a notice for each domain that refuses more mail of a project than in the week before; returns their number. '
    'Workers of queue stats call it each hour.';
