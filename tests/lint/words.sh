#!/bin/sh
# Fails on words that mark unfinished work.  Usage: words.sh [source root]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"

words='FIXME|XXX|HACK|stubs?|unimplemented|not (yet )?implemented|kludge'
ours=$("$here/files.sh" | grep -vE '^(COPYING|tests/lint/.*)$')
# shellcheck disable=SC2086 # names without spaces, one per word
! { grep -nwiIE "$words" $ours || grep -nwI TODO $ours; }
