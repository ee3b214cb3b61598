# Bash completion of dwell. It asks dwell for its commands and their options, so it is never stale.
_dwell()
{
    local dwell=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="$("$dwell" help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p') --version"
    elif [ "$command" = help ]; then
        words=$("$dwell" help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')
    elif [[ $current == -* ]]; then
        words=$("$dwell" help "$command" 2>/dev/null | grep -o -- '--[a-z][a-z-]*' | sort -u)
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    # Otherwise a session, a program or its arguments: bash completes files.
}
complete -o default -F _dwell dwell
