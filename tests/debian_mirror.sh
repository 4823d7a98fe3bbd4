#!/bin/sh
# Prints the address of the Debian archive that this machine takes its packages from, as apt knows it,
# and the release: "bookworm http://...". Exits 1 where apt knows none.

apt-get indextargets --format '$(ORIGIN) $(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "Debian" && $2 !~ /-/ { print $2, $3; found = 1; exit } END { exit !found }'
