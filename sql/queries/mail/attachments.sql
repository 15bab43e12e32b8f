-- Attachments: stored before their mail, and maintained in folders and buckets.

-- name: keep_upload :maybe
-- Store a file, or find it; no row if it has to be written to its location first. Invalid input raises 22023.
SELECT u.id, u.created_on
FROM mailqueue.keep_upload(%(project_id)s, %(name)s, %(content_type)s, %(sha256)s, %(size)s, %(head)s, %(octets)s,
                           %(location)s) AS u;

-- name: files_of :many
-- Bytes or locations of files of a project.
SELECT f.id, f.octets, f.location, f.sha256, f.bytes
FROM mailqueue.files_of(%(project_id)s, %(ids)s, %(days)s) AS f;

-- name: sweep_stored_files :value
-- Delete rows of files in folders and buckets that are not used and whose retention is over; returns their number.
SELECT mailqueue.sweep_stored_files();

-- name: list_known_locations :many
-- Those of these locations that a row refers to.
SELECT DISTINCT a.location
FROM mailqueue.attachments AS a
WHERE a.location = ANY (%(locations)s::text[]);

-- name: list_stored_files :many
-- Files in folders and buckets, a page at a time, in order of their locations.
SELECT DISTINCT ON (a.location) a.location, a.sha256, p.name AS project, a.bytes
FROM mailqueue.attachments AS a
JOIN mailqueue.projects AS p ON p.id = a.project_id
WHERE a.location > %(after)s
ORDER BY a.location
LIMIT %(most)s;

-- name: list_project_ids :many
-- Ids of all projects.
SELECT p.id
FROM mailqueue.projects AS p
ORDER BY p.id;

-- name: list_large_attachments :many
-- Files in the database of at least that many bytes, a page at a time, in order of their keys.
SELECT a.id, a.created_on, a.project_id, a.bytes
FROM mailqueue.attachments AS a
WHERE a.octets IS NOT NULL
  AND a.bytes >= %(over)s
  AND (a.created_on, a.id) > (%(after_day)s::date, %(after)s::uuid)
ORDER BY a.created_on, a.id
LIMIT 100;

-- name: read_attachment :maybe
-- The bytes of a file in the database.
SELECT a.octets
FROM mailqueue.attachments AS a
WHERE a.id = %(id)s
  AND a.created_on = %(created_on)s;

-- name: move_attachment_out :run
-- Store the location of a file in a folder or bucket, after it was written and read back.
UPDATE mailqueue.attachments
SET octets = NULL,
    location = %(location)s
WHERE id = %(id)s
  AND created_on = %(created_on)s
  AND octets IS NOT NULL;
