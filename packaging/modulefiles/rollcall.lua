-- rollcall for Lmod: as modulefiles/rollcall/0.9.0.lua, for what was installed with --prefix=/opt/rollcall/0.9.0.
-- It adds the command, the manual, the Python module and pkg-config's file to the search paths, and changes no job:
-- that is for rollcall-on. LD_PRELOAD is nobody's but the user's.

local root = pathJoin("/opt/rollcall", myModuleVersion())

help([[
rollcall gives every process of a distributed job one identity (RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR, ...).

    mpirun -np 8 rollcall exec -- python train.py
    srun --ddp python train.py        (where the Slurm plugin is installed)
    srun -n4 rollcall show            who is who, and what would be set

More in rollcall(1) and rollcall(7).
]])
whatis("Name: rollcall")
whatis("Description: one identity for every process of a distributed PyTorch job")

prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("MANPATH", pathJoin(root, "share/man"))
prepend_path("PKG_CONFIG_PATH", pathJoin(root, "lib/pkgconfig"))
prepend_path("PYTHONPATH", pathJoin(root, "share/rollcall/python"))
