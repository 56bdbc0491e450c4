/** What can be told of the key in a definition without knowing its factors: whether its numbers are numbers of such a key. */
import type { AnonCredsSchema } from '../schemas/anoncreds-schema.ts'
import { attributeKey, linkSecretName } from '../schemas/anoncreds-schema.ts'
import { modulusBits } from './keys.ts'
import type { CredentialDefinition, PrimaryPublicKey } from './model.ts'

/** What makes a key useless or dangerous, naming the member; nothing when it seems to be one. */
export function findWeakness({ n: modulus, r, ...others }: PrimaryPublicKey): string | undefined {
  const n = BigInt(modulus)
  // One less: not every implementation sets the two highest bits of both factors.
  if (n < 1n << BigInt(modulusBits - 2)) return `value.primary.n: must have ${modulusBits} bits`
  if (n % 2n === 0n) return 'value.primary.n: must be odd'
  if (r[linkSecretName] === undefined) return `value.primary.r: must have ${linkSecretName}`
  const numbers = [
    ...Object.entries(others),
    ...Object.entries(r).map(([name, number]) => [`r.${name}`, number] as const),
  ]
  const outside = numbers.find(([, number]) => BigInt(number) <= 1n || BigInt(number) >= n - 1n)
  return outside && `value.primary.${outside[0]}: must be between 1 and n - 1`
}

/** How a definition differs from the schema that it is for, if it does: it must sign the schema's attributes, and no others. */
export function findMisfit(
  { value }: CredentialDefinition,
  { attrNames }: AnonCredsSchema,
): string | undefined {
  const signed = new Set(Object.keys(value.primary.r))
  const asked = [linkSecretName, ...attrNames.map(attributeKey)]
  const missing = asked.find((name) => !signed.has(name))
  if (missing !== undefined) return `value.primary.r: must have ${missing}, an attribute of the schema`
  return signed.size > asked.length
    ? 'value.primary.r: must have no attribute that the schema does not have'
    : undefined
}
