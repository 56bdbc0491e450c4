/**
 * Verifies credentials, and presentations as a verifier over DIDComm does: all checks, up to the first that
 * fails.
 */
import type { JsonObject } from '../../../src/foundation/json.ts'
import type { Constraint } from '../../../src/credentials/codecs/constraints.ts'
import { readJwtVc } from '../../../src/credentials/codecs/jwt-vc.ts'
import { decodeSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import {
  type CredentialChecks,
  signedBy,
  type VerificationOptions,
  verifyDecoded,
} from '../../../src/credentials/codecs/verify.ts'
import type { Resolve } from '../../../src/did/document.ts'
import { runAll } from '../../../src/credentials/formats/checks.ts'
import {
  checksOf,
  type Expected,
  maxCredentials,
  type Presentation,
} from '../../../src/credentials/formats/presentation.ts'
import {
  readJwtVp,
  verifyHolderProof as verifyProof,
} from '../../../src/credentials/formats/jwt/presentation.ts'
import { demandsOfLines } from '../../../src/wallet/verification/lines.ts'
import { readSdJwt } from '../../../src/credentials/formats/sd-jwt/presentation.ts'

export const decodeJwtVc = (jwt: string) => readJwtVc(jwt).credential

/** Verifies a credential: form, issuer, subject, dates, signature, status. */
export async function verifyJwtVc(jwt: string, options: VerificationOptions) {
  const { jws, credential } = readJwtVc(jwt)
  const decoded = { ...credential, signed: signedBy(jws, credential.issuerDid) }
  const { signed: _, ...verified } = await verifyDecoded(decoded, options)
  return verified
}

export async function verifySdJwt(text: string, options: VerificationOptions) {
  const credential = decodeSdJwt(text)
  const signed = signedBy(credential.jws, credential.issuerDid)
  return verifyDecoded({ ...credential, signed }, options)
}

/** Times are in epoch seconds. */
export type PresentationChecks = CredentialChecks & {
  resolve: Resolve
  audience: string
  nonce: string
  now: number
  requestedAt?: number
  constraints?: readonly Constraint[]
  claims?: JsonObject
  /** For the credentials of a JWT, instead of those of the presentation. */
  credentialChecks?: CredentialChecks
}

const toExpected = (checks: PresentationChecks): Expected => {
  const { resolve, now, audience, nonce, requestedAt, leewaySeconds, credentialChecks } = checks
  const options = { ...checks, ...credentialChecks, resolve, now }
  return { audience, nonce, requestedAt, leewaySeconds, options }
}

async function verify(presentation: Presentation, checks: PresentationChecks): Promise<void> {
  const demands = demandsOfLines({ proofs: checks.constraints, claims: checks.claims })
  await runAll(checksOf(presentation, toExpected(checks), demands))
}

export async function verifyJwtVp(jwt: string, checks: PresentationChecks) {
  const presentation = readJwtVp(jwt, maxCredentials)
  await verify(presentation, checks)
  const { answer, shown } = presentation
  const holderDid = shown[0]!.credential.holder
  const credentials = shown.map(({ decoded, credential: { claims } }) => ({ ...decoded, claims }))
  return { holderDid, payload: answer, credentials }
}

export async function verifySdJwtPresentation(text: string, checks: PresentationChecks) {
  const presentation = readSdJwt(text, false)
  await verify(presentation, checks)
  const { decoded, queried, needsHolder: isBound } = presentation.shown[0]!
  return { claims: decoded.claims, located: queried.claims, isBound }
}

export const verifyHolderProof = (jwt: string, checks: PresentationChecks) =>
  verifyProof(jwt, toExpected(checks))
