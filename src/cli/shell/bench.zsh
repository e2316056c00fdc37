#compdef bench
# SPDX-License-Identifier: GPL-2.0-or-later
# Completion for zsh 5: bench --completion=zsh prints it.
#
# Each row is kind|scope|name|words|text:
#   test|NAME|||title                   a built-in test; script: a bundled one; subcommand
#   command|TEST|NAME||                 what may follow the test
#   option|SCOPE|NAME=|WORDS|help       WORDS: values, or @file; scope: any, database, a test

_bench_rows=( \
@ROWS@
)

# Words that go on, as --threads= does, get no blank after them.  $1: the word, $2: what it is.
_bench_offer()
{
  local line="$1${2:+  -- $2}"
  if [[ $1 == *[=:] ]]; then
    open+=("$1") open_lines+=("$line")
  else
    whole+=("$1") whole_lines+=("$line")
  fi
}

_bench_show()
{
  (( $#open )) && compadd -l -S '' -d open_lines -a open
  (( $#whole )) && compadd -l -d whole_lines -a whole
}

# Sets test and command from the words before the one that is completed.
_bench_read()
{
  local word
  for word in "${(@)words[2,CURRENT-1]}"; do
    if [[ $word == --test=* ]]; then
      test=${word#*=}
    elif [[ $word == -* ]]; then
      continue
    elif [[ -z $test && $word == help && -z $helps ]]; then
      helps=yes
    elif [[ -z $test ]]; then
      test=$word
    else
      command=$word
    fi
  done
  test=${${test##*/}%.lua}
}

_bench_offer_tests()
{
  local row
  local -a part
  for row in $_bench_rows; do
    part=("${(@s:|:)row}")
    [[ $part[1] == (test|script|subcommand) ]] || continue
    _bench_offer $part[2] "$part[5]"
    # Both spellings at once would be a list twice as long.
    [[ $part[1] == script && $PREFIX == $part[2]* ]] && _bench_offer $part[2].lua
  done
  [[ -n $helps ]] || _bench_offer help 'options of a test'
  _bench_show
  [[ -z $PREFIX ]] || _files -g '*.lua'
}

_bench_offer_commands()
{
  local row
  local -a part
  for row in $_bench_rows; do
    part=("${(@s:|:)row}")
    [[ $part[1] == command && $part[2] == $test ]] && _bench_offer $part[3]
  done
  (( $#whole )) || whole=(prepare run cleanup help) whole_lines=(prepare run cleanup help)
  _bench_show
}

_bench_has_scope()
{
  case $1 in
  any) [[ $kind != subcommand ]] ;;
  database) [[ $kind == script ]] ;;
  *) [[ $1 == $test ]] ;;
  esac
}

# $1: the values of the option that the word begins with.
_bench_offer_values()
{
  local word value=${PREFIX#*=}
  if [[ $1 == @file ]]; then
    compset -P '*=' && _files
    return
  fi
  for word in ${=1}; do
    if [[ $word == *: && $value == $word* ]]; then
      compset -P '*:' && _files
      return
    fi
    _bench_offer "${PREFIX%%=*}=$word"
  done
  _bench_show
}

_bench_offer_options()
{
  local row wanted=${${PREFIX%%=*}//_/-}
  local -a part
  for row in $_bench_rows; do
    part=("${(@s:|:)row}")
    [[ $part[1] == option ]] && _bench_has_scope $part[2] || continue
    if [[ $PREFIX != *=* ]]; then
      _bench_offer "--$part[3]" "$part[5]"
    elif [[ $wanted == "--${part[3]%=}" ]]; then
      _bench_offer_values "$part[4]"
      return
    fi
  done
  _bench_show
}

_bench()
{
  local test= command= kind=script helps= row
  local -a part open open_lines whole whole_lines
  _bench_read
  for row in $_bench_rows; do
    part=("${(@s:|:)row}")
    [[ $part[1] == (test|script|subcommand) && $part[2] == $test ]] && kind=$part[1]
  done
  if [[ $PREFIX == -* ]]; then
    _bench_offer_options
  elif [[ -z $test ]]; then
    _bench_offer_tests
  elif [[ $kind == subcommand ]]; then
    _files
  elif [[ -z $command && -z $helps ]]; then
    _bench_offer_commands
  fi
}

# Found in a folder of completions, this file is the body of _bench; else it was sourced.
if [[ ${funcstack[1]-} == _bench ]]; then
  _bench "$@"
elif (( $+functions[compdef] )); then
  compdef _bench bench
fi
