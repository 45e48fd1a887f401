# shellcheck shell=bash
mt help
mt --help
mt tune --help
mt help worker
mt version
mt help show
