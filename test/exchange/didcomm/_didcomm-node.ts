/** didcomm-node, another implementation of DIDComm v2, with the keys of the test people. */
import { createRequire } from 'node:module'
import type { DidDocument } from '../../../src/did/document.ts'
import { documents, secrets } from './_people.ts'

// The package is CommonJS, and its type names are not exported.
type Theirs = typeof import('didcomm-node')
export const { Message } = createRequire(import.meta.url)('didcomm-node') as Theirs

const ids = (entries: DidDocument['keyAgreement']) =>
  (entries ?? []).map((entry) => (typeof entry === 'string' ? entry : entry.id))

export const resolver = {
  resolve: async (did: string) => {
    const document = documents[did]
    if (!document) return null
    const { id, verificationMethod = [], keyAgreement, authentication } = document
    return {
      id,
      verificationMethod,
      keyAgreement: ids(keyAgreement),
      authentication: ids(authentication),
      service: [],
    }
  },
}

/** The secrets with these ids, or all. */
export const secretsOf = (kids = Object.keys(secrets)) => ({
  get_secret: async (id: string) =>
    kids.includes(id) ? { id, type: 'JsonWebKey2020', privateKeyJwk: secrets[id]! } : null,
  find_secrets: async (wanted: string[]) => wanted.filter((id) => kids.includes(id) && secrets[id]),
})
