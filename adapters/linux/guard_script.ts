/**
 * What the orphan guard does, as a program for any POSIX `sh`: apart from the TypeScript around it, so that it can be run
 * on a made-up `/proc`.
 *
 * @module
 */

/**
 * Arguments: the instance's mark, and where `/proc` is. On stdin `+ <group> <session>` says which group there is to end,
 * the same again says that its leader has ended, `- <group> <session>` that it is over, and `q` that all is. The end of
 * the input is the death of the host.
 *
 * Then these are ended, and nobody else:
 *
 * - a group that was told of, if it is the one that was told of: its leader, alive or unreaped, has the start time that
 *   it had then; or the leader had ended before, and a member is older than that news;
 * - who carries the id of a session that was told of, or the mark of the instance if it is so young that its session may
 *   not have been told of yet (an older one with that mark is a daemon that its command left behind on purpose);
 * - the groups which these lead, and their descendants, with whatever environment.
 *
 * Nobody gets two SIGTERM: the second would hit a shell inside its trap. The look before KILL begins 0.8 seconds after the
 * host's death, which leaves a busy machine more than another second of the two that are promised. KILL is repeated for
 * what was forked meanwhile.
 *
 * Start times are those of proc_pid_stat(5), in ticks since boot, of which there are 100 a second: `/proc/uptime` without
 * its point. Where there is no `/proc` the groups are all there is.
 */
export const GUARD_SCRIPT: string = `
trap '' HUP INT TERM
instance=$1 proc=$2
names= gone=0 # of the variables that hold what was told: long texts are never cut here, for dash is slow at that

look() {
  stat=
  while read -r line || [ -n "$line" ]; do stat="$stat $line"; done <"$proc/$1/stat" || return 1
  set -- \${stat##*') '}
  [ $# -ge 20 ] || return 1
  state=$1 parent=$2 group=$3 start=\${20}
}

ticks() {
  read -r uptime rest <"$proc/uptime" || return 1
  ticks=\${uptime%.*}\${uptime#*.}
}

is_dead() {
  case $state in Z | X) return 0 ;; esac
  return 1
}

named() {
  IFS=-
  set -- $leader $session
  IFS=_
  name="told_$*"
  IFS=$blanks
}

tidy() {
  kept=
  for name in $names; do
    eval "entry=\\\${$name-}"
    [ -z "$entry" ] || kept="$kept $name"
  done
  names=$kept gone=0
}

blanks=$IFS
while read -r op leader session; do
  [ "$op" = q ] && exit 0
  named
  eval "entry=\\\${$name-}"
  if [ "$op" = + ]; then
    if look "$leader" && ! is_dead; then birth=$start; else ticks && birth="<$ticks"; fi
    [ -n "$entry" ] || names="$names $name"
    eval "$name=\\$leader:\\$session:\\$birth"
  elif [ -n "$entry" ]; then
    unset "$name"
    gone=$((gone + 1))
    [ "$gone" -lt 1000 ] || tidy
  fi
done

told=' ' # group:session:birth of the leader, or group:session:<time of the news of its end
for name in $names; do
  eval "entry=\\\${$name-}"
  [ -z "$entry" ] || told="$told$entry "
done

carrying() {
  found=' '
  for path in $(grep "$@" "$proc"/[0-9]*/environ); do
    path=\${path%/environ}
    found="$found\${path##*/} "
  done
}

is_told_group() {
  [ "$pid" = "$group" ] && case $leaders in *" $pid:$start "*) return 0 ;; esac
  case $ended in *" $group:"*) ;; *) return 1 ;; esac
  news=\${ended#*" $group:"}
  [ "$start" -le "\${news%% *}" ]
}

is_own() {
  case $own in *" $pid:$start "*) return 0 ;; esac
  case $marked in *" $pid "*) return 0 ;; esac
  case $young in *" $pid "*) [ "$start" -ge "$since" ]; return ;; esac
  return 1
}

take() {
  case $own in *" $pid:$start "*) ;; *) own="$own$pid:$start " ;; esac
  taken="$taken$pid "
  case "$pid $groups $told" in
    "$group "* | *" $group "* | *" $group:"*) groups_now="$groups_now$group " ;;
  esac
}

own=' '    # pid:start of everybody to be ended, from the first look to the last
groups=' ' # the groups to be ended, as the look before found them

survey() {
  targets=
  if ! ticks; then
    for entry in $told; do targets="$targets -\${entry%%:*}"; done
    [ -n "$targets" ]
    return
  fi
  sessions= leaders=' ' ended=' ' # what told has, so that a long list is searched and never cut: dash is slow at that
  for entry in $told; do
    group=\${entry%%:*} entry=\${entry#*:}
    sessions="$sessions|\${entry%%:*}" birth=\${entry#*:}
    case $birth in '<'*) ended="$ended$group:\${birth#<} " ;; *) leaders="$leaders$group:$birth " ;; esac
  done
  found=' '
  [ -z "$sessions" ] || carrying -lzxE "OFFSTAGE_SESSION_ID=(\${sessions#|})"
  marked=$found
  carrying -lzxF "OFFSTAGE_INSTANCE=$instance"
  young=$found
  table= taken=' ' groups_now=' '
  for path in "$proc"/[0-9]*; do
    pid=\${path##*/}
    look "$pid" || continue
    if is_told_group; then groups_now="$groups_now$group "; fi
    is_dead && continue
    table="$table $pid:$parent:$group:$start"
    if is_own; then take; fi
  done
  before=
  while [ "$before" != "$taken" ]; do
    before=$taken
    for entry in $table; do
      pid=\${entry%%:*} entry=\${entry#*:}
      parent=\${entry%%:*} entry=\${entry#*:}
      group=\${entry%%:*} start=\${entry#*:}
      case $taken in *" $pid "*) continue ;; esac
      case "$groups_now.$taken" in *" $group "*.* | *.*" $parent "*) take ;; esac
    done
  done
  groups=$groups_now
  for entry in $table; do
    pid=\${entry%%:*} entry=\${entry#*:}
    group=\${entry#*:} group=\${group%%:*}
    case $taken in *" $pid "*) ;; *) continue ;; esac
    case $groups in *" $group "*) target=-$group ;; *) target=$pid ;; esac
    case "$targets " in *" $target "*) ;; *) targets="$targets $target" ;; esac
  done
  [ -n "$targets" ]
}

nap=80
if ticks; then death=$ticks since=$((ticks - 100)); fi
survey || exit 0
kill -s TERM -- $targets
kill -s CONT -- $targets
if ticks; then nap=$((death + 80 - ticks)); fi
[ "$nap" -ge 10 ] || nap=10
sleep "0.$nap" || sleep 1
for round in 1 2 3 4 5 6 7 8; do
  survey || exit 0
  kill -s KILL -- $targets
done
`;
