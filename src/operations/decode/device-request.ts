/** Requests for documents of ISO/IEC 18013-5, alone and in `org-iso-mdoc` (ISO/IEC TS 18013-7 Annex C). */
import * as z from 'zod'
import { type CborValue, decodeCbor, Embedded } from '../../foundation/cbor/index.ts'
import {
  type CoseSign1,
  coseWarnings,
  readSign1,
  readX5chain,
  verifySign1,
} from '../../foundation/cose/index.ts'
import type { JsonObject } from '../../foundation/json.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { members } from '../../credentials/formats/mdoc/reading.ts'
import { readerAuthentication } from '../../credentials/formats/mdoc/transcript.ts'
import { toJson } from '../../credentials/formats/mdoc/values.ts'
import { findBinary, type Given } from './binary.ts'
import { certificateOf, certificatesOf, profileCheck } from './certificate.ts'
import { type Check, type Decoded, decodedOf, reading, type Sources } from './decoded.ts'
import { formCheck, formOf, warningFacts } from './mdoc-form.ts'
import { type Candidate, transcriptsOf } from './session.ts'
import { decodeEncryption } from './transcript.ts'

const Text = z.string()
const Bytes = z.instanceof(Embedded, { error: 'is not an embedded CBOR item (tag 24)' })
const Value = z.custom<CborValue>(() => true)

const DeviceRequest = members({
  version: Text,
  docRequests: z
    .array(members({ itemsRequest: Bytes, readerAuth: Value.nullish() }))
    .min(1)
    .max(50),
})

const ItemsRequest = members({
  docType: Text,
  nameSpaces: z.map(Text, z.map(Text, z.boolean())),
  requestInfo: Value.optional(),
})

const form = 'a request for an ISO mdoc (DeviceRequest)'

/** With one part for each document that it asks for. @throws {DecodeError} */
export async function decodeDeviceRequest(given: Given, sources: Sources): Promise<Decoded> {
  const { version, docRequests } = reading(form, 'content', () => DeviceRequest.parse(given.value))
  const noted: string[] = []
  const parts: Decoded[] = []
  for (const [index, { itemsRequest, readerAuth }] of docRequests.entries())
    parts.push(await decodeDocRequest(itemsRequest, readerAuth, `docRequests[${index}]`, noted, sources))
  const embedded = docRequests.map(
    ({ itemsRequest }, index) => [`docRequests[${index}].itemsRequest`, itemsRequest.content] as const,
  )
  const found = formOf(noted, given.bytes, [['it', given.bytes], ...embedded])
  const facts = { version, documents: docRequests.length, ...warningFacts(given, found) }
  return decodedOf('device-request', 'request for ISO mdocs (DeviceRequest)', facts, {
    checks: [formCheck(found.faults)],
    content: { document: toJson(given.value) },
    parts,
  })
}

async function decodeDocRequest(
  itemsRequest: Embedded,
  readerAuth: CborValue,
  place: string,
  noted: string[],
  { candidates }: Sources,
): Promise<Decoded> {
  const items = reading(form, place, () => ItemsRequest.parse(decodeCbor(itemsRequest.content)))
  const asks = [...items.nameSpaces].flatMap(([namespace, elements]) =>
    [...elements].map(([id, keeps]) => `${namespace} ${id}${keeps ? ', to be retained' : ''}`),
  )
  const facts = { type: items.docType, asks }
  const [kind, title] = ['doc-request', 'request for one document']
  const content = { document: { docType: items.docType, nameSpaces: toJson(items.nameSpaces) } }
  if (readerAuth === null || readerAuth === undefined)
    return decodedOf(kind, title, { ...facts, reader: 'has not signed' }, { content })
  const sign1 = reading(form, `${place}.readerAuth`, () =>
    readSign1(readerAuth, { warn: (warning) => noted.push(`${place}.readerAuth ${coseWarnings[warning]}`) }),
  )
  const x5c = reading(form, `${place}.readerAuth.x5chain`, () => readX5chain(sign1))
  const checks = [readerCheck(sign1, x5c, itemsRequest, candidates)]
  if (x5c) checks.push(await profileCheck(x5c, 'reader'))
  return decodedOf(kind, title, facts, { checks, content, parts: certificatesOf(x5c) })
}

/** The reader has signed the session and the items. */
function readerCheck(
  sign1: CoseSign1,
  x5c: readonly string[] | undefined,
  itemsRequest: Embedded,
  candidates: readonly Candidate[] | undefined,
): Check {
  const name = 'reader signature'
  const check = (result: Check['result'], detail: string) => ({ name, result, detail })
  if (!x5c) return check('failed', 'there is no certificate in x5chain')
  if (!candidates)
    return check('not verified', 'give its session with --transcript, or the origin of its page')
  try {
    const key = certificateOf(x5c[0]!).publicKey
    const found = candidates.find(({ transcript }) =>
      verifySign1(sign1, key, readerAuthentication(transcript, itemsRequest)),
    )
    return found
      ? check('passed', `made by the first certificate in x5chain, for ${found.what}`)
      : check('failed', 'not made by the first certificate in x5chain for this session')
  } catch (error) {
    return check('failed', `the first certificate in x5chain cannot be read: ${reasonOf(error)}`)
  }
}

/** `{deviceRequest, encryptionInfo}`. With `--origin`, the session is known. @throws {DecodeError} */
export async function decodeIsoRequest(document: JsonObject, sources: Sources): Promise<Decoded> {
  const title = 'request of org-iso-mdoc for the Digital Credentials API'
  const whole = decodedOf('iso-mdoc-request', title, { origin: sources.origin }, { content: { document } })
  const candidates =
    sources.candidates ?? (sources.origin === undefined ? undefined : transcriptsOf(whole, sources.origin))
  const given = (name: string): Given =>
    reading(`a ${title}`, name, () => {
      const { bytes, encoding } = findBinary(String(document[name])) ?? {}
      if (!bytes || !encoding) throw new TypeError('it is not base64url')
      return { bytes, encoding, value: decodeCbor(bytes) }
    })
  const request = await decodeDeviceRequest(given('deviceRequest'), { ...sources, candidates })
  return { ...whole, parts: [request, decodeEncryption(given('encryptionInfo'))] }
}
