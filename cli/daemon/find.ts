/** Finds the daemon that serves a data folder, from the file that it has written there, and stops it. */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../daemon/client/client.ts'
import { acceptOnly } from '../../daemon/client/send-request.ts'
import { readRunning, type Running } from '../../src/foundation/running.ts'
import { CommandError } from '../errors/errors.ts'

/** The time for a daemon to answer accepted requests and to end. */
const stopTimeoutMs = 10_000

/**
 * Returns the daemon of a data folder; undefined when none runs. The stored process id may belong to another
 * process by now, so the process must be a daemon (Linux), or its address must answer as one.
 */
export async function findDaemon(dataDir: string): Promise<Running | undefined> {
  const running = readRunning(dataDir)
  if (!running || !isAlive(running.pid)) return undefined
  if (running.certificate !== undefined)
    for (const url of [running.url, hereOf(running.url)]) acceptOnly(url, running.certificate)
  const known = isDaemonProcess(running.pid)
  const isOurs = known ?? (await answers(running))
  return isOurs ? running : undefined
}

/**
 * Calls the daemon. One that was started with `--lan` answers at a loopback address too, also when the
 * network is another now.
 */
async function answers({ url }: Running): Promise<boolean> {
  return ((await health(url)) ?? (await health(hereOf(url)))) !== undefined
}

function hereOf(url: string): string {
  const here = new URL(url)
  here.hostname = '127.0.0.1'
  return here.origin
}

/** Returns the version of the daemon at a URL; undefined when none answers. */
export async function health(url: string): Promise<string | undefined> {
  try {
    return (await createClient(url, {}, { timeoutMs: 5_000 })('GET /_system/health')).version
  } catch {
    return undefined
  }
}

/**
 * Waits until a process has ended; false after `timeoutMs`. Polls, because the system does not report the end
 * of a process that is not a child.
 */
export async function waitForEnd(pid: number, timeoutMs: number): Promise<boolean> {
  const until = performance.now() + timeoutMs
  while (isAlive(pid) && isDaemonProcess(pid) !== false) {
    if (performance.now() > until) return false
    await sleep(50)
  }
  return true
}

/**
 * Ends the process of a daemon gracefully, and waits for its end.
 *
 * @throws {CommandError} 6 when it takes too long
 */
export async function stopDaemon({ pid }: Running): Promise<void> {
  process.kill(pid, 'SIGTERM')
  if (await waitForEnd(pid, stopTimeoutMs)) return
  throw new CommandError(
    `The daemon (process ${pid}) has not ended within ${stopTimeoutMs / 1_000} seconds.`,
    6,
    `kill -9 ${pid}   # nothing that it acknowledged is lost`,
  )
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * True for a process that runs the daemon; undefined on systems without /proc. A process that has ended has
 * no command line.
 */
function isDaemonProcess(pid: number): boolean | undefined {
  try {
    return /\bbin[/\\]daemon\.cjs/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'))
  } catch {
    return undefined
  }
}
