#!/bin/sh
# Takes a backup with pgBackRest (full on Sundays, else what changed since) in each repository that is set up, and says when they were
# done in a file for the textfile collector of Prometheus's node exporter. Runs as the user postgres, from cron; prints nothing unless
# something failed.
#   backup.sh [STANZA [FOLDER]]
set -eu
umask 022

stanza=${1:-mailqueue}
folder=${2:-/var/lib/mailqueue-metrics}
[ "$(id -u)" != 0 ] || { echo "run this as the user postgres, not as root" >&2; exit 2; }

type=diff
[ "$(date +%u)" != 7 ] || type=full
repositories=$(pgbackrest --stanza="$stanza" --output=json info | python3 -c '
import json, sys

[stanza] = json.load(sys.stdin)
print(*(each["key"] for each in stanza["repo"]))
')
# One that is away does not keep the others from theirs.
failed=0
for repository in $repositories; do
    pgbackrest --stanza="$stanza" --repo="$repository" --type="$type" backup || failed=1
done

file=$(mktemp "$folder/.backup.XXXXXX")
trap 'rm -f -- "$file"' EXIT
pgbackrest --stanza="$stanza" --output=json info | python3 -c '
import json, sys

[stanza] = json.load(sys.stdin)
newest = {each["key"]: 0 for each in stanza["repo"]}
for each in stanza["backup"]:
    if not each.get("error"):
        key = each["database"]["repo-key"]
        newest[key] = max(newest[key], each["timestamp"]["stop"])
print("# HELP mailqueue_backup_timestamp_seconds End of the newest backup, of the repository whose newest is the oldest.")
print("# TYPE mailqueue_backup_timestamp_seconds gauge")
print(f"mailqueue_backup_timestamp_seconds {min(newest.values())}")
' >"$file"
chmod 644 "$file"
mv -- "$file" "$folder/mailqueue_backup.prom"
exit "$failed"
