/** Status lists of the issuer of fixtures/credentials, good ones to be changed, and the two libraries that read such lists. */
import { createRequire } from 'node:module'
import { toBase64url } from '../../src/base/bytes.ts'
import { compressBits } from '../../src/credentials/bitstring.ts'
import { createBitstringStatusList } from '../../src/credentials/bitstring.ts'
import { proveStatusList } from '../../src/credentials/status-list-2021.ts'
import {
  credentialsContext,
  statusListContexts,
  type StatusList2021,
} from '../../src/credentials/status-list-2021.ts'
import type { PrivateJwk } from '../../src/crypto/keys.ts'
import { issuer } from './_people.ts'

export const url = 'https://status.example/credential-status/4tG'
export const created = '2023-11-14T22:00:00Z'
export const ecKey = issuer.keys['issue-1'].jwk
export const edKey = issuer.keys['issue-2'].jwk

/** A list without its proof, in which the credentials at `revoked` are revoked. */
export function listOf(revoked: number[], change: Partial<StatusList2021> = {}): StatusList2021 {
  return {
    '@context': [credentialsContext, statusListContexts[0]],
    id: url,
    type: ['VerifiableCredential', 'StatusList2021Credential'],
    issuer: issuer.did,
    issuanceDate: created,
    credentialSubject: {
      type: 'StatusList2021',
      statusPurpose: 'Revocation',
      encodedList: toBase64url(compressBits(revoked)),
    },
    ...change,
  }
}

/** The text of a list with its proof. */
export function proved(list: StatusList2021, key: PrivateJwk = ecKey): string {
  return JSON.stringify({ ...list, proof: proveStatusList(list, key, created) })
}

/** The text of a Bitstring Status List. */
export function bitstringOf(
  revoked: number[],
  key: PrivateJwk = ecKey,
  kid = `${issuer.did}#issue-1`,
): string {
  return createBitstringStatusList({
    url,
    issuerDid: issuer.did,
    kid,
    key,
    bits: compressBits(revoked),
    validFrom: created,
  })
}

type Decoded = { getStatus: (index: number) => boolean; length: number }
type Library = { decodeList: (options: { encodedList: string }) => Promise<Decoded> }

/** By an implementation of the specifications' editors. */
export const libraries = {
  StatusList2021: load('vc-status-list'),
  BitstringStatusList: load('vc-bitstring-status-list'),
}

/** They come without types. */
async function load(name: string): Promise<Library> {
  return (await import(`@digitalbazaar/${name}`)) as Library
}

const require = createRequire(import.meta.url)
type Contexts = { contexts: Map<string, object> }
const [vcContexts, listContexts] = ['credentials-context', 'vc-status-list-context'].map(
  (name) => require(`@digitalbazaar/${name}`) as Contexts,
) as [Contexts, Contexts]

/** The canonical N-Quads of a document by a JSON-LD processor that has the contexts and asks nobody. */
export async function canonize(document: object): Promise<string> {
  const jsonld = require('jsonld') as { canonize: (document: object, options: object) => Promise<string> }
  const known = new Map([...vcContexts.contexts, ...listContexts.contexts])
  const documentLoader = (asked: string) => {
    // The second URL is where the first leads.
    const context = known.get(asked.replace(statusListContexts[1], statusListContexts[0]))
    if (!context) throw new Error(`no context ${asked}`)
    return { documentUrl: asked, document: context }
  }
  return jsonld.canonize(document, {
    algorithm: 'RDFC-1.0',
    format: 'application/n-quads',
    documentLoader,
    safe: true,
  })
}
