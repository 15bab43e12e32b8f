-- Routing rules: which sender accounts mail takes that names none.

-- name: add_route :value
-- Add a rule, after all others or at a position; its number. Refuses with 22023 naming the field.
SELECT mailqueue.add_route(%(project)s, %(senders)s::text[], %(category)s, %(tag)s, %(domain)s, %(position)s, %(note)s,
                           %(by)s);

-- name: remove_route :value
-- Take a rule away; false when there was none.
SELECT mailqueue.remove_route(%(project)s, %(rule_id)s, %(by)s);

-- name: list_routes :many
-- The rules of a project, or of all, in the order they are looked at.
SELECT r.project, r.rule_id, r.position, r.category, r.tag, r.domain, r.senders, r.note, r.created_at
FROM mailqueue.routes AS r
WHERE (%(project)s::text IS NULL OR r.project = %(project)s)
ORDER BY r.project, r.position;

-- name: test_route :many
-- The accounts such a mail would take, in order, with what keeps them from sending.
SELECT t.rule_id, t.sender, t.is_fallback, t.blocked_reason, t.blocked_until
FROM mailqueue.test_route(%(project)s, %(recipient)s, %(category)s, %(tags)s::text[]) AS t;
