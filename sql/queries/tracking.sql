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

-- name: read_tracking_grounds :many
-- What the mail of these projects has in common: whose postal address, by which domain its links lead.
SELECT p.id, p.postal_address, CASE WHEN p.tracking_checked_at IS NOT NULL THEN p.tracking_domain END AS domain
FROM mailqueue.projects AS p
WHERE p.id = ANY (%(ids)s);

-- name: keep_tracked_links :run
-- Write down where links lead, before mail that names them is handed over. In order: others write the same at this
-- moment.
INSERT INTO mailqueue.tracked_links AS t (project_id, link, url)
SELECT l.project_id, l.link, l.url
FROM unnest(%(projects)s::uuid[], %(links)s::bytea[], %(urls)s::text[]) AS l (project_id, link, url)
ORDER BY l.project_id, l.link
ON CONFLICT (project_id, link) DO UPDATE SET used_on = excluded.used_on
WHERE t.used_on < excluded.used_on;

-- name: find_tracked_links :many
-- Where these links of a project lead.
SELECT project_id, link, url
FROM mailqueue.tracked_links
WHERE (project_id, link) IN (SELECT * FROM unnest(%(projects)s::uuid[], %(links)s::bytea[]));

-- name: look_at_clicks :many
-- When these mails were handed over, and which of their links were followed a moment ago.
SELECT l.email_id, l.sent_at, l.links
FROM mailqueue.look_at_clicks(%(ids)s::uuid[], %(within)s::interval) AS l;

-- name: judge_clicks :run
-- What was followed a moment ago in these mails was a program's doing, too.
SELECT mailqueue.judge_clicks(%(ids)s::uuid[], %(within)s::interval, %(machine)s);

-- name: note_tracking_gaps :run
-- Count mail that was sent without something it should contain.
SELECT mailqueue.note_tracking_gaps(%(projects)s::uuid[], %(gaps)s::text[], %(emails)s::bigint[]);

-- name: find_tracking_domain :maybe
-- A project by its name, with the domain of its links.
SELECT id, tracking_domain AS domain, tracking_checked_at AS checked_at
FROM mailqueue.projects
WHERE name = %(project)s
  AND deleted_at IS NULL;

-- name: note_tracking_domain :maybe
-- Write down whether a tracking domain leads here; returns since when it is known to.
SELECT mailqueue.note_tracking_domain(%(project_id)s, %(domain)s, %(leads_here)s);

-- name: list_tracking_keys_shown :many
-- When the keys of a project's tokens were made and retired, newest first.
SELECT to_hex(id) AS id, created_at, retired_at
FROM mailqueue.tracking_keys
WHERE project_id = %(project_id)s
ORDER BY created_at DESC, id;

-- name: sweep_tracked_links :value
-- Forget a batch of links that no mail has named for long; returns how many.
SELECT mailqueue.sweep_tracked_links();
