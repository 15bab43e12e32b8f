-- Second factors of users of the console, and their secrets under the master key.

-- name: begin_console_second_factor :value
-- Store the sealed secret of a second factor that is not on yet; false if one is on.
SELECT mailqueue.begin_console_second_factor(%(user)s::uuid, %(session)s::uuid, %(master_key)s::text,
                                             %(sealed)s::bytea);

-- name: find_console_second_factor :maybe
-- The second factor of a user, on or not yet.
SELECT f.user_id, f.name, f.password_hash, f.is_known_browser, f.master_key_id, f.sealed, f.session_id, f.begun_at,
       f.turned_on_at, f.last_step, f.recovery_codes
FROM mailqueue.find_console_second_factor(%(user)s::uuid, %(browser)s::bytea) AS f;

-- name: turn_on_console_second_factor :value
-- Turn on the second factor whose secret a session was shown.
SELECT mailqueue.turn_on_console_second_factor(%(user)s::uuid, %(session)s::uuid, %(sealed)s::bytea,
                                               %(step)s::bigint, %(codes)s::bytea[]);

-- name: use_console_code :value
-- Use up a code or a recovery code; false if it was used before.
SELECT mailqueue.use_console_code(%(user)s::uuid, %(step)s::bigint, %(recovery)s::bytea);

-- name: note_wrong_console_code :run
-- Record a login with the right password and a wrong code.
SELECT mailqueue.note_wrong_console_code(%(user)s::uuid, %(address)s::inet);

-- name: renew_console_recovery_codes :value
-- Replace the recovery codes of a user.
SELECT mailqueue.renew_console_recovery_codes(%(user)s::uuid, %(codes)s::bytea[]);

-- name: turn_off_console_second_factor :value
-- Delete the second factor of a user.
SELECT mailqueue.turn_off_console_second_factor(%(user)s::uuid);

-- name: reset_console_second_factor :value
-- Delete the second factor of a user by name, and end the user's sessions; false if there is no such user.
SELECT mailqueue.reset_console_second_factor(%(name)s::text, %(by)s::text);

-- name: list_second_factors_to_reseal :many
-- Some second factors of users of the console that another master key seals.
SELECT user_id, master_key_id, sealed
FROM mailqueue.console_second_factors
WHERE master_key_id <> %(master_key_id)s
  AND (%(after)s::uuid IS NULL OR user_id > %(after)s::uuid)
ORDER BY user_id
LIMIT 100;

-- name: reseal_second_factor :run
-- Seal a second factor by another master key, unless it was changed meanwhile.
UPDATE mailqueue.console_second_factors
SET master_key_id = %(master_key_id)s,
    sealed = %(sealed)s
WHERE user_id = %(user_id)s
  AND sealed = %(old)s;
