/**
 * The agent key: 32 random bytes, made at the first start, from which the keys of all that is sealed here are derived.
 *
 * On disk it is wrapped by the master key, in one row of `setting`. So another master key is another row, and wallets, digests of API
 * keys and mailboxes stay as they are (`key-rotation.ts`).
 */
import type { Config } from '../base/config.ts'
import type { Log } from '../base/log.ts'
import { newSealKey, seal, unseal, withSealKey } from '../base/seal.ts'
import { StartError } from '../base/start-error.ts'
import { emptyLog, type AgentDb, type AgentTx } from '../storage/database.ts'
import { across } from '../base/probe.ts'
import { getMasterKeySource, type MasterKeySource } from './master-key.ts'

const present = 'agent-key'
/** Wrapped by the master key that the operator has yet to replace, and that opens the folder until then. */
const previous = 'agent-key-previous'

/** The agent key as it is on disk. */
type Wrapped = { [present]?: string; [previous]?: string }

/**
 * What opened the agent key: the master key, the one beside it that was about to take its place, the one that was to be replaced, or the one
 * in the file from which it is to be moved.
 */
type Opened = {
  agentKey: Uint8Array
  by: 'present' | 'next' | 'previous' | 'earlier'
  wrapped: Wrapped
  source: MasterKeySource
}

/** Does what a start changes about the keys, and has it in the audit log, which the agent key opens. */
export type Audited = (agentKey: Uint8Array, action: string, work: () => Promise<unknown>) => Promise<unknown>

/**
 * The agent key of a data folder, made when it is a new one. A rotation of the master key that was cut off is finished, or taken back where it
 * had changed nothing yet.
 *
 * @throws {StartError} when the master key is another, or cannot be read; nothing was changed then.
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
    await audited(agentKey, 'agent key made', () => Promise.resolve())
    return agentKey
  }
  const change = changeBy(opened)
  if (change === undefined) await settle(db, opened)
  else await audited(opened.agentKey, change, () => settle(db, opened))
  if (opened.by === 'previous') log.warn(`the master key was rotated: ${stillPrevious(opened)}`)
  if (opened.by === 'earlier')
    log.info('the master key was moved into the keyring, and is in no file any more')
  return opened.agentKey
}

/** As `openAgentKey`, but changes nothing, and gives nothing for a folder that is new. @throws {StartError} */
export async function findAgentKey(config: Config, db: AgentDb): Promise<Opened | undefined> {
  const wrapped = await readWrapped(db)
  if (wrapped[present] === undefined) {
    const wallet = await db.selectFrom('wallet').select('id').executeTakeFirst()
    if (!wallet) return undefined
    throw new StartError(
      `${config.AGENT_DATA_DIR} holds wallets, but not the key that opens them. Put a copy of agent.db back.`,
      4,
    )
  }
  const source = await getMasterKeySource(config, db)
  // With the next key at hand, a present one that is not there is no matter.
  const byNext = tryWith(await source.next?.read(), (key) => unwrap(key, wrapped[present]))
  if (byNext) return { agentKey: byNext, by: 'next', wrapped, source }
  let failure: unknown
  const masterKey = await source.read().catch((error: unknown) => {
    failure = error
    return undefined
  })
  const opened = tryWith(masterKey, (key): Opened | undefined => {
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
  const byEarlier = tryWith(source.earlier?.read(), (key) => unwrap(key, wrapped[present]))
  if (byEarlier) return { agentKey: byEarlier, by: 'earlier', wrapped, source }
  if (failure instanceof Error) throw failure
  throw new StartError(
    `The master key in ${source.name} is not the one that ${config.AGENT_DATA_DIR} was made with. Give the right one; nothing was changed.`,
    4,
  )
}

/** Tries a master key, if there is one, and forgets it. */
function tryWith<T>(key: Uint8Array | undefined, use: (key: Uint8Array) => T | undefined): T | undefined {
  try {
    return key && use(key)
  } finally {
    key?.fill(0)
  }
}

/** What the operator has yet to do, when the master key before the last rotation opens the folder. */
export function stillPrevious({ source }: Pick<Opened, 'source'>): string {
  return `${source.name} still holds the key before the last rotation. Put the new one there before the next start; until then both open the folder.`
}

/** What ending a rotation, or moving the key, changes about which keys open the folder, in words. */
function changeBy({ by, wrapped }: Opened): string | undefined {
  if (by === 'next') return 'rotation of the master key finished'
  if (by === 'earlier') return 'master key moved into the keyring'
  return by === 'present' && wrapped[previous] !== undefined ? 'previous master key dropped' : undefined
}

/** Ends a rotation that was begun, or moves the key to where it belongs. */
export async function settle(db: AgentDb, { agentKey, by, wrapped, source }: Opened): Promise<void> {
  if (by === 'present' && wrapped[previous] !== undefined) {
    await db.deleteFrom('setting').where('name', '=', previous).execute()
    await emptyLog(db)
  }
  if (by === 'earlier') await moveIn(db, source, agentKey)
  else if (by === 'next') await finish(db, source)
  else await source.next?.drop()
}

/** Into a keyring goes another key than the one that lay in a file. */
async function moveIn(db: AgentDb, source: MasterKeySource, agentKey: Uint8Array): Promise<void> {
  const key = newSealKey()
  try {
    await across('next-key', {}, async () => source.next?.write(key))
    await across('key-row', {}, () => db.transaction().execute((tx) => rewrap(tx, key, agentKey)))
    await finish(db, source)
  } finally {
    key.fill(0)
  }
}

/** What is left to do once the row is that of the next key: what the key before opened must not be found any more, then its place is taken. */
export async function finish(db: AgentDb, source: MasterKeySource): Promise<void> {
  await emptyLog(db)
  source.earlier?.forget()
  await across('key-name', {}, async () => source.next?.take())
}

/** Wraps the agent key with a master key. With `keepsPrevious` the one that opens it now goes on to do so. */
export async function rewrap(
  tx: AgentTx,
  masterKey: Uint8Array,
  agentKey: Uint8Array,
  { keepsPrevious = false } = {},
): Promise<void> {
  const wrapped = await readWrapped(tx)
  // A second rotation, before the operator has replaced the key of the first: it is still the same one that opens the folder meanwhile.
  const kept = keepsPrevious ? (wrapped[previous] ?? wrapped[present]) : undefined
  await tx.deleteFrom('setting').where('name', 'in', [present, previous]).execute()
  const rows = [
    { name: present, value: wrap(masterKey, agentKey) },
    ...(kept === undefined ? [] : [{ name: previous, value: kept }]),
  ]
  await tx.insertInto('setting').values(rows).execute()
}

/** Whether a master key opens the folder as it is now. */
export async function opens(db: AgentDb, masterKey: Uint8Array): Promise<boolean> {
  const agentKey = unwrap(masterKey, (await readWrapped(db))[present])
  agentKey?.fill(0)
  return agentKey !== undefined
}

async function makeAgentKey(config: Config, db: AgentDb): Promise<Uint8Array> {
  const masterKey = await (await getMasterKeySource(config, db)).read({ mayMake: true })
  const agentKey = newSealKey()
  await db.transaction().execute((tx) => rewrap(tx, masterKey, agentKey))
  masterKey.fill(0)
  return agentKey
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
