/** Every check of documents is necessary: a forgery that is refused passes with its check switched off. */
import { hash } from 'node:crypto'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { toBase64url } from '../../../../src/foundation/bytes.ts'
import { type CborMap, type CborValue, encodeCbor, Tagged } from '../../../../src/foundation/cbor/index.ts'
import { generateKey, toPublic } from '../../../../src/foundation/crypto/keys.ts'
import type { CredentialQuery } from '../../../../src/credentials/dcql/query.ts'
import type { mdoc } from '../../../../src/credentials/formats/mdoc/format.ts'
import { addSwitch, check, nameOf, type Switch, switchOff } from '../../../exchange/oid4vci/_mutants.ts'
import { iaca } from '../../../foundation/x509/_mdoc.ts'
import { at, makeMac0 } from '../../../support/mdoc.ts'
import { loadWith, type Overlay } from '../../../support/overlay.ts'
import {
  changeItem,
  changeSignature,
  contentOf,
  dates,
  day,
  defaultIssuer,
  docType,
  elements,
  flip,
  type Forgery,
  instant,
  issueForged,
  items,
  itemsIn,
  judge,
  type Judging,
  map,
  namespace,
  newIssuer,
  now,
  present,
  type Program,
  query,
  session,
  set,
} from './_documents.ts'

type Mutant = Program & { mdoc: typeof mdoc }

/** Whether an attack succeeds. */
type Attack = (program: Mutant) => Promise<boolean> | boolean

const folder = 'src/credentials/formats/mdoc'
const [signed, device, presentation, decoding] = [
  `${folder}/issuer-signed.ts`,
  `${folder}/device-response.ts`,
  `${folder}/presentation.ts`,
  `${folder}/decode.ts`,
]

/** A forged presentation passes all checks. */
const forged =
  (forgery: Forgery, judging?: Judging): Attack =>
  async (program) =>
    (await judge(present(forgery), judging, program)).failed === undefined

const queryOf = (paths: [string, string][], meta: CredentialQuery['meta'] = query.meta): Judging => ({
  query: { ...query, meta, claims: paths.map((path) => ({ path })) },
})
const all = Object.keys(elements).map((name): [string, string] => [namespace, name])

const other = generateKey('P-256')
const encryptionKey = generateKey('P-256')
const encrypted = { ...session, encryptedTo: encryptionKey } as typeof session
const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`org.example.${index}`, { a: 1 }]))
const long = 'a'.repeat(256)
const another = await newIssuer(await iaca('C=ZZ, CN=Other'))

/** An offer with claims that cannot be issued. */
const issued =
  (claims: Record<string, unknown>): Attack =>
  ({ mdoc: format }) => {
    try {
      format.checkTerms!({ claims, schemaIds: [], type: terms } as never)
      return true
    } catch {
      return false
    }
  }
const terms = { docType, encodings: [{ path: [namespace, 'birth_date'], as: 'full-date' }] }

/** A wallet takes a credential. */
const taken =
  (act: (program: Mutant['mdoc'], text: string) => unknown, forgery: Forgery = {}): Attack =>
  ({ mdoc: format }) => {
    try {
      return act(format, toBase64url(encodeCbor(issueForged(forgery)))) !== false
    } catch {
      return false
    }
  }

const sha1: Forgery = {
  mso: (mso) => {
    mso.set('digestAlgorithm', 'SHA-1')
    const digests = at(mso, 'valueDigests', namespace) as CborMap
    for (const item of sha1Items)
      digests.set(at(contentOf(item), 'digestID'), hash('sha1', item.bytes, 'buffer'))
  },
  items: (namespaces) => void namespaces.set(namespace, sha1Items),
}
const sha1Items = itemsIn(issueForged())

const reading: (Switch & { attack: Attack })[] = [
  check(signed, "version !== '1.0'", forged({ mso: set('version', '2.0') })),
  check(
    signed,
    ["z.enum(['SHA-256', 'SHA-384', 'SHA-512'], 'is not SHA-256, SHA-384 or SHA-512')", 'any'],
    forged(sha1),
  ),
  check(
    signed,
    'namespaces.size > maxNamespaces || count > maxElements',
    forged({ claims: many }, queryOf(Object.keys(many).map((name) => [name, 'a']))),
  ),
  check(signed, 'random.length < leastRandom', forged({ item: set('random', new Uint8Array(7)) })),
  check(
    signed,
    [
      "z\n  .int('is not an unsigned integer from 0 to 4294967295')\n  .min(0, 'is negative')\n  .max(maxDigestId, 'is above 4294967295')",
      'any',
    ],
    forged({
      item: (content) => void content.set('digestID', (content.get('digestID') as number) + 2 ** 32),
    }),
  ),
  check(
    signed,
    ['Text.min(1).max(maxId)', 'any'],
    forged({ claims: { [namespace]: { [long]: 1 } } }, queryOf([[namespace, long]])),
  ),
  check(
    signed,
    ['!match || !isDate(match[0].slice(0, 10))', '!match'],
    forged(dates({ validUntil: new Tagged(0, '2090-02-30T00:00:00Z') })),
  ),
  check(device, "version !== '1.0'", forged({ response: set('version', '1.1') })),
  check(device, 'status !== 0', forged({ response: set('status', 10) })),
  check(
    device,
    'fitting.length > 1',
    forged({
      response: (response) => {
        const documents = at(response, 'documents') as CborValue[]
        documents.push(documents[0])
      },
    }),
  ),
  check(
    device,
    ['documents.filter(({ read }) => asked.includes(read.docType))', 'documents.slice(0, 1)'],
    forged(
      {
        response: (response) => {
          const documents = at(response, 'documents') as CborValue[]
          const unasked = new Map([...(documents[0] as CborMap), ['docType', 'org.example']])
          response.set('documents', [unasked, unasked])
        },
        docType: 'org.example',
        mso: set('docType', 'org.example'),
      },
      queryOf(all, {}),
    ),
  ),
  check(
    device,
    'docType !== issuerSigned.mso.docType',
    forged({ docType: 'org.example', document: set('docType', 'org.example') }),
  ),
  check(
    device,
    'hasSignature === hasMac',
    forged({
      deviceAuth: (auth, payload) => void auth.set('deviceMac', makeMac0(new Uint8Array(32), payload)),
    }),
  ),
  check(
    decoding,
    'text.length > maxTokenLength',
    forged({ claims: { [namespace]: { ...elements, portrait: 'A'.repeat(1_200_000) } } }),
  ),
  check(decoding, ['fromStrictBase64url(text)', 'fromBase64(text)'], async (program) => {
    const text = present()
    return (
      (await judge(`${text.slice(0, 100).replaceAll('-', '+')}${text.slice(100)}=`, {}, program)).failed ===
      undefined
    )
  }),
]

const checks: (Switch & { attack: Attack })[] = [
  ...reading,
  check(signed, 'seen.has(`${mark} ${namespace}`)', forged(items((own) => void own.push(own[0])))),
  check(
    signed,
    "!hash(algorithm, embedded.bytes, 'buffer').equals(expected)",
    forged(items((own) => void own.splice(0, 1, changeItem(own[0], set('elementValue', 'Smith'))))),
  ),
  check(
    signed,
    [
      'mso.digests.get(namespace)?.get(digestId)',
      '[...mso.digests.values()].map((each) => each.get(digestId))[0]',
    ],
    forged(
      items((own, namespaces) => {
        namespaces.delete(namespace)
        namespaces.set('org.example', own)
      }),
      queryOf(all.map(([, name]) => ['org.example', name])),
    ),
  ),
  check(
    decoding,
    '!verifySign1(issuerAuth, publicKeyJwk)',
    forged({ issuerAuth: (message) => message.with(3, flip(message[3])) }),
  ),
  check(
    presentation,
    ['verifySignature ? checkSignature(presented, shown, expected) : undefined', 'undefined'],
    forged({ signing: { key: another.key } }),
  ),
  check(
    presentation,
    ['verifySignature ? checkDigests(issuerSigned) : undefined', 'undefined'],
    forged(items((own) => void own.splice(0, 1, changeItem(own[0], set('elementValue', 'King'))))),
  ),
  check(
    presentation,
    "typeof named === 'string' && certified !== undefined && named !== certified",
    forged({ claims: { [namespace]: { ...elements, issuing_country: 'ZZ' } } }),
  ),
  check(
    presentation,
    ['checkValidity(validity, now, leewaySeconds)', 'undefined'],
    forged(dates({ validUntil: instant(now - 3_600) })),
  ),
  check(
    presentation,
    'signed > validFrom + leewaySeconds',
    forged(dates({ signed: instant(now + 3_600), validFrom: instant(now - 60) })),
  ),
  check(
    presentation,
    '!(signed >= begin - leewaySeconds && signed <= end + leewaySeconds)',
    forged(dates({ signed: instant(now - 3 * day), validFrom: instant(now - 60) })),
  ),
  check(
    presentation,
    ['verifyDates ? checkDates(issuerSigned, expected) : undefined', 'undefined'],
    forged(dates({ validFrom: instant(now + 3_600) })),
  ),
  check(
    presentation,
    '!mso.authorized.namespaces.includes(namespace)',
    forged({ deviceNamespaces: map({ [namespace]: map({ family_name: 'King' }) }) }),
  ),
  check(
    presentation,
    ['isSigned(presented, encodeTranscript(transcript), session)', 'true'],
    forged({ session: { ...session, nonce: 'another' } as typeof session }),
  ),
  check(
    presentation,
    ['verifySign1(deviceAuth.sign1, deviceKey, payload)', 'true'],
    forged({ deviceAuth: changeSignature(flip) }),
  ),
  check(
    presentation,
    ['verifyMac0(deviceAuth.mac0, key, payload)', 'true'],
    forged(
      { deviceAuth: (_, payload) => map({ deviceMac: makeMac0(new Uint8Array(32), payload) }) },
      { session: encrypted },
    ),
  ),
  check(presentation, ['checkDevice(presented, expected)', 'undefined'], forged({ deviceKey: other })),
  check(
    presentation,
    ['verifyStatus ? establishStatuses(decoded, options) : undefined', 'undefined'],
    forged({}, { checkStatus: () => Promise.reject(new Error('it is revoked')) }),
  ),
  check(
    `${folder}/format.ts`,
    'docType !== offered',
    taken((format, text) => format.checkType(format.decode(text), ['org.example'])),
  ),
  check(
    `${folder}/format.ts`,
    ['signed.checkDigests?.()', 'undefined'],
    taken(
      (format, text) => format.checkType(format.decode(text), [docType]),
      items((own) => void own.splice(0, 1, changeItem(own[0], set('elementValue', 'King')))),
    ),
  ),
  check(
    `${folder}/format.ts`,
    ['isSamePair(holderKey, privateJwk)', 'true'],
    taken((format, text) => format.isBoundTo(format.decode(text), { did: '', privateJwk: other })),
  ),
  check(`${folder}/parts.ts`, ['signed.checkDigests?.()', 'undefined'], async ({ mdoc: format }) => {
    const forgery = items((own) => void own.splice(0, 1, changeItem(own[0], set('elementValue', 'King'))))
    const { checkSignatures } = format.partsOf(toBase64url(encodeCbor(issueForged(forgery))))
    const verifyChain = () => Promise.resolve({ publicKey: toPublic(defaultIssuer.key) })
    return checkSignatures({ verifyChain } as never).then(
      () => true,
      () => false,
    )
  }),
  check(`${folder}/issue.ts`, '!isJsonObject(elements)', issued({ [namespace]: 'text' })),
  check(
    `${folder}/values.ts`,
    ['isDate(value)', 'true'],
    issued({ [namespace]: { birth_date: '2001-02-30' } }),
  ),
]

const overlay: Overlay = Object.fromEntries(
  checks.map(({ file }) => [
    file,
    (text: string) => checks.filter((each) => each.file === file).reduce(addSwitch, text),
  ]),
)

const entry = `
  export { readPresentation, demandsOf } from './src/wallet/verification/answer.ts'
  export { checksOf } from './src/credentials/formats/presentation.ts'
  export { runChecks } from './src/credentials/formats/checks.ts'
  export { checkMdocChain } from './src/foundation/x509/mdoc-chain.ts'
  export { VerificationError } from './src/credentials/codecs/verification-error.ts'
  export { mdoc } from './src/credentials/formats/mdoc/format.ts'
`
const { parts, dispose } = await loadWith(entry, overlay)
afterAll(dispose)
const program = parts as Mutant

test('a good presentation passes', async () => {
  expect(await forged({})(program)).toBe(true)
})

test.each(checks.map((each) => [nameOf(each), each] as const))('%s', async (_, each) => {
  onTestFinished(() => switchOff(undefined))
  expect(await each.attack(program), 'the forgery passes with all checks').toBe(false)
  switchOff(each)
  expect(await each.attack(program), 'the forgery fails without the check').toBe(true)
})
