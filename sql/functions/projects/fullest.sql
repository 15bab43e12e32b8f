-- Limits of all projects together: the fullest projects are refused first, and never all.

INSERT INTO mailqueue.system_settings (name, value, kind, meaning) VALUES
    ('queued_emails_limit', '0', 'count',
     'when so many emails are queued, the projects with the most of them are refused, never all; 0: no limit')
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, meaning = excluded.meaning
   WHERE (system_settings.kind, system_settings.meaning) <> (excluded.kind, excluded.meaning);

-- The level at which the limit would be reached if no project had more: who has less is not refused. The project with
-- the fewest never is, unless it is the only one.
CREATE OR REPLACE FUNCTION mailqueue.refuse_fullest() RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = on SET jit = off
AS $$
DECLARE
    v_limit bigint := mailqueue.system_number('queued_emails_limit');
    v_fullest uuid[] := '{}';
    v_total numeric;
BEGIN
    IF v_limit > 0 THEN
        WITH used AS (
            SELECT u.project_id, u.queued_emails, count(*) OVER () AS projects, row_number() OVER least_first AS n,
                   sum(u.queued_emails) OVER () AS total,
                   sum(u.queued_emails) OVER (least_first ROWS UNBOUNDED PRECEDING) - u.queued_emails AS before
              FROM mailqueue.project_usage AS u WHERE u.queued_emails > 0
            WINDOW least_first AS (ORDER BY u.queued_emails, u.project_id)
        ), level AS (
            SELECT (v_limit - u.before) / (u.projects - u.n + 1) AS emails FROM used AS u
             WHERE u.before + (u.projects - u.n + 1) * u.queued_emails >= v_limit ORDER BY u.n LIMIT 1
        )
        SELECT coalesce(array_agg(u.project_id), '{}'), max(u.total) INTO v_fullest, v_total
          FROM used AS u, level AS l
         WHERE u.total >= v_limit AND u.queued_emails >= l.emails AND (u.n > 1 OR u.projects = 1);
    END IF;
    DELETE FROM mailqueue.refusals AS r
     WHERE r.reason LIKE 'queued_emails_limit %' AND r.project_id <> ALL (v_fullest);
    INSERT INTO mailqueue.refusals AS r (reason, message, valid_until, project_id)
    SELECT 'queued_emails_limit ' || p.name,
           format('%s emails are queued, queued_emails_limit is %s, and this project has %s of them', v_total, v_limit,
                  u.queued_emails), clock_timestamp() + interval '30 s', p.id
      FROM mailqueue.projects AS p JOIN mailqueue.project_usage AS u ON u.project_id = p.id
     WHERE p.id = ANY (v_fullest)
    ON CONFLICT (reason) DO UPDATE
       SET message = excluded.message, valid_until = excluded.valid_until,
           since = CASE WHEN r.valid_until > clock_timestamp() THEN r.since ELSE excluded.since END
     WHERE r.valid_until < clock_timestamp() + interval '20 s';
END $$;
COMMENT ON FUNCTION mailqueue.refuse_fullest() IS
    'Refuse mail of the projects that have the most emails queued while all together have more than '
    'queued_emails_limit; accept it again afterwards.';

-- Before no mail at all is accepted for want of disk space, the project that stores the most is refused.
CREATE OR REPLACE FUNCTION mailqueue.refuse_largest(p_is_short boolean, p_message text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_largest uuid;
BEGIN
    IF p_is_short AND (SELECT count(*) FROM mailqueue.project_usage AS u WHERE u.stored_bytes > 0) > 1 THEN
        SELECT u.project_id INTO v_largest FROM mailqueue.project_usage AS u
         ORDER BY u.stored_bytes DESC, u.project_id LIMIT 1;
    END IF;
    DELETE FROM mailqueue.refusals AS r WHERE r.reason LIKE 'space %' AND r.project_id IS DISTINCT FROM v_largest;
    INSERT INTO mailqueue.refusals AS r (reason, message, valid_until, project_id)
    SELECT 'space ' || p.name,
           format('%s, and this project stores the most, %s', p_message, pg_size_pretty(u.stored_bytes)),
           clock_timestamp() + interval '2 min', p.id
      FROM mailqueue.projects AS p JOIN mailqueue.project_usage AS u ON u.project_id = p.id WHERE p.id = v_largest
    ON CONFLICT (reason) DO UPDATE
       SET message = excluded.message, valid_until = excluded.valid_until,
           since = CASE WHEN r.valid_until > clock_timestamp() THEN r.since ELSE excluded.since END;
END $$;
COMMENT ON FUNCTION mailqueue.refuse_largest(boolean, text) IS
    'Refuse mail of the project that stores the most while space is short; accept it again afterwards.';
