/** Verification of a backup: every file is as it was made, belongs to it, and can be read by this release and its master key. */
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import type { Config } from '../base/config.ts'
import { reasonOf } from '../base/reason.ts'
import { StartError } from '../base/start-error.ts'
import {
  agentMigrations,
  mediatorMigrations,
  openAgentDbToRead,
  walletMigrations,
} from '../storage/database.ts'
import { findDamage } from '../storage/inspection.ts'
import type { Migrations } from '../storage/migrate.ts'
import { findAgentKey } from '../wallet/agent-key.ts'
import { getMasterKeySource } from '../wallet/master-key.ts'
import {
  isAuthentic,
  readList,
  Backup,
  keyName,
  toBackup,
  type BackupFile,
  type BackupList,
} from './manifest.ts'
import { readIds, walletPath } from './snapshot.ts'

export const VerifiedBackup = Backup.extend({
  masterKey: z
    .enum(['opens', 'does not open', 'absent'])
    .describe(
      'Whether the master key opens it: the one in it, otherwise the one of this configuration, which may be absent.',
    ),
  faults: z
    .array(z.object({ path: z.string(), reason: z.string() }))
    .describe('Files that are not as they were made; none when it is sound.'),
}).meta({ id: 'VerifiedBackup' })
export type VerifiedBackup = z.infer<typeof VerifiedBackup>

/** Verifies the backup in a folder; changes nothing. @throws {StartError} when there is none, or it is of a newer release. */
export async function verifyBackup(folder: string, config: Config): Promise<VerifiedBackup> {
  return verifyFiles(folder, readList(folder), config)
}

/** Verifies that a folder has the files of a list. @throws {StartError} when they are of a newer release. */
export async function verifyFiles(folder: string, list: BackupList, config: Config): Promise<VerifiedBackup> {
  mustBeKnown(folder, list)
  const faults: VerifiedBackup['faults'] = []
  const note = (path: string, reason: string | undefined) =>
    reason !== undefined && faults.push({ path, reason })
  for (const file of list.files) note(file.path, await findFault(folder, file))
  const isAgentDbSound =
    list.files.some(({ path }) => path === 'agent.db') && !faults.some(({ path }) => path === 'agent.db')
  if (!isAgentDbSound) note('agent.db', faults.length > 0 ? undefined : 'is not in the list')
  const masterKey = isAgentDbSound ? await tryKey(folder, list, config, note) : 'absent'
  if (isAgentDbSound)
    for (const id of await findForgotten(folder, list)) note(walletPath(id), 'is not in the list')
  return { ...toBackup(folder, list), masterKey, faults }
}

/** Before a file is looked into: what it says may mean something else by then. */
function mustBeKnown(folder: string, { files, agentVersion }: BackupList): void {
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

/** The migrations of a file; nothing where the number in its head is its version, which whoever opens it compares. */
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
  if (hash.digest('hex') !== sha256) return 'is not as it was made'
  return schema === undefined ? undefined : findDamage(file)
}

/** What becomes of the master key at hand. A list that the agent key was not used for, it notes as a fault. */
async function tryKey(
  folder: string,
  list: BackupList,
  config: Config,
  note: (path: string, reason: string) => unknown,
): Promise<VerifiedBackup['masterKey']> {
  const isInside = list.files.some(({ path }) => path === keyName)
  const own: Config = isInside
    ? {
        ...config,
        AGENT_MASTER_KEY: undefined,
        AGENT_MASTER_KEY_STORE: 'file',
        AGENT_MASTER_KEY_FILE: join(folder, keyName),
      }
    : config
  await using db = openAgentDbToRead(join(folder, 'agent.db'))
  try {
    const { path } = await getMasterKeySource(own, db)
    if (path !== undefined && !existsSync(path)) return 'absent'
    const opened = await findAgentKey(own, db)
    if (opened && !isAuthentic(opened.agentKey, list))
      note('backup.json', 'was altered, or belongs to another backup')
    opened?.agentKey.fill(0)
    return 'opens'
  } catch (error) {
    if (error instanceof StartError) return 'does not open'
    throw error
  }
}

/** Wallets that there are, and of which the list says nothing. */
async function findForgotten(folder: string, { files, missing }: BackupList): Promise<string[]> {
  const known = new Set([
    ...files.map(({ path }) => basename(path, '.db')),
    ...missing.map(({ walletId }) => walletId),
  ])
  return (await readIds(folder)).filter((id) => !known.has(id))
}
