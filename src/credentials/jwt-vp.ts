/**
 * Presentations as JWT: making and verifying them (wire.md 4.2, 5.2, 5.3).
 *
 * A result is the conjunction of every check and there is no partial one: the first that fails throws (threats C3). What a stranger
 * names is resolved only after everything that needs no resolving has passed.
 */
import { z } from 'zod'
import type { PrivateJwk } from '../crypto/keys.ts'
import { canonicalDid, Did, type Resolve, type VerificationKey } from '../did/document.ts'
import { checkAllSatisfied, checkOneSatisfied, type Constraint } from './constraints.ts'
import { oneOrMore, readJwtVc } from './credential.ts'
import { checkSignature } from './did-signature.ts'
import { decodeJws, parseClaims, signJws } from './jws.ts'
import { type CredentialChecks, type VerifiedCredential, verifyReadVc } from './jwt-vc.ts'
import { checkValidity, NumericDate, toValidity } from './validity.ts'
import { VerificationError } from './verification-error.ts'

/** Credentials verified in one presentation, at most: each may cost the resolution of a DID. */
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
    verifiableCredential: z.array(z.string()).optional(),
  }),
})
export type VerifiablePresentationClaims = z.infer<typeof VerifiablePresentationClaims>

/**
 * The first context is the one that VC Data Model 1.1 demands first (§4.1); verifiers such as did-jwt-vc refuse a presentation without it. The second
 * is the one that the Cloud Agent and its SDKs write. Here neither is required of others.
 */
const contexts = ['https://www.w3.org/2018/credentials/v1', 'https://www.w3.org/2018/presentations/v1']

/** What a presentation is made of. */
export type PresentationContent = {
  /** Goes into `iss` as given; others resolve it, so the long form unless it is published. */
  holderDid: string
  /** A key with the purpose `authentication` in the holder's document. */
  holderKey: PrivateJwk
  /** The bare id of that key, for the header. */
  kid?: string | undefined
  /** The domain of the request. */
  audience: string
  /** The challenge of the request. */
  nonce: string
  /** Compact JWTs. */
  credentials: string[]
  /** Epoch seconds; written as `iat`, which the real agent does not, only if given. */
  now?: number | undefined
}

/** Signs a presentation, or without credentials the proof that answers an offer. Returns the compact JWT. */
export function createJwtVp({
  holderDid,
  holderKey,
  kid,
  audience,
  nonce,
  credentials,
  now,
}: PresentationContent): string {
  const payload = {
    iss: holderDid,
    aud: audience,
    nonce,
    ...(now !== undefined && { iat: Math.floor(now) }),
    vp: {
      '@context': contexts,
      type: ['VerifiablePresentation'],
      verifiableCredential: credentials,
    },
  }
  return signJws({ typ: 'JWT', kid }, payload, holderKey)
}

/** What is checked of a presentation. There is no switch for signature, challenge, domain and holder binding. */
export type PresentationChecks = {
  resolve: Resolve
  /** The domain that was asked for; must be among `aud`. */
  audience: string
  /** The challenge that was asked for; must be the `nonce`. */
  nonce: string
  /** Epoch seconds. */
  now: number
  leewaySeconds?: number | undefined
  /** The dates of the presentation itself; those of its credentials are `credentialChecks.verifyDates`. */
  verifyDates?: boolean | undefined
  minCredentials?: number | undefined
  maxCredentials?: number | undefined
  /** The lines of `proofs`: each credential satisfies one, and each line is satisfied by a credential. */
  constraints?: readonly Constraint[] | undefined
  /** Their leeway is that of the presentation unless given. */
  credentialChecks?: CredentialChecks | undefined
}

/** A presentation whose checks have all passed; `holderDid` is the `iss` as written, `key` the holder's key that signed. */
export type VerifiedPresentation = {
  holderDid: string
  key: VerificationKey
  credentials: VerifiedCredential[]
  payload: VerifiablePresentationClaims
}

/**
 * Verifies a presentation and every credential in it.
 *
 * @throws {VerificationError} for the first check that fails; its message says which credential, where it is one
 * @throws {Problem} `error:ServiceUnavailable` when a check cannot be made for now
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
  checkHolder(
    iss,
    typeof vp.holder === 'object' ? vp.holder.id : (vp.holder ?? iss),
    'The presentation names as its holder',
  )
  const key = await checkSignature(jws, { did: iss, role: 'holder' }, checks.resolve)
  const presented = tokens.map((token, index) =>
    naming(index, tokens.length, () => readPresented(token, iss, checks)),
  )
  checkAllSatisfied(
    checks.constraints ?? [],
    presented.map(({ credential }) => credential),
  )
  const credentials: VerifiedCredential[] = []
  for (const [index, each] of presented.entries()) {
    credentials.push(
      await verifyPresented(each, checks).catch((error: unknown) => rethrow(error, index, tokens.length)),
    )
  }
  return { holderDid: iss, key, credentials, payload }
}

/**
 * Verifies the proof in a credential request (wire.md 4.2): a presentation that holds no credential.
 *
 * @throws {VerificationError} as `verifyJwtVp`
 */
export async function verifyHolderProof(
  jwt: string,
  checks: Omit<PresentationChecks, 'minCredentials' | 'maxCredentials' | 'constraints' | 'credentialChecks'>,
): Promise<VerifiedPresentation> {
  return verifyJwtVp(jwt, { ...checks, minCredentials: 0, maxCredentials: 0 })
}

/** The presentation answers this request and not another one: what is absent answers none. */
function checkAnswer({ aud, nonce }: VerifiablePresentationClaims, expected: PresentationChecks): void {
  const audiences = [aud ?? []].flat()
  if (!audiences.includes(expected.audience))
    throw new VerificationError('audience', `The presentation was made for [${audiences.join(', ')}]`)
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
      `The presentation holds ${count} credentials, of ${minCredentials} to ${maxCredentials}`,
    )
  }
}

/** A credential of a presentation after the checks that need no resolving. */
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
): Promise<VerifiedCredential> {
  const { resolve, now, leewaySeconds, credentialChecks } = checks
  return verifyReadVc(jws, credential, {
    ...credentialChecks,
    leewaySeconds: credentialChecks?.leewaySeconds ?? leewaySeconds,
    resolve,
    now,
  })
}

/** DIDs are compared in canonical form: credentials name the long form or the short one (wire.md pitfall 16). */
function checkHolder(holderDid: string, named: string | undefined, what: string): void {
  const subject = named === undefined ? 'not named' : canonicalDid(named)
  if (subject !== canonicalDid(holderDid))
    throw new VerificationError(
      'holder-binding',
      `${what} ${subject}, the presenter is ${canonicalDid(holderDid)}`,
    )
}

function naming<Result>(index: number, count: number, check: () => Result): Result {
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
