#!/bin/sh
# Shows that an installed bench works, also after its prefix was moved, that nothing it then opens
# lies in the old prefix or the trees it came from, and that uninstall leaves no file behind.
# Usage: install.sh build-directory
set -eu
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
old=$work/first/prefix
new=$work/second/elsewhere

fail()
{
  echo "install: $1"
  exit 1
}

make_it() # variables and targets
{
  make -C "$build" -s "$@" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
}

# Does what a user would do with it, from a folder of its own.
try() # program
{
  (
    cd "$work"
    rm -f sbtest.sqlite*
    "$1" --version >/dev/null
    "$1" cpu --time=1 --cpu-max-prime=1000 run | grep -q 'events per second'
    for command in prepare run cleanup; do
      "$1" oltp_read_write --db-driver=sqlite --table-size=100 --time=1 $command >"$work/out" ||
        fail "$command failed: $(cat "$work/out")"
    done
  ) || fail "$1 does not work"
}

make_it prefix="$old" install-compat
try "$old/bin/bench"
"$old/bin/sysbench" --version | grep -q '^sysbench 1\.0' ||
  fail 'the sysbench link does not answer as sysbench'

mkdir -p "$(dirname "$new")"
mv "$old" "$new"
try "$new/bin/bench"
(cd "$work" && strace -f -e trace=openat,open,execve,stat,access -o "$work/trace" \
  "$new/bin/bench" oltp_read_write --db-driver=sqlite --table-size=100 prepare >/dev/null)
! grep -E "\"($old|$build|$(cd "$(dirname "$0")/.." && pwd))" "$work/trace" | grep -v ENOENT ||
  fail 'the moved program opens files of the place it came from'

# The link is made again, and takes the place of no other program.
make_it prefix="$new" install-compat
rm "$new/bin/sysbench"
echo other >"$new/bin/sysbench"
! (make_it prefix="$new" install-compat) >/dev/null ||
  fail 'install-compat has replaced another sysbench'
[ "$(cat "$new/bin/sysbench")" = other ] || fail 'the other sysbench has changed'

# A staged installation, as packagers do it, and its removal.
stage=$work/stage
make_it DESTDIR="$stage" install install-compat
for file in bin/bench lib/bench/drivers/sqlite.so lib/bench/codecs/zlib.so \
  share/bench/oltp_read_write.lua share/bash-completion/completions/bench \
  share/fish/vendor_completions.d/bench.fish share/zsh/site-functions/_bench \
  share/man/man1/bench.1 share/man/man1/sysbench.1 share/man/man5/bench-result.5 \
  share/man/man7/bench-compat.7 share/man/man7/bench-output.7; do
  find "$stage" -path "*/$file" | grep -q . || fail "$file was not installed"
done
! find "$stage" -name '*.la' | grep . || fail 'a libtool file was installed'
make_it DESTDIR="$stage" uninstall
left=$(find "$stage" ! -type d)
[ -z "$left" ] || fail "uninstall left $left"
