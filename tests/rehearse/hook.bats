#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The hook and the stand-in: what each program of a script becomes, and with which arguments and variables.

load behind

# asked LINE...: the stand-ins were these, in any order: who, place, pipe, words
asked()
{
    diff <(printf '%s\n' "$@" | sort) <(sort "$requests")
}

@test "programs: -> shells, scripts and filters start; every other one is a stand-in, installed or not" {
    printf '#!/bin/sh\necho script "$@"; python3 in.py\n' > tool
    chmod +x tool
    printf 'echo without a first line\n' > bare
    chmod +x bare
    printf '#!/usr/bin/env python3\nprint("python")\n' > tool.py
    chmod +x tool.py
    behind << 'END'
echo b a | tr ' ' '\n' | sort
./tool "a b"
./bare
./tool.py --flag
no-such-program "x  y" ''
/no/such/path/program
exec python3 last.py
END
    is_output a b 'script a b' 'without a first line'
    asked 'batch script.sh:2 - python3 in.py' 'batch script.sh:4 - ./tool.py --flag' \
        'batch script.sh:5 - no-such-program x  y ' 'batch script.sh:6 - /no/such/path/program' \
        'batch script.sh:7 - python3 last.py'
}

@test "shells: -> bash, sh, dash, mksh and zsh have the hook" {
    behind << 'END'
for shell in bash sh dash mksh zsh; do
    $shell -c 'echo $0 > here && cat here && mkdir -p d/e && cd d/e && pwd && python3 $0 && true' $shell
done
END
    is_output bash "$home/d/e" sh "$home/d/e" dash "$home/d/e" mksh "$home/d/e" zsh "$home/d/e"
    [ "$(cut -d ' ' -f 4- "$requests")" = "$(printf 'python3 %s\n' bash sh dash mksh zsh)" ]
    [ -z "$(ls)" ]
}

@test "dash: exec of a program by its name -> the one in PATH starts, or its stand-in" {
    behind << 'END'
dash -c 'exec bash -c "echo started"'
sh -c 'exec seq 1'
dash -c 'exec python3 x'
sh -c 'exec no-such-program'
END
    is_output started 1
    [ "$(cut -d ' ' -f 4- "$requests")" = "$(printf '%s\n' 'python3 x' no-such-program)" ]
}

@test "programs that start others: -> env -i, xargs, find -exec, timeout, nice, awk and sed go through the hook" {
    behind << 'END'
env -i python3 env
echo 1 2 | xargs -n1 python3
find . -maxdepth 0 -exec python3 {} \;
timeout 5 nice python3 timed
awk 'BEGIN { system("python3 system"); "hostname" | getline name; print name }'
unset LD_PRELOAD; python3 unset
END
    is_output n1
    [ "$(cut -d ' ' -f 4- "$requests" | sort)" = "$(sort << 'END'
python3 env
python3 1
python3 2
python3 .
python3 timed
python3 system
hostname
python3 unset
END
)" ]
}

@test "the environment: -> a program has its user's variables, and none of the rehearsal's" {
    behind <<< 'A=$'"'"'two\nlines'"'"' LD_PRELOAD=/own.so BASH_ENV=/own.sh python3
printenv | grep -E "LD_PRELOAD|BASH_ENV" | grep -v ROLLCALL_REHEARSAL_AT'
    is_output ''
    grep -qx LD_PRELOAD=/own.so "$scratch/environment"
    grep -qx BASH_ENV=/own.sh "$scratch/environment"
    grep -qx A=two "$scratch/environment"
    grep -qx "@cwd=$home" "$scratch/environment"
    run grep ROLLCALL_REHEARSAL "$scratch/environment"
    [ "$status" = 1 ]
}

@test "an environment with LD_PRELOAD and BASH_ENV: -> the script sees both" {
    LD_PRELOAD=$prefix/lib/librollcall-preload.so behind <<< 'echo "$LD_PRELOAD"; env | grep ^LD_PRELOAD; python3'
    is_output "$prefix/lib/librollcall-preload.so" "LD_PRELOAD=$prefix/lib/librollcall-preload.so"
    grep -qx "LD_PRELOAD=$prefix/lib/librollcall-preload.so" "$scratch/environment"
}

@test "a stand-in: -> pipes, standard input, exit status, a lost connection" {
    behind << 'END'
x=$(hostname) && echo "$x"
echo through | input
status 7 || echo "$?"
lost || echo "$?"
python3 | cat
END
    is_output n1 through 7 125
    asked 'batch script.sh:1 pipe hostname' 'batch script.sh:2 - input' 'batch script.sh:3 - status 7' \
        'batch script.sh:4 - lost' 'batch script.sh:5 pipe python3'
}

@test "tasks: -> each has its variables, its name and its exit status" {
    behind << 'END'
srun bash -c 'echo task $SLURM_PROCID; python3 $SLURM_PROCID; status $SLURM_PROCID' > out
echo $?
sort out
srun no-such-program
END
    is_output 1 'task 0' 'task 1'
    asked 'batch script.sh:1 - srun bash -c echo task $SLURM_PROCID; python3 $SLURM_PROCID; status $SLURM_PROCID' \
        'task0 script.sh:1 - python3 0' 'task1 script.sh:1 - python3 1' 'task0 script.sh:1 - status 0' \
        'task1 script.sh:1 - status 1' 'batch script.sh:4 - srun no-such-program' \
        'task0 script.sh:4 - no-such-program' 'task1 script.sh:4 - no-such-program'
}

@test "module, conda activate, a missing file to source: -> the script goes on, also with set -eu" {
    echo 'sourced=$1' > there.sh
    behind << 'END'
set -eu
module load cuda
conda activate env
source ./there.sh one
source "$PWD/missing/activate" && . ./missing.sh
echo "$sourced"
END
    is_output one
    [ "$(cat "$scratch/notes")" = "folder	$home/missing	script.sh:5" ]
}
