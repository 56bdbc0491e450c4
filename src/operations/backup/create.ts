/** Backups of all data while the agent runs. A backup is a folder that exists completely or not at all. */
import { writeFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { toBase64url } from '../../foundation/bytes.ts'
import type { Config } from '../../foundation/config/config.ts'
import { across } from '../../foundation/probe.ts'
import { Problem } from '../../foundation/problem.ts'
import { StartError } from '../../foundation/start-error.ts'
import { openAgentDbToRead } from '../../foundation/storage/database.ts'
import { diskFull, isDiskFull } from '../../foundation/storage/file-errors.ts'
import { isMasterKey } from '../../wallet/agent-key.ts'
import { getMasterKeySource } from '../../wallet/master-key.ts'
import { beginFolder, discardFolder, finishFolder } from './atomic-folder.ts'
import {
  writeManifest,
  keyName,
  toBackup,
  type BackupFile,
  type CreateBackup,
  type MadeBackup,
} from './manifest.ts'
import type { BackupSource } from './snapshot.ts'

export type Backups = {
  /**
   * Makes a backup. Only one runs at a time.
   *
   * @throws {Problem} `FolderNotUsable`, `BackupUnderWay`, `FileUnreadable`, `MasterKeyNotUsable`,
   * `InsufficientStorage`; nothing is left then.
   */
  create(wanted: CreateBackup & { agentVersion: string }): Promise<MadeBackup>
  [Symbol.asyncDispose](): Promise<void>
}

/** Bytes that a backup leaves free on the disk. */
const reservedBytes = 100 * 1_024 * 1_024

export function createBackups(config: Config, agentKey: Uint8Array, source: BackupSource): Backups {
  const ending = new AbortController()
  let running: Promise<MadeBackup> | undefined

  async function make({
    folder,
    includesMasterKey,
    agentVersion,
  }: CreateBackup & { agentVersion: string }): Promise<MadeBackup> {
    const part = begin(folder)
    try {
      await assertFreeSpace(await source.estimateBytes(), part)
      const take = () => source.takeSnapshot(part, ending.signal)
      const { heldMs, ...snapshot } = await across('backup-files', {}, take)
      const files = includesMasterKey ? [...snapshot.files, await copyKey(config, part)] : snapshot.files
      const manifest = { format: 1 as const, agentVersion, ...snapshot, files }
      await across('backup-list', {}, () => writeManifest(part, agentKey, manifest))
      await finishFolder(part, folder, 'wallets')
      return { ...toBackup(folder, manifest), heldMs: Math.round(heldMs) }
    } catch (error) {
      await discardFolder(part)
      // An abort terminates the threads, whose errors are of no interest then.
      ending.signal.throwIfAborted()
      throw isDiskFull(error) ? diskFull(error) : error
    }
  }

  return {
    async create(wanted) {
      if (running)
        throw new Problem(
          'error:BackupError:BackupUnderWay',
          'A backup is already running. Try again when it is finished.',
        )
      ending.signal.throwIfAborted()
      running = make(wanted)
      try {
        return await running
      } finally {
        running = undefined
      }
    },
    async [Symbol.asyncDispose]() {
      ending.abort(new Problem('error:ServiceUnavailable', 'The agent is stopping. No backup was made.'))
      await running?.catch(() => undefined)
    },
  }
}

function begin(folder: string): string {
  try {
    return beginFolder(folder, 'wallets')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (isDiskFull(error)) throw diskFull(error)
    const reasons: Record<string, string> = {
      EEXIST: 'it exists already and is not empty',
      ENOTDIR: 'it is a file',
      ENOENT: `the folder ${dirname(folder)} does not exist`,
    }
    const detail = `folder: ${folder} cannot be created: ${reasons[code] ?? code}. Use a new path in a folder that the agent can write to.`
    throw new Problem('error:BackupError:FolderNotUsable', detail, { cause: error })
  }
}

/**
 * A full disk would stop all tenants, so it is checked before the copy.
 *
 * @throws {Problem} `InsufficientStorage`
 */
async function assertFreeSpace(bytes: number, target: string): Promise<void> {
  const needed = bytes + reservedBytes
  const { bavail, bsize } = await statfs(target)
  if (bavail * bsize >= needed) return
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1_048_576)} MB`
  const detail = `A backup needs ${megabytes(needed)}, and ${megabytes(bavail * bsize)} are free at ${dirname(target)}. Nothing was changed.`
  throw new Problem('error:InsufficientStorage', detail)
}

async function copyKey(config: Config, part: string): Promise<BackupFile> {
  await using db = openAgentDbToRead(join(part, 'agent.db'))
  let key: Uint8Array | undefined
  try {
    const source = await getMasterKeySource(config, db)
    key = await source.read()
    if (!(await isMasterKey(db, key)))
      throw keyNotUsable(
        `${source.name} does not hold the master key of the backup: a rotation is not finished.`,
      )
    const text = Buffer.from(`${toBase64url(key)}\n`)
    writeFileSync(join(part, keyName), text, { flag: 'wx', mode: 0o600, flush: true })
    return { path: keyName, bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') }
  } catch (error) {
    if (error instanceof StartError) throw keyNotUsable(error.message, error)
    throw error
  } finally {
    key?.fill(0)
  }
}

function keyNotUsable(detail: string, cause?: Error): Problem {
  return new Problem(
    'error:BackupError:MasterKeyNotUsable',
    `includesMasterKey: ${detail} No backup was made.`,
    { cause },
  )
}
