/** A credential under examination: read once, however many checks look at it. */
import { decodeClaims, type DecodedCredential } from '../credentials/credential.ts'
import { decodeJws, type Jws } from '../credentials/jws.ts'

/** Either reading throws a `VerificationError` when the credential cannot be read so, the same one every time. */
export type Token = {
  /** The claims, whatever the header says. */
  claims: () => DecodedCredential
  /** The whole token, with a header that is understood here. */
  jws: () => Jws
}

/** Makes the examined credential of a compact JWT; nothing is read until somebody asks. */
export function toToken(jwt: string): Token {
  return { claims: once(() => decodeClaims(jwt)), jws: once(() => decodeJws(jwt)) }
}

function once<Value>(read: () => Value): () => Value {
  let outcome: { value: Value } | { error: unknown } | undefined
  return () => {
    outcome ??= attempt(read)
    if ('error' in outcome) throw outcome.error
    return outcome.value
  }
}

function attempt<Value>(read: () => Value): { value: Value } | { error: unknown } {
  try {
    return { value: read() }
  } catch (error) {
    return { error }
  }
}
