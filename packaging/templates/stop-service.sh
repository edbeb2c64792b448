#!/bin/sh
# Of the deb and the rpm, before svc is removed or replaced by another version: a removed svc must not run on.
set -eu

# The deb gets "remove" or "upgrade"; the rpm gets the number of versions that remain.
case "${1:-}" in
  remove | 0)
    # Fails where systemd does not run, as in a container.
    if command -v systemctl >/dev/null; then systemctl disable --now svc.service >/dev/null 2>&1 || true; fi
    ;;
esac
