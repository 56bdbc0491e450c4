/** Presentations of documents, and their checks in the order of ISO/IEC 18013-5 §9.3.1, the cheap ones first. */
import { pairing, verifyMac0, verifySign1 } from '../../../foundation/cose/index.ts'
import type { JsonObject } from '../../../foundation/json.ts'
import { formatNames } from '../../../definitions/format-names.ts'
import { createJwkDid } from '../../../did/jwk.ts'
import { checkValidity, defaultLeewaySeconds } from '../../codecs/validity.ts'
import { VerificationError } from '../../codecs/verification-error.ts'
import { establishStatuses } from '../../codecs/verify.ts'
import type { Check } from '../checks.ts'
import { checkIssuer, type Expected, type Presentation, type Shown } from '../presentation.ts'
import type { PresentedCredential } from '../presented.ts'
import { withImpliedAges } from './age.ts'
import { fromPresentation, toDecoded } from './decode.ts'
import { type Presented, readDeviceResponse } from './device-response.ts'
import { checkDigests, claimsOf, type IssuerSigned } from './issuer-signed.ts'
import { within } from './reading.ts'
import { canAgree, hintsOf, macKeyOf, transcriptOf } from './session-transcript.ts'
import { periodOf } from './signer-period.ts'
import { deviceAuthentication, encodeTranscript, otherTranscripts } from './transcript.ts'

const { id: format } = formatNames.MDOC.openid

/**
 * Reads the response of a device.
 *
 * @param asked the document types of the query
 * @throws {VerificationError} if it cannot be read
 */
export function readMdocPresentation(text: string, asked: readonly string[]): Presentation {
  const presented = readDeviceResponse(fromPresentation(text), asked)
  const { issuerSigned, deviceElements, warnings } = presented
  const decoded = toDecoded(issuerSigned)
  const { issuerDid: issuer, types, claims } = decoded
  const { signed, validFrom, validUntil, expectedUpdate } = issuerSigned.mso.validity
  const credential = {
    format,
    issuer,
    types: [...types],
    holder: createJwkDid(issuerSigned.mso.deviceKey),
    claims: claims as PresentedCredential['claims'],
    ...(deviceElements.length > 0 && {
      deviceClaims: claimsOf(deviceElements) as PresentedCredential['claims'],
    }),
    ...(warnings.length > 0 && { warnings }),
    signedAt: toInstant(signed),
    validFrom: toInstant(validFrom),
    validUntil: toInstant(validUntil),
    ...(expectedUpdate !== undefined && { expectedUpdate: toInstant(expectedUpdate) }),
  }
  const queried = { format, types, claims: withImpliedAges(claims), isBound: true }
  const shown: Shown = { credential, queried, needsHolder: true, decoded }
  return {
    shown: [shown],
    answer: {},
    checkHolder: () => Promise.resolve(),
    checks: (expected, demanded) => checksOf(presented, shown, expected, demanded),
  }
}

const toInstant = (seconds: number) => new Date(seconds * 1_000).toISOString()

function checksOf(
  presented: Presented,
  shown: Shown,
  expected: Expected,
  demanded: readonly Check[],
): Check[] {
  const { decoded } = shown
  const { issuerSigned } = presented
  const { options } = expected
  const { verifyDates = true, verifySignature = true, verifyStatus = true } = options
  // One signature of the device covers what other formats check apart.
  const covered = (['audience', 'nonce', 'time'] as const).map((name): Check => [name, () => undefined])
  const withPlace = ([name, run]: Check): Check =>
    name === 'trust' ? [name, async () => (await run(), await checkPlace(shown, expected))] : [name, run]
  return [
    ...demanded.map(withPlace),
    ['signature', () => (verifySignature ? checkSignature(presented, shown, expected) : undefined)],
    ['digests', () => (verifySignature ? checkDigests(issuerSigned) : undefined)],
    ['validity', () => (verifyDates ? checkDates(issuerSigned, expected) : undefined)],
    ['holder-binding', () => checkDevice(presented, expected)],
    ...covered,
    ['status', () => (verifyStatus ? establishStatuses(decoded, options) : undefined)],
  ]
}

/** The issuer has signed. A pairing of algorithm and curve that ISO/IEC 18013-5 does not have is a warning. */
async function checkSignature(presented: Presented, shown: Shown, { options }: Expected): Promise<void> {
  const { crv } = (await checkIssuer(shown, options)).publicKeyJwk
  const { algorithm } = presented.issuerSigned
  if (pairing(algorithm, crv) === 'unusual')
    warn(shown, [`the issuer signs ${algorithm.name} with a key on ${crv}`])
}

function warn({ credential }: Shown, warnings: readonly string[] = []): void {
  if (warnings.length > 0) credential.warnings = [...(credential.warnings ?? []), ...warnings]
}

/** Elements that say where the issuer is, and what its certificate says (ISO/IEC 18013-5 §7.2.1). */
const places = [
  ['issuing_country', 'country', 'C'],
  ['issuing_jurisdiction', 'state', 'ST'],
] as const

/** A document does not show another country or state than the certificate of its signer. */
async function checkPlace(shown: Shown, { options }: Expected): Promise<void> {
  const { x5c, issuerDid, docType, claims } = shown.decoded
  const chain = await options.verifyChain?.(x5c, issuerDid, { docType })
  warn(shown, chain?.warnings)
  for (const elements of Object.values(claims) as JsonObject[])
    for (const [id, member, name] of places) {
      const [named, certified] = [elements[id], chain?.place?.[member]]
      if (typeof named === 'string' && certified !== undefined && named !== certified)
        throw new VerificationError(
          'issuer-not-trusted',
          `${id} is ${named.slice(0, 20)}, and the certificate of the signer says ${name}=${certified}`,
        )
    }
}

/** The document is valid now, it was signed before, and while the signer's certificate was valid. */
function checkDates(
  { mso: { validity }, x5c: [first = ''] = [] }: IssuerSigned,
  { options }: Expected,
): void {
  const { now, leewaySeconds = defaultLeewaySeconds } = options
  const { signed, validFrom } = validity
  checkValidity(validity, now, leewaySeconds)
  if (signed > validFrom + leewaySeconds)
    throw new VerificationError('not-yet-valid', 'It was signed after it became valid')
  const { begin, end } = within('x5chain', () => periodOf(first))
  if (!(signed >= begin - leewaySeconds && signed <= end + leewaySeconds))
    throw new VerificationError(
      'expired',
      `It was signed ${toInstant(signed)}, when the certificate of its signer was not valid`,
    )
}

/**
 * The device has signed the transcript of this session, and nothing that the issuer did not authorize.
 *
 * @throws {VerificationError} `holder-binding`
 */
function checkDevice(presented: Presented, { session }: Expected): void {
  if (!session) throw unbound('an mdoc cannot be presented here: it signs a session of OpenID4VP')
  checkAuthorized(presented)
  const transcript = transcriptOf(session)
  const { deviceAuth, issuerSigned } = presented
  const { deviceKey } = issuerSigned.mso
  if (deviceAuth.kind === 'mac' && !canAgree(session, deviceKey))
    throw unbound(
      `the device has made a MAC instead of a signature, and this session has no private key on ${deviceKey.crv} to verify it`,
    )
  if (isSigned(presented, encodeTranscript(transcript), session)) return
  const mistake = otherTranscripts(transcript, hintsOf(session)).find((other) =>
    isSigned(presented, other.transcript, session),
  )
  if (mistake) throw unbound(`the device has signed it for ${mistake.reason}`)
  throw unbound(
    deviceAuth.kind === 'mac'
      ? 'the device has not made its MAC with the keys of the document and this session'
      : 'the device has not signed it with the key of the document',
  )
}

/** The device signs elements of its own only if the issuer allows it. @throws {VerificationError} */
export function checkAuthorized({ deviceElements, issuerSigned: { mso } }: Presented): void {
  const foreign = deviceElements.find(
    ({ namespace, id }) =>
      !mso.authorized.namespaces.includes(namespace) &&
      !(mso.authorized.elements.get(namespace) ?? []).includes(id),
  )
  if (foreign)
    throw unbound(
      `the device has signed ${foreign.namespace}.${foreign.id}, and its issuer did not authorize that`,
    )
}

/** Whether the device has signed a transcript, or made a MAC over it with the key of this session. */
export function isSigned(
  { docType, deviceNamespaces, deviceAuth, issuerSigned }: Presented,
  transcript: Uint8Array,
  session?: NonNullable<Expected['session']>,
): boolean {
  const { deviceKey } = issuerSigned.mso
  const payload = deviceAuthentication(transcript, docType, deviceNamespaces)
  if (deviceAuth.kind === 'signature') return verifySign1(deviceAuth.sign1, deviceKey, payload)
  const key = session && macKeyOf(session, deviceKey, transcript)
  if (!key) return false
  const isMade = verifyMac0(deviceAuth.mac0, key, payload)
  key.fill(0)
  return isMade
}

function unbound(reason: string): VerificationError {
  return new VerificationError('holder-binding', `The document is not bound to this session: ${reason}`)
}
