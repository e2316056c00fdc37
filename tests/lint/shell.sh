#!/bin/sh
# Fails where shellcheck complains about a shell script.  Usage: shell.sh [source root]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"
command -v shellcheck >/dev/null || { echo 'shellcheck is missing: install shellcheck'; exit 1; }

"$here/files.sh" | while read -r file; do
  case $(head -c 40 "$file" | tr -d '\0' | head -n 1) in
  '#!/bin/sh'* | '#!/bin/bash'* | '#!/usr/bin/env bash'*) echo "$file" ;;
  esac
done | xargs -r shellcheck -S warning
