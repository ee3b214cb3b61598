# Bash completion of dwell. It asks dwell for its commands, their options and the views, so it is
# never stale.

# Words at the start of the lines of `dwell help $2` behind the line "$3:".
_dwell_list()
{
    "$1" help ${2:+"$2"} 2>/dev/null | sed -n "/^$3:/,/^\$/s/^  \([a-z][a-z-]*\) .*/\1/p"
}

_dwell()
{
    local dwell=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
    local previous=${COMP_WORDS[COMP_CWORD - 1]} words=
    [[ $COMP_CWORD -gt 1 && $command == *.dwell* ]] && command=read
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="$(_dwell_list "$dwell" "" Commands) --version"
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"; compgen -f -X '!*.dwell*' -- "$current")
        return
    elif [ "$command" = help ]; then
        words=$(_dwell_list "$dwell" "" Commands)
    elif [[ $current == -* ]]; then
        words=$("$dwell" help "$command" 2>/dev/null | grep -o -- '--[a-z][a-z-]*' | sort -u)
    elif [[ $command == export && ( $previous == --format || $previous == -f ) ]]; then
        words=$(_dwell_list "$dwell" export Formats)
    elif [[ $previous == --format || $previous == -f ]]; then
        words="table csv json xml"
        [ "$command" = diff ] && words="table csv json markdown"
    elif [[ $command == diff && $previous == --method ]]; then
        words="sample instrument memory"
    elif [[ $command == diff && ( $COMP_CWORD -le 3 || $previous == --base || $previous == --new ) ]]; then
        mapfile -t COMPREPLY < <(compgen -f -X '!*.dwell*' -- "$current"; compgen -d -- "$current")
        compopt -o filenames 2>/dev/null
        return
    elif [[ $command == diff && $previous != -* ]]; then
        words=$(_dwell_list "$dwell" diff Views)
    elif [[ $previous == --by ]]; then
        words="process thread command"
    elif [[ $command == re* && $previous != -* && $COMP_CWORD -gt 2 ]]; then
        words=$(_dwell_list "$dwell" "$command" Views)
    elif [[ $command == import && $COMP_CWORD -eq 2 ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        compopt -o filenames 2>/dev/null
        return
    elif [[ $command == merge && $current != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -X '!*.dwell*' -- "$current"; compgen -d -- "$current")
        compopt -o filenames 2>/dev/null
        return
    elif [[ ( $command == re* || $command == export || $command == view ) && $COMP_CWORD -eq 2 ]]; then
        mapfile -t COMPREPLY < <(compgen -f -X '!*.dwell*' -- "$current"; compgen -d -- "$current")
        compopt -o filenames 2>/dev/null
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    # Otherwise a program, its arguments or a file: bash completes those.
}
complete -o default -F _dwell dwell
