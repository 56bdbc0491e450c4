/**
 * The agent key: 32 random bytes from which all sealing keys of an agent are derived.
 *
 * It is made at the first start and stored in agent.db, wrapped with the master key. So a rotation of the
 * master key (`key-rotation.ts`) changes one row; wallets, digests of API keys and tokens stay valid.
 */
import type { Config } from '../foundation/config/config.ts'
import type { Log } from '../foundation/log.ts'
import { newSealKey, seal, unseal, withSealKey } from '../foundation/seal.ts'
import { StartError } from '../foundation/start-error.ts'
import { emptyLog, type AgentDb, type AgentTx } from '../foundation/storage/database.ts'
import { across } from '../foundation/probe.ts'
import { findKept } from './master-key-file.ts'
import { getMasterKeySource, type MasterKeySource } from './master-key.ts'

const present = 'agent-key'
/** The agent key wrapped with the previous master key, which stays valid until the operator has replaced it. */
const previous = 'agent-key-previous'

/** The stored rows, in base64url. */
type Wrapped = { [present]?: string; [previous]?: string }

/**
 * The unwrapped agent key, and the master key that unwrapped it: the `present` one, the `next` one of an
 * interrupted rotation, the `previous` one that the operator has not replaced yet, or an `earlier` one in a
 * file that is to be moved into the keyring.
 */
type Opened = {
  agentKey: Uint8Array
  by: 'present' | 'next' | 'previous' | 'earlier'
  wrapped: Wrapped
  source: MasterKeySource
}

/** Runs a change of the keys at a start and writes it to the audit log, which the agent key seals. */
export type Audited = (agentKey: Uint8Array, action: string, work: () => Promise<unknown>) => Promise<unknown>

/**
 * Opens the agent key of a data folder, and makes one in a new folder. Finishes an interrupted rotation of
 * the master key, or undoes it if it had changed nothing yet.
 *
 * @throws {StartError} when the master key cannot be read, or is not the folder's. Nothing is changed then.
 */
export async function openAgentKey(
  config: Config,
  db: AgentDb,
  log: Log,
  audited: Audited,
): Promise<Uint8Array> {
  const opened = await findAgentKey(config, db)
  if (!opened) {
    const agentKey = await makeAgentKey(config, db)
    // Another node has made one in the meantime.
    if (!agentKey) return openAgentKey(config, db, log, audited)
    await audited(agentKey, 'agent key made', () => Promise.resolve())
    return agentKey
  }
  const change = changeBy(opened)
  if (change === undefined) await finishRotation(db, opened)
  else await audited(opened.agentKey, change, () => finishRotation(db, opened))
  if (opened.by === 'previous') log.warn(`the master key was rotated: ${stillPrevious(opened)}`)
  if (opened.by === 'earlier') log.info('the master key was moved from its file into the keyring')
  return opened.agentKey
}

/** As `openAgentKey`, without any change. Undefined for a new folder. @throws {StartError} */
export async function findAgentKey(config: Config, db: AgentDb): Promise<Opened | undefined> {
  const wrapped = await readWrapped(db)
  if (wrapped[present] === undefined) {
    const wallet = await db.selectFrom('wallet').select('id').executeTakeFirst()
    if (!wallet) return undefined
    const remedy = config.AGENT_DATABASE_URL
      ? 'Restore the database from a dump'
      : 'Restore agent.db from a copy'
    throw new StartError(
      `There are wallets in ${nameStore(config)}, but not the key that opens them. ${remedy}.`,
      4,
    )
  }
  const source = await getMasterKeySource(config, db)
  // If the next key works, a missing present key does not matter.
  const byNext = tryKey(await source.next?.read(), (key) => unwrap(key, wrapped[present]))
  if (byNext) return { agentKey: byNext, by: 'next', wrapped, source }
  let failure: unknown
  const masterKey = await source.read().catch((error: unknown) => {
    failure = error
    return undefined
  })
  const opened = tryKey(masterKey, (key): Opened | undefined => {
    for (const [name, by] of [
      [present, 'present'],
      [previous, 'previous'],
    ] as const) {
      const agentKey = unwrap(key, wrapped[name])
      if (agentKey) return { agentKey, by, wrapped, source }
    }
    return undefined
  })
  if (opened) return opened
  const byEarlier = tryKey(source.earlier?.read(), (key) => unwrap(key, wrapped[present]))
  if (byEarlier) return { agentKey: byEarlier, by: 'earlier', wrapped, source }
  if (failure instanceof Error) throw failure
  throw new StartError(
    `The master key in ${source.name} does not belong to ${nameStore(config)}. Provide the right one. Nothing was changed.`,
    4,
  )
}

/**
 * As `findAgentKey`, for a copy of the data: it may be from before a rotation, so that a key which was kept
 * then opens it. `keptKey` names that key. @throws {StartError}
 */
export async function findAgentKeyOfCopy(
  config: Config,
  db: AgentDb,
): Promise<{ agentKey: Uint8Array; keptKey?: string } | undefined> {
  try {
    return await findAgentKey(config, db)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    const wrapped = await readWrapped(db)
    const source = await getMasterKeySource(config, db)
    const opened = findKept((await source.readKept?.()) ?? [], ({ name, key }) => {
      const agentKey = unwrap(key, wrapped[present])
      return agentKey && { agentKey, keptKey: name }
    })
    if (opened) return opened
    throw error
  }
}

/** Where the wrapped agent key is. */
function nameStore({ AGENT_DATABASE_URL, AGENT_DATA_DIR }: Config): string {
  return AGENT_DATABASE_URL ? 'the database of AGENT_DATABASE_URL' : AGENT_DATA_DIR
}

/** Calls `use` with a master key, if there is one, and fills it with zeros. */
function tryKey<T>(key: Uint8Array | undefined, use: (key: Uint8Array) => T | undefined): T | undefined {
  try {
    return key && use(key)
  } finally {
    key?.fill(0)
  }
}

/** The warning when the master key before the last rotation opened the folder. */
export function stillPrevious({ source }: Pick<Opened, 'source'>): string {
  return `${source.name} still holds the key from before the last rotation. Put the new key there before the next start; until then both keys are valid.`
}

/** The audit action of `finishRotation`; undefined when it changes nothing. */
function changeBy({ by, wrapped }: Opened): string | undefined {
  if (by === 'next') return 'rotation of the master key finished'
  if (by === 'earlier') return 'master key moved into the keyring'
  return by === 'present' && wrapped[previous] !== undefined ? 'previous master key dropped' : undefined
}

/** Finishes a rotation, or moves the master key into the keyring. */
export async function finishRotation(db: AgentDb, { agentKey, by, wrapped, source }: Opened): Promise<void> {
  if (by === 'present' && wrapped[previous] !== undefined) {
    await db.deleteFrom('setting').where('name', '=', previous).execute()
    await emptyLog(db)
  }
  if (by === 'earlier') await moveToKeyring(db, source, agentKey)
  else if (by === 'next') await installNextKey(db, source)
  else await source.next?.discard()
}

/** The keyring gets a new master key, since copies of the file may exist. */
async function moveToKeyring(db: AgentDb, source: MasterKeySource, agentKey: Uint8Array): Promise<void> {
  const key = newSealKey()
  try {
    await keepEarlier(source)
    await across('next-key', {}, async () => source.next?.write(key))
    await across('key-row', {}, () => db.transaction().execute((tx) => rewrap(tx, key, agentKey)))
    await installNextKey(db, source)
  } finally {
    key.fill(0)
  }
}

async function keepEarlier({ earlier, next }: MasterKeySource): Promise<void> {
  const key = earlier?.read()
  try {
    if (key) await next?.keep(key)
  } finally {
    key?.fill(0)
  }
}

/**
 * The last step of a rotation, after the row is wrapped with the next key: erases the old row from the log
 * and installs the key.
 */
export async function installNextKey(db: AgentDb, source: MasterKeySource): Promise<void> {
  await emptyLog(db)
  source.earlier?.remove()
  await across('key-name', {}, async () => source.next?.install())
}

/** Wraps the agent key with a master key. With `keepsPrevious`, the current master key stays valid too. */
export async function rewrap(
  tx: AgentTx,
  masterKey: Uint8Array,
  agentKey: Uint8Array,
  { keepsPrevious = false } = {},
): Promise<void> {
  const wrapped = await readWrapped(tx)
  // In a second rotation before the operator has installed the key of the first, the oldest key is still the
  // installed one.
  const kept = keepsPrevious ? (wrapped[previous] ?? wrapped[present]) : undefined
  await tx.deleteFrom('setting').where('name', 'in', [present, previous]).execute()
  const rows = [
    { name: present, value: wrap(masterKey, agentKey) },
    ...(kept === undefined ? [] : [{ name: previous, value: kept }]),
  ]
  await tx.insertInto('setting').values(rows).execute()
}

export async function isMasterKey(db: AgentDb, masterKey: Uint8Array): Promise<boolean> {
  const agentKey = unwrap(masterKey, (await readWrapped(db))[present])
  agentKey?.fill(0)
  return agentKey !== undefined
}

/** Undefined if there is an agent key already. */
async function makeAgentKey(config: Config, db: AgentDb): Promise<Uint8Array | undefined> {
  const masterKey = await (await getMasterKeySource(config, db)).read({ mayMake: true })
  const agentKey = newSealKey()
  const isFirst = await db.transaction().execute(async (tx) => {
    if ((await readWrapped(tx))[present] !== undefined) return false
    await rewrap(tx, masterKey, agentKey)
    return true
  })
  masterKey.fill(0)
  return isFirst ? agentKey : undefined
}

async function readWrapped(db: AgentDb): Promise<Wrapped> {
  const rows = await db.selectFrom('setting').selectAll().where('name', 'in', [present, previous]).execute()
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

function wrap(masterKey: Uint8Array, agentKey: Uint8Array): string {
  return withSealKey(masterKey, present, (key) => seal(key, present, agentKey))
}

function unwrap(masterKey: Uint8Array, wrapped: string | undefined): Uint8Array | undefined {
  if (wrapped === undefined) return undefined
  try {
    return withSealKey(masterKey, present, (key) => unseal(key, present, wrapped))
  } catch {
    return undefined
  }
}
