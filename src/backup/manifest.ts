/** `backup.json`: written last, read first. */
import { timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, isAbsolute } from 'node:path'
import { canonicalize } from '../base/json.ts'
import { writeNewFile } from '../base/private-files.ts'
import { reasonOf } from '../base/reason.ts'
import { keyedDigest, withSealKey } from '../base/seal.ts'
import { StartError } from '../base/start-error.ts'
import { z } from 'zod'

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

/** The name of the list. A folder without one is no backup. */
export const listName = 'backup.json'

/** The name of the master key in a backup that has it. */
export const keyName = 'master.key'

const Missing = z.object({ walletId: z.uuid(), reason: z.string().describe('What is wrong with its file.') })

export const BackupFile = z.object({
  // What a data folder has, and nothing that leads out of it.
  path: z.string().regex(/^(?:wallets\/[0-9a-f-]{36}\.db|[a-z][a-z0-9-]*\.db|master\.key)$/),
  bytes: z.int().nonnegative(),
  /** Hexadecimal. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** What it has for tables: its last migration, or a number; nothing for a file that is no database. */
  schema: z.string().optional(),
})
export type BackupFile = z.infer<typeof BackupFile>

/** `backup.json`. */
export const BackupList = z.object({
  /** Of this list. */
  format: z.literal(1),
  /** The version of the agent that made it. */
  agentVersion: z.string(),
  instant: z.iso.datetime(),
  files: z.array(BackupFile),
  missing: z.array(Missing),
  /** HMAC-SHA-256 of the rest (JCS, RFC 8785) with a key that the agent key gives, base64url: nobody without it can alter a backup unnoticed. */
  mac: z.string(),
})
export type BackupList = z.infer<typeof BackupList>

export const CreateBackup = z
  .object({
    folder: z
      .string()
      .max(4_096)
      .refine((path) => isAbsolute(path) && !path.includes('\0'), 'is not an absolute path')
      .describe(
        'The folder to make, an absolute path on the machine of the agent; the one that it is to be in must be there.',
      ),
    includesMasterKey: z
      .boolean()
      .default(false)
      .describe('Puts a copy of the master key into it: whoever has the folder can then read everything.'),
  })
  .meta({ id: 'CreateBackupRequest' })
export type CreateBackup = z.infer<typeof CreateBackup>

/** What a backup holds. */
export const Backup = z
  .object({
    folder: z.string(),
    instant: z.iso.datetime().describe('The instant at which all files are as they were.'),
    agentVersion: z.string(),
    wallets: z.int(),
    files: z.int(),
    bytes: z.int(),
    includesMasterKey: z.boolean(),
    missing: z.array(Missing).describe('Wallets that are not in it, since their files cannot be read.'),
  })
  .meta({ id: 'Backup' })
export type Backup = z.infer<typeof Backup>

export const MadeBackup = Backup.extend({
  heldMs: z.number().describe('How long, in milliseconds, no wallet could be written to.'),
}).meta({ id: 'MadeBackup' })
export type MadeBackup = z.infer<typeof MadeBackup>

/** What a list says of its backup. */
export function toBackup(
  folder: string,
  { instant, agentVersion, files, missing }: Omit<BackupList, 'mac'>,
): Backup {
  return {
    folder,
    instant,
    agentVersion,
    wallets: files.filter(({ path }) => path.startsWith('wallets/')).length,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    includesMasterKey: files.some(({ path }) => path === keyName),
    missing,
  }
}
