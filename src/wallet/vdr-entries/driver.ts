/** The interface of the drivers of VDR entries. A driver stores byte strings, and finds them by ids. */
import { Problem } from '../../foundation/problem.ts'
import type { Wallet } from '../wallet.ts'
import type { DriverName } from './url.ts'

/** `operationId`: the ledger's operation, whose status `GET /vdr/operations/{operationId}` has. */
export type Written = { operationId?: string }

export type Driver = {
  /** As in URLs. */
  readonly name: Required<DriverName>
  /** Other ids that clients may use. */
  readonly aliases?: readonly string[]
  /** `keyRef` selects the key that signs, for drivers whose entries are signed. */
  create(wallet: Wallet, content: Uint8Array, keyRef?: string): Promise<Written & { entryId: string }>
  /** The content of an entry of any wallet. */
  find(entryId: string): Promise<Uint8Array | undefined>
  /** Replaces the content of the wallet's own entry. Undefined if the wallet has no such entry. */
  update(wallet: Wallet, entryId: string, content: Uint8Array, keyRef?: string): Promise<Written | undefined>
  /** Deletes the wallet's own entry. Undefined if the wallet has no such entry. */
  remove(wallet: Wallet, entryId: string, keyRef?: string): Promise<Written | undefined>
}

/** 507: the wallet has as many entries as it may have. */
export function tooManyEntries(limit: number): Problem {
  return new Problem(
    'error:VdrServiceError:TooManyEntries',
    `The wallet has reached its limit of ${limit} VDR entries (VDR_ENTRIES_PER_WALLET). Delete some first.`,
  )
}
