#!/bin/sh
# Installs Remembrancer from the folder that this script lies in, or takes it away again. Downloads nothing, starts nothing.
#
#   ./install.sh [--prefix FOLDER]                                into ~/.local, or FOLDER
#   ./install.sh --uninstall [--prefix FOLDER] [--keep-settings]  the memory and your settings stay
#
# What it put where is listed in PREFIX/lib/remembrancer/installed, and a copy of this script lies beside that list: it
# uninstalls without the folder that it came from. Installing again replaces what an earlier version has left.
set -eu

usage() { sed -n '2,5s/^# \{0,1\}//p' "$0"; }
say() { printf '%s\n' "$1"; }
fail() {
    printf 'error: %s\n' "$1" >&2
    exit 1
}

here=$(cd "$(dirname "$0")" && pwd)
prefix=
uninstalls=no
keeps_settings=no
while [ $# -gt 0 ]; do
    case $1 in
        --prefix)
            [ $# -gt 1 ] || fail "--prefix needs a folder"
            prefix=$2
            shift
            ;;
        --prefix=*) prefix=${1#--prefix=} ;;
        --uninstall) uninstalls=yes ;;
        --keep-settings) keeps_settings=yes ;;
        -h | --help)
            usage
            exit 0
            ;;
        *)
            usage >&2
            fail "there is no option $1"
            ;;
    esac
    shift
done

# The copy beside the list knows where it was installed.
if [ -z "$prefix" ] && [ -f "$here/installed" ]; then
    prefix=$(cd "$here/../.." && pwd)
fi
if [ -z "$prefix" ]; then
    [ "$(id -u)" -ne 0 ] || fail "you are root: say where, such as --prefix /usr/local"
    prefix=${HOME:?}/.local
fi
case $prefix in
    /*) ;;
    *) prefix=$PWD/$prefix ;;
esac
# As the programs see it, links resolved.
[ ! -d "$prefix" ] || prefix=$(cd "$prefix" && pwd -P)
own=$prefix/lib/remembrancer
list=$own/installed

# Prints the paths below the prefix that are this installation's: all files, and the folders that are not there without it.
# A folder ends with a slash.
paths() {
    say lib/remembrancer/install.sh
    say lib/remembrancer/installed
    (cd "$here" && find bin share -type f)
    { say . && say lib && say lib/remembrancer && (cd "$here" && find bin share -type d); } | while IFS= read -r folder; do
        if [ ! -d "$prefix/$folder" ] || printf '%s\n' "$earlier" | grep -qxF "$folder/"; then
            say "$folder/"
        fi
    done
}

# put SOURCE PATH: never half a file, and a program that runs may be replaced.
put() {
    [ ! -d "$prefix/$2" ] || fail "$prefix/$2 is a folder"
    mkdir -p "$(dirname "$prefix/$2")"
    cp "$1" "$own/new"
    mv -f "$own/new" "$prefix/$2"
}

# remove PATHS: the files, then the folders that are empty, inner ones first.
remove() {
    printf '%s\n' "$1" | grep -v '/$' | while IFS= read -r path; do
        [ -d "$prefix/$path" ] || rm -f "$prefix/$path"
    done
    printf '%s\n' "$1" | grep '/$' | LC_ALL=C sort -r | while IFS= read -r path; do
        rmdir "$prefix/${path#./}" 2> /dev/null || :
    done
}

install_all() {
    [ -x "$here/bin/remembrancer" ] || fail "there is nothing to install beside $0"
    version=$("$here/bin/remembrancer" --version) || fail "the programs do not run here: they are built for another machine"
    umask 022
    earlier=$(cat "$list" 2> /dev/null || :)
    now=$(paths)
    mkdir -p "$own"
    rm -f "$own/new"
    # All is listed before it is there, so that what was interrupted can be uninstalled.
    printf '%s\n%s\n' "$earlier" "$now" | grep . | LC_ALL=C sort -u > "$own/new"
    mv -f "$own/new" "$list"
    (cd "$here" && find bin share -type f) | while IFS= read -r path; do
        put "$here/$path" "$path"
    done
    put "$0" lib/remembrancer/install.sh
    stale=$(printf '%s\n' "$now" | LC_ALL=C sort | LC_ALL=C comm -13 - "$list")
    [ -z "$stale" ] || remove "$stale"
    printf '%s\n' "$now" | LC_ALL=C sort > "$own/new"
    mv -f "$own/new" "$list"

    say "Installed $version in $prefix; every file is listed in $list."
    case :$PATH: in
        *:"$prefix/bin":*) ;;
        *) say "$prefix/bin is not in your PATH yet." ;;
    esac
    say "Next: remembrancer install --service (the hook in your agents' settings, and the daemon as a service of yours)"
    say "Away again: $own/install.sh --uninstall"
}

# A hook that is named in an agent's settings and gone would fail at every prompt, so it goes first.
leave_settings() {
    program=$prefix/bin/remembrancer
    [ "$keeps_settings" = no ] && [ -x "$program" ] || return 0
    remedy="put that right, or leave the settings as they are by --keep-settings; nothing was removed"
    plan=$("$program" uninstall --service --dry-run) || fail "$remedy"
    case $plan in
        *"$prefix/bin/"*) "$program" uninstall --service --yes || fail "$remedy" ;;
    esac
    [ "$(id -u)" -ne 0 ] || say "Settings of other users are left to them: remembrancer uninstall --service"
}

uninstall_all() {
    if [ ! -f "$list" ]; then
        say "Nothing is installed in $prefix."
        return
    fi
    leave_settings
    rm -f "$own/new"
    remove "$(cat "$list")"
    say "Removed all that was installed in $prefix. A daemon that you started by hand runs until you stop it."
    home=${HOME:-}
    case $(uname -s) in
        Darwin) set -- "$home/Library/Application Support" ;;
        *) set -- "${XDG_DATA_HOME:-$home/.local/share}" "${XDG_STATE_HOME:-$home/.local/state}" "${XDG_CONFIG_HOME:-$home/.config}" ;;
    esac
    say "Your memory and your settings stay:"
    printf '    %s/remembrancer\n' "$@"
}

if [ "$uninstalls" = yes ]; then
    uninstall_all
else
    install_all
fi
