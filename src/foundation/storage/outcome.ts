/**
 * Outcomes of what was sent: a message, an event. While the wallet cannot be written (a full disk, a database
 * that is away), an outcome is kept and stored later, because the other side must not get the same again and
 * again.
 */
import { Problem } from '../problem.ts'

/** Stores an outcome, in an open wallet. */
type Store<Wallet> = (wallet: Wallet) => Promise<void>

/** The wallet cannot be written now. `store` stores the outcome, when called again. */
export class UnstoredError<Wallet> extends Error {
  override name = 'UnstoredError'
  readonly store: Store<Wallet>

  constructor(store: Store<Wallet>, cause: unknown) {
    super('an outcome could not be stored', { cause })
    this.store = store
  }
}

/** Stores an outcome. @throws {UnstoredError} while the wallet cannot be written */
export async function storeOutcome<Wallet>(wallet: Wallet, store: Store<Wallet>): Promise<void> {
  try {
    await store(wallet)
  } catch (error) {
    throw isUnwritable(error) ? new UnstoredError(store, error) : error
  }
}

/** Whether a wallet cannot be opened or written now, and can later. */
export function isUnwritable(error: unknown): boolean {
  return (
    error instanceof Problem &&
    (error.type === 'error:ServiceUnavailable' || error.type === 'error:InsufficientStorage')
  )
}
