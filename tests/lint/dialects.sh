#!/bin/sh
# Fails where the tree asks in ten places or more which version of sysbench it speaks as: what
# versions decide is data in src/dialect, and texts of reports are in src/report.
# Usage: dialects.sh [source root]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"
limit=10

places=$("$here/files.sh" '*.[ch]' | grep '^src/' | grep -vE '^src/(dialect|report)/' |
  xargs grep -nwE 'BN_V(05|10|11)' || true)
count=$(printf '%s' "$places" | grep -c . || true)
[ "$count" -lt $limit ] || {
  echo "$places"
  echo "$count places ask for the version; below $limit are allowed: add a field to api/policy.h"
  exit 1
}
