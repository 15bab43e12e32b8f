-- Event rules and the inbox.

-- name: list_event_rules :many
-- The rules of a project by name, or the one of a name.
SELECT r.name, r.event_type, r.condition, r.action, r.template, r.recipient, r.recipient_name, r.language, r.variables,
       r.priority, r.tags, r.delay_seconds, r.key, r.sequence, r.is_enabled, r.version, r.created_at, r.updated_at
FROM mailqueue.event_rules AS r
WHERE r.project_id = %(project_id)s
  AND (%(name)s::text IS NULL OR r.name = %(name)s)
ORDER BY r.name;

-- name: put_event_rule :maybe
-- A rule after it was added or changed; none where it must be new and exists, or must exist and does not.
SELECT r.name, r.event_type, r.condition, r.action, r.template, r.recipient, r.recipient_name, r.language, r.variables,
       r.priority, r.tags, r.delay_seconds, r.key, r.sequence, r.is_enabled, r.version, r.created_at, r.updated_at
FROM mailqueue.put_event_rule(%(project_id)s, %(name)s, %(given)s, %(must_be_new)s, %(by)s) AS r;

-- name: remove_event_rule :value
-- Whether there was such a rule.
SELECT mailqueue.remove_event_rule(%(project_id)s, %(name)s, %(by)s);

-- name: try_event_rule :maybe
-- What a rule would do with a payload; none without such a rule.
SELECT mailqueue.try_event_rule(%(project_id)s, %(name)s, %(payload)s, %(headers)s);

-- name: consume_event :value
-- What became of an event, delivered for the first time or again.
SELECT mailqueue.consume_event(%(message_id)s, %(consumer_id)s, %(type)s, %(payload)s::jsonb, %(headers)s::jsonb,
                               %(project)s, %(is_test)s, NULL, NULL, %(sender)s);

-- name: list_inbox :many
-- Events of a project, newest first, with what each rule did.
SELECT i.id, i.message_id, i.consumer_id, i.type, i.status, i.reason, i.received AS received_at, i.receive_count,
       i.expiration_time AS expires_at, i.conversation_id, i.correlation_id, i.traceparent, i.is_test,
       ARRAY(SELECT jsonb_build_object('rule', a.rule, 'rule_version', a.rule_version, 'result', a.result, 'email_id',
                                       a.email_id, 'cancelled_ids', to_jsonb(a.cancelled), 'key', a.key, 'reason',
                                       a.reason, 'enrollment_ids', to_jsonb(a.enrollment_ids))
             FROM mailqueue.inbox_actions AS a WHERE a.inbox_id = i.id ORDER BY a.id) AS actions
FROM mailqueue.inbox_state AS i
WHERE i.project_id = %(project_id)s
  AND (%(before)s::bigint IS NULL OR i.id < %(before)s)
  AND (%(type)s::text IS NULL OR i.type = %(type)s)
  AND (%(status)s::text IS NULL OR i.status = %(status)s)
  AND (%(since)s::timestamptz IS NULL OR i.received >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR i.received < %(until)s)
ORDER BY i.id DESC
LIMIT %(limit)s;

-- name: find_inbox_event :many
-- The event of a message, once for each consumer, with payload, headers and what each rule did.
SELECT i.message_id, i.consumer_id, i.type, i.status, i.reason, i.received AS received_at, i.receive_count,
       i.expiration_time AS expires_at, i.conversation_id, i.correlation_id, i.traceparent, i.is_test,
       ARRAY(SELECT jsonb_build_object('rule', a.rule, 'rule_version', a.rule_version, 'result', a.result, 'email_id',
                                       a.email_id, 'cancelled_ids', to_jsonb(a.cancelled), 'key', a.key, 'reason',
                                       a.reason, 'enrollment_ids', to_jsonb(a.enrollment_ids))
             FROM mailqueue.inbox_actions AS a WHERE a.inbox_id = i.id ORDER BY a.id) AS actions,
       i.payload, i.headers
FROM mailqueue.inbox_state AS i
WHERE i.message_id = %(message_id)s
  AND (%(project_id)s::uuid IS NULL OR i.project_id = %(project_id)s)
ORDER BY i.id;

-- name: replay_inbox :value
-- Counts of one page of events to which today's rules were applied.
SELECT mailqueue.replay_inbox(%(project_id)s, %(message_ids)s, %(type)s, %(status)s, %(since)s, %(until)s, %(after)s,
                              %(limit)s, %(is_dry)s, %(by)s);
