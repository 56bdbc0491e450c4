/** Verifies a backup: every file is unchanged and sound, and this release and the master key can read it. */
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import * as z from 'zod'
import type { Config } from '../../foundation/config/config.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { StartError } from '../../foundation/start-error.ts'
import { openAgentDbToRead } from '../../foundation/storage/database.ts'
import { agentMigrations } from '../../foundation/storage/migrations/agent.ts'
import { mediatorMigrations } from '../../foundation/storage/migrations/mediator.ts'
import { walletMigrations } from '../../foundation/storage/migrations/wallet.ts'
import { findDamage } from '../../foundation/storage/inspection.ts'
import type { Migrations } from '../../foundation/storage/migrate.ts'
import { findAgentKeyOfCopy } from '../../wallet/agent-key.ts'
import { getMasterKeySource } from '../../wallet/master-key.ts'
import {
  isAuthentic,
  readManifest,
  Backup,
  keyName,
  toBackup,
  type BackupFile,
  type BackupManifest,
} from './manifest.ts'
import { readIds, walletPath } from './snapshot.ts'

export const VerifiedBackup = Backup.extend({
  masterKey: z
    .enum(['opens', 'does not open', 'absent'])
    .describe(
      'Whether the master key opens the backup: the key that it includes, otherwise the key of this configuration, or one that a rotation has replaced.',
    ),
  keptKey: z
    .string()
    .optional()
    .describe(
      'The key from before a rotation that opens the backup: its path, or the keyring and its entry.',
    ),
  faults: z
    .array(z.object({ path: z.string(), reason: z.string() }))
    .describe('Files that were changed or are missing. Empty when the backup is sound.'),
}).meta({ id: 'VerifiedBackup' })
export type VerifiedBackup = z.infer<typeof VerifiedBackup>

/**
 * Verifies the backup in a folder without changing it.
 *
 * @throws {StartError} when there is none, or a newer release made it.
 */
export async function verifyBackup(folder: string, config: Config): Promise<VerifiedBackup> {
  return verifyFiles(folder, readManifest(folder), config)
}

/** Verifies that a folder has the files of a manifest. @throws {StartError} when a newer release made it. */
export async function verifyFiles(
  folder: string,
  manifest: BackupManifest,
  config: Config,
): Promise<VerifiedBackup> {
  assertKnownSchemas(folder, manifest)
  const faults: VerifiedBackup['faults'] = []
  const note = (path: string, reason: string | undefined) =>
    reason !== undefined && faults.push({ path, reason })
  for (const file of manifest.files) note(file.path, await findFault(folder, file))
  const isAgentDbSound =
    manifest.files.some(({ path }) => path === 'agent.db') && !faults.some(({ path }) => path === 'agent.db')
  if (!isAgentDbSound) note('agent.db', faults.length > 0 ? undefined : 'is not in the manifest')
  const tried = isAgentDbSound
    ? await tryKey(folder, manifest, config, note)
    : { masterKey: 'absent' as const }
  if (isAgentDbSound)
    for (const id of await findUnlisted(folder, manifest)) note(walletPath(id), 'is not in the manifest')
  return { ...toBackup(folder, manifest), ...tried, faults }
}

function assertKnownSchemas(folder: string, { files, agentVersion }: BackupManifest): void {
  const newer = files.find(({ path, schema }) => {
    const migrations = migrationsOf(path)
    return migrations !== undefined && schema !== undefined && !Object.hasOwn(migrations, schema)
  })
  if (newer)
    throw new StartError(
      `The backup ${folder} was made by a newer release of identity-agent, ${agentVersion} (${newer.path}: ${newer.schema} is not known to this one). Use that release.`,
      1,
    )
}

/**
 * The migrations of a database. Undefined for those with `user_version`, which is checked when they are
 * opened.
 */
function migrationsOf(path: string): Migrations | undefined {
  if (path.startsWith('wallets/')) return walletMigrations
  return { 'agent.db': agentMigrations, 'mediator.db': mediatorMigrations }[path]
}

async function findFault(
  folder: string,
  { path, bytes, sha256, schema }: BackupFile,
): Promise<string | undefined> {
  const file = join(folder, path)
  if (!existsSync(file)) return 'is missing'
  const { size } = statSync(file)
  if (size !== bytes) return `has ${size} bytes instead of ${bytes}`
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(file, { highWaterMark: 1_048_576 }), hash)
  } catch (error) {
    return `cannot be read: ${reasonOf(error)}`
  }
  if (hash.digest('hex') !== sha256) return 'was changed'
  return schema === undefined ? undefined : findDamage(file)
}

/** Tries the master key. A manifest with a wrong MAC is a fault. */
async function tryKey(
  folder: string,
  manifest: BackupManifest,
  config: Config,
  note: (path: string, reason: string) => unknown,
): Promise<Pick<VerifiedBackup, 'masterKey' | 'keptKey'>> {
  const isInside = manifest.files.some(({ path }) => path === keyName)
  const keyConfig: Config = isInside
    ? {
        ...config,
        AGENT_MASTER_KEY: undefined,
        AGENT_MASTER_KEY_STORE: 'file',
        AGENT_MASTER_KEY_FILE: join(folder, keyName),
      }
    : config
  await using db = openAgentDbToRead(join(folder, 'agent.db'))
  try {
    const opened = await findAgentKeyOfCopy(keyConfig, db)
    if (opened && !isAuthentic(opened.agentKey, manifest))
      note('backup.json', 'was altered, or belongs to another backup')
    opened?.agentKey.fill(0)
    return { masterKey: 'opens', ...(opened?.keptKey !== undefined && { keptKey: opened.keptKey }) }
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    const { path } = await getMasterKeySource(keyConfig, db)
    return { masterKey: path !== undefined && !existsSync(path) ? 'absent' : 'does not open' }
  }
}

/** Wallets in agent.db that the manifest does not list. */
async function findUnlisted(folder: string, { files, missing }: BackupManifest): Promise<string[]> {
  const known = new Set([
    ...files.map(({ path }) => basename(path, '.db')),
    ...missing.map(({ walletId }) => walletId),
  ])
  return (await readIds(folder)).filter((id) => !known.has(id))
}
