#!/bin/bash
# Grid Engine: mpirun starts one process a node, and that one the workers of its GPUs.
#$ -cwd
#$ -l h_rt=1:00:00

mpirun -np "$NHOSTS" --map-by ppr:1:node "$HOME/rollcall/bin/rollcall" exec -- torchrun train.py
