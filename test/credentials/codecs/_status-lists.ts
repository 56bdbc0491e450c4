/** Status lists of the issuer in fixtures/credentials, and two libraries that decode such lists. */
import { createRequire } from 'node:module'
import { toBase64url } from '../../../src/foundation/bytes.ts'
import { compressBits, createBitstringStatusList } from '../../../src/credentials/codecs/bitstring.ts'
import {
  credentialsContext,
  proveStatusList,
  statusListContexts,
  type StatusList2021,
} from '../../../src/credentials/codecs/status-list-2021.ts'
import type { PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import { issuer } from './_people.ts'

export const url = 'https://status.example/credential-status/4tG'
export const created = '2023-11-14T22:00:00Z'
export const ecKey = issuer.keys['issue-1'].jwk
export const edKey = issuer.keys['issue-2'].jwk

/** A list without proof, with the indexes `revoked` revoked. */
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

/** The JSON of a list with its proof. */
export function proved(list: StatusList2021, key: PrivateJwk = ecKey): string {
  return JSON.stringify({ ...list, proof: proveStatusList(list, key, created) })
}

/** A Bitstring Status List as JWT. */
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

/** Implementations by the editors of the specifications. */
export const libraries = {
  StatusList2021: load('vc-status-list'),
  BitstringStatusList: load('vc-bitstring-status-list'),
}

/** The packages have no types. */
async function load(name: string): Promise<Library> {
  return (await import(`@digitalbazaar/${name}`)) as Library
}

const require = createRequire(import.meta.url)
type Contexts = { contexts: Map<string, object> }
const [vcContexts, listContexts] = ['credentials-context', 'vc-status-list-context'].map(
  (name) => require(`@digitalbazaar/${name}`) as Contexts,
) as [Contexts, Contexts]

/** The canonical N-Quads of a document by a JSON-LD processor with bundled contexts. */
export async function canonize(document: object): Promise<string> {
  const jsonld = require('jsonld') as { canonize: (document: object, options: object) => Promise<string> }
  const known = new Map([...vcContexts.contexts, ...listContexts.contexts])
  const documentLoader = (asked: string) => {
    // The first URL redirects to the second.
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
