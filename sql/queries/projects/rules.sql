-- Rules of a project that compatible APIs manage.

-- name: list_project_rules :many
-- The rules of a kind, or of all kinds, by their subject; or those about some subjects.
SELECT r.id, r.kind, r.subject, r.settings
FROM mailqueue.project_rules AS r
WHERE r.project_id = %(project_id)s AND (%(kind)s::text IS NULL OR r.kind = %(kind)s)
  AND (%(subjects)s::text[] IS NULL OR r.subject = ANY (%(subjects)s))
ORDER BY r.subject;

-- name: put_project_rule :maybe
-- Add a rule, or change the one of an id; none if another has the subject. Raises 22023 naming the field.
SELECT r.id, r.kind, r.subject, r.settings
FROM mailqueue.put_project_rule(%(project_id)s, %(kind)s, %(subject)s, %(settings)s::jsonb, %(id)s::uuid, %(by)s) AS r;

-- name: remove_project_rule :value
-- Remove a rule; false if there is none.
SELECT mailqueue.remove_project_rule(%(project_id)s, %(kind)s, %(id)s::uuid, %(by)s);
