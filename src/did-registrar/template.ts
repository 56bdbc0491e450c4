/** What a tenant may ask of a key, beyond what the method's rules say (api.md 4.4). */
import { Problem } from '../base/problem.ts'
import { InvalidOperation, masterKeyId } from '../did/prism/model.ts'
import { limits, shown } from '../did/prism/rules.ts'
import type { WantedKey } from './keys.ts'
import type { CreateManagedDid } from './model.ts'

/** @throws {InvalidOperation} for the reserved id, or a curve that does not serve the purpose; the second text is the real agent's. */
export function checkWanted({ id, usage, curve }: WantedKey): void {
  if (id === masterKeyId)
    throw new InvalidOperation(`the key id ${masterKeyId} is reserved for the master key`)
  const isRight =
    curve === 'secp256k1' ||
    (curve === 'Ed25519' && (usage === 'authentication' || usage === 'assertionMethod')) ||
    (curve === 'X25519' && usage === 'keyAgreement')
  if (isRight) return
  throw new InvalidOperation(
    `key ${shown(id)}: Ed25519 must be used in [Authentication, AssertionMethod]. X25519 must be used in [KeyAgreement]`,
  )
}

/** The keys that a template asks for: the public ones in its order, then the internal ones. @throws {InvalidOperation} as `checkWanted`. */
export function keysOfTemplate({
  publicKeys,
  internalKeys,
}: CreateManagedDid['documentTemplate']): WantedKey[] {
  const wanted: WantedKey[] = [
    ...publicKeys.map(({ id, purpose, curve }) => ({ id, usage: purpose, curve })),
    ...internalKeys.map(({ id, purpose }) => ({ id, usage: purpose, curve: 'secp256k1' as const })),
  ]
  // Before any is derived, which takes its time; the master key is one of them.
  if (wanted.length >= limits.keys)
    throw new InvalidOperation(`${wanted.length + 1} keys are more than ${limits.keys}`)
  wanted.forEach(checkWanted)
  return wanted
}

/** Answers a broken rule of a template. @throws {Problem} 422 */
export function refuseTemplate(error: unknown): never {
  if (!(error instanceof InvalidOperation)) throw error
  throw new Problem('UnprocessableEntity', `The document template is not accepted: ${error.message}.`, {
    cause: error,
  })
}
