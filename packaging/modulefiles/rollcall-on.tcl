#%Module
## rollcall for all steps of those who load it, where the Slurm plugin is installed: as modulefiles/rollcall-on.
## What --ddp would say, ROLLCALL says without an option; --ddp=off still switches a step off.

proc ModulesHelp { } {
    puts stderr {Every srun step behaves as if it was started with --ddp. ROLLCALL=off or srun --ddp=off for a step
that should not.}
}
module-whatis {srun --ddp without typing it}

setenv ROLLCALL auto
