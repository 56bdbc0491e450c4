/** Lists of authorities (VICAL, ISO/IEC 18013-5 Annex C) for tests, with any fault. */
import { webcrypto } from 'node:crypto'
import { type CborMap, type CborValue, encodeCbor, Tagged } from '../../../src/foundation/cbor/index.ts'
import { signSign1, toX5chain } from '../../../src/foundation/cose/index.ts'
import type { PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import { x509 } from '../../../src/foundation/x509/issue.ts'
import { authority, make, type Made, type Options, x5cOf } from '../../foundation/x509/_chains.ts'
import { usage } from '../../foundation/x509/_mdoc.ts'

const listSigning = '1.0.18013.5.1.8'
const { nonRepudiation } = x509.KeyUsageFlags
export const provider = await authority('CN=Provider')

/** A signer of lists. */
export const makeSigner = (by: Made = provider, options: Options = {}) =>
  make('CN=List Signer', by, { usages: nonRepudiation, extensions: [usage([listSigning])], ...options })
export const listSigner = await makeSigner()

/** A date some days from now. */
export const day = (days: number) =>
  new Tagged(0, `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 19)}Z`)

export type Entry = { made: Made; docTypes: string[] }
type Change = Record<string, CborValue>

export const entryOf = ({ made, docTypes }: Entry): CborMap =>
  new Map<CborValue, CborValue>([
    ['certificate', new Uint8Array(made.certificate.rawData)],
    ['serialNumber', new Tagged(2, new Uint8Array([1, 2]))],
    ['ski', new Uint8Array(20)],
    ['docType', docTypes],
  ])

/** `change`: other members; undefined leaves one out. */
export const payloadOf = (entries: Entry[], change: Change = {}): Uint8Array =>
  encodeCbor(
    new Map<CborValue, CborValue>(
      Object.entries({
        version: '1.0',
        vicalProvider: 'Utopia',
        date: day(-1),
        vicalIssueID: 7,
        nextUpdate: day(30),
        certificateInfos: entries.map(entryOf),
        ...change,
      }).filter(([, value]) => value !== undefined),
    ),
  )

/** Signs a list, without its tag. */
export async function listOf(payload: Uint8Array, by: Made = listSigner): Promise<CborValue[]> {
  const { kty, crv, x, y, d } = await webcrypto.subtle.exportKey('jwk', by.keys.privateKey)
  const key = { kty, crv, x, y, d } as unknown as PrivateJwk
  return signSign1({ key, unprotected: new Map([[33, toX5chain(x5cOf(by))]]), payload })
}

export const textOf = (list: CborValue) => Buffer.from(encodeCbor(list)).toString('base64')
