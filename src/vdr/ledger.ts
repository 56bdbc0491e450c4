/**
 * The ledger of did:prism operations (the verifiable data registry), whatever stands behind it. A DID's state is made of
 * confirmed operations alone; everything else an operation goes through is told by its id.
 */
import type { PublicJwk } from '../crypto/keys.ts'
import type { DidState } from '../did/prism/state.ts'

/**
 * How far an operation is. `details` is the reason of a rejection. Times are ISO 8601 in UTC: `confirmsAt` is when the ledger confirms or
 * rejects, or did so; a ledger that cannot know leaves it out.
 */
export type LedgerOperation = {
  operationId: string
  status: 'pending' | 'confirmed' | 'rejected'
  details?: string
  submittedAt?: string
  confirmsAt?: string
}

/**
 * Closed with `close`, or by leaving the scope of an `await using`. All functions of a ledger that is elsewhere throw `Problem`
 * `error:ServiceUnavailable` while it cannot be reached or does not keep to its protocol: ask again later.
 */
export type Ledger = AsyncDisposable & {
  /** Where it is, for people: a path, or a URL without user name and password. */
  readonly location: string
  /**
   * Hands in a signed operation's bytes (`SignedAtalaOperation`). Handing in the same bytes again changes nothing and answers the same.
   * Whether the operation obeys the method's rules shows later, in `getOperation`.
   *
   * @throws {Problem} `BadRequest` when the bytes are no signed operation on a DID.
   */
  submit(signedOperation: Uint8Array): Promise<{ operationId: string; transactionId: string }>
  /** How far an operation is; nothing when the ledger does not know its id (64 hexadecimal digits). */
  getOperation(operationId: string): Promise<LedgerOperation | undefined>
  /**
   * The state of a DID by its suffix, from confirmed operations; nothing when it is not published. A ledger that does not tell which ids are
   * retired leaves them out, and still refuses operations that use them again.
   */
  getState(suffix: string): Promise<DidState | undefined>
  /**
   * The suffixes of the published DIDs whose create operation names this secp256k1 key as a master key, in the order of their publication:
   * how a seed finds its DIDs again.
   */
  findByMasterKey(publicKey: PublicJwk): Promise<string[]>
  close(): Promise<void>
}
