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
  | 'anchor-in-chain'
  | 'untrusted'
  | 'name'

/** `message` names the certificate and the reason. It is public. */
export class ChainError extends Error {
  override name = 'ChainError'
  readonly failure: ChainFailure

  constructor(failure: ChainFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}
