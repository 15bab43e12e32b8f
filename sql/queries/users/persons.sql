-- Logins of persons whose inboxes are watched: links, passwords and sessions.

-- name: find_persons_project :maybe
-- The project whose persons log in to pages below its name.
SELECT p.id, p.name, p.display_name FROM mailqueue.project_of_inbox_pages(%(name)s::text) AS p;

-- name: invite_inbox_user :maybe
-- Address of a person for whom a link was made; none where there is no such person.
SELECT mailqueue.invite_inbox_user(%(project_id)s, %(id)s, %(token)s::bytea, %(until)s, %(by)s);

-- name: ask_inbox_reset :maybe
-- Address of a person who asked for a link; none where no link is made.
SELECT mailqueue.ask_inbox_reset(%(project_id)s, %(email)s::text, %(token)s::bytea, %(until)s);

-- name: take_login_mail :one
-- Why a mail with a link may not be sent now, and for how long; both NULL where it may, which counts it.
SELECT m.refusal, m.wait FROM mailqueue.take_login_mail(%(project_id)s, %(email)s::text, %(kind)s::text) AS m;

-- name: find_inbox_link :maybe
-- Address of the person of a valid link.
SELECT mailqueue.find_inbox_link(%(project_id)s, %(token)s::bytea);

-- name: set_inbox_password :maybe
-- Address of the person whose password was set by a valid link.
SELECT mailqueue.set_inbox_password(%(project_id)s, %(token)s::bytea, %(password_hash)s::text);

-- name: find_inbox_login :maybe
-- The password of the person with an address, and whether the browser is known.
SELECT l.user_id, l.password_hash, l.is_known_browser
FROM mailqueue.find_inbox_login(%(project_id)s, %(email)s::text, %(browser)s::bytea) AS l;

-- name: begin_inbox_session :maybe
-- Id of a new session; none if the password is no longer the one that was verified.
SELECT mailqueue.begin_inbox_session(%(project_id)s, %(user_id)s, %(password_hash)s::text, %(token)s::bytea,
                                     %(browser)s::bytea, %(address)s::inet, %(user_agent)s::text,
                                     %(lasts)s::interval);

-- name: find_inbox_session :maybe
-- The valid session of a token, with its person.
SELECT s.session_id, s.user_id, s.email, s.notifications_paused
FROM mailqueue.find_inbox_session(%(project_id)s, %(token)s::bytea, %(idle)s::interval) AS s;

-- name: list_inbox_sessions :many
-- Sessions of a person that may still be used, the latest used first.
SELECT s.id, s.address, s.user_agent, s.created_at, s.used_at
FROM mailqueue.inbox_sessions_of(%(project_id)s, %(user_id)s, %(idle)s::interval) AS s;

-- name: end_inbox_sessions :value
-- How many sessions of a person ended: one, or all of them for NULL.
SELECT mailqueue.end_inbox_sessions(%(project_id)s, %(user_id)s, %(session)s::uuid);

-- name: change_inbox_password :value
-- Whether the password of a person was replaced.
SELECT mailqueue.change_inbox_password(%(project_id)s, %(user_id)s, %(session)s::uuid, %(old)s::text, %(new)s::text);
