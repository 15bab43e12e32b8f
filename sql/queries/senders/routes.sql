-- Routing rules: the sender accounts of mail that names none.

-- name: add_route :value
-- Add a rule, after all others or at a position; its id. Raises 22023 naming the field.
SELECT mailqueue.add_route(%(project)s, %(senders)s::text[], %(category)s, %(tag)s, %(domain)s, %(position)s, %(note)s,
                           %(by)s);

-- name: remove_route :value
-- Remove a rule; false if there was none.
SELECT mailqueue.remove_route(%(project)s, %(rule_id)s, %(by)s);

-- name: list_routes :many
-- The rules of a project, or of all, in order of evaluation.
SELECT r.project, r.rule_id, r.position, r.category, r.tag, r.domain, r.senders, r.note, r.created_at
FROM mailqueue.routes AS r
WHERE (%(project)s::text IS NULL OR r.project = %(project)s)
ORDER BY r.project, r.position;

-- name: test_route :many
-- Accounts of such mail, in order, with what blocks them.
SELECT t.rule_id, t.sender, t.is_fallback, t.blocked_reason, t.blocked_until
FROM mailqueue.test_route(%(project)s, %(recipient)s, %(category)s, %(tags)s::text[]) AS t;
