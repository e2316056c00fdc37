#!/bin/sh
# Generates configure and Makefile.in; nothing else.
set -e
cd "$(dirname "$0")"
exec autoreconf -i
