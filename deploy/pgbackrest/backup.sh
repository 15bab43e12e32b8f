#!/bin/sh
# Takes a backup with pgBackRest (full on Sundays, else what changed since), and says when it was done in a file for the textfile
# collector of Prometheus's node exporter. Runs as the user postgres, from cron; prints nothing unless something failed.
#   backup.sh [STANZA [FOLDER]]
set -eu
umask 022

stanza=${1:-mailqueue}
folder=${2:-/var/lib/mailqueue-metrics}
[ "$(id -u)" != 0 ] || { echo "run this as the user postgres, not as root" >&2; exit 2; }

type=diff
[ "$(date +%u)" != 7 ] || type=full
pgbackrest --stanza="$stanza" --type="$type" backup

file=$(mktemp "$folder/.backup.XXXXXX")
trap 'rm -f -- "$file"' EXIT
pgbackrest --stanza="$stanza" --output=json info | python3 -c '
import json, sys

[stanza] = json.load(sys.stdin)
last = max(each["timestamp"]["stop"] for each in stanza["backup"] if not each.get("error"))
print("# HELP mailqueue_backup_timestamp_seconds End of the newest backup.")
print("# TYPE mailqueue_backup_timestamp_seconds gauge")
print(f"mailqueue_backup_timestamp_seconds {last}")
' >"$file"
chmod 644 "$file"
mv -- "$file" "$folder/mailqueue_backup.prom"
