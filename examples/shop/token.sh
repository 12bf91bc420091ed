#!/bin/sh
# Prints a token of the shop: who, in which role, for how many seconds. Your login does the same.
#
#     token.sh SECRETFILE SUB ROLE [SECONDS]
set -eu
secret=$(cat "$1")
base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
head=$(printf '{"alg":"HS256","typ":"JWT"}' | base64url)
claims=$(printf '{"iss":"shop","aud":"freshet","sub":"%s","role":"%s","exp":%d}' "$2" "$3" "$(($(date +%s) + ${4:-3600}))" | base64url)
signature=$(printf '%s.%s' "$head" "$claims" | openssl dgst -sha256 -hmac "$secret" -binary | base64url)
echo "$head.$claims.$signature"
