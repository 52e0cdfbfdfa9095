// The script of the guard process: a shell that waits for its supervisor to exit. It uses builtins only, so it takes a megabyte
// and depends on no other program. It parses names of other processes, which may contain any byte but NUL.

/**
 * A script for sh(1). It waits for the end of stdin, then reads lines `PID START MARK` from descriptor 3 until a line `end`; an
 * incomplete line is ignored. It kills the recorded processes, the sessions they lead, every process with a recorded mark
 * (`Marks`; optional), and all their descendants. START is one of
 * - a start time as /proc shows it, or 0 if the process had exited before its start time was read;
 * - `-`: the pid stayed reserved for this process until the supervisor exited;
 * - `<` and a time: the process had exited by then. Of its session, only the processes that started up to that time or have the
 *   mark are killed, with their descendants; other processes with the mark are spared.
 */
export const GUARD_SCRIPT = `# execwire: kills the processes of a supervisor that was killed
trap '' HUP INT QUIT TERM
while read -r nothing; do :; done
# From here on the pids in the table may be reused. Now, in the unit of start times: hundredths of a second since boot.
read -r now rest < /proc/uptime
now=\${now%.*}\${now#*.}
roots= marks= ended=
while read -r pid start mark && [ "$pid" != end ]; do
  case $start in
    '<'*) eval "ended_$pid=\${start#<} ended_mark_$pid=$mark" ended=1 && continue ;;
  esac
  [ "$pid" ] && eval "root_$pid=$start" roots=1
  [ "$mark" ] && eval "mark_$mark=1" marks=1
done <&3
[ "$roots$ended" ] || exit 0

# Reads parent, session and start time of process $1. Its name comes before them, in parentheses, with arbitrary bytes.
read_stat() {
  stat=
  while IFS= read -r part; do stat=$stat$part; done < "/proc/$1/stat"
  set -- \${stat##*)}
  parent=$2 session=$4 start=\${20}
  case $parent.$session.$start in .* | *. | *..* | *[!0-9.]*) return 1 ;; esac
}

# Reads the mark of process $1, its limit of file locks; empty unless it is a number.
read_mark() {
  while read -r first second third mark hard; do
    [ "$first $second $third" = "Max file locks" ] && break
  done < "/proc/$1/limits"
  case $mark in *[!0-9]*) mark= ;; esac
}

# In some containers /proc/uptime counts from the container's start, so that every start time lies in the future.
read_stat "$$" && [ "$start" -le "$now" ] || now=

# Whether the process last read started before the supervisor exited.
is_older() { [ -z "$now" ] || [ "$start" -lt "$now" ]; }

# Whether process $1 is recorded, or its session leader is.
is_recorded() {
  eval "recorded=\\\${root_$1-} leader=\\\${root_$session-}"
  case $recorded in
    '') ;;
    -) is_older && return 0 ;;
    *) [ "$start" = "$recorded" ] && return 0 ;;
  esac
  [ "$recorded$leader" ] || return 1
  is_older && [ "$leader" ] && return 0
  read_mark "$1"
  eval "marked=\\\${mark_$mark-}"
  [ "$marked" ]
}

# Whether process $1 is left in the session of a process that had exited.
is_left() {
  eval "until=\\\${ended_$session-} left_mark=\\\${ended_mark_$session-}"
  # While a session has members, its number is not given to another process.
  [ -z "$until" ] || [ -d "/proc/$session" ] && return 1
  [ "$start" -le "$until" ] && return 0
  read_mark "$1"
  [ "$left_mark" ] && [ "$mark" = "$left_mark" ]
}

# A pid that another process has by now was free in between, so its session has no members left.
for dir in /proc/[0-9]*; do
  pid=\${dir#/proc/}
  eval "recorded=\\\${root_$pid-}"
  case $recorded in
    '' | -) ;;
    *) read_stat "$pid" && [ "$start" != "$recorded" ] && unset "root_$pid" ;;
  esac
done

# The process that adopts this shell when the supervisor is gone, in a moment, adopts daemons as well.
adopter=$PPID tries=0
while [ "$adopter" = "$PPID" ] && [ "$tries" -lt 200 ]; do
  read_stat "$$"
  adopter=$parent tries=$((tries + 1))
done

# Each process found is stopped first: it cannot fork, and stays the parent of its children until all are found.
found=1 round=0 members=
while [ "$found" ] && [ "$round" -lt 20 ]; do
  found= round=$((round + 1))
  for dir in /proc/[0-9]*; do
    pid=\${dir#/proc/}
    eval "known=\\\${member_$pid-}"
    [ -z "$known" ] && read_stat "$pid" || continue
    mark=
    [ "$marks" ] && [ "$parent" = "$adopter" ] && read_mark "$pid"
    eval "reason=\\\${member_$parent-}\\\${member_$session-}\\\${mark_$mark-}"
    [ "$reason" ] || is_recorded "$pid" || is_left "$pid" || continue
    eval "member_$pid=1"
    members="$members $pid" found=1
    kill -STOP "$pid"
  done
done
[ "$members" ] && kill -KILL $members
exit 0
`;
