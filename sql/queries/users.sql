-- Users of the console, their sessions and what they may see.

-- name: add_console_user :value
-- Add a user of the console.
SELECT mailqueue.add_console_user(%(name)s::text, %(role)s::text, %(sees_all)s::boolean, %(projects)s::text[],
                                  %(link)s::bytea, %(until)s::timestamptz, %(by)s::text);

-- name: first_console_link :maybe
-- Renew the link of the first superadmin; NULL once a superadmin has set a password.
SELECT mailqueue.first_console_link(%(link)s::bytea, %(until)s::timestamptz, %(by)s::text);

-- name: link_console_user :value
-- Replace the link by which a user sets a password.
SELECT mailqueue.link_console_user(%(name)s::text, %(link)s::bytea, %(until)s::timestamptz, %(by)s::text);

-- name: find_console_link :maybe
-- Name of the user of a valid link.
SELECT mailqueue.find_console_link(%(link)s::bytea);

-- name: set_password_by_link :maybe
-- Set a password by a valid link; the name of its user.
SELECT mailqueue.set_password_by_link(%(link)s::bytea, %(password_hash)s::text);

-- name: change_console_password :value
-- Replace a user's password and end the user's other sessions.
SELECT mailqueue.change_console_password(%(user)s::uuid, %(session)s::uuid, %(password_hash)s::text);

-- name: remove_console_user :value
-- Remove a user of the console.
SELECT mailqueue.remove_console_user(%(name)s::text, %(by)s::text);

-- name: list_console_users :many
-- Users of the console by name, removed ones last.
SELECT u.id, u.name, u.role, u.sees_all, u.projects, u.has_password, u.link_until, u.sessions, u.created_by,
       u.created_at, u.last_login_at, u.removed_at
FROM mailqueue.console_users_listed() AS u;

-- name: find_console_login :maybe
-- The password of a user, and whether the browser is known.
SELECT l.user_id, l.password_hash, l.is_known_browser
FROM mailqueue.find_console_login(%(name)s::text, %(browser)s::bytea) AS l;

-- name: take_console_attempt :maybe
-- Seconds until an attempt to log in may be judged; NULL if there are too many.
SELECT mailqueue.take_console_attempt(%(client)s::bytea, %(seconds)s::float8, %(burst)s::integer, %(wait)s::float8);

-- name: begin_console_session :maybe
-- Begin a session of a user; NULL if the password is no longer the one that was verified.
SELECT mailqueue.begin_console_session(%(user)s::uuid, %(token)s::bytea, %(browser)s::bytea, %(address)s::inet,
                                       %(user_agent)s::text, %(lasts)s::interval, %(password_hash)s::text);

-- name: find_console_session :maybe
-- The valid session of a token, with its user.
SELECT s.session_id, s.user_id, s.name, s.role, s.sees_all, s.created_at
FROM mailqueue.find_console_session(%(token)s::bytea, %(idle)s::interval, %(is_use)s::boolean) AS s;

-- name: list_console_sessions :many
-- Sessions of a user that may still be used, the latest used first.
SELECT s.id, s.address, s.user_agent, s.created_at, s.used_at, s.expires_at
FROM mailqueue.console_sessions_of(%(user)s::uuid, %(idle)s::interval) AS s;

-- name: end_console_sessions :value
-- End one session of a user, or all of them for NULL.
SELECT mailqueue.end_console_sessions(%(user)s::uuid, %(session)s::uuid, %(by)s::text);

-- name: list_projects_of_user :many
-- Projects that a user of the console sees, by name.
SELECT p.id, p.name, p.display_name, p.status
FROM mailqueue.projects_of_console_user(%(user)s::uuid, %(text)s::text, %(after)s::text, %(limit)s::integer) AS p;

-- name: find_project_of_user :maybe
-- A project that a user of the console sees, by name.
SELECT p.id, p.name, p.display_name, p.status
FROM mailqueue.project_of_console_user(%(user)s::uuid, %(name)s::text) AS p;

-- name: find_email_of_user :maybe
-- Name of the project of an email that a user of the console sees.
SELECT mailqueue.email_of_console_user(%(user)s::uuid, %(id)s::uuid);

-- name: take_console_action :value
-- Use up the token of a form; false if it was used before.
SELECT mailqueue.take_console_action(%(token)s::bytea);
