/**
 * Out-of-band 2.0 invitations (DIDComm v2.1, "Out Of Band Messages") and the messages attached to them.
 *
 * The `_oob` parameter is padded base64url. Its JSON is escaped such that `-` and `_` never occur: the
 * Identus Swift SDK reads the standard alphabet only.
 */
import * as z from 'zod'
import { fromBase64, toPaddedBase64url } from '../../foundation/bytes.ts'
import { oneLine } from '../../foundation/foreign.ts'
import { Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { Did } from '../../did/document.ts'
import { isJsonObject, parseJson, withoutNulls } from '../../foundation/json.ts'
import { Attachment, attachmentJson, PlaintextMessage, withTimes } from './message.ts'
import { findKnownType } from './message-type.ts'

export const invitationType = 'https://didcomm.org/out-of-band/2.0/invitation'

/** The longest invitation text in characters. */
const maxInvitationLength = 262_144

/** Epoch seconds in the range of a JavaScript date. */
const Time = z.number().min(0).max(8_640_000_000_000)

export const OutOfBandInvitation = z
  .looseObject({
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
        /** Media types. Always written: peers refuse a body without it. */
        accept: z.array(z.string()).default([]),
      })
      .prefault({}),
    created_time: Time.optional(),
    expires_time: Time.optional(),
    /** The first one holds the message of a connectionless offer or request. */
    attachments: z.array(Attachment).optional(),
  })
  .meta({ id: 'OutOfBandInvitation' })
export type OutOfBandInvitation = z.infer<typeof OutOfBandInvitation>

/** The content of a new invitation. Times are epoch seconds, `accept` is `[]` by default. */
export type InvitationContent = {
  id: string
  from: string
  goalCode?: string | undefined
  goal?: string | undefined
  accept?: string[]
  createdTime?: number
  expiresTime?: number
  attachments?: Attachment[]
}

/** Creates an invitation with the members and order of the Cloud Agent's. */
export function createInvitation(content: InvitationContent): OutOfBandInvitation {
  const { id, from, goalCode, goal, accept = [], createdTime, expiresTime, attachments } = content
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

/** The `_oob` parameter of an invitation. */
export function toOob(invitation: OutOfBandInvitation): string {
  // Only these characters make base64 contain its last two letters, and in JSON they occur only inside
  // strings.
  const json = JSON.stringify(invitation).replace(
    /[>?~\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return toPaddedBase64url(json)
}

/** The URL of an invitation or of its `_oob` parameter, the only one, as the Cloud Agent requires. */
export function toInvitationUrl(base: string, invitation: OutOfBandInvitation | string): string {
  return `${base}?_oob=${typeof invitation === 'string' ? invitation : toOob(invitation)}`
}

/**
 * Parses an invitation from its `_oob` parameter or from a URL with that parameter: base64 in either
 * alphabet, padded or not.
 *
 * @returns the invitation, and `oob`, its parameter in canonical form (padded base64url).
 * @throws {Problem} `error:ConnectionServiceError:InvitationParsingError`
 */
export function parseInvitation(text: string): { invitation: OutOfBandInvitation; oob: string } {
  if (text.length > maxInvitationLength) fail(`it is longer than ${maxInvitationLength} characters`)
  const other = 'it is neither the base64 of an invitation nor a URL with _oob='
  let bytes: Uint8Array
  let value: unknown
  try {
    bytes = fromBase64(oobOf(text.trim()))
  } catch (error) {
    fail(other, error)
  }
  try {
    value = parseJson(bytes)
  } catch (error) {
    // A word or an id can be base64 too, of bytes that mean nothing.
    fail(startsAsJson(bytes) ? `its content ${reasonOf(error)}` : other, error)
  }
  return { invitation: checkInvitation(value), oob: toPaddedBase64url(bytes) }
}

const startsAsJson = (bytes: Uint8Array) =>
  /^\s*[{["]/.test(Buffer.from(bytes.subarray(0, 32)).toString('latin1'))

/**
 * Reads an invitation from its JSON, which `host` returned for a short URL.
 *
 * @returns like `parseInvitation`
 * @throws {Problem} `error:ConnectionServiceError:InvitationParsingError`
 */
export function readInvitation(value: unknown, host: string): ReturnType<typeof parseInvitation> {
  const invitation = checkInvitation(value, `What ${host} returned is not an invitation`)
  return { invitation, oob: toPaddedBase64url(JSON.stringify(value)) }
}

/** Checks the JSON of an invitation. @throws {Problem} as `parseInvitation` */
export function checkInvitation(value: unknown, failure?: string): OutOfBandInvitation {
  if (isJsonObject(value) && typeof value['@type'] === 'string')
    fail(
      `it is of DIDComm v1 (${oneLine(value['@type'], 100)}), and this agent has DIDComm v2`,
      undefined,
      failure,
    )
  const parsed = OutOfBandInvitation.safeParse(withoutNullMembers(value))
  return parsed.success ? parsed.data : fail(reasonOf(parsed.error), parsed.error, failure)
}

/**
 * The `_oob` parameter of a URL, or that of an invitation of DIDComm v1 (`oob`, `c_i`, `d_m`), or the text.
 * `URLSearchParams` would decode `+` to a space.
 */
function oobOf(text: string): string {
  const query = /(?:^|[?&])(?:_?oob|c_i|d_m)=([^&#]*)/.exec(text)?.[1]
  return query === undefined ? text : decodeURIComponent(query)
}

function withoutNullMembers(value: unknown): unknown {
  if (!isJsonObject(value)) return value
  const invitation = withTimes(withoutNulls(value))
  return isJsonObject(invitation['body'])
    ? { ...invitation, body: withoutNulls(invitation['body']) }
    : invitation
}

function fail(reason: string, cause?: unknown, failure = 'The invitation cannot be read'): never {
  throw new Problem('error:ConnectionServiceError:InvitationParsingError', `${failure}: ${reason}.`, {
    cause,
  })
}

const mediaType = 'application/json'

/** A message attached to an invitation. It is not encrypted or authenticated, and has no `to`. */
export const EmbeddedMessage = PlaintextMessage.extend({
  from: Did.optional(),
  attachments: z.array(Attachment),
})
export type EmbeddedMessage = z.infer<typeof EmbeddedMessage>

/** The attachment of an invitation that holds a message, with the members and order of the Cloud Agent's. */
export function embedMessage(
  attachmentId: string,
  message: Pick<EmbeddedMessage, 'id' | 'type' | 'body' | 'attachments'> & { thid: string; from: string },
): Attachment {
  const { id, type, body, thid, from } = message
  const attachments = message.attachments.map(({ id: inner, data, format }) => ({
    id: inner,
    media_type: mediaType,
    data,
    format,
  }))
  return {
    id: attachmentId,
    media_type: mediaType,
    data: { json: { id, type, body, attachments, thid, from } },
  }
}

/**
 * Reads the message in the first attachment of an invitation. `undefined` when the invitation has no
 * attachment.
 *
 * @throws {z.ZodError | TypeError | Problem} when it is not a message, or its sender is not the inviter.
 */
export function readEmbedded({ from, attachments }: OutOfBandInvitation): EmbeddedMessage | undefined {
  const [first] = attachments ?? []
  if (!first) return undefined
  const value = attachmentJson(first)
  const message = EmbeddedMessage.parse(isJsonObject(value) ? withTimes(withoutNulls(value)) : value)
  if (message.from !== undefined && message.from !== from)
    throw new TypeError('its message has another sender than the invitation')
  return message
}
