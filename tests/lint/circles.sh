#!/bin/sh
# Fails where objects of the program or of a module call each other in a circle, and prints what
# ties them.  The last line says how many circles there are.  Usage: circles.sh build-directory
set -eu
here=$(cd "$(dirname "$0")" && pwd)

symbols=$("$here/objects.sh" "${1:?build directory}")
echo "$symbols" | LC_ALL=C sort | awk -f "$here/circles.awk"
