/** The checks of the verification API. Each is independent: it checks only what its name says. */
import { quote } from '../../foundation/faults.ts'
import { isTemporary, Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import type { IssuerKeys } from '../../credentials/codecs/issuer-signature.ts'
import { isJsonObject } from '../../foundation/json.ts'
import { type CheckStatus, establishStatus } from '../../credentials/codecs/verify.ts'
import { checkValidity, type Validity } from '../../credentials/codecs/validity.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { canonicalDid } from '../../did/document.ts'
import { checkClaims, checkUsable, satisfies } from '../../credentials/schemas/claims.ts'
import type { Parameter, VcVerificationName } from './model.ts'
import type { PartialClaims, Parts } from '../../credentials/formats/parts.ts'

/** Reads the JSON Schema at a URL. @throws {Problem} when it cannot be read. */
export type GetSchema = (url: string) => Promise<unknown>

export type Sources = IssuerKeys & { getSchema: GetSchema; checkStatus: CheckStatus }

/** Throws a `VerificationError` when the check fails, and a `Problem` when it is temporarily impossible. */
type Check = (token: Parts, parameter: Parameter | undefined, sources: Sources) => unknown

/** Includes the three checks that the Cloud Agent declares but does not implement. */
export const checks: Record<VcVerificationName, Check> = {
  SignatureVerification: (token, _, keys) => token.checkSignatures(keys),
  // The signature, and the consistency of claims that occur twice.
  IntegrityOfClaims: (token, _, keys) => {
    token.claims()
    return token.checkSignatures(keys)
  },
  AlgorithmVerification: (token) => token.checkAlgorithms(),
  IssuerIdentification: (token, parameter) => {
    checkDecodable(token)
    if (!isSameDid(token.issuerDid(), didOf(parameter)))
      throw new VerificationError(
        'issuer-not-trusted',
        `The credential has another issuer: ${token.issuerDid()}`,
      )
  },
  AudienceCheck: (token, parameter) => {
    checkDecodable(token)
    const audience = token.audience()
    const isAudience = [audience].flat().some((each) => isSameDid(each, didOf(parameter)))
    if (!isAudience)
      throw new VerificationError('audience', `The credential has another audience: ${quote(audience)}`)
  },
  // The caller chose the instant, so no leeway is needed.
  ExpirationCheck: (token, parameter) =>
    checkValidity(only('validUntil', token.claims()), instantOf(parameter), 0),
  NotBeforeCheck: (token, parameter) =>
    checkValidity(only('validFrom', token.claims()), instantOf(parameter), 0),
  SemanticCheckOfClaims: (token) => token.claims(),
  ComplianceWithStandards: (token) => token.checkCompliance(),
  SchemaCheck: (token, _, { getSchema }) => checkSchemas(token.claims(), getSchema),
  SubjectVerification: (token, _, { getSchema }) => checkSubject(token.claims(), getSchema),
  // A credential without a status passes: it cannot be revoked.
  RevocationCheck: async (token, _, { checkStatus }) => {
    const credential = token.claims()
    for (const status of credential.statuses) await establishStatus(status, credential, checkStatus)
  },
}

/**
 * Checks that the JWT has a payload to compare with.
 *
 * @throws {Problem} 400 with the text of the Cloud Agent, which refuses the whole request in this case
 */
function checkDecodable(token: Parts): void {
  try {
    token.payload()
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    throw new Problem('BadRequest', `Unable to decode JWT: ${reasonOf(error)}`, {
      title: 'VC Verification Failed',
    })
  }
}

/** The long and the short form of a did:prism are equivalent. */
function isSameDid(one: unknown, other: string): boolean {
  return typeof one === 'string' && canonicalDid(one) === canonicalDid(other)
}

function didOf(parameter: Parameter | undefined): string {
  return parameter?.parameterType === 'DidParameter' ? parameter.did : ''
}

function instantOf(parameter: Parameter | undefined): number {
  return parameter?.parameterType === 'DateTimeParameter' ? Date.parse(parameter.dateTime) / 1_000 : NaN
}

function only<End extends 'validFrom' | 'validUntil'>(
  end: End,
  { [end]: instant }: Validity,
): { [E in End]?: number } {
  return (instant === undefined ? {} : { [end]: instant }) as { [E in End]?: number }
}

/** The schemas that are read for one credential. Each may cost a request to a URL chosen by a stranger. */
const maxSchemas = 10

/**
 * Checks that every schema of a credential can be read and used.
 *
 * @throws {VerificationError} also when the credential names no schema, or too many
 * @throws {Problem} `error:ServiceUnavailable` when the check is temporarily impossible
 */
async function checkSchemas(credential: PartialClaims, getSchema: GetSchema): Promise<void> {
  for (const url of schemasOf(credential))
    await orRefuse(async () => checkUsable(await readSchema(url, getSchema)))
}

/**
 * Checks the subject against every schema. Undisclosed claims of an SD-JWT are absent.
 *
 * @throws as `checkSchemas`
 */
async function checkSubject(credential: PartialClaims, getSchema: GetSchema): Promise<void> {
  const { subjects } = credential
  for (const url of schemasOf(credential)) {
    await orRefuse(async () => {
      const schema = await readSchema(url, getSchema)
      for (const subject of subjects.slice(0, -1)) if (await satisfies(subject, schema)) return
      await checkClaims(subjects.at(-1), schema)
    })
  }
}

function schemasOf({ schemas }: PartialClaims): string[] {
  const urls = [...new Set(schemas)]
  if (urls.length > 0 && urls.length <= maxSchemas) return urls
  throw new VerificationError(
    'schema-not-accepted',
    `The credential names ${urls.length} schemas, of 1 to ${maxSchemas}`,
  )
}

/**
 * The `vct` of an SD-JWT may be the URL of Type Metadata (SD-JWT VC §4). As a schema, it would accept any
 * claims.
 */
async function readSchema(url: string, getSchema: GetSchema): Promise<unknown> {
  const schema = await getSchema(url)
  if (isJsonObject(schema) && typeof schema['vct'] === 'string')
    throw new VerificationError(
      'schema-not-accepted',
      `${url} returns Type Metadata of SD-JWT VC instead of a schema`,
    )
  return schema
}

/** Converts problems of schemas and claims to a `VerificationError`. Temporary problems are thrown unchanged. */
async function orRefuse(check: () => Promise<unknown>): Promise<void> {
  try {
    await check()
  } catch (error) {
    if (!(error instanceof Problem) || isTemporary(error)) throw error
    throw new VerificationError('schema-not-accepted', error.message, { cause: error })
  }
}
