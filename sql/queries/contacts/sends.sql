-- Mail to lists of contacts.

-- name: expand_list :value
-- Let workers send a content to the contacts of a list; the id of the send.
SELECT mailqueue.expand_list(%(project_id)s::uuid, %(batch_id)s::uuid, %(list)s::text, %(content)s::jsonb,
                             %(options)s::jsonb, %(variables)s::jsonb, %(own)s::jsonb, %(local_at)s::timestamp,
                             %(time_zone)s::text, %(excluded)s::uuid[], %(by)s::text);

-- name: is_list_of :value
-- Whether the recipient of an email is the name of a list.
SELECT mailqueue.is_list_of(%(project_id)s::uuid, %(recipient)s::text, %(options)s::jsonb);

-- name: accept_list_email :one
-- Let workers send an email to the contacts of the list that is its recipient.
SELECT e.batch_id, e.is_repeated
FROM mailqueue.accept_list_email(%(project_id)s::uuid, %(message)s::jsonb, %(by)s::text) AS e;

-- name: find_batch_of_send :value
-- The batch of a send to a list.
SELECT s.batch_id FROM mailqueue.list_sends AS s WHERE s.id = %(id)s::uuid;

-- name: count_list :one
-- Count the contacts that mail to a list would go to.
SELECT c.contacts, c.pending, c.checked, c.suppressed
FROM mailqueue.count_list(%(project_id)s::uuid, %(list)s::text, %(category)s::text, %(checked)s::integer) AS c;

-- name: find_contact_ids :value
-- Ids of the contacts with these addresses.
SELECT ARRAY(SELECT c.id FROM mailqueue.contacts AS c
             WHERE c.project_id = %(project_id)s::uuid AND c.is_test = coalesce(mailqueue.mode(), false)
               AND c.email_key = ANY (ARRAY(SELECT mailqueue.address_key(a) FROM unnest(%(addresses)s::text[]) AS t(a)))
               AND c.email_key <> 'erased@erased.invalid');

-- name: continue_list_send :value
-- Make the next mail of a send; its state afterwards.
SELECT mailqueue.continue_list_send(%(id)s::uuid, %(claim_no)s::bigint, %(limit)s::integer);
