-- name: schema_exists :value
-- Whether this database was ever migrated.
SELECT to_regclass('mailqueue.schema_migrations') IS NOT NULL;

-- name: list_applied_migrations :many
-- Every applied migration, oldest first.
SELECT version, name, sha256, applied_at
FROM mailqueue.schema_migrations
ORDER BY version;

-- name: record_migration :run
-- Record that a file was applied, in the transaction that applied it.
INSERT INTO mailqueue.schema_migrations (version, name, sha256)
VALUES (%(version)s, %(name)s, %(sha256)s);

-- name: list_applied_objects :many
-- Every file of functions, views, comments and grants as it was last applied.
SELECT path, sha256
FROM mailqueue.schema_objects
ORDER BY path;

-- name: replace_applied_objects :run
-- Replace the record of applied files.
WITH applied AS (
    SELECT a.path, a.sha256
    FROM unnest(%(paths)s::text[], %(hashes)s::text[]) AS a (path, sha256)
), forgotten AS (
    DELETE FROM mailqueue.schema_objects AS o
    WHERE NOT EXISTS (SELECT FROM applied AS a WHERE a.path = o.path)
)
INSERT INTO mailqueue.schema_objects (path, sha256)
SELECT path, sha256 FROM applied
ON CONFLICT (path) DO UPDATE
SET sha256 = EXCLUDED.sha256, applied_at = clock_timestamp();

-- name: list_roles :many
-- Which of these roles exist in the cluster.
SELECT rolname::text
FROM pg_catalog.pg_roles
WHERE rolname = ANY (%(names)s);

-- name: show_own_rights :one
-- Rights of the connected user on roles and this database.
SELECT
    current_user::text AS name,
    current_database()::text AS database,
    r.rolsuper AS is_superuser,
    r.rolsuper OR r.rolcreaterole AS can_create_roles,
    current_setting('server_version_num')::integer AS server_version
FROM pg_catalog.pg_roles AS r
WHERE r.rolname = current_user;

-- name: is_member_of :value
-- Whether the connected user has all rights of a role and may act as it.
SELECT pg_has_role(current_user, %(role)s, 'USAGE') AND pg_has_role(current_user, %(role)s, %(act)s);

-- name: may_create_schema :value
-- Whether a role may create schemas in this database.
SELECT has_database_privilege(%(role)s, current_database(), 'CREATE');

-- name: database_exists :value
-- Whether the cluster has a database of that name.
SELECT EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = %(name)s);

-- name: has_time_zones :value
-- Whether this schema has rules of time zones.
SELECT to_regclass('mailqueue.time_zones') IS NOT NULL;

-- name: time_zone_release :maybe
-- The release of the rules of time zones; NULL before they were loaded.
SELECT mailqueue.time_zone_release();

-- name: replace_time_zones :run
-- Replace the rules of time zones.
WITH told AS (
    INSERT INTO mailqueue.time_zone_releases AS r (release, until) VALUES (%(release)s, %(until)s)
    ON CONFLICT ((true)) DO UPDATE SET release = excluded.release, until = excluded.until, installed_at = now()
), gone AS (
    DELETE FROM mailqueue.time_zones AS z WHERE z.name <> ALL (%(names)s::text[])
), names AS (
    INSERT INTO mailqueue.time_zones AS z (name, rules)
    SELECT n.name, n.rules FROM unnest(%(names)s::text[], %(rules)s::text[]) AS n (name, rules)
    ON CONFLICT (name) DO UPDATE SET rules = excluded.rules WHERE z.rules <> excluded.rules
), offsets AS (
    SELECT o.zone, o.from_at, o.utc_offset
    FROM unnest(%(zones)s::text[], %(starts)s::timestamptz[], %(offsets)s::interval[]) AS o (zone, from_at, utc_offset)
), ended AS (
    DELETE FROM mailqueue.time_zone_offsets AS h
    WHERE NOT EXISTS (SELECT FROM offsets AS o WHERE o.zone = h.zone AND o.from_at = h.from_at)
)
INSERT INTO mailqueue.time_zone_offsets AS h (zone, from_at, utc_offset)
SELECT o.zone, o.from_at, o.utc_offset FROM offsets AS o
ON CONFLICT (zone, from_at) DO UPDATE SET utc_offset = excluded.utc_offset WHERE h.utc_offset <> excluded.utc_offset;
