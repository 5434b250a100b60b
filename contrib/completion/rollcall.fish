# rollcall.fish - what fish completes after `rollcall`. `rollcall complete` (cli/complete.c) knows the candidates.

function __rollcall_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l current $words[-1]
    # it is as it was typed: ~/bin/rollcall
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    for line in (command $program complete $words[2..-1] 2>/dev/null)
        switch $line
            case :files
                set -l option (string match -r -- '^--[a-z]+=' $current)
                for file in (__fish_complete_path (string replace -r -- '^--[a-z]+=' '' $current))
                    echo "$option$file"
                end
            case ':command*'
                set -l first (math 1 + (string replace ':command ' '' -- $line))
                complete -C (string join ' ' -- (string escape -- $words[$first..-1]))
            case '*'
                echo $line
        end
    end
end

complete -c rollcall -f -a '(__rollcall_complete)'
