/**
 * Checks database files with SQLite's `integrity_check`, which reads a whole file: small files in this
 * thread, large ones in a worker thread. A normal diagnosis checks as many files as it has time for, a deep
 * one checks all of them.
 */
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setImmediate as tick } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { programOf } from '../../foundation/program.ts'
import { findDamage } from '../../foundation/storage/inspection.ts'
import type { Config } from '../../foundation/config/config.ts'
import type { Finding } from './check.ts'

/** The number of sound files, the damaged files, and those that were not checked. */
export type FilesResult = { sound: number; damaged: { path: string; reason: string }[]; unchecked: string[] }

/** `largestBytes`: larger files are not checked. `smallBytes`: larger files are checked in the worker thread. */
export type FilesOptions = { timeMs?: number; smallBytes?: number; largestBytes?: number }

/** Wallet files that a normal diagnosis checks at most. */
const maxWallets = 100
/** A file of this size takes about a millisecond. */
const small = 2 * 1_024 * 1_024
/** A normal diagnosis does not check larger files, which take seconds. */
const largest = 1_024 * 1_024 * 1_024

const program = programOf(import.meta.url, 'file-worker')

/** The time limit of a deep diagnosis, and its options. */
export const deepLimitMs = 590_000
export const deepOptions: FilesOptions = { timeMs: deepLimitMs - 1_000, largestBytes: Infinity }

/**
 * The database files of an agent: the shared files first, then those of the first 100 wallets, or of all
 * wallets when `isDeep`.
 */
export function databaseFiles(
  config: Pick<Config, 'AGENT_DATA_DIR' | 'VDR_URL'>,
  walletIds: readonly string[],
  isDeep = false,
): string[] {
  const folder = config.AGENT_DATA_DIR
  const shared = [
    join(folder, 'agent.db'),
    ledgerFile(config),
    join(folder, 'mediator.db'),
    join(folder, 'audit.db'),
  ].filter((path) => path !== undefined)
  return [
    ...shared,
    ...walletIds.slice(0, isDeep ? undefined : maxWallets).map((id) => join(folder, 'wallets', `${id}.db`)),
  ]
}

/** The file of the embedded ledger, if there is one. */
function ledgerFile({
  VDR_URL,
  AGENT_DATA_DIR,
}: Pick<Config, 'VDR_URL' | 'AGENT_DATA_DIR'>): string | undefined {
  if (VDR_URL === undefined) return join(AGENT_DATA_DIR, 'vdr.db')
  return VDR_URL.startsWith('sqlite:') ? VDR_URL.slice('sqlite:'.length) : undefined
}

/**
 * Checks files for about `timeMs` and skips those that do not exist. A damaged file is a result, not an
 * error.
 */
export async function checkFiles(
  paths: readonly string[],
  { timeMs = 3_000, smallBytes = small, largestBytes = largest }: FilesOptions = {},
): Promise<FilesResult> {
  const until = performance.now() + timeMs
  const result: FilesResult = { sound: 0, damaged: [], unchecked: [] }
  const note = (path: string, damage: string | undefined) => {
    // A file that has disappeared in the meantime was set aside, or belongs to an unfinished wallet.
    if (damage === undefined || !existsSync(path)) result.sound++
    else result.damaged.push({ path, reason: damage })
  }
  const long: string[] = []
  for (const path of paths) {
    const size = statSync(path, { throwIfNoEntry: false })?.size
    if (size === undefined) continue
    if (size > largestBytes || performance.now() > until) result.unchecked.push(path)
    else if (size > smallBytes) long.push(path)
    else {
      note(path, findDamage(path))
      await tick()
    }
  }
  if (long.length > 0) result.unchecked.push(...(await checkInThread(long, until, note)))
  return result
}

/** Calls `note` for each file until the time is up. Returns the unchecked files. */
async function checkInThread(
  paths: readonly string[],
  until: number,
  note: (path: string, damage: string | undefined) => void,
): Promise<string[]> {
  const left = new Set(paths)
  const worker = new Worker(program.code, {
    name: 'doctor',
    env: {},
    workerData: paths,
    eval: program.isSource,
  })
  worker.on(
    'message',
    ({ path, damage }: { path: string; damage?: string }) => left.delete(path) && note(path, damage),
  )
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, until - performance.now()))
  })
  try {
    await Promise.race([once(worker, 'exit'), late])
  } finally {
    clearTimeout(timer)
    worker.removeAllListeners('message')
    // The thread ends after its current call into SQLite, which cannot be interrupted.
    void worker.terminate()
  }
  return [...left]
}

export function toFilesFinding(folder: string, { sound, damaged, unchecked }: FilesResult): Finding {
  const [first] = damaged
  if (first) {
    const others = damaged.length > 1 ? `, as are ${damaged.length - 1} more` : ''
    return {
      status: 'failed',
      detail: `${relative(folder, first.path)} in ${folder} is damaged${others}: ${first.reason}.`,
      hint: 'agent daemon stop   # then restore the file from a copy of the data folder, and start the daemon again',
    }
  }
  const rest =
    unchecked.length > 0
      ? `; ${unchecked.length} more are too large or too many to check now. Check all with: agent doctor --deep`
      : ''
  return { status: 'ok', detail: `${sound} database ${sound === 1 ? 'file is' : 'files are'} sound${rest}.` }
}
