#!/bin/sh
# The logins of the parts, with passwords from files. The image of PostgreSQL runs this once, when it makes its data folder.
set -eu

MIGRATE_PASSWORD=$(cat /run/secrets/migrate_password)
API_PASSWORD=$(cat /run/secrets/api_password)
WORKER_PASSWORD=$(cat /run/secrets/worker_password)
export MIGRATE_PASSWORD API_PASSWORD WORKER_PASSWORD
sh /stack/create_logins.sh
