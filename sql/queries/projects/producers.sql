-- Logins that may enqueue for some projects only.

-- name: list_producers :many
-- Bound logins by name, each with its projects.
SELECT b.login::text AS login, array_agg(coalesce(p.name, b.project_id::text) ORDER BY p.name) AS projects,
       EXISTS (SELECT FROM pg_catalog.pg_roles AS o WHERE o.rolname = b.login AND o.rolcanlogin) AS is_known
FROM mailqueue.producer_projects AS b
LEFT JOIN mailqueue.projects AS p ON p.id = b.project_id
GROUP BY b.login
ORDER BY b.login;

-- name: bind_producer :run
-- Let a login enqueue for these projects, and for no others but those it was bound to before.
SELECT mailqueue.bind_producer(%(login)s::text, %(projects)s::text[], %(by)s::text);

-- name: unbind_producer :value
-- Unbind a login from projects, null: from all; returns from how many.
SELECT mailqueue.unbind_producer(%(login)s::text, %(projects)s::text[], %(by)s::text);
