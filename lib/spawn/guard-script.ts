// What the guard process runs: a shell that waits for the end of its supervisor with nothing but builtins, so that it costs
// a megabyte and depends on nothing. It reads what other processes call themselves: a name may hold any byte but NUL.

/**
 * A script for sh(1). It waits for the end of stdin. Then it reads lines of descriptor 3: `PID` records a process (and the
 * session it may lead) whose number was its own until then, `PID START` one that may have lost it, by its start time as /proc shows it, 0 if
 * it was gone already; `end` ends them. It kills who is recorded, and what descends from them: by parents, by sessions, and by the
 * mark of a recorded process (`Marks`), which shows among its limits. A line that was cut off counts as none.
 */
export const GUARD_SCRIPT = `# execwire: ends the processes of a supervisor that was killed
trap '' HUP INT QUIT TERM
while read -r nothing; do :; done
roots=
while read -r pid start && [ "$pid" != end ]; do
  [ "$pid" ] && eval "root_$pid=\${start:-reserved}" roots=1
done <&3
[ "$roots" ] || exit 0

# Finds parent, session and start time of process $1. Its name comes first, in parentheses and with whatever in it.
look() {
  stat=
  while IFS= read -r part; do stat=$stat$part; done < "/proc/$1/stat"
  set -- \${stat##*)}
  parent=$2 session=$4 start=\${20}
  case $parent.$session.$start in .* | *. | *..* | *[!0-9.]*) return 1 ;; esac
}

# Finds the mark of process $1: its limit of file locks, if that has as many digits as a mark has.
look_for_mark() {
  mark=
  while read -r first second third soft hard; do
    [ "$first $second $third" = "Max file locks" ] && mark=$soft && break
  done < "/proc/$1/limits"
  case $mark in *[!0-9]*) mark= ;; ?????????????*) ;; *) mark= ;; esac
}

# That of another supervisor around ours, which others have too.
look_for_mark "$$"
ours=$mark

# A number that somebody else has by now was free in between, so nobody of its session can be left.
for dir in /proc/[0-9]*; do
  pid=\${dir#/proc/}
  eval "recorded=\\\${root_$pid-}"
  case $recorded in
    '' | reserved) ;;
    *) look "$pid" && [ "$start" != "$recorded" ] && unset "root_$pid" ;;
  esac
done

# Who is found is stopped first: it forks no more, and leads to its children until all are found.
found=1 round=0 members= marks=
while [ "$found" ] && [ "$round" -lt 20 ]; do
  found= round=$((round + 1))
  # Who took us in takes in daemons as well.
  look "$$"
  heir=$parent
  for dir in /proc/[0-9]*; do
    pid=\${dir#/proc/}
    eval "known=\\\${member_$pid-}"
    [ -z "$known" ] && look "$pid" || continue
    mark=
    [ "$marks" ] && [ "$parent" = "$heir" ] && look_for_mark "$pid"
    eval "root=\\\${root_$pid-} reason=\\\${root_$pid-}\\\${root_$session-}\\\${member_$parent-}\\\${member_$session-}\\\${mark_$mark-}"
    [ "$reason" ] || continue
    eval "member_$pid=1"
    members="$members $pid" found=1
    kill -STOP "$pid"
    [ "$root" ] && look_for_mark "$pid" && [ "$mark" ] && [ "$mark" != "$ours" ] && eval "mark_$mark=1" marks=1
  done
done
[ "$members" ] && kill -KILL $members
exit 0
`;
