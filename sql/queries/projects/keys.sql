-- The keys of the HTTP API.

-- name: find_api_key :maybe
-- Project and rights of the valid key with that hash. Updates its last use.
SELECT f.id, f.project_id, f.project, f.is_test, f.trap_sender, f.name, f.scopes, f.requests_per_second,
       f.project_requests_per_second
FROM mailqueue.find_api_key(%(key_hash)s, %(address)s::inet) AS f;

-- name: list_valid_keys :many
-- Those of these keys that are valid now.
SELECT unnest(mailqueue.keys_in_force(%(ids)s::uuid[]));

-- name: issue_api_key :value
-- Create a key; only its hash is stored.
SELECT mailqueue.issue_api_key(%(project_id)s::uuid, %(name)s::text, %(key_hash)s::bytea, %(hint)s::text,
                               %(is_test)s::boolean,
                               %(scopes)s::text[], %(expires_at)s::timestamptz, %(requests_per_second)s::integer);

-- name: read_api_key :maybe
-- A key of a project.
SELECT k.id, k.name, k.hint, k.is_test, k.scopes, k.requests_per_second, k.created_at, k.created_by, k.expires_at,
       k.rotated_at, k.revoked_at, k.revoked_reason, k.revoked_by, k.last_used_at,
       host(k.last_used_from) AS last_used_from
FROM mailqueue.api_keys AS k
WHERE k.project_id = %(project_id)s
  AND k.id = %(id)s;

-- name: find_api_key_named :maybe
-- The valid key of that name, otherwise the newest that had it.
SELECT k.id
FROM mailqueue.api_keys AS k
WHERE k.project_id = %(project_id)s
  AND k.name = %(name)s
ORDER BY (k.revoked_at IS NULL AND k.rotated_at IS NULL) DESC, k.created_at DESC, k.id DESC
LIMIT 1;

-- name: list_api_keys :many
-- The keys of a project, newest first, a page before the one of that time and id.
SELECT k.id, k.name, k.hint, k.is_test, k.scopes, k.requests_per_second, k.created_at, k.created_by, k.expires_at,
       k.rotated_at, k.revoked_at, k.revoked_reason, k.revoked_by, k.last_used_at,
       host(k.last_used_from) AS last_used_from
FROM mailqueue.api_keys AS k
WHERE k.project_id = %(project_id)s
  AND (k.created_at, k.id) < (coalesce(%(before)s::timestamptz, 'infinity'),
                              coalesce(%(before_id)s::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
ORDER BY k.created_at DESC, k.id DESC
LIMIT %(most)s;

-- name: list_active_api_keys :many
-- The keys of a project that are valid now, newest first.
SELECT k.id, k.name, k.hint, k.is_test, k.scopes, k.requests_per_second, k.created_at, k.created_by, k.expires_at,
       k.rotated_at, k.revoked_at, k.revoked_reason, k.revoked_by, k.last_used_at,
       host(k.last_used_from) AS last_used_from
FROM mailqueue.api_keys AS k
WHERE k.project_id = %(project_id)s
  AND k.revoked_at IS NULL
  AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
ORDER BY k.created_at DESC, k.id DESC
LIMIT %(most)s;

-- name: change_api_key :value
-- Change name or rate of a valid key; false if there is none.
SELECT mailqueue.change_api_key(%(project_id)s::uuid, %(id)s::uuid, %(changes)s::jsonb);

-- name: rotate_api_key :maybe
-- Replace a valid key by a new one; the old one expires after the grace period. NULL if there is none.
SELECT mailqueue.rotate_api_key(%(project_id)s::uuid, %(id)s::uuid, %(key_hash)s::bytea, %(hint)s::text,
                                %(grace)s::interval,
                                %(expires_at)s::timestamptz);

-- name: revoke_api_key :value
-- Revoke a key; false if there is no valid one.
SELECT mailqueue.revoke_api_key(%(project_id)s::uuid, %(id)s::uuid, %(reason)s::text);

-- name: set_actor :run
-- Set the actor that the audit names until the transaction ends.
SELECT set_config('mailqueue.actor', %(by)s, true);
