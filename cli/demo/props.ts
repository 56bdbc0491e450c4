/** What both need before they begin: DIDs, of which the issuer’s is on the ledger, and a schema. */
import type { Client } from '../../daemon/client/client.ts'
import { shortForm } from '../format/did.ts'
import type { Changes } from './changes.ts'
import { schema, type Props } from './flow.ts'
import type { Narrator } from './narrator.ts'

const keys = {
  authentication: { id: 'auth-1', purpose: 'authentication' },
  assertion: { id: 'assertion-1', purpose: 'assertionMethod' },
} as const

/** Makes and publishes the issuer’s DID, and a schema by it, at the daemon at `url`. */
export async function prepareIssuer(
  acme: Client,
  url: string,
  events: Pick<Changes, 'until'>,
  narrator: Narrator,
): Promise<Omit<Props, 'aliceDid'>> {
  const made = await acme('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys: [keys.authentication, keys.assertion] } },
  })
  const acmeDid = shortForm(made.longFormDid)
  narrator.name('ACME_DID', acmeDid)
  await acme('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: acmeDid } })
  await events.until({ who: 'acme', what: 'did', subject: acmeDid, state: 'PUBLISHED' })
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
  narrator.name('SCHEMA', schemaId)
  return { acmeDid, schemaId }
}

/** Makes the holder’s DID, which nobody else has to know. */
export async function prepareHolder(alice: Client, narrator: Narrator): Promise<string> {
  const { longFormDid } = await alice('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys: [keys.authentication] } },
  })
  const aliceDid = shortForm(longFormDid)
  narrator.name('ALICE_DID', aliceDid)
  return aliceDid
}
