-- Opens and clicks, after they were recorded.

CREATE OR REPLACE FUNCTION mailqueue.look_at_clicks(p_ids uuid[], p_within interval)
RETURNS TABLE (email_id uuid, sent_at timestamptz, links text[])
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT e.id, coalesce((SELECT max(h.finished_at) FROM mailqueue.email_history AS h WHERE h.id = e.id),
                          (SELECT clock_timestamp() FROM mailqueue.email_queue AS q
                            WHERE q.id = e.id AND q.status = 'assigned' AND q.attempts <= 1)),
           ARRAY(SELECT DISTINCT v.data ->> 'link' FROM mailqueue.email_events AS v
                  WHERE v.email_id = e.id AND v.type = 'clicked' AND v.occurred_at > clock_timestamp() - p_within
                    AND v.data ? 'link'
                    AND (mailqueue.tenant() IS NULL OR v.project_id = mailqueue.tenant()))
      FROM unnest(p_ids) AS e (id)
$$;
COMMENT ON FUNCTION mailqueue.look_at_clicks(uuid[], interval) IS
    'When mails were sent (now for one whose first attempt is under way; NULL: unknown, or not finished), and which of '
    'their links were clicked within an interval.';

CREATE OR REPLACE FUNCTION mailqueue.judge_clicks(p_ids uuid[], p_within interval, p_machine text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH judged AS (
        UPDATE mailqueue.email_events AS v
           SET data = v.data || jsonb_build_object('is_machine', true, 'machine', p_machine)
         WHERE v.email_id = ANY (p_ids) AND v.type = 'clicked' AND v.source = 'tracking'
           AND v.occurred_at > clock_timestamp() - p_within
           AND NOT v.data ? 'is_machine' AND (mailqueue.tenant() IS NULL OR v.project_id = mailqueue.tenant())
        RETURNING v.id, v.email_id, v.project_id
    ), recounted AS (
        INSERT INTO mailqueue.stats_corrections (project_id, email_id, kind, event_ids)
        SELECT j.project_id, j.email_id, 'judged', array_agg(j.id) FROM judged AS j GROUP BY j.project_id, j.email_id
    )
    SELECT count(*) FROM judged
$$;
COMMENT ON FUNCTION mailqueue.judge_clicks(uuid[], interval, text) IS
    'Mark clicks within an interval as made by a program, which shows only when there are several. Returns their '
    'number.';

CREATE OR REPLACE FUNCTION mailqueue.note_tracking_gaps(p_projects uuid[], p_gaps text[], p_emails bigint[])
RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    INSERT INTO mailqueue.tracking_gaps AS d (project_id, gap, emails)
    SELECT g.project_id, g.gap, g.emails FROM unnest(p_projects, p_gaps, p_emails) AS g(project_id, gap, emails)
     WHERE mailqueue.tenant() IS NULL OR g.project_id = mailqueue.tenant()
     ORDER BY g.project_id, g.gap
    ON CONFLICT (project_id, gap, day) DO UPDATE SET emails = d.emails + excluded.emails, seen_at = excluded.seen_at
$$;
COMMENT ON FUNCTION mailqueue.note_tracking_gaps(uuid[], text[], bigint[]) IS
    'Count mail that was sent without something it should contain.';

CREATE OR REPLACE FUNCTION mailqueue.health_of_tracking() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH kinds (gap, name, fine, told, fix) AS (VALUES
        ('no_unsubscribe', 'unsubscribe', 'all marketing had an unsubscribe link',
         'marketing without an unsubscribe link: ',
         'set MAILQUEUE_PUBLIC_URL where workers run; do not send marketing with unsubscribe false, or to several '
         'recipients in one message'),
        ('no_public_url', 'tracking', 'all mail with tracking was tracked', 'mail with tracking was sent untracked: ',
         'set MAILQUEUE_PUBLIC_URL where workers run, or mailqueue project change PROJECT --track-opens off '
         '--track-clicks off'),
        ('no_postal_address', 'postal address', 'all marketing had a postal address',
         'marketing without a postal address: ',
         'mailqueue project change PROJECT --postal-address ''1 High Street, Oxford''')
    ), seen AS (
        SELECT d.gap, array_agg(format('%s of %s', d.emails, p.name) ORDER BY d.emails DESC, p.name) AS words
          FROM (SELECT g.gap, g.project_id, sum(g.emails) AS emails FROM mailqueue.tracking_gaps AS g
                 WHERE g.seen_at > clock_timestamp() - interval '1 day' GROUP BY g.gap, g.project_id) AS d
          JOIN mailqueue.projects AS p ON p.id = d.project_id AND p.deleted_at IS NULL
         GROUP BY d.gap
    )
    SELECT k.name, CASE WHEN s.gap IS NULL THEN 'ok' ELSE 'warning' END,
           coalesce(k.told || mailqueue.some_words(s.words), k.fine),
           CASE WHEN s.gap IS NOT NULL THEN k.fix END
      FROM kinds AS k LEFT JOIN seen AS s ON s.gap = k.gap
$$;
COMMENT ON FUNCTION mailqueue.health_of_tracking() IS
    'Rows of view health: mail of the last day that lacked something it should contain.';

CREATE OR REPLACE FUNCTION mailqueue.note_tracking_domain(p_project uuid, p_domain text, p_leads_here boolean)
RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_at timestamptz;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    UPDATE mailqueue.projects AS p SET tracking_checked_at = CASE WHEN p_leads_here THEN clock_timestamp() END
     WHERE p.id = p_project AND p.tracking_domain = p_domain RETURNING p.tracking_checked_at INTO v_at;
    RETURN v_at;
END $$;
COMMENT ON FUNCTION mailqueue.note_tracking_domain(uuid, text, boolean) IS
    'Store whether a project''s tracking domain leads to this installation, so that links of its mail use it. Returns'
    ' since when it is confirmed.';

CREATE OR REPLACE FUNCTION mailqueue.confirmed_tracking_domains() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT p.tracking_domain FROM mailqueue.projects AS p
     WHERE p.tracking_domain IS NOT NULL AND p.tracking_checked_at IS NOT NULL AND p.deleted_at IS NULL
$$;
COMMENT ON FUNCTION mailqueue.confirmed_tracking_domains() IS
    'Tracking domains of all projects whose DNS leads to this installation.';

-- Links of old mail may still be followed: they are kept far longer than the mail itself.
CREATE OR REPLACE FUNCTION mailqueue.sweep_tracked_links() RETURNS bigint
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH gaps AS (
        DELETE FROM mailqueue.tracking_gaps AS d WHERE d.day < (now() AT TIME ZONE 'UTC')::date - 30
    ), links AS (
        DELETE FROM mailqueue.tracked_links AS t
         WHERE (t.project_id, t.link) IN (SELECT o.project_id, o.link FROM mailqueue.tracked_links AS o
                                           WHERE o.used_on < (now() AT TIME ZONE 'UTC')::date - 730 LIMIT 10000)
        RETURNING t.link
    )
    SELECT count(*) FROM links
$$;
COMMENT ON FUNCTION mailqueue.sweep_tracked_links() IS
    'Delete link targets that no mail has used for two years; returns their number.';
