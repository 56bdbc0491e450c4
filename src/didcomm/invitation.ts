/**
 * Out-of-band 2.0 invitations and the `_oob` text they travel as (DIDComm v2.1, Out Of Band; wire.md 2).
 *
 * The text is base64url with padding of JSON that is written so that `-` and `_` never occur in it: a widespread wallet
 * reads the standard alphabet only (wire.md 2.2).
 */
import { z } from 'zod'
import { fromBase64, toPaddedBase64url } from '../base/bytes.ts'
import { Problem } from '../base/problem.ts'
import { reasonOf } from '../base/reason.ts'
import { Did } from '../did/document.ts'
import { isObject, readJson, withoutNulls } from './json.ts'
import { Attachment } from './message.ts'
import { findKnownType } from './message-type.ts'

export const invitationType = 'https://didcomm.org/out-of-band/2.0/invitation'

/** The longest text that is read as an invitation, in characters. */
const maxInvitationLength = 262_144

/** Epoch seconds, within what a date can stand for. */
const Time = z.number().min(0).max(8_640_000_000_000)

/** An invitation. */
export const OutOfBandInvitation = z.looseObject({
  id: z.string().min(1).max(1_024),
  type: z
    .string()
    .refine(
      (type) => findKnownType([invitationType], type) !== undefined,
      'is not an out-of-band 2.0 invitation',
    ),
  from: Did,
  body: z
    .looseObject({
      goal_code: z.string().optional(),
      goal: z.string().optional(),
      /** Media types; always written, since peers refuse a body without it. */
      accept: z.array(z.string()).default([]),
    })
    .prefault({}),
  created_time: Time.optional(),
  expires_time: Time.optional(),
  /** A connectionless offer or request, as JSON of the first one. */
  attachments: z.array(Attachment).optional(),
})
export type OutOfBandInvitation = z.infer<typeof OutOfBandInvitation>

/** What an inviter decides; `accept` is empty when left out, times are epoch seconds. */
export type InvitationTerms = {
  id: string
  from: string
  goalCode?: string | undefined
  goal?: string | undefined
  accept?: string[]
  createdTime?: number
  expiresTime?: number
  attachments?: Attachment[]
}

/** Makes an invitation with the members, and in the order, of the real agent's; what is left out does not appear. */
export function createInvitation(terms: InvitationTerms): OutOfBandInvitation {
  const { id, from, goalCode, goal, accept = [], createdTime, expiresTime, attachments } = terms
  return {
    id,
    type: invitationType,
    from,
    body: {
      ...(goalCode !== undefined && { goal_code: goalCode }),
      ...(goal !== undefined && { goal }),
      accept,
    },
    ...(attachments !== undefined && { attachments }),
    ...(createdTime !== undefined && { created_time: createdTime }),
    ...(expiresTime !== undefined && { expires_time: expiresTime }),
  }
}

/** The `_oob` text of an invitation. */
export function toOob(invitation: OutOfBandInvitation): string {
  // These characters stand only inside JSON strings, and are the only ones that base64 writes with its last two letters.
  const json = JSON.stringify(invitation).replace(
    /[>?~\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return toPaddedBase64url(json)
}

/** The URL of an invitation, or of the `_oob` text of one. `base` has no query: the real agent wants `_oob` first and alone. */
export function toInvitationUrl(base: string, invitation: OutOfBandInvitation | string): string {
  return `${base}?_oob=${typeof invitation === 'string' ? invitation : toOob(invitation)}`
}

/**
 * Reads an invitation from its `_oob` text or from a URL that carries one; base64 in either alphabet, padded or not.
 *
 * @returns the invitation, and its text in the one form (URL-safe, padded) that makes the inviter's URL again: two texts
 * of the same invitation give the same one.
 * @throws {Problem} `error:ConnectionServiceError:InvitationParsingError`
 */
export function parseInvitation(text: string): { invitation: OutOfBandInvitation; oob: string } {
  if (text.length > maxInvitationLength) fail(`it is longer than ${maxInvitationLength} characters`)
  let bytes: Uint8Array
  let value: unknown
  try {
    bytes = fromBase64(oobOf(text.trim()))
  } catch (error) {
    fail('it is neither the base64 of an invitation nor a URL with _oob=', error)
  }
  try {
    value = readJson(bytes)
  } catch (error) {
    fail(`its content ${reasonOf(error)}`, error)
  }
  const parsed = OutOfBandInvitation.safeParse(clean(value))
  if (!parsed.success) fail(reasonOf(parsed.error), parsed.error)
  return { invitation: parsed.data, oob: toPaddedBase64url(bytes) }
}

/** The value of `_oob` in a URL, or the text itself. Not `URLSearchParams`, which reads the `+` of base64 as a space. */
function oobOf(text: string): string {
  const query = /(?:^|[?&])_oob=([^&#]*)/.exec(text)?.[1]
  return query === undefined ? text : decodeURIComponent(query)
}

function clean(value: unknown): unknown {
  if (!isObject(value)) return value
  const invitation = withoutNulls(value)
  return isObject(invitation['body']) ? { ...invitation, body: withoutNulls(invitation['body']) } : invitation
}

function fail(reason: string, cause?: unknown): never {
  throw new Problem(
    'error:ConnectionServiceError:InvitationParsingError',
    `The invitation cannot be read: ${reason}.`,
    { cause },
  )
}
