# SPDX-License-Identifier: GPL-2.0-or-later
# Completion for fish 3: bench --completion=fish prints it.
#
# Each row is kind|scope|name|words|text:
#   test|NAME|||title                   a built-in test; script: a bundled one; subcommand
#   command|TEST|NAME||                 what may follow the test
#   option|SCOPE|NAME=|WORDS|help       WORDS: values, or @file; scope: any, database, a test

set -g __bench_rows \
@ROWS@


# Files whose names begin with the second argument; the first stands before each of them.
function __bench_files
    for file in $argv[2]*
        if test -d "$file"
            echo "$argv[1]$file/"
        else if not set -q argv[3]; or string match -q -- "*$argv[3]" "$file"
            echo "$argv[1]$file"
        end
    end
end

function __bench_tests
    set -l word $argv[1]
    for row in (string match -r '^(?:test|script|subcommand)\|.*' -- $__bench_rows)
        set -l part (string split '|' -- $row)
        printf '%s\t%s\n' $part[2] $part[5]
        # Both spellings at once would be a list twice as long.
        if test $part[1] = script; and string match -q -- "$part[2]*" "$word"
            echo $part[2].lua
        end
    end
    printf '%s\t%s\n' help 'options of a test'
    test -n "$word"; and __bench_files '' "$word" .lua
end

function __bench_commands
    set -l any
    for row in (string match -- "command|$argv[1]|*" $__bench_rows)
        set any (string split '|' -- $row)[3]
        echo $any
    end
    test -n "$any"; or printf '%s\n' prepare run cleanup help
end

# The word, and the values of its option.
function __bench_values
    set -l option (string replace -r '=.*' '=' -- $argv[1])
    set -l value (string replace -r '^[^=]*=' '' -- $argv[1])
    if test "$argv[2]" = @file
        __bench_files $option "$value"
        return
    end
    for word in (string split -n ' ' -- $argv[2])
        if string match -q -- '*:' $word; and string match -q -- "$word*" "$value"
            __bench_files $option$word (string replace -- $word '' "$value")
        else
            echo $option$word
        end
    end
end

# The word, then the scopes whose options may be given.
function __bench_options
    set -l wanted (string replace -a _ - -- (string replace -r '=.*' '=' -- $argv[1]))
    for row in (string match -- 'option|*' $__bench_rows)
        set -l part (string split '|' -- $row)
        contains -- $part[2] $argv[2..-1]; or continue
        if not string match -q -- '*=*' $argv[1]
            printf '%s\t%s\n' --$part[3] $part[5]
        else if test "$wanted" = "--"(string trim -r -c = -- $part[3])=
            __bench_values $argv[1] "$part[4]"
            return
        end
    end
end

function __bench_complete
    set -l word (commandline -ct)
    set -l name
    set -l command
    set -l helps
    for before in (commandline -opc)[2..-1]
        switch $before
            case '--test=*'
                set name (string replace -- --test= '' $before)
            case '-*'
            case help
                if test -z "$name" -a -z "$helps"
                    set helps yes
                else
                    set command $before
                end
            case '*'
                if test -z "$name"
                    set name $before
                else
                    set command $before
                end
        end
    end
    set name (string replace -r '\.lua$' '' -- (string replace -r '.*/' '' -- "$name"))
    set -l kind script
    for candidate in test subcommand
        if test -n "$name"; and string match -q -- "$candidate|$name|*" $__bench_rows
            set kind $candidate
        end
    end
    if string match -q -- '-*' $word
        set -l scopes "$name"
        test $kind = subcommand; or set -a scopes any
        test $kind = script; and set -a scopes database
        __bench_options $word $scopes
    else if test -z "$name"
        __bench_tests "$word"
    else if test $kind = subcommand
        __bench_files '' "$word"
    else if test -z "$command" -a -z "$helps"
        __bench_commands $name
    end
end

complete -c bench -f -a '(__bench_complete)'
