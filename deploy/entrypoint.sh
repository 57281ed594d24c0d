#!/bin/sh
# Starts the gateway, with Litestream around it when LITESTREAM_REPLICA_URL says where the backup goes.
# For the container and for systemd. Needs sgw, flock and, with a backup, litestream in the PATH.
set -eu

if [ -z "${LITESTREAM_REPLICA_URL:-}" ]; then
  case ${REQUIRE_RESTORE:-0} in 1 | true | on)
    echo 'REQUIRE_RESTORE is set but LITESTREAM_REPLICA_URL is not: name the place of the backup' >&2
    exit 78
    ;;
  esac
  exec sgw start
fi

# The path as the gateway reads it: file:PATH or file:///PATH.
database=${DATABASE_URL:-file:./data/sgw.db}
database=${database#file:}
database=${database#//}
case $database in /*) ;; *) database=$PWD/$database ;; esac
mkdir -p "$(dirname "$database")"

# One Litestream per database, for as long as it or the gateway lives: both keep this open.
exec 9>"$database.backup-lock"
if ! flock --wait 30 9; then
  echo "Another process backs $database up: stop it first" >&2
  exit 75
fi

# Litestream itself knows no NAME_FILE.
for name in LITESTREAM_ACCESS_KEY_ID LITESTREAM_SECRET_ACCESS_KEY; do
  eval "given=\${$name:-} file=\${${name}_FILE:-}"
  if [ -z "$file" ]; then continue; fi
  if [ -n "$given" ]; then
    echo "$name and ${name}_FILE are both set: keep one of them" >&2
    exit 78
  fi
  given=$(cat "$file" 2>/dev/null | tr -d '[:space:]')
  if [ -z "$given" ]; then
    echo "${name}_FILE names \"$file\", which cannot be read or is empty: put the value into it" >&2
    exit 78
  fi
  export "$name=$given"
  unset "${name}_FILE"
done

export LITESTREAM=1 LITESTREAM_DATABASE="$database"
sgw restore
# Litestream passes SIGTERM on, waits for the gateway, and copies what came last.
exec "${LITESTREAM_COMMAND:-litestream}" replicate -config "${LITESTREAM_CONFIG:-/etc/litestream.yml}" -exec 'sgw start'
