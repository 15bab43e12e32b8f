-- Counts of mail and events.

-- name: fold_stats :value
-- Count what was written since.
SELECT mailqueue.fold_stats(%(id)s::uuid, %(claim_no)s, %(batch_rows)s);

-- name: judge_domains :value
-- Write a notice for each domain that refuses more mail than in the week before; their number.
SELECT mailqueue.judge_domains();

-- name: read_stats_as_of :value
-- Time before which everything that was written is counted.
SELECT s.as_of FROM mailqueue.stats_progress() AS s;

-- name: is_stats_zone :value
-- Whether there is a time zone.
SELECT mailqueue.known_zone(%(zone)s) IS NOT NULL;

-- name: read_stats_zone :value
-- Time zone of a project.
SELECT coalesce((SELECT mailqueue.known_zone(p.time_zone)
                 FROM mailqueue.projects AS p
                 WHERE p.id = %(project_id)s::uuid), 'UTC');

-- name: list_stats_spans :many
-- Starts of the spans of a time, and the end of the last.
SELECT s.started_at, s.local_at
FROM mailqueue.stats_spans(%(since)s::timestamptz, %(until)s::timestamptz, %(bucket)s, %(zone)s) AS s
ORDER BY s.started_at;

-- name: read_stats :many
-- Counts by span and value.
SELECT s.n, s.value, s.value2, s.accepted, s.sent, s.failed, s.expired, s.suppressed, s.cancelled, s.delivered,
       s.soft_bounces, s.hard_bounces, s.complaints, s.unsubscribes, s.opens, s.unique_opens, s.machine_opens,
       s.unique_machine_opens, s.clicks, s.unique_clicks, s.machine_clicks, s.unique_machine_clicks
FROM mailqueue.read_stats(%(project_id)s::uuid, %(is_test)s, %(dimension)s, %(value)s::text,
                          %(starts)s::timestamptz[], %(by_minute)s) AS s;

-- name: read_stats_series :many
-- One count by span and value: of the values with the highest sums, and of all others together.
SELECT s.n, s.value, s.total
FROM mailqueue.read_series(%(project_id)s::uuid, %(is_test)s, %(dimension)s, %(metric)s, %(starts)s::timestamptz[],
                           %(by_minute)s, %(most)s) AS s;

-- name: read_stats_sent :many
-- What each sender account of some projects sent.
SELECT s.value, sum(s.sent)::bigint AS sent
FROM mailqueue.stats_quarters AS s
WHERE s.project_id = ANY (%(projects)s::uuid[]) AND s.dimension = 'account' AND s.is_test = %(is_test)s
  AND s.started_at >= %(since)s::timestamptz AND s.started_at < %(until)s::timestamptz
GROUP BY s.value;

-- name: read_stats_latency :many
-- Response times of each sender account.
SELECT l.sender_account_id, l.attempts, l.p50_ms, l.p95_ms, l.p99_ms
FROM mailqueue.read_latency(%(project_id)s::uuid, %(is_test)s, %(since)s::timestamptz, %(until)s::timestamptz) AS l;

-- name: list_stats_accounts :many
-- Sender accounts with counts; the present name of those that are left.
SELECT a.sender_account_id, a.project_id, coalesce(s.name, a.name) AS name, a.provider, a.tells_since
FROM mailqueue.stats_accounts AS a
LEFT JOIN mailqueue.sender_accounts AS s ON s.id = a.sender_account_id
WHERE %(project_id)s::uuid IS NULL OR a.project_id = %(project_id)s::uuid;

-- name: list_stats_templates :many
-- Templates by id.
SELECT t.id, t.slug, t.name, 0 AS version FROM mailqueue.templates AS t WHERE t.id = ANY (%(ids)s::uuid[]);

-- name: read_stats_tests :value
-- Names of A/B tests by id.
SELECT coalesce(jsonb_object_agg(t.id, t.name), '{}') FROM mailqueue.ab_tests AS t WHERE t.id = ANY (%(ids)s::uuid[]);

-- name: list_stats_versions :many
-- Versions of a template, newest first.
SELECT v.id, t.slug, t.name, v.version
FROM mailqueue.template_versions AS v
JOIN mailqueue.templates AS t ON t.id = v.template_id
WHERE v.template_id = %(template_id)s::uuid
ORDER BY v.version DESC;

-- name: find_stats_template :maybe
-- A template that a project can use, by id or slug; its own before the platform's.
SELECT t.id, t.slug, t.name, 0 AS version
FROM mailqueue.templates AS t
WHERE (t.project_id = %(project_id)s::uuid OR t.project_id IS NULL)
  AND (t.slug = %(name)s::text OR t.id::text = %(name)s::text)
ORDER BY t.project_id IS NULL, t.deleted_at IS NOT NULL, t.id
LIMIT 1;

-- name: list_stats_links :many
-- Where links lead.
SELECT encode(l.link, 'hex') AS link, l.url
FROM mailqueue.tracked_links AS l
WHERE l.project_id = %(project_id)s::uuid
  AND l.link = ANY (ARRAY(SELECT decode(x, 'hex') FROM unnest(%(links)s::text[]) AS x));

-- name: verify_stats :many
-- Compare the counts of a time with history.
SELECT v.counts, v.differences, v.table_name AS table, p.name AS project, v.is_test, v.dimension, v.value, v.value2,
       v.started_at AS at, v.metric, v.counted, v.in_history
FROM mailqueue.verify_stats(%(since)s::timestamptz, %(until)s::timestamptz, %(limit)s) AS v
LEFT JOIN mailqueue.projects AS p ON p.id = v.project_id;

-- name: rebuild_stats :value
-- Count anew from a day on; its start.
SELECT mailqueue.rebuild_stats(%(since)s::timestamptz, %(by)s);

-- name: read_stats_complete_since :value
-- Since when history is complete.
SELECT mailqueue.stats_complete_since();

-- name: read_stats_progress :one
-- How far counting has come.
SELECT s.as_of, s.now, s.rebuilt_from, s.rebuilt_to FROM mailqueue.stats_progress() AS s;

-- name: bound_stats_statements :run
-- Bound the time of each further statement of this transaction.
SELECT set_config('statement_timeout', (%(milliseconds)s::integer)::text, true);
