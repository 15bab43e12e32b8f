-- Data keys of projects, what is sealed with them, and grants to use them.

-- name: find_data_key :maybe
-- The named data key of a project, unless it was deleted.
SELECT id, project_id, master_key_id, wrapped, wrapped_by
FROM mailqueue.data_keys
WHERE id = %(data_key_id)s
  AND project_id = %(project_id)s
  AND wrapped IS NOT NULL;

-- name: find_active_data_key :maybe
-- The active data key of a project. A shared lock keeps it active until the caller commits.
SELECT id, project_id, master_key_id, wrapped, wrapped_by
FROM mailqueue.data_keys
WHERE project_id = %(project_id)s
  AND state = 'active'
FOR SHARE;

-- name: add_data_key :run
-- Create a project's active data key; changes nothing if a concurrent caller was first.
INSERT INTO mailqueue.data_keys (id, project_id, master_key_id, wrapped, made_under)
VALUES (%(id)s, %(project_id)s, %(master_key_id)s, %(wrapped)s, %(master_key_id)s)
ON CONFLICT (project_id) WHERE state = 'active' DO NOTHING;

-- name: list_master_key_ids :many
-- The master keys that are needed to unwrap data keys, and to open second factors.
SELECT master_key_id
FROM mailqueue.data_keys
WHERE wrapped IS NOT NULL
  AND wrapped_by = 'platform'
UNION
SELECT master_key_id
FROM mailqueue.key_grants
WHERE expires_at > clock_timestamp()
UNION
SELECT master_key_id
FROM mailqueue.console_second_factors
ORDER BY master_key_id;

-- name: list_data_keys :many
-- Every data key of a project that was not deleted, locked until the caller commits.
SELECT id, project_id, master_key_id, wrapped, wrapped_by
FROM mailqueue.data_keys
WHERE project_id = %(project_id)s
  AND wrapped IS NOT NULL
ORDER BY id
FOR UPDATE;

-- name: list_keys_to_rewrap :many
-- Some data keys that the platform wraps by another master key.
SELECT id, project_id, master_key_id, wrapped, wrapped_by
FROM mailqueue.data_keys
WHERE wrapped IS NOT NULL
  AND wrapped_by = 'platform'
  AND master_key_id <> %(master_key_id)s
ORDER BY id
LIMIT 100;

-- name: rewrap_data_key :run
-- Wrap a data key by another key, unless it was changed meanwhile.
UPDATE mailqueue.data_keys
SET master_key_id = %(master_key_id)s,
    wrapped = %(wrapped)s,
    wrapped_by = %(wrapped_by)s
WHERE id = %(id)s
  AND wrapped = %(old)s;

-- name: find_key_grant :maybe
-- The grant to use a data key, unless it expired.
SELECT data_key_id, project_id, master_key_id, wrapped, expires_at
FROM mailqueue.key_grants
WHERE data_key_id = %(data_key_id)s
  AND expires_at > clock_timestamp();

-- name: list_grants_to_rewrap :many
-- Some valid grants that are wrapped by another master key.
SELECT data_key_id, project_id, master_key_id, wrapped, expires_at
FROM mailqueue.key_grants
WHERE expires_at > clock_timestamp()
  AND master_key_id <> %(master_key_id)s
ORDER BY data_key_id
LIMIT 100;

-- name: rewrap_key_grant :run
-- Wrap a grant by another master key, unless it was changed meanwhile.
UPDATE mailqueue.key_grants
SET master_key_id = %(master_key_id)s,
    wrapped = %(wrapped)s
WHERE data_key_id = %(data_key_id)s
  AND wrapped = %(old)s;

-- name: add_key_grant :run
-- Grant the use of a data key until a point in time; replaces an earlier grant.
INSERT INTO mailqueue.key_grants (data_key_id, project_id, master_key_id, wrapped, expires_at, granted_by)
VALUES (%(data_key_id)s, %(project_id)s, %(master_key_id)s, %(wrapped)s, %(expires_at)s, %(by)s)
ON CONFLICT (data_key_id) DO UPDATE
SET master_key_id = excluded.master_key_id,
    wrapped = excluded.wrapped,
    expires_at = excluded.expires_at,
    granted_at = clock_timestamp(),
    granted_by = excluded.granted_by;

-- name: delete_key_grants :run
-- Revoke the grants of a project's data keys.
DELETE FROM mailqueue.key_grants
WHERE project_id = %(project_id)s;

-- name: forget_expired_grants :value
-- Delete expired grants; returns their number.
SELECT mailqueue.forget_expired_grants();

-- name: instant_after :value
-- A point in time that long from now, by the database's clock.
SELECT clock_timestamp() + %(wait)s::interval;

-- name: keep_project_lock :run
-- Set the time from which a project's mail waits because its secrets cannot be opened.
SELECT mailqueue.keep_project_lock(%(project_id)s);

-- name: find_vault_project :maybe
-- The id of the project of that name.
SELECT id
FROM mailqueue.projects
WHERE name = %(project)s;

-- name: list_projects_to_renew :many
-- Projects whose active data key was made with another master key, or all that have one.
SELECT k.project_id
FROM mailqueue.data_keys AS k
JOIN mailqueue.projects AS p ON p.id = k.project_id
WHERE k.state = 'active'
  AND k.wrapped_by = 'platform'
  AND (%(is_forced)s OR k.made_under <> %(master_key_id)s)
  AND (%(project)s::text IS NULL OR p.name = %(project)s)
ORDER BY k.project_id;

-- name: retire_active_data_key :run
-- Retire the active data key of a project; waits for transactions that are sealing with it.
UPDATE mailqueue.data_keys
SET state = 'decrypt_only'
WHERE project_id = %(project_id)s
  AND state = 'active';

-- name: list_keys_to_clear :many
-- Retired data keys that secrets may still be sealed with; not those that only a project can open.
SELECT id, project_id, master_key_id, wrapped, wrapped_by
FROM mailqueue.data_keys
WHERE state = 'decrypt_only'
  AND wrapped IS NOT NULL
  AND wrapped_by = 'platform'
ORDER BY id;

-- name: note_key_cleared :run
-- Record that nothing is sealed with this data key any more.
UPDATE mailqueue.data_keys
SET state = 'retired',
    retired_at = clock_timestamp()
WHERE id = %(id)s
  AND state = 'decrypt_only';

-- name: list_sealed_smtp_passwords :many
-- Some passwords of sender accounts that are sealed with a data key.
SELECT id::text AS row_id, smtp_password AS sealed,
       concat(provider, ' ', lower(smtp_host), ' ', api_url, ' ', provider_settings ->> 'token_url') AS server
FROM mailqueue.sender_accounts
WHERE project_id = %(project_id)s
  AND substring(smtp_password FROM 2 FOR 16) = uuid_send(%(data_key_id)s::uuid)
  AND (%(after)s::text IS NULL OR id > %(after)s::integer)
ORDER BY id
LIMIT 100;

-- name: replace_sealed_smtp_password :run
-- Replace a sealed password, unless it was changed meanwhile.
UPDATE mailqueue.sender_accounts
SET smtp_password = %(sealed)s
WHERE id = %(row_id)s::integer
  AND smtp_password = %(old)s;

-- name: list_sealed_dkim_keys :many
-- Some DKIM keys that are sealed with a data key.
SELECT id::text AS row_id, private_key AS sealed
FROM mailqueue.dkim_keys
WHERE project_id = %(project_id)s
  AND substring(private_key FROM 2 FOR 16) = uuid_send(%(data_key_id)s::uuid)
  AND (%(after)s::text IS NULL OR id > %(after)s::uuid)
ORDER BY id
LIMIT 100;

-- name: replace_sealed_dkim_key :run
-- Replace a sealed DKIM key, unless it was revoked meanwhile.
UPDATE mailqueue.dkim_keys
SET private_key = %(sealed)s
WHERE id = %(row_id)s::uuid
  AND private_key = %(old)s;

-- name: list_sealed_custom_smtp_servers :many
-- Some servers of queued mail that are sealed with a data key.
SELECT id::text AS row_id, sealed
FROM mailqueue.custom_smtp_servers
WHERE project_id = %(project_id)s
  AND substring(sealed FROM 2 FOR 16) = uuid_send(%(data_key_id)s::uuid)
  AND (%(after)s::text IS NULL OR id > %(after)s::uuid)
ORDER BY id
LIMIT 100;

-- name: replace_sealed_custom_smtp_server :run
-- Replace a sealed server, unless its mail was finished meanwhile.
UPDATE mailqueue.custom_smtp_servers
SET sealed = %(sealed)s
WHERE id = %(row_id)s::uuid
  AND sealed = %(old)s;

-- name: list_sealed_tracking_keys :many
-- Some keys of tokens that are sealed with a data key.
SELECT id::text AS row_id, sealed
FROM mailqueue.tracking_keys
WHERE project_id = %(project_id)s
  AND substring(sealed FROM 2 FOR 16) = uuid_send(%(data_key_id)s::uuid)
  AND (%(after)s::text IS NULL OR id > %(after)s::bigint)
ORDER BY id
LIMIT 100;

-- name: replace_sealed_tracking_key :run
-- Replace a sealed token key, unless it was replaced meanwhile.
UPDATE mailqueue.tracking_keys
SET sealed = %(sealed)s
WHERE id = %(row_id)s::bigint
  AND sealed = %(old)s;

-- name: list_project_vaults :many
-- How the secrets of projects are sealed, for those that have any.
SELECT p.name AS project, k.wrapped_by, k.master_key_id, count(*)::integer AS data_keys,
       count(*) FILTER (WHERE k.state = 'decrypt_only')::integer AS to_clear,
       bool_or(k.wrapped_by = 'own' AND g.data_key_id IS NULL) AS is_locked, min(g.expires_at) AS unlocked_until
FROM mailqueue.data_keys AS k
JOIN mailqueue.projects AS p ON p.id = k.project_id
LEFT JOIN mailqueue.key_grants AS g ON g.data_key_id = k.id AND g.expires_at > clock_timestamp()
WHERE k.wrapped IS NOT NULL
  AND (%(project)s::text IS NULL OR p.name = %(project)s)
GROUP BY p.name, k.wrapped_by, k.master_key_id
ORDER BY p.name, k.wrapped_by, k.master_key_id;

-- name: note_vault_change :run
-- Write an audit row for a change of a project's keys, or all.
INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
VALUES (%(project_id)s, %(by)s, %(action)s, %(subject)s, %(detail)s);

-- name: list_sealed_webhook_secrets :many
-- Some secrets of webhooks that are sealed with a data key.
SELECT id::text AS row_id, sealed_secret AS sealed
FROM mailqueue.webhooks
WHERE project_id = %(project_id)s
  AND substring(sealed_secret FROM 2 FOR 16) = uuid_send(%(data_key_id)s::uuid)
  AND (%(after)s::text IS NULL OR id > %(after)s::uuid)
ORDER BY id
LIMIT 100;

-- name: replace_sealed_webhook_secret :run
-- Replace a sealed secret, unless it was replaced meanwhile.
UPDATE mailqueue.webhooks
SET sealed_secret = %(sealed)s
WHERE id = %(row_id)s::uuid
  AND sealed_secret = %(old)s;

-- name: list_sealed_previous_webhook_secrets :many
-- Some previous secrets of webhooks that are sealed with a data key.
SELECT id::text AS row_id, sealed_secret_previous AS sealed
FROM mailqueue.webhooks
WHERE project_id = %(project_id)s
  AND substring(sealed_secret_previous FROM 2 FOR 16) = uuid_send(%(data_key_id)s::uuid)
  AND (%(after)s::text IS NULL OR id > %(after)s::uuid)
ORDER BY id
LIMIT 100;

-- name: replace_sealed_previous_webhook_secret :run
-- Replace a sealed secret, unless it was replaced meanwhile.
UPDATE mailqueue.webhooks
SET sealed_secret_previous = %(sealed)s
WHERE id = %(row_id)s::uuid
  AND sealed_secret_previous = %(old)s;

-- name: list_audit_keys :many
-- Keys of the audit log, oldest first.
SELECT k.id, k.master_key_id, k.wrapped, k.made_under
FROM mailqueue.audit_keys_wrapped() AS k;

-- name: add_audit_key :run
-- Create the key that seals the audit log from now on.
INSERT INTO mailqueue.audit_keys (id, master_key_id, wrapped, made_under)
VALUES (%(id)s, %(master_key_id)s, %(wrapped)s, %(made_under)s);

-- name: rewrap_audit_key :run
-- Wrap a key of the audit log by another master key, unless it was changed meanwhile.
UPDATE mailqueue.audit_keys
SET master_key_id = %(master_key_id)s,
    wrapped = %(wrapped)s
WHERE id = %(id)s
  AND wrapped = %(old)s;
