/**
 * did:prism as text (PRISM method; wire.md 11.3): the short form `did:prism:<suffix>`, the long form with the create
 * operation behind it. The suffix is the hash of exactly the bytes that came: they are kept and never made anew.
 */
import { fromBase64, toBase64url } from '../../base/bytes.ts'
import { Problem } from '../../base/problem.ts'
import { reasonOf } from '../../base/reason.ts'
import { operationHash } from './operations.ts'
import { createState, type DidState } from './state.ts'

/** A did:prism in parts: `suffix` 64 hexadecimal digits, `operation` the bytes of the create operation in the long form. */
export type PrismDid = { suffix: string; operation?: Uint8Array }

/** Fifty keys, fifty services and some contexts at their longest, in base64url. */
const maximumLength = 60_000

/** The short, canonical form. */
export function toShortForm(suffix: string): string {
  return `did:prism:${suffix}`
}

/** The long form of the DID that a create operation's bytes make. */
export function toLongForm(operation: Uint8Array): string {
  return `${toShortForm(operationHash(operation))}:${toBase64url(operation)}`
}

/**
 * Takes a did:prism apart, and checks that the suffix is the hash of the state.
 *
 * @throws {Problem} `error:DIDResolution:invalidDid`
 */
export function parsePrismDid(did: string): PrismDid {
  const parts = did.length <= maximumLength && /^did:prism:([0-9a-f]{64})(?::([A-Za-z0-9_-]+))?$/.exec(did)
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
 * The state that a long form carries: what the DID is until it is published.
 *
 * @throws {Problem} `error:DIDResolution:invalidDid` when the operation breaks a rule of the method.
 */
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
    // Two texts for one state would be two long forms of one DID.
    if (toBase64url(operation) === state) return operation
  } catch {
    // Told below.
  }
  throw invalid(did, 'its state is not base64url')
}

function invalid(did: string, reason: string): Problem {
  return new Problem(
    'error:DIDResolution:invalidDid',
    `${did.slice(0, 100)} is not a valid did:prism: ${reason}`,
  )
}
