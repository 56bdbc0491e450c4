/** An issuer, a holder and a verifier of documents without agents: documents with any fault, and verdicts. */
import { hash } from 'node:crypto'
import { toBase64url, fromBase64 } from '../../../../src/foundation/bytes.ts'
import {
  type CborMap,
  type CborValue,
  decodeCbor,
  embed,
  type Embedded,
  encodeCbor,
  Tagged,
} from '../../../../src/foundation/cbor/index.ts'
import { header, signSign1, toX5chain } from '../../../../src/foundation/cose/index.ts'
import { generateKey, type PrivateJwk, toPublic } from '../../../../src/foundation/crypto/keys.ts'
import { checkMdocChain } from '../../../../src/foundation/x509/mdoc-chain.ts'
import type { VerifyChain } from '../../../../src/credentials/codecs/issuer-signature.ts'
import type { CheckStatus } from '../../../../src/credentials/codecs/verify.ts'
import { VerificationError } from '../../../../src/credentials/codecs/verification-error.ts'
import type { CredentialQuery } from '../../../../src/credentials/dcql/query.ts'
import { type Check, runChecks } from '../../../../src/credentials/formats/checks.ts'
import { signMdoc } from '../../../../src/credentials/formats/mdoc/issue.ts'
import { transcriptOf } from '../../../../src/credentials/formats/mdoc/session-transcript.ts'
import {
  deviceAuthentication,
  encodeTranscript,
} from '../../../../src/credentials/formats/mdoc/transcript.ts'
import { checksOf, type Session } from '../../../../src/credentials/formats/presentation.ts'
import { demandsOf, readPresentation } from '../../../../src/wallet/verification/answer.ts'
import { type Made, pemOf, x5cOf } from '../../../foundation/x509/_chains.ts'
import { iaca, signer } from '../../../foundation/x509/_mdoc.ts'
import { at } from '../../../support/mdoc.ts'

export const [docType, namespace] = ['org.iso.18013.5.1.mDL', 'org.iso.18013.5.1']

export const elements = {
  family_name: 'Doe',
  birth_date: '2001-02-03',
  issuing_country: 'UT',
  age_over_18: true,
  portrait: '_9j_4AAQ',
}

/** Asks for all elements. */
export const query: CredentialQuery = {
  id: 'licence',
  format: 'mso_mdoc',
  meta: { doctype_value: docType },
  claims: Object.keys(elements).map((name) => ({ path: [namespace, name] })),
}

export const session: Session = {
  handover: 'redirect',
  clientId: 'x509_hash:abc',
  nonce: 'n-0S6_WzA2Mj',
  responseUri: 'https://verifier.example/response?session=1',
}

export type Issuer = { root: Made; leaf: Made; key: PrivateJwk }

export async function newIssuer(root?: Made, change: Parameters<typeof signer>[1] = {}): Promise<Issuer> {
  const authority = root ?? (await iaca())
  const leaf = await signer(authority, change)
  return { root: authority, leaf, key: await jwkOf(leaf) }
}

/** The private key of a certificate. */
export async function jwkOf({ keys }: Made): Promise<PrivateJwk> {
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey('jwk', keys.privateKey)
  return { kty, crv, x, y, d } as PrivateJwk
}

/** Issues the elements as the product does. Returns the base64url of the IssuerSigned. */
export function issue(
  { leaf, key }: Issuer,
  holder: PrivateJwk,
  claims: Record<string, object> = { [namespace]: elements },
  now = Math.floor(Date.now() / 1_000),
): string {
  return signMdoc(
    {
      claims,
      schemaIds: [],
      type: {
        docType,
        encodings: [
          ...['birth_date', 'issue_date', 'expiry_date'].map((name) => ({
            path: [namespace, name],
            as: 'full-date' as const,
          })),
          { path: [namespace, 'portrait'], as: 'bytes' },
        ],
      },
    },
    {
      issuerDid: '',
      issuerKey: key,
      x5c: x5cOf(leaf),
      subjectDid: '',
      holderKey: toPublic(holder),
      credentialStatus: {} as never,
      tokenStatus: { status_list: { idx: 1, uri: 'https://dmv.example/status' } },
      now,
      defaultPeriod: 86_400,
    },
  )
}

/** What differs from a good presentation, in the order of its making. */
export type Forgery = {
  issuer?: Issuer
  /** The key of the device in the MSO. */
  holder?: PrivateJwk
  claims?: Record<string, object>
  /** When it is issued, in epoch seconds. */
  now?: number
  /** Before the issuer signs: each item, and the MSO. */
  item?: (content: CborMap) => void
  mso?: (mso: CborMap) => void
  signing?: Partial<Parameters<typeof signSign1>[0]>
  /** After the issuer has signed: the message, and the namespaces with their items. */
  issuerAuth?: (message: CborValue[]) => CborValue
  items?: (namespaces: Map<string, CborValue[]>) => void
  /** What the device signs. */
  docType?: string
  session?: Session
  deviceNamespaces?: CborMap
  deviceKey?: PrivateJwk
  deviceAlg?: NonNullable<Parameters<typeof signSign1>[0]['alg']>
  /** After the device has signed. */
  deviceAuth?: (auth: CborMap, payload: Uint8Array) => CborValue | void
  document?: (document: CborMap) => void
  response?: (response: CborMap) => void
  bytes?: (bytes: Uint8Array) => Uint8Array
}

export const map = (entries: Record<string, CborValue>): CborMap => new Map(Object.entries(entries))

/** The content of an item that its issuer has signed a digest of, changed. */
export function changeItem(item: CborValue, change: (content: CborMap) => void): Embedded {
  const content = decodeCbor((item as Embedded).content) as CborMap
  change(content)
  return embed(encodeCbor(content))
}

/** Epoch seconds. */
export const now = Math.floor(Date.now() / 1_000)
export const day = 86_400

export const flip = (bytes: CborValue, index = -1) => {
  const copy = Uint8Array.from(bytes as Uint8Array)
  copy[index < 0 ? copy.length + index : index]! ^= 1
  return copy
}
export const set =
  (name: string, value: CborValue) =>
  (target: CborMap): void =>
    void target.set(name, value)
export const inMso =
  (path: string[], name: string, value: CborValue) =>
  (mso: CborMap): void =>
    void (at(mso, ...path) as CborMap).set(name, value)
export const items = (change: (own: CborValue[], namespaces: Map<string, CborValue[]>) => void): Forgery => ({
  items: (namespaces) => change(namespaces.get(namespace)!, namespaces),
})
export const instant = (seconds: number) =>
  new Tagged(0, new Date(seconds * 1_000).toISOString().replace(/\.\d+/, ''))
export const dates = (change: Record<string, CborValue>): Forgery => ({
  mso: (mso) => Object.entries(change).forEach(([name, value]) => inMso(['validityInfo'], name, value)(mso)),
})

/** Changes the signature of the device. */
export function changeSignature(change: (signature: Uint8Array) => Uint8Array) {
  return (auth: CborMap) => {
    const message = auth.get('deviceSignature') as CborValue[]
    auth.set('deviceSignature', message.with(3, change(message[3] as Uint8Array)))
  }
}

export const defaultIssuer = await newIssuer()
export const defaultHolder = generateKey('P-256')

/** Makes the issuer's part. */
export function issueForged(forgery: Forgery = {}): CborMap {
  const { issuer = defaultIssuer, holder = defaultHolder } = forgery
  const issued = decodeCbor(fromBase64(issue(issuer, holder, forgery.claims, forgery.now))) as CborMap
  const message = issued.get('issuerAuth') as CborValue[]
  const mso = decodeCbor((decodeCbor(message[2] as Uint8Array) as Embedded).content) as CborMap
  if (forgery.item) changeItems(issued, mso, forgery.item)
  forgery.mso?.(mso)
  const signed = signSign1({
    key: issuer.key,
    unprotected: new Map([[header.x5chain, toX5chain(x5cOf(issuer.leaf))]]),
    payload: embed(encodeCbor(mso)).bytes,
    ...forgery.signing,
  })
  issued.set('issuerAuth', forgery.issuerAuth ? forgery.issuerAuth(signed) : signed)
  forgery.items?.(issued.get('nameSpaces') as Map<string, CborValue[]>)
  return issued
}

/** Changes all items, and has the MSO fit them. */
function changeItems(issued: CborMap, mso: CborMap, change: (content: CborMap) => void): void {
  for (const [name, own] of issued.get('nameSpaces') as Map<string, CborValue[]>) {
    const changed = own.map((each) => changeItem(each, change))
    own.splice(0, own.length, ...changed)
    const digests = at(mso, 'valueDigests') as CborMap
    const algorithm = (mso.get('digestAlgorithm') as string).replace('-', '')
    const digestOf = ({ bytes }: Embedded) => hash(algorithm, bytes, 'buffer')
    digests.set(
      name,
      new Map(changed.map((each) => [at(decodeCbor(each.content), 'digestID'), digestOf(each)])),
    )
  }
}

/** Makes a presentation. Returns the base64url of the DeviceResponse. */
export function present(forgery: Forgery = {}): string {
  const issuerSigned = issueForged(forgery)
  const { holder = defaultHolder, deviceKey = holder, deviceAlg: alg } = forgery
  const nameSpaces = embed(encodeCbor(forgery.deviceNamespaces ?? new Map()))
  const transcript = encodeTranscript(transcriptOf(forgery.session ?? session))
  const payload = deviceAuthentication(transcript, forgery.docType ?? docType, nameSpaces)
  const deviceSignature = signSign1({ key: deviceKey, payload, detached: true, ...(alg && { alg }) })
  const auth = map({ deviceSignature })
  const deviceAuth = forgery.deviceAuth?.(auth, payload) ?? auth
  const document = map({ docType, issuerSigned, deviceSigned: map({ nameSpaces, deviceAuth }) })
  forgery.document?.(document)
  const response = map({ version: '1.0', documents: [document], status: 0 })
  forgery.response?.(response)
  const bytes = encodeCbor(response)
  return toBase64url(forgery.bytes?.(bytes) ?? bytes)
}

/** The parts of the product that verify, which a mutant replaces. */
export type Program = {
  readPresentation: typeof readPresentation
  demandsOf: typeof demandsOf
  checksOf: typeof checksOf
  runChecks: typeof runChecks
  checkMdocChain: typeof checkMdocChain
  VerificationError: typeof VerificationError
}

export const program: Program = {
  readPresentation,
  demandsOf,
  checksOf,
  runChecks,
  checkMdocChain,
  VerificationError,
}

export type Judging = {
  query?: CredentialQuery
  session?: Session
  /** Trust anchors in PEM. */
  anchors?: readonly string[]
  at?: Date
  checkStatus?: CheckStatus
}

/** The failed check with its reason, those before it, and the warnings. */
export type Verdict = {
  failed?: string
  reason?: string
  passed: string[]
  warnings: readonly string[]
  claims?: object
  deviceClaims?: object
}

/** Judges a presentation as the verifier does. */
export async function judge(text: string, judging: Judging = {}, by: Program = program): Promise<Verdict> {
  const { query: asked = query, at: now = new Date(), anchors = [pemOf(defaultIssuer.root)] } = judging
  const verifyChain: VerifyChain = (x5c, _issuer, { docType: type } = {}) => {
    const refused = (reason: string, cause?: unknown) =>
      Promise.reject(new by.VerificationError('issuer-not-trusted', reason, { cause }))
    if (x5c === undefined) return refused('The document has no certificates in x5chain')
    try {
      const chain = by.checkMdocChain({
        x5c: x5c as string[],
        anchors: anchors.map((pem) => ({ pem })),
        docType: type!,
        now,
      })
      const { country, state } = chain
      const place = { ...(country !== undefined && { country }), ...(state !== undefined && { state }) }
      return Promise.resolve({ ...chain, place })
    } catch (cause) {
      return refused((cause as Error).message, cause)
    }
  }
  let presentation: ReturnType<typeof readPresentation> | undefined
  const form: Check = ['form', () => void (presentation = by.readPresentation(text, asked, true))]
  const results = await by.runChecks([form])
  if (presentation) {
    const demands = by.demandsOf(asked, {
      query: { credentials: [asked] },
      constraints: [],
      checkTrust: async ({ issuer, x5c, docType: type }) =>
        (await verifyChain(x5c, issuer, { docType: type })).subject,
    })
    const options = {
      now: Math.floor(now.getTime() / 1_000),
      resolve: () => Promise.reject(new Error('no DID is resolved here')),
      verifyChain,
      checkStatus: judging.checkStatus ?? (() => Promise.resolve()),
    }
    const expected = { audience: '', nonce: '', session: judging.session ?? session, options }
    results.push(...(await by.runChecks(by.checksOf(presentation, expected, demands))))
  }
  const failed = results.find(({ result }) => result === 'failed')
  const shown = presentation?.shown[0]?.credential
  return {
    ...(failed && { failed: failed.name, reason: failed.reason! }),
    passed: results.filter(({ result }) => result === 'passed').map(({ name }) => name),
    warnings: shown?.warnings ?? [],
    ...(shown?.claims && { claims: shown.claims }),
    ...(shown?.deviceClaims && { deviceClaims: shown.deviceClaims }),
  }
}

/** What an item contains. */
export const contentOf = (item: CborValue) => decodeCbor((item as Embedded).content)

/** The items of a namespace. */
export const itemsIn = (value: CborValue, name = namespace) => at(value, 'nameSpaces', name) as Embedded[]
