-- Requests of providers, from their URL until they are recorded.

-- name: find_inbound_endpoint :maybe
-- The endpoint of a URL.
SELECT e.id, e.project_id, e.sender_account_id, e.sealed
FROM mailqueue.find_inbound_endpoint(%(provider)s, %(token_hash)s) AS e;

-- name: list_inbound_endpoints :many
-- The endpoints of a sender account.
SELECT e.id, e.provider, e.sealed, e.created_at, e.updated_at
FROM mailqueue.inbound_endpoints AS e
WHERE e.sender_account_id = %(account)s
ORDER BY e.provider;

-- name: put_inbound_endpoint :run
-- Insert or replace the endpoint of an account and provider.
INSERT INTO mailqueue.inbound_endpoints (id, project_id, sender_account_id, provider, token_hash, sealed)
VALUES (%(id)s, %(project_id)s, %(account)s, %(provider)s, %(token_hash)s, %(sealed)s)
ON CONFLICT ON CONSTRAINT inbound_endpoints_account_key
DO UPDATE SET token_hash = excluded.token_hash, sealed = excluded.sealed, updated_at = now();

-- name: remove_inbound_endpoint :run
-- Delete an endpoint: later requests of its provider are rejected.
DELETE FROM mailqueue.inbound_endpoints
WHERE sender_account_id = %(account)s
  AND provider = %(provider)s;

-- name: note_inbound_change :run
-- Write an audit row for a change of an endpoint.
INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
VALUES (%(project_id)s, %(by)s, %(action)s, %(subject)s, %(detail)s);

-- name: keep_inbound :value
-- Queue requests for a worker; returns the number of new ones.
SELECT mailqueue.keep_inbound(%(projects)s::uuid[], %(accounts)s::integer[], %(providers)s::text[], %(keys)s::text[],
                              %(headers)s::jsonb[],
                              %(queries)s::jsonb[], %(bodies)s::bytea[], %(confirms)s::text[]);

-- name: list_inbound :many
-- Requests of providers, the newest first.
SELECT e.id, p.name AS project, a.name AS sender, e.provider, e.status, e.received_at, e.run_at, e.attempts,
       coalesce(octet_length(e.body), 0) AS bytes, e.outcome, e.last_error, e.finished_at
FROM mailqueue.inbound_events AS e
LEFT JOIN mailqueue.projects AS p ON p.id = e.project_id
LEFT JOIN mailqueue.sender_accounts AS a ON a.id = e.sender_account_id
WHERE (%(project)s::text IS NULL OR p.name = %(project)s)
  AND (%(provider)s::text IS NULL OR e.provider = %(provider)s)
  AND (%(status)s::text IS NULL OR e.status = %(status)s)
  AND (%(before)s::uuid IS NULL OR e.id < %(before)s)
ORDER BY e.id DESC
LIMIT %(limit)s;

-- name: find_inbound_body :maybe
-- The body of a request, unchanged.
SELECT e.body
FROM mailqueue.inbound_events AS e
WHERE e.id = %(id)s;

-- name: retry_inbound :value
-- Process failed or unmatched requests again; returns their number.
SELECT mailqueue.retry_inbound(NULL, %(ids)s::uuid[], %(by)s);

-- name: list_sealed_inbound_endpoints :many
-- Some endpoints that are sealed with a data key.
SELECT id::text AS row_id, sealed
FROM mailqueue.inbound_endpoints
WHERE project_id = %(project_id)s
  AND substring(sealed FROM 2 FOR 16) = uuid_send(%(data_key_id)s::uuid)
  AND (%(after)s::text IS NULL OR id > %(after)s::uuid)
ORDER BY id
LIMIT 100;

-- name: replace_sealed_inbound_endpoint :run
-- Replace a sealed endpoint, unless it was changed meanwhile.
UPDATE mailqueue.inbound_endpoints
SET sealed = %(sealed)s
WHERE id = %(row_id)s::uuid
  AND sealed = %(old)s;
