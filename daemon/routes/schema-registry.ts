/** `/schema-registry` (service §4.6, api.md 4.10). */
import { z } from 'zod'
import { isOwnDid } from '../../src/did-registrar/dids.ts'
import { getSchema, listSchemas, publishSchema, updateSchema } from '../../src/schemas/registry.ts'
import { CredentialSchema, CredentialSchemaInput } from '../../src/schemas/schema.ts'
import { Uuid } from '../../src/wallet/model.ts'
import { Page, Paging, toPage } from '../page.ts'
import { route } from '../route.ts'

const SchemaPage = Page('CredentialSchemaPage', CredentialSchema, 'CredentialSchemaResponsePage')
const SchemaFilter = Paging.extend({
  author: z.string().optional(),
  name: z.string().optional(),
  version: z.string().optional(),
  tags: z.string().optional().describe('One tag that the schema must have.'),
})
const RawSchema = z.record(z.string(), z.unknown())
const guidPath = { guid: Uuid }

export default [
  route(
    'POST /schema-registry/schemas',
    { summary: 'Publish a credential schema', access: 'tenant', body: CredentialSchemaInput, reply: [201, CredentialSchema] },
    ({ wallet, agent }, { body }) => publishSchema(agent.db, wallet.id, body, (did) => isOwnDid(wallet.db, did)),
  ),

  route(
    'GET /schema-registry/schemas',
    { summary: 'List the credential schemas of the wallet', access: 'tenant', query: SchemaFilter, reply: [200, SchemaPage] },
    async ({ wallet, agent }, { query, target }) => {
      const { schemas, total } = await listSchemas(agent.db, wallet.id, query)
      return toPage('CredentialSchemaPage', { ...query, target, total }, schemas)
    },
  ),

  route(
    'GET /schema-registry/schemas/{guid}',
    { summary: 'Read a credential schema', access: 'public', path: guidPath, reply: [200, CredentialSchema] },
    ({ agent }, { path: { guid } }) => getSchema(agent.db, guid),
  ),

  route(
    'GET /schema-registry/schemas/{guid}/schema',
    { summary: 'Read the JSON schema alone', access: 'public', path: guidPath, reply: [200, RawSchema] },
    async ({ agent }, { path: { guid } }) => (await getSchema(agent.db, guid)).schema,
  ),

  route(
    'PUT /schema-registry/schemas/{id}',
    {
      summary: 'Publish a new version of a schema',
      access: 'tenant',
      path: { id: Uuid },
      body: CredentialSchemaInput,
      reply: [200, CredentialSchema],
    },
    ({ wallet, agent }, { path: { id }, body }) => updateSchema(agent.db, wallet.id, id, body, (did) => isOwnDid(wallet.db, did)),
  ),
] as const
