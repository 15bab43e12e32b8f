-- Keys of the tokens in links of mail, and targets of tracked links.

-- name: list_tracking_keys :many
-- The keys of a project, the one that creates tokens first.
SELECT id, project_id, sealed
FROM mailqueue.tracking_keys
WHERE project_id = %(project_id)s
  AND revoked_at IS NULL
ORDER BY retired_at IS NOT NULL, created_at DESC, id;

-- name: list_revoked_tracking_keys :many
-- The revoked keys of a project.
SELECT id
FROM mailqueue.tracking_keys
WHERE project_id = %(project_id)s
  AND revoked_at IS NOT NULL;

-- name: find_tracking_project :maybe
-- The project of a key that was not revoked.
SELECT project_id
FROM mailqueue.tracking_keys
WHERE id = %(id)s
  AND revoked_at IS NULL;

-- name: add_tracking_key :value
-- Store the key by which a project creates tokens; false if it has one already, or the id exists.
WITH added AS (
    INSERT INTO mailqueue.tracking_keys (id, project_id, sealed)
    VALUES (%(id)s, %(project_id)s, %(sealed)s)
    ON CONFLICT DO NOTHING
    RETURNING id
)
SELECT EXISTS (SELECT FROM added);

-- name: retire_tracking_key :run
-- Stop creating tokens with a project's key; existing tokens remain valid.
UPDATE mailqueue.tracking_keys
SET retired_at = clock_timestamp()
WHERE project_id = %(project_id)s
  AND retired_at IS NULL;

-- name: revoke_tracking_key :value
-- Revoke a retired key of a project: its tokens open nothing from now on. The number of keys revoked.
WITH revoked AS (
    UPDATE mailqueue.tracking_keys
    SET revoked_at = clock_timestamp()
    WHERE project_id = %(project_id)s
      AND id = %(id)s
      AND revoked_at IS NULL
    RETURNING id
)
SELECT count(*) FROM revoked;

-- name: note_tracking_key :run
-- Write an audit row for a change of a project's keys.
INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
VALUES (%(project_id)s, %(by)s, %(action)s, %(subject)s, '{}');

-- name: read_tracking_projects :many
-- Postal address and link domain of these projects.
SELECT p.id, p.postal_address, CASE WHEN p.tracking_checked_at IS NOT NULL THEN p.tracking_domain END AS domain
FROM mailqueue.projects AS p
WHERE p.id = ANY (%(ids)s);

-- name: keep_tracked_links :run
-- Store link targets, before mail with these links is sent; one that an erasure changed is restored. In order:
-- concurrent transactions insert the same rows.
INSERT INTO mailqueue.tracked_links AS t (project_id, link, url)
SELECT l.project_id, l.link, l.url
FROM unnest(%(projects)s::uuid[], %(links)s::bytea[], %(urls)s::text[]) AS l (project_id, link, url)
ORDER BY l.project_id, l.link
ON CONFLICT (project_id, link) DO UPDATE SET used_on = excluded.used_on, url = excluded.url
WHERE t.used_on < excluded.used_on OR t.url <> excluded.url;

-- name: find_tracked_links :many
-- Targets of these links of a project.
SELECT project_id, link, url
FROM mailqueue.tracked_links
WHERE (project_id, link) IN (SELECT * FROM unnest(%(projects)s::uuid[], %(links)s::bytea[]));

-- name: look_at_clicks :many
-- When these mails were sent, and which of their links were clicked within an interval.
SELECT l.email_id, l.sent_at, l.links, clock_timestamp() AS now
FROM mailqueue.look_at_clicks(%(ids)s::uuid[], %(within)s::interval) AS l;

-- name: judge_clicks :run
-- Mark clicks in these mails within an interval as made by a program.
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
-- Store whether a tracking domain leads to this installation; returns since when it is confirmed.
SELECT mailqueue.note_tracking_domain(%(project_id)s, %(domain)s, %(leads_here)s);

-- name: list_confirmed_domains :many
-- Tracking domains of all projects whose DNS leads here.
SELECT d.domain FROM mailqueue.confirmed_tracking_domains() AS d(domain);

-- name: list_tracking_keys_shown :many
-- When the keys of a project's tokens were created, retired and revoked, newest first.
SELECT to_hex(id) AS id, created_at, retired_at, revoked_at
FROM mailqueue.tracking_keys
WHERE project_id = %(project_id)s
ORDER BY created_at DESC, id;

-- name: sweep_tracked_links :value
-- Delete a batch of link targets that no mail has used for long; returns their number.
SELECT mailqueue.sweep_tracked_links();
