# SPDX-License-Identifier: BSD-3-Clause
# containers.bash - an image for containers, as a folder, of what this machine has: nothing is fetched.

# make_image FOLDER [MOUNT]: with sh, env, Python, what they and rollcall load, and a place for the folder MOUNT.
make_image()
{
    local image=$1 python stdlib program file
    python=$("$PYTHON" -c 'import os, sys; print(os.path.realpath(sys.executable))')
    stdlib=$("$python" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
    mkdir -p "$image"/{dev,etc,home,mnt/0,proc,root,run,sys,tmp,usr/bin,usr/lib,usr/lib64,usr/local/bin,var/tmp,work} \
        "$image$stdlib" "$image$(dirname "$python")" "$image${2:-}"
    ln -s usr/bin usr/lib usr/lib64 "$image"
    touch "$image"/etc/{hosts,resolv.conf,passwd,group}
    for program in sh env; do
        cp -L "$(command -v "$program")" "$image/usr/bin"
    done
    cp "$python" "$image$python"
    [ "$python" = /usr/bin/python3 ] || ln -s "$python" "$image/usr/bin/python3"
    ln -s python3 "$image/usr/bin/python"
    cp -r "$stdlib"/{*.py,encodings,collections,importlib,re,json,lib-dynload} "$image$stdlib"
    ldd "$image"/usr/bin/{sh,env} "$python" "$ROLLCALL_PREFIX/bin/rollcall" "$stdlib"/lib-dynload/{_socket,_json}*.so |
        grep -oE '/[^ ]+' | grep -v ':$' | sort -u > "$image.libraries"
    while IFS= read -r file; do
        mkdir -p "$image$(dirname "$file")"
        cp -L "$file" "$image$file"
    done < "$image.libraries"
    rm "$image.libraries"
}
