/** Prepares the two parties of the demo: their DIDs, and the schema of the credential. */
import type { Client } from '../../daemon/client/client.ts'
import { canonicalDid } from '../../src/definitions/did-names.ts'
import type { Changes } from './changes.ts'
import type { Narrator } from './narrator.ts'

/** The DID of acme, and the URL of the schema. */
export type Props = { acmeDid: string; schemaId: string }

const schema = {
  $id: 'https://acme.example/schemas/employee',
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  description: 'An employee of acme',
  type: 'object',
  properties: { name: { type: 'string' }, role: { type: 'string' }, level: { type: 'integer' } },
  required: ['name', 'role'],
  additionalProperties: false,
}

const keys = {
  authentication: { id: 'auth-1', purpose: 'authentication' },
  assertion: { id: 'assertion-1', purpose: 'assertionMethod' },
} as const

/** Creates and publishes the issuer’s DID and a schema at the daemon at `url`. */
export async function prepareIssuer(
  acme: Client,
  url: string,
  events: Pick<Changes, 'until'>,
  narrator: Narrator,
): Promise<Props> {
  const made = await acme('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys: [keys.authentication, keys.assertion] } },
  })
  const acmeDid = canonicalDid(made.longFormDid)
  narrator.name('acme', 'ACME_DID', acmeDid)
  await acme('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: acmeDid } })
  await events.until({ who: 'acme', what: 'did', subject: acmeDid, state: 'PUBLISHED' })
  narrator.name('acme', 'EMPLOYEE', JSON.stringify(schema))
  const { guid } = await acme('POST /schema-registry/schemas', {
    body: {
      name: 'employee',
      version: '1.0.0',
      type: 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json',
      author: acmeDid,
      schema,
    },
  })
  const schemaId = `${url}/schema-registry/schemas/${guid}`
  narrator.name('acme', 'SCHEMA', schemaId)
  return { acmeDid, schemaId }
}

/** Creates the holder’s DID. It needs no publication. */
export async function prepareHolder(alice: Client, narrator: Narrator): Promise<string> {
  const { longFormDid } = await alice('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys: [keys.authentication] } },
  })
  const aliceDid = canonicalDid(longFormDid)
  narrator.name('alice', 'ALICE_DID', aliceDid)
  return aliceDid
}
