/** The DID methods whose DIDs wallets create: one row for each. */
import type { ManagedName } from '../../definitions/did-names.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import type { Wallet } from '../wallet.ts'
import type { DidRow } from './dids.ts'
import type { CreateManagedDid, DidOperationResponse, RestoredDid, UpdateAction } from './model.ts'
import { prism } from './prism.ts'
import { singleKey } from './single-key.ts'
import { web } from './web.ts'

/** The row of a DID that is changed is published, not deactivated, and has no pending operation. */
export type ManagedMethod = {
  /**
   * Creates a DID and returns the form that resolves.
   *
   * @throws {Problem} 409, 422.
   * @throws {InvalidOperation}
   */
  create: (wallet: Wallet, request: CreateManagedDid, db: AgentDb) => Promise<string>
  /** Enqueues the publication, once. Absent: a new DID is published. */
  publish?: (wallet: Wallet, row: DidRow) => Promise<DidOperationResponse>
  /** Absent: the DID is its key, and cannot change. @throws {InvalidOperation} */
  update?: (wallet: Wallet, row: DidRow, actions: readonly UpdateAction[]) => Promise<DidOperationResponse>
  /** Absent: as `update`. @throws {InvalidOperation} */
  deactivate?: (wallet: Wallet, row: DidRow) => Promise<DidOperationResponse>
  /** Finds the published DIDs of the wallet’s seed that it does not have. Absent: nothing lists them. */
  restore?: (wallet: Wallet) => Promise<RestoredDid[]>
}

export const managed: Readonly<Record<ManagedName, ManagedMethod>> = {
  prism,
  web,
  key: singleKey('key'),
  jwk: singleKey('jwk'),
}
