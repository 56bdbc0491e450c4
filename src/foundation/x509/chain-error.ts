/** The most certificates of a chain. */
export const maxCertificates = 10

/** Why a chain of certificates is not accepted. */
export type ChainFailure =
  | 'malformed'
  | 'self-signed'
  | 'key'
  | 'algorithm'
  | 'signature'
  | 'order'
  | 'dates'
  | 'basic-constraints'
  | 'path-length'
  | 'key-usage'
  | 'name-constraints'
  | 'critical-extension'
  | 'profile'
  | 'country'
  | 'untrusted'

/** `message` names the certificate and the reason. It is public. */
export class ChainError extends Error {
  override name = 'ChainError'
  readonly failure: ChainFailure

  constructor(failure: ChainFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}

/** Evaluates certificates of others: whatever that throws is a fault of theirs. @throws {ChainError} */
export function evaluate<T>(act: () => T): T {
  try {
    return act()
  } catch (cause) {
    if (cause instanceof ChainError) throw cause
    throw new ChainError('malformed', 'The certificates cannot be evaluated: one of them is malformed.', {
      cause,
    })
  }
}
