/** The copies of a credential as the record of its issuer lists them. */
import * as z from 'zod'

/** A credential that was issued to a wallet over OpenID4VCI: a copy of a batch, or of a renewal. */
export const Instance = z.object({
  keyThumbprint: z.string().describe('Of the key that it is bound to (RFC 7638), as base64url.'),
  statusListIndex: z.int(),
  issuedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().optional(),
})
export type Instance = z.infer<typeof Instance>
