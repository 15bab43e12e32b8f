-- Imports of files into a project.

-- name: begin_import :value
-- Begin an import; its id.
SELECT mailqueue.begin_import(%(project_id)s::uuid, %(kind)s::text, %(options)s::jsonb, %(file_name)s::text,
                              %(encoding)s::text, %(lines)s::bigint, %(is_test)s::boolean,
                              %(max_unfinished)s::integer, %(by)s::text);

-- name: add_import_part :run
-- Add the next part of the file of an import, in the transaction that begins it.
SELECT mailqueue.add_import_part(%(project_id)s::uuid, %(id)s::uuid, %(bytes)s::bigint, %(data)s::bytea);

-- name: list_imports :many
-- Imports of a project, newest first, without the lines that were refused.
SELECT i.id, p.name AS project, i.kind, i.options, i.file_name, i.encoding, i.is_test,
       mailqueue.import_state(i) AS state, i.bytes, i.lines, i.lines_read, i.taken, i.refused, '[]'::jsonb AS refusals,
       i.requested_by, i.last_error AS error, i.created_at, i.finished_at
FROM mailqueue.imports AS i
JOIN mailqueue.projects AS p ON p.id = i.project_id
WHERE i.project_id = %(project_id)s::uuid AND (%(kind)s::text IS NULL OR i.kind = %(kind)s::text)
  AND (%(before)s::uuid IS NULL OR i.id < %(before)s::uuid)
  AND (mailqueue.mode() IS NULL OR i.is_test = mailqueue.mode())
ORDER BY i.id DESC
LIMIT %(limit)s::integer;

-- name: find_import :maybe
-- One import of a project.
SELECT i.id, p.name AS project, i.kind, i.options, i.file_name, i.encoding, i.is_test,
       mailqueue.import_state(i) AS state, i.bytes, i.lines, i.lines_read, i.taken, i.refused, i.refusals,
       i.requested_by, i.last_error AS error, i.created_at, i.finished_at
FROM mailqueue.imports AS i
JOIN mailqueue.projects AS p ON p.id = i.project_id
WHERE i.id = %(id)s::uuid AND i.project_id = %(project_id)s::uuid
  AND (%(kind)s::text IS NULL OR i.kind = %(kind)s::text)
  AND (mailqueue.mode() IS NULL OR i.is_test = mailqueue.mode());

-- name: cancel_import :maybe
-- Take no more lines of an import; its state before, if there is one.
SELECT c.state
FROM mailqueue.cancel_import(%(project_id)s::uuid, %(kind)s::text, %(id)s::uuid, %(by)s::text) AS c (state)
WHERE c.state IS NOT NULL;

-- name: open_import :one
-- What its worker needs to know of an import.
SELECT o.state, o.kind, o.options, o.encoding, o.lines_read, o.parts
FROM mailqueue.open_import(%(id)s::uuid, %(claim_no)s::bigint) AS o;

-- name: read_import_part :maybe
-- A part of the file of an import, compressed.
SELECT mailqueue.read_import_part(%(id)s::uuid, %(claim_no)s::bigint, %(number)s::integer) AS data;

-- name: take_import_lines :value
-- Take the next lines of an import and count them; the state of the import.
SELECT mailqueue.take_import_lines(%(id)s::uuid, %(claim_no)s::bigint, %(to)s::bigint, %(lines)s::jsonb,
                                   %(refused)s::jsonb);

-- name: end_import :run
-- Delete the file of an import and write its end to the audit log.
SELECT mailqueue.end_import(%(id)s::uuid, %(state)s::text, %(error)s::text);
