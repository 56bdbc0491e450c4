/** Wallets that go from one agent to another: what that takes of the agent, and where files are meanwhile. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { makeFolder } from '../base/private-files.ts'
import { randomId } from '../base/id.ts'
import type { Log } from '../base/log.ts'
import type { AgentDb } from '../storage/database.ts'
import type { WalletTokens } from '../wallet/wallet-tokens.ts'
import type { WalletDetail } from '../wallet/model.ts'
import type { Wallets } from '../wallet/wallets.ts'
import { exportWallet, type ExportOptions } from './export.ts'
import { finishImport, importWallet, type ImportOptions } from './import.ts'

export type WalletTransfer = {
  /** See `export.ts`. */
  export: (id: string, options: ExportOptions) => Promise<Readable>
  /** See `import.ts`. */
  import: (source: AsyncIterable<Uint8Array>, options: ImportOptions) => Promise<WalletDetail>
}

/** What it takes of the agent. */
export type Parts = {
  readonly db: AgentDb
  readonly agentKey: Uint8Array
  readonly wallets: Wallets
  readonly tokens: WalletTokens
  readonly log: Log
  /** Tells the worker that a wallet owes something. */
  readonly wake: (walletId: string) => void
  /** A name in `wallets.transitFolder` for a file that is there for the time of one export or import. */
  readonly newName: () => string
}

/**
 * Makes ready, and settles what a daemon that was killed has left in `wallets.transitFolder`: the file of a wallet that it has made known gets its
 * place; the rest is of no use to anybody.
 */
export async function openWalletTransfer(given: Omit<Parts, 'newName'>): Promise<WalletTransfer> {
  const { transitFolder: transit } = given.wallets
  const parts: Parts = {
    ...given,
    newName() {
      makeFolder(transit)
      return randomId()
    },
  }
  if (existsSync(transit)) {
    for (const name of readdirSync(transit)) await finishImport(parts, name)
    rmSync(transit, { recursive: true, force: true })
  }
  return {
    export: (id, options) => exportWallet(parts, id, options),
    import: (source, options) => importWallet(parts, source, options),
  }
}
