/** The formats of credentials, by the names of the API, and by those of attachments (wire.md 4, 5.2). */
import { z } from 'zod'
import { randomId } from '../base/id.ts'
import { isTemporary, Problem } from '../base/problem.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import {
  attachmentBytes,
  attachmentJson,
  base64Attachment,
  jsonAttachment,
  type Attachment,
} from '../didcomm/message.ts'
import type { Received } from './engine/receive.ts'

export const credentialFormats = ['JWT', 'SDJWT', 'AnonCreds'] as const
export const CredentialFormat = z.enum(credentialFormats)
export type CredentialFormat = (typeof credentialFormats)[number]

/** The formats whose credentials and proofs are signed tokens, by DIDs and about DIDs. */
export type TokenFormat = Exclude<CredentialFormat, 'AnonCreds'>

/** The attachment format of tokens, the same in every step (wire.md pitfall 3). */
export const tokenFormats = { JWT: 'prism/jwt', SDJWT: 'vc+sd-jwt' } as const satisfies Record<
  TokenFormat,
  string
>

/** The attachment formats of AnonCreds, one for each step. */
export const anonCredsFormats = {
  offer: 'anoncreds/credential-offer@v1.0',
  request: 'anoncreds/credential-request@v1.0',
  credential: 'anoncreds/credential@v1.0',
  proofRequest: 'anoncreds/proof-request@v1.0',
  proof: 'anoncreds/proof@v1.0',
} as const

/** SD-JWT by its old media type, which the wallets use, and by its new one. */
const sdJwtFormats = ['vc+sd-jwt', 'dc+sd-jwt']

/** What an offer or a request is about. Only these two messages say it: their answers are labelled in many ways, and their records know. */
export function toCredentialFormat(attachmentFormat: string | null | undefined): CredentialFormat {
  if (attachmentFormat?.startsWith('anoncreds/')) return 'AnonCreds'
  return sdJwtFormats.includes(attachmentFormat ?? '') ? 'SDJWT' : 'JWT'
}

/** What a holder's proof must be bound to: made for this request (`challenge`) and for this verifier (`domain`). */
export type ProofOptions = { challenge: string; domain: string }

const Challenge = z.looseObject({
  options: z.looseObject({ challenge: z.string().min(1), domain: z.string().min(1) }),
})

/** Writes challenge and domain as the one attachment of an offer, or of a request for JWT credentials; `content` is what stands in it. */
export function challengeAttachment(
  options: ProofOptions,
  format: TokenFormat,
): { attachments: Attachment[]; content: object } {
  const content = {
    options,
    presentation_definition: { id: randomId(), input_descriptors: [], format: { jwt: { alg: ['ES256K'] } } },
  }
  return { attachments: [jsonAttachment(randomId(), content, tokenFormats[format])], content }
}

/** Reads challenge and domain. @throws {z.ZodError} when they are not in the content of an attachment. */
export function readChallenge(content: unknown): ProofOptions {
  const { challenge, domain } = Challenge.parse(content).options
  return { challenge, domain }
}

/** Reads what the one attachment of an offer or a request says, and for which format. @throws {TypeError} when there is not exactly one. */
export function readContent(message: Received): { content: unknown; credentialFormat: CredentialFormat } {
  const attachment = only(message)
  return { content: attachmentJson(attachment), credentialFormat: toCredentialFormat(attachment.format) }
}

/** Writes JSON as the one attachment of a message, in base64 as requests for SD-JWTs and all of AnonCreds have it (wire.md 4, 5). */
export function encodedAttachments(content: object, attachmentFormat: string): Attachment[] {
  return [base64Attachment(randomId(), Buffer.from(JSON.stringify(content)), attachmentFormat)]
}

/** Writes a token, a holder's proof, a credential or a presentation, as the one attachment of a message. */
export function tokenAttachments(token: string, format: TokenFormat): Attachment[] {
  return [base64Attachment(randomId(), Buffer.from(token), tokenFormats[format])]
}

/** Reads the JSON of an answer's one attachment; what the attachment says of its format is not to be trusted. @throws {TypeError | Problem} */
export function readJson(message: Received): unknown {
  return attachmentJson(only(message))
}

/** Reads a token; what the attachment says of its format is not to be trusted (wire.md 4.2). @throws {TypeError} */
export function readToken(message: Received): string {
  return Buffer.from(attachmentBytes(only(message))).toString('utf8')
}

/** True when reading or verifying a token failed for what it is. False when it could not be judged, now or by an accident of ours: it may come again. */
export function isTokensFault(error: unknown): boolean {
  return (
    error instanceof VerificationError ||
    error instanceof TypeError ||
    (error instanceof Problem && !isTemporary(error))
  )
}

function only({ attachments }: Received): Attachment {
  const [first, ...more] = attachments
  if (!first || more.length > 0)
    throw new TypeError(`the message has ${attachments.length} attachments instead of one`)
  return first
}
