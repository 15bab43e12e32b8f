#!/bin/sh
# The roles of mailqueue and a login for each part, none of them a superuser. The image of PostgreSQL runs this once, when it makes
# its data folder; by hand: POSTGRES_USER, POSTGRES_DB and the passwords in the environment, and psql 15 or newer on the PATH. psql
# reads the passwords from the environment, since arguments are visible to every user of the machine.
set -eu

psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'SQL'
\getenv migrate MIGRATE_PASSWORD
\getenv api API_PASSWORD
\getenv worker WORKER_PASSWORD
SELECT format('CREATE ROLE %I NOLOGIN', r)
  FROM unnest(ARRAY['mailqueue_owner', 'mailqueue_migrator', 'mailqueue_producer', 'mailqueue_worker', 'mailqueue_api',
                    'mailqueue_tracking', 'mailqueue_dba']) AS r
 WHERE to_regrole(r) IS NULL
\gexec
SELECT format('GRANT CREATE ON DATABASE %I TO mailqueue_owner', current_database())
\gexec
GRANT mailqueue_owner TO mailqueue_migrator;
GRANT mailqueue_api TO mailqueue_owner;  -- row-level security passes over the owner: the API's transactions take this role

CREATE ROLE migrate LOGIN PASSWORD :'migrate' IN ROLE mailqueue_migrator;
CREATE ROLE api LOGIN PASSWORD :'api' IN ROLE mailqueue_api;
CREATE ROLE worker LOGIN PASSWORD :'worker' IN ROLE mailqueue_worker;
SQL
