/** Revocation notification 1.0 (wire.md 7.6): its message. */
import { z } from 'zod'

export const revocationNotification = {
  name: 'revocation-notification',
  messages: { revoke: 'https://atalaprism.io/revocation_notification/1.0/revoke' },
} as const

export const RevokeBody = z.looseObject({
  issueCredentialProtocolThreadId: z.string(),
  comment: z.string().max(10_000).nullish(),
})
