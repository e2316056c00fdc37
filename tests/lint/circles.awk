# Reads lines "object symbol D" and "object symbol U"; prints the circles in which objects call each
# other, with the symbols that tie them, and how many there are.  The components are Tarjan's.
{
  if (!($1 in node)) {
    node[$1] = ++nodes
    name[nodes] = $1
  }
  if ($3 == "D")
    homes[$2] = homes[$2] " " node[$1]
  else
    wants[node[$1]] = wants[node[$1]] " " $2
}

function connect(from,   symbols, n, i, found, m, k) {
  n = split(wants[from], symbols, " ")
  for (i = 1; i <= n; i++) {
    m = split(homes[symbols[i]], found, " ")
    for (k = 1; k <= m; k++) {
      if (found[k] == from)
        continue
      if (!((from, found[k]) in tie))
        calls[from] = calls[from] " " found[k]
      tie[from, found[k]] = tie[from, found[k]] " " symbols[i]
    }
  }
}

function visit(v,   next_ones, n, i, w) {
  reached[v] = least[v] = ++clock
  stack[++depth] = v
  waiting[v] = 1
  n = split(calls[v], next_ones, " ")
  for (i = 1; i <= n; i++) {
    w = next_ones[i]
    if (!(w in reached)) {
      visit(w)
      if (least[w] < least[v]) least[v] = least[w]
    } else if (waiting[w] && reached[w] < least[v])
      least[v] = reached[w]
  }
  if (least[v] == reached[v])
    close_component(v)
}

function close_component(v,   first, i, k) {
  for (first = depth; stack[first] != v; first--)
    ;
  if (first < depth) {
    printf "circle of %d objects\n", depth - first + 1
    for (i = first; i <= depth; i++)
      for (k = first; k <= depth; k++)
        if ((stack[i], stack[k]) in tie)
          print "  " name[stack[i]] " -> " name[stack[k]] ":" tie[stack[i], stack[k]]
    circles++
  }
  for (; depth >= first; depth--)
    waiting[stack[depth]] = 0
}

END {
  for (v = 1; v <= nodes; v++)
    connect(v)
  for (v = 1; v <= nodes; v++)
    if (!(v in reached))
      visit(v)
  printf "%d circles\n", circles
  exit circles > 0
}
