-- Contacts.

-- name: find_contact :maybe
-- The contact of an id or an address.
SELECT c.id, c.email, c.first_name, c.last_name, c.time_zone, c.date_of_birth, c.language, c.attributes, c.consented_at,
       c.consent_source, c.consent_wording, c.created_at, c.updated_at
FROM mailqueue.contacts AS c
WHERE c.project_id = %(project_id)s::uuid AND c.is_test = coalesce(mailqueue.mode(), false)
  AND (c.id = %(id)s::uuid OR c.email_key = mailqueue.address_key(%(email)s::text))
  AND c.email_key <> 'erased@erased.invalid';

-- name: list_contacts :many
-- Contacts before one, newest first.
SELECT c.id, c.email, c.first_name, c.last_name, c.time_zone, c.date_of_birth, c.language, c.attributes, c.consented_at,
       c.consent_source, c.consent_wording, c.created_at, c.updated_at
FROM mailqueue.contacts AS c
WHERE c.project_id = %(project_id)s::uuid AND c.is_test = coalesce(mailqueue.mode(), false)
  AND (%(before)s::uuid IS NULL OR c.id < %(before)s::uuid)
  AND c.email_key <> 'erased@erased.invalid'
  AND (%(having)s::text IS NULL OR strpos(lower(c.email), lower(%(having)s::text)) > 0)
  AND (%(language)s::text IS NULL OR lower(c.language) = lower(%(language)s::text))
  AND (%(time_zone)s::text IS NULL OR c.time_zone = %(time_zone)s::text)
  AND (%(condition)s::text IS NULL
       OR mailqueue.is_event_selected(mailqueue.contact_document(c), %(condition)s::text))
ORDER BY c.id DESC
LIMIT %(limit)s::integer;

-- name: list_newer_contacts :many
-- Contacts after one, oldest first.
SELECT c.id, c.email, c.first_name, c.last_name, c.time_zone, c.date_of_birth, c.language, c.attributes, c.consented_at,
       c.consent_source, c.consent_wording, c.created_at, c.updated_at
FROM mailqueue.contacts AS c
WHERE c.project_id = %(project_id)s::uuid AND c.is_test = coalesce(mailqueue.mode(), false)
  AND c.id > %(newer_than)s::uuid
  AND c.email_key <> 'erased@erased.invalid'
ORDER BY c.id
LIMIT %(limit)s::integer;

-- name: list_contacts_by_id :many
-- Contacts with these ids, in their order.
SELECT c.id, c.email, c.first_name, c.last_name, c.time_zone, c.date_of_birth, c.language, c.attributes, c.consented_at,
       c.consent_source, c.consent_wording, c.created_at, c.updated_at
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS i(id, n)
JOIN mailqueue.contacts AS c ON c.id = i.id
WHERE c.project_id = %(project_id)s::uuid
ORDER BY i.n;

-- name: count_contacts :value
-- The number of contacts.
SELECT count(*)
FROM mailqueue.contacts AS c
WHERE c.project_id = %(project_id)s::uuid AND c.is_test = coalesce(mailqueue.mode(), false)
  AND c.email_key <> 'erased@erased.invalid';

-- name: check_contact_condition :maybe
-- A condition; raises 22023 for an invalid one.
SELECT mailqueue.check_contact_condition(%(condition)s::text);

-- name: list_memberships :many
-- Lists that a contact was added to, by name.
SELECT l.name AS list, m.is_pending, m.confirmed_at, m.created_at AS added_at
FROM mailqueue.contact_list_members AS m
JOIN mailqueue.contact_lists AS l ON l.id = m.list_id
WHERE m.contact_id = %(id)s::uuid AND m.project_id = %(project_id)s::uuid
ORDER BY l.name;

-- name: put_contact :maybe
-- Add or change a contact; none if there is none of the id, or it must be new and exists. Raises 22023 naming the
-- field.
SELECT c.id, c.email, c.first_name, c.last_name, c.time_zone, c.date_of_birth, c.language, c.attributes, c.consented_at,
       c.consent_source, c.consent_wording, c.created_at, c.updated_at
FROM mailqueue.put_contact(%(project_id)s::uuid, %(id)s::uuid, %(given)s::jsonb, %(must_be_new)s::boolean) AS c;

-- name: remove_contact :maybe
-- Remove a contact; the number of mails that were cancelled, null if there is none.
SELECT mailqueue.remove_contact(%(project_id)s::uuid, %(id)s::uuid);

-- name: import_contacts :many
-- Add or change contacts, a line each.
SELECT i.line, i.outcome, i.reason
FROM mailqueue.import_contacts(%(project_id)s::uuid, %(lines)s::jsonb, %(list)s::text) AS i
ORDER BY i.line;
