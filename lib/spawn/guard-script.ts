// What the guard process runs: a shell that waits for the end of its supervisor with nothing but builtins, so that it costs
// a megabyte and depends on nothing. It reads what other processes call themselves: a name may hold any byte but NUL.

/**
 * A script for sh(1). It waits for the end of stdin. Then it reads lines of descriptor 3: `PID START MARK` records a process (and
 * the session it may lead) by its start time as /proc shows it, 0 if it was gone already, `-` if its number was its own until
 * then; and whoever has its mark (`Marks`), where there is one. `end` ends them. It kills who is recorded, and what descends from
 * them. START is `<` and a time for a process that had ended then: of its session what started up to that or has its mark is
 * killed, and its descendants; not the rest of what has its mark. A line that was cut off counts as none.
 */
export const GUARD_SCRIPT = `# execwire: ends the processes of a supervisor that was killed
trap '' HUP INT QUIT TERM
while read -r nothing; do :; done
# From here on the numbers in the table may be reused. In the unit of start times, hundredths of a second since boot.
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

# Finds parent, session and start time of process $1. Its name comes first, in parentheses and with whatever in it.
look() {
  stat=
  while IFS= read -r part; do stat=$stat$part; done < "/proc/$1/stat"
  set -- \${stat##*)}
  parent=$2 session=$4 start=\${20}
  case $parent.$session.$start in .* | *. | *..* | *[!0-9.]*) return 1 ;; esac
}

# Finds the mark of process $1, its limit of file locks; none where that is no number.
look_for_mark() {
  while read -r first second third mark hard; do
    [ "$first $second $third" = "Max file locks" ] && break
  done < "/proc/$1/limits"
  case $mark in *[!0-9]*) mark= ;; esac
}

# Some containers show an uptime of their own, by which everything started in the future.
look "$$" && [ "$start" -le "$now" ] || now=

# Whether what was just looked at was there before the supervisor had ended, by its start time.
was_there() { [ -z "$now" ] || [ "$start" -lt "$now" ]; }

# Whether process $1 is recorded, or in a session that is.
is_recorded() {
  eval "recorded=\\\${root_$1-} leader=\\\${root_$session-}"
  case $recorded in
    '') ;;
    -) was_there && return 0 ;;
    *) [ "$start" = "$recorded" ] && return 0 ;;
  esac
  [ "$recorded$leader" ] || return 1
  was_there && [ "$leader" ] && return 0
  look_for_mark "$1"
  eval "marked=\\\${mark_$mark-}"
  [ "$marked" ]
}

# Whether process $1 is left in the session of a process that had ended.
is_left() {
  eval "until=\\\${ended_$session-} left_mark=\\\${ended_mark_$session-}"
  # While anything is left of a session its number is given to no other process.
  [ -z "$until" ] || [ -d "/proc/$session" ] && return 1
  [ "$start" -le "$until" ] && return 0
  look_for_mark "$1"
  [ "$left_mark" ] && [ "$mark" = "$left_mark" ]
}

# A number that somebody else has by now was free in between, so nobody of its session can be left.
for dir in /proc/[0-9]*; do
  pid=\${dir#/proc/}
  eval "recorded=\\\${root_$pid-}"
  case $recorded in
    '' | -) ;;
    *) look "$pid" && [ "$start" != "$recorded" ] && unset "root_$pid" ;;
  esac
done

# Who takes us in when our maker is gone, in a moment, takes in daemons as well.
heir=$PPID looks=0
while [ "$heir" = "$PPID" ] && [ "$looks" -lt 200 ]; do
  look "$$"
  heir=$parent looks=$((looks + 1))
done

# Who is found is stopped first: it forks no more, and leads to its children until all are found.
found=1 round=0 members=
while [ "$found" ] && [ "$round" -lt 20 ]; do
  found= round=$((round + 1))
  for dir in /proc/[0-9]*; do
    pid=\${dir#/proc/}
    eval "known=\\\${member_$pid-}"
    [ -z "$known" ] && look "$pid" || continue
    mark=
    [ "$marks" ] && [ "$parent" = "$heir" ] && look_for_mark "$pid"
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
