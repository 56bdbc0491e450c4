/** The key that an SD-JWT is bound to: its `cnf` (RFC 7800 §3; draft-ietf-oauth-sd-jwt-vc, "Key Binding"). */
import * as z from 'zod'
import type { PublicJwk } from '../../../foundation/crypto/keys.ts'
import { Did, type DidDocument, didOf, Jwk, keysMatching, type Resolve } from '../../../did/document.ts'
import { createJwkDid } from '../../../did/jwk.ts'
import { documentOfKey } from '../../../did/methods.ts'
import { resolveSigner } from '../did-signature.ts'

/**
 * `holderKey` is the key itself, of `jwk` or of a did:jwk or did:key. `holderKid` is the DID, or the DID URL
 * of the key, in `kid`. Without both, the credential is bound to a key that is not known here, so that nobody
 * can present it.
 */
export type Confirmation = { holderKey?: PublicJwk; holderKid?: string }

const ByJwk = z.looseObject({ jwk: Jwk })
const ByKid = z.looseObject({ kid: z.string().refine((kid) => Did.safeParse(didOf(kid)).success) })

/** Reads a `cnf`, whatever it is. @returns undefined for a credential that is bound to no key */
export function readConfirmation(cnf: unknown): Confirmation | undefined {
  if (cnf === undefined || cnf === null) return undefined
  const { data: byJwk } = ByJwk.safeParse(cnf)
  if (byJwk) return { holderKey: byJwk.jwk as PublicJwk }
  const { data: byKid } = ByKid.safeParse(cnf)
  if (!byKid) return {}
  const [holderKey] = keysInDid(byKid.kid)
  return { holderKid: byKid.kid, ...(holderKey && { holderKey }) }
}

/**
 * The keys that may sign for the holder.
 *
 * @throws {VerificationError} `holder-unresolvable`, {Problem} if the DID cannot be resolved for now
 */
export async function holderKeysOf(
  { holderKey, holderKid }: Confirmation,
  resolve: Resolve,
): Promise<PublicJwk[]> {
  if (holderKey) return [holderKey]
  if (holderKid === undefined) return []
  return keysNamed(await resolveSigner({ did: didOf(holderKid), role: 'holder' }, resolve), holderKid)
}

/** The DID of the key. Undefined for a key that is not known here. */
export function holderOf({ holderKey, holderKid }: Confirmation): string | undefined {
  return holderKid === undefined ? holderKey && createJwkDid(holderKey) : didOf(holderKid)
}

/** The key of a DID that is one key. */
function keysInDid(kid: string): PublicJwk[] {
  try {
    const document = documentOfKey(didOf(kid))
    return document ? keysNamed(document, kid) : []
  } catch {
    // The key is malformed, or of an unsupported type.
    return []
  }
}

/** Holders sign with authentication keys. */
function keysNamed(document: DidDocument, kid: string): PublicJwk[] {
  const named = kid.includes('#') ? kid : undefined
  return keysMatching(document, 'authentication', named).map(({ publicKeyJwk }) => publicKeyJwk)
}
