#!/bin/sh
# What action.yml does, and any other CI system may do: carries a plan out, keeps reports as files, gates, and checks an
# sdkconfig. Inputs are in the environment, as action.yml describes them: PLAN, ON, BASELINE, THRESHOLD, METRIC, SDKCONFIG,
# FOLDER. Exit status: the worst of espbench's: 0 fine, 1 a threshold or gate failed, 2 could not measure.
set -u

PLAN=${PLAN:-}
ON=${ON:-sim}
BASELINE=${BASELINE:-}
THRESHOLD=${THRESHOLD:-5 %}
METRIC=${METRIC:-}
SDKCONFIG=${SDKCONFIG:-}
FOLDER=${FOLDER:-espbench-reports}

worst=0
# Runs a command, and keeps the worst status of all.
step() {
    "$@"
    status=$?
    [ "$status" -le "$worst" ] || worst=$status
    return "$status"
}

mkdir -p "$FOLDER" || exit 2
if [ -z "$PLAN$SDKCONFIG" ]; then
    echo "espbench: there is nothing to do: name a plan or an sdkconfig" >&2
    worst=2
fi

if [ -n "$PLAN" ]; then
    step espbench run "$PLAN" --on "$ON" -q --store "$FOLDER/runs.sqlite" --format markdown \
        -o "$FOLDER/report.html" -o "$FOLDER/report.json" -o "$FOLDER/report.csv" -o "$FOLDER/junit.xml" \
        -o "$FOLDER/figures.bencher.json" -o "$FOLDER/figures.smaller.json" -o "$FOLDER/figures.bigger.json" \
        >"$FOLDER/report.md"
fi

if [ -n "$PLAN" ] && [ -n "$BASELINE" ] && [ -s "$FOLDER/report.json" ]; then
    case $ON in
        sim | sim:*) set -- --exact ;;
        *) set -- --threshold "$THRESHOLD" ;;
    esac
    [ -z "$METRIC" ] || set -- "$@" --metric "$METRIC"
    step espbench compare "$FOLDER/report.json" "$BASELINE" "$@" >"$FOLDER/compare.txt" 2>&1
    cat "$FOLDER/compare.txt"
fi

sarif=
if [ -n "$SDKCONFIG" ]; then
    sarif=$FOLDER/sdkconfig.sarif
    step espbench tune --check "$SDKCONFIG" --strict -q -o "$sarif" --format markdown >"$FOLDER/sdkconfig.md"
    # An sdkconfig that cannot be read has no findings to show.
    [ -s "$sarif" ] || sarif=
fi

if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    for part in "$FOLDER/report.md" "$FOLDER/sdkconfig.md"; do
        # A summary may have 1 MiB.
        [ ! -s "$part" ] || head -c 400000 "$part" >>"$GITHUB_STEP_SUMMARY"
    done
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    printf 'folder=%s\nsarif=%s\nstatus=%s\n' "$FOLDER" "$sarif" "$worst" >>"$GITHUB_OUTPUT"
fi
exit "$worst"
