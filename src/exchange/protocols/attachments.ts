/**
 * Credential formats by their names in the API and in attachments, and the attachments that both credential
 * protocols use.
 */
import * as z from 'zod'
import { randomId } from '../../foundation/id.ts'
import { isTemporary, Problem } from '../../foundation/problem.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import {
  attachmentBytes,
  attachmentJson,
  base64Attachment,
  jsonAttachment,
  type Attachment,
} from '../didcomm/message.ts'
import {
  credentialFormats,
  defaultFormat,
  type TokenFormat,
  traitsOf,
} from '../../definitions/format-names.ts'
import type { Received } from '../engine/receive.ts'

export const CredentialFormat = z.enum(credentialFormats)
export type CredentialFormat = z.output<typeof CredentialFormat>

/** The attachment format of tokens, the same in every message. */
export function attachmentFormatOf(format: TokenFormat): string {
  return traitsOf(format).attachments[0]
}

/** The attachment formats of AnonCreds, one for each message. */
export const anonCredsFormats = {
  offer: 'anoncreds/credential-offer@v1.0',
  request: 'anoncreds/credential-request@v1.0',
  credential: 'anoncreds/credential@v1.0',
  proofRequest: 'anoncreds/proof-request@v1.0',
  proof: 'anoncreds/proof@v1.0',
} as const

/**
 * The credential format of an offer or a request. Agents label the attachments of other messages differently;
 * for those the record has the format.
 */
function findFormat(attachmentFormat: string | null | undefined): CredentialFormat | undefined {
  const isOf = (known: string) =>
    known.endsWith('/') ? attachmentFormat?.startsWith(known) : attachmentFormat === known
  return credentialFormats.find((format) => traitsOf(format).attachments.some(isOf))
}

/** Binds a holder's proof to one request (`challenge`) and one verifier (`domain`). */
export type ProofOptions = { challenge: string; domain: string }

/** The proof options of another agent, which may name no domain (Aries RFC 0510). */
export const ReceivedOptions = z
  .looseObject({ challenge: z.string().min(1), domain: z.string().min(1).nullish() })
  .transform(({ challenge, domain }) => ({ challenge, domain: domain ?? undefined }))
export type ReceivedOptions = z.output<typeof ReceivedOptions>

const Challenge = z.looseObject({ options: ReceivedOptions })

/**
 * Challenge and domain as the attachment of an offer, or of a request for JWT credentials. `content` is the
 * attachment's JSON.
 */
export function challengeAttachment(
  options: ProofOptions,
  format: TokenFormat,
): { attachments: Attachment[]; content: object } {
  const content = {
    options,
    presentation_definition: { id: randomId(), input_descriptors: [], format: { jwt: { alg: ['ES256K'] } } },
  }
  return { attachments: [jsonAttachment(randomId(), content, attachmentFormatOf(format))], content }
}

/** Reads challenge and domain from the content of an attachment. @throws {z.ZodError} */
export function readChallenge(content: unknown): ReceivedOptions {
  return Challenge.parse(content).options
}

/**
 * The content and the credential format of an offer's or a request's attachment: of several, the first of a
 * known format (Aries RFC 0453), or of one of `more`.
 *
 * @throws {TypeError} without one
 */
export function readContent(
  message: Received,
  ...more: readonly string[]
): {
  content: unknown
  credentialFormat: CredentialFormat
  attachmentFormat: string | null | undefined
} {
  const attachment = message.attachments.length > 1 ? choose(message, more) : only(message)
  const { format: attachmentFormat } = attachment
  return {
    content: attachmentJson(attachment),
    credentialFormat: findFormat(attachmentFormat) ?? defaultFormat,
    attachmentFormat,
  }
}

/** JSON as a base64 attachment, as in requests for SD-JWTs and in all messages of AnonCreds. */
export function encodedAttachments(content: object, attachmentFormat: string): Attachment[] {
  return [base64Attachment(randomId(), Buffer.from(JSON.stringify(content)), attachmentFormat)]
}

/** A token (a holder's proof, a credential or a presentation) as an attachment. */
export function tokenAttachments(token: string, format: TokenFormat): Attachment[] {
  return [base64Attachment(randomId(), Buffer.from(token), attachmentFormatOf(format))]
}

/** The JSON of a reply's attachment. Its format label is ignored. @throws {TypeError | Problem} */
export function readJson(message: Received): unknown {
  return attachmentJson(only(message))
}

/** The token of a reply's attachment. Its format label is ignored. @throws {TypeError} */
export function readToken(message: Received): string {
  return Buffer.from(attachmentBytes(only(message))).toString('utf8')
}

/** Whether the token is at fault. Otherwise it could not be verified for now, and the message may be repeated. */
export function isTokensFault(error: unknown): boolean {
  return (
    error instanceof VerificationError ||
    error instanceof TypeError ||
    (error instanceof Problem && !isTemporary(error))
  )
}

function choose({ attachments }: Received, more: readonly string[]): Attachment {
  const found = attachments.find(({ format }) => findFormat(format) ?? more.includes(format ?? ''))
  if (found) return found
  throw new TypeError(
    `the message has ${attachments.length} attachments, none of which has a format that is supported here`,
  )
}

function only({ attachments }: Received): Attachment {
  const [first, ...more] = attachments
  if (!first || more.length > 0)
    throw new TypeError(`the message has ${attachments.length} attachments instead of one`)
  return first
}
