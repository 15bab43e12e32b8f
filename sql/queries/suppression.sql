-- Addresses that projects do not write to.

-- name: find_suppression_project :maybe
-- The id of the project of that name.
SELECT p.id FROM mailqueue.projects AS p WHERE p.name = %(project)s;

-- name: copy_suppression_lines :run
-- Takes lines of a list in, by COPY; take_suppression_lines() makes suppressions of them in the same transaction.
COPY mailqueue.suppression_lines (import_id, line, address, category, reason, detail, expires_at) FROM STDIN;

-- name: take_suppression_lines :many
-- How many of the lines copied under an id were added, renewed and there already.
SELECT t.outcome, count(*)::integer AS lines
FROM mailqueue.take_suppression_lines(%(project_id)s, %(import_id)s, %(by)s) AS t
GROUP BY t.outcome;

-- name: take_suppressions :many
-- The same, line by line.
SELECT t.line, t.outcome
FROM mailqueue.take_suppression_lines(%(project_id)s, %(import_id)s, %(by)s) AS t
ORDER BY t.line;

-- name: list_suppressions :many
-- Those in force behind one, the newest first.
SELECT s.id, s.address, encode(s.address_hash, 'hex') AS address_hash, s.category, s.reason, s.detail, s.created_at,
       nullif(s.expires_at, 'infinity') AS expires_at
FROM mailqueue.list_suppressions(%(project_id)s, %(before)s, %(limit)s, %(reason)s, %(category)s, %(having)s) AS s
ORDER BY s.id DESC;

-- name: find_suppressions :many
-- Those in force of an address, however it is spelled; of all mail first.
SELECT s.id, s.address, encode(s.address_hash, 'hex') AS address_hash, s.category, s.reason, s.detail, s.created_at,
       nullif(s.expires_at, 'infinity') AS expires_at
FROM mailqueue.suppressions AS s
WHERE s.project_id = %(project_id)s
  AND s.address = ANY (ARRAY(SELECT lower(a) FROM unnest(%(addresses)s::text[]) AS t(a)))
  AND s.expires_at > now()
ORDER BY s.category, s.id;

-- name: find_suppressed_address :maybe
-- The address of that hash, if it is suppressed.
SELECT s.address
FROM mailqueue.suppressions AS s
WHERE s.project_id = %(project_id)s
  AND s.address_hash = decode(%(address_hash)s, 'hex')
  AND s.expires_at > now()
LIMIT 1;

-- name: hash_addresses :many
-- The hashes by which a project knows addresses, suppressed or not, in their order; '' once its key is gone.
SELECT coalesce(encode(mailqueue.address_hash(%(project_id)s, a.address), 'hex'), '')
FROM unnest(%(addresses)s::text[]) WITH ORDINALITY AS a(address, n)
ORDER BY a.n;

-- name: remove_suppressions :value
-- End those of an address, in a category or at all; how many there were. Refuses with 22023 naming the field.
SELECT mailqueue.remove_suppressions(%(project_id)s,
    ARRAY(SELECT lower(a) FROM unnest(%(addresses)s::text[]) AS t(a)), %(category)s, %(why)s, %(by)s);
