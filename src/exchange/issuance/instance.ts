/** Members of an issuer's record of OpenID4VCI: the copies that it issued, and the notification of the wallet. */
import * as z from 'zod'

/** A credential that was issued to a wallet over OpenID4VCI: a copy of a batch, or of a renewal. */
export const Instance = z.object({
  keyThumbprint: z.string().describe('Of the key that it is bound to (RFC 7638), as base64url.'),
  statusListIndex: z.int(),
  issuedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().optional(),
})
export type Instance = z.infer<typeof Instance>

/** The copies that a record lists at most. */
export const maxInstances = 100

/** The last notification of the wallet about a credential (VCI §11). */
export const WalletNotification = z.object({
  event: z.enum(['credential_accepted', 'credential_failure', 'credential_deleted']),
  description: z.string().optional(),
  at: z.iso.datetime(),
})
