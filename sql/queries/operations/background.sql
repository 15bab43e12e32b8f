-- Operations that workers carry out on all mail of a project that matches a filter.

-- name: begin_bulk_operation :value
-- Begin an operation; its id.
SELECT mailqueue.begin_bulk_operation(%(project_id)s::uuid, %(verb)s::text, %(filter)s::jsonb, %(reason)s::text,
                                      %(by)s::text, %(to)s::text);

-- name: stop_bulk_operation :value
-- Stop an operation; false if it is over, or stops already.
SELECT mailqueue.stop_bulk_operation(p.id, %(id)s::uuid, %(by)s::text)
FROM mailqueue.projects AS p
WHERE p.name = %(project)s::text;

-- name: preview_bulk_operation :one
-- Count the mails that an operation would change, with the ids of some; changes nothing.
SELECT v.emails, v.searched, v.is_complete, v.examples
FROM mailqueue.preview_bulk_operation(%(project_id)s::uuid, %(verb)s::text, %(filter)s::jsonb, %(max_emails)s::integer,
                                      %(max_searched)s::integer, %(examples)s::integer, %(to)s::text) AS v;

-- name: list_operation_examples :many
-- Mails by id, oldest first.
SELECT e.id, e.recipient_email, e.subject, e.status, e.created_at
FROM mailqueue.emails AS e
WHERE e.id = ANY (%(ids)s::uuid[]) AND e.project_id = %(project_id)s::uuid
ORDER BY e.id;

-- name: list_bulk_operations :many
-- Operations of a project or of all, newest first.
SELECT o.id, p.name AS project, o.verb, o.filter, o.to_sender AS to, o.reason,
       CASE WHEN o.status IN ('done', 'stopped', 'failed') THEN o.status
            WHEN o.stop_requested_at IS NOT NULL THEN 'stopping'
            WHEN o.searched > 0 THEN 'running'
            ELSE 'waiting' END AS state,
       o.emails, o.searched, o.pass::integer AS passes, o.requested_by, o.stop_requested_by, o.last_error AS error,
       o.created_at, o.finished_at
FROM mailqueue.bulk_operations AS o
JOIN mailqueue.projects AS p ON p.id = o.project_id
WHERE (%(project_id)s::uuid IS NULL OR o.project_id = %(project_id)s::uuid)
  AND (%(before)s::uuid IS NULL OR o.id < %(before)s::uuid)
  AND (mailqueue.mode() IS NULL OR coalesce(o.is_test, false) = mailqueue.mode())
ORDER BY o.id DESC
LIMIT %(limit)s::integer;

-- name: find_bulk_operation :maybe
-- One operation, of a project if one is given.
SELECT o.id, p.name AS project, o.verb, o.filter, o.to_sender AS to, o.reason,
       CASE WHEN o.status IN ('done', 'stopped', 'failed') THEN o.status
            WHEN o.stop_requested_at IS NOT NULL THEN 'stopping'
            WHEN o.searched > 0 THEN 'running'
            ELSE 'waiting' END AS state,
       o.emails, o.searched, o.pass::integer AS passes, o.requested_by, o.stop_requested_by, o.last_error AS error,
       o.created_at, o.finished_at
FROM mailqueue.bulk_operations AS o
JOIN mailqueue.projects AS p ON p.id = o.project_id
WHERE o.id = %(id)s::uuid AND (%(project_id)s::uuid IS NULL OR o.project_id = %(project_id)s::uuid)
  AND (mailqueue.mode() IS NULL OR coalesce(o.is_test, false) = mailqueue.mode());

-- name: find_campaign_cancellation :maybe
-- The newest operation of a project that cancels all mail of a campaign, among its 10,000 newest operations.
SELECT o.id, p.name AS project, o.verb, o.filter, o.to_sender AS to, o.reason,
       CASE WHEN o.status IN ('done', 'stopped', 'failed') THEN o.status
            WHEN o.stop_requested_at IS NOT NULL THEN 'stopping'
            WHEN o.searched > 0 THEN 'running'
            ELSE 'waiting' END AS state,
       o.emails, o.searched, o.pass::integer AS passes, o.requested_by, o.stop_requested_by, o.last_error AS error,
       o.created_at, o.finished_at
FROM (SELECT n.id, n.project_id, n.verb, n.filter, n.to_sender, n.reason, n.status, n.stop_requested_at, n.searched,
             n.emails, n.pass, n.requested_by, n.stop_requested_by, n.last_error, n.created_at, n.finished_at, n.is_test
      FROM mailqueue.bulk_operations AS n
      WHERE n.project_id = %(project_id)s::uuid
      ORDER BY n.id DESC
      LIMIT 10000) AS o
JOIN mailqueue.projects AS p ON p.id = o.project_id
WHERE o.verb = 'cancel'
  AND o.filter = jsonb_build_object('campaign_id', %(campaign)s::text)
  AND (mailqueue.mode() IS NULL OR coalesce(o.is_test, false) = mailqueue.mode())
ORDER BY o.id DESC
LIMIT 1;

-- name: continue_bulk_operation :value
-- Work on the next batch of an operation; its state afterwards.
SELECT mailqueue.continue_bulk_operation(%(id)s::uuid, %(claim_no)s::bigint, %(searched)s::integer,
                                         %(changed)s::integer);

-- name: end_bulk_operation :run
-- Write the end of an operation to the audit log.
SELECT mailqueue.end_bulk_operation(%(id)s::uuid, %(state)s::text, %(error)s::text);
