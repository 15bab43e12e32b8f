-- Whether the books balance.

-- accepted must equal finished plus queued plus held, for each project and day; a difference other than 0 is lost mail.
DROP VIEW IF EXISTS mailqueue.books CASCADE;
CREATE VIEW mailqueue.books AS
WITH accepted AS (
    SELECT a.project_id, a.day, sum(a.emails)::bigint AS emails
      FROM (SELECT d.project_id, d.day, least(d.emails, 1000000000000000) AS emails FROM mailqueue.accepted_days AS d
            UNION ALL
            SELECT l.project_id, s.accepted_on, s.emails FROM mailqueue.lane_signals AS s
              JOIN mailqueue.lanes AS l ON l.id = s.lane_id WHERE s.emails > 0) AS a
     GROUP BY a.project_id, a.day
), found AS (
    SELECT f.project_id, f.day,
           sum(f.emails) FILTER (WHERE f.status = 'sent')::bigint AS sent,
    sum(f.emails) FILTER (WHERE f.status = 'failed')::bigint AS failed,
           sum(f.emails) FILTER (WHERE f.status = 'suppressed')::bigint AS suppressed,
    sum(f.emails) FILTER (WHERE f.status = 'expired')::bigint AS expired,
           sum(f.emails) FILTER (WHERE f.status = 'cancelled')::bigint AS cancelled,
           sum(f.emails) FILTER (WHERE f.status IN ('pending', 'assigned'))::bigint AS queued,
    sum(f.emails) FILTER (WHERE f.status = 'held')::bigint AS held,
           sum(f.emails)::bigint AS emails, sum(f.emails) FILTER (WHERE f.is_archived)::bigint AS archived
      FROM (SELECT q.project_id, (q.created_at AT TIME ZONE 'UTC')::date AS day, q.status, count(*) AS emails,
                   false AS is_archived
              FROM mailqueue.email_queue AS q GROUP BY 1, 2, 3
            UNION ALL
            SELECT h.project_id, (h.created_at AT TIME ZONE 'UTC')::date, h.status, count(*), false
              FROM mailqueue.email_history AS h GROUP BY 1, 2, 3
            UNION ALL
            SELECT d.project_id, d.day, d.status, least(d.emails, 1000000000000000), true
              FROM mailqueue.archived_days AS d WHERE d.emails > 0) AS f
     GROUP BY f.project_id, f.day
)
SELECT p.name AS project, coalesce(a.day, f.day) AS day, coalesce(a.emails, 0) AS accepted,
       coalesce(f.sent, 0) AS sent, coalesce(f.failed, 0) AS failed, coalesce(f.suppressed, 0) AS suppressed,
       coalesce(f.expired, 0) AS expired, coalesce(f.cancelled, 0) AS cancelled, coalesce(f.queued, 0) AS queued,
       coalesce(f.held, 0) AS held, coalesce(a.emails, 0) - coalesce(f.emails, 0) AS difference,
       coalesce(f.archived, 0) AS archived
  FROM accepted AS a
  FULL JOIN found AS f ON f.project_id = a.project_id AND f.day = a.day
  JOIN mailqueue.projects AS p ON p.id = coalesce(a.project_id, f.project_id);
COMMENT ON VIEW mailqueue.books IS
    'Accepted mail by project and day of acceptance (UTC), compared with its outcomes; archived is the part that is '
    'no longer in email_history. A difference other than 0 means missing or surplus rows.';
