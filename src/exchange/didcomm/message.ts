/**
 * DIDComm plaintext messages and their attachments (DIDComm v2.1, "Plaintext Message Structure",
 * "Attachments"), including deviations of deployed peers.
 *
 * A parsed message is well-formed, not authenticated: `unpack.ts` authenticates the sender.
 */
import * as z from 'zod'
import { fromBase64, fromUtf8, toPaddedBase64url, utf8 } from '../../foundation/bytes.ts'
import { MediaType } from '../../foundation/media-type.ts'
import { Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { isJsonObject, JsonError, type JsonObject, parseJson, withoutNulls } from '../../foundation/json.ts'

/** The media type of plaintext messages, also their `typ`. */
export const plaintextType = 'application/didcomm-plain+json'

/** The content of an attachment. Null members mean absent. */
const AttachmentData = z
  .looseObject({
    base64: z.string().nullish(),
    json: z.unknown().optional(),
    links: z.array(z.string()).nullish(),
    hash: z.string().nullish(),
    jws: z.unknown().optional(),
  })
  .refine(
    (data) => data.base64 != null || data.json != null || data.links != null,
    'holds neither base64 nor json nor links',
  )
  .refine((data) => data.links == null || data.hash != null, 'holds links without a hash')

/** An attachment. This agent writes only these members: some peers drop a message with an unknown one. */
export const Attachment = z.looseObject({
  id: z.string().nullish(),
  description: z.string().nullish(),
  filename: z.string().nullish(),
  media_type: z.string().nullish(),
  format: z.string().nullish(),
  /** Epoch seconds. */
  lastmod_time: z.number().nullish(),
  byte_count: z.number().nullish(),
  data: AttachmentData,
})
export type Attachment = z.infer<typeof Attachment>

/** Message and thread ids. Peers choose them, so only the length is limited. */
const Identifier = z.string().min(1).max(1_024)

/**
 * A plaintext message. Unknown headers are kept. `body` is the parsed object itself, so that it keeps members
 * of any name.
 *
 * `from_prior` is kept and ignored: this agent does not support DID rotation.
 */
export const PlaintextMessage = z.looseObject({
  id: Identifier,
  typ: MediaType(plaintextType).optional(),
  type: Identifier,
  from: z.string().min(1).optional(),
  /** A string in messages that are attached to an invitation. */
  to: z.union([z.array(z.string()), z.string().transform((did) => [did])]).optional(),
  thid: Identifier.optional(),
  pthid: Identifier.optional(),
  /** Epoch seconds by the sender's clock. The Cloud Agent's may be hours off. */
  created_time: z.number().optional(),
  /** Epoch seconds. */
  expires_time: z.number().optional(),
  /** Required by the specification. Absent is read as empty. */
  body: z.custom<Record<string, unknown>>(isJsonObject, 'is not an object').default(() => ({})),
  attachments: z.array(Attachment).optional(),
  from_prior: z.string().optional(),
})
export type PlaintextMessage = z.infer<typeof PlaintextMessage>

/** Checks a JSON value as a message. Null headers mean absent. @throws {Problem} `UnpackingFailed` */
export function toMessage(value: unknown): PlaintextMessage {
  if (!isJsonObject(value)) refuse('the plaintext is not an object')
  const parsed = PlaintextMessage.safeParse(withTimes(withoutNulls(value)))
  return parsed.success ? parsed.data : refuse(`the plaintext is malformed, ${reasonOf(parsed.error)}`)
}

/**
 * The times of a message in epoch seconds: Veramo writes them in ISO 8601. `created_time` only informs, so it
 * is absent if it cannot be read.
 */
export function withTimes(message: JsonObject): JsonObject {
  const { created_time: created, expires_time: expires, ...rest } = message
  if (typeof created !== 'string' && typeof expires !== 'string') return message
  const createdTime = toSeconds(created)
  return {
    ...rest,
    ...(typeof createdTime === 'number' && { created_time: createdTime }),
    ...(expires !== undefined && { expires_time: toSeconds(expires) }),
  }
}

const IsoTime = z.iso.datetime({ offset: true })

function toSeconds(time: unknown): unknown {
  return typeof time === 'string' && IsoTime.safeParse(time).success ? Date.parse(time) / 1_000 : time
}

/** Parses the JSON text of a message. @throws {Problem} `UnpackingFailed` */
export function parseMessage(text: string | Uint8Array): PlaintextMessage {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    refuse(`the plaintext ${reasonOf(error)}`, error)
  }
  return toMessage(value)
}

/**
 * The UTF-8 JSON of a message, with `typ`, and without `ack` and `please_ack`: the Cloud Agent refuses
 * messages that have these headers in the form of the specification.
 */
export function writeMessage(message: PlaintextMessage): Uint8Array {
  return utf8(JSON.stringify({ ...message, typ: plaintextType, ack: undefined, please_ack: undefined }))
}

/**
 * The content of an attachment: the bytes of its base64 (either alphabet, with or without padding), or its
 * JSON in UTF-8.
 *
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` when it is not base64, or there are only
 * links.
 */
export function attachmentBytes(attachment: Attachment): Uint8Array {
  const { base64, json } = attachment.data
  if (base64 == null && json == null)
    refuse(`${nameOf(attachment)} holds no content, send it as base64 or json`)
  if (base64 == null) return utf8(JSON.stringify(json))
  try {
    return fromBase64(base64)
  } catch (error) {
    const reason = /\s/.test(base64) ? 'has spaces or line breaks, which are not supported' : 'is not base64'
    refuse(`data.base64 of ${nameOf(attachment)} ${reason}`, error)
  }
}

/** The JSON value of an attachment, from `json` or from `base64`. @throws {Problem} `UnpackingFailed` */
export function attachmentJson(attachment: Attachment): unknown {
  // `base64` takes precedence, as in `attachmentBytes` and in the Cloud Agent.
  if (attachment.data.base64 == null && attachment.data.json != null) return attachment.data.json
  const bytes = attachmentBytes(attachment)
  try {
    return parseJson(fromUtf8(bytes))
  } catch (error) {
    const reason = error instanceof JsonError ? error.message : 'is not UTF-8'
    refuse(`the content of ${nameOf(attachment)} ${reason}`, error)
  }
}

/** An attachment of bytes or text, in base64url with padding: the Cloud Agent reads no other form. */
export function base64Attachment(id: string, content: Uint8Array | string, format: string): Attachment {
  return { id, data: { base64: toPaddedBase64url(content) }, format }
}

export function jsonAttachment(id: string, value: unknown, format: string): Attachment {
  return { id, data: { json: value }, format }
}

function nameOf({ id }: Attachment): string {
  return id == null ? 'the attachment without id' : `the attachment ${JSON.stringify(id.slice(0, 80))}`
}

/** Tolerated difference between the clocks of two agents. */
const leewaySeconds = 30

/**
 * The Cloud Agent sets this lifetime for every message. It computes the times from local time, read as UTC,
 * up to 14 hours off, and repeats messages after they have expired. Such messages get a larger leeway.
 */
const cloudAgentLifetimeSeconds = 1_000
const cloudAgentLeewaySeconds = 86_400

/** The time (milliseconds since 1970) from which on a message is refused, if it expires. */
export function expiresAtMs({
  created_time: created,
  expires_time: expires,
}: PlaintextMessage): number | undefined {
  if (expires === undefined) return undefined
  const isCloudAgent = created !== undefined && expires - created === cloudAgentLifetimeSeconds
  return (expires + (isCloudAgent ? cloudAgentLeewaySeconds : leewaySeconds)) * 1_000
}

export function messageExpired({ expires_time: expires = 0 }: PlaintextMessage): Problem {
  const date = new Date(expires * 1_000)
  const time = Number.isNaN(date.getTime()) ? expires : date.toISOString()
  return new Problem(
    'error:DIDCommControllerError:MessageExpired',
    `The message expired at ${time} (expires_time). Send it again.`,
  )
}

/** The longest reason in characters. Reasons may contain ids that a peer has chosen. */
const maxReasonLength = 1_000

/**
 * Refuses an envelope or a message of a peer.
 *
 * @param reason the end of the sentence "The DIDComm message is refused: …". The sender sees it; it must not
 * contain plaintext or keys.
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed`, always.
 */
export function refuse(reason: string, cause?: unknown): never {
  throw new Problem(
    'error:DIDCommControllerError:UnpackingFailed',
    `The DIDComm message is refused: ${reason.slice(0, maxReasonLength)}.`,
    { cause },
  )
}
