/** Which credentials a verifier accepts: the lines of `proofs` in a request, and the constraints of a policy. */
import { canonicalDid } from '../did/document.ts'
import type { DecodedCredential } from './credential.ts'
import { VerificationError } from './verification-error.ts'

/** A schema, and the issuers that are trusted with it; without issuers, every issuer is. */
export type Constraint = { schemaId: string; trustIssuers?: readonly string[] | undefined }

/** What constraints ask of a credential; the schema of an SD-JWT is its type. */
export type Judged = Pick<DecodedCredential, 'schemas' | 'issuerDid'>

/** True when a credential has the schema of a constraint and one of its issuers. DIDs are compared in canonical form. */
export function satisfies(
  { schemas, issuerDid }: Judged,
  { schemaId, trustIssuers = [] }: Constraint,
): boolean {
  const issuer = canonicalDid(issuerDid)
  return (
    schemas.includes(schemaId) &&
    (trustIssuers.length === 0 || trustIssuers.some((did) => canonicalDid(did) === issuer))
  )
}

/**
 * Checks that a credential satisfies one constraint as a whole: an issuer that is trusted with one schema is not trusted with another. An empty list
 * accepts every credential. `judge` begins the message: "The request", "The policy".
 *
 * @throws {VerificationError} `schema-not-accepted`, `issuer-not-trusted`
 */
export function checkOneSatisfied(
  constraints: readonly Constraint[],
  credential: Judged,
  judge: string,
): void {
  if (constraints.length === 0 || constraints.some((constraint) => satisfies(credential, constraint))) return
  const { schemas, issuerDid } = credential
  const accepted = constraints.map(({ schemaId }) => schemaId)
  if (!accepted.some((schemaId) => schemas.includes(schemaId))) {
    const detail = `${judge} accepts none of the schemas of the credential, [${schemas.join(', ')}]; it accepts ${accepted.join(', ')}`
    throw new VerificationError('schema-not-accepted', detail)
  }
  throw new VerificationError(
    'issuer-not-trusted',
    `${judge} does not trust the issuer ${canonicalDid(issuerDid)} with this schema`,
  )
}

/** Checks that each line of `proofs` is satisfied by a credential; one credential may satisfy several. @throws {VerificationError} `credential-missing` */
export function checkAllSatisfied(proofs: readonly Constraint[], credentials: readonly Judged[]): void {
  const index = proofs.findIndex((line) => !credentials.some((credential) => satisfies(credential, line)))
  if (index < 0) return
  throw new VerificationError(
    'credential-missing',
    `No credential satisfies proofs.${index}, ${describe(proofs[index]!)}`,
  )
}

/** A line in words. */
export function describe({ schemaId, trustIssuers = [] }: Constraint): string {
  return `the schema ${schemaId}${trustIssuers.length > 0 ? ` by ${trustIssuers.map(canonicalDid).join(' or ')}` : ''}`
}
