import { Problem } from '../problem.ts'

/**
 * Another process owns the wallet. Nothing was done. The server forwards such a request to the owner; where
 * it cannot, the client gets 503 with `Retry-After`.
 */
export class NotOwnerError extends Problem {
  override name = 'NotOwnerError'
  readonly walletId: string

  constructor(walletId: string) {
    const detail = `The wallet ${walletId} is being taken over by another node. Try again in a moment.`
    super('error:ServiceUnavailable', detail, { retryAfter: 1 })
    this.walletId = walletId
  }
}
