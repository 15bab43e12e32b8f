-- Projects and the keys of the HTTP API.

-- name: find_project_id :maybe
-- The id of the project of that name.
SELECT id
FROM mailqueue.projects
WHERE name = %(project)s;

-- name: add_project :value
-- Create a project with its lanes and limit; settings as for change_project().
SELECT mailqueue.add_project(%(name)s::text, %(by)s::text, %(settings)s::jsonb);

-- name: read_project :maybe
-- The project of that name or id; deleted ones too.
SELECT p.id, p.name, p.display_name, p.description,
       CASE WHEN p.deleted_at IS NULL THEN p.status ELSE 'deleted' END AS status,
       p.status_reason, p.status_until, p.suspended_at, p.deleted_at, p.from_email, p.from_name, p.reply_to,
       p.bounce_address, p.bounce_domain, p.allowed_from, p.attachment_types, p.attachment_bytes, p.daily_limit,
       p.rate_per_second::float8 AS rate_per_second,
       coalesce(p.burst, ceil(p.rate_per_second)::integer, 200) AS burst,
       p.weight, p.soft_bounce_limit, p.soft_bounce_days, p.time_zone, p.postal_address, p.delivery, p.resend_elsewhere,
       p.requests_per_second, p.track_opens, p.track_clicks,
       p.tracking_domain, p.tracking_checked_at, p.brand_color, p.logo, p.page_texts, p.max_queued_emails,
       p.max_stored_bytes, p.max_uploads, p.max_templates, p.max_events, p.max_contacts, p.max_age_hours_critical,
       p.max_age_hours_high, p.max_age_hours_normal,
       p.max_age_hours_low, p.require_postal_address, p.unsubscribe_on_all, p.low_priority_window, p.quiet_hours,
       p.frequency_cap, p.outbox_duplicates, p.ordering, p.ordering_on_failure, p.management_events,
       p.notices_to, p.created_at, p.updated_at
FROM mailqueue.projects AS p
WHERE p.name = %(name)s::text
   OR p.id = %(id)s::uuid;

-- name: list_projects :many
-- Projects by name, a page after the given name; text is searched in names, description and From address.
SELECT p.id, p.name, p.display_name, p.description,
       CASE WHEN p.deleted_at IS NULL THEN p.status ELSE 'deleted' END AS status,
       p.status_reason, p.status_until, p.suspended_at, p.deleted_at, p.from_email, p.from_name, p.reply_to,
       p.bounce_address, p.bounce_domain, p.allowed_from, p.attachment_types, p.attachment_bytes, p.daily_limit,
       p.rate_per_second::float8 AS rate_per_second,
       coalesce(p.burst, ceil(p.rate_per_second)::integer, 200) AS burst,
       p.weight, p.soft_bounce_limit, p.soft_bounce_days, p.time_zone, p.postal_address, p.delivery, p.resend_elsewhere,
       p.requests_per_second, p.track_opens, p.track_clicks,
       p.tracking_domain, p.tracking_checked_at, p.brand_color, p.logo, NULL::jsonb AS page_texts,
       p.max_queued_emails, p.max_stored_bytes,
       p.max_uploads, p.max_templates, p.max_events, p.max_contacts, p.max_age_hours_critical, p.max_age_hours_high,
       p.max_age_hours_normal,
       p.max_age_hours_low, p.require_postal_address, p.unsubscribe_on_all, p.low_priority_window, p.quiet_hours,
       p.frequency_cap, p.outbox_duplicates, p.ordering, p.ordering_on_failure, p.management_events,
       p.notices_to, p.created_at, p.updated_at
FROM mailqueue.projects AS p
WHERE (%(after)s::text IS NULL OR p.name > %(after)s::text)
  AND (%(status)s::text IS NULL AND p.deleted_at IS NULL
       OR %(status)s::text = CASE WHEN p.deleted_at IS NULL THEN p.status ELSE 'deleted' END)
  AND (%(text)s::text IS NULL
       OR strpos(lower(concat_ws(' ', p.name, p.display_name, p.description, p.from_email, p.from_name)),
                 lower(%(text)s::text)) > 0)
ORDER BY p.name
LIMIT %(most)s::integer;

-- name: change_project :run
-- Change settings of a project; null resets one.
SELECT mailqueue.change_project(%(name)s::text, %(changes)s::jsonb, %(by)s::text);

-- name: suspend_project :value
-- Stop all sending of a project until it is activated.
SELECT mailqueue.suspend_project(%(name)s::text, %(reason)s::text, %(by)s::text);

-- name: activate_project :value
-- Resume a suspended, paused or deleted project.
SELECT mailqueue.activate_project(%(name)s::text, %(by)s::text);

-- name: delete_project :value
-- Delete a project softly: no mail in or out, no keys.
SELECT mailqueue.delete_project(%(name)s::text, %(by)s::text);

-- name: read_project_today :maybe
-- Mail that a project sent today, may still send, and has in the queue.
SELECT t.day, t.daily_limit, t.sent, t.reserved, t.headroom, t.rate_per_second::float8 AS rate_per_second, t.bounces,
       t.errors, t.blocked_reason, t.blocked_until, t.next_day_at, t.pending, t.assigned, t.held
FROM mailqueue.project_today(%(id)s::uuid) AS t;

-- name: list_project_bounds :many
-- What a project, or each that is not deleted, uses of its bounds now; max is null where there is none.
SELECT b.project, b.bound, b.used, b.most AS max
FROM mailqueue.bounds_of_projects(%(id)s::uuid) AS b;

-- name: list_project_days :many
-- Mail of a project on each of the last days, oldest first.
SELECT d.day, d.accepted, d.sent, d.failed, d.suppressed, d.expired, d.cancelled, d.delivered, d.hard_bounces,
       d.soft_bounces, d.complaints, d.opened, d.clicked, d.unsubscribed
FROM mailqueue.project_days(%(id)s::uuid, %(days)s::integer) AS d;
