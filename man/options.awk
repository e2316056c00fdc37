# SPDX-License-Identifier: GPL-2.0-or-later
# Puts options in place of @OPTIONS@ in a manual page: the sections of --help-man that belong to
# the page, with the explanations of options.more after the first sentence of each option.
# Usage: awk -v page=bench.1 -f options.awk options.more OPTIONS PAGE
function owner(section) {
  if (section ~ /^(General options|Random numbers|Messages and latency)$/) return "bench.1"
  if (section ~ /^(Report .*|bench report|bench merge)$/) return "bench-output.7"
  if (section ~ /^bench /) return "bench-studies.7"
  return "bench-workloads.7"
}
FNR == 1 { file++ }
file == 1 && sub(/^\.\\" option: /, "") { name = $0; next }
file == 1 { if (name != "") more[name] = more[name] $0 "\n"; next }
file == 2 && /^\.Ss / { mine = owner(substr($0, 5)) == page }
file == 2 && /^\.It Fl Fl / { name = $4 }
file == 2 {
  before = ""
  if ($0 == ".br" && name in more) { before = more[name]; delete more[name] }
  if (mine) options = options before $0 "\n"
  next
}
/@OPTIONS@/ { printf "%s", options; next }
{ print }
END {
  for (name in more) {
    print "options.more explains an option that does not exist: " name >"/dev/stderr"
    exit 1
  }
}
