-- Sequences and enrollments.

-- name: advance_enrollments :many
-- What becomes of claimed enrollments; their steps are done.
SELECT a.id, a.outcome, a.run_at, a.reason FROM mailqueue.advance_enrollments(%(ids)s::uuid[]) AS a;

-- name: take_enrollment_signals :value
-- How many enrollments were made due because something happened to them.
SELECT mailqueue.take_enrollment_signals(%(limit)s::integer);

-- name: release_enrollments :value
-- How many enrollments of sequences that are no longer paused were released.
SELECT mailqueue.release_enrollments(%(limit)s::integer);

-- name: renew_enrollment_zones :value
-- How many enrollments were computed anew by the present zone rules.
SELECT mailqueue.renew_enrollment_zones(%(limit)s::integer);

-- name: list_sequences :many
-- The sequences of a project by name, or the one of a name.
SELECT s.name, s.description, s.category, s.reenroll, s.paused_at IS NOT NULL AS is_paused, s.published_version,
       (SELECT v.version FROM mailqueue.sequence_versions AS v
         WHERE v.sequence_id = s.id AND v.published_at IS NULL) AS draft_version, s.created_at, s.updated_at
FROM mailqueue.sequences AS s
WHERE s.project_id = %(project_id)s AND s.removed_at IS NULL AND (%(name)s::text IS NULL OR s.name = %(name)s)
ORDER BY s.name;

-- name: list_sequence_versions :many
-- Versions of a sequence, newest first, or one.
SELECT v.version, v.steps, v.goal, v.created_by, v.created_at, v.published_at
FROM mailqueue.sequences AS s
JOIN mailqueue.sequence_versions AS v ON v.sequence_id = s.id
WHERE s.project_id = %(project_id)s AND s.removed_at IS NULL AND s.name = %(name)s
  AND (%(version)s::integer IS NULL OR v.version = %(version)s)
ORDER BY v.version DESC;

-- name: put_sequence :maybe
-- Id of a sequence that was added or changed; NULL where it must be new and exists, or must exist and does not.
SELECT mailqueue.put_sequence(%(project_id)s, %(name)s, %(given)s, %(must_be_new)s, %(by)s);

-- name: publish_sequence :maybe
-- The version that is published; NULL without such a sequence.
SELECT mailqueue.publish_sequence(%(project_id)s, %(name)s, %(by)s);

-- name: pause_sequence :value
-- Whether there is such a sequence; it is paused or resumed.
SELECT mailqueue.pause_sequence(%(project_id)s, %(name)s, %(is_paused)s, %(by)s);

-- name: remove_sequence :value
-- Whether there was such a sequence.
SELECT mailqueue.remove_sequence(%(project_id)s, %(name)s, %(by)s);

-- name: move_enrollments :one
-- How many enrollments were moved to the published version; NULL without such a sequence.
SELECT m.moved, m.remaining
FROM mailqueue.move_enrollments(%(project_id)s, %(name)s, %(from_version)s::integer, %(limit)s::integer, %(by)s) AS m;

-- name: count_sequence_steps :many
-- Counts for each step of a version.
SELECT c.step, c.entered, c.sent, c.skipped, c.waiting, c.departures
FROM mailqueue.sequences AS s
CROSS JOIN LATERAL mailqueue.sequence_counts(s.project_id, s.id, %(version)s::integer, %(is_test)s::boolean) AS c
WHERE s.project_id = %(project_id)s AND s.name = %(name)s AND s.removed_at IS NULL;

-- name: enroll_address :one
-- The enrollment of the contact of an address, and whether it is a new one.
SELECT n.enrollment_id, n.outcome
FROM mailqueue.enroll_address(%(project_id)s, %(sequence)s, %(email)s, %(variables)s::jsonb, %(is_test)s,
                              %(source)s) AS n;

-- name: end_enrollments :value
-- Ids of the enrollments that were ended.
SELECT mailqueue.end_enrollments(%(ids)s::uuid[], %(reason)s, %(by)s);

-- name: list_enrollments :many
-- Enrollments of a project, newest first.
SELECT o.id, o.sequence, o.version, o.contact_id, o.email, o.state, o.reason, o.step,
       CASE WHEN o.state IN ('active', 'paused') THEN o.due_at END AS due_at, o.time_zone, o.steps_done, o.is_test,
       o.enrolled_at, o.finished_at, o.last_error AS error
FROM mailqueue.enrollments AS o
WHERE o.project_id = %(project_id)s
  AND (%(sequence)s::text IS NULL OR o.sequence = %(sequence)s)
  AND (%(email)s::text IS NULL
       OR o.contact_id IN (mailqueue.contact_at(%(project_id)s, %(email)s, false),
                           mailqueue.contact_at(%(project_id)s, %(email)s, true)))
  AND (%(state)s::text IS NULL OR o.state = %(state)s)
  AND o.is_test = coalesce(mailqueue.mode(), o.is_test)
  AND (%(before)s::uuid IS NULL OR o.id < %(before)s)
ORDER BY o.id DESC
LIMIT %(limit)s;

-- name: find_enrollment :maybe
-- One enrollment, with its variables and what it did.
SELECT o.id, o.sequence, o.version, o.contact_id, o.email, o.state, o.reason, o.step,
       CASE WHEN o.state IN ('active', 'paused') THEN o.due_at END AS due_at, o.time_zone, o.steps_done, o.is_test,
       o.enrolled_at, o.finished_at, o.last_error AS error, o.source, o.variables
FROM mailqueue.enrollments AS o
WHERE o.id = %(id)s AND (%(project_id)s::uuid IS NULL OR o.project_id = %(project_id)s)
  AND o.is_test = coalesce(mailqueue.mode(), o.is_test);

-- name: list_enrollment_steps :many
-- What an enrollment did, in order.
SELECT d.step, d.version, d.result, d.email_id, d.done_at
FROM mailqueue.enrollment_steps AS d
WHERE d.enrollment_id = %(id)s
ORDER BY d.number;
