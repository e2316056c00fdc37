#!/bin/sh
# Fails where Clang's static analyser sees a path to a fault in a file of src.
# Usage: analyze.sh [source root [build directory, for generated files]]
exec "$(dirname "$0")/clang.sh" "${1:-$(dirname "$0")/../..}" "${2:-}" \
  --analyze -Xanalyzer -analyzer-output=text
