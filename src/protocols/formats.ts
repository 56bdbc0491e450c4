/** The formats of credentials, by the names of the API, and by those of attachments (wire.md 4, 5.2). */
import { z } from 'zod'

export const credentialFormats = ['JWT', 'SDJWT'] as const
export const CredentialFormat = z.enum(credentialFormats)
export type CredentialFormat = (typeof credentialFormats)[number]

/** The attachment format of every step (wire.md pitfall 3). */
export const attachmentFormats = { JWT: 'prism/jwt', SDJWT: 'vc+sd-jwt' } as const satisfies Record<CredentialFormat, string>

/** SD-JWT by its old media type, which the wallets use, and by its new one. */
const sdJwtFormats = ['vc+sd-jwt', 'dc+sd-jwt']

/** What an offer or a request is about. Only these two messages say it: their answers are labelled in many ways, and their records know. */
export function toCredentialFormat(attachmentFormat: string | null | undefined): CredentialFormat {
  return sdJwtFormats.includes(attachmentFormat ?? '') ? 'SDJWT' : 'JWT'
}
