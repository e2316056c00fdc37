# Judges one function of objdump's output for kernels.sh: name, kind (load or store) and order
# (sequential or random) are given.

function complain(what)
{
  print name ": " what
  bad = 1
}

# Numbers as objdump writes them: 0x40, -0x8.
function number(text,   sign, value, i)
{
  sign = sub(/^-/, "", text) ? -1 : 1
  sub(/^0x/, "", text)
  if (length(text) == 16 && text ~ /^f/) { # a negative one of 64 bits
    for (i = 9; i <= 16; i++) value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
    return value - 4294967296
  }
  for (i = 1; i <= length(text); i++)
    value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
  return sign * value
}

# The operands of a mov between memory and a general register of 64 bits: 1 and base, disp, scaled.
function access(text,   memory)
{
  if (kind == "load" && text ~ /^mov +[^%$,]*\([^)]*\),%r[a-z0-9]*$/) {
    memory = text
    sub(/^mov +/, "", memory)
    sub(/\),%r.*/, "", memory)
  } else if (kind == "store" && text ~ /^mov +%r[a-z0-9]*,[^%$,]*\([^)]*\)$/) {
    memory = text
    sub(/^mov +%r[a-z0-9]*,/, "", memory)
    sub(/\)$/, "", memory)
  } else
    return 0
  if (text ~ /%r[0-9]+[dwb]/) return 0
  split(memory, part, /\(/)
  disp = part[1] == "" ? 0 : number(part[1])
  base = part[2]
  scaled = base ~ /,8$/
  sub(/,.*/, "", base)
  return 1
}

$0 ~ "<" name ">:$" { inside = 1; next }
inside && NF == 0 { inside = 0 }
inside {
  line = $0
  sub(/^ */, "", line)
  split(line, field, /:\t/)
  n++
  place[field[1]] = n
  code[n] = field[2]
  sub(/ *#.*/, "", code[n])
  sub(/ +$/, "", code[n])
}

# The loop between two lines: its accesses, as distances from where the round began.
function sequential(from, to,   i, moved, found, lowest, highest, seen, count, text)
{
  lowest = 1e9
  highest = -1e9
  for (i = from; i <= to; i++) {
    text = code[i]
    if (text ~ /[xyz]mm/) complain("uses vectors: " text)
    if (text ~ /^add +\$.*,%r/) {
      split(text, word, /[$,%]+/)
      moved[word[3]] += number(word[2])
    } else if (text ~ /^lea|^nop|^cs nop|^data16/ || text !~ /\(/) {
      continue
    } else if (access(text) && !scaled) {
      sub(/^%/, "", base)
      found = disp + moved[base]
      if (found in seen) complain("accesses a word twice in a round")
      seen[found] = 1
      count++
      if (found < lowest) lowest = found
      if (found > highest) highest = found
    } else
      complain("touches memory with: " text)
  }
  if (count == 8 && highest - lowest == 56) eights++
  else if (count == 1) ones++
  else complain(count + 0 " accesses over " highest - lowest + 8 " bytes in a round")
}

# Walks through the function by chance and looks that between two steps of the counter there is one
# access to a word, whatever way the walk took.
function random_walk(   i, steps, words, rounds, text, target, indexed)
{
  srand(1)
  i = 1
  for (steps = 0; steps < 20000; steps++) {
    text = code[i]
    if (text ~ /^lea +\([^)]*,8\),/) {
      indexed = text
      sub(/^lea.*\),/, "", indexed)
    } else if (access(text) && (scaled || base == indexed)) {
      words++
      indexed = ""
    }
    if (text ~ /^(sub +\$0x1|add +\$0xffffffffffffffff|dec),?/) {
      if (words != 1) {
        complain(words + 0 " accesses to words in a round")
        return
      }
      words = 0
      rounds++
    }
    if (text ~ /^ret/) {
      i = 1
      words = 0
      continue
    }
    if (text ~ /^j/) {
      split(text, word, / +/)
      target = place[word[2]]
      if (text ~ /^jmp/ || rand() < 0.5) {
        i = target
        continue
      }
    }
    i++
  }
  if (rounds < 100) complain("no loop found")
}

END {
  if (n == 0) {
    complain("not in the program")
    exit 1
  }
  if (order == "random")
    random_walk()
  else {
    for (i = 1; i <= n; i++)
      if (code[i] ~ /^j/) {
        split(code[i], word, / +/)
        if (place[word[2]] > 0 && place[word[2]] < i) sequential(place[word[2]], i)
      }
    if (eights != 1 || ones != 1) complain("not one loop of eight words and one of the rest")
  }
  exit bad
}
