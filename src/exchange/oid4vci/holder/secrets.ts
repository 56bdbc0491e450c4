/** The secrets of a flow with an issuer: sealed in the record, because it may wait for days and for a restart. */
import * as z from 'zod'
import { P256PrivateJwk } from '../../../foundation/oauth/secrets.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import type { OfferRecord } from './record.ts'

const Secrets = z.object({
  preAuthorizedCode: z.string().optional(),
  issuerState: z.string().optional(),
  /**
   * The begun authorization: PKCE, `state`, and the redirect URI. `state` stays, so that a repeated redirect
   * is known.
   */
  verifier: z.string().optional(),
  state: z.string().optional(),
  redirectUri: z.string().optional(),
  /** The key of the wallet attestation, to which the code and the refresh token are bound. */
  clientKey: P256PrivateJwk.optional(),
  accessToken: z.string().optional(),
  /** The key that the access token is bound to. */
  dpopKey: P256PrivateJwk.optional(),
})
export type Secrets = z.infer<typeof Secrets>

const contextOf = (recordId: string) => `openid4vci-offer:${recordId}`

export function sealSecrets(wallet: Wallet, recordId: string, secrets: Secrets): string {
  return wallet.seal(contextOf(recordId), JSON.stringify(secrets))
}

export function openSecrets(wallet: Wallet, { id, receivedOffer }: OfferRecord): Secrets {
  return Secrets.parse(JSON.parse(wallet.unseal(contextOf(id), receivedOffer.sealed)))
}
