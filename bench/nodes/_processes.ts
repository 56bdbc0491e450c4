/** CPU time and memory of processes with all their children, from `/proc` of Linux. */
import { readFileSync } from 'node:fs'

/** Clock ticks of a second, in which the kernel reports CPU time. */
const ticks = 100

/** A process and its children, and theirs. */
function treeOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return [pid, ...children.flatMap((child) => treeOf(Number(child)))]
}

/**
 * The CPU time of a process and its children, in milliseconds, with the children that have ended. One that
 * ends while this function reads is counted by its parent next time.
 */
export function cpuMsOf(pid: number): number {
  return treeOf(pid).reduce((sum, each) => {
    // The name of the program, in parentheses, may contain spaces. Fields of proc_pid_stat(5) from the state
    // on: utime, stime, cutime, cstime.
    const fields = readStat(each)?.split(') ').at(-1)!.split(' ').slice(11, 15).map(Number) ?? []
    return sum + (fields.reduce((all, field) => all + field, 0) * 1_000) / ticks
  }, 0)
}

function readStat(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** The memory of a process and its children that no other process shares, in megabytes. */
export function megabytesOf(pid: number): number {
  return treeOf(pid).reduce((sum, each) => {
    const [, kilobytes] = /^Pss_Anon: +(\d+)/m.exec(readFileSync(`/proc/${each}/smaps_rollup`, 'utf8')) ?? []
    return sum + Number(kilobytes ?? 0) / 1_024
  }, 0)
}
