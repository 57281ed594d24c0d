#!/bin/sh
# Starts the gateway in the container or under systemd, with Litestream beside it if LITESTREAM_REPLICA_URL says where the backup goes.
# sgw must be in the PATH and, with a backup, litestream and flock.
set -eu

if [ -z "${LITESTREAM_REPLICA_URL:-}" ]; then
  case ${REQUIRE_RESTORE:-0} in 1 | true | on)
    echo 'REQUIRE_RESTORE is set but LITESTREAM_REPLICA_URL is not: name the storage of the backup' >&2
    exit 78
    ;;
  esac
  exec sgw start
fi

# The gateway starts Litestream itself after it has checked the configuration and the database.
export LITESTREAM=1
# With standbys, the gateway restores the database itself once it holds the lease: until then, another gateway may still be working.
case ${STANDBY:-0} in 1 | true | on) ;; *) sgw restore ;; esac
exec sgw start
