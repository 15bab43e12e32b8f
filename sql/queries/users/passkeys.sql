-- Passkeys of users of the console, and the challenges that they sign.

-- name: put_console_challenge :run
-- Store the challenge of a session or browser.
SELECT mailqueue.put_console_challenge(%(bound)s::bytea, %(challenge)s::bytea, %(lasts)s::interval);

-- name: take_console_challenge :maybe
-- Use up the challenge of a session or browser.
SELECT c.challenge
FROM mailqueue.take_console_challenge(%(bound)s::bytea) AS c (challenge)
WHERE c.challenge IS NOT NULL;

-- name: add_console_passkey :run
-- Store the public key of a passkey.
SELECT mailqueue.add_console_passkey(%(user)s::uuid, %(session)s::uuid, %(credential)s::bytea,
                                     %(public_key)s::bytea, %(sign_count)s::bigint, %(transports)s::text[],
                                     %(name)s::text, %(max)s::integer);

-- name: find_console_passkey :maybe
-- The passkey with a credential id.
SELECT k.id, k.user_id, k.password_hash, k.is_known_browser, k.public_key
FROM mailqueue.find_console_passkey(%(credential)s::bytea, %(browser)s::bytea) AS k;

-- name: use_console_passkey :maybe
-- Record that a passkey was used; false if its count went back, no row if it was removed.
SELECT u.is_used
FROM mailqueue.use_console_passkey(%(id)s::uuid, %(sign_count)s::bigint, %(address)s::inet,
                                   %(act)s::text) AS u (is_used)
WHERE u.is_used IS NOT NULL;

-- name: list_console_passkeys :many
-- The passkeys of a user, the first one first.
SELECT k.id, k.credential_id, k.transports, k.name, k.added_at, k.used_at
FROM mailqueue.console_passkeys_of(%(user)s::uuid) AS k;

-- name: remove_console_passkey :value
-- Delete a passkey of a user; false if there is no such one.
SELECT mailqueue.remove_console_passkey(%(user)s::uuid, %(id)s::uuid);
