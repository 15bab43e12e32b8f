-- A/B tests.

-- name: create_ab_test :value
-- Create a test; its id.
SELECT mailqueue.create_ab_test(%(project)s::text, %(test)s::jsonb, %(by)s::text);

-- name: add_ab_test_recipients :many
-- Send a test to recipients; what became of each.
SELECT a.index, a.id, a.status, a.reason, a.variant
FROM mailqueue.add_ab_test_recipients(%(project)s::text, %(id)s::uuid, %(recipients)s::jsonb) AS a;

-- name: list_ab_tests :many
-- Tests of a project or of all, newest first.
SELECT t.id, p.name AS project, t.name, t.metric, mailqueue.ab_test_state(t) AS state, t.result, w.name AS winner,
       t.is_test, t.created_at, t.started_at,
       coalesce(t.started_at, t.created_at) + t.evaluate_after AS evaluates_at, t.decided_at
FROM mailqueue.ab_tests AS t
JOIN mailqueue.projects AS p ON p.id = t.project_id
LEFT JOIN mailqueue.ab_test_variants AS w ON w.ab_test_id = t.id AND w.number = t.winner
WHERE (%(project_id)s::uuid IS NULL OR t.project_id = %(project_id)s::uuid)
  AND (%(before)s::uuid IS NULL OR t.id < %(before)s::uuid)
  AND (mailqueue.mode() IS NULL OR t.is_test = mailqueue.mode())
ORDER BY t.id DESC
LIMIT %(limit)s::integer;

-- name: find_ab_test :maybe
-- One test with its variants and their counts, of a project if one is given.
SELECT t.id, p.name AS project, t.name, t.metric, mailqueue.ab_test_state(t) AS state, t.result, w.name AS winner,
       t.alpha, (extract(epoch FROM t.evaluate_after) / 3600)::double precision AS evaluate_after_hours, t.min_sample,
       t.sample_percent, t.if_none, mailqueue.ab_test_document(t) AS variants,
       (SELECT count(*) FROM mailqueue.ab_test_recipients AS r WHERE r.ab_test_id = t.id) AS recipients,
       (SELECT count(*) FROM mailqueue.ab_test_recipients AS r WHERE r.ab_test_id = t.id AND r.outcome IS NULL)
           AS waiting,
       t.is_test, t.requested_by, t.decided_by, t.cancelled_by, t.last_error AS error, t.created_at, t.started_at,
       coalesce(t.started_at, t.created_at) + t.evaluate_after AS evaluates_at, t.decided_at, t.finished_at
FROM mailqueue.ab_tests AS t
JOIN mailqueue.projects AS p ON p.id = t.project_id
LEFT JOIN mailqueue.ab_test_variants AS w ON w.ab_test_id = t.id AND w.number = t.winner
WHERE t.id = %(id)s::uuid AND (%(project_id)s::uuid IS NULL OR t.project_id = %(project_id)s::uuid)
  AND (mailqueue.mode() IS NULL OR t.is_test = mailqueue.mode());

-- name: decide_ab_test :value
-- Make a variant the winner; false if the test is decided or over.
SELECT mailqueue.decide_ab_test(%(project_id)s::uuid, %(id)s::uuid, %(variant)s::text, %(by)s::text);

-- name: cancel_ab_test :value
-- Cancel a test; false if it is over or cancelled already.
SELECT mailqueue.cancel_ab_test(%(project_id)s::uuid, %(id)s::uuid, %(by)s::text);

-- name: take_ab_test :one
-- What is to be done about a test, whose row stays locked.
SELECT t.state, t.metric, t.alpha, t.min_sample, t.sent, t.opened, t.clicked
FROM mailqueue.take_ab_test(%(id)s::uuid, %(claim_no)s::bigint) AS t;

-- name: record_ab_test :run
-- Store the answer of an evaluation.
SELECT mailqueue.record_ab_test(%(id)s::uuid, %(claim_no)s::bigint, %(result)s::text, %(winner)s::smallint,
                                %(sent)s::bigint[], %(opened)s::bigint[], %(clicked)s::bigint[],
                                %(p_values)s::double precision[]);

-- name: continue_ab_test :value
-- Accept mail to the next recipients that waited; what is left.
SELECT mailqueue.continue_ab_test(%(id)s::uuid, %(claim_no)s::bigint, %(limit)s::integer);
