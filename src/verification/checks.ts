/** The checks of the verification API, each by itself (api.md 4.13): one that says yes has looked at nothing but what its name says. */
import { Problem } from '../base/problem.ts'
import { reasonOf } from '../base/reason.ts'
import { checkSignature } from '../credentials/did-signature.ts'
import { type CheckStatus, establishStatus } from '../credentials/jwt-vc.ts'
import { parseClaims } from '../credentials/jws.ts'
import { checkValidity, type Validity } from '../credentials/validity.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { canonicalDid, type Resolve } from '../did/document.ts'
import { Issuer } from './issuer.ts'
import type { Parameter, VcVerificationName } from './model.ts'
import { checkSchemas, checkSubject, type GetSchema } from './subject.ts'
import type { Token } from './token.ts'

/** What checks ask of the world. */
export type Sources = { resolve: Resolve; getSchema: GetSchema; checkStatus: CheckStatus }

/** Throws a `VerificationError` when the answer is no, a `Problem` when there is none; returns when it is yes. */
type Check = (token: Token, parameter: Parameter | undefined, sources: Sources) => unknown

/** The last three of the API's list among them, which the real agent refuses. */
export const checks: Record<VcVerificationName, Check> = {
  SignatureVerification: checkSignatures,
  // Beside the signature, that the claims do not contradict each other: who reads one of two must not read something else.
  IntegrityOfClaims: (token, parameter, sources) => {
    token.claims()
    return checkSignatures(token, parameter, sources)
  },
  AlgorithmVerification: (token) => token.jwts(),
  IssuerIdentification: (token, parameter) => {
    checkDecodable(token)
    if (!isSameDid(token.issuerDid(), didOf(parameter)))
      throw new VerificationError('issuer-not-trusted', 'The issuer is another one')
  },
  AudienceCheck: (token, parameter) => {
    checkDecodable(token)
    const audience = token.audience()
    const isMeant = [audience].flat().some((each) => isSameDid(each, didOf(parameter)))
    if (!isMeant) throw new VerificationError('audience', 'The credential was made for somebody else')
  },
  // The instant was chosen by the caller, so clocks do not differ.
  ExpirationCheck: (token, parameter) =>
    checkValidity(only('validUntil', token.claims()), instantOf(parameter), 0),
  NotBeforeCheck: (token, parameter) =>
    checkValidity(only('validFrom', token.claims()), instantOf(parameter), 0),
  SemanticCheckOfClaims: (token) => token.claims(),
  ComplianceWithStandards: (token) => token.checkCompliance(),
  SchemaCheck: (token, _, { getSchema }) => checkSchemas(token.claims(), getSchema),
  SubjectVerification: (token, _, { getSchema }) => checkSubject(token.claims(), getSchema),
  // Without a status there is no list that it could be on.
  RevocationCheck: async (token, _, { checkStatus }) => {
    const credential = token.claims()
    for (const status of credential.statuses) await establishStatus(status, credential, checkStatus)
  },
}

/** All that is signed: the issuer's JWT, and by it or by its holder what comes along with it. */
async function checkSignatures(token: Token, _: unknown, { resolve }: Sources): Promise<void> {
  const [jws] = token.jwts()
  token.checkBelongings()
  await checkSignature(jws, { did: parseClaims(Issuer, jws.payload).iss, role: 'issuer' }, resolve)
}

/**
 * Checks that there is a JWT with a payload to compare with. A payload that is no credential is an answer: no.
 *
 * @throws {Problem} 400 in the words of the Cloud Agent, which refuses the whole request then
 */
function checkDecodable(token: Token): void {
  try {
    token.payload()
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    throw new Problem('BadRequest', `Unable to decode JWT: ${reasonOf(error)}`, {
      title: 'VC Verification Failed',
    })
  }
}

/** A did:prism is the same in its long and in its short form. */
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
