-- rollcall for all steps of those who load it, where the Slurm plugin is installed: as modulefiles/rollcall-on.lua.
-- What --ddp would say, ROLLCALL says without an option; --ddp=off still switches a step off.

help([[
Every srun step behaves as if it was started with --ddp. `ROLLCALL=off` or `srun --ddp=off` for a step that should not.
]])
whatis("Name: rollcall-on")
whatis("Description: srun --ddp without typing it")

setenv("ROLLCALL", "auto")
