-- Bounce mail: whose mail came back, and for which domains it is taken.

-- name: find_bounced_mail :maybe
-- The mail that came back, by its id or else by its Message-ID, with all its recipients in order; of several with one
-- Message-ID that to one of the recipients given.
SELECT m.id, m.project_id, m.recipients
FROM mailqueue.bounced_mail(%(email_id)s::uuid, %(message_id)s::text, %(project_id)s::uuid,
                            %(recipients)s::text[]) AS m;

-- name: list_bounce_domains :many
-- The domains to which bounces of some project come back.
SELECT d.domain
FROM mailqueue.bounce_domains() AS d(domain);
