#!/bin/bash
# Puts the experiment together: make.sh FOLDER copies kernels/msda, changes it by changes.patch, and adds what is in this folder. FOLDER, as build-gpu/msda_next, lies two levels below the checkout: the .ini's include says so.
set -eu
here=$(realpath "$(dirname "$0")")
mkdir -p "$1"
cp "$here"/../../../kernels/msda/* "$1/"
patch -s -d "$1" -p1 <"$here/changes.patch"
cp -r "$here"/{job.sh,msda_next.ini,tile_queue.cuh,emulate,README.md} "$1/"
