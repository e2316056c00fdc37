dnl BN_RELPATH(VAR, from, to): the relative path from one installation directory to another, so that the
dnl program finds its files wherever the prefix is moved to.  Both are expanded first.
AC_DEFUN([BN_RELPATH], [
  bn_save_prefix=$prefix ; bn_save_exec_prefix=$exec_prefix
  AS_IF([test "x$prefix" = xNONE], [prefix=$ac_default_prefix])
  AS_IF([test "x$exec_prefix" = xNONE], [exec_prefix=$prefix])
  bn_from=$2 ; bn_to=$3
  for bn_i in 1 2 3 4; do
    eval "bn_from=\"$bn_from\"" ; eval "bn_to=\"$bn_to\""
  done
  prefix=$bn_save_prefix ; exec_prefix=$bn_save_exec_prefix
  $1=`AS_ECHO(["$bn_from:$bn_to"]) | awk -F: '{
    n = split($[]1, a, "/"); m = split($[]2, b, "/"); i = 1
    while (i <= n && i <= m && a[[i]] == b[[i]]) i++
    for (j = i; j <= n; j++) if (a[[j]] != "") p = p "../"
    for (j = i; j <= m; j++) if (b[[j]] != "") p = p b[[j]] "/"
    sub("/$", "", p); print (p == "" ? "." : p) }'`
  AC_SUBST([$1])
])
