# SPDX-License-Identifier: GPL-2.0-or-later
# Puts the explanations of options.more behind the first sentence of each option of --help-man.
# Usage: awk -f options.awk options.more OPTIONS
FNR == NR && sub(/^\.\\" option: /, "") { name = $0; next }
FNR == NR { if (name != "") more[name] = more[name] $0 "\n"; next }
/^\.It Fl Fl / { name = $4 }
$0 == ".br" && name in more { printf "%s", more[name]; delete more[name] }
{ print }
END {
  for (name in more) {
    print "options.more explains an option that does not exist: " name >"/dev/stderr"
    exit 1
  }
}
