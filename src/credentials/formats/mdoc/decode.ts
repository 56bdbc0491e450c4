/** Documents in the form of all formats. */
import { fromBase64, fromStrictBase64url } from '../../../foundation/bytes.ts'
import { decodeCbor } from '../../../foundation/cbor/index.ts'
import { verifySign1 } from '../../../foundation/cose/index.ts'
import { isJsonObject, type JsonObject } from '../../../foundation/json.ts'
import { reasonOf } from '../../../foundation/reason.ts'
import { issuerOfMdoc } from '../../../foundation/x509/mdoc-issuer.ts'
import { createJwkDid } from '../../../did/jwk.ts'
import { maxTokenLength } from '../../codecs/jws.ts'
import { cwtStatusEntry, identifierEntry, unknownStatusEntry } from '../../codecs/token-status-list.ts'
import type { Signed } from '../../codecs/verify.ts'
import { VerificationError } from '../../codecs/verification-error.ts'
import type { Decoded, Disclosure } from '../format.ts'
import { impliedAge } from './age.ts'
import { checkDigests, claimsOf, type IssuerSigned, readIssuerSigned } from './issuer-signed.ts'
import { malformed, within } from './reading.ts'
import { toJson } from './values.ts'

/**
 * Decodes the credential of OpenID4VCI: the base64url of an IssuerSigned. Issuers also write padding and the
 * alphabet of base64.
 *
 * @throws {VerificationError} if it cannot be read
 */
export function decodeMdoc(text: string): Decoded {
  return toDecoded(readIssuerSigned(within('it', () => decodeCbor(fromText(text)))))
}

function fromText(text: string): Uint8Array {
  requireShort(text)
  return fromBase64(text)
}

/** The bytes of a presentation. Only base64url without padding is one (OpenID4VP 1.0 §B.2.6). */
export function fromPresentation(text: string): Uint8Array {
  requireShort(text)
  if (text === '') throw malformed('it is empty')
  try {
    return fromStrictBase64url(text)
  } catch (error) {
    throw malformed(`it ${reasonOf(error)}`, error)
  }
}

function requireShort(text: string): void {
  if (text.length > maxTokenLength)
    throw new VerificationError(
      'too-large',
      `The document has ${text.length} characters; the limit is ${maxTokenLength}`,
    )
}

export function toDecoded(read: IssuerSigned): Decoded {
  const { items, mso, x5c } = read
  const claims = claimsOf(items)
  const issuerDid = issuerOfMdoc(x5c ?? [])
  const { validFrom, validUntil } = mso.validity
  return {
    issuerDid,
    x5c,
    docType: mso.docType,
    claims,
    root: claims,
    types: [mso.docType],
    schemas: [mso.docType],
    disclosures: items.map(({ namespace, id, value }) => toDisclosure([namespace, id], value)),
    holderKey: mso.deviceKey,
    subjectDid: createJwkDid(mso.deviceKey),
    isBound: true,
    validFrom,
    validUntil,
    statuses: statusesOf(toJson(mso.status as never)),
    signed: toSigned(read, issuerDid),
  }
}

function toDisclosure(path: [string, string], value: unknown): Disclosure {
  const implied = impliedAge(path, value)
  return implied ? { path, implied } : { path }
}

/** The entries of the status of an MSO. All must be good. Unknown kinds beside a known one do not matter. */
function statusesOf(status: unknown): Decoded['statuses'] {
  if (status === null || status === undefined) return []
  const { status_list: list, identifier_list: identifiers } = isJsonObject(status) ? status : {}
  const entries = [
    ...(isJsonObject(list) ? [{ ...toEntry(cwtStatusEntry, list), status }] : []),
    ...(isJsonObject(identifiers) ? [{ ...toEntry(identifierEntry, identifiers), status }] : []),
  ]
  return entries.length > 0 ? entries : [{ type: unknownStatusEntry, status }]
}

function toEntry(type: string, { idx, uri }: JsonObject): Decoded['statuses'][number] {
  return {
    type,
    ...(typeof idx === 'number' && Number.isSafeInteger(idx) && idx >= 0 && { statusListIndex: idx }),
    ...(typeof uri === 'string' && { statusListCredential: uri }),
  }
}

function toSigned(read: IssuerSigned, issuer: string): Signed {
  const { issuerAuth, algorithm, x5c, mso, whole } = read
  return {
    header: { alg: algorithm.name, ...(x5c && { x5c }) },
    payload: toJson(whole) as JsonObject,
    async check({ verifyChain }) {
      if (!verifyChain) throw new VerificationError('issuer-not-trusted', 'No certificates are trusted here')
      const { publicKey: publicKeyJwk } = await verifyChain(x5c, issuer, { docType: mso.docType })
      if (!verifySign1(issuerAuth, publicKeyJwk))
        throw new VerificationError(
          'signature',
          'The key of the first certificate in x5chain did not make the signature of issuerAuth',
        )
      return { id: issuer, publicKeyJwk }
    },
    checkDigests: () => checkDigests(read),
  }
}
