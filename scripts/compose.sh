#!/usr/bin/env bash
# Runs docker compose: Docker's plugin, or the program docker-compose.
if docker compose version >/dev/null 2>&1; then exec docker compose "$@"; fi
exec docker-compose "$@"
