-- The manifest of the archive: a row for each file, and its next step.

-- name: start_archive :one
-- Record that a file of a project's month is about to be written.
INSERT INTO mailqueue.archives AS a (project_id, kind, month, part, store, path, written_on)
SELECT %(project_id)s, %(kind)s, %(month)s, n.part, %(store)s,
       format('warm/%%s/%%s/%%s.%%s.jsonl.gz', %(kind)s::text, to_char(%(month)s::date, 'YYYY-MM'),
              %(project_id)s::text, to_char(n.part, 'FM0000')), %(host)s
FROM (SELECT coalesce(max(o.part), 0) + 1 AS part FROM mailqueue.archives AS o
      WHERE o.project_id = %(project_id)s AND o.kind = %(kind)s AND o.month = %(month)s) AS n
RETURNING a.id, a.project_id, a.kind, a.month, a.part, a.state, a.tier, a.store, a.path, a.revision, a.records, a.bytes,
          a.sha256, a.removed, a.gone_elsewhere, a.keep_until, a.written_on, a.leftover_store, a.leftover_path;

-- name: forget_empty_archive :run
-- Delete the record of a file without rows.
DELETE FROM mailqueue.archives AS a WHERE a.id = %(id)s AND a.state = 'writing';

-- name: find_archive :maybe
-- One file of the archive.
SELECT a.id, a.project_id, a.kind, a.month, a.part, a.state, a.tier, a.store, a.path, a.revision, a.records, a.bytes,
       a.sha256, a.removed, a.gone_elsewhere, a.keep_until, a.written_on, a.leftover_store, a.leftover_path
FROM mailqueue.archives AS a
WHERE a.id = %(id)s;

-- name: list_archives :many
-- Files in these states, of a project, a month and a kind or of all, oldest first.
SELECT a.id, a.project_id, a.kind, a.month, a.part, a.state, a.tier, a.store, a.path, a.revision, a.records, a.bytes,
       a.sha256, a.removed, a.gone_elsewhere, a.keep_until, a.written_on, a.leftover_store, a.leftover_path
FROM mailqueue.archives AS a
LEFT JOIN mailqueue.projects AS p ON p.id = a.project_id
WHERE a.state = ANY (%(states)s)
  AND (%(project)s::text IS NULL OR p.name = %(project)s)
  AND (%(month)s::date IS NULL OR a.month = %(month)s)
  AND (%(kind)s::text IS NULL OR a.kind = %(kind)s)
ORDER BY a.month, a.kind, a.project_id, a.part;

-- name: list_archive_files :many
-- Archive files as shown to people, of a project, a month and a kind or of all, oldest first.
SELECT f.id, f.project, f.kind, f.month, f.part, f.state, f.tier, f.records, f.bytes, f.first_at, f.last_at, f.store,
       f.path, f.sha256, f.written_at, f.verified_at, f.archived_at, f.keep_until, f.purged_at
FROM mailqueue.archive_files AS f
WHERE (%(project)s::text IS NULL OR f.project = %(project)s)
  AND (%(month)s::date IS NULL OR f.month = %(month)s)
  AND (%(kind)s::text IS NULL OR f.kind = %(kind)s)
  AND (%(with_purged)s OR f.state <> 'purged')
ORDER BY f.month, f.kind, f.project, f.part;

-- name: list_unfinished_archives :many
-- Files whose records are leaving their table, and restored ones whose time is over.
SELECT a.id, a.project_id, a.kind, a.month, a.part, a.state, a.tier, a.store, a.path, a.revision, a.records, a.bytes,
       a.sha256, a.removed, a.gone_elsewhere, a.keep_until, a.written_on, a.leftover_store, a.leftover_path
FROM mailqueue.archives AS a
WHERE a.state IN ('writing', 'written', 'verified')
   OR (a.state = 'restored' AND a.keep_until <= clock_timestamp())
ORDER BY a.id;

-- name: is_held_in_table :value
-- Whether a file of that project, kind and month is leaving its table or restored: no other file may be started.
SELECT EXISTS (SELECT FROM mailqueue.archives AS a
               WHERE a.project_id = %(project_id)s AND a.kind = %(kind)s AND a.month = %(month)s
                 AND a.state IN ('writing', 'written', 'verified', 'restored'));

-- name: record_written :run
-- Record that the file is complete in its store.
UPDATE mailqueue.archives AS a
SET state = 'written', records = %(records)s, bytes = %(bytes)s, sha256 = %(sha256)s,
    first_at = %(first_at)s::timestamptz, last_at = %(last_at)s::timestamptz, written_at = clock_timestamp(),
    written_on = %(host)s
WHERE a.id = %(id)s AND a.state = 'writing';

-- name: record_unwritten :run
-- Record that the file differs from what was written: it is written again from the table, which still has everything.
UPDATE mailqueue.archives AS a
SET state = 'writing', records = NULL, bytes = NULL, sha256 = NULL, first_at = NULL, last_at = NULL
WHERE a.id = %(id)s AND a.state = 'written';

-- name: record_verified :run
-- Record that the whole file was read back and verified; its records may leave the table.
UPDATE mailqueue.archives AS a
SET state = CASE a.state WHEN 'written' THEN 'verified' ELSE a.state END, verified_at = clock_timestamp()
WHERE a.id = %(id)s;

-- name: record_removed :run
-- Record that that many records, from the first, have left the table, some of them by another way.
UPDATE mailqueue.archives AS a
SET removed = %(removed)s, gone_elsewhere = a.gone_elsewhere || %(gone_elsewhere)s::bigint[]
WHERE a.id = %(id)s AND a.state = 'verified' AND a.removed < %(removed)s;

-- name: record_archived :run
-- Record that the table has none of the file's records any more.
UPDATE mailqueue.archives AS a
SET state = 'archived', archived_at = clock_timestamp()
WHERE a.id = %(id)s AND a.state = 'verified' AND a.removed = a.records AND a.gone_elsewhere = '{}';

-- name: record_restored :run
-- Record that all records of the file are in the table again, for that long from now.
UPDATE mailqueue.archives AS a
SET state = 'restored', removed = 0, archived_at = NULL, keep_until = clock_timestamp() + %(keep)s::interval
WHERE a.id = %(id)s AND a.state IN ('archived', 'restored');

-- name: end_restored :run
-- Record that the time of restored records is over: they may leave the table again.
UPDATE mailqueue.archives AS a
SET state = 'verified', keep_until = NULL
WHERE a.id = %(id)s AND a.state = 'restored';

-- name: replace_archive_file :run
-- Replace this file by another one; it is deleted next.
UPDATE mailqueue.archives AS a
SET leftover_store = a.store, leftover_path = a.path, store = %(store)s, path = %(path)s, tier = %(tier)s,
    revision = %(revision)s, records = %(records)s, bytes = %(bytes)s, sha256 = %(sha256)s, removed = %(removed)s,
    gone_elsewhere = %(gone_elsewhere)s::bigint[], first_at = %(first_at)s::timestamptz,
    last_at = %(last_at)s::timestamptz, verified_at = clock_timestamp()
WHERE a.id = %(id)s AND a.revision = %(old_revision)s AND a.leftover_path IS NULL;

-- name: list_leftovers :many
-- Files that were replaced or purged and are still to be deleted.
SELECT a.id, a.leftover_store AS store, a.leftover_path AS path
FROM mailqueue.archives AS a
WHERE a.leftover_path IS NOT NULL
ORDER BY a.id;

-- name: forget_leftover :run
-- Record that a replaced file was deleted.
UPDATE mailqueue.archives AS a
SET leftover_store = NULL, leftover_path = NULL
WHERE a.id = %(id)s AND a.leftover_path = %(path)s;

-- name: list_cooling_archives :many
-- Files old enough for cold storage.
SELECT a.id, a.project_id, a.kind, a.month, a.part, a.state, a.tier, a.store, a.path, a.revision, a.records, a.bytes,
       a.sha256, a.removed, a.gone_elsewhere, a.keep_until, a.written_on, a.leftover_store, a.leftover_path
FROM mailqueue.archives AS a
JOIN mailqueue.retention AS r ON r.project_id = a.project_id AND r.kind = a.kind
WHERE a.state = 'archived' AND a.tier = 'warm' AND a.leftover_path IS NULL
  AND (a.month + interval '1 month') AT TIME ZONE 'UTC' <= now() - make_interval(days => r.warm_days)
ORDER BY a.id;

-- name: purge_archives :many
-- Delete rows of files whose retention is over; the files themselves are deleted next.
UPDATE mailqueue.archives AS a
SET state = 'purged', purged_at = clock_timestamp(), leftover_store = a.store, leftover_path = a.path
FROM mailqueue.retention AS r
WHERE r.project_id = a.project_id AND r.kind = a.kind
  AND a.state = 'archived' AND a.leftover_path IS NULL
  AND (a.month + interval '1 month') AT TIME ZONE 'UTC' <= now() - make_interval(days => r.keep_days)
RETURNING a.id;

-- name: list_retention :many
-- Retention of all kinds of records of each project.
SELECT r.project, r.kind, r.hot_days, r.warm_days, r.keep_days, r.is_own
FROM mailqueue.retention AS r
WHERE %(project)s::text IS NULL OR r.project = %(project)s
UNION ALL
SELECT 'all' AS project, d.kind, d.hot_days, d.warm_days, d.keep_days, true
FROM mailqueue.retention_rules AS d
WHERE d.project_id IS NULL
ORDER BY project, kind;

-- name: change_retention :maybe
-- Set the days of one kind, for one project or for all without a rule of their own; returns the previous rule.
SELECT c.project, c.kind, c.hot_days, c.warm_days, c.keep_days, c.is_own
FROM mailqueue.change_retention(%(project)s, %(kind)s, %(hot_days)s, %(warm_days)s, %(keep_days)s, %(by)s) AS c;

-- name: reset_retention :value
-- Remove a project's own rule; false if it had none.
SELECT mailqueue.reset_retention(%(project)s, %(kind)s, %(by)s);
