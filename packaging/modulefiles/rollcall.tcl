#%Module
## rollcall for Environment Modules: as modulefiles/rollcall/0.9.0, for what was installed with
## --prefix=/opt/rollcall/0.9.0. It adds the command, the manual, the Python module and pkg-config's file to the search
## paths, and changes no job: that is for rollcall-on. LD_PRELOAD is nobody's but the user's.

conflict rollcall

set root /opt/rollcall/[file tail [module-info name]]

proc ModulesHelp { } {
    puts stderr {rollcall gives every process of a distributed job one identity (RANK, LOCAL_RANK, WORLD_SIZE,
MASTER_ADDR, ...).

    mpirun -np 8 rollcall exec -- python train.py
    srun --ddp python train.py        (where the Slurm plugin is installed)
    srun -n4 rollcall show            who is who, and what would be set

More in rollcall(1) and rollcall(7).}
}
module-whatis {one identity for every process of a distributed PyTorch job}

prepend-path PATH $root/bin
prepend-path MANPATH $root/share/man
# an empty part is the system's manual, which a MANPATH that nobody had set would leave out; Lmod sees to that itself
if {![info exists env(LMOD_VERSION)]} {
    append-path MANPATH {}
}
prepend-path PKG_CONFIG_PATH $root/lib/pkgconfig
prepend-path PYTHONPATH $root/share/rollcall/python
