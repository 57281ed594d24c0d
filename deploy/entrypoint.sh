#!/bin/sh
# Starts the gateway, with Litestream beside it when LITESTREAM_REPLICA_URL says where the backup goes.
# For the container and for systemd. Needs sgw and, with a backup, litestream and flock in the PATH.
set -eu

if [ -z "${LITESTREAM_REPLICA_URL:-}" ]; then
  case ${REQUIRE_RESTORE:-0} in 1 | true | on)
    echo 'REQUIRE_RESTORE is set but LITESTREAM_REPLICA_URL is not: name the storage of the backup' >&2
    exit 78
    ;;
  esac
  exec sgw start
fi

# The gateway starts Litestream itself, once configuration and database are known to be good.
export LITESTREAM=1
# With standbys the gateway restores itself, once it holds the lease: before that, another one may still work.
case ${STANDBY:-0} in 1 | true | on) ;; *) sgw restore ;; esac
exec sgw start
