/**
 * Generates the keys of credential definitions in the background, one at a time, alternating between wallets.
 *
 * The registry itself is the queue: definitions without a key. A restart therefore continues. The private key
 * is stored in the wallet before the definition is published. If the agent is killed in between, the next
 * start generates a new pair.
 */
import type { Log } from '../../foundation/log.ts'
import { across } from '../../foundation/probe.ts'
import { reasonOf } from '../../foundation/reason.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { completeDefinition, type DefinitionRow } from './definitions.ts'
import type { KeyMaker } from './key-maker.ts'
import type { DefinitionPrivateKey } from './model.ts'

export type GeneratorParts = {
  db: AgentDb
  keys: KeyMaker
  log: Log
  /** Whether this process generates the keys of a wallet. */
  owns: (walletId: string) => boolean
  storeKey: (walletId: string, guid: string, key: DefinitionPrivateKey) => Promise<void>
  /** Milliseconds before a failed generation is retried. */
  retryMs?: number
}

export type Generator = {
  /** Looks for definitions without keys: after a start, and when one was created. */
  wake(): void
  /**
   * Resolves when the definition has its key or the signal is aborted.
   *
   * @throws when generation failed; it is retried later.
   */
  whenGenerated(guid: string, signal: AbortSignal): Promise<void>
  /** Kills a running generation and waits for pending writes. */
  close(): Promise<void>
}

type Waiter = { resolve: () => void; reject: (error: unknown) => void }

export function createGenerator({
  db,
  keys,
  log,
  owns,
  storeKey,
  retryMs = 30_000,
}: GeneratorParts): Generator {
  const waiters = new Map<string, Set<Waiter>>()
  /** The sequence number of each wallet's latest generation. */
  const lastServed = new Map<string, number>()
  /** Failed definitions, with the timer that retries them. */
  const postponed = new Map<string, NodeJS.Timeout>()
  let served = 0
  let running: Promise<void> | undefined
  let isWoken = false
  let isClosed = false

  async function findNext(): Promise<DefinitionRow | undefined> {
    if (isClosed) return undefined
    const rows = await db
      .selectFrom('credential_definition')
      .leftJoin('wallet', 'wallet.id', 'wallet_id')
      .selectAll('credential_definition')
      .where('definition', 'is', null)
      .where('moved_at', 'is', null)
      .orderBy('position')
      .execute()
    const order = ({ wallet_id: id }: DefinitionRow) => lastServed.get(id) ?? 0
    return rows
      .filter(({ guid, wallet_id }) => !postponed.has(guid) && owns(wallet_id))
      .toSorted((one, other) => order(one) - order(other))[0]
  }

  async function generate(row: DefinitionRow): Promise<void> {
    const { guid, wallet_id: walletId, schema_id: schemaId, tag, author: issuerId } = row
    const { primary, privateKey, keyCorrectnessProof } = await keys.make(
      JSON.parse(row.attributes) as string[],
    )
    await storeKey(walletId, guid, privateKey)
    const definition = { schemaId, type: 'CL' as const, tag, issuerId, value: { primary } }
    await across('definition', { walletId, guid }, () =>
      db
        .transaction()
        .execute((tx) => completeDefinition(tx, { walletId, guid }, { definition, keyCorrectnessProof })),
    )
  }

  function notify(guid: string, resolve: (waiter: Waiter) => void): void {
    const notified = waiters.get(guid) ?? []
    waiters.delete(guid)
    for (const waiter of notified) resolve(waiter)
  }

  async function process(row: DefinitionRow): Promise<void> {
    lastServed.set(row.wallet_id, ++served)
    try {
      await generate(row)
      notify(row.guid, ({ resolve }) => resolve())
    } catch (error) {
      if (isClosed) return
      log.error(
        { err: error, walletId: row.wallet_id },
        `the key of a credential definition could not be generated: ${reasonOf(error)}`,
      )
      const retry = () => {
        postponed.delete(row.guid)
        wake()
      }
      postponed.set(row.guid, setTimeout(retry, retryMs).unref())
      notify(row.guid, ({ reject }) => reject(error))
    }
  }

  async function run(): Promise<void> {
    while (isWoken) {
      isWoken = false
      for (let row = await findNext(); row; row = await findNext()) await process(row)
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
        // `wake` may have been called after the last look.
        if (isWoken && !isClosed) wake()
      })
  }

  return {
    wake,
    async whenGenerated(guid, signal) {
      if (signal.aborted) return
      await new Promise<void>((resolve, reject) => {
        const waiter = { resolve, reject }
        const others = waiters.get(guid) ?? new Set()
        waiters.set(guid, others.add(waiter))
        signal.addEventListener('abort', () => {
          others.delete(waiter)
          resolve()
        })
      })
    },
    async close() {
      isClosed = true
      keys.close()
      for (const timer of postponed.values()) clearTimeout(timer)
      for (const guid of waiters.keys()) notify(guid, ({ resolve }) => resolve())
      await running
    },
  }
}
