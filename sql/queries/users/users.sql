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

-- name: reset_console_user :value
-- Replace the link that a user asked for who forgot the password.
SELECT mailqueue.reset_console_user(%(name)s::text, %(link)s::bytea, %(until)s::timestamptz, %(by)s::text);

-- name: find_console_link :maybe
-- Name of the user of a valid link.
SELECT mailqueue.find_console_link(%(link)s::bytea);

-- name: set_password_by_link :maybe
-- Set a password by a valid link; the name of its user.
SELECT mailqueue.set_password_by_link(%(link)s::bytea, %(password_hash)s::text);

-- name: change_console_password :value
-- Replace a user's password and end the user's other sessions.
SELECT mailqueue.change_console_password(%(user)s::uuid, %(session)s::uuid, %(password_hash)s::text);

-- name: change_console_user :value
-- Change role and projects of a user of the console; false if there is no such user.
SELECT mailqueue.change_console_user(%(name)s::text, %(role)s::text, %(sees_all)s::boolean, %(projects)s::text[],
                                     %(by)s::text);

-- name: remove_console_user :value
-- Remove a user of the console.
SELECT mailqueue.remove_console_user(%(name)s::text, %(by)s::text);

-- name: list_console_users :many
-- Users of the console by name, removed ones last.
SELECT u.id, u.name, u.role, u.sees_all, u.projects, u.issuer, u.has_password, u.has_second_factor, u.passkeys,
       u.link_until, u.sessions, u.created_by, u.created_at, u.last_login_at, u.removed_at
FROM mailqueue.console_users_listed() AS u;

-- name: list_console_members :many
-- A page of the users who see a project by its name, by their names; or one of them.
SELECT m.user_id, m.name, m.role, m.issuer, m.has_password, m.added_at, m.last_login_at
FROM mailqueue.console_members_of(%(project)s::uuid, NULL) AS m
WHERE (%(after)s::text IS NULL OR lower(m.name) > lower(%(after)s))
  AND (%(user)s::uuid IS NULL OR m.user_id = %(user)s)
  AND (%(name)s::text IS NULL OR lower(m.name) = lower(%(name)s))
ORDER BY lower(m.name)
LIMIT %(limit)s;

-- name: remove_console_member :value
-- Take a project from a user; false if the user is no member.
SELECT mailqueue.remove_console_member(%(project)s::uuid, %(user)s::uuid, %(by)s::text);

-- name: find_user_of_issuer :maybe
-- Id of the user who has logged in at an issuer; NULL if the user may not log in.
SELECT mailqueue.console_user_of_issuer(%(issuer)s::text, %(subject)s::text, %(names)s::text[], %(role)s::text,
                                        %(sees_all)s::boolean, %(projects)s::text[]);

-- name: find_console_login :maybe
-- The password of a user, whether the browser is known, and whether a second factor is on.
SELECT l.user_id, l.password_hash, l.is_known_browser, l.has_second_factor
FROM mailqueue.find_console_login(%(name)s::text, %(browser)s::bytea) AS l;

-- name: take_console_attempt :maybe
-- Seconds until an attempt to log in may be judged; NULL if there are too many.
SELECT mailqueue.take_console_attempt(%(client)s::bytea, %(seconds)s::float8, %(burst)s::integer, %(wait)s::float8);

-- name: begin_console_session :maybe
-- Begin a session of a user; NULL if the password is no longer the one that was verified.
SELECT mailqueue.begin_console_session(%(user)s::uuid, %(token)s::bytea, %(browser)s::bytea, %(address)s::inet,
                                       %(user_agent)s::text, %(lasts)s::interval, %(password_hash)s::text,
                                       %(is_whole)s::boolean);

-- name: find_console_session :maybe
-- The valid session of a token, with its user.
SELECT s.session_id, s.user_id, s.name, s.role, s.sees_all, s.issuer, s.created_at, s.is_confirmed,
       s.has_second_factor
FROM mailqueue.find_console_session(%(token)s::bytea, %(idle)s::interval, %(is_use)s::boolean,
                                    %(recent)s::interval) AS s;

-- name: confirm_console_session :value
-- Note a proof that the user of a session is its user; false unless it is one.
SELECT mailqueue.confirm_console_session(%(session)s::uuid, %(password_hash)s::text, %(issuer)s::text,
                                         %(subject)s::text, %(is_whole)s::boolean);

-- name: recheck_console_sessions :many
-- What the users of sessions see now: all projects, and each the project asked for; no row for an ended session.
SELECT a.place::integer, s.role, s.sees_all, p.id IS NOT NULL AS sees_project
FROM unnest(%(tokens)s::bytea[], %(projects)s::text[]) WITH ORDINALITY AS a(token, project, place)
CROSS JOIN LATERAL mailqueue.find_console_session(a.token, %(idle)s::interval, false, interval '0') AS s
LEFT JOIN LATERAL mailqueue.project_of_console_user(s.user_id, a.project) AS p ON true;

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

-- name: take_console_action :value
-- Use up the token of a form; false if it was used before.
SELECT mailqueue.take_console_action(%(token)s::bytea, %(form)s::text);
