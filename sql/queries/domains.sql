-- DKIM keys of projects, and DNS checks of their domains.

-- name: find_signing_project :maybe
-- The project of that name, and whether it sends signed mail only.
SELECT id, name, is_dkim_required
FROM mailqueue.projects
WHERE name = %(project)s;

-- name: set_dkim_required :run
-- Require signatures for mail of a project, or not.
UPDATE mailqueue.projects
SET is_dkim_required = %(is_required)s
WHERE id = %(project_id)s
  AND is_dkim_required <> %(is_required)s;

-- name: add_dkim_key :run
-- Store a new key, pending until its record is in DNS.
INSERT INTO mailqueue.dkim_keys (id, project_id, domain, selector, algorithm, public_key, private_key)
VALUES (%(id)s, %(project_id)s, %(domain)s, %(selector)s, %(algorithm)s, %(public_key)s, %(private_key)s);

-- name: list_dkim_keys :many
-- The keys of a project or of all, of one domain or of all, oldest first.
SELECT k.id, k.project_id, p.name AS project, k.domain, k.selector, k.algorithm, k.public_key, k.status, k.created_at,
       k.seen_at, k.active_at, k.retired_at, k.needed_until, k.revoked_at, r.checked_at, r.dkim, r.spf, r.dmarc
FROM mailqueue.dkim_keys AS k
JOIN mailqueue.projects AS p ON p.id = k.project_id
LEFT JOIN mailqueue.domain_rechecks AS r ON r.project_id = k.project_id AND r.domain = k.domain
WHERE (%(project)s::text IS NULL OR p.name = %(project)s)
  AND (%(domain)s::text IS NULL OR k.domain = %(domain)s)
ORDER BY p.name, k.domain, k.created_at, k.algorithm DESC, k.selector;

-- name: list_keys_of_domains :many
-- The keys of these domains that have or had a record in DNS, of each project.
SELECT k.id, k.project_id, p.name AS project, k.domain, k.selector, k.algorithm, k.public_key, k.status, k.created_at,
       k.seen_at, k.active_at, k.retired_at, k.needed_until, k.revoked_at
FROM unnest(%(projects)s::uuid[], %(domains)s::text[]) AS d (project_id, domain)
JOIN mailqueue.dkim_keys AS k ON k.project_id = d.project_id AND k.domain = d.domain
JOIN mailqueue.projects AS p ON p.id = k.project_id
WHERE (k.status IN ('active', 'retired') OR k.status = 'revoked' AND k.seen_at IS NOT NULL)
  AND p.deleted_at IS NULL
ORDER BY k.project_id, k.domain, k.created_at, k.selector;

-- name: list_keys_in_force :many
-- The active keys of a project, sealed; RSA first, which every receiver supports.
SELECT id, domain, selector, algorithm, private_key
FROM mailqueue.dkim_keys
WHERE project_id = %(project_id)s
  AND status = 'active'
ORDER BY domain, algorithm DESC;

-- name: is_dkim_required :value
-- Whether a project sends signed mail only.
SELECT is_dkim_required
FROM mailqueue.projects
WHERE id = %(project_id)s;

-- name: retire_dkim_keys :run
-- Retire the active keys of a domain and algorithm; their DNS record is still needed for a while.
UPDATE mailqueue.dkim_keys
SET status = 'retired',
    retired_at = clock_timestamp(),
    needed_until = clock_timestamp() + %(keep)s::interval
WHERE project_id = %(project_id)s
  AND domain = %(domain)s
  AND algorithm = %(algorithm)s
  AND status = 'active';

-- name: activate_dkim_key :run
-- Activate a pending key.
UPDATE mailqueue.dkim_keys
SET status = 'active',
    active_at = clock_timestamp()
WHERE id = %(id)s
  AND status = 'pending';

-- name: note_keys_seen :run
-- Record that these keys were found in DNS.
UPDATE mailqueue.dkim_keys
SET seen_at = clock_timestamp()
WHERE id = ANY (%(ids)s::uuid[]);

-- name: revoke_dkim_key :run
-- Delete a private key; the row stays, so that its selector is never used again.
UPDATE mailqueue.dkim_keys
SET status = 'revoked',
    private_key = NULL,
    revoked_at = clock_timestamp()
WHERE id = %(id)s
  AND status <> 'revoked';

-- name: note_dkim_change :run
-- Write an audit row for a change of a project's keys.
INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
VALUES (%(project_id)s, %(by)s, %(action)s, %(subject)s, %(detail)s);

-- name: record_domain_check :run
-- Store the result of a DNS check of a domain.
INSERT INTO mailqueue.domain_checks (project_id, domain, is_good, findings)
VALUES (%(project_id)s, %(domain)s, %(is_good)s, %(findings)s);

-- name: record_domain_checks :run
-- Store the results of DNS checks of domains, at the same places of all arrays.
INSERT INTO mailqueue.domain_checks (project_id, domain, is_good, findings)
SELECT c.project_id, c.domain, c.is_good, c.findings
FROM unnest(%(projects)s::uuid[], %(domains)s::text[], %(are_good)s::boolean[], %(findings)s::jsonb[])
  AS c (project_id, domain, is_good, findings);

-- name: list_last_domain_checks :many
-- The newest check of each domain of a project, or of one.
SELECT DISTINCT ON (c.domain) c.domain, c.checked_at, c.is_good, c.findings
FROM mailqueue.domain_checks AS c
WHERE c.project_id = %(project_id)s
  AND (%(domain)s::text IS NULL OR c.domain = %(domain)s)
ORDER BY c.domain, c.checked_at DESC;
