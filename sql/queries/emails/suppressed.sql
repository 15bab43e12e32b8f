-- Suppressed addresses in the lists of compatible APIs: those suppressed for some reasons, in some categories or any.
-- An address that is suppressed in several categories is one row, that of its newest suppression.

-- name: list_suppressed :many
-- The addresses of a list that are older than one, newest first; each with the categories it is suppressed in.
SELECT s.id, s.address, s.reason, s.detail, s.created_at, s.email_id,
       ARRAY(SELECT o.category FROM mailqueue.suppressions AS o
              WHERE o.project_id = s.project_id AND o.address = s.address AND o.expires_at > now()
                AND o.reason = ANY (%(reasons)s)
                AND (%(categories)s::text[] IS NULL OR o.category = ANY (%(categories)s))
              ORDER BY o.category) AS categories
FROM mailqueue.suppressions AS s
WHERE s.project_id = %(project_id)s
  AND s.address IS NOT NULL                                                    -- erased persons have none
  AND s.expires_at > now()
  AND s.reason = ANY (%(reasons)s)
  AND (%(categories)s::text[] IS NULL OR s.category = ANY (%(categories)s))
  AND (%(addresses)s::text[] IS NULL OR s.address = ANY (%(addresses)s))
  AND (%(ids)s::bigint[] IS NULL OR s.id = ANY (%(ids)s))
  AND (%(prefix)s::text IS NULL OR starts_with(s.address, lower(%(prefix)s)))
  AND (%(since)s::timestamptz IS NULL OR s.created_at >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR s.created_at <= %(until)s)
  AND (%(older_than)s::bigint IS NULL OR s.id < %(older_than)s)
  AND NOT EXISTS (SELECT FROM mailqueue.suppressions AS o
                   WHERE o.project_id = s.project_id AND o.address = s.address AND o.id > s.id AND o.expires_at > now()
                     AND o.reason = ANY (%(reasons)s)
                     AND (%(categories)s::text[] IS NULL OR o.category = ANY (%(categories)s)))
ORDER BY s.id DESC
LIMIT %(limit)s OFFSET %(offset)s;

-- name: list_suppressed_in_categories :many
-- Suppressions in some categories that are older than one, newest first: an address is a row for each of them.
SELECT s.id, s.address, s.category, s.created_at
FROM mailqueue.suppressions AS s
WHERE s.project_id = %(project_id)s
  AND s.address IS NOT NULL                                                    -- erased persons have none
  AND s.expires_at > now()
  AND s.reason = ANY (%(reasons)s)
  AND s.category = ANY (%(categories)s)
  AND (%(older_than)s::bigint IS NULL OR s.id < %(older_than)s)
ORDER BY s.id DESC
LIMIT %(limit)s;

-- name: list_newer_suppressed_ids :many
-- Ids of the next newer addresses of a list after one, oldest first.
SELECT s.id
FROM mailqueue.suppressions AS s
WHERE s.project_id = %(project_id)s
  AND s.address IS NOT NULL
  AND s.expires_at > now()
  AND s.reason = ANY (%(reasons)s)
  AND (%(categories)s::text[] IS NULL OR s.category = ANY (%(categories)s))
  AND (%(prefix)s::text IS NULL OR starts_with(s.address, lower(%(prefix)s)))
  AND s.id > %(newer_than)s
  AND NOT EXISTS (SELECT FROM mailqueue.suppressions AS o
                   WHERE o.project_id = s.project_id AND o.address = s.address AND o.id > s.id AND o.expires_at > now()
                     AND o.reason = ANY (%(reasons)s)
                     AND (%(categories)s::text[] IS NULL OR o.category = ANY (%(categories)s)))
ORDER BY s.id
LIMIT %(limit)s;
