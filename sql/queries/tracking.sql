-- Keys of the tokens in links of mail, and where tracked links lead.

-- name: list_tracking_keys :many
-- The keys of a project, the one that makes tokens first.
SELECT id, project_id, sealed
FROM mailqueue.tracking_keys
WHERE project_id = %(project_id)s
ORDER BY retired_at IS NOT NULL, created_at DESC, id;

-- name: find_tracking_project :maybe
-- Whose key this is.
SELECT project_id
FROM mailqueue.tracking_keys
WHERE id = %(id)s;

-- name: add_tracking_key :value
-- Have a project make its tokens with this key; false where it has one already, or the id is taken.
WITH added AS (
    INSERT INTO mailqueue.tracking_keys (id, project_id, sealed)
    VALUES (%(id)s, %(project_id)s, %(sealed)s)
    ON CONFLICT DO NOTHING
    RETURNING id
)
SELECT EXISTS (SELECT FROM added);

-- name: retire_tracking_key :run
-- Have a project's key make no more tokens; what it made stays good.
UPDATE mailqueue.tracking_keys
SET retired_at = clock_timestamp()
WHERE project_id = %(project_id)s
  AND retired_at IS NULL;
