/**
 * The schemas and issuers that a verifier accepts: the lines of `proofs` in a request, and the constraints of
 * a policy.
 */
import { canonicalDid, includesDid } from '../../did/document.ts'
import type { DecodedCredential } from './jwt-vc.ts'
import { VerificationError } from './verification-error.ts'

/** A schema and the issuers trusted for it. Without issuers, every issuer is trusted. */
export type Constraint = { schemaId: string; trustIssuers?: readonly string[] | undefined }

/** The part of a credential that constraints refer to. The schema of an SD-JWT is its `vct`. */
export type SchemasAndIssuer = Pick<DecodedCredential, 'schemas' | 'issuerDid'>

/** Whether a credential has the schema and an issuer of a constraint. */
export function satisfies(
  { schemas, issuerDid }: SchemasAndIssuer,
  { schemaId, trustIssuers = [] }: Constraint,
): boolean {
  return schemas.includes(schemaId) && (trustIssuers.length === 0 || includesDid(trustIssuers, issuerDid))
}

/**
 * Checks that a credential satisfies at least one constraint. An empty list accepts every credential.
 * `origin` starts the message: "The request", "The policy".
 *
 * @throws {VerificationError} `schema-not-accepted`, `issuer-not-trusted`
 */
export function checkOneSatisfied(
  constraints: readonly Constraint[],
  credential: SchemasAndIssuer,
  origin: string,
): void {
  if (constraints.length === 0 || constraints.some((constraint) => satisfies(credential, constraint))) return
  const { schemas, issuerDid } = credential
  const accepted = constraints.map(({ schemaId }) => schemaId)
  if (!accepted.some((schemaId) => schemas.includes(schemaId))) {
    const detail = `${origin} accepts none of the schemas of the credential, [${schemas.join(', ')}]; it accepts ${accepted.join(', ')}`
    throw new VerificationError('schema-not-accepted', detail)
  }
  throw new VerificationError(
    'issuer-not-trusted',
    `${origin} does not trust the issuer ${canonicalDid(issuerDid)} with this schema`,
  )
}

/**
 * Checks that a credential satisfies each line of `proofs`. One credential may satisfy several lines.
 *
 * @throws {VerificationError} `credential-missing`
 */
export function checkAllSatisfied(
  proofs: readonly Constraint[],
  credentials: readonly SchemasAndIssuer[],
): void {
  const index = proofs.findIndex((line) => !credentials.some((credential) => satisfies(credential, line)))
  if (index < 0) return
  throw new VerificationError(
    'credential-missing',
    `No credential satisfies proofs.${index}, ${describe(proofs[index]!)}`,
  )
}

/** For messages. */
export function describe({ schemaId, trustIssuers = [] }: Constraint): string {
  return `the schema ${schemaId}${trustIssuers.length > 0 ? ` by ${trustIssuers.map(canonicalDid).join(' or ')}` : ''}`
}
