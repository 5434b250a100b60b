#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# readme.bats - what README.md and the pages of docs tell a reader to type is typed: each command of their code blocks
# and tables, word for word, on the login node of a cluster, with rollcall where they have put it, in $HOME/rollcall.

load helpers
load containers
load ../pages

setup_file()
{
    needs_root || return 0
    cluster_up --nodes 2 --cpus 4 --gpus 2 --mpi pmix
    # a reader's home and folder
    mkdir -p "$shared/home" "$shared/work"
    ln -s "$ROLLCALL_PREFIX" "$shared/home/rollcall"
    cp -r "$tree/contrib" "$shared/work/contrib"
    cp "$whoami" "$shared/work/train.py"
    python3 -B "$tree/tests/vectors/recordings.py" print slurm-gpus > "$shared/work/saved.env"
    job_of_readme - > "$shared/work/job.sh"
    echo "ValueError: environment variable RANK expected, but not set" > "$shared/work/slurm-42.out"
    # a program of the reader's that wants one process
    mkdir "$shared/home/bin"
    printf '#!/bin/sh\necho "boltz is rank $RANK of $WORLD_SIZE"\n' > "$shared/home/bin/boltz"
    printf '#!/bin/sh\nexec torchrun --nproc-per-node=1 train.py\n' > "$shared/work/run.sh"
    chmod 755 "$shared/home/bin/boltz" "$shared/work/run.sh"
}

# The job of README.md as it was (+: without the lines that come) or as it becomes (-: without those that go).
job_of_readme()
{
    page_blocks "$tree/README.md" diff 1 | grep -v "^[$1]" | cut -c2-
}

# What is not typed here: a pattern, and behind a tab where it is, or why it cannot be.
elsewhere()
{
    cat << 'END'
contrib/demo/demo *	demo.bats
tests/run *	it runs this
apt-get install *	tests/packages/readme.bats
./autogen.sh *	tests/packages/readme.bats; make wheels in wheels.bats
pip install dist/*	tests/packages/wheels.bats
make && make install	tests/packages/readme.bats
ln -s *	tests/packages/readme.bats
optional *	a line of plugstack.conf; site.bats
setenv(*	a line of a module file; site.bats
pdcp *	no ssh leads to these nodes; tests/lint/installed.bats renames files of a plugin that is mapped
*cmake *	tests/cli/examples.bats
*accelerate launch*	tests/frameworks/accelerate.bats, with a configuration for machines without GPUs
srun -K conda run *	there is no conda
srun --ddp apptainer *	there is no apptainer; containers.bats reads its command line
END
}

is_elsewhere()
{
    local pattern
    while IFS=$'\t' read -r pattern _; do
        [[ $1 != $pattern ]] || return 0
    done < <(elsewhere)
    return 1
}

# commands FILE...: each once
commands()
{
    local file
    for file; do
        page_lines "$tree/$file"
        page_words "$tree/$file"
    done | awk '!seen[$0]++'
}

# A reader has more cores, GPUs and networks than this cluster.
fitted()
{
    sed 's/-per-node=4/-per-node=2/g; s/addr=ib0/addr=eth0/; s|addr=10\.1\.|addr=10.77.|' <<< "$1"
}

typed()
{
    attempt 90 env HOME="$shared/home" "$oversubscribe" ${SLURM_NTASKS:+SLURM_NTASKS=$SLURM_NTASKS} sh -c 'cd "$1" || exit 1
        PATH=$HOME/rollcall/bin:$HOME/bin:$PATH PYTHONPATH=$HOME/rollcall/share/rollcall/python
        export PYTHONPATH
        eval "$2"' sh "$shared/work" "$1"
    echo "$1: status $status"
}

# A reader's step 42 lives.
typed_beside()
{
    attempt 60 bash -c 'srun --ddp -N2 -n2 sleep 30 & step=$!
        until id=$(squeue --noheader --steps --format=%i | grep -m 1 "\.0"); do sleep 0.1; done
        until text=$(eval "${1/42/${id%.*}}" 2>&1) && [ -n "$text" ]; do
            kill -0 "$step" || exit 1
            sleep 0.2
        done
        echo "$text"; scancel "${id%.*}"; wait' bash "$1"
    succeeded
    said 'n1.*'
    said 'n2'
}

# try_command COMMAND: types it; what starts train.py has each rank once, all others print something and succeed
try_command()
{
    local command
    command=$(fitted "$1")
    # built where it is typed, and the nodes of another series have no compiler
    [[ -z ${SERIES:-} || $command != *contrib/examples* ]] || return 0
    # a reader's job has its own number of tasks, with one for each of torchrun's
    case $command in
        *srun*-N* | srun*" -w "*) unset SLURM_NTASKS ;;
        srun*torchrun*)
            unset SLURM_NTASKS
            command=${command/srun/srun -N2 --ntasks-per-node=1}
            ;;
        mpirun*:node*) # in a job, the page says
            unset SLURM_NTASKS
            command="salloc -N2 --ntasks-per-node=2 $command"
            ;;
        *) export SLURM_NTASKS=2 ;;
    esac
    case $command in
        rollcall\ check\ 42*) typed_beside "$command" ;;
        *" env | grep "*)
            typed "$command"
            [ "$status" -eq 1 ] && [ ! -s "$out" ] || explain "not as without rollcall"
            ;;
        *rollcall\ doctor*) # its findings are about this machine
            typed "$command"
            [ "$status" -ne 2 ] || explain "$command"
            said '^verdict'
            ;;
        *\ boltz*)
            typed "$command"
            succeeded
            [ "$(grep boltz "$out")" = 'boltz is rank 0 of 1' ] || explain "$command"
            ;;
        *rollcall\ map*)
            typed "$command"
            succeeded
            said 'cores?'
            ;;
        *-per-node=1\ --gpus*" python train.py")
            typed "$command"
            everybody launcher nodes=2 nproc=2
            ;;
        *--gpus-per-task=1*exec*" train.py") # each task sees only its GPU, as device 0
            typed "$command"
            succeeded
            [ "$(grep -o '"RANK": "[0-3]", "WORLD_SIZE": "4", "LOCAL_RANK": "0"' "$out" | sort -u | wc -l)" -eq 4 ] ||
                explain "$command"
            ;;
        *" train.py" | *" ./run.sh")
            typed "$command"
            everybody whoami
            ;;
        export\ * | *make\ -C\ * | scontrol\ *)
            typed "$command"
            succeeded
            ;;
        *) typed "$command" && succeeded && [ -s "$out" ] || explain "it prints nothing" ;;
    esac
}

@test "the commands of README.md" {
    count=0
    while IFS= read -r command <&4; do
        ! is_elsewhere "$command" || continue
        count=$((count + 1))
        try_command "$command"
    done 4< <(commands README.md)
    [ "$count" -ge 7 ]
}

# bats test_tags=all
@test "the commands of docs" {
    count=0
    while IFS= read -r command <&4; do
        ! is_elsewhere "$command" || continue
        count=$((count + 1))
        try_command "$command"
    done 4< <(comm -13 <(commands README.md | LC_ALL=C sort) <(commands "${pages[@]}" | LC_ALL=C sort))
    [ "$count" -ge 40 ]
}

@test "nothing stands in the list of what is not typed that no page has" {
    commands "${pages[@]}" > "$BATS_TEST_TMPDIR/commands"
    while IFS=$'\t' read -r pattern reason; do
        [ -n "$reason" ]
        found=no
        while IFS= read -r command <&4; do
            [[ $command != $pattern ]] || found=yes
        done 4< "$BATS_TEST_TMPDIR/commands"
        [ "$found" = yes ] || { echo "no page has $pattern"; return 1; }
    done < <(elsewhere)
}

# Each rank is there once. A job script without rollcall sets no more than it needs.
all_four()
{
    succeeded
    ranks=$(sed -n 's/.*"RANK": "\([0-9]*\)", "WORLD_SIZE": "4".*/\1/p' "$out" | sort | paste -sd' ')
    [ "$ranks" = "0 1 2 3" ] || explain "the ranks are $ranks"
}

@test "the job of README.md trains before, and after with what is left of it" {
    submit_text < <(job_of_readme +)
    all_four
    submit_text < <(job_of_readme -)
    everybody whoami world=4 nodes=2
    # it says how many lines go
    gone=$(page_blocks "$tree/README.md" diff 1 | grep -c '^-')
    [ "$gone" -eq 12 ]
    grep -q 'takes the place of twelve lines' "$tree/README.md"
}

@test "the job of SKILL.md trains" {
    page_blocks "$tree/SKILL.md" bash 1 > "$BATS_TEST_TMPDIR/job"
    submit_text < "$BATS_TEST_TMPDIR/job"
    everybody whoami world=4 nodes=2
}

# centre NUMBER: a script of docs/jobs/before-after.md trains before and after, and is in the page's table
centre()
{
    local page=$tree/docs/jobs/before-after.md gone
    page_blocks "$page" diff "$1" > "$BATS_TEST_TMPDIR/pair" || return 1
    # Princeton's own command, and the rank that its script takes from Slurm
    get_free_port() { echo 29507; }
    export -f get_free_port
    submit_text < <(grep -v '^+' "$BATS_TEST_TMPDIR/pair" | cut -c2- |
        sed 's/^srun python train.py/srun sh -c "RANK=\\$SLURM_PROCID exec python train.py"/')
    all_four
    submit_text < <(grep -v '^-' "$BATS_TEST_TMPDIR/pair" | cut -c2-)
    everybody whoami world=4 nodes=2
    gone=$(grep -c '^-' "$BATS_TEST_TMPDIR/pair")
    [ "$(grep '^| \[' "$page" | sed -n "$1p" | cut -d'|' -f3-4)" = " $gone | 1 " ] || explain "$gone lines of script $1 go"
}

@test "a script of a computing centre, before and after" {
    centre 1
}

# bats test_tags=all
@test "the other scripts of computing centres, before and after" {
    for number in 2 3 4 5 6 7; do
        centre "$number"
    done
    ! page_blocks "$tree/docs/jobs/before-after.md" diff 8 || explain "nobody runs the eighth"
}

# bats test_tags=all
@test "the jobs of docs/user.md" {
    number=0
    while page_blocks "$tree/docs/user.md" bash $((number + 1)) > "$BATS_TEST_TMPDIR/job"; do
        number=$((number + 1))
        submit_text < "$BATS_TEST_TMPDIR/job"
        all_four
        ! grep -q rollcall "$BATS_TEST_TMPDIR/job" || everybody whoami world=4 nodes=2
    done
    [ "$number" -eq 4 ]
}

# bats test_tags=all
@test "the program of docs/user.md" {
    page_blocks "$tree/docs/user.md" python 1 > "$shared/program.py"
    attempt 90 srun -N2 -n4 rollcall exec -- python "$shared/program.py"
    succeeded
    for rank in 0 1 2 3; do
        said "^rank $rank of 4: 4 took part"
    done
}


# Apptainer's and Ray's commands are stand-ins (programs), which the others do not see.
@test "the job templates of docs/jobs" {
    for job in srun torchrun mpirun preload deepspeed megatron; do
        submit_text < "$tree/docs/jobs/$job.sbatch"
        everybody whoami world=4 nodes=2
    done
    # none that nobody runs: accelerate.bats, roll.bats, gridengine.bats, and the tests after this one
    run -0 ls "$tree/docs/jobs"
    [ "$(grep 'batch$\|sh$' <<< "$output" | xargs)" = "accelerate.sbatch apptainer.sbatch charliecloud.sbatch \
deepspeed.sbatch gridengine.sh megatron.sbatch mpirun.sbatch preload.sbatch ray.sbatch sparenodes.sbatch srun.sbatch \
torchrun.sbatch" ]
}

@test "the job templates with a container" {
    unshare --user --map-root-user --mount true || skip "this kernel lets nobody make a user namespace"
    make_image "$shared/work/train.img"
    ln -s train.img "$shared/work/train.sif"
    # ch-run wants to know who it is
    export USER=root PATH=$programs:$PATH
    for job in charliecloud apptainer; do
        submit_text < "$tree/docs/jobs/$job.sbatch"
        everybody whoami world=4 nodes=2
    done
}

@test "the job template of Ray: the program has all nodes, and the job ends with the program and fails with it" {
    work=$shared/ray
    mkdir -p "$work"
    PATH=$programs:$PATH
    printf '%s\n' 'import os, subprocess, sys, time' \
        'while (nodes := subprocess.check_output(["ray", "nodes"], text=True).split()) != ["n1", "n2"]:' \
        '    time.sleep(0.1)' \
        'print("nodes", *nodes, "on", os.environ["NODE_RANK"])' \
        'sys.exit(os.path.exists("fail"))' > "$work/train.py"
    submit_text < "$tree/docs/jobs/ray.sbatch"
    succeeded
    said '^nodes n1 n2 on 0$'
    touch "$work/fail"
    submit_text < "$tree/docs/jobs/ray.sbatch"
    said '^nodes n1 n2 on 0$'
    failed
}

# bats test_tags=all
@test "the program of docs/developer.md that applies the plan itself, under plain srun" {
    page_blocks "$tree/docs/developer.md" python 2 > "$shared/applied.py"
    attempt 90 env PYTHONPATH="$ROLLCALL_PREFIX/share/rollcall/python" srun -N2 -n4 python "$shared/applied.py"
    succeeded
    for rank in 0 1 2 3; do
        said "^rank $rank of 4$"
    done
}

# bats test_tags=all
@test "docs/symptoms.md: what torch and Lightning print is in their sources" {
    "$PYTHON" "$tree/tests/cluster/symptoms.py" "$tree/docs/symptoms.md"
    sed 's/### Expected a parent/### Expected a grandparent/' "$tree/docs/symptoms.md" > "$BATS_TEST_TMPDIR/page.md"
    run -1 "$PYTHON" "$tree/tests/cluster/symptoms.py" "$BATS_TEST_TMPDIR/page.md"
    [ "$output" = "Lightning: Expected a grandparent" ]
}
