-- The audit log, and its seals.

-- name: list_audit :many
-- Audit rows of one project, or of all and the installation, newest first, a page before the given number.
SELECT a.id, a.occurred_at, a.project, a.actor, a.action, a.subject, a.detail
FROM mailqueue.audit_page(%(project_id)s::uuid, %(action)s::text, %(before)s::bigint, %(most)s::integer,
                          %(actor)s::text, %(subject)s::text, %(since)s::timestamptz, %(until)s::timestamptz,
                          %(looked)s::integer) AS a;

-- name: audit_looked_until :maybe
-- Id of the last row that list_audit looks at; NULL where it looks at all.
SELECT mailqueue.audit_looked_until(%(project_id)s::uuid, %(before)s::bigint, %(since)s::timestamptz,
                                    %(until)s::timestamptz, %(looked)s::integer);

-- name: find_audit_event :maybe
-- An audit row of a project, or of any project or the installation.
SELECT a.id, a.occurred_at, a.project, a.actor, a.action, a.subject, a.detail
FROM mailqueue.audit_event(%(project_id)s::uuid, %(id)s::bigint) AS a;

-- name: find_sealed_row :maybe
-- A row of the audit log with its newest seal, as list_seals_and_rows returns them.
SELECT json_build_object(
           'seal', CASE WHEN s.position IS NOT NULL THEN json_build_object(
               'position', s.position, 'kind', s.kind, 'event_id', s.event_id, 'settled_id', s.settled_id,
               'sealed_at', coalesce(to_char(s.sealed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), 'never'),
               'key_id', s.key_id, 'reason', s.reason, 'row_code', encode(s.row_code, 'hex'),
               'skeleton', encode(s.skeleton, 'hex'), 'addresses', encode(s.addresses, 'hex'),
               'code', encode(s.code, 'hex')) END,
           'row', json_build_object('id', e.id, 'fields', mailqueue.audit_fields(e)),
           'is_changing', EXISTS (SELECT FROM mailqueue.audit_changes AS c WHERE c.event_id = e.id))::text
FROM mailqueue.audit_events AS e
LEFT JOIN LATERAL (
    SELECT t.*
    FROM mailqueue.audit_seals AS t
    WHERE t.event_id = e.id
    ORDER BY t.position DESC
    LIMIT 1
) AS s ON true
WHERE e.id = %(id)s;

-- name: find_last_seal :maybe
-- The newest seal.
SELECT position, kind, event_id, settled_id,
       coalesce(to_char(sealed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), 'never') AS sealed_at, key_id,
       reason, row_code, skeleton, addresses, code
FROM mailqueue.audit_seals
ORDER BY position DESC
LIMIT 1;

-- name: find_newest_audit_row :maybe
-- Id of the newest committed row of the audit log.
SELECT id
FROM mailqueue.audit_events
ORDER BY id DESC
LIMIT 1;

-- name: has_audit_writers :value
-- Whether another transaction has added rows to the audit log that may not be committed yet. Its ids were taken after
-- it locked the table.
SELECT EXISTS (
    SELECT
    FROM pg_catalog.pg_locks AS l
    WHERE l.locktype = 'relation'
      AND l.relation = 'mailqueue.audit_events'::regclass
      AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
      AND l.mode IN ('RowExclusiveLock', 'ShareUpdateExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock',
                     'AccessExclusiveLock')
      AND l.granted
      AND l.pid IS DISTINCT FROM pg_backend_pid()
);

-- name: list_rows_to_seal :many
-- Some rows of the audit log without a seal, in the order of ids.
SELECT e.id, mailqueue.audit_fields(e) AS fields
FROM mailqueue.audit_events AS e
WHERE e.id > %(after)s
  AND e.id <= %(until)s
  AND NOT EXISTS (SELECT FROM mailqueue.audit_seals AS s WHERE s.event_id = e.id)
ORDER BY e.id
LIMIT %(limit)s;

-- name: list_audit_changes :many
-- Some permitted changes of sealed rows, oldest first, with the rows and their newest seals, of one snapshot.
SELECT c.id AS change_id, c.reason, e.id, mailqueue.audit_fields(e) AS fields, s.position AS seal_position
FROM mailqueue.audit_changes AS c
JOIN mailqueue.audit_events AS e ON e.id = c.event_id
CROSS JOIN LATERAL (
    SELECT t.position
    FROM mailqueue.audit_seals AS t
    WHERE t.event_id = c.event_id
    ORDER BY t.position DESC
    LIMIT 1
) AS s
WHERE c.id > %(after)s
ORDER BY c.id
LIMIT %(limit)s;

-- name: find_seal :one
-- A seal by its position.
SELECT position, kind, event_id, settled_id,
       coalesce(to_char(sealed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), 'never') AS sealed_at, key_id,
       reason, row_code, skeleton, addresses, code
FROM mailqueue.audit_seals
WHERE position = %(position)s;

-- name: add_audit_seals :run
-- Insert seals.
INSERT INTO mailqueue.audit_seals (position, kind, event_id, settled_id, sealed_at, key_id, reason, row_code, skeleton,
                                   addresses, code)
SELECT r.position, r.kind, r.event_id, r.settled_id, r.sealed_at::timestamp AT TIME ZONE 'UTC', r.key_id, r.reason,
       decode(r.row_code, 'hex'), decode(r.skeleton, 'hex'), decode(r.addresses, 'hex'), decode(r.code, 'hex')
FROM jsonb_to_recordset(%(seals)s::jsonb)
    AS r (position bigint, kind text, event_id bigint, settled_id bigint, sealed_at text, key_id uuid, reason text,
          row_code text, skeleton text, addresses text, code text);

-- name: forget_audit_changes :run
-- Delete changes that are sealed.
DELETE FROM mailqueue.audit_changes
WHERE id = ANY (%(ids)s::bigint[]);

-- name: find_audit_cut :maybe
-- The position up to which seals are of rows past their retention, some seals at a time; missing rows are not.
SELECT coalesce(min(s.position) FILTER (WHERE s.is_kept), max(s.position) + 1) - 1 AS position
FROM (
    SELECT t.position,
           e.id IS NULL
           OR coalesce(e.occurred_at >= clock_timestamp() - make_interval(days => r.keep_days), true) AS is_kept
    FROM (
        SELECT a.position, a.event_id
        FROM mailqueue.audit_seals AS a
        WHERE a.kind <> 'cut'
        ORDER BY a.position
        LIMIT %(limit)s
    ) AS t
    JOIN mailqueue.retention_rules AS r ON r.project_id IS NULL AND r.kind = 'audit_events'
    LEFT JOIN mailqueue.audit_events AS e ON e.id = t.event_id
) AS s
HAVING coalesce(min(s.position) FILTER (WHERE s.is_kept), max(s.position) + 1) > min(s.position);

-- name: cut_audit :value
-- Delete rows past their retention with their seals, up to a position; returns the number of rows.
SELECT mailqueue.cut_audit(%(position)s, %(settled_id)s, %(sealed_at)s::timestamp AT TIME ZONE 'UTC', %(key_id)s,
                           %(row_code)s, %(code)s);

-- name: record_audit_cut :run
-- Write an audit row for rows that retention deleted.
INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
VALUES (%(by)s, 'audit.deleted', 'rows past their retention',
        jsonb_build_object('rows', %(rows)s::bigint, 'seal', %(seal)s::text));

-- name: utc_now :value
-- Time of the database in UTC.
SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US');

-- name: may_read_audit_seals :value
-- Whether this login may read the audit log, its seals and their keys.
SELECT has_table_privilege('mailqueue.audit_events', 'SELECT')
   AND has_table_privilege('mailqueue.audit_seals', 'SELECT')
   AND has_table_privilege('mailqueue.audit_changes', 'SELECT')
   AND has_table_privilege('mailqueue.audit_keys', 'SELECT')
   AND has_function_privilege('mailqueue.audit_fields(mailqueue.audit_events)', 'EXECUTE');

-- name: may_verify_audit :value
-- Whether this login may read what the audit log is verified by.
SELECT has_function_privilege('mailqueue.audit_seals_and_rows(bigint)', 'EXECUTE')
   AND has_function_privilege('mailqueue.audit_keys_wrapped()', 'EXECUTE');

-- name: list_seals_and_rows :many
-- Seals in their order with their rows, up to a position, or (NULL) all seals and then the rows without a seal; as
-- JSON, of one snapshot, without being collected first.
SELECT mailqueue.audit_seals_and_rows(%(until)s::bigint);
