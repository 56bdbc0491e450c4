/** Shapes that the records of several protocols share. */
import * as z from 'zod'
import { optional } from '../../wallet/model.ts'

/** The initial number of failures that `metaRetries` counts down. Retries do not depend on it. */
export const firstMetaRetries = 5

/** The last failure of the record's next job. */
export const MetaLastFailure = z
  .object({
    status: z.int(),
    type: z.string(),
    title: z.string(),
    detail: z.string().optional(),
    instance: z.string().optional(),
  })
  .meta({ id: 'ErrorResponse' })

/** Fields that every record has. */
export const Meta = {
  metaRetries: z.int().default(firstMetaRetries),
  metaLastFailure: MetaLastFailure.optional(),
}

/** An out-of-band invitation as REST shows it. */
export const Invitation = z
  .object({
    id: z.string(),
    type: z.string(),
    from: z.string(),
    invitationUrl: z.string(),
    shortUrl: z
      .string()
      .optional()
      .describe(
        'A short URL for QR codes, from which others retrieve the invitation while it can be answered (DIDComm Out-of-Band 2.0). Only of an own invitation.',
      ),
  })
  .meta({ id: 'Invitation' })
export type Invitation = z.infer<typeof Invitation>

/** The longest time in which an invitation, offer or request can be answered. */
const maxSeconds = 30 * 86_400

/** The time in which an invitation, offer or request can be answered, in seconds. `setting` has the default. */
export function expiresIn(setting: string) {
  return optional(z.int().min(1).max(maxSeconds)).describe(
    `Seconds in which it can be answered, at most 30 days. Default: ${setting} (extension).`,
  )
}

const Goal = optional(z.string().max(255))

/** The purpose of an invitation. */
export const Goals = {
  goalCode: Goal.describe('Machine-readable purpose, sent in the invitation.'),
  goal: Goal.describe('Purpose in words, sent in the invitation.'),
}

/** The invitation to accept. */
export const invitationText = z
  .string()
  .min(1)
  .describe(
    'The URL of the invitation (`?_oob=…`), the raw value of its `_oob` parameter, or a short URL (`?_oobid=…`), from which it is retrieved.',
  )

/** An invitation that carries an offer or a request, as its record stores it. */
const StoredInvitation = Invitation.extend({
  goalCode: z.string().optional(),
  goal: z.string().optional(),
  /** Epoch seconds from which answers are refused. */
  expiresTime: z.number().optional(),
})
export type StoredInvitation = z.infer<typeof StoredInvitation>

/**
 * The two sides of a record: a connection, or two DIDs that only this record uses, if it began with an
 * invitation. `theirDid` is absent until the other side answers the invitation.
 */
export const Sides = {
  connectionId: z.string().optional(),
  myDid: z.string().optional(),
  theirDid: z.string().optional(),
  invitation: StoredInvitation.optional(),
}

/** Until when an invitation, an offer or a request can be answered. */
export const ExpiresAt = z.iso
  .datetime()
  .optional()
  .describe(
    'Until when the invitation, the offer or the request can be answered (extension). Present while it waits for that answer, and after this time.',
  )

/** The value of `ExpiresAt`. `expiresTime` is in epoch seconds. */
export function toExpiresAt(expiresTime: number | undefined): string | undefined {
  return expiresTime === undefined ? undefined : new Date(expiresTime * 1_000).toISOString()
}

/** The members of a REST resource whose record began with an invitation. */
export const InvitationFields = {
  goalCode: z.string().optional(),
  goal: z.string().optional(),
  myDid: z.string().optional(),
  invitation: Invitation.optional(),
}

/** The values of `InvitationFields`. */
export function toInvitationFields({
  myDid,
  invitation: stored,
}: {
  myDid?: string | undefined
  invitation?: StoredInvitation | undefined
}) {
  if (!stored) return {}
  const { goalCode, goal, expiresTime: _expiresTime, ...invitation } = stored
  return { goalCode, goal, myDid, invitation }
}
