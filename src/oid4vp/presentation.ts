/** One presentation of a response: its checks for each format (OpenID4VP 1.0 §8.6, Annex B). */
import type { JsonObject } from '../base/json.ts'
import { findOtherForm } from '../base/token-form.ts'
import { checkSignature } from '../credentials/did-signature.ts'
import { decodeJws, decodePayload, parseClaims } from '../credentials/jws.ts'
import { checkHolder, VerifiablePresentationClaims } from '../credentials/jwt-vp.ts'
import { readJwtVc } from '../credentials/jwt-vc.ts'
import { holderOf } from '../credentials/sd-jwt/confirmation.ts'
import { checkKeyBinding, readKeyBinding } from '../credentials/sd-jwt/key-binding.ts'
import { requireVcType } from '../credentials/sd-jwt/issuer-jwt.ts'
import { decodeSdJwt, type DecodedSdJwt } from '../credentials/sd-jwt/sd-jwt.ts'
import { checkValidity, toValidity } from '../credentials/validity.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { type VerificationOptions, verifyDecoded } from '../credentials/verify.ts'
import { ofJwt, ofSdJwt } from '../dcql/credential.ts'
import { type DcqlCredential, describePath, matchCredential } from '../dcql/match.ts'
import { selectDisclosures } from '../dcql/path.ts'
import { isUnbound, type CredentialQuery, type DcqlQuery } from '../dcql/query.ts'
import type { PresentedCredential } from '../protocols/present-proof/openid4vp.ts'
import { checkPolicy, type PolicyConstraint } from '../verification/policies.ts'
import type { Check } from './checks.ts'
import type { TransactionCheck } from './transaction-data.ts'
import type { CheckTrust } from './trust.ts'

/** The expected values of a response. Times are in epoch seconds. */
export type Expected = {
  query: DcqlQuery
  audience: string
  nonce: string
  /** When the request was made. */
  requestedAt: number
  constraints: readonly PolicyConstraint[]
  checkTrust: CheckTrust
  transactions?: TransactionCheck | undefined
  /**
   * SD-JWTs must be typed as credentials (Annex B.3). Over DIDComm they need not, since Cloud Agents do not
   * type them.
   */
  requiresVcType: boolean
  /** For holders. */
  leewaySeconds: number
  options: VerificationOptions
}

/** A presentation that can be read: its credential, and the checks to run. */
export type Readable = { credential: Omit<PresentedCredential, 'credentialId'>; checks: Check[] }

/** @throws {VerificationError} if the presentation cannot be read */
export function readPresentation(text: string, asked: CredentialQuery, expected: Expected): Readable {
  const otherForm = findOtherForm(text, asked.format)
  if (otherForm !== undefined) throw new VerificationError('malformed', `It ${otherForm}`)
  return asked.format === 'dc+sd-jwt' ? readSdJwt(text, asked, expected) : readJwt(text, asked, expected)
}

function readSdJwt(text: string, asked: CredentialQuery, expected: Expected): Readable {
  const decoded = decodeSdJwt(text)
  if (expected.requiresVcType) requireVcType(decoded)
  const { keyBinding, issuerDid: issuer, jws } = decoded
  const binding = keyBinding === undefined ? undefined : readKeyBinding(keyBinding).claims
  // Beside a certificate, an issuer may write any iss: a query is answered by the one that is verified.
  const named = 'iss' in decoded.processed && { iss: issuer }
  const credential = ofSdJwt({ ...decoded, located: { ...decoded.located, ...named } }, binding !== undefined)
  const types = [...credential.types]
  const presented: Readable['credential'] = {
    ...toPresented(credential, issuer, decoded.claims),
    ...(binding && { holder: holderOf(decoded) }),
    subject: decoded.subjectDid,
  }
  const checkTrust = async () => {
    presented.certificateSubject = await expected.checkTrust({ issuer, x5c: jws.header.x5c }, asked)
  }
  return {
    credential: presented,
    checks: [
      ...(binding ? answerChecks(binding, expected) : []),
      ...transactionChecks(binding, asked, expected),
      ['query', () => checkMatch(credential, asked)],
      ['disclosure', () => checkDisclosures(decoded, expected.query)],
      ['policy', () => checkPolicy(expected.constraints, [{ schemas: types, issuerDid: issuer }])],
      ['trust', checkTrust],
      ['validity', () => verifyPart(jws, decoded, expected, 'verifyDates')],
      ...(binding
        ? ([['holder-binding', () => checkKeyBinding(decoded, expected.options.resolve)]] satisfies Check[])
        : []),
      ['signature', () => verifyPart(jws, decoded, expected, 'verifySignature')],
      ['status', () => verifyPart(jws, decoded, expected, 'verifyStatus')],
    ],
  }
}

/**
 * Without holder binding, the credential itself is presented (Annex B.1). The libraries of Sphereon send a presentation then too. It is
 * verified like a required one.
 */
function readJwt(text: string, asked: CredentialQuery, expected: Expected): Readable {
  const isBound = !isUnbound(asked) || 'vp' in decodePayload(text)
  const vp = isBound ? readVp(text) : undefined
  const { jws, credential: decoded } = readJwtVc(vp?.credential ?? text)
  const { issuerDid: issuer, subjectDid, schemas } = decoded
  const credential = ofJwt(decoded, isBound)
  return {
    credential: {
      ...toPresented(credential, issuer, decoded.claims),
      holder: vp?.claims.iss,
      subject: subjectDid,
    },
    checks: [
      ...(vp ? answerChecks(vp.claims, expected) : []),
      ['query', () => checkMatch(credential, asked)],
      ['policy', () => checkPolicy(expected.constraints, [{ schemas, issuerDid: issuer }])],
      ['trust', () => expected.checkTrust({ issuer }, asked)],
      ['validity', () => verifyPart(jws, decoded, expected, 'verifyDates')],
      ...(vp ? ([['holder-binding', () => checkVpHolder(vp, subjectDid, expected)]] satisfies Check[]) : []),
      ['signature', () => verifyPart(jws, decoded, expected, 'verifySignature')],
      ['status', () => verifyPart(jws, decoded, expected, 'verifyStatus')],
    ],
  }
}

function toPresented(
  { format, types }: DcqlCredential,
  issuer: string,
  claims: JsonObject,
): Readable['credential'] {
  return { format, issuer, types: [...types], claims: claims as PresentedCredential['claims'] }
}

function readVp(text: string) {
  const jws = decodeJws(text)
  const claims = parseClaims(VerifiablePresentationClaims, jws.payload)
  const [credential, ...more] = claims.vp.verifiableCredential ?? []
  if (credential === undefined || more.length > 0)
    throw new VerificationError('credential-count', 'The presentation does not have exactly one credential')
  return { jws, claims, credential }
}

type Answer = {
  aud?: string | string[] | undefined
  nonce?: string | undefined
  iat?: number | undefined
  nbf?: number | undefined
  exp?: number | undefined
}

/** The holder's signature must be for this request, and made after it (§14.1). */
function answerChecks(
  answer: Answer,
  { audience, nonce, requestedAt, leewaySeconds, options }: Expected,
): Check[] {
  const { iat } = answer
  return [
    [
      'audience',
      () => {
        if (![answer.aud].flat().includes(audience))
          throw new VerificationError('audience', 'The presentation is for another client id or origin')
      },
    ],
    [
      'nonce',
      () => {
        if (answer.nonce !== nonce)
          throw new VerificationError('nonce', 'The nonce of the presentation is not that of the request')
      },
    ],
    [
      'time',
      () => {
        checkValidity(toValidity([iat, answer.nbf], [answer.exp]), options.now, leewaySeconds)
        if (iat !== undefined && iat < requestedAt - leewaySeconds)
          throw new VerificationError('expired', 'The presentation was made before the request')
      },
    ],
  ]
}

function transactionChecks(
  binding: object | undefined,
  { id }: CredentialQuery,
  { transactions }: Expected,
): Check[] {
  return binding && transactions ? [['transaction', () => transactions.checkBinding(binding, id)]] : []
}

/** Authorities are checked with the certificates. */
function checkMatch(credential: DcqlCredential, asked: CredentialQuery): void {
  const match = matchCredential(credential, { ...asked, trusted_authorities: undefined })
  if (!match.isMatch)
    throw new VerificationError('claim-missing', `The credential does not fit the query: ${match.reason}`)
}

/** §6.4: no selectively disclosable claim beside those that a credential query names. */
function checkDisclosures({ disclosures }: DecodedSdJwt, { credentials }: DcqlQuery): void {
  const requested = credentials.flatMap(({ claims }) => (claims ?? []).map(({ path }) => path))
  const asked = new Set(selectDisclosures(disclosures, requested))
  const surplus = disclosures.find((each) => !asked.has(each))
  if (surplus)
    throw new VerificationError(
      'claim-missing',
      `The claim ${describePath(surplus.path)} is disclosed and was not requested`,
    )
}

async function checkVpHolder(
  { jws, claims: { iss, vp } }: ReturnType<typeof readVp>,
  subjectDid: string | undefined,
  { options }: Expected,
): Promise<void> {
  const named = typeof vp.holder === 'object' ? vp.holder.id : (vp.holder ?? iss)
  checkHolder(iss, named, 'The holder of the presentation is')
  checkHolder(iss, subjectDid, 'The subject of the credential is')
  await checkSignature(jws, { did: iss, role: 'holder' }, options.resolve)
}

const parts = ['verifyDates', 'verifySignature', 'verifyStatus'] as const

/** Verifies the dates, the signature or the status of a credential, unless the options switch that off. */
function verifyPart(
  jws: Parameters<typeof verifyDecoded>[0],
  decoded: Parameters<typeof verifyDecoded>[1],
  { options }: Expected,
  part: (typeof parts)[number],
): Promise<unknown> {
  const switches = Object.fromEntries(parts.map((each) => [each, each === part && (options[each] ?? true)]))
  return verifyDecoded(jws, decoded, { ...options, ...switches })
}
