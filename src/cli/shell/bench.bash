# SPDX-License-Identifier: GPL-2.0-or-later
# Completion for bash 4.3 and later: bench --completion=bash prints it.
#
# Each row is kind|scope|name|words|text:
#   test|NAME|||title                   a built-in test; script: a bundled one; subcommand
#   command|TEST|NAME||                 what may follow the test
#   option|SCOPE|NAME=|WORDS|help       WORDS: values, or @file; scope: any, database, a test

_bench_rows=( \
@ROWS@
)

# Adds what begins as the word does.
_bench_offer()
{
  local word
  for word; do
    [[ $word == "$_bench_word"* ]] && _bench_found+=("$word")
  done
}

# Adds files by the end of the word, which is their name so far.  $2: only those, and folders.
_bench_offer_files()
{
  local name head=${_bench_word%"$1"}
  local -a names=()
  mapfile -t names < <(compgen -f -X "${2:+!$2}" -- "$1"; [[ -z ${2-} ]] || compgen -d -- "$1")
  for name in "${names[@]}"; do
    _bench_found+=("$head$name")
  done
  compopt -o filenames 2>/dev/null
}

# Bash parts words at "=" and ":" too; here they are whole again.
_bench_join()
{
  local i word last
  _bench_words=("${COMP_WORDS[0]}")
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    last=${_bench_words[-1]}
    if [[ $last == --* && ($word == [=:]* || $last == *[=:]) ]]; then
      _bench_words[-1]+=$word
    else
      _bench_words+=("$word")
    fi
  done
  _bench_word=${_bench_words[-1]}
}

# Sets test and command from the words before the one that is completed.
_bench_read()
{
  local i word
  for ((i = 1; i < ${#_bench_words[@]} - 1; i++)); do
    word=${_bench_words[i]}
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
  test=${test##*/}
  test=${test%.lua}
}

_bench_kind()
{
  local row
  for row in "${_bench_rows[@]}"; do
    case $row in
    "test|$test|"* | "script|$test|"* | "subcommand|$test|"*)
      kind=${row%%|*}
      return
      ;;
    esac
  done
  kind=script
}

_bench_offer_tests()
{
  local row name
  for row in "${_bench_rows[@]}"; do
    case $row in
    script\|*)
      name=${row#*|}
      name=${name%%|*}
      _bench_offer "$name"
      # Both spellings at once would be a list twice as long.
      [[ $_bench_word == "$name"* ]] && _bench_offer "$name.lua"
      ;;
    test\|* | subcommand\|*)
      name=${row#*|}
      _bench_offer "${name%%|*}"
      ;;
    esac
  done
  [[ -n $helps ]] || _bench_offer help
  [[ -z $_bench_word ]] || _bench_offer_files "$_bench_word" '*.lua'
}

_bench_offer_commands()
{
  local row name any=
  for row in "${_bench_rows[@]}"; do
    if [[ $row == "command|$test|"* ]]; then
      name=${row#*|*|}
      _bench_offer "${name%%|*}"
      any=yes
    fi
  done
  [[ -n $any ]] || _bench_offer prepare run cleanup help
}

_bench_has_scope()
{
  case $1 in
  any) [[ $kind != subcommand ]] ;;
  database) [[ $kind == script ]] ;;
  *) [[ $1 == "$test" ]] ;;
  esac
}

_bench_offer_values()
{
  local value=${_bench_word#*=} word
  case $1 in
  @file) _bench_offer_files "$value" ;;
  *)
    for word in $1; do
      if [[ $word == *: && $value == "$word"* ]]; then
        _bench_offer_files "${value#"$word"}"
      else
        _bench_offer "${_bench_word%%=*}=$word"
      fi
    done
    ;;
  esac
}

_bench_offer_options()
{
  local row scope name rest wanted=${_bench_word%%=*}
  wanted=${wanted//_/-}
  for row in "${_bench_rows[@]}"; do
    [[ $row == option\|* ]] || continue
    rest=${row#*|}
    scope=${rest%%|*}
    _bench_has_scope "$scope" || continue
    rest=${rest#*|}
    name=${rest%%|*}
    rest=${rest#*|}
    if [[ $_bench_word != *=* ]]; then
      _bench_offer "--$name"
    elif [[ $wanted == "--${name%=}" ]]; then
      _bench_offer_values "${rest%%|*}"
    fi
  done
}

_bench()
{
  local IFS=$' \t\n' test='' command='' kind helps='' word tail
  local _bench_word
  local -a _bench_words _bench_found=()
  _bench_join
  _bench_read
  _bench_kind
  if [[ $_bench_word == -* ]]; then
    _bench_offer_options
  elif [[ -z $test ]]; then
    _bench_offer_tests
  elif [[ $kind == subcommand ]]; then
    _bench_offer_files "$_bench_word"
  elif [[ -z $command && -z $helps ]]; then
    _bench_offer_commands
  fi
  # Readline replaces only what it takes for the word.
  tail=${COMP_WORDS[COMP_CWORD]}
  [[ $tail == [=:]* ]] && tail=
  COMPREPLY=()
  for word in "${_bench_found[@]}"; do
    COMPREPLY+=("${word#"${_bench_word%"$tail"}"}")
  done
  [[ ${_bench_found[*]} == *[=:] ]] && compopt -o nospace 2>/dev/null
  return 0
}

complete -F _bench bench
