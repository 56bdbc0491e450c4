/**
 * Generating the keys of credential definitions in the background, one after the other, the wallets by turns.
 *
 * What is to be done is in the registry: definitions without a key. So a restart goes on with them. The private key is in the wallet before the
 * definition is published; killed in between, the next start makes another pair, which nobody misses.
 */
import { across } from '../base/probe.ts'
import { reasonOf } from '../base/reason.ts'
import type { Log } from '../base/log.ts'
import type { AgentDb } from '../storage/database.ts'
import { completeDefinition, type DefinitionRow } from './definitions.ts'
import type { KeyMaker } from './key-maker.ts'
import type { DefinitionPrivateKey } from './model.ts'

export type GeneratorParts = {
  db: AgentDb
  keys: KeyMaker
  log: Log
  /** Keeps the private key of a wallet's definition. */
  keep: (walletId: string, guid: string, key: DefinitionPrivateKey) => Promise<void>
  /** Milliseconds after which what failed is tried again. */
  retryMs?: number
}

export type Generator = {
  /** Looks for definitions without keys: after a start, or when one was made. */
  wake(): void
  /** Resolves when the definition has its key, or the signal is aborted. @throws why it could not be generated now; it is tried again later. */
  whenGenerated(guid: string, signal: AbortSignal): Promise<void>
  /** Begins no more, ends what is under way, and waits for what is being written. */
  close(): Promise<void>
}

type Waiting = { resolve: () => void; reject: (error: unknown) => void }

export function createGenerator({ db, keys, log, keep, retryMs = 30_000 }: GeneratorParts): Generator {
  const waiting = new Map<string, Set<Waiting>>()
  /** When a wallet had its last turn, counted. */
  const turns = new Map<string, number>()
  /** What failed, until it is tried again. */
  const postponed = new Set<string>()
  const timers = new Set<NodeJS.Timeout>()
  let turn = 0
  let running: Promise<void> | undefined
  let isWoken = false
  let isClosed = false

  async function next(): Promise<DefinitionRow | undefined> {
    if (isClosed) return undefined
    const rows = await db
      .selectFrom('credential_definition')
      .leftJoin('wallet', 'wallet.id', 'wallet_id')
      .selectAll('credential_definition')
      .where('definition', 'is', null)
      .where('moved_at', 'is', null)
      .orderBy('position')
      .execute()
    const lastTurn = ({ wallet_id: id }: DefinitionRow) => turns.get(id) ?? 0
    return rows
      .filter(({ guid }) => !postponed.has(guid))
      .toSorted((one, other) => lastTurn(one) - lastTurn(other))[0]
  }

  async function generate({
    guid,
    wallet_id: walletId,
    schema_id: schemaId,
    tag,
    author,
    attributes,
  }: DefinitionRow): Promise<void> {
    const { primary, privateKey, keyCorrectnessProof } = await keys.make(JSON.parse(attributes) as string[])
    await keep(walletId, guid, privateKey)
    const definition = { schemaId, type: 'CL' as const, tag, issuerId: author, value: { primary } }
    const complete = () =>
      db
        .transaction()
        .execute((tx) => completeDefinition(tx, { walletId, guid }, { definition, keyCorrectnessProof }))
    await across('definition', { walletId, guid }, complete)
  }

  /** Tells those who wait for a definition. */
  function tell(guid: string, outcome: (waiting: Waiting) => void): void {
    const told = waiting.get(guid) ?? []
    waiting.delete(guid)
    for (const each of told) outcome(each)
  }

  async function take(row: DefinitionRow): Promise<void> {
    turns.set(row.wallet_id, ++turn)
    try {
      await generate(row)
      tell(row.guid, ({ resolve }) => resolve())
    } catch (error) {
      if (isClosed) return
      log.error(
        { err: error, walletId: row.wallet_id },
        `the key of a credential definition could not be generated: ${reasonOf(error)}`,
      )
      postponed.add(row.guid)
      const timer = setTimeout(() => {
        timers.delete(timer)
        postponed.delete(row.guid)
        wake()
      }, retryMs).unref()
      timers.add(timer)
      tell(row.guid, ({ reject }) => reject(error))
    }
  }

  async function run(): Promise<void> {
    while (isWoken) {
      isWoken = false
      for (let row = await next(); row; row = await next()) await take(row)
    }
  }

  function wake(): void {
    isWoken = !isClosed
    running ??= run()
      .catch((error: unknown) =>
        log.error({ err: error }, 'the registry of credential definitions could not be read'),
      )
      .finally(() => {
        running = undefined
        // Somebody may have come when it was about to end.
        if (isWoken && !isClosed) wake()
      })
  }

  return {
    wake,
    async whenGenerated(guid, signal) {
      if (signal.aborted) return
      await new Promise<void>((resolve, reject) => {
        const entry = { resolve, reject }
        const entries = waiting.get(guid) ?? new Set()
        waiting.set(guid, entries.add(entry))
        signal.addEventListener('abort', () => {
          entries.delete(entry)
          resolve()
        })
      })
    },
    async close() {
      isClosed = true
      keys.close()
      for (const timer of timers) clearTimeout(timer)
      for (const guid of waiting.keys()) tell(guid, ({ resolve }) => resolve())
      await running
    },
  }
}
