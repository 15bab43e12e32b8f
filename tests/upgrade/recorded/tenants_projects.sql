-- Projects and the keys of the HTTP API.

-- name: find_project_id :maybe
-- The id of the project of that name.
SELECT id
FROM mailqueue.projects
WHERE name = %(project)s;

-- name: add_api_key :one
-- Make a key; only its hash is kept.
INSERT INTO mailqueue.api_keys (project_id, name, key_hash, hint, is_test, expires_at)
VALUES (%(project_id)s, %(name)s, %(key_hash)s, %(hint)s, %(is_test)s, %(expires_at)s)
RETURNING id, name, hint, is_test, created_at, expires_at, revoked_at, last_used_at;

-- name: find_api_key :maybe
-- The key in force with that hash, its project and the project's trap account. A use is noted once
-- a minute, and never waited for.
WITH found AS MATERIALIZED (
    SELECT k.id, k.project_id, k.is_test, k.last_used_at
    FROM mailqueue.api_keys AS k
    WHERE k.key_hash = %(key_hash)s
      AND k.revoked_at IS NULL
      AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
), unnoted AS MATERIALIZED (
    SELECT k.id
    FROM mailqueue.api_keys AS k
    JOIN found AS f ON f.id = k.id
    WHERE f.last_used_at IS NULL OR f.last_used_at < clock_timestamp() - interval '1 min'
    FOR NO KEY UPDATE OF k SKIP LOCKED
), noted AS (
    UPDATE mailqueue.api_keys AS k
    SET last_used_at = clock_timestamp()
    FROM unnoted AS u
    WHERE k.id = u.id
)
SELECT f.id, f.project_id, p.name AS project, f.is_test,
       (SELECT a.name
        FROM mailqueue.sender_accounts AS a
        WHERE a.project_id = f.project_id AND a.provider = 'trap'
        ORDER BY a.priority, a.id
        LIMIT 1) AS trap_sender
FROM found AS f
JOIN mailqueue.projects AS p ON p.id = f.project_id;

-- name: list_api_keys :many
-- The keys of a project, newest first.
SELECT k.id, k.name, k.hint, k.is_test, k.created_at, k.expires_at, k.revoked_at, k.last_used_at
FROM mailqueue.api_keys AS k
JOIN mailqueue.projects AS p ON p.id = k.project_id
WHERE p.name = %(project)s
ORDER BY k.created_at DESC, k.id DESC;

-- name: revoke_api_key :run
-- Put a key out of force; no rows where the project has none of that name in force.
UPDATE mailqueue.api_keys AS k
SET revoked_at = clock_timestamp()
FROM mailqueue.projects AS p
WHERE p.id = k.project_id
  AND p.name = %(project)s
  AND k.name = %(name)s
  AND k.revoked_at IS NULL;
