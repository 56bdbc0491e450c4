/** Verifies presentations as a verifier over DIDComm does: all checks, up to the first that fails. */
import type { JsonObject } from '../../src/base/json.ts'
import type { Constraint } from '../../src/credentials/constraints.ts'
import type { DecodedCredential } from '../../src/credentials/jwt-vc.ts'
import type { CredentialChecks } from '../../src/credentials/verify.ts'
import type { Resolve } from '../../src/did/document.ts'
import { runAll } from '../../src/presentation/checks.ts'
import { checksOf, type Expected, type Presentation } from '../../src/presentation/format.ts'
import { maxCredentials, readJwtVp, verifyHolderProof as verifyProof } from '../../src/presentation/jwt.ts'
import { demandsOfLines } from '../../src/presentation/lines.ts'
import { readSdJwt } from '../../src/presentation/sd-jwt.ts'

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
  return { holderDid, payload: answer, credentials: shown.map(({ decoded }) => decoded as DecodedCredential) }
}

export async function verifySdJwtPresentation(text: string, checks: PresentationChecks) {
  const presentation = readSdJwt(text, false)
  await verify(presentation, checks)
  const { claims, queried, needsHolder: isBound } = presentation.shown[0]!
  return { claims, located: queried.claims, isBound }
}

export const verifyHolderProof = (jwt: string, checks: PresentationChecks) =>
  verifyProof(jwt, toExpected(checks))
