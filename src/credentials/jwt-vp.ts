/**
 * Presentations as JWT (W3C VC Data Model 1.1 §6.3.1): creating and verifying.
 *
 * The first check that fails throws, so there is no partial result. DIDs of strangers are resolved only after
 * all checks that need no resolution.
 */
import * as z from 'zod'
import type { PrivateJwk } from '../crypto/keys.ts'
import { canonicalDid, Did, type Resolve, type VerificationKey } from '../did/document.ts'
import { checkAllSatisfied, checkOneSatisfied, type Constraint } from './constraints.ts'
import { checkSignature } from './did-signature.ts'
import { decodeJws, parseClaims, signJws } from './jws.ts'
import { oneOrMore, readJwtVc, type DecodedCredential } from './jwt-vc.ts'
import { checkValidity, NumericDate, toValidity } from './validity.ts'
import { VerificationError } from './verification-error.ts'
import { verifyDecoded, type CredentialChecks, type Verified } from './verify.ts'

/** The limit of credentials in a presentation. Each may cost the resolution of a DID. */
export const defaultMaxCredentials = 100

export const VerifiablePresentationClaims = z.looseObject({
  iss: Did,
  aud: z.union([z.string(), z.array(z.string())]).optional(),
  nonce: z.string().optional(),
  iat: NumericDate.optional(),
  nbf: NumericDate.optional(),
  exp: NumericDate.optional(),
  vp: z.looseObject({
    type: oneOrMore(z.string(), ['VerifiablePresentation']),
    holder: z.union([z.string(), z.looseObject({ id: z.string() })]).optional(),
    verifiableCredential: z.union([z.string().transform((one) => [one]), z.array(z.string())]).optional(),
  }),
})
export type VerifiablePresentationClaims = z.infer<typeof VerifiablePresentationClaims>

/**
 * VC Data Model 1.1 §4.1 requires the first context, and verifiers such as did-jwt-vc check it. The Cloud
 * Agent and its SDKs write the second. This agent requires neither in presentations of others.
 */
const contexts = ['https://www.w3.org/2018/credentials/v1', 'https://www.w3.org/2018/presentations/v1']

/** The input of `createJwtVp`. */
export type PresentationContent = {
  /** For `iss`. The long form unless the DID is published, because others resolve it. */
  holderDid: string
  /** An `authentication` key of the holder. */
  holderKey: PrivateJwk
  /** The bare id of that key. */
  kid?: string | undefined
  /** The domain of the request, if it has one. */
  audience?: string | undefined
  /** The challenge of the request. */
  nonce: string
  /** Compact JWTs. */
  credentials: string[]
  /** Epoch seconds for `iat`, which the Cloud Agent does not write. */
  now?: number | undefined
}

/** Signs a presentation; without credentials, the proof in a credential request. Returns the compact JWT. */
export function createJwtVp(content: PresentationContent): string {
  const { holderDid, holderKey, kid, audience, nonce, credentials, now } = content
  const payload = {
    iss: holderDid,
    aud: audience,
    nonce,
    ...(now !== undefined && { iat: Math.floor(now) }),
    vp: { '@context': contexts, type: ['VerifiablePresentation'], verifiableCredential: credentials },
  }
  return signJws({ typ: 'JWT', kid }, payload, holderKey)
}

/** Signature, challenge, domain and holder binding are always checked. */
export type PresentationChecks = {
  resolve: Resolve
  /** The domain of the request, which must be in `aud`. */
  audience: string
  /** The challenge of the request. */
  nonce: string
  /** Epoch seconds. */
  now: number
  leewaySeconds?: number | undefined
  /** For the dates of the presentation itself. */
  verifyDates?: boolean | undefined
  minCredentials?: number | undefined
  maxCredentials?: number | undefined
  /** The lines of `proofs`. Each credential must satisfy one, and each line must be satisfied. */
  constraints?: readonly Constraint[] | undefined
  /** The default leeway is that of the presentation. */
  credentialChecks?: CredentialChecks | undefined
}

/** `holderDid` is `iss`, `key` the holder's key that signed. */
export type VerifiedPresentation = {
  holderDid: string
  key: VerificationKey
  credentials: Verified<DecodedCredential>[]
  payload: VerifiablePresentationClaims
}

/**
 * Verifies a presentation and every credential in it.
 *
 * @throws {VerificationError} for the first check that fails, with the number of the credential
 * @throws {Problem} `error:ServiceUnavailable` when a check is temporarily impossible
 */
export async function verifyJwtVp(jwt: string, checks: PresentationChecks): Promise<VerifiedPresentation> {
  const jws = decodeJws(jwt)
  const payload = parseClaims(VerifiablePresentationClaims, jws.payload)
  const { iss, iat, nbf, exp, vp } = payload
  checkAnswer(payload, checks)
  if (checks.verifyDates ?? true)
    checkValidity(toValidity([iat, nbf], [exp]), checks.now, checks.leewaySeconds)
  const tokens = vp.verifiableCredential ?? []
  checkCount(tokens.length, checks)
  const named = typeof vp.holder === 'object' ? vp.holder.id : (vp.holder ?? iss)
  checkHolder(iss, named, 'The holder of the presentation is')
  const key = await checkSignature(jws, { did: iss, role: 'holder' }, checks.resolve)
  const presented = tokens.map((token, index) =>
    withNumber(index, tokens.length, () => readPresented(token, iss, checks)),
  )
  checkAllSatisfied(
    checks.constraints ?? [],
    presented.map(({ credential }) => credential),
  )
  const credentials: Verified<DecodedCredential>[] = []
  for (const [index, each] of presented.entries()) {
    credentials.push(
      await verifyPresented(each, checks).catch((error: unknown) => rethrow(error, index, tokens.length)),
    )
  }
  return { holderDid: iss, key, credentials, payload }
}

/**
 * Verifies the proof in a credential request: a presentation without credentials.
 *
 * @throws {VerificationError} as `verifyJwtVp`
 */
export function verifyHolderProof(
  jwt: string,
  checks: Omit<PresentationChecks, 'minCredentials' | 'maxCredentials' | 'constraints' | 'credentialChecks'>,
): Promise<VerifiedPresentation> {
  return verifyJwtVp(jwt, { ...checks, minCredentials: 0, maxCredentials: 0 })
}

/** Checks audience and nonce. Both must be present. */
function checkAnswer({ aud, nonce }: VerifiablePresentationClaims, expected: PresentationChecks): void {
  const audiences = [aud ?? []].flat()
  if (!audiences.includes(expected.audience))
    throw new VerificationError('audience', `The presentation has the audience [${audiences.join(', ')}]`)
  if (nonce === undefined) throw new VerificationError('nonce', 'The presentation has no nonce')
  if (nonce !== expected.nonce)
    throw new VerificationError('nonce', 'The nonce of the presentation is not the challenge')
}

function checkCount(
  count: number,
  { minCredentials = 1, maxCredentials = defaultMaxCredentials }: PresentationChecks,
): void {
  if (count < minCredentials || count > maxCredentials) {
    throw new VerificationError(
      'credential-count',
      `The presentation has ${count} credentials instead of ${minCredentials} to ${maxCredentials}`,
    )
  }
}

/** A presented credential after the checks that need no resolution. */
type Presented = ReturnType<typeof readJwtVc>

function readPresented(
  token: string,
  holderDid: string,
  { constraints = [] }: PresentationChecks,
): Presented {
  const presented = readJwtVc(token)
  checkHolder(holderDid, presented.credential.subjectDid, 'The subject of the credential is')
  checkOneSatisfied(constraints, presented.credential, 'The request')
  return presented
}

function verifyPresented(
  { jws, credential }: Presented,
  checks: PresentationChecks,
): Promise<Verified<DecodedCredential>> {
  const { resolve, now, leewaySeconds, credentialChecks } = checks
  return verifyDecoded(jws, credential, {
    ...credentialChecks,
    leewaySeconds: credentialChecks?.leewaySeconds ?? leewaySeconds,
    resolve,
    now,
  })
}

/** Compares DIDs in canonical form, because credentials contain the long or the short form. @throws {VerificationError} `holder-binding` */
export function checkHolder(holderDid: string, did: string | undefined, statement: string): void {
  const subject = did === undefined ? 'absent' : canonicalDid(did)
  if (subject !== canonicalDid(holderDid))
    throw new VerificationError(
      'holder-binding',
      `${statement} ${subject}, the signer is ${canonicalDid(holderDid)}`,
    )
}

function withNumber<Result>(index: number, count: number, check: () => Result): Result {
  try {
    return check()
  } catch (error) {
    return rethrow(error, index, count)
  }
}

function rethrow(error: unknown, index: number, count: number): never {
  if (!(error instanceof VerificationError)) throw error
  throw new VerificationError(error.code, `Credential ${index + 1} of ${count}: ${error.message}`, {
    cause: error,
  })
}
