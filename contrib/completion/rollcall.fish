# rollcall.fish - what fish completes behind `rollcall`. tests/cli/completion.bats compares it with --help and lib/resolve/option.def.

function __rollcall_ddp
    set -l text (string replace -r '^--ddp=' '' -- (commandline -ct))
    set -l before --ddp=(string replace -r '[^,]*$' '' -- $text)
    set -l modes auto worker launcher off
    string match -q '*,*' -- $text; and set modes
    for word in $modes order={launcher,node,topology} nproc= addr=given port= exchange={auto,pmix,srun,off} \
            check={off,warn,stop,strict} same={off,warn,stop} deadline= watch watch={on,off} \
            guard={nccl,off} gpus={auto,all,own} bind={auto,cores,numa,none} nic={auto,none} lookup={system,numeric}
        echo $before$word
    end
end

function __rollcall_in
    set -l words (commandline -opc)
    test (count $words) -gt 1; and contains -- $words[2] $argv
end

complete -c rollcall -f
complete -c rollcall -n __fish_use_subcommand -a exec -d 'set the environment of this task, then become a command'
complete -c rollcall -n __fish_use_subcommand -a show -d 'who this process is, and what would be set'
complete -c rollcall -n __fish_use_subcommand -a explain -d 'why each value is what it is, or what a message means'
complete -c rollcall -n __fish_use_subcommand -a check -d 'the roll call of a live step'
complete -c rollcall -n __fish_use_subcommand -a map -d 'which GPU, cores and NIC belong together'
complete -c rollcall -n __fish_use_subcommand -a doctor -d 'what would go wrong'
complete -c rollcall -n __fish_use_subcommand -s V -l version -d 'the version, and what was found at build'
complete -c rollcall -s h -l help -d 'a short help'

complete -c rollcall -n '__rollcall_in exec show explain' -l ddp -d 'mode and keys'
complete -c rollcall -n '__rollcall_in exec show explain; and string match -q -- "--ddp=*" (commandline -ct)' -a '(__rollcall_ddp)'
complete -c rollcall -n '__rollcall_in exec' -s v -l verbose -d 'say what was found'
complete -c rollcall -n '__rollcall_in exec' -a '(__fish_complete_subcommand --fcs-skip=2)'
complete -c rollcall -n '__rollcall_in show explain' -l from -r -F -d 'a recorded environment'
complete -c rollcall -n '__rollcall_in show explain check' -l pid -x -a '(__fish_complete_pids)' -d 'a process'
complete -c rollcall -n '__rollcall_in show explain check map doctor' -l json -d 'one JSON object'
complete -c rollcall -n '__rollcall_in check' -l exclude -d 'the nodes to leave out'
complete -c rollcall -n '__rollcall_in show' -l long -d 'all values, of several tasks, too'
complete -c rollcall -n '__rollcall_in explain' -l list -d 'all messages'
complete -c rollcall -n '__rollcall_in explain' -a '(rollcall explain --list 2> /dev/null | string replace -r " +[a-z]+ +" \t)'
complete -c rollcall -n '__rollcall_in map' -l tasks -x -d 'so many tasks'
complete -c rollcall -n '__rollcall_in map' -l gpus -x -d 'the GPUs of the local ranks'
complete -c rollcall -n '__rollcall_in map' -l cpus -x -d 'of these hardware threads alone'
complete -c rollcall -n '__rollcall_in check' -l html -d 'a page for a browser'
complete -c rollcall -n '__rollcall_in map' -l from -r -F -d 'the topology of another machine'
complete -c rollcall -n '__rollcall_in map' -l xml -r -F -d 'the topology with colours'
complete -c rollcall -n '__rollcall_in doctor' -l script -r -F -d 'a job script'
complete -c rollcall -n '__rollcall_in doctor' -F
