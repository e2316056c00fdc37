#!/bin/sh
# Installs what is missing of the named sections of packages.debian (apt-get) or packages.fedora
# (dnf), as root or through sudo.  Usage: install-packages.sh section...
set -eu
here=$(cd "$(dirname "$0")" && pwd)

names() # list, section...
{
  list=$1
  shift
  for section in "$@"; do
    awk -v section="[$section]" '
      /^\[/ { inside = $0 == section; next }
      inside && NF && !/^#/ { print $1 }' "$list"
  done
}

as_root()
{
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

may_install() # what is missing
{
  [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null || {
    echo "$0: neither root nor sudo; have these installed and start again with --no-install:"
    echo "  $1"
    exit 1
  } >&2
  # A person is asked for the password; where nobody can be asked, say so rather than wait.
  if [ "$(id -u)" -ne 0 ] && [ ! -t 0 ] && ! sudo -n true 2>/dev/null; then
    echo "$0: sudo wants a password and there is no terminal; packages to install:" >&2
    echo "  $1" >&2
    exit 1
  fi
}

# choice: of a|b the one that is installed, else the first that exists
pick()
{
  first=
  for name in $(echo "$1" | tr '|' ' '); do
    if dpkg-query -W -f '${Status}\n' "$name" 2>/dev/null | grep -q 'ok installed'; then
      return 0
    fi
    if [ -z "$first" ] && apt-cache show "$name" >/dev/null 2>&1; then
      first=$name
    fi
  done
  echo "${first:-${1%%|*}}"
}

missing_debian()
{
  for choice in $(names "$here/packages.debian" "$@"); do
    pick "$choice"
  done | tr '\n' ' '
}

apt()
{
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 \
    -o Acquire::Retries=3 "$@" </dev/null
}

# Nobody asked for database servers to run: tests start private ones.  An existing policy stays.
policy=/usr/sbin/policy-rc.d
forbid_services()
{
  [ ! -e $policy ] || return 0
  # dash runs no EXIT trap for a signal that has no trap of its own.
  trap 'as_root rm -f $policy' EXIT
  trap 'exit 1' HUP INT TERM
  printf '#!/bin/sh\nexit 101\n' | as_root tee $policy >/dev/null
  as_root chmod 755 $policy
}

install_debian()
{
  wanted=$(missing_debian "$@")
  [ -n "$wanted" ] || { echo 'packages: all installed'; return 0; }
  may_install "$wanted"
  if ! find /var/lib/apt/lists -name '*_Packages*' 2>/dev/null | grep -q .; then
    echo 'packages: fetching the lists'
    apt update >/dev/null
    wanted=$(missing_debian "$@")
  fi
  echo "packages: installing $wanted"
  forbid_services
  # shellcheck disable=SC2086 # a list of names
  apt --no-install-recommends install $wanted >"$log" 2>&1 || {
    # Old lists name versions the mirror no longer has.
    apt update >>"$log" 2>&1 && apt --no-install-recommends install $wanted >>"$log" 2>&1
  } || {
    tail -n 20 "$log"
    return 1
  }
}

install_fedora()
{
  # shellcheck disable=SC2046 # a list of names
  set -- $(for name in $(names "$here/packages.fedora" "$@"); do
    rpm -q --whatprovides "$name" >/dev/null 2>&1 || echo "$name"
  done)
  [ $# -gt 0 ] || { echo 'packages: all installed'; return 0; }
  may_install "$*"
  echo "packages: installing $*"
  as_root dnf -y --setopt=install_weak_deps=False install "$@" </dev/null >"$log" 2>&1 || {
    tail -n 20 "$log"
    return 1
  }
}

log=$(mktemp)
if command -v apt-get >/dev/null; then
  install_debian "$@"
elif command -v dnf >/dev/null; then
  install_fedora "$@"
else
  echo "$0: neither apt-get nor dnf here; see $here/packages.* for what is needed, install it," >&2
  echo 'and start again with --no-install' >&2
  exit 1
fi
rm -f "$log"
