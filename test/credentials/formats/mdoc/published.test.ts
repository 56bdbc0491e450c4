/** Documents of other issuers: their signatures, and the digests over the exact bytes of their items. */
import { createHash, X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { fromBase64, fromHex } from '../../../../src/foundation/bytes.ts'
import {
  type CborMap,
  type CborValue,
  decodeCbor,
  Embedded,
  scanCbor,
} from '../../../../src/foundation/cbor/index.ts'
import { readSign1, readX5chain, verifySign1 } from '../../../../src/foundation/cose/index.ts'
import { at, readMdoc } from '../../../support/mdoc.ts'

const { values: annexD } = readMdoc('annex-d') as { values: Record<'device_response', string> }
const foreign = readMdoc('foreign') as { items: { name: string; what: string; data: string }[] }
const oidf = readMdoc('oidf') as { items: { name: string; deviceResponse: string }[] }
const eudi = readMdoc('eudi') as { vpToken: Record<string, string[]> }
const isomdl = readMdoc('isomdl') as { definitions: Record<'issuer_signed.cbor', string> }
const issuance = readMdoc('issuance') as { cases: { name: string; issuerSignedHex: string }[] }

/** What issuers hand out, and responses of wallets. */
const published: Record<string, Uint8Array> = {
  'Annex D': fromHex(annexD.device_response),
  ...Object.fromEntries(foreign.items.map(({ name, data }) => [name, fromHex(data)])),
  ...Object.fromEntries(oidf.items.map((item) => [`oidf ${item.name}`, fromBase64(item.deviceResponse)])),
  eudi: fromBase64(Object.values(eudi.vpToken)[0]![0]!),
  isomdl: fromHex(isomdl.definitions['issuer_signed.cbor']),
}

type IssuerSigned = { issuerAuth: CborValue; items: [namespace: string, item: Embedded][] }

function issuerSigned(data: Uint8Array): IssuerSigned[] {
  const value = decodeCbor(data)
  const documents = at(value, 'documents') as CborValue[] | undefined
  const all = documents?.map((document) => at(document, 'issuerSigned')) ?? [value]
  return all.map((each) => {
    const nameSpaces = [...((at(each, 'nameSpaces') ?? new Map()) as Map<string, Embedded[]>)]
    const items = nameSpaces.flatMap(([namespace, list]) =>
      list.map((item) => [namespace, item] as [string, Embedded]),
    )
    return { issuerAuth: at(each, 'issuerAuth'), items }
  })
}

/** Whether the signature is valid, and how many items have the digest that the MSO says. */
function judge({ issuerAuth, items }: IssuerSigned) {
  const sign1 = readSign1(issuerAuth)
  const certificate = new X509Certificate(Buffer.from(readX5chain(sign1)![0]!, 'base64'))
  const mso = decodeCbor((decodeCbor(sign1.payload!) as Embedded).content)
  const hash = (at(mso, 'digestAlgorithm') as string).replace('-', '')
  const isListed = ([namespace, { bytes, content }]: [string, Embedded]) => {
    const digests = at(mso, 'valueDigests', namespace) as CborMap
    const digest = digests.get(at(decodeCbor(content), 'digestID')) as Uint8Array
    return Buffer.compare(createHash(hash).update(bytes).digest(), digest) === 0
  }
  const good = items.filter(isListed).length
  const signed = verifySign1(sign1, certificate.publicKey)
  return { signed, good, bad: items.length - good }
}

/** One line for each document. */
const describeAll = (data: Uint8Array) =>
  issuerSigned(data)
    .map(judge)
    .map(({ signed, good, bad }) => `${signed ? 'signed' : 'NOT SIGNED'}, ${good} of ${good + bad} items`)

test('the signature and all digests are valid', () => {
  const results = Object.entries(published).map(([name, data]) => [name, describeAll(data).join('; ')])
  expect(Object.fromEntries(results)).toMatchInlineSnapshot(`
    {
      "Annex D": "signed, 6 of 6 items",
      "animo": "signed, 2 of 2 items",
      "bdr": "signed, 18 of 18 items",
      "eudi": "signed, 1 of 1 items; signed, 1 of 1 items",
      "france": "signed, 6 of 6 items",
      "google": "signed, 2 of 2 items",
      "isomdl": "signed, 6 of 6 items",
      "oidf animo": "signed, 6 of 6 items",
      "oidf mac": "signed, 11 of 11 items",
      "oidf signed": "signed, 0 of 0 items",
      "ubique": "signed, 1 of 1 items",
    }
  `)
})

test('of items that share a digestID, one matches', () => {
  expect(issuance.cases.map(({ issuerSignedHex }) => describeAll(fromHex(issuerSignedHex)))).toEqual([
    ['signed, 1 of 2 items'],
    ['signed, 2 of 4 items'],
  ])
})

test('a strict reader finds in them', () => {
  const found = Object.entries(published).map(([name, data]) => [
    name,
    [...new Set(scanCbor(data).map((finding) => finding.name))].join(),
  ])
  expect(Object.fromEntries(found)).toMatchInlineSnapshot(`
    {
      "Annex D": "",
      "animo": "long-head",
      "bdr": "long-head",
      "eudi": "",
      "france": "",
      "google": "",
      "isomdl": "",
      "oidf animo": "long-head,undefined",
      "oidf mac": "",
      "oidf signed": "",
      "ubique": "",
    }
  `)
})

test('one bit of an item or of the MSO is noticed', () => {
  const data = published['Annex D']!
  const [{ issuerAuth, items }] = issuerSigned(data) as [IssuerSigned]
  const flipped = (bytes: Uint8Array) => bytes.with(bytes.length - 1, bytes.at(-1)! ^ 1)
  const [[namespace, item], ...others] = items as [[string, Embedded], ...[string, Embedded][]]
  const changedItem = new Embedded(flipped(item.bytes), item.content)
  expect(judge({ issuerAuth, items: [[namespace, changedItem], ...others] })).toMatchObject({
    signed: true,
    bad: 1,
  })
  const [protectedBytes, unprotected, payload, signature] = issuerAuth as Uint8Array[]
  const mso = (payload as Uint8Array).with(100, payload![100]! ^ 1)
  expect(judge({ issuerAuth: [protectedBytes, unprotected, mso, signature], items: [] }).signed).toBe(false)
})
