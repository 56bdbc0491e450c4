/** Export and import of wallets, which transfers them from one agent to another. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { makeFolder } from '../../foundation/private-files.ts'
import { randomId } from '../../foundation/id.ts'
import type { Log } from '../../foundation/log.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import type { WalletTokens } from '../../wallet/wallet-tokens.ts'
import type { WalletDetail } from '../../wallet/model.ts'
import type { Wallets } from '../../wallet/wallets.ts'
import { exportWallet, type ExportOptions } from './export.ts'
import { finishImport, importWallet, type ImportOptions } from './import.ts'

export type WalletTransfer = {
  export: (id: string, options: ExportOptions) => Promise<Readable>
  import: (source: AsyncIterable<Uint8Array>, options: ImportOptions) => Promise<WalletDetail>
}

export type TransferContext = {
  readonly db: AgentDb
  readonly agentKey: Uint8Array
  readonly wallets: Wallets
  readonly tokens: WalletTokens
  readonly log: Log
  /** Makes the worker process the jobs of a wallet. */
  readonly wake: (walletId: string) => void
  /** A new name for a temporary file in `wallets.folder.transit`. */
  readonly newName: () => string
}

/**
 * Cleans up `wallets.folder.transit` after a crash: installs the files of registered wallets and deletes the
 * others.
 */
export async function openWalletTransfer(parts: Omit<TransferContext, 'newName'>): Promise<WalletTransfer> {
  const { transit } = parts.wallets.folder
  const context: TransferContext = {
    ...parts,
    newName() {
      makeFolder(transit)
      return randomId()
    },
  }
  if (existsSync(transit)) {
    for (const name of readdirSync(transit)) await finishImport(context, name)
    rmSync(transit, { recursive: true, force: true })
  }
  return {
    export: (id, options) => exportWallet(context, id, options),
    import: (source, options) => importWallet(context, source, options),
  }
}
