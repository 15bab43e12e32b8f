-- Search over all projects, and over those of a user of the console.

-- name: search :many
-- What a text names in all projects.
SELECT m.kind, m.project, m.id, m.title, m.detail, m.status, m.emails, m.at, m.matched
FROM mailqueue.search(%(text)s::text, %(limit)s::integer) AS m;

-- name: search_of_user :many
-- What a text names in the projects that a user of the console sees.
SELECT m.kind, m.project, m.id, m.title, m.detail, m.status, m.emails, m.at, m.matched
FROM mailqueue.search_of_console_user(%(user)s::uuid, %(text)s::text, %(limit)s::integer) AS m;
