# rollcall.fish - what fish completes after `rollcall`. `rollcall complete` (cli/complete.c) knows the candidates.

function __rollcall_complete
    # ~/bin/rollcall is as it was typed
    set -l words (string replace -r '^~/' "$HOME/" -- (commandline -opc) (commandline -ct))
    set -l found (command $words[1] complete $words[2..-1] 2>/dev/null)
    if set -l before (string replace -f ':command ' '' -- $found)
        complete -C (string join ' ' -- (string escape -- $words[(math 1 + $before)..-1]))
    else
        string join \n -- $found
    end
end

complete -c rollcall -f -a '(__rollcall_complete)'
complete -c rollcall -F -n 'not __rollcall_complete | string length -q'
