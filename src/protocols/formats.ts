/** The formats of credentials, by the names of the API, and by those of attachments (wire.md 4, 5.2). */
import { z } from 'zod'

export const credentialFormats = ['JWT', 'SDJWT', 'AnonCreds'] as const
export const CredentialFormat = z.enum(credentialFormats)
export type CredentialFormat = (typeof credentialFormats)[number]

/** The formats whose credentials and proofs are signed tokens, by DIDs and about DIDs. */
export type TokenFormat = Exclude<CredentialFormat, 'AnonCreds'>

/** The attachment format of tokens, the same in every step (wire.md pitfall 3). */
export const tokenFormats = { JWT: 'prism/jwt', SDJWT: 'vc+sd-jwt' } as const satisfies Record<
  TokenFormat,
  string
>

/** The attachment formats of AnonCreds, one for each step. */
export const anonCredsFormats = {
  offer: 'anoncreds/credential-offer@v1.0',
  request: 'anoncreds/credential-request@v1.0',
  credential: 'anoncreds/credential@v1.0',
  proofRequest: 'anoncreds/proof-request@v1.0',
  proof: 'anoncreds/proof@v1.0',
} as const

/** SD-JWT by its old media type, which the wallets use, and by its new one. */
const sdJwtFormats = ['vc+sd-jwt', 'dc+sd-jwt']

/** What an offer or a request is about. Only these two messages say it: their answers are labelled in many ways, and their records know. */
export function toCredentialFormat(attachmentFormat: string | null | undefined): CredentialFormat {
  if (attachmentFormat?.startsWith('anoncreds/')) return 'AnonCreds'
  return sdJwtFormats.includes(attachmentFormat ?? '') ? 'SDJWT' : 'JWT'
}
