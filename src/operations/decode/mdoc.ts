/** Documents of ISO/IEC 18013-5: what the issuer has signed, and presentations with the signature of a device. */
import { issuerOfMdoc } from '../../foundation/x509/mdoc-issuer.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import {
  type Presented,
  readPresented,
  readResponse,
} from '../../credentials/formats/mdoc/device-response.ts'
import {
  checkDigests,
  claimsOf,
  type IssuerSigned,
  readIssuerSigned,
  readMso,
} from '../../credentials/formats/mdoc/issuer-signed.ts'
import { noteIn } from '../../credentials/formats/mdoc/reading.ts'
import { toJson } from '../../credentials/formats/mdoc/values.ts'
import type { Given } from './binary.ts'
import { certificateOf, certificatesOf, profileCheck } from './certificate.ts'
import { type Check, check, type Decoded, decodedOf, type Facts, reading, type Sources } from './decoded.ts'
import { deviceCheck } from './device-check.ts'
import { elementsOf, missingOf, msoFacts } from './mdoc-facts.ts'
import { formCheck, formOf, formOfDocument, type Parts, warningFacts } from './mdoc-form.ts'
import { signatureByCertificate } from './signature.ts'

/** Reads a part. @throws {DecodeError} without the beginning that errors of documents have */
function readingPart<T>(form: string, read: () => T): T {
  return reading(form, 'content', () => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error
      throw new TypeError(error.message.replace(/^The document cannot be read: /, ''), { cause: error })
    }
  })
}

/** The credential of OpenID4VCI. @throws {DecodeError} */
export async function decodeIssuerSigned(given: Given): Promise<Decoded> {
  const read = readingPart('an ISO mdoc (IssuerSigned)', () => readIssuerSigned(given.value))
  return {
    ...(await documentOf(read, given)),
    kind: 'mdoc-issuer-signed',
    title: 'ISO mdoc (IssuerSigned)',
  }
}

/** The issuer's signature with the Mobile Security Object, without items. @throws {DecodeError} */
export async function decodeIssuerAuth(given: Given): Promise<Decoded> {
  const read = readingPart('issuerAuth of an ISO mdoc', () =>
    readIssuerSigned(new Map([['issuerAuth', given.value]])),
  )
  const { facts, checks, content, parts } = await documentOf(read, given)
  return {
    kind: 'mdoc-issuer-auth',
    title: 'issuerAuth of an ISO mdoc (COSE_Sign1)',
    facts: { ...facts, items: undefined, missing: undefined },
    checks: checks.filter(({ name }) => name !== 'digests'),
    content: { mso: content['mso'] },
    parts,
  }
}

/** The Mobile Security Object alone, which nobody has signed. @throws {DecodeError} */
export function decodeMso(given: Given): Decoded {
  const warnings: string[] = []
  const mso = readingPart('a Mobile Security Object', () => readMso(given.value, noteIn(warnings)))
  const form = formOf(warnings, given.bytes)
  const detail = 'it is in issuerAuth, which is not in the text'
  const checks: Check[] = [formCheck(form.faults), { name: 'signature', result: 'not verified', detail }]
  const facts = { type: mso.docType, ...msoFacts(mso), ...warningFacts(given, form) }
  return decodedOf('mso', 'Mobile Security Object of an ISO mdoc', facts, {
    checks,
    content: { mso: toJson(given.value) },
  })
}

/** Presentations, with one part for each document. @throws {DecodeError} */
export async function decodeResponse(given: Given, sources: Sources): Promise<Decoded> {
  const form = 'a presentation of ISO mdocs (DeviceResponse)'
  const { version, status, documents, documentErrors } = readingPart(form, () => readResponse(given.bytes))
  const all = documents ?? []
  const parts: Decoded[] = []
  for (const [index, each] of all.entries()) {
    const presented = readingPart(form, () => readPresented(each, `documents[${index}]`))
    parts.push(await decodeDocument(presented, given, sources))
  }
  const found = formOf(
    [
      ...(version === '1.0' ? [] : [`the version is ${version.slice(0, 20)}, and not 1.0`]),
      ...(status === 0 ? [] : [`the device reports an error, status ${status}`]),
      ...(all.length < 2
        ? []
        : [`it has ${all.length} documents, and over OpenID4VP each has its own response`]),
    ],
    given.bytes,
  )
  const facts = {
    version,
    status: status === 0 ? '0, ok' : status,
    documents: all.length,
    'not given': (documentErrors ?? []).flatMap((each) =>
      [...each].map(([type, code]) => `${type}: ${code}`),
    ),
    ...warningFacts(given, found),
  }
  return decodedOf('mdoc-response', 'presentation of ISO mdocs (DeviceResponse)', facts, {
    checks: [formCheck(found.faults)],
    parts,
  })
}

async function decodeDocument(presented: Presented, given: Given, { candidates }: Sources): Promise<Decoded> {
  const { issuerSigned, deviceNamespaces, deviceElements, deviceAuth } = presented
  const document = await documentOf(issuerSigned, given, [
    ['deviceSigned.nameSpaces', deviceNamespaces.content],
  ])
  const device = deviceCheck(presented, candidates)
  const facts = {
    'device authentication': deviceAuth.kind === 'mac' ? 'MAC' : 'signature',
    'device elements': deviceElements.map(({ namespace, id }) => `${namespace} ${id}`),
  }
  return {
    ...document,
    facts: { ...document.facts, ...facts },
    checks: [...document.checks, device],
    content: {
      ...document.content,
      ...(deviceElements.length > 0 && { deviceClaims: claimsOf(deviceElements) }),
    },
  }
}

/** What a strict reader refuses of the dates of a document, at whatever time. @throws {TypeError} */
function checkDates({ validity }: IssuerSigned['mso'], [first]: readonly string[] = []): void {
  const { signed, validFrom, validUntil } = validity
  if (signed > validFrom) throw new TypeError('it was signed after it became valid')
  if (validFrom > validUntil) throw new TypeError('it ends before it becomes valid')
  if (first === undefined) return
  const certificate = certificateOf(first)
  const [begin, end] = [certificate.validFrom, certificate.validTo].map((date) => Date.parse(date) / 1_000)
  if (signed < begin! || signed > end!)
    throw new TypeError('it was signed when the certificate of its signer was not valid')
}

/** What the issuer has signed. `parts` are bytes whose form counts, beside those of the items. */
async function documentOf(
  read: IssuerSigned,
  given: Given,
  parts: Parts = [['it', given.bytes]],
): Promise<Decoded> {
  const { items, mso, x5c, issuerAuth, algorithm, whole } = read
  const form = formOfDocument(read, given.bytes, parts)
  const facts: Facts = {
    type: mso.docType,
    issuer: x5c && issuerOfMdoc(x5c),
    algorithm: algorithm.name,
    ...msoFacts(mso),
    items: items.length,
    missing: missingOf(read),
    ...warningFacts(given, form),
  }
  const digests = await check('digests', `each of ${items.length} items has its digest in the MSO`, () =>
    checkDigests(read),
  )
  return decodedOf('mdoc-document', 'document of the presentation', facts, {
    checks: [
      signatureByCertificate(issuerAuth, x5c),
      digests,
      formCheck(form.faults),
      await check('dates', 'signed before it became valid, and while the certificate was valid', () =>
        checkDates(mso, x5c),
      ),
      ...(x5c ? [await profileCheck(x5c, 'mdoc')] : []),
    ],
    content: { elements: elementsOf(items), claims: claimsOf(items), mso: toJson(whole) },
    parts: certificatesOf(x5c),
  })
}
