#!/bin/sh
# Prints the files that are ours, below the current directory: those git knows or would take, or all
# where there is no repository.  Usage: files.sh [pattern]...   (default: every file)
set -eu

if [ -e .git ] && command -v git >/dev/null; then
  # A file removed but not yet committed is still listed.
  git ls-files -co --exclude-standard -- "$@" | sort -u | while read -r file; do
    [ ! -f "$file" ] || echo "$file"
  done
else
  [ $# -gt 0 ] || set -- '*'
  for pattern in "$@"; do
    find . -type f -name "$pattern" | sed 's,^\./,,'
  done | sort -u
fi
