#!/bin/sh
":" /*
# The head of the built `main.js`: a script to sh, a comment to JavaScript. Before any JavaScript runs, Node raises the limit of
# open files, resets ignored signals and sets close-on-exec on what it inherited, so sh reads these first and hands them on
# (`lib/spawn/start-state.ts`). The original environment is among them: shells drop and add variables.
while read -r ew_key ew_value; do
  case $ew_key in SigBlk:) ew_blocked=$ew_value ;; SigIgn:) ew_ignored=$ew_value && break ;; esac
done </proc/self/status 2>/dev/null
ew_fds=
for ew_path in /proc/self/fd/*; do
  while read -r ew_key ew_value; do
    # An octal number; 02000000 is close-on-exec, which only descriptors of this shell have.
    case $ew_key$ew_value in flags:*[2367]??????) ;; flags:*) ew_fds=$ew_fds,${ew_path#/proc/self/fd/} ;; *) continue ;; esac
    break
  done <"/proc/self/fdinfo/${ew_path#/proc/self/fd/}"
done 2>/dev/null
ew_rest=$(ulimit -Sn; command -p base64 "/proc/$$/environ" 2>/dev/null)
# The kernel allows 128 KiB for one variable.
[ ${#ew_rest} -lt 120000 ] || ew_rest=$(ulimit -Sn)
EXECWIRE_START="$$ ${BASH_VERSION:+bash}/${ew_ignored}/${ew_blocked}/${ew_fds}/$ew_rest"
export EXECWIRE_START
exec node "$0" "$@"
*/
