# Completion of agent for fish: agent completion fish
function __agent_complete
    set -l words (commandline -opc) (commandline -ct)
    set -e words[1]
    set -l lines (command agent complete -- $words 2>/dev/null </dev/null)
    if test "$lines[1]" = ':files'
        __fish_complete_path (commandline -ct)
    else if test (count $lines) -gt 0
        printf '%s\n' $lines
    end
end
complete -c agent -f -k -a '(__agent_complete)'
