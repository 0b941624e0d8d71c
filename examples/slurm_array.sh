#!/bin/bash
# One network for each task of a SLURM job array; its number is the seed.
#
#     sbatch --array=0-4 examples/slurm_array.sh scan/addprim_jump --hidden 200
#
# Two minutes before the time limit SLURM sends SIGTERM. The training keeps its state and ends, and
# the job is queued again; there it goes on to the same bits.
#SBATCH --time=04:00:00
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
#SBATCH --signal=B:TERM@120
#SBATCH --open-mode=append
set -u

cd "$SLURM_SUBMIT_DIR" || exit # on a disk that all machines share
daxy train "$@" --first-seed "$SLURM_ARRAY_TASK_ID" &
training=$!
again() {
  kill -TERM "$training"
  wait "$training"
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
  exit 0
}
trap again TERM
wait "$training"
