# Serves in the folder $0 by the command that follows, and stops it when told on standard input: by the line `stop` orderly, by `kill` at
# once as in a crash. Where standard input ends, however whoever started this came to its end, it stops too, and the folder goes.
trap '' INT TERM HUP
(
  umask 077
  "$@" </dev/null >>"$0/log" 2>&1
  : >"$0/ended"
) &
read -r word || word=gone
case "$word" in
  kill) signal=QUIT ;;
  *) signal=INT ;;
esac
if read -r pid _ <"$0/data/postmaster.pid"; then kill "-$signal" "$pid"; fi 2>/dev/null
wait
if [ "$word" = gone ]; then rm -rf "$0"; fi
