/**
 * A credential definition in the registry of an agent, with the key of the fixtures, because generating one
 * takes seconds.
 */
import {
  addDefinition,
  completeDefinition,
  definitionUrl,
} from '../../../src/credentials/anoncreds/definitions.ts'
import { storePrivateKey } from '../../../src/credentials/anoncreds/issuer.ts'
import type { TestAgent } from '../../support/agent.ts'
import type { Tenant } from '../../support/tenants.ts'
import { made } from './_flow.ts'
import { faultsOf } from '../../daemon/_cloud-agent-bodies.ts'

/** The claims of the credentials in the tests. */
export const claims = { 'Given Name': 'Alice', age: '30', country: 'SE' }

export type Published = {
  guid: string
  schemaId: string
  credDefId: string
  issuingDID: string
  schemaName: string
}

let names = 0

/**
 * Publishes the schema and a definition of it with a DID of the tenant. `isReady` tells whether the
 * definition has its key.
 */
export async function publishDefinition(
  { agent, url }: TestAgent,
  { call, walletId }: Tenant,
  issuingDID: string,
  isReady = true,
): Promise<Published> {
  const { attrNames } = made.schema
  const schemaName = `person ${++names}`
  const { guid: schemaGuid } = await call('POST /schema-registry/schemas', {
    body: {
      name: schemaName,
      version: '1.0.0',
      type: 'AnoncredSchemaV1',
      author: issuingDID,
      schema: { name: schemaName, version: '1.0.0', attrNames, issuerId: issuingDID },
    },
  })
  const schemaId = `${url}/schema-registry/schemas/${schemaGuid}/schema`
  const input = {
    name: 'people',
    version: '1.0.0',
    tag: 'test',
    author: issuingDID,
    schemaId,
    signatureType: 'CL' as const,
    supportRevocation: false,
  }
  const { guid } = await agent.db
    .transaction()
    .execute((tx) => addDefinition(tx, walletId, input, attrNames, 'http'))
  if (!isReady) return { guid, schemaId, credDefId: '', issuingDID, schemaName }
  await agent.wallets.use(walletId, (wallet) =>
    wallet.transaction((tx) => storePrivateKey(tx, wallet, guid, made.privateKey)),
  )
  const definition = {
    schemaId,
    type: 'CL' as const,
    tag: 'test',
    issuerId: issuingDID,
    value: { primary: made.primary },
  }
  await agent.db
    .transaction()
    .execute((tx) =>
      completeDefinition(
        tx,
        { walletId, guid },
        { definition, keyCorrectnessProof: made.keyCorrectnessProof },
      ),
    )
  const record = await call('GET /credential-definition-registry/definitions/{guid}', { path: { guid } })
  const key = 'GET /credential-definition-registry/definitions/{guid}'
  if (faultsOf(key, record).length > 0) throw new Error(faultsOf(key, record).join('; '))
  return { guid, schemaId, credDefId: definitionUrl(record, url), issuingDID, schemaName }
}
