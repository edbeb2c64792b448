#!/bin/sh
# Of the deb and the rpm, after the unit was installed, replaced or removed.
set -eu

# Fails where systemd does not run, as in a container.
if command -v systemctl >/dev/null; then systemctl daemon-reload >/dev/null 2>&1 || true; fi
