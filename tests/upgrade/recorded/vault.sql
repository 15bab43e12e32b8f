-- Data keys of projects.

-- name: find_data_key :maybe
-- The named data key of a project, unless it was destroyed.
SELECT id, project_id, master_key_id, wrapped
FROM mailqueue.data_keys
WHERE id = %(data_key_id)s
  AND project_id = %(project_id)s
  AND wrapped IS NOT NULL;

-- name: find_active_data_key :maybe
-- The data key a project seals with. A shared lock keeps it active until the caller has committed.
SELECT id, project_id, master_key_id, wrapped
FROM mailqueue.data_keys
WHERE project_id = %(project_id)s
  AND state = 'active'
FOR SHARE;

-- name: add_data_key :run
-- Make a project's active data key; changes nothing if another caller was first.
INSERT INTO mailqueue.data_keys (id, project_id, master_key_id, wrapped)
VALUES (%(id)s, %(project_id)s, %(master_key_id)s, %(wrapped)s)
ON CONFLICT (project_id) WHERE state = 'active' DO NOTHING;

-- name: list_master_key_ids :many
-- The master keys without which some data key cannot be unwrapped.
SELECT DISTINCT master_key_id
FROM mailqueue.data_keys
WHERE wrapped IS NOT NULL
ORDER BY master_key_id;
