#!/bin/sh
# Installs those Debian packages that are missing, and says before how many that is with all that they
# need, how much is fetched and what it takes on the disk, by apt's own figures.
#
# usage: install_packages.sh PACKAGE...
#
# Nothing is asked of apt, and no right is needed, where every package is there already.

missing=
for package; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' ||
        missing="$missing $package"
done
[ -n "$missing" ] || exit 0
apt='apt-get install -y --no-install-recommends'
if [ "$(id -u)" = 0 ]; then
    sudo=
elif command -v sudo >/dev/null; then
    sudo=sudo
else
    echo "Packages are missing and there is no sudo. As root: $apt$missing" >&2
    exit 1
fi
$sudo apt-get update || echo 'apt-get update failed; trying with the lists that are there.'

# apt-get answers its own question with no, and has told the sizes by then.
plan=$(LC_ALL=C apt-get install --assume-no --no-install-recommends $missing 2>/dev/null)
figures=$(echo "$plan" | sed -n 's/.*upgraded, \([0-9]*\) newly installed.*/\1 packages,/p
    s/^Need to get \([^/]*\).* of archives\.$/\1 to fetch,/p
    s/^After this operation, \(.*\) of additional disk space will be used\.$/\1 on the disk/p')
echo "Installing$missing"
[ -z "$figures" ] || echo "With what they need: $(echo $figures)"
$sudo env DEBIAN_FRONTEND=noninteractive $apt$missing || {
    echo "Packages could not be installed. As root: $apt$missing" >&2
    exit 1
}
