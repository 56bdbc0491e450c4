/** An issuer, a holder and a verifier of documents with the library `@owf/mdoc`. */
import {
  CoseKey,
  DeviceKey,
  DeviceRequest,
  DocRequest,
  Holder,
  IssuerSigned,
  Issuer as OwfIssuer,
  ItemsRequest,
  type SessionTranscript,
  SignatureAlgorithm,
  type VerificationAssessment,
  Verifier as OwfVerifier,
} from '@owf/mdoc'
import { toPublic } from '../../../../src/foundation/crypto/keys.ts'
import { defaultHolder, defaultIssuer, docType, elements, namespace } from './_documents.ts'
import { context } from './_owf.ts'

/** A certificate in DER. */
export const der = ({ certificate }: typeof defaultIssuer.leaf) => new Uint8Array(certificate.rawData)

export const dates = () => {
  const now = Math.floor(Date.now() / 1_000) * 1_000
  return { signed: new Date(now), validFrom: new Date(now), validUntil: new Date(now + 86_400_000) }
}

/** A document of the default issuer for the default holder. */
export async function issueThere(): Promise<string> {
  const issuer = new OwfIssuer(docType, context)
  issuer.addIssuerNamespace(namespace, elements)
  const signed = await issuer.sign({
    signingKey: CoseKey.fromJwk(defaultIssuer.key),
    algorithm: SignatureAlgorithm.ES256,
    digestAlgorithm: 'SHA-256',
    validityInfo: dates(),
    deviceKeyInfo: { deviceKey: DeviceKey.fromJwk(toPublic(defaultHolder)) },
    certificates: [der(defaultIssuer.leaf)],
  })
  return signed.encodedForOid4Vci
}

/** Presents elements of a document of the default holder. */
export async function presentThere(
  credential: string,
  sessionTranscript: SessionTranscript,
  names: readonly string[],
): Promise<string> {
  const namespaces = { [namespace]: Object.fromEntries(names.map((name) => [name, false])) }
  const itemsRequest = ItemsRequest.create({ docType, namespaces })
  const deviceRequest = DeviceRequest.create({ docRequests: [DocRequest.create({ itemsRequest })] })
  const response = await Holder.createDeviceResponseForDeviceRequest(
    {
      deviceRequest,
      sessionTranscript,
      issuerSigned: [IssuerSigned.fromEncodedForOid4Vci(credential)],
      signature: { signingKey: CoseKey.fromJwk({ ...defaultHolder, alg: 'ES256' }) },
    },
    context,
  )
  return response.encodedForOid4Vp
}

/** The checks that have failed. */
export async function verifyThere(
  deviceResponse: Uint8Array,
  sessionTranscript: SessionTranscript,
  root: Uint8Array,
): Promise<VerificationAssessment[]> {
  const failed: VerificationAssessment[] = []
  const onCheck = (each: VerificationAssessment) => void (each.status !== 'PASSED' && failed.push(each))
  await OwfVerifier.verifyDeviceResponse(
    { deviceResponse, sessionTranscript, trustedCertificates: [root], onCheck },
    context,
  )
  return failed
}
