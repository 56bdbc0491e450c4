/**
 * did:prism syntax (PRISM DID Method, "DID Syntax"): the short form `did:prism:<suffix>`, and the long form,
 * which appends the create operation in base64url. The suffix is the SHA-256 of exactly these bytes, so they
 * are never re-encoded.
 */
import { fromBase64, toBase64url } from '../../foundation/bytes.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { operationHash } from './operations.ts'
import { invalidDid } from '../resolution.ts'
import { createState, type DidState } from './state.ts'

const invalid = invalidDid('prism')

/** A parsed did:prism. `suffix` is hexadecimal; `operation` is the create operation of the long form. */
export type PrismDid = { suffix: string; operation?: Uint8Array }

/** The length of a long form with fifty keys, fifty services and some contexts. */
const maxLength = 60_000

export const shortForm = /^did:prism:[0-9a-f]{64}$/

/** The short, canonical form. */
export function toShortForm(suffix: string): string {
  return `did:prism:${suffix}`
}

export function suffixOf(did: string): string {
  return did.replace('did:prism:', '')
}

export function toLongForm(operation: Uint8Array): string {
  return `${toShortForm(operationHash(operation))}:${toBase64url(operation)}`
}

/** Parses a did:prism, and checks its suffix, a hash. @throws {Problem} `error:DIDResolution:invalidDid` */
export function parsePrismDid(did: string): PrismDid {
  const parts = did.length <= maxLength && /^did:prism:([0-9a-f]{64})(?::([A-Za-z0-9_-]+))?$/.exec(did)
  if (!parts)
    throw invalid(
      did,
      'it is not did:prism:, 64 hexadecimal digits and, in the long form, a state in base64url',
    )
  const [, suffix, state] = parts
  if (state === undefined) return { suffix: suffix! }
  const operation = decodeState(did, state)
  if (operationHash(operation) !== suffix) throw invalid(did, 'its suffix is not the hash of its state')
  return { suffix, operation }
}

/**
 * The state in a long form, checked. Undefined for a short form.
 *
 * @throws {Problem} `error:DIDResolution:invalidDid`
 */
export function findEmbeddedState(did: string): DidState | undefined {
  const { operation } = parsePrismDid(did)
  return operation && embeddedState(did, operation)
}

/** The state in the long form of an unpublished DID. @throws {Problem} `error:DIDResolution:invalidDid` */
export function embeddedState(did: string, operation: Uint8Array): DidState {
  try {
    return createState(operation)
  } catch (error) {
    throw invalid(did, reasonOf(error))
  }
}

function decodeState(did: string, state: string): Uint8Array {
  try {
    const operation = fromBase64(state)
    // Only the canonical encoding, so that a DID has one long form.
    if (toBase64url(operation) === state) return operation
  } catch {
    // Reported below.
  }
  throw invalid(did, 'its state is not base64url')
}
