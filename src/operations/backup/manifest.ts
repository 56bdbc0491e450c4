/**
 * `backup.json`, the manifest of a backup: the list of its files, sealed with a MAC. It is written last and
 * read first.
 */
import { timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, isAbsolute } from 'node:path'
import { canonicalize } from '../../foundation/json.ts'
import { writeNewFile } from '../../foundation/private-files.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { keyedDigest, withSealKey } from '../../foundation/seal.ts'
import { StartError } from '../../foundation/start-error.ts'
import * as z from 'zod'

/** Writes and syncs the manifest (mode 0600). @throws as `node:fs` does. */
export async function writeManifest(
  folder: string,
  agentKey: Uint8Array,
  list: Omit<BackupManifest, 'mac'>,
): Promise<void> {
  await writeNewFile(
    join(folder, manifestName),
    `${JSON.stringify({ ...list, mac: macOf(agentKey, list) }, null, 2)}\n`,
  )
}

/**
 * Reads the manifest.
 *
 * @throws {StartError} 1 when there is none, it is not valid, or a newer release wrote it.
 */
export function readManifest(folder: string): BackupManifest {
  const path = join(folder, manifestName)
  try {
    const text: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (Number((text as { format?: unknown } | null)?.format) > 1)
      throw new StartError(
        `The backup ${folder} was made by a newer release of identity-agent. Use that release.`,
        1,
      )
    return BackupManifest.parse(text)
  } catch (error) {
    if (error instanceof StartError) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined)
      throw new StartError(`${path} is not the manifest of a backup: ${reasonOf(error)}.`, 1, {
        cause: error,
      })
    const reason = code === 'ENOENT' ? `it has no ${manifestName}` : code
    throw new StartError(`${folder} is not a complete backup: ${reason}.`, 1, { cause: error })
  }
}

/** Whether the manifest was written with this agent key, and is unchanged. */
export function isAuthentic(agentKey: Uint8Array, { mac, ...list }: BackupManifest): boolean {
  const [given, expected] = [Buffer.from(mac), Buffer.from(macOf(agentKey, list))]
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function macOf(agentKey: Uint8Array, list: Omit<BackupManifest, 'mac'>): string {
  return withSealKey(agentKey, 'backups', (key) => keyedDigest(key, canonicalize(list)))
}

/** A folder without this file is not a backup. */
export const manifestName = 'backup.json'

/** The file of the master key, if the backup includes it. */
export const keyName = 'master.key'

const Missing = z.object({ walletId: z.uuid(), reason: z.string().describe('The fault of its file.') })

export const BackupFile = z.object({
  // Only names of a data folder: a path must not leave the folder.
  path: z.string().regex(/^(?:wallets\/[0-9a-f-]{36}\.db|[a-z][a-z0-9-]*\.db|master\.key)$/),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** The schema version: the last migration or `user_version`. Absent for files that are not databases. */
  schema: z.string().optional(),
})
export type BackupFile = z.infer<typeof BackupFile>

export const BackupManifest = z.object({
  format: z.literal(1),
  agentVersion: z.string(),
  instant: z.iso.datetime(),
  files: z.array(BackupFile),
  missing: z.array(Missing),
  /** HMAC-SHA-256 of the other members (JCS, RFC 8785), base64url. The key is derived from the agent key. */
  mac: z.string(),
})
export type BackupManifest = z.infer<typeof BackupManifest>

export const CreateBackup = z
  .object({
    folder: z
      .string()
      .max(4_096)
      .refine((path) => isAbsolute(path) && !path.includes('\0'), 'is not an absolute path')
      .describe(
        'The folder to create: an absolute path on the machine of the agent. Its parent folder must exist.',
      ),
    includesMasterKey: z
      .boolean()
      .default(false)
      .describe('Includes a copy of the master key. Everyone with the folder can then read everything.'),
  })
  .meta({ id: 'CreateBackupRequest' })
export type CreateBackup = z.infer<typeof CreateBackup>

export const Backup = z
  .object({
    folder: z.string(),
    instant: z.iso.datetime().describe('The time of the snapshot: all files are as they were then.'),
    agentVersion: z.string(),
    wallets: z.int(),
    files: z.int(),
    bytes: z.int(),
    includesMasterKey: z.boolean(),
    missing: z.array(Missing).describe('Wallets that are not included because their files cannot be read.'),
  })
  .meta({ id: 'Backup' })
export type Backup = z.infer<typeof Backup>

export const MadeBackup = Backup.extend({
  heldMs: z
    .number()
    .describe('For how many milliseconds writes to wallets were paused. Over PostgreSQL, none are.'),
  node: z
    .string()
    .optional()
    .describe('Over PostgreSQL: the node that made the backup. The folder is on its machine.'),
}).meta({ id: 'MadeBackup' })
export type MadeBackup = z.infer<typeof MadeBackup>

export function toBackup(
  folder: string,
  { instant, agentVersion, files, missing }: Omit<BackupManifest, 'mac'>,
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
