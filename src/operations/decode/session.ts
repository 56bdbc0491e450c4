/** The session that a device or a reader has signed: its transcript, or the request that gives it. */
import * as z from 'zod'
import { type CborValue, decodeCbor, Embedded } from '../../foundation/cbor/index.ts'
import { ifValid, parseForeign, validOnes } from '../../foundation/foreign.ts'
import type { JsonObject } from '../../foundation/json.ts'
import { PublicKey } from '../../credentials/codecs/proof-jwt.ts'
import { hintsOf, transcriptOf } from '../../credentials/formats/mdoc/session-transcript.ts'
import {
  encodeTranscript,
  type OtherTranscript,
  otherTranscripts,
} from '../../credentials/formats/mdoc/transcript.ts'
import type { Session } from '../../credentials/formats/presentation.ts'
import { findBinary } from './binary.ts'
import { type Decoded, DecodeError, idOf, reading } from './decoded.ts'

/** A transcript that may be that of the session. `what` names it in checks. */
export type Candidate = { what: string; transcript: Uint8Array; session?: Session }

/** The transcript in hex, base64url or base64. It may have tag 24. @throws {DecodeError} */
export function readTranscript(text: string): Candidate {
  const { bytes, fault } = findBinary(text.replaceAll(/\s+/g, '')) ?? {}
  if (!bytes) throw new DecodeError('--transcript: the text is neither hex nor base64')
  if (fault !== undefined) throw new DecodeError(`--transcript: it is not CBOR: ${fault}`)
  const value = decodeCbor(bytes)
  const transcript = value instanceof Embedded ? value.content : bytes
  if (!isTranscript(reading('CBOR with tag 24', 'content', () => decodeCbor(transcript))))
    throw new DecodeError('--transcript: it is not a SessionTranscript, an array of three')
  return { what: 'the given transcript', transcript }
}

/** There may be neither a device engagement nor a key of a reader. */
export function isTranscript(value: CborValue): value is [CborValue, CborValue, CborValue] {
  const isPart = (part: CborValue) => part === null || part instanceof Embedded
  return Array.isArray(value) && value.length === 3 && isPart(value[0]) && isPart(value[1])
}

/** The transcripts of a decoded request: one for each key that the response may be encrypted to. */
export function transcriptsOf(decoded: Decoded, origin: string | undefined): Candidate[] {
  const request = findRequest(decoded)
  if (!request)
    throw new DecodeError(
      `--request: this is ${decoded.title}, and not an authorization request with its parameters. One at a URL needs --online`,
    )
  const sessions =
    request['encryptionInfo'] === undefined ? openIdSessions(request, origin) : isoSessions(request, origin)
  return sessions.map(({ what, session }) => ({
    what,
    session,
    transcript: encodeTranscript(transcriptOf(session)),
  }))
}

/** The parameters of the request in a text, or in one that it contains. */
function findRequest({ content, parts }: Decoded): JsonObject | undefined {
  const found = [content['payload'], content['document']] as (JsonObject | undefined)[]
  return (
    found.find((each) => each?.['encryptionInfo'] !== undefined || typeof each?.['nonce'] === 'string') ??
    parts.map(findRequest).find((each) => each !== undefined)
  )
}

const Keys = z.looseObject({ keys: validOnes(PublicKey) })
const Request = z.looseObject({
  client_id: z.string().optional(),
  nonce: z.string(),
  response_mode: z.string().optional(),
  response_uri: z.string().optional(),
  redirect_uri: z.string().optional(),
  expected_origins: ifValid(z.array(z.string())),
  client_metadata: ifValid(z.looseObject({ jwks: ifValid(Keys) })),
})

type Named = { what: string; session: Session }

/** OpenID4VP 1.0 §B.2.6. */
function openIdSessions(value: JsonObject, origin: string | undefined): Named[] {
  const request = reading('an authorization request', 'content', () => parseForeign(Request, value))
  const { client_id: clientId, nonce, response_mode: mode = '' } = request
  const isEncrypted = mode.endsWith('.jwt')
  const keys = isEncrypted ? (request.client_metadata?.jwks?.keys ?? []) : [undefined]
  if (keys.length === 0)
    throw new DecodeError(
      '--request: its response is encrypted, and it has no key for that (client_metadata.jwks)',
    )
  const encryptions = keys.map((key) => ({
    what: key
      ? `a response encrypted to its key ${idOf(key['kid']) ?? key.x}`
      : 'a response that is not encrypted',
    encryptedTo: key,
  }))
  if (mode.startsWith('dc_api')) {
    const origins = origin === undefined ? (request.expected_origins ?? []) : [origin]
    if (origins.length === 0) throw withoutOrigin()
    return origins.flatMap((each) =>
      encryptions.map(({ what, encryptedTo }) => ({
        what: `${what}, at ${each}`,
        session: { handover: 'dc-api', origin: each, nonce, clientId, encryptedTo },
      })),
    )
  }
  const responseUri = request.response_uri ?? request.redirect_uri
  if (clientId === undefined || responseUri === undefined)
    throw new DecodeError(`--request: it has no ${clientId === undefined ? 'client_id' : 'response_uri'}`)
  return encryptions.map(({ what, encryptedTo }) => ({
    what,
    session: { handover: 'redirect', clientId, nonce, responseUri, encryptedTo },
  }))
}

/** ISO/IEC TS 18013-7 Annex C. */
function isoSessions({ encryptionInfo }: JsonObject, origin: string | undefined): Named[] {
  if (origin === undefined) throw withoutOrigin()
  return [
    {
      what: `the request at ${origin}`,
      session: { handover: 'org-iso-mdoc', origin, encryptionInfo: String(encryptionInfo) },
    },
  ]
}

function withoutOrigin(): DecodeError {
  return new DecodeError('The request does not name the origin of its page: give it with --origin')
}

/** What a transcript was made for, if not for these sessions: "an unencrypted response". */
export function findMistake(
  candidates: readonly Candidate[],
  isIt: (other: OtherTranscript) => boolean,
): string | undefined {
  for (const { session } of candidates) {
    const found = session && otherTranscripts(transcriptOf(session), hintsOf(session)).find(isIt)
    if (found) return found.reason
  }
  return undefined
}
