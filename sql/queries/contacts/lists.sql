-- Lists of contacts.

-- name: list_contact_lists :many
-- Lists of a project by name, or the one of that name or id.
SELECT l.id, l.name, l.description, l.condition, l.opt_in, l.confirm_template, l.created_by, l.created_at, l.updated_at
FROM mailqueue.contact_lists AS l
WHERE l.project_id = %(project_id)s::uuid AND l.is_test = coalesce(mailqueue.mode(), false)
  AND (%(name)s::text IS NULL OR l.name = %(name)s::text)
  AND (%(id)s::uuid IS NULL OR l.id = %(id)s::uuid)
ORDER BY l.name;

-- name: put_contact_list :maybe
-- Add or change a list; none if it must be new and exists, or the reverse. Raises 22023 naming the field.
SELECT l.id, l.name, l.description, l.condition, l.opt_in, l.confirm_template, l.created_by, l.created_at, l.updated_at
FROM mailqueue.put_contact_list(%(project_id)s::uuid, %(name)s::text, %(given)s::jsonb, %(must_be_new)s::boolean,
                                %(by)s::text) AS l;

-- name: remove_contact_list :value
-- Remove a list; false if there is none.
SELECT mailqueue.remove_contact_list(%(project_id)s::uuid, %(name)s::text, %(by)s::text);

-- name: add_list_members :maybe
-- Add contacts to a list; the number that were not in it, null if there is no such list.
SELECT mailqueue.add_list_members(%(project_id)s::uuid, %(name)s::text, %(ids)s::uuid[]);

-- name: remove_list_members :maybe
-- Remove contacts from a list; the number that were in it, null if there is no such list.
SELECT mailqueue.remove_list_members(%(project_id)s::uuid, %(name)s::text, %(ids)s::uuid[]);

-- name: list_list_members :many
-- Contacts of a list after one, in the order of ids.
SELECT c.id, c.email, c.first_name, c.last_name, c.time_zone, c.date_of_birth, c.language, c.attributes, c.consented_at,
       c.consent_source, c.consent_wording, c.created_at, c.updated_at
FROM mailqueue.list_members(%(project_id)s::uuid, %(list_id)s::uuid, %(after)s::uuid, %(limit)s::integer) AS c;

-- name: list_pending_members :many
-- Contacts after one that were added to a list and have not confirmed, in the order of ids.
SELECT c.id, c.email, c.first_name, c.last_name, c.time_zone, c.date_of_birth, c.language, c.attributes, c.consented_at,
       c.consent_source, c.consent_wording, c.created_at, c.updated_at
FROM mailqueue.contact_list_members AS m JOIN mailqueue.contacts AS c ON c.id = m.contact_id
WHERE m.list_id = %(list_id)s::uuid AND m.project_id = %(project_id)s::uuid AND m.is_pending
  AND m.contact_id > coalesce(%(after)s::uuid, '00000000-0000-0000-0000-000000000000')
  AND c.email_key <> 'erased@erased.invalid'
ORDER BY m.contact_id
LIMIT %(limit)s::integer;

-- name: size_of_list :value
-- The number of contacts of a list, counted up to a limit.
SELECT count(*)
FROM mailqueue.list_members(%(project_id)s::uuid, %(list_id)s::uuid, NULL, %(most)s::integer);

-- name: sizes_of_lists :many
-- The number of contacts of each list, in order, counted up to a limit.
SELECT (SELECT count(*)
        FROM mailqueue.list_members(%(project_id)s::uuid, i.id, NULL, %(most)s::integer)) AS size
FROM unnest(%(list_ids)s::uuid[]) WITH ORDINALITY AS i(id, n)
ORDER BY i.n;

-- name: list_ids_of_contacts :many
-- Ids of the lists that contacts were added to, by contact.
SELECT m.contact_id, array_agg(m.list_id ORDER BY m.list_id) AS list_ids
FROM mailqueue.contact_list_members AS m
WHERE m.project_id = %(project_id)s::uuid AND m.contact_id = ANY (%(ids)s::uuid[])
GROUP BY m.contact_id;

-- name: is_in_list :value
-- Whether a contact is in a list: it was added, even if it has not confirmed that, or it satisfies the condition.
SELECT EXISTS (SELECT FROM mailqueue.contact_list_members AS m
               WHERE m.list_id = %(list_id)s::uuid AND m.contact_id = %(id)s::uuid
                 AND m.project_id = %(project_id)s::uuid)
    OR EXISTS (SELECT FROM mailqueue.contact_lists AS l JOIN mailqueue.contacts AS c ON c.project_id = l.project_id
               WHERE l.id = %(list_id)s::uuid AND l.project_id = %(project_id)s::uuid AND l.condition IS NOT NULL
                 AND c.id = %(id)s::uuid AND c.is_test = l.is_test
                 AND (l.opt_in <> 'recorded' OR c.consented_at IS NOT NULL)
                 AND mailqueue.is_contact_selected(mailqueue.contact_document(c), l.condition));

-- name: try_list_condition :one
-- How many contacts a condition selects, and the ids of some.
SELECT t.contacts, t.examples
FROM mailqueue.try_list_condition(%(project_id)s::uuid, %(condition)s::text, %(limit)s::integer) AS t;

-- name: find_contacts_named :many
-- The id of the contact of each address or id, in order; null: there is none.
SELECT (SELECT c.id FROM mailqueue.contacts AS c
        WHERE c.project_id = %(project_id)s::uuid AND c.is_test = coalesce(mailqueue.mode(), false)
          AND c.email_key <> 'erased@erased.invalid'
          AND CASE WHEN strpos(w.word, '@') > 0 THEN c.email_key = mailqueue.address_key(w.word)
                   ELSE c.id = CASE WHEN strpos(w.word, '@') = 0 THEN w.word::uuid END END) AS id
FROM unnest(%(words)s::text[]) WITH ORDINALITY AS w(word, n)
ORDER BY w.n;

-- name: find_asked_membership :one
-- The list that a mail asked to confirm, and its state; nulls: there is none.
SELECT a.list, a.state FROM mailqueue.asked_membership(%(project_id)s::uuid, %(email_id)s::uuid) AS a;

-- name: confirm_membership :value
-- Confirm what a mail asked for; false where there is nothing to confirm.
SELECT mailqueue.confirm_membership(%(project_id)s::uuid, %(email_id)s::uuid, %(wording)s::text, %(agent)s::text,
                                    %(network)s::inet);
