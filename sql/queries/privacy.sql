-- What is stored about a person, and erasing it.

-- name: begin_erasure :value
-- Record that a person is to be erased, or find the erasure in progress.
SELECT mailqueue.begin_erasure(%(project_id)s, %(spellings)s::text[], %(suppress)s, %(by)s);

-- name: find_erasure :maybe
-- Progress of an erasure.
SELECT e.id, e.project_id, encode(e.address_hash, 'hex') AS address_hash, coalesce(e.spellings, '{}') AS spellings,
       e.stage, e.place, e.found, e.requested_at, e.finished_at
FROM mailqueue.erasures AS e
WHERE e.id = %(id)s;

-- name: find_last_erasure :maybe
-- The last erasure of a person in a project.
SELECT e.id, e.project_id, encode(e.address_hash, 'hex') AS address_hash, coalesce(e.spellings, '{}') AS spellings,
       e.stage, e.place, e.found, e.requested_at, e.finished_at
FROM mailqueue.erasures AS e
WHERE e.project_id = %(project_id)s AND e.address_hash = decode(%(address_hash)s, 'hex')
ORDER BY e.id DESC
LIMIT 1;

-- name: list_unfinished_erasures :many
-- Erasures that are not complete.
SELECT e.id FROM mailqueue.erasures AS e WHERE e.stage <> 'done' ORDER BY e.id;

-- name: lease_erasure :value
-- Take or renew the lease of an erasure; false while another process holds it.
SELECT mailqueue.lease_erasure(%(id)s, %(token)s, %(holder)s, %(seconds)s);

-- name: release_erasure :run
-- Release the lease of an erasure.
SELECT mailqueue.release_erasure(%(id)s, %(token)s);

-- name: erase_mail :one
-- Anonymise some mails; the number changed, and the number that workers hold.
SELECT m.changed, m.waiting FROM mailqueue.erase_mail(%(id)s, %(most)s) AS m;

-- name: erase_idempotency_keys :run
-- Delete idempotency keys of archived mail that contain the address, and the fingerprints of others.
SELECT mailqueue.erase_keys(%(id)s, %(keys)s::text[]);

-- name: list_privacy_tables :many
-- Tables that may name a person.
SELECT t.name, t.parent, t.action, t.pages, t.step FROM mailqueue.privacy_tables() AS t;

-- name: erase_mentions :one
-- Remove mentions of a person from some pages of tables; the number of rows changed, and those of the contents that
-- other persons received as well.
SELECT m.changed, m.shared
FROM mailqueue.erase_mentions_together(%(id)s, %(tables)s::text[], %(pattern)s, %(from_pages)s::bigint[],
                                       %(until_pages)s::bigint[], %(contents)s::bigint[]) AS m;

-- name: read_mentions :many
-- Rows of some pages of a table that name a person, as JSON.
SELECT m.doc::text
FROM mailqueue.mentions(%(project_id)s, %(table)s, %(pattern)s, %(from_page)s, %(until_page)s) AS m;

-- name: read_all_mentions :many
-- Rows of some pages of a table that name a person, as JSON, with their projects.
SELECT m.project_id, m.doc::text
FROM mailqueue.mentions(NULL, %(table)s, %(pattern)s, %(from_page)s, %(until_page)s) AS m;

-- name: find_projects_naming :many
-- Projects of rows of some pages of a table that name a person; the nil id for those of none.
SELECT DISTINCT coalesce(m.project_id, '00000000-0000-0000-0000-000000000000')
FROM mailqueue.mentions(NULL, %(table)s, %(pattern)s, %(from_page)s, %(until_page)s) AS m;

-- name: count_mentions :value
-- Number of rows of some pages of a table that name a person.
SELECT count(*)
FROM mailqueue.mentions(%(project_id)s, %(table)s, %(pattern)s, %(from_page)s, %(until_page)s) AS m;

-- name: erase_contents :many
-- Delete content that only one person received; locations of files without other users.
SELECT l FROM mailqueue.erase_contents(%(id)s, %(contents)s::bigint[]) AS l;

-- name: erase_attachments :many
-- Delete files that no mail uses; their locations outside the database.
SELECT l FROM mailqueue.erase_attachments(%(id)s, %(attachments)s::uuid[]) AS l;

-- name: move_erasure :run
-- Record the progress of an erasure.
SELECT mailqueue.move_erasure(%(id)s, %(stage)s, %(place)s::jsonb, %(table)s, %(rows)s, %(by)s);

-- name: find_address_of_hash :maybe
-- The address of a hash among all addresses of a project.
SELECT mailqueue.find_address(%(project_id)s, decode(%(address_hash)s, 'hex'));

-- name: has_archives :value
-- Whether records of a project lie in files of the archive.
SELECT mailqueue.has_archives(%(project_id)s);

-- name: read_mail_of_person :many
-- Mails to a person after one, as JSON.
SELECT m::text FROM mailqueue.mail_of_person(%(project_id)s, %(spellings)s::text[], %(after)s, %(most)s) AS m;

-- name: list_known_of_person :many
-- Current and past suppressions of a hash whose address is erased.
SELECT k.name, k.doc::text FROM mailqueue.known_of_person(%(project_id)s, %(hashes)s::bytea[]) AS k;

-- name: list_projects_of_all :many
-- Projects that may have records of a person, deleted ones too.
SELECT p.id, p.name FROM mailqueue.projects AS p
WHERE %(project)s::text IS NULL OR p.name = %(project)s
ORDER BY p.name;

-- name: note_export :run
-- Write an audit row: the actor of the transaction exported what is stored about a person.
INSERT INTO mailqueue.audit_events (project_id, action, subject)
VALUES (%(project_id)s, 'person.exported',
        'person ' || encode(mailqueue.address_hash(%(project_id)s, %(address)s::text), 'hex'));
