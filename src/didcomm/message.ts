/**
 * DIDComm plaintext messages and their attachments (DIDComm v2.1, Plaintext Message Structure and Attachments), and the
 * deviations of real peers that have to be read (wire.md 1.3, 1.4).
 *
 * What is parsed here is only well-formed. Who wrote it is known to `unpack.ts` alone.
 */
import { z } from 'zod'
import { fromBase64, fromUtf8, toPaddedBase64url, utf8 } from '../base/bytes.ts'
import { reasonOf } from '../base/reason.ts'
import { isObject, readJson, withoutNulls } from './json.ts'
import { refuse } from './refuse.ts'

/** The media type of a plaintext message, its `typ`. */
export const plaintextType = 'application/didcomm-plain+json'

/** The content of an attachment; members that are null count as absent. */
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

/** An attachment. Ours carry no member besides these: one unknown name makes some peers drop the whole message (wire.md 1.4). */
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

/** Message and thread ids: any text, since a peer chooses it, but of a length that fits a database key. */
const Identifier = z.string().min(1).max(1_024)

/**
 * A plaintext message. Unknown headers stay; `body` is the very object that was parsed, so that a member of any name survives in it.
 *
 * `from_prior` is carried and never believed: nothing here follows a DID rotation.
 */
export const PlaintextMessage = z.looseObject({
  id: Identifier,
  typ: z
    .string()
    .regex(/^(application\/)?didcomm-plain\+json$/, 'is not that of a plaintext message')
    .optional(),
  type: Identifier,
  from: z.string().min(1).optional(),
  /** A message inside an invitation has one text here (wire.md 2.3). */
  to: z.union([z.array(z.string()), z.string().transform((did) => [did])]).optional(),
  thid: Identifier.optional(),
  pthid: Identifier.optional(),
  /** Epoch seconds, by the sender's clock, which may be hours off (wire.md 1.3). */
  created_time: z.number().optional(),
  /** Epoch seconds. */
  expires_time: z.number().optional(),
  /** Required by the specification; absent is read as empty. */
  body: z.custom<Record<string, unknown>>(isObject, 'is not an object').default(() => ({})),
  attachments: z.array(Attachment).optional(),
  from_prior: z.string().optional(),
})
export type PlaintextMessage = z.infer<typeof PlaintextMessage>

/**
 * Takes a parsed JSON value as a message; headers that are null count as absent.
 *
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` naming the header that is wrong.
 */
export function toMessage(value: unknown): PlaintextMessage {
  if (!isObject(value)) refuse('the plaintext is not an object')
  const parsed = PlaintextMessage.safeParse(withoutNulls(value))
  return parsed.success ? parsed.data : refuse(`the plaintext is malformed, ${reasonOf(parsed.error)}`)
}

/**
 * Reads the JSON of a message.
 *
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed`
 */
export function parseMessage(text: string | Uint8Array): PlaintextMessage {
  let value: unknown
  try {
    value = readJson(text)
  } catch (error) {
    refuse(`the plaintext ${reasonOf(error)}`, error)
  }
  return toMessage(value)
}

/**
 * Writes a message as JSON, with `typ`, and without `ack` and `please_ack`: the real agent cannot read them as the
 * specification has them, and refuses the message (wire.md 1.3).
 */
export function writeMessage(message: PlaintextMessage): Uint8Array {
  // Not by a spread, after which V8 takes a microsecond for each other member.
  return utf8(
    JSON.stringify(Object.assign({}, message, { typ: plaintextType, ack: undefined, please_ack: undefined })),
  )
}

/**
 * The bytes an attachment holds: its base64, in either alphabet, padded or not; or the UTF-8 of its JSON.
 *
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` when it is not base64, or the content is only linked to.
 */
export function attachmentBytes(attachment: Attachment): Uint8Array {
  const { base64, json } = attachment.data
  if (base64 == null && json == null)
    refuse(`attachment ${nameOf(attachment)} holds no content, send it as base64 or json`)
  if (base64 == null) return utf8(JSON.stringify(json))
  try {
    return fromBase64(base64)
  } catch (error) {
    refuse(`attachment ${nameOf(attachment)} ${reasonOf(error)}`, error)
  }
}

/**
 * The JSON value an attachment holds, directly or as base64 of its text.
 *
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` when there is none, or it is nested too deeply.
 */
export function attachmentJson(attachment: Attachment): unknown {
  // As the real agent does it, base64 goes before json, so that both readers here see the same content.
  if (attachment.data.base64 == null && attachment.data.json != null) return attachment.data.json
  const bytes = attachmentBytes(attachment)
  try {
    return readJson(fromUtf8(bytes))
  } catch (error) {
    refuse(`the content of attachment ${nameOf(attachment)} is not JSON that can be read`, error)
  }
}

/** An attachment of bytes, or of a text's UTF-8, in the URL-safe alphabet with padding: the only one the real agent reads. */
export function base64Attachment(id: string, content: Uint8Array | string, format: string): Attachment {
  return { id, data: { base64: toPaddedBase64url(content) }, format }
}

/** An attachment of a JSON value. */
export function jsonAttachment(id: string, value: unknown, format: string): Attachment {
  return { id, data: { json: value }, format }
}

function nameOf({ id }: Attachment): string {
  return id == null ? 'without id' : JSON.stringify(id.slice(0, 80))
}
