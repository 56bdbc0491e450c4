/** Shapes that the records of all protocols share (api.md 4.6–4.8). */
import { z } from 'zod'
import { optional } from '../wallet/model.ts'

/** How often the agent may still fail to do the next thing by itself, to begin with (api.md 5.1). */
export const firstMetaRetries = 5

/** Why the agent could not do the next thing the last time it tried. */
export const MetaLastFailure = z
  .object({
    status: z.int(),
    type: z.string(),
    title: z.string(),
    detail: z.string().optional(),
    instance: z.string().optional(),
  })
  .meta({ id: 'ErrorResponse' })

/** The last failure of a flow that was waited for in vain. */
export const flowExpired = { status: 408, type: 'FlowExpired', title: 'Flow Expired' } as const

/** Fields that every record has. */
export const Meta = {
  metaRetries: z.int().default(firstMetaRetries),
  metaLastFailure: MetaLastFailure.optional(),
}

/** An out-of-band invitation as REST shows it. */
export const Invitation = z
  .object({ id: z.string(), type: z.string(), from: z.string(), invitationUrl: z.string() })
  .meta({ id: 'Invitation' })
export type Invitation = z.infer<typeof Invitation>

const Goal = optional(z.string().max(255))

/** What the maker of an invitation says that it is for. */
export const Goals = {
  goalCode: Goal.describe('Machine-readable purpose, sent in the invitation.'),
  goal: Goal.describe('Purpose in words, sent in the invitation.'),
}

/** The `_oob` value of an invitation that is accepted. */
export const invitationText = z
  .string()
  .min(1)
  .describe('The raw value of the `_oob` query parameter of the invitation URL, or the whole URL.')

/** An invitation that carries an offer or a request, as its record keeps it: beside what REST shows, what it says. */
const KeptInvitation = Invitation.extend({
  goalCode: z.string().optional(),
  goal: z.string().optional(),
  /** Epoch seconds from which on no answer is taken. */
  expiresTime: z.number().optional(),
})
export type KeptInvitation = z.infer<typeof KeptInvitation>

/**
 * Between whom the messages of a record go: over a connection, or, of a record that an invitation began, between two DIDs
 * of its own. The other side's is known once it has answered.
 */
export const Sides = {
  connectionId: z.string().optional(),
  myDid: z.string().optional(),
  theirDid: z.string().optional(),
  invitation: KeptInvitation.optional(),
}

/** What REST shows of the invitation that began a record, and only of such a record (api.md 4.7, 4.8). */
export const InvitationFields = {
  goalCode: z.string().optional(),
  goal: z.string().optional(),
  myDid: z.string().optional(),
  invitation: Invitation.optional(),
}

/** The values of `InvitationFields`. */
export function toInvitationFields({
  myDid,
  invitation: kept,
}: {
  myDid?: string | undefined
  invitation?: KeptInvitation | undefined
}) {
  if (!kept) return {}
  const { goalCode, goal, expiresTime: _unshown, ...invitation } = kept
  return { goalCode, goal, myDid, invitation }
}

/** Leaves out the members that are undefined: what has no value is absent, not null (api.md 1.2). */
export function present<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Value
}
