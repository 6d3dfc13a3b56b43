#!/bin/sh
# An array of Slurm: each task carries out one shard of a plan, and the last job puts them together.
#
#     sbatch --array=1-8 --parsable slurm.sh sweep.toml        prints the number of the array
#     sbatch --dependency=afterok:NUMBER slurm.sh --merge      once all tasks are done
#
# A task that was killed is submitted again with its number alone (--array=3), and goes on where it stopped.
#SBATCH --job-name=espbench
#SBATCH --cpus-per-task=4
#SBATCH --time=02:00:00
set -eu

folder=${ESPBENCH_SHARDS:-shards}
mkdir -p "$folder"

if [ "${1:-}" = --merge ]; then
    rm -f "$folder/all.sqlite"
    espbench runs merge "$folder"/shard-*.sqlite -o "$folder/all.sqlite"
    exec espbench report last --store "$folder/all.sqlite" -o "$folder/report.html"
fi

plan=$1
# A task that is submitted alone still is one of all: ESPBENCH_TASKS says of how many.
tasks=${ESPBENCH_TASKS:-$SLURM_ARRAY_TASK_COUNT}
shard=$SLURM_ARRAY_TASK_ID/$tasks
store=$folder/shard-$SLURM_ARRAY_TASK_ID.sqlite
threads=${SLURM_CPUS_PER_TASK:-1}
if [ -e "$store" ]; then
    exec espbench run --resume --shard "$shard" --store "$store" --threads "$threads" -q
fi
exec espbench run "$plan" --on sim --shard "$shard" --store "$store" --threads "$threads" -q
