-- Columns of tables of the console: its users, their sessions and attempts to log in.

SELECT mailqueue.describe_columns('console_users', ARRAY[
    ['id', 'Id of the user.'],
    ['name', 'Name of the user, unique, and never used again.'],
    ['role', 'superadmin, project_admin, support or viewer.'],
    ['sees_all', 'Whether the user sees every project, present and future.'],
    ['password_hash', 'Argon2id hash of the password with its parameters; NULL: none was set.'],
    ['link_hash', 'SHA-256 of the token of the link that sets the password; NULL: there is no link.'],
    ['link_until', 'Time until which that link is valid.'],
    ['reset_hash', 'The same of a link that was asked for on the login page; NULL: there is none.'],
    ['reset_until', 'Time until which that one is valid.'],
    ['created_by', 'Who added the user.'],
    ['created_at', 'Time at which the user was added.'],
    ['last_login_at', 'Time of the last login; NULL: never.'],
    ['removed_at', 'Time at which the user was removed; NULL: the user may log in.'],
    ['issuer', 'OpenID Connect issuer at which the user logs in; NULL: the user logs in with a password.'],
    ['subject', 'Identifier of the user there (sub), which never changes.']
]);

SELECT mailqueue.describe_columns('console_members', ARRAY[
    ['user_id', 'Id of the user.'],
    ['project_id', 'Id of a project that the user sees.'],
    ['added_at', 'Time since which the user sees it.']
]);

SELECT mailqueue.describe_columns('console_sessions', ARRAY[
    ['id', 'Id of the session.'],
    ['user_id', 'Id of the user.'],
    ['token_hash', 'SHA-256 of the token in the cookie.'],
    ['browser_hash', 'SHA-256 of the token that stays in the browser.'],
    ['address', 'Address of the client; NULL: unknown.'],
    ['user_agent', 'User agent, as the browser sent it.'],
    ['created_at', 'Time of the login.'],
    ['used_at', 'Time of the last request, to the minute.'],
    ['expires_at', 'Time at which the session ends.'],
    ['ended_at', 'Time of the logout; NULL: not logged out.'],
    ['confirmed_at', 'Time at which the user last logged in or confirmed the session.']
]);

SELECT mailqueue.describe_columns('console_actions', ARRAY[
    ['token_hash', 'SHA-256 of the token in the form.'],
    ['used_at', 'Time at which the form was sent.']
]);

SELECT mailqueue.describe_columns('console_attempts', ARRAY[
    ['client_hash',
     'SHA-256 of the network or browser; of links of the console by mail, of the network, the name or the project; of '
     'mails with links to persons whose inboxes are watched, of the project or the keyed hash of the address.'],
    ['next_at', 'Theoretical arrival time of the next attempt (GCRA).']
]);

SELECT mailqueue.describe_columns('console_second_factors', ARRAY[
    ['user_id', 'Id of the user.'],
    ['master_key_id', 'Id of the master key that seals the secret.'],
    ['sealed', 'Secret of the codes (RFC 6238), encrypted by the master key.'],
    ['session_id', 'Id of the session that was shown the secret.'],
    ['begun_at', 'Time at which the secret was made.'],
    ['turned_on_at', 'Time since which logins need a code; NULL: no code was given yet, and none is asked for.'],
    ['last_step', 'Time step (30 s since 1970) of the latest code that was used; it and earlier ones are refused.']
]);

SELECT mailqueue.describe_columns('console_recovery_codes', ARRAY[
    ['user_id', 'Id of the user.'],
    ['code_hash', 'SHA-256 of the id of the user and the code.'],
    ['used_at', 'Time at which the code was used; NULL: it was not.']
]);

SELECT mailqueue.describe_columns('console_passkeys', ARRAY[
    ['id', 'Id of the passkey.'],
    ['user_id', 'Id of the user.'],
    ['credential_id', 'Id by which a device names the key.'],
    ['public_key', 'Public key, as COSE (RFC 9052).'],
    ['sign_count', 'Count of signatures at the last use, 0 where the device does not count; lower ones are refused.'],
    ['transports', 'Ways to the device, as the browser named them: internal, hybrid, usb, nfc, ble.'],
    ['name', 'Name that the user gave.'],
    ['added_at', 'Time at which it was added.'],
    ['used_at', 'Time of the last login or confirmation with it; NULL: none.']
]);

SELECT mailqueue.describe_columns('console_challenges', ARRAY[
    ['bound_hash', 'SHA-256 of the purpose and of the session or browser that was given the challenge.'],
    ['challenge', 'Random bytes that a passkey signs.'],
    ['ends_at', 'Time at which the challenge ends.']
]);
