-- Suppressed addresses.

-- name: copy_suppression_lines :run
-- COPY lines of a list; take_suppression_lines() makes suppressions of them in the same transaction.
COPY mailqueue.suppression_lines (import_id, line, address, category, reason, detail, expires_at) FROM STDIN;

-- name: take_suppression_lines :many
-- The number of lines copied with an id that were added, renewed and already there.
SELECT t.outcome, count(*)::integer AS lines
FROM mailqueue.take_suppression_lines(%(project_id)s, %(import_id)s, %(by)s) AS t
GROUP BY t.outcome;

-- name: take_suppressions :many
-- The same, for each line.
SELECT t.line, t.outcome
FROM mailqueue.take_suppression_lines(%(project_id)s, %(import_id)s, %(by)s) AS t
ORDER BY t.line;

-- name: list_suppressions :many
-- Suppressions in force after one, newest first.
SELECT s.id, s.address, encode(s.address_hash, 'hex') AS address_hash, s.category, s.reason, s.detail, s.created_at,
       nullif(s.expires_at, 'infinity') AS expires_at, s.email_id, s.source
FROM mailqueue.list_suppressions(%(project_id)s, %(before)s, %(limit)s, %(reason)s, %(category)s, %(having)s) AS s
ORDER BY s.id DESC;

-- name: find_suppressions :many
-- Suppressions in force of an address in any spelling; those of all mail first.
SELECT s.id, s.address, encode(s.address_hash, 'hex') AS address_hash, s.category, s.reason, s.detail, s.created_at,
       nullif(s.expires_at, 'infinity') AS expires_at, s.email_id, s.source
FROM mailqueue.suppressions AS s
WHERE s.project_id = %(project_id)s
  AND s.address_hash = ANY (ARRAY(SELECT mailqueue.address_hash(%(project_id)s, a)
                                  FROM unnest(%(addresses)s::text[]) AS t(a)))
  AND s.expires_at > now()
ORDER BY s.category, s.id;

-- name: find_suppressed_spellings :many
-- The suppressed addresses of that hash, '' for one that is stored by hash only; none: it is not suppressed.
SELECT DISTINCT coalesce(s.address, '')
FROM mailqueue.suppressions AS s
WHERE s.project_id = %(project_id)s
  AND s.address_hash = decode(%(address_hash)s, 'hex')
  AND s.expires_at > now();

-- name: list_past_suppressions :many
-- Past suppressions of addresses or a hash, latest first.
SELECT h.address, encode(h.address_hash, 'hex') AS address_hash, h.category, h.reason, h.detail, h.created_at,
       nullif(h.expires_at, 'infinity') AS expires_at, h.email_id, h.source, h.ended_at, h.ended_by, h.ended_why
FROM mailqueue.suppression_history AS h
WHERE h.project_id = %(project_id)s
  AND h.address_hash = ANY (ARRAY(SELECT mailqueue.address_hash(%(project_id)s, a)
                                  FROM unnest(%(addresses)s::text[]) AS t(a))
                            || decode(%(address_hash)s, 'hex'))
UNION ALL
SELECT s.address, encode(s.address_hash, 'hex'), s.category, s.reason, s.detail, s.created_at, s.expires_at, s.email_id,
       s.source, s.expires_at, 'its time', NULL
FROM mailqueue.suppressions AS s
WHERE s.project_id = %(project_id)s
  AND s.address_hash = ANY (ARRAY(SELECT mailqueue.address_hash(%(project_id)s, a)
                                  FROM unnest(%(addresses)s::text[]) AS t(a))
                            || decode(%(address_hash)s, 'hex'))
  AND s.expires_at <= now()
ORDER BY ended_at DESC
LIMIT 1000;

-- name: list_suppressions_by_hash :many
-- Suppressions in force of a hash, with the address or without.
SELECT s.id, s.address, encode(s.address_hash, 'hex') AS address_hash, s.category, s.reason, s.detail, s.created_at,
       nullif(s.expires_at, 'infinity') AS expires_at, s.email_id, s.source
FROM mailqueue.suppressions AS s
WHERE s.project_id = %(project_id)s
  AND s.address_hash = decode(%(address_hash)s, 'hex')
  AND s.expires_at > now()
ORDER BY s.category, s.id;

-- name: find_stopping_categories :value
-- Categories of suppressions that apply to mail of a category.
SELECT mailqueue.stopping_categories(%(project_id)s, %(category)s);

-- name: hash_addresses :many
-- Hashes of addresses in a project, suppressed or not, in order; '' once its key is deleted.
SELECT coalesce(encode(mailqueue.address_hash(%(project_id)s, a.address), 'hex'), '')
FROM unnest(%(addresses)s::text[]) WITH ORDINALITY AS a(address, n)
ORDER BY a.n;

-- name: remove_suppressions :value
-- Remove suppressions of an address or a hash, in a category or all; the number removed. Raises 22023 naming the field.
SELECT mailqueue.remove_suppressions(%(project_id)s,
    ARRAY(SELECT lower(a) FROM unnest(%(addresses)s::text[]) AS t(a)), decode(%(address_hash)s, 'hex'), %(category)s,
    %(why)s, %(by)s);

-- name: find_recipient_of_link :maybe
-- Recipient of a mail and the data of its pages; none once the mail was archived.
SELECT r.project_id, r.project, r.brand_color, r.logo, r.page_texts, r.address, r.category, r.campaign_id, r.language
FROM mailqueue.recipient_of_link(%(email_id)s, %(recipient)s) AS r;

-- name: list_subscriptions :many
-- Subscription state of a person in every category of the project, in marketing, in one more, and in all together (*).
SELECT c.slug, c.name, c.description, c.translations, c.is_required, c.is_ours, coalesce(w.reason, '') AS reason,
       w.until
FROM (SELECT o.slug, o.name, o.description, o.translations, o.is_required, true AS is_ours, o.place
      FROM mailqueue.subscription_categories AS o
      WHERE o.project_id = %(project_id)s AND o.removed_at IS NULL
      UNION ALL
      SELECT DISTINCT x.slug, '', NULL::text, '{}'::jsonb, false, false, 100000
      FROM unnest(%(more)s::text[]) AS x(slug)
      WHERE NOT mailqueue.is_category_required(%(project_id)s, x.slug)
        AND NOT EXISTS (SELECT FROM mailqueue.subscription_categories AS k
                        WHERE k.project_id = %(project_id)s AND k.slug = x.slug AND k.removed_at IS NULL)) AS c
LEFT JOIN LATERAL (
    SELECT s.reason, nullif(s.expires_at, 'infinity') AS until FROM mailqueue.suppressions AS s
    WHERE s.project_id = %(project_id)s AND s.category = c.slug AND s.expires_at > now()
      AND s.address_hash = mailqueue.address_hash(%(project_id)s, %(address)s)
    LIMIT 1) AS w ON true
ORDER BY c.place, c.name, c.slug;

-- name: find_global_suppression :maybe
-- Why a person receives no mail at all, for a reason other than a choice.
SELECT s.reason FROM mailqueue.suppressions AS s
WHERE s.project_id = %(project_id)s AND s.category = '' AND s.expires_at > now()
  AND s.address_hash = mailqueue.address_hash(%(project_id)s, %(address)s)
LIMIT 1;

-- name: change_subscriptions :many
-- Record a person's choices for categories; returns what changed.
SELECT c.category, c.state
FROM mailqueue.change_subscriptions(%(project_id)s, %(spellings)s::text[], %(choices)s::jsonb, %(source)s, %(email_id)s,
    %(campaign_id)s,
    %(user_agent)s, %(by)s, %(network)s::inet) AS c;

-- name: list_categories :many
-- The categories of a project as shown, or the one of that slug.
SELECT c.slug, c.name, c.description, c.translations, c.is_required, c.place, c.created_at, c.updated_at
FROM mailqueue.subscription_categories AS c
WHERE c.project_id = %(project_id)s AND c.removed_at IS NULL AND (%(slug)s::text IS NULL OR c.slug = %(slug)s)
ORDER BY c.place, c.name, c.slug;

-- name: put_category :maybe
-- Add or change a category; none if it must be new and exists. Raises 22023 naming the field.
SELECT c.slug, c.name, c.description, c.translations, c.is_required, c.place, c.created_at, c.updated_at
FROM mailqueue.put_category(%(project_id)s, %(slug)s, %(given)s::jsonb, %(must_be_new)s, %(by)s) AS c;

-- name: remove_category :value
-- Hide a category; false if there is none.
SELECT mailqueue.remove_category(%(project_id)s, %(slug)s, %(by)s);
