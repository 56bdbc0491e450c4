/**
 * Presentations of JWT credentials: a JWT of the holder with whole credentials (W3C VC Data Model 1.1 §6.3.1;
 * OpenID4VP 1.0 Annex B.1).
 */
import { checkSignature } from '../../codecs/did-signature.ts'
import { decodeJws, type Jws, parseClaims } from '../../codecs/jws.ts'
import { VerifiablePresentationClaims } from '../../codecs/jwt-vp.ts'
import { VerificationError } from '../../codecs/verification-error.ts'
import { canonicalDid, type Resolve, type VerificationKey } from '../../../did/document.ts'
import { formatNames } from '../../../definitions/format-names.ts'
import { runAll } from '../checks.ts'
import { answerChecks, type Expected, forEach, type Presentation, type Shown } from '../presentation.ts'
import type { PresentedCredential } from '../presented.ts'
import { decodeJwt } from './decode.ts'

/** Reads a presentation of one to `most` credentials. @throws {VerificationError} if it cannot be read */
export function readJwtVp(text: string, most: number): Presentation {
  const vp = readVp(text, 1, most)
  const { iss } = vp.claims
  const shown = vp.tokens.map((token) => toShown(token, iss))
  const checkHolder = async ({ resolve }: { resolve: Resolve }) => {
    checkNamedHolder(vp)
    await checkSignature(vp.jws, { did: iss, role: 'holder' }, resolve)
    await forEach(shown, ({ credential: { subject } }) =>
      checkHolderIs(iss, subject, 'The subject of the credential is'),
    )
  }
  return { shown, answer: vp.claims, checkHolder }
}

/**
 * Reads a credential that is presented without a signature of the holder.
 *
 * @throws {VerificationError} if it cannot be read
 */
export function readUnbound(text: string): Presentation {
  return { shown: [toShown(text, undefined)], answer: undefined, checkHolder: () => Promise.resolve() }
}

/**
 * Verifies the proof in a credential request: a presentation without credentials. Returns the DID and its key
 * that signed.
 *
 * @throws {VerificationError} for the first check that fails; {Problem} `error:ServiceUnavailable` when a
 * check is temporarily impossible
 */
export async function verifyHolderProof(
  jwt: string,
  expected: Omit<Expected, 'options'> & { options: Pick<Expected['options'], 'now' | 'resolve'> },
): Promise<{ holderDid: string; key: VerificationKey }> {
  const vp = readVp(jwt, 0, 0)
  await runAll(answerChecks(vp.claims, expected))
  checkNamedHolder(vp)
  const { iss: did } = vp.claims
  const key = await checkSignature(vp.jws, { did, role: 'holder' }, expected.options.resolve)
  return { holderDid: did, key }
}

type Vp = { jws: Jws; claims: VerifiablePresentationClaims; tokens: readonly string[] }

function readVp(text: string, least: number, most: number): Vp {
  const jws = decodeJws(text)
  const claims = parseClaims(VerifiablePresentationClaims, jws.payload)
  const tokens = claims.vp.verifiableCredential ?? []
  if (tokens.length < least || tokens.length > most)
    throw new VerificationError(
      'credential-count',
      `The presentation has ${tokens.length} credentials instead of ${least === most ? least : `${least} to ${most}`}`,
    )
  return { jws, claims, tokens }
}

function toShown(token: string, holder: string | undefined): Shown {
  const decoded = decodeJwt(token)
  const { issuerDid: issuer, subjectDid: subject, types, root } = decoded
  const format = formatNames.JWT.openid.id
  const credential = {
    format,
    issuer,
    types: [...types],
    claims: root['credentialSubject'] as PresentedCredential['claims'],
    holder,
    subject,
  }
  const queried = { format, types, claims: root, isBound: holder !== undefined }
  return { credential, queried, needsHolder: true, decoded }
}

/**
 * The holder that a presentation names must be the one who signs it.
 *
 * @throws {VerificationError} `holder-binding`
 */
function checkNamedHolder({ claims: { iss, vp } }: Vp): void {
  const named = typeof vp.holder === 'object' ? vp.holder.id : (vp.holder ?? iss)
  checkHolderIs(iss, named, 'The holder of the presentation is')
}

/**
 * Compares DIDs in canonical form, because credentials contain the long or the short form.
 *
 * @throws {VerificationError} `holder-binding`
 */
function checkHolderIs(holderDid: string, did: string | undefined, statement: string): void {
  const named = did === undefined ? 'absent' : canonicalDid(did)
  if (named !== canonicalDid(holderDid))
    throw new VerificationError(
      'holder-binding',
      `${statement} ${named}, the signer is ${canonicalDid(holderDid)}`,
    )
}
