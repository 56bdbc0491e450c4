/** `backup.json`: written last, read first. */
import { timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { canonicalize } from '../base/jcs.ts'
import { writeNewFile } from '../base/private-file.ts'
import { reasonOf } from '../base/reason.ts'
import { keyedDigest, withSealKey } from '../base/seal.ts'
import { StartError } from '../base/start-error.ts'
import { BackupList, listName } from './model.ts'

/** Writes the list of a backup into its folder, 0600; it is on the disk when this resolves. @throws as `node:fs` does. */
export async function writeList(
  folder: string,
  agentKey: Uint8Array,
  list: Omit<BackupList, 'mac'>,
): Promise<void> {
  await writeNewFile(
    join(folder, listName),
    `${JSON.stringify({ ...list, mac: macOf(agentKey, list) }, null, 2)}\n`,
  )
}

/** Reads the list of a backup. @throws {StartError} 1 when there is none, it is not valid, or a newer release wrote it. */
export function readList(folder: string): BackupList {
  const path = join(folder, listName)
  try {
    const text: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (Number((text as { format?: unknown } | null)?.format) > 1)
      throw new StartError(
        `The backup ${folder} was made by a newer release of identity-agent. Use that release.`,
        1,
      )
    return BackupList.parse(text)
  } catch (error) {
    if (error instanceof StartError) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined)
      throw new StartError(`${path} is not the list of a backup: ${reasonOf(error)}.`, 1, { cause: error })
    const reason = code === 'ENOENT' ? `it has no ${listName}` : code
    throw new StartError(`${folder} is not a backup, or not a whole one: ${reason}.`, 1, { cause: error })
  }
}

/** Whether a list is as it was written by an agent with this agent key. */
export function isAuthentic(agentKey: Uint8Array, { mac, ...list }: BackupList): boolean {
  const [given, expected] = [Buffer.from(mac), Buffer.from(macOf(agentKey, list))]
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function macOf(agentKey: Uint8Array, list: Omit<BackupList, 'mac'>): string {
  return withSealKey(agentKey, 'backups', (key) => keyedDigest(key, canonicalize(list)))
}
